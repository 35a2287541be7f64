//! # Idea
//! What GETAFIX's grammar lacks, said with what it has. There a jump has one target, a statement one
//! label, an assignment no condition, and `*` stands alone as a condition: elsewhere it becomes
//! `schoose[F, F]`, which stands alone as a value, or a local that was given this value before.
//!
//! # Source
//! GETAFIX's `bp.y`.
//!
//! # Requires
//! One thread, so that nobody sees what lies between the statements of one step.

use super::Writer;
use crate::dialect::Dialect;
use selvedge_base::Id;
use selvedge_program::{Expr, LocalId, Update, Variable};

/// A value of which nothing is known.
const ANY: &str = "schoose[F, F]";

impl Writer<'_> {
    /// A value as text; statements that it needs before it are put into `before`.
    pub(super) fn value(&mut self, expr: &Expr, before: &mut Vec<String>) -> String {
        match (self.dialect, expr) {
            (Dialect::Boppo, _) => self.expression(expr),
            (Dialect::Getafix, Expr::Choice) => ANY.to_owned(),
            (Dialect::Getafix, _) => self.decided(expr, before),
        }
    }

    /// A condition as text; statements that it needs before it are put into `before`.
    pub(super) fn condition(&mut self, expr: &Expr, before: &mut Vec<String>) -> String {
        match (self.dialect, expr) {
            (Dialect::Boppo, _) | (Dialect::Getafix, Expr::Choice) => self.expression(expr),
            (Dialect::Getafix, _) => self.decided(expr, before),
        }
    }

    /// An expression whose choices were made before.
    fn decided(&mut self, expr: &Expr, before: &mut Vec<String>) -> String {
        let mut drawn = Vec::new();
        let expr = self.draw(expr, &mut drawn);
        if !drawn.is_empty() {
            let values = vec![ANY; drawn.len()].join(", ");
            before.push(format!("{} := {values};", drawn.join(", ")));
        }
        self.expression(&expr)
    }

    /// The expression with locals in place of its choices.
    fn draw(&mut self, expr: &Expr, drawn: &mut Vec<String>) -> Expr {
        match expr {
            Expr::Choice => {
                let local = self.next_choice();
                drawn.push(self.locals[local.index()].clone());
                Expr::Current(Variable::Local(local))
            }
            Expr::Not(inner) => self.draw(inner, drawn).not(),
            Expr::Binary(operator, left, right) => {
                let left = self.draw(left, drawn);
                left.join(*operator, self.draw(right, drawn))
            }
            other => other.clone(),
        }
    }

    /// A local for a choice that no other choice of the statement uses.
    fn next_choice(&mut self) -> LocalId {
        if self.drawn == self.choices.len() {
            let local = self.fresh_local("choice");
            self.choices.push(local);
        }
        self.drawn += 1;
        self.choices[self.drawn - 1]
    }

    pub(super) fn fresh_local(&mut self, wish: &str) -> LocalId {
        let name = self.taken.fresh(wish);
        self.locals.push(name);
        LocalId::from_index(self.locals.len() - 1)
    }

    /// An update in several statements: its guard, its assignments, its constraint with the values
    /// before the step kept.
    pub(super) fn stepwise(&mut self, update: &Update, more: &[(String, &Expr)]) -> Vec<String> {
        let mut texts = Vec::new();
        if let Some(guard) = &update.guard {
            let guard = self.condition(guard, &mut texts);
            texts.push(format!("assume({guard});"));
        }
        let mut targets = Vec::new();
        let mut values = Vec::new();
        for (target, value) in &update.assignments {
            targets.push(self.variable(*target));
            values.push(self.value(value, &mut texts));
        }
        for (target, value) in more {
            targets.push(target.clone());
            values.push(self.value(value, &mut texts));
        }
        let constraint = update.constraint.as_ref().map(|constraint| {
            let mut kept = Vec::new();
            let constraint = self.afterwards(constraint, update, &mut kept);
            for (variable, local) in kept {
                targets.push(self.locals[local.index()].clone());
                values.push(self.variable(variable));
            }
            constraint
        });
        if !targets.is_empty() {
            texts.push(format!("{} := {};", targets.join(", "), values.join(", ")));
        }
        if let Some(constraint) = constraint {
            let constraint = self.condition(&constraint, &mut texts);
            texts.push(format!("assume({constraint});"));
        }
        texts
    }

    /// A constraint in terms of the values after its step. What it says of a value before the step
    /// that was assigned is said of a local that has kept this value.
    fn afterwards(
        &mut self,
        constraint: &Expr,
        update: &Update,
        kept: &mut Vec<(Variable, LocalId)>,
    ) -> Expr {
        match constraint {
            Expr::Next(variable) => Expr::Current(*variable),
            Expr::Current(variable)
                if update.assignments.iter().any(|(target, _)| target == variable) =>
            {
                let known = kept.iter().find(|(other, _)| other == variable);
                let local = if let Some(&(_, local)) = known {
                    local
                } else {
                    let local = self.fresh_local("kept");
                    kept.push((*variable, local));
                    local
                };
                Expr::Current(Variable::Local(local))
            }
            Expr::Not(inner) => self.afterwards(inner, update, kept).not(),
            Expr::Binary(operator, left, right) => {
                let left = self.afterwards(left, update, kept);
                left.join(*operator, self.afterwards(right, update, kept))
            }
            other => other.clone(),
        }
    }
}
