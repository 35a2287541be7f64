//! EML programs with values: what is read is searched for a little while, and what is found is a run.

#![no_main]

use libfuzzer_sys::fuzz_target;
use selvedge_base::{Budget, IdVec};
use selvedge_program::copies::instantiate;
use selvedge_program::{Copies, Engine, Question, Target, Verdict};
use selvedge_states::{SearchOptions, Transactions};

fuzz_target!(|text: &str| {
    let Some(program) = selvedge_front_eml::parse(text).program else { return };
    if program.edges.len() > 2000 || program.threads.len() > 20 || program.globals.len() > 2000 {
        return;
    }
    let many = program.threads.iter().any(|thread| thread.copies == Copies::Any);
    let program = if many {
        instantiate(&program, &IdVec::filled(2, program.threads.len()))
    } else {
        program
    };
    assert_eq!(selvedge_program::validate::validate(&program), []);
    for question in [Question::Reach(Target::Assertion), Question::Stuck] {
        let budget = Budget::with_steps(3000);
        let mut engine = Transactions::new(&program, SearchOptions::default(), None, budget);
        let decision = engine.decide(&question, &mut |_| {}).expect("no engine contradicts itself");
        if let Verdict::Violation(witness) = decision.verdict {
            selvedge_replay::replay(&program, &question, &witness).expect("it is a run");
        }
    }
});
