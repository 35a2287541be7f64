//! # Idea
//! Shorthands for expressions that transformations write.

use selvedge_program::{Expr, Feature, Features, GlobalId, Literal, Operator, Variable};

/// The value of a global before the step.
pub fn current(global: GlobalId) -> Expr {
    Expr::Current(Variable::Global(global))
}

/// The conjunction; nothing if there is nothing to join.
pub fn all(parts: impl IntoIterator<Item = Expr>) -> Option<Expr> {
    join_all(Operator::And, parts.into_iter().collect())
}

/// Joins expressions as a balanced tree, so that many of them do not nest deeply.
pub fn join_all(operator: Operator, mut parts: Vec<Expr>) -> Option<Expr> {
    while parts.len() > 1 {
        let mut joined = Vec::with_capacity(parts.len().div_ceil(2));
        let mut rest = parts.into_iter();
        while let Some(left) = rest.next() {
            joined.push(match rest.next() {
                Some(right) => left.join(operator, right),
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

/// Whether a program with these features has more than truth values, reentrant locks, starts, joins and atomic sections:
/// what becomes bits before a search ([`selvedge_lower::bits`]).
pub fn beyond_truth_values(features: Features) -> bool {
    let beyond = [Feature::Types, Feature::Monitors, Feature::Mutexes, Feature::Checks];
    beyond.into_iter().any(|one| features.contains(one))
}

/// Programs with other data than truth values were translated before.
pub fn not_boolean(expr: &Expr) -> ! {
    unreachable!("{expr:?} in a program of truth values")
}

/// Whether an expression over current values can be true, and whether it can be false.
pub fn possible(expr: &Expr, value: &impl Fn(Variable) -> bool) -> (bool, bool) {
    match expr {
        Expr::Constant(Literal::Bool(constant)) => (*constant, !constant),
        Expr::Choice => (true, true),
        Expr::Current(variable) | Expr::Next(variable) => (value(*variable), !value(*variable)),
        Expr::Not(inner) => {
            let (true_, false_) = possible(inner, value);
            (false_, true_)
        }
        Expr::Binary(operator, left, right) => {
            let (left, right) = (possible(left, value), possible(right, value));
            let equal =
                (left.0 && right.0 || left.1 && right.1, left.0 && right.1 || left.1 && right.0);
            match operator {
                Operator::And => (left.0 && right.0, left.1 || right.1),
                Operator::Or => (left.0 || right.0, left.1 && right.1),
                Operator::Implies => (left.1 || right.0, left.0 && right.1),
                Operator::Equal => equal,
                Operator::Xor => (equal.1, equal.0),
                _ => not_boolean(expr),
            }
        }
        _ => not_boolean(expr),
    }
}
