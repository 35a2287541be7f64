//! The programs in Java of `front-java/tests/programs`, run in a JVM by the machinery of `--confirm` without a
//! schedule: threads pause at random before and after accesses of fields, and accesses that are about to happen
//! at once are noted. In a program that is called safe none are.
//!
//! Skipped with a message where there is no JVM. `SELVEDGE_PROGRAMS` sets the number of programs.

#![expect(clippy::print_stdout, reason = "the large run shows its counts, and what was skipped")]

use selvedge_base::Budget;
use selvedge_front_java::read_archive;
use selvedge_library::CheckOptions;
use selvedge_library::java::{
    CONDUCTOR, JavaBeginning, JavaClasses, JavaOptions, JavaProgram, JavaSettings, watched,
};
use std::path::Path;
use std::process::{Command, Stdio};

const PROGRAMS: &[u8] = include_bytes!("../../front-java/tests/classes/programs.jar");
/// How long a run may take, in milliseconds.
const LIMIT: u32 = 2000;

/// Runs a program once; the pairs of places that threads were before at the same moment.
fn run(folder: &Path, main: &str) -> Vec<String> {
    let result = folder.join("result");
    let _ = std::fs::remove_file(&result);
    let paths = ["changed", "conductor.jar"].map(|name| folder.join(name));
    let ended = Command::new("java")
        .arg(format!("-Dselvedge.schedule={}", folder.join("schedule").display()))
        .arg(format!("-Dselvedge.result={}", result.display()))
        .arg(format!("-Dselvedge.limit={LIMIT}"))
        .arg("-cp")
        .arg(std::env::join_paths(paths).expect("plain paths"))
        .arg(main)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(ended.is_ok(), "{main}");
    let text = std::fs::read_to_string(&result).unwrap_or_default();
    text.lines().filter_map(|line| line.strip_prefix("race ").map(str::to_owned)).collect()
}

#[test]
fn what_meets_in_a_jvm_is_never_called_safe() {
    if Command::new("java").arg("-version").output().is_err() {
        println!("skipped: there is no JVM");
        return;
    }
    let wanted = std::env::var("SELVEDGE_PROGRAMS").ok().and_then(|text| text.parse().ok());
    let budget = Budget::new();
    let mut classes = JavaClasses::keeping_bytes();
    for (name, bytes) in read_archive(PROGRAMS, None, &budget).expect("it is whole").classes {
        classes.add(&name, &bytes, None, &budget).expect("no limit");
    }
    let bytes = classes.take_bytes();
    let all = classes.program(&JavaSettings::default(), &budget).expect("programs begin in it");
    let mains = all.world.mains();
    let first = *mains.first().expect("some");
    let made = watched(&all.world, &bytes, first).expect("all classes have room");
    let folder = std::env::temp_dir().join(format!("selvedge-watched-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("changed")).expect("there is room for files");
    for (name, bytes) in &bytes {
        let bytes = made.classes.get(name).unwrap_or(bytes);
        std::fs::write(folder.join("changed").join(format!("{name}.class")), bytes).expect("room");
    }
    std::fs::write(folder.join("conductor.jar"), CONDUCTOR).expect("room");
    std::fs::write(folder.join("schedule"), &made.schedule).expect("room");
    let step = (mains.len() / wanted.unwrap_or(5).max(1)).max(1);
    let (mut programs, mut observed, mut wrong) = (0, 0, 0);
    for main in mains.into_iter().step_by(step) {
        programs += 1;
        let name = all.world.names.text(all.world.classes[main.class].name);
        let pairs = run(&folder, name);
        if pairs.is_empty() {
            continue;
        }
        observed += 1;
        let begins = vec![JavaBeginning::Main(main)];
        let one = JavaProgram { world: all.world.clone(), begins, options: JavaOptions::default() };
        let checked = one.check(&CheckOptions::default(), &budget, &mut |_, _, _| {});
        let checked = checked.expect("engines do not contradict the replayer").checked;
        if checked.findings.is_empty() && checked.open.is_empty() {
            wrong += 1;
            for pair in &pairs {
                let places =
                    pair.split(' ').filter_map(|one| made.places.get(one.parse::<usize>().ok()?));
                let places: Vec<String> = places.map(ToString::to_string).collect();
                println!("{name} is called safe: {}", places.join(" met "));
            }
        }
    }
    std::fs::remove_dir_all(&folder).expect("it can be removed");
    println!("{programs} programs, in {observed} accesses met, {wrong} of them called safe");
    assert_eq!(wrong, 0);
}
