//! Large and hostile texts: about linear time, bounded recursion, a capped number of complaints.

use selvedge_base::Diagnostic;
use selvedge_front_bool::{Options, parse, print};
use selvedge_program::{Expr, Program};
use std::fmt::Write;

fn program(text: &str) -> Program {
    let parsed = parse(text, &Options::default());
    let errors: Vec<&Diagnostic> = parsed.diagnostics.iter().filter(|one| one.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    parsed.program.expect("no errors")
}

fn codes(text: &str) -> Vec<&'static str> {
    parse(text, &Options::default()).diagnostics.iter().map(|one| one.code).collect()
}

fn main(statements: &str) -> String {
    format!("decl a, b; void main() begin {statements} end")
}

fn depth(expr: &Expr) -> usize {
    match expr {
        Expr::Not(inner) => 1 + depth(inner),
        Expr::Binary(_, left, right) => 1 + depth(left).max(depth(right)),
        _ => 1,
    }
}

/// The depth of the value that `main` assigns first.
fn assigned_depth(expression: &str) -> usize {
    let program = program(&main(&format!("a := {expression};")));
    let update = program.updates.iter().next().expect("an update");
    depth(&update.assignments[0].1)
}

#[test]
fn a_hundred_thousand_statements() {
    let statements = 100_000;
    // All on one line: places must not take quadratic time.
    let text = main(&"a := b; L: if a then skip; fi; ".replace("L: ", "").repeat(statements / 2));
    let program = program(&text);
    assert_eq!(program.edges.len(), statements / 2 * 4);
    assert!(print(&program).expect("it can be printed").len() > text.len());
}

#[test]
fn a_hundred_thousand_labels_and_jumps() {
    let mut text = String::new();
    for at in 0..100_000 {
        write!(text, "L{at}: goto L{}, L{};", (at * 7) % 100_000, (at * 11) % 100_000)
            .expect("strings take text");
    }
    let program = program(&main(&text));
    assert_eq!(program.labels.len(), 100_000);
}

#[test]
fn long_chains_make_flat_trees() {
    let chain = |sign: &str| vec!["a"; 20_000].join(sign);
    for sign in [" & ", " | ", " ^ ", " = ", " != ", " => "] {
        assert!(assigned_depth(&chain(sign)) <= 17, "{sign}");
    }
    let mixed = vec!["a = b != a ^ b"; 5_000].join(" ^ ");
    assert!(assigned_depth(&mixed) <= 17);
    // Brackets that do not matter do not count, whichever side they are on.
    let left = format!("{}a{}", "(".repeat(900), " & b)".repeat(900));
    assert!(assigned_depth(&left) <= 12);
    let right = format!("{}a{}", "b | (".repeat(900), ")".repeat(900));
    assert!(assigned_depth(&right) <= 12);
    assert_eq!(assigned_depth(&format!("{}a", "!".repeat(100_000))), 1);
    assert_eq!(assigned_depth(&format!("{}a", "~".repeat(100_001))), 2);
}

#[test]
fn depth_is_limited_where_chains_hide_it() {
    // Each level has a long chain, so the tree is deeper than the brackets are.
    let mut expression = String::from("a");
    for level in 0..80 {
        let sign = if level % 2 == 0 { " & " } else { " | " };
        expression = format!("{}({expression})", format!("b{sign}").repeat(300));
    }
    assert_eq!(codes(&main(&format!("a := {expression};"))), ["nesting-too-deep"]);
}

#[test]
fn many_functions_in_a_row_and_in_a_chain() {
    let mut text = String::from("decl a;");
    let count = 50_000;
    for at in 0..count {
        writeln!(text, "void f{at}(x) begin f{}(x); end", (at + 1) % count)
            .expect("strings take text");
    }
    text.push_str("void main() begin f0(T); end");
    assert_eq!(program(&text).procedures.len(), count + 1);
    // The same without recursion, with a start at the end.
    let text = text.replace("f0(x); end", "start_thread f1(x); end");
    assert_eq!(codes(&text), ["unbounded-starts"]);
    let text = text.replace("start_thread f1(x)", "start_thread last(x)");
    let text = format!("{text} void last(x) begin skip; end");
    assert_eq!(program(&text).threads.len(), 2);
}

#[test]
fn many_variables() {
    let names: Vec<String> = (0..65_536).map(|at| format!("v{at}")).collect();
    let text = format!("decl {}; void main() begin v65535 := v0; end", names.join(","));
    assert_eq!(program(&text).globals.len(), 65_536);
    let text = format!("decl w, {}; void main() begin skip; end", names.join(","));
    assert_eq!(codes(&text), ["too-many-variables"]);
    let text = format!("void main() begin decl w, {}; skip; end", names.join(","));
    assert_eq!(codes(&text), ["too-many-variables"]);
}

#[test]
fn complaints_are_capped() {
    for piece in
        ["x := y;", "goto L;", "f();", "@", "if", "fi;", "void", "L: skip;", "a := (;", "}"]
    {
        let codes = codes(&main(&piece.repeat(20_000)));
        assert!(!codes.is_empty() && codes.len() <= 102, "{piece}: {}", codes.len());
    }
}

#[test]
fn many_start_sites_are_noticed_before_they_are_counted() {
    let starts = "start_thread t(); start_thread skip;".repeat(30_000);
    let text = format!("void t() begin skip; end void f() begin {starts} end");
    assert_eq!(codes(&format!("{text} void main() begin f(); end")), ["too-many-threads"]);
    let codes = codes(&format!("{text} void main() begin skip; end"));
    assert_eq!(codes, ["unused-function", "unused-function"]);
}

#[test]
fn copies_of_functions_are_limited() {
    // A thousand threads with a function of many steps each.
    let body = "a := b;".repeat(20_000);
    let starts = "start_thread t();".repeat(1000);
    let text = format!("decl a, b; void t() begin {body} end void main() begin {starts} end");
    assert_eq!(codes(&text), ["program-too-large"]);
}

#[test]
fn nesting_is_limited_and_the_rest_is_read() {
    for (open, close) in [("if a then ", "fi;"), ("while a do ", "od;")] {
        let nested = |depth: usize| {
            main(&format!("{}skip;{} y := a;", open.repeat(depth), close.repeat(depth)))
        };
        assert_eq!(codes(&nested(250)), ["unknown-variable"]);
        assert_eq!(codes(&nested(300)), ["nesting-too-deep", "unknown-variable"]);
        assert_eq!(codes(&nested(100_000)), ["nesting-too-deep", "unknown-variable"]);
    }
    let many = main(&format!("{}{}a;", "a := (", "(".repeat(100_000)));
    assert_eq!(codes(&many)[0], "nesting-too-deep");
}
