//! # Idea
//! Everything that threads share, in 64 bits: the globals in the order of their ids from the lowest
//! bit, then what the semantics needs beside them: which threads wait and what was passed to those
//! that have not moved yet, who is inside how many atomic sections, who owns which lock how often.
//!
//! # Invariants
//! 1. What does not matter is zero: the arguments of a thread that waits or has moved, the owner of
//!    no atomic section, the count of a free lock. So equal words are equal states.
//! 2. Counts have as many bits as are left, at most [`MOST_COUNT_BITS`]; a count that does not fit is
//!    refused, never cut.

use selvedge_base::{Id, IdVec};
use selvedge_program::{Action, LockId, Program, Start, ThreadId, Unknown};

/// How many bits a count gets at most.
pub const MOST_COUNT_BITS: u32 = 8;

/// A shared state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Shared(pub u64);

/// Some bits of the word.
#[derive(Clone, Copy, Debug, Default)]
struct Field {
    from: u32,
    bits: u32,
}

impl Field {
    fn mask(self) -> u64 {
        if self.bits == 0 { 0 } else { u64::MAX >> (64 - self.bits) << self.from }
    }

    fn get(self, word: Shared) -> u64 {
        if self.bits == 0 { 0 } else { (word.0 & self.mask()) >> self.from }
    }

    fn with(self, word: Shared, value: u64) -> Shared {
        if self.bits == 0 {
            return word;
        }
        debug_assert!(value <= self.mask() >> self.from, "invariant 2");
        Shared(word.0 & !self.mask() | value << self.from)
    }

    fn largest(self) -> u64 {
        self.mask().checked_shr(self.from).unwrap_or(0)
    }
}

/// Which bits mean what.
#[derive(Clone, Debug)]
pub struct StateLayout {
    globals: u32,
    /// Whether each thread waits; no bits for those that never do.
    waits: IdVec<ThreadId, Field>,
    arguments: IdVec<ThreadId, Field>,
    atomic_owner: Field,
    atomic_depth: Field,
    /// One more than the owner, zero for a free lock.
    lock_owner: IdVec<LockId, Field>,
    /// One less than how often it is owned.
    lock_count: IdVec<LockId, Field>,
}

impl StateLayout {
    /// Divides the word for a program.
    ///
    /// # Errors
    /// If it does not fit.
    pub fn new(program: &Program) -> Result<Self, Unknown> {
        let atomic = program.edges.iter().any(|edge| edge.action == Action::BeginAtomic);
        let threads = program.threads.len();
        let mut needed = program.globals.len();
        for count_bits in (0..=MOST_COUNT_BITS).rev() {
            let mut next = Cursor { at: program.globals.len() };
            let mut waits = IdVec::new();
            let mut arguments = IdVec::new();
            for thread in &program.threads {
                let waiting = thread.start != Start::AtFirst;
                let parameters = program.procedures[thread.main].frame.parameters;
                waits.push(next.take(usize::from(waiting)));
                arguments.push(next.take(if waiting { parameters } else { 0 }));
            }
            let owners = if atomic { bits_for(threads.saturating_sub(1)) } else { 0 };
            let atomic_owner = next.take(owners);
            let atomic_depth = next.take(if atomic { count_bits.max(1) as usize } else { 0 });
            let mut lock_owner = IdVec::new();
            let mut lock_count = IdVec::new();
            for _ in &program.locks {
                lock_owner.push(next.take(bits_for(threads)));
                lock_count.push(next.take(count_bits as usize));
            }
            needed = next.at;
            if needed <= 64 {
                let globals = program.globals.len() as u32;
                return Ok(Self {
                    globals,
                    waits,
                    arguments,
                    atomic_owner,
                    atomic_depth,
                    lock_owner,
                    lock_count,
                });
            }
        }
        Err(Unknown::Unsupported(format!(
            "the explicit search handles at most 64 bits of shared state, but globals, starts and \
             locks of this program need {needed}"
        )))
    }

    /// The values of the globals, the first in the lowest bit.
    pub fn globals(&self, shared: Shared) -> u64 {
        shared.0 & Field { from: 0, bits: self.globals }.mask()
    }

    /// The word in which every thread that waits at first does so.
    pub fn waiting_at_first(&self) -> Shared {
        self.waits.iter().fold(Shared(0), |word, field| field.with(word, 1))
    }

    /// Whether a thread waits to be started.
    pub fn waits(&self, shared: Shared, thread: ThreadId) -> bool {
        self.waits[thread].get(shared) == 1
    }

    /// The same after a start of a thread with these arguments.
    pub fn started(&self, shared: Shared, thread: ThreadId, arguments: u64) -> Shared {
        let shared = self.waits[thread].with(shared, 0);
        self.with_arguments(shared, thread, arguments)
    }

    /// What was passed to a thread that has not moved.
    pub fn arguments(&self, shared: Shared, thread: ThreadId) -> u64 {
        self.arguments[thread].get(shared)
    }

    /// The same with other arguments.
    pub fn with_arguments(&self, shared: Shared, thread: ThreadId, arguments: u64) -> Shared {
        self.arguments[thread].with(shared, arguments)
    }

    /// What is a thread's own of a shared state: what was passed to it, and as bits the locks that it
    /// owns and whether it is inside an atomic section.
    pub fn own(&self, shared: Shared, thread: ThreadId) -> (u64, u64) {
        let inside = u64::from(self.in_atomic(shared) == Some(thread));
        let me = thread.index() as u64 + 1;
        let owns = |field: &Field| u64::from(field.get(shared) == me);
        let owned = self.lock_owner.iter().fold(inside, |bits, field| bits << 1 | owns(field));
        (self.arguments(shared, thread), owned)
    }

    /// The same with every thread where its image is; nobody who waits changes places.
    pub fn renamed(&self, shared: Shared, image: &IdVec<ThreadId, ThreadId>) -> Shared {
        let mut renamed = shared;
        for (from, &to) in image.iter_enumerated() {
            renamed = self.with_arguments(renamed, to, self.arguments(shared, from));
        }
        if let Some(owner) = self.in_atomic(shared) {
            renamed = self.atomic_owner.with(renamed, image[owner].index() as u64);
        }
        for field in &self.lock_owner {
            if let Some(owner) = field.get(shared).checked_sub(1) {
                let owner = image[ThreadId::from_index(owner as usize)];
                renamed = field.with(renamed, owner.index() as u64 + 1);
            }
        }
        renamed
    }

    /// The thread that is inside an atomic section.
    #[inline]
    pub fn in_atomic(&self, shared: Shared) -> Option<ThreadId> {
        let inside = self.atomic_depth.get(shared) > 0;
        inside.then(|| ThreadId::from_index(self.atomic_owner.get(shared) as usize))
    }

    /// The same inside one more atomic section.
    ///
    /// # Errors
    /// If the count does not fit.
    pub fn begin_atomic(&self, shared: Shared, thread: ThreadId) -> Result<Shared, Unknown> {
        let depth = self.atomic_depth.get(shared);
        if depth == self.atomic_depth.largest() {
            return Err(Unknown::Unsupported(format!(
                "the explicit search handles at most {depth} nested atomic sections in this program"
            )));
        }
        let shared = self.atomic_owner.with(shared, thread.index() as u64);
        Ok(self.atomic_depth.with(shared, depth + 1))
    }

    /// The same outside the innermost atomic section; `None` if there is none.
    pub fn end_atomic(&self, shared: Shared) -> Option<Shared> {
        let depth = self.atomic_depth.get(shared).checked_sub(1)?;
        let shared = if depth == 0 { self.atomic_owner.with(shared, 0) } else { shared };
        Some(self.atomic_depth.with(shared, depth))
    }

    /// The same with a lock acquired once more; `None` if another thread owns it.
    ///
    /// # Errors
    /// If the count does not fit.
    pub fn acquire(
        &self,
        shared: Shared,
        thread: ThreadId,
        lock: LockId,
    ) -> Result<Option<Shared>, Unknown> {
        let me = thread.index() as u64 + 1;
        match self.lock_owner[lock].get(shared) {
            0 => Ok(Some(self.lock_owner[lock].with(shared, me))),
            owner if owner != me => Ok(None),
            _ => {
                let count = self.lock_count[lock].get(shared);
                if count == self.lock_count[lock].largest() {
                    return Err(Unknown::Unsupported(format!(
                        "the explicit search handles at most {} nested acquisitions of a lock in \
                         this program",
                        count + 1
                    )));
                }
                Ok(Some(self.lock_count[lock].with(shared, count + 1)))
            }
        }
    }

    /// The same with a lock released once; `None` if the thread does not own it.
    pub fn release(&self, shared: Shared, thread: ThreadId, lock: LockId) -> Option<Shared> {
        if self.lock_owner[lock].get(shared) != thread.index() as u64 + 1 {
            return None;
        }
        Some(match self.lock_count[lock].get(shared) {
            0 => self.lock_owner[lock].with(shared, 0),
            count => self.lock_count[lock].with(shared, count - 1),
        })
    }
}

struct Cursor {
    at: usize,
}

impl Cursor {
    fn take(&mut self, bits: usize) -> Field {
        let field = Field { from: self.at.min(64) as u32, bits: bits.min(64) as u32 };
        self.at += bits;
        field
    }
}

/// How many bits a number up to this one needs.
fn bits_for(largest: usize) -> usize {
    (usize::BITS - largest.leading_zeros()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_base::Place;
    use selvedge_program::{Global, Lock};

    fn program(globals: usize, locks: usize) -> Program {
        let text = "program thread A main m { procedure m nodes 1 entry 0 exit 0 { } }
                    thread B main m { procedure m nodes 1 entry 0 exit 0 { } }";
        let mut program = selvedge_program::text::parse(text).0.expect("a program");
        for at in 0..globals {
            let global = Global::flag(format!("g{at}"), Place::NONE, None);
            program.globals.push(global);
        }
        for at in 0..locks {
            program.locks.push(Lock::reentrant(format!("l{at}"), Place::NONE));
        }
        program
    }

    /// How often a thread can acquire the first lock.
    fn acquisitions(layout: &StateLayout, mut shared: Shared) -> (u64, Shared) {
        let (thread, lock) = (ThreadId::from_index(1), LockId::from_index(0));
        let mut count = 0;
        while let Ok(next) = layout.acquire(shared, thread, lock) {
            shared = next.expect("nobody else owns it");
            count += 1;
        }
        (count, shared)
    }

    #[test]
    fn counts_get_the_bits_that_are_left() {
        for (globals, locks, expected) in [(0, 1, 256), (54, 1, 256), (58, 1, 16), (62, 1, 1)] {
            let layout = StateLayout::new(&program(globals, locks)).expect("it fits");
            let word = if globals == 0 { 0 } else { u64::MAX >> (64 - globals) };
            let (count, mut shared) = acquisitions(&layout, Shared(word));
            assert_eq!(count, expected, "{globals} globals");
            assert_eq!(layout.globals(shared), word);
            let (one, lock) = (ThreadId::from_index(1), LockId::from_index(0));
            let other = ThreadId::from_index(0);
            for _ in 0..count {
                assert_eq!(layout.acquire(shared, other, lock), Ok(None));
                assert_eq!(layout.release(shared, other, lock), None);
                shared = layout.release(shared, one, lock).expect("it owns the lock");
            }
            assert_eq!(shared, Shared(word), "invariant 1");
            assert_eq!(layout.release(shared, one, lock), None);
        }
        assert!(StateLayout::new(&program(63, 1)).is_err());
        assert!(StateLayout::new(&program(64, 0)).is_ok());
        assert!(
            StateLayout::new(&program(0, 32)).is_ok() && StateLayout::new(&program(0, 33)).is_err()
        );
    }
}
