//! # Idea
//! The state of a run, and what one statement does to it.
//!
//! # Invariants
//! 1. Between turns each thread is over or before a statement that others may notice.

mod effects;

use super::interpret::{Datum, Object, ObservedEvent};
use selvedge_base::Id as _;
use selvedge_code::address::is_subtype;
use selvedge_code::layout::Layout;
use selvedge_code::model::{BlockId, Element, Module, Point, ProcedureId, RegisterId, TypeId};
use selvedge_code::statement::{Call, Callee, Jump, Operation, Statement, Value};
use std::collections::{BTreeMap, HashMap};

/// An activation of a procedure.
struct Frame {
    procedure: ProcedureId,
    block: BlockId,
    index: usize,
    registers: HashMap<RegisterId, Datum>,
    /// How many leaves of a `copy` are done.
    copied: usize,
    /// The address whose `once` ends with it.
    guard: Option<Datum>,
}

/// A thread.
#[derive(Default)]
pub struct MachineThread {
    frames: Vec<Frame>,
    /// How often statements were executed, by origin.
    counts: HashMap<u32, u32>,
    /// A wait that has given up its lock so often.
    waiting: Option<u32>,
    caught: Option<Datum>,
}

/// The state of a run.
pub struct CodeMachine<'a> {
    module: &'a Module,
    layout: Layout,
    seed: u64,
    memory: HashMap<(Object, i64), Datum>,
    types: HashMap<Object, TypeId>,
    /// The owner of a lock and how often it holds it.
    locks: BTreeMap<Datum, (usize, u32)>,
    /// The addresses for which something has begun, by whom, and whether it is done.
    once: BTreeMap<Datum, (usize, bool)>,
    /// The threads.
    pub threads: Vec<MachineThread>,
    /// What has happened.
    pub events: Vec<ObservedEvent>,
    /// How many statements were executed.
    pub steps: usize,
}

impl<'a> CodeMachine<'a> {
    /// Before anything happens.
    pub fn new(module: &'a Module, seed: u64) -> Self {
        let mut types = HashMap::new();
        for (id, global) in module.globals.iter_enumerated() {
            if let Element::Inline(ty) = global.kind.element {
                types.insert(Object::Global(id.index()), ty);
            }
        }
        Self {
            module,
            layout: Layout::new(module),
            seed,
            memory: HashMap::new(),
            types,
            locks: BTreeMap::new(),
            once: BTreeMap::new(),
            threads: Vec::new(),
            events: Vec::new(),
            steps: 0,
        }
    }

    /// A new thread.
    pub fn spawn(&mut self, entry: ProcedureId, arguments: Vec<Datum>) -> usize {
        let thread = self.spawn_before(entry, arguments);
        self.advance(thread, usize::MAX);
        thread
    }

    /// A new thread that has done nothing yet.
    pub fn spawn_before(&mut self, entry: ProcedureId, arguments: Vec<Datum>) -> usize {
        let thread = self.threads.len();
        self.threads.push(MachineThread::default());
        self.enter(thread, entry, arguments, None);
        thread
    }

    fn enter(
        &mut self,
        thread: usize,
        procedure: ProcedureId,
        arguments: Vec<Datum>,
        guard: Option<Datum>,
    ) {
        let registers = self.module.procedures[procedure].parameter_registers().zip(arguments);
        let registers = registers.collect();
        let block = BlockId::from_index(0);
        self.threads[thread].frames.push(Frame {
            procedure,
            block,
            index: 0,
            registers,
            copied: 0,
            guard,
        });
    }

    /// The statement that a thread is before; none before an end, or if it is over.
    fn statement(&self, thread: usize) -> Option<&'a Statement> {
        let frame = self.threads[thread].frames.last()?;
        let procedure = &self.module.procedures[frame.procedure];
        procedure.blocks[frame.block].statements.get(frame.index)
    }

    fn value(&self, thread: usize, value: Value) -> Datum {
        let frame = self.threads[thread].frames.last();
        match value {
            Value::Register(register) => frame
                .and_then(|frame| frame.registers.get(&register).cloned())
                .unwrap_or(Datum::Opaque(0)),
            Value::Number(number) => Datum::Number(number),
            Value::Null => Datum::Null,
            Value::Unknown => Datum::Opaque(0),
            Value::Global(global) => Datum::Address(Object::Global(global.index()), 0, None),
            Value::Procedure(procedure) => Datum::Procedure(procedure, Vec::new()),
        }
    }

    fn values(&self, thread: usize, values: &[Value]) -> Vec<Datum> {
        values.iter().map(|&value| self.value(thread, value)).collect()
    }

    /// Whether others may notice an access to an address.
    fn is_shared(&self, thread: usize, address: Value) -> bool {
        let address = self.value(thread, address);
        matches!(address, Datum::Address(Object::Global(_) | Object::Made(..), ..))
    }

    fn is_visible(&self, thread: usize, statement: &Statement) -> bool {
        match &statement.operation {
            Operation::Load(access)
            | Operation::Store { access, .. }
            | Operation::Update { access, .. }
            | Operation::Exchange { access, .. } => self.is_shared(thread, access.address),
            Operation::Copy { to, from, .. } => {
                self.is_shared(thread, *to) || self.is_shared(thread, *from)
            }
            Operation::Call(call) => self.target(thread, call).is_none(),
            Operation::Lock(_)
            | Operation::TryLock(_)
            | Operation::TimedLock(_)
            | Operation::Unlock { .. }
            | Operation::Wait { .. }
            | Operation::Notify { .. }
            | Operation::Start(_)
            | Operation::Join(_)
            | Operation::Detach(_)
            | Operation::Once { .. }
            | Operation::SetKind { .. } => true,
            _ => false,
        }
    }

    /// Executes what nobody notices, up to a number of steps in all.
    pub fn advance(&mut self, thread: usize, steps: usize) {
        let limit = steps.min(6000);
        while self.steps < limit && !self.threads[thread].frames.is_empty() {
            if self.statement(thread).is_some_and(|next| self.is_visible(thread, next)) {
                return;
            }
            self.step(thread);
        }
    }

    /// Where a thread is, and what its registers hold there.
    pub fn frame(
        &self,
        thread: usize,
    ) -> Option<(ProcedureId, Point, &HashMap<RegisterId, Datum>)> {
        let frame = self.threads[thread].frames.last()?;
        Some((frame.procedure, Point::new(frame.block, frame.index), &frame.registers))
    }

    /// How many procedures a thread is in.
    pub fn depth(&self, thread: usize) -> usize {
        self.threads[thread].frames.len()
    }

    /// Whether a thread is not over and not blocked.
    pub fn can_step(&self, thread: usize) -> bool {
        if self.threads[thread].frames.is_empty() {
            return false;
        }
        let Some(statement) = self.statement(thread) else { return true };
        let is_free = |lock: Value| {
            let owner = self.locks.get(&self.value(thread, lock));
            owner.is_none_or(|&(owner, _)| owner == thread)
        };
        match &statement.operation {
            Operation::Lock(taken) => is_free(taken.address),
            Operation::Wait { lock, .. } => {
                self.threads[thread].waiting.is_none() || is_free(*lock)
            }
            Operation::Join(handle) => match self.value(thread, *handle) {
                Datum::Thread(other) => self.threads[other].frames.is_empty(),
                _ => true,
            },
            Operation::Once { guard, .. } => {
                let begun = self.once.get(&self.value(thread, *guard));
                begun.is_none_or(|&(owner, is_done)| is_done || owner == thread)
            }
            _ => true,
        }
    }

    fn event(&mut self, thread: usize, object: Option<Object>, what: String) {
        let local = object.filter(|object| matches!(object, Object::Local(..)));
        self.events.push(ObservedEvent { thread, local, what });
    }

    fn hash(&self, of: &dyn std::fmt::Debug) -> u64 {
        let text = format!("{} {of:?}", self.seed);
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        let hash = text.bytes().fold(0xCBF2_9CE4_8422_2325, mix);
        hash ^ (hash >> 29)
    }

    /// How often a thread has executed statements of this origin before.
    fn count(&mut self, thread: usize, origin: u32) -> u32 {
        let count = self.threads[thread].counts.entry(origin).or_default();
        *count += 1;
        *count
    }

    /// Executes one statement or end.
    pub fn step(&mut self, thread: usize) {
        self.steps += 1;
        let Some(statement) = self.statement(thread) else { return self.end(thread) };
        let origin = statement.provenance.origin.unwrap_or(0);
        let copied = self.threads[thread].frames.last().map_or(0, |frame| frame.copied);
        let is_first = copied == 0 && self.threads[thread].waiting.is_none();
        let count = if is_first { self.count(thread, origin) } else { 0 };
        let is_call = matches!(&statement.operation, Operation::Call(call)
            if self.target(thread, call).is_some());
        let is_call = is_call || matches!(statement.operation, Operation::Once { .. });
        if is_first
            && statement.may_fail
            && !is_call
            && self.hash(&("fails", origin, count)).is_multiple_of(4)
        {
            return self.fail(thread, Datum::Opaque(u64::from(origin)));
        }
        if let Some(results) = self.execute(thread, statement, (origin, count))
            && let Some(frame) = self.threads[thread].frames.last_mut()
        {
            frame.registers.extend(statement.results.iter().copied().zip(results));
            frame.index += 1;
            frame.copied = 0;
        }
    }

    /// The results of a statement; none if it goes on, or has called or failed.
    fn execute(
        &mut self,
        thread: usize,
        statement: &Statement,
        at: (u32, u32),
    ) -> Option<Vec<Datum>> {
        let none = Some(Vec::new());
        match &statement.operation {
            Operation::Call(call) => self.call(thread, statement, call, at),
            Operation::Copy { to, from, kind } => self.copy(thread, *to, *from, kind),
            Operation::Start(call) => {
                let target = self.target(thread, call);
                self.event(thread, None, format!("start {target:?}"));
                let handle = target.map(|(entry, arguments)| self.spawn(entry, arguments));
                Some(vec![handle.map_or(Datum::Opaque(1), Datum::Thread)])
            }
            Operation::Once { guard, procedure, arguments } => {
                let guard = self.value(thread, *guard);
                self.event(thread, None, format!("once {guard:?}"));
                if self.once.contains_key(&guard) {
                    return none;
                }
                self.once.insert(guard.clone(), (thread, false));
                let arguments = self.values(thread, arguments);
                self.enter(thread, *procedure, arguments, Some(guard));
                None
            }
            Operation::Wait { condition, lock, .. } => {
                let (condition, lock) = (self.value(thread, *condition), self.value(thread, *lock));
                if let Some(holds) = self.threads[thread].waiting.take() {
                    self.event(thread, None, format!("woken {lock:?}"));
                    if holds > 0 {
                        self.locks.insert(lock, (thread, holds));
                    }
                    return none;
                }
                let own = self.locks.get(&lock).filter(|&&(owner, _)| owner == thread);
                let holds = own.map_or(0, |&(_, holds)| holds);
                if holds > 0 {
                    self.locks.remove(&lock);
                }
                self.threads[thread].waiting = Some(holds);
                self.event(thread, None, format!("wait {condition:?} {lock:?}"));
                None
            }
            Operation::Narrow { value, ty } if !self.is_a(thread, *value, *ty) => {
                if statement.may_fail {
                    self.fail(thread, Datum::Opaque(u64::from(at.0)));
                } else {
                    self.threads[thread].frames.clear();
                    self.event(thread, None, "stop".to_owned());
                }
                None
            }
            operation => Some(self.simple(thread, operation, at)),
        }
    }

    /// Whether a value is null, or an object of a type as far as that is known.
    fn is_a(&self, thread: usize, value: Value, ty: TypeId) -> bool {
        match self.value(thread, value) {
            Datum::Address(object, 0, None) => {
                let own = self.types.get(&object);
                own.is_none_or(|&own| is_subtype(self.module, own, ty))
            }
            _ => true,
        }
    }

    /// The procedure that a call runs with its arguments; none if it is not known here.
    fn target(&self, thread: usize, call: &Call) -> Option<(ProcedureId, Vec<Datum>)> {
        let mut arguments = self.values(thread, &call.arguments);
        let target = match &call.callee {
            Callee::Procedure(procedure) => *procedure,
            Callee::Virtual(method) => {
                let Datum::Address(object, ..) = arguments.first()? else { return None };
                let ty = *self.types.get(object)?;
                self.module.target(*method, ty)?
            }
            Callee::Value(value) => match self.value(thread, *value) {
                Datum::Procedure(procedure, mut captures) => {
                    captures.append(&mut arguments);
                    arguments = captures;
                    procedure
                }
                _ => return None,
            },
            Callee::Outside(name) => self.module.procedures.ids().find(|&id| {
                let row = &self.module.procedures[id];
                row.is_row && row.name == *name && row.parameters.len() == arguments.len()
            })?,
        };
        let procedure = &self.module.procedures[target];
        let fits = procedure.parameters.len() == arguments.len();
        (fits && !procedure.blocks.is_empty()).then_some((target, arguments))
    }

    fn call(
        &mut self,
        thread: usize,
        statement: &Statement,
        call: &Call,
        at: (u32, u32),
    ) -> Option<Vec<Datum>> {
        if let Some((target, arguments)) = self.target(thread, call) {
            self.enter(thread, target, arguments, None);
            return None;
        }
        let arguments = self.values(thread, &call.arguments);
        self.event(thread, None, format!("call {:?} {arguments:?}", call.callee));
        if statement.may_fail && self.hash(&("fails behind", at)).is_multiple_of(4) {
            self.fail(thread, Datum::Opaque(u64::from(at.0)));
            return None;
        }
        let results = 0..statement.results.len();
        Some(results.map(|number| Datum::Opaque(self.hash(&(at, number)))).collect())
    }

    fn end(&mut self, thread: usize) {
        let Some(frame) = self.threads[thread].frames.last() else { return };
        let end = &self.module.procedures[frame.procedure].blocks[frame.block].end;
        let target = match &end.jump {
            Jump::Goto(target) => *target,
            Jump::If { operator, left, right, then, otherwise } => {
                let (left, right) = (self.value(thread, *left), self.value(thread, *right));
                let holds = self.compute(*operator, left, right) != Datum::Number(0);
                if holds { *then } else { *otherwise }
            }
            Jump::Switch { value, cases, otherwise } => {
                let value = self.value(thread, *value);
                let case = cases.iter().find(|&&(case, _)| Datum::Number(case) == value);
                case.map_or(*otherwise, |&(_, target)| target)
            }
            Jump::Return(values) => {
                let values = self.values(thread, values);
                return self.leave(thread, values);
            }
            Jump::Throw(value) => {
                let value = self.value(thread, *value);
                return self.fail(thread, value);
            }
            Jump::Stop => {
                self.threads[thread].frames.clear();
                return self.event(thread, None, "stop".to_owned());
            }
        };
        self.go(thread, target);
    }

    fn go(&mut self, thread: usize, block: BlockId) {
        if let Some(frame) = self.threads[thread].frames.last_mut() {
            (frame.block, frame.index, frame.copied) = (block, 0, 0);
        }
    }

    /// Gives values to the caller.
    fn leave(&mut self, thread: usize, values: Vec<Datum>) {
        let Some(frame) = self.threads[thread].frames.pop() else { return };
        if let Some((_, is_done)) = frame.guard.and_then(|guard| self.once.get_mut(&guard)) {
            *is_done = true;
        }
        let Some(statement) = self.statement(thread) else {
            return self.event(thread, None, "return".to_owned());
        };
        if let Some(caller) = self.threads[thread].frames.last_mut() {
            if matches!(statement.operation, Operation::Call(_)) {
                caller.registers.extend(statement.results.iter().copied().zip(values));
            }
            caller.index += 1;
        }
    }

    /// Goes to the first handler that fits.
    fn fail(&mut self, thread: usize, failure: Datum) {
        self.threads[thread].waiting = None;
        while let Some(frame) = self.threads[thread].frames.last() {
            let block = &self.module.procedures[frame.procedure].blocks[frame.block];
            let own = match failure {
                Datum::Address(object, 0, None) => self.types.get(&object).copied(),
                _ => None,
            };
            let fits = |catches: Option<TypeId>| {
                catches.is_none_or(|ty| match own {
                    Some(own) => is_subtype(self.module, own, ty),
                    None => self.hash(&("fits", &failure, ty)).is_multiple_of(2),
                })
            };
            if let Some(handler) = block.handlers.iter().find(|handler| fits(handler.catches)) {
                let target = handler.target;
                self.threads[thread].caught = Some(failure);
                return self.go(thread, target);
            }
            self.threads[thread].frames.pop();
            if self.statement(thread).is_some_and(|call| !call.may_fail) {
                self.threads[thread].frames.clear();
                return self.event(thread, None, "stop".to_owned());
            }
        }
        self.event(thread, None, format!("fails {failure:?}"));
    }
}
