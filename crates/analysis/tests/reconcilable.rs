//! Trees of two threads that can be reconciled: on paths that is what the program does, on trees it is not
//! (ERRATA, 003, Theorems 20 and 21).

use selvedge_analysis::{EngineKind, Options, Prepared, answer, decide_branching};
use selvedge_base::{Budget, Id};
use selvedge_locks::lock_history::LockAction;
use selvedge_locks::reconcilable::{NoTrees, TreeThread, reconcilable_trees};
use selvedge_lower::{LockSet, LoweredThread, lower};
use selvedge_pds::alternating::{AlternatingAutomaton, AlternatingPds, AlternatingRule};
use selvedge_pds::{Rhs, State, Symbol};
use selvedge_program::{
    Event, Formula, LockId, NodeId, Program, Proposition, Question, TemporalQuestion, ThreadId,
    Verdict,
};
use selvedge_testkit::Rng;
use selvedge_testkit::generate::{Emphasis, Shape, random_model};

fn program(source: &str) -> Program {
    let read = selvedge_front_eml::parse(source);
    read.program.unwrap_or_else(|| panic!("{:?}", read.diagnostics))
}

fn holds(program: &Program, text: &str) -> bool {
    let (formula, complaints) = selvedge_logic::parse_branching(text, program);
    assert_eq!(complaints, []);
    let answer = decide_branching(program, &formula.expect("a formula"), &Budget::new());
    answer.expect("no bug").expect("decided").holds
}

/// A thread with one stack symbol. Rules are a location, an action and the locations that all have to
/// succeed; paths may end in some locations.
fn tree(
    held: &[&[u32]],
    rules: &[(usize, Option<LockAction>, &[usize])],
    ends: &[usize],
) -> TreeThread {
    let (only, end) = (Symbol::from_index(0), State::from_index(held.len()));
    let locks = |all: &&[u32]| all.iter().map(|&one| LockId::from_index(one as usize)).collect();
    let rule = |(from, _, to): &(usize, Option<LockAction>, &[usize])| AlternatingRule {
        state: State::from_index(*from),
        symbol: only,
        targets: to.iter().map(|&one| (State::from_index(one), Rhs::Step(only))).collect(),
    };
    let mut automaton = AlternatingAutomaton::new(held.len());
    automaton.add_state(true);
    for &location in ends {
        automaton.add(State::from_index(location), only, vec![end]);
    }
    TreeThread {
        system: AlternatingPds {
            states: held.len(),
            symbols: 1,
            rules: rules.iter().map(rule).collect(),
        },
        actions: rules.iter().map(|rule| rule.1).collect(),
        held: held.iter().map(locks).collect(),
        ends: automaton,
    }
}

fn acquire(lock: u32) -> LockAction {
    LockAction::Acquire(LockId::from_index(lock as usize))
}

fn release(lock: u32) -> LockAction {
    LockAction::Release(LockId::from_index(lock as usize))
}

fn reconciled(one: &TreeThread, other: &TreeThread) -> Result<bool, NoTrees> {
    let (start, stack) = (State::from_index(0), [Symbol::from_index(0)]);
    reconcilable_trees([one, other], [(start, &stack), (start, &stack)], &Budget::new())
}

/// Once P2 has l, nothing can move, and `EF AX good` holds; no tree of P1 shows it.
#[test]
fn a_thread_that_waits_shows_more_than_its_trees() {
    let waits = program(
        "lock : l; mutex : m;
         process P1 { main { label good: synchronized(l) { while (true) { skip; } } } }
         process P2 { main { synchronized(l) { acquire(m); acquire(m); release(m); release(m); } } }",
    );
    assert!(holds(&waits, "EF (P1@good && AX P1@good)"));
    // Locations of P1 with what is to be shown: EF at s and at b, AX at s and at b, good at b. Only s is
    // good.
    let (ef_s, ef_b, ax_s, ax_b, good_b) = (0, 1, 2, 3, 4);
    let one = tree(
        &[&[], &[0], &[], &[0], &[0]],
        &[
            (ef_s, None, &[ax_s]),
            (ef_s, Some(acquire(0)), &[ef_b]),
            (ef_b, None, &[ax_b]),
            (ef_b, None, &[ef_b]),
            (ax_s, Some(acquire(0)), &[good_b]),
            (ax_b, None, &[good_b]),
        ],
        &[],
    );
    // P2 takes l and stops; nothing is asked of it.
    let other = tree(&[&[], &[0]], &[(0, Some(acquire(0)), &[1])], &[0, 1]);
    assert_eq!(reconciled(&one, &other), Ok(false));
}

/// P1 gets to p by itself, and every path of its tree can be interleaved; P2 may run alone.
#[test]
fn a_thread_that_is_passed_over_shows_less_than_its_trees() {
    let alone = program(
        "process P1 { main { skip; label p: skip; } } process P2 { main { while (*) { skip; } } }",
    );
    assert!(!holds(&alone, "AF P1@p"));
    let one = tree(&[&[], &[]], &[(0, None, &[1])], &[1]);
    let other = tree(&[&[]], &[(0, None, &[0])], &[0]);
    assert_eq!(reconciled(&one, &other), Ok(true));
}

/// Every path needs a partner: a tree with a branch that the other thread excludes is not reconcilable.
#[test]
fn every_path_of_a_tree_needs_a_partner() {
    // P1 takes l and stays, or frees it again; P2 has to take l, and to keep it or to free it.
    let both = tree(
        &[&[], &[0], &[0], &[]],
        &[(0, Some(acquire(0)), &[1]), (1, None, &[2, 3]), (2, None, &[2])],
        &[2, 3],
    );
    // The second branch of the rule above frees nothing, so the rule is wrong.
    let stays = tree(&[&[], &[0]], &[(0, Some(acquire(0)), &[1])], &[1]);
    assert_eq!(reconciled(&both, &stays), Err(NoTrees::WrongLocks(1)));
    let both = tree(
        &[&[], &[0], &[0], &[]],
        &[(0, Some(acquire(0)), &[1, 2]), (1, None, &[1]), (2, Some(release(0)), &[3])],
        &[1, 3],
    );
    let frees =
        tree(&[&[], &[0], &[]], &[(0, Some(acquire(0)), &[1]), (1, Some(release(0)), &[2])], &[2]);
    let either = tree(
        &[&[], &[0], &[]],
        &[(0, Some(acquire(0)), &[1]), (1, Some(release(0)), &[2])],
        &[0, 2],
    );
    // The path that stays inside excludes a partner that keeps l, and one that has taken it meets it before.
    assert_eq!(reconciled(&both, &stays), Ok(false));
    assert_eq!(reconciled(&both, &frees), Ok(true));
    assert_eq!(reconciled(&both, &either), Ok(true));
    assert_eq!(reconciled(&stays, &stays), Ok(false));
    let three = tree(&[&[0], &[1], &[2]], &[], &[0]);
    assert_eq!(reconciled(&three, &stays), Err(NoTrees::Locks(3)));
}

/// A thread whose trees are its runs to a node: a control location is the locks that it holds.
fn runs_to(thread: &LoweredThread, node: NodeId) -> (TreeThread, State) {
    let mut held: Vec<LockSet> = Vec::new();
    let mut location = |locks: &LockSet| {
        let known = held.iter().position(|one| one == locks);
        State::from_index(known.unwrap_or_else(|| {
            held.push(locks.clone());
            held.len() - 1
        }))
    };
    let mut rules = Vec::new();
    let mut actions = Vec::new();
    let symbols = || (0..thread.pds.symbols).map(Symbol::from_index);
    for symbol in symbols() {
        for (_, rule) in thread.rules_of(symbol) {
            let top = match rule.rhs {
                Rhs::Step(top) | Rhs::Push(top, _) => thread.held(top),
                Rhs::Pop => thread.held(symbol),
            };
            let (state, to) = (location(thread.held(symbol)), location(top));
            rules.push(AlternatingRule { state, symbol, targets: vec![(to, rule.rhs)] });
            actions.push(match rule.label.event {
                Some(Event::Acquire(lock)) => Some(LockAction::Acquire(lock)),
                Some(Event::Release(lock)) => Some(LockAction::Release(lock)),
                _ => None,
            });
        }
    }
    let start = location(thread.held(thread.entry));
    let at: Vec<(State, Symbol)> = symbols()
        .filter(|&symbol| thread.node(symbol) == node)
        .map(|symbol| (location(thread.held(symbol)), symbol))
        .collect();
    let states = held.len();
    let mut ends = AlternatingAutomaton::new(states);
    let below = ends.add_state(true);
    for symbol in symbols() {
        ends.add(below, symbol, vec![below]);
    }
    for (state, symbol) in at {
        ends.add(state, symbol, vec![below]);
    }
    let system = AlternatingPds { states, symbols: thread.pds.symbols, rules };
    (TreeThread { system, actions, held, ends }, start)
}

/// Where no rule branches, trees are paths, and reconcilable ones are runs of the program.
#[test]
fn paths_are_reconcilable_if_both_ends_are_reached_together() {
    let shape = Shape {
        processes: (2, 2),
        locks: 2,
        locations: 1,
        functions: 2,
        statements: 4,
        nesting: 2,
        emphasis: Emphasis::Locks,
    };
    let mut counts = [0; 2];
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let program = random_model(&mut rng, &shape).to_program();
        let all: LockSet = program.locks.ids().collect();
        let lowered = lower(&program, &all, &Budget::new()).expect("nested");
        let threads: Vec<ThreadId> = program.threads.ids().collect();
        let nodes = |thread: ThreadId| -> Vec<NodeId> {
            let own = &lowered.threads[thread];
            (0..own.pds.symbols).map(|at| own.node(Symbol::from_index(at))).collect()
        };
        for _ in 0..4 {
            let ends = [threads[0], threads[1]].map(|thread| *rng.pick(&nodes(thread)));
            let made = [0, 1].map(|at| runs_to(&lowered.threads[threads[at]], ends[at]));
            let stacks = [0, 1].map(|at| [lowered.threads[threads[at]].entry]);
            let start = [(made[0].1, &stacks[0][..]), (made[1].1, &stacks[1][..])];
            let found = reconcilable_trees([&made[0].0, &made[1].0], start, &Budget::new());
            let at =
                |one: usize| Formula::Proposition(Proposition::At(threads[one], vec![ends[one]]));
            let question = Question::Temporal(TemporalQuestion::some(Formula::finally(
                Formula::and(at(0), at(1)),
            )));
            let options = Options::new(Some(EngineKind::Tupling));
            let prepared = Prepared::new(&program);
            let report = answer(&prepared, &[question], &options, &Budget::new(), &mut |_| {});
            let verdict = &report.expect("every run replays").answers[0].verdict;
            let expected = matches!(verdict, Verdict::Violation(_));
            assert_eq!(found, Ok(expected), "seed {seed}, {ends:?}");
            counts[usize::from(expected)] += 1;
        }
    }
    assert!(counts.iter().all(|&count| count > 20), "{counts:?}");
}
