//! # Idea
//! The invariants of [`crate::model`] that concern data: names, expressions, passed values, starts.

use super::Validator;
use crate::data::{Expr, Passing, Sort, Type, Variable};
use crate::model::{Action, Edge, Procedure, Start};
use selvedge_base::{Id, Place};
use std::collections::BTreeSet;

/// Where expressions may speak of the values after the step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Times {
    Before,
    BeforeAndAfter,
}

impl Validator<'_> {
    /// Names of globals and locals, what procedures enforce, labels, numerals, starts.
    pub(super) fn data(&mut self) {
        let program = self.program;
        let globals = program.globals.iter();
        self.unique("global", globals.map(|global| (global.name.as_str(), global.place)));
        for procedure in &program.procedures {
            let frame = &procedure.frame;
            let locals = frame.locals.iter();
            self.unique("local", locals.map(|local| (local.name.as_str(), local.place)));
            self.local_types(procedure);
            if frame.parameters > frame.locals.len() {
                let message = format!("{} has more parameters than locals", procedure.name);
                self.breach(procedure.place, message);
            }
            match frame.enforced.map(|id| program.conditions.get(id)) {
                None => {}
                Some(Some(condition)) => {
                    self.expression(procedure, procedure.place, condition, Times::Before);
                    self.has_sort(Some(procedure), procedure.place, condition, Sort::Bool);
                }
                Some(None) => {
                    let message = format!("{} enforces nothing that exists", procedure.name);
                    self.breach(procedure.place, message);
                }
            }
        }
        for label in &program.labels {
            if program.nodes.get(label.node).is_none() {
                let message = format!("label {} stands at no node", label.name);
                self.breach(Place::NONE, message);
            }
        }
        for numeral in &program.numerals {
            if numeral.bits.iter().any(|&bit| program.globals.get(bit).is_none()) {
                let message = format!("a bit of {} does not exist", numeral.name);
                self.breach(Place::NONE, message);
            }
        }
        for (id, thread) in program.threads.iter_enumerated() {
            let Start::ByEdge { after: Some(before) } = thread.start else { continue };
            let waits = program.threads.get(before).map(|before| before.start != Start::AtFirst);
            if before.index() >= id.index() || waits != Some(true) {
                let message = format!("{} comes after no thread that waits", thread.name);
                self.breach(thread.place, message);
            }
        }
    }

    /// What an edge of `procedure` says about data.
    pub(super) fn edge_data(&mut self, procedure: &Procedure, edge: &Edge) {
        let program = self.program;
        let passing = match edge.passing.map(|id| program.passings.get(id)) {
            None => None,
            Some(Some(passing)) => Some(passing),
            Some(None) => {
                self.breach(edge.place, "an edge passes nothing that exists".to_owned());
                return;
            }
        };
        match edge.update.map(|id| program.updates.get(id)) {
            None => {}
            Some(None) => self.breach(edge.place, "an edge has no such update".to_owned()),
            Some(Some(update)) => {
                if let Some(guard) = &update.guard {
                    self.expression(procedure, edge.place, guard, Times::Before);
                    self.has_sort(Some(procedure), edge.place, guard, Sort::Bool);
                }
                for (target, value) in &update.assignments {
                    self.expression(procedure, edge.place, value, Times::Before);
                    if let Ok(sort) = self.variable_sort(Some(procedure), *target) {
                        self.has_sort(Some(procedure), edge.place, value, sort);
                    }
                }
                if let Some(constraint) = &update.constraint {
                    self.expression(procedure, edge.place, constraint, Times::BeforeAndAfter);
                    self.has_sort(Some(procedure), edge.place, constraint, Sort::Bool);
                }
                let targets = update.assignments.iter().map(|&(target, _)| target);
                self.targets(procedure, edge.place, targets);
            }
        }
        match edge.action {
            Action::Assert(id) => {
                let Some(condition) = program.conditions.get(id) else { return };
                self.expression(procedure, edge.place, condition, Times::Before);
                self.has_sort(Some(procedure), edge.place, condition, Sort::Bool);
            }
            Action::Return(id) => {
                let Some(values) = program.returns.get(id) else { return };
                if values.len() != procedure.frame.results.len() || edge.target != procedure.exit {
                    let message = format!("a return does not fit {}", procedure.name);
                    self.breach(edge.place, message);
                }
                for (value, ty) in values.iter().zip(&procedure.frame.results) {
                    self.expression(procedure, edge.place, value, Times::Before);
                    self.has_sort(Some(procedure), edge.place, value, ty.sort());
                }
            }
            Action::Call(callee) => {
                let Some(callee) = program.procedures.get(callee) else { return };
                self.passes(procedure, edge, passing, callee, &callee.frame.results);
                return;
            }
            Action::Start(thread) => {
                let Some(thread) = program.threads.get(thread) else { return };
                if thread.start == Start::AtFirst {
                    let message = format!("start of {}, which does not wait", thread.name);
                    self.breach(edge.place, message);
                }
                let Some(main) = program.procedures.get(thread.main) else { return };
                self.passes(procedure, edge, passing, main, &[]);
                return;
            }
            _ => {}
        }
        if passing.is_some() {
            self.breach(edge.place, "a step that is no call and no start passes values".to_owned());
        }
    }

    fn passes(
        &mut self,
        procedure: &Procedure,
        edge: &Edge,
        passing: Option<&Passing>,
        callee: &Procedure,
        results: &[Type],
    ) {
        let nothing = Passing::default();
        let passing = passing.unwrap_or(&nothing);
        if passing.arguments.len() != callee.frame.parameters
            || passing.results.len() != results.len()
        {
            self.breach(edge.place, format!("the passed values do not fit {}", callee.name));
        }
        for (argument, parameter) in passing.arguments.iter().zip(&callee.frame.locals) {
            self.expression(procedure, edge.place, argument, Times::Before);
            self.has_sort(Some(procedure), edge.place, argument, parameter.ty.sort());
        }
        for (target, ty) in passing.results.iter().zip(results) {
            let sort = target.map(|target| self.variable_sort(Some(procedure), target));
            if let Some(Ok(sort)) = sort
                && sort != ty.sort()
            {
                let message =
                    format!("a result of {} goes to a variable of another sort", callee.name);
                self.breach(edge.place, message);
            }
        }
        self.targets(procedure, edge.place, passing.results.iter().copied().flatten());
    }

    fn targets(
        &mut self,
        procedure: &Procedure,
        place: Place,
        targets: impl Iterator<Item = Variable>,
    ) {
        let mut seen = BTreeSet::new();
        for target in targets {
            if !self.exists(procedure, target) {
                self.breach(place, format!("{target:?} does not exist in {}", procedure.name));
            }
            if !seen.insert(target) {
                self.breach(place, format!("{target:?} is assigned twice in one step"));
            }
        }
    }

    fn expression(&mut self, procedure: &Procedure, place: Place, expr: &Expr, times: Times) {
        let mut wrong = Vec::new();
        expr.variables(&mut |variable, next| {
            if !self.exists(procedure, variable) {
                wrong.push(format!("{variable:?} does not exist in {}", procedure.name));
            }
            if next && times == Times::Before {
                wrong.push(format!("{variable:?} after the step, outside of a constraint"));
            }
        });
        for message in wrong {
            self.breach(place, message);
        }
    }

    fn exists(&self, procedure: &Procedure, variable: Variable) -> bool {
        match variable {
            Variable::Global(id) => self.program.globals.get(id).is_some(),
            Variable::Local(id) => procedure.frame.locals.get(id).is_some(),
        }
    }
}
