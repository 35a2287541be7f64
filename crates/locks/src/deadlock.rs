//! # Idea
//! Which deadlocks are worth asking about: cycles of threads in which each acquires, somewhere in its
//! code, a lock while it holds the one that the thread before it wants. Whether such a cycle can
//! really happen is then decided exactly, by lock histories.
//!
//! # Invariants
//! 1. Every deadlock that can happen is among the candidates, once, in the form of
//!    [`selvedge_program::meeting`]: if a thread waits for `wants` while it holds `holds`, the pair is
//!    one of its waits.

use crate::behaviour::Behaviours;
use selvedge_program::{Deadlock, ThreadId, Wait};

/// The cycles among `threads` that the code suggests, shortest first, or `None` if there are more
/// than `limit`.
pub fn candidates(
    behaviours: &Behaviours,
    threads: &[ThreadId],
    limit: usize,
) -> Option<Vec<Deadlock>> {
    let mut threads = threads.to_vec();
    threads.sort_unstable();
    threads.dedup();
    let mut search =
        Search { behaviours, threads: &threads, limit, waits: Vec::new(), found: vec![] };
    for at in 0..threads.len() {
        search.start(at)?;
    }
    search.found.sort_by(|a, b| (a.waits.len(), a).cmp(&(b.waits.len(), b)));
    Some(search.found)
}

struct Search<'a> {
    behaviours: &'a Behaviours,
    threads: &'a [ThreadId],
    limit: usize,
    waits: Vec<Wait>,
    found: Vec<Deadlock>,
}

impl Search<'_> {
    /// All cycles whose lowest thread is the one at this position.
    fn start(&mut self, at: usize) -> Option<()> {
        let thread = self.threads[at];
        for &(holds, wants) in self.behaviours.waits(thread) {
            self.waits.push(Wait { thread, holds, wants });
            self.extend(at)?;
            self.waits.pop();
        }
        Some(())
    }

    /// All cycles that continue the path. Its depth is at most the number of locks.
    fn extend(&mut self, lowest: usize) -> Option<()> {
        let Some(&Wait { wants: wanted, .. }) = self.waits.last() else { return Some(()) };
        if wanted == self.waits[0].holds {
            if self.waits.len() > 1 {
                if self.found.len() == self.limit {
                    return None;
                }
                self.found.push(Deadlock { waits: self.waits.clone() });
            }
            return Some(());
        }
        if self.waits.iter().any(|wait| wait.holds == wanted) {
            return Some(());
        }
        for at in lowest + 1..self.threads.len() {
            let thread = self.threads[at];
            if self.waits.iter().any(|wait| wait.thread == thread) {
                continue;
            }
            let behaviours = self.behaviours;
            for &(holds, wants) in behaviours.waits(thread) {
                if holds == wanted {
                    self.waits.push(Wait { thread, holds, wants });
                    self.extend(lowest)?;
                    self.waits.pop();
                }
            }
        }
        Some(())
    }
}
