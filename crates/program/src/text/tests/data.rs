use super::{check, parse, print};
use crate::data::{Expr, Operator, Variable};
use crate::model::{Action, ConditionId, GlobalId, LocalId, UpdateId};
use selvedge_base::Id;

pub const EXAMPLE: &str = "\
program
global x = T @1:6
global y
global \"a b\" = F
numeral q { x, y }
thread A @2:1 main main {
  procedure main @2:2 locals z @2:9, x @2:12 enforce z | .x end @9:1 nodes 7 entry 0 exit 6 {
    0 -> 1 skip when x & !y do .x, y := *, !z constrain 'x = y | '.x != \"a b\" @3:4
    1 -> 2 call f(x => y, *) into y, _ @3:5
    2 -> 3 start B(F) when T
    3 -> 4 begin atomic do x := T
    4 -> 5 end atomic
    5 -> 0 assert x ^ (y | z) @3:6
    5 -> 6 return
  }
  procedure f (a, b @4:1) -> 2 locals c nodes 2 entry 0 exit 1 {
    0 -> 1 return a & b & c, !(a = b => c)
    0 -> 0 call main()
  }
}
thread B waits main main {
  procedure main (a) nodes 1 entry 0 exit 0 {
  }
}
thread C waits after B main main {
  procedure main nodes 1 entry 0 exit 0 {
  }
}
label L at A main 3
label \"L 2\" at A f 0
label L at C main 0
";

#[test]
fn data_reads_and_prints_back() {
    let (program, diagnostics) = parse(EXAMPLE);
    assert_eq!(diagnostics, []);
    let program = program.expect("no errors");
    assert_eq!(print(&program), EXAMPLE);
    let (globals, updates, conditions) = (&program.globals, &program.updates, &program.conditions);
    assert_eq!((globals.len(), updates.len(), conditions.len()), (3, 3, 2));
    assert_eq!(program.labels[0].node, program.edges.as_slice()[3].source);
    assert_eq!(program.edges.as_slice()[2].action, Action::Start(Id::from_index(1)));
    let loose = EXAMPLE.replace('\n', " // remark\n ").replace(", ", " , ").replace('(', " ( ");
    assert_eq!(parse(&loose), (Some(program), vec![]));
}

fn local(at: usize) -> Variable {
    Variable::Local(LocalId::from_index(at))
}

fn global(at: usize) -> Variable {
    Variable::Global(GlobalId::from_index(at))
}

#[test]
fn locals_hide_globals_but_for_a_dot() {
    let program = parse(EXAMPLE).0.expect("no errors");
    let update = &program.updates[UpdateId::from_index(0)];
    let x_and_not_y = Expr::Current(local(1)).join(Operator::And, Expr::Current(global(1)).not());
    assert_eq!(update.guard, Some(x_and_not_y));
    assert_eq!(update.assignments[0], (global(0), Expr::Choice));
    let enforced = Expr::Current(local(0)).join(Operator::Or, Expr::Current(global(0)));
    assert_eq!(program.conditions[ConditionId::from_index(0)], enforced);
}

/// An edge with this behind its nodes, in a procedure with a parameter, a local, and two globals.
fn with_edge(edge: &str) -> Vec<String> {
    let text = format!(
        "program global g global h thread A main f {{ procedure f (p) -> 2 locals l nodes 2 entry 0 \
         exit 1 {{\n0 -> 1 {edge}\n}} }}"
    );
    check(&text).into_iter().map(|one| format!("{}: {}", one.code, one.message)).collect()
}

#[test]
fn connectives_bind_as_they_are_printed() {
    for (text, expected) in [
        ("g & h | g & h", "g & h | g & h"),
        ("((g)) = (h = g)", "g = (h = g)"),
        ("(g = h) = g", "g = h = g"),
        ("g => h => g", "g => h => g"),
        ("g => (h => g)", "g => h => g"),
        ("(g => h) => g", "(g => h) => g"),
        ("!(g = h)", "g != h"),
        ("!!(g != h)", "!!(g != h)"),
        ("g ^ h & !g != h | g => h", "g ^ h & !g != h | g => h"),
    ] {
        let text = format!(
            "program global g global h thread A main f {{ procedure f nodes 2 entry 0 exit 1 {{ \
             0 -> 1 assert {text} }} }}"
        );
        let (program, diagnostics) = parse(&text);
        assert_eq!(diagnostics, []);
        let printed = print(&program.expect("no errors"));
        assert!(printed.contains(&format!("assert {expected}\n")), "{printed}");
    }
}

#[test]
fn mistakes_about_data_are_named() {
    let expected: [(&str, &[&str]); 14] = [
        ("assert", &["unexpected-text: expected an expression"]),
        ("assert g &", &["unexpected-text: expected an expression"]),
        ("assert (g", &["unexpected-text: expected `)`"]),
        ("assert 'g", &["unexpected-text: values after the step stand in a constraint only"]),
        ("skip when gg", &["unknown-variable: there is no variable \"gg\""]),
        ("skip when .l", &["unknown-variable: there is no global \"l\""]),
        ("skip do g h := T", &["unexpected-text: expected `,` or `:=`"]),
        (
            "skip do g, h := T",
            &["unexpected-text: expected `,` and one more value: every target gets one"],
        ),
        (
            "skip do g, g := T, T",
            &["invalid-program: 0:0: Global(GlobalId(0)) is assigned twice in one step"],
        ),
        ("call f() into g, h", &["invalid-program: 0:0: the passed values do not fit f"]),
        ("call f(T) into g", &["invalid-program: 0:0: the passed values do not fit f"]),
        ("return g", &["invalid-program: 0:0: a return does not fit f"]),
        ("start B", &["unknown-thread: there is no thread \"B\""]),
        ("start A(T)", &["invalid-program: 0:0: start of A, which does not wait"]),
    ];
    for (edge, messages) in expected {
        assert_eq!(with_edge(edge), messages, "{edge}");
    }
    for right in
        ["skip when T do l := *", "call f(T) into g, _", "return l, *", "skip constrain 'g"]
    {
        assert_eq!(with_edge(right), [""; 0], "{right}");
    }
}

#[test]
fn mistakes_in_declarations_of_data_are_named() {
    for (text, message) in [
        ("global g = 1", "the first value is not of the type of the variable"),
        ("global g = x", "expected a constant"),
        ("global g : 0..7 = T", "the first value is not of the type of the variable"),
        ("global g : 0..7 = 8", "0:0: g starts with a value that it cannot have"),
        ("global g : 7..0", "a range has at least one value and at most 2^31"),
        ("global g : -2147483648..2147483647", "a range has at least one value and at most 2^31"),
        ("global g : 0..4000000000", "values lie between -2147483648 and 2147483647"),
        ("global g : mod 0", "a type modulo a number needs at least 1"),
        ("global g : colour", "there is no enumeration \"colour\""),
        ("global g[0]", "an array has at least one element and at most 65536"),
        ("global g[2] global \"g[1]\"", "the global \"g[1]\" is declared twice"),
        ("global g : 0..1 location x", "there is no location \"x\""),
        ("global g guarded by m", "there is no lock \"m\""),
        ("enum e { }", "an enumeration has at least one enumerator"),
        ("enum e { a, a }", "the enumerator \"a\" is declared twice"),
        ("global t : thread = $thread(B)", "there is no thread \"B\""),
        ("global g : 0..3 invariant g", "0:0: Int where Bool is needed"),
        ("global g invariant g & *", "0:0: an invariant speaks of more than the values of globals"),
        ("global g : thread invariant g = $me", "0:0: an invariant speaks of no thread"),
        ("global a[2] invariant a[T]", "0:0: Bool where Int is needed"),
        ("global g exclusive g when a[0]", "there is no array \"a\""),
        (
            "thread A main f { procedure f (a[2]) nodes 1 entry 0 exit 0 { } }",
            "0:0: the elements of a are not alike",
        ),
        ("global g global g", "the global \"g\" is declared twice"),
        ("numeral n { g }", "there is no global \"g\""),
        ("numeral n { g", "there is no global \"g\""),
        ("glob g", "expected a declaration"),
        ("thread A waits after B main f { }", "there is no thread \"B\""),
        ("label L at A f 0", "there is no thread \"A\""),
        (
            "thread A main f { procedure f nodes 1 entry 0 exit 0 { } } label L at A g 0",
            "there is no procedure of this thread \"g\"",
        ),
        (
            "thread A main f { procedure f nodes 1 entry 0 exit 0 { } } label L at A f 1",
            "the nodes of this procedure are below 1",
        ),
        (
            "thread A main f { procedure f (a, a) nodes 1 entry 0 exit 0 { } }",
            "the local \"a\" is declared twice",
        ),
        (
            "thread A main f { procedure f () nodes 1 entry 0 exit 0 { } }",
            "expected the name of a local",
        ),
        (
            "thread A main f { procedure f -> 4000000000 nodes 1 entry 0 exit 0 { } }",
            "a procedure cannot have so many results",
        ),
    ] {
        let found = check(&format!("program {text}"));
        assert!(found.iter().any(|one| one.message == message), "{text}: {found:?}");
    }
}

#[test]
fn deep_expressions_are_refused_and_long_ones_read() {
    for deep in [
        format!("{}g{}", "(".repeat(100_000), ")".repeat(100_000)),
        "(".repeat(100_000),
        format!("{}g", "!".repeat(100_000)),
        vec!["g"; 100_000].join(" => "),
        vec!["g"; 100_000].join(" & "),
        vec!["g"; 100_000].join(" != "),
    ] {
        let found = with_edge(&format!("assert {deep}"));
        assert_eq!(found, ["nesting-too-deep: the expression is nested too deeply"]);
    }
    for fine in [
        format!("{}g{}", "(".repeat(200), ")".repeat(200)),
        format!("{}g", "!".repeat(200)),
        vec!["g"; 200].join(" => "),
        vec!["g"; 1000].join(" & "),
    ] {
        assert_eq!(with_edge(&format!("assert {fine}")), [""; 0]);
    }
}
