//! # Idea
//! What the names of a program mean: globals and functions for the whole text, parameters and
//! locals for one function. A local hides a global of the same name.

use crate::ast::{Expression, File, Function, Name};
use crate::parser::foreign_function;
use crate::token::quote;
use rustc_hash::FxHashMap;
use selvedge_base::{Diagnostic, Id, Span};
use selvedge_program::{Expr, GlobalId, LocalId, Operator, Variable};
use selvedge_syntax::complaints::Complaints;
use selvedge_syntax::nearest::{nearest, suggest};

/// The names of the whole text.
pub struct Names<'a> {
    pub functions: FxHashMap<&'a str, usize>,
    globals: FxHashMap<&'a str, GlobalId>,
    /// What was declared, in order, for suggestions.
    declared_globals: Vec<&'a str>,
    declared_functions: Vec<Name<'a>>,
    lost_functions: bool,
}

impl<'a> Names<'a> {
    /// Collects the names of a text and reports those that are declared twice.
    pub fn new(file: &File<'a>, complaints: &mut Complaints) -> Self {
        let mut names = Self {
            functions: FxHashMap::default(),
            globals: FxHashMap::default(),
            declared_globals: file.globals.iter().map(|name| name.text).collect(),
            declared_functions: file.functions.iter().map(|one| one.name).collect(),
            lost_functions: file.lost_functions,
        };
        let mut first: FxHashMap<&str, Name<'a>> = FxHashMap::default();
        for (at, &name) in file.globals.iter().enumerate() {
            declare(&mut first, name, "variable", complaints);
            names.globals.entry(name.text).or_insert(GlobalId::from_index(at));
        }
        let mut first: FxHashMap<&str, Name<'a>> = FxHashMap::default();
        for (at, function) in file.functions.iter().enumerate() {
            declare(&mut first, function.name, "function", complaints);
            names.functions.entry(function.name.text).or_insert(at);
        }
        names
    }

    /// The function of this name; reports it if there is none.
    pub fn function(&self, name: Name<'a>, complaints: &mut Complaints) -> Option<usize> {
        let found = self.functions.get(name.text).copied();
        if found.is_none() && !self.lost_functions {
            // What looks like a call may be a misspelt statement.
            let statements = ["assert", "assume", "abortif", "constrain"];
            let known = self.declared_functions.iter().map(|name| name.text).chain(statements);
            unknown("unknown-function", "function", name, known, complaints);
        }
        found
    }

    /// The function whose name this one was probably meant to be.
    pub fn near_function(&self, name: &str) -> Option<Name<'a>> {
        let near = nearest(name, self.declared_functions.iter().map(|name| name.text))?;
        self.declared_functions.iter().find(|name| name.text == near).copied()
    }
}

fn declare<'a>(
    first: &mut FxHashMap<&'a str, Name<'a>>,
    name: Name<'a>,
    what: &str,
    complaints: &mut Complaints,
) {
    let code = if what == "function" { "duplicate-function" } else { "duplicate-variable" };
    if name.text == "_" {
        complaints.push(
            Diagnostic::error(code, format!("`_` cannot be a {what}"), name.span, "not a name")
                .with_help("`_` stands for a result that is dropped"),
        );
    } else if let Some(before) = first.get(name.text) {
        let message = format!("the {what} {} is declared twice", quote(name.text));
        complaints.push(
            Diagnostic::error(code, message, name.span, "declared again")
                .with_label(before.span, "first declared here"),
        );
    } else {
        first.insert(name.text, name);
    }
}

fn unknown<'a>(
    code: &'static str,
    what: &str,
    name: Name<'a>,
    known: impl Iterator<Item = &'a str>,
    complaints: &mut Complaints,
) {
    if name.is_odd() {
        return;
    }
    let message = format!("there is no {what} {}", quote(name.text));
    let diagnostic = Diagnostic::error(code, message, name.span, format!("unknown {what}"));
    // Suggestions are for people; with so many names nobody reads on.
    let meant = if complaints.is_full() { None } else { nearest(name.text, known) };
    let foreign = if what == "function" { foreign_function(name.text) } else { None };
    complaints.push(match (foreign, meant) {
        (Some(help), _) => diagnostic.with_help(help),
        (None, Some(meant)) => suggest(diagnostic, meant),
        (None, None) => diagnostic,
    });
}

fn used_early(name: Name<'_>, declared: Span) -> Diagnostic {
    let message = format!("{} is used before its declaration", quote(name.text));
    Diagnostic::error("used-before-declaration", message, name.span, "too early")
        .with_label(declared, "declared here")
        .with_help("move the declaration to the beginning of the function")
}

/// The names that one function sees.
pub struct Scope<'n, 'a> {
    names: &'n Names<'a>,
    /// The parameters and locals, and where each is declared.
    locals: FxHashMap<&'a str, (LocalId, Span)>,
    declared_locals: Vec<&'a str>,
    /// Whether a local may be used only behind its declaration.
    pub in_order: bool,
}

impl<'n, 'a> Scope<'n, 'a> {
    /// The names that a function sees; reports locals that are declared twice.
    pub fn new(names: &'n Names<'a>, function: &Function<'a>, complaints: &mut Complaints) -> Self {
        let mut locals = FxHashMap::default();
        let mut declared_locals = Vec::new();
        let mut first: FxHashMap<&str, Name<'a>> = FxHashMap::default();
        for (at, &name) in function.parameters.iter().chain(&function.locals).enumerate() {
            declare(&mut first, name, "variable", complaints);
            locals.entry(name.text).or_insert((LocalId::from_index(at), name.span));
            declared_locals.push(name.text);
        }
        Self { names, locals, declared_locals, in_order: true }
    }

    /// The variable of this name; reports it if there is none.
    pub fn variable(&self, name: Name<'a>, complaints: &mut Complaints) -> Option<Variable> {
        let local = self.locals.get(name.text).map(|&(id, declared)| {
            if self.in_order && name.span.start < declared.start {
                complaints.push(used_early(name, declared));
            }
            Variable::Local(id)
        });
        let global = || self.names.globals.get(name.text).map(|&id| Variable::Global(id));
        let found = local.or_else(global);
        if found.is_none() {
            let known = self.declared_locals.iter().chain(&self.names.declared_globals).copied();
            unknown("unknown-variable", "variable", name, known, complaints);
        }
        found
    }

    /// The expression with its names replaced by what they mean; `next` says whether `'x` may stand
    /// in it.
    pub fn expression(
        &self,
        expression: &Expression<'a>,
        next: bool,
        complaints: &mut Complaints,
    ) -> Expr {
        match expression {
            Expression::Constant(value) => Expr::truth(*value),
            Expression::Choice => Expr::Choice,
            Expression::Variable(name) => {
                self.variable(*name, complaints).map_or(Expr::Choice, Expr::Current)
            }
            Expression::Next(name) => {
                if !next {
                    let message =
                        format!("the next value of {} is not known here", quote(name.text));
                    complaints.push(
                        Diagnostic::error(
                            "next-outside-constraint",
                            message,
                            name.span,
                            "outside of a constraint",
                        )
                        .with_help("`'x` stands behind `constrain` of an assignment only"),
                    );
                }
                self.variable(*name, complaints).map_or(Expr::Choice, Expr::Next)
            }
            Expression::Not(inner) => self.expression(inner, next, complaints).not(),
            Expression::Chain(operands, operators) => {
                self.balanced(operands, operators, next, complaints)
            }
            Expression::Implies(premises, conclusion) => {
                let all = vec![Operator::And; premises.len().saturating_sub(1)];
                // The last premise is stored first.
                let mut operands: Vec<&Expression<'a>> = premises.iter().collect();
                operands.reverse();
                let premise = self.balanced(&operands, &all, next, complaints);
                let conclusion = self.expression(conclusion, next, complaints);
                premise.join(Operator::Implies, conclusion)
            }
        }
    }

    /// A chain as a tree of small depth.
    fn balanced<E: std::borrow::Borrow<Expression<'a>>>(
        &self,
        operands: &[E],
        operators: &[Operator],
        next: bool,
        complaints: &mut Complaints,
    ) -> Expr {
        if let [operand] = operands {
            return self.expression(operand.borrow(), next, complaints);
        }
        let middle = operands.len() / 2;
        let left = self.balanced(&operands[..middle], &operators[..middle - 1], next, complaints);
        let right = self.balanced(&operands[middle..], &operators[middle..], next, complaints);
        left.join(operators[middle - 1], right)
    }
}
