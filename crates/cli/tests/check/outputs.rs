//! Formats, files that are written, the page, the screen.

use crate::common::command;
use crate::findings::FAILING;
use crate::{BAD, DEADLOCK, Project, RACY, SAFE, count};
use serde_json::Value;
use std::path::Path;

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

/// An output is neither an input, nor another output, nor in place of something else.
#[test]
fn outputs_destroy_nothing() {
    let files = [("a.eml", RACY), ("b.eml", SAFE), ("notes.txt", "mine"), ("known.json", "{}")];
    let project = Project::new("outputs", &files);
    std::fs::create_dir(project.0.join("folder")).expect("a folder");
    for (arguments, said) in [
        (&["--html", "a.eml", "b.eml"][..], "--html a.eml would overwrite a file of another kind"),
        (&["a.eml", "--html", "./a.eml"], "would overwrite a file that is read"),
        (&["a.eml", "--html", "notes.txt"], "(a page for the browser instead of text)"),
        (
            &["a.eml", "--output", "new", "--html", "./new"],
            "--html and --output name the same file",
        ),
        (&["a.eml", "--output", "-"], "--output names a file (./- if that is its name)"),
        (&["a.eml", "--output", "folder"], "--output names a file, and this is a folder"),
        (&["a.eml", "--html", "no/r.html"], "cannot write no/r.html: there is no folder no"),
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
    // What is said of many files alike is said of a few.
    for at in 0..60 {
        let race = RACY.replace("unit { read x; write x; }", "read x; write x;");
        project.write(&format!("w/racy{at}.eml"), &race);
    }
    let outcome = project.check(&["w", "--no-witness"]);
    assert_eq!(outcome.stderr.matches("warning[no-units]").count(), 3, "{}", outcome.stderr);
    assert!(outcome.stderr.ends_with("57 more warnings; --format json lists all\n"));
    assert!(outcome.stderr.lines().count() <= 40, "{}", outcome.stderr);
    let graph = project.check(&["m", "--format", "dot"]);
    assert_eq!(graph.stdout.matches("digraph").count(), 1);
    assert_eq!(graph.stdout.matches("subgraph cluster_f").count(), 360);
}
