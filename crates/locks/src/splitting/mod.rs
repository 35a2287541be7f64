//! # Idea
//! Chains of moments once more, backwards and by splitting: a set of global configurations of two threads is
//! a *set* of tuples of automata, one automaton for the stacks of each thread, and a tuple stands for all
//! combinations of what its automata accept. From the last point of a chain, one operator after the other:
//! for a link of any number of steps each automaton becomes, by `pre*`, one automaton for each lock history
//! of the way into it, and all pairs of compatible histories become tuples; for a link of one step it is a
//! step of one thread while the other stands still; a point leaves of a tuple those stacks whose tops make
//! its condition true, which again can make several tuples of one.
//!
//! So correlations between threads are kept by enumerating them, after every operator anew, where `chains`
//! keeps the histories of all links in one tuple and compares them once. It is a second opinion, and shows
//! what that costs: the statistic `automaton-tuples`.
//!
//! # Source
//! Paper 003 §4 and §5, corrected (ERRATA): sets of tuples instead of single pairs, because disjunction does
//! not distribute over pairs; Theorem 1's condition 5 in every pairing, which Definition 3 leaves out;
//! histories begin anew at every point; runs that end (`chains`' queries).
//!
//! # Requires
//! As `chains`; at most two threads take part, and nothing is asked of how the run goes on for ever.
//!
//! # Invariants
//! 1. A tuple of a level is met only from one of the level behind it, which it remembers with the histories,
//!    so a run can be rebuilt along the levels.

mod run;
mod stacks;
mod system;

use crate::Fault;
use crate::chains::borders::Standing;
use crate::chains::cast::{Cast, LoweredByLocks, allowed, is_about_tops, participants};
use crate::chains::claims::Claims;
use crate::chains::class::Point;
use crate::chains::query::{After, ChainQuery, queries};
use crate::chains::{Failure, Mark};
use crate::tupling::histories::{HistoryId, HistoryTable};
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::{Budget, Id};
use selvedge_lower::{LockSet, LoweredThread};
use selvedge_pds::{Rhs, Symbol};
use selvedge_program::{Chain, ChainLink, Program, Statistics, Unknown, Verdict, Witness};
use stacks::{StackSet, StackSetId, StackSets};
use std::collections::BTreeMap;
use std::rc::Rc;
use system::{HistorySystem, lock_action};

/// How many automaton tuples a chain may have.
const MOST_TUPLES: usize = 100_000;

/// How many rules a thread may have together with its histories.
const MOST_RULES: usize = 2_000_000;

/// The decision procedure for chains of moments of two threads by sets of automaton tuples.
pub struct Splitting<'p> {
    program: &'p Program,
    budget: Budget,
    max_witness_steps: u64,
    lowered: LoweredByLocks,
    histories: HistoryTable,
    automata: u64,
    tuples: u64,
}

impl<'p> Splitting<'p> {
    /// A procedure for all formulas about `program`.
    pub fn new(program: &'p Program, max_witness_steps: u64, budget: Budget) -> Self {
        Self {
            program,
            budget,
            max_witness_steps,
            lowered: LoweredByLocks::default(),
            histories: HistoryTable::default(),
            automata: 0,
            tuples: 0,
        }
    }

    /// Whether there is a run for one of the chains; `fair` says whether it must be fair to somebody.
    ///
    /// # Errors
    /// If the engine contradicts itself.
    pub fn decide(&mut self, chains: &[Chain], fair: bool) -> Result<Verdict<Witness>, Fault> {
        let mut open = None;
        for query in chains.iter().flat_map(|chain| queries(chain, fair)) {
            match self.find(&query) {
                Ok(None) => {}
                Ok(Some(witness)) => return Ok(Verdict::Violation(witness)),
                Err(Failure::Fault(fault)) => return Err(fault),
                Err(Failure::Open(why @ Unknown::Stopped(_))) => return Ok(Verdict::Unknown(why)),
                // Another one may have a run.
                Err(Failure::Open(why)) => _ = open.get_or_insert(why),
            }
        }
        Ok(open.map_or(Verdict::Safe, Verdict::Unknown))
    }

    /// Counts of the work done so far.
    pub fn statistics(&self) -> Statistics {
        let counts = vec![
            ("lock-histories", self.histories.count() as u64),
            ("automata", self.automata),
            ("automaton-tuples", self.tuples),
        ];
        Statistics { counts }
    }

    fn find(&mut self, query: &ChainQuery) -> Result<Option<Witness>, Failure> {
        is_about_tops(query)?;
        let ends = match query.after {
            After::Anything => false,
            After::Nothing => true,
            After::Rounds(_) => {
                return Err(unsupported(
                    "splitting decides chains of moments only: nothing again and again, no local \
                     formulas, no fairness",
                ));
            }
        };
        let lowered = self.lowered.of_query(self.program, query, &self.budget)?;
        let participants = participants(self.program, query)?;
        if participants.len() > 2 {
            return Err(unsupported("splitting decides formulas about two threads only"));
        }
        let threads: Vec<&LoweredThread> =
            participants.iter().map(|&id| &lowered.threads[id]).collect();
        let mut claims = Vec::new();
        for thread in &threads {
            let none = Claims::new(Vec::new(), self.program, thread, &self.budget);
            claims.push(none.map_err(Unknown::Stopped)?);
        }
        let at_first = Standing::default();
        let cast = Cast {
            participants: &participants,
            threads: &threads,
            claims: &claims,
            at_first,
            borders: None,
        };
        if !cast.holds_at_first(self.program, query) {
            return Ok(None);
        }
        if query.links.is_empty() {
            let repeats = ends.then_some(0);
            return Ok(Some(Witness { repeats, points: vec![0], ..Witness::default() }));
        }
        let mut systems = Vec::new();
        for thread in &threads {
            let system = HistorySystem::new(thread, &mut self.histories, MOST_RULES, &self.budget);
            let system = system.map_err(Unknown::Stopped)?;
            systems.push(system.ok_or_else(|| {
                unsupported(&format!(
                    "a thread with its histories has more than {MOST_RULES} rules"
                ))
            })?);
        }
        let mut search = Search {
            program: self.program,
            budget: &self.budget,
            cast: &cast,
            systems,
            histories: &mut self.histories,
            sets: StackSets::default(),
            before: FxHashMap::default(),
            tuples: 0,
        };
        let levels = search.levels(query);
        self.automata += search.sets.count() as u64;
        self.tuples += search.tuples as u64;
        let Some(levels) = levels? else { return Ok(None) };
        let mut witness = search.witness(query, &levels, self.max_witness_steps)?;
        if ends {
            witness.repeats = Some(witness.steps.len());
        }
        Ok(Some(witness))
    }
}

fn unsupported(why: &str) -> Failure {
    Failure::Open(Unknown::Unsupported(why.to_owned()))
}

/// A tuple of automata.
struct AutomatonTuple {
    /// One per participant.
    sets: Vec<StackSetId>,
    /// The tuple at the next point, and how each participant gets there; none at the last point.
    next: Option<(usize, Vec<Passage>)>,
}

/// How a participant gets from a point to the next one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Passage {
    /// By a path with this history.
    Path(HistoryId),
    /// By one step.
    Step,
    /// It stands still.
    Still,
}

/// The sets from which paths lead into a set, by history.
type SetsByHistory = Rc<[(HistoryId, StackSetId)]>;

/// Sets of the participants, and how they get from there to a tuple.
type SetsBefore = (Vec<StackSetId>, Vec<Passage>);

/// The sets of tuples of one chain.
struct Search<'a> {
    program: &'a Program,
    budget: &'a Budget,
    cast: &'a Cast<'a>,
    systems: Vec<HistorySystem>,
    histories: &'a mut HistoryTable,
    sets: StackSets,
    /// By participant and set: the sets from which a path leads into it, by history.
    before: FxHashMap<(usize, StackSetId), SetsByHistory>,
    tuples: usize,
}

impl Search<'_> {
    /// The tuples of all points but the first, and of the first one by which the run begins; `None` if there
    /// is no run.
    fn levels(&mut self, query: &ChainQuery) -> Result<Option<Vec<Vec<AutomatonTuple>>>, Failure> {
        let mut levels: Vec<Vec<AutomatonTuple>> = Vec::new();
        let mut everything = Vec::new();
        for thread in self.cast.threads {
            let rules = thread.pds.rules.iter();
            let below = rules.filter_map(|rule| match rule.rhs {
                Rhs::Push(_, below) => Some(below),
                Rhs::Step(_) | Rhs::Pop => None,
            });
            let below: Vec<Symbol> = below.collect();
            let symbols = (0..thread.pds.symbols).map(Symbol::from_index);
            let Some(all) = StackSet::all(symbols, &below) else { return Ok(None) };
            everything.push(self.sets.intern(all));
        }
        for at in (1..query.points.len()).rev() {
            let mut point =
                Point::new(query.points[at].clone(), self.cast.participants, &self.cast.at_first);
            let marks = self.marks(&mut point)?;
            let mut level = Level::default();
            match levels.last() {
                None => self.at_point(&point, &marks, &everything, None, &mut level)?,
                Some(behind) => {
                    for (number, tuple) in behind.iter().enumerate() {
                        for (sets, passages) in self.before_link(&query.links[at], &tuple.sets)? {
                            if level.seen.insert(sets.clone()) {
                                let next = (number, passages);
                                self.at_point(&point, &marks, &sets, Some(&next), &mut level)?;
                            }
                        }
                    }
                }
            }
            levels.push(level.tuples);
        }
        // At the first point only the beginning counts, whose condition is known to hold.
        let first = levels.last().map_or(&[][..], Vec::as_slice);
        let mut found = None;
        for (number, tuple) in first.iter().enumerate() {
            let begins = |search: &Self, sets: &[StackSetId]| {
                let threads = search.cast.threads.iter();
                sets.iter()
                    .zip(threads)
                    .all(|(&set, thread)| search.sets.get(set).contains(&[thread.entry]))
            };
            for (sets, passages) in self.before_link(&query.links[0], &tuple.sets)? {
                if begins(self, &sets) {
                    found = Some(AutomatonTuple { sets, next: Some((number, passages)) });
                    break;
                }
            }
            if found.is_some() {
                break;
            }
        }
        Ok(found.map(|tuple| {
            levels.push(vec![tuple]);
            levels
        }))
    }

    /// The classes of each participant's symbols at a point.
    fn marks(&self, point: &mut Point) -> Result<Vec<Rc<[Option<Mark>]>>, Failure> {
        let mut marks = Vec::new();
        for (at, thread) in self.cast.threads.iter().enumerate() {
            let of = point.marks(at, self.program, thread, &self.cast.claims[at], self.budget);
            marks.push(of.map_err(Unknown::Stopped)?);
        }
        Ok(marks)
    }

    /// The tuples from which a link leads into a tuple.
    fn before_link(
        &mut self,
        link: &ChainLink,
        sets: &[StackSetId],
    ) -> Result<Vec<SetsBefore>, Failure> {
        match link {
            ChainLink::Any => {
                let mut parts = Vec::new();
                for (at, &set) in sets.iter().enumerate() {
                    let paths = self.before_paths(at, set)?;
                    let paths = paths.iter().map(|&(id, set)| (id, set, Passage::Path(id)));
                    parts.push(paths.collect());
                }
                self.pair(&parts)
            }
            ChainLink::One(said) => {
                let mut found = Vec::new();
                for mover in 0..sets.len() {
                    let id = self.cast.participants[mover];
                    let rules = allowed(self.program, said, id, self.cast.threads[mover]);
                    let mut parts = Vec::new();
                    for (at, &set) in sets.iter().enumerate() {
                        parts.push(if at == mover {
                            self.before_step(at, set, &rules)
                        } else {
                            self.standing(at, set)
                        });
                    }
                    found.extend(self.pair(&parts)?);
                }
                Ok(found)
            }
        }
    }

    /// All combinations of compatible histories, one of each participant.
    fn pair(
        &mut self,
        parts: &[Vec<(HistoryId, StackSetId, Passage)>],
    ) -> Result<Vec<SetsBefore>, Failure> {
        let mut found = Vec::new();
        let others = parts.get(1).map_or(&[][..], Vec::as_slice);
        for &(history, set, passage) in &parts[0] {
            self.budget.check().map_err(Unknown::Stopped)?;
            if parts.len() == 1 {
                found.push((vec![set], vec![passage]));
            }
            for &(other, beside, how) in others {
                if self.histories.compatible(history, other) {
                    found.push((vec![set, beside], vec![passage, how]));
                }
            }
        }
        self.count(found.len())?;
        Ok(found)
    }

    fn count(&mut self, more: usize) -> Result<(), Failure> {
        self.tuples += more;
        if self.tuples > MOST_TUPLES {
            let why = format!("splitting would need more than {MOST_TUPLES} automaton tuples");
            return Err(unsupported(&why));
        }
        Ok(())
    }

    /// The sets from which paths lead into a set, by history.
    fn before_paths(&mut self, at: usize, set: StackSetId) -> Result<SetsByHistory, Failure> {
        if let Some(known) = self.before.get(&(at, set)) {
            return Ok(Rc::clone(known));
        }
        let thread = self.cast.threads[at];
        let found = self.systems[at].before(thread, self.sets.get(set), self.budget);
        let found = found.map_err(Unknown::Stopped)?.into_iter();
        let found: Rc<[_]> = found.map(|(id, set)| (id, self.sets.intern(set))).collect();
        self.before.insert((at, set), Rc::clone(&found));
        Ok(found)
    }

    /// The sets from which one of these rules leads into a set, by the history of the step.
    fn before_step(
        &mut self,
        at: usize,
        set: StackSetId,
        rules: &[bool],
    ) -> Vec<(HistoryId, StackSetId, Passage)> {
        let thread = self.cast.threads[at];
        let mut by_history: BTreeMap<HistoryId, Vec<_>> = BTreeMap::new();
        for (id, rule) in thread.pds.rules.iter_enumerated() {
            if rules[id.index()] {
                let before = self.histories.empty(thread.held(rule.symbol));
                let action = lock_action(rule);
                let effect = action.map_or(before, |action| self.histories.post(before, action));
                by_history.entry(effect).or_default().push(rule);
            }
        }
        let mut found = Vec::new();
        for (history, rules) in by_history {
            if let Some(before) = self.sets.get(set).before_step(rules.into_iter()) {
                found.push((history, self.sets.intern(before), Passage::Step));
            }
        }
        found
    }

    /// The stacks of a set, by the locks that are held there.
    fn standing(&mut self, at: usize, set: StackSetId) -> Vec<(HistoryId, StackSetId, Passage)> {
        let mut held: Vec<LockSet> = Vec::new();
        for top in self.sets.get(set).tops() {
            let locks = self.held(at, top);
            if !held.contains(&locks) {
                held.push(locks);
            }
        }
        let mut found = Vec::new();
        for locks in held {
            let history = self.histories.empty(&locks);
            let keep = |top: Option<Symbol>| self.held(at, top) == locks;
            if let Some(part) = self.sets.get(set).with_top(keep) {
                found.push((history, self.sets.intern(part), Passage::Still));
            }
        }
        found
    }

    fn held(&self, at: usize, top: Option<Symbol>) -> LockSet {
        top.map_or_else(LockSet::new, |top| self.cast.threads[at].held(top).clone())
    }

    /// Adds the tuples that are left of one at a point: combinations of classes and held locks that make its
    /// condition true. Classes that go together with the same others are one automaton.
    fn at_point(
        &mut self,
        point: &Point,
        marks: &[Rc<[Option<Mark>]>],
        sets: &[StackSetId],
        next: Option<&(usize, Vec<Passage>)>,
        level: &mut Level,
    ) -> Result<(), Failure> {
        self.budget.check().map_err(Unknown::Stopped)?;
        let mut groups: Vec<Vec<(Mark, LockSet)>> = Vec::new();
        for (at, &set) in sets.iter().enumerate() {
            let mut own = Vec::new();
            for top in self.sets.get(set).tops() {
                let place = top.map_or(self.cast.threads[at].pds.symbols, Symbol::index);
                if let Some(mark) = marks[at][place] {
                    let group = (mark, self.held(at, top));
                    if !own.contains(&group) {
                        own.push(group);
                    }
                }
            }
            groups.push(own);
        }
        // What the first participant's classes go together with.
        let mut fitting: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        for (number, (mark, held)) in groups[0].iter().enumerate() {
            let others: Option<Vec<usize>> = match groups.get(1) {
                None => {
                    let alone = point.holds(&[*mark], std::slice::from_ref(held));
                    alone.then(Vec::new)
                }
                Some(others) => {
                    let others = others.iter().enumerate().filter(|(_, (other, beside))| {
                        held.is_disjoint(beside)
                            && point.holds(&[*mark, *other], &[held.clone(), beside.clone()])
                    });
                    let others: Vec<usize> = others.map(|(other, _)| other).collect();
                    (!others.is_empty()).then_some(others)
                }
            };
            if let Some(others) = others {
                fitting.entry(others).or_default().push(number);
            }
        }
        for (others, own) in fitting {
            let chosen = [own, others];
            let mut left = Vec::new();
            for (at, &set) in sets.iter().enumerate() {
                let wanted: Vec<&(Mark, LockSet)> =
                    chosen[at].iter().map(|&number| &groups[at][number]).collect();
                let keep = |top: Option<Symbol>| {
                    let place = top.map_or(self.cast.threads[at].pds.symbols, Symbol::index);
                    let mark = marks[at][place];
                    mark.is_some_and(|mark| wanted.contains(&&(mark, self.held(at, top))))
                };
                let Some(part) = self.sets.get(set).with_top(keep) else { break };
                left.push(self.sets.intern(part));
            }
            if left.len() == sets.len() && level.index.insert(left.clone()) {
                self.count(1)?;
                level.tuples.push(AutomatonTuple { sets: left, next: next.cloned() });
            }
        }
        Ok(())
    }
}

/// The tuples of one point.
#[derive(Default)]
struct Level {
    tuples: Vec<AutomatonTuple>,
    /// Those before the point's condition that were looked at.
    seen: FxHashSet<Vec<StackSetId>>,
    /// Those that are there.
    index: FxHashSet<Vec<StackSetId>>,
}
