//! The numbered sentences of the semantics of data, one by one: what is reachable, and what is not.

use selvedge_base::{Budget, Id, StopReason};
use selvedge_program::text::parse;
use selvedge_program::{
    Bound, EdgeId, Measure, Move, Position, Program, StatePattern, Target, ThreadId, Unknown, Value,
};
use selvedge_replay::{BoundedLimits, BoundedSets, State, bounded_states};
use std::ops::ControlFlow;

/// A program with these globals, and threads with these bodies of their mains, of which the last node
/// is the exit.
fn program(globals: &str, threads: &[&str], rest: &str) -> Program {
    let global = |global: &str| {
        let value = if global.contains('=') { "" } else { " = F" };
        format!("global {}{value}\n", global.trim_end_matches("=*"))
    };
    let thread = |(at, body): (usize, &&str)| {
        // `[..]` before everything belongs to the head of the thread, `..;` to that of its main, and
        // further procedures come behind the edges.
        let headed = body.trim().strip_prefix('[').and_then(|body| body.split_once(']'));
        let (head, body) = headed.unwrap_or(("", body));
        let (frame, body) = body.split_once(';').unwrap_or(("", body));
        let (edges, procedures) = body.split_at(body.find("procedure").unwrap_or(body.len()));
        format!(
            "thread T{at} {head} main main {{ procedure main {frame} nodes 10 entry 0 exit 9 {{\n\
             {edges}\n}}\n{procedures} }}\n"
        )
    };
    let globals: String = globals.split_whitespace().map(global).collect();
    let threads: String = threads.iter().enumerate().map(thread).collect();
    let text = format!("program\n{globals}{threads}{rest}");
    let (program, diagnostics) = parse(&text);
    program.unwrap_or_else(|| panic!("{diagnostics:?}\n{text}"))
}

fn explore(program: &Program, targets: &[Target], measure: Measure, limit: u32) -> BoundedSets {
    let limits = BoundedLimits { call_depth: 4, states: 10_000 };
    let sets = bounded_states(program, targets, Bound { measure, limit }, limits, &Budget::new());
    sets.expect("it is small")
}

/// The shared states within three rounds, as one word of bits for each.
fn states(globals: &str, threads: &[&str]) -> String {
    let sets = explore(&program(globals, threads, ""), &[], Measure::Rounds, 3);
    let bits =
        |values: &[Value]| values.iter().map(|&bit| if bit == 1 { '1' } else { '0' }).collect();
    let words: Vec<String> = sets.levels[2].states.iter().map(|one| bits(&one.0)).collect();
    words.join(" ")
}

/// Whether an assertion can fail within three rounds.
fn fails(globals: &str, threads: &[&str]) -> bool {
    let program = program(globals, threads, "");
    explore(&program, &[Target::Assertion], Measure::Rounds, 3).least(0).is_some()
}

// 1. Expressions, conditions, assertions.

#[test]
fn choices_are_made_anew_at_every_occurrence() {
    assert_eq!(states("x y", &["0 -> 1 skip do x, y := *, *"]), "00 01 10 11");
    assert_eq!(states("x", &["0 -> 1 skip do x := * = *"]), "0 1");
    assert_eq!(states("x y", &["0 -> 1 skip do x := * | T"]), "00 10");
    assert_eq!(states("x", &["0 -> 1 skip when * & !* do x := T"]), "0 1");
}

#[test]
fn a_condition_holds_if_it_can_be_true() {
    assert_eq!(states("x", &["0 -> 1 skip when * do x := T"]), "0 1");
    assert_eq!(states("x", &["0 -> 1 skip when x & * do x := T"]), "0");
}

#[test]
fn an_assertion_fails_if_it_can_be_false_and_goes_on_if_it_can_be_true() {
    let body = |condition: &str| format!("0 -> 1 assert {condition}\n 1 -> 2 skip do x := T");
    for (condition, can_fail, goes_on) in
        [("*", true, "0 1"), ("T", false, "0 1"), ("F", true, "0"), ("x = *", true, "0 1")]
    {
        assert_eq!(fails("x", &[&body(condition)]), can_fail, "{condition}");
        assert_eq!(states("x", &[&body(condition)]), goes_on, "{condition}");
    }
}

#[test]
fn a_failing_assertion_needs_its_guard_and_its_thread() {
    assert!(!fails("x", &["0 -> 1 assert F when x"]));
    assert!(fails("x", &["0 -> 1 assert F when !x"]));
    assert!(!fails("x", &["[waits] 0 -> 1 assert F"]));
    // An unsatisfiable constraint keeps the run from going on, but not the assertion from failing.
    assert!(fails("x", &["0 -> 1 assert F constrain F"]));
}

// 2. Updates.

#[test]
fn assignments_are_simultaneous() {
    assert_eq!(states("x=T y", &["0 -> 1 skip do x, y := y, x"]), "01 10");
    assert_eq!(states("x=T y", &["0 -> 1 skip do y, x := x, !x"]), "01 10");
}

#[test]
fn the_guard_is_evaluated_before() {
    assert_eq!(states("x", &["0 -> 1 skip when x do x := F"]), "0");
    assert_eq!(states("x=T", &["0 -> 1 skip when x do x := F"]), "0 1");
}

#[test]
fn the_constraint_relates_before_and_after() {
    assert_eq!(states("x y", &["0 -> 1 skip do x, y := *, * constrain 'x => 'y"]), "00 01 11");
    assert_eq!(states("x=T y", &["0 -> 1 skip do x, y := *, * constrain x = 'y & !'x"]), "01 10");
    assert_eq!(states("x", &["0 -> 1 skip do x := T constrain F"]), "0");
    assert_eq!(states("x", &["0 -> 1 skip do x := T constrain x"]), "0");
    assert_eq!(states("x", &["0 -> 1 skip do x := * constrain 'x & *"]), "0 1");
    // What is no target keeps its value, also in a constraint.
    assert_eq!(states("x y", &["0 -> 1 skip do x := * constrain 'x => 'y"]), "00");
}

#[test]
fn a_step_is_possible_if_one_outcome_is() {
    let step = Move::Edge(EdgeId::from_index(0));
    for (constraint, outcomes) in [("'x", 1), ("!'x", 1), ("F", 0), ("T", 2)] {
        let body = format!("0 -> 1 skip do x := * constrain {constraint}");
        let program = program("x", &[&body], "");
        let mut initial = None;
        let _ = State::for_each_initial(&program, &mut |state| {
            initial = Some(state);
            ControlFlow::Continue(())
        });
        let mut count = 0;
        let initial = initial.expect("there is a first state");
        let found = initial.outcomes(&program, ThreadId::from_index(0), step, None, &mut |_| {
            count += 1;
            ControlFlow::Continue(())
        });
        assert_eq!((found.is_ok(), count), (outcomes > 0, outcomes), "{constraint}");
    }
}

// 3. Calls and returns.

#[test]
fn arguments_are_evaluated_before_the_update() {
    let body = "0 -> 1 call f(x) do x := T\n 1 -> 2 skip
        procedure f (a) nodes 2 entry 0 exit 1 { 0 -> 1 skip do y := a }";
    assert_eq!(states("x y", &[body]), "00 10");
}

#[test]
fn locals_that_are_not_passed_start_with_any_value() {
    let body = "0 -> 1 call f(T)
        procedure f (a) locals b nodes 2 entry 0 exit 1 { 0 -> 1 skip do x, y := a, b }";
    assert_eq!(states("x y", &[body]), "00 10 11");
    let guarded = "0 -> 1 call f(F)
        procedure f (a) locals b nodes 2 entry 0 exit 1 { 0 -> 1 skip when a do x := T }";
    assert_eq!(states("x", &[guarded]), "0");
}

#[test]
fn a_return_assigns_to_the_caller_in_one_step() {
    let body = "locals l; 0 -> 1 call f(T, F) into x, l\n 1 -> 2 skip do y := l
        procedure f (a, b) -> 2 nodes 2 entry 0 exit 1 { 0 -> 1 return b | a, !b }";
    // Another thread sees no moment between the return and the assignment.
    let other = "0 -> 1 skip when x do z := !z";
    assert_eq!(states("x y z", &[body, other]), "000 100 101 110 111");
}

#[test]
fn results_win_over_the_update_of_the_return() {
    let body = "0 -> 1 call f() into x
        procedure f -> 1 nodes 2 entry 0 exit 1 { 0 -> 1 return F do x, y := T, x }";
    assert_eq!(states("x=T y", &[body]), "01 10");
}

#[test]
fn the_constraint_of_a_return_speaks_of_the_update() {
    // The update makes x true, which the constraint sees; then the result makes it false.
    let body = "0 -> 1 call f() into x
        procedure f -> 1 nodes 2 entry 0 exit 1 { 0 -> 1 return F do x, y := T, T constrain 'x }";
    assert_eq!(states("x y", &[body]), "00 01");
    let never = body.replace("constrain 'x", "constrain !'x");
    assert_eq!(states("x y", &[&never]), "00");
    // A local that is lost in the step can still make the constraint true.
    let lost = "0 -> 1 call f() into x
        procedure f -> 1 locals l nodes 2 entry 0 exit 1 { 0 -> 1 return T do l := * constrain 'l }";
    assert_eq!(states("x", &[lost]), "0 1");
}

#[test]
fn dropped_results_and_returns_from_the_exit() {
    let dropped = "0 -> 1 call f() into _, y
        procedure f -> 2 nodes 2 entry 0 exit 1 { 0 -> 1 return T, T }";
    assert_eq!(states("x y", &[dropped]), "00 01");
    let any = "0 -> 1 call f() into x, y
        procedure f -> 2 nodes 2 entry 0 exit 1 { 0 -> 1 skip }";
    assert_eq!(states("x y", &[any]), "00 01 10 11");
}

#[test]
fn every_activation_has_its_own_locals() {
    // Counts down over its parameters; the caller's are as they were after the return.
    let body = "0 -> 1 call f(T) \n 1 -> 2 skip
        procedure f (a) locals b nodes 4 entry 0 exit 3 {
            0 -> 1 skip when a do b := T
            1 -> 2 call f(F) when a
            2 -> 3 skip do x, y := a, b
            0 -> 3 skip when !a do b := F
        }";
    assert_eq!(states("x y", &[body]), "00 11");
}

#[test]
fn an_update_in_the_step_of_a_call_is_the_callers() {
    let body = "locals l; 0 -> 1 call f() do l := !x\n 1 -> 2 skip do x := l
        procedure f nodes 1 entry 0 exit 0 { }";
    assert_eq!(states("x", &[body]), "0 1");
    let constrained = body.replace("do l := !x", "do l := * constrain !'l");
    assert_eq!(states("x", &[&constrained]), "0");
}

// 4. Atomic sections.

#[test]
fn nobody_else_moves_while_a_thread_is_inside_a_section() {
    let other = "0 -> 1 skip when x do y := T";
    let plain = "0 -> 1 skip do x := T\n 1 -> 2 skip do x := F";
    assert_eq!(states("x y", &[plain, other]), "00 01 10 11");
    let atomic = "0 -> 1 begin atomic\n 1 -> 2 skip do x := T\n 2 -> 3 skip do x := F\n\
        3 -> 4 end atomic";
    assert_eq!(states("x y", &[atomic, other]), "00");
    // Inside, a state is no shared state; one that is never left shows nothing.
    let never_left = "0 -> 1 begin atomic\n 1 -> 2 skip do x := T";
    assert_eq!(states("x y", &[never_left, other]), "00");
}

#[test]
fn sections_nest_and_extend_through_calls() {
    let other = "0 -> 1 skip when x do y := T";
    let nested = "0 -> 1 begin atomic\n 1 -> 2 begin atomic\n 2 -> 3 end atomic do x := T\n\
        3 -> 4 end atomic do x := F";
    assert_eq!(states("x y", &[nested, other]), "00");
    let through = "0 -> 1 begin atomic\n 1 -> 2 call f\n 2 -> 3 end atomic do x := F
        procedure f nodes 2 entry 0 exit 1 { 0 -> 1 skip do x := T }";
    assert_eq!(states("x y", &[through, other]), "00");
    let unopened = "0 -> 1 end atomic do x := T";
    assert_eq!(states("x y", &[unopened, other]), "00");
}

#[test]
fn labels_and_assertions_count_inside_sections_but_states_do_not() {
    let threads = ["0 -> 1 begin atomic\n 1 -> 2 skip do x := T\n 2 -> 3 assert F"];
    assert!(fails("x", &threads));
    let program = program("x", &threads, "label L at T0 main 2\n");
    let x = program.globals.ids().next().expect("a global");
    let inside = Target::Label(vec![program.labels[0].node]);
    let state = Target::State(StatePattern {
        globals: vec![(x, 1)],
        locks: Vec::new(),
        threads: [Position::Any].into_iter().collect(),
    });
    let sets = explore(&program, &[inside, state], Measure::Rounds, 3);
    assert_eq!(sets.levels[2].reached, [true, false]);
}

// 5. Starts.

#[test]
fn a_thread_that_waits_does_not_move_before_its_start() {
    let starter = "0 -> 1 skip do x := T\n 1 -> 2 start T1";
    let waiting = "[waits] 0 -> 1 skip when !x do y := T\n 0 -> 2 skip do z := T";
    assert_eq!(states("x y z", &[starter, waiting]), "000 100 101");
    assert_eq!(states("x y z", &["0 -> 1 skip do x := T", waiting]), "000 100");
}

#[test]
fn a_thread_is_started_once_with_arguments_from_before_the_step() {
    let starter = "0 -> 0 start T1(!x) do x := T";
    let waiting = "[waits] (a) locals b; 0 -> 1 skip do y, z := a, b";
    // The second start is not possible, so the argument is that of the first.
    assert_eq!(states("x y z", &[starter, waiting]), "000 100 110 111");
}

#[test]
fn a_thread_that_comes_after_another_is_started_after_it() {
    let waiting = "[waits] 0 -> 1 skip do x := T";
    let after = "[waits after T1] 0 -> 1 skip do y := T";
    let second_only = "0 -> 1 start T2";
    assert_eq!(states("x y", &[second_only, waiting, after]), "00");
    let both = "0 -> 1 start T1\n 1 -> 2 start T2";
    assert_eq!(states("x y", &[both, waiting, after]), "00 01 10 11");
}

// 6. What is enforced.

#[test]
fn what_is_enforced_holds_before_and_after_every_step() {
    assert_eq!(states("x y", &["enforce !x | y; 0 -> 1 skip do x, y := *, *"]), "00 01 11");
    // Another thread may break it; then the first one is stuck.
    let other = "0 -> 1 skip do y := F";
    let body = "enforce y; 0 -> 1 skip do x := !x\n 1 -> 0 skip";
    assert_eq!(states("x y=T", &[body, other]), "00 01 10 11");
    assert_eq!(states("x y", &["enforce y; 0 -> 1 skip do x := T"]), "00");
    // A step that makes it true is not possible either: it does not hold before.
    assert_eq!(states("x y", &["enforce y; 0 -> 1 skip do y := T"]), "00");
    assert!(!fails("x y", &["enforce y; 0 -> 1 assert F"]));
}

#[test]
fn what_is_enforced_concerns_the_activation_on_top() {
    // Entering f makes it necessary, coming back to main makes it unnecessary.
    let body = "0 -> 1 call f() do x := *\n 1 -> 2 skip do x, y := F, T
        procedure f enforce x nodes 2 entry 0 exit 1 { 0 -> 1 skip do z := T }";
    assert_eq!(states("x y z", &[body]), "000 011 100 101");
    // It must hold when the callee's last step is taken, and the caller's after it.
    let caller = "enforce !x; 0 -> 1 call f
        procedure f nodes 2 entry 0 exit 1 { 0 -> 1 return do x, y := T, T\n 0 -> 1 return do y := T }";
    assert_eq!(states("x y", &[caller]), "00 01");
    let locals = "0 -> 1 call f(*)
        procedure f (a) enforce a nodes 2 entry 0 exit 1 { 0 -> 1 skip do x, y := a, T }";
    assert_eq!(states("x y", &[locals]), "00 11");
}

// 7. First values.

#[test]
fn globals_start_as_declared_or_with_any_value() {
    assert_eq!(states("x=T y=* z", &[]), "100 110");
    assert_eq!(states("x", &["locals l; 0 -> 1 skip do x := l"]), "0 1");
}

// Locks.

#[test]
fn locks_are_as_without_data() {
    let text = "program lock l global x = F global y = F
        thread A main m { procedure m nodes 4 entry 0 exit 3 {
            0 -> 1 acquire l do x := T\n 1 -> 2 skip do x := F\n 2 -> 3 release l\n } }
        thread B main m { procedure m nodes 2 entry 0 exit 1 { 0 -> 1 acquire l do y := x\n } }";
    let states = |text: &str| {
        let program = parse(text).0.expect("no errors");
        explore(&program, &[], Measure::Rounds, 2).levels[1].states.len()
    };
    assert_eq!(states(text), 2, "the second thread never sees x");
    assert_eq!(states(&text.replace("acquire l do y", "skip do y")), 4);
}

// Bounds.

#[test]
fn rounds_and_contexts_are_counted_as_defined() {
    // The second thread first, then the first one, then the second one again.
    let first = "0 -> 1 skip when x do y := T";
    let second = "0 -> 1 skip do x := T\n 1 -> 2 skip when y do z := T";
    let program = program("x y z", &[first, second], "label L at T1 main 2\n");
    let target = [Target::Label(vec![program.labels[0].node])];
    assert_eq!(explore(&program, &target, Measure::Rounds, 4).least(0), Some(2));
    assert_eq!(explore(&program, &target, Measure::Contexts, 4).least(0), Some(3));
    let count = |measure, limit| {
        explore(&program, &[], measure, limit).levels[limit as usize - 1].states.len()
    };
    assert_eq!([1, 2, 3].map(|limit| count(Measure::Rounds, limit)), [2, 4, 4]);
    assert_eq!([1, 2, 3].map(|limit| count(Measure::Contexts, limit)), [2, 3, 4]);
}

#[test]
fn visible_states_are_there_if_every_node_has_a_label() {
    let text = "program global q = F
        thread A main f { procedure f nodes 3 entry 0 exit 2 {
            0 -> 1 skip do q := T\n 1 -> 2 return\n } }
        thread B main f { procedure f nodes 2 entry 0 exit 1 { 0 -> 1 return when q\n } }
        label a at A f 0\n label b at A f 1\n label c at B f 0";
    let whole = parse(text).0.expect("no errors");
    let sets = explore(&whole, &[], Measure::Contexts, 3);
    let shown: Vec<String> = sets.levels[2]
        .visible
        .iter()
        .map(|one| {
            let tops: Vec<&str> =
                one.tops.iter().map(|top| top.as_deref().unwrap_or("-")).collect();
            format!("{}|{}", one.globals.0[0], tops.join(","))
        })
        .collect();
    assert_eq!(shown, ["0|a,c", "1|-,-", "1|-,c", "1|b,-", "1|b,c"]);
    let less = parse(&text.replace("label b at A f 1", "")).0.expect("no errors");
    assert!(explore(&less, &[], Measure::Contexts, 3).levels[2].visible.is_empty());
}

#[test]
fn limits_and_interrupts_end_the_search() {
    let program = program("x=* y=* z=*", &["locals a, b, c; 0 -> 0 skip do x := *"], "");
    let bound = Bound { measure: Measure::Rounds, limit: 1 };
    let run = |states, budget: &Budget| {
        let limits = BoundedLimits { call_depth: 1, states };
        bounded_states(&program, &[], bound, limits, budget)
    };
    assert!(run(64, &Budget::new()).is_ok());
    let memory = Err(Unknown::Stopped(StopReason::Memory));
    assert_eq!(run(63, &Budget::new()), memory);
    let raised = Budget::new();
    raised.raise(StopReason::Timeout);
    assert_eq!(run(64, &raised), Err(Unknown::Stopped(StopReason::Timeout)));
    let names: Vec<String> = (0..30).map(|at| format!("l{at}")).collect();
    let locals = names.join(", ");
    let calls = format!("0 -> 1 call f procedure f locals {locals} nodes 1 entry 0 exit 0 {{ }}");
    let many = self::program("x", &[&calls], "");
    let limits = BoundedLimits { call_depth: 1, states: 100 };
    let found = bounded_states(&many, &[], bound, limits, &Budget::new());
    let why = "a step has more outcomes than are tried".to_owned();
    assert_eq!(found, Err(Unknown::Unsupported(why)));
    let targets = [Target::State(StatePattern::default())];
    let limits = BoundedLimits { call_depth: 1, states: 64 };
    let nonsense = bounded_states(&program, &targets, bound, limits, &Budget::new());
    assert!(matches!(nonsense, Err(Unknown::Unsupported(_))), "{nonsense:?}");
}
