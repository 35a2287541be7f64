//! # Idea
//! What a thread is about to do in a state, whatever locks, threads and channels say of it, and the
//! states in the middle of an atomic section.
//!
//! # Source
//! The book: *Semantics*, `EML` (races), `Moments and formulas`.

use super::{
    Event, Frame, MOST_INSIDE, Machine, Mode, NOBODY, Operation, Place, Scope, Sight, State,
    Status, Steps, Stop,
};
use crate::semantics::syntax::{Expression, LockStatement, Right, Type};
use std::collections::{BTreeSet, HashSet};

/// How far an evaluation goes from a state.
struct Ahead<T> {
    /// What it can read next.
    reads: BTreeSet<usize>,
    /// The values of those evaluations that need no further step.
    values: Vec<T>,
}

impl Machine<'_> {
    /// What a thread is about to do.
    pub fn about(&self, state: &State, thread: usize) -> BTreeSet<Event> {
        let running = &state.threads[thread];
        if running.status != Status::Runs || running.waiting.is_some() {
            return BTreeSet::new();
        }
        let frame = running.frames.last().expect("a thread that runs has a frame");
        match frame.mode {
            Mode::Calls => unreachable!("the callee is on top"),
            Mode::Stores => self.about_to_store(state, thread, frame),
            Mode::Leaves => about_to_leave(state, thread),
            Mode::Normal => self.about_in_front(state, thread, frame),
        }
    }

    fn about_in_front(&self, state: &State, thread: usize, frame: &Frame) -> BTreeSet<Event> {
        match self.operation(thread, frame).0 {
            Operation::Access(location, write) => {
                let location = self.variable_of.len() + location;
                let event = if *write { Event::Write(location) } else { Event::Read(location) };
                BTreeSet::from([event])
            }
            Operation::Declare(local, Some(right)) => {
                self.about_to_assign(state, thread, frame, &Place::Local(*local), right)
            }
            Operation::Assign(place, right) => {
                self.about_to_assign(state, thread, frame, place, right)
            }
            Operation::Branch(condition, _) => self.about_to_read(state, thread, |sight| {
                self.right(condition, Type::Bool, sight).map(|_| None)
            }),
            Operation::Assume(_) | Operation::Atomic(_) => self
                .inside(state, thread)
                .iter()
                .flat_map(|one| self.about_inside(one, thread))
                .collect(),
            Operation::Unit => {
                let outermost = state.threads[thread].units == 0;
                outermost.then_some(Event::Begin).into_iter().collect()
            }
            operation @ (Operation::Enter(lock)
            | Operation::Lock(_, lock)
            | Operation::TryAcquire(_, lock)) => {
                let base = self.holds[lock.lock];
                let length = self.holds[lock.lock + 1] - base;
                self.about_to_read(state, thread, |sight| {
                    let index = lock.index.as_ref();
                    let index =
                        index.map(|index| self.element(index, length, sight)).transpose()?;
                    Ok(self.lock_event(state, thread, operation, base + index.unwrap_or(0)))
                })
            }
            Operation::Channel(what, channel) => BTreeSet::from([Event::Channel(*what, *channel)]),
            Operation::Call(_, function, arguments) => self.about_to_read(state, thread, |sight| {
                self.values_of(arguments, sight)?;
                Ok(Some(Event::Call(*function)))
            }),
            Operation::Return(Some(value)) => {
                let ahead = self.ahead(state, thread, |sight| self.value(value, sight));
                if ahead.reads.is_empty() {
                    about_to_leave(state, thread)
                } else {
                    ahead.reads.into_iter().map(Event::Read).collect()
                }
            }
            Operation::Return(None) if frame.scopes.is_empty() => BTreeSet::new(),
            Operation::Return(None) | Operation::Exit | Operation::Leave => {
                about_to_leave(state, thread)
            }
            Operation::Start(process, index, arguments) => {
                self.about_to_read(state, thread, |sight| {
                    let copy = self.copy(*process, index.as_ref(), sight)?;
                    self.values_of(arguments, sight)?;
                    Ok(self.started(state, *process, copy).map(Event::Start))
                })
            }
            Operation::Join(process, index) => self.about_to_read(state, thread, |sight| {
                let copy = self.copy(*process, index.as_ref(), sight)?;
                Ok(Some(Event::Join(self.thread(*process, copy))))
            }),
            Operation::Skip
            | Operation::EndAtomic
            | Operation::Assert(_)
            | Operation::Declare(_, None)
            | Operation::Jump(_)
            | Operation::Initial(..) => BTreeSet::new(),
        }
    }

    /// The thread that a start is about.
    fn started(&self, state: &State, process: usize, copy: usize) -> Option<usize> {
        if self.source.processes[process].copies != super::Copies::Any {
            return Some(self.thread(process, copy));
        }
        let all = (0..self.threads.len()).filter(|&other| self.threads[other].0 == process);
        all.into_iter().find(|&other| state.threads[other].status == Status::Waits)
    }

    fn copy(
        &self,
        process: usize,
        index: Option<&Expression>,
        sight: &mut Sight<'_>,
    ) -> Result<usize, Stop> {
        let number = self.threads.iter().filter(|own| own.0 == process).count();
        index.map_or(Ok(0), |index| self.element(index, number, sight))
    }

    fn values_of(&self, all: &[Expression], sight: &mut Sight<'_>) -> Result<Vec<i64>, Stop> {
        all.iter().map(|one| self.value(one, sight)).collect()
    }

    fn about_to_store(&self, state: &State, thread: usize, frame: &Frame) -> BTreeSet<Event> {
        let (Operation::Call(Some(target), ..) | Operation::TryAcquire(target, _)) =
            self.operation(thread, frame).0
        else {
            unreachable!("something is stored")
        };
        let Place::Global(at, index) = target else {
            unreachable!("what is local is stored at once")
        };
        let mut sight = Sight::new(state, thread, &[], true);
        let cell = self.cell(*at, index.as_deref(), &mut sight).ok();
        cell.map(Event::Write).into_iter().collect()
    }

    fn about_to_assign(
        &self,
        state: &State,
        thread: usize,
        frame: &Frame,
        place: &Place,
        right: &Right,
    ) -> BTreeSet<Event> {
        let kind = self.kind_of(thread, frame.function, place);
        self.about_to_read(state, thread, |sight| {
            let index = self.target_index(place, sight)?;
            self.right(right, kind, sight)?;
            let cell = self.target_cell(place, index)?;
            Ok(matches!(place, Place::Global(..)).then_some(Event::Write(cell)))
        })
    }

    /// What is read next, or the event of what is evaluated.
    fn about_to_read(
        &self,
        state: &State,
        thread: usize,
        what: impl Fn(&mut Sight<'_>) -> Result<Option<Event>, Stop>,
    ) -> BTreeSet<Event> {
        let Ahead { reads, values } = self.ahead(state, thread, what);
        reads.into_iter().map(Event::Read).chain(values.into_iter().flatten()).collect()
    }

    fn ahead<T>(
        &self,
        state: &State,
        thread: usize,
        what: impl Fn(&mut Sight<'_>) -> Result<T, Stop>,
    ) -> Ahead<T> {
        let frame = state.threads[thread].frames.last().expect("it runs");
        let mut open = vec![frame.log.clone()];
        let mut ahead = Ahead { reads: BTreeSet::new(), values: Vec::new() };
        while let Some(log) = open.pop() {
            match what(&mut Sight::new(state, thread, &log, false)) {
                Ok(value) => ahead.values.push(value),
                Err(Stop::Read(cell)) => _ = ahead.reads.insert(cell),
                Err(Stop::Pause(_)) => {}
                // What fails before the step is another one.
                Err(stop) => _ = self.fork(stop, &log, |log| open.push(log)),
            }
        }
        ahead
    }

    /// Rules 2 and 3.
    fn lock_event(
        &self,
        state: &State,
        thread: usize,
        operation: &Operation,
        lock: usize,
    ) -> Option<Event> {
        let (owner, count) = state.locks[lock];
        let owns = owner != NOBODY && usize::try_from(owner) == Ok(thread);
        match operation {
            Operation::Lock(LockStatement::Release, _) => {
                (!owns || count == 1).then_some(Event::Release(lock))
            }
            Operation::Lock(
                LockStatement::Wait | LockStatement::Notify | LockStatement::NotifyAll,
                _,
            ) => None,
            _ => (!owns || self.is_mutex(lock)).then_some(Event::Acquire(lock)),
        }
    }

    /// Whether an element of the locks belongs to a `mutex`.
    pub fn is_mutex(&self, lock: usize) -> bool {
        let declaration = self.holds.partition_point(|&base| base <= lock) - 1;
        self.source.locks[declaration].mutex
    }

    /// Whether the thread stands in front of an atomic section or of `assume`, which is one.
    pub fn before_section(&self, state: &State, thread: usize) -> bool {
        let running = &state.threads[thread];
        let frame = running.frames.last();
        running.status == Status::Runs
            && running.waiting.is_none()
            && frame.is_some_and(|frame| {
                frame.mode == Mode::Normal
                    && matches!(
                        self.operation(thread, frame).0,
                        Operation::Atomic(_) | Operation::Assume(_)
                    )
            })
    }

    /// Whether the thread stands in front of `tryacquire`, which never waits.
    pub fn only_tries(&self, state: &State, thread: usize) -> bool {
        let frame = state.threads[thread].frames.last();
        frame.is_some_and(|frame| {
            matches!(self.operation(thread, frame).0, Operation::TryAcquire(..))
        })
    }

    /// The states in which a thread is in the middle of the atomic section in front of which it stands.
    pub fn inside(&self, state: &State, thread: usize) -> Vec<State> {
        let frames = &state.threads[thread].frames;
        let depth = frames.len();
        let Operation::Atomic(end) = self.operation(thread, &frames[depth - 1]).0 else {
            return vec![state.clone()];
        };
        let mut first = state.clone();
        self.forward(&mut first, thread);
        let mut known = HashSet::from([first.clone()]);
        let mut all = Vec::new();
        let mut open = vec![first];
        while let Some(at) = open.pop() {
            let frames = &at.threads[thread].frames;
            let top = frames.last().expect("nobody returns from an atomic section");
            if frames.len() == depth && top.at == *end && top.mode == Mode::Normal {
                continue;
            }
            let mut steps = Steps::default();
            self.step(&at, thread, true, &mut steps);
            for (next, _) in steps.next {
                if known.len() < MOST_INSIDE && known.insert(next.clone()) {
                    open.push(next);
                }
            }
            all.push(at);
        }
        all
    }

    /// What a thread in the middle of an atomic section is about to do.
    pub fn about_inside(&self, state: &State, thread: usize) -> BTreeSet<Event> {
        let frame = state.threads[thread].frames.last().expect("it runs");
        match self.operation(thread, frame).0 {
            Operation::Atomic(_) => BTreeSet::new(),
            Operation::Assume(condition) if frame.mode == Mode::Normal => {
                let mut reads = BTreeSet::new();
                let mut open = vec![Vec::new()];
                while let Some(log) = open.pop() {
                    let mut sight = Sight::new(state, thread, &log, true);
                    let value = self.value(condition, &mut sight);
                    reads.extend(std::mem::take(&mut sight.reads).into_iter().map(Event::Read));
                    if let Err(stop) = value {
                        _ = self.fork(stop, &log, |log| open.push(log));
                    }
                }
                reads
            }
            _ => self.about(state, thread),
        }
    }

    /// Whether a thread is in an activation of this function and not in a call from there.
    pub fn is_in(&self, state: &State, thread: usize, function: usize) -> bool {
        let running = &state.threads[thread];
        let top = running.frames.last();
        running.status == Status::Runs && top.is_some_and(|frame| frame.function == function)
    }

    /// Whether a thread is in a unit.
    pub fn is_in_unit(&self, state: &State, thread: usize) -> bool {
        state.threads[thread].units > 0
    }

    /// The lock whose wait set a thread is in or was in, and which it has to take again.
    pub fn waits_at(&self, state: &State, thread: usize) -> Option<usize> {
        state.threads[thread].waiting.map(|(lock, ..)| usize::from(lock))
    }

    /// Whether a condition about shared variables is true.
    pub fn is_true(&self, condition: &Expression, state: &State) -> bool {
        self.condition(condition, state, 0) == Some(true)
    }

    /// The name of a shared location: an element of a variable, or a location without a value.
    pub fn location(&self, cell: usize) -> String {
        let Some(&variable) = self.variable_of.get(cell) else {
            return format!("v{}", cell - self.variable_of.len());
        };
        match self.source.globals[variable].length {
            Some(_) => format!("g{variable}[{}]", cell - self.cells[variable]),
            None => format!("g{variable}"),
        }
    }

    /// How many locks there are, element by element.
    pub fn locks(&self) -> usize {
        self.holds[self.source.locks.len()]
    }

    /// How many shared locations there are.
    pub fn locations(&self) -> usize {
        self.variable_of.len() + self.source.locations.len()
    }

    /// Whether a shared location is volatile.
    pub fn is_volatile(&self, cell: usize) -> bool {
        match self.variable_of.get(cell) {
            Some(&variable) => self.source.globals[variable].volatile,
            None => self.source.locations[cell - self.variable_of.len()],
        }
    }

    /// The name of an element of the locks.
    pub fn lock_name(&self, lock: usize) -> String {
        let declaration = self.holds.partition_point(|&base| base <= lock) - 1;
        match self.source.locks[declaration].length {
            Some(_) => format!("l{declaration}[{}]", lock - self.holds[declaration]),
            None => format!("l{declaration}"),
        }
    }

    /// The name of a thread.
    pub fn name(&self, thread: usize) -> String {
        let (process, copy) = self.threads[thread];
        match self.source.processes[process].copies {
            super::Copies::One => format!("P{process}"),
            _ => format!("P{process}[{copy}]"),
        }
    }
}

/// What the next step on the way out of a block or a function does.
fn about_to_leave(state: &State, thread: usize) -> BTreeSet<Event> {
    let running = &state.threads[thread];
    let frame = running.frames.last().expect("it runs");
    let event = match frame.scopes.last() {
        None => Some(Event::Return(frame.function)),
        Some(Scope::Unit) => (running.units == 1).then_some(Event::End),
        Some(Scope::Lock(lock)) => {
            let (owner, count) = state.locks[usize::from(*lock)];
            let owns = owner != NOBODY && usize::try_from(owner) == Ok(thread);
            (!owns || count == 1).then_some(Event::Release(usize::from(*lock)))
        }
    };
    event.into_iter().collect()
}
