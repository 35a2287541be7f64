//! # Idea
//! Everything that can be asked of a program, in one go: deadlocks, atomicity, races. Answers that
//! are about the same conflict become one finding; findings are ranked, explained, and given a fix
//! if one is known to work.

use crate::fixes::{Fixer, deadlocks_among};
use selvedge_analysis::{
    InternalError, Options, Prepared, Progress, answer, answer_relation, possible_deadlocks,
};
use selvedge_base::Budget;
use selvedge_findings::outcome::{rank, tally};
use selvedge_findings::{Checked, Finding, FindingKind, group};
use selvedge_program::moment::races;
use selvedge_program::{PatternRelation, Program, Question, Units, Unknown};
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
    let mut deadlocks = None;
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
        groups.extend(group(program, &report.answers, ""));
        if kind == FindingKind::Deadlock {
            deadlocks = Some(deadlocks_among(&report.answers, unasked.as_ref()));
        }
        let mut tally = tally(&report.answers, unasked.as_ref(), &mut open);
        tally.questions += (safe + unknown) as usize;
        tally.safe += safe as usize;
        tally.unknown += unknown as usize;
        checked.tallies.push((kind, tally));
    }
    let fixer = match options.fixes {
        Fixes::Look if !groups.is_empty() => {
            Some(Fixer::new(&prepared, deadlocks, &options.analysis, budget)?)
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
