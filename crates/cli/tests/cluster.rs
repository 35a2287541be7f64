//! `--hosts` as a contract: several processes on this machine answer as one does, refuse each other if they
//! are about different things, and end when one is lost. `SELVEDGE_PROGRAMS` and `SELVEDGE_SEED` set
//! how often a process is killed (20 times otherwise) and the first seed, and let all example models be
//! searched in all ways; `cargo xtask differential kills` does that.

#![cfg(feature = "cluster")]

mod common;

use common::{command, root, scratch};
use selvedge_testkit::addresses::free_addresses;
use serde_json::Value;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A file that lists so many addresses of this machine that are free.
fn hosts(folder: &Path, many: usize) -> (PathBuf, Vec<String>) {
    let addresses = free_addresses(many);
    let file = folder.join("hosts.txt");
    fs::write(&file, addresses.join("\n")).expect("it can be written");
    (file, addresses)
}

fn start(arguments: &[&str], hosts: &Path, process: usize) -> Child {
    let number = process.to_string();
    let place = ["--hosts", hosts.to_str().expect("a path"), "--process", &number];
    let mut command = command(&[arguments, &place].concat());
    command.current_dir(root()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("it starts")
}

/// Exit code, standard output and standard error, within a time.
fn end(child: Child) -> (i32, String, String) {
    let mut child = child;
    let begin = Instant::now();
    while child.try_wait().expect("it can be asked").is_none() {
        if begin.elapsed() > Duration::from_mins(1) {
            child.kill().expect("it can be killed");
            panic!("a process hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().expect("it has ended");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

/// The same command in so many processes; what each says.
fn together(folder: &Path, many: usize, arguments: &[&str]) -> Vec<(i32, String, String)> {
    let (hosts, _) = hosts(folder, many);
    let children: Vec<Child> = (0..many).map(|one| start(arguments, &hosts, one)).collect();
    children.into_iter().map(end).collect()
}

fn report(ended: &(i32, String, String)) -> Value {
    serde_json::from_str(&ended.1).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

const SEARCH: [&str; 4] = ["reach", "--format", "json", "--workers"];

/// All example models that are asked about as programs.
fn examples() -> Vec<String> {
    let entries = fs::read_dir(root().join("examples")).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name().display().to_string());
    let is_program = |name: &String| {
        let extension = Path::new(name).extension().map(|one| one.display().to_string());
        extension.is_some_and(|one| ["eml", "slv", "bp", "pds"].contains(&&*one))
    };
    let mut names: Vec<String> = names.filter(is_program).collect();
    names.sort();
    names.into_iter().map(|name| format!("examples/{name}")).collect()
}

/// What an answer shows, but for what was measured and the steps of runs.
fn substance(report: &Value) -> Value {
    let all = report["assertions"].as_array().cloned().unwrap_or_default();
    let failing: Vec<_> = all.iter().map(|one| [&one["line"], &one["verdict"]]).collect();
    let locks = report["locks"].as_array().cloned().unwrap_or_default();
    let locks: Vec<_> =
        locks.iter().map(|one| [&one["variable"], &one["kind"], &one["locks"]]).collect();
    serde_json::json!({
        "verdict": report["verdict"],
        "failing": failing,
        "locks": locks,
        "levels": report["stats"]["levels"],
        "states": report["stats"]["counts"]["states"],
    })
}

#[test]
fn processes_answer_as_one_does() {
    let folder = scratch("cluster-answers");
    let plain = ["--reduction", "none", "--no-symmetry"];
    let asked = [&[][..], &["--show-locks"], &plain];
    let shapes = [(2, "1"), (2, "2"), (3, "1")];
    // Here each example in one shape; all shapes and options if programs are asked for.
    let all = std::env::var_os("SELVEDGE_PROGRAMS").is_some();
    let (mut compared, mut wrong) = (0, 0);
    for (at, file) in examples().iter().enumerate() {
        for (which, more) in asked.iter().enumerate() {
            for (shape, (processes, workers)) in shapes.into_iter().enumerate() {
                if !all && (which != at % 3 || shape != at / 3 % 3) {
                    continue;
                }
                let more = [&["--engine", "transactions", file], *more].concat();
                let alone = command(&[&SEARCH[..], &["2"], &more].concat());
                let alone = { alone }.current_dir(root()).output().expect("it runs");
                let alone_code = alone.status.code();
                let alone: Value = serde_json::from_slice(&alone.stdout).expect("JSON");
                let arguments = [&SEARCH[..], &[workers], &more].concat();
                let ended = together(&folder, processes, &arguments);
                for (one, (code, out, err)) in ended.iter().enumerate() {
                    assert_eq!(Some(*code), alone_code, "{file} {one} {err}");
                    // Why there is no verdict everybody says.
                    assert!(err.is_empty() || *code == 3, "{file} {one} {err}");
                    assert_eq!(out.is_empty(), one > 0, "the first one speaks for all");
                }
                let report = report(&ended[0]);
                assert_eq!(substance(&report), substance(&alone), "{file} {more:?} {processes}");
                // What the engine does not take has no search.
                if !report["stats"]["levels"].is_null() {
                    assert_eq!(report["stats"]["processes"], processes, "{file}");
                    compared += 1;
                    wrong += usize::from(alone_code == Some(1));
                }
            }
        }
    }
    assert!(compared > 50 && wrong > 10, "{compared} compared, {wrong} wrong");
}

#[test]
fn who_is_about_something_else_is_refused_by_all() {
    let folder = scratch("cluster-difference");
    let (hosts, _) = hosts(&folder, 3);
    let file = "examples/counter.eml";
    let same = ["reach", file, "--workers", "1"];
    let children = vec![
        start(&same, &hosts, 0),
        start(&[&same[..], &["--depth", "9"]].concat(), &hosts, 1),
        start(&same, &hosts, 2),
    ];
    let ended: Vec<_> = children.into_iter().map(end).collect();
    for (code, out, err) in &ended {
        assert_eq!((*code, &out[..]), (2, ""), "{err}");
        assert!(err.contains("depth is "), "{err}");
    }
    let children = vec![
        start(&same, &hosts, 0),
        start(&["reach", "examples/division-by-zero.eml", "--workers", "1"], &hosts, 1),
        start(&["reach", file, "--workers", "2"], &hosts, 2),
    ];
    let ended: Vec<_> = children.into_iter().map(end).collect();
    assert!(ended.iter().all(|one| one.0 == 2), "{ended:?}");
    assert!(ended[1].2.contains("program is "), "{ended:?}");
    assert!(ended[2].2.contains("workers is 2 here and 1 there"), "{ended:?}");
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let folder = scratch("cluster-options");
    let file = folder.join("hosts.txt");
    let path = file.to_str().expect("a path");
    let refused = |arguments: &[&str], why: &str| {
        let mut command = command(&[&["reach", "examples/counter.eml"], arguments].concat());
        command.env_remove("SLURM_PROCID").env_remove("JOB_COMPLETION_INDEX");
        let output = command.current_dir(root()).output().expect("it runs");
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert!(err.contains(why), "{err}");
    };
    refused(&["--process", "0"], "--hosts");
    refused(&["--hosts", path, "--process", "0"], "cannot read");
    fs::write(&file, "somewhere\n").expect("it can be written");
    refused(&["--hosts", path, "--process", "0"], "line 1 is no `host:port`");
    fs::write(&file, "127.0.0.1:1\n").expect("it can be written");
    refused(&["--hosts", path], "--process says which line");
    refused(&["--hosts", path, "--process", "7"], "there is no process 7");
    refused(&["--hosts", path, "--process", "0", "--states"], "in one process");
    refused(&["--hosts", path, "--process", "0", "--why", "x"], "do not go with");
    refused(&["--hosts", path, "--process", "0", "--engine", "lazy"], "for engine transactions");
}

#[test]
fn the_environment_says_which_process_it_is_and_strays_are_ignored() {
    let folder = scratch("cluster-environment");
    let (hosts, addresses) = hosts(&folder, 2);
    let arguments = ["reach", "examples/counter.eml", "--workers", "1", "--hosts"];
    let arguments = [&arguments[..], &[hosts.to_str().expect("a path")]].concat();
    let mut first = command(&arguments);
    first.env("SLURM_PROCID", "0").stdout(Stdio::piped()).stderr(Stdio::piped());
    let first = first.current_dir(root()).spawn().expect("it starts");
    // Somebody who has nothing to do with it, before the others come.
    let begin = Instant::now();
    let mut stray = loop {
        match TcpStream::connect(&addresses[0]) {
            Ok(stream) => break stream,
            Err(error) => assert!(begin.elapsed() < Duration::from_secs(30), "{error}"),
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    stray.write_all(&[0xff; 4096]).expect("it sends");
    let mut answer = Vec::new();
    // It gets nothing; that it may get a reset is fine.
    let _ = stray.read_to_end(&mut answer);
    assert_eq!(answer, b"");
    let mut second = command(&arguments);
    second.env("JOB_COMPLETION_INDEX", "1").env_remove("SLURM_PROCID");
    second.stdout(Stdio::piped()).stderr(Stdio::piped());
    let second = second.current_dir(root()).spawn().expect("it starts");
    let (first, second) = (end(first), end(second));
    assert_eq!((first.0, second.0), (0, 0), "{first:?} {second:?}");
    assert!(first.1.starts_with("safe: ") && second.1.is_empty());
}

/// Three threads that count: 64,000 states in 118 levels.
const COUNTERS: &str = "
int 0..36 : total;
process Counter[3] {
    int 0..12 : own;
    main {
        while (own < 12) {
            own = own + 1;
            atomic { total = total + 1; }
        }
        assert(total > 0);
    }
}
";

/// How many bytes the logs have.
fn size(folder: &Path) -> u64 {
    let searches = fs::read_dir(folder).into_iter().flatten().flatten();
    let logs = searches.flat_map(|one| fs::read_dir(one.path()).into_iter().flatten().flatten());
    logs.filter_map(|log| log.metadata().ok()).map(|log| log.len()).sum()
}

/// Kills one of two processes when the logs have so many bytes; whether it was still there.
fn kill(folder: &Path, arguments: &[&str], victim: usize, bytes: u64) -> bool {
    let (hosts, _) = hosts(folder, 2);
    let kept = arguments.last().expect("a folder");
    let mut children: Vec<Child> = (0..2).map(|one| start(arguments, &hosts, one)).collect();
    let begin = Instant::now();
    while size(Path::new(kept)) < bytes
        && children[victim].try_wait().expect("it can be asked").is_none()
    {
        assert!(begin.elapsed() < Duration::from_mins(1), "nothing is written");
        std::thread::sleep(Duration::from_millis(1));
    }
    let was_there = children[victim].try_wait().expect("it can be asked").is_none();
    children[victim].kill().expect("it can be killed");
    children[victim].wait().expect("it has ended");
    let survivor = end(children.remove(1 - victim));
    let said = format!("{}{}", survivor.1, survivor.2);
    assert!(!said.contains("panicked"), "{said}");
    // It may have been told everything before the other one went.
    if survivor.0 == 0 {
        return false;
    }
    assert_eq!(survivor.0, 3, "{said}");
    let lost = format!("process {victim} was lost ");
    assert!(said.contains(&lost), "{said}");
    assert!(said.contains(&format!("; resume with --resume {kept}")), "{said}");
    was_there
}

#[test]
fn a_process_that_is_killed_ends_the_run_which_goes_on() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let kills: u64 = number("SELVEDGE_PROGRAMS").unwrap_or(20);
    let seed: u64 = number("SELVEDGE_SEED").unwrap_or(1);
    let folder = scratch("cluster-killed");
    let file = folder.join("counters.eml");
    fs::write(&file, COUNTERS).expect("it can be written");
    let search = [&SEARCH[..], &["1", file.to_str().expect("a path")]].concat();
    let search = [&search[..], &["--reduction", "none", "--no-symmetry"]].concat();
    let mut alone = command(&search);
    let alone = alone.current_dir(root()).output().expect("it runs");
    let alone: Value = serde_json::from_slice(&alone.stdout).expect("JSON");
    assert_eq!(alone["stats"]["counts"]["states"], 64_000);
    let (mut done, mut attempts) = (0, 0);
    while done < kills {
        let kept = folder.join(format!("kept-{attempts}"));
        let path = kept.to_str().expect("a path");
        // One to three times, each while the one before is gone on from.
        let mut verb = "--checkpoint";
        for again in 0..=attempts % 3 {
            let draw = (seed + attempts * 3 + again) * 7919;
            let arguments = [&search[..], &[verb, path]].concat();
            // The logs have a megabyte in the end.
            let bytes = size(&kept) + 20_000 + draw * 104_729 % 400_000;
            done += u64::from(kill(&folder, &arguments, (draw % 2) as usize, bytes));
            if kept.join("run.txt").exists() {
                verb = "--resume";
            }
        }
        // With another number of processes, or one alone.
        let arguments = [&search[..], &[verb, path]].concat();
        let ended = if attempts.is_multiple_of(2) {
            together(&folder, 2, &arguments).remove(0)
        } else {
            let mut alone = command(&arguments);
            alone.stdout(Stdio::piped()).stderr(Stdio::piped());
            end(alone.current_dir(root()).spawn().expect("it starts"))
        };
        assert_eq!(ended.0, 0, "{ended:?}");
        assert_eq!(substance(&report(&ended)), substance(&alone), "{ended:?}");
        attempts += 1;
        assert!(attempts < 2 * kills + 4, "{done} of {attempts} were killed in time");
    }
}

/// The blocks of a page in a language.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    page.split(&fence)
        .skip(1)
        .filter_map(|rest| Some(rest.split_once("```")?.0.to_owned()))
        .collect()
}

#[test]
fn the_scripts_of_the_book_are_well_formed() {
    let page = fs::read_to_string(root().join("book/src/engines/scale.md")).expect("a page");
    let scripts = blocks(&page, "bash");
    let folder = scratch("cluster-scripts");
    let mut commands = Vec::new();
    for script in &scripts {
        let file = folder.join("script");
        fs::write(&file, script).expect("it can be written");
        // Where there is no shell there is nobody to ask.
        if let Ok(status) = std::process::Command::new("bash").arg("-n").arg(&file).status() {
            assert!(status.success(), "{script}");
        }
        let joined = script.replace("\\\n", " ").replace("\"$keep\"", "--checkpoint");
        let line =
            joined.lines().find_map(|line| Some(line.split_once("selvedge reach ")?.1.to_owned()));
        commands.extend(line.map(|line| format!("reach {line}")));
    }
    let services = blocks(&page, "yaml");
    for text in &services {
        // Keys and items, two spaces deeper below a key that has no value.
        let mut open: Vec<usize> = vec![0];
        let mut may_open = false;
        for line in text.lines() {
            let rest = line.trim_start();
            let depth = line.len() - rest.len();
            let known = open.last().copied().unwrap_or(0);
            if depth > known {
                assert!(may_open && depth == known + 2, "{line}");
                open.push(depth);
            }
            while open.last().is_some_and(|&last| last > depth) {
                open.pop();
            }
            assert_eq!(open.last(), Some(&depth), "{line}");
            let is_item = rest.starts_with("- ");
            let (key, value) = rest.split_once(':').unwrap_or((rest, ""));
            let plain = key.chars().all(|one| one.is_ascii_alphanumeric() || one == '_');
            assert!(is_item || plain && rest.contains(':'), "{line}");
            may_open = !is_item && value.is_empty();
            commands.extend(rest.strip_prefix("command: ").map(str::to_owned));
        }
    }
    assert_eq!((scripts.len(), services.len(), commands.len()), (1, 1, 4));
    // Their options are known: what is missing is the model.
    for line in commands {
        let words: Vec<&str> = line.split_whitespace().collect();
        let output = command(&words).current_dir(&folder).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("model.eml"), "{line}: {said}");
    }
}
