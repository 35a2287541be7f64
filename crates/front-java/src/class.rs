//! # Idea
//! What a class file says, as plain data: members, instructions with their operands, handlers of
//! exceptions, lines. Names are numbers, jumps lead to instructions and not to bytes.
//!
//! # Source
//! The Java Virtual Machine Specification, chapters 4 and 6; versions 45 to 69 (Java 1.0.2 to 25).
//!
//! # Invariants
//! 1. Every [`At`] of a body is the number of one of its instructions; ends of ranges may be one past the
//!    last.
//! 2. Descriptors are well formed, so [`crate::names::kinds_of_method`] and
//!    [`crate::names::kind_of_field`] know them.

use crate::names::JavaName;
use selvedge_base::define_id;

define_id!(
    /// An instruction of a body, by its number.
    At
);

/// What a class, a field or a method may be: the bits of the class file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct JavaAccess(pub u16);

impl JavaAccess {
    /// Whether it can be used from everywhere.
    pub fn is_public(self) -> bool {
        self.0 & 0x0001 != 0
    }

    /// Whether only its own class can use it.
    pub fn is_private(self) -> bool {
        self.0 & 0x0002 != 0
    }

    /// Whether its package and subclasses can use it.
    pub fn is_protected(self) -> bool {
        self.0 & 0x0004 != 0
    }

    /// Whether it belongs to the class and not to an object.
    pub fn is_static(self) -> bool {
        self.0 & 0x0008 != 0
    }

    /// Whether it is final.
    pub fn is_final(self) -> bool {
        self.0 & 0x0010 != 0
    }

    /// Whether a method holds the monitor of its object or class.
    pub fn is_synchronized(self) -> bool {
        self.0 & 0x0020 != 0
    }

    /// Whether a field is volatile.
    pub fn is_volatile(self) -> bool {
        self.0 & 0x0040 != 0
    }

    /// Whether a method is not written in Java.
    pub fn is_native(self) -> bool {
        self.0 & 0x0100 != 0
    }

    /// Whether a class is an interface.
    pub fn is_interface(self) -> bool {
        self.0 & 0x0200 != 0
    }

    /// Whether it has no body, or no objects of its own.
    pub fn is_abstract(self) -> bool {
        self.0 & 0x0400 != 0
    }

    /// Whether the compiler made it.
    pub fn is_synthetic(self) -> bool {
        self.0 & 0x1000 != 0
    }

    /// Whether a class file describes a module.
    pub fn is_module(self) -> bool {
        self.0 & 0x8000 != 0
    }
}

/// A class or an interface.
#[derive(Clone, PartialEq, Debug)]
pub struct JavaClass {
    /// Its name, with slashes.
    pub name: JavaName,
    /// The version of the class file.
    pub version: u16,
    /// What it may be.
    pub access: JavaAccess,
    /// The class that it extends; only `java/lang/Object` and modules have none.
    pub superclass: Option<JavaName>,
    /// The interfaces that it names.
    pub interfaces: Vec<JavaName>,
    /// Its fields.
    pub fields: Vec<JavaField>,
    /// Its methods.
    pub methods: Vec<JavaMethod>,
    /// The file that it was compiled from.
    pub source: Option<JavaName>,
    /// What `invokedynamic` and dynamic constants are made by.
    pub bootstraps: Vec<Bootstrap>,
    /// Its annotations.
    pub annotations: Vec<JavaAnnotation>,
}

/// A field.
#[derive(Clone, PartialEq, Debug)]
pub struct JavaField {
    /// Its name.
    pub name: JavaName,
    /// Its type.
    pub descriptor: JavaName,
    /// What it may be.
    pub access: JavaAccess,
    /// Its value, if that is a constant of the class file.
    pub constant: Option<JavaConstant>,
    /// Its annotations.
    pub annotations: Vec<JavaAnnotation>,
}

/// A method, a constructor (`<init>`) or a class initialiser (`<clinit>`).
#[derive(Clone, PartialEq, Debug)]
pub struct JavaMethod {
    /// Its name.
    pub name: JavaName,
    /// What it takes and gives.
    pub descriptor: JavaName,
    /// What it may be.
    pub access: JavaAccess,
    /// What it does, unless it is native or abstract.
    pub body: Option<JavaBody>,
    /// Its annotations.
    pub annotations: Vec<JavaAnnotation>,
    /// How it accesses its field, if it stands for a call of a handle.
    pub by_handle: Option<HandleMode>,
}

/// How a handle accesses a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HandleMode {
    /// Like an instruction, whatever the field is declared to be.
    Plain,
    /// In an order that all threads see.
    Volatile,
    /// The same; what is read first and what is written are one step.
    Atomic,
    /// One step, but one half of reading and writing.
    AtomicHalf,
}

impl HandleMode {
    /// The same access as one half of reading and writing.
    pub(crate) fn as_half(self) -> Self {
        match self {
            Self::Plain | Self::Volatile => Self::Plain,
            Self::Atomic | Self::AtomicHalf => Self::AtomicHalf,
        }
    }

    /// Whether what is read first and what is written are one step.
    pub(crate) fn is_atomic(self) -> bool {
        matches!(self, Self::Atomic | Self::AtomicHalf)
    }

    /// Whether it does not race with others like it.
    pub(crate) fn is_volatile(self) -> bool {
        matches!(self, Self::Volatile | Self::Atomic)
    }
}

impl JavaMethod {
    /// A method that no file has: its name, what it takes and gives, what it may be, how many locals it has, and
    /// what it does.
    pub(crate) fn made(
        name: JavaName,
        descriptor: JavaName,
        access: JavaAccess,
        max_locals: u16,
        instructions: Vec<JavaInstruction>,
    ) -> Self {
        let offsets = (0..).take(instructions.len()).collect();
        let body = JavaBody {
            max_stack: u16::MAX,
            max_locals,
            instructions,
            offsets,
            handlers: Vec::new(),
            lines: Vec::new(),
            locals: Vec::new(),
        };
        let annotations = Vec::new();
        Self { name, descriptor, access, body: Some(body), annotations, by_handle: None }
    }
}

/// An annotation, as far as texts go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JavaAnnotation {
    /// Its type, as a descriptor.
    pub descriptor: JavaName,
    /// The texts that it was given, by the name of its element.
    pub texts: Vec<(JavaName, JavaName)>,
}

/// What a method does.
#[derive(Clone, PartialEq, Debug)]
pub struct JavaBody {
    /// How many values the operand stack may have; `long` and `double` count twice.
    pub max_stack: u16,
    /// How many local variables there are; likewise.
    pub max_locals: u16,
    /// The instructions.
    pub instructions: Vec<JavaInstruction>,
    /// The byte at which each of them begins.
    pub offsets: Vec<u32>,
    /// The handlers of exceptions, the first that fits counts.
    pub handlers: Vec<JavaHandler>,
    /// From which instruction on which line of the source counts, in the order of the instructions.
    pub lines: Vec<(At, u32)>,
    /// The names of local variables.
    pub locals: Vec<JavaLocal>,
}

impl JavaBody {
    /// The line of an instruction, if it is known.
    pub fn line(&self, at: At) -> Option<u32> {
        let next = self.lines.partition_point(|&(from, _)| from <= at);
        self.lines[..next].last().map(|&(_, line)| line)
    }
}

/// A handler of exceptions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JavaHandler {
    /// The first instruction that it guards.
    pub start: At,
    /// The first behind them.
    pub end: At,
    /// Where it begins.
    pub target: At,
    /// What it catches; everything if nothing is said.
    pub catches: Option<JavaName>,
}

/// The name of a local variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JavaLocal {
    /// The first instruction in which it has the name.
    pub start: At,
    /// The first behind them.
    pub end: At,
    /// Its number.
    pub index: u16,
    /// Its name.
    pub name: JavaName,
    /// Its type.
    pub descriptor: JavaName,
}

/// A field or a method of a class, as an instruction names it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct JavaMember {
    /// The class in which it is looked for.
    pub class: JavaName,
    /// Its name.
    pub name: JavaName,
    /// Its type.
    pub descriptor: JavaName,
}

/// What a method handle does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HandleKind {
    /// Reads or writes a field.
    Field(FieldAccess),
    /// Calls a method.
    Invoke(InvokeKind),
    /// Makes an object and calls its constructor.
    New,
}

/// A method handle.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct JavaHandle {
    /// What it does.
    pub kind: HandleKind,
    /// With what.
    pub member: JavaMember,
}

/// A bootstrap method and what it is given.
#[derive(Clone, PartialEq, Debug)]
pub struct Bootstrap {
    /// The method.
    pub method: JavaHandle,
    /// What it is given.
    pub arguments: Vec<JavaConstant>,
}

/// A constant.
#[derive(Clone, PartialEq, Debug)]
pub enum JavaConstant {
    /// `null`.
    Null,
    /// A number of 32 bits, a character or a truth value.
    Int(i32),
    /// A number of 64 bits.
    Long(i64),
    /// A small floating point number.
    Float(f32),
    /// A large one.
    Double(f64),
    /// A text.
    Text(JavaName),
    /// A class or a type of arrays.
    Class(JavaName),
    /// A type of methods.
    MethodType(JavaName),
    /// A method handle.
    Handle(JavaHandle),
    /// One that a bootstrap method makes, with its type.
    Dynamic(u16, JavaName),
}

/// What a value is, as far as instructions tell.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum JavaKind {
    /// 32 bits, also characters, truth values and shorter numbers.
    Int,
    /// 64 bits.
    Long,
    /// A small floating point number.
    Float,
    /// A large one.
    Double,
    /// An object, an array or `null`.
    Reference,
}

impl JavaKind {
    /// How much room a value takes on the operand stack and among local variables.
    pub fn width(self) -> u16 {
        match self {
            Self::Int | Self::Float | Self::Reference => 1,
            Self::Long | Self::Double => 2,
        }
    }
}

/// What an instruction does with the topmost values alone; values are words, as the machine counts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StackOperation {
    /// Drops one.
    Pop,
    /// Drops two.
    Pop2,
    /// Copies the topmost one.
    Dup,
    /// Copies it below the second.
    DupX1,
    /// Copies it below the third.
    DupX2,
    /// Copies the topmost two.
    Dup2,
    /// Copies them below the third.
    Dup2X1,
    /// Copies them below the fourth.
    Dup2X2,
    /// Exchanges two.
    Swap,
}

/// What is computed of two numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Arithmetic {
    /// Sum.
    Add,
    /// Difference.
    Subtract,
    /// Product.
    Multiply,
    /// Quotient.
    Divide,
    /// Remainder.
    Remainder,
    /// Shift to the left by an int.
    ShiftLeft,
    /// Shift to the right by an int, with the sign.
    ShiftRight,
    /// Shift to the right by an int, without the sign.
    ShiftRightUnsigned,
    /// Bits of both.
    And,
    /// Bits of either.
    Or,
    /// Bits of one.
    Xor,
    /// -1, 0 or 1, as an int.
    Compare,
}

/// How two numbers, or a number and 0, are to be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Comparison {
    /// Equal.
    Equal,
    /// Different.
    NotEqual,
    /// Less.
    Less,
    /// Not less.
    NotLess,
    /// Greater.
    Greater,
    /// Not greater.
    NotGreater,
}

/// When a branch is taken.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BranchCondition {
    /// An int compares so with 0.
    Zero(Comparison),
    /// Two ints compare so.
    Ints(Comparison),
    /// Two references are the same, or are not.
    Same(bool),
    /// A reference is null, or is not.
    Null(bool),
}

/// How a field is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FieldAccess {
    /// Reads a static one.
    GetStatic,
    /// Writes a static one.
    PutStatic,
    /// Reads one of an object.
    Get,
    /// Writes one of an object.
    Put,
}

/// How a method is called.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum InvokeKind {
    /// That of the object's own class.
    Virtual,
    /// The same, looked for in an interface.
    Interface,
    /// This one: a constructor, a private method, one of a superclass.
    Special,
    /// A static one.
    Static,
}

/// An instruction. Those that do alike are one.
#[derive(Clone, PartialEq, Debug)]
pub enum JavaInstruction {
    /// Nothing.
    Nop,
    /// Pushes a constant.
    Constant(JavaConstant),
    /// Pushes a local variable.
    Load(JavaKind, u16),
    /// Pops into a local variable.
    Store(JavaKind, u16),
    /// Adds a number to a local variable.
    Increment(u16, i16),
    /// Works on the topmost values alone.
    Stack(StackOperation),
    /// Computes something of two numbers.
    Compute(Arithmetic, JavaKind),
    /// Changes the sign.
    Negate(JavaKind),
    /// Makes a number of one kind one of another, or a shorter one.
    Convert(JavaKind, JavaKind),
    /// Pushes an element of an array.
    ArrayLoad(JavaKind),
    /// Pops into an element of an array.
    ArrayStore(JavaKind),
    /// Pushes the length of an array.
    ArrayLength,
    /// Makes an array with elements of this type, of so many dimensions.
    NewArray(JavaName, u8),
    /// Accesses a field.
    Field(FieldAccess, JavaMember),
    /// Calls a method.
    Invoke(InvokeKind, JavaMember),
    /// Calls what a bootstrap method gives, with this name and type.
    InvokeDynamic(u16, JavaName, JavaName),
    /// Makes an object.
    New(JavaName),
    /// Throws unless a reference is null or of this type.
    CheckCast(JavaName),
    /// Pushes whether a reference is of this type.
    InstanceOf(JavaName),
    /// Takes a monitor.
    MonitorEnter,
    /// Frees a monitor.
    MonitorExit,
    /// Throws.
    Throw,
    /// Returns, with a value if one is named.
    Return(Option<JavaKind>),
    /// Goes on elsewhere under a condition.
    Branch(BranchCondition, At),
    /// Goes on elsewhere.
    Goto(At),
    /// Goes on where an int says, or else at the first.
    Switch(At, Vec<(i32, At)>),
    /// Calls a subroutine of the body; class files before version 51 only.
    Subroutine(At),
    /// Returns from one, to where a local variable says.
    SubroutineReturn(u16),
}

impl JavaInstruction {
    /// Whether the next instruction can follow.
    pub fn goes_on(&self) -> bool {
        !matches!(
            self,
            Self::Throw
                | Self::Return(_)
                | Self::Goto(_)
                | Self::Switch(..)
                | Self::SubroutineReturn(_)
        )
    }

    /// Where it can go on other than at the next instruction.
    pub fn targets(&self) -> Vec<At> {
        match self {
            Self::Branch(_, target) | Self::Goto(target) | Self::Subroutine(target) => {
                vec![*target]
            }
            Self::Switch(default, cases) => {
                std::iter::once(*default).chain(cases.iter().map(|&(_, target)| target)).collect()
            }
            _ => Vec::new(),
        }
    }
}
