//! # Idea
//! Random models that have everything that can go wrong in a small space: loops, direct and mutual
//! recursion, `return` inside blocks, nested units, nested and reentrant synchronized blocks, calls
//! under locks, crossed lock orders, dead code.
//!
//! # Requires
//! The sizes of a [`Shape`] are such that trying all interleavings of two threads (of all threads for
//! [`Shape::TINY`] and [`Shape::CONTENDED`]) takes milliseconds.

use crate::rng::Rng;
use crate::source::{Block, Function, Model, Process, Statement};
use selvedge_program::{Action, EdgeId, Program};

/// How large the models are.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The least and the greatest number of processes.
    pub processes: (usize, usize),
    /// The greatest number of locks; at least 2 with [`Emphasis::Locks`].
    pub locks: usize,
    /// The greatest number of locations.
    pub locations: usize,
    /// The greatest number of functions of a process, `main` included.
    pub functions: usize,
    /// The greatest number of statements of a process.
    pub statements: usize,
    /// How deep blocks nest within a function.
    pub nesting: usize,
    /// What there is most of.
    pub emphasis: Emphasis,
}

/// What there is most of in a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Emphasis {
    /// Units with accesses, for questions about atomicity.
    Units,
    /// Nested synchronized blocks, for races and deadlocks. There are at least two locks. Each process
    /// prefers two of them, like a philosopher the forks beside the plate, so that all processes
    /// together may block each other where no two of them do.
    Locks,
}

impl Shape {
    /// For questions about pairs of threads.
    pub const SMALL: Self = Self {
        processes: (2, 4),
        locks: 3,
        locations: 3,
        functions: 3,
        statements: 20,
        nesting: 4,
        emphasis: Emphasis::Units,
    };
    /// For questions about up to four threads at once.
    pub const TINY: Self = Self {
        processes: (2, 4),
        locks: 3,
        locations: 2,
        functions: 2,
        statements: 6,
        nesting: 3,
        emphasis: Emphasis::Units,
    };
    /// For races and deadlocks of up to four threads.
    pub const CONTENDED: Self = Self {
        processes: (2, 4),
        locks: 4,
        locations: 2,
        functions: 2,
        statements: 10,
        nesting: 3,
        emphasis: Emphasis::Locks,
    };
}

/// A random model of this shape.
pub fn random_model(rng: &mut Rng, shape: &Shape) -> Model {
    let fewest = match shape.emphasis {
        Emphasis::Units => 0,
        Emphasis::Locks => 2,
    };
    let locks = rng.between(fewest, shape.locks);
    let locations = rng.between(1, shape.locations);
    let count = rng.between(shape.processes.0, shape.processes.1);
    let ring = locks.min(count);
    let preferred = |index: usize| match shape.emphasis {
        Emphasis::Units => None,
        Emphasis::Locks => Some([index % ring, (index + 1) % ring]),
    };
    let processes = (0..count)
        .map(|index| random_process(rng, shape, locks, locations, preferred(index)))
        .collect();
    Model { locks, locations, processes }
}

/// The model with some of its processes waiting, and with starts and joins anywhere.
pub fn with_starts(rng: &mut Rng, mut model: Model) -> Model {
    let count = model.processes.len();
    let waiting: Vec<usize> = (0..count).filter(|&at| at > 0 && rng.percent(60)).collect();
    for &at in &waiting {
        for _ in 0..rng.between(1, 2) {
            place(rng, &mut model, Statement::Start(at));
        }
    }
    for _ in 0..rng.between(0, 2) {
        // Mostly one that can end without waiting for itself.
        let joined = rng.below(count);
        place(rng, &mut model, Statement::Join(joined));
    }
    model
}

/// Makes about half of the accesses of a program volatile.
pub fn make_volatile(rng: &mut Rng, program: &mut Program) {
    let edges: Vec<EdgeId> = program.edges.ids().collect();
    for edge in edges {
        let edge = &mut program.edges[edge];
        edge.volatile =
            matches!(edge.action, Action::Read(_) | Action::Write(_)) && rng.percent(50);
    }
}

/// Makes about half of the locks of a program mutexes.
pub fn make_mutexes(rng: &mut Rng, program: &mut Program) {
    for lock in &mut program.locks {
        lock.reentrant &= rng.percent(50);
    }
}

/// Puts a statement somewhere into a process.
fn place(rng: &mut Rng, model: &mut Model, statement: Statement) {
    let process = rng.below(model.processes.len());
    let functions = &mut model.processes[process].functions;
    let position = if rng.percent(70) { 0 } else { rng.below(functions.len()) };
    insert(rng, &mut functions[position].body, statement);
}

fn random_process(
    rng: &mut Rng,
    shape: &Shape,
    locks: usize,
    locations: usize,
    preferred: Option<[usize; 2]>,
) -> Process {
    let functions = rng.between(1, shape.functions);
    let mut budget = rng.between(shape.statements.div_ceil(2), shape.statements);
    let mut process = Process { functions: Vec::with_capacity(functions) };
    for position in 0..functions {
        let share = if position + 1 == functions { budget } else { budget.div_ceil(2) };
        budget -= share;
        let mut writer = Writer {
            rng,
            locks,
            preferred,
            locations,
            functions,
            position,
            statements: share,
            nesting: shape.nesting,
        };
        let locks = if locks > 0 && writer.rng.percent(25) {
            (0..writer.rng.between(1, 2)).map(|depth| writer.lock(depth)).collect()
        } else {
            Vec::new()
        };
        let mut body = writer.block(0);
        if position + 1 < functions && rng.percent(90) {
            insert(rng, &mut body, Statement::Call(position + 1));
        }
        process.functions.push(Function { locks, body });
    }
    process
}

/// Puts a statement somewhere into a block or into one of its inner blocks.
fn insert(rng: &mut Rng, block: &mut Block, statement: Statement) {
    let mut inner: Vec<&mut Block> = block
        .iter_mut()
        .filter_map(|other| match other {
            Statement::Unit(body)
            | Statement::Synchronized(_, body)
            | Statement::If(body, _)
            | Statement::While(body) => Some(body),
            _ => None,
        })
        .collect();
    if !inner.is_empty() && rng.percent(60) {
        let position = rng.below(inner.len());
        insert(rng, inner[position], statement);
    } else {
        let position = rng.below(block.len() + 1);
        block.insert(position, statement);
    }
}

struct Writer<'a> {
    rng: &'a mut Rng,
    locks: usize,
    /// The two locks that this process mostly takes.
    preferred: Option<[usize; 2]>,
    locations: usize,
    /// How many functions the process has.
    functions: usize,
    /// The function that is written.
    position: usize,
    /// How many statements it may still have.
    statements: usize,
    nesting: usize,
}

impl Writer<'_> {
    fn block(&mut self, depth: usize) -> Block {
        let mut block = Vec::new();
        // The outermost block uses up what is left; the others stop somewhere.
        while self.statements > 0 && (depth == 0 || block.is_empty() || self.rng.percent(85)) {
            let statement = self.statement(depth);
            let is_return = statement == Statement::Return;
            block.push(statement);
            if is_return && self.rng.percent(80) {
                break; // Otherwise dead code follows.
            }
        }
        block
    }

    fn statement(&mut self, depth: usize) -> Statement {
        self.statements -= 1;
        let inner = depth < self.nesting && self.statements > 0;
        let block = |weight: usize| if inner { weight } else { 0 };
        let weight = |units: usize, locks: usize| match self.preferred {
            None => units,
            Some(_) => locks,
        };
        let weights = [
            2,                                                             // skip
            weight(26, 12),                                                // read
            weight(26, 8),                                                 // write
            block(weight(if depth == 0 { 60 } else { 6 }, 2)),             // unit
            if self.locks > 0 { block(weight(18, 60)) } else { 0 },        // synchronized
            block(7),                                                      // if
            block(4),                                                      // while
            if self.functions > 1 { weight(12, 5) } else { weight(1, 0) }, // call
            if depth == 0 { 0 } else { weight(3, 2) },                     // return
        ];
        match self.rng.weighted(&weights) {
            0 => Statement::Skip,
            1 => Statement::Read(self.rng.below(self.locations)),
            2 => Statement::Write(self.rng.below(self.locations)),
            3 => Statement::Unit(self.block(depth + 1)),
            4 => Statement::Synchronized(self.lock(depth), self.block(depth + 1)),
            5 => {
                let first = self.block(depth + 1);
                let second = if self.rng.percent(40) { self.block(depth + 1) } else { Vec::new() };
                Statement::If(first, second)
            }
            6 => Statement::While(self.block(depth + 1)),
            7 => self.call(),
            _ => Statement::Return,
        }
    }

    /// A lock for a block at this depth.
    fn lock(&mut self, depth: usize) -> usize {
        match self.preferred {
            Some(locks) if self.rng.percent(60) => locks[depth % 2],
            _ => self.rng.below(self.locks),
        }
    }

    /// Mostly a call of a later function. A recursive call is one of two branches in most cases, for
    /// a function that always calls itself never does anything else.
    fn call(&mut self) -> Statement {
        let later = self.position + 1..self.functions;
        if !later.is_empty() && self.rng.percent(75) {
            return Statement::Call(self.rng.between(later.start, later.end - 1));
        }
        let call = Statement::Call(self.rng.below(self.functions));
        if self.rng.percent(85) { Statement::If(vec![call], Vec::new()) } else { call }
    }
}
