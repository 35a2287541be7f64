//! # Idea
//! A witness for a temporal formula is a run with a part that repeats for ever. It is executed up to
//! the end of three rounds of that part; the round can be repeated if whatever it touches is as it was
//! when it began; the formula is then evaluated on the moments of the first round, for ever.
//!
//! A round touches, of a thread's stack, the frames from the lowest that was on top. They must be on
//! top again, in the same order and with the same values; below them the stack may have grown. A lock
//! that was held all the time may be held more often afterwards, and so with units: no event depends on
//! by how many.
//!
//! A run that does not say how it goes on must satisfy the formula whatever comes behind its steps.
//!
//! # Invariants
//! 1. Both ends of the round lie outside of every atomic section.
//! 2. The moments of the second and the third round have the same atoms as those of the first.

use crate::execute::{ReplayError, run_with};
use crate::run::{State, somebody_can_move};
use crate::temporal::atoms::{Moment, Taken};
use crate::temporal::evaluate::{evaluate, evaluate_prefix};
use selvedge_base::{Budget, IdVec};
use selvedge_program::{
    LockId, Program, Proposition, Successors, TemporalQuestion, ThreadId, Trace, Unknown, Witness,
    WitnessStep,
};

/// Executes a witness and checks that it is a run of the kind that decides the question.
pub(crate) fn replay_temporal(
    program: &Program,
    question: &TemporalQuestion,
    witness: &Witness,
    budget: &Budget,
) -> Result<Trace, ReplayError> {
    let whole = |message: &str| Err(ReplayError::whole(message.to_owned()));
    let steps = witness.steps.len();
    let goes_on = witness.repeats.is_none();
    let repeats = witness.repeats.unwrap_or(steps);
    if repeats > steps {
        return whole("the run says that it repeats from behind its end on");
    }
    if goes_on && !question.fair.is_empty() {
        return whole("the run does not say how it goes on, so it may not be fair");
    }
    if witness.fails {
        return whole("the run ends with an assertion that fails, which was not asked for");
    }
    let round = &witness.steps[repeats..];
    let mut longer = witness.clone();
    longer.steps.extend(round.iter().chain(round).cloned());
    let successors = Successors::new(program);
    let sought = question.sought();
    let atoms: Vec<Proposition> = sought.propositions().into_iter().cloned().collect();
    let looks = Looks { program, successors: &successors, atoms: &atoms, budget };
    let mut walk = Walk::new(looks, repeats, round.len());
    let (mut trace, states) = run_with(program, &longer, budget, &mut |index, states, step| {
        walk.see(index, states, Some(step));
    })?;
    walk.see(longer.steps.len(), &states, None);
    trace.steps.truncate(steps);
    let last = states.first().expect("a run ends in some state");
    let Walk { moments, begins, ends, lowest, unseen, .. } = walk;
    if let Some(why) = unseen {
        return Err(ReplayError::undecided(why));
    }
    let [Some(first), Some(second), Some(third), Some(_)] = begins else {
        return whole("the part that repeats begins or ends inside an atomic section");
    };
    let at = |atom: &Proposition| atoms.iter().position(|one| one == atom).unwrap_or_default();
    if goes_on {
        let last = moments.len() - 1;
        let known = |moment: usize, atom: &Proposition| {
            // Of the step behind the last moment nothing is known.
            let open = moment == last && matches!(atom, Proposition::Takes(..));
            (!open).then(|| moments[moment][at(atom)])
        };
        return match evaluate_prefix(&sought, moments.len(), &known) {
            Some(true) => Ok(trace),
            Some(false) => whole("the run does not satisfy what was sought"),
            None => whole("whether the run satisfies what was sought depends on how it goes on"),
        };
    }
    let moments = if round.is_empty() {
        match somebody_can_move(program, &successors, last, budget) {
            Ok(false) => moments,
            Ok(true) => return whole("the run is said to end, but a thread can still move"),
            Err(why) => return Err(ReplayError::undecided(why)),
        }
    } else {
        let [Some(before), Some(after)] = &ends else {
            let why =
                "values of callers are not recorded, so it was not found out whether they repeat";
            return Err(ReplayError::undecided(Unknown::Unsupported(why.to_owned())));
        };
        lowest.check(program, before, after).map_err(ReplayError::whole)?;
        let same = |at: usize| {
            moments[at] == moments[at + second - first]
                && moments[at] == moments[at + third - first]
        };
        if !(first..second).all(same) {
            return whole("the part that repeats does not do the same each time");
        }
        let fair = |thread: ThreadId| {
            let receives = |step: &WitnessStep| {
                step.receivers.iter().any(|receiver| receiver.thread == thread)
            };
            let moves = |step: &WitnessStep| step.thread == thread || receives(step);
            round.iter().any(moves) || last.has_ended(thread)
        };
        if let Some(&unfair) = question.fair.iter().find(|&&thread| !fair(thread)) {
            let name = &program.threads[unfair].name;
            return whole(&format!(
                "{name} does not move in the part that repeats, nor has it ended"
            ));
        }
        moments[..second].to_vec()
    };
    if evaluate(&sought, moments.len(), first, &|moment, atom| moments[moment][at(atom)]) {
        Ok(trace)
    } else {
        whole("the run does not satisfy what was sought")
    }
}

/// What is looked at in every state.
#[derive(Clone, Copy)]
struct Looks<'a> {
    program: &'a Program,
    successors: &'a Successors,
    atoms: &'a [Proposition],
    budget: &'a Budget,
}

impl Looks<'_> {
    /// The truth of the atoms in a state; those about the step that is taken are true nowhere.
    fn truth(&self, state: &State) -> Result<Vec<bool>, Unknown> {
        self.atoms.iter().map(|atom| self.moment(state).holds(atom, None)).collect()
    }

    fn moment<'m>(&'m self, state: &'m State) -> Moment<'m> {
        let Self { program, successors, budget, .. } = *self;
        Moment { program, successors, state, budget }
    }
}

/// What is seen along a run and three rounds of its last part.
struct Walk<'a> {
    looks: Looks<'a>,
    repeats: usize,
    round: usize,
    /// The truth of the atoms at every moment but the last.
    moments: Vec<Vec<bool>>,
    /// The same for the last moment, whose step is not over, and that step.
    open: Option<(Vec<bool>, Option<Taken>)>,
    /// The moments at which the rounds begin, and that behind the last.
    begins: [Option<usize>; 4],
    /// The states at both ends of the first round, where they are known in full.
    ends: [Option<State>; 2],
    lowest: Lowest,
    /// Why the truth of an atom was not found out, if it was not.
    unseen: Option<Unknown>,
}

impl<'a> Walk<'a> {
    fn new(looks: Looks<'a>, repeats: usize, round: usize) -> Self {
        Self {
            looks,
            repeats,
            round,
            moments: Vec::new(),
            open: None,
            begins: [None; 4],
            ends: [None, None],
            lowest: Lowest::new(looks.program),
            unseen: None,
        }
    }

    /// Sees the states before a step, or those at the end.
    fn see(&mut self, index: usize, states: &[State], step: Option<&WitnessStep>) {
        let state = &states[0];
        let outside = state.in_atomic().is_none();
        if outside {
            self.close();
            for (count, begin) in self.begins.iter_mut().enumerate() {
                if index == self.repeats + count * self.round {
                    *begin = Some(self.moments.len());
                }
            }
            if self.unseen.is_none() {
                match self.looks.truth(state) {
                    Ok(truth) => self.open = Some((truth, None)),
                    Err(why) => self.unseen = Some(why),
                }
            }
        }
        for (count, end) in self.ends.iter_mut().enumerate() {
            if index == self.repeats + count * self.round {
                *end = (states.len() == 1).then(|| state.clone());
            }
        }
        if (self.repeats..=self.repeats + self.round).contains(&index) {
            self.lowest.see(state);
        }
        if let (Some(step), Some((_, taken))) = (step, &mut self.open) {
            let taken = taken.get_or_insert_with(|| Taken::by(step.thread));
            taken.deeds.extend(self.looks.moment(state).deed(step.thread, step.step));
            taken.receivers.extend(step.receivers.iter().map(|receiver| receiver.thread));
        }
        if step.is_none() && self.round == 0 {
            self.close();
        }
    }

    /// The step of the last moment is over.
    fn close(&mut self) {
        let Some((mut truth, taken)) = self.open.take() else { return };
        for (value, atom) in truth.iter_mut().zip(self.looks.atoms) {
            if let Proposition::Takes(thread, deed) = atom {
                *value = taken.as_ref().is_some_and(|taken| taken.is(*thread, *deed));
            }
        }
        self.moments.push(truth);
    }
}

/// How far down a round has gone.
struct Lowest {
    /// The fewest frames of each thread.
    frames: IdVec<ThreadId, usize>,
    /// The fewest open units of each thread.
    units: IdVec<ThreadId, u32>,
    /// The fewest holds of each lock.
    holds: IdVec<LockId, u32>,
}

impl Lowest {
    fn new(program: &Program) -> Self {
        Self {
            frames: IdVec::filled(usize::MAX, program.threads.len()),
            units: IdVec::filled(u32::MAX, program.threads.len()),
            holds: IdVec::filled(u32::MAX, program.locks.len()),
        }
    }

    fn see(&mut self, state: &State) {
        for (id, thread) in state.control.threads.iter_enumerated() {
            self.frames[id] = self.frames[id].min(thread.stack.len());
            self.units[id] = self.units[id].min(thread.unit_depth);
        }
        for (id, owner) in state.control.locks.iter_enumerated() {
            self.holds[id] = self.holds[id].min(owner.map_or(0, |owner| owner.depth));
        }
    }

    /// Whether a round from one of these states to the other can be repeated for ever.
    fn check(&self, program: &Program, before: &State, after: &State) -> Result<(), String> {
        let grown = |low: u32, old: u32, new: u32| old == new || (low > 0 && old < new);
        if before.globals != after.globals {
            return Err("the part that repeats leaves other values behind".to_owned());
        }
        for (id, (old, new)) in before.control.locks.iter().zip(&after.control.locks).enumerate() {
            let depth = |owner: &Option<crate::step::Ownership>| owner.map_or(0, |one| one.depth);
            let id = selvedge_base::Id::from_index(id);
            if old.map(|one| one.owner) != new.map(|one| one.owner)
                || !grown(self.holds[id], depth(old), depth(new))
            {
                let name = &program.locks[id].name;
                return Err(format!(
                    "the part that repeats changes who holds {name}, or how often"
                ));
            }
        }
        for id in program.threads.ids() {
            let (old, new) = (&before.control.threads[id], &after.control.threads[id]);
            let (had, has) = (&before.threads[id].activations, &after.threads[id].activations);
            // The frame that was on top at the lowest moment was seen, too.
            let touched = self.frames[id].saturating_sub(1);
            let deeper = new.stack.len().checked_sub(old.stack.len());
            let repeats = deeper.is_some_and(|deeper| {
                let (had, has) = (&had[touched..], &has[touched + deeper..]);
                // The lowest of them is never left, so it does not matter which call opened it.
                let lowest =
                    had.first().map(|one| &one.locals) == has.first().map(|one| &one.locals);
                old.stack[touched..] == new.stack[touched + deeper..]
                    && lowest
                    && had.iter().skip(1).eq(has.iter().skip(1))
            });
            if !repeats
                || old.waits != new.waits
                || old.suspended != new.suspended
                || !grown(self.units[id], old.unit_depth, new.unit_depth)
            {
                let name = &program.threads[id].name;
                return Err(format!("{name} is not where it was when the part that repeats began"));
            }
        }
        Ok(())
    }
}
