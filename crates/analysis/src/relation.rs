//! # Idea
//! Very many pattern questions are answered as a relation, not one by one. What the code of the threads
//! rules out is safe. Threads of equal behaviour do the same, and whoever takes no part stays where it
//! starts, so a question about one pair of them answers those about all pairs of the same two
//! behaviours: only where it is violated is each pair asked, for its own interleaving.
//!
//! # Requires
//! Behaviours say nothing of who starts whom: with starts and joins every pair is asked.
//!
//! # Invariants
//! 1. Every question is either listed with its answer or counted with the answer that it has.

use crate::driver::{InternalError, Options, Progress, Report, answer};
use crate::prepared::Prepared;
use selvedge_base::Budget;
use selvedge_locks::behaviour::ClassId;
use selvedge_program::{
    Answer, Feature, PatternQuestion, PatternRelation, Question, ThreadId, Verdict, alphabets,
};
use std::collections::BTreeMap;

/// Beyond so many questions only those that an engine had to decide are listed.
pub const LISTED: u64 = 100_000;

/// Answers of which only some are listed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RelationReport {
    /// Those that are listed.
    pub report: Report,
    /// How many more are safe.
    pub safe: u64,
    /// How many more are open, for the reason that a listed one has.
    pub unknown: u64,
}

/// Answers all questions of a relation about a valid program.
///
/// # Errors
/// If an engine contradicts itself, or claims an interleaving that does not replay.
pub fn answer_relation(
    prepared: &Prepared<'_>,
    relation: &PatternRelation,
    options: &Options,
    budget: &Budget,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<RelationReport, InternalError> {
    let groups = groups(prepared, relation, budget);
    let alphabets = alphabets(prepared.program);
    let mut asked: Vec<Question> = Vec::new();
    for (at, first) in groups.iter().enumerate() {
        for (other, second) in groups.iter().enumerate() {
            if budget.poll().is_some() {
                break;
            }
            let b = if at == other { first.get(1) } else { second.first() };
            let (Some(&a), Some(&b)) = (first.first(), b) else { continue };
            let plausible = relation.plausible(prepared.program, &alphabets, a, b);
            asked.extend(plausible.into_iter().map(Question::Pattern));
        }
    }
    let mut report = answer(prepared, &asked, options, budget, progress)?;
    let of = |thread: ThreadId| groups.iter().find(|group| group.contains(&thread));
    let mut unknown = 0;
    let mut more = Vec::new();
    for one in &report.answers {
        let Question::Pattern(question) = &one.question else { continue };
        let (Some(first), Some(second)) = (of(question.unit_thread), of(question.other_thread))
        else {
            continue;
        };
        match one.verdict {
            Verdict::Safe => {}
            Verdict::Unknown(_) => unknown += pairs(first, second) - 1,
            Verdict::Violation(_) => more.extend(others(question, first, second)),
        }
    }
    let mut rest = answer(prepared, &more, options, budget, progress)?;
    report.answers.append(&mut rest.answers);
    report.statistics.extend(&rest.statistics);
    report.answers.sort_by_key(order);
    // A stop before all groups were looked at leaves everything open that is not listed.
    let left = relation.count(prepared.program) - report.answers.len() as u64 - unknown;
    let (safe, unknown) =
        if budget.stopped().is_some() { (0, unknown + left) } else { (left, unknown) };
    Ok(RelationReport { report, safe, unknown })
}

/// The threads of the relation by behaviour; one by one where that says too little.
fn groups(
    prepared: &Prepared<'_>,
    relation: &PatternRelation,
    budget: &Budget,
) -> Vec<Vec<ThreadId>> {
    let each = || relation.threads.iter().map(|&thread| vec![thread]).collect();
    let ordered = [Feature::Starts, Feature::Joins, Feature::Values];
    if ordered.iter().any(|&feature| prepared.features.contains(feature)) {
        return each();
    }
    let Ok(behaviours) = prepared.behaviours(budget) else { return each() };
    let mut groups: BTreeMap<ClassId, Vec<ThreadId>> = BTreeMap::new();
    for &thread in &relation.threads {
        groups.entry(behaviours.class_of(thread)).or_default().push(thread);
    }
    groups.into_values().collect()
}

/// How many ordered pairs of distinct threads the two groups have.
fn pairs(first: &[ThreadId], second: &[ThreadId]) -> u64 {
    let shared = if first == second { first.len() } else { 0 };
    (first.len() * second.len() - shared) as u64
}

/// The same question about all other pairs of the two groups.
fn others(question: &PatternQuestion, first: &[ThreadId], second: &[ThreadId]) -> Vec<Question> {
    let asked = (question.unit_thread, question.other_thread);
    let mut all = Vec::new();
    for &unit_thread in first {
        for &other_thread in second.iter().filter(|&&other| other != unit_thread) {
            if (unit_thread, other_thread) != asked {
                let pair = PatternQuestion { unit_thread, other_thread, ..question.clone() };
                all.push(Question::Pattern(pair));
            }
        }
    }
    all
}

/// The order in which questions are listed.
fn order(answer: &Answer) -> Option<(ThreadId, ThreadId, u32, Vec<selvedge_program::LocationId>)> {
    match &answer.question {
        Question::Pattern(one) => {
            Some((one.unit_thread, one.other_thread, one.pattern.number, one.locations.clone()))
        }
        _ => None,
    }
}
