//! What pushdown systems become: programs whose edges are exactly the rules.

use selvedge_base::{Diagnostic, Id, Place};
use selvedge_front_pds::{Complaint, parse};
use selvedge_program::{
    Action, EdgeId, Expr, NodeId, Position, Program, Target, ThreadId, Update, Value, Variable,
    text, validate,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// A rule of a thread: shared state, top, shared state, word (the top first), line.
type Rule = (usize, u32, Option<u32>, u32, Vec<u32>, u32);

/// The rules of a text, read in the plainest way.
fn rules(pds: &str) -> Vec<Rule> {
    let mut rules = Vec::new();
    let mut threads = 0;
    for (at, line) in pds.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["PDA", ..] => threads += 1,
            [from, top, "->", to, ref word @ ..] => {
                let number = |text: &str| text.parse::<u32>().expect("a number");
                let word = word.iter().filter(|&&one| one != "-").map(|one| number(one)).collect();
                let line = at as u32 + 1;
                let top = (top != "-").then(|| number(top));
                rules.push((threads - 1, number(from), top, number(to), word, line));
            }
            _ => {}
        }
    }
    rules
}

/// Those of the rules whose symbols can ever be on the stack.
fn usable(rules: &[Rule], init: &str) -> BTreeSet<Rule> {
    let stacks = init.trim().split_once('|').expect("an initial state").1;
    let mut symbols: BTreeSet<(usize, u32)> = BTreeSet::new();
    for (thread, stack) in stacks.split(',').enumerate() {
        let stack = stack.split('.').filter(|&symbol| symbol != "-");
        symbols.extend(stack.map(|symbol| (thread, symbol.parse().expect("a number"))));
    }
    loop {
        let before = symbols.len();
        for (thread, _, top, _, word, _) in rules {
            if top.is_none_or(|top| symbols.contains(&(*thread, top))) {
                symbols.extend(word.iter().map(|&symbol| (*thread, symbol)));
            }
        }
        if symbols.len() == before {
            break;
        }
    }
    rules
        .iter()
        .filter(|(thread, _, top, ..)| top.is_none_or(|top| symbols.contains(&(*thread, top))))
        .cloned()
        .collect()
}

/// The numbers below a power of two that satisfy a guard.
fn satisfying(program: &Program, guard: &Expr) -> Vec<u32> {
    fn holds(guard: &Expr, value: u32) -> bool {
        match guard {
            Expr::Current(Variable::Global(bit)) => value >> bit.index() & 1 == 1,
            Expr::Not(inner) => !holds(inner, value),
            Expr::Binary(_, left, right) => holds(left, value) && holds(right, value),
            other => panic!("{other:?} in a guard"),
        }
    }
    (0..1 << program.globals.len()).filter(|&value| holds(guard, value)).collect()
}

/// The rules that a program has.
fn read_back(program: &Program) -> BTreeSet<Rule> {
    let labels: BTreeMap<NodeId, Option<u32>> = program
        .labels
        .iter()
        .map(|label| {
            let symbol = || label.name.parse().expect("a symbol");
            (label.node, (label.name != "-").then(symbol))
        })
        .collect();
    assert_eq!(labels.len(), program.labels.len(), "one label per node");
    let mut rules = BTreeSet::new();
    for edge in &program.edges {
        // The edges that build up an initial stack have no update.
        let Some(update) = edge.update.map(|id| &program.updates[id]) else { continue };
        let Update { guard: Some(guard), assignments, constraint: None } = update else {
            panic!("{update:?}")
        };
        let froms = satisfying(program, guard);
        let [from] = froms[..] else { panic!("{guard:?} allows {froms:?}") };
        let mut to = from;
        for (variable, value) in assignments {
            let (Variable::Global(bit), Expr::Constant(value)) = (variable, value) else {
                panic!("{variable:?} := {value:?}")
            };
            to = to & !(1 << bit.index()) | u32::from(value.value() != 0) << bit.index();
        }
        let word = match edge.action {
            Action::Skip => Vec::from_iter(labels[&edge.target]),
            Action::Call(callee) => {
                let word = [labels[&program.procedures[callee].entry], labels[&edge.target]];
                word.into_iter().flatten().collect()
            }
            Action::Return(values) => {
                assert!(program.returns[values].is_empty());
                Vec::new()
            }
            other => panic!("{other:?}"),
        };
        let thread =
            program.procedures[program.nodes[edge.source]].owner.expect("not shared").index();
        rules.insert((
            thread,
            from,
            labels[&edge.source],
            to,
            word,
            edge.place.line().unwrap_or(0),
        ));
    }
    rules
}

fn check(name: &str, pds: &str, init: &str, spec: Option<&str>) -> Program {
    let parsed = parse(pds, Some(init), spec);
    let parsed = parsed.unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    let program = parsed.program;
    assert_eq!(validate::validate(&program), [], "{name}");
    assert!(read_back(&program) == usable(&rules(pds), init), "{name}");
    assert_eq!(parsed.target.is_some(), spec.is_some());
    let names: Vec<String> = (1..=program.threads.len()).map(|at| format!("T{at}")).collect();
    assert!(program.threads.iter().map(|thread| &thread.name).eq(&names));
    let (again, complaints) = text::parse(&text::print(&program));
    assert_eq!(complaints, [], "{name}");
    assert!(again.as_ref() == Some(&program), "{name}");
    program
}

const SMALL: &str = "\
3 # shared states
PDA 1 4
0 1 -> 1 2 3   # a call
1 2 -> 2 -     # a return
2 3 -> 0 1
0 3 -> 0 3 3
  1 4 -> 0 4
PDA 1 2
2 1 -> 0 2
0 1 -> 2 1
";

/// The same with threads that can begin again.
fn refilled() -> String {
    let (first, second) = SMALL.split_once("PDA 1 2").expect("two threads");
    format!("{first}0 - -> 1 2\nPDA 1 2{second}2 - -> 0 1\n1 - -> 2 -\n")
}

#[test]
fn edges_are_the_rules() {
    let program = check("small", SMALL, "0|1,1", Some("2|3,-"));
    assert_eq!(program.numerals[0].name, "q");
    assert_eq!(program.globals.len(), 2);
    assert!(program.globals.iter().all(|global| global.initial == Some(0)));
    // 4 is never on a stack; the rule is indented.
    let other = check("other", SMALL, "2|4,2", None);
    let places: Vec<Place> = other.edges.iter().map(|edge| edge.place).collect();
    assert_eq!(places, [Place::new(7, 3)]);
    let initial: Vec<Option<Value>> = other.globals.iter().map(|global| global.initial).collect();
    assert_eq!(initial, [Some(0), Some(1)]);
}

#[test]
fn initial_stacks_are_built_up() {
    let program = check("deep", SMALL, "0|3.4.1,-", Some("0|1,-"));
    let main = &program.procedures[program.threads[ThreadId::from_index(0)].main];
    let label = |node| program.labels.iter().find(|label| label.node == node);
    assert_eq!(label(main.entry).expect("a label").name, "1", "the top is visible");
    // Two calls on the way to the third procedure, which is the one of the top.
    let mut at = main;
    for expected in ["initial0", "initial1"] {
        assert_eq!(at.name, expected);
        let edges: Vec<EdgeId> =
            program.edges.ids().filter(|&id| program.edges[id].source == at.entry).collect();
        let [edge] = edges[..] else { panic!("{edges:?}") };
        let Action::Call(next) = program.edges[edge].action else { panic!("no call") };
        let below = label(program.edges[edge].target).expect("a label");
        assert_eq!(below.name, if expected == "initial0" { "3" } else { "4" });
        at = &program.procedures[next];
    }
    assert_eq!(at.name, "1");
    let target = parse(SMALL, Some("0|3.4.1,-"), Some("0|1,-")).expect("good").target;
    let Some(Target::State(pattern)) = target else { panic!("a state") };
    let second = &program.procedures[program.threads[ThreadId::from_index(1)].main];
    let empty = Position::At(vec![second.entry]);
    assert_eq!(pattern.threads[ThreadId::from_index(1)], empty, "it is empty for ever");
    let Position::At(nodes) = &pattern.threads[ThreadId::from_index(0)] else { panic!("nodes") };
    assert!(nodes.contains(&main.entry));
}

#[test]
fn rules_on_the_empty_stack_come_back_to_it() {
    let pds = "2\nPDA 0 1\n0 - -> 1 0\n1 - -> 0 -\n1 0 -> 0 1 1\n0 1 -> 1 -\n";
    let program = check("from empty", pds, "0|-", Some("1|-"));
    let main = &program.procedures[program.threads[ThreadId::from_index(0)].main];
    let label = |node| program.labels.iter().find(|label| label.node == node);
    assert_eq!(label(main.entry).expect("a label").name, "-");
    // A deeper stack is built on top of the empty one.
    let deep = check("from deep", pds, "0|1.0", Some("1|-"));
    let main = &deep.procedures[deep.threads[ThreadId::from_index(0)].main];
    let label = |node| deep.labels.iter().find(|label| label.node == node);
    assert_eq!(label(main.entry).expect("a label").name, "0", "the top is visible");
    for wrong in ["0 - -> 1 0 0", "0 - -> 1", "0 -> 1 0", "- 0 -> 1 0"] {
        assert!(parse(&format!("2\nPDA 0 1\n{wrong}\n"), Some("0|0"), None).is_err(), "{wrong}");
    }
}

#[test]
fn targets_name_states_and_tops() {
    let target = parse(SMALL, Some("0|1,1"), Some("2|-,2")).expect("good").target;
    let Some(Target::State(pattern)) = target else { panic!("a state") };
    let values: Vec<Value> = pattern.globals.iter().map(|&(_, value)| value).collect();
    assert_eq!(values, [0, 1]);
    assert_eq!(pattern.threads[ThreadId::from_index(0)], Position::Ended);
    let Position::At(nodes) = &pattern.threads[ThreadId::from_index(1)] else { panic!("nodes") };
    assert_eq!(nodes.len(), 1);
}

#[test]
fn published_systems_become_programs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/benchmarks/cuba");
    let mut files: Vec<PathBuf> = Vec::new();
    let mut folders = vec![folder.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "pds") {
                files.push(path);
            }
        }
    }
    if files.is_empty() {
        skipped(&folder);
        return;
    }
    files.sort();
    assert!(files.len() >= 15);
    for path in files {
        let read = |extension: &str| fs::read_to_string(path.with_extension(extension)).ok();
        let (pds, init) = (read("pds").expect("rules"), read("init").expect("an initial state"));
        check(&path.display().to_string(), &pds, &init, read("spec").as_deref());
    }
}

#[expect(clippy::print_stdout, reason = "what is skipped is said")]
fn skipped(folder: &Path) {
    println!("skipped: no folder {}", folder.display());
}

#[test]
fn large_texts_are_refused_in_time() {
    let refused = |pds: &str, init: &str| {
        let complaints = parse(pds, Some(init), Some(init)).expect_err("it is too large");
        assert!(complaints.len() <= 204);
    };
    // Every symbol is an entry, and every entry leads to every symbol.
    let mut pds = "1\nPDA 0 3000\n".to_owned();
    for at in 0..3000 {
        let next = at + 1;
        writeln!(pds, "0 {at} -> 0 {next} {next}\n0 {at} -> 0 -").expect("strings take text");
    }
    refused(&pds, "0|0");
    refused(&"PDA 0 0\n".repeat(300_000), "0|0");
    refused(&format!("1\nPDA 0 1\n{}", "0 0 -> 0 1 ".repeat(300_000)), "0|0");
    refused("1\nPDA 0 1\n", &format!("0|0{}", ".0".repeat(100_000)));
    refused("1\nPDA 0 1\n", &format!("0|0{}", ",0".repeat(300_000)));
    refused(&"é\0-> ".repeat(200_000), &"|.,-".repeat(100_000));
    // Many threads are no mistake.
    let (pds, init) = ("1\n".to_owned() + &"PDA 0 0\n".repeat(20_000), "0".repeat(20_000));
    let init: Vec<&str> = init.split("").filter(|part| !part.is_empty()).collect();
    let init = format!("0|{}", init.join(","));
    assert!(parse(&pds, Some(&init), Some(&init)).is_ok());
}

/// A small generator of pseudo-random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }
}

fn mutant(random: &mut Random, original: &str) -> String {
    let words = ["0 ", "1 ", "7 ", "-> ", "- ", "\n", "PDA ", "| ", ", ", ". ", "# ", "é\0", "2"];
    let mut mutant: Vec<&str> = original.split_inclusive([' ', '\n', '|', ',']).collect();
    for _ in 0..random.below(2) {
        let at = random.below(mutant.len());
        match random.below(4) {
            0 if mutant.len() > 1 => drop(mutant.remove(at)),
            1 => mutant.insert(at, words[random.below(words.len())]),
            2 => {
                let other = random.below(mutant.len());
                mutant.swap(at, other);
            }
            _ => mutant[at] = words[random.below(words.len())],
        }
    }
    mutant.concat()
}

#[test]
fn mutants_do_no_harm() {
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..3000 {
        let random = &mut Random(seed);
        let original = if seed % 2 == 0 { SMALL.to_owned() } else { refilled() };
        let (pds, init) = (mutant(random, &original), mutant(random, "0|1.3,1"));
        let spec = mutant(random, "2|3,-");
        let complaints = match parse(&pds, Some(&init), Some(&spec)) {
            Ok(parsed) => {
                assert_eq!(validate::validate(&parsed.program), []);
                assert_eq!(read_back(&parsed.program), usable(&rules(&pds), &init_of(&init)));
                accepted += 1;
                parsed.warnings
            }
            Err(complaints) => {
                refused += 1;
                assert!(complaints.iter().any(|one| one.diagnostic.is_error()));
                complaints
            }
        };
        for Complaint { input, diagnostic } in &complaints {
            let text = match input {
                selvedge_front_pds::Input::Pds => &pds,
                selvedge_front_pds::Input::Init => &init,
                selvedge_front_pds::Input::Spec => &spec,
            };
            check_spans(text, diagnostic);
        }
    }
    assert!(accepted > 300 && refused > 300, "{accepted} accepted, {refused} refused");
}

/// An initial state without comments and spaces.
fn init_of(init: &str) -> String {
    let lines = init.lines().map(|line| line.split('#').next().unwrap_or_default());
    lines.collect::<String>().split_whitespace().collect()
}

fn check_spans(text: &str, diagnostic: &Diagnostic) {
    for label in diagnostic.primary.iter().chain(&diagnostic.secondary) {
        assert!(text.get(label.span.range()).is_some(), "{diagnostic:?}");
    }
}
