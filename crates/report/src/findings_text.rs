//! # Idea
//! What `selvedge check` tells people: first a summary that fits a screen, then each finding with
//! the source lines that conflict, its best interleaving and a fix if one is known, at last the
//! numbers and what exactly is proved.
//!
//! # Invariants
//! 1. Every finding that counts is mentioned or counted; what is left out is counted.
//! 2. Names, file names and sentences about them are escaped ([`visible`]).

use crate::answers::BLOCKED_OVER_CHANNELS;
use crate::checks::{Checks, Totals};
use crate::describe::{count, kind_name, list, proved, restrictions};
use crate::escape::visible;
use crate::interleaving::{self, Detail};
use crate::places::{by_file, first_place, located, within};
use crate::quotes;
use crate::terminal::{Terminal, Tone};
use crate::text::{Witnesses, fill};
use crate::width::{clip, columns, padded};
use selvedge_findings::{CheckedFile, Finding, FindingKind};
use selvedge_program::Feature;
use std::fmt::Write as _;

/// What to print.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Which interleavings.
    pub witnesses: Witnesses,
    /// How much of each interleaving.
    pub detail: Detail,
}

/// Findings that the summary lists.
const LISTED: usize = 15;
/// Up to so many findings the summary gives reasons as well.
const EXPLAINED: usize = 6;
/// Up to so many files without a finding are named.
const NAMED: usize = 5;

/// Renders the outcome.
pub fn render(checks: &Checks<'_>, options: Options, terminal: Terminal) -> String {
    let mut out = String::new();
    summary(&mut out, checks, terminal);
    witnesses(&mut out, checks, options, terminal);
    totals(&mut out, checks, terminal);
    for file in checks.files {
        for restriction in restrictions(&file.program) {
            let _ = writeln!(out, "restricted: {}: {restriction}", visible(&file.file));
        }
    }
    coverage(&mut out, checks, terminal);
    left_out(&mut out, checks, terminal);
    out
}

/// One finding in full: reason, quoted source, interleaving, fix.
pub fn render_finding(
    finding: &Finding,
    file: &CheckedFile,
    detail: Detail,
    terminal: Terminal,
) -> String {
    let mut out = fill(&format!("{}.", visible(&finding.reason)), terminal.width);
    out.push('\n');
    let quoted = quotes::render(finding, file, terminal);
    if !quoted.is_empty() {
        let _ = writeln!(out, "{quoted}");
    }
    out.push_str(&interleaving::render_finding(finding, &file.program, detail, terminal));
    if let Some(fix) = &finding.fix {
        let text = fill(&format!("Fix: {}", visible(&fix.text)), terminal.width);
        let _ = write!(out, "\n{}", text.replacen("Fix:", &terminal.paint(Tone::Good, "Fix:"), 1));
    }
    out
}

fn summary(out: &mut String, checks: &Checks<'_>, terminal: Terminal) {
    let found = checks.totals().findings;
    let mut left = LISTED;
    let mut quiet = Vec::new();
    for file in checks.files {
        let name = visible(&file.file);
        if file.findings.is_empty() && file.open.is_empty() {
            quiet.push(name);
            continue;
        }
        let what = match file.findings.len() {
            0 => terminal.paint(Tone::Open, "unknown"),
            number => terminal.paint(Tone::Bad, count(number, "finding")),
        };
        let _ = writeln!(out, "{}: {what}", terminal.paint(Tone::Heading, name));
        let groups = by_file(file);
        let mut listed = 0;
        for (group, findings) in &groups {
            let shown = &findings[..findings.len().min(left)];
            if shown.is_empty() {
                break;
            }
            left -= shown.len();
            listed += shown.len();
            // A program of one file needs no further name.
            if let Some(other) = file.program.file(*group) {
                let _ = writeln!(out, " {}", terminal.paint(Tone::Heading, visible(&other.name)));
            } else if groups.len() > 1 {
                let _ = writeln!(out, " {}", terminal.paint(Tone::Heading, visible(&file.file)));
            }
            entries(out, shown, file, found <= EXPLAINED, terminal);
        }
        if listed < file.findings.len() {
            let _ = writeln!(out, "  … and {}", file.findings.len() - listed);
        }
        let unknown: usize = file.tallies.iter().map(|(_, tally)| tally.unknown).sum();
        if unknown > 0 || !file.open.is_empty() {
            let word = terminal.paint(Tone::Open, "unknown");
            let why = file.open.iter().map(|why| visible(why).into_owned()).collect::<Vec<_>>();
            let text = format!("{}: {}", count(unknown, "question"), why.join("; "));
            let _ = write!(
                out,
                "  {word}  {}",
                fill(&text, terminal.width.saturating_sub(11)).trim_start()
            );
        }
    }
    if quiet.len() <= NAMED {
        for name in &quiet {
            let _ = writeln!(out, "{}: no finding", terminal.paint(Tone::Heading, name));
        }
    } else {
        let _ = writeln!(out, "{} without a finding", count(quiet.len(), "file"));
    }
    if !checks.files.is_empty() {
        out.push('\n');
    }
}

/// One line per finding, its parts aligned, and its reason if there is room.
fn entries(
    out: &mut String,
    findings: &[&Finding],
    file: &CheckedFile,
    explained: bool,
    terminal: Terminal,
) {
    let parts: Vec<[String; 3]> = findings
        .iter()
        .map(|finding| {
            let place = within(first_place(finding));
            let place = place.trim_start_matches(':');
            let place = if place.is_empty() { "-" } else { place }.to_owned();
            [kind_name(finding.kind).to_owned(), place, parties(finding, file)]
        })
        .collect();
    let width = |at: usize| {
        let widths = parts.iter().map(|parts| columns(&parts[at]));
        widths.filter(|&width| width <= terminal.width / 2).max().unwrap_or(0)
    };
    let (first, second, third) = (width(0), width(1), width(2));
    for (finding, [kind, place, parties]) in findings.iter().zip(&parts) {
        let kind = terminal.paint(Tone::Bad, format!("{kind:first$}"));
        let used = first + second + third.max(columns(parties)) + 8;
        let tags = clip(&tags(finding), terminal.width.saturating_sub(used));
        let parties = padded(parties, third);
        let line = format!("  {kind}  {place:<second$}  {parties}  {tags}");
        let _ = writeln!(out, "{}", line.trim_end());
        if explained {
            let reason =
                fill(&format!("{}.", visible(&finding.reason)), terminal.width.saturating_sub(4));
            for line in reason.lines() {
                let _ = writeln!(out, "    {}", line.trim());
            }
        }
    }
}

/// The tags; patterns by their numbers, as in `patterns 1, 2, 12`.
fn tags(finding: &Finding) -> String {
    let (mut patterns, mut parts) = (Vec::new(), Vec::new());
    for tag in &finding.tags {
        match tag.strip_prefix("pattern-") {
            Some(number) => patterns.push(visible(number)),
            None => parts.push(visible(tag).into_owned()),
        }
    }
    if !patterns.is_empty() {
        let word = if patterns.len() == 1 { "pattern" } else { "patterns" };
        parts.push(format!("{word} {}", list(patterns)));
    }
    parts.join(", ")
}

/// `T1 vs T2`.
fn parties(finding: &Finding, file: &CheckedFile) -> String {
    let names: Vec<_> =
        finding.threads.iter().map(|&id| visible(&file.program.threads[id].name)).collect();
    names.join(" vs ")
}

fn witnesses(out: &mut String, checks: &Checks<'_>, options: Options, terminal: Terminal) {
    let all = checks.files.iter().flat_map(|file| {
        let grouped = by_file(file).into_iter().flat_map(|(_, findings)| findings);
        grouped.map(move |own| (own, file))
    });
    let found = checks.totals().findings;
    let shown = match options.witnesses {
        Witnesses::Hidden => return,
        Witnesses::First(limit) => limit.min(found),
    };
    for (at, (finding, file)) in all.take(shown).enumerate() {
        let heading = format!("{} of {found}: {}", at + 1, kind_name(finding.kind));
        let heading = terminal.paint(Tone::Bad, heading);
        let place = located(&file.file, first_place(finding), &file.program);
        let _ = writeln!(out, "{heading}  {place}");
        let _ = writeln!(out, "{}", render_finding(finding, file, options.detail, terminal));
    }
    if shown < found {
        let rest = count(found - shown, "more finding");
        let _ = writeln!(out, "{rest} without interleavings (--max-findings {found} shows all)\n");
    }
}

fn totals(out: &mut String, checks: &Checks<'_>, terminal: Terminal) {
    let Totals { tally, findings, suppressed, known } = checks.totals();
    let paint = |number: usize, tone: Tone, text: String| {
        if number == 0 { text } else { terminal.paint(tone, text) }
    };
    let mut kinds: Vec<String> = Vec::new();
    for kind in FindingKind::ALL {
        let number = checks.of_kind(kind);
        if number > 0 {
            kinds.push(count(number, kind_name(kind)));
        }
    }
    let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    let _ = writeln!(
        out,
        "{}, {}: {}{kinds}, {}, {} in {:.3} s",
        count(checks.files.len(), "file"),
        count(tally.questions, "question"),
        paint(findings, Tone::Bad, count(findings, "finding")),
        paint(tally.safe, Tone::Good, format!("{} proved safe", tally.safe)),
        paint(tally.unknown, Tone::Open, format!("{} unknown", tally.unknown)),
        checks.elapsed.as_secs_f64()
    );
    let mut silent = Vec::new();
    if suppressed > 0 {
        silent.push(format!("{suppressed} suppressed by the configuration"));
    }
    if known > 0 {
        silent.push(format!("{known} known from the baseline"));
    }
    if !silent.is_empty() {
        let _ = writeln!(out, "not counted: {}", silent.join(", "));
    }
    if checks.errors() > 0 {
        let _ = writeln!(
            out,
            "{}: files with errors were not analysed",
            paint(1, Tone::Bad, count(checks.errors(), "error"))
        );
    }
}

/// What was left out of the programs wherever the rest suffices.
fn left_out(out: &mut String, checks: &Checks<'_>, terminal: Terminal) {
    for file in checks.files.iter().filter(|file| !file.left_out.is_empty()) {
        let _ = writeln!(out, "left out of {} where that suffices", visible(&file.file));
        for what in &file.left_out {
            out.push_str(&fill(&visible(what), terminal.width));
        }
    }
}

/// What is proved: the kinds without any finding, counted or not, and without open questions.
fn coverage(out: &mut String, checks: &Checks<'_>, terminal: Terminal) {
    if checks.errors() > 0 {
        return;
    }
    let found = |file: &CheckedFile, kind: FindingKind| {
        let all = file.findings.iter().chain(&file.known);
        all.chain(file.suppressed.iter().map(|(finding, _)| finding)).any(|own| own.kind == kind)
    };
    let is_proved = |kind: FindingKind| {
        !checks.files.is_empty()
            && checks.files.iter().all(|file| {
                let tally = file.tallies.iter().find(|(own, _)| *own == kind);
                tally.is_some_and(|(_, tally)| tally.unknown == 0) && !found(file, kind)
            })
    };
    let kinds: Vec<FindingKind> =
        FindingKind::ALL.into_iter().filter(|&kind| is_proved(kind)).collect();
    if kinds.is_empty() {
        return;
    }
    // A finding that does not count is still no proof.
    let asked = checks.files.iter().flat_map(|file| &file.tallies);
    let everything = asked.into_iter().all(|(kind, _)| kinds.contains(kind));
    let safe = terminal.paint(Tone::Good, if everything { "safe" } else { "proved" });
    let restricted = checks.files.iter().any(|file| !file.program.restrictions.is_empty());
    let counting = if restricted { " that count" } else { "" };
    let _ = writeln!(out, "{safe}: for all executions of the model{counting}");
    for &kind in &kinds {
        out.push_str(&fill(&format!("No {}: {}.", kind_name(kind), proved(kind)), terminal.width));
    }
    out.push_str(&fill(
        "Covered: any number of context switches, any recursion depth.",
        terminal.width,
    ));
    let channels = |file: &CheckedFile| file.program.features().contains(Feature::Channels);
    if kinds.contains(&FindingKind::Deadlock) && checks.files.iter().any(channels) {
        let text = format!("Not covered: {BLOCKED_OVER_CHANNELS}.");
        out.push_str(&fill(&text, terminal.width));
    }
    if kinds.contains(&FindingKind::Atomicity) {
        out.push_str(&fill("Not covered: cycles through three or more units.", terminal.width));
    }
}
