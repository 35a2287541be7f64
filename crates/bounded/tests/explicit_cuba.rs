//! Explicit search on the published concurrent pushdown systems, against what is recorded of them.

#![expect(clippy::print_stdout, reason = "what is skipped is said")]

use selvedge_base::Budget;
use selvedge_bounded::explicit::{ExplicitSearch, StackChoice};
use selvedge_program::{Measure, Question, Search, Target, validate};
use selvedge_replay::replay;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the published inputs, if it is there.
fn benchmarks() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/benchmarks");
    let found = folder.join("manifest.tsv").exists();
    if !found {
        println!("skipped: no folder {}", folder.display());
    }
    found.then_some(folder)
}

/// What a line of the manifest says.
#[derive(Debug, Default)]
struct Expected {
    file: String,
    reachable: Option<u32>,
    visible: Option<u64>,
}

fn expected(manifest: &str) -> Vec<Expected> {
    let line = |line: &str| {
        let mut columns = line.split('\t');
        let file = columns.next()?.to_owned();
        let words: Vec<&str> = columns.next()?.split(' ').collect();
        let value = |name: &str| words.iter().find_map(|word| word.strip_prefix(name));
        let number = |name: &str| value(name).map(|text| text.parse::<u64>().expect("a number"));
        let exhaustive = number("depthcut=") == Some(0);
        file.starts_with("cuba/").then_some(Expected {
            file,
            reachable: number("contexts=").map(|contexts| contexts as u32),
            visible: number("visible=").filter(|_| exhaustive),
        })
    };
    manifest.lines().filter_map(line).collect()
}

#[test]
fn the_recorded_answers_are_found() {
    let Some(folder) = benchmarks() else { return };
    let manifest = fs::read_to_string(folder.join("manifest.tsv")).expect("the manifest");
    let all = expected(&manifest);
    assert!(all.len() >= 15);
    for expected in &all {
        let path = folder.join(&expected.file);
        let read = |extension: &str| fs::read_to_string(path.with_extension(extension)).ok();
        let pds = read("pds").expect("the rules");
        let (init, spec) = (read("init"), read("spec"));
        let parsed = selvedge_front_pds::parse(&pds, init.as_deref(), spec.as_deref());
        let parsed = parsed.unwrap_or_else(|errors| panic!("{}: {errors:?}", expected.file));
        assert_eq!(validate::validate(&parsed.program), [], "{}", expected.file);
        let target = parsed.target.clone().unwrap_or(Target::Assertion);
        let budget = Budget::new();
        let search = ExplicitSearch::new(
            &parsed.program,
            &target,
            Measure::Contexts,
            StackChoice::Automatic,
            &budget,
        );
        let mut search = search.expect("it fits");
        for contexts in 1..=6 {
            let level = search.advance().expect("no limit is met");
            if let Some(run) = &level.reached {
                assert_eq!(Some(contexts), expected.reachable, "{}", expected.file);
                assert!(run.contexts() <= contexts);
                replay(&parsed.program, &Question::Reach(target.clone()), run)
                    .expect("the run replays");
                break;
            }
            assert!(expected.reachable.is_none_or(|least| contexts < least), "{}", expected.file);
            if level.complete {
                break;
            }
        }
        if let Some(visible) = expected.visible {
            assert_eq!(
                search.count_visible().expect("no limit is met"),
                visible,
                "{}",
                expected.file
            );
        }
    }
}
