//! # Idea
//! A formula in positive normal form: negations stand before atoms only. Equal parts are one node, so
//! that sets of parts are sets of numbers, and constants are gone from within.
//!
//! # Source
//! Paper 003 §3 (with `¬F f ≡ G ¬f`, which ERRATA corrects).

use rustc_hash::FxHashMap;
use selvedge_base::{IdVec, define_id};
use selvedge_program::{Formula, Proposition};

define_id!(
    /// A part of a formula.
    PartId
);

/// A part of a formula in positive normal form.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NormalPart {
    /// True, or false.
    Constant(bool),
    /// An atom, by its number, that is true, or false.
    Literal(u32, bool),
    /// Both.
    And(PartId, PartId),
    /// At least one.
    Or(PartId, PartId),
    /// At the next moment.
    Next(PartId),
    /// The first until the second, which comes.
    Until(PartId, PartId),
    /// The second until the first releases it.
    Release(PartId, PartId),
}

/// A formula in positive normal form.
#[derive(Clone, Debug)]
pub struct NormalForm {
    /// The atoms.
    pub atoms: Vec<Proposition>,
    /// The parts, each behind its own parts.
    pub parts: IdVec<PartId, NormalPart>,
    /// The whole formula.
    pub whole: PartId,
    numbers: FxHashMap<NormalPart, PartId>,
}

impl NormalForm {
    /// Brings a formula into positive normal form.
    pub fn new(formula: &Formula) -> Self {
        let mut form = Self {
            atoms: formula.propositions().into_iter().cloned().collect(),
            parts: IdVec::new(),
            whole: selvedge_base::Id::from_index(0),
            numbers: FxHashMap::default(),
        };
        form.whole = form.add(formula, true);
        form
    }

    /// The part of a formula, or of its negation.
    fn add(&mut self, formula: &Formula, positive: bool) -> PartId {
        match formula {
            Formula::Constant(value) => self.number(NormalPart::Constant(*value == positive)),
            Formula::Proposition(atom) => {
                let number = self.atoms.iter().position(|one| one == atom).unwrap_or_default();
                self.number(NormalPart::Literal(number as u32, positive))
            }
            Formula::Not(f) => self.add(f, !positive),
            Formula::And(f, g) | Formula::Or(f, g) => {
                let (f, g) = (self.add(f, positive), self.add(g, positive));
                if matches!(formula, Formula::And(..)) == positive {
                    self.and(f, g)
                } else {
                    self.or(f, g)
                }
            }
            Formula::Next(f) => {
                let f = self.add(f, positive);
                match self.parts[f] {
                    NormalPart::Constant(_) => f,
                    _ => self.number(NormalPart::Next(f)),
                }
            }
            Formula::Until(f, g) | Formula::Release(f, g) => {
                let (f, g) = (self.add(f, positive), self.add(g, positive));
                let until = matches!(formula, Formula::Until(..)) == positive;
                match (self.parts[f], self.parts[g]) {
                    (_, NormalPart::Constant(_)) => g,
                    // Nothing can come before, so it is now.
                    (NormalPart::Constant(false), _) if until => g,
                    (NormalPart::Constant(true), _) if !until => g,
                    _ if f == g => g,
                    (_, NormalPart::Until(f2, _)) if until && (f2 == f) => g,
                    (_, NormalPart::Release(f2, _)) if !until && (f2 == f) => g,
                    _ if until => self.number(NormalPart::Until(f, g)),
                    _ => self.number(NormalPart::Release(f, g)),
                }
            }
        }
    }

    /// Both parts.
    pub(crate) fn and(&mut self, f: PartId, g: PartId) -> PartId {
        match (self.parts[f], self.parts[g]) {
            (NormalPart::Constant(true), _) | (_, NormalPart::Constant(false)) => g,
            (_, NormalPart::Constant(true)) | (NormalPart::Constant(false), _) => f,
            (NormalPart::Literal(one, yes), NormalPart::Literal(two, no))
                if one == two && yes != no =>
            {
                self.number(NormalPart::Constant(false))
            }
            _ if f == g => f,
            _ => self.number(NormalPart::And(f.min(g), f.max(g))),
        }
    }

    fn or(&mut self, f: PartId, g: PartId) -> PartId {
        match (self.parts[f], self.parts[g]) {
            (NormalPart::Constant(false), _) | (_, NormalPart::Constant(true)) => g,
            (_, NormalPart::Constant(false)) | (NormalPart::Constant(true), _) => f,
            (NormalPart::Literal(one, yes), NormalPart::Literal(two, no))
                if one == two && yes != no =>
            {
                self.number(NormalPart::Constant(true))
            }
            _ if f == g => f,
            _ => self.number(NormalPart::Or(f.min(g), f.max(g))),
        }
    }

    /// The number of a part.
    pub(crate) fn number(&mut self, part: NormalPart) -> PartId {
        if let Some(&number) = self.numbers.get(&part) {
            return number;
        }
        let number = self.parts.push(part);
        self.numbers.insert(part, number);
        number
    }
}
