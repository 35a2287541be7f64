//! # Idea
//! Classes as a module of the object program: the operand stack becomes registers, members become
//! fields, globals and procedures, and what the machine does without an instruction becomes
//! statements: class initialisers run by `once` in front of instructions that cause them, a lambda is
//! an object of a type of its own whose fields hold the captured values.
//!
//! - `declarations`: types, fields, globals, procedures; also those that are named and not given.
//! - `builder`: registers and statements of one procedure. `access`: fields, arrays, new objects,
//!   initialisers. `calls`: calls. `lambdas`: their types, and their procedures.
//! - `body`: bytecode to blocks, with `stack` and `instructions`. `dispatch`: the target of each method for each type.
//!
//! # Source
//! JVMS 2.10 (exceptions), 2.11, 5.4.6 (selection), 5.5 (initialisation), 6.5 (instructions).
//!
//! # Invariants
//! 1. The module is valid, whatever the class files say.
//! 2. The origin of a statement is the number of its instruction.
//! 3. A body that is refused by [`crate::frames`] is refused here, and its procedure has no blocks.

mod access;
mod body;
mod builder;
mod calls;
mod declarations;
mod dispatch;
mod instructions;
mod lambdas;
mod stack;

use crate::class::{HandleMode, JavaKind, JavaMember};
use crate::frames::FrameRefusal;
use crate::names::JavaName;
use crate::world::{ClassId, MemberId, World};
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, FileId, StopReason};
use selvedge_code::model::{FieldId, GlobalId, MethodId, Module, ProcedureId, TypeId};
use selvedge_code::place::PlaceInterner;
use selvedge_code::registers::FreshNames;
use std::collections::BTreeMap;

/// A module, and which member of the world is which part of it.
#[derive(Clone, Debug, Default)]
pub struct Translation {
    /// The module.
    pub module: Module,
    /// The procedures of methods.
    pub procedures: BTreeMap<MemberId, ProcedureId>,
    /// The methods whose bodies were refused.
    pub refused: Vec<(MemberId, FrameRefusal)>,
}

/// The module of all classes of a world.
///
/// # Errors
/// If the budget is used up.
pub fn translate(world: &World, budget: &Budget) -> Result<Translation, StopReason> {
    let mut translator = Translator::new(world);
    for class in world.classes.ids() {
        for number in 0..world.classes[class].methods.len() {
            let method = MemberId { class, number };
            let count = world.of(method).body.as_ref().map_or(0, |body| body.instructions.len());
            budget.charge(1 + count as u64)?;
            translator.method(method);
        }
    }
    Ok(translator.finish())
}

/// A global that no static field of a given class is.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Constant {
    Class(JavaName),
    Text(JavaName),
    /// A static field of a class that is not given.
    Outside(JavaMember),
}

/// A lambda: the type of its objects and what they do.
struct LambdaType {
    ty: TypeId,
    /// The functional interface.
    interface: JavaName,
    /// The method that it implements.
    method: JavaName,
    /// How many arguments that takes.
    arguments: usize,
    procedure: ProcedureId,
}

struct Translator<'a> {
    world: &'a World,
    made: Translation,
    places: PlaceInterner,
    files: FxHashMap<ClassId, FileId>,
    type_names: FreshNames,
    field_names: FxHashMap<TypeId, FreshNames>,
    global_names: FreshNames,
    procedure_names: FreshNames,
    types: FxHashMap<JavaName, TypeId>,
    /// Types of arrays by their descriptors.
    arrays: FxHashMap<String, TypeId>,
    /// The types of arrays that one instruction accesses, with the field of their elements.
    elements: FxHashMap<JavaKind, (TypeId, FieldId)>,
    length: Option<FieldId>,
    fields: FxHashMap<MemberId, FieldId>,
    outside_fields: FxHashMap<JavaMember, FieldId>,
    statics: FxHashMap<MemberId, GlobalId>,
    constants: FxHashMap<Constant, GlobalId>,
    outside: FxHashMap<(JavaMember, bool), ProcedureId>,
    methods: FxHashMap<JavaMember, MethodId>,
    /// Members that are called by objects, in the order of the methods.
    called: Vec<JavaMember>,
    lambdas: Vec<LambdaType>,
}

/// How accesses to fields are ordered in a method.
fn mode_of(world: &World, method: MemberId) -> Option<HandleMode> {
    world.of(method).by_handle
}
