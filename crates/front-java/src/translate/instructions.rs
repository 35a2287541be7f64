//! Instructions as statements.

use super::Constant;
use super::body::{Done, Translated, Word};
use crate::class::{
    Arithmetic, At, BranchCondition, Comparison, FieldAccess, InvokeKind, JavaConstant,
    JavaInstruction, JavaKind,
};
use crate::frames::{FrameRefusal, can_throw};
use crate::names::{JavaName, kind_of_field, kinds_of_method};
use selvedge_base::Id;
use selvedge_code::model::RegisterId;
use selvedge_code::statement::{Acquisition, Jump, LockKind, Operation, Value};
use selvedge_code::words::{LockMode, Operator};
use std::collections::BTreeSet;

/// A monitor.
const MONITOR: LockKind = LockKind { mode: LockMode::Reentrant, structured: true, fair: false };

impl<'a> Translated<'_, 'a> {
    /// Translates an instruction; where the block goes if it ends here.
    pub(super) fn instruction(
        &mut self,
        at: At,
        instruction: &'a JavaInstruction,
    ) -> Done<Option<Jump>> {
        use JavaInstruction as I;
        match instruction {
            I::Nop => {}
            I::Constant(constant) => {
                let (kind, value) = self.constant(constant);
                self.push(kind, value);
            }
            I::Load(kind, local) => {
                let register = self.local(*local)?;
                self.push(*kind, Value::Register(register));
            }
            I::Store(kind, local) => {
                let value = self.pop(*kind)?;
                self.assign(*local, value)?;
            }
            I::Increment(local, by) => {
                let old = Value::Register(self.local(*local)?);
                let right = Value::Number(i64::from(*by));
                let sum = Operation::Compute { operator: Operator::Add, left: old, right };
                let value = self.builder.value('t', sum, false);
                self.assign(*local, value)?;
            }
            I::Stack(operation) => self.shuffle(*operation)?,
            I::Branch(condition, target) => return self.branch(at, *condition, *target).map(Some),
            I::Goto(target) => return Ok(Some(Jump::Goto(self.flush(*target)?))),
            I::Switch(default, cases) => return self.switch(*default, cases).map(Some),
            I::Return(kind) => {
                let values = kind.map(|kind| self.pop(kind)).transpose()?;
                let wanted = self.builder.procedure.returns.len();
                let mut values: Vec<Value> = values.into_iter().collect();
                values.resize(wanted, Value::Unknown);
                return Ok(Some(Jump::Return(values)));
            }
            I::Throw => return Ok(Some(Jump::Throw(self.pop(JavaKind::Reference)?))),
            I::Subroutine(_) | I::SubroutineReturn(_) => return Err(FrameRefusal::Subroutines),
            _ => return self.compute(instruction),
        }
        Ok(None)
    }

    pub(super) fn constant(&mut self, constant: &JavaConstant) -> (JavaKind, Value) {
        let reference = JavaKind::Reference;
        match constant {
            JavaConstant::Null => (reference, Value::Null),
            JavaConstant::Int(number) => (JavaKind::Int, Value::Number(i64::from(*number))),
            JavaConstant::Long(number) => (JavaKind::Long, Value::Number(*number)),
            JavaConstant::Float(_) => (JavaKind::Float, Value::Unknown),
            JavaConstant::Double(_) => (JavaKind::Double, Value::Unknown),
            JavaConstant::Text(text) => {
                let global = self.builder.translator.constant(Constant::Text(*text));
                (reference, Value::Global(global))
            }
            JavaConstant::Class(name) => {
                let global = self.builder.translator.constant(Constant::Class(*name));
                (reference, Value::Global(global))
            }
            JavaConstant::MethodType(_) | JavaConstant::Handle(_) => (reference, Value::Unknown),
            JavaConstant::Dynamic(number, descriptor) => {
                let text = self.builder.translator.text(*descriptor);
                let kind = kind_of_field(text).unwrap_or(reference);
                (kind, self.builder.dynamic_constant(self.method.class, *number))
            }
        }
    }

    /// Instructions that take operands and give a result.
    pub(super) fn compute(&mut self, instruction: &'a JavaInstruction) -> Done<Option<Jump>> {
        use JavaInstruction as I;
        let reference = JavaKind::Reference;
        match instruction {
            I::Compute(operator, kind) => {
                self.arithmetic(*operator, *kind, can_throw(instruction))?;
            }
            I::Negate(kind) | I::Convert(kind, _) => {
                let value = self.pop(*kind)?;
                let gives = if let I::Convert(_, to) = instruction { *to } else { *kind };
                // A number that becomes wider stays what it is.
                let widens = (*kind, gives) == (JavaKind::Int, JavaKind::Long);
                let operation =
                    if widens { Operation::Move(value) } else { Operation::Any(vec![value]) };
                let value = self.builder.value('t', operation, false);
                self.push(gives, value);
            }
            I::ArrayLoad(kind) => {
                let index = self.pop(JavaKind::Int)?;
                let array = self.pop(reference)?;
                let value = self.builder.load_element(*kind, array, index);
                self.push(*kind, value);
            }
            I::ArrayStore(kind) => {
                let value = self.pop(*kind)?;
                let index = self.pop(JavaKind::Int)?;
                let array = self.pop(reference)?;
                self.builder.store_element(*kind, (array, index), value);
            }
            I::ArrayLength => {
                let array = self.pop(reference)?;
                let length = self.builder.array_length(array);
                self.push(JavaKind::Int, length);
            }
            I::NewArray(name, dimensions) => return self.new_array(*name, *dimensions),
            I::Field(access, member) => {
                let text = self.builder.translator.text(member.descriptor);
                let kind = kind_of_field(text).ok_or(FrameRefusal::Damaged)?;
                let puts = matches!(access, FieldAccess::Put | FieldAccess::PutStatic);
                let stored = if puts { self.pop(kind)? } else { Value::Unknown };
                let has_base = matches!(access, FieldAccess::Get | FieldAccess::Put);
                let base = if has_base { self.pop(reference)? } else { Value::Unknown };
                let may_fail = has_base && self.may_be_null(base);
                let method = Some(self.method);
                let value =
                    self.builder.field(method, (*access, *member), (base, may_fail), stored);
                if let Some(value) = value {
                    self.push(kind, value);
                }
            }
            I::Invoke(how, member) => {
                let (arguments, gives) = self.arguments(member.descriptor)?;
                let this = (*how != InvokeKind::Static).then(|| self.pop(reference)).transpose()?;
                let arguments = this.into_iter().chain(arguments).collect();
                let value = self.builder.invoke(*how, *member, arguments);
                self.result(gives, value);
            }
            I::InvokeDynamic(number, name, descriptor) => {
                let (arguments, gives) = self.arguments(*descriptor)?;
                let class = self.method.class;
                let value = self.builder.dynamic(class, *number, (*name, *descriptor), arguments);
                self.result(gives, value);
            }
            I::New(name) => {
                let value = self.builder.make(*name);
                self.push(reference, value);
            }
            I::CheckCast(name) => {
                let value = self.pop(reference)?;
                let value = if matches!(value, Value::Register(_) | Value::Null | Value::Global(_))
                {
                    let ty = self.builder.translator.class(*name);
                    self.builder.value('t', Operation::Narrow { value, ty }, true)
                } else {
                    value
                };
                self.push(reference, value);
            }
            I::InstanceOf(_) => {
                let value = self.pop(reference)?;
                let value = self.builder.value('t', Operation::Any(vec![value]), false);
                self.push(JavaKind::Int, value);
            }
            I::MonitorEnter => {
                let address = self.pop(reference)?;
                let may_fail = self.may_be_null(address);
                let taken = Acquisition { address, side: None, kind: MONITOR };
                self.builder.run(Operation::Lock(taken), may_fail);
            }
            I::MonitorExit => {
                let address = self.pop(reference)?;
                self.builder.run(Operation::Unlock { address, side: None }, false);
            }
            _ => return Err(FrameRefusal::Damaged),
        }
        Ok(None)
    }

    /// The arguments of a call without its receiver, and what it gives.
    pub(super) fn arguments(
        &mut self,
        descriptor: JavaName,
    ) -> Done<(Vec<Value>, Option<JavaKind>)> {
        let text = self.builder.translator.text(descriptor);
        let (kinds, gives) = kinds_of_method(text).ok_or(FrameRefusal::Damaged)?;
        let mut values = Vec::with_capacity(kinds.len() + 1);
        for kind in kinds.iter().rev() {
            values.push(self.pop(*kind)?);
        }
        values.reverse();
        Ok((values, gives))
    }

    pub(super) fn result(&mut self, gives: Option<JavaKind>, value: Option<Value>) {
        if let Some(kind) = gives {
            self.push(kind, value.unwrap_or(Value::Unknown));
        }
    }

    pub(super) fn arithmetic(
        &mut self,
        operator: Arithmetic,
        kind: JavaKind,
        fails: bool,
    ) -> Done<()> {
        let shifts = matches!(
            operator,
            Arithmetic::ShiftLeft | Arithmetic::ShiftRight | Arithmetic::ShiftRightUnsigned
        );
        let right = self.pop(if shifts { JavaKind::Int } else { kind })?;
        let left = self.pop(kind)?;
        if operator == Arithmetic::Compare {
            if kind == JavaKind::Long {
                self.stack.push(Word::Compared(left, right));
            } else {
                let value = self.builder.value('t', Operation::Any(vec![left, right]), false);
                self.push(JavaKind::Int, value);
            }
            return Ok(());
        }
        let is_whole = matches!(kind, JavaKind::Int | JavaKind::Long);
        let known = match operator {
            Arithmetic::Add => Some(Operator::Add),
            Arithmetic::Subtract => Some(Operator::Subtract),
            Arithmetic::And => Some(Operator::And),
            Arithmetic::Or => Some(Operator::Or),
            Arithmetic::Xor => Some(Operator::Xor),
            _ => None,
        };
        let operation = match known.filter(|_| is_whole) {
            Some(operator) => Operation::Compute { operator, left, right },
            None => Operation::Any(vec![left, right]),
        };
        let value = self.builder.value('t', operation, fails);
        self.push(kind, value);
        Ok(())
    }

    pub(super) fn branch(&mut self, at: At, condition: BranchCondition, target: At) -> Done<Jump> {
        let (operator, left, right) = match condition {
            BranchCondition::Zero(comparison) => {
                let word = self.stack.pop().ok_or(FrameRefusal::Damaged)?;
                if let Word::Compared(left, right) = word {
                    (operator_of(comparison), left, right)
                } else {
                    (operator_of(comparison), self.plain(word), Value::Number(0))
                }
            }
            BranchCondition::Ints(comparison) => {
                let right = self.pop(JavaKind::Int)?;
                (operator_of(comparison), self.pop(JavaKind::Int)?, right)
            }
            BranchCondition::Same(same) => {
                let right = self.pop(JavaKind::Reference)?;
                (equal(same), self.pop(JavaKind::Reference)?, right)
            }
            BranchCondition::Null(null) => {
                (equal(null), self.pop(JavaKind::Reference)?, Value::Null)
            }
        };
        let mut read = [left, right];
        self.flush_stack(&mut read);
        let [left, right] = read;
        let then = self.flush(target)?;
        let otherwise = self.flush(At::from_index(at.index() + 1))?;
        Ok(Jump::If { operator, left, right, then, otherwise })
    }

    pub(super) fn switch(&mut self, default: At, cases: &[(i32, At)]) -> Done<Jump> {
        let mut read = [self.pop(JavaKind::Int)?];
        self.flush_stack(&mut read);
        let mut targets = Vec::with_capacity(cases.len());
        for &(number, target) in cases {
            targets.push((i64::from(number), self.flush(target)?));
        }
        // Damaged class files name a case twice; the first one counts.
        let mut seen = BTreeSet::new();
        targets.retain(|&(number, _)| seen.insert(number));
        let otherwise = self.flush(default)?;
        Ok(Jump::Switch { value: read[0], cases: targets, otherwise })
    }

    /// A new array; if it has dimensions within, an array of these is one of its elements.
    pub(super) fn new_array(&mut self, name: JavaName, dimensions: u8) -> Done<Option<Jump>> {
        for _ in 0..dimensions {
            self.pop(JavaKind::Int)?;
        }
        let element = self.builder.translator.text(name);
        let descriptor =
            |dimensions: u8| format!("{}{element}", "[".repeat(usize::from(dimensions)));
        let outer = self.builder.make_array(&descriptor(dimensions));
        self.push(JavaKind::Reference, outer);
        if dimensions <= 1 {
            return Ok(None);
        }
        // One array stands for those at all indices.
        let mut around = outer;
        for dimension in (1..dimensions).rev() {
            let inner = self.builder.make_array(&descriptor(dimension));
            let place = (around, Value::Unknown);
            self.builder.store_element(JavaKind::Reference, place, inner);
            around = inner;
        }
        Ok(None)
    }

    /// Whether a value may be null, as far as this instruction can tell.
    pub(super) fn may_be_null(&self, value: Value) -> bool {
        let this = Value::Register(RegisterId::from_index(0));
        !(self.keeps_this && value == this)
    }
}

fn equal(same: bool) -> Operator {
    if same { Operator::Equal } else { Operator::Unequal }
}

fn operator_of(comparison: Comparison) -> Operator {
    match comparison {
        Comparison::Equal => Operator::Equal,
        Comparison::NotEqual => Operator::Unequal,
        Comparison::Less => Operator::Less,
        Comparison::NotLess => Operator::GreaterEqual,
        Comparison::Greater => Operator::Greater,
        Comparison::NotGreater => Operator::LessEqual,
    }
}
