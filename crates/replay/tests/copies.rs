//! How many copies of a thread decide a question: exhaustive search with one copy more of each finds
//! nothing else, on random programs with starts and joins.
//!
//! `SELVEDGE_PROGRAMS` sets the number of programs (default: a few seconds' worth), `SELVEDGE_SEED`
//! the first seed.

use selvedge_base::{Budget, Id, IdVec};
use selvedge_program::copies::{CopiesFor, Enough, enough, instantiate};
use selvedge_program::validate::validate;
use selvedge_program::{
    Action, Copies, Edge, IndexedSymbol, Ipa, LocationId, PATTERNS, PatternQuestion, Phase,
    Program, Question, ThreadId, Units, Verdict,
};
use selvedge_replay::Exhaustive;
use selvedge_testkit::Rng;
use selvedge_testkit::generate::{Shape, random_model, with_starts};
use selvedge_testkit::queries::{all_races, candidate_deadlocks, random_automaton, symbols};
use std::collections::{BTreeMap, BTreeSet};

/// A random program in which some threads, none of which is joined, have any number of copies.
fn random_program(rng: &mut Rng, shape: &Shape) -> Program {
    let model = random_model(rng, shape);
    let mut program = with_starts(rng, model).to_program();
    let threads: Vec<ThreadId> = program.threads.ids().collect();
    for thread in threads {
        let joined = program.edges.iter().any(|edge| edge.action == Action::Join(thread));
        if !joined && rng.percent(80) {
            program.threads[thread].copies = Copies::Any;
        }
    }
    program
}

/// The thread of the original program that each one is a copy of.
fn originals(program: &Program, number: &IdVec<ThreadId, u32>) -> Vec<ThreadId> {
    let copies = |thread: ThreadId| match program.threads[thread].copies {
        Copies::Any => number[thread] as usize,
        Copies::One => 1,
    };
    let all = program.threads.ids().flat_map(|thread| vec![thread; copies(thread)]);
    all.collect()
}

/// The questions about copies that are violated, in terms of the original threads.
fn violated(
    program: &Program,
    number: &IdVec<ThreadId, u32>,
    questions: impl Fn(&Program) -> Vec<Question>,
    original: impl Fn(&Question, &[ThreadId]) -> String,
) -> BTreeSet<String> {
    let instance = instantiate(program, number);
    assert_eq!(validate(&instance), []);
    let threads = originals(program, number);
    let mut engine = Exhaustive::new(&instance, 8, Budget::new());
    let violated = |question: &Question| matches!(engine.decide(question), Verdict::Violation(_));
    let mut all = questions(&instance);
    all.retain(violated);
    all.iter().map(|question| original(question, &threads)).collect()
}

/// The seeds of a test; the large run has more of them.
fn seeds_from(default: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let first = number("SELVEDGE_SEED").unwrap_or(0);
    first..first + number("SELVEDGE_PROGRAMS").unwrap_or(default)
}

fn compare(
    asked: CopiesFor,
    shape: &Shape,
    seeds: u64,
    questions: impl Fn(&Program) -> Vec<Question>,
    original: impl Fn(&Question, &[ThreadId]) -> String,
) {
    let (mut found, mut compared, mut more) = (0, 0, 0);
    for seed in seeds_from(seeds) {
        let program = random_program(&mut Rng::new(seed), shape);
        let Enough::Exactly(number) = enough(&program, asked) else { continue };
        if number.iter().sum::<u32>() > 4 {
            continue;
        }
        let larger = number.iter().map(|number| number + 1).collect();
        let few = violated(&program, &number, &questions, &original);
        let many = violated(&program, &larger, &questions, &original);
        let text = selvedge_program::text::print(&program);
        assert_eq!(few, many, "seed {seed}, {number:?}:\n{text}");
        compared += 1;
        found += usize::from(!few.is_empty());
        // With one copy of each something is missed now and then.
        let fewer: IdVec<ThreadId, u32> = number.iter().map(|_| 1).collect();
        more += usize::from(violated(&program, &fewer, &questions, &original) != few);
    }
    assert!(compared > 40 && found > 3 && more > 0, "{compared} {found} {more}");
}

const UNITS: Shape =
    Shape { processes: (1, 2), statements: 4, functions: 1, locks: 2, ..Shape::TINY };
const LOCKS: Shape =
    Shape { processes: (1, 2), statements: 6, functions: 1, locks: 3, ..Shape::CONTENDED };

/// Which original threads a question names.
fn named(threads: &[ThreadId], copies: &[ThreadId]) -> Vec<usize> {
    let mut named: Vec<usize> = copies.iter().map(|copy| threads[copy.index()].index()).collect();
    named.sort_unstable();
    named
}

#[test]
fn one_copy_more_finds_no_other_race() {
    compare(CopiesFor::Threads(2), &UNITS, 120, all_races, |question, threads| match question {
        Question::Race(race) => format!("{:?} {:?}", race.location, named(threads, &race.threads)),
        other => panic!("{other:?}"),
    });
}

#[test]
fn one_copy_more_finds_no_other_pattern() {
    let questions = |program: &Program| {
        let mut all = Vec::new();
        let locations: Vec<LocationId> = program.locations.ids().take(2).collect();
        for pattern in PATTERNS.iter().step_by(3) {
            let needed = pattern.locations();
            if needed > locations.len() {
                continue;
            }
            for unit_thread in program.threads.ids() {
                for other_thread in program.threads.ids().filter(|&one| one != unit_thread) {
                    all.push(Question::Pattern(PatternQuestion {
                        pattern,
                        units: Units::Exact,
                        unit_thread,
                        other_thread,
                        locations: locations[..needed].to_vec(),
                    }));
                }
            }
        }
        all
    };
    compare(CopiesFor::Threads(2), &UNITS, 120, questions, |question, threads| match question {
        Question::Pattern(pattern) => {
            let [a, b] =
                [pattern.unit_thread, pattern.other_thread].map(|one| threads[one.index()]);
            format!("{} {a:?} {b:?} {:?}", pattern.pattern.number, pattern.locations)
        }
        other => panic!("{other:?}"),
    });
}

#[test]
fn one_copy_more_finds_no_other_deadlock() {
    // With more copies there are longer cycles as well, but never the only ones.
    let questions = |program: &Program| candidate_deadlocks(program, 3);
    compare(CopiesFor::Deadlocks, &LOCKS, 120, questions, |_, _| "some".to_owned());
}

/// The automaton with other threads in the place of its own.
fn renamed(ipa: &Ipa, rename: impl Fn(ThreadId) -> Option<ThreadId>) -> Ipa {
    let symbol = |one: IndexedSymbol| Some(IndexedSymbol { thread: rename(one.thread)?, ..one });
    let phase = |phase: &Phase| Phase {
        name: phase.name.clone(),
        loops: phase.loops.iter().filter_map(|&one| symbol(one)).collect(),
        advance: symbol(phase.advance).expect("who takes part is renamed"),
    };
    Ipa { name: ipa.name.clone(), phases: ipa.phases.iter().map(phase).collect() }
}

/// Properties with up to three thread variables, which copies of the same thread may stand for. The
/// threads that are not named are those of `loop any`.
#[test]
fn one_copy_more_finds_no_other_property() {
    let (mut compared, mut violated, mut of_one, mut started) = (0, 0, 0, 0);
    for seed in seeds_from(220) {
        let rng = &mut Rng::new(seed);
        let program = random_program(rng, &UNITS);
        let variables = rng.between(2, 3) as u32;
        let Enough::Exactly(number) = enough(&program, CopiesFor::Threads(variables)) else {
            continue;
        };
        if number.iter().sum::<u32>() > 5 {
            continue;
        }
        let larger: IdVec<ThreadId, u32> = number.iter().map(|number| number + 1).collect();
        let (few, many) = (instantiate(&program, &number), instantiate(&program, &larger));
        let (from_few, from_many) = (originals(&program, &number), originals(&program, &larger));
        for _ in 0..3 {
            let Some(ipa) = random_automaton(&many, rng) else { continue };
            let own = ipa.participants();
            if own.len() > variables as usize {
                continue;
            }
            // Others may do anything at any time, as with `loop any`.
            let named = |thread: ThreadId| own.contains(&thread);
            let with_others = |mut ipa: Ipa, threads: usize, named: &dyn Fn(ThreadId) -> bool| {
                for phase in &mut ipa.phases {
                    phase.loops.retain(|one| named(one.thread));
                    for thread in (0..threads).map(ThreadId::from_index).filter(|&one| !named(one))
                    {
                        let all = symbols(&many).iter().flatten().copied().collect::<BTreeSet<_>>();
                        let loops = all.into_iter().map(|symbol| IndexedSymbol { thread, symbol });
                        phase.loops.extend(loops);
                    }
                }
                ipa
            };
            // The first copies of each thread stand for those that take part.
            let mut taken: BTreeSet<ThreadId> = BTreeSet::new();
            let mut of = BTreeMap::new();
            for &thread in &own {
                let original = from_many[thread.index()];
                let ids = (0..from_few.len()).map(ThreadId::from_index);
                let mut copies = ids.filter(|one| from_few[one.index()] == original);
                let copy = copies.find(|one| !taken.contains(one));
                let copy = copy.expect("there are as many copies as variables");
                taken.insert(copy);
                of.insert(thread, copy);
            }
            let smaller = renamed(&ipa, |thread| of.get(&thread).copied());
            let larger = with_others(ipa, from_many.len(), &named);
            let smaller = with_others(smaller, from_few.len(), &|one| taken.contains(&one));
            let decide = |program: &Program, ipa: &Ipa| {
                let mut engine = Exhaustive::new(program, 8, Budget::new());
                engine.decide(&Question::Automaton(ipa.clone())).map(|_| ())
            };
            let verdict = decide(&few, &smaller);
            let text = selvedge_program::text::print(&program);
            assert_eq!(verdict, decide(&many, &larger), "seed {seed}, {larger:?}:\n{text}");
            compared += 1;
            violated += usize::from(verdict == Verdict::Violation(()));
            let origins: BTreeSet<ThreadId> =
                own.iter().map(|one| from_many[one.index()]).collect();
            of_one += usize::from(origins.len() < own.len());
            let starts = |edge: &Edge| matches!(edge.action, Action::Start(_));
            let with_starts = program.edges.iter().any(starts);
            started += usize::from(with_starts && verdict == Verdict::Violation(()));
        }
    }
    assert!(compared > 150 && violated > 20, "{compared} compared, {violated} violated");
    assert!(of_one > 30 && started > 3, "{of_one} of copies of one thread, {started} with starts");
}

/// Two copies race behind a join, and a third one starts whom they join.
#[test]
fn a_copy_that_starts_others_counts() {
    use selvedge_testkit::source::Statement::{If, Join, Skip, Start, Write};
    use selvedge_testkit::source::{Function, Model, Process};
    let process = |body| Process { functions: vec![Function { locks: Vec::new(), body }] };
    let worker = process(vec![If(vec![Start(1)], vec![Join(1), Write(0)])]);
    let processes = vec![worker, process(vec![Skip])];
    let mut program = Model { locks: 0, locations: 1, processes }.to_program();
    program.threads[ThreadId::from_index(0)].copies = Copies::Any;
    let Enough::Exactly(number) = enough(&program, CopiesFor::Threads(2)) else {
        panic!("the number is known")
    };
    let races = |copies: u32| {
        let number: IdVec<ThreadId, u32> = [copies, 1].into_iter().collect();
        violated(&program, &number, all_races, |question, threads| match question {
            Question::Race(race) => format!("{:?}", named(threads, &race.threads)),
            other => panic!("{other:?}"),
        })
    };
    assert!(races(2).is_empty());
    assert_eq!(races(number[ThreadId::from_index(0)]), races(4));
    assert_eq!(races(4), BTreeSet::from(["[0, 0]".to_owned()]));
}
