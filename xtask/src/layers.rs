//! # Idea
//! The dependency direction between the crates is a table; an edge that is not in it fails the
//! build. Only the command line touches files, threads, the clock and the environment; a crate below it
//! that names them fails it, too. A crate that has a part in a verdict is built with checks for overflow.
//! See ARCHITECTURE.md for the reasons.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What each crate may depend on outside of tests.
const ALLOWED: &[(&str, &[&str])] = &[
    ("selvedge-base", &[]),
    ("selvedge-bdd", &["base"]),
    ("selvedge-pds", &["base"]),
    ("selvedge-syntax", &["base"]),
    ("selvedge-program", &["base", "syntax"]),
    ("selvedge-code", &["base", "syntax"]),
    ("selvedge-front-eml", &["base", "syntax", "program"]),
    ("selvedge-front-bool", &["base", "syntax", "program"]),
    ("selvedge-front-pds", &["base", "syntax", "program"]),
    ("selvedge-front-property", &["base", "syntax", "program"]),
    ("selvedge-front-nwa", &["base", "syntax", "pds"]),
    ("selvedge-front-java", &["base", "code", "program"]),
    ("selvedge-heap", &["base", "code"]),
    ("selvedge-logic", &["base", "syntax", "program", "pds"]),
    ("selvedge-lower", &["base", "pds", "program"]),
    ("selvedge-locks", &["base", "bdd", "pds", "program", "lower"]),
    ("selvedge-bounded", &["base", "bdd", "pds", "program", "lower"]),
    ("selvedge-cpds", &["base", "bdd", "pds", "program", "lower"]),
    ("selvedge-replay", &["base", "program"]),
    ("selvedge-states", &["base", "program"]),
    ("selvedge-cluster", &["base", "program", "states"]),
    (
        "selvedge-analysis",
        &[
            "base", "program", "pds", "logic", "lower", "locks", "bounded", "cpds", "states",
            "replay",
        ],
    ),
    ("selvedge-findings", &["base", "program"]),
    ("selvedge-report", &["base", "program", "findings"]),
    (
        "selvedge-library",
        &[
            "base",
            "syntax",
            "code",
            "program",
            "front-eml",
            "front-bool",
            "front-pds",
            "front-property",
            "front-nwa",
            "front-java",
            "logic",
            "pds",
            "bounded",
            "analysis",
            "replay",
            "findings",
            "report",
        ],
    ),
    ("selvedge-lsp", &["base", "syntax", "program", "findings", "report", "library"]),
    ("selvedge-testkit", &["base", "code", "program", "replay"]),
    (
        "selvedge",
        &[
            "base", "program", "analysis", "cluster", "replay", "findings", "report", "library",
            "lsp",
        ],
    ),
    (
        "xtask",
        &[
            "base",
            "bdd",
            "program",
            "front-eml",
            "front-bool",
            "front-pds",
            "pds",
            "bounded",
            "cpds",
            "analysis",
            "states",
            "replay",
            "library",
            "testkit",
        ],
    ),
];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
}

/// Compares the edges of the workspace with the table.
pub fn check() -> Result<String, String> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .output()
        .map_err(|error| format!("cargo could not be started: {error}"))?;
    let metadata: Metadata = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cargo metadata: {error}"))?;
    let mut breaches = breaches(&metadata);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    breaches.extend(worldly(&root).map_err(|error| format!("the sources: {error}"))?);
    let manifest = root.join("../Cargo.toml");
    let manifest =
        std::fs::read_to_string(manifest).map_err(|error| format!("the manifest: {error}"))?;
    let packages: Vec<&str> = metadata.packages.iter().map(|one| one.name.as_str()).collect();
    breaches.extend(unchecked(&manifest, &packages));
    if breaches.is_empty() {
        Ok(format!("layers: {} crates, no forbidden edge\n", metadata.packages.len()))
    } else {
        Err(breaches.join("\n"))
    }
}

/// The crates that have no part in a verdict: what is decided already is told, or tests are made.
const TELLERS: [&str; 4] = ["selvedge-report", "selvedge", "selvedge-testkit", "xtask"];

/// The crates that have a part in a verdict and are released without checks for overflow.
fn unchecked(manifest: &str, packages: &[&str]) -> Vec<String> {
    let checked = |package: &str| {
        let profile = format!("[profile.release.package.{package}]\noverflow-checks = true\n");
        manifest.contains(&profile)
    };
    let decides = |package: &&&str| !TELLERS.contains(package) && !checked(package);
    let complaint = |package| format!("{package} is released without checks for overflow");
    packages.iter().filter(decides).map(complaint).collect()
}

/// What only a door may name.
const WORLDLY: [&str; 7] = [
    "std::fs",
    "std::thread",
    "std::process",
    "std::env::",
    "std::net",
    "Instant::now",
    "SystemTime",
];

/// The crates that may: the door, what joins processes, and what only tests use.
const DOORS: [&str; 3] = ["cli", "cluster", "testkit"];

/// Places below the doors that may name something all the same: the budget reads the clock, where a
/// deadline is set, and a search of states that is told to use several workers starts them.
const EXCEPTIONS: [(&str, &str); 3] = [
    ("base/src/budget.rs", "Instant::now"),
    ("states/src/search/parallel.rs", "std::thread"),
    ("states/src/search/together.rs", "std::thread"),
];

/// The places outside of tests where a crate below the doors names what only they may.
fn worldly(crates: &Path) -> std::io::Result<Vec<String>> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = Vec::new();
    for folder in std::fs::read_dir(crates)? {
        let folder = folder?.path();
        if !DOORS.iter().any(|door| folder.ends_with(door)) {
            open.push(folder.join("src"));
        }
    }
    while let Some(path) = open.pop() {
        if path.is_dir() {
            for entry in std::fs::read_dir(path)? {
                open.push(entry?.path());
            }
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && !path.ends_with("tests.rs")
        {
            let text = std::fs::read_to_string(&path)?;
            let excepted = |name: &&str| {
                EXCEPTIONS.iter().any(|(file, what)| path.ends_with(file) && what == name)
            };
            let names = named(&text).into_iter().filter(|name| !excepted(name));
            found.extend(names.map(|name| format!("{} names {name}", path.display())));
        }
    }
    found.sort();
    Ok(found)
}

/// What of the world a source names before its tests.
fn named(text: &str) -> Vec<&'static str> {
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code: Vec<&str> = code.collect();
    WORLDLY.into_iter().filter(|name| code.iter().any(|line| line.contains(name))).collect()
}

fn breaches(metadata: &Metadata) -> Vec<String> {
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.iter().copied().collect();
    let mut breaches = Vec::new();
    for package in &metadata.packages {
        let Some(allowed) = allowed.get(package.name.as_str()) else {
            breaches.push(format!("{} has no row in the table of xtask layers", package.name));
            continue;
        };
        let edges = package
            .dependencies
            .iter()
            .filter(|dependency| dependency.kind.as_deref() != Some("dev"))
            .filter_map(|dependency| dependency.name.strip_prefix("selvedge-"));
        for target in edges.filter(|target| !allowed.contains(target)) {
            breaches.push(format!("{} must not depend on selvedge-{target}", package.name));
        }
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overflows_are_checked_for_where_verdicts_are_made() {
        let manifest = "[profile.release.package.selvedge-pds]\noverflow-checks = true\n";
        assert_eq!(unchecked(manifest, &["selvedge-pds", "selvedge-report"]), [""; 0]);
        let found = unchecked(manifest, &["selvedge-pds", "selvedge-locks"]);
        assert_eq!(found, ["selvedge-locks is released without checks for overflow"]);
    }

    fn package(name: &str, dependencies: &[(&str, Option<&str>)]) -> Package {
        let dependency = |&(name, kind): &(&str, Option<&str>)| Dependency {
            name: name.to_owned(),
            kind: kind.map(str::to_owned),
        };
        Package {
            name: name.to_owned(),
            dependencies: dependencies.iter().map(dependency).collect(),
        }
    }

    #[test]
    fn the_world_is_named_in_code_only() {
        assert_eq!(
            named("//! std::fs\nuse std::fs::File;\nlet now = Instant::now();"),
            ["std::fs", "Instant::now"]
        );
        assert_eq!(named("fn f() {}\n#[cfg(test)]\nmod tests { use std::fs; }"), [""; 0]);
    }

    #[test]
    fn a_forbidden_edge_is_named_and_a_test_edge_is_not() {
        let packages = vec![
            package("selvedge-replay", &[("selvedge-program", None), ("selvedge-lower", None)]),
            package("selvedge-pds", &[("selvedge-program", Some("dev"))]),
            package("selvedge-new", &[]),
        ];
        assert_eq!(
            breaches(&Metadata { packages }),
            [
                "selvedge-replay must not depend on selvedge-lower",
                "selvedge-new has no row in the table of xtask layers"
            ]
        );
    }
}
