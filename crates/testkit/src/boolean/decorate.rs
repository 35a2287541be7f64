//! # Idea
//! The model allows an update on every edge, in the same step as a call, a return, a start or an
//! assertion; statements of Boolean programs have none there, but other front ends do. So random
//! updates are put on the edges of a program.

use super::generate::Scope;
use crate::rng::Rng;
use selvedge_program::{Action, EdgeId, Expr, Program, Start, ThreadId, Update};

/// Puts random updates on edges without one, mostly on those that do more than a `skip`, and an order
/// on the starts of threads.
pub fn decorate(program: &mut Program, rng: &mut Rng) {
    for id in program.edges.ids() {
        let edge = &program.edges[id];
        let often = match edge.action {
            Action::Skip => 5,
            Action::BeginAtomic | Action::EndAtomic => 20,
            _ => 45,
        };
        if edge.update.is_none() && rng.percent(often) {
            let update = random_update(program, id, rng);
            program.edges[id].update = Some(program.updates.push(update));
        }
    }
    let mut before: Option<ThreadId> = None;
    for thread in program.threads.ids() {
        if let Start::ByEdge { after } = &mut program.threads[thread].start {
            *after = before.filter(|_| rng.percent(50));
            before = Some(thread);
        }
    }
}

fn random_update(program: &Program, edge: EdgeId, rng: &mut Rng) -> Update {
    let procedure = program.nodes[program.edges[edge].source];
    let locals = program.procedures[procedure].frame.locals.len();
    let scope = Scope { globals: program.globals.len(), locals };
    let mut update = Update::default();
    if rng.percent(25) {
        update.guard = Some(scope.condition(rng));
    }
    let count = rng.weighted(&[15, 50, 35]);
    for target in scope.variables(rng, count) {
        let free = rng.percent(30);
        let value = if free { Expr::Choice } else { scope.expression(rng, 1) };
        update.assignments.push((target, value));
    }
    if rng.percent(35) {
        update.constraint = scope.constraint(rng, &update.assignments);
    }
    update
}
