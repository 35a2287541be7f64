//! Programs made for one property of the symbolic search each.

use selvedge_base::{Budget, StopReason};
use selvedge_bounded::{Mode, Strategy, SymbolicOptions, SymbolicSearch};
use selvedge_front_bool::{Options, parse};
use selvedge_program::{
    Action, EdgeId, Expr, Failure, Measure, Move, Program, Question, Search, Target, Unknown,
    Update, Variable,
};
use selvedge_replay::replay;

/// How a search ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Outcome {
    /// The target is met within so many.
    Reached(u32),
    /// Complete within so many.
    Safe(u32),
    /// Open after all that were tried.
    Open,
}

const WAYS: [(Mode, Strategy); 3] =
    [(Mode::Lazy, Strategy::Tuples), (Mode::Eager, Strategy::Tuples), (Mode::Lazy, Strategy::Auto)];

fn program(text: &str) -> Program {
    let parsed = parse(text, &Options::default());
    parsed.program.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics))
}

fn new(program: &Program, measure: Measure, (mode, strategy): (Mode, Strategy)) -> SymbolicSearch {
    let options = SymbolicOptions { strategy, ..SymbolicOptions::default() };
    let budget = Budget::new();
    SymbolicSearch::new(program, &Target::Assertion, measure, mode, options, &budget)
        .expect("it is supported")
}

fn decide(program: &Program, measure: Measure, way: (Mode, Strategy), most: u32) -> Outcome {
    let mut search = new(program, measure, way);
    for limit in 1..=most {
        let level = search.advance().expect("no limit is met");
        if let Some(run) = level.reached {
            replay(program, &Question::Reach(Target::Assertion), &run).expect("it is a run");
            return Outcome::Reached(limit);
        }
        if level.complete {
            return Outcome::Safe(limit);
        }
    }
    Outcome::Open
}

/// ERRATA 001: with more than two threads, to pass on only the last shared state admits runs that do
/// not exist. The first thread remembers what it has told the third one, and asks for it later; in
/// between the shared state forgets it.
fn memory(claim: &str) -> Program {
    program(&format!(
        "decl told, answer, phase0, phase1;
        void main() begin
            told, answer, phase0, phase1 := F, F, F, F;
            start_thread first();
            start_thread second();
            start_thread third();
        end
        void first() begin
            decl mine;
            mine := *;
            told, phase0 := mine, T;
            phase1 := T constrain !phase0 & !told;
            assume(phase0 & phase1);
            assert({claim});
        end
        void second() begin skip; end
        void third() begin
            decl mine;
            mine, told, phase0 := told, F, F constrain phase0;
            answer, phase0 := mine, T constrain phase1;
        end"
    ))
}

#[test]
fn histories_match_as_a_whole() {
    for way in WAYS {
        let outcome = decide(&memory("answer = mine"), Measure::Rounds, way, 4);
        let expected = if way.1 == Strategy::Auto { Outcome::Safe(4) } else { Outcome::Open };
        assert_eq!(outcome, expected, "{way:?}");
        let outcome = decide(&memory("!answer"), Measure::Rounds, way, 4);
        assert_eq!(outcome, Outcome::Reached(3), "{way:?}");
    }
}

/// ERRATA 001: the shared states stay the same while handshakes go on.
#[test]
fn a_plateau_proves_nothing() {
    let text = "decl token;
        void main() begin
            token := F;
            start_thread caller();
            start_thread answerer();
        end
        void caller() begin
            token := T constrain !token;
            token := T constrain !token;
            token := T constrain !token;
            assume(!token);
            assert(F);
        end
        void answerer() begin
            while (*) do token := F constrain token; od
        end";
    let program = program(text);
    for way in WAYS {
        assert_eq!(decide(&program, Measure::Rounds, way, 9), Outcome::Reached(4), "{way:?}");
        // The main thread, then four times the caller and three times the answerer.
        if way.0 == Mode::Lazy {
            let outcome = decide(&program, Measure::Contexts, way, 9);
            assert_eq!(outcome, Outcome::Reached(8), "{way:?}");
        }
        let mut search = new(&program, Measure::Rounds, way);
        let counts: Vec<u128> = (0..3)
            .map(|_| {
                search.advance().expect("no limit is met");
                search.count_states().expect("no limit is met")
            })
            .collect();
        assert_eq!(counts, [2, 2, 2], "{way:?}");
    }
}

/// Contexts in the order against that of the threads: each needs a round of its own.
#[test]
fn rounds_and_contexts_are_counted_differently() {
    let text = "decl a, b, c;
        void main() begin
            a, b, c := F, F, F;
            start_thread three();
            start_thread two();
            start_thread one();
        end
        void one() begin a := T; end
        void two() begin b := T constrain a; end
        void three() begin c := T constrain b; assert(F); end";
    let program = program(text);
    for way in WAYS {
        assert_eq!(decide(&program, Measure::Rounds, way, 5), Outcome::Reached(3), "{way:?}");
        assert_eq!(decide(&program, Measure::Contexts, way, 5), Outcome::Reached(4), "{way:?}");
    }
}

/// Recursion with parameters, several results and locals that survive the calls; the depth is not
/// bounded, so only tuples end.
#[test]
fn one_thread_is_a_sequential_program() {
    let text = |claim: &str| {
        format!(
            "decl even;
            void main() begin
                decl p, q;
                even := T;
                p, q := walk(F);
                assert({claim});
            end
            bool<2> walk(odd) begin
                decl kept, p, q;
                kept := odd;
                even := !even;
                if * then p, q := walk(!odd); else p, q := even, odd; fi
                even := !even;
                assert(kept = odd);
                return p, q;
            end"
        )
    };
    for way in WAYS {
        let safe = program(&text("even & (p = q)"));
        assert_eq!(decide(&safe, Measure::Rounds, way, 3), Outcome::Safe(1), "{way:?}");
        for wrong in ["p", "!p", "q", "!even"] {
            let wrong = program(&text(wrong));
            assert_eq!(decide(&wrong, Measure::Rounds, way, 3), Outcome::Reached(1), "{way:?}");
        }
    }
}

/// The locals of a suspended caller are kept through contexts, and a call may return in a later
/// context than it was made in.
#[test]
fn calls_last_over_several_contexts() {
    let text = |claim: &str| {
        format!(
            "decl ping, pong;
            void main() begin
                ping, pong := F, F;
                start_thread asker();
                start_thread answerer();
            end
            void asker() begin
                decl before, got;
                before := *;
                got := ask(before);
                assert({claim});
            end
            bool ask(what) begin
                decl deeper;
                if * then deeper := ask(!what); return !deeper; fi
                ping := T constrain !ping;
                assume(pong);
                return what;
            end
            void answerer() begin
                assume(ping);
                pong := T;
            end"
        )
    };
    for way in WAYS {
        let most = 3;
        let outcome = decide(&program(&text("got = before")), Measure::Rounds, way, most);
        assert_eq!(outcome, Outcome::Open, "{way:?}");
        let outcome = decide(&program(&text("got != before")), Measure::Rounds, way, most);
        assert_eq!(outcome, Outcome::Reached(2), "{way:?}");
    }
}

/// Nobody moves while a thread is inside an atomic section, but a label there counts.
#[test]
fn atomic_sections_are_not_left() {
    let text = "decl x;
        void main() begin
            x := F;
            start_thread writer();
            start_thread reader();
        end
        void writer() begin
            atomic_begin; x := T; inner(); x := F; atomic_end;
        end
        void inner() begin atomic_begin; skip; atomic_end; end
        void reader() begin assert(!x); end";
    let program = program(text);
    for way in WAYS {
        let outcome = decide(&program, Measure::Rounds, way, 4);
        assert!(matches!(outcome, Outcome::Open | Outcome::Safe(_)), "{way:?}: {outcome:?}");
        let mut search = new(&program, Measure::Rounds, way);
        search.advance().expect("no limit is met");
        // Any value before the first step, false afterwards.
        assert_eq!(search.count_states().expect("no limit is met"), 2, "{way:?}");
    }
}

#[test]
fn limits_end_in_unknown() {
    let program = memory("answer = mine");
    for way in WAYS {
        let (mode, strategy) = way;
        let options = SymbolicOptions { node_limit: 60, strategy, ..SymbolicOptions::default() };
        let budget = Budget::new();
        let new = |options, budget: &Budget| {
            let target = Target::Assertion;
            SymbolicSearch::new(&program, &target, Measure::Rounds, mode, options, budget)
        };
        let end = new(options, &budget)
            .map_err(Failure::from)
            .and_then(|mut search| (0..9).try_for_each(|_| search.advance().map(|_| ())));
        assert_eq!(end, Err(Unknown::Nodes { limit: 60 }.into()), "{way:?}");
        let options = SymbolicOptions { strategy, ..SymbolicOptions::default() };
        let mut search = new(options, &budget).expect("it is supported");
        search.advance().expect("no limit is met");
        budget.raise(StopReason::Timeout);
        let end = search.advance();
        assert_eq!(end, Err(Unknown::Stopped(StopReason::Timeout).into()), "{way:?}");
    }
}

#[test]
fn work_is_counted_the_same_every_time() {
    for way in WAYS {
        let counts = || {
            let program = memory("answer = mine");
            let mut search = new(&program, Measure::Rounds, way);
            search.advance().expect("no limit is met");
            search.statistics()
        };
        assert_eq!(counts(), counts());
    }
}

/// Files of the corpus, with the verdicts that stand in them.
#[test]
fn models_of_the_corpus() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/bp");
    let names = [
        "bluetooth-correct-2-1",
        "bluetooth-original-1-1",
        "bluetooth-repaired-1-1",
        "bluetooth-repaired-2-1",
        "bakery-4-5-flawed",
        "dekker-flawed",
        "dekker",
        "msmie-3-2-1",
        "peterson-3",
        "szymanski-2",
        "tree-locked-1-1-3",
        "tree-unlocked-2-0-3",
    ];
    for name in names {
        let text = std::fs::read_to_string(folder.join(format!("{name}.bp"))).expect("it exists");
        let expected = text.lines().next().and_then(|line| line.strip_prefix("//! expect: "));
        let way = (Mode::Lazy, Strategy::Auto);
        let program = program(&text);
        let least = |measure| decide(&program, measure, way, 20);
        let found = match (least(Measure::Rounds), least(Measure::Contexts)) {
            (Outcome::Reached(rounds), Outcome::Reached(contexts)) => {
                format!("violation rounds={rounds} contexts={contexts}")
            }
            (Outcome::Safe(_), Outcome::Safe(_)) => "safe".to_owned(),
            open => format!("{open:?}"),
        };
        assert_eq!(Some(found.as_str()), expected, "{name}");
    }
}

/// A local that nothing but the enforced condition reads is not forgotten.
#[test]
fn what_is_enforced_is_remembered() {
    let text = "decl g;
        void main() begin
            decl kept;
            enforce !g | kept;
            kept, g := F, F;
            g := *;
            assert(!g);
        end";
    for way in WAYS {
        let outcome = decide(&program(text), Measure::Rounds, way, 2);
        assert_eq!(outcome, Outcome::Safe(1), "{way:?}");
    }
}

/// A return that reads something shared can be the last step of its context.
#[test]
fn contexts_end_behind_returns() {
    let text = "decl value, later;
        void main() begin
            value, later := T, F;
            start_thread reader();
            start_thread writer();
        end
        void reader() begin
            decl seen;
            seen := get();
            assume(later);
            assert(!seen);
        end
        bool get() begin return value; end
        void writer() begin value, later := F, T; end";
    for way in WAYS {
        let outcome = decide(&program(text), Measure::Rounds, way, 4);
        assert_eq!(outcome, Outcome::Reached(2), "{way:?}");
    }
}

/// The result of a call wins over what the update of the return writes.
#[test]
fn results_come_last() {
    let text = "decl g;
        void main() begin g := get(); assert(g); assert(!g); end
        bool get() begin return T; end";
    let mut program = program(text);
    let g = program.globals.ids().next().expect("there is one");
    let assignments = vec![(Variable::Global(g), Expr::FALSE)];
    let update = program.updates.push(Update { assignments, ..Update::default() });
    for edge in program.edges.ids() {
        if matches!(program.edges[edge].action, Action::Return(_)) {
            program.edges[edge].update = Some(update);
        }
    }
    let assertions: Vec<EdgeId> = program
        .edges
        .ids()
        .filter(|&edge| matches!(program.edges[edge].action, Action::Assert(_)))
        .collect();
    for way in WAYS {
        let mut search = new(&program, Measure::Rounds, way);
        let run = search.advance().expect("no limit is met").reached.expect("one fails");
        let last = run.steps.last().expect("it has steps");
        assert_eq!(last.step, Move::Edge(assertions[1]), "{way:?}");
    }
}
