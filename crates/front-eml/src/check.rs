//! # Idea
//! Finds the sort of every expression, and what its names mean. What may stand in an expression
//! depends on where it stands: constants name constants only, invariants speak of shared variables,
//! predicates of the running thread as well, and code of everything.
//!
//! # Invariants
//! 1. `None` means that a complaint was made, or that something could not be read before.

use crate::ast::{self, Binary, ExprKind, File, Name};
use crate::names::{MOST_ELEMENTS, Names, Number, Symbol, Used};
use crate::resolved::{Expr, Indexed, Local, NotConstant, Ref, Variable, WaitSet};
use crate::token::quote;
use selvedge_base::{Diagnostic, Id, Severity, Span};
use selvedge_program::{Literal, Operator, Sort, ThreadId, Type};
use selvedge_syntax::complaints::Complaints;
use selvedge_syntax::nearest::{nearest, suggest};
use std::collections::{HashMap, HashSet};

/// Where an expression stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Context {
    /// Where a number is needed before the program runs.
    Constant,
    Invariant,
    /// Behind `exclusive when`.
    Predicate,
    Code,
}

/// Looks at expressions.
pub struct Checker<'t, 'a> {
    pub file: &'t File<'a>,
    pub names: &'t Names<'a>,
    pub used: &'t mut Used,
    pub complaints: &'t mut Complaints,
    pub context: Context,
    /// The process around.
    pub process: Option<usize>,
    /// The locals.
    pub scope: &'t Scope<'a>,
    /// Whether the index of the copy was asked for.
    pub uses_self: bool,
}

/// The locals of a function.
#[derive(Default)]
pub struct Scope<'a> {
    /// All of them so far, the parameters first.
    pub locals: Vec<Local<'a>>,
    /// Those that can be seen.
    pub visible: HashMap<&'a str, usize>,
    /// Those whose type could not be found out.
    pub unknown: HashSet<usize>,
}

#[derive(Clone, Copy)]
struct Help<'n> {
    /// The name that was probably meant.
    meant: Option<&'n str>,
    otherwise: &'n str,
}

/// A range whose first number is larger than its last one.
fn empty_range((low, high): (i64, i64), span: Span, remark: &str) -> Diagnostic {
    let message = format!("there are no numbers from {low} to {high}");
    let swapped = format!("{high}..{low}");
    Diagnostic::error("empty-range", message, span, remark)
        .with_help(format!("write `{swapped}`: the smaller number stands first"))
        .with_replacement(span, swapped)
}

impl<'a> Checker<'_, 'a> {
    pub fn error(
        &mut self,
        code: &'static str,
        message: impl Into<String>,
        span: Span,
        remark: impl Into<String>,
        help: &str,
    ) {
        let diagnostic = Diagnostic::error(code, message, span, remark);
        let diagnostic = if help.is_empty() { diagnostic } else { diagnostic.with_help(help) };
        self.complaints.push(diagnostic);
    }

    /// A sort as messages call it.
    pub fn show(&self, sort: Sort) -> String {
        match sort {
            Sort::Bool => "a truth value".to_owned(),
            Sort::Int => "a number".to_owned(),
            Sort::Thread => "a thread".to_owned(),
            Sort::Enum(id) => {
                let name = self.file.enums.get(id.index()).map_or("?", |one| one.name.text);
                format!("a value of {}", quote(name))
            }
        }
    }

    /// An expression that must have a sort.
    pub fn sorted(&mut self, expr: &ast::Expr<'a>, sort: Sort) -> Option<Expr> {
        let (found, own) = self.expr(expr)?;
        if own == sort {
            return Some(found);
        }
        let message = format!("{} where {} is needed", self.show(own), self.show(sort));
        let remark = format!("this is {}", self.show(own));
        let help = match (&expr.kind, own, sort) {
            (ExprKind::Number(number), _, Sort::Bool) => {
                format!("write `{}`", *number != 0)
            }
            (_, Sort::Int, Sort::Bool) => "compare it, as in `x != 0`".to_owned(),
            _ => String::new(),
        };
        self.error("type-mismatch", message, expr.span, remark, &help);
        None
    }

    /// An expression with its sort.
    pub fn expr(&mut self, expr: &ast::Expr<'a>) -> Option<(Expr, Sort)> {
        match &expr.kind {
            ExprKind::Number(value) => Some((Expr::Constant(Literal::Int(*value)), Sort::Int)),
            ExprKind::Truth(value) => Some((Expr::Constant(Literal::Bool(*value)), Sort::Bool)),
            ExprKind::None => Some((Expr::Constant(Literal::Thread(None)), Sort::Thread)),
            ExprKind::SelfIndex => self.self_index(expr.span),
            ExprKind::Me => self.me(expr.span),
            ExprKind::Ref(reference) => self.value(reference),
            ExprKind::Choose(low, high) => {
                if self.context != Context::Code {
                    self.not_here("`choose`", expr.span);
                    return None;
                }
                let span = Span::new(low.span.start, high.span.end);
                let low = self.sorted(low, Sort::Int);
                let high = self.sorted(high, Sort::Int);
                let (low, high) = (low?, high?);
                if let (Ok(first), Ok(last)) = (low.fold(None), high.fold(None))
                    && first > last
                {
                    let empty = empty_range((first, last), span, "the step is never possible");
                    self.complaints.push(empty.with_severity(Severity::Warning));
                }
                Some((Expr::Choose(Box::new(low), Box::new(high)), Sort::Int))
            }
            ExprKind::Not(inner) => {
                let inner = self.sorted(inner, Sort::Bool)?;
                Some((Expr::Not(Box::new(inner)), Sort::Bool))
            }
            ExprKind::Negate(inner) => {
                let inner = self.sorted(inner, Sort::Int)?;
                Some((Expr::Negate(Box::new(inner)), Sort::Int))
            }
            ExprKind::Binary(operator, left, right) => self.binary(*operator, left, right),
            ExprKind::Call(name, _) => {
                let message = format!("the call of {} is part of an expression", quote(name.text));
                let help = "a call stands alone or as a whole right side: `t = f(..);`";
                self.error("call-in-expression", message, expr.span, "not here", help);
                None
            }
            ExprKind::TryAcquire(_) => {
                let message = "`tryacquire` is part of an expression";
                let help = "it stands as a whole right side: `t = tryacquire(l);`";
                self.error("call-in-expression", message, expr.span, "not here", help);
                None
            }
        }
    }

    fn binary(
        &mut self,
        operator: Binary,
        left: &ast::Expr<'a>,
        right: &ast::Expr<'a>,
    ) -> Option<(Expr, Sort)> {
        let (operand, sort) = match operator {
            Binary::NotEqual | Binary::Model(Operator::Equal) => (None, Sort::Bool),
            Binary::Greater
            | Binary::GreaterEqual
            | Binary::Model(Operator::Less | Operator::LessEqual) => (Some(Sort::Int), Sort::Bool),
            Binary::Model(Operator::And | Operator::Or | Operator::Xor | Operator::Implies) => {
                (Some(Sort::Bool), Sort::Bool)
            }
            Binary::Model(_) => (Some(Sort::Int), Sort::Int),
        };
        let (left, right) = if let Some(operand) = operand {
            let left = self.sorted(left, operand);
            (left, self.sorted(right, operand))
        } else {
            // What the left side is, the right one must be too.
            if let Some((left, own)) = self.expr(left) {
                (Some(left), self.sorted(right, own))
            } else {
                self.expr(right);
                (None, None)
            }
        };
        Some((Expr::Binary(operator, Box::new(left?), Box::new(right?)), sort))
    }

    fn not_here(&mut self, what: &str, span: Span) {
        let (message, help) = match self.context {
            Context::Constant => (
                format!("{what} is not known before the program runs"),
                "use numbers and constants",
            ),
            Context::Invariant => {
                (format!("{what} in an invariant"), "an invariant speaks of shared variables only")
            }
            Context::Predicate => (
                format!("{what} in a predicate"),
                "a predicate speaks of shared variables and of `me`",
            ),
            Context::Code => (format!("{what} is not possible here"), ""),
        };
        let code = if self.context == Context::Constant { "not-constant" } else { "not-shared" };
        self.error(code, message, span, "not possible here", help);
    }

    fn self_index(&mut self, span: Span) -> Option<(Expr, Sort)> {
        match self.process.map(|process| self.names.numbers[process]) {
            Some(Number::Copies(_) | Number::Any) => {
                self.uses_self = true;
                Some((Expr::SelfIndex, Sort::Int))
            }
            Some(Number::One) => {
                let message = "`self` is the index of a copy, but there is only one";
                let help = "write `process P[3] { .. }` for several copies, or `me` for the thread";
                self.error("self-without-copies", message, span, "no index", help);
                None
            }
            None if self.context == Context::Constant => {
                self.not_here("`self`", span);
                None
            }
            None => {
                let message = "`self` is outside of all processes";
                let help = "`self` is the index of a copy of a process";
                self.error("self-without-copies", message, span, "no index", help);
                None
            }
        }
    }

    fn me(&mut self, span: Span) -> Option<(Expr, Sort)> {
        if matches!(self.context, Context::Constant | Context::Invariant) {
            self.not_here("`me`", span);
            return None;
        }
        Some((Expr::Me, Sort::Thread))
    }

    /// The value of a constant.
    pub fn constant(&mut self, expr: &Expr, span: Span, copy: Option<u32>) -> Option<i64> {
        let thread = match expr {
            Expr::Thread(process, index) => {
                let first = self.names.threads.get(*process).copied().unwrap_or(0);
                let first = i64::try_from(first).unwrap_or(0);
                Some(index.fold(copy).map(|index| first + index + 1))
            }
            _ => None,
        };
        match thread.unwrap_or_else(|| expr.fold(copy)) {
            Ok(value) if i32::try_from(value).is_ok() => return Some(value),
            Ok(value) => {
                let message = format!("{value} is too large");
                self.error("number-too-large", message, span, "too large", "");
            }
            Err(NotConstant::Varies) => {
                let message = "this is not known before the program runs";
                let help = "use numbers and constants";
                self.error("not-constant", message, span, "not constant", help);
            }
            Err(NotConstant::Fails(kind)) => {
                let message = match kind {
                    selvedge_program::FailureKind::Division => "a division by zero",
                    _ => "a number leaves 64 bits",
                };
                self.error("not-constant", message, span, "has no value", "");
            }
        }
        None
    }

    /// The value of a constant number.
    pub fn constant_number(&mut self, expr: &ast::Expr<'a>) -> Option<i64> {
        let found = self.sorted(expr, Sort::Int)?;
        self.constant(&found, expr.span, None)
    }

    /// A type.
    pub fn ty(&mut self, ty: &ast::Type<'a>) -> Option<Type> {
        let (context, process) = (self.context, self.process.take());
        self.context = Context::Constant;
        let ty = self.ty_of_constants(ty, context == Context::Code);
        (self.context, self.process) = (context, process);
        ty
    }

    /// A type whose bounds are constants; what is declared by it may be local.
    fn ty_of_constants(&mut self, ty: &ast::Type<'a>, local: bool) -> Option<Type> {
        match ty {
            ast::Type::Bool => Some(Type::Bool),
            ast::Type::Thread => Some(Type::Thread),
            ast::Type::Enum(name) => {
                let found = self.names.enumeration(*name);
                if found.is_none() && self.file.locations_complete {
                    let meant = nearest(name.text, self.names.enumerations());
                    let types = "types are `bool`, `int 0..7`, `int mod 8`, `thread` and \
                                 enumerations: `enum Colour { Red, Green };`";
                    let label = format!("{types}; a label is written `label {}: ..`", name.text);
                    let otherwise = if local { &label } else { types };
                    let help = Help { meant, otherwise };
                    let what = "is not a type";
                    self.unknown(*name, "unknown-type", what, "unknown type", help);
                }
                found.map(Type::Enum)
            }
            ast::Type::Mod(number) => {
                let n = self.constant_number(number)?;
                if n < 1 {
                    let message = format!("there are no numbers modulo {n}");
                    let help = "write `int mod 8` for the numbers from 0 to 7";
                    self.error("empty-range", message, number.span, "at least 1 is needed", help);
                    return None;
                }
                Some(Type::Mod(n as i32))
            }
            ast::Type::Range(low, high) => {
                let span = Span::new(low.span.start, high.span.end);
                let low = self.constant_number(low);
                let high = self.constant_number(high);
                let (low, high) = (low?, high?);
                if low > high {
                    self.complaints.push(empty_range((low, high), span, "an empty range"));
                    return None;
                }
                if high - low >= 1 << 31 {
                    let message = "a type has at most 2147483648 values";
                    self.error("range-too-large", message, span, "too many values", "");
                    return None;
                }
                Some(Type::Int { low: low as i32, high: high as i32 })
            }
        }
    }

    /// The length of an array; `None` for a scalar, or if there is none.
    pub fn length(&mut self, item: &ast::Item<'a>) -> Option<u32> {
        let written = item.length.as_ref()?;
        let (context, process) = (self.context, self.process.take());
        self.context = Context::Constant;
        let length = self.constant_number(written);
        (self.context, self.process) = (context, process);
        let length = length?;
        if !(1..=i64::from(MOST_ELEMENTS)).contains(&length) {
            let message = format!("an array has between 1 and {MOST_ELEMENTS} elements");
            let remark = format!("here it would have {length}");
            self.error("array-length", message, written.span, remark, "");
            return None;
        }
        u32::try_from(length).ok()
    }

    fn unknown(
        &mut self,
        name: Name<'a>,
        code: &'static str,
        what: &str,
        remark: &str,
        help: Help<'_>,
    ) {
        let message = format!("{} {what}", quote(name.text));
        match help.meant {
            Some(meant) => {
                let unknown = Diagnostic::error(code, message, name.span, remark);
                self.complaints.push(suggest(unknown, meant));
            }
            None => self.error(code, message, name.span, remark, help.otherwise),
        }
    }

    /// What a name means that all processes share.
    fn symbol(&self, name: Name<'a>) -> Option<(Symbol, Span)> {
        self.names.values.get(name.text).copied()
    }

    /// The lock of a name.
    pub fn lock_name(&mut self, name: Name<'a>) -> Option<usize> {
        match self.symbol(name) {
            Some((Symbol::Lock(at), _)) => {
                self.used.locks[at] = true;
                return Some(at);
            }
            Some(_) if self.names.clashes.contains(name.text) => {}
            Some((other, declared)) => {
                let other = other.what(self.file);
                let message = format!("{} is {other}, not a lock", quote(name.text));
                let diagnostic =
                    Diagnostic::error("unknown-lock", message, name.span, "not a lock");
                let label = format!("declared as {other} here");
                self.complaints.push(diagnostic.with_label(declared, label));
            }
            None if self.file.locks_complete => {
                let locks = self.file.locks.iter().map(|lock| lock.item.name.text);
                let meant = nearest(name.text, locks);
                let otherwise = match name.text {
                    "this" => "a lock has a name: declare `lock : l;` and write `synchronized(l)`",
                    _ => "declare it with `lock : ..;`",
                };
                let help = Help { meant, otherwise };
                let what = "is not declared as a lock";
                self.unknown(name, "unknown-lock", what, "unknown lock", help);
            }
            None => {}
        }
        None
    }

    /// The channel of a name, over which something is received or sent.
    pub fn channel(&mut self, name: Name<'a>, receives: bool) -> Option<usize> {
        match self.symbol(name) {
            Some((Symbol::Channel(at), _)) => {
                self.used.channels[at][usize::from(receives)] = true;
                return Some(at);
            }
            Some(_) if self.names.clashes.contains(name.text) => {}
            Some((other, declared)) => {
                let other = other.what(self.file);
                let message = format!("{} is {other}, not a channel", quote(name.text));
                let diagnostic =
                    Diagnostic::error("unknown-channel", message, name.span, "not a channel");
                let label = format!("declared as {other} here");
                self.complaints.push(diagnostic.with_label(declared, label));
            }
            None if self.file.locks_complete => {
                let meant = nearest(name.text, self.file.channels.iter().map(|one| one.text));
                let help = Help { meant, otherwise: "declare it with `chan : ..;`" };
                let what = "is not declared as a channel";
                self.unknown(name, "unknown-channel", what, "unknown channel", help);
            }
            None => {}
        }
        None
    }

    /// A condition, or the default one of a lock.
    pub fn wait_set(&mut self, reference: &ast::Ref<'a>, notifies: bool) -> Option<WaitSet> {
        let name = reference.name;
        match self.symbol(name) {
            Some((Symbol::Condition(at), _)) => {
                self.used.conditions[at][usize::from(notifies)] = true;
                let length = self.names.conditions.get(at)?.as_ref()?.length;
                let index = self.index(reference, length, length.is_some())?;
                Some(WaitSet::Condition(Indexed { at, index }))
            }
            None if self.file.locks_complete => {
                let conditions = self.file.conditions.iter().map(|one| one.item.name.text);
                let Some(meant) = nearest(name.text, conditions) else {
                    return self.lock(reference).map(WaitSet::OfLock);
                };
                let help = Help { meant: Some(meant), otherwise: "" };
                let what = "is declared neither as a condition nor as a lock";
                self.unknown(name, "unknown-lock", what, "unknown condition", help);
                None
            }
            _ => self.lock(reference).map(WaitSet::OfLock),
        }
    }

    /// A lock, or one of an array of locks.
    pub fn lock(&mut self, lock: &ast::Ref<'a>) -> Option<Indexed> {
        let at = self.lock_name(lock.name)?;
        self.indexed_lock(lock, at)
    }

    /// A lock whose name is known.
    pub fn indexed_lock(&mut self, lock: &ast::Ref<'a>, at: usize) -> Option<Indexed> {
        let length = self.names.locks.get(at).copied().flatten();
        let written = self.file.locks[at].item.length.is_some();
        let index = self.index(lock, length, written)?;
        Some(Indexed { at, index })
    }

    /// The index of something that has a length, or none of what has none.
    #[expect(clippy::option_option, reason = "no index, and a mistake")]
    fn index(
        &mut self,
        reference: &ast::Ref<'a>,
        length: Option<u32>,
        is_array: bool,
    ) -> Option<Option<Expr>> {
        let name = quote(reference.name.text);
        match (&reference.index, is_array) {
            (None, false) => Some(None),
            (Some(index), true) => {
                let found = self.sorted(index, Sort::Int)?;
                let length = length?;
                if let Ok(at) = found.fold(None)
                    && !(0..i64::from(length)).contains(&at)
                {
                    let message = format!("{name} has {length} elements, from 0 on");
                    let remark = format!("there is no element {at}");
                    self.error("no-such-element", message, index.span, remark, "");
                    return None;
                }
                Some(Some(found))
            }
            (None, true) => {
                let message = format!("{name} is an array");
                let help = "write the index of an element in brackets";
                self.error("missing-index", message, reference.name.span, "which element?", help);
                None
            }
            (Some(index), false) => {
                let message = format!("{name} is not an array");
                self.error("not-an-array", message, index.span, "no elements", "");
                None
            }
        }
    }

    /// The location or variable of a name.
    pub fn location_name(&mut self, name: Name<'a>) -> Option<usize> {
        match self.symbol(name) {
            Some((Symbol::Shared(at), _)) => {
                self.used.shared[at] = true;
                return Some(at);
            }
            Some(_) if self.names.clashes.contains(name.text) => {}
            Some((other, declared)) => {
                let other = other.what(self.file);
                let message = format!("{} is {other}, not a location", quote(name.text));
                let diagnostic =
                    Diagnostic::error("unknown-location", message, name.span, "not a location");
                let label = format!("declared as {other} here");
                self.complaints.push(diagnostic.with_label(declared, label));
            }
            None if self.file.locations_complete => {
                let locations = self.file.shared.iter().map(|one| one.item.name.text);
                let meant = nearest(name.text, locations);
                let help = Help { meant, otherwise: "declare it with `var : ..;`" };
                let what = "is not declared as a location";
                self.unknown(name, "unknown-location", what, "unknown location", help);
            }
            None => {}
        }
        None
    }

    /// The location of a `read` or a `write`.
    pub fn location(&mut self, location: &ast::Ref<'a>) -> Option<Indexed> {
        let at = self.location_name(location.name)?;
        let shared = &self.names.shared[at];
        let declared = &self.file.shared[at];
        if declared.ty.is_some() {
            let message = format!("{} is a variable with a value", quote(location.name.text));
            let help = "`read` and `write` are for the locations of `var` lines; assign, or use \
                        it in an expression";
            self.error("access-of-variable", message, location.name.span, "has a value", help);
            return None;
        }
        let index = self.index(location, shared.length, declared.item.length.is_some())?;
        Some(Indexed { at, index })
    }

    /// A name in an expression.
    fn value(&mut self, reference: &ast::Ref<'a>) -> Option<(Expr, Sort)> {
        let name = reference.name;
        if let Some((found, ty)) = self.variable(reference, Purpose::Read)? {
            return Some((Expr::Variable(found), ty.sort()));
        }
        match self.symbol(name) {
            Some((Symbol::Constant(at), declared)) => {
                self.index(reference, None, false)?;
                let Some(constant) = self.names.constants.get(at) else {
                    let message = format!("the constant {} is declared later", quote(name.text));
                    let diagnostic =
                        Diagnostic::error("not-constant", message, name.span, "not known yet");
                    let diagnostic = diagnostic.with_label(declared, "declared here");
                    let help = "constants name those before them";
                    self.complaints.push(diagnostic.with_help(help));
                    return None;
                };
                constant.map(|literal| (Expr::Constant(literal), literal.sort()))
            }
            Some((Symbol::Enumerator(id, at), _)) => {
                self.index(reference, None, false)?;
                Some((Expr::Constant(Literal::Enumerator(id, at)), Sort::Enum(id)))
            }
            Some((Symbol::Lock(_), declared)) => {
                let message = format!("{} is a lock and has no value", quote(name.text));
                let diagnostic = Diagnostic::error("no-value", message, name.span, "no value");
                self.complaints.push(diagnostic.with_label(declared, "declared as a lock here"));
                None
            }
            Some((symbol @ (Symbol::Condition(_) | Symbol::Channel(_)), declared)) => {
                let what = symbol.what(self.file);
                let message = format!("{} is {what} and has no value", quote(name.text));
                let diagnostic = Diagnostic::error("no-value", message, name.span, "no value");
                let label = format!("declared as {what} here");
                self.complaints.push(diagnostic.with_label(declared, label));
                None
            }
            Some((Symbol::Shared(_), _)) => None,
            None => self.thread_value(reference),
        }
    }

    /// Whether an expression is a location without a value, and nothing else.
    pub fn is_valueless(&self, expr: &ast::Expr<'a>) -> bool {
        let ExprKind::Ref(reference) = &expr.kind else { return false };
        let name = reference.name;
        let is_local = self.scope.visible.contains_key(name.text);
        match self.symbol(name) {
            Some((Symbol::Shared(at), _)) => !is_local && self.file.shared[at].ty.is_none(),
            _ => false,
        }
    }

    /// A process, or one of its copies, as a value.
    fn thread_value(&mut self, reference: &ast::Ref<'a>) -> Option<(Expr, Sort)> {
        let name = reference.name;
        let Some(&process) = self.names.processes.get(name.text) else {
            if self.file.locations_complete && self.file.read_to_end {
                let shared = self.file.shared.iter().map(|one| one.item.name.text);
                let constants = self.file.constants.iter().map(|(name, _)| name.text);
                let locals = self.scope.visible.keys().copied();
                let meant = nearest(name.text, shared.chain(constants).chain(locals));
                let otherwise = match self.context {
                    _ if name.text == "null" => "write `none` for no thread",
                    _ if name.text == "this" => "write `me` for the thread",
                    Context::Constant => "declare it with `const n = 3;`",
                    _ => "declare it with a type, as in `int 0..7 : x;`",
                };
                let help = Help { meant, otherwise };
                let what = "is not declared";
                self.unknown(name, "unknown-variable", what, "unknown variable", help);
            }
            return None;
        };
        let Some(&number) = self.names.numbers.get(process) else {
            self.not_here("a thread", name.span);
            return None;
        };
        let found = self.thread(reference, process, number, "name")?;
        let index = found.index.unwrap_or(Expr::Constant(Literal::Int(0)));
        let literal = |copy: i64| {
            let copy = usize::try_from(copy).unwrap_or(0);
            let id = ThreadId::from_index(self.names.threads[process] + copy);
            Expr::Constant(Literal::Thread(Some(id)))
        };
        if let Ok(copy) = index.fold(None) {
            return Some((literal(copy), Sort::Thread));
        }
        // Which copy that is must be known for each copy of the process around.
        let threads = i64::try_from(number.threads()).unwrap_or(0);
        let around = self.process.map(|process| self.names.numbers[process]);
        let known = match around {
            Some(Number::Copies(copies)) => (0..copies)
                .all(|copy| index.fold(Some(copy)).is_ok_and(|at| (0..threads).contains(&at))),
            _ => false,
        };
        if !known {
            let message = format!("it is not known which copy of {} this is", quote(name.text));
            let help = "the index of a copy is a constant, or one for each value of `self`";
            let span = reference.index.as_ref().map_or(name.span, |index| index.span);
            self.error("not-constant", message, span, "not constant", help);
            return None;
        }
        Some((Expr::Thread(process, Box::new(index)), Sort::Thread))
    }

    /// The process of a `start` or a `join`, and which of its copies; `word` says what is done.
    pub fn process(&mut self, reference: &ast::Ref<'a>, word: &str) -> Option<Indexed> {
        let name = reference.name;
        let Some(&process) = self.names.processes.get(name.text) else {
            let all_named = self.file.processes.iter().all(|one| one.name.is_some());
            if all_named && self.file.read_to_end {
                let names = self.file.processes.iter().filter_map(|one| one.name);
                let meant = nearest(name.text, names.map(|name| name.text));
                let help = Help { meant, otherwise: "declare it with `process P waits { .. }`" };
                let what = "is not a process";
                self.unknown(name, "unknown-process", what, "unknown process", help);
            }
            return None;
        };
        self.thread(reference, process, self.names.numbers[process], word)
    }

    /// A process, or one of its copies.
    fn thread(
        &mut self,
        reference: &ast::Ref<'a>,
        process: usize,
        number: Number,
        word: &str,
    ) -> Option<Indexed> {
        let name = reference.name;
        let index = match &reference.index {
            None => None,
            Some(index) => Some((self.sorted(index, Sort::Int)?, index.span)),
        };
        let in_range = |index: &Expr, copies: u32| {
            index.fold(None).map_or(true, |at| (0..i64::from(copies)).contains(&at))
        };
        let (message, span, remark, help) = match (number, index) {
            (Number::One, None) => return Some(Indexed { at: process, index: None }),
            (Number::Any, None) if word == "start" => {
                return Some(Indexed { at: process, index: None });
            }
            (Number::Copies(copies), Some((index, _))) if in_range(&index, copies) => {
                return Some(Indexed { at: process, index: Some(index) });
            }
            (Number::Any, None) => (
                format!("there may be any number of {}", quote(name.text)),
                name.span,
                "not one thread",
                if word == "join" {
                    "only a process that is one thread can be joined, or one of several copies"
                } else {
                    "only a process that is one thread is a value, or one of several copies"
                },
            ),
            (Number::One | Number::Any, Some((_, span))) => (
                format!("the copies of {} have no numbers", quote(name.text)),
                span,
                "no such copy",
                "only a process that is written with a number of copies has numbered ones",
            ),
            (Number::Copies(copies), Some((_, span))) => (
                format!("there are {copies} copies of {}, from 0 on", quote(name.text)),
                span,
                "no such copy",
                "",
            ),
            (Number::Copies(copies), None) => (
                format!("there are {copies} copies of {}", quote(name.text)),
                name.span,
                "which of them?",
                "write the number of the copy in brackets",
            ),
        };
        self.error("no-such-copy", message, span, remark, help);
        None
    }

    /// The variable of a name, with its type. Nothing if the name means something else.
    #[expect(clippy::option_option, reason = "no variable, and a mistake")]
    pub fn variable(
        &mut self,
        reference: &ast::Ref<'a>,
        purpose: Purpose,
    ) -> Option<Option<(Ref, Type)>> {
        let name = reference.name;
        let local = self.scope.visible.get(name.text);
        let own = self.process.filter(|_| self.context == Context::Code).and_then(|process| {
            let at = *self.names.variable_places.get(process)?.get(name.text)?;
            let variable = &self.names.variables[process][at];
            Some((at, variable.ty, variable.length))
        });
        // What could not be understood was reported where it is declared.
        let unreadable = match (local, self.process) {
            (Some(at), _) => self.scope.unknown.contains(at),
            (None, Some(process)) if own.is_none() => {
                let mut declared = self.file.processes[process].variables.iter();
                declared.any(|one| one.item.name.text == name.text)
            }
            _ => false,
        };
        if unreadable {
            return None;
        }
        let (variable, ty, length, is_array) = if let Some(&at) = local {
            let local = &self.scope.locals[at];
            (Variable::Local(at), local.ty, local.length, local.length.is_some())
        } else if let Some((at, ty, length)) = own {
            (Variable::Process(at), ty, length, length.is_some())
        } else {
            let Some((Symbol::Shared(at), declared)) = self.symbol(name) else {
                return Some(None);
            };
            self.used.shared[at] = true;
            if self.context == Context::Constant {
                self.not_here(&quote(name.text), name.span);
                return None;
            }
            if self.file.shared[at].ty.is_none() {
                if std::mem::replace(&mut self.used.valueless[at], true) {
                    return None;
                }
                let name_of = name.text;
                let message = format!("{} is a location without a value", quote(name_of));
                let diagnostic = Diagnostic::error("no-value", message, name.span, "no value");
                let help = match purpose {
                    Purpose::Read => format!(
                        "declare it with a type, `int 0..7 : {name_of};`, or write `read {name_of};` \
                         and leave open what depends on it, as in `if (*)`"
                    ),
                    Purpose::Write => format!(
                        "declare it with a type, `int 0..7 : {name_of};`, or write `write \
                         {name_of};` in the place of the assignment, behind `read {name_of};` if it \
                         is read"
                    ),
                };
                let diagnostic = diagnostic.with_label(declared, "declared here").with_help(help);
                self.complaints.push(diagnostic);
                return None;
            }
            let shared = self.names.shared.get(at);
            let (ty, length) = (shared.and_then(|one| one.ty)?, shared.and_then(|one| one.length));
            (Variable::Shared(at), ty, length, self.file.shared[at].item.length.is_some())
        };
        let index = self.index(reference, length, is_array)?.map(Box::new);
        Some(Some((Ref { variable, index, place: name.place }, ty)))
    }
}

/// What is done with a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    Read,
    Write,
}
