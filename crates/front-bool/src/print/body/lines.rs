//! # Idea
//! The lines of a procedure's text: what stands in each, where jumps go, and how all of it is written
//! once the labels are known.

use super::Writer;
use crate::dialect::Dialect;
use crate::print::names::{Taken, quiet};
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::Place;
use selvedge_program::{Action, EdgeId, NodeId};

/// Where a jump goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum JumpTarget {
    Node(NodeId),
    /// A statement that is no node of the program.
    Extra(usize),
}

/// A line of the text to be.
pub(super) struct Item {
    /// What begins here.
    pub at: Option<JumpTarget>,
    pub place: Place,
    pub line: Line,
}

/// What stands in a line.
pub(super) enum Line {
    Statement(String),
    Jump(Vec<JumpTarget>),
    /// A step that does nothing and then a jump; with a label, the jump itself is this step.
    SkipAndJump(JumpTarget),
    /// A jump under a condition, without parentheses around it.
    Branch(String, JumpTarget),
}

impl Writer<'_> {
    /// The text of all lines.
    pub(super) fn render(&mut self, order: &[NodeId]) -> String {
        let exit = JumpTarget::Node(self.procedure.exit);
        let mut goals: FxHashSet<JumpTarget> = FxHashSet::default();
        for item in &self.items {
            match &item.line {
                Line::Statement(_) => {}
                Line::Jump(to) => goals.extend(to.iter().copied()),
                Line::SkipAndJump(goal) | Line::Branch(_, goal) => {
                    goals.insert(*goal);
                }
            }
        }
        let labels = self.labels(order, &goals);
        if labels.contains_key(&exit) {
            let line = Line::Statement("skip;".to_owned());
            self.put(&mut Some(exit), Place::NONE, line);
        }
        let name = |goal: &JumpTarget| labels.get(goal).map_or("", |names| names[0].as_str());
        let getafix = self.dialect == Dialect::Getafix;
        let mut text = String::new();
        let mut last = None;
        for item in &self.items {
            let place = item.place;
            let origin = (place.file, place.line(), place.offset());
            let known = place.line().or(place.offset()).is_some();
            if known && last.replace(origin) != Some(origin) {
                text.extend(["    // ", &self.program.place_in_words(place), "\n"]);
            }
            text.push_str("    ");
            let own = item.at.as_ref().and_then(|at| labels.get(at));
            for (at, label) in own.into_iter().flatten().enumerate() {
                // GETAFIX has one label at a statement.
                let between = if getafix && at > 0 { "skip;\n    " } else { "" };
                text.extend([between, label, ": "]);
            }
            let shown = match &item.line {
                Line::Statement(statement) => statement.clone(),
                Line::Jump(to) => {
                    let to: Vec<&str> = to.iter().map(name).collect();
                    if getafix { one_by_one(&to) } else { format!("goto {};", to.join(", ")) }
                }
                Line::SkipAndJump(to) if own.is_some() => format!("goto {};", name(to)),
                Line::SkipAndJump(to) => format!("skip;\n    goto {};", name(to)),
                Line::Branch(condition, to) if getafix => {
                    format!("if ({condition}) then goto {}; fi", name(to))
                }
                Line::Branch(condition, to) => {
                    format!("if {condition} then goto {}; fi;", name(to))
                }
            };
            text.push_str(&shown);
            text.push('\n');
        }
        text
    }

    /// The labels of nodes and statements.
    fn labels(
        &self,
        order: &[NodeId],
        goals: &FxHashSet<JumpTarget>,
    ) -> FxHashMap<JumpTarget, Vec<String>> {
        let mut taken = Taken::new(self.dialect);
        let mut labels: FxHashMap<JumpTarget, Vec<String>> = FxHashMap::default();
        let mut seen: FxHashSet<(NodeId, &str)> = FxHashSet::default();
        for label in self.own_labels() {
            let node = label.node;
            if !seen.insert((node, &label.name)) {
                continue;
            }
            let calls = |&edge: &EdgeId| matches!(self.edge(edge).action, Action::Call(_));
            let wish = if self.edges(node).iter().any(calls) {
                quiet(&label.name)
            } else {
                label.name.clone()
            };
            labels.entry(JumpTarget::Node(node)).or_default().push(taken.fresh(&wish));
        }
        let extras = (1..=self.extras).map(JumpTarget::Extra);
        let nodes = order.iter().chain([&self.procedure.exit]).map(|&node| JumpTarget::Node(node));
        for (number, goal) in (1..).zip(nodes.chain(extras).filter(|goal| goals.contains(goal))) {
            labels.entry(goal).or_insert_with(|| vec![taken.fresh(&format!("L{number}"))]);
        }
        labels
    }
}

/// A jump to one of several labels as jumps to one each.
fn one_by_one(to: &[&str]) -> String {
    let Some((last, others)) = to.split_last() else { return String::new() };
    let choices = others.iter().map(|label| format!("if (*) then goto {label}; fi\n    "));
    choices.collect::<String>() + &format!("goto {last};")
}
