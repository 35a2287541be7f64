//! # Idea
//! Automata as they are read, transitions that many symbols share behind a `*`; nested words; and
//! automata as Graphviz graphs.
//!
//! # Invariants
//! 1. What is printed reads back as the same automaton, if the names of its states are different from
//!    each other and have neither line breaks nor double quotes.

use selvedge_base::Id;
use selvedge_pds::nwa::{Letter, Nested, Nwa, NwaState, Vpa};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A name as it is read: in quotes where it must be.
fn name(text: &str) -> String {
    let is_plain = !text.is_empty()
        && !matches!(text, "*" | "-" | "epsilon" | "Epsilon" | "ε" | "nwa" | "vpa" | "NWA" | "VPA")
        && !text.chars().any(|character| {
            character.is_whitespace()
                || character.is_control()
                || "(){},:<>\"#/".contains(character)
        });
    if is_plain { text.to_owned() } else { format!("\"{text}\"") }
}

/// Transitions by what stands before the symbol; each is what stands behind it.
type Block = BTreeMap<Vec<String>, BTreeMap<Letter, BTreeSet<Vec<String>>>>;

struct Printer<'a> {
    letters: &'a [String],
    out: String,
}

impl Printer<'_> {
    fn names<'n>(&mut self, block: &str, names: impl Iterator<Item = &'n String>) {
        let names: Vec<String> = names.map(|one| name(one)).collect();
        let _ = writeln!(self.out, "{block}: {{{}}}", names.join(", "));
    }

    fn block(&mut self, title: &str, block: &Block) {
        let mut tuples = Vec::new();
        let other = Letter::from_index(self.letters.len());
        let none = BTreeSet::new();
        for (from, by_letter) in block {
            let from = from.join(", ") + ", ";
            let any = by_letter.get(&other).unwrap_or(&none);
            for at in 0..self.letters.len() {
                let targets = by_letter.get(&Letter::from_index(at)).unwrap_or(&none);
                if targets == any {
                    continue;
                }
                let symbol = name(&self.letters[at]);
                for to in targets {
                    tuples.push(format!("({from}{symbol}, {})", to.join(", ")));
                }
                if targets.is_empty() {
                    let width = any.first().map_or(1, Vec::len);
                    tuples.push(format!("({from}{symbol}, {})", vec!["-"; width].join(", ")));
                }
            }
            for to in any {
                tuples.push(format!("({from}*, {})", to.join(", ")));
            }
        }
        let _ = write!(self.out, "{title}: {{");
        for (at, tuple) in tuples.iter().enumerate() {
            let comma = if at + 1 < tuples.len() { "," } else { "\n" };
            let _ = write!(self.out, "\n  {tuple}{comma}");
        }
        self.out.push_str("}\n");
    }
}

fn entry(block: &mut Block, from: Vec<String>, letter: Letter, to: Vec<String>) {
    block.entry(from).or_default().entry(letter).or_default().insert(to);
}

/// Writes a nested-word automaton so that [`parse_nwa`](crate::parse_nwa) gives it back.
pub fn print_nwa(nwa: &Nwa) -> String {
    let state = |state: NwaState| name(&nwa.states[state]);
    let mut printer = Printer { letters: nwa.letters.as_slice(), out: String::new() };
    printer.names("Q", nwa.states.iter());
    printer.names("Q0", nwa.initial.iter().map(|&state| &nwa.states[state]));
    printer.names("Qf", nwa.finals.iter().map(|&state| &nwa.states[state]));
    printer.names("Sigma", nwa.letters.iter());
    for (title, steps) in [("Delta_i", &nwa.internals), ("Delta_c", &nwa.calls)] {
        let mut block = Block::new();
        for &(p, a, q) in steps {
            entry(&mut block, vec![state(p)], a, vec![state(q)]);
        }
        printer.block(title, &block);
    }
    let mut block = Block::new();
    for &(p, c, a, q) in &nwa.returns {
        entry(&mut block, vec![state(p), state(c)], a, vec![state(q)]);
    }
    printer.block("Delta_r", &block);
    printer.out
}

/// Writes a visibly pushdown automaton so that [`parse_vpa`](crate::parse_vpa) gives it back. Stack
/// symbols that nothing pushes or pops are left out.
pub fn print_vpa(vpa: &Vpa) -> String {
    let state = |state: NwaState| name(&vpa.states[state]);
    let mut printer = Printer { letters: vpa.letters.as_slice(), out: "vpa\n".to_owned() };
    printer.names("Q", vpa.states.iter());
    printer.names("Q0", vpa.initial.iter().map(|&state| &vpa.states[state]));
    printer.names("Qf", vpa.finals.iter().map(|&state| &vpa.states[state]));
    printer.names("Sigma", vpa.letters.iter());
    let mut block = Block::new();
    for &(p, a, q) in &vpa.internals {
        entry(&mut block, vec![state(p)], a, vec![state(q)]);
    }
    printer.block("Delta_i", &block);
    let mut block = Block::new();
    for &(p, a, q, pushed) in &vpa.calls {
        entry(&mut block, vec![state(p)], a, vec![state(q), name(&vpa.stack[pushed])]);
    }
    printer.block("Delta_c", &block);
    let mut block = Block::new();
    for &(p, popped, a, q) in &vpa.returns {
        let popped = popped.map_or_else(|| "-".to_owned(), |symbol| name(&vpa.stack[symbol]));
        entry(&mut block, vec![state(p), popped], a, vec![state(q)]);
    }
    printer.block("Delta_r", &block);
    printer.out
}

/// Writes a nested word so that [`parse_word`](crate::parse_word) gives it back.
pub fn print_word(word: &[Nested], nwa: &Nwa) -> String {
    let symbol = |letter: Letter| nwa.symbol(letter).map_or_else(|| "*".to_owned(), name);
    let written: Vec<String> = word
        .iter()
        .map(|&position| match position {
            Nested::Internal(letter) => symbol(letter),
            Nested::Call(letter) => format!("<{}", symbol(letter)),
            Nested::Return(letter) => format!("{}>", symbol(letter)),
        })
        .collect();
    written.join(" ")
}

/// An automaton as a Graphviz graph: calls are dashed, returns are dotted and name the state before
/// their call, `*` is every symbol that the automaton does not name.
pub fn dot(nwa: &Nwa) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let symbol = |letter: Letter| nwa.symbol(letter).unwrap_or("*");
    let mut out = String::from("digraph nwa {\n  rankdir=LR;\n  node [shape=circle];\n");
    for (state, name) in nwa.states.iter_enumerated() {
        let shape = if nwa.finals.contains(&state) { ", shape=doublecircle" } else { "" };
        let _ = writeln!(out, "  q{} [label={}{shape}];", state.index(), quoted(name));
        if nwa.initial.contains(&state) {
            let _ = writeln!(out, "  i{0} [shape=point];\n  i{0} -> q{0};", state.index());
        }
    }
    // One arrow for all symbols of a kind between two states.
    let mut arrows: BTreeMap<(NwaState, NwaState, &str), Vec<String>> = BTreeMap::new();
    for &(p, a, q) in &nwa.internals {
        arrows.entry((p, q, "solid")).or_default().push(symbol(a).to_owned());
    }
    for &(p, a, q) in &nwa.calls {
        arrows.entry((p, q, "dashed")).or_default().push(format!("<{}", symbol(a)));
    }
    for &(p, c, a, q) in &nwa.returns {
        let label = format!("{}> of {}", symbol(a), nwa.states[c]);
        arrows.entry((p, q, "dotted")).or_default().push(label);
    }
    for ((p, q, style), labels) in arrows {
        let label = quoted(&labels.join(", "));
        let _ = writeln!(out, "  q{} -> q{} [label={label}, style={style}];", p.index(), q.index());
    }
    out.push_str("}\n");
    out
}
