//! # Idea
//! A diagnostic becomes a headline with its code, the offending lines with remarks under them, and
//! advice, in the form that compilers have made familiar.
//!
//! The drawing is done by `annotate-snippets`. It gets only the few lines that matter, because a
//! source may have ten megabytes; it trims long lines around the remark by itself, which needs the
//! part of a line before the remark to count its columns. Headlines, remarks and advice that are wider
//! than the screen are broken at blanks by `fit`.
//!
//! # Requires
//! Spans lie within the source or end at its end; spans beyond it are clipped.
//!
//! # Invariants
//! 1. Only the first line of a span is shown, and at most `SPAN_LIMIT` characters of it.
//! 2. All text from outside went through [`visible`]: the drawing crate does that for source lines
//!    and headlines only.

use crate::escape::visible;
use crate::fit::fit;
use crate::terminal::Terminal;
use annotate_snippets::{
    Annotation, AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet,
};
use selvedge_base::{Diagnostic, Severity, SourceLabel, Span};
use std::fmt::Write as _;

/// A source text with the name to show for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Source<'a> {
    /// The file's name.
    pub name: &'a str,
    /// What the spans of the diagnostics count in.
    pub text: &'a str,
}

/// How many characters of a span are underlined at most.
const SPAN_LIMIT: usize = 120;
/// How many characters of a line are kept after the last remark; the drawing trims to the screen.
const LINE_TAIL: usize = 400;
/// Remarks at most this many lines apart are drawn in one piece.
const LINE_GAP: usize = 3;

/// What a drawing has beside the source: line numbers, and the signs of lines that are trimmed.
const MARGIN: usize = 24;

/// Renders at most `limit` diagnostics, and says how many were left out.
pub fn render(
    diagnostics: &[Diagnostic],
    source: &Source<'_>,
    terminal: Terminal,
    limit: usize,
) -> String {
    let lines = Lines::new(source.text);
    let mut out = String::new();
    for diagnostic in diagnostics.iter().take(limit) {
        out.push_str(&render_one(diagnostic, source, &lines, terminal));
        out.push_str("\n\n");
    }
    let rest = diagnostics.get(limit..).unwrap_or_default();
    let errors = rest.iter().filter(|diagnostic| diagnostic.is_error()).count();
    for (count, what) in [(errors, "error"), (rest.len() - errors, "warning")] {
        if count > 0 {
            let plural = if count == 1 { "" } else { "s" };
            let _ = writeln!(out, "… and {count} more {what}{plural}\n");
        }
    }
    out
}

/// The lines that the labels are about, with the labels under them and without a headline.
pub(crate) fn quote(
    primary: &SourceLabel,
    secondary: &[SourceLabel],
    source: &Source<'_>,
    terminal: Terminal,
) -> String {
    let lines = Lines::new(source.text);
    let name = visible(source.name);
    let remarks = remarks(primary, secondary, &lines);
    let pieces = pieces(&remarks, terminal.width)
        .into_iter()
        .map(|piece| draw(piece, &lines).path(name.clone()));
    let group = [Group::with_level(Level::ERROR).elements(pieces)];
    let renderer = if terminal.color { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.hyperlink(false);
    fit(|width| renderer.clone().term_width(width).render(&group), terminal.width)
}

fn render_one(
    diagnostic: &Diagnostic,
    source: &Source<'_>,
    lines: &Lines<'_>,
    terminal: Terminal,
) -> String {
    let level = match diagnostic.severity {
        Severity::Warning => Level::WARNING,
        Severity::Error => Level::ERROR,
    };
    let name = visible(source.name);
    let title = level.primary_title(visible(&diagnostic.message)).id(diagnostic.code);
    let mut elements: Vec<Element<'_>> = Vec::new();
    match &diagnostic.primary {
        Some(primary) => {
            let remarks = remarks(primary, &diagnostic.secondary, lines);
            for piece in pieces(&remarks, terminal.width) {
                elements.push(draw(piece, lines).path(name.clone()).into());
            }
        }
        None => elements.push(Origin::path(name).into()),
    }
    if let Some(help) = &diagnostic.help {
        // Advice may have several lines; each of them is escaped.
        let help: Vec<_> = help.split('\n').map(visible).collect();
        elements.push(Level::HELP.message(help.join("\n")).into());
    }
    let renderer = if terminal.color { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.hyperlink(false);
    let title = [title.elements(elements)];
    fit(|width| renderer.clone().term_width(width).render(&title), terminal.width)
}

/// A label at its line.
struct Remark<'a> {
    primary: bool,
    /// The line, from 0.
    line: usize,
    /// The bytes within the line.
    start: usize,
    end: usize,
    text: &'a str,
}

/// All labels: the primary one first, then by line.
fn remarks<'a>(
    primary: &'a SourceLabel,
    secondary: &'a [SourceLabel],
    lines: &Lines<'_>,
) -> Vec<Remark<'a>> {
    let at = |label: &'a SourceLabel, primary| {
        let (line, start, end) = lines.locate(label.span);
        Remark { primary, line, start, end, text: &label.text }
    };
    let mut remarks = vec![at(primary, true)];
    remarks.extend(secondary.iter().map(|label| at(label, false)));
    remarks.sort_by_key(|remark| (remark.line, !remark.primary, remark.start));
    remarks
}

/// Splits remarks, sorted by line, where they are too far apart to be drawn together on a screen of this
/// width. The piece with the primary remark comes first, because its place is the one in the headline.
fn pieces<'a, 'b>(remarks: &'b [Remark<'a>], width: usize) -> Vec<&'b [Remark<'a>]> {
    let together = |above: &Remark<'_>, below: &Remark<'_>| {
        below.line - above.line <= LINE_GAP
            && above.start.min(below.start) + width.saturating_sub(MARGIN)
                >= above.end.max(below.end)
    };
    let mut pieces: Vec<_> = remarks.chunk_by(together).collect();
    pieces.sort_by_key(|piece| !piece.iter().any(|remark| remark.primary));
    pieces
}

/// The lines from the first to the last remark of a piece.
fn draw<'a>(piece: &[Remark<'a>], lines: &Lines<'_>) -> Snippet<'a, Annotation<'a>> {
    let (first, last) = (piece[0].line, piece[piece.len() - 1].line);
    let mut text = String::new();
    let mut annotations = Vec::new();
    for number in first..=last {
        let line = lines.line(number);
        let here = piece.iter().filter(|remark| remark.line == number);
        let last_end = here.clone().map(|remark| remark.end).max();
        let offset = text.len();
        let shown = &line[..floor(line, last_end.unwrap_or(0) + LINE_TAIL)];
        for remark in here {
            // Replacing a character may change how many bytes it has.
            let start = offset + visible(&line[..remark.start]).len();
            let end = start + visible(&line[remark.start..remark.end]).len();
            let kind =
                if remark.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
            let label = Some(visible(remark.text)).filter(|text| !text.is_empty());
            annotations.push(kind.span(start..end).label(label));
        }
        // An empty line cannot be underlined; a blank gives the remark its place.
        text.push_str(if shown.is_empty() && last_end.is_some() { " " } else { "" });
        text.push_str(&visible(shown));
        text.push('\n');
    }
    Snippet::source(text).line_start(first + 1).annotations(annotations)
}

/// Where the lines of a text are.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let breaks = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let starts = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    /// A line, from 0, without its end.
    fn line(&self, number: usize) -> &'a str {
        let end = self.starts.get(number + 1).map_or(self.text.len(), |&next| next - 1);
        let line = &self.text[self.starts[number]..end];
        line.strip_suffix('\r').unwrap_or(line)
    }

    /// The line of a span's first byte, and the bytes of that line that it covers (invariant 1).
    fn locate(&self, span: Span) -> (usize, usize, usize) {
        let offset = floor(self.text, span.start as usize);
        let number = self.starts.partition_point(|&start| start <= offset) - 1;
        let line = self.line(number);
        let start = floor(line, offset - self.starts[number]);
        let rest = (span.end as usize).saturating_sub(offset);
        let end = floor(line, start.saturating_add(rest));
        let limit = line[start..].char_indices().nth(SPAN_LIMIT);
        (number, start, limit.map_or(end, |(at, _)| end.min(start + at)))
    }
}

/// The last boundary between characters that is not after `at`.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
