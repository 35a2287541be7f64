//! Temporal formulas about the runs of a program.
//!
//! A formula says what is to be true along a run; `E` in front of it asks whether there is such a run,
//! `A` whether every run is one.
//!
//! ```text
//! E F (P1@a4 && P2@b4)                 // can both threads be there at once?
//! A G (holds(T1, l) -> F !holds(T1, l))
//! A (G F T1@idle)
//! ```
//!
//! # Grammar
//! ```text
//! file     = { "let" NAME "=" formula ";" | [ NAME ":" ] question ";" }
//! question = ( "E" | "A" ) formula
//! formula  = or [ "->" formula ]
//! or       = and { "||" and }
//! and      = until { "&&" until }
//! until    = unary [ ( "U" | "R" | "W" ) until ]
//! unary    = ( "!" | "F" | "G" | "GF" | "FG" | "X" [ "[" thread [ ":" deed ] "]" ] ) unary | atom
//! atom     = "(" formula ")" | "true" | "false" | thread "@" ( NAME | LINE ) | "in" "(" thread "," NAME ")"
//!          | "holds" "(" thread "," NAME ")" | "next" "(" thread "," deed ")"
//!          | ( "unit" | "ended" | "blocked" ) "(" thread ")" | "end" | "deadlock"
//!          | "{" expression "}" | NAME
//! deed     = ( "read" | "write" | "acquire" | "release" | "call" | "return" | "start" | "join"
//!          | "send" | "post" | "broadcast" | "recv" ) NAME | "begin" | "end"
//! thread   = NAME [ "[" NUMBER "]" ]
//! ```
//! A NAME is a letter or `_` followed by letters, digits and `_`, or anything in double quotes. A name
//! before `@` is a thread, whatever it is called; one that stands alone was given by `let`. `//` and
//! `/* */` are comments.
//!
//! # Where to start reading
//! `parser` reads formulas, with `names` and `condition` for what they speak of; [`normal`] brings them
//! into positive normal form; [`mod@fragment`] says what is known of formulas of their shape; [`mod@automaton`]
//! makes automata of them, and [`mod@chains`] lists of moments; [`show`](mod@show) writes them.
//! [`parse_probe`] reads expressions whose values are wanted along a run.
//! [`mod@branching`] reads formulas about trees of runs, and [`operators`] says what one run shows of them.
//!
//! ```
//! let source = "lock : l; process A { main { synchronized(l) { label inside: skip; } } }
//!               process B { main { synchronized(l) { label inside: skip; } } }";
//! let program = selvedge_front_eml::parse(source).program.expect("a program");
//! let (questions, diagnostics) =
//!     selvedge_logic::parse("E F (A@inside && B@inside)", &program, &[]);
//! assert!(diagnostics.is_empty());
//! assert_eq!(questions.len(), 1);
//! ```

pub mod automaton;
pub mod branching;
pub mod chains;
mod condition;
pub mod fragment;
mod names;
pub mod normal;
pub mod operators;
mod parser;
mod probe;
pub mod show;
mod token;

pub use automaton::automaton;
pub use branching::{BranchingFormula, parse_branching};
pub use chains::{NoChains, chains};
pub use fragment::{Fragment, fragment};
pub use operators::{linear, show_part};
pub use probe::parse_probe;

use selvedge_base::{Diagnostic, Severity};
use selvedge_program::{Program, TemporalQuestion, ThreadId};
use selvedge_syntax::complaints::Complaints;

/// Reads questions about the runs of a program, which are to be fair to these threads. There are none
/// if there is an error among the diagnostics.
pub fn parse(
    text: &str,
    program: &Program,
    fair: &[ThreadId],
) -> (Vec<TemporalQuestion>, Vec<Diagnostic>) {
    let mut complaints = Complaints::new();
    if u32::try_from(text.len()).is_err() {
        let message = "the file is too large: at most 4 GiB can be read";
        complaints.push(Diagnostic::global("file-too-large", Severity::Error, message));
        return (Vec::new(), complaints.finish());
    }
    let questions = parser::parse(text, program, fair, &mut complaints);
    let questions = if complaints.has_errors() { Vec::new() } else { questions };
    (questions, complaints.finish())
}
