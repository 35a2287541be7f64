//! The programs in Java of `front-java/tests/programs` in other clothes, with the same verdicts: all names
//! changed, only the classes of one file, classes and jars beside them that nobody uses, other versions of Java,
//! no lines and names of variables.
//!
//! What needs `javac` is skipped with a message where there is none. `SELVEDGE_PROGRAMS` sets the number of
//! programs.

#![expect(clippy::print_stdout, reason = "the large run shows its counts, and what was skipped")]

use selvedge_base::Budget;
use selvedge_front_java::class::JavaInstruction;
use selvedge_front_java::options::JavaBeginning;
use selvedge_front_java::world::MemberId;
use selvedge_front_java::{World, read_archive};
use selvedge_library::CheckOptions;
use selvedge_library::java::{JavaClasses, JavaProgram, JavaSettings};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAMS: &[u8] = include_bytes!("../../front-java/tests/classes/programs.jar");

type Files = Vec<(String, Vec<u8>)>;

fn files() -> Files {
    read_archive(PROGRAMS, None, &Budget::new()).expect("it is whole").classes
}

fn program(files: &Files) -> JavaProgram {
    let mut classes = JavaClasses::default();
    for (name, bytes) in files {
        classes.add(name, bytes, None, &Budget::new()).expect("no limit");
    }
    assert!(classes.complaints.is_empty(), "{:?}", classes.complaints);
    classes.program(&JavaSettings::default(), &Budget::new()).expect("programs begin in it")
}

fn name(world: &World, main: MemberId) -> String {
    world.names.text(world.classes[main.class].name).to_owned()
}

/// Whether something was found, and whether something is open.
fn verdict(all: &JavaProgram, main: MemberId) -> (bool, bool) {
    let begins = vec![JavaBeginning::Main(main)];
    let one = JavaProgram { begins, ..all.clone() };
    let checked = one.check(&CheckOptions::default(), &Budget::new(), &mut |_, _, _| {});
    let checked = checked.expect("engines do not contradict the replayer").checked;
    (!checked.findings.is_empty(), !checked.open.is_empty())
}

/// The programs that are looked at, each with its verdict.
fn sample(all: &JavaProgram) -> BTreeMap<String, (bool, bool)> {
    let wanted = std::env::var("SELVEDGE_PROGRAMS").ok().and_then(|text| text.parse().ok());
    let mains = all.world.mains();
    let step = (mains.len() / wanted.unwrap_or(5).max(1)).max(1);
    let chosen = mains.into_iter().step_by(step);
    chosen.map(|main| (name(&all.world, main), verdict(all, main))).collect()
}

/// Compares the verdicts of those programs that are in a variant.
fn compare(what: &str, expected: &BTreeMap<String, (bool, bool)>, variant: &JavaProgram) {
    let mut count = 0;
    for main in variant.world.mains() {
        let own = name(&variant.world, main);
        if let Some(verdict_before) = expected.get(&own) {
            count += 1;
            assert_eq!(verdict(variant, main), *verdict_before, "{what}: {own}");
        }
    }
    println!("{what}: {count} programs");
    assert!(count > 0, "{what}");
}

/// A class file with other names: its constants changed, and nothing else.
fn renamed(bytes: &[u8], change: impl Fn(&str) -> String) -> Vec<u8> {
    let two = |at: usize| usize::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]));
    let mut out = bytes[..10].to_vec();
    let (count, mut at, mut number) = (two(8), 10, 1);
    while number < count {
        let length = match bytes[at] {
            1 => 3 + two(at + 1),
            5 | 6 => 9,
            7 | 8 | 16 | 19 | 20 => 3,
            15 => 4,
            _ => 5,
        };
        if bytes[at] == 1 {
            let text = std::str::from_utf8(&bytes[at + 3..at + length]).expect("plain names");
            let text = change(text);
            out.push(1);
            out.extend(u16::try_from(text.len()).expect("short names").to_be_bytes());
            out.extend(text.as_bytes());
        } else {
            out.extend(&bytes[at..at + length]);
        }
        number += if matches!(bytes[at], 5 | 6) { 2 } else { 1 };
        at += length;
    }
    out.extend(&bytes[at..]);
    out
}

/// New names for all classes, and for the fields and methods that no code outside knows.
fn new_names(all: &JavaProgram) -> (BTreeMap<String, String>, BTreeMap<String, String>) {
    let world = &all.world;
    let text = |name| world.names.text(name).to_owned();
    let mut tops: BTreeSet<String> = BTreeSet::new();
    let (mut own, mut known) = (BTreeSet::new(), BTreeSet::new());
    for class in &world.classes {
        tops.insert(text(class.name).split('$').next().unwrap_or_default().to_owned());
        own.extend(class.fields.iter().map(|field| text(field.name)));
        own.extend(class.methods.iter().map(|method| text(method.name)));
        for body in class.methods.iter().filter_map(|method| method.body.as_ref()) {
            for instruction in &body.instructions {
                if let JavaInstruction::Invoke(_, member) | JavaInstruction::Field(_, member) =
                    instruction
                    && world.find(member.class).is_none()
                {
                    known.insert(text(member.name));
                }
                // What a function of an interface outside is called.
                if let JavaInstruction::InvokeDynamic(_, name, _) = instruction {
                    known.insert(text(*name));
                }
            }
        }
    }
    // What a class may have from classes outside is called by its name there.
    for class in world.classes.ids() {
        let above = world.line(class).0.into_iter().chain(world.interfaces(class).0);
        let mut named = above.flat_map(|one| {
            let of = &world.classes[one];
            of.superclass.iter().chain(&of.interfaces).copied().collect::<Vec<_>>()
        });
        if named.any(|one| world.find(one).is_none() && text(one) != "java/lang/Object") {
            known.extend(world.classes[class].methods.iter().map(|method| text(method.name)));
        }
    }
    let outside = ["main", "equals", "hashCode", "toString", "finalize", "clone"];
    let renamable = |name: &String| {
        let is_known = known.contains(name) || outside.contains(&name.as_str());
        let is_made = name.starts_with('<') || name.contains('$');
        let is_type = name.len() == 1 && name.chars().all(char::is_uppercase);
        !is_known && !is_made && !is_type
    };
    let numbered = |names: Vec<String>, letter: char| -> BTreeMap<String, String> {
        names.into_iter().enumerate().map(|(at, name)| (name, format!("{letter}{at}"))).collect()
    };
    let members = own.into_iter().filter(renamable).collect();
    (numbered(tops.into_iter().collect(), 'k'), numbered(members, 'm'))
}

#[test]
fn names_and_classes_beside_do_not_matter() {
    let files = files();
    let all = program(&files);
    let expected = sample(&all);
    let (classes, members) = new_names(&all);
    let class = |text: &str| {
        let (top, rest) =
            text.split_once('$').map_or((text, None), |(top, rest)| (top, Some(rest)));
        let new = classes.get(top)?;
        Some(rest.map_or_else(|| new.clone(), |rest| format!("{new}${rest}")))
    };
    let change = |text: &str| {
        if let Some(new) = members.get(text) {
            return new.clone();
        }
        if let Some(new) = class(text) {
            return new;
        }
        // Names within descriptors.
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('L') {
            out.push_str(before);
            out.push('L');
            rest = after;
            if let Some((inside, behind)) = after.split_once(';')
                && let Some(new) = class(inside)
            {
                out.push_str(&new);
                out.push(';');
                rest = behind;
            }
        }
        out + rest
    };
    let other: Files =
        files.iter().map(|(name, bytes)| (name.clone(), renamed(bytes, change))).collect();
    let other = program(&other);
    // The verdicts are those of the classes of the old names.
    let back: BTreeMap<String, (bool, bool)> = expected
        .iter()
        .map(|(name, verdict)| (class(name).expect("it has a new name"), *verdict))
        .collect();
    let mains = other.world.mains();
    assert!(mains.into_iter().all(|main| !expected.contains_key(&name(&other.world, main))));
    compare("other names", &back, &other);

    let source = |bytes: &[u8]| {
        let mut one = JavaClasses::default();
        one.add("one.class", bytes, None, &Budget::new()).expect("no limit");
        one.list().lines().find_map(|line| line.trim().strip_prefix("from ").map(str::to_owned))
    };
    let own = source(&files[0].1);
    let some: Files = files.iter().filter(|(_, bytes)| source(bytes) == own).cloned().collect();
    assert!(some.len() < files.len());
    let some = program(&some);
    let mains = some.world.mains();
    let expected: BTreeMap<_, _> = mains
        .into_iter()
        .take(6)
        .map(|main| (name(&some.world, main), verdict(&some, main)))
        .collect();
    compare("the classes of all files", &expected, &all);
}

#[test]
fn jars_beside_do_not_matter() {
    let expected = sample(&program(&files()));
    let mut more = files();
    for jar in [
        &include_bytes!("../../front-java/tests/classes/units.jar")[..],
        include_bytes!("../../front-java/tests/classes/causes.jar"),
        include_bytes!("../../front-java/tests/classes/frameworks.jar"),
        include_bytes!("../../front-java/tests/classes/engine.jar"),
    ] {
        more.extend(read_archive(jar, None, &Budget::new()).expect("it is whole").classes);
    }
    compare("jars beside them", &expected, &program(&more));
}

/// Compiles some files; the classes, if they compile with these options.
fn javac(out: &Path, options: &[&str], sources: &[PathBuf]) -> Option<Files> {
    let mut compiler = Command::new("javac");
    // Without lines, lambdas that look alike would become one method, which is another program.
    let usual = ["-Xlint:none", "-nowarn", "-XDdeduplicateLambdas=false"];
    compiler.args(usual).args(options).arg("-d").arg(out).args(sources);
    if !compiler.output().ok()?.status.success() {
        return None;
    }
    let mut found = Files::new();
    for entry in std::fs::read_dir(out).expect("it is there") {
        let path = entry.expect("it can be read").path();
        let bytes = std::fs::read(&path).expect("it can be read");
        found.push((path.to_string_lossy().into_owned(), bytes));
    }
    Some(found)
}

/// The programs compiled anew, all at once, or else those files that compile with these options.
fn compiled(folder: &Path, options: &[&str]) -> JavaProgram {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../front-java/tests/programs");
    let entries = std::fs::read_dir(sources).expect("it is there");
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.expect("it can be read").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "java"));
    let found = javac(&folder.join("all"), options, &files).unwrap_or_else(|| {
        let each = files.iter().enumerate().filter_map(|(number, file)| {
            javac(&folder.join(number.to_string()), options, std::slice::from_ref(file))
        });
        each.flatten().collect()
    });
    program(&found)
}

#[test]
fn versions_of_java_and_what_is_known_of_lines_do_not_matter() {
    let Ok(version) = Command::new("javac").arg("-version").output() else {
        println!("skipped: there is no JDK");
        return;
    };
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let digits =
        |text: &str| text.split(|one: char| !one.is_ascii_digit()).find_map(|one| one.parse().ok());
    let newest: u32 = digits(&version).expect("a compiler has a version");
    let all = program(&files());
    let expected = sample(&all);
    let large = std::env::var("SELVEDGE_PROGRAMS").is_ok();
    let variants: &[(u32, &[&str])] = &[
        (17, &["-g:none"]),
        (8, &["--release", "8"]),
        (11, &["--release", "11", "-g"]),
        (17, &["--release", "17", "-g:none"]),
        (21, &["--release", "21"]),
        (25, &["--release", "25"]),
    ];
    for (release, options) in &variants[..if large { variants.len() } else { 1 }] {
        if *release > newest {
            println!("skipped: this JDK knows nothing of Java {release}");
            continue;
        }
        let folder = std::env::temp_dir().join(format!("selvedge-variants-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("there is room for files");
        let variant = compiled(&folder, options);
        compare(&options.join(" "), &expected, &variant);
        std::fs::remove_dir_all(&folder).expect("it can be removed");
    }
}
