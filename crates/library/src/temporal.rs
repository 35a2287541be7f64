//! # Idea
//! Formulas about the runs of a model: texts become questions, questions get answers, and what is known
//! of a formula by its shape is said where it is asked for.
//!
//! # Invariants
//! 1. Where a thread stands for any number of copies, what is not found with so many is open.

use crate::load::{Model, Text};
use crate::portfolio::{Answered, Meter, ask_all, combine};
use crate::select;
use selvedge_analysis::{
    EngineKind, Instance, InternalError, Options, Prepared, Progress, QuestionKind, Report, answer,
    instance,
};
use selvedge_base::{Budget, Diagnostic};
use selvedge_logic::normal::NormalForm;
use selvedge_logic::show::{chain, show};
use selvedge_logic::{NoChains, chains, fragment, parse};
use selvedge_program::{Feature, Formula, Question, TemporalQuestion, ThreadId};
use selvedge_report::{Answers, Asked, AskedFormula, Portfolio};
use std::time::Duration;

/// How much work may go into making chains only to explain them.
const CHAINS_WORK: u64 = 1_000_000;
/// How many chains an explanation lists.
const SHOWN_CHAINS: usize = 4;

/// What an explanation of a formula depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Explain {
    /// A formula that is a union of more chains than this is not decided by them.
    pub max_chains: usize,
}

/// Formulas about a model.
#[derive(Clone, Debug)]
pub struct Temporal {
    /// The model, with its copies.
    pub model: Model,
    questions: Vec<Question>,
    formulas: Vec<AskedFormula>,
    threads: Vec<ThreadId>,
    copies: Option<u32>,
}

impl Temporal {
    /// Asks about the runs of a model with so many copies of a thread that stands for any number, which
    /// are fair to threads of these names.
    ///
    /// # Errors
    /// If a text has mistakes, or a name does not exist: the text, and what is wrong with it.
    pub fn new(
        given: Model,
        texts: Vec<Text>,
        fair: Option<&[String]>,
        copies: u32,
        explain: Option<Explain>,
    ) -> Result<Self, Vec<(Text, Vec<Diagnostic>)>> {
        let Instance { program, limit } = instance(given.program, &[], copies);
        let model = Model { program, ..given };
        let fair = match fair {
            None => Vec::new(),
            Some(names) => match select::threads(&model.program, Some(names)) {
                Ok(threads) => threads,
                Err(wrong) => return Err(vec![(model.text, wrong)]),
            },
        };
        let mut questions = Vec::new();
        let mut wrong = Vec::new();
        for text in texts {
            let (found, complaints) = parse(&text.text, &model.program, &fair);
            questions.extend(found);
            if !complaints.is_empty() {
                wrong.push((text, complaints));
            }
        }
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let formulas = questions.iter().map(|one| about(one, &model, explain)).collect();
        let threads = model.program.threads.ids().collect();
        let questions = questions.into_iter().map(Question::Temporal).collect();
        Ok(Self { model, questions, formulas, threads, copies: limit })
    }

    /// Decides the formulas.
    ///
    /// # Errors
    /// If an engine contradicts itself, or claims a run that does not replay.
    pub fn decide(
        &self,
        options: Options,
        budget: &Budget,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Report, InternalError> {
        let starts_per_site = self.model.starts_per_site;
        let options = Options { copies: self.copies, starts_per_site, ..options };
        let prepared = Prepared::new(&self.model.program);
        answer(&prepared, &self.questions, &options, budget, progress)
    }

    /// Puts the formulas to every engine.
    ///
    /// # Errors
    /// If all engines that take them end with an internal error.
    pub fn decide_by_all(
        &self,
        options: Options,
        meter: &mut dyn Meter,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(Report, Portfolio), InternalError> {
        let ask = |engine, budget: &Budget| {
            let options = Options { engine: Some(engine), ..options };
            let report = self.decide(options, budget, progress)?;
            Ok(Answered { report, unasked: None })
        };
        let members = ask_all(QuestionKind::Temporal, |_| Ok(()), meter, ask);
        combine(members).map(|(answered, portfolio)| (answered.report, portfolio))
    }

    /// What the reports need.
    pub fn answers<'a>(
        &'a self,
        report: &'a Report,
        elapsed: Duration,
        peak_memory: Option<u64>,
    ) -> Answers<'a> {
        let Self { model, formulas, threads, .. } = self;
        Answers {
            source: model.text.source(),
            program: &model.program,
            asked: Asked::Temporal(formulas),
            threads,
            locations: &[],
            engine: report.answers.first().map_or("none", |answer| answer.engine),
            chosen: report.chosen,
            answers: &report.answers,
            unasked: None,
            not_listed: (0, 0),
            nothing_shared: false,
            left_out: Vec::new(),
            statistics: &report.statistics,
            elapsed,
            peak_memory,
            warnings: (model.warnings.iter().chain(&report.faults))
                .map(|one| (model.text.source(), one))
                .collect(),
            portfolio: None,
        }
    }
}

/// What is known of a formula by its shape. An `A` is decided by runs that satisfy its negation.
fn about(question: &TemporalQuestion, model: &Model, explain: Option<Explain>) -> AskedFormula {
    let sought = question.sought();
    let shape = fragment(&sought);
    let mut explanation = Vec::new();
    if let Some(Explain { max_chains }) = explain {
        let form = NormalForm::new(&sought);
        explanation.push(format!("looks for a run with {}", show(&form, &model.program)));
        explanation.push(format!("fragment {}: {}", shape.word(), shape.theorem()));
        let (lines, are_chains) = as_chains(&sought, model, max_chains);
        explanation.extend(lines);
        let features = model.program.features();
        let question = Question::Temporal(question.clone());
        let taken = EngineKind::Tupling.takes(features, &question);
        let finite = !features.contains(Feature::Recursion);
        explanation.push(match (are_chains, &taken) {
            (true, Ok(())) => {
                "decided by lock histories along the chains, for every number of open calls, if locks and \
                 units are nested"
                    .to_owned()
            }
            (true, Err(why)) => format!("not decided by its chains: {why}"),
            (false, _) => "it has no such chains that lock histories could be followed along".to_owned(),
        });
        let known = match (finite, are_chains && taken.is_ok()) {
            (true, _) => {
                "the program has no recursion, so its states are finitely many and every formula is decided \
                 by exploring them"
            }
            (false, false) => {
                "the program is recursive: runs are looked for with so many open calls as --depth says, and a \
                 proof with so many frames of each stack as --max-k says; what is found is so, and what is \
                 not found stays open"
            }
            (false, true) => {
                "where they are not, the program is refused by this engine; runs are looked for with so many \
                 open calls as --depth says, and what is not found stays open"
            }
        };
        explanation.push(known.to_owned());
    }
    AskedFormula { fragment: shape.word(), explanation }
}

/// The chains of moments that a formula is a union of, if it is one: the first of them, if there are many;
/// and whether it is a union of no more than so many.
fn as_chains(sought: &Formula, model: &Model, most: usize) -> (Vec<String>, bool) {
    match chains(sought, most, &Budget::with_steps(CHAINS_WORK)) {
        Err(NoChains::Shape) => (Vec::new(), false),
        Err(why) => (vec![why.to_string()], false),
        Ok(found) => {
            let mut lines: Vec<String> = found
                .iter()
                .take(SHOWN_CHAINS)
                .map(|one| format!("chain: {}", chain(one, &model.program)))
                .collect();
            if found.len() > SHOWN_CHAINS {
                lines.push(format!("and {} more chains", found.len() - SHOWN_CHAINS));
            }
            (lines, true)
        }
    }
}
