//! # Idea
//! All deadlocks of a program: the cycles that the code suggests, each decided exactly. There can be
//! very many of them, so they are looked for as they are asked about: a limit that is met on the way
//! leaves what the short cycles have shown.

use crate::driver::{Driver, InternalError, Options, Progress, Report};
use crate::prepared::Prepared;
use selvedge_base::Budget;
use selvedge_locks::deadlock::{Cycles, Waits};
use selvedge_locks::may_wait::may_wait;
use selvedge_program::{Answer, Deadlock, Feature, Question, ThreadId, Unknown, Verdict};

/// How many cycles are asked about.
const CYCLES: usize = 100_000;

/// The deadlocks that are worth asking about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PossibleDeadlocks {
    /// Those that are asked about, shortest first.
    pub asked: Vec<Deadlock>,
    /// Why there may be others; `None` if every deadlock that can happen is listed.
    pub unasked: Option<Unknown>,
}

/// The deadlocks among `threads` that are worth asking about. Where the program does not nest its
/// locks they are found from what its threads may hold, which suggests more of them.
pub fn possible_deadlocks(
    prepared: &Prepared<'_>,
    threads: &[ThreadId],
    budget: &Budget,
) -> PossibleDeadlocks {
    let mut candidates = Candidates::new(CYCLES, prepared, threads, budget);
    let asked = std::iter::from_fn(|| candidates.next(budget)).collect();
    PossibleDeadlocks { asked, unasked: candidates.unasked }
}

/// The answers about all deadlocks of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeadlockReport {
    /// The answers, those about short cycles first.
    pub report: Report,
    /// For each of them the number of its cycle among all that are suggested.
    pub numbers: Vec<usize>,
    /// Why there may be other deadlocks; `None` if every one that can happen was asked about.
    pub unasked: Option<Unknown>,
}

/// So many candidates are looked for before the first of them is decided.
const FIRST_CANDIDATES: usize = 64;

/// Decides all deadlocks among `threads`. `known` are answers of an earlier call that a limit ended:
/// those that it decided stay.
///
/// # Errors
/// If an engine contradicts itself, or claims an interleaving that does not replay.
pub fn answer_deadlocks(
    prepared: &Prepared<'_>,
    threads: &[ThreadId],
    known: Vec<Answer>,
    options: &Options,
    budget: &Budget,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<DeadlockReport, InternalError> {
    let all: &dyn Fn(&Question) -> bool = &|_| true;
    answer_deadlocks_part(prepared, threads, all, known, options, budget, progress)
}

/// The same for a part of the questions about deadlocks.
///
/// # Errors
/// If an engine contradicts itself, or claims an interleaving that does not replay.
pub fn answer_deadlocks_part(
    prepared: &Prepared<'_>,
    threads: &[ThreadId],
    has: &dyn Fn(&Question) -> bool,
    known: Vec<Answer>,
    options: &Options,
    budget: &Budget,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<DeadlockReport, InternalError> {
    let mut driver = Driver::new(prepared, options, budget);
    let mut candidates = Candidates::new(CYCLES, prepared, threads, budget);
    let mut answers: Vec<Answer> = Vec::new();
    let mut numbers = Vec::new();
    let mut found = 0;
    // Candidates come in a fixed order, so those that were asked about before are the first ones.
    let mut known = known.into_iter();
    loop {
        // As many as there were before: that does not take longer than to decide them.
        let many = answers.len().max(FIRST_CANDIDATES);
        let batch = std::iter::from_fn(|| candidates.next(budget)).take(many);
        let batch: Vec<Question> = batch.map(Question::Deadlock).collect();
        if batch.is_empty() {
            break;
        }
        let numbered: Vec<(usize, Question)> =
            (found..).zip(batch).inspect(|_| found += 1).filter(|(_, one)| has(one)).collect();
        let total = answers.len() + numbered.len();
        for (number, question) in numbered {
            numbers.push(number);
            let done = answers.len();
            progress(Progress { done, total, question: Some(&question), bound: None });
            answers.push(match known.next().filter(|answer| is_decided(answer, &question)) {
                Some(answer) => answer,
                None => driver.answer(&question, &mut |_| {})?,
            });
        }
    }
    // What was known is not lost because this budget did not suffice to find it again.
    answers.extend(known);
    numbers.extend(found..found + answers.len() - numbers.len());
    let total = answers.len();
    progress(Progress { done: total, total, question: None, bound: None });
    let unasked = candidates.unasked;
    Ok(DeadlockReport { report: driver.report(answers), numbers, unasked })
}

/// Whether an answer to a question is one that a larger budget would not change.
fn is_decided(answer: &Answer, question: &Question) -> bool {
    answer.question == *question && !matches!(answer.verdict, Verdict::Unknown(Unknown::Stopped(_)))
}

/// The deadlocks that are worth asking about, found one by one.
struct Candidates {
    cycles: Option<Cycles>,
    /// How many may still be asked about.
    left: usize,
    limit: usize,
    unasked: Option<Unknown>,
}

impl Candidates {
    fn new(limit: usize, prepared: &Prepared<'_>, threads: &[ThreadId], budget: &Budget) -> Self {
        let (cycles, unasked) = match cycles(prepared, threads, budget) {
            Ok(cycles) => (Some(cycles), None),
            Err(why) => (None, Some(why)),
        };
        Self { cycles, left: limit, limit, unasked }
    }

    /// The next one; `None` if there is none, or if `unasked` says why there may be more.
    fn next(&mut self, budget: &Budget) -> Option<Deadlock> {
        if self.unasked.is_some() {
            return None;
        }
        let cycles = self.cycles.as_mut()?;
        match cycles.next(budget) {
            Ok(None) => None,
            Ok(Some(_)) if self.left == 0 => {
                let threads = cycles.complete_up_to().unwrap_or(usize::MAX);
                self.unasked = Some(Unknown::Cycles {
                    limit: self.limit as u64,
                    threads: u32::try_from(threads).unwrap_or(u32::MAX),
                });
                None
            }
            Ok(Some(deadlock)) => {
                self.left -= 1;
                Some(deadlock)
            }
            Err(reason) => {
                self.unasked = Some(Unknown::Stopped(reason));
                None
            }
        }
    }
}

/// The cycles among `threads` that the code suggests.
fn cycles(
    prepared: &Prepared<'_>,
    threads: &[ThreadId],
    budget: &Budget,
) -> Result<Cycles, Unknown> {
    // A thread that waits gives up a lock in the middle of its block and takes it back later, holding
    // what it took since: cycles that no order of acquisitions suggests.
    if prepared.features.contains(Feature::Monitors) {
        let why = "cycles of locks are not looked for where threads wait for notifications; \
                   `selvedge reach --deadlocks` asks about such programs";
        return Err(Unknown::Unsupported(why.to_owned()));
    }
    match prepared.behaviours(budget) {
        Ok(behaviours) => {
            let mut waits: Vec<(ThreadId, Waits)> =
                threads.iter().map(|&thread| (thread, behaviours.waits(thread))).collect();
            // The owner of a lock that is not reentrant takes no step where it waits for itself.
            if prepared.program.locks.iter().any(|lock| !lock.reentrant) {
                let may = may_wait(prepared.program, budget).map_err(Unknown::Stopped)?;
                for (thread, waits) in &mut waits {
                    let itself = may[*thread].iter().filter(|((holds, wants), _)| holds == wants);
                    waits.extend(itself.map(|(&pair, held)| (pair, held.clone())));
                }
            }
            Ok(Cycles::new(waits))
        }
        Err(Unknown::Unsupported(_)) => {
            let waits = may_wait(prepared.program, budget).map_err(Unknown::Stopped)?;
            Ok(Cycles::new(threads.iter().map(|&thread| (thread, waits[thread].clone()))))
        }
        Err(why) => Err(why),
    }
}
