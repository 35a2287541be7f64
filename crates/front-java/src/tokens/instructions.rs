//! What each instruction does to tokens.

use super::{Base, DEPTH, Frame, JavaToken, ModelFacts, StartPhase, Step, Walk};
use crate::class::{
    At, BranchCondition, Comparison, FieldAccess, JavaConstant, JavaInstruction, JavaKind,
};
use crate::facts::{entry_initialisers, triggered};
use crate::frames::Definition;
use crate::points_to::{Holder, ObjectId};
use crate::world::MemberId;
use selvedge_base::Id;
use std::collections::BTreeSet;
use std::rc::Rc;

impl Walk<'_, '_, '_> {
    pub(super) fn execute(&mut self, source: usize, frame: &Frame) -> Option<()> {
        let shared = self.explorer.shared;
        let body = self.body;
        let instruction = &body.instructions[frame.at.index()];
        // Initialisers of classes run once, some time.
        let mut initialisers = triggered(shared.world, shared.found, instruction);
        // Who executes a method of a class does not begin to initialise it, nor those that it extends.
        let (begun, _) = shared.world.line(self.method.class);
        initialisers.retain(|one| !begun.contains(&one.class));
        if frame.at.index() == 0 {
            initialisers.extend(entry_initialisers(shared.world, shared.found, self.method));
        }
        // One that fails is an exception here.
        if !initialisers.is_empty() {
            self.throw(source, frame, &[]);
        }
        for initialiser in initialisers {
            if initialiser != self.method && self.explorer.relevant.contains(&initialiser) {
                self.call(source, frame, initialiser, Vec::new(), None)?;
            }
        }
        let (plain, operands) = self.after(frame, JavaToken::Other)?;
        match instruction {
            JavaInstruction::Field(access, member) => {
                let is_there = match access {
                    FieldAccess::GetStatic | FieldAccess::PutStatic => true,
                    FieldAccess::Get | FieldAccess::Put => self.is_there(frame.at, &operands[0]),
                };
                if !is_there {
                    self.throw(source, frame, &[]);
                }
                let found = shared.world.field(*member);
                self.field(source, frame, *access, found, &operands)?;
            }
            JavaInstruction::ArrayLoad(kind) => {
                self.throw(source, frame, &[]);
                let steps: Vec<Step> = self
                    .explorer
                    .location(&operands[0], None)
                    .map(|location| Step::Read(location, self.is_client()))
                    .into_iter()
                    .collect();
                let tokens = if *kind == JavaKind::Reference {
                    self.result_tokens(frame.at)
                } else {
                    vec![JavaToken::Other]
                };
                for token in tokens {
                    let (next, _) = self.after(frame, token)?;
                    self.go_on(source, &steps, &next);
                }
            }
            JavaInstruction::ArrayStore(_) => {
                self.throw(source, frame, &[]);
                let location = self.explorer.location(&operands[0], None);
                let steps: Vec<Step> =
                    location.map(|one| Step::Write(one, self.is_client())).into_iter().collect();
                let mut next = plain;
                if operands.get(2).is_some_and(Self::is_fresh) {
                    Self::publish(&mut next);
                    next.published = true;
                }
                self.go_on(source, &steps, &next);
            }
            JavaInstruction::New(_) | JavaInstruction::NewArray(..) => {
                self.throw(source, frame, &[]);
                for token in self.made(frame) {
                    let token = if self.has_values() { Self::not_null(token) } else { token };
                    let (next, _) = self.after(frame, token)?;
                    self.go_on(source, &[], &next);
                }
            }
            JavaInstruction::CheckCast(_) => {
                self.throw(source, frame, &[]);
                for token in self.cast(frame.at, &operands[0]) {
                    let (next, _) = self.after(frame, token)?;
                    self.go_on(source, &[], &next);
                }
            }
            JavaInstruction::Constant(_) => {
                self.throw(source, frame, &[]);
                let known = self.constant(instruction).map(|token| vec![token]);
                for token in known.unwrap_or_else(|| self.result_tokens(frame.at)) {
                    let (next, _) = self.after(frame, token)?;
                    self.go_on(source, &[], &next);
                }
            }
            JavaInstruction::MonitorEnter => {
                if !self.is_there(frame.at, &operands[0]) {
                    self.throw(source, frame, &[]);
                }
                let key = self.explorer.key(&operands[0], false);
                self.take(source, plain, key.into_iter().collect());
            }
            JavaInstruction::MonitorExit => {
                let key = self.explorer.key(&operands[0], false);
                self.free(source, plain, key.into_iter().collect());
            }
            JavaInstruction::Throw => {
                let mut frame = frame.clone();
                if Self::is_fresh(&operands[0]) {
                    Self::publish(&mut frame);
                }
                self.throw(source, &frame, &[]);
            }
            JavaInstruction::Return(kind) => {
                let token = match kind {
                    Some(JavaKind::Reference | JavaKind::Int) => operands[0].clone(),
                    _ => JavaToken::Other,
                };
                self.leave(source, &plain, Vec::new(), false, token);
            }
            JavaInstruction::Invoke(..) | JavaInstruction::InvokeDynamic(..) => {
                self.invoke(source, frame, &operands)?;
            }
            JavaInstruction::Branch(..) | JavaInstruction::Switch(..) => {
                let frames = Rc::clone(&self.frames);
                let known = self.decided(frame.at, &operands);
                let possible = |target: &&At| known.is_none_or(|known| known == **target);
                for &target in frames.next[frame.at].iter().filter(possible) {
                    let phase = self.phase_behind(frame, target);
                    let next = Frame { at: target, phase, ..plain.clone() };
                    self.edge(source, frame.at, Vec::new(), next);
                }
            }
            instruction => {
                if crate::frames::can_throw(instruction) {
                    self.throw(source, frame, &[]);
                }
                self.go_on(source, &[], &plain);
            }
        }
        Some(())
    }

    /// Where a branch leads, if the numbers are known that decide it.
    fn decided(&self, at: At, operands: &[JavaToken]) -> Option<At> {
        let behind = At::from_index(at.index() + 1);
        if let JavaInstruction::Branch(condition, target) = &self.body.instructions[at.index()]
            && let Some(taken) = self.is_null_branch_taken(at, *condition, operands.first())
        {
            return Some(if taken { *target } else { behind });
        }
        let number = |which: usize| match operands.get(which)? {
            JavaToken::Number(number) => Some(*number),
            _ => match self.frames.operands[at].get(which)?[..] {
                [Definition::Result(made)] => match self.body.instructions[made.index()] {
                    JavaInstruction::Constant(JavaConstant::Int(number)) => Some(number),
                    _ => None,
                },
                _ => None,
            },
        };
        if !operands.iter().any(|one| matches!(one, JavaToken::Number(_))) {
            return None;
        }
        let (comparison, one, other, target) = match &self.body.instructions[at.index()] {
            JavaInstruction::Branch(BranchCondition::Zero(comparison), target) => {
                (comparison, number(0)?, 0, target)
            }
            JavaInstruction::Branch(BranchCondition::Ints(comparison), target) => {
                (comparison, number(0)?, number(1)?, target)
            }
            JavaInstruction::Switch(default, cases) => {
                let own = number(0)?;
                let case = cases.iter().find(|(value, _)| *value == own);
                return Some(case.map_or(*default, |(_, target)| *target));
            }
            _ => return None,
        };
        let taken = match comparison {
            Comparison::Equal => one == other,
            Comparison::NotEqual => one != other,
            Comparison::Less => one < other,
            Comparison::NotLess => one >= other,
            Comparison::Greater => one > other,
            Comparison::NotGreater => one <= other,
        };
        Some(if taken { *target } else { behind })
    }

    /// Where the thread is behind a branch by which it may leave a loop that waits for others.
    fn phase_behind(&self, frame: &Frame, target: At) -> StartPhase {
        let mask = self.masked.then(|| self.explorer.threads[0].mask.as_ref()).flatten();
        let way = (self.method, frame.at, target);
        let leaves = mask.is_some_and(|mask| {
            mask.exits.contains(&way) || (mask.trusts && mask.assumed_exits.contains(&way))
        });
        if leaves && frame.phase == StartPhase::Parallel { StartPhase::After } else { frame.phase }
    }

    /// Whether the first operand of an instruction is not null: `this`, something new, or something that was
    /// used before. What is loaded may be null whatever it is later, also an object of which there is one.
    pub(super) fn is_there(&self, at: At, token: &JavaToken) -> bool {
        let is_static = self.explorer.shared.world.of(self.method).access.is_static();
        let first = self.frames.operands[at].first();
        let is_this = first.is_some_and(|one| one[..] == [Definition::Parameter(0)]);
        let made = |one: &Definition| match one {
            Definition::Result(made) => matches!(
                self.body.instructions[made.index()],
                JavaInstruction::New(_) | JavaInstruction::NewArray(..)
            ),
            Definition::Caught(_) => true,
            Definition::Parameter(_) => false,
        };
        (is_this && !is_static)
            || *token == JavaToken::Fresh
            || first.is_some_and(|all| !all.is_empty() && all.iter().all(made))
            || self.was_used(at)
    }

    /// What a cast gives: what it is given, which may be the object if only the cast says that it can be, as
    /// with constants of an enumeration that come from outside.
    fn cast(&self, at: At, token: &JavaToken) -> Vec<JavaToken> {
        let found = self.explorer.shared.found;
        let given = found.of(Holder::Value(self.method, Definition::Result(at)));
        let told = |object: ObjectId| {
            given.contains(object) && !found.operand(self.method, at, 0).contains(object)
        };
        // What is of another type does not get here.
        let other = |object: ObjectId| !given.contains(object);
        if *token == JavaToken::Isolated && self.explorer.object.is_some_and(other) {
            return Vec::new();
        }
        let told = *token == JavaToken::Other && self.explorer.object.is_some_and(told);
        [token.clone()].into_iter().chain(told.then_some(JavaToken::Isolated)).collect()
    }

    /// The tokens of what an instruction gives.
    pub(super) fn result_tokens(&self, at: At) -> Vec<JavaToken> {
        let holder = Holder::Value(self.method, Definition::Result(at));
        self.explorer.fork(self.explorer.shared.found.of(holder))
    }

    /// The tokens of a new object.
    pub(super) fn made(&self, frame: &Frame) -> Vec<JavaToken> {
        let found = self.explorer.shared.found;
        let set = found.of(Holder::Value(self.method, Definition::Result(frame.at)));
        let receivers = self.this.as_ref().and_then(|this| self.explorer.objects_named(this));
        let made = receivers.map(|receivers| found.made_with(set, &receivers));
        let made = made.filter(|made| !made.is_empty()).unwrap_or_else(|| set.clone());
        let tokens: BTreeSet<JavaToken> =
            made.iter().flat_map(|object| self.made_as(object, frame)).collect();
        if tokens.is_empty() { vec![JavaToken::Other] } else { tokens.into_iter().collect() }
    }

    /// The tokens of a new object, if it is this one.
    fn made_as(&self, object: ObjectId, frame: &Frame) -> Vec<JavaToken> {
        let ModelFacts { facts, .. } = self.explorer.shared;
        if Some(object) == self.explorer.object {
            // A thread that was started was made before.
            let mask = self.masked.then(|| self.explorer.threads[0].mask.as_ref()).flatten();
            let was_started = mask.is_some_and(|mask| mask.own)
                && frame.phase != StartPhase::Before
                && !facts.single.contains(&object);
            if was_started {
                return vec![JavaToken::Other];
            }
            let mut tokens = vec![JavaToken::Fresh];
            if !facts.single.contains(&object) {
                tokens.push(JavaToken::Other);
            }
            return tokens;
        }
        if self.explorer.is_named(object) {
            return vec![JavaToken::One(object)];
        }
        if let Some(part) = self.owned(object, frame) {
            return vec![part];
        }
        self.explorer.fork_loaded(&[object].into_iter().collect())
    }

    /// What the object owns, if `this` is the object and a field of it owns what is made here.
    pub(super) fn owned(&self, object: ObjectId, frame: &Frame) -> Option<JavaToken> {
        let ModelFacts { world, owner, .. } = self.explorer.shared;
        if world.of(self.method).access.is_static() {
            return None;
        }
        let (base, path): (Base, &[MemberId]) = match self.this.as_ref()? {
            JavaToken::Isolated => (Base::Isolated, &[]),
            JavaToken::Locked(number) => (Base::Locked(*number), &[]),
            JavaToken::Fresh if frame.published => (Base::Isolated, &[]),
            JavaToken::Fresh => (Base::Fresh, &[]),
            JavaToken::Part(Base::Fresh, path) if frame.published => (Base::Isolated, path),
            JavaToken::Part(base, path) => (*base, path),
            _ => return None,
        };
        let field = *owner.get(&object)?;
        let path: Vec<MemberId> = path.iter().copied().chain([field]).collect();
        (path.len() <= DEPTH).then(|| JavaToken::Part(base, Rc::from(path)))
    }
}
