//! # Idea
//! A place for everything. Where no thread calls and every node is reached with the same holds, a
//! state has a fixed number of *cells*: the globals, the owner and the depth of each lock, and of each
//! thread where it stands, whether it has failed, what it has given up for a notification, and its
//! locals. Each cell has a field of bits that its range needs, and a state is a fixed number of words.
//!
//! # Invariants
//! 1. A field lies within one word.
//! 2. A thread stands at one of its *positions*: nodes outside of atomic sections behind bare jumps. Then
//!    come two more values, for a thread that has ended and for one that waits to be started.
//! 3. A local that matters at no position has no field: it is at its lowest value between steps.

use crate::program::{Code, index, is_exit};
use crate::state::{Activation, State, Suspended, ThreadPart};
use rustc_hash::FxHashMap;
use selvedge_base::{Id, IdVec};
use selvedge_program::{
    Action, EdgeId, LocalId, LockId, NodeId, ProcedureId, Start, ThreadId, Value, WaitSetId,
    thread_value,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The number of a cell.
pub type CellId = usize;

/// The bits of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    word: u32,
    shift: u32,
    /// All ones of its width; none if it has no bits.
    mask: u64,
    /// The value whose bits are all zero.
    pub low: Value,
}

/// The cells of a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadCells {
    /// Where it can stand.
    pub positions: Vec<NodeId>,
    numbers: FxHashMap<NodeId, Value>,
    /// Where it stands, as the number of a position.
    pub position: CellId,
    /// Whether it has failed.
    pub stopped: CellId,
    /// The wait set for which it has given up a lock, plus one; then how many holds, and whether it is in the set.
    pub suspended: CellId,
    /// How many units of work it is in.
    pub units: CellId,
    /// The first of its locals.
    pub locals: CellId,
    /// Its main.
    pub main: ProcedureId,
}

impl ThreadCells {
    /// The value of [`ThreadCells::position`] that stands for a node.
    pub fn number(&self, node: NodeId) -> Option<Value> {
        self.numbers.get(&node).copied()
    }

    /// The value for a thread that has ended.
    pub fn ended(&self) -> Value {
        number(self.positions.len())
    }

    /// The value for a thread that waits to be started.
    pub fn waiting(&self) -> Value {
        number(self.positions.len() + 1)
    }
}

/// A place for everything.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PackedLayout {
    /// How many words a state has.
    pub words: usize,
    fields: Vec<Field>,
    /// The cells that have bits.
    packed: Vec<CellId>,
    locks: CellId,
    lock_count: usize,
    /// The lock of each wait set.
    wait_sets: IdVec<WaitSetId, LockId>,
    globals: usize,
    /// The cells of each thread.
    pub threads: IdVec<ThreadId, ThreadCells>,
}

/// What is known of a node: how many atomic sections, units and holds there are around it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Around {
    atomic: u32,
    units: u32,
    /// The locks that are held, in order, and how often.
    holds: Vec<(LockId, u32)>,
}

/// What a thread needs.
struct Survey {
    positions: Vec<NodeId>,
    units: u32,
    holds: FxHashMap<LockId, u32>,
    waits: bool,
}

/// Atomic sections inside each other.
const DEEPEST: u32 = 64;

impl PackedLayout {
    /// The layout of a program, if a fixed one will do.
    pub fn new(code: &Code<'_>) -> Option<Self> {
        let program = code.program;
        let surveys: Vec<Survey> =
            program.threads.ids().map(|thread| survey(code, thread)).collect::<Option<_>>()?;
        let mut layout = Self {
            words: 0,
            fields: Vec::new(),
            packed: Vec::new(),
            locks: program.globals.len(),
            lock_count: program.locks.len(),
            wait_sets: program.wait_sets.iter().map(|set| set.lock).collect(),
            globals: program.globals.len(),
            threads: IdVec::new(),
        };
        let mut used = 64;
        for global in &program.globals {
            let (low, high) = program.range(global.ty);
            layout.push(low, high, &mut used);
        }
        let threads = number(program.threads.len());
        let deepest = |lock: LockId| {
            surveys.iter().filter_map(|one| one.holds.get(&lock)).max().copied().unwrap_or(1)
        };
        for lock in program.locks.ids() {
            layout.push(0, threads, &mut used);
            layout.push(0, deepest(lock).max(1).cast_signed() - 1, &mut used);
        }
        let deepest = program.locks.ids().map(deepest).max().unwrap_or(1).cast_signed();
        for ((_, thread), survey) in program.threads.iter_enumerated().zip(surveys) {
            let numbers = survey.positions.iter().enumerate();
            let numbers = numbers.map(|(at, &node)| (node, number(at))).collect();
            let first = layout.fields.len();
            let waits = Value::from(thread.start != Start::AtFirst);
            layout.push(0, number(survey.positions.len()) + waits, &mut used);
            layout.push(0, 1, &mut used);
            let sets = number(layout.wait_sets.len());
            layout.push(0, if survey.waits { sets } else { 0 }, &mut used);
            layout.push(0, if survey.waits { deepest } else { 0 }, &mut used);
            layout.push(0, Value::from(survey.waits), &mut used);
            layout.push(0, survey.units.cast_signed(), &mut used);
            let frame = &program.procedures[thread.main].frame;
            let matter: BTreeSet<LocalId> =
                survey.positions.iter().flat_map(|&node| &code.live[node]).copied().collect();
            for (id, local) in frame.locals.iter_enumerated() {
                let (low, high) = program.range(local.ty);
                let high = if matter.contains(&id) { high } else { low };
                layout.push(low, high, &mut used);
            }
            layout.threads.push(ThreadCells {
                positions: survey.positions,
                numbers,
                position: first,
                stopped: first + 1,
                suspended: first + 2,
                units: first + 5,
                locals: first + 6,
                main: thread.main,
            });
        }
        layout.words = layout.words.max(1);
        Some(layout)
    }

    fn push(&mut self, low: Value, high: Value, used: &mut u32) {
        let most = (i64::from(high) - i64::from(low)).unsigned_abs();
        let width = u64::BITS - most.leading_zeros();
        if width > 0 {
            if *used + width > u64::BITS {
                self.words += 1;
                *used = 0;
            }
            self.packed.push(self.fields.len());
        }
        let mask = if width == 0 { 0 } else { u64::MAX >> (u64::BITS - width) };
        let word = self.words.saturating_sub(1) as u32;
        let shift = if width == 0 { 0 } else { *used };
        self.fields.push(Field { word, shift, mask, low });
        *used += width;
    }

    /// How many cells there are.
    pub fn cells(&self) -> usize {
        self.fields.len()
    }

    /// All cells at their lowest values.
    pub fn lowest(&self) -> Vec<Value> {
        self.fields.iter().map(|field| field.low).collect()
    }

    /// The lowest value of a cell.
    pub fn low(&self, cell: CellId) -> Value {
        self.fields[cell].low
    }

    /// The cell of the owner of a lock: its thread plus one, or 0.
    pub fn owner(&self, lock: LockId) -> CellId {
        self.locks + 2 * index(lock)
    }

    /// The lock of a wait set.
    pub fn lock_of(&self, set: WaitSetId) -> LockId {
        self.wait_sets[set]
    }

    /// The cell of how often a lock is held, less one.
    pub fn depth(&self, lock: LockId) -> CellId {
        self.owner(lock) + 1
    }

    /// Whether a cell has bits.
    pub fn is_packed(&self, cell: CellId) -> bool {
        self.fields[cell].mask != 0
    }

    /// Reads all cells that have bits.
    pub fn read(&self, words: &[u64], cells: &mut [Value]) {
        for &cell in &self.packed {
            let field = &self.fields[cell];
            let bits = words[field.word as usize] >> field.shift & field.mask;
            cells[cell] = field.low.wrapping_add(bits as Value);
        }
    }

    /// Writes one cell.
    pub fn write(&self, words: &mut [u64], cell: CellId, value: Value) {
        let Field { word, shift, mask, low } = self.fields[cell];
        let bits = (i64::from(value) - i64::from(low)).cast_unsigned() & mask;
        let word = &mut words[word as usize];
        *word = *word & !(mask << shift) | bits << shift;
    }

    /// Writes the cells that differ from others.
    pub fn write_changes(&self, words: &mut [u64], before: &[Value], after: &[Value]) {
        for &cell in &self.packed {
            if before[cell] != after[cell] {
                self.write(words, cell, after[cell]);
            }
        }
    }

    /// The words of a state.
    ///
    /// # Panics
    /// If a thread stands at no position.
    pub fn pack(&self, state: &State) -> Vec<u64> {
        let mut cells = self.lowest();
        cells[..self.globals].copy_from_slice(&state.globals);
        for (at, lock) in state.locks.iter().enumerate() {
            if let Some((owner, depth)) = lock {
                cells[self.locks + 2 * at] = thread_value(Some(*owner));
                cells[self.locks + 2 * at + 1] = depth.cast_signed() - 1;
            }
        }
        for (thread, own) in state.threads.iter().zip(&self.threads) {
            cells[own.stopped] = Value::from(thread.stopped);
            cells[own.units] = thread.units.cast_signed();
            if let Some(Suspended { set, depth, in_set }) = thread.suspended {
                cells[own.suspended] = number(index(set) + 1);
                cells[own.suspended + 1] = depth.cast_signed();
                cells[own.suspended + 2] = Value::from(in_set);
            }
            cells[own.position] = match thread.stack.last() {
                _ if thread.waits => own.waiting(),
                None => own.ended(),
                Some(top) => {
                    let end = own.locals + top.locals.len();
                    cells[own.locals..end].copy_from_slice(&top.locals);
                    own.number(top.node).expect("a thread stands at a position between steps")
                }
            };
        }
        let mut words = vec![0; self.words];
        for &cell in &self.packed {
            self.write(&mut words, cell, cells[cell]);
        }
        words
    }

    /// The state of some words.
    pub fn unpack(&self, words: &[u64], code: &Code<'_>) -> State {
        let mut cells = self.lowest();
        self.read(words, &mut cells);
        let owner = |at: usize| {
            let owner = cells[self.locks + 2 * at].unsigned_abs() as usize;
            let depth = cells[self.locks + 2 * at + 1].cast_unsigned() + 1;
            owner.checked_sub(1).map(|owner| (ThreadId::from_index(owner), depth))
        };
        let thread = |own: &ThreadCells| {
            let position = cells[own.position];
            let set = cells[own.suspended].unsigned_abs() as usize;
            let suspended = set.checked_sub(1).map(|set| Suspended {
                set: WaitSetId::from_index(set),
                depth: cells[own.suspended + 1].cast_unsigned(),
                in_set: cells[own.suspended + 2] == 1,
            });
            let procedure = &code.program.procedures[own.main];
            let waits = position == own.waiting();
            let node = own.positions.get(position.unsigned_abs() as usize).copied();
            let length = if waits { 0 } else { procedure.frame.locals.len() };
            let locals = cells[own.locals..own.locals + length].to_vec();
            let stack = match node.or(waits.then_some(procedure.entry)) {
                Some(node) => vec![Activation { node, call: None, locals }],
                None => Vec::new(),
            };
            let (stopped, units) = (cells[own.stopped] == 1, cells[own.units].cast_unsigned());
            Arc::new(ThreadPart { waits, stopped, units, atomic: 0, suspended, stack })
        };
        State {
            globals: cells[..self.globals].into(),
            locks: (0..self.lock_count).map(owner).collect(),
            threads: self.threads.iter().map(thread).collect(),
        }
    }
}

/// A small number as a value.
fn number(number: usize) -> Value {
    Value::try_from(number).unwrap_or(Value::MAX)
}

/// What a thread needs, if that is the same on every way to each node.
fn survey(code: &Code<'_>, thread: ThreadId) -> Option<Survey> {
    let program = code.program;
    let main = &program.procedures[program.threads[thread].main];
    if main.frame.enforced.is_some() {
        return None;
    }
    let mut known: FxHashMap<NodeId, Around> = FxHashMap::default();
    let mut pending = vec![(main.entry, Around::default())];
    let mut positions = BTreeSet::new();
    let mut survey =
        Survey { positions: Vec::new(), units: 0, holds: FxHashMap::default(), waits: false };
    while let Some((node, around)) = pending.pop() {
        if let Some(before) = known.get(&node) {
            if *before != around {
                return None;
            }
            continue;
        }
        if around.atomic == 0 {
            positions.insert(behind(code, node));
        }
        survey.units = survey.units.max(around.units);
        for &(lock, depth) in &around.holds {
            let most = survey.holds.entry(lock).or_default();
            *most = depth.max(*most);
        }
        if !is_exit(program, node) {
            for &edge in code.successors.of(node) {
                survey.waits |= matches!(program.edges[edge].action, Action::Wait(_));
                if let Some(after) = through(code, edge, &around)? {
                    pending.push((program.edges[edge].target, after));
                }
            }
        }
        known.insert(node, around);
    }
    survey.positions = positions.into_iter().collect();
    Some(survey)
}

/// Where bare jumps lead.
pub fn behind(code: &Code<'_>, node: NodeId) -> NodeId {
    code.jumps[node].last().map_or(node, |&edge| code.program.edges[edge].target)
}

/// What is around behind an edge; nothing where it is never taken, and `None` where no fixed layout
/// will do.
#[expect(clippy::option_option, reason = "two different things are missing")]
fn through(code: &Code<'_>, edge: EdgeId, before: &Around) -> Option<Option<Around>> {
    let program = code.program;
    let mut around = before.clone();
    let held = |around: &Around, lock: LockId| around.holds.iter().position(|one| one.0 == lock);
    match program.edges[edge].action {
        Action::Call(_) => return None,
        Action::Return(_) => return Some(None),
        Action::BeginAtomic if around.atomic == DEEPEST => return None,
        Action::BeginAtomic => around.atomic += 1,
        Action::EndAtomic if around.atomic == 0 => return Some(None),
        Action::EndAtomic => around.atomic -= 1,
        Action::BeginUnit => around.units += 1,
        Action::EndUnit if around.units == 0 => return Some(None),
        Action::EndUnit => around.units -= 1,
        Action::Acquire(lock) => match held(&around, lock) {
            Some(_) if !program.locks[lock].reentrant => return Some(None),
            Some(at) => around.holds[at].1 += 1,
            None => {
                around.holds.push((lock, 1));
                around.holds.sort_unstable();
            }
        },
        Action::Release(lock) => match held(&around, lock) {
            None => return Some(None),
            Some(at) if around.holds[at].1 == 1 => _ = around.holds.remove(at),
            Some(at) => around.holds[at].1 -= 1,
        },
        _ => {}
    }
    Some(Some(around))
}
