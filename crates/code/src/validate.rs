//! # Idea
//! What every module has to satisfy. Whoever made it, a reader of texts or of a language, gets one
//! message for each thing that is wrong, with the part that it is about.
//!
//! # Invariants
//! 1. Nothing is looked up by an id that is out of range, so a broken module is safe to validate.
//! 2. At most [`LIMIT`] breaches are found.

mod declarations;
mod statements;

use crate::flow::graph::BlockGraph;
use crate::flow::liveness::live_at_entry;
use crate::model::{
    BlockId, FieldId, GlobalId, MethodId, Module, Point, Procedure, ProcedureId, RegisterId, TypeId,
};
use crate::operands::{registers_read, registers_read_by_jump};
use selvedge_base::{Diagnostic, Id as _, IdVec, Severity, Span};
use std::fmt;

/// How many breaches are found at most.
pub const LIMIT: usize = 100;

/// A part of a module.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Site {
    /// All of it.
    Module,
    /// A type.
    Type(TypeId),
    /// A field.
    Field(FieldId),
    /// A global.
    Global(GlobalId),
    /// A method.
    Method(MethodId),
    /// A procedure.
    Procedure(ProcedureId),
    /// A block of a procedure.
    Block(ProcedureId, BlockId),
    /// A statement or an end.
    Point(ProcedureId, Point),
}

/// Something that is wrong with a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Breach {
    /// Stable kebab-case code.
    pub code: &'static str,
    /// One line.
    pub message: String,
    /// What to do.
    pub help: &'static str,
    /// What it is about.
    pub site: Site,
}

impl Breach {
    /// The same as a complaint about a text.
    pub fn diagnostic(&self, span: Option<Span>) -> Diagnostic {
        let diagnostic = match span {
            Some(span) => Diagnostic::error(self.code, self.message.clone(), span, "here"),
            None => Diagnostic::global(self.code, Severity::Error, self.message.clone()),
        };
        diagnostic.with_help(self.help)
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

/// What is wrong with a module, in the order of its parts; nothing if it is valid.
pub fn validate(module: &Module) -> Vec<Breach> {
    let mut check = Check { module, site: Site::Module, breaches: Vec::new() };
    check.declarations();
    for (id, procedure) in module.procedures.iter_enumerated() {
        check.procedure(id, procedure);
    }
    check.breaches
}

struct Check<'a> {
    module: &'a Module,
    /// The part that is checked.
    site: Site,
    breaches: Vec<Breach>,
}

impl Check<'_> {
    fn breach(&mut self, code: &'static str, message: String, help: &'static str) {
        if self.breaches.len() < LIMIT {
            self.breaches.push(Breach { code, message, help, site: self.site });
        }
    }

    /// Complains about an id that is out of range.
    fn in_range<I: selvedge_base::Id, T>(&mut self, id: I, of: &IdVec<I, T>) -> bool {
        let found = of.get(id).is_some();
        if !found {
            let help = "this is a mistake of what has made the module";
            self.breach("id-out-of-range", format!("there is no {id:?}"), help);
        }
        found
    }

    fn procedure(&mut self, id: ProcedureId, procedure: &Procedure) {
        self.site = Site::Procedure(id);
        let before = self.breaches.len();
        self.header(procedure);
        if procedure.blocks.is_empty() || self.breaches.len() > before {
            return;
        }
        // Where ids are out of range, nothing else can be looked at.
        for (block, _) in procedure.blocks.iter_enumerated() {
            self.block(id, block, procedure);
        }
        if self.breaches.len() == before {
            self.caught(id, procedure);
            self.definitions(id, procedure);
        }
    }

    /// Each use has a definition on every path.
    fn definitions(&mut self, id: ProcedureId, procedure: &Procedure) {
        let graph = BlockGraph::new(procedure);
        let parameters = procedure.parameters.len();
        let undefined = live_at_entry(procedure, &graph).into_iter();
        for register in undefined.filter(|register| register.index() >= parameters) {
            if self.breaches.len() == LIMIT {
                break;
            }
            let Some(point) = first_use(procedure, &graph, register) else { continue };
            self.site = Site::Point(id, point);
            let name = &procedure.registers[register];
            let message = format!("`{name}` may be read here before it is assigned");
            self.breach("undefined-register", message, "assign it on every path to this line");
        }
    }
}

/// A use that some path comes to without an assignment.
fn first_use(procedure: &Procedure, graph: &BlockGraph, register: RegisterId) -> Option<Point> {
    let entry = *graph.order.first()?;
    let mut seen = IdVec::filled(false, procedure.blocks.len());
    seen[entry] = true;
    let mut open = std::collections::VecDeque::from([entry]);
    while let Some(id) = open.pop_front() {
        let block = &procedure.blocks[id];
        let (mut assigned, mut fails) = (false, false);
        for (index, statement) in block.statements.iter().enumerate() {
            if registers_read(&statement.operation).contains(&register) {
                return Some(Point::new(id, index));
            }
            fails |= statement.may_fail;
            assigned = statement.results.contains(&register);
            if assigned {
                break;
            }
        }
        if !assigned && registers_read_by_jump(&block.end.jump).contains(&register) {
            return Some(Point::new(id, block.statements.len()));
        }
        fails |= !assigned;
        let next = if assigned { &[][..] } else { &graph.successors[id][..] };
        let handlers = if fails { &graph.handlers[id][..] } else { &[] };
        for &target in next.iter().chain(handlers) {
            if !std::mem::replace(&mut seen[target], true) {
                open.push_back(target);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests;
