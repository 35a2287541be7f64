//! # Idea
//! The model as a Graphviz graph: a box per thread, in it a box per procedure with its control flow,
//! and a dashed arrow from each call to the entry of what it calls.
//!
//! # Source
//! The DOT language of Graphviz. In a quoted string only the quote needs an escape by the grammar;
//! a backslash starts an escape of labels and is doubled as well.

use crate::escape::visible;
use crate::places::short;
use crate::statement;
use selvedge_base::Id;
use selvedge_program::{Action, Edge, NodeId, Program};
use std::fmt::Write as _;

/// Renders the graph of a program.
pub fn render(program: &Program) -> String {
    let mut out = String::from("digraph program {\n");
    out.push_str("  graph [fontname=\"sans-serif\"];\n");
    out.push_str("  node [shape=point, fontname=\"sans-serif\"];\n");
    out.push_str("  edge [fontname=\"sans-serif\", fontsize=10];\n");
    let mut nodes = program.nodes.iter_enumerated().peekable();
    let mut procedures = program.procedures.iter_enumerated().peekable();
    // Procedures are grouped by thread and nodes by procedure.
    while let Some(owner) = procedures.peek().map(|(_, own)| own.owner) {
        if let Some(thread) = owner {
            let label = quoted(&format!("thread {}", program.threads[thread].name));
            let _ = writeln!(out, "  subgraph cluster_t{} {{\n    label={label};", thread.index());
        }
        let indent = if owner.is_some() { "  " } else { "" };
        while let Some((id, procedure)) = procedures.next_if(|(_, own)| own.owner == owner) {
            let _ = writeln!(out, "{indent}  subgraph cluster_p{} {{", id.index());
            let _ = writeln!(out, "{indent}    label={};", quoted(&procedure.name));
            while let Some((node, _)) = nodes.next_if(|&(_, &owner)| owner == id) {
                let shape = match (node == procedure.entry, node == procedure.exit) {
                    (true, _) => " [shape=circle, label=\"\", width=0.2]",
                    (false, true) => " [shape=doublecircle, label=\"\", width=0.15]",
                    (false, false) => "",
                };
                let _ = writeln!(out, "{indent}    {}{shape};", vertex(node));
            }
            let _ = writeln!(out, "{indent}  }}");
        }
        if owner.is_some() {
            out.push_str("  }\n");
        }
    }
    for (at, thread) in program.threads.iter().enumerate() {
        if program.procedures[thread.main].owner.is_none() {
            let label = quoted(&format!("thread {}", thread.name));
            let entry = vertex(program.procedures[thread.main].entry);
            let _ = writeln!(out, "  t{at} [shape=box, label={label}];\n  t{at} -> {entry};");
        }
    }
    for edge in &program.edges {
        let label = quoted(&edge_label(edge, program));
        let (source, target) = (vertex(edge.source), vertex(edge.target));
        let _ = writeln!(out, "  {source} -> {target} [label={label}];");
        if let Action::Call(callee) = edge.action {
            let entry = vertex(program.procedures[callee].entry);
            let _ = writeln!(out, "  {source} -> {entry} [style=dashed, constraint=false];");
        }
    }
    out.push_str("}\n");
    out
}

fn vertex(node: NodeId) -> String {
    format!("n{}", node.index())
}

fn edge_label(edge: &Edge, program: &Program) -> String {
    let what = match edge.action {
        _ if edge.update.is_some() || edge.passing.is_some() => statement::statement(program, edge),
        Action::Skip => String::new(),
        Action::Read(location) => format!("read {}", program.locations[location].name),
        Action::Write(location) => format!("write {}", program.locations[location].name),
        Action::Acquire(lock) => format!("acquire {}", program.locks[lock].name),
        Action::Release(lock) => format!("release {}", program.locks[lock].name),
        Action::BeginUnit => "begin unit".to_owned(),
        Action::EndUnit => "end unit".to_owned(),
        Action::Call(procedure) => format!("call {}", program.procedures[procedure].name),
        Action::Assert(_)
        | Action::Return(_)
        | Action::Start(_)
        | Action::Join(_)
        | Action::Wait(_)
        | Action::Resume(_)
        | Action::Notify(_)
        | Action::NotifyAll(_)
        | Action::Send(_)
        | Action::Post(_)
        | Action::Broadcast(_)
        | Action::Recv(_)
        | Action::BeginAtomic
        | Action::EndAtomic => statement::statement(program, edge),
    };
    let place = short(edge.place, program);
    if what.is_empty() || place.is_empty() { what } else { format!("{what} {place}") }
}

/// A DOT string.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", visible(text).replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_cannot_end_early() {
        assert_eq!(quoted(r#"a"b\"#), r#""a\"b\\""#);
        assert_eq!(quoted("a\nb"), "\"a␊b\"");
    }
}
