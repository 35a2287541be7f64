//! # Idea
//! One analysis of one model, in three steps: what is asked ([`Inquiry::new`]: names become threads and
//! locations, the model gets as many copies of its threads as decide the questions), what the answers
//! are ([`Inquiry::decide`]), and what the reports need to know of both ([`Inquiry::answers`]). What
//! is asked is known before the work begins, so whoever waits can be told.

use crate::load::{Model, Property, Text, property};
use crate::portfolio::{Answered, Meter, ask_all, combine};
use crate::select;
use crate::vacuity::shares_nothing;
use selvedge_analysis::relation::LISTED;
use selvedge_analysis::{
    DeadlockReport, EngineKind, Instance, InternalError, Listing, Options, Prepared, Progress,
    QuestionKind, RelationReport, Report, answer, answer_deadlocks, answer_relation, instance,
    left_out,
};
use selvedge_base::{Budget, Diagnostic, Severity};
use selvedge_program::copies::{CopiesFor, Enough, enough};
use selvedge_program::{
    Action, LocationId, Program, Question, QuestionRelation, ThreadId, Units, Unknown,
};
use selvedge_report::portfolio::ALL_ENGINES;
use selvedge_report::{Answers, Asked, Patterns, Portfolio};
use std::time::Duration;

/// What to ask about a model, and whom to ask about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// What to ask.
    pub subject: Subject,
    /// Only about these threads.
    pub threads: Option<Vec<String>>,
    /// Only about these locations.
    pub locations: Option<Vec<String>>,
    /// Whether every question is listed, however many there are.
    pub list_all: bool,
    /// How many copies of a thread there are where no number is known to decide the questions.
    pub copies: u32,
}

/// What can be asked of a model without values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Subject {
    /// Whether units of work conflict as patterns say.
    Patterns {
        /// Which patterns; all that there are for these units if none are named.
        patterns: Option<Patterns>,
        /// What counts as a unit of the other thread.
        units: Units,
    },
    /// Whether an execution drives this property to its last state.
    Property(Text),
    /// Whether two threads can be about to access one location.
    Races,
    /// Whether threads can wait in a cycle.
    Deadlocks,
}

/// Why something is not asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InquiryError {
    /// Mistakes in a text, or names that do not exist in it.
    Complaints(Text, Vec<Diagnostic>),
    /// What is asked does not fit together.
    Message(String),
}

/// What is asked about a model.
#[derive(Clone, Debug)]
pub struct Inquiry {
    /// The model, with as many copies of its threads as decide the questions.
    pub model: Model,
    /// The threads that take part.
    pub threads: Vec<ThreadId>,
    /// The locations that take part.
    pub locations: Vec<LocationId>,
    /// The questions, as far as they are known before the work begins.
    pub questions: Questions,
    /// The property that is asked about.
    pub property: Option<Property>,
    /// Says why there is nothing to ask, if nobody has said so yet.
    pub trivial: Option<Diagnostic>,
    /// With how many copies nothing beyond them is known.
    copies: Option<u32>,
    /// The patterns and their units, if they are asked about.
    patterns: Option<(Patterns, Units)>,
}

/// Questions about one model.
#[derive(Clone, Debug)]
pub enum Questions {
    /// These.
    Listed(Vec<Question>),
    /// Patterns or races, and which of them are listed.
    Relation(QuestionRelation, Listing),
    /// Deadlocks: the code suggests the cycles.
    Deadlocks,
}

/// The answers to an inquiry.
#[derive(Clone, Debug)]
pub struct Decided {
    /// The answers that are listed.
    pub report: Report,
    /// How many more are safe, and how many more are open.
    pub not_listed: (u64, u64),
    /// Why there are questions that could not be asked, if so.
    pub unasked: Option<Unknown>,
    engine: &'static str,
    left_out: Vec<String>,
}

impl Inquiry {
    /// Asks something about a model.
    ///
    /// # Errors
    /// If names do not exist, or the property has mistakes.
    pub fn new(given: Model, request: Request) -> Result<Self, InquiryError> {
        let Request { subject, threads, locations, list_all, copies: most } = request;
        let Instance { program, limit } = match &subject {
            Subject::Property(text) => instance_for(&text.text, given.program, most),
            Subject::Patterns { .. } | Subject::Races => {
                instance(given.program, &[CopiesFor::Threads(2)], most)
            }
            Subject::Deadlocks => instance(given.program, &[CopiesFor::Deadlocks], most),
        };
        let model = Model { program, ..given };
        let program = &model.program;
        let threads = select::threads(program, threads.as_deref());
        let locations = select::locations(program, locations.as_deref());
        let (threads, locations) = match (threads, locations) {
            (Ok(threads), Ok(locations)) => (threads, locations),
            (threads, locations) => {
                let mut wrong = threads.err().unwrap_or_default();
                wrong.extend(locations.err().unwrap_or_default());
                return Err(InquiryError::Complaints(model.text, wrong));
            }
        };
        let mut inquiry = Self {
            model,
            threads,
            locations,
            questions: Questions::Deadlocks,
            property: None,
            trivial: None,
            copies: limit,
            patterns: None,
        };
        match subject {
            Subject::Patterns { patterns, units } => {
                let (patterns, numbers) =
                    select::patterns(patterns.as_ref(), units).map_err(InquiryError::Message)?;
                let Self { threads, locations, .. } = &inquiry;
                let relation = QuestionRelation::patterns(&numbers, units, threads, locations);
                inquiry.ask_relation(relation, list_all);
                inquiry.patterns = Some((patterns, units));
            }
            Subject::Property(text) => inquiry.ask_property(text)?,
            Subject::Races => {
                let relation = QuestionRelation::races(&inquiry.threads, &inquiry.locations);
                inquiry.ask_relation(relation, list_all);
            }
            Subject::Deadlocks => {}
        }
        inquiry.trivial = inquiry.nothing_to_ask();
        Ok(inquiry)
    }

    fn ask_relation(&mut self, relation: QuestionRelation, list_all: bool) {
        let few = relation.count(&self.model.program) <= LISTED;
        let listing = if few || list_all { Listing::All } else { Listing::Decided };
        self.questions = Questions::Relation(relation, listing);
    }

    fn ask_property(&mut self, text: Text) -> Result<(), InquiryError> {
        let property = property(text, &self.model.program)
            .map_err(|(text, wrong)| InquiryError::Complaints(text, wrong))?;
        let automata = property.automata.iter().cloned().map(Question::Automaton);
        self.questions = Questions::Listed(automata.collect());
        self.property = Some(property);
        Ok(())
    }

    fn nothing_to_ask(&self) -> Option<Diagnostic> {
        const CODE: &str = "no-atomicity-question";
        let said = self.model.warnings.iter().any(|warning| warning.code == CODE);
        let few = self.threads.len() < 2;
        let program = &self.model.program;
        let (code, message) = match (&self.questions, &self.patterns) {
            _ if said || self.property.is_some() => return None,
            (Questions::Relation(relation, _), Some(_)) if relation.count(program) == 0 => {
                let message = if few {
                    "fewer than two threads take part, so no atomicity question arises"
                } else if self.locations.is_empty() {
                    "no shared location takes part, so no atomicity question arises"
                } else {
                    "the patterns asked for need two locations of one atomic set, so no question \
                     arises"
                };
                (CODE, message)
            }
            (_, Some(_)) => return None,
            (Questions::Deadlocks, _) if can_wait_alone(program) => return None,
            _ if few => {
                ("nothing-to-ask", "fewer than two threads take part, so there is nothing to ask")
            }
            (Questions::Relation(..), None) if self.locations.is_empty() => {
                ("nothing-to-ask", "no shared location takes part, so there is nothing to ask")
            }
            _ => return None,
        };
        Some(Diagnostic::global(code, Severity::Warning, message))
    }

    /// Decides the questions.
    ///
    /// # Errors
    /// If an engine contradicts itself, or claims an interleaving that does not replay.
    pub fn decide(
        &self,
        options: Options,
        budget: &Budget,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Decided, InternalError> {
        let options = Options { copies: self.copies, ..options };
        let prepared = Prepared::new(&self.model.program);
        // The one that is asked first. Nobody but exhaustive search decides deadlocks with channels.
        let first = match (EngineKind::first_for_locks(prepared.features), &self.questions) {
            (EngineKind::Cpds, Questions::Deadlocks) => EngineKind::Exhaustive,
            (first, _) => first,
        };
        let engine = options.engine.unwrap_or(first);
        let (report, not_listed, unasked) = match &self.questions {
            Questions::Listed(questions) => {
                (answer(&prepared, questions, &options, budget, progress)?, (0, 0), None)
            }
            Questions::Deadlocks => {
                let (threads, known) = (&self.threads, Vec::new());
                let DeadlockReport { report, unasked, .. } =
                    answer_deadlocks(&prepared, threads, known, &options, budget, progress)?;
                (report, (0, 0), unasked)
            }
            Questions::Relation(relation, listing) => {
                let (listing, known) = (*listing, Vec::new());
                let RelationReport { report, safe, unknown, .. } = answer_relation(
                    &prepared, relation, listing, known, &options, budget, progress,
                )?;
                (report, (safe, unknown), None)
            }
        };
        let none = report.answers.is_empty() && not_listed == (0, 0);
        let unasked = unasked.or_else(|| self.few_threads().filter(|_| none));
        let left_out = self.left_out(engine);
        Ok(Decided { report, not_listed, unasked, engine: engine.name(), left_out })
    }

    /// Puts the questions to every engine.
    ///
    /// # Errors
    /// If all engines that take them end with an internal error.
    pub fn decide_by_all(
        &self,
        options: Options,
        meter: &mut dyn Meter,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(Decided, Portfolio), InternalError> {
        let kind = match self.asked() {
            Asked::Deadlock => QuestionKind::Deadlock,
            Asked::Race => QuestionKind::Race,
            _ => QuestionKind::Atomicity,
        };
        let ask = |engine, budget: &Budget| {
            let options = Options { engine: Some(engine), second_form: false, ..options };
            let Decided { report, unasked, .. } = self.decide(options, budget, progress)?;
            Ok(Answered { report, unasked })
        };
        let (Answered { report, unasked }, portfolio) =
            combine(ask_all(kind, |_| Ok(()), meter, ask))?;
        let left_out = self.left_out(EngineKind::Tupling);
        let decided =
            Decided { report, not_listed: (0, 0), unasked, engine: ALL_ENGINES, left_out };
        Ok((decided, portfolio))
    }

    /// That the model has fewer threads than the program may have, if so.
    fn few_threads(&self) -> Option<Unknown> {
        let starts = self.model.starts_per_site.map(Unknown::Starts);
        starts.or(self.copies.map(Unknown::Copies))
    }

    /// What an engine leaves out of the model wherever the rest suffices.
    fn left_out(&self, engine: EngineKind) -> Vec<String> {
        let without = matches!(engine, EngineKind::Tupling | EngineKind::TuplingBdd);
        match self.questions {
            Questions::Deadlocks => Vec::new(),
            _ if !without => Vec::new(),
            _ => left_out(&self.model.program),
        }
    }

    /// What was asked, as the reports tell it.
    pub fn asked(&self) -> Asked<'_> {
        match (&self.questions, &self.property, &self.patterns) {
            (_, Some(property), _) => Asked::Property(&property.text.name),
            (_, _, Some((patterns, units))) => Asked::Patterns(patterns.clone(), *units),
            (Questions::Deadlocks, _, _) => Asked::Deadlock,
            _ => Asked::Race,
        }
    }

    /// What the reports need.
    pub fn answers<'a>(
        &'a self,
        decided: &'a Decided,
        elapsed: Duration,
        peak_memory: Option<u64>,
    ) -> Answers<'a> {
        let Self { model, threads, locations, property, trivial, .. } = self;
        let Decided { report, not_listed, unasked, engine, left_out } = decided;
        let of_model = model.warnings.iter().chain(trivial).map(|one| (model.text.source(), one));
        let of_property = property.iter().flat_map(|property| {
            property.warnings.iter().map(|warning| (property.text.source(), warning))
        });
        let faults = report.faults.iter().map(|fault| (model.text.source(), fault));
        Answers {
            source: model.text.source(),
            program: &model.program,
            asked: self.asked(),
            threads,
            locations,
            engine,
            chosen: report.chosen,
            answers: &report.answers,
            unasked: unasked.as_ref(),
            not_listed: *not_listed,
            nothing_shared: report.answers.is_empty()
                && *not_listed == (0, 0)
                && unasked.is_none()
                && shares_nothing(&model.program),
            left_out: left_out.clone(),
            statistics: &report.statistics,
            elapsed,
            peak_memory,
            warnings: of_model.chain(of_property).chain(faults).collect(),
            portfolio: None,
        }
    }
}

/// Whether a thread can wait for its own end, or for a lock that it holds itself.
pub(crate) fn can_wait_alone(program: &Program) -> bool {
    program.edges.iter().any(|edge| match edge.action {
        Action::Join(_) => true,
        Action::Acquire(lock) => !program.locks[lock].reentrant,
        _ => false,
    })
}

/// The program with as many copies as decide a property, and never fewer than `most`: it may name
/// them.
fn instance_for(property: &str, program: Program, most: u32) -> Instance {
    let asked = CopiesFor::Threads(selvedge_front_property::threads_asked_about(property));
    match enough(&program, asked) {
        Enough::Exactly(numbers) => {
            let number = numbers.iter().copied().max().unwrap_or(0).max(most);
            Instance { limit: None, ..instance(program, &[], number) }
        }
        Enough::Unknown => instance(program, &[], most),
    }
}
