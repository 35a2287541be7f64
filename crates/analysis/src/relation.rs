//! # Idea
//! The questions of a relation are answered together, not one by one. What the code of the threads
//! rules out is safe. Threads of equal behaviour do the same, and whoever takes no part stays where it
//! starts, so a question about one pair of them answers those about all pairs of the same two
//! behaviours: only where it is violated is each pair asked, for its own interleaving.
//!
//! # Requires
//! Behaviours say nothing of who starts whom: with starts and joins every pair is asked.
//!
//! # Invariants
//! 1. Every question is either listed with its answer or counted with the answer that it has.
//! 2. Within a bound the order of the threads counts, so an answer under one is for its pair alone.

use crate::choice::has_more_than_events;
use crate::driver::{Driver, InternalError, Options, Progress, Report};
use crate::prepared::Prepared;
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, StopReason};
use selvedge_program::relation::about;
use selvedge_program::{
    Answer, Feature, Question, QuestionRelation, RelationKey, ThreadId, Unknown, Verdict,
};
use std::collections::BTreeMap;

/// Beyond so many questions only those that an engine had to decide are listed.
pub const LISTED: u64 = 100_000;

/// What gave an answer that no engine was needed for.
const BY_CODE: &str = "code";

/// Which questions of a relation are listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Listing {
    /// All.
    All,
    /// Those that an engine had to decide; the others are counted.
    Decided,
}

/// The questions that are asked here, where somebody else asks the others.
#[derive(Clone, Copy)]
pub struct QuestionPart<'a> {
    /// Whether a question is among them.
    pub has: &'a dyn Fn(&Question) -> bool,
    /// Whether those that no engine has to decide are counted here.
    pub counts_rest: bool,
}

/// Answers of which only some may be listed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RelationReport {
    /// Those that are listed.
    pub report: Report,
    /// How many more are safe.
    pub safe: u64,
    /// How many of all questions the code of the threads rules out.
    pub implausible: u64,
    /// How many more are open.
    pub unknown: u64,
    /// Why they are, if that is not the reason of a listed one.
    pub why: Option<Unknown>,
    /// The limit that was met before all pairs of threads were looked at, if one was.
    pub cut: Option<StopReason>,
}

/// Answers all questions of a relation about a valid program. `known` are answers of an earlier call
/// that a limit ended: those that it decided stay.
///
/// # Errors
/// If an engine contradicts itself, or claims an interleaving that does not replay.
pub fn answer_relation(
    prepared: &Prepared<'_>,
    relation: &QuestionRelation,
    listing: Listing,
    known: Vec<Answer>,
    options: &Options,
    budget: &Budget,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<RelationReport, InternalError> {
    let chosen = Chosen { listing, part: None };
    answer_chosen(prepared, relation, chosen, known, options, budget, progress)
}

/// The same for a part of the questions, of which those are listed that an engine had to decide. Where no
/// limit is met, the numbers of parts that have every question once add up to those of all questions; a
/// question about threads of two behaviours takes those about all pairs of the same behaviours along.
///
/// # Errors
/// If an engine contradicts itself, or claims an interleaving that does not replay.
pub fn answer_relation_part(
    prepared: &Prepared<'_>,
    relation: &QuestionRelation,
    part: QuestionPart<'_>,
    known: Vec<Answer>,
    options: &Options,
    budget: &Budget,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<RelationReport, InternalError> {
    let chosen = Chosen { listing: Listing::Decided, part: Some(part) };
    answer_chosen(prepared, relation, chosen, known, options, budget, progress)
}

/// Which questions are asked, and which of them are listed.
struct Chosen<'a> {
    listing: Listing,
    part: Option<QuestionPart<'a>>,
}

fn answer_chosen(
    prepared: &Prepared<'_>,
    relation: &QuestionRelation,
    Chosen { listing, part }: Chosen<'_>,
    known: Vec<Answer>,
    options: &Options,
    budget: &Budget,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<RelationReport, InternalError> {
    let program = prepared.program;
    let groups = Groups::new(prepared, relation, budget);
    let mut asked = Vec::new();
    let mut cut = None;
    let mut plausible = 0;
    // Of the plausible ones, those of this part.
    let mut own_plausible = 0;
    for pair in groups.pairs(relation.is_ordered()) {
        cut = budget.poll();
        if cut.is_some() {
            break;
        }
        let mut own = relation.plausible(program, prepared.alphabets(), pair);
        let alike = groups.alike(pair, relation.is_ordered());
        plausible += own.len() as u64 * alike;
        if let Some(part) = part {
            own.retain(part.has);
        }
        own_plausible += own.len() as u64 * alike;
        asked.extend(own);
    }
    let mut asking = Asking {
        driver: Driver::new(prepared, options, budget),
        known: known.into_iter().filter_map(decided).collect(),
        answers: Vec::with_capacity(asked.len()),
    };
    asking.ask(asked, progress)?;
    let mut same = 0;
    let mut more = Vec::new();
    for one in &asking.answers {
        let Some(key) = RelationKey::of(&one.question) else { continue };
        match one.verdict {
            Verdict::Safe => {}
            Verdict::Unknown(_) if one.explored.is_none() => {
                same += groups.others(key, relation.is_ordered()).count() as u64;
            }
            Verdict::Unknown(_) | Verdict::Violation(_) => {
                let pairs = groups.others(key, relation.is_ordered());
                more.extend(pairs.filter_map(|pair| about(&one.question, pair)));
            }
        }
    }
    asking.ask(more, progress)?;
    let Asking { driver, mut answers, .. } = asking;
    let total = answers.len();
    progress(Progress { done: total, total, question: None, bound: None });
    answers.sort_by_cached_key(|answer| RelationKey::of(&answer.question));
    // Of pairs that were not looked at nothing is known, nor of more copies than there are.
    let why = cut.map(Unknown::Stopped).or(options.copies.map(Unknown::Copies));
    let count = relation.count(program);
    let rest = if part.is_none_or(|part| part.counts_rest) { count - plausible } else { 0 };
    let mut left = own_plausible + rest - total as u64;
    if listing == Listing::All && left > 0 {
        answers = all(prepared, relation, &groups, answers, why.as_ref());
        (left, same) = (0, 0);
    }
    let (safe, unknown) = if why.is_some() { (0, left) } else { (left - same, same) };
    let implausible = if why.is_some() { 0 } else { rest };
    let why = why.filter(|_| unknown > 0);
    Ok(RelationReport { report: driver.report(answers), safe, implausible, unknown, why, cut })
}

/// An answer that a larger budget would not change, under its key.
fn decided(answer: Answer) -> Option<(RelationKey, Answer)> {
    let open = matches!(answer.verdict, Verdict::Unknown(Unknown::Stopped(_)));
    RelationKey::of(&answer.question).filter(|_| !open).map(|key| (key, answer))
}

/// Questions that are put to the engines.
struct Asking<'a, 'p> {
    driver: Driver<'a, 'p>,
    known: BTreeMap<RelationKey, Answer>,
    answers: Vec<Answer>,
}

impl Asking<'_, '_> {
    fn ask(
        &mut self,
        questions: Vec<Question>,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(), InternalError> {
        let total = self.answers.len() + questions.len();
        for question in questions {
            let done = self.answers.len();
            let mut note =
                |bound| progress(Progress { done, total, question: Some(&question), bound });
            note(None);
            let known = RelationKey::of(&question).and_then(|key| self.known.remove(&key));
            self.answers.push(match known {
                Some(answer) => answer,
                None => self.driver.answer(&question, &mut |bound| note(Some(bound)))?,
            });
        }
        Ok(())
    }
}

/// Every question of the relation with its answer, given those that the engines answered and why the
/// others are open, if they are.
fn all(
    prepared: &Prepared<'_>,
    relation: &QuestionRelation,
    groups: &Groups,
    asked: Vec<Answer>,
    why: Option<&Unknown>,
) -> Vec<Answer> {
    let keyed = |answer: &Answer| RelationKey::of(&answer.question);
    // What is open about the first pair of two behaviours is open about all of them.
    let mut open: FxHashMap<RelationKey, (Unknown, &'static str)> = FxHashMap::default();
    for answer in &asked {
        if let (Verdict::Unknown(why), None) = (&answer.verdict, &answer.explored) {
            open.extend(keyed(answer).map(|key| (key, (why.clone(), answer.engine))));
        }
    }
    let places = asked.iter().enumerate();
    let places: FxHashMap<RelationKey, usize> =
        places.filter_map(|(at, answer)| Some((keyed(answer)?, at))).collect();
    let mut asked: Vec<Option<Answer>> = asked.into_iter().map(Some).collect();
    let answer = |question: Question| {
        let key = RelationKey::of(&question);
        let place = key.and_then(|key| places.get(&key));
        if let Some(answer) = place.and_then(|&at| asked[at].take()) {
            return answer;
        }
        let first = key.and_then(|key| open.get(&groups.first(key)));
        let (verdict, engine) = match (first, why) {
            (Some((why, engine)), _) => (Verdict::Unknown(why.clone()), *engine),
            (None, Some(why)) => (Verdict::Unknown(why.clone()), BY_CODE),
            (None, None) => (Verdict::Safe, BY_CODE),
        };
        Answer { question, verdict, engine, explored: None, searched: None, refined: None }
    };
    relation.questions(prepared.program).map(answer).collect()
}

/// The threads of a relation by behaviour; one by one where that says too little.
struct Groups {
    groups: Vec<Vec<ThreadId>>,
    of: BTreeMap<ThreadId, usize>,
}

impl Groups {
    fn new(prepared: &Prepared<'_>, relation: &QuestionRelation, budget: &Budget) -> Self {
        let threads = relation.threads();
        let ordered = [Feature::Starts, Feature::Joins, Feature::Channels];
        let alike = !ordered.iter().any(|&feature| prepared.features.contains(feature))
            && !has_more_than_events(prepared.features);
        let behaviours = if alike { prepared.behaviours(budget).ok() } else { None };
        let groups: Vec<Vec<ThreadId>> = match behaviours {
            Some(behaviours) => {
                let mut groups: BTreeMap<_, Vec<ThreadId>> = BTreeMap::new();
                for &thread in threads {
                    groups.entry(behaviours.class_of(thread)).or_default().push(thread);
                }
                groups.into_values().collect()
            }
            None => threads.iter().map(|&thread| vec![thread]).collect(),
        };
        let members = |(at, group): (usize, &Vec<ThreadId>)| -> Vec<(ThreadId, usize)> {
            group.iter().map(|&thread| (thread, at)).collect()
        };
        let of = groups.iter().enumerate().flat_map(members).collect();
        Self { groups, of }
    }

    /// The first pair of threads of every two groups.
    fn pairs(&self, ordered: bool) -> impl Iterator<Item = [ThreadId; 2]> {
        let groups = self.groups.len();
        (0..groups).flat_map(move |at| {
            let others = if ordered { 0 } else { at }..groups;
            others.filter_map(move |other| self.first_pair(at, other))
        })
    }

    fn first_pair(&self, at: usize, other: usize) -> Option<[ThreadId; 2]> {
        let second = if at == other { self.groups[at].get(1) } else { self.groups[other].first() };
        Some([*self.groups[at].first()?, *second?])
    }

    /// How many pairs have the same two behaviours as this one.
    fn alike(&self, pair: [ThreadId; 2], ordered: bool) -> u64 {
        let [at, other] = pair.map(|thread| self.of[&thread]);
        let [first, second] = [at, other].map(|group| self.groups[group].len() as u64);
        match (at == other, ordered) {
            (false, _) => first * second,
            (true, true) => first * (first - 1),
            (true, false) => first * (first - 1) / 2,
        }
    }

    /// The question about the first pair of the same two behaviours.
    fn first(&self, key: RelationKey) -> RelationKey {
        let [first, second] = key.threads().map(|thread| self.of[&thread]);
        self.first_pair(first, second).map_or(key, |pair| key.about(pair))
    }

    /// All other pairs of the same two behaviours as those of a question.
    fn others(&self, key: RelationKey, ordered: bool) -> impl Iterator<Item = [ThreadId; 2]> {
        let [at, other] = key.threads().map(|thread| self.of[&thread]);
        let pair = move |first: ThreadId, second: ThreadId| {
            let twice = !ordered && at == other && first > second;
            let itself = key.about([first, second]) == key;
            (first != second && !twice && !itself).then_some([first, second])
        };
        let seconds = &self.groups[other];
        let firsts = self.groups[at].iter();
        firsts.flat_map(move |&first| seconds.iter().filter_map(move |&second| pair(first, second)))
    }
}
