//! # Idea
//! One rule a line, names instead of numbers:
//!
//! ```text
//! # p and q are control locations, a and b are stack symbols.
//! p a -> q          pop
//! p a -> q b        step
//! p a -> q b c      push, b on top
//! ```
//!
//! `#` starts a comment. Control locations and stack symbols have separate name spaces and are
//! numbered as they appear. Lines `states: p q …` and `symbols: a b …` name some of them earlier,
//! which matters for those that appear in no rule and for the numbering; [`print()`] writes these
//! lines only where they are needed.
//!
//! # Invariants
//! 1. `parse(print(x)) == x` for every [`NamedPds`] whose names are words: not empty, without white
//!    space and `#`, not `->`, different from each other, no control location named `states:` or
//!    `symbols:`.

use crate::system::{Configuration, Pds, Rhs, Rule, RuleId, State, Symbol};
use rustc_hash::FxHashMap;
use selvedge_base::{Diagnostic, Id, IdVec, Severity, Span};
use std::fmt::Write;

/// A pushdown system with the names of its control locations and stack symbols.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedPds {
    /// The system.
    pub pds: Pds,
    /// The names of the control locations.
    pub states: IdVec<State, String>,
    /// The names of the stack symbols.
    pub symbols: IdVec<Symbol, String>,
}

/// After this many complaints the rest of a text is not read.
const MAX_DIAGNOSTICS: usize = 100;

/// Reads a system.
///
/// # Errors
/// One complaint for each bad line, with its place, up to a hundred.
pub fn parse(text: &str) -> Result<NamedPds, Vec<Diagnostic>> {
    if u32::try_from(text.len()).is_err() {
        let message = "the text has 4 GiB or more";
        return Err(vec![Diagnostic::global("text-too-long", Severity::Error, message)]);
    }
    let mut states = Names::default();
    let mut symbols = Names::default();
    let mut rules: IdVec<RuleId, Rule> = IdVec::new();
    let mut diagnostics = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let rest = &text.as_bytes()[start..];
        let len = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        match parse_line(text, start, start + len, &mut states, &mut symbols) {
            Ok(None) => {}
            Ok(Some(rule)) => {
                rules.push(rule);
            }
            Err(diagnostic) => diagnostics.push(*diagnostic),
        }
        if diagnostics.len() == MAX_DIAGNOSTICS {
            break;
        }
        start += len + 1;
    }
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    let (states, symbols) = (states.into_strings(), symbols.into_strings());
    Ok(NamedPds {
        pds: Pds { states: states.len(), symbols: symbols.len(), rules },
        states: states.into_iter().collect(),
        symbols: symbols.into_iter().collect(),
    })
}

/// Writes a system so that [`parse`] gives it back.
pub fn print(named: &NamedPds) -> String {
    let mut out = String::new();
    let (state_order, symbol_order) = order_of_appearance(&named.pds);
    declare(&mut out, "states:", named.states.as_slice(), &state_order);
    declare(&mut out, "symbols:", named.symbols.as_slice(), &symbol_order);
    for rule in &named.pds.rules {
        let (state, symbol) = (&named.states[rule.state], &named.symbols[rule.symbol]);
        let to = &named.states[rule.to];
        write!(out, "{state} {symbol} -> {to}").expect("a String takes everything");
        for symbol in rule.rhs.symbols() {
            write!(out, " {}", named.symbols[symbol]).expect("a String takes everything");
        }
        out.push('\n');
    }
    out
}

impl NamedPds {
    /// Names control locations `p0, p1, …` and stack symbols `s0, s1, …`.
    pub fn number(pds: Pds) -> Self {
        let states = (0..pds.states).map(|state| format!("p{state}")).collect();
        let symbols = (0..pds.symbols).map(|symbol| format!("s{symbol}")).collect();
        Self { pds, states, symbols }
    }

    /// The control location with this name.
    pub fn state(&self, name: &str) -> Option<State> {
        self.states.iter().position(|known| known == name).map(State::from_index)
    }

    /// The stack symbol with this name.
    pub fn symbol(&self, name: &str) -> Option<Symbol> {
        self.symbols.iter().position(|known| known == name).map(Symbol::from_index)
    }

    /// Reads a configuration `p a b …`, top first; `None` if a name is unknown or none is given.
    pub fn configuration(&self, text: &str) -> Option<Configuration> {
        let mut words = text.split_whitespace();
        let state = self.state(words.next()?)?;
        let stack = words.map(|word| self.symbol(word)).collect::<Option<_>>()?;
        Some(Configuration { state, stack })
    }

    /// Writes a configuration as [`NamedPds::configuration`] reads it.
    pub fn print_configuration(&self, configuration: &Configuration) -> String {
        let mut out = self.states[configuration.state].clone();
        for &symbol in &configuration.stack {
            out.push(' ');
            out.push_str(&self.symbols[symbol]);
        }
        out
    }
}

/// Names seen so far, numbered by appearance.
#[derive(Default)]
struct Names<'a> {
    ids: FxHashMap<&'a str, u32>,
    names: Vec<&'a str>,
}

impl<'a> Names<'a> {
    fn intern(&mut self, name: &'a str) -> u32 {
        let next = self.names.len() as u32;
        let id = *self.ids.entry(name).or_insert(next);
        if id == next {
            self.names.push(name);
        }
        id
    }

    fn into_strings(self) -> Vec<String> {
        self.names.into_iter().map(String::from).collect()
    }
}

/// The shapes of a rule, as advice.
const SHAPES: &str = "a rule is `p a -> q`, `p a -> q b` or `p a -> q b c`";
/// The longest line of a rule has this many words.
const MAX_WORDS: usize = 6;

/// Reads the line `text[start..end]`: a rule, or nothing for comments and declarations.
fn parse_line<'a>(
    text: &'a str,
    start: usize,
    end: usize,
    states: &mut Names<'a>,
    symbols: &mut Names<'a>,
) -> Result<Option<Rule>, Box<Diagnostic>> {
    let mut words = Words { text, at: start, end };
    let mut line = [Span::new(0, 0); MAX_WORDS];
    let mut count = 0;
    while let Some(word) = words.next() {
        if count == MAX_WORDS {
            return Err(Box::new(too_long(word)));
        }
        line[count] = word;
        count += 1;
        if count == 1 && matches!(&text[word.range()], "states:" | "symbols:") {
            let names = if &text[word.range()] == "states:" { states } else { symbols };
            for word in words {
                not_an_arrow(text, word)?;
                names.intern(&text[word.range()]);
            }
            return Ok(None);
        }
    }
    let line = &line[..count];
    let Some(&last) = line.last() else { return Ok(None) };
    for (at, &word) in line.iter().enumerate() {
        if at == 2 {
            if &text[word.range()] != "->" {
                let remark = "`->` belongs here";
                return Err(Box::new(
                    Diagnostic::error("expected-arrow", "expected `->`", word, remark)
                        .with_help(SHAPES),
                ));
            }
        } else {
            not_an_arrow(text, word)?;
        }
    }
    if count < 4 {
        let at = Span::new(last.end, last.end);
        let remark = "the line ends here";
        return Err(Box::new(
            Diagnostic::error("incomplete-rule", "incomplete rule", at, remark).with_help(SHAPES),
        ));
    }
    let mut symbol =
        |at: usize| Symbol::from_index(symbols.intern(&text[line[at].range()]) as usize);
    let left = symbol(1);
    let rhs = match count {
        4 => Rhs::Pop,
        5 => Rhs::Step(symbol(4)),
        _ => Rhs::Push(symbol(4), symbol(5)),
    };
    let mut state = |at: usize| State::from_index(states.intern(&text[line[at].range()]) as usize);
    Ok(Some(Rule { state: state(0), symbol: left, to: state(3), rhs, label: () }))
}

fn too_long(word: Span) -> Diagnostic {
    let message = "a right-hand side has at most two symbols";
    Diagnostic::error("rule-too-long", message, word, "one symbol too many")
        .with_help("write several rules with fresh symbols in between")
}

fn not_an_arrow(text: &str, word: Span) -> Result<(), Box<Diagnostic>> {
    if &text[word.range()] == "->" {
        let message = "`->` is not a name";
        let remark = "a name belongs here";
        return Err(Box::new(Diagnostic::error("stray-arrow", message, word, remark)));
    }
    Ok(())
}

/// The words of a line up to a comment.
struct Words<'a> {
    text: &'a str,
    at: usize,
    end: usize,
}

impl Iterator for Words<'_> {
    type Item = Span;

    #[inline]
    fn next(&mut self) -> Option<Span> {
        let bytes = self.text.as_bytes();
        while self.at < self.end && bytes[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
        let start = self.at;
        while self.at < self.end && !bytes[self.at].is_ascii_whitespace() && bytes[self.at] != b'#'
        {
            self.at += 1;
        }
        // A comment leaves the position where it is, so the line has ended for good.
        (self.at > start).then(|| Span::new(start as u32, self.at as u32))
    }
}

/// Control locations and stack symbols in the order in which [`parse`] meets them in the rules.
fn order_of_appearance(pds: &Pds) -> (Vec<usize>, Vec<usize>) {
    let mut states = (vec![false; pds.states], Vec::new());
    let mut symbols = (vec![false; pds.symbols], Vec::new());
    let meet = |(seen, order): &mut (Vec<bool>, Vec<usize>), at: usize| {
        if !seen[at] {
            seen[at] = true;
            order.push(at);
        }
    };
    for rule in &pds.rules {
        meet(&mut states, rule.state.index());
        meet(&mut states, rule.to.index());
        for symbol in std::iter::once(rule.symbol).chain(rule.rhs.symbols()) {
            meet(&mut symbols, symbol.index());
        }
    }
    (states.1, symbols.1)
}

/// Writes a declaration unless the rules alone give the same numbering.
fn declare(out: &mut String, keyword: &str, names: &[String], order: &[usize]) {
    if order.len() == names.len() && order.iter().enumerate().all(|(at, &met)| at == met) {
        return;
    }
    out.push_str(keyword);
    for name in names {
        out.push(' ');
        out.push_str(name);
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;
    use crate::random::Random;
    use selvedge_base::{LineIndex, Place};

    #[test]
    fn printed_systems_parse_back() {
        for seed in 0..2000 {
            let mut random = Random::new(seed);
            let states = 1 + random.below(4);
            let symbols = 1 + random.below(5);
            let rules = random.below(12);
            let named = NamedPds::number(generate::small(&mut random, states, symbols, rules));
            let text = print(&named);
            assert_eq!(parse(&text).as_ref(), Ok(&named), "seed {seed}\n{text}");
        }
    }

    #[test]
    fn names_are_numbered_by_appearance() {
        let named = parse("q b -> p a c # comment\n\n  # only a comment\r\np a -> p\r\n").unwrap();
        assert_eq!(named.states.as_slice(), ["q", "p"]);
        assert_eq!(named.symbols.as_slice(), ["b", "a", "c"]);
        assert_eq!(print(&named), "q b -> p a c\np a -> p\n");
        let configuration = named.configuration("p c b").unwrap();
        assert_eq!(named.print_configuration(&configuration), "p c b");
        assert_eq!(named.configuration("p x"), None);
        assert_eq!(named.configuration(""), None);
    }

    #[test]
    fn bad_lines_are_named_with_their_places() {
        let cases = [
            ("p a ->", "incomplete-rule", Place::new(1, 7)),
            ("p a -> q\np", "incomplete-rule", Place::new(2, 2)),
            ("p a q b", "expected-arrow", Place::new(1, 5)),
            ("p a -> q b c d", "rule-too-long", Place::new(1, 14)),
            ("\n é -> q b", "stray-arrow", Place::new(2, 4)),
            ("p a -> -> b", "stray-arrow", Place::new(1, 8)),
            ("p a -> q b ->", "stray-arrow", Place::new(1, 12)),
            ("states: p ->", "stray-arrow", Place::new(1, 11)),
        ];
        for (text, code, place) in cases {
            let diagnostics = parse(text).unwrap_err();
            assert_eq!(diagnostics.len(), 1, "{text}");
            assert_eq!(diagnostics[0].code, code, "{text}");
            let span = diagnostics[0].primary.as_ref().unwrap().span;
            assert_eq!(LineIndex::new(text).place(span.start), place, "{text}");
        }
        let garbage = "x\n".repeat(1000);
        assert_eq!(parse(&garbage).unwrap_err().len(), MAX_DIAGNOSTICS);
    }
}
