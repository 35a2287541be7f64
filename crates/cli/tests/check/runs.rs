//! Exit codes and their precedence, limits, folders, standard input, jobs and pipes.

use crate::common::{self, command, root};
use crate::{BAD, DEADLOCK, Project, RACY, SAFE, names};
use serde_json::Value;
use std::io::Read;
use std::process::Stdio;

#[test]
fn exit_codes_and_their_precedence() {
    let project = Project::new(
        "exit",
        &[("safe.eml", SAFE), ("racy.eml", RACY), ("bad.eml", BAD), ("dead.eml", DEADLOCK)],
    );
    for (arguments, expected) in [
        (&["safe.eml"][..], 0),
        (&["racy.eml"], 1),
        (&["dead.eml"], 1),
        (&["safe.eml", "racy.eml"], 1),
        (&["bad.eml"], 2),
        (&["racy.eml", "bad.eml", "safe.eml"], 2),
        (&["safe.eml", "bad.eml", "--timeout", "0"], 2),
        (&["safe.eml", "--timeout", "0"], 3),
        (&["no-such-file.eml", "racy.eml"], 2),
        (&["racy.eml", "--only", "deadlock"], 0),
        (&["dead.eml", "--only", "race,atomicity"], 0),
        (&["racy.eml", "--patterns", "0"], 2),
        (&["racy.eml", "--units", "paper", "--patterns", "20"], 2),
        (&["racy.eml", "--open"], 2),
        (&[], 2),
    ] {
        let outcome = project.check(arguments);
        assert_eq!(outcome.code, Some(expected), "{arguments:?}: {}", outcome.stderr);
    }
    // Good files are analysed beside bad ones.
    let (_, value) = project.json(&["racy.eml", "bad.eml", "safe.eml"]);
    assert_eq!(names(&value), ["racy.eml", "safe.eml"]);
    assert_eq!(value["complaints"][0]["file"], "bad.eml");
    let outcome = project.check(&["racy.eml", "bad.eml", "gone.eml"]);
    assert!(outcome.stderr.contains("--> bad.eml:2:"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("gone.eml"), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("racy.eml"), "{}", outcome.stdout);
}

/// Violation over unknown: the first file is decided, the second is not.
#[test]
fn a_limit_leaves_the_rest_open() {
    let project = Project::new("limit", &[("a.eml", RACY), ("b.eml", SAFE)]);
    let (code, value) = project.json(&["a.eml", "b.eml", "--timeout", "0"]);
    assert_eq!(code, Some(3));
    assert_eq!(value["verdict"], "unknown");
    for file in value["files"].as_array().expect("files") {
        assert_eq!(file["open"][0], "the time limit was reached");
    }
    let (code, value) = project.json(&["a.eml", "b.eml", "--memory", "1"]);
    assert_eq!((code, &value["verdict"]), (Some(3), &"unknown".into()));
}

/// A program with thousands of questions that take a moment each.
fn many_questions() -> String {
    let names = |letter: char| {
        let names: Vec<String> = (0..8).map(|at| format!("{letter}{at}")).collect();
        names.join(", ")
    };
    let statement = |process: usize, function: usize, at: usize| {
        let (x, y) = ((process + function * at) % 8, (function + at) % 8);
        match (process + function + at) % 3 {
            0 => format!("unit {{ read x{x}; write x{y}; }}"),
            1 => format!("synchronized(l{y}) {{ write x{x}; read x{y}; }}"),
            _ => format!("write x{y};"),
        }
    };
    let function = |process: usize, function: usize| {
        let body: Vec<String> = (0..6).map(|at| statement(process, function, at)).collect();
        let next =
            if function < 11 { format!("if (*) f{}();", function + 1) } else { String::new() };
        format!("f{function} {{ {} {next} }}\n", body.join(" "))
    };
    let process = |process: usize| {
        let functions: Vec<String> = (0..12).map(|at| function(process, at)).collect();
        let main = "main { unit { f0(); } while (*) { f5(); } }";
        format!("process P{process} {{\n{}{main}\n}}\n", functions.concat())
    };
    let processes: Vec<String> = (0..4).map(process).collect();
    format!("lock : {};\nvar : {};\n{}", names('l'), names('x'), processes.concat())
}

/// After the limit none of the questions is begun.
#[test]
fn a_limit_ends_many_questions_at_once() {
    let project = Project::new("many", &[("a.eml", &many_questions())]);
    let start = std::time::Instant::now();
    let arguments = ["a.eml", "--only", "atomicity", "--timeout", "0.3", "--no-fixes"];
    let (code, value) = project.json(&arguments);
    let took = start.elapsed();
    assert!(took < std::time::Duration::from_secs(8), "{took:?}");
    assert!(matches!(code, Some(1 | 3)));
    assert!(value["stats"]["unknown"].as_u64() > Some(1000), "{}", value["stats"]);
}

#[test]
fn folders() {
    let project = Project::new(
        "folders",
        &[
            ("m/b.eml", SAFE),
            ("m/a/z.slv", ""),
            ("m/a/y.eml", SAFE),
            ("m/c.txt", "not this one"),
            ("m/.hidden.eml", BAD),
            ("m/.git/x.eml", BAD),
            ("empty/readme.md", ""),
            ("named.txt", SAFE),
            ("other.txt", "hello"),
            ("p.ipa", "property"),
        ],
    );
    let model = project.run(&["show", "m/b.eml", "--format", "model"]).stdout;
    project.write("m/a/z.slv", &model);
    let (code, value) = project.json(&["m"]);
    assert_eq!(code, Some(0));
    assert_eq!(names(&value), ["m/a/y.eml", "m/a/z.slv", "m/b.eml"]);
    // Each file once, in the order of the command line.
    let (_, value) = project.json(&["m/b.eml", "m", "m/../m/b.eml", "m"]);
    assert_eq!(names(&value), ["m/b.eml", "m/a/y.eml", "m/a/z.slv"]);
    // Hidden files can be named; other names are told by their contents.
    assert_eq!(project.check(&["m/.hidden.eml"]).code, Some(2));
    let (code, value) = project.json(&["named.txt"]);
    assert_eq!((code, names(&value)), (Some(0), vec!["named.txt"]));
    for (path, said) in [
        ("other.txt", ".eml"),
        ("p.ipa", "--property"),
        ("empty", "nothing to check in this folder"),
        ("nowhere", "nowhere"),
    ] {
        let outcome = project.check(&[path]);
        assert_eq!(outcome.code, Some(2), "{path}");
        assert!(outcome.stderr.contains(said), "{path}: {}", outcome.stderr);
    }
}

#[cfg(unix)]
#[test]
fn links_and_strange_names() {
    use std::os::unix::ffi::OsStrExt;
    let project = Project::new("links", &[("m/a.eml", SAFE)]);
    std::os::unix::fs::symlink("..", project.0.join("m/loop")).expect("a link");
    std::os::unix::fs::symlink("a.eml", project.0.join("m/b.eml")).expect("a link");
    std::os::unix::fs::symlink("nowhere", project.0.join("m/c.eml")).expect("a link");
    let (code, value) = project.json(&["m"]);
    assert_eq!((code, names(&value)), (Some(0), vec!["m/a.eml"]));
    // Control characters, markup and bytes that are not UTF-8 in a name.
    let strange = Project::new("strange", &[("\u{1b}[31m<blink>\"&.eml", RACY)]);
    let bytes = std::ffi::OsStr::from_bytes(b"caf\xff.eml");
    std::fs::write(strange.0.join(bytes), RACY).expect("written");
    for format in ["text", "json", "sarif", "junit"] {
        let outcome = strange.check(&[".", "--format", format, "--html", "r.html"]);
        assert_eq!(outcome.code, Some(1), "{format}: {}", outcome.stderr);
        assert!(!outcome.stdout.contains('\u{1b}'), "{format}");
        let page = strange.read("r.html");
        assert!(!page.contains('\u{1b}') && !page.contains("<blink>"));
    }
}

/// Names in the model that terminals and browsers would act upon.
#[test]
fn hostile_names_in_models() {
    let project = Project::new("hostile", &[("a.eml", RACY)]);
    let model = project.run(&["show", "a.eml", "--format", "model"]).stdout;
    let hostile = model.replace("thread A ", "thread \"<script>\\u{1b}\" ");
    project.write("b.slv", &hostile);
    let outcome = project.check(&["b.slv", "--html", "r.html"]);
    assert!(matches!(outcome.code, Some(1 | 2)), "{}", outcome.stderr);
    assert!(!outcome.stdout.contains('\u{1b}') && !outcome.stderr.contains('\u{1b}'));
}

#[test]
fn nothing_to_ask() {
    let project = Project::new("one", &[("one.eml", "var : x;\nprocess A { main { read x; } }\n")]);
    let outcome = project.check(&["one.eml"]);
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.stderr.starts_with("warning"), "{}", outcome.stderr);
}

#[test]
fn a_folder_with_nothing_to_check_is_an_error() {
    let project = Project::new("nothing", &[("a/notes.md", "x")]);
    let outcome = project.check(&["a"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("there is nothing to check in this folder"));
}

#[test]
fn standard_input() {
    let outcome = common::run_with_input(&["check", "-", "--no-cache"], RACY.as_bytes());
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stdout.contains("<stdin>"), "{}", outcome.stdout);
    let watched = common::run_with_input(&["check", "-", "--watch"], RACY.as_bytes());
    assert_eq!(watched.code, Some(2));
}

#[test]
fn results_do_not_depend_on_the_number_of_jobs() {
    let examples = root().join("examples");
    let run = |jobs: &str| {
        let path = examples.to_str().expect("UTF-8");
        // How far a search comes until the clock ends it is another matter; work is counted the same.
        let limits = ["--max-work", "100000", "--jobs", jobs];
        let arguments = [&["check", "--no-cache", path, "--format", "json"], &limits[..]].concat();
        let text = common::run(&arguments).stdout;
        let mut value: Value = serde_json::from_str(&text).expect("JSON");
        value["stats"]["seconds"] = Value::Null;
        value["stats"]["peak_memory_bytes"] = Value::Null;
        value
    };
    let one = run("1");
    assert!(names(&one).len() >= 10);
    let files = one["files"].as_array().expect("files");
    let open = |file: &&Value| file["open"].as_array().is_some_and(|open| !open.is_empty());
    // Some are beyond the limit, and why is compared as well.
    assert!(files.iter().any(|file| open(&file)), "nothing is open");
    assert_eq!(one, run("7"));
}

#[test]
fn closed_pipes() {
    let project = Project::new("pipe", &[("a.eml", RACY)]);
    for arguments in [
        &["check", "a.eml", "--no-cache"][..],
        &["check", "a.eml", "--no-cache", "--format", "sarif"],
        &["check", "a.eml", "--no-cache", "--watch", "--watch-iterations", "9"],
    ] {
        let mut child = command(arguments)
            .current_dir(&project.0)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        drop(child.stdout.take());
        let mut complaints = String::new();
        child.stderr.take().expect("a pipe").read_to_string(&mut complaints).expect("UTF-8");
        assert_eq!(child.wait().expect("it ends").code(), Some(1), "{arguments:?}");
        assert_eq!(complaints, "", "{arguments:?}");
    }
}
