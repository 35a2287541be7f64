//! # Idea
//! A thread beside the work that looks at the clock, at the memory of the process and for
//! interrupts, and raises the budget when a limit is met. Engines poll the budget and read neither.
//! The watch begins before the input is read and ends when the report is written.
//!
//! Work that asks no budget (what can block, as opening a pipe; readers of texts) is done by a
//! thread that is left behind when the budget is used up, unless it is short ([`within`]).

use crate::args::LimitOptions;
use crate::interrupt::{self, Listener};
use selvedge_base::{Budget, StopReason};
use selvedge_library::render::AFTER_A_LIMIT;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// How often to look.
const PERIOD: Duration = Duration::from_millis(10);

/// The limits of a run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// When to stop.
    pub deadline: Option<Instant>,
    /// How many bytes the process may use.
    pub memory: Option<u64>,
    /// How many steps the analysis may take.
    pub work: Option<u64>,
}

impl Limits {
    /// The limits of a run that began at `start`.
    pub fn new(options: LimitOptions, start: Instant) -> Self {
        Self {
            // A deadline beyond what the clock can show is none.
            deadline: options.timeout.and_then(|timeout| start.checked_add(timeout)),
            memory: options.memory.map(|mebibytes| mebibytes.saturating_mul(1 << 20)),
            work: options.max_work,
        }
    }
}

/// Tells threads that wait for it that the work is done.
#[derive(Debug, Default)]
pub struct Done {
    flag: Mutex<bool>,
    changed: Condvar,
}

impl Done {
    /// Waits for the end of the work, at most for `time`; says whether it has ended.
    pub fn wait(&self, time: Duration) -> bool {
        let flag = self.flag.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(flag, time, |done| !*done);
        *waited.unwrap_or_else(std::sync::PoisonError::into_inner).0
    }

    /// Announces the end when the result is dropped, also when the work panics.
    pub fn guard(&self) -> Guard<'_> {
        Guard(self)
    }
}

/// See [`Done::guard`].
pub struct Guard<'a>(&'a Done);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        *self.0.flag.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = true;
        self.0.changed.notify_all();
    }
}

/// A watch over the limits of a command, until it is dropped.
#[derive(Debug)]
pub struct Watch {
    start: Instant,
    deadline: Option<Instant>,
    budget: Budget,
    done: Arc<Done>,
    peak: Arc<AtomicU64>,
    _listener: Listener,
}

impl Watch {
    /// Begins a watch over a command that began at `start`.
    pub fn new(limits: Limits, start: Instant) -> Self {
        let watch = Self {
            start,
            deadline: limits.deadline,
            budget: Budget::watched(limits.deadline, limits.work),
            done: Arc::default(),
            peak: Arc::default(),
            _listener: Listener::new(),
        };
        let (budget, done, peak) = (watch.budget.clone(), watch.done.clone(), watch.peak.clone());
        check(limits, &budget, &peak);
        std::thread::spawn(move || watch_until(limits, &budget, &done, &peak));
        watch
    }

    /// What the command may still cost.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// How many interleavings the report may have, if a limit was met or is near.
    pub fn most_interleavings(&self) -> Option<usize> {
        let near = |deadline: Instant| Instant::now() + NEAR >= deadline;
        let limited = self.budget.stopped().is_some_and(|reason| reason != StopReason::Steps);
        (limited || self.deadline.is_some_and(near)).then_some(AFTER_A_LIMIT)
    }

    /// How long the command has run.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// The largest memory use that was seen, in bytes.
    pub fn peak_memory(&self) -> Option<u64> {
        let peak = self.peak.load(Ordering::Relaxed).max(memory_in_use().unwrap_or(0));
        (peak > 0).then_some(peak)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.done.guard());
    }
}

/// With less time than this left, a report of any size may be late.
const NEAR: Duration = Duration::from_secs(2);

/// How long work that asks no budget may take beyond its end. So the limit of a run that has no
/// time at all is met where its questions are asked, and the report says so.
const GRACE: Duration = Duration::from_millis(500);

/// The stack of a thread that reads: that of a main thread.
const STACK: usize = 8 << 20;

/// Work on no more bytes than this ends before anybody could want to leave it behind. (None does where
/// the stack of the main thread is a small one.)
const SHORT: u64 = if cfg!(windows) { 0 } else { 1 << 14 };

/// Does work on so many bytes, if that is known, that asks no budget, or leaves it behind when the budget
/// is used up. To start a thread costs more than to read a short text, so that is done by the caller, which
/// is the main thread or names no number of bytes.
pub fn within<T: Send + 'static>(
    budget: &Budget,
    bytes: Option<u64>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, StopReason> {
    if bytes.is_some_and(|bytes| bytes <= SHORT) {
        return Ok(work());
    }
    let (sender, receiver) = mpsc::sync_channel(1);
    // An error means that nobody waits for the result any more.
    let work = move || drop(sender.send(work()));
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(work);
    let worker = worker.expect("a thread can be started");
    let mut late: Option<(Instant, StopReason)> = None;
    loop {
        match receiver.recv_timeout(PERIOD) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => unreachable!("the worker sends before it ends"),
            },
        }
        // How often this looks depends on the machine, so it must not count as work.
        late = late.or_else(|| Some((Instant::now(), budget.peek()?)));
        // Memory grows on while one waits.
        let grace = |reason| if reason == StopReason::Memory { Duration::ZERO } else { GRACE };
        if let Some((since, reason)) = late
            && since.elapsed() >= grace(reason)
        {
            return Err(reason);
        }
    }
}

/// Watches the limits until the work is done; `peak` becomes the largest memory use seen.
fn watch_until(limits: Limits, budget: &Budget, done: &Done, peak: &AtomicU64) {
    loop {
        check(limits, budget, peak);
        let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now());
        let pause = limits.deadline.map_or(PERIOD, left).min(PERIOD);
        // A deadline that has passed was announced; what is left to do is to wait for the end.
        if done.wait(if pause.is_zero() { PERIOD } else { pause }) {
            return;
        }
    }
}

/// Looks once.
fn check(limits: Limits, budget: &Budget, peak: &AtomicU64) {
    if interrupt::requested() {
        budget.raise(StopReason::Cancelled);
    }
    if limits.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
        budget.raise(StopReason::Timeout);
    }
    if let Some(used) = memory_in_use() {
        peak.fetch_max(used, Ordering::Relaxed);
        if limits.memory.is_some_and(|limit| used > limit) {
            budget.raise_shares(StopReason::Memory);
        }
    }
}

/// How many bytes of memory the process occupies, where the system can tell.
fn memory_in_use() -> Option<u64> {
    Some(memory_stats::memory_stats()?.physical_mem as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(limits: Limits, work: impl FnOnce(&Budget)) -> Option<StopReason> {
        let watch = Watch::new(limits, Instant::now());
        work(watch.budget());
        watch.budget().poll()
    }

    fn until_raised(budget: &Budget) {
        let start = Instant::now();
        while budget.poll().is_none() {
            assert!(start.elapsed() < Duration::from_secs(20), "never raised");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn deadlines_are_raised() {
        let deadline = Some(Instant::now() + Duration::from_millis(30));
        let reason = run(Limits { deadline, memory: None, work: None }, until_raised);
        assert_eq!(reason, Some(StopReason::Timeout));
    }

    #[test]
    fn memory_limits_are_raised() {
        let reason = run(Limits { deadline: None, memory: Some(1), work: None }, until_raised);
        assert_eq!(reason, Some(StopReason::Memory));
    }

    #[test]
    fn work_is_counted() {
        let limits = Limits { deadline: None, memory: None, work: Some(3) };
        let watch = Watch::new(limits, Instant::now());
        // Waiting for a reader is no work.
        let wait = || std::thread::sleep(Duration::from_millis(50));
        assert_eq!(within(watch.budget(), None, wait), Ok(()));
        let polls: Vec<_> = (0..3).map(|_| watch.budget().poll()).collect();
        assert_eq!(polls, [None, None, Some(StopReason::Steps)]);
    }

    #[test]
    fn nothing_is_raised_without_limits() {
        let pause = |_: &Budget| std::thread::sleep(Duration::from_millis(30));
        assert_eq!(run(Limits { deadline: None, memory: None, work: None }, pause), None);
    }

    #[test]
    fn work_is_left_behind_when_the_budget_is_used_up() {
        let budget = Budget::new();
        assert_eq!(within(&budget, None, || 1), Ok(1));
        budget.raise(StopReason::Cancelled);
        assert_eq!(within(&budget, None, || 2), Ok(2), "what is done at once is done");
        let (keep, wait) = mpsc::channel::<()>();
        assert_eq!(within(&budget, None, move || wait.recv().is_ok()), Err(StopReason::Cancelled));
        drop(keep);
    }

    #[test]
    fn short_work_needs_no_thread() {
        let (here, budget) = (std::thread::current().id(), Budget::new());
        let worker = |bytes| within(&budget, bytes, || std::thread::current().id());
        assert_eq!(worker(Some(SHORT)), Ok(here));
        assert_ne!(worker(Some(SHORT + 1)), Ok(here));
        assert_ne!(worker(None), Ok(here));
    }

    #[test]
    fn a_panic_in_work_is_a_panic() {
        let outcome = std::panic::catch_unwind(|| {
            within(&Budget::new(), None, || -> u32 { panic!("on purpose") })
        });
        assert!(outcome.is_err());
    }
}
