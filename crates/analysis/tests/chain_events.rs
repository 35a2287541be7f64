//! Automata over the events of threads whose loops forbid nothing are chains of steps: as formulas with
//! `X[T: e]`, and as the formulas of paper 000 §11 over threads multiplied with the automaton, they have the
//! verdicts of the automata.
//!
//! `SELVEDGE_PROGRAMS` sets the number of programs (default: a few seconds' worth).

use selvedge_analysis::{EngineKind, Options, Prepared, answer};
use selvedge_base::{Budget, Id};
use selvedge_program::{
    Action, Deed, Edge, Formula, IndexedSymbol, Ipa, NodeId, Observable, Program, Proposition,
    Question, TemporalQuestion, ThreadId, Verdict,
};
use selvedge_testkit::Rng;
use selvedge_testkit::generate::{Shape, random_model};
use selvedge_testkit::queries::{random_automaton, symbols};

fn programs(default: u64) -> u64 {
    let asked = std::env::var("SELVEDGE_PROGRAMS").ok();
    asked.and_then(|count| count.parse().ok()).unwrap_or(default)
}

/// Whether an engine finds a run.
fn finds(program: &Program, question: Question, engine: EngineKind) -> bool {
    let (prepared, options) = (Prepared::new(program), Options::new(Some(engine)));
    let report = answer(&prepared, &[question], &options, &Budget::new(), &mut |_| {});
    match report.expect("every run replays").answers.remove(0).verdict {
        Verdict::Violation(_) => true,
        Verdict::Safe => false,
        Verdict::Unknown(why) => panic!("{}: {why}", engine.name()),
    }
}

fn some(formula: Formula) -> Question {
    Question::Temporal(TemporalQuestion::some(formula))
}

/// A random automaton whose loops forbid nothing.
fn automaton(program: &Program, rng: &mut Rng) -> Option<Ipa> {
    let mut ipa = random_automaton(program, rng)?;
    let own = symbols(program);
    let all = own.iter_enumerated().flat_map(|(thread, symbols)| {
        symbols.iter().map(move |&symbol| IndexedSymbol { thread, symbol })
    });
    let all: std::collections::BTreeSet<_> = all.collect();
    for phase in &mut ipa.phases {
        phase.loops.clone_from(&all);
    }
    Some(ipa)
}

/// `F X[T1: e1] F X[T2: e2] …`.
fn steps(ipa: &Ipa) -> Formula {
    ipa.phases.iter().rev().fold(Formula::Constant(true), |rest, phase| {
        let deed = match phase.advance.symbol {
            Observable::Read(location) => Deed::Read(location),
            Observable::Write(location) => Deed::Write(location),
            Observable::BeginUnit => Deed::Begin,
            Observable::EndUnit => Deed::End,
        };
        let takes = Proposition::Takes(phase.advance.thread, Some(deed));
        Formula::finally(Formula::and(Formula::Proposition(takes), Formula::next(rest)))
    })
}

#[test]
fn automata_as_chains_of_steps() {
    let mut counts = [0; 2];
    for shape in [Shape::TINY, Shape::CONTENDED] {
        for seed in 0..programs(60) {
            let mut rng = Rng::new(seed);
            let source = random_model(&mut rng, &shape).to_eml();
            let program = selvedge_front_eml::parse(&source).program.expect("a program");
            for _ in 0..3 {
                let Some(ipa) = automaton(&program, &mut rng) else { continue };
                let formula = some(steps(&ipa));
                let found = finds(&program, Question::Automaton(ipa.clone()), EngineKind::Tupling);
                let as_chain = finds(&program, formula, EngineKind::Tupling);
                assert_eq!(found, as_chain, "{ipa:?} of\n{source}");
                counts[usize::from(found)] += 1;
            }
        }
    }
    assert!(counts.iter().all(|&count| count > 20), "{counts:?}");
}

/// The nodes of each thread.
type PlacesOfThreads = Vec<(ThreadId, Vec<NodeId>)>;

/// A program without calls whose threads know the state of an automaton: each has its nodes once for each
/// state, goes on to the next state by its own events, and guesses the steps of the others. Also the nodes of
/// each thread in each state.
fn product(program: &Program, ipa: &Ipa) -> (Program, Vec<PlacesOfThreads>) {
    let mut made = program.clone();
    let owner = |node: NodeId| program.procedures[program.nodes[node]].owner.expect("an owner");
    let states = ipa.phases.len() + 1;
    // The nodes in the first state are those of the program.
    let mut copies: Vec<Vec<NodeId>> = vec![program.nodes.ids().collect()];
    for _ in 1..states {
        let own = program.nodes.iter().map(|&procedure| made.nodes.push(procedure));
        copies.push(own.collect());
    }
    made.edges = selvedge_base::IdVec::new();
    let at = |state: usize, node: NodeId| copies[state][node.index()];
    for edge in &program.edges {
        for state in 0..states {
            let mut go = |to: usize| {
                let (source, target) = (at(state, edge.source), at(to, edge.target));
                made.edges.push(Edge { source, target, ..edge.clone() });
            };
            go(state);
            let event = match edge.action {
                Action::Read(location) => Some(Observable::Read(location)),
                Action::Write(location) => Some(Observable::Write(location)),
                _ => None,
            };
            let thread = owner(edge.source);
            let advance = ipa.phases.get(state).map(|phase| phase.advance);
            if event.is_some_and(|symbol| advance == Some(IndexedSymbol { thread, symbol })) {
                go(state + 1);
            }
        }
    }
    let sample = program.edges.iter().next().expect("an edge").clone();
    for (state, phase) in ipa.phases.iter().enumerate() {
        for node in program.nodes.ids() {
            if owner(node) != phase.advance.thread {
                let (source, target) = (at(state, node), at(state + 1, node));
                let action = Action::Skip;
                made.edges.push(Edge { source, target, action, volatile: false, ..sample.clone() });
            }
        }
    }
    let of_thread = |state: usize, thread: ThreadId| {
        let nodes = program.nodes.ids().filter(|&node| owner(node) == thread);
        (thread, nodes.map(|node| at(state, node)).collect())
    };
    let threads = || program.threads.ids();
    let places = (0..states)
        .map(|state| threads().map(|thread| of_thread(state, thread)).collect())
        .collect();
    (made, places)
}

/// Paper 000 §11, `H(q)`, with one step of each thread from one state to the next.
#[test]
fn automata_as_formulas_over_products() {
    let shape = Shape { processes: (2, 2), functions: 1, locks: 2, ..Shape::CONTENDED };
    let mut counts = [0; 2];
    for seed in 0..programs(40) {
        let mut rng = Rng::new(seed);
        let source = random_model(&mut rng, &shape).to_eml();
        let program = selvedge_front_eml::parse(&source).program.expect("a program");
        let calls = program.edges.iter().any(|edge| matches!(edge.action, Action::Call(_)));
        let Some(ipa) = automaton(&program, &mut rng).filter(|_| !calls) else { continue };
        let accesses = |symbol| matches!(symbol, Observable::Read(_) | Observable::Write(_));
        if ipa.phases.len() > 3 || !ipa.phases.iter().all(|one| accesses(one.advance.symbol)) {
            continue;
        }
        let (product, places) = product(&program, &ipa);
        let in_state = |state: usize| {
            let all = places[state].iter().map(|(thread, nodes)| {
                Formula::Proposition(Proposition::At(*thread, nodes.clone()))
            });
            all.reduce(Formula::and).expect("threads")
        };
        let last = in_state(ipa.phases.len());
        let formula = (0..ipa.phases.len()).rev().fold(last, |rest, state| {
            let next = Formula::and(in_state(state + 1), rest);
            let moves = Formula::next(Formula::next(next));
            Formula::finally(Formula::and(in_state(state), moves))
        });
        let found = finds(&program, Question::Automaton(ipa.clone()), EngineKind::Tupling);
        for engine in [EngineKind::Tupling, EngineKind::Splitting] {
            let as_formula = finds(&product, some(formula.clone()), engine);
            assert_eq!(found, as_formula, "{}: {ipa:?} of\n{source}", engine.name());
        }
        counts[usize::from(found)] += 1;
    }
    assert!(counts.iter().all(|&count| count > 2), "{counts:?}");
}
