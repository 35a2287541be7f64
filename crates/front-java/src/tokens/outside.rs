//! What code outside does to tokens: by its model, or whatever unknown code may do.

use super::{
    Explorer, Frame, JavaToken, LockKey, LockName, ModelFacts, StartPhase, Step, Unit, Walk, behind,
};
use crate::class::JavaInstruction;
use crate::frames::Definition;
use crate::library::{Control, Effect, Gives};
use crate::points_to::{Holder, ObjectId, ObjectSet, Site};
use selvedge_base::Id;
use std::collections::BTreeSet;
use std::rc::Rc;

impl Walk<'_, '_, '_> {
    /// A method outside the program.
    pub(super) fn library(
        &mut self,
        source: usize,
        frame: &Frame,
        operands: &[JavaToken],
        has_receiver: bool,
        object: Option<ObjectId>,
        effect: Option<Effect>,
    ) -> Option<()> {
        let shared = self.explorer.shared;
        let atomic: Vec<bool> =
            (0..operands.len()).map(|number| self.is_atomic(frame.at, number)).collect();
        let first = usize::from(has_receiver);
        let Some(effect) = effect else {
            let mut ways: Vec<Vec<Step>> = vec![Vec::new()];
            self.forget(frame);
            for (number, token) in operands.iter().enumerate() {
                let Some(location) = self.explorer.location(token, None) else { continue };
                if !self.holds_something(token) {
                    continue;
                }
                let volatile = atomic[number];
                ways.push(vec![Step::Read(location.clone(), volatile)]);
                ways.push(vec![Step::Write(location.clone(), volatile)]);
                ways.push(vec![
                    Step::Read(location.clone(), volatile),
                    Step::Write(location, volatile),
                ]);
            }
            let wrapped = shared.found.wrapped(self.method, frame.at);
            for (object, location) in self.explorer.touched_in(&wrapped) {
                let volatile = self.is_safe(object);
                ways.push(vec![Step::Read(location.clone(), volatile)]);
                ways.push(vec![Step::Write(location, volatile)]);
            }
            self.havoc(source, frame);
            for steps in ways {
                for token in self.result_tokens(frame.at) {
                    let (next, _) = self.after(frame, token)?;
                    self.go_on(source, &steps, &next);
                }
                self.throw(source, frame, &steps);
            }
            return Some(());
        };
        let mut steps = Vec::new();
        let mut access = |explorer: &Explorer<'_, '_>, number: usize, reads: bool, writes: bool| {
            if effect.reads_fields {
                steps.extend(explorer.reads_of_fields(&operands[number]));
            }
            let Some(location) = explorer.location(&operands[number], None) else { return };
            // What an atomic call reads and writes, nobody sees in between.
            let volatile = atomic[number];
            if reads && !(writes && volatile) {
                steps.push(Step::Read(location.clone(), volatile));
            }
            if writes {
                steps.push(Step::Write(location, volatile));
            }
        };
        if has_receiver {
            access(self.explorer, 0, effect.reads, effect.writes);
        }
        for number in first..operands.len() {
            access(self.explorer, number, effect.reads_what_is_passed(), effect.writes_passed);
        }
        // The monitor that a call takes by itself.
        let own = effect.monitor && !steps.is_empty() && !self.explorer.is_about_locks();
        let own = operands.first().filter(|_| own).and_then(|one| self.explorer.key(one, false));
        if let Some(key) = own {
            steps.insert(0, Step::Acquire(key.clone()));
            steps.push(Step::Release(key));
        }
        if effect.bulk && !steps.is_empty() {
            steps = [&[Step::Begin][..], &steps, &steps, &[Step::End]].concat();
        }
        // What is looked at beside that.
        let place = (self.method, frame.at);
        let looked_at = (effect.shows || effect.compares)
            .then(|| shared.found.looked_at(shared.world, place, effect, has_receiver));
        // Counters are compared by what they are, not by what they hold.
        let is_read = |one: ObjectId| {
            let name = shared.world.names.text(shared.found.objects[one].name);
            effect.shows || !name.starts_with("java/util/concurrent/atomic/")
        };
        let looked_at = looked_at.map(|all| self.explorer.touched_in(&all)).unwrap_or_default();
        let looked_at = looked_at.into_iter().filter(|&(one, _)| is_read(one));
        let looks: Vec<Step> =
            looked_at.map(|(one, location)| Step::Read(location, self.is_safe(one))).collect();
        let method = self.method;
        let begins = |one: Control| one == Control::Starts || one.submits();
        if effect.control.is_some_and(begins) && self.masked {
            let place = (method, frame.at, frame.phase);
            self.explorer.model.started.insert(place);
        }
        let receiver = operands.first();
        let second = self.is_second();
        let keys = receiver.map_or_else(Vec::new, |one| self.explorer.explicit_keys(one, second));
        match effect.control {
            Some(Control::Locks) => {
                let (next, _) = self.after(frame, JavaToken::Other)?;
                self.take(source, next, keys);
                return Some(());
            }
            Some(Control::Tries) => {
                let (next, _) = self.after(frame, JavaToken::Number(1))?;
                self.take(source, next, keys);
                let (next, _) = self.after(frame, JavaToken::Number(0))?;
                self.go_on(source, &[], &next);
                return Some(());
            }
            Some(Control::Unlocks) => {
                if keys.is_empty() {
                    let mut set = ObjectSet::default();
                    for object in shared.found.operand(method, frame.at, 0).iter() {
                        set.insert(behind(shared.found, object));
                    }
                    self.freed(frame, set, true, None);
                }
                let (next, _) = self.after(frame, JavaToken::Other)?;
                self.free(source, next, keys);
                return Some(());
            }
            Some(Control::Awaits) if self.awaited(frame, receiver).is_some() => {
                let key = self.awaited(frame, receiver)?;
                let split: &[Step] = if frame.unit != Unit::None && self.keeps_nothing(frame.at) {
                    &[Step::End, Step::Begin]
                } else {
                    &[]
                };
                let (context, set) = (self.context, self.explorer.objects_of(&key.name));
                self.explorer.waits.insert((context, key.clone()));
                self.freed(frame, set, true, Some(key.clone()));
                steps.push(Step::Release(key.clone()));
                steps.extend_from_slice(split);
                steps.push(Step::Acquire(key));
            }
            Some(Control::Awaits) => {
                let explicit: Vec<LockKey> =
                    frame.held.iter().filter(|key| key.explicit).cloned().collect();
                self.explorer.model.dropped.extend(explicit);
                let context = self.context;
                self.explorer.awaits.insert(context);
            }
            Some(Control::Waits | Control::Joins) => {
                let key = receiver.and_then(|token| self.explorer.key(token, false));
                let ends_unit = frame.unit != Unit::None
                    && effect.control == Some(Control::Waits)
                    && self.keeps_nothing(frame.at);
                let split: &[Step] = if ends_unit { &[Step::End, Step::Begin] } else { &[] };
                match key {
                    None if receiver.is_none_or(|token| self.explorer.lock_of(token).is_some()) => {
                        if let Some(name) = receiver.and_then(|one| self.explorer.lock_of(one)) {
                            let set = self.explorer.objects_of(&name);
                            if matches!(name, LockName::Part(..)) {
                                let key = LockKey { name, explicit: false };
                                self.freed(frame, set, false, Some(key));
                            }
                        }
                    }
                    None => {
                        let set = shared.found.operand(method, frame.at, 0);
                        self.freed(frame, set, false, None);
                        steps.extend_from_slice(split);
                    }
                    Some(key) => {
                        if matches!(key.name, LockName::Part(..)) {
                            let set = self.explorer.objects_of(&key.name);
                            self.freed(frame, set, false, Some(key.clone()));
                        }
                        let context = self.context;
                        self.explorer.waits.insert((context, key.clone()));
                        let holds = frame.held.iter().filter(|one| **one == key).count();
                        if holds == 1 && frame.held.last() == Some(&key) {
                            steps.push(Step::Release(key.clone()));
                            steps.extend_from_slice(split);
                            steps.push(Step::Acquire(key));
                        } else if holds > 0 {
                            self.explorer.model.dropped.insert(key);
                        }
                    }
                }
            }
            _ => {}
        }
        if effect.blocks || matches!(effect.control, Some(Control::Starts | Control::Joins)) {
            steps = self.around(frame, &steps);
        }
        let results = match (effect.gives, object) {
            (Gives::Receiver, Some(_)) if has_receiver => vec![operands[0].clone()],
            (Gives::Passed | Gives::Either, _) => {
                let mut tokens: BTreeSet<JavaToken> = operands[first..].iter().cloned().collect();
                if effect.gives == Gives::Either {
                    tokens.extend(self.result_tokens(frame.at));
                }
                tokens.into_iter().collect()
            }
            (Gives::Copy, _) => self.copies(frame),
            (Gives::View(side), _) if has_receiver => {
                let named = self.explorer.lock_of(&operands[0]).is_some();
                let view = || JavaToken::View(Rc::new(operands[0].clone()), side);
                vec![if named { view() } else { JavaToken::Other }]
            }
            _ => self.result_tokens(frame.at),
        };
        for token in results {
            let (mut next, _) = self.after(frame, token)?;
            next.phase = self.next_phase(frame, effect, receiver);
            self.go_on(source, &steps, &next);
            // In which order is not known.
            if !looks.is_empty() {
                let more: Vec<Step> = steps.iter().chain(&looks).cloned().collect();
                self.go_on(source, &more, &next);
            }
            if looks.len() > 1 {
                let more: Vec<Step> = steps.iter().chain(looks.iter().rev()).cloned().collect();
                self.go_on(source, &more, &next);
            }
        }
        if !steps.is_empty() {
            let thrown = self.after_failure(frame, [effect]);
            self.throw_unless_interrupted(source, &thrown, &steps, false);
        }
        Some(())
    }

    /// Unknown code touches fields of the object if it has it, any number of times.
    fn havoc(&mut self, source: usize, frame: &Frame) {
        let ModelFacts { world, found, .. } = self.explorer.shared;
        let Some(object) = self.explorer.object else { return };
        if frame.stack.iter().chain(&frame.locals).any(Self::is_fresh) {
            return;
        }
        for (field, written) in found.havocked(world, object) {
            let Some(location) = self.explorer.own_location(Some(field)) else { return };
            let write = written.then(|| Step::Write(location.clone(), false));
            for step in write.into_iter().chain([Step::Read(location.clone(), false)]) {
                self.edge(source, frame.at, vec![step], frame.clone());
            }
        }
    }

    /// The tokens of copies that are made here.
    fn copies(&self, frame: &Frame) -> Vec<JavaToken> {
        let ModelFacts { found, owner, .. } = self.explorer.shared;
        let set = found.of(Holder::Value(self.method, Definition::Result(frame.at)));
        let mut tokens = BTreeSet::new();
        let mut others = ObjectSet::default();
        for object in set.iter() {
            let made_here = matches!(found.objects[object].site,
                Site::Copy(method, at, _) if (method, at) == (self.method, frame.at));
            if Some(object) == self.explorer.object && made_here {
                // Nobody else has it yet, and there may be more of its kind.
                tokens.extend([JavaToken::Fresh, JavaToken::Other]);
            } else if Some(object) != self.explorer.object && owner.contains_key(&object) {
                tokens.insert(self.owned(object, frame).unwrap_or(JavaToken::Other));
            } else {
                others.insert(object);
            }
        }
        if tokens.is_empty() || !others.is_empty() {
            tokens.extend(self.explorer.fork(&others));
        }
        tokens.into_iter().collect()
    }

    /// Whether unknown code can change what a token stands for: an array, or an object from outside.
    fn holds_something(&self, token: &JavaToken) -> bool {
        let found = self.explorer.shared.found;
        match token {
            JavaToken::Isolated => {
                let of = self.explorer.object.map(|object| found.objects[object]);
                of.is_some_and(|of| {
                    of.class.is_none() && !matches!(of.site, Site::Lambda(..) | Site::Class(_))
                })
            }
            JavaToken::Part(..) => true,
            _ => false,
        }
    }

    /// Where the thread is if a call fails that may have given tasks to others before.
    pub(super) fn after_failure(
        &self,
        frame: &Frame,
        effects: impl IntoIterator<Item = Effect>,
    ) -> Frame {
        let mask = self.masked.then(|| self.explorer.threads[0].mask.as_ref()).flatten();
        let begins = mask.is_some_and(|mask| mask.starts.contains(&(self.method, frame.at)));
        let many = effects.into_iter().any(|one| one.control == Some(Control::SubmitsAll));
        let phase = if begins && many { StartPhase::Parallel } else { frame.phase };
        Frame { phase, ..frame.clone() }
    }

    /// Where the thread is after a call that may start the other one or wait for its end.
    fn next_phase(
        &self,
        frame: &Frame,
        effect: Effect,
        receiver: Option<&JavaToken>,
    ) -> StartPhase {
        let mask = self.masked.then(|| self.explorer.threads[0].mask.as_ref()).flatten();
        let Some(mask) = mask else { return frame.phase };
        let is_object = matches!(receiver, Some(JavaToken::Isolated | JavaToken::Fresh));
        let is_assumed = mask.trusts && mask.assumed.contains(&(self.method, frame.at));
        match effect.control {
            Some(Control::SubmitsAll) if is_assumed => {
                let meets = frame.phase == StartPhase::Parallel;
                if meets { StartPhase::Parallel } else { StartPhase::After }
            }
            Some(one)
                if (one == Control::Starts || one.submits())
                    && (is_object || !mask.own)
                    && mask.starts.contains(&(self.method, frame.at)) =>
            {
                StartPhase::Parallel
            }
            Some(Control::AwaitsEnd | Control::Gets) if frame.phase == StartPhase::Parallel => {
                if is_assumed {
                    StartPhase::After
                } else {
                    frame.phase
                }
            }
            Some(Control::Joins) if frame.phase == StartPhase::Parallel => {
                let set = self.explorer.shared.found.operand(self.method, frame.at, 0);
                let JavaInstruction::Invoke(_, member) = &self.body.instructions[frame.at.index()]
                else {
                    return frame.phase;
                };
                let untimed = self.explorer.shared.world.names.text(member.descriptor) == "()V";
                let is_end = if mask.own {
                    is_object
                } else {
                    mask.ends.is_some() && set.only() == mask.ends
                };
                if untimed && is_end { StartPhase::After } else { frame.phase }
            }
            _ => frame.phase,
        }
    }
}
