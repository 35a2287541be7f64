//! # Idea
//! Looks at the files a few times per second and says when something is different: a file was
//! changed, came or went. Asking the system to be told would be quicker by a moment, but it works
//! differently everywhere and not at all on many network disks.
//!
//! It also looks while a run works: one that is out of date is stopped at once, and nothing of it is
//! shown.
//!
//! # Invariants
//! 1. A look is taken before the analysis that it belongs to, so that no change is missed.
//! 2. Looking takes at most a tenth of the time, however many files there are.

use super::files;
use crate::args::check::CheckArgs;
use crate::watchdog::Done;
use selvedge_base::{Budget, StopReason};
use selvedge_library::cache::digest;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// How often to look.
const PERIOD: Duration = Duration::from_millis(200);
/// Files up to this size are compared by their contents, larger ones by size and time only.
const SMALL: u64 = 1 << 20;

/// What was seen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Look {
    files: Vec<(PathBuf, Option<Seen>)>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Seen {
    size: u64,
    modified: Option<SystemTime>,
    contents: Option<String>,
}

impl Look {
    /// Looks at everything that a run with these arguments reads.
    pub fn new(args: &CheckArgs) -> Self {
        let found = files::find(&args.paths).files;
        let first = args.paths.first().map_or(Path::new("."), PathBuf::as_path);
        let configuration = args.config.clone().or_else(|| files::configuration(first));
        let restrictions = args.restrict.iter().map(|(_, file)| PathBuf::from(file));
        let others = configuration.into_iter().chain(args.baseline.clone()).chain(restrictions);
        let with_beside = |path: PathBuf| {
            let beside = ["init", "spec"].map(|extension| path.with_extension(extension));
            let is_system = path.extension().is_some_and(|extension| extension == "pds");
            std::iter::once(path).chain(beside.into_iter().filter(move |_| is_system))
        };
        let paths = found.into_iter().flat_map(|found| with_beside(found.path)).chain(others);
        Self {
            files: paths
                .map(|path| {
                    let seen = see(&path);
                    (path, seen)
                })
                .collect(),
        }
    }

    /// Does work that `budget` can stop, and stops it as soon as something is different; then there is no
    /// result.
    pub fn during<T>(
        &self,
        args: &CheckArgs,
        budget: &Budget,
        work: impl FnOnce() -> T,
    ) -> Option<T> {
        let done = Done::default();
        let observe = || {
            let mut pause = PERIOD;
            while !done.wait(pause) {
                let start = Instant::now();
                if self.is_outdated(args) {
                    budget.raise(StopReason::Cancelled);
                    return true;
                }
                // Invariant 2.
                pause = PERIOD.max(start.elapsed() * 10);
            }
            false
        };
        let (result, outdated) = std::thread::scope(|scope| {
            let observer = scope.spawn(observe);
            let result = {
                let _end = done.guard();
                work()
            };
            // A look that fails says nothing about the files.
            (result, observer.join().unwrap_or(false))
        });
        // What came after the last look counts, too.
        (!outdated && !self.is_outdated(args)).then_some(result)
    }

    fn is_outdated(&self, args: &CheckArgs) -> bool {
        Self::new(args) != *self
    }

    /// Waits until something is different.
    pub fn wait(&self, args: &CheckArgs) {
        loop {
            std::thread::sleep(PERIOD);
            if self.is_outdated(args) {
                return;
            }
        }
    }
}

fn see(path: &Path) -> Option<Seen> {
    let about = std::fs::metadata(path).ok()?;
    // Pipes and devices must not be read here.
    let small = about.is_file() && about.len() <= SMALL;
    let contents = small.then(|| std::fs::read(path).ok().map(|bytes| digest(&bytes))).flatten();
    // Time says nothing new where the contents are known.
    let modified = if contents.is_some() { None } else { about.modified().ok() };
    Some(Seen { size: about.len(), modified, contents })
}
