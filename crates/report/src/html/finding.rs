//! # Idea
//! One finding, twice: as an entry of the list, and as an article with the reason, the fix and the
//! interleaving.

use super::cycle::cycle;
use super::diagram::{At, diagram};
use super::shapes::{pattern_of, shapes};
use super::words::{finding_name, kind_class};
use super::writer::Html;
use crate::causes::{confirmed, pairs};
use crate::describe::count;
use crate::places::{first_place, located, other_file, short};
use crate::probes;
use crate::quotes::remarks;
use crate::statement;
use selvedge_base::{FileId, Place};
use selvedge_findings::{CheckedFile, Finding};
use selvedge_program::Program;

/// A finding with the numbers that its links need.
#[derive(Clone, Copy)]
pub struct Numbered<'a> {
    /// The finding.
    pub finding: &'a Finding,
    /// Its file.
    pub file: &'a CheckedFile,
    /// Where it stands in the page.
    pub at: At,
}

impl<'a> Numbered<'a> {
    /// The name of the file that the finding lies in.
    pub fn lies_in(&self) -> &'a str {
        other_file(first_place(self.finding), &self.file.program).unwrap_or(&self.file.file)
    }
}

/// Writes the entry of the list. It stands for the article as long as that one is kept for `later`.
pub fn entry(html: &mut Html, numbered: Numbered<'_>, later: bool) {
    let Numbered { finding, file, at } = numbered;
    let number = at.finding.to_string();
    let id = format!("f{number}");
    let target = format!("#{id}");
    let mut attributes = vec![("data-f", &*number)];
    if later {
        attributes.push(("id", &id));
    }
    html.element("li", &attributes, |html| {
        html.element("a", &[("href", &target), ("class", "entry")], |html| {
            badge(html, finding);
            subject(html, finding, file);
            html.leaf("span", &[("class", "where")], place_text(file, finding));
        });
    });
    html.line_break();
}

/// Writes the article.
pub fn article(html: &mut Html, numbered: Numbered<'_>) {
    let Numbered { finding, file, at } = numbered;
    let id = format!("f{}", at.finding);
    let (title, shape) = (format!("{id}-title"), format!("{id}-shape"));
    let class = format!("finding {}", kind_class(finding.kind));
    let attributes = [("class", &*class), ("id", &id), ("aria-labelledby", &title)];
    html.element("article", &attributes, |html| {
        html.element("div", &[("class", "about")], |html| {
            html.element("p", &[("class", "kicker")], |html| {
                let rule = format!("#rule-{}", kind_class(finding.kind));
                let attributes =
                    [("class", "rule-link"), ("href", &*rule), ("title", "What this rule means")];
                html.element("a", &attributes, |html| badge(html, finding));
                subject(html, finding, file);
                where_to_look(html, numbered);
            });
            html.element("h2", &[("id", &title), ("tabindex", "-1")], |html| {
                html.sentence(&finding.reason);
            });
            cause(html, finding, &file.program);
            cycle(html, finding, &file.program);
            fix(html, numbered);
            if let Some(text) = confirmed(finding) {
                html.element("p", &[("class", "confirmation")], |html| html.sentence(&text));
            }
            facts(html, finding, &shape);
        });
        html.line_break();
        html.leaf("h3", &[("class", "sr")], "Interleaving");
        at_first(html, finding, &file.program);
        if finding.trace.steps.is_empty() && finding.trace.next.is_empty() {
            without_steps(html, numbered);
        } else {
            diagram(html, finding, file, at);
        }
        shapes(html, finding, &shape);
    });
    html.line_break();
}

/// The name of the kind, in its colour.
pub fn badge(html: &mut Html, finding: &Finding) {
    let class = format!("badge {}", kind_class(finding.kind));
    html.leaf("span", &[("class", &class)], finding_name(finding));
}

/// What the finding is about and who takes part: `count, data in T1, T2`.
pub fn subject(html: &mut Html, finding: &Finding, file: &CheckedFile) {
    let program = &file.program;
    let mut things: Vec<&str> =
        finding.locations.iter().map(|&id| &*program.locations[id].name).collect();
    if things.is_empty() {
        things = finding.locks.iter().map(|&id| &*program.locks[id].name).collect();
    }
    let threads: Vec<&str> = finding.threads.iter().map(|&id| &*program.threads[id].name).collect();
    html.element("span", &[("class", "subject")], |html| {
        if !things.is_empty() {
            html.text(things.join(", "));
            html.text(" ");
        }
        html.leaf("span", &[("class", "by")], format!("in {}", threads.join(", ")));
    });
}

/// Where to look for a finding: `stack.eml:12`.
pub fn place_text(file: &CheckedFile, finding: &Finding) -> String {
    let place = first_place(finding);
    // A page shows lines; columns are for editors.
    let place = place.line().map_or(place, |line| Place::in_line(line).in_file(place.file));
    located(&file.file, place, &file.program)
}

fn where_to_look(html: &mut Html, Numbered { finding, file, at }: Numbered<'_>) {
    let place = first_place(finding);
    at.link(html, "where line", place, |html| html.text(place_text(file, finding)));
}

/// What is wrong and what it explains.
fn cause(html: &mut Html, finding: &Finding, program: &Program) {
    let Some(cause) = &finding.cause else { return };
    html.element("p", &[("class", "cause")], |html| {
        html.leaf("strong", &[], "Cause");
        html.text(" ");
        html.sentence(&cause.line);
    });
    let pairs = pairs(cause, program);
    if pairs.len() < 2 {
        return;
    }
    html.element("details", &[("class", "pairs")], |html| {
        html.leaf("summary", &[], format!("{} with this cause", count(pairs.len(), "conflict")));
        html.element("ul", &[], |html| {
            for pair in &pairs {
                html.element("li", &[], |html| html.sentence(pair));
            }
        });
    });
}

fn fix(html: &mut Html, Numbered { finding, file, at }: Numbered<'_>) {
    let Some(fix) = &finding.fix else { return };
    html.element("div", &[("class", "fix")], |html| {
        html.element("p", &[], |html| {
            html.leaf("strong", &[], "Fix");
            html.text(" ");
            html.sentence(&fix.text);
            for (position, place) in fix.places.iter().filter(|&&it| it != Place::NONE).enumerate()
            {
                let own = place.line().filter(|_| place.file == FileId::READ);
                html.text(match (position, own) {
                    (0, Some(_)) => " Line ",
                    (0, None) => " At ",
                    _ => ", ",
                });
                at.link(html, "line", *place, |html| match own {
                    Some(line) => html.text(line),
                    None => html.text(short(*place, &file.program)),
                });
            }
        });
        let checked = "The changed model was checked again: this finding is gone.";
        html.leaf("p", &[("class", "quiet")], checked);
    });
}

/// The globals before the first step, if there are any.
fn at_first(html: &mut Html, finding: &Finding, program: &Program) {
    let all = statement::shared_state(program, &[], &finding.trace.globals);
    let probes = probes::at_first(&finding.trace, program);
    if all.is_empty() && probes.is_empty() {
        return;
    }
    let shown = &all[..all.len().min(MOST_VALUES)];
    html.element("p", &[("class", "first")], |html| {
        html.text("At first ");
        if !shown.is_empty() {
            html.leaf("code", &[], statement::joined(shown));
        }
        if all.len() > shown.len() {
            html.text(format!(" and {} more", all.len() - shown.len()));
        }
        if !probes.is_empty() {
            html.text(if shown.is_empty() { "" } else { "; " });
            html.leaf("code", &[("class", "probes")], probes::joined(&probes));
        }
    });
}

/// A run without a step: what its first state shows, and where.
fn without_steps(html: &mut Html, Numbered { finding, file, at }: Numbered<'_>) {
    html.element("p", &[("class", "first")], |html| {
        html.text("The first state shows it, before any step.");
        for remark in remarks(finding, &file.program) {
            html.text(" ");
            at.link(html, "at", remark.place, |html| {
                html.text(located(&file.file, remark.place, &file.program));
            });
            html.text(format!(": {}.", remark.text));
        }
    });
}

/// Globals that are listed.
const MOST_VALUES: usize = 60;

fn facts(html: &mut Html, finding: &Finding, shape: &str) {
    html.element("ul", &[("class", "tags"), ("aria-label", "Found by")], |html| {
        let target = format!("#{shape}");
        for tag in &finding.tags {
            html.element("li", &[], |html| match pattern_of(tag) {
                Some(_) => html.leaf("a", &[("class", "to-shape"), ("href", &target)], tag),
                None => html.text(tag),
            });
        }
        let steps = count(finding.trace.steps.len(), "step");
        let switches = match finding.trace.context_switches() {
            1 => "1 context switch".to_owned(),
            number => format!("{number} context switches"),
        };
        html.leaf("li", &[("class", "plain")], format!("{steps}, {switches}"));
    });
}
