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
    assert_eq!(count(&json, "findings"), 2, "two units that break each other, and a race");
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
    assert!(said.contains("warning: r.html cannot be opened"), "{said}");
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
        assert_eq!(
            String::from_utf8_lossy(&opened.stderr),
            "The report for the browser is in r.html\n"
        );
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
    assert_eq!(count(&value, "baseline"), 2);
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
    assert_eq!((code, count(&value, "findings"), count(&value, "baseline")), (Some(1), 2, 2));
    std::fs::remove_file(project.0.join("m/c.eml")).expect("removed");
    // What is gone is said, for the files and kinds that were looked at.
    project.write("m/a.eml", SAFE);
    let gone = project.check(&["m", "--baseline", "known.json"]);
    assert_eq!(gone.code, Some(0));
    assert!(gone.stderr.contains("2 findings of the baseline are gone"), "{}", gone.stderr);
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

/// An assertion that fails, a label that is reached.
const FAILING: &str = "\
decl x;
void main() begin x := F; start_thread t(); assert(!x); if x then ERROR: skip; fi end
void t() begin x := T; end
";

/// Every language, and what can be asked in it; the safe file beside them changes nothing.
#[test]
fn all_languages_are_checked() {
    let walk = |extension: &str| {
        let path = root().join(format!("examples/recursive-walk.{extension}"));
        std::fs::read_to_string(path).expect("an example")
    };
    let (system, init, spec) = (walk("pds"), walk("init"), walk("spec"));
    let typed = "int 0..3 : n = 0; lock : l, m;
process A { main { n = n + 2; synchronized(l) { synchronized(m) { skip; } } } }
process B { main { n = n + 2; synchronized(m) { synchronized(l) { skip; } } } }";
    let project = Project::new(
        "languages",
        &[
            ("safe.eml", SAFE),
            ("data.bp", FAILING),
            ("sub/walk.pds", &system),
            ("sub/walk.init", &init),
            ("sub/walk.spec", &spec),
            ("typed.eml", typed),
            ("notes.md", "notes"),
            ("lone.spec", "0|1"),
            ("selvedge.toml", ""),
        ],
    );
    let (code, value) = project.json(&["."]);
    assert_eq!((code, &value["verdict"]), (Some(1), &"violation".into()));
    assert_eq!(names(&value), ["./data.bp", "./safe.eml", "./sub/walk.pds", "./typed.eml"]);
    let rules = |at: usize| -> Vec<&str> {
        let findings = value["files"][at]["findings"].as_array().expect("findings");
        findings.iter().map(|one| one["rule"].as_str().expect("a rule")).collect()
    };
    assert_eq!(rules(0), ["assertion-failure", "label-reached"]);
    assert!(rules(1).is_empty());
    assert_eq!(rules(2), ["state-reached"]);
    assert_eq!(rules(3)[..3], ["assertion-failure", "assertion-failure", "stuck"]);
    assert_eq!(value["files"][3]["findings"][0]["tags"][0], "range");
    assert_eq!(value["stats"]["other_files"], 2);
    assert_eq!(value["stats"]["seconds_for_data"], 60);
    let text = project.check(&["."]);
    assert!(text.stdout.contains("\n2 files of other kinds\n"), "{}", text.stdout);
    assert!(text.stdout.contains("files with data had 60 s each"), "{}", text.stdout);
    // A limit of the user's is the only one.
    let limited = project.json(&[".", "--timeout", "100"]).1;
    assert!(limited["stats"].get("seconds_for_data").is_none());

    let only = |kinds: &str| project.check(&[".", "--no-witness", "--only", kinds]);
    let assertions = only("assertion");
    assert_eq!(assertions.code, Some(1));
    for word in ["assertion failure", "reached label", "reached state"] {
        assert!(assertions.stdout.contains(word), "{}", assertions.stdout);
    }
    assert!(!assertions.stdout.contains("dead end"), "{}", assertions.stdout);
    assert!(only("deadlock").stdout.contains("1 dead end"));
    for format in ["sarif", "junit", "dot"] {
        let outcome = project.check(&["data.bp", "--format", format]);
        assert_eq!(outcome.code, Some(1));
        let wanted = if format == "dot" { "digraph" } else { "assertion-failure" };
        assert!(outcome.stdout.contains(wanted), "{format}: {}", outcome.stdout);
    }
}

/// Findings of programs with data are kept, known and suppressed as all others are.
#[test]
fn findings_with_data_have_a_cache_a_baseline_and_suppressions() {
    let project = Project::new(
        "data",
        &[
            ("data.bp", FAILING),
            (
                "b.eml",
                "int 0..1 : n = 1;
process A { main { n = n + 1; } }
process B { main { skip; } }",
            ),
        ],
    );
    let cached = |arguments: &[&str]| {
        project.run(&[&["check", ".", "--cache-dir", ".cache", "--stats"], arguments].concat())
    };
    let (first, again) = (cached(&[]), cached(&[]));
    let known = |outcome: &Outcome| {
        let line = outcome.stderr.lines().find(|line| line.contains("from-cache"));
        line.map(|line| line.trim().to_owned())
    };
    assert_eq!(known(&first).as_deref(), Some("from-cache                    0"));
    assert_eq!(known(&again).as_deref(), Some("from-cache                    2"));
    assert_eq!(first.code, Some(1));
    let cut = |text: &str| text.lines().filter(|line| !line.contains(" in 0.")).count();
    assert_eq!(cut(&first.stdout), cut(&again.stdout));
    assert_eq!(project.check(&[".", "--write-baseline", "known.json"]).code, Some(1));
    assert_eq!(project.check(&[".", "--baseline", "known.json"]).code, Some(0));
    let rules = ["assertion-failure", "label-reached"];
    let entries = rules.map(|rule| format!("[[suppress]]\nrule = {rule:?}\nreason = \"so\"\n"));
    project.write("selvedge.toml", &entries.concat());
    assert_eq!(project.check(&["."]).code, Some(0));
}

#[test]
fn a_folder_with_nothing_to_check_is_an_error() {
    let project = Project::new("nothing", &[("a/notes.md", "x")]);
    let outcome = project.check(&["a"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("there is nothing to check in this folder"));
}

/// The tour's program without its units: nothing is claimed to be atomic.
#[test]
fn a_proof_of_nothing_is_none() {
    let text = "lock : desk;
var  : free;
process Alice {
    look { synchronized(desk) { read free; } }
    book { synchronized(desk) { write free; } }
    main { while (*) { look(); if (*) book(); } }
}
process Bob {
    look { synchronized(desk) { read free; } }
    book { synchronized(desk) { write free; } }
    trade { look(); book(); }
    main { while (*) { trade(); } }
}
";
    let project = Project::new("vacuous", &[("seats.eml", text)]);
    let outcome = project.check(&["seats.eml"]);
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.stderr.contains("warning[no-units]"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("--> seats.eml:6:24"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("--add-units functions"), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("1 proved safe, 10 that nothing could violate"));
    assert!(!outcome.stdout.contains("No atomicity violation"), "{}", outcome.stdout);
    let (_, value) = project.json(&["seats.eml"]);
    assert_eq!(value["files"][0]["tallies"]["atomicity-violation"]["vacuous"], 10);
    assert_eq!(value["complaints"][0]["code"], "no-units");

    // Bob's trade is a unit of two blocks; each block alone is atomic.
    let functions = project.check(&["seats.eml", "--add-units", "functions"]);
    assert_eq!(functions.code, Some(1), "{}", functions.stdout);
    assert!(functions.stdout.contains("Bob vs Alice"), "{}", functions.stdout);
    assert!(!functions.stderr.contains("no-units"));
    let locks = project.check(&["seats.eml", "--add-units", "locks"]);
    assert_eq!((locks.code, locks.stderr.as_str()), (Some(0), ""));
    assert!(locks.stdout.contains("No atomicity violation"), "{}", locks.stdout);
    project.write("selvedge.toml", "add-units = \"functions\"\n");
    assert_eq!(project.check(&["seats.eml"]).code, Some(1));
}

#[test]
fn what_a_program_lacks_is_said() {
    let lacking = "lock : l, never;
var : x, constant;
process A { unused { synchronized(never) { skip; } } main { unit { synchronized(l) { read x; write x; read constant; } } } }
process B { main { unit { synchronized(l) { write x; read constant; } } } }
process C { main { skip; } }
";
    let asserting = "decl x;
void main() begin x := F; start_thread t(); assert(!x | x); if x then assert(x); fi end
void t() begin skip; end
";
    let project = Project::new("lacking", &[("a.eml", lacking), ("b.bp", asserting)]);
    let outcome = project.check(&["a.eml"]);
    for (code, place) in
        [("lock-never-taken", "1:11"), ("never-written", "2:10"), ("shares-nothing", "5:9")]
    {
        let at = outcome.stderr.find(&format!("warning[{code}]")).expect(code);
        assert!(outcome.stderr[at..].contains(&format!("--> a.eml:{place}")), "{}", outcome.stderr);
    }
    assert!(!outcome.stderr.contains("no-units"));
    let outcome = project.check(&["b.bp"]);
    assert!(outcome.stderr.contains("warning[assertion-never-reached]"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("--> b.bp:2:71"), "{}", outcome.stderr);
    assert_eq!(outcome.stderr.matches("warning[").count(), 1);
}

/// An output is neither an input, nor another output, nor in place of something else.
#[test]
fn outputs_destroy_nothing() {
    let files = [("a.eml", RACY), ("b.eml", SAFE), ("notes.txt", "mine"), ("known.json", "{}")];
    let project = Project::new("outputs", &files);
    for (arguments, said) in [
        (&["--html", "a.eml", "b.eml"][..], "--html a.eml would overwrite a file of another kind"),
        (&["a.eml", "--html", "./a.eml"], "would overwrite a file that is read"),
        (&["a.eml", "--html", "notes.txt"], "(a page for the browser instead of text)"),
        (
            &["a.eml", "--output", "new", "--html", "./new"],
            "--html and --output name the same file",
        ),
        (&["a.eml", "--output", "b.eml"], "of another kind"),
        (&["a.eml", "--output", "known.json"], "of another kind"),
        (&["a.eml", "--write-baseline", "notes.txt"], "of another kind"),
    ] {
        let outcome = project.check(arguments);
        assert_eq!(outcome.code, Some(2), "{arguments:?}");
        assert!(outcome.stderr.contains(said), "{arguments:?}: {}", outcome.stderr);
        assert_eq!(outcome.stdout, "");
        for (file, text) in files {
            assert_eq!(project.read(file), text, "{arguments:?}");
        }
    }
    // The same kind of file is written again.
    for _ in 0..2 {
        let arguments =
            ["a.eml", "--output", "r.txt", "--html", "r.html", "--write-baseline", "k.json"];
        let outcome = project.check(&arguments);
        assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
        assert_eq!(outcome.stderr, "The report for the browser is in r.html\n");
    }
    let arguments = ["a.eml", "--baseline", "k.json", "--write-baseline", "k.json"];
    assert_eq!(project.check(&arguments).code, Some(0));
    let outcome = project.run(&["race", "a.eml", "--html", "a.eml"]);
    assert_eq!((outcome.code, project.read("a.eml").as_str()), (Some(2), RACY));
}

/// A file that could not be read is the first thing on the page.
#[test]
fn the_page_shows_errors_and_warnings() {
    let files =
        [("safe.eml", SAFE), ("bad.eml", BAD), ("c.eml", "var : x; process A { main { } }")];
    let project = Project::new("page", &files);
    let outcome = project.check(&["safe.eml", "bad.eml", "c.eml", "--html", "page.html"]);
    assert_eq!(outcome.code, Some(2));
    let page = project.read("page.html");
    for shown in [
        "1 error: not everything was analysed",
        "Errors in the input (1)",
        "bad.eml:2:25",
        "unknown-location",
        "Warnings about the input",
        "Exit code 2",
        "options: assertion, deadlock, atomicity, race; 32 patterns",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
    assert!(!page.contains("verdict calm"));
    let outcome = project.check(&["safe.eml", "--html", "page.html"]);
    assert_eq!(outcome.code, Some(0));
    assert!(project.read("page.html").contains("verdict calm"));
}

/// "A vs B" and "B vs A" are one mistake, and so are those of copies.
#[test]
fn both_sides_of_a_mistake_are_one_finding() {
    let copies = "var : x; lock : l;
process W[3] { main { unit { synchronized(l) { read x; } synchronized(l) { write x; } } } }";
    let project = Project::new("sides", &[("racy.eml", RACY), ("copies.eml", copies)]);
    for file in ["racy.eml", "copies.eml"] {
        let (_, value) = project.json(&[file, "--only", "atomicity"]);
        assert_eq!(count(&value, "findings"), 1, "{file}");
        let fix = &value["files"][0]["findings"][0]["fix"];
        assert!(fix["text"].is_string(), "{file}: the fix cures both sides");
    }
}

/// Many files are summed up on one screen, the worst of all first.
#[test]
fn many_files_are_one_screen() {
    let project = Project::new("screen", &[("z.bp", FAILING), ("dead.eml", DEADLOCK)]);
    for at in 0..60 {
        project.write(&format!("m/racy{at}.eml"), RACY);
        project.write(&format!("m/safe{at}.eml"), SAFE);
    }
    let outcome = project.check(&[".", "--no-witness"]);
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert!(lines.len() <= 30, "{}", outcome.stdout);
    assert_eq!(lines[0], "123 findings in 62 of 122 files");
    for (line, kind) in lines[1..].iter().zip(["assertion failure", "reached label", "deadlock"]) {
        assert!(line.trim_start().starts_with(kind), "{line}");
    }
    assert!(lines[1].contains("./z.bp:2:45"), "{}", lines[1]);
    assert!(outcome.stdout.contains("  … and 111 more\n"), "{}", outcome.stdout);
    let outcome = project.check(&[".", "--max-findings", "2"]);
    assert!(outcome.stdout.contains("1 of 123: assertion failure"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("121 more findings without interleavings (--max-findings 123"));
    let graph = project.check(&["m", "--format", "dot"]);
    assert_eq!(graph.stdout.matches("digraph").count(), 1);
    assert_eq!(graph.stdout.matches("subgraph cluster_f").count(), 360);
}
