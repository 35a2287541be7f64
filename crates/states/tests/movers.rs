//! Paper 002, the table of movers: one program per row. What a step is shows in where its thread can be
//! interrupted: a right mover goes on before an acquisition, a left mover goes on behind a write that
//! everybody sees. So each row is a *probe* for the one and a probe for the other, and the number of
//! stored states says where the thread stopped.

use selvedge_base::Budget;
use selvedge_program::{Program, text};
use selvedge_states::{Code, Goal, Reduction, SearchEnd, SearchOptions, StateSearch};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// What everybody sees: T writes it, and U reads it without a lock and blocks for ever.
const COMMIT: &str = "skip do shared := 1";
/// No left mover, and a right one.
const ACQUIRE: &str = "acquire k";

fn thread(name: &str, word: &str, steps: &[&str]) -> String {
    let mut lines = String::new();
    for (at, step) in steps.iter().enumerate() {
        _ = writeln!(lines, "{at} -> {} {step}", at + 1);
    }
    let last = steps.len();
    format!(
        "thread {name}{word} main main {{ procedure main locals t : 0..3 = 0 nodes {} entry 0 exit \
         {last} {{\n{lines}}} }}\n",
        last + 1
    )
}

/// A program in which T takes these steps.
fn program(row: &Row, steps: &[&str]) -> Program {
    let whole = format!(
        "program\nlock k\nlock m\nglobal shared : 0..2 = 0\n{}\n{}{}{}",
        row.declarations,
        thread("T", "", steps),
        thread("U", "", &["skip when shared = 2"]),
        row.others
    );
    let (program, problems) = text::parse(&whole);
    program.unwrap_or_else(|| panic!("{}: {problems:?}\n{whole}", row.name))
}

/// How many states are stored, without early ends.
fn stored(program: &Program) -> u64 {
    let code = Code::new(program, &BTreeSet::new());
    let options = SearchOptions {
        reduction: Reduction::Transactions,
        early_ends: false,
        ..SearchOptions::default()
    };
    let mut search = StateSearch::new(&code, Goal::Everything, options, Budget::new());
    assert!(matches!(search.run(), SearchEnd::Complete));
    search.counts().states
}

/// A row of the table.
struct Row {
    name: &'static str,
    declarations: &'static str,
    others: &'static str,
    /// What T does before.
    before: &'static [&'static str],
    step: &'static [&'static str],
    /// Whether the step is a right mover, and whether it is a left one; `None` where the probe says
    /// nothing.
    right: Option<bool>,
    left: Option<bool>,
}

const fn row(name: &'static str, step: &'static [&'static str], right: bool, left: bool) -> Row {
    Row {
        name,
        declarations: "",
        others: "",
        before: &[],
        step,
        right: Some(right),
        left: Some(left),
    }
}

/// Nobody else is there to be interrupted by, so the states are the stops of T: its start, its end, and
/// one more where the step is no mover.
fn check(row: &Row) {
    let stops = |steps: &[&str]| stored(&program(row, steps));
    if let Some(right) = row.right {
        let steps = [row.before, row.step, &[ACQUIRE]].concat();
        let before = stops(&[row.before, &[ACQUIRE]].concat());
        assert_eq!(stops(&steps) - before, u64::from(!right), "{}: right mover", row.name);
    }
    if let Some(left) = row.left {
        let before = stops(&[row.before, &[COMMIT]].concat());
        let steps = [row.before, &[COMMIT], row.step].concat();
        assert_eq!(stops(&steps) - before, u64::from(!left), "{}: left mover", row.name);
    }
}

#[test]
fn steps_of_locks() {
    let held: &[&str] = &["acquire m"];
    check(&row("first acquire", &["acquire m"], true, false));
    check(&Row { before: held, ..row("re-acquire", &["acquire m"], true, true) });
    check(&Row { before: held, ..row("outermost release", &["release m"], false, true) });
    let twice: &[&str] = &["acquire m", "acquire m"];
    check(&Row { before: twice, ..row("inner release", &["release m"], true, true) });
    check(&Row { before: held, ..row("notify", &["notify m"], true, true) });
    check(&Row { before: held, ..row("notifyAll", &["notifyAll m"], true, true) });
}

/// A wait is a left mover and no right one, what resumes is a right mover and no left one. With spurious
/// wakeups the thread can go on at once.
#[test]
fn steps_of_condition_variables() {
    let waits = Row {
        declarations: "spurious wakeups",
        before: &["acquire m"],
        right: None,
        ..row("wait", &["wait m"], false, true)
    };
    check(&waits);
    let stops = |steps: &[&str]| stored(&program(&waits, steps));
    // Between the two the thread is interrupted, since neither goes the other way.
    assert_eq!(stops(&["acquire m", "wait m", "resume m"]), 3);
    // Behind the second it is not.
    assert_eq!(stops(&["acquire m", "wait m", "resume m", "acquire k"]), 3);
}

#[test]
fn steps_of_threads() {
    let blocked = "thread V waits main main { procedure main nodes 2 entry 0 exit 1 { \
                   0 -> 1 skip when shared = 2 } }\n";
    check(&Row { others: blocked, ..row("start", &["start V"], false, true) });
    let two = "thread V waits main main { procedure main nodes 2 entry 0 exit 1 { \
               0 -> 1 skip when shared = 2 } }\n\
               thread W main main { procedure main nodes 3 entry 0 exit 2 { \
               0 -> 1 skip when shared = 2 1 -> 2 start V } }\n";
    check(&Row { others: two, ..row("start by several", &["start V"], false, false) });
    // The end is no right mover, or the last transaction of a thread were never seen; and it is a left
    // one, so there is no stop before it.
    let alone = row("end", &[], true, true);
    assert_eq!(stored(&program(&alone, &["acquire m"])), 2);
    assert_eq!(stored(&program(&alone, &[COMMIT])), 2);
    // V ends at once; then a join is enabled, for ever, and T goes on.
    let ends = "thread V main main { procedure main nodes 1 entry 0 exit 0 { } }\n";
    let join = Row { others: ends, left: None, ..row("enabled join", &["join V"], true, true) };
    let stops = |steps: &[&str]| stored(&program(&join, steps));
    // The start with and without V, and the end: no stop behind the join.
    assert_eq!(stops(&["join V", "acquire k"]), 3);
    // Where V has not ended the join blocks, and T stops before it.
    assert_eq!(stops(&[COMMIT, "join V"]), 5);
}

#[test]
fn steps_without_others() {
    check(&row("local step", &["skip do t := 1"], true, true));
    let f = "procedure f (n : 0..3) -> (0..3) nodes 2 entry 0 exit 1 { 0 -> 1 return n + 1 }\n";
    check(&Row { others: f, ..row("call and return", &["call f(t) into t"], true, true) });
}

#[test]
fn accesses() {
    let with = |name, declarations, others, before, step, both| Row {
        declarations,
        others,
        before,
        ..row(name, step, both, both)
    };
    let x = "global x : 0..2 = 0";
    let write: &[&str] = &["skip do x := 1"];
    let read: &[&str] = &["skip do t := x"];
    let reader = "thread V main main { procedure main nodes 2 entry 0 exit 1 { \
                  0 -> 1 skip when x = 2 } }\n";
    check(&with("access of one thread", x, "", &[], write, true));
    check(&with("read of what nobody writes", x, reader, &[], read, true));
    check(&with("write of what another one reads", x, reader, &[], write, false));
    // V reads it with m, then blocks; it has one state more, with and without T's step.
    let guarded = "thread V main main { procedure main nodes 3 entry 0 exit 2 { \
                   0 -> 1 skip when shared = 2 1 -> 2 skip when x = 2 } }\n";
    check(&with("write of what another one would read", x, guarded, &[], write, true));
    let annotated = "global x : 0..2 = 0 guarded by m";
    check(&with("access with its lock", annotated, "", &["acquire m"], write, true));
}

/// A section is one step: what acquires in it is no left mover, what releases no right mover.
#[test]
fn atomic_sections() {
    let local: &[&str] = &["begin atomic", "skip do t := 1", "end atomic"];
    check(&row("section of local steps", local, true, true));
    let acquires: &[&str] = &["begin atomic", "acquire m", "end atomic"];
    check(&row("section that acquires", acquires, true, false));
    let releases: &[&str] = &["begin atomic", "release m", "end atomic"];
    let held: &[&str] = &["acquire m"];
    check(&Row { before: held, ..row("section that releases", releases, false, true) });
    let both: &[&str] = &["begin atomic", "acquire m", "release m", "end atomic"];
    check(&row("section that does both", both, false, false));
    let seen: &[&str] = &["begin atomic", COMMIT, "end atomic"];
    check(&row("section that writes what everybody sees", seen, false, false));
}

/// A node where nothing is enabled ends a transaction, whatever the reason.
#[test]
fn blocked_steps() {
    let stops = |others: &'static str, steps: &[&str]| {
        stored(&program(&Row { others, ..row("blocked", &[], true, true) }, steps))
    };
    // A guard that is false, a lock that nobody can have again, a thread that is not started.
    assert_eq!(stops("", &[COMMIT, "skip when t = 1"]), 2);
    let never = "thread V waits main main { procedure main nodes 1 entry 0 exit 0 { } }\n";
    assert_eq!(stops(never, &[COMMIT, "join V"]), 2);
}
