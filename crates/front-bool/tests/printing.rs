//! How programs look when they are printed, and which cannot be.

mod common;

use common::{fails, program};
use selvedge_base::Id;
use selvedge_front_bool::{Options, parse, print};
use selvedge_program::validate::validate;
use selvedge_program::{Action, GlobalId, Program, Start, ThreadId, Update, text};

#[test]
fn a_program_as_text() {
    let text = "
        decl ready, {x > 0};
        bool<2> both(p) begin
            decl l;
            enforce ready => p;
            l := schoose[p, {x > 0}];
            if p & !l then return l, p; elsif l then skip; else goto OUT; fi;
            OUT: return *, l ^ p = T;
        end
        void worker(n) begin
            decl one, two;
            AGAIN: one, _ := both(n | one);
            while one & * do
                one, two := two, * constrain 'two => one;
            od;
            atomic_begin;
            assume(!ready);
            ready := T;
            atomic_end;
            if * then end_thread; fi;
            goto AGAIN, DONE, AGAIN;
            DONE: both(F);
            both(T);
            assert(ready | {x > 0});
        end
        void main() begin
            ready := F;
            start_thread worker(T);
            ASYNC_2: worker(ready);
        end";
    insta::assert_snapshot!(print(&program(text)).expect("it can be printed"));
}

#[test]
fn copies_that_differ_get_names_of_their_own() {
    let text = "decl a;
        void f() begin goto L, M; L: a := T; M: a := F; end
        void main() begin f(); start_thread f(); start_thread goto X; X: f(); end";
    let mut program = program(text);
    let label = program.labels.iter().position(|label| label.name == "M").expect("a label");
    program.labels.remove(label);
    insta::assert_snapshot!(print(&program).expect("it can be printed"));
}

/// A program whose threads all run at first, and whose global is false at first.
fn at_first(text: &str) -> Program {
    let mut program = text::parse(text).0.expect("a program");
    program.globals[GlobalId::from_index(0)].initial = Some(0);
    assert_eq!(validate(&program), []);
    program
}

const TWO_THREADS: &str = "program global g @1:1
    thread A @2:1 main run {
        procedure run @2:2 locals x @2:3 nodes 3 entry 0 exit 2 {
            0 -> 1 skip do g := T @3:1
            1 -> 2 skip do g := x @3:2
        }
    }
    thread B @4:1 main run {
        procedure run @4:2 nodes 2 entry 0 exit 1 { 0 -> 1 assert !g @5:1 }
    }";

#[test]
fn threads_that_run_at_first_are_started_by_main() {
    let program = at_first(TWO_THREADS);
    assert!(fails(&program));
    let printed = print(&program).expect("it can be printed");
    insta::assert_snapshot!(printed);
    assert!(fails(&common::program(&printed)));
    let mut alone = program;
    alone.threads[ThreadId::from_index(0)].start = Start::ByEdge { after: None };
    let printed = print(&alone).expect("it can be printed");
    assert!(!printed.contains("g := T"), "a thread that nobody starts is not printed\n{printed}");
    assert!(!fails(&common::program(&printed)));
}

#[test]
fn a_main_that_is_called_is_wrapped() {
    let text = "program global g @1:1
        thread A @2:1 main main {
            procedure main @2:2 (p @2:3) nodes 3 entry 0 exit 2 {
                0 -> 1 skip when !g do g := T @3:1
                1 -> 2 call main (F) @3:2
                0 -> 2 assert !g @3:3
            }
        }";
    let program = at_first(text);
    assert!(fails(&program));
    let printed = print(&program).expect("it can be printed");
    insta::assert_snapshot!(printed);
    assert!(fails(&common::program(&printed)));
}

/// Why a program cannot be printed.
fn refused(program: &Program) -> String {
    print(program).expect_err("it cannot be printed").to_string()
}

#[test]
fn what_boolean_programs_lack_is_refused() {
    let with = |action: &str| {
        let text = format!(
            "program lock l @1:1 set s {{ x @1:2 }}
             thread A @2:1 main main {{
                procedure main @2:2 nodes 2 entry 0 exit 1 {{ 0 -> 1 {action} @3:1 }}
             }}"
        );
        refused(&text::parse(&text).0.expect("a program"))
    };
    assert_eq!(with("acquire l"), "3:1: locks have no form in Boolean programs");
    assert_eq!(with("write x"), "3:1: accesses to locations have no form in Boolean programs");
    assert_eq!(with("begin"), "3:1: units of work have no form in Boolean programs");
}

#[test]
fn starts_at_several_places_are_refused() {
    let text = "void t() begin skip; end void s() begin start_thread t(); end
        void main() begin s(); s(); end";
    let reason = refused(&program(text));
    assert_eq!(reason, "1:41: thread t is started where a start could happen several times");
    let text = "void t() begin skip; end void main() begin L: start_thread t(); goto L; end";
    let options = Options { dialect: None, starts_per_site: Some(2) };
    let reason = refused(&parse(text, &options).program.expect("no errors"));
    assert!(reason.ends_with("several times"), "{reason}");
}

#[test]
fn steps_that_cannot_be_split_are_refused() {
    let text = "decl a, b; bool f() begin return a; end
        void t() begin b := f(); end
        void main() begin start_thread t(); assert(a); end";
    let program = program(text);
    let with = |wanted: fn(Action) -> bool, update: Update| {
        let mut program = program.clone();
        let id = program.updates.push(update);
        let found = program.edges.iter_enumerated().find(|(_, edge)| wanted(edge.action));
        let (edge, _) = found.expect("such an edge");
        program.edges[edge].update = Some(id);
        refused(&program)
    };
    let a = selvedge_program::Variable::Global(GlobalId::from_index(0));
    let update =
        Update { assignments: vec![(a, selvedge_program::Expr::Choice)], ..Update::default() };
    assert_eq!(
        with(|action| matches!(action, Action::Return(_)), update.clone()),
        "1:27: a return changes variables in the same step"
    );
    assert_eq!(
        with(|action| matches!(action, Action::Assert(_)), update),
        "3:45: an assertion changes variables"
    );
}

/// The program with one more update on its first edge of a kind: a global gets any value.
fn with_update(text: &str, wanted: fn(Action) -> bool) -> Program {
    let mut program = program(text);
    let a = selvedge_program::Variable::Global(GlobalId::from_index(0));
    let assignments = vec![(a, selvedge_program::Expr::Choice)];
    let update = program.updates.push(Update { assignments, ..Update::default() });
    let found = program.edges.iter_enumerated().find(|(_, edge)| wanted(edge.action));
    let (edge, _) = found.expect("such an edge");
    program.edges[edge].update = Some(update);
    program
}

#[test]
fn arguments_are_kept_where_they_could_change() {
    let calls = |action: Action| matches!(action, Action::Call(_));
    let text = |argument: &str, start: &str| {
        format!(
            "decl a, b; void f(p) begin skip; end void t() begin skip; end
             void main() begin decl x; f({argument}); {start} end"
        )
    };
    let kept = |argument: &str, start: &str| {
        let printed = print(&with_update(&text(argument, start), calls));
        printed.expect("it can be printed").contains("kept")
    };
    assert!(kept("a", ""));
    assert!(!kept("b", ""));
    assert!(kept("b", "start_thread t();"));
    assert!(!kept("x", "start_thread t();"));
}

#[test]
fn results_that_go_to_globals_show_when_a_return_is_split() {
    let returns = |action: Action| matches!(action, Action::Return(_));
    let text = |target: &str| {
        format!(
            "decl a, b; bool f() begin return a; end
             void main() begin decl x; {target} := f(); end"
        )
    };
    assert!(print(&with_update(&text("x"), returns)).is_ok());
    assert!(refused(&with_update(&text("b"), returns)).ends_with("in the same step"));
}

#[test]
fn a_start_in_a_recursive_main_is_refused() {
    let text = "void t() begin skip; end
        void main() begin start_thread t(); if * then main(); fi; end";
    let options = Options { dialect: None, starts_per_site: Some(1) };
    let reason = refused(&parse(text, &options).program.expect("no errors"));
    assert!(reason.ends_with("several times"), "{reason}");
}
