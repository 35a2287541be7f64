//! # Idea
//! A program like those that people have: many small packages of values, repositories, caches, listeners and
//! services, which call each other through interfaces and are called by threads that take requests from a
//! queue and by pools of some of the packages. Most of it is guarded; some packages have one mistake each.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The classes that all packages share.
const CORE: &str = include_str!("core.java");
/// The classes of a package, in which `#` is its number.
const MODULE: &str = include_str!("module.java");

/// The packages of the program: each has 24 classes.
const PACKAGES: usize = 420;
/// A package calls the one before, but for the first of so many.
const LAYERS: usize = 6;
/// One of so many packages has a pool of threads of its own.
const POOLED: usize = 5;
/// One of so many packages has a mistake.
const WRONG: usize = 20;

/// The mistakes, by the class that has them: a field read without its lock, a check and an act that are not
/// one, a counter without a lock, and locks in the other order.
const MISTAKES: [&str; 4] = ["Cache", "AuditListener", "Statistics", "Ledger"];

/// The mistake of a package, if it has one.
fn mistake(package: usize) -> Option<&'static str> {
    (package % WRONG == WRONG - 1).then(|| MISTAKES[package / WRONG % MISTAKES.len()])
}

/// The source files that have a mistake, as findings name them.
pub fn mistakes() -> Vec<String> {
    let all = (0..PACKAGES).filter_map(|package| Some((package, mistake(package)?)));
    all.map(|(package, class)| format!("app/m{package}/{class}{package}.java")).collect()
}

/// Classes with their names.
fn classes(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let parts = text.split("//// ").skip(1);
    parts.filter_map(|part| part.split_once('\n'))
}

/// A class of a package, with the mistake that it has.
fn class(package: usize, text: &str) -> String {
    let wrong = mistake(package);
    let either = |class: &str, wrongly: &'static str, rightly: &'static str| {
        if wrong == Some(class) { wrongly } else { rightly }
    };
    let text = text
        .replace('#', &package.to_string())
        .replace("/*Cache*/", either("Cache", "this", "lock"))
        .replace("/*AuditListener*/ ", either("AuditListener", "", "synchronized "))
        .replace("/*Statistics*/ ", either("Statistics", "", "synchronized "))
        .replace("/*Ledger-first*/", either("Ledger", "costs", "income"))
        .replace("/*Ledger-second*/", either("Ledger", "income", "costs"));
    // Classes have names of their own, as findings go by them.
    let names: BTreeSet<&str> = classes(MODULE).map(|(name, _)| name).collect();
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let length = rest.find(|one: char| !one.is_alphanumeric()).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(length.max(first.len_utf8()));
        out.push_str(word);
        if names.contains(word) {
            out.push_str(&package.to_string());
        }
        rest = behind;
    }
    out
}

/// What makes all packages and starts their threads.
fn main_class() -> String {
    let mut parts = String::new();
    let mut calls = String::new();
    for package in 0..PACKAGES {
        let next = match package % LAYERS {
            0 => "null".to_owned(),
            _ => format!("m{}.step()", package - 1),
        };
        // Methods of a class may not be longer than 64 KiB, so each package has its own.
        let _ = write!(
            parts,
            "    private static app.m{package}.Module{package} m{package};\n\n    private static void make{package}(\
             Registry registry, Dispatcher dispatcher) {{\n        m{package} = new \
             app.m{package}.Module{package}(registry, dispatcher, {next});\n    }}\n\n"
        );
        let _ = writeln!(calls, "        make{package}(registry, dispatcher);");
        if package % POOLED == POOLED - 1 {
            let _ = writeln!(calls, "        m{package}.start();");
        }
    }
    format!(
        "package app;\n\nimport app.core.Dispatcher;\nimport app.core.Registry;\n\npublic final class Main \
         {{\n{parts}    public static void main(String[] arguments) {{\n        Registry registry = new \
         Registry();\n        Dispatcher dispatcher = new Dispatcher(registry);\n{calls}        \
         dispatcher.start(4);\n    }}\n}}\n"
    )
}

/// Writes the program into a folder, compiles it and packs it, with the programs of a JDK; the archive.
pub fn compiled(bin: &Path, folder: &Path) -> Result<PathBuf, String> {
    let (sources, classes_in) = (folder.join("src"), folder.join("classes"));
    let mut files = String::new();
    let mut write = |package: &str, name: &str, text: &str| {
        let below = sources.join(package.replace('.', "/"));
        let file = below.join(format!("{name}.java"));
        let written = std::fs::create_dir_all(&below).and_then(|()| std::fs::write(&file, text));
        let _ = writeln!(files, "\"{}\"", file.display());
        written.map_err(|error| format!("{}: {error}", file.display()))
    };
    for (name, text) in classes(CORE) {
        write("app.core", name, text)?;
    }
    for package in 0..PACKAGES {
        for (name, text) in classes(MODULE) {
            let name = format!("{name}{package}");
            write(&format!("app.m{package}"), &name, &class(package, text))?;
        }
    }
    write("app", "Main", &main_class())?;
    let (list, archive) = (folder.join("files"), folder.join("app.jar"));
    std::fs::write(&list, files).map_err(|error| format!("{}: {error}", list.display()))?;
    let mut compiling = Command::new(bin.join("javac"));
    compiling.args(["-nowarn", "-proc:none", "-g", "-J-Xmx1500m", "-d"]).arg(&classes_in);
    done(compiling.arg(format!("@{}", list.display())))?;
    let mut packing = Command::new(bin.join("jar"));
    done(packing.arg("--create").arg("--file").arg(&archive).arg("-C").arg(&classes_in).arg("."))?;
    Ok(archive)
}

/// Runs a program to its end.
fn done(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr)))
}
