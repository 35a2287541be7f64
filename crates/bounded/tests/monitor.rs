//! Questions about locks and units, asked of the monitored program, against trying all schedules of
//! the original one and against the tupling engine.

mod common;

use common::{oracle, rounds};
use selvedge_base::Budget;
use selvedge_bounded::monitor::{Monitored, joins_to_data, locks_to_data, monitor, original};
use selvedge_locks::tupling::Tupling;
use selvedge_lower::LockSet;
use selvedge_program::{
    Action, IndexedSymbol, Move, Observable, Program, Question, StepKind, Successors, Target,
    ThreadId, UnitRole, Units, Verdict, Witness, WitnessStep, validate,
};
use selvedge_replay::{Configuration, State, replay};
use selvedge_testkit::generate::{Shape, random_model, with_starts};
use selvedge_testkit::queries::{all_patterns, describe, random_automaton, some_patterns};
use selvedge_testkit::rng::Rng;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;

const ROUNDS: u32 = 3;
const DEPTH: usize = 3;

/// How far a query has matched, with whether the units of `u` and `u'` are still open.
type Progress = (usize, [bool; 2]);

/// The progress after an event, in all ways to read it.
fn progress(
    query: &Question,
    (phase, open): Progress,
    event: IndexedSymbol,
    inside: bool,
) -> Vec<Progress> {
    let mut next = Vec::new();
    match query {
        Question::Automaton(automaton) => {
            let at = &automaton.phases[phase];
            if at.loops.contains(&event) {
                next.push((phase, open));
            }
            if at.advance == event {
                next.push((phase + 1, open));
            }
        }
        Question::Pattern(query) => {
            let mut later = open;
            if event.symbol == Observable::EndUnit {
                if event.thread == query.unit_thread {
                    later[0] = false;
                } else if event.thread == query.other_thread {
                    later[1] = false;
                }
            }
            next.push((phase, later));
            let access = query.pattern.accesses[phase];
            let is_next =
                query.thread_of(access) == event.thread && query.symbol_of(access) == event.symbol;
            let role = usize::from(access.role == UnitRole::Other);
            let is_first =
                query.pattern.accesses[..phase].iter().all(|before| before.role != access.role);
            if is_next
                && (!query.needs_unit(access.role) || if is_first { inside } else { open[role] })
            {
                let mut later = open;
                later[role] = true;
                next.push((phase + 1, later));
            }
        }
        other => unreachable!("{other:?} is about no sequence of events"),
    }
    next
}

/// Some stack grows too high, or there are too many states.
struct TooLarge;

/// The least number of rounds within which the query is answered.
fn least_rounds(program: &Program, query: &Question) -> Result<Option<u32>, TooLarge> {
    let successors = Successors::new(program);
    let phases = match query {
        Question::Pattern(query) => query.pattern.accesses.len(),
        Question::Automaton(automaton) => automaton.phases.len(),
        other => unreachable!("{other:?} is about no sequence of events"),
    };
    let mut seen: Vec<HashSet<(Configuration, Progress)>> =
        vec![HashSet::new(); program.threads.len()];
    let mut begin = vec![(Configuration::initial(program), (0, [false; 2]))];
    for round in 1..=ROUNDS {
        for (at, thread) in program.threads.ids().enumerate() {
            let mut reached: Vec<(Configuration, Progress)> = Vec::new();
            for state in begin {
                if seen[at].insert(state.clone()) {
                    reached.push(state);
                }
            }
            let mut position = 0;
            while position < reached.len() {
                let (configuration, now) = reached[position].clone();
                position += 1;
                for step in configuration.moves(program, &successors, thread) {
                    let mut next = configuration.clone();
                    let Ok(kind) = next.step(program, thread, step) else { continue };
                    if next.threads[thread].stack.len() > DEPTH || reached.len() > 8_000 {
                        return Err(TooLarge);
                    }
                    let inside = configuration.threads[thread].unit_depth > 0;
                    let observed = match kind {
                        StepKind::Read(x) => Some(Observable::Read(x)),
                        StepKind::Write(x) => Some(Observable::Write(x)),
                        StepKind::BeginUnit => Some(Observable::BeginUnit),
                        StepKind::EndUnit => Some(Observable::EndUnit),
                        _ => None,
                    };
                    let after = match observed {
                        None => vec![now],
                        Some(symbol) => {
                            progress(query, now, IndexedSymbol { thread, symbol }, inside)
                        }
                    };
                    for after in after {
                        if after.0 == phases {
                            return Ok(Some(round));
                        }
                        let state = (next.clone(), after);
                        if seen[at].insert(state.clone()) {
                            reached.push(state);
                        }
                    }
                }
            }
            begin = reached;
        }
    }
    Ok(None)
}

type Reached = (State, usize, Option<(ThreadId, Move)>);

/// A run of the monitored program to its target, by breadth, without its values.
fn run_of(monitored: &Monitored) -> Witness {
    let program = &monitored.program;
    let Target::Label(found) = &monitored.target else { panic!("the target is a label") };
    let successors = Successors::new(program);
    // States with the number of the one before and the step from there.
    let mut states: Vec<Reached> = Vec::new();
    let mut known: HashMap<State, usize> = HashMap::new();
    _ = State::for_each_initial(program, &mut |state| {
        known.insert(state.clone(), states.len());
        states.push((state, 0, None));
        ControlFlow::Continue(())
    });
    let mut at = 0;
    loop {
        let state = states[at].0.clone();
        let top = |thread| state.top(thread).is_some_and(|top| found.contains(&top));
        if program.threads.ids().any(top) {
            break;
        }
        for thread in program.threads.ids() {
            let flow = state.successors(program, &successors, thread, &mut |step, next| {
                if !known.contains_key(&next) {
                    known.insert(next.clone(), states.len());
                    states.push((next, at, Some((thread, step.step))));
                }
                ControlFlow::Continue(())
            });
            assert!(flow.is_ok());
        }
        at += 1;
    }
    let mut steps = Vec::new();
    while let (_, before, Some((thread, step))) = states[at] {
        steps.push(WitnessStep::plain(thread, step, None));
        at = before;
    }
    steps.reverse();
    Witness::plain(steps)
}

#[test]
fn monitored_programs_answer_like_all_schedules_and_never_contradict_tupling() {
    let mut verdicts: BTreeMap<(Option<u32>, bool), usize> = BTreeMap::new();
    for seed in 0..90 {
        let mut rng = Rng::new(seed);
        let shape = Shape { statements: 9, functions: 2, ..Shape::SMALL };
        let program = random_model(&mut rng, &shape).to_program();
        let mut queries = some_patterns(&program, &mut rng, 4);
        if rng.percent(30) {
            let paper = all_patterns(&program, Units::Paper);
            if !paper.is_empty() {
                queries.push(rng.pick(&paper).clone());
            }
        }
        queries.extend(random_automaton(&program, &mut rng).map(Question::Automaton));
        let mut tupling = Tupling::new(&program, 100_000, 100_000, Budget::new());
        for query in queries {
            let Ok(expected) = least_rounds(&program, &query) else { continue };
            let what = || format!("seed {seed}: {}", describe(&program, &query));
            let monitored = monitor(&program, &query, &Budget::new()).expect("it is nested");
            assert_eq!(validate::validate(&monitored.program), [], "{}", what());
            let targets = [monitored.target.clone()];
            let Some(sets) = oracle(&monitored.program, &targets, rounds(ROUNDS), DEPTH as u32)
            else {
                continue;
            };
            assert_eq!(sets.least(0), expected, "{}", what());
            let violated =
                matches!(tupling.decide(&query).expect("no fault"), Verdict::Violation(_));
            assert!(violated || expected.is_none(), "{}", what());
            *verdicts.entry((expected, violated)).or_default() += 1;
            if expected.is_some() {
                let schedule = original(&run_of(&monitored), &monitored.origin, &program);
                let trace = replay(&program, &query, &schedule);
                assert!(trace.is_ok(), "{}: {trace:?}", what());
            }
        }
    }
    let count = |rounds: Option<u32>| verdicts.get(&(rounds, rounds.is_some())).copied();
    for rounds in [None, Some(1), Some(2)] {
        assert!(count(rounds).is_some_and(|count| count > 2), "{verdicts:?}");
    }
}

#[test]
fn locks_as_data_allow_the_same_schedules() {
    let mut compared = 0;
    for seed in 0..100 {
        let mut rng = Rng::new(seed);
        let shape = Shape { statements: 5, ..Shape::CONTENDED };
        let program = random_model(&mut rng, &shape).to_program();
        let (unlocked, origin) =
            locks_to_data(&program, &LockSet::new(), &Budget::new()).expect("it is nested");
        assert_eq!(validate::validate(&unlocked), [], "seed {seed}");
        assert_eq!(origin.moves.len(), unlocked.edges.len());
        assert!(origin.matched.iter().all(Option::is_none));
        // The schedules up to a length, as sequences of steps of the original program.
        let Some(expected) = schedules(&program, 6) else { continue };
        let found = unlocked_schedules(&unlocked, &origin.moves, 6);
        assert_eq!(found, expected, "seed {seed}");
        compared += 1;
    }
    assert!(compared > 30, "{compared}");
}

/// With and without the locks as data, too.
#[test]
fn joins_as_data_allow_the_same_schedules() {
    let (mut compared, mut joins) = (0, 0);
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let shape = Shape { processes: (2, 2), functions: 1, statements: 3, ..Shape::TINY };
        let mut model = random_model(&mut rng, &shape);
        for _ in 0..2 {
            model = with_starts(&mut rng, model);
        }
        let program = model.to_program();
        let Some((without, origin)) = joins_to_data(&program) else { continue };
        assert_eq!(validate::validate(&without), [], "seed {seed}");
        let Some(expected) = schedules(&program, 9) else { continue };
        let found = unlocked_schedules(&without, &origin.moves, 9);
        assert_eq!(found, expected, "seed {seed}");
        let (unlocked, origin) =
            locks_to_data(&program, &LockSet::new(), &Budget::new()).expect("it is nested");
        assert_eq!(validate::validate(&unlocked), [], "seed {seed}");
        assert_eq!(unlocked_schedules(&unlocked, &origin.moves, 9), expected, "seed {seed}");
        let is_join = |&(_, step): &(ThreadId, Move)| {
            let edge = step.edge();
            edge.is_some_and(|edge| matches!(program.edges[edge].action, Action::Join(_)))
        };
        joins += usize::from(expected.iter().flatten().any(is_join));
        compared += 1;
    }
    assert!(compared > 100 && joins > 10, "{compared} {joins}");
}

type Steps = Vec<(ThreadId, Move)>;

fn schedules(program: &Program, length: usize) -> Option<HashSet<Steps>> {
    let successors = Successors::new(program);
    let mut all = HashSet::new();
    let mut last = vec![(Configuration::initial(program), Steps::new())];
    for _ in 0..length {
        let mut next = Vec::new();
        for (configuration, steps) in last {
            for thread in program.threads.ids() {
                for step in configuration.moves(program, &successors, thread) {
                    let mut after = configuration.clone();
                    if after.step(program, thread, step.clone()).is_ok() {
                        let mut steps = steps.clone();
                        steps.push((thread, step.step));
                        next.push((after, steps));
                    }
                }
            }
        }
        all.extend(next.iter().map(|(_, steps)| steps.clone()));
        if all.len() > 10_000 {
            return None;
        }
        last = next;
    }
    Some(all)
}

fn unlocked_schedules(
    program: &Program,
    moves: &selvedge_base::IdVec<selvedge_program::EdgeId, Move>,
    length: usize,
) -> HashSet<Steps> {
    let successors = Successors::new(program);
    let mut all = HashSet::new();
    let mut last = Vec::new();
    _ = State::for_each_initial(program, &mut |state| {
        last.push((state, Steps::new()));
        ControlFlow::Continue(())
    });
    for _ in 0..length {
        let mut next = Vec::new();
        for (state, steps) in last {
            for thread in program.threads.ids() {
                let flow = state.successors(program, &successors, thread, &mut |step, after| {
                    let original = step.step.edge().map_or(Move::Return, |edge| moves[edge]);
                    let mut steps = steps.clone();
                    steps.push((thread, original));
                    next.push((after, steps));
                    ControlFlow::Continue(())
                });
                assert!(flow.is_ok());
            }
        }
        all.extend(next.iter().map(|(_, steps)| steps.clone()));
        last = next;
    }
    all
}
