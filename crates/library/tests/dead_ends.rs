//! Dead ends: wherever no thread can move and one has not ended, `check` has a finding, or says that it did
//! not ask. `SELVEDGE_PROGRAMS` and `SELVEDGE_SEED` set the number of programs of each shape and the first
//! seed; `cargo xtask differential dead-ends` runs the large version.

#![expect(clippy::print_stdout, reason = "the large run shows its counts")]

use selvedge_analysis::{Options, Prepared, answer};
use selvedge_base::Budget;
use selvedge_findings::{Checked, FindingKind};
use selvedge_library::check::check_goals;
use selvedge_library::file::Loaded;
use selvedge_library::load::Text;
use selvedge_library::{CheckOptions, Fixes, Goals};
use selvedge_program::{Obstacle, Program, Question, Verdict, text};
use selvedge_testkit::Rng;
use selvedge_testkit::channels::{ChannelShape, random_channel_program};
use selvedge_testkit::generate::{Shape, random_model, with_starts};
use selvedge_testkit::typed::{TypedShape, random_typed};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// What `check` asks about deadlocks and dead ends.
fn options(chosen: bool) -> CheckOptions {
    CheckOptions {
        kinds: vec![FindingKind::Deadlock, FindingKind::Stuck],
        chosen,
        fixes: Fixes::Skip,
        ..CheckOptions::default()
    }
}

fn load(name: &str, source: &str, options: &CheckOptions) -> Loaded {
    let mut loaded = Loaded::new(Text::new(name, source), true);
    loaded.prepare(options);
    loaded
}

fn check_text(name: &str, source: &str, chosen: bool) -> Checked {
    let options = options(chosen);
    let loaded = load(name, source, &options);
    let answer = loaded.check(&options, None, &Budget::new(), &mut |_, _, _| {});
    answer.expect("a program").expect("no contradiction").checked
}

/// The kinds of findings, and of what is not asked.
fn kinds(checked: &Checked) -> (Vec<FindingKind>, Vec<FindingKind>) {
    let found = checked.findings.iter().map(|finding| finding.kind);
    (found.collect(), checked.not_asked.clone())
}

fn unknown(checked: &Checked) -> usize {
    checked.tallies.iter().map(|(_, tally)| tally.unknown).sum()
}

const FLAGS: &str = "bool : a = false, b = false;
    process A { main { assume(b); a = true; } }
    process B { main { assume(a); b = true; } }";

/// The programs of the issue, which had exit code 0.
#[test]
fn dead_ends_of_eml_programs_are_findings() {
    let (stuck, none) = (vec![FindingKind::Stuck], Vec::new());
    let checked = check_text("flags.eml", FLAGS, false);
    assert_eq!(kinds(&checked), (stuck.clone(), none.clone()));
    let reason = "No thread can move: A waits until `b` holds; B waits until `a` holds";
    assert_eq!(checked.findings[0].reason, reason);
    // Nobody has moved, and all the same there is something to see.
    assert!(checked.findings[0].trace.steps.is_empty());
    assert_eq!(checked.findings[0].trace.next.len(), 2);
    let philosophers = check_text("philosophers.eml", &philosophers(3), false);
    assert_eq!(kinds(&philosophers), (stuck.clone(), none.clone()));
    let lost = include_str!("../../../examples/lost-wakeup.eml");
    let lost = check_text("lost-wakeup.eml", lost, false);
    assert_eq!(kinds(&lost), (stuck.clone(), none.clone()));
    for (what, source) in [
        (
            "a start too many",
            "process A { main { start W; start W; } } process W waits { main { } }",
        ),
        ("a join of nobody", "process A { main { join W; } } process W waits { main { } }"),
        (
            "a lock that its owner keeps",
            "lock : l; process A { main { acquire(l); } } process B { main { acquire(l); release(l); } }",
        ),
        ("a condition that is never true", "process A { main { assume(false); } }"),
        (
            "a local condition",
            "process A { main { int 0..1 : t = *; assume(t == 1); } } process B { main { } }",
        ),
        ("a choice among nothing", "process A { int 0..1 : t; main { t = 1; t = choose(t..0); } }"),
        (
            "a notification too early",
            "lock : l; process A { main { synchronized(l) { wait(l); } } }
             process B { main { synchronized(l) { notify(l); } } }",
        ),
    ] {
        let checked = check_text("a.eml", source, false);
        assert_eq!(kinds(&checked), (stuck.clone(), none.clone()), "{what}");
    }
}

/// Philosophers who take forks over channels.
fn philosophers(many: usize) -> String {
    let mut text = "chan : unused".to_owned();
    for at in 0..many {
        let _ = write!(text, ", take{at}, put{at}");
    }
    text += ";\n";
    for at in 0..many {
        let next = (at + 1) % many;
        let _ = writeln!(
            text,
            "process Fork{at} {{ main {{ while (*) {{ recv take{at}; recv put{at}; }} }} }}"
        );
        let _ = writeln!(
            text,
            "process P{at} {{ main {{ send take{at}; send take{next}; send put{next}; send put{at}; }} }}"
        );
    }
    text
}

/// A dead end in which threads wait for each other's locks is the deadlock that is found anyway.
#[test]
fn one_cause_is_one_finding() {
    let source = |first: &str, second: &str, third: &str| {
        format!(
            "lock : k, l; chan : c;
             process A {{ main {{ synchronized(k) {{ synchronized(l) {{ skip; }} }} {first} }} }}
             process B {{ main {{ synchronized(l) {{ synchronized(k) {{ skip; }} }} {second} }} }}
             {third}"
        )
    };
    let checked = check_text("a.eml", &source("send c;", "recv c;", ""), false);
    assert_eq!(kinds(&checked), (vec![FindingKind::Deadlock], Vec::new()));
    // A dead end of its own stays one.
    let other = "process C { main { recv c; } } process D { main { recv c; } }";
    let checked = check_text("a.eml", &source("send c;", "", other), false);
    assert!(kinds(&checked).0.contains(&FindingKind::Deadlock));
    let alone = "lock : k; chan : c;
        process A { main { synchronized(k) { send c; } } }
        process B { main { synchronized(k) { recv c; } } }";
    let checked = check_text("a.eml", alone, false);
    assert_eq!(kinds(&checked), (vec![FindingKind::Stuck], Vec::new()));
    let waits: Vec<Option<Obstacle>> =
        checked.findings[0].trace.next.iter().map(|step| step.waits_for).collect();
    assert!(
        matches!(waits[..], [Some(Obstacle::Receiver(_)), Some(Obstacle::Lock(..))]),
        "{waits:?}"
    );
}

/// Boolean programs choose a branch whose condition is false: what is left of the run does not count.
#[test]
fn assume_filters_runs_of_boolean_programs() {
    let source = include_str!("../../../corpus/bp/dekker.bp");
    let checked = check_text("dekker.bp", source, false);
    assert_eq!(kinds(&checked), (Vec::new(), vec![FindingKind::Stuck]));
    assert_eq!(unknown(&checked), 0);
    let chosen = check_text("dekker.bp", source, true);
    assert!(
        chosen.not_asked.is_empty()
            && chosen.tallies.iter().any(|(kind, _)| *kind == FindingKind::Stuck)
    );
}

/// What recursion leaves open is not asked, unless it is what the user wants to know.
#[test]
fn recursion_leaves_the_exit_code_as_it_is() {
    let source = "chan : c;
        process A { down { if (*) { down(); } } main { down(); send c; } }
        process B { main { recv c; } }";
    let checked = check_text("a.eml", source, false);
    assert_eq!((kinds(&checked), unknown(&checked)), ((Vec::new(), vec![FindingKind::Stuck]), 0));
    let chosen = check_text("a.eml", source, true);
    assert_eq!((kinds(&chosen), unknown(&chosen)), ((Vec::new(), Vec::new()), 1));
}

/// A limit leaves the question open.
#[test]
fn a_limit_is_a_reason_for_unknown() {
    let options = options(false);
    let loaded = load("philosophers.eml", &philosophers(4), &options);
    let budget = Budget::with_steps(3);
    let answer = loaded.check(&options, None, &budget, &mut |_, _, _| {});
    let checked = answer.expect("a program").expect("no contradiction").checked;
    assert!(unknown(&checked) > 0 && checked.not_asked.is_empty());
}

/// Eight forks in order: no dead end, and not much work.
#[test]
fn philosophers_with_eight_forks_take_little_work() {
    const FORKS: usize = 8;
    const WORK: u64 = 2_500_000;
    let source = |ordered: bool| {
        let locks: Vec<String> = (0..FORKS).map(|at| format!("f{at}")).collect();
        let mut text = format!("lock : {};\nint 0..3 : eaten = 0;\n", locks.join(", "));
        for at in 0..FORKS {
            let next = (at + 1) % FORKS;
            let (first, second) = if ordered { (at.min(next), at.max(next)) } else { (at, next) };
            let _ = writeln!(
                text,
                "process P{at} {{ main {{ while (*) {{ synchronized(f{first}) {{ synchronized(f{second}) \
                 {{ eaten = 1; }} }} }} }} }}"
            );
        }
        text
    };
    for ordered in [false, true] {
        let options = options(false);
        let loaded = load("philosophers.eml", &source(ordered), &options);
        let budget = Budget::with_steps(WORK);
        let answer = loaded.check(&options, None, &budget, &mut |_, _, _| {});
        let checked = answer.expect("a program").expect("no contradiction").checked;
        let found = if ordered { Vec::new() } else { vec![FindingKind::Stuck] };
        assert_eq!((kinds(&checked), unknown(&checked)), ((found, Vec::new()), 0));
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|value| value.parse().ok())
}

/// How much work a program may take in each of the two commands.
const WORK: u64 = 400_000;

/// Compares what `check` says with what `reach --deadlocks` says.
fn compare(program: &Program, checked: &Checked, context: &str, tally: &mut BTreeMap<&str, u64>) {
    let budget = Budget::with_steps(WORK);
    let prepared = Prepared::new(program);
    let options = Options::new(None);
    let report = answer(&prepared, &[Question::Stuck], &options, &budget, &mut |_| {});
    let reached = &report.expect("no contradiction").answers[0].verdict;
    let (found, not_asked) = kinds(checked);
    let mut count = |what: &'static str| *tally.entry(what).or_default() += 1;
    count("compared");
    match reached {
        Verdict::Unknown(_) => count("open"),
        Verdict::Safe => {
            count("without a dead end");
            assert!(!found.contains(&FindingKind::Stuck), "{context}");
        }
        Verdict::Violation(_) => {
            count("with a dead end");
            if found.contains(&FindingKind::Stuck) {
                count("found as a dead end");
            } else if found.contains(&FindingKind::Deadlock) {
                count("found as a deadlock");
            } else if unknown(checked) > 0 {
                count("unknown");
            } else {
                assert!(not_asked.contains(&FindingKind::Stuck), "check is silent: {context}");
                count("not asked");
            }
        }
    }
}

fn compare_program(program: &Program, context: &str, tally: &mut BTreeMap<&'static str, u64>) {
    let budget = Budget::with_steps(WORK);
    let goals = Goals::of_program(program);
    let checked = check_goals(program, &goals, &options(false), &budget, &mut |_, _, _| {});
    let context = format!("{context}\n{}", text::print(program));
    compare(program, &checked.expect("no contradiction"), &context, tally);
}

#[test]
fn check_is_never_silent_about_a_dead_end() {
    let programs = number("SELVEDGE_PROGRAMS").unwrap_or(150);
    // One program in 500 has a dead end that is not asked about; from here on there is one.
    let first = number("SELVEDGE_SEED").unwrap_or(1201);
    let mut tally = BTreeMap::new();
    for seed in first..first + programs {
        let shape = TypedShape {
            threads: 2 + usize::from(seed % 3 == 0),
            statements: if seed % 3 == 0 { 2 } else { 4 },
            disciplined: seed % 2 == 0,
            annotated: seed % 5 == 0,
        };
        let typed = random_typed(&mut Rng::new(seed), shape);
        compare_program(&typed, &format!("seed {seed} {shape:?}"), &mut tally);
        let shape = if seed % 2 == 0 { ChannelShape::SMALL } else { ChannelShape::DEEP };
        let channels = random_channel_program(&mut Rng::new(seed), &shape);
        compare_program(&channels, &format!("seed {seed} {shape:?}"), &mut tally);
        let rng = &mut Rng::new(seed);
        let model = random_model(rng, &Shape::CONTENDED);
        compare_program(&model.to_program(), &format!("seed {seed} locks"), &mut tally);
        compare_program(
            &with_starts(rng, model).to_program(),
            &format!("seed {seed} starts"),
            &mut tally,
        );
    }
    println!("{tally:?}");
    let of = |what: &str| tally.get(what).copied().unwrap_or(0);
    assert!(
        of("with a dead end") * 20 > of("compared")
            && of("without a dead end") * 20 > of("compared")
    );
    for what in ["found as a dead end", "found as a deadlock", "not asked"] {
        assert!(of(what) > 0, "{what}: {tally:?}");
    }
}

/// The same over all examples and corpora.
#[test]
fn check_is_not_silent_about_our_own_programs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut tally = BTreeMap::new();
    for folder in ["examples", "corpus/bp"] {
        // A pushdown system has its initial state in a text beside it.
        for entry in std::fs::read_dir(root.join(folder)).expect("a folder") {
            let path = entry.expect("an entry").path();
            let kind = path.extension().and_then(|kind| kind.to_str()).unwrap_or_default();
            if !["eml", "slv", "bp"].contains(&kind) {
                continue;
            }
            let name = path.display().to_string();
            let source = std::fs::read_to_string(&path).expect("a text");
            let options = options(false);
            let loaded = load(&name, &source, &options);
            let Some(program) = &loaded.program else { panic!("{name}: {:?}", loaded.complaints) };
            let budget = Budget::with_steps(WORK);
            let checked = loaded.check(&options, None, &budget, &mut |_, _, _| {});
            let checked = checked.expect("a program").expect("no contradiction").checked;
            compare(program, &checked, &name, &mut tally);
        }
    }
    println!("{tally:?}");
    assert!(tally["compared"] > 80 && tally["with a dead end"] > 20, "{tally:?}");
}
