//! # Idea
//! The part of the globals that a question can depend on: those that some guard, constraint, assertion
//! or enforced condition mentions, those that the target names, and whatever flows into them. The
//! other globals are only written, so they are left out of the search, and a run that was found is
//! filled up with the values that they get along it.
//!
//! # Source
//! The cone of influence of model checking. Locals count as if all of them mattered, which keeps more
//! than is needed and never less.
//!
//! # Invariants
//! 1. Threads, procedures, nodes and edges keep their numbers, so bounds, positions and steps mean the
//!    same in both programs.
//! 2. A step is possible in the one iff it is in the other: what it depends on is in both.
//! 3. A program has one slice per target, however many engines are asked about it.

use crate::expr::possible;
use selvedge_base::{Id, IdVec};
use selvedge_program::{
    Action, Expr, GlobalId, PassingId, Program, StatePattern, Target, ThreadId, Valuation, Value,
    Variable, Witness, WitnessStep,
};
use std::cell::RefCell;
use std::rc::Rc;

/// The slices of one program, each made for the first engine that needs it and shared by the others.
#[derive(Default)]
pub struct Slices(RefCell<Vec<(Target, Option<Rc<Slice>>)>>);

impl Slices {
    /// The slice of the program for a target; `None` if every global matters.
    pub fn of(&self, program: &Program, target: &Target) -> Option<Rc<Slice>> {
        let mut known = self.0.borrow_mut();
        if let Some((_, slice)) = known.iter().find(|(known, _)| known == target) {
            return slice.clone();
        }
        let slice = Slice::new(program, target).map(Rc::new);
        known.push((target.clone(), slice.clone()));
        slice
    }
}

/// A program with only the globals that matter.
pub struct Slice {
    /// The program.
    pub program: Program,
    /// The new number of each global, if it is there.
    kept: IdVec<GlobalId, Option<GlobalId>>,
}

impl Slice {
    /// The slice of a program for a target; `None` if every global matters.
    pub fn new(program: &Program, target: &Target) -> Option<Self> {
        let matters = relevant(program, target);
        if matters.iter().all(|&one| one) {
            return None;
        }
        let mut globals = IdVec::new();
        let mut kept = IdVec::new();
        for (id, global) in program.globals.iter_enumerated() {
            kept.push(matters[id].then(|| globals.push(global.clone())));
        }
        let renumber = |expr: &Expr| renumbered(expr, &kept);
        let variable = |one: Variable| renumbered_variable(one, &kept);
        let mut out = Program { globals, ..program.clone() };
        for id in program.updates.ids() {
            let update = &mut out.updates[id];
            update.guard = update.guard.as_ref().map(renumber);
            update.constraint = update.constraint.as_ref().map(renumber);
            let assignments = std::mem::take(&mut update.assignments);
            update.assignments = assignments
                .iter()
                .filter_map(|(target, value)| Some((variable(*target)?, renumber(value))))
                .collect();
        }
        for (id, condition) in program.conditions.iter_enumerated() {
            out.conditions[id] = renumber(condition);
        }
        for (id, values) in program.returns.iter_enumerated() {
            out.returns[id] = values.iter().map(renumber).collect();
        }
        for id in program.passings.ids() {
            let passing = &mut out.passings[id];
            passing.arguments = passing.arguments.iter().map(renumber).collect();
            passing.results = passing.results.iter().map(|one| one.and_then(variable)).collect();
        }
        out.numerals.retain(|numeral| numeral.bits.iter().all(|&bit| matters[bit]));
        for numeral in &mut out.numerals {
            numeral.bits = numeral.bits.iter().filter_map(|&bit| kept[bit]).collect();
        }
        Some(Self { program: out, kept })
    }

    /// The same target of the slice.
    pub fn target(&self, target: &Target) -> Target {
        match target {
            Target::State(pattern) => {
                let globals = pattern.globals.iter();
                let globals = globals.filter_map(|&(id, value)| Some((self.kept[id]?, value)));
                Target::State(StatePattern { globals: globals.collect(), ..pattern.clone() })
            }
            other => other.clone(),
        }
    }

    /// A witness of the slice as one of the program that it was made from.
    pub fn original(&self, witness: &Witness, program: &Program) -> Witness {
        let first = program.globals.iter().map(|global| global.initial.unwrap_or(0));
        let mut globals = Valuation(first.collect());
        self.fill(&mut globals, &witness.globals);
        let begin = globals.clone();
        let main = |thread| witness.locals.get(thread).cloned().unwrap_or_default();
        // What was last seen of the locals of every open activation, and the call that opened it.
        let mut open: IdVec<ThreadId, Vec<(Valuation, Option<PassingId>)>> =
            program.threads.ids().map(|thread| vec![(main(thread), None)]).collect();
        let mut steps = Vec::with_capacity(witness.steps.len());
        for step in &witness.steps {
            let stack = &mut open[step.thread];
            let edge = step.step.edge().map(|edge| &program.edges[edge]);
            let (locals, called) = stack.last().cloned().unwrap_or_default();
            let value = |expr: &Expr| chosen(expr, &globals, &locals);
            let mut written: Vec<(GlobalId, bool)> = Vec::new();
            let mut write = |target: Variable, value: bool| {
                if let Variable::Global(id) = target
                    && self.kept[id].is_none()
                {
                    written.push((id, value));
                }
            };
            let update = edge.and_then(|edge| edge.update).map(|id| &program.updates[id]);
            for (target, expr) in update.iter().flat_map(|update| &update.assignments) {
                write(*target, value(expr));
            }
            let action = edge.map(|edge| edge.action);
            if matches!(action, None | Some(Action::Return(_))) {
                let results = called.map_or(&[][..], |id| &program.passings[id].results);
                let returned = match action {
                    Some(Action::Return(id)) => &program.returns[id][..],
                    _ => &[],
                };
                for (at, target) in results.iter().enumerate() {
                    if let Some(target) = target {
                        write(*target, returned.get(at).is_some_and(value));
                    }
                }
                stack.pop();
            }
            if let Some(Action::Call(_)) = action {
                stack.push((Valuation::default(), edge.and_then(|edge| edge.passing)));
            }
            if let Some((top, _)) = stack.last_mut() {
                top.clone_from(&step.locals);
            }
            for (id, value) in written {
                globals.0[id.index()] = Value::from(value);
            }
            self.fill(&mut globals, &step.globals);
            steps.push(WitnessStep { globals: globals.clone(), ..step.clone() });
        }
        Witness {
            globals: begin,
            steps,
            locals: witness.locals.clone(),
            fails: witness.fails,
            failure: witness.failure,
            ..Witness::default()
        }
    }

    /// Takes over the values of the globals that the slice has.
    fn fill(&self, globals: &mut Valuation, of_slice: &Valuation) {
        for (id, kept) in self.kept.iter_enumerated() {
            if let Some(kept) = kept {
                globals.0[id.index()] = of_slice.get(*kept);
            }
        }
    }
}

/// Which globals can matter.
fn relevant(program: &Program, target: &Target) -> IdVec<GlobalId, bool> {
    let mut matters = IdVec::filled(false, program.globals.len());
    let mut open: Vec<GlobalId> = Vec::new();
    let mut flows: IdVec<GlobalId, Vec<&Expr>> = IdVec::filled(Vec::new(), program.globals.len());
    let mut roots: Vec<&Expr> = program.conditions.iter().collect();
    for update in &program.updates {
        roots.extend(update.guard.iter().chain(&update.constraint));
        for (target, value) in &update.assignments {
            match target {
                Variable::Global(id) => flows[*id].push(value),
                Variable::Local(_) => roots.push(value),
            }
        }
    }
    // What is passed and returned gets into locals, or into the globals that take a result.
    roots.extend(program.passings.iter().flat_map(|passing| &passing.arguments));
    roots.extend(program.returns.iter().flatten());
    let mut note = |expr: &Expr, open: &mut Vec<GlobalId>| {
        expr.variables(&mut |variable, _| {
            if let Variable::Global(id) = variable
                && !std::mem::replace(&mut matters[id], true)
            {
                open.push(id);
            }
        });
    };
    for root in roots {
        note(root, &mut open);
    }
    if let Target::State(pattern) = target {
        for &(id, _) in &pattern.globals {
            note(&Expr::Current(Variable::Global(id)), &mut open);
        }
    }
    while let Some(id) = open.pop() {
        for expr in &flows[id] {
            note(expr, &mut open);
        }
    }
    matters
}

fn renumbered_variable(
    variable: Variable,
    kept: &IdVec<GlobalId, Option<GlobalId>>,
) -> Option<Variable> {
    match variable {
        Variable::Global(id) => kept[id].map(Variable::Global),
        local @ Variable::Local(_) => Some(local),
    }
}

/// The same expression; one that is dropped with its target may name globals that are gone.
fn renumbered(expr: &Expr, kept: &IdVec<GlobalId, Option<GlobalId>>) -> Expr {
    let mut expr = expr.clone();
    expr.change(&mut |part| match part {
        Expr::Current(one) | Expr::Next(one) => match renumbered_variable(*one, kept) {
            Some(new) => *one = new,
            None => *part = Expr::Choice,
        },
        _ => {}
    });
    expr
}

/// A value that an expression can have.
fn chosen(expr: &Expr, globals: &Valuation, locals: &Valuation) -> bool {
    let value = |variable: Variable| match variable {
        Variable::Global(id) => globals.is_true(id),
        Variable::Local(id) => locals.is_true(id),
    };
    // False wherever that is possible.
    !possible(expr, &value).1
}
