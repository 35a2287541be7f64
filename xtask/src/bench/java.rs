//! # Idea
//! Programs in Java, from class files to findings: the programs of the tests, classes of the JDK with any
//! clients, a generated program of 10,000 classes, and programs of the JDK with as many. What needs a JDK is
//! left out where there is none: its class files are taken from `jmods/java.base.jmod` below `JAVA_HOME` or of
//! the `java` that is found, and `javac` from beside it.

mod application;

use super::{Case, Measurement, peak_mib};
use selvedge_base::Budget;
use selvedge_library::java::{JavaChecked, JavaClasses, JavaSettings};
use selvedge_library::{CheckOptions, Fixes};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a case may take; what is said in the end takes a moment more.
const LONGEST: Duration = Duration::from_secs(42);

/// The archives of the tests, with a program of each that is measured.
const TESTS: [(&str, &str); 5] = [
    ("causes.jar", "LogBook"),
    ("causes.jar", "Inventory"),
    ("programs.jar", "CountersRight"),
    ("programs.jar", "TransferCycleWrong"),
    ("programs.jar", "RecursiveRight"),
];

/// The classes of the JDK that are asked about with any clients.
const CLASSES: [&str; 5] = [
    "java.lang.StringBuffer",
    "java.util.Vector",
    "java.util.Hashtable",
    "java.util.Collections$SynchronizedList",
    "java.util.concurrent.ArrayBlockingQueue",
];

/// The modules that make a program of more than 10,000 classes.
const LARGE: [&str; 5] = ["java.desktop", "java.xml", "jdk.compiler", "java.management", "jdk.jdi"];

/// What such a program begins with: a debugger and a compiler.
const LARGE_MAINS: [&str; 2] = ["com.sun.tools.example.debug.tty.TTY", "com.sun.tools.javac.Main"];

/// The cases of the suite.
pub fn cases(quick: bool) -> Vec<Case> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/front-java/tests/classes");
    let mut cases = Vec::new();
    for (archive, main) in TESTS {
        let settings = JavaSettings { main: Some(main.to_owned()), ..JavaSettings::default() };
        cases.push(case("tests", main, vec![tests.join(archive)], settings));
    }
    let Some(modules) = modules() else { return cases };
    let base = modules.join("java.base.jmod");
    cases.push(Case {
        section: "reading",
        name: "java.base".to_owned(),
        variant: "read",
        grows: false,
        run: Box::new(move || reading(&base)),
    });
    for class in CLASSES {
        let settings = JavaSettings { class: Some(class.to_owned()), ..JavaSettings::default() };
        cases.push(case("--class", class, vec![modules.join("java.base.jmod")], settings));
    }
    if !quick {
        let bin = modules.with_file_name("bin");
        cases.push(Case {
            section: "large",
            name: "generated".to_owned(),
            variant: "check",
            grows: false,
            run: Box::new(move || generated(&bin)),
        });
        for main in LARGE_MAINS {
            let settings = JavaSettings { main: Some(main.to_owned()), ..JavaSettings::default() };
            let files = LARGE.iter().map(|module| modules.join(format!("{module}.jmod")));
            cases.push(case("large", main, files.collect(), settings));
        }
    }
    cases
}

/// The folder with the modules of a JDK, if there is one.
fn modules() -> Option<PathBuf> {
    let home = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let mut homes: Vec<PathBuf> = home.into_iter().collect();
    for folder in std::env::split_paths(&paths) {
        let java = std::fs::canonicalize(folder.join("java")).ok();
        homes.extend(java.and_then(|java| Some(java.parent()?.parent()?.to_owned())));
    }
    let mut folders = homes.into_iter().map(|home| home.join("jmods"));
    folders.find(|folder| folder.join("java.base.jmod").is_file())
}

fn case(section: &'static str, name: &str, files: Vec<PathBuf>, settings: JavaSettings) -> Case {
    Case {
        section,
        name: name.to_owned(),
        variant: "check",
        grows: false,
        run: Box::new(move || measure(&files, &settings)),
    }
}

/// A program of 10,000 classes with some mistakes, of which those are counted that are found.
fn generated(bin: &Path) -> Result<Measurement, String> {
    let folder = std::env::temp_dir().join(format!("selvedge-bench-java-{}", std::process::id()));
    let measured = application::compiled(bin, &folder).and_then(|archive| {
        let settings =
            JavaSettings { main: Some("app.Main".to_owned()), ..JavaSettings::default() };
        let (measured, done) = checked(&[archive], &settings)?;
        let wrong = application::mistakes();
        // A finding is about a mistake if it is in the file that has it.
        let files = done.checked.findings.iter().map(|finding| {
            let files = finding.places.iter().filter_map(|place| done.program.file(place.file));
            files.map(|file| file.name.as_str()).collect::<BTreeSet<&str>>()
        });
        let files: Vec<BTreeSet<&str>> = files.collect();
        let is_found = |one: &&String| files.iter().any(|files| files.contains(one.as_str()));
        let found = wrong.iter().filter(is_found).count();
        let is_other =
            |files: &BTreeSet<&str>| !wrong.iter().any(|one| files.contains(one.as_str()));
        let others = files.iter().filter(|files| is_other(files)).count();
        let outcome = format!(
            "{}, {found} of {} mistakes, {others} elsewhere",
            measured.outcome,
            wrong.len()
        );
        Ok(Measurement { outcome, ..measured })
    });
    // What is left behind by a failure is in the folder for what is temporary.
    let _ = std::fs::remove_dir_all(&folder);
    measured
}

/// The classes of some files.
fn read(files: &[PathBuf], budget: &Budget) -> Result<JavaClasses, String> {
    let mut classes = JavaClasses::default();
    for file in files {
        let complain = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
        let bytes = std::fs::read(file).map_err(|error| complain(&error))?;
        let name = file.to_string_lossy();
        classes.add(&name, &bytes, None, budget).map_err(|reason| complain(&reason))?;
    }
    Ok(classes)
}

/// All classes of a module are read, and nothing else is done.
fn reading(file: &Path) -> Result<Measurement, String> {
    let start = Instant::now();
    let classes = read(&[file.to_owned()], &Budget::with_deadline(start + LONGEST))?;
    Ok(Measurement {
        size: format!("{} classes", classes.count()),
        outcome: format!("{} complaints", classes.complaints.len()),
        counts: String::new(),
        seconds: start.elapsed().as_secs_f64(),
        peak_mib: peak_mib(),
        stopped: false,
    })
}

fn measure(files: &[PathBuf], settings: &JavaSettings) -> Result<Measurement, String> {
    checked(files, settings).map(|(measured, _)| measured)
}

fn checked(
    files: &[PathBuf],
    settings: &JavaSettings,
) -> Result<(Measurement, JavaChecked), String> {
    let start = Instant::now();
    let budget = Budget::with_deadline(start + LONGEST);
    let classes = read(files, &budget)?;
    let count = classes.count();
    let program = classes.program(settings, &budget).map_err(|problem| problem.message.clone())?;
    let options = CheckOptions { fixes: Fixes::Skip, ..CheckOptions::default() };
    let done = program.check(&options, &budget, &mut |_, _, _| {});
    let done = done.map_err(|error| format!("{error:?}"))?;
    let figures = done.figures;
    let questions: usize = done.checked.tallies.iter().map(|(_, tally)| tally.questions).sum();
    let unknown: usize = done.checked.tallies.iter().map(|(_, tally)| tally.unknown).sum();
    let open = if unknown > 0 { ", unknown" } else { "" };
    let measured = Measurement {
        size: format!("{count} classes, {} methods reached", figures.methods),
        outcome: format!("{} findings{open}", done.checked.findings.len()),
        counts: format!(
            "{} kinds, {} objects, {} models, {questions} questions",
            figures.kinds, figures.shared, figures.models
        ),
        seconds: start.elapsed().as_secs_f64(),
        peak_mib: peak_mib(),
        stopped: budget.stopped().is_some(),
    };
    Ok((measured, done))
}
