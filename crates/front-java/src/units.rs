//! # Idea
//! Which parts of a program are units of work, and which fields belong together, beyond the rules: what somebody
//! has asked for by name, and what annotations say, each by its simple name, whoever has declared it.
//!
//! # Source
//! Units of work and atomic sets: Vaziri, Tip, Dolby (paper 000, §1). A method is a unit of the class that
//! declares the set; others are on demand.
//!
//! # Invariants
//! 1. What is declared adds or removes questions and changes no other. What is not asked because of it is named.

use crate::class::{At, InvokeKind, JavaAnnotation, JavaInstruction};
use crate::frames::Frames;
use crate::names::JavaName;
use crate::points_to::PointsTo;
use crate::tokens::JavaSubject;
use crate::world::{ClassId, MemberId, Resolution, World};
use selvedge_base::{Id, IdVec};
use std::collections::{BTreeMap, BTreeSet};

/// A name of methods, as `package.Class.method`, with or without the package; `*` is any text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct MethodPattern(String);

impl MethodPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// If it names no method of a class.
    pub fn new(text: &str) -> Result<Self, String> {
        let parts = text.rsplit_once('.');
        if parts.is_none_or(|(class, method)| class.is_empty() || method.is_empty()) {
            return Err("write it as package.Class.method, with `*` for any text".to_owned());
        }
        Ok(Self(text.to_owned()))
    }

    /// The text that it was read from.
    pub fn text(&self) -> &str {
        &self.0
    }

    fn names(&self, world: &World, method: MemberId) -> bool {
        let name = world.names.text(world.of(method).name);
        class_names(world, method.class)
            .iter()
            .any(|class| is_like(&self.0, &format!("{class}.{name}")))
    }
}

/// Fields of a class that belong together, and apart from its others, as in `package.Class=first,last`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FieldSet {
    class: String,
    fields: Vec<String>,
}

impl FieldSet {
    /// Reads a set.
    ///
    /// # Errors
    /// If it names no fields of a class.
    pub fn new(text: &str) -> Result<Self, String> {
        let wrong = || "write it as package.Class=field,field".to_owned();
        let (class, fields) = text.split_once('=').ok_or_else(wrong)?;
        let fields: Vec<String> = fields.split(',').map(|one| one.trim().to_owned()).collect();
        if class.trim().is_empty() || fields.iter().any(String::is_empty) {
            return Err(wrong());
        }
        Ok(Self { class: class.trim().to_owned(), fields })
    }

    /// The text that it is read from.
    pub fn text(&self) -> String {
        format!("{}={}", self.class, self.fields.join(","))
    }
}

/// Annotations of methods that set things up before others run.
const SET_UP: [&str; 7] =
    ["Autowired", "Bean", "Before", "BeforeAll", "BeforeClass", "BeforeEach", "PostConstruct"];

/// What somebody asks for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UnitOptions {
    /// Whether each pass of an outermost loop with which a thread begins is a unit, if it calls two methods of
    /// one object.
    pub loops: bool,
    /// Whether methods of other classes are units, too.
    pub callers: bool,
    /// Methods that are units.
    pub units: Vec<MethodPattern>,
    /// Methods that are none, nor what is under locks in them.
    pub not_units: Vec<MethodPattern>,
    /// Fields that belong together.
    pub sets: Vec<FieldSet>,
}

/// What is declared of the classes of a program.
#[derive(Clone, Debug, Default)]
pub struct Declared {
    /// Whether passes of loops are units.
    pub loops: bool,
    /// Whether methods of other classes are.
    pub callers: bool,
    /// Methods that are units.
    pub units: BTreeSet<MemberId>,
    /// Methods that are none.
    pub not_units: BTreeSet<MemberId>,
    /// The sets of fields that are not in the set of all others of their class.
    pub sets: BTreeMap<MemberId, String>,
    /// Classes about whose objects nothing is asked, because they are marked as not thread-safe.
    pub unasked: BTreeSet<ClassId>,
    /// Methods that frameworks call to set things up, as their annotations say.
    pub set_up: BTreeSet<MemberId>,
    /// The locks that guard fields, as their annotations say.
    pub guards: BTreeMap<MemberId, String>,
    /// The locks that whoever calls methods holds, likewise.
    pub called_with: BTreeMap<MemberId, String>,
}

impl Declared {
    /// What is declared of the classes of a world.
    pub fn new(world: &World, options: &UnitOptions) -> Self {
        let mut declared =
            Self { loops: options.loops, callers: options.callers, ..Self::default() };
        for (class, of) in world.classes.iter_enumerated() {
            if annotated(world, &of.annotations, "NotThreadSafe").is_some() {
                declared.unasked.insert(class);
            }
            for (number, method) in of.methods.iter().enumerate() {
                let id = MemberId { class, number };
                let is_marked = |name| annotated(world, &method.annotations, name).is_some();
                if is_marked("Atomic")
                    || is_marked("UnitFor")
                    || options.units.iter().any(|one| one.names(world, id))
                {
                    declared.units.insert(id);
                }
                if let Some(lock) = annotated(world, &method.annotations, "GuardedBy") {
                    declared.called_with.insert(id, lock);
                }
                if SET_UP.iter().any(|name| is_marked(name)) {
                    declared.set_up.insert(id);
                }
                if options.not_units.iter().any(|one| one.names(world, id)) {
                    declared.not_units.insert(id);
                }
            }
            for (number, field) in of.fields.iter().enumerate() {
                let id = MemberId { class, number };
                let name = world.names.text(field.name);
                if let Some(set) = annotated(world, &field.annotations, "AtomicSet") {
                    declared.sets.insert(id, set);
                }
                if let Some(lock) = annotated(world, &field.annotations, "GuardedBy") {
                    declared.guards.insert(id, lock);
                }
                let of_class = |set: &&FieldSet| class_names(world, class).contains(&set.class);
                for set in options.sets.iter().filter(of_class) {
                    if set.fields.iter().any(|one| one == name) {
                        declared.sets.insert(id, set.fields.join(", "));
                    }
                }
            }
        }
        declared
    }

    /// What was asked for by a name that nothing has.
    pub fn unknown_names(world: &World, options: &UnitOptions) -> Vec<String> {
        let has_method = |pattern: &&MethodPattern| {
            let methods = world.classes.iter_enumerated().flat_map(|(class, of)| {
                (0..of.methods.len()).map(move |number| MemberId { class, number })
            });
            let mut methods = methods;
            methods.any(|one| pattern.names(world, one))
        };
        let has_fields = |set: &&FieldSet| {
            world.classes.iter_enumerated().any(|(class, of)| {
                let has = |name: &String| {
                    of.fields.iter().any(|field| world.names.text(field.name) == name)
                };
                class_names(world, class).contains(&set.class) && set.fields.iter().all(has)
            })
        };
        let methods = options.units.iter().chain(&options.not_units);
        let methods = methods.filter(|one| !has_method(one));
        let methods = methods.map(|one| format!("no method is called {}", one.text()));
        let sets = options.sets.iter().filter(|one| !has_fields(one));
        let sets = sets.map(|one| format!("no class has the fields of {}", one.text()));
        methods.chain(sets).collect()
    }
}

/// The classes that are marked as thread-safe.
pub fn thread_safe(world: &World) -> Vec<ClassId> {
    let marked = world.classes.iter_enumerated();
    let marked = marked.filter(|(_, of)| annotated(world, &of.annotations, "ThreadSafe").is_some());
    marked.map(|(class, _)| class).collect()
}

/// A class with its package and without it, as sources and as class files write it.
fn class_names(world: &World, class: ClassId) -> [String; 4] {
    let full = world.names.text(world.classes[class].name).replace('/', ".");
    let short = full.rsplit('.').next().unwrap_or(&full).to_owned();
    let (full_dots, short_dots) = (full.replace('$', "."), short.replace('$', "."));
    [full, short, full_dots, short_dots]
}

/// The text that an annotation of a simple name was given, if there is such a one.
pub(crate) fn annotated(world: &World, all: &[JavaAnnotation], wanted: &str) -> Option<String> {
    all.iter().find_map(|one| {
        let name = world.names.text(one.descriptor).trim_start_matches('L').trim_end_matches(';');
        let simple = name.rsplit(['/', '$']).next().unwrap_or(name);
        let text = || one.texts.first().map(|(_, text)| world.names.text(*text).to_owned());
        (simple == wanted).then(|| text().unwrap_or_default())
    })
}

/// Whether a text is as a pattern says, in which `*` is any text.
fn is_like(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match text.find(part) {
            Some(at) => text = &text[at + part.len()..],
            None => return false,
        }
    }
    text.ends_with(last)
}

/// The outermost loops of a method whose passes are units of work, by the instructions of each.
#[derive(Clone, Debug, Default)]
pub struct LoopPasses {
    /// Where each begins.
    of: BTreeMap<At, At>,
}

impl LoopPasses {
    /// The loops of a method in which two methods of what a question is about are called.
    pub fn new(
        world: &World,
        found: &PointsTo,
        method: MemberId,
        frames: &Frames,
        subject: JavaSubject,
    ) -> Self {
        let mut passes = Self::default();
        let Some(body) = &world.of(method).body else { return passes };
        let mut before: IdVec<At, Vec<At>> = IdVec::filled(Vec::new(), frames.next.len());
        for at in frames.next.ids().filter(|&at| frames.reached[at]) {
            for next in frames.followers(at) {
                before[next].push(at);
            }
        }
        let mut seen: BTreeSet<At> = BTreeSet::new();
        for at in frames.next.ids().filter(|&at| frames.reached[at]) {
            let after = frames.reachable_from(at);
            if seen.contains(&at) || !after[at] {
                continue;
            }
            // All from which it can be reached and that it reaches.
            let mut own = BTreeSet::from([at]);
            let mut open = vec![at];
            while let Some(one) = open.pop() {
                for &earlier in &before[one] {
                    if after[earlier] && own.insert(earlier) {
                        open.push(earlier);
                    }
                }
            }
            seen.extend(own.iter().copied());
            let enters = |one: &&At| {
                one.index() == 0 || before[**one].iter().any(|earlier| !own.contains(earlier))
            };
            let mut entries = own.iter().filter(enters);
            let (Some(&entry), None) = (entries.next(), entries.next()) else { continue };
            let called: BTreeSet<(JavaName, JavaName)> = own
                .iter()
                .filter_map(|&at| called_on(world, found, method, at, &body.instructions, subject))
                .collect();
            if called.len() > 1 {
                passes.of.extend(own.into_iter().map(|one| (one, entry)));
            }
        }
        passes
    }

    /// Where the loop begins that an instruction lies in.
    pub fn entry(&self, at: At) -> Option<At> {
        self.of.get(&at).copied()
    }
}

/// The method that an instruction calls, if on what a question is about.
fn called_on(
    world: &World,
    found: &PointsTo,
    method: MemberId,
    at: At,
    instructions: &[JavaInstruction],
    subject: JavaSubject,
) -> Option<(JavaName, JavaName)> {
    let JavaInstruction::Invoke(how, member) = &instructions[at.index()] else { return None };
    let on_it = match (how, subject) {
        (InvokeKind::Static, JavaSubject::Statics(class)) => {
            matches!(world.method(*member), Resolution::Found(one) if one.class == class)
        }
        (InvokeKind::Static, _) => false,
        _ => subject.asked().is_some_and(|object| {
            world.names.text(member.name) != "<init>"
                && found.operand(method, at, 0).contains(object)
        }),
    };
    on_it.then_some((member.name, member.descriptor))
}

#[cfg(test)]
mod tests {
    use super::is_like;

    #[test]
    fn stars_are_any_text() {
        for (pattern, text, expected) in [
            ("a.C.m", "a.C.m", true),
            ("a.C.m", "a.C.mm", false),
            ("a.C.m*", "a.C.mm", true),
            ("*.m", "a.C.m", true),
            ("a.*.m", "a.C.n", false),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "aXcYb", false),
            ("a*a", "a", false),
            ("*", "", true),
        ] {
            assert_eq!(is_like(pattern, text), expected, "{pattern} {text}");
        }
    }
}
