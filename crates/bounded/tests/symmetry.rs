//! Interchangeable copies: searches up to permutation compared with those that tell copies apart, on
//! random programs with 2 to 5 copies of a thread: the same shared states at every level, the same
//! answers at the same bounds, as many configurations as there are orbits; every run replays. And programs
//! in which copies are told apart.
//!
//! `SELVEDGE_PROGRAMS` sets the number of programs (default: a few seconds' worth), `SELVEDGE_SEED` the
//! first seed; `cargo xtask differential copies` runs the large version.

#![expect(clippy::print_stdout, reason = "the large version prints its counts")]

mod common;

use common::{Shape, random_program};
use selvedge_base::{Budget, Id, IdVec, Place};
use selvedge_bounded::explicit::{ExplicitSearch, StackChoice};
use selvedge_bounded::{
    Bounded, BoundedOptions, Kind, Mode, Strategy, SymbolicOptions, SymbolicSearch, symmetry,
};
use selvedge_program::copies::instantiate;
use selvedge_program::validate::validate;
use selvedge_program::{
    Action, Bound, Copies, Engine, Explored, Expr, Literal, Lock, LockId, Measure, NodeId, Passing,
    Position, Program, Question, Search, Start, StatePattern, Target, Thread, ThreadId, Unknown,
    Valuation, Verdict, text,
};
use selvedge_replay::replay;
use selvedge_testkit::models::bluetooth::{BluetoothVersion, bluetooth};
use selvedge_testkit::rng::Rng;
use selvedge_testkit::typed::{TypedShape, random_typed};
use std::collections::{BTreeMap, BTreeSet};

/// The bounds that are compared.
const LEVELS: u32 = 5;

/// A random program with copies of one of its threads, which may be started, and may use a lock.
fn random_copies(rng: &mut Rng, locked: bool) -> Option<Program> {
    let copies = [2, 2, 3, 3, 4, 5][rng.below(6)];
    let shape = Shape {
        threads: 2,
        nodes: if copies > 3 { 3 } else { 4 },
        recursion: 0,
        enforced: 10,
        waiting: 50,
        ..Shape::SMALL
    };
    let mut program = random_program(rng, &shape);
    let chosen = ThreadId::from_index(rng.below(program.threads.len()));
    for procedure in &mut program.procedures {
        procedure.owner = procedure.owner.filter(|&owner| owner != chosen);
    }
    let Thread { main, start, .. } = program.threads[chosen];
    let mut group = vec![chosen];
    for at in 1..copies {
        let after = group.last().copied().filter(|_| rng.percent(30));
        let start = if start == Start::AtFirst { start } else { Start::ByEdge { after } };
        let name = format!("c{at}");
        let copy = Thread { name, place: Place::NONE, main, start, copies: Copies::One };
        group.push(program.threads.push(copy));
    }
    if start != Start::AtFirst {
        start_all(rng, &mut program, &group);
    }
    if locked {
        lock_something(rng, &mut program);
    }
    validate(&program).is_empty().then_some(program)
}

/// Lets steps start the copies.
fn start_all(rng: &mut Rng, program: &mut Program, group: &[ThreadId]) {
    let main = program.threads[group[0]].main;
    let parameters = program.procedures[main].frame.parameters;
    let edges: Vec<_> = program.edges.ids().collect();
    for &copy in group {
        let edge = *rng.pick(&edges);
        if !matches!(program.edges[edge].action, Action::Skip | Action::Start(_)) {
            continue;
        }
        let value = |rng: &mut Rng| match rng.below(3) {
            0 => Expr::Choice,
            other => Expr::Constant(Literal::Bool(other == 1)),
        };
        let arguments = (0..parameters).map(|_| value(rng)).collect();
        let passing = program.passings.push(Passing { arguments, results: Vec::new() });
        program.edges[edge].action = Action::Start(copy);
        program.edges[edge].passing = Some(passing);
    }
}

/// Lets some steps take and free a lock.
fn lock_something(rng: &mut Rng, program: &mut Program) {
    let lock: LockId = program.locks.push(Lock::reentrant("m".to_owned(), Place::NONE));
    for at in program.edges.ids().collect::<Vec<_>>() {
        if program.edges[at].action == Action::Skip && rng.percent(50) {
            let acquires = rng.percent(50);
            let action = if acquires { Action::Acquire(lock) } else { Action::Release(lock) };
            program.edges[at].action = action;
        }
    }
}

/// What a level shows.
#[derive(PartialEq, Eq, Debug)]
struct Shown {
    states: BTreeSet<Valuation>,
    reached: bool,
    complete: bool,
}

/// Explores one level more; the run to the target is executed.
fn level(search: &mut dyn Search, program: &Program, target: &Target, limit: u32) -> Option<Shown> {
    let level = search.advance().ok()?;
    if let Some(run) = &level.reached {
        let question = Question::Reach(target.clone());
        let trace = replay(program, &question, run)
            .unwrap_or_else(|error| panic!("{error:?}\n{run:?}\n{}", text::print(program)));
        let needed = match search.measure() {
            Measure::Rounds => trace.rounds(),
            Measure::Contexts => trace.contexts(),
        };
        assert!(needed <= limit, "{needed} at level {limit}\n{}", text::print(program));
    }
    let states = search.states(usize::MAX).ok()?.into_iter().collect();
    Some(Shown { states, reached: level.reached.is_some(), complete: level.complete })
}

/// Compares a search that leaves something out with one that does not; whether something was found. If
/// permutations alone are left out and all copies run from the beginning, both end at the same bound;
/// otherwise the first one may end earlier.
fn compare<S: Search>(
    [ordered, plain]: &mut [S; 2],
    program: &Program,
    target: &Target,
    permutations: bool,
    mut orbits: impl FnMut(&mut S, &mut S),
) -> bool {
    let context = || format!("{target:?}\n{}", text::print(program));
    let groups = symmetry::copies(program, target);
    let late = |thread: &ThreadId| program.threads[*thread].start != Start::AtFirst;
    let from_the_beginning = !groups.iter().any(|group| group.threads.iter().any(late));
    for limit in 1..=LEVELS {
        // Sections may nest too deep, and so may acquisitions.
        let Some(all) = level(plain, program, target, limit) else { break };
        let few = level(ordered, program, target, limit);
        let few = few.unwrap_or_else(|| panic!("a limit at level {limit} {}", context()));
        assert_eq!(few.states, all.states, "level {limit} {}", context());
        assert_eq!(few.reached, all.reached, "level {limit} {}", context());
        if permutations && from_the_beginning || all.complete {
            assert_eq!(few.complete, all.complete, "level {limit} {}", context());
        }
        orbits(ordered, plain);
        if all.reached {
            return true;
        }
    }
    false
}

fn count(search: &impl Search, what: &str) -> u64 {
    let counts = search.statistics().counts;
    counts.into_iter().find(|(name, _)| *name == what).map_or(0, |(_, count)| count)
}

fn explicit<'p>(program: &'p Program, target: &Target, measure: Measure) -> ExplicitSearch<'p> {
    let stacks = StackChoice::Automatic;
    ExplicitSearch::new(program, target, measure, stacks, &Budget::new()).expect("it fits")
}

/// Nothing if too many atomic sections can be open.
fn symbolic(program: &Program, target: &Target, symmetry: bool) -> Option<SymbolicSearch> {
    let strategy = Strategy::Configurations;
    let options = SymbolicOptions { strategy, symmetry, ..SymbolicOptions::default() };
    let (measure, mode) = (Measure::Contexts, Mode::Lazy);
    SymbolicSearch::new(program, target, measure, mode, options, &Budget::new()).ok()
}

fn targets(rng: &mut Rng, program: &Program) -> Vec<Target> {
    let nodes: Vec<NodeId> = program.nodes.ids().collect();
    let mut threads = IdVec::filled(Position::Any, program.threads.len());
    if rng.percent(50) {
        let named = ThreadId::from_index(rng.below(program.threads.len()));
        threads[named] = Position::At(vec![*rng.pick(&nodes), *rng.pick(&nodes)]);
    }
    let globals = program.globals.ids().filter(|_| rng.percent(60)).collect::<Vec<_>>();
    let globals = globals.into_iter().map(|global| (global, i32::from(rng.percent(50)))).collect();
    vec![
        Target::Assertion,
        Target::Label(vec![*rng.pick(&nodes)]),
        Target::State(StatePattern { globals, locks: Vec::new(), threads }),
    ]
}

fn check(seed: u64, tally: &mut BTreeMap<&'static str, u64>) {
    let mut rng = Rng::new(seed);
    let mut add = |what: &'static str, by: u64| *tally.entry(what).or_default() += by;
    let locked = seed.is_multiple_of(3);
    let Some(program) = random_copies(&mut rng, locked) else {
        add("not valid", 1);
        return;
    };
    for target in targets(&mut rng, &program) {
        let groups = symmetry::copies(&program, &target);
        add("targets", 1);
        add("with interchangeable copies", u64::from(!groups.is_empty()));
        let reduced = |measure, symmetry| {
            explicit(&program, &target, measure).reduced(symmetry).expect("it fits")
        };
        let both = [true, false].map(|symmetry| reduced(Measure::Contexts, symmetry));
        let mut both = both;
        let found = compare(&mut both, &program, &target, true, |few, all| {
            let orbits = all.count_orbits().expect("there is no recursion") as u64;
            let kept = count(few, "configurations");
            assert_eq!(kept, orbits, "{target:?}\n{}", text::print(&program));
            add("configurations", count(all, "configurations"));
            add("orbits", orbits);
        });
        add("found", u64::from(found));
        for measure in [Measure::Rounds, Measure::Contexts] {
            let plain = explicit(&program, &target, measure);
            compare(&mut [reduced(measure, false), plain], &program, &target, false, |few, all| {
                add("without private steps", count(few, "configurations"));
                add("with private steps", count(all, "configurations"));
            });
        }
        let mut rounds = [true, false].map(|symmetry| reduced(Measure::Rounds, symmetry));
        compare(&mut rounds, &program, &target, true, |few, all| {
            assert_eq!(count(few, "configurations"), count(all, "configurations"));
        });
        if !locked {
            let both = [true, false].map(|symmetry| symbolic(&program, &target, symmetry));
            if let [Some(ordered), Some(plain)] = both {
                let mut both = [ordered, plain];
                assert_eq!(compare(&mut both, &program, &target, true, |_, _| {}), found);
                add("symbolic", 1);
            }
        }
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|value| value.parse().ok())
}

#[test]
fn copies_in_order_are_all_copies() {
    let programs = number("SELVEDGE_PROGRAMS").unwrap_or(60);
    let first = number("SELVEDGE_SEED").unwrap_or(1);
    let mut tally = BTreeMap::new();
    for seed in first..first + programs {
        check(seed, &mut tally);
    }
    println!("{tally:?}");
    let of = |what: &str| tally.get(what).copied().unwrap_or(0);
    assert!(of("with interchangeable copies") * 2 > of("targets"), "{tally:?}");
    assert!(of("orbits") * 5 < of("configurations") * 4, "{tally:?}");
    assert!(of("found") > 0, "{tally:?}");
}

/// A search as the command line makes it.
fn decide(
    program: &Program,
    kind: Kind,
    bound: Option<u32>,
    symmetry: bool,
) -> (Verdict<selvedge_program::Witness>, Option<Explored>) {
    let options = BoundedOptions {
        kind: Some(kind),
        measure: if bound.is_some() { Measure::Contexts } else { Measure::Rounds },
        limit: bound,
        visible: false,
        list: None,
        starts_per_site: None,
        max_nodes: None,
        symmetry,
    };
    let mut engine = Bounded::new(program, options, &Budget::new());
    let question = Question::Reach(Target::Assertion);
    let decision = engine.decide(&question, &mut |_| {}).expect("no contradiction");
    if let Verdict::Violation(witness) = &decision.verdict {
        replay(program, &question, witness)
            .expect("it is a run of the program that was asked about");
    }
    (decision.verdict, decision.explored)
}

#[test]
fn typed_programs_with_locks_have_the_same_answers() {
    let programs = number("SELVEDGE_PROGRAMS").unwrap_or(12);
    let first = number("SELVEDGE_SEED").unwrap_or(1);
    let mut compared = 0;
    for seed in first..first + programs {
        let mut rng = Rng::new(seed);
        let shape = TypedShape { threads: 2, statements: 2, disciplined: true, annotated: false };
        let mut program = random_typed(&mut rng, shape);
        let chosen = ThreadId::from_index(rng.below(program.threads.len()));
        let mut numbers = IdVec::filled(1, program.threads.len());
        numbers[chosen] = 2 + rng.below(2) as u32;
        program.threads[chosen].copies = Copies::Any;
        if !validate(&program).is_empty() {
            continue;
        }
        let program = instantiate(&program, &numbers);
        for kind in [Kind::Lazy, Kind::Explicit] {
            let [few, all] = [true, false].map(|one| decide(&program, kind, Some(4), one));
            let word = |verdict: &Verdict<_>| match verdict {
                Verdict::Safe => "safe".to_owned(),
                Verdict::Violation(_) => "violation".to_owned(),
                Verdict::Unknown(why) => why.to_string(),
            };
            assert_eq!(word(&few.0), word(&all.0), "seed {seed} {kind:?}");
            let bound = |explored: &Option<Explored>| {
                explored.as_ref().map(|one| (one.bound, one.levels.clone(), one.complete))
            };
            assert_eq!(bound(&few.1), bound(&all.1), "seed {seed} {kind:?}");
            compared += usize::from(!matches!(few.0, Verdict::Unknown(Unknown::Unsupported(_))));
        }
    }
    println!("{compared} compared");
    assert!(compared > 0);
}

fn read(text: &str) -> Program {
    let (program, problems) = text::parse(text);
    program.unwrap_or_else(|| panic!("{problems:?}"))
}

/// How many configurations there are, up to permutation and with copies told apart.
fn configurations(program: &Program, target: &Target) -> [u64; 2] {
    let search = |one| explicit(program, target, Measure::Contexts).reduced(one);
    let mut both = [true, false].map(|one| search(one).expect("it fits"));
    for search in &mut both {
        while !search.advance().expect("no limit is met").complete {}
    }
    [0, 1].map(|at| count(&both[at], "configurations"))
}

const STEPPING: &str =
    "procedure w nodes 3 entry 0 exit 2 { 0 -> 1 skip do x := x 1 -> 2 skip do x := !x }";

#[test]
fn copies_that_nobody_names_change_places() {
    let program = read(&format!(
        "program global x = F {STEPPING} thread A main w thread B main w thread C main w"
    ));
    // Each is in one of three places, ended among them; x is the parity of those that have.
    assert_eq!(configurations(&program, &Target::Assertion), [10, 27]);
    let mut threads = IdVec::filled(Position::Any, 3);
    threads[ThreadId::from_index(1)] = Position::Ended;
    let target = Target::State(StatePattern { globals: Vec::new(), locks: Vec::new(), threads });
    let groups = symmetry::copies(&program, &target);
    let free: Vec<Vec<ThreadId>> = groups.into_iter().map(|group| group.threads).collect();
    assert_eq!(free, [[0, 2].map(ThreadId::from_index).to_vec()], "who is asked for stays");
}

#[test]
fn recursion_tells_copies_apart() {
    let program = read(
        "program global x = F
         procedure w nodes 3 entry 0 exit 2 { 0 -> 1 call w 0 -> 1 skip 1 -> 2 skip do x := !x }
         thread A main w thread B main w",
    );
    assert!(symmetry::copies(&program, &Target::Assertion).is_empty());
}

#[test]
fn copies_that_wait_keep_their_names() {
    // If the first copy, which has moved, took the place of the second one, that could not be started.
    for (first, second) in [("A", "B"), ("B", "A")] {
        let program = read(&format!(
            "program global x = F global y = F
             procedure w nodes 4 entry 0 exit 3 {{
                 0 -> 1 skip do y, x := x, T 1 -> 2 skip when y 2 -> 3 assert !y }}
             thread M main m {{ procedure m nodes 4 entry 0 exit 3 {{
                 0 -> 1 start {first}
                 1 -> 2 skip when x
                 2 -> 3 start {second} }} }}
             thread A waits main w
             thread B waits main w"
        ));
        assert_eq!(symmetry::copies(&program, &Target::Assertion).len(), 1);
        for kind in [Kind::Lazy, Kind::Explicit] {
            let [few, all] = [true, false].map(|one| decide(&program, kind, Some(9), one));
            let bound = |explored: Option<Explored>| explored.map(|one| one.bound);
            assert!(matches!(few.0, Verdict::Violation(_)), "{kind:?}");
            assert!(matches!(all.0, Verdict::Violation(_)), "{kind:?}");
            assert_eq!(bound(few.1), bound(all.1), "{kind:?}");
        }
    }
}

#[test]
fn owners_of_locks_go_along() {
    // Whoever holds the lock may be any copy; only the owner frees it.
    let program = read(
        "program lock m global x = F
         procedure w nodes 4 entry 0 exit 3 { 0 -> 1 acquire m 1 -> 2 skip do x := !x 2 -> 3 release m }
         thread A main w thread B main w thread C main w",
    );
    // Outside there are two places; one copy may be at one of two places inside.
    assert_eq!(configurations(&program, &Target::Assertion), [4 + 2 * 3, 8 + 3 * 2 * 4]);
}

#[test]
fn a_driver_with_many_adders_is_small() {
    for (version, adders) in [(BluetoothVersion::Repaired, 16), (BluetoothVersion::Correct, 3)] {
        let program = selvedge_front_bool::parse(
            &bluetooth(version, adders, 1),
            &selvedge_front_bool::Options::default(),
        )
        .program;
        let program = program.expect("it is read");
        for kind in [Kind::Lazy, Kind::Explicit] {
            let (verdict, explored) = decide(&program, kind, None, true);
            let explored = explored.expect("it was searched");
            match version {
                BluetoothVersion::Repaired => {
                    assert!(matches!(verdict, Verdict::Violation(_)), "{kind:?}");
                    // Nothing was asked for, and there are many copies.
                    let bound = Bound { measure: Measure::Contexts, limit: 6 };
                    assert_eq!(explored.bound, bound, "{kind:?}");
                }
                _ => assert!(matches!(verdict, Verdict::Safe), "{kind:?}"),
            }
        }
    }
}
