//! # Idea
//! How often can each start site be executed? For every procedure, the most often that a site is
//! executed in one activation is the heaviest path through its graph, where a call weighs what its
//! callee does. Summed over the threads this gives the number of threads that the site needs.
//!
//! # Requires
//! Graphs without errors.
//!
//! # Invariants
//! 1. A number is never too small: branches that exclude each other because of data are not told
//!    apart, and everything in a loop or in recursion counts as any number.

use crate::components::{Components, components};
use crate::graph::{Graph, Graphs, Root, StepKind};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// The most threads that a program may have.
pub const THREAD_LIMIT: usize = 1024;

/// How often something is executed at most.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Times {
    /// This often. Numbers beyond [`THREAD_LIMIT`] need not be exact.
    AtMost(usize),
    /// Without bound.
    Any,
}

impl Times {
    fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::AtMost(one), Self::AtMost(two)) => {
                Self::AtMost(one.saturating_add(two).min(THREAD_LIMIT + 1))
            }
            _ => Self::Any,
        }
    }

    fn times(self, factor: usize) -> Self {
        match self {
            Self::AtMost(number) => {
                Self::AtMost(number.saturating_mul(factor).min(THREAD_LIMIT + 1))
            }
            Self::Any => Self::Any,
        }
    }
}

/// The number of threads of each site.
pub struct Pools {
    /// How many threads each site gets.
    pub sizes: Vec<usize>,
    /// The sites that can be executed any number of times.
    pub unbounded: Vec<usize>,
}

/// The number of threads that each site needs if `main` runs; sites without a bound get
/// `per_site`. `None` if there are more sites than there may be threads.
pub fn pools(graphs: &Graphs<'_>, main: usize, per_site: usize) -> Option<Pools> {
    let sites = graphs.sites.len();
    let (running, executed) = running(graphs, main)?;
    let weights = Weights::new(graphs, &running);
    // Root 0 is main, root `s + 1` is what site `s` starts.
    let mut started: Vec<Vec<(usize, Times)>> = vec![weights.of(&Root::Function(main), graphs)];
    for (at, site) in graphs.sites.iter().enumerate() {
        let counts = executed.contains(&at);
        started.push(if counts { weights.of(&site.root, graphs) } else { Vec::new() });
    }
    let successors: Vec<Vec<usize>> =
        started.iter().map(|sites| sites.iter().map(|&(site, _)| site + 1).collect()).collect();
    let Components { of, count } = components(&successors);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (root, &component) in of.iter().enumerate() {
        members[component].push(root);
    }
    let mut needed = vec![Times::AtMost(0); sites + 1];
    needed[0] = Times::AtMost(1);
    let mut pools = Pools { sizes: vec![0; sites], unbounded: Vec::new() };
    // Roots from which others are started come last in the numbering.
    for component in members.iter().rev() {
        for &root in component {
            let cyclic = component.len() > 1 || successors[root].contains(&root);
            let reached = needed[root] != Times::AtMost(0);
            if cyclic && component.iter().any(|&one| needed[one] != Times::AtMost(0)) {
                needed[root] = Times::Any;
            } else if !reached {
                continue;
            }
            let own = match needed[root] {
                Times::AtMost(number) => number,
                Times::Any => {
                    pools.unbounded.push(root - 1);
                    per_site
                }
            };
            if root > 0 {
                pools.sizes[root - 1] = own;
            }
            for &(site, times) in &started[root] {
                if of[site + 1] != of[root] {
                    needed[site + 1] = needed[site + 1].plus(times.times(own));
                }
            }
        }
    }
    pools.unbounded.sort_unstable();
    Some(pools)
}

/// Which functions and start sites some thread may run if `main` does; `None` if there are too many
/// sites, since each needs a thread at least.
fn running(graphs: &Graphs<'_>, main: usize) -> Option<(Vec<bool>, BTreeSet<usize>)> {
    let mut running = vec![false; graphs.functions.len()];
    let mut sites: BTreeSet<usize> = BTreeSet::new();
    let mut open = vec![Root::Function(main)];
    while let Some(root) = open.pop() {
        let graph = &graphs.functions[root.function()];
        let entry = match root {
            Root::Function(function) if running[function] => continue,
            Root::Function(function) => {
                running[function] = true;
                graph.entry
            }
            Root::Inside(_, node, _) => node,
        };
        let reachable = reachable(graph, entry);
        for edge in graph.edges.iter().filter(|edge| reachable[edge.source]) {
            match edge.kind {
                StepKind::Call(callee, _) => open.push(Root::Function(callee)),
                StepKind::Start(site) if sites.insert(site) => {
                    if sites.len() >= THREAD_LIMIT {
                        return None;
                    }
                    open.push(graphs.sites[site].root.clone());
                }
                _ => {}
            }
        }
    }
    Some((running, sites))
}

/// How often one activation of each function executes each site, in ascending order of the sites.
struct Weights {
    functions: Vec<Vec<(usize, Times)>>,
}

impl Weights {
    /// The weights of these functions; others count for nothing.
    fn new(graphs: &Graphs<'_>, wanted: &[bool]) -> Self {
        let callees: Vec<Vec<usize>> = graphs
            .functions
            .iter()
            .zip(wanted)
            .map(|(graph, wanted)| if *wanted { called(graph, graph.entry) } else { Vec::new() })
            .collect();
        let Components { of, count } = components(&callees);
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (function, &component) in of.iter().enumerate() {
            members[component].push(function);
        }
        let mut weights = Self { functions: vec![Vec::new(); graphs.functions.len()] };
        for component in members.iter().filter(|members| wanted[members[0]]) {
            let recursive =
                component.len() > 1 || component.iter().any(|one| callees[*one].contains(one));
            if !recursive {
                let function = component[0];
                let graph = &graphs.functions[function];
                weights.functions[function] = weights.of_graph(graph, graph.entry);
                continue;
            }
            let mut sites: BTreeMap<usize, Times> = BTreeMap::new();
            for &function in component {
                let graph = &graphs.functions[function];
                for (site, _) in weights.of_graph(graph, graph.entry) {
                    sites.insert(site, Times::Any);
                }
            }
            let sites: Vec<(usize, Times)> = sites.into_iter().collect();
            for &function in component {
                weights.functions[function].clone_from(&sites);
            }
        }
        weights
    }

    fn of(&self, root: &Root, graphs: &Graphs<'_>) -> Vec<(usize, Times)> {
        match root {
            Root::Function(function) => self.functions[*function].clone(),
            Root::Inside(function, node, _) => self.of_graph(&graphs.functions[*function], *node),
        }
    }

    /// The heaviest paths of a graph from a node, for every site.
    fn of_graph(&self, graph: &Graph<'_>, entry: usize) -> Vec<(usize, Times)> {
        let reachable = reachable(graph, entry);
        let mut sites: BTreeMap<usize, Vec<(usize, Times)>> = BTreeMap::new();
        for (at, edge) in graph.edges.iter().enumerate().filter(|(_, edge)| reachable[edge.source])
        {
            match &edge.kind {
                StepKind::Start(site) => {
                    sites.entry(*site).or_default().push((at, Times::AtMost(1)));
                }
                StepKind::Call(callee, _) => {
                    for &(site, times) in &self.functions[*callee] {
                        sites.entry(site).or_default().push((at, times));
                    }
                }
                _ => {}
            }
        }
        if sites.is_empty() {
            return Vec::new();
        }
        let mut successors = vec![Vec::new(); graph.nodes];
        for edge in &graph.edges {
            successors[edge.source].push(edge.target);
        }
        let Components { of, count } = components(&successors);
        let mut leaving: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (at, edge) in graph.edges.iter().enumerate() {
            leaving[of[edge.source]].push(at);
        }
        let mut weights = Vec::new();
        for (site, weighted) in sites {
            let own: FxHashMap<usize, Times> = weighted.into_iter().collect();
            let mut heaviest = vec![Times::AtMost(0); count];
            for component in 0..count {
                let mut weight = Times::AtMost(0);
                for &at in &leaving[component] {
                    let target = of[graph.edges[at].target];
                    let own = own.get(&at).copied();
                    weight = weight.max(match (target == component, own) {
                        (true, Some(_)) => Times::Any,
                        (true, None) => Times::AtMost(0),
                        (false, own) => heaviest[target].plus(own.unwrap_or(Times::AtMost(0))),
                    });
                }
                heaviest[component] = weight;
            }
            weights.push((site, heaviest[of[entry]]));
        }
        weights
    }
}

/// The functions that are called from a node of a graph on.
pub fn called(graph: &Graph<'_>, entry: usize) -> Vec<usize> {
    let reachable = reachable(graph, entry);
    let mut callees: Vec<usize> = graph
        .edges
        .iter()
        .filter(|edge| reachable[edge.source])
        .filter_map(
            |edge| if let StepKind::Call(callee, _) = edge.kind { Some(callee) } else { None },
        )
        .collect();
    callees.sort_unstable();
    callees.dedup();
    callees
}

/// The nodes that can be reached from a node of a graph.
pub fn reachable(graph: &Graph<'_>, entry: usize) -> Vec<bool> {
    let mut starts = vec![0usize; graph.nodes + 1];
    for edge in &graph.edges {
        starts[edge.source + 1] += 1;
    }
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    let mut next = starts.clone();
    let mut targets = vec![0; graph.edges.len()];
    for edge in &graph.edges {
        targets[next[edge.source]] = edge.target;
        next[edge.source] += 1;
    }
    let mut reached = vec![false; graph.nodes];
    reached[entry] = true;
    let mut open = vec![entry];
    while let Some(node) = open.pop() {
        for &target in &targets[starts[node]..starts[node + 1]] {
            if !reached[target] {
                reached[target] = true;
                open.push(target);
            }
        }
    }
    reached
}
