//! Large and hostile texts: linear time, bounded recursion, a capped number of complaints.

use selvedge_base::Diagnostic;
use selvedge_front_eml::{Parsed, parse};
use selvedge_program::{Action, Program};
use std::fmt::Write;

fn two_processes(body: &str) -> String {
    format!("lock:l;var:x;process P{{main{{{body}}}}}process Q{{main{{skip}}}}")
}

fn program(text: &str) -> Program {
    let parsed = parse(text);
    let errors: Vec<&Diagnostic> = parsed.diagnostics.iter().filter(|one| one.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    parsed.program.expect("no errors")
}

fn codes(parsed: &Parsed) -> Vec<&'static str> {
    parsed.diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

#[test]
fn a_hundred_thousand_statements() {
    let statements = 100_000;
    // All on one line: places must not take quadratic time.
    let text = two_processes(&"read x;synchronized(l){write x;}".repeat(statements / 2));
    let program = program(&text);
    assert_eq!(program.edges.len(), 4 * statements / 2 + 1);
    let last = program.edges.iter().rev().nth(1).expect("an edge of P");
    let end = text.find("}}process Q").expect("the end of P");
    assert_eq!(last.place, selvedge_base::Place::new(1, end as u32));
}

#[test]
fn a_hundred_thousand_branches() {
    let branches = 100_000;
    let chain = "if(*)read x;else ".repeat(branches);
    let long = program(&two_processes(&format!("{chain}write x;")));
    assert_eq!(long.edges.len(), 3 * branches + 2);
    let open = program(&two_processes(&format!("{chain}if(*)write x;")));
    assert_eq!(open.edges.len(), 3 * (branches + 1) + 1);
}

#[test]
fn few_skips_are_added() {
    let program = program(&two_processes("unit { { read x; } } while (*) { if (*) { write x; } }"));
    let skips = program.edges.iter().filter(|edge| edge.action == Action::Skip).count();
    // Two for the loop, two for the branch, one in Q.
    assert_eq!(skips, 5);
}

#[test]
fn many_functions_and_names() {
    let mut text = String::from("lock : l0");
    for at in 1..20_000 {
        write!(text, ", l{at}").expect("strings take text");
    }
    text.push_str("; process Q { main { skip } } process P { main { f0(); }");
    for at in 0..20_000 {
        let next = (at + 1) % 20_000;
        write!(text, "synchronized(l{at}) f{at} {{ f{next}(); }} ").expect("strings take text");
    }
    text.push('}');
    assert_eq!(program(&text).procedures.len(), 20_002);
}

#[test]
fn many_processes() {
    let mut text = String::new();
    for at in 0..30_000 {
        write!(text, "process P{at} {{ main {{ skip }} }} ").expect("strings take text");
    }
    assert_eq!(program(&text).threads.len(), 30_000);
}

#[test]
fn nesting_is_limited() {
    for (open, close) in [
        ("{", "}"),
        ("unit{", "}"),
        ("synchronized(l){", "}"),
        ("if(*)", ""),
        ("while(*)", ""),
        ("if(*)skip;else{", "}"),
        ("if(*){", "}else skip;"),
    ] {
        let nest = |depth: usize| {
            two_processes(&format!("{}read x;{}", open.repeat(depth), close.repeat(depth)))
        };
        assert!(parse(&nest(200)).program.is_some(), "{open}");
        for depth in [300, 200_000] {
            let parsed = parse(&nest(depth));
            assert_eq!(codes(&parsed), ["nesting-too-deep"], "{open} {depth}");
        }
        let unclosed = parse(&two_processes(&open.repeat(200_000)));
        assert_eq!(codes(&unclosed), ["nesting-too-deep"], "{open}");
    }
    let prefixes = |count: usize| {
        let prefixes = "synchronized(l)".repeat(count);
        format!("lock:l;process P{{{prefixes}main{{skip}}}}process Q{{main{{skip}}}}")
    };
    assert!(parse(&prefixes(200)).program.is_some());
    assert_eq!(codes(&parse(&prefixes(100_000))), ["nesting-too-deep"]);
}

#[test]
fn many_parentheses_are_harmless() {
    let parsed = parse(&two_processes(&format!("if {} skip;", "(".repeat(100_000))));
    assert!(parsed.program.is_none());
}

#[test]
fn ten_megabytes_of_garbage() {
    let size = 10_000_000;
    let mut state = 1u64;
    let mut byte = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    let bytes: Vec<u8> = (0..size).map(|_| byte()).collect();
    // One text has the full size; the others are shorter, to keep the test short.
    let latin: String = bytes.iter().map(|&byte| char::from(byte)).collect();
    let ascii: String = bytes[..size / 10].iter().map(|&byte| char::from(byte & 0x7F)).collect();
    let lossy = String::from_utf8_lossy(&bytes[..size / 10]).into_owned();
    let size = size / 10;
    let texts = [
        latin,
        ascii,
        lossy,
        "\0".repeat(size),
        "a".repeat(size),
        "a ".repeat(size / 2),
        "{".repeat(size),
        "}".repeat(size),
        "/*".repeat(size / 2),
        "process P{".repeat(size / 10),
        "process P{f{".repeat(size / 12),
        "lock:".repeat(size / 5),
        "lock:a,".repeat(size / 7),
        format!("process P{{main{{{}", "@ read ".repeat(size / 7)),
        format!("process P{{{}", "@ f ".repeat(size / 4)),
        format!("process P{{main{{if{}", "(".repeat(size)),
    ];
    for text in texts {
        let parsed = parse(&text);
        let head: String = text.chars().take(20).collect();
        assert!(parsed.program.is_none(), "{head:?}");
        assert!((1..=51).contains(&parsed.diagnostics.len()), "{head:?}");
        for diagnostic in &parsed.diagnostics {
            assert!(diagnostic.message.len() < 300, "{head:?}");
        }
    }
}

/// Ten megabytes, once of a program with data and once of its words in any order.
#[test]
fn ten_megabytes_of_data() {
    let statement = format!("x = 1; /* {} */", "a comment ".repeat(20));
    let statements = (10 << 20) / statement.len();
    let text = format!("int 0..7 : x; process P {{ main {{ {} }} }}", statement.repeat(statements));
    assert!(text.len() > 10_000_000);
    assert_eq!(program(&text).edges.len(), statements);
    let words = [
        "int", "0..7", ":", "x", "=", "a", "[", "]", "(", ")", "{", "}", ";", "atomic", "guarded",
        "by", "self", "choose", "process", "enum", "const", "+", "*", "..",
    ];
    let mut hostile = String::new();
    let mut state = 1u64;
    while hostile.len() < 10_000_000 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        hostile.push_str(words[(state >> 33) as usize % words.len()]);
        hostile.push(' ');
    }
    let parsed = parse(&hostile);
    assert!(parsed.program.is_none());
    assert!(parsed.diagnostics.len() <= 102, "{}", parsed.diagnostics.len());
}
