//! Reads EML, the Empire Modeling Language: processes with functions, reentrant locks, shared
//! locations and units of work.
//!
//! ```
//! let text = "
//!     lock : l;
//!     var  : count;
//!     process T1 { main { unit { synchronized(l) { read count; } write count; } } }
//!     process T2 { synchronized(l) reset { write count; } main { while (*) reset(); } }
//! ";
//! let parsed = selvedge_front_eml::parse(text);
//! assert!(parsed.diagnostics.is_empty());
//! assert_eq!(parsed.program.expect("no errors").threads.len(), 2);
//! ```
//!
//! # Grammar
//! ```text
//! file      = { declaration | process }
//! declaration
//!           = ( "lock" | "mutex" ) ":" item { "," item } ";" | "chan" ":" NAME { "," NAME } ";"
//!           | "condition" item { "," item } ":" NAME ";"
//!           | [ "volatile" ] ( "var" ":" item { "," item } | type ":" shared { "," shared } ) ";"
//!           | "const" NAME "=" expr ";" | "enum" NAME "{" NAME { "," NAME } "}" ";"
//!           | "invariant" "(" expr ")" ";" | "atomicset" NAME ":" NAME { "," NAME } ";"
//! item      = NAME [ "[" expr "]" ]
//! type      = "bool" | "int" ( "mod" expr | expr ".." expr ) | "thread" | NAME
//! shared    = item [ "=" value ] [ "guarded" "by" ref | "exclusive" "when" "(" expr ")" ]
//! value     = "*" | expr
//! process   = "process" NAME [ "[" ( "*" | expr ) "]" ] [ "waits" ] "{" { variable } { function } "}"
//! variable  = type ":" item [ "=" value ] ";"
//! function  = { "synchronized" "(" ref ")" } NAME
//!             [ "(" [ type ":" NAME { "," type ":" NAME } ] ")" ] [ ":" type ] block
//! block     = "{" { statement } "}"
//! statement = ( "read" ref | "write" ref | NAME "(" arguments ")" | "skip" | "return" [ expr ] ) ";"
//!           | variable | ref "=" value ";" | ( "assert" | "assume" ) "(" expr ")" ";"
//!           | ( "acquire" | "release" | "wait" | "notify" | "notifyAll" ) "(" ref ")" ";"
//!           | ( "send" | "post" | "broadcast" | "recv" ) NAME ";"
//!           | "unit" block | "atomic" block | "synchronized" "(" ref ")" block | block
//!           | "if" "(" value ")" statement [ "else" statement ] | "while" "(" value ")" statement
//!           | "start" ref [ "(" arguments ")" ] ";" | "join" ref ";" | "label" NAME ":" statement
//! ref       = NAME [ "[" expr "]" ]
//! arguments = [ expr { "," expr } ]
//! ```
//! Operators from the loosest to the tightest: `=>` (groups to the right), `||`, `&&`, `^`, `==` and
//! `!=`, then `<`, `<=`, `>` and `>=` (no chains), `+` and `-`, then `*`, `/` and `%`, and the signs
//! `!` and `-`. Atoms are numbers, `true`, `false`, `none`, `self`, `me`, `choose(expr .. expr)`, an
//! expression in parentheses and a ref: a variable, a constant, an enumerator, a process. A call
//! `f(..)` and `tryacquire(ref)` stand as a whole right side only.
//!
//! A `;` may be missing before a `}`. `//` and `/* */` are comments. A NAME is a letter or `_`
//! followed by letters, digits and `_`. The words in quotes are reserved; but `mod`, `guarded`, `by`,
//! `exclusive`, `when` and `condition` are words only where the grammar has them. An `else` belongs to the nearest
//! `if`.
//!
//! # Where to start reading
//! `token` splits the text, `parser` builds the tree of `ast`, `names` finds out what the
//! declarations mean and `resolve` what the functions do, both with `check` for expressions; `lower`
//! builds the control-flow graphs of what is `resolved`. [`symbols`] and [`edit`] are for editors: where
//! names stand, and how a text changes where a lock is to be held.

mod ast;
mod check;
pub mod edit;
mod lower;
mod names;
mod parser;
mod resolve;
mod resolved;
pub mod symbols;
mod token;

use selvedge_base::{Diagnostic, Severity};
use selvedge_program::Program;
use selvedge_syntax::complaints::Complaints;

/// What was read.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The program; `Some` iff there is no error among the diagnostics.
    pub program: Option<Program>,
    /// The complaints in the order of their places.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a text.
pub fn parse(text: &str) -> Parsed {
    parse_within(text, Limits { bytes: u32::MAX as usize, edges: lower::EDGE_LIMIT })
}

/// What is refused as too large.
#[derive(Clone, Copy)]
struct Limits {
    /// The text must be shorter than this.
    bytes: usize,
    /// The program must not have more edges.
    edges: usize,
}

fn parse_within(text: &str, limits: Limits) -> Parsed {
    let mut complaints = Complaints::new();
    let program = read(text, limits, &mut complaints);
    let program = if complaints.has_errors() { None } else { program };
    Parsed { program, diagnostics: complaints.finish() }
}

fn read(text: &str, limits: Limits, complaints: &mut Complaints) -> Option<Program> {
    if text.len() >= limits.bytes {
        let message = "the file is too large: at most 4 GiB can be read";
        complaints.push(Diagnostic::global("file-too-large", Severity::Error, message));
        return None;
    }
    let file = parser::parse(text, complaints);
    let empty = file.declares_nothing();
    if empty && !complaints.has_errors() {
        let message = "the file is empty: it declares nothing";
        complaints.push(
            Diagnostic::global("empty-file", Severity::Error, message)
                .with_help("write at least `process P { main { skip; } }`"),
        );
        return None;
    }
    let (names, mut used) = names::declare(&file, complaints);
    let functions = resolve::resolve(&file, &names, &mut used, complaints);
    if complaints.has_errors() {
        return None;
    }
    // Where there are any number of threads there are two of them.
    let many = names.numbers.contains(&names::Number::Any);
    if names.thread_count < 2 && !many && !file.has_values() {
        let message = match file.processes.len() {
            0 => "there is no process, so there is no question about atomicity",
            _ => "there is only one process, so there is no question about atomicity",
        };
        complaints.push(Diagnostic::global("no-atomicity-question", Severity::Warning, message));
    }
    let Some(program) = lower::lower(&file, &names, &functions, limits.edges) else {
        let message = format!("the program has more than {} steps", limits.edges);
        complaints.push(
            Diagnostic::global("program-too-large", Severity::Error, message)
                .with_help("a `return` inside of many blocks takes one step for each of them"),
        );
        return None;
    };
    debug_assert_eq!(selvedge_program::validate::validate(&program), []);
    Some(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "process P { main { unit { unit { if (*) return; skip; } } } }";

    fn codes(limits: Limits) -> Vec<&'static str> {
        let parsed = parse_within(TEXT, limits);
        assert_eq!(parsed.program.is_some(), !parsed.diagnostics.iter().any(Diagnostic::is_error));
        parsed.diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
    }

    #[test]
    fn texts_and_programs_that_are_too_large_are_refused() {
        let edges = parse(TEXT).program.expect("no errors").edges.len();
        assert_eq!(codes(Limits { bytes: TEXT.len() + 1, edges }), ["no-atomicity-question"]);
        assert_eq!(codes(Limits { bytes: TEXT.len(), edges }), ["file-too-large"]);
        let one_less = codes(Limits { bytes: usize::MAX, edges: edges - 1 });
        assert_eq!(one_less, ["no-atomicity-question", "program-too-large"]);
    }
}
