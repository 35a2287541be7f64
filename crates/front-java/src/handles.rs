//! # Idea
//! `VarHandle` and the updaters of fields access a field that a constant names. A static final field that the
//! initialiser of its class sets to such a handle, for a field of the program, is understood: a call of it
//! becomes a call of a method that accesses the field and stands in the class that calls. All that is said of
//! fields, such as who writes them and who owns what they hold, is then true of these accesses, too.
//!
//! Handles that come from elsewhere stay what they are: reflection.
//!
//! # Source
//! The access modes of `java.lang.invoke.VarHandle` (JDK 9). Opaque accesses count as those that do not race.
//!
//! # Invariants
//! 1. A call is replaced only if all that the handle can be is known: one definition, of one field.
//! 2. What stands for a call takes and gives what the call does.

use crate::class::{
    Arithmetic, At, BranchCondition, Comparison, FieldAccess, HandleMode, InvokeKind, JavaAccess,
    JavaBody, JavaConstant, JavaInstruction, JavaKind, JavaMember, JavaMethod,
};
use crate::client::{drop, zero};
use crate::frames::{Definition, Definitions, Frames, decides};
use crate::names::{JavaName, kind_of_field, kinds_of_method};
use crate::world::{ClassId, MemberId, Resolution, World};
use selvedge_base::Id;
use std::collections::BTreeMap;

const VAR_HANDLE: &str = "java/lang/invoke/VarHandle";
const UPDATERS: [&str; 3] = [
    "java/util/concurrent/atomic/AtomicIntegerFieldUpdater",
    "java/util/concurrent/atomic/AtomicLongFieldUpdater",
    "java/util/concurrent/atomic/AtomicReferenceFieldUpdater",
];

/// What a call of a handle does to its field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HandleCall {
    Read,
    Write,
    /// Writes what it is given, and gives what was there.
    Replace,
    /// Writes something computed of what was there.
    Update,
    /// Writes what it is given if something was there, and gives whether that was so.
    CompareAndSet,
    /// The same, and gives what was there.
    CompareAndExchange,
}

impl HandleCall {
    /// What a method of handles does, and how.
    fn of(class: &str, name: &str) -> Option<(Self, HandleMode)> {
        let is_updater = UPDATERS.contains(&class);
        if class != VAR_HANDLE && !is_updater {
            return None;
        }
        let plain = if is_updater { HandleMode::Volatile } else { HandleMode::Plain };
        let begins = |all: &[&str]| all.iter().any(|one| name.starts_with(one));
        Some(match name {
            "get" => (Self::Read, plain),
            "getVolatile" | "getOpaque" | "getAcquire" => (Self::Read, HandleMode::Volatile),
            "set" => (Self::Write, plain),
            "setVolatile" | "setOpaque" | "setRelease" | "lazySet" => {
                (Self::Write, HandleMode::Volatile)
            }
            _ if begins(&["compareAndSet", "weakCompareAndSet"]) => {
                (Self::CompareAndSet, HandleMode::Atomic)
            }
            _ if begins(&["compareAndExchange"]) => (Self::CompareAndExchange, HandleMode::Atomic),
            _ if begins(&["getAndSet"]) => (Self::Replace, HandleMode::Atomic),
            "incrementAndGet" | "decrementAndGet" | "addAndGet" | "getAndIncrement"
            | "getAndDecrement" => (Self::Update, HandleMode::Atomic),
            _ if begins(&["getAndAdd", "getAndBitwise"]) => (Self::Update, HandleMode::Atomic),
            _ => return None,
        })
    }

    /// With how many values it is called, beside the object; of some that does not matter.
    fn values(self) -> Option<usize> {
        match self {
            Self::Read => Some(0),
            Self::Write | Self::Replace => Some(1),
            Self::Update => None,
            Self::CompareAndSet | Self::CompareAndExchange => Some(2),
        }
    }
}

/// A field that a handle accesses.
#[derive(Clone, Copy)]
struct Handled {
    member: JavaMember,
    field: MemberId,
    is_static: bool,
}

/// A call of a handle.
struct Called {
    at: At,
    does: HandleCall,
    mode: HandleMode,
    handled: Handled,
}

/// Replaces calls of handles that are understood by calls of methods that access their fields.
pub fn follow_handles(world: &mut World) {
    let mut handles: BTreeMap<MemberId, Handled> = BTreeMap::new();
    for class in world.classes.ids() {
        for (number, handled) in handles_of(world, class) {
            handles.insert(MemberId { class, number }, handled);
        }
    }
    if handles.is_empty() {
        return;
    }
    for class in world.classes.ids() {
        for number in 0..world.classes[class].methods.len() {
            let method = MemberId { class, number };
            let calls = calls_of(world, method, &handles);
            for call in calls {
                replace(world, method, &call);
            }
        }
    }
}

fn is_handle(world: &World, descriptor: JavaName) -> bool {
    let text = world.names.text(descriptor);
    let class = text.strip_prefix('L').and_then(|text| text.strip_suffix(';'));
    class.is_some_and(|class| class == VAR_HANDLE || UPDATERS.contains(&class))
}

/// The static fields of a class that are handles of fields of the program; the calls that make them are
/// replaced.
fn handles_of(world: &mut World, class: ClassId) -> Vec<(usize, Handled)> {
    let of = &world.classes[class];
    let known = world.known();
    let mut found = Vec::new();
    let Some(initialiser) = of.methods.iter().position(|one| one.name == known.clinit) else {
        return found;
    };
    let may_be = of.fields.iter().any(|one| is_handle(world, one.descriptor));
    let Some(body) = of.methods[initialiser].body.as_ref().filter(|_| may_be) else {
        return found;
    };
    let Ok(frames) = Frames::new(&of.methods[initialiser], body, &world.names) else {
        return found;
    };
    let mut makers = Vec::new();
    for (number, field) in of.fields.iter().enumerate() {
        let constant = field.access.is_static() && field.access.is_final();
        if !constant || !is_handle(world, field.descriptor) {
            continue;
        }
        let writes = |body: &JavaBody| -> Vec<At> {
            let all = body.instructions.iter().enumerate();
            all.filter(|(_, one)| {
                matches!(one, JavaInstruction::Field(FieldAccess::PutStatic, member)
                    if world.field(*member) == Resolution::Found(MemberId { class, number }))
            })
            .map(|(at, _)| At::from_index(at))
            .collect()
        };
        let bodies = of.methods.iter().filter_map(|one| one.body.as_ref());
        let all: usize = bodies.map(|body| writes(body).len()).sum();
        let [put] = writes(body)[..] else { continue };
        let made = frames.operands[put].first().and_then(only);
        if let Some((at, handled)) = made
            .filter(|_| all == 1)
            .and_then(|at| Some((at, handled_by(world, body, &frames, at)?)))
        {
            found.push((number, handled));
            makers.push(at);
        }
    }
    let initialiser = MemberId { class, number: initialiser };
    for at in makers {
        let JavaInstruction::Invoke(how, member) = instruction(world, initialiser, at) else {
            continue;
        };
        let gives = vec![
            JavaInstruction::Constant(JavaConstant::Null),
            JavaInstruction::Return(Some(JavaKind::Reference)),
        ];
        let name = world.names.text(member.name).to_owned();
        call_instead(world, (initialiser, at), (how, member), (&name, None), gives);
    }
    found
}

fn instruction(world: &World, method: MemberId, at: At) -> JavaInstruction {
    let body = world.of(method).body.as_ref();
    body.map_or(JavaInstruction::Nop, |body| body.instructions[at.index()].clone())
}

/// The instruction that alone gives a value.
fn only(definitions: &Definitions) -> Option<At> {
    match definitions[..] {
        [Definition::Result(at)] => Some(at),
        _ => None,
    }
}

/// The field of which an instruction makes a handle.
fn handled_by(world: &World, body: &JavaBody, frames: &Frames, at: At) -> Option<Handled> {
    let JavaInstruction::Invoke(_, member) = &body.instructions[at.index()] else { return None };
    let text = |name: JavaName| world.names.text(name);
    // Which of the operands are the class and the name of the field.
    let (is_static, class, name) = match (text(member.class), text(member.name)) {
        ("java/lang/invoke/MethodHandles$Lookup", "findVarHandle") => (false, 1, 2),
        ("java/lang/invoke/MethodHandles$Lookup", "findStaticVarHandle") => (true, 1, 2),
        (class, "newUpdater") if class == UPDATERS[2] => (false, 0, 2),
        (class, "newUpdater") if UPDATERS.contains(&class) => (false, 0, 1),
        _ => return None,
    };
    let constant = |number: usize| {
        let at = frames.operands[at].get(number).and_then(only)?;
        match &body.instructions[at.index()] {
            JavaInstruction::Constant(one) => Some(one.clone()),
            _ => None,
        }
    };
    let (Some(JavaConstant::Class(class)), Some(JavaConstant::Text(name))) =
        (constant(class), constant(name))
    else {
        return None;
    };
    // Updaters look in the class alone; of several fields of one name, their types would have to decide.
    let (mut line, _) = world.line(world.find(class)?);
    if text(member.name) == "newUpdater" {
        line.truncate(1);
    }
    let fields = line.into_iter().flat_map(|class| {
        let all = world.classes[class].fields.iter().enumerate();
        all.filter(|(_, field)| field.name == name).map(move |(number, _)| (class, number))
    });
    let [(owner, number)] = fields.collect::<Vec<_>>()[..] else { return None };
    let field = &world.classes[owner].fields[number];
    let member =
        JavaMember { class: world.classes[owner].name, name, descriptor: field.descriptor };
    let field_id = MemberId { class: owner, number };
    (field.access.is_static() == is_static).then_some(Handled {
        member,
        field: field_id,
        is_static,
    })
}

/// The calls of handles in a method.
fn calls_of(world: &World, method: MemberId, handles: &BTreeMap<MemberId, Handled>) -> Vec<Called> {
    let of = world.of(method);
    let Some(body) = &of.body else { return Vec::new() };
    let does = |at: At| match &body.instructions[at.index()] {
        JavaInstruction::Invoke(InvokeKind::Virtual, member) => {
            HandleCall::of(world.names.text(member.class), world.names.text(member.name))
        }
        _ => None,
    };
    let all = || (0..body.instructions.len()).map(At::from_index);
    if !all().any(|at| does(at).is_some()) {
        return Vec::new();
    }
    let Ok(frames) = Frames::new(of, body, &world.names) else { return Vec::new() };
    let mut calls = Vec::new();
    for at in all().filter(|&at| frames.reached[at]) {
        let Some((does, mode)) = does(at) else { continue };
        let Some(from) = frames.operands[at].first().and_then(only) else { continue };
        let JavaInstruction::Field(FieldAccess::GetStatic, member) =
            &body.instructions[from.index()]
        else {
            continue;
        };
        let Resolution::Found(handle) = world.field(*member) else { continue };
        let Some(&handled) = handles.get(&handle) else { continue };
        let values = (frames.operands[at].len() - 1).checked_sub(usize::from(!handled.is_static));
        let fits = |values: usize| does.values().map_or(values <= 1, |wanted| wanted == values);
        if values.is_some_and(fits) {
            calls.push(Called { at, does, mode, handled });
        }
    }
    // Reading and then writing is one step to whoever wrote it, so neither is left alone.
    let accesses = |wanted: FieldAccess, field: MemberId| {
        all().filter(move |at| {
            matches!(&body.instructions[at.index()], JavaInstruction::Field(access, member)
                if *access == wanted && world.field(*member) == Resolution::Found(field))
        })
    };
    let halves: Vec<bool> = calls
        .iter()
        .map(|call| {
            let field = call.handled.field;
            let others = calls.iter().filter(|other| other.handled.field == field);
            let (get, put) = if call.handled.is_static {
                (FieldAccess::GetStatic, FieldAccess::PutStatic)
            } else {
                (FieldAccess::Get, FieldAccess::Put)
            };
            let after = frames.reachable_from(call.at);
            let before = |other: At| frames.reachable_from(other)[call.at];
            match call.does {
                HandleCall::Read => {
                    others.into_iter().any(|other| match other.does {
                        HandleCall::Write | HandleCall::Replace => after[other.at],
                        HandleCall::Update => {
                            decides(body, &frames, &world.names, (call.at, other.at), &[])
                        }
                        _ => false,
                    }) || accesses(put, field).any(|at| after[at])
                }
                HandleCall::Write => {
                    others
                        .into_iter()
                        .any(|other| other.does == HandleCall::Read && before(other.at))
                        || accesses(get, field).any(before)
                }
                HandleCall::Update => others.into_iter().any(|other| {
                    other.does == HandleCall::Read
                        && decides(body, &frames, &world.names, (other.at, call.at), &[])
                }),
                _ => false,
            }
        })
        .collect();
    for (call, half) in calls.iter_mut().zip(halves) {
        if half {
            call.mode = call.mode.as_half();
        }
    }
    calls
}

/// Puts a call of a method that accesses the field in the place of a call of a handle.
fn replace(world: &mut World, method: MemberId, call: &Called) {
    let JavaInstruction::Invoke(how, member) = instruction(world, method, call.at) else { return };
    let names = &world.names;
    let Some(kind) = kind_of_field(names.text(call.handled.member.descriptor)) else { return };
    let Some((taken, gives)) = kinds_of_method(names.text(member.descriptor)) else { return };
    let instructions = access(call, kind, &taken, gives);
    let name = format!("{}.{}", names.text(call.handled.member.name), names.text(member.name));
    call_instead(world, (method, call.at), (how, member), (&name, Some(call.mode)), instructions);
}

/// Puts a call of a method that does this in the place of another call.
fn call_instead(
    world: &mut World,
    (method, at): (MemberId, At),
    (how, member): (InvokeKind, JavaMember),
    (name, mode): (&str, Option<HandleMode>),
    instructions: Vec<JavaInstruction>,
) {
    let Some(body) = &world.of(method).body else { return };
    let line = body.line(at);
    let place = line.map_or_else(|| format!("+{}", at.index()), |line| line.to_string());
    let given = world.names.text(member.descriptor);
    // The receiver is a parameter like others.
    let descriptor = match how {
        InvokeKind::Static => given.to_owned(),
        _ => format!("(L{};{}", world.names.text(member.class), &given[1..]),
    };
    // Two calls in one line may differ in what they do.
    let number = world.classes[method.class].methods.len();
    let name = world.names.intern(&format!("{name}@{place}#{number}"));
    let descriptor = world.names.intern(&descriptor);
    // Private, static, and made by no people.
    let access = JavaAccess(0x0002 | 0x0008 | 0x1000);
    let mut made = JavaMethod::made(name, descriptor, access, LOCALS, instructions);
    made.by_handle = mode;
    if let (Some(body), Some(line)) = (&mut made.body, line) {
        body.lines = vec![(At::from_index(0), line)];
    }
    let class = &mut world.classes[method.class];
    class.methods.push(made);
    let call = JavaMember { class: class.name, name, descriptor };
    if let Some(body) = &mut class.methods[method.number].body {
        body.instructions[at.index()] = JavaInstruction::Invoke(InvokeKind::Static, call);
    }
}

/// How many local variables a method has that stands for a call: what it is given, and one value.
const LOCALS: u16 = 16;
/// The local variable of that value.
const OLD: u16 = LOCALS - 2;

/// What a call of a handle does: an access to a field of this kind.
fn access(
    call: &Called,
    kind: JavaKind,
    taken: &[JavaKind],
    gives: Option<JavaKind>,
) -> Vec<JavaInstruction> {
    use JavaInstruction::{Branch, Compute, Constant, Field, Load, Return, Store};
    let Called { does, handled, .. } = *call;
    // The handle comes first.
    let mut slot = 1;
    let mut locals = Vec::new();
    for &one in taken {
        locals.push((one, slot));
        slot += one.width();
    }
    let object = if handled.is_static || locals.is_empty() { None } else { Some(locals.remove(0)) };
    let (get, put) = if handled.is_static {
        (FieldAccess::GetStatic, FieldAccess::PutStatic)
    } else {
        (FieldAccess::Get, FieldAccess::Put)
    };
    let this = || object.map(|(kind, slot)| Load(kind, slot));
    let read = || this().into_iter().chain([Field(get, handled.member)]);
    let value = |number: usize| match locals.get(number) {
        Some(&(own, slot)) if own == kind => Load(kind, slot),
        _ => zero(kind),
    };
    let result = |known: Option<JavaInstruction>, of: JavaKind| match (gives, known) {
        (None, _) => vec![Return(None)],
        (Some(gives), Some(known)) if gives == of => vec![known, Return(Some(gives))],
        (Some(gives), _) => vec![zero(gives), Return(Some(gives))],
    };
    let old = || Some(Load(kind, OLD));
    let mut all: Vec<JavaInstruction> = Vec::new();
    let writes = |all: &mut Vec<JavaInstruction>, value: Vec<JavaInstruction>| {
        all.extend(this());
        all.extend(value);
        all.push(Field(put, handled.member));
    };
    if does != HandleCall::Write {
        all.extend(read());
        all.push(Store(kind, OLD));
    }
    match does {
        HandleCall::Read => {}
        HandleCall::Write | HandleCall::Replace => writes(&mut all, vec![value(0)]),
        HandleCall::Update => {
            let sum = vec![Load(kind, OLD), value(0), Compute(Arithmetic::Add, kind)];
            writes(&mut all, if kind == JavaKind::Reference { vec![value(0)] } else { sum });
        }
        HandleCall::CompareAndSet | HandleCall::CompareAndExchange => {
            let told = |yes: i32| match does {
                HandleCall::CompareAndSet => {
                    result(Some(Constant(JavaConstant::Int(yes))), JavaKind::Int)
                }
                _ => result(old(), kind),
            };
            all.extend([Load(kind, OLD), value(0)]);
            let unequal = match kind {
                JavaKind::Reference => BranchCondition::Same(false),
                JavaKind::Int => BranchCondition::Ints(Comparison::NotEqual),
                JavaKind::Long | JavaKind::Float | JavaKind::Double => {
                    all.push(Compute(Arithmetic::Compare, kind));
                    BranchCondition::Zero(Comparison::NotEqual)
                }
            };
            let mut changes = Vec::new();
            writes(&mut changes, vec![value(1)]);
            changes.extend(told(1));
            let behind = At::from_index(all.len() + 1 + changes.len());
            all.push(Branch(unequal, behind));
            all.extend(changes);
            // Who fails has read it.
            all.extend(read());
            all.push(drop(kind));
            all.extend(told(0));
            return all;
        }
    }
    all.extend(result(if does == HandleCall::Write { None } else { old() }, kind));
    all
}
