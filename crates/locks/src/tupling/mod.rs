//! # Idea
//! Each thread is analysed on its own: which tuples of lock histories, one per phase, can its runs
//! have in its role? A query is violated exactly if the participants have tuples that are compatible
//! in every phase. What a thread can do depends on the thread and its role alone, so results are
//! shared between all queries that pose the same role to threads of equal behaviour.
//!
//! # Source
//! Paper 000 §7 (Alg. 1) and §9 (N threads), made practical as the files of this folder explain:
//! [`reduce`] drops silent steps, [`ahead`] what leads nowhere, [`mod@tabulate`] computes minimal tuples relative to procedure entries,
//! [`mod@join`] replaces the nested loops of lines 2 to 5, [`run`] rebuilds one local run per thread.
//!
//! # Requires
//! A valid program whose locks and units are well nested; otherwise every answer is `unknown`.
//!
//! # Invariants
//! 1. Memo keys name everything that a result depends on: (behaviour class, role) for tuples,
//!    the results of all participants for a join.

pub mod ahead;
pub mod histories;
pub mod join;
pub mod reduce;
pub mod run;
pub mod tabulate;
pub mod tuples;

use crate::Fault;
use crate::behaviour::{BehaviourId, Behaviours};
use crate::bordered::BorderedProgram;
use crate::role::{Advance, PhaseView, Role, Symmetric};
use crate::schedule::{InterleavingEnd, LocalRun, shortest_interleaving};
use crate::summaries::EndId;
use join::{Candidate, join};
use reduce::Reductions;
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::{Budget, IdVec, StopReason, define_id};
use selvedge_lower::LockSet;
use selvedge_program::{Program, Question, Statistics, ThreadId, Unknown, Verdict, Witness};
use std::rc::Rc;
use tabulate::{Locks, Tabulation, tabulate};
use tuples::TupleTable;

define_id!(
    /// The result of one role of one behaviour class.
    ResultId
);

/// The decision procedure with explicit tuples.
pub struct Tupling<'p> {
    lowered: BorderedProgram<'p>,
    budget: Budget,
    max_witness_steps: u64,
    max_facts: u64,
    /// The roles that have too many tuples.
    given_up: FxHashSet<(BehaviourId, Role)>,
    tuples: TupleTable,
    reductions: Reductions,
    result_index: FxHashMap<(BehaviourId, Role), ResultId>,
    results: IdVec<ResultId, RoleResult>,
    joins: FxHashMap<Vec<ResultId>, Option<Vec<EndId>>>,
    kept_facts: usize,
    facts: u64,
}

/// What a behaviour class can do in a role.
struct RoleResult {
    class: BehaviourId,
    role: Role,
    candidates: Vec<Candidate<EndId>>,
    /// For witnesses; dropped when too many facts are alive, and then computed again on demand.
    tabulation: Option<Rc<Tabulation>>,
    /// A shortest run of the role, whatever its locks; for witnesses, on demand.
    shortest: Option<Rc<Tabulation>>,
}

/// How many facts are kept for witnesses before tabulations are dropped.
const KEPT_FACTS: usize = 4_000_000;

impl<'p> Tupling<'p> {
    /// An engine for all questions about `program`.
    ///
    /// A role with more than `max_facts` facts about its tuples is given up; the answer is
    /// [`Unknown::Tuples`] then.
    pub fn new(
        program: &'p Program,
        max_witness_steps: u64,
        max_facts: u64,
        budget: Budget,
    ) -> Self {
        let behaviours = Behaviours::new(program, &budget).map(Rc::new);
        Self::prepared(program, behaviours, max_witness_steps, max_facts, budget)
    }

    /// The same for a program whose threads were lowered before.
    pub fn prepared(
        program: &'p Program,
        behaviours: Result<Rc<Behaviours>, Unknown>,
        max_witness_steps: u64,
        max_facts: u64,
        budget: Budget,
    ) -> Self {
        Self {
            lowered: BorderedProgram::new(program, behaviours),
            budget,
            max_witness_steps,
            max_facts,
            given_up: FxHashSet::default(),
            tuples: TupleTable::default(),
            reductions: Reductions::default(),
            result_index: FxHashMap::default(),
            results: IdVec::new(),
            joins: FxHashMap::default(),
            kept_facts: 0,
            facts: 0,
        }
    }

    /// Decides one question. The steps that meet in a race or a deadlock are not part of the
    /// witness.
    ///
    /// # Errors
    /// If the engine contradicts itself.
    pub fn decide(&mut self, question: &Question) -> Result<Verdict<Witness>, Fault> {
        match self.lowered.orders(question, &self.budget) {
            Ok(orders) => {
                orders.decide(question, |participants, end| self.decide_roles(participants, end))
            }
            Err(why) => Ok(Verdict::Unknown(why)),
        }
    }

    fn decide_roles(
        &mut self,
        participants: &[(ThreadId, Role)],
        goal: InterleavingEnd,
    ) -> Result<Verdict<Witness>, Fault> {
        match self.find(participants) {
            Ok(None) => Ok(Verdict::Safe),
            Ok(Some(found)) => self.witness(participants, &found, goal),
            Err(why) => Ok(Verdict::Unknown(why)),
        }
    }

    /// Counts of the work done so far.
    pub fn statistics(&self) -> Statistics {
        let mut counts = self.lowered.counts();
        counts.extend([
            ("roles", self.results.len() as u64),
            ("facts", self.facts),
            ("lock-histories", self.tuples.histories.count() as u64),
            ("tuples", self.tuples.count() as u64),
            ("joins", self.joins.len() as u64),
        ]);
        Statistics { counts }
    }

    /// Compatible ends, one per participant.
    fn find(&mut self, participants: &[(ThreadId, Role)]) -> Result<Option<Positive>, Unknown> {
        let mut key = Vec::with_capacity(participants.len());
        for (thread, role) in participants {
            let result = self.result(*thread, role)?;
            if self.results[result].candidates.is_empty() {
                return Ok(None);
            }
            key.push(result);
        }
        let symmetric = Symmetric::new(&key);
        let joined = if let Some(known) = self.joins.get(&symmetric.sorted) {
            known.clone()
        } else {
            let results = symmetric.sorted.iter();
            let candidates: Vec<&[Candidate<EndId>]> =
                results.map(|&result| self.results[result].candidates.as_slice()).collect();
            let ends = join(&candidates, &mut self.tuples.histories, &self.budget);
            let ends = ends.map_err(Unknown::Stopped)?;
            self.joins.insert(symmetric.sorted.clone(), ends.clone());
            ends
        };
        Ok(joined.map(|ends| Positive { ends: symmetric.restore(&ends), results: key }))
    }

    fn result(&mut self, thread: ThreadId, role: &Role) -> Result<ResultId, Unknown> {
        let class = self.lowered.behaviours().class_of(thread);
        // The key is cloned only when it is new.
        let key = (class, role.clone());
        if let Some(&known) = self.result_index.get(&key) {
            return Ok(known);
        }
        if self.given_up.contains(&key) {
            return Err(Unknown::Tuples { limit: self.max_facts });
        }
        let tabulation = match self.tabulate(class, role, Locks::Tracked) {
            Err(why @ Unknown::Tuples { .. }) => {
                self.given_up.insert(key);
                return Err(why);
            }
            other => other?,
        };
        self.facts += tabulation.facts.len() as u64;
        // Before it is started, a thread does nothing and holds nothing.
        let idle = self.tuples.histories.empty(&LockSet::new());
        let idle = vec![idle; role.begin as usize];
        let mut candidates: Vec<Candidate<EndId>> = tabulation
            .accepted
            .iter()
            .map(|&end| Candidate {
                components: {
                    let running = self.tuples.components(tabulation.ends[end].tuple);
                    [&idle[..], &running].concat()
                },
                length: tabulation.ends[end].length,
                origin: end,
            })
            .collect();
        join::sort(&mut candidates);
        let tabulation = (!candidates.is_empty()).then_some(tabulation);
        let id = self.results.push(RoleResult {
            class,
            role: role.clone(),
            candidates,
            tabulation,
            shortest: None,
        });
        self.result_index.insert(key, id);
        self.keep_within_budget(id);
        Ok(id)
    }

    fn tabulate(
        &mut self,
        class: BehaviourId,
        role: &Role,
        locks: Locks,
    ) -> Result<Rc<Tabulation>, Unknown> {
        let thread = self.lowered.behaviours().representative(class);
        let reduced = self.reductions.of(thread, class, role, &self.budget);
        let reduced = reduced.map_err(Unknown::Stopped)?;
        let (tuples, limit, budget) = (&mut self.tuples, self.max_facts, &self.budget);
        tabulate(thread, role, locks, reduced, tuples, limit, budget).map(Rc::new)
    }

    fn keep_within_budget(&mut self, newest: ResultId) {
        let Some(tabulation) = &self.results[newest].tabulation else { return };
        self.kept_facts += tabulation.facts.len();
        if self.kept_facts > KEPT_FACTS {
            for id in self.results.ids() {
                self.results[id].tabulation = None;
                self.results[id].shortest = None;
            }
            self.kept_facts = 0;
        }
    }

    /// One local run per participant, interleaved. The runs of compatible tuples always work; a
    /// shorter run, found without looking at locks, is taken instead where that works as well.
    fn witness(
        &mut self,
        participants: &[(ThreadId, Role)],
        found: &Positive,
        goal: InterleavingEnd,
    ) -> Result<Verdict<Witness>, Fault> {
        let mut compatible = Vec::new();
        let mut shortest = Vec::new();
        let mut steps = 0;
        for ((&result, &end), (thread, role)) in
            found.results.iter().zip(&found.ends).zip(participants)
        {
            let (tabulation, short) = match self.tabulations(result) {
                Ok(tabulations) => tabulations,
                Err(why) => return Ok(Verdict::Unknown(why)),
            };
            steps += u64::from(tabulation.ends[end].length);
            if steps > self.max_witness_steps {
                let limit = self.max_witness_steps;
                return Ok(Verdict::Unknown(Unknown::WitnessTooLong { steps, limit }));
            }
            let lowered = self.lowered.behaviours().lowered(*thread);
            let is_own = |view: &PhaseView| view.advance != Advance::Other;
            let is_pending = matches!(goal, InterleavingEnd::Moment(_))
                && role.phases.last().is_some_and(is_own);
            let run = |tabulation: &Tabulation, end: EndId| {
                let mut steps = run::local_run(tabulation, end, role, lowered, &self.budget)?;
                if is_pending {
                    // The last step is the one that the thread is about to take.
                    steps.pop();
                }
                Ok(LocalRun { thread: *thread, steps, begin: role.begin })
            };
            let stopped = |reason: StopReason| Verdict::Unknown(Unknown::Stopped(reason));
            match run(&tabulation, end) {
                Ok(run) => compatible.push(run),
                Err(reason) => return Ok(stopped(reason)),
            }
            // What the tuples' run can do, a run that ignores locks can do as well.
            let end = *short.accepted.first().ok_or_else(|| {
                Fault("a role can be played with locks, but not without".to_owned())
            })?;
            match run(&short, end) {
                Ok(run) => shortest.push(run),
                Err(reason) => return Ok(stopped(reason)),
            }
        }
        match shortest_interleaving(&compatible, &shortest, goal, &self.budget) {
            Ok(Some(schedule)) => Ok(Verdict::Violation(schedule)),
            Err(reason) => Ok(Verdict::Unknown(Unknown::Stopped(reason))),
            Ok(None) => Err(Fault("compatible lock histories could not be scheduled".to_owned())),
        }
    }

    /// The tabulation of a result, and the one without locks.
    fn tabulations(
        &mut self,
        result: ResultId,
    ) -> Result<(Rc<Tabulation>, Rc<Tabulation>), Unknown> {
        let RoleResult { class, ref role, ref tabulation, ref shortest, .. } = self.results[result];
        let (known, short) = (tabulation.clone(), shortest.clone());
        let role = role.clone();
        let short = match short {
            Some(short) => short,
            None => self.tabulate(class, &role, Locks::Ignored)?,
        };
        self.results[result].shortest = Some(Rc::clone(&short));
        if let Some(known) = known {
            return Ok((known, short));
        }
        // The same computation gives the same ends (determinism).
        let tabulation = self.tabulate(class, &role, Locks::Tracked)?;
        self.results[result].tabulation = Some(Rc::clone(&tabulation));
        self.keep_within_budget(result);
        Ok((tabulation, short))
    }
}

/// A positive answer before its witness is built.
struct Positive {
    results: Vec<ResultId>,
    ends: Vec<EndId>,
}
