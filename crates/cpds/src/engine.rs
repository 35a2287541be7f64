//! # Idea
//! The procedure as an engine: a question becomes one communicating system for each way to answer it,
//! each is refined until it is decided, and a common word becomes an interleaving.
//!
//! # Invariants
//! 1. `safe` is a proof: no way to answer the question has a common word.

use crate::property::{MOST_PHASES, PhaseProperty};
use crate::refine::{Abstraction, Emptiness, RefineOptions, Refinement, Refiner};
use crate::translate::TranslationSource;
use crate::witness::interleaving;
use selvedge_base::Budget;
use selvedge_lower::thread::LowerError;
use selvedge_lower::{LockSet, LoweredProgram, lower, shared_locks};
use selvedge_program::{
    Bound, Decision, Engine, Failure, Fault, Program, Question, Refined, Statistics, Successors,
    Target, Unknown, Verdict, Witness,
};

/// What locks are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Reentrant {
    /// A thread says only when it takes a lock and when it frees it: a lock is a regular language.
    #[default]
    Reduced,
    /// A thread says every acquisition, and a lock counts them: a context-free language.
    Counted,
}

/// How to decide.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CpdsOptions {
    /// What locks are.
    pub reentrant: Reentrant,
    /// What is known of a component with a language that is not regular.
    pub abstraction: Abstraction,
    /// The largest `k`, if there is one.
    pub max_k: Option<u32>,
}

/// The semi-decision procedure for communicating pushdown systems.
pub struct Cpds<'p> {
    program: &'p Program,
    options: CpdsOptions,
    max_witness_steps: u64,
    budget: Budget,
    lowered: Option<LoweredProgram>,
    refinements: u64,
    automaton_nodes: u64,
    prefix_strings: u64,
    product_states: u64,
}

impl<'p> Cpds<'p> {
    /// An engine for all questions about a program.
    pub fn new(
        program: &'p Program,
        options: CpdsOptions,
        max_witness_steps: u64,
        budget: Budget,
    ) -> Self {
        Self {
            program,
            options,
            max_witness_steps,
            budget,
            lowered: None,
            refinements: 0,
            automaton_nodes: 0,
            prefix_strings: 0,
            product_states: 0,
        }
    }

    /// Decides a question; says how far the abstractions went.
    fn answer(&mut self, question: &Question) -> Result<(Verdict<Witness>, Refined), Failure> {
        let unsupported = |what: String| Failure::Unknown(Unknown::Unsupported(what));
        match question {
            Question::Pattern(_)
            | Question::Automaton(_)
            | Question::Race(_)
            | Question::Reach(Target::Label(_)) => {}
            _ => return Err(unsupported("cpds decides patterns, races and labels".to_owned())),
        }
        let property = PhaseProperty::new(question).ok_or_else(|| {
            unsupported(format!("cpds takes automata with at most {MOST_PHASES} phases"))
        })?;
        if self.lowered.is_none() {
            self.lowered = Some(self.lower()?);
        }
        let lowered = self.lowered.as_ref().expect("it was lowered");
        let CpdsOptions { reentrant, abstraction, max_k } = self.options;
        let source = TranslationSource { program: self.program, lowered, reentrant };
        let options = RefineOptions { abstraction, max_k, ..RefineOptions::default() };
        let mut refined = Refined::default();
        let mut open: Option<Unknown> = None;
        for asked in source.ways(question) {
            let translated = source.translate(question, &asked, &property, &self.budget)?;
            let found = Refiner::decide(&translated.system, options, &self.budget);
            let Refinement { emptiness, k, refinements, fewer, .. } = &found;
            self.refinements += u64::from(*refinements);
            self.automaton_nodes += found.automaton_nodes;
            self.prefix_strings = self.prefix_strings.saturating_add(found.prefix_strings);
            self.product_states += found.product_states;
            refined.refinements += refinements;
            for &(component, k) in k {
                let name = &translated.system.components[component].name;
                let known = refined.k.iter_mut().find(|(one, _)| one == name);
                match known {
                    Some((_, most)) => *most = k.max(*most),
                    None => refined.k.push((name.clone(), k)),
                }
            }
            match emptiness {
                Emptiness::Empty => {}
                Emptiness::Word(word) => {
                    let max = self.max_witness_steps;
                    let witness =
                        interleaving(question, &translated, &property, word, max, &self.budget)?;
                    return Ok((Verdict::Violation(witness), refined));
                }
                Emptiness::Open(stopped) => {
                    let why = match *stopped {
                        Some(reason) if *fewer <= 1 => Unknown::Stopped(reason),
                        stopped => Unknown::Actions { fewer: *fewer, stopped },
                    };
                    let stops = stopped.is_some();
                    // What is known of several ways is what is known of each.
                    open = Some(match open {
                        Some(Unknown::Actions { fewer: before, .. }) if before < *fewer => {
                            Unknown::Actions { fewer: before, stopped: *stopped }
                        }
                        _ => why,
                    });
                    if stops {
                        break;
                    }
                }
            }
        }
        Ok((open.map_or(Verdict::Safe, Verdict::Unknown), refined))
    }

    fn lower(&self) -> Result<LoweredProgram, Unknown> {
        let tracked = match self.options.reentrant {
            Reentrant::Reduced => shared_locks(self.program, &Successors::new(self.program)),
            Reentrant::Counted => LockSet::new(),
        };
        lower(self.program, &tracked, &self.budget).map_err(|error| match error {
            LowerError::Stopped(reason) => Unknown::Stopped(reason),
            LowerError::NotNested(why) => Unknown::Unsupported(format!(
                "locks and units must be nested for this engine: {why}"
            )),
        })
    }
}

impl Engine for Cpds<'_> {
    fn decide(&mut self, question: &Question, _: &mut dyn FnMut(Bound)) -> Result<Decision, Fault> {
        let (verdict, refined) = match self.answer(question) {
            Ok((verdict, refined)) => (verdict, Some(refined)),
            Err(Failure::Unknown(why)) => (Verdict::Unknown(why), None),
            Err(Failure::Fault(fault)) => return Err(fault),
        };
        Ok(Decision { refined, ..Decision::from(verdict) })
    }

    fn statistics(&self) -> Statistics {
        Statistics {
            counts: vec![
                ("refinements", self.refinements),
                ("automaton-nodes", self.automaton_nodes),
                ("prefix-strings", self.prefix_strings),
                ("product-states", self.product_states),
            ],
        }
    }
}
