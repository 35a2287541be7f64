//! # Idea
//! The stored states, each as a few words in one arena, found by a table with open addressing. Where a
//! program has a fixed [`PackedLayout`] every state has the same number of words, otherwise it is a
//! self-delimiting string of bits. A state remembers which one it was reached from, and by which thread.
//!
//! # Invariants
//! 1. Two states have the same words iff they are equal: values and nodes have fixed widths, and what
//!    has no fixed number is preceded by its count.
//! 2. The table is at most three quarters full, so a number needs no more bits than a place in the table
//!    has. The other bits of an entry are bits of the hash, so that words are hardly ever compared in
//!    vain.

use crate::layout::PackedLayout;
use crate::program::{Code, index};
use crate::shared::hash;
use crate::state::{Activation, State, Suspended, ThreadPart};
use selvedge_base::Id;
use selvedge_program::{EdgeId, NodeId, ThreadId, Type, Value};
use std::sync::Arc;

/// The number of a stored state.
pub type Stored = u32;

/// Where a stored state comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parent {
    /// The state that was expanded; itself for an initial one.
    pub state: Stored,
    /// The thread that moved.
    pub thread: ThreadId,
    /// How many transactions lie behind it.
    pub depth: u32,
}

/// The stored states.
#[derive(Debug)]
pub struct StateStore {
    words: Vec<u64>,
    /// How many words each state has.
    stride: usize,
    /// Where the words of each state begin, and one more, if they have not all as many.
    starts: Vec<usize>,
    /// Which state each one was reached from, and by which thread.
    origins: Vec<Stored>,
    movers: Vec<u16>,
    /// How many transactions lie behind the states from a number on. Breadth first that changes once for
    /// each level.
    depths: Vec<(Stored, u32)>,
    table: Vec<u32>,
}

/// How many threads a program may have.
pub const MOST_MOVERS: usize = 1 << 16;

const EMPTY: u32 = u32::MAX;

/// How many slots are looked at ahead.
const NEAR: usize = 8;

impl Default for StateStore {
    fn default() -> Self {
        Self {
            words: Vec::new(),
            stride: 0,
            starts: vec![0],
            origins: Vec::new(),
            movers: Vec::new(),
            depths: Vec::new(),
            table: vec![EMPTY; 1 << 10],
        }
    }
}

impl StateStore {
    /// A store for states that have so many words each.
    pub fn with_stride(stride: usize) -> Self {
        Self { stride, starts: Vec::new(), ..Self::default() }
    }

    /// How many states there are.
    pub fn count(&self) -> usize {
        self.origins.len()
    }

    /// Where a state comes from.
    pub fn parent(&self, state: Stored) -> Parent {
        let at = state as usize;
        // Most are asked for in one of the last two levels.
        let last = self.depths.len();
        let near = self.depths.iter().skip(last.saturating_sub(2)).filter(|one| one.0 <= state);
        let run = match near.count() {
            0 => self.depths.partition_point(|&(first, _)| first <= state),
            behind => last.saturating_sub(2) + behind,
        };
        Parent {
            state: self.origins[at],
            thread: ThreadId::from_index(usize::from(self.movers[at])),
            depth: self.depths[run - 1].1,
        }
    }

    /// How many bytes a state takes on average.
    pub fn bytes_per_state(&self) -> u64 {
        let states = self.count().max(1);
        let bytes = self.words.len() * 8
            + self.starts.len() * size_of::<usize>()
            + self.origins.len() * (size_of::<Stored>() + size_of::<u16>())
            + self.depths.len() * size_of::<(Stored, u32)>()
            + self.table.len() * 4;
        (bytes / states) as u64
    }

    /// Stores a state that is new; its number, and whether it is.
    pub fn insert(
        &mut self,
        packed: &[u64],
        parent: impl FnOnce(Stored) -> Parent,
    ) -> (Stored, bool) {
        let number = self.count() as Stored;
        self.insert_hashed(packed, hash(packed), parent(number))
    }

    /// Looks at what will be looked at when states are inserted, given one behind the other: memory is
    /// slow, and these places need not wait for each other.
    pub fn look_ahead(&self, packed: &[u64], hashes: &mut Vec<u64>) {
        let mask = self.mask();
        hashes.clear();
        hashes.extend(packed.chunks_exact(self.stride.max(1)).map(hash));
        let mut seen = 0;
        for &hash in &*hashes {
            seen ^= self.table[hash as usize & mask];
        }
        std::hint::black_box(seen);
        let mut seen = 0;
        for &hash in &*hashes {
            let tag = (hash >> 32) as u32 & !(mask as u32);
            let slots = (0..NEAR).map(|at| (hash as usize + at) & mask);
            let entries = slots.map(|slot| self.table[slot]).take_while(|&entry| entry != EMPTY);
            let mut likely = entries.filter(|entry| entry & !(mask as u32) == tag);
            if let Some(entry) = likely.next() {
                seen ^= self.words[(entry & mask as u32) as usize * self.stride];
            }
        }
        std::hint::black_box(seen);
    }

    /// Stores a state that is new, given its hash; its number, and whether it is.
    pub fn insert_hashed(&mut self, packed: &[u64], hash: u64, parent: Parent) -> (Stored, bool) {
        if (self.count() + 1) * 4 > self.table.len() * 3 {
            self.grow();
        }
        let mask = self.mask();
        let mut slot = hash as usize & mask;
        let tag = (hash >> 32) as u32 & !(mask as u32);
        loop {
            let entry = self.table[slot];
            if entry == EMPTY {
                break;
            }
            let number = entry & mask as u32;
            if entry & !(mask as u32) == tag && is_same(self.packed(number), packed) {
                return (number, false);
            }
            slot = (slot + 1) & mask;
        }
        let number = self.count() as Stored;
        self.table[slot] = number | tag;
        self.words.extend_from_slice(packed);
        if self.stride == 0 {
            self.starts.push(self.words.len());
        }
        self.origins.push(parent.state);
        self.movers.push(index(parent.thread) as u16);
        if self.depths.last().is_none_or(|&(_, depth)| depth != parent.depth) {
            self.depths.push((number, parent.depth));
        }
        (number, true)
    }

    /// The words of a state.
    pub fn packed(&self, state: Stored) -> &[u64] {
        let at = state as usize;
        if self.stride == 0 {
            &self.words[self.starts[at]..self.starts[at + 1]]
        } else {
            &self.words[at * self.stride..][..self.stride]
        }
    }

    fn mask(&self) -> usize {
        self.table.len() - 1
    }

    fn grow(&mut self) {
        let length = self.table.len() * 2;
        self.table = Vec::new();
        self.table = vec![EMPTY; length];
        let mask = self.mask();
        for number in 0..self.count() as Stored {
            let hash = hash(self.packed(number));
            let mut slot = hash as usize & mask;
            while self.table[slot] != EMPTY {
                slot = (slot + 1) & mask;
            }
            self.table[slot] = number | (hash >> 32) as u32 & !(mask as u32);
        }
    }
}

/// Whether two states are the same; they have few words.
fn is_same(one: &[u64], other: &[u64]) -> bool {
    let differ = one.iter().zip(other).fold(0, |all, (one, other)| all | (one ^ other));
    one.len() == other.len() && differ == 0
}

/// Turns states into words and back.
#[derive(Debug)]
pub struct Packing<'c, 'p> {
    code: &'c Code<'p>,
    /// The fixed layout, if there is one.
    layout: Option<PackedLayout>,
    nodes: u32,
    edges: u32,
    threads: u32,
    wait_sets: u32,
}

fn bits(values: usize) -> u32 {
    usize::BITS - values.saturating_sub(1).leading_zeros()
}

impl<'c, 'p> Packing<'c, 'p> {
    /// The packing of a program's states.
    pub fn new(code: &'c Code<'p>) -> Self {
        let program = code.program;
        Self {
            code,
            layout: PackedLayout::new(code),
            nodes: bits(program.nodes.len()),
            edges: bits(program.edges.len() + 1),
            threads: bits(program.threads.len() + 1),
            wait_sets: bits(program.wait_sets.len()),
        }
    }

    /// A store for such states.
    pub fn store(&self) -> StateStore {
        match &self.layout {
            Some(layout) => StateStore::with_stride(layout.words),
            None => StateStore::default(),
        }
    }

    /// The fixed layout, if there is one.
    pub fn layout(&self) -> Option<&PackedLayout> {
        self.layout.as_ref()
    }

    fn width(&self, ty: Type) -> (Value, u32) {
        let (low, high) = self.code.program.range(ty);
        (low, 64 - (i64::from(high) - i64::from(low)).leading_zeros())
    }

    /// The words of a state.
    pub fn pack(&self, state: &State) -> Vec<u64> {
        if let Some(layout) = &self.layout {
            return layout.pack(state);
        }
        let program = self.code.program;
        let mut writer = Writer::default();
        for (global, &value) in program.globals.iter().zip(state.globals.iter()) {
            let (low, width) = self.width(global.ty);
            writer.put((i64::from(value) - i64::from(low)).cast_unsigned(), width);
        }
        for owner in state.locks.iter() {
            writer.put(owner.map_or(0, |(owner, _)| index(owner) as u64 + 1), self.threads);
            if let Some((_, depth)) = owner {
                writer.count(*depth - 1);
            }
        }
        for thread in &state.threads {
            self.pack_thread(thread, &mut writer);
        }
        writer.words
    }

    fn pack_thread(&self, thread: &ThreadPart, writer: &mut Writer) {
        writer.put(u64::from(thread.waits), 1);
        if thread.waits {
            return;
        }
        writer.put(u64::from(thread.stopped), 1);
        writer.put(u64::from(thread.suspended.is_some()), 1);
        if let Some(Suspended { set, depth, in_set }) = thread.suspended {
            writer.put(index(set) as u64, self.wait_sets);
            writer.count(depth);
            writer.put(u64::from(in_set), 1);
        }
        writer.count(thread.units);
        writer.count(thread.stack.len() as u32);
        for activation in &thread.stack {
            let node = activation.node;
            writer.put(index(node) as u64, self.nodes);
            let call = activation.call.map_or(0, |call| index(call) as u64 + 1);
            writer.put(call, self.edges);
            let frame = &self.code.program.procedures[self.code.program.nodes[node]].frame;
            for (local, &value) in frame.locals.iter().zip(&activation.locals) {
                let (low, width) = self.width(local.ty);
                writer.put((i64::from(value) - i64::from(low)).cast_unsigned(), width);
            }
        }
    }

    /// The state of some words.
    pub fn unpack(&self, words: &[u64]) -> State {
        if let Some(layout) = &self.layout {
            return layout.unpack(words, self.code);
        }
        let program = self.code.program;
        let mut reader = Reader { words, at: 0 };
        let value = |reader: &mut Reader<'_>, ty: Type| {
            let (low, width) = self.width(ty);
            (i64::from(low) + reader.get(width).cast_signed()) as Value
        };
        let globals: Vec<Value> =
            program.globals.iter().map(|global| value(&mut reader, global.ty)).collect();
        let mut locks = Vec::with_capacity(program.locks.len());
        for _ in &program.locks {
            let owner = reader.get(self.threads) as usize;
            locks.push(
                owner.checked_sub(1).map(|owner| (ThreadId::from_index(owner), reader.count() + 1)),
            );
        }
        let mut threads = Vec::with_capacity(program.threads.len());
        for thread in &program.threads {
            let mut own = ThreadPart {
                waits: reader.get(1) == 1,
                stopped: false,
                units: 0,
                atomic: 0,
                suspended: None,
                stack: Vec::new(),
            };
            if own.waits {
                let node = program.procedures[thread.main].entry;
                own.stack.push(Activation { node, call: None, locals: Vec::new() });
                threads.push(Arc::new(own));
                continue;
            }
            own.stopped = reader.get(1) == 1;
            if reader.get(1) == 1 {
                let set = Id::from_index(reader.get(self.wait_sets) as usize);
                let depth = reader.count();
                let in_set = reader.get(1) == 1;
                own.suspended = Some(Suspended { set, depth, in_set });
            }
            own.units = reader.count();
            for _ in 0..reader.count() {
                let node = NodeId::from_index(reader.get(self.nodes) as usize);
                let call = (reader.get(self.edges) as usize).checked_sub(1);
                let call = call.map(EdgeId::from_index);
                let frame = &program.procedures[program.nodes[node]].frame;
                let locals = frame.locals.iter().map(|one| value(&mut reader, one.ty)).collect();
                own.stack.push(Activation { node, call, locals });
            }
            threads.push(Arc::new(own));
        }
        State { globals: globals.into(), locks: locks.into(), threads }
    }
}

/// Writes bits one behind the other.
#[derive(Default)]
struct Writer {
    words: Vec<u64>,
    used: u32,
}

impl Writer {
    fn put(&mut self, value: u64, width: u32) {
        if width == 0 {
            return;
        }
        if self.used == 0 {
            self.words.push(0);
        }
        let last = self.words.len() - 1;
        self.words[last] |= value << self.used;
        let room = 64 - self.used;
        if width > room {
            self.words.push(value >> room);
            self.used = width - room;
        } else {
            self.used = (self.used + width) % 64;
        }
    }

    /// A number of any size: seven bits at a time, small ones in four.
    fn count(&mut self, number: u32) {
        let mut rest = number;
        loop {
            self.put(u64::from(rest & 7), 3);
            rest >>= 3;
            self.put(u64::from(rest != 0), 1);
            if rest == 0 {
                return;
            }
        }
    }
}

struct Reader<'w> {
    words: &'w [u64],
    at: usize,
}

impl Reader<'_> {
    fn get(&mut self, width: u32) -> u64 {
        if width == 0 {
            return 0;
        }
        let (word, shift) = (self.at / 64, (self.at % 64) as u32);
        let mut value = self.words[word] >> shift;
        if shift + width > 64 {
            value |= self.words[word + 1] << (64 - shift);
        }
        self.at += width as usize;
        if width == 64 { value } else { value & ((1 << width) - 1) }
    }

    fn count(&mut self) -> u32 {
        let mut number = 0;
        let mut shift = 0;
        loop {
            number |= (self.get(3) as u32) << shift;
            shift += 3;
            if self.get(1) == 0 {
                return number;
            }
        }
    }
}
