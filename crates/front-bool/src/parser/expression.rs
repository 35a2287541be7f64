//! # Idea
//! Operator precedence with two explicit stacks, one of operands and one of operators, so that
//! parentheses cost no recursion. Operands that may be bracketed in any way become one flat chain
//! at once; hence thousands of operands make a tree of small depth.
//!
//! # Source
//! How tight operators bind, and to which side, is said by [`crate::precedence`]. `a => (b => c)` is
//! kept as `(a & b) => c`.
//!
//! # Invariants
//! 1. Every operand has its depth beside it; none is deeper than [`super::EXPRESSION_LIMIT`].
//! 2. Comparisons that follow each other are joined from the left in every dialect: they may be
//!    bracketed in any way, and joined from the left a long chain takes linear time.

use super::{EXPRESSION_LIMIT, PARENTHESIS_LIMIT, Parser};
use crate::ast::Expression;
use crate::dialect::Dialect;
use crate::precedence::{Sign, binding};
use crate::token::{Kind, quote};
use selvedge_base::{Diagnostic, Span};
use selvedge_program::Operator;

/// An entry of the stack of operators.
#[derive(Clone, Copy)]
enum Open {
    Not,
    Binary(Sign),
    /// `(`.
    Parenthesis(Span),
    /// `schoose[`, before and behind its comma.
    Schoose(Span, bool),
}

/// An operand with what is needed to know how deep its tree will be.
struct Operand<'a> {
    expression: Expression<'a>,
    /// The depth of the deepest operand of a chain; of anything else the depth itself.
    base: u32,
}

impl<'a> Operand<'a> {
    fn leaf(expression: Expression<'a>) -> Self {
        Self { expression, base: 1 }
    }

    /// The depth of the tree once chains are balanced.
    fn depth(&self) -> u32 {
        let levels = |operands: usize| operands.next_power_of_two().ilog2();
        match &self.expression {
            Expression::Chain(operands, _) => self.base + levels(operands.len()),
            Expression::Implies(premises, _) => self.base + levels(premises.len()) + 1,
            _ => self.base,
        }
    }

    fn negated(self) -> Self {
        let depth = self.depth();
        let expression = self.expression.negated();
        let base = match &expression {
            // What was negated before is a level less deep; it is not worth knowing more.
            Expression::Chain(..) | Expression::Implies(..) => depth,
            _ => depth + 1,
        };
        Self { expression, base }
    }
}

#[derive(Default)]
struct Stacks<'a> {
    operands: Vec<Operand<'a>>,
    operators: Vec<Open>,
    /// How many parentheses are open.
    open: usize,
    too_deep: bool,
}

impl<'a> Stacks<'a> {
    fn push(&mut self, operand: Operand<'a>) {
        if operand.depth() > EXPRESSION_LIMIT {
            self.too_deep = true;
            self.operands.push(Operand::leaf(Expression::Choice));
        } else {
            self.operands.push(operand);
        }
    }

    /// An operand is complete: negates it if there is a sign before it.
    fn negate(&mut self) {
        while let Some(Open::Not) = self.operators.last() {
            self.operators.pop();
            if let Some(operand) = self.operands.pop() {
                self.push(operand.negated());
            }
        }
    }

    /// Applies the operators above the last parenthesis that come before `next`; all of them if
    /// there is none.
    fn reduce(&mut self, dialect: Dialect, next: Option<Sign>) {
        while let Some(&Open::Binary(own)) = self.operators.last() {
            if next.is_some_and(|next| waits(dialect, own, next)) {
                return;
            }
            self.operators.pop();
            if let (Some(right), Some(left)) = (self.operands.pop(), self.operands.pop()) {
                self.push(join(left, own.operator(), right));
            }
        }
    }
}

/// Whether an operator waits until the one on its right is applied.
fn waits(dialect: Dialect, own: Sign, next: Sign) -> bool {
    let compares = |one| matches!(one, Sign::Equal | Sign::Unequal);
    let (here, there) = (binding(dialect, own), binding(dialect, next));
    // Invariant 2.
    let together = compares(own) && compares(next);
    here.level < there.level || here.level == there.level && here.to_the_right && !together
}

/// Two operands joined, flat where brackets do not matter.
fn join<'a>(left: Operand<'a>, operator: Operator, right: Operand<'a>) -> Operand<'a> {
    if operator == Operator::Implies {
        let depth = left.depth();
        let right_depth = right.depth();
        let (mut premises, conclusion, base) = match right.expression {
            Expression::Implies(premises, conclusion) => (premises, conclusion, right.base),
            other => (Vec::new(), Box::new(other), right_depth),
        };
        premises.push(left.expression);
        let expression = Expression::Implies(premises, conclusion);
        return Operand { expression, base: base.max(depth) };
    }
    let sums = |one| matches!(one, Operator::Equal | Operator::Xor);
    let same_kind = |other| other == operator || sums(other) && sums(operator);
    let open = |operand: Operand<'a>| {
        let depth = operand.depth();
        match operand.expression {
            Expression::Chain(operands, operators) if same_kind(operators[0]) => {
                (operands, operators, operand.base)
            }
            other => (vec![other], Vec::new(), depth),
        }
    };
    let (mut operands, mut operators, left_base) = open(left);
    let (more, more_connectives, right_base) = open(right);
    operators.push(operator);
    operators.extend(more_connectives);
    operands.extend(more);
    let expression = Expression::Chain(operands, operators);
    Operand { expression, base: left_base.max(right_base) }
}

impl<'a> Parser<'a, '_> {
    /// An expression; `None` if there is none, or one that cannot be understood.
    pub(super) fn expression(&mut self) -> Option<Expression<'a>> {
        let start = self.cursor.current.span;
        let mut stacks = Stacks::default();
        loop {
            if !self.operand(&mut stacks)? {
                continue;
            }
            if !self.operators(&mut stacks)? {
                break;
            }
        }
        if stacks.too_deep {
            let span = start.to(self.cursor.previous());
            self.cursor.complaints.push(
                Diagnostic::error(
                    "nesting-too-deep",
                    format!("the expression is nested more than {EXPRESSION_LIMIT} levels deep"),
                    span,
                    "too deep",
                )
                .with_help("split it up with variables"),
            );
        }
        stacks.operands.pop().map(|operand| operand.expression)
    }

    /// Where an operand is expected; true if it is complete.
    fn operand(&mut self, stacks: &mut Stacks<'a>) -> Option<bool> {
        let token = self.cursor.current;
        let leaf = match token.kind {
            Kind::Not => {
                self.cursor.bump();
                // Two negations cancel, so the stack does not grow with them.
                if let Some(Open::Not) = stacks.operators.last() {
                    stacks.operators.pop();
                } else {
                    stacks.operators.push(Open::Not);
                }
                return Some(false);
            }
            Kind::OpenParen | Kind::Schoose => {
                self.cursor.bump();
                let span = token.span;
                if token.kind == Kind::OpenParen {
                    stacks.operators.push(Open::Parenthesis(span));
                } else {
                    let place = token.place;
                    self.file.traits.boppo.get_or_insert(("schoose", place));
                    if !self.cursor.expect(
                        Kind::OpenBracket,
                        "missing-sign",
                        "[",
                        "after `schoose`",
                    ) {
                        return None;
                    }
                    stacks.operators.push(Open::Schoose(span, false));
                }
                stacks.open += 1;
                if stacks.open > PARENTHESIS_LIMIT {
                    let message =
                        format!("parentheses are nested more than {PARENTHESIS_LIMIT} levels deep");
                    let help = "split the expression up with variables";
                    self.cursor.report_here("nesting-too-deep", message, "too deep", help);
                    return None;
                }
                return Some(false);
            }
            Kind::True => Expression::Constant(true),
            Kind::False => Expression::Constant(false),
            Kind::Star => Expression::Choice,
            Kind::Number => match token.text {
                "0" => Expression::Constant(false),
                "1" => Expression::Constant(true),
                text => {
                    let message = format!("{} is no value", quote(text));
                    let help = "the values are `T`, `F`, `1`, `0` and `*` for either";
                    self.cursor.report_here("no-value", message, "not a Boolean", help);
                    Expression::Choice
                }
            },
            Kind::Quote => {
                self.cursor.bump();
                let name = self.name("a variable")?;
                stacks.push(Operand::leaf(Expression::Next(name)));
                return Some(true);
            }
            Kind::Name if self.habit_of_negation() => return None,
            Kind::Name | Kind::OddName => {
                let name = self.name("a variable")?;
                if self.cursor.at(Kind::OpenParen) {
                    self.call_in_expression(name.span, name.text);
                    return None;
                }
                stacks.push(Operand::leaf(Expression::Variable(name)));
                return Some(true);
            }
            _ => {
                let message = format!("expected an expression, found {}", self.cursor.found());
                let remark = "an expression is missing here";
                self.cursor.report_here("missing-expression", message, remark, "");
                return None;
            }
        };
        self.cursor.bump();
        stacks.push(Operand::leaf(leaf));
        Some(true)
    }

    pub(super) fn call_in_expression(&mut self, span: Span, name: &str) {
        let message = format!("{} is called inside of an expression", quote(name));
        self.cursor.report(
            Diagnostic::error("call-in-expression", message, span, "a call")
                .with_help("assign the result to a variable first: `x := f(..);`"),
        );
    }

    /// Behind an operand; true if another operand must follow, false at the end.
    fn operators(&mut self, stacks: &mut Stacks<'a>) -> Option<bool> {
        loop {
            stacks.negate();
            if self.habit_of_operator() {
                return None;
            }
            let operator = match self.cursor.current.kind {
                Kind::Implies => Sign::Implies,
                Kind::Or => Sign::Or,
                Kind::Xor => Sign::Xor,
                Kind::And => Sign::And,
                Kind::Equal => Sign::Equal,
                Kind::Unequal => Sign::Unequal,
                kind => {
                    stacks.reduce(self.dialect, None);
                    match (kind, stacks.operators.last().copied()) {
                        (Kind::CloseParen, Some(Open::Parenthesis(_))) => {
                            self.cursor.bump();
                            stacks.operators.pop();
                            stacks.open -= 1;
                            continue;
                        }
                        (Kind::Comma, Some(Open::Schoose(span, false))) => {
                            self.cursor.bump();
                            stacks.operators.pop();
                            stacks.operators.push(Open::Schoose(span, true));
                            return Some(true);
                        }
                        (Kind::CloseBracket, Some(Open::Schoose(_, true))) => {
                            self.cursor.bump();
                            stacks.operators.pop();
                            stacks.open -= 1;
                            schoose(stacks);
                            continue;
                        }
                        (_, None) => return Some(false),
                        (_, Some(open)) => {
                            self.unclosed(open);
                            return None;
                        }
                    }
                }
            };
            stacks.reduce(self.dialect, Some(operator));
            self.cursor.bump();
            stacks.operators.push(Open::Binary(operator));
            return Some(true);
        }
    }

    fn unclosed(&mut self, open: Open) {
        let (sign, span, what) = match open {
            Open::Schoose(span, false) => (",", span, "in this choice"),
            Open::Schoose(span, true) => ("]", span, "for this choice"),
            Open::Parenthesis(span) => (")", span, "for this parenthesis"),
            Open::Not | Open::Binary(..) => return,
        };
        let code = if sign == ")" { "missing-parenthesis" } else { "missing-sign" };
        let message = format!("expected `{sign}`, found {}", self.cursor.found());
        let behind = Span::new(self.cursor.previous().end, self.cursor.previous().end);
        self.cursor.report(
            Diagnostic::error(code, message, behind, format!("`{sign}` is missing here"))
                .with_label(span, what),
        );
    }
}

/// `schoose[p, n]` is `p | (!n & *)`: true if `p`, else false if `n`, else either.
fn schoose(stacks: &mut Stacks<'_>) {
    use Expression::Constant;
    let (Some(never), Some(always)) = (stacks.operands.pop(), stacks.operands.pop()) else {
        return;
    };
    let either = Operand::leaf(Expression::Choice);
    let possible = match &never.expression {
        Constant(true) => Operand::leaf(Constant(false)),
        Constant(false) => either,
        _ => join(never.negated(), Operator::And, either),
    };
    let value = match (&always.expression, &possible.expression) {
        (Constant(false), _) => possible,
        (Constant(true), _) | (_, Constant(false)) => always,
        _ => join(always, Operator::Or, possible),
    };
    stacks.push(value);
}
