//! # Idea
//! Seeded pushdown systems and automata for tests and measurements: small ones without any structure, and large
//! ones that look like programs (procedures with loops-free bodies, calls, recursion, a finite data
//! value in the control location).
//!
//! # Invariants
//! 1. A system is a function of its arguments, on every machine.

use crate::nwa::{Letter, Nwa, NwaState};
use crate::random::Random;
use crate::system::{Configuration, Pds, Rhs, State, Symbol};
use selvedge_base::Id;

/// How large a program-like system is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProgramShape {
    /// How many procedures there are, at least 1.
    pub procedures: usize,
    /// How many nodes each procedure has, at least 1.
    pub nodes: usize,
    /// How many values the data have, at least 1.
    pub values: usize,
}

/// A program-like system with its start and a configuration to look for.
#[derive(Clone, Debug)]
pub struct Program {
    /// The system. Control locations `0..values` run, `values..2 · values` return; symbol
    /// `nodes · f + i` is node `i` of procedure `f`.
    pub pds: Pds,
    /// Value 0 at the first node of procedure 0.
    pub start: Configuration,
    /// Value 1 (or 0, if there is no other) at the last node of procedure 0.
    pub target: Configuration,
}

/// Calls happen at every node whose number ends like this.
const CALL_EVERY: usize = 10;
/// Branches end at most this many nodes further on.
const FARTHEST: usize = 8;
/// Calls go to one of this many next procedures, unless they go anywhere.
const NEAREST: usize = 5;

/// A system whose rules look like those of a program: each node has one or two successors close
/// by, every tenth node calls (mostly a procedure close by, sometimes any, so there is recursion),
/// and each step maps the value by one of four functions.
pub fn program(shape: ProgramShape, seed: u64) -> Program {
    let ProgramShape { procedures, nodes, values } = shape;
    let random = &mut Random::new(seed);
    let functions: [Vec<usize>; 4] = std::array::from_fn(|which| {
        (0..values).map(|value| if which == 0 { value } else { random.below(values) }).collect()
    });
    let node = |procedure: usize, at: usize| Symbol::from_index(procedure * nodes + at);
    let running = State::from_index;
    let returning = |value: usize| State::from_index(values + value);
    let mut pds = Pds::new(2 * values, procedures * nodes);
    for procedure in 0..procedures {
        for at in 0..nodes {
            let here = node(procedure, at);
            if at == nodes - 1 {
                for value in 0..values {
                    pds.rule(running(value), here, returning(value), Rhs::Pop, ());
                }
            } else if at % CALL_EVERY == CALL_EVERY - 1 {
                let entry = node(callee(random, procedure, procedures), 0);
                for value in 0..values {
                    let (run, back) = (running(value), returning(value));
                    pds.rule(run, here, run, Rhs::Push(entry, here), ());
                    pds.rule(back, here, run, Rhs::Step(node(procedure, at + 1)), ());
                }
            } else {
                let mut successors = vec![at + 1];
                if random.chance(40) {
                    successors.push((at + 1 + random.below(FARTHEST)).min(nodes - 1));
                    successors.dedup();
                }
                for successor in successors {
                    let function = &functions[random.below(functions.len())];
                    for (value, &mapped) in function.iter().enumerate() {
                        let to = running(mapped);
                        pds.rule(
                            running(value),
                            here,
                            to,
                            Rhs::Step(node(procedure, successor)),
                            (),
                        );
                    }
                }
            }
        }
    }
    let start = Configuration { state: running(0), stack: vec![node(0, 0)] };
    let target =
        Configuration { state: running(1.min(values - 1)), stack: vec![node(0, nodes - 1)] };
    Program { pds, start, target }
}

fn callee(random: &mut Random, procedure: usize, procedures: usize) -> usize {
    if random.chance(10) {
        random.below(procedures)
    } else if procedure + 1 < procedures {
        (procedure + 1 + random.below(NEAREST)).min(procedures - 1)
    } else {
        0
    }
}

/// A small system without structure; all three kinds of rules are equally likely.
pub fn small(random: &mut Random, states: usize, symbols: usize, rules: usize) -> Pds {
    let mut pds = Pds::new(states, symbols);
    for _ in 0..rules {
        let mut state = || State::from_index(random.below(states));
        let (from, to) = (state(), state());
        let mut symbol = || Symbol::from_index(random.below(symbols));
        let (top, first, second) = (symbol(), symbol(), symbol());
        let rhs = [Rhs::Pop, Rhs::Step(first), Rhs::Push(first, second)][random.below(3)];
        pds.rule(from, top, to, rhs, ());
    }
    pds
}

/// A random configuration with at most `depth` symbols on its stack.
pub fn configuration(
    random: &mut Random,
    states: usize,
    symbols: usize,
    depth: usize,
) -> Configuration {
    let state = State::from_index(random.below(states));
    let len = random.below(depth + 1);
    Configuration {
        state,
        stack: (0..len).map(|_| Symbol::from_index(random.below(symbols))).collect(),
    }
}

/// An automaton with one to three states over these symbols, in order, that has most of the transitions it
/// can have, so that runs are read for long.
pub fn automaton(random: &mut Random, symbols: &[&str]) -> Nwa {
    let mut nwa = Nwa::new(symbols.iter().copied());
    let states = 1 + random.below(3);
    let ids: Vec<NwaState> = (0..states).map(|state| nwa.state(format!("q{state}"))).collect();
    nwa.initial.insert(ids[0]);
    for letter in (0..symbols.len()).map(Letter::from_index) {
        for &p in &ids {
            for _ in 0..2 {
                if random.chance(60) {
                    nwa.internals.insert((p, letter, ids[random.below(states)]));
                }
                if random.chance(60) {
                    nwa.calls.insert((p, letter, ids[random.below(states)]));
                }
            }
            for &c in &ids {
                if random.chance(60) {
                    nwa.returns.insert((p, c, letter, ids[random.below(states)]));
                }
            }
        }
    }
    nwa
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_valid_and_repeatable() {
        let shape = ProgramShape { procedures: 20, nodes: 30, values: 3 };
        let program_1 = program(shape, 1);
        assert_eq!(program_1.pds.validate(), Ok(()));
        assert_eq!(program_1.pds, program(shape, 1).pds);
        assert_ne!(program_1.pds, program(shape, 2).pds);
        let tiny = program(ProgramShape { procedures: 1, nodes: 1, values: 1 }, 1);
        assert_eq!(tiny.pds.validate(), Ok(()));
        assert_eq!(tiny.start, tiny.target);
    }
}
