//! Processes with copies, threads that are started and joined, on the command line.

mod common;

use common::{Outcome, run_with_input};

fn ask(command: &str, program: &str, arguments: &[&str]) -> Outcome {
    let mut all = vec![command, "-"];
    all.extend(arguments);
    run_with_input(&all, program.as_bytes())
}

#[test]
fn any_number_of_copies_is_decided() {
    let safe = "lock : l; var : x;
        process W[*] { main { synchronized(l) { unit { read x; write x; } } } }";
    for command in ["race", "atomicity", "deadlock"] {
        let outcome = ask(command, safe, &[]);
        assert_eq!(outcome.code, Some(0), "{command}: {}{}", outcome.stdout, outcome.stderr);
    }
    let racy = "var : x; process W[*] { main { write x; } }";
    let outcome = ask("race", racy, &[]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("W[0] vs W[1]"), "{}", outcome.stdout);
}

/// Each of three copies takes two locks in a ring: no two of them can wait for each other.
#[test]
fn a_deadlock_may_need_as_many_copies_as_locks() {
    let ring = "lock : a, b, c;
        process W[*] { main {
            if (*) synchronized(a) { synchronized(b) { skip; } }
            else if (*) synchronized(b) { synchronized(c) { skip; } }
            else synchronized(c) { synchronized(a) { skip; } }
        } }";
    let outcome = ask("deadlock", ring, &[]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("W[0] vs W[1] vs W[2]"), "{}", outcome.stdout);
}

/// Two copies race, and a third one starts whom the one of them joins.
#[test]
fn a_copy_more_for_every_thread_that_waits() {
    let program = "var : x;
        process W[*] { main { if (*) start V; else { join V; write x; } } }
        process V waits { main { skip; } }";
    let outcome = ask("race", program, &["--threads", "W"]);
    assert_eq!(outcome.code, Some(1), "{}{}", outcome.stdout, outcome.stderr);
    assert!(outcome.stdout.contains("start V"), "{}", outcome.stdout);
}

/// Where copies start copies of their own process, no number is known to be enough.
#[test]
fn copies_that_start_copies_are_open() {
    let program = "var : x;
        process W[*] waits { main { start W; read x; } }
        process M { main { start W; read x; } }";
    let outcome = ask("race", program, &[]);
    assert_eq!(outcome.code, Some(3), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("safe with at most 4 copies"), "{}", outcome.stdout);
    let outcome = ask("race", program, &["--copies", "2"]);
    assert!(outcome.stdout.contains("safe with at most 2 copies"), "{}", outcome.stdout);
}

/// Pattern 2 needs T1's write between the reads, which waits for W, which waits for the lock.
#[test]
fn who_is_joined_takes_part() {
    let program = "lock : l; var : x;
        process T1 { main { join W; write x; } }
        process T2 { main { unit { synchronized(l) { read x; start W; read x; } } } }
        process W waits { main { synchronized(l) { skip; } } }";
    let outcome = ask("atomicity", program, &["--patterns", "2"]);
    assert_eq!(outcome.code, Some(0), "{}{}", outcome.stdout, outcome.stderr);
    let unlocked =
        program.replace("waits { main { synchronized(l) { skip; } } }", "waits { main { } }");
    let outcome = ask("atomicity", &unlocked, &["--patterns", "2"]);
    assert_eq!(outcome.code, Some(1), "{}{}", outcome.stdout, outcome.stderr);
}

#[test]
fn interleavings_of_copies_replay() {
    let folder = common::scratch("copies-replay");
    let file = folder.join("many.eml");
    std::fs::write(&file, "var : x; process W[*] { main { write x; } }")
        .expect("it can be written");
    let file = file.to_str().expect("a path");
    let report = common::run(&["race", file, "--format", "json"]);
    let outcome = run_with_input(&["replay", file, "-"], report.stdout.as_bytes());
    assert_eq!(outcome.code, Some(0), "{}{}", outcome.stdout, outcome.stderr);
    let check = common::run(&["check", file, "--no-cache"]);
    assert_eq!(check.code, Some(1), "{}", check.stdout);
    let run = common::run(&["simulate", file, "--copies", "3"]);
    assert!(run.stdout.contains("W[2]"), "{}", run.stdout);
}
