//! # Idea
//! What every instruction of a body works on: for each operand the *definitions* that it can come from, which
//! are parameters, results of instructions and caught exceptions. Loads, stores and stack operations only move
//! values, so they define nothing. Beside that: where control can go, by exceptions, too, and which local
//! variables are read later.
//!
//! # Source
//! Abstract interpretation with sets of definitions; JVMS 2.10 and 4.9 for where exceptions go. An
//! instruction that can throw leads to the handlers that cover it in the order of the table, up to the first
//! that catches everything. The release of a monitor throws nothing: compilers pair monitors.
//!
//! # Invariants
//! 1. Where paths meet, a value has the definitions of all paths.
//! 2. A body whose stack has different depths where paths meet, or that has subroutines, is refused.

use crate::class::{
    At, FieldAccess, InvokeKind, JavaBody, JavaHandler, JavaInstruction, JavaKind, JavaMethod,
    StackOperation,
};
use crate::names::{JavaName, JavaNames, kind_of_field, kinds_of_method};
use selvedge_base::{Id, IdVec};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Definition {
    /// A parameter by its number; `this` is 0 where there is one.
    Parameter(u16),
    /// The result of an instruction.
    Result(At),
    /// The exception with which a handler begins.
    Caught(At),
}

/// The definitions that a value can come from, sorted.
pub type Definitions = Rc<[Definition]>;

/// What is known of the instructions of a body.
#[derive(Clone, Debug)]
pub struct Frames {
    /// For each instruction that control can reach, its operands, the one that was pushed first first. Loads
    /// have what they push, stores what they pop.
    pub operands: IdVec<At, Vec<Definitions>>,
    /// Where control can go from it without an exception.
    pub next: IdVec<At, Vec<At>>,
    /// The handlers that an exception of it can reach.
    pub handlers: IdVec<At, Vec<At>>,
    /// Whether an exception of it can leave the body.
    pub escapes: IdVec<At, bool>,
    /// Whether control can reach it.
    pub reached: IdVec<At, bool>,
    /// For calls of methods whose names begin like `wait` and `await`: what is on the stack and in local
    /// variables during the call and may be used after it.
    pub kept: BTreeMap<At, Vec<Definitions>>,
    /// The local variables that are read before they are written from it on, as bits.
    live: IdVec<At, Vec<u64>>,
}

/// Why nothing is known of a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameRefusal {
    /// It has subroutines.
    Subroutines,
    /// Its stack or its local variables are not what the machine asks for.
    Damaged,
}

impl Frames {
    /// What is known of the body of a method.
    ///
    /// # Errors
    /// If the body is one of those that are refused.
    pub fn new(
        method: &JavaMethod,
        body: &JavaBody,
        names: &JavaNames,
    ) -> Result<Self, FrameRefusal> {
        let flow = Flow::new(body, names)?;
        let locals = first_locals(method, body, names).ok_or(FrameRefusal::Damaged)?;
        let (operands, frames) =
            operands(body, names, &flow, locals).ok_or(FrameRefusal::Damaged)?;
        let reached: IdVec<At, bool> =
            IdVec::from_vec(operands.iter().map(Option::is_some).collect());
        let operands = operands.iter().map(|one| one.clone().unwrap_or_default()).collect();
        let live = live(body, &flow);
        let Flow { next, handlers, escapes } = flow;
        let operands = IdVec::from_vec(operands);
        let kept = BTreeMap::new();
        let mut known = Self { operands, next, handlers, escapes, reached, kept, live };
        for (at, frame) in frames.iter_enumerated() {
            if let (JavaInstruction::Invoke(_, member), Some(frame)) =
                (&body.instructions[at.index()], frame)
                && ["wait", "await"].iter().any(|one| names.text(member.name).starts_with(one))
            {
                let kept = known.kept_at(at, frame, &body.instructions[at.index()], names);
                known.kept.insert(at, kept);
            }
        }
        Ok(known)
    }

    /// Whether a local variable is read before it is written from this instruction on.
    pub fn is_live(&self, at: At, local: usize) -> bool {
        self.live[at].get(local / 64).is_some_and(|word| word >> (local % 64) & 1 == 1)
    }

    /// What is on the stack below the operands, and in local variables that are read later.
    fn kept_at(
        &self,
        at: At,
        frame: &Frame,
        instruction: &JavaInstruction,
        names: &JavaNames,
    ) -> Vec<Definitions> {
        let words = shape(instruction, names)
            .map_or(0, |(takes, _)| takes.iter().map(|kind| usize::from(kind.width())).sum());
        let below = frame.stack.len().saturating_sub(words);
        let locals = frame
            .locals
            .iter()
            .enumerate()
            .filter(|(local, _)| self.followers(at).any(|next| self.is_live(next, *local)));
        frame.stack[..below].iter().chain(locals.map(|(_, one)| one)).cloned().collect()
    }

    /// All instructions that can follow one, those behind exceptions among them.
    pub fn followers(&self, at: At) -> impl Iterator<Item = At> + '_ {
        self.next[at].iter().chain(&self.handlers[at]).copied()
    }

    /// The instructions that can be executed after this one.
    pub fn reachable_from(&self, at: At) -> IdVec<At, bool> {
        let mut seen = IdVec::filled(false, self.next.len());
        let mut open: Vec<At> = self.followers(at).collect();
        while let Some(one) = open.pop() {
            if !std::mem::replace(&mut seen[one], true) {
                open.extend(self.followers(one));
            }
        }
        seen
    }
}

/// Where control can go.
struct Flow {
    next: IdVec<At, Vec<At>>,
    handlers: IdVec<At, Vec<At>>,
    escapes: IdVec<At, bool>,
}

impl Flow {
    fn new(body: &JavaBody, names: &JavaNames) -> Result<Self, FrameRefusal> {
        let count = body.instructions.len();
        let mut next: IdVec<At, Vec<At>> = IdVec::filled(Vec::new(), count);
        let mut handlers: IdVec<At, Vec<At>> = IdVec::filled(Vec::new(), count);
        let mut escapes = IdVec::filled(false, count);
        for at in next.ids() {
            let instruction = &body.instructions[at.index()];
            if matches!(
                instruction,
                JavaInstruction::Subroutine(_) | JavaInstruction::SubroutineReturn(_)
            ) {
                return Err(FrameRefusal::Subroutines);
            }
            let mut targets = instruction.targets();
            if instruction.goes_on() {
                if at.index() + 1 >= count {
                    return Err(FrameRefusal::Damaged);
                }
                targets.insert(0, At::from_index(at.index() + 1));
            }
            let mut unique: Vec<At> = Vec::with_capacity(targets.len());
            for target in targets {
                if !unique.contains(&target) {
                    unique.push(target);
                }
            }
            next[at] = unique;
            if can_throw(instruction) {
                let (caught, all) = caught_by(body, at, names);
                handlers[at] = caught;
                escapes[at] = !all;
            }
        }
        Ok(Self { next, handlers, escapes })
    }
}

/// Exceptions that only calls and `throw` give rise to: instructions fail with errors and with exceptions that
/// need not be declared, and these are neither among them nor above one.
pub(crate) const DECLARED: [&str; 7] = [
    "java/lang/InterruptedException",
    "java/lang/ClassNotFoundException",
    "java/lang/CloneNotSupportedException",
    "java/io/IOException",
    "java/util/concurrent/BrokenBarrierException",
    "java/util/concurrent/ExecutionException",
    "java/util/concurrent/TimeoutException",
];

/// The handlers that an exception at an instruction can reach, in order, with what they catch; the last
/// one may catch everything.
pub(crate) fn handlers_at(
    body: &JavaBody,
    at: At,
    names: &JavaNames,
) -> Vec<(Option<JavaName>, At)> {
    let calls = matches!(
        body.instructions[at.index()],
        JavaInstruction::Invoke(..) | JavaInstruction::InvokeDynamic(..) | JavaInstruction::Throw
    );
    let fits = |handler: &&JavaHandler| {
        calls || handler.catches.is_none_or(|class| !DECLARED.contains(&names.text(class)))
    };
    let mut found: Vec<(Option<JavaName>, At)> = Vec::new();
    let covers = |one: &&JavaHandler| one.start <= at && at < one.end;
    for handler in body.handlers.iter().filter(covers).filter(fits) {
        let catches = handler.catches.filter(|&class| names.text(class) != "java/lang/Throwable");
        if !found.contains(&(catches, handler.target)) {
            found.push((catches, handler.target));
        }
        if catches.is_none() {
            break;
        }
    }
    found
}

/// The handlers that an exception at an instruction can reach, and whether they catch all of them.
fn caught_by(body: &JavaBody, at: At, names: &JavaNames) -> (Vec<At>, bool) {
    let all = handlers_at(body, at, names);
    let mut targets: Vec<At> = Vec::new();
    for &(_, target) in &all {
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    (targets, all.last().is_some_and(|(catches, _)| catches.is_none()))
}

/// Whether an instruction can throw.
pub fn can_throw(instruction: &JavaInstruction) -> bool {
    use crate::class::{Arithmetic, JavaConstant};
    match instruction {
        JavaInstruction::ArrayLoad(_)
        | JavaInstruction::ArrayStore(_)
        | JavaInstruction::ArrayLength
        | JavaInstruction::NewArray(..)
        | JavaInstruction::Field(..)
        | JavaInstruction::Invoke(..)
        | JavaInstruction::InvokeDynamic(..)
        | JavaInstruction::New(_)
        | JavaInstruction::CheckCast(_)
        | JavaInstruction::InstanceOf(_)
        | JavaInstruction::MonitorEnter
        | JavaInstruction::Throw => true,
        JavaInstruction::Compute(Arithmetic::Divide | Arithmetic::Remainder, kind) => {
            matches!(kind, JavaKind::Int | JavaKind::Long)
        }
        JavaInstruction::Constant(constant) => {
            matches!(
                constant,
                JavaConstant::Class(_)
                    | JavaConstant::MethodType(_)
                    | JavaConstant::Handle(_)
                    | JavaConstant::Dynamic(..)
            )
        }
        _ => false,
    }
}

/// What an instruction takes from the stack, the one that was pushed first first, and what it gives.
/// `None` for those that only move values, which [`apply`] knows.
pub fn shape(
    instruction: &JavaInstruction,
    names: &JavaNames,
) -> Option<(Vec<JavaKind>, Option<JavaKind>)> {
    use crate::class::{Arithmetic, BranchCondition, JavaConstant};
    use JavaKind::{Double, Float, Int, Long, Reference};
    let of_field =
        |descriptor: JavaName| kind_of_field(names.text(descriptor)).unwrap_or(Reference);
    let of_method = |descriptor: JavaName| {
        kinds_of_method(names.text(descriptor)).unwrap_or((Vec::new(), None))
    };
    Some(match instruction {
        JavaInstruction::Nop
        | JavaInstruction::Goto(_)
        | JavaInstruction::Return(None)
        | JavaInstruction::Subroutine(_)
        | JavaInstruction::SubroutineReturn(_) => (vec![], None),
        JavaInstruction::Constant(constant) => {
            let kind = match constant {
                JavaConstant::Int(_) => Int,
                JavaConstant::Long(_) => Long,
                JavaConstant::Float(_) => Float,
                JavaConstant::Double(_) => Double,
                JavaConstant::Dynamic(_, descriptor) => of_field(*descriptor),
                _ => Reference,
            };
            (vec![], Some(kind))
        }
        JavaInstruction::Load(..)
        | JavaInstruction::Store(..)
        | JavaInstruction::Increment(..)
        | JavaInstruction::Stack(_) => return None,
        JavaInstruction::Compute(Arithmetic::Compare, kind) => (vec![*kind; 2], Some(Int)),
        JavaInstruction::Compute(
            Arithmetic::ShiftLeft | Arithmetic::ShiftRight | Arithmetic::ShiftRightUnsigned,
            kind,
        ) => (vec![*kind, Int], Some(*kind)),
        JavaInstruction::Compute(_, kind) => (vec![*kind; 2], Some(*kind)),
        JavaInstruction::Negate(kind) => (vec![*kind], Some(*kind)),
        JavaInstruction::Convert(from, to) => (vec![*from], Some(*to)),
        JavaInstruction::ArrayLoad(kind) => (vec![Reference, Int], Some(*kind)),
        JavaInstruction::ArrayStore(kind) => (vec![Reference, Int, *kind], None),
        JavaInstruction::ArrayLength | JavaInstruction::InstanceOf(_) => {
            (vec![Reference], Some(Int))
        }
        JavaInstruction::NewArray(_, dimensions) => {
            (vec![Int; usize::from(*dimensions)], Some(Reference))
        }
        JavaInstruction::Field(access, member) => {
            let kind = of_field(member.descriptor);
            match access {
                FieldAccess::GetStatic => (vec![], Some(kind)),
                FieldAccess::PutStatic => (vec![kind], None),
                FieldAccess::Get => (vec![Reference], Some(kind)),
                FieldAccess::Put => (vec![Reference, kind], None),
            }
        }
        JavaInstruction::Invoke(how, member) => {
            let (mut takes, gives) = of_method(member.descriptor);
            if *how != InvokeKind::Static {
                takes.insert(0, Reference);
            }
            (takes, gives)
        }
        JavaInstruction::InvokeDynamic(_, _, descriptor) => of_method(*descriptor),
        JavaInstruction::New(_) => (vec![], Some(Reference)),
        JavaInstruction::CheckCast(_) => (vec![Reference], Some(Reference)),
        JavaInstruction::MonitorEnter | JavaInstruction::MonitorExit | JavaInstruction::Throw => {
            (vec![Reference], None)
        }
        JavaInstruction::Return(Some(kind)) => (vec![*kind], None),
        JavaInstruction::Branch(condition, _) => match condition {
            BranchCondition::Zero(_) => (vec![Int], None),
            BranchCondition::Ints(_) => (vec![Int; 2], None),
            BranchCondition::Same(_) => (vec![Reference; 2], None),
            BranchCondition::Null(_) => (vec![Reference], None),
        },
        JavaInstruction::Switch(..) => (vec![Int], None),
    })
}

/// Executes an instruction on a stack of words and on local variables, whatever values are. The second word
/// of a wide value is `filler`. Gives the operands; `None` if they are not there. `result` makes the value
/// that is pushed of the operands.
pub fn apply<V: Clone>(
    instruction: &JavaInstruction,
    names: &JavaNames,
    (stack, locals): (&mut Vec<V>, &mut [V]),
    filler: &V,
    result: impl FnOnce(&[V]) -> V,
) -> Option<Vec<V>> {
    match instruction {
        JavaInstruction::Load(kind, local) => {
            let value = locals.get(usize::from(*local))?.clone();
            push(stack, *kind, value.clone(), filler);
            Some(vec![value])
        }
        JavaInstruction::Store(kind, local) => {
            let value = pop(stack, *kind)?;
            let local = usize::from(*local);
            *locals.get_mut(local)? = value.clone();
            if kind.width() == 2 {
                *locals.get_mut(local + 1)? = filler.clone();
            }
            Some(vec![value])
        }
        JavaInstruction::Increment(local, _) => {
            let slot = locals.get_mut(usize::from(*local))?;
            let before = slot.clone();
            *slot = result(std::slice::from_ref(&before));
            Some(vec![before])
        }
        JavaInstruction::Stack(operation) => {
            move_words(stack, *operation)?;
            Some(Vec::new())
        }
        _ => {
            let (takes, gives) = shape(instruction, names)?;
            let mut operands = Vec::with_capacity(takes.len());
            for kind in takes.iter().rev() {
                operands.push(pop(stack, *kind)?);
            }
            operands.reverse();
            if let Some(kind) = gives {
                let value = result(&operands);
                push(stack, kind, value, filler);
            }
            Some(operands)
        }
    }
}

fn push<V: Clone>(stack: &mut Vec<V>, kind: JavaKind, value: V, filler: &V) {
    stack.push(value);
    if kind.width() == 2 {
        stack.push(filler.clone());
    }
}

fn pop<V>(stack: &mut Vec<V>, kind: JavaKind) -> Option<V> {
    if kind.width() == 2 {
        stack.pop()?;
    }
    stack.pop()
}

fn move_words<V: Clone>(stack: &mut Vec<V>, operation: StackOperation) -> Option<()> {
    // How many words are looked at, and which of them are there afterwards, counted from below.
    let (seen, after): (usize, &[usize]) = match operation {
        StackOperation::Pop => (1, &[]),
        StackOperation::Pop2 => (2, &[]),
        StackOperation::Dup => (1, &[0, 0]),
        StackOperation::DupX1 => (2, &[1, 0, 1]),
        StackOperation::DupX2 => (3, &[2, 0, 1, 2]),
        StackOperation::Dup2 => (2, &[0, 1, 0, 1]),
        StackOperation::Dup2X1 => (3, &[1, 2, 0, 1, 2]),
        StackOperation::Dup2X2 => (4, &[2, 3, 0, 1, 2, 3]),
        StackOperation::Swap => (2, &[1, 0]),
    };
    let words = stack.split_off(stack.len().checked_sub(seen)?);
    stack.extend(after.iter().map(|&at| words[at].clone()));
    Some(())
}

/// The local variables at the beginning: parameters, and nothing.
fn first_locals(
    method: &JavaMethod,
    body: &JavaBody,
    names: &JavaNames,
) -> Option<Vec<Definitions>> {
    let (kinds, _) = kinds_of_method(names.text(method.descriptor))?;
    let mut locals = Vec::with_capacity(usize::from(body.max_locals));
    let this = (!method.access.is_static()).then_some(JavaKind::Reference);
    for (number, kind) in this.into_iter().chain(kinds).enumerate() {
        locals.push(Rc::from([Definition::Parameter(u16::try_from(number).ok()?)]));
        if kind.width() == 2 {
            locals.push(Rc::from([]));
        }
    }
    if locals.len() > usize::from(body.max_locals) {
        return None;
    }
    locals.resize(usize::from(body.max_locals), Rc::from([]));
    Some(locals)
}

#[derive(Clone, PartialEq)]
struct Frame {
    stack: Vec<Definitions>,
    locals: Vec<Definitions>,
}

/// The operands of each instruction that control can reach.
type Operands = IdVec<At, Option<Vec<Definitions>>>;

fn operands(
    body: &JavaBody,
    names: &JavaNames,
    flow: &Flow,
    locals: Vec<Definitions>,
) -> Option<(Operands, IdVec<At, Option<Frame>>)> {
    let count = body.instructions.len();
    let mut frames: IdVec<At, Option<Frame>> = IdVec::filled(None, count);
    let mut operands: IdVec<At, Option<Vec<Definitions>>> = IdVec::filled(None, count);
    if count == 0 {
        return None;
    }
    let filler: Definitions = Rc::from([]);
    let first = At::from_index(0);
    frames[first] = Some(Frame { stack: Vec::new(), locals });
    let mut open = vec![first];
    let mut waits = IdVec::filled(false, count);
    while let Some(at) = open.pop() {
        waits[at] = false;
        let mut frame = frames[at].clone()?;
        let before = frame.locals.clone();
        let instruction = &body.instructions[at.index()];
        let Frame { stack, locals } = &mut frame;
        let result = |_: &[Definitions]| -> Definitions { Rc::from([Definition::Result(at)]) };
        operands[at] = Some(apply(instruction, names, (stack, locals), &filler, result)?);
        if frame.stack.len() > usize::from(body.max_stack) {
            return None;
        }
        for &target in &flow.next[at] {
            if meet(&mut frames[target], &frame)? && !waits[target] {
                waits[target] = true;
                open.push(target);
            }
        }
        for &target in &flow.handlers[at] {
            let stack = vec![Rc::from([Definition::Caught(target)])];
            let caught = Frame { stack, locals: before.clone() };
            if meet(&mut frames[target], &caught)? && !waits[target] {
                waits[target] = true;
                open.push(target);
            }
        }
    }
    Some((operands, frames))
}

/// Joins a frame into another; whether that changed, or `None` if they do not fit.
fn meet(into: &mut Option<Frame>, from: &Frame) -> Option<bool> {
    let Some(known) = into else {
        *into = Some(from.clone());
        return Some(true);
    };
    if known.stack.len() != from.stack.len() || known.locals.len() != from.locals.len() {
        return None;
    }
    let mut changed = false;
    let words = known.stack.iter_mut().chain(&mut known.locals);
    for (word, other) in words.zip(from.stack.iter().chain(&from.locals)) {
        if other.iter().all(|one| word.contains(one)) {
            continue;
        }
        let mut all: Vec<Definition> = word.iter().chain(other.iter()).copied().collect();
        all.sort_unstable();
        all.dedup();
        *word = Rc::from(all);
        changed = true;
    }
    Some(changed)
}

/// Which local variables are read later, before they are written.
fn live(body: &JavaBody, flow: &Flow) -> IdVec<At, Vec<u64>> {
    let words = usize::from(body.max_locals).div_ceil(64);
    let count = body.instructions.len();
    let mut live: IdVec<At, Vec<u64>> = IdVec::filled(vec![0; words], count);
    let mut changed = true;
    while changed {
        changed = false;
        for at in (0..count).rev().map(At::from_index) {
            let mut set = vec![0u64; words];
            let add = |set: &mut Vec<u64>, other: &[u64]| {
                set.iter_mut().zip(other).for_each(|(word, more)| *word |= more);
            };
            for &target in &flow.next[at] {
                add(&mut set, &live[target]);
            }
            match &body.instructions[at.index()] {
                JavaInstruction::Store(_, local) => {
                    if let Some(word) = set.get_mut(usize::from(*local) / 64) {
                        *word &= !(1 << (*local % 64));
                    }
                }
                JavaInstruction::Load(_, local) | JavaInstruction::Increment(local, _) => {
                    if let Some(word) = set.get_mut(usize::from(*local) / 64) {
                        *word |= 1 << (*local % 64);
                    }
                }
                _ => {}
            }
            for &target in &flow.handlers[at] {
                add(&mut set, &live[target]);
            }
            if set != live[at] {
                live[at] = set;
                changed = true;
            }
        }
    }
    live
}

/// Whether the first operand of an instruction is not null, because on every way to it something was done with
/// the same value that nothing can do with null.
pub(crate) fn was_used(body: &JavaBody, frames: &Frames, at: At) -> bool {
    let Some([Definition::Result(made)]) = frames.operands[at].first().map(|one| &one[..]) else {
        return false;
    };
    let uses = |one: At| {
        let of_object = match &body.instructions[one.index()] {
            JavaInstruction::Invoke(how, _) => *how != InvokeKind::Static,
            JavaInstruction::Field(access, _) => {
                matches!(access, FieldAccess::Get | FieldAccess::Put)
            }
            _ => false,
        };
        let operand = frames.operands[one].first().filter(|_| of_object);
        operand.is_some_and(|operand| operand[..] == [Definition::Result(*made)])
    };
    // From where it is made, not by an instruction that has succeeded in using it.
    let mut seen = BTreeSet::from([*made]);
    let mut open: Vec<At> = frames.next[*made].clone();
    while let Some(one) = open.pop() {
        if one == at {
            return false;
        }
        if seen.insert(one) {
            open.extend(&frames.handlers[one]);
            if !uses(one) {
                open.extend(&frames.next[one]);
            }
        }
    }
    true
}

/// Whether what one instruction gives decides what another one works on, or if it is executed. What is passed
/// to a call may be kept by what the method has made and passes, too. What is read `again` on the way decides
/// in its place.
pub(crate) fn decides(
    body: &JavaBody,
    frames: &Frames,
    names: &JavaNames,
    (read, other): (At, At),
    again: &[At],
) -> bool {
    // Who compares and sets finds out if it was not what was read.
    let checks = |at: At| {
        matches!(&body.instructions[at.index()], JavaInstruction::Invoke(_, member)
            if ["compareAnd", "weakCompareAnd"].iter().any(|one| names.text(member.name).starts_with(one)))
    };
    let is_call = |at: At| {
        matches!(
            body.instructions[at.index()],
            JavaInstruction::Invoke(..) | JavaInstruction::InvokeDynamic(..)
        )
    };
    let is_made = |one: Definition| match one {
        Definition::Result(at) => {
            is_call(at) || matches!(body.instructions[at.index()], JavaInstruction::New(_))
        }
        _ => false,
    };
    let mut known: BTreeSet<Definition> = BTreeSet::from([Definition::Result(read)]);
    loop {
        let before = known.len();
        for at in frames.next.ids().filter(|&at| frames.reached[at] && at != read) {
            let operands = || frames.operands[at].iter().flat_map(|one| one.iter());
            if !checks(at) && operands().any(|one| known.contains(one)) {
                known.insert(Definition::Result(at));
                if is_call(at) && at != other {
                    known.extend(operands().copied().filter(|&one| is_made(one)));
                }
            }
        }
        if known.len() == before {
            break;
        }
    }
    let depends = |at: At| {
        frames.operands[at].iter().flat_map(|one| one.iter()).any(|one| known.contains(one))
    };
    if depends(other) && frames.reachable_from(read)[other] {
        return true;
    }
    let reaches = |from: At| {
        let mut seen = BTreeSet::from([from]);
        let mut open = vec![from];
        while let Some(one) = open.pop() {
            if one == other {
                return true;
            }
            let followers = frames.followers(one);
            open.extend(
                followers
                    .filter(|next| *next != read && !again.contains(next) && seen.insert(*next)),
            );
        }
        false
    };
    frames.next.ids().filter(|&at| frames.reached[at]).any(|at| {
        matches!(
            body.instructions[at.index()],
            JavaInstruction::Branch(..) | JavaInstruction::Switch(..)
        ) && depends(at)
            && frames.next[at].iter().any(|&next| reaches(next))
            && !frames.next[at].iter().all(|&next| reaches(next))
    })
}
