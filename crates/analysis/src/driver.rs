//! # Idea
//! A prepared program, questions, options and a budget in, answers out. Every question is put to the
//! first engine that takes it; where that one cannot decide it for what it is, the next is asked. A
//! violation exists only as a trace that the replayer has executed; a witness that does not replay is
//! an internal error, as a panic is. An engine that ends with one is dropped, the next engine that takes
//! the question is asked, and a warning names the one that failed.
//!
//! An engine that leaves values out is asked about the program of events. What is safe there is safe.
//! What it claims is a run without values: it is a violation if values are found that go with its steps,
//! and otherwise an engine that follows values is asked.
//!
//! # Invariants
//! 1. An engine that is named is the only one that is asked.
//! 2. A limit that was met is no reason to ask another engine: the budget is used up.
//! 3. A claim without values that does not fit them is neither a violation nor an internal error.
//! 4. An internal error is the outcome only if no engine was left that takes the question.
//! 5. No run ends for lack of steps while a copy that it started has not moved.

use crate::choice::{Choice, choose};
use crate::containment::contain;
use crate::copies::named_suffice;
use crate::making::{make, make_for_events};
use crate::prepared::Prepared;
use crate::registry::{EngineKind, QuestionKind};
use selvedge_base::{Budget, Diagnostic, Severity};
use selvedge_cpds::CpdsOptions;
use selvedge_program::copies::{idle_starts, without_idle_copies};
use selvedge_program::{
    AccessSite, Answer, Bound, Decision, Engine, Explored, GlobalId, Measure, Move, Program,
    Question, Refined, Searched, Statistics, StepKind, Target, Trace, TraceStep, Unknown, Verdict,
    Witness,
};
use selvedge_replay::{ReplayError, replay_with_values, replay_within};
use selvedge_states::{ProtectionRule, Reduction, SearchMeans, SearchOrder, StoreKind};
use std::collections::BTreeMap;
use std::fmt;

/// How to analyse.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct Options {
    /// Which engine; chosen by the question and the program if none is named.
    pub engine: Option<EngineKind>,
    /// Whether `tupling`, if it is named, brings its second form along for what explodes.
    pub second_form: bool,
    /// How many open calls per thread the exhaustive engine follows.
    pub call_depth: u32,
    /// How many frames of each stack the abstraction of stacks knows at most.
    pub max_known: u32,
    /// What a bound counts.
    pub measure: Measure,
    /// The bound; without one it widens until something is decided.
    pub limit: Option<u32>,
    /// Whether to count the states that are visible: with the tops of the stacks.
    pub visible: bool,
    /// Whether the search of states counts the shared ones.
    pub states: bool,
    /// How many states to list, if any.
    pub list: Option<usize>,
    /// How many threads a start site may start, if the front end had to cut some off.
    pub starts_per_site: Option<u32>,
    /// With how many copies of a thread the program was made, if nothing beyond them is known: what is
    /// safe is so with at most so many.
    pub copies: Option<u32>,
    /// How many nodes of decision diagrams may be stored at once, if not as many as usual.
    pub max_nodes: Option<usize>,
    /// How much the search of states leaves out; what suits the question if nothing is said.
    pub reduction: Option<Reduction>,
    /// How many states may be stored, if not as many as there is room for.
    pub state_limit: Option<u64>,
    /// Which accesses the search of states takes for protected.
    pub protection: ProtectionRule,
    /// Which stored state it expands next.
    pub order: SearchOrder,
    /// Whether it stores copies that are interchangeable in a fixed order.
    pub symmetry: bool,
    /// What it keeps of a state.
    pub store: StoreKind,
    /// How many workers search.
    pub workers: usize,
    /// How many states one of them stores before the others help.
    pub alone: u64,
    /// What it has beside the memory and the cores of this process, as long as that runs.
    pub means: Option<&'static SearchMeans>,
    /// Whether it gives every assertion its own verdict.
    pub assertions: bool,
    /// Whether it says what protects each variable.
    pub locks: bool,
    /// The globals (the first, and how many follow each other) for which it shows the run to an access
    /// that leaves one without protection.
    pub why: Option<(GlobalId, u32)>,
    /// Interleavings with more steps than this are not written out; the answer is `unknown` then.
    pub max_witness_steps: u64,
    /// How the procedure for communicating pushdown systems works.
    pub cpds: CpdsOptions,
    /// With more facts than this about the explicit tuples of one role, the tupling engine puts a
    /// question to decision diagrams instead.
    pub max_facts: u64,
    /// A formula that is a union of more chains of moments than this is not decided by them.
    pub max_chains: usize,
}

impl Options {
    /// How many rounds the context-bounded engine explores if nothing else is said.
    pub(crate) const FEW_ROUNDS: u32 = 2;

    /// How many chains of moments a formula may be a union of, if nothing else is said.
    pub const MOST_CHAINS: usize = 10_000;

    /// This engine, or the one that fits, with the default limits.
    pub fn new(engine: Option<EngineKind>) -> Self {
        Self {
            engine,
            second_form: true,
            call_depth: 8,
            max_known: 8,
            measure: Measure::Rounds,
            limit: None,
            visible: false,
            states: false,
            list: None,
            starts_per_site: None,
            copies: None,
            max_nodes: None,
            reduction: None,
            state_limit: None,
            protection: ProtectionRule::default(),
            order: SearchOrder::default(),
            symmetry: true,
            store: StoreKind::default(),
            workers: 1,
            alone: 0,
            means: None,
            assertions: false,
            locks: false,
            why: None,
            max_witness_steps: 1_000_000,
            cpds: CpdsOptions::default(),
            max_facts: 20_000,
            max_chains: Self::MOST_CHAINS,
        }
    }
}

/// How far the analysis is.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Questions answered.
    pub done: usize,
    /// Questions in all.
    pub total: usize,
    /// The question being worked on; `None` at the end.
    pub question: Option<&'a Question>,
    /// The bound that is explored for it, if the engine widens one.
    pub bound: Option<Bound>,
}

/// All answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// In the order of the questions.
    pub answers: Vec<Answer>,
    /// Why the first engine was asked first, if none was named and that needs a reason.
    pub chosen: Option<&'static str>,
    /// What the work cost.
    pub statistics: Statistics,
    /// A warning for each engine that ended with an internal error where another one was asked.
    pub faults: Vec<Diagnostic>,
}

/// The code of the warning about an engine that ended with an internal error.
pub const INTERNAL_ERROR: &str = "internal-error";

/// A bug of ours, never a verdict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InternalError(pub String);

impl fmt::Display for InternalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InternalError {}

/// Answers every question about a valid program.
///
/// # Errors
/// If an engine contradicts itself, or claims an interleaving that does not replay.
pub fn answer(
    prepared: &Prepared<'_>,
    questions: &[Question],
    options: &Options,
    budget: &Budget,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report, InternalError> {
    let mut driver = Driver::new(prepared, options, budget);
    let cut = without_idle_copies(prepared.program);
    let cut = cut.as_ref().map(Prepared::new);
    let mut maximal = cut.as_ref().map(|cut| Driver::new(cut, options, budget));
    let total = questions.len();
    let mut answers = Vec::with_capacity(total);
    for (done, question) in questions.iter().enumerate() {
        let mut note = |bound| progress(Progress { done, total, question: Some(question), bound });
        note(None);
        let mut widened = |bound| note(Some(bound));
        let answer = match &mut maximal {
            Some(maximal) if *question == Question::Stuck => {
                maximal.answer(question, &mut widened)?
            }
            Some(maximal) => {
                let answer = driver.answer(question, &mut widened)?;
                if ends_with_idle_copies(prepared.program, &answer) {
                    maximal.answer(question, &mut widened)?
                } else {
                    answer
                }
            }
            None => driver.answer(question, &mut widened)?,
        };
        answers.push(answer);
    }
    progress(Progress { done: total, total, question: None, bound: None });
    let mut report = driver.report(answers);
    if let Some(maximal) = maximal {
        let more = maximal.report(Vec::new());
        report.statistics.add(&more.statistics);
        report.chosen = report.chosen.or(more.chosen);
        report.faults.extend(more.faults);
    }
    Ok(report)
}

/// Whether an answer shows a run that ends for lack of steps, although it started a copy that has not moved.
fn ends_with_idle_copies(program: &Program, answer: &Answer) -> bool {
    let Verdict::Violation(trace) = &answer.verdict else { return false };
    let idle = idle_starts(program);
    let is_idle = |step: &TraceStep| matches!(step.step, Move::Edge(edge) if idle.contains(&edge));
    trace.repeats == Some(trace.steps.len()) && trace.steps.iter().any(is_idle)
}

/// What an engine was made for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Sees {
    /// The program.
    Everything,
    /// The program without its values.
    Events,
}

/// The engines of one run.
pub(crate) struct Driver<'a, 'p> {
    prepared: &'a Prepared<'p>,
    options: &'a Options,
    budget: &'a Budget,
    engines: BTreeMap<(Choice, Sees), Box<dyn Engine + 'a>>,
    chosen: Option<&'static str>,
}

impl<'a, 'p> Driver<'a, 'p> {
    /// Engines that were not asked anything yet.
    pub(crate) fn new(
        prepared: &'a Prepared<'p>,
        options: &'a Options,
        budget: &'a Budget,
    ) -> Self {
        Self { prepared, options, budget, engines: BTreeMap::new(), chosen: None }
    }

    /// The report with these answers of theirs.
    pub(crate) fn report(self, answers: Vec<Answer>) -> Report {
        let mut statistics = Statistics::default();
        for ((choice, _), engine) in &self.engines {
            // Searches with more and more frames, each of which counts.
            match choice.frames {
                Some(_) => statistics.add(&engine.statistics()),
                None => statistics.extend(&engine.statistics()),
            }
        }
        let faults = self.prepared.faults();
        Report { answers, chosen: self.chosen, statistics, faults }
    }

    /// The answer to one question.
    pub(crate) fn answer(
        &mut self,
        question: &Question,
        widened: &mut dyn FnMut(Bound),
    ) -> Result<Answer, InternalError> {
        let (mut choices, why) = choose(self.prepared, question, self.options);
        let mut open: Option<Answer> = None;
        // Whether the question was only refused so far, by engines that did not look at the program.
        let mut only_refused = true;
        let mut fault: Option<InternalError> = None;
        let mut next = 0;
        while let Some(&choice) = choices.get(next) {
            let at = next;
            next += 1;
            let kind = choice.engine;
            let unfitting =
                open.as_ref().is_some_and(|answer| is_about_other_data(&answer.verdict));
            // Another engine without values knows no more.
            if unfitting && kind.leaves_out(self.prepared.features, question) {
                continue;
            }
            // The reason is one for the first engine.
            self.chosen = why.filter(|_| at == 0).or(self.chosen.filter(|_| unfitting));
            let engine = kind.name();
            // Engines look at the budget only now and then, which adds up over many questions.
            let not = |why| (Verdict::Unknown(why), None, None, None);
            let taken = kind.takes(self.prepared.features, question);
            let looks = taken.is_ok();
            let (verdict, explored, searched, refined) = if let Some(reason) = self.budget.poll() {
                not(Unknown::Stopped(reason))
            } else if let Err(why) = taken {
                not(Unknown::Unsupported(why))
            } else {
                match self.decide_contained(choice, question, widened) {
                    Ok(decided) => decided,
                    Err(error) if self.options.engine.is_some() => return Err(error),
                    Err(error) => {
                        others(&mut choices, question);
                        self.prepared.note_fault(warning(&error));
                        fault.get_or_insert(error);
                        continue;
                    }
                }
            };
            let mut answer =
                Answer { question: question.clone(), verdict, engine, explored, searched, refined };
            match &answer.verdict {
                // What this engine lacks another one may have.
                Verdict::Unknown(Unknown::Unsupported(_)) => {
                    // Why an engine that takes the question gives it up says more than a refusal, which
                    // may name engines that give it up as well.
                    let refused = matches!(
                        open.as_ref().map(|open| &open.verdict),
                        None | Some(Verdict::Unknown(Unknown::Unsupported(_)))
                    );
                    if open.is_none() || looks && only_refused && refused {
                        open = Some(answer);
                    }
                    only_refused &= !looks;
                }
                Verdict::Unknown(Unknown::Tuples { .. } | Unknown::Nodes { .. }) => {
                    open = Some(answer);
                }
                // Runs with more open calls are for an engine that has no limit on them, and what that one
                // knows of them is said.
                Verdict::Unknown(Unknown::CallDepth(_))
                    if matches!(question, Question::Temporal(_)) =>
                {
                    let known = |open: &Answer| {
                        matches!(open.verdict, Verdict::Unknown(Unknown::Stacks(_)))
                    };
                    if !open.as_ref().is_some_and(known) {
                        open = Some(answer);
                    }
                }
                Verdict::Unknown(Unknown::Stacks(_)) => open = Some(answer),
                Verdict::Unknown(Unknown::OtherData(_))
                    if kind.leaves_out(self.prepared.features, question) =>
                {
                    open = Some(answer);
                }
                Verdict::Unknown(Unknown::OtherData(_)) => return Ok(answer),
                Verdict::Unknown(why) if unfitting => {
                    let why = Unknown::OtherData(Some(why.to_string()));
                    answer.verdict = Verdict::Unknown(why);
                    return Ok(answer);
                }
                _ => return Ok(answer),
            }
        }
        // Whoever does not take the question has not answered it.
        let refused =
            |open: &Answer| matches!(open.verdict, Verdict::Unknown(Unknown::Unsupported(_)));
        match (open, fault) {
            (Some(open), Some(fault)) if refused(&open) => Err(fault),
            (Some(open), _) => Ok(open),
            (None, Some(fault)) => Err(fault),
            (None, None) => unreachable!("there is an engine for every question"),
        }
    }

    /// What one engine says. One that fails is not asked again as it is.
    fn decide_contained(
        &mut self,
        choice: Choice,
        question: &Question,
        widened: &mut dyn FnMut(Bound),
    ) -> Result<Replayed, InternalError> {
        let name = choice.engine.name();
        let contained = contain(|| self.decide(choice, question, widened));
        let decided = contained.unwrap_or_else(|InternalError(what)| {
            Err(InternalError(format!("engine {name}: {what}")))
        });
        if decided.is_err() {
            self.engines.retain(|(made, _), _| *made != choice);
        }
        decided
    }

    /// What one engine says, its claim replayed.
    fn decide(
        &mut self,
        choice: Choice,
        question: &Question,
        widened: &mut dyn FnMut(Bound),
    ) -> Result<Replayed, InternalError> {
        let kind = choice.engine;
        let Self { prepared, options, budget, engines, .. } = self;
        let prepared: &'a Prepared<'p> = prepared;
        let leaves_out = kind.leaves_out(prepared.features, question);
        let sees = if leaves_out { Sees::Events } else { Sees::Everything };
        let engine = engines.entry((choice, sees)).or_insert_with(|| match sees {
            Sees::Everything => make(choice, prepared, options, budget),
            Sees::Events => make_for_events(kind, prepared.events(), options, budget),
        });
        let blame = |what: String| InternalError(format!("engine {}: {what}", kind.name()));
        let Decision { verdict, explored, searched, refined } =
            engine.decide(question, widened).map_err(|fault| blame(fault.to_string()))?;
        let execute = |question: &Question, witness: &Witness| match replay_within(
            prepared.program,
            question,
            witness,
            budget,
        ) {
            Ok(trace) => Ok(Verdict::Violation(trace)),
            Err(ReplayError { open: Some(why), .. }) => Ok(Verdict::Unknown(why)),
            Err(error) => Err(blame(format!("a witness does not replay: {error}"))),
        };
        // What was cut off from the program was not looked at. Searches that widen a bound say so
        // themselves, where anything could be found.
        let starts = options.starts_per_site.filter(|_| !kind.widens());
        let named = named_suffice(question, prepared.features);
        let copies = options.copies.filter(|_| !named);
        let cut = copies.map(Unknown::Copies).or(starts.map(Unknown::Starts));
        let safe = || cut.clone().map_or(Verdict::Safe, Verdict::Unknown);
        let verdict = match verdict {
            Verdict::Safe => safe(),
            Verdict::Unknown(why) => Verdict::Unknown(why),
            Verdict::Violation(witness) if sees == Sees::Events => {
                let plan = prepared.events().events.plan(&witness);
                match replay_with_values(prepared.program, question, &plan, budget) {
                    Ok(Some(trace)) => Verdict::Violation(trace),
                    Ok(None) => Verdict::Unknown(Unknown::OtherData(None)),
                    Err(why) => Verdict::Unknown(why),
                }
            }
            Verdict::Violation(witness) => execute(question, &witness)?,
        };
        let searched = searched.map(|searched| {
            let mut searched = searched.try_map(|access, witness| match access {
                None => execute(question, &witness),
                Some(access) => {
                    let there = Question::Reach(Target::Label(vec![access.node]));
                    Ok(execute(&there, &witness)?.map(|trace| about_to(trace, access)))
                }
            })?;
            for one in searched.assertions.iter_mut().flatten() {
                if one.verdict == Verdict::Safe {
                    one.verdict = safe();
                }
            }
            for one in searched.protection.iter_mut().flatten() {
                one.proved &= cut.is_none();
            }
            Ok(Box::new(searched))
        });
        // Most answers are safe and have none of this: as they are many, they are to be small.
        Ok((verdict.map(Box::new), explored.map(Box::new), searched.transpose()?, refined))
    }
}

/// Adds the engines that decide such questions and are not among these.
fn others(choices: &mut Vec<Choice>, question: &Question) {
    for engine in EngineKind::deciding(&[QuestionKind::of(question)]) {
        if choices.iter().all(|choice| choice.engine != engine) {
            choices.push(Choice { engine, frames: None });
        }
    }
}

/// What there is to say of an engine that ended with an internal error.
fn warning(error: &InternalError) -> Diagnostic {
    let message = format!("{error}; another engine was asked");
    Diagnostic::global(INTERNAL_ERROR, Severity::Warning, message)
        .with_help("report it with the model; the verdict is that of the other engine".to_owned())
}

/// What an engine says, its claims replayed.
type Replayed =
    (Verdict<Box<Trace>>, Option<Box<Explored>>, Option<Box<Searched<Trace>>>, Option<Refined>);

/// A run at the end of which a thread is about to make an access.
fn about_to(mut trace: Trace, access: &AccessSite) -> Trace {
    let step = access.edge.map_or(Move::Return, Move::Edge);
    trace.next = vec![TraceStep::plain(access.thread, step, StepKind::Step, access.place)];
    trace
}

/// Whether an engine without values found something that does not fit them.
fn is_about_other_data(verdict: &Verdict<Box<Trace>>) -> bool {
    matches!(verdict, Verdict::Unknown(Unknown::OtherData(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_program::Fault;
    use selvedge_program::moment::races;
    use std::collections::BTreeSet;

    /// An engine that says what it was told to.
    struct Liar(Result<Verdict<Witness>, Fault>);

    impl Engine for Liar {
        fn decide(&mut self, _: &Question, _: &mut dyn FnMut(Bound)) -> Result<Decision, Fault> {
            self.0.clone().map(Decision::from)
        }
        fn statistics(&self) -> Statistics {
            Statistics::default()
        }
    }

    /// An engine that panics.
    struct Panicking;

    impl Engine for Panicking {
        fn decide(&mut self, _: &Question, _: &mut dyn FnMut(Bound)) -> Result<Decision, Fault> {
            panic!("an invariant is broken")
        }
        fn statistics(&self) -> Statistics {
            Statistics::default()
        }
    }

    /// A question of each kind about a program, with what the engines say of it.
    fn asked(program: &Program) -> Vec<(Question, Verdict<()>)> {
        let (formula, _) = selvedge_logic::parse("E F deadlock", program, &[]);
        let formula = Question::Temporal(formula.into_iter().next().expect("a formula"));
        let threads: Vec<_> = program.threads.ids().collect();
        let locations: Vec<_> = program.locations.ids().collect();
        let race = Question::Race(races(&threads, &locations).remove(0));
        vec![
            (Question::Reach(Target::Assertion), Verdict::Safe),
            (race, Verdict::Violation(())),
            (formula, Verdict::Safe),
            (Question::Stuck, Verdict::Safe),
        ]
    }

    /// Where engines fail, the next one that takes the question answers, and a warning names each that
    /// failed; if all fail, that is an internal error.
    #[test]
    fn another_engine_answers_where_one_fails() {
        let source = "var : x; process A { f { if (*) f(); } main { f(); read x; } } process B { main { write x; } }";
        let flat = "var : x; process A { main { skip; read x; } } process B { main { write x; } }";
        let mut fallbacks = 0;
        for source in [source, flat] {
            let program = selvedge_front_eml::parse(source).program.expect("a program");
            for (question, expected) in asked(&program) {
                let options = Options::new(None);
                let takes =
                    |choice: &Choice| choice.engine.takes(program.features(), &question).is_ok();
                for failing in 1.. {
                    let prepared = Prepared::new(&program);
                    let (mut choices, _) = choose(&prepared, &question, &options);
                    others(&mut choices, &question);
                    choices.retain(takes);
                    let budget = Budget::with_steps(1_000);
                    let mut driver = Driver::new(&prepared, &options, &budget);
                    for (at, &choice) in choices.iter().take(failing).enumerate() {
                        let engine: Box<dyn Engine> = match at % 2 {
                            0 => Box::new(Panicking),
                            _ => Box::new(Liar(Err(Fault("it contradicts itself".to_owned())))),
                        };
                        driver.engines.insert((choice, Sees::Everything), engine);
                    }
                    let answer = driver.answer(&question, &mut |_| {});
                    let faults = prepared.faults();
                    // One that is asked with more and more frames may fail the same way each time.
                    let ways = choices.iter().take(failing).enumerate();
                    let ways: BTreeSet<_> = ways.map(|(at, one)| (one.engine, at % 2)).collect();
                    assert_eq!(faults.len(), ways.len());
                    if failing >= choices.len() {
                        let error = answer.expect_err("nobody is left").to_string();
                        assert!(error.contains(choices[0].engine.name()), "{error}");
                        break;
                    }
                    let answer = answer.expect("others are left");
                    for (engine, _) in ways {
                        let name = format!("engine {}: ", engine.name());
                        let named = |one: &Diagnostic| one.message.starts_with(&name);
                        assert!(faults.iter().any(named), "{name} {faults:?}");
                    }
                    assert!(faults.iter().all(|fault| fault.code == INTERNAL_ERROR));
                    if !matches!(answer.verdict, Verdict::Unknown(_)) {
                        assert_eq!(answer.verdict.clone().map(|_| ()), expected, "{question:?}");
                        fallbacks += 1;
                    }
                    assert_eq!(driver.report(vec![answer]).faults, faults);
                }
            }
        }
        assert!(fallbacks > 10, "{fallbacks}");
    }

    /// An engine that is named is the only one, so its failure is the outcome.
    #[test]
    fn a_named_engine_has_no_substitute() {
        let source = "process A { main { skip; } } process B { main { skip; } }";
        let program = selvedge_front_eml::parse(source).program.expect("a program");
        let prepared = Prepared::new(&program);
        let (options, budget) = (Options::new(Some(EngineKind::Lazy)), Budget::new());
        let mut driver = Driver::new(&prepared, &options, &budget);
        let choice = Choice { engine: EngineKind::Lazy, frames: None };
        driver.engines.insert((choice, Sees::Everything), Box::new(Panicking));
        let answer = driver.answer(&Question::Reach(Target::Assertion), &mut |_| {});
        let error = answer.expect_err("nobody else is asked").to_string();
        assert!(error.contains("lazy") && error.contains("an invariant is broken"), "{error}");
        // It is made anew for the next question.
        assert!(driver.engines.is_empty());
    }

    /// Whichever engine contradicts itself, and however: that is no verdict.
    #[test]
    fn a_contradiction_is_an_internal_error() {
        // At first nobody is about to access anything, so a run without steps shows nothing.
        let source =
            "var : x; process A { main { skip; read x; } } process B { main { skip; write x; } }";
        let program = selvedge_front_eml::parse(source).program.expect("a program");
        let threads: Vec<_> = program.threads.ids().collect();
        let locations: Vec<_> = program.locations.ids().collect();
        let race = Question::Race(races(&threads, &locations).remove(0));
        let pattern = selvedge_program::question::pattern_questions(
            &program,
            &[1],
            selvedge_program::Units::Exact,
            &threads,
            &locations,
        );
        let pattern = Question::Pattern(pattern.into_iter().next().expect("a question"));
        let prepared = Prepared::new(&program);
        for kind in EngineKind::ALL {
            let (formula, _) = selvedge_logic::parse("E F end", &program, &[]);
            let formula = Question::Temporal(formula.into_iter().next().expect("a formula"));
            let asked =
                [Question::Reach(Target::Assertion), race.clone(), pattern.clone(), formula];
            let taken = |one: &Question| kind.takes(prepared.features, one).is_ok();
            let question = asked.into_iter().find(taken).expect("it takes one of them");
            for lie in [
                Err(Fault("it contradicts itself".to_owned())),
                Ok(Verdict::Violation(Witness::default())),
            ] {
                let (options, budget) = (Options::new(Some(kind)), Budget::new());
                let mut driver = Driver::new(&prepared, &options, &budget);
                let choice = Choice { engine: kind, frames: None };
                driver.engines.insert((choice, Sees::Everything), Box::new(Liar(lie.clone())));
                let answer = driver.answer(&question, &mut |_| {});
                let error = answer.expect_err("it is no verdict").to_string();
                let expected = match lie {
                    Err(Fault(what)) => what,
                    Ok(_) => "does not replay".to_owned(),
                };
                assert!(error.contains(&expected) && error.contains(kind.name()), "{error}");
            }
        }
    }
}
