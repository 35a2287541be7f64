//! # Idea
//! Names become states and letters, and `*` becomes a transition for every letter that has none of its
//! own at the same states.
//!
//! # Invariants
//! 1. There is an automaton exactly if there is no error.

use crate::parser::{File, Name, Tuple, parse};
use selvedge_base::{Diagnostic, Id, IdVec, Severity, Span};
use selvedge_pds::nwa::vpa::StackSymbol;
use selvedge_pds::nwa::{Letter, Nwa, NwaState, Vpa};
use selvedge_syntax::complaints::Complaints;
use selvedge_syntax::nearest::nearest;
use selvedge_syntax::tokens::quote;
use std::collections::{BTreeMap, BTreeSet};

/// Reads a nested-word automaton.
pub fn parse_nwa(text: &str) -> (Option<Nwa>, Vec<Diagnostic>) {
    read(text, false, |file, names, complaints| {
        let mut nwa = Nwa::new(names.letters.iter().map(String::as_str));
        names.shared(file, complaints, &mut nwa.initial, &mut nwa.finals);
        let three = "a transition of this block is `(p, a, q)`";
        for (from, letter, to) in names.steps(&file.internals, &SIMPLE, three, complaints) {
            nwa.internals.insert((state(from[0]), letter, state(to[0])));
        }
        for (from, letter, to) in names.steps(&file.calls, &SIMPLE, three, complaints) {
            nwa.calls.insert((state(from[0]), letter, state(to[0])));
        }
        let four = "a return is `(p, c, a, q)`, with the state `c` before its call";
        let shape = Shape { from: &[Part::State, Part::State], to: &[Part::State] };
        for (from, letter, to) in names.steps(&file.returns, &shape, four, complaints) {
            nwa.returns.insert((state(from[0]), state(from[1]), letter, state(to[0])));
        }
        nwa.states = names.states.names.iter().map(|&name| name.to_owned()).collect();
        nwa
    })
}

/// Reads a visibly pushdown automaton.
pub fn parse_vpa(text: &str) -> (Option<Vpa>, Vec<Diagnostic>) {
    read(text, true, |file, names, complaints| {
        let mut vpa = Vpa {
            letters: names.letters.iter().cloned().collect(),
            states: IdVec::new(),
            stack: IdVec::new(),
            initial: BTreeSet::new(),
            finals: BTreeSet::new(),
            internals: BTreeSet::new(),
            calls: BTreeSet::new(),
            returns: BTreeSet::new(),
        };
        names.shared(file, complaints, &mut vpa.initial, &mut vpa.finals);
        let three = "a transition of this block is `(p, a, q)`";
        for (from, letter, to) in names.steps(&file.internals, &SIMPLE, three, complaints) {
            vpa.internals.insert((state(from[0]), letter, state(to[0])));
        }
        let four = "a call of a visibly pushdown automaton is `(p, a, q, g)` and pushes `g`";
        let shape = Shape { from: &[Part::State], to: &[Part::State, Part::Stack] };
        for (from, letter, to) in names.steps(&file.calls, &shape, four, complaints) {
            let pushed = StackSymbol::from_index(to[1].expect("a push pushes something"));
            vpa.calls.insert((state(from[0]), letter, state(to[0]), pushed));
        }
        let four = "a return of a visibly pushdown automaton is `(p, g, a, q)` and pops `g`";
        let shape = Shape { from: &[Part::State, Part::StackOrEmpty], to: &[Part::State] };
        for (from, letter, to) in names.steps(&file.returns, &shape, four, complaints) {
            let popped = from[1].map(StackSymbol::from_index);
            vpa.returns.insert((state(from[0]), popped, letter, state(to[0])));
        }
        vpa.states = names.states.names.iter().map(|&name| name.to_owned()).collect();
        vpa.stack = names.stack.names.iter().map(|&name| name.to_owned()).collect();
        vpa
    })
}

fn state(index: Option<usize>) -> NwaState {
    NwaState::from_index(index.expect("a state stands in the place of a state"))
}

/// Reads a text and, if it has no mistake, makes something of it.
fn read<'a, T>(
    text: &'a str,
    is_vpa: bool,
    make: impl FnOnce(&File<'a>, &mut Names<'a>, &mut Complaints) -> T,
) -> (Option<T>, Vec<Diagnostic>) {
    if u32::try_from(text.len()).is_err() {
        let message = "the text has 4 GiB or more";
        return (None, vec![Diagnostic::global("file-too-large", Severity::Error, message)]);
    }
    let mut complaints = Complaints::new();
    let file = parse(text, &mut complaints);
    if file.is_vpa != is_vpa && !complaints.has_errors() {
        let (found, help) = if file.is_vpa {
            (
                "a visibly pushdown automaton",
                "`selvedge nwa from-vpa` makes a nested-word automaton of it",
            )
        } else {
            ("a nested-word automaton", "a visibly pushdown automaton begins with `vpa`")
        };
        let message = format!("this is {found}");
        let complaint = Diagnostic::error("other-automaton", message, Span::new(0, 0), "here");
        complaints.push(complaint.with_help(help));
    }
    let mut names = Names::of(&file);
    let made = make(&file, &mut names, &mut complaints);
    let made = (!complaints.has_errors()).then_some(made);
    (made, complaints.finish())
}

/// What stands at a place of a tuple beside the symbol.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    State,
    Stack,
    StackOrEmpty,
}

/// The parts of a tuple before and behind the symbol.
struct Shape {
    from: &'static [Part],
    to: &'static [Part],
}

const SIMPLE: Shape = Shape { from: &[Part::State], to: &[Part::State] };

/// Names in the order of their first use, unless a block lists them.
#[derive(Default)]
struct List<'a> {
    names: Vec<&'a str>,
    ids: BTreeMap<&'a str, usize>,
    is_closed: bool,
}

impl<'a> List<'a> {
    fn add(&mut self, name: &'a str) -> usize {
        let next = self.names.len();
        *self.ids.entry(name).or_insert_with(|| {
            self.names.push(name);
            next
        })
    }

    /// The number of a name; a complaint if the list is closed and does not have it.
    fn get(
        &mut self,
        name: Name<'a>,
        (what, block): (&str, &str),
        complaints: &mut Complaints,
    ) -> usize {
        if self.is_closed && !self.ids.contains_key(name.text) {
            let message = format!("{} is no {what} of `{block}`", quote(name.text));
            let error = Diagnostic::error("undefined", message, name.span, "not in the list");
            let near = nearest(name.text, self.names.iter().copied());
            complaints.push(match near {
                Some(near) => error.with_help(format!("did you mean `{near}`?")),
                None => error.with_help(format!("add it to `{block}:`, or leave that block out")),
            });
        }
        self.add(name.text)
    }
}

/// What a symbol leads to.
type Targets = BTreeSet<Vec<Option<usize>>>;

/// A transition with its parts as numbers; `None` is the empty stack.
type Step = (Vec<Option<usize>>, Letter, Vec<Option<usize>>);

struct Names<'a> {
    states: List<'a>,
    stack: List<'a>,
    symbols: List<'a>,
    /// The symbols, sorted.
    letters: Vec<String>,
}

impl<'a> Names<'a> {
    fn of(file: &File<'a>) -> Self {
        let mut names = Self {
            states: List::default(),
            stack: List::default(),
            symbols: List::default(),
            letters: Vec::new(),
        };
        for (list, block) in
            [(&mut names.states, &file.states), (&mut names.symbols, &file.symbols)]
        {
            list.is_closed = block.is_some();
            for name in block.iter().flatten() {
                list.add(name.text);
            }
        }
        let mut letters: BTreeSet<&str> = names.symbols.names.iter().copied().collect();
        if !names.symbols.is_closed {
            let at = |tuples: &[Tuple<'a>], at: usize| -> Vec<&'a str> {
                let named = tuples.iter().filter_map(|tuple| tuple.names.get(at));
                named.filter(|name| !name.is_any()).map(|name| name.text).collect()
            };
            letters.extend(at(&file.internals, 1));
            letters.extend(at(&file.calls, 1));
            letters.extend(at(&file.returns, 2));
        }
        names.letters = letters.into_iter().map(str::to_owned).collect();
        names
    }

    /// Initial and final states.
    fn shared(
        &mut self,
        file: &File<'a>,
        complaints: &mut Complaints,
        initial: &mut BTreeSet<NwaState>,
        finals: &mut BTreeSet<NwaState>,
    ) {
        for (names, set) in [(&file.initial, &mut *initial), (&file.finals, finals)] {
            for &name in names {
                let state = self.states.get(name, ("state", "Q"), complaints);
                set.insert(NwaState::from_index(state));
            }
        }
        if initial.is_empty() && !complaints.has_errors() {
            let message = "there is no initial state, so no word is accepted";
            let warning = Diagnostic::global("no-initial-state", Severity::Warning, message);
            complaints.push(warning.with_help("`Q0: s` makes `s` an initial state"));
        }
    }

    fn part(&mut self, name: Name<'a>, part: Part, complaints: &mut Complaints) -> Option<usize> {
        if name.is_any() {
            let message = "`*` stands for symbols only";
            let error = Diagnostic::error("wildcard", message, name.span, "no symbol stands here");
            complaints.push(error.with_help("a state that is called `*` is written in quotes"));
            return Some(0);
        }
        match part {
            Part::State => Some(self.states.get(name, ("state", "Q"), complaints)),
            Part::StackOrEmpty if name.is_none() => None,
            Part::Stack | Part::StackOrEmpty => Some(self.stack.add(name.text)),
        }
    }

    /// The transitions of a block, `*` written out.
    fn steps(
        &mut self,
        tuples: &[Tuple<'a>],
        shape: &Shape,
        form: &str,
        complaints: &mut Complaints,
    ) -> Vec<Step> {
        let arity = shape.from.len() + 1 + shape.to.len();
        // What each symbol leads to, by the parts before it; `None` is `*`.
        let mut own: BTreeMap<Vec<Option<usize>>, BTreeMap<Option<Letter>, Targets>> =
            BTreeMap::new();
        for tuple in tuples {
            if tuple.names.len() != arity {
                let message = format!("this transition has {} names", tuple.names.len());
                let error = Diagnostic::error(
                    "wrong-arity",
                    message,
                    tuple.span,
                    format!("{arity} are needed"),
                );
                complaints.push(error.with_help(form));
                continue;
            }
            let (from, rest) = tuple.names.split_at(shape.from.len());
            let (symbol, to) = (rest[0], &rest[1..]);
            let read = |names: &mut Self, all: &[Name<'a>], parts: &[Part], complaints: &mut _| {
                let pairs = all.iter().zip(parts);
                pairs.map(|(&name, &part)| names.part(name, part, complaints)).collect::<Vec<_>>()
            };
            let from = read(self, from, shape.from, complaints);
            if !symbol.is_quoted && matches!(symbol.text, "epsilon" | "Epsilon" | "ε") {
                let message = "steps without a symbol are not part of this form";
                let error = Diagnostic::error("epsilon", message, symbol.span, "reads nothing");
                complaints.push(error.with_help(
                    "write out the transitions behind it; a symbol of this name is written in quotes",
                ));
                continue;
            }
            let letter = if symbol.is_any() {
                None
            } else {
                if self.symbols.is_closed {
                    self.symbols.get(symbol, ("symbol", "Sigma"), complaints);
                }
                let found = self.letters.binary_search_by(|known| known.as_str().cmp(symbol.text));
                found.ok().map(Letter::from_index)
            };
            let targets = own.entry(from).or_default().entry(letter).or_default();
            if !to[0].is_none() {
                let to = read(self, to, shape.to, complaints);
                targets.insert(to);
            }
        }
        let all = (0..=self.letters.len()).map(Letter::from_index);
        let mut steps = Vec::new();
        for (from, by_letter) in own {
            let any = by_letter.get(&None);
            for letter in all.clone() {
                let targets = by_letter.get(&Some(letter)).or(any).into_iter().flatten();
                steps.extend(targets.map(|to| (from.clone(), letter, to.clone())));
            }
        }
        steps
    }
}
