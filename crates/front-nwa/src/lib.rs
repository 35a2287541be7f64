//! Nested-word automata in the form of `OpenNWA`, visibly pushdown automata in a form of the same kind,
//! and nested words: texts to automata and back.
//!
//! # Grammar
//! ```text
//! file   = [("nwa" | "vpa") [NAME] [":"]] ["{"] {block} ["}"]
//! block  = ("Q" | "Q0" | "Qf" | "Sigma") ":" ["{"] [NAME {"," NAME}] ["}"]
//!        | ("Delta_i" | "Delta_c" | "Delta_r") ":" ["{"] [tuple {"," tuple}] ["}"]
//! tuple  = "(" NAME {"," NAME} ")"
//! word   = {NAME | "<" NAME | NAME ">"}                internal, call, return
//! ```
//! A name is a word without white space and without any of `(){},:<>"#/`, or anything in double quotes
//! on one line, such as `"call f"`; `#`, `//` and `/* */` are comments. Tuples of an `nwa`:
//! `Delta_i` and `Delta_c` have `(p, a, q)`, `Delta_r` has `(p, c, a, q)` with the state `c` before the
//! call. Tuples of a `vpa`: `Delta_c` has `(p, a, q, g)` and pushes `g`, `Delta_r` has `(p, g, a, q)` and
//! pops it. In the place of a symbol `*` is every symbol for which there is no tuple with the same
//! first states; in the place of the last state `-` says that a symbol leads nowhere, so that `*` does
//! not stand for it; in the place of `g` in a `Delta_r` it is the empty stack. In a word `*` is any
//! symbol that the automaton does not name.
//!
//! States and symbols exist by being used; if there is a `Q` (or a `Sigma`), all must be in it.
//!
//! ```
//! let (nwa, complaints) = selvedge_front_nwa::parse_nwa(
//!     "Q0: out   Qf: out
//!      Delta_c: { (out, f, in) }   Delta_r: { (in, out, f, out) }   Delta_i: { (in, *, in) }",
//! );
//! assert!(complaints.is_empty());
//! let nwa = nwa.unwrap();
//! let (word, _) = selvedge_front_nwa::parse_word("<f anything f>", &nwa);
//! assert!(nwa.accepts(&word.unwrap()));
//! let again = selvedge_front_nwa::print_nwa(&nwa);
//! assert_eq!(selvedge_front_nwa::parse_nwa(&again).0, Some(nwa));
//! ```
//!
//! # Where to start reading
//! `parser` (texts to blocks), `automaton` (blocks to automata), `print`, `word`.

mod automaton;
mod parser;
mod print;
mod token;
mod word;

pub use automaton::{parse_nwa, parse_vpa};
pub use print::{dot, print_nwa, print_vpa, print_word};
pub use word::parse_word;
