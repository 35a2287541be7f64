//! # Idea
//! The ways of threads along the points of a chain and then for ever, by the criterion for infinite runs in
//! the documentation of [`super`]: each thread stops for good, or goes to a head and from there round and
//! round.
//!
//! # Source
//! Paper 003 Theorem 7, corrected (ERRATA).

use super::cast::Cast;
use super::claims::Claims;
use super::join::{Alone, Asked, JoinLink, Part, Way, join, sort};
use super::schedule::{Rounds, of_rounds};
use super::tabulate::{Begin, ChainEndId, ChainTable, LinkSteps, ScriptLink};
use super::tuples::Mark;
use super::{ChainTupling, Failure, SharedLink, heads, run, shared};
use rustc_hash::FxHashMap;
use selvedge_lower::{LockSet, LoweredThread};
use selvedge_program::{Unknown, Witness};

impl ChainTupling<'_> {
    /// Whether the threads fit together up to the last point and then for ever.
    pub(super) fn in_rounds(
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
