//! # Idea
//! Where the names of a text stand and what they mean, by one walk over the tree. A text with mistakes
//! has a tree as well, of what could be read.
//!
//! # Source
//! The scopes are those of `check`: a local hides a variable of the process, and that one hides
//! what all processes share; types, processes, atomic sets and functions have names of their own.
//!
//! # Invariants
//! 1. In a text without errors, every name that means something declared is found.

use crate::ast::{
    Annotation, Block, Declaration, Expr, ExprKind, File, Function, Item, Name, Number, Process,
    Ref, Statement, StatementKind, Type, Value,
};
use crate::parser;
use crate::token::Kind;
use selvedge_base::{LineIndex, Place, Span};
use selvedge_syntax::complaints::Complaints;
use selvedge_syntax::symbols::{NameId, NameIndex, NameKind};
use selvedge_syntax::tokens::{TokenKind as _, Tokens};
use std::collections::HashMap;

/// What a text declares, and where the names stand.
pub fn symbols(text: &str) -> NameIndex {
    if u32::try_from(text.len()).is_err() {
        return NameIndex::default();
    }
    let file = parser::parse(text, &mut Complaints::new());
    let mut walk = Walk {
        lines: LineIndex::new(text),
        symbols: NameIndex::default(),
        values: HashMap::new(),
        types: HashMap::new(),
        processes: HashMap::new(),
        functions: HashMap::new(),
        variables: HashMap::new(),
        locals: Vec::new(),
    };
    walk.file(&file);
    walk.symbols.finish()
}

/// Whether a word is a name, and not reserved.
pub fn is_name(word: &str) -> bool {
    let mut tokens = Tokens::<Kind>::new(word);
    let first = tokens.next();
    first.kind == Kind::Name && first.text == word && tokens.next().kind == Kind::END
}

/// Whether a name says more than what it is the name of: a process starts in `main`, and nobody should
/// reach a label `ERROR`.
pub fn has_meaning(kind: NameKind, name: &str) -> bool {
    match kind {
        NameKind::Function => name == "main",
        NameKind::Label => name == "ERROR",
        NameKind::AtomicSet => name == crate::names::DEFAULT_SET,
        _ => false,
    }
}

/// Names of one kind; of several declarations the first counts.
type Table<'a> = HashMap<&'a str, NameId>;

/// From where an expression sees names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum View {
    /// What all processes share, and the locals around.
    Shared,
    /// The variables of the process, too.
    Process,
}

struct Walk<'a, 't> {
    lines: LineIndex<'t>,
    symbols: NameIndex,
    values: Table<'a>,
    types: Table<'a>,
    processes: Table<'a>,
    /// The functions and the variables of the process that is being read.
    functions: Table<'a>,
    variables: Table<'a>,
    /// The locals that can be seen, the latest last.
    locals: Vec<(&'a str, NameId)>,
}

impl<'a> Walk<'a, '_> {
    fn file(&mut self, file: &File<'a>) {
        for lock in &file.locks {
            self.value(lock.item.name, NameKind::Lock, None);
        }
        for condition in &file.conditions {
            self.value(condition.item.name, NameKind::Condition, None);
        }
        for &channel in &file.channels {
            self.value(channel, NameKind::Channel, None);
        }
        for shared in &file.shared {
            let kind = if shared.ty.is_some() { NameKind::Global } else { NameKind::Location };
            self.value(shared.item.name, kind, None);
        }
        for (name, _) in &file.constants {
            self.value(*name, NameKind::Constant, None);
        }
        for one in &file.enums {
            let id = self.declare(one.name, NameKind::Enumeration, None);
            self.types.entry(one.name.text).or_insert(id);
            for &value in &one.values {
                self.value(value, NameKind::Enumerator, Some(id));
                self.symbols.extend(id, value.span);
            }
        }
        let processes: Vec<Option<NameId>> = file
            .processes
            .iter()
            .map(|process| {
                let name = process.name?;
                let id = self.declare(name, NameKind::Process, None);
                self.symbols.extend(id, Span::new(process.keyword.start, process.end));
                self.processes.entry(name.text).or_insert(id);
                Some(id)
            })
            .collect();
        self.shared(file);
        for (process, id) in file.processes.iter().zip(processes) {
            self.process(process, id);
        }
    }

    /// What the declarations outside of processes mention.
    fn shared(&mut self, file: &File<'a>) {
        for lock in &file.locks {
            self.length(&lock.item);
        }
        for condition in &file.conditions {
            self.length(&condition.item);
            self.shared_name(condition.lock);
        }
        for shared in &file.shared {
            self.length(&shared.item);
            if let Some(ty) = &shared.ty {
                self.ty(ty);
            }
            if let Some(Value::Expr(initial)) = &shared.initial {
                self.expr(initial, View::Shared);
            }
            match &shared.annotation {
                None => {}
                Some(Annotation::GuardedBy(lock)) => {
                    self.shared_name(lock.name);
                    self.index(lock, View::Shared);
                }
                Some(Annotation::ExclusiveWhen(condition)) => self.expr(condition, View::Shared),
            }
        }
        for (_, value) in &file.constants {
            self.expr(value, View::Shared);
        }
        for invariant in &file.invariants {
            self.expr(&invariant.condition, View::Shared);
        }
        for set in &file.atomic_sets {
            let id = self.declare(set.name, NameKind::AtomicSet, None);
            for &member in &set.members {
                self.shared_name(member);
                self.symbols.extend(id, member.span);
            }
        }
        for process in &file.processes {
            if let Number::Copies(number) = &process.number {
                self.expr(number, View::Shared);
            }
        }
    }

    fn process(&mut self, process: &Process<'a>, id: Option<NameId>) {
        self.functions = Table::new();
        self.variables = Table::new();
        for variable in &process.variables {
            let name = variable.item.name;
            let own = self.declare(name, NameKind::Variable, id);
            self.variables.entry(name.text).or_insert(own);
        }
        let functions: Vec<NameId> = process
            .functions
            .iter()
            .map(|function| {
                let own = self.declare(function.name, NameKind::Function, id);
                self.functions.entry(function.name.text).or_insert(own);
                own
            })
            .collect();
        for variable in &process.variables {
            self.ty(&variable.ty);
            self.length(&variable.item);
            // A first value names no variable.
            if let Some(Value::Expr(initial)) = &variable.initial {
                self.expr(initial, View::Shared);
            }
        }
        for (function, own) in process.functions.iter().zip(functions) {
            self.function(function, own);
        }
    }

    fn function(&mut self, function: &Function<'a>, id: NameId) {
        let first = function.prefixes.first().map_or(function.name.span, |prefix| prefix.span);
        let end = self.behind_brace(function.body.close);
        self.symbols.extend(id, Span::new(first.start, end.unwrap_or(function.name.span.end)));
        self.locals.clear();
        for (ty, name) in &function.parameters {
            self.ty(ty);
            let own = self.declare(*name, NameKind::Parameter, Some(id));
            self.locals.push((name.text, own));
        }
        if let Some(result) = &function.result {
            self.ty(result);
        }
        for prefix in &function.prefixes {
            self.shared_reference(&prefix.lock);
        }
        self.block(&function.body, id);
        self.locals.clear();
    }

    /// The byte behind a closing brace.
    fn behind_brace(&self, close: Place) -> Option<u32> {
        Some(self.lines.offset(close)? + 1)
    }

    fn block(&mut self, block: &Block<'a>, function: NameId) {
        let visible = self.locals.len();
        for statement in &block.statements {
            self.statement(statement, function);
        }
        self.locals.truncate(visible);
    }

    /// A statement that is the whole body of another one.
    fn inner(&mut self, statement: &Statement<'a>, function: NameId) {
        let visible = self.locals.len();
        self.statement(statement, function);
        self.locals.truncate(visible);
    }

    fn statement(&mut self, statement: &Statement<'a>, function: NameId) {
        match &statement.kind {
            StatementKind::Read(location) | StatementKind::Write(location) => {
                self.shared_reference(location);
            }
            StatementKind::Call(name, arguments) => self.call(*name, arguments),
            StatementKind::Declare(declaration) => self.local(declaration, function),
            StatementKind::Assign(target, value) => {
                self.reference(target, View::Process);
                self.written(value);
            }
            StatementKind::Skip | StatementKind::Return(None) => {}
            StatementKind::Return(Some(value))
            | StatementKind::Assert(value)
            | StatementKind::Assume(value) => self.expr(value, View::Process),
            StatementKind::Unit(block)
            | StatementKind::Atomic(block)
            | StatementKind::Block(block) => self.block(block, function),
            StatementKind::Synchronized(lock, block) => {
                self.shared_reference(lock);
                self.block(block, function);
            }
            StatementKind::If(branches, otherwise) => {
                for branch in branches {
                    self.written(&branch.condition);
                    self.inner(&branch.body, function);
                }
                if let Some(otherwise) = otherwise {
                    self.inner(otherwise, function);
                }
            }
            StatementKind::While(condition, body) => {
                self.written(condition);
                self.inner(body, function);
            }
            StatementKind::Start(process, arguments) => {
                self.process_reference(process);
                self.exprs(arguments);
            }
            StatementKind::Join(process) => self.process_reference(process),
            StatementKind::Label(name, inner) => {
                self.declare(*name, NameKind::Label, Some(function));
                self.inner(inner, function);
            }
            StatementKind::Lock(_, lock) => self.shared_reference(lock),
            StatementKind::Channel(_, channel) => self.shared_name(*channel),
        }
    }

    fn local(&mut self, declaration: &Declaration<'a>, function: NameId) {
        self.ty(&declaration.ty);
        self.length(&declaration.item);
        // The value is computed before there is the variable.
        if let Some(initial) = &declaration.initial {
            self.written(initial);
        }
        let name = declaration.item.name;
        let own = self.declare(name, NameKind::Local, Some(function));
        self.locals.push((name.text, own));
    }

    fn written(&mut self, value: &Value<'a>) {
        if let Value::Expr(expr) = value {
            self.expr(expr, View::Process);
        }
    }

    fn call(&mut self, name: Name<'a>, arguments: &[Expr<'a>]) {
        let found = self.functions.get(name.text).copied();
        self.mention(name, found);
        self.exprs(arguments);
    }

    fn exprs(&mut self, arguments: &[Expr<'a>]) {
        for argument in arguments {
            self.expr(argument, View::Process);
        }
    }

    fn ty(&mut self, ty: &Type<'a>) {
        match ty {
            Type::Bool | Type::Thread => {}
            Type::Range(low, high) => {
                self.expr(low, View::Shared);
                self.expr(high, View::Shared);
            }
            Type::Mod(number) => self.expr(number, View::Shared),
            Type::Enum(name) => {
                let found = self.types.get(name.text).copied();
                self.mention(*name, found);
            }
        }
    }

    fn length(&mut self, item: &Item<'a>) {
        if let Some(length) = &item.length {
            self.expr(length, View::Shared);
        }
    }

    fn expr(&mut self, expr: &Expr<'a>, view: View) {
        match &expr.kind {
            ExprKind::Number(_)
            | ExprKind::Truth(_)
            | ExprKind::None
            | ExprKind::SelfIndex
            | ExprKind::Me => {}
            ExprKind::Ref(reference) => self.reference(reference, view),
            ExprKind::Choose(left, right) | ExprKind::Binary(_, left, right) => {
                self.expr(left, view);
                self.expr(right, view);
            }
            ExprKind::Not(inner) | ExprKind::Negate(inner) => self.expr(inner, view),
            ExprKind::Call(name, arguments) => self.call(*name, arguments),
            ExprKind::TryAcquire(lock) => self.shared_reference(lock),
        }
    }

    /// A name in an expression, or what is assigned.
    fn reference(&mut self, reference: &Ref<'a>, view: View) {
        let text = reference.name.text;
        let local = self.locals.iter().rev().find(|(name, _)| *name == text).map(|&(_, id)| id);
        let own = || self.variables.get(text).filter(|_| view == View::Process).copied();
        let shared = || self.values.get(text).or_else(|| self.processes.get(text)).copied();
        let found = local.or_else(own).or_else(shared);
        self.mention(reference.name, found);
        self.index(reference, view);
    }

    /// The name of a lock or a location.
    fn shared_reference(&mut self, reference: &Ref<'a>) {
        self.shared_name(reference.name);
        self.index(reference, View::Process);
    }

    fn shared_name(&mut self, name: Name<'a>) {
        let found = self.values.get(name.text).copied();
        self.mention(name, found);
    }

    fn process_reference(&mut self, reference: &Ref<'a>) {
        let found = self.processes.get(reference.name.text).copied();
        self.mention(reference.name, found);
        self.index(reference, View::Process);
    }

    fn index(&mut self, reference: &Ref<'a>, view: View) {
        if let Some(index) = &reference.index {
            self.expr(index, view);
        }
    }

    fn value(&mut self, name: Name<'a>, kind: NameKind, within: Option<NameId>) {
        let id = self.declare(name, kind, within);
        self.values.entry(name.text).or_insert(id);
    }

    fn declare(&mut self, name: Name<'a>, kind: NameKind, within: Option<NameId>) -> NameId {
        self.symbols.declare(name.text, kind, name.span, within)
    }

    fn mention(&mut self, name: Name<'a>, symbol: Option<NameId>) {
        if let Some(symbol) = symbol {
            self.symbols.mention(name.span, symbol);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines, from 1, in which the name declared at the `n`th occurrence of `text` stands.
    fn lines(source: &str, text: &str, nth: usize) -> Vec<usize> {
        let symbols = symbols(source);
        let (at, _) = source.match_indices(text).nth(nth).expect("the text is there");
        let found = symbols.at(at as u32).expect("a name").symbol;
        let line = |span: Span| source[..span.start as usize].matches('\n').count() + 1;
        symbols.mentions(found).map(line).collect()
    }

    const TEXT: &str = "const n = 2;
enum Colour { Red, Green };
lock : x1[n];
int 0..n : x, y = n guarded by x1[0];
bool : free;
atomicset pair : x, y;
process P[n] waits {
    Colour : own = Red;
    f(int 0..7 : x) : bool {
        x = x + y;
        bool : y = x == 1;
        { Colour : free = own; own = free; }
        return y && free;
    }
    main { bool : x; x = f(self); synchronized(x1[self]) { own = Green; label here: skip; } }
}
process Q {
    synchronized(x1[1]) f { x = n; }
    main { f(); start P[0]; join P[n - 1]; thread : t = P[0]; assert(t != none); }
}
";

    #[test]
    fn names_are_looked_up_from_the_inside() {
        assert!(crate::parse(TEXT).program.is_some(), "{:?}", crate::parse(TEXT).diagnostics);
        assert_eq!(lines(TEXT, "n = 2", 0), [1, 3, 4, 4, 7, 18, 19]);
        assert_eq!(lines(TEXT, "x1", 0), [3, 4, 15, 18]);
        assert_eq!(lines(TEXT, "x, y", 0), [4, 6, 18]);
        assert_eq!(lines(TEXT, "y = n", 0), [4, 6, 10]);
        assert_eq!(lines(TEXT, "x) :", 0), [9, 10, 10, 11]);
        assert_eq!(lines(TEXT, "y = x", 0), [11, 13]);
        assert_eq!(lines(TEXT, "free", 0), [5, 13]);
        assert_eq!(lines(TEXT, "free = own", 0), [12, 12]);
        assert_eq!(lines(TEXT, "own", 0), [8, 12, 12, 15]);
        assert_eq!(lines(TEXT, "Colour", 0), [2, 8, 12]);
        assert_eq!(lines(TEXT, "Red", 0), [2, 8]);
        assert_eq!(lines(TEXT, "P[n]", 0), [7, 19, 19, 19]);
        assert_eq!(lines(TEXT, "f(int", 0), [9, 15]);
        assert_eq!(lines(TEXT, "f {", 0), [18, 19]);
        assert_eq!(lines(TEXT, "x; x", 0), [15, 15]);
        assert_eq!(lines(TEXT, "t = P", 0), [19, 19]);
        assert_eq!(lines(TEXT, "here", 0), [15]);
    }

    #[test]
    fn declarations_know_their_extent_and_what_they_are_in() {
        let symbols = symbols(TEXT);
        let of = |name: &str, kind: NameKind| {
            symbols
                .symbols
                .iter_enumerated()
                .find(|(_, one)| one.name == name && one.kind == kind)
                .expect("it is declared")
        };
        let (p, process) = of("P", NameKind::Process);
        let text = &TEXT[process.extent.range()];
        assert!(text.starts_with("process P") && text.ends_with("} }\n}"), "{text}");
        let (f, function) = of("f", NameKind::Function);
        let text = &TEXT[function.extent.range()];
        assert!(text.starts_with("f(int") && text.ends_with("free;\n    }"), "{text}");
        assert_eq!(function.within, Some(p));
        assert_eq!(of("x", NameKind::Parameter).1.within, Some(f));
        let (q, _) = of("Q", NameKind::Process);
        let first = symbols.members(Some(q))[0];
        let text = &TEXT[symbols.symbols[first].extent.range()];
        assert_eq!(text, "synchronized(x1[1]) f { x = n; }");
    }

    #[test]
    fn a_text_with_mistakes_keeps_the_names_that_could_be_read() {
        let text = "lock : l;\nvar : x\nprocess P { main { synchronized(l) { read x; write ; } }\n\
                    process Q { main { read x; acquire(l) } ";
        assert!(crate::parse(text).program.is_none());
        assert_eq!(lines(text, "l;", 0), [1, 3, 4]);
        assert_eq!(lines(text, "x", 0), [2, 3, 4]);
        let symbols = symbols(text);
        let all: Vec<&str> = symbols.symbols.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(all, ["l", "x", "P", "Q", "main", "main"]);
    }

    #[test]
    fn names_and_words() {
        for name in ["x", "_", "x1", "by", "guarded", "mod", "when"] {
            assert!(is_name(name), "{name}");
        }
        for wrong in ["", " x", "x ", "1x", "é", "x y", "lock", "self", "x;", "x//", "a-b", "\0"] {
            assert!(!is_name(wrong), "{wrong:?}");
        }
        assert!(has_meaning(NameKind::Function, "main") && !has_meaning(NameKind::Lock, "main"));
    }
}
