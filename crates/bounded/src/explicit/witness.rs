//! # Idea
//! A run in program terms from the successors that a search took. The locals with which each thread
//! begins are known once it has moved; those of threads that never move are free, but for what was
//! passed to them.

use crate::expand::{Expansion, Shared, StackEffect, SymbolId, valuation};
use selvedge_base::{Id, IdVec};
use selvedge_program::{ThreadId, Valuation, Witness, WitnessStep};

/// A step that a search took.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// Who moved.
    pub thread: usize,
    /// With which successor.
    pub successor: u32,
    /// The shared state afterwards.
    pub shared: Shared,
    /// The top of the thread's stack afterwards.
    pub top: Option<SymbolId>,
}

/// The run that begins in a shared state.
pub fn run(expansion: &Expansion<'_>, first: Shared, taken: &[Taken]) -> Witness {
    let program = expansion.program();
    let layout = expansion.layout();
    let last = taken.last().map_or(first, |taken| taken.shared);
    let main_locals =
        |thread: ThreadId| program.procedures[program.threads[thread].main].frame.locals.len();
    let mut locals: IdVec<ThreadId, Valuation> = program
        .threads
        .ids()
        .map(|thread| valuation(layout.arguments(last, thread), main_locals(thread)))
        .collect();
    let globals = |shared: Shared| valuation(layout.globals(shared), program.globals.len());
    let mut fails = false;
    let mut steps = Vec::with_capacity(taken.len());
    for taken in taken {
        let thread = ThreadId::from_index(taken.thread);
        let successor = expansion.successor(taken.successor);
        fails = successor.effect == StackEffect::Fail;
        let mut top = taken.top.map_or_else(Valuation::default, |top| expansion.locals(top));
        if let Some(chosen) = expansion.chosen(taken.successor) {
            locals[thread] = valuation(chosen, main_locals(thread));
            if fails {
                top = locals[thread].clone();
            }
        }
        let globals = globals(taken.shared);
        let step = successor.step;
        steps.push(WitnessStep {
            thread,
            step,
            receivers: Vec::new(),
            matched: None,
            globals,
            locals: top,
        });
    }
    Witness { globals: globals(first), locals, steps, fails, ..Witness::default() }
}
