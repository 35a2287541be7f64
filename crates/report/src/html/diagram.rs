//! # Idea
//! The interleaving as a diagram made of a CSS grid: one lane per thread, time downwards. Each lane
//! has three columns: what it holds (brackets and bars), its track, and the text of its steps. The
//! track of the running thread is drawn through, and where another thread takes over the line
//! crosses to its lane, so that the execution is one line woven through the lanes.
//!
//! Rows and spans are placed by row numbers and not by positions, so hiding rows, longer texts or
//! another font cannot take a bar away from its step. The grid is cut into pieces of
//! [`PIECE`] rows, which a browser lays out only when they come into view.
//!
//! # Invariants
//! 1. What carries meaning is text in a list; bars and lines are hidden from screen readers and
//!    repeat what the text says.

use super::layout::{Content, DiagramLayout, Row, RowSpan, Shown, layout};
use super::values::{DataLane, data_lanes};
use super::words::lock_class;
use super::writer::Html;
use crate::describe::{action, count, object, title, verb};
use crate::escape::visible;
use crate::interleaving::run;
use crate::places::short;
use crate::statement::{self, ShownValue};
use selvedge_base::{FileId, Place};
use selvedge_findings::reason::waits;
use selvedge_findings::{CheckedFile, Finding, FindingKind};
use selvedge_program::{LockId, Obstacle, StepKind, TraceStep};
use std::fmt::Write as _;

/// The rows of one piece.
const PIECE: usize = 32;
/// Deeper calls are not indented further.
const DEEPEST: usize = 8;

/// Where the diagram stands in the page.
#[derive(Clone, Copy)]
pub struct At {
    /// The number of the finding.
    pub finding: usize,
    /// The number of the file that was read.
    pub file: usize,
    /// The number of the file that the finding lies in: that one, or one that the program names.
    pub group: usize,
    /// How many lines of source the page has of it.
    pub lines: usize,
    /// How many steps to show at most.
    pub most: usize,
}

impl At {
    /// Writes `text` as a link to the line of `place`, if the page has that line.
    pub fn link(self, html: &mut Html, class: &str, place: Place, text: impl FnOnce(&mut Html)) {
        let own = (place.file == FileId::READ).then(|| place.line()).flatten();
        if let Some(line) = own.filter(|&line| (1..=self.lines).contains(&(line as usize))) {
            let target = format!("#s{}-{line}", self.file);
            html.element("a", &[("class", class), ("href", &target)], text);
        } else {
            html.element("span", &[("class", class)], text);
        }
    }
}

/// Draws the interleaving of a finding.
pub fn diagram(html: &mut Html, finding: &Finding, file: &CheckedFile, at: At) {
    let layout = layout(finding, &file.program, at.most);
    let mut values = run::Values::new(&finding.trace, &file.program);
    let changes = finding.trace.steps.iter().map(|step| values.after(step)).collect();
    let data = data_lanes(finding, &file.program, &layout);
    let style = columns(&layout, &data);
    let class = match layout.lanes.len() {
        ..=2 if data.is_empty() => "diagram",
        ..=8 => "diagram wide",
        _ => "diagram wide many",
    };
    let statements = run::statements(&finding.trace, &file.program);
    let drawing = Drawing { finding, file, at, layout: &layout, statements, changes, data };
    // A diagram that is wider than its place scrolls by itself, which needs the focus.
    let attributes = [
        ("class", class),
        ("style", &*style),
        ("data-silent", &*layout.silent.to_string()),
        ("role", "region"),
        ("aria-label", "Interleaving"),
        ("tabindex", "0"),
    ];
    html.element("div", &attributes, |html| {
        drawing.heads(html);
        for first in (0..layout.rows.len()).step_by(PIECE) {
            drawing.piece(html, first, (first + PIECE).min(layout.rows.len()));
        }
    });
}

/// The columns of the grid: phase, number, three for each lane, one for each lane of data, and one that only
/// a narrow screen uses, on which all texts stand in the last column.
fn columns(layout: &DiagramLayout, data: &[DataLane]) -> String {
    let mut columns = String::new();
    let mut slim = String::new();
    for lane in &layout.lanes {
        // Many locks get narrower bars.
        let slots = lane.slots.min(8);
        let unit = usize::from(lane.units);
        let _ = write!(
            columns,
            " calc(var(--unit)*{unit} + var(--slot)*{slots} + var(--gap)) var(--track) \
             minmax(var(--text),1fr)"
        );
        let _ = write!(slim, " calc(var(--unit)*{unit} + var(--slot)*{slots}) var(--track) 0px");
    }
    for lane in data {
        let _ = write!(columns, " calc({}ch + 14px)", lane.widest);
        slim.push_str(" 0px");
    }
    let slots: usize = layout.lanes.iter().map(|lane| lane.slots.min(8)).sum();
    format!(
        "--cols:var(--phase) var(--number){columns} 0px;--slim:0px var(--number){slim} \
         minmax(0,1fr);--lanes:{};--slots:{}",
        layout.lanes.len(),
        slots.max(1)
    )
}

struct Drawing<'a> {
    finding: &'a Finding,
    file: &'a CheckedFile,
    at: At,
    layout: &'a DiagramLayout,
    /// The statement of each step.
    statements: Vec<String>,
    /// The values that each step changed.
    changes: Vec<Vec<(&'a str, ShownValue<'a>)>>,
    /// The lanes of what is shared.
    data: Vec<DataLane>,
}

impl Drawing<'_> {
    fn heads(&self, html: &mut Html) {
        html.element("div", &[("class", "heads"), ("aria-hidden", "true")], |html| {
            for (lane, own) in self.layout.lanes.iter().enumerate() {
                let style = format!("--l:{lane}");
                let name = &self.file.program.threads[own.thread].name;
                html.element("div", &[("class", "head"), ("style", &style)], |html| {
                    html.leaf("span", &[("class", "name")], name);
                });
            }
            for (at, lane) in self.data.iter().enumerate() {
                let style = format!("grid-column:{}", self.data_column(at));
                html.leaf("div", &[("class", "head data"), ("style", &style)], &lane.name);
            }
        });
    }

    /// The column of a lane of data.
    fn data_column(&self, at: usize) -> usize {
        3 * self.layout.lanes.len() + 3 + at
    }

    /// Rows `first..end`, with the parts of the spans that lie in them.
    fn piece(&self, html: &mut Html, first: usize, end: usize) {
        let seen = |row: &&Row| row.shown != Shown::Full && row.fold.is_none();
        let seen = self.layout.rows[first..end].iter().filter(seen).count();
        let style = format!("--seen:{seen};--rows:{}", end - first);
        html.line_break();
        html.element("div", &[("class", "piece"), ("style", &style)], |html| {
            html.element("div", &[("class", "spans"), ("aria-hidden", "true")], |html| {
                self.phases(html, first, end);
                self.repeats(html, first, end);
                self.data(html, first, end);
                for lane in 0..self.layout.lanes.len() {
                    let style = format!("--l:{lane};grid-row:1/{}", end - first + 1);
                    html.leaf("i", &[("class", "warp"), ("style", &style)], "");
                }
                self.units(html, first, end);
                self.bars(html, first, end);
            });
            html.element("ol", &[("role", "list")], |html| {
                for (position, row) in self.layout.rows[first..end].iter().enumerate() {
                    self.row(html, row, position + 1);
                }
            });
        });
    }

    fn phases(&self, html: &mut Html, first: usize, end: usize) {
        for (phase, &(from, to)) in self.layout.phases.iter().enumerate() {
            let Some(rows) = clip(from, to, first, end) else { continue };
            let parity = if phase % 2 == 0 { "phase even" } else { "phase odd" };
            html.element("div", &[("class", parity), ("style", &rows)], |html| {
                // A band of a row or two has no room for more than the number.
                let number = phase + 1;
                let text =
                    if to - from < 2 { number.to_string() } else { format!("phase {number}") };
                html.leaf("span", &[], text);
            });
        }
    }

    /// The frame around what repeats for ever.
    fn repeats(&self, html: &mut Html, first: usize, end: usize) {
        let Some((from, to)) = self.layout.repeats else { return };
        let Some(rows) = clip(from, to, first, end) else { return };
        let span = RowSpan { lane: 0, first: from, last: to, open: false };
        html.leaf("i", &[("class", &ends("loop", &span, first, end)), ("style", &rows)], "");
    }

    fn data(&self, html: &mut Html, first: usize, end: usize) {
        for (at, lane) in self.data.iter().enumerate() {
            for part in &lane.parts {
                let Some(rows) = clip(part.first, part.last, first, end) else { continue };
                let style = format!("grid-column:{};{rows}", self.data_column(at));
                let begins = part.first >= first && part.first > 0;
                let class = if begins { "datum begins" } else { "datum" };
                html.element("i", &[("class", class), ("style", &style)], |html| {
                    html.leaf("span", &[], &part.value);
                });
            }
        }
    }

    /// The fold that hides all rows of a span, if one does.
    fn hidden_in(&self, span: &RowSpan) -> Option<usize> {
        let rows = &self.layout.rows[span.first..=span.last];
        let fold = rows.first()?.fold?;
        rows.iter().all(|row| row.fold == Some(fold)).then_some(fold)
    }

    fn span(&self, html: &mut Html, class: &str, style: &str, span: &RowSpan, name: &str) {
        let fold = self.hidden_in(span).map(|fold| fold.to_string());
        let class = if fold.is_some() { format!("{class} in-fold") } else { class.to_owned() };
        let mut attributes = vec![("class", &*class), ("style", style)];
        attributes.extend(fold.as_deref().map(|fold| ("data-fold", fold)));
        html.element("i", &attributes, |html| {
            if !name.is_empty() {
                html.leaf("span", &[], name);
            }
        });
    }

    fn units(&self, html: &mut Html, first: usize, end: usize) {
        for span in &self.layout.units {
            let Some(rows) = clip(span.first, span.last, first, end) else { continue };
            let style = format!("--l:{};{rows}", span.lane);
            self.span(html, &ends("unit", span, first, end), &style, span, "");
        }
    }

    fn bars(&self, html: &mut Html, first: usize, end: usize) {
        for bar in &self.layout.bars {
            let Some(rows) = clip(bar.span.first, bar.span.last, first, end) else { continue };
            let lane = &self.layout.lanes[bar.span.lane];
            let style = format!(
                "--l:{};--s:{};--n:{};--u:{};{rows}",
                bar.span.lane,
                bar.slot,
                lane.slots,
                usize::from(lane.units)
            );
            let class = ends(&format!("bar {}", lock_class(bar.lock)), &bar.span, first, end);
            self.span(html, &class, &style, &bar.span, &self.lock_name(bar.lock));
        }
    }

    fn row(&self, html: &mut Html, row: &Row, number: usize) {
        let mut forms = match row.shown {
            Shown::Always => "",
            Shown::Full => " full",
            Shown::Brief => " brief",
        }
        .to_owned();
        let fold = row.fold.map(|fold| fold.to_string());
        if fold.is_some() {
            forms.push_str(" in-fold");
        }
        let fold = fold.as_deref();
        match &row.content {
            Content::Step { step, lane, depth, with } => {
                let shown = &self.finding.trace.steps[*step];
                let class = format!("row{forms}");
                self.step(html, shown, *step + 1, (*lane, *depth, number), with, (&class, fold));
            }
            Content::Next { step, lane, depth } => {
                let shown = &self.finding.trace.next[*step];
                let position = self.finding.trace.steps.len() + *step + 1;
                let place = (*lane, *depth, number);
                self.step(html, shown, position, place, &[], ("row next", None));
            }
            Content::Switch { from, to, keeps } => {
                self.switch(html, (*from, *to), keeps, number, (&forms, fold));
            }
            Content::Fold(fold) => {
                let style = format!("grid-row:{number}");
                let name = fold.to_string();
                let attributes =
                    [("class", "fold brief"), ("style", &*style), ("data-open", &name)];
                html.element("li", &attributes, |html| {
                    let button = [("type", "button"), ("aria-expanded", "false")];
                    html.leaf("button", &button, &self.layout.folds[*fold]);
                });
            }
            Content::Point(point) => {
                let style = format!("grid-row:{number}");
                let text = format!("Point {point} of the formula is here");
                html.leaf("li", &[("class", "note point"), ("style", &style)], text);
            }
            Content::Repeats => {
                let style = format!("grid-row:{number}");
                let text = "From here on these steps are repeated for ever:";
                html.leaf("li", &[("class", "note repeats"), ("style", &style)], text);
            }
            Content::Again(step) => {
                let style = format!("grid-row:{number}");
                let text = format!("… and again from step {} on, for ever", step + 1);
                html.leaf("li", &[("class", "note again"), ("style", &style)], text);
            }
            Content::Gap(steps) => {
                let style = format!("grid-row:{number}");
                let text = format!(
                    "{} left out here to keep the page usable; the JSON report has them all",
                    count(*steps, "step")
                );
                let class = format!("note{forms}");
                let mut attributes = vec![("class", &*class), ("style", &*style)];
                attributes.extend(fold.map(|fold| ("data-fold", fold)));
                html.leaf("li", &attributes, text);
            }
            Content::Moment => {
                let style = format!("grid-row:{number}");
                let text = match self.finding.kind {
                    FindingKind::Deadlock if self.finding.trace.next.len() == 1 => {
                        "Now it waits for itself:"
                    }
                    FindingKind::Deadlock => "Now each of them waits for the next:",
                    FindingKind::Stuck => "Now no thread can move:",
                    FindingKind::Race => "Now both are about to access it at once:",
                    _ => "Next they would:",
                };
                html.leaf("li", &[("class", "note moment"), ("style", &style)], text);
            }
        }
        html.line_break();
    }

    fn step(
        &self,
        html: &mut Html,
        step: &TraceStep,
        position: usize,
        (lane, depth, number): (usize, usize, usize),
        with: &[(usize, usize)],
        (class, fold): (&str, Option<&str>),
    ) {
        let id = format!("f{}-{position}", self.at.finding);
        let style = format!("--l:{lane};--d:{};grid-row:{number}", depth.min(DEEPEST));
        let last = self.finding.trace.steps.len();
        // A run has no numbered steps; what it reaches is in its last one.
        let reached = self.finding.kind.is_reached() && position == last;
        let matched = if step.matched.is_some() || reached { " matched" } else { "" };
        let class = format!("{class} {}{matched}", action(step.kind));
        let next = position > last;
        let changes = self.changes.get(position - 1).filter(|changes| !changes.is_empty());
        let statement = &self.statements[position - 1];
        let position = position.to_string();
        let mut attributes =
            vec![("class", &*class), ("id", &id), ("data-p", &position), ("style", &style)];
        attributes.extend(fold.map(|fold| ("data-fold", fold)));
        html.element("li", &attributes, |html| {
            html.leaf("span", &[("class", "number")], if next { "next" } else { &position });
            match step.matched {
                Some(number) => html.element("span", &[("class", "dot")], |html| {
                    html.leaf("span", &[("class", "sr")], "access ");
                    html.text(number);
                }),
                None if reached => html.leaf("span", &[("class", "dot")], "!"),
                None => html.leaf("span", &[("class", "dot"), ("aria-hidden", "true")], ""),
            }
            html.element("span", &[("class", "what")], |html| {
                let name = &self.file.program.threads[step.thread].name;
                html.leaf("span", &[("class", "who")], format!("{name} "));
                self.what(html, step, statement);
                if let Some(changes) = changes {
                    html.text(" ");
                    html.leaf("span", &[("class", "values")], statement::joined(changes));
                }
                if step.fails.is_some() {
                    html.text(" ");
                    html.leaf("strong", &[("class", "fails")], "fails");
                }
            });
            self.place(html, step.place);
            for (at, (receiver, &(other, depth))) in step.receivers.iter().zip(with).enumerate() {
                let (low, high) = (lane.min(other), lane.max(other));
                let depth = depth.min(DEEPEST);
                let below = at + 2;
                let style = format!("--l:{other};--d:{depth};--a:{low};--b:{high};--r:{below}");
                html.element("span", &[("class", "with"), ("style", &style)], |html| {
                    html.leaf("i", &[("class", "meet"), ("aria-hidden", "true")], "");
                    html.leaf("span", &[("class", "dot"), ("aria-hidden", "true")], "");
                    html.element("span", &[("class", "what")], |html| {
                        let name = &self.file.program.threads[receiver.thread].name;
                        html.leaf("span", &[("class", "who")], format!("{name} "));
                        html.leaf("span", &[("class", "verb")], "receives over");
                        html.text(" ");
                        let channel = object(step.kind, &self.file.program).unwrap_or_default();
                        html.leaf("b", &[], channel);
                    });
                    self.place(html, receiver.place);
                });
            }
        });
    }

    fn what(&self, html: &mut Html, step: &TraceStep, statement: &str) {
        if let Some(obstacle) = step.waits_for {
            if let Obstacle::Lock(lock, owner) = obstacle {
                html.leaf("span", &[("class", "verb")], "waits for");
                html.text(" ");
                self.lock(html, lock);
                let owner = &self.file.program.threads[owner].name;
                html.leaf("span", &[("class", "held")], format!(" held by {owner}"));
            } else {
                let waits = waits(&self.file.program, obstacle, &str::to_owned);
                html.leaf("span", &[("class", "verb")], visible(&waits));
            }
            return;
        }
        if self.finding.kind.is_reached() && !is_event(step.kind) {
            html.leaf("code", &[("class", "statement")], statement);
            return;
        }
        html.leaf("span", &[("class", "verb")], verb(step.kind));
        if let Some(name) = title(step.kind, &self.file.program) {
            html.text(" ");
            match step.kind {
                StepKind::Acquire(lock) | StepKind::Release(lock) => self.lock(html, lock),
                _ => html.leaf("b", &[], &name),
            }
        }
    }

    fn place(&self, html: &mut Html, place: Place) {
        if place == Place::NONE {
            return;
        }
        self.at.link(html, "at", place, |html| match place.line() {
            Some(line) if place.file == FileId::READ => {
                html.leaf("span", &[("class", "sr")], "line ");
                html.text(line);
            }
            _ => html.text(short(place, &self.file.program)),
        });
    }

    fn switch(
        &self,
        html: &mut Html,
        (from, to): (usize, usize),
        keeps: &[LockId],
        number: usize,
        (forms, fold): (&str, Option<&str>),
    ) {
        let program = &self.file.program;
        let name = |lane: usize| &program.threads[self.layout.lanes[lane].thread].name;
        let direction = if from < to { "right" } else { "left" };
        let (low, high) = (from.min(to), from.max(to));
        let style = format!("--a:{low};--b:{high};--f:{from};--t:{to};grid-row:{number}");
        let class = format!("switch {direction}{forms}");
        let mut attributes = vec![("class", &*class), ("style", &*style)];
        attributes.extend(fold.map(|fold| ("data-fold", fold)));
        html.element("li", &attributes, |html| {
            html.leaf("i", &[("class", "arrow"), ("aria-hidden", "true")], "");
            html.element("span", &[("class", "to")], |html| {
                html.text(name(to));
                html.leaf("span", &[("class", "sr")], " takes over");
            });
            if !keeps.is_empty() {
                html.element("span", &[("class", "keeps")], |html| {
                    html.leaf("span", &[("class", "sr")], format!(", {} ", name(from)));
                    html.text("keeps ");
                    for (at, &lock) in keeps.iter().enumerate() {
                        html.text(if at == 0 { "" } else { ", " });
                        self.lock(html, lock);
                    }
                });
            }
        });
    }

    fn lock(&self, html: &mut Html, lock: LockId) {
        html.leaf("b", &[("class", &lock_class(lock))], self.lock_name(lock));
    }

    fn lock_name(&self, lock: LockId) -> std::borrow::Cow<'_, str> {
        visible(&self.file.program.locks[lock].name)
    }
}

/// Whether a step acts upon a lock, a location or a unit, which have marks of their own.
fn is_event(kind: StepKind) -> bool {
    !matches!(kind, StepKind::Call(_) | StepKind::Return(_) | StepKind::Step)
}

/// The part of rows `from..=to` that lies in `first..end`, as a place in the grid of that piece.
fn clip(from: usize, to: usize, first: usize, end: usize) -> Option<String> {
    let (from, to) = (from.max(first), (to + 1).min(end));
    (from < to).then(|| format!("grid-row:{}/{}", from - first + 1, to - first + 1))
}

/// The class of the part of a span in `first..end`: whether it begins and ends there.
fn ends(class: &str, span: &RowSpan, first: usize, end: usize) -> String {
    let mut class = class.to_owned();
    if span.first >= first {
        class.push_str(" begins");
    }
    if span.last < end {
        class.push_str(if span.open { " open" } else { " ends" });
    }
    class
}
