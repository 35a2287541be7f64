//! `selvedge check` as a user runs it: exit codes and their precedence, folders, formats,
//! configuration, suppressions, baselines.

mod common;

use common::{Outcome, command, root, scratch};
use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// A race, an atomicity violation and nothing else.
const RACY: &str = "\
var : x;
process A { main { unit { read x; write x; } } }
process B { main { unit { read x; write x; } } }
";
const DEADLOCK: &str = "\
lock : l, m;
process A { main { synchronized(l) { synchronized(m) { skip; } } } }
process B { main { synchronized(m) { synchronized(l) { skip; } } } }
";
const SAFE: &str = "\
lock : l;
var : x;
process A { main { synchronized(l) { unit { read x; write x; } } } }
process B { main { synchronized(l) { unit { read x; write x; } } } }
";
const BAD: &str = "var : x;\nprocess A { main { read y; } }\n";

/// A folder with files.
struct Project(PathBuf);

impl Project {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let project = Self(scratch(&format!("check-{name}")));
        for (file, text) in files {
            project.write(file, text);
        }
        project
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.0.join(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }

    fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.0.join(file)).expect("readable")
    }

    /// Runs in the folder, without a cache.
    fn check(&self, arguments: &[&str]) -> Outcome {
        self.run(&[&["check", "--no-cache"], arguments].concat())
    }

    fn run(&self, arguments: &[&str]) -> Outcome {
        let output = command(arguments)
            .current_dir(&self.0)
            .stdin(Stdio::null())
            .output()
            .expect("the program runs");
        Outcome {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }

    fn json(&self, arguments: &[&str]) -> (Option<i32>, Value) {
        let outcome = self.check(&[&["--format", "json"], arguments].concat());
        let value = serde_json::from_str(&outcome.stdout);
        (outcome.code, value.unwrap_or_else(|error| panic!("{error}: {}", outcome.stderr)))
    }
}

fn names(value: &Value) -> Vec<&str> {
    let files = value["files"].as_array().expect("files");
    files.iter().map(|file| file["file"].as_str().expect("a name")).collect()
}

fn count(value: &Value, what: &str) -> usize {
    let files = value["files"].as_array().expect("files").iter();
    files.map(|file| file[what].as_array().map_or(0, Vec::len)).sum()
}

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
        ("empty", "no .eml or .slv file"),
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
fn standard_input() {
    let outcome = common::run_with_input(&["check", "-", "--no-cache"], RACY.as_bytes());
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stdout.contains("<stdin>"), "{}", outcome.stdout);
    let watched = common::run_with_input(&["check", "-", "--watch"], RACY.as_bytes());
    assert_eq!(watched.code, Some(2));
}

#[test]
fn formats_and_files() {
    let project = Project::new("formats", &[("a.eml", RACY), ("b.eml", SAFE)]);
    let text = project.check(&["a.eml", "b.eml"]);
    assert_eq!(text.stderr, "");
    let (_, json) = project.json(&["a.eml", "b.eml"]);
    assert_eq!(json["verdict"], "violation");
    assert_eq!(count(&json, "findings"), 3, "two broken units and a race");
    let sarif: Value =
        serde_json::from_str(&project.check(&["a.eml", "--format", "sarif"]).stdout).expect("JSON");
    assert_eq!(sarif["version"], "2.1.0");
    let junit = project.check(&["a.eml", "--format", "junit"]).stdout;
    assert!(junit.starts_with("<?xml"), "{junit}");
    let written =
        project.check(&["a.eml", "--format", "sarif", "--output", "out.sarif", "--html", "r.html"]);
    assert_eq!((written.code, written.stdout.as_str()), (Some(1), ""));
    let again: Value = serde_json::from_str(&project.read("out.sarif")).expect("JSON");
    assert_eq!(again, sarif);
    assert!(project.read("r.html").starts_with("<!"));
    for option in ["--output", "--html", "--write-baseline"] {
        let outcome = project.check(&["a.eml", option, "no/such/folder/file"]);
        assert_eq!(outcome.code, Some(2), "{option}");
        assert!(outcome.stderr.contains("cannot write"), "{option}");
    }
    let short = project.check(&["a.eml", "--max-findings", "0"]).stdout;
    let hidden = project.check(&["a.eml", "--no-witness"]).stdout;
    assert!(short.len() < text.stdout.len() && hidden.len() < text.stdout.len());
}

/// A browser that is not there is a warning.
#[test]
fn opening_the_page() {
    let project = Project::new("open", &[("a.eml", SAFE)]);
    let run = |path: &Path| {
        command(&["check", "--no-cache", "a.eml", "--html", "r.html", "--open"])
            .current_dir(&project.0)
            .env("PATH", path)
            .output()
            .expect("the program runs")
    };
    let missing = run(&project.0);
    assert_eq!(missing.status.code(), Some(0));
    let said = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(said.starts_with("warning: r.html cannot be opened"), "{said}");
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::PermissionsExt;
        project.write("bin/xdg-open", "#!/bin/sh\necho \"$1\" > opened\n");
        project.write("failing/xdg-open", "#!/bin/sh\nexit 4\n");
        let failing = project.0.join("failing/xdg-open");
        std::fs::set_permissions(&failing, PermissionsExt::from_mode(0o755)).expect("executable");
        let failed = run(&project.0.join("failing"));
        assert_eq!(failed.status.code(), Some(0));
        assert!(String::from_utf8_lossy(&failed.stderr).contains("cannot be opened"));
        let opener = project.0.join("bin/xdg-open");
        std::fs::set_permissions(&opener, PermissionsExt::from_mode(0o755)).expect("executable");
        let opened = run(&project.0.join("bin"));
        assert!(opened.stderr.is_empty());
        assert!(project.read("opened").trim().ends_with("r.html"));
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_jobs() {
    let examples = root().join("examples");
    let run = |jobs: &str| {
        let path = examples.to_str().expect("UTF-8");
        let arguments = ["check", "--no-cache", path, "--format", "json", "--jobs", jobs];
        let mut value: Value = serde_json::from_str(&common::run(&arguments).stdout).expect("JSON");
        value["stats"]["seconds"] = Value::Null;
        value
    };
    let one = run("1");
    assert!(names(&one).len() >= 10);
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

#[test]
fn findings_of_several_files() {
    let model = include_str!("../../../examples/two-files.slv");
    let project = Project::new("files", &[("m/a.slv", model)]);
    let (code, value) = project.json(&["."]);
    assert_eq!((code, count(&value, "findings")), (Some(1), 3));
    for (conditions, suppressed) in [
        ("file = 'm/a.slv'", 3),
        ("file = 'src/shop/Seller.java'", 2),
        ("file = 'Seller.java'", 2),
        ("file = 'Seller.java'\nline = 12", 1),
        ("file = 'Auditor.java'\nline = 12", 0),
        ("file = 'Auditor.java'\nline = 8", 1),
        ("line = 12", 1),
        ("file = 'shop.Log'", 1),
        ("file = 'shop.Log'\nrule = 'deadlock'", 0),
        ("file = 'Nobody.java'", 0),
    ] {
        project.write("selvedge.toml", &format!("[[suppress]]\nreason = 'known'\n{conditions}\n"));
        let (_, value) = project.json(&["."]);
        assert_eq!(count(&value, "suppressed"), suppressed, "{conditions}");
        let warned = project.check(&["."]).stderr.contains("unused-suppression");
        // A file that nothing comes from may be one of another run.
        let unused = suppressed == 0 && !conditions.contains("Nobody");
        assert_eq!(warned, unused, "{conditions}");
    }
    project.write("selvedge.toml", "");
    // What the cache keeps of places is what was found.
    let cached = ["check", "--cache-dir", "kept", "--format", "json", "m/a.slv"];
    let findings = |text: &str| {
        let value: Value = serde_json::from_str(text).expect("JSON");
        value["files"].clone()
    };
    let first = project.run(&cached).stdout;
    assert_eq!(findings(&project.run(&cached).stdout), findings(&first));
    project.write("report.json", &first);
    let replayed = project.run(&["replay", "m/a.slv", "report.json"]);
    assert_eq!(replayed.code, Some(0), "{}{}", replayed.stdout, replayed.stderr);
}

#[test]
fn suppressions() {
    let project = Project::new("suppress", &[("m/a.eml", RACY)]);
    let (_, all) = project.json(&["m"]);
    let findings = all["files"][0]["findings"].as_array().expect("findings");
    let print = |rule: &str| {
        let of_rule = findings.iter().find(|finding| finding["rule"] == rule).expect("one");
        of_rule["fingerprint"].as_str().expect("a word").to_owned()
    };
    let race = print("data-race");
    let broken = findings.len() - 1;
    for (conditions, suppressed) in [
        ("rule = 'data-race'".to_owned(), 1),
        (format!("fingerprint = '{race}'"), 1),
        ("rule = 'atomicity-violation'".to_owned(), broken),
        ("file = 'm/*.eml'".to_owned(), broken + 1),
        ("file = 'a.eml'".to_owned(), broken + 1),
        ("file = '*.slv'".to_owned(), 0),
        ("threads = ['A', 'B']".to_owned(), broken + 1),
        ("threads = ['C']".to_owned(), 0),
        ("locations = ['x']\nline = 2".to_owned(), broken + 1),
        ("line = 1".to_owned(), 0),
        (format!("rule = 'deadlock'\nfingerprint = '{race}'"), 0),
    ] {
        project.write("selvedge.toml", &format!("[[suppress]]\nreason = 'known'\n{conditions}\n"));
        let (code, value) = project.json(&["m"]);
        assert_eq!(count(&value, "suppressed"), suppressed, "{conditions}");
        assert_eq!(count(&value, "findings"), broken + 1 - suppressed, "{conditions}");
        assert_eq!(code, Some(i32::from(suppressed <= broken)), "{conditions}");
        let outcome = project.check(&["m"]);
        let unused = suppressed == 0 && !conditions.starts_with("file");
        assert_eq!(outcome.stderr.contains("unused-suppression"), unused, "{conditions}");
        assert_eq!(outcome.stderr.is_empty(), !unused, "{conditions}: {}", outcome.stderr);
        assert_eq!(outcome.stdout.contains("suppressed"), suppressed > 0, "{}", outcome.stdout);
    }
}

#[test]
fn where_the_configuration_is() {
    let project = Project::new("config", &[("m/deep/a.eml", RACY), ("other/b.eml", RACY)]);
    let only_deadlocks = "only = ['deadlock']\n";
    assert_eq!(project.check(&["m"]).code, Some(1));
    project.write("selvedge.toml", only_deadlocks);
    assert_eq!(project.check(&["m"]).code, Some(0), "of the current folder");
    assert_eq!(project.check(&["m/deep/a.eml"]).code, Some(0), "above the file");
    assert_eq!(project.check(&["m", "--only", "race"]).code, Some(1), "the command line wins");
    project.write("m/selvedge.toml", "only = ['race']\n");
    assert_eq!(project.check(&["m/deep/a.eml"]).code, Some(1), "the nearest");
    assert_eq!(project.check(&["other", "m"]).code, Some(0), "that of the first path");
    assert_eq!(project.check(&["m", "--config", "selvedge.toml"]).code, Some(0), "as named");
    assert_eq!(project.check(&["m", "--config", "nowhere.toml"]).code, Some(2));
    // Every setting has an effect.
    for (text, arguments, expected) in [
        ("timeout = 0", &[][..], 3),
        ("timeout = 0", &["--timeout", "100"], 1),
        ("memory = 1", &[], 3),
        ("memory = 1", &["--memory", "100000"], 1),
        ("units = 'paper'\npatterns = [20]", &[], 2),
        ("units = 'paper'\npatterns = [20]", &["--units", "exact", "--only", "atomicity"], 0),
        ("patterns = '20'\nonly = ['atomicity']", &[], 0),
        ("patterns = '20'\nonly = ['atomicity']", &["--patterns", "all"], 1),
    ] {
        project.write("c.toml", text);
        let outcome = project.check(&[&["m", "--config", "c.toml"], arguments].concat());
        assert_eq!(outcome.code, Some(expected), "{text} {arguments:?}: {}", outcome.stderr);
    }
    for (text, arguments, fixed) in [
        ("fixes = false", &[][..], false),
        ("fixes = false", &["--fixes"], true),
        ("fixes = true", &["--no-fixes"], false),
        ("", &["--no-fixes", "--fixes"], true),
    ] {
        project.write("c.toml", text);
        let (_, value) = project.json(&[&["m", "--config", "c.toml"], arguments].concat());
        let findings = value["files"][0]["findings"].as_array().expect("findings");
        let any = findings.iter().any(|finding| !finding["fix"].is_null());
        assert_eq!(any, fixed, "{text} {arguments:?}");
    }
}

#[test]
fn mistakes_in_the_configuration() {
    let text = "pattern = 'all'\ntimeout = 'soon'\n[[suppress]]\nrule = 'data-rice'\n";
    let project = Project::new("mistakes", &[("a.eml", RACY), ("selvedge.toml", text)]);
    let outcome = project.check(&["a.eml", "--width", "90"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""));
    for said in
        ["--> selvedge.toml:1:1", ":2:11", "did you mean `patterns`?", "`data-race`", "reason"]
    {
        assert!(outcome.stderr.contains(said), "{said}: {}", outcome.stderr);
    }
}

#[test]
fn baselines() {
    let project = Project::new("baseline", &[("m/a.eml", RACY), ("m/b.eml", SAFE)]);
    let written = project.check(&["m", "--write-baseline", "known.json"]);
    assert_eq!(written.code, Some(1));
    let text = project.read("known.json");
    let (code, value) = project.json(&["m", "--baseline", "known.json"]);
    assert_eq!((code, count(&value, "findings")), (Some(0), 0));
    assert_eq!(count(&value, "baseline"), 3);
    assert!(project.check(&["m", "--baseline", "known.json"]).stdout.contains("baseline"));
    // The same bytes again, also from another folder and with the baseline in use.
    project.check(&[
        "./m/b.eml",
        "m",
        "--baseline",
        "known.json",
        "--write-baseline",
        "again.json",
    ]);
    assert_eq!(project.read("again.json"), text);
    let elsewhere = Project(project.0.join("m"));
    assert_eq!(elsewhere.check(&["a.eml", "--baseline", "../known.json"]).code, Some(0));
    // Lines before do not matter; another file with the same findings is new.
    project.write("m/a.eml", &format!("// a remark\n\n{RACY}"));
    assert_eq!(project.check(&["m", "--baseline", "known.json"]).code, Some(0));
    project.write("m/c.eml", RACY);
    let (code, value) = project.json(&["m", "--baseline", "known.json"]);
    assert_eq!((code, count(&value, "findings"), count(&value, "baseline")), (Some(1), 3, 3));
    std::fs::remove_file(project.0.join("m/c.eml")).expect("removed");
    // What is gone is said, for the files and kinds that were looked at.
    project.write("m/a.eml", SAFE);
    let gone = project.check(&["m", "--baseline", "known.json"]);
    assert_eq!(gone.code, Some(0));
    assert!(gone.stderr.contains("3 findings of the baseline are gone"), "{}", gone.stderr);
    assert_eq!(project.check(&["m/b.eml", "--baseline", "known.json"]).stderr, "");
    for wrong in ["m/a.eml", "nowhere.json"] {
        assert_eq!(project.check(&["m", "--baseline", wrong]).code, Some(2), "{wrong}");
    }
}

/// One entry covers one finding: with one of two equal entries removed, one finding is new.
#[test]
fn a_second_equal_finding_is_new() {
    let twice = "\
var : x;
process A { main { read x; read x; } }
process B { main { write x; write x; } }
";
    let project = Project::new("multiset", &[("a.eml", twice)]);
    project.check(&["a.eml", "--only", "race", "--write-baseline", "known.json"]);
    let mut document: Value = serde_json::from_str(&project.read("known.json")).expect("JSON");
    let entries = document["findings"].as_array_mut().expect("findings");
    let (before, mut unique) = (entries.len(), entries.clone());
    assert!(before >= 1);
    unique.dedup();
    entries.pop();
    project.write("known.json", &document.to_string());
    let (code, value) = project.json(&["a.eml", "--only", "race", "--baseline", "known.json"]);
    assert_eq!((code, count(&value, "findings")), (Some(1), 1));
    assert_eq!(count(&value, "baseline"), before - 1);
}
