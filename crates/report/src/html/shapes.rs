//! # Idea
//! The shapes of the patterns that found a finding: the accesses of two units in their order, with the two
//! conflicts that put each unit before the other, and a sentence that says so.

use super::writer::Html;
use crate::describe::{conflicts, pattern, pattern_reason};
use selvedge_findings::Finding;
use selvedge_program::pattern::PatternVariable;
use selvedge_program::{AccessKind, Pattern, UnitRole};

/// Shapes that are seen at once; further ones unfold.
const OPEN: usize = 2;

/// The pattern that a tag names.
pub fn pattern_of(tag: &str) -> Option<&'static Pattern> {
    Pattern::by_number(tag.strip_prefix("pattern-")?.parse().ok()?)
}

/// Draws the shapes of a finding's patterns, if it has some; `id` is that of this part.
pub fn shapes(html: &mut Html, finding: &Finding, id: &str) {
    let patterns: Vec<&Pattern> = finding.tags.iter().filter_map(|tag| pattern_of(tag)).collect();
    if patterns.is_empty() {
        return;
    }
    html.element("div", &[("class", "shape-part"), ("id", id)], |html| part(html, &patterns));
}

fn part(html: &mut Html, patterns: &[&'static Pattern]) {
    let (open, folded) = patterns.split_at(patterns.len().min(OPEN));
    html.leaf("h3", &[], if patterns.len() == 1 { "The shape of it" } else { "The shapes of it" });
    html.element("div", &[("class", "shapes")], |html| {
        for pattern in open {
            shape(html, pattern);
        }
    });
    if !folded.is_empty() {
        html.element("details", &[("class", "shapes-more")], |html| {
            let more = if folded.len() == 1 { "shape" } else { "shapes" };
            html.leaf("summary", &[], format!("{} more {more} of this conflict", folded.len()));
            html.element("div", &[("class", "shapes")], |html| {
                for pattern in folded {
                    shape(html, pattern);
                }
            });
        });
    }
}

/// The distance between two accesses.
const STEP: usize = 24;

fn shape(html: &mut Html, own: &Pattern) {
    html.element("figure", &[("class", "shape")], |html| {
        let height = own.accesses.len() * STEP + 14;
        let view = format!("0 0 132 {height}");
        let label = format!("{}, from top to bottom", pattern(own));
        let size = height.to_string();
        let attributes = [
            ("class", "pattern"),
            ("viewBox", &*view),
            ("role", "img"),
            ("aria-label", &label),
            ("width", "132"),
            ("height", &size),
        ];
        html.element("svg", &attributes, |html| {
            for x in ["40", "92"] {
                let end = (height - 4).to_string();
                let line =
                    [("class", "unit-lane"), ("x1", x), ("x2", x), ("y1", "4"), ("y2", &end)];
                html.element("line", &line, |_| {});
            }
            for (before, after) in conflicts(own) {
                let (from, to) = (point(own, before), point(own, after));
                let path = format!("M{} {}L{} {}", from.0, from.1, to.0, to.1);
                html.element("path", &[("class", "conflict"), ("d", &path)], |_| {});
            }
            for (at, access) in own.accesses.iter().enumerate() {
                let (x, y) = point(own, at);
                let (x, below, y) = (x.to_string(), (y + 4).to_string(), y.to_string());
                let class = match access.kind {
                    AccessKind::Read => "access reads",
                    AccessKind::Write => "access writes",
                };
                let circle = [("class", class), ("cx", &*x), ("cy", &y), ("r", "5")];
                html.element("circle", &circle, |_| {});
                let letter = match access.kind {
                    AccessKind::Read => 'R',
                    AccessKind::Write => 'W',
                };
                let variable = match access.variable {
                    PatternVariable::X => 'x',
                    PatternVariable::Y => 'y',
                };
                let (beside, anchor) = match access.role {
                    UnitRole::Unit => ("30", "end"),
                    UnitRole::Other => ("102", "start"),
                };
                let text = [("x", beside), ("y", &*below), ("text-anchor", anchor)];
                html.leaf("text", &text, format!("{letter} {variable}"));
            }
        });
        html.element("figcaption", &[], |html| {
            html.leaf("b", &[], format!("pattern-{}", own.number));
            html.text(" ");
            html.leaf("code", &[], pattern(own));
            html.leaf("p", &[], pattern_reason(own));
        });
    });
}

fn point(own: &Pattern, at: usize) -> (usize, usize) {
    let x = match own.accesses[at].role {
        UnitRole::Unit => 40,
        UnitRole::Other => 92,
    };
    (x, at * STEP + 19)
}
