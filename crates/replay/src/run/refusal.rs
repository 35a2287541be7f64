//! # Idea
//! Why a step with data is not possible, with words for it.

use crate::step::StepError;
use selvedge_base::{Id, StopReason};
use selvedge_program::{
    FailureKind, FailureKinds, Literal, ProcedureId, Program, ThreadId, Unknown, Value, Variable,
};

/// Why a thread cannot take a step, or not with this outcome.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Refusal {
    /// Control forbids it.
    Control(StepError),
    /// Another thread is inside an atomic section.
    Atomic(ThreadId),
    /// The thread is in no atomic section that it could leave.
    NotInAtomic,
    /// What the procedure enforces does not hold before the step.
    EnforcedBefore(ProcedureId),
    /// What the procedure on top afterwards enforces does not hold after the step.
    EnforcedAfter(ProcedureId),
    /// The guard cannot be true.
    Guard,
    /// The asserted condition cannot be true, so the run does not go on.
    AssertionFails,
    /// The step fails, so the run does not go on.
    Fails(FailureKind),
    /// The step cannot fail.
    AssertionHolds,
    /// The step cannot fail as recorded, but in these ways.
    OtherFailure(FailureKinds),
    /// The variable, seen from this procedure, cannot get this value.
    Value(ProcedureId, Variable, Value),
    /// The variable, seen from this procedure, changes without being assigned.
    Unassigned(ProcedureId, Variable),
    /// The constraint excludes the outcome.
    Constraint,
    /// There are as many globals, or locals of the activation on top, as this, but another number
    /// of values is recorded.
    Count(usize),
    /// More choices are open than are tried.
    TooManyChoices,
    /// The budget was used up while the outcomes were made.
    Stopped(StopReason),
}

impl From<StepError> for Refusal {
    fn from(error: StepError) -> Self {
        Self::Control(error)
    }
}

impl Refusal {
    /// What stays unknown if a step was not explored to the end; `None` if it was.
    pub fn open(self) -> Option<Unknown> {
        match self {
            Self::TooManyChoices => {
                Some(Unknown::Unsupported("a step has more outcomes than are tried".to_owned()))
            }
            Self::Stopped(reason) => Some(Unknown::Stopped(reason)),
            _ => None,
        }
    }

    /// The reason in words, with the names of the program.
    pub fn describe(self, program: &Program) -> String {
        let thread = |thread: ThreadId| &program.threads[thread].name;
        let procedure = |procedure: ProcedureId| &program.procedures[procedure].name;
        match self {
            Self::Control(error) => error.describe(program),
            Self::Atomic(other) => format!("{} is inside an atomic section", thread(other)),
            Self::NotInAtomic => "the thread is in no atomic section".to_owned(),
            Self::EnforcedBefore(at) => format!("what {} enforces does not hold", procedure(at)),
            Self::EnforcedAfter(at) => {
                format!("what {} enforces would not hold after it", procedure(at))
            }
            Self::Guard => "its condition cannot be true".to_owned(),
            Self::AssertionFails => "the asserted condition cannot be true".to_owned(),
            Self::Fails(kind) => format!("it fails ({})", kind.word()),
            Self::AssertionHolds => "it is no assertion that can fail".to_owned(),
            Self::OtherFailure(kinds) => {
                let words: Vec<&str> = kinds.iter().map(FailureKind::word).collect();
                format!("it fails in another way ({})", words.join(", "))
            }
            Self::Value(at, variable, value) => {
                let ty = match variable {
                    Variable::Global(global) => program.globals.get(global).map(|one| one.ty),
                    Variable::Local(local) => {
                        program.procedures[at].frame.locals.get(local).map(|one| one.ty)
                    }
                };
                let mut text = format!("{} cannot become ", name(program, at, variable));
                match ty {
                    Some(ty) if program.has_value(ty, value) => {
                        let literal = Literal::of(ty, value);
                        program.write_literal(literal, &mut text).expect("a string can be written");
                    }
                    _ => text.push_str(&value.to_string()),
                }
                text
            }
            Self::Unassigned(at, variable) => {
                format!("{} changes without being assigned", name(program, at, variable))
            }
            Self::Constraint => "its constraint cannot be true".to_owned(),
            Self::Count(count) => {
                format!("another number of values is recorded than the {count} of the variables")
            }
            Self::TooManyChoices => "too many choices are open".to_owned(),
            Self::Stopped(reason) => reason.to_string(),
        }
    }
}

fn name(program: &Program, procedure: ProcedureId, variable: Variable) -> String {
    let name = match variable {
        Variable::Global(global) => program.globals.get(global).map(|global| &global.name),
        Variable::Local(local) => {
            program.procedures[procedure].frame.locals.get(local).map(|local| &local.name)
        }
    };
    name.cloned().unwrap_or_else(|| match variable {
        Variable::Global(global) => format!("global {}", global.index()),
        Variable::Local(local) => format!("local {}", local.index()),
    })
}
