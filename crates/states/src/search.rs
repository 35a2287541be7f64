//! # Idea
//! The states between transactions, breadth first. A stored state has no thread inside a transaction.
//! An expansion explores what one thread does alone from there: first, before its *commit*, right
//! movers; then anything; then left movers, until the transaction is *cut* and the state is stored.
//! Other threads are not looked at in between: whatever they could do there, they can do before or
//! after with the same outcome.
//!
//! # Source
//! Paper 002 §4.2 (the reduction, conditions A to C, Theorem 4.1) and §6 (inference), corrected by ERRATA
//! 002: there is no set N(t), the choice where to cut is made per node; a re-acquisition keeps the
//! phase; condition C concerns blocked and finished threads as well as cycles; transactions end early
//! where no lock is held and control branches or a loop begins; every stored state is before the
//! commit of all threads; a thread that fails is stopped and the others go on.
//!
//! # Invariants
//! 1. A post node is cut if an edge of the thread there, enabled or blocked, is no left mover, or if none
//!    is enabled. Further cuts are sound.
//! 2. From every post node steps of the thread lead to one that is cut (condition C).
//! 3. A class of accesses that loses its status makes the current expansion begin again, and all stored
//!    states be expanded again before the search ends. Violations that were found before are real all
//!    the same, since whatever is visited is reachable.

mod expansion;
pub(crate) mod holding;
mod initial;
mod options;
mod parallel;
pub(crate) mod part;
pub(crate) mod partition;
mod spill;
pub(crate) mod together;
mod visit;

pub use options::{Goal, Reduction, SearchOptions, SearchOrder, StoreKind};
pub use parallel::WorkCounts;

use crate::executor::Executor;
use crate::program::Code;
use crate::protection::{AccessClass, Protection};
use crate::state::State;
use crate::step::{CellAccess, FailingSite, Path, StepRelation};
use crate::store::{Packing, Parent, StateStore, Stored};
use crate::symmetry::{Symmetry, ThreadImage};
use crate::witness::NoWitness;
use expansion::{Node, path_to};
use initial::initial_states;
use parallel::SharedStates;
use part::Part;
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, Id as _, SearchFigures, StopReason};
use selvedge_program::{
    EdgeId, FailureKind, Fault, GlobalId, Move, NodeId, Position, StepMover, SymmetryScope,
    ThreadId, Unknown, Valuation, Value, Witness,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use visit::Source;

/// Something that was looked for.
#[derive(Clone, Debug)]
pub struct Found {
    /// The stored state before the last transaction.
    pub from: Stored,
    /// Who moves then.
    pub thread: ThreadId,
    /// What it does.
    pub path: Path,
    /// The step that fails, if one does.
    pub fails: Option<(Move, FailureKind)>,
    /// How the state at first is wrong, if it is.
    pub at_first: Option<FailureKind>,
}

impl Found {
    /// A state that is reached by a way of a thread from a stored one, without a failure.
    fn behind(from: Stored, thread: ThreadId, path: Path) -> Self {
        Self { from, thread, path, fails: None, at_first: None }
    }
}

/// How a search ends.
#[derive(Clone, Debug)]
pub enum SearchEnd {
    /// It has found what it looked for.
    Found(Box<Found>),
    /// There is nothing to be found.
    Complete,
    /// There is nothing to be found as far as was looked.
    Open(Unknown),
}

/// What a search has counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StateCounts {
    /// Stored states.
    pub states: u64,
    /// Nodes that were visited inside transactions.
    pub nodes: u64,
    /// Steps that were taken.
    pub transitions: u64,
    /// The most transactions that lie behind a state.
    pub depth: u64,
    /// How often all states were expanded again.
    pub sweeps: u64,
    /// Bytes of the store by its states.
    pub bytes_per_state: u64,
    /// Bytes on disk by the states, where they are written to one.
    pub disk_bytes_per_state: u64,
}

/// A search.
#[derive(Debug)]
pub struct StateSearch<'c, 'p> {
    /// The step relation.
    pub machine: StepRelation<'c, 'p>,
    /// How states are packed.
    pub packing: Packing<'c, 'p>,
    /// Which copies are interchangeable.
    pub symmetry: Symmetry<'p>,
    /// The stored states.
    pub store: StateStore,
    /// The initial states as they are, by the number of what was stored of them.
    pub initial: FxHashMap<Stored, State>,
    /// Which accesses commute.
    pub protection: Protection,
    /// Takes steps that simply happen, where every one is stored; without it the step relation does.
    pub executor: Option<Executor>,
    pub(crate) options: SearchOptions,
    pub(crate) goal: Goal,
    budget: Budget,
    queue: VecDeque<Stored>,
    /// The states in the queue, where the store has hashes only.
    whole: VecDeque<Vec<u64>>,
    counts: StateCounts,
    /// Whether a class lost its status since all states were last expanded.
    outdated: bool,
    too_deep: bool,
    /// Everything that failed: where and how.
    pub failures: BTreeSet<(FailingSite, FailureKind)>,
    /// Whether to go on behind what was found.
    pub collect: bool,
    /// With that, the first run to each failure, in the order in which they were found.
    pub runs: Vec<FailingRun>,
    /// The first run to each class of accesses to the globals that were asked about.
    pub ways: Vec<(GlobalId, usize, Witness)>,
    /// How it contradicts itself, if it does.
    pub fault: Option<Fault>,
    /// How steps were seen to commute, if that is wanted.
    pub movers: Option<BTreeMap<(NodeId, Option<EdgeId>), StepMover>>,
    /// The same, of the expansion that is going on.
    recent: Vec<StepMover>,
    /// For which copies that were started accesses of a thread are registered.
    spread: FxHashMap<(ThreadId, CellAccess), Vec<ThreadId>>,
    /// Scratch for the cells of a state.
    cells: Vec<Value>,
    /// States whose steps were taken, and wait to be stored with others.
    batch: Vec<Source>,
    /// Levels with fewer states are expanded by one of several workers.
    pub few: usize,
    /// What it has as one of several workers.
    pub(crate) part: Option<Part>,
    /// What several workers have stored.
    pub(crate) shared: Option<SharedStates>,
    /// What several workers have done.
    pub(crate) work: WorkCounts,
    /// What partitions have counted, and how many states they have not expanded.
    outcome: Option<(StateCounts, u64)>,
    /// The shared states that partitions have stored.
    pub(crate) gathered: Option<BTreeSet<Valuation>>,
}

/// A run to a failure that a search came by.
#[derive(Clone, Debug)]
pub struct FailingRun {
    /// Where it fails.
    pub site: FailingSite,
    /// How.
    pub kind: FailureKind,
    /// The run.
    pub witness: Witness,
}

impl<'c, 'p> StateSearch<'c, 'p> {
    /// A search that has not begun.
    pub fn new(code: &'c Code<'p>, goal: Goal, options: SearchOptions, budget: Budget) -> Self {
        let labels = match &goal {
            Goal::Label(nodes) => nodes.clone(),
            _ => BTreeSet::new(),
        };
        let depth = options.depth as usize;
        let packing = Packing::new(code);
        let exact = options.store == StoreKind::Exact;
        let says_accesses = options.locks || options.why.is_some();
        let plain = options.reduction == Reduction::None && labels.is_empty();
        let executor = packing.layout().filter(|_| plain && exact && !says_accesses);
        let executor = executor.map(|layout| Executor::new(code, layout, &labels));
        let wanted = SymmetryScope {
            from_the_beginning: options.locks,
            globals_stay: options.states.is_some() || goal == Goal::Everything,
        };
        // The run to an access is one of the thread that the table names.
        let symmetry = if options.symmetry && options.why.is_none() {
            Symmetry::new(code.program, &goal, wanted, packing.layout())
        } else {
            Symmetry::none(code.program)
        };
        Self {
            machine: StepRelation { code, depth, labels, budget: budget.clone() },
            store: if exact { packing.store() } else { StateStore::with_stride(1) },
            packing,
            symmetry,
            executor,
            initial: FxHashMap::default(),
            protection: Protection::new(code.program, options.protection),
            options,
            goal,
            budget,
            queue: VecDeque::new(),
            whole: VecDeque::new(),
            counts: StateCounts::default(),
            outdated: false,
            too_deep: false,
            failures: BTreeSet::new(),
            collect: says_accesses || options.assertions || options.states.is_some(),
            runs: Vec::new(),
            ways: Vec::new(),
            fault: None,
            movers: None,
            recent: Vec::new(),
            spread: FxHashMap::default(),
            cells: Vec::new(),
            batch: Vec::new(),
            few: parallel::FEW,
            part: None,
            shared: None,
            work: WorkCounts { workers: 1, ..WorkCounts::default() },
            outcome: None,
            gathered: None,
        }
    }

    /// What was counted so far.
    pub fn counts(&self) -> StateCounts {
        if let Some((counts, _)) = self.outcome {
            return counts;
        }
        let (states, bytes_per_state) = match &self.shared {
            Some(shared) => (shared.store.count(), shared.store.bytes_per_state()),
            None => (self.store.count(), self.store.bytes_per_state()),
        };
        StateCounts { states: states as u64, bytes_per_state, ..self.counts }
    }

    /// What several workers have done; a level of one worker is what lies behind as many transactions.
    pub fn work_counts(&self) -> WorkCounts {
        match (&self.shared, self.outcome) {
            (Some(_), _) | (_, Some(_)) => self.work,
            (None, None) => WorkCounts { levels: self.counts.depth + 1, ..self.work },
        }
    }

    /// Searches to the end.
    pub fn run(&mut self) -> SearchEnd {
        let end = self.search();
        self.conclude(end)
    }

    /// How a search has ended.
    pub(crate) fn conclude(&self, end: Result<Option<Found>, Unknown>) -> SearchEnd {
        match end {
            Ok(Some(found)) => SearchEnd::Found(Box::new(found)),
            Ok(None) if self.too_deep => SearchEnd::Open(Unknown::CallDepth(self.options.depth)),
            Ok(None) if self.options.store == StoreKind::Compact => {
                SearchEnd::Open(Unknown::Hashes(self.store.count() as u64))
            }
            Ok(None) => SearchEnd::Complete,
            Err(why) => SearchEnd::Open(why),
        }
    }

    fn search(&mut self) -> Result<Option<Found>, Unknown> {
        if let Some(found) = self.begin()? {
            return Ok(Some(found));
        }
        loop {
            while let Some((number, whole)) = self.next() {
                if let Some(reason) = self.budget.poll() {
                    self.queue.push_front(number);
                    return Err(reason.into());
                }
                if number % 256 == 0 {
                    self.budget.note_figures(self.figures());
                }
                match self.visit_soon(number, whole.as_deref()) {
                    Ok(None) => {}
                    Ok(found) => return Ok(found),
                    Err(why) => {
                        self.queue.push_front(number);
                        return Err(why);
                    }
                }
            }
            if self.has_batch() {
                if let Some(found) = self.store_batch()? {
                    return Ok(Some(found));
                }
                continue;
            }
            if !self.outdated {
                return Ok(None);
            }
            self.outdated = false;
            self.counts.sweeps += 1;
            self.movers = self.movers.take().map(|_| BTreeMap::new());
            match self.options.store {
                StoreKind::Exact => self.queue.extend(0..self.store.count() as Stored),
                // A hash cannot be expanded again, so all begins again, with what was learnt.
                StoreKind::Compact => {
                    self.store = StateStore::with_stride(1);
                    self.initial.clear();
                    if let Some(found) = self.begin()? {
                        return Ok(Some(found));
                    }
                }
            }
        }
    }

    /// Takes a state from the queue, with its words if the store has not all of them.
    fn next(&mut self) -> Option<(Stored, Option<Vec<u64>>)> {
        Some(match self.options.order {
            SearchOrder::Breadth => (self.queue.pop_front()?, self.whole.pop_front()),
            SearchOrder::Depth => (self.queue.pop_back()?, self.whole.pop_back()),
        })
    }

    /// The words of a state whose copies are in order, and where each thread has gone, if one has.
    pub(crate) fn arranged(&self, state: &State) -> (Vec<u64>, Option<ThreadImage>) {
        if let Some(layout) = self.packing.layout() {
            let mut words = layout.pack(state);
            let image = self.symmetry.arrange_words(layout, &mut words, &mut Vec::new());
            return (words, image);
        }
        match self.symmetry.arrangement(state) {
            None => (self.packing.pack(state), None),
            Some(image) => (self.packing.pack(&self.symmetry.rename(state, &image)), Some(image)),
        }
    }

    /// The words under which a state is stored: all of it, or a hash.
    pub(crate) fn key(&self, state: &State) -> Vec<u64> {
        let packed = self.arranged(state).0;
        match self.options.store {
            StoreKind::Exact => packed,
            StoreKind::Compact => vec![hash(&packed)],
        }
    }

    /// Stores a state and puts it into the queue, if it is new.
    fn insert(&mut self, state: &State, parent: impl FnOnce(Stored) -> Parent) -> (Stored, bool) {
        let packed = self.arranged(state).0;
        match self.options.store {
            StoreKind::Exact => {
                let (number, new) = self.store.insert(&packed, parent);
                if new {
                    self.queue.push_back(number);
                }
                (number, new)
            }
            StoreKind::Compact => {
                let (number, new) = self.store.insert(&[hash(&packed)], parent);
                if new {
                    self.queue.push_back(number);
                    self.whole.push_back(packed);
                }
                (number, new)
            }
        }
    }

    /// The different values of the globals, each followed by whether each lock is held, in all stored
    /// states.
    ///
    /// # Errors
    /// If a limit was met.
    pub fn shared_states(&self) -> Result<BTreeSet<Valuation>, Unknown> {
        if let Some(gathered) = &self.gathered {
            return Ok(gathered.clone());
        }
        let mut all = BTreeSet::new();
        let mut add = |words: &[u64]| {
            if let Some(reason) = self.budget.poll() {
                return Err(Unknown::from(reason));
            }
            all.insert(self.shared_state(words));
            Ok(())
        };
        if let Some(SharedStates { store, cursors, .. }) = &self.shared {
            let mut words = Vec::new();
            for record in store.records(cursors) {
                store.read(record, &mut words);
                add(&words)?;
            }
        } else {
            for number in 0..self.store.count() as Stored {
                add(self.store.packed(number))?;
            }
        }
        Ok(all)
    }

    /// The values of the globals in a state, followed by whether each lock is held.
    fn shared_state(&self, words: &[u64]) -> Valuation {
        let state = self.packing.unpack(words);
        let held = state.locks.iter().map(|owner| Value::from(owner.is_some()));
        Valuation(state.globals.iter().copied().chain(held).collect())
    }

    /// How far it is.
    fn figures(&self) -> SearchFigures {
        SearchFigures {
            stored: self.store.count() as u64,
            waiting: self.waiting(),
            depth: self.counts.depth,
        }
    }

    /// Adds how the steps of an expansion commute.
    fn note_movers(&mut self) {
        let Some(movers) = &mut self.movers else { return };
        for one in self.recent.drain(..) {
            let known = movers.entry((one.node, one.edge)).or_insert(one);
            known.right &= one.right;
            known.left &= one.left;
            known.pre |= one.pre;
            known.post |= one.post;
        }
    }

    /// How many stored states are not expanded yet.
    pub fn waiting(&self) -> u64 {
        if let Some((_, waiting)) = self.outcome {
            return waiting;
        }
        self.shared.as_ref().map_or(self.queue.len() as u64, |shared| shared.waiting)
    }

    /// Takes over what partitions have counted.
    pub(crate) fn install(&mut self, outcome: &partition::SearchOutcome) {
        self.outcome = Some((outcome.counts, outcome.waiting));
        self.work = outcome.work;
        self.too_deep = outcome.too_deep;
    }

    /// How many transactions lie behind a state that is reached from a stored one. Workers count
    /// levels instead.
    fn depth_behind(&self, number: Stored) -> u32 {
        if self.part.is_some() { 0 } else { self.store.parent(number).depth + 1 }
    }

    /// How many states were found so far.
    fn found_so_far(&self) -> usize {
        self.part.as_ref().map_or_else(|| self.store.count(), Part::found)
    }

    /// Stores the initial states.
    fn begin(&mut self) -> Result<Option<Found>, Unknown> {
        let mut found = None;
        for state in initial_states(self.machine.code, &self.budget)? {
            let thread = selvedge_base::Id::from_index(0);
            let normal = self.machine.normalise(&state);
            let (number, new) = self.insert(&normal, |state| Parent { state, thread, depth: 0 });
            if !new {
                continue;
            }
            let wrong = self.machine.wrong_at_first(&state);
            let at_first = wrong.iter().next().filter(|_| self.goal == Goal::Failure);
            let goal = self.is_goal(&state);
            self.initial.insert(number, state);
            let path = Path::new();
            let here = Found { from: number, thread, path, fails: None, at_first };
            for kind in wrong.iter() {
                let here = Found { at_first: Some(kind), ..here.clone() };
                self.note_failure(FailingSite::AtFirst, kind, &here)?;
            }
            if found.is_none() && (at_first.is_some() && !self.collect || goal) {
                found = Some(here);
            }
        }
        Ok(found)
    }

    /// Notes that something fails, with a run if that is new and the search goes on behind it.
    fn note_failure(
        &mut self,
        site: FailingSite,
        kind: FailureKind,
        found: &Found,
    ) -> Result<(), Unknown> {
        if let Some(part) = &mut self.part {
            part.nominate_failure(site, kind, found);
            return Ok(());
        }
        let new = self.failures.insert((site, kind));
        if new && self.collect && self.goal == Goal::Failure {
            let witness = self.run_to(found)?;
            self.runs.extend(witness.map(|witness| FailingRun { site, kind, witness }));
        }
        Ok(())
    }

    /// The run to something that was found on the way; nothing if the search contradicts itself.
    fn run_to(&mut self, found: &Found) -> Result<Option<Witness>, Unknown> {
        match self.witness(found) {
            Ok(witness) => Ok(Some(witness)),
            Err(NoWitness::Unknown(why)) => Err(why),
            Err(NoWitness::Fault(fault)) => {
                self.fault.get_or_insert(fault);
                Ok(None)
            }
        }
    }

    /// Notes where the new classes of accesses were first seen, with a run if one was asked for.
    fn note_classes(
        &mut self,
        number: Stored,
        thread: ThreadId,
        nodes: &[Node],
        at: usize,
        offer: usize,
    ) -> Result<(), Unknown> {
        let state = &nodes[at].state;
        for (cell, class) in std::mem::take(&mut self.protection.new) {
            let AccessClass { thread: own, write, held, .. } = self.protection.classes(cell)[class];
            let accessed = self.symmetry.moved_global(cell, own, thread);
            let access = CellAccess { cell: accessed, write, held };
            let (path, node, edge) = self.site(state, thread, offer, access)?;
            let node = self.symmetry.moved_node(node, thread, own);
            let edge = edge.map(|edge| self.symmetry.moved_edge(edge, thread, own));
            self.protection.locate(cell, class, node, edge);
            let asked = |(first, length): (GlobalId, u32)| {
                (first.index()..first.index() + length as usize).contains(&cell.index())
            };
            if self.options.why.is_some_and(asked) {
                let path = [path_to(nodes, at), path].concat();
                let witness = self.run_to(&Found::behind(number, thread, path))?;
                self.ways.extend(witness.map(|witness| (cell, class, witness)));
            }
        }
        Ok(())
    }

    /// Registers what a thread accesses for the copies that could stand in its place.
    fn spread(&mut self, state: &State, thread: ThreadId, accesses: &[CellAccess]) {
        let others: Vec<ThreadId> = self.symmetry.others(state, thread).collect();
        if others.is_empty() {
            return;
        }
        for &access in accesses {
            let known = self.spread.entry((thread, access)).or_default();
            if *known == others {
                continue;
            }
            known.clone_from(&others);
            for &other in &others {
                let cell = self.symmetry.moved_global(access.cell, thread, other);
                self.protection.register(other, &[CellAccess { cell, ..access }]);
            }
        }
    }

    fn keep(
        &mut self,
        from: Stored,
        thread: ThreadId,
        state: &State,
        depth: u32,
    ) -> Result<Option<Found>, Unknown> {
        if let Some(part) = &self.part {
            let reached = part.reached(thread);
            let words = self.arranged(state).0;
            self.store_words(&words, Some(reached))?;
            return Ok(None);
        }
        if self.store.count() as u64 >= self.options.most_states {
            return Err(Unknown::Stopped(StopReason::Memory));
        }
        let (number, new) = self.insert(state, |_| Parent { state: from, thread, depth });
        if new {
            self.counts.depth = self.counts.depth.max(u64::from(depth));
            if matches!(self.goal, Goal::State(_)) && self.is_goal(state) {
                return Ok(Some(Found::behind(number, thread, Path::new())));
            }
        }
        Ok(None)
    }

    fn is_goal(&self, state: &State) -> bool {
        let at = |thread: ThreadId, nodes: &dyn Fn(&NodeId) -> bool| {
            state.top(thread).is_some_and(|top| nodes(&top))
        };
        let mut threads = self.machine.code.program.threads.ids();
        match &self.goal {
            Goal::Label(nodes) => threads.any(|thread| at(thread, &|top| nodes.contains(top))),
            Goal::State(pattern) => {
                let globals = pattern.globals.iter().all(|&(global, value)| {
                    state.globals[selvedge_base::Id::index(global)] == value
                });
                let locks =
                    pattern.locks.iter().all(|&(lock, held)| state.owner(lock).is_some() == held);
                let threads = threads.all(|thread| match &pattern.threads[thread] {
                    Position::Any => true,
                    Position::At(nodes) => at(thread, &|top| nodes.contains(top)),
                    Position::Ended => state.thread(thread).stack.is_empty(),
                });
                globals && locks && threads
            }
            Goal::Failure | Goal::DeadEnd | Goal::Everything => false,
        }
    }
}

/// 64 bits of a state, each of which depends on all of it; states of one word have different ones.
fn hash(words: &[u64]) -> u64 {
    let mut sum = words.len() as u64;
    for &word in words {
        sum = sum.wrapping_add(0x9e37_79b9_7f4a_7c15) ^ word;
        sum = (sum ^ sum >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        sum = (sum ^ sum >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        sum ^= sum >> 31;
    }
    sum
}
