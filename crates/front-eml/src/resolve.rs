//! # Idea
//! The bodies of functions: every name gets its meaning and every expression its sort. Statements
//! that are never executed are left out.
//!
//! # Requires
//! What [`crate::names`] found out about the declarations.
//!
//! # Invariants
//! 1. If no error was reported, no statement that can be executed is missing.

use crate::ast::{self, Block, ExprKind, File, Name, Statement, StatementKind};
use crate::check::{Checker, Context, Purpose, Scope};
use crate::names::{Names, Number, Used, declared_twice};
use crate::resolved::{self, Expr, Local, Ref, Source, StatementKind as Kind};
use crate::token::quote;
use selvedge_base::{Diagnostic, Place, Severity, Span};
use selvedge_program::{Sort, Type};
use selvedge_syntax::complaints::Complaints;
use selvedge_syntax::nearest::{nearest, suggest};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The functions of every process, and complaints about those that mean nothing.
pub fn resolve<'a>(
    file: &File<'a>,
    names: &Names<'a>,
    used: &mut Used,
    complaints: &mut Complaints,
) -> Vec<Vec<resolved::Function<'a>>> {
    let mut owners = HashMap::new();
    for (at, process) in file.processes.iter().enumerate() {
        for function in &process.functions {
            owners.entry(function.name.text).or_insert(at);
        }
    }
    let mut processes = Vec::new();
    for (at, process) in file.processes.iter().enumerate() {
        let mut functions = Vec::new();
        let mut waits = Vec::new();
        for (number, function) in process.functions.iter().enumerate() {
            let mut body = Body {
                file,
                names,
                used: &mut *used,
                complaints: &mut *complaints,
                owners: &owners,
                process: at,
                known: true,
                result: None,
                scope: Scope::default(),
                labels: HashMap::new(),
                loops: 0,
                atomic: 0,
                uses_self: false,
                waiting: Waiting::default(),
            };
            functions.extend(body.function(number, function));
            waits.push(body.waiting);
        }
        wait_in_atomic(&waits, process, complaints);
        processes.push(functions);
    }
    warn_about_unused(file, used, complaints);
    processes
}

/// What a function has to do with waiting, for a notification or over a channel.
#[derive(Default)]
struct Waiting {
    waits: Option<&'static str>,
    calls: Vec<usize>,
    calls_in_atomic: Vec<(usize, Span)>,
}

/// Reports calls of functions that wait inside of `atomic`.
fn wait_in_atomic(functions: &[Waiting], process: &ast::Process<'_>, complaints: &mut Complaints) {
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); functions.len()];
    for (at, function) in functions.iter().enumerate() {
        function.calls.iter().for_each(|&callee| callers[callee].push(at));
    }
    let mut waits: Vec<Option<&str>> = functions.iter().map(|function| function.waits).collect();
    let mut work: Vec<usize> = (0..functions.len()).filter(|&at| waits[at].is_some()).collect();
    while let Some(at) = work.pop() {
        for &caller in &callers[at] {
            if waits[caller].is_none() {
                waits[caller] = waits[at];
                work.push(caller);
            }
        }
    }
    for &(callee, span) in functions.iter().flat_map(|function| &function.calls_in_atomic) {
        if let Some(waits) = waits[callee] {
            let name = quote(process.functions[callee].name.text);
            complaints.push(waiting_in_atomic(&format!("{name} {waits} and"), span));
        }
    }
}

fn waiting_in_atomic(what: &str, span: Span) -> Diagnostic {
    let message = format!("{what} stands inside of `atomic`");
    Diagnostic::error("wait-in-atomic", message, span, "would have to let others run")
        .with_help("nobody else moves during an `atomic` block: move it out")
}

struct Body<'t, 'a> {
    file: &'t File<'a>,
    names: &'t Names<'a>,
    used: &'t mut Used,
    complaints: &'t mut Complaints,
    /// The first process that has a function of this name.
    owners: &'t HashMap<&'a str, usize>,
    process: usize,
    /// Whether the types of its parameters and of its result could be found out.
    known: bool,
    result: Option<Type>,
    scope: Scope<'a>,
    /// The labels so far.
    labels: HashMap<&'a str, Span>,
    /// How many loops are around.
    loops: usize,
    /// How many `atomic` blocks are around.
    atomic: usize,
    uses_self: bool,
    waiting: Waiting,
}

impl<'a> Body<'_, 'a> {
    /// Looks at something with what is visible here.
    fn check<T>(&mut self, look: impl FnOnce(&mut Checker<'_, 'a>) -> T) -> T {
        let mut checker = Checker {
            file: self.file,
            names: self.names,
            used: &mut *self.used,
            complaints: &mut *self.complaints,
            context: Context::Code,
            process: Some(self.process),
            scope: &self.scope,
            uses_self: false,
        };
        let found = look(&mut checker);
        self.uses_self |= checker.uses_self;
        found
    }

    fn function(
        &mut self,
        at: usize,
        function: &ast::Function<'a>,
    ) -> Option<resolved::Function<'a>> {
        let signature = self.names.signatures[self.process][at].as_ref();
        self.known = signature.is_some();
        self.result = signature.and_then(|signature| signature.result);
        for (number, (_, name)) in function.parameters.iter().enumerate() {
            let ty = signature.map(|signature| signature.parameters[number]);
            self.local(*name, ty, None);
        }
        let prefixes: Vec<_> = function
            .prefixes
            .iter()
            .map(|prefix| Some((prefix.place, self.check(|check| check.lock(&prefix.lock))?)))
            .collect();
        let body = self.block(&function.body);
        let outermost = |local: &&mut Local<'_>| local.end == function.body.close;
        self.scope.locals.iter_mut().filter(outermost).for_each(|local| local.end = Place::NONE);
        if function.result.is_some() && body.completes {
            let message =
                format!("the function {} can end without a result", quote(function.name.text));
            let diagnostic =
                Diagnostic::error("missing-return", message, function.name.span, "has a result");
            self.complaints.push(diagnostic.with_help("end it with `return ..;`"));
        }
        let prefixes: Option<Vec<_>> = prefixes.into_iter().collect();
        Some(resolved::Function {
            name: function.name.text,
            place: function.name.place,
            prefixes: prefixes?,
            locals: std::mem::take(&mut self.scope.locals),
            parameters: function.parameters.len(),
            result: self.result,
            body,
            uses_self: self.uses_self,
        })
        .filter(|_| self.known)
    }

    /// Declares a local; nothing is said about one whose type could not be found out.
    fn local(&mut self, name: Name<'a>, ty: Option<Type>, length: Option<u32>) -> usize {
        let (ty, known) = (ty.unwrap_or(Type::Bool), ty.is_some());
        let (place, end, span) = (name.place, Place::NONE, name.span);
        let local = Local { name: name.text, place, end, span, ty, length };
        if let Some(&first) = self.scope.visible.get(name.text) {
            let first = self.scope.locals[first].span;
            declared_twice("variable", "duplicate-name", name, first, self.complaints);
        }
        let at = self.scope.locals.len();
        self.scope.locals.push(local);
        self.scope.visible.insert(name.text, at);
        if !known {
            self.scope.unknown.insert(at);
        }
        at
    }

    /// Declares a label, which names one place of its function.
    fn label(&mut self, name: Name<'a>) {
        match self.labels.entry(name.text) {
            Entry::Occupied(first) => {
                let first = *first.get();
                declared_twice("label", "duplicate-label", name, first, self.complaints);
            }
            Entry::Vacant(new) => _ = new.insert(name.span),
        }
    }

    fn block(&mut self, block: &Block<'a>) -> resolved::Block<'a> {
        let visible = self.scope.locals.len();
        let (live, dead) = block.split_live();
        let mut statements = Vec::with_capacity(live.len());
        for statement in live {
            statements.extend(self.statement(statement));
        }
        for statement in dead {
            self.statement(statement);
        }
        if let Some(dead) = dead.first() {
            self.complaints.push(
                Diagnostic::error(
                    "unreachable-statement",
                    "this statement is never executed",
                    dead.span,
                    "every way to this place ends in a `return` before",
                )
                .with_severity(Severity::Warning),
            );
        }
        for at in visible..self.scope.locals.len() {
            let local = &mut self.scope.locals[at];
            // Blocks inside end before.
            if local.end == Place::NONE {
                local.end = block.close;
            }
            if self.scope.visible.get(local.name) == Some(&at) {
                self.scope.visible.remove(local.name);
            }
        }
        let completes = block.completes();
        resolved::Block { open: block.open, statements, close: block.close, completes }
    }

    /// A statement that is the whole body of another one.
    fn inner(&mut self, statement: &Statement<'a>) -> Option<Box<resolved::Statement<'a>>> {
        let visible = self.scope.locals.len();
        let found = self.statement(statement);
        for at in visible..self.scope.locals.len() {
            let name = self.scope.locals[at].name;
            if self.scope.visible.get(name) == Some(&at) {
                self.scope.visible.remove(name);
            }
        }
        found.map(Box::new)
    }

    /// `*`, or a condition.
    #[expect(clippy::option_option, reason = "any value, and a mistake")]
    fn condition(&mut self, value: &ast::Value<'a>) -> Option<Option<Expr>> {
        match value {
            ast::Value::Any => Some(None),
            ast::Value::Expr(expr) => self.check(|check| check.sorted(expr, Sort::Bool)).map(Some),
        }
    }

    fn statement(&mut self, statement: &Statement<'a>) -> Option<resolved::Statement<'a>> {
        let kind = match &statement.kind {
            StatementKind::Read(location) => {
                Kind::Access(false, self.check(|check| check.location(location))?)
            }
            StatementKind::Write(location) => {
                Kind::Access(true, self.check(|check| check.location(location))?)
            }
            StatementKind::Call(name, arguments) => Kind::Call(self.call(*name, arguments, None)?),
            StatementKind::Declare(declaration) => self.declare(declaration)?,
            StatementKind::Assign(target, value) => self.assign(target, value)?,
            StatementKind::Skip => Kind::Skip,
            StatementKind::Return(value) => {
                Kind::Return(self.returned(value.as_ref(), statement.span)?)
            }
            StatementKind::Unit(block) => Kind::Unit(self.block(block)),
            StatementKind::Atomic(block) => {
                self.atomic += 1;
                let block = self.block(block);
                self.atomic -= 1;
                Kind::Atomic(block)
            }
            StatementKind::Block(block) => Kind::Block(self.block(block)),
            StatementKind::Synchronized(lock, block) => {
                let lock = self.check(|check| check.lock(lock));
                let block = self.block(block);
                Kind::Synchronized(lock?, block)
            }
            StatementKind::If(branches, otherwise) => {
                let mut found = Vec::with_capacity(branches.len());
                for branch in branches {
                    let condition = self.condition(&branch.condition);
                    let body = self.inner(&branch.body);
                    if let (Some(condition), Some(body)) = (condition, body) {
                        let place = branch.place;
                        found.push(resolved::Branch { place, condition, body: *body });
                    }
                }
                let otherwise = otherwise.as_ref().map(|otherwise| self.inner(otherwise));
                let read = found.len() == branches.len() && !matches!(otherwise, Some(None));
                read.then_some(Kind::If(found, otherwise.flatten()))?
            }
            StatementKind::While(condition, body) => {
                self.loops += 1;
                let condition = self.condition(condition);
                let body = self.inner(body);
                self.loops -= 1;
                Kind::While(condition?, body?)
            }
            StatementKind::Start(thread, arguments) => self.start(thread, arguments)?,
            StatementKind::Join(thread) => {
                Kind::Join(self.check(|check| check.process(thread, "join"))?)
            }
            StatementKind::Label(name, inner) => {
                self.label(*name);
                Kind::Label(name.text, self.inner(inner)?)
            }
            StatementKind::Assert(condition) => {
                Kind::Assert(self.check(|check| check.sorted(condition, Sort::Bool))?)
            }
            StatementKind::Assume(condition) => {
                Kind::Assume(self.check(|check| check.sorted(condition, Sort::Bool))?)
            }
            StatementKind::Lock(
                operation @ (ast::LockOperation::Acquire | ast::LockOperation::Release),
                lock,
            ) => Kind::Lock(*operation, self.check(|check| check.lock(lock))?),
            StatementKind::Lock(operation, set) => {
                let waits = *operation == ast::LockOperation::Wait;
                if waits {
                    self.waiting.waits.get_or_insert("waits for a notification");
                    if self.atomic > 0 {
                        let diagnostic = waiting_in_atomic("`wait`", statement.span);
                        self.complaints.push(diagnostic);
                    }
                }
                Kind::Condition(*operation, self.check(|check| check.wait_set(set, !waits))?)
            }
            StatementKind::Channel(operation, channel) => {
                self.waiting.waits.get_or_insert("meets others over a channel");
                let receives = *operation == ast::ChannelOperation::Recv;
                if self.atomic > 0 {
                    let word = match operation {
                        ast::ChannelOperation::Send => "`send`",
                        ast::ChannelOperation::Post => "`post`",
                        ast::ChannelOperation::Broadcast => "`broadcast`",
                        ast::ChannelOperation::Recv => "`recv`",
                    };
                    self.complaints.push(waiting_in_atomic(word, statement.span));
                }
                Kind::Channel(*operation, self.check(|check| check.channel(*channel, receives))?)
            }
        };
        Some(resolved::Statement { kind, place: statement.place })
    }

    fn declare(&mut self, declaration: &ast::Declaration<'a>) -> Option<Kind<'a>> {
        let name = declaration.item.name;
        let ty = self.check(|check| check.ty(&declaration.ty));
        let length = self.check(|check| check.length(&declaration.item));
        let Some(ty) = ty else {
            self.local(name, None, length);
            return None;
        };
        // The value is computed before there is the variable.
        let source = match &declaration.initial {
            None => Some(Source::Default),
            Some(ast::Value::Any) => Some(Source::Any),
            Some(ast::Value::Expr(expr)) => match &expr.kind {
                ExprKind::Call(..) | ExprKind::TryAcquire(_) if length.is_some() => {
                    let message = "an array does not start with the result of a call";
                    let diagnostic =
                        Diagnostic::error("call-in-expression", message, expr.span, "not here");
                    self.complaints.push(diagnostic.with_help("assign the elements one by one"));
                    None
                }
                ExprKind::Call(callee, arguments) => {
                    let call = self.call(*callee, arguments, Some((expr.span, ty.sort())));
                    let at = self.local(name, Some(ty), length);
                    let mut call = call?;
                    call.target = Some(scalar(at, name));
                    return Some(Kind::Call(call));
                }
                ExprKind::TryAcquire(lock) => {
                    let lock = self.try_acquire(lock, ty.sort(), expr.span);
                    let at = self.local(name, Some(ty), length);
                    return Some(Kind::TryAcquire(lock?, Some(scalar(at, name))));
                }
                _ => self.check(|check| check.sorted(expr, ty.sort())).map(Source::Expr),
            },
        };
        let at = self.local(name, Some(ty), length);
        Some(Kind::Declare(at, source?, self.loops > 0))
    }

    fn try_acquire(
        &mut self,
        lock: &ast::Ref<'a>,
        sort: Sort,
        span: Span,
    ) -> Option<resolved::Indexed> {
        let found = self.check(|check| check.lock(lock));
        if sort != Sort::Bool {
            self.check(|check| {
                let message = format!("a truth value where {} is needed", check.show(sort));
                check.error("type-mismatch", message, span, "this is a truth value", "");
            });
            return None;
        }
        found
    }

    fn assign(&mut self, target: &ast::Ref<'a>, value: &ast::Value<'a>) -> Option<Kind<'a>> {
        let found = self.check(|check| check.variable(target, Purpose::Write));
        let found = match found {
            Some(Some(found)) => Some(found),
            Some(None) => {
                self.not_assignable(target.name);
                None
            }
            None => None,
        };
        let Some((target, ty)) = found else {
            // What is wrong with the value is said as well.
            if let ast::Value::Expr(expr) = value
                && !matches!(expr.kind, ExprKind::Call(..) | ExprKind::TryAcquire(_))
            {
                self.check(|check| check.expr(expr));
            }
            return None;
        };
        let expr = match value {
            ast::Value::Any => return Some(Kind::Assign(target, Source::Any)),
            ast::Value::Expr(expr) => expr,
        };
        match &expr.kind {
            ExprKind::Call(callee, arguments) => {
                let mut call = self.call(*callee, arguments, Some((expr.span, ty.sort())))?;
                call.target = Some(target);
                Some(Kind::Call(call))
            }
            ExprKind::TryAcquire(lock) => {
                let lock = self.try_acquire(lock, ty.sort(), expr.span)?;
                Some(Kind::TryAcquire(lock, Some(target)))
            }
            _ => {
                let value = self.check(|check| check.sorted(expr, ty.sort()))?;
                Some(Kind::Assign(target, Source::Expr(value)))
            }
        }
    }

    fn not_assignable(&mut self, name: Name<'a>) {
        let Some(&(symbol, declared)) = self.names.values.get(name.text) else {
            // It says that the name is not declared, unless it is that of a process.
            if self.names.processes.contains_key(name.text) {
                let message = format!("{} is a process and cannot be assigned", quote(name.text));
                let diagnostic =
                    Diagnostic::error("not-assignable", message, name.span, "not a variable");
                self.complaints.push(diagnostic);
            } else {
                let kind = ExprKind::Ref(ast::Ref { name, index: None });
                let expr = ast::Expr { kind, span: name.span, depth: 1 };
                self.check(|check| check.expr(&expr));
            }
            return;
        };
        let what = symbol.what(self.file);
        let message = format!("{} is {what} and cannot be assigned", quote(name.text));
        let diagnostic = Diagnostic::error("not-assignable", message, name.span, "not a variable");
        self.complaints.push(diagnostic.with_label(declared, "declared here"));
    }

    #[expect(clippy::option_option, reason = "no value, and a mistake")]
    fn returned(&mut self, value: Option<&ast::Expr<'a>>, span: Span) -> Option<Option<Expr>> {
        match (value, self.result) {
            _ if !self.known => None,
            (None, None) => Some(None),
            (Some(value), Some(ty)) => self.check(|check| check.sorted(value, ty.sort())).map(Some),
            (Some(value), None) => {
                self.check(|check| {
                    // A location without a value could not be returned with a result either.
                    if check.is_valueless(value) {
                        check.expr(value);
                        return;
                    }
                    let message = "a function without a result returns a value";
                    let help = "write the type of the result: `f() : bool { .. }`";
                    check.error("return-value", message, value.span, "goes nowhere", help);
                });
                None
            }
            (None, Some(ty)) => {
                self.check(|check| {
                    let message = format!("the function returns {}", check.show(ty.sort()));
                    check.error("return-value", message, span, "returns nothing", "");
                });
                None
            }
        }
    }

    /// The arguments of a call or a start.
    fn arguments(
        &mut self,
        name: Name<'a>,
        arguments: &[ast::Expr<'a>],
        parameters: &[Type],
    ) -> Option<Vec<Expr>> {
        if arguments.len() != parameters.len() {
            self.check(|check| {
                let count = |number: usize, what: &str| {
                    let plural = if number == 1 { "" } else { "s" };
                    format!("{number} {what}{plural}")
                };
                let message = format!(
                    "{} has {}, here {} {}",
                    quote(name.text),
                    count(parameters.len(), "parameter"),
                    if arguments.len() == 1 { "is" } else { "are" },
                    count(arguments.len(), "argument"),
                );
                check.error("arguments", message, name.span, "wrong number of arguments", "");
            });
            return None;
        }
        let found: Vec<Option<Expr>> = arguments
            .iter()
            .zip(parameters)
            .map(|(argument, ty)| self.check(|check| check.sorted(argument, ty.sort())))
            .collect();
        found.into_iter().collect()
    }

    /// A call; `wanted` is the sort of what its result goes to, if it goes somewhere.
    fn call(
        &mut self,
        name: Name<'a>,
        arguments: &[ast::Expr<'a>],
        wanted: Option<(Span, Sort)>,
    ) -> Option<resolved::Call> {
        let Some(&callee) = self.names.functions[self.process].get(name.text) else {
            self.unknown_function(name);
            return None;
        };
        self.used.functions[self.process][callee] = true;
        self.waiting.calls.push(callee);
        if self.atomic > 0 {
            self.waiting.calls_in_atomic.push((callee, name.span));
        }
        let names = self.names;
        let signature = names.signatures[self.process][callee].as_ref()?;
        let arguments = self.arguments(name, arguments, &signature.parameters);
        let result = signature.result;
        if let Some((span, wanted)) = wanted {
            let problem = match result {
                None => Some(("no-result", format!("{} has no result", quote(name.text)))),
                Some(ty) if ty.sort() != wanted => self.check(|check| {
                    let (own, wanted) = (check.show(ty.sort()), check.show(wanted));
                    Some(("type-mismatch", format!("{own} where {wanted} is needed")))
                }),
                Some(_) => None,
            };
            if let Some((code, message)) = problem {
                self.check(|check| check.error(code, message, span, "the result of this", ""));
                return None;
            }
        }
        Some(resolved::Call { callee, arguments: arguments?, result, target: None })
    }

    fn start(&mut self, thread: &ast::Ref<'a>, arguments: &[ast::Expr<'a>]) -> Option<Kind<'a>> {
        let found = self.check(|check| check.process(thread, "start"))?;
        self.used.started[found.at] = true;
        let started = &self.file.processes[found.at];
        if !started.waits {
            let name = quote(thread.name.text);
            let message = format!("{name} does not wait to be started");
            let diagnostic = Diagnostic::error(
                "start-of-running-process",
                message,
                thread.name.span,
                "it runs from the beginning",
            );
            let declared = started.name.map_or(started.keyword, |name| name.span);
            let help = format!("write `process {} waits {{ .. }}`", thread.name.text);
            self.complaints.push(diagnostic.with_label(declared, "declared here").with_help(help));
            return None;
        }
        let names = self.names;
        let main = *names.functions[found.at].get("main")?;
        let signature = names.signatures[found.at][main].as_ref()?;
        let arguments = self.arguments(thread.name, arguments, &signature.parameters)?;
        Some(Kind::Start(found, arguments))
    }

    fn unknown_function(&mut self, name: Name<'a>) {
        let process = &self.file.processes[self.process];
        if !process.complete {
            return;
        }
        let process_name = process.name.map_or("this process", |name| name.text);
        if let Some(&owner) = self.owners.get(name.text) {
            let owner = &self.file.processes[owner];
            let owner_name = owner.name.map_or("another process", |name| name.text);
            let declared = owner.functions.iter().find(|one| one.name.text == name.text);
            let declared = declared.map_or(name.span, |function| function.name.span);
            let diagnostic = Diagnostic::error(
                "function-of-another-process",
                format!(
                    "{} is a function of {}, not of {}",
                    quote(name.text),
                    quote(owner_name),
                    quote(process_name)
                ),
                name.span,
                "called from another process",
            )
            .with_label(declared, "declared here")
            .with_help("functions belong to their process; write the function in both");
            self.complaints.push(diagnostic);
            return;
        }
        let meant = nearest(name.text, process.functions.iter().map(|one| one.name.text));
        let message = format!("{} is not a function of {}", quote(name.text), quote(process_name));
        let diagnostic =
            Diagnostic::error("unknown-function", message, name.span, "unknown function");
        // What other languages have is meant as it is written, however near another name is.
        self.complaints.push(match (foreign_function(name.text), meant) {
            (Some(help), _) => diagnostic.with_help(help),
            (None, Some(meant)) => suggest(diagnostic, meant),
            (None, None) => diagnostic.with_help("write it into this process"),
        });
    }
}

/// What to write in the place of a function that other languages have.
fn foreign_function(name: &str) -> Option<&'static str> {
    Some(match name {
        "pthread_mutex_lock" | "mtx_lock" | "sem_wait" | "P" | "down" => "write `acquire(l);`",
        "unlock" | "pthread_mutex_unlock" | "mtx_unlock" | "sem_post" | "V" | "up" => {
            "write `release(l);`"
        }
        "pthread_cond_wait" | "cond_wait" => "write `wait(l);`",
        "await" => {
            "write `assume(..);`, which waits until the condition is true, or `wait(l);`, which waits \
             for a notification"
        }
        "receive" => "write `recv c;`",
        "pthread_cond_signal" | "signal" | "notify_one" => "write `notify(l);`",
        "pthread_cond_broadcast" | "signalAll" | "notify_all" | "notifyall" => {
            "write `notifyAll(l);`"
        }
        "yield" => "remove it: a thread may stop anywhere",
        "nondet" | "rand" | "random" => {
            "write `*` for any value, or `choose(0..3)` for one of several numbers"
        }
        name if name.starts_with("__VERIFIER_nondet") => {
            "write `*` for any value, or `choose(0..3)` for one of several numbers"
        }
        "pthread_create" | "pthread_join" | "fork" => {
            "a thread is a process: `process T waits { main { .. } }`, which `start T;` starts and \
             `join T;` waits for"
        }
        "print" | "println" | "printf" => "remove it: a model prints nothing",
        "sleep" | "usleep" => "remove it: a thread may stop anywhere",
        _ => return None,
    })
}

fn scalar(at: usize, name: Name<'_>) -> Ref {
    Ref { variable: resolved::Variable::Local(at), index: None, place: name.place }
}

/// Things that are declared and not used are probably misspelt where they are used. Said only
/// about texts without errors.
fn warn_about_unused(file: &File<'_>, used: &Used, complaints: &mut Complaints) {
    if complaints.has_errors() {
        return;
    }
    let mut warn = |code, message: String, span| {
        let warning = Diagnostic::error(code, message, span, "declared here");
        complaints.push(warning.with_severity(Severity::Warning));
    };
    for (lock, _) in file.locks.iter().zip(&used.locks).filter(|(_, used)| !**used) {
        let name = lock.item.name;
        warn("unused-lock", format!("the lock {} is never used", quote(name.text)), name.span);
    }
    for (condition, used) in file.conditions.iter().zip(&used.conditions) {
        let what = match used {
            [true, true] => continue,
            [false, false] => "is never used",
            [true, false] => "is never notified",
            [false, true] => "is never waited for",
        };
        let name = condition.item.name;
        warn("unused-condition", format!("the condition {} {what}", quote(name.text)), name.span);
    }
    for (name, used) in file.channels.iter().zip(&used.channels) {
        let what = match used {
            [true, true] => continue,
            [false, false] => "is never used",
            [true, false] => "is never received over",
            [false, true] => "is never sent over",
        };
        warn("unused-channel", format!("the channel {} {what}", quote(name.text)), name.span);
    }
    for (shared, _) in file.shared.iter().zip(&used.shared).filter(|(_, used)| !**used) {
        let name = shared.item.name;
        let what = if shared.ty.is_some() { "variable" } else { "location" };
        let message = format!("the {what} {} is never used", quote(name.text));
        warn("unused-location", message, name.span);
    }
    for (process, used) in file.processes.iter().zip(&used.functions) {
        let functions = process.functions.iter().zip(used);
        for (function, _) in functions.filter(|(_, used)| !**used) {
            let name = function.name;
            if name.text != "main" {
                let message = format!("the function {} is never called", quote(name.text));
                warn("unused-function", message, name.span);
            }
        }
    }
    for (process, _) in file.processes.iter().zip(&used.started).filter(|(_, used)| !**used) {
        if let (true, Some(name)) = (process.waits, process.name) {
            let message = format!("the process {} is never started", quote(name.text));
            warn("never-started", message, name.span);
        }
    }
}

/// Whether the copies of a process need functions of their own.
pub fn needs_own_functions(
    number: Number,
    names: &Names<'_>,
    process: usize,
    functions: &[resolved::Function<'_>],
) -> bool {
    let asks = functions.iter().any(|function| function.uses_self);
    matches!(number, Number::Copies(_)) && (asks || !names.variables[process].is_empty())
}
