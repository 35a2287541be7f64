//! # Idea
//! The dataflow: one operator in a loop, which takes parcels by the number of the partition that they are
//! for. The timestamp is the number of a turn: what is sent in one arrives in the next one, since the
//! loop adds one. When no parcel of a turn can come any more, which timely finds out for all workers
//! together, the partition makes its next turn. A level is several turns: slices of it, and one to
//! conclude.
//!
//! The operator only carries parcels. The partition makes its turns beside it, because an operator
//! may not borrow anything; idle workers park until something arrives.
//!
//! # Invariants
//! 1. A turn begins when all parcels of the turn before have arrived everywhere. A partition to which
//!    nobody sends anything makes its turns all the same, since it holds the next capability itself.

use crate::alive::Pulse;
use selvedge_states::{Parcel, PartitionPlace, SearchOutcome, SearchTask, Turn};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::operator::Operator as _;
use timely::dataflow::operators::{Capability, ConnectLoop as _, Feedback as _};
use timely::worker::Worker;

/// How long an idle worker parks before it looks whether to go on.
const PARKED: Duration = Duration::from_millis(100);

/// A parcel on its way: for whom, and what.
type Cargo = (u64, Vec<u64>);

/// What the operator and the partition hand to each other.
#[derive(Default)]
struct Mailbox {
    /// The right to send, from the turn that is being made on.
    right: Option<Capability<u64>>,
    /// What is to be sent in this turn.
    outgoing: Option<Vec<Parcel>>,
    /// What has arrived, by turn.
    arrived: BTreeMap<u64, Vec<Vec<u64>>>,
    /// The first turn of which something may still arrive.
    open: u64,
}

/// Searches as one of the workers of timely; nothing if it is told to stop.
pub(crate) fn search(
    worker: &mut Worker,
    task: &SearchTask,
    place: PartitionPlace,
    pulse: &Pulse,
    stop: &AtomicBool,
) -> Option<SearchOutcome> {
    let mailbox = Rc::new(RefCell::new(Mailbox::default()));
    let shared = Rc::clone(&mailbox);
    let activator = worker.dataflow::<u64, _, _>(move |scope| {
        let (handle, cycle) = scope.feedback::<Vec<Cargo>>(1);
        let mut activator = None;
        cycle
            .unary_frontier(Exchange::new(|cargo: &Cargo| cargo.0), "Search", |right, info| {
                activator = Some(scope.activator_for(info.address));
                shared.borrow_mut().right = Some(right);
                move |(input, frontier), output| {
                    let mut mailbox = shared.borrow_mut();
                    let mailbox = &mut *mailbox;
                    input.for_each(|right, data: &mut Vec<Cargo>| {
                        let arrived = mailbox.arrived.entry(*right.time()).or_default();
                        arrived.extend(data.drain(..).map(|cargo| cargo.1));
                    });
                    if let (Some(right), Some(parcels)) =
                        (&mut mailbox.right, mailbox.outgoing.take())
                    {
                        let mut session = output.session(right);
                        for Parcel { to, words } in parcels {
                            session.give((to as u64, words));
                        }
                        drop(session);
                        let next = *right.time() + 1;
                        right.downgrade(&next);
                    }
                    // Where nothing is open any more, nothing can arrive.
                    mailbox.open = frontier.frontier().first().copied().unwrap_or(u64::MAX);
                }
            })
            .connect_loop(handle);
        activator
    })?;
    let code = task.code();
    let mut partition = task.partition(&code, place);
    for time in 1.. {
        pulse.busy.fetch_add(1, Ordering::Relaxed);
        let turn = partition.turn();
        pulse.busy.fetch_sub(1, Ordering::Relaxed);
        pulse.turns.fetch_add(1, Ordering::Relaxed);
        pulse.level.fetch_max(partition.level(), Ordering::Relaxed);
        let parcels = match turn {
            Turn::Send(parcels) => parcels,
            Turn::Ended(outcome) => {
                mailbox.borrow_mut().right = None;
                activator.activate();
                return Some(*outcome);
            }
        };
        mailbox.borrow_mut().outgoing = Some(parcels);
        activator.activate();
        while mailbox.borrow().outgoing.is_some() || mailbox.borrow().open <= time {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            worker.step_or_park(Some(PARKED));
        }
        let arrived = mailbox.borrow_mut().arrived.remove(&time);
        for words in arrived.into_iter().flatten() {
            partition.receive(words);
        }
    }
    None
}
