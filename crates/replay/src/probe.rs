//! # Idea
//! The values of expressions along a run: its trace is executed again, and each expression is evaluated
//! in the states before the first step and after each. Where the states that agree with the record differ
//! about it, where a local does not exist, and where the evaluation fails, an expression has no value.

use crate::execute::run_with;
use crate::run::State;
use crate::run::values::View;
use selvedge_base::Budget;
use selvedge_program::{Probe, ProbeExpr, ProbeLocal, Program, Trace, Valuation, Value};

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
    let mut see = |at: usize, states: &[State]| {
        for (probe, expression) in probes.iter_mut().zip(expressions) {
            let mut values = states.iter().map(|state| value(program, state, expression));
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
fn value(program: &Program, state: &State, expression: &ProbeExpr) -> Option<i64> {
    let locals: Option<Vec<Value>> =
        expression.locals.iter().map(|local| local_value(program, state, local)).collect();
    let locals = Valuation(locals?);
    let thread = program.threads.ids().next()?;
    let view = View { globals: &state.globals, locals: &locals, thread, copy: 0 };
    match view.values(&expression.expr).values[..] {
        [value] => Some(value),
        _ => None,
    }
}

/// The value of a local in the innermost activation of its thread that has it.
fn local_value(program: &Program, state: &State, local: &ProbeLocal) -> Option<Value> {
    let ProbeLocal { thread, name, sort } = local;
    if state.waits(*thread) {
        return None;
    }
    let stack = state.control.threads[*thread].stack.iter().rev();
    let activations = state.threads[*thread].activations.iter().rev();
    stack.zip(activations).find_map(|(&node, activation)| {
        let frame = &program.procedures[program.nodes[node]].frame;
        let mut locals = frame.locals.iter_enumerated();
        let (id, _) = locals.find(|(_, one)| one.name == *name && one.ty.sort() == *sort)?;
        Some(activation.locals.get(id))
    })
}
