//! # Idea
//! An interleaving as a Graphviz graph: time goes down, each thread has a box, arrows lead from each
//! step to the next one, dashed where another thread takes over. Conflicting steps are red. Steps
//! that threads are about to take have a dashed frame; a thread that waits for a lock points at the
//! acquisition by its owner. Whoever receives in the step of another thread stands beside it.
//!
//! The steps are those of the short form of [`crate::interleaving`], because Graphviz lays out
//! hundreds of nodes well and thousands not at all.

use crate::checks::Checks;
use crate::describe::finding_name;
use crate::dot::quoted;
use crate::interleaving::{Row, RowRole, finding_rows, pending_rows};
use crate::places::{first_place, located, short};
use crate::quotes::remarks;
use selvedge_base::Id;
use selvedge_findings::Finding;
use selvedge_program::{Obstacle, Program, ThreadId};
use std::fmt::Write as _;

/// Rows that are drawn; of longer interleavings the end.
const MOST: usize = 400;

/// Renders one graph of all findings of a run, with a box for each finding.
pub fn render_all(checks: &Checks<'_>) -> String {
    let ranked = checks.ranked();
    if let [(finding, file)] = ranked[..] {
        return render(finding, &file.program);
    }
    let mut out = String::from(HEAD);
    for (at, (finding, file)) in ranked.iter().enumerate() {
        let place = located(&file.file, first_place(finding), &file.program);
        let title = format!("{}  {place}", finding_name(finding));
        let _ = writeln!(out, "  subgraph cluster_f{at} {{");
        let _ = writeln!(out, "  label={};", quoted(&title));
        body(&mut out, finding, &file.program, &format!("f{at}_"));
        out.push_str("  }\n");
    }
    out.push_str("}\n");
    out
}

const HEAD: &str = "digraph witness {
  graph [fontname=\"sans-serif\", rankdir=TB, newrank=true];
  node [shape=box, fontname=\"sans-serif\", fontsize=10];
  edge [fontname=\"sans-serif\", fontsize=10];
";

/// Renders the graph of a finding, with a box for each of its threads and of others that move.
pub fn render(finding: &Finding, program: &Program) -> String {
    let mut out = String::from(HEAD);
    body(&mut out, finding, program, "");
    out.push_str("}\n");
    out
}

/// The boxes and arrows of a finding; `prefix` tells its names from those of others.
fn body(out: &mut String, finding: &Finding, program: &Program, prefix: &str) {
    let Finding { trace, threads, .. } = finding;
    let mut rows = finding_rows(finding, program);
    let skipped = rows.len().saturating_sub(MOST);
    // What conflicts is kept, wherever it is.
    let mut at = 0;
    rows.retain(|row| {
        at += 1;
        at > skipped || row.matched.is_some()
    });
    rows.extend(pending_rows(trace, program));
    rows.retain(|row| row.role != RowRole::Remark);

    if rows.is_empty() {
        // A graph without a node is a blank picture.
        let all: Vec<String> = remarks(finding, program).into_iter().map(|one| one.text).collect();
        let note = quoted(&["Before any step".to_owned(), all.join("; ")].join(": "));
        let _ = writeln!(out, "  {prefix}note [shape=note, label={note}];");
    }
    if skipped > 0 {
        let note = format!("{skipped} earlier rows are left out");
        let _ = writeln!(out, "  {prefix}note [shape=note, label={}];", quoted(&note));
    }
    for thread in lanes(&rows, threads) {
        let _ = writeln!(out, "  subgraph cluster_{prefix}t{} {{", thread.index());
        let name = format!("thread {}", program.threads[thread].name);
        let _ = writeln!(out, "    label={};", quoted(&name));
        for (at, row) in rows.iter().enumerate() {
            for (name, row) in vertices(at, row).filter(|(_, row)| row.thread == thread) {
                let label = quoted(&label(row, program));
                let _ = writeln!(out, "    {prefix}{name} [label={label}{}];", looks(row));
            }
        }
        out.push_str("  }\n");
    }
    let taken = rows.iter().filter(|row| row.role == RowRole::Taken).count();
    for at in 1..taken {
        let style = if rows[at - 1].thread == rows[at].thread { "" } else { " [style=dashed]" };
        let _ = writeln!(out, "  {prefix}s{} -> {prefix}s{at}{style};", at - 1);
    }
    for (at, row) in rows.iter().enumerate() {
        for (name, _) in vertices(at, row).skip(1) {
            let _ = writeln!(out, "  {{ rank=same; {prefix}s{at}; {prefix}{name} }}");
            let _ = writeln!(out, "  {prefix}s{at} -> {prefix}{name} [style=bold];");
        }
    }
    pending_arrows(out, &rows, taken, finding, program, prefix);
}

/// From the last step to each pending one, and from each waiting one to what it waits for.
fn pending_arrows(
    out: &mut String,
    rows: &[Row<'_>],
    taken: usize,
    finding: &Finding,
    program: &Program,
    prefix: &str,
) {
    let trace = &finding.trace;
    for (at, step) in (taken..).zip(&trace.next) {
        if taken > 0 {
            let _ = writeln!(out, "  {prefix}s{} -> {prefix}s{at} [style=dotted];", taken - 1);
        }
        let Some(Obstacle::Lock(lock, owner)) = step.waits_for else { continue };
        // The owner took the lock at the last row from which on it has it.
        let (mut acquired, mut had) = (None, false);
        for (at, row) in rows[..taken].iter().enumerate().filter(|(_, row)| row.thread == owner) {
            let has = row.held.contains(&lock);
            if has && !had {
                acquired = Some(at);
            }
            had = has;
        }
        if let Some(acquired) = acquired {
            let label = quoted(&format!("held by {}", program.threads[owner].name));
            let _ = writeln!(
                out,
                "  {prefix}s{at} -> {prefix}s{acquired} [label={label}, color=red, fontcolor=red, \
                 constraint=false];"
            );
        }
    }
}

fn lanes(rows: &[Row<'_>], threads: &[ThreadId]) -> Vec<ThreadId> {
    let mut lanes = threads.to_vec();
    for row in rows.iter().flat_map(Row::across) {
        if !lanes.contains(&row.thread) {
            lanes.push(row.thread);
        }
    }
    lanes
}

/// The names of a row and of those who receive in the same step.
fn vertices<'r, 'a>(at: usize, row: &'r Row<'a>) -> impl Iterator<Item = (String, &'r Row<'a>)> {
    row.across().enumerate().map(move |(which, row)| match which {
        0 => (format!("s{at}"), row),
        _ => (format!("s{at}r{which}"), row),
    })
}

fn label(row: &Row<'_>, program: &Program) -> String {
    let mark = row.matched.map_or(String::new(), |number| format!("*{number} "));
    let label = format!("{mark}{} {}", row.text, short(row.place, program));
    label.trim_end().to_owned()
}

fn looks(row: &Row<'_>) -> &'static str {
    match (row.matched, row.role) {
        (_, RowRole::Pending) => ", color=red, penwidth=2, style=dashed",
        (Some(_), _) => ", color=red, penwidth=2",
        _ => "",
    }
}
