//! # Idea
//! Fixpoints as the operators of computation tree logic that they were read from, so that a part of a
//! formula can be written as people write it ([`show_part`]), and what a run shows of a formula as a
//! formula about that run ([`linear`]).
//!
//! # Invariants
//! 1. A run along which a path of [`path_among`](selvedge_pds::path_among) leads satisfies [`linear`]:
//!    of what such a path does not follow it says what is so in the state where that begins.

use crate::branching::BranchingFormula;
use crate::show::proposition;
use selvedge_pds::{MuFormula, MuNode};
use selvedge_program::{Formula, Program};

/// How many parts a formula about a run may have; behind them it says nothing.
const LARGEST: u32 = 1000;

/// A fixpoint over next steps: `keep` holds until `stop` does, and if it is a least one that comes.
#[derive(Clone, Copy)]
struct Operator {
    /// Over some next step, or over every one.
    some: bool,
    least: bool,
    keep: Option<u32>,
    stop: Option<u32>,
    /// Whether `keep` holds where `stop` does, too.
    both: bool,
}

/// The operator that a fixpoint is, if it is one.
fn operator(formula: &MuFormula, part: u32) -> Option<Operator> {
    let node = |part: u32| formula.nodes()[part as usize];
    let (MuNode::Least { variable, body } | MuNode::Greatest { variable, body }) = node(part)
    else {
        return None;
    };
    let least = matches!(node(part), MuNode::Least { .. });
    let again = |part: u32| match node(part) {
        MuNode::Some(next) if node(next) == MuNode::Variable(variable) => Some(true),
        MuNode::Every(next) if node(next) == MuNode::Variable(variable) => Some(false),
        _ => None,
    };
    let (keep, stop, both, next) = match node(body) {
        MuNode::Or(stop, other) => match node(other) {
            MuNode::And(keep, next) => (Some(keep), Some(stop), false, next),
            _ => (None, Some(stop), false, other),
        },
        MuNode::And(keep, other) => match node(other) {
            MuNode::Or(stop, next) => (Some(keep), Some(stop), true, next),
            _ => (Some(keep), None, false, other),
        },
        _ => return None,
    };
    let some = again(next)?;
    let mut pending: Vec<u32> = keep.into_iter().chain(stop).collect();
    while let Some(part) = pending.pop() {
        if node(part) == MuNode::Variable(variable) {
            return None;
        }
        pending.extend(node(part).parts());
    }
    Some(Operator { some, least, keep, stop, both })
}

/// A part in which no variable stands free, as text.
pub fn show_part(formula: &BranchingFormula, part: u32, program: &Program) -> String {
    text(formula, part, program, 0)
}

/// A part, in parentheses if it stands inside something that binds more strongly.
fn text(formula: &BranchingFormula, part: u32, program: &Program, around: u8) -> String {
    let inner = |part: u32, around: u8| text(formula, part, program, around);
    let two = |sign: &str, strength: u8, f: u32, g: u32| {
        let text = format!("{} {sign} {}", inner(f, strength), inner(g, strength));
        if around > strength { format!("({text})") } else { text }
    };
    match formula.formula.nodes()[part as usize] {
        MuNode::Constant(value) => value.to_string(),
        MuNode::Atom { atom, positive } => {
            let text = proposition(&formula.atoms[atom as usize], program);
            if positive { text } else { format!("!{text}") }
        }
        MuNode::And(f, g) => two("&&", 2, f, g),
        MuNode::Or(f, g) => two("||", 1, f, g),
        MuNode::Some(f) => format!("EX {}", inner(f, 3)),
        MuNode::Every(f) => format!("AX {}", inner(f, 3)),
        MuNode::Variable(variable) => format!("Y{variable}"),
        MuNode::Least { variable, body } | MuNode::Greatest { variable, body } => {
            if let Some(operator) = operator(&formula.formula, part) {
                return operator_text(operator, &inner);
            }
            let least = matches!(formula.formula.nodes()[part as usize], MuNode::Least { .. });
            let word = if least { "mu" } else { "nu" };
            let text = format!("{word} Y{variable} . {}", inner(body, 0));
            if around > 0 { format!("({text})") } else { text }
        }
    }
}

/// A fixpoint as the operator that it is.
fn operator_text(operator: Operator, inner: &dyn Fn(u32, u8) -> String) -> String {
    let Operator { some, least, keep, stop, both } = operator;
    let paths = if some { "E" } else { "A" };
    let side = |part: Option<u32>, none: &str| part.map_or(none.to_owned(), |part| inner(part, 0));
    match (keep, stop) {
        (None, Some(stop)) if least => format!("{paths}F {}", inner(stop, 3)),
        (Some(keep), None) if !least => format!("{paths}G {}", inner(keep, 3)),
        (Some(keep), Some(stop)) if both && !least => {
            format!("{paths} ({} R {})", inner(stop, 0), inner(keep, 0))
        }
        (Some(keep), Some(stop)) if both => {
            let (kept, stops) = (inner(keep, 2), inner(stop, 2));
            format!("{paths} ({} U {kept} && {stops})", inner(keep, 0))
        }
        _ => {
            let word = if least { "U" } else { "W" };
            format!("{paths} ({} {word} {})", side(keep, "true"), side(stop, "false"))
        }
    }
}

/// What a path that shows a formula satisfies.
pub fn linear(formula: &BranchingFormula) -> Formula {
    let mut size = 0;
    Linear { formula, size: &mut size }.of(formula.whole())
}

struct Linear<'a> {
    formula: &'a BranchingFormula,
    size: &'a mut u32,
}

impl Linear<'_> {
    fn of(&mut self, part: u32) -> Formula {
        *self.size += 1;
        if *self.size > LARGEST {
            return Formula::Constant(true);
        }
        match self.formula.formula.nodes()[part as usize] {
            MuNode::Constant(value) => Formula::Constant(value),
            MuNode::Atom { atom, positive } => {
                let atom = Formula::Proposition(self.formula.atoms[atom as usize].clone());
                if positive { atom } else { Formula::not(atom) }
            }
            MuNode::Or(f, g) => {
                let (f, g) = (self.of(f), self.of(g));
                either(f, g)
            }
            MuNode::And(f, g) if self.looks_ahead(f) && self.looks_ahead(g) => self.now(part),
            MuNode::And(f, g) => both(self.of(f), self.of(g)),
            MuNode::Some(f) => match self.of(f) {
                TRUE => TRUE,
                f => Formula::next(f),
            },
            MuNode::Every(_) | MuNode::Variable(_) => TRUE,
            MuNode::Least { .. } | MuNode::Greatest { .. } => {
                match operator(&self.formula.formula, part) {
                    Some(operator) if operator.some => self.along(operator),
                    _ => self.now(part),
                }
            }
        }
    }

    /// What is so in a state in which a part holds, as far as that takes no step to see: of what holds on
    /// every path, or is not followed, a path shows that much.
    fn now(&mut self, part: u32) -> Formula {
        if !self.looks_ahead(part) {
            return self.of(part);
        }
        *self.size += 1;
        if *self.size > LARGEST {
            return TRUE;
        }
        match self.formula.formula.nodes()[part as usize] {
            MuNode::And(f, g) => both(self.now(f), self.now(g)),
            MuNode::Or(f, g) => either(self.now(f), self.now(g)),
            MuNode::Least { .. } | MuNode::Greatest { .. } => {
                let Some(operator) = operator(&self.formula.formula, part) else { return TRUE };
                let keep = operator.keep.map_or(TRUE, |keep| self.now(keep));
                // Where both hold at the end, what is kept holds now in any case.
                match operator.stop.filter(|_| !operator.both) {
                    Some(stop) if keep != TRUE => either(self.now(stop), keep),
                    _ => keep,
                }
            }
            _ => TRUE,
        }
    }

    /// What a path satisfies that shows such an operator.
    fn along(&mut self, Operator { least, keep, stop, both: also, .. }: Operator) -> Formula {
        // What is to stay true is not followed.
        let kept = |linear: &mut Self| match keep {
            Some(part) => linear.now(part),
            None => TRUE,
        };
        let keep = kept(self);
        let stop = match stop {
            Some(part) if also => both(self.of(part), kept(self)),
            Some(part) => self.of(part),
            None => Formula::Constant(false),
        };
        match (keep, stop) {
            (_, TRUE) => TRUE,
            (keep, stop) if least => Formula::until(keep, stop),
            (TRUE, _) => TRUE,
            (keep, Formula::Constant(false)) => Formula::globally(keep),
            (keep, stop) => {
                // `stop` stands in it twice.
                *self.size = self.size.saturating_add(size(&stop));
                if *self.size > LARGEST { TRUE } else { Formula::weak_until(keep, stop) }
            }
        }
    }

    /// Whether a part has steps in it.
    fn looks_ahead(&self, part: u32) -> bool {
        let mut pending = vec![part];
        while let Some(part) = pending.pop() {
            let node = self.formula.formula.nodes()[part as usize];
            if matches!(node, MuNode::Some(_) | MuNode::Every(_) | MuNode::Variable(_)) {
                return true;
            }
            pending.extend(node.parts());
        }
        false
    }
}

const TRUE: Formula = Formula::Constant(true);

/// How many parts a formula has.
fn size(formula: &Formula) -> u32 {
    1 + match formula {
        Formula::Constant(_) | Formula::Proposition(_) => 0,
        Formula::Not(f) | Formula::Next(f) => size(f),
        Formula::And(f, g) | Formula::Or(f, g) | Formula::Until(f, g) | Formula::Release(f, g) => {
            size(f) + size(g)
        }
    }
}

fn either(f: Formula, g: Formula) -> Formula {
    if f == TRUE || g == TRUE { TRUE } else { Formula::or(f, g) }
}

fn both(f: Formula, g: Formula) -> Formula {
    match (f, g) {
        (TRUE, other) | (other, TRUE) => other,
        (f, g) => Formula::and(f, g),
    }
}
