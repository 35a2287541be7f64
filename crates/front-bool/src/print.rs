//! # Idea
//! A program as text that [`crate::parse`] reads again, in Boppo's dialect, or in GETAFIX's if it has
//! one thread. Every node of a
//! procedure becomes a place in the text, every edge a statement; nodes follow each other where
//! they can, and labels and jumps stand only where they cannot.
//!
//! # Requires
//! A valid program.
//!
//! # What changes
//! Reading the text gives a program with the same runs up to steps that do nothing:
//! 1. Globals with an initial value get it from the first statement of `main`.
//! 2. Several threads that run at first are started by a new `main`.
//! 3. A node with several edges that are no plain jumps becomes a jump to one statement for each.
//! 4. A call, a return or a start that computes something in the same step becomes two statements,
//!    where nothing can tell the difference; else the program is refused.
//! 5. A label that stands at several nodes of one procedure gets numbers.
//! 6. In GETAFIX's dialect every step that its grammar has no statement for becomes several.
//!
//! # Invariants
//! 1. Procedures of several threads that would have the same text are written once.

mod body;
mod expression;
mod names;

use crate::dialect::Dialect;
use crate::print::body::Body;
use crate::print::names::Taken;
use selvedge_base::{Id, IdVec, Place};
use selvedge_program::{
    Action, EdgeId, Feature, NodeId, Procedure, ProcedureId, Program, Start, Successors, ThreadId,
    Variable, unshare,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Why a program cannot be written as a Boolean program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unprintable {
    /// The statement.
    pub place: Place,
    /// What is in the way.
    pub reason: String,
}

impl fmt::Display for Unprintable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.reason)
    }
}

/// The program as text in Boppo's dialect.
///
/// # Errors
/// If the program has something that Boolean programs lack: locks, accesses to locations, units of
/// work, threads that are started at several places, or steps that are not one statement each and
/// cannot be split.
pub fn print(program: &Program) -> Result<String, Unprintable> {
    print_in(program, Dialect::Boppo)
}

/// The program as text in a dialect.
///
/// # Errors
/// As [`print()`]; in GETAFIX's dialect also if the program has several threads.
pub fn print_in(program: &Program, dialect: Dialect) -> Result<String, Unprintable> {
    let features = program.features();
    if let Some(feature) =
        [Feature::Types, Feature::Checks].into_iter().find(|&one| features.contains(one))
    {
        let reason = format!("{}, and Boolean programs have none", feature.name());
        return Err(Unprintable { place: Place::NONE, reason });
    }
    // Functions with the same text become one again below.
    let unshared = unshare(program);
    let program = &*unshared.program;
    let overview = Overview::new(program, dialect)?;
    let globals = global_names(program, dialect);
    let mut text = String::new();
    if !globals.is_empty() {
        let names: Vec<&str> = globals.iter().map(String::as_str).collect();
        text.extend(["decl ", &names.join(", "), ";\n\n"]);
    }
    let functions = overview.function_names(program, &globals)?;
    let prologue = prologue(program, &globals);
    if overview.wrapped {
        text.push_str("void main() begin\n");
        if let Some(prologue) = &prologue {
            text.extend(["    ", prologue, "\n"]);
        }
        text.push_str(&overview.starts(program, &functions));
        text.push_str("end\n\n");
    }
    let mut written = BTreeSet::new();
    let mut bodies = Vec::new();
    for (id, _) in overview.printed(program) {
        let name = &functions[id];
        if !written.insert(name.clone()) {
            continue;
        }
        let is_main = !overview.wrapped
            && program.threads.iter().next().is_some_and(|first| first.main == id);
        let head =
            Head { name, parameters: !is_main, prologue: prologue.as_deref().filter(|_| is_main) };
        bodies.push(overview.function(program, id, &globals, &functions, &head)?);
    }
    text.push_str(&bodies.join("\n"));
    Ok(text)
}

/// What stands around the statements of a function.
struct Head<'h> {
    name: &'h str,
    /// Whether parameters are written as such, or as locals.
    parameters: bool,
    prologue: Option<&'h str>,
}

fn global_names(program: &Program, dialect: Dialect) -> Vec<String> {
    let mut taken = Taken::new(dialect);
    program.globals.iter().map(|global| taken.fresh(&global.name)).collect()
}

/// The assignment of the initial values, if there are any.
fn prologue(program: &Program, globals: &[String]) -> Option<String> {
    let initial = program.globals.iter().zip(globals);
    let (names, values): (Vec<&str>, Vec<&str>) = initial
        .filter_map(|(global, name)| {
            Some((name.as_str(), if global.initial? == 0 { "F" } else { "T" }))
        })
        .unzip();
    (!names.is_empty()).then(|| format!("{} := {};", names.join(", "), values.join(", ")))
}

/// What has to be known of the whole program.
pub(crate) struct Overview {
    dialect: Dialect,
    successors: Successors,
    /// The procedures that are called.
    called: IdVec<ProcedureId, bool>,
    /// The procedures whose results go to globals at some call.
    to_globals: IdVec<ProcedureId, bool>,
    /// The nodes of each procedure.
    nodes: IdVec<ProcedureId, Vec<NodeId>>,
    /// The labels of each procedure, as positions among all labels.
    labels: IdVec<ProcedureId, Vec<usize>>,
    /// The threads that can run.
    running: Vec<ThreadId>,
    /// Whether a new `main` starts or calls the program.
    wrapped: bool,
}

impl Overview {
    fn new(program: &Program, dialect: Dialect) -> Result<Self, Unprintable> {
        let mut overview = Self {
            dialect,
            successors: Successors::new(program),
            called: IdVec::filled(false, program.procedures.len()),
            to_globals: IdVec::filled(false, program.procedures.len()),
            nodes: IdVec::filled(Vec::new(), program.procedures.len()),
            labels: IdVec::filled(Vec::new(), program.procedures.len()),
            running: Vec::new(),
            wrapped: false,
        };
        for (node, &owner) in program.nodes.iter_enumerated() {
            overview.nodes[owner].push(node);
        }
        for (at, label) in program.labels.iter().enumerate() {
            overview.labels[program.nodes[label.node]].push(at);
        }
        for edge in &program.edges {
            if let Action::Call(callee) = edge.action {
                overview.called[callee] = true;
                let results = edge.passing.map(|passing| program.passings[passing].results.iter());
                let global =
                    |target: &Option<Variable>| matches!(target, Some(Variable::Global(_)));
                overview.to_globals[callee] |= results.into_iter().flatten().any(global);
            }
        }
        overview.threads(program)?;
        if let (Dialect::Getafix, &[_, second, ..]) = (dialect, overview.running.as_slice()) {
            let place = program.threads[second].place;
            let reason = "in the dialect of GETAFIX, programs with one thread are written only";
            return Err(Unprintable { place, reason: reason.to_owned() });
        }
        let at_first = |thread: &ThreadId| program.threads[*thread].start == Start::AtFirst;
        let initial: Vec<ThreadId> = overview.running.iter().copied().filter(at_first).collect();
        let initial_values = program.globals.iter().any(|global| global.initial.is_some());
        overview.wrapped = match initial.as_slice() {
            [first] if first.index() == 0 => {
                let main = program.threads[*first].main;
                overview.called[main]
                    && (initial_values || program.procedures[main].frame.parameters > 0)
            }
            _ => true,
        };
        Ok(overview)
    }

    /// Which threads can run; each must be started by one edge that is executed at most once.
    fn threads(&mut self, program: &Program) -> Result<(), Unprintable> {
        let mut starts: IdVec<ThreadId, Vec<EdgeId>> =
            IdVec::filled(Vec::new(), program.threads.len());
        for (id, edge) in program.edges.iter_enumerated() {
            if let Action::Start(thread) = edge.action {
                starts[thread].push(id);
            }
        }
        for (id, thread) in program.threads.iter_enumerated() {
            let Start::ByEdge { after } = thread.start else {
                self.running.push(id);
                continue;
            };
            let refuse = |place: Place, what: &str| {
                Err(Unprintable { place, reason: format!("thread {} {what}", thread.name) })
            };
            let Some(&start) = starts[id].first() else { continue };
            let edge = &program.edges[start];
            let owner = program.nodes[edge.source];
            let is_main = program.procedures[owner]
                .owner
                .is_some_and(|thread| program.threads[thread].main == owner);
            if after.is_some() || starts[id].len() > 1 {
                return refuse(edge.place, "is one of several that are started at the same place");
            }
            if !is_main || self.called[owner] || self.on_cycle(program, start) {
                return refuse(edge.place, "is started where a start could happen several times");
            }
            self.running.push(id);
        }
        Ok(())
    }

    /// Whether an edge can be executed twice in one activation.
    fn on_cycle(&self, program: &Program, edge: EdgeId) -> bool {
        let source = program.edges[edge].source;
        let mut seen = BTreeSet::new();
        let mut open = vec![program.edges[edge].target];
        while let Some(node) = open.pop() {
            if node == source {
                return true;
            }
            if seen.insert(node) {
                let edges = self.successors.of(node).iter();
                open.extend(edges.map(|&edge| program.edges[edge].target));
            }
        }
        false
    }

    /// The procedures that are written, in order.
    fn printed<'p>(
        &self,
        program: &'p Program,
    ) -> impl Iterator<Item = (ProcedureId, &'p Procedure)> {
        let running: BTreeSet<ThreadId> = self.running.iter().copied().collect();
        program.procedures.iter_enumerated().filter(move |(_, procedure)| {
            procedure.owner.is_some_and(|owner| running.contains(&owner))
        })
    }

    /// The names of the functions. Procedures with the same name share it if they, and all that
    /// they call, have the same text.
    fn function_names(
        &self,
        program: &Program,
        globals: &[String],
    ) -> Result<IdVec<ProcedureId, String>, Unprintable> {
        let own: IdVec<ProcedureId, String> =
            program.procedures.iter().map(|procedure| procedure.name.clone()).collect();
        let mut groups: BTreeMap<&str, Vec<ProcedureId>> = BTreeMap::new();
        for (id, procedure) in self.printed(program) {
            groups.entry(&procedure.name).or_default().push(id);
        }
        let root = program.threads.iter().next().map(|thread| thread.main);
        let is_root = |id: ProcedureId| !self.wrapped && Some(id) == root;
        let mut split: BTreeSet<&str> = BTreeSet::new();
        for (&name, members) in groups.iter().filter(|(_, members)| members.len() > 1) {
            let mut texts = BTreeSet::new();
            for &id in members {
                let head = Head { name, parameters: true, prologue: None };
                texts.insert(self.function(program, id, globals, &own, &head)?);
            }
            if texts.len() > 1 || members.iter().any(|&id| is_root(id)) {
                split.insert(name);
            }
        }
        // Whoever names something that is not shared cannot be shared.
        loop {
            let before = split.len();
            for edge in &program.edges {
                let named = match edge.action {
                    Action::Call(callee) => callee,
                    Action::Start(thread) => program.threads[thread].main,
                    _ => continue,
                };
                let owner = program.procedures[program.nodes[edge.source]].name.as_str();
                if split.contains(own[named].as_str()) {
                    split.insert(owner);
                }
            }
            if split.len() == before {
                break;
            }
        }
        let mut taken = Taken::new(self.dialect);
        taken.reserve("main");
        // A first function of this name means GETAFIX's threads.
        taken.reserve("init");
        let mut shared: BTreeMap<&str, String> = BTreeMap::new();
        let mut names = own.clone();
        for (id, procedure) in self.printed(program) {
            let name = procedure.name.as_str();
            names[id] = if is_root(id) {
                "main".to_owned()
            } else if split.contains(name) {
                taken.fresh(name)
            } else {
                shared.entry(name).or_insert_with(|| taken.fresh(name)).clone()
            };
        }
        Ok(names)
    }

    /// The statements of a new `main`.
    fn starts(&self, program: &Program, functions: &IdVec<ProcedureId, String>) -> String {
        let mut text = String::new();
        let at_first: Vec<ThreadId> = self
            .running
            .iter()
            .copied()
            .filter(|&thread| program.threads[thread].start == Start::AtFirst)
            .collect();
        let alone =
            at_first.len() == 1 && (at_first[0].index() == 0 || self.dialect == Dialect::Getafix);
        let word = if alone { "" } else { "start_thread " };
        for thread in at_first {
            let main = program.threads[thread].main;
            let any = if self.dialect == Dialect::Getafix { "schoose[F, F]" } else { "*" };
            let arguments = vec![any; program.procedures[main].frame.parameters].join(", ");
            text.extend(["    ", word, &functions[main], "(", &arguments, ");\n"]);
        }
        text
    }

    /// One function as text.
    fn function(
        &self,
        program: &Program,
        id: ProcedureId,
        globals: &[String],
        functions: &IdVec<ProcedureId, String>,
        head: &Head<'_>,
    ) -> Result<String, Unprintable> {
        let procedure = &program.procedures[id];
        let body = Body::new(self, program, id, globals, functions)?;
        let kind = match procedure.frame.results.len() {
            0 => "void".to_owned(),
            1 => "bool".to_owned(),
            results => format!("bool<{results}>"),
        };
        let split = if head.parameters { procedure.frame.parameters } else { 0 };
        let (parameters, locals) = body.locals.split_at(split);
        let mut text = format!("{kind} {}({}) begin\n", head.name, parameters.join(", "));
        if !locals.is_empty() {
            text.extend(["    decl ", &locals.join(", "), ";\n"]);
        }
        if let Some(enforced) = &body.enforced {
            text.extend(["    enforce ", enforced, ";\n"]);
        }
        if let Some(prologue) = head.prologue {
            text.extend(["    ", prologue, "\n"]);
        }
        text.push_str(&body.statements);
        text.push_str("end\n");
        Ok(text)
    }
}
