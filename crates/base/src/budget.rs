//! # Idea
//! How much an analysis may cost. Engines are functions of their arguments: they read no clock and
//! no memory statistics, and poll a [`Budget`] in every loop that can be long. What stops it is
//! either raised from outside (a thread that watches time and memory, a signal handler) or found
//! by the poll itself: a number of polls, a point in time, or a question to the host. The last
//! three need no second thread, so a host that has none (a web page) can stop an analysis, too.
//!
//! # Invariants
//! 1. Once a poll has said that the budget is used up, every later poll says so with the same
//!    reason, on every clone.
//! 2. A part of a budget is used up at its own limit, or when the whole is; the whole does not
//!    notice that a part is used up.
//! 3. A budget without a limit of its own costs one relaxed load per poll.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Instant;

/// Why an analysis was stopped.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StopReason {
    /// The time limit was reached.
    Timeout,
    /// The memory limit was reached.
    Memory,
    /// The limit on steps was reached: the budget was polled as often as it allows.
    Steps,
    /// Somebody asked for the end, by an interrupt from the keyboard for instance.
    Cancelled,
}

impl StopReason {
    const ALL: [Self; 4] = [Self::Timeout, Self::Memory, Self::Steps, Self::Cancelled];

    /// The state of a budget that was used up for this reason.
    fn state(self) -> u8 {
        match self {
            Self::Timeout => FIRST_REASON,
            Self::Memory => FIRST_REASON + 1,
            Self::Steps => FIRST_REASON + 2,
            Self::Cancelled => FIRST_REASON + 3,
        }
    }

    fn of_state(state: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.state() == state)
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout => "the time limit was reached",
            Self::Memory => "the memory limit was reached",
            Self::Steps => "the limit on steps was reached",
            Self::Cancelled => "the run was interrupted",
        })
    }
}

/// A question to the host of an analysis: whether to stop.
type Ask = Box<dyn Fn() -> Option<StopReason> + Send + Sync>;

/// What a poll looks at beside the flag.
enum Limit {
    /// Nothing.
    Flag,
    /// The number of polls.
    Steps(u64),
    /// The clock.
    Deadline(Instant),
    /// The host, at every so many polls.
    Callback { every: u64, ask: Ask },
}

/// What an analysis may still cost. Clones share it: it is a handle.
///
/// ```
/// use selvedge_base::{Budget, StopReason};
///
/// let budget = Budget::with_steps(3);
/// assert_eq!(budget.poll(), None);
/// assert_eq!(budget.poll(), None);
/// assert_eq!(budget.poll(), Some(StopReason::Steps));
/// ```
#[derive(Clone)]
pub struct Budget(Arc<Shared>);

struct Shared {
    /// [`UNLIMITED`], [`LIMITED`] or the state of a reason.
    state: AtomicU8,
    /// How often it was polled, where something is counted.
    polls: AtomicU64,
    limit: Limit,
    whole: Option<Budget>,
}

/// Nothing but the flag can stop it.
const UNLIMITED: u8 = 0;
/// A poll has more to look at than the flag.
const LIMITED: u8 = 1;
/// The states from here on are those of reasons.
const FIRST_REASON: u8 = 2;

impl Default for Budget {
    fn default() -> Self {
        Self::new()
    }
}

impl Budget {
    /// A budget that ends when it is raised.
    pub fn new() -> Self {
        Self::made(Limit::Flag, None)
    }

    /// A budget that the `steps`-th poll finds used up.
    pub fn with_steps(steps: u64) -> Self {
        Self::made(Limit::Steps(steps), None)
    }

    /// A budget that is used up at a point in time. Every poll reads the clock; who can start a
    /// thread had better let that one watch it, and [raise](Self::raise) the flag.
    pub fn with_deadline(deadline: Instant) -> Self {
        Self::made(Limit::Deadline(deadline), None)
    }

    /// A budget that asks its host at every `every`-th poll whether to stop.
    pub fn with_callback(
        every: u64,
        ask: impl Fn() -> Option<StopReason> + Send + Sync + 'static,
    ) -> Self {
        Self::made(Limit::Callback { every: every.max(1), ask: Box::new(ask) }, None)
    }

    /// A part of this budget with at most so many polls.
    #[must_use]
    pub fn part_with_steps(&self, steps: u64) -> Self {
        Self::made(Limit::Steps(steps), Some(self.clone()))
    }

    /// A part of this budget that ends at a point in time at the latest.
    #[must_use]
    pub fn part_with_deadline(&self, deadline: Instant) -> Self {
        Self::made(Limit::Deadline(deadline), Some(self.clone()))
    }

    /// A part of this budget that can be raised by itself.
    #[must_use]
    pub fn part(&self) -> Self {
        Self::made(Limit::Flag, Some(self.clone()))
    }

    fn made(limit: Limit, whole: Option<Self>) -> Self {
        let plain = matches!(limit, Limit::Flag) && whole.is_none();
        let state = AtomicU8::new(if plain { UNLIMITED } else { LIMITED });
        Self(Arc::new(Shared { state, polls: AtomicU64::new(0), limit, whole }))
    }

    /// Uses the budget up. The first reason stays.
    pub fn raise(&self, reason: StopReason) {
        // An error means that another reason came first, which is the one to keep.
        let _ = self.0.state.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |state| {
            (state < FIRST_REASON).then_some(reason.state())
        });
    }

    /// Whether to stop, and why. Cheap enough for a hot loop.
    #[inline]
    pub fn poll(&self) -> Option<StopReason> {
        match self.0.state.load(Ordering::Relaxed) {
            UNLIMITED => None,
            state => self.look(state),
        }
    }

    /// The same as a result, for loops that end by `?`.
    ///
    /// # Errors
    /// If the budget is used up, with the reason.
    #[inline]
    pub fn check(&self) -> Result<(), StopReason> {
        self.poll().map_or(Ok(()), Err)
    }

    /// What stopped it, without counting as a poll: for reports after the fact.
    pub fn stopped(&self) -> Option<StopReason> {
        let own = StopReason::of_state(self.0.state.load(Ordering::Relaxed));
        own.or_else(|| self.0.whole.as_ref()?.stopped())
    }

    /// How often it was polled. Only budgets with a limit on polls or a callback count, and a
    /// budget counts no polls of its parts.
    pub fn polls(&self) -> u64 {
        self.0.polls.load(Ordering::Relaxed)
    }

    /// A poll that has more to look at than that nobody raised the flag of a budget without limits.
    #[cold]
    fn look(&self, state: u8) -> Option<StopReason> {
        let Shared { polls, limit, whole, .. } = &*self.0;
        let count = match limit {
            Limit::Flag | Limit::Deadline(_) => 0,
            Limit::Steps(_) | Limit::Callback { .. } => polls.fetch_add(1, Ordering::Relaxed) + 1,
        };
        if let Some(reason) = StopReason::of_state(state) {
            return Some(reason);
        }
        let outer = whole.as_ref().and_then(Self::poll);
        let reason = outer.or_else(|| match limit {
            Limit::Flag => None,
            Limit::Steps(steps) => (count >= *steps).then_some(StopReason::Steps),
            Limit::Deadline(deadline) => {
                (Instant::now() >= *deadline).then_some(StopReason::Timeout)
            }
            Limit::Callback { every, ask } => {
                if count.is_multiple_of(*every) {
                    ask()
                } else {
                    None
                }
            }
        })?;
        self.raise(reason);
        // Another thread may have raised it for another reason meanwhile, which then stays.
        self.stopped()
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget").field("stopped", &self.stopped()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_first_reason_stays() {
        for (i, first) in StopReason::ALL.into_iter().enumerate() {
            let budget = Budget::new();
            let other = budget.clone();
            assert_eq!(other.poll(), None);
            budget.raise(first);
            other.raise(StopReason::ALL[(i + 1) % 4]);
            assert_eq!(budget.poll(), Some(first));
            assert_eq!(other.poll(), Some(first));
            assert_eq!(other.stopped(), Some(first));
            assert_eq!(other.check(), Err(first));
        }
    }

    #[test]
    fn polls_are_steps_and_go_on_being_counted() {
        let budget = Budget::with_steps(3);
        let polls: Vec<_> = (0..5).map(|_| budget.clone().poll()).collect();
        let end = Some(StopReason::Steps);
        assert_eq!(polls, [None, None, end, end, end]);
        assert_eq!(budget.polls(), 5);
        assert_eq!(Budget::with_steps(0).poll(), end);
        assert_eq!(Budget::with_steps(2).stopped(), None);
    }

    #[test]
    fn a_raised_reason_comes_before_the_limit() {
        let budget = Budget::with_steps(2);
        budget.raise(StopReason::Cancelled);
        assert_eq!([budget.poll(), budget.poll()], [Some(StopReason::Cancelled); 2]);
    }

    #[test]
    fn a_deadline_passes() {
        let now = Instant::now();
        assert_eq!(Budget::with_deadline(now).poll(), Some(StopReason::Timeout));
        assert_eq!(Budget::with_deadline(now + Duration::from_secs(1000)).poll(), None);
    }

    #[test]
    fn the_host_is_asked_at_every_so_many_polls() {
        let asked = Arc::new(AtomicU64::new(0));
        let counter = asked.clone();
        let budget = Budget::with_callback(10, move || {
            (counter.fetch_add(1, Ordering::Relaxed) == 2).then_some(StopReason::Cancelled)
        });
        let first = (1..100).find(|_| budget.poll().is_some());
        assert_eq!(first, Some(30));
        assert_eq!(budget.poll(), Some(StopReason::Cancelled));
        assert_eq!(asked.load(Ordering::Relaxed), 3, "a budget that is used up asks no more");
    }

    #[test]
    fn a_part_ends_with_the_whole_and_not_the_other_way_round() {
        let whole = Budget::new();
        let part = whole.part_with_steps(2);
        assert_eq!([part.poll(), part.poll()], [None, Some(StopReason::Steps)]);
        assert_eq!(whole.poll(), None);
        let part = whole.part();
        assert_eq!(part.poll(), None);
        whole.raise(StopReason::Memory);
        assert_eq!(part.stopped(), Some(StopReason::Memory));
        assert_eq!(part.poll(), Some(StopReason::Memory));
        part.raise(StopReason::Timeout);
        assert_eq!(part.poll(), Some(StopReason::Memory));
        let late = whole.part_with_deadline(Instant::now());
        assert_eq!(late.poll(), Some(StopReason::Memory), "the whole was used up before");
    }
}
