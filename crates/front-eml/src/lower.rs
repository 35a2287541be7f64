//! # Idea
//! Declarations become locks, locations and globals, and each function a control-flow graph. A
//! variable that processes share is a global and a location in one; a variable of a process is a
//! global for each copy, without a location, since nobody else can see it. Copies of a process share
//! their functions unless these ask which copy they are.
//!
//! # Source
//! SEMANTICS, "EML" and "EML beyond the core".
//!
//! # Requires
//! A tree without errors: every name means something and every process has a `main`.
//!
//! # Invariants
//! 1. Elements of arrays follow each other, as locks, as locations and as globals.
//! 2. Locations are in the order of the text within their atomic sets; the set of all others is the
//!    first one.

mod body;
mod value;

use crate::ast::File;
use crate::names::{Annotation, DEFAULT_SET, Names, Number};
use crate::resolve::needs_own_functions;
use crate::resolved::{self, Function, StatementKind};
use body::Lowering;
use selvedge_base::{Id, Place};
use selvedge_program::copies::copy_name;
use selvedge_program::data::element_name;
use selvedge_program::{
    Annotation as ModelAnnotation, Array, AtomicSet, Channel, Copies, Enum, Global, GlobalId,
    Invariant, Local, Location, LocationId, Lock, LockId, NamedArray, ProcedureId, Program, Start,
    Thread, ThreadId, Type, Variable, WaitSet,
};

/// The most edges that a program may have. A `return` inside of many blocks leaves each of them, so
/// a text can be made whose graph is much larger than itself.
pub const EDGE_LIMIT: usize = 1 << 24;

/// Where the parts of the program are that stand for the declarations.
#[derive(Default)]
struct Layout {
    /// The first lock of each declared one.
    locks: Vec<usize>,
    /// The first wait set of each declared condition.
    conditions: Vec<usize>,
    /// The default wait set of each declared lock, or of its first element, if somebody waits or
    /// notifies there.
    default_sets: Vec<Option<usize>>,
    /// The first location of each location or variable.
    locations: Vec<usize>,
    /// Whether each location of the program is volatile.
    volatile: Vec<bool>,
    /// The first global of each variable.
    globals: Vec<Option<usize>>,
    /// The first global of each variable of each copy of each process.
    variables: Vec<Vec<Vec<usize>>>,
    /// The first procedure of each process, or of each of its copies.
    procedures: Vec<Vec<usize>>,
    /// What is known of the locks that somebody tries to acquire.
    watched: Vec<Option<Watch>>,
}

/// The globals that tell whether a lock can be acquired.
#[derive(Clone, Copy)]
enum Watch {
    /// Whether somebody holds it.
    Mutex(GlobalId),
    /// Who holds it, and how often.
    Reentrant(GlobalId, GlobalId),
}

/// The program of a tree; `None` if it would have more than `edge_limit` edges.
pub fn lower(
    file: &File<'_>,
    names: &Names<'_>,
    functions: &[Vec<Function<'_>>],
    edge_limit: usize,
) -> Option<Program> {
    let mut program = Program::default();
    let mut layout = Layout::default();
    for one in &file.enums {
        let values = one.values.iter().map(|value| value.text.to_owned()).collect();
        program.enums.push(Enum { name: one.name.text.to_owned(), values });
    }
    locks(file, names, &mut program, &mut layout);
    wait_sets(file, names, functions, &mut program, &mut layout);
    for channel in &file.channels {
        let (name, place) = (channel.text.to_owned(), channel.place);
        program.channels.push(Channel { name, place });
    }
    locations(file, names, &mut program, &mut layout);
    shared(file, names, &mut program, &mut layout);
    threads(file, names, functions, &mut program, &mut layout);
    watch(file, functions, &mut program, &mut layout);
    about_globals(names, &mut program, &layout);
    for (at, process) in file.processes.iter().enumerate() {
        let own = layout.procedures[at].len() > 1
            || needs_own_functions(names.numbers[at], names, at, &functions[at]);
        let prefix = match names.numbers[at] {
            // Several copies share their functions, which then need a name that no other process has.
            Number::Copies(_) if !own => {
                format!("{}.", process.name.map_or("", |name| name.text))
            }
            _ => String::new(),
        };
        for copy in 0..layout.procedures[at].len() {
            for (offset, function) in functions[at].iter().enumerate() {
                let owner =
                    prefix.is_empty().then(|| ThreadId::from_index(names.threads[at] + copy));
                let index = own.then_some(copy as u32);
                let mut lowering = Lowering::new(
                    &mut program,
                    names,
                    &layout,
                    (at, copy, index),
                    ProcedureId::from_index(layout.procedures[at][copy] + offset),
                    edge_limit,
                );
                lowering.function(function, owner, &prefix);
                if program.edges.len() > edge_limit {
                    return None;
                }
            }
        }
    }
    Some(program)
}

/// The names of the elements of an array, or the name of a scalar.
fn element_names(name: &str, length: Option<u32>) -> Vec<String> {
    match length {
        None => vec![name.to_owned()],
        Some(length) => (0..length).map(|at| element_name(name, at)).collect(),
    }
}

fn locks(file: &File<'_>, names: &Names<'_>, program: &mut Program, layout: &mut Layout) {
    for (lock, &length) in file.locks.iter().zip(&names.locks) {
        layout.locks.push(program.locks.len());
        let name = lock.item.name;
        for text in element_names(name.text, length) {
            program.locks.push(Lock { name: text, place: name.place, reentrant: lock.reentrant });
        }
    }
}

fn wait_sets(
    file: &File<'_>,
    names: &Names<'_>,
    functions: &[Vec<Function<'_>>],
    program: &mut Program,
    layout: &mut Layout,
) {
    for (condition, found) in file.conditions.iter().zip(&names.conditions) {
        layout.conditions.push(program.wait_sets.len());
        let Some(found) = found else { continue };
        let name = condition.item.name;
        for (offset, text) in element_names(name.text, found.length).into_iter().enumerate() {
            let element = if found.of_each { offset } else { 0 };
            let lock = LockId::from_index(layout.locks[found.lock] + element);
            program.wait_sets.push(WaitSet { name: text, lock, place: name.place });
        }
    }
    layout.default_sets = vec![None; file.locks.len()];
    for function in functions.iter().flatten() {
        function.body.each(&mut |statement| {
            let StatementKind::Condition(_, resolved::WaitSet::OfLock(lock)) = &statement.kind
            else {
                return;
            };
            if layout.default_sets[lock.at].is_some() {
                return;
            }
            layout.default_sets[lock.at] = Some(program.wait_sets.len());
            let first = layout.locks[lock.at];
            for offset in 0..names.locks[lock.at].unwrap_or(1) as usize {
                let lock = LockId::from_index(first + offset);
                let Lock { name, place, .. } = program.locks[lock].clone();
                program.wait_sets.push(WaitSet { name, lock, place });
            }
        });
    }
}

fn locations(file: &File<'_>, names: &Names<'_>, program: &mut Program, layout: &mut Layout) {
    layout.locations = vec![0; file.shared.len()];
    let sets = std::iter::once(None).chain((0..file.atomic_sets.len()).map(Some));
    for own in sets {
        let members: Vec<usize> =
            (0..file.shared.len()).filter(|&at| names.shared[at].set == own).collect();
        if members.is_empty() && own.is_none() {
            continue;
        }
        let name = own.map_or(DEFAULT_SET, |at| file.atomic_sets[at].name.text);
        let set = program.atomic_sets.push(AtomicSet { name: name.to_owned() });
        for at in members {
            layout.locations[at] = program.locations.len();
            let name = file.shared[at].item.name;
            for text in element_names(name.text, names.shared[at].length) {
                let place = name.place;
                layout.volatile.push(file.shared[at].volatile);
                program.locations.push(Location { name: text, place, atomic_set: set });
            }
        }
    }
}

fn shared(file: &File<'_>, names: &Names<'_>, program: &mut Program, layout: &mut Layout) {
    for (at, (declared, shared)) in file.shared.iter().zip(&names.shared).enumerate() {
        let Some(ty) = shared.ty else {
            layout.globals.push(None);
            continue;
        };
        let first = program.globals.len();
        layout.globals.push(Some(first));
        let name = declared.item.name;
        for (offset, text) in element_names(name.text, shared.length).into_iter().enumerate() {
            let annotation = match &shared.annotation {
                Some(Annotation::GuardedBy(lock)) => {
                    let element = match &lock.index {
                        Some(index) => usize::try_from(index.fold(None).unwrap_or(0)).unwrap_or(0),
                        None if names.locks[lock.at].is_some() => offset,
                        None => 0,
                    };
                    let lock = LockId::from_index(layout.locks[lock.at] + element);
                    Some(ModelAnnotation::GuardedBy(lock))
                }
                Some(Annotation::ExclusiveWhen(_)) | None => None,
            };
            program.globals.push(Global {
                name: text,
                place: name.place,
                ty,
                initial: shared.initial,
                location: Some(LocationId::from_index(layout.locations[at] + offset)),
                annotation,
                owner: None,
            });
        }
        array(name.text, first, shared.length, program);
    }
}

/// Names the elements that were pushed last.
fn array(name: &str, first: usize, length: Option<u32>, program: &mut Program) {
    if let Some(length) = length {
        let first = Variable::Global(GlobalId::from_index(first));
        let array = Array { first, length };
        program.arrays.push(NamedArray { name: name.to_owned(), array });
    }
}

fn threads(
    file: &File<'_>,
    names: &Names<'_>,
    functions: &[Vec<Function<'_>>],
    program: &mut Program,
    layout: &mut Layout,
) {
    let mut procedures = 0;
    for (at, process) in file.processes.iter().enumerate() {
        let number = names.numbers[at];
        let (name, place) = process.name.map_or(("", Place::NONE), |name| (name.text, name.place));
        let own = needs_own_functions(number, names, at, &functions[at]);
        let groups = if own { number.threads() } else { 1 };
        let main = names.functions[at].get("main").copied().unwrap_or(0);
        let firsts: Vec<usize> =
            (0..groups).map(|copy| procedures + copy * functions[at].len()).collect();
        procedures += groups * functions[at].len();
        let start = if process.waits { Start::ByEdge { after: None } } else { Start::AtFirst };
        let copies = if number == Number::Any { Copies::Any } else { Copies::One };
        let mut variables = Vec::new();
        for copy in 0..number.threads() {
            let name = match number {
                Number::Copies(_) => copy_name(name, copy as u32),
                Number::One | Number::Any => name.to_owned(),
            };
            let mut own_variables = Vec::new();
            for variable in &names.variables[at] {
                let first = program.globals.len();
                own_variables.push(first);
                let full = format!("{name}.{}", variable.name.text);
                for text in element_names(&full, variable.length) {
                    program.globals.push(Global {
                        name: text,
                        place: variable.name.place,
                        ty: variable.ty,
                        initial: variable.initial.get(copy).copied().flatten(),
                        location: None,
                        annotation: None,
                        owner: (number == Number::Any)
                            .then(|| ThreadId::from_index(program.threads.len())),
                    });
                }
                array(&full, first, variable.length, program);
            }
            variables.push(own_variables);
            let first = firsts[if own { copy } else { 0 }];
            let main = ProcedureId::from_index(first + main);
            program.threads.push(Thread { name, place, main, start, copies });
        }
        layout.variables.push(variables);
        layout.procedures.push(firsts);
    }
}

/// Globals for the locks that somebody tries to acquire.
fn watch(
    file: &File<'_>,
    functions: &[Vec<Function<'_>>],
    program: &mut Program,
    layout: &mut Layout,
) {
    layout.watched = vec![None; program.locks.len()];
    let mut tried = vec![false; file.locks.len()];
    for function in functions.iter().flatten() {
        function.body.each(&mut |statement| {
            if let StatementKind::TryAcquire(lock, _) = &statement.kind {
                tried[lock.at] = true;
            }
        });
    }
    for at in (0..file.locks.len()).filter(|&at| tried[at]) {
        let first = layout.locks[at];
        let end = layout.locks.get(at + 1).copied().unwrap_or(program.locks.len());
        for id in (first..end).map(LockId::from_index) {
            let Lock { name, place, reentrant } = program.locks[id].clone();
            let mut hidden = |what: &str, ty: Type| {
                program.globals.push(Global {
                    name: format!("#{name}.{what}"),
                    place,
                    ty,
                    initial: Some(0),
                    location: None,
                    annotation: None,
                    owner: None,
                })
            };
            layout.watched[id.index()] = Some(if reentrant {
                Watch::Reentrant(hidden("owner", Type::Thread), hidden("holds", MOST_HOLDS))
            } else {
                Watch::Mutex(hidden("held", Type::Bool))
            });
        }
    }
}

/// How often a lock may be held at once by those who are asked.
const MOST_HOLDS: Type = Type::Mod(1 << 16);

/// Predicates of annotations and invariants.
fn about_globals(names: &Names<'_>, program: &mut Program, layout: &Layout) {
    for (at, shared) in names.shared.iter().enumerate() {
        let Some(Annotation::ExclusiveWhen(predicate)) = &shared.annotation else { continue };
        let Some(first) = layout.globals[at] else { continue };
        for element in 0..shared.length.unwrap_or(1) as usize {
            let predicate = value::about_globals(predicate, names, layout);
            let condition = program.conditions.push(predicate);
            let global = GlobalId::from_index(first + element);
            program.globals[global].annotation = Some(ModelAnnotation::ExclusiveWhen(condition));
        }
    }
    for (place, invariant) in &names.invariants {
        let condition = program.conditions.push(value::about_globals(invariant, names, layout));
        program.invariants.push(Invariant { condition, place: *place });
    }
}

/// A hidden local.
fn hidden(name: String, ty: Type, initial: selvedge_program::Value) -> Local {
    Local { name, place: Place::NONE, end: Place::NONE, ty, initial: Some(initial) }
}

impl resolved::Block<'_> {
    /// Calls `visit` for all statements.
    fn each(&self, visit: &mut impl FnMut(&resolved::Statement<'_>)) {
        self.statements.iter().for_each(|statement| statement.each(visit));
    }
}

impl resolved::Statement<'_> {
    fn each(&self, visit: &mut impl FnMut(&resolved::Statement<'_>)) {
        visit(self);
        match &self.kind {
            StatementKind::Unit(block)
            | StatementKind::Atomic(block)
            | StatementKind::Synchronized(_, block)
            | StatementKind::Block(block) => block.each(visit),
            StatementKind::While(_, inner) | StatementKind::Label(_, inner) => inner.each(visit),
            StatementKind::If(branches, otherwise) => {
                for branch in branches {
                    branch.body.each(visit);
                }
                if let Some(otherwise) = otherwise {
                    otherwise.each(visit);
                }
            }
            _ => {}
        }
    }
}
