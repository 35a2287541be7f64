//! Each pass keeps the events of what stays in memory, on texts of a few lines and on random modules
//! that are executed.

use selvedge_base::Id as _;
use selvedge_code::model::{Module, ProcedureId};
use selvedge_code::simplify::fold::{Folding, fold};
use selvedge_code::simplify::inline::inline;
use selvedge_code::simplify::promote::promote;
use selvedge_code::statement::Operation;
use selvedge_code::text::{print, read};
use selvedge_code::validate::validate;
use selvedge_testkit::Rng;
use selvedge_testkit::code::generate::{Shape, random_module};
use selvedge_testkit::code::interpret::{Object, ObservedEvent, run};
use std::collections::BTreeSet;
use std::fmt::Write as _;

fn module(text: &str) -> Module {
    let reading = read(text);
    assert_eq!(reading.diagnostics, [], "{text}");
    reading.module.expect("no mistake")
}

/// The text of the procedures behind the first line of a module that begins with `proc f`.
fn shown(module: &Module) -> String {
    assert_eq!(validate(module), []);
    let text = print(module);
    let start = text.find("proc f(").expect("there is a procedure f");
    text[start..].to_owned()
}

/// The origins of the local objects that are left.
fn locals(module: &Module) -> BTreeSet<u32> {
    let procedures = module.procedures.iter().flat_map(|procedure| &procedure.blocks);
    let statements = procedures.flat_map(|block| &block.statements);
    let locals = statements.filter(|one| matches!(one.operation, Operation::Local(_)));
    locals.filter_map(|one| one.provenance.origin).collect()
}

/// Runs both modules in several ways and compares what others may notice; gives the number of events.
fn compare(before: &Module, after: &Module, seed: u64) -> usize {
    assert_eq!(validate(after), [], "seed {seed}\n{}\n{}", print(before), print(after));
    let left = locals(after);
    let stays = |event: &ObservedEvent| match event.local {
        Some(Object::Local(_, origin, _)) => left.contains(&origin),
        _ => true,
    };
    let mut count = 0;
    for round in 0..4 {
        let seed = seed * 4 + round;
        let entry = ProcedureId::from_index(0);
        let runs = [before, after].map(|module| run(module, entry, seed, round % 2 == 1));
        let events = runs.each_ref().map(|run| {
            run.events.iter().filter(|event| stays(event)).cloned().collect::<Vec<ObservedEvent>>()
        });
        let shorter = events[0].len().min(events[1].len());
        let texts = || format!("seed {seed}\n{}\n{}", print(before), print(after));
        assert_eq!(events[0][..shorter], events[1][..shorter], "{}", texts());
        for (run, events) in runs.iter().zip(&events) {
            assert!(run.is_cut || events.len() == shorter, "{}", texts());
        }
        count += shorter;
    }
    count
}

const TYPES: &str = "\
type pair 16 { a: word 8 @0; b: ref @8 }
type outer 40 { x: word 8 @0; inner: pair @8; y: word 8 @24; z: ref @32 }
global g: pair
";

fn promoted(body: &str) -> String {
    let mut module = module(&format!("{TYPES}proc f(p, v)\n{body}"));
    promote(&mut module);
    shown(&module)
}

#[test]
fn leaves_of_local_objects_become_registers() {
    let body = "b0:\n  l = local pair\n  a = field l pair.a\n  store a v\n  x = load a\n  store p x\n  return\n";
    let expected =
        "proc f(p, v)\nb0:\n  l_a = unknown\n  l_a = v\n  x = l_a\n  store p x\n  return\n";
    assert_eq!(promoted(body), expected);
    // Through several ways and copies of the address, and bytes before a field.
    let body = "b0:\n  l = local outer\n  q = l\n  i = field q outer.inner\n  b = field i pair.b\n  store b v\n  c = shift i -8\n  d = shift c 16\n  x = load d bytes 8\n  store p x\n  return\n";
    let expected = "proc f(p, v)\nb0:\n  l_inner_b = unknown\n  l_inner_b = v\n  x = l_inner_b\n  store p x\n  return\n";
    assert_eq!(promoted(body), expected);
    let word = "b0:\n  l = local word 8\n  store l v\n  x = load l\n  return\n";
    assert_eq!(
        promoted(word),
        "proc f(p, v)\nb0:\n  l = unknown\n  l = v\n  x = l\n  return\n"
            .replace("l =", "l_2 =")
            .replace("= l\n", "= l_2\n")
    );
}

#[test]
fn copies_become_loads_and_stores() {
    let body = "b0:\n  l = local pair\n  copy l p pair\n  m = local pair\n  copy m l pair\n  copy &g m pair\n  return\n";
    let expected = "\
proc f(p, v)
b0:
  l_a = unknown
  l_b = unknown
  part = field p pair.a
  l_a = load part
  part_2 = field p pair.b
  l_b = load part_2
  m_a = unknown
  m_b = unknown
  m_a = l_a
  m_b = l_b
  part_3 = field &g pair.a
  store part_3 m_a
  part_4 = field &g pair.b
  store part_4 m_b
  return
";
    assert_eq!(promoted(body), expected);
}

#[test]
fn what_others_may_know_stays() {
    let head = "b0:\n  l = local pair\n  a = field l pair.a\n  ";
    for use_of_it in [
        "store p l",
        "store p a",
        "x = any a",
        "x = eq l null",
        "call @f(l, v)",
        "!store a v",
        "x = shift l v",
        "x = load l bytes 4",
        "x = load l bytes 16",
        "lock l",
        "x = narrow l pair",
        "x = elem l v pair",
        "x = rmw a add 1 relaxed",
        "copy l l pair",
    ] {
        let body = format!("{head}{use_of_it}\n  store a v\n  return\n");
        assert_eq!(promoted(&body), format!("proc f(p, v)\n{body}"), "{use_of_it}");
    }
    // One of two addresses.
    let joined = "b0:\n  l = local pair\n  if eq v 0 goto b1 else b2\nb1:\n  l = p\n  goto b2\nb2:\n  a = field l pair.a\n  store a v\n  return\n";
    assert_eq!(promoted(joined), format!("proc f(p, v)\n{joined}"));
    // The address of the object of the pass before.
    let older = "b0:\n  q = p\n  l = local pair\n  store p 1\n  goto b1\nb1:\n  q = l\n  l = local pair\n  a = field l pair.a\n  store a v\n  o = field q pair.a\n  w = load o\n  store p w\n  goto b1\n";
    let text = promoted(older);
    assert_eq!(text.matches("local pair").count(), 2, "{text}");
}

#[test]
fn promotion_keeps_the_events_of_random_modules() {
    let (mut events, mut objects) = (0, 0);
    for seed in 0..1500 {
        let before = random_module(&mut Rng::new(seed), &Shape::LOCALS);
        let mut after = before.clone();
        objects += promote(&mut after);
        events += compare(&before, &after, seed);
    }
    assert!(events > 20_000 && objects > 300, "{events} events, {objects} objects");
}

#[test]
fn calls_become_blocks_with_their_chain_of_places() {
    let text = "\
row open(m) returns 1
b0:
  lock m @'lib.h':3:4
  return 0
proc g(x) returns 1
b0: catch * -> h0
  !y = any x
  return y
h0:
  throw x
proc f(p)
b0: catch * -> h0
  r = outside open(p) @'a.c':1:2
  !r = call @g(r)
  store p r
  return
h0:
  return
";
    let mut module = module(text);
    let g = module.procedures.ids().find(|&id| module.procedures[id].name == "g");
    assert_eq!(inline(&mut module, &|_, id| Some(id) == g), 2);
    let expected = "\
proc f(p)
b0: catch * -> h0
  m = p @'a.c':1:2
  goto b0_3
h0:
  return
b0_2: catch * -> h0
  x = r
  goto b0_4
b0_3: catch * -> h0
  lock m @'lib.h':3:4 < 'a.c':1:2 note open
  r = 0 @'a.c':1:2
  goto b0_2 @'a.c':1:2 note open
b0_2_2: catch * -> h0
  store p r
  return
b0_4: catch * -> h0_2
  !y = any x
  r = y
  goto b0_2_2
h0_2: catch * -> h0
  throw x
";
    assert_eq!(shown(&module), expected);
}

#[test]
fn what_fails_in_an_unmarked_call_stops_the_thread() {
    let text = "proc g()\nb0:\n  throw null\nproc f()\nb0: catch * -> h0\n  call @g()\n  !x = 1\n  return\nh0:\n  return\n";
    let mut module = module(text);
    inline(&mut module, &|_, _| true);
    let expected = "proc f()\nb0: catch * -> h0\n  goto b0_3\nh0:\n  return\nb0_2: catch * -> h0\n  !x = 1\n  return\nb0_3: catch * -> stop_here\n  throw null\nstop_here:\n  stop\n";
    assert_eq!(shown(&module), expected);
}

#[test]
fn recursion_and_locked_procedures_are_calls() {
    let text =
        "proc f(p)\nb0:\n  call @f(p)\n  call @g(p)\n  return\nproc g(p) locked p\nb0:\n  return\n";
    let mut module = module(text);
    assert_eq!(inline(&mut module, &|_, _| true), 0);
    assert_eq!(shown(&module), text);
}

#[test]
fn inlining_keeps_the_events_of_random_modules() {
    let (mut events, mut calls) = (0, 0);
    for seed in 0..1500 {
        let before = random_module(&mut Rng::new(seed), &Shape::LOCALS);
        let mut after = before.clone();
        calls += inline(&mut after, &|_, id| id.index() % 2 == 1 || seed % 2 == 0);
        events += compare(&before, &after, seed);
    }
    assert!(events > 20_000 && calls > 500, "{events} events, {calls} calls");
}

fn folded(text: &str) -> (String, Folding) {
    let mut module = module(text);
    let folding = fold(&mut module);
    (shown(&module), folding)
}

#[test]
fn the_result_of_try_decides_once() {
    let text = "\
global m: word
proc f(p)
b0:
  r = try &m
  ok = ne r 0
  goto b1
b1:
  if ne ok 0 goto b2 else b3
b2:
  store p 1
  goto b4
b3:
  store p 2
  goto b4
b4:
  if ne ok 0 goto b5 else b6
b5:
  unlock &m
  goto b6
b6:
  return
";
    let expected = "\
proc f(p)
b0:
  r = try &m
  ok = ne r 0
  goto b1
b1:
  if ne ok 0 goto b2 else b3
b3:
  store p 2
  goto b4
b4:
  goto b6
b6:
  return
b2:
  store p 1
  goto b4_2
b4_2:
  goto b5
b5:
  unlock &m
  goto b6
";
    let (found, folding) = folded(text);
    let blocks = |text: &str| {
        let mut blocks: Vec<String> =
            text.split("\nb").map(|block| block.trim().to_owned()).collect();
        blocks.sort();
        blocks
    };
    assert_eq!(blocks(&found), blocks(expected));
    assert_eq!(folding, Folding { decided: 2, left: Vec::new() });
}

#[test]
fn constants_null_and_constant_results_are_flags() {
    let head = "global m: word\nproc taken() returns 1\nb0:\n  return 16\nproc f(p)\nb0:\n";
    let body = |first: &str, second: &str, test: &str| {
        format!(
            "{head}  if eq p 0 goto b1 else b2\nb1:\n  x = {first}\n  goto b3\nb2:\n  x = {second}\n  goto b3\nb3:\n  if {test} goto b4 else b5\nb4:\n  lock &m\n  return\nb5:\n  return\n"
        )
    };
    let decided = |first, second, test| folded(&body(first, second, test)).1.decided;
    assert_eq!(decided("0", "1", "eq x 0"), 2);
    assert_eq!(decided("null", "make word 8", "eq x null"), 2);
    assert_eq!(decided("call @taken()", "0", "eq x 16"), 2);
    assert_eq!(decided("load p", "0", "eq x 0"), 0);
    assert_eq!(decided("p", "0", "eq x 0"), 0);
    // What does not differ in locks stays.
    let no_lock = body("0", "1", "eq x 0").replace("lock &m", "store p 1");
    assert_eq!(folded(&no_lock).1, Folding::default());
}

#[test]
fn a_handler_knows_what_holds_wherever_its_block_fails() {
    let of = |second: &str| {
        let text = format!(
            "global m: word\nproc f(p)\nb0: catch * -> h\n  x = 0\n  !y = any p\n  x = {second}\n  !y = any p\n  return\nh:\n  if eq x 0 goto h1 else h2\nh1:\n  lock &m\n  return\nh2:\n  return\n"
        );
        folded(&text).1.decided
    };
    assert_eq!(of("0"), 1);
    assert_eq!(of("1"), 0);
}

#[test]
fn flags_with_too_many_copies_stay_data_and_are_named() {
    let mut text = String::from("global m: word\nproc f(p)\na0:\n");
    for n in 0..8 {
        writeln!(text, "  x{n} = 0").expect("a string takes it");
    }
    text.push_str("  goto b0\n");
    for n in 0..8 {
        write!(
            text,
            "b{n}:\n  if eq p {n} goto c{n} else b{next}\nc{n}:\n  x{n} = 1\n  goto b{next}\n",
            next = n + 1
        )
        .expect("a string takes it");
    }
    text.push_str("b8:\n  goto d0\n");
    for n in 0..8 {
        write!(
            text,
            "d{n}:\n  if eq x{n} 0 goto e{n} else d{next}\ne{n}:\n  lock &m\n  goto d{next}\n",
            next = n + 1
        )
        .expect("a string takes it");
    }
    text.push_str("d8:\n  return\n");
    let (found, folding) = folded(&text);
    assert_eq!(folding.decided, 0);
    let names: Vec<&str> = folding.left.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(names, ["x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"]);
    assert!(text.ends_with(&found));
}

#[test]
fn folding_keeps_the_events_of_random_modules() {
    let (mut events, mut decided, mut left) = (0, 0, 0);
    for seed in 0..2500 {
        let before = random_module(&mut Rng::new(seed), &Shape::FLAGS);
        let mut after = before.clone();
        let folding = fold(&mut after);
        decided += folding.decided;
        left += folding.left.len();
        events += compare(&before, &after, seed);
    }
    assert!(events > 10_000 && decided > 300, "{events} events, {decided} decided, {left} left");
}

#[test]
fn all_passes_together_keep_the_events_of_shared_objects() {
    for seed in 0..800 {
        let before = random_module(&mut Rng::new(seed), &Shape::LOCALS);
        let mut after = before.clone();
        inline(&mut after, &|_, _| true);
        promote(&mut after);
        fold(&mut after);
        let shared = |module: &Module| {
            let run = run(module, ProcedureId::from_index(0), seed, false);
            run.events.into_iter().filter(|event| event.local.is_none()).collect::<Vec<_>>()
        };
        let (left, right) = (shared(&before), shared(&after));
        let shorter = left.len().min(right.len());
        assert_eq!(validate(&after), [], "seed {seed}");
        assert_eq!(left[..shorter], right[..shorter], "seed {seed}");
    }
}

#[test]
fn the_guard_of_a_condition_variable_is_gone_after_the_passes() {
    let text = include_str!("functions/cpp_unique_lock.code");
    let mut module = module(text);
    inline(&mut module, &|_, _| true);
    assert_eq!(promote(&mut module), 1);
    fold(&mut module);
    assert_eq!(validate(&module), []);
    let text = print(&module);
    let pop = &text[text.find("proc pop").expect("there is pop")..];
    // The lock is taken and waited for where it is, and no way frees it twice.
    assert!(!pop.contains("local guard") && !pop.contains("l_owns 0 goto"), "{pop}");
    assert!(pop.contains("lock m_2") || pop.contains("lock m"), "{pop}");
}

#[test]
fn ten_thousand_blocks_are_simplified_quickly() {
    const BLOCKS: usize = 10_000;
    let mut text = String::from(
        "type pair 16 { a: word 8 @0; b: ref @8 }\nglobal m: word\nproc f(x, y)\na0:\n  l = local pair\n  t = try &m\n  goto b0\n",
    );
    for n in 0..BLOCKS {
        write!(
            text,
            "b{n}:\n  store y x\n  a = field l pair.a\n  store a x\n  if eq y {n} goto c{n} else b{next}\nc{n}:\n  x = {n}\n  goto b{next}\n",
            next = n + 1
        )
        .expect("a string takes it");
    }
    write!(
        text,
        "b{BLOCKS}:\n  if eq t 1 goto u else v\nu:\n  unlock &m\n  goto v\nv:\n  return\n"
    )
    .expect("a string takes it");
    let mut module = module(&text);
    assert_eq!(inline(&mut module, &|_, _| true), 0);
    assert_eq!(promote(&mut module), 1);
    fold(&mut module);
    assert_eq!(validate(&module), []);
}
