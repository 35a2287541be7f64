//! # Idea
//! One thread in one context. Sets of states are kept by point of control and by the context in
//! which the running activation was entered (0 for the first activation of main), relative to that
//! entry:
//!
//! - `reached`: `(P, a; I_{e+1}..I_k, O_e..O_{k-1}; C, l)`. An activation that was entered in context
//!   `e` with shared values `P` and arguments `a` can be here in context `k` with shared values `C`
//!   and locals `l`, if the contexts `e+1..k` begin with `I` and those before `k` end with `O`.
//! - `entries`: `(I_1..I_e, O_1..O_{e-1}; P, a)`. The histories with which a procedure is entered.
//! - `summaries`: like `reached`, at the return, with results in place of locals.
//!
//! Relative sets do not repeat the history before the entry at every point of a procedure; it is
//! joined where it is needed: once per procedure and context, when the next context begins.
//!
//! # Source
//! Paper 001 Fig. 5: rules R'1, R'2, R'3, R'7 are the saturation, R8 and R9 the seeds, R11 the
//! effect. For one thread and one context these are the rules of Fig. 3: R0', R1 to R3, R7 and R8 if
//! procedures are explored for the entries that calls bring, R0 to R6 if for all ([`Summarised`]).
//! Deviation: the paper's `H` carries the whole history in every tuple.
//!
//! # Invariants
//! 1. After a stage, everything for entries up to its context is complete: later stages only add
//!    sets for later contexts.

use super::control::Point;
use super::frame::RuleParts;
use super::space::Bdd;
use super::steps::{Routine, SetEffect};
use selvedge_bdd::Exhausted;
use selvedge_program::{NodeId, Program, Target, ThreadId};
use std::collections::BTreeSet;

/// Sets by the context of the entry.
type ByEntry = Vec<Bdd>;

/// Under which condition a point counts, if it does.
type At<'a> = &'a dyn Fn(&Routine, usize) -> Result<Option<Bdd>, Exhausted>;

/// For which entries procedures are explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Summarised {
    /// Those that calls bring (R7 of Fig. 3).
    Calls,
    /// All (R0 of Fig. 3); which of them are real is known from the histories of entries (R4 to R6).
    Everything,
}

/// The reached states, calls, entries and summaries of one thread.
pub(super) struct ThreadStages {
    pub(super) routines: Vec<Routine>,
    /// The calls of each body, as body and branch.
    callers: Vec<Vec<(usize, usize)>>,
    /// In the latest context, by body, entry and point.
    reached: Vec<Vec<Vec<Bdd>>>,
    /// By body, branch, entry and context of the call: the post-states of calls, with the arguments.
    calls: Vec<Vec<Vec<ByEntry>>>,
    /// By body and context.
    entries: Vec<ByEntry>,
}

/// The work of one stage.
struct Stage<'s> {
    frame: &'s RuleParts,
    context: usize,
    /// By body, entry and point: the reached states whose images were not computed yet.
    fresh: Vec<Vec<Vec<Bdd>>>,
    /// Bodies of procedures that are called come first, then points in their order.
    queue: BTreeSet<(std::cmp::Reverse<usize>, usize, usize)>,
    /// By body and entry: the summaries that end in this context.
    summaries: Vec<ByEntry>,
    /// By body: the entry states of this context, without their history.
    entered: Vec<Bdd>,
    /// The cube of the caller's variables that are not part of the callee's entry state.
    behind: Bdd,
    /// By body and entry: the allowed inputs, over the variables that the activation can see.
    allowed: Vec<ByEntry>,
}

impl ThreadStages {
    pub(super) fn new(frame: &RuleParts, routines: Vec<Routine>) -> Self {
        let mut callers = vec![Vec::new(); routines.len()];
        for (body, routine) in routines.iter().enumerate() {
            for (branch, step) in routine.steps.iter().enumerate() {
                if let SetEffect::Call { callee, .. } = step.effect {
                    callers[callee].push((body, branch));
                }
            }
        }
        let calls = routines.iter().map(|routine| vec![Vec::new(); routine.steps.len()]).collect();
        // Nothing is entered in context 0 but the first activation.
        let nowhere =
            |routine: &Routine| vec![vec![frame.space.bottom(); routine.body.points.len()]];
        let reached = routines.iter().map(nowhere).collect();
        let entries = vec![vec![frame.space.bottom()]; routines.len()];
        Self { routines, callers, reached, calls, entries }
    }

    /// Saturates the next context, whose number is `context`, for inputs within `allowed`, a
    /// relation `(I_1..I_k, O_1..O_{k-1})`.
    pub(super) fn advance(
        &mut self,
        frame: &RuleParts,
        context: usize,
        allowed: &Bdd,
        summarised: Summarised,
    ) -> Result<(), Exhausted> {
        let space = &frame.space;
        let bodies = self.routines.len();
        let empty = vec![space.bottom(); context + 1];
        let mut behind = frame.moments(1..=context, |turn| turn.input);
        behind.extend(frame.moments(1..=context - 1, |turn| turn.output));
        let behind = space.and(&space.cube(behind)?, &space.and(&frame.entry, &frame.locals)?)?;
        let mut stage = Stage {
            frame,
            behind,
            context,
            fresh: Vec::new(),
            queue: BTreeSet::new(),
            summaries: vec![empty; bodies],
            entered: vec![space.bottom(); bodies],
            allowed: Vec::new(),
        };
        for body in 0..bodies {
            let mut by_entry = Vec::new();
            for entry in 0..context {
                by_entry.push(self.allowed(frame, body, entry, allowed)?);
            }
            by_entry.push(space.top());
            stage.allowed.push(by_entry);
        }
        let before = std::mem::take(&mut self.reached);
        for routine in &self.routines {
            let points = vec![space.bottom(); routine.body.points.len()];
            stage.fresh.push(vec![points.clone(); context + 1]);
            self.reached.push(vec![points; context + 1]);
        }
        for calls in self.calls.iter_mut().flatten() {
            calls.resize(context + 1, Vec::new());
            for by_context in calls {
                by_context.resize(context + 1, space.bottom());
            }
        }
        let resume = frame.resume(context)?;
        if context == 1 {
            let start = space.and(allowed, &resume)?;
            let entry = self.routines[0].body.entry;
            self.add(&mut stage, 0, 0, entry, &start)?;
        } else {
            self.seed(&mut stage, &before, &resume)?;
        }
        drop(before);
        if summarised == Summarised::Everything {
            for callee in 1..bodies {
                self.begin(&mut stage, callee, &space.top())?;
            }
        }
        self.saturate(&mut stage)?;
        self.record_entries(frame, context)
    }

    /// The allowed inputs, projected to the contexts since the entry of an activation.
    fn allowed(
        &self,
        frame: &RuleParts,
        body: usize,
        entry: usize,
        allowed: &Bdd,
    ) -> Result<Bdd, Exhausted> {
        if body == 0 {
            return Ok(if entry == 0 { allowed.clone() } else { frame.space.bottom() });
        }
        let mut history = frame.moments(1..=entry, |turn| turn.input);
        history.extend(frame.moments(1..=entry.saturating_sub(1), |turn| turn.output));
        let history = frame.space.cube(history)?;
        frame.space.and_exists(&self.entries[body][entry], allowed, &history)
    }

    /// The states at the end of the previous context, with the shared bits of the next input (R8, R9).
    fn seed(
        &mut self,
        stage: &mut Stage<'_>,
        before: &[Vec<Vec<Bdd>>],
        resume: &Bdd,
    ) -> Result<(), Exhausted> {
        let frame = stage.frame;
        let space = &frame.space;
        let (freeze, now) = frame.freeze(stage.context - 1)?;
        for (body, by_entry) in before.iter().enumerate() {
            for (entry, points) in by_entry.iter().enumerate() {
                let allowed = space.and(&stage.allowed[body][entry], resume)?;
                if space.is_bottom(&allowed) {
                    continue;
                }
                for (point, set) in points.iter().enumerate() {
                    if !self.routines[body].body.switch[point] || space.is_bottom(set) {
                        continue;
                    }
                    let frozen = space.and_exists(&frame.leave(set)?, &freeze, &now)?;
                    self.add(stage, body, entry, point, &space.and(&frozen, &allowed)?)?;
                }
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        stage: &mut Stage<'_>,
        body: usize,
        entry: usize,
        point: usize,
        set: &Bdd,
    ) -> Result<(), Exhausted> {
        let space = &stage.frame.space;
        let new = space.extend(&mut self.reached[body][entry][point], set)?;
        if !space.is_bottom(&new) {
            let fresh = &mut stage.fresh[body][entry][point];
            *fresh = space.or(fresh, &new)?;
            stage.queue.insert((std::cmp::Reverse(body), point, entry));
        }
        Ok(())
    }

    fn saturate(&mut self, stage: &mut Stage<'_>) -> Result<(), Exhausted> {
        let space = &stage.frame.space;
        while let Some((std::cmp::Reverse(body), point, entry)) = stage.queue.pop_first() {
            space.check()?;
            let set = std::mem::replace(&mut stage.fresh[body][entry][point], space.bottom());
            for branch in self.routines[body].body.from(point) {
                let effect = self.routines[body].steps[branch].effect.clone();
                match effect {
                    SetEffect::Go { target, image } => {
                        let image = image.of(space, &set)?;
                        self.add(stage, body, entry, target, &image)?;
                    }
                    SetEffect::Call { callee, image, target, back } => {
                        let image = image.of(space, &set)?;
                        let known = &mut self.calls[body][branch][entry][stage.context];
                        let new = space.extend(known, &image)?;
                        if space.is_bottom(&new) {
                            continue;
                        }
                        self.enter(stage, callee, &new)?;
                        let summary = stage.summaries[callee][stage.context].clone();
                        let returned = stage.frame.apply_summary(&new, &summary)?;
                        let returned = back.of(space, &returned)?;
                        self.add(stage, body, entry, target, &returned)?;
                    }
                    SetEffect::Return { image } => {
                        let image = image.of(space, &set)?;
                        let new = space.extend(&mut stage.summaries[body][entry], &image)?;
                        if !space.is_bottom(&new) {
                            self.give_back(stage, body, entry, &new)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds the entry states that callers pass to a procedure (R'7).
    fn enter(&mut self, stage: &mut Stage<'_>, callee: usize, call: &Bdd) -> Result<(), Exhausted> {
        let frame = stage.frame;
        let space = &frame.space;
        let rest = space.rename(&space.exists(call, &stage.behind)?, frame.enter)?;
        self.begin(stage, callee, &rest)
    }

    /// Adds entry states of a procedure: shared bits and arguments.
    fn begin(
        &mut self,
        stage: &mut Stage<'_>,
        callee: usize,
        entered: &Bdd,
    ) -> Result<(), Exhausted> {
        let frame = stage.frame;
        let space = &frame.space;
        let new = space.extend(&mut stage.entered[callee], entered)?;
        if space.is_bottom(&new) {
            return Ok(());
        }
        let begins = &self.routines[callee].begins;
        let set = space.and(&space.and(&new, &frame.entered)?, begins)?;
        let entry = self.routines[callee].body.entry;
        self.add(stage, callee, stage.context, entry, &set)
    }

    /// Applies a summary at all calls of its procedure (R'2).
    fn give_back(
        &mut self,
        stage: &mut Stage<'_>,
        callee: usize,
        called: usize,
        summary: &Bdd,
    ) -> Result<(), Exhausted> {
        let space = &stage.frame.space;
        for at in 0..self.callers[callee].len() {
            let (body, branch) = self.callers[callee][at];
            let step = self.routines[body].steps[branch].effect.clone();
            let SetEffect::Call { target, back, .. } = step else { continue };
            for entry in 0..=called {
                let call = &self.calls[body][branch][entry][called];
                if space.is_bottom(call) {
                    continue;
                }
                let returned = stage.frame.apply_summary(call, summary)?;
                let returned = back.of(space, &returned)?;
                let returned = space.and(&returned, &stage.allowed[body][entry])?;
                self.add(stage, body, entry, target, &returned)?;
            }
        }
        Ok(())
    }

    /// Joins calls of this context with the histories of their callers.
    fn record_entries(&mut self, frame: &RuleParts, context: usize) -> Result<(), Exhausted> {
        let space = &frame.space;
        for entries in &mut self.entries {
            entries.push(space.bottom());
        }
        let mut queue = BTreeSet::new();
        let mut fresh = vec![space.bottom(); self.routines.len()];
        for caller in 0..self.routines.len() {
            for entry in 0..context {
                let history = self.entries[caller][entry].clone();
                let history = Some(&history).filter(|_| caller > 0);
                self.extend_entries(
                    frame, context, caller, entry, history, &mut fresh, &mut queue,
                )?;
            }
        }
        while let Some(caller) = queue.pop_first() {
            let history = std::mem::replace(&mut fresh[caller], space.bottom());
            self.extend_entries(
                frame,
                context,
                caller,
                context,
                Some(&history),
                &mut fresh,
                &mut queue,
            )?;
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "the state of a small fixpoint")]
    fn extend_entries(
        &mut self,
        frame: &RuleParts,
        context: usize,
        caller: usize,
        entry: usize,
        history: Option<&Bdd>,
        fresh: &mut [Bdd],
        queue: &mut BTreeSet<usize>,
    ) -> Result<(), Exhausted> {
        let space = &frame.space;
        for (branch, step) in self.routines[caller].steps.iter().enumerate() {
            let SetEffect::Call { callee, .. } = step.effect else { continue };
            let call = &self.calls[caller][branch][entry][context];
            if space.is_bottom(call) {
                continue;
            }
            let call = space.exists(call, &frame.locals)?;
            let entered = match history {
                Some(history) => {
                    space.product(history, &call, frame.same, &frame.entry, frame.enter)?
                }
                None => space.rename(&call, frame.enter)?,
            };
            let new = space.extend(&mut self.entries[callee][context], &entered)?;
            if !space.is_bottom(&new) {
                fresh[callee] = space.or(&fresh[callee], &new)?;
                queue.insert(callee);
            }
        }
        Ok(())
    }

    /// Joins a relation that is relative to an entry with the histories of the entry.
    fn with_history(
        &self,
        frame: &RuleParts,
        body: usize,
        entry: usize,
        set: &Bdd,
    ) -> Result<Bdd, Exhausted> {
        match body {
            0 => Ok(set.clone()),
            _ => frame.space.and_exists(&self.entries[body][entry], set, &frame.entry),
        }
    }

    /// The effect `(I_1..I_k, O_1..O_k)` of all contexts up to the latest (R11), ending at points
    /// for which `at` gives a condition.
    pub(super) fn effect(
        &self,
        frame: &RuleParts,
        context: usize,
        at: At<'_>,
    ) -> Result<Bdd, Exhausted> {
        let space = &frame.space;
        let mut effect = space.bottom();
        for (body, by_entry) in self.reached.iter().enumerate() {
            for (entry, points) in by_entry.iter().enumerate() {
                let mut ends = space.bottom();
                for (point, set) in points.iter().enumerate() {
                    if space.is_bottom(set) {
                        continue;
                    }
                    let Some(condition) = at(&self.routines[body], point)? else { continue };
                    let set = space.and_exists(set, &condition, &frame.locals)?;
                    ends = space.or(&ends, &frame.leave(&set)?)?;
                }
                let ends = self.with_history(frame, body, entry, &ends)?;
                effect = space.or(&effect, &ends)?;
            }
        }
        let output = frame.moment(context, |turn| turn.output);
        let pairs = output.map(|(bit, var)| (bit.value.now, var)).collect();
        space.rename(&effect, space.renaming(pairs)?)
    }

    /// The histories `(I_1..I_k, O_1..O_{k-1})` with which the latest context meets the target.
    pub(super) fn violations(
        &self,
        frame: &RuleParts,
        program: &Program,
        target: &Target,
    ) -> Result<Bdd, Exhausted> {
        let space = &frame.space;
        let mut cube = frame.now.clone();
        cube = space.and(&cube, &frame.locals)?;
        let mut result = space.bottom();
        for (body, by_entry) in self.reached.iter().enumerate() {
            let routine = &self.routines[body];
            for (entry, points) in by_entry.iter().enumerate() {
                let mut found = space.bottom();
                for (point, set) in points.iter().enumerate() {
                    if space.is_bottom(set) {
                        continue;
                    }
                    for condition in meets(frame, program, target, routine, point) {
                        let set = space.and_exists(set, &condition, &cube)?;
                        found = space.or(&found, &set)?;
                    }
                }
                let found = self.with_history(frame, body, entry, &found)?;
                result = space.or(&result, &found)?;
            }
        }
        Ok(result)
    }
}

/// The conditions under which a thread at a point meets a target that concerns one thread.
pub(super) fn meets(
    frame: &RuleParts,
    program: &Program,
    target: &Target,
    routine: &Routine,
    point: usize,
) -> Vec<Bdd> {
    let steps = &routine.steps[routine.body.from(point)];
    match target {
        Target::Assertion => steps.iter().filter_map(|step| step.failure.clone()).collect(),
        Target::Label(nodes) => {
            let here =
                matches!(routine.body.points[point], Point::Node(node) if nodes.contains(&node));
            let mut conditions: Vec<Bdd> = here.then(|| frame.space.top()).into_iter().collect();
            // A thread that is started is at its entry at once.
            let labelled = |thread: ThreadId| nodes.contains(&entry_of(program, thread));
            let starts = steps.iter().filter_map(|step| step.start.as_ref());
            conditions.extend(
                starts.filter(|(thread, _)| labelled(*thread)).map(|(_, domain)| domain.clone()),
            );
            conditions
        }
        Target::State(_) => Vec::new(),
    }
}

/// Where a thread begins.
pub(super) fn entry_of(program: &Program, thread: ThreadId) -> NodeId {
    program.procedures[program.threads[thread].main].entry
}
