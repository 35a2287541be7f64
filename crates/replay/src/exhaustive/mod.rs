//! # Idea
//! Breadth-first search over all interleavings of the threads that a query names. A state is a
//! configuration with the number of accesses that were matched so far; whether an access counts as
//! the next one of the query is a free choice. The first state in which all are matched gives a
//! shortest interleaving.
//!
//! # Source
//! SEMANTICS. Threads that the query does not name stay where they start (ERRATA, 000). The search is
//! the oracle of the other engines, so it is kept plain: no partial-order reduction, no symmetry.
//! What it leaves out cannot matter: states in which a unit that holds an access of the query has
//! ended too early, and queries about an event that the control flow of the thread never reaches.
//!
//! # Requires
//! The program is valid. It has finitely many configurations below the limit on open calls, which is
//! so if no loop opens units or acquires locks without closing them again; otherwise the search goes
//! on until it is interrupted.
//!
//! # Invariants
//! 1. `Safe` is answered only if no call was left out because of the limit in any state visited.
//! 2. All steps come from [`Configuration::step`](crate::step::Configuration::step). What a thread
//!    does alone and what all do together differ only in who may take a free lock.

mod local;
mod monitor;
mod reachable;
mod space;

use crate::query::query_error;
use local::{Locals, TransitionId};
use monitor::Monitor;
use reachable::reachable_symbols;
use selvedge_base::{Id, IdVec, Interrupt, define_id};
use selvedge_program::{
    Observable, Program, Query, Schedule, ScheduledStep, ThreadId, Unknown, Verdict,
};
use space::{ConfigurationId, Space};
use std::collections::{BTreeMap, BTreeSet};

/// How many configurations may stay in memory when the next set of threads is begun.
const KEPT_CONFIGURATIONS: usize = 1 << 20;

/// The exhaustive engine. It remembers the configurations that it has seen, so that many queries
/// about one program share the work.
pub struct Exhaustive<'a> {
    locals: Locals<'a>,
    /// What each thread could ever do, as far as its control flow tells.
    symbols: IdVec<ThreadId, BTreeSet<Observable>>,
    spaces: BTreeMap<Vec<ThreadId>, Space>,
    call_depth: u32,
    interrupt: Interrupt,
    states: u64,
}

impl<'a> Exhaustive<'a> {
    /// An engine that explores at most `call_depth` open calls per thread.
    pub fn new(program: &'a Program, call_depth: u32, interrupt: Interrupt) -> Self {
        let locals = Locals::new(program, call_depth);
        let symbols = reachable_symbols(program, locals.successors());
        Self { locals, symbols, spaces: BTreeMap::new(), call_depth, interrupt, states: 0 }
    }

    /// Decides a query. A violation comes with a shortest interleaving.
    pub fn decide(&mut self, query: &Query) -> Verdict<Schedule> {
        if let Some(error) = query_error(self.locals.program(), query) {
            return Verdict::Unknown(Unknown::Unsupported(error));
        }
        let monitor = Monitor::new(query);
        if monitor.phases.iter().any(|phase| !self.can_occur(phase)) {
            return Verdict::Safe;
        }
        let threads = monitor.threads();
        if !self.spaces.contains_key(&threads) {
            let kept: usize = self.spaces.values().map(Space::len).sum();
            if kept > KEPT_CONFIGURATIONS {
                self.spaces.clear();
            }
        }
        let locals = &mut self.locals;
        let space =
            self.spaces.entry(threads).or_insert_with_key(|threads| Space::new(threads, locals));
        let mut search = Search::new(&monitor);
        let verdict = search.run(locals, space, &self.interrupt, self.call_depth);
        self.states += search.visits.len() as u64;
        verdict
    }

    /// How many states were visited, over all queries so far.
    pub fn states(&self) -> u64 {
        self.states
    }

    fn can_occur(&self, phase: &monitor::MonitorPhase) -> bool {
        let symbols = &self.symbols[phase.advance.thread];
        symbols.contains(&phase.advance.symbol)
            && (!phase.in_unit || symbols.contains(&Observable::BeginUnit))
    }
}

define_id!(
    /// A state of the search, in the order of discovery.
    VisitId
);

/// A state that was reached.
struct Visit {
    configuration: ConfigurationId,
    /// How many accesses are matched.
    matched: u32,
    /// The state and the transition that it was first reached by; `None` at the start.
    reached: Option<(VisitId, TransitionId)>,
}

/// The breadth-first search for one query. `visits` is also its queue.
struct Search<'a> {
    monitor: &'a Monitor,
    visits: IdVec<VisitId, Visit>,
    seen: Seen,
}

impl<'a> Search<'a> {
    fn new(monitor: &'a Monitor) -> Self {
        Self {
            monitor,
            visits: IdVec::new(),
            seen: Seen { columns: monitor.phases.len(), words: Vec::new() },
        }
    }

    fn run(
        &mut self,
        locals: &mut Locals,
        space: &mut Space,
        interrupt: &Interrupt,
        call_depth: u32,
    ) -> Verdict<Schedule> {
        let mut limit_met = false;
        self.visit(space.initial(), 0, None);
        let mut next = 0;
        while next < self.visits.len() {
            if let Some(reason) = interrupt.poll() {
                return Verdict::Unknown(Unknown::Stopped(reason));
            }
            let id = VisitId::from_index(next);
            next += 1;
            let (configuration, matched) = (self.visits[id].configuration, self.visits[id].matched);
            let row = space.expand(locals, configuration);
            limit_met |= row.limit_met;
            let phase = &self.monitor.phases[matched as usize];
            for successor in space.successors(row) {
                let transition = locals.transition(successor.transition);
                let reached = Some((id, successor.transition));
                if phase.advances(transition) {
                    if matched as usize + 1 == self.monitor.phases.len() {
                        return Verdict::Violation(self.schedule(locals, id, successor.transition));
                    }
                    self.visit(successor.target, matched + 1, reached);
                }
                if phase.stays(transition) {
                    self.visit(successor.target, matched, reached);
                }
            }
        }
        if limit_met { Verdict::Unknown(Unknown::CallDepth(call_depth)) } else { Verdict::Safe }
    }

    fn visit(
        &mut self,
        configuration: ConfigurationId,
        matched: u32,
        reached: Option<(VisitId, TransitionId)>,
    ) {
        if self.seen.insert(configuration, matched) {
            self.visits.push(Visit { configuration, matched, reached });
        }
    }

    /// The steps that lead to `last`, and then `transition`, which matches the last access.
    fn schedule(&self, locals: &Locals, last: VisitId, transition: TransitionId) -> Schedule {
        let step = |transition: TransitionId, matched: Option<u32>| {
            let transition = locals.transition(transition);
            ScheduledStep { thread: transition.thread, step: transition.step, matched }
        };
        let mut visit = &self.visits[last];
        let mut steps = vec![step(transition, Some(visit.matched + 1))];
        while let Some((earlier, transition)) = visit.reached {
            let earlier = &self.visits[earlier];
            let matched = (visit.matched > earlier.matched).then_some(visit.matched);
            steps.push(step(transition, matched));
            visit = earlier;
        }
        steps.reverse();
        Schedule { steps }
    }
}

/// A set of pairs of a configuration and a number of matched accesses, as a growing bit table.
struct Seen {
    columns: usize,
    words: Vec<u64>,
}

impl Seen {
    /// Adds a pair and says whether it is new.
    fn insert(&mut self, configuration: ConfigurationId, matched: u32) -> bool {
        let bit = configuration.index() * self.columns + matched as usize;
        let (word, mask) = (bit / 64, 1 << (bit % 64));
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let new = self.words[word] & mask == 0;
        self.words[word] |= mask;
        new
    }
}
