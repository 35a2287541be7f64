//! The Boolean programs and pushdown systems of `corpus/bp` and `examples`, and what is expected of
//! them. Expectations stand in the files, behind `//!` or `#`:
//!
//! ```text
//! //! expect: safe                             proved for every bound
//! //! expect: violation rounds=2 contexts=4    the least bounds that show it
//! ```
//!
//! The explicit engine answers where there is little data, in rounds and in contexts; the lazy one
//! searches everything for violations, in rounds, and never contradicts what is expected.

use selvedge_analysis::{EngineKind, Options, Prepared, answer};
use selvedge_base::Budget;
use selvedge_program::{Measure, Program, Question, Target, Unknown, Verdict};
use selvedge_testkit::complaints::assert_no_fault;
use std::path::{Path, PathBuf};

/// What a file expects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Expected {
    Safe,
    Violation { rounds: Option<u32>, contexts: Option<u32> },
}

impl Expected {
    fn least(self, measure: Measure) -> Option<u32> {
        match (self, measure) {
            (Self::Safe, _) => None,
            (Self::Violation { rounds, .. }, Measure::Rounds) => rounds,
            (Self::Violation { contexts, .. }, Measure::Contexts) => contexts,
        }
    }
}

struct Sample {
    name: String,
    program: Program,
    target: Target,
    expected: Expected,
}

/// The bits of data up to which the explicit engine is asked to answer for every bound.
const LITTLE_DATA: usize = 18;
/// The rounds up to which the lazy engine looks at what is safe.
const LAZY_ROUNDS: u32 = 2;

#[test]
fn violations_are_found_with_the_least_bound() {
    let mut seen = 0;
    for sample in samples() {
        for engine in [EngineKind::Lazy, EngineKind::Explicit] {
            for measure in [Measure::Rounds, Measure::Contexts] {
                let Some(least) = sample.expected.least(measure) else { continue };
                if engine == EngineKind::Lazy && measure == Measure::Contexts
                    || engine == EngineKind::Explicit && !has_little_data(&sample.program)
                {
                    continue;
                }
                let (verdict, limit) = ask(&sample, engine, measure, None);
                let Verdict::Violation(trace) = verdict else {
                    panic!("{}: {}: no violation", sample.name, engine.name())
                };
                let what = format!("{}: {}: {}", sample.name, engine.name(), measure.word());
                assert_eq!(limit, least, "{what}");
                let needed = match measure {
                    Measure::Rounds => trace.rounds(),
                    Measure::Contexts => trace.contexts(),
                };
                assert_eq!(needed, least, "{what} of the run");
                seen += 1;
            }
        }
    }
    assert!(seen > 40, "{seen} questions");
}

#[test]
fn safe_programs_are_proved_and_nothing_is_found_in_them() {
    let mut proved = 0;
    for sample in samples().into_iter().filter(|sample| sample.expected == Expected::Safe) {
        let what = |engine: EngineKind| format!("{}: {}", sample.name, engine.name());
        if has_little_data(&sample.program) {
            for measure in [Measure::Rounds, Measure::Contexts] {
                let (verdict, _) = ask(&sample, EngineKind::Explicit, measure, None);
                assert_eq!(verdict, Verdict::Safe, "{}", what(EngineKind::Explicit));
                proved += 1;
            }
        }
        let (verdict, _) = ask(&sample, EngineKind::Lazy, Measure::Rounds, Some(LAZY_ROUNDS));
        let clean = matches!(verdict, Verdict::Safe | Verdict::Unknown(Unknown::Within(_)));
        assert!(clean, "{}: {verdict:?}", what(EngineKind::Lazy));
    }
    assert!(proved > 20, "{proved} proofs");
}

/// Stacks grow without bound in two systems written here, and in the published ones if these are
/// there. The search by decision diagrams comes to no end on such; the default answers with few steps
/// of work, each of a microsecond at most.
#[test]
fn recursive_pushdown_systems_are_answered_at_once_by_default() {
    const FEW_STEPS: u64 = 20_000;
    let in_turns = "2\nPDA 0 1\n1 0 -> 0 0\n1 0 -> 0 0 1\n1 0 -> 0 1\n1 1 -> 0 -\n\
                    PDA 0 1\n0 0 -> 1 0 1\n0 0 -> 1 1\n0 1 -> 1 -\n";
    let alone = "2\nPDA 0 1\n0 0 -> 0 0 1\n0 0 -> 1 1\n1 1 -> 1 -\n\
                 PDA 0 1\n1 0 -> 0 1 0\n0 1 -> 1 1\n1 1 -> 0 -\n";
    let mut systems = vec![
        ("in turns".to_owned(), in_turns.to_owned(), "1|0,0".to_owned()),
        ("alone".to_owned(), alone.to_owned(), "0|0,0".to_owned()),
    ];
    let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/benchmarks/cuba");
    for name in ["06_K-Indcution/k-induction", "converge-11", "08_Stefan-1/stefan-4"] {
        let read =
            |ending: &str| std::fs::read_to_string(published.join(format!("{name}.{ending}")));
        if let (Ok(pds), Ok(init)) = (read("pds"), read("init")) {
            systems.push((name.to_owned(), pds, init));
        }
    }
    for (name, pds, init) in systems {
        let parsed = selvedge_front_pds::parse(&pds, Some(&init), None).expect("it is a system");
        let budget = Budget::with_steps(FEW_STEPS);
        let prepared = Prepared::new(&parsed.program);
        let options = Options { measure: Measure::Contexts, ..Options::new(None) };
        let report = answer(&prepared, &[Question::States], &options, &budget, &mut |_| {});
        let mut report = report.expect("no engine contradicts itself");
        assert_no_fault(&report.faults);
        let answer = report.answers.remove(0);
        assert_eq!((answer.verdict, answer.engine), (Verdict::Safe, "explicit"), "{name}");
        assert!(budget.polls() < FEW_STEPS, "{name}: {} steps", budget.polls());
    }
}

/// A Boolean program that counts down from `2^bits - 1` by recursion, with the number in the
/// parameters, and fails at the end.
fn countdown(bits: usize) -> String {
    let list = |one: &dyn Fn(usize) -> String, between: &str| {
        (0..bits).map(one).collect::<Vec<String>>().join(between)
    };
    let one_less = |at: usize| {
        let lower: Vec<String> = (0..at).map(|at| format!("a{at}")).collect();
        if at == 0 { "!a0".to_owned() } else { format!("(({}) = a{at})", lower.join(" | ")) }
    };
    let (name, one) = (|at: usize| format!("a{at}"), |_: usize| "T".to_owned());
    format!(
        "decl g;
         void main() begin g := F; down({}); assert(g); end
         void down({}) begin if ({}) then down({}); g := !g; else g := T; fi end",
        list(&one, ", "),
        list(&name, ", "),
        list(&name, " | "),
        list(&one_less, ", "),
    )
}

/// The replayer is done in time linear in the steps, however deep the recursion: with a copy of the
/// stack at every step it would take minutes.
#[test]
fn a_run_of_deep_recursion_is_replayed() {
    let bits = 15;
    let options = selvedge_front_bool::Options::default();
    let parsed = selvedge_front_bool::parse(&countdown(bits), &options);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let sample = Sample {
        name: "countdown".to_owned(),
        program: parsed.program.expect("it is a program"),
        target: Target::Assertion,
        expected: Expected::Violation { rounds: Some(1), contexts: Some(1) },
    };
    let (verdict, _) = ask(&sample, EngineKind::Explicit, Measure::Rounds, None);
    let Verdict::Violation(trace) = verdict else { panic!("{verdict:?}") };
    assert!(trace.steps.len() > 3 << bits, "{} steps", trace.steps.len());
}

fn ask(
    sample: &Sample,
    engine: EngineKind,
    measure: Measure,
    limit: Option<u32>,
) -> (Verdict<Box<selvedge_program::Trace>>, u32) {
    let options = Options { measure, limit, ..Options::new(Some(engine)) };
    let questions = [Question::Reach(sample.target.clone())];
    let prepared = Prepared::new(&sample.program);
    let mut report = answer(&prepared, &questions, &options, &Budget::new(), &mut |_| {})
        .unwrap_or_else(|error| panic!("{}: {error}", sample.name));
    assert_no_fault(&report.faults);
    let answer = report.answers.remove(0);
    (answer.verdict, answer.explored.map_or(0, |explored| explored.bound.limit))
}

/// Whether the explicit engine answers at once.
fn has_little_data(program: &Program) -> bool {
    let locals = program.procedures.iter().map(|procedure| procedure.frame.locals.len());
    let threads = program.threads.len();
    program.globals.len() + locals.max().unwrap_or(0) <= LITTLE_DATA && threads <= 5
}

fn samples() -> Vec<Sample> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files: Vec<PathBuf> = [root.join("corpus/bp"), root.join("examples")]
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).expect("the corpus is there"))
        .map(|entry| entry.expect("a readable folder").path())
        .collect();
    files.sort();
    let samples: Vec<Sample> = files.iter().filter_map(|file| sample(file)).collect();
    assert!(samples.len() >= 40, "the corpus is there");
    samples
}

/// The sample in a file, if it is a Boolean program or a pushdown system.
fn sample(file: &Path) -> Option<Sample> {
    let read = |extension: &str| std::fs::read_to_string(file.with_extension(extension)).ok();
    let (text, program, target) = match file.extension()?.to_str()? {
        "bp" => {
            let text = read("bp")?;
            let parsed =
                selvedge_front_bool::parse(&text, &selvedge_front_bool::Options::default());
            assert!(parsed.diagnostics.is_empty(), "{}: {:?}", file.display(), parsed.diagnostics);
            (text, parsed.program?, Target::Assertion)
        }
        "pds" => {
            let text = read("pds")?;
            let (init, spec) = (read("init")?, read("spec")?);
            let parsed = selvedge_front_pds::parse(&text, Some(&init), Some(&spec))
                .unwrap_or_else(|complaints| panic!("{}: {complaints:?}", file.display()));
            (text, parsed.program, parsed.target?)
        }
        _ => return None,
    };
    let expected = text
        .lines()
        .find_map(|line| line.trim_start_matches(['/', '!', '#', ' ']).strip_prefix("expect: "))
        .and_then(expectation)
        .unwrap_or_else(|| panic!("{} expects nothing", file.display()));
    let name = file.file_name()?.to_string_lossy().into_owned();
    Some(Sample { name, program, target, expected })
}

fn expectation(text: &str) -> Option<Expected> {
    let mut words = text.split_whitespace();
    match words.next()? {
        "safe" => words.next().is_none().then_some(Expected::Safe),
        "violation" => {
            let (mut rounds, mut contexts) = (None, None);
            for word in words {
                let (measure, number) = word.split_once('=')?;
                let least = match measure {
                    "rounds" => &mut rounds,
                    "contexts" => &mut contexts,
                    _ => return None,
                };
                *least = Some(number.parse().ok()?);
            }
            (rounds.is_some() || contexts.is_some())
                .then_some(Expected::Violation { rounds, contexts })
        }
        _ => None,
    }
}
