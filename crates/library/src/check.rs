//! # Idea
//! Everything that can be asked of a program, in one go: what its texts say must not be reached,
//! deadlocks, atomicity, races. Answers that are about the same conflict become one finding; findings
//! are ranked, explained, and given a fix if one is known to work.
//!
//! Asking and concluding are two steps: several runs may ask a part of the questions each
//! ([`crate::shard`]), and one concludes from the answers of all.
//!
//! # Invariants
//! 1. A deadlock is a cycle of waits, a dead end a state in which no thread can move. Where values decide
//!    who waits, or threads wait for more than nested locks, dead ends are asked about.
//! 2. A dead end in which the threads of a deadlock wait for each other is no finding of its own.

use crate::fixes::{Fixer, deadlocks_among};
use crate::goals::{DeadEnds, Goals};
use crate::shard::FilePart;
use selvedge_analysis::{
    DeadlockReport, InternalError, Options, Prepared, Progress, QuestionPart, RelationReport,
    answer, answer_deadlocks_part, answer_relation_part,
};
use selvedge_base::{Budget, Place};
use selvedge_findings::outcome::{rank, separate, tally};
use selvedge_findings::{Checked, Finding, FindingKind, Group, group};
use selvedge_front_java::stages::JavaStage;
use selvedge_program::{
    Action, AddedUnits, Answer, NodeId, Obstacle, PATTERNS, Program, Question, QuestionRelation,
    Target, TemporalQuestion, TraceStep, Units, Unknown, Verdict,
};
use selvedge_report::describe::count;
use std::collections::{BTreeMap, BTreeSet};

/// What to ask.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckOptions {
    /// The kinds of findings that are looked for.
    pub kinds: Vec<FindingKind>,
    /// Whether the user chose them, so that each counts, however much it takes to decide it.
    pub chosen: bool,
    /// The numbers of the atomicity patterns.
    pub patterns: Vec<u32>,
    /// What counts as a unit of the other thread.
    pub units: Units,
    /// What becomes a unit of work beside what the program says.
    pub add_units: Option<AddedUnits>,
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
            chosen: false,
            patterns: PATTERNS.iter().map(|pattern| pattern.number).collect(),
            units: Units::Exact,
            add_units: None,
            analysis: Options::new(None),
            fixes: Fixes::Look,
        }
    }
}

impl CheckOptions {
    /// The options in words, for the reports.
    pub fn summary(&self) -> String {
        let wanted = |kinds: &[FindingKind]| kinds.iter().any(|kind| self.kinds.contains(kind));
        let topics = FindingKind::TOPICS.iter().filter(|(_, kinds)| wanted(kinds));
        // Formulas are asked wherever there are some; who chooses them chooses something.
        let all = FindingKind::CHECKED.iter().all(|kind| self.kinds.contains(kind));
        let said = |&(topic, _): &(&'static str, _)| (topic != "temporal" || !all).then_some(topic);
        let kinds: Vec<&str> = topics.filter_map(said).collect();
        let mut parts = vec![kinds.join(", ")];
        if self.kinds.contains(&FindingKind::Atomicity) {
            parts.push(match self.patterns[..] {
                [number] => format!("pattern {number}"),
                ref numbers => format!("{} patterns", numbers.len()),
            });
            if self.units == Units::Paper {
                parts.push("units as in the paper".to_owned());
            }
            parts.extend(self.add_units.map(|added| match added {
                AddedUnits::Functions => "calls from main are units".to_owned(),
                AddedUnits::Locks => "regions under locks are units".to_owned(),
                AddedUnits::Loops => "passes of loops in Java are units".to_owned(),
                AddedUnits::Callers => "methods of other classes in Java are units".to_owned(),
            }));
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

/// What is being worked on, for whoever watches a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CheckWork {
    /// Questions of a kind.
    Questions(FindingKind),
    /// A stage of the work on a program in Java.
    Java(JavaStage),
}

impl CheckWork {
    /// How far it is, in words.
    pub fn words(self, done: usize, total: usize) -> String {
        match self {
            Self::Questions(kind) => {
                format!("{} {done} of {}", kind.rule(), count(total, "question"))
            }
            Self::Java(stage) => stage.words(done, total),
        }
    }
}

/// Asks everything about a valid program. `progress` hears what is done and in all, by kind.
///
/// # Errors
/// If an engine contradicts itself.
pub fn check(
    program: &Program,
    options: &CheckOptions,
    budget: &Budget,
    progress: &mut dyn FnMut(CheckWork, usize, usize),
) -> Result<Checked, InternalError> {
    check_goals(program, &Goals::of_program(program), options, budget, progress)
}

/// The same for a program whose texts ask something of their own.
///
/// # Errors
/// If an engine contradicts itself.
pub fn check_goals(
    program: &Program,
    goals: &Goals,
    options: &CheckOptions,
    budget: &Budget,
    progress: &mut dyn FnMut(CheckWork, usize, usize),
) -> Result<Checked, InternalError> {
    let prepared = Prepared::new(program);
    let answers = ask_part(&prepared, goals, options, None, budget, progress)?;
    conclude(&prepared, goals, options, answers, budget)
}

/// Answers to the questions about a program, before anything is concluded from them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AllAnswers {
    /// By the kind of finding that they are about.
    pub kinds: BTreeMap<FindingKind, KindAnswers>,
    /// The assertions that no run reaches, if all are safe and that is known.
    pub unreached: Vec<Place>,
}

/// The answers to questions about findings of one kind.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KindAnswers {
    /// Those that an engine gave.
    pub answers: Vec<Answer>,
    /// For each answer about a deadlock the number of its cycle among all that are suggested, for each about
    /// a formula its number.
    pub numbers: Vec<usize>,
    /// How many more are safe.
    pub safe: u64,
    /// How many of the safe ones nothing could violate.
    pub vacuous: u64,
    /// How many more are open, and why, if that is not the reason of one of the answers.
    pub unknown: u64,
    /// Why they are open.
    pub why: Option<Unknown>,
    /// Why there are questions that could not be asked, if so.
    pub unasked: Option<Unknown>,
    /// The limit that was met before it was known what is to be asked, if one was.
    pub cut: Option<Unknown>,
    /// Whether nobody chose the kind and no engine decides it of such a program, so that it counts as not
    /// asked about.
    pub not_asked: bool,
}

/// Asks everything about a program, or a part of it.
pub(crate) fn ask_part(
    prepared: &Prepared<'_>,
    goals: &Goals,
    options: &CheckOptions,
    part: Option<&FilePart<'_>>,
    budget: &Budget,
    progress: &mut dyn FnMut(CheckWork, usize, usize),
) -> Result<AllAnswers, InternalError> {
    let kinds = ask_all(prepared, goals, options, part, budget, progress)?;
    let unreached = match kinds.get(&FindingKind::Assertion) {
        Some(asked) if asked.all_safe() => unreached(prepared, goals, options, budget)?,
        _ => Vec::new(),
    };
    Ok(AllAnswers { kinds, unreached })
}

impl KindAnswers {
    fn all_safe(&self) -> bool {
        self.answers.iter().all(|answer| answer.verdict == Verdict::Safe)
    }
}

/// What the answers to all questions about a program show.
pub(crate) fn conclude(
    prepared: &Prepared<'_>,
    goals: &Goals,
    options: &CheckOptions,
    answers: AllAnswers,
    budget: &Budget,
) -> Result<Checked, InternalError> {
    let program = prepared.program;
    let mut checked = Checked { unreached: answers.unreached, ..Checked::default() };
    let mut open = BTreeSet::new();
    let mut groups = Vec::new();
    let mut deadlocks = None;
    if options.kinds.contains(&FindingKind::Stuck) && goals.dead_ends == DeadEnds::OnRequest {
        checked.not_asked.push(FindingKind::Stuck);
    }
    for (kind, asked) in answers.kinds {
        if asked.not_asked {
            checked.not_asked.push(kind);
            continue;
        }
        groups.extend(group(program, &asked.answers, goals.subject(kind)));
        if kind == FindingKind::Deadlock {
            deadlocks = Some(deadlocks_among(&asked.answers, asked.unasked.as_ref()));
        }
        let mut tally = tally(&asked.answers, asked.unasked.as_ref(), &mut open);
        tally.questions += (asked.safe + asked.unknown) as usize;
        tally.safe += asked.safe as usize;
        tally.unknown += asked.unknown as usize;
        tally.vacuous = asked.vacuous as usize;
        if kind == FindingKind::Assertion && asked.all_safe() {
            let all = assertions(program).len();
            tally.vacuous = usize::from(all == checked.unreached.len() && !goals.more_can_fail);
        }
        open.extend(asked.why.map(|why| why.to_string()));
        checked.tallies.push((kind, tally));
    }
    one_cause(&mut groups);
    let may_be_fixed = groups.iter().any(|group| group.finding.kind.may_have_fix());
    let fixer = match options.fixes {
        // A change adds steps that the automaton of a restriction would read differently, so that it says
        // nothing of the changed program.
        Fixes::Look if may_be_fixed && program.restrictions.is_empty() => {
            Some(Fixer::new(prepared, deadlocks, &options.analysis, budget)?)
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
    checked.faults = prepared.faults();
    Ok(checked)
}

/// Leaves dead ends out that a deadlock explains: its threads wait for each other there.
fn one_cause(groups: &mut Vec<Group>) {
    let waits_for_threads =
        |step: &&TraceStep| matches!(step.waits_for, Some(Obstacle::Lock(..) | Obstacle::End(_)));
    // Copies of a thread wait at the same places.
    let waits = |group: &Group| -> BTreeSet<Place> {
        group.finding.trace.next.iter().filter(waits_for_threads).map(|step| step.place).collect()
    };
    let deadlocks = groups.iter().filter(|group| group.finding.kind == FindingKind::Deadlock);
    let cycles: Vec<BTreeSet<Place>> = deadlocks.map(waits).collect();
    groups.retain(|group| {
        let explained = || cycles.iter().any(|cycle| cycle.is_subset(&waits(group)));
        group.finding.kind != FindingKind::Stuck || !explained()
    });
}

/// The kinds of findings, those whose questions cost least first.
const CHEAPEST_FIRST: [FindingKind; 8] = [
    FindingKind::Deadlock,
    FindingKind::Race,
    FindingKind::Atomicity,
    FindingKind::Temporal,
    FindingKind::Label,
    FindingKind::State,
    FindingKind::Assertion,
    FindingKind::Stuck,
];

/// Asks about findings of all kinds, in the order of [`FindingKind::CHECKED`]. Each kind has its share
/// of the budget, the cheapest first, so none takes the time of the others; what a share was too small
/// for is asked again with what is left in the end.
fn ask_all(
    prepared: &Prepared<'_>,
    goals: &Goals,
    options: &CheckOptions,
    part: Option<&FilePart<'_>>,
    budget: &Budget,
    progress: &mut dyn FnMut(CheckWork, usize, usize),
) -> Result<BTreeMap<FindingKind, KindAnswers>, InternalError> {
    let program = prepared.program;
    let has = |question: &Question| part.is_none_or(|part| part.has(program, question));
    let here = |kind: &FindingKind| goals.question(*kind).is_none_or(|question| has(&question));
    let counts_rest = part.is_none_or(FilePart::counts_rest);
    let asking = Asking { prepared, goals, options, part: QuestionPart { has: &has, counts_rest } };
    let wanted = |kind: &FindingKind| options.kinds.contains(kind) && goals.ask(*kind);
    let mut all: BTreeMap<FindingKind, KindAnswers> = BTreeMap::new();
    let kinds = CHEAPEST_FIRST.into_iter();
    let mut left: Vec<FindingKind> = kinds.filter(wanted).filter(here).collect();
    // The last kind of a pass has all that is left, so each pass leaves fewer of them.
    while !left.is_empty() {
        let mut cut = Vec::new();
        for (at, &kind) in left.iter().enumerate() {
            let share = budget.share(left.len() - at);
            let before = all.remove(&kind).unwrap_or_default();
            let work = CheckWork::Questions(kind);
            let mut note = |at: Progress<'_>| progress(work, at.done, at.total);
            let asked = match goals.question(kind) {
                Some(question) => asking.goal(question, before, &share, &mut note)?,
                None if kind == FindingKind::Temporal => {
                    asking.formulas(&before, &share, &mut note)?
                }
                None => asking.kind(kind, before, &share, &mut note)?,
            };
            all.insert(kind, asked);
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

/// The questions about findings of a kind that are a relation, unless they are something else.
pub(crate) fn relation(
    program: &Program,
    kind: FindingKind,
    options: &CheckOptions,
) -> Option<QuestionRelation> {
    let threads: Vec<_> = program.threads.ids().collect();
    let locations: Vec<_> = program.locations.ids().collect();
    let (patterns, units) = (&options.patterns, options.units);
    match kind {
        FindingKind::Race => Some(QuestionRelation::races(&threads, &locations)),
        FindingKind::Atomicity => {
            Some(QuestionRelation::patterns(patterns, units, &threads, &locations))
        }
        _ => None,
    }
}

/// What is asked of which program, and how.
struct Asking<'a, 'p> {
    prepared: &'a Prepared<'p>,
    goals: &'a Goals,
    options: &'a CheckOptions,
    part: QuestionPart<'a>,
}

impl Asking<'_, '_> {
    /// Asks about findings of one kind; answers that are known already are kept.
    fn kind(
        &self,
        kind: FindingKind,
        before: KindAnswers,
        budget: &Budget,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<KindAnswers, InternalError> {
        let Self { prepared, options, part, .. } = *self;
        let (analysis, known) = (&options.analysis, before.answers);
        let Some(relation) = relation(prepared.program, kind, options) else {
            let threads: Vec<_> = prepared.program.threads.ids().collect();
            let DeadlockReport { report, numbers, unasked } = answer_deadlocks_part(
                prepared, &threads, part.has, known, analysis, budget, progress,
            )?;
            let answers = report.answers;
            return Ok(KindAnswers { answers, numbers, unasked, ..KindAnswers::default() });
        };
        let RelationReport { report, safe, implausible: vacuous, unknown, why, cut } =
            answer_relation_part(prepared, &relation, part, known, analysis, budget, progress)?;
        let (answers, cut) = (report.answers, cut.map(Unknown::Stopped));
        let known = KindAnswers { answers, safe, vacuous, unknown, why, ..KindAnswers::default() };
        Ok(KindAnswers { cut, ..known })
    }

    /// Asks the formulas of the project; answers that are known already are kept.
    fn formulas(
        &self,
        before: &KindAnswers,
        budget: &Budget,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<KindAnswers, InternalError> {
        let Self { prepared, goals, options, part } = *self;
        let analysis = goals.options(&options.analysis);
        let mut kept = KindAnswers::default();
        let own = |(at, one): (usize, &TemporalQuestion)| {
            let question = Question::Temporal(one.clone());
            (part.has)(&question).then_some((at, question))
        };
        let own: Vec<(usize, Question)> =
            goals.formulas.iter().enumerate().filter_map(own).collect();
        let known = |number: usize| {
            let at = before.numbers.iter().position(|&one| one == number)?;
            let stopped = matches!(
                before.answers[at].verdict,
                Verdict::Unknown(Unknown::Stopped(_) | Unknown::Actions { .. })
            );
            (!stopped).then(|| before.answers[at].clone())
        };
        let open: Vec<Question> =
            own.iter().filter(|one| known(one.0).is_none()).map(|one| one.1.clone()).collect();
        let mut new = answer(prepared, &open, &analysis, budget, progress)?.answers.into_iter();
        for (number, _) in own {
            let Some(answer) = known(number).or_else(|| new.next()) else { break };
            kept.numbers.push(number);
            kept.answers.push(answer);
        }
        Ok(kept)
    }

    /// Asks what the texts of the model ask. Of a search that gives every assertion its own verdict, each
    /// that fails is an answer of its own.
    fn goal(
        &self,
        question: Question,
        before: KindAnswers,
        budget: &Budget,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<KindAnswers, InternalError> {
        let Self { prepared, goals, options, .. } = *self;
        if before.answers.iter().any(|answer| matches!(answer.verdict, Verdict::Violation(_))) {
            return Ok(before);
        }
        let vacuous = u64::from(goals.is_out_of_reach(&question));
        let analysis = goals.options(&options.analysis);
        let on_top = question == Question::Stuck && !options.chosen;
        let limited = budget.part_with_steps(WORK_FOR_DEAD_ENDS);
        let budget = if on_top { &limited } else { budget };
        let answers = answer(prepared, &[question], &analysis, budget, progress)?.answers;
        let answers: Vec<Answer> = answers.iter().flat_map(separate).collect();
        let open = |answer: &Answer| match &answer.verdict {
            Verdict::Unknown(why) => !matches!(why, Unknown::Stopped(_)),
            _ => false,
        };
        let not_asked = on_top && answers.iter().all(open);
        Ok(KindAnswers { answers, vacuous, not_asked, ..KindAnswers::default() })
    }
}

/// Dead ends are found with so much work, which takes a few seconds at most, or not at all, unless the user
/// chooses them.
const WORK_FOR_DEAD_ENDS: u64 = 2_500_000;

/// Whether an assertion is reached is found with so much work, or not at all.
const WORK_PER_ASSERTION: u64 = 200_000;

/// The places of the assertions, with the nodes before them.
pub(crate) fn assertions(program: &Program) -> BTreeMap<Place, Vec<NodeId>> {
    let mut all: BTreeMap<Place, Vec<NodeId>> = BTreeMap::new();
    for edge in &program.edges {
        if matches!(edge.action, Action::Assert(_)) {
            all.entry(edge.place).or_default().push(edge.source);
        }
    }
    all
}

/// The assertions that no run reaches, if that is found with little work.
fn unreached(
    prepared: &Prepared<'_>,
    goals: &Goals,
    options: &CheckOptions,
    budget: &Budget,
) -> Result<Vec<Place>, InternalError> {
    let options = Options { assertions: false, ..goals.options(&options.analysis) };
    let mut unreached = Vec::new();
    for (place, nodes) in assertions(prepared.program) {
        let little = budget.part_with_steps(WORK_PER_ASSERTION);
        let question = [Question::Reach(Target::Label(nodes))];
        let answers = answer(prepared, &question, &options, &little, &mut |_| {})?.answers;
        if answers.iter().all(|answer| answer.verdict == Verdict::Safe) {
            unreached.push(place);
        }
    }
    Ok(unreached)
}
