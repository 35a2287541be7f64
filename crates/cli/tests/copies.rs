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

/// A property decides with as many copies as it has thread variables, and one for every state in which
/// any thread may go on.
#[test]
fn properties_of_copies() {
    let folder = common::scratch("copies-property");
    let property = |name: &str, text: &str| {
        let file = folder.join(name);
        std::fs::write(&file, text).expect("it can be written");
        file.to_str().expect("a path").to_owned()
    };
    let program = "var : x; process W[*] { main { write x; } }";
    let chain = |phases: usize, who: &dyn Fn(usize) -> String, head: &str| {
        let phase = |at: usize| {
            format!("state s{at} {{ loop any; {} write x -> s{}; }}\n", who(at), at + 1)
        };
        let phases_text: String = (0..phases).map(phase).collect();
        format!("{head}{phases_text}state s{phases};\n")
    };
    // Each copy writes once, so five writes need five copies, more than `--copies` has.
    let any = property("any.ipa", &chain(5, &|_| "any".to_owned(), ""));
    let head = "thread a0, a1, a2, a3, a4;\n";
    let variables = property("variables.ipa", &chain(5, &|at| format!("a{at}"), head));
    let two = "thread a, b;\n";
    let again = |at: usize| if at.is_multiple_of(2) { "a" } else { "b" }.to_owned();
    let again = property("again.ipa", &chain(3, &again, two));
    let named = property("named.ipa", &chain(2, &|at| format!("\"W[{at}]\""), ""));
    for (file, code, shown) in [
        (&any, 1, "W[4]"),
        (&variables, 1, "W[4]"),
        (&again, 0, "proved for all executions"),
        (&named, 1, "W[0] vs W[1]"),
    ] {
        let outcome = ask("atomicity", program, &["--property", file]);
        assert_eq!(outcome.code, Some(code), "{file}: {}{}", outcome.stdout, outcome.stderr);
        assert!(outcome.stdout.contains(shown), "{file}: {}", outcome.stdout);
    }
    let starting = "var : x; process W[*] waits { main { start W; write x; } }
        process M { main { start W; } }";
    let outcome = ask("atomicity", starting, &["--property", &again]);
    assert_eq!(outcome.code, Some(3), "{}{}", outcome.stdout, outcome.stderr);
    assert!(outcome.stdout.contains("safe with at most 4 copies"), "{}", outcome.stdout);
}

/// Where a set of threads may stand, the name of a process means all of its copies.
#[test]
fn a_process_stands_for_its_copies() {
    let program = "lock : l; var : x;
        process W[3] { main { synchronized(l) { write x; } } }
        process V { main { write x; } }";
    let queries = |threads: &str| {
        let outcome = ask("race", program, &["--threads", threads, "--format", "json"]);
        let report: serde_json::Value = serde_json::from_str(&outcome.stdout)
            .unwrap_or_else(|error| panic!("{threads}: {error}: {}", outcome.stderr));
        (outcome.code, report["stats"]["queries"].as_u64())
    };
    assert_eq!(queries("W"), (Some(0), Some(3)));
    assert_eq!(queries("W[0],W[2]"), (Some(0), Some(1)));
    assert_eq!(queries("W,V"), (Some(1), Some(6)));
    assert_eq!(queries("W[1],V"), (Some(1), Some(1)));
    let outcome = ask("race", program, &["--threads", "W[3]"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("W[3]"), "{}", outcome.stderr);
    let any = program.replace("W[3]", "W[*]");
    let outcome = ask("deadlock", &any, &["--threads", "W"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
}

/// Two accesses race unless both are volatile; units of work conflict all the same.
#[test]
fn volatile_accesses_do_not_race() {
    let program = "volatile var : flag; var : x;
        process A { main { unit { read flag; write flag; } } }
        process B { main { write flag; } }";
    let outcome = ask("race", program, &[]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stdout);
    let outcome = ask("race", &program.replace("volatile ", ""), &[]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stdout);
    let outcome = ask("atomicity", program, &["--patterns", "1"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stdout);
}

/// A label is reached only behind a join, and never while the lock around it is held by another.
#[test]
fn labels_are_reached() {
    let program = "lock : l; var : x;
        process Main { main { start W; synchronized(l) { label early: write x; }
                              join W; label late: write x; } }
        process W waits { main { synchronized(l) { label inside: skip; } } }
        process Lost waits { main { label never: skip; } }";
    for (label, code) in [("early", 1), ("late", 1), ("inside", 1), ("never", 0)] {
        let outcome = ask("reach", program, &["--label", label]);
        assert_eq!(outcome.code, Some(code), "{label}: {}{}", outcome.stdout, outcome.stderr);
    }
    let outcome = ask("reach", program, &["--label", "late", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let steps = report["witness"].as_array().expect("steps");
    let joins = steps.iter().position(|step| step["action"] == "join").expect("a join");
    assert_eq!(steps[joins]["object"], "W");
    let outcome = ask("reach", program, &["--label", "earley"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("early"), "{}", outcome.stderr);
}

/// A thread that joins itself is a cycle of one, in every format.
#[test]
fn a_thread_that_joins_itself_is_a_deadlock() {
    let program = "var : x;
        process A { main { if (*) join A; write x; } }
        process B { main { read x; } }";
    let outcome = ask("deadlock", program, &[]);
    assert_eq!(outcome.code, Some(1), "{}{}", outcome.stdout, outcome.stderr);
    assert!(outcome.stdout.contains("waits for the end of A"), "{}", outcome.stdout);
    let outcome = ask("deadlock", program, &["--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let cycle = &report["cycles"][0];
    assert_eq!(cycle["threads"], serde_json::json!(["A"]));
    assert_eq!(cycle["waits"][0]["wants"], "end of A");
    let folder = common::scratch("copies-self");
    let file = folder.join("self.eml");
    std::fs::write(&file, program).expect("it can be written");
    let file = file.to_str().expect("a path");
    let check = common::run(&["check", file, "--no-cache", "--only", "deadlock"]);
    assert!(check.stdout.contains("A waits for its own end"), "{}", check.stdout);
    let report = common::run(&["deadlock", file, "--format", "json"]);
    let outcome = run_with_input(&["replay", file, "-"], report.stdout.as_bytes());
    assert_eq!(outcome.code, Some(0), "{}{}", outcome.stdout, outcome.stderr);
    for format in ["sarif", "junit", "dot"] {
        let outcome = common::run(&["deadlock", file, "--format", format]);
        assert_eq!(outcome.code, Some(1), "{format}: {}", outcome.stderr);
    }
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
