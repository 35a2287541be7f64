//! What a method with tokens does, as nodes and what leads from each where, with as few of them as are needed.

use crate::class::At;
use crate::tokens::{CallOutcome, ContextId, LocationKey, Model, ModelEdge, ModelGoal, Step};
use crate::world::MemberId;
use selvedge_base::Id;
use std::collections::{BTreeMap, BTreeSet};

/// A method with tokens and the outcome that is guessed; all of them if there is none.
pub(super) type Variant = (ContextId, Option<CallOutcome>);
/// What happens on an edge, and the instruction; nothing if there is none.
pub(super) type Label = Option<(Step, At)>;

/// The nodes of a procedure with what leads from each where.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    /// What can happen, each once, in order.
    pub labels: Vec<Label>,
    /// From each node, by the number of the label, where it leads.
    pub out: Vec<Vec<(usize, usize)>>,
    pub entry: usize,
    pub exit: usize,
}

impl Flow {
    /// What a context does, with the exits of one outcome, or of all.
    pub fn new(
        model: &Model,
        (context, outcome): &Variant,
        eventful: &[bool],
        written: &BTreeSet<LocationKey>,
    ) -> Self {
        let graph = &model.graphs[*context];
        let exit = graph.nodes;
        let happens = |step: &&Step| match step {
            Step::Call(callee, _) => eventful[callee.index()],
            Step::Read(location, _) => written.contains(location),
            _ => true,
        };
        // Ways out on which the same happens are one, wherever they begin: the last of them. Where something is
        // accessed or taken stays where it is.
        let is_exit = |edge: &ModelEdge| {
            let ends = |step: &Step| matches!(step, Step::Release(_) | Step::End);
            matches!(edge.goal, ModelGoal::Exit(_)) && edge.steps.iter().all(ends)
        };
        let mut ways: BTreeMap<&[Step], At> = BTreeMap::new();
        for edge in graph.edges.iter().filter(|edge| is_exit(edge)) {
            let way = ways.entry(&edge.steps).or_insert(edge.at);
            *way = edge.at.max(*way);
        }
        let place = |edge: &ModelEdge| match ways.get(&edge.steps[..]) {
            Some(&way) if is_exit(edge) => way,
            _ => edge.at,
        };
        let mut all: BTreeMap<(&Step, At), usize> = BTreeMap::new();
        for edge in &graph.edges {
            for step in edge.steps.iter().filter(happens) {
                all.insert((step, place(edge)), 0);
            }
        }
        let mut labels: Vec<Label> = vec![None];
        for ((step, at), number) in &mut all {
            *number = labels.len();
            labels.push(Some(((*step).clone(), *at)));
        }
        let mut out: Vec<Vec<(usize, usize)>> = vec![Vec::new(); graph.nodes + 1];
        for edge in &graph.edges {
            let goal = match &edge.goal {
                ModelGoal::Node(node) => *node,
                ModelGoal::Exit(one) if outcome.as_ref().is_none_or(|wanted| wanted == one) => exit,
                // Another outcome: the thread stops there, after what happens before.
                ModelGoal::Exit(_) => {
                    out.push(Vec::new());
                    out.len() - 1
                }
            };
            let steps: Vec<&Step> = edge.steps.iter().filter(happens).collect();
            let mut at = edge.source;
            for (number, step) in steps.iter().enumerate() {
                let target = if number + 1 == steps.len() {
                    goal
                } else {
                    out.push(Vec::new());
                    out.len() - 1
                };
                out[at].push((all[&(*step, place(edge))], target));
                at = target;
            }
            if steps.is_empty() {
                out[at].push((0, goal));
            }
        }
        Self { labels, out, entry: 0, exit }
    }

    /// The edges with what happens on them.
    pub fn edges(&self) -> impl Iterator<Item = (&Label, usize)> {
        self.out.iter().flatten().map(|&(label, target)| (&self.labels[label], target))
    }

    /// The same sequences of events with fewer nodes.
    pub fn contract(mut self) -> Self {
        const PASSES: usize = 40;
        const WIDE: usize = 6;
        for _ in 0..PASSES {
            let mut changed = false;
            for node in 0..self.out.len() {
                let before = std::mem::take(&mut self.out[node]);
                let mut edges: Vec<(usize, usize)> = Vec::with_capacity(before.len());
                for (label, target) in before {
                    if label > 0 || target == self.exit {
                        edges.push((label, target));
                        continue;
                    }
                    if target == node {
                        changed = true;
                        continue;
                    }
                    let next = &self.out[target];
                    if next.len() <= WIDE && !next.iter().any(|(_, one)| *one == target) {
                        // A step without an event is as good as what can follow it.
                        let more = next.iter().filter(|(label, one)| *label > 0 || *one != node);
                        edges.extend(more.copied());
                        changed = true;
                    } else {
                        edges.push((label, target));
                    }
                }
                edges.sort_unstable();
                edges.dedup();
                self.out[node] = edges;
            }
            changed |= self.merge();
            if !changed {
                break;
            }
        }
        self.renumber()
    }

    /// Makes nodes one from which the same leads to the same.
    fn merge(&mut self) -> bool {
        let mut first: BTreeMap<&[(usize, usize)], usize> = BTreeMap::new();
        let mut into: Vec<usize> = (0..self.out.len()).collect();
        let mut changed = false;
        for (node, edges) in self.out.iter().enumerate().filter(|(node, _)| *node != self.exit) {
            let known = *first.entry(edges).or_insert(node);
            changed |= known != node;
            into[node] = known;
        }
        if !changed {
            return false;
        }
        let mut moved = false;
        for edges in &mut self.out {
            let mut own = false;
            for (_, target) in edges.iter_mut() {
                own |= into[*target] != *target;
                *target = into[*target];
            }
            if own {
                edges.sort_unstable();
                edges.dedup();
                moved = true;
            }
        }
        moved |= into[self.entry] != self.entry;
        self.entry = into[self.entry];
        moved
    }

    /// Only what can be reached, the entry first and the exit last.
    fn renumber(self) -> Self {
        let mut numbers: Vec<Option<usize>> = vec![None; self.out.len()];
        let mut order = vec![self.entry];
        numbers[self.entry] = Some(0);
        let mut at = 0;
        while at < order.len() {
            for &(_, target) in &self.out[order[at]] {
                if target != self.exit && numbers[target].is_none() {
                    numbers[target] = Some(order.len());
                    order.push(target);
                }
            }
            at += 1;
        }
        let exit = order.len();
        numbers[self.exit] = Some(exit);
        let number = |node: usize| numbers[node].unwrap_or(exit);
        let mut out: Vec<Vec<(usize, usize)>> = order
            .iter()
            .map(|&node| {
                self.out[node].iter().map(|&(label, target)| (label, number(target))).collect()
            })
            .collect();
        out.push(Vec::new());
        // An entry that is the exit has nothing to do.
        Self { labels: self.labels, out, entry: 0, exit }
    }
}

/// Gives procedures of one method that do the same one number, and says which is the first of each.
///
/// Two are told apart by what they do themselves, then by what those do that they call, until nothing is told
/// apart any more.
pub(super) fn alike(
    model: &Model,
    variants: &[Variant],
    flows: &[Flow],
    numbers: &mut BTreeMap<Variant, usize>,
) -> Vec<usize> {
    /// What happens: a call by the number of what is called, all else by a number of its own.
    type Event = Option<(Result<usize, usize>, At)>;
    let mut known: BTreeMap<&Step, usize> = BTreeMap::new();
    let mut labels: Vec<Vec<Event>> = Vec::with_capacity(flows.len());
    for flow in flows {
        let own = flow.labels.iter().map(|label| {
            label.as_ref().map(|(step, at)| match step {
                Step::Call(context, outcome) => {
                    (Err(numbers[&(*context, Some(outcome.clone()))]), *at)
                }
                other => {
                    let fresh = known.len();
                    (Ok(*known.entry(other).or_insert(fresh)), *at)
                }
            })
        });
        labels.push(own.collect());
    }
    let mut classes: Vec<usize> = vec![0; variants.len()];
    let mut count = 0;
    loop {
        type Row = Vec<(Event, usize)>;
        let mut known: BTreeMap<(usize, MemberId, Vec<Row>), usize> = BTreeMap::new();
        let mut next = Vec::with_capacity(variants.len());
        for (number, variant) in variants.iter().enumerate() {
            let class = |one: Event| match one {
                Some((Err(callee), at)) => Some((Err(classes[callee]), at)),
                other => other,
            };
            let rows = flows[number].out.iter().map(|edges| {
                let edges = edges.iter().map(|&(label, to)| (class(labels[number][label]), to));
                let mut row: Row = edges.collect();
                row.sort_unstable();
                row.dedup();
                row
            });
            let key = (classes[number], model.contexts[variant.0].method, rows.collect());
            let fresh = known.len();
            next.push(*known.entry(key).or_insert(fresh));
        }
        classes = next;
        if known.len() == count {
            break;
        }
        count = known.len();
    }
    let mut first = Vec::new();
    for (number, &class) in classes.iter().enumerate() {
        if class == first.len() {
            first.push(number);
        }
    }
    for number in numbers.values_mut() {
        *number = classes[*number];
    }
    first
}
