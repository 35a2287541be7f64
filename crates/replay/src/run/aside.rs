//! # Idea
//! A step of a thread sees the activation on top of its stack, and the one below if it returns. What
//! lies deeper is put aside while the step is taken, so that the outcomes of a step are copies of a
//! small state, whatever the depth of the stacks.
//!
//! # Invariants
//! 1. What is left of a stack is empty only if the stack is.

use super::state::{ActivationData, State};
use selvedge_base::IdVec;
use selvedge_program::{NodeId, ThreadId};

/// How many activations of each thread a step can see.
const SEEN: usize = 2;

/// The deeper parts of the stacks of a state.
#[derive(Clone)]
pub(crate) struct Deeper(IdVec<ThreadId, (Vec<NodeId>, Vec<ActivationData>)>);

impl State {
    /// Takes away what a step cannot see.
    pub(crate) fn put_aside(&mut self) -> Deeper {
        let mut deeper = IdVec::new();
        for thread in self.threads.ids() {
            let stack = &mut self.control.threads[thread].stack;
            deeper.push((split(stack), split(&mut self.threads[thread].activations)));
        }
        Deeper(deeper)
    }

    /// Gives it back.
    pub(crate) fn put_back(&mut self, mut deeper: Deeper) {
        for thread in self.threads.ids() {
            let (stack, activations) = &mut deeper.0[thread];
            join(&mut self.control.threads[thread].stack, stack);
            join(&mut self.threads[thread].activations, activations);
        }
    }
}

/// Takes away all but the last elements.
fn split<T>(stack: &mut Vec<T>) -> Vec<T> {
    let top = stack.split_off(stack.len().saturating_sub(SEEN));
    std::mem::replace(stack, top)
}

/// Puts the deeper elements below the others again.
fn join<T>(stack: &mut Vec<T>, deeper: &mut Vec<T>) {
    deeper.append(stack);
    std::mem::swap(stack, deeper);
}
