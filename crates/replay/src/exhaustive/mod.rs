//! # Idea
//! Breadth-first search over all interleavings of the threads that a question names. A state is a
//! configuration with the number of accesses that were matched so far; whether an access counts as
//! the next one of the query is a free choice. The first state in which all are matched gives a
//! shortest interleaving. For a question about a single moment nothing is matched, and the first
//! configuration in which the threads meet ends the search.
//!
//! # Source
//! SEMANTICS. Threads that the question does not name stay where they start (ERRATA, 000), unless they
//! can start one that takes part, or one that takes part can join them. The search
//! is the oracle of the other engines, so it is kept plain: no partial-order reduction, no symmetry.
//! What it leaves out cannot matter: states in which a unit that holds an access of the query has
//! ended too early, and questions about an event that the control flow of the thread never reaches.
//! In a program with values or channels everybody moves, since what a thread does may depend on what
//! others leave, and on who meets it (`valued`).
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

pub mod bounded;
mod local;
mod moment;
mod monitor;
mod participants;
mod reachable;
mod space;
mod stacks;
pub mod temporal;
mod valued;
mod visits;

use crate::question::question_error;
use local::Locals;
use moment::Moment;
use monitor::{Monitor, MonitorPhase, Sight};
use participants::Influence;
use reachable::{Reach, reachable};
use selvedge_base::{Budget, IdVec};
use selvedge_program::{
    Feature, Features, Observable, Program, Question, ThreadId, Unknown, Verdict, Witness,
};
use space::ConfigurationSpace;
use std::collections::BTreeMap;
use visits::Visits;

/// How many configurations may stay in memory when the next set of threads is begun.
const KEPT_CONFIGURATIONS: usize = 1 << 20;

/// The exhaustive engine. It remembers the configurations that it has seen, so that many queries
/// about one program share the work.
pub struct Exhaustive<'a> {
    locals: Locals<'a>,
    features: Features,
    /// What each thread could ever do, as far as its control flow tells.
    reach: IdVec<ThreadId, Reach>,
    influence: Influence,
    spaces: BTreeMap<Vec<ThreadId>, ConfigurationSpace>,
    call_depth: u32,
    budget: Budget,
    states: u64,
}

impl<'a> Exhaustive<'a> {
    /// An engine that explores at most `call_depth` open calls per thread.
    pub fn new(program: &'a Program, call_depth: u32, budget: Budget) -> Self {
        let locals = Locals::new(program, call_depth);
        let reach = reachable(program, locals.successors());
        let influence = Influence::new(program);
        let (features, spaces) = (program.features(), BTreeMap::new());
        Self { locals, features, reach, influence, spaces, call_depth, budget, states: 0 }
    }

    /// Decides a question. A violation comes with a shortest interleaving; that of a race or a
    /// deadlock leads to the moment before, and none of its steps is marked.
    pub fn decide(&mut self, question: &Question) -> Verdict<Witness> {
        if let Some(error) = question_error(self.locals.program(), question) {
            return Verdict::Unknown(Unknown::Unsupported(error));
        }
        match question {
            Question::Pattern(pattern) => {
                self.search(question, &Sought::Word(Monitor::pattern(pattern)))
            }
            Question::Automaton(automaton) => {
                self.search(question, &Sought::Word(Monitor::automaton(automaton)))
            }
            Question::Race(race) => self.search(question, &Sought::Moment(Moment::race(race))),
            Question::Deadlock(deadlock) => {
                self.search(question, &Sought::Moment(Moment::deadlock(deadlock)))
            }
            Question::Reach(_) | Question::Stuck | Question::States | Question::Temporal(_) => {
                Verdict::Unknown(Unknown::Unsupported(
                    "this search does not follow values".to_owned(),
                ))
            }
        }
    }

    /// How many states were visited, over all questions so far.
    pub fn states(&self) -> u64 {
        self.states
    }

    fn search(&mut self, question: &Question, goal: &Sought) -> Verdict<Witness> {
        if !goal.can_occur(&self.reach) {
            return Verdict::Safe;
        }
        let coupling =
            [Feature::Values, Feature::AtomicSections, Feature::Monitors, Feature::Channels];
        if coupling.into_iter().any(|feature| self.features.contains(feature)) {
            let program = self.locals.program();
            let search = valued::Search::new(program, question, goal, self.call_depth);
            let (verdict, states) = search.run(&self.budget);
            self.states += states;
            return verdict;
        }
        let participants = self.influence.participants(&goal.threads());
        if !self.spaces.contains_key(&participants.moving) {
            let kept: usize = self.spaces.values().map(ConfigurationSpace::len).sum();
            if kept > KEPT_CONFIGURATIONS {
                self.spaces.clear();
            }
        }
        let locals = &mut self.locals;
        let space = self
            .spaces
            .entry(participants.moving.clone())
            .or_insert_with(|| ConfigurationSpace::new(&participants, locals));
        let mut visits = Visits::new(goal.columns());
        let verdict = search(goal, &mut visits, locals, space, &self.budget, self.call_depth);
        self.states += visits.len() as u64;
        verdict
    }
}

/// What a search looks for.
enum Sought {
    /// The accesses of a query.
    Word(Monitor),
    /// A configuration in which some threads meet.
    Moment(Moment),
}

impl Sought {
    /// The threads that it names, in the order of their ids.
    fn threads(&self) -> Vec<ThreadId> {
        match self {
            Self::Word(monitor) => monitor.threads(),
            Self::Moment(moment) => moment.threads(),
        }
    }

    /// How many numbers of matched accesses the states of the search can have.
    fn columns(&self) -> usize {
        match self {
            Self::Word(monitor) => monitor.phases.len(),
            Self::Moment(_) => 1,
        }
    }

    /// Whether the control flow of the threads allows it.
    fn can_occur(&self, reach: &IdVec<ThreadId, Reach>) -> bool {
        let phase_can = |phase: &MonitorPhase| {
            let symbols = &reach[phase.advance.thread].symbols;
            symbols.contains(&phase.advance.symbol)
                && (!phase.in_unit || symbols.contains(&Observable::BeginUnit))
        };
        match self {
            Self::Word(monitor) => monitor.phases.iter().all(phase_can),
            Self::Moment(moment) => moment.can_occur(reach),
        }
    }
}

/// Searches breadth-first for the goal. `visits` is also the queue.
fn search(
    goal: &Sought,
    visits: &mut Visits,
    locals: &mut Locals,
    space: &mut ConfigurationSpace,
    budget: &Budget,
    call_depth: u32,
) -> Verdict<Witness> {
    let threads = goal.threads();
    let mut limit_met = false;
    visits.add(space.initial(), 0, None);
    let mut position = 0;
    while let Some((id, visit)) = visits.get(position) {
        if let Some(reason) = budget.poll() {
            return Verdict::Unknown(Unknown::Stopped(reason));
        }
        position += 1;
        let (configuration, matched) = (visit.configuration, visit.matched);
        if let Sought::Moment(moment) = goal
            && moment.is_now(locals, &space.tuple(configuration, &threads))
        {
            return Verdict::Violation(visits.schedule(locals, id, None));
        }
        let row = space.expand(locals, configuration);
        limit_met |= row.limit_met;
        for successor in space.successors(row) {
            let reached = Some((id, successor.transition));
            let Sought::Word(monitor) = goal else {
                visits.add(successor.target, 0, reached);
                continue;
            };
            let phase = &monitor.phases[matched as usize];
            let transition = locals.transition(successor.transition);
            let step = Sight {
                thread: transition.thread,
                kind: transition.kind,
                in_unit: transition.in_unit,
            };
            if phase.advances(step) {
                if matched as usize + 1 == monitor.phases.len() {
                    let last = Some(successor.transition);
                    return Verdict::Violation(visits.schedule(locals, id, last));
                }
                visits.add(successor.target, matched + 1, reached);
            }
            if phase.stays(step) {
                visits.add(successor.target, matched, reached);
            }
        }
    }
    if limit_met { Verdict::Unknown(Unknown::CallDepth(call_depth)) } else { Verdict::Safe }
}
