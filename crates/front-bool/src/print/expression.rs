//! # Idea
//! Expressions as text, with parentheses wherever one of the dialects needs them: every dialect reads
//! the same expression.

use crate::precedence::{Operator, always_tighter};
use selvedge_program::{Connective, Expr, Variable};

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
    Operator(Operator),
}

impl Around {
    /// Whether an operand with this operator needs parentheses.
    fn asks(self, inner: Operator) -> bool {
        match self {
            Self::Nothing => false,
            Self::Not => true,
            // Brackets between equal operators do not matter, but for implications.
            Self::Operator(outer) if outer == inner => outer == Operator::Implies,
            Self::Operator(outer) => !always_tighter(inner, outer),
        }
    }
}

fn write(text: &mut String, expr: &Expr, around: Around, name: &impl Fn(Variable) -> String) {
    match expr {
        Expr::Constant(true) => text.push('T'),
        Expr::Constant(false) => text.push('F'),
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
        Expr::Binary(connective, left, right) => {
            let own = Operator::of(*connective);
            let asks = around.asks(own);
            if asks {
                text.push('(');
            }
            write(text, left, Around::Operator(own), name);
            text.extend([" ", own.sign(), " "]);
            write(text, right, Around::Operator(own), name);
            if asks {
                text.push(')');
            }
        }
    }
}

/// The expression with the values after a step that changes nothing.
pub fn unchanged(expr: &Expr) -> Expr {
    match expr {
        Expr::Next(variable) => Expr::Current(*variable),
        Expr::Not(inner) => unchanged(inner).not(),
        Expr::Binary(connective, left, right) => {
            unchanged(left).join(*connective, unchanged(right))
        }
        other => other.clone(),
    }
}

/// Both conditions, where there are two.
pub fn both(one: Option<Expr>, two: Option<Expr>) -> Option<Expr> {
    match (one, two) {
        (Some(one), Some(two)) => Some(one.join(Connective::And, two)),
        (one, two) => one.or(two),
    }
}
