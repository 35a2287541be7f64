//! # Idea
//! The constraints, cubes and renamings that the rules of the tuples share: a context switch away
//! from a thread and back to it, the entry of a procedure and the use of its summary, the composition
//! of one thread's effect with the next one's along the schedule.
//!
//! Every shared bit has a variable in the pre-state (`now`) and in the post-state (`next`) of a step,
//! and one in the entry state of the running procedure (`entry`).
//!
//! Rounds are counted from 1 here as in the paper; `turns[r - 1]` are the copies of round `r`.

use super::draft::successor;
use super::layout::{Bit, SharedBit, Turn, VariableLayout};
use super::space::{Bdd, Diagrams, Renaming};
use selvedge_bdd::{Exhausted, Var};
use selvedge_program::Program;

/// The constraints, cubes and renamings of the rules.
pub(super) struct RuleParts {
    pub(super) space: Diagrams,
    pub(super) layout: VariableLayout,
    /// The identity renaming.
    pub(super) same: Renaming,
    /// No atomic section is open in the pre-state.
    pub(super) outside: Bdd,
    /// The cube of the bits of the pre-state that are zero at every switch.
    private: Bdd,
    /// The cube of all shared bits of the pre-state.
    pub(super) now: Bdd,
    /// The cube of all locals of the pre-state.
    pub(super) locals: Bdd,
    /// The cube of the entry state: the shared bits and the parameters at the entry of the running
    /// procedure.
    pub(super) entry: Bdd,
    /// Renames the caller's state after a call step, shared bits and arguments, to the entry state of
    /// the callee.
    pub(super) enter: Renaming,
    /// The frame condition of an entry: the shared bits of the pre-state equal those of the entry
    /// state.
    pub(super) entered: Bdd,
    /// Renames a summary for the caller: the entry state to the caller's pre-state and arguments, the
    /// exit state to the caller's post-state.
    lift: Renaming,
    /// The cube that a summary consumes: the shared bits of the caller's pre-state, and the
    /// arguments.
    replaced: Bdd,
    /// Renames the post-state to the pre-state.
    lower: Renaming,
    /// The greatest number of contexts, if they are counted.
    contexts: Option<u32>,
}

impl RuleParts {
    pub(super) fn new(
        space: Diagrams,
        layout: VariableLayout,
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

    /// The shared bits that cross switches, with their variables at a moment of a round.
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

    /// The states of a set in which a context can end: no atomic section is open. The bits that do not
    /// cross switches are quantified.
    pub(super) fn leave(&self, set: &Bdd) -> Result<Bdd, Exhausted> {
        self.space.and_exists(set, &self.outside, &self.private)
    }

    /// The frame condition between the pre-state and the output of a round, with the cube of the
    /// pre-state; for sets in which the context has ended.
    pub(super) fn freeze(&self, round: usize) -> Result<(Bdd, Bdd), Exhausted> {
        let pairs: Vec<(Var, Var)> =
            self.moment(round, |turn| turn.output).map(|(bit, var)| (var, bit.value.now)).collect();
        Ok((self.space.equal(&pairs)?, self.now.clone()))
    }

    /// The frame condition between the input of a round and the pre-state, in which the context of the
    /// round begins. If contexts are counted, the context is idle, or it is active and adds one to
    /// their number.
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

    /// The caller's states after a return: the relational product of its states after the call, with
    /// the arguments, and the summary of the callee.
    pub(super) fn apply_summary(&self, call: &Bdd, summary: &Bdd) -> Result<Bdd, Exhausted> {
        self.space.product(call, summary, self.lift, &self.replaced, self.lower)
    }

    /// The conjunction of the caller's states after a call and the summary of the callee: the shared
    /// bits after the return are in the post-state.
    pub(super) fn join_summary(&self, call: &Bdd, summary: &Bdd) -> Result<Bdd, Exhausted> {
        self.space.and(call, &self.space.rename(summary, self.lift)?)
    }

    /// The initial shared states, over the variables of a moment of the first round.
    pub(super) fn initial(
        &self,
        program: &Program,
        moment: impl Fn(&Turn) -> Var,
    ) -> Result<Bdd, Exhausted> {
        use selvedge_bdd::BddManager;
        let value = |(bit, var): (&SharedBit, Var)| match bit.bit {
            Bit::Global(global) => program.globals[global].initial.map(|value| (var, value != 0)),
            _ => Some((var, false)),
        };
        let literals: Vec<(Var, bool)> = self.moment(1, moment).filter_map(value).collect();
        self.space.manager.conjunction(&literals)
    }
}

/// The constraint that a number is at most `limit`; the lowest bit comes first.
fn at_most(space: &Diagrams, bits: &[Var], limit: u32) -> Result<Bdd, Exhausted> {
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
