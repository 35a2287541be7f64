//! Calls on tokens: of methods of the program, and of whatever code outside calls.

use super::explorer::LOOKED_AT_FOR_CALLBACK;
use super::{
    CallOutcome, Context, Frame, HELD, JavaToken, LockKey, ModelEdge, ModelFacts, ModelGoal, Step,
    Unit, Walk,
};
use crate::class::{At, InvokeKind, JavaInstruction};
use crate::facts::initialisers_of;
use crate::frames::Definition;
use crate::library::{Control, Effect, Gives};
use crate::points_to::{ObjectId, Site};
use crate::world::MemberId;
use selvedge_base::Id;
use std::collections::{BTreeMap, BTreeSet};

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
        self.explorer.looked_at += invocation.size();
        let instruction = &self.body.instructions[frame.at.index()];
        let has_receiver =
            matches!(instruction, JavaInstruction::Invoke(how, _) if *how != InvokeKind::Static);
        // What is captured, or given to code that may keep it, is known to others from then on.
        let keeps = matches!(instruction, JavaInstruction::InvokeDynamic(..))
            || invocation.unknown
            || invocation.callees.methods().any(|(_, direct)| !direct)
            || invocation.library.values().flatten().any(|one| {
                matches!(one.control, Some(Control::Starts | Control::Runs))
                    || one.control.is_some_and(Control::submits)
            });
        let stores = invocation.library.values().flatten().any(|one| one.stores || one.adds);
        // Code outside may give back what is stored in itself, or a copy that has it.
        let gives = matches!(instruction, JavaInstruction::Invoke(_, member)
            if [")L", ")["].iter().any(|one| shared.world.names.text(member.descriptor).contains(one)));
        let holds_itself =
            |one: ObjectId| shared.holds.get(&one).is_some_and(|all| all.contains(&one));
        // What gives back what it is given, or something of its own, gives nothing that another holds.
        let gives_held = |effect: Option<Effect>| {
            let given =
                |one: Effect| matches!(one.gives, Gives::Passed | Gives::Receiver | Gives::Fresh);
            !effect.is_some_and(given)
        };
        let gives_itself = gives
            && invocation.library.values().any(gives_held)
            && operands.contains(&JavaToken::Fresh)
            && self.explorer.object.is_some_and(holds_itself);
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
        // What is called back gets what is passed and what the receiver holds, and not the receiver, unless it
        // is that which is called.
        let called_back = !invocation.callbacks.is_empty()
            && (passed.iter().any(Self::is_fresh)
                || !has_receiver
                || shared.found.for_client
                || self
                    .explorer
                    .object
                    .is_none_or(|one| shared.found.objects[one].class.is_some()));
        let keeps = keeps || called_back;
        let keeps = keeps || gives_itself || (stores && passed.iter().any(Self::is_fresh));
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
            })
            && ((self.frames.handlers[frame.at].is_empty() && !shared.frees_unheld)
                || operands.first().is_some_and(|token| self.is_held(frame, token)));
        let only_joins = !invocation.library.is_empty()
            && invocation.callees.is_empty()
            && invocation
                .library
                .values()
                .all(|effect| effect.is_some_and(|effect| effect.control == Some(Control::Joins)));
        // Who frees a lock that it holds does so, and nobody looks at who fails otherwise; who waits for a thread
        // goes on only if that has ended, or somebody interrupts it.
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
            self.throw_unless_interrupted(source, &thrown, &[], !invocation.callees.is_empty());
        }
        let receiver = operands.first().filter(|_| has_receiver);
        let fits = |object: Option<ObjectId>| self.fits(receiver, object);
        // With whether clients could call it for each of the receivers.
        let mut reached = BTreeMap::new();
        for (callee, receivers) in invocation.callees.groups() {
            // Functions are called by whatever they are handed to.
            let is_direct = callee.1;
            let mut own = receivers.iter().filter(|&one| !is_direct || fits(one)).peekable();
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
        // All of which the model shows nothing are one.
        let mut skipped = false;
        for ((method, direct), open) in reached {
            if by_client && direct && open {
                self.note_clients(source, frame);
                continue;
            }
            if !self.explorer.relevant.contains(&method) {
                if shared.calling_out.contains(&method) {
                    self.call_clients(source, frame);
                }
                if !skipped && (direct || invocation.library.is_empty()) {
                    self.skip(source, frame, operands)?;
                    skipped = true;
                }
                continue;
            }
            if direct {
                self.call(source, frame, method, operands.to_vec(), Some(true))?;
            } else {
                let is_called_here = invocation.library.is_empty();
                // Code outside calls it any number of times before it does what it does.
                let result = is_called_here.then_some(false);
                for mut tokens in self.explorer.called_tokens(None, method) {
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
                self.explorer.looked_at += shared.found.callbacks.len();
            }
        }
        self.explorer.looked_at += LOOKED_AT_FOR_CALLBACK * callbacks.len();
        // What code outside calls on others that clients have is theirs, too, and so is what all objects have.
        for (object, method) in callbacks {
            let name = shared.world.names.text(shared.world.of(method).name);
            let others = object.is_some_and(|one| Some(one) != self.explorer.object);
            let of_all = object.is_some() && ["equals", "hashCode", "toString"].contains(&name);
            let open = shared.found.callbacks.contains(object, method);
            if own && open && (others || of_all) {
                self.note_clients(source, frame);
                continue;
            }
            for tokens in self.explorer.called_tokens(object, method) {
                let others = object.is_some() && tokens.first() == Some(&JavaToken::Other);
                if own && open && others {
                    self.note_clients(source, frame);
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
                self.note_clients(source, frame);
            }
            self.library(source, frame, operands, has_receiver, object, effect)?;
        }
        Some(())
    }

    /// Clients are called, and call whatever they may. What they do then is not part of a unit of work of the
    /// class, so it is nothing that they could not do by themselves, with fewer locks held; but for the locks
    /// that they free by waiting. A unit that holds no lock ends there.
    fn call_clients(&mut self, source: usize, frame: &Frame) {
        self.note_clients(source, frame);
        if frame.unit != Unit::None && frame.monitors == 0 {
            self.edge(source, frame.at, vec![Step::End, Step::Begin], frame.clone());
        }
    }

    /// What is held here may be freed by what clients call. A lock of which that is known is given up here for
    /// a while, if this method took it last and once.
    fn note_clients(&mut self, source: usize, frame: &Frame) {
        let mut held: BTreeSet<LockKey> = frame.held.iter().cloned().collect();
        if let Some(last) = frame.held.last()
            && self.explorer.given_up.contains(last)
            && frame.held.iter().filter(|one| *one == last).count() == 1
        {
            held.remove(last);
            self.explorer.waits.insert((self.context, last.clone()));
            let steps = vec![Step::Release(last.clone()), Step::Acquire(last.clone())];
            self.edge(source, frame.at, steps, frame.clone());
        }
        self.explorer.clients_held.entry(self.context).or_default().extend(held);
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
    pub(super) fn throw_unless_interrupted(
        &mut self,
        source: usize,
        frame: &Frame,
        steps: &[Step],
        own: bool,
    ) {
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
        self.throw_past(source, frame, steps, &skipped);
    }

    /// Whether a receiver with this token can be this object.
    fn fits(&self, receiver: Option<&JavaToken>, object: Option<ObjectId>) -> bool {
        let (Some(token), Some(object)) = (receiver, object) else { return true };
        let ModelFacts { facts, .. } = self.explorer.shared;
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
                !is_subject && !self.explorer.is_named(object)
            }
        }
    }

    /// A call of which the model shows nothing.
    fn skip(&mut self, source: usize, frame: &Frame, operands: &[JavaToken]) -> Option<()> {
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

    /// Whether the second thread runs the method.
    pub(super) fn is_second(&self) -> bool {
        self.explorer.model.contexts[self.context].second
    }
}
