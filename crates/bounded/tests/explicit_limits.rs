//! Explicit search that is stopped at its k-th look at the budget, for many k: it says so, never
//! calls itself complete for it, reports what it had found before, and counts no states of a level
//! that it did not finish.

mod common;

use common::{Do, sketch};
use selvedge_base::{Budget, StopReason};
use selvedge_bounded::explicit::{ExplicitSearch, StackChoice};
use selvedge_front_pds::parse;
use selvedge_program::{
    Failure, Measure, NodeId, Program, Proof, Question, Search, Target, Unknown, Witness,
};
use selvedge_replay::replay;
use std::fmt::Write;

/// What one level gave.
#[derive(Clone, PartialEq, Debug)]
struct Explored {
    reached: bool,
    complete: Option<Proof>,
    states: Result<u128, Failure>,
    visible: Result<u64, Failure>,
}

/// All levels until something is decided, and what ended it otherwise.
struct Outcome {
    levels: Vec<Explored>,
    witness: Option<Witness>,
    end: Option<Failure>,
}

struct Case<'p> {
    name: &'static str,
    program: &'p Program,
    target: Target,
    measure: Measure,
    stacks: StackChoice,
    levels: usize,
}

fn explore(case: &Case<'_>, budget: &Budget) -> Outcome {
    let mut outcome = Outcome { levels: Vec::new(), witness: None, end: None };
    let Case { program, ref target, measure, stacks, levels, .. } = *case;
    let mut search = match ExplicitSearch::new(program, target, measure, stacks, budget) {
        Ok(search) => search,
        Err(why) => {
            outcome.end = Some(why.into());
            return outcome;
        }
    };
    while outcome.levels.len() < levels {
        match search.advance() {
            Ok(level) => {
                outcome.levels.push(Explored {
                    reached: level.reached.is_some(),
                    complete: level.complete.then(|| search.proof()),
                    states: search.count_states(),
                    visible: search.count_visible(),
                });
                if level.reached.is_some() || level.complete {
                    outcome.witness = level.reached;
                    break;
                }
            }
            Err(failure) => {
                assert_eq!(search.advance().err(), Some(failure.clone()), "it stays stopped");
                outcome.end = Some(failure);
                break;
            }
        }
    }
    outcome
}

/// At how many looks a search is stopped at most; of more, some are left out.
const MOST_STOPS: usize = 100;

/// How often a search was stopped at a level at which it had found something.
fn check(case: &Case<'_>) -> usize {
    let stopped = Failure::Unknown(Unknown::Stopped(StopReason::Steps));
    let full = Budget::with_steps(u64::MAX);
    let expected = explore(case, &full);
    assert!(expected.end.is_none(), "{}", case.name);
    let polls = full.polls();
    assert!(polls > 20, "{}: {polls} looks at the budget", case.name);
    let mut found_unfinished = 0;
    let few = (polls as usize).div_ceil(MOST_STOPS);
    for k in (1..=polls).step_by(few).chain([polls, polls + 1]) {
        let budget = Budget::with_steps(k);
        let outcome = explore(case, &budget);
        let context = format!("{} stopped at {k} of {polls}", case.name);
        assert!(budget.polls() <= k + 4, "{context}: it goes on for {} looks", budget.polls());
        for (level, expected) in outcome.levels.iter().zip(&expected.levels) {
            // What is said of a level is true; what a limit has kept from being known is not said.
            assert!(!level.reached || expected.reached, "{context}");
            assert!(level.complete.is_none() || level.complete == expected.complete, "{context}");
            for (count, known) in [
                (level.states.clone(), expected.states.clone()),
                (level.visible.clone().map(u128::from), expected.visible.clone().map(u128::from)),
            ] {
                assert!(count == known || count == Err(stopped.clone()), "{context}: {count:?}");
            }
            let counted = level.states.is_ok();
            found_unfinished += usize::from(level.reached && !counted);
            assert!(counted || level.reached, "{context}: a level without anything");
        }
        if let Some(end) = outcome.end {
            assert_eq!(end, stopped, "{context}");
        } else {
            let whole = outcome.levels.len() == expected.levels.len();
            let decided = outcome.witness.is_some() || outcome.levels.len() == case.levels;
            assert!(whole || decided, "{context}");
            let safe = outcome.levels.last().is_some_and(|level| level.complete.is_some());
            assert!(!safe || whole, "{context}");
        }
        if let Some(witness) = outcome.witness {
            let question = Question::Reach(case.target.clone());
            replay(case.program, &question, &witness).expect("the run replays");
        }
        if k > polls {
            assert_eq!(outcome.levels, expected.levels, "{context}");
        }
    }
    found_unfinished
}

/// Threads that go round in rings of symbols.
fn rings(threads: usize, length: u32) -> String {
    let mut pds = "1\n".to_owned();
    for _ in 0..threads {
        writeln!(pds, "PDA 0 {}", length - 1).expect("strings take text");
        for at in 0..length {
            writeln!(pds, "0 {at} -> 0 {}", (at + 1) % length).expect("strings take text");
        }
    }
    pds
}

#[test]
fn single_stacks_stop_at_every_look() {
    let pds = rings(2, 60);
    let found = parse(&pds, Some("0|0,0"), Some("0|9,9")).expect("no errors");
    let mut unfinished = 0;
    for measure in [Measure::Contexts, Measure::Rounds] {
        let (stacks, levels) = (StackChoice::Automatic, 4);
        let program = &found.program;
        let target = found.target.clone().expect("a target");
        let name = "a meeting on two rings";
        unfinished += check(&Case { name, program, target, measure, stacks, levels });
        let target = Target::Assertion;
        check(&Case { name: "two rings", program, target, measure, stacks, levels });
    }
    assert!(unfinished > 5, "{unfinished}");
}

#[test]
fn sets_of_stacks_stop_at_every_look() {
    // Both threads push as much as they like, then step through a few symbols, and return.
    let thread = "PDA 0 5\n0 0 -> 0 0 1\n0 0 -> 0 2 3\n0 0 -> 1 4\n1 1 -> 0 -\n0 1 -> 1 2\n\
                  0 2 -> 1 -\n1 3 -> 0 5\n0 4 -> 1 -\n1 4 -> 0 0\n0 5 -> 0 -\n";
    let pds = format!("2\n{thread}{thread}");
    let found = parse(&pds, Some("0|0,0"), Some("1|5,4")).expect("no errors");
    let program = &found.program;
    let (measure, levels) = (Measure::Contexts, 3);
    let mut unfinished = 0;
    for stacks in [StackChoice::Sets, StackChoice::Automatic] {
        let target = found.target.clone().expect("a target");
        unfinished += check(&Case { name: "a meeting", program, target, measure, stacks, levels });
        let target = Target::Assertion;
        check(&Case { name: "all stacks", program, target, measure, stacks, levels });
    }
    assert!(unfinished > 5, "{unfinished}");
}

/// Failing assertions and labels, inside atomic sections too, from many initial states.
#[test]
fn programs_with_data_stop_at_every_look() {
    let busy: &[Do] = &[Do::Raise(0), Do::Begin, Do::Call(1), Do::End, Do::Lower(0)];
    let deep: &[Do] = &[Do::Raise(1), Do::Lower(1), Do::Call(1)];
    let failing: &[Do] = &[Do::Assume(0), Do::Lower(1), Do::Fail];
    let mut program = sketch(5, &[&[busy, deep], &[failing]]);
    for global in program.globals.ids() {
        program.globals[global].initial = None;
    }
    let nodes: Vec<NodeId> = program.nodes.ids().collect();
    let program = &program;
    for stacks in [StackChoice::Automatic, StackChoice::Sets] {
        for target in [Target::Assertion, Target::Label(vec![nodes[7]])] {
            let (name, measure, levels) = ("data", Measure::Rounds, 2);
            check(&Case { name, program, target, measure, stacks, levels });
        }
    }
}
