//! # Idea
//! Prints a program so that [`parse`](super::parse()) gives the same one back.
//!
//! # Requires
//! A program that satisfies the invariants of [`crate::model`]: the text keeps names in place of
//! ids, and the grouping of nodes and edges in place of their owners.

use crate::model::{Action, AtomicSetId, NodeId, Procedure, ProcedureId, Program};
use selvedge_base::{Id, Place};
use std::fmt::Write;

/// The text form of a valid program.
pub fn print(program: &Program) -> String {
    let mut printer = Printer { program, text: String::from("program\n"), next_edge: 0 };
    for lock in &program.locks {
        printer.put(format_args!("lock {}", Word(&lock.name)));
        printer.place(lock.place);
        printer.text.push('\n');
    }
    printer.sets();
    printer.threads();
    printer.text
}

struct Printer<'p> {
    program: &'p Program,
    text: String,
    /// The first edge that is not printed yet.
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

    fn threads(&mut self) {
        let program = self.program;
        let mut procedures = program.procedures.iter_enumerated().peekable();
        let mut first_node = 0;
        for (id, thread) in program.threads.iter_enumerated() {
            self.put(format_args!("thread {}", Word(&thread.name)));
            self.place(thread.place);
            self.put(format_args!(" main {} {{\n", Word(&program.procedures[thread.main].name)));
            while let Some((own, procedure)) = procedures.next_if(|(_, one)| one.thread == id) {
                let nodes = program.nodes.as_slice()[first_node..]
                    .iter()
                    .take_while(|&&owner| owner == own)
                    .count();
                self.procedure(own, procedure, first_node, nodes);
                first_node += nodes;
            }
            self.text.push_str("}\n");
        }
    }

    fn procedure(&mut self, id: ProcedureId, procedure: &Procedure, first: usize, nodes: usize) {
        let program = self.program;
        let local = |node: NodeId| node.index() - first;
        self.put(format_args!("  procedure {}", Word(&procedure.name)));
        self.place(procedure.place);
        if procedure.end != Place::NONE {
            self.put(format_args!(" end @{}", procedure.end));
        }
        let (entry, exit) = (local(procedure.entry), local(procedure.exit));
        self.put(format_args!(" nodes {nodes} entry {entry} exit {exit} {{\n"));
        let edges = &program.edges.as_slice()[self.next_edge..];
        for edge in edges.iter().take_while(|edge| program.nodes[edge.source] == id) {
            self.put(format_args!("    {} -> {} ", local(edge.source), local(edge.target)));
            match edge.action {
                Action::Skip => self.text.push_str("skip"),
                Action::Read(x) => self.named("read", &program.locations[x].name),
                Action::Write(x) => self.named("write", &program.locations[x].name),
                Action::Acquire(l) => self.named("acquire", &program.locks[l].name),
                Action::Release(l) => self.named("release", &program.locks[l].name),
                Action::BeginUnit => self.text.push_str("begin"),
                Action::EndUnit => self.text.push_str("end"),
                Action::Call(p) => self.named("call", &program.procedures[p].name),
                Action::Assert(_)
                | Action::Return(_)
                | Action::Start(_)
                | Action::BeginAtomic
                | Action::EndAtomic => todo!("the text form of data"),
            }
            self.place(edge.place);
            self.text.push('\n');
            self.next_edge += 1;
        }
        self.text.push_str("  }\n");
    }

    fn named(&mut self, action: &str, name: &str) {
        self.put(format_args!("{action} {}", Word(name)));
    }
}

/// A name as it is written: bare if it is an identifier, in double quotes otherwise.
struct Word<'n>(&'n str);

impl std::fmt::Display for Word<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bare = !self.0.is_empty()
            && !self.0.starts_with(|first: char| first.is_ascii_digit())
            && self.0.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if bare {
            return f.write_str(self.0);
        }
        f.write_char('"')?;
        for character in self.0.chars() {
            match character {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                '\t' => f.write_str("\\t")?,
                other if other.is_control() => {
                    write!(f, "\\u{{{:x}}}", u32::from(other))?;
                }
                other => f.write_char(other)?,
            }
        }
        f.write_char('"')
    }
}
