//! Formulas that branch: known answers of whole programs and of threads alone, and threads alone against
//! all states of programs that have no other thread.

use selvedge_analysis::{decide_branching, decide_branching_of};
use selvedge_base::{Budget, StopReason};
use selvedge_logic::parse_branching;
use selvedge_program::{Program, ThreadId, Unknown};
use selvedge_testkit::Rng;
use selvedge_testkit::generate::{Shape, random_model};

fn program(source: &str) -> Program {
    let read = selvedge_front_eml::parse(source);
    read.program.unwrap_or_else(|| panic!("{:?}", read.diagnostics))
}

fn named(program: &Program, name: &str) -> ThreadId {
    let mut threads = program.threads.iter_enumerated();
    threads.find(|(_, thread)| thread.name == name).expect("a thread").0
}

/// Whether a formula holds, of a thread alone if one is named.
fn holds(program: &Program, thread: Option<&str>, text: &str) -> Result<bool, Unknown> {
    let (formula, complaints) = parse_branching(text, program);
    let formula = formula.unwrap_or_else(|| panic!("{text}: {complaints:?}"));
    match thread {
        None => decide_branching(program, &formula, &Budget::new()),
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
            let whole = decide_branching(&program, &formula, &Budget::new());
            let alone = decide_branching_of(&program, thread, &formula, &Budget::new());
            assert_eq!(whole, alone, "seed {seed}: {text}");
            counts[usize::from(whole == Ok(true))] += 1;
        }
    }
    assert!(counts.iter().all(|&count| count > 100), "{counts:?}");
}
