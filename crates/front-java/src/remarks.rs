//! # Idea
//! What is to be said of single steps of a model to whoever reads a finding: that a step gives up a lock for a
//! while, that unknown code takes it, that what is written depends on what was read. Nothing that is asked
//! depends on it; findings are ranked by it.
//!
//! # Invariants
//! 1. A remark is about the instruction of the step, in the method that it lies in.

use crate::class::{Arithmetic, At, FieldAccess, JavaBody, JavaInstruction};
use crate::facts::How;
use crate::frames::{Definition, Frames};
use crate::library::{Control, Effect, Gives};
use crate::tokens::{ModelFacts, Step};
use crate::world::{MemberId, Resolution};
use selvedge_base::Id;
use selvedge_program::{EdgeId, LocationId, ProcedureId};
use std::collections::{BTreeMap, BTreeSet};

/// Something that is to be said of a step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum StepRemark {
    /// The lock is freed because the thread waits.
    Waits,
    /// Unknown code does it.
    Unknown,
    /// What is written, or whether something is, depends on what the method read there before.
    Depends,
    /// What is read is compared only, and the method may read it again.
    Compared,
    /// What is read is what a compare-and-set expects that is tried again.
    Expected,
    /// The unit that begins is a pass of a loop.
    Pass,
    /// The object was just taken out of a container.
    Taken,
    /// A constant is added to what the method read there.
    Counts,
    /// The lock is taken if it is free, and not waited for.
    Tried,
}

/// The remarks about the steps of a model.
#[derive(Clone, Debug, Default)]
pub struct StepRemarks {
    /// By the edge.
    pub edges: BTreeMap<EdgeId, BTreeSet<StepRemark>>,
    /// The locations that are the elements of an array.
    pub arrays: BTreeSet<LocationId>,
    /// The instruction that does what a step does.
    pub sites: BTreeMap<EdgeId, (MemberId, At)>,
    /// The procedures that run for the object that the model is about.
    pub own: BTreeSet<ProcedureId>,
    /// The methods that frameworks call to set things up.
    pub set_up: BTreeSet<String>,
    /// The locks that are said to guard locations.
    pub claims: BTreeMap<LocationId, LockClaim>,
    /// The locks that are said to be held where procedures are called.
    pub called_with: BTreeMap<ProcedureId, LockClaim>,
}

/// A lock that is said to guard something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LockClaim {
    /// As the annotation says.
    pub text: String,
    /// The names that it can have.
    pub names: BTreeSet<String>,
}

/// What was said of instructions already.
#[derive(Clone, Debug, Default)]
pub struct KnownRemarks(BTreeMap<(MemberId, At, AccessStep), BTreeSet<StepRemark>>);

/// What a step does, as far as a remark depends on it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum AccessStep {
    Reads,
    Writes,
    Takes,
    Frees,
}

impl KnownRemarks {
    /// What is to be said of a step of a method.
    pub(crate) fn about(
        &mut self,
        shared: &ModelFacts<'_>,
        method: MemberId,
        at: At,
        step: &Step,
    ) -> BTreeSet<StepRemark> {
        let what = match step {
            Step::Read(..) => AccessStep::Reads,
            Step::Write(..) => AccessStep::Writes,
            Step::Acquire(_) => AccessStep::Takes,
            Step::Release(_) => AccessStep::Frees,
            Step::Pass => return BTreeSet::from([StepRemark::Pass]),
            _ => return BTreeSet::new(),
        };
        let known = self.0.entry((method, at, what));
        known.or_insert_with(|| remarks(shared, method, at, what)).clone()
    }
}

fn remarks(
    shared: &ModelFacts<'_>,
    method: MemberId,
    at: At,
    step: AccessStep,
) -> BTreeSet<StepRemark> {
    let mut said = BTreeSet::new();
    let ModelFacts { world, found, .. } = shared;
    let (Some(frames), Some(body)) = (found.methods.get(&method), &world.of(method).body) else {
        return said;
    };
    let Some(instruction) = body.instructions.get(at.index()) else { return said };
    let effects =
        || found.invocations.get(&(method, at)).into_iter().flat_map(|one| one.library.values());
    match (step, instruction) {
        (AccessStep::Frees, JavaInstruction::Invoke(..)) => {
            // It waits, or what it calls back does.
            let unlocks = |effect: Option<Effect>| {
                effect.is_some_and(|effect| {
                    effect.monitor || effect.control == Some(Control::Unlocks)
                })
            };
            if !effects().any(unlocks) {
                said.insert(StepRemark::Waits);
            }
        }
        (AccessStep::Takes, JavaInstruction::Invoke(_, member)) => {
            let tries = |effect: Option<Effect>| {
                effect.is_some_and(|effect| effect.control == Some(Control::Tries))
            };
            if effects().any(tries) && world.names.text(member.descriptor) == "()Z" {
                said.insert(StepRemark::Tried);
            }
        }
        (AccessStep::Reads | AccessStep::Writes, JavaInstruction::Field(access, member)) => {
            let Resolution::Found(field) = world.field(*member) else { return said };
            let reading = Reading { shared, frames, body };
            let of_object = matches!(access, FieldAccess::Get | FieldAccess::Put);
            if of_object && is_taken(shared, method, &frames.operands[at][0], CALLERS) {
                said.insert(StepRemark::Taken);
            }
            if step == AccessStep::Writes && reading.counts(field, at) {
                said.insert(StepRemark::Counts);
            }
            if step == AccessStep::Writes && reading.decides(field, at) {
                said.insert(StepRemark::Depends);
            }
            if step == AccessStep::Reads && is_compared(frames, body, at) {
                let after = frames.reachable_from(at);
                let again = frames.next.ids().any(|one| after[one] && reading.reads(field, one));
                said.extend(again.then_some(StepRemark::Compared));
            }
        }
        (
            AccessStep::Reads | AccessStep::Writes,
            JavaInstruction::Invoke(..) | JavaInstruction::InvokeDynamic(..),
        ) => {
            if effects().any(|effect| effect.is_none()) {
                said.insert(StepRemark::Unknown);
            }
            if step == AccessStep::Reads && is_expected(shared, frames, body, at) {
                said.insert(StepRemark::Expected);
            }
        }
        _ => {}
    }
    said
}

/// How many calls and casts are followed back to where an object comes from.
const CALLERS: usize = 4;

/// Whether a value was taken out of a container just before: by this method, or by all that call it.
fn is_taken(
    shared: &ModelFacts<'_>,
    method: MemberId,
    value: &[Definition],
    callers: usize,
) -> bool {
    let ModelFacts { world, found, facts, .. } = shared;
    let (Some(frames), Some(body)) = (found.methods.get(&method), &world.of(method).body) else {
        return false;
    };
    let Some(callers) = callers.checked_sub(1) else { return false };
    let gives = |at: At| match &body.instructions[at.index()] {
        JavaInstruction::CheckCast(_) => {
            frames.operands[at].first().is_some_and(|of| is_taken(shared, method, of, callers))
        }
        JavaInstruction::Invoke(..) => {
            let Some(invocation) = found.invocations.get(&(method, at)) else { return false };
            let takes = |effect: Option<Effect>| {
                effect.is_some_and(|effect| effect.gives == Gives::Held && effect.writes)
            };
            // A method that gives what it has taken out.
            let gives_taken = |callee: MemberId| {
                let (Some(frames), Some(body)) =
                    (found.methods.get(&callee), &world.of(callee).body)
                else {
                    return false;
                };
                frames.next.ids().filter(|&at| frames.reached[at]).all(|at| {
                    !matches!(body.instructions[at.index()], JavaInstruction::Return(Some(_)))
                        || is_taken(shared, callee, &frames.operands[at][0], callers)
                })
            };
            invocation.library.values().all(takes)
                && invocation.callees.methods().all(|(callee, _)| gives_taken(callee))
                && !(invocation.library.is_empty() && invocation.callees.is_empty())
        }
        _ => false,
    };
    let passed = |number: u16| {
        let by = |(caller, at, how): (MemberId, At, How)| {
            let frames = found.methods.get(&caller).filter(|_| how == How::Call);
            let operand = frames.and_then(|of| of.operands[at].get(usize::from(number)));
            operand.is_some_and(|of| is_taken(shared, caller, of, callers))
        };
        let begins = found.kinds.iter().any(|kind| kind.entry == Some(method));
        let mut calls = facts.calls_of(method).peekable();
        !begins && calls.peek().is_some() && calls.all(by)
    };
    let taken = |one: &Definition| match one {
        Definition::Result(at) => gives(*at),
        Definition::Parameter(number) => passed(*number),
        Definition::Caught(_) => false,
    };
    // Or was made because there was none.
    let made = |one: &Definition| {
        matches!(one, Definition::Result(at)
            if matches!(body.instructions[at.index()], JavaInstruction::New(_)))
    };
    value.iter().any(taken) && value.iter().all(|one| made(one) || taken(one))
}

/// Whether an instruction only moves values.
fn moves(instruction: &JavaInstruction) -> bool {
    matches!(
        instruction,
        JavaInstruction::Load(..) | JavaInstruction::Store(..) | JavaInstruction::Stack(_)
    )
}

/// The instructions that work on the result of one, with the number of the operand.
fn uses<'a>(
    frames: &'a Frames,
    body: &'a JavaBody,
    at: At,
) -> impl Iterator<Item = (At, usize)> + 'a {
    let is = move |one: &Definition| *one == Definition::Result(at);
    frames
        .operands
        .iter_enumerated()
        .filter(|(user, _)| !moves(&body.instructions[user.index()]))
        .flat_map(move |(user, operands)| {
            let own = operands.iter().enumerate().filter(move |(_, one)| one.iter().any(is));
            own.map(move |(number, _)| (user, number))
        })
}

/// Whether the result of an instruction is compared, and nothing else is done with it.
fn is_compared(frames: &Frames, body: &JavaBody, at: At) -> bool {
    let mut all = uses(frames, body, at).peekable();
    all.peek().is_some()
        && all.all(|(user, _)| {
            matches!(
                body.instructions[user.index()],
                JavaInstruction::Branch(..) | JavaInstruction::InstanceOf(_)
            )
        })
}

/// Whether the result of a call is what a compare-and-set expects that leads back to the call.
fn is_expected(shared: &ModelFacts<'_>, frames: &Frames, body: &JavaBody, at: At) -> bool {
    uses(frames, body, at).any(|(user, number)| {
        let JavaInstruction::Invoke(_, member) = &body.instructions[user.index()] else {
            return false;
        };
        let name = shared.world.names.text(member.name);
        let sets = name.starts_with("compareAndSet") || name.starts_with("weakCompareAndSet");
        sets && number == 1 && frames.reachable_from(user)[at]
    })
}

/// A method whose reads are followed to its writes.
struct Reading<'a> {
    shared: &'a ModelFacts<'a>,
    frames: &'a Frames,
    body: &'a JavaBody,
}

impl Reading<'_> {
    /// Whether a read of a field decides what an instruction writes, or whether it does.
    fn decides(&self, field: MemberId, write: At) -> bool {
        if self.frames.operands[write].last().is_some_and(|value| self.comes_from(field, value)) {
            return true;
        }
        self.frames.next.ids().any(|at| {
            let decides = matches!(
                self.body.instructions[at.index()],
                JavaInstruction::Branch(..) | JavaInstruction::Switch(..)
            );
            let operands = &self.frames.operands[at];
            decides
                && operands.iter().any(|one| self.comes_from(field, one))
                && self.frames.reachable_from(at)[write]
        })
    }

    /// Whether what an instruction writes is what was read of the field, and a constant more or less.
    fn counts(&self, field: MemberId, write: At) -> bool {
        let made_by = |value: &[Definition]| match value {
            [Definition::Result(at)] => Some(*at),
            _ => None,
        };
        let Some(sum) = self.frames.operands[write].last().and_then(|value| made_by(value)) else {
            return false;
        };
        let adds = matches!(
            self.body.instructions[sum.index()],
            JavaInstruction::Compute(Arithmetic::Add | Arithmetic::Subtract, _)
        );
        let is_constant =
            |at: At| matches!(self.body.instructions[at.index()], JavaInstruction::Constant(_));
        let parts: Vec<Option<At>> =
            self.frames.operands[sum].iter().map(|value| made_by(value)).collect();
        let [Some(one), Some(other)] = parts[..] else { return false };
        adds && self.reads(field, one) && is_constant(other)
    }

    /// Whether an instruction reads a field.
    fn reads(&self, field: MemberId, at: At) -> bool {
        matches!(
            &self.body.instructions[at.index()],
            JavaInstruction::Field(FieldAccess::Get | FieldAccess::GetStatic, member)
                if self.shared.world.field(*member) == Resolution::Found(field)
        )
    }

    /// Whether a value is computed from a read of a field.
    fn comes_from(&self, field: MemberId, value: &[Definition]) -> bool {
        let mut seen = BTreeSet::new();
        let mut open: Vec<Definition> = value.to_vec();
        while let Some(one) = open.pop() {
            let Definition::Result(at) = one else { continue };
            if !seen.insert(at) {
                continue;
            }
            if self.reads(field, at) {
                return true;
            }
            open.extend(self.frames.operands[at].iter().flat_map(|one| one.iter().copied()));
        }
        false
    }
}
