use super::{print, read};
use crate::model::Module;
use std::fmt::Write as _;

/// The module of a text without mistakes.
fn module(text: &str) -> Module {
    let reading = read(text);
    assert_eq!(reading.diagnostics, [], "{text}");
    reading.module.expect("there is no mistake")
}

/// The codes and messages of the mistakes of a text.
fn mistakes(text: &str) -> Vec<(&'static str, String)> {
    let reading = read(text);
    assert!(reading.module.is_none());
    reading.diagnostics.into_iter().map(|one| (one.code, one.message)).collect()
}

/// The only mistake of a text with the bytes it is about, and the help.
fn mistake(text: &str) -> (&'static str, String, String, String) {
    let mut found = read(text).diagnostics;
    assert_eq!(found.len(), 1, "{found:#?}");
    let one = found.remove(0);
    let at = one.primary.map_or("", |label| &text[label.span.range()]);
    (one.code, one.message, at.to_owned(), one.help.unwrap_or_default())
}

#[test]
fn the_example_of_the_documentation_reads_and_prints_back() {
    let source = include_str!("mod.rs");
    let example = source.split("//! ```text\n").nth(1).and_then(|rest| rest.split_once("//! ```"));
    let example = example.expect("there is an example").0.replace("//! ", "");
    assert_eq!(print(&module(&example)), example);
}

/// Each statement, end, declaration and flag at least once.
const ALL: &str = "\
type object
type node: object { next: ref node final; value: word 4 volatile; old: ref threadlocal }
type cell 56 {
  m: mutex @0 lock;
  c: 'cond' @40 cond;
  n: word 4 @48 atomic;
  bits: word 4[2][3] @52;
  tail: word 1[] @56
}
type mutex 40
type 'cond' 8
type option 8 { p: ref node @0 } variants p { none = 0; some = -1 }
type failure: object, node declared
global cells: cell[8]
global 'java.lang.X.count': word 8 volatile
method object.run node = @run
method object.run failure = @other
method object.none
proc run(this: ref node) locked this returns 1 public
b0:
  return this
proc other(this) returns 1 annotation 'GuardedBy(\\'x\\')' annotation b
b0:
  return 1
proc empty() outside
row pthread_mutex_lock(p: ref mutex) returns 1
b0:
  lock p byobject
  return 0
proc 'all'(p: ref cell, q: word) locked &cells returns ref cell, unknown private static synthetic constructor entry
b0: catch failure -> h0, * -> h1
  a = make node
  b = make word 4[q][8]
  c = local ref node[2]
  d = closure @run(a)
  e = field p cell.m
  f = elem &cells q cell
  g = shift f -48
  h = side e cond
  ^3 !i = narrow a failure @'A.java':3:4 < 'B.java':1 < C+77 note cast
  j = i
  k = -9223372036854775808
  l = null
  l = unknown
  l = @run
  m = xor j k
  n = any a b m
  n = any
  o = load e bytes 16 acquire
  store e o
  store e o seqcst
  o = rmw e swap 1 acqrel
  o ok = cas e o 1 relaxed
  copy p f cell[3]
  goto b1
b1:
  r0 r1 = call @'all'(p, q) @'A.java':_
  call @empty()
  s = virtual object.run(a)
  t u v = value d(1)
  w = outside 'java.util.List.add'(a, b)
  lock e
  lock e read reentrant structured fair
  x = try e write checked
  y = timed e byobject
  unlock e
  unlock e read
  wait h e
  wait h e timed
  notify h
  notify all h
  z = start @run(a)
  z = start virtual object.run(a)
  z = start value d()
  z = start outside thread(d)
  join z
  detach z
  once &cells @run(a)
  kind e reentrant structured
  if eq x 1 goto b2 else b3
b2:
  switch x 1 -> b3, -2 -> b2 else b4
b3:
  throw a
b4:
  ^9 stop @'A.java':9:1 note abort
h0:
  ex = caught
  return ex null
h1: catch * -> h1
  return 1 2
";

#[test]
fn every_form_reads_and_prints_back() {
    let all = module(ALL);
    assert_eq!(print(&all), ALL);
    let loose = ALL.replace(" @", "  @").replace('\n', " // remark\n\n");
    assert_eq!(module(&loose), all);
    assert_eq!(all.file_name(all.places.as_slice()[0].place), Some("C"));
}

#[test]
fn the_spans_of_statements_are_theirs() {
    let reading = read(ALL);
    let mut found = Vec::new();
    for procedure in &reading.spans.procedures {
        for block in &procedure.blocks {
            let all = block.statements.iter().chain([&block.end]);
            found.extend(all.map(|span| &ALL[span.range()]));
        }
    }
    let body =
        ALL.split("\nproc ").skip(1).flat_map(str::lines).filter(|line| line.starts_with("  "));
    let lines: Vec<&str> = body.map(str::trim).collect();
    assert_eq!(found, lines);
}

#[test]
fn mistakes_have_places_and_say_what_to_do() {
    let head = "type cell { next: ref cell }\nglobal g: cell\n";
    let body = |line: &str| format!("{head}proc f(p)\nb0:\n  {line}\n  return\n");
    let found = |line: &str| {
        let (code, message, at, help) = mistake(&body(line));
        format!("{code}: {message} [{at}] {help}")
    };
    let expected = [
        ("lod p", "unknown-statement: `lod` is no statement [lod] did you mean `load`?"),
        ("x = lod p", "unknown-statement: `lod` is no statement [lod] did you mean `load`?"),
        (
            "x = field p cell.nxt",
            "unknown-name: there is no field `nxt` [nxt] did you mean `next`?",
        ),
        ("x = field p cel.next", "unknown-name: there is no type `cel` [cel] did you mean `cell`?"),
        ("x = load &h", "unknown-name: there is no global `h` [h] declare the global"),
        ("call @ff()", "unknown-name: there is no procedure `ff` [ff] did you mean `f`?"),
        ("virtual cell.run(p)", "unknown-name: there is no method `run` [run] declare the method"),
        ("goto b1", "unknown-name: there is no block `b1` [b1] did you mean `b0`?"),
        (
            "x = load 99999999999999999999",
            "number-too-large: the number `99999999999999999999` is too large [99999999999999999999] ",
        ),
        ("lock = p", "unexpected: expected a value, found `=` [=] "),
        (
            "x = field p cell.'a\\q'",
            "unknown-escape: unknown escape in `'a\\q'` ['a\\q'] the escapes are `\\'`, `\\\\`, `\\n` and `\\u{..}`",
        ),
        (
            "x = field p cell.'next",
            "unterminated-name: this name has no closing quote ['next] close it with `'`",
        ),
        ("x = ", "unexpected: expected a statement, found the keyword `return` [return] "),
        (
            "p = p p",
            "unknown-statement: `p` is no statement [p] write `=` between results and operation",
        ),
        ("lock p p", "unexpected: expected the end of the line, found `p` [p] "),
        (
            "x = side p left",
            "unexpected: expected a side: `read`, `write`, `cond`, found `left` [left] ",
        ),
        ("call @f(p", "unexpected: expected `,`, found the keyword `return` [return] "),
        ("x = 1 ?", "unknown-character: unknown character `?` [?] remove it"),
    ];
    for (line, message) in expected {
        assert_eq!(found(line), message, "{line}");
    }
}

#[test]
fn declarations_that_cannot_be_read_are_one_mistake_each() {
    let expected = [
        ("typ a\n", "expected `type`, `global`, `method`, `proc` or `row`, found `typ`"),
        ("type a\ntype a\n", "there is a type `a` already"),
        ("type a { f: word; f: word }\n", "there is a field `f` already"),
        ("global g: word\nglobal g: word\n", "there is a global `g` already"),
        ("proc f() outside\nrow f() outside\n", "there is a procedure `f` already"),
        ("proc f(p, p) outside\n", "there is a parameter `p` already"),
        ("proc f()\nb:\n  stop\nb:\n  stop\n", "there is a block `b` already"),
        ("type lock\n", "`lock` is a keyword and cannot be the name of a type"),
        ("type a { f: b }\n", "there is no type `b`"),
        ("type a variants t { }\n", "the type has no field `t`"),
        ("global g word\n", "expected `:`, found the keyword `word`"),
        ("proc f()\n", "`f` has no blocks"),
        (
            "proc f()\n  stop\n  stop\n",
            "expected the label of a block, such as `b0:`, found the keyword `stop`",
        ),
        ("proc f()\nb0:\n  x = 1\nb1:\n  stop\n", "this block has no end"),
        (
            "proc f()\nb0:\n  stop\n  x = 1\n  y = 1\n",
            "expected the label of a block, such as `b0:`, found `x`",
        ),
        ("proc f()\nb0: catch a\n  stop\n", "there is no type `a`"),
        (
            "type a { f: word 99999999999999999999 }\n",
            "the number `99999999999999999999` is too large",
        ),
    ];
    for (text, message) in expected {
        let found = mistakes(text);
        let messages: Vec<&str> = found.iter().map(|(_, message)| message.as_str()).collect();
        assert_eq!(messages, [message], "{text}");
    }
}

#[test]
fn reading_goes_on_behind_mistakes() {
    let text =
        "type a { f: b }\nglobal g: c\nproc f()\nb0:\n  x = field 1 a.g\n  lok x\n  goto d\n";
    let found = mistakes(text);
    let codes: Vec<&str> = found.iter().map(|&(code, _)| code).collect();
    assert_eq!(
        codes,
        ["unknown-name", "unknown-name", "unknown-name", "unknown-statement", "unknown-name"]
    );
}

#[test]
fn many_mistakes_do_not_take_long() {
    let mut text = String::from("proc f()\nb0:\n");
    for number in 0..20_000 {
        writeln!(text, "  x = call @none{number}()").expect("a string takes it");
    }
    let found = mistakes(&text);
    assert_eq!(found.last().map(|(code, _)| *code), Some("too-many-errors"));
}
