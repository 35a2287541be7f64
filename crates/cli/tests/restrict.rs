//! `--restrict`: verdicts, what the reports say, the cache, wrong uses.

mod common;

use common::{root, run, run_in, run_with_input, scratch};
use std::path::{Path, PathBuf};

const JOB: &str = "examples/job.eml";
const ONCE: &str = "Worker=examples/no-retry.nwa";

fn temporary(name: &str, text: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("a writable folder");
    path.to_str().expect("a plain path").to_owned()
}

#[test]
fn a_restriction_removes_what_the_automaton_cannot_read() {
    for engine in ["tupling", "tupling-bdd", "exhaustive"] {
        let free = run(&["atomicity", JOB, "--engine", engine, "--no-witness"]);
        assert_eq!(free.code, Some(1), "{engine}: {}", free.stdout);
        let restricted = run(&["atomicity", JOB, "--restrict", ONCE, "--engine", engine]);
        // The search cannot follow the layers to their end.
        let expected = if engine == "exhaustive" { 3 } else { 0 };
        assert_eq!(restricted.code, Some(expected), "{engine}: {}", restricted.stdout);
        let said =
            "restricted: only those runs of Worker count that examples/no-retry.nwa can read";
        assert!(restricted.stdout.contains(said), "{}", restricted.stdout);
    }
    let race = run(&["race", JOB, "--restrict", ONCE, "--no-witness"]);
    assert_eq!(race.code, Some(1), "the first look races: {}", race.stdout);
    assert!(race.stdout.contains("restricted: "), "{}", race.stdout);
}

#[test]
fn races_and_deadlocks_are_restricted_too() {
    let never = temporary(
        "never.nwa",
        "Q0: s Delta_i: { (s, \"read busy\", -), (s, *, s) } \
        Delta_c: { (s, *, s) } Delta_r: { (s, s, *, s) }",
    );
    let race = run(&["race", JOB, "--restrict", &format!("Worker={never}")]);
    assert_eq!(race.code, Some(0), "{}", race.stdout);
    let locks = "lock : a, b; process S { main { synchronized(a) { synchronized(b) {} } } }
        process T { main { if (*) { synchronized(b) { synchronized(a) {} } } else \
        { synchronized(a) { synchronized(b) {} } } } }";
    let dead = run_with_input(&["deadlock", "-", "--no-witness"], locks.as_bytes());
    assert_eq!(dead.code, Some(1), "{}", dead.stdout);
    let order = temporary(
        "order.nwa",
        "Q0: free Delta_i: { (free, \"acquire a\", a), (free, \"acquire b\", -), \
         (free, *, free), (a, \"release a\", free), (a, *, a) } \
         Delta_r: { (free, free, *, free) }",
    );
    let restrict = format!("T={order}");
    let safe = run_with_input(&["deadlock", "-", "--restrict", &restrict], locks.as_bytes());
    assert_eq!(safe.code, Some(0), "{}{}", safe.stdout, safe.stderr);
    // A path of any length may break the line.
    let words: Vec<&str> = safe.stdout.split_whitespace().collect();
    assert!(words.join(" ").contains("order.nwa can read safe: "), "{}", safe.stdout);
}

/// A thread whose automaton cannot read that it receives is not ready, so nobody can send to it.
#[test]
fn who_may_not_receive_is_not_ready() {
    let program = "chan : a; var : x;
        process S { main { send a; write x; } } process T { main { recv a; write x; } }";
    let free = run_with_input(&["race", "-", "--no-witness"], program.as_bytes());
    assert_eq!(free.code, Some(1), "{}", free.stdout);
    let deaf = temporary(
        "deaf.nwa",
        "Q0: s Delta_i: { (s, \"recv a\", -), (s, *, s) } Delta_r: { (s, s, *, s) }",
    );
    let restrict = format!("T={deaf}");
    let safe = run_with_input(&["race", "-", "--restrict", &restrict], program.as_bytes());
    assert_eq!(safe.code, Some(0), "{}{}", safe.stdout, safe.stderr);
    let mute = temporary(
        "mute.nwa",
        "Q0: s Delta_i: { (s, \"send a\", -), (s, *, s) } Delta_r: { (s, s, *, s) }",
    );
    let restrict = format!("S={mute}");
    let safe = run_with_input(&["race", "-", "--restrict", &restrict], program.as_bytes());
    assert_eq!(safe.code, Some(0), "{}{}", safe.stdout, safe.stderr);
}

#[test]
fn every_report_says_that_a_restriction_was_in_force() {
    let json = run(&["atomicity", JOB, "--restrict", ONCE, "--format", "json"]);
    let entry = r#""restrictions":[{"thread":"Worker","automaton":"examples/no-retry.nwa"}]"#;
    assert!(json.stdout.contains(entry), "{}", json.stdout);
    let free = run(&["atomicity", JOB, "--format", "json"]);
    assert!(!free.stdout.contains("restrictions"), "{}", free.stdout);
    let page = temporary("restricted.html", "");
    let made = run(&["check", JOB, "--no-cache", "--restrict", ONCE, "--html", &page]);
    assert_eq!(made.code, Some(1), "the race is there: {}", made.stdout);
    assert!(made.stdout.contains("restricted: examples/job.eml: only those"), "{}", made.stdout);
    assert!(made.stdout.contains("1 finding (1 data race)"), "{}", made.stdout);
    let page = std::fs::read_to_string(page).expect("it was written");
    assert!(page.contains("Restricted: only those runs of Worker count"), "no word of it");
    let json = run(&["check", JOB, "--no-cache", "--restrict", ONCE, "--format", "json"]);
    assert!(json.stdout.contains(entry), "{}", json.stdout);
}

/// The same model has other answers under another automaton, or under none.
#[test]
fn the_cache_knows_restrictions() {
    let folder: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("restricted-cache");
    let _ = std::fs::remove_dir_all(&folder);
    let cache = ["--cache-dir", folder.to_str().expect("a plain path"), "--stats"];
    let check = |more: &[&str]| {
        let arguments = [&["check", JOB, "--only", "atomicity"], &cache[..], more].concat();
        let outcome = run(&arguments);
        let known = outcome
            .stderr
            .lines()
            .find(|line| line.contains("from-cache"))
            .map(|line| line.split_whitespace().last().expect("a number").to_owned());
        (outcome.code, known.expect("a count"))
    };
    assert_eq!(check(&[]), (Some(1), "0".to_owned()));
    assert_eq!(check(&["--restrict", ONCE]), (Some(0), "0".to_owned()));
    assert_eq!(check(&["--restrict", ONCE]), (Some(0), "1".to_owned()));
    let all = temporary(
        "all.nwa",
        "Q0: s Delta_i: { (s, *, s) } Delta_c: { (s, *, s) } Delta_r: { (s, s, *, s) }",
    );
    assert_eq!(check(&["--restrict", &format!("Worker={all}")]), (Some(1), "0".to_owned()));
    assert_eq!(check(&[]), (Some(1), "1".to_owned()));
}

/// Two automata for one thread are one that reads what both read.
#[test]
fn several_restrictions_hold_together() {
    let even = temporary(
        "one-call.nwa",
        "Q0: none Delta_i: { (none, *, none), (in, *, in), (one, *, one) } \
         Delta_c: { (none, \"call attempt\", in), (in, *, -) } \
         Delta_r: { (in, none, *, one), (one, none, \"return main\", one) }",
    );
    let even = format!("Worker={even}");
    let outcome = run(&["atomicity", JOB, "--restrict", ONCE, "--restrict", &even]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("examples/no-retry.nwa,"), "{}", outcome.stdout);
}

#[test]
fn wrong_uses() {
    let folder = scratch("restrict-wrong-uses");
    std::fs::create_dir_all(folder.join("examples")).expect("a folder");
    for name in ["job.eml", "no-retry.nwa", "stack.eml"] {
        let name = format!("examples/{name}");
        std::fs::copy(root().join(&name), folder.join(&name)).expect("a copy");
    }
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a file");
    write(
        "symbols.nwa",
        "Q0: s Delta_i: { (s, \"read bussy\", s), (s, yield, s), (s, \"acquire l\", s) } \
         Delta_c: { (s, \"call atempt\", s) } Delta_r: { (s, s, \"return main\", s) }",
    );
    write("nothing.nwa", "Qf: s");
    let uses: [(&str, &[&str]); 8] = [
        ("unknown-thread", &["atomicity", JOB, "--restrict", "Wroker=examples/no-retry.nwa"]),
        ("unknown-symbols", &["race", JOB, "--restrict", "Worker=symbols.nwa"]),
        ("unknown-file", &["deadlock", JOB, "--restrict", "Worker=examples/no-file.nwa"]),
        ("no-file", &["atomicity", JOB, "--restrict", "Worker"]),
        ("no-initial-state", &["atomicity", JOB, "--restrict", "Worker=nothing.nwa"]),
        ("no-automaton", &["atomicity", JOB, "--restrict", "Worker=examples/stack.eml"]),
        ("check-thread", &["check", JOB, "--no-cache", "--restrict", "W=examples/no-retry.nwa"]),
        (
            "engine",
            &["atomicity", JOB, "--restrict", ONCE, "--engine", "context-bounded", "--rounds", "2"],
        ),
    ];
    for (name, arguments) in uses {
        let outcome = run_in(&folder, arguments);
        let expected = if name == "engine" { 3 } else { 2 };
        assert_eq!(outcome.code, Some(expected), "{name}: {}{}", outcome.stdout, outcome.stderr);
        let shown = if name == "engine" { outcome.stdout } else { outcome.stderr };
        insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "restrict" }, {
            let shown = shown.split(" in 0.").next().unwrap_or_default();
            insta::assert_snapshot!(name, shown);
        });
    }
}
