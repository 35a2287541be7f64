//! # Idea
//! `Collections.synchronizedList(new ArrayList<>())` and its like: nobody has what is wrapped but the wrapper,
//! so the two are one object, of a class of its own in the table, whose methods take its monitor. What makes the inner
//! object makes the wrapper, and the call is left out. All that is said of objects, such as who owns them and
//! of which there is one, is then true of wrappers, too.
//!
//! What is wrapped in another way stays what it is: an object that unknown code is given.
//!
//! # Source
//! `java.util.Collections`: the mutex of a wrapper is the wrapper itself.
//!
//! # Invariants
//! 1. A call is left out only if what it is given was made by one instruction of the same method and is used by
//!    its constructor and by that call, and by nothing else.

use crate::class::{At, InvokeKind, JavaInstruction, JavaMember};
use crate::frames::{Definition, Frames};
use crate::names::JavaName;
use crate::world::{MemberId, World};
use selvedge_base::Id;

/// What wraps: methods of `Collections` with one parameter.
const WRAPPING: [&str; 8] = [
    "synchronizedCollection",
    "synchronizedList",
    "synchronizedMap",
    "synchronizedNavigableMap",
    "synchronizedNavigableSet",
    "synchronizedSet",
    "synchronizedSortedMap",
    "synchronizedSortedSet",
];

/// What may be wrapped: what the table knows alike for all of them.
const WRAPPED: [&str; 13] = [
    "java/util/ArrayDeque",
    "java/util/ArrayList",
    "java/util/EnumMap",
    "java/util/HashMap",
    "java/util/HashSet",
    "java/util/IdentityHashMap",
    "java/util/LinkedHashMap",
    "java/util/LinkedHashSet",
    "java/util/LinkedList",
    "java/util/PriorityQueue",
    "java/util/TreeMap",
    "java/util/TreeSet",
    "java/util/Vector",
];

/// A wrapper: the instruction that makes what it wraps, that calls the constructor, and that wraps.
struct Wrapper {
    makes: At,
    initialises: At,
    wraps: At,
    class: String,
}

/// Makes one object of each wrapper and what it alone has.
pub fn join_wrappers(world: &mut World) {
    let collections = world.names.find("java/util/Collections");
    // With its own methods among the classes of the program there is nothing to know.
    let Some(collections) = collections.filter(|&class| world.find(class).is_none()) else {
        return;
    };
    for class in world.classes.ids() {
        for number in 0..world.classes[class].methods.len() {
            let method = MemberId { class, number };
            for wrapper in wrappers_of(world, collections, method) {
                join(world, method, &wrapper);
            }
        }
    }
}

fn wrappers_of(world: &World, collections: JavaName, method: MemberId) -> Vec<Wrapper> {
    let text = |name: JavaName| world.names.text(name);
    let of = world.of(method);
    let Some(body) = &of.body else { return Vec::new() };
    let called = |at: &At| match &body.instructions[at.index()] {
        JavaInstruction::Invoke(InvokeKind::Static, member)
            if member.class == collections
                && WRAPPING.contains(&text(member.name))
                && text(member.descriptor).matches(';').count() == 2 =>
        {
            Some(*member)
        }
        _ => None,
    };
    let all = || (0..body.instructions.len()).map(At::from_index);
    if !all().any(|at| called(&at).is_some()) {
        return Vec::new();
    }
    let Ok(frames) = Frames::new(of, body, &world.names) else { return Vec::new() };
    let mut wrappers = Vec::new();
    for wraps in all().filter(|&at| frames.reached[at]) {
        let Some(member) = called(&wraps) else { continue };
        let Some([Definition::Result(makes)]) = frames.operands[wraps].first().map(|one| &one[..])
        else {
            continue;
        };
        let JavaInstruction::New(inner) = body.instructions[makes.index()] else { continue };
        if !WRAPPED.contains(&text(inner)) || world.find(inner).is_some() {
            continue;
        }
        let is_made = |one: &Definition| *one == Definition::Result(*makes);
        let moves = |at: At| {
            matches!(
                body.instructions[at.index()],
                JavaInstruction::Load(..) | JavaInstruction::Store(..) | JavaInstruction::Stack(_)
            )
        };
        let uses: Vec<(At, usize)> = all()
            .filter(|&at| !moves(at))
            .flat_map(|at| {
                let operands = frames.operands[at].iter().enumerate();
                let own = operands.filter(|(_, one)| one.iter().any(is_made));
                own.map(move |(number, _)| (at, number))
            })
            .collect();
        let [(first, 0), (second, 0)] = uses[..] else { continue };
        let initialises = if first == wraps { second } else { first };
        let is_constructor = matches!(&body.instructions[initialises.index()],
            JavaInstruction::Invoke(InvokeKind::Special, of) if of.class == inner && text(of.name) == "<init>");
        if is_constructor && (first == wraps || second == wraps) {
            let class = text(member.name).replace("synchronized", "java/util/Synchronized");
            wrappers.push(Wrapper { makes: *makes, initialises, wraps, class });
        }
    }
    wrappers
}

fn join(world: &mut World, method: MemberId, wrapper: &Wrapper) {
    let name = world.names.intern(&wrapper.class);
    let class = &mut world.classes[method.class];
    let Some(body) = &mut class.methods[method.number].body else { return };
    body.instructions[wrapper.makes.index()] = JavaInstruction::New(name);
    if let JavaInstruction::Invoke(how, member) = &body.instructions[wrapper.initialises.index()] {
        let member = JavaMember { class: name, ..*member };
        body.instructions[wrapper.initialises.index()] = JavaInstruction::Invoke(*how, member);
    }
    body.instructions[wrapper.wraps.index()] = JavaInstruction::Nop;
}
