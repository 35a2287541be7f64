//! # Idea
//! Executes [`Bytecode`]: all steps of one thread from one state, as packed words. What a way changes
//! is written down, and taken back when the next way begins; a state that comes out is the words of
//! the state before with what was changed written over them.
//!
//! # Invariants
//! 1. Between expansions the cells without bits are at their lowest values.
//! 2. An expansion that gives up has no effect. It gives up at [`Op::General`], when something would fail,
//!    when it takes too long, and at an access under locks for the first time: the step relation
//!    registers it.

use crate::bytecode::{AccessNumber, Bytecode, Destination, Op, Pc, REGISTERS, Reg};
use crate::eval::combine;
use crate::layout::PackedLayout;
use crate::program::{Code, index};
use rustc_hash::FxHashMap;
use selvedge_base::Id;
use selvedge_program::{LockId, NodeId, Operator, ThreadId, Value, WaitSetId, thread_value};
use std::collections::BTreeSet;

/// Executes the instructions of a program.
#[derive(Debug)]
pub struct Executor {
    layout: PackedLayout,
    bytecode: Bytecode,
    /// The cells of locks that a thread may hold more than once.
    reentrant: Vec<bool>,
    /// Whether threads wake without a notification.
    spurious: bool,
    cells: Vec<Value>,
    /// The words of the state whose steps are taken.
    words: Vec<u64>,
    /// The changed cells, and what they were.
    changed: Vec<(u32, Value)>,
    points: Vec<Point>,
    /// The words of the states that came out.
    outcomes: Vec<u64>,
    /// Whose steps led to them.
    movers: Vec<ThreadId>,
    /// Scratch for the hashes of outcomes.
    pub(crate) hashes: Vec<u64>,
    /// For each site a bit for each set of locks under which it was registered.
    noted: Vec<u64>,
    /// The numbers of the sets of locks.
    sets: FxHashMap<u128, u32>,
    /// How many expansions were left to the step relation.
    pub given_up: u64,
}

/// A way that is yet to be taken.
#[derive(Clone, Copy, Debug)]
struct Point {
    pc: Pc,
    changed: usize,
    held: Held,
    /// The value to go on with, and the last one.
    values: Option<(i64, i64)>,
}

/// A set of locks, and the bit for it.
#[derive(Clone, Copy, Debug)]
struct Held {
    locks: u128,
    bit: u64,
}

/// The expansion has to be made by the step relation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GivenUp;

/// Instructions of one expansion.
const LONGEST: u32 = 1 << 16;

impl Executor {
    /// An executor for a program with a fixed layout, where labels are looked for at some nodes.
    pub fn new(code: &Code<'_>, layout: &PackedLayout, labels: &BTreeSet<NodeId>) -> Self {
        let bytecode = Bytecode::new(code, layout, labels);
        Self {
            cells: layout.lowest(),
            words: vec![0; layout.words],
            noted: vec![0; bytecode.sites],
            reentrant: code.program.locks.iter().map(|lock| lock.reentrant).collect(),
            spurious: code.program.spurious_wakeups,
            layout: layout.clone(),
            bytecode,
            changed: Vec::new(),
            points: Vec::new(),
            outcomes: Vec::new(),
            movers: Vec::new(),
            hashes: Vec::new(),
            sets: FxHashMap::default(),
            given_up: 0,
        }
    }

    /// How many words a state has.
    pub fn stride(&self) -> usize {
        self.layout.words
    }

    /// Goes to a state.
    pub fn load(&mut self, words: &[u64]) {
        self.words.copy_from_slice(words);
        self.layout.read(words, &mut self.cells);
    }

    /// Forgets the states that have come out.
    pub fn clear(&mut self) {
        self.outcomes.clear();
        self.movers.clear();
    }

    /// The words of the states that have come out since they were forgotten, and whose steps led there.
    pub fn outcomes(&self) -> (&[u64], &[ThreadId]) {
        (&self.outcomes, &self.movers)
    }

    /// The words of each of these states from one on, to be changed.
    pub fn outcomes_from(&mut self, first: usize) -> impl Iterator<Item = &mut [u64]> {
        let stride = self.layout.words;
        self.outcomes[first * stride..].chunks_exact_mut(stride)
    }

    /// Takes all steps of a thread from the state that was loaded.
    ///
    /// # Errors
    /// If the step relation has to take them.
    pub fn expand(&mut self, thread: ThreadId) -> Result<(), GivenUp> {
        self.attempt(thread).inspect_err(|_| self.given_up += 1)
    }

    fn attempt(&mut self, thread: ThreadId) -> Result<(), GivenUp> {
        let before = self.movers.len();
        let own = &self.layout.threads[thread];
        if self.cells[own.stopped] != 0 {
            return Ok(());
        }
        let position = self.cells[own.position].unsigned_abs() as usize;
        let Some(&pc) = self.bytecode.entries[thread].get(position) else { return Ok(()) };
        let held = self.held(thread)?;
        let Some(pc) = self.enter(pc, held)? else { return Ok(()) };
        let done = self.run(thread, pc, held);
        self.points.clear();
        self.take_back(0);
        if done.is_err() {
            self.movers.truncate(before);
            self.outcomes.truncate(before * self.words.len());
        }
        done
    }

    /// Executes what comes first and looks at globals only, since many a thread waits; where to go on.
    fn enter(&mut self, mut pc: Pc, held: Held) -> Result<Option<Pc>, GivenUp> {
        for _ in 0..LONGEST {
            match self.bytecode.ops[pc as usize] {
                Op::TableGlobal(cell, site, places) => {
                    self.note(site, held)?;
                    pc = self.bytecode.place(places, self.cells[cell as usize].into());
                }
                Op::TestGlobal(cell, site, value, truth) => {
                    self.note(site, held)?;
                    if (self.cells[cell as usize] == value) != truth {
                        return Ok(None);
                    }
                    pc += 1;
                }
                _ => return Ok(Some(pc)),
            }
        }
        Err(GivenUp)
    }

    /// The locks that a thread holds.
    fn held(&mut self, thread: ThreadId) -> Result<Held, GivenUp> {
        let mut locks = 0;
        for lock in 0..self.reentrant.len() {
            let owner = self.cells[self.layout.owner(LockId::from_index(lock))];
            locks |= u128::from(owner == thread_value(Some(thread))) << lock;
        }
        self.numbered(locks)
    }

    fn numbered(&mut self, locks: u128) -> Result<Held, GivenUp> {
        if locks == 0 {
            return Ok(Held { locks, bit: 1 });
        }
        let new = self.sets.len() as u32 + 1;
        let number = *self.sets.entry(locks).or_insert(new);
        let bit = 1u64.checked_shl(number).ok_or(GivenUp)?;
        Ok(Held { locks, bit })
    }

    fn take_back(&mut self, length: usize) {
        while self.changed.len() > length
            && let Some((cell, value)) = self.changed.pop()
        {
            self.cells[cell as usize] = value;
        }
    }

    /// Whether an access was registered; the next time it will have been.
    fn note(&mut self, site: AccessNumber, held: Held) -> Result<(), GivenUp> {
        let noted = &mut self.noted[site as usize];
        if *noted & held.bit == 0 {
            *noted |= held.bit;
            return Err(GivenUp);
        }
        Ok(())
    }

    fn set(&mut self, cell: u32, value: Value) {
        let now = &mut self.cells[cell as usize];
        if *now != value {
            self.changed.push((cell, *now));
            *now = value;
        }
    }

    fn run(&mut self, thread: ThreadId, start: Pc, mut held: Held) -> Result<(), GivenUp> {
        let mut registers = [0i64; REGISTERS];
        let mut pc = start as usize;
        let own = thread_value(Some(thread));
        for _ in 0..LONGEST {
            let op = self.bytecode.ops[pc];
            pc += 1;
            let lives = match op {
                Op::Constant(reg, value) => {
                    *at(&mut registers, reg) = value.into();
                    true
                }
                Op::Own(reg, cell) => {
                    *at(&mut registers, reg) = self.cells[cell as usize].into();
                    true
                }
                Op::Global(reg, cell, site) => {
                    self.note(site, held)?;
                    *at(&mut registers, reg) = self.cells[cell as usize].into();
                    true
                }
                Op::OwnElement(reg, first, length) => {
                    let reg = at(&mut registers, reg);
                    let element = element(*reg, length)?;
                    *reg = self.cells[(first + element) as usize].into();
                    true
                }
                Op::Element(reg, first, length, site) => {
                    let reg = at(&mut registers, reg);
                    let element = element(*reg, length)?;
                    self.note(site + element, held)?;
                    *reg = self.cells[(first + element) as usize].into();
                    true
                }
                Op::Not(reg) => {
                    let reg = at(&mut registers, reg);
                    *reg = (*reg == 0).into();
                    true
                }
                Op::Negate(reg) => {
                    let reg = at(&mut registers, reg);
                    *reg = reg.checked_neg().ok_or(GivenUp)?;
                    true
                }
                Op::Binary(operator, reg) => {
                    let right = *at(&mut registers, reg + 1);
                    let left = at(&mut registers, reg);
                    *left = compute(operator, *left, right)?;
                    true
                }
                Op::With(operator, reg, right) => {
                    let left = at(&mut registers, reg);
                    *left = compute(operator, *left, right.into())?;
                    true
                }
                Op::If(reg, truth, to) => {
                    if (*at(&mut registers, reg) != 0) == truth {
                        pc = to as usize;
                    }
                    true
                }
                Op::Test(reg) => *at(&mut registers, reg) != 0,
                Op::TestGlobal(cell, site, value, truth) => {
                    self.note(site, held)?;
                    (self.cells[cell as usize] == value) == truth
                }
                Op::Table(reg, places) => {
                    let number = *at(&mut registers, reg);
                    pc = self.bytecode.place(places, number) as usize;
                    true
                }
                Op::TableGlobal(cell, site, places) => {
                    self.note(site, held)?;
                    let number = self.cells[cell as usize].into();
                    pc = self.bytecode.place(places, number) as usize;
                    true
                }
                Op::Jump(to) => {
                    pc = to as usize;
                    true
                }
                Op::Fork(to) => {
                    let changed = self.changed.len();
                    self.points.push(Point { pc: to, changed, held, values: None });
                    true
                }
                Op::Choose(reg) => {
                    let (low, high) = (*at(&mut registers, reg), *at(&mut registers, reg + 1));
                    if low < high {
                        let changed = self.changed.len();
                        let values = Some((low + 1, high));
                        self.points.push(Point { pc: pc as Pc, changed, held, values });
                    }
                    low <= high
                }
                Op::Store(reg, to) => {
                    let Destination { cell, site, low, high, modulo } =
                        self.bytecode.targets[to as usize];
                    if let Some(site) = site {
                        self.note(site, held)?;
                    }
                    let mut value = *at(&mut registers, reg);
                    if modulo != 0 {
                        value = value.rem_euclid(modulo.into());
                    }
                    if value < low.into() || value > high.into() {
                        return Err(GivenUp);
                    }
                    self.set(cell, value as Value);
                    true
                }
                Op::Set(cell, value) => {
                    self.set(cell, value);
                    true
                }
                Op::SetGlobal(cell, site, value) => {
                    self.note(site, held)?;
                    self.set(cell, value);
                    true
                }
                Op::CanAcquire(lock) => {
                    let owner = self.cells[self.layout.owner(lock)];
                    owner == 0 || owner == own && self.reentrant[index(lock)]
                }
                Op::Acquire(lock) => {
                    let (owner, depth) = (self.layout.owner(lock), self.layout.depth(lock));
                    if self.cells[owner] == own {
                        self.set(depth as u32, self.cells[depth] + 1);
                    } else {
                        self.set(owner as u32, own);
                        held = self.numbered(held.locks | 1 << index(lock))?;
                    }
                    true
                }
                Op::Owns(lock) => {
                    if self.cells[self.layout.owner(lock)] != own {
                        return Err(GivenUp);
                    }
                    true
                }
                Op::Release(lock) => {
                    let (owner, depth) = (self.layout.owner(lock), self.layout.depth(lock));
                    if self.cells[depth] > 0 {
                        self.set(depth as u32, self.cells[depth] - 1);
                    } else {
                        self.set(owner as u32, 0);
                        held = self.numbered(held.locks & !(1 << index(lock)))?;
                    }
                    true
                }
                Op::Wait(set) => {
                    let lock = self.layout.lock_of(set);
                    let (owner, depth) = (self.layout.owner(lock), self.layout.depth(lock));
                    let suspended = self.layout.threads[thread].suspended as u32;
                    self.set(suspended, set_value(set));
                    self.set(suspended + 1, self.cells[depth] + 1);
                    self.set(suspended + 2, 1);
                    self.set(owner as u32, 0);
                    self.set(depth as u32, 0);
                    held = self.numbered(held.locks & !(1 << index(lock)))?;
                    true
                }
                Op::CanResume(set) => {
                    let suspended = self.layout.threads[thread].suspended;
                    self.cells[suspended] == set_value(set)
                        && (self.cells[suspended + 2] == 0 || self.spurious)
                        && self.cells[self.layout.owner(self.layout.lock_of(set))] == 0
                }
                Op::Resume(set) => {
                    let lock = self.layout.lock_of(set);
                    let (owner, depth) = (self.layout.owner(lock), self.layout.depth(lock));
                    let suspended = self.layout.threads[thread].suspended;
                    self.set(owner as u32, own);
                    self.set(depth as u32, self.cells[suspended + 1] - 1);
                    for cell in suspended..suspended + 3 {
                        self.set(cell as u32, 0);
                    }
                    held = self.numbered(held.locks | 1 << index(lock))?;
                    true
                }
                Op::WakeAll(set) => {
                    for _ in 0..self.layout.threads.len() {
                        let member = self.waiting(set).next();
                        if let Some(member) = member {
                            self.set(member, 0);
                        }
                    }
                    true
                }
                Op::Waiting(set) => {
                    match self.waiting(set).count() {
                        0 => pc += 2,
                        members => {
                            registers[0] = 0;
                            registers[1] = i64::try_from(members).map_err(|_| GivenUp)? - 1;
                        }
                    }
                    true
                }
                Op::Wake(set) => {
                    let member = usize::try_from(registers[0]).map_err(|_| GivenUp)?;
                    let member = self.waiting(set).nth(member).ok_or(GivenUp)?;
                    self.set(member, 0);
                    true
                }
                Op::Ended(joined) => {
                    let joined = &self.layout.threads[joined];
                    self.cells[joined.position] == joined.ended()
                }
                Op::BeginUnit => {
                    let units = self.layout.threads[thread].units;
                    self.set(units as u32, self.cells[units] + 1);
                    true
                }
                Op::EndUnit => {
                    let units = self.layout.threads[thread].units;
                    let inside = self.cells[units] > 0;
                    self.set(units as u32, (self.cells[units] - 1).max(0));
                    inside
                }
                Op::Assert(reg) => {
                    if *at(&mut registers, reg) == 0 {
                        return Err(GivenUp);
                    }
                    true
                }
                Op::Block => false,
                Op::General => return Err(GivenUp),
                Op::Emit(position) => {
                    self.emit(thread, position);
                    false
                }
            };
            if lives {
                continue;
            }
            let Some(point) = self.points.pop() else { return Ok(()) };
            self.take_back(point.changed);
            held = point.held;
            pc = point.pc as usize;
            if let Some((value, last)) = point.values {
                registers[0] = value;
                if value < last {
                    self.points.push(Point { values: Some((value + 1, last)), ..point });
                }
            }
        }
        Err(GivenUp)
    }

    /// The cells that say that a thread is in a wait set.
    fn waiting(&self, set: WaitSetId) -> impl Iterator<Item = u32> {
        let member =
            move |cells: &[Value], own: usize| cells[own] == set_value(set) && cells[own + 2] == 1;
        let threads = self.layout.threads.iter().map(|own| own.suspended);
        threads.filter(move |&own| member(&self.cells, own)).map(|own| own as u32 + 2)
    }

    /// Writes down a state that comes out.
    fn emit(&mut self, thread: ThreadId, position: Value) {
        let cell = self.layout.threads[thread].position;
        self.set(cell as u32, position);
        self.movers.push(thread);
        let start = self.outcomes.len();
        self.outcomes.extend_from_slice(&self.words);
        let words = &mut self.outcomes[start..];
        for &(cell, _) in &self.changed {
            let cell = cell as usize;
            self.layout.write(words, cell, self.cells[cell]);
        }
    }
}

/// A lock as it stands in a cell.
fn set_value(set: WaitSetId) -> Value {
    Value::try_from(index(set) + 1).unwrap_or(Value::MAX)
}

fn at(registers: &mut [i64; REGISTERS], reg: Reg) -> &mut i64 {
    &mut registers[usize::from(reg) % REGISTERS]
}

fn element(index: i64, length: u32) -> Result<u32, GivenUp> {
    u32::try_from(index).ok().filter(|&index| index < length).ok_or(GivenUp)
}

fn compute(operator: Operator, left: i64, right: i64) -> Result<i64, GivenUp> {
    match operator {
        Operator::Equal => Ok((left == right).into()),
        Operator::Less => Ok((left < right).into()),
        Operator::LessEqual => Ok((left <= right).into()),
        Operator::Add => left.checked_add(right).ok_or(GivenUp),
        Operator::Subtract => left.checked_sub(right).ok_or(GivenUp),
        other => combine(other, left, right).map_err(|_| GivenUp),
    }
}
