//! # Idea
//! Classes, methods, objects, locks and kinds of threads as people name them: `Log.append`, `Log@14` for what
//! line 14 makes, `Worker@31` for the threads that line 31 makes and that run `Worker`;
//! `Buffer@5 of Pump@20` where line 5 makes others for other pumps.
//!
//! # Invariants
//! 1. A name says where something comes from by its line, or by its byte where lines are not known.

use crate::class::{At, JavaInstruction};
use crate::points_to::{ObjectId, Origin, PointsTo, Site, ThreadKind};
use crate::presets::FRAMEWORK;
use crate::tokens::{Base, JavaSubject, LockKey, LockName, ModelFacts};
use crate::world::{ClassId, MemberId, World};
use selvedge_base::Id;

/// A class without its package, unless several classes would be called so, as Java writes it.
pub fn short_class(world: &World, class: ClassId) -> String {
    world.short_name(class).replace(['/', '$'], ".")
}

fn short_name(text: &str) -> String {
    text.rsplit('/').next().unwrap_or(text).trim_end_matches(';').replace('$', ".")
}

/// Whether a method is none of the program, but stands for a framework.
fn is_framework(world: &World, method: MemberId) -> bool {
    world.names.text(world.classes[method.class].name) == FRAMEWORK
}

/// A method with its class.
pub fn short_method(world: &World, method: MemberId) -> String {
    let class = short_class(world, method.class);
    let named = |name: &str| match name {
        "<init>" | "new" => format!("new {class}"),
        "<clinit>" | "static" => format!("static {class}"),
        _ => format!("{class}.{name}"),
    };
    let name = world.names.text(world.of(method).name);
    // Behind that is what tells apart methods that stand for calls in one line.
    let name = name.split('#').next().unwrap_or(name);
    if is_framework(world, method) {
        return if name == "main" { FRAMEWORK.to_owned() } else { name.to_owned() };
    }
    match lambda(name) {
        Some(outer) => format!("lambda in {}", named(outer)),
        None => named(name),
    }
}

/// The method that a function without a name is written in, if this is the name of one.
fn lambda(name: &str) -> Option<&str> {
    name.strip_prefix("lambda$").and_then(|rest| rest.rsplit_once('$')).map(|(outer, _)| outer)
}

/// Where an instruction is: its line, or its byte behind a `+`.
fn site(world: &World, method: MemberId, at: At) -> String {
    let Some(body) = &world.of(method).body else { return "?".to_owned() };
    match body.line(at) {
        Some(line) if line > 0 => line.to_string(),
        _ => format!("+{}", body.offsets.get(at.index()).copied().unwrap_or(0)),
    }
}

/// A kind of threads: what they run, and where they are made.
pub fn kind_name(world: &World, found: &PointsTo, kind: ThreadKind) -> String {
    let outside = if found.for_client { "client" } else { "library thread" };
    let Some(entry) = kind.entry else { return outside.to_owned() };
    match kind.origin {
        Origin::Main => short_method(world, entry),
        Origin::Library => outside.to_owned(),
        Origin::Started(_) | Origin::Task(_) => {
            let name = world.names.text(world.of(entry).name);
            let what = match name {
                "run" | "call" | "compute" => short_class(world, entry.class),
                _ if lambda(name).is_some() => "lambda".to_owned(),
                _ => short_method(world, entry),
            };
            let place = match kind.origin {
                Origin::Started(thread) => match found.objects[thread].site {
                    Site::New(method, at, ..) => Some((method, at)),
                    _ => None,
                },
                _ => found.starts.get(&kind).and_then(|all| all.first().copied()),
            };
            let told = kind.origin.object().map(|thread| told_by(world, found, thread));
            let told = told.unwrap_or_default();
            match place {
                // What a framework makes has no line.
                Some((method, _)) if is_framework(world, method) => what,
                Some((method, at)) => format!("{what}@{}{told}", site(world, method, at)),
                None => what,
            }
        }
    }
}

/// What a question is about.
pub fn subject_name(world: &World, found: &PointsTo, subject: JavaSubject) -> String {
    match subject {
        JavaSubject::Statics(class) => format!("static fields of {}", short_class(world, class)),
        JavaSubject::Locks(_) => "the order of locks".to_owned(),
        JavaSubject::Object(object) | JavaSubject::Part { part: object, .. } => {
            object_name(world, found, object)
        }
    }
}

/// The class that a question is about.
pub fn subject_class(world: &World, found: &PointsTo, subject: JavaSubject) -> String {
    match subject {
        JavaSubject::Statics(class) => short_class(world, class),
        JavaSubject::Locks(_) => "locks".to_owned(),
        JavaSubject::Object(object) | JavaSubject::Part { part: object, .. } => {
            class_of(world, found, object)
        }
    }
}

fn class_of(world: &World, found: &PointsTo, object: ObjectId) -> String {
    let of = found.objects[object];
    match of.class {
        Some(class) => short_class(world, class),
        None => array(world.names.text(of.name)),
    }
}

/// A class or an array by its name in class files.
fn array(text: &str) -> String {
    let dimensions = text.bytes().take_while(|&one| one == b'[').count();
    let of = match &text[dimensions..] {
        "I" if dimensions > 0 => "int".to_owned(),
        "J" if dimensions > 0 => "long".to_owned(),
        "B" if dimensions > 0 => "byte".to_owned(),
        "C" if dimensions > 0 => "char".to_owned(),
        "S" if dimensions > 0 => "short".to_owned(),
        "Z" if dimensions > 0 => "boolean".to_owned(),
        "F" if dimensions > 0 => "float".to_owned(),
        "D" if dimensions > 0 => "double".to_owned(),
        other => short_name(other.strip_prefix('L').filter(|_| dimensions > 0).unwrap_or(other)),
    };
    of + &"[]".repeat(dimensions)
}

/// An object: its class, and where it is made.
pub fn object_name(world: &World, found: &PointsTo, object: ObjectId) -> String {
    let class = class_of(world, found, object);
    match found.objects[object].site {
        Site::New(method, at, ..)
        | Site::Lambda(method, at)
        | Site::Made(method, at)
        | Site::Given(method, at)
        | Site::Copy(method, at, _)
        | Site::Caught(method, at)
            if !is_framework(world, method) =>
        {
            format!("{class}@{}{}", site(world, method, at), told_by(world, found, object))
        }
        Site::Class(name) => format!("{}.class", short_name(world.names.text(name))),
        Site::View(of, _) => format!("{class} of {}", object_name(world, found, of)),
        _ => class,
    }
}

/// Whose an object is, if the instruction that makes it makes others, too, for others.
fn told_by(world: &World, found: &PointsTo, object: ObjectId) -> String {
    let Some((method, at)) = found.told_by(object) else { return String::new() };
    let class = world.of(method).body.as_ref().map(|body| &body.instructions[at.index()]);
    match class {
        Some(JavaInstruction::New(name)) => {
            let class = short_name(world.names.text(*name));
            format!(" of {class}@{}", site(world, method, at))
        }
        _ => String::new(),
    }
}

/// One of the objects whose locks are asked about; numbered where there are several of one class.
fn locked_name(world: &World, found: &PointsTo, subject: JavaSubject, number: u8) -> String {
    let JavaSubject::Locks(objects) = subject else { return "lock".to_owned() };
    let name = |object: Option<ObjectId>| object.map(|one| class_of(world, found, one));
    let own = objects.get(usize::from(number)).copied().flatten();
    let several = objects.iter().filter(|&&one| name(one) == name(own)).count() > 1;
    let text = name(own).unwrap_or_else(|| "lock".to_owned());
    if several { format!("{text} {}", number + 1) } else { text }
}

/// A lock.
pub fn lock_name(shared: &ModelFacts<'_>, subject: JavaSubject, key: &LockKey) -> String {
    let ModelFacts { world, found, .. } = shared;
    match &key.name {
        LockName::Side(name, second) => {
            let key = LockKey { name: (**name).clone(), explicit: key.explicit };
            let number = if *second { "second" } else { "first" };
            format!("{} ({number} thread's side)", lock_name(shared, subject, &key))
        }
        LockName::Isolated => match subject.isolated() {
            Some(object) => class_of(world, found, object),
            None => subject_class(world, found, subject),
        },
        LockName::Locked(number) => locked_name(world, found, subject, *number),
        LockName::One(object) => object_name(world, found, *object),
        LockName::Class(class) => format!("{}.class", short_class(world, *class)),
        LockName::Part(base, path) => {
            let (name, path) = match base {
                Base::One(object) => (class_of(world, found, *object), &path[..]),
                Base::Locked(number) => (locked_name(world, found, subject, *number), &path[..]),
                _ => part_name(shared, subject, path),
            };
            with_fields(world, name, path)
        }
    }
}

/// What the object owns through some fields: the class that a question is about with what follows behind it, or
/// the class of the object with all of them.
pub fn part_name<'p>(
    shared: &ModelFacts<'_>,
    subject: JavaSubject,
    path: &'p [MemberId],
) -> (String, &'p [MemberId]) {
    let ModelFacts { world, found, .. } = shared;
    let way = shared.way_to_asked(subject);
    match (path.strip_prefix(&way[..]), subject) {
        (Some(rest), _) if !way.is_empty() => (subject_class(world, found, subject), rest),
        (_, JavaSubject::Part { owner, .. }) => (class_of(world, found, owner), path),
        _ => (subject_class(world, found, subject), path),
    }
}

/// A name with those of some fields behind it.
pub fn with_fields(world: &World, name: String, fields: &[MemberId]) -> String {
    fields.iter().fold(name, |name, field| {
        let of = &world.classes[field.class].fields[field.number];
        format!("{name}.{}", world.names.text(of.name))
    })
}
