//! # Idea
//! The order in which a program takes its locks, as a Graphviz graph: a node per lock, an arrow from
//! a lock to each one that some thread acquires while it holds the first, with who does so and where.
//! Arrows on a cycle to which at least two threads contribute are red: only those can be part of a
//! deadlock.
//!
//! # Source
//! Cycles are the strongly connected components of the graph (Tarjan, 1972).

use crate::dot::quoted;
use crate::escape::visible;
use crate::outline::components;
use crate::places::short;
use selvedge_base::{Id, Place};
use selvedge_program::{LockId, LockOrderEdge, Program, ThreadId};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Statements that an arrow names.
const NAMED: usize = 6;

/// Renders the graph of these edges. Locks without an edge are drawn as well.
pub fn render(program: &Program, edges: &[LockOrderEdge]) -> String {
    let mut arrows: BTreeMap<(LockId, LockId), BTreeSet<(ThreadId, Place)>> = BTreeMap::new();
    for edge in edges {
        arrows.entry((edge.held, edge.acquired)).or_default().insert((edge.thread, edge.place));
    }
    let component = dangerous_components(program, &arrows);
    let dangerous = |lock: LockId| component[lock.index()];
    let mut out = String::from("digraph lock_order {\n");
    out.push_str("  graph [fontname=\"sans-serif\"];\n");
    out.push_str("  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n");
    out.push_str("  edge [fontname=\"sans-serif\", fontsize=10];\n");
    for (id, lock) in program.locks.iter_enumerated() {
        let color = if dangerous(id).is_some() { ", color=red, penwidth=2" } else { "" };
        let _ = writeln!(out, "  {} [label={}{color}];", vertex(id), quoted(&lock.name));
    }
    for (&(held, acquired), statements) in &arrows {
        let on_cycle = dangerous(held).is_some() && dangerous(held) == dangerous(acquired);
        let color = if on_cycle { ", color=red, fontcolor=red, penwidth=2" } else { "" };
        let label = label(statements, program);
        let (from, to) = (vertex(held), vertex(acquired));
        let _ = writeln!(out, "  {from} -> {to} [label={label}{color}];");
    }
    out.push_str("}\n");
    out
}

fn vertex(lock: LockId) -> String {
    format!("l{}", lock.index())
}

/// `T1 :12, :17` on a line per thread.
fn label(statements: &BTreeSet<(ThreadId, Place)>, program: &Program) -> String {
    let mut by_thread: BTreeMap<ThreadId, Vec<String>> = BTreeMap::new();
    for &(thread, place) in statements.iter().take(NAMED) {
        let lines = by_thread.entry(thread).or_default();
        let line = short(place, program);
        if !line.is_empty() && !lines.contains(&line) {
            lines.push(line);
        }
    }
    let mut rows: Vec<String> = by_thread
        .into_iter()
        .map(|(thread, lines)| {
            format!("{} {}", visible(&program.threads[thread].name), lines.join(", "))
        })
        .collect();
    if statements.len() > NAMED {
        rows.push(format!("… and {} more", statements.len() - NAMED));
    }
    // `\n` is a line break of the label, which escaping would destroy.
    let rows: Vec<String> =
        rows.iter().map(|row| quoted(row.trim_end()).trim_matches('"').to_owned()).collect();
    format!("\"{}\"", rows.join("\\n"))
}

/// For each lock the number of its component, if that has a cycle with arrows of two threads.
fn dangerous_components(
    program: &Program,
    arrows: &BTreeMap<(LockId, LockId), BTreeSet<(ThreadId, Place)>>,
) -> Vec<Option<usize>> {
    let mut successors = vec![Vec::new(); program.locks.len()];
    for (held, acquired) in arrows.keys() {
        successors[held.index()].push(acquired.index());
    }
    let mut dangerous = vec![None; program.locks.len()];
    for (number, component) in components(&successors).into_iter().enumerate() {
        let inside = |lock: LockId| component.contains(&lock.index());
        let threads: BTreeSet<ThreadId> = arrows
            .iter()
            .filter(|((held, acquired), _)| inside(*held) && inside(*acquired))
            .flat_map(|(_, statements)| statements.iter().map(|&(thread, _)| thread))
            .collect();
        if component.len() > 1 && threads.len() > 1 {
            for lock in component {
                dangerous[lock] = Some(number);
            }
        }
    }
    dangerous
}
