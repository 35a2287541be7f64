//! Sequential programs as text: what is written, in each dialect, is read back, and the sequential
//! analysis of it gives the verdict of the concurrent one, for assertions, labels and states.

mod common;

use common::{Shape, oracle, random_program, random_target, rounds};
use selvedge_base::Budget;
use selvedge_bounded::sequentialize;
use selvedge_bounded::sequentialize::sequentialize_towards;
use selvedge_bounded::{Mode, SymbolicOptions, SymbolicSearch};
use selvedge_front_bool::{Dialect, Options, parse, print_in};
use selvedge_program::{Measure, Program, Search, Target};
use selvedge_testkit::getafix::recognise;
use selvedge_testkit::rng::Rng;
use std::path::Path;

/// Whether an assertion can fail within a number of rounds.
fn fails(program: &Program, rounds: u32) -> bool {
    let mut search = SymbolicSearch::new(
        program,
        &Target::Assertion,
        Measure::Rounds,
        Mode::Lazy,
        SymbolicOptions::default(),
        &Budget::new(),
    )
    .expect("the program is supported");
    (0..rounds).any(|_| search.advance().expect("no limit is met").reached.is_some())
}

fn read(path: &Path) -> Program {
    let text = std::fs::read_to_string(path).expect("the file can be read");
    let parsed = parse(&text, &Options::default());
    parsed.program.unwrap_or_else(|| panic!("{}: {:?}", path.display(), parsed.diagnostics))
}

/// What is read of a sequential program that is written in a dialect.
fn written(program: &Program, dialect: Dialect) -> Program {
    let text = print_in(program, dialect).expect("it can be written");
    if dialect == Dialect::Getafix {
        recognise(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    }
    // Without a word about the dialect, and in either of them, the same is read.
    let read = |dialect| parse(&text, &Options { dialect, starts_per_site: None });
    let parsed = read(None);
    let again = parsed.program.unwrap_or_else(|| panic!("{:?}\n{text}", parsed.diagnostics));
    for dialect in Dialect::ALL {
        assert!(read(Some(dialect)).program.as_ref() == Some(&again), "{dialect}: {text}");
    }
    again
}

#[test]
fn texts_of_sequential_programs_keep_the_verdict() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut verdicts = [0, 0];
    for name in ["handshakes", "overbooking", "overbooking-fixed", "overbooking-static"] {
        let program = read(&root.join(format!("examples/{name}.bp")));
        for rounds in 1..=2 {
            let sequential = sequentialize(&program, rounds).expect("it is supported");
            let expected = fails(&program, rounds);
            assert_eq!(fails(&sequential.program, 1), expected, "{name}, {rounds} rounds");
            for dialect in Dialect::ALL {
                let again = written(&sequential.program, dialect);
                assert_eq!(fails(&again, 1), expected, "{name}, {rounds} rounds, in {dialect}");
            }
            verdicts[usize::from(expected)] += 1;
        }
    }
    assert!(verdicts.iter().all(|&count| count > 0), "{verdicts:?}");
}

#[test]
fn texts_keep_the_question() {
    // For each kind of question, how often the answer is no and yes.
    let mut verdicts = [[0, 0]; 3];
    for seed in 0..150 {
        let mut rng = Rng::new(7_000 + seed);
        let program = random_program(&mut rng, &Shape::SMALL);
        let target = random_target(&mut rng, &program);
        let most = 1 + (seed % 2) as u32;
        let Some(expected) = oracle(&program, std::slice::from_ref(&target), rounds(most), 3)
        else {
            continue;
        };
        let expected = expected.levels[most as usize - 1].reached[0];
        let Ok(sequential) = sequentialize_towards(&program, &target, most) else { continue };
        for dialect in Dialect::ALL {
            let again = written(&sequential.program, dialect);
            assert_eq!(fails(&again, 1), expected, "seed {seed}, {target:?}, in {dialect}");
        }
        let kind = match target {
            Target::Assertion => 0,
            Target::Label(_) => 1,
            Target::State(_) => 2,
        };
        verdicts[kind][usize::from(expected)] += 1;
    }
    assert!(verdicts.iter().flatten().all(|&count| count > 3), "{verdicts:?}");
}
