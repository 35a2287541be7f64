//! # Idea
//! Expressions whose values along a run somebody wants to see: conditions without braces that may be
//! numbers, too, and may name locals of threads, as `T.x`. The signs of Boolean programs (`&`, `|`, `=`,
//! `T`, `F`) mean what they mean there.

use crate::parser::Parser;
use crate::token::Kind;
use selvedge_base::{Diagnostic, Severity};
use selvedge_program::{ProbeExpr, Program};
use selvedge_syntax::complaints::Complaints;

/// Reads an expression over the variables of a program, or says what is wrong with it.
pub fn parse_probe(text: &str, program: &Program) -> (Option<ProbeExpr>, Vec<Diagnostic>) {
    let mut complaints = Complaints::new();
    if u32::try_from(text.len()).is_err() {
        let message = "the expression is too large: at most 4 GiB can be read";
        complaints.push(Diagnostic::global("file-too-large", Severity::Error, message));
        return (None, complaints.finish());
    }
    let mut parser = Parser::new(text, program, &mut complaints);
    parser.probed = Some(Vec::new());
    let read = parser.probe().ok();
    if read.is_some() && !parser.cursor.at(Kind::End) {
        let message =
            format!("expected the end of the expression, found {}", parser.cursor.found());
        let help = "write an operator between two expressions; `--show` takes one expression";
        parser.cursor.report_here("missing-sign", message, "behind the end", help);
    }
    let locals = parser.probed.take().unwrap_or_default();
    let read = read.filter(|_| !complaints.has_errors());
    let probe = read.map(|(expr, sort)| {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        ProbeExpr { text, expr, sort, locals }
    });
    (probe, complaints.finish())
}
