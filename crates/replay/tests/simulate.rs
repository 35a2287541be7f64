//! Random runs are runs; and a trace gives back the witness that it was made from.

use selvedge_base::Budget;
use selvedge_program::{Program, Question, Target};
use selvedge_replay::{SimulationEnd, execute, replay, simulate};
use selvedge_testkit::boolean::generate::{BoolShape, random_bool_model};
use selvedge_testkit::generate::{Shape, random_model};
use selvedge_testkit::rng::Rng;

fn programs() -> Vec<Program> {
    let mut programs = Vec::new();
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        programs.push(random_model(&mut rng, &Shape::CONTENDED).to_program());
        programs.push(random_bool_model(&mut rng, &BoolShape::SMALL).to_program());
    }
    programs
}

#[test]
fn random_runs_replay_and_traces_give_their_witnesses_back() {
    let mut ends = [0; 4];
    for (number, program) in programs().iter().enumerate() {
        for seed in 0..4 {
            let simulation = simulate(program, seed, 60, &Budget::new());
            let trace = execute(program, &simulation.witness)
                .unwrap_or_else(|error| panic!("program {number}, seed {seed}: {error}"));
            assert_eq!(trace.witness(program), simulation.witness, "program {number}");
            assert_eq!(simulate(program, seed, 60, &Budget::new()), simulation);
            match simulation.end {
                SimulationEnd::Ended => ends[0] += 1,
                SimulationEnd::Stuck => {
                    ends[1] += 1;
                    let stuck = replay(program, &Question::Stuck, &simulation.witness);
                    assert!(stuck.is_ok_and(|trace| !trace.next.is_empty()), "program {number}");
                }
                SimulationEnd::Failed => {
                    ends[2] += 1;
                    let question = Question::Reach(Target::Assertion);
                    assert!(replay(program, &question, &simulation.witness).is_ok());
                }
                SimulationEnd::Steps => {
                    ends[3] += 1;
                    assert_eq!(trace.steps.len(), 60);
                }
                SimulationEnd::Open(why) => panic!("program {number}: {why}"),
            }
        }
    }
    assert!(ends.iter().all(|&count| count > 5), "{ends:?}");
}

#[test]
fn a_limit_ends_a_run() {
    let program = &programs()[0];
    let simulation = simulate(program, 1, 1_000, &Budget::with_steps(3));
    assert_eq!(simulation.witness.steps.len(), 2);
    assert!(matches!(simulation.end, SimulationEnd::Open(_)));
}
