//! Context-bounded analysis: programs with data, decided below a bound on contexts (paper 001).
//!
//! Where to start reading: [`symbolic`] (the lazy and the eager search over decision diagrams),
//! [`mod@sequentialize`] (the reduction of a concurrent program to a sequential one),
//! [`mod@monitor`] (questions about locks, joins and units as questions about data), [`expand`] (a program
//! as shared states, stack symbols and successors), [`explicit`] (search over these by contexts or
//! rounds), [`reduction`] (one pushdown system for all threads), [`symmetry`] (copies that may change
//! places).

pub mod engine;
pub mod expand;
pub mod explicit;
mod expr;
pub mod monitor;
mod private;
pub mod reduction;
pub mod sequentialize;
pub mod slice;
pub mod symbolic;
pub mod symmetry;
pub mod unsupported;

pub use engine::{Bounded, BoundedOptions, Kind, projection};
pub use explicit::ExplicitSearch;
pub use reduction::{PdsSearch, SpdsSearch};
pub use sequentialize::{Sequential, sequentialize};
pub use symbolic::{Mode, Strategy, SymbolicOptions, SymbolicSearch};
pub use unsupported::Unsupported;

use selvedge_bdd::Exhausted;
use selvedge_program::Unknown;

/// What an operation on diagrams has run out of, as a verdict.
fn exhausted(error: Exhausted) -> Unknown {
    match error {
        Exhausted::Nodes(limit) => Unknown::Nodes { limit: limit as u64 },
        Exhausted::Budget(reason) => Unknown::Stopped(reason),
    }
}
