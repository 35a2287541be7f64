//! # Idea
//! A chain says what is true at some moments of a run; a run is infinite or ends. So a chain becomes a few
//! *queries*, one of which must have a run: points with links between them, and what comes behind the last
//! point. Where nothing but the points is asked for, whatever comes then is as good as anything else: some
//! maximal run begins with the steps up to the last point. Where something is to happen again and again, where
//! a local formula looks ahead, or where runs must be fair, the run ends where nobody can move, or it is infinite.
//!
//! Where nobody can move, the run repeats its last configuration, so from some point on all points may be
//! one moment, at which nobody can move, if no link among them says whose step it is.
//!
//! # Source
//! Paper 003 §5, with runs that end (ERRATA).

use selvedge_program::{Chain, ChainLink, ChainWindow, Deed, Formula, Proposition, ThreadId};

/// What comes behind the last point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum After {
    /// Whatever can.
    Anything,
    /// Nobody can move at the last point.
    Nothing,
    /// Infinitely many steps, and each of these infinitely often.
    Rounds(Vec<ChainWindow>),
}

/// Points, the links between them, and what follows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ChainQuery {
    /// What is true at each point, the first of which is the beginning of the run.
    pub points: Vec<Formula>,
    /// One fewer.
    pub links: Vec<ChainLink>,
    /// What comes behind the last point.
    pub after: After,
}

impl ChainQuery {
    /// All conditions.
    pub fn conditions(&self) -> impl Iterator<Item = &Formula> {
        let windows = match &self.after {
            After::Rounds(windows) => &windows[..],
            After::Anything | After::Nothing => &[],
        };
        self.points.iter().chain(windows.iter().flat_map(|window| &window.points))
    }

    /// The links of the points and of the windows that are single steps.
    pub fn steps(&self) -> impl Iterator<Item = &[(ThreadId, Option<Deed>)]> {
        let windows = match &self.after {
            After::Rounds(windows) => &windows[..],
            After::Anything | After::Nothing => &[],
        };
        let links = self.links.iter().filter_map(|link| match link {
            ChainLink::Any => None,
            ChainLink::One(step) => Some(&step[..]),
        });
        links.chain(windows.iter().flat_map(|window| window.steps.iter().map(Vec::as_slice)))
    }
}

/// The queries of a chain, of which one has a run exactly if there is a run for the chain; `fair` says
/// whether runs must be fair to some thread.
pub(crate) fn queries(chain: &Chain, fair: bool) -> Vec<ChainQuery> {
    let Chain { points, links, windows } = chain;
    let nobody_moves = || Formula::Proposition(Proposition::End);
    let mut found = Vec::new();
    let conditions = points.iter().chain(windows.iter().flat_map(|window| &window.points));
    let local = conditions.into_iter().any(looks_ahead);
    let rounds = fair || local || !windows.is_empty();
    let names_nobody = |link: &ChainLink| !matches!(link, ChainLink::One(step) if !step.is_empty());
    // Windows hold for ever in an ended run if they hold at its end.
    let at_end = windows.iter().flat_map(|window| &window.points);
    let at_end = at_end.fold(nobody_moves(), |all, point| Formula::and(all, point.clone()));
    let can_end = windows.iter().all(|window| window.steps.iter().all(Vec::is_empty));
    if !rounds {
        let (points, links) = (points.clone(), links.clone());
        found.push(ChainQuery { points, links, after: After::Anything });
    }
    for first in 0..links.len() {
        let rest = &links[first..];
        // Where no link is a single step, the points are one moment after no steps at all.
        let single = rest.iter().any(|link| *link != ChainLink::Any);
        if single && rest.iter().all(names_nobody) && can_end {
            let last = points[first..].iter().cloned().fold(at_end.clone(), Formula::and);
            let mut before = points[..first].to_vec();
            before.push(last);
            let links = links[..first].to_vec();
            found.push(ChainQuery { points: before, links, after: After::Nothing });
        }
    }
    if rounds {
        if can_end {
            let mut points = points.clone();
            points.push(at_end);
            let mut links = links.clone();
            links.push(ChainLink::Any);
            found.push(ChainQuery { points, links, after: After::Nothing });
        }
        let (points, links) = (points.clone(), links.clone());
        found.push(ChainQuery { points, links, after: After::Rounds(windows.clone()) });
    }
    found
}

/// Whether a condition says something of what comes later: whether it has a local formula.
pub(crate) fn looks_ahead(condition: &Formula) -> bool {
    match condition {
        Formula::Constant(_) | Formula::Proposition(_) => false,
        Formula::Not(f) => looks_ahead(f),
        Formula::And(f, g) | Formula::Or(f, g) => looks_ahead(f) || looks_ahead(g),
        Formula::Next(_) | Formula::Until(..) | Formula::Release(..) => true,
    }
}
