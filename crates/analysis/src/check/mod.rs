//! # Idea
//! Everything that can be asked of a program, in one go: deadlocks, atomicity, races. Answers that
//! are about the same conflict become one finding; findings are ranked, explained, and given a fix
//! if one is known to work.
//!
//! The files: [`group`] (from answers to findings), [`walk`] (what a trace shows: open units, held
//! locks, procedures), [`reason`] (the explaining sentence), [`fix`] and [`wrap`] (changed models that
//! are checked again), [`fingerprint`].

pub mod fingerprint;
pub mod fix;
pub mod group;
pub mod reason;
pub mod walk;
pub mod wrap;

use crate::deadlocks::possible_deadlocks;
use crate::driver::{InternalError, Options, Progress, answer};
use crate::prepared::Prepared;
use crate::relation::answer_relation;
use selvedge_base::Budget;
use selvedge_program::{
    Answer, Finding, FindingKind, PatternRelation, Program, Question, Tally, Units, Unknown,
    Verdict, moment::races,
};
use std::collections::BTreeSet;

/// What to ask.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckOptions {
    /// The kinds of findings that are looked for.
    pub kinds: Vec<FindingKind>,
    /// The numbers of the atomicity patterns.
    pub patterns: Vec<u32>,
    /// What counts as a unit of the other thread.
    pub units: Units,
    /// How to analyse.
    pub analysis: Options,
    /// Whether to look for fixes.
    pub fixes: Fixes,
}

/// Whether fixes are looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fixes {
    /// They are, each by checking a changed model again.
    Look,
    /// They are not.
    Skip,
}

/// What was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checked {
    /// The findings, the most important first.
    pub findings: Vec<Finding>,
    /// What was asked, by kind, in the order of [`FindingKind::ALL`].
    pub tallies: Vec<(FindingKind, Tally)>,
    /// Why questions were left open, each reason once.
    pub open: Vec<String>,
}

/// Asks everything about a valid program. `progress` hears what is done and in all, by kind.
///
/// # Errors
/// If an engine contradicts itself.
pub fn check(
    program: &Program,
    options: &CheckOptions,
    budget: &Budget,
    progress: &mut dyn FnMut(FindingKind, usize, usize),
) -> Result<Checked, InternalError> {
    let prepared = Prepared::new(program);
    let mut checked = Checked { findings: Vec::new(), tallies: Vec::new(), open: Vec::new() };
    let mut open = BTreeSet::new();
    let mut groups = Vec::new();
    let threads: Vec<_> = program.threads.ids().collect();
    let locations: Vec<_> = program.locations.ids().collect();
    for kind in FindingKind::CHECKED.into_iter().filter(|kind| options.kinds.contains(kind)) {
        let mut note = |at: Progress<'_>| progress(kind, at.done, at.total);
        let analysis = &options.analysis;
        let (report, safe, unknown, unasked) = if kind == FindingKind::Atomicity {
            let patterns = &options.patterns;
            let relation = PatternRelation::new(patterns, options.units, &threads, &locations);
            let answered = answer_relation(&prepared, &relation, analysis, budget, &mut note)?;
            (answered.report, answered.safe, answered.unknown, None)
        } else {
            let (questions, unasked): (Vec<Question>, Option<Unknown>) =
                if kind == FindingKind::Race {
                    let all = races(&threads, &locations);
                    (all.into_iter().map(Question::Race).collect(), None)
                } else {
                    let possible = possible_deadlocks(&prepared, &threads, budget);
                    let asked = possible.asked.into_iter().map(Question::Deadlock);
                    (asked.collect(), possible.unasked)
                };
            (answer(&prepared, &questions, analysis, budget, &mut note)?, 0, 0, unasked)
        };
        groups.extend(group::group(program, &report.answers, ""));
        let mut tally = tally(&report.answers, unasked.as_ref(), &mut open);
        tally.questions += (safe + unknown) as usize;
        tally.safe += safe as usize;
        tally.unknown += unknown as usize;
        checked.tallies.push((kind, tally));
    }
    let fixer = match options.fixes {
        Fixes::Look if !groups.is_empty() => {
            Some(fix::Fixer::new(&prepared, &options.analysis, budget)?)
        }
        _ => None,
    };
    for group in groups {
        let fix = match &fixer {
            Some(fixer) => fixer.find(&group)?,
            None => None,
        };
        checked.findings.push(Finding { fix, ..group.finding });
    }
    rank(&mut checked.findings);
    checked.open = open.into_iter().collect();
    Ok(checked)
}

/// What the answers of one analysis show, without fixes. `kind` is what it looks for, if that is a
/// mistake; `subject` is the label, the state or the property that was asked about, in the user's
/// words.
pub fn findings(
    program: &Program,
    kind: Option<FindingKind>,
    subject: &str,
    answers: &[Answer],
    unasked: Option<&Unknown>,
) -> Checked {
    let mut open = BTreeSet::new();
    let tally = tally(answers, unasked, &mut open);
    let groups = group::group(program, answers, subject);
    let mut findings: Vec<Finding> = groups.into_iter().map(|group| group.finding).collect();
    rank(&mut findings);
    Checked {
        findings,
        tallies: kind.map(|kind| (kind, tally)).into_iter().collect(),
        open: open.into_iter().collect(),
    }
}

/// How many answers are what, where what could not be asked is one open question.
fn tally(answers: &[Answer], unasked: Option<&Unknown>, open: &mut BTreeSet<String>) -> Tally {
    let mut tally = Tally { questions: answers.len(), ..Tally::default() };
    if let Some(why) = unasked {
        open.insert(why.to_string());
        tally.questions += 1;
        tally.unknown += 1;
    }
    for Answer { verdict, .. } in answers {
        match verdict {
            Verdict::Safe => tally.safe += 1,
            Verdict::Violation(_) => tally.violated += 1,
            Verdict::Unknown(why) => {
                tally.unknown += 1;
                open.insert(why.to_string());
            }
        }
    }
    tally
}

/// By kind, those that matter most first; within a kind what most questions show first, then
/// what is shown in fewest steps, then the order of the source.
fn rank(findings: &mut [Finding]) {
    let order = |kind: FindingKind| FindingKind::ALL.iter().position(|&other| other == kind);
    findings.sort_by(|a, b| {
        let key = |finding: &Finding| {
            (
                order(finding.kind),
                std::cmp::Reverse(finding.tags.len()),
                finding.trace.steps.len(),
                finding.places.clone(),
                finding.threads.clone(),
            )
        };
        key(a).cmp(&key(b))
    });
}
