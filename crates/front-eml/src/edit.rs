//! # Idea
//! How a text changes where a lock is to be held around something: a statement gets a `synchronized`
//! block of its own, a function whose prefix takes a lock gets one more prefix before it, and a lock that
//! does not exist yet gets a declaration.
//!
//! # Invariants
//! 1. The changed text means what the text means, with the lock held around each statement at one of the
//!    places. Where that cannot be said by adding something, nothing is changed.

use crate::ast::{Block, Expr, ExprKind, File, Ref, Statement, StatementKind, Value};
use crate::parser;
use crate::symbols::symbols;
use selvedge_base::{LineIndex, Place};
use selvedge_syntax::complaints::Complaints;

/// What to insert where, in the order of the text.
pub type Insertions = Vec<(u32, String)>;

/// What to insert so that `lock` is held at all these places; a new lock if there is none. `None` if
/// there is a mistake in the text, or if no insertion has this meaning.
pub fn hold(text: &str, lock: Option<&str>, places: &[Place]) -> Option<Insertions> {
    if u32::try_from(text.len()).is_err() {
        return None;
    }
    let mut complaints = Complaints::new();
    let file = parser::parse(text, &mut complaints);
    if complaints.has_errors() || places.is_empty() {
        return None;
    }
    let lines = LineIndex::new(text);
    let mut insertions = Insertions::new();
    let name = lock.map_or_else(|| new_name(text), str::to_owned);
    if lock.is_none() {
        insertions.push((beginning(&file)?, format!("lock : {name};\n")));
    }
    for &place in places {
        let at = lines.offset(place)?;
        let found = file.processes.iter().flat_map(|process| &process.functions).find_map(|one| {
            let prefix = one.prefixes.iter().find(|prefix| prefix.span.start == at);
            match prefix {
                Some(_) => Some((at, None)),
                None => in_block(&one.body, at).map(|(start, end)| (start, Some(end))),
            }
        });
        match found? {
            (start, None) => insertions.push((start, format!("synchronized({name}) "))),
            (start, Some(end)) => {
                insertions.push((start, format!("synchronized({name}) {{ ")));
                insertions.push((end, " }".to_owned()));
            }
        }
    }
    insertions.sort();
    // Several accesses of one statement are held together.
    insertions.dedup();
    Some(insertions)
}

/// Where the first process begins; what is shared may be declared there.
fn beginning(file: &File<'_>) -> Option<u32> {
    file.processes.iter().map(|one| one.keyword.start).min()
}

/// A name that nothing in the text has.
fn new_name(text: &str) -> String {
    let symbols = symbols(text);
    let taken = |name: &str| symbols.symbols.iter().any(|symbol| symbol.name == name);
    let numbered = (2..).map(|number| format!("guard{number}"));
    let mut names = std::iter::once("guard".to_owned()).chain(numbered);
    names.find(|name| !taken(name)).unwrap_or_default()
}

/// The bytes of the statement that begins at a byte, or that accesses something there.
fn in_block(block: &Block<'_>, at: u32) -> Option<(u32, u32)> {
    let around = |one: &&Statement<'_>| (one.span.start..one.end).contains(&at);
    in_statement(block.statements.iter().find(around)?, at)
}

fn in_statement(statement: &Statement<'_>, at: u32) -> Option<(u32, u32)> {
    let whole = Some((statement.span.start, statement.end));
    let begins = statement.span.start == at;
    match &statement.kind {
        // What is declared would not be seen outside any more, and a callee would hold it as well; the
        // others have accesses only where they compute what they are about.
        StatementKind::Declare(_)
        | StatementKind::Call(..)
        | StatementKind::Start(..)
        | StatementKind::Join(_)
        | StatementKind::Lock(..)
        | StatementKind::Channel(..) => None,
        StatementKind::Assign(_, Value::Expr(expr)) if calls(expr) => None,
        StatementKind::Return(Some(expr)) if calls(expr) => None,
        StatementKind::Read(_)
        | StatementKind::Write(_)
        | StatementKind::Assign(..)
        | StatementKind::Skip
        | StatementKind::Return(_)
        | StatementKind::Assert(_)
        | StatementKind::Assume(_) => whole,
        StatementKind::Unit(block)
        | StatementKind::Atomic(block)
        | StatementKind::Synchronized(_, block)
        | StatementKind::Block(block) => {
            if begins {
                whole
            } else {
                in_block(block, at)
            }
        }
        StatementKind::Label(_, inner) => {
            let inside = (inner.span.start..inner.end).contains(&at);
            if inside { in_statement(inner, at) } else { None }
        }
        // A condition is no statement.
        StatementKind::If(branches, otherwise) => {
            let bodies = branches.iter().map(|branch| &branch.body);
            let mut bodies = bodies.chain(otherwise.as_deref());
            let body = bodies.find(|body| (body.span.start..body.end).contains(&at))?;
            in_statement(body, at)
        }
        StatementKind::While(_, body) => {
            let inside = (body.span.start..body.end).contains(&at);
            if inside { in_statement(body, at) } else { None }
        }
    }
}

/// Whether an expression calls something.
fn calls(expr: &Expr<'_>) -> bool {
    let in_index = |reference: &Ref<'_>| reference.index.as_deref().is_some_and(calls);
    match &expr.kind {
        ExprKind::Call(..) | ExprKind::TryAcquire(_) => true,
        ExprKind::Ref(reference) => in_index(reference),
        ExprKind::Choose(left, right) | ExprKind::Binary(_, left, right) => {
            calls(left) || calls(right)
        }
        ExprKind::Not(inner) | ExprKind::Negate(inner) => calls(inner),
        ExprKind::Number(_)
        | ExprKind::Truth(_)
        | ExprKind::None
        | ExprKind::SelfIndex
        | ExprKind::Me => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(text: &str, lock: Option<&str>, places: &[(u32, u32)]) -> Option<String> {
        let places: Vec<Place> =
            places.iter().map(|&(line, column)| Place::new(line, column)).collect();
        let mut changed = text.to_owned();
        for (at, what) in hold(text, lock, &places)?.iter().rev() {
            changed.insert_str(*at as usize, what);
        }
        assert!(crate::parse(&changed).program.is_some(), "{changed}");
        Some(changed)
    }

    const TEXT: &str = "// é
lock : l, m;
var : x;
bool : b, c;
process P {
    synchronized(l) f { skip; }
    main { unit { read x; } b = c && b; if (b) write x; bool : d = c; label e: f(); }
}
process Q { main { read x; f(); } f { skip; } }
";

    #[test]
    fn statements_and_prefixes_get_a_lock_around_them() {
        let change = |place: (u32, u32), from: &str, to: &str| {
            let changed = held(TEXT, Some("m"), &[place]).expect("it can be held");
            assert_eq!(changed, TEXT.replacen(from, to, 1));
        };
        change((7, 12), "unit { read x; }", "synchronized(m) { unit { read x; } }");
        change((7, 19), "read x;", "synchronized(m) { read x; }");
        change((7, 33), "b = c && b;", "synchronized(m) { b = c && b; }");
        change((7, 48), "write x;", "synchronized(m) { write x; }");
        change((6, 5), "synchronized(l) f", "synchronized(m) synchronized(l) f");
    }

    #[test]
    fn one_statement_is_changed_once() {
        let changed = held(TEXT, Some("m"), &[(7, 33), (7, 38), (9, 20)]).expect("it can be held");
        let expected = TEXT.replacen("b = c && b;", "synchronized(m) { b = c && b; }", 1).replacen(
            "Q { main { read x;",
            "Q { main { synchronized(m) { read x; }",
            1,
        );
        assert_eq!(changed, expected);
    }

    #[test]
    fn a_new_lock_is_declared() {
        let changed = held(TEXT, None, &[(9, 20)]).expect("it can be held");
        let expected = TEXT.replacen("process P", "lock : guard;\nprocess P", 1).replacen(
            "Q { main { read x;",
            "Q { main { synchronized(guard) { read x; }",
            1,
        );
        assert_eq!(changed, expected);
        let taken = TEXT.replace("l, m", "l, guard, guard2");
        assert!(held(&taken, None, &[(9, 20)]).expect("held").contains("lock : guard3;"));
    }

    #[test]
    fn what_cannot_be_said_by_an_insertion_is_refused() {
        // A condition, a declaration, a call, nothing, and a text with a mistake.
        for place in [(7, 44), (7, 57), (7, 68), (7, 76), (1, 1), (40, 1), (5, 9)] {
            assert_eq!(held(TEXT, Some("m"), &[place]), None, "{place:?}");
        }
        assert_eq!(hold("process P { main { skip }", Some("l"), &[Place::new(1, 20)]), None);
        assert_eq!(hold(TEXT, Some("l"), &[]), None);
    }
}
