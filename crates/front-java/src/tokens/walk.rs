//! The execution of one method on tokens: its frames, edges and ends.

use super::{
    Base, CallOutcome, FRAMES, Frame, JavaSubject, JavaToken, ModelEdge, ModelFacts, ModelGoal,
    NODES, StartPhase, Step, Unit, Walk,
};
use crate::class::{At, JavaKind};
use crate::client::CLIENT;
use crate::frames::{Definition, apply};
use crate::names::kinds_of_method;
use crate::points_to::{Holder, Site};
use crate::world::ClassId;
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
        self.push(ModelEdge { source: 0, steps, goal: ModelGoal::Node(goal), at: first });
    }

    /// Whether the method is a unit of work: not private, made by no compiler, declared in the class of the
    /// object, above or below it or in their nest, neither a constructor nor what a thread begins with. It ends
    /// where threads are started or waited for or something may take long, and another one begins behind that.
    fn is_unit(&self) -> bool {
        let ModelFacts { world, found, declared, .. } = self.explorer.shared;
        let of = world.of(self.method);
        let name = world.names.text(of.name);
        if self.explorer.is_about_locks() {
            return false;
        }
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
            JavaSubject::Statics(class) => Some(class),
            subject => subject.asked().and_then(|object| {
                found.objects[object].class.or(match found.objects[object].site {
                    Site::New(method, ..) => Some(method.class),
                    _ => None,
                })
            }),
        };
        let Some(class) = class else { return false };
        if declared.callers {
            return true;
        }
        // Around it or within it; or beside it, and bound to an object of what is around both.
        let nest = |one: ClassId, other: ClassId| {
            let text = |class: ClassId| world.names.text(world.classes[class].name);
            let within = |inner: &str, outer: &str| {
                inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('$'))
            };
            let first = |class: ClassId| text(class).split('$').next().unwrap_or_default();
            let is_bound = world.classes[one].fields.iter().any(|field| {
                let name = world.names.text(field.name);
                name.starts_with("this$") && !field.access.is_static()
            });
            within(text(one), text(other))
                || within(text(other), text(one))
                || (is_bound && first(one) == first(other))
        };
        let related = |one: ClassId, other: ClassId| {
            world.line(one).0.contains(&other) || world.interfaces(one).0.contains(&other)
        };
        let own = self.method.class;
        related(class, own) || related(own, class) || nest(own, class)
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

    fn node(&mut self, mut frame: Frame) -> usize {
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
    pub(super) fn is_client(&self) -> bool {
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
    pub(super) fn has_regions(&self) -> bool {
        !self.explorer.is_about_locks()
            && !self.explorer.shared.declared.not_units.contains(&self.method)
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
}
