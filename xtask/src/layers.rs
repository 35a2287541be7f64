//! # Idea
//! The dependency direction between the crates is a table; an edge that is not in it fails the
//! build. See ARCHITECTURE.md for the reasons.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::process::Command;

/// What each crate may depend on outside of tests.
const ALLOWED: &[(&str, &[&str])] = &[
    ("selvedge-base", &[]),
    ("selvedge-bdd", &["base"]),
    ("selvedge-pds", &["base"]),
    ("selvedge-syntax", &["base"]),
    ("selvedge-program", &["base", "syntax"]),
    ("selvedge-front-eml", &["base", "syntax", "program"]),
    ("selvedge-front-bool", &["base", "syntax", "program"]),
    ("selvedge-front-pds", &["base", "syntax", "program"]),
    ("selvedge-front-property", &["base", "syntax", "program"]),
    ("selvedge-lower", &["base", "pds", "program"]),
    ("selvedge-locks", &["base", "bdd", "pds", "program", "lower"]),
    ("selvedge-bounded", &["base", "bdd", "pds", "program", "lower"]),
    ("selvedge-replay", &["base", "program"]),
    ("selvedge-analysis", &["base", "program", "lower", "locks", "bounded", "replay"]),
    ("selvedge-findings", &["base", "program"]),
    ("selvedge-report", &["base", "program", "findings"]),
    (
        "selvedge-library",
        &[
            "base",
            "syntax",
            "program",
            "front-eml",
            "front-bool",
            "front-pds",
            "front-property",
            "bounded",
            "analysis",
            "replay",
            "findings",
            "report",
        ],
    ),
    ("selvedge-testkit", &["base", "program", "replay"]),
    ("selvedge", &["base", "program", "analysis", "replay", "findings", "report", "library"]),
    (
        "xtask",
        &[
            "base",
            "program",
            "front-eml",
            "front-bool",
            "front-pds",
            "pds",
            "bounded",
            "analysis",
            "replay",
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
    let breaches = breaches(&metadata);
    if breaches.is_empty() {
        Ok(format!("layers: {} crates, no forbidden edge\n", metadata.packages.len()))
    } else {
        Err(breaches.join("\n"))
    }
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
