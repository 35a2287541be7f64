//! # Idea
//! The states that a run can begin with: every value of a variable that has no initial one, if anybody
//! can read it.

use crate::program::Code;
use crate::state::State;
use selvedge_base::Budget;
use selvedge_program::{Type, Unknown, Value};

/// All states that a run can begin with.
pub(super) fn initial_states(code: &Code<'_>, budget: &Budget) -> Result<Vec<State>, Unknown> {
    const MOST: u64 = 1 << 16;
    let program = code.program;
    let choices = |ty: Type, initial: Option<Value>, matters: bool| -> (Value, Value) {
        let (low, high) = program.range(ty);
        match initial {
            Some(value) => (value, value),
            None if matters => (low, high),
            None => (low, low),
        }
    };
    let mut ranges: Vec<(Value, Value)> =
        program.globals.iter().map(|one| choices(one.ty, one.initial, true)).collect();
    for thread in &program.threads {
        let procedure = &program.procedures[thread.main];
        let waits = thread.start != selvedge_program::Start::AtFirst;
        for (id, local) in procedure.frame.locals.iter_enumerated() {
            let parameter = crate::program::index(id) < procedure.frame.parameters;
            let matters = !waits && code.live[procedure.entry].contains(&id);
            let initial = local.initial.filter(|_| !parameter);
            ranges.push(choices(local.ty, initial, matters));
        }
    }
    let mut many = 1u64;
    for &(low, high) in &ranges {
        let choices = (i64::from(high) - i64::from(low) + 1).unsigned_abs();
        many = many.saturating_mul(choices);
    }
    if many > MOST {
        return Err(Unknown::Unsupported(format!(
            "the search handles at most {MOST} initial states, and this program has more"
        )));
    }
    let mut values: Vec<Value> = ranges.iter().map(|range| range.0).collect();
    let mut states = Vec::new();
    loop {
        if let Some(reason) = budget.poll() {
            return Err(reason.into());
        }
        let mut rest = values[program.globals.len()..].iter().copied();
        let locals = program.threads.iter().map(|thread| {
            let count = program.procedures[thread.main].frame.locals.len();
            rest.by_ref().take(count).collect()
        });
        let locals: Vec<Vec<Value>> = locals.collect();
        let globals = values[..program.globals.len()].to_vec();
        states.push(State::initial(code, globals, locals));
        let carried = values.iter_mut().zip(&ranges).all(|(value, &(low, high))| {
            let last = *value == high;
            *value = if last { low } else { *value + 1 };
            last
        });
        if carried {
            return Ok(states);
        }
    }
}
