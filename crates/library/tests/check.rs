//! `check`: what becomes one finding, what is said about it, and that fixes work.

use selvedge_analysis::{EngineKind, Options, Prepared, answer};
use selvedge_base::{Budget, Place};
use selvedge_findings::wrap::{Region, wrap};
use selvedge_findings::{Checked, FindingKind};
use selvedge_library::{CheckOptions, Fixes, check};
use selvedge_program::moment::races;
use selvedge_program::{Action, Lock, Program, Question, Successors, Units, Verdict};
use selvedge_testkit::Rng;
use selvedge_testkit::generate::{Shape, random_model};
use selvedge_testkit::queries::some_patterns;

fn parse(text: &str) -> Program {
    let parsed = selvedge_front_eml::parse(text);
    parsed.program.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics))
}

fn options(fixes: Fixes) -> CheckOptions {
    CheckOptions {
        kinds: FindingKind::ALL.to_vec(),
        patterns: (1..=32).collect(),
        units: Units::Exact,
        chosen: false,
        add_units: None,
        analysis: Options::new(Some(EngineKind::Tupling)),
        fixes,
    }
}

fn run(program: &Program) -> Checked {
    check(program, &options(Fixes::Look), &Budget::new(), &mut |_, _, _| {}).expect("no fault")
}

fn summary(checked: &Checked) -> Vec<String> {
    checked
        .findings
        .iter()
        .map(|finding| {
            let lines: Vec<String> =
                finding.places.iter().map(|place| place.line().unwrap_or(0).to_string()).collect();
            let fix = finding.fix.as_ref().map_or("no fix", |fix| &fix.text);
            format!("{} {} | {} | {fix}", finding.kind.rule(), lines.join(","), finding.reason)
        })
        .collect()
}

#[test]
fn the_stack_of_paper_000_has_two_units_that_break_each_other_and_a_fix_for_both() {
    let program = parse(include_str!("../../../examples/stack.eml"));
    let checked = run(&program);
    let kinds: Vec<FindingKind> = checked.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::Atomicity], "{:#?}", summary(&checked));
    for finding in &checked.findings {
        for tag in ["pattern-1", "pattern-2", "pattern-12"] {
            assert!(finding.tags.iter().any(|other| other == tag), "{:?}", finding.tags);
        }
        let fix = finding.fix.as_ref().expect("locking the stack works");
        let both = "Hold lock `stack` around the unit of T1 at line 26 and around the unit of T2 at \
                    line 45.";
        assert_eq!(fix.text, both);
    }
}

#[test]
fn crossed_locks_are_one_deadlock_with_one_more_lock_as_its_fix() {
    let program = parse(
        "lock : a, b; var : x;
process T1 { main { synchronized(a) { synchronized(b) { write x; } } } }
process T2 { main { synchronized(b) { synchronized(a) { write x; } } } }",
    );
    assert_eq!(
        summary(&run(&program)),
        [
            "deadlock 2,3 | T1 holds `a` and waits for `b`, T2 holds `b` and waits for `a`, so they wait \
             for each other | In T1, also hold `b` around the block that takes `a` at line 2."
        ]
    );
}

/// Lock `a` around T1's unit would cure it, but T1 takes `b` inside and T2 takes them in the other
/// order.
#[test]
fn a_fix_that_brings_a_deadlock_is_not_suggested() {
    let program = parse(
        "lock : a, b; var : x;
process T1 { main {
    unit { synchronized(b) { skip; } synchronized(a) { read x; } synchronized(a) { write x; } } } }
process T2 { main {
    unit { synchronized(a) { read x; write x; } }
    synchronized(b) { synchronized(a) { skip; } } } }",
    );
    let checked = run(&program);
    let fixes: Vec<&str> = checked
        .findings
        .iter()
        .filter_map(|finding| finding.fix.as_ref().map(|fix| fix.text.as_str()))
        .collect();
    assert_eq!(
        fixes,
        ["Hold lock `b` around the unit of T1 at line 3 and around the unit of T2 at line 5."],
        "{:#?}",
        summary(&checked)
    );
}

#[test]
fn an_unprotected_write_is_one_race_per_pair_of_statements() {
    let program = parse(
        "lock : a; var : x;
process T1 { main { synchronized(a) { write x; } read x; } }
process T2 { main { write x; } }",
    );
    assert_eq!(
        summary(&run(&program)),
        ["data-race 2,3 | T1 and T2 can write `x` at the same time: no lock keeps them apart \
          | Hold lock `a` at every access of T1 and T2 to `x`."]
    );
}

#[test]
fn a_program_without_mistakes_has_no_findings_and_says_what_was_asked() {
    let program = parse(include_str!("../../../examples/reentrant.eml"));
    let checked = run(&program);
    assert!(checked.findings.is_empty() && checked.open.is_empty());
    for (kind, tally) in &checked.tallies {
        assert_eq!(tally.safe, tally.questions, "{kind:?}");
    }
    assert_eq!(checked.tallies.len(), 3);
}

#[test]
fn fingerprints_survive_new_lines_and_tell_procedures_apart() {
    let text = include_str!("../../../examples/stack.eml");
    let moved = format!("// one\n// two\n{text}");
    let renamed = text.replace("popwrap", "take");
    let prints = |text: &str| {
        let findings = run(&parse(text)).findings;
        findings.into_iter().map(|finding| finding.fingerprint).collect::<Vec<_>>()
    };
    assert_eq!(prints(text), prints(&moved));
    assert_eq!(prints(text), prints(&renamed), "the accesses lie in size and pop");
    assert_ne!(prints(text), prints(&text.replace("size", "length")));
}

#[test]
fn findings_cover_exactly_the_violations() {
    let (mut findings, mut fixed) = (0, 0);
    for seed in 0..150 {
        let program = random_model(&mut Rng::new(seed), &Shape::TINY).to_program();
        let checked = run(&program);
        let violated: usize = checked.tallies.iter().map(|(_, tally)| tally.violated).sum();
        assert_eq!(violated == 0, checked.findings.is_empty(), "seed {seed}");
        assert!(checked.findings.len() <= violated, "seed {seed}");
        findings += checked.findings.len();
        fixed += checked.findings.iter().filter(|finding| finding.fix.is_some()).count();
    }
    assert!(findings > 200 && fixed > 50, "{findings} findings, {fixed} with a fix");
}

/// A changed program computes and passes what it did, and its labels stay where they are.
#[test]
fn wrapping_keeps_what_the_steps_do() {
    let text = "program
global g = F
lock m
set s { x }
thread A main main {
  procedure f(p) nodes 2 entry 0 exit 1 { 0 -> 1 skip }
  procedure main nodes 4 entry 0 exit 3 {
    0 -> 1 read volatile x do g := T @2:1
    1 -> 2 call f(g) @3:1
    2 -> 3 write x when g @4:1
  }
}
label END at A main 3
thread B main main { procedure main nodes 2 entry 0 exit 1 { 0 -> 1 write x @5:1 } }";
    let (program, complaints) = selvedge_program::text::parse(text);
    let program = program.unwrap_or_else(|| panic!("{complaints:?}"));
    let (lock, thread) =
        (program.locks.ids().next().unwrap(), program.threads.ids().next().unwrap());
    let location = program.locations.ids().next().unwrap();
    let changed = wrap(&program, &Region::location(&program, &[thread], location), lock);
    let steps = |program: &Program| {
        let own = program
            .edges
            .iter()
            .filter(|edge| !matches!(edge.action, Action::Acquire(_) | Action::Release(_)));
        own.map(|edge| (edge.action, edge.update, edge.passing, edge.volatile, edge.place))
            .collect::<Vec<_>>()
    };
    assert_eq!(changed.edges.len(), program.edges.len() + 4);
    assert_eq!(steps(&changed), steps(&program));
    for (old, new) in program.labels.iter().zip(&changed.labels) {
        assert_eq!(changed.nodes[new.node], program.nodes[old.node]);
    }
    assert!(selvedge_program::validate::validate(&changed).is_empty());
}

/// Who holds a lock that is not reentrant would wait for itself, so holding it once more is no fix.
#[test]
fn a_lock_that_is_not_reentrant_is_no_fix() {
    let eml = "lock : m; var : x;
process A { main { unit { synchronized(m) { read x; } synchronized(m) { write x; } } } }
process B { main { synchronized(m) { write x; } } }";
    let mut program = parse(eml);
    let texts = |program: &Program| {
        // Not every engine takes such locks.
        let options =
            CheckOptions { kinds: vec![FindingKind::Atomicity], ..CheckOptions::default() };
        let checked = check(program, &options, &Budget::new(), &mut |_, _, _| {}).expect("fine");
        assert!(!checked.findings.is_empty());
        let fixes = checked.findings.into_iter().filter_map(|finding| finding.fix);
        fixes.map(|fix| fix.text).collect::<Vec<_>>()
    };
    assert_eq!(texts(&program), ["Hold lock `m` around the unit of A at line 2."]);
    let lock = program.locks.ids().next().unwrap();
    program.locks[lock].reentrant = false;
    let fixes = texts(&program);
    assert!(fixes.iter().all(|fix| !fix.contains("`m`")), "{fixes:?}");
}

/// A lock that only one thread uses changes no answer: wrapping is transparent.
#[test]
fn wrapping_in_a_private_lock_changes_nothing() {
    let mut wrapped = 0;
    for seed in 0..400 {
        let mut rng = Rng::new(seed);
        let mut program = random_model(&mut rng, &Shape::SMALL).to_program();
        let lock = program.locks.push(Lock::reentrant("private".to_owned(), Place::NONE));
        let successors = Successors::new(&program);
        let edge = program.edges[*rng.pick(&program.edges.ids().collect::<Vec<_>>())].clone();
        let thread =
            program.procedures[program.nodes[edge.source]].owner.expect("nothing is shared");
        let region = match edge.action {
            Action::BeginUnit | Action::Acquire(_) => {
                Region::scope(&program, &successors, thread, edge.place, edge.action)
            }
            Action::Read(_) | Action::Write(_) => {
                Region::accesses(&program, thread, edge.place, edge.action)
            }
            _ => continue,
        };
        if region.is_empty() {
            continue;
        }
        wrapped += 1;
        let changed = wrap(&program, &region, lock);
        assert!(selvedge_program::validate::validate(&changed).is_empty(), "seed {seed}");
        let queries = some_patterns(&program, &mut rng, 12);
        assert_eq!(words(&program, &queries), words(&changed, &queries), "seed {seed}");
        let threads: Vec<_> = program.threads.ids().collect();
        let locations: Vec<_> = program.locations.ids().collect();
        let races: Vec<Question> =
            races(&threads, &locations).into_iter().map(Question::Race).collect();
        assert_eq!(race_words(&program, &races), race_words(&changed, &races), "seed {seed}");
    }
    assert!(wrapped > 100, "only {wrapped} regions");
}

fn words(program: &Program, queries: &[Question]) -> Vec<&'static str> {
    let options = Options::new(Some(EngineKind::Tupling));
    let report =
        answer(&Prepared::new(program), queries, &options, &Budget::new(), &mut |_| {}).unwrap();
    report.answers.iter().map(|answer| answer.verdict.word()).collect()
}

fn race_words(program: &Program, questions: &[Question]) -> Vec<&'static str> {
    let options = Options::new(Some(EngineKind::Tupling));
    let report =
        answer(&Prepared::new(program), questions, &options, &Budget::new(), &mut |_| {}).unwrap();
    report.answers.iter().map(|answer| Verdict::word(&answer.verdict)).collect()
}
