//! # Idea
//! Writes operations, the part of a statement between its results and its place.

use super::Printer;
use crate::statement::{
    Acquisition, Call, Callee, LockKind, MemoryAccess, Operation, Shape, Value,
};
use crate::words::{LockMode, Word};

impl Printer<'_> {
    pub(super) fn operation(&mut self, operation: &Operation) {
        match operation {
            Operation::Make(shape) => self.shape("make ", shape),
            Operation::Local(shape) => self.shape("local ", shape),
            Operation::Closure { procedure, captures } => {
                self.write("closure ");
                self.procedure_name(*procedure);
                self.arguments(captures);
            }
            Operation::Field { base, field } => {
                self.words("field", &[*base]);
                self.write(" ");
                self.field_name(*field);
            }
            Operation::Element { base, index, kind } => {
                self.words("elem", &[*base, *index]);
                self.write(" ");
                self.kind(kind);
            }
            Operation::Shift { base, bytes } => self.words("shift", &[*base, *bytes]),
            Operation::Side { base, side } => {
                self.words("side", &[*base]);
                self.write(" ");
                self.write(side.word());
            }
            Operation::Narrow { value, ty } => {
                self.words("narrow", &[*value]);
                self.write(" ");
                self.type_name(*ty);
            }
            Operation::Move(value) => self.value(*value),
            Operation::Compute { operator, left, right } => {
                self.words(operator.word(), &[*left, *right]);
            }
            Operation::Any(values) => self.words("any", values),
            Operation::Caught => self.write("caught"),
            _ => self.effect(operation),
        }
    }

    /// Operations that others may notice.
    fn effect(&mut self, operation: &Operation) {
        match operation {
            Operation::Load(access) => self.access("load", *access, &[]),
            Operation::Store { access, value } => self.access("store", *access, &[*value]),
            Operation::Update { access, operator, value } => {
                self.words("rmw", &[access.address]);
                self.write(" ");
                self.words(operator.word(), &[*value]);
                self.access_end(*access);
            }
            Operation::Exchange { access, expected, new } => {
                self.access("cas", *access, &[*expected, *new]);
            }
            Operation::Copy { to, from, kind } => {
                self.words("copy", &[*to, *from]);
                self.write(" ");
                self.kind(kind);
            }
            Operation::Call(call) => {
                self.write(match call.callee {
                    Callee::Procedure(_) => "call ",
                    _ => "",
                });
                self.call(call);
            }
            Operation::Start(call) => {
                self.write("start ");
                self.call(call);
            }
            Operation::Join(handle) => self.words("join", &[*handle]),
            Operation::Detach(handle) => self.words("detach", &[*handle]),
            Operation::Once { guard, procedure, arguments } => {
                self.words("once", &[*guard]);
                self.write(" ");
                self.procedure_name(*procedure);
                self.arguments(arguments);
            }
            _ => self.lock_operation(operation),
        }
    }

    fn lock_operation(&mut self, operation: &Operation) {
        match operation {
            Operation::Lock(taken) => self.acquisition("lock", taken),
            Operation::TryLock(taken) => self.acquisition("try", taken),
            Operation::TimedLock(taken) => self.acquisition("timed", taken),
            Operation::Unlock { address, side } => {
                self.words("unlock", &[*address]);
                self.optional(*side);
            }
            Operation::Wait { condition, lock, timed } => {
                self.words("wait", &[*condition, *lock]);
                self.write(if *timed { " timed" } else { "" });
            }
            Operation::Notify { condition, all } => {
                self.words(if *all { "notify all" } else { "notify" }, &[*condition]);
            }
            Operation::SetKind { address, kind } => {
                self.words("kind", &[*address]);
                self.lock_kind(*kind);
            }
            _ => unreachable!("the other operations are written above"),
        }
    }

    fn words(&mut self, word: &str, values: &[Value]) {
        self.write(word);
        self.spaced(values);
    }

    fn optional<W: Word>(&mut self, word: Option<W>) {
        if let Some(word) = word {
            self.write(" ");
            self.write(word.word());
        }
    }

    fn shape(&mut self, word: &str, shape: &Shape) {
        self.write(word);
        self.element(shape.element);
        for &count in &shape.counts {
            self.write("[");
            self.value(count);
            self.write("]");
        }
    }

    fn access(&mut self, word: &str, access: MemoryAccess, values: &[Value]) {
        self.words(word, &[access.address]);
        self.spaced(values);
        self.access_end(access);
    }

    fn access_end(&mut self, access: MemoryAccess) {
        if access.bytes > 0 {
            self.write(" bytes ");
            self.number(access.bytes);
        }
        self.optional(access.ordering);
    }

    fn call(&mut self, call: &Call) {
        match &call.callee {
            Callee::Procedure(procedure) => self.procedure_name(*procedure),
            Callee::Virtual(method) => {
                self.write("virtual ");
                self.method_name(*method);
            }
            Callee::Value(value) => self.words("value", &[*value]),
            Callee::Outside(name) => {
                self.write("outside ");
                self.name(name);
            }
        }
        self.arguments(&call.arguments);
    }

    fn acquisition(&mut self, word: &str, taken: &Acquisition) {
        self.words(word, &[taken.address]);
        self.optional(taken.side);
        self.lock_kind(taken.kind);
    }

    fn lock_kind(&mut self, kind: LockKind) {
        if kind.mode != LockMode::Plain {
            self.optional(Some(kind.mode));
        }
        self.write(if kind.structured { " structured" } else { "" });
        self.write(if kind.fair { " fair" } else { "" });
    }
}
