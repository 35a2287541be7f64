//! What values can be, which procedures calls reach and which threads run, on short texts. A fact names
//! an object by the procedure and the line that makes it.

use selvedge_base::{Budget, Id};
use selvedge_code::address::PathStep;
use selvedge_code::layout::Layout;
use selvedge_code::model::{Module, Point, ProcedureId};
use selvedge_code::statement::{Operation, Value};
use selvedge_code::text::read;
use selvedge_code::validate::validate;
use selvedge_heap::flow::PointerSet;
use selvedge_heap::objects::{PointerId, Site};
use selvedge_heap::points_to::{PointsTo, points_to};
use std::collections::BTreeSet;
use std::fmt::Write as _;

fn module(text: &str) -> Module {
    let read = read(text);
    let module = read.module.unwrap_or_else(|| panic!("{:?}", read.diagnostics));
    let breaches: Vec<String> = validate(&module).iter().map(ToString::to_string).collect();
    assert!(breaches.is_empty(), "{breaches:?}");
    module
}

struct Shown {
    module: Module,
    found: PointsTo,
}

impl Shown {
    fn of(text: &str) -> Self {
        let module = module(text);
        let found = points_to(&module, &Budget::new()).expect("no limit");
        Self { module, found }
    }

    fn procedure(&self, name: &str) -> ProcedureId {
        let found = self.module.procedures.iter_enumerated().find(|(_, one)| one.name == name);
        found.expect("a procedure").0
    }

    fn line(&self, (procedure, point): (ProcedureId, Point)) -> String {
        let of = &self.module.procedures[procedure];
        let block = &of.blocks[point.block];
        let result = block.statements.get(point.index as usize).and_then(|one| one.results.first());
        let name = result.map_or("_", |&result| of.registers[result].as_str());
        format!("{}.{name}", of.name)
    }

    fn pointer(&self, id: PointerId) -> String {
        let pointer = &self.found.objects.pointers[id];
        let mut text = match self.found.objects.objects[pointer.object].site {
            Site::Statement(procedure, point) | Site::Closure(procedure, point, _) => {
                self.line((procedure, point))
            }
            Site::Thread(procedure, point) => format!("thread {}", self.line((procedure, point))),
            Site::Outside(procedure, point) => format!("outside {}", self.line((procedure, point))),
            Site::Parameter(procedure, register) => {
                let of = &self.module.procedures[procedure];
                format!("parameter {}.{}", of.name, of.registers[register])
            }
            Site::Global(global) => format!("&{}", self.module.globals[global].name),
            Site::Procedure(procedure) => format!("@{}", self.module.procedures[procedure].name),
        };
        for step in &pointer.steps {
            match step {
                PathStep::Field(field) => {
                    write!(text, ".{}", self.module.fields[*field].name).expect("a string");
                }
                PathStep::Element(_) => text.push_str("[]"),
            }
        }
        match pointer.rest {
            Some(0) => {}
            Some(rest) => write!(text, "+{rest}").expect("a string"),
            None => text.push_str("+?"),
        }
        if let Some(side) = pointer.side {
            write!(text, " {side:?}").expect("a string");
        }
        text
    }

    fn set(&self, set: &PointerSet) -> String {
        let all: BTreeSet<String> = set.iter().map(|pointer| self.pointer(pointer)).collect();
        all.into_iter().collect::<Vec<_>>().join(", ")
    }

    /// What a register can be where it is returned, thrown or passed first.
    fn value(&self, procedure: &str, register: &str) -> String {
        let id = self.procedure(procedure);
        let of = &self.module.procedures[id];
        let (register, _) =
            of.registers.iter_enumerated().find(|(_, name)| *name == register).expect("a register");
        let mut all = BTreeSet::new();
        for (block, code) in of.blocks.iter_enumerated() {
            for index in 0..=code.statements.len() {
                let set = self.found.value(id, Point::new(block, index), Value::Register(register));
                all.extend(set.iter());
            }
        }
        self.set(&all.into_iter().collect())
    }

    fn held(&mut self, global: &str) -> String {
        let layout = Layout::new(&self.module);
        let wanted = self.module.globals.iter_enumerated().find(|(_, one)| one.name == global);
        let wanted = wanted.expect("a global").0;
        let of_global = |one: &PointerId| {
            let pointer = &self.found.objects.pointers[*one];
            self.found.objects.objects[pointer.object].site == Site::Global(wanted)
                && pointer.steps.is_empty()
        };
        let Some(pointer) = self.found.objects.pointers.ids().find(of_global) else {
            return String::new();
        };
        let set = self.found.held(&self.module, &layout, pointer).clone();
        self.set(&set)
    }

    /// The calls with what they reach.
    fn calls(&self) -> String {
        let mut all = Vec::new();
        for (&(procedure, point), targets) in &self.found.calls {
            let name = |&one: &ProcedureId| self.module.procedures[one].name.clone();
            let mut names: Vec<String> = targets.procedures.iter().map(name).collect();
            names.extend(targets.declared.iter().map(|one| format!("{}?", name(one))));
            if targets.is_open {
                names.push("?".to_owned());
            }
            let caller = &self.module.procedures[procedure].name;
            let block = &self.module.procedures[procedure].blocks[point.block];
            let how = match &block.statements[point.index as usize].operation {
                Operation::Start(_) => "starts",
                Operation::Once { .. } => "runs once",
                _ => "calls",
            };
            all.push(format!("{caller} {how} {}", names.join(" ")));
        }
        all.join("; ")
    }

    fn threads(&self) -> String {
        let all = self.found.threads.iter().map(|kind| {
            let entry = &self.module.procedures[kind.entry].name;
            match kind.start {
                None => entry.clone(),
                Some((procedure, _)) => {
                    format!("{entry} by {}", self.module.procedures[procedure].name)
                }
            }
        });
        all.collect::<Vec<_>>().join("; ")
    }
}

#[test]
fn fields_of_objects_are_apart() {
    let shown = Shown::of(
        "type node { next: ref node; other: ref node }
proc main() entry
b0:
  a = make node
  b = make node
  c = make node
  p = field a node.next
  store p b
  q = field a node.other
  store q c
  r = field a node.next
  d = load r
  s = field d node.next
  e = load s
  call @use(d, e)
  return
proc use(d, e)
b0:
  x = any d e
  return
",
    );
    assert_eq!(shown.value("use", "d"), "main.b");
    assert_eq!(shown.value("use", "e"), "");
    assert_eq!(shown.value("main", "p"), "main.a.next");
    assert_eq!(shown.calls(), "main calls use");
    assert_eq!(shown.threads(), "main");
}

#[test]
fn methods_are_selected_by_the_objects_that_come() {
    let text = "type shape
type square: shape
type circle: shape
method shape.area square = @square_area
method shape.area circle = @circle_area
global kept: ref shape
proc square_area(this: ref square) returns 1
b0:
  return this
proc circle_area(this: ref circle) returns 1
b0:
  return this
proc main() entry
b0:
  s = make square
  store &kept s
  k = load &kept
  r = virtual shape.area(k)
  n = narrow r circle
  call @use(r, n)
  return
proc use(r, n)
b0:
  x = any r n
  return
";
    let mut shown = Shown::of(text);
    assert_eq!(shown.calls(), "main calls square_area; main calls use");
    assert_eq!(shown.value("use", "r"), "main.s");
    assert_eq!(shown.value("use", "n"), "");
    assert_eq!(shown.held("kept"), "main.s");
    assert_eq!(shown.value("circle_area", "this"), "");
    let both = text
        .replace("  s = make square\n", "  s = make square\n  c = make circle\n  store &kept c\n");
    let shown = Shown::of(&both);
    assert_eq!(shown.calls(), "main calls square_area circle_area; main calls use");
    assert_eq!(shown.value("use", "n"), "main.c");
}

#[test]
fn threads_get_what_they_are_started_with() {
    let mut shown = Shown::of(
        "type cell 8 { n: word 8 @0 }
global shared: ref cell
proc work(c: ref cell)
b0:
  p = field c cell.n
  store p 1
  store &shared c
  return
proc main() entry
b0:
  a = make cell
  h = start @work(a)
  join h
  return
",
    );
    assert_eq!(shown.value("work", "c"), "main.a");
    assert_eq!(shown.value("main", "h"), "thread main.h");
    assert_eq!(shown.threads(), "main; work by main");
    assert_eq!(shown.calls(), "main starts work");
    assert_eq!(shown.held("shared"), "main.a");
}

#[test]
fn closures_bring_what_they_captured() {
    let shown = Shown::of(
        "type cell
global task: ref
proc body(a, b) returns 1
b0:
  x = any b
  return a
proc main() entry
b0:
  a = make cell
  b = make cell
  f = closure @body(a)
  store &task f
  g = load &task
  r = value g(b)
  call @use(r)
  return
proc use(r)
b0:
  x = any r
  return
",
    );
    assert_eq!(shown.value("body", "a"), "main.a");
    assert_eq!(shown.value("body", "b"), "main.b");
    assert_eq!(shown.value("use", "r"), "main.a");
}

#[test]
fn bytes_lead_back_to_the_object_around_them() {
    let shown = Shown::of(
        "type cell 56 { m: word 8 @0; n: word 4 @40; link: ref cell @48 }
global cells: cell[8]
proc main(i: word) entry
b0:
  e = elem &cells i cell
  l = field e cell.link
  store l l
  x = load l
  c = shift x -48
  n = field c cell.n
  o = shift n i
  call @use(x, c, n, o)
  return
proc use(x, c, n, o)
b0:
  y = any x c n o
  return
",
    );
    assert_eq!(shown.value("use", "x"), "&cells[].link");
    assert_eq!(shown.value("use", "c"), "&cells[]");
    assert_eq!(shown.value("use", "n"), "&cells[].n");
    assert_eq!(shown.value("use", "o"), "&cells+?");
}

#[test]
fn an_unknown_place_is_any_place_in_the_object() {
    let shown = Shown::of(
        "type pair 16 { a: ref pair @0; b: ref pair @8 }
proc main(i: word) entry
b0:
  p = make pair
  x = make pair
  y = make pair
  a = field p pair.a
  store a x
  q = shift p i
  store q y
  b = field p pair.b
  v = load b
  w = load q
  call @use(v, w)
  return
proc use(v, w)
b0:
  z = any v w
  return
",
    );
    assert_eq!(shown.value("use", "v"), "main.x, main.y");
    assert_eq!(shown.value("use", "w"), "main.x, main.y");
}

#[test]
fn fields_that_overlap_hold_the_same() {
    let shown = Shown::of(
        "type either 8 { a: ref either @0; b: ref either @0 }
proc main() entry
b0:
  p = make either
  a = field p either.a
  store a p
  b = field p either.b
  v = load b
  call @use(v)
  return
proc use(v)
b0:
  z = any v
  return
",
    );
    assert_eq!(shown.value("use", "v"), "main.p");
}

#[test]
fn parts_of_what_overlaps_hold_the_same() {
    let shown = Shown::of(
        "type pair 16 { a: ref pair @0; b: ref pair @8 }
type either 16 { both: pair @0; second: ref pair @8 }
proc main() entry
b0:
  p = make either
  q = field p either.both
  b = field q pair.b
  store b p
  r = field p either.second
  v = load r
  call @use(v)
  return
proc use(v)
b0:
  z = any v
  return
",
    );
    assert_eq!(shown.value("use", "v"), "main.p");
}

#[test]
fn copies_move_each_part() {
    let shown = Shown::of(
        "type pair 16 { a: ref pair @0; b: ref pair @8 }
proc main() entry
b0:
  p = local pair
  q = local pair
  x = make pair
  y = make pair
  a = field p pair.a
  store a x
  b = field p pair.b
  store b y
  copy q p pair
  c = field q pair.a
  v = load c
  d = field q pair.b
  w = load d
  call @use(v, w)
  return
proc use(v, w)
b0:
  z = any v w
  return
",
    );
    assert_eq!(shown.value("use", "v"), "main.x");
    assert_eq!(shown.value("use", "w"), "main.y");
}

#[test]
fn outside_code_keeps_and_gives_back_what_it_was_passed() {
    let shown = Shown::of(
        "type object
type cell: object
type other: object
proc find(a: ref object) returns ref cell outside
proc main() entry
b0:
  c = make cell
  o = make other
  outside register(c)
  outside register(o)
  r = call @find(null)
  n = call @find(o)
  call @use(r)
  return
proc use(r)
b0:
  z = any r
  return
",
    );
    assert_eq!(
        shown.value("use", "r"),
        "main.c, outside main.r",
        "what is of another type does not come back as a cell"
    );
    let all = "main calls ?; main calls ?; main calls find?; main calls find?; main calls use";
    assert_eq!(shown.calls(), all);
    assert_eq!(shown.set(shown.found.pool()), "main.c, main.o");
    assert_eq!(shown.found.unknown.get("register"), Some(&2));
}

#[test]
fn rows_say_what_outside_code_does() {
    let shown = Shown::of(
        "type cell
row same(p) returns 1
b0:
  return p
proc main() entry
b0:
  c = make cell
  r = outside same(c)
  call @use(r)
  return
proc use(r)
b0:
  z = any r
  return
",
    );
    assert_eq!(shown.value("use", "r"), "main.c");
    assert_eq!(shown.calls(), "main calls same; main calls use");
    assert!(shown.found.unknown.is_empty());
}

#[test]
fn handlers_catch_what_is_of_their_types() {
    let shown = Shown::of(
        "type failure
type bad: failure
type worse: failure
proc fail(e)
b0:
  throw e
proc main() entry
b0: catch bad -> h0
  a = make bad
  b = make worse
  !call @fail(a)
  !call @fail(b)
  return
h0:
  c = caught
  call @use(c)
  return
proc use(c)
b0:
  z = any c
  return
",
    );
    assert_eq!(shown.value("use", "c"), "main.a, outside main.c");
}

#[test]
fn initialisers_run_once_and_procedures_that_nobody_calls_never() {
    let shown = Shown::of(
        "global class: word
proc init()
b0:
  return
proc never()
b0:
  call @init()
  return
proc main() entry
b0:
  once &class @init()
  return
",
    );
    assert_eq!(shown.calls(), "main runs once init");
    assert!(!shown.found.procedures.contains_key(&shown.procedure("never")));
}

#[test]
fn long_cycles_of_copies_become_one_set() {
    let mut text = String::from(
        "type cell\nproc main() entry\nb0:\n  a = make cell\n  call @p0(a)\n  return\n",
    );
    let count = 12_000;
    for number in 0..count {
        let next = (number + 1) % count;
        writeln!(text, "proc p{number}(a)\nb0:\n  call @p{next}(a)\n  x = any a\n  return")
            .expect("a string");
    }
    let shown = Shown::of(&text);
    assert_eq!(shown.value("p11999", "a"), "main.a");
    assert_eq!(shown.value("p5", "x"), "");
    assert_eq!(shown.found.procedures.len(), count + 1);
}

#[test]
fn the_budget_ends_the_analysis() {
    let module =
        module("type cell\nproc main() entry\nb0:\n  a = make cell\n  b = any a\n  return\n");
    assert!(points_to(&module, &Budget::with_steps(0)).is_err());
    assert_eq!(module.procedures.ids().next().map(Id::index), Some(0));
}
