//! # Idea
//! The numbers of a run and what they mean: a line for the head of the page, and an overview with a
//! row for each file, what stayed open, what the configuration suppresses and what the baseline
//! knows. If nothing was found the overview says exactly what that is worth.

use super::finding::{Numbered, badge, place_text, subject};
use super::page::Meta;
use super::rules::rules;
use super::words::{kind_class, kind_count, kind_name, proved};
use super::writer::Html;
use crate::describe::{
    NOTHING_SHARED, count, default_limits, not_asked, open_reasons, restrictions,
};
use crate::diagnostic::Source;
use crate::places::within;
use selvedge_base::{Diagnostic, LineIndex};
use selvedge_findings::{CheckedFile, Finding, FindingKind, Tally};
use std::collections::BTreeMap;

/// The sums over all files.
pub struct Totals {
    /// The findings of each kind.
    pub kinds: [(FindingKind, usize); FindingKind::ALL.len()],
    /// What was asked, by kind.
    pub tallies: [(FindingKind, Tally); FindingKind::ALL.len()],
    /// Findings that are shown.
    pub findings: usize,
    /// Findings that the configuration suppresses.
    pub suppressed: usize,
    /// Findings that the baseline knows.
    pub known: usize,
    /// Files.
    pub files: usize,
    /// Whether there is no question, because no threads of any file share anything.
    pub share_nothing: bool,
}

impl Totals {
    /// Adds everything up.
    pub fn new(files: &[CheckedFile]) -> Self {
        let of_kind = |kind| {
            let all = files.iter().flat_map(|file| &file.findings);
            (kind, all.filter(|finding| finding.kind == kind).count())
        };
        Self {
            kinds: FindingKind::ALL.map(of_kind),
            tallies: FindingKind::ALL.map(|kind| (kind, tally(files, kind))),
            findings: files.iter().map(|file| file.findings.len()).sum(),
            suppressed: files.iter().map(|file| file.suppressed.len()).sum(),
            known: files.iter().map(|file| file.known.len()).sum(),
            files: files.len(),
            share_nothing: !files.is_empty() && files.iter().all(|file| file.nothing_shared),
        }
    }

    fn all(&self) -> Tally {
        self.tallies.iter().fold(Tally::default(), |sum, (_, tally)| add(sum, tally))
    }
}

/// The sum of what was asked about one kind.
fn tally(files: &[CheckedFile], kind: FindingKind) -> Tally {
    let all = files.iter().flat_map(|file| &file.tallies);
    all.filter(|(own, _)| *own == kind).fold(Tally::default(), |sum, (_, tally)| add(sum, tally))
}

fn add(mut sum: Tally, tally: &Tally) -> Tally {
    sum += *tally;
    sum
}

/// The numbers for the head of the page.
pub fn numbers(html: &mut Html, totals: &Totals, errors: usize) {
    let all = totals.all();
    html.element("ul", &[("class", "numbers"), ("aria-label", "Summary")], |html| {
        number(html, "", totals.files, if totals.files == 1 { "file" } else { "files" });
        for (kind, found) in totals.kinds {
            if found > 0 {
                let text = kind_count(kind, found);
                let words = text.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
                number(html, kind_class(kind), found, words);
            }
        }
        if totals.findings == 0 {
            number(html, "none", 0, "findings");
        }
        if errors > 0 {
            number(html, "open", errors, if errors == 1 { "error" } else { "errors" });
        }
        number(html, "", all.questions, if all.questions == 1 { "question" } else { "questions" });
        number(html, "proved", all.proved(), "proved safe");
        if all.vacuous > 0 {
            number(html, "", all.vacuous, "that nothing could violate");
        }
        if all.unknown > 0 {
            number(html, "open", all.unknown, "left open");
        }
        if totals.suppressed > 0 {
            number(html, "quiet", totals.suppressed, "suppressed");
        }
        if totals.known > 0 {
            number(html, "quiet", totals.known, "in the baseline");
        }
    });
}

fn number(html: &mut Html, class: &str, value: usize, words: &str) {
    html.element("li", &[("class", class)], |html| {
        html.leaf("b", &[], value);
        html.text(" ");
        html.text(words);
    });
}

/// What "safe" means, in one sentence.
pub const COVERAGE: &str = "Proved safe means: it does not happen in any execution of the model, with \
    any number of context switches and any depth of recursion.";

/// The overview.
pub fn overview(
    html: &mut Html,
    files: &[CheckedFile],
    findings: &[Numbered<'_>],
    totals: &Totals,
    meta: &Meta<'_>,
) {
    let attributes = [("id", "overview"), ("aria-labelledby", "overview-title")];
    html.element("section", &attributes, |html| {
        html.element("div", &[("class", verdict_class(totals, meta))], |html| {
            html.element("h2", &[("id", "overview-title"), ("tabindex", "-1")], |html| {
                html.text(headline(totals, meta));
            });
            html.leaf("p", &[], subline(totals, meta));
            run(html, meta);
        });
        complaints(html, meta);
        meaning(html, files, totals);
        file_table(html, files, findings);
        list_open_reasons(html, files);
        quiet_findings(html, files);
        rules(html, totals);
    });
    html.line_break();
}

fn verdict_class(totals: &Totals, meta: &Meta<'_>) -> &'static str {
    match (totals.findings, totals.all()) {
        (0, _) if meta.errors() > 0 => "verdict open",
        (0, _) if totals.share_nothing => "verdict calm",
        (0, Tally { questions: 0, .. }) => "verdict open",
        (0, Tally { unknown: 0, .. }) => "verdict calm",
        (0, _) => "verdict open",
        _ => "verdict found",
    }
}

fn headline(totals: &Totals, meta: &Meta<'_>) -> String {
    let errors = count(meta.errors(), "error");
    match (totals.findings, totals.all()) {
        (0, _) if meta.errors() > 0 => format!("{errors}: not everything was analysed"),
        (found, _) if meta.errors() > 0 => {
            let found = count(found, "finding");
            format!("{found} in {}, and {errors}", count(totals.files, "file"))
        }
        (0, _) if totals.share_nothing => "Nothing is shared between threads".to_owned(),
        (0, Tally { questions: 0, .. }) => "Nothing was asked".to_owned(),
        (0, Tally { unknown: 0, .. }) => "Nothing found".to_owned(),
        (0, tally) => {
            format!("Nothing found, but {} left open", were(tally.unknown))
        }
        (found, _) => format!("{} in {}", count(found, "finding"), count(totals.files, "file")),
    }
}

fn were(number: usize) -> String {
    format!("{} {}", count(number, "question"), if number == 1 { "was" } else { "were" })
}

fn subline(totals: &Totals, meta: &Meta<'_>) -> String {
    let all = totals.all();
    match (totals.findings, all) {
        (0, _) if meta.errors() > 0 => format!(
            "Nothing is known of a file with an error. Nothing was found in the {} that could be read: \
             {} asked, {} proved safe, {} left open.",
            count(totals.files, "other file"),
            were(all.questions),
            all.proved(),
            all.unknown
        ),
        (0, _) if totals.share_nothing => {
            "There are threads, nothing was left out, and no question arises.".to_owned()
        }
        (0, Tally { questions: 0, .. }) => "No question arises about the files.".to_owned(),
        (0, Tally { unknown: 0, .. }) => {
            format!("All {} answered, and this is what that means.", were(all.questions))
        }
        (0, _) => format!("{} proved safe. What is open may hide something.", were(all.safe)),
        _ => format!(
            "Every interleaving shown here was executed step by step on the model. {} asked, {} \
             proved safe, {} left open.",
            were(all.questions),
            all.proved(),
            all.unknown
        ),
    }
}

/// How the run ended, and what it was told to do.
fn run(html: &mut Html, meta: &Meta<'_>) {
    let mut parts = Vec::new();
    parts.extend(meta.exit.map(|code| format!("Exit code {code}")));
    if !meta.options.is_empty() && meta.exit.is_some() {
        parts.push(format!("options: {}", meta.options));
    }
    parts.extend(meta.limits_for_data.map(default_limits));
    if meta.other_files > 0 {
        parts.push(format!("{} of other kinds", count(meta.other_files, "file")));
    }
    if !parts.is_empty() {
        html.leaf("p", &[("class", "quiet run")], parts.join(" · "));
    }
}

/// Errors and warnings about the input, the errors first.
fn complaints(html: &mut Html, meta: &Meta<'_>) {
    for (title, errors) in [("Errors in the input", true), ("Warnings about the input", false)] {
        let own = meta.complaints.iter().filter(|(_, complaint)| complaint.is_error() == errors);
        let own: Vec<_> = own.collect();
        if own.is_empty() {
            continue;
        }
        html.leaf("h3", &[], format!("{title} ({})", own.len()));
        html.element("ul", &[("class", "reasons complaints")], |html| {
            for (source, complaint) in &own[..own.len().min(MOST_COMPLAINTS)] {
                html.element("li", &[], |html| {
                    html.leaf("span", &[("class", "where")], complained_at(source, complaint));
                    html.text(" ");
                    html.sentence(&complaint.message);
                    html.text(" ");
                    html.leaf("code", &[("class", "quiet")], complaint.code);
                    if let Some(help) = &complaint.help {
                        html.element("p", &[("class", "quiet")], |html| html.sentence(help));
                    }
                });
            }
        });
        if own.len() > MOST_COMPLAINTS {
            let more = format!("… and {} more", own.len() - MOST_COMPLAINTS);
            html.leaf("p", &[("class", "quiet")], more);
        }
    }
}

/// So many errors and so many warnings are shown.
const MOST_COMPLAINTS: usize = 200;

/// The file of a complaint, with the line and the column where it is about a place.
fn complained_at(source: &Source<'_>, complaint: &Diagnostic) -> String {
    let name = source.name;
    match &complaint.primary {
        Some(label) => {
            format!("{name}{}", within(LineIndex::new(source.text).place(label.span.start)))
        }
        None => name.to_owned(),
    }
}

fn meaning(html: &mut Html, files: &[CheckedFile], totals: &Totals) {
    html.element("div", &[("class", "meaning")], |html| {
        html.leaf("h3", &[], "What a proof covers");
        html.element("p", &[], |html| {
            html.text(COVERAGE);
            html.text(
                " It speaks of the model and of the questions asked, not of what the model leaves \
                 out.",
            );
        });
        for file in files {
            for restriction in restrictions(&file.program) {
                html.element("p", &[], |html| {
                    html.leaf("span", &[("class", "where")], &file.file);
                    html.text(format!(" Restricted: {restriction}."));
                });
            }
            for &kind in &file.not_asked {
                html.element("p", &[], |html| {
                    html.leaf("span", &[("class", "where")], &file.file);
                    html.text(format!(" Not asked: {}.", not_asked(kind)));
                });
            }
            for claim in &file.claims {
                html.element("p", &[("class", "claim")], |html| {
                    html.leaf("span", &[("class", "where")], &file.file);
                    html.text(" ");
                    html.sentence(claim);
                });
            }
        }
        html.element("dl", &[], |html| {
            for (kind, tally) in totals.tallies.iter().filter(|(_, tally)| tally.questions > 0) {
                html.leaf("dt", &[], kind_name(*kind));
                html.element("dd", &[], |html| {
                    html.text(format!(
                        "{} of {} proved{}.",
                        tally.proved(),
                        tally.questions,
                        match tally.vacuous {
                            0 => String::new(),
                            number => format!(", {number} that nothing could violate"),
                        }
                    ));
                    if tally.proved() > 0 {
                        html.text(format!(" A proof says: {}.", proved(*kind)));
                    }
                });
            }
        });
    });
}

fn file_table(html: &mut Html, files: &[CheckedFile], findings: &[Numbered<'_>]) {
    if files.is_empty() {
        return;
    }
    // A wide table scrolls by itself, which needs the focus.
    let attributes =
        [("class", "scroll"), ("role", "region"), ("aria-label", "Files"), ("tabindex", "0")];
    html.element("div", &attributes, |html| {
        html.element("table", &[], |html| {
            html.element("thead", &[], |html| {
                html.element("tr", &[], |html| {
                    for head in
                        ["File", "Question", "Asked", "Proved", "Not violable", "Violated", "Open"]
                    {
                        html.leaf("th", &[("scope", "col")], head);
                    }
                });
            });
            // The first finding of each file, and of each kind in it.
            let mut first: BTreeMap<(usize, FindingKind), usize> = BTreeMap::new();
            for one in findings {
                first.entry((one.at.file, one.finding.kind)).or_insert(one.at.finding);
            }
            for (number, file) in files.iter().enumerate() {
                let found = |kind: FindingKind| first.get(&(number, kind)).copied();
                html.element("tbody", &[], |html| file_rows(html, file, number, &found));
            }
        });
    });
}

fn file_rows(
    html: &mut Html,
    file: &CheckedFile,
    number: usize,
    found: &dyn Fn(FindingKind) -> Option<usize>,
) {
    let asked: Vec<_> = file.tallies.iter().filter(|(_, tally)| tally.questions > 0).collect();
    let rows = asked.len().max(1).to_string();
    let number = number.to_string();
    // The name leads to the findings of the file, a number of violations to those of its kind.
    let first = FindingKind::ALL.into_iter().filter_map(found).min();
    let name = |html: &mut Html| {
        html.element("th", &[("scope", "rowgroup"), ("rowspan", &rows)], |html| match first {
            Some(first) => {
                let target = format!("#f{first}");
                let attributes = [("class", "of-file"), ("href", &*target), ("data-file", &number)];
                html.leaf("a", &attributes, &file.file);
            }
            None => html.text(&file.file),
        });
    };
    if asked.is_empty() {
        html.element("tr", &[], |html| {
            name(html);
            let why = if file.nothing_shared { NOTHING_SHARED } else { "nothing to ask" };
            html.leaf("td", &[("colspan", "6"), ("class", "quiet")], why);
        });
    }
    for (position, (kind, tally)) in asked.into_iter().enumerate() {
        html.element("tr", &[], |html| {
            if position == 0 {
                name(html);
            }
            html.leaf("td", &[], kind_name(*kind));
            for (class, value) in [
                ("", tally.questions),
                ("proved", tally.proved()),
                ("", tally.vacuous),
                ("violated", tally.violated),
                ("open", tally.unknown),
            ] {
                let class = if value == 0 { "zero" } else { class };
                let target = found(*kind).filter(|_| class == "violated");
                html.element("td", &[("class", class)], |html| match target {
                    Some(first) => {
                        let target = format!("#f{first}");
                        let attributes = [
                            ("class", "of-file"),
                            ("href", &*target),
                            ("data-file", &number),
                            ("data-of-kind", kind_class(*kind)),
                        ];
                        html.leaf("a", &attributes, value);
                    }
                    None => html.text(value),
                });
            }
        });
    }
}

fn list_open_reasons(html: &mut Html, files: &[CheckedFile]) {
    if files.iter().all(|file| open_reasons(file).is_empty()) {
        return;
    }
    html.leaf("h3", &[], "Why questions stayed open");
    html.element("ul", &[("class", "reasons")], |html| {
        for file in files {
            for reason in open_reasons(file) {
                html.element("li", &[], |html| {
                    html.leaf("span", &[("class", "where")], &file.file);
                    html.text(" ");
                    html.sentence(&reason);
                });
            }
        }
    });
}

fn quiet_findings(html: &mut Html, files: &[CheckedFile]) {
    let suppressed = files
        .iter()
        .flat_map(|file| file.suppressed.iter().map(move |(one, why)| (file, one, Some(&**why))));
    quiet_list(html, "Suppressed by the configuration", &suppressed.collect::<Vec<_>>());
    let known = files.iter().flat_map(|file| file.known.iter().map(move |one| (file, one, None)));
    quiet_list(html, "Known to the baseline", &known.collect::<Vec<_>>());
}

fn quiet_list(html: &mut Html, title: &str, findings: &[(&CheckedFile, &Finding, Option<&str>)]) {
    if findings.is_empty() {
        return;
    }
    html.leaf("h3", &[], title);
    html.element("ul", &[("class", "reasons")], |html| {
        for &(file, finding, why) in findings {
            html.element("li", &[], |html| {
                badge(html, finding);
                subject(html, finding, file);
                html.text(" ");
                html.leaf("span", &[("class", "where")], place_text(file, finding));
                html.element("p", &[], |html| html.sentence(&finding.reason));
                if let Some(why) = why {
                    html.element("p", &[("class", "quiet")], |html| {
                        html.text("Reason given: ");
                        html.text(why);
                    });
                }
            });
        }
    });
}
