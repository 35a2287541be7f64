//! # Idea
//! Puts the new program together: the bits of the globals, then for every thread a procedure in which
//! it begins and its own copies of the procedures that it runs. First values and temporaries are passed
//! like parameters, because a local that nobody passes could have any value.
//!
//! # Invariants
//! 1. Every local of a procedure of the new program is a parameter, but for those in which threads
//!    begin: these have the parameters of the old main.

use super::circuit::Bit;
use super::encoding::{Encoding, WIDEST};
use super::evaluate::{Context, Evaluator, Operation, Scene, Slot};
use super::locks::{LockData, balanced};
use super::step::Chain;
use super::{BitProgram, Origin, Refused, Role, TargetParts};
use crate::names::Names;
use selvedge_base::{Budget, Id, IdVec, Place};
use selvedge_program::copies::copy_number;
use selvedge_program::{
    Action, Annotation, ConditionId, Edge, EdgeId, Expr, Frame, Global, GlobalId, Label, Local,
    LocalId, LockId, Move, NodeId, Numeral, Passing, PassingId, Procedure, ProcedureId, Program,
    Sharing, Start, Successors, Thread, ThreadId, Type, Unknown, Variable,
};
use std::collections::{BTreeMap, BTreeSet};

/// What the edges of one procedure of one thread are written with.
pub(super) struct Body<'a> {
    /// The thread.
    pub(super) thread: ThreadId,
    /// The old procedure.
    pub(super) procedure: ProcedureId,
    /// The new one.
    id: ProcedureId,
    nodes: BTreeMap<NodeId, NodeId>,
    /// The node from which the new one returns.
    pub(super) exit: NodeId,
    slots: &'a IdVec<LocalId, Slot>,
    types: &'a IdVec<LocalId, Type>,
    /// The number of bits of the locals.
    pub(super) first_temporary: usize,
    /// How many temporaries are used at once.
    pub(super) temporaries: usize,
    dead: Option<NodeId>,
}

impl Body<'_> {
    /// The new node that stands for a node.
    pub(super) fn node(&self, node: NodeId) -> NodeId {
        self.nodes[&node]
    }
}

/// The new program as far as it was written.
pub(super) struct Build<'a> {
    /// The old program with its locks as data beside it.
    pub(super) typed: &'a Program,
    pub(super) locks: &'a LockData,
    /// Which copy of its process each thread is.
    pub(super) copies: IdVec<ThreadId, u32>,
    /// The conditions that steps must keep.
    pub(super) checks: BTreeSet<ConditionId>,
    /// For each procedure the results that somebody takes, by the type of the variable.
    pub(super) returned: IdVec<ProcedureId, Vec<(usize, Type)>>,
    /// The new procedures.
    pub(super) number: BTreeMap<(ThreadId, ProcedureId), ProcedureId>,
    /// The calls, whose temporaries are passed in the end.
    pub(super) calls: Vec<(PassingId, ProcedureId)>,
    pub(super) out: Program,
    pub(super) origins: IdVec<EdgeId, Origin>,
    globals: IdVec<GlobalId, Slot>,
    nodes: IdVec<NodeId, Option<NodeId>>,
    roles: IdVec<ProcedureId, Role>,
    labels: BTreeMap<NodeId, Vec<&'a str>>,
    /// The nodes and edges of the old procedures.
    own_nodes: IdVec<ProcedureId, Vec<NodeId>>,
    own_edges: IdVec<ProcedureId, Vec<EdgeId>>,
    never: Option<ConditionId>,
    names: Names,
    /// Whether it is asked which labels are reached.
    pub(super) labels_asked: bool,
}

/// Builds the new program.
pub(super) fn build(
    source: &Program,
    asked: &TargetParts,
    budget: &Budget,
) -> Result<BitProgram, Unknown> {
    let sharing = Sharing::new(source);
    let mut typed = source.clone();
    let locks = LockData::add(&mut typed, &sharing, &asked.locks)?;
    check(source)?;
    let returned = returned(source)?;
    let names = source.procedures.iter().flat_map(|one| &one.frame.locals);
    let names = Names::avoiding(names.map(|local| local.name.as_str()));
    let invariants = typed.invariants.iter().map(|one| one.condition);
    let predicates = typed.globals.iter().filter_map(|global| match global.annotation {
        Some(Annotation::ExclusiveWhen(condition)) => Some(condition),
        _ => None,
    });
    let mut labels: BTreeMap<NodeId, Vec<&str>> = BTreeMap::new();
    for label in &source.labels {
        labels.entry(label.node).or_default().push(&label.name);
    }
    let mut own_nodes = IdVec::filled(Vec::new(), source.procedures.len());
    let mut own_edges = IdVec::filled(Vec::new(), source.procedures.len());
    for (node, &procedure) in source.nodes.iter_enumerated() {
        own_nodes[procedure].push(node);
    }
    for (id, edge) in source.edges.iter_enumerated() {
        own_edges[source.nodes[edge.source]].push(id);
    }
    let mut build = Build {
        typed: &typed,
        locks: &locks,
        copies: source.threads.iter().map(|thread| copy_number(&thread.name)).collect(),
        checks: invariants.chain(predicates).collect(),
        returned,
        number: BTreeMap::new(),
        calls: Vec::new(),
        out: Program { files: source.files.clone(), ..Program::default() },
        origins: IdVec::new(),
        globals: IdVec::new(),
        nodes: IdVec::new(),
        roles: IdVec::new(),
        labels,
        own_nodes,
        own_edges,
        never: None,
        names,
        labels_asked: asked.labels,
    };
    build.declare_globals()?;
    build.number_procedures(&sharing);
    let first = typed.threads.ids().find(|&one| typed.threads[one].start == Start::AtFirst);
    for thread in typed.threads.ids() {
        let main = build.begin(thread);
        build.out.threads.push(Thread { main, ..source.threads[thread].clone() });
        if first == Some(thread) && !typed.invariants.is_empty() {
            build.check_first(thread)?;
        }
        for &procedure in sharing.procedures(thread) {
            budget.check().map_err(Unknown::Stopped)?;
            build.procedure(thread, procedure)?;
        }
    }
    build.pass_temporaries();
    Ok(build.finish(source))
}

/// What is refused wherever it stands.
fn check(source: &Program) -> Result<(), Refused> {
    let successors = Successors::new(source);
    let units = |action: Action| match action {
        Action::BeginUnit => 1,
        Action::EndUnit => -1,
        _ => 0,
    };
    if source.edges.iter().any(|edge| units(edge.action) != 0)
        && balanced(source, &successors, &units).is_none()
    {
        return Err(Refused::new("units of work are not nested"));
    }
    let enforces = source.procedures.iter().any(|one| one.frame.enforced.is_some());
    let annotated = source.globals.iter().any(|global| global.annotation.is_some());
    if enforces && (annotated || !source.invariants.is_empty()) {
        return Err(Refused::new("a procedure enforces a condition, and others are checked"));
    }
    let at_first = source.threads.iter().any(|thread| thread.start == Start::AtFirst);
    if !source.invariants.is_empty() && !at_first {
        return Err(Refused::new("no thread runs from the beginning"));
    }
    Ok(())
}

/// The results of each procedure that somebody takes, by the type of the variable that gets them.
fn returned(source: &Program) -> Result<IdVec<ProcedureId, Vec<(usize, Type)>>, Refused> {
    let mut returned: IdVec<ProcedureId, Vec<(usize, Type)>> =
        IdVec::filled(Vec::new(), source.procedures.len());
    let mut checked: BTreeSet<GlobalId> = BTreeSet::new();
    let predicate = |annotation: Annotation| match annotation {
        Annotation::ExclusiveWhen(condition) => Some(condition),
        Annotation::GuardedBy(_) => None,
    };
    for (id, global) in source.globals.iter_enumerated() {
        checked.extend(global.annotation.map(|_| id));
    }
    let predicates = source.globals.iter().filter_map(|one| one.annotation.and_then(predicate));
    for condition in source.invariants.iter().map(|one| one.condition).chain(predicates) {
        source.conditions[condition].variables(&mut |variable, _| {
            if let Variable::Global(id) = variable {
                checked.insert(id);
            }
        });
    }
    for edge in &source.edges {
        let (Action::Call(callee), Some(passing)) = (edge.action, edge.passing) else { continue };
        let caller = &source.procedures[source.nodes[edge.source]];
        let frame = &source.procedures[callee].frame;
        for (at, target) in source.passings[passing].results.iter().enumerate() {
            let Some(target) = *target else { continue };
            let ty = match target {
                Variable::Global(id) => source.globals[id].ty,
                Variable::Local(id) => caller.frame.locals[id].ty,
            };
            if matches!(target, Variable::Global(id) if checked.contains(&id)) {
                let why = "the result of a call goes to a variable that is checked";
                return Err(Refused::at(source, edge.place, why));
            }
            let ((low, high), (least, most)) = (source.range(frame.results[at]), source.range(ty));
            if !matches!(ty, Type::Mod(_)) && (low < least || most < high) {
                let why = "the result of a call may not fit into the variable that gets it";
                return Err(Refused::at(source, edge.place, why));
            }
            if !returned[callee].contains(&(at, ty)) {
                returned[callee].push((at, ty));
            }
        }
    }
    Ok(returned)
}

impl Build<'_> {
    pub(super) fn encoding(&self, ty: Type, what: &str) -> Result<Encoding, Refused> {
        Encoding::new(self.typed, ty)
            .ok_or_else(|| Refused::new(format!("{what} has more than {WIDEST} bits")))
    }

    /// How many bits the values of a type have that was seen before.
    pub(super) fn width(&self, ty: Type) -> usize {
        Encoding::new(self.typed, ty).map_or(0, |encoding| encoding.width)
    }

    /// The context in which the expressions of a procedure are evaluated.
    pub(super) fn context<'b>(&'b self, body: &Body<'b>) -> Context<'b> {
        Context {
            program: self.typed,
            globals: &self.globals,
            locals: body.slots,
            types: body.types,
            owners: &self.locks.owners,
            first_temporary: body.first_temporary,
        }
    }

    pub(super) fn slot<'b>(&'b self, body: &Body<'b>, variable: Variable) -> &'b Slot {
        match variable {
            Variable::Global(id) => &self.globals[id],
            Variable::Local(id) => &body.slots[id],
        }
    }

    pub(super) fn type_of(&self, body: &Body<'_>, variable: Variable) -> Type {
        match variable {
            Variable::Global(id) => self.typed.globals[id].ty,
            Variable::Local(id) => body.types[id],
        }
    }

    fn declare_globals(&mut self) -> Result<(), Refused> {
        let typed = self.typed;
        for global in &typed.globals {
            let encoding = self.encoding(global.ty, &global.name);
            let encoding = encoding.map_err(|refused| refused.or_at(typed, global.place))?;
            let code = global.initial.map(|value| encoding.code(value));
            let mut bits = Vec::new();
            for at in 0..encoding.width {
                let wish = bit_name(&global.name, global.ty, at);
                let name = self.names.fresh(&wish);
                let initial = code.as_ref().map(|code| code[at]);
                bits.push(self.out.globals.push(Global::flag(name, global.place, initial)));
            }
            if encoding.is_plain() && encoding.width > 1 {
                let name = global.name.clone();
                self.out.numerals.push(Numeral { name, bits: bits.clone() });
            }
            let bits = bits.into_iter().map(Variable::Global).collect();
            self.globals.push(Slot { bits, encoding });
        }
        Ok(())
    }

    fn number_procedures(&mut self, sharing: &Sharing) {
        let typed = self.typed;
        let first = typed.threads.ids().find(|&one| typed.threads[one].start == Start::AtFirst);
        let mut next = 0;
        for thread in typed.threads.ids() {
            // Where it begins, and where the invariants are looked at.
            next += 1 + usize::from(first == Some(thread) && !typed.invariants.is_empty());
            for &procedure in sharing.procedures(thread) {
                self.number.insert((thread, procedure), ProcedureId::from_index(next));
                next += 1;
            }
        }
    }

    /// A node of a procedure, which stands for an old one.
    pub(super) fn new_node(&mut self, body: &Body<'_>, stands_for: Option<NodeId>) -> NodeId {
        self.node_of(body.id, stands_for)
    }

    fn node_of(&mut self, procedure: ProcedureId, stands_for: Option<NodeId>) -> NodeId {
        self.nodes.push(stands_for);
        self.out.nodes.push(procedure)
    }

    /// A node that nobody leaves.
    pub(super) fn dead(&mut self, body: &mut Body<'_>) -> NodeId {
        if let Some(dead) = body.dead {
            return dead;
        }
        let dead = self.new_node(body, None);
        body.dead = Some(dead);
        dead
    }

    /// The assertion that always fails.
    pub(super) fn never(&mut self) -> Action {
        let out = &mut self.out;
        Action::Assert(*self.never.get_or_insert_with(|| out.conditions.push(Expr::FALSE)))
    }

    /// The first values of the locals of a procedure, from one of them on; those that have none may be
    /// anything.
    pub(super) fn first_values(&self, procedure: ProcedureId, from: usize) -> Vec<Bit> {
        let frame = &self.typed.procedures[procedure].frame;
        let mut bits = Vec::new();
        for (at, local) in frame.locals.iter().enumerate().skip(from) {
            let initial = local.initial.filter(|_| at >= frame.parameters);
            let Some(encoding) = Encoding::new(self.typed, local.ty) else { continue };
            match initial {
                Some(value) => bits.extend(encoding.code(value).into_iter().map(Bit::constant)),
                None => bits.extend(vec![Bit::of(Expr::Choice); encoding.width]),
            }
        }
        bits
    }

    /// The procedure in which a thread begins: it calls main with the first values, once it has seen
    /// that those of the globals are values (invariant 3 of the module).
    fn begin(&mut self, thread: ThreadId) -> ProcedureId {
        let typed = self.typed;
        let main = typed.threads[thread].main;
        let from = &typed.procedures[main];
        let id = self.out.procedures.next_id();
        let entry = self.node_of(id, Some(from.entry));
        let exit = self.node_of(id, None);
        let mut frame = Frame::default();
        let mut slots = Vec::new();
        let mut arguments = Vec::new();
        for local in from.frame.locals.iter().take(from.frame.parameters) {
            let Some(encoding) = Encoding::new(typed, local.ty) else { continue };
            let bits = (0..encoding.width).map(|at| {
                let name = bit_name(&local.name, local.ty, at);
                let bit = Variable::Local(push_local(&mut frame, &name, local.place));
                arguments.push(Expr::Current(bit));
                bit
            });
            let bits = bits.collect();
            slots.push(Slot { bits, encoding });
        }
        frame.parameters = frame.locals.len();
        let others = self.first_values(main, from.frame.parameters);
        arguments.extend(others.iter().map(|bit| bit.expr().clone()));
        let width = self.returned[main].iter().map(|&(_, ty)| self.width(ty)).sum();
        let passing = Passing { arguments, results: vec![None; width] };
        let passing = self.out.passings.push(passing);
        let callee = self.number[&(thread, main)];
        self.calls.push((passing, callee));
        let mut chain = Chain::new(entry, from.place, Action::Skip);
        for (slot, global) in self.globals.iter().zip(&typed.globals) {
            if global.initial.is_none() {
                chain.ask(slot.encoding.is_possible(slot.code()));
            }
        }
        let update = chain.update(Vec::new());
        self.push(&chain, exit, Action::Call(callee), update, Some(passing), Origin::Part);
        let name = self.names.fresh(&format!("{}_begins", typed.threads[thread].name));
        let owner = Some(thread);
        self.out.procedures.push(Procedure { name, owner, entry, exit, frame, ..from.clone() });
        self.roles.push(Role::Begins(slots));
        id
    }

    /// The procedure that fails if an invariant is false at first. The one in which the thread begins
    /// may call it, and it never returns.
    fn check_first(&mut self, thread: ThreadId) -> Result<(), Refused> {
        let typed = self.typed;
        let id = self.out.procedures.next_id();
        let (slots, types) = (IdVec::new(), IdVec::new());
        let exit = self.node_of(id, None);
        let mut body = Body {
            thread,
            procedure: typed.threads[thread].main,
            id,
            nodes: BTreeMap::new(),
            exit,
            slots: &slots,
            types: &types,
            first_temporary: 0,
            temporaries: 0,
            dead: None,
        };
        let entry = self.new_node(&body, None);
        let place = typed.invariants.first().map_or(Place::NONE, |one| one.place);
        let context = self.context(&body);
        let mut evaluator = Evaluator::new(&context);
        let next = BTreeMap::new();
        let copy = self.copies[thread];
        let scene = Scene { thread, copy, next: &next, after: false, checked: false };
        for invariant in &typed.invariants {
            let holds = evaluator.truth(&typed.conditions[invariant.condition], scene);
            let holds = holds.map_err(|refused| refused.or_at(typed, invariant.place))?;
            evaluator.operations.push(Operation::Fail(holds.not()));
        }
        let Evaluator { operations, temporaries, .. } = evaluator;
        let mut chain = Chain::new(entry, place, Action::Skip);
        for (slot, global) in self.globals.iter().zip(&typed.globals) {
            if global.initial.is_none() {
                chain.ask(slot.encoding.is_possible(slot.code()));
            }
        }
        for operation in operations {
            let fails = Origin::FailsAtFirst;
            self.operation(&mut body, &mut chain, operation, false, fails)?;
        }
        let frame = all_parameters(Frame::default(), temporaries);
        let name = self.names.fresh("invariants_at_first");
        let owner = Some(thread);
        self.out.procedures.push(Procedure { name, owner, place, end: place, entry, exit, frame });
        self.roles.push(Role::Checks);
        // The thread may call it where it begins.
        let begins = &self.out.procedures[ProcedureId::from_index(id.index() - 1)];
        let chain = Chain::new(begins.entry, place, Action::Skip);
        let target = begins.exit;
        let passing = self.out.passings.push(Passing::default());
        self.calls.push((passing, id));
        self.push_before(&chain, target, Action::Call(id), passing);
        Ok(())
    }

    /// Adds an edge to the procedure before the last one: edges are grouped by procedure.
    fn push_before(&mut self, chain: &Chain, target: NodeId, action: Action, passing: PassingId) {
        self.push(chain, target, action, None, Some(passing), Origin::Part);
        let source = self.out.nodes[chain.at];
        let mut edges: Vec<(Edge, Origin)> =
            self.out.edges.iter().cloned().zip(self.origins.iter().copied()).collect();
        edges.sort_by_key(|(edge, _)| self.out.nodes[edge.source]);
        debug_assert!(edges.iter().any(|(edge, _)| self.out.nodes[edge.source] == source));
        self.origins = edges.iter().map(|(_, origin)| *origin).collect();
        self.out.edges = edges.into_iter().map(|(edge, _)| edge).collect();
    }

    /// Where the first step of a procedure stands that assigns a local.
    fn computed_at(&self, procedure: ProcedureId, local: LocalId) -> Option<Place> {
        let assigns = |edge: &&Edge| {
            let update = edge.update.map(|id| &self.typed.updates[id]);
            let targets = update.map_or(&[][..], |update| &update.assignments);
            targets.iter().any(|(target, _)| *target == Variable::Local(local))
        };
        let mut edges = self.own_edges[procedure].iter().map(|&id| &self.typed.edges[id]);
        edges.find(assigns).map(|edge| edge.place)
    }

    fn procedure(&mut self, thread: ThreadId, old: ProcedureId) -> Result<(), Refused> {
        let typed = self.typed;
        let from = &typed.procedures[old];
        let id = self.out.procedures.next_id();
        let mut frame = Frame::default();
        let mut slots: IdVec<LocalId, Slot> = IdVec::new();
        let mut types: IdVec<LocalId, Type> = IdVec::new();
        for (local_id, local) in from.frame.locals.iter_enumerated() {
            // A reader's temporary has no name in the source, but a step that computes it.
            let kept = local.name.starts_with('#').then(|| self.computed_at(old, local_id));
            let (what, place) = match kept.flatten() {
                Some(place) => ("a value that is computed here", place),
                None => (&*local.name, local.place),
            };
            let encoding = self.encoding(local.ty, what);
            let encoding = encoding.map_err(|refused| refused.or_at(typed, place))?;
            let bits = (0..encoding.width).map(|at| {
                let name = bit_name(&local.name, local.ty, at);
                Variable::Local(push_local(&mut frame, &name, local.place))
            });
            let bits = bits.collect();
            slots.push(Slot { bits, encoding });
            types.push(local.ty);
        }
        let mut nodes = BTreeMap::new();
        for node in self.own_nodes[old].clone() {
            let new = self.node_of(id, Some(node));
            nodes.insert(node, new);
            for name in self.labels.get(&node).into_iter().flatten() {
                self.out.labels.push(Label {
                    name: (*name).to_owned(),
                    node: new,
                    place: Place::NONE,
                });
            }
        }
        let (mut entry, mut exit) = (nodes[&from.entry], nodes[&from.exit]);
        // A return from the exit gives any values, and not just any bits.
        let by_hand = self.returned[old].iter().any(|&(at, ty)| {
            let all = Encoding::new(typed, ty).is_some_and(|one| !one.has_impossible_codes());
            ty != from.frame.results[at] || !all
        });
        if by_hand {
            exit = self.node_of(id, None);
        }
        let mut body = Body {
            thread,
            procedure: old,
            id,
            nodes,
            exit,
            slots: &slots,
            types: &types,
            first_temporary: frame.locals.len(),
            temporaries: 0,
            dead: None,
        };
        if let Some(checked) = self.check_locals(&mut body, from, entry) {
            entry = checked;
        }
        for edge in self.own_edges[old].clone() {
            self.edge(&mut body, edge)?;
        }
        if by_hand {
            self.return_anything(&mut body, from)?;
        }
        let enforced = from.frame.enforced.map(|id| self.enforced(&body, id)).transpose()?;
        frame.enforced = enforced;
        let width = self.returned[old].iter().map(|&(_, ty)| self.width(ty)).sum();
        frame.results = vec![Type::Bool; width];
        let frame = all_parameters(frame, body.temporaries);
        let owner = Some(thread);
        self.out.procedures.push(Procedure { owner, entry, exit, frame, ..from.clone() });
        self.roles.push(Role::Runs(slots.iter().cloned().collect()));
        Ok(())
    }

    /// A node before the entry, where locals that may be anything are seen to have values; nothing if
    /// that is certain.
    fn check_locals(
        &mut self,
        body: &mut Body<'_>,
        from: &Procedure,
        entry: NodeId,
    ) -> Option<NodeId> {
        let mut chain = Chain::new(entry, from.place, Action::Skip);
        for (at, local) in from.frame.locals.iter_enumerated() {
            let slot = &body.slots[at];
            if local.initial.is_none() || at.index() < from.frame.parameters {
                chain.ask(slot.encoding.is_possible(slot.code()));
            }
        }
        let update = chain.update(Vec::new())?;
        chain.at = self.new_node(body, Some(from.entry));
        self.push(&chain, entry, Action::Skip, Some(update), None, Origin::Part);
        Some(chain.at)
    }

    /// The return from the exit of a procedure, with any values.
    fn return_anything(&mut self, body: &mut Body<'_>, from: &Procedure) -> Result<(), Refused> {
        let context = self.context(body);
        let mut evaluator = Evaluator::new(&context);
        let next = BTreeMap::new();
        let copy = self.copies[body.thread];
        let scene = Scene { thread: body.thread, copy, next: &next, after: false, checked: false };
        let mut codes = Vec::new();
        for &ty in &from.frame.results {
            let (low, high) = self.typed.range(ty);
            let any = if ty == Type::Bool {
                Expr::Choice
            } else {
                Expr::Choose(Box::new(Expr::number(low)), Box::new(Expr::number(high)))
            };
            codes.push(evaluator.stored(&any, ty, scene)?);
        }
        let passed = self.results(&mut evaluator, body.procedure, &codes)?;
        let Evaluator { operations, temporaries, .. } = evaluator;
        body.temporaries = body.temporaries.max(temporaries);
        let mut chain = Chain::new(body.node(from.exit), from.end, Action::Skip);
        chain.atomic = false;
        chain.stands_for = Some(from.exit);
        for operation in operations {
            let fails = Origin::Fails(Move::Return);
            self.operation(body, &mut chain, operation, false, fails)?;
        }
        let values = passed.iter().map(|bit| bit.expr().clone()).collect();
        let values = Action::Return(self.out.returns.push(values));
        let update = chain.update(Vec::new());
        self.push(&chain, body.exit, values, update, None, Origin::Takes(Move::Return));
        Ok(())
    }

    fn enforced(&mut self, body: &Body<'_>, id: ConditionId) -> Result<ConditionId, Refused> {
        let context = self.context(body);
        let mut evaluator = Evaluator::new(&context);
        let next = BTreeMap::new();
        let copy = self.copies[body.thread];
        let scene = Scene { thread: body.thread, copy, next: &next, after: false, checked: false };
        let condition = &self.typed.conditions[id];
        let bit = match evaluator.plain(condition, scene) {
            Some(plain) => plain,
            None => evaluator.truth(condition, scene)?,
        };
        if !evaluator.operations.is_empty() {
            return Err(Refused::new("what a procedure enforces can fail, or is too large"));
        }
        Ok(self.out.conditions.push(bit.expr().clone()))
    }

    /// Passes the first values of temporaries.
    fn pass_temporaries(&mut self) {
        for (passing, callee) in std::mem::take(&mut self.calls) {
            let count = self.out.procedures[callee].frame.parameters;
            self.out.passings[passing].arguments.resize(count, Expr::FALSE);
        }
    }

    fn finish(self, source: &Program) -> BitProgram {
        let loose = source.globals.iter().zip(&self.globals);
        let loose = loose
            .into_iter()
            .any(|(global, slot)| global.initial.is_none() && slot.encoding.has_impossible_codes());
        let slots = |data: &BTreeMap<LockId, GlobalId>| {
            data.iter().map(|(&lock, &global)| (lock, self.globals[global].clone())).collect()
        };
        BitProgram {
            loose,
            owners: slots(&self.locks.owners),
            held: slots(&self.locks.held),
            globals: self.globals.iter().take(source.globals.len()).cloned().collect(),
            program: self.out,
            edges: self.origins,
            nodes: self.nodes,
            roles: self.roles,
        }
    }
}

/// The name of a bit of a variable.
fn bit_name(name: &str, ty: Type, at: usize) -> String {
    if ty == Type::Bool { name.to_owned() } else { format!("{name}_{at}") }
}

/// Adds a local whose name is that of no other one.
fn push_local(frame: &mut Frame, wish: &str, place: Place) -> LocalId {
    let mut names = Names::avoiding(frame.locals.iter().map(|local| local.name.as_str()));
    let name = names.fresh(wish);
    frame.locals.push(Local::flag(name, place))
}

/// The frame with temporaries, in which all locals are parameters.
fn all_parameters(mut frame: Frame, temporaries: usize) -> Frame {
    for at in 0..temporaries {
        push_local(&mut frame, &format!("temporary_{at}"), Place::NONE);
    }
    frame.parameters = frame.locals.len();
    frame
}
