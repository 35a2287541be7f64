//! # Idea
//! Which threads a program has. In Boppo's dialect: `main`, then one for every start of every start
//! site, in the order of the sites in the source. In GETAFIX's: `init`, then one for every other
//! `void` function, all started when `init` ends.
//!
//! # Source
//! The grammar notes. A GETAFIX program without `init` is sequential and runs `main`.
//!
//! # Invariants
//! 1. Threads of one site can be told apart by their names only, so each waits for the one before
//!    it to be started: this loses no run up to renaming.

use crate::Options;
use crate::dialect::Dialect;
use crate::emit::Plan;
use crate::graph::{Graphs, Root};
use crate::names::Names;
use crate::starts::{THREAD_LIMIT, called, pools};
use crate::token::quote;
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::{Diagnostic, Id, Severity};
use selvedge_program::{Start, ThreadId};
use selvedge_syntax::complaints::Complaints;

/// The threads of a program.
pub struct Threads {
    pub plans: Vec<Plan>,
    /// The threads of each start site.
    pub instances: Vec<Vec<ThreadId>>,
    /// How many threads the sites got that could start any number.
    pub limited: Option<u32>,
}

/// The dialect in which a program is read.
pub struct Reading<'w> {
    pub dialect: Dialect,
    /// Why it is this one, if it was found out.
    pub why: Option<&'w str>,
}

impl Reading<'_> {
    /// How the program could be read otherwise, to be put behind a help; empty if it was asked to be
    /// read like this.
    fn remark(&self) -> String {
        let (name, other) = match self.dialect {
            Dialect::Boppo => ("Boppo", Dialect::Getafix),
            Dialect::Getafix => ("GETAFIX", Dialect::Boppo),
        };
        self.why.map_or_else(String::new, |why| {
            format!("; the dialect is taken to be that of {name}, because {why}: if it is not, say `--dialect {other}`")
        })
    }
}

/// The threads of a program; `None` if it cannot run.
pub fn threads<'a>(
    graphs: &Graphs<'a>,
    names: &Names<'a>,
    dialect: &Reading<'_>,
    options: &Options,
    complaints: &mut Complaints,
) -> Option<Threads> {
    let init = names.functions.get("init").copied();
    if dialect.dialect == Dialect::Getafix {
        refuse_starts(graphs, dialect, complaints);
    }
    match (dialect.dialect, init) {
        (Dialect::Getafix, Some(init)) => getafix(graphs, init, dialect, complaints),
        _ => boppo(graphs, names, dialect, options, complaints),
    }
}

fn boppo<'a>(
    graphs: &Graphs<'a>,
    names: &Names<'a>,
    dialect: &Reading<'_>,
    options: &Options,
    complaints: &mut Complaints,
) -> Option<Threads> {
    let Some(&main) = names.functions.get("main") else {
        complaints.push(missing_main(names, dialect));
        return None;
    };
    let limit = options.starts_per_site;
    let Some(pools) = pools(graphs, main, limit.unwrap_or(0) as usize) else {
        complaints.push(too_many_threads());
        return None;
    };
    if limit.is_none() {
        for &site in &pools.unbounded {
            let message = "threads may be started here without bound";
            let remark = "in a loop, in recursion, or started by what it starts";
            complaints.push(
                Diagnostic::error("unbounded-starts", message, graphs.sites[site].span, remark)
                    .with_help("`--starts-per-site N` allows at most N starts here"),
            );
        }
    }
    let total = 1 + pools.sizes.iter().sum::<usize>();
    if total > THREAD_LIMIT {
        complaints.push(too_many_threads());
    }
    if complaints.has_errors() {
        return None;
    }
    let mut used = Used::default();
    let mut plans = vec![Plan {
        name: used.unique("main"),
        place: graphs.functions[main].name.place,
        root: Root::Function(main),
        start: Start::AtFirst,
        at_end: Vec::new(),
    }];
    let mut instances = Vec::new();
    for (site, &size) in graphs.sites.iter().zip(&pools.sizes) {
        let mut own: Vec<ThreadId> = Vec::new();
        for _ in 0..size {
            let after = own.last().copied();
            own.push(ThreadId::from_index(plans.len()));
            plans.push(Plan {
                name: used.unique(root_name(graphs, &site.root)),
                place: site.place,
                root: site.root.clone(),
                start: Start::ByEdge { after },
                at_end: Vec::new(),
            });
        }
        instances.push(own);
    }
    let limited = if pools.unbounded.is_empty() { None } else { limit };
    Some(Threads { plans, instances, limited })
}

fn too_many_threads() -> Diagnostic {
    let message = format!("the program has more than {THREAD_LIMIT} threads");
    Diagnostic::global("too-many-threads", Severity::Error, message)
}

fn root_name<'g>(graphs: &'g Graphs<'_>, root: &'g Root) -> &'g str {
    match root {
        Root::Function(function) => graphs.functions[*function].name.text,
        Root::Inside(_, _, name) => name,
    }
}

fn missing_main(names: &Names<'_>, reading: &Reading<'_>) -> Diagnostic {
    let dialect = reading.dialect;
    let message = match dialect {
        Dialect::Boppo => "there is no function `main`",
        Dialect::Getafix => "there is neither a function `init` nor a function `main`",
    };
    let missing = Diagnostic::global("missing-main", Severity::Error, message);
    if let Some(near) = names.near_function("main") {
        let near_name = quote(near.text);
        return missing
            .with_help(format!("a program starts in `main`; did you mean `main` by {near_name}?"))
            .with_replacement(near.span, "main");
    }
    let help = match dialect {
        Dialect::Boppo => "write `void main() begin .. end`",
        Dialect::Getafix => {
            "`init` runs first, then every other `void` function is a thread; a sequential program \
             runs `main`"
        }
    };
    missing.with_help(help.to_owned() + &reading.remark())
}

/// The dialect has no statements that start threads.
fn refuse_starts(graphs: &Graphs<'_>, reading: &Reading<'_>, complaints: &mut Complaints) {
    if let Some(site) = graphs.sites.first() {
        complaints.push(
            Diagnostic::error(
                "not-in-dialect",
                "statements start no threads in the GETAFIX dialect",
                site.span,
                "a start",
            )
            .with_help(match reading.why {
                Some(_) => "every `void` function is a thread".to_owned() + &reading.remark(),
                None => "every `void` function is a thread; or say `--dialect boppo`".to_owned(),
            }),
        );
    }
}

fn getafix(
    graphs: &Graphs<'_>,
    init: usize,
    reading: &Reading<'_>,
    complaints: &mut Complaints,
) -> Option<Threads> {
    let void = |function: usize| function != init && graphs.functions[function].results.is_none();
    let mut called_functions: FxHashSet<usize> = FxHashSet::default();
    for graph in &graphs.functions {
        called_functions.extend(called(graph, graph.entry));
    }
    if called_functions.contains(&init) {
        let span = graphs.functions[init].name.span;
        complaints.push(
            Diagnostic::error(
                "called-init",
                "`init` is called",
                span,
                "runs once, before all others",
            )
            .with_help(
                "move what is called to a function of its own".to_owned() + &reading.remark(),
            ),
        );
    }
    let roots: Vec<usize> = (0..graphs.functions.len()).filter(|&one| void(one)).collect();
    for &function in roots.iter().filter(|function| called_functions.contains(function)) {
        let name = graphs.functions[function].name;
        let message = format!("{} is called, and it is a thread as well", quote(name.text));
        let remark = "every `void` function beside `init` is a thread";
        complaints.push(
            Diagnostic::error("called-thread", message, name.span, remark)
                .with_severity(Severity::Warning)
                .with_help("a function that returns a value is none: `bool f() ..`"),
        );
    }
    if roots.len() >= THREAD_LIMIT {
        complaints.push(too_many_threads());
    }
    if complaints.has_errors() {
        return None;
    }
    let mut used = Used::default();
    let mut plan = |function: usize, start: Start| Plan {
        name: used.unique(graphs.functions[function].name.text),
        place: graphs.functions[function].name.place,
        root: Root::Function(function),
        start,
        at_end: Vec::new(),
    };
    let mut plans = vec![plan(init, Start::AtFirst)];
    for &function in &roots {
        let thread = ThreadId::from_index(plans.len());
        plans[0].at_end.push((thread, graphs.functions[function].parameters));
        plans.push(plan(function, Start::ByEdge { after: None }));
    }
    Some(Threads { plans, instances: vec![Vec::new(); graphs.sites.len()], limited: None })
}

/// Warns of functions that no thread runs; returns the labels that stand in them.
pub fn unused<'a>(
    graphs: &Graphs<'a>,
    plans: &[Plan],
    complaints: &mut Complaints,
) -> Vec<&'a str> {
    let mut used = vec![false; graphs.functions.len()];
    let mut seen: FxHashSet<(usize, usize)> = FxHashSet::default();
    for plan in plans {
        let function = plan.root.function();
        let node = match plan.root {
            Root::Function(function) => graphs.functions[function].entry,
            Root::Inside(_, node, _) => node,
        };
        if seen.insert((function, node)) {
            used[function] = true;
            for function in crate::emit::functions_of(graphs, &plan.root) {
                used[function] = true;
            }
        }
    }
    let mut labels = Vec::new();
    for (graph, _) in graphs.functions.iter().zip(&used).filter(|(_, used)| !**used) {
        let message = format!("{} is never called", quote(graph.name.text));
        complaints.push(
            Diagnostic::error("unused-function", message, graph.name.span, "never called")
                .with_severity(Severity::Warning),
        );
        labels.extend(graph.labels.iter().map(|(label, _)| label.text));
    }
    labels
}

/// Names that were given away.
#[derive(Default)]
struct Used {
    names: FxHashSet<String>,
    counts: FxHashMap<String, usize>,
}

impl Used {
    fn unique(&mut self, name: &str) -> String {
        let count = self.counts.entry(name.to_owned()).or_insert(0);
        loop {
            *count += 1;
            let tried = if *count == 1 { name.to_owned() } else { format!("{name}#{count}") };
            if self.names.insert(tried.clone()) {
                return tried;
            }
        }
    }
}
