//! Values of expressions along runs: what the record of a run says of its variables.

use selvedge_base::{Budget, Id};
use selvedge_program::{
    Expr, LocalId, ProbeExpr, ProbeLocal, Program, Sort, Stacks, Trace, Variable,
};
use selvedge_replay::{Simulation, execute, probe, simulate};
use selvedge_testkit::Rng;
use selvedge_testkit::typed_data::random_typed_data;

fn of(expr: Expr, sort: Sort, locals: Vec<ProbeLocal>) -> ProbeExpr {
    ProbeExpr { text: String::new(), expr, sort, locals }
}

fn along(program: &Program, trace: &Trace, expression: ProbeExpr) -> Vec<Option<i64>> {
    probe(program, trace, &[expression], &Budget::new()).remove(0).values
}

/// Globals are what the record has, and a local that the top of the stack has is that one.
#[test]
fn random_runs_have_the_values_of_their_records() {
    let mut compared = [0; 2];
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let program = random_typed_data(&mut rng, true, true);
        let Simulation { witness, .. } = simulate(&program, seed, 60, &Budget::new());
        let trace = execute(&program, &witness).expect("a random run replays");
        for (id, global) in program.globals.iter_enumerated() {
            let expr = Expr::Current(Variable::Global(id));
            let found = along(&program, &trace, of(expr, global.ty.sort(), Vec::new()));
            assert_eq!(found[0], Some(witness.globals.get(id).into()), "seed {seed}");
            for (value, step) in found[1..].iter().zip(&witness.steps) {
                assert_eq!(*value, Some(step.globals.get(id).into()), "seed {seed}");
                compared[0] += 1;
            }
        }
        let mut stacks = Stacks::new(&program);
        for (at, step) in trace.steps.iter().enumerate().take(8) {
            stacks.follow(step);
            let Some(&top) = stacks.of(step.thread).last().filter(|_| step.fails.is_none()) else {
                continue;
            };
            for (id, local) in program.procedures[top].frame.locals.iter_enumerated() {
                let (thread, name, sort) = (step.thread, local.name.clone(), local.ty.sort());
                let expr = Expr::Current(Variable::Local(LocalId::from_index(0)));
                let read = of(expr, sort, vec![ProbeLocal { thread, name, sort }]);
                let found = along(&program, &trace, read)[at + 1];
                assert_eq!(found, Some(witness.steps[at].locals.get(id).into()), "seed {seed}");
                compared[1] += 1;
            }
        }
    }
    assert!(compared.iter().all(|&count| count > 500), "{compared:?}");
}
