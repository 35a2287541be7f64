//! # Idea
//! A multi-buffer protocol: slaves write messages into buffers, masters read the newest one, and a
//! semaphore guards the states of the buffers. Nobody may ever find himself without the buffer that
//! he needs.
//!
//! # Source
//! Msmie, the multiprocessor shared-memory information exchange (Bruns and Anderson 1992), in the
//! size of the BEEM suite: several slaves and masters, any number of buffers.

use super::machine::{
    ALWAYS, Condition, Machine, Process, State, Term, Transition, array, element, name, number,
    scalar, state, step,
};

/// Nothing is in the buffer.
const IDLE: u32 = 0;
/// The newest message.
const NEWEST: u32 = 1;
/// A slave writes into it.
const SLAVE: u32 = 2;
/// Masters read it.
const MASTER: u32 = 3;

/// The protocol. Flawed: slaves do not take the semaphore.
///
/// # Panics
/// If there are fewer than three buffers, or more than 15 masters.
pub fn msmie(buffers: u32, slaves: u32, masters: u32, flawed: bool) -> Machine {
    assert!(buffers >= 3, "a slave, the newest message and a master need a buffer each");
    assert!(masters <= 15, "readers are counted in four bits");
    let slave = |me: u32| slave(me, buffers, flawed);
    let master = |me: u32| master(me, buffers);
    let first = (1..buffers).map(|_| IDLE).chain([SLAVE]).collect();
    let what = if flawed { ", flawed: slaves take no semaphore" } else { "" };
    Machine {
        title: format!("Msmie, {buffers} buffers, {slaves} slaves, {masters} masters{what}"),
        shared: vec![
            array("buffer", 2, first),
            scalar("readers", 4, 0),
            scalar("free", 1, 1),
            scalar("stale", 1, 0),
        ],
        processes: (1..=slaves).map(slave).chain((1..=masters).map(master)).collect(),
    }
}

fn buffer(at: u32) -> Term {
    element("buffer", number(at))
}

fn none(buffers: u32, value: u32) -> Condition {
    Condition::All((0..buffers).map(|at| buffer(at).is_not(value)).collect())
}

/// One step for each buffer in state `from`, which sets it to `to`.
fn change(buffers: u32, from: u32, to: u32, next: &'static str) -> Vec<Transition> {
    (0..buffers).map(|at| step(buffer(at).is(from), vec![(buffer(at), number(to))], next)).collect()
}

fn otherwise(mut steps: Vec<Transition>, last: Transition) -> Vec<Transition> {
    steps.push(last);
    steps
}

fn acquire(from: &'static str, next: &'static str) -> State {
    state(from, vec![step(name("free").is(1), vec![(name("free"), number(0))], next)])
}

/// A state that must not be reached.
fn wrong() -> State {
    State {
        name: "wrong",
        asserted: Some(Condition::Any(Vec::new())),
        steps: vec![step(ALWAYS, Vec::new(), "wrong")],
    }
}

fn slave(me: u32, buffers: u32, flawed: bool) -> Process {
    let release = || (name("free"), number(1));
    let begin = if flawed {
        state("rest", vec![step(ALWAYS, Vec::new(), "outdate")])
    } else {
        acquire("rest", "outdate")
    };
    Process {
        name: format!("slave{me}"),
        locals: Vec::new(),
        states: vec![
            begin,
            state(
                "outdate",
                otherwise(
                    change(buffers, NEWEST, IDLE, "publish"),
                    step(none(buffers, NEWEST), Vec::new(), "publish"),
                ),
            ),
            state(
                "publish",
                otherwise(
                    change(buffers, SLAVE, NEWEST, "claim"),
                    step(none(buffers, SLAVE), Vec::new(), "wrong"),
                ),
            ),
            state(
                "claim",
                otherwise(
                    change(buffers, IDLE, SLAVE, "release"),
                    step(none(buffers, IDLE), Vec::new(), "wrong"),
                ),
            ),
            state("release", vec![step(ALWAYS, vec![release()], "rest")]),
            wrong(),
        ],
    }
}

fn master(me: u32, buffers: u32) -> Process {
    let release = || (name("free"), number(1));
    let reading = (0..buffers).map(|at| step(buffer(at).is(MASTER), Vec::new(), "join")).collect();
    let newer = Condition::Any((0..buffers).map(|at| buffer(at).is(NEWEST)).collect());
    Process {
        name: format!("master{me}"),
        locals: Vec::new(),
        states: vec![
            acquire("rest", "look"),
            state("look", otherwise(reading, step(none(buffers, MASTER), Vec::new(), "fetch"))),
            state(
                "fetch",
                otherwise(
                    change(buffers, NEWEST, MASTER, "join"),
                    step(none(buffers, NEWEST), vec![release()], "rest"),
                ),
            ),
            state(
                "join",
                vec![step(
                    ALWAYS,
                    vec![(name("readers"), name("readers").plus(1)), release()],
                    "read",
                )],
            ),
            state(
                "read",
                vec![step(
                    name("free").is(1),
                    vec![(name("free"), number(0)), (name("readers"), name("readers").minus(1))],
                    "part",
                )],
            ),
            state(
                "part",
                vec![
                    step(name("readers").is(0), Vec::new(), "last"),
                    step(number(0).below(name("readers")), Vec::new(), "release"),
                ],
            ),
            // The last reader: the message is the newest one, unless there is a newer one.
            state(
                "last",
                vec![
                    step(newer, vec![(name("stale"), number(1))], "hand"),
                    step(none(buffers, NEWEST), vec![(name("stale"), number(0))], "hand"),
                ],
            ),
            state("hand", hand_back(buffers)),
            state("release", vec![step(ALWAYS, vec![release()], "rest")]),
            wrong(),
        ],
    }
}

fn hand_back(buffers: u32) -> Vec<Transition> {
    let mut steps = Vec::new();
    for at in 0..buffers {
        for (stale, value) in [(0, NEWEST), (1, IDLE)] {
            steps.push(step(
                buffer(at).is(MASTER).and(name("stale").is(stale)),
                vec![(buffer(at), number(value))],
                "release",
            ));
        }
    }
    steps.push(step(none(buffers, MASTER), Vec::new(), "wrong"));
    steps
}
