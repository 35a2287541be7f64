//! # Idea
//! What `selvedge check` tells people: first a summary that fits a screen, then each finding with
//! the source lines that conflict, its best interleaving and a fix if one is known, at last the
//! numbers and what exactly is proved.
//!
//! # Invariants
//! 1. Every finding that counts is mentioned or counted; what is left out is counted.
//! 2. Names, file names and sentences about them are escaped ([`visible`]).

use crate::answers::BLOCKED_OVER_CHANNELS;
use crate::causes;
use crate::checks::{Checks, Totals};
use crate::describe::{
    self, NOTHING_SHARED, count, default_limits, finding_name, kind_name, list, proved,
    restrictions,
};
use crate::escape::visible;
use crate::fit::wrap_lines;
use crate::interleaving::{self, Detail};
use crate::places::{first_place, located, short, within};
use crate::quotes;
use crate::terminal::{Terminal, Tone};
use crate::text::{Witnesses, fill};
use crate::width::{columns, padded};
use selvedge_findings::cause::method_name;
use selvedge_findings::{Cause, CheckedFile, Finding, FindingKind, stacks};
use selvedge_program::{Feature, Program};
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
const LISTED: usize = 12;
/// Findings with a cause that the summary lists.
const CAUSES: usize = 10;
/// Conflicts that are listed for a cause.
const PAIRS: usize = 8;
/// Open calls that are shown of a thread.
const FRAMES: usize = 12;
/// Up to so many findings the summary gives reasons as well.
const EXPLAINED: usize = 6;
/// Findings behind those that are shown with interleavings and get a line each.
const BRIEF: usize = 30;
/// Up to so many files without a finding, and files with open questions, are named.
const NAMED: usize = 5;

/// Renders the outcome.
pub fn render(checks: &Checks<'_>, options: Options, terminal: Terminal) -> String {
    let mut out = String::new();
    if checks.share_nothing() {
        let _ = writeln!(out, "{}", terminal.paint(Tone::Good, NOTHING_SHARED));
    }
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
    claims(&mut out, checks, terminal);
    wrap_lines(&out, terminal.width)
}

/// One finding in full: reason, quoted source, interleaving, fix.
pub fn render_finding(
    finding: &Finding,
    file: &CheckedFile,
    detail: Detail,
    terminal: Terminal,
) -> String {
    let mut out = String::new();
    if let Some(cause) = &finding.cause {
        out.push_str(&fill(&format!("{}.", visible(&cause.line)), terminal.width));
    }
    out.push_str(&fill(&format!("{}.", visible(&finding.reason)), terminal.width));
    out.push('\n');
    let quoted = quotes::render(finding, file, terminal);
    if !quoted.is_empty() {
        let _ = writeln!(out, "{quoted}");
    }
    out.push_str(&interleaving::render_finding(finding, &file.program, detail, terminal));
    if let Some(cause) = &finding.cause {
        standing(&mut out, finding, &file.program);
        explained(&mut out, cause, &file.program, terminal);
    }
    if let Some(fix) = &finding.fix {
        let text = fill(&format!("Fix: {}", visible(&fix.text)), terminal.width);
        let _ = write!(out, "\n{}", text.replacen("Fix:", &terminal.paint(Tone::Good, "Fix:"), 1));
    }
    if let Some(text) = causes::confirmed(finding) {
        let _ = write!(out, "\n{}", fill(&visible(&text), terminal.width));
    }
    wrap_lines(&out, terminal.width)
}

/// Where the threads stand when they conflict.
fn standing(out: &mut String, finding: &Finding, program: &Program) {
    for stack in stacks(program, finding) {
        let _ = writeln!(out, "\n  {} stands in", visible(&program.threads[stack.thread].name));
        for &(procedure, place) in stack.frames.iter().take(FRAMES) {
            let name = method_name(&program.procedures[procedure].name);
            let _ = writeln!(out, "    {}  {}", visible(&name), short(place, program));
        }
        if stack.frames.len() > FRAMES {
            let _ = writeln!(out, "    … and {} more", stack.frames.len() - FRAMES);
        }
    }
}

/// What a cause explains beside the interleaving that is shown.
fn explained(out: &mut String, cause: &Cause, program: &Program, terminal: Terminal) {
    let pairs = causes::pairs(cause, program);
    if pairs.len() < 2 {
        return;
    }
    let _ = writeln!(out, "\n  {} with this cause:", count(pairs.len(), "conflict"));
    for pair in &pairs[..pairs.len().min(PAIRS)] {
        let line = fill(pair, terminal.width.saturating_sub(2));
        line.lines().for_each(|line| {
            let _ = writeln!(out, "  {line}");
        });
    }
    if pairs.len() > PAIRS {
        let _ = writeln!(out, "    … and {} more (--format json lists all)", pairs.len() - PAIRS);
    }
}

/// What was found where, on one screen for any number of files.
fn summary(out: &mut String, checks: &Checks<'_>, terminal: Terminal) {
    let ranked = checks.ranked();
    match checks.files {
        [file] if !ranked.is_empty() => {
            let what = terminal.paint(Tone::Bad, count(ranked.len(), "finding"));
            let _ = writeln!(out, "{}: {what}", name(file, terminal));
        }
        files if !ranked.is_empty() => {
            let hit = files.iter().filter(|file| !file.findings.is_empty()).count();
            let what = terminal.paint(Tone::Bad, count(ranked.len(), "finding"));
            let _ = writeln!(out, "{what} in {hit} of {}", count(files.len(), "file"));
        }
        _ => {}
    }
    let has_causes = ranked.iter().any(|(finding, _)| finding.cause.is_some());
    let listed = &ranked[..ranked.len().min(if has_causes { CAUSES } else { LISTED })];
    let explained = ranked.len() <= EXPLAINED;
    if checks.files.len() > 1 {
        entries(out, listed, true, explained, terminal);
    } else {
        // A program of several files has its findings by these files.
        let place = |entry: &(&Finding, &CheckedFile)| first_place(entry.0).file;
        let groups: Vec<_> = listed.chunk_by(|one, next| place(one) == place(next)).collect();
        for group in &groups {
            let (finding, file) = group[0];
            if let Some(other) = file.program.file(first_place(finding).file) {
                let _ = writeln!(out, " {}", terminal.paint(Tone::Heading, visible(&other.name)));
            } else if groups.len() > 1 {
                let _ = writeln!(out, " {}", name(file, terminal));
            }
            entries(out, group, false, explained, terminal);
        }
    }
    if listed.len() < ranked.len() {
        let _ = writeln!(out, "  … and {} more", ranked.len() - listed.len());
    }
    let is_open = |file: &&CheckedFile| {
        !describe::open_reasons(file).is_empty()
            || file.tallies.iter().any(|(_, tally)| tally.unknown > 0)
    };
    let open: Vec<&CheckedFile> = checks.files.iter().filter(is_open).collect();
    for file in &open[..open.len().min(NAMED)] {
        unknown(out, file, terminal);
    }
    if open.len() > NAMED {
        let word = terminal.paint(Tone::Open, "unknown");
        let _ = writeln!(out, "… and {} {word}", count(open.len() - NAMED, "more file"));
    }
    let quiet = |file: &&CheckedFile| file.findings.is_empty() && !is_open(file);
    let quiet: Vec<&CheckedFile> = checks.files.iter().filter(quiet).collect();
    let apart = |file: &&&CheckedFile| file.nothing_shared && !checks.share_nothing();
    if quiet.len() <= NAMED {
        for file in &quiet {
            let why = if apart(&file) { format!("; {NOTHING_SHARED}") } else { String::new() };
            let _ = writeln!(out, "{}: no finding{why}", name(file, terminal));
        }
    } else {
        let why = match quiet.iter().filter(apart).count() {
            0 => String::new(),
            number => format!("; in {number} of them {NOTHING_SHARED}"),
        };
        let _ = writeln!(out, "{} without a finding{why}", count(quiet.len(), "file"));
    }
    if !checks.files.is_empty() {
        out.push('\n');
    }
}

fn name(file: &CheckedFile, terminal: Terminal) -> String {
    terminal.paint(Tone::Heading, visible(&file.file))
}

/// What was left open in a file, and why.
fn unknown(out: &mut String, file: &CheckedFile, terminal: Terminal) {
    let word = terminal.paint(Tone::Open, "unknown");
    if file.findings.is_empty() {
        let _ = writeln!(out, "{}: {word}", name(file, terminal));
    }
    let number: usize = file.tallies.iter().map(|(_, tally)| tally.unknown).sum();
    let why = describe::open_reasons(file);
    let why: Vec<_> = why.iter().map(|why| visible(why)).collect();
    let about = if number == 0 { String::new() } else { count(number, "question") + ": " };
    let text = about + &why.join("; ");
    let text = fill(&text, terminal.width.saturating_sub(11));
    let _ = write!(out, "  {word}  {}", text.trim_start());
}

/// One line per finding, its parts aligned, with its file if there are several, and its reason if there
/// is room.
fn entries(
    out: &mut String,
    findings: &[(&Finding, &CheckedFile)],
    named: bool,
    explained: bool,
    terminal: Terminal,
) {
    let parts: Vec<[String; 3]> = findings
        .iter()
        .map(|(finding, file)| {
            let place = first_place(finding);
            let place = if named {
                located(&file.file, place, &file.program)
            } else {
                within(place).trim_start_matches(':').to_owned()
            };
            let place = if place.is_empty() { "-".to_owned() } else { place };
            [finding_name(finding), place, parties(finding, file)]
        })
        .collect();
    let width = |at: usize| {
        let widths = parts.iter().map(|parts| columns(&parts[at]));
        widths.filter(|&width| width <= terminal.width / 2).max().unwrap_or(0)
    };
    let widths = [width(0), width(1), width(2)];
    for ((finding, _), [kind, place, parties]) in findings.iter().zip(&parts) {
        let kind = terminal.paint(Tone::Bad, padded(kind, widths[0]));
        let mut line = Line { text: format!("  {kind}"), used: widths[0] + 2 };
        line.add(out, place, widths[1], terminal);
        line.add(out, parties, widths[2], terminal);
        for tag in tags(finding, !explained).split_inclusive(", ") {
            line.add_word(out, tag, terminal);
        }
        let _ = writeln!(out, "{}", line.text.trim_end());
        let sentence = match &finding.cause {
            _ if explained => Some(causes::sentences(finding)),
            Some(cause) => Some(cause.line.clone()),
            None => None,
        };
        if let Some(sentence) = sentence {
            let reason =
                fill(&format!("{}.", visible(&sentence)), terminal.width.saturating_sub(4));
            for line in reason.lines() {
                let _ = writeln!(out, "    {}", line.trim());
            }
        }
    }
}

/// A line that goes on in the next one where its parts have no room.
struct Line {
    text: String,
    used: usize,
}

impl Line {
    /// Adds a part, two spaces behind what is there and as wide as the others of its column.
    fn add(&mut self, out: &mut String, part: &str, width: usize, terminal: Terminal) {
        let needed = width.max(columns(part));
        if self.used + 2 + columns(part) > terminal.width && self.used > CONTINUED {
            self.go_on(out);
        } else {
            self.text.push_str("  ");
            self.used += 2;
        }
        self.text.push_str(&padded(part, width));
        self.used += needed;
    }

    /// Adds a word of the last part.
    fn add_word(&mut self, out: &mut String, word: &str, terminal: Terminal) {
        let first =
            self.text.ends_with(|c: char| c != ' ' && c != ',') || self.text.ends_with("  ");
        let gap = if first && !self.text.ends_with(", ") { 2 } else { 0 };
        if self.used + gap + columns(word.trim_end()) > terminal.width && self.used > CONTINUED {
            self.go_on(out);
        } else {
            self.text.push_str(&"  "[..gap]);
            self.used += gap;
        }
        self.text.push_str(word);
        self.used += columns(word);
    }

    fn go_on(&mut self, out: &mut String) {
        let _ = writeln!(out, "{}", self.text.trim_end());
        self.text = " ".repeat(CONTINUED);
        self.used = CONTINUED;
    }
}

/// How far a line is indented that goes on.
const CONTINUED: usize = 6;

/// The tags; patterns by their numbers, as in `patterns 1, 2, 12`, or in `brief` by how many they are.
fn tags(finding: &Finding, brief: bool) -> String {
    let (mut patterns, mut parts) = (Vec::new(), Vec::new());
    for tag in &finding.tags {
        match tag.strip_prefix("pattern-") {
            Some(number) => patterns.push(visible(number)),
            None => parts.push(visible(tag).into_owned()),
        }
    }
    if brief && patterns.len() > 1 {
        parts.push(count(patterns.len(), "pattern"));
    } else if !patterns.is_empty() {
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
    let ranked = checks.ranked();
    let found = ranked.len();
    let shown = match options.witnesses {
        Witnesses::Hidden => return,
        Witnesses::First(limit) => limit.min(found),
    };
    for (at, (finding, file)) in ranked.iter().take(shown).enumerate() {
        let heading = format!("{} of {found}: {}", at + 1, finding_name(finding));
        let heading = terminal.paint(Tone::Bad, heading);
        let place = located(&file.file, first_place(finding), &file.program);
        let _ = writeln!(out, "{heading}  {place}");
        let _ = writeln!(out, "{}", render_finding(finding, file, options.detail, terminal));
    }
    let rest = &ranked[shown..];
    let lines = &rest[..rest.len().min(BRIEF)];
    // What the summary has listed is not listed again.
    let has_causes = rest.iter().any(|(finding, _)| finding.cause.is_some());
    if found > LISTED && shown > 0 && !has_causes {
        entries(out, lines, checks.files.len() > 1, false, terminal);
    }
    if !rest.is_empty() {
        let rest = count(rest.len(), "more finding");
        let text = format!("{rest} without interleavings (--max-findings {found} shows all)");
        let _ = writeln!(out, "{}", fill(&text, terminal.width).trim_start());
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
    let mut parts = vec![
        format!("{}{kinds}", count(findings, "finding")),
        format!("{} proved safe", tally.proved()),
    ];
    if tally.vacuous > 0 {
        parts.push(format!("{} that nothing could violate", tally.vacuous));
    }
    parts.push(format!("{} unknown", tally.unknown));
    let line = format!(
        "{}, {}: {} in\u{a0}{:.3}\u{a0}s",
        count(checks.files.len(), "file"),
        count(tally.questions, "question"),
        parts.join(", "),
        checks.elapsed.as_secs_f64()
    );
    // The time is not torn apart.
    let line = fill(&line, terminal.width).replace('\u{a0}', " ");
    let line = line.replacen(
        &count(findings, "finding"),
        &paint(findings, Tone::Bad, count(findings, "finding")),
        1,
    );
    let proved = format!("{} proved safe", tally.proved());
    let line = line.replacen(&proved, &paint(tally.proved(), Tone::Good, proved.clone()), 1);
    let unknown = format!("{} unknown", tally.unknown);
    let line = line.replacen(&unknown, &paint(tally.unknown, Tone::Open, unknown.clone()), 1);
    out.push_str(line.trim_start());
    let demotions = causes::demotions(checks);
    if !demotions.is_empty() {
        let tags = demotions.iter().map(|(tag, number)| format!("{number} {tag}"));
        let text = format!("less likely, because of what the model does not know: {}", list(tags));
        out.push_str(fill(&text, terminal.width).trim_start());
    }
    if checks.other_files > 0 {
        let _ = writeln!(out, "{} of other kinds", count(checks.other_files, "file"));
    }
    if let Some(limits) = checks.settings.limits_for_data {
        let text = default_limits(limits);
        out.push_str(fill(&text, terminal.width).trim_start());
    }
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
        // What is wrong with a formula is said of the configuration, and the model is analysed without it.
        let wrong = checks.complaints.iter().filter(|(_, complaint)| complaint.is_error());
        let is_toml = |name: &str| name.rsplit_once('.').is_some_and(|(_, kind)| kind == "toml");
        let formulas = wrong.filter(|(source, _)| is_toml(source.name)).count();
        let left_out = match formulas {
            0 => "files with errors were not analysed",
            all if all == checks.errors() => "formulas with errors were not asked",
            _ => "files with errors were not analysed, formulas with errors not asked",
        };
        let errors = paint(1, Tone::Bad, count(checks.errors(), "error"));
        let _ = writeln!(out, "{errors}: {left_out}");
    }
}

/// What was asked and what is assumed, where the language of a program does not say it.
fn claims(out: &mut String, checks: &Checks<'_>, terminal: Terminal) {
    for file in checks.files {
        for claim in &file.claims {
            let _ = writeln!(out, "{}:", visible(&file.file));
            out.push_str(&fill(&visible(claim), terminal.width));
        }
    }
}

/// What was left out of the programs wherever the rest suffices; for several programs each thing once.
fn left_out(out: &mut String, checks: &Checks<'_>, terminal: Terminal) {
    let files: Vec<&CheckedFile> =
        checks.files.iter().filter(|file| !file.left_out.is_empty()).collect();
    let what = match files[..] {
        [] => return,
        [file] => visible(&file.file).into_owned(),
        _ => count(files.len(), "file"),
    };
    out.push_str(
        fill(&format!("left out of {what} where that suffices"), terminal.width).trim_start(),
    );
    let mut all: Vec<&String> = Vec::new();
    for left_out in files.iter().flat_map(|file| &file.left_out) {
        if !all.contains(&left_out) {
            all.push(left_out);
        }
    }
    for one in &all[..all.len().min(NAMED)] {
        out.push_str(&fill(&visible(one), terminal.width));
    }
    if all.len() > NAMED {
        let _ = writeln!(out, "  … and {} more (--format json lists all)", all.len() - NAMED);
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
    let asked = |kind: FindingKind| {
        let tallies = move |file: &CheckedFile| {
            file.tallies.iter().find(|(own, _)| *own == kind).map(|(_, tally)| *tally)
        };
        checks.files.iter().filter_map(move |file| Some((file, tallies(file)?)))
    };
    let is_proved = |kind: FindingKind| {
        asked(kind).next().is_some()
            && asked(kind).all(|(file, tally)| {
                let open = tally.unknown > 0 || tally.violated > 0;
                // What was not understood may be anything.
                let understood = file.claims.is_empty() && tally.questions > 0;
                !open && !found(file, kind) && (understood || file.open.is_empty())
            })
    };
    let kinds = FindingKind::ALL.into_iter().filter(|&kind| is_proved(kind));
    let (without, kinds): (Vec<FindingKind>, Vec<FindingKind>) =
        kinds.partition(|&kind| asked(kind).all(|(_, tally)| tally.questions == 0));
    let (vacuous, kinds): (Vec<FindingKind>, Vec<FindingKind>) =
        kinds.into_iter().partition(|&kind| asked(kind).all(|(_, tally)| tally.proved() == 0));
    // A finding that does not count is still no proof.
    let mut tallies = checks.files.iter().flat_map(|file| &file.tallies);
    let closed = [&kinds, &vacuous, &without];
    let everything = tallies.all(|(kind, _)| closed.iter().any(|all| all.contains(kind)));
    if !kinds.is_empty() {
        let safe = terminal.paint(Tone::Good, if everything { "safe" } else { "proved" });
        let restricted = checks.files.iter().any(|file| !file.program.restrictions.is_empty());
        let counting = if restricted { " that count" } else { "" };
        let _ = writeln!(out, "{safe}: for all executions of the model{counting}");
    }
    for &kind in &kinds {
        out.push_str(&fill(&format!("No {}: {}.", kind_name(kind), proved(kind)), terminal.width));
    }
    if !kinds.is_empty() {
        let covered = "Covered: any number of context switches, any recursion depth.";
        out.push_str(&fill(covered, terminal.width));
    }
    let channels = |file: &CheckedFile| file.program.features().contains(Feature::Channels);
    let alone = kinds.contains(&FindingKind::Deadlock) && !kinds.contains(&FindingKind::Stuck);
    if alone && checks.files.iter().any(channels) {
        let text = format!("Not covered: {BLOCKED_OVER_CHANNELS}.");
        out.push_str(&fill(&text, terminal.width));
    }
    if kinds.contains(&FindingKind::Atomicity) {
        out.push_str(&fill("Not covered: cycles through three or more units.", terminal.width));
    }
    let mut not_asked: Vec<FindingKind> = Vec::new();
    for &kind in checks.files.iter().flat_map(|file| &file.not_asked) {
        if !not_asked.contains(&kind) {
            not_asked.push(kind);
        }
    }
    if !not_asked.is_empty() {
        let word = terminal.paint(Tone::Open, "not asked");
        let text = list(not_asked.into_iter().map(describe::not_asked));
        let files = checks.files.iter().filter(|file| !file.not_asked.is_empty()).count();
        let of = if checks.files.len() > 1 {
            format!(" of {}", count(files, "file"))
        } else {
            String::new()
        };
        let text = fill(&format!("{text}{of}"), terminal.width.saturating_sub(11));
        let _ = write!(out, "{word}: {}", text.trim_start());
    }
    let nothing_asked = kinds.is_empty() && vacuous.is_empty() && !without.is_empty();
    if nothing_asked && everything {
        let safe = terminal.paint(Tone::Good, "safe");
        let _ = writeln!(out, "{safe}: there is no question to ask");
        return;
    }
    let unasked = [
        ("nothing in the model could be a case of", vacuous),
        ("no question arises about", without),
    ];
    for (why, kinds) in unasked.into_iter().filter(|(_, kinds)| !kinds.is_empty()) {
        let word = terminal.paint(Tone::Open, "not asked");
        let text = format!("{why}: {}", list(kinds.into_iter().map(kind_name)));
        let text = fill(&text, terminal.width.saturating_sub(11));
        let _ = write!(out, "{word}: {}", text.trim_start());
    }
}
