//! # Idea
//! The model allows an update on every edge, in the same step as a call, a return, a start or an
//! assertion; statements of Boolean programs have none there, but other front ends do. So random
//! updates are put on the edges of a program, and joins, which Boolean programs do not have at all. A
//! program without values gets some.

use super::generate::Scope;
use crate::rng::Rng;
use selvedge_base::{Id, Place};
use selvedge_program::{Action, Edge, EdgeId, Expr, Global, Program, Start, ThreadId, Update};

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

/// Turns some steps that do nothing into joins, mostly of another thread.
pub fn with_joins(program: &mut Program, rng: &mut Rng) {
    let threads = program.threads.len();
    for id in program.edges.ids() {
        let Edge { action: Action::Skip, source, .. } = program.edges[id] else { continue };
        let owner = program.procedures[program.nodes[source]].owner;
        let mut joined = ThreadId::from_index(rng.below(threads));
        if owner == Some(joined) && rng.percent(90) {
            joined = ThreadId::from_index((joined.index() + 1) % threads);
        }
        if rng.percent(20) {
            program.edges[id].action = Action::Join(joined);
        }
    }
}

/// Adds globals, updates that compute with them, and assertions about them.
pub fn with_values(program: &mut Program, rng: &mut Rng) {
    for _ in 0..rng.between(1, 3) {
        let name = format!("g{}", program.globals.len());
        let initial = (!rng.percent(20)).then(|| rng.percent(50));
        program.globals.push(Global::flag(name, Place::NONE, initial));
    }
    decorate(program, rng);
    let scope = Scope { globals: program.globals.len(), locals: 0 };
    for id in program.edges.ids() {
        if program.edges[id].action == Action::Skip && rng.percent(30) {
            let condition = program.conditions.push(scope.condition(rng));
            program.edges[id].action = Action::Assert(condition);
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
