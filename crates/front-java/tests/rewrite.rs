//! Copies of class files that call the conductor at every instruction: our own reader reads them, and a JVM, if
//! there is one, verifies and runs them.

#![expect(clippy::print_stdout, reason = "what was skipped is said")]

use selvedge_base::{Budget, Id};
use selvedge_front_java::class::At;
use selvedge_front_java::rewrite::{CONDUCTOR, ConductorCalls, ConductorPlace, with_calls};
use selvedge_front_java::{JavaNames, read_archive, read_class};
use std::process::Command;

const PROGRAMS: &[u8] = include_bytes!("classes/programs.jar");
const TURNSTILES: [&[u8]; 2] =
    [include_bytes!("classes/17/Turnstile.class"), include_bytes!("classes/8/Turnstile.class")];

/// A class with calls wherever there can be one.
fn copied(bytes: &[u8]) -> (String, Vec<u8>) {
    let mut names = JavaNames::default();
    let class = read_class(bytes, &mut names).expect("a compiler made it");
    let mut calls = ConductorCalls::new();
    for (number, method) in class.methods.iter().enumerate() {
        let count = method.body.as_ref().map_or(0, |body| body.instructions.len());
        if count > 0 {
            calls.insert((number, ConductorPlace::Entry), 0);
        }
        for at in 0..count {
            calls.insert((number, ConductorPlace::Instruction(At::from_index(at))), at as u16);
        }
    }
    let copy = match with_calls(bytes, &calls) {
        Ok(copy) => copy,
        Err(wrong) => {
            assert!(wrong.message.contains("becomes too long"), "{wrong}");
            return (names.text(class.name).to_owned(), bytes.to_vec());
        }
    };
    let mut others = JavaNames::default();
    let read = read_class(&copy, &mut others).expect("it is whole");
    let synchronized = class.methods.iter().filter(|one| one.access.is_synchronized()).count();
    assert_eq!(read.methods.len(), class.methods.len() + synchronized);
    for (one, two) in class.methods.iter().zip(&read.methods) {
        let lines = |one: &selvedge_front_java::JavaMethod| {
            let body = one.body.as_ref();
            body.map(|body| body.lines.iter().map(|line| line.1).collect::<Vec<u32>>())
        };
        assert_eq!(lines(one), lines(two));
    }
    (names.text(class.name).to_owned(), copy)
}

#[test]
fn copies_are_class_files() {
    for bytes in TURNSTILES {
        copied(bytes);
    }
}

/// Makes every class ready, which verifies it, and says which cannot be.
const VERIFIER: &str = "
class Verifier {
    public static void main(String[] names) throws Exception {
        for (String name : java.nio.file.Files.readAllLines(java.nio.file.Paths.get(names[0]))) {
            try {
                Class.forName(name);
            } catch (LinkageError wrong) {
                if (!(wrong instanceof ExceptionInInitializerError)) System.out.println(name + \" \" + wrong);
            }
        }
        System.out.println(\"done\");
        Runtime.getRuntime().halt(0);
    }
}
";

#[test]
fn a_jvm_verifies_the_copies() {
    if Command::new("javac").arg("-version").output().is_err() {
        println!("skipped: there is no JDK");
        return;
    }
    let folder = std::env::temp_dir().join(format!("selvedge-copies-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("there is room for files");
    let jar = std::env::var("SELVEDGE_JAR").map(|path| std::fs::read(path).expect("a jar"));
    let jar = jar.as_deref().unwrap_or(PROGRAMS);
    let mut names = Vec::new();
    for (path, bytes) in read_archive(jar, None, &Budget::new()).expect("it is whole").classes {
        if path.contains("module-info") || path.contains("package-info") {
            continue;
        }
        let (name, copy) = copied(&bytes);
        let file = folder.join(format!("{name}.class"));
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("there is room");
        std::fs::write(file, copy).expect("there is room");
        names.push(name.replace('/', "."));
    }
    std::fs::write(folder.join("names"), names.join("\n")).expect("there is room");
    std::fs::write(folder.join("conductor.jar"), CONDUCTOR).expect("there is room");
    std::fs::write(folder.join("Verifier.java"), VERIFIER).expect("there is room");
    let compiled =
        Command::new("javac").current_dir(&folder).arg("Verifier.java").status().expect("it runs");
    assert!(compiled.success());
    let paths = std::env::join_paths([folder.clone(), folder.join("conductor.jar")]);
    let output = Command::new("java")
        .arg("-cp")
        .arg(paths.expect("plain paths"))
        .args(["Verifier".to_owned(), folder.join("names").display().to_string()])
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    std::fs::remove_dir_all(&folder).expect("it can be removed");
    assert_eq!(said, "done\n", "{}", String::from_utf8_lossy(&output.stderr));
    println!("{} classes", names.len());
}
