//! The public programs of Boppo's regression suite, where they are at hand.

mod common;

use common::{fails, reached, round_trip};
use selvedge_front_bool::{Dialect, Options, parse};
use selvedge_program::validate::validate;
use selvedge_program::{Program, Target};
use std::fs;
use std::path::{Path, PathBuf};

/// The `.bp` files below a folder.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "bp") {
            found.push(path);
        }
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "says why nothing was tested")]
fn every_program_is_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/benchmarks/boppo");
    if !folder.is_dir() {
        eprintln!("skipped: {} is not there", folder.display());
        return;
    }
    let mut found = Vec::new();
    files(&folder, &mut found);
    found.sort();
    assert_eq!(found.len(), 22);
    for path in found {
        let text = fs::read_to_string(&path).expect("a text");
        let options = Options { starts_per_site: Some(2), ..Options::default() };
        let parsed = parse(&text, &options);
        let name = path.display();
        let program = parsed.program.unwrap_or_else(|| panic!("{name}: {:?}", parsed.diagnostics));
        assert_eq!(validate(&program), [], "{name}");
        assert_eq!(parsed.dialect, Dialect::Boppo, "{name}");
        let unbounded = path.parent().is_some_and(|folder| folder.ends_with("Threads4"));
        assert_eq!(program.starts_per_site, unbounded.then_some(2), "{name}");
        assert_eq!(parse(&text, &Options::default()).program.is_none(), unbounded, "{name}");
        assert_eq!(round_trip(&program).is_none(), unbounded, "{name}");
    }
}

/// Whether a program reaches a label, or violates an assertion.
fn violated(program: &Program, label: Option<&str>) -> bool {
    let Some(label) = label else { return fails(program) };
    let labels = program.labels.iter().filter(|one| one.name == label);
    let target = Target::Label(labels.map(|label| label.node).collect());
    reached(program, &[target], 4, 60_000).expect("few states").least(0).is_some()
}

#[test]
#[expect(clippy::print_stderr, reason = "says why nothing was tested")]
fn every_verdict_is_the_expected_one() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/benchmarks");
    let Ok(manifest) = fs::read_to_string(folder.join("manifest.tsv")) else {
        eprintln!("skipped: {} is not there", folder.display());
        return;
    };
    let mut count = 0;
    for line in manifest.lines().filter(|line| line.starts_with("boppo/")) {
        let fields: Vec<&str> = line.split('\t').collect();
        let text = fs::read_to_string(folder.join(fields[0])).expect("a text");
        let options = Options { starts_per_site: Some(2), ..Options::default() };
        let program = parse(&text, &options).program.expect("no errors");
        let label = fields[2].split_once("-l ").map(|(_, label)| label.trim());
        assert_eq!(violated(&program, label), fields[1] == "UNSAFE", "{line}");
        count += 1;
    }
    assert_eq!(count, 22);
}
