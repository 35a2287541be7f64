//! # Idea
//! What the expressions of a step can be, by the running thread in the state before it, and whether the
//! step may touch what it touches. A way to fail is noted where it is met.

use super::super::refusal::Refusal;
use super::super::state::State;
use super::super::values::{MOST_VALUES, Possible, Touched, View, stored};
use selvedge_program::{
    Annotation, Expr, FailureKind, FailureKinds, GlobalId, Program, Type, Value, Variable,
};
use std::cell::Cell as Memo;

/// The values that a cell can get.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Choices {
    /// These, at least one.
    Listed(Vec<Value>),
    /// All from the first to the second.
    Between(Value, Value),
}

impl Choices {
    pub(super) fn has(&self, value: Value) -> bool {
        match self {
            Self::Listed(values) => values.contains(&value),
            Self::Between(low, high) => (*low..=*high).contains(&value),
        }
    }

    pub(super) fn count(&self) -> u64 {
        match self {
            Self::Listed(values) => values.len() as u64,
            Self::Between(low, high) => (i64::from(*high) - i64::from(*low) + 1).unsigned_abs(),
        }
    }

    pub(super) fn at(&self, index: u64) -> Value {
        match self {
            Self::Listed(values) => values[index as usize],
            Self::Between(low, _) => (i64::from(*low) + index.cast_signed()) as Value,
        }
    }
}

pub(super) fn any_of(program: &Program, ty: Type) -> Choices {
    let (low, high) = program.range(ty);
    Choices::Between(low, high)
}

/// How a condition that must hold is broken.
pub(super) fn broken(condition: &Possible, kind: FailureKind) -> FailureKinds {
    let mut kinds = condition.fails;
    if condition.can_be_false() {
        kinds.insert(kind);
    }
    kinds
}

/// The evaluation of what a step computes, by the running thread in the state before it.
#[derive(Clone, Copy)]
pub(super) struct Evaluation<'s> {
    pub(super) program: &'s Program,
    pub(super) state: &'s State,
    pub(super) view: View<'s>,
    /// How the step can fail, as far as was met.
    pub(super) fails: &'s Memo<FailureKinds>,
}

impl Evaluation<'_> {
    /// Notes ways to fail; the refusal if there is one.
    pub(super) fn failures(&self, kinds: FailureKinds) -> Option<Refusal> {
        self.fails.set(self.fails.get().union(kinds));
        kinds.iter().next().map(Refusal::Fails)
    }

    /// Notes a failure.
    pub(super) fn failure(&self, kind: FailureKind) -> Refusal {
        _ = self.failures(kind.into());
        Refusal::Fails(kind)
    }

    /// What an expression can be, if what it reads may be read.
    pub(super) fn evaluate(&self, expr: &Expr) -> Result<Possible, Refusal> {
        let mut touched = Touched::default();
        let possible = self.view.touching(expr, &mut touched);
        self.allows(touched.0)?;
        _ = self.failures(possible.fails);
        Ok(possible)
    }

    /// Whether variables may be accessed (9).
    pub(super) fn allows(
        &self,
        variables: impl IntoIterator<Item = Variable>,
    ) -> Result<(), Refusal> {
        for variable in variables {
            let Variable::Global(global) = variable else { continue };
            let thread = self.view.thread;
            let fails = match self.program.globals[global].annotation {
                None => continue,
                Some(Annotation::GuardedBy(lock)) => {
                    if self.state.control.holds(thread, lock) {
                        continue;
                    }
                    FailureKind::Annotation.into()
                }
                Some(Annotation::ExclusiveWhen(condition)) => {
                    let view = self.state.about_globals(self.program, thread);
                    let condition = view.values(&self.program.conditions[condition]);
                    broken(&condition, FailureKind::Annotation)
                }
            };
            if let Some(refusal) = self.failures(fails) {
                return Err(refusal);
            }
        }
        Ok(())
    }

    /// The values of an expression as a variable of a type holds them.
    pub(super) fn stored(&self, expr: &Expr, ty: Type) -> Result<Choices, Refusal> {
        let possible = self.evaluate(expr)?;
        if possible.too_many {
            return Err(Refusal::TooManyChoices);
        }
        let mut held = Vec::with_capacity(possible.values.len());
        for &value in &possible.values {
            match stored(self.program, ty, value) {
                Some(value) => held.push(value),
                None => _ = self.failure(FailureKind::Range),
            }
        }
        self.listed(held)
    }

    /// The values of a result as the variable that gets it holds them.
    pub(super) fn moved(&self, choices: Choices, ty: Type) -> Result<Choices, Refusal> {
        let values = match choices {
            Choices::Listed(values) => values,
            Choices::Between(low, high) => {
                let fits = |value: Value| stored(self.program, ty, i64::from(value)) == Some(value);
                if fits(low) && fits(high) {
                    return Ok(Choices::Between(low, high));
                }
                if i64::from(high) - i64::from(low) >= i64::from(MOST_VALUES) {
                    return Err(Refusal::TooManyChoices);
                }
                (low..=high).collect()
            }
        };
        let mut held = Vec::with_capacity(values.len());
        for value in values {
            match stored(self.program, ty, i64::from(value)) {
                Some(value) => held.push(value),
                None => _ = self.failure(FailureKind::Range),
            }
        }
        self.listed(held)
    }

    fn listed(&self, mut held: Vec<Value>) -> Result<Choices, Refusal> {
        held.sort_unstable();
        held.dedup();
        if held.is_empty() {
            // A choice among nothing blocks; else it was noted why there is no value.
            let fails = self.fails.get().iter().next();
            return Err(fails.map_or(Refusal::Guard, Refusal::Fails));
        }
        Ok(Choices::Listed(held))
    }

    /// Whether a step that writes these globals keeps what must hold afterwards (9).
    pub(super) fn keeps(&self, next: &State, written: &[GlobalId]) -> Result<(), Refusal> {
        if written.is_empty() {
            return Ok(());
        }
        let program = self.program;
        let speaks_of_written = |condition: &Expr| {
            let mut speaks = false;
            condition.variables(&mut |variable, _| {
                speaks |= written.iter().any(|&one| variable == Variable::Global(one));
            });
            speaks
        };
        let me = self.view.thread;
        let mut fails = FailureKinds::NONE;
        for (at, invariant) in program.invariants.iter().enumerate() {
            let condition = &program.conditions[invariant.condition];
            if speaks_of_written(condition) {
                let values = next.about_globals(program, me).values(condition);
                fails = fails.union(broken(&values, FailureKind::of_invariant(at)));
            }
        }
        for global in &program.globals {
            let Some(Annotation::ExclusiveWhen(condition)) = global.annotation else { continue };
            let condition = &program.conditions[condition];
            if !speaks_of_written(condition) {
                continue;
            }
            let mut exclusive = 0;
            for thread in program.threads.ids() {
                let before = self.state.about_globals(program, thread).values(condition);
                let after = next.about_globals(program, thread).values(condition);
                fails = fails.union(after.fails);
                exclusive += usize::from(after.can_hold());
                if exclusive > 1 || thread != me && before != after {
                    fails.insert(FailureKind::Annotation);
                }
            }
        }
        self.failures(fails).map_or(Ok(()), Err)
    }
}
