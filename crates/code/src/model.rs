//! # Idea
//! A module of the object program as plain data: types with their fields, globals, methods, and
//! procedures made of blocks. An object is what one execution of `make` or `local` gives, or a
//! global; an address is an object and a path in it. What a statement does is in
//! [`crate::statement`].
//!
//! # Source
//! The design of issue 29, sections 1 to 4 of its page on `code`.
//! Deviations: `locked` may name a global, for static methods that lock their class; a handler may
//! catch everything; a method that nobody implements is declared, so that misspelt ones are found.
//!
//! # Requires
//! Ids are in range, and names of one kind differ; [`crate::validate`] says whether they do.
//!
//! # Invariants
//! 1. Parameter `k` of a procedure is its register `k`.
//! 2. The first block of a procedure is its entry.
//! 3. A field is in the list of its owner, and in no other.

use crate::place::{InlinedPlace, PlaceId};
use crate::statement::{End, Statement, Value};
use crate::words::{FieldFlag, Flags, ProcedureFlag, TypeFlag};
use selvedge_base::{IdVec, Place, define_id};

define_id!(
    /// A type.
    TypeId
);
define_id!(
    /// A field of a type.
    FieldId
);
define_id!(
    /// A global.
    GlobalId
);
define_id!(
    /// A method that objects are asked for.
    MethodId
);
define_id!(
    /// A procedure, or the body of a row.
    ProcedureId
);
define_id!(
    /// A block of a procedure.
    BlockId
);
define_id!(
    /// A register of a procedure.
    RegisterId
);

/// All code that is analysed together.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Module {
    /// The names of files: the `k`-th is [`FileId`](selvedge_base::FileId) `k + 1`.
    pub files: Vec<String>,
    /// The places of statements.
    pub places: IdVec<PlaceId, InlinedPlace>,
    /// The types.
    pub types: IdVec<TypeId, Type>,
    /// The fields of all types.
    pub fields: IdVec<FieldId, Field>,
    /// The globals.
    pub globals: IdVec<GlobalId, Global>,
    /// The methods.
    pub methods: IdVec<MethodId, Method>,
    /// The procedures and the bodies of rows.
    pub procedures: IdVec<ProcedureId, Procedure>,
}

impl Module {
    /// The name of the file in which a place lies, if it has one.
    pub fn file_name(&self, place: Place) -> Option<&str> {
        use selvedge_base::Id as _;
        let at = place.file.index().checked_sub(1)?;
        self.files.get(at).map(String::as_str)
    }

    /// A type and those above it, the nearest first, each once.
    pub fn types_above(&self, ty: TypeId) -> Vec<TypeId> {
        let mut found = vec![ty];
        let mut seen = std::collections::HashSet::from([ty]);
        let mut next = 0;
        while let Some(&one) = found.get(next) {
            let above = self.types[one].supertypes.iter().copied();
            found.extend(above.filter(|&above| seen.insert(above)));
            next += 1;
        }
        found
    }

    /// What runs if an object of a type is asked for a method: the target of the nearest type above.
    pub fn target(&self, method: MethodId, ty: TypeId) -> Option<ProcedureId> {
        let targets = &self.methods[method].targets;
        let of = |ty: TypeId| targets.iter().find(|&&(class, _)| class == ty).map(|one| one.1);
        self.types_above(ty).into_iter().find_map(of)
    }
}

/// A type of objects.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Type {
    /// Its name.
    pub name: String,
    /// Its bytes; 0 if the language has no sizes.
    pub size: u64,
    /// The types whose fields and methods it has, too.
    pub supertypes: Vec<TypeId>,
    /// What is known about it.
    pub flags: Flags<TypeFlag>,
    /// Its own fields.
    pub fields: Vec<FieldId>,
    /// Which value of which field says what the other fields mean.
    pub variants: Option<Variants>,
}

/// The variants of a type and the field that tells them apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variants {
    /// The tag; null pointers count as 0.
    pub tag: FieldId,
    /// The names of variants, each with its value of the tag.
    pub cases: Vec<(String, i64)>,
}

/// A field of a type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// The type that declares it.
    pub owner: TypeId,
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// Its first byte, if the language says it.
    pub offset: Option<u64>,
    /// What is known about it.
    pub flags: Flags<FieldFlag>,
}

/// What memory holds: one thing, or an array of them.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Kind {
    /// One thing.
    pub element: Element,
    /// How many, from the outermost dimension to the innermost; 0 if that is not known.
    pub counts: Vec<u64>,
}

impl Kind {
    /// One thing, and no array.
    pub const fn single(element: Element) -> Self {
        Self { element, counts: Vec::new() }
    }
}

/// One thing in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Element {
    /// So many bytes; 0 if the language does not say how many.
    Word(u64),
    /// An address, or null.
    Reference(Option<TypeId>),
    /// An object inside of another one.
    Inline(TypeId),
}

/// An object that exists from the start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Global {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// What is known about it.
    pub flags: Flags<FieldFlag>,
}

/// A method that is selected by the type of an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Method {
    /// The type that declares it.
    pub owner: TypeId,
    /// Its name.
    pub name: String,
    /// What runs for objects of each type.
    pub targets: Vec<(TypeId, ProcedureId)>,
}

/// Code that is called.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Procedure {
    /// Its name.
    pub name: String,
    /// Whether it says what a library does, for calls outside of the same name.
    pub is_row: bool,
    /// What its parameters hold, as far as the language says it.
    pub parameters: Vec<Option<Kind>>,
    /// A parameter or the address of a global whose lock is held while the procedure runs.
    pub locked: Option<Value>,
    /// What its results hold, as far as the language says it.
    pub returns: Vec<Option<Kind>>,
    /// What is known about it.
    pub flags: Flags<ProcedureFlag>,
    /// Remarks of the language that only some analyses read.
    pub annotations: Vec<String>,
    /// The names of its registers, parameters first.
    pub registers: IdVec<RegisterId, String>,
    /// Its blocks; none if its code is not known.
    pub blocks: IdVec<BlockId, Block>,
}

impl Procedure {
    /// Its registers that are parameters.
    pub fn parameter_registers(&self) -> impl Iterator<Item = RegisterId> + use<> {
        use selvedge_base::Id as _;
        (0..self.parameters.len()).map(RegisterId::from_index)
    }
}

/// Statements that run one after the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// Its label.
    pub name: String,
    /// Where what fails in it goes: to the first handler that fits.
    pub handlers: Vec<Handler>,
    /// What it does.
    pub statements: Vec<Statement>,
    /// How it ends.
    pub end: End,
}

/// Where failures go.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Handler {
    /// The type of failure that it takes; all if there is none.
    pub catches: Option<TypeId>,
    /// The block.
    pub target: BlockId,
}

/// A place between statements of a procedure: before statement `index` of a block, or before its end
/// if there are `index` statements.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Point {
    /// The block.
    pub block: BlockId,
    /// How many statements of the block lie before.
    pub index: u32,
}

impl Point {
    /// Before statement `index` of `block`.
    pub fn new(block: BlockId, index: usize) -> Self {
        Self { block, index: index as u32 }
    }
}
