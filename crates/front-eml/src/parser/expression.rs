//! # Idea
//! Expressions, types and references. Operators are read by precedence climbing; what Java has and
//! EML has not gets a hint.
//!
//! # Invariants
//! 1. No expression is nested more than [`NESTING_LIMIT`] deep, chains of operators included.

use super::{NESTING_LIMIT, Parser};
use crate::ast::{Binary, Expr, ExprKind, Item, Ref, Type, Value};
use crate::token::{Kind, quote};
use selvedge_base::{Diagnostic, Span};
use selvedge_program::Operator;
use selvedge_syntax::tokens::TokenKind;

/// How loose `=>` is, the loosest operator.
const LOOSEST: u8 = 0;
/// How tightly comparisons bind, which do not form chains.
const COMPARISON: u8 = 5;

fn operator(kind: Kind) -> Option<(Binary, u8)> {
    let model = |operator, level| Some((Binary::Model(operator), level));
    match kind {
        Kind::Implies => model(Operator::Implies, LOOSEST),
        Kind::Or => model(Operator::Or, 1),
        Kind::And => model(Operator::And, 2),
        Kind::Xor => model(Operator::Xor, 3),
        Kind::Equal => model(Operator::Equal, 4),
        Kind::NotEqual => Some((Binary::NotEqual, 4)),
        Kind::Less => model(Operator::Less, COMPARISON),
        Kind::LessEqual => model(Operator::LessEqual, COMPARISON),
        Kind::Greater => Some((Binary::Greater, COMPARISON)),
        Kind::GreaterEqual => Some((Binary::GreaterEqual, COMPARISON)),
        Kind::Plus => model(Operator::Add, 6),
        Kind::Minus => model(Operator::Subtract, 6),
        Kind::Star => model(Operator::Multiply, 7),
        Kind::Slash => model(Operator::Divide, 7),
        Kind::Percent => model(Operator::Remainder, 7),
        _ => None,
    }
}

/// The sign that means what one of another language does, between two operands.
fn same_sign(sign: &str) -> Option<&'static str> {
    Some(match sign {
        "&" | "/\\" => "&&",
        "|" | "\\/" => "||",
        "<>" | "#" | "/=" | "!==" => "!=",
        "===" => "==",
        "=<" => "<=",
        word if word.eq_ignore_ascii_case("and") => "&&",
        word if word.eq_ignore_ascii_case("or") => "||",
        word if word.eq_ignore_ascii_case("mod") => "%",
        word if word.eq_ignore_ascii_case("div") => "/",
        _ => return None,
    })
}

/// What to write in place of a sign of another language.
pub(super) fn instead_of(sign: &str) -> &'static str {
    match sign {
        "?" => "there is no `?:`; write `if (..) { .. } else { .. }`",
        "++" => "write `x = x + 1;`, which reads and then writes",
        "--" => "write `x = x - 1;`, which reads and then writes",
        "<<" | ">>" => "there are no shifts; multiply or divide",
        "." | "->" | "::" => "there are no objects; write the name of the variable alone",
        "#" | ":=" => "remove it",
        "in" => "write `a <= x && x <= b`",
        sign if sign.starts_with('"') => "there are no texts; an enumeration has names for values",
        _ => "write `x = x + ..;`, which reads and then writes",
    }
}

impl<'a> Parser<'a, '_> {
    /// `*` or an expression.
    pub(super) fn value(&mut self) -> Option<Value<'a>> {
        if self.cursor.at(Kind::Star) {
            self.cursor.bump();
            return Some(Value::Any);
        }
        self.expr().map(Value::Expr)
    }

    /// An expression; `None` if it could not be read, which is reported.
    pub(super) fn expr(&mut self) -> Option<Expr<'a>> {
        self.binary(LOOSEST)
    }

    fn binary(&mut self, loosest: u8) -> Option<Expr<'a>> {
        self.expression_depth += 1;
        let found = self.operators(loosest);
        self.expression_depth -= 1;
        found
    }

    /// Operands joined by operators that bind at least so tightly.
    fn operators(&mut self, loosest: u8) -> Option<Expr<'a>> {
        let mut left = self.operand()?;
        loop {
            let sign = self.cursor.current;
            let Some((operator, level)) = operator(sign.kind).filter(|&(_, own)| own >= loosest)
            else {
                return self.foreign(left);
            };
            self.cursor.bump();
            let right = self.binary(if level == LOOSEST { level } else { level + 1 })?;
            let span = Span::new(left.span.start, right.span.end);
            let depth = left.depth.max(right.depth) + 1;
            if depth > NESTING_LIMIT {
                self.expression_too_deep();
                return None;
            }
            let kind = ExprKind::Binary(operator, Box::new(left), Box::new(right));
            left = Expr { kind, span, depth };
            let chained = self::operator(self.cursor.current.kind)
                .is_some_and(|(_, next)| level == COMPARISON && next == COMPARISON);
            if chained {
                self.cursor.report_here(
                    "chained-comparison",
                    "comparisons do not form chains".to_owned(),
                    "a second comparison",
                    "write `a < b && b < c`",
                );
                return None;
            }
        }
    }

    /// Whether the expression goes on in a way that Java knows.
    fn foreign(&mut self, left: Expr<'a>) -> Option<Expr<'a>> {
        match self.cursor.current.kind {
            Kind::Foreign | Kind::Name => {
                let token = self.cursor.current;
                let same = same_sign(token.text);
                let is_word = token.kind == Kind::Name;
                if is_word && same.is_none() && token.text != "in" {
                    return Some(left);
                }
                let message = format!("there is no {}", quote(token.text));
                let foreign = Diagnostic::error("foreign-operator", message, token.span, "not EML");
                self.cursor.report(match same {
                    Some(sign) => foreign
                        .with_help(format!("write `{sign}`"))
                        .with_replacement(token.span, sign),
                    None => foreign.with_help(instead_of(token.text)),
                });
                None
            }
            Kind::Assign if self.in_condition => {
                self.cursor.report_here(
                    "assignment-in-expression",
                    "`=` assigns and cannot stand in an expression".to_owned(),
                    "an assignment",
                    "write `==` to compare",
                );
                None
            }
            _ => Some(left),
        }
    }

    fn expression_too_deep(&mut self) {
        let message = format!("expressions are nested more than {NESTING_LIMIT} deep");
        let help = "compute parts of it before";
        self.cursor.report_here("nesting-too-deep", message, "the rest is not read", help);
        self.cursor.stop();
    }

    /// An atom, with signs before it.
    fn operand(&mut self) -> Option<Expr<'a>> {
        if self.expression_depth > NESTING_LIMIT {
            self.expression_too_deep();
            return None;
        }
        let token = self.cursor.current;
        let atom = |kind| Some(Expr { kind, span: token.span, depth: 1 });
        match token.kind {
            Kind::Not | Kind::Minus => {
                self.cursor.bump();
                self.expression_depth += 1;
                let inner = self.operand();
                self.expression_depth -= 1;
                let inner = Box::new(inner?);
                let span = Span::new(token.span.start, inner.span.end);
                let depth = inner.depth + 1;
                let kind = match token.kind {
                    Kind::Not => ExprKind::Not(inner),
                    _ => ExprKind::Negate(inner),
                };
                Some(Expr { kind, span, depth })
            }
            Kind::OpenParen => {
                self.cursor.bump();
                let inner = self.expr()?;
                let closed = self.cursor.expect(
                    Kind::CloseParen,
                    "missing-parenthesis",
                    ")",
                    "after the expression",
                );
                closed.then_some(Expr { depth: inner.depth + 1, ..inner })
            }
            Kind::OddName if is_number(token.text) => self.digits().map(|number| Expr {
                kind: ExprKind::Number(number),
                span: token.span,
                depth: 1,
            }),
            Kind::Name if self.at_negation() => {
                self.report_negation();
                None
            }
            Kind::Name => self.named(),
            Kind::TryAcquire => {
                self.cursor.bump();
                let lock = self.lock_in_parentheses("tryacquire")?;
                let span = Span::new(token.span.start, self.cursor.previous().end);
                Some(Expr { kind: ExprKind::TryAcquire(lock), span, depth: 1 })
            }
            Kind::Choose => self.choose(),
            kind if kind.is_atom() => {
                self.cursor.bump();
                atom(match kind {
                    Kind::True => ExprKind::Truth(true),
                    Kind::False => ExprKind::Truth(false),
                    Kind::None => ExprKind::None,
                    Kind::Me => ExprKind::Me,
                    _ => ExprKind::SelfIndex,
                })
            }
            Kind::OddName => {
                self.name("a variable");
                None
            }
            Kind::Star => {
                self.cursor.report_here(
                    "choice-in-expression",
                    "`*` is a whole right side or a whole condition".to_owned(),
                    "not part of an expression",
                    "write `choose(0..3)` for one of several numbers",
                );
                None
            }
            Kind::Foreign if token.text == "~" => {
                self.report_negation();
                None
            }
            Kind::Foreign => {
                let message = format!("there is no {}", quote(token.text));
                let help = if token.text == "?" {
                    "write `*` for any value"
                } else {
                    instead_of(token.text)
                };
                self.cursor.report_here("foreign-operator", message, "not EML", help);
                None
            }
            _ => {
                let message = format!("expected an expression, found {}", self.cursor.found());
                self.cursor.report_here(
                    "missing-expression",
                    message,
                    "an expression is missing before this",
                    "",
                );
                None
            }
        }
    }

    /// Whether `not` stands before an operand, and is no function that is called.
    fn at_negation(&self) -> bool {
        let next = self.cursor.peek();
        self.cursor.current.text.eq_ignore_ascii_case("not")
            && (next == Kind::Name || next == Kind::OpenParen && self.in_condition)
    }

    fn report_negation(&mut self) {
        let token = self.cursor.current;
        let message = format!("there is no {}", quote(token.text));
        let foreign = Diagnostic::error("foreign-operator", message, token.span, "not EML");
        self.cursor.report(foreign.with_help("write `!`").with_replacement(token.span, "!"));
    }

    /// `x`, `a[i]` or `f(x, 1)`, at the name.
    fn named(&mut self) -> Option<Expr<'a>> {
        let start = self.cursor.current.span.start;
        if self.cursor.peek() == Kind::OpenParen {
            let name = self.name("a function")?;
            let arguments = self.arguments()?;
            let depth = arguments.iter().map(|one| one.depth).max().unwrap_or(0) + 1;
            let span = Span::new(start, self.cursor.previous().end);
            return Some(Expr { kind: ExprKind::Call(name, arguments), span, depth });
        }
        let reference = self.reference("a variable")?;
        let depth = reference.index.as_ref().map_or(0, |index| index.depth) + 1;
        let span = Span::new(start, self.cursor.previous().end);
        Some(Expr { kind: ExprKind::Ref(reference), span, depth })
    }

    /// `choose(a .. b)`, at the word.
    fn choose(&mut self) -> Option<Expr<'a>> {
        let start = self.cursor.bump().span.start;
        let context = "after `choose`";
        if !self.cursor.expect(Kind::OpenParen, "missing-parenthesis", "(", context) {
            return None;
        }
        let low = self.expr()?;
        if !self.cursor.expect(Kind::Dots, "missing-range", "..", "between two numbers") {
            return None;
        }
        let high = self.expr()?;
        let context = "after the range";
        if !self.cursor.expect(Kind::CloseParen, "missing-parenthesis", ")", context) {
            return None;
        }
        let depth = low.depth.max(high.depth) + 1;
        let span = Span::new(start, self.cursor.previous().end);
        Some(Expr { kind: ExprKind::Choose(Box::new(low), Box::new(high)), span, depth })
    }

    /// A number, at its digits.
    fn digits(&mut self) -> Option<i32> {
        let number = self.cursor.current.text.parse().ok();
        if number.is_none() {
            let message = format!("{} is too large", quote(self.cursor.current.text));
            let help = "numbers go up to 2147483647";
            self.cursor.report_here("number-too-large", message, "too large", help);
            return None;
        }
        self.cursor.bump();
        number
    }

    /// `(e, e)`, at the parenthesis.
    pub(super) fn arguments(&mut self) -> Option<Vec<Expr<'a>>> {
        self.cursor.bump();
        let mut arguments = Vec::new();
        if self.cursor.eat(Kind::CloseParen) {
            return Some(arguments);
        }
        if matches!(self.cursor.current.kind, Kind::Semicolon | Kind::CloseBrace | Kind::End) {
            self.cursor.expect(Kind::CloseParen, "missing-parenthesis", ")", "after `(`");
            return None;
        }
        loop {
            arguments.push(self.expr()?);
            if !self.cursor.eat(Kind::Comma) {
                break;
            }
        }
        let closed =
            self.cursor.expect(Kind::CloseParen, "missing-parenthesis", ")", "after the arguments");
        closed.then_some(arguments)
    }

    /// A name, perhaps with an index; `what` says what kind of name is expected.
    pub(super) fn reference(&mut self, what: &str) -> Option<Ref<'a>> {
        let name = self.name(what)?;
        let index = self.in_brackets()?;
        Some(Ref { name, index: index.map(Box::new) })
    }

    /// A name, perhaps with a length.
    pub(super) fn item(&mut self, what: &str) -> Option<Item<'a>> {
        let name = self.name(what)?;
        let length = self.in_brackets()?;
        Some(Item { name, length })
    }

    /// `[e]`, if it is there.
    #[expect(clippy::option_option, reason = "nothing there, and nothing that could be read")]
    fn in_brackets(&mut self) -> Option<Option<Expr<'a>>> {
        if !self.cursor.eat(Kind::OpenBracket) {
            return Some(None);
        }
        let inner = self.expr()?;
        let context = "after the expression";
        let closed = self.cursor.expect(Kind::CloseBracket, "missing-bracket", "]", context);
        if closed && self.cursor.at(Kind::OpenBracket) {
            self.cursor.report_here(
                "array-of-arrays",
                "there are no arrays of arrays".to_owned(),
                "a second index",
                "lay the rows out one behind the other: `a[3 * i + j]`",
            );
            return None;
        }
        closed.then_some(Some(inner))
    }

    /// Reports that `(` is missing behind the token before this one.
    pub(super) fn missing_parenthesis(&mut self, context: &str, help: &str) {
        let message = format!("expected `(` {context}, found {}", self.cursor.found());
        let behind = Span::new(self.cursor.previous().end, self.cursor.previous().end);
        let missing =
            Diagnostic::error("missing-parenthesis", message, behind, "`(` is missing here");
        self.cursor.report(missing.with_help(help));
    }

    /// `(l)` or `(m[i])`, behind the word.
    pub(super) fn lock_in_parentheses(&mut self, word: &str) -> Option<Ref<'a>> {
        if !self.cursor.at(Kind::OpenParen) {
            let name = self.cursor.current.text;
            let help = match self.cursor.current.kind {
                Kind::Name if word == "wait" && name == "until" => CONDITION.to_owned(),
                Kind::Name => format!("write {}", quote(&format!("{word}({name});"))),
                _ => format!("write `{word}(l);`"),
            };
            self.missing_parenthesis(&format!("after `{word}`"), &help);
            return None;
        }
        self.cursor.bump();
        let lock = self.reference("a lock")?;
        let help = match self.cursor.current.kind {
            Kind::Comma if word == "wait" => {
                "write `while (..) wait(l);` to wait for a condition: a thread that is notified reads \
                 the variables again"
            }
            kind if operator(kind).is_some() => CONDITION,
            _ => "",
        };
        if !help.is_empty() {
            let message = format!("expected `)` after the lock, found {}", self.cursor.found());
            let remark = "not a part of the lock";
            self.cursor.report_here("missing-parenthesis", message, remark, help);
            return None;
        }
        let context = "after the lock";
        let closed = self.cursor.expect(Kind::CloseParen, "missing-parenthesis", ")", context);
        closed.then_some(lock)
    }

    /// A type, at its first word.
    pub(super) fn ty(&mut self) -> Option<Type<'a>> {
        let token = self.cursor.current;
        match token.kind {
            Kind::Bool => {
                self.cursor.bump();
                Some(Type::Bool)
            }
            Kind::Thread => {
                self.cursor.bump();
                Some(Type::Thread)
            }
            Kind::Int => {
                self.cursor.bump();
                if self.cursor.at(Kind::Name)
                    && self.cursor.current.text == "mod"
                    && self.cursor.peek() != Kind::Dots
                {
                    self.cursor.bump();
                    return self.expr().map(Type::Mod);
                }
                let name = self.cursor.current;
                let no_range = matches!(name.kind, Kind::Colon | Kind::OpenBracket);
                let low = if no_range { None } else { Some(self.expr()?) };
                if low.is_none() || !self.cursor.at(Kind::Dots) {
                    let message =
                        format!("expected the range of an `int`, found {}", self.cursor.found());
                    let name = if name.kind == Kind::Name { name.text } else { "x" };
                    let help = &quote(&format!("int 0..7 : {name};"));
                    let help =
                        &format!("write {help} or {}", quote(&format!("int mod 8 : {name};")));
                    let remark = "a range is missing before this";
                    self.cursor.report_here("missing-range", message, remark, help);
                    return None;
                }
                self.cursor.bump();
                let high = self.expr()?;
                low.map(|low| Type::Range(low, high))
            }
            Kind::Name => self.name("a type").map(Type::Enum),
            _ => {
                let message = format!("expected a type, found {}", self.cursor.found());
                let help = "types are `bool`, `int 0..7`, `int mod 8`, `thread` and enumerations";
                self.cursor.report_here("missing-type", message, "a type is missing here", help);
                None
            }
        }
    }

    /// Whether a declaration of a variable begins here.
    pub(super) fn at_declaration(&self) -> bool {
        let kind = self.cursor.current.kind;
        kind.starts_type() || (kind == Kind::Name && self.cursor.peek() == Kind::Colon)
    }

    /// The `:` behind a type.
    pub(super) fn colon_of_type(&mut self, ty: &Type<'a>) -> bool {
        if self.cursor.eat(Kind::Colon) {
            return true;
        }
        let message = format!("expected `:` after the type, found {}", self.cursor.found());
        let behind = Span::new(self.cursor.previous().end, self.cursor.previous().end);
        let diagnostic = Diagnostic::error("missing-colon", message, behind, "`:` is missing here");
        self.cursor.report(match self.cursor.current.kind {
            Kind::Name => {
                let written = format!("{} : {};", written(ty), self.cursor.current.text);
                let help = format!("write {}", quote(&written));
                diagnostic.with_help(help).with_replacement(behind, " :")
            }
            _ => diagnostic
                .with_help("a variable is declared with `bool : x;` or `int 0..7 : x = 3;`"),
        });
        false
    }

    /// Whether the current word is a keyword that was a name once and is used like one.
    pub(super) fn report_new_keyword(&mut self, what: &str) -> bool {
        let word = self.cursor.current;
        let new = word.kind.is_new();
        if new {
            let message =
                format!("{} is a keyword and cannot be the name of {what}", quote(word.text));
            let help = format!(
                "choose another name: {} is a reserved word since programs have data",
                quote(word.text)
            );
            self.cursor.report_here("keyword-as-name", message, "keyword", &help);
        }
        new && word.kind.is_keyword()
    }
}

/// A type as it is written, with numbers for those that are computed.
fn written(ty: &Type<'_>) -> String {
    let number = |expr: &Expr<'_>, otherwise: i32| match expr.kind {
        ExprKind::Number(number) => number,
        _ => otherwise,
    };
    match ty {
        Type::Bool => "bool".to_owned(),
        Type::Thread => "thread".to_owned(),
        Type::Range(low, high) => format!("int {}..{}", number(low, 0), number(high, 7)),
        Type::Mod(modulus) => format!("int mod {}", number(modulus, 8)),
        Type::Enum(name) => name.text.to_owned(),
    }
}

/// How a thread waits for a condition.
pub(super) const CONDITION: &str = "write `assume(..);`, which waits until the condition is true";

/// Whether a word is a number.
pub(super) fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}
