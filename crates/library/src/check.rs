//! # Idea
//! Everything that can be asked of a program, in one go: deadlocks, atomicity, races. Answers that
//! are about the same conflict become one finding; findings are ranked, explained, and given a fix
//! if one is known to work.

use crate::fixes::{Fixer, deadlocks_among};
use selvedge_analysis::{
    DeadlockReport, InternalError, Listing, Options, Prepared, Progress, RelationReport,
    answer_deadlocks, answer_relation,
};
use selvedge_base::Budget;
use selvedge_findings::outcome::{rank, tally};
use selvedge_findings::{Checked, Finding, FindingKind, group};
use selvedge_program::{Answer, PATTERNS, Program, QuestionRelation, Units, Unknown};
use std::collections::{BTreeMap, BTreeSet};

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

impl Default for CheckOptions {
    /// Everything, with fixes.
    fn default() -> Self {
        Self {
            kinds: FindingKind::CHECKED.to_vec(),
            patterns: PATTERNS.iter().map(|pattern| pattern.number).collect(),
            units: Units::Exact,
            analysis: Options::new(None),
            fixes: Fixes::Look,
        }
    }
}

impl CheckOptions {
    /// The options in words, for the reports.
    pub fn summary(&self) -> String {
        let kinds: Vec<&str> = self
            .kinds
            .iter()
            .map(|kind| match kind {
                FindingKind::Atomicity => "atomicity",
                FindingKind::Race => "race",
                other => other.rule(),
            })
            .collect();
        let mut parts = vec![kinds.join(", ")];
        if self.kinds.contains(&FindingKind::Atomicity) {
            parts.push(match self.patterns[..] {
                [number] => format!("pattern {number}"),
                ref numbers => format!("{} patterns", numbers.len()),
            });
            if self.units == Units::Paper {
                parts.push("units as in the paper".to_owned());
            }
        }
        if self.fixes == Fixes::Skip {
            parts.push("no fixes".to_owned());
        }
        parts.join("; ")
    }
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
    for (kind, asked) in ask_all(&prepared, options, budget, progress)? {
        groups.extend(group(program, &asked.answers, ""));
        if kind == FindingKind::Deadlock {
            deadlocks = Some(deadlocks_among(&asked.answers, asked.unasked.as_ref()));
        }
        let mut tally = tally(&asked.answers, asked.unasked.as_ref(), &mut open);
        tally.questions += (asked.safe + asked.unknown) as usize;
        tally.safe += asked.safe as usize;
        tally.unknown += asked.unknown as usize;
        open.extend(asked.why.map(|why| why.to_string()));
        checked.tallies.push((kind, tally));
    }
    let fixer = match options.fixes {
        // A change adds steps that the automaton of a restriction would read differently, so that it says
        // nothing of the changed program.
        Fixes::Look if !groups.is_empty() && program.restrictions.is_empty() => {
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

/// The kinds of findings, those whose questions cost least first.
const CHEAPEST_FIRST: [FindingKind; 3] =
    [FindingKind::Deadlock, FindingKind::Race, FindingKind::Atomicity];

/// The answers to all questions about findings of one kind.
#[derive(Default)]
struct AskedKind {
    answers: Vec<Answer>,
    /// How many more are safe.
    safe: u64,
    /// How many more are open, and why, if that is not the reason of one of the answers.
    unknown: u64,
    why: Option<Unknown>,
    /// Why there are questions that could not be asked, if so.
    unasked: Option<Unknown>,
}

/// Asks about findings of all kinds, in the order of [`FindingKind::CHECKED`]. Each kind has its share
/// of the budget, the cheapest first, so none takes the time of the others; what a share was too small
/// for is asked again with what is left in the end.
fn ask_all(
    prepared: &Prepared<'_>,
    options: &CheckOptions,
    budget: &Budget,
    progress: &mut dyn FnMut(FindingKind, usize, usize),
) -> Result<BTreeMap<FindingKind, AskedKind>, InternalError> {
    let wanted = |kind: &FindingKind| options.kinds.contains(kind);
    let mut all: BTreeMap<FindingKind, AskedKind> = BTreeMap::new();
    let mut left: Vec<FindingKind> = CHEAPEST_FIRST.into_iter().filter(wanted).collect();
    // The last kind of a pass has all that is left, so each pass leaves fewer of them.
    while !left.is_empty() {
        let mut cut = Vec::new();
        for (at, &kind) in left.iter().enumerate() {
            let share = budget.share(left.len() - at);
            let before = all.remove(&kind).unwrap_or_default();
            let mut note = |at: Progress<'_>| progress(kind, at.done, at.total);
            all.insert(kind, ask(prepared, kind, before, options, &share, &mut note)?);
            if share.stopped().is_some() {
                cut.push(kind);
            }
        }
        if budget.poll().is_some() {
            break;
        }
        left = cut;
    }
    Ok(all)
}

/// Asks about findings of one kind; answers that are known already are kept.
fn ask(
    prepared: &Prepared<'_>,
    kind: FindingKind,
    before: AskedKind,
    options: &CheckOptions,
    budget: &Budget,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<AskedKind, InternalError> {
    let threads: Vec<_> = prepared.program.threads.ids().collect();
    let locations: Vec<_> = prepared.program.locations.ids().collect();
    let analysis = &options.analysis;
    let known = before.answers;
    let relation = match kind {
        FindingKind::Deadlock => {
            let DeadlockReport { report, unasked } =
                answer_deadlocks(prepared, &threads, known, analysis, budget, progress)?;
            return Ok(AskedKind { answers: report.answers, unasked, ..AskedKind::default() });
        }
        FindingKind::Race => QuestionRelation::races(&threads, &locations),
        _ => QuestionRelation::patterns(&options.patterns, options.units, &threads, &locations),
    };
    let RelationReport { report, safe, unknown, why } =
        answer_relation(prepared, &relation, Listing::Decided, known, analysis, budget, progress)?;
    Ok(AskedKind { answers: report.answers, safe, unknown, why, unasked: None })
}
