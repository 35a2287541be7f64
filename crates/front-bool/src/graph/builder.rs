//! # Idea
//! Lays the statements of one function.

use super::{Graph, Root, Site, Step, StepKind};
use crate::ast::{Assignment, Call, Expression, File, Function, Name, Statement, StatementKind};
use crate::names::{Names, Scope};
use crate::token::quote;
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::{Diagnostic, Id, Place, Span};
use selvedge_program::{Expr, Local, LocalId, Passing, Update, Variable};
use selvedge_syntax::complaints::Complaints;
use selvedge_syntax::nearest::{nearest, suggest};

/// The graph of a function; its start sites are added to `sites`.
pub fn function<'a>(
    file: &File<'a>,
    names: &Names<'a>,
    function: &Function<'a>,
    sites: &mut Vec<Site>,
    complaints: &mut Complaints,
) -> Graph<'a> {
    let mut scope = Scope::new(names, function, complaints);
    // What is enforced holds everywhere, wherever it is written.
    scope.in_order = false;
    let enforced = function
        .enforced
        .as_ref()
        .map(|condition| scope.expression(condition, false, complaints))
        // Generated programs write `enforce T` everywhere.
        .filter(|condition| *condition != Expr::TRUE && *condition != Expr::Choice);
    scope.in_order = true;
    let first_site = sites.len();
    let mut builder = Builder {
        file,
        names,
        function,
        scope,
        sites,
        complaints,
        parents: Vec::new(),
        edges: Vec::new(),
        targets: FxHashMap::default(),
        defined: FxHashMap::default(),
        labels: Vec::new(),
        cursor: 0,
    };
    let entry = builder.node();
    let exit = builder.node();
    builder.cursor = entry;
    builder.statements(&function.body);
    if builder.root(builder.cursor) == builder.root(entry) {
        // An empty body takes a step, so that entry and exit differ.
        builder.edge(exit, StepKind::Skip, None, function.end);
    } else {
        builder.join(exit);
    }
    builder.check_targets();
    builder.finish(entry, exit, enforced, first_site)
}

struct Builder<'f, 'a> {
    file: &'f File<'a>,
    names: &'f Names<'a>,
    function: &'f Function<'a>,
    scope: Scope<'f, 'a>,
    sites: &'f mut Vec<Site>,
    complaints: &'f mut Complaints,
    /// Which nodes are the same: a forest whose roots are the nodes that count.
    parents: Vec<usize>,
    edges: Vec<Step>,
    /// The nodes of the labels that were named so far, with where each was named first.
    targets: FxHashMap<&'a str, (usize, Name<'a>)>,
    /// The labels that stand before a statement.
    defined: FxHashMap<&'a str, Span>,
    labels: Vec<(Name<'a>, usize)>,
    cursor: usize,
}

impl<'a> Builder<'_, 'a> {
    fn node(&mut self) -> usize {
        self.parents.push(self.parents.len());
        self.parents.len() - 1
    }

    fn root(&mut self, mut node: usize) -> usize {
        while self.parents[node] != node {
            let above = self.parents[self.parents[node]];
            self.parents[node] = above;
            node = above;
        }
        node
    }

    /// Makes the cursor the same node as `other` and leaves it for a new node.
    fn join(&mut self, other: usize) {
        let (cursor, other) = (self.root(self.cursor), self.root(other));
        // The older node stays, so that nodes keep the order of the source.
        self.parents[cursor.max(other)] = cursor.min(other);
        self.cursor = self.node();
    }

    /// An edge from the cursor to a node.
    fn edge(&mut self, target: usize, kind: StepKind, update: Option<Update>, place: Place) {
        self.edges.push(Step { source: self.cursor, target, kind, update, place });
    }

    /// A step from the cursor to a new one.
    fn step(&mut self, kind: StepKind, update: Option<Update>, place: Place) {
        let next = self.node();
        self.edge(next, kind, update, place);
        self.cursor = next;
    }

    /// A step behind which nothing follows.
    fn last_step(&mut self, target: usize, kind: StepKind, place: Place) {
        self.edge(target, kind, None, place);
        self.cursor = self.node();
    }

    fn statements(&mut self, statements: &[Statement<'a>]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement<'a>) {
        let place = statement.place;
        let labelled = !statement.labels.is_empty();
        self.define(&statement.labels);
        match &statement.kind {
            StatementKind::Empty => {
                if labelled {
                    self.step(StepKind::Skip, None, place);
                }
            }
            StatementKind::Skip => self.step(StepKind::Skip, None, place),
            StatementKind::Goto(targets) => self.goto(targets, labelled, place),
            StatementKind::If(branches, otherwise) => {
                let end = self.node();
                for branch in branches {
                    let condition = self.value(&branch.condition);
                    let (inside, next) = (self.node(), self.node());
                    self.branch(inside, condition.clone(), branch.place);
                    self.branch(next, negated(condition), branch.place);
                    self.cursor = inside;
                    self.statements(&branch.body);
                    self.join(end);
                    self.cursor = next;
                }
                self.statements(otherwise);
                self.join(end);
                self.cursor = end;
            }
            StatementKind::While(condition, body) => {
                let head = self.cursor;
                let condition = self.value(condition);
                let (inside, next) = (self.node(), self.node());
                self.branch(inside, condition.clone(), place);
                self.branch(next, negated(condition), place);
                self.cursor = inside;
                self.statements(body);
                self.join(head);
                self.cursor = next;
            }
            StatementKind::Return(values) => {
                let values: Vec<Expr> = values.iter().map(|value| self.value(value)).collect();
                let expected = self.function.results.unwrap_or(0) as usize;
                if values.len() != expected {
                    let given = self.function.name;
                    self.wrong_number(statement.span, given, "returns", values.len(), expected);
                }
                self.last_step(1, StepKind::Return(values), place);
            }
            StatementKind::Assign(assignment) => self.assign(assignment, statement.span, place),
            StatementKind::Call(call) => self.call(call, place),
            StatementKind::Assert(condition) => {
                let condition = self.value(condition);
                self.step(StepKind::Assert(condition), None, place);
            }
            StatementKind::Assume(condition) => {
                let condition = self.value(condition);
                self.step(StepKind::Skip, guard(condition), place);
            }
            StatementKind::Dead(names) => {
                let targets = self.targets(names);
                let assignments =
                    targets.into_iter().flatten().map(|target| (target, Expr::Choice)).collect();
                let update = Update { assignments, ..Update::default() };
                self.step(StepKind::Skip, Some(update), place);
            }
            StatementKind::Start(started) => self.start(started, statement.span, place),
            StatementKind::EndThread => {
                let end = self.node();
                self.last_step(end, StepKind::Skip, place);
            }
            StatementKind::Sync => {
                let message = "`sync` is not supported: its meaning is not known";
                self.complaints.push(
                    Diagnostic::error("unsupported-sync", message, statement.span, "not supported")
                        .with_help("wait with `assume` on a global instead"),
                );
            }
            StatementKind::AtomicBegin => self.step(StepKind::BeginAtomic, None, place),
            StatementKind::AtomicEnd => self.step(StepKind::EndAtomic, None, place),
        }
    }

    /// Puts labels at the cursor.
    fn define(&mut self, labels: &[Name<'a>]) {
        let Some(&first) = labels.first() else { return };
        let here = self.target(first);
        self.join(here);
        self.cursor = here;
        for &label in labels {
            let before = self.defined.get(label.text).copied();
            match before {
                // Generated programs repeat a label at one statement.
                Some(before) if before.start >= first.span.start => continue,
                Some(before) => {
                    let message =
                        format!("the label {} stands at two statements", quote(label.text));
                    self.complaints.push(
                        Diagnostic::error("duplicate-label", message, label.span, "again")
                            .with_label(before, "first here")
                            .with_help("rename one of them"),
                    );
                    continue;
                }
                None => {}
            }
            self.defined.insert(label.text, label.span);
            let other = self.target(label);
            let (here, other) = (self.root(self.cursor), self.root(other));
            self.parents[here.max(other)] = here.min(other);
            self.labels.push((label, here));
        }
    }

    /// The node of a label.
    fn target(&mut self, name: Name<'a>) -> usize {
        if let Some(&(node, _)) = self.targets.get(name.text) {
            return node;
        }
        let node = self.node();
        self.targets.insert(name.text, (node, name));
        node
    }

    /// Reports jumps to labels that do not exist.
    fn check_targets(&mut self) {
        let missing = self.targets.iter().filter(|(text, _)| !self.defined.contains_key(*text));
        let mut missing: Vec<Name<'a>> = missing.map(|(_, &(_, name))| name).collect();
        missing.retain(|name| !name.is_odd());
        missing.sort_by_key(|name| name.span.start);
        for name in missing {
            let what = quote(self.function.name.text);
            let message = format!("there is no label {} in {what}", quote(name.text));
            let diagnostic =
                Diagnostic::error("unknown-label", message, name.span, "unknown label");
            let meant = if self.complaints.is_full() {
                None
            } else {
                nearest(name.text, self.labels.iter().map(|(label, _)| label.text))
            };
            self.complaints.push(match meant {
                Some(meant) => suggest(diagnostic, meant),
                None => diagnostic,
            });
        }
    }

    fn goto(&mut self, targets: &[Name<'a>], labelled: bool, place: Place) {
        if let ([target], false) = (targets, labelled) {
            let node = self.target(*target);
            self.join(node);
            return;
        }
        let mut seen = FxHashSet::default();
        for &target in targets.iter().filter(|target| seen.insert(target.text)) {
            let node = self.target(target);
            self.edge(node, StepKind::Skip, None, place);
        }
        self.cursor = self.node();
    }

    /// An edge that is taken if a condition can be true.
    fn branch(&mut self, target: usize, condition: Expr, place: Place) {
        if condition != Expr::FALSE {
            self.edge(target, StepKind::Skip, guard(condition), place);
        }
    }

    fn value(&mut self, expression: &Expression<'a>) -> Expr {
        self.scope.expression(expression, false, self.complaints)
    }

    /// The variables of these names, `None` for `_`; reports those that occur twice.
    fn targets(&mut self, names: &[Name<'a>]) -> Vec<Option<Variable>> {
        let mut seen = FxHashSet::default();
        let mut targets = Vec::new();
        for &name in names {
            if name.text == "_" {
                targets.push(None);
                continue;
            }
            let Some(variable) = self.scope.variable(name, self.complaints) else {
                targets.push(None);
                continue;
            };
            if seen.insert(variable) {
                targets.push(Some(variable));
            } else {
                let message = format!("{} gets two values at once", quote(name.text));
                self.complaints.push(Diagnostic::error(
                    "assigned-twice",
                    message,
                    name.span,
                    "assigned again",
                ));
                targets.push(None);
            }
        }
        targets
    }

    fn assign(&mut self, assignment: &Assignment<'a>, span: Span, place: Place) {
        let targets = self.targets(&assignment.targets);
        let values: Vec<Expr> = assignment.values.iter().map(|value| self.value(value)).collect();
        if targets.len() != values.len() {
            let message = format!(
                "{} and {} do not go together",
                count(targets.len(), "variable"),
                count(values.len(), "value")
            );
            let last = assignment.targets.last().map_or(span, |name| name.span);
            self.complaints.push(Diagnostic::error(
                "wrong-number-of-values",
                message,
                span.to(last),
                "as many values are needed",
            ));
        }
        let constraint = assignment
            .constraint
            .as_ref()
            .map(|constraint| self.scope.expression(constraint, true, self.complaints));
        let assignments = targets
            .into_iter()
            .zip(values)
            .filter_map(|(target, value)| Some((target?, value)))
            .collect();
        let update = Update { guard: None, assignments, constraint };
        self.step(StepKind::Skip, (update != Update::default()).then_some(update), place);
    }

    fn call(&mut self, call: &Call<'a>, place: Place) {
        if let Some((callee, arguments)) = self.callee(call) {
            let mut results = self.targets(&call.targets);
            let expected = self.file.functions[callee].results.unwrap_or(0) as usize;
            if call.targets.is_empty() {
                results = vec![None; expected];
            } else if results.len() != expected {
                let callee = self.file.functions[callee].name;
                self.wrong_number(call.function.span, callee, "returns", results.len(), expected);
            }
            let passing = Passing { arguments, results };
            self.step(StepKind::Call(callee, passing), None, place);
        }
    }

    /// The function that is called, and its arguments.
    fn callee(&mut self, call: &Call<'a>) -> Option<(usize, Vec<Expr>)> {
        let arguments: Vec<Expr> = call.arguments.iter().map(|value| self.value(value)).collect();
        let callee = self.names.function(call.function, self.complaints)?;
        let expected = self.file.functions[callee].parameters.len();
        if arguments.len() != expected {
            let name = self.file.functions[callee].name;
            self.wrong_number(call.function.span, name, "takes", arguments.len(), expected);
        }
        Some((callee, arguments))
    }

    fn wrong_number(
        &mut self,
        span: Span,
        function: Name<'a>,
        verb: &str,
        found: usize,
        expected: usize,
    ) {
        let name = quote(function.text);
        let wanted = count(expected, if verb == "takes" { "argument" } else { "value" });
        let message = format!("{name} {verb} {wanted}, not {found}");
        self.complaints.push(
            Diagnostic::error("wrong-number-of-values", message, span, format!("{found} here"))
                .with_label(function.span, "declared here"),
        );
    }

    /// `start_thread s`.
    fn start(&mut self, started: &Statement<'a>, span: Span, place: Place) {
        let site = match &started.kind {
            StatementKind::Call(call) if call.targets.is_empty() => {
                let Some((callee, arguments)) = self.callee(call) else { return };
                Site { span, place, root: Root::Function(callee), arguments }
            }
            _ => {
                let copies = self.function.parameters.len() + self.function.locals.len();
                let arguments = (0..copies)
                    .map(|at| Expr::Current(Variable::Local(LocalId::from_index(at))))
                    .collect();
                let after = self.cursor;
                let name = match &started.kind {
                    StatementKind::Goto(targets) if targets.len() == 1 => {
                        targets[0].text.to_owned()
                    }
                    _ => started.place.to_string(),
                };
                let name = format!("{}@{name}", self.function.name.text);
                let root = self.node();
                self.cursor = root;
                self.statement(started);
                self.join(1);
                self.cursor = after;
                let function = self.names.functions[self.function.name.text];
                Site { span, place, root: Root::Inside(function, root, name), arguments }
            }
        };
        self.sites.push(site);
        self.step(StepKind::Start(self.sites.len() - 1), None, place);
    }

    /// The graph, with the nodes numbered anew.
    fn finish(
        mut self,
        entry: usize,
        exit: usize,
        enforced: Option<Expr>,
        first_site: usize,
    ) -> Graph<'a> {
        let mut numbers = vec![usize::MAX; self.parents.len()];
        let mut nodes = 0;
        for node in 0..self.parents.len() {
            let root = self.root(node);
            if numbers[root] == usize::MAX {
                numbers[root] = nodes;
                nodes += 1;
            }
            numbers[node] = numbers[root];
        }
        for edge in &mut self.edges {
            edge.source = numbers[edge.source];
            edge.target = numbers[edge.target];
        }
        for site in &mut self.sites[first_site..] {
            if let Root::Inside(_, node, _) = &mut site.root {
                *node = numbers[*node];
            }
        }
        for (_, node) in &mut self.labels {
            *node = numbers[*node];
        }
        let function = self.function;
        let locals = function.parameters.iter().chain(&function.locals);
        Graph {
            name: function.name,
            locals: locals.map(|name| Local::flag(name.text.to_owned(), name.place)).collect(),
            parameters: function.parameters.len(),
            results: function.results.map(|results| results as usize),
            enforced,
            nodes,
            entry: numbers[entry],
            exit: numbers[exit],
            edges: self.edges,
            labels: self.labels,
            end: function.end,
        }
    }
}

/// The update that only asks for a condition.
fn guard(condition: Expr) -> Option<Update> {
    // `*` can always be true.
    let asks = !matches!(condition, Expr::TRUE | Expr::Choice);
    asks.then(|| Update { guard: Some(condition), ..Update::default() })
}

/// The negation, without two signs in a row.
fn negated(condition: Expr) -> Expr {
    match condition {
        Expr::TRUE => Expr::FALSE,
        Expr::FALSE => Expr::TRUE,
        Expr::Choice => Expr::Choice,
        Expr::Not(inner) => *inner,
        other => other.not(),
    }
}

fn count(number: usize, what: &str) -> String {
    match number {
        1 => format!("one {what}"),
        _ => format!("{number} {what}s"),
    }
}
