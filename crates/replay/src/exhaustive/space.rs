//! # Idea
//! The configurations of a fixed set of threads and the steps between them, found on demand and kept,
//! so that the queries about the same threads walk over numbers. A configuration is a tuple of local
//! configurations, one per thread; who owns a lock follows from them. Tuples are numbered pair by
//! pair: the number of `(l1, l2, l3)` is that of `((l1, l2), l3)`, so no tuple is stored as such.
//!
//! # Invariants
//! 1. In no configuration is a lock held by two threads.

use super::local::{Asks, LocalId, Locals, TransitionId};
use super::participants::Participants;
use rustc_hash::FxHashMap;
use selvedge_base::{Id, define_id};
use selvedge_program::{StepKind, ThreadId};

define_id!(
    /// A configuration of the threads of one [`ConfigurationSpace`].
    ConfigurationId
);

/// One step from a configuration.
#[derive(Clone, Copy)]
pub(super) struct Successor {
    pub transition: TransitionId,
    pub target: ConfigurationId,
}

/// The steps that leave a configuration.
#[derive(Clone, Copy)]
pub(super) struct Row {
    start: u64,
    len: u32,
    /// Whether a call was left out because too many were open.
    pub limit_met: bool,
}

/// The configurations of some threads, as far as they were needed.
pub(super) struct ConfigurationSpace {
    /// Whose local configurations a tuple has, in the order of their ids.
    threads: Vec<ThreadId>,
    /// Which of them move. The others are there because somebody can start them, once.
    moves: Vec<bool>,
    initial: ConfigurationId,
    tuples: TupleNumbers,
    rows: Vec<Option<Row>>,
    successors: Vec<Successor>,
}

impl ConfigurationSpace {
    pub fn new(participants: &Participants, locals: &mut Locals) -> Self {
        let mut tuples = TupleNumbers { tables: Vec::new() };
        let mut threads: Vec<ThreadId> = participants.moving.clone();
        threads.extend(&participants.started);
        threads.sort_unstable();
        let moves = threads.iter().map(|thread| participants.moving.contains(thread)).collect();
        tuples.tables.resize_with(threads.len().max(1), Pairs::default);
        let start: Vec<LocalId> = threads.iter().map(|&thread| locals.initial(thread)).collect();
        let initial = tuples.intern(&start);
        Self { threads, moves, initial, tuples, rows: Vec::new(), successors: Vec::new() }
    }

    pub fn initial(&self) -> ConfigurationId {
        self.initial
    }

    /// How many configurations were found.
    pub fn len(&self) -> usize {
        self.tuples.len()
    }

    /// The local configurations of these threads, which are in the order of their ids.
    pub fn tuple(&self, id: ConfigurationId, threads: &[ThreadId]) -> Vec<LocalId> {
        let all = self.threads.iter().zip(self.tuples.unfold(id));
        all.filter(|(thread, _)| threads.contains(thread)).map(|(_, local)| local).collect()
    }

    /// Where a thread stands in the tuples.
    fn position(&self, thread: ThreadId) -> Option<usize> {
        self.threads.binary_search(&thread).ok()
    }

    pub fn successors(&self, row: Row) -> &[Successor] {
        &self.successors[row.start as usize..][..row.len as usize]
    }

    /// The steps that leave a configuration.
    pub fn expand(&mut self, locals: &mut Locals, id: ConfigurationId) -> Row {
        if let Some(&Some(row)) = self.rows.get(id.index()) {
            return row;
        }
        let mut tuple = self.tuples.unfold(id);
        let start = self.successors.len();
        let mut limit_met = false;
        for position in (0..tuple.len()).filter(|&at| self.moves[at]) {
            let source = tuple[position];
            let expansion = locals.expand(source);
            limit_met |= expansion.limit_met;
            for transition in expansion.ids() {
                let step = locals.transition(transition);
                if let StepKind::Acquire(lock) = step.kind
                    && tuple.iter().any(|&local| locals.holds(local, lock))
                {
                    continue; // The thread itself does not hold it, so another one does.
                }
                let (target, asks) = (step.target, step.asks);
                let mut other = None;
                match asks {
                    Asks::Nothing => {}
                    Asks::Start(started, earlier) => {
                        let waits = |thread: ThreadId| {
                            self.position(thread).is_some_and(|at| locals.waits(tuple[at]))
                        };
                        let Some(at) = self.position(started).filter(|_| waits(started)) else {
                            continue;
                        };
                        if earlier.is_some_and(waits) {
                            continue;
                        }
                        other =
                            Some((at, std::mem::replace(&mut tuple[at], locals.started(started))));
                    }
                    Asks::End(joined) => {
                        let at = self.position(joined);
                        if !at.is_some_and(|at| locals.has_ended(tuple[at])) {
                            continue;
                        }
                    }
                }
                tuple[position] = target;
                let target = self.tuples.intern(&tuple);
                self.successors.push(Successor { transition, target });
                tuple[position] = source;
                if let Some((at, before)) = other {
                    tuple[at] = before;
                }
            }
        }
        let len = (self.successors.len() - start) as u32;
        let row = Row { start: start as u64, len, limit_met };
        if self.rows.len() <= id.index() {
            self.rows.resize(id.index() + 1, None);
        }
        self.rows[id.index()] = Some(row);
        row
    }
}

/// Numbers tuples of fixed length. Table `k` numbers the pairs of a tuple of the first `k` components
/// and component `k`; the empty tuple has number 0.
struct TupleNumbers {
    tables: Vec<Pairs>,
}

#[derive(Default)]
struct Pairs {
    ids: FxHashMap<(u32, LocalId), u32>,
    pairs: Vec<(u32, LocalId)>,
}

impl TupleNumbers {
    fn len(&self) -> usize {
        self.tables.last().map_or(0, |table| table.pairs.len())
    }

    fn intern(&mut self, tuple: &[LocalId]) -> ConfigurationId {
        let mut prefix = 0;
        for (table, &component) in self.tables.iter_mut().zip(tuple) {
            let new = u32::try_from(table.pairs.len()).expect("more than u32::MAX configurations");
            let pair = (prefix, component);
            prefix = *table.ids.entry(pair).or_insert(new);
            if prefix == new {
                table.pairs.push(pair);
            }
        }
        ConfigurationId::from_index(prefix as usize)
    }

    fn unfold(&self, id: ConfigurationId) -> Vec<LocalId> {
        let mut prefix = id.index() as u32;
        let mut tuple = Vec::with_capacity(self.tables.len());
        for table in self.tables.iter().rev() {
            let (shorter, component) = table.pairs[prefix as usize];
            tuple.push(component);
            prefix = shorter;
        }
        tuple.reverse();
        tuple
    }
}
