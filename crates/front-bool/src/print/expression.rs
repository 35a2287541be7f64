//! # Idea
//! Expressions as text, with parentheses only where the grammar needs them.

use selvedge_program::{Connective, Expr, Variable};

/// How tight an operator binds; operands must bind at least as tight as their place asks for.
fn level(expr: &Expr) -> u8 {
    match expr {
        Expr::Binary(Connective::Implies, ..) => 0,
        Expr::Binary(Connective::Or, ..) => 1,
        Expr::Binary(Connective::Xor, ..) => 2,
        Expr::Binary(Connective::And, ..) => 3,
        Expr::Binary(Connective::Equal, ..) => 4,
        _ => 5,
    }
}

/// An expression as text; `name` says how a variable is called.
pub fn expression(expr: &Expr, name: &impl Fn(Variable) -> String) -> String {
    let mut text = String::new();
    write(&mut text, expr, 0, name);
    text
}

/// Expressions with commas between them.
pub fn expressions(exprs: &[Expr], name: &impl Fn(Variable) -> String) -> String {
    let texts: Vec<String> = exprs.iter().map(|expr| expression(expr, name)).collect();
    texts.join(", ")
}

fn write(text: &mut String, expr: &Expr, least: u8, name: &impl Fn(Variable) -> String) {
    let own = level(expr);
    if own < least {
        text.push('(');
        write(text, expr, 0, name);
        text.push(')');
        return;
    }
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
            text.push('!');
            write(text, inner, 5, name);
        }
        Expr::Binary(connective, left, right) => {
            // All but implications may be bracketed in any way.
            let (sign, left_least) = match connective {
                Connective::Implies => ("=>", own + 1),
                Connective::Or => ("|", own),
                Connective::Xor => ("^", own),
                Connective::And => ("&", own),
                Connective::Equal => ("=", own),
            };
            write(text, left, left_least, name);
            text.push(' ');
            text.push_str(sign);
            text.push(' ');
            write(text, right, own, name);
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
