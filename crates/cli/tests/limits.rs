//! Limits hold: whatever is read, whatever is asked, whatever is found. Times are generous, because the
//! machines that run this may be slow; what used to run past a limit did so by minutes.

mod common;

use common::{Outcome, command, root, run, run_with_input, scratch};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A limit that was met a second after the start may be noticed this late.
const LATE: Duration = Duration::from_secs(20);

/// Runs a command that is to end soon.
fn soon(arguments: &[&str], input: &str) -> Outcome {
    let start = Instant::now();
    let outcome = run_with_input(arguments, input.as_bytes());
    let took = start.elapsed();
    assert!(took < LATE, "{arguments:?} took {took:?}");
    outcome
}

/// The same with a report for programs.
fn report(arguments: &[&str], input: &str) -> (Option<i32>, Value) {
    let outcome = soon(&[arguments, &["--format", "json"]].concat(), input);
    let value = serde_json::from_str(&outcome.stdout);
    (outcome.code, value.unwrap_or_else(|error| panic!("{error}: {}", outcome.stderr)))
}

/// Threads that each do `body`.
fn threads(count: usize, locks: usize, body: impl Fn(usize) -> String) -> String {
    let names: Vec<String> = (0..locks).map(|lock| format!("l{lock}")).collect();
    let mut model = format!("lock : {};\nvar : x;\n", names.join(", "));
    for thread in 0..count {
        let _ = writeln!(model, "process T{thread} {{ main {{ {} read x; }} }}", body(thread));
    }
    model
}

/// Locks taken one inside the other.
fn nested(locks: impl Iterator<Item = usize>) -> String {
    let open: Vec<String> = locks.map(|lock| format!("synchronized(l{lock}) {{ ")).collect();
    format!("{} skip; {}", open.concat(), "} ".repeat(open.len()))
}

/// Any two of so many locks, in both orders.
fn all_orders(locks: usize) -> String {
    let pairs = (0..locks).flat_map(|a| (0..locks).map(move |b| [a, b])).filter(|[a, b]| a != b);
    let choices = pairs.map(|pair| format!("if (*) {{ {} }} ", nested(pair.into_iter())));
    choices.collect::<Vec<_>>().concat()
}

#[test]
fn a_sequential_program_with_many_guesses() {
    let sequential = run(&["sequentialize", "corpus/bp/dekker-flawed.bp", "--rounds", "3"]);
    let (code, value) = report(&["reach", "-", "--timeout", "1"], &sequential.stdout);
    assert!(matches!((code, value["verdict"].as_str()), (Some(3), Some("unknown"))), "{value}");
    assert_eq!(value["reason"], "the time limit was reached");
}

#[test]
fn a_symbolic_pushdown_system_that_grows() {
    let file = "corpus/bp/msmie-3-1-1.bp";
    let (code, value) =
        report(&["reach", file, "--engine", "spds", "--rounds", "2", "--timeout", "1"], "");
    assert_ne!(code, Some(4), "{value}");
    assert_ne!(value["verdict"], "violation");
}

#[test]
fn very_many_nested_locks() {
    let model = threads(2, 22, |_| nested(0..22));
    let (code, value) = report(&["reach", "-", "--timeout", "1"], &model);
    assert!(matches!(code, Some(0 | 3)), "{value}");
}

#[test]
fn thirteen_threads_that_take_thirteen_locks_in_one_order() {
    let model = threads(13, 13, |_| nested(0..13));
    let (code, value) = report(&["deadlock", "-"], &model);
    assert_eq!((code, &value["verdict"]), (Some(0), &"safe".into()));
    assert_eq!(value["stats"]["queries"], 0, "there is no cycle to ask about");
}

/// Cycles of two are reported however many longer ones there are, and how little there is to spend.
#[test]
fn six_threads_that_take_six_locks_in_all_orders() {
    let model = threads(6, 6, |_| all_orders(6));
    for limit in [["--timeout", "2"], ["--max-work", "200000"]] {
        let (code, value) = report(&[&["deadlock", "-"][..], &limit].concat(), &model);
        assert_eq!((code, &value["verdict"]), (Some(1), &"violation".into()));
        let cycles = value["cycles"].as_array().expect("cycles");
        let two = cycles.iter().filter(|cycle| cycle["threads"].as_array().unwrap().len() == 2);
        assert_eq!(two.count(), 15 * 30, "{limit:?}");
    }
}

/// Behind a lock that everybody takes first nobody meets, so there is nothing to ask.
#[test]
fn a_gate_lock_leaves_no_cycles() {
    let model = threads(6, 7, |_| format!("synchronized(l6) {{ {} }}", all_orders(6)));
    let (code, value) = report(&["deadlock", "-"], &model);
    assert_eq!((code, &value["verdict"]), (Some(0), &"safe".into()));
}

/// `f0` calls `f1` twice, `f1` calls `f2` twice, and so on.
fn doubling(calls: usize) -> String {
    let mut model = "var : x;\nprocess A {\n".to_owned();
    for call in 0..calls {
        let _ = writeln!(model, "f{call} {{ f{0}(); f{0}(); }}", call + 1);
    }
    let _ = writeln!(model, "f{calls} {{ skip; }} main {{ f0(); unit {{ read x; read x; }} }} }}");
    model + "process B { main { write x; } }\n"
}

/// The memory that a run of very many steps takes is linear in the steps.
#[test]
fn long_runs_by_recursion() {
    let memory = |calls: usize| {
        let arguments = ["atomicity", "-", "--patterns", "2"];
        let (code, value) = report(&arguments, &doubling(calls));
        assert_eq!(code, Some(1));
        let steps = value["queries"][0]["witness"].as_array().expect("an interleaving").len();
        assert!(steps > 1 << calls, "{steps}");
        value["stats"]["peak_memory_bytes"].as_u64().expect("a number") >> 20
    };
    let (small, large) = (memory(10), memory(13));
    assert!(large < small + 64, "{small} MiB, then {large} MiB");
}

/// To run out of nodes is a reason of its own, and has an option of its own.
#[test]
fn nodes_of_decision_diagrams() {
    let stack = ["atomicity", "examples/stack.eml", "--engine", "tupling-bdd"];
    let (code, value) = report(&[&stack[..], &["--max-nodes", "10"]].concat(), "");
    assert_eq!((code, &value["verdict"]), (Some(3), &"unknown".into()));
    let reason = "the decision diagrams need more than 10 nodes";
    assert!(value["queries"].to_string().contains(reason), "{value}");
    for engine in ["lazy", "eager", "spds"] {
        let overbooking = ["reach", "examples/overbooking.bp", "--rounds", "2"];
        let nodes = ["--engine", engine, "--max-nodes", "10"];
        let (code, value) = report(&[&overbooking[..], &nodes].concat(), "");
        assert_eq!((code, &value["reason"]), (Some(3), &reason.into()), "{engine}");
    }
}

/// Very many findings are all named, but not all of them with an interleaving.
#[test]
fn reports_after_a_limit_are_bounded() {
    let model = threads(6, 6, |_| all_orders(6));
    let page = scratch("bounded-report").join("page.html");
    let page = page.to_str().expect("UTF-8");
    for format in ["json", "sarif", "junit", "dot", "text"] {
        let arguments = ["deadlock", "-", "--timeout", "1", "--format", format, "--html", page];
        let outcome = soon(&arguments, &model);
        assert_eq!(outcome.code, Some(1), "{format}: {}", outcome.stderr);
        if format == "json" {
            let value: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
            let cycles = value["cycles"].as_array().expect("cycles");
            assert_eq!(value["stats"]["violations"], cycles.len());
            let shown = cycles.iter().filter(|cycle| cycle.get("witness").is_some()).count();
            assert_eq!(shown, cycles.len().min(500));
        }
    }
}

mod files {
    use super::*;

    #[test]
    fn two_gigabytes() {
        let file = scratch("large").join("large.eml");
        let empty = std::fs::File::create(&file).expect("a file");
        // A file with a hole takes no room on the disk.
        empty.set_len(2 << 30).expect("a large file");
        for analysis in ["atomicity", "check", "reach", "show"] {
            let outcome = soon(&[analysis, file.to_str().expect("UTF-8"), "--memory", "100"], "");
            assert_eq!(outcome.code, Some(2), "{analysis}");
            assert!(outcome.stderr.contains("512 MiB or more"), "{}", outcome.stderr);
        }
        std::fs::remove_file(file).expect("removed");
    }

    #[test]
    fn a_directory_named_like_a_model() {
        for name in ["model.eml", "model.bp", "model.pds", "model.slv"] {
            let folder = scratch("directory").join(name);
            std::fs::create_dir(&folder).expect("a directory");
            let path = folder.to_str().expect("UTF-8");
            for analysis in ["atomicity", "race", "deadlock", "reach", "show", "simulate"] {
                let outcome = soon(&[analysis, path], "");
                assert_eq!(outcome.code, Some(2), "{analysis}");
                assert!(outcome.stderr.contains("it is a directory"), "{}", outcome.stderr);
            }
            // Here a directory is one with models, and there are none.
            assert_eq!(soon(&["check", path], "").code, Some(2));
        }
    }

    /// Half of one text and half of another is neither.
    #[test]
    fn a_model_that_changes_while_it_is_read() {
        use std::io::Write as _;
        let file = scratch("changing").join("changing.eml");
        let mut writer = std::fs::File::create(&file).expect("a file");
        writer.set_len(200 << 20).expect("a large file");
        let mut child = command(&["atomicity", file.to_str().expect("UTF-8")])
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("the program starts");
        while child.try_wait().expect("a state").is_none() {
            writer.write_all(b" ").expect("written");
            std::thread::sleep(Duration::from_millis(1));
        }
        let outcome = child.wait_with_output().expect("it has ended");
        let said = String::from_utf8_lossy(&outcome.stderr);
        assert_eq!(outcome.status.code(), Some(2), "{said}");
        assert!(said.contains("it changed while it was read"), "{said}");
        std::fs::remove_file(file).expect("removed");
    }
}

/// Files that only some systems have, and signals.
#[cfg(unix)]
mod unix {
    use super::*;
    use std::process::{Child, Command, Stdio};

    #[test]
    fn devices_are_refused() {
        for analysis in ["atomicity", "race", "deadlock", "reach", "check", "show", "simulate"] {
            let outcome = soon(&[analysis, "/dev/zero", "--memory", "100"], "");
            assert_eq!(outcome.code, Some(2), "{analysis}: {}", outcome.stderr);
            assert!(outcome.stderr.contains("it is a device"), "{analysis}: {}", outcome.stderr);
        }
    }

    /// Standard input that never ends is cut off by the memory.
    #[test]
    fn input_without_an_end() {
        let start = Instant::now();
        let zeros = std::fs::File::open("/dev/zero").expect("a device");
        let arguments = ["atomicity", "-", "--memory", "100", "--timeout", "20"];
        let arguments = [&arguments[..], &["--format", "json"]].concat();
        let outcome = command(&arguments).stdin(zeros).output().expect("it runs");
        let value: Value = serde_json::from_slice(&outcome.stdout).expect("JSON");
        assert_eq!(outcome.status.code(), Some(3));
        assert_eq!(value["verdict"], "unknown");
        assert_eq!(value["reason"], "the memory limit was reached");
        assert!(start.elapsed() < LATE);
    }

    fn pipe(name: &str) -> PathBuf {
        let pipe = scratch(name).join("pipe.eml");
        let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
        assert!(made.success());
        pipe
    }

    /// A pipe into which nobody writes is waited for as long as the limit says; then nothing is known,
    /// and the report says so in whatever form it was asked for.
    #[test]
    fn pipes_are_waited_for() {
        let pipe = pipe("pipe");
        let path = pipe.to_str().expect("UTF-8");
        let reports = |analysis: &'static str| {
            let limited = [analysis, path, "--timeout", "0.2"];
            let (code, value) = report(&limited, "");
            assert_eq!((code, &value["verdict"]), (Some(3), &"unknown".into()), "{analysis}");
            assert!(value.to_string().contains("the time limit was reached"), "{value}");
            let sarif = soon(&[&limited[..], &["--format", "sarif"]].concat(), "");
            assert!(serde_json::from_str::<Value>(&sarif.stdout).is_ok(), "{analysis}");
            let junit = soon(&[&limited[..], &["--format", "junit"]].concat(), "").stdout;
            assert!(junit.trim_end().ends_with("</testsuites>"), "{analysis}");
            assert!(junit.contains("the time limit was reached"), "{analysis}");
        };
        let stack = "examples/stack.eml";
        let others = [
            &["show", path][..],
            &["simulate", path],
            &["sequentialize", path, "--rounds", "1"],
            &["replay", path, path],
            &["atomicity", stack, "--property", path],
            &["check", stack, "--config", path],
            &["check", stack, "--baseline", path],
        ];
        std::thread::scope(|scope| {
            for analysis in ["atomicity", "race", "deadlock", "reach", "check"] {
                scope.spawn(move || reports(analysis));
            }
            for arguments in others {
                scope.spawn(move || {
                    let outcome = soon(&[arguments, &["--timeout", "0.2"]].concat(), "");
                    assert_eq!(outcome.code, Some(3), "{arguments:?}: {}", outcome.stderr);
                    let said = outcome.stderr.contains("not read to");
                    assert!(said, "{arguments:?}: {}", outcome.stderr);
                });
            }
        });
    }

    /// One file that cannot be read to its end leaves time for the others.
    #[test]
    fn a_pipe_beside_a_file() {
        let pipe = pipe("pipe-beside");
        let path = pipe.to_str().expect("UTF-8");
        let files = [path, "examples/stack.eml", "--no-cache", "--timeout", "3"];
        let (code, value) = report(&[&["check"][..], &files].concat(), "");
        assert_eq!(code, Some(1), "{value}");
        let of = |name: &str| {
            let files = value["files"].as_array().expect("files");
            files.iter().find(|file| file["file"].as_str().unwrap().ends_with(name)).expect("it")
        };
        assert_eq!(of("stack.eml")["open"], Value::Array(Vec::new()));
        assert!(!of("stack.eml")["findings"].as_array().expect("findings").is_empty());
        assert!(of("pipe.eml")["open"][0].as_str().expect("a reason").contains("time limit"));
    }

    fn interrupt(child: &Child) {
        let pid = child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &pid]).status().expect("kill runs");
        assert!(sent.success());
    }

    /// A child that has begun to work.
    fn begun(arguments: &[&str]) -> Child {
        let child = command(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        std::thread::sleep(Duration::from_millis(1500));
        child
    }

    #[test]
    fn an_interrupt_prints_what_is_known() {
        let file = scratch("interrupt").join("orders.eml");
        std::fs::write(&file, threads(6, 6, |_| all_orders(6))).expect("written");
        let path = file.to_str().expect("UTF-8");
        for analysis in ["deadlock", "check"] {
            // The time limit is there for the case that the interrupt is not seen.
            let limit = ["--timeout", "60", "--format", "json"];
            let child = begun(&[&[analysis, path][..], &limit].concat());
            let start = Instant::now();
            interrupt(&child);
            let outcome = child.wait_with_output().expect("it ends");
            assert!(start.elapsed() < LATE, "{analysis}");
            let value: Value = serde_json::from_slice(&outcome.stdout).expect("JSON");
            assert_eq!(outcome.status.code(), Some(1), "{analysis}");
            assert_eq!(value["verdict"], "violation");
            assert!(value.to_string().contains("the run was interrupted"), "{analysis}");
        }
    }

    #[test]
    fn a_second_interrupt_ends_at_once() {
        let pipe = pipe("interrupts");
        let child = begun(&["atomicity", pipe.to_str().expect("UTF-8")]);
        interrupt(&child);
        std::thread::sleep(Duration::from_millis(100));
        interrupt(&child);
        let outcome = child.wait_with_output().expect("it ends");
        assert_eq!(outcome.status.code(), Some(130));
        assert!(outcome.stdout.is_empty());
    }
}

mod shares {
    use super::*;

    /// Writes a file that takes all the time there is, and one that takes none.
    fn two(name: &str, hard: &str) -> [PathBuf; 2] {
        let folder = scratch(name);
        let (first, second) = (folder.join("a.eml"), folder.join("b.eml"));
        std::fs::write(&first, hard).expect("written");
        std::fs::copy(root().join("examples/stack.eml"), &second).expect("copied");
        [first, second]
    }

    fn checked(files: &[PathBuf], limits: &[&str]) -> Vec<Value> {
        let files: Vec<&str> =
            files.iter().map(|file| Path::to_str(file).expect("UTF-8")).collect();
        let options = ["--no-cache", "--jobs", "1", "--no-witness"];
        let (_, value) = report(&[&["check"][..], &files, &options, limits].concat(), "");
        value["files"].as_array().expect("files").clone()
    }

    /// The time that one file takes is not that of the next; within a file, deadlocks without number
    /// leave time for races and atomicity.
    #[test]
    fn time() {
        let hard = threads(6, 6, |_| all_orders(6)).replacen("read x", "write x", 1);
        let files = two("share-time", &hard);
        for limits in [["--timeout", "2"], ["--max-work", "300000"]] {
            let files = checked(&files, &limits);
            let [hard, easy] = &files[..] else { panic!("two files") };
            assert_eq!(easy["open"], Value::Array(Vec::new()), "{limits:?}");
            assert_eq!(hard["open"].as_array().expect("reasons").len(), 1, "{limits:?}");
            let tallies = &hard["tallies"];
            assert_ne!(tallies["deadlock"]["unknown"], 0, "{limits:?}");
            assert_ne!(tallies["deadlock"]["violated"], 0, "{limits:?}");
            assert_eq!(tallies["data-race"]["unknown"], 0, "{limits:?}");
            assert_ne!(tallies["data-race"]["violated"], 0, "{limits:?}");
            assert_eq!(tallies["atomicity-violation"]["unknown"], 0, "{limits:?}");
        }
    }

    /// A file that needs all the memory is given up, and the next one is not.
    #[test]
    fn memory() {
        let wander = "read z; ".repeat(60);
        let process = |name: &str| {
            format!(
                "process {name} {{ f {{ {wander} if (*) f(); {wander} }} main {{ f(); synchronized(l) \
                 {{ synchronized(m) {{ unit {{ read x; write x; }} }} }} }} }}\n"
            )
        };
        let nested = format!("lock : l, m;\nvar : x, z;\n{}{}", process("A"), process("B"));
        let model = run_with_input(&["show", "-", "--format", "model"], nested.as_bytes()).stdout;
        // Locks that are not nested are for exhaustive search.
        let crossed: Vec<String> = model
            .lines()
            .map(|line| match line.split_once("release ") {
                Some((before, rest)) if rest.starts_with('l') => format!("{before}release m"),
                Some((before, _)) => format!("{before}release l"),
                None => line.to_owned(),
            })
            .collect();
        let mut files = two("share-memory", "");
        files[0] = files[0].with_extension("slv");
        std::fs::write(&files[0], crossed.join("\n")).expect("written");
        let files = checked(&files, &["--memory", "50", "--timeout", "30"]);
        let [hard, easy] = &files[..] else { panic!("two files") };
        assert_eq!(hard["open"][0], "the memory limit was reached", "{hard}");
        assert_eq!(easy["open"], Value::Array(Vec::new()), "{easy}");
    }
}

/// An atomic section with 90,601 ways through it.
const WIDE: &str = "int 0..300 : x, y;
    process A { main { atomic { x = *; y = *; } } }
    process B { main { assert(x <= 300); } }";

#[test]
fn the_outcomes_of_one_step_are_work() {
    for engine in ["transactions", "explicit", "pds", "spds"] {
        let arguments = ["reach", "-", "--engine", engine, "--max-work", "5000"];
        let (code, value) = report(&arguments, WIDE);
        assert_ne!(code, Some(1), "{engine}: {value}");
        assert_ne!(value["complete"], Value::Bool(true), "{engine}");
    }
    let arguments = ["reach", "-", "--engine", "transactions", "--max-work", "5000"];
    let outcome = soon(&arguments, WIDE);
    let cut = "Covered: 1 state stored, 1 of them not expanded yet";
    assert!(outcome.stdout.contains(cut), "{}", outcome.stdout);
    let two = [&arguments[..], &["--workers", "2"]].concat();
    assert!(soon(&two, WIDE).stdout.contains(cut), "{}", outcome.stdout);
}

/// Nine philosophers, each of which ends unless all have one fork.
const PHILOSOPHERS: &str = "mutex : fork[9];
    process P[9] {
        main {
            acquire(fork[self]);
            acquire(fork[(self + 1) % 9]);
            release(fork[(self + 1) % 9]);
            release(fork[self]);
        }
    }";

#[test]
fn the_steps_of_many_threads_are_work() {
    let (_, value) = report(&["temporal", "-", "A F end", "--max-work", "5000"], PHILOSOPHERS);
    assert_eq!(value["formulas"][0]["reason"], "the limit on work was reached", "{value}");
    let states = value["stats"]["counts"]["states"].as_u64().expect("a number");
    assert!(states < 500, "a state costs more than ten steps: {states}");
    let (_, value) = report(&["branching", "-", "AF end", "--max-work", "5000"], PHILOSOPHERS);
    assert_eq!(value["formulas"][0]["reason"], "the limit on work was reached", "{value}");
}

/// A section that nobody gets through: nothing but its open calls shows that.
const ENDLESS: &str = "int 0..1 : x;
    process A { f { f(); } main { atomic { f(); } } }
    process B { main { x = 1; } }";

#[test]
fn what_is_cut_off_inside_a_section_is_not_known_to_end() {
    let formulas = ["temporal", "-", "E F end", "E F blocked(A)"];
    let (code, value) = report(&formulas, ENDLESS);
    let formulas = value["formulas"].as_array().expect("formulas");
    let why =
        "an atomic section has more than 256 open calls, so it was not found out whether it ends";
    assert!(formulas.iter().all(|one| one["reason"] == why), "{value}");
    assert_eq!(code, Some(3));
}
