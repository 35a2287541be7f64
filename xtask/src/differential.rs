//! The large differential runs: the same tests as in the test-suite, with more programs.

use std::fmt::Write as _;
use std::process::Command;

/// A comparison by its name: what is compared, and the crate and the test files that do it.
const SUITES: &[(&str, &str, &str, &[&str])] = &[
    ("engines", "all engines for locks and units", "selvedge-analysis", &["differential"]),
    (
        "semantics",
        "answers about programs in EML against an interpreter that shares no code",
        "selvedge-library",
        &["semantics"],
    ),
    (
        "meetings",
        "races and deadlocks against exhaustive search",
        "selvedge-analysis",
        &["meetings", "many_locks"],
    ),
    (
        "starts",
        "threads that are started and joined, against exhaustive search",
        "selvedge-analysis",
        &["starts"],
    ),
    (
        "copies",
        "as many copies as decide a question, against one more of each",
        "selvedge-replay",
        &["copies"],
    ),
    (
        "restrictions",
        "threads of which only some runs count, against exhaustive search",
        "selvedge-analysis",
        &["restrictions"],
    ),
    (
        "cpds",
        "communicating pushdown systems, in all forms, against all engines for locks",
        "selvedge-analysis",
        &["cpds"],
    ),
    (
        "temporal",
        "formulas that are chains of moments, against exhaustive search",
        "selvedge-analysis",
        &["chains", "chain_events", "chain_recursion"],
    ),
    (
        "splitting",
        "chains of moments by sets of automaton tuples, against lock-history tuples",
        "selvedge-analysis",
        &["splitting"],
    ),
    (
        "spin",
        "formulas without X about programs without recursion, against SPIN",
        "selvedge-analysis",
        &["spin"],
    ),
    (
        "ltl",
        "automata of formulas against their meaning, spin and lbt, on all short words",
        "selvedge-logic",
        &["ltl"],
    ),
    ("relation", "questions as a relation against one by one", "selvedge-analysis", &["relation"]),
    (
        "dead-ends",
        "checks against `reach --deadlocks`, also of all examples and of corpus/bp",
        "selvedge-library",
        &["dead_ends"],
    ),
    ("shards", "checks in parts against checks in one run", "selvedge-library", &["shards"]),
    (
        "reach",
        "all engines for data against all schedules within a bound",
        "selvedge-analysis",
        &["reach_differential"],
    ),
    ("joins", "the same with starts and joins", "selvedge-analysis", &["joins"]),
    ("values", "the same with locks and values", "selvedge-analysis", &["locks_and_values"]),
    ("symbolic", "symbolic search against trying everything", "selvedge-bounded", &["symbolic"]),
    (
        "explicit",
        "explicit search and its proofs",
        "selvedge-bounded",
        &["explicit_random", "explicit_proofs"],
    ),
    (
        "typed",
        "typed data as bits against all schedules within a bound and the search of states",
        "selvedge-analysis",
        &["typed_engines"],
    ),
    (
        "events",
        "races and patterns of programs with values against all interleavings",
        "selvedge-analysis",
        &["events"],
    ),
    (
        "channels",
        "programs with channels against all interleavings, and the rules against a second reading",
        "selvedge-analysis",
        &["channels"],
    ),
    (
        "abstraction",
        "formulas with the upper frames of stacks, against a search with few open calls",
        "selvedge-analysis",
        &["abstraction"],
    ),
    (
        "java",
        "models printed as Java against the models and a JVM, programs in other clothes, and run",
        "selvedge-library",
        &["java_oracle", "java_variants", "java_watched"],
    ),
    ("java-confirm", "findings in Java against a JVM", "selvedge", &["confirm"]),
    (
        "transactions",
        "the search of states, in all reductions, against all interleavings",
        "selvedge-states",
        &["differential"],
    ),
    (
        "scale",
        "several workers, and partitions that are stopped and go on, against one and all interleavings",
        "selvedge-states",
        &["workers", "partitions"],
    ),
    (
        "processes",
        "several processes against one, on this machine",
        "selvedge-cluster",
        &["processes"],
    ),
    (
        "kills",
        "processes of a search that are killed, which then goes on",
        "selvedge",
        &["cluster"],
    ),
    (
        "symmetry",
        "interchangeable copies in order against all copies and all interleavings",
        "selvedge-states",
        &["symmetry"],
    ),
    (
        "copies",
        "interchangeable copies in order and counted, within a bound, against all copies",
        "selvedge-bounded",
        &["symmetry"],
    ),
];

/// The names with what they compare, one per line.
pub fn names() -> String {
    let mut lines = String::new();
    for (name, what, ..) in SUITES {
        let _ = writeln!(lines, "    {name:<12} {what}");
    }
    lines
}

/// Runs the comparison of this name, or all of them, on `programs` random programs of each shape, the
/// first of them with this seed if one is given.
pub fn run(name: Option<&str>, programs: u64, seed: Option<u64>) -> Result<String, String> {
    let chosen: Vec<_> =
        SUITES.iter().filter(|(own, ..)| name.is_none_or(|name| name == *own)).collect();
    if chosen.is_empty() {
        let name = name.unwrap_or_default();
        return Err(format!("there is no comparison `{name}`; there are\n{}", names()));
    }
    for (name, _, package, tests) in chosen {
        let mut command = Command::new(env!("CARGO"));
        command.args(["test", "--release", "--package", package]);
        for test in *tests {
            command.args(["--test", test]);
        }
        if let Some(seed) = seed {
            command.env("SELVEDGE_SEED", seed.to_string());
        }
        let status = command
            .args(["--", "--nocapture"])
            .env("SELVEDGE_PROGRAMS", programs.to_string())
            .status()
            .map_err(|error| format!("cargo could not be started: {error}"))?;
        if !status.success() {
            return Err(format!("{name}: there is a disagreement, see above"));
        }
    }
    Ok(format!("all engines agree on {programs} programs of each shape\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_comparison_has_its_tests_and_is_scaled() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
        for (name, _, package, tests) in SUITES {
            let folder = package.strip_prefix("selvedge-").unwrap_or("cli");
            for test in *tests {
                let file = root.join(folder).join("tests").join(format!("{test}.rs"));
                let text = std::fs::read_to_string(&file).unwrap_or_default();
                assert!(text.contains("SELVEDGE_PROGRAMS"), "{name}: {}", file.display());
            }
        }
        assert!(run(Some("nonsense"), 1, None).is_err());
    }
}
