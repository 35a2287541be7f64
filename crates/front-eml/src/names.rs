//! # Idea
//! Finds out what the declarations mean. Locks, locations, variables, constants and enumerators are
//! shared by all processes and have different names; functions and variables of a process belong to
//! it. A name may be used before it is declared, but for constants, which may name those before them.
//!
//! # Invariants
//! 1. If no error was reported, every declared name is in the [`Names`], with its type, its length
//!    and its first value.
//! 2. Names are not called unknown while declarations of their kind could not be read.

use crate::ast::{self, File, Name, Process};
use crate::check::{Checker, Context, Scope};
use crate::resolved::{Expr, Indexed};
use crate::token::quote;
use selvedge_base::{Diagnostic, Id, Place, Span};
use selvedge_program::copies::MOST_COPIES;
use selvedge_program::{EnumId, Literal, MOST_INVARIANTS, Type, Value};
use selvedge_syntax::complaints::Complaints;
use selvedge_syntax::nearest::nearest;
use std::collections::{HashMap, HashSet};

/// How many elements an array may have.
pub const MOST_ELEMENTS: u32 = 1 << 16;
/// How many variables and locks a program may have, elements counted.
const MOST_VARIABLES: usize = 1 << 20;

/// What a name means that all processes share, by its place in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Symbol {
    Lock(usize),
    Condition(usize),
    Channel(usize),
    Shared(usize),
    Constant(usize),
    Enumerator(EnumId, u32),
}

impl Symbol {
    /// What it is, with its article.
    pub fn what(self, file: &File<'_>) -> &'static str {
        match self {
            Self::Lock(_) => "a lock",
            Self::Condition(_) => "a condition",
            Self::Channel(_) => "a channel",
            Self::Shared(at) if file.shared[at].ty.is_some() => "a variable",
            Self::Shared(_) => "a location",
            Self::Constant(_) => "a constant",
            Self::Enumerator(..) => "an enumerator",
        }
    }
}

/// How many threads a process is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Number {
    One,
    Copies(u32),
    Any,
}

impl Number {
    /// How many threads of the program it is at first.
    pub fn threads(self) -> usize {
        match self {
            Self::Copies(copies) => copies as usize,
            Self::One | Self::Any => 1,
        }
    }
}

/// A location, or a variable that all processes share.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    /// The type of a variable.
    pub ty: Option<Type>,
    pub length: Option<u32>,
    /// The first value of each element; `None` for any.
    pub initial: Option<Value>,
    pub annotation: Option<Annotation>,
    /// The atomic set of its own that it belongs to.
    pub set: Option<usize>,
}

/// What protects a variable.
#[derive(Clone, Debug)]
pub enum Annotation {
    /// A lock, or the element of an array of locks with the same index.
    GuardedBy(Indexed),
    ExclusiveWhen(Expr),
}

/// A variable of every copy of a process.
#[derive(Clone, Debug)]
pub struct ProcessVariable<'a> {
    pub name: Name<'a>,
    pub ty: Type,
    pub length: Option<u32>,
    /// The first value of each element in each copy; `None` for any.
    pub initial: Vec<Option<Value>>,
}

/// A condition, or an array of them.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    /// Its lock, by its place in the file.
    pub lock: usize,
    pub length: Option<u32>,
    /// Whether each element of the array of locks has one.
    pub of_each: bool,
}

/// What a function takes and gives.
#[derive(Clone, Debug)]
pub struct Signature {
    pub parameters: Vec<Type>,
    pub result: Option<Type>,
}

/// What the names mean.
#[derive(Default)]
pub struct Names<'a> {
    pub values: HashMap<&'a str, (Symbol, Span)>,
    /// Names that mean several things, which is reported.
    pub clashes: HashSet<&'a str>,
    types: HashMap<&'a str, EnumId>,
    /// The processes, by their place in the file.
    pub processes: HashMap<&'a str, usize>,
    /// The functions of each process, by their place in it.
    pub functions: Vec<HashMap<&'a str, usize>>,
    /// What they take and give; `None` if that could not be found out.
    pub signatures: Vec<Vec<Option<Signature>>>,
    /// The variables of each process.
    pub variables: Vec<Vec<ProcessVariable<'a>>>,
    /// Their places among them.
    pub variable_places: Vec<HashMap<&'a str, usize>>,
    pub numbers: Vec<Number>,
    /// The first thread of each process.
    pub threads: Vec<usize>,
    /// How many threads there are.
    pub thread_count: usize,
    /// The lengths of the locks that are arrays.
    pub locks: Vec<Option<u32>>,
    /// The conditions; `None` if the lock could not be found out.
    pub conditions: Vec<Option<Condition>>,
    pub shared: Vec<Shared>,
    /// The values of the constants; `None` if that could not be found out.
    pub constants: Vec<Option<Literal>>,
    /// How many values each enumeration has.
    pub enums: Vec<usize>,
    pub invariants: Vec<(Place, Expr)>,
}

impl Names<'_> {
    /// The smallest and the largest value of a type.
    pub fn range(&self, ty: Type) -> (i64, i64) {
        match ty {
            Type::Bool => (0, 1),
            Type::Int { low, high } => (i64::from(low), i64::from(high)),
            Type::Mod(n) => (0, i64::from(n) - 1),
            Type::Enum(id) => (0, i64::try_from(self.enums[id.index()]).unwrap_or(i64::MAX) - 1),
            Type::Thread => (0, i64::try_from(self.thread_count).unwrap_or(i64::MAX)),
        }
    }

    /// What a variable of a type starts with.
    pub fn default_value(&self, ty: Type) -> Value {
        let (low, high) = self.range(ty);
        if (low..=high).contains(&0) { 0 } else { low as Value }
    }
}

/// What of the declarations is used.
pub struct Used {
    pub locks: Vec<bool>,
    /// Whether somebody waits for each condition, and whether somebody notifies it.
    pub conditions: Vec<[bool; 2]>,
    /// Whether something is sent over each channel, and whether something is received.
    pub channels: Vec<[bool; 2]>,
    pub shared: Vec<bool>,
    /// Whether it was said of a location that it has no value: once is enough.
    pub valueless: Vec<bool>,
    /// The functions of each process.
    pub functions: Vec<Vec<bool>>,
    /// Whether each process is started somewhere.
    pub started: Vec<bool>,
}

impl Used {
    fn nothing(file: &File<'_>) -> Self {
        Self {
            locks: vec![false; file.locks.len()],
            conditions: vec![[false; 2]; file.conditions.len()],
            valueless: vec![false; file.shared.len()],
            channels: vec![[false; 2]; file.channels.len()],
            shared: vec![false; file.shared.len()],
            functions: file.processes.iter().map(|one| vec![false; one.functions.len()]).collect(),
            started: vec![false; file.processes.len()],
        }
    }
}

/// Finds the meaning of all declarations and reports those that have none or several.
pub fn declare<'a>(file: &File<'a>, complaints: &mut Complaints) -> (Names<'a>, Used) {
    let mut declaring = Declaring {
        file,
        names: Names::default(),
        used: Used::nothing(file),
        complaints,
        variables: 0,
        no_locals: Scope::default(),
    };
    declaring.shared_names();
    declaring.processes();
    declaring.constants();
    declaring.numbers();
    declaring.variables();
    declaring.annotations();
    declaring.atomic_sets();
    for (at, process) in file.processes.iter().enumerate() {
        declaring.process(at, process);
    }
    (declaring.names, declaring.used)
}

struct Declaring<'t, 'a, 'c> {
    file: &'t File<'a>,
    names: Names<'a>,
    used: Used,
    complaints: &'c mut Complaints,
    /// How many variables and locks there are so far.
    variables: usize,
    no_locals: Scope<'a>,
}

/// Reports names that are declared twice.
pub fn declared_twice(
    what: &str,
    code: &'static str,
    name: Name<'_>,
    first: Span,
    complaints: &mut Complaints,
) {
    let message = format!("the {what} {} is declared twice", quote(name.text));
    let diagnostic = Diagnostic::error(code, message, name.span, "declared again here");
    complaints.push(diagnostic.with_label(first, "first declared here"));
}

impl<'a> Declaring<'_, 'a, '_> {
    fn checker(&mut self, context: Context) -> Checker<'_, 'a> {
        Checker {
            file: self.file,
            names: &self.names,
            used: &mut self.used,
            complaints: &mut *self.complaints,
            context,
            process: None,
            scope: &self.no_locals,
            uses_self: false,
        }
    }

    fn shared_names(&mut self) {
        let file = self.file;
        for (at, lock) in file.locks.iter().enumerate() {
            self.symbol(lock.item.name, Symbol::Lock(at), "duplicate-lock");
        }
        for (at, condition) in file.conditions.iter().enumerate() {
            self.symbol(condition.item.name, Symbol::Condition(at), "duplicate-name");
        }
        for (at, &channel) in file.channels.iter().enumerate() {
            self.symbol(channel, Symbol::Channel(at), "duplicate-channel");
        }
        for (at, shared) in file.shared.iter().enumerate() {
            self.symbol(shared.item.name, Symbol::Shared(at), "duplicate-location");
        }
        for (at, (name, _)) in file.constants.iter().enumerate() {
            self.symbol(*name, Symbol::Constant(at), "duplicate-name");
        }
        let mut spans: HashMap<&str, Span> = HashMap::new();
        for (at, one) in file.enums.iter().enumerate() {
            let id = EnumId::from_index(at);
            if let Some(&first) = spans.get(one.name.text) {
                declared_twice("enumeration", "duplicate-name", one.name, first, self.complaints);
            } else {
                spans.insert(one.name.text, one.name.span);
                self.names.types.insert(one.name.text, id);
            }
            self.names.enums.push(one.values.len());
            for (at, value) in one.values.iter().enumerate() {
                self.symbol(*value, Symbol::Enumerator(id, at as u32), "duplicate-name");
            }
        }
    }

    fn symbol(&mut self, name: Name<'a>, symbol: Symbol, duplicate: &'static str) {
        let Some(&(before, first)) = self.names.values.get(name.text) else {
            self.names.values.insert(name.text, (symbol, name.span));
            return;
        };
        let (old, new) = (before.what(self.file), symbol.what(self.file));
        if old == new {
            let what = new.split_once(' ').map_or(new, |(_, what)| what);
            declared_twice(what, duplicate, name, first, self.complaints);
            return;
        }
        self.names.clashes.insert(name.text);
        self.complaints.push(
            Diagnostic::error(
                "name-clash",
                format!("{} is the name of {old} and of {new}", quote(name.text)),
                name.span,
                format!("declared as {new} here"),
            )
            .with_label(first, format!("declared as {old} here"))
            .with_help("rename one of them"),
        );
    }

    /// The names of processes and of their functions.
    fn processes(&mut self) {
        let mut spans: HashMap<&str, Span> = HashMap::new();
        for (at, process) in self.file.processes.iter().enumerate() {
            if let Some(name) = process.name {
                if let Some(&first) = spans.get(name.text) {
                    let code = "duplicate-process";
                    declared_twice("process", code, name, first, self.complaints);
                } else {
                    spans.insert(name.text, name.span);
                    self.names.processes.insert(name.text, at);
                }
            }
            let mut own: HashMap<&str, usize> = HashMap::new();
            for (at, function) in process.functions.iter().enumerate() {
                let name = function.name;
                if let Some(&first) = own.get(name.text) {
                    let first = process.functions[first].name.span;
                    let code = "duplicate-function";
                    declared_twice("function", code, name, first, self.complaints);
                } else {
                    own.insert(name.text, at);
                }
            }
            missing_main(process, &own, self.complaints);
            self.names.functions.push(own);
        }
    }

    fn constants(&mut self) {
        for (_, value) in &self.file.constants {
            let mut checker = self.checker(Context::Constant);
            let value = checker.expr(value).and_then(|(expr, sort)| {
                let span = value.span;
                checker.constant(&expr, span, None).map(|value| (value, sort))
            });
            self.names.constants.push(value.map(|(value, sort)| literal(sort, value)));
        }
    }

    fn numbers(&mut self) {
        let mut next = 0;
        for process in &self.file.processes {
            let number = match &process.number {
                ast::Number::One => Number::One,
                ast::Number::Any => Number::Any,
                ast::Number::Copies(number) => self.number(number),
            };
            self.names.numbers.push(number);
            self.names.threads.push(next);
            next += number.threads();
        }
        self.names.thread_count = next;
    }

    fn number(&mut self, number: &ast::Expr<'a>) -> Number {
        let Some(value) = self.checker(Context::Constant).constant_number(number) else {
            return Number::One;
        };
        let (code, message, remark) = match value {
            ..=0 => ("no-copies", "a process has at least one copy".to_owned(), "no copy at all"),
            value if value > i64::from(MOST_COPIES) => {
                let message = format!("a process has at most {MOST_COPIES} copies");
                ("too-many-copies", message, "too many")
            }
            value => return Number::Copies(u32::try_from(value).unwrap_or(1)),
        };
        let diagnostic = Diagnostic::error(code, message, number.span, remark);
        self.complaints.push(match code {
            "too-many-copies" => diagnostic.with_help("write `[*]` for any number of copies"),
            _ => diagnostic,
        });
        Number::One
    }

    /// The lengths of locks and conditions, and the types, lengths and first values of what is shared.
    fn variables(&mut self) {
        for lock in &self.file.locks {
            let length = self.length(&lock.item, 1);
            self.names.locks.push(length);
        }
        for condition in &self.file.conditions {
            let condition = self.condition(condition);
            self.names.conditions.push(condition);
        }
        let mut last: Option<(*const ast::Type<'a>, Option<Type>)> = None;
        for shared in &self.file.shared {
            // The items of a line share their type, which is looked at once.
            let ty = shared.ty.as_ref().and_then(|ty| {
                let line = std::rc::Rc::as_ptr(ty);
                let known = last.filter(|(before, _)| *before == line);
                let ty = known.map_or_else(|| self.ty(ty), |(_, ty)| ty);
                last = Some((line, ty));
                ty
            });
            let length = self.length(&shared.item, 1);
            let initial = match (ty, &shared.initial) {
                (None, _) | (_, Some(ast::Value::Any)) => None,
                (Some(ty), None) => Some(self.names.default_value(ty)),
                (Some(ty), Some(ast::Value::Expr(expr))) => self.initial(expr, ty, None, None),
            };
            self.names.shared.push(Shared { ty, length, initial, annotation: None, set: None });
        }
    }

    /// The lock and the length of a condition.
    fn condition(&mut self, condition: &ast::Condition<'a>) -> Option<Condition> {
        let item = &condition.item;
        let own = self.length(item, 1);
        let lock = self.checker(Context::Constant).lock_name(condition.lock)?;
        let Some(row) = self.names.locks[lock] else {
            return Some(Condition { lock, length: own, of_each: false });
        };
        if let Some(length) = &item.length {
            let locks = quote(condition.lock.text);
            let message = format!("{locks} is an array: each of its locks has one condition");
            let remark = "no length here";
            let diagnostic = Diagnostic::error("array-length", message, length.span, remark);
            let help = format!("write `condition {} : ..;`", item.name.text);
            self.complaints.push(diagnostic.with_help(help));
        }
        self.count(item, row as usize);
        Some(Condition { lock, length: Some(row), of_each: true })
    }

    fn ty(&mut self, ty: &ast::Type<'a>) -> Option<Type> {
        self.checker(Context::Constant).ty(ty)
    }

    /// The length of an array; `None` for a scalar.
    fn length(&mut self, item: &ast::Item<'a>, copies: usize) -> Option<u32> {
        let length = self.checker(Context::Constant).length(item);
        self.count(item, copies.saturating_mul(length.unwrap_or(1) as usize));
        length
    }

    /// Counts variables, locks and conditions.
    fn count(&mut self, item: &ast::Item<'a>, number: usize) {
        self.variables = self.variables.saturating_add(number);
        if self.variables > MOST_VARIABLES {
            self.variables = 0;
            let message = format!(
                "there are more than {MOST_VARIABLES} variables and locks, elements counted"
            );
            let diagnostic =
                Diagnostic::error("array-length", message, item.name.span, "too many with this");
            self.complaints.push(diagnostic.with_help("make arrays shorter"));
        }
    }

    /// The first value of a variable of a type.
    fn initial(
        &mut self,
        value: &ast::Expr<'a>,
        ty: Type,
        process: Option<usize>,
        copy: Option<u32>,
    ) -> Option<Value> {
        let mut checker = self.checker(Context::Constant);
        checker.process = process;
        let expr = checker.sorted(value, ty.sort())?;
        let number = checker.constant(&expr, value.span, copy)?;
        let number = match ty {
            Type::Mod(n) => number.rem_euclid(i64::from(n)),
            _ => number,
        };
        let (low, high) = self.names.range(ty);
        if !(low..=high).contains(&number) {
            let message = format!("{number} is not between {low} and {high}");
            let remark = "out of the range of the type";
            self.complaints.push(Diagnostic::error("initial-value", message, value.span, remark));
            return None;
        }
        Some(number as Value)
    }

    fn annotations(&mut self) {
        for (at, shared) in self.file.shared.iter().enumerate() {
            let annotation = match &shared.annotation {
                None => continue,
                Some(ast::Annotation::GuardedBy(lock)) => {
                    let length = self.names.shared[at].length;
                    self.guard(lock, length).map(Annotation::GuardedBy)
                }
                Some(ast::Annotation::ExclusiveWhen(predicate)) => self
                    .checker(Context::Predicate)
                    .sorted(predicate, selvedge_program::Sort::Bool)
                    .map(Annotation::ExclusiveWhen),
            };
            self.names.shared[at].annotation = annotation;
        }
        for invariant in &self.file.invariants {
            let mut checker = self.checker(Context::Invariant);
            let condition = checker.sorted(&invariant.condition, selvedge_program::Sort::Bool);
            self.names.invariants.extend(condition.map(|one| (invariant.place, one)));
        }
        if let Some(first) = self.file.invariants.get(MOST_INVARIANTS) {
            let message = format!("a program has at most {MOST_INVARIANTS} invariants");
            let span = first.condition.span;
            let diagnostic = Diagnostic::error("too-many-invariants", message, span, "too many");
            self.complaints.push(diagnostic.with_help("join conditions with `&&`"));
        }
    }

    /// The lock of a `guarded by`.
    fn guard(&mut self, lock: &ast::Ref<'a>, length: Option<u32>) -> Option<Indexed> {
        let at = self.checker(Context::Constant).lock_name(lock.name)?;
        let row = self.names.locks[at];
        if lock.index.is_none()
            && let Some(locks) = row
        {
            if length == Some(locks) {
                return Some(Indexed { at, index: None });
            }
            let message = format!("{} is an array of {locks} locks", quote(lock.name.text));
            let help = match length {
                Some(length) => format!("the variable has {length} elements; name one lock"),
                None => "the variable is none; name one of the locks".to_owned(),
            };
            let remark = "not one lock, and not one for each element";
            let diagnostic = Diagnostic::error("annotation", message, lock.name.span, remark);
            self.complaints.push(diagnostic.with_help(help));
            return None;
        }
        let mut checker = self.checker(Context::Constant);
        let found = checker.indexed_lock(lock, at)?;
        if let (Some(index), Some(written)) = (&found.index, &lock.index) {
            checker.constant(index, written.span, None)?;
        }
        Some(found)
    }

    fn atomic_sets(&mut self) {
        let mut spans: HashMap<&str, Span> = HashMap::new();
        let mut members: HashMap<usize, Span> = HashMap::new();
        for (at, set) in self.file.atomic_sets.iter().enumerate() {
            if let Some(&first) = spans.get(set.name.text) {
                declared_twice("atomic set", "duplicate-name", set.name, first, self.complaints);
            }
            spans.insert(set.name.text, set.name.span);
            if set.name.text == DEFAULT_SET {
                let message = format!("{} is the atomic set of all others", quote(DEFAULT_SET));
                let diagnostic =
                    Diagnostic::error("duplicate-name", message, set.name.span, "taken");
                self.complaints.push(diagnostic.with_help("choose another name"));
            }
            for member in &set.members {
                let Some(shared) = self.checker(Context::Constant).location_name(*member) else {
                    continue;
                };
                if let Some(&first) = members.get(&shared) {
                    let message = format!("{} is in two atomic sets", quote(member.text));
                    let diagnostic =
                        Diagnostic::error("atomic-set", message, member.span, "here again");
                    self.complaints.push(diagnostic.with_label(first, "already in a set here"));
                } else {
                    members.insert(shared, member.span);
                    self.names.shared[shared].set = Some(at);
                }
            }
        }
    }

    /// The variables of a process, and what its functions take and give.
    fn process(&mut self, at: usize, process: &Process<'a>) {
        let number = self.names.numbers[at];
        let copies = number.threads();
        let mut own: Vec<ProcessVariable<'a>> = Vec::new();
        let mut names: HashMap<&str, usize> = HashMap::new();
        let mut spans: HashMap<&str, Span> = HashMap::new();
        for variable in &process.variables {
            let name = variable.item.name;
            if let Some(&first) = spans.get(name.text) {
                declared_twice("variable", "duplicate-name", name, first, self.complaints);
                continue;
            }
            spans.insert(name.text, name.span);
            let Some(ty) = self.ty(&variable.ty) else { continue };
            let length = self.length(&variable.item, copies);
            let initial = match &variable.initial {
                None => vec![Some(self.names.default_value(ty)); copies],
                Some(ast::Value::Any) => vec![None; copies],
                Some(ast::Value::Expr(expr)) => {
                    let mut values = Vec::with_capacity(copies);
                    for copy in 0..copies as u32 {
                        // Of any number of copies none is known.
                        let copy = (number != Number::Any).then_some(copy);
                        let value = self.initial(expr, ty, Some(at), copy);
                        values.push(value);
                        // One complaint is enough.
                        if value.is_none() {
                            break;
                        }
                    }
                    values
                }
            };
            names.insert(name.text, own.len());
            own.push(ProcessVariable { name, ty, length, initial });
        }
        self.names.variables.push(own);
        self.names.variable_places.push(names);
        let mut signatures = Vec::new();
        for function in &process.functions {
            let parameters: Option<Vec<Type>> =
                function.parameters.iter().map(|(ty, _)| self.ty(ty)).collect();
            let result = function.result.as_ref().map(|ty| self.ty(ty));
            let known = !matches!(result, Some(None));
            let signature =
                parameters.map(|parameters| Signature { parameters, result: result.flatten() });
            signatures.push(signature.filter(|_| known));
            if function.name.text == "main" {
                self.main(function, process);
            }
        }
        self.names.signatures.push(signatures);
    }

    fn main(&mut self, main: &ast::Function<'a>, process: &Process<'a>) {
        let span = main.name.span;
        if let (Some((_, first)), false) = (main.parameters.first(), process.waits) {
            let message = "`main` has parameters, but the process runs from the beginning";
            let diagnostic =
                Diagnostic::error("main-parameters", message, first.span, "nobody passes it");
            let help = "write `process P waits { .. }` and `start P(..);`";
            self.complaints.push(diagnostic.with_help(help));
        }
        if main.result.is_some() {
            let message = "`main` has a result, but nobody takes it";
            self.complaints.push(Diagnostic::error("main-parameters", message, span, "a result"));
        }
    }
}

/// The atomic set of all locations that are in none of their own.
pub const DEFAULT_SET: &str = "shared";

/// The constant of a sort with this value.
fn literal(sort: selvedge_program::Sort, value: i64) -> Literal {
    use selvedge_program::Sort;
    match sort {
        Sort::Bool => Literal::Bool(value != 0),
        Sort::Int => Literal::Int(value as i32),
        Sort::Enum(id) => Literal::Enumerator(id, u32::try_from(value).unwrap_or(0)),
        Sort::Thread => Literal::of(Type::Thread, value as Value),
    }
}

fn missing_main(process: &Process<'_>, own: &HashMap<&str, usize>, complaints: &mut Complaints) {
    if own.contains_key("main") || !process.complete {
        return;
    }
    let (message, span) = match process.name {
        Some(name) => (format!("the process {} has no `main`", quote(name.text)), name.span),
        None => ("this process has no `main`".to_owned(), process.keyword),
    };
    let missing =
        Diagnostic::error("missing-main", message, span, "no function `main` in this process");
    let names = process.functions.iter().map(|function| function.name.text);
    let near = nearest("main", names)
        .and_then(|near| process.functions.iter().find(|function| function.name.text == near));
    complaints.push(match near {
        Some(ast::Function { name, .. }) => missing
            .with_help(format!(
                "a process starts in `main`; did you mean `main` by {}?",
                quote(name.text)
            ))
            .with_replacement(name.span, "main"),
        None => missing.with_help("a process starts in `main`: add `main { .. }`"),
    });
}

impl<'a> Names<'a> {
    /// The enumeration of a name.
    pub fn enumeration(&self, name: Name<'a>) -> Option<EnumId> {
        self.types.get(name.text).copied()
    }

    /// The names of the enumerations.
    pub fn enumerations(&self) -> impl Iterator<Item = &'a str> {
        self.types.keys().copied()
    }
}
