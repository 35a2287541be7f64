//! # Idea
//! A local object whose address is only loaded from, stored to, copied and divided into fields is known
//! to one thread, so its leaves become registers.
//!
//! # Source
//! The design, sections 5 and 9 (local promotion, behind inlining).
//!
//! # Requires
//! A validated module.
//!
//! # Invariants
//! 1. At each use of a promoted object's address, the address comes from one `local` only, and is a
//!    known leaf.
//! 2. Such an address is of the object that the `local` made last. For if it were executed again
//!    between the only definition of a register and its use, then its first execution would lead to
//!    that use without the definition, and the register would be read before it is assigned.

use crate::address::{Address, PathStep};
use crate::flow::definitions::{Definition, Definitions, ValueId, ValueNode};
use crate::flow::graph::BlockGraph;
use crate::flow::liveness::Liveness;
use crate::layout::{Layout, LeafId};
use crate::model::{Element, FieldId, Kind, Module, Point, Procedure, ProcedureId, RegisterId};
use crate::operands::{registers_read, registers_read_by_jump};
use crate::registers::{FreshNames, renumber};
use crate::statement::{MemoryAccess, Operation, Shape, Statement, Value};
use selvedge_base::IdVec;
use std::collections::{BTreeMap, BTreeSet};

/// Turns local objects into registers; says how many.
pub fn promote(module: &mut Module) -> usize {
    let layout = Layout::new(module);
    let mut promoted = 0;
    for id in module.procedures.ids() {
        if !module.procedures[id].blocks.is_empty() {
            promoted += promote_in(module, &layout, id);
        }
    }
    promoted
}

fn promote_in(module: &mut Module, layout: &Layout, id: ProcedureId) -> usize {
    let procedure = &module.procedures[id];
    let graph = BlockGraph::new(procedure);
    let liveness = Liveness::new(procedure, &graph);
    let definitions = Definitions::new(procedure, &graph, &liveness);
    let mut search =
        Search { module, layout, procedure, graph, definitions, pointers: BTreeMap::new() };
    search.pointers();
    let locals = search.promotable();
    let count = locals.len();
    if count > 0 {
        let rewriting = Rewriting {
            module,
            layout,
            old: procedure,
            search,
            registers: locals.into_iter().map(|local| (local, BTreeMap::new())).collect(),
            fresh: FreshNames::beside(&procedure.registers),
            procedure: procedure.clone(),
        };
        let mut procedure = rewriting.rewrite();
        renumber(&mut procedure);
        module.procedures[id] = procedure;
    }
    count
}

/// A known place in a local object.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Pointer {
    /// The statement that makes the object.
    local: Point,
    address: Address,
}

/// A part of a local object that becomes a register; none for an object that is a word.
type Part = Option<LeafId>;

struct Search<'a> {
    module: &'a Module,
    layout: &'a Layout,
    procedure: &'a Procedure,
    graph: BlockGraph,
    definitions: Definitions,
    /// The definitions that give addresses in local objects.
    pointers: BTreeMap<Definition, Pointer>,
}

/// Where a part of a type begins, if addresses and bytes name one.
fn part(module: &Module, layout: &Layout, address: &Address, bytes: u64) -> Option<Part> {
    let kind = address.kind(module);
    let wanted = if bytes > 0 { bytes } else { layout.size(&kind) };
    let Element::Inline(ty) = address.root.element else {
        let whole = address.steps.is_empty() && address.rest == Some(0);
        return (whole && (bytes == 0 || bytes == layout.size(&kind))).then_some(None);
    };
    let inner = address.innermost(module, layout);
    let path: Vec<_> = inner
        .steps
        .iter()
        .filter_map(|step| match step {
            PathStep::Field(field) => Some(*field),
            PathStep::Element(_) => None,
        })
        .collect();
    if address.rest != Some(0) || address.side.is_some() || path.len() < inner.steps.len() {
        return None;
    }
    let (id, leaf) = layout.leaves(ty).iter_enumerated().find(|(_, leaf)| leaf.path == path)?;
    let is_word = !leaf.in_array && !leaf.is_merged;
    (is_word && wanted == leaf.size).then_some(Some(id))
}

impl Search<'_> {
    fn statements(&self) -> impl Iterator<Item = (Point, &Statement)> {
        self.graph.order.iter().flat_map(|&block| {
            let statements = self.procedure.blocks[block].statements.iter().enumerate();
            statements.map(move |(index, statement)| (Point::new(block, index), statement))
        })
    }

    /// The pointer that an operand is for certain.
    fn pointer(&self, point: Point, value: Value) -> Option<Pointer> {
        let value = self.definitions.value(point, value.register()?)?;
        match &self.definitions.nodes[value] {
            ValueNode::Definition(only) => self.pointers.get(only).cloned(),
            ValueNode::Join { .. } => None,
        }
    }

    /// The joins of which some operand is a pointer.
    fn joins_of_pointers(&self) -> IdVec<ValueId, bool> {
        let nodes = &self.definitions.nodes;
        let mut users: IdVec<ValueId, Vec<ValueId>> = IdVec::filled(Vec::new(), nodes.len());
        let mut open = Vec::new();
        for (id, node) in nodes.iter_enumerated() {
            match node {
                ValueNode::Definition(definition) => {
                    open.extend(self.pointers.contains_key(definition).then_some(id));
                }
                ValueNode::Join { operands, .. } => {
                    for &operand in operands {
                        users[operand].push(id);
                    }
                }
            }
        }
        let mut found = IdVec::filled(false, nodes.len());
        while let Some(value) = open.pop() {
            for &join in &users[value] {
                if !std::mem::replace(&mut found[join], true) {
                    open.push(join);
                }
            }
        }
        found
    }

    /// Finds the definitions that give addresses in local objects. In the order of the graph, a round
    /// is enough unless a loop is involved, and what is not found is no pointer that is known.
    fn pointers(&mut self) {
        const ROUNDS: usize = 4;
        for _ in 0..ROUNDS {
            let mut found = Vec::new();
            for (point, statement) in self.statements() {
                let [result] = statement.results[..] else { continue };
                let definition = Definition::Statement(point, result);
                if self.pointers.contains_key(&definition) || statement.may_fail {
                    continue;
                }
                let pointer = match &statement.operation {
                    Operation::Local(Shape { element, counts }) if counts.is_empty() => {
                        let address = Address::of_object(Kind::single(*element));
                        Some(Pointer { local: point, address })
                    }
                    Operation::Field { base, field } => self.pointer(point, *base).and_then(|of| {
                        let address = of.address.field(self.module, self.layout, *field).ok()?;
                        Some(Pointer { address, ..of })
                    }),
                    Operation::Shift { base, bytes: Value::Number(bytes) } => {
                        self.pointer(point, *base).and_then(|of| {
                            let bytes = Some(*bytes);
                            let address = of.address.shift(self.module, self.layout, bytes).ok()?;
                            Some(Pointer { address, ..of })
                        })
                    }
                    _ => None,
                };
                found.extend(pointer.map(|pointer| (definition, pointer)));
            }
            if found.is_empty() {
                break;
            }
            self.pointers.extend(found);
        }
    }

    /// The local objects that become registers.
    fn promotable(&self) -> BTreeSet<Point> {
        let mut kept: BTreeSet<Point> = BTreeSet::new();
        let joins = self.joins_of_pointers();
        for (point, statement) in self.statements() {
            for register in registers_read(&statement.operation) {
                self.keep_leaked(point, register, Some(statement), &joins, &mut kept);
            }
        }
        for &block in &self.graph.order {
            let code = &self.procedure.blocks[block];
            let end = Point::new(block, code.statements.len());
            for register in registers_read_by_jump(&code.end.jump) {
                self.keep_leaked(end, register, None, &joins, &mut kept);
            }
        }
        let locals = self.pointers.values().map(|pointer| pointer.local);
        locals.filter(|local| !kept.contains(local)).collect()
    }

    /// Keeps the objects whose addresses a register may hold that is used for something else than
    /// accesses to one leaf.
    fn keep_leaked(
        &self,
        point: Point,
        register: RegisterId,
        statement: Option<&Statement>,
        joins: &IdVec<ValueId, bool>,
        kept: &mut BTreeSet<Point>,
    ) {
        let Some(value) = self.definitions.value(point, register) else { return };
        if let Some(pointer) = self.pointer(point, Value::Register(register)) {
            if !statement.is_some_and(|statement| self.is_fine(point, register, statement)) {
                kept.insert(pointer.local);
            }
        } else if joins[value] {
            let all = self.definitions.of(value);
            let pointers = all.iter().filter_map(|definition| self.pointers.get(definition));
            kept.extend(pointers.map(|pointer| pointer.local));
        }
    }

    /// Whether a statement uses an address only as the place of an access, or makes another one of it.
    fn is_fine(&self, point: Point, register: RegisterId, statement: &Statement) -> bool {
        let own = Value::Register(register);
        let Some(pointer) = self.pointer(point, own) else { return false };
        if statement.may_fail {
            return false;
        }
        let is_part = |access: MemoryAccess| {
            part(self.module, self.layout, &pointer.address, access.bytes).is_some()
        };
        match &statement.operation {
            Operation::Move(_) => true,
            Operation::Field { .. } | Operation::Shift { .. } => statement
                .results
                .first()
                .is_some_and(|&to| self.pointers.contains_key(&Definition::Statement(point, to))),
            Operation::Load(access) => is_part(*access),
            Operation::Store { access, value } => *value != own && is_part(*access),
            Operation::Copy { to, from, kind } => {
                let (to, from) = (self.pointer(point, *to), self.pointer(point, *from));
                let locals = [to, from].map(|side| side.map(|side| side.local));
                locals[0] != locals[1]
                    && copied(self.module, self.layout, &pointer.address, kind).is_some()
            }
            _ => false,
        }
    }
}

/// A leaf that a `copy` copies: the fields that lead to it from the start of the copied kind, and the
/// part that it is of a local object.
type Copied = (Vec<FieldId>, Part);

/// The leaves that a `copy` copies at an address; none if they are no parts.
fn copied(module: &Module, layout: &Layout, address: &Address, kind: &Kind) -> Option<Vec<Copied>> {
    if !kind.counts.is_empty() {
        return None;
    }
    let Element::Inline(ty) = kind.element else {
        return Some(vec![(Vec::new(), part(module, layout, address, layout.size(kind))?)]);
    };
    let leaves = layout.leaves(ty).iter().map(|leaf| {
        let mut at = address.clone();
        for &field in &leaf.path {
            at = at.field(module, layout, field).ok()?;
        }
        let is_word = !leaf.in_array && !leaf.is_merged;
        let part = part(module, layout, &at, leaf.size).filter(|_| is_word)?;
        Some((leaf.path.clone(), part))
    });
    leaves.collect()
}

struct Rewriting<'a> {
    module: &'a Module,
    layout: &'a Layout,
    old: &'a Procedure,
    search: Search<'a>,
    /// The registers of the parts of each promoted object.
    registers: BTreeMap<Point, BTreeMap<Part, RegisterId>>,
    fresh: FreshNames,
    procedure: Procedure,
}

impl Rewriting<'_> {
    fn rewrite(mut self) -> Procedure {
        let old = self.old;
        for (block, code) in old.blocks.iter_enumerated() {
            for (index, statement) in code.statements.iter().enumerate() {
                self.name_parts(Point::new(block, index), &statement.operation);
            }
        }
        for (block, code) in old.blocks.iter_enumerated() {
            let mut statements = Vec::new();
            for (index, statement) in code.statements.iter().enumerate() {
                match self.statement(Point::new(block, index), statement) {
                    Some(new) => statements.extend(new),
                    None => statements.push(statement.clone()),
                }
            }
            self.procedure.blocks[block].statements = statements;
        }
        self.procedure
    }

    /// The promoted object that an operand is an address in.
    fn pointer(&self, point: Point, value: Value) -> Option<Pointer> {
        let pointer = self.search.pointer(point, value)?;
        self.registers.contains_key(&pointer.local).then_some(pointer)
    }

    /// Gives the parts that a statement accesses their registers.
    fn name_parts(&mut self, point: Point, operation: &Operation) {
        match operation {
            Operation::Load(access) | Operation::Store { access, .. } => {
                if let Some(pointer) = self.pointer(point, access.address) {
                    let part = part(self.module, self.layout, &pointer.address, access.bytes);
                    if let Some(part) = part {
                        self.name_part(&pointer, part);
                    }
                }
            }
            Operation::Copy { to, from, kind } => {
                let sides = [self.pointer(point, *to), self.pointer(point, *from)];
                for pointer in sides.into_iter().flatten() {
                    let all = copied(self.module, self.layout, &pointer.address, kind);
                    for (_, part) in all.into_iter().flatten() {
                        self.name_part(&pointer, part);
                    }
                }
            }
            _ => {}
        }
    }

    fn name_part(&mut self, pointer: &Pointer, part: Part) {
        let Some(parts) = self.registers.get_mut(&pointer.local) else { return };
        if parts.contains_key(&part) {
            return;
        }
        let made = &self.old.blocks[pointer.local.block].statements[pointer.local.index as usize];
        let mut name = self.old.registers[made.results[0]].clone();
        if let (Some(leaf), Element::Inline(ty)) = (part, pointer.address.root.element) {
            for &field in &self.layout.leaves(ty)[leaf].path {
                name.push('_');
                name.push_str(&self.module.fields[field].name);
            }
        }
        parts.insert(part, self.fresh.register(&mut self.procedure, &name));
    }

    fn register(&self, pointer: &Pointer, part: Part) -> Option<RegisterId> {
        self.registers.get(&pointer.local)?.get(&part).copied()
    }

    /// What a statement becomes; none if it stays as it is.
    fn statement(&mut self, point: Point, statement: &Statement) -> Option<Vec<Statement>> {
        let like = |results: Vec<RegisterId>, operation: Operation| Statement {
            results,
            operation,
            ..statement.clone()
        };
        let access_part = |access: &MemoryAccess| {
            let pointer = self.pointer(point, access.address)?;
            let part = part(self.module, self.layout, &pointer.address, access.bytes)?;
            self.register(&pointer, part)
        };
        match &statement.operation {
            Operation::Local(_) => {
                let parts = self.registers.get(&point)?.values();
                let unknown = |&part| like(vec![part], Operation::Move(Value::Unknown));
                Some(parts.map(unknown).collect())
            }
            Operation::Field { base: value, .. }
            | Operation::Shift { base: value, .. }
            | Operation::Move(value) => self.pointer(point, *value).map(|_| Vec::new()),
            Operation::Load(access) => {
                let part = Value::Register(access_part(access)?);
                Some(vec![like(statement.results.clone(), Operation::Move(part))])
            }
            Operation::Store { access, value } => {
                Some(vec![like(vec![access_part(access)?], Operation::Move(*value))])
            }
            Operation::Copy { to, from, kind } => self.copy(point, statement, (*to, *from), kind),
            _ => None,
        }
    }

    /// A load and a store per leaf; those of promoted objects are moves.
    fn copy(
        &mut self,
        point: Point,
        statement: &Statement,
        (to, from): (Value, Value),
        kind: &Kind,
    ) -> Option<Vec<Statement>> {
        let sides = [self.pointer(point, to), self.pointer(point, from)];
        let leaves = |side: &Option<Pointer>| {
            side.as_ref().and_then(|side| copied(self.module, self.layout, &side.address, kind))
        };
        let [to_leaves, from_leaves] = [leaves(&sides[0]), leaves(&sides[1])];
        let count = to_leaves.as_ref().or(from_leaves.as_ref())?.len();
        let [to_side, from_side] = &sides;
        let mut new = Vec::new();
        for at in 0..count {
            let part = |side: &Option<Pointer>, leaves: &Option<Vec<Copied>>| {
                let (_, part) = leaves.as_ref()?.get(at)?;
                self.register(side.as_ref()?, *part)
            };
            let parts = [part(to_side, &to_leaves), part(from_side, &from_leaves)];
            let (path, _) = to_leaves.as_ref().or(from_leaves.as_ref())?.get(at)?.clone();
            let bytes = if path.is_empty() { self.layout.size(kind) } else { 0 };
            let mut push = |results, operation| {
                new.push(Statement { results, operation, ..statement.clone() });
            };
            match parts {
                [Some(to), Some(from)] => push(vec![to], Operation::Move(Value::Register(from))),
                [Some(part), None] => {
                    let address = self.way(from, &path, &mut push);
                    let access = MemoryAccess { bytes, ..MemoryAccess::plain(address) };
                    push(vec![part], Operation::Load(access));
                }
                [None, Some(part)] => {
                    let address = self.way(to, &path, &mut push);
                    let access = MemoryAccess { bytes, ..MemoryAccess::plain(address) };
                    let value = Value::Register(part);
                    push(Vec::new(), Operation::Store { access, value });
                }
                [None, None] => {}
            }
        }
        Some(new)
    }

    /// The address of a leaf of an object that stays in memory.
    fn way(
        &mut self,
        mut address: Value,
        path: &[FieldId],
        push: &mut impl FnMut(Vec<RegisterId>, Operation),
    ) -> Value {
        for &field in path {
            let to = self.fresh.register(&mut self.procedure, "part");
            push(vec![to], Operation::Field { base: address, field });
            address = Value::Register(to);
        }
        address
    }
}
