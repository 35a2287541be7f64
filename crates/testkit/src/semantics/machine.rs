//! # Idea
//! What the threads of a program can do from a state, read off the book's pages. An evaluation is done
//! again from its beginning in each of its steps, with a log of what it has read and chosen before; so a
//! statement that takes several steps needs no code for its middle.
//!
//! # Source
//! The book: *EML*, `What is a step`, `What fails`, `Annotations`, `Copies, starts and joins`;
//! *Channels*; *Semantics*, `EML`, `Data`. Every rule names its heading. Neither the replayer nor an
//! engine was read for it.
//!
//! # Requires
//! `return` does not stand in an atomic block, channels and waits are not used in one; the generator
//! does not make such programs.

#![expect(
    clippy::cast_possible_wrap,
    clippy::cast_possible_truncation,
    reason = "all numbers of a program are small"
)]

mod moments;

use super::code::{Code, Operation, code, constant};
use super::print::Printed;
use super::syntax::{
    Annotation, ChannelStatement, Copies, Expression, First, LockReference, LockStatement,
    Operator, Place, Right, Source, Type,
};
use std::collections::{BTreeSet, HashSet};

/// No thread.
pub(super) const NOBODY: i32 = -1;

/// How many frames a thread may have; a run that needs more is not followed.
const MOST_FRAMES: usize = 5;

/// How often a thread may hold a lock; a run that needs more is not followed.
const MOST_HOLDS: u8 = 8;

/// How many states a way through an atomic section may have.
const MOST_INSIDE: usize = 400;

/// A lock, how often it was held, whether the thread is in the wait set still, and the condition if it is no
/// default one; nothing for a thread that waits nowhere.
type Waiting = Option<(u8, u8, bool, Option<u8>)>;

/// The state of a program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// The values of all shared variables, element by element.
    pub globals: Vec<i32>,
    /// Who holds each lock, and how often.
    pub locks: Vec<(i32, u8)>,
    /// The threads.
    pub threads: Vec<ThreadState>,
}

/// Whether a thread has begun or ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Status {
    /// It was not started.
    Waits,
    /// It can take steps.
    Runs,
    /// It has returned from its main.
    Ended,
}

/// The state of a thread.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ThreadState {
    /// Whether it has begun or ended.
    pub status: Status,
    /// The variables of its process.
    own: Vec<i32>,
    /// Its open functions, the outermost first.
    frames: Vec<Frame>,
    /// The lock whose wait set it has joined, how often it held it, and whether it is in the set still.
    waiting: Waiting,
    /// How many units it is in.
    units: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Mode {
    /// Before the entry, or in the middle of its evaluation.
    Normal,
    /// In a call.
    Calls,
    /// With a value in the log that is to be stored.
    Stores,
    /// On the way out of the function.
    Leaves,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Scope {
    Unit,
    Lock(u8),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Frame {
    function: usize,
    at: usize,
    mode: Mode,
    locals: Vec<i32>,
    log: Vec<i32>,
    scopes: Vec<Scope>,
}

/// How a step fails; the book's page on EML, *What fails*.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "each is the kind of its name")]
pub enum FailureWord {
    Assertion,
    Invariant,
    Range,
    Index,
    Division,
    Release,
    Monitor,
    Annotation,
}

impl FailureWord {
    /// The word of the table.
    pub fn word(self) -> &'static str {
        match self {
            Self::Assertion => "assertion",
            Self::Invariant => "invariant",
            Self::Range => "range",
            Self::Index => "index",
            Self::Division => "division",
            Self::Release => "release",
            Self::Monitor => "monitor",
            Self::Annotation => "annotation",
        }
    }
}

/// A failure with the line of its statement.
pub type Failure = (FailureWord, u32);

/// What a step does that others can name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Event {
    /// A location is read.
    Read(usize),
    /// A location is written.
    Write(usize),
    /// An outermost unit begins.
    Begin,
    /// An outermost unit ends.
    End,
    /// A lock changes from free to held.
    Acquire(usize),
    /// A lock changes from held to free.
    Release(usize),
    /// A function of the thread is called.
    Call(usize),
    /// A function of the thread is left, for its caller or for good.
    Return(usize),
    /// A thread is started.
    Start(usize),
    /// A thread is found to have ended.
    Join(usize),
    /// A channel is used; `recv` is nothing that a step does by itself.
    Channel(ChannelStatement, usize),
    /// Another thread receives.
    Received(usize),
}

/// What a thread can do.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    /// The states behind its steps, with their events.
    pub next: Vec<(State, Vec<Event>)>,
    /// The failures of its steps.
    pub fails: BTreeSet<Failure>,
    /// The failures that come together with others, in one step with the same values.
    pub together: BTreeSet<Vec<Failure>>,
    /// Labels that are met inside an atomic section.
    pub labels: BTreeSet<usize>,
    /// Whether a step was not followed for its size.
    pub cut: bool,
}

/// Why an evaluation stops.
enum Stop {
    Read(usize),
    Choice(i64, i64),
    Any(Type),
    Fails(FailureWord),
    /// What was chosen or decided is a step of its own before the next access.
    Pause(Vec<i32>),
}

/// A program, ready to be executed.
#[derive(Clone, Debug)]
pub struct Machine<'s> {
    source: &'s Source,
    printed: Printed,
    code: Vec<Vec<Code>>,
    /// The process and the index of each thread.
    pub threads: Vec<(usize, usize)>,
    /// Where the elements of each shared variable begin.
    cells: Vec<usize>,
    /// The variable of each element.
    variable_of: Vec<usize>,
    /// Where the elements of each lock begin.
    holds: Vec<usize>,
    spurious: bool,
}

/// What an evaluation sees.
struct Sight<'a> {
    state: &'a State,
    thread: usize,
    log: &'a [i32],
    used: usize,
    /// Whether shared variables are read at once, in one step.
    instant: bool,
    /// Whether reads are those of a condition that belongs to no thread.
    unchecked: bool,
    /// What was read at once.
    reads: Vec<usize>,
    /// How many indices are being evaluated, one inside of the other.
    indices: usize,
    /// How the computation fails, which belongs to the step of the last read.
    fails: Option<FailureWord>,
}

impl<'s> Machine<'s> {
    /// A program in which a process of any number of copies has so many.
    pub fn new(source: &'s Source, printed: Printed, copies: usize, spurious: bool) -> Self {
        let mut threads = Vec::new();
        for (at, process) in source.processes.iter().enumerate() {
            let number = match process.copies {
                Copies::One => 1,
                Copies::Many(number) => number,
                Copies::Any => copies,
            };
            threads.extend((0..number).map(|copy| (at, copy)));
        }
        let mut cells = Vec::new();
        let mut variable_of = Vec::new();
        for (at, global) in source.globals.iter().enumerate() {
            cells.push(variable_of.len());
            variable_of.extend(vec![at; global.length.unwrap_or(1)]);
        }
        let mut holds = Vec::new();
        let mut number = 0;
        for lock in &source.locks {
            holds.push(number);
            number += lock.length.unwrap_or(1);
        }
        holds.push(number);
        let processes = source.processes.iter();
        let code = processes.map(|process| process.functions.iter().map(code).collect()).collect();
        Self { source, printed, code, threads, cells, variable_of, holds, spurious }
    }

    /// The states in which a run can begin: *Data*, `Types and first values`.
    pub fn initial(&self) -> Vec<State> {
        let mut globals = vec![Vec::new()];
        for global in &self.source.globals {
            let values = self.first(global.kind, global.first, 0);
            for _ in 0..global.length.unwrap_or(1) {
                globals = combine(globals, &values);
            }
        }
        let mut states: Vec<State> = globals
            .into_iter()
            .map(|globals| State {
                globals,
                locks: vec![(NOBODY, 0); self.holds[self.source.locks.len()]],
                threads: Vec::new(),
            })
            .collect();
        for &(process, copy) in &self.threads {
            let declared = &self.source.processes[process];
            let mut owns = vec![Vec::new()];
            for variable in &declared.variables {
                owns = combine(owns, &self.first(variable.kind, variable.first, copy));
            }
            let mut more = Vec::new();
            for state in states {
                for own in &owns {
                    let mut state = state.clone();
                    let status = if declared.waits { Status::Waits } else { Status::Runs };
                    state.threads.push(ThreadState {
                        status,
                        own: own.clone(),
                        frames: vec![self.frame(process, 0)],
                        waiting: None,
                        units: 0,
                    });
                    more.push(state);
                }
            }
            states = more;
        }
        for state in &mut states {
            for thread in 0..self.threads.len() {
                self.settle(state, thread);
            }
        }
        states
    }

    /// The invariants that are false at first: *Data*, rule 9. A run goes on behind that.
    pub fn broken_at_first(&self, state: &State) -> BTreeSet<Failure> {
        let all: Vec<usize> = (0..self.variable_of.len()).collect();
        let broken = self.broken_invariants(state, &all);
        broken.into_iter().map(|at| (FailureWord::Invariant, self.printed.invariants[at])).collect()
    }

    fn first(&self, kind: Type, first: First, copy: usize) -> Vec<i32> {
        match first {
            First::Default => vec![default(kind)],
            First::Value(value) => vec![value as i32],
            First::Own => vec![copy as i32],
            First::Any => self.values(kind),
        }
    }

    /// All values of a type.
    fn values(&self, kind: Type) -> Vec<i32> {
        match kind {
            Type::Bool => vec![0, 1],
            Type::Range(low, high) => (low as i32..=high as i32).collect(),
            Type::Modulo(modulus) => (0..modulus as i32).collect(),
            Type::Enumeration => vec![0, 1, 2],
            Type::Thread => (NOBODY..self.threads.len() as i32).collect(),
        }
    }

    fn frame(&self, process: usize, function: usize) -> Frame {
        let declared = &self.source.processes[process].functions[function];
        let locals = declared.locals.iter().map(|&kind| default(kind)).collect();
        Frame { function, at: 0, mode: Mode::Normal, locals, log: Vec::new(), scopes: Vec::new() }
    }

    fn operation(&self, thread: usize, frame: &Frame) -> (&Operation, Option<usize>) {
        let (operation, site) =
            &self.code[self.threads[thread].0][frame.function].operations[frame.at];
        (operation, *site)
    }

    /// The labels at which a thread stands, before anything of the statement has happened.
    pub fn labels(&self, state: &State, thread: usize) -> &[usize] {
        let running = &state.threads[thread];
        match running.frames.last() {
            Some(frame)
                if running.status == Status::Runs
                    && running.waiting.is_none()
                    && frame.mode == Mode::Normal
                    && frame.log.is_empty() =>
            {
                &self.code[self.threads[thread].0][frame.function].labels[frame.at]
            }
            _ => &[],
        }
    }

    fn line(&self, thread: usize, frame: &Frame, site: Option<usize>) -> u32 {
        let process = self.threads[thread].0;
        match site {
            // A block that is left by its own end has the line of that.
            Some(site) if matches!(self.operation(thread, frame).0, Operation::Leave) => {
                self.printed.closing[process][frame.function][site]
            }
            Some(site) => self.printed.statements[process][frame.function][site],
            None => match self.operation(thread, frame).0 {
                Operation::Enter(_) => self.printed.ends[process][frame.function].0,
                _ => self.printed.ends[process][frame.function].1,
            },
        }
    }

    /// What takes no step: jumps, and locals with a constant outside of loops. *What is a step*.
    fn settle(&self, state: &mut State, thread: usize) {
        let Some(frame) = state.threads[thread].frames.last_mut() else { return };
        loop {
            let code = &self.code[self.threads[thread].0][frame.function];
            match &code.operations[frame.at].0 {
                Operation::Jump(to) => frame.at = *to,
                Operation::Initial(local, first) => {
                    let kind = self.source.processes[self.threads[thread].0].functions
                        [frame.function]
                        .locals[*local];
                    frame.locals[*local] = match (first, kind) {
                        (None, _) => default(kind),
                        (Some(value), Type::Modulo(modulus)) => value.rem_euclid(modulus) as i32,
                        (Some(value), _) => *value as i32,
                    };
                    frame.at += 1;
                }
                _ => break,
            }
        }
    }

    /// Whether a thread is ready for a channel: *Channels*.
    fn ready(&self, state: &State, thread: usize, channel: usize) -> bool {
        let running = &state.threads[thread];
        running.status == Status::Runs
            && running.waiting.is_none()
            && running.frames.last().is_some_and(|frame| {
                frame.mode == Mode::Normal
                    && matches!(
                        self.operation(thread, frame).0,
                        Operation::Channel(ChannelStatement::Receive, own) if *own == channel
                    )
            })
    }

    /// What a thread can do from a state.
    pub fn steps(&self, state: &State, thread: usize) -> Steps {
        let mut steps = Steps::default();
        self.step(state, thread, false, &mut steps);
        steps
    }

    fn step(&self, state: &State, thread: usize, inside: bool, steps: &mut Steps) {
        let running = &state.threads[thread];
        if running.status != Status::Runs {
            return;
        }
        if let Some((lock, holds, in_set, _)) = running.waiting {
            // *Data*, rule 10.
            let free = state.locks[usize::from(lock)].0 == NOBODY;
            if free && (!in_set || self.spurious) {
                let mut next = state.clone();
                next.locks[usize::from(lock)] = (thread as i32, holds);
                next.threads[thread].waiting = None;
                self.forward(&mut next, thread);
                steps.next.push((next, Vec::new()));
            }
            return;
        }
        let frame = running.frames.last().expect("a thread that runs has a frame");
        let (operation, site) = self.operation(thread, frame);
        match frame.mode {
            Mode::Calls => unreachable!("the callee is on top"),
            Mode::Stores => {
                let value = i64::from(frame.log[0]);
                let (Operation::Call(Some(target), ..) | Operation::TryAcquire(target, _)) =
                    operation
                else {
                    unreachable!("something is stored")
                };
                let cell = match target {
                    Place::Global(at, None) => Ok(self.cells[*at]),
                    Place::Global(at, Some(index)) => {
                        let mut sight = Sight::new(state, thread, &[], true);
                        self.cell(*at, Some(index), &mut sight)
                    }
                    _ => unreachable!("what is local is stored at once"),
                };
                match cell {
                    Ok(cell) => {
                        let mut next = state.clone();
                        self.store(&mut next, thread, cell, Ok(value), site, steps);
                    }
                    Err(Stop::Fails(word)) => self.fail(state, thread, word, site, steps),
                    Err(_) => unreachable!("indices of targets of calls are local"),
                }
                return;
            }
            Mode::Leaves => return self.leave(state, thread, steps),
            Mode::Normal => {}
        }
        match operation {
            Operation::Skip | Operation::EndAtomic => {
                self.goes_on(state.clone(), thread, Vec::new(), steps);
            }
            Operation::Access(location, write) => {
                let location = self.variable_of.len() + location;
                let event = if *write { Event::Write(location) } else { Event::Read(location) };
                self.goes_on(state.clone(), thread, vec![event], steps);
            }
            Operation::Declare(local, first) => {
                let place = Place::Local(*local);
                if let Some(right) = first {
                    self.assign(state, thread, &place, right, site, steps);
                } else {
                    let kind = self.kind_of(thread, frame.function, &place);
                    let mut next = state.clone();
                    let top = next.threads[thread].frames.last_mut().expect("it is there");
                    top.locals[*local] = default(kind);
                    self.goes_on(next, thread, Vec::new(), steps);
                }
            }
            Operation::Assign(place, right) => {
                self.assign(state, thread, place, right, site, steps);
            }
            Operation::Branch(condition, other) => {
                let found = self.evaluate(state, thread, false, site, steps, |machine, sight| {
                    machine.right(condition, Type::Bool, sight)
                });
                for (truth, _, events) in found {
                    let mut next = state.clone();
                    if truth == 0 {
                        let top = next.threads[thread].frames.last_mut().expect("it is there");
                        top.log.clear();
                        top.at = *other;
                        self.settle(&mut next, thread);
                        steps.next.push((next, events));
                    } else {
                        self.goes_on(next, thread, events, steps);
                    }
                }
            }
            Operation::Assert(condition) => {
                // "`assert`, invariants and annotations are evaluated in one step without events."
                let found = self.instantly(state, thread, site, steps, |machine, sight| {
                    machine.value(condition, sight)
                });
                for (truth, _) in found {
                    if truth == 0 {
                        self.fail(state, thread, FailureWord::Assertion, site, steps);
                    } else {
                        self.goes_on(state.clone(), thread, Vec::new(), steps);
                    }
                }
            }
            Operation::Assume(condition) => {
                let found = self.instantly(state, thread, site, steps, |machine, sight| {
                    machine.value(condition, sight)
                });
                for (truth, events) in found {
                    if truth != 0 {
                        self.goes_on(state.clone(), thread, events, steps);
                    }
                }
            }
            Operation::Unit => {
                let mut next = state.clone();
                let units = &mut next.threads[thread].units;
                *units += 1;
                let events = if *units == 1 { vec![Event::Begin] } else { Vec::new() };
                let top = next.threads[thread].frames.last_mut().expect("it is there");
                top.scopes.push(Scope::Unit);
                self.goes_on(next, thread, events, steps);
            }
            Operation::Leave => {
                if let Some((mut next, events)) = self.leave_scope(state, thread, steps) {
                    self.forward(&mut next, thread);
                    steps.next.push((next, events));
                }
            }
            Operation::Enter(lock) | Operation::Lock(_, lock) | Operation::TryAcquire(_, lock) => {
                for lock in self.which_lock(state, thread, lock, site, steps) {
                    self.lock(state, thread, operation, lock, site, steps);
                }
            }
            Operation::Channel(what, channel) => {
                self.channel(state, thread, *what, *channel, steps);
            }
            Operation::Call(_, function, arguments) => {
                let process = self.threads[thread].0;
                for values in self.arguments(state, thread, arguments, site, steps) {
                    let Some(values) =
                        self.passed(state, thread, (process, *function), &values, site, steps)
                    else {
                        continue;
                    };
                    if running.frames.len() >= MOST_FRAMES {
                        steps.cut = true;
                        continue;
                    }
                    let mut next = state.clone();
                    let top = next.threads[thread].frames.last_mut().expect("it is there");
                    top.log.clear();
                    top.mode = Mode::Calls;
                    let mut callee = self.frame(process, *function);
                    callee.locals[..values.len()].copy_from_slice(&values);
                    next.threads[thread].frames.push(callee);
                    self.settle(&mut next, thread);
                    steps.next.push((next, vec![Event::Call(*function)]));
                }
            }
            Operation::Return(value) => {
                if let Some(value) = value {
                    // The reads are steps of their own; what they make is evaluated on the way to the
                    // caller.
                    let mut later = Steps::default();
                    let found =
                        self.evaluate(state, thread, true, site, &mut later, |machine, sight| {
                            machine.value(value, sight)
                        });
                    let ready = !found.is_empty() || !later.fails.is_empty();
                    steps.next.extend(later.next);
                    if !ready {
                        // An annotation of what is read does not wait.
                        return;
                    }
                    if frame.scopes.is_empty() {
                        return self.leave(state, thread, steps);
                    }
                    if found.is_empty()
                        && later.fails.iter().any(|one| one.0 == FailureWord::Annotation)
                    {
                        steps.fails.extend(later.fails);
                        return;
                    }
                }
                let mut next = state.clone();
                next.threads[thread].frames.last_mut().expect("it is there").mode = Mode::Leaves;
                if frame.scopes.is_empty() {
                    steps.next.push((next, Vec::new()));
                } else if let Some(left) = self.leave_scope(&next, thread, steps) {
                    steps.next.push(left);
                }
            }
            Operation::Exit => self.leave(state, thread, steps),
            Operation::Start(process, index, arguments) => {
                self.start(state, thread, *process, index.as_ref(), arguments, site, steps);
            }
            Operation::Join(process, index) => {
                for copy in self.which_copy(state, thread, *process, index.as_ref(), site, steps) {
                    let other = self.thread(*process, copy);
                    if state.threads[other].status == Status::Ended {
                        self.goes_on(state.clone(), thread, vec![Event::Join(other)], steps);
                    }
                }
            }
            Operation::Atomic(end) => {
                if inside {
                    self.goes_on(state.clone(), thread, Vec::new(), steps);
                } else {
                    self.atomic(state, thread, *end, steps);
                }
            }
            Operation::Jump(_) | Operation::Initial(..) => unreachable!("these take no step"),
        }
    }

    /// All ways through an atomic section: *What is a step*, "An `atomic` block is one step".
    fn atomic(&self, state: &State, thread: usize, end: usize, steps: &mut Steps) {
        let depth = state.threads[thread].frames.len();
        let mut first = state.clone();
        self.forward(&mut first, thread);
        let mut seen = HashSet::new();
        let mut open = vec![(first, Vec::new())];
        while let Some((at, events)) = open.pop() {
            let frames = &at.threads[thread].frames;
            let top = frames.last().expect("nobody returns from an atomic section");
            if frames.len() == depth && top.at == end && top.mode == Mode::Normal {
                let mut next = at;
                self.forward(&mut next, thread);
                steps.next.push((next, events));
                continue;
            }
            if !seen.insert((at.clone(), events.clone())) {
                continue;
            }
            if seen.len() > MOST_INSIDE {
                steps.cut = true;
                return;
            }
            steps.labels.extend(self.labels(&at, thread));
            let mut inner = Steps::default();
            self.step(&at, thread, true, &mut inner);
            steps.fails.extend(inner.fails);
            steps.together.extend(inner.together);
            steps.cut |= inner.cut;
            for (next, more) in inner.next {
                let mut events = events.clone();
                events.extend(more);
                open.push((next, events));
            }
        }
    }

    /// The step is taken, and the statement is behind the thread.
    fn goes_on(&self, mut next: State, thread: usize, events: Vec<Event>, steps: &mut Steps) {
        self.forward(&mut next, thread);
        steps.next.push((next, events));
    }

    fn forward(&self, state: &mut State, thread: usize) {
        let top = state.threads[thread].frames.last_mut().expect("it is there");
        top.log.clear();
        top.mode = Mode::Normal;
        top.at += 1;
        self.settle(state, thread);
    }

    fn fail(
        &self,
        state: &State,
        thread: usize,
        word: FailureWord,
        site: Option<usize>,
        steps: &mut Steps,
    ) {
        let frame = state.threads[thread].frames.last().expect("it is there");
        steps.fails.insert((word, self.line(thread, frame, site)));
    }

    /// Evaluates as far as one step goes. If `apart`, what is done with the values is a step behind the
    /// last read, else it belongs to it. Gives the values of those evaluations that are through.
    fn evaluate<T>(
        &self,
        state: &State,
        thread: usize,
        apart: bool,
        site: Option<usize>,
        steps: &mut Steps,
        what: impl Fn(&Self, &mut Sight<'_>) -> Result<T, Stop>,
    ) -> Vec<(T, Vec<i32>, Vec<Event>)> {
        let log = &state.threads[thread].frames.last().expect("it is there").log;
        let mut open = vec![(log.clone(), None)];
        let mut found = Vec::new();
        while let Some((log, read)) = open.pop() {
            let mut sight = Sight::new(state, thread, &log, false);
            let events: Vec<Event> = read.map(Event::Read).into_iter().collect();
            let mut pause = |log: Vec<i32>| {
                let mut next = state.clone();
                next.threads[thread].frames.last_mut().expect("it is there").log = log;
                steps.next.push((next, events.clone()));
            };
            let outcome = match (what(self, &mut sight), sight.fails) {
                (Ok(_), Some(word)) => Err(Stop::Fails(word)),
                (outcome, _) => outcome,
            };
            match outcome {
                // The computation belongs to what is done with the values.
                Ok(_) | Err(Stop::Fails(_)) if apart && read.is_some() => pause(log),
                Ok(value) => found.push((value, log, events)),
                Err(Stop::Read(_) | Stop::Pause(_)) if read.is_some() => pause(log),
                Err(Stop::Read(cell)) => {
                    if self.may_access(state, thread, cell) {
                        let mut log = log;
                        log.push(state.globals[cell]);
                        open.push((log, Some(cell)));
                    } else {
                        self.fail(state, thread, FailureWord::Annotation, site, steps);
                    }
                }
                Err(Stop::Pause(values)) => {
                    for value in values {
                        let mut log = log.clone();
                        log.push(value);
                        pause(log);
                    }
                }
                Err(stop) => {
                    if let Err(word) = self.fork(stop, &log, |log| open.push((log, read))) {
                        self.fail(state, thread, word, site, steps);
                    }
                }
            }
        }
        found
    }

    /// Evaluates in one step.
    fn instantly<T>(
        &self,
        state: &State,
        thread: usize,
        site: Option<usize>,
        steps: &mut Steps,
        what: impl Fn(&Self, &mut Sight<'_>) -> Result<T, Stop>,
    ) -> Vec<(T, Vec<Event>)> {
        let mut open = vec![Vec::new()];
        let mut found = Vec::new();
        while let Some(log) = open.pop() {
            let mut sight = Sight::new(state, thread, &log, true);
            match what(self, &mut sight) {
                Ok(value) => {
                    let reads = sight.reads.into_iter().map(Event::Read);
                    found.push((value, reads.collect()));
                }
                Err(stop) => {
                    if let Err(word) = self.fork(stop, &log, |log| open.push(log)) {
                        self.fail(state, thread, word, site, steps);
                    }
                }
            }
        }
        found
    }

    /// One log for each way of a choice.
    #[expect(clippy::needless_pass_by_value, reason = "a stop is seen to once")]
    fn fork(
        &self,
        stop: Stop,
        log: &[i32],
        mut open: impl FnMut(Vec<i32>),
    ) -> Result<(), FailureWord> {
        let values = match stop {
            Stop::Fails(word) => return Err(word),
            Stop::Choice(low, high) => (low as i32..=high as i32).collect(),
            Stop::Any(kind) => self.values(kind),
            Stop::Read(_) | Stop::Pause(_) => unreachable!("these are seen to before"),
        };
        for value in values {
            let mut log = log.to_vec();
            log.push(value);
            open(log);
        }
        Ok(())
    }

    fn kind_of(&self, thread: usize, function: usize, place: &Place) -> Type {
        let process = &self.source.processes[self.threads[thread].0];
        match place {
            Place::Global(at, _) => self.source.globals[*at].kind,
            Place::Own(at) => process.variables[*at].kind,
            Place::Local(at) => process.functions[function].locals[*at],
        }
    }

    /// *What is a step*: the index of the target, the operands from left to right, the write.
    fn assign(
        &self,
        state: &State,
        thread: usize,
        place: &Place,
        right: &Right,
        site: Option<usize>,
        steps: &mut Steps,
    ) {
        let frame = state.threads[thread].frames.last().expect("it is there");
        let kind = self.kind_of(thread, frame.function, place);
        let shared = matches!(place, Place::Global(..));
        let found = self.evaluate(state, thread, shared, site, steps, |machine, sight| {
            // The element is named by the write, behind the operands.
            let index = machine.target_index(place, sight)?;
            let value = machine.right(right, kind, sight)?;
            let cell = machine.target_cell(place, index)?;
            // A write whose value cannot be computed may fail in other ways, too.
            let fails = if shared { sight.fails.take() } else { None };
            Ok((cell, value, fails))
        });
        for ((cell, value, fails), _, events) in found {
            let mut next = state.clone();
            if shared {
                self.store(&mut next, thread, cell, fails.map_or(Ok(value), Err), site, steps);
            } else if let Some(value) = self.fitting(state, thread, kind, value, site, steps) {
                set_local(&mut next, thread, place, value);
                self.goes_on(next, thread, events, steps);
            }
        }
    }

    /// The value as a type stores it: *Types and first values*.
    fn fitting(
        &self,
        state: &State,
        thread: usize,
        kind: Type,
        value: i64,
        site: Option<usize>,
        steps: &mut Steps,
    ) -> Option<i32> {
        match kind {
            Type::Range(low, high) if !(low..=high).contains(&value) => {
                self.fail(state, thread, FailureWord::Range, site, steps);
                None
            }
            Type::Modulo(modulus) => Some(value.rem_euclid(modulus) as i32),
            _ => Some(value as i32),
        }
    }

    /// A write of a shared variable, with all that is said of it: *Annotations*, *Data*, rule 9.
    fn store(
        &self,
        next: &mut State,
        thread: usize,
        cell: usize,
        value: Result<i64, FailureWord>,
        site: Option<usize>,
        steps: &mut Steps,
    ) {
        let before = next.clone();
        let variable = self.variable_of[cell];
        let mut words = Vec::new();
        let value = match (value, self.source.globals[variable].kind) {
            (Err(word), _) => {
                words.push(word);
                0
            }
            (Ok(value), Type::Range(low, high)) if !(low..=high).contains(&value) => {
                words.push(FailureWord::Range);
                value
            }
            (Ok(value), Type::Modulo(modulus)) => value.rem_euclid(modulus),
            (Ok(value), _) => value,
        };
        let fits = words.is_empty();
        let allowed = self.may_access(&before, thread, cell);
        if fits {
            next.globals[cell] = value as i32;
        }
        if !allowed || fits && self.predicate_broken(&before, next, thread, variable) {
            words.push(FailureWord::Annotation);
        }
        if fits && !self.broken_invariants(next, &[cell]).is_empty() {
            words.push(FailureWord::Invariant);
        }
        let next = std::mem::replace(next, before);
        if words.is_empty() {
            return self.goes_on(next, thread, vec![Event::Write(cell)], steps);
        }
        let frame = next.threads[thread].frames.last().expect("it is there");
        let line = self.line(thread, frame, site);
        let failures: Vec<Failure> = words.into_iter().map(|word| (word, line)).collect();
        match failures.as_slice() {
            [one] => _ = steps.fails.insert(*one),
            _ => _ = steps.together.insert(failures),
        }
    }

    /// The invariants about one of these elements that are false.
    fn broken_invariants(&self, state: &State, written: &[usize]) -> Vec<usize> {
        let invariants = self.source.invariants.iter().enumerate();
        let broken = invariants.filter(|(_, invariant)| {
            let mut cells = BTreeSet::new();
            self.cells_of(invariant, &mut cells);
            let concerned = cells.is_empty() || written.iter().any(|one| cells.contains(one));
            concerned && self.condition(invariant, state, 0) == Some(false)
        });
        broken.map(|(at, _)| at).collect()
    }

    /// The elements that an expression speaks of: one where the index is a number, else all.
    fn cells_of(&self, expression: &Expression, cells: &mut BTreeSet<usize>) {
        match expression {
            Expression::Variable(Place::Global(at, index)) => match index.as_deref() {
                Some(Expression::Number(element)) => {
                    cells
                        .extend(usize::try_from(*element).map(|element| self.cells[*at] + element));
                }
                Some(index) => {
                    let length = self.source.globals[*at].length.unwrap_or(1);
                    cells.extend(self.cells[*at]..self.cells[*at] + length);
                    self.cells_of(index, cells);
                }
                None => _ = cells.insert(self.cells[*at]),
            },
            Expression::Not(inner) | Expression::Negative(inner) => self.cells_of(inner, cells),
            Expression::Binary(_, left, right) => {
                self.cells_of(left, cells);
                self.cells_of(right, cells);
            }
            _ => {}
        }
    }

    fn condition(&self, condition: &Expression, state: &State, thread: usize) -> Option<bool> {
        let mut sight = Sight::new(state, thread, &[], true);
        sight.unchecked = true;
        self.value(condition, &mut sight).ok().map(|value| value != 0)
    }

    /// Whether what is said to protect a variable does: *Annotations*.
    fn may_access(&self, state: &State, thread: usize, cell: usize) -> bool {
        let variable = self.variable_of[cell];
        let global = &self.source.globals[variable];
        let held = |lock: usize| state.locks[lock].0 == thread as i32;
        match &global.annotation {
            None => true,
            Some(Annotation::GuardedElement(lock, element)) => held(self.holds[*lock] + element),
            Some(Annotation::Guarded(lock)) => {
                let both = global.length.is_some() && self.source.locks[*lock].length.is_some();
                held(self.holds[*lock] + if both { cell - self.cells[variable] } else { 0 })
            }
            Some(Annotation::Exclusive(condition)) => {
                self.condition(condition, state, thread) == Some(true)
            }
        }
    }

    fn predicate_broken(
        &self,
        before: &State,
        after: &State,
        thread: usize,
        written: usize,
    ) -> bool {
        self.source.globals.iter().any(|global| {
            let Some(Annotation::Exclusive(condition)) = &global.annotation else { return false };
            let mut names = BTreeSet::new();
            variables(condition, &mut names);
            if !names.contains(&written) {
                return false;
            }
            let of = |state: &State, other: usize| self.condition(condition, state, other);
            let all = 0..self.threads.len();
            let number = all.clone().filter(|&other| of(after, other) == Some(true)).count();
            let changed = |other: usize| other != thread && of(before, other) != of(after, other);
            number > 1 || all.clone().any(changed)
        })
    }

    /// The locks that a reference can mean; reads of the index are steps before.
    fn which_lock(
        &self,
        state: &State,
        thread: usize,
        lock: &LockReference,
        site: Option<usize>,
        steps: &mut Steps,
    ) -> Vec<usize> {
        let base = self.holds[lock.lock];
        let Some(index) = &lock.index else { return vec![base] };
        let length = self.holds[lock.lock + 1] - base;
        let found = self.evaluate(state, thread, true, site, steps, |machine, sight| {
            machine.element(index, length, sight)
        });
        found.into_iter().map(|(at, ..)| base + at).collect()
    }

    fn lock(
        &self,
        state: &State,
        thread: usize,
        operation: &Operation,
        lock: usize,
        site: Option<usize>,
        steps: &mut Steps,
    ) {
        let (owner, count) = state.locks[lock];
        let owns = owner == thread as i32;
        let declaration = self.holds.partition_point(|&base| base <= lock) - 1;
        let available = owner == NOBODY || owns && !self.source.locks[declaration].mutex;
        let takes = !matches!(
            operation,
            Operation::Lock(
                LockStatement::Release
                    | LockStatement::Wait
                    | LockStatement::Notify
                    | LockStatement::NotifyAll,
                _
            )
        );
        if takes && available && count >= MOST_HOLDS {
            steps.cut = true;
            return;
        }
        let mut next = state.clone();
        let taken = |next: &mut State| {
            next.locks[lock] = (thread as i32, count + 1);
            if count == 0 { vec![Event::Acquire(lock)] } else { Vec::new() }
        };
        match operation {
            Operation::Enter(_) if available => {
                let events = taken(&mut next);
                let top = next.threads[thread].frames.last_mut().expect("it is there");
                top.scopes.push(Scope::Lock(lock as u8));
                self.goes_on(next, thread, events, steps);
            }
            Operation::Lock(LockStatement::Acquire, _) if available => {
                let events = taken(&mut next);
                self.goes_on(next, thread, events, steps);
            }
            Operation::TryAcquire(target, _) => {
                let events = if available { taken(&mut next) } else { Vec::new() };
                self.result(next, thread, target, i64::from(available), events, site, steps);
            }
            Operation::Lock(LockStatement::Release, _) => match release(&mut next, thread, lock) {
                Some(events) => self.goes_on(next, thread, events, steps),
                None => self.fail(state, thread, FailureWord::Release, site, steps),
            },
            Operation::Lock(
                LockStatement::Wait | LockStatement::Notify | LockStatement::NotifyAll,
                _,
            ) if !owns => self.fail(state, thread, FailureWord::Monitor, site, steps),
            Operation::Lock(LockStatement::Wait, set) => {
                next.locks[lock] = (NOBODY, 0);
                let condition = set.condition.map(|condition| condition as u8);
                next.threads[thread].waiting = Some((lock as u8, count, true, condition));
                let top = next.threads[thread].frames.last_mut().expect("it is there");
                top.log.clear();
                steps.next.push((next, Vec::new()));
            }
            Operation::Lock(what @ (LockStatement::Notify | LockStatement::NotifyAll), set) => {
                let condition = set.condition.map(|condition| condition as u8);
                let member = |&other: &usize| matches!(state.threads[other].waiting, Some((of, _, true, at)) if usize::from(of) == lock && at == condition);
                let members: Vec<usize> = (0..self.threads.len()).filter(member).collect();
                let mut remove = |removed: &[usize]| {
                    let mut next = state.clone();
                    for &other in removed {
                        if let Some(waiting) = &mut next.threads[other].waiting {
                            waiting.2 = false;
                        }
                    }
                    self.goes_on(next, thread, Vec::new(), steps);
                };
                if *what == LockStatement::NotifyAll || members.is_empty() {
                    remove(&members);
                } else {
                    for &one in &members {
                        remove(&[one]);
                    }
                }
            }
            _ => {}
        }
    }

    /// A result goes to its variable: at once if that is local, else in a step of its own.
    #[expect(clippy::too_many_arguments, reason = "a step and where it stands")]
    fn result(
        &self,
        mut next: State,
        thread: usize,
        target: &Place,
        value: i64,
        events: Vec<Event>,
        site: Option<usize>,
        steps: &mut Steps,
    ) {
        let function = next.threads[thread].frames.last().expect("it is there").function;
        if matches!(target, Place::Global(..)) {
            let top = next.threads[thread].frames.last_mut().expect("it is there");
            top.log = vec![value as i32];
            top.mode = Mode::Stores;
            steps.next.push((next, events));
            return;
        }
        let kind = self.kind_of(thread, function, target);
        if let Some(value) = self.fitting(&next, thread, kind, value, site, steps) {
            set_local(&mut next, thread, target, value);
            self.goes_on(next, thread, events, steps);
        }
    }

    /// The innermost unit or `synchronized` block ends.
    fn leave_scope(
        &self,
        state: &State,
        thread: usize,
        steps: &mut Steps,
    ) -> Option<(State, Vec<Event>)> {
        let mut next = state.clone();
        let top = next.threads[thread].frames.last_mut().expect("it is there");
        let site = self.operation(thread, top).1;
        match top.scopes.pop().expect("it is in one") {
            Scope::Unit => {
                let units = &mut next.threads[thread].units;
                *units -= 1;
                let events = if *units == 0 { vec![Event::End] } else { Vec::new() };
                Some((next, events))
            }
            Scope::Lock(lock) => {
                let Some(events) = release(&mut next, thread, usize::from(lock)) else {
                    self.fail(state, thread, FailureWord::Release, site, steps);
                    return None;
                };
                Some((next, events))
            }
        }
    }

    /// On the way out of a function: each block a step, then the way to the caller one.
    fn leave(&self, state: &State, thread: usize, steps: &mut Steps) {
        let frame = state.threads[thread].frames.last().expect("it is there");
        if !frame.scopes.is_empty() {
            let left = self.leave_scope(state, thread, steps);
            steps.next.extend(left);
            return;
        }
        let (operation, site) = self.operation(thread, frame);
        let process = self.threads[thread].0;
        let result = self.source.processes[process].functions[frame.function].result;
        let values: Vec<(Option<i32>, Vec<Event>)> = match (operation, result) {
            (Operation::Return(Some(value)), Some(kind)) => {
                let found = self.evaluate(state, thread, false, site, steps, |machine, sight| {
                    machine.value(value, sight)
                });
                let mut values = Vec::new();
                for (value, _, events) in found {
                    let value = self.fitting(state, thread, kind, value, site, steps);
                    values.extend(value.map(|value| (Some(value), events)));
                }
                values
            }
            // *Data*, rule 3.
            (_, Some(kind)) => {
                self.values(kind).into_iter().map(|value| (Some(value), Vec::new())).collect()
            }
            (_, None) => vec![(None, Vec::new())],
        };
        let event = Event::Return(frame.function);
        for (value, mut events) in values {
            events.push(event);
            let mut next = state.clone();
            next.threads[thread].frames.pop();
            if next.threads[thread].frames.is_empty() {
                next.threads[thread].status = Status::Ended;
                steps.next.push((next, events));
                continue;
            }
            let caller = next.threads[thread].frames.last().expect("it is there");
            let (operation, back) = self.operation(thread, caller);
            match (operation, value) {
                (Operation::Call(Some(target), ..), Some(value)) => {
                    let target = target.clone();
                    // A result that does not fit into a variable of the thread fails at the `return`.
                    let own = !matches!(target, Place::Global(..));
                    let kind = self.kind_of(thread, caller.function, &target);
                    let mut fits = |value| self.fitting(state, thread, kind, value, site, steps);
                    if own && fits(i64::from(value)).is_none() {
                        continue;
                    }
                    let site = back;
                    self.result(next, thread, &target, i64::from(value), events, site, steps);
                }
                _ => self.goes_on(next, thread, events, steps),
            }
        }
    }

    fn arguments(
        &self,
        state: &State,
        thread: usize,
        arguments: &[Expression],
        site: Option<usize>,
        steps: &mut Steps,
    ) -> Vec<Vec<i64>> {
        let found = self.evaluate(state, thread, true, site, steps, |machine, sight| {
            arguments.iter().map(|one| machine.value(one, sight)).collect::<Result<Vec<_>, _>>()
        });
        found.into_iter().map(|(values, ..)| values).collect()
    }

    /// The arguments as the parameters store them.
    fn passed(
        &self,
        state: &State,
        thread: usize,
        (process, function): (usize, usize),
        values: &[i64],
        site: Option<usize>,
        steps: &mut Steps,
    ) -> Option<Vec<i32>> {
        let declared = &self.source.processes[process].functions[function];
        let pairs = values.iter().zip(&declared.locals);
        pairs.map(|(&value, &kind)| self.fitting(state, thread, kind, value, site, steps)).collect()
    }

    /// The thread of a process with this index.
    pub fn thread(&self, process: usize, copy: usize) -> usize {
        let known = self.threads.iter().position(|&own| own == (process, copy));
        known.expect("the index is within the copies")
    }

    fn which_copy(
        &self,
        state: &State,
        thread: usize,
        process: usize,
        index: Option<&Expression>,
        site: Option<usize>,
        steps: &mut Steps,
    ) -> Vec<usize> {
        let Some(index) = index else { return vec![0] };
        let number = self.threads.iter().filter(|own| own.0 == process).count();
        let found = self.evaluate(state, thread, true, site, steps, |machine, sight| {
            machine.element(index, number, sight)
        });
        found.into_iter().map(|(copy, ..)| copy).collect()
    }

    /// *Copies, starts and joins*; *Data*, rule 5.
    #[expect(clippy::too_many_arguments, reason = "a step and where it stands")]
    fn start(
        &self,
        state: &State,
        thread: usize,
        process: usize,
        index: Option<&Expression>,
        arguments: &[Expression],
        site: Option<usize>,
        steps: &mut Steps,
    ) {
        let number = self.threads.iter().filter(|own| own.0 == process).count();
        let found = self.evaluate(state, thread, true, site, steps, |machine, sight| {
            let copy = match index {
                Some(index) => machine.element(index, number, sight)?,
                None => 0,
            };
            let values = arguments.iter().map(|one| machine.value(one, sight));
            Ok((copy, values.collect::<Result<Vec<_>, _>>()?))
        });
        for ((copy, values), ..) in found {
            let passed = self.passed(state, thread, (process, 0), &values, site, steps);
            let Some(values) = passed else { continue };
            let waits = |other: &usize| state.threads[*other].status == Status::Waits;
            let any = self.source.processes[process].copies == Copies::Any;
            let copies = if any { 0..number } else { copy..copy + 1 };
            for other in copies.map(|copy| self.thread(process, copy)).filter(waits) {
                let mut next = state.clone();
                next.threads[other].status = Status::Runs;
                next.threads[other].frames[0].locals[..values.len()].copy_from_slice(&values);
                self.goes_on(next, thread, vec![Event::Start(other)], steps);
            }
            // "A process `P[*]` is any number of threads": it starts one that nothing is asked about.
            if any {
                self.goes_on(state.clone(), thread, Vec::new(), steps);
            }
        }
    }

    /// *Channels*.
    fn channel(
        &self,
        state: &State,
        thread: usize,
        what: ChannelStatement,
        channel: usize,
        steps: &mut Steps,
    ) {
        let others = (0..self.threads.len()).filter(|&other| other != thread);
        let ready: Vec<usize> = others.filter(|&other| self.ready(state, other, channel)).collect();
        let mut with = |receivers: &[usize]| {
            let mut next = state.clone();
            let mut events = vec![Event::Channel(what, channel)];
            for &other in receivers {
                self.forward(&mut next, other);
                events.push(Event::Received(other));
            }
            self.goes_on(next, thread, events, steps);
        };
        match what {
            ChannelStatement::Receive => {}
            ChannelStatement::Broadcast => with(&ready),
            ChannelStatement::Post if ready.is_empty() => with(&[]),
            ChannelStatement::Send | ChannelStatement::Post => {
                for &one in &ready {
                    with(&[one]);
                }
            }
        }
    }

    fn right(&self, right: &Right, kind: Type, sight: &mut Sight<'_>) -> Result<i64, Stop> {
        match right {
            Right::Expression(expression) => self.value(expression, sight),
            Right::Any => match sight.logged() {
                Some(value) => Ok(i64::from(value)),
                None => Err(Stop::Any(kind)),
            },
        }
    }

    fn cell(
        &self,
        variable: usize,
        index: Option<&Expression>,
        sight: &mut Sight<'_>,
    ) -> Result<usize, Stop> {
        let length = self.source.globals[variable].length.unwrap_or(1);
        match index {
            None => Ok(self.cells[variable]),
            Some(index) => {
                // "A free choice in an index is a step before the access."
                sight.indices += 1;
                let element = self.element(index, length, sight);
                sight.indices -= 1;
                Ok(self.cells[variable] + element?)
            }
        }
    }

    /// The index of the target of an assignment, whether or not there is such an element.
    fn target_index(&self, place: &Place, sight: &mut Sight<'_>) -> Result<i64, Stop> {
        let Place::Global(_, Some(index)) = place else { return Ok(0) };
        sight.indices += 1;
        let index = self.index(index, sight);
        sight.indices -= 1;
        index
    }

    /// An index, which is computed before it names something.
    fn index(&self, index: &Expression, sight: &mut Sight<'_>) -> Result<i64, Stop> {
        let before = sight.fails.take();
        let index = self.value(index, sight);
        sight.fails.map_or(Ok(()), |word| Err(Stop::Fails(word)))?;
        sight.fails = before;
        index
    }

    /// The target with this index; what belongs to the thread has none.
    fn target_cell(&self, place: &Place, index: i64) -> Result<usize, Stop> {
        let Place::Global(at, _) = place else { return Ok(0) };
        let length = self.source.globals[*at].length.unwrap_or(1);
        Ok(self.cells[*at] + within(index, length)?)
    }

    fn element(
        &self,
        index: &Expression,
        length: usize,
        sight: &mut Sight<'_>,
    ) -> Result<usize, Stop> {
        within(self.index(index, sight)?, length)
    }

    /// *Expressions*; *Data*, rules 1 and 8.
    fn value(&self, expression: &Expression, sight: &mut Sight<'_>) -> Result<i64, Stop> {
        Ok(match expression {
            Expression::Number(number) => *number,
            Expression::Truth(truth) => i64::from(*truth),
            Expression::Enumerator(which) => *which,
            Expression::Nobody => i64::from(NOBODY),
            Expression::Me => sight.thread as i64,
            Expression::Index => self.threads[sight.thread].1 as i64,
            Expression::Variable(Place::Local(at)) => {
                let top = sight.state.threads[sight.thread].frames.last().expect("it runs");
                i64::from(top.locals[*at])
            }
            Expression::Variable(Place::Own(at)) => {
                i64::from(sight.state.threads[sight.thread].own[*at])
            }
            Expression::Variable(Place::Global(at, index)) => {
                let cell = self.cell(*at, index.as_deref(), sight)?;
                if sight.instant {
                    sight.reads.push(cell);
                    if !sight.unchecked && !self.may_access(sight.state, sight.thread, cell) {
                        return Err(Stop::Fails(FailureWord::Annotation));
                    }
                    i64::from(sight.state.globals[cell])
                } else {
                    i64::from(sight.logged().ok_or(Stop::Read(cell))?)
                }
            }
            Expression::Not(inner) => i64::from(self.value(inner, sight)? == 0),
            Expression::Negative(inner) => -self.value(inner, sight)?,
            Expression::Choose(low, high) => match sight.logged() {
                Some(value) => i64::from(value),
                None if sight.indices > 0 && !sight.instant => {
                    return Err(Stop::Pause((*low as i32..=*high as i32).collect()));
                }
                None => return Err(Stop::Choice(*low, *high)),
            },
            Expression::Binary(operator, first, right) => {
                let left = self.value(first, sight)?;
                // What decides whether to read is computed before.
                let decides = matches!(operator, Operator::And | Operator::Or | Operator::Implies);
                if decides && reads(right) {
                    sight.fails.map_or(Ok(()), |word| Err(Stop::Fails(word)))?;
                }
                let decided = match (operator, left) {
                    (Operator::And, 0) => Some(0),
                    (Operator::Or, 1) | (Operator::Implies, 0) => Some(1),
                    _ => None,
                };
                if let Some(value) = decided {
                    // "So is the left operand where it is local, decides, and the right one would read."
                    let local = !reads(first) && constant(first).is_none();
                    let apart = !sight.instant && local && reads(right);
                    if apart && sight.logged().is_none() {
                        return Err(Stop::Pause(vec![0]));
                    }
                    return Ok(value);
                }
                let right = self.value(right, sight)?;
                match operator.apply(left, right) {
                    Some(value) => value,
                    None if sight.instant => return Err(Stop::Fails(FailureWord::Division)),
                    None => {
                        sight.fails = Some(FailureWord::Division);
                        0
                    }
                }
            }
        })
    }
}

impl<'a> Sight<'a> {
    fn new(state: &'a State, thread: usize, log: &'a [i32], instant: bool) -> Self {
        Self {
            state,
            thread,
            log,
            used: 0,
            instant,
            unchecked: false,
            reads: Vec::new(),
            indices: 0,
            fails: None,
        }
    }

    fn logged(&mut self) -> Option<i32> {
        let value = self.log.get(self.used).copied();
        self.used += 1;
        value
    }
}

/// The value that a variable of a type starts with: *Types and first values*.
fn default(kind: Type) -> i32 {
    match kind {
        Type::Range(low, high) if !(low..=high).contains(&0) => low as i32,
        Type::Thread => NOBODY,
        _ => 0,
    }
}

fn combine(lists: Vec<Vec<i32>>, values: &[i32]) -> Vec<Vec<i32>> {
    let mut combined = Vec::new();
    for list in lists {
        for &value in values {
            let mut longer = list.clone();
            longer.push(value);
            combined.push(longer);
        }
    }
    combined
}

fn within(index: i64, length: usize) -> Result<usize, Stop> {
    let index = usize::try_from(index).ok().filter(|&index| index < length);
    index.ok_or(Stop::Fails(FailureWord::Index))
}

fn set_local(state: &mut State, thread: usize, place: &Place, value: i32) {
    let running = &mut state.threads[thread];
    match place {
        Place::Own(at) => running.own[*at] = value,
        Place::Local(at) => {
            running.frames.last_mut().expect("it is there").locals[*at] = value;
        }
        Place::Global(..) => unreachable!("what is shared is stored in a step of its own"),
    }
}

/// *Data*, rule 10: a release by a thread that does not own the lock fails.
fn release(state: &mut State, thread: usize, lock: usize) -> Option<Vec<Event>> {
    let (owner, count) = &mut state.locks[lock];
    if *owner != thread as i32 {
        return None;
    }
    *count -= 1;
    if *count > 0 {
        return Some(Vec::new());
    }
    *owner = NOBODY;
    Some(vec![Event::Release(lock)])
}

/// Whether an expression reads what is shared.
fn reads(expression: &Expression) -> bool {
    let mut names = BTreeSet::new();
    variables(expression, &mut names);
    !names.is_empty()
}

fn variables(expression: &Expression, names: &mut BTreeSet<usize>) {
    match expression {
        Expression::Variable(Place::Global(at, index)) => {
            names.insert(*at);
            if let Some(index) = index {
                variables(index, names);
            }
        }
        Expression::Not(inner) | Expression::Negative(inner) => variables(inner, names),
        Expression::Binary(_, left, right) => {
            variables(left, names);
            variables(right, names);
        }
        _ => {}
    }
}
