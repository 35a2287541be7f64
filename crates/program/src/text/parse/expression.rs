//! # Idea
//! Reads expressions by the strength of their connectives, as [`crate::expression`] prints them. A
//! name is a local of the procedure, or else a global; a dot before it means the global.
//!
//! # Invariants
//! 1. The reader recurses at most [`MOST_NESTED`] deep, and no tree is deeper than [`DEEPEST`], so
//!    that whoever walks over one later may recurse.

use super::super::lexer::Kind;
use super::{Mistake, Parser, Read, unknown};
use crate::data::{Connective, Expr, Variable};
use crate::expression::strength;
use selvedge_base::{Diagnostic, Id};

/// How many parentheses, negations and right operands may stand in each other.
const MOST_NESTED: usize = 200;
/// How deep the tree of an expression may be.
const DEEPEST: usize = 1000;

/// A tree with its depth.
type Tree = (Expr, usize);

impl Parser<'_> {
    /// An expression over the values before the step.
    pub(super) fn expression(&mut self) -> Read<Expr> {
        self.allows_next = false;
        Ok(self.joined(0, 0)?.0)
    }

    /// An expression over the values before and after the step.
    pub(super) fn constraint(&mut self) -> Read<Expr> {
        self.allows_next = true;
        Ok(self.joined(0, 0)?.0)
    }

    /// Operands joined by connectives that are at least this strong.
    fn joined(&mut self, least: u8, nesting: usize) -> Read<Tree> {
        let (mut left, mut depth) = self.operand(nesting)?;
        while let Some((connective, negated)) = self.connective() {
            let own = strength(connective);
            if own < least {
                break;
            }
            self.at += 1;
            let right_least = if connective == Connective::Implies { own } else { own + 1 };
            let (right, right_depth) = self.joined(right_least, nesting + 1)?;
            left = left.join(connective, right);
            depth = depth.max(right_depth) + 1;
            if negated {
                left = left.not();
                depth += 1;
            }
            if depth > DEEPEST {
                return self.too_deep();
            }
        }
        Ok((left, depth))
    }

    /// The connective that comes next, and whether it is negated.
    fn connective(&self) -> Option<(Connective, bool)> {
        Some(match self.token().kind {
            Kind::Sign('&') => (Connective::And, false),
            Kind::Sign('|') => (Connective::Or, false),
            Kind::Sign('^') => (Connective::Xor, false),
            Kind::Sign('=') => (Connective::Equal, false),
            Kind::Unequal => (Connective::Equal, true),
            Kind::Implies => (Connective::Implies, false),
            _ => return None,
        })
    }

    fn operand(&mut self, nesting: usize) -> Read<Tree> {
        if nesting > MOST_NESTED {
            return self.too_deep();
        }
        let plain = match self.token().kind {
            Kind::Sign('!') => {
                self.at += 1;
                let (inner, depth) = self.operand(nesting + 1)?;
                return Ok((inner.not(), depth + 1));
            }
            Kind::Sign('(') => {
                self.at += 1;
                let inner = self.joined(0, nesting + 1)?;
                self.sign(')')?;
                return Ok(inner);
            }
            Kind::Sign('*') => Expr::Choice,
            Kind::Word if self.word() == Some("T") => Expr::Constant(true),
            Kind::Word if self.word() == Some("F") => Expr::Constant(false),
            Kind::Sign('\'') if self.allows_next => {
                self.at += 1;
                return Ok((Expr::Next(self.variable()?), 1));
            }
            Kind::Sign('\'') => {
                return self.unexpected("values after the step stand in a constraint only");
            }
            Kind::Word | Kind::Quoted(_) | Kind::Sign('.') => {
                return Ok((Expr::Current(self.variable()?), 1));
            }
            _ => return self.unexpected("expected an expression"),
        };
        self.at += 1;
        Ok((plain, 1))
    }

    /// A variable as the procedure sees it.
    pub(super) fn variable(&mut self) -> Read<Variable> {
        let hidden = self.is_sign('.');
        self.at += usize::from(hidden);
        let name = self.name("a variable")?;
        let local = if hidden { None } else { self.locals.numbers.get(&name.name) };
        match (local, self.globals.numbers.get(&name.name)) {
            (Some(&local), _) => Ok(Variable::Local(Id::from_index(local))),
            (None, Some(&global)) => Ok(Variable::Global(Id::from_index(global))),
            (None, None) => {
                let tables = [&self.locals, &self.globals];
                let seen = &tables[usize::from(hidden)..];
                let names = seen.iter().flat_map(|table| &table.declared);
                let what = if hidden { "global" } else { "variable" };
                let names = names.map(|(name, _)| name.as_str());
                self.complaints.push(unknown(&name, "unknown-variable", what, names));
                Err(Mistake)
            }
        }
    }

    fn too_deep<T>(&mut self) -> Read<T> {
        let span = self.token().span;
        let message = "the expression is nested too deeply";
        self.complaints.push(
            Diagnostic::error("nesting-too-deep", message, span, "the rest is not read")
                .with_help("split it into several steps"),
        );
        Err(Mistake)
    }
}
