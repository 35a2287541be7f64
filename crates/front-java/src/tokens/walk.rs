//! The execution of one method on tokens, instruction by instruction.

use super::{
    Base, CallOutcome, DEPTH, FRAMES, Frame, Freed, HELD, JavaSubject, JavaToken, LocationKey,
    LockKey, LockName, ModelEdge, ModelFacts, ModelGoal, NODES, StartPhase, Step, Unit, Walk,
};
use crate::class::{
    At, BranchCondition, Comparison, FieldAccess, JavaConstant, JavaInstruction, JavaKind,
};
use crate::client::CLIENT;
use crate::facts::{entry_initialisers, triggered};
use crate::frames::{Definition, apply};
use crate::names::kinds_of_method;
use crate::points_to::{Holder, ObjectId, ObjectSet, Site};
use crate::world::{ClassId, MemberId, Resolution};
use selvedge_base::Id;
use std::collections::BTreeMap;
use std::rc::Rc;

impl Walk<'_, '_, '_> {
    pub(super) fn begin(&mut self, tokens: &[JavaToken], phase: StartPhase) {
        let shared = self.explorer.shared;
        let of = shared.world.of(self.method);
        let kinds =
            kinds_of_method(shared.world.names.text(of.descriptor)).map_or(Vec::new(), |one| one.0);
        let this = (!of.access.is_static()).then_some(JavaKind::Reference);
        let mut locals = Vec::new();
        for (kind, token) in this.into_iter().chain(kinds).zip(tokens) {
            locals.push(token.clone());
            if kind.width() == 2 {
                locals.push(JavaToken::Other);
            }
        }
        locals.resize(usize::from(self.body.max_locals), JavaToken::Other);
        let mut steps = Vec::new();
        let mut unit = Unit::None;
        if self.is_unit() {
            steps.push(Step::Begin);
            unit = Unit::Method;
        }
        let mut held = Vec::new();
        let regions = self.has_regions();
        if let Some(key) = self.own_lock() {
            if unit == Unit::None && !key.explicit && regions {
                steps.push(Step::Begin);
                unit = Unit::Region;
            }
            steps.push(Step::Acquire(key.clone()));
            held.push(key);
        } else if of.access.is_synchronized() && unit == Unit::None && regions {
            steps.push(Step::Begin);
            unit = Unit::Region;
        }
        let monitors = u8::from(of.access.is_synchronized());
        let first = At::from_index(0);
        if unit == Unit::None && self.pass_at(first) == Some(first) {
            steps.push(Step::Pass);
            unit = Unit::Pass;
        }
        let frame = Frame {
            at: first,
            stack: Vec::new(),
            locals,
            held,
            freed: Vec::new(),
            monitors,
            unit,
            phase,
            published: false,
            memo: BTreeMap::new(),
        };
        self.graph.nodes = 1;
        let goal = self.node(frame);
        self.graph.edges.push(ModelEdge {
            source: 0,
            steps,
            goal: ModelGoal::Node(goal),
            at: first,
        });
    }

    /// The lock of a synchronized method, or of the initialiser of a class.
    pub(super) fn own_lock(&self) -> Option<LockKey> {
        let of = self.explorer.shared.world.of(self.method);
        // Whoever initialises a class keeps others from doing it.
        let initialises = self.explorer.shared.world.names.text(of.name) == "<clinit>";
        if initialises {
            let key = LockKey { name: LockName::Class(self.method.class), explicit: true };
            return (!self.explorer.model.dropped.contains(&key)).then_some(key);
        }
        if !of.access.is_synchronized() {
            return None;
        }
        if of.access.is_static() {
            let key = LockKey { name: LockName::Class(self.method.class), explicit: false };
            return (!self.explorer.model.dropped.contains(&key)).then_some(key);
        }
        self.explorer.key(self.this.as_ref()?, false)
    }

    /// Whether the method is a unit of work: not private, made by no compiler, declared in the class of the
    /// object, above or below it or in their nest, neither a constructor nor what a thread begins with. It ends
    /// where threads are started or waited for or something may take long, and another one begins behind that.
    pub(super) fn is_unit(&self) -> bool {
        let ModelFacts { world, found, declared, .. } = self.explorer.shared;
        let of = world.of(self.method);
        let name = world.names.text(of.name);
        if declared.not_units.contains(&self.method) || declared.units.contains(&self.method) {
            return !declared.not_units.contains(&self.method);
        }
        if of.access.is_private()
            || of.access.is_synthetic()
            || name.starts_with('<')
            || name.starts_with("lambda$")
            || found.kinds.iter().any(|kind| kind.entry == Some(self.method))
            || self.is_task()
        {
            return false;
        }
        let class = match self.explorer.subject {
            JavaSubject::Locks(_) => None,
            JavaSubject::Statics(class) => Some(class),
            JavaSubject::Object(object) => {
                found.objects[object].class.or(match found.objects[object].site {
                    Site::New(method, ..) => Some(method.class),
                    _ => None,
                })
            }
        };
        let Some(class) = class else { return false };
        if declared.callers {
            return true;
        }
        let nest = |class: ClassId| {
            let name = world.names.text(world.classes[class].name);
            name.split('$').next().unwrap_or(name).to_owned()
        };
        let related = |one: ClassId, other: ClassId| {
            world.line(one).0.contains(&other) || world.interfaces(one).0.contains(&other)
        };
        let own = self.method.class;
        related(class, own) || related(own, class) || nest(class) == nest(own)
    }

    /// Whether code outside runs the method as a task, which is what a thread begins with.
    fn is_task(&self) -> bool {
        let ModelFacts { world, found, .. } = self.explorer.shared;
        let of = world.of(self.method);
        let is_run = ["run", "call", "compute", "exec"].contains(&world.names.text(of.name));
        is_run
            && !found.for_client
            && world.names.text(of.descriptor).starts_with("()")
            && found.callbacks.has(self.method)
    }

    pub(super) fn node(&mut self, mut frame: Frame) -> usize {
        for local in 0..frame.locals.len() {
            if !self.frames.is_live(frame.at, local) {
                frame.locals[local] = JavaToken::Other;
            }
        }
        if let Some(&known) = self.numbers.get(&frame) {
            return known;
        }
        let number = self.graph.nodes;
        self.graph.nodes += 1;
        let count = self.per_instruction.entry(frame.at).or_default();
        *count += 1;
        if *count > FRAMES || self.graph.nodes > NODES {
            self.explorer.model.cut = true;
        }
        self.numbers.insert(frame.clone(), number);
        self.open.push((number, frame));
        number
    }

    pub(super) fn run(&mut self) {
        while let Some((source, frame)) = self.open.pop() {
            if self.explorer.model.cut {
                return;
            }
            // A unit in which the other thread is started or joined goes on while that runs.
            self.silent = frame.phase != StartPhase::Parallel && !self.is_in_unit(&frame);
            if self.execute(source, &frame).is_none() {
                self.explorer.model.cut = true;
            }
        }
    }

    /// Whether a client does this by itself: what clients do to each other is theirs.
    fn is_client(&self) -> bool {
        let ModelFacts { world, .. } = self.explorer.shared;
        world.names.text(world.classes[self.method.class].name) == CLIENT
    }

    /// Whether nobody else can have the object yet.
    pub(super) fn is_quiet(&self) -> bool {
        self.explorer.model.contexts[self.context].quiet
    }

    /// Whether a unit is open that a start or a join may lie in.
    pub(super) fn is_in_unit(&self, frame: &Frame) -> bool {
        let own = frame.unit != Unit::None
            && self.explorer.shared.blocking.contains(&self.method)
            && (frame.monitors > 0 || self.explorer.unsplit.contains(&self.method));
        self.masked && (own || self.in_unit)
    }

    /// What happens where a thread is started or waited for or something may take long: the unit of the method
    /// ends before it and begins again behind it, if no lock is held.
    pub(super) fn around(&mut self, frame: &Frame, steps: &[Step]) -> Vec<Step> {
        match frame.unit {
            Unit::Method if frame.monitors == 0 && !self.is_declared() => {
                [&[Step::End][..], steps, &[Step::Begin]].concat()
            }
            Unit::Pass if frame.monitors == 0 => [&[Step::End][..], steps, &[Step::Pass]].concat(),
            Unit::Method | Unit::Pass => {
                self.explorer.unsplit.insert(self.method);
                steps.to_vec()
            }
            Unit::Region | Unit::None => steps.to_vec(),
        }
    }

    /// Whether somebody says that the method is a unit, whatever it does.
    fn is_declared(&self) -> bool {
        self.explorer.shared.declared.units.contains(&self.method)
    }

    /// Whether what is under a lock in the method is a unit.
    fn has_regions(&self) -> bool {
        !self.explorer.shared.declared.not_units.contains(&self.method)
    }

    /// Where the loop begins whose passes are units and that an instruction lies in.
    fn pass_at(&self, at: At) -> Option<At> {
        self.passes.as_ref().and_then(|passes| passes.entry(at))
    }

    pub(super) fn edge(&mut self, source: usize, at: At, mut steps: Vec<Step>, mut frame: Frame) {
        let (from, to) = (self.pass_at(at), self.pass_at(frame.at));
        let again = to == Some(frame.at) && at != frame.at;
        if frame.unit == Unit::Pass && (from != to || again) {
            steps.push(Step::End);
            frame.unit = Unit::None;
        }
        if frame.unit == Unit::None && again {
            steps.push(Step::Pass);
            frame.unit = Unit::Pass;
        }
        let goal = ModelGoal::Node(self.node(frame));
        self.push(ModelEdge { source, steps, goal, at });
    }

    pub(super) fn push(&mut self, mut edge: ModelEdge) {
        // What happens while the other thread does not run cannot get in its way.
        if self.explorer.is_about_locks() {
            edge.steps.retain(|step| {
                matches!(step, Step::Acquire(_) | Step::Release(_) | Step::Call(..))
            });
        } else if self.silent || self.is_quiet() {
            edge.steps.retain(|step| !matches!(step, Step::Read(..) | Step::Write(..)));
        }
        self.graph.edges.push(edge);
    }

    /// Leaves the method.
    pub(super) fn leave(
        &mut self,
        source: usize,
        frame: &Frame,
        steps: Vec<Step>,
        thrown: bool,
        token: JavaToken,
    ) {
        let mut last = Vec::new();
        let (mut held, mut freed) = (frame.held.clone(), frame.freed.clone());
        let mut left = !self.explorer.model.roots.iter().flatten().any(|one| *one == self.context);
        if let Some(own) = self.own_lock()
            && held.first() == Some(&own)
        {
            held.remove(0);
            last.push(Step::Release(own));
            left = false;
        }
        // What is still held is left to the caller, if it is no monitor and was taken last; or for ever, if the
        // thread ends.
        let unnested = !left && !held.is_empty() && freed.is_empty() && !self.explorer.nested;
        if !(left || unnested) || held.iter().any(|key| !key.explicit) {
            self.explorer.model.dropped.extend(held.drain(..).chain(freed.drain(..)));
        } else if unnested {
            self.explorer.model.unnested = true;
        }
        if frame.unit != Unit::None {
            last.push(Step::End);
        }
        let is_left = self.has_values() || !matches!(token, JavaToken::Number(_));
        let token = if is_left { token } else { JavaToken::Other };
        let outcome = CallOutcome {
            thrown,
            token,
            phase: frame.phase,
            published: frame.published,
            freed,
            taken: held,
        };
        self.graph.outcomes.insert(outcome.clone());
        if !thrown {
            let steps = [steps, last].concat();
            self.push(ModelEdge { source, steps, goal: ModelGoal::Exit(outcome), at: frame.at });
            return;
        }
        // Whatever fails ends the method in the same way.
        let key = (last, outcome);
        let node = self.failed.get(&key).copied().unwrap_or_else(|| {
            let node = self.graph.nodes;
            self.graph.nodes += 1;
            let (steps, goal) = (key.0.clone(), ModelGoal::Exit(key.1.clone()));
            self.push(ModelEdge { source: node, steps, goal, at: At::from_index(0) });
            self.failed.insert(key, node);
            node
        });
        self.push(ModelEdge { source, steps, goal: ModelGoal::Node(node), at: frame.at });
    }

    /// An exception at an instruction.
    pub(super) fn throw(&mut self, source: usize, frame: &Frame, steps: &[Step]) {
        self.throw_past(source, frame, steps, &[]);
    }

    /// An exception at an instruction that these handlers do not catch.
    pub(super) fn throw_past(
        &mut self,
        source: usize,
        frame: &Frame,
        steps: &[Step],
        skipped: &[At],
    ) {
        let frames = Rc::clone(&self.frames);
        for &target in frames.handlers[frame.at].iter().filter(|one| !skipped.contains(one)) {
            let set = self
                .explorer
                .shared
                .found
                .of(Holder::Value(self.method, Definition::Caught(target)));
            for token in self.explorer.fork(set) {
                let caught = Frame { at: target, stack: vec![token], ..frame.clone() };
                self.edge(source, frame.at, steps.to_vec(), caught);
            }
        }
        if frames.escapes[frame.at] {
            self.leave(source, frame, steps.to_vec(), true, JavaToken::Other);
        }
    }

    /// The object becomes known to others.
    pub(super) fn publish(frame: &mut Frame) {
        let mut found = false;
        let slots = frame.stack.iter_mut().chain(&mut frame.locals);
        for token in slots.chain(frame.memo.values_mut()) {
            match token {
                JavaToken::Fresh => *token = JavaToken::Isolated,
                JavaToken::Part(base @ Base::Fresh, _) => *base = Base::Isolated,
                _ => continue,
            }
            found = true;
        }
        frame.published |= found;
    }

    pub(super) fn is_fresh(token: &JavaToken) -> bool {
        matches!(token, JavaToken::Fresh | JavaToken::Part(Base::Fresh, _))
    }

    /// The frame behind an instruction with this result, and the operands.
    pub(super) fn after(
        &self,
        frame: &Frame,
        result: JavaToken,
    ) -> Option<(Frame, Vec<JavaToken>)> {
        let mut next = frame.clone();
        let instruction = &self.body.instructions[frame.at.index()];
        let names = &self.explorer.shared.world.names;
        let (stack, locals) = (&mut next.stack, &mut next.locals[..]);
        let operands = apply(instruction, names, (stack, locals), &JavaToken::Other, |_| result)?;
        Some((next, operands))
    }

    /// Goes on behind an instruction.
    pub(super) fn go_on(&mut self, source: usize, steps: &[Step], next: &Frame) {
        let frames = Rc::clone(&self.frames);
        for &target in &frames.next[next.at] {
            let frame = Frame { at: target, ..next.clone() };
            self.edge(source, next.at, steps.to_vec(), frame);
        }
    }

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
            && let Some(taken) = self.is_null_branch_taken(*condition, operands.first())
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

    /// Whether the first operand of an instruction is not null: `this`, or an object with a name.
    pub(super) fn is_there(&self, at: At, token: &JavaToken) -> bool {
        let is_static = self.explorer.shared.world.of(self.method).access.is_static();
        let first = self.frames.operands[at].first();
        let is_this = first.is_some_and(|one| one[..] == [Definition::Parameter(0)]);
        (is_this && !is_static)
            || matches!(
                token,
                JavaToken::Isolated | JavaToken::Fresh | JavaToken::One(_) | JavaToken::Locked(_)
            )
    }

    /// What a cast gives: what it is given, which may be the object if only the cast says that it can be, as
    /// with constants of an enumeration that come from outside.
    fn cast(&self, at: At, token: &JavaToken) -> Vec<JavaToken> {
        let found = self.explorer.shared.found;
        let given = found.of(Holder::Value(self.method, Definition::Result(at)));
        let told = |object: ObjectId| {
            given.contains(object) && !found.operand(self.method, at, 0).contains(object)
        };
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
        let ModelFacts { found, facts, named, .. } = self.explorer.shared;
        let set = found.of(Holder::Value(self.method, Definition::Result(frame.at)));
        let Some(object) = set.only() else { return self.explorer.fork(set) };
        if Some(object) == self.explorer.object {
            let mut tokens = vec![JavaToken::Fresh];
            if !facts.single.contains(&object) {
                tokens.push(JavaToken::Other);
            }
            return tokens;
        }
        if named.contains(&object) {
            return vec![JavaToken::One(object)];
        }
        if let Some(part) = self.owned(object, frame) {
            return vec![part];
        }
        self.explorer.fork_loaded(set)
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

    pub(super) fn field(
        &mut self,
        source: usize,
        frame: &Frame,
        access: FieldAccess,
        found: Resolution<MemberId>,
        operands: &[JavaToken],
    ) -> Option<()> {
        let shared = self.explorer.shared;
        let Resolution::Found(field) = found else {
            // A field outside the program is what its object holds.
            let is_static = matches!(access, FieldAccess::GetStatic | FieldAccess::PutStatic);
            let location =
                if is_static { None } else { self.explorer.location(&operands[0], None) };
            let writes = matches!(access, FieldAccess::Put | FieldAccess::PutStatic);
            let step = location
                .map(|one| if writes { Step::Write(one, false) } else { Step::Read(one, false) });
            let steps: Vec<Step> = step.into_iter().collect();
            for token in self.result_tokens(frame.at) {
                let (mut next, _) = self.after(frame, token)?;
                if writes && operands.last().is_some_and(Self::is_fresh) {
                    Self::publish(&mut next);
                    next.published = true;
                }
                self.go_on(source, &steps, &next);
            }
            return Some(());
        };
        let of = &shared.world.classes[field.class].fields[field.number];
        let volatile = of.access.is_volatile();
        let is_reference = crate::points_to::is_reference(shared.world.names.text(of.descriptor));
        let location = match (access, self.explorer.subject) {
            (FieldAccess::GetStatic | FieldAccess::PutStatic, JavaSubject::Statics(class)) => {
                let own = shared.found.initialisers.get(&class) == Some(&self.method);
                (field.class == class && !own)
                    .then(|| LocationKey { path: Rc::from([]), field: Some(field) })
            }
            (FieldAccess::GetStatic | FieldAccess::PutStatic, _) => None,
            _ => self.explorer.location(&operands[0], Some(field)),
        };
        match access {
            FieldAccess::GetStatic | FieldAccess::Get => {
                let volatile =
                    self.is_client() || (volatile && !self.feeds_own_write(frame.at, field));
                let steps: Vec<Step> =
                    location.clone().map(|one| Step::Read(one, volatile)).into_iter().collect();
                let tokens = if !is_reference {
                    vec![self.number_of(operands.first(), field)]
                } else if access == FieldAccess::Get {
                    let holder = Holder::Value(self.method, Definition::Result(frame.at));
                    self.explorer.loaded(&operands[0], field, shared.found.of(holder))
                } else {
                    self.result_tokens(frame.at)
                };
                // Two loads of a field that is written once agree.
                let kept =
                    is_reference && access == FieldAccess::Get && self.is_kept(frame.at, field);
                let tokens = match frame.memo.get(&field) {
                    Some(known) if kept => vec![known.clone()],
                    _ => tokens,
                };
                for (steps, token) in
                    self.read_values(location.as_ref(), is_reference, &steps, tokens)
                {
                    let (mut next, _) = self.after(frame, token.clone())?;
                    if kept {
                        next.memo.insert(field, token);
                    }
                    self.go_on(source, &steps, &next);
                }
            }
            FieldAccess::PutStatic | FieldAccess::Put => {
                let volatile =
                    self.is_client() || (volatile && !self.depends_on_own_read(frame.at, field));
                let becomes = self.written_value(location.as_ref(), is_reference, operands.last());
                let write = location.map(|one| Step::Write(one, volatile));
                let steps: Vec<Step> = write.into_iter().chain(becomes).collect();
                let (mut next, _) = self.after(frame, JavaToken::Other)?;
                // Storing what the object owns in the object makes nothing known.
                let owned = matches!(operands.last(), Some(JavaToken::Part(..)))
                    && shared.facts.owning.contains(&field);
                if is_reference
                    && access == FieldAccess::Put
                    && self.is_kept(frame.at, field)
                    && let Some(token) = operands.last()
                {
                    // What has no name of its own is named by the field.
                    let part = self.explorer.part_of(&operands[0], field);
                    let unnamed = matches!(token, JavaToken::Other | JavaToken::Number(_));
                    let named = unnamed.then_some(part).flatten();
                    next.memo.insert(field, named.unwrap_or_else(|| token.clone()));
                }
                if operands.last().is_some_and(Self::is_fresh) && !owned {
                    Self::publish(&mut next);
                    next.published = true;
                }
                self.go_on(source, &steps, &next);
            }
        }
        Some(())
    }

    /// What a field of a value holds that is no reference.
    fn number_of(&self, base: Option<&JavaToken>, field: MemberId) -> JavaToken {
        let object = match base {
            Some(JavaToken::One(object)) => Some(*object),
            Some(JavaToken::Isolated | JavaToken::Fresh) => self.explorer.object,
            _ => None,
        };
        let constants = &self.explorer.shared.constants;
        let number = object.and_then(|object| constants.get(&(object, field)));
        number.map_or(JavaToken::Other, |&number| JavaToken::Number(number))
    }

    /// Whether an instruction works on a field of `this` that is written once.
    fn is_kept(&self, at: At, field: MemberId) -> bool {
        let ModelFacts { world, facts, .. } = self.explorer.shared;
        facts.write_once.contains(&field)
            && !world.of(self.method).access.is_static()
            && self.frames.operands[at]
                .first()
                .is_some_and(|one| one[..] == [Definition::Parameter(0)])
    }

    /// Whether what is written to a field depends on what was read of it in the same method: such accesses
    /// are one step to whoever wrote them, so they are not left alone because they are volatile.
    pub(super) fn depends_on_own_read(&self, at: At, field: MemberId) -> bool {
        self.reads_of(field).any(|read| self.frames.reachable_from(read)[at])
    }

    pub(super) fn feeds_own_write(&self, at: At, field: MemberId) -> bool {
        let after = self.frames.reachable_from(at);
        self.writes_of(field).any(|write| after[write])
    }

    pub(super) fn reads_of(&self, field: MemberId) -> impl Iterator<Item = At> + '_ {
        self.accesses_of(field, [FieldAccess::Get, FieldAccess::GetStatic])
    }

    pub(super) fn writes_of(&self, field: MemberId) -> impl Iterator<Item = At> + '_ {
        self.accesses_of(field, [FieldAccess::Put, FieldAccess::PutStatic])
    }

    pub(super) fn accesses_of(
        &self,
        field: MemberId,
        wanted: [FieldAccess; 2],
    ) -> impl Iterator<Item = At> + '_ {
        let world = self.explorer.shared.world;
        self.frames.next.ids().filter(move |&at| {
            matches!(
                &self.body.instructions[at.index()],
                JavaInstruction::Field(access, member)
                    if wanted.contains(access) && world.field(*member) == Resolution::Found(field)
            )
        })
    }

    /// A lock may be freed here under another name than it is held.
    pub(super) fn freed(
        &mut self,
        frame: &Frame,
        objects: ObjectSet,
        explicit: bool,
        name: Option<LockKey>,
    ) {
        let (context, held) = (self.context, frame.held.clone());
        let by_anybody = false;
        self.explorer.freed_elsewhere(Freed { context, held, objects, explicit, name, by_anybody });
    }

    /// Takes a lock, known or not, and goes on.
    pub(super) fn take(&mut self, source: usize, mut next: Frame, keys: Vec<LockKey>) {
        let mut steps = Vec::new();
        if next.unit == Unit::None && self.has_regions() {
            steps.push(Step::Begin);
            next.unit = Unit::Region;
        }
        next.monitors = next.monitors.saturating_add(1);
        for key in keys {
            if next.held.len() >= HELD {
                self.explorer.model.dropped.insert(key);
            } else {
                steps.push(Step::Acquire(key.clone()));
                next.held.push(key);
            }
        }
        self.go_on(source, &steps, &next);
    }

    /// Frees a lock, known or not, and goes on.
    pub(super) fn free(&mut self, source: usize, mut next: Frame, mut keys: Vec<LockKey>) {
        let mut steps = Vec::new();
        // The innermost first.
        while let Some(key) = keys.pop() {
            let last = next.held.last().cloned();
            if let Some(last) = last.filter(|last| *last == key || keys.contains(last)) {
                next.held.pop();
                keys.push(key);
                keys.retain(|one| *one != last);
                steps.push(Step::Release(last));
            } else if next.held.is_empty() && key.explicit && next.freed.len() < HELD {
                // It is the caller's.
                next.freed.push(key.clone());
                steps.push(Step::Release(key));
            } else if self.explorer.free_inner(&mut next.held, &key) {
                steps.push(Step::Release(key));
            } else {
                let set = self.explorer.objects_of(&key.name);
                self.freed(&next, set, key.explicit, Some(key.clone()));
                self.explorer.model.dropped.insert(key);
            }
        }
        next.monitors = next.monitors.saturating_sub(1);
        if next.monitors == 0 && next.unit == Unit::Region {
            steps.push(Step::End);
            next.unit = Unit::None;
        }
        self.go_on(source, &steps, &next);
    }
}
