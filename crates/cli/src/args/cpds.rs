//! # Idea
//! The arguments of the engine `cpds`, which three commands have.

use super::EngineChoice;
use clap::{Args, ValueEnum};
use selvedge_analysis::{Abstraction, CpdsOptions, EngineKind, Reentrant};

/// How the engine `cpds` works.
#[derive(Args, Clone, Copy, Debug)]
pub struct CpdsArgs {
    /// What locks are to the engine `cpds` [default: reduced].
    #[arg(long, value_enum, value_name = "FORM")]
    pub reentrant: Option<ReentrantName>,
    /// What the engine `cpds` knows of a thread with recursion [default: both].
    #[arg(long, value_enum, value_name = "KIND")]
    pub abstraction: Option<AbstractionName>,
    /// How many actions of a thread with recursion the engine `cpds` knows at most.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_k: Option<u32>,
}

impl CpdsArgs {
    /// What they say.
    pub fn options(self) -> CpdsOptions {
        CpdsOptions {
            reentrant: self.reentrant.map(Into::into).unwrap_or_default(),
            abstraction: self.abstraction.map(Into::into).unwrap_or_default(),
            max_k: self.max_k,
        }
    }

    /// What is wrong with them if this engine is named.
    pub fn misfit(self, engine: Option<EngineChoice>) -> Option<&'static str> {
        let given = self.reentrant.is_some() || self.abstraction.is_some() || self.max_k.is_some();
        let engine = engine.and_then(EngineChoice::one);
        let other = engine.is_some_and(|engine| engine != EngineKind::Cpds);
        (given && other).then_some("--reentrant, --abstraction and --max-k are for engine cpds")
    }
}

/// What locks are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ReentrantName {
    /// Taken and freed: acquisitions by the owner are left out.
    Reduced,
    /// Counted: every acquisition is an action.
    Counted,
}

impl From<ReentrantName> for Reentrant {
    fn from(name: ReentrantName) -> Self {
        match name {
            ReentrantName::Reduced => Self::Reduced,
            ReentrantName::Counted => Self::Counted,
        }
    }
}

/// What is known of a thread with recursion.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum AbstractionName {
    /// Its first actions, and the tops of its stacks.
    Both,
    /// Its first actions.
    Prefix,
}

impl From<AbstractionName> for Abstraction {
    fn from(name: AbstractionName) -> Self {
        match name {
            AbstractionName::Both => Self::Both,
            AbstractionName::Prefix => Self::Prefix,
        }
    }
}
