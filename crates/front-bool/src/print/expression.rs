//! # Idea
//! Expressions as text, with parentheses wherever one of the dialects needs them: every dialect reads
//! the same expression.

use crate::precedence::{Sign, always_tighter};
use selvedge_program::{Expr, Literal, Operator, Variable};

/// An expression as text; `name` says how a variable is called.
pub fn expression(expr: &Expr, name: &impl Fn(Variable) -> String) -> String {
    let mut text = String::new();
    write(&mut text, expr, Around::Nothing, name);
    text
}

/// What stands around an expression.
#[derive(Clone, Copy)]
enum Around {
    Nothing,
    /// A sign before it.
    Not,
    /// An operator beside it.
    Sign(Sign),
}

impl Around {
    /// Whether an operand with this operator needs parentheses.
    fn asks(self, inner: Sign) -> bool {
        match self {
            Self::Nothing => false,
            Self::Not => true,
            // Brackets between equal operators do not matter, but for implications.
            Self::Sign(outer) if outer == inner => outer == Sign::Implies,
            Self::Sign(outer) => !always_tighter(inner, outer),
        }
    }
}

fn write(text: &mut String, expr: &Expr, around: Around, name: &impl Fn(Variable) -> String) {
    match expr {
        Expr::Constant(Literal::Bool(true)) => text.push('T'),
        Expr::Constant(Literal::Bool(false)) => text.push('F'),
        Expr::Choice => text.push('*'),
        Expr::Current(variable) => text.push_str(&name(*variable)),
        Expr::Next(variable) => {
            text.push('\'');
            text.push_str(&name(*variable));
        }
        Expr::Not(inner) => {
            // GETAFIX has no two signs in a row.
            let asks = matches!(around, Around::Not);
            if asks {
                text.push('(');
            }
            text.push('!');
            write(text, inner, Around::Not, name);
            if asks {
                text.push(')');
            }
        }
        Expr::Binary(operator, left, right) => {
            let own = Sign::of(*operator);
            let asks = around.asks(own);
            if asks {
                text.push('(');
            }
            write(text, left, Around::Sign(own), name);
            text.extend([" ", own.sign(), " "]);
            write(text, right, Around::Sign(own), name);
            if asks {
                text.push(')');
            }
        }
        other => unreachable!("{other:?} in a program of truth values"),
    }
}

/// The expression with the values after a step that changes nothing.
pub fn unchanged(expr: &Expr) -> Expr {
    let mut expr = expr.clone();
    expr.change(&mut |part| {
        if let Expr::Next(variable) = part {
            *part = Expr::Current(*variable);
        }
    });
    expr
}

/// Both conditions, where there are two.
pub fn both(one: Option<Expr>, two: Option<Expr>) -> Option<Expr> {
    match (one, two) {
        (Some(one), Some(two)) => Some(one.join(Operator::And, two)),
        (one, two) => one.or(two),
    }
}
