//! # Idea
//! Which questions about threads with recursion and nested locks can be decided depends on the shape of
//! the formula. Here is the shape.
//!
//! # Source
//! Paper 003 §3 names fragments by their operators, L(F, X, F∞) and so on; ERRATA says which of its
//! theorems hold. What is said of a formula holds of `E` in front of it.

use crate::normal::{NormalForm, NormalPart, PartId};
use selvedge_program::{Formula, Proposition, ThreadId};

/// The shape of a formula.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Fragment {
    /// `F`, `X`, `GF`, and, or over combinations of atoms and over local formulas: those without `X`
    /// whose atoms are all about one thread.
    Chains,
    /// `X`, `G`, `W`, `R`: a run that fails it does so within some number of steps.
    Safety,
    /// `X`, `F`, `U`: a run that satisfies it does so within some number of steps.
    CoSafety,
    /// Anything else.
    General,
}

impl Fragment {
    /// The word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Chains => "chains",
            Self::Safety => "safety",
            Self::CoSafety => "co-safety",
            Self::General => "general",
        }
    }

    /// What is known of the question whether some run satisfies such a formula.
    pub fn theorem(self) -> &'static str {
        match self {
            Self::Chains => {
                "decidable for threads with recursion and nested locks: the formula is a union of chains of \
                 moments"
            }
            Self::Safety => {
                "undecidable for two recursive threads (003, Theorem 10 fails); that no run satisfies it can \
                 be found out, that some run does cannot always"
            }
            Self::CoSafety => {
                "undecidable for two recursive threads (003, Theorem 13); that some run satisfies it can be \
                 found out, that none does cannot always"
            }
            Self::General => "undecidable for two recursive threads (003, Theorem 12)",
        }
    }
}

/// The shape of a formula.
pub fn fragment(formula: &Formula) -> Fragment {
    let form = NormalForm::new(formula);
    let shapes = Shapes::new(&form);
    let uses = |wanted: fn(&NormalPart) -> bool| {
        shapes.reachable(form.whole).any(|part| wanted(&form.parts[part]))
    };
    if shapes.chains[form.whole] {
        Fragment::Chains
    } else if !uses(|part| matches!(part, NormalPart::Until(..))) {
        Fragment::Safety
    } else if !uses(|part| matches!(part, NormalPart::Release(..))) {
        Fragment::CoSafety
    } else {
        Fragment::General
    }
}

/// What is known of the parts of a formula.
struct Shapes<'f> {
    form: &'f NormalForm,
    /// Whether it is a union of chains.
    chains: selvedge_base::IdVec<PartId, bool>,
}

/// The one thread that all atoms of a part are about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum About {
    Nobody,
    One(ThreadId),
    /// Several threads, or something that `X` can see.
    More,
}

impl About {
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nobody, one) | (one, Self::Nobody) => one,
            (one, two) if one == two => one,
            _ => Self::More,
        }
    }
}

impl<'f> Shapes<'f> {
    fn new(form: &'f NormalForm) -> Self {
        let parts = form.parts.len();
        let mut about = selvedge_base::IdVec::filled(About::Nobody, parts);
        let mut now = selvedge_base::IdVec::filled(false, parts);
        let mut chains = selvedge_base::IdVec::filled(false, parts);
        for (id, &part) in form.parts.iter_enumerated() {
            let is_true = |id: PartId| form.parts[id] == NormalPart::Constant(true);
            let is_false = |id: PartId| form.parts[id] == NormalPart::Constant(false);
            about[id] = match part {
                NormalPart::Constant(_) => About::Nobody,
                NormalPart::Literal(atom, _) => own_thread(&form.atoms[atom as usize]),
                NormalPart::Next(_) => About::More,
                NormalPart::And(f, g)
                | NormalPart::Or(f, g)
                | NormalPart::Until(f, g)
                | NormalPart::Release(f, g) => about[f].and(about[g]),
            };
            now[id] = match part {
                NormalPart::Constant(_) => true,
                // That a step is not some thread's is no link of a chain.
                NormalPart::Literal(atom, positive) => {
                    positive || !matches!(form.atoms[atom as usize], Proposition::Takes(..))
                }
                NormalPart::And(f, g) | NormalPart::Or(f, g) => now[f] && now[g],
                NormalPart::Next(_) | NormalPart::Until(..) | NormalPart::Release(..) => false,
            };
            let local = about[id] != About::More;
            chains[id] = local
                || now[id]
                || match part {
                    NormalPart::And(f, g) | NormalPart::Or(f, g) => chains[f] && chains[g],
                    NormalPart::Next(f) => chains[f],
                    NormalPart::Until(f, g) => is_true(f) && chains[g],
                    NormalPart::Release(f, g) => {
                        is_false(f)
                            && matches!(form.parts[g], NormalPart::Until(t, h) if is_true(t) && chains[h])
                    }
                    NormalPart::Constant(_) | NormalPart::Literal(..) => false,
                };
        }
        Self { form, chains }
    }

    /// The parts of a part.
    fn reachable(&self, whole: PartId) -> impl Iterator<Item = PartId> {
        let mut seen = vec![whole];
        let mut at = 0;
        while at < seen.len() {
            let below = match self.form.parts[seen[at]] {
                NormalPart::Constant(_) | NormalPart::Literal(..) => Vec::new(),
                NormalPart::Next(f) => vec![f],
                NormalPart::And(f, g)
                | NormalPart::Or(f, g)
                | NormalPart::Until(f, g)
                | NormalPart::Release(f, g) => {
                    vec![f, g]
                }
            };
            for part in below {
                if !seen.contains(&part) {
                    seen.push(part);
                }
            }
            at += 1;
        }
        seen.into_iter()
    }
}

/// The thread whose own steps alone change an atom.
pub(crate) fn own_thread(atom: &Proposition) -> About {
    match atom {
        Proposition::At(thread, _)
        | Proposition::In(thread, _)
        | Proposition::Holds(thread, _)
        | Proposition::Unit(thread)
        | Proposition::About(thread, _)
        | Proposition::Ended(thread) => About::One(*thread),
        Proposition::Blocked(_)
        | Proposition::End
        | Proposition::Deadlock
        | Proposition::Condition(_)
        | Proposition::Takes(..) => About::More,
    }
}
