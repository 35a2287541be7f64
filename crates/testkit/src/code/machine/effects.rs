//! # Idea
//! Statements that are neither calls nor waits: values, addresses, memory, locks.

use super::super::interpret::{Datum, Object};
use super::CodeMachine;
use selvedge_code::model::{Element, Kind};
use selvedge_code::statement::{Operation, Value};
use selvedge_code::words::{Operator, UpdateOperator};

impl CodeMachine<'_> {
    /// A statement that is done in one step.
    pub(super) fn simple(
        &mut self,
        thread: usize,
        operation: &Operation,
        at: (u32, u32),
    ) -> Vec<Datum> {
        let value = |value: Value| self.value(thread, value);
        let one = |datum: Datum| vec![datum];
        match operation {
            Operation::Make(shape) => {
                one(self.object(Object::Made(thread, at.0, at.1), shape.element))
            }
            Operation::Local(shape) => {
                one(self.object(Object::Local(thread, at.0, at.1), shape.element))
            }
            Operation::Closure { procedure, captures } => {
                one(Datum::Procedure(*procedure, self.values(thread, captures)))
            }
            Operation::Field { base, field } => {
                let offset = self.module.fields[*field].offset.unwrap_or(0);
                one(shifted(&value(*base), i128::from(offset)))
            }
            Operation::Element { base, index, kind } => {
                let stride = i128::from(self.layout.size(kind));
                one(match value(*index) {
                    Datum::Number(number) => {
                        shifted(&value(*base), stride.saturating_mul(i128::from(number)))
                    }
                    _ => Datum::Opaque(2),
                })
            }
            Operation::Shift { base, bytes } => one(match value(*bytes) {
                Datum::Number(bytes) => shifted(&value(*base), i128::from(bytes)),
                _ => Datum::Opaque(2),
            }),
            Operation::Side { base, side } => one(match value(*base) {
                Datum::Address(object, offset, None) => Datum::Address(object, offset, Some(*side)),
                _ => Datum::Opaque(3),
            }),
            Operation::Narrow { value: narrowed, .. } => one(value(*narrowed)),
            Operation::Move(moved) => one(value(*moved)),
            Operation::Compute { operator, left, right } => {
                one(self.compute(*operator, value(*left), value(*right)))
            }
            Operation::Any(values) => one(Datum::Opaque(self.hash(&self.values(thread, values)))),
            Operation::Caught => one(self.threads[thread].caught.clone().unwrap_or(Datum::Null)),
            _ => self.effect(thread, operation),
        }
    }

    fn object(&mut self, object: Object, element: Element) -> Datum {
        if let Element::Inline(ty) = element {
            self.types.insert(object, ty);
        }
        Datum::Address(object, 0, None)
    }

    pub(super) fn compute(&self, operator: Operator, left: Datum, right: Datum) -> Datum {
        match (&left, &right) {
            (Datum::Number(left), Datum::Number(right)) => {
                Datum::Number(operator.apply(*left, *right))
            }
            _ => match operator {
                Operator::Equal => Datum::Number(i64::from(left == right)),
                Operator::Unequal => Datum::Number(i64::from(left != right)),
                _ if operator.compares() => {
                    let hash = self.hash(&(operator, left, right));
                    Datum::Number(i64::from(hash.is_multiple_of(2)))
                }
                _ => Datum::Opaque(self.hash(&(operator, left, right))),
            },
        }
    }

    fn load(&mut self, thread: usize, address: &Datum) -> Datum {
        let Datum::Address(object, offset, None) = *address else { return Datum::Opaque(4) };
        let fresh =
            if matches!(object, Object::Local(..)) { Datum::Opaque(0) } else { Datum::Number(0) };
        let found = self.memory.get(&(object, offset)).cloned().unwrap_or(fresh);
        self.event(thread, Some(object), format!("load {object:?}+{offset} {found:?}"));
        found
    }

    fn store(&mut self, thread: usize, address: &Datum, value: Datum) {
        let Datum::Address(object, offset, None) = *address else { return };
        self.event(thread, Some(object), format!("store {object:?}+{offset} {value:?}"));
        self.memory.insert((object, offset), value);
    }

    pub(super) fn copy(
        &mut self,
        thread: usize,
        to: Value,
        from: Value,
        kind: &Kind,
    ) -> Option<Vec<Datum>> {
        let offsets = self.offsets(kind);
        let done = self.threads[thread].frames.last().map_or(0, |frame| frame.copied);
        if let Some(&offset) = offsets.get(done) {
            let (to, from) = (self.value(thread, to), self.value(thread, from));
            let value = self.load(thread, &shifted(&from, i128::from(offset)));
            self.store(thread, &shifted(&to, i128::from(offset)), value);
            if let Some(frame) = self.threads[thread].frames.last_mut() {
                frame.copied += 1;
            }
        }
        (done + 1 >= offsets.len()).then(Vec::new)
    }

    /// Where the leaves of a kind begin.
    fn offsets(&self, kind: &Kind) -> Vec<u64> {
        match kind.element {
            Element::Inline(ty) => {
                self.layout.leaves(ty).iter().filter_map(|leaf| leaf.offset).collect()
            }
            _ => vec![0],
        }
    }

    /// A statement that others may notice.
    fn effect(&mut self, thread: usize, operation: &Operation) -> Vec<Datum> {
        let value = |value: Value| self.value(thread, value);
        match operation {
            Operation::Load(access) => vec![self.load(thread, &value(access.address))],
            Operation::Store { access, value: stored } => {
                let (address, stored) = (value(access.address), value(*stored));
                self.store(thread, &address, stored);
                Vec::new()
            }
            Operation::Update { access, operator, value: operand } => {
                let (address, operand) = (value(access.address), value(*operand));
                let old = self.load(thread, &address);
                let new = match operator {
                    UpdateOperator::Swap => operand,
                    UpdateOperator::Any => Datum::Opaque(self.hash(&(&old, operand))),
                    UpdateOperator::Add => self.compute(Operator::Add, old.clone(), operand),
                    UpdateOperator::Subtract => {
                        self.compute(Operator::Subtract, old.clone(), operand)
                    }
                    UpdateOperator::And => self.compute(Operator::And, old.clone(), operand),
                    UpdateOperator::Or => self.compute(Operator::Or, old.clone(), operand),
                    UpdateOperator::Xor => self.compute(Operator::Xor, old.clone(), operand),
                };
                self.store(thread, &address, new);
                vec![old]
            }
            Operation::Exchange { access, expected, new } => {
                let (address, new) = (value(access.address), value(*new));
                let expected = value(*expected);
                let old = self.load(thread, &address);
                let is_it = old == expected;
                if is_it {
                    self.store(thread, &address, new);
                }
                vec![old, Datum::Number(i64::from(is_it))]
            }
            Operation::Lock(taken) => {
                let lock = value(taken.address);
                self.take(thread, lock, "lock");
                Vec::new()
            }
            Operation::TryLock(taken) | Operation::TimedLock(taken) => {
                let lock = value(taken.address);
                let owner = self.locks.get(&lock);
                let is_free = owner.is_none_or(|&(owner, _)| owner == thread);
                if is_free {
                    self.take(thread, lock, "try");
                } else {
                    self.event(thread, None, format!("try {lock:?} in vain"));
                }
                vec![Datum::Number(i64::from(is_free))]
            }
            Operation::Unlock { address, .. } => {
                let lock = value(*address);
                self.event(thread, None, format!("unlock {lock:?}"));
                if let Some((owner, holds)) = self.locks.get_mut(&lock)
                    && *owner == thread
                {
                    *holds -= 1;
                    if *holds == 0 {
                        self.locks.remove(&lock);
                    }
                }
                Vec::new()
            }
            Operation::Notify { condition: about, .. }
            | Operation::Join(about)
            | Operation::Detach(about)
            | Operation::SetKind { address: about, .. } => {
                let name = match operation {
                    Operation::Notify { .. } => "notify",
                    Operation::Join(_) => "join",
                    Operation::Detach(_) => "detach",
                    _ => "kind",
                };
                let about = value(*about);
                self.event(thread, None, format!("{name} {about:?}"));
                Vec::new()
            }
            _ => unreachable!("all other statements are executed elsewhere"),
        }
    }

    fn take(&mut self, thread: usize, lock: Datum, name: &str) {
        self.event(thread, None, format!("{name} {lock:?}"));
        self.locks.entry(lock).or_insert((thread, 0)).1 += 1;
    }
}

/// An address some bytes further on.
fn shifted(address: &Datum, bytes: i128) -> Datum {
    match *address {
        Datum::Address(object, offset, None) => {
            let offset = i64::try_from(i128::from(offset) + bytes);
            offset.map_or(Datum::Opaque(2), |offset| Datum::Address(object, offset, None))
        }
        _ => Datum::Opaque(2),
    }
}
