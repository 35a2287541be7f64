//! # Idea
//! Classes together: who extends whom, which field or method an instruction means, which method a call
//! reaches in an object of some class, where a program can begin, and what is named and not there.
//!
//! # Source
//! JVMS 5.4.3.2 to 5.4.3.4 (resolution) and 5.4.6 (selection).
//! Access rights are not looked at: whether a program may do something is for the machine to say.
//!
//! # Invariants
//! 1. Of two classes of one name the first counts.
//! 2. A hierarchy that goes round is followed once, and a class is no superclass of itself by that.

use crate::class::{
    InvokeKind, JavaAccess, JavaClass, JavaConstant, JavaInstruction, JavaKind, JavaMember,
    JavaMethod, StackOperation,
};
use crate::names::{JavaName, JavaNames};
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::{IdVec, define_id};
use std::collections::{BTreeMap, BTreeSet};

/// The first version of class files with which a program may begin as Java 25 has it.
const LAUNCHED: u16 = 69;
/// The name of a method that does what the machine does then.
const LAUNCHER: &str = "main#launched";

define_id!(
    /// A class of a world.
    ClassId
);

/// A field or a method, by its class and its number there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MemberId {
    /// The class that declares it.
    pub class: ClassId,
    /// Its number among the fields, or among the methods, of the class.
    pub number: usize,
}

/// What became of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resolution<T> {
    /// This is meant.
    Found(T),
    /// There is no such thing, and everything that could have it is there.
    Absent,
    /// It may be in this class, which is not there.
    Missing(JavaName),
}

/// Classes that know each other.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// Their names.
    pub names: JavaNames,
    /// The classes.
    pub classes: IdVec<ClassId, JavaClass>,
    by_name: FxHashMap<JavaName, ClassId>,
    /// The names without packages that several classes have.
    ambiguous: FxHashSet<String>,
    known: KnownNames,
}

/// Names that the analysis asks for, whether a class has them or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct KnownNames {
    pub object: JavaName,
    pub strings: JavaName,
    pub run: JavaName,
    pub clinit: JavaName,
    pub init: JavaName,
    pub nothing: JavaName,
    pub class: JavaName,
    /// Lists, sets and maps that nothing changes.
    pub fixed: [JavaName; 3],
}

impl KnownNames {
    fn new(names: &mut JavaNames) -> Self {
        Self {
            object: names.intern("java/lang/Object"),
            strings: names.intern("[Ljava/lang/String;"),
            run: names.intern("run"),
            clinit: names.intern("<clinit>"),
            init: names.intern("<init>"),
            nothing: names.intern("()V"),
            class: names.intern("java/lang/Class"),
            fixed: ["List", "Set", "Map"].map(|one| names.intern(&format!("java/util/Fixed{one}"))),
        }
    }
}

impl Default for KnownNames {
    fn default() -> Self {
        Self::new(&mut JavaNames::default())
    }
}

impl World {
    /// The world of these classes.
    pub fn new(mut names: JavaNames, classes: impl IntoIterator<Item = JavaClass>) -> Self {
        let known = KnownNames::new(&mut names);
        let mut world = Self { names, known, ..Self::default() };
        for class in classes {
            if !world.by_name.contains_key(&class.name) {
                let name = class.name;
                let id = world.classes.push(class);
                world.by_name.insert(name, id);
            }
        }
        world.note_ambiguous();
        world.add_launchers();
        world.intern_arrays();
        world
    }

    fn note_ambiguous(&mut self) {
        let mut seen: FxHashSet<&str> = FxHashSet::default();
        for class in &self.classes {
            let short = without_package(self.names.text(class.name));
            if !seen.insert(short) {
                self.ambiguous.insert(short.to_owned());
            }
        }
    }

    /// The name of a class without its package, unless another one has that, too; as the class file has it.
    pub(crate) fn short_name(&self, class: ClassId) -> &str {
        let text = self.names.text(self.classes[class].name);
        let short = without_package(text);
        if self.ambiguous.contains(short) { text } else { short }
    }

    /// From Java 25 on a program may begin with a method `main` of a new object, or without parameters: what
    /// the machine does then is a method here, if the class has no `main` of the old kind.
    fn add_launchers(&mut self) {
        let (strings, nothing) = (self.known.strings, self.known.nothing);
        let name = self.names.intern("main");
        let of_strings = self.names.intern(&format!("({})V", self.names.text(strings)));
        for class in self.classes.ids() {
            let of = &self.classes[class];
            let has_no_objects = of.access.is_interface() || of.access.is_abstract();
            if of.version < LAUNCHED || self.main_of(class).is_some() {
                continue;
            }
            let own = |descriptor: JavaName| {
                of.methods.iter().find(|one| {
                    let called = one.name == name && one.descriptor == descriptor;
                    called && !one.access.is_private() && one.body.is_some()
                })
            };
            let Some(main) = own(of_strings).or_else(|| own(nothing)) else { continue };
            let makes = |one: &JavaMethod| {
                one.name == self.known.init && one.descriptor == nothing && !one.access.is_private()
            };
            let (descriptor, is_static) = (main.descriptor, main.access.is_static());
            if !is_static && (has_no_objects || !of.methods.iter().any(makes)) {
                continue;
            }
            let member = |name, descriptor| JavaMember { class: of.name, name, descriptor };
            let mut body = Vec::new();
            if !is_static {
                body.extend([
                    JavaInstruction::New(of.name),
                    JavaInstruction::Stack(StackOperation::Dup),
                    JavaInstruction::Invoke(InvokeKind::Special, member(self.known.init, nothing)),
                ]);
            }
            if descriptor == of_strings {
                body.push(JavaInstruction::Load(JavaKind::Reference, 0));
            }
            let how = if is_static { InvokeKind::Static } else { InvokeKind::Virtual };
            let called = member(name, descriptor);
            body.extend([JavaInstruction::Invoke(how, called), JavaInstruction::Return(None)]);
            let launcher = self.names.intern(LAUNCHER);
            // Public, static, and made by no people.
            let access = JavaAccess(0x0001 | 0x0008 | 0x1000);
            let made = JavaMethod::made(launcher, of_strings, access, 1, body);
            self.classes[class].methods.push(made);
        }
    }

    /// The names of the types of arrays that the classes make.
    fn intern_arrays(&mut self) {
        let mut found: BTreeSet<(JavaName, u8)> = BTreeSet::new();
        for class in &self.classes {
            for body in class.methods.iter().filter_map(|method| method.body.as_ref()) {
                for instruction in &body.instructions {
                    if let JavaInstruction::NewArray(element, dimensions) = instruction {
                        found.insert((*element, *dimensions));
                    }
                }
            }
        }
        for (element, dimensions) in found {
            for dimension in 1..=dimensions {
                let element = self.names.text(element);
                let name = format!("{}{element}", "[".repeat(usize::from(dimension)));
                self.names.intern(&name);
            }
        }
    }

    pub(crate) fn known(&self) -> KnownNames {
        self.known
    }

    /// The class of a name, if it is there.
    pub fn find(&self, name: JavaName) -> Option<ClassId> {
        self.by_name.get(&name).copied()
    }

    /// A class and those that it extends, nearest first; and the name that is not there, if the line breaks
    /// off.
    pub fn line(&self, class: ClassId) -> (Vec<ClassId>, Option<JavaName>) {
        let mut line = vec![class];
        let mut at = class;
        while let Some(name) = self.classes[at].superclass {
            match self.find(name) {
                None => return (line, Some(name)),
                Some(next) if line.contains(&next) => break,
                Some(next) => {
                    line.push(next);
                    at = next;
                }
            }
        }
        (line, None)
    }

    /// The first class above a class that is not there.
    pub fn broken(&self, class: ClassId) -> Option<JavaName> {
        self.line(class).1
    }

    /// All interfaces of a class, also those of the classes that it extends and of interfaces, each once;
    /// and the first name that is not there.
    pub fn interfaces(&self, class: ClassId) -> (Vec<ClassId>, Option<JavaName>) {
        let (line, mut missing) = self.line(class);
        let mut found: Vec<ClassId> = Vec::new();
        let mut open: Vec<JavaName> = Vec::new();
        for &one in line.iter().rev() {
            open.extend(self.classes[one].interfaces.iter().rev());
        }
        let mut seen: BTreeSet<ClassId> = BTreeSet::new();
        while let Some(name) = open.pop() {
            match self.find(name) {
                None => missing = missing.or(Some(name)),
                Some(id) if seen.insert(id) => {
                    found.push(id);
                    open.extend(self.classes[id].interfaces.iter().rev());
                }
                Some(_) => {}
            }
        }
        (found, missing)
    }

    /// Whether every object of a class is one of another; `None` if a class is not there that could tell.
    pub fn extends(&self, class: ClassId, other: ClassId) -> Option<bool> {
        let (line, broken) = self.line(class);
        let (interfaces, missing) = self.interfaces(class);
        if line.contains(&other) || interfaces.contains(&other) {
            return Some(true);
        }
        broken.or(missing).is_none().then_some(false)
    }

    /// The field that an instruction means: of the class itself, of its interfaces, of those above.
    pub fn field(&self, member: JavaMember) -> Resolution<MemberId> {
        let Some(start) = self.find(member.class) else { return Resolution::Missing(member.class) };
        let (line, broken) = self.line(start);
        let declared = |class: ClassId| {
            let fields = &self.classes[class].fields;
            let number = fields
                .iter()
                .position(|one| (one.name, one.descriptor) == (member.name, member.descriptor));
            number.map(|number| MemberId { class, number })
        };
        let mut missing = broken;
        for class in line {
            if let Some(found) = declared(class) {
                return Resolution::Found(found);
            }
            let mut open: Vec<JavaName> = self.classes[class].interfaces.clone();
            let mut seen: BTreeSet<JavaName> = BTreeSet::new();
            while let Some(name) = open.pop() {
                if !seen.insert(name) {
                    continue;
                }
                match self.find(name) {
                    None => missing = missing.or(Some(name)),
                    Some(interface) => {
                        if let Some(found) = declared(interface) {
                            return Resolution::Found(found);
                        }
                        open.extend(&self.classes[interface].interfaces);
                    }
                }
            }
        }
        missing.map_or(Resolution::Absent, Resolution::Missing)
    }

    /// The method that an instruction means: of the class and those above, then of interfaces, those with a
    /// body first.
    pub fn method(&self, member: JavaMember) -> Resolution<MemberId> {
        let Some(start) = self.find(member.class) else { return Resolution::Missing(member.class) };
        let (line, broken) = self.line(start);
        let found = line.iter().find_map(|&class| self.declared(class, member));
        if let Some(found) = found {
            return Resolution::Found(found);
        }
        if let Some(name) = broken {
            return Resolution::Missing(name);
        }
        self.in_interfaces(start, member)
    }

    /// The method that a call of `member` reaches in an object of exactly this class. A private method is
    /// reached whatever the object has under that name.
    pub fn select(&self, object: ClassId, member: JavaMember) -> Resolution<MemberId> {
        match self.method(member) {
            Resolution::Found(meant) if self.of(meant).access.is_private() => {
                return Resolution::Found(meant);
            }
            Resolution::Found(_) => {}
            other => return other,
        }
        let (line, broken) = self.line(object);
        for &class in &line {
            if let Some(found) = self.declared(class, member) {
                // What an object does is neither static nor private to a class above.
                let access = self.of(found).access;
                if !access.is_static() && (!access.is_private() || class == object) {
                    return Resolution::Found(found);
                }
            }
        }
        if let Some(name) = broken {
            return Resolution::Missing(name);
        }
        self.in_interfaces(object, member)
    }

    /// A method.
    pub fn of(&self, id: MemberId) -> &JavaMethod {
        &self.classes[id.class].methods[id.number]
    }

    fn declared(&self, class: ClassId, member: JavaMember) -> Option<MemberId> {
        let methods = &self.classes[class].methods;
        let number = methods
            .iter()
            .position(|one| (one.name, one.descriptor) == (member.name, member.descriptor));
        number.map(|number| MemberId { class, number })
    }

    /// Of the methods of interfaces the one that no other overrides, one with a body before one without.
    fn in_interfaces(&self, class: ClassId, member: JavaMember) -> Resolution<MemberId> {
        let (interfaces, missing) = self.interfaces(class);
        let mut candidates: Vec<MemberId> = interfaces
            .into_iter()
            .filter_map(|interface| self.declared(interface, member))
            .filter(|&id| !self.of(id).access.is_private() && !self.of(id).access.is_static())
            .collect();
        let overridden = |one: &MemberId, all: &[MemberId]| {
            all.iter().any(|other| {
                other.class != one.class && self.extends(other.class, one.class) == Some(true)
            })
        };
        let all = candidates.clone();
        candidates.retain(|one| !overridden(one, &all));
        let with_body = candidates.iter().find(|&&id| self.of(id).body.is_some());
        match (with_body.or(candidates.first()), missing) {
            // A default method of a class that is not there could override it.
            (Some(&found), None) => Resolution::Found(found),
            (_, Some(name)) => Resolution::Missing(name),
            (None, None) => Resolution::Absent,
        }
    }

    /// Where a program can begin: `public static void main(String[])`.
    pub fn mains(&self) -> Vec<MemberId> {
        self.classes.ids().filter_map(|class| self.main_of(class)).collect()
    }

    /// The method of a class that a program can begin with.
    fn main_of(&self, class: ClassId) -> Option<MemberId> {
        let number = self.classes[class].methods.iter().position(|method| {
            let name = self.names.text(method.name);
            (name == "main" || name == LAUNCHER)
                && self.names.text(method.descriptor) == "([Ljava/lang/String;)V"
                && method.access.is_static()
                && method.access.is_public()
        })?;
        Some(MemberId { class, number })
    }

    /// The classes that are named and not there, each with how many classes name it.
    pub fn missing(&self) -> BTreeMap<JavaName, usize> {
        let mut missing: BTreeMap<JavaName, usize> = BTreeMap::new();
        for class in &self.classes {
            let mut named: BTreeSet<JavaName> = BTreeSet::new();
            named.extend(class.superclass);
            named.extend(&class.interfaces);
            let bodies = class.methods.iter().filter_map(|method| method.body.as_ref());
            for body in bodies {
                named.extend(body.handlers.iter().filter_map(|one| one.catches));
                for instruction in &body.instructions {
                    named.extend(match instruction {
                        JavaInstruction::Field(_, member) | JavaInstruction::Invoke(_, member) => {
                            Some(member.class)
                        }
                        JavaInstruction::New(name)
                        | JavaInstruction::CheckCast(name)
                        | JavaInstruction::InstanceOf(name)
                        | JavaInstruction::Constant(JavaConstant::Class(name)) => Some(*name),
                        _ => None,
                    });
                }
            }
            // Types of arrays are made by the machine.
            let is_class = |name: &JavaName| !self.names.text(*name).starts_with('[');
            for name in named.into_iter().filter(is_class) {
                if self.find(name).is_none() {
                    *missing.entry(name).or_default() += 1;
                }
            }
        }
        missing
    }
}

fn without_package(text: &str) -> &str {
    text.rsplit('/').next().unwrap_or(text)
}
