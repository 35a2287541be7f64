//! # Idea
//! Everything that can be asked about one program, as one type: can some interleaving show this
//! pattern, drive this automaton to its final state, bring two threads to a race or several into a
//! deadlock, reach an assertion that fails, a label, a state, satisfy a temporal formula? Each case names threads, locations,
//! locks and nodes of the program that it is about.
//!
//! # Source
//! SEMANTICS, "The patterns"; paper 000 Problem 1; [`crate::moment`]; [`crate::reach`].

use crate::event::Observable;
use crate::formula::TemporalQuestion;
use crate::ipa::Ipa;
use crate::model::{LocationId, Program, ThreadId};
use crate::moment::{Deadlock, Race};
use crate::pattern::{Access, AccessKind, PATTERNS, Pattern, PatternVariable, UnitRole};
use crate::reach::Target;

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
pub struct PatternQuestion {
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

impl PatternQuestion {
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
            PatternVariable::X => self.locations[0],
            PatternVariable::Y => self.locations[1],
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
pub enum Question {
    /// Can some interleaving show this pattern?
    Pattern(PatternQuestion),
    /// Can some interleaving drive this automaton to its final state?
    Automaton(Ipa),
    /// Can this race happen?
    Race(Race),
    /// Can this deadlock happen?
    Deadlock(Deadlock),
    /// Can this be reached?
    Reach(Target),
    /// Is there a dead end: no thread can move, and a started one has not ended? An atomic section is one step
    /// here: a thread in front of one that it cannot get through cannot move.
    Stuck,
    /// Which states can be reached?
    States,
    /// Is there a run that satisfies the formula, for `E`, or its negation, for `A`?
    Temporal(TemporalQuestion),
}

impl Question {
    /// The threads that it names; a question about what can be reached names none and is about all.
    pub fn threads(&self) -> Vec<ThreadId> {
        match self {
            Self::Pattern(question) => vec![question.unit_thread, question.other_thread],
            Self::Automaton(automaton) => automaton.participants(),
            Self::Race(race) => race.threads.to_vec(),
            Self::Deadlock(deadlock) => deadlock.waits.iter().map(|wait| wait.thread).collect(),
            Self::Reach(_) | Self::Stuck | Self::States | Self::Temporal(_) => Vec::new(),
        }
    }
}

/// All pattern questions about a program: for every ordered pair of distinct threads, every pattern of
/// `patterns` and every ordered pair of distinct locations of one atomic set (every single location
/// for the patterns on one), restricted to the threads and locations given.
pub fn pattern_questions(
    program: &Program,
    patterns: &[u32],
    units: Units,
    threads: &[ThreadId],
    locations: &[LocationId],
) -> Vec<PatternQuestion> {
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
                queries.extend(choices.iter().map(|locations| PatternQuestion {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse;
    use std::collections::BTreeSet;
    use std::fmt::Write;

    /// Threads without code, and sets of locations of these sizes.
    fn program(threads: usize, sets: &[usize]) -> Program {
        let mut text = String::from("program\n");
        for (set, &size) in sets.iter().enumerate() {
            let names: Vec<String> = (0..size).map(|at| format!("x{set}_{at}")).collect();
            writeln!(text, "set s{set} {{ {} }}", names.join(", ")).expect("strings take text");
        }
        for thread in 0..threads {
            writeln!(text, "thread T{thread} main m {{").expect("strings take text");
            text.push_str("procedure m nodes 1 entry 0 exit 0 { } }\n");
        }
        parse(&text).0.expect("a valid program")
    }

    fn all_queries(program: &Program, patterns: &[u32]) -> Vec<PatternQuestion> {
        let threads: Vec<ThreadId> = program.threads.ids().collect();
        let locations: Vec<LocationId> = program.locations.ids().collect();
        pattern_questions(program, patterns, Units::Exact, &threads, &locations)
    }

    fn vaziri() -> Vec<u32> {
        (1..=14).collect()
    }

    fn all() -> Vec<u32> {
        (1..=32).collect()
    }

    /// ERRATA, 000 Tab. 2: three ordered pairs of threads and `m` locations make
    /// `3·(5m + 9m(m−1))` queries with the fourteen patterns.
    #[test]
    fn counts_of_paper_000_table_2() {
        let mut counts = Vec::new();
        for m in [1, 5, 5, 6] {
            let program = program(3, &[m]);
            let queries = all_queries(&program, &vaziri());
            assert_eq!(queries.len(), 6 * (5 * m + 9 * m * (m - 1)));
            // Of the six ordered pairs the paper asks about (1,2), (2,3) and (3,1).
            let ids: Vec<ThreadId> = program.threads.ids().collect();
            let pairs = [(ids[0], ids[1]), (ids[1], ids[2]), (ids[2], ids[0])];
            let chosen =
                |query: &&PatternQuestion| pairs.contains(&(query.unit_thread, query.other_thread));
            counts.push(queries.iter().filter(chosen).count());
        }
        assert_eq!(counts, [15, 615, 615, 900]);
    }

    #[test]
    fn counts_of_all_patterns() {
        // 5 patterns on one location, 27 on two.
        let program = program(2, &[3]);
        assert_eq!(all_queries(&program, &all()).len(), 2 * (5 * 3 + 27 * 6));
        assert_eq!(all_queries(&program, &[17]).len(), 2 * 6);
        assert_eq!(all_queries(&program, &[99]).len(), 0);
        assert_eq!(all_queries(&program, &[]).len(), 0);
    }

    #[test]
    fn pairs_stay_within_one_atomic_set() {
        let program = program(2, &[2, 1]);
        let queries = all_queries(&program, &all());
        assert_eq!(queries.len(), 2 * (5 * 3 + 27 * 2));
        for query in &queries {
            let sets: BTreeSet<_> =
                query.locations.iter().map(|&x| program.locations[x].atomic_set).collect();
            assert_eq!(sets.len(), 1);
            assert_eq!(query.locations.len(), query.pattern.locations());
        }
    }

    #[test]
    fn fewer_threads_or_locations_leave_fewer_questions() {
        assert_eq!(all_queries(&program(1, &[4]), &all()), []);
        assert_eq!(all_queries(&program(0, &[4]), &all()), []);
        assert_eq!(all_queries(&program(2, &[]), &all()), []);
        assert_eq!(all_queries(&program(2, &[1]), &all()).len(), 2 * 5);
        let program = program(3, &[3]);
        let threads: Vec<ThreadId> = program.threads.ids().skip(1).collect();
        let locations: Vec<LocationId> = program.locations.ids().take(1).collect();
        let queries = pattern_questions(&program, &all(), Units::Exact, &threads, &locations);
        assert_eq!(queries.len(), 2 * 5);
        assert!(queries.iter().all(|query| threads.contains(&query.unit_thread)));
    }

    #[test]
    fn queries_are_distinct() {
        let program = program(3, &[3, 2]);
        let queries = all_queries(&program, &all());
        let keys: BTreeSet<_> = queries
            .iter()
            .map(|query| {
                let threads = (query.unit_thread, query.other_thread);
                (query.pattern.number, threads, query.locations.clone())
            })
            .collect();
        assert_eq!(keys.len(), queries.len());
    }

    #[test]
    fn accesses_become_events_of_their_thread() {
        let program = program(2, &[2]);
        let queries = all_queries(&program, &[12]);
        let query = &queries[0];
        let (x, y) = (query.locations[0], query.locations[1]);
        let word: Vec<_> = query
            .pattern
            .accesses
            .iter()
            .map(|&access| (query.thread_of(access), query.symbol_of(access)))
            .collect();
        let (a, b) = (query.unit_thread, query.other_thread);
        assert_ne!(a, b);
        assert_eq!(
            word,
            [
                (a, Observable::Read(x)),
                (b, Observable::Write(y)),
                (b, Observable::Write(x)),
                (a, Observable::Read(y)),
            ]
        );
    }

    #[test]
    fn a_lone_access_needs_no_unit() {
        let program = program(2, &[2]);
        for query in all_queries(&program, &all()) {
            assert!(query.needs_unit(UnitRole::Unit));
            assert_eq!(query.needs_unit(UnitRole::Other), query.pattern.number > 5);
            let paper = PatternQuestion { units: Units::Paper, ..query };
            assert!(paper.needs_unit(UnitRole::Unit) && !paper.needs_unit(UnitRole::Other));
        }
    }
}
