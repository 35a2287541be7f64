//! # Idea
//! The ways of threads along the points of a chain and then for ever, by the criterion for infinite runs in
//! the documentation of [`super`]: each thread stops for good, or goes to a head and from there round and
//! round.
//!
//! Rounds come first. What others can see of one is its *profile*: the locks kept, the locks taken alone, the
//! parts in the windows. Heads whose rounds have the same profiles are as good as each other, and those
//! without rounds are good for nothing; so the way to a head is a way to one of few classes of heads.
//!
//! # Source
//! Paper 003 Theorem 7, corrected (ERRATA).

use super::cast::Cast;
use super::class::Top;
use super::heads::{Region, heads};
use super::join::{Alone, Asked, JoinLink, Part, Way, join, sort};
use super::schedule::{Rounds, of_rounds};
use super::tabulate::{Begin, ChainTable, HeadPlace, LinkLocks, ScriptLink};
use super::{ChainTupling, Failure, Known, SharedLink, run, shared};
use crate::summaries::EndId;
use crate::tupling::tuples::Mark;
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_lower::LockSet;
use selvedge_program::{Unknown, Witness};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The links of an infinite run.
pub(super) struct EndlessScript<'a> {
    /// Up to the last point.
    pub links: &'a [SharedLink],
    /// Of the windows.
    pub windows: &'a [SharedLink],
    /// Any number of steps, behind all starts and ends.
    pub quiet: SharedLink,
}

impl ChainTupling<'_> {
    /// Whether the threads fit together up to the last point and then for ever.
    pub(super) fn in_rounds(
        &mut self,
        script: &EndlessScript<'_>,
        cast: &Cast<'_>,
        fair: &[bool],
        known: &mut Known,
    ) -> Result<Option<Witness>, Failure> {
        let &EndlessScript { links, windows, .. } = script;
        let mut tables: Vec<Rc<EndlessTables>> = Vec::new();
        for (at, &fair) in fair.iter().enumerate() {
            let quiet = std::iter::once(&script.quiet);
            let all = links.iter().chain(quiet).chain(windows);
            let key = (at, all.map(|link| link.of_threads[at].clone()).collect());
            let found = if let Some(found) = known.endless.get(&key) {
                Rc::clone(found)
            } else {
                let found = Rc::new(self.endless(at, script, cast, fair, &mut known.alone)?);
                known.endless.insert(key, Rc::clone(&found));
                found
            };
            if found.ways.is_empty() {
                return Ok(None);
            }
            tables.push(found);
        }
        let quiet = || JoinLink { single: false, point: None };
        let mut asked: Vec<JoinLink<'_>> = links.iter().map(SharedLink::to_join).collect();
        asked.push(quiet());
        asked.extend(windows.iter().map(SharedLink::to_join));
        asked.push(quiet());
        let asked = Asked { links: asked, alone: &known.alone.items };
        let ways: Vec<&[Way<Origin>]> = tables.iter().map(|tables| &tables.ways[..]).collect();
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
            let unfold = |table: &ChainTable, end: EndId| {
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
        let points: Vec<bool> = links.iter().map(|link| link.point.is_some()).collect();
        let windows = windows.len() as u32;
        let witness = of_rounds(cast.participants, &runs, &points, windows, &self.budget)?;
        Ok(Some(witness))
    }

    /// The ways of one thread along the points and then for ever.
    fn endless(
        &mut self,
        at: usize,
        script: &EndlessScript<'_>,
        cast: &Cast<'_>,
        fair: bool,
        alone: &mut AloneTable,
    ) -> Result<EndlessTables, Failure> {
        let (thread, claims) = (cast.threads[at], &cast.claims[at]);
        let of = |links: &[SharedLink]| -> Vec<ScriptLink> {
            links.iter().map(|link| link.of_threads[at].clone()).collect()
        };
        let (chain, windows) = (of(script.links), of(script.windows));
        let anywhere = script.quiet.of_threads[at].clone();
        let any = |marks: Vec<Option<Mark>>| ScriptLink { marks: marks.into(), ..anywhere.clone() };
        let with = |locks: LinkLocks, link: ScriptLink| ScriptLink { locks, ..link };
        let mut ways = Vec::new();
        let (stop, profiles) = self.until_stop(at, &chain, &windows, &any, cast, fair)?;
        let points = script.links.len();
        for &end in &stop.accepted[0] {
            self.budget.check().map_err(Unknown::Stopped)?;
            let (parts, _) = self.tuples.marked_components(stop.ends[end].tuple);
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

        let mut places: Vec<HeadPlace> = Vec::new();
        let mut head_marks = vec![None; anywhere.marks.len()];
        for head in heads(thread, &self.budget).map_err(Unknown::Stopped)? {
            let region: Rc<Region> = Rc::new(head.region);
            for made in 0..claims.sets() as u32 {
                let place = claims.place(head.symbol, made);
                if claims.is_right(place) {
                    head_marks[place] = Some(0);
                    places.push(HeadPlace { place, region: Rc::clone(&region) });
                }
            }
        }
        let mut links = vec![with(LinkLocks::GivesBack, anywhere.clone())];
        links.extend(windows);
        links.push(with(LinkLocks::Again, anywhere.clone()));
        links.push(with(LinkLocks::Keeps, any(head_marks)));
        let round = self.tabulate((thread, claims), Begin::Heads(&places), &links)?;
        let rounds = self.rounds_of(&places, &round)?;

        // Heads with rounds of the same profiles are one class.
        let mut classes: BTreeMap<Vec<usize>, Mark> = BTreeMap::new();
        let mut class_marks = vec![None; anywhere.marks.len()];
        for (&place, of) in &rounds.at {
            let fresh = classes.len() as Mark;
            let class = *classes.entry(of.keys().copied().collect()).or_insert(fresh);
            class_marks[place] = Some(class);
        }
        // At a quiet moment a thread holds what it keeps in its rounds.
        let kept: FxHashSet<&LockSet> = rounds.profiles.iter().map(|one| &one.keeps).collect();
        let quiet_marks =
            (0..anywhere.marks.len()).map(|place| match Top::of(thread, place / claims.sets()) {
                Top::Symbol(symbol) => kept.contains(thread.held(symbol)).then_some(0),
                Top::Ended | Top::Waits => None,
            });
        let mut links = chain;
        links.push(any(quiet_marks.collect()));
        links.push(with(LinkLocks::Keeps, any(class_marks)));
        let to_head = self.tabulate((thread, claims), cast.begin(at), &links)?;
        for &end in &to_head.accepted[0] {
            let (parts, _) = self.tuples.marked_components(to_head.ends[end].tuple);
            let (quiet, in_a) = (parts[points].0, parts[points + 1].0);
            let histories = &self.tuples.histories;
            let (held, first) = (histories.get(quiet).finally_held(), histories.get(in_a));
            // In A it keeps what it holds.
            if !first.released.is_empty() {
                continue;
            }
            let taken = first.used.union(&first.acquired);
            let Some(of) = rounds.at.get(&to_head.place_of(end)) else { continue };
            for (&profile, &again) in of {
                self.budget.check().map_err(Unknown::Stopped)?;
                let Profile { keeps, takes, in_windows } = &rounds.profiles[profile];
                if *keeps != held {
                    continue;
                }
                let number = alone.number(Alone { moves: true, takes: takes.union(&taken) });
                let mut own: Vec<Part> =
                    parts[..points].iter().map(|&(id, m)| shared(id, m)).collect();
                own.push(Part { history: quiet, mark: 0, alone: Some(number) });
                own.extend(in_windows);
                let length = to_head.ends[end].length.saturating_add(round.ends[again].length);
                let origin = Origin::Rounds { to_head: end, round: again };
                ways.push(Way { parts: own, length, origin });
            }
        }
        sort(&mut ways);
        Ok(EndlessTables { stop, to_head, round, ways })
    }

    /// What a thread can do before it stops, and the classes at the points of the windows where it does.
    fn until_stop(
        &mut self,
        at: usize,
        chain: &[ScriptLink],
        windows: &[ScriptLink],
        any: &dyn Fn(Vec<Option<Mark>>) -> ScriptLink,
        cast: &Cast<'_>,
        fair: bool,
    ) -> Result<(ChainTable, Vec<Vec<Mark>>), Unknown> {
        let (thread, claims) = (cast.threads[at], &cast.claims[at]);
        let places = Top::count(thread) * claims.sets();
        // A thread that stops is in the same class at every point of a window.
        let mut profiles: Vec<Vec<Mark>> = Vec::new();
        let mut known: FxHashMap<Vec<Mark>, Mark> = FxHashMap::default();
        let mut marks = Vec::with_capacity(places);
        for place in 0..places {
            self.budget.check().map_err(Unknown::Stopped)?;
            let ended = Top::of(thread, place / claims.sets()) == Top::Ended;
            let classes: Option<Vec<Mark>> = windows.iter().map(|link| link.marks[place]).collect();
            let stops = classes.filter(|_| (ended || !fair) && claims.may_stop(place));
            marks.push(stops.map(|classes| {
                *known.entry(classes).or_insert_with_key(|profile| {
                    profiles.push(profile.clone());
                    (profiles.len() - 1) as Mark
                })
            }));
        }
        let mut links = chain.to_vec();
        links.push(any(marks));
        Ok((self.tabulate((thread, claims), cast.begin(at), &links)?, profiles))
    }

    /// The rounds from each head, by their profiles.
    fn rounds_of(&self, heads: &[HeadPlace], round: &ChainTable) -> Result<HeadRounds, Unknown> {
        let mut found = HeadRounds::default();
        let mut index: FxHashMap<Profile, usize> = FxHashMap::default();
        for (head, ends) in heads.iter().zip(&round.accepted) {
            for &end in ends {
                self.budget.check().map_err(Unknown::Stopped)?;
                let (parts, _) = self.tuples.marked_components(round.ends[end].tuple);
                let [(first, _), in_windows @ .., (last, _)] = &parts[..] else { continue };
                let histories = &self.tuples.histories;
                let (in_a, in_b) = (histories.get(*first), histories.get(*last));
                let keeps = in_a.held_throughout.clone();
                let quiet = in_windows.last().map(|&(id, _)| histories.get(id).finally_held());
                if !in_a.acquired.is_empty()
                    || quiet.as_ref() != Some(&keeps)
                    || !in_b.released.is_empty()
                {
                    continue;
                }
                let takes = [in_a, in_b]
                    .iter()
                    .fold(LockSet::new(), |all, one| all.union(&one.used).union(&one.acquired));
                let in_windows = in_windows.iter().map(|&(id, mark)| shared(id, mark)).collect();
                let profile = Profile { keeps, takes, in_windows };
                let number = *index.entry(profile).or_insert_with_key(|profile| {
                    found.profiles.push(profile.clone());
                    found.profiles.len() - 1
                });
                let shortest = found.at.entry(head.place).or_default().entry(number).or_insert(end);
                if round.ends[end].length < round.ends[*shortest].length {
                    *shortest = end;
                }
            }
        }
        Ok(found)
    }
}

/// What others can see of a round.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Profile {
    /// The locks that are held at every quiet moment.
    keeps: LockSet,
    /// The locks that are taken alone.
    takes: LockSet,
    /// What is done in the windows, and up to the next quiet moment.
    in_windows: Vec<Part>,
}

/// The rounds of a thread.
#[derive(Default)]
struct HeadRounds {
    profiles: Vec<Profile>,
    /// By the place of the head and the profile, a shortest one.
    at: BTreeMap<usize, BTreeMap<usize, EndId>>,
}

/// What a way of a thread for ever stands for.
#[derive(Clone, Copy)]
enum Origin {
    /// It stops.
    Stop(EndId),
    /// It goes round.
    Rounds { to_head: EndId, round: EndId },
}

/// What a thread can do before it stops, before its rounds, and in a round.
pub(super) struct EndlessTables {
    stop: ChainTable,
    to_head: ChainTable,
    round: ChainTable,
    ways: Vec<Way<Origin>>,
}

/// What participants do alone, each once.
#[derive(Default)]
pub(super) struct AloneTable {
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
