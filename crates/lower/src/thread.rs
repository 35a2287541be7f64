//! # Idea
//! A procedure behaves differently depending on which locks its caller holds: `synchronized(l)` is
//! a lock event only if `l` is not held yet. So each procedure is expanded once per *context*: the
//! locks held and the unit flag at its entry, and, where it closes scopes of its callers, which these are. In a context, the scope stack of a node
//! ([`crate::scope`]) says exactly which locks are held there, hence which acquisitions and releases
//! change an owner and which unit boundaries are outermost. The context is part of the stack symbol:
//! the call stack itself remembers which frame acquired a lock first.
//!
//! # Source
//! Paper 000 §3.1.2 and paper 004 (language strength reduction). There, the control location holds
//! the set of held locks and a stack symbol `(γ, l)` marks the first acquisition. Deviation: both
//! are folded into the stack symbol `(node, context)`, which leaves one control location. What a call
//! does to the stack of its caller's scopes is the same on all paths, so nothing has to be passed back by a
//! pop: the symbol behind the call knows it.
//!
//! Where only some runs of a thread count, the thread is multiplied with the automaton that says which
//! (`restricted`).
//!
//! # Requires
//! A valid program that is well nested. Where a procedure closes scopes of its callers, that they are the
//! innermost ones is checked here, context by context.
//!
//! # Invariants
//! 1. The symbols of one context are consecutive, its entry first; contexts are numbered in the
//!    order of their discovery from the thread's main. So threads with equal code get equal systems.
//! 2. Rules are sorted by their left-hand symbol.
//! 3. Events stand on step rules only; calls are pushes, returns are pops.

use crate::lock_set::LockSet;
use crate::restricted::restricted;
use crate::scope::{NotNested, Scope, Scopes, not_open};
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, Id, IdVec, StopReason};
use selvedge_pds::{Pds, Rhs, Rule, RuleId, State, Symbol};
use selvedge_program::{
    Action, Event, LockId, Move, NodeId, Observable, ProcedureId, Program, Successors, Thread,
    ThreadId,
};

/// What a rule stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RuleLabel {
    /// The event, if the step has one.
    pub event: Option<Event>,
    /// The step of the program.
    pub step: Move,
    /// Whether it is a volatile access.
    pub volatile: bool,
}

/// A thread as a labelled pushdown system with one control location.
#[derive(Clone, Debug)]
pub struct LoweredThread {
    /// The rules.
    pub pds: Pds<RuleLabel>,
    /// The stack at the start.
    pub entry: Symbol,
    /// The first rule of each symbol; one entry more than there are symbols.
    pub(crate) first_rule: Vec<u32>,
    /// The context of each symbol.
    pub(crate) context_of: IdVec<Symbol, u32>,
    /// Held locks at each symbol, as an index into `held_sets`.
    pub(crate) held_of: IdVec<Symbol, u32>,
    pub(crate) held_sets: Vec<LockSet>,
    pub(crate) in_unit: IdVec<Symbol, bool>,
    /// The node that each symbol stands for.
    pub(crate) nodes: IdVec<Symbol, NodeId>,
    /// Where the thread waits for itself, and for which lock; sorted.
    pub(crate) reacquired: Vec<(Symbol, LockId)>,
    /// The first symbol of each context, and one past the last symbol.
    pub(crate) context_starts: Vec<u32>,
    /// The procedure of each context.
    pub(crate) procedures: Vec<ProcedureId>,
}

impl LoweredThread {
    /// The rules whose left-hand side is `symbol`.
    pub fn rules_of(&self, symbol: Symbol) -> impl Iterator<Item = (RuleId, &Rule<RuleLabel>)> {
        let at = symbol.index();
        (self.first_rule[at]..self.first_rule[at + 1]).map(|rule| {
            let id = RuleId::from_index(rule as usize);
            (id, &self.pds.rules[id])
        })
    }

    /// The tracked locks that the thread holds at `symbol`.
    pub fn held(&self, symbol: Symbol) -> &LockSet {
        &self.held_sets[self.held_of[symbol] as usize]
    }

    /// Whether the thread is inside a unit of work at `symbol`.
    pub fn in_unit(&self, symbol: Symbol) -> bool {
        self.in_unit[symbol]
    }

    /// The locks before whose acquisition the thread stands at `symbol` though it holds them, and for
    /// which it waits for ever, because they are not reentrant.
    pub fn reacquired(&self, symbol: Symbol) -> impl Iterator<Item = LockId> {
        let first = self.reacquired.partition_point(|one| one.0 < symbol);
        self.reacquired[first..].iter().take_while(move |one| one.0 == symbol).map(|one| one.1)
    }

    /// The node that `symbol` stands for.
    pub fn node(&self, symbol: Symbol) -> NodeId {
        self.nodes[symbol]
    }

    /// The symbols of the context that `symbol` belongs to: one procedure, entered in one way.
    pub fn context_range(&self, symbol: Symbol) -> std::ops::Range<usize> {
        let context = self.context_of[symbol] as usize;
        self.context_starts[context] as usize..self.context_starts[context + 1] as usize
    }

    /// The procedure that `symbol` belongs to.
    pub fn procedure(&self, symbol: Symbol) -> ProcedureId {
        self.procedures[self.context_of[symbol] as usize]
    }

    /// How many contexts there are.
    pub fn contexts(&self) -> usize {
        self.context_starts.len() - 1
    }

    /// Whether the two threads behave alike: equal systems and events, whatever their source places.
    pub fn same_behaviour(&self, other: &Self) -> bool {
        self.entry == other.entry
            && self.pds.symbols == other.pds.symbols
            && self.reacquired == other.reacquired
            && self.pds.rules.len() == other.pds.rules.len()
            && self.pds.rules.iter().zip(&other.pds.rules).all(|(a, b)| {
                a.symbol == b.symbol
                    && a.rhs == b.rhs
                    && a.label.event == b.label.event
                    && a.label.volatile == b.label.volatile
            })
    }
}

/// All threads of a program.
#[derive(Clone, Debug)]
pub struct LoweredProgram {
    /// The threads.
    pub threads: IdVec<ThreadId, LoweredThread>,
}

/// The program could not be lowered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LowerError {
    /// It is not well nested.
    NotNested(NotNested),
    /// A limit was met.
    Stopped(StopReason),
}

/// The locks that at least two threads can acquire. A lock of one thread alone never blocks anybody,
/// so an engine need not track it.
pub fn shared_locks(program: &Program, successors: &Successors) -> LockSet {
    shared_locks_of(program, successors, program.threads.ids())
}

/// The locks that at least two of these threads can acquire, and those that are not reentrant and one
/// can.
pub fn shared_locks_of(
    program: &Program,
    successors: &Successors,
    threads: impl Iterator<Item = ThreadId>,
) -> LockSet {
    let mut once = LockSet::new();
    let mut twice = LockSet::new();
    for thread in threads.map(|id| &program.threads[id]) {
        let mut own = LockSet::new();
        let mut seen = vec![false; program.nodes.len()];
        let mut pending = Vec::new();
        let mut reach = |node: NodeId, pending: &mut Vec<NodeId>| {
            if !std::mem::replace(&mut seen[node.index()], true) {
                pending.push(node);
            }
        };
        reach(program.procedures[thread.main].entry, &mut pending);
        while let Some(node) = pending.pop() {
            for &edge in successors.of(node) {
                let edge = &program.edges[edge];
                match edge.action {
                    Action::Acquire(lock) => own.insert(lock),
                    Action::Call(callee) => {
                        reach(program.procedures[callee].entry, &mut pending);
                    }
                    _ => {}
                }
                reach(edge.target, &mut pending);
            }
        }
        twice = twice.union(&once.intersection(&own));
        // Whether the owner of a lock that is not reentrant waits for itself matters in any case.
        for (lock, one) in program.locks.iter_enumerated() {
            if !one.reentrant && own.contains(lock) {
                twice.insert(lock);
            }
        }
        once = once.union(&own);
    }
    twice
}

/// Lowers all threads, tracking the given locks; operations on other locks become steps without an
/// event. Of a restricted thread only the runs that count are left.
///
/// # Errors
/// If the program is not well nested, or if the budget was raised.
pub fn lower(
    program: &Program,
    tracked: &LockSet,
    budget: &Budget,
) -> Result<LoweredProgram, LowerError> {
    let successors = Successors::new(program);
    let scopes = Scopes::new(program, &successors).map_err(LowerError::NotNested)?;
    let bodies: IdVec<ProcedureId, Vec<NodeId>> =
        program.procedures.ids().map(|procedure| body(program, &successors, procedure)).collect();
    let mut local_index: IdVec<NodeId, u32> = IdVec::filled(u32::MAX, program.nodes.len());
    for body in &bodies {
        for (at, &node) in body.iter().enumerate() {
            local_index[node] = at as u32;
        }
    }
    let source = Source { program, successors, scopes, bodies, local_index };
    let all = program.locks.ids().fold(LockSet::new(), |mut all, lock| {
        all.insert(lock);
        all
    });
    let lowered = |(id, thread): (ThreadId, &Thread)| match program.restriction(id) {
        None => Lowering::new(&source, tracked).run(thread.main, budget),
        // The automaton sees every lock, whoever else uses it.
        Some(restriction) => {
            let thread = Lowering::new(&source, &all).run(thread.main, budget)?;
            let restricted = restricted(program, &thread, restriction, tracked, budget);
            restricted.map_err(LowerError::Stopped)
        }
    };
    let threads = program.threads.iter_enumerated().map(lowered);
    Ok(LoweredProgram { threads: threads.collect::<Result<_, _>>()? })
}

/// The nodes of a procedure that its entry reaches, breadth first, the entry first.
fn body(program: &Program, successors: &Successors, procedure: ProcedureId) -> Vec<NodeId> {
    let entry = program.procedures[procedure].entry;
    let mut nodes = vec![entry];
    let mut seen: rustc_hash::FxHashSet<NodeId> = nodes.iter().copied().collect();
    let mut next = 0;
    while next < nodes.len() {
        for &edge in successors.of(nodes[next]) {
            let target = program.edges[edge].target;
            if seen.insert(target) {
                nodes.push(target);
            }
        }
        next += 1;
    }
    nodes
}

/// What lowering reads.
struct Source<'a> {
    program: &'a Program,
    successors: Successors,
    scopes: Scopes,
    bodies: IdVec<ProcedureId, Vec<NodeId>>,
    /// The position of each node in its procedure's body.
    local_index: IdVec<NodeId, u32>,
}

/// A procedure with what holds at its entry.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Context {
    procedure: ProcedureId,
    held: LockSet,
    in_unit: bool,
    /// The innermost scopes that are open at its entry, innermost last: as many as it may close. The rest
    /// is in `held` and `in_unit`.
    callers: Vec<Scope>,
}

impl Context {
    /// What is left at `node` of the scopes that its procedure may close.
    fn left_at(&self, node: NodeId, source: &Source<'_>) -> &[Scope] {
        if self.callers.is_empty() {
            return &[];
        }
        &self.callers[..self.callers.len() - source.scopes.closed_at(node)]
    }

    /// The context of a procedure that is called at `node`, where `now` says what holds there.
    fn of_call(
        &self,
        procedure: ProcedureId,
        node: NodeId,
        now: (&LockSet, bool),
        source: &Source<'_>,
        tracked: &LockSet,
    ) -> Self {
        let depth = source.scopes.depth(procedure);
        if depth == 0 {
            return Self { procedure, held: now.0.clone(), in_unit: now.1, callers: Vec::new() };
        }
        let mut all: Vec<Scope> = source.scopes.at(node).collect();
        all.reverse();
        all.splice(0..0, self.left_at(node, source).iter().copied());
        // The depth of this procedure is large enough for what it calls.
        let callers = all.split_off(all.len().saturating_sub(depth));
        let (mut held, mut in_unit) = (self.held.clone(), self.in_unit);
        for scope in all {
            match scope {
                Scope::Lock(lock) if tracked.contains(lock) => held.insert(lock),
                Scope::Lock(_) => {}
                Scope::Unit => in_unit = true,
            }
        }
        Self { procedure, held, in_unit, callers }
    }
}

struct Lowering<'a> {
    source: &'a Source<'a>,
    tracked: &'a LockSet,
    contexts: Vec<Context>,
    context_index: FxHashMap<Context, u32>,
    context_starts: Vec<u32>,
    held_sets: Vec<LockSet>,
    held_index: FxHashMap<LockSet, u32>,
    rules: Vec<Rule<RuleLabel>>,
    first_rule: Vec<u32>,
    held_of: Vec<u32>,
    in_unit: Vec<bool>,
    nodes: Vec<NodeId>,
    reacquired: Vec<(Symbol, LockId)>,
    context_of: Vec<u32>,
}

impl<'a> Lowering<'a> {
    fn new(source: &'a Source<'a>, tracked: &'a LockSet) -> Self {
        Self {
            source,
            tracked,
            contexts: Vec::new(),
            context_index: FxHashMap::default(),
            context_starts: vec![0],
            held_sets: Vec::new(),
            held_index: FxHashMap::default(),
            rules: Vec::new(),
            first_rule: Vec::new(),
            held_of: Vec::new(),
            in_unit: Vec::new(),
            nodes: Vec::new(),
            reacquired: Vec::new(),
            context_of: Vec::new(),
        }
    }

    fn run(mut self, main: ProcedureId, budget: &Budget) -> Result<LoweredThread, LowerError> {
        let (held, callers) = (LockSet::new(), Vec::new());
        let start = Context { procedure: main, held, in_unit: false, callers };
        let entry = self.entry_of(start);
        let mut next = 0;
        while next < self.contexts.len() {
            let before = self.rules.len();
            self.expand(next as u32).map_err(LowerError::NotNested)?;
            // Contexts differ in size.
            budget.charge(1 + (self.rules.len() - before) as u64).map_err(LowerError::Stopped)?;
            next += 1;
        }
        self.first_rule.push(self.rules.len() as u32);
        let symbols = self.held_of.len();
        Ok(LoweredThread {
            pds: Pds { states: 1, symbols, rules: IdVec::from_vec(self.rules) },
            entry,
            first_rule: self.first_rule,
            context_of: IdVec::from_vec(self.context_of),
            held_of: IdVec::from_vec(self.held_of),
            held_sets: self.held_sets,
            in_unit: IdVec::from_vec(self.in_unit),
            nodes: IdVec::from_vec(self.nodes),
            reacquired: self.reacquired,
            context_starts: self.context_starts,
            procedures: self.contexts.iter().map(|context| context.procedure).collect(),
        })
    }

    /// The entry symbol of a context, which is reserved together with the rest of its symbols when
    /// it is seen first.
    fn entry_of(&mut self, context: Context) -> Symbol {
        let at = *self.context_index.entry(context).or_insert_with_key(|context| {
            let start = *self.context_starts.last().expect("the end of the last context");
            let size = self.source.bodies[context.procedure].len() as u32;
            self.context_starts.push(start + size);
            self.contexts.push(context.clone());
            (self.contexts.len() - 1) as u32
        });
        Symbol::from_index(self.context_starts[at as usize] as usize)
    }

    fn expand(&mut self, at: u32) -> Result<(), NotNested> {
        let (source, tracked) = (self.source, self.tracked);
        let context = self.contexts[at as usize].clone();
        let base = self.context_starts[at as usize];
        let symbol_of =
            |node: NodeId| Symbol::from_index((base + source.local_index[node]) as usize);
        let exit = source.program.procedures[context.procedure].exit;
        for &node in &source.bodies[context.procedure] {
            let mut held = context.held.clone();
            let mut in_unit = context.in_unit;
            let callers = context.left_at(node, source);
            for scope in source.scopes.at(node).chain(callers.iter().copied()) {
                match scope {
                    Scope::Lock(lock) if tracked.contains(lock) => held.insert(lock),
                    Scope::Lock(_) => {}
                    Scope::Unit => in_unit = true,
                }
            }
            self.first_rule.push(self.rules.len() as u32);
            for &edge_id in source.successors.of(node) {
                let edge = &source.program.edges[edge_id];
                // The owner of a lock that is not reentrant waits for itself here: that is no step.
                if let Action::Acquire(lock) = edge.action
                    && !source.program.locks[lock].reentrant
                    && held.contains(lock)
                {
                    self.reacquired.push((symbol_of(node), lock));
                    continue;
                }
                let target = symbol_of(edge.target);
                // A lock or unit event is outermost iff it changes what holds at the two ends.
                let closes = |scope: Scope| {
                    !source.scopes.at(edge.target).any(|open| open == scope)
                        && !context.left_at(edge.target, source).contains(&scope)
                };
                let closed = match edge.action {
                    Action::Release(lock) => Some(Scope::Lock(lock)),
                    Action::EndUnit => Some(Scope::Unit),
                    _ => None,
                };
                if let Some(scope) = closed
                    && source.scopes.at(node).next().is_none()
                    && callers.last() != Some(&scope)
                {
                    return Err(not_open(source.program, edge.place, scope));
                }
                let event = match edge.action {
                    Action::Skip
                    | Action::Call(_)
                    | Action::Assert(_)
                    | Action::Return(_)
                    | Action::BeginAtomic
                    | Action::EndAtomic
                    | Action::Wait(_)
                    | Action::Resume(_)
                    | Action::Notify(_)
                    | Action::NotifyAll(_)
                    | Action::Send(_)
                    | Action::Post(_)
                    | Action::Broadcast(_)
                    | Action::Recv(_) => None,
                    Action::Start(thread) => Some(Event::Start(thread)),
                    Action::Join(thread) => Some(Event::Join(thread)),
                    Action::Read(location) => Some(Event::Observable(Observable::Read(location))),
                    Action::Write(location) => Some(Event::Observable(Observable::Write(location))),
                    Action::Acquire(lock) => (tracked.contains(lock) && !held.contains(lock))
                        .then_some(Event::Acquire(lock)),
                    Action::Release(lock) => (tracked.contains(lock)
                        && !context.held.contains(lock)
                        && closes(Scope::Lock(lock)))
                    .then_some(Event::Release(lock)),
                    Action::BeginUnit => {
                        (!in_unit).then_some(Event::Observable(Observable::BeginUnit))
                    }
                    Action::EndUnit => (!context.in_unit && closes(Scope::Unit))
                        .then_some(Event::Observable(Observable::EndUnit)),
                };
                let rhs = match edge.action {
                    Action::Call(procedure) => {
                        let callee =
                            context.of_call(procedure, node, (&held, in_unit), source, tracked);
                        Rhs::Push(self.entry_of(callee), target)
                    }
                    _ => Rhs::Step(target),
                };
                self.rule(
                    symbol_of(node),
                    rhs,
                    RuleLabel { event, step: Move::Edge(edge_id), volatile: edge.volatile },
                );
            }
            if node == exit {
                self.rule(
                    symbol_of(node),
                    Rhs::Pop,
                    RuleLabel { event: None, step: Move::Return, volatile: false },
                );
            }
            let held_sets = &mut self.held_sets;
            let index = *self.held_index.entry(held).or_insert_with_key(|held| {
                held_sets.push(held.clone());
                (held_sets.len() - 1) as u32
            });
            self.held_of.push(index);
            self.in_unit.push(in_unit);
            self.nodes.push(node);
            self.context_of.push(at);
        }
        Ok(())
    }

    fn rule(&mut self, symbol: Symbol, rhs: Rhs, label: RuleLabel) {
        let only = State::from_index(0);
        self.rules.push(Rule { state: only, symbol, to: only, rhs, label });
    }
}
