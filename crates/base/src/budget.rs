//! # Idea
//! How much an analysis may cost. Engines are functions of their arguments: they read no clock and
//! no memory statistics, and poll a [`Budget`] in every loop that can be long. What stops it is
//! either raised from outside (a thread that watches time and memory, a signal handler) or found
//! by the poll itself: an amount of work, a point in time, or a question to the host. The last
//! three need no second thread, so a host that has none (a web page) can stop an analysis, too.
//! A poll counts as one step of work, or as several where what it stands for costs more
//! ([`charge`](Budget::charge)). Steps depend on the input alone, time and memory on the machine.
//!
//! # Invariants
//! 1. Once a poll has said that the budget is used up, every later poll says so with the same
//!    reason, on every clone.
//! 2. A part of a budget is used up at its own limit, or when the whole is; the whole does not
//!    notice that a part is used up.
//! 3. A budget without a limit of its own costs one relaxed load per poll.
//! 4. Of pieces of work that are done one after the other, each with the [share](Budget::share) of as
//!    many pieces as are left, none can leave the last one without time, and the last one has all
//!    that is left.
//! 5. What is charged to a part is charged to the whole, so no limit on work is exceeded by more than
//!    the last charge, however the budget is divided; a part that is used up charges nothing more.
//! 6. Shares of a budget with a [backstop](Budget::part_with_backstop) do not divide the time until
//!    then, so before it passes only work decides how far each of them gets.
//! 7. A budget knows whether time, memory or an interrupt stopped it or a part of it
//!    ([`irreproducible`](Budget::irreproducible)).

use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Why an analysis was stopped.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StopReason {
    /// The time limit was reached.
    Timeout,
    /// The memory limit was reached.
    Memory,
    /// The limit on work was reached: the budget was polled as often as it allows.
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
            Self::Steps => "the limit on work was reached",
            Self::Cancelled => "the run was interrupted",
        })
    }
}

/// How far a search of states is, for whoever watches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SearchFigures {
    /// How many states are stored.
    pub stored: u64,
    /// How many of them are not expanded yet.
    pub waiting: u64,
    /// The most transactions that lie behind one.
    pub depth: u64,
}

/// A question to the host of an analysis: whether to stop.
type Ask = Box<dyn Fn() -> Option<StopReason> + Send + Sync>;

/// A point in time at which a budget is used up.
#[derive(Clone, Copy)]
struct Deadline {
    at: Instant,
    /// Whether somebody else raises the flag then, so that polls need not read the clock.
    watched: bool,
    /// Whether shares divide the time until then.
    shared_out: bool,
}

impl Deadline {
    /// One that polls look at.
    fn polled(at: Instant) -> Self {
        Self { at, watched: false, shared_out: true }
    }
}

/// What a poll looks at beside the flag.
#[derive(Default)]
struct Limit {
    /// The steps of work.
    steps: Option<u64>,
    /// Whether steps are counted, limit or not.
    is_metered: bool,
    /// The clock.
    deadline: Option<Deadline>,
    /// The host, at every so many polls.
    callback: Option<(u64, Ask)>,
}

impl Limit {
    /// Whether a poll need not look at anything.
    fn is_flag(&self) -> bool {
        !self.counts()
            && self.deadline.is_none_or(|deadline| deadline.watched)
            && self.callback.is_none()
    }

    /// Whether steps are counted.
    fn counts(&self) -> bool {
        self.steps.is_some() || self.is_metered || self.callback.is_some()
    }
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
    /// The steps that it was charged, where something is counted.
    polls: AtomicU64,
    /// The state of the first reason that depends on the machine and stopped it or a part of it.
    by_machine: AtomicU8,
    limit: Limit,
    whole: Option<Budget>,
    /// The shares of it that may be in use.
    shares: Mutex<Vec<Weak<Shared>>>,
    /// How far a search is, if one has said so.
    figures: Mutex<Option<SearchFigures>>,
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
        Self::made(Limit::default(), None)
    }

    /// A budget that the `steps`-th step finds used up.
    pub fn with_steps(steps: u64) -> Self {
        Self::made(Limit { steps: Some(steps), ..Limit::default() }, None)
    }

    /// A budget that is used up at a point in time. Every poll reads the clock; who can start a
    /// thread had better let that one watch it, and [raise](Self::raise) the flag.
    pub fn with_deadline(deadline: Instant) -> Self {
        let deadline = Some(Deadline::polled(deadline));
        Self::made(Limit { deadline, ..Limit::default() }, None)
    }

    /// A budget that somebody else raises at `deadline`, if there is one: polls do not read the clock,
    /// but [shares](Self::share) know how much time is left. With `steps`, that poll finds it used
    /// up, too.
    pub fn watched(deadline: Option<Instant>, steps: Option<u64>) -> Self {
        let deadline = deadline.map(|at| Deadline { watched: true, ..Deadline::polled(at) });
        Self::made(Limit { steps, deadline, ..Limit::default() }, None)
    }

    /// A budget that asks its host at every `every`-th poll whether to stop.
    pub fn with_callback(
        every: u64,
        ask: impl Fn() -> Option<StopReason> + Send + Sync + 'static,
    ) -> Self {
        let callback: (u64, Ask) = (every.max(1), Box::new(ask));
        Self::made(Limit { callback: Some(callback), ..Limit::default() }, None)
    }

    /// Says how far a search is, to whoever has the budget or the one that it is a part of.
    pub fn note_figures(&self, figures: SearchFigures) {
        match &self.0.whole {
            Some(whole) => whole.note_figures(figures),
            None => *self.0.figures.lock().unwrap_or_else(PoisonError::into_inner) = Some(figures),
        }
    }

    /// How far a search is, if one has said so.
    pub fn figures(&self) -> Option<SearchFigures> {
        *self.0.figures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A part of this budget with at most so many steps.
    #[must_use]
    pub fn part_with_steps(&self, steps: u64) -> Self {
        Self::made(Limit { steps: Some(steps), ..Limit::default() }, Some(self.clone()))
    }

    /// A part of this budget that ends at a point in time at the latest.
    #[must_use]
    pub fn part_with_deadline(&self, deadline: Instant) -> Self {
        let deadline = Some(Deadline::polled(deadline));
        Self::made(Limit { deadline, ..Limit::default() }, Some(self.clone()))
    }

    /// A part of this budget with at most so many steps, if that is limited, that ends at a point in time
    /// at the latest. No share divides the time until then: it is there for the machine that is much
    /// slower than expected.
    #[must_use]
    pub fn part_with_backstop(&self, steps: Option<u64>, backstop: Instant) -> Self {
        let deadline = Some(Deadline { shared_out: false, ..Deadline::polled(backstop) });
        Self::made(Limit { steps, deadline, ..Limit::default() }, Some(self.clone()))
    }

    /// A part of this budget that counts the [steps](Self::polls) that it is charged.
    #[must_use]
    pub fn metered_part(&self) -> Self {
        Self::made(Limit { is_metered: true, ..Limit::default() }, Some(self.clone()))
    }

    /// A part of this budget that can be raised by itself.
    #[must_use]
    pub fn part(&self) -> Self {
        Self::made(Limit::default(), Some(self.clone()))
    }

    /// A part of this budget for one of `shares` pieces of work that are still to be done: of the
    /// time and the steps that are left it may use its share. What it leaves is for the others.
    #[must_use]
    pub fn share(&self, shares: usize) -> Self {
        let limit = if shares <= 1 {
            Limit::default()
        } else {
            let part = |left: Duration| left / u32::try_from(shares).unwrap_or(u32::MAX);
            // Where no time is set no clock is read: a web page has none.
            let deadline = self.deadline().map(|end| {
                let now = Instant::now();
                now + part(end.saturating_duration_since(now))
            });
            Limit {
                steps: self.steps_left().map(|left| (left / shares as u64).max(1)),
                deadline: deadline.map(Deadline::polled),
                ..Limit::default()
            }
        };
        let share = Self::made(limit, Some(self.clone()));
        let mut shares = self.shares();
        shares.retain(|one| one.strong_count() > 0);
        shares.push(Arc::downgrade(&share.0));
        drop(shares);
        share
    }

    /// Uses up the [shares](Self::share) that are in use, and the budget itself if there are none. So
    /// a limit that one piece of work meets need not be the end of the next one.
    pub fn raise_shares(&self, reason: StopReason) {
        let shares: Vec<Self> = self.shares().iter().filter_map(Weak::upgrade).map(Self).collect();
        if shares.is_empty() {
            self.raise(reason);
        }
        for share in shares {
            share.raise(reason);
        }
    }

    fn shares(&self) -> MutexGuard<'_, Vec<Weak<Shared>>> {
        self.0.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When it will be used up at the latest, if there is such a time and shares divide the time until
    /// then.
    fn deadline(&self) -> Option<Instant> {
        let own = self.0.limit.deadline.filter(|deadline| deadline.shared_out);
        let own = own.map(|deadline| deadline.at);
        let whole = self.0.whole.as_ref().and_then(Self::deadline);
        own.into_iter().chain(whole).min()
    }

    /// How many steps are left, the one that finds it used up among them, if they are limited.
    pub fn steps_left(&self) -> Option<u64> {
        let own = self.0.limit.steps.map(|steps| steps.saturating_sub(self.polls()));
        let whole = self.0.whole.as_ref().and_then(Self::steps_left);
        own.into_iter().chain(whole).min()
    }

    fn made(limit: Limit, whole: Option<Self>) -> Self {
        let plain = limit.is_flag() && whole.is_none();
        let state = AtomicU8::new(if plain { UNLIMITED } else { LIMITED });
        let (polls, by_machine) = (AtomicU64::new(0), AtomicU8::new(UNLIMITED));
        let (shares, figures) = (Mutex::default(), Mutex::default());
        Self(Arc::new(Shared { state, polls, by_machine, limit, whole, shares, figures }))
    }

    /// Uses the budget up. The first reason stays.
    pub fn raise(&self, reason: StopReason) {
        // An error means that another reason came first, which is the one to keep.
        let raised = self.0.state.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |state| {
            (state < FIRST_REASON).then_some(reason.state())
        });
        if raised.is_ok() && reason != StopReason::Steps {
            let mut whole = Some(self);
            while let Some(Self(shared)) = whole {
                let (by_machine, order) = (&shared.by_machine, Ordering::Relaxed);
                let _ = by_machine.compare_exchange(UNLIMITED, reason.state(), order, order);
                whole = shared.whole.as_ref();
            }
        }
    }

    /// Why the work that it was spent on can have another outcome on another machine, or at another time:
    /// time, memory or an interrupt stopped it or a part of it.
    pub fn irreproducible(&self) -> Option<StopReason> {
        let known = StopReason::of_state(self.0.by_machine.load(Ordering::Relaxed));
        known.or_else(|| self.stopped().filter(|reason| *reason != StopReason::Steps))
    }

    /// Whether to stop, and why. Cheap enough for a hot loop.
    #[inline]
    pub fn poll(&self) -> Option<StopReason> {
        match self.0.state.load(Ordering::Relaxed) {
            UNLIMITED => None,
            state => self.look(state, 1),
        }
    }

    /// The same for work that costs as much as so many steps.
    ///
    /// # Errors
    /// If the budget is used up, with the reason.
    #[inline]
    pub fn charge(&self, steps: u64) -> Result<(), StopReason> {
        match self.0.state.load(Ordering::Relaxed) {
            UNLIMITED => Ok(()),
            state => self.look(state, steps).map_or(Ok(()), Err),
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

    /// Whether to stop, and why, without counting as a poll and without asking the host: for those who
    /// wait for work to end, and look as often as they like.
    pub fn peek(&self) -> Option<StopReason> {
        let passed = |deadline: Deadline| !deadline.watched && Instant::now() >= deadline.at;
        if self.stopped().is_none() && self.0.limit.deadline.is_some_and(passed) {
            self.raise(StopReason::Timeout);
        }
        self.stopped().or_else(|| self.0.whole.as_ref()?.peek())
    }

    /// How many steps it was charged, those of its parts among them; once it is used up, each look at it
    /// counts as one. Only budgets with a limit on steps or a
    /// callback and [metered](Self::metered_part) ones count.
    pub fn polls(&self) -> u64 {
        self.0.polls.load(Ordering::Relaxed)
    }

    /// A poll that has more to look at than that nobody raised the flag of a budget without limits.
    #[cold]
    fn look(&self, state: u8, charged: u64) -> Option<StopReason> {
        let Shared { polls, limit, whole, .. } = &*self.0;
        // What comes too late does no work: it counts as a look only.
        let known = StopReason::of_state(state);
        let charged = if known.is_some() { 1 } else { charged };
        let before = if limit.counts() { polls.fetch_add(charged, Ordering::Relaxed) } else { 0 };
        if known.is_some() {
            return known;
        }
        let count = before.saturating_add(charged);
        let outer = whole.as_ref().and_then(|whole| whole.charge(charged).err());
        let passed = |deadline: Deadline| !deadline.watched && Instant::now() >= deadline.at;
        let reason = if outer.is_some() {
            outer
        } else if let Some(steps) = limit.steps.filter(|&steps| count >= steps) {
            // No more was done than it allows, whatever the last charge is.
            polls.fetch_min(steps.max(before), Ordering::Relaxed);
            Some(StopReason::Steps)
        } else if limit.deadline.is_some_and(passed) {
            Some(StopReason::Timeout)
        } else {
            let asked = limit.callback.as_ref().filter(|(every, _)| count / every > before / every);
            asked.and_then(|(_, ask)| ask())
        };
        let reason = reason?;
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
    fn who_waits_looks_without_working() {
        let budget = Budget::with_steps(1);
        assert_eq!([budget.peek(), budget.peek()], [None, None]);
        assert_eq!(budget.poll(), Some(StopReason::Steps));
        assert_eq!(budget.peek(), Some(StopReason::Steps));
        let late = Budget::with_deadline(Instant::now());
        assert_eq!(late.part().peek(), Some(StopReason::Timeout));
        assert_eq!(Budget::watched(Some(Instant::now()), None).peek(), None);
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

    #[test]
    fn a_watched_deadline_is_raised_by_somebody_else() {
        let budget = Budget::watched(Some(Instant::now()), Some(3));
        let polls = [budget.poll(), budget.poll(), budget.poll()];
        assert_eq!(polls, [None, None, Some(StopReason::Steps)]);
        let budget = Budget::watched(None, None);
        budget.raise(StopReason::Timeout);
        assert_eq!(budget.poll(), Some(StopReason::Timeout));
    }

    #[test]
    fn steps_are_shared_out() {
        let whole = Budget::with_steps(100);
        let used = |shares: usize, most: usize| {
            let share = whole.share(shares);
            let used = (1..=most).take_while(|_| share.poll().is_none()).count();
            (used, share.stopped())
        };
        // A fourth of all; less than a third of what is left; half of the rest; and the rest.
        assert_eq!(used(4, 1000), (24, Some(StopReason::Steps)));
        assert_eq!(whole.stopped(), None);
        assert_eq!(used(3, 5), (5, None));
        assert_eq!(used(2, 1000), (34, Some(StopReason::Steps)));
        assert_eq!(whole.stopped(), None);
        assert_eq!(used(1, 1000), (34, Some(StopReason::Steps)));
        assert_eq!(whole.stopped(), Some(StopReason::Steps));
    }

    #[test]
    fn time_is_shared_out() {
        let end = Instant::now() + Duration::from_secs(1000);
        let whole = Budget::watched(Some(end), None);
        let first = whole.share(4);
        let left = first.deadline().expect("a share of the time") - Instant::now();
        assert!((200..=250).contains(&left.as_secs()), "{left:?}");
        // A share of a share.
        let left = first.share(5).deadline().expect("a share of it") - Instant::now();
        assert!((40..=50).contains(&left.as_secs()), "{left:?}");
        assert_eq!(whole.share(1).deadline(), Some(end));
        assert_eq!(Budget::new().share(3).deadline(), None);
        let late = Budget::with_deadline(Instant::now()).share(2);
        assert_eq!(late.poll(), Some(StopReason::Timeout));
    }

    #[test]
    fn shares_are_raised_and_not_the_whole() {
        let whole = Budget::new();
        let (first, second) = (whole.share(2), whole.share(1));
        whole.raise_shares(StopReason::Memory);
        assert_eq!([first.poll(), second.poll()], [Some(StopReason::Memory); 2]);
        assert_eq!(whole.poll(), None);
        let third = whole.share(1);
        assert_eq!(third.poll(), None, "it came later");
        drop((first, second, third));
        whole.raise_shares(StopReason::Memory);
        assert_eq!(whole.poll(), Some(StopReason::Memory), "nobody else is there to stop");
    }
    #[test]
    fn expensive_work_counts_as_several_steps() {
        let budget = Budget::with_steps(10);
        assert_eq!(budget.charge(4), Ok(()));
        assert_eq!((budget.polls(), budget.steps_left()), (4, Some(6)));
        assert_eq!(budget.charge(5), Ok(()));
        assert_eq!(budget.poll(), Some(StopReason::Steps));
        assert_eq!(Budget::new().charge(u64::MAX), Ok(()));
        assert_eq!(budget.metered_part().charge(3), Err(StopReason::Steps));
        let metered = Budget::new().metered_part();
        assert_eq!((metered.charge(3), metered.poll(), metered.polls()), (Ok(()), None, 4));
        assert_eq!(metered.steps_left(), None);
    }

    #[test]
    fn a_callback_is_asked_as_often_as_steps_say() {
        let asked = Arc::new(AtomicU64::new(0));
        let counter = asked.clone();
        let budget = Budget::with_callback(10, move || {
            counter.fetch_add(1, Ordering::Relaxed);
            None
        });
        for steps in [9, 2, 8, 1, 25, 4] {
            assert_eq!(budget.charge(steps), Ok(()));
        }
        assert_eq!(asked.load(Ordering::Relaxed), 3, "at 11, 20 and 45 of 49 steps");
    }

    #[test]
    fn no_share_divides_the_time_until_a_backstop() {
        let late = Instant::now() + Duration::from_secs(1000);
        let part = Budget::new().part_with_backstop(Some(100), late);
        assert_eq!(part.share(4).deadline(), None);
        assert_eq!(part.share(4).steps_left(), Some(25));
        assert_eq!(part.poll(), None);
        let passed = Budget::new().part_with_backstop(Some(100), Instant::now());
        assert_eq!(passed.share(4).poll(), Some(StopReason::Timeout));
        // A limit on time is divided all the same.
        let timed = Budget::watched(Some(late), None).part_with_backstop(None, late);
        assert!(timed.share(4).deadline().is_some_and(|deadline| deadline < late));
    }

    #[test]
    fn what_depends_on_the_machine_is_known() {
        let whole = Budget::with_steps(100);
        let (first, second) = (whole.share(2), whole.share(1));
        let part = first.part_with_steps(1);
        assert_eq!(part.poll(), Some(StopReason::Steps));
        assert_eq!([&part, &first, &whole].map(Budget::irreproducible), [None; 3]);
        let late = first.part_with_deadline(Instant::now());
        assert_eq!(late.poll(), Some(StopReason::Timeout));
        let timeout = Some(StopReason::Timeout);
        assert_eq!([&late, &first, &whole].map(Budget::irreproducible), [timeout; 3]);
        assert_eq!([&part, &second].map(Budget::irreproducible), [None; 2], "they went on");
        assert_eq!(whole.stopped(), None);
        whole.raise(StopReason::Memory);
        assert_eq!(second.irreproducible(), Some(StopReason::Memory), "also before its next poll");
        assert_eq!(whole.irreproducible(), timeout, "the first reason stays");
        let spent = Budget::with_steps(1);
        assert_eq!((spent.poll(), spent.irreproducible()), (Some(StopReason::Steps), None));
    }
}
