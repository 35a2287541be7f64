//! `--confirm`: programs in Java are run under the interleavings of their findings.
//!
//! What needs a JVM is skipped with a message where there is none. `SELVEDGE_PROGRAMS` sets the number of
//! programs of the corpus that are run, with how many must be reproduced in the end.

#![expect(clippy::print_stdout, reason = "the large run shows its counts, and what was skipped")]

mod common;

use common::{command, run, scratch};
use serde_json::Value;

const PROGRAMS: &str = "crates/front-java/tests/classes/programs.jar";

fn has_jvm() -> bool {
    let found = std::process::Command::new("java").arg("-version").output().is_ok();
    if !found {
        println!("skipped: there is no JVM");
    }
    found
}

fn findings(main: &str) -> Vec<Value> {
    findings_in(PROGRAMS, main)
}

fn findings_in(jar: &str, main: &str) -> Vec<Value> {
    let asked = ["check", jar, "--main", main, "--no-cache", "--no-fixes", "--no-witness"];
    let shown = run(&[&asked[..], &["--format", "json", "--confirm"]].concat());
    assert!(matches!(shown.code, Some(1 | 3)), "{main}: {}", shown.stderr);
    let answer: Value = serde_json::from_str(&shown.stdout).expect("JSON");
    answer["files"][0]["findings"].as_array().expect("findings").clone()
}

#[test]
fn without_a_jvm_or_a_main_the_verdict_is_the_same() {
    let folder = scratch("confirm-nothing");
    let main = ["check", PROGRAMS, "--main", "TransferCycleWrong", "--no-cache", "--confirm"];
    let output = command(&main).env("PATH", &folder).env_remove("JAVA_HOME").output();
    let output = output.expect("the program runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("Not reproduced: there is no JVM"), "{said}");
    let class = ["check", PROGRAMS, "--class", "JoinedCareless", "--no-cache", "--confirm"];
    let said = run(&class);
    assert_eq!(said.code, Some(1));
    let why = "Not reproduced: it does not begin with a `main`, so there is nothing to run.";
    assert!(said.stdout.contains(why), "{}", said.stdout);
    let safe = ["check", PROGRAMS, "--main", "TransferCycleRight", "--no-cache", "--confirm"];
    let safe = run(&safe);
    assert_eq!(safe.code, Some(0), "{}", safe.stdout);
    assert!(!safe.stdout.contains("eproduced"), "{}", safe.stdout);
}

#[test]
fn a_deadlock_a_race_and_a_broken_unit_are_reproduced() {
    if !has_jvm() {
        return;
    }
    for (main, rule) in [
        ("TransferCycleWrong", "deadlock"),
        ("LimitWrong", "data-race"),
        ("AwaitWrong", "atomicity-violation"),
    ] {
        let found = findings(main);
        let own = found.iter().find(|one| one["rule"] == rule).expect(rule);
        assert_eq!(own["confirmation"]["reproduced"], true, "{main}: {own}");
    }
}

#[test]
fn what_does_not_happen_is_not_reproduced() {
    if !has_jvm() {
        return;
    }
    // Threads meet at one instruction, but at different elements, or with no object.
    for main in ["Strips", "NoBell"] {
        let found = findings_in("crates/front-java/tests/classes/causes.jar", main);
        let confirmed = &found.first().expect("a race")["confirmation"];
        assert_eq!(confirmed["reproduced"], false, "{main}: {confirmed}");
        let why = confirmed["text"].as_str().expect("a text");
        assert!(why.contains("not in this order with the same objects"), "{main}: {why}");
    }
}

#[test]
fn every_format_says_it_and_the_folder_is_kept() {
    if !has_jvm() {
        return;
    }
    let folder = scratch("confirm-kept");
    let (kept, page) = (folder.join("kept"), folder.join("page.html"));
    let kept_in = format!("--confirm={}", kept.display());
    let html = page.to_str().expect("UTF-8");
    let asked = ["check", PROGRAMS, "--main", "LimitWrong", "--no-cache", &kept_in, "--html", html];
    for format in ["text", "sarif"] {
        let shown = run(&[&asked[..], &["--format", format]].concat());
        assert_eq!(shown.code, Some(1), "{}", shown.stderr);
        let said = "Reproduced in a JVM, in run ";
        assert!(shown.stdout.contains(said), "{format}: {}", shown.stdout);
        assert!(std::fs::read_to_string(&page).expect("a page").contains(said));
    }
    let read = |name: &str| std::fs::read_to_string(kept.join("finding-1").join(name));
    let schedule = read("schedule.txt").expect("a schedule");
    assert!(schedule.contains("# 0 is LimitWrong."), "{schedule}");
    assert!(schedule.contains("step 0 0 0 access"), "{schedule}");
    assert!(read("result.txt").expect("a result").starts_with("reproduced\n"));
}

/// What is wrong in the programs of the corpus happens in a JVM, mostly.
#[test]
fn the_corpus_is_reproduced() {
    let wanted = std::env::var("SELVEDGE_PROGRAMS").ok().and_then(|text| text.parse().ok());
    let Some(wanted): Option<usize> = wanted.filter(|_| has_jvm()) else { return };
    let listed = run(&["show", PROGRAMS, "--classes"]).stdout;
    let names = listed.lines().filter_map(|line| line.split_once(".main is where"));
    let names = names.map(|(name, _)| name);
    let (mut reproduced, mut all, mut programs, mut with_one) = (0, 0, 0, 0);
    for main in names.filter(|name| name.ends_with("Wrong")).take(wanted) {
        programs += 1;
        let mut some = false;
        for finding in findings(main) {
            all += 1;
            let confirmation = &finding["confirmation"];
            if confirmation["reproduced"] == true {
                reproduced += 1;
                some = true;
            } else {
                println!("{main}\t{}\t{}", finding["rule"], confirmation["text"]);
            }
        }
        with_one += usize::from(some);
    }
    println!(
        "{programs} programs, in {with_one} something is reproduced; {all} findings, {reproduced} reproduced"
    );
    assert!(reproduced * 2 > all, "{reproduced} of {all}");
}
