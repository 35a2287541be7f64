//! # Idea
//! The frame of the page: head, list of findings, articles, sources, help.

use super::data::{Body, data};
use super::diagram::At;
use super::digest::sha256_base64;
use super::finding::{Numbered, article, entry};
use super::later::{Later, at_once};
use super::source::source;
use super::summary::{COVERAGE, Totals, numbers, overview};
use super::words::{kind_class, kind_name};
use super::writer::Html;
use crate::checks::DefaultLimits;
use crate::describe::count;
use crate::diagnostic::Source;
use crate::places::by_file;
use selvedge_base::Diagnostic;
use selvedge_findings::CheckedFile;
use std::collections::{BTreeMap, BTreeSet};

/// What the page says of itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Meta<'a> {
    /// The name of the tool.
    pub tool: &'a str,
    /// Its version.
    pub version: &'a str,
    /// The options of the run, as text.
    pub options: &'a str,
    /// When the run was, as text; without it the page does not say.
    pub time: Option<&'a str>,
    /// Complaints about the input, each with the text that it is about.
    pub complaints: &'a [(Source<'a>, &'a Diagnostic)],
    /// The limits of each file with data, if the user set none.
    pub limits_for_data: Option<DefaultLimits>,
    /// How many files of other kinds were found.
    pub other_files: usize,
    /// The exit code, if it is known.
    pub exit: Option<u8>,
}

impl<'a> Meta<'a> {
    /// A page that says nothing of itself but who made it.
    pub fn new(tool: &'a str, version: &'a str) -> Self {
        Self {
            tool,
            version,
            options: "",
            time: None,
            complaints: &[],
            limits_for_data: None,
            other_files: 0,
            exit: None,
        }
    }

    /// How many complaints are errors.
    pub(super) fn errors(&self) -> usize {
        self.complaints.iter().filter(|(_, complaint)| complaint.is_error()).count()
    }
}

/// Rows of interleavings in a page; a page with many findings shortens each of them.
const ROWS: usize = 60_000;
/// Rows of one interleaving.
const MOST_ROWS: usize = 12_000;
/// Even in a page with very many findings an interleaving has that many rows.
const FEWEST_ROWS: usize = 1_000;

const STYLE: &[&str] = &[
    include_str!("../../assets/base.css"),
    include_str!("../../assets/app.css"),
    include_str!("../../assets/diagram.css"),
    include_str!("../../assets/print.css"),
];
const EARLY: &str = include_str!("../../assets/early.js");
const SCRIPT: &[&str] = &[
    include_str!("../../assets/model.js"),
    include_str!("../../assets/player.js"),
    include_str!("../../assets/list.js"),
    include_str!("../../assets/main.js"),
];
const ICONS: &str = include_str!("../../assets/icons.html");
const HELP: &str = include_str!("../../assets/help.html");
const CONTROLS: &str = include_str!("../../assets/controls.html");
/// The mark of the project as an icon: two threads that cross.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E\
    %3Crect width='32' height='32' rx='7' fill='%232b3a67'/%3E%3Cpath d='M10 4v24M22 4v24' \
    stroke='%239fb0e0' stroke-width='3'/%3E%3Cpath d='M10 4v5q0 3 3 3h6q3 0 3 3v2q0 3-3 3h-6q-3 0-3 3v5' \
    fill='none' stroke='%23ff7a66' stroke-width='3'/%3E%3C/svg%3E";

/// Renders the report of a run.
pub fn render(files: &[CheckedFile], meta: &Meta<'_>) -> String {
    let findings = numbered(files);
    let totals = Totals::new(files);
    let kept = Kept::new(&findings);
    let mut html = Html::default();
    html.asset(&["<!DOCTYPE html>\n"]);
    html.element("html", &[("lang", "en")], |html| {
        head(html, meta, &totals);
        html.line_break();
        html.element("body", &[], |html| {
            html.asset(&[ICONS]);
            html.leaf("a", &[("class", "skip"), ("href", "#view")], "Skip to the finding");
            banner(html, meta, &totals);
            list(html, &findings, kept.at_once, &totals);
            html.element("main", &[("id", "view"), ("tabindex", "-1")], |html| {
                overview(html, files, &findings, &totals, meta);
                for &numbered in &findings[..kept.at_once] {
                    article(html, numbered);
                }
                if kept.at_once < findings.len() {
                    let more = format!(
                        "The interleavings of {} need JavaScript; the JSON report has them, too.",
                        count(findings.len() - kept.at_once, "further finding")
                    );
                    html.leaf("p", &[("class", "quiet no-js")], more);
                }
                if !findings.is_empty() {
                    html.asset(&[CONTROLS]);
                }
            });
            html.line_break();
            if !findings.is_empty() {
                sources(html, &findings, &kept);
            }
            html.asset(&[HELP]);
            let live =
                [("id", "live"), ("class", "sr"), ("role", "status"), ("aria-live", "polite")];
            html.leaf("div", &live, "");
            html.line_break();
            html.element("script", &[("type", "application/json"), ("id", "data")], |html| {
                html.json(&data(files, &findings, &kept.findings, &kept.sources));
            });
            html.line_break();
            if let Some(block) = &kept.block {
                html.element("script", &[("type", "text/plain"), ("id", "later")], |html| {
                    html.text(block);
                });
                html.line_break();
            }
            html.element("script", &[], |html| html.asset(SCRIPT));
        });
    });
    html.line_break();
    html.finish()
}

/// What is part of the page, and what is kept packed.
struct Kept {
    /// How many of the first findings are part of the page.
    at_once: usize,
    /// The chunk of each finding that is not.
    findings: Vec<Option<usize>>,
    /// The chunks of the sources that are not, by the number of the file.
    sources: BTreeMap<usize, usize>,
    /// The packed block.
    block: Option<String>,
}

impl Kept {
    fn new(findings: &[Numbered<'_>]) -> Self {
        let at_once = at_once(findings.iter().map(|one| one.finding.trace.steps.len()));
        let shown: BTreeSet<usize> = findings[..at_once].iter().map(|one| one.at.file).collect();
        let mut later = Later::default();
        let mut chunks = vec![None; at_once];
        let mut sources = BTreeMap::new();
        for &numbered in &findings[at_once..] {
            let mut html = Html::default();
            article(&mut html, numbered);
            let file = numbered.at.file;
            let new = !shown.contains(&file) && !sources.contains_key(&file);
            let source = new.then(|| {
                let mut html = Html::default();
                source_section(&mut html, numbered.file, file, findings);
                (file, html.finish())
            });
            let number = numbered.at.finding;
            let chunk = later.keep(number, html.finish(), Body::new(numbered), source);
            if new {
                sources.insert(file, chunk);
            }
            chunks.push(Some(chunk));
        }
        Self { at_once, findings: chunks, sources, block: later.finish() }
    }
}

fn numbered(files: &[CheckedFile]) -> Vec<Numbered<'_>> {
    let number: usize = files.iter().map(|file| file.findings.len()).sum();
    let most = (ROWS / number.max(1)).clamp(FEWEST_ROWS, MOST_ROWS);
    let mut names: Vec<&str> = files.iter().map(|file| file.file.as_str()).collect();
    let mut all = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let lines = file.source.lines().count();
        for (own, findings) in by_file(file) {
            let group = file.program.file(own).map_or(number, |other| {
                // Programs may share a file.
                let known = names.iter().position(|&name| name == other.name);
                known.unwrap_or_else(|| {
                    names.push(&other.name);
                    names.len() - 1
                })
            });
            for finding in findings {
                let at = At { finding: all.len(), file: number, group, lines, most };
                all.push(Numbered { finding, file, at });
            }
        }
    }
    all
}

fn head(html: &mut Html, meta: &Meta<'_>, totals: &Totals) {
    let script = SCRIPT.concat();
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{}' \
         'sha256-{}'; base-uri 'none'; form-action 'none'",
        sha256_base64(EARLY),
        sha256_base64(&script)
    );
    html.element("head", &[], |html| {
        html.void("meta", &[("charset", "utf-8")]);
        let attributes = [("http-equiv", "Content-Security-Policy"), ("content", &*policy)];
        html.void("meta", &attributes);
        let width = "width=device-width, initial-scale=1";
        html.void("meta", &[("name", "viewport"), ("content", width)]);
        html.void("meta", &[("name", "color-scheme"), ("content", "light dark")]);
        let generator = format!("{} {}", meta.tool, meta.version);
        html.void("meta", &[("name", "generator"), ("content", &generator)]);
        let found = match totals.findings {
            0 if meta.errors() > 0 => count(meta.errors(), "error"),
            0 => "nothing found".to_owned(),
            number => count(number, "finding"),
        };
        html.leaf("title", &[], format!("{} · {found}", meta.tool));
        html.void("link", &[("rel", "icon"), ("href", ICON)]);
        html.element("style", &[], |html| html.asset(STYLE));
        html.element("script", &[], |html| html.asset(&[EARLY]));
    });
}

fn banner(html: &mut Html, meta: &Meta<'_>, totals: &Totals) {
    html.line_break();
    html.element("header", &[("class", "banner")], |html| {
        html.element("div", &[("class", "brand")], |html| {
            html.asset(&["<svg class=\"mark\" aria-hidden=\"true\"><use href=\"#i-mark\"/></svg>"]);
            html.element("h1", &[], |html| {
                html.text(meta.tool);
                html.text(" ");
                html.leaf("span", &[("class", "version")], meta.version);
            });
        });
        html.element("div", &[("class", "summary")], |html| {
            numbers(html, totals, meta.errors());
            html.element("p", &[("class", "coverage")], |html| {
                html.text(COVERAGE);
                if !meta.options.is_empty() {
                    html.text(" ");
                    html.element("span", &[("class", "options")], |html| {
                        html.text("Options: ");
                        html.leaf("code", &[], meta.options);
                    });
                }
                if let Some(time) = meta.time {
                    html.text(" ");
                    html.leaf("span", &[("class", "time")], time);
                }
            });
        });
        html.asset(&[include_str!("../../assets/buttons.html")]);
    });
    html.line_break();
}

fn list(html: &mut Html, findings: &[Numbered<'_>], at_once: usize, totals: &Totals) {
    if findings.is_empty() {
        return;
    }
    html.element("nav", &[("id", "list"), ("aria-label", "Findings")], |html| {
        html.element("form", &[("class", "filter js"), ("role", "search")], |html| {
            let attributes = [
                ("type", "search"),
                ("id", "filter"),
                ("placeholder", "Filter findings"),
                ("aria-label", "Filter findings"),
                ("aria-keyshortcuts", "/"),
                ("autocomplete", "off"),
            ];
            html.void("input", &attributes);
            kind_chips(html, totals);
            file_choice(html, findings);
            tag_chips(html, findings);
        });
        html.leaf("p", &[("class", "shown"), ("id", "shown")], count(findings.len(), "finding"));
        html.line_break();
        html.element("ol", &[("class", "entries"), ("role", "list")], |html| {
            let mut group = None;
            for &numbered in findings {
                // A program of one file needs no further name.
                if group.replace(numbered.at.group) != Some(numbered.at.group)
                    && !numbered.file.program.files.is_empty()
                {
                    html.leaf("li", &[("class", "file")], numbered.lies_in());
                    html.line_break();
                }
                entry(html, numbered, numbered.at.finding >= at_once);
            }
        });
        let none = [("class", "quiet js"), ("id", "nothing"), ("hidden", "")];
        html.leaf("p", &none, "No finding matches the filter.");
    });
    html.line_break();
}

fn kind_chips(html: &mut Html, totals: &Totals) {
    let group = [("class", "chips"), ("role", "group"), ("aria-label", "Kinds")];
    html.element("div", &group, |html| {
        for (kind, found) in totals.kinds {
            if found == 0 {
                continue;
            }
            let class = format!("chip {}", kind_class(kind));
            let attributes = [
                ("type", "button"),
                ("class", &*class),
                ("data-kind", kind_class(kind)),
                ("aria-pressed", "false"),
            ];
            html.element("button", &attributes, |html| chip(html, &kind_name(kind), found));
        }
    });
}

fn chip(html: &mut Html, name: &str, number: usize) {
    html.text(name);
    html.text(" ");
    html.leaf("span", &[("class", "count")], number);
}

/// A choice of the files that findings lie in, if there are several.
fn file_choice(html: &mut Html, findings: &[Numbered<'_>]) {
    let mut groups: BTreeMap<usize, (&str, usize)> = BTreeMap::new();
    for numbered in findings {
        groups.entry(numbered.at.group).or_insert((numbered.lies_in(), 0)).1 += 1;
    }
    if groups.len() < 2 {
        return;
    }
    html.element("select", &[("id", "file"), ("aria-label", "File")], |html| {
        html.leaf("option", &[("value", "")], "All files");
        for (number, (name, found)) in groups {
            let text = format!("{name} ({found})");
            html.leaf("option", &[("value", &number.to_string())], text);
        }
    });
}

fn tag_chips(html: &mut Html, findings: &[Numbered<'_>]) {
    let mut tags = BTreeMap::new();
    for tag in findings.iter().flat_map(|numbered| &numbered.finding.tags) {
        *tags.entry(&**tag).or_insert(0usize) += 1;
    }
    if tags.is_empty() {
        return;
    }
    html.element("details", &[("class", "tag-filter")], |html| {
        html.leaf("summary", &[], "Tags");
        html.element("div", &[("class", "chips")], |html| {
            for (tag, number) in tags {
                let attributes = [
                    ("type", "button"),
                    ("class", "chip tag"),
                    ("data-tag", tag),
                    ("aria-pressed", "false"),
                ];
                html.element("button", &attributes, |html| chip(html, tag, number));
            }
        });
    });
}

fn sources(html: &mut Html, findings: &[Numbered<'_>], kept: &Kept) {
    html.element("aside", &[("id", "side"), ("aria-label", "Source and state")], |html| {
        let shown = findings[..kept.at_once].iter().map(|one| (one.at.file, one.file));
        for (number, file) in shown.collect::<BTreeMap<_, _>>() {
            source_section(html, file, number, findings);
        }
        // The panel scrolls by itself, which needs the focus.
        let state = [
            ("id", "state"),
            ("class", "js"),
            ("role", "region"),
            ("aria-labelledby", "state-title"),
            ("tabindex", "0"),
        ];
        html.element("section", &state, |html| {
            html.leaf("h2", &[("id", "state-title")], "State");
            html.element("div", &[("id", "threads")], |_| {});
        });
    });
    html.line_break();
}

/// The text of a file under its name, with links to what was found in it.
fn source_section(html: &mut Html, file: &CheckedFile, number: usize, all: &[Numbered<'_>]) {
    let (id, title) = (format!("s{number}"), format!("s{number}-title"));
    let own: Vec<Numbered<'_>> = all.iter().filter(|one| one.at.file == number).copied().collect();
    html.element("section", &[("class", "source"), ("id", &*id)], |html| {
        html.element("h2", &[("id", &title)], |html| {
            html.text(&file.file);
            html.text(" ");
            html.leaf("span", &[("class", "count")], count(own.len(), "finding"));
        });
        let attributes = [
            ("class", "scroll"),
            ("tabindex", "0"),
            ("role", "region"),
            ("aria-labelledby", &*title),
        ];
        html.element("div", &attributes, |html| source(html, file, number, &own));
    });
    html.line_break();
}
