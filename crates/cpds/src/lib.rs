//! Communicating pushdown systems, and the semi-decision procedure for them.
//!
//! A program is a set of components that share actions: its threads, its locks, the property. What
//! each of them can do alone is a language, and what they can do together is the intersection of
//! the languages, each shuffled with what it knows nothing of. Whether that is empty cannot be decided
//! where two of the languages are context-free. So these are approximated by regular ones from above:
//! if the approximations have no word in common, that is a proof; if they have one that every
//! language has, it is a violation; otherwise the word says which approximation is too coarse.
//!
//! Where to start reading: [`system`] (components and actions), [`mod@refine`] (the procedure),
//! [`stacks`] and [`prefixes`] (the two abstractions), [`product`] (the search for a common word),
//! [`translate`] (what the components of a question about a program are), [`engine`]. Beside them stands
//! [`diagrams`], the restriction of a pushdown system by an automaton over decision diagrams.

pub mod automata;
pub mod diagrams;
pub mod engine;
pub mod prefixes;
pub mod product;
pub mod property;
pub mod pushdown;
pub mod refine;
pub mod stacks;
pub mod system;
pub mod translate;
pub mod witness;

pub use diagrams::{DiagramCombination, DiagramRelations};
pub use engine::{Cpds, CpdsOptions, Reentrant};
pub use pushdown::PushdownComponent;
pub use refine::{Abstraction, Emptiness, RefineOptions, Refinement, Refiner};
pub use system::{
    CommunicatingSystem, ComponentAutomaton, ComponentId, ComponentLanguage, SharedAction,
};
