//! # Idea
//! Models become findings. Several are analysed at once, each by one thread; the limits and the bar
//! are those of the whole run. A model whose answer is in the cache is not analysed.
//!
//! # Invariants
//! 1. The results are in the order of the files, whichever was done first.
//! 2. Each file has its share of the time that is left, so no file takes the time of the next; what a
//!    share was too small for is analysed again with what is left in the end. A file that comes after
//!    the limit of the whole run was met has all its questions open.
//! 3. An answer goes into the cache only if nothing stopped the run before it was complete.

use super::bar::{self, Position};
use super::cache::{self, Cache};
use super::confirm;
use crate::args::check::JavaArgs;
use crate::watchdog::Done;
use selvedge_analysis::{InternalError, contain};
use selvedge_base::{Budget, Diagnostic, StopReason};
use selvedge_findings::CheckedFile;
use selvedge_library::cache::Store;
use selvedge_library::check::AllAnswers;
use selvedge_library::file::{FileAnswer, Loaded};
use selvedge_library::java::{JavaPart, JavaProgram};
use selvedge_library::shard::join::JoinedFile;
use selvedge_library::shard::{FilePart, Shard};
use selvedge_library::{CheckOptions, Fixes, Text};
use selvedge_report::DefaultLimits;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How to analyse.
pub struct Analysis<'a> {
    /// What to ask.
    pub options: &'a CheckOptions,
    /// What of it.
    pub task: Task<'a>,
    /// What the run may cost.
    pub budget: &'a Budget,
    /// What the analysis of one file may cost.
    pub limits: FileLimits,
    /// Where answers are kept.
    pub cache: Option<&'a Cache>,
    /// How many files are analysed at once.
    pub jobs: Option<NonZeroUsize>,
    /// Whether to show how far it is.
    pub progress: bool,
    /// How programs in Java are run under the interleavings of their findings, if they are.
    pub confirm: Option<&'a JavaArgs>,
}

/// The work that the analysis of a file with data may take, unless the user sets a limit. Chosen for this
/// version so that the slowest input that was measured takes less than 60 seconds of processor time; a step
/// takes 1 to 2 microseconds there.
pub const WORK_FOR_DATA: u64 = 20_000_000;
/// The same of a program in Java, where a step takes 0.3 to 0.8 microseconds.
pub const WORK_FOR_JAVA: u64 = 60_000_000;
/// A file with a default limit on work ends after this time: ten times what that work is meant to take.
pub const BACKSTOP: Duration = Duration::from_mins(10);

/// What the analysis of one file may cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileLimits {
    /// The limit on work that the user sets.
    work: Option<u64>,
    /// Whether files have default limits: the user sets no limit on time.
    has_defaults: bool,
}

impl FileLimits {
    /// The limits of a run with these limits of the user.
    pub fn new(work: Option<u64>, timeout: Option<Duration>) -> Self {
        Self { work, has_defaults: timeout.is_none() }
    }

    /// The part of a budget for a file.
    fn part(&self, file: &Loaded, share: &Budget) -> Budget {
        let default = self.default_for(file);
        let steps = self.work.or(default);
        let backstop = default.and_then(|_| Instant::now().checked_add(BACKSTOP));
        match (steps, backstop) {
            (steps, Some(backstop)) => share.part_with_backstop(steps, backstop),
            (Some(steps), None) => share.part_with_steps(steps),
            (None, None) => share.clone(),
        }
    }

    /// The work that a file may take by default. Files in which nothing is searched for have no limit.
    fn default_for(&self, file: &Loaded) -> Option<u64> {
        let work = if file.java.is_some() {
            Some(WORK_FOR_JAVA)
        } else {
            file.goals.may_be_long().then_some(WORK_FOR_DATA)
        };
        work.filter(|_| self.has_defaults)
    }

    /// The limits of each file with data, if one of them has the default limit.
    pub fn for_data(&self, loaded: &[Loaded]) -> Option<DefaultLimits> {
        let has_data = |file: &&Loaded| file.program.is_some() && file.java.is_none();
        let default = loaded.iter().filter(has_data).find_map(|file| self.default_for(file));
        let work = default.filter(|_| self.work.is_none())?;
        Some(DefaultLimits { work, seconds: BACKSTOP.as_secs() })
    }
}

/// What to do with the questions.
#[derive(Clone, Copy)]
pub enum Task<'a> {
    /// To ask all of them.
    Whole,
    /// To ask a part of them; with what tells each file from the others.
    Part(Shard, &'a [String]),
    /// To conclude from answers that are there.
    Joined(&'a [JoinedFile]),
}

/// The answers of a part of the questions about a file.
#[derive(Debug)]
pub struct PartAnswers {
    /// The number of the file among all.
    pub number: usize,
    /// The answers, or the bug that kept it from being analysed.
    pub answers: Result<AllAnswers, String>,
    /// Those about a program in Java.
    pub java: Option<JavaPart>,
    /// Whether a limit was met.
    pub stopped: bool,
    /// Whether one was met that depends on the machine.
    pub not_reproducible: bool,
}

/// What became of the files.
#[derive(Debug, Default)]
pub struct Analysed {
    /// The files that were understood.
    pub files: Vec<CheckedFile>,
    /// What there is to say about them after the analysis, each with the file that it is about.
    pub warnings: Vec<(Text, Diagnostic)>,
    /// Bugs of ours, each with the name of the file.
    pub bugs: Vec<String>,
    /// The answers of a part of the questions, where only that was asked.
    pub parts: Vec<PartAnswers>,
    /// How many answers came from the cache.
    pub from_cache: usize,
}

/// Analyses the files that were understood.
pub fn analyse(loaded: &[Loaded], analysis: &Analysis<'_>) -> Analysed {
    let numbered = loaded.iter().enumerate().filter(|(_, file)| file.program.is_some());
    let (numbers, models): (Vec<usize>, Vec<&Loaded>) = numbered.unzip();
    let names: Vec<&str> = models.iter().map(|file| file.text.name.as_str()).collect();
    let done = Done::default();
    let position = Position::default();
    let answers: Mutex<Vec<Option<Result<FileAnswer, InternalError>>>> =
        Mutex::new(models.iter().map(|_| None).collect());
    let build = cache::build();
    let analyse = |at: usize, budget: &Budget| {
        let mut note = |kind, done, total| position.at(at, kind, done, total);
        let (model, number, options) = (models[at], numbers[at], analysis.options);
        let work = || match analysis.task {
            Task::Whole => {
                let cache = analysis.cache.map(|cache| (cache as &dyn Store, build.as_str()));
                model.check(options, cache, budget, &mut note)
            }
            Task::Part(shard, identities) => {
                let part = FilePart { shard, identity: &identities[number] };
                model.check_part(options, &part, budget, &mut note)
            }
            Task::Joined(files) => joined(&files[number], options, budget).map(|answer| {
                let not_reproducible = files[number].not_reproducible;
                answer.map(|answer| FileAnswer { not_reproducible, ..answer })
            }),
        };
        // A bug that one file meets is the result of that file.
        let mut new = contain(work).unwrap_or_else(|bug| Some(Err(bug)));
        if let Some(Ok(answer)) = &mut new {
            answer.not_reproducible |= budget.irreproducible().is_some();
        }
        let mut answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
        let better = match (&answers[at], &new) {
            (Some(Ok(known)), Some(Ok(new))) => new.open() <= known.open(),
            _ => true,
        };
        if answers[at].is_none() {
            position.finished();
        }
        if better {
            answers[at] = new;
        }
    };
    let pass = |files: &[usize]| {
        let next = AtomicUsize::new(0);
        let jobs = jobs(analysis.jobs, files.len());
        let work = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(&file) = files.get(at) else { break };
                // As many files as jobs have the time at once.
                let share = analysis.budget.share((files.len() - at).div_ceil(jobs));
                analyse(file, &analysis.limits.part(models[file], &share));
            }
        };
        std::thread::scope(|workers| {
            for _ in 1..jobs {
                workers.spawn(work);
            }
            work();
        });
    };
    std::thread::scope(|scope| {
        if analysis.progress {
            scope.spawn(|| bar::show(&names, &position, &done));
        }
        // The workers end before the guard does.
        let _end = done.guard();
        let mut files: Vec<usize> = (0..models.len()).collect();
        // The last files of a pass have all the time that is left, so each pass leaves fewer.
        while !files.is_empty() {
            pass(&files);
            // Without a limit on the time of the run, no file can have more than it had.
            if analysis.budget.stopped().is_some() || analysis.limits.has_defaults {
                break;
            }
            let answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
            // A larger share of the time could change what the time has stopped.
            files.retain(|&at| {
                let answer = answers[at].as_ref().and_then(|answer| answer.as_ref().ok());
                answer.is_some_and(|answer| answer.stopped == Some(StopReason::Timeout))
            });
        }
    });
    let answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut analysed = Analysed::default();
    for ((file, answer), number) in models.into_iter().zip(answers).zip(numbers) {
        match answer {
            Some(Ok(FileAnswer {
                mut checked,
                from_cache,
                stopped,
                not_reproducible,
                part,
                java_part: java,
                about,
            })) => {
                if let (Some(java), Some(about)) = (analysis.confirm, &about) {
                    confirm::confirm(file, &mut checked.findings, about, java, analysis.budget);
                }
                let stopped = stopped.is_some();
                let part = part.or_else(|| java.as_ref().map(|_| AllAnswers::default()));
                let part = part.map(|part| PartAnswers {
                    number,
                    answers: Ok(part),
                    java,
                    stopped,
                    not_reproducible,
                });
                analysed.parts.extend(part);
                analysed.from_cache += usize::from(from_cache);
                let said = file.afterwards(&checked).into_iter();
                analysed.warnings.extend(said.map(|said| (file.text.clone(), said)));
                let checked = file.report_about(checked, about);
                analysed.files.push(CheckedFile { not_reproducible, ..checked });
            }
            Some(Err(bug)) => {
                analysed.bugs.push(format!("{}: {bug}", file.text.name));
                let (answers, java) = (Err(bug.0), None);
                analysed.parts.push(PartAnswers {
                    number,
                    answers,
                    java,
                    stopped: false,
                    not_reproducible: false,
                });
            }
            None => analysed.bugs.push(format!("{}: it was not analysed", file.text.name)),
        }
    }
    if let Some(cache) = analysis.cache {
        cache.evict();
    }
    analysed
}

/// What the answers of all parts about a file show.
fn joined(
    file: &JoinedFile,
    options: &CheckOptions,
    budget: &Budget,
) -> Option<Result<FileAnswer, InternalError>> {
    if !file.java.is_empty() && file.answers.is_none() {
        // After a limit nobody looks for fixes.
        let fixes = if file.stopped { Fixes::Skip } else { options.fixes };
        let options = CheckOptions { fixes, ..options.clone() };
        let concluded = JavaProgram::conclude(&file.java, &options, budget);
        return Some(concluded.and_then(|all| match all {
            Ok(java) => Ok(FileAnswer::of_java(java, None)),
            Err(wrong) => Err(InternalError(wrong)),
        }));
    }
    match file.answers.clone()? {
        Err(bug) => Some(Err(InternalError(bug))),
        Ok(answers) => {
            // After a limit nobody looks for fixes.
            let fixes = if file.stopped { Fixes::Skip } else { options.fixes };
            let options = CheckOptions { fixes, ..options.clone() };
            file.loaded.conclude(&options, answers, budget)
        }
    }
}

/// How many threads work on so many files.
fn jobs(wanted: Option<NonZeroUsize>, files: usize) -> usize {
    let wanted = wanted.or_else(|| std::thread::available_parallelism().ok());
    wanted.map_or(1, NonZeroUsize::get).min(files.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_base::Id;
    use selvedge_program::NodeId;

    #[test]
    fn files_that_can_take_long_have_default_limits() {
        let data = "int 0..3 : x; process A { main { x = 1; assert(x == 1); } }";
        let events = "var : x; process A { main { write x; } }";
        let [data, events] = [("data.eml", data), ("events.eml", events)]
            .map(|(name, text)| Loaded::new(Text::new(name, text), true));
        let left = |limits: FileLimits, file: &Loaded| {
            limits.part(file, &Budget::new()).share(1).steps_left()
        };
        let time = Some(Duration::from_secs(5));
        for (work, timeout, expected) in [
            (None, None, (Some(WORK_FOR_DATA), None)),
            (None, time, (None, None)),
            (Some(7), None, (Some(7), Some(7))),
            (Some(7), time, (Some(7), Some(7))),
        ] {
            let limits = FileLimits::new(work, timeout);
            assert_eq!((left(limits, &data), left(limits, &events)), expected);
            let said = limits.for_data(&[data.clone(), events.clone()]);
            assert_eq!(said.is_some(), expected.0 == Some(WORK_FOR_DATA));
            assert_eq!(limits.for_data(std::slice::from_ref(&events)), None);
        }
    }

    /// The file that meets a bug of ours has no result, and the others have theirs.
    #[test]
    fn a_bug_is_the_result_of_its_file() {
        std::panic::set_hook(Box::new(selvedge_analysis::containment::note_panic));
        let source = "var : x; process A { main { write x; } } process B { main { write x; } }";
        let mut loaded: Vec<Loaded> = ["a.eml", "broken.eml", "c.eml"]
            .map(|name| Loaded::new(Text::new(name, source), true))
            .into();
        // No reader makes such a program, and nobody below is made for it.
        let program = loaded[1].program.as_mut().expect("it was understood");
        let edge = program.edges.ids().next().expect("an edge");
        program.edges[edge].target = NodeId::from_index(1_000);
        for jobs in [1, 2] {
            let analysed = analyse(
                &loaded,
                &Analysis {
                    options: &CheckOptions::default(),
                    task: Task::Whole,
                    budget: &Budget::new(),
                    limits: FileLimits::default(),
                    cache: None,
                    jobs: NonZeroUsize::new(jobs),
                    progress: false,
                    confirm: None,
                },
            );
            let files: Vec<&str> = analysed.files.iter().map(|file| file.file.as_str()).collect();
            assert_eq!(files, ["a.eml", "c.eml"]);
            assert!(analysed.files.iter().all(|file| file.findings.len() == 1));
            let [bug] = &analysed.bugs[..] else { panic!("{:?}", analysed.bugs) };
            assert!(bug.starts_with("broken.eml: ") && bug.contains("panic at crates/"), "{bug}");
        }
    }
}
