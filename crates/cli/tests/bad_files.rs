//! What a user sees of every file in `corpus/bad*`.

mod common;

use common::{root, run, transcript};
use std::path::{Path, PathBuf};

/// The files of a folder, as paths from the root of the workspace.
fn files(folder: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(root().join(folder))
        .expect("a folder")
        .map(|entry| PathBuf::from(folder).join(entry.expect("an entry").file_name()))
        .collect();
    files.sort();
    assert!(files.len() >= 15);
    files
}

fn name(file: &Path) -> String {
    file.file_stem().expect("a name").to_str().expect("UTF-8").to_owned()
}

#[test]
fn programs() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("bad");
    settings.set_omit_expression(true);
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| {
        for file in files("corpus/bad") {
            let path = file.to_str().expect("UTF-8");
            let shown = transcript(&["atomicity", path, "--width", "90"], "");
            let warning_only = name(&file).starts_with("warning-");
            let code = if warning_only { "--- exit code 0\n" } else { "--- exit code 2\n" };
            assert!(shown.ends_with(code), "{shown}");
            assert!(shown.contains(if warning_only { "warning[" } else { "error[" }), "{shown}");
            insta::assert_snapshot!(name(&file), shown);
        }
    });
}

#[test]
fn automata() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("bad-nwa");
    settings.set_omit_expression(true);
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| {
        for file in files("corpus/bad-nwa") {
            let path = file.to_str().expect("UTF-8");
            let shown = transcript(&["nwa", "show", path, "--width", "90"], "");
            let code = if name(&file).starts_with("warning-") { 0 } else { 2 };
            assert!(shown.ends_with(&format!("--- exit code {code}\n")), "{shown}");
            insta::assert_snapshot!(name(&file), shown);
        }
    });
}

#[test]
fn formulas() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("bad-ltl");
    settings.set_omit_expression(true);
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| {
        for file in files("corpus/bad-ltl") {
            let path = file.to_str().expect("UTF-8");
            let model = "examples/spool.eml";
            let shown = transcript(&["temporal", model, "--formulas", path, "--width", "90"], "");
            assert!(shown.ends_with("--- exit code 2\n"), "{shown}");
            insta::assert_snapshot!(name(&file), shown);
        }
    });
}

#[test]
fn properties() {
    for file in files("corpus/bad-property") {
        let path = file.to_str().expect("UTF-8");
        let outcome = run(&["atomicity", "examples/stack.eml", "--property", path]);
        let expected = if name(&file).starts_with("warning-") { 0 } else { 2 };
        assert_eq!(outcome.code, Some(expected), "{path}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(path), "{path}: {}", outcome.stderr);
    }
}

#[test]
fn models() {
    for file in files("corpus/bad-model") {
        let path = file.to_str().expect("UTF-8");
        let outcome = run(&["show", path]);
        assert_eq!(outcome.code, Some(2), "{path}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(path), "{path}: {}", outcome.stderr);
    }
}
