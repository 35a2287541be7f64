//! What the statements mean: by example in the text form, and against the meaning of the tree on
//! random functions.

use selvedge_base::Diagnostic;
use selvedge_front_eml::parse;
use selvedge_program::{Action, NodeId, Program, Successors, text};
use std::collections::BTreeSet;
use std::fmt::Write;

fn program(text: &str) -> Program {
    let parsed = parse(text);
    assert!(
        !parsed.diagnostics.iter().any(Diagnostic::is_error),
        "{:?}\n{text}",
        parsed.diagnostics
    );
    parsed.program.expect("no errors")
}

#[test]
fn the_graph_of_a_function() {
    let source = "\
lock : l, m;
var : x;
process P {
  synchronized(l) synchronized(m) f {
    unit {
      if (*) return;
      read x;
    }
  }
  main() {
    while (*) { f(); }
    if (*) write x; else { }
  }
}
process Q { main { return } }
";
    let expected = "\
program
lock l @1:8
lock m @1:11
set shared { x @2:7 }
thread P @3:9 main main {
  procedure f @4:35 end @9:3 nodes 12 entry 0 exit 1 {
    0 -> 2 acquire l @4:3
    2 -> 3 acquire m @4:19
    3 -> 5 begin @5:5
    5 -> 8 skip @6:7
    8 -> 9 end @6:14
    9 -> 10 release m @6:14
    10 -> 1 release l @6:14
    5 -> 7 skip @6:7
    7 -> 6 read x @7:7
    6 -> 4 end @8:5
    4 -> 11 release m @9:3
    11 -> 1 release l @9:3
  }
  procedure main @10:3 end @13:3 nodes 6 entry 0 exit 1 {
    0 -> 3 skip @11:5
    3 -> 0 call f @11:17
    0 -> 2 skip @11:5
    2 -> 4 skip @12:5
    4 -> 1 write x @12:12
    2 -> 5 skip @12:5
    5 -> 1 skip @12:26
  }
}
thread Q @15:9 main main {
  procedure main @15:13 end @15:27 nodes 2 entry 0 exit 1 {
    0 -> 1 skip @15:20
  }
}
";
    assert_eq!(text::print(&program(source)), expected);
}

#[test]
fn locations_of_all_lines_are_one_atomic_set() {
    let program = program("var : x; var : y; process P { main { read x; read y } } var : z;");
    assert_eq!(program.atomic_sets.len(), 1);
    assert_eq!(program.locations.len(), 3);
}

#[test]
fn statements_behind_a_return_are_left_out() {
    let program = program("var : x; process P { main { unit { return; read x } write x; } }");
    assert_eq!(program.edges.len(), 2);
}

/// An event with the line that it comes from.
type Word = Vec<(String, u32)>;

/// A statement of the generator.
enum Tree {
    /// A statement with one event.
    Event(String, u32),
    Skip,
    Return(u32),
    /// What is entered and left, the lines of the word and of the closing brace, and the body.
    Scope(String, String, u32, u32, Vec<Tree>),
    If(Box<Tree>, Option<Box<Tree>>),
    While(Box<Tree>),
    Braces(Vec<Tree>),
}

/// The longest words that are compared.
const LONGEST: usize = 9;

/// The words of a tree, each with the line of the `return` in which it ends, if it does.
type Language = BTreeSet<(Word, Option<u32>)>;

fn concatenate(first: &Language, second: &Language) -> Language {
    let mut words = Language::new();
    for (left, returned) in first {
        if returned.is_some() {
            words.insert((left.clone(), *returned));
            continue;
        }
        for (right, returned) in second {
            if left.len() + right.len() <= LONGEST {
                words.insert(([left.as_slice(), right].concat(), *returned));
            }
        }
    }
    words
}

fn sequence(trees: &[Tree]) -> Language {
    let nothing = Language::from([(Vec::new(), None)]);
    trees.iter().fold(nothing, |before, tree| concatenate(&before, &meaning(tree)))
}

fn scope(enter: &str, leave: &str, first: u32, last: u32, body: &Language) -> Language {
    let mut words = Language::new();
    for (word, returned) in body {
        if word.len() + 2 <= LONGEST {
            let mut all = vec![(enter.to_owned(), first)];
            all.extend(word.iter().cloned());
            all.push((leave.to_owned(), returned.unwrap_or(last)));
            words.insert((all, *returned));
        }
    }
    words
}

fn meaning(tree: &Tree) -> Language {
    match tree {
        Tree::Event(event, line) => Language::from([(vec![(event.clone(), *line)], None)]),
        Tree::Skip => Language::from([(Vec::new(), None)]),
        Tree::Return(line) => Language::from([(Vec::new(), Some(*line))]),
        Tree::Scope(enter, leave, first, last, body) => {
            scope(enter, leave, *first, *last, &sequence(body))
        }
        Tree::If(then, otherwise) => {
            let mut words = meaning(then);
            words.extend(otherwise.as_ref().map_or_else(|| meaning(&Tree::Skip), |s| meaning(s)));
            words
        }
        Tree::While(body) => {
            let body = meaning(body);
            let mut words = meaning(&Tree::Skip);
            loop {
                let mut more = concatenate(&body, &words);
                more.extend(words.iter().cloned());
                if more == words {
                    return words;
                }
                words = more;
            }
        }
        Tree::Braces(body) => sequence(body),
    }
}

/// The words of the ways from the entry to the exit of the procedure that contains `entry`.
fn language_of_graph(program: &Program, entry: NodeId, exit: NodeId) -> BTreeSet<Word> {
    let successors = Successors::new(program);
    let mut seen: BTreeSet<(NodeId, Word)> = BTreeSet::from([(entry, Word::new())]);
    let mut work: Vec<(NodeId, Word)> = seen.iter().cloned().collect();
    while let Some((node, word)) = work.pop() {
        for &edge in successors.of(node) {
            let edge = &program.edges[edge];
            let event = match edge.action {
                Action::Skip => None,
                Action::Read(x) => Some(format!("read {}", program.locations[x].name)),
                Action::Write(x) => Some(format!("write {}", program.locations[x].name)),
                Action::Acquire(l) => Some(format!("acquire {}", program.locks[l].name)),
                Action::Release(l) => Some(format!("release {}", program.locks[l].name)),
                Action::BeginUnit => Some("begin".to_owned()),
                Action::EndUnit => Some("end".to_owned()),
                Action::Call(p) => Some(format!("call {}", program.procedures[p].name)),
                other => panic!("EML has no {other:?}"),
            };
            let mut longer = word.clone();
            longer.extend(event.map(|event| (event, edge.place.line().unwrap_or(0))));
            if longer.len() <= LONGEST && seen.insert((edge.target, longer.clone())) {
                work.push((edge.target, longer));
            }
        }
    }
    seen.into_iter().filter(|(node, _)| *node == exit).map(|(_, word)| word).collect()
}

/// Writes random statements, one token group per line, and keeps their tree.
struct Generator {
    state: u64,
    text: String,
    line: u32,
}

impl Generator {
    fn below(&mut self, bound: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }

    /// Writes a line and returns its number.
    fn put(&mut self, line: &str) -> u32 {
        writeln!(self.text, "{line}").expect("strings take text");
        self.line += 1;
        self.line
    }

    fn block(&mut self, depth: u64) -> Vec<Tree> {
        (0..self.below(5)).map(|_| self.statement(depth)).collect()
    }

    fn scope(&mut self, head: &str, enter: &str, leave: &str, depth: u64) -> Tree {
        let first = self.put(head);
        let body = self.block(depth);
        let last = self.put("}");
        Tree::Scope(enter.to_owned(), leave.to_owned(), first, last, body)
    }

    fn statement(&mut self, depth: u64) -> Tree {
        let kinds = if depth == 0 { 6 } else { 12 };
        match self.below(kinds) {
            0 => Tree::Event("read x".to_owned(), self.put("read x;")),
            1 => Tree::Event("write y".to_owned(), self.put("write y;")),
            2 => Tree::Event("call f".to_owned(), self.put("f();")),
            3 => Tree::Return(self.put("return;")),
            4 | 5 => {
                self.put("skip;");
                Tree::Skip
            }
            6 => self.scope("unit {", "begin", "end", depth - 1),
            7 => self.scope("synchronized(l) {", "acquire l", "release l", depth - 1),
            8 => self.scope("synchronized(m) {", "acquire m", "release m", depth - 1),
            9 => {
                self.put("while (*)");
                Tree::While(Box::new(self.statement(depth - 1)))
            }
            10 => {
                self.put("{");
                let body = self.block(depth - 1);
                self.put("}");
                Tree::Braces(body)
            }
            _ => {
                self.put("if (*)");
                // Braces keep the `else` with this `if`.
                self.put("{");
                let then = Box::new(self.statement(depth - 1));
                self.put("}");
                let mut otherwise = None;
                if self.below(2) == 0 {
                    self.put("else");
                    otherwise = Some(Box::new(self.statement(depth - 1)));
                }
                Tree::If(then, otherwise)
            }
        }
    }
}

#[test]
fn graphs_have_the_words_of_their_trees() {
    let mut words = 0;
    for seed in 0..3000 {
        let mut generator = Generator { state: seed, text: String::new(), line: 0 };
        generator.put("lock : l, m; var : x, y; process P { f { skip; }");
        let prefixes = generator.below(3);
        for lock in ["l", "m"].iter().take(prefixes as usize) {
            generator.put(&format!("synchronized({lock})"));
        }
        generator.put("main {");
        let body = generator.block(4);
        let last = generator.put("}");
        generator.put("}");
        let mut expected = sequence(&body);
        for (at, lock) in ["l", "m"].iter().enumerate().take(prefixes as usize).rev() {
            let (enter, leave) = (format!("acquire {lock}"), format!("release {lock}"));
            expected = scope(&enter, &leave, at as u32 + 2, last, &expected);
        }
        let expected: BTreeSet<Word> = expected.into_iter().map(|(word, _)| word).collect();
        let program = program(&generator.text);
        let main = program.procedures.iter().nth(1).expect("main");
        let found = language_of_graph(&program, main.entry, main.exit);
        assert_eq!(found, expected, "seed {seed}\n{}", generator.text);
        words += found.len();
        every_node_is_on_a_way(&program, seed);
    }
    assert!(words > 20_000, "{words} words were compared");
}

fn every_node_is_on_a_way(program: &Program, seed: u64) {
    let mut forwards: BTreeSet<NodeId> = program.procedures.iter().map(|one| one.entry).collect();
    let mut backwards: BTreeSet<NodeId> = program.procedures.iter().map(|one| one.exit).collect();
    for _ in 0..program.nodes.len() {
        for edge in &program.edges {
            if forwards.contains(&edge.source) {
                forwards.insert(edge.target);
            }
            if backwards.contains(&edge.target) {
                backwards.insert(edge.source);
            }
        }
    }
    assert_eq!(forwards.len(), program.nodes.len(), "seed {seed}");
    assert_eq!(backwards.len(), program.nodes.len(), "seed {seed}");
}

#[test]
fn copies_starts_joins_labels_and_volatile_locations() {
    let source = "\
volatile var : x;
var : y;
process P[2] waits {
  f { read x; write y; }
  main { f(); }
}
process Q[*] waits { main { label here: while (*) { start Q; } } }
process R { main { start P[1]; start Q; join P[0]; label there: return; } }
";
    let expected = "\
program
set shared { x @1:16, y @2:7 }
thread \"P[0]\" @3:9 waits main \"P.main\"
thread \"P[1]\" @3:9 waits main \"P.main\"
procedure \"P.f\" @4:3 end @4:24 nodes 3 entry 0 exit 1 {
  0 -> 2 read volatile x @4:7
  2 -> 1 write y @4:15
}
procedure \"P.main\" @5:3 end @5:15 nodes 2 entry 0 exit 1 {
  0 -> 1 call \"P.f\" @5:10
}
thread Q @7:9 copies * waits main main {
  procedure main @7:22 end @7:64 nodes 3 entry 0 exit 1 {
    0 -> 2 skip @7:41
    2 -> 0 start Q @7:53
    0 -> 1 skip @7:41
  }
}
thread R @8:9 main main {
  procedure main @8:13 end @8:73 nodes 5 entry 0 exit 1 {
    0 -> 2 start \"P[1]\" @8:20
    2 -> 3 start Q @8:32
    3 -> 4 join \"P[0]\" @8:41
    4 -> 1 skip @8:65
  }
}
label here at Q main 0 @7:29
label there at R main 4 @8:52
";
    let lowered = program(source);
    assert_eq!(text::print(&lowered), expected);
    assert_eq!(text::parse(expected).0, Some(lowered));
}

/// One process is enough for a question about atomicity if there are several of it.
#[test]
fn copies_count_as_threads() {
    for (text, warned) in [("P", true), ("P[1]", true), ("P[2]", false), ("P[*]", false)] {
        let parsed = parse(&format!("process {text} {{ main {{ skip; }} }}"));
        assert!(parsed.program.is_some(), "{text}");
        assert_eq!(!parsed.diagnostics.is_empty(), warned, "{text}");
    }
}
