//! Paper 000 §11: an automaton over the events of threads as a formula about *product threads*, each of which
//! is a thread with the state of the automaton. With one `X` per phase transition, as printed, the formula
//! never holds, because one step changes the state of one thread only; with as many as there are threads it
//! says what the automaton says (ERRATA).

use selvedge_analysis::{EngineKind, Options, Prepared, answer};
use selvedge_base::{Budget, Id, IdVec, Place};
use selvedge_program::{
    Action, Edge, Formula, IndexedSymbol, Ipa, LocationId, NodeId, Observable, Phase, Procedure,
    ProcedureId, Program, Proposition, Question, TemporalQuestion, ThreadId, Verdict,
};
use selvedge_testkit::Rng;
use selvedge_testkit::straight::{acquire, read, release, straight_line, write};
use std::collections::BTreeSet;

const THREADS: usize = 2;

/// Some accesses, some of them under one of two locks.
fn actions(rng: &mut Rng) -> Vec<Action> {
    let mut all = Vec::new();
    for _ in 0..rng.between(2, 4) {
        let access = if rng.percent(50) { read(0) } else { write(0) };
        if rng.percent(50) {
            let lock = rng.below(2);
            all.extend([acquire(lock), access, release(lock)]);
        } else {
            all.push(access);
        }
    }
    all
}

fn observable(action: Action) -> Option<Observable> {
    match action {
        Action::Read(location) => Some(Observable::Read(location)),
        Action::Write(location) => Some(Observable::Write(location)),
        _ => None,
    }
}

/// The product of each thread with the states of an automaton: its own transitions it makes with its events,
/// those of others it guesses. With the nodes of each thread by state.
fn product(threads: &[Vec<Action>], steps: &[IndexedSymbol]) -> (Program, Vec<Vec<Vec<NodeId>>>) {
    let all: Vec<&[Action]> = threads.iter().map(Vec::as_slice).collect();
    let mut out = straight_line(&all);
    (out.nodes, out.edges) = (IdVec::new(), IdVec::new());
    let mut by_state = Vec::new();
    for (at, actions) in threads.iter().enumerate() {
        let procedure = ProcedureId::from_index(at);
        let nodes: Vec<Vec<NodeId>> = (0..=steps.len())
            .map(|_| (0..=actions.len()).map(|_| out.nodes.push(procedure)).collect())
            .collect();
        let exit = out.nodes.push(procedure);
        let mut edge = |source, target, action| {
            let (update, passing, volatile, place) = (None, None, false, Place::NONE);
            out.edges.push(Edge { source, target, action, update, passing, volatile, place });
        };
        for state in 0..=steps.len() {
            for (position, &action) in actions.iter().enumerate() {
                let from = nodes[state][position];
                edge(from, nodes[state][position + 1], action);
                let own = |step: &IndexedSymbol| step.thread.index() == at;
                let advance = steps.get(state).filter(|step| own(step));
                if advance.is_some_and(|step| observable(action) == Some(step.symbol)) {
                    edge(from, nodes[state + 1][position + 1], action);
                }
            }
            if steps.get(state).is_some_and(|step| step.thread.index() != at) {
                for (&from, &to) in nodes[state].iter().zip(&nodes[state + 1]) {
                    edge(from, to, Action::Skip);
                }
            }
        }
        let old: &Procedure = &out.procedures[procedure];
        out.procedures[procedure] = Procedure { entry: nodes[0][0], exit, ..old.clone() };
        by_state.push(nodes);
    }
    (out, by_state)
}

/// `H(q_0)`: each of the threads is in a state, so many steps later each is in the next one, and so on.
fn h(by_state: &[Vec<Vec<NodeId>>], steps: usize, nexts: usize) -> Formula {
    let all_in = |state: usize| {
        let one = |at: usize| {
            let nodes = by_state[at][state].clone();
            Formula::Proposition(Proposition::At(ThreadId::from_index(at), nodes))
        };
        (0..by_state.len()).map(one).reduce(Formula::and).expect("a thread")
    };
    (0..steps).rev().fold(Formula::Constant(true), |rest, state| {
        let there = Formula::and(all_in(state + 1), rest);
        let later = (0..nexts).fold(there, |formula, _| Formula::next(formula));
        Formula::finally(Formula::and(all_in(state), later))
    })
}

fn found(program: &Program, question: Question) -> bool {
    let options = Options::new(Some(EngineKind::Tupling));
    let prepared = Prepared::new(program);
    let report = answer(&prepared, &[question], &options, &Budget::new(), &mut |_| {});
    match report.expect("every run replays").answers.remove(0).verdict {
        Verdict::Violation(_) => true,
        Verdict::Safe => false,
        Verdict::Unknown(why) => panic!("{why}"),
    }
}

fn some(formula: Formula) -> Question {
    Question::Temporal(TemporalQuestion::some(formula))
}

#[test]
fn the_formula_needs_a_next_for_each_thread() {
    let location = LocationId::from_index(0);
    let symbols = [Observable::Read(location), Observable::Write(location)];
    let thread = ThreadId::from_index;
    let loops: BTreeSet<IndexedSymbol> = (0..THREADS)
        .flat_map(|at| symbols.map(|symbol| IndexedSymbol { thread: thread(at), symbol }))
        .collect();
    let mut counts = [0; 2];
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let threads: Vec<Vec<Action>> = (0..THREADS).map(|_| actions(&mut rng)).collect();
        let steps: Vec<IndexedSymbol> = (0..rng.between(2, 4))
            .map(|_| IndexedSymbol {
                thread: thread(rng.below(THREADS)),
                symbol: *rng.pick(&symbols),
            })
            .collect();
        let all: Vec<&[Action]> = threads.iter().map(Vec::as_slice).collect();
        let phases = steps.iter().enumerate().map(|(at, &advance)| Phase {
            name: format!("q{at}"),
            loops: loops.clone(),
            advance,
        });
        let automaton = Ipa { name: "any".to_owned(), phases: phases.collect() };
        let expected = found(&straight_line(&all), Question::Automaton(automaton));
        let (program, by_state) = product(&threads, &steps);
        let formula = |nexts: usize| some(h(&by_state, steps.len(), nexts));
        assert_eq!(
            found(&program, formula(THREADS)),
            expected,
            "seed {seed}: {threads:?} {steps:?}"
        );
        assert!(!found(&program, formula(1)), "seed {seed}");
        counts[usize::from(expected)] += 1;
    }
    assert!(counts.iter().all(|&count| count > 5), "{counts:?}");
}
