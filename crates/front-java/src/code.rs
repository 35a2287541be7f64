//! # Idea
//! The instructions of a body. They are decoded one after the other; jumps are bytes then, and become
//! numbers of instructions when all of them are known.
//!
//! # Source
//! JVMS 4.7.3 and 6.5.
//!
//! # Invariants
//! 1. A body has at most 65,535 bytes, so there are no more instructions, and what a switch lists lies
//!    within them.

use crate::bytes::{Bytes, ClassDamage, damage};
use crate::class::{
    Arithmetic, At, BranchCondition, Comparison, FieldAccess, InvokeKind, JavaConstant,
    JavaInstruction, JavaKind, StackOperation,
};
use crate::names::JavaNames;
use crate::pool::{MemberKind, Pool};
use selvedge_base::Id;

use JavaInstruction as I;
use JavaKind::{Double, Float, Int, Long, Reference};

const KINDS: [JavaKind; 5] = [Int, Long, Float, Double, Reference];
const COMPARISONS: [Comparison; 6] = [
    Comparison::Equal,
    Comparison::NotEqual,
    Comparison::Less,
    Comparison::NotLess,
    Comparison::Greater,
    Comparison::NotGreater,
];
/// The elements of arrays of numbers, by their code from 4 on.
const ELEMENTS: [&str; 8] = ["Z", "C", "F", "D", "B", "S", "I", "J"];

/// The instructions of a body and the bytes at which they begin.
pub(crate) struct Instructions {
    pub list: Vec<JavaInstruction>,
    pub offsets: Vec<u32>,
    /// How many bytes there are.
    pub length: u32,
}

impl Instructions {
    /// The instruction that begins at a byte.
    pub fn at(&self, byte: u32, offset: usize) -> Result<At, ClassDamage> {
        match self.offsets.binary_search(&byte) {
            Ok(number) => Ok(At::from_index(number)),
            Err(_) => damage(offset, format!("no instruction begins at byte {byte} of the body")),
        }
    }

    /// The same, or the end.
    pub fn end(&self, byte: u32, offset: usize) -> Result<At, ClassDamage> {
        if byte == self.length {
            Ok(At::from_index(self.list.len()))
        } else {
            self.at(byte, offset)
        }
    }
}

/// Reads the instructions of a body.
pub(crate) fn instructions(
    bytes: Bytes<'_>,
    length: u32,
    pool: &Pool<'_>,
    names: &mut JavaNames,
) -> Result<Instructions, ClassDamage> {
    let first = bytes.at;
    let mut reader = Reader { bytes, first, here: first, pool, names };
    let mut found = Instructions { list: Vec::new(), offsets: Vec::new(), length };
    while !reader.bytes.is_done() {
        reader.here = reader.bytes.at;
        found.offsets.push((reader.here - first) as u32);
        let next = reader.instruction()?;
        found.list.push(next);
    }
    // Jumps were kept as bytes of the body.
    for at in 0..found.list.len() {
        let offset = first + found.offsets[at] as usize;
        let mut instruction = std::mem::replace(&mut found.list[at], I::Nop);
        match &mut instruction {
            I::Branch(_, target) | I::Goto(target) | I::Subroutine(target) => {
                *target = found.at(target.index() as u32, offset)?;
            }
            I::Switch(default, cases) => {
                *default = found.at(default.index() as u32, offset)?;
                for (_, target) in cases {
                    *target = found.at(target.index() as u32, offset)?;
                }
            }
            _ => {}
        }
        found.list[at] = instruction;
    }
    match found.list.last() {
        None => damage(first, "a body has no instruction"),
        Some(last) if last.goes_on() => damage(reader.here, "the body can go on behind its end"),
        Some(_) => Ok(found),
    }
}

struct Reader<'a, 'r> {
    bytes: Bytes<'a>,
    /// The first byte of the body.
    first: usize,
    /// The first byte of the instruction.
    here: usize,
    pool: &'r Pool<'a>,
    names: &'r mut JavaNames,
}

impl Reader<'_, '_> {
    fn instruction(&mut self) -> Result<JavaInstruction, ClassDamage> {
        let code = self.bytes.u1()?;
        let int = |value: i32| I::Constant(JavaConstant::Int(value));
        Ok(match code {
            0 => I::Nop,
            1 => I::Constant(JavaConstant::Null),
            2..=8 => int(i32::from(code) - 3),
            9 | 10 => I::Constant(JavaConstant::Long(i64::from(code) - 9)),
            11..=13 => I::Constant(JavaConstant::Float(f32::from(code) - 11.0)),
            14 | 15 => I::Constant(JavaConstant::Double(f64::from(code) - 14.0)),
            16 => int(i32::from(self.bytes.i1()?)),
            17 => int(i32::from(self.bytes.i2()?)),
            18 => {
                let index = u16::from(self.bytes.u1()?);
                self.constant(index, 1)?
            }
            19 | 20 => {
                let index = self.bytes.u2()?;
                self.constant(index, if code == 19 { 1 } else { 2 })?
            }
            21..=25 => I::Load(KINDS[usize::from(code - 21)], u16::from(self.bytes.u1()?)),
            26..=45 => I::Load(KINDS[usize::from((code - 26) / 4)], u16::from((code - 26) % 4)),
            46..=53 => I::ArrayLoad(element(code - 46)),
            54..=58 => I::Store(KINDS[usize::from(code - 54)], u16::from(self.bytes.u1()?)),
            59..=78 => I::Store(KINDS[usize::from((code - 59) / 4)], u16::from((code - 59) % 4)),
            79..=86 => I::ArrayStore(element(code - 79)),
            87 => I::Stack(StackOperation::Pop),
            88 => I::Stack(StackOperation::Pop2),
            89 => I::Stack(StackOperation::Dup),
            90 => I::Stack(StackOperation::DupX1),
            91 => I::Stack(StackOperation::DupX2),
            92 => I::Stack(StackOperation::Dup2),
            93 => I::Stack(StackOperation::Dup2X1),
            94 => I::Stack(StackOperation::Dup2X2),
            95 => I::Stack(StackOperation::Swap),
            96..=115 => {
                let operations = [
                    Arithmetic::Add,
                    Arithmetic::Subtract,
                    Arithmetic::Multiply,
                    Arithmetic::Divide,
                    Arithmetic::Remainder,
                ];
                let operation = operations[usize::from((code - 96) / 4)];
                I::Compute(operation, KINDS[usize::from((code - 96) % 4)])
            }
            116..=119 => I::Negate(KINDS[usize::from(code - 116)]),
            120..=131 => {
                let operations = [
                    Arithmetic::ShiftLeft,
                    Arithmetic::ShiftRight,
                    Arithmetic::ShiftRightUnsigned,
                    Arithmetic::And,
                    Arithmetic::Or,
                    Arithmetic::Xor,
                ];
                let operation = operations[usize::from((code - 120) / 2)];
                I::Compute(operation, KINDS[usize::from((code - 120) % 2)])
            }
            132 => I::Increment(u16::from(self.bytes.u1()?), i16::from(self.bytes.i1()?)),
            133..=144 => {
                // Each of four kinds to the other three, in order.
                let (from, to) = (usize::from((code - 133) / 3), usize::from((code - 133) % 3));
                I::Convert(KINDS[from], KINDS[if to < from { to } else { to + 1 }])
            }
            145..=147 => I::Convert(Int, Int),
            148 => I::Compute(Arithmetic::Compare, Long),
            149 | 150 => I::Compute(Arithmetic::Compare, Float),
            151 | 152 => I::Compute(Arithmetic::Compare, Double),
            153..=158 => {
                let condition = BranchCondition::Zero(COMPARISONS[usize::from(code - 153)]);
                I::Branch(condition, self.jump()?)
            }
            159..=164 => {
                let condition = BranchCondition::Ints(COMPARISONS[usize::from(code - 159)]);
                I::Branch(condition, self.jump()?)
            }
            165 | 166 => I::Branch(BranchCondition::Same(code == 165), self.jump()?),
            167 => I::Goto(self.jump()?),
            168 => I::Subroutine(self.jump()?),
            169 => I::SubroutineReturn(u16::from(self.bytes.u1()?)),
            170 => self.table_switch()?,
            171 => self.lookup_switch()?,
            172..=176 => I::Return(Some(KINDS[usize::from(code - 172)])),
            177 => I::Return(None),
            178..=181 => {
                let access = [
                    FieldAccess::GetStatic,
                    FieldAccess::PutStatic,
                    FieldAccess::Get,
                    FieldAccess::Put,
                ];
                let index = self.bytes.u2()?;
                let field = self.pool.member(index, self.here, MemberKind::Field, self.names)?;
                I::Field(access[usize::from(code - 178)], field)
            }
            182..=185 => self.invoke(code)?,
            186 => {
                let index = self.bytes.u2()?;
                if self.bytes.u2()? != 0 {
                    return damage(self.here, "the last two bytes of invokedynamic are not 0");
                }
                let (bootstrap, name, descriptor) =
                    self.pool.invoke_dynamic(index, self.here, self.names)?;
                I::InvokeDynamic(bootstrap, name, descriptor)
            }
            187 => I::New(self.class()?),
            188 => {
                let kind = self.bytes.u1()?;
                let Some(element) =
                    kind.checked_sub(4).and_then(|at| ELEMENTS.get(usize::from(at)))
                else {
                    return damage(self.here, format!("there are no arrays of kind {kind}"));
                };
                I::NewArray(self.names.intern(element), 1)
            }
            189 => {
                let class = self.class()?;
                let text = self.names.text(class);
                let element =
                    if text.starts_with('[') { text.to_owned() } else { format!("L{text};") };
                I::NewArray(self.names.intern(&element), 1)
            }
            190 => I::ArrayLength,
            191 => I::Throw,
            192 => I::CheckCast(self.class()?),
            193 => I::InstanceOf(self.class()?),
            194 => I::MonitorEnter,
            195 => I::MonitorExit,
            196 => self.wide()?,
            197 => {
                let class = self.class()?;
                let dimensions = self.bytes.u1()?;
                let text = self.names.text(class).to_owned();
                let given = text.bytes().take_while(|&one| one == b'[').count();
                if dimensions == 0 || usize::from(dimensions) > given {
                    let message =
                        format!("an array of type {text:?} has no {dimensions} dimensions");
                    return damage(self.here, message);
                }
                let element = &text[usize::from(dimensions)..];
                I::NewArray(self.names.intern(element), dimensions)
            }
            198 | 199 => I::Branch(BranchCondition::Null(code == 198), self.jump()?),
            200 => I::Goto(self.wide_jump()?),
            201 => I::Subroutine(self.wide_jump()?),
            other => return damage(self.here, format!("there is no instruction {other}")),
        })
    }

    fn constant(&mut self, index: u16, width: u16) -> Result<JavaInstruction, ClassDamage> {
        let constant = self.pool.constant(index, self.here, self.names)?;
        let given = match &constant {
            JavaConstant::Long(_) | JavaConstant::Double(_) => 2,
            JavaConstant::Dynamic(_, descriptor) => {
                let kind = crate::names::kind_of_field(self.names.text(*descriptor));
                kind.map_or(1, JavaKind::width)
            }
            _ => 1,
        };
        if given == width {
            Ok(I::Constant(constant))
        } else {
            damage(self.here, "this instruction cannot push a constant of that width")
        }
    }

    fn class(&mut self) -> Result<crate::JavaName, ClassDamage> {
        let index = self.bytes.u2()?;
        self.pool.class(index, self.here, self.names)
    }

    /// The byte of the body that is so far away; a number of an instruction only later.
    fn target(&self, distance: i32) -> Result<At, ClassDamage> {
        let here = (self.here - self.first) as u32;
        match here.checked_add_signed(distance).map(u16::try_from) {
            Some(Ok(byte)) => Ok(At::from_index(usize::from(byte))),
            _ => damage(self.here, "this jump leaves the body"),
        }
    }

    fn jump(&mut self) -> Result<At, ClassDamage> {
        let distance = self.bytes.i2()?;
        self.target(i32::from(distance))
    }

    fn wide_jump(&mut self) -> Result<At, ClassDamage> {
        let distance = self.bytes.i4()?;
        self.target(distance)
    }

    /// Switches begin at a multiple of four bytes.
    fn pad(&mut self) -> Result<(), ClassDamage> {
        let used = self.bytes.at - self.first;
        self.bytes.take(used.next_multiple_of(4) - used)?;
        Ok(())
    }

    fn table_switch(&mut self) -> Result<JavaInstruction, ClassDamage> {
        self.pad()?;
        let default = self.wide_jump()?;
        let (low, high) = (self.bytes.i4()?, self.bytes.i4()?);
        if low > high {
            return damage(self.here, "this switch ends before it begins");
        }
        let mut cases = Vec::new();
        for value in low..=high {
            cases.push((value, self.wide_jump()?));
        }
        Ok(I::Switch(default, cases))
    }

    fn lookup_switch(&mut self) -> Result<JavaInstruction, ClassDamage> {
        self.pad()?;
        let default = self.wide_jump()?;
        let count = self.bytes.i4()?;
        if count < 0 {
            return damage(self.here, "this switch has fewer than no cases");
        }
        let mut cases = Vec::new();
        for _ in 0..count {
            cases.push((self.bytes.i4()?, self.wide_jump()?));
        }
        Ok(I::Switch(default, cases))
    }

    fn invoke(&mut self, code: u8) -> Result<JavaInstruction, ClassDamage> {
        let (kind, class, interface) = match code {
            182 => (InvokeKind::Virtual, true, false),
            183 => (InvokeKind::Special, true, true),
            184 => (InvokeKind::Static, true, true),
            _ => (InvokeKind::Interface, false, true),
        };
        let index = self.bytes.u2()?;
        let wanted = MemberKind::Method { class, interface };
        let method = self.pool.member(index, self.here, wanted, self.names)?;
        if kind == InvokeKind::Interface {
            // How many words the arguments take, which the descriptor says as well, and 0.
            self.bytes.u2()?;
        }
        Ok(I::Invoke(kind, method))
    }

    fn wide(&mut self) -> Result<JavaInstruction, ClassDamage> {
        let code = self.bytes.u1()?;
        let local = self.bytes.u2()?;
        Ok(match code {
            21..=25 => I::Load(KINDS[usize::from(code - 21)], local),
            54..=58 => I::Store(KINDS[usize::from(code - 54)], local),
            132 => I::Increment(local, self.bytes.i2()?),
            169 => I::SubroutineReturn(local),
            other => return damage(self.here, format!("there is no wide instruction {other}")),
        })
    }
}

/// The kind of an element, by the order of the instructions for arrays.
fn element(number: u8) -> JavaKind {
    KINDS.get(usize::from(number)).copied().unwrap_or(Int)
}
