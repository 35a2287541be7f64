//! # Idea
//! Reads expressions by the strength of their operators, as [`crate::expression`] prints them. A
//! name is a local of the procedure, or else a global; a dot before it means the global.
//!
//! # Invariants
//! 1. The reader recurses at most [`MOST_NESTED`] deep, and no tree is deeper than [`DEEPEST`], so
//!    that whoever walks over one later may recurse.

use super::super::lexer::Kind;
use super::{LATE_THREADS, Mistake, Parser, Read, unknown};
use crate::data::{Enum, Expr, Literal, Operator, Variable, element_name};
use crate::expression::strength;
use crate::model::EnumId;
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

    /// Operands joined by operators that are at least this strong.
    fn joined(&mut self, least: u8, nesting: usize) -> Read<Tree> {
        let (mut left, mut depth) = self.operand(nesting)?;
        while let Some((operator, negated)) = self.operator() {
            let own = strength(operator);
            if own < least {
                break;
            }
            self.at += 1;
            let right_least = if operator == Operator::Implies { own } else { own + 1 };
            let (right, right_depth) = self.joined(right_least, nesting + 1)?;
            left = left.join(operator, right);
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

    /// The operator that comes next, and whether it is negated.
    fn operator(&self) -> Option<(Operator, bool)> {
        Some(match self.token().kind {
            Kind::Sign('&') => (Operator::And, false),
            Kind::Sign('|') => (Operator::Or, false),
            Kind::Sign('^') => (Operator::Xor, false),
            Kind::Sign('=') => (Operator::Equal, false),
            Kind::Unequal => (Operator::Equal, true),
            Kind::Implies => (Operator::Implies, false),
            Kind::Sign('<') => (Operator::Less, false),
            Kind::LessEqual => (Operator::LessEqual, false),
            Kind::Sign('+') => (Operator::Add, false),
            Kind::Sign('-') => (Operator::Subtract, false),
            Kind::Sign('*') => (Operator::Multiply, false),
            Kind::Sign('/') => (Operator::Divide, false),
            Kind::Sign('%') => (Operator::Remainder, false),
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
            // A sign before a number belongs to it, so that every number can be written.
            Kind::Number(_) => return Ok((Expr::number(self.signed_number()?), 1)),
            Kind::Sign('-') if matches!(self.tokens[self.at + 1].kind, Kind::Number(_)) => {
                return Ok((Expr::number(self.signed_number()?), 1));
            }
            Kind::Sign('-') => {
                self.at += 1;
                let (inner, depth) = self.operand(nesting + 1)?;
                return Ok((Expr::Negate(Box::new(inner)), depth + 1));
            }
            Kind::Sign('$') => return self.built_in(nesting),
            Kind::Sign('*') => Expr::Choice,
            Kind::Word if self.word() == Some("T") => Expr::TRUE,
            Kind::Word if self.word() == Some("F") => Expr::FALSE,
            Kind::Sign('\'') if self.allows_next => {
                self.at += 1;
                return Ok((Expr::Next(self.variable()?), 1));
            }
            Kind::Sign('\'') => {
                return self.unexpected("values after the step stand in a constraint only");
            }
            Kind::Word | Kind::Quoted(_) | Kind::Sign('.') => {
                let behind_dot = usize::from(self.is_sign('.'));
                if self.is_sign_at(behind_dot + 1, '[') {
                    return self.element(nesting);
                }
                return Ok((Expr::Current(self.variable()?), 1));
            }
            _ => return self.unexpected("expected an expression"),
        };
        self.at += 1;
        Ok((plain, 1))
    }

    /// A number with its sign.
    pub(super) fn signed_number(&mut self) -> Read<i32> {
        let start = self.at;
        let negative = self.is_sign('-');
        self.at += usize::from(negative);
        let number = i64::from(self.number()?);
        if let Ok(number) = i32::try_from(if negative { -number } else { number }) {
            return Ok(number);
        }
        self.at = start;
        self.unexpected("values lie between -2147483648 and 2147483647")
    }

    /// An element of an array as the procedure sees it.
    fn element(&mut self, nesting: usize) -> Read<Tree> {
        let hidden = self.is_sign('.');
        self.at += usize::from(hidden);
        let name = self.name("an array")?;
        let local = self.local_arrays.iter().find(|one| !hidden && one.name == name.name);
        let array = match (local, self.global_arrays.numbers.get(&name.name)) {
            (Some(local), _) => {
                let array = local.array;
                let first = self.locals.numbers.get(&element_name(&name.name, 0));
                if let Some(&at) = first {
                    self.noted.mention_in(name.span, &self.locals, at);
                }
                array
            }
            (None, Some(&at)) => {
                self.noted.mention_in(name.span, &self.global_arrays, at);
                self.program.arrays[at].array
            }
            (None, None) => {
                let names = self.global_arrays.declared.iter().map(|(name, _)| name.as_str());
                let names = names.chain(self.local_arrays.iter().map(|one| one.name.as_str()));
                self.complaints.push(unknown(&name, "unknown-variable", "array", names));
                return Err(Mistake);
            }
        };
        self.sign('[')?;
        let (index, depth) = self.joined(0, nesting + 1)?;
        self.sign(']')?;
        Ok((Expr::Element(array, Box::new(index)), depth + 1))
    }

    /// What begins with `$`.
    fn built_in(&mut self, nesting: usize) -> Read<Tree> {
        const NAMES: [&str; 7] = ["me", "copy", "none", "thread", "enum", "choose", "ite"];
        self.at += 1;
        let Some(at) = self.word().and_then(|word| NAMES.iter().position(|one| *one == word))
        else {
            return self
                .unexpected("expected `me`, `copy`, `none`, `thread`, `enum`, `choose` or `ite`");
        };
        let expr = match NAMES[at] {
            "me" => Expr::Me,
            "copy" => Expr::Copy,
            "choose" | "ite" => {
                self.at += 1;
                self.sign('(')?;
                let (first, mut depth) = self.joined(0, nesting + 1)?;
                let mut parts = vec![first];
                for _ in 1..if NAMES[at] == "ite" { 3 } else { 2 } {
                    self.sign(',')?;
                    let (part, own) = self.joined(0, nesting + 1)?;
                    parts.push(part);
                    depth = depth.max(own);
                }
                self.sign(')')?;
                let mut parts = parts.into_iter();
                let mut next = || parts.next().expect("so many parts were read");
                let expr = if NAMES[at] == "ite" {
                    Expr::Ite(Box::new([next(), next(), next()]))
                } else {
                    Expr::Choose(Box::new(next()), Box::new(next()))
                };
                if depth + 1 > DEEPEST {
                    return self.too_deep();
                }
                return Ok((expr, depth + 1));
            }
            _ => {
                self.at -= 1;
                return Ok((Expr::Constant(self.literal()?), 1));
            }
        };
        self.at += 1;
        Ok((expr, 1))
    }

    /// A constant.
    pub(super) fn literal(&mut self) -> Read<Literal> {
        let literal = match (&self.token().kind, self.word()) {
            (_, Some("T")) => Literal::Bool(true),
            (_, Some("F")) => Literal::Bool(false),
            (Kind::Number(_) | Kind::Sign('-'), _) => {
                return Ok(Literal::Int(self.signed_number()?));
            }
            (Kind::Sign('$'), _) => {
                self.at += 1;
                match self.word() {
                    Some("none") => Literal::Thread(None),
                    Some("thread") => {
                        self.at += 1;
                        self.sign('(')?;
                        let name = self.name("a thread")?;
                        self.sign(')')?;
                        // The thread may be declared later.
                        let late = LATE_THREADS + self.late_threads.len();
                        self.late_threads.push(name);
                        return Ok(Literal::Thread(Some(Id::from_index(late))));
                    }
                    Some("enum") => {
                        self.at += 1;
                        self.sign('(')?;
                        let id = self.reference_to_enum()?;
                        self.sign(',')?;
                        let literal = self.enumerator(id)?;
                        self.sign(')')?;
                        return Ok(literal);
                    }
                    _ => return self.unexpected("expected `none`, `thread` or `enum`"),
                }
            }
            _ => return self.unexpected("expected a constant"),
        };
        self.at += 1;
        Ok(literal)
    }

    fn enumerator(&mut self, id: EnumId) -> Read<Literal> {
        let name = self.name("an enumerator")?;
        // Behind a name that is declared twice there may be none of this number.
        let Some(Enum { values, .. }) = self.program.enums.get(id) else { return Err(Mistake) };
        if let Some(at) = values.iter().position(|value| *value == name.name) {
            let spans = self.enumerators.get(id.index());
            if let Some(&declaration) = spans.and_then(|spans| spans.get(at)) {
                self.noted.mention(name.span, declaration);
            }
            return Ok(Literal::Enumerator(id, at as u32));
        }
        let names = values.iter().map(String::as_str);
        self.complaints.push(unknown(&name, "unknown-enumerator", "enumerator", names));
        Err(Mistake)
    }

    /// A variable as the procedure sees it.
    pub(super) fn variable(&mut self) -> Read<Variable> {
        let hidden = self.is_sign('.');
        self.at += usize::from(hidden);
        let name = self.name("a variable")?;
        let local = if hidden { None } else { self.locals.numbers.get(&name.name) };
        match (local, self.globals.numbers.get(&name.name)) {
            (Some(&local), _) => {
                self.noted.mention_in(name.span, &self.locals, local);
                Ok(Variable::Local(Id::from_index(local)))
            }
            (None, Some(&global)) => {
                self.noted.mention_in(name.span, &self.globals, global);
                Ok(Variable::Global(Id::from_index(global)))
            }
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
