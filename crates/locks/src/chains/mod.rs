//! # Idea
//! Temporal formulas that are unions of chains of moments, decided by tupling. The points of a chain are
//! borders of every thread, so what is asked at one of them is a condition on where all threads are at one
//! moment. Each thread alone is followed along the links, with a lock history per link and at each point
//! its *class*, which is what the point can see of it; a run exists exactly if the threads have such ways
//! whose histories are compatible link by link and whose classes make the condition of every point true.
//!
//! # Infinite runs
//! A run that never ends and on which the windows `w₁ … wᵣ` happen again and again exists exactly if there
//! are disjoint sets `Hₜ` of locks and for each thread a path
//!
//! ```text
//! start –chain→ · –*→ e₀ | A: e₀ → b → e | W: e –*→ w₁ –*→ … –*→ wᵣ –*→ e' | B: e' → b'
//! ```
//!
//! such that (i) the thread holds exactly `Hₜ` at `e₀`, `e` and `e'`; (ii) the links before `e₀` and those of
//! `W` are compatible one by one; (iii) in `A` and `B` it keeps `Hₜ` and takes no lock of another `Hᵤ`;
//! (iv) from `b` on the path never goes below the symbol on top at `b`, which is on top again at `b'`;
//! (v) a thread may also stop at `e₀` for good, but one that the run must be fair to only if it has ended;
//! (vi) at least one thread makes a step between `b` and `b'`. Nested locks let every thread return again
//! and again to holding only what it never frees; such moments can be made simultaneous, and from them
//! threads run alone. The run is the prefix, `A` of each thread in turn, and then for ever `W`, and `B` with
//! the way from `b` to `e` of each thread in turn. A thread that makes no step between `b` and `b'` can as
//! well stop, so every thread that does not stop makes one.
//!
//! # Source
//! Paper 003 §5 with its Theorem 7 corrected (ERRATA), lock histories of paper 000 §6 and §7.
//!
//! # Local formulas
//! A formula without `X` whose atoms are all about one thread may stand wherever an atom does: the thread is
//! followed together with what it claims of its own future (`claims`). Such a formula looks ahead, so the
//! whole run matters.
//!
//! Files: `query` makes queries of chains, `borders` puts starts and ends between their points, `cast` says who
//! takes part, `class` what a point sees, `tabulate`
//! follows one thread, `join` puts threads together, `run` and `schedule` make a run of what was found,
//! `rounds` is about runs for ever, `heads` says where rounds begin.
//!
//! # Requires
//! A valid program without values and channels whose locks and units are well nested.

pub(crate) mod borders;
pub(crate) mod cast;
pub(crate) mod claims;
pub(crate) mod class;
mod heads;
mod join;
pub(crate) mod query;
mod rounds;
mod run;
pub(crate) mod schedule;
mod tabulate;

use crate::Fault;
use crate::behaviour::Behaviours;
use crate::summaries::EndId;
use crate::tupling::histories::HistoryId;
pub(crate) use crate::tupling::tuples::Mark;
use crate::tupling::tuples::TupleTable;
use borders::{Border, Borders, Slot, Standing, between, making, only_order};
use cast::{Cast, LoweredByLocks, allowed, is_about_tops, participants};
use claims::{Claims, claims};
pub use class::is_about;
use class::{Point, Top};
use join::{Asked, JoinLink, Part, Way, join, sort};
use query::{After, ChainQuery, looks_ahead, queries};
use rounds::{AloneTable, EndlessScript, EndlessTables};
use rustc_hash::FxHashMap;
use schedule::of_points;
use selvedge_base::Budget;
use selvedge_lower::LoweredThread;
use selvedge_program::{
    Chain, ChainLink, Deed, Formula, Program, Statistics, ThreadId, Unknown, Verdict, Witness,
};
use std::rc::Rc;
use tabulate::{Begin, ChainTable, LinkLocks, LinkSteps, ScriptLink, tabulate};

/// What is said of one step.
pub(crate) type Step = [(ThreadId, Option<Deed>)];

/// The decision procedure for chains of moments.
pub struct ChainTupling<'p> {
    program: &'p Program,
    budget: Budget,
    max_witness_steps: u64,
    max_facts: u64,
    tuples: TupleTable,
    lowered: LoweredByLocks,
    facts: u64,
    joins: u64,
}

impl<'p> ChainTupling<'p> {
    /// A procedure for all formulas about `program`, whose threads may be lowered already. A thread with
    /// more than `max_facts` facts is given up.
    pub fn new(
        program: &'p Program,
        behaviours: Option<&Behaviours>,
        max_witness_steps: u64,
        max_facts: u64,
        budget: Budget,
    ) -> Self {
        Self {
            program,
            budget,
            max_witness_steps,
            max_facts,
            tuples: TupleTable::default(),
            lowered: behaviours.map(LoweredByLocks::prepared).unwrap_or_default(),
            facts: 0,
            joins: 0,
        }
    }

    /// Whether there is a run for one of the chains that is fair to these threads.
    ///
    /// # Errors
    /// If the engine contradicts itself.
    pub fn decide(
        &mut self,
        chains: &[Chain],
        fair: &[ThreadId],
    ) -> Result<Verdict<Witness>, Fault> {
        let mut open = None;
        for chain in chains {
            for query in queries(chain, !fair.is_empty()) {
                match self.find(&query, fair) {
                    Ok(None) => {}
                    Ok(Some(witness)) => return Ok(Verdict::Violation(witness)),
                    Err(Failure::Fault(fault)) => return Err(fault),
                    Err(Failure::Open(why @ Unknown::Stopped(_))) => {
                        return Ok(Verdict::Unknown(why));
                    }
                    // Another one may have a run.
                    Err(Failure::Open(why)) => _ = open.get_or_insert(why),
                }
            }
        }
        Ok(open.map_or(Verdict::Safe, Verdict::Unknown))
    }

    /// Counts of the work done so far.
    pub fn statistics(&self) -> Statistics {
        let counts = vec![
            ("facts", self.facts),
            ("lock-histories", self.tuples.histories.count() as u64),
            ("tuples", self.tuples.count() as u64),
            ("joins", self.joins),
        ];
        Statistics { counts }
    }

    fn find(&mut self, query: &ChainQuery, fair: &[ThreadId]) -> Result<Option<Witness>, Failure> {
        is_about_tops(query)?;
        let lowered = self.lowered.of_query(self.program, query, &self.budget)?;
        let participants = participants(self.program, query)?;
        let borders = Borders::new(self.program, &lowered);
        let mut participants = participants;
        if let Some(borders) = &borders {
            borders.close(self.program, &mut participants);
        }
        let threads: Vec<&LoweredThread> =
            participants.iter().map(|&id| &lowered.threads[id]).collect();
        let claims = claims(self.program, query, &participants, &threads, &self.budget)?;
        let cast = Cast {
            participants: &participants,
            threads: &threads,
            claims: &claims,
            at_first: Standing::at_first(self.program),
            borders: borders.as_ref(),
        };
        // What is claimed at first is true at the first point.
        let ahead = query.conditions().any(looks_ahead);
        if !ahead && !cast.holds_at_first(self.program, query) {
            return Ok(None);
        }
        let orders = match &borders {
            None => only_order(query),
            Some(borders) => {
                borders.orders(self.program, query, &participants, &threads, &self.budget)?
            }
        };
        let fair: Vec<bool> = participants.iter().map(|id| fair.contains(id)).collect();
        let mut known = Known::default();
        for order in &orders {
            let links = self.links(query, order, ahead, &cast)?;
            let found = match &query.after {
                After::Anything | After::Nothing => {
                    self.through_points(query, links, &cast, &mut known)?
                }
                After::Rounds(windows) => {
                    let at_last = order.last().map_or(&cast.at_first, |slot| &slot.behind);
                    let mut in_rounds = Vec::new();
                    for window in windows {
                        let steps = window.steps.iter().map(|step| LinkLength::One(step));
                        let lengths = std::iter::once(LinkLength::Any).chain(steps);
                        for (length, condition) in lengths.zip(&window.points) {
                            let slot = quiet_slot(at_last);
                            in_rounds.push(self.link(length, Some(condition), &slot, &cast)?);
                        }
                    }
                    let quiet = self.link(LinkLength::Any, None, &quiet_slot(at_last), &cast)?;
                    let script = EndlessScript { links: &links, windows: &in_rounds, quiet };
                    self.in_rounds(&script, &cast, &fair, &mut known)?
                }
            };
            if let Some(mut witness) = found {
                // The first point is the beginning of the run.
                if ahead && witness.points.len() > 1 {
                    witness.points.remove(0);
                }
                return Ok(Some(witness));
            }
        }
        Ok(None)
    }

    /// The links of an order, for every participant; `ahead` says whether the first point is looked at.
    fn links(
        &self,
        query: &ChainQuery,
        order: &[Slot],
        ahead: bool,
        cast: &Cast<'_>,
    ) -> Result<Vec<SharedLink>, Unknown> {
        let mut links = Vec::with_capacity(order.len() + 1);
        if ahead {
            let slot = quiet_slot(&cast.at_first);
            links.push(self.link(LinkLength::None, Some(&query.points[0]), &slot, cast)?);
        }
        for slot in order {
            let length = match slot.link.map(|at| &query.links[at]) {
                Some(ChainLink::One(step)) => LinkLength::One(step),
                None if slot.border.is_some() => LinkLength::One(&[]),
                Some(ChainLink::Any) | None => LinkLength::Any,
            };
            let condition = slot.link.map(|at| &query.points[at + 1]);
            links.push(self.link(length, condition, slot, cast)?);
        }
        Ok(links)
    }

    /// A link with the point at its end, if there is one, for every participant.
    fn link(
        &self,
        length: LinkLength<'_>,
        condition: Option<&Formula>,
        slot: &Slot,
        cast: &Cast<'_>,
    ) -> Result<SharedLink, Unknown> {
        let new =
            |condition: &Formula| Point::new(condition.clone(), cast.participants, &slot.behind);
        let mut point = condition.map(new);
        let mut of_threads = Vec::with_capacity(cast.threads.len());
        for (at, (&id, thread)) in cast.participants.iter().zip(cast.threads).enumerate() {
            let claims = &cast.claims[at];
            let marks: Rc<[Option<Mark>]> = match &mut point {
                Some(point) => {
                    let marks = point.marks(at, self.program, thread, claims, &self.budget);
                    marks.map_err(Unknown::Stopped)?
                }
                None => vec![Some(0); Top::count(thread) * claims.sets()].into(),
            };
            let mut link = ScriptLink {
                steps: LinkSteps::Any(None),
                wakes: matches!(slot.border, Some(Border::Start { thread, .. }) if thread == id),
                ends: cast.borders.is_none_or(|borders| !borders.is_joined(id)),
                marks,
                locks: LinkLocks::Free,
            };
            link.steps = match length {
                LinkLength::None => LinkSteps::Single(vec![false; thread.pds.rules.len()].into()),
                LinkLength::One(said) => {
                    let said = allowed(self.program, said, id, thread);
                    LinkSteps::Single(match slot.border {
                        Some(border) if border.mover() != id => {
                            said.iter().map(|_| false).collect()
                        }
                        Some(border) => both(&said, &making(thread, border)),
                        None => match between(thread, &slot.before) {
                            None => said,
                            Some(may) => both(&said, &may),
                        },
                    })
                }
                LinkLength::Any => LinkSteps::Any(between(thread, &slot.before).map(Into::into)),
            };
            let only = |link: &mut ScriptLink, keep: &dyn Fn(Top) -> bool| {
                let marks = link.marks.iter().enumerate();
                let top = |place: usize| Top::of(thread, place / claims.sets());
                link.marks = marks.map(|(place, mark)| mark.filter(|_| keep(top(place)))).collect();
            };
            if slot.border == Some(Border::End(id)) {
                link.ends = true;
                only(&mut link, &|top| top == Top::Ended);
            }
            if link.wakes {
                only(&mut link, &|top| top != Top::Waits);
            }
            of_threads.push(link);
        }
        let single = matches!(length, LinkLength::One(_));
        Ok(SharedLink { single, point, of_threads })
    }

    fn tabulate(
        &mut self,
        (thread, claims): (&LoweredThread, &Claims),
        begin: Begin<'_>,
        links: &[ScriptLink],
    ) -> Result<ChainTable, Unknown> {
        let (tuples, limit) = (&mut self.tuples, self.max_facts);
        let table = tabulate(thread, claims, begin, links, tuples, limit, &self.budget)?;
        self.facts += table.facts.len() as u64;
        Ok(table)
    }

    /// Whether the threads fit together up to the last point.
    fn through_points(
        &mut self,
        query: &ChainQuery,
        mut links: Vec<SharedLink>,
        cast: &Cast<'_>,
        known: &mut Known,
    ) -> Result<Option<Witness>, Failure> {
        let ends = query.after == After::Nothing;
        if ends && let Some(last) = links.last_mut() {
            // Nobody moves any more, so what is claimed must be so for ever.
            for (link, claims) in last.of_threads.iter_mut().zip(cast.claims) {
                let marks = link.marks.iter().enumerate();
                link.marks =
                    marks.map(|(place, mark)| mark.filter(|_| claims.may_stop(place))).collect();
            }
        }
        if links.is_empty() {
            // All there is to see is there at first.
            let (repeats, points) = (ends.then_some(0), vec![0]);
            return Ok(Some(Witness { repeats, points, ..Witness::default() }));
        }
        let mut tables: Vec<Rc<PointTable>> = Vec::new();
        for at in 0..cast.threads.len() {
            let script: Vec<ScriptLink> =
                links.iter().map(|link| link.of_threads[at].clone()).collect();
            let key = (at, script);
            let table = if let Some(table) = known.points.get(&key) {
                Rc::clone(table)
            } else {
                let table = Rc::new(self.along_points(at, &key.1, cast)?);
                known.points.insert(key, Rc::clone(&table));
                table
            };
            if table.ways.is_empty() {
                return Ok(None);
            }
            tables.push(table);
        }
        let ways: Vec<&[Way<EndId>]> = tables.iter().map(|table| &table.ways[..]).collect();
        let asked = Asked { links: links.iter().map(SharedLink::to_join).collect(), alone: &[] };
        self.joins += 1;
        let found = join(&ways, &asked, &mut self.tuples.histories, &self.budget);
        let Some(found) = found.map_err(Unknown::Stopped)? else { return Ok(None) };
        let lengths = found.iter().zip(&tables).map(|(&end, of)| of.table.ends[end].length);
        self.limit(lengths.map(u64::from).sum())?;
        let mut runs = Vec::new();
        for (at, (&end, of)) in found.iter().zip(&tables).enumerate() {
            let run = run::local_run(&of.table, end, cast.threads[at], &self.budget);
            runs.push(run.map_err(Unknown::Stopped)?);
        }
        let points: Vec<bool> = links.iter().map(|link| link.point.is_some()).collect();
        let mut witness = of_points(cast.participants, &runs, &points, &self.budget)?;
        if ends {
            witness.repeats = Some(witness.steps.len());
        }
        Ok(Some(witness))
    }

    /// The ways of one thread along its links.
    fn along_points(
        &mut self,
        at: usize,
        script: &[ScriptLink],
        cast: &Cast<'_>,
    ) -> Result<PointTable, Unknown> {
        let table = self.tabulate((cast.threads[at], &cast.claims[at]), cast.begin(at), script)?;
        let mut ways: Vec<Way<EndId>> = Vec::new();
        for &end in &table.accepted[0] {
            self.budget.check().map_err(Unknown::Stopped)?;
            let (parts, _) = self.tuples.marked_components(table.ends[end].tuple);
            let parts = parts.into_iter().map(|(history, mark)| shared(history, mark));
            let length = table.ends[end].length;
            ways.push(Way { parts: parts.collect(), length, origin: end });
        }
        sort(&mut ways);
        Ok(PointTable { table, ways })
    }

    fn limit(&self, steps: u64) -> Result<(), Unknown> {
        let limit = self.max_witness_steps;
        if steps > limit { Err(Unknown::WitnessTooLong { steps, limit }) } else { Ok(()) }
    }
}

/// A part that the participants do together.
fn shared(history: HistoryId, mark: Mark) -> Part {
    Part { history, mark, alone: None }
}

/// What a thread can do along its links, and its ways there.
struct PointTable {
    table: ChainTable,
    ways: Vec<Way<EndId>>,
}

/// What is known of participants along their links: orders differ mostly in what others do.
#[derive(Default)]
struct Known {
    points: FxHashMap<(usize, Vec<ScriptLink>), Rc<PointTable>>,
    endless: FxHashMap<(usize, Vec<ScriptLink>), Rc<EndlessTables>>,
    alone: AloneTable,
}

/// Where no border is.
fn quiet_slot(standing: &Standing) -> Slot {
    let (before, behind) = (standing.clone(), standing.clone());
    Slot { link: None, border: None, before, behind }
}

/// The rules of both.
fn both(one: &[bool], other: &[bool]) -> Rc<[bool]> {
    one.iter().zip(other).map(|(&one, &other)| one && other).collect()
}

/// How many steps a link has.
#[derive(Clone, Copy)]
enum LinkLength<'a> {
    None,
    One(&'a Step),
    Any,
}

/// A link and the point at its end.
struct SharedLink {
    single: bool,
    /// Between the points of a chain there may be starts and ends of threads, without a point.
    point: Option<Point>,
    of_threads: Vec<ScriptLink>,
}

impl SharedLink {
    fn to_join(&self) -> JoinLink<'_> {
        JoinLink { single: self.single, point: self.point.as_ref() }
    }
}

/// Why a query has no answer.
pub(crate) enum Failure {
    Open(Unknown),
    Fault(Fault),
}

impl From<Unknown> for Failure {
    fn from(why: Unknown) -> Self {
        Self::Open(why)
    }
}
