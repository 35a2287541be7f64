//! # Idea
//! From one local run per participant to one interleaving. Two ways:
//! [`by_lock_histories`] follows the proof of the decomposition theorem phase by phase and always
//! succeeds if the histories are compatible; [`fewest_switches`] searches the product of the runs for
//! the interleaving with the fewest context switches, and is used where the product is small.
//!
//! # Source
//! Paper 000 Thm. 1 (Kahlon and Gupta), its constructive side. Within a phase: first everything up
//! to the initial releases, a thread at a time as far as the locks it uses on the way are free; then
//! the matched parts; then the final acquisitions, found by the same greedy choice on the reversed
//! runs. Acyclic release (acquisition) histories are what keeps the greedy choice from getting stuck.
//!
//! # Requires
//! Runs start in the initial configuration and no lock is held there. Phases of a run never
//! decrease. Each phase but the last is ended by exactly one matched step of one participant.

use crate::lock_history::LockAction;
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, StopReason};
use selvedge_lower::LockSet;
use selvedge_program::{Move, Question, ThreadId, Witness, WitnessStep};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// One step of a local run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocalStep {
    /// The step.
    pub step: Move,
    /// The change of a lock's owner, if it is one that matters.
    pub lock: Option<LockAction>,
    /// The phase before the step.
    pub phase: u32,
    /// Whether the step ends its phase.
    pub matched: bool,
    /// The phases in which the step may happen, around its own: the first and the last one. `None`
    /// if it may happen in any.
    pub window: Option<(u32, u32)>,
}

/// A run of one participant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocalRun {
    /// Whose run.
    pub thread: ThreadId,
    /// Its steps.
    pub steps: Vec<LocalStep>,
    /// The phase in which it begins: before that the thread waits to be started.
    pub begin: u32,
}

/// Where an interleaving may end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InterleavingEnd {
    /// When this many steps were matched.
    Matched(u32),
    /// When all runs are at their ends, which are parts of one moment of the last of this many
    /// phases. No step of that phase is matched.
    Moment(u32),
}

impl InterleavingEnd {
    /// The goal of a question whose roles have so many phases.
    pub fn of(question: &Question, phases: u32) -> Self {
        match question {
            Question::Race(_) | Question::Deadlock(_) => Self::Moment(phases),
            _ => Self::Matched(phases),
        }
    }
}

/// How many positions of the runs' product are searched for the fewest context switches.
const SEARCHED: usize = 50_000;

/// One interleaving of the runs, with few context switches where that is cheap to find. `None` only
/// if the runs' lock histories are incompatible in some phase.
///
/// # Errors
/// If the budget is used up.
pub fn interleave(
    runs: &[LocalRun],
    goal: InterleavingEnd,
    budget: &Budget,
) -> Result<Option<Witness>, StopReason> {
    match fewest_switches(runs, goal, SEARCHED, budget)? {
        Some(witness) => Ok(Some(witness)),
        None => by_lock_histories(runs, goal, budget),
    }
}

/// One interleaving of `compatible` runs in which as many runs as possible are replaced by the one
/// at the same position in `shortest`, which need not be compatible with each other.
///
/// # Errors
/// If the budget is used up.
pub fn shortest_interleaving(
    compatible: &[LocalRun],
    shortest: &[LocalRun],
    goal: InterleavingEnd,
    budget: &Budget,
) -> Result<Option<Witness>, StopReason> {
    let shorter = |at: usize| shortest[at].steps.len() < compatible[at].steps.len();
    let replaceable: Vec<usize> = (0..compatible.len()).filter(|&at| shorter(at)).collect();
    let replaced = |chosen: &[usize]| {
        let mut runs = compatible.to_vec();
        for &at in chosen {
            runs[at].clone_from(&shortest[at]);
        }
        fewest_switches(&runs, goal, SEARCHED, budget)
    };
    if replaceable.len() > 1
        && let Some(schedule) = replaced(&replaceable)?
    {
        return Ok(Some(schedule));
    }
    let mut chosen = Vec::new();
    let mut best = None;
    for at in replaceable {
        chosen.push(at);
        match replaced(&chosen)? {
            Some(schedule) => best = Some(schedule),
            None => {
                chosen.pop();
            }
        }
    }
    match best {
        Some(schedule) => Ok(Some(schedule)),
        None => interleave(compatible, goal, budget),
    }
}

/// The interleaving that the decomposition theorem constructs, or `None` if the runs' lock histories
/// are incompatible in some phase.
///
/// # Errors
/// If the budget is used up.
pub fn by_lock_histories(
    runs: &[LocalRun],
    goal: InterleavingEnd,
    budget: &Budget,
) -> Result<Option<Witness>, StopReason> {
    let (InterleavingEnd::Matched(phases) | InterleavingEnd::Moment(phases)) = goal;
    let mut schedule = Witness::default();
    let mut done: Vec<usize> = vec![0; runs.len()];
    let mut held: Vec<LockSet> = vec![LockSet::new(); runs.len()];
    for phase in 0..phases {
        let parts: Vec<&[LocalStep]> = runs
            .iter()
            .zip(&done)
            .map(|(run, &start)| {
                let rest = &run.steps[start..];
                let length = rest.partition_point(|step| step.phase == phase && !step.matched);
                &rest[..length]
            })
            .collect();
        let Some(blocks) = interleave_phase(&parts, &mut held, budget)? else { return Ok(None) };
        for (participant, count) in blocks {
            for _ in 0..count {
                budget.check()?;
                push(&mut schedule, runs, &mut done, participant);
            }
        }
        for (participant, run) in runs.iter().enumerate() {
            if run.steps.get(done[participant]).is_some_and(|step| step.phase == phase) {
                push(&mut schedule, runs, &mut done, participant);
            }
        }
    }
    Ok(Some(schedule))
}

fn push(schedule: &mut Witness, runs: &[LocalRun], done: &mut [usize], participant: usize) {
    let run = &runs[participant];
    let step = run.steps[done[participant]];
    done[participant] += 1;
    let matched = step.matched.then_some(step.phase + 1);
    schedule.steps.push(WitnessStep::plain(run.thread, step.step, matched));
}

/// A block of consecutive steps of one participant.
type Block = (usize, usize);

/// Interleaves the parts of one phase as blocks, and moves `held` from its start to its end.
pub(crate) fn interleave_phase(
    parts: &[&[LocalStep]],
    held: &mut [LockSet],
    budget: &Budget,
) -> Result<Option<Vec<Block>>, StopReason> {
    let cuts: Vec<Cuts> = parts.iter().map(|part| Cuts::new(part)).collect();
    let mut order: Vec<Block> = Vec::new();
    // Up to the initial releases.
    let mut next: Vec<usize> = vec![0; parts.len()];
    let mut start: Vec<usize> = vec![0; parts.len()];
    loop {
        budget.check()?;
        let mut moved = false;
        for at in 0..parts.len() {
            while let Some(&end) = cuts[at].after_initial_releases.get(next[at]) {
                let block = &parts[at][start[at]..end];
                if !runs_freely(block, at, held) {
                    break;
                }
                apply(block, &mut held[at]);
                order.push((at, end - start[at]));
                start[at] = end;
                next[at] += 1;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    if (0..parts.len()).any(|at| next[at] < cuts[at].after_initial_releases.len()) {
        return Ok(None);
    }
    // The matched parts in the middle: everybody holds only what it holds throughout.
    for at in 0..parts.len() {
        let end = cuts[at].final_acquisitions.first().copied().unwrap_or(parts[at].len());
        let block = &parts[at][start[at]..end];
        if !runs_freely(block, at, held) {
            return Ok(None);
        }
        order.push((at, end - start[at]));
    }
    // The final acquisitions, backwards from the end of the phase.
    let mut finally: Vec<LockSet> = held.to_vec();
    for (part, finally) in parts.iter().zip(&mut finally) {
        apply(part_after_releases(part), finally);
    }
    let end_of_phase = finally.clone();
    for (at, one) in finally.iter().enumerate() {
        if finally[at + 1..].iter().any(|other| !one.is_disjoint(other)) {
            return Ok(None);
        }
    }
    let mut left: Vec<usize> = cuts.iter().map(|cuts| cuts.final_acquisitions.len()).collect();
    let mut end: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let mut backwards: Vec<Block> = Vec::new();
    loop {
        budget.check()?;
        let mut moved = false;
        for at in 0..parts.len() {
            while let Some(last) = left[at].checked_sub(1) {
                let from = cuts[at].final_acquisitions[last];
                let block = &parts[at][from..end[at]];
                if !runs_freely(block, at, &finally) {
                    break;
                }
                if let Some(LockAction::Acquire(lock)) = block[0].lock {
                    finally[at].remove(lock);
                }
                backwards.push((at, end[at] - from));
                end[at] = from;
                left[at] = last;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    if left.iter().any(|&left| left > 0) {
        return Ok(None);
    }
    order.extend(backwards.into_iter().rev());
    held.clone_from_slice(&end_of_phase);
    Ok(Some(order))
}

/// Where a part of a run is cut.
struct Cuts {
    /// The positions after each initial release.
    after_initial_releases: Vec<usize>,
    /// The positions of the final acquisitions.
    final_acquisitions: Vec<usize>,
}

impl Cuts {
    fn new(part: &[LocalStep]) -> Self {
        let mut after_initial_releases = Vec::new();
        let mut final_acquisitions: Vec<usize> = Vec::new();
        for (at, step) in part.iter().enumerate() {
            match step.lock {
                Some(LockAction::Acquire(_)) => final_acquisitions.push(at),
                Some(LockAction::Release(lock)) => {
                    let acquired = LockAction::Acquire(lock);
                    match final_acquisitions.iter().rposition(|&at| part[at].lock == Some(acquired))
                    {
                        Some(position) => {
                            final_acquisitions.remove(position);
                        }
                        None => after_initial_releases.push(at + 1),
                    }
                }
                None => {}
            }
        }
        Self { after_initial_releases, final_acquisitions }
    }
}

/// The steps after the last initial release.
fn part_after_releases(part: &[LocalStep]) -> &[LocalStep] {
    let start = Cuts::new(part).after_initial_releases.last().copied().unwrap_or(0);
    &part[start..]
}

/// Whether no lock that the block takes is held by another participant.
fn runs_freely(block: &[LocalStep], participant: usize, held: &[LockSet]) -> bool {
    block.iter().all(|step| match step.lock {
        Some(LockAction::Acquire(lock)) => held
            .iter()
            .enumerate()
            .all(|(other, held)| other == participant || !held.contains(lock)),
        _ => true,
    })
}

fn apply(block: &[LocalStep], held: &mut LockSet) {
    for step in block {
        match step.lock {
            Some(LockAction::Acquire(lock)) => held.insert(lock),
            Some(LockAction::Release(lock)) => held.remove(lock),
            None => {}
        }
    }
}

/// The interleaving of the runs with the fewest context switches, and among those with the fewest
/// steps; it ends as soon as the goal is reached. `None` if there is none, or if the product of the runs
/// has more than `limit` positions.
///
/// # Errors
/// If the budget is used up.
pub fn fewest_switches(
    runs: &[LocalRun],
    goal: InterleavingEnd,
    limit: usize,
    budget: &Budget,
) -> Result<Option<Witness>, StopReason> {
    let visible: Vec<Vec<Visible>> = runs.iter().map(|run| visible_steps(run, goal)).collect();
    let positions = visible.iter().map(|steps| steps.len() + 1).fold(1usize, usize::saturating_mul);
    if positions.saturating_mul(runs.len()) > limit {
        return Ok(None);
    }
    let start = Position { at: vec![0; runs.len()], last: None };
    let mut best: FxHashMap<Position, (Cost, Option<Position>)> = FxHashMap::default();
    let mut queue = BinaryHeap::from([Reverse(((0, 0), start.clone()))]);
    best.insert(start, ((0, 0), None));
    while let Some(Reverse((cost, position))) = queue.pop() {
        budget.check()?;
        if best[&position].0 < cost {
            continue;
        }
        let matched: u32 = position
            .at
            .iter()
            .zip(&visible)
            .map(|(&at, visible)| visible[..at].last().map_or(0, |step| step.matched_so_far))
            .sum();
        let reached = match goal {
            InterleavingEnd::Matched(phases) => matched == phases,
            InterleavingEnd::Moment(_) => {
                position.at.iter().zip(&visible).all(|(&at, all)| at == all.len())
            }
        };
        if reached {
            return Ok(Some(unwind(runs, &visible, &best, position)));
        }
        for participant in 0..runs.len() {
            let Some(step) = visible[participant].get(position.at[participant]) else { continue };
            let allowed = match step.kind {
                VisibleKind::Matched(number) => number == matched + 1,
                VisibleKind::Within(first, last) => first <= matched && matched <= last,
                VisibleKind::Lock(LockAction::Release(_)) => true,
                VisibleKind::Lock(LockAction::Acquire(lock)) => (0..runs.len()).all(|other| {
                    other == participant
                        || !visible[other][..position.at[other]]
                            .last()
                            .is_some_and(|step| step.held_after.contains(lock))
                }),
            };
            if !allowed || matched < runs[participant].begin {
                continue;
            }
            let mut at = position.at.clone();
            at[participant] += 1;
            let switched = position.last.is_some_and(|last| last != participant);
            let next_cost = (cost.0 + u64::from(switched), cost.1 + step.steps);
            let next = Position { at, last: Some(participant) };
            let known = best.get(&next).map(|&(cost, _)| cost);
            if known.is_none_or(|known| next_cost < known) {
                best.insert(next.clone(), (next_cost, Some(position.clone())));
                queue.push(Reverse((next_cost, next)));
            }
        }
    }
    Ok(None)
}

/// Context switches, then steps.
type Cost = (u64, u64);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Position {
    /// How many visible steps each participant has made.
    at: Vec<usize>,
    /// Who moved last.
    last: Option<usize>,
}

#[derive(Clone, Copy)]
enum VisibleKind {
    Lock(LockAction),
    /// The access with this number, from 1.
    Matched(u32),
    /// An event that is allowed in these phases only.
    Within(u32, u32),
}

/// A step that others can notice.
struct Visible {
    kind: VisibleKind,
    /// One past its position in the run.
    end: usize,
    /// How many steps of the run it stands for: itself and the unnoticeable ones before it.
    steps: u64,
    held_after: LockSet,
    matched_so_far: u32,
}

fn visible_steps(run: &LocalRun, goal: InterleavingEnd) -> Vec<Visible> {
    let mut held = LockSet::new();
    let mut matched_so_far = 0;
    let mut last = 0;
    let mut visible = Vec::new();
    for (at, step) in run.steps.iter().enumerate() {
        let kind = match (step.matched, step.lock, step.window) {
            (true, ..) => VisibleKind::Matched(step.phase + 1),
            (false, Some(action), _) => VisibleKind::Lock(action),
            (false, None, Some((first, last))) => VisibleKind::Within(first, last),
            (false, None, None) => continue,
        };
        apply(std::slice::from_ref(step), &mut held);
        matched_so_far += u32::from(step.matched);
        visible.push(Visible {
            kind,
            end: at + 1,
            steps: (at + 1 - last) as u64,
            held_after: held.clone(),
            matched_so_far,
        });
        last = at + 1;
    }
    // What comes after the last visible step matters only if the run must get to its end.
    if matches!(goal, InterleavingEnd::Moment(_)) && last < run.steps.len() {
        visible.push(Visible {
            kind: VisibleKind::Within(0, u32::MAX),
            end: run.steps.len(),
            steps: (run.steps.len() - last) as u64,
            held_after: held,
            matched_so_far,
        });
    }
    visible
}

fn unwind(
    runs: &[LocalRun],
    visible: &[Vec<Visible>],
    best: &FxHashMap<Position, (Cost, Option<Position>)>,
    end: Position,
) -> Witness {
    let mut movers = Vec::new();
    let mut position = end;
    while let Some(previous) = &best[&position].1 {
        movers.extend(position.last);
        position = previous.clone();
    }
    let mut schedule = Witness::default();
    let mut made = vec![0; runs.len()];
    let mut done = vec![0; runs.len()];
    for &participant in movers.iter().rev() {
        let end = visible[participant][made[participant]].end;
        made[participant] += 1;
        while done[participant] < end {
            push(&mut schedule, runs, &mut done, participant);
        }
    }
    schedule
}
