//! Findings in programs in Java by their cause: one line for each, the pairs below it, in the order in which
//! they are worth reading. The sources are in `front-java/tests/causes`.

use selvedge_base::Budget;
use selvedge_findings::{Cause, CheckedFile, Finding, FindingKind};
use selvedge_library::CheckOptions;
use selvedge_library::file::Loaded;
use selvedge_library::java::{JavaClasses, JavaSettings};

const PROGRAMS: &[u8] = include_bytes!("../../front-java/tests/classes/causes.jar");
const WITHOUT_LINES: &[u8] =
    include_bytes!("../../front-java/tests/classes/causes-without-lines.jar");

fn check_in(bytes: &[u8], main: &str) -> CheckedFile {
    let mut classes = JavaClasses::default();
    classes.add("causes.jar", bytes, None, &Budget::new()).expect("no limit");
    let settings = JavaSettings { main: Some(main.to_owned()), ..JavaSettings::default() };
    let loaded = Loaded::java("causes.jar".to_owned(), classes, &settings, &Budget::new());
    assert!(loaded.complaints.is_empty(), "{:?}", loaded.complaints);
    let answer = loaded.check(&CheckOptions::default(), None, &Budget::new(), &mut |_, _, _| {});
    let answer = answer.expect("a program").expect("engines do not contradict the replayer");
    loaded.report_about(answer.checked, answer.about)
}

fn check(main: &str) -> Vec<Finding> {
    check_in(PROGRAMS, main).findings
}

fn cause(finding: &Finding) -> &Cause {
    finding.cause.as_deref().expect("findings in Java have a cause")
}

fn only(main: &str) -> Finding {
    let mut found = check(main);
    assert_eq!(
        found.len(),
        1,
        "{main}: {:?}",
        found.iter().map(|one| &cause(one).line).collect::<Vec<_>>()
    );
    found.remove(0)
}

#[test]
fn the_access_without_the_usual_lock_is_the_cause() {
    let found = only("LogBook");
    let cause = cause(&found);
    assert_eq!(
        cause.line,
        "`LogBook.lines`: 4 of 5 accesses hold `this`; line 28 in `LogBook.clear` does not"
    );
    assert_eq!((cause.rank, &cause.tags[..]), (1, &[][..]));
    // Races and atomicity violations are the pairs of one cause.
    let of = |kind| cause.pairs.iter().any(|pair| pair.kind == kind);
    assert!(of(FindingKind::Race) && of(FindingKind::Atomicity), "{:?}", cause.pairs);
    let mut all = cause.pairs.iter();
    assert!(all.all(|pair| pair.methods.contains(&"LogBook.clear".to_owned())));
}

#[test]
fn a_class_without_any_lock_is_one_finding() {
    let found = only("Inventory");
    let cause = cause(&found);
    assert_eq!(
        cause.line,
        "`Inventory` has no synchronisation at all: not meant to be shared? 3 fields, reached by \
         `Inventory.pack@67` and `Inventory.unpack@68` from line 53"
    );
    assert_eq!(cause.rank, 2);
    assert!(cause.pairs.len() >= 9, "{}", cause.pairs.len());
}

#[test]
fn who_only_looks_comes_later_and_values_of_arrays_last() {
    assert_eq!(cause(&only("Thermometer")).rank, 5);
    let halves = only("Halves");
    assert_eq!(
        (cause(&halves).rank, &cause(&halves).tags[..]),
        (7, &["array-index".to_owned()][..])
    );
    let spinning = only("Spinning");
    assert_eq!(cause(&spinning).tags, ["cas-loop", "lock-free"]);
    assert!(spinning.tags.contains(&"cas-loop".to_owned()));
    let once = only("Once");
    assert_eq!(cause(&once).rank, 7, "{:?}", cause(&once));
}

#[test]
fn a_lock_that_is_freed_too_early_is_the_cause() {
    let found = only("Cellar");
    assert_eq!(
        cause(&found).line,
        "`Cellar.bottles`: both accesses hold `this`, but `Cellar.take` frees it in the middle of its \
         work, between lines 153 and 157"
    );
    assert_eq!((found.kind, cause(&found).rank), (FindingKind::Atomicity, 4));
}

#[test]
fn different_locks_are_named() {
    let line = cause(&only("TwoKeys")).line.clone();
    assert!(line.starts_with("`TwoKeys.money`: 2 accesses, 1 under `"), "{line}");
}

#[test]
fn causes_are_told_apart_by_names_and_not_by_lines() {
    let fingerprint = |bytes: &[u8]| check_in(bytes, "LogBook").findings[0].fingerprint.clone();
    assert_eq!(fingerprint(PROGRAMS), fingerprint(WITHOUT_LINES));
    let file = check_in(WITHOUT_LINES, "LogBook");
    let line = &cause(&file.findings[0]).line;
    assert!(line.contains("byte ") && line.contains("`LogBook.clear`"), "{line}");
    let place = file.findings[0].places[0];
    assert!(file.program.located(place).is_some_and(|at| at.starts_with("LogBook.class+")));
}

#[test]
fn counters_that_are_only_looked_at_come_later() {
    let rank = |main: &str| check(main).iter().map(|one| cause(one).rank).min();
    assert_eq!((rank("Hits"), rank("Tickets")), (Some(5), Some(2)));
}

#[test]
fn what_is_taken_out_of_a_container_is_tagged() {
    let found = only("Belt");
    assert_eq!((cause(&found).rank, &cause(&found).tags[..]), (7, &["hand-over".to_owned()][..]));
    assert!(check("KeptParcel").iter().any(|one| cause(one).tags.is_empty()));
}

#[test]
fn reflection_is_named_whether_or_not_it_is_reached() {
    let open = check_in(PROGRAMS, "Mirror").open;
    let said = "the program uses reflection (java.lang.reflect.Method.invoke)";
    assert!(open.iter().any(|why| why == said), "{open:?}");
    let without = check_in(PROGRAMS, "NoMirror");
    assert!(without.open.is_empty() && without.findings.is_empty());
}

/// A fix was made in the models and asked about again.
#[test]
fn fixes_are_in_terms_of_java() {
    let fix = |main: &str| only(main).fix.map(|fix| fix.text);
    assert_eq!(fix("LogBook").as_deref(), Some("Hold the monitor of `this` in `LogBook.clear`."));
    assert_eq!(
        fix("Thermometer").as_deref(),
        Some("Hold the monitor of `this` in `Thermometer.getDegrees`.")
    );
    assert_eq!(fix("Cellar").as_deref(), Some("Hold the monitor of `this` in `Cellar.take`."));
    // What nobody guards has no lock that would be the usual one.
    assert_eq!((fix("Inventory"), fix("TwoKeys")), (None, None));
}
