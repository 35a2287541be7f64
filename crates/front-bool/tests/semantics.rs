//! What each construct means: small programs whose assertion can fail or cannot, by exhaustive
//! search.

mod common;

use common::{fails, program, round_trip};
use selvedge_front_bool::{Dialect, Options, parse};

/// Asserts whether an assertion can fail, also after printing and reading again.
fn expect(text: &str, failing: bool) {
    let program = program(text);
    assert_eq!(fails(&program), failing, "{text}");
    if let Some(again) = round_trip(&program) {
        assert_eq!(fails(&again), failing, "printed: {text}");
    }
}

/// The same for the statements of `main`, with globals a, b, c and locals x, y.
fn main(statements: &str, failing: bool) {
    expect(&format!("decl a, b, c; void main() begin decl x, y; {statements} end"), failing);
}

/// The same in a dialect.
fn main_in(dialect: Dialect, statements: &str, failing: bool) {
    let text = format!("decl a, b, c; void main() begin decl x, y; {statements} end");
    let parsed = parse(&text, &Options { dialect: Some(dialect), starts_per_site: None });
    let program = parsed.program.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics));
    assert_eq!(fails(&program), failing, "{dialect}: {text}");
    let again = round_trip(&program).expect("it can be printed");
    assert_eq!(fails(&again), failing, "printed from {dialect}: {text}");
}

#[test]
fn values_are_assigned_at_once() {
    main("a, b := T, F; a, b := b, a; assert(!a & b);", false);
    main("a := *; b := a; assert(a = b);", false);
    main("a, b := *, *; assert(a = b);", true);
    main("assert(x);", true);
    main("a := T; dead a; assert(a);", true);
    main("a := T; _ := F; assert(a);", false);
}

#[test]
fn expressions_mean_what_they_say() {
    main("assert(T & 1 & true & !F & ~0 & !false);", false);
    main(
        "a, b := T, F; assert(a && !b || b); assert(a != b); assert(a ^ b); assert(!(a == b));",
        false,
    );
    main("assert((F => T) => F);", true);
    main("assert(!T = F);", false);
    main("assert(!!T);", false);
    main("assert(T != F = F != T = T);", false);
    main("assert(T = F = F != T = T);", true);
    main("assert((T = F) = (F = T));", false);
    main("assert(*);", true);
    main("assert(?);", true);
    main("a := ?; assert(a);", true);
    main("assert(* | T);", false);
    // Each star is a value of its own.
    main("assert(* = *);", true);
}

#[test]
fn operators_bind_as_each_dialect_says() {
    let both = |text: &str, boppo: bool, getafix: bool| {
        let statement = format!("assert({text});");
        main_in(Dialect::Boppo, &statement, !boppo);
        main_in(Dialect::Getafix, &statement, !getafix);
    };
    both("F & F = F", true, false);
    both("T | T = F", false, true);
    both("F = F & F", true, false);
    both("T != F & F", true, false);
    both("T | F != T", false, true);
    both("T ^ T & F", true, true);
    both("T | T ^ T", false, true);
    both("T ^ T | T", false, true);
    both("F => F | F", true, true);
    both("T | T => F", false, false);
    both("F => T => F", true, false);
    both("F => F => F", true, false);
    both("F = T => T", false, true);
    both("F = F => F", false, false);
    both("F => F = F => F", true, false);
    both("T => F != T = F", false, false);
    // The example by which the dialects are remembered.
    let example = "x, y, c := F, T, F; assert(x & y = c);";
    main_in(Dialect::Boppo, example, false);
    main_in(Dialect::Getafix, example, true);
}

#[test]
fn schoose_is_true_false_or_either() {
    main("a := schoose[T, F]; assert(a);", false);
    main("a := schoose[F, T]; assert(!a);", false);
    main("a := schoose[F, F]; assert(a);", true);
    main("a := schoose[F, F]; assert(!a);", true);
    main("b := T; a := schoose[b, !b]; assert(a);", false);
    main("b, c := F, T; a := schoose[b, c]; assert(!a);", false);
    main("b, c := F, F; a := schoose[b, c]; assert(!a);", true);
    main("b, c := T, T; a := schoose[b, c]; assert(a);", false);
}

#[test]
fn constraints_speak_of_both_moments() {
    main("a := T; a := * constrain 'a = a; assert(a);", false);
    main("a := T; a := * constrain 'a != a; assert(!a);", false);
    main("a, b := *, * constrain 'a & 'b; assert(a & b);", false);
    main("a := T; b := T constrain a; assert(F);", true);
    main("a := F; b := T constrain a; assert(F);", false);
    main("a := F; b := T constrain 'a; assert(F);", false);
}

#[test]
fn conditions_block() {
    main("assume(a); assert(a);", false);
    main("constrain(a); assert(a);", false);
    main("abortif(a); assert(!a);", false);
    main("abortif a; assert(!a);", false);
    main("abortif a | b; assert(!a & !b);", false);
    main("abortif !a & *; assert(a);", true);
    main("assume(F); assert(F);", false);
    main("assume(*); assert(F);", true);
    main("abortif(*); assert(F);", true);
}

#[test]
fn branches_follow_their_condition() {
    main("if a then b := T; else b := F; fi; assert(a = b);", false);
    main("if a then assert(a); elsif b then assert(!a & b); else assert(!a & !b); fi", false);
    main("if (*) then a := T; else a := F; fi assert(a);", true);
    main("a := F; if a then assert(F); fi", false);
    main("a := F; if a & * then assert(F); fi", false);
    main("a := T; if a & * then skip; else assert(F); fi", true);
    main("if T then skip; else assert(F); fi", false);
    main("a := T; while a do a := *; od; assert(!a);", false);
    main("while * do a := T; od; assert(a);", true);
    main("while F do assert(F); od", false);
    main("while T do skip; od; assert(F);", false);
}

#[test]
fn declarations_and_what_is_enforced_may_stand_behind_statements() {
    main("a := T; decl z; z := a; assert(z);", false);
    main("a := T; decl z; assert(z);", true);
    main("if * then decl z; z := T; assert(z); fi", false);
    main("L: decl z; z := T; assert(z); if * then goto L; fi", false);
    // It holds for the whole function.
    main("a := *; enforce a; assert(a);", false);
    main("assert(a); decl z; enforce a;", false);
    expect("decl a, x; void main() begin a := T; decl b, c; b := a; decl x; assert(b); end", false);
    expect("decl a; void main() begin enforce x; decl x; assert(x); end", false);
}

#[test]
fn jumps_go_to_their_labels() {
    main("goto L; assert(F); L: skip;", false);
    main("a := T; goto L, M; L: a := F; M: assert(a);", true);
    main("a := T; goto M; L: a := F; M: assert(a);", false);
    main("L: M: L: skip; if * then goto M; fi; assert(a);", true);
    main("goto E; L: a := T; goto M; E: a := F; goto L; M: assert(a); E2: ", false);
    main("if * then L: a := T; else a := F; goto L; fi; assert(a);", false);
}

#[test]
fn calls_pass_and_return() {
    let functions = "
        bool<2> swap(p, q) begin return q, p; end
        bool not(p) begin p := !p; return p; end
        bool any() begin skip; end
        void set() begin a := T; end
        bool down(p) begin decl l; if p then l := down(!p); return l; fi; return T; end ";
    let main = |statements: &str, failing| {
        let text = format!("decl a; {functions} void main() begin decl x, y; {statements} end");
        expect(&text, failing);
    };
    main("x, y := swap(T, F); assert(!x & y);", false);
    main("x := F; _, x := swap(T, F); assert(x);", false);
    main("x := not(F); assert(x);", false);
    main("x := not(x); not(x); assert(x);", true);
    main("x := T; x := any(); assert(x);", true);
    main("a := F; set(); assert(a);", false);
    main("x := down(T); assert(x);", false);
    main("a := not(a); assert(a);", true);
}

#[test]
fn enforced_conditions_hold_while_a_function_runs() {
    let text = |condition: &str| {
        format!(
            "decl a, b; void f() begin enforce {condition}; a, b := *, *; assert(a & !b); end
             void main() begin a, b := *, *; f(); end"
        )
    };
    expect(&text("a & !b"), false);
    expect(&text("a"), true);
    expect(&text("T"), true);
}

#[test]
fn threads_are_started_where_the_text_says() {
    expect(
        "decl a; void t() begin a := F; end void main() begin a := T; start_thread t(); assert(a); end",
        true,
    );
    expect(
        "decl a; void t() begin a := F; end void main() begin a := T; t: start_thread t(); a := T; end_thread; assert(F); end",
        false,
    );
    expect(
        "decl a; void t() begin a := F; end void main() begin a := T; ASYNC_7: t(); assert(a); end",
        true,
    );
    expect(
        "decl a; void t(p) begin assert(p); end void main() begin a := T; start_thread t(a); end",
        false,
    );
    expect(
        "decl a; void t(p) begin assert(p); end void main() begin a := F; start_thread t(a); end",
        true,
    );
    // A label of this form that stands at no call is a label only.
    expect("decl a; void main() begin a := T; ASYNC_1: a := F; assert(a); end", true);
    // The started thread has copies of the locals.
    expect(
        "void main() begin decl x; x := T; start_thread goto L; x := F; end_thread; L: assert(x); end",
        false,
    );
    expect("void main() begin decl x; x := T; start_thread assert(x); x := F; end", false);
    expect("decl a; void main() begin a := T; start_thread a := F; assert(a); end", true);
    expect(
        "decl a; void main() begin a := T; start_thread if a then assert(a); fi; a := F; end",
        true,
    );
    expect(
        "decl a; bool f() begin return F; end void main() begin a := T; start_thread a := f(); assert(a); end",
        true,
    );
    // What comes behind the statement is not executed by the thread.
    expect("decl a; void main() begin a := F; start_thread skip; a := !a; assert(a); end", false);
    // Two starts at one site, because it is executed twice.
    expect(
        "decl a, b; void t() begin assume(!a); a := T; assert(!b); b := T; end
            void s() begin start_thread t(); end
            void main() begin a, b := F, F; s(); assume(a); a := F; s(); end",
        true,
    );
}

#[test]
fn threads_end_inside_of_calls() {
    expect("void f() begin end_thread; end void main() begin f(); assert(F); end", false);
    expect(
        "decl a; void t() begin a := T; end_thread; a := F; end
            void main() begin a := F; start_thread t(); assume(a); assert(a); end",
        false,
    );
}

#[test]
fn atomic_sections_are_not_interrupted() {
    let text = |begin: &str, end: &str| {
        format!(
            "decl a; void t() begin {begin} a := T; a := F; {end} end
             void main() begin a := F; start_thread t(); assert(!a); end"
        )
    };
    expect(&text("", ""), true);
    expect(&text("atomic_begin;", "atomic_end;"), false);
}

#[test]
fn getafix_programs_start_their_threads_behind_init() {
    let text = |init: &str, more: &str| {
        format!(
            "decl a, b; void init() begin {init} end
             void one() begin assert(a); end {more}"
        )
    };
    expect(&text("a := F; a := T;", ""), false);
    expect(&text("a := T; if (*) then return; fi; b := T; return;", ""), false);
    expect(&text("a := T;", "void two() begin a := F; end"), true);
    expect(&text("a := T;", "bool two() begin a := F; return a; end"), false);
    expect(&text("a := T;", "void two(p) begin if (p) then a := F; fi end"), true);
    expect(&text("a := T;", "bool f() begin return F; end void two() begin a := f(); end"), true);
    // Without init it is a sequential program.
    expect("decl a; void main() begin constrain(a); f(); end void f() begin assert(a); end", false);
}

#[test]
fn labels_are_at_the_nodes_of_their_statements() {
    use selvedge_program::Target;
    let reached = |text: &str, label: &str| {
        let program = program(text);
        let labels = program.labels.iter().filter(|one| one.name == label);
        let target = Target::Label(labels.map(|label| label.node).collect());
        common::reached(&program, &[target], 3, 60_000).expect("few states").least(0).is_some()
    };
    // A jump with a label is a place of its own.
    let text = "decl a; void main() begin a := T; goto L; E: goto L; L: skip; D: assume(F); N: end";
    assert!(!reached(text, "E"));
    assert!(reached(text, "L"));
    assert!(reached(text, "D"));
    assert!(!reached(text, "N"));
    let text = "decl a; void main() begin while a do a := F; L: od; M: end";
    assert!(reached(text, "L") && reached(text, "M"));
    let text = "decl a; void main() begin a := F; while a do a := F; L: od; M: end";
    assert!(!reached(text, "L") && reached(text, "M"));
}
