//! # Idea
//! The tupling decision procedure with sets of tuples as decision diagrams. Each thread is a weighted
//! pushdown system whose weights say what its paths do to lock histories; one weighted `post*` gives
//! all tuples of histories with which the thread can play its role, and one diagram over all
//! participants gives the choices of tuples that fit together. Where locks are many and branches let
//! a thread take now these and now those, the tuples are exponentially many, but their diagram is
//! often small.
//!
//! # Source
//! Paper 000 §8 (Alg. 2, Definitions 5 to 8) and §9 (N threads). [`encoding`]: histories as bits.
//! [`vocabulary`]: bits as variables. [`weights`]: the semiring. [`actions`]: the weights of rules. [`product`]: the system 𝒲.
//! [`compat`]: lines 4 and 5 of Alg. 2. [`run`]: from a run of 𝒲 to a run of the thread.
//!
//! # Requires
//! A valid program whose locks and units are well nested; otherwise every answer is `unknown`.
//!
//! # Invariants
//! 1. Memo keys name everything that a result depends on: (space, behaviour class, role) for tuples,
//!    the results of all participants for a join.
//! 2. Diagrams of different spaces never meet; a result names its space.

pub mod actions;
pub mod compat;
pub mod encoding;
pub mod product;
pub mod run;
mod space;
#[cfg(test)]
mod testing;
pub mod vocabulary;
pub mod weights;

use crate::Fault;
use crate::behaviour::{BehaviourId, Behaviours};
use crate::bordered::BorderedProgram;
use crate::role::{Advance, PhaseView, Role, Symmetric};
use crate::schedule::{InterleavingEnd, LocalRun, interleave};
use crate::tupling::reduce::{Reduced, relevant};
use compat::{HistoryBits, TupleSet, compatible_tuples};
use encoding::Encoding;
use product::{Product, Skeleton};
use run::NoLocalRun;
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, IdVec, define_id};
use selvedge_bdd::Exhausted;
use selvedge_bdd::MAX_VARIABLES;
use selvedge_pds::NoWeightedRun;
use selvedge_program::{
    Observable, Program, Question, Statistics, ThreadId, Unknown, Verdict, Witness,
};
use space::{NODE_LIMIT, Node, Saturated, Workspace};
use std::collections::BTreeMap;
use std::rc::Rc;

define_id!(
    /// The result of one role of one behaviour class.
    RelationResultId
);

/// The decision procedure with decision diagrams.
pub struct TuplingBdd<'p> {
    lowered: BorderedProgram<'p>,
    encoding: Encoding,
    budget: Budget,
    /// How many nodes of diagrams may be stored at once, per number of phases and participants.
    node_limit: usize,
    max_witness_steps: u64,
    spaces: BTreeMap<SpaceKey, Workspace>,
    skeletons: FxHashMap<(BehaviourId, Vec<Observable>), Rc<Skeleton>>,
    result_index: FxHashMap<(SpaceKey, BehaviourId, Role), RelationResultId>,
    results: IdVec<RelationResultId, RoleResult>,
    joins: FxHashMap<Vec<RelationResultId>, Option<Vec<HistoryBits>>>,
    kept_rules: usize,
    product_rules: u64,
    increments: u64,
}

/// Phases and participants: they determine how many vocabularies the diagrams have.
type SpaceKey = (usize, usize);

/// What a behaviour class can do in a role.
struct RoleResult {
    class: BehaviourId,
    role: Role,
    /// `None` if it cannot play the role.
    tuples: Option<TupleSet<Node>>,
    /// For witnesses; dropped when there are too many, and then computed again on demand.
    saturated: Option<Rc<Saturated>>,
}

/// How many rules, increments included, are kept for witnesses before saturations are dropped.
const KEPT_RULES: usize = 1 << 21;

impl<'p> TuplingBdd<'p> {
    /// An engine for all questions about `program`.
    pub fn new(program: &'p Program, max_witness_steps: u64, budget: Budget) -> Self {
        let behaviours = Behaviours::new(program, &budget).map(Rc::new);
        Self::prepared(program, behaviours, max_witness_steps, budget)
    }

    /// The same with another limit on the nodes of decision diagrams.
    #[must_use]
    pub fn with_node_limit(mut self, limit: Option<usize>) -> Self {
        self.node_limit = limit.unwrap_or(NODE_LIMIT);
        self
    }

    /// The same for a program whose threads were lowered before.
    pub fn prepared(
        program: &'p Program,
        behaviours: Result<Rc<Behaviours>, Unknown>,
        max_witness_steps: u64,
        budget: Budget,
    ) -> Self {
        let encoding = behaviours.as_ref().map_or_else(
            |_| Ok(Encoding::new(&[])),
            |behaviours| Encoding::for_threads(behaviours.representatives(), &budget),
        );
        let (behaviours, encoding) = match encoding {
            Ok(encoding) => (behaviours, encoding),
            Err(reason) => (Err(Unknown::Stopped(reason)), Encoding::new(&[])),
        };
        Self {
            lowered: BorderedProgram::new(program, behaviours),
            encoding,
            budget,
            node_limit: NODE_LIMIT,
            max_witness_steps,
            spaces: BTreeMap::new(),
            skeletons: FxHashMap::default(),
            result_index: FxHashMap::default(),
            results: IdVec::new(),
            joins: FxHashMap::default(),
            kept_rules: 0,
            product_rules: 0,
            increments: 0,
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
        let key = (participants[0].1.phases.len(), participants.len());
        let variables = Workspace::variables(self.encoding.width(), key);
        if variables > MAX_VARIABLES {
            return Ok(Verdict::Unknown(Unknown::Unsupported(format!(
                "the lock histories of {} locks in {} phases of {} threads need {variables} decision \
                 variables; at most {MAX_VARIABLES} are supported",
                self.encoding.columns().len(),
                key.0,
                key.1
            ))));
        }
        match self.find(key, participants) {
            Ok(None) => Ok(Verdict::Safe),
            Ok(Some(found)) => self.witness(key, participants, &found, goal),
            Err(reason) => Ok(stopped(reason)),
        }
    }

    /// Counts of the work done so far.
    pub fn statistics(&self) -> Statistics {
        let mut counts = self.lowered.counts();
        let costs = || self.spaces.values().map(|space| space.domain.cost());
        counts.extend([
            ("roles", self.results.len() as u64),
            ("history-bits", self.encoding.width() as u64),
            ("product-rules", self.product_rules),
            ("increments", self.increments),
            ("diagram-operations", costs().map(|(operations, _)| operations).sum()),
            ("peak-diagram-nodes", costs().map(|(_, nodes)| nodes as u64).sum()),
            ("joins", self.joins.len() as u64),
        ]);
        Statistics { counts }
    }

    /// Compatible tuples, one per participant.
    fn find(
        &mut self,
        key: SpaceKey,
        participants: &[(ThreadId, Role)],
    ) -> Result<Option<Positive>, Exhausted> {
        let mut results = Vec::with_capacity(participants.len());
        for (thread, role) in participants {
            let result = self.result(key, *thread, role)?;
            if self.results[result].tuples.is_none() {
                return Ok(None);
            }
            results.push(result);
        }
        let symmetric = Symmetric::new(&results);
        let joined = if let Some(known) = self.joins.get(&symmetric.sorted) {
            known.clone()
        } else {
            let sorted = symmetric.sorted.iter();
            let sets: Vec<&TupleSet<Node>> =
                sorted.filter_map(|&result| self.results[result].tuples.as_ref()).collect();
            let space = self.spaces.get_mut(&key).expect("results have a space");
            let tuples = compatible_tuples(&mut space.domain, &self.encoding, &sets)?;
            self.joins.insert(symmetric.sorted.clone(), tuples.clone());
            tuples
        };
        Ok(joined.map(|tuples| Positive { tuples: symmetric.restore(&tuples), results }))
    }

    fn result(
        &mut self,
        key: SpaceKey,
        thread: ThreadId,
        role: &Role,
    ) -> Result<RelationResultId, Exhausted> {
        let class = self.lowered.behaviours().class_of(thread);
        let index = (key, class, role.clone());
        if let Some(&known) = self.result_index.get(&index) {
            return Ok(known);
        }
        let saturated = self.saturate(key, class, role)?;
        let space = self.spaces.get_mut(&key).expect("saturation made it");
        let tuples = space.tuples(&self.encoding, &saturated, &self.budget)?;
        self.product_rules += saturated.product.pds.rules.len() as u64;
        self.increments += saturated.increments() as u64;
        let saturated = tuples.is_some().then_some(saturated);
        let id = self.results.push(RoleResult { class, role: role.clone(), tuples, saturated });
        self.result_index.insert(index, id);
        self.keep_within_budget(id);
        Ok(id)
    }

    fn saturate(
        &mut self,
        key: SpaceKey,
        class: BehaviourId,
        role: &Role,
    ) -> Result<Rc<Saturated>, Exhausted> {
        let thread = self.lowered.behaviours().representative(class);
        let index = (class, relevant(role));
        let skeleton = if let Some(skeleton) = self.skeletons.get(&index) {
            Rc::clone(skeleton)
        } else {
            let reduced = Rc::new(Reduced::new(thread, &index.1, &self.budget)?);
            let skeleton = Rc::new(Skeleton::new(thread, reduced));
            self.skeletons.insert(index, Rc::clone(&skeleton));
            skeleton
        };
        let product = Product::new(thread, role, skeleton, &self.budget)?;
        if !self.spaces.contains_key(&key) {
            self.spaces
                .insert(key, Workspace::new(&self.encoding, key, self.node_limit, &self.budget)?);
        }
        let space = self.spaces.get_mut(&key).expect("it was made just now");
        Ok(Rc::new(space.saturate(&self.encoding, product, &self.budget)?))
    }

    fn keep_within_budget(&mut self, newest: RelationResultId) {
        let Some(saturated) = &self.results[newest].saturated else { return };
        self.kept_rules += saturated.product.pds.rules.len() + saturated.increments();
        if self.kept_rules > KEPT_RULES {
            for id in self.results.ids() {
                self.results[id].saturated = None;
            }
            self.kept_rules = 0;
        }
    }

    /// One local run per participant, interleaved.
    fn witness(
        &mut self,
        key: SpaceKey,
        participants: &[(ThreadId, Role)],
        found: &Positive,
        goal: InterleavingEnd,
    ) -> Result<Verdict<Witness>, Fault> {
        let limit = self.max_witness_steps;
        let too_long = |steps| Ok(Verdict::Unknown(Unknown::WitnessTooLong { steps, limit }));
        let mut left = limit;
        let mut runs = Vec::with_capacity(participants.len());
        for (((thread, role), &result), tuple) in
            participants.iter().zip(&found.results).zip(&found.tuples)
        {
            let saturated = match self.saturated(key, result) {
                Ok(saturated) => saturated,
                Err(reason) => return Ok(stopped(reason)),
            };
            let space = self.spaces.get_mut(&key).expect("saturation made it");
            let rules = match space.run(&saturated, tuple, left, &self.budget) {
                Ok(run) => run.rules,
                Err(NoWeightedRun::TooLong) => return too_long(limit.saturating_add(1)),
                Err(NoWeightedRun::Stopped(reason)) => return Ok(stopped(reason.into())),
                Err(NoWeightedRun::Domain(reason)) => return Ok(stopped(reason)),
                Err(NoWeightedRun::NotInValue | NoWeightedRun::BrokenDomain) => {
                    return Err(Fault("a tuple has no run".to_owned()));
                }
            };
            let lowered = self.lowered.behaviours().lowered(*thread);
            let is_own = |view: &PhaseView| view.advance != Advance::Other;
            match run::local_run(&saturated.product, &rules, role, lowered, left, &self.budget) {
                Ok(mut steps) => {
                    left -= steps.len() as u64;
                    if matches!(goal, InterleavingEnd::Moment(_))
                        && role.phases.last().is_some_and(is_own)
                    {
                        // The last step is the one that the thread is about to take.
                        steps.pop();
                    }
                    runs.push(LocalRun { thread: *thread, steps, begin: role.begin });
                }
                Err(NoLocalRun::TooLong(steps)) => return too_long(limit - left + steps),
                Err(NoLocalRun::Stopped(reason)) => return Ok(stopped(reason.into())),
            }
        }
        match interleave(&runs, goal, &self.budget) {
            Ok(Some(schedule)) => Ok(Verdict::Violation(schedule)),
            Err(reason) => Ok(stopped(reason.into())),
            Ok(None) => Err(Fault("compatible lock histories could not be scheduled".to_owned())),
        }
    }

    fn saturated(
        &mut self,
        key: SpaceKey,
        result: RelationResultId,
    ) -> Result<Rc<Saturated>, Exhausted> {
        if let Some(saturated) = &self.results[result].saturated {
            return Ok(Rc::clone(saturated));
        }
        let RoleResult { class, ref role, .. } = self.results[result];
        let role = role.clone();
        let saturated = self.saturate(key, class, &role)?;
        self.results[result].saturated = Some(Rc::clone(&saturated));
        self.keep_within_budget(result);
        Ok(saturated)
    }
}

/// A positive answer before its witness is built.
struct Positive {
    results: Vec<RelationResultId>,
    tuples: Vec<HistoryBits>,
}

/// Why a question stays open.
fn stopped(error: Exhausted) -> Verdict<Witness> {
    Verdict::Unknown(match error {
        Exhausted::Nodes(limit) => Unknown::Nodes { limit: limit as u64 },
        Exhausted::Budget(reason) => Unknown::Stopped(reason),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tupling::Tupling;
    use selvedge_base::StopReason;
    use selvedge_program::Units;
    use selvedge_testkit::Model;
    use selvedge_testkit::family::{crossed_locks, nested_locks};
    use selvedge_testkit::queries::all_patterns;

    fn questions(model: &Model) -> (Program, Vec<Question>) {
        let program = model.to_program();
        let queries = all_patterns(&program, Units::Exact);
        (program, queries)
    }

    #[test]
    fn many_locks_have_the_verdicts_of_explicit_tuples() {
        let mut violations = 0;
        for model in (1..=4).map(crossed_locks).chain((1..=4).map(nested_locks)) {
            let (program, queries) = questions(&model);
            let mut symbolic = TuplingBdd::new(&program, 1000, Budget::new());
            let mut explicit = Tupling::new(&program, 1000, u64::MAX, Budget::new());
            for query in &queries {
                let (one, other) =
                    (symbolic.decide(query).unwrap(), explicit.decide(query).unwrap());
                assert_eq!(one.word(), other.word(), "{model}");
                assert!(!matches!(one, Verdict::Unknown(_)));
                violations += usize::from(matches!(one, Verdict::Violation(_)));
            }
        }
        assert!(violations > 0);
    }

    /// The growth of the diagrams is that of a polynomial, that of the tuples is not.
    #[test]
    fn twice_the_locks_do_not_square_the_diagrams() {
        let nodes = |locks: usize| {
            let (program, queries) = questions(&crossed_locks(locks));
            let mut engine = TuplingBdd::new(&program, 1000, Budget::new());
            for query in &queries {
                engine.decide(query).unwrap();
            }
            let counts = engine.statistics().counts;
            counts.iter().find(|(name, _)| *name == "peak-diagram-nodes").expect("counted").1
        };
        let (four, eight) = (nodes(4), nodes(8));
        assert!(eight < 32 * four, "{four} nodes for 4 locks, {eight} for 8");
    }

    #[test]
    fn the_same_questions_cost_the_same() {
        let (program, queries) = questions(&crossed_locks(3));
        let run = || {
            let mut engine = TuplingBdd::new(&program, 1000, Budget::new());
            let verdicts: Vec<_> =
                queries.iter().map(|query| engine.decide(query).unwrap()).collect();
            (verdicts, engine.statistics())
        };
        assert_eq!(run(), run());
    }

    #[test]
    fn limits_end_in_unknown() {
        let (program, queries) = questions(&crossed_locks(4));
        let budget = Budget::new();
        let mut engine = TuplingBdd::new(&program, 1000, budget.clone());
        budget.raise(StopReason::Memory);
        let stopped = |verdict: &Verdict<Witness>| {
            *verdict == Verdict::Unknown(Unknown::Stopped(StopReason::Memory))
        };
        let verdicts: Vec<_> = queries.iter().map(|query| engine.decide(query).unwrap()).collect();
        assert!(verdicts.iter().any(stopped));

        let mut engine = TuplingBdd::new(&program, 5, Budget::new());
        let too_long = |verdict: Verdict<Witness>| match verdict {
            Verdict::Unknown(Unknown::WitnessTooLong { steps, limit: 5 }) => steps > 5,
            Verdict::Violation(_) => panic!("a witness of at most five steps"),
            _ => false,
        };
        assert!(queries.iter().any(|query| too_long(engine.decide(query).unwrap())));

        // More variables than a diagram may have.
        let (program, queries) = questions(&nested_locks(60));
        let mut engine = TuplingBdd::new(&program, 1000, Budget::new());
        let unsupported = |query: &Question| {
            let verdict = engine.decide(query).unwrap();
            matches!(verdict, Verdict::Unknown(Unknown::Unsupported(_)))
        };
        assert!(queries.iter().any(unsupported));
    }
}
