//! # Idea
//! The constraints, sets of variables and renamings that the rules of the tuples share: what it
//! means to be switched away from and back to, to enter and to leave a procedure, to go from one
//! thread to the next along the schedule.
//!
//! Rounds are counted from 1 here as in the paper; `turns[r - 1]` are the copies of round `r`.

use super::draft::successor;
use super::layout::{Bit, Layout, SharedBit, Turn};
use super::space::{Bdd, Renaming, Space};
use selvedge_bdd::{Exhausted, Var};
use selvedge_program::Program;

/// Common parts of the rules.
pub(super) struct Frame {
    pub(super) space: Space,
    pub(super) layout: Layout,
    /// Changes nothing.
    pub(super) same: Renaming,
    /// No atomic section is open.
    pub(super) outside: Bdd,
    /// The bits that are zero at every switch, now.
    private: Bdd,
    /// All shared bits, now.
    pub(super) now: Bdd,
    /// All locals, now.
    pub(super) locals: Bdd,
    /// Shared bits and parameters at the entry of the running procedure.
    pub(super) entry: Bdd,
    /// What is entered by a call: what is now, and the arguments.
    pub(super) enter: Renaming,
    /// Entry and now are the same.
    pub(super) entered: Bdd,
    /// Summaries, from the caller's point of view.
    lift: Renaming,
    /// What a summary replaces.
    replaced: Bdd,
    /// Back from `lift`.
    lower: Renaming,
    /// The greatest number of contexts, if they are counted.
    contexts: Option<u32>,
}

impl Frame {
    pub(super) fn new(
        space: Space,
        layout: Layout,
        contexts: Option<u32>,
    ) -> Result<Self, Exhausted> {
        let shared = || layout.shared.iter();
        let locals = || layout.locals.iter();
        let outside = shared().filter(|one| matches!(one.bit, Bit::Depth(_)));
        let outside: Vec<(Var, bool)> = outside.map(|one| (one.value.now, false)).collect();
        let private = shared().filter(|one| matches!(one.bit, Bit::Depth(_) | Bit::Active));
        let mut entry: Vec<Var> = shared().map(|one| one.entry).collect();
        entry.extend(locals().map(|one| one.entry));
        let mut enter: Vec<(Var, Var)> = shared().map(|one| (one.value.now, one.entry)).collect();
        enter.extend(locals().map(|one| (one.argument, one.entry)));
        let mut lift = Vec::new();
        let mut replaced = Vec::new();
        let mut lower = Vec::new();
        for one in shared() {
            lift.extend([(one.entry, one.value.now), (one.value.now, one.value.next)]);
            replaced.push(one.value.now);
            lower.push((one.value.next, one.value.now));
        }
        for one in locals() {
            lift.push((one.entry, one.argument));
            replaced.push(one.argument);
        }
        let entered: Vec<(Var, Var)> = shared().map(|one| (one.entry, one.value.now)).collect();
        Ok(Self {
            same: space.renaming(Vec::new())?,
            outside: {
                use selvedge_bdd::BddManager;
                space.manager.conjunction(&outside)?
            },
            private: space.cube(private.map(|one| one.value.now).collect())?,
            now: space.cube(shared().map(|one| one.value.now).collect())?,
            locals: space.cube(locals().map(|one| one.value.now).collect())?,
            entry: space.cube(entry)?,
            enter: space.renaming(enter)?,
            entered: space.equal(&entered)?,
            lift: space.renaming(lift)?,
            replaced: space.cube(replaced)?,
            lower: space.renaming(lower)?,
            contexts,
            space,
            layout,
        })
    }

    /// The values that cross switches, at a moment of a round.
    pub(super) fn moment(
        &self,
        round: usize,
        moment: impl Fn(&Turn) -> Var,
    ) -> impl Iterator<Item = (&SharedBit, Var)> {
        self.layout.crossing().map(move |bit| (bit, moment(&bit.turns[round - 1])))
    }

    /// The variables of a moment in some rounds.
    pub(super) fn moments(
        &self,
        rounds: std::ops::RangeInclusive<usize>,
        moment: impl Fn(&Turn) -> Var + Copy,
    ) -> Vec<Var> {
        rounds.flat_map(|round| self.moment(round, moment).map(|(_, var)| var)).collect()
    }

    /// The renaming of one moment of some rounds to another.
    pub(super) fn shift(&self, moves: &[(Vec<Var>, Vec<Var>)]) -> Result<Renaming, Exhausted> {
        let pairs =
            moves.iter().flat_map(|(from, to)| from.iter().copied().zip(to.iter().copied()));
        self.space.renaming(pairs.collect())
    }

    /// What can be left by a switch: nothing atomic; bits that do not cross are forgotten.
    pub(super) fn leave(&self, set: &Bdd) -> Result<Bdd, Exhausted> {
        self.space.and_exists(set, &self.outside, &self.private)
    }

    /// What is now becomes the end of a round, for sets that were left.
    pub(super) fn freeze(&self, round: usize) -> Result<(Bdd, Bdd), Exhausted> {
        let pairs: Vec<(Var, Var)> =
            self.moment(round, |turn| turn.output).map(|(bit, var)| (var, bit.value.now)).collect();
        Ok((self.space.equal(&pairs)?, self.now.clone()))
    }

    /// What is now is what the context of a round begins with; if contexts are counted, it may be
    /// idle, or active and counted.
    pub(super) fn resume(&self, round: usize) -> Result<Bdd, Exhausted> {
        let space = &self.space;
        let mut same = Vec::new();
        let mut count = Vec::new();
        for (bit, input) in self.moment(round, |turn| turn.input) {
            match bit.bit {
                Bit::Contexts(_) => count.push((input, bit.value.now)),
                _ => same.push((input, bit.value.now)),
            }
        }
        let same = space.and(&space.equal(&same)?, &self.outside)?;
        let Some(limit) = self.contexts else { return Ok(same) };
        let active = self.layout.find(Bit::Active).value.now;
        let idle = space.and(&space.literal(active, false)?, &space.equal(&count)?)?;
        let more = space.and(&space.literal(active, true)?, &successor(space, &count)?)?;
        let numbers: Vec<Var> = count.iter().map(|&(_, now)| now).collect();
        let more = space.and(&more, &at_most(space, &numbers, limit)?)?;
        space.and(&same, &space.or(&idle, &more)?)
    }

    /// What a caller knows after a call returned: its set with the arguments, and the summary.
    pub(super) fn apply_summary(&self, call: &Bdd, summary: &Bdd) -> Result<Bdd, Exhausted> {
        self.space.product(call, summary, self.lift, &self.replaced, self.lower)
    }

    /// A call and a summary that fits, with the state between them: what is shared after the return
    /// stands where steps have what comes next.
    pub(super) fn join_summary(&self, call: &Bdd, summary: &Bdd) -> Result<Bdd, Exhausted> {
        self.space.and(call, &self.space.rename(summary, self.lift)?)
    }

    /// The values that a run begins with, at a moment of the first round.
    pub(super) fn initial(
        &self,
        program: &Program,
        moment: impl Fn(&Turn) -> Var,
    ) -> Result<Bdd, Exhausted> {
        use selvedge_bdd::BddManager;
        let value = |(bit, var): (&SharedBit, Var)| match bit.bit {
            Bit::Global(global) => program.globals[global].initial.map(|value| (var, value)),
            _ => Some((var, false)),
        };
        let literals: Vec<(Var, bool)> = self.moment(1, moment).filter_map(value).collect();
        self.space.manager.conjunction(&literals)
    }
}

/// The constraint that a number is at most `limit`; the lowest bit comes first.
fn at_most(space: &Space, bits: &[Var], limit: u32) -> Result<Bdd, Exhausted> {
    let mut result = space.top();
    for (at, &bit) in bits.iter().enumerate() {
        let zero = space.literal(bit, false)?;
        result = if limit >> at & 1 == 1 {
            space.or(&zero, &result)?
        } else {
            space.and(&zero, &result)?
        };
    }
    Ok(result)
}
