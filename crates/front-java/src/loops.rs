//! # Idea
//! Loops that wait for the end of every thread that another loop has started. The first loop puts each thread
//! that it starts into an array, at an index that goes up, or into a list; the second one goes over all of
//! the array or the list and joins what is there. Whoever has left the second loop by its test runs alone.
//!
//! # Requires
//! The method runs at most once and nobody interrupts threads.
//!
//! # Invariants
//! 1. In doubt there is no such loop: only what is proved counts, and nothing is assumed but what
//!    [`assumed_exits`] says.

use crate::class::{
    At, BranchCondition, Comparison, JavaBody, JavaConstant, JavaInstruction, JavaKind,
};
use crate::facts::Facts;
use crate::frames::{Definition, Definitions, Frames};
use crate::library::Control;
use crate::points_to::{Holder, ObjectId, ObjectSet, PointsTo, Site};
use crate::world::{MemberId, World};
use selvedge_base::Id;
use std::collections::BTreeSet;

/// The branches by which loops are left that have waited for all threads of one site, each with where it
/// leads then.
pub fn join_exits(
    world: &World,
    found: &PointsTo,
    facts: &Facts,
    thread: ObjectId,
    starts: &BTreeSet<(MemberId, At)>,
) -> BTreeSet<(MemberId, At, At)> {
    let mut exits = BTreeSet::new();
    let Site::New(method, made, 0, _) = found.objects[thread].site else { return exits };
    let [(starter, start)] = starts.iter().copied().collect::<Vec<_>>()[..] else { return exits };
    if found.interrupts || starter != method || !facts.once.contains(&method) {
        return exits;
    }
    let (Some(frames), Some(body)) = (found.methods.get(&method), &world.of(method).body) else {
        return exits;
    };
    let thread = Some(thread);
    let loops = Loops { world, found, method, frames, body, made, start, thread };
    for at in frames.next.ids().filter(|&at| frames.reached[at]) {
        if loops.is_join(at) {
            exits.extend(loops.exit(at).map(|(test, exit)| (method, test, exit)));
        }
    }
    exits
}

/// The branches by which loops of a method are left that wait, in every pass, for what an array or a list
/// holds, each with where it leads then. That nobody is left out is not proved; but neither is the contrary, as
/// it would be if all of it happened in one method.
pub fn assumed_exits(
    world: &World,
    found: &PointsTo,
    method: MemberId,
    starts: &BTreeSet<(MemberId, At)>,
    waits: &dyn Fn(At) -> bool,
) -> BTreeSet<(MemberId, At, At)> {
    let mut exits = BTreeSet::new();
    let (Some(frames), Some(body)) = (found.methods.get(&method), &world.of(method).body) else {
        return exits;
    };
    for at in frames.next.ids().filter(|&at| frames.reached[at] && waits(at)) {
        let loops = Loops { world, found, method, frames, body, made: at, start: at, thread: None };
        exits.extend(loops.assumed_exit(at, starts).map(|(test, exit)| (method, test, exit)));
    }
    exits
}

struct Loops<'a> {
    world: &'a World,
    found: &'a PointsTo,
    method: MemberId,
    frames: &'a Frames,
    body: &'a JavaBody,
    made: At,
    start: At,
    /// The thread that is waited for, if that is known.
    thread: Option<ObjectId>,
}

/// An index that begins at zero and goes up by one.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Index {
    zero: At,
    step: At,
}

impl Loops<'_> {
    fn instruction(&self, at: At) -> &JavaInstruction {
        &self.body.instructions[at.index()]
    }

    /// Whether an instruction waits, as long as it takes, for the end of nothing but these threads.
    fn is_join(&self, at: At) -> bool {
        let JavaInstruction::Invoke(_, member) = self.instruction(at) else { return false };
        let Some(invocation) = self.found.invocations.get(&(self.method, at)) else { return false };
        let joins = |control| control == Some(Control::Joins);
        self.world.names.text(member.descriptor) == "()V"
            && invocation.callees.is_empty()
            && !invocation.library.is_empty()
            && invocation.library.values().all(|one| one.is_some_and(|one| joins(one.control)))
            && self.found.operand(self.method, at, 0).only() == self.thread
    }

    /// Whether control can go from behind an instruction to another without executing some. Exceptions of
    /// those count as not executing them if `failing`.
    fn avoids(&self, from: At, to: At, blocked: &[At], failing: bool) -> bool {
        let mut seen: BTreeSet<At> = BTreeSet::new();
        let mut open: Vec<At> = self.frames.followers(from).collect();
        while let Some(one) = open.pop() {
            if one == to {
                return true;
            }
            if !seen.insert(one) {
                continue;
            }
            if !blocked.contains(&one) {
                open.extend(self.frames.followers(one));
            } else if failing {
                open.extend(self.frames.handlers[one].iter().copied());
            }
        }
        false
    }

    fn only(definitions: &Definitions) -> Option<At> {
        match definitions[..] {
            [Definition::Result(at)] => Some(at),
            _ => None,
        }
    }

    /// What a value is before casts.
    fn before_casts(&self, mut at: At) -> At {
        for _ in 0..4 {
            match self.instruction(at) {
                JavaInstruction::CheckCast(_) => match Self::only(&self.frames.operands[at][0]) {
                    Some(before) => at = before,
                    None => return at,
                },
                _ => return at,
            }
        }
        at
    }

    fn index(&self, definitions: &Definitions) -> Option<Index> {
        let [Definition::Result(one), Definition::Result(two)] = definitions[..] else {
            return None;
        };
        for (zero, step) in [(one, two), (two, one)] {
            if matches!(self.instruction(zero), JavaInstruction::Constant(JavaConstant::Int(0)))
                && matches!(self.instruction(step), JavaInstruction::Increment(_, 1))
                && self.frames.operands[step][0] == *definitions
                && !self.frames.reachable_from(zero)[zero]
            {
                return Some(Index { zero, step });
            }
        }
        None
    }

    /// An object that only this method has, in its variables.
    fn is_local(&self, object: ObjectId) -> bool {
        self.found.holders().all(|(holder, set)| {
            let own = match holder {
                Holder::Value(method, _) | Holder::Operand(method, ..) => method == self.method,
                _ => false,
            };
            own || !set.contains(object)
        })
    }

    /// The test of the loop that waits, and where it leads in the end.
    fn exit(&self, join: At) -> Option<(At, At)> {
        let value = self.before_casts(Self::only(&self.frames.operands[join][0])?);
        match self.instruction(value) {
            JavaInstruction::ArrayLoad(JavaKind::Reference) => self.array_exit(join, value),
            JavaInstruction::Invoke(..) => self.list_exit(join, value),
            _ => None,
        }
    }

    /// The test of a loop that waits for what it takes from an array or a list.
    fn assumed_exit(&self, join: At, starts: &BTreeSet<(MemberId, At)>) -> Option<(At, At)> {
        let value = self.before_casts(Self::only(&self.frames.operands[join][0])?);
        let held = self.found.operand(self.method, value, 0);
        let here = starts.iter().all(|&(method, _)| method == self.method);
        if held.is_empty() || (here && held.iter().all(|one| self.is_local(one))) {
            return None;
        }
        let (test, exit) = match (self.instruction(value), self.called(value)) {
            (JavaInstruction::ArrayLoad(JavaKind::Reference), _) => {
                let index = self.index(&self.frames.operands[value][1])?;
                if !self.stored_by_index(&held) {
                    return None;
                }
                self.test(index)?
            }
            (_, Some("next")) => {
                let iterator = Self::only(&self.frames.operands[value][0])?;
                let tests = self.frames.next.ids().filter(|&at| {
                    self.frames.reached[at]
                        && self.called(at) == Some("hasNext")
                        && Self::only(&self.frames.operands[at][0]) == Some(iterator)
                });
                let [asked] = tests.collect::<Vec<_>>()[..] else { return None };
                let branch = At::from_index(asked.index() + 1);
                match self.body.instructions.get(branch.index())? {
                    JavaInstruction::Branch(BranchCondition::Zero(Comparison::Equal), target) => {
                        (branch, *target)
                    }
                    _ => return None,
                }
            }
            _ => return None,
        };
        // Every pass waits; who leaves the loop otherwise has not waited for all.
        let inside =
            |at: At| self.frames.reachable_from(join)[at] && self.frames.reachable_from(at)[join];
        (inside(test) && !self.avoids(test, test, &[join, exit], false)).then_some((test, exit))
    }

    /// Whether whatever is put into arrays is put there by an index that goes up from zero.
    fn stored_by_index(&self, arrays: &ObjectSet) -> bool {
        self.found.methods.iter().all(|(&method, frames)| {
            let Some(body) = &self.world.of(method).body else { return true };
            let own = Loops { method, frames, body, ..*self };
            frames.next.ids().filter(|&at| frames.reached[at]).all(|at| {
                let stores = matches!(own.instruction(at), JavaInstruction::ArrayStore(_))
                    && self.found.operand(method, at, 0).meets(arrays);
                !stores || own.index(&frames.operands[at][1]).is_some()
            })
        })
    }

    fn array_exit(&self, join: At, load: At) -> Option<(At, At)> {
        let array = self.found.operand(self.method, load, 0).only()?;
        if !self.is_made_once(array) || !self.is_local(array) {
            return None;
        }
        let index = self.index(&self.frames.operands[load][1])?;
        let (test, exit) = self.test(index)?;
        let bound = Self::only(&self.frames.operands[test][1]);
        let all = bound.is_some_and(|at| self.is_length(at, array));
        // Every pass waits for the next one of the array.
        let every = !self.avoids(test, test, &[join, exit], false)
            && !self.avoids(index.step, load, &[test], false)
            && !self.avoids(index.step, index.step, &[test], false)
            && !self.frames.reachable_from(index.zero)[self.start];
        let filled = self.filled_array(array)?;
        let same = all || self.same_bound(filled, test);
        (every && same).then_some((test, exit))
    }

    /// Whether an object is made in this method, and not again behind that: so it is one, as the method runs
    /// once.
    fn is_made_once(&self, object: ObjectId) -> bool {
        matches!(self.found.objects[object].site, Site::New(method, at, 0, _)
            if method == self.method && !self.frames.reachable_from(at)[at])
    }

    /// The test of a loop over an index: `index >= bound` leaves it.
    fn test(&self, index: Index) -> Option<(At, At)> {
        let mut found = None;
        for at in self.frames.next.ids().filter(|&at| self.frames.reached[at]) {
            let JavaInstruction::Branch(BranchCondition::Ints(Comparison::NotLess), target) =
                self.instruction(at)
            else {
                continue;
            };
            if self.index(&self.frames.operands[at][0]) == Some(index) {
                if found.is_some() {
                    return None;
                }
                found = Some((at, *target));
            }
        }
        found
    }

    fn is_length(&self, at: At, array: ObjectId) -> bool {
        matches!(self.instruction(at), JavaInstruction::ArrayLength)
            && self.found.operand(self.method, at, 0).only() == Some(array)
    }

    /// The index at which threads are put into an array: every thread that is started is in it, each at an
    /// index of its own.
    fn filled_array(&self, array: ObjectId) -> Option<Index> {
        let mut store = None;
        for at in self.frames.next.ids().filter(|&at| self.frames.reached[at]) {
            let is_call = matches!(
                self.instruction(at),
                JavaInstruction::Invoke(..) | JavaInstruction::InvokeDynamic(..)
            );
            let count = self.frames.operands[at].len();
            let given = |one| self.found.operand(self.method, at, one).contains(array);
            if is_call && (0..count).any(given) {
                return None;
            }
            if matches!(self.instruction(at), JavaInstruction::ArrayStore(_))
                && self.found.operand(self.method, at, 0).contains(array)
            {
                if store.is_some() {
                    return None;
                }
                store = Some(at);
            }
        }
        let store = store?;
        let operands = &self.frames.operands[store];
        let index = self.index(&operands[1])?;
        let stores_made = Self::only(&operands[2]) == Some(self.made);
        let own_index = self.found.operand(self.method, store, 0).only() == Some(array)
            && !self.avoids(store, store, &[index.step], false);
        let started = Self::only(&self.frames.operands[self.start][0])?;
        let from_array =
            matches!(self.instruction(self.before_casts(started)), JavaInstruction::ArrayLoad(_))
                && self.found.operand(self.method, self.before_casts(started), 0).only()
                    == Some(array);
        let is_stored = from_array || (started == self.made && self.is_put(store));
        (stores_made && own_index && is_stored).then_some(index)
    }

    /// Whether every thread that is started is put somewhere by an instruction, before or after its start.
    fn is_put(&self, put: At) -> bool {
        let before = !self.avoids(self.made, self.start, &[put], true);
        let ends = self
            .frames
            .next
            .ids()
            .filter(|&at| self.frames.reached[at] && (at == self.made || self.is_join(at)));
        let after = ends.into_iter().all(|end| !self.avoids(self.start, end, &[put], true));
        before || after
    }

    /// Whether the loop that fills an array ends where another one does.
    fn same_bound(&self, filled: Index, test: At) -> bool {
        let Some((first, _)) = self.test(filled) else { return false };
        let (one, two) = (&self.frames.operands[first][1], &self.frames.operands[test][1]);
        let constant = |all: &Definitions| match Self::only(all).map(|at| self.instruction(at)) {
            Some(JavaInstruction::Constant(JavaConstant::Int(value))) => Some(*value),
            _ => None,
        };
        let same_constant = constant(one).is_some() && constant(one) == constant(two);
        let same_value = one == two
            && match one[..] {
                [Definition::Parameter(_)] => true,
                [Definition::Result(at)] => !self.frames.reachable_from(at)[at],
                _ => false,
            };
        same_constant || same_value
    }

    fn list_exit(&self, join: At, next: At) -> Option<(At, At)> {
        let list = self.found.operand(self.method, next, 0).only()?;
        let own = self.found.objects[list];
        let name = self.world.names.text(own.name);
        let known = ["java/util/ArrayList", "java/util/LinkedList"].contains(&name);
        if !self.is_made_once(list) || !known || !self.is_local(list) || own.class.is_some() {
            return None;
        }
        if self.called(next) != Some("next") {
            return None;
        }
        let iterator = Self::only(&self.frames.operands[next][0])?;
        if self.called(iterator) != Some("iterator") {
            return None;
        }
        // Nothing but these is done with the list; each thread that is started is added.
        let mut add = None;
        let mut test = None;
        for at in self.frames.next.ids().filter(|&at| self.frames.reached[at]) {
            let count = self.frames.operands[at].len();
            let is_call = matches!(
                self.instruction(at),
                JavaInstruction::Invoke(..) | JavaInstruction::InvokeDynamic(..)
            );
            if !is_call
                || !(0..count).any(|one| self.found.operand(self.method, at, one).contains(list))
            {
                continue;
            }
            match self.called(at)? {
                "<init>" if count == 1 => {}
                "size" | "isEmpty" | "iterator" => {}
                "next" if at == next => {}
                "next" if Self::only(&self.frames.operands[at][0]) != Some(iterator) => {}
                "add" if count == 2 && add.is_none() => add = Some(at),
                "hasNext" => {
                    let of = &self.frames.operands[at][0];
                    let own = Self::only(of) == Some(iterator) && test.is_none();
                    if !own && of.contains(&Definition::Result(iterator)) {
                        return None;
                    }
                    let branch = At::from_index(at.index() + 1);
                    if let (
                        true,
                        Some(JavaInstruction::Branch(
                            BranchCondition::Zero(Comparison::Equal),
                            target,
                        )),
                    ) = (own, self.body.instructions.get(branch.index()))
                    {
                        test = Some((branch, *target));
                    }
                }
                _ => return None,
            }
        }
        let (add, (test, exit)) = (add?, test?);
        let stores_made = Self::only(&self.frames.operands[add][1]) == Some(self.made);
        let started = Self::only(&self.frames.operands[self.start][0])? == self.made;
        // All are added when the second loop begins, and every pass takes one and waits for it.
        let every = !self.avoids(test, test, &[join, exit], false)
            && !self.avoids(next, next, &[join], false)
            && !self.frames.reachable_from(iterator)[iterator]
            && !self.frames.reachable_from(iterator)[self.start]
            && !self.frames.reachable_from(iterator)[add];
        (stores_made && started && self.is_put(add) && every).then_some((test, exit))
    }

    /// The name of the method that is called here, if it is one.
    fn called(&self, at: At) -> Option<&str> {
        match self.instruction(at) {
            JavaInstruction::Invoke(_, member) => Some(self.world.names.text(member.name)),
            _ => None,
        }
    }
}
