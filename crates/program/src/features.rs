//! # Idea
//! What a program uses beyond threads, locks, locations and units of work. An engine says which of
//! these it takes; nobody asks whether a program "has data".
//!
//! # Invariants
//! 1. A feature is in the set if some part of the program uses it, whether or not a run gets there;
//!    recursion alone is asked of the procedures that a thread can reach.
//! 2. A program with an empty set of features means the same to every engine: stacks of bounded
//!    height, locks, units, accesses.

use crate::data::{Expr, Frame, Sort, Type};
use crate::model::{Action, Copies, Program, Start};
use selvedge_base::Id;

/// Something that a program may use and an engine may not take.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Feature {
    /// Variables with values, and whatever computes, checks or passes values.
    Values,
    /// Procedures that call themselves, directly or through others.
    Recursion,
    /// Threads that wait until an edge starts them, and such edges.
    Starts,
    /// Edges that go on once another thread has ended.
    Joins,
    /// Sections in which no other thread moves.
    AtomicSections,
    /// Threads that stand for any number of copies.
    AnyCopies,
    /// Volatile accesses.
    Volatile,
    /// Variables that are no truth values, and arithmetic.
    Types,
    /// Waits and notifications.
    Monitors,
    /// Locks that their owner cannot acquire again.
    Mutexes,
    /// Conditions that are checked wherever they could be broken: invariants, and what is said to
    /// protect a global.
    Checks,
    /// Channels, and edges that send and receive over them.
    Channels,
    /// Threads of which only some runs count.
    Restrictions,
}

impl Feature {
    /// All features, in the order of their declaration.
    pub const ALL: [Self; 13] = [
        Self::Values,
        Self::Recursion,
        Self::Starts,
        Self::Joins,
        Self::AtomicSections,
        Self::AnyCopies,
        Self::Volatile,
        Self::Types,
        Self::Monitors,
        Self::Mutexes,
        Self::Checks,
        Self::Channels,
        Self::Restrictions,
    ];

    /// What it is called in messages: "the program has …".
    pub fn name(self) -> &'static str {
        match self {
            Self::Values => "values",
            Self::Recursion => "recursion",
            Self::Starts => "threads that are started",
            Self::Joins => "joins",
            Self::AtomicSections => "atomic sections",
            Self::AnyCopies => "any number of copies of a thread",
            Self::Volatile => "volatile accesses",
            Self::Types => "numbers, enumerations or arrays",
            Self::Monitors => "waits and notifications",
            Self::Mutexes => "locks that are not reentrant",
            Self::Checks => "invariants or annotations",
            Self::Channels => "channels",
            Self::Restrictions => "a restriction of a thread",
        }
    }

    fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// A set of features.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Features {
    bits: u32,
}

impl Features {
    /// No feature at all.
    pub const NONE: Self = Self { bits: 0 };

    /// Whether a feature is in the set.
    pub fn contains(self, feature: Feature) -> bool {
        self.bits & feature.bit() != 0
    }

    /// Adds a feature.
    pub fn insert(&mut self, feature: Feature) {
        self.bits |= feature.bit();
    }

    /// The features that are in this set and not in `others`: what an engine that takes `others`
    /// lacks.
    #[must_use]
    pub fn without(self, others: Self) -> Self {
        Self { bits: self.bits & !others.bits }
    }

    /// Whether there is no feature in the set.
    pub fn is_empty(self) -> bool {
        self.bits == 0
    }

    /// The features in the set, in the order of their declaration.
    pub fn iter(self) -> impl Iterator<Item = Feature> {
        Feature::ALL.into_iter().filter(move |&feature| self.contains(feature))
    }
}

impl FromIterator<Feature> for Features {
    fn from_iter<I: IntoIterator<Item = Feature>>(features: I) -> Self {
        let mut set = Self::NONE;
        features.into_iter().for_each(|feature| set.insert(feature));
        set
    }
}

impl Program {
    /// What the program uses.
    pub fn features(&self) -> Features {
        let mut features = Features::NONE;
        if !self.globals.is_empty()
            || self.procedures.iter().any(|procedure| procedure.frame != Frame::default())
        {
            features.insert(Feature::Values);
        }
        if self.threads.iter().any(|thread| thread.start != Start::AtFirst) {
            features.insert(Feature::Starts);
        }
        if self.threads.iter().any(|thread| thread.copies == Copies::Any) {
            features.insert(Feature::AnyCopies);
        }
        for edge in &self.edges {
            if edge.volatile {
                features.insert(Feature::Volatile);
            }
            if edge.update.is_some() || edge.passing.is_some() {
                features.insert(Feature::Values);
            }
            match edge.action {
                Action::Assert(_) | Action::Return(_) => features.insert(Feature::Values),
                Action::Start(_) => features.insert(Feature::Starts),
                Action::Join(_) => features.insert(Feature::Joins),
                Action::BeginAtomic | Action::EndAtomic => {
                    features.insert(Feature::AtomicSections);
                }
                Action::Skip
                | Action::Read(_)
                | Action::Write(_)
                | Action::Acquire(_)
                | Action::Release(_)
                | Action::BeginUnit
                | Action::EndUnit
                | Action::Call(_) => {}
                Action::Wait(_) | Action::Resume(_) | Action::Notify(_) | Action::NotifyAll(_) => {
                    features.insert(Feature::Monitors);
                }
                Action::Send(_) | Action::Post(_) | Action::Broadcast(_) | Action::Recv(_) => {
                    features.insert(Feature::Channels);
                }
            }
        }
        if self.locks.iter().any(|lock| !lock.reentrant) {
            features.insert(Feature::Mutexes);
        }
        if uses_types(self) {
            features.insert(Feature::Types);
        }
        if !self.invariants.is_empty() || self.globals.iter().any(|one| one.annotation.is_some()) {
            features.insert(Feature::Checks);
        }
        if !self.restrictions.is_empty() {
            features.insert(Feature::Restrictions);
        }
        if self.is_recursive() {
            features.insert(Feature::Recursion);
        }
        features
    }

    /// Whether a procedure that some thread can reach calls itself, directly or through others.
    pub fn is_recursive(&self) -> bool {
        let mut callees = vec![Vec::new(); self.procedures.len()];
        for edge in &self.edges {
            if let Action::Call(callee) = edge.action {
                callees[self.nodes[edge.source].index()].push(callee.index());
            }
        }
        // Depth first; a call of a procedure that is still open closes a cycle.
        let mut marks = vec![Mark::New; self.procedures.len()];
        for thread in &self.threads {
            let mut open = Vec::new();
            enter(thread.main.index(), &mut marks, &mut open);
            while let Some((procedure, next)) = open.last_mut() {
                if let Some(&callee) = callees[*procedure].get(*next) {
                    *next += 1;
                    match marks[callee] {
                        Mark::Open => return true,
                        Mark::New => enter(callee, &mut marks, &mut open),
                        Mark::Closed => {}
                    }
                } else {
                    marks[*procedure] = Mark::Closed;
                    open.pop();
                }
            }
        }
        false
    }
}

/// Whether some variable or some expression is no truth value.
fn uses_types(program: &Program) -> bool {
    let frames = || program.procedures.iter().map(|procedure| &procedure.frame);
    let locals = frames().flat_map(|frame| frame.locals.iter().map(|local| local.ty));
    let results = frames().flat_map(|frame| frame.results.iter().copied());
    let globals = program.globals.iter().map(|global| global.ty);
    // Whatever works on numbers has a number in it.
    let mut is_typed = |part: &Expr| match part {
        Expr::Constant(literal) => literal.sort() != Sort::Bool,
        Expr::Element(..) | Expr::Me | Expr::Copy => true,
        _ => false,
    };
    globals.chain(locals).chain(results).any(|ty| ty != Type::Bool)
        || frames().any(|frame| frame.locals.iter().any(|local| local.initial.is_some()))
        || program.expressions().any(|expr| expr.any(&mut is_typed))
}

/// How far the search for a cycle of calls is with a procedure.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    Open,
    Closed,
}

/// Opens a procedure, with its first call as the next one to look at, unless it was seen.
fn enter(procedure: usize, marks: &mut [Mark], open: &mut Vec<(usize, usize)>) {
    if marks[procedure] == Mark::New {
        marks[procedure] = Mark::Open;
        open.push((procedure, 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse;

    fn features(text: &str) -> Vec<Feature> {
        parse(text).0.expect("a valid program").features().iter().collect()
    }

    fn one_thread(declarations: &str, action: &str) -> Vec<Feature> {
        features(&format!(
            "program lock l set s {{ x }} {declarations}
            thread A main main {{
                procedure main nodes 2 entry 0 exit 1 {{ 0 -> 1 {action} }}
                procedure f nodes 2 entry 0 exit 1 {{ 0 -> 1 call g }}
                procedure g nodes 2 entry 0 exit 1 {{ 0 -> 1 skip }}
            }}
            thread B waits main main {{ procedure main nodes 1 entry 0 exit 0 {{}} }}"
        ))
    }

    #[test]
    fn locks_units_accesses_and_calls_are_no_features() {
        for action in ["skip", "read x", "acquire l", "begin", "call f"] {
            let text = format!(
                "program lock l set s {{ x }}
                thread A main main {{
                    procedure main nodes 2 entry 0 exit 1 {{ 0 -> 1 {action} }}
                    procedure f nodes 1 entry 0 exit 0 {{}}
                }}"
            );
            assert_eq!(features(&text), [], "{action}");
        }
    }

    #[test]
    fn each_feature_is_seen() {
        use Feature::{
            AnyCopies, AtomicSections, Channels, Checks, Joins, Monitors, Mutexes, Starts, Types,
            Values, Volatile,
        };
        assert_eq!(one_thread("", "skip"), [Starts]);
        assert_eq!(one_thread("", "start B"), [Starts]);
        assert_eq!(one_thread("", "join A"), [Starts, Joins]);
        assert_eq!(one_thread("global g", "skip"), [Values, Starts]);
        assert_eq!(one_thread("", "assert T"), [Values, Starts]);
        assert_eq!(one_thread("", "skip when *"), [Values, Starts]);
        assert_eq!(one_thread("", "return"), [Values, Starts]);
        assert_eq!(one_thread("", "begin atomic"), [Starts, AtomicSections]);
        assert_eq!(one_thread("", "write volatile x"), [Starts, Volatile]);
        assert_eq!(one_thread("lock m mutex", "skip"), [Starts, Mutexes]);
        assert_eq!(one_thread("", "wait l"), [Starts, Monitors]);
        assert_eq!(one_thread("global g : 0..3", "skip"), [Values, Starts, Types]);
        assert_eq!(one_thread("", "assert 1 < 2"), [Values, Starts, Types]);
        assert_eq!(one_thread("global g guarded by l", "skip"), [Values, Starts, Checks]);
        assert_eq!(one_thread("global g invariant !g", "skip"), [Values, Starts, Checks]);
        for action in ["skip", "read x"] {
            assert_eq!(one_thread("channel a", action), [Starts]);
        }
        for action in ["send a", "post a", "broadcast a", "recv a"] {
            assert_eq!(one_thread("channel a", action), [Starts, Channels]);
        }
        let any = "thread C copies * main main { procedure main nodes 1 entry 0 exit 0 {} }";
        assert_eq!(one_thread(any, "skip"), [Starts, AnyCopies]);
    }

    #[test]
    fn recursion_is_a_cycle_of_calls_that_a_thread_can_reach() {
        let text = |first: &str, second: &str| {
            features(&format!(
                "program
                thread A main main {{
                    procedure main nodes 3 entry 0 exit 2 {{ 0 -> 1 call f 1 -> 2 {first} }}
                    procedure f nodes 3 entry 0 exit 2 {{ 0 -> 1 call h 1 -> 2 call h }}
                    procedure g nodes 2 entry 0 exit 1 {{ 0 -> 1 call h }}
                    procedure h nodes 2 entry 0 exit 1 {{ 0 -> 1 {second} }}
                }}"
            ))
        };
        assert_eq!(text("skip", "skip"), []);
        assert_eq!(text("call main", "skip"), [Feature::Recursion]);
        assert_eq!(text("skip", "call f"), [Feature::Recursion]);
        assert_eq!(text("call g", "call g"), [Feature::Recursion]);
        let unreachable = "program thread A main main {
            procedure main nodes 1 entry 0 exit 0 {}
            procedure f nodes 2 entry 0 exit 1 { 0 -> 1 call f } }";
        assert_eq!(features(unreachable), []);
    }

    #[test]
    fn sets_tell_what_is_missing() {
        let both: Features = [Feature::Starts, Feature::Values].into_iter().collect();
        let one: Features = [Feature::Values].into_iter().collect();
        assert_eq!(both.without(one).iter().collect::<Vec<_>>(), [Feature::Starts]);
        assert!(one.without(both).is_empty());
        assert!(Features::NONE.iter().next().is_none());
    }
}
