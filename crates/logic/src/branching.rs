//! # Idea
//! Formulas that branch: what some next step or every next step leads to, by the operators of
//! computation tree logic, or by least and greatest fixpoints. They are read into positive normal form
//! at once: what stands under an odd number of negations is read as its opposite.
//!
//! ```text
//! AG EF T@idle                    // from everywhere T can get back to idle
//! A (!T@go U holds(T, l))         // T does not go before it holds l, which it will
//! nu Y . T@idle && EX EX Y        // idle at every second step of some run
//! ```
//!
//! # Grammar
//! ```text
//! formula = or [ "->" formula ]
//! or      = and { "||" and }
//! and     = unary { "&&" unary }
//! unary   = ( "!" | "EX" | "AX" | "EF" | "AF" | "EG" | "AG" ) unary
//!         | ( "E" | "A" ) "(" formula ( "U" | "W" | "R" ) formula ")"
//!         | ( "mu" | "nu" ) NAME "." formula | "(" formula ")" | atom | NAME
//! ```
//! Atoms are those of formulas about runs; a NAME alone is a variable.
//!
//! # Source
//! Paper 003 §9: the alternation-free mu-calculus.
//!
//! # Invariants
//! 1. A variable stands under an even number of negations, counted from its fixpoint.
//! 2. No fixpoint of one kind depends on the variable of one of the other kind.

use crate::parser::{Mistake, Parser, Read};
use crate::token::Kind;
use rustc_hash::FxHashMap;
use selvedge_base::{Diagnostic, Severity, Span};
use selvedge_pds::{MuFormula, MuNode};
use selvedge_program::{Program, Proposition};
use selvedge_syntax::complaints::Complaints;
use selvedge_syntax::nearest::nearest;
use selvedge_syntax::tokens::quote;

/// A formula that branches, with the atoms that it counts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BranchingFormula {
    /// The formula.
    pub formula: MuFormula,
    /// What its atoms are.
    pub atoms: Vec<Proposition>,
}

impl BranchingFormula {
    /// The formula that says the opposite; its parts have the numbers of their opposites.
    #[must_use]
    pub fn dual(&self) -> Self {
        Self { formula: self.formula.dual(), atoms: self.atoms.clone() }
    }

    /// The number of the whole formula.
    pub fn whole(&self) -> u32 {
        self.formula.nodes().len() as u32 - 1
    }
}

/// The words that begin a formula or stand between two.
const WORDS: [&str; 23] = [
    "EX", "AX", "EF", "AF", "EG", "AG", "E", "A", "mu", "nu", "U", "W", "R", "true", "false", "in",
    "holds", "unit", "next", "ended", "blocked", "end", "deadlock",
];

/// Reads a formula about the configurations of a program, or says what is wrong with it.
pub fn parse_branching(
    text: &str,
    program: &Program,
) -> (Option<BranchingFormula>, Vec<Diagnostic>) {
    let mut complaints = Complaints::new();
    if u32::try_from(text.len()).is_err() {
        let message = "the formula is too large: at most 4 GiB can be read";
        complaints.push(Diagnostic::global("file-too-large", Severity::Error, message));
        return (None, complaints.finish());
    }
    let parser = Parser::new(text, program, &mut complaints);
    let mut reader = Reader { parser, atoms: Vec::new(), bound: Vec::new(), variables: 0 };
    let read = reader.whole().ok();
    let read = read.filter(|_| !complaints.has_errors());
    (read, complaints.finish())
}

/// A formula as it is written.
enum Tree {
    Constant(bool),
    Atom(u32),
    Not(Box<Self>),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
    /// After some next step, or after every one.
    Next(bool, Box<Self>),
    /// `F`, on some run or on every one.
    Finally(bool, Box<Self>),
    Globally(bool, Box<Self>),
    Until(bool, Box<Self>, Box<Self>),
    WeakUntil(bool, Box<Self>, Box<Self>),
    Release(bool, Box<Self>, Box<Self>),
    /// The least fixpoint, or the greatest.
    Fixpoint {
        least: bool,
        variable: u32,
        body: Box<Self>,
    },
    Variable(u32, Span),
}

struct Reader<'a, 'c> {
    parser: Parser<'a, 'c>,
    atoms: Vec<Proposition>,
    /// The names of the fixpoints around this place, with the numbers of their variables.
    bound: Vec<(String, u32)>,
    variables: u32,
}

impl Reader<'_, '_> {
    fn whole(&mut self) -> Read<BranchingFormula> {
        let start = self.parser.cursor.current.span.start;
        let tree = self.formula()?;
        if !self.parser.cursor.at(Kind::End) {
            let found = self.parser.cursor.found();
            let message = format!("expected the end of the formula, found {found}");
            let help = "write `&&`, `||` or `->` between two formulas";
            self.parser.cursor.report_here("missing-sign", message, "behind the end", help);
            return Err(Mistake);
        }
        let all = Span::new(start, self.parser.cursor.previous().end);
        let mut formula = MuFormula::default();
        let mut polarity = FxHashMap::default();
        let mut turned = None;
        let mut writer = Writer {
            formula: &mut formula,
            polarity: &mut polarity,
            turned: &mut turned,
            variables: &mut self.variables,
        };
        writer.write(&tree, true);
        if let Some(span) = turned {
            let message = "a variable stands under an odd number of negations".to_owned();
            self.parser.cursor.complaints.push(
                Diagnostic::error("negated-variable", message, span, "negated here").with_help(
                    "negate the variable an even number of times between the fixpoint and its use",
                ),
            );
            return Err(Mistake);
        }
        if formula.alternates() {
            let message = "a least and a greatest fixpoint depend on each other".to_owned();
            self.parser.cursor.complaints.push(
                Diagnostic::error("alternating-fixpoints", message, all, "they alternate").with_help(
                    "use inside `mu` no variable of a `nu` around it, and inside `nu` none of a `mu`",
                ),
            );
            return Err(Mistake);
        }
        Ok(BranchingFormula { formula, atoms: std::mem::take(&mut self.atoms) })
    }

    fn formula(&mut self) -> Read<Tree> {
        self.deeper(|reader| {
            let left = reader.disjunction()?;
            if !reader.parser.cursor.eat(Kind::Arrow) {
                return Ok(left);
            }
            let right = reader.formula()?;
            Ok(Tree::Or(Box::new(Tree::Not(Box::new(left))), Box::new(right)))
        })
    }

    fn disjunction(&mut self) -> Read<Tree> {
        let mut left = self.conjunction()?;
        while self.parser.cursor.eat(Kind::Or) {
            left = Tree::Or(Box::new(left), Box::new(self.conjunction()?));
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Read<Tree> {
        let mut left = self.unary()?;
        while self.parser.cursor.eat(Kind::And) {
            left = Tree::And(Box::new(left), Box::new(self.unary()?));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Read<Tree> {
        self.deeper(|reader| {
            if reader.parser.cursor.eat(Kind::Not) {
                return Ok(Tree::Not(Box::new(reader.unary()?)));
            }
            let word = reader.parser.cursor.current.text;
            let operator: fn(bool, Box<Tree>) -> Tree = match word {
                _ if reader.parser.cursor.peek() == Kind::At => return reader.atom(),
                "EX" | "AX" => Tree::Next,
                "EF" | "AF" => Tree::Finally,
                "EG" | "AG" => Tree::Globally,
                "E" | "A" => return reader.along_a_path(word == "E"),
                "mu" | "nu" => return reader.fixpoint(word == "mu"),
                _ => return reader.atom(),
            };
            reader.parser.cursor.bump();
            Ok(operator(word.starts_with('E'), Box::new(reader.unary()?)))
        })
    }

    /// `E (f U g)` and the like.
    fn along_a_path(&mut self, some: bool) -> Read<Tree> {
        self.parser.cursor.bump();
        let behind = "behind `E` or `A`, as in `E (f U g)`";
        self.parser.expect(Kind::OpenParen, "(", behind)?;
        let left = Box::new(self.formula()?);
        let join: fn(bool, Box<Tree>, Box<Tree>) -> Tree = match self.parser.cursor.current.text {
            "U" => Tree::Until,
            "W" => Tree::WeakUntil,
            "R" => Tree::Release,
            _ => {
                let found = self.parser.cursor.found();
                let message = format!("expected `U`, `W` or `R`, found {found}");
                let help =
                    "a path is `E (f U g)`; one operator alone is written `EF f`, `EG f`, `EX f`";
                self.parser.cursor.report_here(
                    "missing-sign",
                    message,
                    "an operator is missing",
                    help,
                );
                return Err(Mistake);
            }
        };
        self.parser.cursor.bump();
        let right = Box::new(self.formula()?);
        self.parser.expect(Kind::CloseParen, ")", "behind a formula")?;
        Ok(join(some, left, right))
    }

    fn fixpoint(&mut self, least: bool) -> Read<Tree> {
        self.parser.cursor.bump();
        let span = self.parser.cursor.current.span;
        let name = self.parser.name("a variable")?.to_owned();
        if WORDS.contains(&name.as_str()) {
            let message = format!("`{name}` means something else and cannot be a variable");
            self.parser.cursor.complaints.push(
                Diagnostic::error("reserved-name", message, span, "reserved")
                    .with_help("choose another name"),
            );
        }
        self.parser.expect(Kind::Dot, ".", "behind the variable of a fixpoint")?;
        let variable = self.variables;
        self.variables += 1;
        self.bound.push((name, variable));
        let body = self.formula();
        self.bound.pop();
        Ok(Tree::Fixpoint { least, variable, body: Box::new(body?) })
    }

    fn atom(&mut self) -> Read<Tree> {
        let token = self.parser.cursor.current;
        if self.parser.cursor.eat(Kind::OpenParen) {
            let inner = self.formula()?;
            self.parser.expect(Kind::CloseParen, ")", "behind a formula")?;
            return Ok(inner);
        }
        let alone = token.kind == Kind::Name
            && !matches!(self.parser.cursor.peek(), Kind::At | Kind::OpenBracket)
            && !WORDS.contains(&token.text);
        if alone {
            return self.variable(token.text, token.span);
        }
        Ok(match self.parser.proposition()? {
            Err(value) => Tree::Constant(value),
            Ok(atom) => {
                let known = self.atoms.iter().position(|one| *one == atom);
                let number = known.unwrap_or(self.atoms.len());
                if known.is_none() {
                    self.atoms.push(atom);
                }
                Tree::Atom(number as u32)
            }
        })
    }

    fn variable(&mut self, name: &str, span: Span) -> Read<Tree> {
        if let Some((_, number)) = self.bound.iter().rev().find(|(bound, _)| bound == name) {
            let number = *number;
            self.parser.cursor.bump();
            return Ok(Tree::Variable(number, span));
        }
        let message = format!("there is no variable {}", quote(name));
        let bound = self.bound.iter().map(|(name, _)| name.as_str()).chain(WORDS);
        let help = match nearest(name, bound) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if self.parser.names.is_thread(name) => {
                format!("say where {name} is to be, as `{name}@label`")
            }
            None => format!("`mu {name} . formula` or `nu {name} . formula` around it binds one"),
        };
        self.parser.cursor.report_here("unknown-formula", message, "not bound", &help);
        Err(Mistake)
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.parser.enter()?;
        let result = read(self);
        self.parser.leave();
        result
    }
}

/// Writes a formula in positive normal form.
struct Writer<'a> {
    formula: &'a mut MuFormula,
    /// Whether the fixpoint of each variable is written as it is read.
    polarity: &'a mut FxHashMap<u32, bool>,
    /// A variable that is negated.
    turned: &'a mut Option<Span>,
    variables: &'a mut u32,
}

impl Writer<'_> {
    /// A part, or its opposite if it is not positive.
    fn write(&mut self, tree: &Tree, positive: bool) -> u32 {
        match tree {
            Tree::Constant(value) => self.formula.add(MuNode::Constant(*value == positive)),
            Tree::Atom(atom) => self.formula.add(MuNode::Atom { atom: *atom, positive }),
            Tree::Not(f) => self.write(f, !positive),
            Tree::And(f, g) => {
                let (f, g) = (self.write(f, positive), self.write(g, positive));
                self.both(f, g, positive)
            }
            Tree::Or(f, g) => {
                let (f, g) = (self.write(f, positive), self.write(g, positive));
                self.both(f, g, !positive)
            }
            Tree::Next(some, f) => {
                let f = self.write(f, positive);
                self.next(f, *some == positive)
            }
            // What comes in the end is least, what stays is greatest; opposites change places.
            Tree::Finally(some, f) => {
                let f = self.write(f, positive);
                self.again(*some == positive, positive, |writer, next| {
                    writer.both(f, next, !positive)
                })
            }
            Tree::Globally(some, f) => {
                let f = self.write(f, positive);
                self.again(*some == positive, !positive, |writer, next| {
                    writer.both(f, next, positive)
                })
            }
            Tree::Until(some, f, g) => {
                let (f, g) = (self.write(f, positive), self.write(g, positive));
                self.again(*some == positive, positive, |writer, next| {
                    let on = writer.both(f, next, positive);
                    writer.both(g, on, !positive)
                })
            }
            Tree::WeakUntil(some, f, g) => {
                let (f, g) = (self.write(f, positive), self.write(g, positive));
                self.again(*some == positive, !positive, |writer, next| {
                    let on = writer.both(f, next, positive);
                    writer.both(g, on, !positive)
                })
            }
            Tree::Release(some, f, g) => {
                let (f, g) = (self.write(f, positive), self.write(g, positive));
                self.again(*some == positive, !positive, |writer, next| {
                    let on = writer.both(f, next, !positive);
                    writer.both(g, on, positive)
                })
            }
            Tree::Fixpoint { least, variable, body } => {
                self.polarity.insert(*variable, positive);
                let body = self.write(body, positive);
                self.fixpoint(*least == positive, *variable, body)
            }
            Tree::Variable(variable, span) => {
                if self.polarity.get(variable) != Some(&positive) {
                    self.turned.get_or_insert(*span);
                }
                self.formula.add(MuNode::Variable(*variable))
            }
        }
    }

    fn both(&mut self, f: u32, g: u32, and: bool) -> u32 {
        self.formula.add(if and { MuNode::And(f, g) } else { MuNode::Or(f, g) })
    }

    fn next(&mut self, f: u32, some: bool) -> u32 {
        self.formula.add(if some { MuNode::Some(f) } else { MuNode::Every(f) })
    }

    fn fixpoint(&mut self, least: bool, variable: u32, body: u32) -> u32 {
        self.formula.add(if least {
            MuNode::Least { variable, body }
        } else {
            MuNode::Greatest { variable, body }
        })
    }

    /// A fixpoint whose body is made of itself after the next step.
    fn again(&mut self, some: bool, least: bool, body: impl FnOnce(&mut Self, u32) -> u32) -> u32 {
        let variable = *self.variables;
        *self.variables += 1;
        let again = self.formula.add(MuNode::Variable(variable));
        let next = self.next(again, some);
        let body = body(self, next);
        self.fixpoint(least, variable, body)
    }
}
