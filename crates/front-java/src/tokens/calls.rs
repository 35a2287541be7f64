//! Calls on tokens: methods of the program, and what code outside does.

use super::{
    CallOutcome, Context, Explorer, Frame, Freed, HELD, JavaToken, LocationKey, LockKey, LockName,
    ModelEdge, ModelFacts, ModelGoal, StartPhase, Step, Unit, Walk, behind,
};
use crate::class::{At, FieldAccess, InvokeKind, JavaInstruction};
use crate::facts::initialisers_of;
use crate::frames::{Definition, Definitions};
use crate::library::{Control, Effect, Gives, LockSide};
use crate::points_to::{Holder, ObjectId, ObjectSet, Site};
use crate::world::{MemberId, Resolution};
use selvedge_base::Id;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

impl Walk<'_, '_, '_> {
    pub(super) fn invoke(
        &mut self,
        source: usize,
        frame: &Frame,
        operands: &[JavaToken],
    ) -> Option<()> {
        let shared = self.explorer.shared;
        let Some(invocation) = shared.found.invocations.get(&(self.method, frame.at)) else {
            self.throw(source, frame, &[]);
            let (next, _) = self.after(frame, JavaToken::Other)?;
            self.go_on(source, &[], &next);
            return Some(());
        };
        let instruction = &self.body.instructions[frame.at.index()];
        let has_receiver =
            matches!(instruction, JavaInstruction::Invoke(how, _) if *how != InvokeKind::Static);
        // What is captured, or given to code that may keep it, is known to others from then on.
        let keeps = matches!(instruction, JavaInstruction::InvokeDynamic(..))
            || invocation.unknown
            || !invocation.callbacks.is_empty()
            || invocation.callees.methods().any(|(_, direct)| !direct)
            || invocation.library.values().flatten().any(|one| {
                matches!(one.control, Some(Control::Starts | Control::Runs))
                    || one.control.is_some_and(Control::submits)
            });
        let stores = invocation.library.values().flatten().any(|one| one.stores || one.adds);
        let passed = &operands[usize::from(has_receiver)..];
        // A constructor outside does not make known what it makes.
        let only_makes = invocation.unknown
            && invocation.callbacks.is_empty()
            && invocation.callees.is_empty()
            && self.explorer.object.is_some_and(|one| shared.found.objects[one].class.is_none())
            && matches!(instruction, JavaInstruction::Invoke(InvokeKind::Special, member)
                if shared.world.names.text(member.name) == "<init>")
            && !passed.iter().any(Self::is_fresh);
        let keeps = keeps && !only_makes;
        let keeps = keeps || (stores && passed.iter().any(Self::is_fresh));
        if keeps && operands.iter().any(Self::is_fresh) {
            let mut known = frame.clone();
            Self::publish(&mut known);
            self.edge(source, frame.at, Vec::new(), known);
            return Some(());
        }
        // What a function is defined in may be initialised by it.
        for (method, _) in invocation.callees.methods().filter(|(_, direct)| !direct) {
            for one in initialisers_of(shared.world, shared.found, method.class) {
                if one != self.method && self.explorer.relevant.contains(&one) {
                    self.call(source, frame, one, Vec::new(), None)?;
                }
            }
        }
        let only_frees = !invocation.library.is_empty()
            && invocation.callees.is_empty()
            && invocation.library.values().all(|effect| {
                effect.is_some_and(|effect| effect.control == Some(Control::Unlocks))
            });
        let only_joins = !invocation.library.is_empty()
            && invocation.callees.is_empty()
            && invocation
                .library
                .values()
                .all(|effect| effect.is_some_and(|effect| effect.control == Some(Control::Joins)));
        // Who frees a lock that it holds does so; who waits for a thread goes on only if that has ended, or
        // somebody interrupts it.
        let goes_on = only_joins && !shared.found.interrupts && self.is_new(frame.at);
        // A side of a lock that is held, or of an object that is there, is always given.
        let only_looks = !invocation.library.is_empty()
            && invocation.callees.is_empty()
            && invocation
                .library
                .values()
                .all(|effect| effect.is_some_and(|one| matches!(one.gives, Gives::View(_))))
            && operands.first().is_some_and(|token| self.is_held_or_there(frame, token));
        // What a method of the program throws is among what it does.
        let only_own = invocation.library.is_empty()
            && !invocation.callees.is_empty()
            && invocation.callees.methods().all(|(_, direct)| direct)
            && (!has_receiver || self.is_there(frame.at, &operands[0]));
        if !only_frees && !goes_on && !only_looks && !only_own {
            let thrown = self.after_failure(frame, invocation.library.values().flatten());
            self.throw_unless_interrupted(source, &thrown, !invocation.callees.is_empty());
        }
        let receiver = operands.first().filter(|_| has_receiver);
        let fits = |object: Option<ObjectId>| self.fits(receiver, object);
        // With whether clients could call it for each of the receivers.
        let mut reached = BTreeMap::new();
        for (callee, receivers) in invocation.callees.groups() {
            let mut own = receivers.iter().filter(|&one| fits(one)).peekable();
            if own.peek().is_some() {
                let open = own.all(|one| shared.found.callbacks.contains(one, callee.0));
                reached.insert(callee, open);
            }
        }
        // Those that do the same are one.
        let effects: Vec<(Option<ObjectId>, Option<Effect>)> = invocation
            .library
            .groups()
            .filter_map(|(effect, all)| Some((all.iter().find(|&one| fits(one))?, effect)))
            .collect();
        // Where clients may be called, so may what they have, which they could call as well; unless it is the
        // object itself, and called as more than any object.
        let own = shared.found.for_client && !self.explorer.is_about_locks();
        let of_all = matches!(instruction, JavaInstruction::Invoke(_, member)
            if shared.world.names.text(member.class) == "java/lang/Object");
        let by_client = own
            && invocation.unknown
            && effects.iter().any(|(_, effect)| effect.is_none())
            && receiver
                .is_some_and(|one| of_all || matches!(one, JavaToken::Other | JavaToken::Part(..)));
        for ((method, direct), open) in reached {
            if by_client && direct && open {
                self.note_clients(frame);
                continue;
            }
            if !self.explorer.relevant.contains(&method) {
                if shared.calling_out.contains(&method) {
                    self.call_clients(source, frame);
                }
                if direct || invocation.library.is_empty() {
                    self.skip(source, frame, operands)?;
                }
                continue;
            }
            if direct {
                self.call(source, frame, method, operands.to_vec(), Some(true))?;
            } else {
                let is_called_here = invocation.library.is_empty();
                // Code outside calls it any number of times before it does what it does.
                let result = is_called_here.then_some(false);
                for mut tokens in self.explorer.outside_tokens(None, method) {
                    if is_called_here && passed.len() <= tokens.len() {
                        // What was captured comes first, what is passed last.
                        let from = tokens.len() - passed.len();
                        tokens[from..].clone_from_slice(passed);
                    }
                    self.call(source, frame, method, tokens, result)?;
                }
            }
        }
        let relevant = &self.explorer.relevant;
        let mut callbacks: BTreeSet<(Option<ObjectId>, MemberId)> =
            invocation.callbacks.pairs_of(relevant).collect();
        if invocation.unknown && effects.iter().any(|(_, effect)| effect.is_none()) {
            if shared.found.for_client {
                self.call_clients(source, frame);
            } else {
                callbacks.extend(shared.found.callbacks.pairs_of(&self.explorer.relevant));
            }
        }
        // What code outside calls on others that clients have is theirs, too, and so is what all objects have.
        for (object, method) in callbacks {
            let name = shared.world.names.text(shared.world.of(method).name);
            let others = object.is_some_and(|one| Some(one) != self.explorer.object);
            let of_all = object.is_some() && ["equals", "hashCode", "toString"].contains(&name);
            let open = shared.found.callbacks.contains(object, method);
            if own && open && (others || of_all) {
                self.note_clients(frame);
                continue;
            }
            for tokens in self.explorer.outside_tokens(object, method) {
                let others = object.is_some() && tokens.first() == Some(&JavaToken::Other);
                if own && open && others {
                    self.note_clients(frame);
                    continue;
                }
                self.call(source, frame, method, tokens, None)?;
            }
        }
        if effects.is_empty() && invocation.callees.is_empty() && invocation.library.is_empty() {
            // Nothing is known to be called: an object of a dynamic call, or none at all.
            self.skip(source, frame, operands)?;
        }
        for (object, effect) in effects {
            if shared.found.for_client && effect.is_some_and(Effect::calls_back) {
                self.note_clients(frame);
            }
            self.library(source, frame, operands, has_receiver, object, effect)?;
        }
        Some(())
    }

    /// Clients are called, and call whatever they may. What they do then is not part of a unit of work of the
    /// class, so it is nothing that they could not do by themselves, with fewer locks held; but for the locks
    /// that they free by waiting. A unit that holds no lock ends there.
    fn call_clients(&mut self, source: usize, frame: &Frame) {
        self.note_clients(frame);
        if frame.unit != Unit::None && frame.monitors == 0 {
            self.edge(source, frame.at, vec![Step::End, Step::Begin], frame.clone());
        }
    }

    /// What is held here may be freed by what clients call.
    fn note_clients(&mut self, frame: &Frame) {
        let held = self.explorer.clients_held.entry(self.context).or_default();
        held.extend(frame.held.iter().cloned());
    }

    /// Whether a token stands for an object that is there, because it has a name of its own or is held.
    fn is_held_or_there(&self, frame: &Frame, token: &JavaToken) -> bool {
        let held = self.explorer.lock_of(token).is_some_and(|name| {
            frame.held.iter().any(|key| match &key.name {
                LockName::Side(inner, _) => **inner == name,
                own => *own == name,
            })
        });
        held || self.is_there(frame.at, token)
    }

    /// Whether the receiver of a call was made in this method, so is not null.
    fn is_new(&self, at: At) -> bool {
        self.frames.operands[at].first().is_some_and(|all| {
            !all.is_empty()
                && all.iter().all(|one| {
                    matches!(one, Definition::Result(made)
                        if matches!(self.body.instructions[made.index()], JavaInstruction::New(_)))
                })
        })
    }

    /// An exception of a call: of a kind that only interrupts give rise to only if there are any, or if a
    /// method of the program may throw it.
    fn throw_unless_interrupted(&mut self, source: usize, frame: &Frame, own: bool) {
        let ModelFacts { world, found, .. } = self.explorer.shared;
        let interrupted = |target: At| {
            let mut of = self.body.handlers.iter().filter(|one| one.target == target);
            of.all(|one| {
                one.catches
                    .is_some_and(|name| world.names.text(name) == "java/lang/InterruptedException")
            })
        };
        let skipped: Vec<At> = if own || found.interrupts {
            Vec::new()
        } else {
            let all = self.frames.handlers[frame.at].iter().copied();
            all.filter(|&target| interrupted(target)).collect()
        };
        self.throw_past(source, frame, &[], &skipped);
    }

    /// Whether a receiver with this token can be this object.
    pub(super) fn fits(&self, receiver: Option<&JavaToken>, object: Option<ObjectId>) -> bool {
        let (Some(token), Some(object)) = (receiver, object) else { return true };
        let ModelFacts { facts, named, .. } = self.explorer.shared;
        match token {
            JavaToken::Isolated | JavaToken::Fresh => Some(object) == self.explorer.object,
            JavaToken::One(one) => object == *one,
            JavaToken::Locked(_) => self
                .explorer
                .lock_of(token)
                .is_some_and(|name| self.explorer.objects_of(&name).contains(object)),
            JavaToken::View(_, side) => {
                let site = self.explorer.shared.found.objects[object].site;
                matches!(site, Site::View(_, other) if other == *side)
            }
            JavaToken::Other | JavaToken::Part(..) | JavaToken::Number(_) => {
                let is_subject =
                    Some(object) == self.explorer.object && facts.single.contains(&object);
                !is_subject && !named.contains(&object)
            }
        }
    }

    /// A call of which the model shows nothing.
    pub(super) fn skip(
        &mut self,
        source: usize,
        frame: &Frame,
        operands: &[JavaToken],
    ) -> Option<()> {
        let mut frame = frame.clone();
        if operands.iter().any(Self::is_fresh) {
            Self::publish(&mut frame);
        }
        self.throw(source, &frame, &[]);
        for token in self.result_tokens(frame.at) {
            let (next, _) = self.after(&frame, token)?;
            self.go_on(source, &[], &next);
        }
        Some(())
    }

    /// A call of a method of the program. Its result is that of the instruction, one that is forked anew, or
    /// nothing, if the instruction is still to be executed.
    pub(super) fn call(
        &mut self,
        source: usize,
        frame: &Frame,
        method: MemberId,
        tokens: Vec<JavaToken>,
        direct: Option<bool>,
    ) -> Option<()> {
        let count = self.explorer.parameters(method);
        let mut tokens = tokens;
        tokens.resize(count, JavaToken::Other);
        for token in &mut tokens {
            if matches!(token, JavaToken::Number(_)) && !self.has_values() {
                *token = JavaToken::Other;
            }
        }
        let (masked, phase) = (self.masked, frame.phase);
        let in_unit = self.is_in_unit(frame);
        let quiet = self.is_quiet() || self.explorer.initialiser == Some(method);
        let passes_fresh = tokens.iter().any(Self::is_fresh);
        let second = self.is_second();
        let context = Context { method, tokens, phase, masked, in_unit, second, quiet };
        let callee = self.explorer.context(context);
        self.explorer.dependents.entry(callee).or_default().insert(self.context);
        let held = self.explorer.call_held.entry((self.context, callee)).or_default();
        held.extend(frame.held.iter().cloned());
        let outcomes = self.explorer.model.graphs[callee].outcomes.clone();
        let blocks = self.explorer.shared.blocking.contains(&method);
        for outcome in outcomes {
            let mut steps = vec![Step::Call(callee, outcome.clone())];
            if blocks {
                steps = self.around(frame, &steps);
            }
            let mut frame = frame.clone();
            frame.phase = outcome.phase;
            // Who is not given an object that only this thread knows cannot make it known.
            if outcome.published && passes_fresh {
                Self::publish(&mut frame);
            }
            for key in &outcome.freed {
                if frame.held.last() == Some(key) {
                    frame.held.pop();
                } else if frame.held.is_empty() && frame.freed.len() < HELD {
                    frame.freed.push(key.clone());
                } else if !self.explorer.free_inner(&mut frame.held, key) {
                    self.explorer.model.dropped.insert(key.clone());
                }
            }
            for key in &outcome.taken {
                if frame.held.len() < HELD {
                    frame.held.push(key.clone());
                } else {
                    self.explorer.model.dropped.insert(key.clone());
                }
            }
            if outcome.thrown {
                self.throw(source, &frame, &steps);
                continue;
            }
            let results = match direct {
                None => {
                    let at = frame.at;
                    self.edge(source, at, steps, frame);
                    continue;
                }
                Some(true) => vec![outcome.token.clone()],
                Some(false) => self.result_tokens(frame.at),
            };
            for token in results {
                let (next, _) = self.after(&frame, token)?;
                self.go_on(source, &steps, &next);
            }
        }
        // A callee that never ends is entered all the same.
        if self.explorer.model.graphs[callee].outcomes.is_empty() {
            let stuck = CallOutcome {
                thrown: false,
                token: JavaToken::Other,
                phase: frame.phase,
                published: false,
                freed: Vec::new(),
                taken: Vec::new(),
            };
            let mut steps = vec![Step::Call(callee, stuck)];
            if blocks {
                steps = self.around(frame, &steps);
            }
            self.push(ModelEdge { source, steps, goal: ModelGoal::Node(source), at: frame.at });
        }
        Some(())
    }

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
            if let Some(object) = self.explorer.object.filter(|&one| wrapped.contains(one)) {
                let location = LocationKey { path: Rc::from([]), field: None };
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
        let looked_at = |one: &ObjectId| looked_at.is_some_and(|all| all.contains(*one));
        let looks = self.explorer.object.filter(looked_at).filter(|&one| is_read(one)).map(|one| {
            Step::Read(LocationKey { path: Rc::from([]), field: None }, self.is_safe(one))
        });
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
            next.phase = self.next_phase(frame, effect);
            self.go_on(source, &steps, &next);
            if let Some(look) = &looks {
                let more: Vec<Step> = steps.iter().chain([look]).cloned().collect();
                self.go_on(source, &more, &next);
            }
        }
        if !steps.is_empty() {
            let thrown = self.after_failure(frame, [effect]);
            self.throw(source, &thrown, &steps);
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
            let location = LocationKey { path: Rc::from([]), field: Some(field) };
            let write = written.then(|| Step::Write(location.clone(), false));
            for step in write.into_iter().chain([Step::Read(location.clone(), false)]) {
                self.edge(source, frame.at, vec![step], frame.clone());
            }
        }
    }

    /// Where the thread is if a call fails that may have given tasks to others before.
    fn after_failure(&self, frame: &Frame, effects: impl IntoIterator<Item = Effect>) -> Frame {
        let mask = self.masked.then(|| self.explorer.threads[0].mask.as_ref()).flatten();
        let begins = mask.is_some_and(|mask| mask.starts.contains(&(self.method, frame.at)));
        let many = effects.into_iter().any(|one| one.control == Some(Control::SubmitsAll));
        let phase = if begins && many { StartPhase::Parallel } else { frame.phase };
        Frame { phase, ..frame.clone() }
    }

    /// Whether calls on an object do not race with each other.
    fn is_safe(&self, object: ObjectId) -> bool {
        let ModelFacts { world, table, found, .. } = self.explorer.shared;
        let of = found.objects[object];
        let name = world.names.text(of.name);
        match of.site {
            Site::Caught(..) | Site::Lambda(..) | Site::Class(_) | Site::View(..) => true,
            Site::New(..) => of.class.is_none() && table.is_safe(name),
            // What is known to be an object only may be any.
            _ => of.class.is_none() && name != "java/lang/Object" && table.is_safe(name),
        }
    }

    /// Whether the second thread runs the method.
    fn is_second(&self) -> bool {
        self.explorer.model.contexts[self.context].second
    }

    /// The lock that is given up where a condition is waited for, if this method took it last and once.
    fn awaited(&self, frame: &Frame, receiver: Option<&JavaToken>) -> Option<LockKey> {
        let JavaToken::View(lock, LockSide::Condition) = receiver? else { return None };
        let key = self.explorer.key(lock, true)?;
        let holds = frame.held.iter().filter(|one| **one == key).count();
        (holds == 1 && frame.held.last() == Some(&key)).then_some(key)
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

    /// Whether an access to what an operand holds is one that does not race with others like it: all objects
    /// that it can be are safe, and it is not one half of reading and writing.
    pub(super) fn is_atomic(&self, at: At, number: usize) -> bool {
        let ModelFacts { world, found, .. } = self.explorer.shared;
        let objects = found.operand(self.method, at, number);
        if objects.is_empty() || !objects.iter().all(|one| self.is_safe(one)) {
            return false;
        }
        let JavaInstruction::Invoke(_, own) = &self.body.instructions[at.index()] else {
            return true;
        };
        let is_counter = world.names.text(own.class).starts_with("java/util/concurrent/atomic/");
        let does = |at: At| {
            let invocation = found.invocations.get(&(self.method, at))?;
            let effect = invocation.library.values().next()??;
            found.operand(self.method, at, 0).meets(&objects).then_some(effect)
        };
        let Some(effect) = does(at) else { return true };
        if effect.advances && effect.writes {
            return false;
        }
        let after = self.frames.reachable_from(at);
        for other in self.frames.next.ids().filter(|&one| self.frames.reached[one] && one != at) {
            let Some(others) = does(other) else { continue };
            let only_reads = |one: Effect| one.reads && !one.writes;
            let writes = |one: Effect| one.writes && !(is_counter && one.reads);
            // One that is compared and set fails if it was not what was read.
            let counts = |one: Effect| is_counter && one.reads && one.writes && !one.stores;
            let half = (only_reads(effect) && writes(others) && after[other])
                || (writes(effect) && only_reads(others) && self.frames.reachable_from(other)[at])
                || (only_reads(effect) && counts(others) && self.decides(at, other))
                || (counts(effect) && only_reads(others) && self.decides(other, at));
            if half {
                return false;
            }
        }
        true
    }

    /// Whether a branch on what one instruction gives decides if another is executed.
    fn decides(&self, read: At, other: At) -> bool {
        let gives = |definitions: &Definitions| definitions.contains(&Definition::Result(read));
        let operands = &self.frames.operands;
        let depends = |definitions: &Definitions| {
            gives(definitions)
                || definitions.iter().any(|one| match one {
                    Definition::Result(made) => {
                        let calls = matches!(
                            self.body.instructions[made.index()],
                            JavaInstruction::Invoke(..)
                        );
                        !calls && operands[*made].iter().any(gives)
                    }
                    _ => false,
                })
        };
        let reaches = |from: At| {
            let mut seen = BTreeSet::from([from]);
            let mut open = vec![from];
            while let Some(one) = open.pop() {
                if one == other {
                    return true;
                }
                let followers = self.frames.followers(one);
                open.extend(followers.filter(|&next| next != read && seen.insert(next)));
            }
            false
        };
        self.frames.next.ids().filter(|&at| self.frames.reached[at]).any(|at| {
            matches!(self.body.instructions[at.index()], JavaInstruction::Branch(..))
                && operands[at].iter().any(depends)
                && self.frames.next[at].iter().any(|&next| reaches(next))
                && !self.frames.next[at].iter().all(|&next| reaches(next))
        })
    }

    /// Whether nothing that was read before a call is used after it: what is kept are parameters, constants
    /// and what fields hold that are written once.
    pub(super) fn keeps_nothing(&self, at: At) -> bool {
        let ModelFacts { world, facts, .. } = self.explorer.shared;
        let is_constant = |one: &Definition| match one {
            Definition::Parameter(_) => true,
            Definition::Caught(_) => false,
            Definition::Result(made) => match &self.body.instructions[made.index()] {
                JavaInstruction::Constant(_) => true,
                JavaInstruction::Field(FieldAccess::Get, member) => {
                    matches!(world.field(*member), Resolution::Found(field) if facts.write_once.contains(&field))
                }
                _ => false,
            },
        };
        self.frames
            .kept
            .get(&at)
            .is_some_and(|kept| kept.iter().flat_map(|one| one.iter()).all(is_constant))
    }

    /// Unknown code may free a lock that it is given or was given before, or that what it was given holds.
    pub(super) fn forget(&mut self, frame: &Frame) {
        let shared = self.explorer.shared;
        if shared.found.for_client {
            self.forget_given(frame);
            return;
        }
        let mut objects = shared.pooled.clone();
        for number in 0..self.frames.operands[frame.at].len() {
            for object in shared.found.operand(self.method, frame.at, number).iter() {
                objects.insert(object);
                for held in shared.holds.get(&object).into_iter().flatten() {
                    objects.insert(*held);
                }
            }
        }
        self.forget_all(frame, &objects);
    }

    /// Clients may free a lock of the library that they get hold of. They do not wait for objects of the
    /// class.
    fn forget_given(&mut self, frame: &Frame) {
        let shared = self.explorer.shared;
        let mut objects = ObjectSet::default();
        for object in shared.found.of(Holder::Pool).iter() {
            let lock = behind(shared.found, object);
            if shared.explicit.contains(lock) {
                objects.insert(lock);
            }
        }
        self.forget_all(frame, &objects);
    }

    fn forget_all(&mut self, frame: &Frame, objects: &ObjectSet) {
        if objects.is_empty() {
            return;
        }
        let (context, held) = (self.context, frame.held.clone());
        for explicit in [false, true] {
            self.explorer.freed_elsewhere(Freed {
                context,
                held: held.clone(),
                objects: objects.clone(),
                explicit,
                name: None,
                by_anybody: true,
            });
        }
    }

    /// Whether unknown code can change what a token stands for: an array, or an object from outside.
    pub(super) fn holds_something(&self, token: &JavaToken) -> bool {
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

    /// Where the thread is after a call that may start the other one or wait for its end.
    pub(super) fn next_phase(&self, frame: &Frame, effect: Effect) -> StartPhase {
        let mask = self.masked.then(|| self.explorer.threads[0].mask.as_ref()).flatten();
        let Some(mask) = mask else { return frame.phase };
        let is_assumed = mask.trusts && mask.assumed.contains(&(self.method, frame.at));
        match effect.control {
            Some(Control::SubmitsAll) if is_assumed => {
                let meets = frame.phase == StartPhase::Parallel;
                if meets { StartPhase::Parallel } else { StartPhase::After }
            }
            Some(one)
                if (one == Control::Starts || one.submits())
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
                if untimed && mask.ends.is_some() && set.only() == mask.ends {
                    StartPhase::After
                } else {
                    frame.phase
                }
            }
            _ => frame.phase,
        }
    }
}
