//! Programs in Java on the command line: what was understood of them, models, sources, compilers, the cache.

mod common;

use common::{Outcome, command, root, run};
use std::path::{Path, PathBuf};

const CAUSES: &str = "crates/front-java/tests/classes/causes.jar";

/// A folder of its own for a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("java").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn list(what: &str, main: &str) -> String {
    let listed = run(&["check", CAUSES, "--main", main, "--list", what]);
    assert_eq!((listed.code, listed.stderr.as_str()), (Some(0), ""));
    listed.stdout
}

#[test]
fn what_was_understood_is_listed() {
    let kinds = list("kinds", "Inventory");
    assert!(kinds.contains("Inventory.main  one thread\n"), "{kinds}");
    assert!(kinds.contains("Inventory.pack@67  any number of threads\n"), "{kinds}");
    let objects = list("objects", "LogBook");
    assert!(objects.contains("LogBook@32  "), "{objects}");
    let locks = list("locks", "LogBook");
    assert!(locks.contains("LogBook  taken at ") && locks.contains("Causes.java:9"), "{locks}");
    let units = list("units", "LogBook");
    assert!(units.contains("LogBook.clear  the method, Causes.java:28\n"), "{units}");
    assert_eq!(list("ignored-locks", "LogBook"), "");
    let unknown = run(&[
        "check",
        "crates/front-java/tests/classes/programs.jar",
        "--main",
        "PooledTaskWrong",
        "--list",
        "unknown",
    ]);
    assert_eq!(unknown.code, Some(0));
    let model = run(&["check", "examples/stack.eml", "--list", "kinds"]);
    assert_eq!(model.code, Some(2));
    assert!(model.stderr.contains("is no program in Java"), "{}", model.stderr);
}

#[test]
fn the_model_of_an_object_is_a_model_like_any_other() {
    let shown = run(&["show", CAUSES, "--object", "LogBook@32", "--main", "LogBook"]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    let file = folder("object").join("book.slv");
    std::fs::write(&file, &shown.stdout).expect("a file");
    let path = file.to_str().expect("UTF-8");
    let checked = run(&["check", path, "--no-cache", "--only", "race"]);
    assert_eq!(checked.code, Some(1), "{}{}", checked.stdout, checked.stderr);
    let missing = run(&["show", CAUSES, "--object", "Nobody@1", "--main", "LogBook"]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.stderr.contains("LogBook@32"), "{}", missing.stderr);
}

#[test]
fn classes_are_shown_as_code_that_reads_back() {
    let shown = run(&["show", CAUSES, "--code"]);
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
    assert!(shown.stdout.contains("locked this"), "{}", shown.stdout);
    let file = folder("code").join("causes.code");
    std::fs::write(&file, &shown.stdout).expect("a file");
    let path = file.to_str().expect("UTF-8");
    let again = run(&["show", path]);
    assert_eq!((again.code, again.stderr.as_str()), (Some(0), ""));
    assert!(again.stdout == shown.stdout);
    let misused = run(&["show", path, "--dot"]);
    assert_eq!(misused.code, Some(2));
    assert!(misused.stderr.contains("code is shown in its text form only"), "{}", misused.stderr);
    std::fs::write(&file, "proc f()\nb0:\n  store x 1\n  return\n").expect("a file");
    let wrong = run(&["show", path]);
    assert_eq!((wrong.code, wrong.stdout.as_str()), (Some(2), ""));
    assert!(wrong.stderr.contains("causes.code:3:"), "{}", wrong.stderr);
    let reached = run(&["reach", path]);
    assert_eq!(reached.code, Some(2));
    assert!(reached.stderr.contains("is for `selvedge show`"), "{}", reached.stderr);
    let checked = run(&["check", path, "--no-cache"]);
    assert_eq!(checked.code, Some(2));
    let said = format!("{}{}", checked.stdout, checked.stderr);
    assert!(said.contains("is for `selvedge show`"), "{said}");
}

#[test]
fn sources_are_quoted_where_they_are_found() {
    let source = "crates/front-java/tests/causes";
    let quoted = run(&["check", CAUSES, "--main", "LogBook", "--no-cache", "--source", source]);
    assert_eq!(quoted.code, Some(1));
    assert!(quoted.stdout.contains("lines = 0;"), "{}", quoted.stdout);
    // Both stacks, with class, method and line.
    assert!(quoted.stdout.contains("LogBook.clear  Causes.java:28"), "{}", quoted.stdout);
    assert!(
        quoted.stdout.contains("Fix: Hold the monitor of `this` in `LogBook.clear`."),
        "{}",
        quoted.stdout
    );
    // A project as builds lay it out.
    let project = folder("project");
    let beside = project.join("src/main/java");
    std::fs::create_dir_all(&beside).expect("a folder");
    std::fs::create_dir_all(project.join("target")).expect("a folder");
    std::fs::copy(root().join(source).join("Causes.java"), beside.join("Causes.java"))
        .expect("a copy");
    std::fs::copy(root().join(CAUSES), project.join("target/app.jar")).expect("a copy");
    let jar = project.join("target/app.jar");
    let jar = jar.to_str().expect("UTF-8");
    let quoted = run(&["check", jar, "--main", "LogBook", "--no-cache"]);
    assert!(quoted.stdout.contains("lines = 0;"), "{}", quoted.stdout);
    let plain = run(&["check", CAUSES, "--main", "LogBook", "--no-cache"]);
    assert!(!plain.stdout.contains("lines = 0;"), "{}", plain.stdout);
}

fn outcome(mut command: std::process::Command) -> Outcome {
    let output = command.output().expect("the program runs");
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

#[test]
fn sources_are_compiled_if_there_is_a_compiler() {
    let source = "crates/front-java/tests/causes/Causes.java";
    let arguments = ["check", source, "--main", "Cellar", "--no-cache"];
    let mut without = command(&arguments);
    without.env("PATH", folder("nothing")).env_remove("JAVA_HOME");
    let without = outcome(without);
    assert_eq!(without.code, Some(2), "{}{}", without.stdout, without.stderr);
    assert!(
        without.stderr.contains("no-javac") && without.stderr.contains("install a JDK"),
        "{}",
        without.stderr
    );
    let has_compiler = std::process::Command::new("javac").arg("-version").output().is_ok();
    if !has_compiler {
        return;
    }
    let compiled = run(&arguments);
    assert_eq!(compiled.code, Some(1), "{}{}", compiled.stdout, compiled.stderr);
    assert!(
        compiled.stdout.contains("`Cellar.bottles`: both accesses hold `this`"),
        "{}",
        compiled.stdout
    );
    // The file itself is what is quoted.
    assert!(compiled.stdout.contains("return bottles;"), "{}", compiled.stdout);
    let wrong = folder("wrong").join("Wrong.java");
    std::fs::write(&wrong, "class Wrong { int n = ; }\n").expect("a file");
    let refused = run(&["check", wrong.to_str().expect("UTF-8"), "--no-cache"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("not-compiled"), "{}", refused.stderr);
}

#[test]
fn every_format_says_what_was_asked_and_what_was_not() {
    let html = folder("formats").join("page.html");
    let html = html.to_str().expect("UTF-8");
    for main in ["LogBook", "Spinning"] {
        for format in ["text", "json", "sarif", "junit"] {
            let asked =
                ["check", CAUSES, "--main", main, "--no-cache", "--format", format, "--html", html];
            let said = run(&asked).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(said.contains("not asked: values, missed notifications"), "{format}: {said}");
            assert!(said.contains("does not say that the program is correct"), "{format}: {said}");
        }
        let page = std::fs::read_to_string(html).expect("a page");
        assert!(page.contains("not asked: values, missed notifications"));
    }
}

#[test]
fn answers_about_models_are_kept() {
    let cache = folder("cache");
    let cache = cache.to_str().expect("UTF-8");
    let asked = ["check", CAUSES, "--main", "LogBook", "--cache-dir", cache, "--no-witness"];
    let strip = |text: &str| {
        text.lines().filter(|line| !line.contains(" in 0.")).map(str::to_owned).collect::<Vec<_>>()
    };
    let first = run(&asked);
    assert!(std::fs::read_dir(cache).expect("a folder").next().is_some());
    let second = run(&asked);
    assert_eq!(strip(&first.stdout), strip(&second.stdout));
}

#[test]
fn ten_causes_are_shown_and_tags_are_counted() {
    let shown = run(&["check", CAUSES, "--main", "Dozen", "--no-cache", "--no-witness"]).stdout;
    let listed = shown.lines().filter(|line| line.starts_with("  data race  ")).count();
    assert_eq!(listed, 10, "{shown}");
    assert!(shown.contains("12 findings") && shown.contains("2 more"), "{shown}");
    assert!(shown.contains(": 12 array-index\n"), "{shown}");
}
