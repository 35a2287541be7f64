//! The reductions to one pushdown system on the published concurrent pushdown systems, against explicit
//! search by rounds.

#![expect(clippy::print_stdout, reason = "what is skipped is said")]

use selvedge_base::Budget;
use selvedge_bounded::explicit::{ExplicitSearch, StackChoice};
use selvedge_bounded::reduction::{PdsSearch, SpdsSearch};
use selvedge_program::{Measure, Question, Search, Target};
use selvedge_replay::replay;
use std::fs;
use std::path::Path;

#[test]
fn all_engines_agree() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/benchmarks");
    let Ok(manifest) = fs::read_to_string(folder.join("manifest.tsv")) else {
        println!("skipped: no folder {}", folder.display());
        return;
    };
    let files = manifest.lines().filter_map(|line| line.split('\t').next());
    for file in files.filter(|file| file.starts_with("cuba/")) {
        let path = folder.join(file);
        let read = |extension: &str| fs::read_to_string(path.with_extension(extension)).ok();
        let rules = read("pds").expect("the rules");
        let parsed =
            selvedge_front_pds::parse(&rules, read("init").as_deref(), read("spec").as_deref());
        let parsed = parsed.unwrap_or_else(|errors| panic!("{file}: {errors:?}"));
        let target = parsed.target.clone().unwrap_or(Target::Label(Vec::new()));
        let program = &parsed.program;
        let stop = Budget::new();
        let explicit =
            ExplicitSearch::new(program, &target, Measure::Rounds, StackChoice::Automatic, &stop);
        let mut explicit = explicit.expect("it fits");
        let mut searches: Vec<(&str, Box<dyn Search>)> = vec![
            ("pds", Box::new(PdsSearch::new(program, &target, &stop).expect("it fits"))),
            ("spds", Box::new(SpdsSearch::new(program, &target, &stop).expect("it fits"))),
        ];
        for rounds in 1..=2 {
            let expected = explicit.advance().expect("no limit is met");
            for (name, search) in &mut searches {
                let level = search.advance().expect("no limit is met");
                assert_eq!(
                    search.states(usize::MAX).expect("no limit is met"),
                    explicit.states(usize::MAX).expect("no limit is met"),
                    "{file} {name}"
                );
                assert_eq!(
                    level.reached.is_some(),
                    expected.reached.is_some(),
                    "{file} {name}, {rounds} rounds"
                );
                if let Some(run) = level.reached {
                    replay(program, &Question::Reach(target.clone()), &run)
                        .expect("the run replays");
                    assert!(run.rounds() <= rounds);
                }
            }
        }
    }
}
