//! Reads and writes concurrent Boolean programs, in the dialects of Boppo and of GETAFIX.
//!
//! ```
//! use selvedge_front_bool::{Dialect, Options, parse};
//!
//! let text = "
//!     decl busy;
//!     void main() begin
//!         busy := F;
//!         start_thread worker();
//!         start_thread worker();
//!     end
//!     void worker() begin
//!         assume(!busy);
//!         busy := T;
//!         assert(busy);
//!         busy := F;
//!     end
//! ";
//! let parsed = parse(text, &Options::default());
//! assert!(parsed.diagnostics.is_empty());
//! assert_eq!(parsed.dialect, Dialect::Boppo);
//! assert_eq!(parsed.program.expect("no errors").threads.len(), 3);
//! ```
//!
//! # Grammar
//! ```text
//! file       = { "decl" names ";" | function }
//! names      = NAME { "," NAME }
//! function   = [ "dfs" ] ( "void" | "bool" [ "<" NUMBER ">" ] ) NAME "(" [ names ] ")"
//!              "begin" { statement ";" | head } "end"
//! head       = "decl" names ";" | "enforce" expr ";"
//! statement  = { NAME ":" } [ simple ]
//! simple     = "skip" | "goto" names | "return" [ exprs ]
//!            | "if" expr "then" { statement ";" } { "elsif" expr "then" { statement ";" } }
//!              [ "else" { statement ";" } ] "fi"
//!            | "while" expr "do" { statement ";" } "od"
//!            | names ":=" exprs [ "constrain" expr ] | [ names ":=" ] NAME "(" [ exprs ] ")"
//!            | ( "assert" | "assume" | "constrain" ) "(" expr ")" | "abortif" expr | "dead" names
//!            | "start_thread" statement | "end_thread" | "sync" NAME
//!            | "atomic_begin" | "atomic_end"
//! exprs      = expr { "," expr }
//! expr       = "T" | "F" | "true" | "false" | "1" | "0" | "*" | "?" | NAME | "'" NAME | "(" expr ")"
//!            | "!" expr | expr OPERATOR expr | "schoose" "[" expr "," expr "]"
//! ```
//! A head may stand before any statement, also inside of `if` and `while`, and counts for the whole
//! function; a local is used only behind its declaration.
//! A `;` may be missing before a word that closes a block and behind `fi` and `od`. `//` and
//! `/* */` are comments. A NAME is a letter, `_` or `$` followed by letters, digits, `_`, `$` and
//! `.`, or anything between braces on one line (`{x > 0}`); `_` stands for a result that is dropped.
//! `dfs` is ignored. `?` is another sign for `*`.
//!
//! The operators are `!` (or `~`), which binds tightest, and between two operands `&` (`&&`), `|`
//! (`||`), `^`, `=` (`==`), `!=` and `=>`. The dialects differ in how tight these bind. Boppo: from
//! tight to loose `&`; `|`; `^`; `=`, `!=` and `=>`, which associate to the right. GETAFIX: from
//! tight to loose `=` and `!=`; `&`; `^`; `|`; `=>`, all of which associate to the left.
//!
//! # Threads
//! In Boppo's dialect `main` is the first thread. `start_thread f(..)`, and a call with a label
//! `ASYNC_n`, start others; `start_thread goto L` starts one that goes on at `L` of the same
//! function with copies of the locals, and any other statement one that executes just this
//! statement with copies of the locals. In GETAFIX's dialect `init` is the first thread; when it
//! ends it starts every other `void` function as a thread, with any arguments. A GETAFIX program
//! without `init` is sequential and runs `main`.
//!
//! # Where to start reading
//! `token` splits the text, `parser` builds the tree of `ast` with the operators of `precedence`,
//! `dialect` tells the dialects apart,
//! `names` finds out what names mean, `graph` builds control-flow graphs, `starts` counts how often
//! threads are started, `threads` decides which threads there are, `emit` cuts their procedures.
//! [`symbols`] is for editors: where names stand.

mod ast;
mod components;
mod dialect;
mod emit;
mod graph;
mod names;
mod parser;
mod precedence;
pub mod print;
mod starts;
pub mod symbols;
mod threads;
mod token;

pub use dialect::Dialect;
pub use print::{Unprintable, print, print_in};

use selvedge_base::{Diagnostic, Severity};
use selvedge_program::{Global, Program};
use selvedge_syntax::complaints::Complaints;

/// How a text is to be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// The dialect; `None` to find it out.
    pub dialect: Option<Dialect>,
    /// How many threads a site starts at most that could start any number of them.
    pub starts_per_site: Option<u32>,
}

/// What was read.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The program; `Some` iff there is no error among the diagnostics.
    pub program: Option<Program>,
    /// The dialect that was asked for or found.
    pub dialect: Dialect,
    /// Why it is this dialect, as half a sentence.
    pub why: String,
    /// The complaints in the order of their places.
    pub diagnostics: Vec<Diagnostic>,
    /// The labels in functions that no thread runs; the program does not have them.
    pub unused_labels: Vec<String>,
}

/// Reads a text.
pub fn parse(text: &str, options: &Options) -> Parsed {
    let mut complaints = Complaints::new();
    let mut parsed = Parsed {
        program: None,
        dialect: options.dialect.unwrap_or(Dialect::Boppo),
        why: "it was asked for".to_owned(),
        diagnostics: Vec::new(),
        unused_labels: Vec::new(),
    };
    read(text, options, &mut parsed, &mut complaints);
    if complaints.has_errors() {
        parsed.program = None;
    }
    parsed.diagnostics = complaints.finish();
    parsed
}

/// The tree of a text in the dialect that was asked for, or else in the one that it shows.
fn tree<'a>(
    text: &'a str,
    options: &Options,
    parsed: &mut Parsed,
    complaints: &mut Complaints,
) -> ast::File<'a> {
    let mut file = parser::parse(text, parsed.dialect, complaints);
    if options.dialect.is_none() {
        let tried = parsed.dialect;
        (parsed.dialect, parsed.why) = dialect::detect(&file);
        if parsed.dialect != tried {
            // What shows the dialect does not depend on how its operators bind.
            *complaints = Complaints::new();
            file = parser::parse(text, parsed.dialect, complaints);
        }
    }
    file
}

fn read(text: &str, options: &Options, parsed: &mut Parsed, complaints: &mut Complaints) {
    if text.len() >= u32::MAX as usize {
        let message = "the file is too large: at most 4 GiB can be read";
        complaints.push(Diagnostic::global("file-too-large", Severity::Error, message));
        return;
    }
    let file = tree(text, options, parsed, complaints);
    if file.globals.is_empty() && file.functions.is_empty() && !complaints.has_errors() {
        let message = "the file is empty: it declares nothing";
        complaints.push(
            Diagnostic::global("empty-file", Severity::Error, message)
                .with_help("write at least `void main() begin skip; end`"),
        );
        return;
    }
    if complaints.is_full() {
        return;
    }
    let names = names::Names::new(&file, complaints);
    let graphs = graph::build(&file, &names, complaints);
    if complaints.has_errors() {
        return;
    }
    let why = options.dialect.is_none().then_some(parsed.why.as_str());
    let reading = threads::Reading { dialect: parsed.dialect, why };
    let Some(threads) = threads::threads(&graphs, &names, &reading, options, complaints) else {
        return;
    };
    let unused = threads::unused(&graphs, &threads.plans, complaints);
    parsed.unused_labels = unused.into_iter().map(str::to_owned).collect();
    let globals = file.globals.iter();
    let globals =
        globals.map(|name| Global::flag(name.text.to_owned(), name.place, None)).collect();
    let limit = emit::EDGE_LIMIT;
    parsed.program = emit::emit(&graphs, globals, &threads.plans, &threads.instances, limit);
    if let Some(program) = &mut parsed.program {
        // That no violation exists is then true for this many starts only.
        program.starts_per_site = threads.limited;
        debug_assert_eq!(selvedge_program::validate::validate(program), []);
    } else {
        let message = format!("the program has more than {limit} steps");
        complaints.push(
            Diagnostic::global("program-too-large", Severity::Error, message)
                .with_help("every thread has its own copy of the functions that it can call"),
        );
    }
}
