//! What `send`, `post`, `broadcast` and `recv` mean, rule by rule, on small programs.

use selvedge_base::{Budget, Id};
use selvedge_program::text::parse;
use selvedge_program::{
    ChannelId, Move, Program, Question, Race, Receiver, StepKind, Successors, ThreadId, Verdict,
};
use selvedge_replay::{Configuration, Exhaustive, Scheduled, StepError, execute, replay, simulate};

/// Threads that take these edges, one after the other; `waits` before the first one says that the
/// thread waits to be started, and several edges at one place stand with `|` between them.
fn program(threads: &[&str]) -> Program {
    let mut texts = vec!["program channel a channel b lock l set s { x }".to_owned()];
    for (at, edges) in threads.iter().enumerate() {
        let waits = edges.strip_prefix("waits;");
        let steps: Vec<&str> = waits.unwrap_or(edges).split(';').map(str::trim).collect();
        let head = if waits.is_some() { "waits " } else { "" };
        let (last, nodes) = (steps.len(), steps.len() + 1);
        texts.push(format!("thread T{at} {head}main main {{"));
        texts.push(format!("procedure main nodes {nodes} entry 0 exit {last} {{"));
        for (from, alternatives) in steps.iter().enumerate() {
            let edge = |action: &str| format!("{from} -> {} {action}", from + 1);
            texts.extend(alternatives.split('|').map(edge));
        }
        texts.push("} }".to_owned());
    }
    let text = texts.join("\n");
    let (program, problems) = parse(&text);
    program.unwrap_or_else(|| panic!("{problems:?}\n{text}"))
}

fn thread(at: usize) -> ThreadId {
    ThreadId::from_index(at)
}

const A: fn() -> ChannelId = || ChannelId::from_index(0);

/// Who receives in each of the steps that a thread can take, by thread and by edge.
fn offered(
    program: &Program,
    configuration: &Configuration,
    mover: usize,
) -> Vec<Vec<(usize, usize)>> {
    let moves = configuration.moves(program, &Successors::new(program), thread(mover));
    let possible = |step: &&Scheduled| {
        let mut after = configuration.clone();
        after.step(program, thread(mover), (*step).clone()).is_ok()
    };
    let receivers = |step: &Scheduled| {
        step.receivers.iter().map(|one| (one.thread.index(), one.edge.index())).collect()
    };
    moves.iter().filter(possible).map(receivers).collect()
}

fn at_first(threads: &[&str], mover: usize) -> Vec<Vec<(usize, usize)>> {
    let program = program(threads);
    offered(&program, &Configuration::initial(&program), mover)
}

const NONE: [Vec<(usize, usize)>; 0] = [];

#[test]
fn nobody_receives_alone() {
    assert_eq!(at_first(&["recv a", "recv a"], 0), NONE);
    assert_eq!(at_first(&["recv a", "send a"], 0), NONE);
}

#[test]
fn a_send_takes_one_other_ready_thread_and_waits_while_there_is_none() {
    assert_eq!(at_first(&["send a"], 0), NONE);
    assert_eq!(at_first(&["send a", "recv b"], 0), NONE);
    assert_eq!(at_first(&["send a", "send a"], 0), NONE);
    assert_eq!(at_first(&["send a", "skip; recv a"], 0), NONE);
    assert_eq!(at_first(&["send a", "recv a"], 0), [vec![(1, 1)]]);
    assert_eq!(at_first(&["send a", "recv a", "recv a"], 0), [vec![(1, 1)], vec![(2, 2)]]);
    assert_eq!(at_first(&["send a", "recv a | skip | recv a"], 0), [vec![(1, 1)], vec![(1, 3)]]);
}

#[test]
fn a_post_takes_one_ready_thread_if_there_is_one_and_is_lost_otherwise() {
    assert_eq!(at_first(&["post a", "recv b"], 0), [vec![]]);
    assert_eq!(at_first(&["post a", "recv a"], 0), [vec![(1, 1)]]);
    assert_eq!(at_first(&["post a", "recv a | skip"], 0), [vec![(1, 1)]]);
    assert_eq!(at_first(&["post a", "recv a", "recv a"], 0), [vec![(1, 1)], vec![(2, 2)]]);
}

#[test]
fn a_broadcast_takes_all_ready_threads() {
    assert_eq!(at_first(&["broadcast a", "recv b"], 0), [vec![]]);
    assert_eq!(at_first(&["broadcast a", "recv a", "recv b", "recv a"], 0), [vec![(1, 1), (3, 3)]]);
    let choices = at_first(&["broadcast a", "recv a | recv a", "recv a"], 0);
    assert_eq!(choices, [vec![(1, 1), (2, 3)], vec![(1, 2), (2, 3)]]);
}

#[test]
fn nobody_receives_from_itself() {
    for sender in ["send a | recv a", "post a | recv a", "broadcast a | recv a"] {
        let steps = at_first(&[sender, "recv b"], 0);
        let lost = usize::from(!sender.starts_with("send"));
        assert_eq!(steps, vec![Vec::new(); lost], "{sender}");
        assert_eq!(at_first(&[sender, "recv a"], 0), [vec![(1, 2)]], "{sender}");
    }
}

#[test]
fn a_thread_that_was_not_started_or_has_ended_is_not_ready() {
    assert_eq!(at_first(&["broadcast a", "waits; recv a"], 0), [vec![]]);
    assert_eq!(at_first(&["send a", "waits; recv a"], 0), NONE);
    let program = program(&["send a; send a", "recv a"]);
    let mut configuration = Configuration::initial(&program);
    let successors = Successors::new(&program);
    let first = configuration.moves(&program, &successors, thread(0))[0].clone();
    assert_eq!(configuration.step(&program, thread(0), first), Ok(StepKind::Send(A())));
    configuration.step(&program, thread(1), Move::Return).expect("it is at its exit");
    assert_eq!(offered(&program, &configuration, 0), NONE);
}

#[test]
fn wrong_receivers_are_refused_and_nothing_moves() {
    let program = program(&["send a | post a | broadcast a | skip", "recv a", "recv a", "recv b"]);
    let edge = |at: usize| Move::Edge(Id::from_index(at));
    let receivers = |all: &[(usize, usize)]| -> Vec<Receiver> {
        let one = |&(at, edge)| Receiver { thread: thread(at), edge: Id::from_index(edge) };
        all.iter().map(one).collect()
    };
    let initial = Configuration::initial(&program);
    let step = |taken: usize, with: &[(usize, usize)]| {
        let mut configuration = initial.clone();
        let step = Scheduled { step: edge(taken), receivers: receivers(with) };
        let outcome = configuration.step(&program, thread(0), step);
        assert!(outcome.is_ok() || configuration == initial, "{taken} {with:?}");
        outcome
    };
    assert_eq!(step(0, &[(1, 4)]), Ok(StepKind::Send(A())));
    assert_eq!(step(0, &[]), Err(StepError::NoReceiver(A())));
    assert_eq!(step(0, &[(1, 4), (2, 5)]), Err(StepError::Receivers(A())));
    assert_eq!(step(0, &[(3, 6)]), Err(StepError::NotReady(thread(3), A())));
    assert_eq!(step(0, &[(0, 4)]), Err(StepError::NotReady(thread(0), A())));
    assert_eq!(step(0, &[(2, 4)]), Err(StepError::NotReady(thread(2), A())));
    assert_eq!(step(0, &[(9, 4)]), Err(StepError::NoSuchThread));
    assert_eq!(step(0, &[(1, 9)]), Err(StepError::NoSuchEdge));
    assert_eq!(step(1, &[(2, 5)]), Ok(StepKind::Post(A())));
    assert_eq!(step(1, &[]), Err(StepError::Receivers(A())));
    assert_eq!(step(1, &[(1, 4), (2, 5)]), Err(StepError::Receivers(A())));
    assert_eq!(step(2, &[(1, 4), (2, 5)]), Ok(StepKind::Broadcast(A())));
    assert_eq!(step(2, &[(1, 4)]), Err(StepError::Receivers(A())));
    assert_eq!(step(2, &[]), Err(StepError::Receivers(A())));
    assert_eq!(step(2, &[(2, 5), (1, 4)]), Err(StepError::Receivers(A())));
    assert_eq!(step(2, &[(1, 4), (1, 4)]), Err(StepError::Receivers(A())));
    assert_eq!(step(3, &[(1, 4)]), Err(StepError::NoPartner));
    let mut alone = initial.clone();
    assert_eq!(alone.step(&program, thread(1), edge(4)), Err(StepError::Receives(A())));
    assert_eq!(alone, initial);
}

#[test]
fn nobody_receives_while_somebody_is_inside_an_atomic_section() {
    let program = program(&["begin atomic; post a; end atomic", "recv a"]);
    let edge = |at: usize| Move::Edge(Id::from_index(at));
    for seed in 0..20 {
        let simulation = simulate(&program, seed, 10, &Budget::new());
        execute(&program, &simulation.witness).expect("it is a run");
        let post = simulation.witness.steps.iter().find(|step| step.step == edge(1));
        assert_eq!(post.map(|step| step.receivers.len()), Some(0));
    }
}

fn race(program: &Program) -> Verdict<selvedge_program::Witness> {
    let location = Id::from_index(0);
    let question = Question::Race(Race { location, threads: [thread(0), thread(1)] });
    let verdict = Exhaustive::new(program, 3, Budget::new()).decide(&question);
    if let Verdict::Violation(witness) = &verdict {
        replay(program, &question, witness).expect("it is a race");
    }
    verdict
}

#[test]
fn the_exhaustive_search_meets_where_the_rules_say() {
    assert_eq!(race(&program(&["write x; send a", "recv a; write x"])), Verdict::Safe);
    let lost = program(&["write x; post a", "recv a; write x"]);
    assert_eq!(race(&lost), Verdict::Safe);
    let third = program(&["write x; send a", "recv a; write x", "send a"]);
    assert!(matches!(race(&third), Verdict::Violation(_)));
    // A barrier: all three, or those who came too late for ever.
    let barrier = ["write x; broadcast a", "recv a; write x", "recv a"];
    assert_eq!(race(&program(&barrier)), Verdict::Safe);
    let Verdict::Violation(witness) =
        race(&program(&["broadcast a; write x", "recv a; write x", "recv a"]))
    else {
        panic!("both are behind the broadcast")
    };
    assert_eq!(witness.steps.len(), 1, "{witness:?}");
    assert_eq!(witness.steps[0].receivers.len(), 2, "both are ready at first");
    let lost = program(&["post a; write x", "skip; recv a; write x"]);
    let Verdict::Violation(witness) = race(&lost) else { panic!("the post can be in time") };
    assert_eq!(witness.steps.last().map(|step| step.receivers.len()), Some(1));
}

#[test]
fn random_runs_replay_with_their_receivers() {
    let program = program(&[
        "send a | post b; post a; acquire l; broadcast b; release l",
        "recv a | recv b; recv a; recv b",
        "recv b; send a; recv b | recv a",
    ]);
    let mut received = 0;
    for seed in 0..200 {
        let simulation = simulate(&program, seed, 30, &Budget::new());
        let trace = execute(&program, &simulation.witness).expect("it is a run");
        assert_eq!(trace.witness(&program), simulation.witness);
        received += trace.steps.iter().map(|step| step.receivers.len()).sum::<usize>();
    }
    assert!(received > 200, "{received}");
}
