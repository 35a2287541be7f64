//! # Idea
//! What a point of a chain can see of one thread is its *class*: which of the atoms about the thread that
//! stand there are true, by the symbol on top of its stack, and, where the point asks who can move, what the
//! thread waits for. From the classes of all threads and the locks that they hold the point's condition is
//! evaluated. From the class of one thread alone it can often be seen that the condition is false, and then
//! the thread does not pass the point there.
//!
//! # Source
//! [`selvedge_program::formula::Proposition`] for what atoms mean.
//!
//! # Invariants
//! 1. Symbols of one class cannot be told apart by the point.

use super::borders::Standing;
use super::claims::Claims;
use crate::tupling::tuples::Mark;
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, Id, StopReason};
use selvedge_lower::{LockSet, LoweredThread, RuleLabel};
use selvedge_pds::{Rhs, Rule, Symbol};
use selvedge_program::{
    Action, Deed, Event, Formula, LockId, Observable, Program, Proposition, ThreadId,
};
use std::rc::Rc;

/// What is on top of the stack of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Top {
    /// A symbol.
    Symbol(Symbol),
    /// Nothing: the thread has ended.
    Ended,
    /// Nothing yet: the thread was not started.
    Waits,
}

impl Top {
    /// How many of them a thread has.
    pub fn count(thread: &LoweredThread) -> usize {
        thread.pds.symbols + 2
    }

    /// The top with a number.
    pub fn of(thread: &LoweredThread, index: usize) -> Self {
        match index.checked_sub(thread.pds.symbols) {
            None => Self::Symbol(Symbol::from_index(index)),
            Some(0) => Self::Ended,
            Some(_) => Self::Waits,
        }
    }

    /// Its number.
    pub fn index(self, thread: &LoweredThread) -> usize {
        match self {
            Self::Symbol(symbol) => symbol.index(),
            Self::Ended => thread.pds.symbols,
            Self::Waits => thread.pds.symbols + 1,
        }
    }
}

/// What a thread waits for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Waits {
    /// It has ended, or was not started.
    Ended,
    /// For nothing: it can move whatever the others hold.
    Free,
    /// For one of these locks, or for ever.
    For(Vec<LockId>),
}

/// What a point can see of one thread.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Class {
    /// Which of the thread's atoms and local formulas are true.
    truth: Vec<bool>,
    /// What it waits for, if the point asks.
    waits: Option<Waits>,
}

/// The thread that an atom is about, unless it is about what several threads do.
fn own_thread(atom: &Proposition) -> Option<ThreadId> {
    match atom {
        Proposition::At(thread, _)
        | Proposition::In(thread, _)
        | Proposition::Holds(thread, _)
        | Proposition::Unit(thread)
        | Proposition::About(thread, _)
        | Proposition::Ended(thread) => Some(*thread),
        Proposition::Blocked(_)
        | Proposition::End
        | Proposition::Deadlock
        | Proposition::Condition(_)
        | Proposition::Takes(..) => None,
    }
}

/// Whether an atom asks who can move.
pub(crate) fn asks_who_moves(atom: &Proposition) -> bool {
    matches!(atom, Proposition::Blocked(_) | Proposition::End | Proposition::Deadlock)
}

/// The thread that an atom names.
pub(crate) fn named(atom: &Proposition) -> Option<ThreadId> {
    match atom {
        Proposition::Blocked(thread) => Some(*thread),
        _ => own_thread(atom),
    }
}

/// A condition with the classes of the threads that take part.
pub(crate) struct Point {
    condition: Formula,
    /// For each thread, in the order of those that take part.
    threads: Vec<OfThread>,
    /// Who was started and who has ended.
    standing: Standing,
}

struct OfThread {
    thread: ThreadId,
    /// Atoms, and local formulas with `U` or `R`.
    parts: Vec<Formula>,
    /// Whether the point asks what the thread waits for.
    waits: bool,
    classes: Vec<Class>,
    index: FxHashMap<Class, Mark>,
}

impl Point {
    /// The point with this condition.
    pub fn new(condition: Formula, participants: &[ThreadId], standing: &Standing) -> Self {
        let atoms = condition.propositions();
        let everybody =
            atoms.iter().any(|atom| matches!(atom, Proposition::End | Proposition::Deadlock));
        let mut parts = Vec::new();
        visible_parts(&condition, &mut parts);
        let of_thread = |&thread: &ThreadId| {
            let own = parts.iter().filter(|part| thread_of(part) == Some(thread));
            let blocked = atoms.contains(&&Proposition::Blocked(thread));
            OfThread {
                thread,
                parts: own.cloned().collect(),
                waits: everybody || blocked,
                classes: Vec::new(),
                index: FxHashMap::default(),
            }
        };
        let threads = participants.iter().map(of_thread).collect();
        Self { condition, threads, standing: standing.clone() }
    }

    /// Whether the condition is one that classes can say.
    pub fn is_about_tops(condition: &Formula) -> bool {
        let beyond = |atom: &&Proposition| {
            matches!(atom, Proposition::Condition(_) | Proposition::Takes(..))
        };
        !condition.propositions().iter().any(beyond)
    }

    /// The class of each place of a participant; none where the condition is false whatever the others do,
    /// and where what is claimed is not so.
    pub fn marks(
        &mut self,
        at: usize,
        program: &Program,
        thread: &LoweredThread,
        claims: &Claims,
        budget: &Budget,
    ) -> Result<Rc<[Option<Mark>]>, StopReason> {
        let places = Top::count(thread) * claims.sets();
        let mut marks = Vec::with_capacity(places);
        let mut possible: Vec<bool> = Vec::new();
        for place in 0..places {
            budget.check()?;
            if !claims.is_right(place) {
                marks.push(None);
                continue;
            }
            let (index, made) = (place / claims.sets(), (place % claims.sets()) as u32);
            let mark = self.class(at, program, thread, claims, (Top::of(thread, index), made));
            if possible.len() <= mark as usize {
                possible.push(self.is_possible(at, mark));
            }
            marks.push(possible[mark as usize].then_some(mark));
        }
        Ok(marks.into())
    }

    /// The class of one top with a set of claims.
    pub fn class(
        &mut self,
        at: usize,
        program: &Program,
        thread: &LoweredThread,
        claims: &Claims,
        (top, made): (Top, u32),
    ) -> Mark {
        let of = &mut self.threads[at];
        let holds = |part: &Formula| claims.holds(part, program, thread, top, made);
        let truth = of.parts.iter().map(holds).collect();
        let class = Class { truth, waits: of.waits.then(|| waits(thread, top, &self.standing)) };
        if let Some(&known) = of.index.get(&class) {
            return known;
        }
        let mark = of.classes.len() as Mark;
        of.classes.push(class.clone());
        of.index.insert(class, mark);
        mark
    }

    /// Whether the condition can be true if one participant is in this class.
    fn is_possible(&self, at: usize, mark: Mark) -> bool {
        let of = &self.threads[at];
        let class = &of.classes[mark as usize];
        let free = class.waits == Some(Waits::Free);
        let known = |part: &Formula| match part {
            Formula::Proposition(Proposition::End | Proposition::Deadlock) if free => Some(false),
            Formula::Proposition(Proposition::Blocked(thread)) if *thread == of.thread => {
                matches!(class.waits, Some(Waits::Free | Waits::Ended)).then_some(false)
            }
            _ => of.parts.iter().position(|own| own == part).map(|own| class.truth[own]),
        };
        evaluate(&self.condition, &known) != Some(false)
    }

    /// Whether the condition is true if the participants are in these classes and hold these locks.
    pub fn holds(&self, marks: &[Mark], held: &[LockSet]) -> bool {
        let class = |at: usize| &self.threads[at].classes[marks[at] as usize];
        let can_move = |at: usize| match &class(at).waits {
            Some(Waits::Free) => true,
            Some(Waits::For(locks)) => locks.iter().any(|&lock| {
                held.iter().enumerate().all(|(other, held)| other == at || !held.contains(lock))
            }),
            Some(Waits::Ended) | None => false,
        };
        let everybody = || 0..self.threads.len();
        let ended = |at: usize| class(at).waits == Some(Waits::Ended);
        let known = |part: &Formula| match part {
            Formula::Proposition(Proposition::End) => Some(!everybody().any(can_move)),
            Formula::Proposition(Proposition::Deadlock) => {
                Some(!everybody().any(can_move) && everybody().any(|at| !ended(at)))
            }
            Formula::Proposition(Proposition::Blocked(thread)) => {
                let at = self.threads.iter().position(|of| of.thread == *thread)?;
                Some(!ended(at) && !can_move(at))
            }
            _ => {
                let thread = thread_of(part)?;
                let at = self.threads.iter().position(|of| of.thread == thread)?;
                let own = self.threads[at].parts.iter().position(|own| own == part)?;
                Some(class(at).truth[own])
            }
        };
        evaluate(&self.condition, &known) == Some(true)
    }
}

/// The thread that an atom, or a local formula, is about.
pub(crate) fn thread_of(part: &Formula) -> Option<ThreadId> {
    part.propositions().first().and_then(|atom| own_thread(atom))
}

/// The atoms of a condition, and in the place of those of local formulas the formulas.
fn visible_parts(condition: &Formula, found: &mut Vec<Formula>) {
    match condition {
        Formula::Constant(_) => {}
        Formula::Not(f) => visible_parts(f, found),
        Formula::And(f, g) | Formula::Or(f, g) => {
            visible_parts(f, found);
            visible_parts(g, found);
        }
        Formula::Proposition(_) | Formula::Next(_) | Formula::Until(..) | Formula::Release(..) => {
            if !found.contains(condition) {
                found.push(condition.clone());
            }
        }
    }
}

/// The truth of a condition of which some atoms and local formulas are known.
fn evaluate(condition: &Formula, known: &impl Fn(&Formula) -> Option<bool>) -> Option<bool> {
    match condition {
        Formula::Constant(value) => Some(*value),
        Formula::Proposition(_) | Formula::Next(_) | Formula::Until(..) | Formula::Release(..) => {
            known(condition)
        }
        Formula::Not(f) => evaluate(f, known).map(|value| !value),
        Formula::And(f, g) => match (evaluate(f, known), evaluate(g, known)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), other) | (other, Some(true)) => other,
            (None, None) => None,
        },
        Formula::Or(f, g) => match (evaluate(f, known), evaluate(g, known)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), other) | (other, Some(false)) => other,
            (None, None) => None,
        },
    }
}

/// What a thread with this top of its stack waits for.
fn waits(thread: &LoweredThread, top: Top, standing: &Standing) -> Waits {
    let Top::Symbol(symbol) = top else { return Waits::Ended };
    let mut locks = Vec::new();
    for (_, rule) in thread.rules_of(symbol) {
        match rule.label.event {
            Some(Event::Acquire(lock)) => locks.push(lock),
            Some(Event::Start(other)) if !standing.can_start(other) => {}
            Some(Event::Join(other)) if !standing.ended.contains(&other) => {}
            _ => return Waits::Free,
        }
    }
    locks.sort_unstable();
    locks.dedup();
    Waits::For(locks)
}

/// Whether an atom about a thread is true with this top of its stack.
pub(crate) fn atom_holds(
    atom: &Proposition,
    program: &Program,
    thread: &LoweredThread,
    top: Top,
) -> bool {
    let Top::Symbol(symbol) = top else {
        return top == Top::Ended && matches!(atom, Proposition::Ended(_));
    };
    match atom {
        Proposition::At(_, nodes) => nodes.contains(&thread.node(symbol)),
        Proposition::In(_, procedure) => thread.procedure(symbol) == *procedure,
        Proposition::Holds(_, lock) => thread.held(symbol).contains(*lock),
        Proposition::Unit(_) => thread.in_unit(symbol),
        Proposition::About(_, wanted) => is_about(program, thread, symbol, *wanted),
        Proposition::Ended(_)
        | Proposition::Blocked(_)
        | Proposition::End
        | Proposition::Deadlock
        | Proposition::Condition(_)
        | Proposition::Takes(..) => false,
    }
}

/// Whether a thread with this symbol on top of its stack is about to do something, if need be in vain.
pub fn is_about(program: &Program, thread: &LoweredThread, symbol: Symbol, wanted: Deed) -> bool {
    thread.reacquired(symbol).any(|lock| wanted == Deed::Acquire(lock))
        || thread.rules_of(symbol).any(|(_, rule)| deed(program, thread, rule) == Some(wanted))
}

/// What a rule does, if it is something that formulas can name.
pub(crate) fn deed(
    program: &Program,
    thread: &LoweredThread,
    rule: &Rule<RuleLabel>,
) -> Option<Deed> {
    let returns = || Some(Deed::Return(thread.procedure(rule.symbol)));
    if rule.rhs == Rhs::Pop {
        return returns();
    }
    match rule.label.event {
        Some(Event::Acquire(lock)) => return Some(Deed::Acquire(lock)),
        Some(Event::Release(lock)) => return Some(Deed::Release(lock)),
        Some(Event::Observable(Observable::Read(location))) => return Some(Deed::Read(location)),
        Some(Event::Observable(Observable::Write(location))) => return Some(Deed::Write(location)),
        Some(Event::Observable(Observable::BeginUnit)) => return Some(Deed::Begin),
        Some(Event::Observable(Observable::EndUnit)) => return Some(Deed::End),
        Some(Event::Start(started)) => return Some(Deed::Start(started)),
        Some(Event::Join(joined)) => return Some(Deed::Join(joined)),
        None => {}
    }
    match program.edges[rule.label.step.edge()?].action {
        Action::Call(procedure) => Some(Deed::Call(procedure)),
        Action::Return(_) => returns(),
        _ => None,
    }
}

/// The locks that a condition names.
pub(crate) fn locks_of(condition: &Formula) -> Vec<LockId> {
    let named = |atom: &Proposition| match atom {
        Proposition::Holds(_, lock)
        | Proposition::About(_, Deed::Acquire(lock) | Deed::Release(lock)) => Some(*lock),
        _ => None,
    };
    condition.propositions().into_iter().filter_map(named).collect()
}
