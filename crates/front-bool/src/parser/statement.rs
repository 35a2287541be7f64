//! # Idea
//! Lists of statements, which end before a word that closes a block, and single statements.

use super::{NESTING_LIMIT, Parser};
use crate::ast::{Assignment, Branch, Call, Expression, Name, Statement, StatementKind, is_async};
use crate::token::{Kind, Token, quote};
use selvedge_base::{Diagnostic, Span};
use selvedge_syntax::nearest::{nearest, suggest};
use selvedge_syntax::tokens::TokenKind;

/// The words that a misspelt statement may have meant.
const WORDS: [&str; 15] = [
    "skip",
    "goto",
    "if",
    "while",
    "return",
    "assert",
    "assume",
    "abortif",
    "constrain",
    "dead",
    "start_thread",
    "end_thread",
    "atomic_begin",
    "atomic_end",
    "sync",
];

impl<'a> Parser<'a, '_> {
    /// Statements up to a word that closes the block; `depth` counts the statements around them.
    pub(super) fn statements(&mut self, depth: usize) -> Vec<Statement<'a>> {
        let mut statements = Vec::new();
        loop {
            if self.cursor.unwinding
                || self.cursor.at(Kind::End)
                || self.cursor.current.kind.closes_block()
            {
                // Words that close something else are reported by whoever opened something.
                if depth > 0 || self.cursor.unwinding || !self.stray_closer() {
                    return statements;
                }
                continue;
            }
            if self.habit_of_declaration() {
                continue;
            }
            if self.cursor.current.kind.starts_function() {
                // A function cannot stand here, so everything that is open lacks its end.
                return statements;
            }
            if self.cursor.current.kind.declares() {
                self.head();
                continue;
            }
            let before = self.cursor.current.span;
            if let Some(statement) = self.statement(depth) {
                self.end_of_statement(&statement);
                statements.push(statement);
            } else {
                let (span, place) = (self.cursor.current.span, self.cursor.current.place);
                let labels = std::mem::take(&mut self.lost_labels);
                if !labels.is_empty() {
                    statements.push(Statement { labels, kind: StatementKind::Empty, span, place });
                }
                self.skip_statement(before);
            }
        }
    }

    /// Reports `fi`, `else` or `od` where only `end` can stand, and skips it.
    fn stray_closer(&mut self) -> bool {
        if matches!(self.cursor.current.kind, Kind::EndBody | Kind::End) {
            return false;
        }
        let message = format!("{} closes nothing", self.cursor.found());
        let remark = if self.cursor.at(Kind::Od) { "there is no `do`" } else { "there is no `if`" };
        self.cursor.report_here(
            "stray-token",
            message,
            remark,
            "remove it, or write what it closes",
        );
        self.cursor.skip();
        self.cursor.eat(Kind::Semicolon);
        true
    }

    /// Skips the rest of a statement that could not be read.
    fn skip_statement(&mut self, before: Span) {
        let mut moved = self.cursor.current.span != before;
        loop {
            let kind = self.cursor.current.kind;
            if self.cursor.unwinding
                || kind == Kind::End
                || kind.closes_block()
                || kind.starts_function()
            {
                return;
            }
            if kind == Kind::Semicolon {
                self.cursor.bump();
                return;
            }
            let wrong = self.cursor.last_error() == Some(self.cursor.current.span.start);
            let starts = kind.starts_statement() && kind != Kind::Constrain || kind == Kind::Decl;
            if moved && starts && !wrong {
                return;
            }
            self.cursor.skip();
            moved = true;
        }
    }

    /// The `;` behind a statement; it may be missing before a word that closes a block and behind
    /// `fi` and `od`.
    fn end_of_statement(&mut self, statement: &Statement<'a>) {
        let structured = matches!(statement.kind, StatementKind::If(..) | StatementKind::While(..));
        if self.cursor.eat(Kind::Semicolon)
            || structured
            || self.cursor.unwinding
            || matches!(statement.kind, StatementKind::Empty)
            || self.cursor.current.kind.closes_block()
            || self.cursor.current.kind.starts_function()
            || self.cursor.at(Kind::End)
        {
            return;
        }
        let found = self.cursor.current;
        let known = self.cursor.last_error() == Some(found.span.start);
        self.cursor.expect(Kind::Semicolon, "missing-semicolon", ";", "after the statement");
        let next = found.kind;
        if known || !next.starts_statement() && next != Kind::Name && next != Kind::Decl {
            self.skip_statement(found.span);
        }
    }

    /// A statement with its labels, without the `;` behind it; `None` if it could not be read.
    fn statement(&mut self, depth: usize) -> Option<Statement<'a>> {
        if depth > NESTING_LIMIT {
            self.too_deep();
            return None;
        }
        let mut labels = Vec::new();
        while matches!(self.cursor.current.kind, Kind::Name | Kind::OddName)
            && self.cursor.peek() == Kind::Colon
        {
            labels.extend(self.name("a label"));
            self.cursor.bump();
        }
        let first = self.cursor.current;
        let (span, place) = (first.span, first.place);
        let Some(kind) = self.kind(first, depth, !labels.is_empty()) else {
            self.lost_labels.extend(labels);
            return None;
        };
        let is_call = matches!(kind, StatementKind::Call(_));
        if is_call && labels.iter().any(|label: &Name<'_>| is_async(label.text)) {
            self.starts(first, "ASYNC_n");
            let call = Statement { labels: Vec::new(), kind, span, place };
            let kind = StatementKind::Start(Box::new(call));
            return Some(Statement { labels, kind, span, place });
        }
        Some(Statement { labels, kind, span, place })
    }

    /// What stands behind the labels of a statement, if there are any.
    fn kind(
        &mut self,
        first: Token<'a>,
        depth: usize,
        labelled: bool,
    ) -> Option<StatementKind<'a>> {
        if first.kind.is_keyword() && self.cursor.peek() == Kind::Assign {
            self.name("a variable");
            return None;
        }
        Some(match first.kind {
            Kind::Semicolon => StatementKind::Empty,
            kind if labelled && (kind.closes_block() || kind.declares()) => StatementKind::Empty,
            Kind::Skip => self.word(StatementKind::Skip),
            Kind::EndThread => {
                self.file.traits.boppo.get_or_insert(("end_thread", first.place));
                self.word(StatementKind::EndThread)
            }
            Kind::Sync => {
                self.starts(first, "sync");
                self.cursor.bump();
                self.name("a synchronization")?;
                StatementKind::Sync
            }
            Kind::AtomicBegin => self.word(StatementKind::AtomicBegin),
            Kind::AtomicEnd => self.word(StatementKind::AtomicEnd),
            Kind::Goto => {
                self.cursor.bump();
                let targets = self.last_names("a label");
                if targets.len() > 1 {
                    let boppo = ("a goto with several targets", first.place);
                    self.file.traits.boppo.get_or_insert(boppo);
                }
                StatementKind::Goto(targets)
            }
            Kind::If => self.conditional(depth)?,
            Kind::While => {
                self.cursor.bump();
                let condition = self.expression();
                if self.habit_of_block("do") {
                    return Some(StatementKind::Empty);
                }
                self.keyword(Kind::Do, "do", "after the condition");
                let body = self.statements(depth + 1);
                self.close(Kind::Od, "od", first);
                StatementKind::While(condition.unwrap_or(Expression::Choice), body)
            }
            Kind::Return => {
                self.cursor.bump();
                let empty = matches!(self.cursor.current.kind, Kind::Semicolon | Kind::End)
                    || self.cursor.current.kind.closes_block();
                StatementKind::Return(if empty { Vec::new() } else { self.expressions()? })
            }
            Kind::Assert => {
                self.cursor.bump();
                StatementKind::Assert(self.condition("assert")?)
            }
            Kind::Assume => {
                self.cursor.bump();
                StatementKind::Assume(self.condition("assume")?)
            }
            Kind::Constrain => {
                self.cursor.bump();
                self.file.traits.getafix.get_or_insert(("constrain as a statement", first.place));
                StatementKind::Assume(self.condition("constrain")?)
            }
            Kind::Abortif => {
                self.cursor.bump();
                self.file.traits.boppo.get_or_insert(("abortif", first.place));
                // This condition alone may stand without parentheses.
                StatementKind::Assume(self.expression()?.negated())
            }
            Kind::Dead => {
                self.cursor.bump();
                self.file.traits.boppo.get_or_insert(("dead", first.place));
                StatementKind::Dead(self.last_names("a variable"))
            }
            Kind::StartThread => {
                self.cursor.bump();
                self.starts(first, "start_thread");
                if depth == NESTING_LIMIT {
                    self.report_too_deep();
                    return None;
                }
                let statement = self.statement(depth + 1)?;
                if matches!(statement.kind, StatementKind::Empty) {
                    self.no_statement();
                    return None;
                }
                StatementKind::Start(Box::new(statement))
            }
            Kind::Name if self.habit_of_statement() => return None,
            Kind::Name | Kind::OddName => self.assignment_or_call(first)?,
            kind if kind.declares() => {
                self.misplaced_head();
                return None;
            }
            _ => {
                self.no_statement();
                return None;
            }
        })
    }

    fn starts(&mut self, token: Token<'a>, word: &'static str) {
        self.file.traits.starts.get_or_insert((word, token.place));
    }

    /// A statement of one word.
    fn word(&mut self, kind: StatementKind<'a>) -> StatementKind<'a> {
        self.cursor.bump();
        kind
    }

    fn report_too_deep(&mut self) {
        let message = format!("statements are nested more than {NESTING_LIMIT} levels deep");
        self.cursor.report_here(
            "nesting-too-deep",
            message,
            "too deep",
            "move the inner ones to a function",
        );
    }

    fn too_deep(&mut self) {
        self.report_too_deep();
        // What is inside cannot be told from what is outside any more.
        let mut open = 1usize;
        loop {
            match self.cursor.current.kind {
                Kind::If | Kind::While => open += 1,
                Kind::Fi | Kind::Od => open -= 1,
                Kind::End => return,
                kind if kind.starts_function() => return,
                _ => {}
            }
            if open == 0 {
                return;
            }
            self.cursor.skip();
        }
    }

    /// `if e then .. elsif e then .. else .. fi`, at the first word.
    fn conditional(&mut self, depth: usize) -> Option<StatementKind<'a>> {
        let first = self.cursor.current;
        let mut branches = Vec::new();
        let mut otherwise = Vec::new();
        loop {
            let place = self.cursor.bump().place;
            let condition = self.expression().unwrap_or(Expression::Choice);
            if self.habit_of_block("then") {
                return Some(StatementKind::Empty);
            }
            self.keyword(Kind::Then, "then", "after the condition");
            let body = self.statements(depth + 1);
            branches.push(Branch { condition, body, place });
            if self.cursor.unwinding {
                return None;
            }
            if self.cursor.at(Kind::Elsif) {
                continue;
            }
            if self.cursor.eat(Kind::Else) {
                otherwise = self.statements(depth + 1);
            }
            self.close(Kind::Fi, "fi", first);
            return Some(StatementKind::If(branches, otherwise));
        }
    }

    /// A word between a condition and its statements.
    fn keyword(&mut self, kind: Kind, word: &str, context: &str) {
        if !self.cursor.expect(kind, "missing-keyword", word, context) {
            // Where the condition was not understood, the word may still come.
            while !self.cursor.current.kind.ends_expression()
                && !matches!(self.cursor.current.kind, Kind::End | Kind::Semicolon)
            {
                self.cursor.skip();
            }
            self.cursor.eat(kind);
        }
    }

    /// The word that closes a block.
    fn close(&mut self, kind: Kind, word: &str, opened: Token<'a>) {
        if self.cursor.unwinding || self.cursor.eat(kind) {
            return;
        }
        let message = format!("expected `{word}`, found {}", self.cursor.found());
        self.cursor.report(
            Diagnostic::error(
                "unclosed-block",
                message,
                self.cursor.current.span,
                format!("`{word}` is missing before this"),
            )
            .with_label(opened.span, "the block begins here"),
        );
        // `fi` for `od` and the other way round is a slip; anything else closes something outside.
        if matches!(self.cursor.current.kind, Kind::Fi | Kind::Od) {
            self.cursor.bump();
        }
    }

    /// `a, b` where at least one expression must be.
    fn expressions(&mut self) -> Option<Vec<Expression<'a>>> {
        let mut expressions = Vec::new();
        loop {
            expressions.push(self.expression()?);
            if !self.cursor.eat(Kind::Comma) {
                return Some(expressions);
            }
        }
    }

    /// The condition of an `assert` and its like. The parentheses are part of the expression.
    fn condition(&mut self, word: &str) -> Option<Expression<'a>> {
        if !self.cursor.at(Kind::OpenParen) {
            let message = format!("expected `(` after `{word}`, found {}", self.cursor.found());
            let behind = Span::new(self.cursor.previous().end, self.cursor.previous().end);
            let missing =
                Diagnostic::error("missing-parenthesis", message, behind, "`(` is missing here");
            self.cursor.report(missing.with_help(format!("write `{word}(..);`")));
        }
        self.expression()
    }

    /// `x, y := ..`, `f(..)`.
    fn assignment_or_call(&mut self, first: Token<'a>) -> Option<StatementKind<'a>> {
        if matches!(self.cursor.peek(), Kind::Name | Kind::True | Kind::False | Kind::Number) {
            // `retrun x`: a word that was meant to be another one.
            if let Some(meant) = nearest(first.text, WORDS) {
                self.unknown_statement(first, meant);
                return None;
            }
        }
        let targets = self.names("a variable");
        if self.cursor.at(Kind::OpenParen) && targets.len() == 1 {
            let arguments = self.arguments()?;
            return Some(StatementKind::Call(Call {
                targets: Vec::new(),
                function: targets[0],
                arguments,
            }));
        }
        if !self.cursor.at(Kind::Assign) {
            self.no_assignment(first, &targets);
            return None;
        }
        self.cursor.bump();
        if self.cursor.at(Kind::Name) && self.cursor.peek() == Kind::OpenParen {
            let function = self.name("a function")?;
            let arguments = self.arguments()?;
            if !matches!(self.cursor.current.kind, Kind::Semicolon | Kind::End)
                && !self.cursor.current.kind.is_keyword()
            {
                self.call_in_expression(function.span, function.text);
                return None;
            }
            return Some(StatementKind::Call(Call { targets, function, arguments }));
        }
        let values = self.expressions()?;
        let place = self.cursor.current.place;
        let constraint = if self.cursor.eat(Kind::Constrain) {
            self.file.traits.boppo.get_or_insert(("constrain behind an assignment", place));
            Some(self.expression()?)
        } else {
            None
        };
        Some(StatementKind::Assign(Assignment { targets, values, constraint }))
    }

    /// `(a, b)`, at the parenthesis.
    fn arguments(&mut self) -> Option<Vec<Expression<'a>>> {
        self.cursor.bump();
        if self.cursor.eat(Kind::CloseParen) {
            return Some(Vec::new());
        }
        let arguments = self.expressions()?;
        self.cursor.expect(Kind::CloseParen, "missing-parenthesis", ")", "after the arguments");
        Some(arguments)
    }

    /// Names behind which neither `:=` nor `(` stands.
    fn no_assignment(&mut self, first: Token<'a>, targets: &[Name<'a>]) {
        if self.cursor.at(Kind::Equal) {
            let help = "`:=` assigns, `=` compares";
            let message = "expected `:=`, found `=`".to_owned();
            self.cursor.report_here("missing-sign", message, "`:=` is meant", help);
            return;
        }
        let meant = if targets.len() == 1 { nearest(first.text, WORDS) } else { None };
        if let Some(meant) = meant {
            self.unknown_statement(first, meant);
            return;
        }
        self.cursor.expect(Kind::Assign, "missing-sign", ":=", "after the variables");
    }

    fn unknown_statement(&mut self, first: Token<'a>, meant: &str) {
        let message = format!("{} starts no statement", quote(first.text));
        self.cursor.report(suggest(
            Diagnostic::error("unknown-statement", message, first.span, "unknown word"),
            meant,
        ));
    }

    fn misplaced_head(&mut self) {
        let word = self.cursor.current.text;
        let message = format!("`{word}` cannot be started");
        let help = "declarations and `enforce` stand before or between the statements";
        self.cursor.report_here("misplaced-declaration", message, "no statement", help);
    }

    fn no_statement(&mut self) {
        let message = format!("expected a statement, found {}", self.cursor.found());
        let (remark, help) = match self.cursor.current.kind {
            Kind::Brace => {
                ("no statement", "blocks are closed by `end`, `fi` and `od`, without braces")
            }
            Kind::Begin => ("no statement", "functions cannot be nested"),
            _ => ("a statement is missing here", ""),
        };
        self.cursor.report_here("missing-statement", message, remark, help);
    }
}
