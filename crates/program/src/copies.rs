//! # Idea
//! A thread may stand for any number of copies. Engines want threads one by one, so here are the
//! program with so many copies of each, and how many of them decide a question.
//!
//! Whoever takes no part in a question can stay where it starts: it holds no lock then and blocks
//! nobody. So what happens with many copies happens with those that take part. Those are the threads
//! that the question names, and for each of them that waits the one that starts it, and so on; a
//! thread that is joined is no copy, and its starter counts as well. An edge that starts one more copy
//! may start one that takes no part, which is a step without an effect. Where a run goes on as long as a
//! thread can move, such a copy counts, because it can move: there a start of one more copy fails, and
//! the run is cut off ([`without_idle_copies`]).
//!
//! # Source
//! SEMANTICS, "EML beyond the core".
//!
//! # Invariants
//! 1. A thread `W` of which there are many becomes `W[0]`, `W[1]`, …, in its place; all other threads
//!    keep their order and their names.
//! 2. Copies share their procedures, which are called `W.p` then, and nodes and labels stay as they are;
//!    but where `W` owns globals, each copy has one of them and procedures of its own.

use crate::data::{Expr, Literal, thread_value};
use crate::features::Feature;
use crate::model::{
    Action, Copies, Edge, EdgeId, Label, LockId, NodeId, Procedure, ProcedureId, Program, Start,
    Thread, ThreadId,
};
use crate::own::Owned;
use crate::sharing::Sharing;
use selvedge_base::{Id, IdVec};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The most copies that a text may ask for.
pub const MOST_COPIES: u32 = 1000;

/// The name of a copy, from 0.
pub fn copy_name(thread: &str, copy: u32) -> String {
    format!("{thread}[{copy}]")
}

/// Which of the copies of its process a thread is, by its name: 2 for `Worker[2]`, and 0 if it is the
/// only one.
pub fn copy_number(thread: &str) -> u32 {
    let inside = thread.strip_suffix(']').and_then(|name| name.rsplit_once('['));
    inside.and_then(|(_, number)| number.parse().ok()).unwrap_or(0)
}

/// The program with `number[t]` copies of every thread `t` of which there may be any number, and at
/// least one.
pub fn instantiate(program: &Program, number: &IdVec<ThreadId, u32>) -> Program {
    let is_many = |thread: ThreadId| program.threads[thread].copies == Copies::Any;
    // The new threads of each old one.
    let mut first: IdVec<ThreadId, usize> = IdVec::new();
    let mut count = 0;
    for thread in program.threads.ids() {
        first.push(count);
        count += if is_many(thread) { number[thread].max(1) as usize } else { 1 };
    }
    let copies = |thread: ThreadId| {
        let after = first.get(ThreadId::from_index(thread.index() + 1)).copied().unwrap_or(count);
        (first[thread]..after).map(ThreadId::from_index)
    };
    let only = |thread: ThreadId| ThreadId::from_index(first[thread]);
    let mut out = Program {
        threads: IdVec::new(),
        procedures: IdVec::new(),
        nodes: IdVec::new(),
        edges: IdVec::new(),
        labels: Vec::new(),
        restrictions: Vec::new(),
        ..program.clone()
    };
    let owned = Owned::new(program, &mut out, |thread| number[thread].max(1));
    let owns = |thread: ThreadId| owned.as_ref().is_some_and(|owned| owned.owns(thread));
    let made = procedures(program, &owns, &|thread| number[thread].max(1));
    let places: BTreeMap<Made, ProcedureId> =
        made.iter().enumerate().map(|(at, &one)| (one, ProcedureId::from_index(at))).collect();
    // Whoever owns something has procedures of its own.
    let procedure = |id: ProcedureId, copy: Option<u32>| {
        places.get(&(id, copy)).or_else(|| places.get(&(id, None))).copied().unwrap_or(id)
    };
    for (id, thread) in program.threads.iter_enumerated() {
        let start = match thread.start {
            Start::ByEdge { after: Some(before) } => Start::ByEdge { after: Some(only(before)) },
            other => other,
        };
        for (at, _) in copies(id).enumerate() {
            let name =
                if is_many(id) { copy_name(&thread.name, at as u32) } else { thread.name.clone() };
            let main = procedure(thread.main, owns(id).then_some(at as u32));
            let place = thread.place;
            if let Some(restriction) = program.restriction(id) {
                let copy = owns(id).then_some(at as u32);
                let called = |callee: ProcedureId| procedure(callee, copy);
                let new = out.threads.next_id();
                out.restrictions.push(restriction.renumbered(new, called, only));
            }
            out.threads.push(Thread { name, place, main, start, copies: Copies::One });
        }
    }
    let shared = program.procedures.iter().filter(|procedure| procedure.owner.is_none());
    let mut taken: BTreeSet<String> = shared.map(|procedure| procedure.name.clone()).collect();
    let (nodes, edges) = grouped(program);
    let mut firsts = Vec::with_capacity(made.len());
    for &(id, copy) in &made {
        let old = &program.procedures[id];
        let first = out.nodes.len();
        firsts.push(first);
        let node = |node: NodeId| NodeId::from_index(first + node.index() - nodes[id].start);
        let (entry, exit) = (node(old.entry), node(old.exit));
        let (name, owner) = match (old.owner, copy) {
            (Some(owner), Some(copy)) => {
                (old.name.clone(), copies(owner).nth(copy as usize).or(old.owner))
            }
            (Some(owner), None) if is_many(owner) => {
                let mut name = format!("{}.{}", program.threads[owner].name, old.name);
                while !taken.insert(name.clone()) {
                    name.push('\'');
                }
                (name, None)
            }
            (owner, _) => (old.name.clone(), owner.map(only)),
        };
        let new = out.procedures.push(Procedure { name, owner, entry, exit, ..old.clone() });
        nodes[id].clone().for_each(|_| _ = out.nodes.push(new));
        for edge in edges[id].clone().map(|at| &program.edges[EdgeId::from_index(at)]) {
            let edge = match &owned {
                Some(owned) => owned.edge(&mut out, edge, copy),
                None => edge.clone(),
            };
            let (source, target) = (node(edge.source), node(edge.target));
            let edge = Edge { source, target, ..edge };
            match edge.action {
                Action::Start(started) if is_many(started) => {
                    for copy in copies(started) {
                        out.edges.push(Edge { action: Action::Start(copy), ..edge.clone() });
                    }
                    // One more copy that takes no part.
                    out.edges.push(Edge { action: Action::Skip, passing: None, ..edge });
                }
                action => {
                    let action = match action {
                        Action::Start(started) => Action::Start(only(started)),
                        Action::Join(joined) => Action::Join(only(joined)),
                        Action::Call(callee) => Action::Call(procedure(callee, copy)),
                        action => action,
                    };
                    out.edges.push(Edge { action, ..edge });
                }
            }
        }
    }
    for Label { name, node, place } in &program.labels {
        let id = program.nodes[*node];
        let own = made.iter().zip(&firsts).filter(|((made, _), _)| *made == id);
        for (_, first) in own {
            let node = NodeId::from_index(first + node.index() - nodes[id].start);
            out.labels.push(Label { name: name.clone(), node, place: *place });
        }
    }
    // Threads have other numbers now, also as values.
    out.change_expressions(&mut |expr| {
        if let Expr::Constant(Literal::Thread(Some(thread))) = expr {
            *thread = only(*thread);
        }
    });
    let locals = out.procedures.iter_mut().flat_map(|one| &mut one.frame.locals);
    let locals = locals.map(|local| (local.ty, &mut local.initial));
    let globals = out.globals.iter_mut().map(|global| (global.ty, &mut global.initial));
    for (ty, initial) in globals.chain(locals) {
        if let Some(value) = initial
            && let Literal::Thread(Some(thread)) = Literal::of(ty, *value)
        {
            *value = thread_value(Some(only(thread)));
        }
    }
    out
}

/// The edges by which an instance starts one more copy, which never moves.
pub fn idle_starts(program: &Program) -> BTreeSet<EdgeId> {
    let starts_copy = |edge: &Edge| match edge.action {
        Action::Start(thread) => program.threads[thread].name.ends_with(']'),
        _ => false,
    };
    let statement = |edge: &Edge| (edge.source, edge.target, edge.place);
    let starts: BTreeSet<_> =
        program.edges.iter().filter(|edge| starts_copy(edge)).map(statement).collect();
    let is_idle = |edge: &Edge| edge.action == Action::Skip && starts.contains(&statement(edge));
    program.edges.ids().filter(|&id| is_idle(&program.edges[id])).collect()
}

/// The program in which a start of one more copy fails, with the same nodes and edges; `None` if there is
/// no such start.
pub fn without_idle_copies(program: &Program) -> Option<Program> {
    let idle = idle_starts(program);
    if idle.is_empty() {
        return None;
    }
    let mut cut = program.clone();
    let never = cut.conditions.push(Expr::FALSE);
    for edge in idle {
        cut.edges[edge].action = Action::Assert(never);
    }
    Some(cut)
}

/// A procedure, and the copy whose own it is.
type Made = (ProcedureId, Option<u32>);

/// The procedures in their order; those of a thread that owns something once for each copy.
fn procedures(
    program: &Program,
    owns: &impl Fn(ThreadId) -> bool,
    count: &impl Fn(ThreadId) -> u32,
) -> Vec<Made> {
    let mut made: Vec<Made> = Vec::new();
    let mut ids = program.procedures.ids().peekable();
    while let Some(id) = ids.next() {
        let Some(owner) = program.procedures[id].owner.filter(|&owner| owns(owner)) else {
            made.push((id, None));
            continue;
        };
        let mut group = vec![id];
        while let Some(next) = ids.next_if(|&next| program.procedures[next].owner == Some(owner)) {
            group.push(next);
        }
        for copy in 0..count(owner) {
            made.extend(group.iter().map(|&id| (id, Some(copy))));
        }
    }
    made
}

/// The nodes and the edges of each procedure, which follow each other.
fn grouped(
    program: &Program,
) -> (IdVec<ProcedureId, Range<usize>>, IdVec<ProcedureId, Range<usize>>) {
    let ranges = |owners: &mut dyn Iterator<Item = ProcedureId>| {
        let mut ranges = IdVec::filled(0..0, program.procedures.len());
        for (at, owner) in owners.enumerate() {
            let range: &mut Range<usize> = &mut ranges[owner];
            *range = if range.start == range.end { at..at + 1 } else { range.start..at + 1 };
        }
        ranges
    };
    let nodes = ranges(&mut program.nodes.iter().copied());
    (nodes, ranges(&mut program.edges.iter().map(|edge| program.nodes[edge.source])))
}

/// What copies are needed for: what is asked, as far as their number depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CopiesFor {
    /// A question that names at most so many threads: 2 for patterns and races, the number of thread
    /// variables for a property.
    Threads(u32),
    /// Deadlocks: cycles of threads that each want a lock that the next one holds.
    Deadlocks,
}

/// How many copies decide a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Enough {
    /// These: what holds with so many copies of each thread holds with any number. Threads that stand
    /// for one have 1.
    Exactly(IdVec<ThreadId, u32>),
    /// No number is known: copies start copies of their own kind, or there are values or channels.
    Unknown,
}

/// How many copies of each thread decide a question about a valid program without shared values.
pub fn enough(program: &Program, asked: CopiesFor) -> Enough {
    let features = program.features();
    if features.contains(Feature::Values) || features.contains(Feature::Channels) {
        return Enough::Unknown;
    }
    let is_many = |thread: ThreadId| program.threads[thread].copies == Copies::Any;
    let sharing = Sharing::new(program);
    let mut starts: IdVec<ThreadId, BTreeSet<ThreadId>> =
        IdVec::filled(BTreeSet::new(), program.threads.len());
    let mut locks: IdVec<ThreadId, BTreeSet<LockId>> =
        IdVec::filled(BTreeSet::new(), program.threads.len());
    let mut joins = starts.clone();
    for edge in &program.edges {
        for &thread in sharing.threads_of(program, edge) {
            match edge.action {
                Action::Start(started) => _ = starts[thread].insert(started),
                Action::Acquire(lock) => _ = locks[thread].insert(lock),
                Action::Join(joined) => _ = joins[thread].insert(joined),
                _ => {}
            }
        }
    }
    // Those that the question names, and one for every thread that waits and that it can start.
    let named = |thread: ThreadId| match asked {
        CopiesFor::Threads(threads) => threads.max(1),
        // Each thread of a cycle wants a lock or the end of a thread, and all of them another one.
        // Two copies show that there is something to ask about.
        CopiesFor::Deadlocks => ((locks[thread].len() + joins[thread].len()) as u32).max(2),
    };
    let mut number: IdVec<ThreadId, Option<u32>> =
        program.threads.ids().map(|thread| (!is_many(thread)).then_some(1)).collect();
    // Whoever starts only threads whose number is known gets one; the rest start each other.
    loop {
        let mut changed = false;
        for thread in program.threads.ids().filter(|&thread| is_many(thread)) {
            if number[thread].is_some() {
                continue;
            }
            let started: Option<u32> = starts[thread].iter().map(|&one| number[one]).sum();
            if let Some(started) = started {
                number[thread] = Some(named(thread).saturating_add(started));
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    let number: Option<Vec<u32>> = number.iter().copied().collect();
    number.map_or(Enough::Unknown, |number| Enough::Exactly(IdVec::from_vec(number)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{parse, print};
    use crate::validate::validate;

    fn read(text: &str) -> Program {
        let (program, diagnostics) = parse(text);
        program.unwrap_or_else(|| panic!("{diagnostics:?}"))
    }

    fn numbers(numbers: &[u32]) -> IdVec<ThreadId, u32> {
        numbers.iter().copied().collect()
    }

    #[test]
    fn copies_share_procedures_and_are_started_one_by_one() {
        let program = read(
            "program
            thread A main main {
                procedure main nodes 3 entry 0 exit 2 { 0 -> 1 start W @2:1 1 -> 2 join B }
            }
            thread W copies * waits main main {
                procedure main nodes 2 entry 0 exit 1 { 0 -> 1 call f }
                procedure f nodes 1 entry 0 exit 0 { }
            }
            thread B main main { procedure main nodes 1 entry 0 exit 0 { } }
            label here at W f 0",
        );
        let two = instantiate(&program, &numbers(&[1, 2, 1]));
        assert_eq!(validate(&two), []);
        let expected = "program
thread A main main {
  procedure main nodes 3 entry 0 exit 2 {
    0 -> 1 start \"W[0]\" @2:1
    0 -> 1 start \"W[1]\" @2:1
    0 -> 1 skip @2:1
    1 -> 2 join B
  }
}
thread \"W[0]\" waits main \"W.main\"
thread \"W[1]\" waits main \"W.main\"
procedure \"W.main\" nodes 2 entry 0 exit 1 {
  0 -> 1 call \"W.f\"
}
procedure \"W.f\" nodes 1 entry 0 exit 0 {
}
thread B main main {
  procedure main nodes 1 entry 0 exit 0 {
  }
}
label here at \"W.f\" 0
";
        assert_eq!(print(&two), expected);
        assert_eq!(read(expected), two);
    }

    #[test]
    fn a_text_may_ask_for_several_copies() {
        let program = read(
            "program
            thread W copies 2 main main {
                procedure main nodes 2 entry 0 exit 1 { 0 -> 1 call f }
                procedure f nodes 2 entry 0 exit 1 { 0 -> 1 join \"W[1]\" }
            }
            thread V copies 2 main .\"W.f\"",
        );
        let names: Vec<&str> = program.threads.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["W[0]", "W[1]", "V[0]", "V[1]"]);
        let mains: Vec<usize> = program.threads.iter().map(|one| one.main.index()).collect();
        assert_eq!(mains, [0, 0, 1, 1]);
        assert_eq!(read(&print(&program)), program);
        for wrong in ["0", "1001", "x"] {
            let text = format!(
                "program thread W copies {wrong} main p procedure p nodes 1 entry 0 exit 0 {{}}"
            );
            assert!(parse(&text).0.is_none(), "{wrong}");
        }
    }

    /// One thread of each kind; `actions` are those of W, V and U.
    fn three(actions: [&str; 3]) -> Program {
        let thread = |name: &str, how: &str, action: &str| {
            format!(
                "thread {name} {how} main p {{ procedure p nodes 2 entry 0 exit 1 {{ {action} }} }}\n"
            )
        };
        let [w, v, u] = actions;
        read(&format!(
            "program lock a lock b lock c\n{}{}{}",
            thread("W", "copies *", w),
            thread("V", "waits", v),
            thread("U", "copies * waits", u)
        ))
    }

    #[test]
    fn enough_counts_those_that_are_named_and_those_that_start_others() {
        let two = CopiesFor::Threads(2);
        let exactly = |counts: &[u32]| Enough::Exactly(numbers(counts));
        assert_eq!(enough(&three(["", "", ""]), two), exactly(&[2, 1, 2]));
        // A starter more for V.
        assert_eq!(enough(&three(["0 -> 1 start V", "", ""]), two), exactly(&[3, 1, 2]));
        // Each copy of U may have its own starter.
        assert_eq!(enough(&three(["0 -> 1 start U", "", ""]), two), exactly(&[4, 1, 2]));
        let chain = three(["0 -> 1 start U", "", "0 -> 1 start V"]);
        assert_eq!(enough(&chain, two), exactly(&[5, 1, 3]));
        assert_eq!(enough(&chain, CopiesFor::Threads(3)), exactly(&[7, 1, 4]));
        // Through a thread of which there is one.
        let through = three(["0 -> 1 start V", "0 -> 1 start U", ""]);
        assert_eq!(enough(&through, two), exactly(&[3, 1, 2]));
        assert_eq!(enough(&three(["", "", "0 -> 1 start U"]), two), Enough::Unknown);
        let locks = three(["0 -> 1 acquire a 0 -> 1 acquire b 0 -> 1 acquire c", "", ""]);
        assert_eq!(enough(&locks, CopiesFor::Deadlocks), exactly(&[3, 1, 2]));
        let joins = three(["0 -> 1 acquire a 0 -> 1 acquire b 0 -> 1 join V", "", ""]);
        assert_eq!(enough(&joins, CopiesFor::Deadlocks), exactly(&[3, 1, 2]));
        let values =
            read("program global g thread A main p { procedure p nodes 1 entry 0 exit 0 {} }");
        assert_eq!(enough(&values, two), Enough::Unknown);
    }

    #[test]
    fn threads_that_are_values_keep_their_names() {
        let text = "program
            global owner : thread = $thread(B)
            thread A copies * main main {
              procedure main nodes 2 entry 0 exit 1 { 0 -> 1 assert owner = $thread(B) }
            }
            thread B main main { procedure main nodes 1 entry 0 exit 0 { } }";
        let program = parse(text).0.expect("a valid program");
        let three = instantiate(&program, &IdVec::filled(3, 2));
        let printed = print(&three);
        assert!(printed.contains("global owner : thread = $thread(B)"), "{printed}");
        assert!(printed.contains("assert owner = $thread(B)"), "{printed}");
    }
}
