//! # Idea
//! A thread beside the analysis that looks at the clock and at the memory of the process, and raises
//! the budget when a limit is met. Engines poll the budget and read neither.

use crate::args::LimitOptions;
use selvedge_base::{Budget, StopReason};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};
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
}

impl Limits {
    /// The limits of a run that began at `start`.
    pub fn new(options: LimitOptions, start: Instant) -> Self {
        Self {
            // A deadline beyond what the clock can show is none.
            deadline: options.timeout.and_then(|timeout| start.checked_add(timeout)),
            memory: options.memory.map(|mebibytes| mebibytes.saturating_mul(1 << 20)),
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

/// Watches the limits until the work is done; `peak` becomes the largest memory use seen.
pub fn watch(limits: Limits, budget: &Budget, done: &Done, peak: &AtomicU64) {
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
pub fn check(limits: Limits, budget: &Budget, peak: &AtomicU64) {
    if limits.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
        budget.raise(StopReason::Timeout);
    }
    if let Some(used) = memory_in_use() {
        peak.fetch_max(used, Ordering::Relaxed);
        if limits.memory.is_some_and(|limit| used > limit) {
            budget.raise(StopReason::Memory);
        }
    }
}

/// How many bytes of memory the process occupies, where the system can tell.
pub fn memory_in_use() -> Option<u64> {
    Some(memory_stats::memory_stats()?.physical_mem as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(limits: Limits, work: impl FnOnce(&Budget)) -> Option<StopReason> {
        let (budget, done, peak) = (Budget::new(), Done::default(), AtomicU64::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| watch(limits, &budget, &done, &peak));
            let _end = done.guard();
            work(&budget);
        });
        budget.poll()
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
        let reason = run(Limits { deadline, memory: None }, until_raised);
        assert_eq!(reason, Some(StopReason::Timeout));
    }

    #[test]
    fn memory_limits_are_raised() {
        let reason = run(Limits { deadline: None, memory: Some(1) }, until_raised);
        assert_eq!(reason, Some(StopReason::Memory));
    }

    #[test]
    fn nothing_is_raised_without_limits() {
        let pause = |_: &Budget| std::thread::sleep(Duration::from_millis(30));
        assert_eq!(run(Limits { deadline: None, memory: None }, pause), None);
    }

    #[test]
    fn a_panic_ends_the_watch() {
        let outcome = std::panic::catch_unwind(|| {
            run(Limits { deadline: None, memory: None }, |_| panic!("on purpose"))
        });
        assert!(outcome.is_err());
    }
}
