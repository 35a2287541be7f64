//! # Idea
//! Algorithms for mutual exclusion. A process that enters its critical section asserts that no other
//! is inside and sets the shared bit `busy` until it leaves. With `flawed` an algorithm contains one
//! mistake of the kind that the BEEM suite puts into its models: another comparison, a test or a
//! step that is left out.
//!
//! # Source
//! Peterson (1981), for n processes in n − 1 levels; Lamport's bakery (1974); Dekker, after Dijkstra
//! (1965); Szymanski (1988); Anderson's queue lock (1990). The sizes are those of paper 001 Fig. 8.

use super::boolean::width;
use super::machine::{
    ALWAYS, Machine, Process, State, Term, Transition, array, element, name, number, scalar, state,
    step,
};

/// The state that checks and enters the critical section, and the critical section itself, which is
/// left by the given steps.
fn critical(mut leave: Vec<Transition>) -> [State; 2] {
    for step in &mut leave {
        step.assignments.push((name("busy"), number(0)));
    }
    let enter = State {
        name: "enter",
        asserted: Some(name("busy").is(0)),
        steps: vec![step(ALWAYS, vec![(name("busy"), number(1))], "critical")],
    };
    [enter, state("critical", leave)]
}

fn processes(count: u32, build: impl Fn(u32) -> Process) -> Vec<Process> {
    (0..count).map(build).collect()
}

fn flaw(flawed: bool, what: &str) -> String {
    if flawed { format!(", flawed: {what}") } else { String::new() }
}

/// Peterson's algorithm for `count` processes: at each level waits who came last, as long as another
/// is at this level or above. Flawed: a process takes no notice of the others at its own level.
pub fn peterson(count: u32, flawed: bool) -> Machine {
    let bits = width(count);
    let process = |me: u32| {
        let position = element("position", number(me));
        let last = |level: Term| element("last", level.minus(1));
        let k_position = element("position", name("k"));
        let behind =
            if flawed { k_position.at_most(name("j")) } else { k_position.below(name("j")) };
        let passes = name("k").is(me).or(behind);
        let states = vec![
            state("outside", vec![step(ALWAYS, vec![(name("j"), number(1))], "level")]),
            state(
                "level",
                vec![
                    step(name("j").is(count), vec![], "enter"),
                    step(name("j").below(count), vec![(position.clone(), name("j"))], "announce"),
                ],
            ),
            state(
                "announce",
                vec![step(
                    ALWAYS,
                    vec![(last(name("j")), number(me)), (name("k"), number(0))],
                    "look",
                )],
            ),
            state(
                "look",
                vec![
                    step(
                        name("k").below(count).and(passes),
                        vec![(name("k"), name("k").plus(1))],
                        "look",
                    ),
                    step(
                        last(name("j")).is_not(me).or(name("k").is(count)),
                        vec![(name("j"), name("j").plus(1))],
                        "level",
                    ),
                ],
            ),
        ];
        let leave = critical(vec![step(ALWAYS, vec![(position, number(0))], "outside")]);
        Process {
            name: format!("p{me}"),
            locals: vec![scalar("j", bits, 0), scalar("k", bits, 0)],
            states: states.into_iter().chain(leave).collect(),
        }
    };
    let inner = width(count - 1);
    Machine {
        title: format!(
            "Peterson's algorithm, {count} processes{}",
            flaw(flawed, "the others at the same level are overlooked")
        ),
        shared: vec![
            array("position", inner, vec![0; count as usize]),
            array("last", inner, vec![0; count as usize - 1]),
            scalar("busy", 1, 0),
        ],
        processes: processes(count, process),
    }
}

/// Lamport's bakery with tickets up to `largest`; who would have to take a larger one waits for ever.
/// Flawed: a process waits for larger tickets, not for smaller ones.
pub fn bakery(count: u32, largest: u32, flawed: bool) -> Machine {
    let (index, ticket) = (width(count), width(largest));
    let process = |me: u32| {
        let mine = || element("ticket", number(me));
        let theirs = || element("ticket", name("j"));
        let next = || (name("j"), name("j").plus(1));
        let first = if flawed { theirs().below(mine()) } else { mine().below(theirs()) };
        let tie = theirs().is(mine()).and(number(me).at_most(name("j")));
        let states = vec![
            state(
                "outside",
                vec![step(
                    ALWAYS,
                    vec![
                        (element("choosing", number(me)), number(1)),
                        (name("j"), number(0)),
                        (name("most"), number(0)),
                    ],
                    "choose",
                )],
            ),
            state(
                "choose",
                vec![
                    step(
                        name("j").below(count).and(name("most").below(theirs())),
                        vec![(name("most"), theirs()), next()],
                        "choose",
                    ),
                    step(
                        name("j").below(count).and(theirs().at_most(name("most"))),
                        vec![next()],
                        "choose",
                    ),
                    step(
                        name("j").is(count).and(name("most").below(largest)),
                        vec![
                            (mine(), name("most").plus(1)),
                            (name("j"), number(0)),
                            (element("choosing", number(me)), number(0)),
                        ],
                        "others",
                    ),
                ],
            ),
            state(
                "others",
                vec![
                    step(
                        name("j").below(count).and(element("choosing", name("j")).is(0)),
                        vec![],
                        "turn",
                    ),
                    step(name("j").is(count), vec![], "enter"),
                ],
            ),
            state("turn", vec![step(theirs().is(0).or(first).or(tie), vec![next()], "others")]),
        ];
        let leave = critical(vec![step(ALWAYS, vec![(mine(), number(0))], "outside")]);
        Process {
            name: format!("p{me}"),
            locals: vec![scalar("j", index, 0), scalar("most", ticket, 0)],
            states: states.into_iter().chain(leave).collect(),
        }
    };
    Machine {
        title: format!(
            "Lamport's bakery, {count} processes, tickets up to {largest}{}",
            flaw(flawed, "larger tickets go first")
        ),
        shared: vec![
            array("choosing", 1, vec![0; count as usize]),
            array("ticket", ticket, vec![0; count as usize]),
            scalar("busy", 1, 0),
        ],
        processes: processes(count, process),
    }
}

/// Dekker's algorithm. Flawed: whose turn it is enters without looking at the other's flag again.
pub fn dekker(flawed: bool) -> Machine {
    let process = |me: u32| {
        let other = 1 - me;
        let flag = |of: u32| element("flag", number(of));
        let states = vec![
            state("outside", vec![step(ALWAYS, vec![(flag(me), number(1))], "look")]),
            state(
                "look",
                vec![
                    step(flag(other).is(0), vec![], "enter"),
                    step(flag(other).is(1), vec![], "contend"),
                ],
            ),
            state(
                "contend",
                vec![
                    step(name("turn").is(me), vec![], if flawed { "enter" } else { "look" }),
                    step(name("turn").is(other), vec![], "withdraw"),
                ],
            ),
            state("withdraw", vec![step(ALWAYS, vec![(flag(me), number(0))], "await")]),
            state("await", vec![step(name("turn").is(me), vec![], "outside")]),
        ];
        let leave = critical(vec![step(ALWAYS, vec![(name("turn"), number(other))], "free")]);
        let free = state("free", vec![step(ALWAYS, vec![(flag(me), number(0))], "outside")]);
        Process {
            name: format!("p{me}"),
            locals: Vec::new(),
            states: states.into_iter().chain(leave).chain([free]).collect(),
        }
    };
    Machine {
        title: format!(
            "Dekker's algorithm{}",
            flaw(flawed, "whose turn it is does not wait for the other to withdraw")
        ),
        shared: vec![array("flag", 1, vec![0, 0]), scalar("turn", 1, 0), scalar("busy", 1, 0)],
        processes: processes(2, process),
    }
}

/// Szymanski's algorithm; the flags of the others are read one by one. Flawed: the last test before
/// the critical section, of the processes with smaller numbers, is left out.
pub fn szymanski(count: u32, flawed: bool) -> Machine {
    let index = width(count);
    let process = |me: u32| {
        let mine = |value: u32| (element("flag", number(me)), number(value));
        let theirs = || element("flag", name("j"));
        let more = || name("j").below(count);
        let done = || name("j").is(count);
        let next = || (name("j"), name("j").plus(1));
        let again = || (name("j"), number(0));
        let states = vec![
            state("outside", vec![step(ALWAYS, vec![mine(1), again()], "intend")]),
            // Wait until the door is open.
            state(
                "intend",
                vec![
                    step(more().and(theirs().below(3)), vec![next()], "intend"),
                    step(done(), vec![mine(3), again()], "doorway"),
                ],
            ),
            // In the doorway: wait for those who still want to come in.
            state(
                "doorway",
                vec![
                    step(more().and(theirs().is(1)), vec![mine(2), again()], "room"),
                    step(more().and(theirs().is_not(1)), vec![next()], "doorway"),
                    step(done(), vec![mine(4), again()], "inside"),
                ],
            ),
            state(
                "room",
                vec![
                    step(more().and(theirs().is(4)), vec![mine(4), again()], "inside"),
                    step(more().and(theirs().is_not(4)), vec![next()], "room"),
                    step(done(), vec![again()], "room"),
                ],
            ),
            // The door is closed: those with smaller numbers go first.
            state(
                "inside",
                if flawed {
                    vec![step(ALWAYS, vec![again()], "enter")]
                } else {
                    vec![
                        step(name("j").below(me).and(theirs().below(2)), vec![next()], "inside"),
                        step(name("j").is(me), vec![again()], "enter"),
                    ]
                },
            ),
        ];
        let leave = critical(vec![step(ALWAYS, vec![(name("j"), number(me + 1))], "last")]);
        let last = state(
            "last",
            vec![
                step(more().and(theirs().below(2).or(theirs().is(4))), vec![next()], "last"),
                step(done(), vec![mine(0), again()], "outside"),
            ],
        );
        Process {
            name: format!("p{me}"),
            locals: vec![scalar("j", index, 0)],
            states: states.into_iter().chain(leave).chain([last]).collect(),
        }
    };
    Machine {
        title: format!(
            "Szymanski's algorithm, {count} processes{}",
            flaw(flawed, "nobody waits for smaller numbers")
        ),
        shared: vec![array("flag", 3, vec![0; count as usize]), scalar("busy", 1, 0)],
        processes: processes(count, process),
    }
}

/// Anderson's queue lock: a process draws the number of a slot and waits there. Flawed: a slot stays
/// open for the next one who draws its number. (Numbers go up to twice the number of slots; without
/// the flaw nobody ever has to wait for one.)
pub fn anderson(count: u32, flawed: bool) -> Machine {
    let place = || name("place");
    let process = |me: u32| {
        let draw = vec![(place(), name("next")), (name("next"), name("next").plus(1))];
        let close = if flawed { vec![] } else { vec![(element("slot", place()), number(0))] };
        let states = vec![
            state("outside", vec![step(name("next").below(2 * count - 1), draw, "wrap")]),
            state(
                "wrap",
                vec![
                    step(
                        place().is(count - 1),
                        vec![(name("next"), name("next").minus(count))],
                        "queue",
                    ),
                    step(place().below(count - 1), vec![], "queue"),
                    step(
                        number(count).at_most(place()),
                        vec![(place(), place().minus(count))],
                        "queue",
                    ),
                ],
            ),
            state("queue", vec![step(element("slot", place()).is(1), vec![], "take")]),
            state("take", vec![step(ALWAYS, close, "enter")]),
        ];
        let leave = critical(vec![
            step(place().is(count - 1), vec![(element("slot", number(0)), number(1))], "outside"),
            step(
                place().is_not(count - 1),
                vec![(element("slot", place().plus(1)), number(1))],
                "outside",
            ),
        ]);
        Process {
            name: format!("p{me}"),
            locals: vec![scalar("place", width(2 * count - 1), 0)],
            states: states.into_iter().chain(leave).collect(),
        }
    };
    let slots = std::iter::once(1).chain(std::iter::repeat_n(0, count as usize - 1)).collect();
    Machine {
        title: format!(
            "Anderson's queue lock, {count} processes{}",
            flaw(flawed, "slots stay open")
        ),
        shared: vec![
            array("slot", 1, slots),
            scalar("next", width(2 * count - 1), 0),
            scalar("busy", 1, 0),
        ],
        processes: processes(count, process),
    }
}
