//! # Idea
//! Questions about nested-word automata and operations on them, from texts to texts.

use crate::load::{Text, TextComplaints};
use selvedge_base::{Budget, Diagnostic};
use selvedge_front_nwa::{dot, parse_nwa, parse_vpa, parse_word, print_nwa, print_vpa, print_word};
use selvedge_pds::nwa::emptiness::Shortest;
use selvedge_pds::nwa::product::Difference;
use selvedge_pds::nwa::{Nested, Nwa, NwaError};
use selvedge_report::describe::count;

pub use selvedge_pds::nwa::NwaLimits;

/// What to do with automata.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NwaOperation {
    /// The automaton as it was understood.
    Show,
    /// Is a nested word in the language?
    Accepts,
    /// Is the language empty?
    Empty,
    /// The words of both languages.
    Intersect,
    /// The words of either language.
    Union,
    /// The same language by a deterministic automaton.
    Determinize,
    /// All other nested words.
    Complement,
    /// Is the first language part of the second?
    Included,
    /// Are both languages the same?
    Equivalent,
    /// The same language by a visibly pushdown automaton.
    ToVpa,
    /// The language of a visibly pushdown automaton.
    FromVpa,
}

impl NwaOperation {
    /// All operations.
    pub const ALL: [Self; 11] = [
        Self::Show,
        Self::Accepts,
        Self::Empty,
        Self::Intersect,
        Self::Union,
        Self::Determinize,
        Self::Complement,
        Self::Included,
        Self::Equivalent,
        Self::ToVpa,
        Self::FromVpa,
    ];

    /// Its name, and what it does in a few words.
    pub fn described(self) -> (&'static str, &'static str) {
        match self {
            Self::Show => ("show", "The automaton as it was understood"),
            Self::Accepts => ("accepts", "Is the nested word of the second file in the language?"),
            Self::Empty => ("empty", "Is the language empty?"),
            Self::Intersect => ("intersect", "The words of both languages"),
            Self::Union => ("union", "The words of either language"),
            Self::Determinize => ("determinize", "The same language by a deterministic automaton"),
            Self::Complement => ("complement", "All other nested words"),
            Self::Included => ("included", "Is every word of the first language in the second?"),
            Self::Equivalent => ("equivalent", "Are both languages the same?"),
            Self::ToVpa => ("to-vpa", "The same language by a visibly pushdown automaton"),
            Self::FromVpa => ("from-vpa", "The language of a visibly pushdown automaton"),
        }
    }

    /// Whether it takes a second text: another automaton, or the word.
    pub fn takes_two(self) -> bool {
        matches!(
            self,
            Self::Accepts | Self::Intersect | Self::Union | Self::Included | Self::Equivalent
        )
    }

    /// Whether its result is an automaton that can be drawn.
    pub fn gives_nwa(self) -> bool {
        matches!(
            self,
            Self::Show
                | Self::Intersect
                | Self::Union
                | Self::Determinize
                | Self::Complement
                | Self::FromVpa
        )
    }
}

/// What came of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NwaOutcome {
    /// An automaton, as a text.
    Automaton(String),
    /// The answer is yes.
    Yes(String),
    /// The answer is no, and what shows it.
    No(String),
    /// A limit was met.
    Open(String),
}

/// Reads the texts and does it; `as_dot` draws the automaton that comes out. There is no outcome if a
/// complaint is an error.
///
/// # Panics
/// If the operation takes two texts and there is one.
pub fn operate<'a>(
    operation: NwaOperation,
    first: &'a Text,
    second: Option<&'a Text>,
    as_dot: bool,
    limits: &NwaLimits,
    budget: &Budget,
) -> (Option<NwaOutcome>, TextComplaints<'a>) {
    let mut reader = Reader { complaints: Vec::new() };
    let second = || second.expect("an operation on two texts has two");
    let outcome = match operation {
        NwaOperation::FromVpa => reader
            .read(first, parse_vpa(&first.text))
            .map(|vpa| Ok(NwaOutcome::Automaton(write(&vpa.to_nwa(), as_dot)))),
        NwaOperation::Accepts => reader.nwa(first).and_then(|nwa| {
            let word = second();
            let word = reader.read(word, parse_word(&word.text, &nwa))?;
            Some(Ok(accepts(&nwa, &word)))
        }),
        _ if operation.takes_two() => {
            let one = reader.nwa(first);
            let two = reader.nwa(second());
            one.zip(two).map(|(one, two)| binary(operation, &one, &two, as_dot, limits, budget))
        }
        _ => reader.nwa(first).map(|nwa| unary(operation, &nwa, as_dot, limits, budget)),
    };
    let outcome = outcome.map(|done| {
        done.unwrap_or_else(|error| match error {
            NwaError::Word(_) => NwaOutcome::No(format!("no: {error}, too many to show\n")),
            NwaError::States(_) | NwaError::Stopped(_) => {
                NwaOutcome::Open(format!("unknown: {error}\n"))
            }
        })
    });
    (outcome, reader.complaints)
}

struct Reader<'a> {
    complaints: TextComplaints<'a>,
}

impl<'a> Reader<'a> {
    fn read<T>(&mut self, text: &'a Text, read: (Option<T>, Vec<Diagnostic>)) -> Option<T> {
        let (made, diagnostics) = read;
        if !diagnostics.is_empty() {
            self.complaints.push((text.source(), diagnostics));
        }
        made
    }

    fn nwa(&mut self, text: &'a Text) -> Option<Nwa> {
        self.read(text, parse_nwa(&text.text))
    }
}

fn write(nwa: &Nwa, as_dot: bool) -> String {
    if as_dot {
        return dot(nwa);
    }
    let states = count(nwa.states.len(), "state");
    let transitions = count(nwa.transitions(), "transition");
    format!("# {states}, {transitions}\n{}", print_nwa(nwa))
}

fn accepts(nwa: &Nwa, word: &[Nested]) -> NwaOutcome {
    if nwa.accepts(word) {
        NwaOutcome::Yes("yes: the word is accepted\n".to_owned())
    } else if nwa.can_read(word) {
        NwaOutcome::No(
            "no: the word is read, and no run over it ends in a final state\n".to_owned(),
        )
    } else {
        let longest = (0..word.len()).rev().find(|&end| nwa.can_read(&word[..end])).unwrap_or(0);
        let at = print_word(&word[longest..=longest], nwa);
        NwaOutcome::No(format!("no: position {} cannot be read: {at}\n", longest + 1))
    }
}

fn unary(
    operation: NwaOperation,
    nwa: &Nwa,
    as_dot: bool,
    limits: &NwaLimits,
    budget: &Budget,
) -> Result<NwaOutcome, NwaError> {
    let automaton = |nwa: &Nwa| NwaOutcome::Automaton(write(nwa, as_dot));
    Ok(match operation {
        NwaOperation::Empty => match nwa.shortest(limits, budget)? {
            Shortest::Empty => NwaOutcome::Yes("yes: no word is accepted\n".to_owned()),
            Shortest::Word(word) => NwaOutcome::No(format!(
                "no: a shortest word has {}\n{}\n",
                count(word.len(), "symbol"),
                print_word(&word, nwa)
            )),
        },
        NwaOperation::Determinize => automaton(&nwa.determinize(limits, budget)?),
        NwaOperation::Complement => automaton(&nwa.complement(limits, budget)?),
        NwaOperation::ToVpa => NwaOutcome::Automaton(print_vpa(&nwa.to_vpa())),
        _ => automaton(nwa),
    })
}

fn binary(
    operation: NwaOperation,
    one: &Nwa,
    two: &Nwa,
    as_dot: bool,
    limits: &NwaLimits,
    budget: &Budget,
) -> Result<NwaOutcome, NwaError> {
    let shown = |difference: &Difference, which: &str| {
        let word = print_word(&difference.word, &difference.letters);
        let length = count(difference.word.len(), "symbol");
        NwaOutcome::No(format!("no: a word of {length} is in the {which} language only\n{word}\n"))
    };
    Ok(match operation {
        NwaOperation::Union => NwaOutcome::Automaton(write(&one.union(two), as_dot)),
        NwaOperation::Intersect => {
            NwaOutcome::Automaton(write(&one.intersect(two, limits, budget)?, as_dot))
        }
        NwaOperation::Included => match one.difference(two, limits, budget)? {
            None => NwaOutcome::Yes("yes: every word of the first is in the second\n".to_owned()),
            Some(difference) => shown(&difference, "first"),
        },
        _ => match one.distinguish(two, limits, budget)? {
            None => NwaOutcome::Yes("yes: both accept the same words\n".to_owned()),
            Some(difference) => {
                shown(&difference, if difference.in_first { "first" } else { "second" })
            }
        },
    })
}
