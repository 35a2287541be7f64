//! # Idea
//! Formulas that branch. Of one thread alone, with all locks granted, they are decided for stacks of
//! any depth: the thread is one pushdown system. Of a whole program they are decided if it has finitely
//! many states: all are explored.
//!
//! What shows that such a formula holds or fails is a tree of runs. Of a whole program the part of the
//! tree that is one path is a run like any other: it is replayed, as the run that satisfies what the path
//! shows. Runs of a thread alone need not be runs of the program, so none is shown.
//!
//! # Source
//! Paper 003 §9, no larger than it can be true: what the paper says of two threads with locks does not
//! speak of the program (ERRATA).
//!
//! # Requires
//! The program is valid, and the formula was read for it.

use crate::choice::has_more_than_events;
use crate::driver::InternalError;
use selvedge_base::Budget;
use selvedge_locks::chains::is_about;
use selvedge_logic::normal::NormalForm;
use selvedge_logic::show::show;
use selvedge_logic::{BranchingFormula, linear, parse, show_part};
use selvedge_lower::thread::LowerError;
use selvedge_lower::{LockSet, LoweredThread, lower};
use selvedge_pds::{FormulaPath, Symbol, path_among, satisfying, satisfying_among};
use selvedge_program::{
    Feature, Program, Proposition, Question, TemporalQuestion, ThreadId, Trace, Unknown,
};
use selvedge_replay::exhaustive::temporal::{StateGraph, state_graph};
use selvedge_replay::replay_within;

/// What a formula that branches is at the start of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BranchingAnswer {
    /// Whether it holds.
    pub holds: bool,
    /// The run that shows it, or why there is none.
    pub evidence: Result<Box<Evidence>, NoEvidence>,
}

/// A run that shows that a formula holds, or that it fails.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Evidence {
    /// What the run satisfies.
    pub question: Question,
    /// The run, replayed.
    pub trace: Trace,
    /// What holds in its last state, if it ends there.
    pub last: Option<String>,
    /// Whether no single run shows that.
    pub remains: bool,
    /// What holds in states of the run, and is shown by other runs.
    pub aside: Vec<String>,
}

/// Why no run shows an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoEvidence {
    /// The formula says nothing of what comes.
    Now,
    /// It takes more than one run.
    Tree,
    /// The program begins in so many states, and the formula holds in all of them.
    States(usize),
    /// A thread was taken alone.
    Alone,
    /// A limit was met.
    Limit(Unknown),
}

/// What a formula is at the start of a program: it holds if it does in every state that a run can begin
/// with.
///
/// # Errors
/// If a run that is to show it does not replay; inside, if the formula is not decided.
pub fn decide_branching(
    program: &Program,
    formula: &BranchingFormula,
    budget: &Budget,
) -> Result<Result<BranchingAnswer, Unknown>, InternalError> {
    let (graph, parts) = match whole_program(program, formula, budget) {
        Ok(found) => found,
        Err(why) => return Ok(Err(why)),
    };
    let whole = &parts[formula.whole() as usize];
    let fails = graph.initial.iter().copied().find(|&state| !whole[state as usize]);
    let evidence = match (fails, &graph.initial[..]) {
        (None, [_, _, ..]) => Ok(Err(NoEvidence::States(graph.initial.len()))),
        (None, []) => Ok(Err(NoEvidence::Now)),
        (None, &[state]) => evidence(program, &graph, formula, &parts, state, budget),
        (Some(state), _) => evidence(program, &graph, &formula.dual(), &parts, state, budget),
    };
    evidence.map(|evidence| Ok(BranchingAnswer { holds: fails.is_none(), evidence }))
}

/// The run that shows a formula that holds in a state, or whose opposite was asked about and fails there.
fn evidence(
    program: &Program,
    graph: &StateGraph,
    shown: &BranchingFormula,
    parts: &[Vec<bool>],
    state: u32,
    budget: &Budget,
) -> Result<Result<Box<Evidence>, NoEvidence>, InternalError> {
    // A part of the opposite holds where the part itself does not.
    let value = parts[shown.whole() as usize][state as usize];
    let holds = |part: u32, at: u32| parts[part as usize][at as usize] == value;
    let path = match path_among(&graph.next, &shown.formula, &holds, state, budget) {
        Ok(path) => path,
        Err(reason) => return Ok(Err(NoEvidence::Limit(Unknown::Stopped(reason)))),
    };
    let FormulaPath { configurations, repeats, last, remains, aside } = path;
    if last == Some(shown.whole()) {
        return Ok(Err(if remains { NoEvidence::Tree } else { NoEvidence::Now }));
    }
    let witness = graph.witness(program, &configurations, repeats);
    let question = Question::Temporal(satisfied(program, shown));
    let trace = match replay_within(program, &question, &witness, budget) {
        Ok(trace) => trace,
        Err(error) => {
            return match error.open {
                Some(why) => Ok(Err(NoEvidence::Limit(why))),
                None => {
                    Err(InternalError(format!("the run of a formula does not replay: {error}")))
                }
            };
        }
    };
    let text = |part: u32| show_part(shown, part, program);
    let (last, aside) = (last.map(text), aside.into_iter().map(text).collect());
    Ok(Ok(Box::new(Evidence { question, trace, last, remains, aside })))
}

/// The question for a run that satisfies what a path shows of a formula. Its text says so unless that
/// needs names which the text of a formula cannot have.
fn satisfied(program: &Program, shown: &BranchingFormula) -> TemporalQuestion {
    let question = TemporalQuestion::some(linear(shown));
    let form = NormalForm::new(&question.formula);
    let text = format!("E {}", show(&form, program));
    let read = parse(&text, program, &[]).0.into_iter().next();
    let same = read.is_some_and(|read| {
        let read = NormalForm::new(&read.formula);
        (&read.atoms, &read.parts, read.whole) == (&form.atoms, &form.parts, form.whole)
    });
    TemporalQuestion { text: if same { text } else { "E true".to_owned() }, ..question }
}

/// All states of a program, and where each part of a formula holds.
fn whole_program(
    program: &Program,
    formula: &BranchingFormula,
    budget: &Budget,
) -> Result<(StateGraph, Vec<Vec<bool>>), Unknown> {
    if program.features().contains(Feature::Recursion) {
        let why = "the program is recursive, and formulas that branch are decided of one thread of it: \
                   name it by --thread";
        return Err(Unknown::Unsupported(why.to_owned()));
    }
    let graph = state_graph(program, &formula.atoms, u32::MAX, budget)?;
    let truth = |state: u32, atom: u32| graph.truth[state as usize][atom as usize];
    let parts = satisfying_among(&graph.next, &formula.formula, &truth, budget)?;
    Ok((graph, parts))
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
