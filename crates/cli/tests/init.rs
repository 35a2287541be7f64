//! `selvedge init`: what it writes can be checked at once, and nothing is overwritten.

mod common;

use common::{command, scratch};
use std::fs;
use std::path::Path;

struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn run(folder: &Path, arguments: &[&str]) -> Ran {
    let output = command(arguments).current_dir(folder).output().expect("the program runs");
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

#[test]
fn the_model_has_the_mistake_that_it_explains_and_can_be_repaired_as_it_says() {
    let folder = scratch("init");
    let made = run(&folder, &["init", "new/project"]);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    for next in ["selvedge check new/project", "selvedge show new/project/model.eml"] {
        assert!(made.stdout.contains(next), "{}", made.stdout);
        let arguments: Vec<&str> = next.split(' ').skip(1).collect();
        assert!(matches!(run(&folder, &arguments).code, Some(0 | 1)), "{next}");
    }
    let checked = run(&folder, &["check", "new/project", "--no-cache"]);
    assert_eq!(checked.code, Some(1), "{}", checked.stderr);
    assert_eq!(checked.stderr, "");
    assert!(checked.stdout.contains("1 finding (1 atomicity violation)"), "{}", checked.stdout);
    // The line of the comment in the place of the one below it.
    let model = folder.join("new/project/model.eml");
    let text = fs::read_to_string(&model).expect("it was written");
    let repaired = "synchronized(desk) { unit { look(); if (*) book(); } }";
    assert!(text.contains(&format!("        //     {repaired}\n")), "{text}");
    let wrong = "        unit { look(); if (*) book(); }\n";
    assert_eq!(text.matches(wrong).count(), 1);
    fs::write(&model, text.replace(wrong, &format!("        {repaired}\n"))).expect("a file");
    let checked = run(&folder, &["check", "new/project", "--no-cache"]);
    assert_eq!(checked.code, Some(0), "{}", checked.stdout);
    assert!(checked.stdout.contains("\nsafe: "), "{}", checked.stdout);
}

#[test]
fn what_the_settings_only_mention_is_right() {
    let folder = scratch("init-settings");
    assert_eq!(run(&folder, &["init"]).code, Some(0));
    let settings = folder.join("selvedge.toml");
    let text = fs::read_to_string(&settings).expect("it was written");
    let used: Vec<&str> = text
        .lines()
        .map(|line| line.strip_prefix('#').filter(|rest| !rest.starts_with(' ')).unwrap_or(line))
        .collect();
    assert!(used.contains(&"[[suppress]]") && used.contains(&"[[temporal]]"), "{text}");
    fs::write(&settings, used.join("\n")).expect("a file");
    let checked = run(&folder, &["check", ".", "--no-cache"]);
    assert_eq!(checked.code, Some(1), "{}", checked.stderr);
    // It is understood, and suppresses nothing here.
    assert!(checked.stderr.starts_with("warning[unused-suppression]"), "{}", checked.stderr);
}

#[test]
fn nothing_is_overwritten() {
    for name in ["model.eml", "selvedge.toml"] {
        let folder = scratch("init-twice");
        fs::write(folder.join(name), "mine").expect("a file");
        let made = run(&folder, &["init", "."]);
        assert_eq!(made.code, Some(2));
        assert!(made.stderr.contains(name) && made.stderr.contains("is there already"));
        assert_eq!(made.stdout, "");
        assert_eq!(fs::read_to_string(folder.join(name)).expect("it is there"), "mine");
        let number = fs::read_dir(&folder).expect("a folder").count();
        assert_eq!(number, 1, "nothing was written beside it");
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error() {
    let folder = scratch("init-file");
    fs::write(folder.join("file"), "").expect("a file");
    let made = run(&folder, &["init", "file/below"]);
    assert_eq!(made.code, Some(2), "{}", made.stdout);
}
