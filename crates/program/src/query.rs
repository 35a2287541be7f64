//! # Idea
//! One question about one program: can some interleaving show this pattern, or drive this automaton
//! to its final state?
//!
//! # Source
//! SEMANTICS, "The patterns"; paper 000 Problem 1.

use crate::event::Observable;
use crate::ipa::Ipa;
use crate::model::{LocationId, Program, ThreadId};
use crate::pattern::{Access, AccessKind, PATTERNS, Pattern, UnitRole, Variable};

/// Which accesses of the other thread may count as one unit `u'`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Units {
    /// All accesses of `u'` lie in one outermost unit of `b`; an access outside every unit is a unit
    /// of its own.
    Exact,
    /// The condition on `u'` is dropped (paper 000 Fig. 2 literally).
    Paper,
}

/// A pattern on an ordered pair of threads and one or two locations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PatternQuery {
    /// The pattern.
    pub pattern: &'static Pattern,
    /// What counts as `u'`.
    pub units: Units,
    /// The thread of the unit under test, `a`.
    pub unit_thread: ThreadId,
    /// The other thread, `b`.
    pub other_thread: ThreadId,
    /// The location `x`, and `y` if the pattern has two.
    pub locations: Vec<LocationId>,
}

impl PatternQuery {
    /// The thread that makes this access.
    pub fn thread_of(&self, access: Access) -> ThreadId {
        match access.role {
            UnitRole::Unit => self.unit_thread,
            UnitRole::Other => self.other_thread,
        }
    }

    /// The event that this access is.
    pub fn symbol_of(&self, access: Access) -> Observable {
        let location = match access.variable {
            Variable::X => self.locations[0],
            Variable::Y => self.locations[1],
        };
        match access.kind {
            AccessKind::Read => Observable::Read(location),
            AccessKind::Write => Observable::Write(location),
        }
    }

    /// Whether all accesses of this role must lie in one outermost unit. A lone access of `u'`
    /// outside every unit is a unit of its own, so it needs none.
    pub fn needs_unit(&self, role: UnitRole) -> bool {
        match role {
            UnitRole::Unit => true,
            UnitRole::Other => {
                let accesses = self.pattern.accesses.iter();
                self.units == Units::Exact
                    && accesses.filter(|access| access.role == UnitRole::Other).count() > 1
            }
        }
    }
}

/// A question about a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Query {
    /// Can some interleaving show this pattern?
    Pattern(PatternQuery),
    /// Can some interleaving drive this automaton to its final state?
    Automaton(Ipa),
}

/// All pattern queries of a program: for every ordered pair of distinct threads, every pattern of
/// `patterns` and every ordered pair of distinct locations of one atomic set (every single location
/// for the patterns on one), restricted to the threads and locations given.
pub fn pattern_queries(
    program: &Program,
    patterns: &[u32],
    units: Units,
    threads: &[ThreadId],
    locations: &[LocationId],
) -> Vec<PatternQuery> {
    let chosen: Vec<&'static Pattern> =
        PATTERNS.iter().filter(|pattern| patterns.contains(&pattern.number)).collect();
    let singles: Vec<Vec<LocationId>> = locations.iter().map(|&x| vec![x]).collect();
    let set_of = |x: LocationId| program.locations[x].atomic_set;
    let pairs: Vec<Vec<LocationId>> = locations
        .iter()
        .flat_map(|&x| locations.iter().map(move |&y| vec![x, y]))
        .filter(|pair| pair[0] != pair[1] && set_of(pair[0]) == set_of(pair[1]))
        .collect();
    let mut queries = Vec::new();
    for &unit_thread in threads {
        for &other_thread in threads.iter().filter(|&&other| other != unit_thread) {
            for &pattern in &chosen {
                let choices = if pattern.locations() == 1 { &singles } else { &pairs };
                queries.extend(choices.iter().map(|locations| PatternQuery {
                    pattern,
                    units,
                    unit_thread,
                    other_thread,
                    locations: locations.clone(),
                }));
            }
        }
    }
    queries
}
