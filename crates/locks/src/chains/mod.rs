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
//! Files: `query` makes queries of chains, `class` says what a point sees, `tabulate` follows one thread,
//! `join` puts threads together, `run` and `schedule` make a run of what was found, `heads` says where
//! rounds begin.
//!
//! # Requires
//! A valid program without values, channels, starts and joins whose locks and units are well nested.

mod claims;
mod class;
mod heads;
mod join;
mod query;
mod run;
mod schedule;
mod tabulate;
mod tuples;

use crate::Fault;
use claims::{Claims, MOST_CLAIMS, claimed_parts};
use class::{Point, asks_who_moves, deed, locks_of, named, thread_of};
use join::{Alone, Asked, JoinLink, Part, Way, join, sort};
use query::{After, ChainQuery, looks_ahead, queries};
use rustc_hash::FxHashMap;
use schedule::{Rounds, of_points, of_rounds};
use selvedge_base::Budget;
use selvedge_lower::thread::LowerError;
use selvedge_lower::{LockSet, LoweredProgram, LoweredThread, lower, shared_locks};
use selvedge_program::{
    Chain, ChainLink, Deed, Formula, Program, Statistics, Successors, ThreadId, Unknown, Verdict,
    Witness,
};
use std::rc::Rc;
use tabulate::{Begin, ChainEndId, ChainTable, LinkSteps, ScriptLink, tabulate};
use tuples::{Mark, MarkedTuples};

/// What is said of one step.
type Step = [(ThreadId, Option<Deed>)];

/// The decision procedure for chains of moments.
pub struct ChainTupling<'p> {
    program: &'p Program,
    budget: Budget,
    max_witness_steps: u64,
    max_facts: u64,
    tuples: MarkedTuples,
    /// By the locks that are tracked.
    lowered: FxHashMap<LockSet, Rc<LoweredProgram>>,
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
            lowered: FxHashMap::default(),
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

    /// The threads with these locks in their histories, beside those that can block somebody.
    fn lowered(&mut self, query: &ChainQuery) -> Result<Rc<LoweredProgram>, Unknown> {
        let successors = Successors::new(self.program);
        let mut tracked = shared_locks(self.program, &successors);
        let deeds = query.steps().flatten().filter_map(|&(_, deed)| match deed {
            Some(Deed::Acquire(lock) | Deed::Release(lock)) => Some(lock),
            _ => None,
        });
        for lock in query.conditions().flat_map(locks_of).chain(deeds) {
            tracked.insert(lock);
        }
        // A round that is to be repeated begins and ends with the same locks, whoever else uses them.
        if matches!(query.after, After::Rounds(_)) {
            for lock in self.program.locks.ids() {
                tracked.insert(lock);
            }
        }
        if let Some(known) = self.lowered.get(&tracked) {
            return Ok(Rc::clone(known));
        }
        let lowered = lower(self.program, &tracked, &self.budget).map_err(|error| match error {
            LowerError::Stopped(reason) => Unknown::Stopped(reason),
            LowerError::NotNested(why) => Unknown::Unsupported(format!(
                "locks and units must be nested for this engine: {why}"
            )),
        })?;
        let lowered = Rc::new(lowered);
        self.lowered.insert(tracked, Rc::clone(&lowered));
        Ok(lowered)
    }

    fn find(&mut self, query: &ChainQuery, fair: &[ThreadId]) -> Result<Option<Witness>, Failure> {
        if !query.conditions().all(Point::is_about_tops) {
            let why =
                "lock histories know no values, and a formula that asks for them is not decided";
            return Err(Failure::Open(Unknown::Unsupported(why.to_owned())));
        }
        let lowered = self.lowered(query)?;
        let participants = self.participants(query);
        if participants.is_empty() {
            let why = "a program without threads has no runs to speak of".to_owned();
            return Err(Failure::Open(Unknown::Unsupported(why)));
        }
        let threads: Vec<&LoweredThread> =
            participants.iter().map(|&id| &lowered.threads[id]).collect();
        let claims = self.claims(query, &participants, &threads)?;
        let cast = Cast { participants: &participants, threads: &threads, claims: &claims };
        let mut links = Vec::with_capacity(query.links.len() + 1);
        // What is claimed at first is true at the first point.
        let ahead = query.conditions().any(looks_ahead);
        if ahead {
            links.push(self.link(LinkLength::None, query.points[0].clone(), &cast)?);
        } else if !self.holds_at_first(query, &cast) {
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

    /// What each participant can claim of its own future.
    fn claims(
        &self,
        query: &ChainQuery,
        participants: &[ThreadId],
        threads: &[&LoweredThread],
    ) -> Result<Vec<Claims>, Unknown> {
        let mut parts = Vec::new();
        for condition in query.conditions() {
            claimed_parts(condition, &mut parts);
        }
        let mut found = Vec::with_capacity(threads.len());
        for (&id, thread) in participants.iter().zip(threads) {
            let own = parts.iter().filter(|part| thread_of(part) == Some(id));
            let own: Vec<Formula> = own.cloned().collect();
            if own.len() > MOST_CLAIMS {
                return Err(Unknown::Unsupported(format!(
                    "the formula has more than {MOST_CLAIMS} parts that look ahead along one thread"
                )));
            }
            let claims = Claims::new(own, self.program, thread, &self.budget);
            found.push(claims.map_err(Unknown::Stopped)?);
        }
        Ok(found)
    }

    /// The threads that matter. One that nobody names can stay where it begins, unless somebody's step is
    /// asked for, or who can move, or how the run goes on for ever.
    fn participants(&self, query: &ChainQuery) -> Vec<ThreadId> {
        let all = matches!(query.after, After::Rounds(_))
            || query.steps().any(<[_]>::is_empty)
            || query.conditions().any(|one| one.propositions().into_iter().any(asks_who_moves));
        let mut found: Vec<ThreadId> = if all {
            self.program.threads.ids().collect()
        } else {
            let atoms = query.conditions().flat_map(|one| one.propositions());
            let movers = query.steps().flatten().map(|&(thread, _)| thread);
            atoms.filter_map(named).chain(movers).collect()
        };
        if found.is_empty() {
            found.extend(self.program.threads.ids().next());
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether the first point's condition is true where the run begins.
    fn holds_at_first(&self, query: &ChainQuery, cast: &Cast<'_>) -> bool {
        let mut point = Point::new(query.points[0].clone(), cast.participants);
        let begins = cast.threads.iter().zip(cast.claims).enumerate();
        let marks: Vec<Mark> = begins
            .map(|(at, (thread, claims))| {
                point.class(at, self.program, thread, claims, (Some(thread.entry), 0))
            })
            .collect();
        let held = vec![LockSet::new(); cast.threads.len()];
        point.holds(&marks, &held)
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
                LinkLength::One(said) => LinkSteps::Single(self.allowed(said, id, thread)),
                LinkLength::Any => LinkSteps::Any,
            };
            of_threads.push(ScriptLink { steps, marks });
        }
        let single = matches!(length, LinkLength::One(_));
        Ok(SharedLink { single, point, of_threads })
    }

    /// The rules by which a thread can make a step of which this is said.
    fn allowed(&self, said: &Step, id: ThreadId, thread: &LoweredThread) -> Rc<[bool]> {
        let rules = thread.pds.rules.iter();
        let allowed = rules.map(|rule| {
            said.iter().all(|&(mover, wanted)| {
                mover == id
                    && wanted.is_none_or(|wanted| deed(self.program, thread, rule) == Some(wanted))
            })
        });
        allowed.collect()
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

    /// Whether the threads fit together up to the last point and then for ever.
    fn in_rounds(
        &mut self,
        links: &[SharedLink],
        windows: &[SharedLink],
        cast: &Cast<'_>,
        fair: &[bool],
    ) -> Result<Option<Witness>, Failure> {
        let mut alone = AloneTable::default();
        let mut tables = Vec::new();
        let mut ways: Vec<Vec<Way<Origin>>> = Vec::new();
        for (at, thread) in cast.threads.iter().enumerate() {
            let followed = (*thread, &cast.claims[at]);
            let (found, own) = self.endless(at, followed, links, windows, fair[at], &mut alone)?;
            if own.is_empty() {
                return Ok(None);
            }
            tables.push(found);
            ways.push(own);
        }
        let quiet = || JoinLink { single: false, point: None };
        let mut asked: Vec<JoinLink<'_>> = links.iter().map(SharedLink::to_join).collect();
        asked.push(quiet());
        asked.extend(windows.iter().map(SharedLink::to_join));
        asked.push(quiet());
        let asked = Asked { links: asked, alone: &alone.items };
        self.joins += 1;
        let found = join(&ways, &asked, &mut self.tuples.histories, &self.budget);
        let Some(found) = found.map_err(Unknown::Stopped)? else { return Ok(None) };
        let mut length = 0u64;
        for (origin, tables) in found.iter().zip(&tables) {
            length += match *origin {
                Origin::Stop(end) => u64::from(tables.stop.ends[end].length),
                Origin::Rounds { to_head, round } => {
                    let round = u64::from(tables.round.ends[round].length);
                    u64::from(tables.to_head.ends[to_head].length) + 2 * round
                }
            };
        }
        self.limit(length)?;
        let mut runs = Vec::new();
        for (at, (origin, tables)) in found.iter().zip(&tables).enumerate() {
            let unfold = |table: &ChainTable, end: ChainEndId| {
                run::local_run(table, end, cast.threads[at], &self.budget).map_err(Unknown::Stopped)
            };
            runs.push(match *origin {
                Origin::Stop(end) => Rounds { to_head: unfold(&tables.stop, end)?, round: None },
                Origin::Rounds { to_head, round } => Rounds {
                    to_head: unfold(&tables.to_head, to_head)?,
                    round: Some(unfold(&tables.round, round)?),
                },
            });
        }
        let (points, windows) = (links.len() as u32, windows.len() as u32);
        let witness = of_rounds(cast.participants, &runs, points, windows, &self.budget)?;
        Ok(Some(witness))
    }

    /// The ways of one thread along the points and then for ever.
    fn endless(
        &mut self,
        at: usize,
        followed: (&LoweredThread, &Claims),
        links: &[SharedLink],
        windows: &[SharedLink],
        fair: bool,
        alone: &mut AloneTable,
    ) -> Result<(EndlessTables, Vec<Way<Origin>>), Failure> {
        let (thread, claims) = followed;
        let places = (thread.pds.symbols + 1) * claims.sets();
        let chain: Vec<ScriptLink> = links.iter().map(|link| link.of_threads[at].clone()).collect();
        let round: Vec<ScriptLink> =
            windows.iter().map(|link| link.of_threads[at].clone()).collect();
        let any =
            |marks: Vec<Option<Mark>>| ScriptLink { steps: LinkSteps::Any, marks: marks.into() };
        let anywhere = || any(vec![Some(0); places]);
        // A thread that stops is in the same class at every point of a window.
        let mut profiles: Vec<Vec<Mark>> = Vec::new();
        let mut known: FxHashMap<Vec<Mark>, Mark> = FxHashMap::default();
        let mut stop_marks = Vec::with_capacity(places);
        for place in 0..places {
            self.budget.check().map_err(Unknown::Stopped)?;
            let ended = place / claims.sets() == thread.pds.symbols;
            let classes: Option<Vec<Mark>> = round.iter().map(|link| link.marks[place]).collect();
            let stops = classes.filter(|_| (ended || !fair) && claims.may_stop(place));
            stop_marks.push(stops.map(|classes| {
                *known.entry(classes).or_insert_with_key(|profile| {
                    profiles.push(profile.clone());
                    (profiles.len() - 1) as Mark
                })
            }));
        }
        let mut script = chain.clone();
        script.push(any(stop_marks));
        let stop = self.tabulate(followed, Begin::Main, &script)?;
        let mut heads: Vec<usize> = Vec::new();
        let mut head_marks = vec![None; places];
        for symbol in heads::heads(thread, &self.budget).map_err(Unknown::Stopped)? {
            for made in 0..claims.sets() as u32 {
                let place = claims.place(symbol, made);
                if claims.is_right(place) {
                    head_marks[place] = Some(heads.len() as Mark);
                    heads.push(place);
                }
            }
        }
        let mut script = chain.clone();
        script.extend([anywhere(), any(head_marks.clone())]);
        let to_head = self.tabulate(followed, Begin::Main, &script)?;
        let mut script = vec![anywhere()];
        script.extend(round);
        script.extend([anywhere(), any(head_marks)]);
        let round = self.tabulate(followed, Begin::Heads(&heads), &script)?;

        let mut ways = Vec::new();
        let points = links.len();
        for &end in &stop.accepted[0] {
            self.budget.check().map_err(Unknown::Stopped)?;
            let (parts, _) = self.tuples.components(stop.ends[end].tuple);
            let (quiet, profile) = parts[points];
            let classes = &profiles[profile as usize / 2];
            let still = self.tuples.histories.next_phase(quiet);
            let mut own: Vec<Part> = parts[..points].iter().map(|&(id, m)| shared(id, m)).collect();
            let takes = LockSet::new();
            let alone = alone.number(Alone { moves: false, takes });
            own.push(Part { history: quiet, mark: 0, alone: Some(alone) });
            own.extend(classes.iter().map(|&class| shared(still, 2 * class)));
            own.push(shared(still, 0));
            let length = stop.ends[end].length;
            ways.push(Way { parts: own, length, origin: Origin::Stop(end) });
        }
        let mut by_head: Vec<Vec<ChainEndId>> = vec![Vec::new(); heads.len()];
        for &end in &to_head.accepted[0] {
            let (parts, _) = self.tuples.components(to_head.ends[end].tuple);
            let (in_a, head) = parts[points + 1];
            // In A it keeps what it holds.
            if self.tuples.histories.get(in_a).released.is_empty() {
                by_head[head as usize / 2].push(end);
            }
        }
        for (number, ends) in by_head.iter().enumerate() {
            for &again in &round.accepted[number] {
                let (parts, _) = self.tuples.components(round.ends[again].tuple);
                let [(first, _), in_windows @ .., (last, head)] = &parts[..] else { continue };
                let histories = &self.tuples.histories;
                let (in_a, in_b) = (histories.get(*first), histories.get(*last));
                let keeps = in_a.held_throughout.clone();
                let quiet = in_windows.last().map(|&(id, _)| histories.get(id).finally_held());
                if *head as usize / 2 != number
                    || !in_a.acquired.is_empty()
                    || quiet != Some(keeps.clone())
                    || !in_b.released.is_empty()
                {
                    continue;
                }
                let takes = [in_a, in_b]
                    .iter()
                    .fold(LockSet::new(), |all, one| all.union(&one.used).union(&one.acquired));
                let in_windows: Vec<Part> =
                    in_windows.iter().map(|&(id, mark)| shared(id, mark)).collect();
                for &end in ends {
                    self.budget.check().map_err(Unknown::Stopped)?;
                    let (parts, _) = self.tuples.components(to_head.ends[end].tuple);
                    let (quiet, _) = parts[points];
                    if self.tuples.histories.get(quiet).finally_held() != keeps {
                        continue;
                    }
                    let first = self.tuples.histories.get(parts[points + 1].0);
                    let takes = takes.union(&first.used).union(&first.acquired);
                    let number = alone.number(Alone { moves: true, takes });
                    let mut own: Vec<Part> =
                        parts[..points].iter().map(|&(id, m)| shared(id, m)).collect();
                    own.push(Part { history: quiet, mark: 0, alone: Some(number) });
                    own.extend(&in_windows);
                    let length = to_head.ends[end].length.saturating_add(round.ends[again].length);
                    let origin = Origin::Rounds { to_head: end, round: again };
                    ways.push(Way { parts: own, length, origin });
                }
            }
        }
        sort(&mut ways);
        Ok((EndlessTables { stop, to_head, round }, ways))
    }
}

/// A part that the participants do together.
fn shared(history: crate::tupling::histories::HistoryId, mark: Mark) -> Part {
    Part { history, mark, alone: None }
}

/// The threads that take part, and as they are analysed.
struct Cast<'a> {
    participants: &'a [ThreadId],
    threads: &'a [&'a LoweredThread],
    claims: &'a [Claims],
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

/// What a way of a thread for ever stands for.
#[derive(Clone, Copy)]
enum Origin {
    /// It stops.
    Stop(ChainEndId),
    /// It goes round.
    Rounds { to_head: ChainEndId, round: ChainEndId },
}

/// What a thread can do before it stops, before its rounds, and in a round.
struct EndlessTables {
    stop: ChainTable,
    to_head: ChainTable,
    round: ChainTable,
}

/// What participants do alone, each once.
#[derive(Default)]
struct AloneTable {
    items: Vec<Alone>,
    index: FxHashMap<Alone, u32>,
}

impl AloneTable {
    fn number(&mut self, alone: Alone) -> u32 {
        if let Some(&known) = self.index.get(&alone) {
            return known;
        }
        let number = self.items.len() as u32;
        self.items.push(alone.clone());
        self.index.insert(alone, number);
        number
    }
}

/// Why a query has no answer.
enum Failure {
    Open(Unknown),
    Fault(Fault),
}

impl From<Unknown> for Failure {
    fn from(why: Unknown) -> Self {
        Self::Open(why)
    }
}
