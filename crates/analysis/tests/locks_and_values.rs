//! Programs with locks *and* values: every engine for data, asked as the command line asks, against
//! exhaustive search within the same bound. The engines turn locks into data and leave out globals
//! that the target does not depend on; every run is replayed on the program that was asked about.
//!
//! `SELVEDGE_PROGRAMS` sets the number of programs (default: a few seconds' worth), `SELVEDGE_SEED`
//! the first seed.

#![expect(clippy::print_stdout, reason = "the large run shows its counts")]

mod data;

use data::{Compared, Tally, compare, oracle, seeds};
use selvedge_base::Place;
use selvedge_program::{Action, Edge, Expr, Global, Program, Update, Variable};
use selvedge_testkit::Rng;
use selvedge_testkit::boolean::decorate::with_values;
use selvedge_testkit::generate::{Shape, random_model};

const SHAPE: Shape = Shape { processes: (2, 3), locks: 2, statements: 6, ..Shape::CONTENDED };

/// The program without its locks.
fn unlocked(program: &Program) -> Program {
    let mut out = program.clone();
    for id in program.edges.ids() {
        if let Edge { action: action @ (Action::Acquire(_) | Action::Release(_)), .. } =
            &mut out.edges[id]
        {
            *action = Action::Skip;
        }
    }
    out
}

/// Globals that are computed and that nothing else depends on.
fn with_idle_globals(program: &mut Program, rng: &mut Rng) {
    for at in 0..rng.between(1, 4) {
        let name = format!("idle{at}");
        let global = program.globals.push(Global::flag(name, Place::NONE, Some(false)));
        for id in program.edges.ids() {
            if !rng.percent(30) {
                continue;
            }
            let own = Variable::Global(global);
            let value = if rng.percent(30) { Expr::Choice } else { Expr::Current(own).not() };
            if let Some(update) = program.edges[id].update {
                program.updates[update].assignments.push((own, value));
            } else {
                let update = Update { assignments: vec![(own, value)], ..Update::default() };
                program.edges[id].update = Some(program.updates.push(update));
            }
        }
    }
}

#[test]
fn engines_agree_on_programs_with_locks_and_values() {
    let mut tally = Tally::default();
    for seed in seeds(90) {
        let mut rng = Rng::new(seed);
        let mut program = random_model(&mut rng, &SHAPE).to_program();
        with_values(&mut program, &mut rng);
        with_idle_globals(&mut program, &mut rng);
        let acquired =
            |edge: &Edge| matches!(edge.action, Action::Acquire(_)).then_some(edge.target);
        let inside: Vec<_> = program.edges.iter().filter_map(acquired).collect();
        let compared = compare(&program, &inside, &mut rng, seed, &mut tally);
        let Some(Compared { targets, measure, expected }) = compared else { continue };
        // Reached with fewer rounds, or at all, only if nobody has to wait for a lock.
        let free = oracle(&unlocked(&program), &targets, measure);
        let changed =
            |at: &usize| free.as_ref().map(|one| one.least(*at)) != Some(expected.least(*at));
        tally.noticed += (0..targets.len()).filter(changed).count();
    }
    println!("{tally:?}");
    tally.check();
}
