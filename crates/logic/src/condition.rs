//! # Idea
//! Conditions on the globals of a program, as EML writes them: comparisons, arithmetic, elements of
//! arrays, enumerators. Everything has a sort, and what does not fit is reported where it stands.

use crate::parser::{Mistake, Parser, Read};
use crate::token::Kind;
use selvedge_base::{Diagnostic, Span};
use selvedge_program::{EnumId, Expr, Literal, Operator, Sort, Variable};
use selvedge_syntax::nearest::nearest;
use selvedge_syntax::tokens::quote;

/// An expression with its sort and where it stands.
struct Sorted {
    expr: Expr,
    sort: Sort,
    span: Span,
}

/// Reads a condition up to the closing brace.
pub(crate) fn parse(parser: &mut Parser<'_, '_>) -> Read<Expr> {
    let condition = parser.expression(0)?;
    parser.sorted(&condition, Sort::Bool)?;
    Ok(condition.expr)
}

/// What an operator takes and yields.
#[derive(Clone, Copy)]
enum Shape {
    /// Truth values to a truth value.
    Truth,
    /// Two of one sort to a truth value.
    Same,
    /// Numbers to a truth value.
    Compares,
    /// Numbers to a number.
    Computes,
}

/// The operator with its strength; the sides are exchanged, or the result negated, for those that have
/// none of their own.
fn operator(kind: Kind) -> Option<(u8, Operator, Shape, bool, bool)> {
    use Shape::{Compares, Computes, Same, Truth};
    Some(match kind {
        Kind::Arrow => (1, Operator::Implies, Truth, false, false),
        Kind::Or => (2, Operator::Or, Truth, false, false),
        Kind::And => (3, Operator::And, Truth, false, false),
        Kind::Equal => (4, Operator::Equal, Same, false, false),
        Kind::NotEqual => (4, Operator::Equal, Same, false, true),
        Kind::Less => (5, Operator::Less, Compares, false, false),
        Kind::LessEqual => (5, Operator::LessEqual, Compares, false, false),
        Kind::Greater => (5, Operator::Less, Compares, true, false),
        Kind::GreaterEqual => (5, Operator::LessEqual, Compares, true, false),
        Kind::Plus => (6, Operator::Add, Computes, false, false),
        Kind::Minus => (6, Operator::Subtract, Computes, false, false),
        Kind::Times => (7, Operator::Multiply, Computes, false, false),
        Kind::Divide => (7, Operator::Divide, Computes, false, false),
        Kind::Remainder => (7, Operator::Remainder, Computes, false, false),
        _ => return None,
    })
}

impl Parser<'_, '_> {
    /// An expression of operators that bind more strongly than this.
    fn expression(&mut self, weakest: u8) -> Read<Sorted> {
        let mut left = self.deeper(Self::operand)?;
        let mut joined = 0;
        while let Some((strength, operator, shape, exchanged, negated)) =
            operator(self.cursor.current.kind)
            && strength > weakest
        {
            joined += 1;
            if joined > 1000 {
                let message = "the condition has more than 1000 operators in a row".to_owned();
                self.cursor.report_here("formula-too-deep", message, "too deep", "");
                return Err(Mistake);
            }
            self.cursor.bump();
            let right = self.deeper(|parser| parser.expression(strength))?;
            let (wanted, sort) = match shape {
                Shape::Truth => (Some(Sort::Bool), Sort::Bool),
                Shape::Same => (None, Sort::Bool),
                Shape::Compares => (Some(Sort::Int), Sort::Bool),
                Shape::Computes => (Some(Sort::Int), Sort::Int),
            };
            if let Some(wanted) = wanted {
                self.sorted(&left, wanted)?;
                self.sorted(&right, wanted)?;
            } else {
                self.sorted(&right, left.sort)?;
            }
            let span = left.span.to(right.span);
            let (first, second) =
                if exchanged { (right.expr, left.expr) } else { (left.expr, right.expr) };
            let expr = Expr::Binary(operator, Box::new(first), Box::new(second));
            let expr = if negated { Expr::Not(Box::new(expr)) } else { expr };
            left = Sorted { expr, sort, span };
        }
        Ok(left)
    }

    fn operand(&mut self) -> Read<Sorted> {
        let token = self.cursor.current;
        let sorted = |expr, sort, span| Ok(Sorted { expr, sort, span });
        match token.kind {
            Kind::Not => {
                self.cursor.bump();
                let inner = self.deeper(Self::operand)?;
                self.sorted(&inner, Sort::Bool)?;
                sorted(Expr::Not(Box::new(inner.expr)), Sort::Bool, token.span.to(inner.span))
            }
            Kind::Minus => {
                self.cursor.bump();
                let inner = self.deeper(Self::operand)?;
                self.sorted(&inner, Sort::Int)?;
                sorted(Expr::Negate(Box::new(inner.expr)), Sort::Int, token.span.to(inner.span))
            }
            Kind::OpenParen => {
                self.cursor.bump();
                let inner = self.deeper(|parser| parser.expression(0))?;
                self.expect(Kind::CloseParen, ")", "behind an expression")?;
                Ok(inner)
            }
            Kind::Number => {
                let Ok(number) = token.text.parse() else {
                    let message = format!("{} is too large a number", token.text);
                    self.cursor.report_here("number-too-large", message, "too large", "");
                    return Err(Mistake);
                };
                self.cursor.bump();
                sorted(Expr::Constant(Literal::Int(number)), Sort::Int, token.span)
            }
            _ => self.variable(),
        }
    }

    /// A global, an element of an array, an enumerator or a truth value.
    fn variable(&mut self) -> Read<Sorted> {
        let span = self.cursor.current.span;
        let name = self.name("a variable")?.to_owned();
        let program = self.names.program;
        if self.cursor.at(Kind::OpenBracket)
            && let Some(array) = program.arrays.iter().find(|array| array.name == name)
        {
            self.cursor.bump();
            let index = self.deeper(|parser| parser.expression(0))?;
            self.sorted(&index, Sort::Int)?;
            self.expect(Kind::CloseBracket, "]", "behind an index")?;
            let sort = match array.array.first {
                Variable::Global(id) => program.globals[id].ty.sort(),
                Variable::Local(_) => Sort::Bool,
            };
            let span = span.to(self.cursor.previous());
            let expr = Expr::Element(array.array, Box::new(index.expr));
            return Ok(Sorted { expr, sort, span });
        }
        let mut globals = program.globals.iter_enumerated();
        if let Some((id, global)) = globals.find(|(_, global)| global.name == name) {
            let expr = Expr::Current(Variable::Global(id));
            return Ok(Sorted { expr, sort: global.ty.sort(), span });
        }
        if let "true" | "false" = name.as_str() {
            return Ok(Sorted { expr: Expr::truth(name == "true"), sort: Sort::Bool, span });
        }
        let enumerators = program.enums.iter_enumerated().find_map(|(id, one)| {
            let at = one.values.iter().position(|value| *value == name)?;
            Some((id, at as u32))
        });
        if let Some((id, at)) = enumerators {
            let id: EnumId = id;
            let expr = Expr::Constant(Literal::Enumerator(id, at));
            return Ok(Sorted { expr, sort: Sort::Enum(id), span });
        }
        let candidates = program.globals.iter().map(|global| global.name.as_str());
        let help = match nearest(&name, candidates) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if program.globals.is_empty() => "the program has no variables with values".into(),
            None => "conditions speak of globals only".to_owned(),
        };
        self.unknown(
            "unknown-variable",
            format!("there is no global {}", quote(&name)),
            span,
            &help,
        )
    }

    /// Reports an expression of another sort.
    fn sorted(&mut self, expr: &Sorted, wanted: Sort) -> Read<()> {
        if expr.sort == wanted {
            return Ok(());
        }
        let word = |sort: Sort| match sort {
            Sort::Bool => "a truth value".to_owned(),
            Sort::Int => "a number".to_owned(),
            Sort::Enum(id) => format!("a value of {}", self.names.program.enums[id].name),
            Sort::Thread => "a thread".to_owned(),
        };
        let message = format!("expected {}, found {}", word(wanted), word(expr.sort));
        let remark = format!("this is {}", word(expr.sort));
        self.cursor.complaints.push(Diagnostic::error("wrong-sort", message, expr.span, remark));
        Err(Mistake)
    }
}
