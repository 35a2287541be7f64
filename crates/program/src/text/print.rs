//! # Idea
//! Prints a program so that [`parse`](super::parse()) gives the same one back.
//!
//! # Requires
//! A program that satisfies the invariants of [`crate::model`]: the text keeps names in place of
//! ids, and the grouping of nodes and edges in place of their owners. Updates, conditions, returned
//! and passed values stand where they are used; they read back numbered in this order, each used
//! once, and an update that does nothing as none.

use crate::data::{
    Annotation, Array, Expr, Literal, NamedArray, Passing, Type, Update, Value, Variable,
};
use crate::expression::{Atom, Readers, shown};
use crate::model::{
    Action, AtomicSetId, Copies, Edge, NodeId, PassingId, Procedure, ProcedureId, Program, Start,
    ThreadId, WaitSet, WaitSetId,
};
use selvedge_base::{Id, IdVec, Place};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The text form of a valid program.
pub fn print(program: &Program) -> String {
    let text = String::from("program\n");
    let owned = program.procedures.iter().filter(|one| one.owner.is_some());
    let owned_names = if program.has_shared_procedures() {
        owned.map(|one| (one.owner, one.name.as_str())).collect()
    } else {
        BTreeSet::new()
    };
    let mut printer = Printer { program, text, owned_names, next_node: 0, next_edge: 0 };
    for (at, file) in program.files.iter().enumerate() {
        printer.put(format_args!("file {} ", at + 1));
        write_quoted(&file.name, &mut printer.text).expect("a string can be written to");
        printer.text.push('\n');
    }
    for lock in &program.locks {
        printer.put(format_args!("lock {}", Word(&lock.name)));
        printer.text.push_str(if lock.reentrant { "" } else { " mutex" });
        printer.place(lock.place);
        printer.text.push('\n');
    }
    for set in &program.wait_sets.as_slice()[..declared_wait_sets(program)] {
        let lock = &program.locks[set.lock].name;
        printer.put(format_args!("condition {} of {}", Word(&set.name), Word(lock)));
        printer.place(set.place);
        printer.text.push('\n');
    }
    for channel in &program.channels {
        printer.put(format_args!("channel {}", Word(&channel.name)));
        printer.place(channel.place);
        printer.text.push('\n');
    }
    printer.sets();
    printer.globals();
    printer.threads();
    printer.labels();
    printer.text
}

/// How many wait sets need a declaration. The others are default sets that reading adds in this order
/// where edges first name their locks.
fn declared_wait_sets(program: &Program) -> usize {
    let (mut seen, mut implied) = (BTreeSet::new(), Vec::new());
    for set in program.edges.iter().filter_map(|edge| edge.action.wait_set()) {
        let WaitSet { name, lock, place } = &program.wait_sets[set];
        let lock = &program.locks[*lock];
        if *name == lock.name && *place == lock.place && seen.insert(set) {
            implied.push(set);
        }
    }
    let declared = program.wait_sets.len() - implied.len();
    let tail = (declared..program.wait_sets.len()).map(WaitSetId::from_index);
    if implied.into_iter().eq(tail) { declared } else { program.wait_sets.len() }
}

struct Printer<'p> {
    program: &'p Program,
    text: String,
    /// The names of the procedures of each thread, if there are shared ones as well.
    owned_names: BTreeSet<(Option<ThreadId>, &'p str)>,
    /// The first node and the first edge that are not printed yet.
    next_node: usize,
    next_edge: usize,
}

impl Printer<'_> {
    fn put(&mut self, arguments: std::fmt::Arguments<'_>) {
        self.text.write_fmt(arguments).expect("a string can be written to");
    }

    fn place(&mut self, place: Place) {
        if place != Place::NONE {
            self.put(format_args!(" @{place}"));
        }
    }

    /// Sets in the order of their ids and locations in the order of theirs. A set is opened as often
    /// as it takes to keep both orders.
    fn sets(&mut self) {
        let mut opened = 0;
        let mut rest = self.program.locations.as_slice();
        while let Some(first) = rest.first() {
            let set = first.atomic_set;
            while opened < set.index() {
                self.set(AtomicSetId::from_index(opened));
                self.text.push_str(" }\n");
                opened += 1;
            }
            opened = opened.max(set.index() + 1);
            let same = rest.iter().take_while(|location| location.atomic_set == set).count();
            self.set(set);
            for (at, location) in rest[..same].iter().enumerate() {
                let separator = if at == 0 { " " } else { ", " };
                self.put(format_args!("{separator}{}", Word(&location.name)));
                self.place(location.place);
            }
            self.text.push_str(" }\n");
            rest = &rest[same..];
        }
        for set in opened..self.program.atomic_sets.len() {
            self.set(AtomicSetId::from_index(set));
            self.text.push_str(" }\n");
        }
    }

    fn set(&mut self, set: AtomicSetId) {
        self.put(format_args!("set {} {{", Word(&self.program.atomic_sets[set].name)));
    }

    fn globals(&mut self) {
        let program = self.program;
        for one in &program.enums {
            self.put(format_args!("enum {} {{ ", Word(&one.name)));
            self.list(&one.values, |printer, value| printer.put(format_args!("{}", Word(value))));
            self.text.push_str(" }\n");
        }
        let variables = program.globals.iter().map(|one| one.name.as_str()).enumerate();
        for (at, name, length) in grouped(variables, &program.arrays) {
            let global = &program.globals.as_slice()[at];
            self.text.push_str("global ");
            self.declared(name, length, global.ty, global.initial);
            if let Some(location) = global.location {
                self.put(format_args!(" location {}", Word(&program.locations[location].name)));
            }
            if let Some(Annotation::GuardedBy(lock)) = global.annotation {
                let next = length.filter(|&length| length > 1).map(|_| at + 1);
                let next = next.and_then(|at| program.globals.as_slice()[at].annotation);
                // The elements of an array may have one lock each, one behind the other.
                let each = next.is_some_and(|next| Some(next) != global.annotation);
                let each = if each { " each" } else { "" };
                let lock = &program.locks[lock].name;
                // A lock may be called `each`.
                if lock == "each" {
                    self.put(format_args!(" guarded by{each} \"each\""));
                } else {
                    self.put(format_args!(" guarded by{each} {}", Word(lock)));
                }
            }
            if let Some(owner) = global.owner {
                self.put(format_args!(" of {}", Word(&program.threads[owner].name)));
            }
            self.place(global.place);
            self.text.push('\n');
        }
        for numeral in &program.numerals {
            self.put(format_args!("numeral {} {{", Word(&numeral.name)));
            for (at, &bit) in numeral.bits.iter().enumerate() {
                let separator = if at == 0 { " " } else { ", " };
                self.put(format_args!("{separator}{}", Word(&program.globals[bit].name)));
            }
            self.text.push_str(" }\n");
        }
        for global in &program.globals {
            if let Some(Annotation::ExclusiveWhen(condition)) = global.annotation {
                self.put(format_args!("exclusive {} when ", Word(&global.name)));
                self.expression(None, &program.conditions[condition]);
                self.text.push('\n');
            }
        }
        for invariant in &program.invariants {
            self.text.push_str("invariant ");
            self.expression(None, &program.conditions[invariant.condition]);
            self.place(invariant.place);
            self.text.push('\n');
        }
        if program.spurious_wakeups {
            self.text.push_str("spurious wakeups\n");
        }
    }

    /// What is declared of a variable, or of an array: its name, type and first value.
    fn declared(&mut self, name: &str, length: Option<u32>, ty: Type, initial: Option<Value>) {
        self.put(format_args!("{}", Word(name)));
        if let Some(length) = length {
            self.put(format_args!("[{length}]"));
        }
        if ty != Type::Bool {
            self.text.push_str(" : ");
            self.ty(ty);
        }
        if let Some(value) = initial {
            self.text.push_str(" = ");
            self.expression(None, &Expr::Constant(Literal::of(ty, value)));
        }
    }

    fn ty(&mut self, ty: Type) {
        match ty {
            Type::Bool => self.text.push_str("bool"),
            Type::Int { low, high } => self.put(format_args!("{low}..{high}")),
            Type::Mod(n) => self.put(format_args!("mod {n}")),
            Type::Thread => self.text.push_str("thread"),
            Type::Enum(id) => {
                let name = &self.program.enums[id].name;
                if matches!(name.as_str(), "bool" | "mod" | "thread") {
                    self.put(format_args!("\"{name}\""));
                } else {
                    self.put(format_args!("{}", Word(name)));
                }
            }
        }
    }

    fn labels(&mut self) {
        let program = self.program;
        // The first node of each procedure that a label stands in.
        let mut first_nodes = std::collections::BTreeMap::new();
        for (node, &procedure) in program.nodes.iter_enumerated() {
            first_nodes.entry(procedure).or_insert(node);
        }
        for label in &program.labels {
            let id = program.nodes[label.node];
            let procedure = &program.procedures[id];
            let node = label.node.index() - first_nodes[&id].index();
            self.put(format_args!("label {} at ", Word(&label.name)));
            if let Some(owner) = procedure.owner {
                self.put(format_args!("{} ", Word(&program.threads[owner].name)));
            }
            self.put(format_args!("{} {node}", Word(&procedure.name)));
            self.place(label.place);
            self.put(format_args!("\n"));
        }
    }

    /// Threads and shared procedures. Both keep their order, and each shared procedure its place
    /// among those that threads own.
    fn threads(&mut self) {
        let program = self.program;
        let mut owns = IdVec::filled(false, program.threads.len());
        program.procedures.iter().filter_map(|one| one.owner).for_each(|owner| owns[owner] = true);
        let mut procedures = program.procedures.iter_enumerated().peekable();
        for (id, thread) in program.threads.iter_enumerated() {
            while owns[id]
                && let Some((shared, procedure)) =
                    procedures.next_if(|(_, one)| one.owner.is_none())
            {
                self.procedure(shared, procedure);
            }
            self.put(format_args!("thread {}", Word(&thread.name)));
            self.place(thread.place);
            if thread.copies == Copies::Any {
                self.text.push_str(" copies *");
            }
            if let Start::ByEdge { after } = thread.start {
                self.text.push_str(" waits");
                if let Some(before) = after {
                    self.put(format_args!(" after {}", Word(&program.threads[before].name)));
                }
            }
            self.text.push_str(" main ");
            self.procedure_name(Some(id), thread.main);
            if !owns[id] {
                self.text.push('\n');
                continue;
            }
            self.text.push_str(" {\n");
            while let Some((own, procedure)) = procedures.next_if(|(_, one)| one.owner == Some(id))
            {
                self.procedure(own, procedure);
            }
            self.text.push_str("}\n");
        }
        for (shared, procedure) in procedures {
            self.procedure(shared, procedure);
        }
    }

    /// A procedure as code of `owner` calls it: with a dot if it is a shared one that a procedure of
    /// the thread hides.
    fn procedure_name(&mut self, owner: Option<ThreadId>, procedure: ProcedureId) {
        let program = self.program;
        let callee = &program.procedures[procedure];
        let hidden = owner.is_some()
            && callee.owner.is_none()
            && self.owned_names.contains(&(owner, callee.name.as_str()));
        self.put(format_args!("{}{}", if hidden { "." } else { "" }, Word(&callee.name)));
    }

    fn procedure(&mut self, id: ProcedureId, procedure: &Procedure) {
        let program = self.program;
        let first = self.next_node;
        let own = program.nodes.as_slice()[first..].iter().take_while(|&&owner| owner == id);
        let nodes = own.count();
        self.next_node += nodes;
        let indent = if procedure.owner.is_some() { "  " } else { "" };
        let local = |node: NodeId| node.index() - first;
        self.put(format_args!("{indent}procedure {}", Word(&procedure.name)));
        self.place(procedure.place);
        self.frame(procedure);
        if procedure.end != Place::NONE {
            self.put(format_args!(" end @{}", procedure.end));
        }
        let (entry, exit) = (local(procedure.entry), local(procedure.exit));
        self.put(format_args!(" nodes {nodes} entry {entry} exit {exit} {{\n"));
        let edges = &program.edges.as_slice()[self.next_edge..];
        for edge in edges.iter().take_while(|edge| program.nodes[edge.source] == id) {
            let (source, target) = (local(edge.source), local(edge.target));
            self.put(format_args!("{indent}  {source} -> {target} "));
            self.action(procedure, edge);
            if let Some(update) = edge.update {
                self.update(procedure, &program.updates[update]);
            }
            self.place(edge.place);
            self.text.push('\n');
            self.next_edge += 1;
        }
        self.put(format_args!("{indent}}}\n"));
    }

    /// Parameters, results, further locals and what is enforced.
    fn frame(&mut self, procedure: &Procedure) {
        let frame = &procedure.frame;
        let locals = frame.locals.iter().map(|one| one.name.as_str()).enumerate();
        let locals = grouped(locals, &frame.arrays);
        let parameters = locals.iter().take_while(|(at, ..)| *at < frame.parameters).count();
        let (parameters, others) = locals.split_at(parameters);
        for (locals, before, after) in [(parameters, " (", ")"), (others, " locals ", "")] {
            if !locals.is_empty() {
                self.text.push_str(before);
                self.list(locals, |printer, &(at, name, length)| {
                    let local = &frame.locals.as_slice()[at];
                    printer.declared(name, length, local.ty, local.initial);
                    printer.place(local.place);
                    if local.end != Place::NONE {
                        printer.put(format_args!(" until"));
                        printer.place(local.end);
                    }
                });
                self.text.push_str(after);
            }
            if before == " (" && !frame.results.is_empty() {
                self.text.push_str(" -> ");
                if frame.results.iter().all(|&ty| ty == Type::Bool) {
                    self.put(format_args!("{}", frame.results.len()));
                } else {
                    self.text.push('(');
                    self.list(&frame.results, |printer, &ty| printer.ty(ty));
                    self.text.push(')');
                }
            }
        }
        if let Some(condition) = frame.enforced {
            self.text.push_str(" enforce ");
            self.expression(Some(procedure), &self.program.conditions[condition]);
        }
    }

    fn action(&mut self, procedure: &Procedure, edge: &Edge) {
        let program = self.program;
        match edge.action {
            Action::Skip => self.text.push_str("skip"),
            Action::Read(x) | Action::Write(x) => {
                let read = matches!(edge.action, Action::Read(_));
                self.text.push_str(if read { "read " } else { "write " });
                let name = &program.locations[x].name;
                // A location may be called `volatile`.
                let quoted = name == "volatile";
                self.text.push_str(if edge.volatile { "volatile " } else { "" });
                if quoted {
                    self.text.push_str("\"volatile\"");
                } else {
                    self.put(format_args!("{}", Word(name)));
                }
            }
            Action::Acquire(l) => self.named("acquire", &program.locks[l].name),
            Action::Release(l) => self.named("release", &program.locks[l].name),
            Action::Wait(set) => self.named("wait", &program.wait_sets[set].name),
            Action::Resume(set) => self.named("resume", &program.wait_sets[set].name),
            Action::Notify(set) => self.named("notify", &program.wait_sets[set].name),
            Action::NotifyAll(set) => self.named("notifyAll", &program.wait_sets[set].name),
            Action::Send(a) => self.named("send", &program.channels[a].name),
            Action::Post(a) => self.named("post", &program.channels[a].name),
            Action::Broadcast(a) => self.named("broadcast", &program.channels[a].name),
            Action::Recv(a) => self.named("recv", &program.channels[a].name),
            Action::BeginUnit => self.text.push_str("begin"),
            Action::EndUnit => self.text.push_str("end"),
            Action::BeginAtomic => self.text.push_str("begin atomic"),
            Action::EndAtomic => self.text.push_str("end atomic"),
            Action::Call(p) => {
                self.text.push_str("call ");
                self.procedure_name(procedure.owner, p);
                self.passing(procedure, edge.passing);
            }
            Action::Start(t) => {
                self.named("start", &program.threads[t].name);
                self.passing(procedure, edge.passing);
            }
            Action::Join(t) => self.named("join", &program.threads[t].name),
            Action::Assert(condition) => {
                self.text.push_str("assert ");
                self.expression(Some(procedure), &program.conditions[condition]);
            }
            Action::Return(values) => {
                self.text.push_str("return");
                let values = &program.returns[values];
                if !values.is_empty() {
                    self.text.push(' ');
                    self.list(values, |printer, value| printer.expression(Some(procedure), value));
                }
            }
        }
    }

    fn passing(&mut self, procedure: &Procedure, passing: Option<PassingId>) {
        let Some(passing) = passing else { return };
        let Passing { arguments, results } = &self.program.passings[passing];
        self.text.push('(');
        self.list(arguments, |printer, argument| printer.expression(Some(procedure), argument));
        self.text.push(')');
        if !results.is_empty() {
            self.text.push_str(" into ");
            self.list(results, |printer, result| match result {
                Some(target) => printer.variable(procedure, *target),
                None => printer.text.push('_'),
            });
        }
    }

    fn update(&mut self, procedure: &Procedure, update: &Update) {
        if let Some(guard) = &update.guard {
            self.text.push_str(" when ");
            self.expression(Some(procedure), guard);
        }
        if !update.assignments.is_empty() {
            self.text.push_str(" do ");
            self.list(&update.assignments, |printer, (target, _)| {
                printer.variable(procedure, *target);
            });
            self.text.push_str(" := ");
            self.list(&update.assignments, |printer, (_, value)| {
                printer.expression(Some(procedure), value);
            });
        }
        if let Some(constraint) = &update.constraint {
            self.text.push_str(" constrain ");
            self.expression(Some(procedure), constraint);
        }
    }

    fn list<T>(&mut self, items: &[T], mut item: impl FnMut(&mut Self, &T)) {
        for (at, one) in items.iter().enumerate() {
            if at > 0 {
                self.text.push_str(", ");
            }
            item(self, one);
        }
    }

    /// An expression of a procedure, or about globals only.
    fn expression(&mut self, procedure: Option<&Procedure>, expr: &Expr) {
        let program = self.program;
        let names = |atom: Atom, f: &mut std::fmt::Formatter<'_>| match atom {
            Atom::Variable(variable) => write_variable(program, procedure, variable, f),
            Atom::Array(array) => write_array(program, procedure, array, f),
            Atom::Literal(Literal::Thread(None)) => f.write_str("$none"),
            Atom::Literal(Literal::Thread(Some(thread))) => {
                write!(f, "$thread({})", Word(&program.threads[thread].name))
            }
            Atom::Literal(Literal::Enumerator(id, at)) => {
                let one = &program.enums[id];
                write!(f, "$enum({}, {})", Word(&one.name), Word(&one.values[at as usize]))
            }
            Atom::Literal(literal) => program.write_literal(literal, f),
        };
        self.put(format_args!("{}", shown(expr, Readers::TextForm, &names)));
    }

    fn variable(&mut self, procedure: &Procedure, variable: Variable) {
        self.expression(Some(procedure), &Expr::Current(variable));
    }

    fn named(&mut self, action: &str, name: &str) {
        self.put(format_args!("{action} {}", Word(name)));
    }
}

/// A variable as it is written in a procedure: with a dot if it is a global that a local hides, in
/// quotes if its name means something else in an expression or behind one.
fn write_variable(
    program: &Program,
    procedure: Option<&Procedure>,
    variable: Variable,
    f: &mut std::fmt::Formatter<'_>,
) -> std::fmt::Result {
    let locals = procedure.map_or(&[][..], |procedure| procedure.frame.locals.as_slice());
    let name = match variable {
        Variable::Global(global) => &program.globals[global].name,
        Variable::Local(local) => &locals[local.index()].name,
    };
    let is_global = matches!(variable, Variable::Global(_));
    if is_global && locals.iter().any(|local| local.name == *name) {
        f.write_char('.')?;
    }
    write_in_expression(name, f)
}

/// A name as it is written in an expression: in quotes also if it means something else there.
fn write_in_expression(name: &str, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
    if matches!(name, "T" | "F" | "_" | "when" | "do" | "constrain") {
        return write!(f, "\"{name}\"");
    }
    write!(f, "{}", Word(name))
}

/// An array as it is written in a procedure: with a dot if it is a global one that a local one hides.
fn write_array(
    program: &Program,
    procedure: Option<&Procedure>,
    array: Array,
    f: &mut std::fmt::Formatter<'_>,
) -> std::fmt::Result {
    let local = procedure.map_or(&[][..], |procedure| &procedure.frame.arrays);
    let (arrays, is_global) = match array.first {
        Variable::Global(_) => (&program.arrays[..], true),
        Variable::Local(_) => (local, false),
    };
    let named = arrays.iter().find(|one| one.array == array).expect("an array is declared");
    if is_global && local.iter().any(|one| one.name == named.name) {
        f.write_char('.')?;
    }
    write_in_expression(&named.name, f)
}

/// Variables in their order, with the elements of an array taken together: the index of the (first)
/// variable, its name, and the length of the array.
fn grouped<'n>(
    variables: impl Iterator<Item = (usize, &'n str)>,
    arrays: &'n [NamedArray],
) -> Vec<(usize, &'n str, Option<u32>)> {
    let mut arrays = arrays.iter().peekable();
    let mut behind = 0;
    let mut all = Vec::new();
    for (at, name) in variables {
        if let Some(one) = arrays.next_if(|one| first_index(one) == at) {
            all.push((at, one.name.as_str(), Some(one.array.length)));
            behind = at + one.array.length as usize;
        } else if at >= behind {
            all.push((at, name, None));
        }
    }
    all
}

fn first_index(array: &NamedArray) -> usize {
    match array.array.first {
        Variable::Global(id) => id.index(),
        Variable::Local(id) => id.index(),
    }
}

/// A name as it is written: bare if it is an identifier, in double quotes otherwise.
pub(super) struct Word<'n>(pub(super) &'n str);

impl std::fmt::Display for Word<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bare = !self.0.is_empty()
            && !self.0.starts_with(|first: char| first.is_ascii_digit())
            && self.0.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if bare {
            return f.write_str(self.0);
        }
        write_quoted(self.0, f)
    }
}

/// A name in double quotes, with its escapes.
fn write_quoted(name: &str, out: &mut impl Write) -> std::fmt::Result {
    out.write_char('"')?;
    for character in name.chars() {
        match character {
            '"' => out.write_str("\\\"")?,
            '\\' => out.write_str("\\\\")?,
            '\n' => out.write_str("\\n")?,
            '\t' => out.write_str("\\t")?,
            other if other.is_control() => {
                write!(out, "\\u{{{:x}}}", u32::from(other))?;
            }
            other => out.write_char(other)?,
        }
    }
    out.write_char('"')
}
