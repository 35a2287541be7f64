//! # Idea
//! Shorthands for expressions that transformations write.

use selvedge_program::{Connective, Expr, GlobalId, Variable};

/// The value of a global before the step.
pub fn current(global: GlobalId) -> Expr {
    Expr::Current(Variable::Global(global))
}

/// The conjunction; nothing if there is nothing to join.
pub fn all(parts: impl IntoIterator<Item = Expr>) -> Option<Expr> {
    join_all(Connective::And, parts.into_iter().collect())
}

/// Joins expressions as a balanced tree, so that many of them do not nest deeply.
pub fn join_all(connective: Connective, mut parts: Vec<Expr>) -> Option<Expr> {
    while parts.len() > 1 {
        let mut joined = Vec::with_capacity(parts.len().div_ceil(2));
        let mut rest = parts.into_iter();
        while let Some(left) = rest.next() {
            joined.push(match rest.next() {
                Some(right) => left.join(connective, right),
                None => left,
            });
        }
        parts = joined;
    }
    parts.pop()
}

/// The negation, without a double one at the top.
pub fn negation(expr: &Expr) -> Expr {
    match expr {
        Expr::Not(inner) => (**inner).clone(),
        other => other.clone().not(),
    }
}

/// Whether an expression depends on a global.
pub fn mentions_globals(expr: &Expr) -> bool {
    let mut found = false;
    expr.variables(&mut |variable, _| found |= matches!(variable, Variable::Global(_)));
    found
}

/// Whether an expression over current values can be true, and whether it can be false.
pub fn possible(expr: &Expr, value: &impl Fn(Variable) -> bool) -> (bool, bool) {
    match expr {
        Expr::Constant(constant) => (*constant, !constant),
        Expr::Choice => (true, true),
        Expr::Current(variable) | Expr::Next(variable) => (value(*variable), !value(*variable)),
        Expr::Not(inner) => {
            let (true_, false_) = possible(inner, value);
            (false_, true_)
        }
        Expr::Binary(connective, left, right) => {
            let (left, right) = (possible(left, value), possible(right, value));
            let equal =
                (left.0 && right.0 || left.1 && right.1, left.0 && right.1 || left.1 && right.0);
            match connective {
                Connective::And => (left.0 && right.0, left.1 || right.1),
                Connective::Or => (left.0 || right.0, left.1 && right.1),
                Connective::Implies => (left.1 || right.0, left.0 && right.1),
                Connective::Equal => equal,
                Connective::Xor => (equal.1, equal.0),
            }
        }
    }
}
