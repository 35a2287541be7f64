//! # Idea
//! A thread as one flat graph: a procedure has a copy of its own for every call string that leads to
//! it, and the locals of the open activations have places by their depth. A location then says
//! everything about the stack, and every step, calls and returns included, is one relation.
//!
//! Recursion is unrolled to a limit. A call beyond it is no step but a condition, under which the
//! graph is too small for the program.
//!
//! # Invariants
//! 1. The locals of a place that is not in use are free in every set: a return forgets them.

use super::control::{Branch, Point, ThreadBodies, Way};
use super::draft::{Draft, Image, Scope};
use super::layout::{Bit, Pair, VariableLayout};
use super::space::{Bdd, Diagrams};
use super::values::Values;
use selvedge_base::Id;
use selvedge_bdd::{Exhausted, Var};
use selvedge_program::{Action, LocalId, Program, ThreadId, Variable};

/// How deep calls are unrolled.
const MOST_OPEN_CALLS: usize = 64;

/// A copy of a procedure.
#[derive(Clone, Debug)]
struct Copy {
    body: usize,
    /// The copy that calls it, and the call.
    caller: Option<(usize, usize)>,
    depth: usize,
    /// The location of its first point.
    first: usize,
}

/// The shape of an inlined thread.
#[derive(Clone, Debug)]
pub(super) struct Inlining {
    copies: Vec<Copy>,
    /// By copy and branch: the copy that is called.
    callees: Vec<Vec<Option<usize>>>,
    /// The locations where contexts can end.
    stops: Vec<usize>,
    /// By depth: how many locals a copy has at most.
    frames: Vec<usize>,
}

/// A step between locations.
#[derive(Clone, Debug)]
pub(super) struct Hop {
    pub(super) target: usize,
    pub(super) image: Image,
    /// The pre-states in which an assertion fails.
    pub(super) failure: Option<Bdd>,
    /// The thread that it starts, and the pre-states in which it does.
    pub(super) start: Option<(ThreadId, Bdd)>,
}

/// A location with its steps.
#[derive(Clone, Debug)]
pub(super) struct FlatLocation {
    pub(super) point: Point,
    /// Whether a context can end here.
    pub(super) switch: bool,
    pub(super) hops: Vec<Hop>,
    /// How many calls are open.
    pub(super) depth: usize,
    /// The pre-states of a call that is not unrolled any more.
    pub(super) overflow: Option<Bdd>,
    /// The locals of all open activations whose values matter, where contexts of counted copies can end.
    pub(super) kept: Vec<Var>,
}

/// An inlined thread.
#[derive(Clone, Debug)]
pub(super) struct Flat {
    pub(super) locations: Vec<FlatLocation>,
    pub(super) entry: usize,
    /// The locations where contexts can end; only these are numbered in the sets.
    pub(super) stops: Vec<usize>,
    /// The bits of the number of a stop, the highest first.
    pub(super) counter: Vec<Var>,
    /// All its locals.
    pub(super) locals: Vec<Pair>,
}

impl Inlining {
    /// The copies of a thread's procedures, with about `limit` locations at most; `None` if that is
    /// not enough for a thread without recursion.
    pub(super) fn new(control: &ThreadBodies, program: &Program, limit: usize) -> Option<Self> {
        let mut copies = vec![Copy { body: 0, caller: None, depth: 0, first: 0 }];
        let mut callees = Vec::new();
        let mut locations = 0;
        let mut stops = Vec::new();
        let mut planned = control.bodies[0].points.len();
        let mut frames: Vec<usize> = Vec::new();
        while callees.len() < copies.len() {
            let at = callees.len();
            let body = &control.bodies[copies[at].body];
            let depth = copies[at].depth;
            copies[at].first = locations;
            stops.extend(
                (0..body.points.len()).filter(|&at| body.switch[at]).map(|at| locations + at),
            );
            locations += body.points.len();
            frames.resize(frames.len().max(depth + 1), 0);
            let locals = program.procedures[body.procedure].frame.locals.len();
            frames[depth] = frames[depth].max(locals);
            let mut called = Vec::new();
            for (branch, step) in body.branches.iter().enumerate() {
                let Way::Call { callee, .. } = step.way else {
                    called.push(None);
                    continue;
                };
                planned += control.bodies[callee].points.len();
                let beyond = planned > limit || depth >= MOST_OPEN_CALLS;
                if beyond && !control.recursive {
                    return None;
                }
                called.push((!beyond).then(|| {
                    let caller = Some((at, branch));
                    copies.push(Copy { body: callee, caller, depth: depth + 1, first: 0 });
                    copies.len() - 1
                }));
            }
            callees.push(called);
        }
        Some(Self { copies, callees, stops, frames })
    }

    /// How many variables it needs.
    pub(super) fn variables(&self) -> usize {
        self.width() + 2 * self.frames.iter().sum::<usize>()
    }

    fn width(&self) -> usize {
        (usize::BITS - self.stops.len().saturating_sub(1).leading_zeros()) as usize
    }

    /// How many slots copies of it need: its stops with all values of the locals that matter there.
    pub(super) fn slots(&self, control: &ThreadBodies, program: &Program) -> usize {
        let mut slots = 0usize;
        for (at, copy) in self.copies.iter().enumerate() {
            let switches = &control.bodies[copy.body].switch;
            for point in (0..switches.len()).filter(|&point| switches[point]) {
                let kept = self.kept(control, program, at, point).len() as u32;
                slots = slots.saturating_add(1usize.checked_shl(kept).unwrap_or(usize::MAX));
            }
        }
        slots
    }

    /// The locals, by depth and number, whose values matter at a point of a copy.
    fn kept(
        &self,
        control: &ThreadBodies,
        program: &Program,
        copy: usize,
        point: usize,
    ) -> Vec<(usize, usize)> {
        let mut kept = Vec::new();
        let mut assigned: &[Option<Variable>] = &[];
        let (mut at, mut point) = (copy, point);
        loop {
            let Copy { body, caller, depth, .. } = self.copies[at];
            let live = control.bodies[body].live[point].iter().enumerate();
            let lost =
                |local| assigned.contains(&Some(Variable::Local(LocalId::from_index(local))));
            let live = live.filter(|&(local, &live)| live && !lost(local));
            kept.extend(live.map(|(local, _)| (depth, local)));
            let Some((outer, call)) = caller else { return kept };
            let Copy { body: outer_body, .. } = self.copies[outer];
            let call = &control.bodies[outer_body].branches[call];
            let Way::Call { target, .. } = call.way else { unreachable!("calls have copies") };
            assigned = call.passed_results(program);
            (at, point) = (outer, target);
        }
    }

    /// The thread with its relations; its variables begin at `first`. Whether it was started is not
    /// looked at if it stands for copies that are `counted`.
    #[expect(clippy::too_many_arguments, reason = "what a thread consists of")]
    pub(super) fn build(
        &self,
        space: &Diagrams,
        layout: &VariableLayout,
        program: &Program,
        thread: ThreadId,
        control: &ThreadBodies,
        first: usize,
        counted: bool,
    ) -> Result<Flat, Exhausted> {
        let mut next = first;
        let mut var = || {
            next += 1;
            Var::from_index(next - 1)
        };
        let counter: Vec<Var> = (0..self.width()).map(|_| var()).collect();
        let mut frames: Vec<Vec<Pair>> = Vec::new();
        for &locals in &self.frames {
            frames.push((0..locals).map(|_| Pair { now: var(), next: var() }).collect());
        }
        let builder =
            Builder { inlining: self, space, layout, program, thread, control, frames, counted };
        let mut locations = Vec::new();
        for at in 0..self.copies.len() {
            let body = &control.bodies[self.copies[at].body];
            for (point, &kind) in body.points.iter().enumerate() {
                let mut hops = Vec::new();
                let mut overflow: Option<Bdd> = None;
                for branch in body.from(point) {
                    let calls = matches!(body.branches[branch].way, Way::Call { .. });
                    if calls && self.callees[at][branch].is_none() {
                        let domain = builder.scope(at).draft(&body.branches[branch])?.domain()?;
                        let before = overflow.unwrap_or_else(|| space.bottom());
                        overflow = Some(space.or(&before, &domain)?);
                    } else {
                        hops.push(builder.hop(at, branch)?);
                    }
                }
                let (switch, depth) = (body.switch[point], self.copies[at].depth);
                let mut kept = Vec::new();
                if counted && switch {
                    kept = self.kept(control, program, at, point);
                }
                let kept = kept.into_iter();
                let kept = kept.map(|(depth, local)| builder.frames[depth][local].now).collect();
                locations.push(FlatLocation { point: kind, switch, hops, depth, overflow, kept });
            }
        }
        let entry = control.bodies[0].entry;
        let stops = self.stops.clone();
        Ok(Flat { locations, entry, stops, counter, locals: builder.frames.concat() })
    }
}

struct Builder<'a> {
    inlining: &'a Inlining,
    space: &'a Diagrams,
    layout: &'a VariableLayout,
    program: &'a Program,
    thread: ThreadId,
    control: &'a ThreadBodies,
    /// By depth.
    frames: Vec<Vec<Pair>>,
    /// Whether it stands for copies that are counted.
    counted: bool,
}

impl Builder<'_> {
    fn scope(&self, copy: usize) -> Scope<'_> {
        let Copy { body, depth, .. } = self.inlining.copies[copy];
        let procedure = self.control.bodies[body].procedure;
        let locals = self.program.procedures[procedure].frame.locals.len();
        Scope {
            space: self.space,
            layout: self.layout,
            program: self.program,
            procedure,
            locals: &self.frames[depth][..locals],
        }
    }

    fn lives(&self, copy: usize, point: usize, local: LocalId) -> bool {
        self.control.bodies[self.inlining.copies[copy].body].live[point][local.index()]
    }

    fn hop(&self, copy: usize, branch: usize) -> Result<Hop, Exhausted> {
        let number = branch;
        let body = &self.control.bodies[self.inlining.copies[copy].body];
        let branch = &body.branches[branch];
        let scope = self.scope(copy);
        let first = self.inlining.copies[copy].first;
        let mut draft = match branch.step {
            Some(_) => scope.draft(branch)?,
            None => self.first_moment(&scope, branch)?,
        };
        let mut start = None;
        if let Some(Action::Start(thread)) = scope.edge(branch).map(|edge| edge.action) {
            start = Some((thread, draft.domain()?));
        }
        let target = match branch.way {
            Way::Go(target) => {
                if branch.step.is_some() && body.points[target] != Point::Ended {
                    scope.enforce_after(&mut draft)?;
                }
                scope.forget(&mut draft, |local| self.lives(copy, target, local))?;
                first + target
            }
            Way::Call { target, .. } => {
                let Some(callee) = self.inlining.callees[copy][number] else {
                    unreachable!("calls have copies")
                };
                self.call(&scope, &mut draft, branch, copy, callee, target)?
            }
            Way::Return => {
                let Some((caller, call)) = self.inlining.copies[copy].caller else {
                    unreachable!("the first activation ends")
                };
                self.give_back(&scope, &mut draft, branch, caller, call)?
            }
        };
        let failure = scope.failure(branch)?;
        Ok(Hop { target, image: draft.finish()?, failure, start })
    }

    fn call(
        &self,
        scope: &Scope<'_>,
        draft: &mut Draft<'_>,
        branch: &Branch,
        copy: usize,
        callee: usize,
        target: usize,
    ) -> Result<usize, Exhausted> {
        let inner = self.scope(callee);
        let entry = self.control.bodies[self.inlining.copies[callee].body].entry;
        for (at, argument) in scope.arguments(branch).iter().enumerate() {
            draft.write(inner.locals[at], &scope.values(argument)?)?;
        }
        inner.enforce_after(draft)?;
        let results = scope.results(branch);
        let assigned = |local| results.contains(&Some(Variable::Local(local)));
        scope.forget(draft, |local| self.lives(copy, target, local) && !assigned(local))?;
        inner.forget(draft, |local| self.lives(callee, entry, local))?;
        Ok(self.inlining.copies[callee].first + entry)
    }

    fn give_back(
        &self,
        scope: &Scope<'_>,
        draft: &mut Draft<'_>,
        branch: &Branch,
        caller: usize,
        call: usize,
    ) -> Result<usize, Exhausted> {
        let outer = self.scope(caller);
        let call = &self.control.bodies[self.inlining.copies[caller].body].branches[call];
        let Way::Call { target, .. } = call.way else { unreachable!("calls have copies") };
        let values = scope.returned(branch);
        let any = Values { yes: self.space.top(), no: self.space.top() };
        for (at, result) in outer.results(call).iter().enumerate() {
            let Some(result) = result else { continue };
            let value = match values.get(at) {
                Some(value) => scope.values(value)?,
                None => any.clone(),
            };
            draft.write(outer.pair(*result), &value)?;
        }
        scope.forget(draft, |_| false)?;
        outer.enforce_after(draft)?;
        outer.forget(draft, |local| self.lives(caller, target, local))?;
        Ok(self.inlining.copies[caller].first + target)
    }

    /// A thread that was started takes its arguments and is at its entry.
    fn first_moment<'s>(&self, scope: &Scope<'s>, branch: &Branch) -> Result<Draft<'s>, Exhausted> {
        let mut draft = scope.empty();
        if !self.counted {
            let started = self.layout.find(Bit::Started(self.thread)).value.now;
            draft.restrict(&self.space.literal(started, true)?)?;
        }
        let Way::Go(target) = branch.way else { unreachable!("the first moment is in main") };
        let parameters = self.program.procedures[scope.procedure].frame.parameters;
        let live = (0..parameters).filter(|&at| self.lives(0, target, LocalId::from_index(at)));
        let passed = live.map(|at| {
            let passed = self.layout.find(Bit::Passed(self.thread, at)).value.now;
            (passed, scope.locals[at].now)
        });
        draft.restrict(&self.space.equal(&passed.collect::<Vec<_>>())?)?;
        Ok(draft)
    }
}
