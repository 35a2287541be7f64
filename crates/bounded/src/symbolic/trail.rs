//! # Idea
//! The run of one thread for inputs and outputs that are known: a second, small search, in which the
//! shared states at all switches are constants. Every increment of a set remembers the step and the
//! increment that it comes from, so an element of it has a predecessor there; walking back from the
//! end of the run to its beginning meets each step once. A call that has returned is walked through
//! from its return to its entry, with the caller on a stack of continuations.
//!
//! # Source
//! Paper 001 leaves witnesses open. Increments with their origins are the layers of a symbolic
//! breadth-first search, here with summaries.
//!
//! # Requires
//! The thread can do what is asked: the larger search has found it.
//!
//! # Invariants
//! 1. The origin of an increment is an earlier increment, and every element has a predecessor there.
//! 2. Neither locals are forgotten nor switches saved here, so that every step has all values.

use super::control::{Point, ThreadBodies};
use super::draft::{Assignment, pick};
use super::frame::RuleParts;
use super::layout::Bit;
use super::space::Bdd;
use super::steps::{Routine, SetEffect, routines};
use super::tuples::stands;
use selvedge_bdd::{BddManager, Exhausted, Var};
use selvedge_program::{Move, Position, Program, Target, ThreadId, Valuation};
use std::collections::{BTreeMap, VecDeque};

/// The inputs and outputs of a thread's contexts, by bit that crosses switches.
#[derive(Clone, Debug, Default)]
pub(super) struct Interface {
    /// The shared states before the contexts.
    pub(super) inputs: Vec<Vec<bool>>,
    /// The shared states after them; that of the last one may be missing.
    pub(super) outputs: Vec<Vec<bool>>,
    /// Whether the thread may move in a context.
    pub(super) active: Vec<bool>,
}

/// Where the run of a thread has to end, in its last context.
#[derive(Clone, Copy)]
pub(super) enum RunEnd<'a> {
    /// At a position, with the last output.
    Leave(&'a Position),
    /// Where it meets a target of its own.
    Meet(&'a Target),
}

/// A step of a thread.
#[derive(Clone, Debug)]
pub(super) struct TrailStep {
    /// The context that it belongs to, from 1.
    pub(super) context: usize,
    pub(super) step: Move,
    pub(super) globals: Valuation,
    pub(super) locals: Valuation,
}

/// The run of a thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Trail {
    /// The locals of main at first; `None` if the thread has not moved since it was started.
    pub(super) locals: Option<Valuation>,
    pub(super) steps: Vec<TrailStep>,
    /// The last step is an assertion that fails.
    pub(super) fails: bool,
}

/// Why there is no run.
pub(super) enum NoTrail {
    /// A limit was met.
    Stopped(Exhausted),
    /// It is longer than the limit.
    TooLong,
    /// There is none.
    Missing,
}

impl From<Exhausted> for NoTrail {
    fn from(error: Exhausted) -> Self {
        Self::Stopped(error)
    }
}

/// Where a set belongs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Place {
    body: usize,
    /// The context in which the activation was entered.
    entered: usize,
    context: usize,
    point: usize,
}

/// How the elements of an increment came about.
#[derive(Clone, Copy, Debug)]
enum IncrementReason {
    Start,
    Step { branch: usize, from: usize },
    Switch { from: usize },
    Enter { call: usize },
    Return { call: usize, summary: usize },
}

struct Increment {
    place: Place,
    set: Bdd,
    origin: IncrementReason,
}

/// Post-states of a call, with arguments; or exit states, with results.
struct Crossing {
    from: usize,
    branch: usize,
    set: Bdd,
}

/// The search for the run of one thread.
pub(super) struct TrailSearch<'a> {
    frame: &'a RuleParts,
    program: &'a Program,
    thread: ThreadId,
    routines: Vec<Routine>,
    interface: &'a Interface,
    goal: RunEnd<'a>,
    known: BTreeMap<Place, Bdd>,
    increments: Vec<Increment>,
    queue: VecDeque<usize>,
    calls: Vec<Crossing>,
    /// By called body and context of the call.
    calls_of: BTreeMap<(usize, usize), Vec<usize>>,
    summaries: Vec<Crossing>,
    /// By body and context of its entry.
    summaries_of: BTreeMap<(usize, usize), Vec<usize>>,
    /// By body, context of its entry and of its return.
    returned: BTreeMap<(usize, usize, usize), Bdd>,
    entries: BTreeMap<(usize, usize), Bdd>,
}

/// Finds the run of a thread with at most `limit` steps.
pub(super) fn find_trail(
    frame: &RuleParts,
    program: &Program,
    thread: ThreadId,
    control: &ThreadBodies,
    interface: &Interface,
    goal: RunEnd<'_>,
    limit: usize,
) -> Result<Trail, NoTrail> {
    let mut search = TrailSearch {
        frame,
        program,
        thread,
        routines: routines(&frame.space, &frame.layout, program, thread, control)?,
        interface,
        goal,
        known: BTreeMap::new(),
        increments: Vec::new(),
        queue: VecDeque::new(),
        calls: Vec::new(),
        calls_of: BTreeMap::new(),
        summaries: Vec::new(),
        summaries_of: BTreeMap::new(),
        returned: BTreeMap::new(),
        entries: BTreeMap::new(),
    };
    let (end, state, last) = search.explore()?.ok_or(NoTrail::Missing)?;
    search.walk_back(end, &state, last, limit)
}

impl TrailSearch<'_> {
    /// Searches until the goal is met: the increment, an element of it, and the step that fails.
    fn explore(&mut self) -> Result<Option<(usize, Assignment, Option<Move>)>, Exhausted> {
        let frame = self.frame;
        let space = &frame.space;
        let point = self.routines[0].body.entry;
        let start = self.at(&self.interface.inputs[0])?;
        self.add(Place { body: 0, entered: 0, context: 1, point }, &start, IncrementReason::Start)?;
        while let Some(at) = self.queue.pop_front() {
            space.check()?;
            let Place { body, context, point, .. } = self.increments[at].place;
            if let Some((state, last)) = self.is_goal(at)? {
                return Ok(Some((at, state, last)));
            }
            if let (Some(output), Some(input)) =
                (self.interface.outputs.get(context - 1), self.interface.inputs.get(context))
            {
                let left = space.and(&self.increments[at].set, &self.at(output)?)?;
                let left = space.exists(&left, &frame.now)?;
                let resumed = space.and(&left, &self.at(input)?)?;
                let place = Place { context: context + 1, ..self.increments[at].place };
                self.add(place, &resumed, IncrementReason::Switch { from: at })?;
            }
            if self.interface.active[context - 1] {
                for branch in self.routines[body].body.from(point) {
                    self.step(at, branch)?;
                }
            }
        }
        Ok(None)
    }

    /// The constraint that the shared bits of the pre-state have these values and no section is open.
    fn at(&self, values: &[bool]) -> Result<Bdd, Exhausted> {
        let space = &self.frame.space;
        let crossing = self.frame.layout.crossing().map(|bit| bit.value.now);
        let literals: Vec<(Var, bool)> = crossing.zip(values.iter().copied()).collect();
        space.and(&space.manager.conjunction(&literals)?, &self.frame.outside)
    }

    fn add(&mut self, place: Place, set: &Bdd, origin: IncrementReason) -> Result<(), Exhausted> {
        let space = &self.frame.space;
        let known = self.known.entry(place).or_insert_with(|| space.bottom());
        let new = space.extend(known, set)?;
        if !space.is_bottom(&new) {
            self.queue.push_back(self.increments.len());
            self.increments.push(Increment { place, set: new, origin });
        }
        Ok(())
    }

    fn step(&mut self, at: usize, branch: usize) -> Result<(), Exhausted> {
        let frame = self.frame;
        let space = &frame.space;
        let place = self.increments[at].place;
        let set = self.increments[at].set.clone();
        let effect = self.routines[place.body].steps[branch].effect.clone();
        match effect {
            SetEffect::Go { target, image } => {
                let image = image.of(space, &set)?;
                let place = Place { point: target, ..place };
                self.add(place, &image, IncrementReason::Step { branch, from: at })
            }
            SetEffect::Call { callee, image, .. } => {
                let set = image.of(space, &set)?;
                if space.is_bottom(&set) {
                    return Ok(());
                }
                let call = self.calls.len();
                self.calls.push(Crossing { from: at, branch, set: set.clone() });
                self.calls_of.entry((callee, place.context)).or_default().push(call);
                let hidden = space.and(&frame.entry, &frame.locals)?;
                let entry = space.rename(&space.exists(&set, &hidden)?, frame.enter)?;
                let key = (callee, place.context);
                let known = self.entries.entry(key).or_insert_with(|| space.bottom());
                let new = space.extend(known, &entry)?;
                let begins = &self.routines[callee].begins;
                let begun = space.and(&space.and(&new, &frame.entered)?, begins)?;
                let entry = Place {
                    body: callee,
                    entered: place.context,
                    context: place.context,
                    point: self.routines[callee].body.entry,
                };
                self.add(entry, &begun, IncrementReason::Enter { call })?;
                for summary in self.summaries_of.get(&key).cloned().unwrap_or_default() {
                    self.give_back(call, summary)?;
                }
                Ok(())
            }
            SetEffect::Return { image } => {
                let image = image.of(space, &set)?;
                let key = (place.body, place.entered, place.context);
                let known = self.returned.entry(key).or_insert_with(|| space.bottom());
                let new = space.extend(known, &image)?;
                if space.is_bottom(&new) {
                    return Ok(());
                }
                let summary = self.summaries.len();
                self.summaries.push(Crossing { from: at, branch, set: new });
                let key = (place.body, place.entered);
                self.summaries_of.entry(key).or_default().push(summary);
                for call in self.calls_of.get(&key).cloned().unwrap_or_default() {
                    self.give_back(call, summary)?;
                }
                Ok(())
            }
        }
    }

    fn give_back(&mut self, call: usize, summary: usize) -> Result<(), Exhausted> {
        let space = &self.frame.space;
        let (called, returned) = (&self.calls[call], &self.summaries[summary]);
        let place = self.increments[called.from].place;
        let context = self.increments[returned.from].place.context;
        let step = &self.routines[place.body].steps[called.branch].effect;
        let SetEffect::Call { target, back, .. } = step else { return Ok(()) };
        let set = back.of(space, &self.frame.apply_summary(&called.set, &returned.set)?)?;
        let place = Place { context, point: *target, ..place };
        self.add(place, &set, IncrementReason::Return { call, summary })
    }

    /// An element of an increment that meets the goal, with the step that fails.
    fn is_goal(&self, at: usize) -> Result<Option<(Assignment, Option<Move>)>, Exhausted> {
        let Increment { place, set, origin } = &self.increments[at];
        if place.context != self.interface.inputs.len() {
            return Ok(None);
        }
        let frame = self.frame;
        let space = &frame.space;
        let routine = &self.routines[place.body];
        match self.goal {
            RunEnd::Leave(position) => {
                let Some(output) = self.interface.outputs.last() else { return Ok(None) };
                let stands =
                    stands(frame, self.program, self.thread, position, routine, place.point)?;
                let Some(condition) = stands else { return Ok(None) };
                let set = space.and(set, &space.and(&condition, &self.at(output)?)?)?;
                Ok(pick(space, &set, &[])?.map(|state| (state, None)))
            }
            RunEnd::Meet(Target::Assertion) => {
                for branch in routine.body.from(place.point) {
                    if let Some(failure) = &routine.steps[branch].failure {
                        let state = pick(space, &space.and(set, failure)?, &[])?;
                        if let Some(state) = state {
                            return Ok(Some((state, routine.body.branches[branch].step)));
                        }
                    }
                }
                Ok(None)
            }
            RunEnd::Meet(Target::Label(nodes)) => {
                let mut here = matches!(routine.body.points[place.point], Point::Node(node) if nodes.contains(&node));
                if let IncrementReason::Step { branch, .. } = *origin {
                    let entry = |thread| super::stage::entry_of(self.program, thread);
                    let start = &routine.steps[branch].start;
                    here |=
                        start.as_ref().is_some_and(|(thread, _)| nodes.contains(&entry(*thread)));
                }
                Ok(if here { pick(space, set, &[])?.map(|state| (state, None)) } else { None })
            }
            RunEnd::Meet(Target::State(_)) => Ok(None),
        }
    }

    /// Walks from an element of an increment back to the beginning.
    fn walk_back(
        &self,
        end: usize,
        state: &Assignment,
        last: Option<Move>,
        limit: usize,
    ) -> Result<Trail, NoTrail> {
        let space = &self.frame.space;
        let mut trail = Trail { locals: None, steps: Vec::new(), fails: last.is_some() };
        let (mut at, mut state) = (end, self.complete(end, state));
        if let Some(step) = last {
            trail.steps.push(self.record(at, &state, step));
        }
        // Calls that have returned after where the walk is, with the state right after the call.
        let mut open: Vec<(usize, Assignment)> = Vec::new();
        loop {
            space.check()?;
            if trail.steps.len() > limit {
                return Err(NoTrail::TooLong);
            }
            let Increment { place, origin, .. } = &self.increments[at];
            let routine = &self.routines[place.body];
            let (before, set, image) = match *origin {
                IncrementReason::Start => {
                    if matches!(routine.body.points[place.point], Point::Node(_)) {
                        trail.locals = Some(self.locals(place.body, &state));
                    }
                    break;
                }
                IncrementReason::Switch { from } => {
                    let output = &self.interface.outputs[place.context - 2];
                    let crossing = self.frame.layout.crossing().map(|bit| bit.value.now);
                    state.extend(crossing.zip(output.iter().copied()));
                    at = from;
                    continue;
                }
                IncrementReason::Step { branch, from } => {
                    match routine.body.branches[branch].step {
                        Some(step) => trail.steps.push(self.record(at, &state, step)),
                        None => trail.locals = Some(self.locals(place.body, &state)),
                    }
                    let SetEffect::Go { image, .. } = &routine.steps[branch].effect else {
                        return Err(NoTrail::Missing);
                    };
                    (from, &self.increments[from].set, image)
                }
                IncrementReason::Enter { call } => {
                    let (call, after) = match open.pop() {
                        Some(open) => open,
                        None => (call, self.call_state(call, &state)?),
                    };
                    let from = self.calls[call].from;
                    let caller = &self.routines[self.increments[from].place.body];
                    let branch = self.calls[call].branch;
                    if let Some(step) = caller.body.branches[branch].step {
                        trail.steps.push(self.record(at, &state, step));
                    }
                    let SetEffect::Call { image, .. } = &caller.steps[branch].effect else {
                        return Err(NoTrail::Missing);
                    };
                    state = after;
                    (from, &self.increments[from].set, image)
                }
                IncrementReason::Return { call, summary } => {
                    let returned = &self.summaries[summary];
                    let callee = &self.routines[self.increments[returned.from].place.body];
                    if let Some(step) = callee.body.branches[returned.branch].step {
                        trail.steps.push(self.record(at, &state, step));
                    }
                    let (after_call, at_return) = self.split(call, summary, &state)?;
                    open.push((call, after_call));
                    let SetEffect::Return { image } = &callee.steps[returned.branch].effect else {
                        return Err(NoTrail::Missing);
                    };
                    state = at_return;
                    (returned.from, &self.increments[returned.from].set, image)
                }
            };
            let source = image.before(space, set, &state)?.ok_or(NoTrail::Missing)?;
            at = before;
            state = self.complete(at, &source);
        }
        trail.steps.reverse();
        Ok(trail)
    }

    /// The values of all variables of a place; those that do not matter are false.
    fn complete(&self, at: usize, values: &Assignment) -> Assignment {
        let layout = &self.frame.layout;
        let place = self.increments[at].place;
        let routine = &self.routines[place.body];
        let mut vars: Vec<Var> = layout.shared.iter().map(|bit| bit.value.now).collect();
        if place.body > 0 {
            vars.extend(layout.shared.iter().map(|bit| bit.entry));
            let frame = &self.program.procedures[routine.body.procedure].frame;
            vars.extend(layout.locals[..frame.parameters].iter().map(|local| local.entry));
        }
        let live = routine.body.live[place.point].iter().zip(&layout.locals);
        vars.extend(live.filter(|(live, _)| **live).map(|(_, local)| local.value.now));
        vars.into_iter().map(|var| (var, values.get(&var).copied().unwrap_or(false))).collect()
    }

    /// The post-state of a call whose callee has this entry state.
    fn call_state(&self, call: usize, begun: &Assignment) -> Result<Assignment, NoTrail> {
        let layout = &self.frame.layout;
        let mut fixed: Vec<(Var, bool)> =
            layout.shared.iter().map(|bit| (bit.value.now, begun[&bit.entry])).collect();
        let arguments = layout.locals.iter();
        fixed.extend(
            arguments.filter_map(|local| Some((local.argument, *begun.get(&local.entry)?))),
        );
        let set = &self.calls[call].set;
        let found = pick(&self.frame.space, set, &fixed)?.ok_or(NoTrail::Missing)?;
        Ok(self.after_call(call, &found))
    }

    /// The values of the post-state of a call, with the arguments.
    fn after_call(&self, call: usize, values: &Assignment) -> Assignment {
        let layout = &self.frame.layout;
        let from = self.calls[call].from;
        let mut state = self.complete(from, values);
        let step = &self.routines[self.increments[from].place.body].steps[self.calls[call].branch];
        if let SetEffect::Call { callee, .. } = step.effect {
            let callee = self.routines[callee].body.procedure;
            let parameters = self.program.procedures[callee].frame.parameters;
            for local in &layout.locals[..parameters] {
                state.insert(local.argument, values.get(&local.argument).copied().unwrap_or(false));
            }
        }
        state
    }

    /// The post-state of a call and the exit state of its callee, with results, for a state behind the
    /// return.
    fn split(
        &self,
        call: usize,
        summary: usize,
        state: &Assignment,
    ) -> Result<(Assignment, Assignment), NoTrail> {
        let (frame, layout) = (self.frame, &self.frame.layout);
        let space = &frame.space;
        let (called, returned) = (&self.calls[call], &self.summaries[summary]);
        let from = self.increments[called.from].place;
        let step = &self.routines[from.body].steps[called.branch].effect;
        let SetEffect::Call { back, .. } = step else { return Err(NoTrail::Missing) };
        let both = frame.apply_summary(&called.set, &returned.set)?;
        let joined = back.before(space, &both, state)?.ok_or(NoTrail::Missing)?;
        let value = |var: Var| joined.get(&var).copied().unwrap_or(false);
        // The frame condition of the caller: its locals and its entry state are as after the return;
        // the shared bits are free.
        let shared_now = |var: &Var| layout.shared.iter().any(|bit| bit.value.now == *var);
        let result = |var: &Var| layout.locals.iter().any(|local| local.result == *var);
        let mut fixed: Vec<(Var, bool)> = joined
            .iter()
            .filter(|(var, _)| !shared_now(var) && !result(var))
            .map(|(&var, &value)| (var, value))
            .collect();
        fixed.extend(layout.shared.iter().map(|bit| (bit.value.next, value(bit.value.now))));
        let procedure = self.routines[self.increments[returned.from].place.body].body.procedure;
        let results = self.program.procedures[procedure].frame.results.len();
        let results = &layout.locals[..results];
        fixed.extend(results.iter().map(|local| (local.result, value(local.result))));
        let open = frame.join_summary(&called.set, &returned.set)?;
        let found = pick(space, &open, &fixed)?.ok_or(NoTrail::Missing)?;
        let after_call = self.after_call(call, &found);
        let mut at_return: Assignment = BTreeMap::new();
        for bit in &layout.shared {
            at_return.insert(bit.entry, after_call[&bit.value.now]);
            at_return.insert(bit.value.now, value(bit.value.now));
        }
        let parameters = self.program.procedures[procedure].frame.parameters;
        for local in &layout.locals[..parameters] {
            at_return.insert(local.entry, after_call[&local.argument]);
        }
        for local in results {
            at_return.insert(local.result, value(local.result));
        }
        Ok((after_call, at_return))
    }

    fn record(&self, at: usize, state: &Assignment, step: Move) -> TrailStep {
        let place = self.increments[at].place;
        let layout = &self.frame.layout;
        let globals = layout.shared.iter().filter(|bit| matches!(bit.bit, Bit::Global(_)));
        let globals = Valuation::of_bits(globals.map(|bit| state[&bit.value.now]));
        let at_node = matches!(self.routines[place.body].body.points[place.point], Point::Node(_));
        let locals = if at_node { self.locals(place.body, state) } else { Valuation::default() };
        TrailStep { context: place.context, step, globals, locals }
    }

    fn locals(&self, body: usize, state: &Assignment) -> Valuation {
        let procedure = self.routines[body].body.procedure;
        let locals = self.program.procedures[procedure].frame.locals.len();
        let locals = self.frame.layout.locals[..locals].iter();
        Valuation::of_bits(
            locals.map(|local| state.get(&local.value.now).copied().unwrap_or(false)),
        )
    }
}
