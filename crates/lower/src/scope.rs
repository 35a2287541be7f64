//! # Idea
//! Within one procedure, every node lies inside a fixed stack of open lock and unit scopes: the
//! acquisitions and unit beginnings between the entry and the node that were not closed yet. A procedure may
//! also release locks that its callers took, and return with locks that they will release: then the stack
//! says which of the callers' scopes are closed, and what a call does to the stack of its caller is the stack
//! at the exit of the callee. If all paths to a node agree on that stack and scopes are closed inside-out, the
//! program is well nested.
//!
//! # Source
//! Paper 000 §3.1 assumes locks "in synchrony with push and pop rules"; paper 004 §1 models blocks
//! as inlined calls; paper 003 §2 asks for less, last in, first out along the computation (its Fig. 1). Here
//! the weaker assumption is checked, on control-flow graphs. Deviation: units of work stay within their
//! procedure, paths that meet have the same locks open, and a thread ends with none.
//!
//! # Invariants
//! 1. Scope stacks are interned: equal stacks have equal ids. To acquire again what was released of the
//!    callers last is to be back at the stack before.
//! 2. Which scopes the callers have open is not known here; whoever knows has to compare
//!    ([`crate::thread`]).

use rustc_hash::FxHashMap;
use selvedge_base::{IdVec, Place, define_id};
use selvedge_program::{Action, Edge, EdgeId, LockId, NodeId, ProcedureId, Program, Successors};
use std::fmt;

define_id!(
    /// A stack of open scopes.
    ScopeId
);

/// So many scopes of its callers a procedure may close.
const DEEPEST: usize = 64;

/// One open scope.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scope {
    /// A lock was acquired.
    Lock(LockId),
    /// A unit of work was begun.
    Unit,
}

/// A stack of scopes, seen from the entry of the procedure.
#[derive(Clone, PartialEq, Eq, Debug)]
enum ScopeStack {
    /// What the callers have open, without these, the innermost of them first.
    Callers(Vec<Scope>),
    /// One more scope that the procedure has opened.
    Opened(ScopeId, Scope),
}

/// The scope stacks of all nodes.
#[derive(Clone, Debug)]
pub struct Scopes {
    /// The stack at each node; `None` for nodes that their procedure's entry does not reach.
    of_node: IdVec<NodeId, Option<ScopeId>>,
    stacks: IdVec<ScopeId, ScopeStack>,
    /// How many scopes of its callers each procedure closes at most, at once, itself or in calls.
    depths: IdVec<ProcedureId, usize>,
}

/// The program does not nest its locks and units.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotNested {
    /// Where, if that is known: `12:3`, or `A.java:12:3`.
    pub at: Option<String>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for NotNested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            Some(at) => write!(f, "{at}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl Scopes {
    /// The scope stacks of a valid program.
    ///
    /// # Errors
    /// If it is not well nested.
    pub fn new(program: &Program, successors: &Successors) -> Result<Self, NotNested> {
        let mut build = Build {
            program,
            successors,
            scopes: Self {
                of_node: IdVec::filled(None, program.nodes.len()),
                stacks: IdVec::from_vec(vec![ScopeStack::Callers(Vec::new())]),
                depths: IdVec::filled(0, program.procedures.len()),
            },
            opened: FxHashMap::default(),
            closed: FxHashMap::default(),
            waiting: IdVec::filled(Vec::new(), program.procedures.len()),
            assumed: IdVec::filled(false, program.procedures.len()),
            pending: Vec::new(),
            resumed: Vec::new(),
        };
        for procedure in reachable(program) {
            let place = program.procedures[procedure].place;
            build.reach(program.procedures[procedure].entry, EMPTY, place)?;
            build.run()?;
        }
        // What follows a call that never returns is never executed; there the call changes nothing.
        for procedure in reachable(program) {
            let exit = program.procedures[procedure].exit;
            build.assumed[procedure] = build.scopes.of_node[exit].is_none();
        }
        for procedure in reachable(program) {
            for call in std::mem::take(&mut build.waiting[procedure]) {
                build.follow(call)?;
                build.run()?;
            }
        }
        let mut scopes = build.scopes;
        let closes =
            |stack: &ScopeStack| matches!(stack, ScopeStack::Callers(closed) if !closed.is_empty());
        if scopes.stacks.iter().any(closes) {
            scopes.measure(program, successors)?;
        }
        for thread in &program.threads {
            let main = &program.procedures[thread.main];
            if let Some(edge) = (scopes.depths[thread.main] > 0)
                .then(|| scopes.first_below(program, successors, thread.main))
                .flatten()
            {
                return Err(below(program, edge));
            }
            if scopes.of_node[main.exit].is_some_and(|stack| stack != EMPTY) {
                return Err(left_open(program, thread.main));
            }
        }
        Ok(scopes)
    }

    /// The scopes that its procedure has opened and not closed at `node`, innermost first; none for
    /// unreachable nodes.
    pub fn at(&self, node: NodeId) -> impl Iterator<Item = Scope> {
        let mut stack = self.of_node[node];
        std::iter::from_fn(move || match self.stacks[stack?] {
            ScopeStack::Callers(_) => None,
            ScopeStack::Opened(rest, scope) => {
                stack = Some(rest);
                Some(scope)
            }
        })
    }

    /// How many scopes of the callers are closed at `node`.
    pub fn closed_at(&self, node: NodeId) -> usize {
        self.of_node[node].map_or(0, |stack| self.parts(stack).0.len())
    }

    /// How many scopes of its callers a procedure closes at most, at once, itself or in calls.
    pub fn depth(&self, procedure: ProcedureId) -> usize {
        self.depths[procedure]
    }

    /// The scopes of the callers that are closed, innermost first, and those that were opened, outermost
    /// first.
    fn parts(&self, mut stack: ScopeId) -> (&[Scope], Vec<Scope>) {
        let mut opened = Vec::new();
        loop {
            match &self.stacks[stack] {
                ScopeStack::Callers(closed) => {
                    opened.reverse();
                    return (closed, opened);
                }
                ScopeStack::Opened(rest, scope) => {
                    opened.push(*scope);
                    stack = *rest;
                }
            }
        }
    }

    /// How far each procedure reaches into what its callers have open.
    fn measure(&mut self, program: &Program, successors: &Successors) -> Result<(), NotNested> {
        let mut changed = true;
        while changed {
            changed = false;
            for node in program.nodes.ids() {
                let procedure = program.nodes[node];
                let needed = self.needed(program, successors, node);
                if needed > DEEPEST {
                    return Err(without_bound(program, procedure));
                }
                if needed > self.depths[procedure] {
                    self.depths[procedure] = needed;
                    changed = true;
                }
            }
        }
        Ok(())
    }

    /// How many scopes of the callers are needed at a node and in the calls from there.
    fn needed(&self, program: &Program, successors: &Successors, node: NodeId) -> usize {
        let Some(stack) = self.of_node[node] else { return 0 };
        let (closed, opened) = self.parts(stack);
        let calls =
            successors.of(node).iter().filter_map(|&edge| match program.edges[edge].action {
                Action::Call(callee) => {
                    Some(closed.len() + self.depths[callee].saturating_sub(opened.len()))
                }
                _ => None,
            });
        calls.max().unwrap_or(0).max(closed.len())
    }

    /// A step of a procedure that closes a scope of its callers, or calls what does.
    fn first_below<'p>(
        &self,
        program: &'p Program,
        successors: &Successors,
        procedure: ProcedureId,
    ) -> Option<&'p Edge> {
        let own = program.nodes.ids().filter(|&node| program.nodes[node] == procedure);
        let edges = own.flat_map(|node| successors.of(node));
        edges.map(|&edge| &program.edges[edge]).find(|edge| {
            let Some(stack) = self.of_node[edge.source] else { return false };
            let open = self.parts(stack).1.len();
            match edge.action {
                Action::Call(callee) => self.depths[callee] > open,
                action => closed(action).is_some() && open == 0,
            }
        })
    }
}

/// The stack at the entry of a procedure.
const EMPTY: ScopeId = ScopeId(0);

struct Build<'a> {
    program: &'a Program,
    successors: &'a Successors,
    scopes: Scopes,
    opened: FxHashMap<(ScopeId, Scope), ScopeId>,
    closed: FxHashMap<Vec<Scope>, ScopeId>,
    /// The calls of procedures of which no path to the exit is known yet.
    waiting: IdVec<ProcedureId, Vec<EdgeId>>,
    /// The procedures that never return.
    assumed: IdVec<ProcedureId, bool>,
    pending: Vec<NodeId>,
    /// The calls that wait no longer.
    resumed: Vec<EdgeId>,
}

impl Build<'_> {
    fn run(&mut self) -> Result<(), NotNested> {
        let successors = self.successors;
        loop {
            if let Some(call) = self.resumed.pop() {
                self.follow(call)?;
            } else if let Some(node) = self.pending.pop() {
                for &edge in successors.of(node) {
                    self.follow(edge)?;
                }
            } else {
                return Ok(());
            }
        }
    }

    /// Follows an edge whose source has a stack.
    fn follow(&mut self, id: EdgeId) -> Result<(), NotNested> {
        let program = self.program;
        let edge = &program.edges[id];
        let Some(stack) = self.scopes.of_node[edge.source] else { return Ok(()) };
        let next = match edge.action {
            Action::Call(callee) => match self.scopes.of_node[program.procedures[callee].exit] {
                Some(EMPTY) => stack,
                Some(effect) => self.after(stack, effect, edge, callee)?,
                None if self.assumed[callee] => stack,
                None => {
                    self.waiting[callee].push(id);
                    return Ok(());
                }
            },
            action => match (opened(action), closed(action)) {
                (Some(scope), _) => self.push(stack, scope),
                (_, Some(scope)) => {
                    self.pop(stack, scope).ok_or_else(|| not_open(program, edge.place, scope))?
                }
                _ => stack,
            },
        };
        self.reach(edge.target, next, edge.place)
    }

    /// Says which stack a node has.
    fn reach(&mut self, node: NodeId, stack: ScopeId, place: Place) -> Result<(), NotNested> {
        let program = self.program;
        let procedure = program.nodes[node];
        match self.scopes.of_node[node] {
            Some(known) if known == stack => return Ok(()),
            Some(_) => {
                let name = &program.procedures[procedure].name;
                return Err(NotNested {
                    at: program.located(place),
                    message: format!(
                        "two paths through {name} meet with different locks or units open"
                    ),
                });
            }
            None => self.scopes.of_node[node] = Some(stack),
        }
        self.pending.push(node);
        if node != program.procedures[procedure].exit {
            return Ok(());
        }
        let (closed, opened) = self.scopes.parts(stack);
        if self.assumed[procedure] && !closed.is_empty() {
            return Err(without_bound(program, procedure));
        }
        if opened.contains(&Scope::Unit) || self.assumed[procedure] && !opened.is_empty() {
            return Err(left_open(program, procedure));
        }
        self.resumed.append(&mut self.waiting[procedure]);
        Ok(())
    }

    fn push(&mut self, stack: ScopeId, scope: Scope) -> ScopeId {
        // Invariant 1.
        if let ScopeStack::Callers(closed) = &self.scopes.stacks[stack]
            && let Some((last, rest)) = closed.split_last()
            && *last == scope
        {
            let rest = rest.to_vec();
            return self.callers(rest);
        }
        let stacks = &mut self.scopes.stacks;
        let new = || stacks.push(ScopeStack::Opened(stack, scope));
        *self.opened.entry((stack, scope)).or_insert_with(new)
    }

    fn pop(&mut self, stack: ScopeId, scope: Scope) -> Option<ScopeId> {
        match &self.scopes.stacks[stack] {
            ScopeStack::Opened(rest, innermost) => (*innermost == scope).then_some(*rest),
            ScopeStack::Callers(closed) => {
                let all: Vec<Scope> = closed.iter().copied().chain([scope]).collect();
                let few = scope != Scope::Unit && all.len() <= DEEPEST;
                few.then(|| self.callers(all))
            }
        }
    }

    fn callers(&mut self, closed: Vec<Scope>) -> ScopeId {
        if closed.is_empty() {
            return EMPTY;
        }
        let stacks = &mut self.scopes.stacks;
        let new = |closed: &Vec<Scope>| stacks.push(ScopeStack::Callers(closed.clone()));
        *self.closed.entry(closed).or_insert_with_key(new)
    }

    /// The stack behind a call.
    fn after(
        &mut self,
        mut stack: ScopeId,
        effect: ScopeId,
        edge: &Edge,
        callee: ProcedureId,
    ) -> Result<ScopeId, NotNested> {
        let (closed, opened) = self.scopes.parts(effect);
        let closed: Vec<Scope> = closed.into();
        for scope in closed {
            let rest = self.pop(stack, scope);
            stack = rest.ok_or_else(|| not_innermost(self.program, edge.place, callee, scope))?;
        }
        for scope in opened {
            stack = self.push(stack, scope);
        }
        Ok(stack)
    }
}

/// The procedures that some thread can call, in the order of the program.
fn reachable(program: &Program) -> impl Iterator<Item = ProcedureId> + use<> {
    let mut calls: IdVec<ProcedureId, Vec<ProcedureId>> =
        IdVec::filled(Vec::new(), program.procedures.len());
    for edge in &program.edges {
        if let Action::Call(callee) = edge.action {
            calls[program.nodes[edge.source]].push(callee);
        }
    }
    let mut found: IdVec<ProcedureId, bool> = IdVec::filled(false, program.procedures.len());
    let mut open: Vec<ProcedureId> = program.threads.iter().map(|thread| thread.main).collect();
    while let Some(procedure) = open.pop() {
        if !std::mem::replace(&mut found[procedure], true) {
            open.append(&mut calls[procedure]);
        }
    }
    let ids: Vec<ProcedureId> = program.procedures.ids().filter(|&id| found[id]).collect();
    ids.into_iter()
}

fn opened(action: Action) -> Option<Scope> {
    match action {
        Action::Acquire(lock) => Some(Scope::Lock(lock)),
        Action::BeginUnit => Some(Scope::Unit),
        _ => None,
    }
}

fn closed(action: Action) -> Option<Scope> {
    match action {
        Action::Release(lock) => Some(Scope::Lock(lock)),
        Action::EndUnit => Some(Scope::Unit),
        _ => None,
    }
}

/// A lock or unit is closed that is not the innermost one of the procedure.
pub(crate) fn not_open(program: &Program, place: Place, scope: Scope) -> NotNested {
    let message = match scope {
        Scope::Lock(lock) => format!(
            "lock {} is released here, but it is not the innermost lock or unit opened in this \
             procedure",
            program.locks[lock].name
        ),
        Scope::Unit => "a unit ends here, but the innermost thing opened in this procedure is not \
                        a unit"
            .to_owned(),
    };
    NotNested { at: program.located(place), message }
}

/// A call releases a lock that is not the innermost thing open.
fn not_innermost(program: &Program, place: Place, callee: ProcedureId, scope: Scope) -> NotNested {
    let callee = &program.procedures[callee].name;
    let what = match scope {
        Scope::Lock(lock) => format!("lock {}", program.locks[lock].name),
        Scope::Unit => "a unit".to_owned(),
    };
    let message = format!(
        "{callee} closes {what} for its caller, but here that is not the innermost lock or unit that is open"
    );
    NotNested { at: program.located(place), message }
}

/// A thread releases what nobody has acquired for it.
fn below(program: &Program, edge: &Edge) -> NotNested {
    match (closed(edge.action), edge.action) {
        (Some(scope), _) => not_open(program, edge.place, scope),
        (None, Action::Call(callee)) => {
            let callee = &program.procedures[callee].name;
            let message = format!(
                "{callee} releases a lock for its caller, but here the caller has none open"
            );
            NotNested { at: program.located(edge.place), message }
        }
        (None, _) => NotNested { at: program.located(edge.place), message: "not open".to_owned() },
    }
}

fn left_open(program: &Program, procedure: ProcedureId) -> NotNested {
    let procedure = &program.procedures[procedure];
    NotNested {
        at: program.located(procedure.end),
        message: format!("{} returns with a lock or a unit open", procedure.name),
    }
}

fn without_bound(program: &Program, procedure: ProcedureId) -> NotNested {
    let procedure = &program.procedures[procedure];
    NotNested {
        at: program.located(procedure.end),
        message: format!(
            "{} releases locks for its callers without returning, or more than {DEEPEST} of them",
            procedure.name
        ),
    }
}
