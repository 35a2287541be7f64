//! # Idea
//! Engines are functions of their arguments: they read no clock and no memory statistics. Whoever
//! runs them (the command line) watches both and raises a [`Budget`]; engines poll it and
//! answer `unknown` with the [`StopReason`].

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Why an analysis was stopped from outside.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StopReason {
    /// The time limit was reached.
    Timeout,
    /// The memory limit was reached.
    Memory,
}

/// A flag that one side raises and the other side polls. Clones share the flag.
#[derive(Clone, Debug, Default)]
pub struct Budget(Arc<AtomicU8>);

const RUNNING: u8 = 0;
const TIMEOUT: u8 = 1;
const MEMORY: u8 = 2;

impl Budget {
    /// A flag that nobody has raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// Raises the flag. The first reason stays.
    pub fn raise(&self, reason: StopReason) {
        let value = match reason {
            StopReason::Timeout => TIMEOUT,
            StopReason::Memory => MEMORY,
        };
        // An error means that another reason came first, which is the one to keep.
        let _ = self.0.compare_exchange(RUNNING, value, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Whether to stop, and why. Cheap enough for a hot loop.
    #[inline]
    pub fn poll(&self) -> Option<StopReason> {
        match self.0.load(Ordering::Relaxed) {
            RUNNING => None,
            TIMEOUT => Some(StopReason::Timeout),
            _ => Some(StopReason::Memory),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_stays() {
        let budget = Budget::new();
        let other = budget.clone();
        assert_eq!(other.poll(), None);
        budget.raise(StopReason::Memory);
        other.raise(StopReason::Timeout);
        assert_eq!(budget.poll(), Some(StopReason::Memory));
    }
}
