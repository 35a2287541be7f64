//! Formulas that branch: known answers of whole programs and of threads alone, and threads alone against
//! all states of programs that have no other thread.

use selvedge_analysis::{
    BranchingAnswer, Evidence, NoEvidence, decide_branching, decide_branching_of,
};
use selvedge_base::{Budget, StopReason};
use selvedge_logic::{BranchingFormula, parse_branching};
use selvedge_pds::MuNode;
use selvedge_program::{Program, Sort, Successors, ThreadId, Trace, Unknown, Valuation};
use selvedge_replay::run::somebody_can_move;
use selvedge_replay::temporal::Moment;
use selvedge_replay::{Scheduled, State, replay};
use selvedge_testkit::Rng;
use selvedge_testkit::generate::{Shape, random_model};
use selvedge_testkit::typed_data::random_typed_data;
use std::ops::ControlFlow;

fn program(source: &str) -> Program {
    let read = selvedge_front_eml::parse(source);
    read.program.unwrap_or_else(|| panic!("{:?}", read.diagnostics))
}

fn named(program: &Program, name: &str) -> ThreadId {
    let mut threads = program.threads.iter_enumerated();
    threads.find(|(_, thread)| thread.name == name).expect("a thread").0
}

fn decided(program: &Program, formula: &BranchingFormula) -> Result<BranchingAnswer, Unknown> {
    decide_branching(program, formula, &Budget::new()).expect("what is shown replays")
}

/// Whether a formula holds, of a thread alone if one is named.
fn holds(program: &Program, thread: Option<&str>, text: &str) -> Result<bool, Unknown> {
    let (formula, complaints) = parse_branching(text, program);
    let formula = formula.unwrap_or_else(|| panic!("{text}: {complaints:?}"));
    match thread {
        None => decided(program, &formula).map(|answer| answer.holds),
        Some(name) => decide_branching_of(program, named(program, name), &formula, &Budget::new()),
    }
}

const SPOOL: &str = include_str!("../../../examples/spool.eml");
const TREE_WALK: &str = include_str!("../../../examples/tree-walk.eml");

#[test]
fn whole_programs() {
    let spool = program(SPOOL);
    for (text, expected) in [
        ("AG EF T1@idle", false),
        ("AG (T1@put -> EF T1@idle)", true),
        ("AG (T1@begun -> EF T1@put)", true),
        ("AG (T1@begun -> AF T1@put)", false),
        ("EF (T1@put && T2@get)", false),
        ("nu Y . !deadlock && AX Y", true),
        ("E (!T1@put U T2@get)", true),
        ("A (!T1@put W T1@begun)", true),
        ("A (!T1@put U T1@begun)", false),
        ("A (T1@begun R !T1@put)", true),
        ("EG !ended(T1)", true),
        ("!EG !ended(T1) -> false", true),
        ("EX true && AX true", true),
        ("mu Y . T1@put || EX EX Y", true),
        ("AF (ended(T1) && ended(T2))", false),
        ("EF AG (ended(T1) && ended(T2))", true),
    ] {
        assert_eq!(holds(&spool, None, text), Ok(expected), "{text}");
    }
}

/// With stacks of any depth.
#[test]
fn threads_alone() {
    let walk = program(TREE_WALK);
    for (text, expected) in [
        ("AG EF ended(Walker)", true),
        ("AF ended(Walker)", false),
        ("AG (Walker@inside -> holds(Walker, tree))", true),
        ("AG (Walker@done -> !holds(Walker, tree))", true),
        ("AG (next(Walker, acquire tree) -> !holds(Walker, tree))", true),
        ("EF EG Walker@inside", false),
        ("EG EF Walker@inside", true),
        ("AG (Walker@inside -> EX EX next(Walker, call visit))", true),
        ("AG (ended(Walker) -> AG ended(Walker))", true),
        ("EF (end && !ended(Walker))", false),
    ] {
        assert_eq!(holds(&walk, Some("Walker"), text), Ok(expected), "{text}");
    }
}

#[test]
fn what_is_not_decided() {
    let walk = program(TREE_WALK);
    let open = |thread: Option<&str>, text: &str, program: &Program| {
        let why = holds(program, thread, text).expect_err(text);
        let Unknown::Unsupported(why) = why else { panic!("{why:?}") };
        why
    };
    assert!(open(None, "AG EF ended(Walker)", &walk).contains("--thread"));
    let other = open(Some("Walker"), "AG !Resetter@reset", &walk);
    assert!(other.contains("other threads than Walker"), "{other}");
    let data = program("int 0..3 : x = 0; process A { main { x = 1; } }");
    assert!(open(Some("A"), "AF ended(A)", &data).contains("values"));
    let (formula, _) = parse_branching("AG EF ended(Walker)", &walk);
    let formula = formula.expect("a formula");
    let stopped =
        decide_branching_of(&walk, named(&walk, "Walker"), &formula, &Budget::with_steps(3));
    assert_eq!(stopped, Err(Unknown::Stopped(StopReason::Steps)));
}

/// ERRATA, 003: the program decides, and not the trees of its threads.
#[test]
fn trees_of_threads_are_not_the_program() {
    // Once P2 has l and waits for itself, nothing can move, and `good` is true for ever; P1 alone shows nothing of it.
    let waits = program(
        "lock : l; mutex : m;
         process P1 { main { label good: synchronized(l) { while (true) { skip; } } } }
         process P2 { main { synchronized(l) { acquire(m); acquire(m); release(m); release(m); } } }",
    );
    let good = "EF (P1@good && AX P1@good)";
    assert_eq!(holds(&waits, Some("P1"), good), Ok(false));
    // P1 alone gets to p; with P2 it may be passed over for ever.
    let alone = program(
        "process P1 { main { skip; label p: skip; } } process P2 { main { while (*) { skip; } } }",
    );
    assert_eq!(holds(&alone, Some("P1"), "AF P1@p"), Ok(true));
    assert_eq!(holds(&alone, None, "AF P1@p"), Ok(false));
    assert_eq!(holds(&waits, None, good), Ok(true));
}

fn random_formula(rng: &mut Rng, depth: u32, atoms: &[String]) -> String {
    if depth == 0 {
        return rng.pick(atoms).clone();
    }
    let f = random_formula(rng, depth - 1, atoms);
    let g = random_formula(rng, depth - 1, atoms);
    match rng.below(14) {
        0 => format!("!({f})"),
        1 => format!("(({f}) && ({g}))"),
        2 => format!("(({f}) || ({g}))"),
        3 => format!("(({f}) -> ({g}))"),
        4 => format!("EX ({f})"),
        5 => format!("AX ({f})"),
        6 => format!("EF ({f})"),
        7 => format!("AF ({f})"),
        8 => format!("EG ({f})"),
        9 => format!("AG ({f})"),
        10 => format!("E (({f}) U ({g}))"),
        11 => format!("A (({f}) U ({g}))"),
        12 => format!("{} (({f}) W ({g}))", rng.pick(&["E", "A"])),
        _ => format!("{} (({f}) R ({g}))", rng.pick(&["E", "A"])),
    }
}

/// A thread alone is the program where there is no other: the pushdown system against all states.
#[test]
fn one_thread_against_all_states() {
    let mut counts = [0; 2];
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let shape = Shape { processes: (1, 1), statements: 10, ..Shape::TINY };
        let program = program(&random_model(&mut rng, &shape).to_eml());
        if program.features().contains(selvedge_program::Feature::Recursion) {
            continue;
        }
        let thread = program.threads.ids().next().expect("a thread");
        let name = program.threads[thread].name.clone();
        let mut atoms = vec![format!("ended({name})"), format!("unit({name})"), "end".to_owned()];
        atoms.extend(program.locks.iter().map(|lock| format!("holds({name}, {})", lock.name)));
        for location in &program.locations {
            atoms.push(format!("next({name}, read {})", location.name));
            atoms.push(format!("next({name}, write {})", location.name));
        }
        for _ in 0..4 {
            let depth = 1 + rng.below(3) as u32;
            let text = random_formula(&mut rng, depth, &atoms);
            let (formula, complaints) = parse_branching(&text, &program);
            let formula = formula.unwrap_or_else(|| panic!("{text}: {complaints:?}"));
            let whole = decided(&program, &formula).map(|answer| answer.holds);
            let alone = decide_branching_of(&program, thread, &formula, &Budget::new());
            assert_eq!(whole, alone, "seed {seed}: {text}");
            counts[usize::from(whole == Ok(true))] += 1;
        }
    }
    assert!(counts.iter().all(|&count| count > 100), "{counts:?}");
}

/// The run that shows an answer, if there is one.
fn shown(program: &Program, text: &str) -> Result<Box<Evidence>, NoEvidence> {
    let (formula, complaints) = parse_branching(text, program);
    let formula = formula.unwrap_or_else(|| panic!("{text}: {complaints:?}"));
    decided(program, &formula).unwrap_or_else(|why| panic!("{text}: {why}")).evidence
}

#[test]
fn runs_that_show_answers() {
    let spool = program(SPOOL);
    // The number of steps, how many of them come before a loop, and what holds at the end.
    for (text, ends, last, remains) in [
        ("AG EF T1@idle", false, Some("AG !T1@idle"), true),
        ("!EF !EF T1@idle", false, Some("AG !T1@idle"), true),
        ("AG (T1@begun -> AF T1@put)", true, None, false),
        ("EF (T1@put && EF T1@idle)", false, Some("T1@idle"), false),
        ("E (!T1@put U T2@get)", false, Some("T2@get"), false),
        ("A (!T1@put U T1@begun)", true, None, false),
        ("AX ended(T1)", false, Some("!ended(T1)"), false),
        ("EG !ended(T1)", true, None, false),
        ("mu Y . T1@put || EX EX Y", false, Some("T1@put"), false),
        ("EF AG (ended(T1) && ended(T2))", true, Some("AG (ended(T1) && ended(T2))"), true),
    ] {
        let evidence = shown(&spool, text).unwrap_or_else(|why| panic!("{text}: {why:?}"));
        let found = (evidence.last.as_deref(), evidence.remains);
        assert_eq!(found, (last, remains), "{text}");
        assert!(!ends || last.is_some() || evidence.trace.repeats.is_some(), "{text}");
    }
    for (text, why) in [
        ("AG (T1@put -> EF T1@idle)", NoEvidence::Tree),
        ("EF T1@put && EF T2@get", NoEvidence::Tree),
        ("!(AG !T1@put || AG !T2@get)", NoEvidence::Tree),
        ("EF (T1@put && T2@get)", NoEvidence::Tree),
        ("T1@idle || !T1@idle", NoEvidence::Now),
    ] {
        assert_eq!(shown(&spool, text), Err(why), "{text}");
    }
    let aside = shown(&spool, "EG EF T1@idle").expect("a loop").aside;
    assert_eq!(aside, ["EF T1@idle"]);
    let any = program("bool : x = *; process A { main { x = true; } }");
    assert_eq!(shown(&any, "EF {x}"), Err(NoEvidence::States(2)));
    assert!(shown(&any, "AG {x}").is_ok(), "one state in which it fails is enough");
}

/// The states of a run outside of atomic sections, from the step relation alone.
fn states_along(program: &Program, trace: &Trace) -> Vec<State> {
    let witness = trace.witness(program);
    let initial = State::all_initial(program).expect("few states");
    let mut state = initial
        .into_iter()
        .find(|one| {
            let main = |(thread, locals): (ThreadId, &Valuation)| {
                let own = one.threads[thread].activations.first();
                own.is_none_or(|own| own.locals == *locals)
            };
            one.globals == witness.globals && witness.locals.iter_enumerated().all(main)
        })
        .expect("a state");
    let mut states = vec![state.clone()];
    for step in &witness.steps {
        let scheduled = Scheduled { step: step.step, receivers: step.receivers.clone() };
        let mut next = None;
        let taken = state.outcomes(program, step.thread, scheduled, None, &mut |found| {
            let top = found.threads[step.thread].activations.last();
            let locals = top.map_or(&[][..], |top| &top.locals.0);
            if found.globals == step.globals && locals == step.locals.0 {
                next = Some(found);
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        assert!(taken.is_ok(), "the step is possible");
        state = next.expect("the step has this outcome");
        states.push(state.clone());
    }
    states
}

/// A formula without steps at a state, by the atoms of the replayer.
fn holds_at(program: &Program, formula: &BranchingFormula, state: &State) -> bool {
    let successors = Successors::new(program);
    let moment = Moment { program, successors: &successors, state, budget: &Budget::new() };
    let mut values: Vec<bool> = Vec::new();
    for &node in formula.formula.nodes() {
        values.push(match node {
            MuNode::Constant(value) => value,
            MuNode::Atom { atom, positive } => {
                moment.holds(&formula.atoms[atom as usize], None) == Ok(positive)
            }
            MuNode::And(f, g) => values[f as usize] && values[g as usize],
            MuNode::Or(f, g) => values[f as usize] || values[g as usize],
            _ => panic!("the formula looks ahead"),
        });
    }
    values.pop().expect("a formula")
}

/// Every run that is shown replays, ends where what is said of its end holds, and closes its loop.
#[test]
fn random_runs_show_what_they_say() {
    let mut counts = [0; 5];
    for seed in 0..2000 {
        let mut rng = Rng::new(seed);
        let shape = Shape { processes: (1, 2), statements: 8, ..Shape::TINY };
        let program = match seed % 4 {
            0 => random_typed_data(&mut rng, false, false),
            _ => program(&random_model(&mut rng, &shape).to_eml()),
        };
        if program.features().contains(selvedge_program::Feature::Recursion) {
            continue;
        }
        let mut atoms = vec!["end".to_owned(), "deadlock".to_owned()];
        for thread in &program.threads {
            let name = &thread.name;
            atoms.extend([format!("ended({name})"), format!("unit({name})")]);
            atoms.extend(program.locks.iter().map(|lock| format!("holds({name}, {})", lock.name)));
            let read = |x: &selvedge_program::Location| format!("next({name}, read {})", x.name);
            atoms.extend(program.locations.iter().map(read));
        }
        atoms.extend(program.globals.iter().filter_map(|global| match global.ty.sort() {
            _ if global.name.contains('[') => None,
            Sort::Bool => Some(format!("{{{}}}", global.name)),
            Sort::Int => Some(format!("{{{} < 2}}", global.name)),
            _ => None,
        }));
        for _ in 0..4 {
            let depth = 1 + rng.below(3) as u32;
            let text = random_formula(&mut rng, depth, &atoms);
            let (formula, complaints) = parse_branching(&text, &program);
            let formula = formula.unwrap_or_else(|| panic!("{text}: {complaints:?}"));
            // A step of a program with data may fail.
            let Ok(answer) = decided(&program, &formula) else { continue };
            let Ok(said) = answer.evidence else {
                counts[0] += 1;
                continue;
            };
            counts[4] += usize::from(seed % 4 == 0);
            let Evidence { question, trace, last, remains, .. } = *said;
            let replayed = replay(&program, &question, &trace.witness(&program));
            assert_eq!(replayed.as_ref(), Ok(&trace), "seed {seed}: {text}");
            let states = states_along(&program, &trace);
            let end = states.last().expect("a state");
            if let Some(last) = last.filter(|_| !remains) {
                let (formula, complaints) = parse_branching(&last, &program);
                let formula = formula.unwrap_or_else(|| panic!("{last}: {complaints:?}"));
                assert!(holds_at(&program, &formula, end), "seed {seed}: {text}: {last}");
                counts[1] += 1;
            }
            match trace.repeats {
                Some(at) if at < trace.steps.len() => {
                    assert_eq!(&states[at], end, "seed {seed}: {text}");
                    counts[2] += 1;
                }
                Some(_) => {
                    let successors = Successors::new(&program);
                    let moves = somebody_can_move(&program, &successors, end, &Budget::new());
                    assert_eq!(moves, Ok(false));
                    counts[3] += 1;
                }
                None => {}
            }
        }
    }
    assert!(counts.iter().all(|&count| count > 100), "{counts:?}");
}
