//! # Idea
//! From local runs along the same links to one interleaving: link by link, as the decomposition theorem
//! constructs it; and for ever, as the criterion for infinite runs does.
//!
//! # Source
//! [`crate::schedule`]; the module documentation of [`super`].

use super::Failure;
use crate::Fault;
use crate::schedule::{InterleavingEnd, LocalRun, LocalStep, interleave, interleave_phase};
use selvedge_base::Budget;
use selvedge_lower::LockSet;
use selvedge_program::{ThreadId, Unknown, Witness, WitnessStep};

/// What one thread does in an infinite run.
pub(crate) struct Rounds {
    /// Up to the head, or up to where it stops.
    pub to_head: Vec<LocalStep>,
    /// From the head to the head, if it goes round.
    pub round: Option<Vec<LocalStep>>,
}

/// The interleaving of runs along links, of which it is said which end with a point.
pub(crate) fn of_points(
    threads: &[ThreadId],
    runs: &[Vec<LocalStep>],
    links: &[bool],
    budget: &Budget,
) -> Result<Witness, Failure> {
    if links.len() == 1 {
        let run = |(&thread, steps): (&ThreadId, &Vec<LocalStep>)| LocalRun {
            thread,
            steps: steps.clone(),
            begin: 0,
        };
        let runs: Vec<LocalRun> = threads.iter().zip(runs).map(run).collect();
        let witness = interleave(&runs, InterleavingEnd::Moment(1), budget);
        let mut witness = witness.map_err(Unknown::Stopped)?.ok_or_else(unfit)?;
        witness.points = vec![witness.steps.len()];
        return Ok(witness);
    }
    let mut weave = Weave::new(threads, budget);
    for (link, &point) in links.iter().enumerate() {
        let parts = runs.iter().map(|run| of_link(run, link as u32));
        let parts: Vec<&[LocalStep]> = parts.collect();
        weave.together(&parts)?;
        if point {
            weave.witness.points.push(weave.witness.steps.len());
        }
    }
    Ok(weave.witness)
}

/// The interleaving of runs along links, of which it is said which end with a point, and then for ever with
/// so many links of windows.
pub(crate) fn of_rounds(
    threads: &[ThreadId],
    runs: &[Rounds],
    points: &[bool],
    windows: u32,
    budget: &Budget,
) -> Result<Witness, Failure> {
    let mut weave = Weave::new(threads, budget);
    let links = points.len() as u32;
    for link in 0..=links {
        let parts: Vec<&[LocalStep]> = runs.iter().map(|run| of_link(&run.to_head, link)).collect();
        weave.together(&parts)?;
        if points.get(link as usize) == Some(&true) {
            weave.witness.points.push(weave.witness.steps.len());
        }
    }
    let round = |run: &Rounds| run.round.clone().unwrap_or_default();
    // The last of those that go round begins its round at its head, where it is alone.
    let last = runs.iter().rposition(|run| run.round.is_some());
    for (at, run) in runs.iter().enumerate() {
        weave.alone(at, of_link(&run.to_head, links + 1))?;
        if Some(at) != last {
            weave.alone(at, of_link(&round(run), 0))?;
        }
    }
    weave.witness.repeats = Some(weave.witness.steps.len());
    if let Some(last) = last {
        weave.alone(last, of_link(&round(&runs[last]), 0))?;
    }
    for link in 1..=windows + 1 {
        let rounds: Vec<Vec<LocalStep>> = runs.iter().map(round).collect();
        let parts: Vec<&[LocalStep]> = rounds.iter().map(|round| of_link(round, link)).collect();
        weave.together(&parts)?;
    }
    for (at, run) in runs.iter().enumerate() {
        weave.alone(at, of_link(&round(run), windows + 2))?;
        if Some(at) != last {
            weave.alone(at, of_link(&round(run), 0))?;
        }
    }
    Ok(weave.witness)
}

fn unfit() -> Failure {
    Failure::Fault(Fault("compatible lock histories could not be scheduled".to_owned()))
}

/// The steps of one link.
fn of_link(run: &[LocalStep], link: u32) -> &[LocalStep] {
    let start = run.partition_point(|step| step.phase < link);
    let end = run.partition_point(|step| step.phase <= link);
    &run[start..end]
}

struct Weave<'a> {
    threads: &'a [ThreadId],
    held: Vec<LockSet>,
    witness: Witness,
    budget: &'a Budget,
}

impl<'a> Weave<'a> {
    fn new(threads: &'a [ThreadId], budget: &'a Budget) -> Self {
        let held = vec![LockSet::new(); threads.len()];
        Self { threads, held, witness: Witness::default(), budget }
    }

    /// The steps of one link of all threads.
    fn together(&mut self, parts: &[&[LocalStep]]) -> Result<(), Failure> {
        let blocks = interleave_phase(parts, &mut self.held, self.budget);
        let blocks = blocks.map_err(Unknown::Stopped)?.ok_or_else(unfit)?;
        let mut done = vec![0; parts.len()];
        for (at, count) in blocks {
            self.alone(at, &parts[at][done[at]..done[at] + count])?;
            done[at] += count;
        }
        Ok(())
    }

    /// Steps of one thread.
    fn alone(&mut self, at: usize, steps: &[LocalStep]) -> Result<(), Failure> {
        for step in steps {
            self.budget.check().map_err(Unknown::Stopped)?;
            let step = WitnessStep::plain(self.threads[at], step.step, None);
            self.witness.steps.push(step);
        }
        Ok(())
    }
}
