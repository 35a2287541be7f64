//! # Idea
//! Formulas that branch. Of one thread alone, with all locks granted, they are decided for stacks of
//! any depth: the thread is one pushdown system. Of a whole program they are decided if it has finitely
//! many states: all are explored.
//!
//! There is no witness: what shows that such a formula holds or fails is a tree of runs.
//!
//! # Source
//! Paper 003 §9, no larger than it can be true: what the paper says of two threads with locks does not
//! speak of the program (ERRATA).
//!
//! # Requires
//! The program is valid, and the formula was read for it.

use crate::choice::has_more_than_events;
use selvedge_base::Budget;
use selvedge_locks::chains::is_about;
use selvedge_logic::BranchingFormula;
use selvedge_lower::thread::LowerError;
use selvedge_lower::{LockSet, LoweredThread, lower};
use selvedge_pds::{Symbol, satisfying, satisfying_among};
use selvedge_program::{Feature, Program, Proposition, ThreadId, Unknown};
use selvedge_replay::exhaustive::temporal::state_graph;

/// Whether a formula holds at the start of a program, in every state that a run can begin with.
///
/// # Errors
/// If that is not decided.
pub fn decide_branching(
    program: &Program,
    formula: &BranchingFormula,
    budget: &Budget,
) -> Result<bool, Unknown> {
    if program.features().contains(Feature::Recursion) {
        let why = "the program is recursive, and formulas that branch are decided of one thread of it: \
                   name it by --thread";
        return Err(Unknown::Unsupported(why.to_owned()));
    }
    let graph = state_graph(program, &formula.atoms, u32::MAX, budget)?;
    let truth = |state: u32, atom: u32| graph.truth[state as usize][atom as usize];
    let holds = satisfying_among(&graph.next, &formula.formula, &truth, budget)?;
    Ok(graph.initial.iter().all(|&state| holds[state as usize]))
}

/// Whether a formula holds at the start of a thread that runs alone, with all locks granted, all threads
/// that it joins ended and all that it starts of no concern.
///
/// # Errors
/// If the formula is about another thread, or the thread does more than take locks; or if a limit is
/// met.
pub fn decide_branching_of(
    program: &Program,
    thread: ThreadId,
    formula: &BranchingFormula,
    budget: &Budget,
) -> Result<bool, Unknown> {
    let unsupported = |why: String| Err(Unknown::Unsupported(why));
    let features = program.features();
    if has_more_than_events(features) || features.contains(Feature::Channels) {
        let why = "a thread is taken alone only if nobody sends it anything: without values, waits, \
                   atomic sections and channels";
        return unsupported(why.to_owned());
    }
    if program.restriction(thread).is_some() {
        return unsupported("the runs of the thread are restricted".to_owned());
    }
    for atom in &formula.atoms {
        let about = match atom {
            Proposition::At(about, _)
            | Proposition::In(about, _)
            | Proposition::Holds(about, _)
            | Proposition::Unit(about)
            | Proposition::About(about, _)
            | Proposition::Ended(about)
            | Proposition::Blocked(about)
            | Proposition::Takes(about, _) => Some(*about),
            Proposition::End | Proposition::Deadlock => None,
            Proposition::Condition(_) => {
                return unsupported("a condition on variables is not about one thread".to_owned());
            }
        };
        if about.is_some_and(|about| about != thread) {
            let name = &program.threads[thread].name;
            return unsupported(format!("the formula is about other threads than {name}"));
        }
    }
    let all = program.locks.ids().fold(LockSet::new(), |mut all, lock| {
        all.insert(lock);
        all
    });
    let lowered = lower(program, &all, budget).map_err(|error| match error {
        LowerError::NotNested(why) => Unknown::Unsupported(why.to_string()),
        LowerError::Stopped(reason) => Unknown::Stopped(reason),
    })?;
    let lowered = &lowered.threads[thread];
    let truth = |_, top: Option<Symbol>, atom: u32| {
        holds(program, lowered, &formula.atoms[atom as usize], top)
    };
    let (automaton, states) = satisfying(&lowered.pds, &formula.formula, &truth, budget)?;
    Ok(states.iter().all(|&state| automaton.accepts(state, &[lowered.entry])))
}

/// Whether an atom is true of a thread alone with this symbol on top, or at its end.
fn holds(
    program: &Program,
    thread: &LoweredThread,
    atom: &Proposition,
    top: Option<Symbol>,
) -> bool {
    let Some(top) = top else {
        return matches!(atom, Proposition::Ended(_) | Proposition::End);
    };
    let stuck = || thread.rules_of(top).next().is_none();
    match atom {
        Proposition::At(_, nodes) => nodes.contains(&thread.node(top)),
        Proposition::In(_, procedure) => thread.procedure(top) == *procedure,
        Proposition::Holds(_, lock) => thread.held(top).contains(*lock),
        Proposition::Unit(_) => thread.in_unit(top),
        Proposition::About(_, deed) => is_about(program, thread, top, *deed),
        Proposition::Blocked(_) | Proposition::End | Proposition::Deadlock => stuck(),
        Proposition::Ended(_) | Proposition::Condition(_) | Proposition::Takes(..) => false,
    }
}
