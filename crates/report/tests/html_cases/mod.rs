//! Findings made by hand for the HTML report: an atomicity violation, races, deadlocks, a witness of
//! 300 steps and one of 10,000, and a file full of hostile names.

#![allow(dead_code, reason = "each user takes a part of it")]

use crate::common::trace;
use selvedge_analysis::{EngineKind, Options, Prepared, answer};
use selvedge_base::{Budget, Id, IdVec, Place};
use selvedge_findings::{CheckedFile, Finding, FindingKind, Fix, Tally, findings};
use selvedge_library::load::{Reading, Text, Texts, load};
use selvedge_library::temporal::Temporal;
use selvedge_program::{
    AtomicSet, Copies, Frame, Location, LocationId, Lock, LockId, Obstacle, Procedure, Program,
    Question, Start, StepKind, Target, Thread, ThreadId, Trace, TraceStep,
};
use selvedge_report::html::Meta;
use std::fmt::Write as _;

/// What the pages say of themselves.
pub fn meta() -> Meta<'static> {
    Meta { options: "--patterns all", ..Meta::new("Selvedge", "0.1.0") }
}

/// A program with these names, whose control flow is of no interest here. Each thread has all the
/// procedures; the first is its main.
pub fn program(
    locks: &[&str],
    locations: &[&str],
    threads: &[&str],
    procedures: &[&str],
) -> Program {
    let mut program = Program::default();
    let place = Place::new(1, 1);
    for &name in locks {
        program.locks.push(Lock::reentrant(name.to_owned(), place));
    }
    let set = program.atomic_sets.push(AtomicSet { name: "S".to_owned() });
    for &name in locations {
        program.locations.push(Location { name: name.to_owned(), place, atomic_set: set });
    }
    for (index, &name) in threads.iter().enumerate() {
        let main = program.procedures.next_id();
        for &procedure in procedures {
            let id = program.procedures.next_id();
            let (entry, exit) = (program.nodes.push(id), program.nodes.push(id));
            let thread = ThreadId::from_index(index);
            let name = procedure.to_owned();
            program.procedures.push(Procedure {
                name,
                owner: Some(thread),
                place,
                end: place,
                entry,
                exit,
                frame: Frame::default(),
            });
        }
        program.threads.push(Thread {
            name: name.to_owned(),
            place,
            main,
            start: Start::AtFirst,
            copies: Copies::One,
        });
    }
    program
}

/// A finding of a program; the places are those of its marked or next steps.
pub fn finding(
    kind: FindingKind,
    program: &Program,
    steps: &str,
    next: &str,
    reason: &str,
) -> Finding {
    let steps = trace(program, steps).steps;
    let mut next = trace(program, next).steps;
    for step in &mut next {
        let StepKind::Acquire(lock) = step.kind else { continue };
        let takes = steps.iter().rfind(|one| one.kind == StepKind::Acquire(lock));
        step.waits_for = takes.map(|one| Obstacle::Lock(lock, one.thread));
    }
    let marked = steps.iter().filter(|step| step.matched.is_some()).chain(&next);
    let places: Vec<Place> = marked.clone().map(|step| step.place).collect();
    let mut threads: Vec<ThreadId> = Vec::new();
    for step in marked {
        if !threads.contains(&step.thread) {
            threads.push(step.thread);
        }
    }
    Finding {
        kind,
        tags: Vec::new(),
        threads,
        locations: Vec::new(),
        locks: Vec::new(),
        fingerprint: format!("{}-{:04x}", kind.rule(), reason.len() * 2654 % 65_521),
        cause: None,
        confirmation: None,
        places,
        reason: reason.to_owned(),
        fix: None,
        question: Question::States,
        trace: Trace { steps, next, ..Trace::default() },
    }
}

fn checked(file: &str, source: &str, program: Program, findings: Vec<Finding>) -> CheckedFile {
    let mut findings = findings;
    for finding in &mut findings {
        let Trace { steps, next, .. } = &mut finding.trace;
        for step in steps.iter_mut().chain(next) {
            step.place = column(step, source, &program);
        }
    }
    CheckedFile {
        file: file.to_owned(),
        source: source.to_owned(),
        program,
        findings,
        suppressed: Vec::new(),
        known: Vec::new(),
        tallies: Vec::new(),
        open: Vec::new(),
        not_reproducible: false,
        left_out: Vec::new(),
        not_asked: Vec::new(),
        nothing_shared: false,
        claims: Vec::new(),
        sources: std::collections::BTreeMap::new(),
    }
}

/// The place of a step in the text: of what it does, if the line says it, or of the first word.
fn column(step: &TraceStep, source: &str, program: &Program) -> Place {
    let Some(number) = step.place.line() else { return step.place };
    let Some(line) = source.lines().nth(number as usize - 1) else { return step.place };
    let said = match step.kind {
        StepKind::Read(location) => format!("read {}", program.locations[location].name),
        StepKind::Write(location) => format!("write {}", program.locations[location].name),
        StepKind::Acquire(lock) => format!("synchronized({})", program.locks[lock].name),
        StepKind::Call(procedure) => format!("{}()", program.procedures[procedure].name),
        StepKind::BeginUnit => "unit".to_owned(),
        _ => "}".to_owned(),
    };
    let first = line.len() - line.trim_start().len();
    Place::new(number, line.find(&said).unwrap_or(first) as u32 + 1)
}

fn tally(safe: usize, violated: usize, unknown: usize) -> Tally {
    Tally { questions: safe + violated + unknown, violated, safe, vacuous: 0, unknown }
}

fn locations(indices: &[usize]) -> Vec<LocationId> {
    indices.iter().map(|&index| LocationId::from_index(index)).collect()
}

fn locks(indices: &[usize]) -> Vec<LockId> {
    indices.iter().map(|&index| LockId::from_index(index)).collect()
}

fn tags(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// The stack whose wrapper locks itself and not the stack, with its atomicity violations.
pub fn stack() -> CheckedFile {
    let program = program(
        &["stack", "wrap1", "wrap2"],
        &["count", "data"],
        &["T1", "T2"],
        &["main", "popwrap", "pop", "size"],
    );
    let half = Finding {
        tags: tags(&["pattern-2", "pattern-12", "pattern-16"]),
        locations: locations(&[0, 1]),
        fix: Some(Fix {
            text: "Hold `stack` in the whole of `popwrap`, in both threads.".to_owned(),
            places: vec![Place::new(16, 5), Place::new(31, 5)],
            hold: None,
            edits: Vec::new(),
        }),
        ..finding(
            FindingKind::Atomicity,
            &program,
            STACK_HALF,
            "",
            "T2 writes `data` and `count` between T1's read of `count` and its read of `data`, so T1 pops \
             from a stack that is not the one whose size it asked for.",
        )
    };
    let lost = Finding {
        tags: tags(&["pattern-1"]),
        locations: locations(&[0]),
        ..finding(
            FindingKind::Atomicity,
            &program,
            STACK_LOST,
            "",
            "T1 writes `count` between T2's read of `count` and its write of `count`, so one of the two \
             updates is lost.",
        )
    };
    let mut file = checked("examples/stack.eml", STACK, program, vec![half, lost]);
    file.tallies = vec![
        (FindingKind::Deadlock, tally(3, 0, 0)),
        (FindingKind::Atomicity, tally(108, 7, 0)),
        (FindingKind::Race, tally(2, 0, 0)),
    ];
    file
}

/// Transfers that lock two accounts in opposite orders, a ring of three, and a race.
pub fn bank() -> CheckedFile {
    let program = program(
        &["accountA", "accountB", "audit"],
        &["balanceA", "balanceB", "total"],
        &["FromA", "FromB", "Auditor"],
        &["main", "transfer", "sum"],
    );
    let two = Finding {
        tags: tags(&["deadlock"]),
        locks: locks(&[0, 1]),
        fix: Some(Fix {
            text: "Acquire `accountA` before `accountB` everywhere.".to_owned(),
            places: vec![Place::new(16, 5)],
            hold: None,
            edits: Vec::new(),
        }),
        ..finding(
            FindingKind::Deadlock,
            &program,
            BANK_TWO,
            "FromA acquire accountB 5\n FromB acquire accountA 16",
            "FromA holds `accountA` and waits for `accountB`, while FromB holds `accountB` and waits for \
             `accountA`.",
        )
    };
    let three = Finding {
        tags: tags(&["deadlock"]),
        locks: locks(&[0, 1, 2]),
        ..finding(
            FindingKind::Deadlock,
            &program,
            BANK_THREE,
            "FromA acquire accountB 5\n FromB acquire audit 17\n Auditor acquire accountA 28",
            "FromA, FromB and Auditor wait for each other in a ring of `accountB`, `audit` and `accountA`.",
        )
    };
    let race = Finding {
        tags: tags(&["race"]),
        locations: locations(&[2]),
        ..finding(
            FindingKind::Race,
            &program,
            BANK_RACE,
            "FromB write total 20\n Auditor read total 30",
            "FromB writes `total` while Auditor reads it, and no lock is held by both.",
        )
    };
    let mut suppressed = race.clone();
    suppressed.fingerprint.push_str("-suppressed");
    let mut file = checked("examples/bank.eml", BANK, program, vec![two, three, race]);
    file.known = vec![file.findings[0].clone()];
    file.suppressed = vec![(suppressed, "The total is only shown on a dashboard.".to_owned())];
    file.tallies = vec![
        (FindingKind::Deadlock, tally(4, 2, 0)),
        (FindingKind::Atomicity, tally(606, 0, 9)),
        (FindingKind::Race, tally(8, 1, 0)),
    ];
    file.open =
        vec!["The limit of 60 seconds was met in pattern 27 of FromA and Auditor.".to_owned()];
    file
}

/// A recursion with a witness of exactly `steps` steps.
pub fn long(steps: usize) -> CheckedFile {
    let program = program(
        &["tree", "log"],
        &["nodes", "depth"],
        &["Walker", "Pruner"],
        &["main", "walk", "note"],
    );
    // Both threads walk down by turns; the pattern spans the whole witness.
    let mut lines = vec![
        "Walker acquire log 20".to_owned(),
        "Walker begin 21".to_owned(),
        "Walker read depth 22 *1".to_owned(),
        "Walker release log 23".to_owned(),
    ];
    let block = ["call walk 9", "acquire tree 5", "read nodes 6", "7", "release tree 8"];
    let mut turn = 0;
    while lines.len() + block.len() + 3 <= steps {
        let thread = if turn % 3 == 2 { "Pruner" } else { "Walker" };
        lines.extend(block.iter().map(|step| format!("{thread} {step}")));
        turn += 1;
    }
    while lines.len() + 3 < steps {
        lines.push("Walker 7".to_owned());
    }
    lines.push("Pruner write nodes 10 *2".to_owned());
    lines.push("Pruner write depth 11 *3".to_owned());
    lines.push("Walker read nodes 6 *4".to_owned());
    let found = Finding {
        tags: tags(&["pattern-12"]),
        locations: locations(&[0, 1]),
        ..finding(
            FindingKind::Atomicity,
            &program,
            &lines.join("\n"),
            "",
            "Pruner writes `nodes` and `depth` between Walker's read of `depth` and its read of `nodes`.",
        )
    };
    let mut file = checked(&format!("examples/tree-{steps}.eml"), LONG, program, vec![found]);
    file.tallies = vec![(FindingKind::Atomicity, tally(30, 1, 0))];
    file
}

/// A witness of about `steps` steps of which the finding needs few: most of them are calls without one of
/// its accesses, no two alike, and a loop.
pub fn calls(steps: usize) -> CheckedFile {
    let program = program(
        &["tree", "log"],
        &["nodes", "depth"],
        &["Walker", "Pruner"],
        &["main", "walk", "note"],
    );
    let mut lines = vec!["Walker begin 21".to_owned(), "Walker read depth 22 *1".to_owned()];
    let mut at = 0;
    while lines.len() + 12 < steps / 2 {
        // The lines differ, so that nothing repeats.
        let line = 1 + at % 23;
        lines.push(format!("Walker call note {line}"));
        lines.push(format!("Walker acquire log {line}"));
        lines.push(format!("Walker write nodes {}", 1 + (at + at / 23) % 23));
        lines.push(format!("Walker release log {line}"));
        lines.push(format!("Walker return note {line}"));
        at += 1;
    }
    lines.push("Pruner write nodes 10 *2".to_owned());
    while lines.len() + 3 < steps {
        lines.push("Pruner acquire log 20".to_owned());
        lines.push("Pruner release log 23".to_owned());
    }
    lines.push("Pruner write depth 11 *3".to_owned());
    lines.push("Walker read nodes 6 *4".to_owned());
    let found = Finding {
        tags: tags(&["pattern-12"]),
        locations: locations(&[0, 1]),
        ..finding(
            FindingKind::Atomicity,
            &program,
            &lines.join("\n"),
            "",
            "Pruner writes `nodes` and `depth` between Walker's read of `depth` and its read of `nodes`.",
        )
    };
    let mut file = checked("examples/calls.eml", LONG, program, vec![found]);
    file.tallies = vec![(FindingKind::Atomicity, tally(30, 1, 0))];
    file
}

/// A run that ends in steps that are repeated for ever, found by an engine.
pub fn lasso() -> CheckedFile {
    let texts = Texts::from(Text::new("examples/spool.eml", SPOOL));
    let (model, _) = load(&texts, Reading::default());
    let formula = Text::new("examples/spool.ltl", "served: A G F T2@get;");
    let asked = Temporal::new(model.expect("a model"), vec![formula], None, 2, None);
    let asked = asked.expect("a formula");
    let engine = Options::new(Some(EngineKind::Exhaustive));
    let report = asked.decide(engine, &Budget::new(), &mut |_| {});
    let answers = report.expect("no fault").answers;
    let program = asked.model.program.clone();
    let told = findings(&program, Some(FindingKind::Temporal), "", &answers, None);
    let mut file = checked("examples/spool.eml", SPOOL, Program::default(), Vec::new());
    (file.program, file.findings, file.tallies) = (program, told.findings, told.tallies);
    assert!(file.findings[0].trace.repeats.is_some(), "a run without end");
    file
}

const SPOOL: &str = "\
lock : spool;
var  : count;

process T1 {
    push { label put: write count; }
    main {
        while (*) {
            label begun: synchronized(spool) { push(); }
        }
    }
}

process T2 {
    main { while (*) { synchronized(spool) { label get: read count; } } }
}
";

/// A program with data whose assertion fails, found by an engine.
pub fn visits() -> CheckedFile {
    let parsed = selvedge_front_eml::parse(VISITS);
    let program = parsed.program.expect("it is a program");
    let question = [Question::Reach(Target::Assertion)];
    let (prepared, options) = (Prepared::new(&program), Options::new(None));
    let report = answer(&prepared, &question, &options, &Budget::new(), &mut |_| {});
    let answers = report.expect("no fault").answers;
    let told = findings(&program, Some(FindingKind::Assertion), "", &answers, None);
    let mut file = checked("examples/visits.eml", VISITS, Program::default(), Vec::new());
    (file.program, file.findings, file.tallies) = (program, told.findings, told.tallies);
    file
}

const VISITS: &str = "\
int 0..3 : visits;
bool : full;

process Door[2] {
    main {
        visits = visits + 1;
        if (visits == 2) { full = true; }
    }
}

process Count {
    main { join Door[0]; join Door[1]; assert(full); }
}
";

/// Text that would be harmful if it were not escaped.
pub const HOSTILE: &str = "</script><script>window.harmed=1</script><!--<img src=x onerror=\"window.harmed=1\">'&amp;\u{1b}[31m\u{202e}\u{2028}\n\u{0}";

/// The stack with hostile names wherever there is a name.
pub fn hostile() -> CheckedFile {
    let mut file = stack();
    let evil = |name: &mut String| *name = format!("{name}{HOSTILE}");
    evil(&mut file.file);
    file.source = format!("// {HOSTILE}\n{}{HOSTILE}\r\n\t{HOSTILE}", file.source);
    rename(&mut file.program.locks, |lock| evil(&mut lock.name));
    rename(&mut file.program.locations, |location| evil(&mut location.name));
    rename(&mut file.program.threads, |thread| evil(&mut thread.name));
    rename(&mut file.program.procedures, |procedure| evil(&mut procedure.name));
    for finding in &mut file.findings {
        finding.tags.iter_mut().for_each(evil);
        evil(&mut finding.reason);
        finding.reason.push_str(" `a` `");
        evil(&mut finding.fingerprint);
        if let Some(fix) = &mut finding.fix {
            evil(&mut fix.text);
        }
    }
    file.suppressed = vec![(file.findings[0].clone(), HOSTILE.to_owned())];
    file.known = vec![file.findings[1].clone()];
    file.open = vec![HOSTILE.to_owned()];
    file
}

fn rename<I: Id, T>(items: &mut IdVec<I, T>, change: impl Fn(&mut T)) {
    let ids: Vec<I> = items.ids().collect();
    for id in ids {
        change(&mut items[id]);
    }
}

/// A file in which everything was proved.
pub fn safe() -> CheckedFile {
    let mut file = stack();
    "examples/stack-fixed.eml".clone_into(&mut file.file);
    file.findings.clear();
    file.tallies = vec![
        (FindingKind::Deadlock, tally(1, 0, 0)),
        (FindingKind::Atomicity, tally(115, 0, 0)),
        (FindingKind::Race, tally(2, 0, 0)),
    ];
    file
}

fn borrowed(names: &[String]) -> Vec<&str> {
    names.iter().map(|name| &**name).collect()
}

/// `size` philosophers, each with one fork in hand.
pub fn philosophers(size: usize) -> CheckedFile {
    let names: Vec<String> = (1..=size).map(|at| format!("Philosopher{at}")).collect();
    let forks: Vec<String> = (1..=size).map(|at| format!("fork{at}")).collect();
    let program = program(&borrowed(&forks), &["rice"], &borrowed(&names), &["main", "dine"]);
    let (mut source, mut steps, mut next) = (String::new(), String::new(), String::new());
    for (at, name) in names.iter().enumerate() {
        let (own, other) = (&forks[at], &forks[(at + 1) % size]);
        let line = at + 1;
        let _ = writeln!(
            source,
            "process {name} {{ main {{ synchronized({own}) synchronized({other}) {{ read rice; }} }} }}"
        );
        let _ = writeln!(steps, "{name} acquire {own} {line}");
        let _ = writeln!(next, "{name} acquire {other} {line}");
    }
    let reason = format!("{size} threads wait for each other in a ring.");
    let found = Finding {
        tags: tags(&["deadlock"]),
        locks: locks(&(0..size).collect::<Vec<_>>()),
        ..finding(FindingKind::Deadlock, &program, &steps, &next, &reason)
    };
    let mut file = checked("examples/philosophers.eml", &source, program, vec![found]);
    file.tallies = vec![(FindingKind::Deadlock, tally(0, 1, 0))];
    file
}

/// As many findings as there are names, to fill the list.
pub fn many(names: usize) -> CheckedFile {
    many_in("examples/many.eml", names)
}

/// The same in a file of this name.
pub fn many_in(name: &str, names: usize) -> CheckedFile {
    let mut file = bank();
    let pattern = file.findings.clone();
    name.clone_into(&mut file.file);
    file.findings = (0..names)
        .map(|at| {
            let mut finding = pattern[at % pattern.len()].clone();
            let _ = write!(finding.fingerprint, "-{at}");
            finding
        })
        .collect();
    file
}

const STACK: &str = "\
// Two threads pop from one stack, each through a wrapper of its own. The
// wrapper locks itself, and not the stack.
lock : stack, wrap1, wrap2;
var  : count, data;

process T1 {
    synchronized(stack) size {
        unit { read count; }
    }

    synchronized(stack) pop {
        unit { read count; read data;
               write data; write count; }
    }

    synchronized(wrap1) popwrap {
        unit {
            size();
            if (*) pop();
        }
    }

    main { popwrap(); }
}

process T2 {
    synchronized(stack) pop {
        unit { read count; read data;
               write data; write count; }
    }
    synchronized(wrap2) popwrap { unit { pop(); } }
    main { popwrap(); }
}
";

const STACK_HALF: &str = "
    T1 call popwrap 23
    T1 acquire wrap1 16
    T1 begin 17
    T1 call size 18
    T1 acquire stack 7
    T1 8
    T1 read count 8 *1
    T1 release stack 9
    T1 return size 9
    T1 19
    T2 call popwrap 32
    T2 acquire wrap2 31
    T2 begin 31
    T2 call pop 31
    T2 acquire stack 27
    T2 28
    T2 read count 28
    T2 read data 28
    T2 write data 29 *2
    T2 write count 29 *3
    T2 release stack 30
    T2 return pop 30
    T2 end 31
    T1 call pop 19
    T1 acquire stack 11
    T1 12
    T1 read count 12
    T1 read data 12 *4
";

const STACK_LOST: &str = "
    T2 call popwrap 32
    T2 acquire wrap2 31
    T2 begin 31
    T2 call pop 31
    T2 acquire stack 27
    T2 read count 28 *1
    T1 call popwrap 23
    T1 acquire wrap1 16
    T1 write count 13 *2
    T2 read data 28
    T2 write data 29
    T2 write count 29 *3
";

const BANK: &str = "\
lock : accountA, accountB, audit;
var  : balanceA, balanceB, total;

process FromA {
    synchronized(accountA) synchronized(accountB) transfer {
        read balanceA;
        if (*) return;          // not enough money
        write balanceA;
        read balanceB;
        write balanceB;
    }
    main { while (*) unit { transfer(); } }
}

process FromB {
    synchronized(accountB) synchronized(accountA) transfer {
        synchronized(audit) { read balanceB; }
        write balanceB;
        read balanceA;
        write total;
    }
    main { while (*) unit { transfer(); } }
}

process Auditor {
    sum {
        synchronized(audit) {
            synchronized(accountA) { read balanceA; }
        }
        read total;
    }
    main { unit { sum(); } }
}
";

const BANK_TWO: &str = "
    FromA 12
    FromA begin 12
    FromA call transfer 12
    FromA acquire accountA 5
    FromB 22
    FromB begin 22
    FromB call transfer 22
    FromB acquire accountB 16
";

const BANK_THREE: &str = "
    FromA begin 12
    FromA call transfer 12
    FromA acquire accountA 5
    Auditor begin 32
    Auditor call sum 32
    Auditor acquire audit 27
    FromB begin 22
    FromB call transfer 22
    FromB acquire accountB 16
";

const BANK_RACE: &str = "
    FromB 22
    FromB begin 22
    FromB call transfer 22
    FromB acquire accountB 16
    FromB acquire accountA 16
    FromB acquire audit 17
    FromB read balanceB 17
    FromB release audit 17
    FromB write balanceB 18
    FromB read balanceA 19
    FromB release accountA 21
    FromB release accountB 21
    Auditor begin 32
    Auditor call sum 32
    Auditor acquire audit 27
    Auditor acquire accountA 28
    Auditor read balanceA 28
    Auditor release accountA 28
    Auditor release audit 29
";

const LONG: &str = "\
lock : tree, log;
var  : nodes, depth;

process Walker {
    walk { synchronized(tree) {
            read nodes;
            if (*) skip;
        }
        walk();
        write nodes;
        write depth;
    }
    note { skip; }

    // Walker asks for the depth, lets go of the log, and then walks. Pruner
    // has the same functions and walks as well; what it does at the end of
    // its walk is what Walker relies on.


    main { synchronized(log) {
            unit {
                read depth;
            } }
    }
}
";
