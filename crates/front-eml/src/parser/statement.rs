//! # Idea
//! Blocks and statements. A block notices when the text inside it cannot be its own any more (a
//! function or a process begins) and then ends together with all blocks around it.

use super::expression::{CONDITION, instead_of};
use super::{NESTING_LIMIT, Parser};
use crate::ast::{
    Block, Branch, ChannelOperation, File, LockOperation, Name, Statement, StatementKind, Value,
};
use crate::token::{Kind, Token, quote};
use selvedge_base::{Diagnostic, Span};
use selvedge_syntax::nearest::{nearest, suggest};
use selvedge_syntax::tokens::TokenKind;

impl<'a> Parser<'a, '_> {
    /// `{ .. }`, at the brace; `depth` counts the statements around it.
    pub(super) fn block(&mut self, depth: usize, file: &mut File<'a>) -> Block<'a> {
        let open = self.cursor.bump();
        self.statements(open, depth, file)
    }

    /// The statements of a block and its closing brace, behind the opening one.
    pub(super) fn statements(
        &mut self,
        open: Token<'a>,
        depth: usize,
        file: &mut File<'a>,
    ) -> Block<'a> {
        let mut block = Block { open: open.place, statements: Vec::new(), close: open.place };
        loop {
            block.close = self.cursor.current.place;
            if self.cursor.unwinding {
                return block;
            }
            match self.cursor.current.kind {
                Kind::CloseBrace => {
                    self.cursor.bump();
                    return block;
                }
                Kind::End | Kind::Process => {
                    self.unclosed(open.span);
                    return block;
                }
                kind if kind.declares_shared() => {
                    if !self.habit_of_statement() {
                        self.misplaced_declaration(file);
                    }
                }
                _ => {
                    let before = self.cursor.current.span.start;
                    block.statements.extend(self.statement(depth, file));
                    if self.cursor.current.span.start == before && !self.cursor.unwinding {
                        self.cursor.bump();
                    }
                }
            }
        }
    }

    /// A block that must be there.
    fn expect_block(
        &mut self,
        depth: usize,
        file: &mut File<'a>,
        context: &str,
    ) -> Option<Block<'a>> {
        if self.cursor.at(Kind::OpenBrace) {
            return Some(self.block(depth, file));
        }
        self.cursor.expect(Kind::OpenBrace, "missing-brace", "{", context);
        None
    }

    /// A statement inside `depth` others; `None` if it could not be read.
    fn statement(&mut self, depth: usize, file: &mut File<'a>) -> Option<Statement<'a>> {
        if depth > NESTING_LIMIT {
            self.too_deep();
            return None;
        }
        if self.cursor.at(Kind::Name) {
            if self.habit_of_statement() {
                return None;
            }
            self.correct_spelling();
        }
        let first = self.cursor.current;
        let (kind, completes) = match first.kind {
            Kind::Read | Kind::Write => {
                self.cursor.bump();
                if self.cursor.at(Kind::OpenParen) {
                    let named = self.cursor.ahead().next();
                    let name = if named.kind == Kind::Name { named.text } else { "x" };
                    let message = format!("{} is followed by a location", quote(first.text));
                    let help = format!("write {}", quote(&format!("{} {name};", first.text)));
                    self.cursor.report_here("missing-name", message, "no parentheses here", &help);
                }
                let Some(location) = self.reference("a location") else {
                    self.skip_statement();
                    return None;
                };
                self.end_of_statement();
                let kind = match first.kind {
                    Kind::Read => StatementKind::Read(location),
                    _ => StatementKind::Write(location),
                };
                (kind, true)
            }
            Kind::Skip => {
                self.cursor.bump();
                self.end_of_statement();
                (StatementKind::Skip, true)
            }
            Kind::Return => {
                self.cursor.bump();
                let value = if self.at_expression() {
                    let Some(value) = self.expr() else {
                        self.skip_statement();
                        return None;
                    };
                    Some(value)
                } else {
                    None
                };
                self.end_of_statement();
                (StatementKind::Return(value), false)
            }
            Kind::Unit | Kind::Atomic => {
                self.cursor.bump();
                let context =
                    if first.kind == Kind::Unit { "after `unit`" } else { "after `atomic`" };
                let block = self.expect_block(depth + 1, file, context)?;
                let completes = block.completes();
                match first.kind {
                    Kind::Unit => (StatementKind::Unit(block), completes),
                    _ => (StatementKind::Atomic(block), completes),
                }
            }
            Kind::Assert | Kind::Assume => {
                self.cursor.bump();
                let Some(condition) = self.in_parentheses(&quote(first.text)) else {
                    self.skip_statement();
                    return None;
                };
                self.end_of_statement();
                match first.kind {
                    Kind::Assert => (StatementKind::Assert(condition), true),
                    _ => (StatementKind::Assume(condition), true),
                }
            }
            Kind::Acquire | Kind::Release | Kind::Wait | Kind::Notify | Kind::NotifyAll => {
                (self.lock_operation()?, true)
            }
            Kind::Send | Kind::Post | Kind::Broadcast | Kind::Recv => {
                (self.channel_operation()?, true)
            }
            Kind::TryAcquire => {
                self.cursor.report_here(
                    "call-in-expression",
                    "the result of `tryacquire` goes nowhere".to_owned(),
                    "stands alone",
                    "write `t = tryacquire(l);`: whether the lock is held then depends on it",
                );
                self.cursor.skip();
                self.skip_statement();
                return None;
            }
            kind if kind.starts_type() => (self.local()?, true),
            Kind::Synchronized => return self.synchronized(depth, file),
            Kind::If if self.cursor.ahead().next().text == "::" => {
                self.guarded_choice();
                return None;
            }
            Kind::If => return self.conditional(depth, file),
            Kind::While => {
                self.cursor.bump();
                let condition = self.condition("while");
                let body = self.body(depth + 1, file, "`while (*)`")?;
                (StatementKind::While(condition, Box::new(body)), true)
            }
            Kind::Start | Kind::Join => (self.thread()?, true),
            Kind::Label => {
                self.cursor.bump();
                if self.cursor.current.kind.is_keyword() && self.cursor.peek() == Kind::Colon {
                    self.cursor.report_keyword_as_name("a label");
                    self.cursor.bump();
                    self.cursor.bump();
                    return None;
                }
                let Some(name) = self.name("a label") else {
                    self.skip_statement();
                    return None;
                };
                self.cursor.expect(
                    Kind::Colon,
                    "missing-colon",
                    ":",
                    "after the name of the label",
                );
                let inner = self.body(depth + 1, file, "the label")?;
                let completes = inner.completes;
                (StatementKind::Label(name, Box::new(inner)), completes)
            }
            Kind::OpenBrace => return Some(self.braces(depth + 1, file)),
            Kind::Name if self.is_foreign_statement() => {
                self.foreign_statement();
                return None;
            }
            Kind::Name => match self.cursor.peek() {
                Kind::Colon => (self.local()?, true),
                Kind::Assign | Kind::OpenBracket => (self.assignment()?, true),
                _ => (self.call()?, true),
            },
            _ => {
                self.no_statement();
                return None;
            }
        };
        Some(self.read_statement(kind, first, completes))
    }

    /// A statement that was read from its first token up to here.
    fn read_statement(
        &self,
        kind: StatementKind<'a>,
        first: Token<'a>,
        completes: bool,
    ) -> Statement<'a> {
        let end = self.cursor.previous().end;
        Statement { kind, span: first.span, end, place: first.place, completes }
    }

    /// Whether the current name begins a statement of Java that cannot be a call.
    fn is_foreign_statement(&self) -> bool {
        let mut ahead = self.cursor.ahead();
        let next = ahead.next().kind;
        match self.cursor.current.text {
            "do" => next == Kind::OpenBrace,
            "break" | "continue" => matches!(next, Kind::Semicolon | Kind::CloseBrace),
            "for" => {
                let first = ahead.next().kind;
                // `i = 0`, `Item i`, `auto i` and `i : 0..3`; a call has no such arguments.
                let second = ahead.next().kind;
                let head = first == Kind::Name
                    && matches!(second, Kind::Assign | Kind::Name | Kind::Colon);
                next == Kind::OpenParen && (head || first.starts_type() || first == Kind::Semicolon)
            }
            _ => false,
        }
    }

    /// `for (..)`, `do`, `break` or `continue`, at the word.
    pub(super) fn foreign_statement(&mut self) {
        let word = self.cursor.current.text;
        let help = match word {
            "for" => "write `i = 0; while (i < n) { .. i = i + 1; }`",
            "do" => "write the body once before `while (..) { .. }`",
            _ => "write the condition of the loop so that it ends, or `return;`",
        };
        let message = format!("there is no {}", quote(word));
        self.cursor.report_here("foreign-statement", message, "not EML", help);
        self.cursor.skip();
        match word {
            "for" => {
                let mut depth = 0usize;
                let has_parentheses = self.cursor.at(Kind::OpenParen);
                loop {
                    match self.cursor.current.kind {
                        Kind::OpenParen => depth += 1,
                        Kind::CloseParen => depth = depth.saturating_sub(1),
                        Kind::OpenBrace | Kind::CloseBrace | Kind::End => return,
                        _ => {}
                    }
                    let is_last =
                        if has_parentheses { depth == 0 } else { self.cursor.current.text == "do" };
                    self.cursor.skip();
                    if is_last {
                        return;
                    }
                }
            }
            "do" => {}
            _ => self.skip_statement(),
        }
    }

    /// Whether an expression can begin with the current token.
    fn at_expression(&self) -> bool {
        let kind = self.cursor.current.kind;
        kind.is_atom()
            || matches!(
                kind,
                Kind::Name
                    | Kind::OddName
                    | Kind::OpenParen
                    | Kind::Minus
                    | Kind::Not
                    | Kind::TryAcquire
                    | Kind::Star
            )
    }

    /// `int 0..7 : t = 3;`, at the type.
    fn local(&mut self) -> Option<StatementKind<'a>> {
        let declaration = self.declaration();
        if declaration.is_none() {
            self.skip_statement();
        }
        declaration.map(|declaration| StatementKind::Declare(Box::new(declaration)))
    }

    /// `x = e;` or `a[i] = e;`, at the name.
    fn assignment(&mut self) -> Option<StatementKind<'a>> {
        let Some(target) = self.reference("a variable") else {
            self.skip_statement();
            return None;
        };
        if self.cursor.at(Kind::Foreign) {
            self.foreign_assignment(target.name);
            return None;
        }
        let context = "after the variable";
        if !self.cursor.expect(Kind::Assign, "missing-value", "=", context) {
            self.skip_statement();
            return None;
        }
        if self.habit_of_value(target.name) {
            return None;
        }
        let Some(value) = self.value() else {
            self.skip_statement();
            return None;
        };
        if self.cursor.at(Kind::Dots) {
            let message = "a range is no value".to_owned();
            let help = "write `choose(0..3)` for one of several numbers";
            self.cursor.report_here("foreign-operator", message, "a range", help);
            self.skip_statement();
            return None;
        }
        self.end_of_statement();
        Some(StatementKind::Assign(target, value))
    }

    /// `x++;` or `x += 1;`, at the sign.
    fn foreign_assignment(&mut self, name: Name<'a>) {
        let sign = self.cursor.current.text;
        let message = format!("there is no {}", quote(sign));
        let help = match sign.chars().next() {
            Some(first) if sign == "++" || sign == "--" => {
                format!(
                    "write `{0} = {0} {first} 1;`, which reads and then writes; or `read {0}; write \
                     {0};` if it has no value",
                    name.text
                )
            }
            _ if sign == ":=" => format!("write `{} = ..;`", name.text),
            Some(first) if sign.ends_with('=') => {
                // `&` and `|` of truth values are written twice.
                let twice = if matches!(first, '&' | '|') { 2 } else { 1 };
                let operator = first.to_string().repeat(twice);
                format!("write `{0} = {0} {operator} ..;`, which reads and then writes", name.text)
            }
            _ => instead_of(sign).to_owned(),
        };
        self.cursor.report_here("foreign-operator", message, "not EML", &help);
        self.skip_statement();
    }

    /// `acquire(l);` and the like, at the word.
    fn lock_operation(&mut self) -> Option<StatementKind<'a>> {
        let word = self.cursor.current;
        let mut ahead = self.cursor.ahead();
        let empty = ahead.next().kind == Kind::OpenParen && ahead.next().kind == Kind::CloseParen;
        if empty {
            let message = format!("{} needs a lock", quote(word.text));
            let help = format!(
                "write {}; if this calls a function, choose another name for it: {} is a \
                 reserved word since programs have data",
                quote(&format!("{}(l);", word.text)),
                quote(word.text)
            );
            self.cursor.report_here("missing-lock", message, "no lock", &help);
            self.cursor.bump();
            self.skip_statement();
            return None;
        }
        self.cursor.bump();
        let operation = match word.kind {
            Kind::Acquire => LockOperation::Acquire,
            Kind::Release => LockOperation::Release,
            Kind::Wait => LockOperation::Wait,
            Kind::Notify => LockOperation::Notify,
            _ => LockOperation::NotifyAll,
        };
        let Some(lock) = self.lock_in_parentheses(word.text) else {
            self.skip_statement();
            return None;
        };
        self.end_of_statement();
        Some(StatementKind::Lock(operation, lock))
    }

    /// `send a;` and the like, at the word.
    fn channel_operation(&mut self) -> Option<StatementKind<'a>> {
        let word = self.cursor.bump();
        let operation = match word.kind {
            Kind::Send => ChannelOperation::Send,
            Kind::Post => ChannelOperation::Post,
            Kind::Broadcast => ChannelOperation::Broadcast,
            _ => ChannelOperation::Recv,
        };
        if self.cursor.at(Kind::OpenParen) {
            let ahead = self.cursor.ahead().next();
            let meant = if ahead.kind == Kind::Name { ahead.text } else { "a" };
            let message = format!("{} is followed by a channel", quote(word.text));
            let help = format!(
                "write {}; if this calls a function, choose another name for it: {} is a \
                 reserved word",
                quote(&format!("{} {meant};", word.text)),
                quote(word.text)
            );
            self.cursor.report_here("channel-form", message, "no parentheses here", &help);
            self.skip_statement();
            return None;
        }
        let Some(channel) = self.name("a channel") else {
            self.skip_statement();
            return None;
        };
        if self.cursor.at(Kind::OpenBracket) {
            let message = format!("{} is a channel, not an array", quote(channel.text));
            let help = "declare the channels one by one: `chan : a, b;`";
            self.cursor.report_here("channel-form", message, "no index here", help);
            self.skip_statement();
            return None;
        }
        let line = self.cursor.current.place.line();
        let has_value = self.cursor.at(Kind::Name) && line == channel.place.line();
        if has_value || self.cursor.at(Kind::Comma) || self.cursor.at(Kind::OpenParen) {
            let message =
                format!("{} is about one channel, which holds no value", quote(word.text));
            let help = if self.cursor.at(Kind::Comma) {
                "write one statement for each channel"
            } else {
                "assign the value to a variable before, and read it behind `recv`"
            };
            self.cursor.report_here("channel-form", message, "not expected here", help);
            self.skip_statement();
            return None;
        }
        self.end_of_statement();
        Some(StatementKind::Channel(operation, channel))
    }

    /// `start T(1);` or `join T[1];`, at the keyword.
    fn thread(&mut self) -> Option<StatementKind<'a>> {
        let keyword = self.cursor.bump();
        if self.cursor.at(Kind::OpenParen) {
            let message = format!(
                "{} is a keyword and cannot be the name of a function",
                quote(keyword.text)
            );
            let diagnostic = Diagnostic::error("keyword-as-name", message, keyword.span, "keyword");
            self.cursor.report(diagnostic.with_help("choose another name"));
            self.skip_statement();
            return None;
        }
        let Some(thread) = self.reference("a process") else {
            self.skip_statement();
            return None;
        };
        let mut arguments = Some(Vec::new());
        if keyword.kind == Kind::Start && self.cursor.at(Kind::OpenParen) {
            arguments = self.arguments();
        }
        let Some(arguments) = arguments else {
            self.skip_statement();
            return None;
        };
        if keyword.kind == Kind::Join && self.cursor.at(Kind::OpenParen) {
            let message = "expected `;` after the statement, found `(`".to_owned();
            let help = format!("write {}", quote(&format!("join {};", thread.name.text)));
            self.cursor.report_here("missing-semicolon", message, "not expected here", &help);
            self.skip_statement();
            return None;
        }
        self.end_of_statement();
        Some(match keyword.kind {
            Kind::Start => StatementKind::Start(thread, arguments),
            _ => StatementKind::Join(thread),
        })
    }

    /// `{ .. }` as a statement.
    fn braces(&mut self, depth: usize, file: &mut File<'a>) -> Statement<'a> {
        let first = self.cursor.current;
        let block = self.block(depth, file);
        let completes = block.completes();
        let kind = StatementKind::Block(block);
        self.read_statement(kind, first, completes)
    }

    /// `synchronized(l) { .. }`, at the keyword.
    fn synchronized(&mut self, depth: usize, file: &mut File<'a>) -> Option<Statement<'a>> {
        let first = self.cursor.current;
        let prefix = self.prefix();
        if matches!(self.cursor.current.kind, Kind::Name | Kind::Synchronized) {
            if self.nested_function(first) {
                self.pending.prefixes.extend(prefix);
            }
            return None;
        }
        let block = self.expect_block(depth + 1, file, "after `synchronized(..)`")?;
        let completes = block.completes();
        let kind = StatementKind::Synchronized(prefix?.lock, block);
        Some(self.read_statement(kind, first, completes))
    }

    /// `if (*) s else if (*) s .. else s`, at the keyword.
    fn conditional(&mut self, depth: usize, file: &mut File<'a>) -> Option<Statement<'a>> {
        let first = self.cursor.current;
        let mut branches = Vec::new();
        let mut otherwise = None;
        loop {
            let place = self.cursor.bump().place;
            let condition = self.condition("if");
            let body = self.body(depth + 1, file, "`if (*)`")?;
            branches.push(Branch { place, condition, body });
            if !self.cursor.eat(Kind::Else) {
                break;
            }
            if !self.cursor.at(Kind::If) {
                otherwise = Some(Box::new(self.body(depth + 1, file, "`else`")?));
                break;
            }
        }
        let completes = otherwise.as_ref().is_none_or(|otherwise| otherwise.completes)
            || branches.iter().any(|branch| branch.body.completes);
        let kind = StatementKind::If(branches, otherwise);
        Some(self.read_statement(kind, first, completes))
    }

    /// The statement that belongs to an `if`, an `else` or a `while`.
    fn body(&mut self, depth: usize, file: &mut File<'a>, owner: &str) -> Option<Statement<'a>> {
        let starts = matches!(self.cursor.current.kind, Kind::OpenBrace | Kind::Name)
            || self.cursor.current.kind.starts_statement();
        if self.cursor.at(Kind::OpenBrace) && depth <= NESTING_LIMIT {
            // The braces around a branch are not one more level.
            return Some(self.braces(depth, file));
        }
        if starts {
            return self.statement(depth, file);
        }
        let message = format!("expected a statement after {owner}, found {}", self.cursor.found());
        let help = "write `skip;` for a statement that does nothing";
        self.cursor.report_here(
            "missing-statement",
            message,
            "a statement is missing before this",
            help,
        );
        self.cursor.eat(Kind::Semicolon);
        None
    }

    /// `(*)` or `(e)`; any value if it could not be read.
    fn condition(&mut self, word: &str) -> Value<'a> {
        if !self.cursor.at(Kind::OpenParen) {
            let help = format!("write parentheses around the condition: `{word} (..)`");
            self.missing_parenthesis("before the condition", &help);
            let before = std::mem::replace(&mut self.in_condition, true);
            let is_value = self.at_expression();
            let value = if is_value { self.value() } else { None };
            self.in_condition = before;
            self.cursor.eat(Kind::CloseParen);
            if self.at_word_before_block() {
                self.cursor.skip();
            }
            return value.unwrap_or(Value::Any);
        }
        self.cursor.bump();
        if self.cursor.at(Kind::CloseParen) {
            let message = format!("expected a condition, found {}", self.cursor.found());
            let help = "write `*` if both outcomes are possible";
            self.cursor.report_here("missing-expression", message, "no condition", help);
            self.cursor.bump();
            return Value::Any;
        }
        let star = self.cursor.at(Kind::Star);
        let before = std::mem::replace(&mut self.in_condition, true);
        let value = self.value();
        self.in_condition = before;
        let Some(value) = value else {
            self.skip_parentheses();
            return Value::Any;
        };
        if !self.cursor.at(Kind::CloseParen) && !self.cursor.at(Kind::OpenBrace) {
            let message =
                format!("expected `)` after the condition, found {}", self.cursor.found());
            let starts = self.cursor.current.kind.starts_statement();
            let help = if star { "`*` is a whole condition" } else { "" };
            let remark = "a `)` is missing before this";
            self.cursor.report_here("missing-parenthesis", message, remark, help);
            if !starts {
                self.skip_parentheses();
            }
            return value;
        }
        self.cursor.expect(Kind::CloseParen, "missing-parenthesis", ")", "after the condition");
        if self.at_word_before_block() {
            let found = self.cursor.current.text;
            let help = format!("write `{word} (..) {{ .. }}` without `{found}`");
            self.report_habit("foreign-statement", found, &help);
            self.cursor.skip();
        }
        value
    }

    /// Whether `then` or `do` stands before the statements of a condition, and is no function.
    fn at_word_before_block(&self) -> bool {
        let next = self.cursor.peek();
        matches!(self.cursor.current.text, "then" | "do")
            && (matches!(next, Kind::Name | Kind::OpenBrace) || next.starts_statement())
    }

    /// `f(1);`, at the name.
    fn call(&mut self) -> Option<StatementKind<'a>> {
        let token = self.cursor.bump();
        let name = Name { text: token.text, span: token.span, place: token.place };
        match self.cursor.current.kind {
            Kind::OpenParen => {}
            Kind::Foreign => {
                self.foreign_assignment(name);
                return None;
            }
            Kind::Semicolon | Kind::CloseBrace => {
                let call = quote(&format!("{}();", name.text));
                self.cursor.report(
                    Diagnostic::error(
                        "missing-parenthesis",
                        format!("expected `()` after {}", quote(name.text)),
                        Span::new(name.span.end, name.span.end),
                        "`()` is missing here",
                    )
                    .with_help(format!("a call is written {call}")),
                );
                self.skip_statement();
                return None;
            }
            Kind::OpenBrace => {
                if self.nested_function(token) {
                    self.pending.name = Some(name);
                }
                return None;
            }
            _ => {
                self.unknown_statement(name);
                return None;
            }
        }
        let Some(arguments) = self.arguments() else {
            self.skip_statement();
            return None;
        };
        if self.cursor.at(Kind::OpenBrace) {
            if self.nested_function(token) {
                self.pending.name = Some(name);
            }
            return None;
        }
        self.end_of_statement();
        Some(StatementKind::Call(name, arguments))
    }

    /// Reads a misspelt keyword as the keyword, and says so.
    fn correct_spelling(&mut self) {
        let mut ahead = self.cursor.ahead();
        let possible: &[&str] = match ahead.next().kind {
            Kind::Name => &["read", "write", "start", "join"],
            Kind::OpenBrace => &["unit"],
            Kind::Semicolon | Kind::CloseBrace => &["skip", "return"],
            Kind::OpenParen => match ahead.next().kind {
                Kind::Star => &["if", "while"],
                Kind::Name => &["synchronized"],
                _ => return,
            },
            _ => return,
        };
        let Some(meant) = nearest(self.cursor.current.text, possible.iter().copied()) else {
            return;
        };
        let message = format!("{} does not start a statement", quote(self.cursor.current.text));
        let span = self.cursor.current.span;
        let unknown = Diagnostic::error("unknown-statement", message, span, "unknown statement");
        self.cursor.report(suggest(unknown, meant));
        // Reporting may have been the last thing that was allowed.
        if self.cursor.at(Kind::Name) {
            self.cursor.current.kind = match meant {
                "read" => Kind::Read,
                "write" => Kind::Write,
                "start" => Kind::Start,
                "join" => Kind::Join,
                "unit" => Kind::Unit,
                "skip" => Kind::Skip,
                "return" => Kind::Return,
                "if" => Kind::If,
                "while" => Kind::While,
                _ => Kind::Synchronized,
            };
        }
    }

    /// The `;` of a statement, which may be missing before a `}`.
    fn end_of_statement(&mut self) {
        if self.cursor.at(Kind::CloseBrace) || self.cursor.eat(Kind::Semicolon) {
            return;
        }
        self.cursor.expect(Kind::Semicolon, "missing-semicolon", ";", "after the statement");
        let goes_on = self.cursor.current.kind.is_keyword()
            || (self.cursor.at(Kind::Name)
                && matches!(self.cursor.peek(), Kind::OpenParen | Kind::Assign | Kind::Colon));
        if !goes_on {
            self.skip_statement();
        }
    }

    /// Skips to the end of a statement that could not be read.
    fn skip_statement(&mut self) {
        loop {
            match self.cursor.current.kind {
                Kind::Semicolon => {
                    self.cursor.skip();
                    return;
                }
                Kind::OpenBrace | Kind::CloseBrace | Kind::Else | Kind::End => return,
                kind if kind.starts_statement() || kind.starts_declaration() => return,
                _ => {
                    self.cursor.skip();
                }
            }
        }
    }

    /// A word that starts no statement.
    fn unknown_statement(&mut self, name: Name<'a>) {
        let word = quote(name.text);
        let diagnostic = Diagnostic::error(
            "unknown-statement",
            format!("{word} does not start a statement"),
            name.span,
            "unknown statement",
        );
        let call = quote(&format!("{}();", name.text));
        let diagnostic = diagnostic.with_help(format!("a call is written {call}"));
        self.cursor.report(diagnostic);
        self.skip_statement();
    }

    /// A token that starts no statement.
    fn no_statement(&mut self) {
        match self.cursor.current.kind {
            Kind::Else => {
                self.cursor.report_here(
                    "else-without-if",
                    "`else` without `if`".to_owned(),
                    "no `if` ends right before this",
                    "the branch of an `if` is one statement; put several into braces",
                );
                self.cursor.bump();
            }
            Kind::Semicolon => {
                self.cursor.report_here(
                    "stray-semicolon",
                    "a `;` without a statement".to_owned(),
                    "no statement before this",
                    "remove it, or write `skip;` for a statement that does nothing",
                );
                self.cursor.bump();
            }
            Kind::OpenParen => {
                let message = "a condition is no statement".to_owned();
                self.cursor.report_here("foreign-statement", message, "not EML", CONDITION);
                self.skip_statement();
            }
            // `++x;`: the sign stands before the name.
            Kind::Foreign => {
                let sign = self.cursor.current.text;
                let message = format!("there is no {}", quote(sign));
                self.cursor.report_here("foreign-operator", message, "not EML", instead_of(sign));
                self.cursor.skip();
                self.skip_statement();
            }
            _ => {
                let message = format!("expected a statement, found {}", self.cursor.found());
                self.cursor.report_here("stray-token", message, "not expected here", "");
                self.skip_statement();
            }
        }
    }

    /// A function begins inside of a function. If it stands further to the right it is meant to be
    /// nested and is read here; otherwise a brace is missing before it, every block ends, and the
    /// caller keeps what it has read of the function. Returns whether a brace is missing.
    fn nested_function(&mut self, start: Token<'a>) -> bool {
        let nested = start.place.column() > self.function_column;
        let remark =
            if nested { "functions cannot be nested" } else { "a `}` is missing before this" };
        let help = if nested {
            "move it out of the function, or look for a missing `}` before it"
        } else {
            "look for a block above that is not closed"
        };
        self.cursor.report(
            Diagnostic::error(
                "nested-function",
                "a function begins inside of another function",
                start.span,
                remark,
            )
            .with_help(help),
        );
        if nested {
            while !self.cursor.at(Kind::End)
                && !matches!(self.cursor.current.kind, Kind::OpenBrace | Kind::CloseBrace)
            {
                self.cursor.skip();
            }
            if self.cursor.at(Kind::OpenBrace) {
                self.skip_braces();
            }
        } else {
            self.cursor.unwinding = true;
        }
        !nested
    }

    /// The text goes on, or ends, where a block should have been closed.
    pub(super) fn unclosed(&mut self, open: Span) {
        if !self.cursor.unwinding {
            let found = self.cursor.found();
            let diagnostic = Diagnostic::error(
                "unclosed-brace",
                format!("expected `}}`, found {found}"),
                self.cursor.current.span,
                "a `}` is missing before this",
            );
            self.cursor.report(diagnostic.with_label(open, "this brace is not closed"));
        }
        self.cursor.unwinding = true;
    }

    pub(super) fn too_deep(&mut self) {
        let message = format!("statements are nested more than {NESTING_LIMIT} deep");
        let help = "move inner statements into a function of their own";
        self.cursor.report_here("nesting-too-deep", message, "the rest is not read", help);
        self.cursor.stop();
    }
}
