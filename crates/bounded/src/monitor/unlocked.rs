//! # Idea
//! Builds the new program from the lowered threads: one procedure per context of a procedure, one
//! edge per step, or several where the monitor has a choice.
//!
//! # Source
//! [`selvedge_lower`] tells the acquisitions that take a free lock from those that are reentrant. So
//! a lock is one Boolean: only its owner releases it, and only in the end.
//!
//! # Invariants
//! 1. Procedures are numbered by thread and context, so a call knows its callee before it is built.

use super::phases::Phases;
use super::{Monitored, StepMap, data_of, labels_of};
use crate::expr::{all, current, join_all};
use selvedge_base::{Budget, Id, IdVec, Place, StopReason};
use selvedge_lower::Names;
use selvedge_lower::thread::LowerError;
use selvedge_lower::{LockSet, LoweredThread, lower, shared_locks_of};
use selvedge_pds::{Rhs, Symbol};
use selvedge_program::{
    Action, Edge, Event, Expr, Frame, Global, GlobalId, IndexedSymbol, Label, LockId, Move, NodeId,
    Operator, Procedure, ProcedureId, Program, Successors, Target, Thread, ThreadId, Unknown,
    UpdateId, Variable,
};
use std::collections::BTreeMap;

/// Builds the new program; threads that are no participants do not move.
pub fn unlocked(
    source: &Program,
    participants: &[ThreadId],
    phases: Option<&Phases<'_>>,
    wanted: &LockSet,
    budget: &Budget,
) -> Result<Monitored, Unknown> {
    let acting = participants.iter().copied();
    let mut tracked = shared_locks_of(source, &Successors::new(source), acting);
    for lock in wanted.iter() {
        tracked.insert(lock);
    }
    let lowered = lower(source, &tracked, budget).map_err(|error| match error {
        LowerError::Stopped(reason) => Unknown::Stopped(reason),
        LowerError::NotNested(why) => {
            Unknown::Unsupported(format!("locks and units must be nested for this engine: {why}"))
        }
    })?;
    let (mut out, mut names) = data_of(source);
    let mut declare = |wish: &str| {
        let name = names.fresh(wish);
        out.globals.push(Global::flag(name, Place::NONE, Some(false)))
    };
    let locks = tracked.iter().map(|lock| (lock, declare(&source.locks[lock].name))).collect();
    let count = phases.map_or(1, |phases| phases.advances().len());
    let bits = (usize::BITS - count.saturating_sub(1).leading_zeros()) as usize;
    let phase = (0..bits).map(|bit| declare(&format!("phase_{bit}"))).collect();
    let mut build = Build {
        source,
        phases,
        locks,
        phase,
        out,
        origin: StepMap::default(),
        found: Vec::new(),
        labels: labels_of(source),
        acquire: BTreeMap::new(),
    };
    for (id, thread) in lowered.threads.iter_enumerated() {
        if participants.contains(&id) {
            build.thread(id, thread, budget).map_err(Unknown::Stopped)?;
        } else {
            build.bystander(id);
        }
    }
    let target = Target::Label(build.found);
    let origin = StepMap { locks: build.locks, ..build.origin };
    Ok(Monitored { program: build.out, target, origin })
}

struct Build<'a> {
    source: &'a Program,
    phases: Option<&'a Phases<'a>>,
    locks: BTreeMap<LockId, GlobalId>,
    /// The bits of the phase, the lowest first.
    phase: Vec<GlobalId>,
    out: Program,
    origin: StepMap,
    /// The nodes behind the last access.
    found: Vec<NodeId>,
    labels: BTreeMap<NodeId, Vec<&'a str>>,
    /// Updates that take or free a lock and do nothing else.
    acquire: BTreeMap<(LockId, bool), UpdateId>,
}

/// One way to take a step.
#[derive(Default)]
struct Variant {
    guard: Option<Expr>,
    assignments: Vec<(Variable, Expr)>,
    matched: Option<u32>,
    /// Whether it is the last access.
    last: bool,
}

impl Build<'_> {
    /// A thread that does not move.
    fn bystander(&mut self, id: ThreadId) {
        let thread = &self.source.threads[id];
        let main = self.out.procedures.next_id();
        let entry = self.new_node(main);
        let exit = self.new_node(main);
        let from = &self.source.procedures[thread.main];
        let frame = Frame::default();
        self.out.procedures.push(Procedure { owner: Some(id), entry, exit, frame, ..from.clone() });
        self.out.threads.push(Thread { main, ..thread.clone() });
    }

    fn thread(
        &mut self,
        id: ThreadId,
        lowered: &LoweredThread,
        budget: &Budget,
    ) -> Result<(), StopReason> {
        let first = self.out.procedures.len();
        let main = ProcedureId::from_index(first);
        self.out.threads.push(Thread { main, ..self.source.threads[id].clone() });
        let node_of = original_nodes(self.source, id, lowered);
        // Contexts are consecutive ranges of symbols.
        let mut contexts: Vec<std::ops::Range<usize>> = Vec::new();
        let mut procedure_of: IdVec<Symbol, ProcedureId> = IdVec::new();
        let mut next = 0;
        while next < lowered.pds.symbols {
            let range = lowered.context_range(Symbol::from_index(next));
            next = range.end;
            let procedure = ProcedureId::from_index(first + contexts.len());
            for _ in range.clone() {
                procedure_of.push(procedure);
            }
            contexts.push(range);
        }
        let mut names = Names::avoiding(std::iter::empty());
        for range in contexts {
            budget.check()?;
            let from = &self.source.procedures
                [self.source.nodes[node_of[Symbol::from_index(range.start)]]];
            let name = names.fresh(&from.name);
            self.procedure(id, lowered, &node_of, &procedure_of, range, from, name);
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one lowered procedure")]
    fn procedure(
        &mut self,
        thread: ThreadId,
        lowered: &LoweredThread,
        node_of: &IdVec<Symbol, NodeId>,
        procedure_of: &IdVec<Symbol, ProcedureId>,
        range: std::ops::Range<usize>,
        from: &Procedure,
        name: String,
    ) {
        let id = self.out.procedures.next_id();
        let base = self.out.nodes.len();
        let node = |symbol: Symbol| NodeId::from_index(base + symbol.index() - range.start);
        let mut exit = None;
        for symbol in range.clone().map(Symbol::from_index) {
            let new = self.out.nodes.push(id);
            self.origin.nodes.push(Some(node_of[symbol]));
            if node_of[symbol] == from.exit {
                exit = Some(new);
            }
            for name in self.labels.get(&node_of[symbol]).into_iter().flatten() {
                self.out.labels.push(Label {
                    name: (*name).to_owned(),
                    node: new,
                    place: Place::NONE,
                });
            }
        }
        let exit = exit.unwrap_or_else(|| self.new_node(id));
        let mut found = None;
        for symbol in range.clone().map(Symbol::from_index) {
            for (_, rule) in lowered.rules_of(symbol) {
                let Move::Edge(edge) = rule.label.step else { continue };
                let edge = &self.source.edges[edge];
                let (target, action) = match rule.rhs {
                    Rhs::Push(callee, target) => (node(target), Action::Call(procedure_of[callee])),
                    Rhs::Step(target) => (node(target), plain(edge.action)),
                    Rhs::Pop => continue,
                };
                for variant in self.variants(thread, rule.label.event, lowered.in_unit(symbol)) {
                    let target = if variant.last {
                        *found.get_or_insert_with(|| self.new_node(id))
                    } else {
                        target
                    };
                    self.origin.moves.push(rule.label.step);
                    self.origin.matched.push(variant.matched);
                    let update = self.update(edge, rule.label.event, variant);
                    let source = node(symbol);
                    self.out.edges.push(Edge {
                        source,
                        target,
                        action,
                        update,
                        volatile: false,
                        ..edge.clone()
                    });
                }
            }
        }
        self.found.extend(found);
        let entry = node(Symbol::from_index(range.start));
        self.out.procedures.push(Procedure {
            name,
            owner: Some(thread),
            entry,
            exit,
            ..from.clone()
        });
    }

    /// A node that stands for none of the original program.
    fn new_node(&mut self, procedure: ProcedureId) -> NodeId {
        self.origin.nodes.push(None);
        self.out.nodes.push(procedure)
    }

    /// The ways to take a step with this event.
    fn variants(&self, thread: ThreadId, event: Option<Event>, in_unit: bool) -> Vec<Variant> {
        let (Some(phases), Some(Event::Observable(symbol))) = (self.phases, event) else {
            return vec![Variant::default()];
        };
        let event = IndexedSymbol { thread, symbol };
        let mut variants = Vec::new();
        let count = phases.advances().len();
        let allowed: Vec<usize> = (0..count).filter(|&at| phases.allows(at, event)).collect();
        if allowed.len() == count {
            variants.push(Variant::default());
        } else if !allowed.is_empty() {
            let guard = join_all(Operator::Or, allowed.iter().map(|&at| self.is(at)).collect());
            variants.push(Variant { guard, ..Variant::default() });
        }
        for (at, advance) in phases.advances().iter().enumerate() {
            if advance.symbol != event || advance.in_unit && !in_unit {
                continue;
            }
            let last = at + 1 == count;
            variants.push(Variant {
                guard: Some(self.is(at)),
                assignments: if last { Vec::new() } else { self.set(at + 1) },
                matched: Some(at as u32 + 1),
                last,
            });
        }
        variants
    }

    /// The monitor is in a phase.
    fn is(&self, phase: usize) -> Expr {
        let bits = self.phase.iter().enumerate().map(|(bit, &global)| {
            let value = current(global);
            if phase >> bit & 1 == 1 { value } else { value.not() }
        });
        all(bits).unwrap_or(Expr::TRUE)
    }

    fn set(&self, phase: usize) -> Vec<(Variable, Expr)> {
        let bits = self.phase.iter().enumerate();
        let bit = |(bit, &global)| (Variable::Global(global), Expr::truth(phase >> bit & 1 == 1));
        bits.map(bit).collect()
    }

    /// The update of a step: the edge's own, the lock's and the monitor's.
    fn update(&mut self, edge: &Edge, event: Option<Event>, variant: Variant) -> Option<UpdateId> {
        let lock = match event {
            Some(Event::Acquire(lock)) => Some((lock, true)),
            Some(Event::Release(lock)) => Some((lock, false)),
            _ => None,
        };
        if lock.is_none() && variant.guard.is_none() && variant.assignments.is_empty() {
            return edge.update;
        }
        // A lock event is no observable one, so the variant has nothing to add to it.
        if let (Some(lock), None) = (lock, edge.update)
            && let Some(&known) = self.acquire.get(&lock)
        {
            return Some(known);
        }
        let mut update = edge.update.map(|id| self.source.updates[id].clone()).unwrap_or_default();
        let mut guards: Vec<Expr> = update.guard.take().into_iter().chain(variant.guard).collect();
        update.assignments.extend(variant.assignments);
        if let Some((lock, taken)) = lock {
            let global = self.locks[&lock];
            if taken {
                guards.push(current(global).not());
            }
            update.assignments.push((Variable::Global(global), Expr::truth(taken)));
        }
        update.guard = all(guards);
        let id = self.out.updates.push(update);
        if let (Some(lock), None) = (lock, edge.update) {
            self.acquire.insert(lock, id);
        }
        Some(id)
    }
}

/// What is left of an action without locks, locations and units.
fn plain(action: Action) -> Action {
    match action {
        Action::Read(_)
        | Action::Write(_)
        | Action::Acquire(_)
        | Action::Release(_)
        | Action::BeginUnit
        | Action::EndUnit => Action::Skip,
        other => other,
    }
}

/// The node that each symbol stands for.
fn original_nodes(
    source: &Program,
    id: ThreadId,
    lowered: &LoweredThread,
) -> IdVec<Symbol, NodeId> {
    let main = source.procedures[source.threads[id].main].entry;
    let mut nodes: IdVec<Symbol, NodeId> = IdVec::filled(main, lowered.pds.symbols);
    for rule in &lowered.pds.rules {
        let Move::Edge(edge) = rule.label.step else { continue };
        let edge = &source.edges[edge];
        match (rule.rhs, edge.action) {
            (Rhs::Push(callee, target), Action::Call(procedure)) => {
                nodes[callee] = source.procedures[procedure].entry;
                nodes[target] = edge.target;
            }
            (Rhs::Step(target), _) => nodes[target] = edge.target,
            _ => {}
        }
    }
    nodes
}
