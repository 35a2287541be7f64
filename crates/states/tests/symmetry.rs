//! Interchangeable copies: the search that stores them in order compared with the one that does not, and
//! with all interleavings, on random programs with 2 to 5 copies of a thread; and programs in which
//! copies are told apart. `SELVEDGE_PROGRAMS` and `SELVEDGE_SEED` set the number of programs and the first
//! seed; `cargo xtask differential symmetry` runs the large version.

#![expect(clippy::print_stdout, reason = "the large version prints its counts")]

mod oracle;

use oracle::{Oracle, oracle};
use selvedge_base::{Budget, Id, IdVec};
use selvedge_program::copies::instantiate;
use selvedge_program::validate::validate;
use selvedge_program::{
    Action, Copies, Expr, FailureKind, GlobalId, LockId, Position, Program, ProtectionKind,
    Question, StatePattern, Target, ThreadId, Variable, text,
};
use selvedge_replay::replay;
use selvedge_states::state::State;
use selvedge_states::{
    Code, FailingSite, Goal, Reduction, SearchEnd, SearchOptions, SearchOrder, StateSearch,
    StoreKind,
};
use selvedge_testkit::Rng;
use selvedge_testkit::typed::{TypedShape, random_typed};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// How many states are visited at most.
const MOST: usize = 6_000;

fn options(reduction: Reduction, symmetry: bool) -> SearchOptions {
    SearchOptions { reduction, symmetry, ..SearchOptions::default() }
}

/// A random program with copies of one of its threads, and which threads these are.
fn random_copies(seed: u64) -> Option<(Program, Vec<ThreadId>)> {
    let mut rng = Rng::new(seed);
    let copies = [2, 2, 3, 3, 4, 5][rng.below(6)];
    let shape = TypedShape {
        threads: if copies == 2 && rng.percent(50) { 3 } else { 2 },
        statements: if copies == 2 { 3 } else { 2 - usize::from(copies == 5) },
        disciplined: seed.is_multiple_of(2),
        annotated: seed.is_multiple_of(5),
    };
    let mut program = random_typed(&mut rng, shape);
    let chosen = ThreadId::from_index(rng.below(program.threads.len()));
    let mut numbers = IdVec::filled(1, program.threads.len());
    numbers[chosen] = copies as u32;
    program.threads[chosen].copies = Copies::Any;
    if rng.percent(50) {
        own_what_nobody_else_mentions(&mut program, chosen);
    }
    if !validate(&program).is_empty() {
        return None;
    }
    let made = instantiate(&program, &numbers);
    if !validate(&made).is_empty() {
        return None;
    }
    let group = (0..copies).map(|at| ThreadId::from_index(chosen.index() + at)).collect();
    Some((made, group))
}

/// Gives a thread the numbers that no other text mentions.
fn own_what_nobody_else_mentions(program: &mut Program, thread: ThreadId) {
    let mut others: BTreeSet<GlobalId> = BTreeSet::new();
    let mut add = |expr: &Expr| {
        expr.variables(&mut |variable, _| {
            if let Variable::Global(global) = variable {
                others.insert(global);
            }
        });
    };
    program.invariants.iter().for_each(|one| add(&program.conditions[one.condition]));
    for edge in &program.edges {
        let procedure = &program.procedures[program.nodes[edge.source]];
        if procedure.owner == Some(thread) {
            continue;
        }
        if let Some(update) = edge.update.map(|id| &program.updates[id]) {
            let targets = update.assignments.iter().map(|one| Expr::Current(one.0));
            targets.for_each(|target| add(&target));
            let values = update.assignments.iter().map(|one| &one.1);
            update.guard.iter().chain(values).chain(&update.constraint).for_each(&mut add);
        }
        if let Some(passing) = edge.passing.map(|id| &program.passings[id]) {
            passing.arguments.iter().for_each(&mut add);
            let results = passing.results.iter().flatten();
            results.for_each(|&target| add(&Expr::Current(target)));
        }
        match edge.action {
            Action::Assert(id) => add(&program.conditions[id]),
            Action::Return(id) => program.returns[id].iter().for_each(&mut add),
            _ => {}
        }
    }
    for global in ["g0", "g1", "g2"] {
        let found = program.globals.iter_enumerated().find(|(_, one)| one.name == global);
        if let Some((id, _)) =
            found.filter(|(id, one)| one.annotation.is_none() && !others.contains(id))
        {
            program.globals[id].owner = Some(thread);
        }
    }
}

/// What is the same in all permutations of a state: what copies do not own, and their parts as a bag.
/// Copies that wait are told apart.
fn orbit(program: &Program, state: &State, group: &[ThreadId]) -> String {
    let mut bag: Vec<String> = Vec::new();
    let mut rest = String::new();
    let own = |global: &selvedge_program::Global| {
        group
            .iter()
            .copied()
            .find(|&copy| global.name.starts_with(&format!("{}.", program.threads[copy].name)))
    };
    for (global, value) in program.globals.iter().zip(state.globals.iter()) {
        if own(global).is_none() {
            _ = write!(rest, "{} {value};", global.name);
        }
    }
    for thread in program.threads.ids() {
        let part = state.thread(thread);
        // Nodes count from the first one of the thread's main, which is its own or that of all.
        let entry = program.procedures[program.threads[thread].main].entry.index();
        let mut text = format!("{part:?}");
        if program.procedures[program.threads[thread].main].owner.is_some() {
            let stack: Vec<_> = part
                .stack
                .iter()
                .map(|one| {
                    let own = program.procedures[program.nodes[one.node]].owner.is_some();
                    let node = one.node.index() - if own { entry } else { 0 };
                    (own, node, one.call.is_some(), one.locals.clone())
                })
                .collect();
            text = format!("{stack:?} {:?} {} {}", part.suspended, part.stopped, part.waits);
        }
        for (lock, owner) in state.locks.iter().enumerate() {
            if let Some((_, depth)) = owner.filter(|one| one.0 == thread) {
                _ = write!(text, " {:?}x{depth}", LockId::from_index(lock));
            }
        }
        for (global, value) in program.globals.iter().zip(state.globals.iter()) {
            if own(global) == Some(thread) {
                let name = global.name.rsplit('.').next().unwrap_or_default();
                _ = write!(text, " {name}={value}");
            }
        }
        if group.contains(&thread) && !part.waits {
            bag.push(text);
        } else {
            _ = write!(rest, "{thread:?} {text};");
        }
    }
    bag.sort();
    format!("{rest} {bag:?}")
}

/// All states of a search without a reduction.
fn states(program: &Program, symmetry: bool, plainly: bool) -> (Vec<State>, usize, u64) {
    let code = Code::new(program, &BTreeSet::new());
    let goal = Goal::Failure;
    let mut search =
        StateSearch::new(&code, goal, options(Reduction::None, symmetry), Budget::new());
    search.collect = true;
    if !plainly {
        search.executor = None;
    }
    assert!(matches!(search.run(), SearchEnd::Complete));
    let all = 0..search.store.count() as u32;
    let all = all.map(|number| search.packing.unpack(search.store.packed(number)));
    (all.collect(), search.symmetry.threads(), search.counts().depth)
}

/// Whether a goal is found, and in how many transactions; the run is executed.
fn finds(program: &Program, goal: &Goal, options: SearchOptions) -> Option<u32> {
    let code = Code::new(program, &BTreeSet::new());
    let mut search = StateSearch::new(&code, goal.clone(), options, Budget::new());
    match search.run() {
        SearchEnd::Complete | SearchEnd::Open(selvedge_program::Unknown::Hashes(_)) => None,
        SearchEnd::Open(why) => panic!("{why}"),
        SearchEnd::Found(found) => {
            let witness = search.witness(&found).expect("there is a run");
            let question = match goal {
                Goal::Failure => Question::Reach(Target::Assertion),
                _ => Question::Stuck,
            };
            if let Err(error) = replay(program, &question, &witness) {
                panic!("{error}\n{witness:#?}");
            }
            let last = witness.transactions.last().copied();
            Some(last.unwrap_or(0))
        }
    }
}

/// The steps that fail, with one edge for all copies.
fn failures(program: &Program, options: SearchOptions) -> BTreeSet<FailingStep> {
    let code = Code::new(program, &BTreeSet::new());
    let mut search = StateSearch::new(&code, Goal::Failure, options, Budget::new());
    search.collect = true;
    assert!(matches!(search.run(), SearchEnd::Complete));
    assert!(search.fault.is_none());
    for run in &search.runs {
        replay(program, &Question::Reach(Target::Assertion), &run.witness).expect("it is a run");
    }
    search.failures.iter().map(|one| key(program, *one)).collect()
}

/// Which step of a procedure, whether the procedure is one of a copy, and how it fails.
type FailingStep = (usize, bool, FailureKind);

/// A failure as it is for all copies.
fn key(program: &Program, (site, kind): (FailingSite, FailureKind)) -> FailingStep {
    let (edge, own) = match site {
        FailingSite::AtFirst => (0, false),
        FailingSite::Return(exit) => (usize::MAX, owned(program, program.nodes[exit])),
        FailingSite::Edge(edge) => relative(program, edge.index()),
    };
    (edge, own, kind)
}

fn owned(program: &Program, procedure: selvedge_program::ProcedureId) -> bool {
    let owner = program.procedures[procedure].owner;
    owner.is_some_and(|one| program.threads[one].name.contains('['))
}

/// An edge as it is for all copies: which one of its procedure's edges.
fn relative(program: &Program, edge: usize) -> (usize, bool) {
    let id = selvedge_program::EdgeId::from_index(edge);
    let owner = program.nodes[program.edges[id].source];
    if !owned(program, owner) {
        return (edge, false);
    }
    let first = program.edges.iter().position(|edge| program.nodes[edge.source] == owner);
    (edge - first.unwrap_or(0), true)
}

/// What protects each variable, without the names of those who access it.
fn table(program: &Program, symmetry: bool) -> Vec<(String, &'static str)> {
    let code = Code::new(program, &BTreeSet::new());
    let options = SearchOptions { locks: true, ..options(Reduction::Transactions, symmetry) };
    let mut search = StateSearch::new(&code, Goal::Failure, options, Budget::new());
    assert!(matches!(search.run(), SearchEnd::Complete));
    let rows = search.protection.table(program, true, true).into_iter();
    let word = |kind: &ProtectionKind| kind.word();
    rows.map(|row| (row.variable, word(&row.kind))).collect()
}

fn check(seed: u64, tally: &mut BTreeMap<&'static str, usize>) {
    let mut count = |what: &'static str, by: usize| *tally.entry(what).or_default() += by;
    let Some((program, group)) = random_copies(seed) else {
        count("not valid", 1);
        return;
    };
    let Some(Oracle { failures: failing, deadlocks }) = oracle(&program, MOST) else {
        count("too large", 1);
        return;
    };
    let context = || format!("seed {seed}\n{}", text::print(&program));
    let failing: BTreeSet<FailingStep> = failing.iter().map(|one| key(&program, *one)).collect();
    let (all, _, depth) = states(&program, false, true);
    let (ordered, permuted, ordered_depth) = states(&program, true, true);
    let general = states(&program, true, false);
    assert_eq!(ordered.len(), general.0.len(), "instructions {}", context());
    // Another thread may have the same text.
    if permuted == group.len() {
        let orbits: BTreeSet<String> =
            all.iter().map(|state| orbit(&program, state, &group)).collect();
        assert_eq!(ordered.len(), orbits.len(), "orbits {}", context());
        let stored: BTreeSet<String> =
            ordered.iter().map(|state| orbit(&program, state, &group)).collect();
        assert_eq!(stored, orbits, "orbits {}", context());
        assert_eq!(ordered_depth, depth, "levels {}", context());
        count("with interchangeable copies", 1);
        count("states", all.len());
        count("orbits", orbits.len());
        let own = program.globals.iter().any(|one| one.name.contains("]."));
        count("with variables of their own", usize::from(own));
    }
    for reduction in [Reduction::None, Reduction::LeftMovers, Reduction::Transactions] {
        let options = options(reduction, true);
        assert_eq!(failures(&program, options), failing, "{reduction:?} {}", context());
        let found = finds(&program, &Goal::Failure, options);
        assert_eq!(found.is_some(), !failing.is_empty(), "{reduction:?} {}", context());
        for options in [
            SearchOptions { order: SearchOrder::Depth, ..options },
            SearchOptions { store: StoreKind::Compact, ..options },
        ] {
            let other = finds(&program, &Goal::Failure, options);
            assert_eq!(other.is_some(), found.is_some(), "{options:?} {}", context());
        }
    }
    let shortest =
        [true, false].map(|one| finds(&program, &Goal::Failure, options(Reduction::None, one)));
    assert_eq!(shortest[0], shortest[1], "minimal runs {}", context());
    for reduction in [Reduction::None, Reduction::LeftMovers] {
        let found = finds(&program, &Goal::DeadEnd, options(reduction, true));
        assert_eq!(found.is_some(), deadlocks, "deadlock {reduction:?} {}", context());
    }
    assert_eq!(table(&program, true), table(&program, false), "protection {}", context());
    count("compared", 1);
    count("failing", usize::from(!failing.is_empty()));
    count("deadlocks", usize::from(deadlocks));
}

#[test]
fn copies_in_order_are_all_copies() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let programs: u64 = number("SELVEDGE_PROGRAMS").unwrap_or(60);
    let first: u64 = number("SELVEDGE_SEED").unwrap_or(1);
    let mut tally = BTreeMap::new();
    for seed in first..first + programs {
        check(seed, &mut tally);
    }
    println!("{tally:?}");
    let of = |what: &str| tally.get(what).copied().unwrap_or(0);
    assert!(of("with interchangeable copies") * 2 > of("compared"), "{tally:?}");
    assert!(of("orbits") * 2 < of("states"), "{tally:?}");
    assert!(of("failing") > 0 && of("deadlocks") > 0, "{tally:?}");
    assert!(of("with variables of their own") > 0, "{tally:?}");
}

fn read(text: &str) -> Program {
    let (program, problems) = text::parse(text);
    program.unwrap_or_else(|| panic!("{problems:?}"))
}

/// How many states a search without a reduction stores, and how many copies are interchangeable.
fn counts(program: &Program, goal: Goal, symmetry: bool) -> (u64, usize) {
    let code = Code::new(program, &BTreeSet::new());
    let mut search =
        StateSearch::new(&code, goal, options(Reduction::None, symmetry), Budget::new());
    search.collect = true;
    search.run();
    (search.counts().states, search.symmetry.threads())
}

const COUNTING: &str = "
    procedure w nodes 3 entry 0 exit 2 { 0 -> 1 skip do x := x + 1 1 -> 2 skip do x := x }";

#[test]
fn copies_that_nobody_names_are_interchangeable() {
    let program = read(&format!(
        "program global x : mod 5 = 0 {COUNTING} thread A main w thread B main w thread C main w"
    ));
    let (all, none) = counts(&program, Goal::Failure, false);
    let (orbits, three) = counts(&program, Goal::Failure, true);
    assert_eq!((none, three), (0, 3));
    // Each is in one of four places, ended among them.
    assert_eq!((all, orbits), (64, 20));
}

#[test]
fn who_is_named_is_not_interchangeable() {
    let join = "thread D main d { procedure d nodes 2 entry 0 exit 1 { 0 -> 1 join A } }";
    let value = "global who : thread = $thread(A)";
    let own = "thread D main d { procedure d nodes 2 entry 0 exit 1 { 0 -> 1 skip when who = $thread(B) } }";
    for (globals, rest, expected) in [
        ("", join, 2),
        (value, "", 2),
        ("global who : thread = $none", own, 2),
        ("global who : thread", "", 3),
    ] {
        let program = read(&format!(
            "program global x : mod 5 = 0 {globals} {COUNTING}
             thread A main w thread B main w thread C main w {rest}"
        ));
        assert_eq!(counts(&program, Goal::Failure, true).1, expected, "{globals} {rest}");
    }
    let program = read(&format!(
        "program global x : mod 5 = 0 {COUNTING} thread A main w thread B main w thread C main w"
    ));
    let mut threads = IdVec::filled(Position::Any, 3);
    threads[ThreadId::from_index(1)] = Position::Ended;
    let pattern = StatePattern { globals: Vec::new(), locks: Vec::new(), threads };
    assert_eq!(counts(&program, Goal::State(pattern), true).1, 2);
}

#[test]
fn who_asks_for_its_name_is_not_interchangeable() {
    for text in ["who := $me", "x := $copy"] {
        let program = read(&format!(
            "program global x : mod 5 = 0 global who : thread = $none
             procedure w nodes 2 entry 0 exit 1 {{ 0 -> 1 skip do {text} }}
             thread A main w thread B main w"
        ));
        assert_eq!(counts(&program, Goal::Failure, true).1, 0, "{text}");
    }
}

#[test]
fn names_in_variables_go_along() {
    // Whoever the variable names may be any copy, so all of them make one orbit each with the copy that is
    // named at each of its places.
    let program = read(&format!(
        "program global x : mod 5 = 0 global who : thread {COUNTING}
         thread A main w thread B main w thread C main w"
    ));
    let (all, _) = counts(&program, Goal::Failure, false);
    let (orbits, _) = counts(&program, Goal::Failure, true);
    assert_eq!(all, 64 * 4);
    // Nobody is named: 20. Somebody is: at one of 4 places, and the others at two of them: 4 * 10.
    assert_eq!(orbits, 20 + 40);
}

#[test]
fn copies_that_wait_keep_their_names() {
    // A start names its copy: if the first one, which has moved, took the place of the second one, that
    // could not be started any more.
    let plain = ("0 -> 1 skip do x := x + 1", "");
    let called =
        ("0 -> 1 call f", "procedure f nodes 2 entry 0 exit 1 { 0 -> 1 skip do x := x + 1 }");
    for ((step, procedure), (first, second)) in
        [(plain, ("A", "B")), (plain, ("B", "A")), (called, ("A", "B")), (called, ("B", "A"))]
    {
        let program = read(&format!(
            "program global x : mod 4 = 0 {procedure}
             procedure w nodes 4 entry 0 exit 3 {{ {step} 1 -> 2 skip when x = 2 2 -> 3 assert x < 2 }}
             thread M main m {{ procedure m nodes 4 entry 0 exit 3 {{
                 0 -> 1 start {first}
                 1 -> 2 skip when x = 1
                 2 -> 3 start {second} }} }}
             thread A waits main w
             thread B waits main w"
        ));
        let (all, _) = counts(&program, Goal::Failure, false);
        let (orbits, two) = counts(&program, Goal::Failure, true);
        assert_eq!(two, 2, "{step}");
        assert!(orbits < all, "{step}: {orbits} of {all}");
        for reduction in [Reduction::None, Reduction::LeftMovers, Reduction::Transactions] {
            let found = finds(&program, &Goal::Failure, options(reduction, true));
            assert!(found.is_some(), "{step} {reduction:?}");
        }
        // Where it matters who accesses what, only copies that run from the beginning are permuted.
        let code = Code::new(&program, &BTreeSet::new());
        let options = SearchOptions { locks: true, ..SearchOptions::default() };
        let search = StateSearch::new(&code, Goal::Failure, options, Budget::new());
        assert!(search.symmetry.is_trivial());
    }
}
