//! # Idea
//! The values of expressions along a run: its trace is executed again, and each expression is evaluated
//! in the states before the first step and after each. Where the states that agree with the record differ
//! about it, where a local does not exist or its block does not run, and where the evaluation fails, an expression has no value.

use crate::execute::run_with;
use crate::run::State;
use crate::run::values::View;
use selvedge_base::{Budget, Place};
use selvedge_program::{
    EdgeId, Local, Probe, ProbeExpr, ProbeLocal, Program, Successors, Trace, Valuation, Value,
};

/// The values of expressions along a trace of a program; none where a limit ends the execution.
pub fn probe(
    program: &Program,
    trace: &Trace,
    expressions: &[ProbeExpr],
    budget: &Budget,
) -> Vec<Probe> {
    let steps = trace.steps.len();
    let mut probes: Vec<Probe> = expressions
        .iter()
        .map(|one| Probe { sort: one.sort, ..Probe::absent(&one.text, steps) })
        .collect();
    let successors = Successors::new(program);
    let mut see = |at: usize, states: &[State]| {
        for (probe, expression) in probes.iter_mut().zip(expressions) {
            let mut values =
                states.iter().map(|state| value(program, &successors, state, expression));
            let first = values.next().flatten();
            probe.values[at] = first.filter(|_| values.all(|other| other == first));
        }
    };
    let witness = trace.witness(program);
    let run = run_with(program, &witness, budget, &mut |at, states, _| see(at, states));
    if let Ok((_, states)) = run {
        see(steps, &states);
    }
    probes
}

/// The value of an expression in a state, if it has one.
fn value(
    program: &Program,
    successors: &Successors,
    state: &State,
    expression: &ProbeExpr,
) -> Option<i64> {
    let locals = expression.locals.iter();
    let locals = locals.map(|local| local_value(program, successors, state, local));
    let locals: Option<Vec<Value>> = locals.collect();
    let locals = Valuation(locals?);
    let thread = program.threads.ids().next()?;
    let view = View { globals: &state.globals, locals: &locals, thread, copy: 0 };
    match view.values(&expression.expr).values[..] {
        [value] => Some(value),
        _ => None,
    }
}

/// The value of a local in the innermost activation of its thread that has it, where its block runs.
fn local_value(
    program: &Program,
    successors: &Successors,
    state: &State,
    local: &ProbeLocal,
) -> Option<Value> {
    let ProbeLocal { thread, name, sort } = local;
    if state.waits(*thread) {
        return None;
    }
    let stack = state.control.threads[*thread].stack.iter().rev();
    let activations = state.threads[*thread].activations.iter().rev();
    let mut called: Option<EdgeId> = None;
    for (&node, activation) in stack.zip(activations) {
        let procedure = &program.procedures[program.nodes[node]];
        let mut locals = procedure.frame.locals.iter_enumerated();
        let found = locals.find(|(_, one)| one.name == *name && one.ty.sort() == *sort);
        if let Some((id, one)) = found {
            let next = match called {
                Some(call) => Some(program.edges[call].place),
                None => successors.of(node).iter().map(|&edge| program.edges[edge].place).min(),
            };
            let runs = is_inside(one, next.unwrap_or(procedure.end));
            return runs.then(|| activation.locals.get(id));
        }
        called = activation.call;
    }
    None
}

/// Whether the block of a local runs where the next step stands at a place.
fn is_inside(local: &Local, next: Place) -> bool {
    let is_known = |place: Place| place.line().is_some();
    !is_known(local.end) || !is_known(next) || (local.place <= next && next < local.end)
}
