//! # Idea
//! A formula with `F`, `X`, `GF`, *and* and *or* is a union of chains of moments. Whatever is to happen
//! infinitely often moves to the front: `GF` of a chain is one window for every part of the chain that
//! holds together by single steps. Two chains that are both to be true are shuffled, in every order that
//! keeps the order of each: `X f ∧ X g = X (f ∧ g)`, `X f ∧ F g = (g ∧ X f) ∨ X (f ∧ F g)` and
//! `F f ∧ F g = F (f ∧ F g) ∨ F (g ∧ F f)`. Combinations of atoms are not multiplied out, but for those
//! in which something is said of a step. A formula without `X` that is about one thread alone may stand
//! where an atom stands, whatever its operators are.
//!
//! # Source
//! Paper 003, Proposition 6, which has no case for `GF (f ∧ X g)` (ERRATA). Chains of lengths `k₁ … kₘ`
//! shuffle into up to `(k₁ + … + kₘ)! / (k₁! … kₘ!)` ones, so there is a limit.
//!
//! # Invariants
//! 1. No chain has a condition that is the constant false; no two are equal.
//! 2. The constant true stands at the end of a chain only behind a single step, and between two links
//!    only if one of them is a single step.

use crate::fragment::{About, own_thread};
use crate::normal::{NormalForm, NormalPart, PartId};
use selvedge_base::{Budget, StopReason};
use selvedge_program::{Chain, ChainLink, ChainWindow, Formula, Proposition, StepCondition};
use std::collections::BTreeSet;
use std::fmt;

/// Why a formula was not written as chains.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoChains {
    /// It has an operator that chains cannot say.
    Shape,
    /// There are more chains than this.
    TooMany(usize),
    /// The budget is used up.
    Stopped(StopReason),
}

impl fmt::Display for NoChains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape => f.write_str("the formula is no union of chains of moments"),
            Self::TooMany(most) => write!(f, "the formula is more than {most} chains of moments"),
            Self::Stopped(reason) => reason.fmt(f),
        }
    }
}

/// The chains whose union a formula is, at most so many.
///
/// # Errors
/// If it is no such union, if there are more, or if the budget is used up.
pub fn chains(formula: &Formula, most: usize, budget: &Budget) -> Result<Vec<Chain>, NoChains> {
    let mut form = NormalForm::new(formula);
    let yes = form.number(NormalPart::Constant(true));
    let whole = form.whole;
    let mut maker = Maker { form, yes, most, budget };
    let drafts = maker.drafts(whole)?;
    let drafts: BTreeSet<Draft> = drafts.into_iter().map(|draft| maker.tidy(draft)).collect();
    Ok(drafts.into_iter().map(|draft| maker.finish(draft)).collect())
}

/// A link of a draft; what is said of a step is a set.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Link {
    Any,
    /// The numbers of the atoms that say something of the step.
    One(BTreeSet<u32>),
}

/// Points and the links between them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Line {
    points: Vec<PartId>,
    links: Vec<Link>,
}

impl Line {
    fn point(at: PartId) -> Self {
        Self { points: vec![at], links: Vec::new() }
    }

    /// A point before the line.
    fn behind(mut self, first: PartId, link: Link) -> Self {
        self.points.insert(0, first);
        self.links.insert(0, link);
        self
    }

    /// The first link and what is behind it.
    fn rest(&self) -> Option<(&Link, Self)> {
        let link = self.links.first()?;
        Some((link, Self { points: self.points[1..].to_vec(), links: self.links[1..].to_vec() }))
    }
}

/// A chain over the parts of a normal form.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Draft {
    line: Line,
    /// Lines of single steps.
    windows: BTreeSet<Line>,
}

struct Maker<'b> {
    form: NormalForm,
    /// The constant true.
    yes: PartId,
    most: usize,
    budget: &'b Budget,
}

impl Maker<'_> {
    fn is(&self, part: PartId, value: bool) -> bool {
        self.form.parts[part] == NormalPart::Constant(value)
    }

    fn limit(&self, found: usize) -> Result<(), NoChains> {
        self.budget.check().map_err(NoChains::Stopped)?;
        if found > self.most { Err(NoChains::TooMany(self.most)) } else { Ok(()) }
    }

    /// The chains of a part.
    fn drafts(&mut self, part: PartId) -> Result<Vec<Draft>, NoChains> {
        let plain = |line| Draft { line, windows: BTreeSet::new() };
        if self.is(part, false) {
            return Ok(Vec::new());
        }
        if self.is_now(part) {
            return Ok(vec![plain(Line::point(part))]);
        }
        match self.form.parts[part] {
            NormalPart::Constant(_) => Ok(vec![plain(Line::point(part))]),
            // A step of which something is said.
            NormalPart::Literal(atom, true) => {
                let step = Link::One(BTreeSet::from([atom]));
                Ok(vec![plain(Line::point(self.yes).behind(self.yes, step))])
            }
            NormalPart::And(f, g) => {
                let (left, right) = (self.drafts(f)?, self.drafts(g)?);
                let mut found = Vec::new();
                for one in &left {
                    for other in &right {
                        let windows = &one.windows | &other.windows;
                        for line in self.shuffle(&one.line, &other.line)? {
                            found.push(Draft { line, windows: windows.clone() });
                        }
                        self.limit(found.len())?;
                    }
                }
                Ok(found)
            }
            NormalPart::Or(f, g) => {
                let mut found = self.drafts(f)?;
                found.extend(self.drafts(g)?);
                self.limit(found.len())?;
                Ok(found)
            }
            NormalPart::Next(f) => self.behind(f, &Link::One(BTreeSet::new())),
            NormalPart::Until(f, g) if self.is(f, true) => self.behind(g, &Link::Any),
            NormalPart::Release(f, g)
                if self.is(f, false)
                    && matches!(self.form.parts[g], NormalPart::Until(t, _) if self.is(t, true)) =>
            {
                let NormalPart::Until(_, h) = self.form.parts[g] else {
                    return Err(NoChains::Shape);
                };
                let again = self.drafts(h)?;
                Ok(again.into_iter().map(|draft| self.again(draft)).collect())
            }
            NormalPart::Until(..) | NormalPart::Release(..) if self.is_local(part) => {
                Ok(vec![plain(Line::point(part))])
            }
            NormalPart::Literal(_, false) | NormalPart::Until(..) | NormalPart::Release(..) => {
                Err(NoChains::Shape)
            }
        }
    }

    /// The chains of a part behind one link.
    fn behind(&mut self, part: PartId, link: &Link) -> Result<Vec<Draft>, NoChains> {
        let yes = self.yes;
        let behind = |Draft { line, windows }: Draft| Draft {
            line: line.behind(yes, link.clone()),
            windows,
        };
        Ok(self.drafts(part)?.into_iter().map(behind).collect())
    }

    /// That a chain begins infinitely often: each of its parts that hold together by single steps
    /// happens infinitely often.
    fn again(&self, draft: Draft) -> Draft {
        let Draft { line, mut windows } = draft;
        let mut window = Line::point(line.points[0]);
        for (link, &point) in line.links.iter().zip(&line.points[1..]) {
            match link {
                Link::Any => {
                    windows.insert(std::mem::replace(&mut window, Line::point(point)));
                }
                Link::One(_) => {
                    window.points.push(point);
                    window.links.push(link.clone());
                }
            }
        }
        windows.insert(window);
        Draft { line: Line::point(self.yes), windows }
    }

    /// All orders of two lines that begin at the same moment.
    fn shuffle(&mut self, a: &Line, b: &Line) -> Result<Vec<Line>, NoChains> {
        self.limit(0)?;
        let now = self.form.and(a.points[0], b.points[0]);
        if self.is(now, false) {
            return Ok(Vec::new());
        }
        let (Some((first, left)), Some((second, right))) = (a.rest(), b.rest()) else {
            let mut longer = if a.links.is_empty() { b.clone() } else { a.clone() };
            longer.points[0] = now;
            return Ok(vec![longer]);
        };
        let mut found = Vec::new();
        match (first, second) {
            (Link::One(one), Link::One(other)) => {
                let rest = self.shuffle(&left, &right)?;
                found.extend(rest.into_iter().map(|line| line.behind(now, Link::One(one | other))));
            }
            (Link::Any, Link::Any) => {
                let later = right.clone().behind(self.yes, Link::Any);
                let mut rest = self.shuffle(&left, &later)?;
                let later = left.behind(self.yes, Link::Any);
                rest.extend(self.shuffle(&later, &right)?);
                found.extend(rest.into_iter().map(|line| line.behind(now, Link::Any)));
            }
            (Link::One(_), Link::Any) => found.extend(self.step_or_later(now, a, b)?),
            (Link::Any, Link::One(_)) => found.extend(self.step_or_later(now, b, a)?),
        }
        self.limit(found.len())?;
        Ok(found)
    }

    /// All orders of a line that begins with a single step and one that begins with any number of them:
    /// none is done, or the single one.
    fn step_or_later(
        &mut self,
        now: PartId,
        single: &Line,
        any: &Line,
    ) -> Result<Vec<Line>, NoChains> {
        let (Some((link, behind)), Some((_, later))) = (single.rest(), any.rest()) else {
            return Ok(Vec::new());
        };
        let mut at_once = single.clone();
        at_once.points[0] = now;
        let mut found = self.shuffle(&at_once, &later)?;
        let waits = later.behind(self.yes, Link::Any);
        let rest = self.shuffle(&behind, &waits)?;
        found.extend(rest.into_iter().map(|line| line.behind(now, link.clone())));
        Ok(found)
    }

    /// Invariant 2, of a line and of windows, which may also begin later.
    fn tidy(&self, draft: Draft) -> Draft {
        let Draft { mut line, windows } = draft;
        let mut at = 1;
        while at < line.links.len() {
            let between = [&line.links[at - 1], &line.links[at]];
            if line.points[at] == self.yes && between.into_iter().all(|link| *link == Link::Any) {
                line.points.remove(at);
                line.links.remove(at);
            } else {
                at += 1;
            }
        }
        while line.links.last() == Some(&Link::Any) && line.points.last() == Some(&self.yes) {
            line.points.pop();
            line.links.pop();
        }
        let nothing = Link::One(BTreeSet::new());
        let windows = windows.into_iter().filter_map(|mut window| {
            while window.links.first() == Some(&nothing) && window.points[0] == self.yes {
                window.points.remove(0);
                window.links.remove(0);
            }
            while window.links.last() == Some(&nothing) && window.points.last() == Some(&self.yes) {
                window.points.pop();
                window.links.pop();
            }
            (window != Line::point(self.yes)).then_some(window)
        });
        Draft { windows: windows.collect(), line }
    }

    /// Whether a part is about one moment and not about its step.
    fn is_now(&self, part: PartId) -> bool {
        match self.form.parts[part] {
            NormalPart::Constant(_) => true,
            NormalPart::Literal(atom, _) => {
                !matches!(self.form.atoms[atom as usize], Proposition::Takes(..))
            }
            NormalPart::And(f, g) | NormalPart::Or(f, g) => self.is_now(f) && self.is_now(g),
            NormalPart::Next(_) | NormalPart::Until(..) | NormalPart::Release(..) => false,
        }
    }

    /// Whether a part is a local formula: without `X`, and all of its atoms about one thread.
    fn is_local(&self, part: PartId) -> bool {
        self.about(part) != About::More
    }

    fn about(&self, part: PartId) -> About {
        match self.form.parts[part] {
            NormalPart::Constant(_) => About::Nobody,
            NormalPart::Literal(atom, _) => own_thread(&self.form.atoms[atom as usize]),
            NormalPart::Next(_) => About::More,
            NormalPart::And(f, g)
            | NormalPart::Or(f, g)
            | NormalPart::Until(f, g)
            | NormalPart::Release(f, g) => self.about(f).and(self.about(g)),
        }
    }

    fn finish(&self, Draft { line, windows }: Draft) -> Chain {
        let points = |line: &Line| line.points.iter().map(|&at| self.condition(at)).collect();
        let windows = windows.iter().map(|window| ChainWindow {
            points: points(window),
            steps: window
                .links
                .iter()
                .map(|link| match link {
                    Link::Any => Vec::new(),
                    Link::One(atoms) => self.step(atoms),
                })
                .collect(),
        });
        let links = line.links.iter().map(|link| match link {
            Link::Any => ChainLink::Any,
            Link::One(atoms) => ChainLink::One(self.step(atoms)),
        });
        Chain { points: points(&line), links: links.collect(), windows: windows.collect() }
    }

    fn step(&self, atoms: &BTreeSet<u32>) -> StepCondition {
        let said = atoms.iter().filter_map(|&atom| match self.form.atoms[atom as usize] {
            Proposition::Takes(thread, deed) => Some((thread, deed)),
            _ => None,
        });
        said.collect()
    }

    /// A part about one moment, but for local formulas, as a formula.
    fn condition(&self, part: PartId) -> Formula {
        match self.form.parts[part] {
            NormalPart::Literal(atom, positive) => {
                let atom = Formula::Proposition(self.form.atoms[atom as usize].clone());
                if positive { atom } else { Formula::not(atom) }
            }
            NormalPart::And(f, g) => Formula::and(self.condition(f), self.condition(g)),
            NormalPart::Or(f, g) => Formula::or(self.condition(f), self.condition(g)),
            NormalPart::Constant(value) => Formula::Constant(value),
            NormalPart::Until(f, g) => Formula::until(self.condition(f), self.condition(g)),
            NormalPart::Release(f, g) => Formula::release(self.condition(f), self.condition(g)),
            NormalPart::Next(_) => unreachable!("a condition is about one moment"),
        }
    }
}
