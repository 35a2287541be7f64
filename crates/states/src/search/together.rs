//! # Idea
//! Partitions in one process: each turn of all of them is done by threads, or by one if there is little to
//! do, and what they send is handed over in between.

use super::partition::{Parcel, Partition, Place, SearchOutcome, Turn};
use crate::journal::LogPlace;
use crate::program::Code;
use crate::search::{Goal, SearchOptions};
use selvedge_base::Budget;
use std::collections::BTreeSet;

/// With fewer states to expand, one thread does the turns of all partitions.
const FEW: usize = 256;

/// Searches to the end with so many partitions.
pub fn search_together(
    code: &Code<'_>,
    goal: &Goal,
    options: SearchOptions,
    budget: &Budget,
    (partitions, nonce): (usize, u64),
    kept: Option<&LogPlace>,
) -> SearchOutcome {
    let peers = partitions.max(1);
    let mut crew: Vec<Partition<'_, '_>> = (0..peers)
        .map(|own| {
            let place = Place { own, peers, tells: own == 0, nonce };
            Partition::new(code, goal, options, budget, place, kept.cloned())
        })
        .collect();
    let mut mail: Vec<Vec<Vec<u64>>> = vec![Vec::new(); peers];
    let mut outcome = loop {
        let turns = turns(&mut crew, std::mem::replace(&mut mail, vec![Vec::new(); peers]));
        let mut ended = None;
        for turn in turns {
            match turn {
                Turn::Send(parcels) => {
                    for Parcel { to, words } in parcels {
                        mail[to].push(words);
                    }
                }
                // The first one makes the runs.
                Turn::Ended(outcome) => ended = ended.or(Some(outcome)),
            }
        }
        if let Some(outcome) = ended {
            break *outcome;
        }
    };
    if options.states.is_some() {
        let parts = crew.iter().map(Partition::shared_states);
        let parts: Result<Vec<BTreeSet<_>>, _> = parts.collect();
        outcome.shared_states = parts.ok().map(|parts| parts.into_iter().flatten().collect());
    }
    outcome
}

/// One turn of all partitions.
fn turns(crew: &mut [Partition<'_, '_>], mail: Vec<Vec<Vec<u64>>>) -> Vec<Turn> {
    let one = |(partition, mail): (&mut Partition<'_, '_>, Vec<Vec<u64>>)| {
        for words in mail {
            partition.receive(words);
        }
        partition.turn()
    };
    let left: usize = crew.iter().map(Partition::left).sum();
    if left < FEW || crew.len() == 1 {
        return crew.iter_mut().zip(mail).map(one).collect();
    }
    std::thread::scope(|scope| {
        let work = crew.iter_mut().zip(mail);
        let threads: Vec<_> = work.map(|work| scope.spawn(move || one(work))).collect();
        let ends = threads.into_iter().map(|thread| match thread.join() {
            Ok(turn) => turn,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        ends.collect()
    })
}
