//! # Idea
//! The world of a class and of all its clients. A client is any code that uses objects of the class through
//! public methods: what the class needs is in the world, and one more class stands for what clients do by
//! themselves, which is to read and write the elements of arrays and the public fields that they get hold of.
//!
//! # Source
//! The most general client: whatever a client does to the class is a sequence of such steps.
//!
//! # Invariants
//! 1. Of the library, the class, what it extends and implements and what is nested in these are analysed, with
//!    what their methods, and the methods that those reach, call or make in their packages and the table does
//!    not know: who is in a package may touch what others cannot. Classes of other origin are all kept.

use crate::class::{
    FieldAccess, InvokeKind, JavaAccess, JavaClass, JavaConstant, JavaInstruction, JavaKind,
    JavaMember, JavaMethod, StackOperation,
};
use crate::library::Table;
use crate::names::{JavaNames, kind_of_field};
use crate::world::{ClassId, MemberId, Resolution, World};
use selvedge_base::{Budget, StopReason};
use std::collections::{BTreeMap, BTreeSet};

/// The name of the class that stands for clients; no class file has it.
pub const CLIENT: &str = "client of";

/// Whether a class comes with Java.
pub fn is_of_library(name: &str) -> bool {
    ["java/", "javax/", "jdk/", "sun/", "com/sun/"].iter().any(|start| name.starts_with(start))
}

/// The world of a class and its clients, and the class in it.
///
/// # Errors
/// If the budget is used up.
pub fn client_world(
    world: &World,
    class: ClassId,
    table: &Table,
    budget: &Budget,
) -> Result<(World, ClassId), StopReason> {
    let wanted = scope(world, class, table, budget)?;
    let mut names = world.names.clone();
    let mut classes: Vec<JavaClass> = Vec::new();
    for (id, one) in world.classes.iter_enumerated() {
        if wanted.contains(&id) || !is_of_library(world.names.text(one.name)) {
            classes.push(one.clone());
        }
    }
    let client = client(&mut names, &classes);
    classes.push(client);
    let made = World::new(names, classes);
    let id = made.find(world.classes[class].name).unwrap_or(class);
    Ok((made, id))
}

/// The class that a class is nested in, or itself.
fn host(name: &str) -> &str {
    name.split('$').next().unwrap_or(name)
}

/// Where a class is.
fn package(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(package, _)| package)
}

/// The classes of the library that are analysed.
fn scope(
    world: &World,
    class: ClassId,
    table: &Table,
    budget: &Budget,
) -> Result<BTreeSet<ClassId>, StopReason> {
    let text = |class: ClassId| world.names.text(world.classes[class].name);
    let mut nests: BTreeMap<&str, Vec<ClassId>> = BTreeMap::new();
    for id in world.classes.ids() {
        nests.entry(host(text(id))).or_default().push(id);
    }
    let mut scope = Scope { world, table, found: BTreeSet::new(), open: Vec::new() };
    let mut own = vec![class];
    own.extend(world.line(class).0);
    own.extend(world.interfaces(class).0);
    let nested: Vec<ClassId> =
        own.iter().flat_map(|&one| nests[host(text(one))].iter().copied()).collect();
    for one in own.into_iter().chain(nested) {
        scope.objects(one);
    }
    let mut seen: BTreeSet<MemberId> = BTreeSet::new();
    while let Some(method) = scope.open.pop() {
        budget.check()?;
        if seen.insert(method) {
            scope.method(method);
        }
    }
    Ok(scope.found)
}

/// The classes of the library that are analysed, as far as they are known.
struct Scope<'w> {
    world: &'w World,
    table: &'w Table,
    found: BTreeSet<ClassId>,
    /// Methods that may be called, still to be looked through.
    open: Vec<MemberId>,
}

impl Scope<'_> {
    /// There are objects of a class, so all its methods may be called, and those of what is above it; of what
    /// is above it in other packages only if the table does not know that.
    fn objects(&mut self, class: ClassId) {
        let world = self.world;
        let text = |class: ClassId| world.names.text(world.classes[class].name);
        let known = |one: ClassId| {
            self.table.knows_objects(text(one)) && package(text(one)) != package(text(class))
        };
        let (line, interfaces) = (world.line(class).0, world.interfaces(class).0);
        let line: Vec<ClassId> =
            line.into_iter().take_while(|&one| one == class || !known(one)).collect();
        for one in line.into_iter().chain(interfaces) {
            if text(one) == "java/lang/Object" {
                continue;
            }
            self.found.insert(one);
            let count = world.classes[one].methods.len();
            self.open.extend((0..count).map(|number| MemberId { class: one, number }));
        }
    }

    /// What a method calls and makes in its package, unless the table knows it.
    fn method(&mut self, method: MemberId) {
        let world = self.world;
        let Some(body) = &world.of(method).body else { return };
        let text = |class: ClassId| world.names.text(world.classes[class].name);
        let own = |class: ClassId| package(text(class)) == package(text(method.class));
        let (mut made, mut called) = (Vec::new(), Vec::new());
        for instruction in &body.instructions {
            match instruction {
                JavaInstruction::Invoke(InvokeKind::Static, member) => called.push(*member),
                JavaInstruction::InvokeDynamic(bootstrap, ..) => {
                    let all = &world.classes[method.class].bootstraps;
                    let arguments = all.get(usize::from(*bootstrap)).map(|one| &one.arguments);
                    called.extend(arguments.into_iter().flatten().filter_map(|one| match one {
                        JavaConstant::Handle(handle) => Some(handle.member),
                        _ => None,
                    }));
                }
                JavaInstruction::New(name) => made.extend(world.find(*name)),
                _ => {}
            }
        }
        made.retain(|&one| own(one) && !self.table.knows_objects(text(one)));
        for member in called {
            let Resolution::Found(target) = world.method(member) else { continue };
            let class = text(target.class);
            let known = self.table.knows_objects(class)
                || self.table.effect(class, world.names.text(member.name)).is_some();
            if own(target.class) && !known {
                self.found.insert(target.class);
                self.open.push(target);
                let methods = world.classes[target.class].methods.iter().enumerate();
                let initialiser =
                    methods.filter(|(_, one)| world.names.text(one.name) == "<clinit>");
                self.open.extend(
                    initialiser.map(|(number, _)| MemberId { class: target.class, number }),
                );
            }
        }
        for one in made {
            self.objects(one);
        }
    }
}

/// The class that stands for clients: a static method for each kind of array and each public field.
fn client(names: &mut JavaNames, classes: &[JavaClass]) -> JavaClass {
    let name = names.intern(CLIENT);
    let mut methods = Vec::new();
    for element in ["I", "B", "C", "S", "Z", "J", "F", "D", "Ljava/lang/Object;"] {
        let Some(kind) = kind_of_field(element) else { continue };
        // What is passed is chosen by the name of the type.
        names.intern(&format!("[{element}"));
        let from = [JavaInstruction::Load(JavaKind::Reference, 0), index()];
        let mut reads = from.to_vec();
        reads.extend([JavaInstruction::ArrayLoad(kind), drop(kind), JavaInstruction::Return(None)]);
        let mut writes = from.to_vec();
        let value = if kind == JavaKind::Reference {
            JavaInstruction::Load(JavaKind::Reference, 1)
        } else {
            zero(kind)
        };
        writes.extend([value, JavaInstruction::ArrayStore(kind), JavaInstruction::Return(None)]);
        let taken = format!("([{element})V");
        methods.push(method(names, "reads", &taken, reads));
        let taken =
            format!("([{element}{})V", if kind == JavaKind::Reference { element } else { "" });
        methods.push(method(names, "writes", &taken, writes));
    }
    for class in classes.iter().filter(|class| class.access.is_public()) {
        for field in &class.fields {
            if !field.access.is_public() || field.access.is_static() {
                continue;
            }
            let descriptor = names.text(field.descriptor).to_owned();
            let Some(kind) = kind_of_field(&descriptor) else { continue };
            let member =
                JavaMember { class: class.name, name: field.name, descriptor: field.descriptor };
            let owner = names.text(class.name).to_owned();
            let taken = format!("(L{owner};)V");
            let reads = vec![
                JavaInstruction::Load(JavaKind::Reference, 0),
                JavaInstruction::Field(FieldAccess::Get, member),
                drop(kind),
                JavaInstruction::Return(None),
            ];
            methods.push(method(names, "reads", &taken, reads));
            if field.access.is_final() {
                continue;
            }
            let (value, taken) = if kind == JavaKind::Reference {
                let value = JavaInstruction::Load(JavaKind::Reference, 1);
                (value, format!("(L{owner};{descriptor})V"))
            } else {
                (zero(kind), taken)
            };
            let writes = vec![
                JavaInstruction::Load(JavaKind::Reference, 0),
                value,
                JavaInstruction::Field(FieldAccess::Put, member),
                JavaInstruction::Return(None),
            ];
            methods.push(method(names, "writes", &taken, writes));
        }
    }
    JavaClass {
        name,
        version: 52,
        access: JavaAccess(0x0001),
        superclass: Some(names.intern("java/lang/Object")),
        interfaces: Vec::new(),
        fields: Vec::new(),
        methods,
        source: None,
        bootstraps: Vec::new(),
        annotations: Vec::new(),
    }
}

fn index() -> JavaInstruction {
    JavaInstruction::Constant(JavaConstant::Int(0))
}

/// The value that fields of a kind begin with.
pub(crate) fn zero(kind: JavaKind) -> JavaInstruction {
    JavaInstruction::Constant(match kind {
        JavaKind::Int => JavaConstant::Int(0),
        JavaKind::Long => JavaConstant::Long(0),
        JavaKind::Float => JavaConstant::Float(0.0),
        JavaKind::Double => JavaConstant::Double(0.0),
        JavaKind::Reference => JavaConstant::Null,
    })
}

/// Drops a value of a kind.
pub(crate) fn drop(kind: JavaKind) -> JavaInstruction {
    let two = kind.width() == 2;
    JavaInstruction::Stack(if two { StackOperation::Pop2 } else { StackOperation::Pop })
}

/// A public static method.
fn method(
    names: &mut JavaNames,
    name: &str,
    descriptor: &str,
    instructions: Vec<JavaInstruction>,
) -> JavaMethod {
    let (name, descriptor) = (names.intern(name), names.intern(descriptor));
    JavaMethod::made(name, descriptor, JavaAccess(0x0001 | 0x0008), 2, instructions)
}
