//! # Idea
//! Recursive descent. The operators that are words are recognised by their place: a word before `@` is
//! a thread. Names that `let` gives are replaced by their formulas as they are read.
//!
//! # Invariants
//! 1. Recursion is no deeper than [`DEEPEST`], and so is every formula; no formula has more than
//!    [`LARGEST`] parts, whatever names are replaced.
//! 2. Every loop consumes a token in each round or ends.

use crate::condition;
use crate::names::Names;
use crate::token::Kind;
use selvedge_base::{Diagnostic, Span};
use selvedge_program::formula::DEEPEST;
use selvedge_program::{
    Deed, Formula, PathQuantifier, ProbeLocal, Program, Proposition, TemporalQuestion, ThreadId,
};
use selvedge_syntax::complaints::Complaints;
use selvedge_syntax::cursor::Cursor;
use selvedge_syntax::nearest::nearest;
use selvedge_syntax::tokens::quote;
use std::collections::BTreeMap;

/// How many parts a formula may have.
const LARGEST: u32 = 100_000;

/// A mistake that was reported.
pub(crate) struct Mistake;
pub(crate) type Read<T> = Result<T, Mistake>;

/// A formula with its size.
#[derive(Clone)]
struct Sized {
    formula: Formula,
    depth: u32,
    parts: u32,
}

pub(crate) struct Parser<'a, 'c> {
    pub cursor: Cursor<'a, 'c, Kind>,
    pub names: Names<'a>,
    text: &'a str,
    given: BTreeMap<String, (Sized, Span)>,
    /// The text of the definitions so far.
    definitions: String,
    depth: u32,
    /// The locals of threads that an expression reads, if it may.
    pub probed: Option<Vec<ProbeLocal>>,
}

/// The words that begin an atom or an operator.
const WORDS: [&str; 18] = [
    "X", "F", "G", "GF", "FG", "true", "false", "in", "holds", "unit", "next", "ended", "blocked",
    "end", "deadlock", "U", "R", "W",
];

/// The words that are atoms or begin one.
const PROPOSITIONS: [&str; 10] =
    ["true", "false", "in", "holds", "unit", "next", "ended", "blocked", "end", "deadlock"];

/// Reads a text; what could be read and, in `complaints`, what could not.
pub(crate) fn parse(
    text: &str,
    program: &Program,
    fair: &[ThreadId],
    complaints: &mut Complaints,
) -> Vec<TemporalQuestion> {
    let mut parser = Parser::new(text, program, complaints);
    let mut questions: Vec<TemporalQuestion> = Vec::new();
    while !parser.cursor.at(Kind::End) {
        match parser.item(fair) {
            Ok(question) => questions.extend(question),
            Err(Mistake) => parser.skip_item(),
        }
    }
    if questions.is_empty() && !parser.cursor.complaints.has_errors() {
        parser.cursor.report_here(
            "no-formula",
            "there is no formula".to_owned(),
            "a formula is missing here",
            "write for example `A G !deadlock`",
        );
    }
    questions
}

impl<'a, 'c> Parser<'a, 'c> {
    /// At the beginning of a text of less than 4 GiB.
    pub fn new(text: &'a str, program: &'a Program, complaints: &'c mut Complaints) -> Self {
        Self {
            cursor: Cursor::new(text, complaints),
            names: Names::new(program),
            text,
            given: BTreeMap::new(),
            definitions: String::new(),
            depth: 0,
            probed: None,
        }
    }
}

impl Parser<'_, '_> {
    /// A definition, or a question.
    fn item(&mut self, fair: &[ThreadId]) -> Read<Option<TemporalQuestion>> {
        if self.is_word("let") {
            self.definition()?;
            return Ok(None);
        }
        let mut name = None;
        if matches!(self.cursor.current.kind, Kind::Name | Kind::Quoted)
            && self.cursor.peek() == Kind::Colon
        {
            name = Some(unquoted(self.cursor.bump().text).to_owned());
            self.cursor.bump();
        }
        let start = self.cursor.current.span.start;
        let quantifier = match self.cursor.current.text {
            "E" => PathQuantifier::Some,
            "A" => PathQuantifier::Every,
            word => {
                let message = format!("expected `E` or `A`, found {}", self.cursor.found());
                let help = match word.split_at_checked(1) {
                    Some((quantifier @ ("A" | "E"), operator @ ("G" | "F" | "X"))) => format!(
                        "write `{quantifier} {operator} ..`; `selvedge branching` takes `{word} ..`, \
                         which is about trees of runs"
                    ),
                    _ => "write `E` before a formula that some run is to satisfy, `A` before one that \
                          every run is to satisfy"
                        .to_owned(),
                };
                self.cursor.report_here(
                    "missing-quantifier",
                    message,
                    "some run, or every run?",
                    &help,
                );
                return Err(Mistake);
            }
        };
        self.cursor.bump();
        let Sized { formula, .. } = self.formula()?;
        let end = self.cursor.previous().end;
        let text = self.text[start as usize..end as usize].to_owned();
        if !self.cursor.at(Kind::End) {
            self.expect(Kind::Semicolon, ";", "behind a formula")?;
        }
        let (definitions, fair) = (self.definitions.clone(), fair.to_vec());
        Ok(Some(TemporalQuestion { name, text, definitions, quantifier, formula, fair }))
    }

    fn definition(&mut self) -> Read<()> {
        let start = self.cursor.bump().span.start;
        let span = self.cursor.current.span;
        let name = self.name("a formula")?.to_owned();
        if WORDS.contains(&name.as_str()) {
            let message = format!("`{name}` means something else and cannot be defined");
            self.cursor.complaints.push(
                Diagnostic::error("reserved-name", message, span, "reserved")
                    .with_help("choose another name"),
            );
        }
        self.expect(Kind::Equals, "=", "behind the name of a formula")?;
        let formula = self.formula().inspect_err(|Mistake| {
            // Whoever uses the name makes no mistake of its own.
            let nothing = small(Formula::Constant(true));
            self.given.entry(name.clone()).or_insert((nothing, span));
        })?;
        self.expect(Kind::Semicolon, ";", "behind a formula")?;
        if let Some((_, first)) = self.given.get(&name) {
            let message = format!("{} is defined twice", quote(&name));
            self.cursor.complaints.push(
                Diagnostic::error("duplicate-name", message, span, "defined again")
                    .with_label(*first, "first definition")
                    .with_help("rename one of them"),
            );
        } else {
            self.given.insert(name, (formula, span));
            let end = self.cursor.previous().end;
            self.definitions.push_str(&self.text[start as usize..end as usize]);
            self.definitions.push('\n');
        }
        Ok(())
    }

    fn skip_item(&mut self) {
        while !self.cursor.at(Kind::End) && !self.cursor.at(Kind::Semicolon) {
            self.cursor.skip();
        }
        self.cursor.eat(Kind::Semicolon);
    }

    fn formula(&mut self) -> Read<Sized> {
        self.deeper(|parser| {
            let left = parser.disjunction()?;
            if !parser.cursor.eat(Kind::Arrow) {
                return Ok(left);
            }
            let right = parser.formula()?;
            parser.join(left, right, 1, |f, g| Formula::or(Formula::not(f), g))
        })
    }

    fn disjunction(&mut self) -> Read<Sized> {
        let mut left = self.conjunction()?;
        while self.cursor.eat(Kind::Or) {
            let right = self.conjunction()?;
            left = self.join(left, right, 1, Formula::or)?;
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Read<Sized> {
        let mut left = self.until()?;
        while self.cursor.eat(Kind::And) {
            let right = self.until()?;
            left = self.join(left, right, 1, Formula::and)?;
        }
        Ok(left)
    }

    fn until(&mut self) -> Read<Sized> {
        self.deeper(|parser| {
            let left = parser.unary()?;
            let (times, join): (_, fn(Formula, Formula) -> Formula) =
                match parser.cursor.current.text {
                    "U" => (1, Formula::until),
                    "R" => (1, Formula::release),
                    "W" => (2, Formula::weak_until),
                    _ => return Ok(left),
                };
            parser.cursor.bump();
            let right = parser.until()?;
            parser.join(left, right, times, join)
        })
    }

    fn unary(&mut self) -> Read<Sized> {
        self.deeper(|parser| {
            if parser.cursor.eat(Kind::Not) {
                let inner = parser.unary()?;
                return parser.wrap(inner, Formula::not);
            }
            if parser.cursor.peek() == Kind::At {
                return parser.atom();
            }
            let wrap: fn(Formula) -> Formula = match parser.cursor.current.text {
                "F" => Formula::finally,
                "G" => Formula::globally,
                "GF" => |f| Formula::globally(Formula::finally(f)),
                "FG" => |f| Formula::finally(Formula::globally(f)),
                "X" => {
                    parser.cursor.bump();
                    return parser.next();
                }
                _ => return parser.atom(),
            };
            parser.cursor.bump();
            let inner = parser.unary()?;
            parser.wrap(inner, wrap)
        })
    }

    /// What follows `X`.
    fn next(&mut self) -> Read<Sized> {
        if !self.cursor.eat(Kind::OpenBracket) {
            let inner = self.unary()?;
            return self.wrap(inner, Formula::next);
        }
        let thread = self.thread()?;
        let deed = if self.cursor.eat(Kind::Colon) { Some(self.deed(thread)?) } else { None };
        self.expect(Kind::CloseBracket, "]", "behind a step")?;
        let inner = self.unary()?;
        let takes = Formula::Proposition(Proposition::Takes(thread, deed));
        self.wrap(inner, |f| Formula::and(takes.clone(), Formula::next(f)))
    }

    fn atom(&mut self) -> Read<Sized> {
        let token = self.cursor.current;
        if token.kind == Kind::OpenParen {
            self.cursor.bump();
            let inner = self.formula()?;
            self.expect(Kind::CloseParen, ")", "behind a formula")?;
            return Ok(inner);
        }
        let alone = matches!(token.kind, Kind::Name | Kind::Quoted)
            && !matches!(self.cursor.peek(), Kind::At | Kind::OpenBracket)
            && !PROPOSITIONS.contains(&token.text);
        if alone {
            return self.given(token.text);
        }
        Ok(small(match self.proposition()? {
            Ok(atom) => Formula::Proposition(atom),
            Err(value) => Formula::Constant(value),
        }))
    }

    /// An atom, or a constant.
    pub fn proposition(&mut self) -> Read<Result<Proposition, bool>> {
        let token = self.cursor.current;
        if token.kind == Kind::OpenBrace {
            return self.condition().map(Ok);
        }
        // A thread may have a number in brackets before the `@`.
        let names_thread = matches!(token.kind, Kind::Name | Kind::Quoted)
            && matches!(self.cursor.peek(), Kind::At | Kind::OpenBracket);
        if names_thread {
            let thread = self.thread()?;
            self.expect(Kind::At, "@", "behind a thread")?;
            return self.place(thread).map(Ok);
        }
        if token.kind != Kind::Name || !PROPOSITIONS.contains(&token.text) {
            let message = format!("expected a formula, found {}", self.cursor.found());
            self.cursor.report_here("missing-formula", message, "a formula is missing here", "");
            return Err(Mistake);
        }
        self.cursor.bump();
        Ok(match token.text {
            "true" | "false" => Err(token.text == "true"),
            "end" => Ok(Proposition::End),
            "deadlock" => Ok(Proposition::Deadlock),
            word => Ok(self.about_thread(word)?),
        })
    }

    /// What stands in parentheses behind a word.
    fn about_thread(&mut self, word: &str) -> Read<Proposition> {
        self.expect(Kind::OpenParen, "(", &format!("behind `{word}`"))?;
        let thread = self.thread()?;
        let atom = match word {
            "unit" => Proposition::Unit(thread),
            "ended" => Proposition::Ended(thread),
            "blocked" => Proposition::Blocked(thread),
            _ => {
                self.expect(Kind::Comma, ",", "behind the thread")?;
                match word {
                    "in" => Proposition::In(thread, self.procedure(thread)?),
                    "holds" => Proposition::Holds(thread, self.lock()?),
                    _ => Proposition::About(thread, self.deed(thread)?),
                }
            }
        };
        self.expect(Kind::CloseParen, ")", "")?;
        Ok(atom)
    }

    fn deed(&mut self, thread: ThreadId) -> Read<Deed> {
        const DEEDS: [&str; 14] = [
            "read",
            "write",
            "acquire",
            "release",
            "begin",
            "end",
            "call",
            "return",
            "start",
            "join",
            "send",
            "post",
            "broadcast",
            "recv",
        ];
        let word = self.cursor.current.text;
        if !DEEDS.contains(&word) {
            let message = format!("expected what a step does, found {}", self.cursor.found());
            let meant = nearest(word, DEEDS).map(|meant| format!("did you mean `{meant}`?"));
            let help = meant.unwrap_or_else(|| format!("one of {}", DEEDS.join(", ")));
            self.cursor.report_here("unknown-step", message, "no such step", &help);
            return Err(Mistake);
        }
        self.cursor.bump();
        Ok(match word {
            "read" => Deed::Read(self.location()?),
            "write" => Deed::Write(self.location()?),
            "acquire" => Deed::Acquire(self.lock()?),
            "release" => Deed::Release(self.lock()?),
            "begin" => Deed::Begin,
            "end" => Deed::End,
            "call" => Deed::Call(self.procedure(thread)?),
            "return" => Deed::Return(self.procedure(thread)?),
            "start" => Deed::Start(self.thread()?),
            "join" => Deed::Join(self.thread()?),
            "send" => Deed::Send(self.channel()?),
            "post" => Deed::Post(self.channel()?),
            "broadcast" => Deed::Broadcast(self.channel()?),
            _ => Deed::Recv(self.channel()?),
        })
    }

    fn condition(&mut self) -> Read<Proposition> {
        self.cursor.bump();
        let condition = condition::parse(self)?;
        self.expect(Kind::CloseBrace, "}", "behind a condition")?;
        Ok(Proposition::Condition(condition))
    }

    fn given(&mut self, name: &str) -> Read<Sized> {
        let known = unquoted(name);
        if let Some((formula, _)) = self.given.get(known) {
            let formula = formula.clone();
            self.cursor.bump();
            return Ok(formula);
        }
        let message = format!("there is no formula {}", quote(known));
        let candidates = self.given.keys().map(String::as_str).chain(WORDS);
        let help = match nearest(known, candidates) {
            _ if self.names.is_variable(known) => {
                format!("write conditions on variables in braces: `{{ {known} == .. }}`")
            }
            Some(meant) => format!("did you mean `{meant}`?"),
            None if self.names.is_thread(known) => {
                format!("say where {known} is to be, as `{known}@label`")
            }
            None => "`let name = formula;` defines one".to_owned(),
        };
        self.cursor.report_here("unknown-formula", message, "not defined", &help);
        Err(Mistake)
    }

    /// The name of something.
    pub fn name(&mut self, what: &str) -> Read<&str> {
        match self.cursor.current.kind {
            Kind::Name | Kind::Quoted => Ok(unquoted(self.cursor.bump().text)),
            Kind::OddName | Kind::Number => {
                let quotes = "write such a name in double quotes";
                self.cursor.report_odd_name(quotes, quotes);
                Err(Mistake)
            }
            _ => {
                self.cursor.report_missing_name(what);
                Err(Mistake)
            }
        }
    }

    pub fn expect(&mut self, kind: Kind, sign: &str, context: &str) -> Read<()> {
        let code = match kind {
            Kind::CloseParen | Kind::CloseBracket | Kind::CloseBrace => "unclosed-bracket",
            _ => "missing-sign",
        };
        if self.cursor.expect(kind, code, sign, context) { Ok(()) } else { Err(Mistake) }
    }

    fn is_word(&self, word: &str) -> bool {
        self.cursor.at(Kind::Name) && self.cursor.current.text == word
    }

    pub fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.enter()?;
        let result = read(self);
        self.leave();
        result
    }

    /// Goes one level down, if that is not too deep.
    pub fn enter(&mut self) -> Read<()> {
        // A pair of parentheses is read by three functions.
        if self.depth >= 3 * DEEPEST {
            self.too_deep();
            return Err(Mistake);
        }
        self.depth += 1;
        Ok(())
    }

    /// Comes back from there.
    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    fn too_deep(&mut self) {
        let message = format!("the formula is nested more than {DEEPEST} deep");
        let help =
            "give parts of it names by `let` only where they are small, or ask several questions";
        self.cursor.report_here("formula-too-deep", message, "too deep", help);
    }

    fn wrap(&mut self, inner: Sized, wrap: impl FnOnce(Formula) -> Formula) -> Read<Sized> {
        let Sized { formula, depth, parts } = inner;
        self.sized(wrap(formula), depth + 3, parts.saturating_add(3))
    }

    /// Two formulas as one, in which the right one occurs so many times.
    fn join(
        &mut self,
        left: Sized,
        right: Sized,
        times: u32,
        join: impl FnOnce(Formula, Formula) -> Formula,
    ) -> Read<Sized> {
        let depth = left.depth.max(right.depth) + 2;
        let parts = left.parts.saturating_add(right.parts.saturating_mul(times)).saturating_add(3);
        self.sized(join(left.formula, right.formula), depth, parts)
    }

    fn sized(&mut self, formula: Formula, depth: u32, parts: u32) -> Read<Sized> {
        // Operators nest in formulas and not only in brackets.
        if depth > 4 * DEEPEST {
            self.too_deep();
            return Err(Mistake);
        }
        if parts > LARGEST {
            let message = format!("the formula has more than {LARGEST} parts");
            let help = "names that `let` gives are replaced by what they stand for";
            self.cursor.report_here("formula-too-large", message, "too large", help);
            return Err(Mistake);
        }
        Ok(Sized { formula, depth, parts })
    }
}

fn small(formula: Formula) -> Sized {
    Sized { formula, depth: 1, parts: 1 }
}

fn unquoted(text: &str) -> &str {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}
