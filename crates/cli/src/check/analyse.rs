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
use crate::progress;
use crate::watchdog::Done;
use selvedge_base::{Budget, StopReason};
use selvedge_findings::{Checked, CheckedFile};
use selvedge_library::cache::{Key, get, put};
use selvedge_library::file::Loaded;
use selvedge_library::{CheckOptions, check};
use selvedge_program::Program;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// How to analyse.
pub struct Analysis<'a> {
    /// What to ask.
    pub options: &'a CheckOptions,
    /// What the run may cost.
    pub budget: &'a Budget,
    /// How many steps the analysis of one file may take.
    pub work: Option<u64>,
    /// Where answers are kept.
    pub cache: Option<&'a Cache>,
    /// How many files are analysed at once.
    pub jobs: Option<NonZeroUsize>,
}

/// What became of the files.
#[derive(Debug, Default)]
pub struct Analysed {
    /// The files that were understood.
    pub files: Vec<CheckedFile>,
    /// Bugs of ours, each with the name of the file.
    pub bugs: Vec<String>,
    /// How many answers came from the cache.
    pub from_cache: usize,
}

/// One answer.
struct Answer {
    checked: Checked,
    from_cache: bool,
    /// Whether a larger share of the time could change it.
    cut: bool,
}

impl Answer {
    /// How many questions are open.
    fn open(&self) -> usize {
        self.checked.tallies.iter().map(|(_, tally)| tally.unknown).sum()
    }
}

/// Analyses the files that were understood.
pub fn analyse(loaded: &[Loaded], analysis: &Analysis<'_>) -> Analysed {
    let models: Vec<(&Loaded, &Program)> =
        loaded.iter().filter_map(|file| Some((file, file.program.as_ref()?))).collect();
    let names: Vec<&str> = models.iter().map(|(file, _)| file.text.name.as_str()).collect();
    let done = Done::default();
    let position = Position::default();
    let answers: Mutex<Vec<Option<Result<Answer, String>>>> =
        Mutex::new(models.iter().map(|_| None).collect());
    let build = cache::build();
    let analyse = |at: usize, budget: &Budget| {
        let (file, program) = models[at];
        let key = analysis.cache.map(|cache| {
            (cache, Key::new(&build, file.language, &file.text.text, analysis.options))
        });
        let mut options = analysis.options.clone();
        options.analysis.copies = file.copies;
        let mut note = |kind, done, total| position.at(at, kind, done, total);
        let new = answer(program, &options, key.as_ref(), budget, &mut note);
        let mut answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
        let better = match (&answers[at], &new) {
            (Some(Ok(known)), Ok(new)) => new.open() <= known.open(),
            _ => true,
        };
        if answers[at].is_none() {
            position.finished();
        }
        if better {
            answers[at] = Some(new);
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
                match analysis.work {
                    Some(steps) => analyse(file, &share.part_with_steps(steps)),
                    None => analyse(file, &share),
                }
            }
        };
        // A panic in one of them ends all of this.
        std::thread::scope(|workers| {
            for _ in 1..jobs {
                workers.spawn(work);
            }
            work();
        });
    };
    std::thread::scope(|scope| {
        if progress::wanted() {
            scope.spawn(|| bar::show(&names, &position, &done));
        }
        // The workers end before the guard does.
        let _end = done.guard();
        let mut files: Vec<usize> = (0..models.len()).collect();
        // The last files of a pass have all the time that is left, so each pass leaves fewer.
        while !files.is_empty() {
            pass(&files);
            if analysis.budget.stopped().is_some() {
                break;
            }
            let answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
            files.retain(|&at| matches!(&answers[at], Some(Ok(answer)) if answer.cut));
        }
    });
    let answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut analysed = Analysed::default();
    for ((file, program), answer) in models.into_iter().zip(answers) {
        match answer {
            Some(Ok(Answer { checked, from_cache, .. })) => {
                analysed.from_cache += usize::from(from_cache);
                analysed.files.push(checked_file(file, program.clone(), checked));
            }
            Some(Err(bug)) => analysed.bugs.push(format!("{}: {bug}", file.text.name)),
            None => analysed.bugs.push(format!("{}: it was not analysed", file.text.name)),
        }
    }
    if let Some(cache) = analysis.cache {
        cache.evict();
    }
    analysed
}

fn answer(
    program: &Program,
    options: &CheckOptions,
    key: Option<&(&Cache, Key)>,
    budget: &Budget,
    progress: &mut dyn FnMut(selvedge_findings::FindingKind, usize, usize),
) -> Result<Answer, String> {
    if let Some((cache, key)) = key
        && let Some(checked) = get(*cache, key, program, budget)
    {
        return Ok(Answer { checked, from_cache: true, cut: false });
    }
    let checked = check(program, options, budget, progress).map_err(|bug| bug.to_string())?;
    // Looking for fixes ends early without a word if a limit is met.
    let stopped = budget.stopped();
    if let Some((cache, key)) = key
        && stopped.is_none()
    {
        put(*cache, key, &checked, program);
    }
    Ok(Answer { checked, from_cache: false, cut: stopped == Some(StopReason::Timeout) })
}

fn checked_file(file: &Loaded, program: Program, checked: Checked) -> CheckedFile {
    CheckedFile {
        file: file.text.name.clone(),
        source: file.text.text.clone(),
        program,
        findings: checked.findings,
        suppressed: Vec::new(),
        known: Vec::new(),
        tallies: checked.tallies,
        open: checked.open,
    }
}

/// How many threads work on so many files.
fn jobs(wanted: Option<NonZeroUsize>, files: usize) -> usize {
    let wanted = wanted.or_else(|| std::thread::available_parallelism().ok());
    wanted.map_or(1, NonZeroUsize::get).min(files.max(1))
}
