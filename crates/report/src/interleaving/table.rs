//! # Idea
//! Rows as a table with a column for each thread. Columns are equally wide where there is room for
//! that, else as wide as each must be; what is still too wide goes on in further lines of its column,
//! broken at blanks. Where words would not fit or cells would be towers, the rows become a list, each
//! with the name of its thread.
//!
//! # Invariants
//! 1. Nothing is cut: every word of a row and every name is on the screen.
//! 2. A word is broken only if it is wider than a line of the list.

use super::{Row, RowRole};
use crate::escape::visible;
use crate::ownership::{Bars, goes_on};
use crate::places::short;
use crate::terminal::{Terminal, Tone};
use crate::width::{columns, padded, widest_word, wrapped};
use selvedge_program::{Program, ThreadId};
use std::fmt::Write as _;

/// Blanks before the first column.
const MARGIN: usize = 2;
/// Blanks between columns.
const GAP: usize = 2;
/// Characters for the mark of a matched access.
const MARK: usize = 4;
/// Columns narrower than this are not worth having.
const NARROWEST: usize = 24;
/// By how many columns what goes on in a further line is indented.
const CONTINUED: usize = 2;
/// A table with a cell of more lines than this is not worth having.
const TALLEST: usize = 4;

/// Rows in columns, one for each of `threads`, or as a list if the screen is too narrow for that.
pub(super) fn lay_out(
    rows: &[Row<'_>],
    threads: &[ThreadId],
    program: &Program,
    terminal: Terminal,
) -> String {
    lay_out_with(rows, threads, &[Bars::none(rows.len())], program, terminal)
}

/// As [`lay_out`], with the first of the `bars` for which there is room.
pub(super) fn lay_out_with(
    rows: &[Row<'_>],
    threads: &[ThreadId],
    bars: &[Bars],
    program: &Program,
    terminal: Terminal,
) -> String {
    for bars in bars {
        if let Some(widths) = widths(rows, threads, bars.width, program, terminal.width) {
            return table(rows, threads, &widths, bars, program, terminal);
        }
    }
    listing(rows, program, terminal)
}

/// One row below the other on a screen of its own, under a heading that says whose they are.
pub(super) fn section(
    out: &mut String,
    heading: String,
    rows: &[Row<'_>],
    width: usize,
    program: &Program,
    terminal: Terminal,
) {
    line(out, &[terminal.paint(Tone::Heading, heading)]);
    for row in rows {
        for drawn in Cell::new(row, width, program).draw(width, row.tone(), terminal) {
            line(out, &[drawn]);
        }
    }
}

/// The width of the rows of [`section`]s on such a screen.
pub(super) fn section_width<'r, 'a: 'r>(
    rows: impl Iterator<Item = &'r Row<'a>>,
    program: &Program,
    terminal: Terminal,
) -> usize {
    let needed = rows.map(|row| Cell::needed(row, program)).max().unwrap_or(0);
    needed.min(terminal.width.saturating_sub(MARGIN).max(NARROWEST))
}

/// The widths of the columns beside bars of this width, if a table of them is worth having.
fn widths(
    rows: &[Row<'_>],
    threads: &[ThreadId],
    bars: usize,
    program: &Program,
    screen: usize,
) -> Option<Vec<usize>> {
    let count = threads.len().max(1);
    let own = |thread: ThreadId| {
        rows.iter().flat_map(Row::across).filter(move |row| row.thread == thread)
    };
    let name = |thread: ThreadId| MARK + columns(&visible(&program.threads[thread].name));
    let needed = |&thread: &ThreadId| {
        own(thread).map(|row| Cell::needed(row, program)).chain([name(thread)]).max()
    };
    let needed: Vec<usize> = threads.iter().filter_map(needed).collect();
    let widest = needed.iter().copied().max().unwrap_or(0);
    let room = screen.saturating_sub(MARGIN);
    if widest <= (room / count).saturating_sub(GAP + bars) {
        return Some(vec![widest; count]);
    }
    let room = room.checked_sub(count * bars + (count - 1) * GAP)?;
    let widths = shares(&needed, room);
    let is_wide_enough = |(at, &thread): (usize, &ThreadId)| {
        let width = widths[at];
        let fits = |row: &Row<'_>| {
            MARK + row.indent() + Cell::least(row, program) <= width
                && Cell::new(row, width, program).lines.len() <= TALLEST
        };
        width >= needed[at].min(NARROWEST) && width >= name(thread) && own(thread).all(fits)
    };
    threads.iter().enumerate().all(is_wide_enough).then_some(widths)
}

/// Divides the room: whoever needs no more than a fair share gets what it needs, the others get equal
/// shares of the rest.
fn shares(needed: &[usize], room: usize) -> Vec<usize> {
    let mut by_need: Vec<usize> = (0..needed.len()).collect();
    by_need.sort_by_key(|&at| needed[at]);
    let mut widths = vec![0; needed.len()];
    let mut left = room;
    for (done, &at) in by_need.iter().enumerate() {
        widths[at] = needed[at].min(left / (needed.len() - done));
        left -= widths[at];
    }
    widths
}

fn table(
    rows: &[Row<'_>],
    threads: &[ThreadId],
    widths: &[usize],
    bars: &Bars,
    program: &Program,
    terminal: Terminal,
) -> String {
    let mut out = String::new();
    let no_bars = " ".repeat(bars.width);
    let heads = threads.iter().zip(widths).map(|(&thread, &width)| {
        let name = visible(&program.threads[thread].name);
        let blanks = " ".repeat(width.saturating_sub(MARK + columns(&name)));
        let mark = " ".repeat(MARK);
        format!("{no_bars}{mark}{}{blanks}", terminal.paint(Tone::Heading, name))
    });
    line(&mut out, &heads.collect::<Vec<_>>());
    for (row, bars) in rows.iter().zip(&bars.rows) {
        let cell = |(&thread, &width): (&ThreadId, &usize)| {
            let own = row.across().find(|row| row.thread == thread);
            own.map(|row| Cell::new(row, width, program).draw(width, row.tone(), terminal))
        };
        let cells: Vec<Option<Vec<String>>> = threads.iter().zip(widths).map(cell).collect();
        let height = cells.iter().flatten().map(Vec::len).max().unwrap_or(0);
        for number in 0..height {
            let cells = cells.iter().enumerate().map(|(at, lines)| {
                let drawn = lines.as_ref().and_then(|lines| lines.get(number));
                let cell = drawn.cloned().unwrap_or_else(|| " ".repeat(widths[at]));
                let Some(bars) = bars.get(at) else { return cell };
                let bars = if number == 0 { bars.clone() } else { goes_on(bars) };
                if bars.trim().is_empty() {
                    bars + &cell
                } else {
                    terminal.paint(Tone::Marked, bars) + &cell
                }
            });
            line(&mut out, &cells.collect::<Vec<_>>());
        }
    }
    out
}

/// Without columns: each row with the name of its thread, indented alike.
fn listing(rows: &[Row<'_>], program: &Program, terminal: Terminal) -> String {
    let names = program.threads.iter().map(|thread| columns(&visible(&thread.name)));
    let widest = names.max().unwrap_or(0);
    // Long names have lines of their own.
    let beside = widest <= terminal.width / 4;
    let taken = if beside { MARGIN + widest + GAP } else { MARGIN + GAP };
    let available = terminal.width.saturating_sub(taken).max(NARROWEST);
    let needed = rows.iter().map(|row| Cell::needed(row, program));
    let width = needed.max().unwrap_or(0).min(available);
    let mut out = String::new();
    let mut last = None;
    for row in rows.iter().flat_map(Row::across) {
        // The name stands where the running thread changes.
        let name = if last == Some(row.thread) { "" } else { &program.threads[row.thread].name };
        last = Some(row.thread);
        let name = visible(name);
        let mut before = if beside { padded(&name, widest) } else { String::new() };
        if !beside && !name.is_empty() {
            let room = terminal.width.saturating_sub(MARGIN).max(NARROWEST);
            for part in wrapped(&name, room, room) {
                line(&mut out, &[terminal.paint(Tone::Heading, part)]);
            }
        }
        for drawn in Cell::new(row, width, program).draw(width, row.tone(), terminal) {
            line(&mut out, &[terminal.paint(Tone::Heading, &before), drawn]);
            before = " ".repeat(before.len().min(widest));
        }
    }
    out
}

fn line(out: &mut String, cells: &[String]) {
    let joined = cells.join(&" ".repeat(GAP));
    let _ = writeln!(out, "{}{}", " ".repeat(MARGIN), joined.trim_end());
}

/// A row in its column: mark, indented text, place at the right of the first line.
struct Cell {
    mark: String,
    lines: Vec<String>,
    place: String,
}

impl Cell {
    /// The row in a column of this width.
    fn new(row: &Row<'_>, width: usize, program: &Program) -> Self {
        let mark = match (row.role, row.matched) {
            (RowRole::Pending, _) => "=>".to_owned(),
            (RowRole::Received, _) => "<-".to_owned(),
            (_, Some(number)) => format!("*{number}"),
            (_, None) => String::new(),
        };
        let place = short(row.place, program);
        let behind = behind(&place);
        let room = width.saturating_sub(MARK);
        // Deep calls are indented less where there is no room for their words.
        let indent = row.indent().min(room.saturating_sub(Self::least(row, program)));
        let continued = (indent + CONTINUED).min(room.saturating_sub(widest_word(&row.text)));
        let first = room.saturating_sub(indent + behind);
        let parts = wrapped(&row.text, first, room.saturating_sub(continued));
        let blanks = |number| " ".repeat(if number == 0 { indent } else { continued });
        let lines = parts.iter().enumerate().map(|(at, part)| blanks(at) + part).collect();
        Self { mark, lines, place }
    }

    /// The room in which no word of a row is broken, without the blanks before it.
    fn least(row: &Row<'_>, program: &Program) -> usize {
        let (first, rest) = row.text.split_once(' ').unwrap_or((&row.text, ""));
        let with_place = columns(first) + behind(&short(row.place, program));
        let rest = widest_word(rest);
        with_place.max(if rest == 0 { 0 } else { CONTINUED + rest })
    }

    /// The width at which a row takes one line.
    fn needed(row: &Row<'_>, program: &Program) -> usize {
        let needed = |row: &Row<'_>| {
            MARK + row.indent() + columns(&row.text) + 2 + columns(&short(row.place, program))
        };
        row.across().map(needed).max().unwrap_or(0)
    }

    /// The cell, each of its lines filled up with blanks to `width`.
    fn draw(&self, width: usize, tone: Option<Tone>, terminal: Terminal) -> Vec<String> {
        let paint = |tone: Option<Tone>, text: &str| match tone {
            Some(tone) if !text.is_empty() => terminal.paint(tone, text),
            _ => text.to_owned(),
        };
        let draw = |(number, text): (usize, &String)| {
            let (mark, place) = if number == 0 { (&*self.mark, &*self.place) } else { ("", "") };
            let used = MARK + columns(text) + columns(place);
            let fill = " ".repeat(width.saturating_sub(used));
            let marked = format!("{mark:MARK$}");
            let mark = if mark.is_empty() { marked } else { paint(tone, &marked) };
            format!("{mark}{}{fill}{}", paint(tone, text), paint(Some(Tone::Faint), place))
        };
        self.lines.iter().enumerate().map(draw).collect()
    }
}

/// The columns of a place and the blank before it.
fn behind(place: &str) -> usize {
    if place.is_empty() { 0 } else { 1 + columns(place) }
}
