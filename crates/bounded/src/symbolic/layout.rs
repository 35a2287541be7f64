//! # Idea
//! Which shared bits there are beside the globals, and where the copies of every bit stand in the
//! variable order.
//!
//! The shared valuation is that of the globals and of what threads leave for each other without
//! naming it: whether a waiting thread was started, the values passed at its start, and, if contexts
//! are counted, how many there were. A thread that is switched away from is in no atomic section,
//! so the number of open sections is one more shared value, zero at every switch.
//!
//! # Source
//! Paper 001 §3.2: the copies of the globals, and the order of MOPED that keeps copies of one
//! variable together. All copies of a bit are neighbours: first those of the rounds in the order of
//! time, then those of the entry state of the running procedure, of the pre-state and of the
//! post-state. Locals follow, each with its copies, in the same way.
//!
//! # Invariants
//! 1. `entry`, `now`, `next` of a bit are neighbours in this order, so that a step, a call and a
//!    return are relational products whose renamings keep the order.
//! 2. `start`, `input`, `output` of a round are neighbours in this order, so that the products along
//!    the schedule rename neighbours.
//! 3. Bits that are zero at every switch have no copies for rounds.

use selvedge_base::Id;
use selvedge_bdd::Var;
use selvedge_program::{GlobalId, Program, Start, ThreadId};

/// A shared bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Bit {
    /// A global of the program.
    Global(GlobalId),
    /// Whether a waiting thread was started.
    Started(ThreadId),
    /// What was passed at the start of a thread, by parameter.
    Passed(ThreadId, usize),
    /// A bit of the number of contexts, the lowest first.
    Contexts(u32),
    /// A bit of the number of open atomic sections, the lowest first.
    Depth(u32),
    /// Whether the running context may move; only if contexts are counted.
    Active,
}

impl Bit {
    /// Whether it keeps its value while other threads run.
    fn crosses(self) -> bool {
        !matches!(self, Self::Depth(_) | Self::Active)
    }
}

/// The variables of one bit in the pre-state and in the post-state of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    /// In the pre-state.
    pub(super) now: Var,
    /// In the post-state.
    pub(super) next: Var,
}

/// The copies of a bit around the turn of a thread in one round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    /// At the start of the round.
    pub(super) start: Var,
    /// Before the context of the thread.
    pub(super) input: Var,
    /// After it.
    pub(super) output: Var,
}

/// The copies of a shared bit.
#[derive(Clone, Debug)]
pub(super) struct SharedBit {
    pub(super) bit: Bit,
    /// By round, from the first; empty for bits that are zero at every switch.
    pub(super) turns: Vec<Turn>,
    /// In the entry state of the running procedure.
    pub(super) entry: Var,
    pub(super) value: Pair,
}

/// The copies of a local.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocalBit {
    /// As a parameter, in the entry state of the running procedure.
    pub(super) entry: Var,
    pub(super) value: Pair,
    /// The parameter of a procedure that is being called.
    pub(super) argument: Var,
    /// A result that is being returned.
    pub(super) result: Var,
}

/// The variables of a search, by bit.
#[derive(Clone, Debug)]
pub(super) struct VariableLayout {
    pub(super) shared: Vec<SharedBit>,
    /// Of the running procedure, whichever it is.
    pub(super) locals: Vec<LocalBit>,
    /// All variables that come before its end.
    pub(super) variables: usize,
    rounds: usize,
}

/// The shared bits of a program. `depth` is the greatest number of open atomic sections, `contexts`
/// the greatest number of contexts, if they are counted.
pub(super) fn shared_bits(program: &Program, depth: u32, contexts: Option<u32>) -> Vec<Bit> {
    let mut bits: Vec<Bit> = program.globals.ids().map(Bit::Global).collect();
    for (id, thread) in program.threads.iter_enumerated() {
        if thread.start != Start::AtFirst {
            bits.push(Bit::Started(id));
            let parameters = program.procedures[thread.main].frame.parameters;
            bits.extend((0..parameters).map(|at| Bit::Passed(id, at)));
        }
    }
    if let Some(limit) = contexts {
        bits.extend((0..width(limit)).map(Bit::Contexts));
        bits.push(Bit::Active);
    }
    bits.extend((0..width(depth)).map(Bit::Depth));
    bits
}

/// How many bits write the numbers up to `most`.
fn width(most: u32) -> u32 {
    u32::BITS - most.leading_zeros()
}

impl VariableLayout {
    /// How many variables a layout needs.
    pub(super) fn needed(bits: &[Bit], rounds: usize, locals: usize) -> usize {
        let copies = |bit: &Bit| 3 + if bit.crosses() { 3 * rounds } else { 0 };
        bits.iter().map(copies).sum::<usize>() + 5 * locals
    }

    /// The copies of these bits for so many rounds, and of so many locals, from the variable `first`
    /// on.
    pub(super) fn new(bits: &[Bit], rounds: usize, locals: usize, first: usize) -> Self {
        let mut next = first;
        let mut var = || {
            next += 1;
            Var::from_index(next - 1)
        };
        let shared = bits.iter().map(|&bit| {
            let rounds = if bit.crosses() { rounds } else { 0 };
            let turn = |_| Turn { start: var(), input: var(), output: var() };
            let turns = (0..rounds).map(turn).collect();
            SharedBit { bit, turns, entry: var(), value: Pair { now: var(), next: var() } }
        });
        let shared = shared.collect();
        let local = |_| LocalBit {
            entry: var(),
            value: Pair { now: var(), next: var() },
            argument: var(),
            result: var(),
        };
        let locals = (0..locals).map(local).collect();
        Self { shared, locals, variables: next, rounds }
    }

    /// How many rounds there are copies for.
    pub(super) fn rounds(&self) -> usize {
        self.rounds
    }

    /// The copies of a bit that exists.
    pub(super) fn find(&self, bit: Bit) -> &SharedBit {
        self.shared.iter().find(|one| one.bit == bit).expect("a bit of the layout")
    }

    /// The value of a global.
    pub(super) fn global(&self, global: GlobalId) -> Pair {
        // Globals come first.
        self.shared[global.index()].value
    }

    /// The bits that cross switches.
    pub(super) fn crossing(&self) -> impl Iterator<Item = &SharedBit> {
        self.shared.iter().filter(|one| one.bit.crosses())
    }

    /// The bits of the number of open atomic sections, the lowest first.
    pub(super) fn depth(&self) -> Vec<Pair> {
        let depth = self.shared.iter().filter(|one| matches!(one.bit, Bit::Depth(_)));
        depth.map(|one| one.value).collect()
    }
}
