//! # Idea
//! A search that others can do: what they need to know of it, and what they give back.

use crate::journal::{Journal, LogPlace};
use crate::program::Code;
use crate::search::partition::{Partition, Place, SearchOutcome};
use crate::search::together::search_together;
use crate::search::{Goal, SearchOptions};
use crate::shared::hash;
use selvedge_base::Budget;
use selvedge_program::{NodeId, Program, Unknown, text};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Arc;

/// A search.
#[derive(Clone, Debug)]
pub struct SearchTask {
    /// The program.
    pub program: Arc<Program>,
    /// What is looked for.
    pub goal: Goal,
    /// The nodes that it names.
    pub named: BTreeSet<NodeId>,
    /// How to search.
    pub options: SearchOptions,
    /// What it may cost.
    pub budget: Budget,
    /// Who keeps what was explored, if anybody does.
    pub journal: Option<Arc<dyn Journal>>,
    /// How many bytes of memory each partition may use for states before it has them on disk, if somebody
    /// keeps what was explored.
    pub room: Option<u64>,
    /// A number that tells runs apart.
    pub nonce: u64,
}

impl SearchTask {
    /// A number that is the same for the same program, question and options, in the same version. How
    /// many search and what it may cost makes no difference.
    pub fn identity(&self) -> u64 {
        let options = SearchOptions { workers: 0, alone: 0, most_states: 0, ..self.options };
        let text = format!(
            "{} {:?} {:?} {}",
            env!("CARGO_PKG_VERSION"),
            self.goal,
            options,
            text::print(&self.program)
        );
        let words = text.as_bytes().chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        });
        hash(&words.collect::<Vec<u64>>())
    }

    /// What the search needs of the program.
    pub fn code(&self) -> Code<'_> {
        Code::new(&self.program, &self.named)
    }

    /// A partition of it.
    pub fn partition<'c, 'p>(&self, code: &'c Code<'p>, place: Place) -> Partition<'c, 'p> {
        Partition::new(code, &self.goal, self.options, &self.budget, place, self.kept())
    }

    /// Where logs are kept, if they are.
    fn kept(&self) -> Option<LogPlace> {
        let place = |journal| LogPlace { search: self.identity(), journal, room: self.room };
        self.journal.clone().map(place)
    }

    /// Searches with so many partitions in this process.
    pub fn search_here(&self, partitions: usize) -> SearchOutcome {
        let Self { goal, options, budget, nonce, .. } = self;
        search_together(
            &self.code(),
            goal,
            *options,
            budget,
            (partitions, *nonce),
            self.kept().as_ref(),
        )
    }
}

/// Who searches in several processes.
pub trait Ensemble: Debug + Send + Sync {
    /// Searches to the end.
    ///
    /// # Errors
    /// If the others cannot be reached, or one is lost.
    fn search(&self, task: &SearchTask) -> Result<SearchOutcome, Unknown>;
}

/// What a search has beside the memory and the cores of this process.
#[derive(Clone, Debug, Default)]
pub struct SearchMeans {
    /// Who keeps what was explored.
    pub journal: Option<Arc<dyn Journal>>,
    /// Who searches in several processes.
    pub ensemble: Option<Arc<dyn Ensemble>>,
    /// How many bytes of memory all partitions of this process may use for states before they have them
    /// on disk, if somebody keeps what was explored.
    pub room: Option<u64>,
    /// A number that tells runs apart, for logs.
    pub nonce: u64,
}

impl SearchMeans {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.journal.is_none() && self.ensemble.is_none()
    }
}

/// Two are the same if they are the same objects.
impl PartialEq for SearchMeans {
    fn eq(&self, other: &Self) -> bool {
        let journals = match (&self.journal, &other.journal) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        };
        let ensembles = match (&self.ensemble, &other.ensemble) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        };
        journals && ensembles && (self.room, self.nonce) == (other.room, other.nonce)
    }
}

impl Eq for SearchMeans {}
