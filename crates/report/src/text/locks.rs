//! # Idea
//! What protects each variable, for people: one line per variable, below it the accesses that break
//! something.

use crate::answers::Answers;
use crate::describe::list;
use crate::escape::visible;
use crate::interleaving::{Detail, run};
use crate::places::short;
use crate::terminal::{Terminal, Tone};
use crate::width::{columns, padded};
use selvedge_program::{AccessSite, LockId, Program, ProtectionKind, Trace, VariableProtection};
use std::fmt::Write as _;

/// How many locks are named that do not protect a variable.
const MOST_LOCKS: usize = 8;

/// Renders the table.
pub(super) fn render(
    out: &mut String,
    rows: &[VariableProtection],
    program: &Program,
    terminal: Terminal,
) {
    let so_far = if rows.iter().all(|row| row.proved) { "proved" } else { "so far" };
    let heading = format!("what protects each variable, {so_far}");
    let _ = writeln!(out, "{}", terminal.paint(Tone::Heading, heading));
    let names = rows.iter().map(|row| columns(&visible(&row.variable)));
    let width = names.max().unwrap_or(0).min(terminal.width / 3);
    for row in rows {
        let name = padded(&visible(&row.variable), width);
        let what = by(row, program);
        let what = match row.kind {
            ProtectionKind::None => terminal.paint(Tone::Bad, what),
            _ => what,
        };
        let _ = writeln!(out, "  {name}  {what}");
        let indent = " ".repeat(width + 6);
        if let Some(clash) = &row.clash {
            let (one, other) = (access(&clash.0, program), access(&clash.1, program));
            let _ = writeln!(out, "{indent}{one} clashes with {other}");
        }
        if matches!(row.kind, ProtectionKind::Thread(_) | ProtectionKind::ReadOnly) {
            continue;
        }
        for (lock, site) in row.broken_by.iter().take(MOST_LOCKS) {
            let lock = visible(&program.locks[*lock].name);
            let _ = writeln!(out, "{indent}without {lock}: {}", access(site, program));
        }
        if row.broken_by.len() > MOST_LOCKS {
            let rest = row.broken_by.len() - MOST_LOCKS;
            let _ = writeln!(out, "{indent}… and {rest} more (--format json lists all)");
        }
    }
    out.push('\n');
}

/// The run to the access that leaves a variable without protection.
pub(super) fn render_why(
    out: &mut String,
    answers: &Answers<'_>,
    variable: &str,
    why: Option<&(AccessSite, Trace)>,
    detail: Detail,
    terminal: Terminal,
) {
    let program = answers.program;
    let Some((site, trace)) = why else {
        let text = format!("no access leaves {} without protection", visible(variable));
        let _ = writeln!(out, "{text}\n");
        return;
    };
    let heading = format!("why {}: {}", visible(variable), access(site, program));
    let _ = writeln!(out, "{}", terminal.paint(Tone::Heading, heading));
    out.push_str(&run::render_from_first(trace, program, detail, terminal));
    out.push('\n');
}

/// `guarded by m`, `local to T` and so on.
fn by(row: &VariableProtection, program: &Program) -> String {
    match &row.kind {
        _ if !row.accessed => "not accessed".to_owned(),
        ProtectionKind::Locks(locks) => format!("guarded by {}", names(locks, program)),
        ProtectionKind::Thread(thread) => {
            format!("local to {}", visible(&program.threads[*thread].name))
        }
        ProtectionKind::ReadOnly => "read-only".to_owned(),
        ProtectionKind::Pairwise => "guarded pairwise".to_owned(),
        ProtectionKind::Exclusive => "exclusive, as it is annotated".to_owned(),
        ProtectionKind::None => "unprotected".to_owned(),
    }
}

fn names(locks: &[LockId], program: &Program) -> String {
    list(locks.iter().map(|&lock| visible(&program.locks[lock].name)))
}

/// `T1 writes at :12, holds m`.
fn access(site: &AccessSite, program: &Program) -> String {
    let thread = visible(&program.threads[site.thread].name);
    let does = if site.write { "writes" } else { "reads" };
    let place = short(site.place, program);
    let at = if place.is_empty() { String::new() } else { format!(" at {place}") };
    let held = match &site.held[..] {
        [] => "no lock".to_owned(),
        held => names(held, program),
    };
    format!("{thread} {does}{at}, holds {held}")
}
