//! What the other commands ask, asked as formulas: on all examples, and on random programs.

use selvedge_analysis::{EngineKind, Options, Prepared, answer, answer_deadlocks};
use selvedge_base::Budget;
use selvedge_program::{
    Action, Deed, Feature, Formula, IndexedSymbol, Ipa, Observable, Phase, Program, Proposition,
    Question, Race, TemporalQuestion, ThreadId, Verdict,
};
use selvedge_testkit::Rng;
use selvedge_testkit::complaints::assert_no_fault;
use selvedge_testkit::generate::{Shape, random_model};
use selvedge_testkit::queries::all_races;
use std::collections::BTreeSet;
use std::path::Path;

fn some(formula: Formula) -> Question {
    Question::Temporal(TemporalQuestion::some(formula))
}

/// Whether a run was found; `None` if that is open.
fn found(program: &Program, question: Question, engine: Option<EngineKind>) -> Option<bool> {
    let options = Options::new(engine);
    let prepared = Prepared::new(program);
    let budget = Budget::with_steps(20_000_000);
    let report = answer(&prepared, &[question], &options, &budget, &mut |_| {});
    let mut report = report.expect("every run replays");
    assert_no_fault(&report.faults);
    match report.answers.remove(0).verdict {
        Verdict::Violation(_) => Some(true),
        Verdict::Safe => Some(false),
        Verdict::Unknown(_) => None,
    }
}

fn race_as_formula(race: &Race) -> Question {
    let about =
        |at: usize, deed: Deed| Formula::Proposition(Proposition::About(race.threads[at], deed));
    let (read, write) = (Deed::Read(race.location), Deed::Write(race.location));
    let pair = |one: Deed, other: Deed| Formula::and(about(0, one), about(1, other));
    let any = Formula::or(pair(write, write), Formula::or(pair(write, read), pair(read, write)));
    some(Formula::finally(any))
}

/// The examples that are programs of events: without values, channels, copies and volatile accesses.
fn examples() -> Vec<(String, Program)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "eml"))
        .collect();
    names.sort();
    let mut found = Vec::new();
    for path in names {
        let text = std::fs::read_to_string(&path).expect("a text");
        let program = selvedge_front_eml::parse(&text).program;
        let program = program.unwrap_or_else(|| panic!("{} is an example", path.display()));
        let beyond = [
            Feature::Values,
            Feature::Channels,
            Feature::AnyCopies,
            Feature::AtomicSections,
            Feature::Volatile,
            Feature::Monitors,
            Feature::Checks,
        ];
        if !beyond.iter().any(|&feature| program.features().contains(feature)) {
            found.push((path.display().to_string(), program));
        }
    }
    found
}

#[test]
fn races_of_examples_are_formulas() {
    let mut counts = [0; 3];
    for (name, program) in examples() {
        for race in all_races(&program) {
            let Question::Race(asked) = &race else { continue };
            let formula = race_as_formula(asked);
            match (found(&program, race.clone(), None), found(&program, formula, None)) {
                (Some(race), Some(formula)) => {
                    assert_eq!(race, formula, "{name}: {asked:?}");
                    counts[usize::from(race)] += 1;
                }
                _ => counts[2] += 1,
            }
        }
    }
    assert!(counts[0] > 10 && counts[1] > 2 && counts[2] * 5 < counts[0] + counts[1], "{counts:?}");
}

/// Whether there are two threads, and all that they do with locks is `synchronized`: every lock is reentrant
/// and nested, and nobody waits for anything else.
fn is_synchronized_only(program: &Program) -> bool {
    let waits = |action: Action| {
        matches!(
            action,
            Action::Start(_)
                | Action::Join(_)
                | Action::Wait(_)
                | Action::Send(_)
                | Action::Recv(_)
        )
    };
    program.threads.len() == 2
        && program.locks.iter().all(|lock| lock.reentrant)
        && !program.edges.iter().any(|edge| waits(edge.action))
}

fn has_lock_cycle(program: &Program) -> Option<bool> {
    let threads: Vec<ThreadId> = program.threads.ids().collect();
    let options = Options::new(None);
    let prepared = Prepared::new(program);
    let budget = Budget::new();
    let report = answer_deadlocks(&prepared, &threads, Vec::new(), &options, &budget, &mut |_| {});
    let report = report.expect("every run replays");
    assert_no_fault(&report.report.faults);
    let verdicts = || report.report.answers.iter().map(|answer| &answer.verdict);
    let open = report.unasked.is_some() || verdicts().any(|one| matches!(one, Verdict::Unknown(_)));
    let cycle = verdicts().any(|one| matches!(one, Verdict::Violation(_)));
    (cycle || !open).then_some(cycle)
}

#[test]
fn deadlocks_of_two_threads_are_formulas() {
    let deadlock = || some(Formula::finally(Formula::Proposition(Proposition::Deadlock)));
    let mut counts = [0; 2];
    let two = Shape { processes: (2, 2), ..Shape::CONTENDED };
    let random = (0..40)
        .map(|seed| (format!("seed {seed}"), random_model(&mut Rng::new(seed), &two).to_program()));
    for (name, program) in examples().into_iter().chain(random) {
        if !is_synchronized_only(&program) {
            continue;
        }
        let (Some(cycle), Some(formula)) =
            (has_lock_cycle(&program), found(&program, deadlock(), Some(EngineKind::Tupling)))
        else {
            continue;
        };
        assert_eq!(cycle, formula, "{name}");
        counts[usize::from(cycle)] += 1;
    }
    assert!(counts.iter().all(|&count| count > 5), "{counts:?}");
}

/// An automaton that lets everything happen between its transitions is a chain of steps.
#[test]
fn automata_that_let_everything_pass_are_chains_of_steps() {
    let mut counts = [0; 2];
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let program = random_model(&mut rng, &Shape::SMALL).to_program();
        let threads: Vec<ThreadId> = program.threads.ids().collect();
        let mut symbols =
            vec![(Observable::BeginUnit, Deed::Begin), (Observable::EndUnit, Deed::End)];
        for location in program.locations.ids() {
            symbols.push((Observable::Read(location), Deed::Read(location)));
            symbols.push((Observable::Write(location), Deed::Write(location)));
        }
        let loops: BTreeSet<IndexedSymbol> = threads
            .iter()
            .flat_map(|&thread| {
                symbols.iter().map(move |&(symbol, _)| IndexedSymbol { thread, symbol })
            })
            .collect();
        let steps: Vec<(ThreadId, (Observable, Deed))> =
            (0..rng.between(1, 3)).map(|_| (*rng.pick(&threads), *rng.pick(&symbols))).collect();
        let phases = steps.iter().enumerate().map(|(at, &(thread, (symbol, _)))| Phase {
            name: format!("q{at}"),
            loops: loops.clone(),
            advance: IndexedSymbol { thread, symbol },
        });
        let automaton = Ipa { name: "any".to_owned(), phases: phases.collect() };
        let formula =
            steps.iter().rev().fold(Formula::Constant(true), |rest, &(thread, (_, deed))| {
                let takes = Formula::Proposition(Proposition::Takes(thread, Some(deed)));
                Formula::finally(Formula::and(takes, Formula::next(rest)))
            });
        let engine = Some(EngineKind::Tupling);
        let expected = found(&program, Question::Automaton(automaton), engine);
        assert_eq!(found(&program, some(formula), engine), expected, "seed {seed}: {steps:?}");
        counts[usize::from(expected == Some(true))] += 1;
    }
    assert!(counts.iter().all(|&count| count > 5), "{counts:?}");
}
