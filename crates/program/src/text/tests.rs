use super::{parse, print};
use crate::data::Frame;
use crate::model::{
    Action, AtomicSet, AtomicSetId, Edge, Location, LocationId, Lock, LockId, NodeId, Procedure,
    ProcedureId, Program, Start, Thread, ThreadId,
};
use crate::validate::validate;
use selvedge_base::{Diagnostic, Id, Place};

const EXAMPLE: &str = "\
program
lock stack @3:8
set shared { count @4:7, data @4:14 }
thread T1 @6:9 main main {
  procedure pop @7:5 end @12:6 nodes 3 entry 0 exit 2 {
    0 -> 1 acquire stack @7:5
    1 -> 2 release stack @9:5
  }
  procedure main nodes 7 entry 0 exit 6 {
    0 -> 1 begin @8:9
    1 -> 1 skip
    1 -> 2 read count @8:9
    2 -> 3 write data @9:9
    3 -> 4 call pop @9:9
    4 -> 5 end
  }
}
thread T2 main run {
  procedure run nodes 1 entry 0 exit 0 {
  }
}
";

#[test]
fn the_documented_form_reads_and_prints_back() {
    let (program, diagnostics) = parse(EXAMPLE);
    assert_eq!(diagnostics, []);
    let program = program.expect("no errors");
    assert_eq!(print(&program), EXAMPLE);
    assert_eq!((program.nodes.len(), program.edges.len()), (11, 8));
    let loose = EXAMPLE.replace('\n', " // remark\n ").replace(", ", " , ");
    assert_eq!(parse(&loose), (Some(program), vec![]));
}

/// A small generator of pseudo-random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn place(&mut self) -> Place {
        match self.below(4) {
            0 => Place::NONE,
            1 => Place::new(u32::MAX, 1),
            _ => Place::new(self.below(100) as u32 + 1, self.below(80) as u32 + 1),
        }
    }

    /// A name that no other index has.
    fn name(&mut self, index: usize) -> String {
        let odd =
            ["", " ", "\"", "\\", "\n", "\t", "\0", "é", "\u{202E}", "main", "}", "//", "7", "-"];
        match self.below(4) {
            0 => format!("{}{index}", odd[self.below(odd.len())]),
            1 => ["lock", "end", "main", "nodes", "call", "_"][self.below(6)].repeat(index + 1),
            _ => format!("n{index}"),
        }
    }
}

fn random_program(random: &mut Random) -> Program {
    let mut program = Program::default();
    for at in 0..random.below(4) {
        program.locks.push(Lock { name: random.name(at), place: random.place() });
    }
    for at in 0..random.below(4) {
        program.atomic_sets.push(AtomicSet { name: random.name(at) });
    }
    if !program.atomic_sets.is_empty() {
        for at in 0..random.below(7) {
            let atomic_set = AtomicSetId::from_index(random.below(program.atomic_sets.len()));
            let (name, place) = (random.name(at), random.place());
            program.locations.push(Location { name, place, atomic_set });
        }
    }
    for at in 0..random.below(4) {
        let first = program.procedures.len();
        let count = random.below(4) + 1;
        let main = ProcedureId::from_index(first + random.below(count));
        let thread = program.threads.push(Thread {
            name: random.name(at),
            place: random.place(),
            main,
            start: Start::AtFirst,
        });
        for own in 0..count {
            random_procedure(random, &mut program, thread, own, first, count);
        }
    }
    program
}

fn random_procedure(
    random: &mut Random,
    program: &mut Program,
    thread: ThreadId,
    own: usize,
    first: usize,
    count: usize,
) {
    let first_node = program.nodes.len();
    let nodes = random.below(6) + 1;
    let node = |random: &mut Random| NodeId::from_index(first_node + random.below(nodes));
    let (entry, exit) = (node(random), node(random));
    let (name, place, end) = (random.name(own), random.place(), random.place());
    let id = program.procedures.push(Procedure {
        name,
        thread,
        place,
        end,
        entry,
        exit,
        frame: Frame::default(),
    });
    for _ in 0..nodes {
        program.nodes.push(id);
    }
    for _ in 0..random.below(8) {
        let (source, target) = (node(random), node(random));
        let action = match random.below(8) {
            1 => Action::BeginUnit,
            2 => Action::EndUnit,
            3 => Action::Call(ProcedureId::from_index(first + random.below(count))),
            kind @ 4..6 if !program.locations.is_empty() => {
                let x = LocationId::from_index(random.below(program.locations.len()));
                if kind == 4 { Action::Read(x) } else { Action::Write(x) }
            }
            kind @ 6.. if !program.locks.is_empty() => {
                let l = LockId::from_index(random.below(program.locks.len()));
                if kind == 6 { Action::Acquire(l) } else { Action::Release(l) }
            }
            _ => Action::Skip,
        };
        if source != exit {
            program.edges.push(Edge {
                source,
                target,
                action,
                update: None,
                passing: None,
                place: random.place(),
            });
        }
    }
}

#[test]
fn every_valid_program_reads_back_as_itself() {
    let mut edges = 0;
    for seed in 0..3000 {
        let program = random_program(&mut Random(seed));
        assert_eq!(validate(&program), [], "seed {seed}");
        edges += program.edges.len();
        let text = print(&program);
        assert_eq!(parse(&text), (Some(program), vec![]), "seed {seed}\n{text}");
    }
    assert!(edges > 10_000, "the generator makes programs that are worth it: {edges} edges");
}

fn check(text: &str) -> Vec<Diagnostic> {
    let (program, diagnostics) = parse(text);
    assert_eq!(program.is_some(), !diagnostics.iter().any(Diagnostic::is_error));
    for diagnostic in &diagnostics {
        for label in diagnostic.primary.iter().chain(&diagnostic.secondary) {
            assert!(text.get(label.span.range()).is_some(), "{diagnostic:?}");
        }
    }
    if let Some(program) = program {
        assert_eq!(validate(&program), []);
        assert_eq!(parse(&print(&program)).0, Some(program));
    }
    diagnostics
}

#[test]
fn mutants_do_no_harm() {
    let pieces =
        ["{", "}", "@", "@1:2", ",", "->", "7", "\"a", "lock", "thread T2 main m {", "é", "\0"];
    let mut accepted = 0;
    for seed in 0..4000 {
        let random = &mut Random(seed);
        let mut lines: Vec<String> = EXAMPLE.lines().map(str::to_owned).collect();
        for _ in 0..=random.below(3) {
            let at = random.below(lines.len());
            match random.below(5) {
                0 if lines.len() > 1 => drop(lines.remove(at)),
                1 => lines.swap(at, random.below(EXAMPLE.lines().count()).min(at)),
                2 => lines[at].truncate(random.below(8)),
                3 => lines[at].push_str(pieces[random.below(pieces.len())]),
                _ => {
                    let mut words: Vec<&str> = lines[at].split(' ').collect();
                    let word = random.below(words.len());
                    words[word] = pieces[random.below(pieces.len())];
                    lines[at] = words.join(" ");
                }
            }
        }
        let errors = check(&lines.join("\n"));
        accepted += usize::from(errors.is_empty());
    }
    assert!((50..3000).contains(&accepted), "{accepted} mutants are programs");
}

#[test]
fn large_numbers_are_refused() {
    for text in [
        "program thread T main m { procedure m nodes 4294967295 entry 0 exit 1 { } }",
        "program thread T main m { procedure m nodes 99999999999 entry 0 exit 1 { } }",
    ] {
        assert!(!check(text).is_empty());
    }
}

#[test]
fn garbage_is_capped() {
    let garbage: String =
        (0..200_000).map(|at| ["@", "\u{1}", " x", "{\n", "§"][at * 7 % 5]).collect();
    let found = check(&garbage);
    assert!(found.len() <= 51, "{}", found.len());
    assert!(check("").iter().any(|one| one.code == "unexpected-text"));
}
