//! The programs in Java of `front-java/tests/programs`, run in a JVM by the machinery of `--confirm` without a
//! schedule: threads pause at random before and after accesses of fields, and accesses that are about to happen
//! at once are noted. In a program that is called safe none are.
//!
//! Skipped with a message where there is no JVM. `SELVEDGE_PROGRAMS` sets the number of programs.

#![expect(clippy::print_stdout, reason = "the large run shows its counts, and what was skipped")]

mod conducted;

use conducted::{Stage, has};
use selvedge_base::Budget;
use selvedge_front_java::read_archive;
use selvedge_library::CheckOptions;
use selvedge_library::java::{JavaBeginning, JavaClasses, JavaProgram, JavaSettings};

const PROGRAMS: &[u8] = include_bytes!("../../front-java/tests/classes/programs.jar");
/// How long a run may take, in milliseconds.
const LIMIT: u32 = 2000;

#[test]
fn what_meets_in_a_jvm_is_never_called_safe() {
    if !has("java") {
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
    let stage = Stage::new("watched", &all, &bytes, *mains.first().expect("some"), false);
    let step = (mains.len() / wanted.unwrap_or(5).max(1)).max(1);
    let (mut programs, mut observed, mut wrong) = (0, 0, 0);
    for main in mains.into_iter().step_by(step) {
        programs += 1;
        let name = all.world.names.text(all.world.classes[main.class].name);
        let meetings = stage.run(name, LIMIT);
        if meetings.is_empty() {
            continue;
        }
        observed += 1;
        let begins = vec![JavaBeginning::Main(main)];
        let one = JavaProgram { begins, ..all.clone() };
        let checked = one.check(&CheckOptions::default(), &budget, &mut |_, _, _| {});
        let checked = checked.expect("engines do not contradict the replayer").checked;
        if checked.findings.is_empty() && checked.open.is_empty() {
            wrong += 1;
            for meeting in &meetings {
                let places: Vec<String> = meeting.places.iter().map(ToString::to_string).collect();
                println!("{name} is called safe, {}: {}", meeting.what, places.join(" met "));
            }
        }
    }
    println!("{programs} programs, in {observed} accesses met, {wrong} of them called safe");
    assert_eq!(wrong, 0);
}
