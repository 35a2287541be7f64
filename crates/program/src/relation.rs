//! # Idea
//! All questions of one kind about some threads and locations, as the relation that they are: pairs of
//! threads times choices of locations, times patterns. It can be counted and asked in part without
//! being written out; which questions the code of two threads does not rule out is found location by
//! location.
//!
//! # Source
//! SEMANTICS, "The patterns"; [`crate::moment`] for races.

use crate::alphabet::Alphabet;
use crate::model::{AtomicSetId, LocationId, Program, ThreadId};
use crate::moment::{Race, races};
use crate::pattern::{AccessKind, PATTERNS, Pattern, PatternVariable, UnitRole};
use crate::question::{PatternQuestion, Question, Units, pattern_questions};
use selvedge_base::IdVec;
use std::collections::BTreeMap;
use std::rc::Rc;

/// All pattern questions, or all questions about races, about some threads and locations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QuestionRelation {
    kind: Kind,
    threads: Vec<ThreadId>,
    locations: Vec<LocationId>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Kind {
    /// For every ordered pair of distinct threads, every pattern and every ordered pair of distinct
    /// locations of one atomic set (every single location for the patterns on one).
    Patterns { patterns: Vec<&'static Pattern>, units: Units },
    /// For every unordered pair of distinct threads and every location.
    Races,
}

/// What tells a question from all others of its relation, in the order in which they are listed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RelationKey {
    /// A pattern: the threads, its number, the locations (the only one twice).
    Pattern([ThreadId; 2], u32, [LocationId; 2]),
    /// A race.
    Race(LocationId, [ThreadId; 2]),
}

impl RelationKey {
    /// The key of a question, if it is one of a relation.
    pub fn of(question: &Question) -> Option<Self> {
        match question {
            Question::Pattern(one) => {
                let (first, last) = (one.locations.first()?, one.locations.last()?);
                let threads = [one.unit_thread, one.other_thread];
                Some(Self::Pattern(threads, one.pattern.number, [*first, *last]))
            }
            Question::Race(race) => Some(Self::Race(race.location, race.threads)),
            _ => None,
        }
    }

    /// The two threads.
    pub fn threads(self) -> [ThreadId; 2] {
        match self {
            Self::Pattern(threads, ..) | Self::Race(_, threads) => threads,
        }
    }

    /// The key of the same question about two other threads.
    #[must_use]
    pub fn about(self, [first, second]: [ThreadId; 2]) -> Self {
        match self {
            Self::Pattern(_, number, locations) => {
                Self::Pattern([first, second], number, locations)
            }
            Self::Race(location, _) => Self::Race(location, [first.min(second), first.max(second)]),
        }
    }
}

impl QuestionRelation {
    /// The questions about the patterns with these numbers.
    pub fn patterns(
        numbers: &[u32],
        units: Units,
        threads: &[ThreadId],
        locations: &[LocationId],
    ) -> Self {
        let chosen = PATTERNS.iter().filter(|pattern| numbers.contains(&pattern.number));
        let kind = Kind::Patterns { patterns: chosen.collect(), units };
        Self { kind, threads: threads.to_vec(), locations: locations.to_vec() }
    }

    /// The questions about races.
    pub fn races(threads: &[ThreadId], locations: &[LocationId]) -> Self {
        Self { kind: Kind::Races, threads: threads.to_vec(), locations: locations.to_vec() }
    }

    /// The threads.
    pub fn threads(&self) -> &[ThreadId] {
        &self.threads
    }

    /// Whether the two threads of a question play different parts.
    pub fn is_ordered(&self) -> bool {
        matches!(self.kind, Kind::Patterns { .. })
    }

    /// How many questions there are.
    pub fn count(&self, program: &Program) -> u64 {
        let threads = self.threads.len() as u64;
        let pairs_of_threads = threads * threads.saturating_sub(1);
        let Kind::Patterns { patterns, .. } = &self.kind else {
            return pairs_of_threads / 2 * self.locations.len() as u64;
        };
        let mut sizes: BTreeMap<AtomicSetId, u64> = BTreeMap::new();
        for &location in &self.locations {
            *sizes.entry(program.locations[location].atomic_set).or_default() += 1;
        }
        let pairs: u64 = sizes.values().map(|size| size * (size - 1)).sum();
        let choices = |pattern: &&Pattern| match pattern.locations() {
            1 => self.locations.len() as u64,
            _ => pairs,
        };
        pairs_of_threads * patterns.iter().map(choices).sum::<u64>()
    }

    /// All of them, in order.
    pub fn questions(&self, program: &Program) -> Box<dyn Iterator<Item = Question>> {
        let Self { kind, threads, locations } = self;
        match kind {
            Kind::Patterns { patterns, units } => {
                let numbers: Vec<u32> = patterns.iter().map(|pattern| pattern.number).collect();
                let all = pattern_questions(program, &numbers, *units, threads, locations);
                Box::new(all.into_iter().map(Question::Pattern))
            }
            Kind::Races => Box::new(races(threads, locations).into_iter().map(Question::Race)),
        }
    }

    /// The questions about a pair of threads that their code does not rule out: each of the two has
    /// every access that is asked of it, and units where it needs them. All others are safe.
    pub fn plausible(
        &self,
        program: &Program,
        alphabets: &IdVec<ThreadId, Rc<Alphabet>>,
        [first, second]: [ThreadId; 2],
    ) -> Vec<Question> {
        match &self.kind {
            Kind::Patterns { patterns, units } => {
                let question = |pattern: &'static Pattern| PatternQuestion {
                    pattern,
                    units: *units,
                    unit_thread: first,
                    other_thread: second,
                    locations: Vec::new(),
                };
                let all = patterns.iter().flat_map(|pattern| {
                    self.plausible_pattern(program, alphabets, &question(pattern))
                });
                all.collect()
            }
            Kind::Races => {
                let (one, other) = (&alphabets[first], &alphabets[second]);
                let accesses = |alphabet: &Alphabet, x| alphabet.reads[x] || alphabet.writes[x];
                let fits = |&x: &LocationId| {
                    (one.writes[x] && accesses(other, x)) || (other.writes[x] && accesses(one, x))
                };
                let threads = [first.min(second), first.max(second)];
                let race = |location| Question::Race(Race { location, threads });
                self.locations.iter().copied().filter(fits).map(race).collect()
            }
        }
    }

    /// The questions about one pattern and the threads of `question`, whose locations are open.
    fn plausible_pattern(
        &self,
        program: &Program,
        alphabets: &IdVec<ThreadId, Rc<Alphabet>>,
        question: &PatternQuestion,
    ) -> Vec<Question> {
        let (unit, other) = (&alphabets[question.unit_thread], &alphabets[question.other_thread]);
        if !unit.units || (question.needs_unit(UnitRole::Other) && !other.units) {
            return Vec::new();
        }
        let fitting = |variable: PatternVariable| -> Vec<LocationId> {
            let accesses = question.pattern.accesses.iter();
            let accesses = accesses.filter(|access| access.variable == variable);
            let fits = |location: LocationId| {
                accesses.clone().all(|access| {
                    let alphabet = match access.role {
                        UnitRole::Unit => unit,
                        UnitRole::Other => other,
                    };
                    match access.kind {
                        AccessKind::Read => alphabet.reads[location],
                        AccessKind::Write => alphabet.writes[location],
                    }
                })
            };
            self.locations.iter().copied().filter(|&location| fits(location)).collect()
        };
        let on = |locations| Question::Pattern(PatternQuestion { locations, ..question.clone() });
        let first = fitting(PatternVariable::X);
        if question.pattern.locations() == 1 {
            return first.into_iter().map(|x| on(vec![x])).collect();
        }
        let second = if first.is_empty() { Vec::new() } else { fitting(PatternVariable::Y) };
        let set_of = |location: LocationId| program.locations[location].atomic_set;
        let mut questions = Vec::new();
        for &x in &first {
            let fits = |y: &&LocationId| **y != x && set_of(**y) == set_of(x);
            questions.extend(second.iter().filter(fits).map(|&y| on(vec![x, y])));
        }
        questions
    }
}

/// The same question about two other threads; `None` if it is not one of a relation.
pub fn about(question: &Question, [first, second]: [ThreadId; 2]) -> Option<Question> {
    match question {
        Question::Pattern(one) => Some(Question::Pattern(PatternQuestion {
            unit_thread: first,
            other_thread: second,
            ..one.clone()
        })),
        Question::Race(race) => {
            Some(Question::Race(Race { threads: [first.min(second), first.max(second)], ..*race }))
        }
        _ => None,
    }
}
