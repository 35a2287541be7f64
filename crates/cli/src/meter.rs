//! # Idea
//! The clock and the memory of the process for engines that are asked one after the other. Each gets all
//! of what the options allow: its own deadline, its own work. Memory is that of the process, so an engine
//! that gives none back leaves less to the next.

use crate::args::LimitOptions;
use crate::watchdog::{Limits, Watch};
use selvedge_base::Budget;
use selvedge_library::{EngineCost, Meter};
use std::time::{Duration, Instant};

/// Limits and measures engines.
#[derive(Debug)]
pub struct EngineMeter {
    limits: LimitOptions,
    running: Option<(Watch, Option<Duration>)>,
}

impl EngineMeter {
    /// One that gives each engine these limits.
    pub fn new(limits: LimitOptions) -> Self {
        Self { limits, running: None }
    }
}

impl Meter for EngineMeter {
    fn begin(&mut self) -> Budget {
        let start = Instant::now();
        let watch = Watch::new(Limits::new(self.limits, start), start);
        let budget = watch.budget().clone();
        self.running = Some((watch, processor_time()));
        budget
    }

    fn end(&mut self) -> EngineCost {
        let Some((watch, before)) = self.running.take() else { return EngineCost::default() };
        let cpu = before.zip(processor_time()).map(|(before, now)| now.saturating_sub(before));
        EngineCost { cpu, peak_memory: watch.peak_memory() }
    }
}

/// The processor time of all threads of the process, where the system can tell.
#[cfg(unix)]
fn processor_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).ok()
}

#[cfg(not(unix))]
fn processor_time() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waiting costs no processor time, counting does; and both use memory.
    #[test]
    #[cfg(unix)]
    fn processor_time_is_that_of_work() {
        let mut meter =
            EngineMeter::new(LimitOptions { timeout: None, memory: None, max_work: Some(2) });
        let budget = meter.begin();
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(50) {}
        let cost = meter.end();
        assert!(cost.cpu.is_some_and(|cpu| cpu >= Duration::from_millis(5)), "{cost:?}");
        assert!(cost.peak_memory.is_some());
        assert_eq!((budget.poll(), budget.poll()), (None, Some(selvedge_base::StopReason::Steps)));
        assert_eq!(meter.begin().poll(), None, "each engine has its own work");
        assert_eq!(meter.end().cpu.map(|cpu| cpu < Duration::from_secs(1)), Some(true));
        assert_eq!(meter.end(), EngineCost::default());
    }
}
