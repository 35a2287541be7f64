//! # Idea
//! What became of the questions about a program, or about a file: the findings in the order in which
//! they matter, and how many questions have which answer.

use crate::finding::{Finding, FindingKind};
use crate::group::group;
use selvedge_base::{Diagnostic, FileId, Place};
use selvedge_program::{Answer, Program, Trace, Unknown, Verdict};
use std::collections::{BTreeMap, BTreeSet};

/// What was found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Checked {
    /// The findings, the most important first.
    pub findings: Vec<Finding>,
    /// What was asked, by kind, in the order of [`FindingKind::ALL`].
    pub tallies: Vec<(FindingKind, Tally)>,
    /// Why questions were left open, each reason once.
    pub open: Vec<String>,
    /// The places of assertions that no run reaches, as far as that is known.
    pub unreached: Vec<Place>,
    /// A warning for each engine that ended with an internal error where another one answered.
    pub faults: Vec<Diagnostic>,
    /// The kinds of which nothing is claimed, although they could be asked about.
    pub not_asked: Vec<FindingKind>,
    /// Whether there is no question because no two threads share anything, with nothing left out.
    pub nothing_shared: bool,
}

/// How many questions of one kind were asked of a file, and what became of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Asked.
    pub questions: usize,
    /// With a violation.
    pub violated: usize,
    /// Proved safe.
    pub safe: usize,
    /// Those of the safe ones that nothing in the program could violate: it lacks what they are about.
    pub vacuous: usize,
    /// Left open.
    pub unknown: usize,
}

impl Tally {
    /// How many questions were proved safe although something in the program could violate them.
    pub fn proved(&self) -> usize {
        self.safe.saturating_sub(self.vacuous)
    }
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.questions += other.questions;
        self.violated += other.violated;
        self.safe += other.safe;
        self.vacuous += other.vacuous;
        self.unknown += other.unknown;
    }
}

/// One analysed file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckedFile {
    /// Its name as given.
    pub file: String,
    /// Its text.
    pub source: String,
    /// What was understood.
    pub program: Program,
    /// The findings, the most important first.
    pub findings: Vec<Finding>,
    /// Findings that the configuration suppresses, with the reason given there.
    pub suppressed: Vec<(Finding, String)>,
    /// Findings that the baseline knows already.
    pub known: Vec<Finding>,
    /// What was asked, by kind, in the order of [`FindingKind::ALL`].
    pub tallies: Vec<(FindingKind, Tally)>,
    /// Why questions were left open, each reason once.
    pub open: Vec<String>,
    /// Whether a limit on time or memory or an interrupt ended the analysis, so that another run can give
    /// another answer.
    pub not_reproducible: bool,
    /// What was left out of the program wherever the rest suffices.
    pub left_out: Vec<String>,
    /// The kinds of which nothing is claimed, although they could be asked about.
    pub not_asked: Vec<FindingKind>,
    /// Whether there is no question because no two threads share anything, with nothing left out.
    pub nothing_shared: bool,
    /// What was asked and what is assumed, where the language does not say it.
    pub claims: Vec<String>,
    /// The texts of other files that the program was made of, as far as they are at hand.
    pub sources: BTreeMap<FileId, String>,
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
    let separated;
    let answers = match answers {
        [one] => {
            separated = separate(one);
            &separated
        }
        all => all,
    };
    let mut open = BTreeSet::new();
    let tally = tally(answers, unasked, &mut open);
    let groups = group(program, answers, subject);
    let mut findings: Vec<Finding> = groups.into_iter().map(|group| group.finding).collect();
    rank(&mut findings);
    Checked {
        findings,
        tallies: kind.map(|kind| (kind, tally)).into_iter().collect(),
        open: open.into_iter().collect(),
        ..Checked::default()
    }
}

/// The answers that an answer stands for: of a search that decides every assertion separately, each failure
/// and, if some assertions are undecided, one open question.
pub fn separate(answer: &Answer) -> Vec<Answer> {
    let searched = answer.searched.iter();
    let verdicts = searched.flat_map(|searched| searched.assertions.iter().flatten());
    let verdicts: Vec<_> = verdicts.map(|one| &one.verdict).collect();
    let failing = verdicts.iter().filter(|one| matches!(one, Verdict::Violation(_)));
    let open = verdicts.iter().find(|one| matches!(one, Verdict::Unknown(_)));
    if failing.clone().next().is_none() {
        return vec![answer.clone()];
    }
    let one = |verdict: &&Verdict<Trace>| {
        let verdict = Verdict::clone(verdict).map(Box::new);
        Answer { verdict, searched: None, ..answer.clone() }
    };
    failing.chain(open).map(one).collect()
}

/// How many answers are what, where what could not be asked is one open question.
pub fn tally(answers: &[Answer], unasked: Option<&Unknown>, open: &mut BTreeSet<String>) -> Tally {
    let mut tally = Tally { questions: answers.len(), ..Tally::default() };
    if let Some(why) = unasked {
        open.insert(why.to_string());
        tally.questions += 1;
        tally.unknown += 1;
    }
    for answer in answers {
        *match answer.is_good() {
            Some(true) => &mut tally.safe,
            Some(false) => &mut tally.violated,
            None => &mut tally.unknown,
        } += 1;
        if let Verdict::Unknown(why) = &answer.verdict {
            open.insert(why.to_string());
        }
    }
    tally
}

/// By the rank of their cause where they have one, then by kind, those that matter most first; within a kind what is shown in fewest steps first, then what
/// most questions show, then the order of the source.
pub fn rank(findings: &mut [Finding]) {
    findings.sort_by_cached_key(|finding| {
        (importance(finding), finding.places.clone(), finding.threads.clone())
    });
}

/// What comes first among all findings of a run.
pub fn importance(finding: &Finding) -> impl Ord + use<> {
    let kind = FindingKind::ALL.iter().position(|&other| other == finding.kind);
    let steps = finding.trace.steps.len() + finding.trace.next.len();
    let rank = finding.cause.as_ref().map_or(0, |cause| cause.rank);
    (rank, kind, steps, std::cmp::Reverse(finding.tags.len()))
}
