//! Types, fields, globals and procedures, given or only named.

use super::{Constant, LambdaType, Translation, Translator};
use crate::class::{JavaAccess, JavaKind, JavaMember};
use crate::frames::DECLARED;
use crate::names::{JavaName, kind_of_field, parameters_of_method};
use crate::world::{ClassId, MemberId, World};
use rustc_hash::FxHashMap;
use selvedge_base::{FileId, Id, IdVec};
use selvedge_code::model::{
    Element, Field, FieldId, Global, GlobalId, Kind, Method, MethodId, Procedure, ProcedureId,
    RegisterId, Type, TypeId,
};
use selvedge_code::place::PlaceInterner;
use selvedge_code::registers::FreshNames;
use selvedge_code::statement::Value;
use selvedge_code::words::{FieldFlag, Flags, ProcedureFlag, TypeFlag};

const OBJECT: &str = "java/lang/Object";
/// What every array is.
const ABOVE_ARRAYS: [&str; 3] = [OBJECT, "java/lang/Cloneable", "java/io/Serializable"];
/// Names of texts are cut behind so many characters.
const SHOWN: usize = 24;

impl<'a> Translator<'a> {
    pub(super) fn new(world: &'a World) -> Self {
        let mut translator = Self {
            world,
            made: Translation::default(),
            places: PlaceInterner::default(),
            files: FxHashMap::default(),
            type_names: FreshNames::beside([]),
            field_names: FxHashMap::default(),
            global_names: FreshNames::beside([]),
            procedure_names: FreshNames::beside([]),
            types: FxHashMap::default(),
            arrays: FxHashMap::default(),
            elements: FxHashMap::default(),
            length: None,
            fields: FxHashMap::default(),
            outside_fields: FxHashMap::default(),
            statics: FxHashMap::default(),
            constants: FxHashMap::default(),
            outside: FxHashMap::default(),
            methods: FxHashMap::default(),
            called: Vec::new(),
            lambdas: Vec::<LambdaType>::new(),
        };
        for class in &world.classes {
            translator.class(class.name);
        }
        for class in world.classes.ids() {
            translator.declare(class);
        }
        translator
    }

    pub(super) fn text(&self, name: JavaName) -> &'a str {
        self.world.names.text(name)
    }

    /// A new type.
    pub(super) fn add_type(&mut self, name: &str, flags: Flags<TypeFlag>) -> TypeId {
        let name = self.type_names.name(name);
        self.made.module.types.push(Type { name, flags, ..Type::default() })
    }

    /// The type of a class, or of an array if the name is a descriptor of one.
    pub(super) fn class(&mut self, name: JavaName) -> TypeId {
        if let Some(&known) = self.types.get(&name) {
            return known;
        }
        let text = self.text(name);
        let ty = if text.starts_with('[') {
            self.array(text)
        } else {
            let mut flags = Flags::default();
            if DECLARED.contains(&text) {
                flags.insert(TypeFlag::Declared);
            }
            if self.world.find(name).is_none() {
                flags.insert(TypeFlag::Outside);
            }
            self.add_type(text, flags)
        };
        self.types.insert(name, ty);
        ty
    }

    /// The type of a class that is known by its text only.
    fn class_named(&mut self, text: &str) -> Option<TypeId> {
        let name = self.world.names.find(text)?;
        Some(self.class(name))
    }

    /// The type of an array, by its descriptor.
    pub(super) fn array(&mut self, descriptor: &str) -> TypeId {
        if let Some(&known) = self.arrays.get(descriptor) {
            return known;
        }
        let ty = self.add_type(descriptor, Flags::default());
        // Known before its elements are, which may be arrays in turn.
        self.arrays.insert(descriptor.to_owned(), ty);
        let element = &descriptor[1..];
        let kind = kind_of_field(element).unwrap_or(JavaKind::Reference);
        let mut above: Vec<TypeId> = vec![self.elements(kind).0];
        above.extend(ABOVE_ARRAYS.iter().filter_map(|one| self.class_named(one)));
        for name in self.above_element(element) {
            above.push(self.array(&format!("[{name}")));
        }
        self.made.module.types[ty].supertypes = above;
        ty
    }

    /// The type above all arrays whose elements one instruction accesses, and their elements.
    pub(super) fn elements(&mut self, kind: JavaKind) -> (TypeId, FieldId) {
        if let Some(&known) = self.elements.get(&kind) {
            return known;
        }
        let (name, element) = match kind {
            JavaKind::Int => ("ints[]", Element::Word(4)),
            JavaKind::Long => ("longs[]", Element::Word(8)),
            JavaKind::Float => ("floats[]", Element::Word(4)),
            JavaKind::Double => ("doubles[]", Element::Word(8)),
            JavaKind::Reference => ("references[]", Element::Reference(None)),
        };
        let ty = self.add_type(name, Flags::default());
        let length = self.length();
        self.made.module.types[ty].supertypes = vec![self.made.module.fields[length].owner];
        let field = self.add_field(ty, "[]", Kind { element, counts: vec![0] });
        self.elements.insert(kind, (ty, field));
        (ty, field)
    }

    /// The length of every array.
    pub(super) fn length(&mut self) -> FieldId {
        if let Some(known) = self.length {
            return known;
        }
        let ty = self.add_type("array", Flags::default());
        let length = self.add_field(ty, "length", Kind::single(Element::Word(4)));
        self.made.module.fields[length].flags.insert(FieldFlag::Final);
        self.length = Some(length);
        length
    }

    /// The descriptors of the types right above the elements of an array.
    fn above_element(&self, element: &str) -> Vec<String> {
        if let Some(inner) = element.strip_prefix('[') {
            // Arrays of arrays are arrays of whatever those are.
            let mut all: Vec<String> =
                ABOVE_ARRAYS.iter().map(|above| format!("L{above};")).collect();
            let inner = self.above_element(inner);
            all.extend(inner.into_iter().map(|above| format!("[{above}")));
            return all;
        }
        let name = element.strip_prefix('L').and_then(|text| text.strip_suffix(';'));
        let Some(class) = name.and_then(|name| self.world.names.find(name)) else {
            return Vec::new();
        };
        let Some(class) = self.world.find(class) else {
            let is_object = name == Some(OBJECT);
            return if is_object { Vec::new() } else { vec![format!("L{OBJECT};")] };
        };
        let of = &self.world.classes[class];
        // A class may name itself, or one below it, as the one above; what goes round is left out.
        let names = of.superclass.into_iter().chain(of.interfaces.iter().copied());
        let is_below = |name: &JavaName| {
            self.world
                .find(*name)
                .is_some_and(|above| self.world.extends(above, class) == Some(true))
        };
        let names = names.filter(|name| !is_below(name));
        names.map(|name| format!("L{};", self.text(name))).collect()
    }

    /// What a field or parameter of a type holds.
    pub(super) fn kind(&mut self, descriptor: &str) -> Option<Kind> {
        Some(Kind::single(match descriptor.as_bytes().first()? {
            b'Z' | b'B' => Element::Word(1),
            b'C' | b'S' => Element::Word(2),
            b'I' | b'F' => Element::Word(4),
            b'J' | b'D' => Element::Word(8),
            b'[' => Element::Reference(Some(self.array(descriptor))),
            _ => {
                let name = descriptor.strip_prefix('L')?.strip_suffix(';')?;
                Element::Reference(self.class_named(name))
            }
        }))
    }

    pub(super) fn add_field(&mut self, owner: TypeId, name: &str, kind: Kind) -> FieldId {
        let module = &mut self.made.module;
        // Fields of one name differ by their types in class files.
        let names = self.field_names.entry(owner).or_insert_with(|| FreshNames::beside([]));
        let name = names.name(name);
        let field = Field { owner, name, kind, offset: None, flags: Flags::default() };
        let field = module.fields.push(field);
        module.types[owner].fields.push(field);
        field
    }

    fn declare(&mut self, class: ClassId) {
        let of = &self.world.classes[class];
        let ty = self.class(of.name);
        let mut above: Vec<TypeId> = Vec::new();
        for name in of.superclass.iter().chain(&of.interfaces) {
            let one = self.class(*name);
            let goes_round = self
                .world
                .find(*name)
                .is_some_and(|one| self.world.extends(one, class) == Some(true));
            if !goes_round && !above.contains(&one) {
                above.push(one);
            }
        }
        self.made.module.types[ty].supertypes = above;
        for (number, field) in of.fields.iter().enumerate() {
            let id = MemberId { class, number };
            let kind = self.kind(self.text(field.descriptor));
            let kind = kind.unwrap_or(Kind::single(Element::Reference(None)));
            let name = self.text(field.name);
            let mut flags = Flags::default();
            if field.access.is_final() {
                flags.insert(FieldFlag::Final);
            }
            if field.access.is_volatile() {
                flags.insert(FieldFlag::Volatile);
            }
            if field.access.is_static() {
                let name = format!("{}.{name}", self.text(of.name));
                let name = self.global_names.name(&name);
                let global = self.made.module.globals.push(Global { name, kind, flags });
                self.statics.insert(id, global);
            } else {
                let made = self.add_field(ty, name, kind);
                self.made.module.fields[made].flags = flags;
                self.fields.insert(id, made);
            }
        }
        for number in 0..of.methods.len() {
            self.declare_method(MemberId { class, number });
        }
    }

    fn declare_method(&mut self, id: MemberId) {
        let of = self.world.of(id);
        let class = self.text(self.world.classes[id.class].name);
        let name = format!("{class}.{}{}", self.text(of.name), self.text(of.descriptor));
        let mut procedure = self.signature(&name, of.descriptor, !of.access.is_static());
        procedure.flags = flags_of(of.access);
        if self.text(of.name) == "<init>" {
            procedure.flags.insert(ProcedureFlag::Constructor);
        }
        if of.access.is_synchronized() && of.body.is_some() {
            procedure.locked = Some(if of.access.is_static() {
                Value::Global(self.constant(Constant::Class(self.world.classes[id.class].name)))
            } else {
                Value::Register(RegisterId::from_index(0))
            });
        }
        let procedure = self.made.module.procedures.push(procedure);
        self.made.procedures.insert(id, procedure);
    }

    /// A procedure without blocks: its name, and what it takes and gives.
    pub(super) fn signature(
        &mut self,
        name: &str,
        descriptor: JavaName,
        has_this: bool,
    ) -> Procedure {
        let descriptor = self.text(descriptor);
        let mut parameters = Vec::new();
        let mut registers: IdVec<RegisterId, String> = IdVec::new();
        if has_this {
            parameters.push(Some(Kind::single(Element::Reference(None))));
            registers.push("this".to_owned());
        }
        for (number, one) in parameters_of_method(descriptor).into_iter().enumerate() {
            parameters.push(self.kind(one));
            registers.push(format!("a{number}"));
        }
        let result = descriptor.rsplit(')').next().unwrap_or_default();
        let returns = if result == "V" { Vec::new() } else { vec![self.kind(result)] };
        Procedure {
            name: self.procedure_names.name(name),
            parameters,
            registers,
            returns,
            ..Procedure::default()
        }
    }

    /// A method of a class that is not given, or that has no such method.
    pub(super) fn outside_method(&mut self, member: JavaMember, has_this: bool) -> ProcedureId {
        if let Some(&known) = self.outside.get(&(member, has_this)) {
            return known;
        }
        let class = self.text(member.class);
        let name = format!("{class}.{}{}", self.text(member.name), self.text(member.descriptor));
        let procedure = self.signature(&name, member.descriptor, has_this);
        let procedure = self.made.module.procedures.push(procedure);
        self.outside.insert((member, has_this), procedure);
        procedure
    }

    /// The field of an object that is not given.
    pub(super) fn outside_field(&mut self, member: JavaMember) -> FieldId {
        if let Some(&known) = self.outside_fields.get(&member) {
            return known;
        }
        let owner = self.class(member.class);
        let kind = self.kind(self.text(member.descriptor));
        let kind = kind.unwrap_or(Kind::single(Element::Reference(None)));
        let field = self.add_field(owner, self.text(member.name), kind);
        self.outside_fields.insert(member, field);
        field
    }

    /// A method that objects are asked for.
    pub(super) fn virtual_method(&mut self, member: JavaMember) -> MethodId {
        if let Some(&known) = self.methods.get(&member) {
            return known;
        }
        let owner = self.class(member.class);
        let name = format!("{}{}", self.text(member.name), self.text(member.descriptor));
        let method = self.made.module.methods.push(Method { owner, name, targets: Vec::new() });
        self.methods.insert(member, method);
        self.called.push(member);
        method
    }

    pub(super) fn constant(&mut self, constant: Constant) -> GlobalId {
        if let Some(&known) = self.constants.get(&constant) {
            return known;
        }
        let object_of = |translator: &mut Self, class: &str| {
            let ty = translator.class_named(class);
            ty.map_or(Element::Word(0), Element::Inline)
        };
        let (name, kind) = match constant {
            Constant::Class(name) => (
                format!("class {}", self.text(name)),
                Kind::single(object_of(self, "java/lang/Class")),
            ),
            Constant::Text(name) => {
                let shown: String = self.text(name).chars().take(SHOWN).collect();
                (format!("\"{shown}\""), Kind::single(object_of(self, "java/lang/String")))
            }
            Constant::Outside(member) => {
                let name = format!("{}.{}", self.text(member.class), self.text(member.name));
                let kind = self.kind(self.text(member.descriptor));
                (name, kind.unwrap_or(Kind::single(Element::Reference(None))))
            }
        };
        let name = self.global_names.name(&name);
        let global = Global { name, kind, flags: Flags::default() };
        let global = self.made.module.globals.push(global);
        self.constants.insert(constant, global);
        global
    }

    /// The file that a class was compiled from.
    pub(super) fn file(&mut self, class: ClassId) -> FileId {
        if let Some(&known) = self.files.get(&class) {
            return known;
        }
        let of = &self.world.classes[class];
        let name = self.text(of.name);
        let source = of.source.map_or("", |source| self.text(source));
        let path = match name.rsplit_once('/') {
            Some((package, _)) if !source.is_empty() => format!("{package}/{source}"),
            _ if source.is_empty() => format!("{name}.class"),
            _ => source.to_owned(),
        };
        let file = self.places.file(&mut self.made.module.files, &path);
        self.files.insert(class, file);
        file
    }

    pub(super) fn finish(mut self) -> Translation {
        self.targets();
        self.made
    }
}

fn flags_of(access: JavaAccess) -> Flags<ProcedureFlag> {
    let all = [
        (access.is_public(), ProcedureFlag::Public),
        (access.is_private(), ProcedureFlag::Private),
        (access.is_static(), ProcedureFlag::Static),
        (access.is_synthetic(), ProcedureFlag::Synthetic),
    ];
    all.into_iter().filter(|one| one.0).map(|one| one.1).collect()
}
