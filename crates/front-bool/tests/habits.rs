//! What people write who come from C, Java, Promela or Pascal gets one message, and whoever follows its
//! advice has a program.

use selvedge_base::Diagnostic;
use selvedge_front_bool::{Options, parse};

fn errors(text: &str) -> Vec<Diagnostic> {
    parse(text, &Options::default()).diagnostics.into_iter().filter(Diagnostic::is_error).collect()
}

fn program(statement: &str) -> String {
    format!(
        "decl x, y; void main() begin decl l; {statement} end void f(p) begin skip; end \
         bool g() begin return T; end"
    )
}

/// A statement, the code of its only message, a part of its advice, and the statement that follows it.
const HABITS: &[(&str, &str, &str, &str)] = &[
    ("call f(T);", "unknown-statement", "`f(..);`", "f(T);"),
    ("call f;", "unknown-statement", "`f(..);`", "f(T);"),
    ("start f(T);", "unknown-statement", "`start_thread f(..);`", "start_thread f(T);"),
    ("run f(T);", "unknown-statement", "`start_thread f(..);`", "start_thread f(T);"),
    ("havoc x;", "unknown-statement", "`x := *;`", "x := *;"),
    ("await x;", "unknown-statement", "`assume(..);`", "assume(x);"),
    ("await (x);", "unknown-function", "`assume(..);`", "assume(x);"),
    ("c?x;", "unknown-statement", "no channels", "assume(x);"),
    ("c!x;", "unknown-statement", "no channels", "x := T;"),
    (
        "lock l;",
        "unknown-statement",
        "`atomic_begin; assume(!l);",
        "atomic_begin; assume(!l); l := T; atomic_end;",
    ),
    (
        "lock(l);",
        "unknown-function",
        "`atomic_begin; assume(!l);",
        "atomic_begin; assume(!l); l := T; atomic_end;",
    ),
    ("int z;", "unknown-declaration", "`decl z;`", "decl z;"),
    ("bool z;", "unknown-declaration", "`decl z;`", "decl z;"),
    ("label L: skip;", "unknown-statement", "`L: ..`", "L: skip;"),
    ("pass;", "unknown-statement", "`skip;`", "skip;"),
    ("yield;", "unknown-statement", "remove it", ""),
    ("while x do break; od;", "unknown-statement", "`goto L;`", "while x do goto L; od; L: skip;"),
    (
        "atomic { x := T; }",
        "unknown-statement",
        "`atomic_begin; .. atomic_end;`",
        "atomic_begin; x := T; atomic_end;",
    ),
    (
        "atomic begin x := T; end",
        "unknown-statement",
        "`atomic_begin; .. atomic_end;`",
        "atomic_begin; x := T; atomic_end;",
    ),
    ("if (x) { y := T; }", "missing-keyword", "`if .. then .. fi`", "if (x) then y := T; fi"),
    (
        "if (x) { y := T; } else { y := F; }",
        "missing-keyword",
        "`if .. then .. fi`",
        "if (x) then y := T; else y := F; fi",
    ),
    ("while (x) { y := T; }", "missing-keyword", "`while .. do .. od`", "while (x) do y := T; od"),
    ("if (x) then y := T; endif; fi", "unknown-statement", "`fi`", "if (x) then y := T; fi"),
    ("x := not y;", "foreign-operator", "`!`", "x := !y;"),
    ("x := y and l;", "foreign-operator", "`&`", "x := y & l;"),
    ("x := y OR l;", "foreign-operator", "`|`", "x := y | l;"),
    ("x := y <> l;", "foreign-operator", "`!=`", "x := y != l;"),
    ("x := nondet();", "unknown-function", "`*`", "x := *;"),
    ("assert x;", "missing-parenthesis", "`assert(..);`", "assert(x);"),
    ("x = T;", "missing-sign", "`:=` assigns", "x := T;"),
];

#[test]
fn every_habit_gets_one_message_and_its_advice_works() {
    let mut wrong = Vec::new();
    for (statement, code, advice, followed) in HABITS {
        let said: Vec<String> = errors(&program(statement)).iter().map(shown).collect();
        let only = matches!(&said[..], [one] if one.starts_with(code) && one.contains(advice));
        let left: Vec<String> = errors(&program(followed)).iter().map(shown).collect();
        if !only || !left.is_empty() {
            wrong.push(format!("{statement}\n  {}\n  {}", said.join("\n  "), left.join("\n  ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn shown(one: &Diagnostic) -> String {
    format!("{}: {}; {}", one.code, one.message, one.help.as_deref().unwrap_or_default())
}

/// What looks like a habit and is none.
#[test]
fn what_is_right_is_no_habit() {
    for text in [
        "decl call, not, and; void main() begin call, not := not & and, T; call := and; end",
        "void main() begin call(); await(T); end void call() begin skip; end void await(p) begin skip; end",
        "decl int; void main() begin int := T; end bool g() begin return int; end",
        "bool<2> bool2() begin return T, F; end void main() begin decl a, b; a, b := bool2(); end",
    ] {
        let said: Vec<String> = errors(text).iter().map(shown).collect();
        assert!(said.is_empty(), "{text}: {said:?}");
    }
}
