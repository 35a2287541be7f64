//! Leaving out what a question cannot depend on changes no answer, and runs are filled up again.

use selvedge_base::Budget;
use selvedge_bounded::slice::Slice;
use selvedge_bounded::{Bounded, BoundedOptions, Kind};
use selvedge_program::{Engine, Measure, Program, Question, Target, Verdict};
use selvedge_replay::replay;
use selvedge_testkit::Rng;
use selvedge_testkit::boolean::generate::{BoolShape, random_bool_model};
use std::fmt::Write as _;

fn options(kind: Kind) -> BoundedOptions {
    BoundedOptions {
        kind: Some(kind),
        measure: Measure::Rounds,
        limit: Some(2),
        visible: false,
        list: None,
        starts_per_site: None,
        max_nodes: None,
        symmetry: false,
    }
}

fn decide(program: &Program, target: &Target, kind: Kind) -> Verdict<selvedge_program::Witness> {
    let mut engine = Bounded::new(program, options(kind), &Budget::new());
    engine.decide(&Question::Reach(target.clone()), &mut |_| {}).expect("no fault").verdict
}

#[test]
fn slices_have_the_same_answers() {
    let (mut sliced, mut violated) = (0, 0);
    for seed in 0..800 {
        let mut rng = Rng::new(seed);
        let program = random_bool_model(&mut rng, &BoolShape::SMALL).to_program();
        let target = Target::Assertion;
        let Some(slice) = Slice::new(&program, &target) else { continue };
        sliced += 1;
        assert!(slice.program.globals.len() < program.globals.len());
        let whole = decide(&program, &target, Kind::Explicit);
        let part = decide(&slice.program, &slice.target(&target), Kind::Explicit);
        assert_eq!(whole.word(), part.word(), "seed {seed}");
        if let Verdict::Violation(witness) = part {
            violated += 1;
            let filled = slice.original(&witness, &program);
            replay(&program, &Question::Reach(target), &filled)
                .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        }
    }
    assert!(sliced > 30 && violated > 10, "{sliced} sliced, {violated} violated");
}

/// Five thousand globals of which one matters.
#[test]
fn most_globals_do_not_matter() {
    let mut text = String::from("program\n");
    for number in 0..5_000 {
        writeln!(text, "global g{number} = F").expect("strings take text");
    }
    text += "thread A main main { procedure main nodes 4 entry 0 exit 3 {
        0 -> 1 skip do g7 := T
        1 -> 2 skip do g8 := g9
        2 -> 3 assert !g7 } }
        thread B main main { procedure main nodes 2 entry 0 exit 1 { 0 -> 1 skip do g4999 := g0 } }";
    let (program, complaints) = selvedge_program::text::parse(&text);
    let program = program.unwrap_or_else(|| panic!("{complaints:?}"));
    for kind in [Kind::Explicit, Kind::Lazy] {
        let verdict = decide(&program, &Target::Assertion, kind);
        let Verdict::Violation(witness) = verdict else { panic!("{kind:?}: {verdict:?}") };
        let question = Question::Reach(Target::Assertion);
        replay(&program, &question, &witness).expect("it is a run of the whole program");
    }
}
