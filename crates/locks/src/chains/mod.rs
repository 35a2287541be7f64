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
//! Files: `query` makes queries of chains, `cast` says who takes part, `class` what a point sees, `tabulate`
//! follows one thread, `join` puts threads together, `run` and `schedule` make a run of what was found,
//! `rounds` is about runs for ever, `heads` says where rounds begin.
//!
//! # Requires
//! A valid program without values, channels, starts and joins whose locks and units are well nested.

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
mod tuples;

use crate::Fault;
use crate::tupling::histories::HistoryId;
use cast::{Cast, LoweredByLocks, allowed, is_about_tops, participants};
use claims::{Claims, claims};
use class::Point;
use join::{Asked, JoinLink, Part, Way, join, sort};
use query::{After, ChainQuery, looks_ahead, queries};
use schedule::of_points;
use selvedge_base::Budget;
use selvedge_lower::LoweredThread;
use selvedge_program::{
    Chain, ChainLink, Deed, Formula, Program, Statistics, ThreadId, Unknown, Verdict, Witness,
};
use tabulate::{Begin, ChainEndId, ChainTable, LinkSteps, ScriptLink, tabulate};
pub(crate) use tuples::Mark;
use tuples::MarkedTuples;

/// What is said of one step.
pub(crate) type Step = [(ThreadId, Option<Deed>)];

/// The decision procedure for chains of moments.
pub struct ChainTupling<'p> {
    program: &'p Program,
    budget: Budget,
    max_witness_steps: u64,
    max_facts: u64,
    tuples: MarkedTuples,
    lowered: LoweredByLocks,
    facts: u64,
    joins: u64,
}

impl<'p> ChainTupling<'p> {
    /// A procedure for all formulas about `program`. A thread with more than `max_facts` facts is given up.
    pub fn new(
        program: &'p Program,
        max_witness_steps: u64,
        max_facts: u64,
        budget: Budget,
    ) -> Self {
        Self {
            program,
            budget,
            max_witness_steps,
            max_facts,
            tuples: MarkedTuples::default(),
            lowered: LoweredByLocks::default(),
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
        let threads: Vec<&LoweredThread> =
            participants.iter().map(|&id| &lowered.threads[id]).collect();
        let claims = claims(self.program, query, &participants, &threads, &self.budget)?;
        let cast = Cast { participants: &participants, threads: &threads, claims: &claims };
        let mut links = Vec::with_capacity(query.links.len() + 1);
        // What is claimed at first is true at the first point.
        let ahead = query.conditions().any(looks_ahead);
        if ahead {
            links.push(self.link(LinkLength::None, query.points[0].clone(), &cast)?);
        } else if !cast.holds_at_first(self.program, query) {
            return Ok(None);
        }
        for (link, condition) in query.links.iter().zip(&query.points[1..]) {
            let length = match link {
                ChainLink::Any => LinkLength::Any,
                ChainLink::One(step) => LinkLength::One(step),
            };
            links.push(self.link(length, condition.clone(), &cast)?);
        }
        let found = match &query.after {
            After::Anything | After::Nothing => self.through_points(query, links, &cast)?,
            After::Rounds(windows) => {
                let mut in_rounds = Vec::new();
                for window in windows {
                    let steps = window.steps.iter().map(|step| LinkLength::One(step));
                    let lengths = std::iter::once(LinkLength::Any).chain(steps);
                    for (length, condition) in lengths.zip(&window.points) {
                        in_rounds.push(self.link(length, condition.clone(), &cast)?);
                    }
                }
                let fair: Vec<bool> = participants.iter().map(|id| fair.contains(id)).collect();
                self.in_rounds(&links, &in_rounds, &cast, &fair)?
            }
        };
        Ok(found.map(|mut witness| {
            // The first point is the beginning of the run.
            if ahead && witness.points.len() > 1 {
                witness.points.remove(0);
            }
            witness
        }))
    }

    /// A link with the point at its end, for every participant.
    fn link(
        &self,
        length: LinkLength<'_>,
        condition: Formula,
        cast: &Cast<'_>,
    ) -> Result<SharedLink, Unknown> {
        let mut point = Point::new(condition, cast.participants);
        let mut of_threads = Vec::with_capacity(cast.threads.len());
        for (at, (&id, thread)) in cast.participants.iter().zip(cast.threads).enumerate() {
            let marks = point.marks(at, self.program, thread, &cast.claims[at], &self.budget);
            let marks = marks.map_err(Unknown::Stopped)?;
            let steps = match length {
                LinkLength::None => LinkSteps::Single(vec![false; thread.pds.rules.len()].into()),
                LinkLength::One(said) => LinkSteps::Single(allowed(self.program, said, id, thread)),
                LinkLength::Any => LinkSteps::Any,
            };
            of_threads.push(ScriptLink { steps, marks });
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
        let mut tables = Vec::new();
        let mut ways = Vec::new();
        for (at, thread) in cast.threads.iter().enumerate() {
            let script: Vec<ScriptLink> =
                links.iter().map(|link| link.of_threads[at].clone()).collect();
            let table = self.tabulate((thread, &cast.claims[at]), Begin::Main, &script)?;
            let mut own: Vec<Way<ChainEndId>> = Vec::new();
            for &end in &table.accepted[0] {
                self.budget.check().map_err(Unknown::Stopped)?;
                let (parts, _) = self.tuples.components(table.ends[end].tuple);
                let parts = parts.into_iter().map(|(history, mark)| shared(history, mark));
                let length = table.ends[end].length;
                own.push(Way { parts: parts.collect(), length, origin: end });
            }
            if own.is_empty() {
                return Ok(None);
            }
            sort(&mut own);
            tables.push(table);
            ways.push(own);
        }
        let asked = Asked { links: links.iter().map(SharedLink::to_join).collect(), alone: &[] };
        self.joins += 1;
        let found = join(&ways, &asked, &mut self.tuples.histories, &self.budget);
        let Some(found) = found.map_err(Unknown::Stopped)? else { return Ok(None) };
        let lengths = found.iter().zip(&tables).map(|(&end, table)| table.ends[end].length);
        self.limit(lengths.map(u64::from).sum())?;
        let mut runs = Vec::new();
        for (at, (&end, table)) in found.iter().zip(&tables).enumerate() {
            let run = run::local_run(table, end, cast.threads[at], &self.budget);
            runs.push(run.map_err(Unknown::Stopped)?);
        }
        let mut witness = of_points(cast.participants, &runs, links.len() as u32, &self.budget)?;
        if ends {
            witness.repeats = Some(witness.steps.len());
        }
        Ok(Some(witness))
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
    point: Point,
    of_threads: Vec<ScriptLink>,
}

impl SharedLink {
    fn to_join(&self) -> JoinLink<'_> {
        JoinLink { single: self.single, point: Some(&self.point) }
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
