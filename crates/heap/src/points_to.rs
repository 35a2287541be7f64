//! # Idea
//! Which pointers a value can be, which procedures a call reaches, and which threads run, found
//! together: a procedure that is reached adds its statements, an object that reaches the receiver of a
//! call adds its method. Calls and stores replace nothing, and no context is told apart.
//!
//! Code that is not given, and that no row of the module describes, keeps what it is passed in one
//! *pool*, gives back anything of it, or an object of its own of the declared type. It reads and writes
//! no memory and calls nothing.
//!
//! # Source
//! Andersen's analysis (1994), with the call graph on the fly and fields apart.
//!
//! # Requires
//! A validated module.
//!
//! # Invariants
//! 1. Sets only grow, and what follows from a pointer is done when it comes into a set.

use crate::flow::{Fits, Flow, PointerSet, SetId};
use crate::objects::{HeapObject, ObjectId, Objects, PointerId, Site};
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::{Budget, Id, IdVec, StopReason, define_id};
use selvedge_code::flow::definitions::{Definition, Definitions, ValueId, ValueNode};
use selvedge_code::flow::graph::BlockGraph;
use selvedge_code::flow::liveness::Liveness;
use selvedge_code::layout::Layout;
use selvedge_code::model::{
    Element, FieldId, Kind, MethodId, Module, Point, ProcedureId, RegisterId, TypeId,
};
use selvedge_code::statement::{Callee, Value};
use selvedge_code::words::{ProcedureFlag, Side};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A statement of a procedure.
pub type StatementAt = (ProcedureId, Point);

/// A part of what is copied, by the fields on the way, and the set through which it goes.
type Moved = (Vec<FieldId>, SetId);

define_id!(
    /// A call of the analysis.
    CallSiteId
);

/// How a procedure comes to be run by a statement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CallKind {
    /// By the thread that executes the statement.
    Call,
    /// By that thread, or by another one before: at most once.
    Once,
    /// By a new thread.
    Start,
}

/// What a call reaches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallTargets {
    /// How.
    pub kind: CallKind,
    /// The procedures that have code.
    pub procedures: BTreeSet<ProcedureId>,
    /// The procedures without code.
    pub declared: BTreeSet<ProcedureId>,
    /// Whether it may reach code of which not even a declaration is known.
    pub is_open: bool,
}

/// A kind of threads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ThreadKind {
    /// The statement that starts it; an entry of the program if there is none.
    pub start: Option<StatementAt>,
    /// What it runs.
    pub entry: ProcedureId,
}

/// What was found.
pub struct PointsTo {
    /// Objects and pointers.
    pub objects: Objects,
    /// The procedures that are reached.
    pub procedures: BTreeMap<ProcedureId, ReachedProcedure>,
    /// What calls, starts and `once` reach.
    pub calls: BTreeMap<StatementAt, CallTargets>,
    /// The kinds of threads.
    pub threads: BTreeSet<ThreadKind>,
    /// The names of code that is called and neither given nor described by a row, with how many
    /// statements call it.
    pub unknown: BTreeMap<String, usize>,
    flow: Flow<Use>,
    constants: FxHashMap<Value, SetId>,
    cells: FxHashMap<PointerId, SetId>,
    pool: SetId,
    nothing: PointerSet,
}

/// What is known of a procedure that is reached.
pub struct ReachedProcedure {
    /// The values of its uses.
    pub definitions: Definitions,
    values: IdVec<ValueId, SetId>,
    by_definition: FxHashMap<Definition, SetId>,
    results: Vec<SetId>,
}

impl ReachedProcedure {
    /// The set of what a definition gives, if anybody reads it.
    pub(crate) fn node_of(&self, definition: Definition) -> Option<SetId> {
        self.by_definition.get(&definition).copied()
    }

    /// The sets of the results.
    pub(crate) fn results(&self) -> &[SetId] {
        &self.results
    }
}

impl PointsTo {
    /// The pointers that an operand can be at a point.
    pub fn value(&self, procedure: ProcedureId, point: Point, value: Value) -> &PointerSet {
        let node = match value {
            Value::Register(register) => self.procedures.get(&procedure).and_then(|reached| {
                Some(reached.values[reached.definitions.value(point, register)?])
            }),
            constant => self.constants.get(&constant).copied(),
        };
        node.map_or(&self.nothing, |node| self.flow.set(node))
    }

    /// The pointers that memory at a pointer can hold; nothing if nobody stores one there.
    pub fn held(&mut self, module: &Module, layout: &Layout, pointer: PointerId) -> &PointerSet {
        let cell = self.objects.cell(module, layout, pointer);
        self.cells.get(&cell).map_or(&self.nothing, |&node| self.flow.set(node))
    }

    /// The pointers that a procedure can return.
    pub fn returned(&self, procedure: ProcedureId, number: usize) -> &PointerSet {
        let node = self.procedures.get(&procedure).and_then(|one| one.results.get(number));
        node.map_or(&self.nothing, |&node| self.flow.set(node))
    }

    /// The pointers that code that is not given has.
    pub fn pool(&self) -> &PointerSet {
        self.flow.set(self.pool)
    }
}

/// What a set is used for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Use {
    /// Memory there is read into a set.
    Load(SetId),
    /// A set is written to memory there.
    Store(SetId),
    /// A field of it is put into a set.
    Field(FieldId, SetId),
    /// An element of it is; of which kind, the statement says.
    Element(ProcedureId, Point, SetId),
    /// A byte so far behind it is; anywhere in the object if that is not known.
    Shift(Option<i64>, SetId),
    Side(Side, SetId),
    /// What is copied from there, by the statement that copies.
    CopyFrom(ProcedureId, Point),
    CopyTo(ProcedureId, Point),
    /// The receiver of a call.
    Receiver(CallSiteId),
    /// It is called.
    Called(CallSiteId),
}

/// A call of the analysis.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) at: StatementAt,
    pub(crate) kind: CallKind,
    pub(crate) callee: Callee,
    pub(crate) arguments: Vec<SetId>,
    pub(crate) results: Vec<SetId>,
}

pub(crate) struct Solver<'a> {
    pub(crate) module: &'a Module,
    pub(crate) layout: Rc<Layout>,
    pub(crate) found: PointsTo,
    pub(crate) calls: IdVec<CallSiteId, Call>,
    pub(crate) links: FxHashSet<(CallSiteId, ProcedureId)>,
    pub(crate) rows: FxHashMap<&'a str, ProcedureId>,
    /// The target of each method for each type that came by.
    pub(crate) targets: FxHashMap<(MethodId, TypeId), Option<ProcedureId>>,
    pub(crate) open: Vec<ProcedureId>,
    /// What failed, whatever it is.
    pub(crate) thrown: SetId,
    /// The cells of each object, and the set of what lies anywhere in it, if a place in it is unknown.
    object_cells: FxHashMap<ObjectId, Vec<SetId>>,
    anywhere: FxHashMap<ObjectId, SetId>,
    /// What a copy moves, part by part.
    pub(crate) moved: FxHashMap<StatementAt, Vec<Moved>>,
}

/// Says whether a pointer is to an object of a type.
pub(crate) struct Types<'a> {
    pub(crate) module: &'a Module,
    pub(crate) objects: &'a Objects,
}

impl Fits for Types<'_> {
    fn fits(&self, pointer: PointerId, ty: TypeId) -> bool {
        let of = &self.objects.pointers[pointer];
        // Of what lies inside of an object nothing is asked.
        let is_whole = of.steps.is_empty() && of.rest == Some(0) && of.side.is_none();
        !is_whole || self.objects.may_be(self.module, of.object, ty)
    }
}

/// Finds what values can be in a module that begins at its entries.
///
/// # Errors
/// If the budget is used up.
pub fn points_to(module: &Module, budget: &Budget) -> Result<PointsTo, StopReason> {
    let mut solver = Solver::new(module);
    for (id, procedure) in module.procedures.iter_enumerated() {
        if procedure.flags.contains(ProcedureFlag::Entry) && !procedure.blocks.is_empty() {
            solver.enter(id);
        }
    }
    loop {
        while let Some(procedure) = solver.open.pop() {
            solver.statements(procedure);
        }
        let types = Types { module, objects: &solver.found.objects };
        let Some(uses) = solver.found.flow.step(&types) else { break };
        for (one, pointers) in uses {
            solver.apply(one, &pointers);
        }
        budget.charge(1 + solver.found.flow.take_work())?;
    }
    Ok(solver.found)
}

impl<'a> Solver<'a> {
    fn new(module: &'a Module) -> Self {
        let mut flow = Flow::default();
        let (pool, thrown) = (flow.push(), flow.push());
        let rows = module.procedures.iter_enumerated().filter(|(_, one)| one.is_row);
        Self {
            module,
            layout: Rc::new(Layout::new(module)),
            found: PointsTo {
                objects: Objects::default(),
                procedures: BTreeMap::new(),
                calls: BTreeMap::new(),
                threads: BTreeSet::new(),
                unknown: BTreeMap::new(),
                flow,
                constants: FxHashMap::default(),
                cells: FxHashMap::default(),
                pool,
                nothing: PointerSet::default(),
            },
            calls: IdVec::new(),
            links: FxHashSet::default(),
            rows: rows.map(|(id, one)| (one.name.as_str(), id)).collect(),
            targets: FxHashMap::default(),
            open: Vec::new(),
            thrown,
            object_cells: FxHashMap::default(),
            anywhere: FxHashMap::default(),
            moved: FxHashMap::default(),
        }
    }

    /// A thread of the program begins here; its parameters are objects that nobody else has.
    fn enter(&mut self, procedure: ProcedureId) {
        self.found.threads.insert(ThreadKind { start: None, entry: procedure });
        self.reach(procedure);
        let kinds = &self.module.procedures[procedure].parameters;
        for (number, kind) in kinds.iter().enumerate() {
            let register = RegisterId::from_index(number);
            let Some(Kind { element: Element::Reference(Some(ty)), .. }) = kind else { continue };
            let site = Site::Parameter(procedure, register);
            let kind = || Kind::single(Element::Inline(*ty));
            let object = self.found.objects.object(site, kind);
            let pointer = self.found.objects.to_object(object);
            let node = self.parameter(procedure, number);
            self.found.flow.give(node, pointer);
        }
    }

    /// Makes a procedure part of the program.
    pub(crate) fn reach(&mut self, id: ProcedureId) {
        let procedure = &self.module.procedures[id];
        if procedure.blocks.is_empty() || self.found.procedures.contains_key(&id) {
            return;
        }
        let graph = BlockGraph::new(procedure);
        let liveness = Liveness::new(procedure, &graph);
        let definitions = Definitions::new(procedure, &graph, &liveness);
        let values: IdVec<ValueId, SetId> =
            definitions.nodes.iter().map(|_| self.found.flow.push()).collect();
        let results = procedure.returns.iter().map(|_| self.found.flow.push()).collect();
        for (value, node) in definitions.nodes.iter_enumerated() {
            if let ValueNode::Join { operands, .. } = node {
                for &operand in operands {
                    self.copy(values[operand], values[value], None);
                }
            }
        }
        let by_definition = definitions
            .nodes
            .iter_enumerated()
            .filter_map(|(value, node)| match node {
                ValueNode::Definition(definition) => Some((*definition, values[value])),
                ValueNode::Join { .. } => None,
            })
            .collect();
        let reached = ReachedProcedure { definitions, values, by_definition, results };
        self.found.procedures.insert(id, reached);
        self.open.push(id);
    }

    /// The set of a parameter of a procedure that is reached.
    pub(crate) fn parameter(&mut self, procedure: ProcedureId, number: usize) -> SetId {
        let definition = Definition::Parameter(RegisterId::from_index(number));
        let known = self.found.procedures.get(&procedure).and_then(|one| one.node_of(definition));
        known.unwrap_or_else(|| self.push())
    }

    /// The set of an operand.
    pub(crate) fn operand(&mut self, (procedure, point): StatementAt, value: Value) -> SetId {
        if let Value::Register(register) = value {
            let reached = &self.found.procedures[&procedure];
            let value = reached.definitions.value(point, register);
            return value.map_or_else(|| self.found.flow.push(), |value| reached.values[value]);
        }
        if let Some(&known) = self.found.constants.get(&value) {
            return known;
        }
        let node = self.found.flow.push();
        self.found.constants.insert(value, node);
        let (site, kind) = match value {
            Value::Global(global) => {
                (Site::Global(global), self.module.globals[global].kind.clone())
            }
            Value::Procedure(of) => (Site::Procedure(of), Kind::single(Element::Word(0))),
            _ => return node,
        };
        let object = self.found.objects.object(site, || kind);
        let pointer = self.found.objects.to_object(object);
        self.found.flow.give(node, pointer);
        node
    }

    pub(crate) fn copy(&mut self, from: SetId, into: SetId, filter: Option<TypeId>) {
        let types = Types { module: self.module, objects: &self.found.objects };
        self.found.flow.copy(from, into, filter, &types);
    }

    /// A new object of a statement, in a set.
    pub(crate) fn make(&mut self, site: Site, kind: Kind, into: SetId) -> PointerId {
        let object = self.found.objects.object(site, || kind);
        let pointer = self.found.objects.to_object(object);
        self.found.flow.give(into, pointer);
        pointer
    }

    /// The set of what memory holds.
    fn memory(&mut self, pointer: PointerId) -> SetId {
        let cell = self.found.objects.cell(self.module, &self.layout, pointer);
        if let Some(&known) = self.found.cells.get(&cell) {
            return known;
        }
        let node = self.found.flow.push();
        self.found.cells.insert(cell, node);
        let of = self.found.objects.pointers[cell].clone();
        if of.rest.is_none() {
            // What lies anywhere lies in every cell, and the other way round.
            self.anywhere.insert(of.object, node);
            for other in self.object_cells.get(&of.object).cloned().unwrap_or_default() {
                self.copy(node, other, None);
                self.copy(other, node, None);
            }
        } else {
            self.object_cells.entry(of.object).or_default().push(node);
            if let Some(&anywhere) = self.anywhere.get(&of.object) {
                self.copy(node, anywhere, None);
                self.copy(anywhere, node, None);
            }
        }
        node
    }

    pub(crate) fn pool(&self) -> SetId {
        self.found.pool
    }

    pub(crate) fn push(&mut self) -> SetId {
        self.found.flow.push()
    }

    pub(crate) fn add_use(&mut self, node: SetId, one: Use) {
        self.found.flow.add_use(node, one);
    }

    pub(crate) fn give(&mut self, node: SetId, pointer: PointerId) {
        self.found.flow.give(node, pointer);
    }

    /// The objects of some pointers, in order.
    pub(crate) fn object_of(&self, pointer: PointerId) -> (ObjectId, &HeapObject) {
        let object = self.found.objects.pointers[pointer].object;
        (object, &self.found.objects.objects[object])
    }

    fn apply(&mut self, one: Use, pointers: &PointerSet) {
        let (module, layout) = (self.module, Rc::clone(&self.layout));
        match one {
            Use::Receiver(call) => return self.dispatch(call, pointers),
            Use::Called(call) => return self.called(call, pointers),
            _ => {}
        }
        for pointer in pointers.iter() {
            let objects = &mut self.found.objects;
            match one {
                Use::Load(into) => {
                    let memory = self.memory(pointer);
                    self.copy(memory, into, None);
                }
                Use::Store(from) => {
                    let memory = self.memory(pointer);
                    self.copy(from, memory, None);
                }
                Use::Field(field, into) => {
                    if let Some(found) = objects.field(module, &layout, (pointer, field)) {
                        self.found.flow.give(into, found);
                    }
                }
                Use::Element(procedure, point, into) => {
                    let found = self.element((procedure, point), pointer);
                    self.found.flow.give(into, found);
                }
                Use::Shift(bytes, into) => {
                    let found = objects.shift(module, &layout, (pointer, bytes));
                    self.found.flow.give(into, found);
                }
                Use::Side(side, into) => {
                    let found = objects.side(pointer, side);
                    self.found.flow.give(into, found);
                }
                Use::CopyFrom(procedure, point) => {
                    self.copy_part((procedure, point), pointer, true);
                }
                Use::CopyTo(procedure, point) => self.copy_part((procedure, point), pointer, false),
                Use::Receiver(_) | Use::Called(_) => {}
            }
        }
    }

    /// One side of a copy: memory there flows through the sets of its parts.
    fn copy_part(&mut self, at: StatementAt, pointer: PointerId, reads: bool) {
        for (fields, node) in self.moved.get(&at).cloned().unwrap_or_default() {
            let objects = &mut self.found.objects;
            let part = objects.part(self.module, &self.layout, (pointer, &fields));
            let memory = self.memory(part);
            if reads {
                self.copy(memory, node, None);
            } else {
                self.copy(node, memory, None);
            }
        }
    }
}
