//! What the HTML report contains, that nothing from outside gets into its markup, and that it is
//! well formed. How it behaves is tested in a browser; see the folder `browser`.

mod common;
mod html_cases;

use insta::assert_snapshot;
use selvedge_findings::{CheckedFile, FindingKind};
use selvedge_program::StepKind;
use selvedge_report::html::{Meta, render};
use std::collections::BTreeSet;

fn page(files: &[CheckedFile]) -> String {
    render(files, &html_cases::meta())
}

/// The markup without the head, the help, the scripts and the data.
fn body(page: &str) -> &str {
    let start = page.find("<header").expect("a header");
    let end = page.find("<dialog").expect("a dialog");
    &page[start..end]
}

#[test]
fn the_small_report() {
    let mut file = html_cases::stack();
    file.findings.truncate(1);
    assert_snapshot!("html_small", body(&page(&[file])));
}

#[test]
fn a_deadlock_and_what_surrounds_it() {
    let mut file = html_cases::bank();
    file.findings.truncate(1);
    let meta = Meta { time: Some("2026-11-15 12:00"), ..html_cases::meta() };
    assert_snapshot!("html_deadlock", body(&render(&[file], &meta)));
}

#[test]
fn nothing_found() {
    let shown = page(&[html_cases::safe()]);
    let shown = body(&shown);
    assert!(shown.contains("Nothing found"), "{shown}");
    assert!(shown.contains("All 118 questions were answered"), "{shown}");
    assert!(!shown.contains("<nav"), "there is nothing to choose from");
    let mut open = html_cases::safe();
    open.tallies[1].1.unknown = 1;
    let shown = page(&[open]);
    assert!(shown.contains("Nothing found, but 1 question was left open"), "{shown}");
    assert!(body(&page(&[])).contains("Nothing was asked"));
}

#[test]
fn every_step_is_in_the_markup() {
    let file = html_cases::long(300);
    let shown = page(std::slice::from_ref(&file));
    for step in 1..=300 {
        assert_eq!(shown.matches(&format!("id=\"f0-{step}\"")).count(), 1, "step {step}");
    }
    for mark in 1..=4 {
        assert!(shown.contains(&format!("access </span>{mark}</span>")), "access {mark}");
    }
}

#[test]
fn what_is_left_out_is_said() {
    let mut file = html_cases::long(20_000);
    // One of the accesses lies in the middle of what is left out.
    let steps = &mut file.findings[0].trace.steps;
    for step in steps.iter_mut().skip(1_000) {
        step.matched = step.matched.map(|number| number + 1);
    }
    steps[10_000].matched = Some(2);
    let shown = page(&[file]);
    let rows = shown.matches("data-p=\"").count();
    assert_eq!(rows, 12_001);
    let said: Vec<usize> = shown
        .match_indices(" steps left out here")
        .map(|(at, _)| {
            let number = shown[..at].rsplit('>').next().expect("a text");
            number.parse().expect("a number")
        })
        .collect();
    assert_eq!(said, [4_000, 3_999]);
    for mark in 1..=5 {
        assert!(shown.contains(&format!("access </span>{mark}</span>")), "access {mark}");
    }
}

/// A bar begins at its acquisition and ends at its release, whatever lies between.
#[test]
fn bars_span_what_they_own() {
    let file = html_cases::stack();
    let acquisitions = |kind: StepKind| matches!(kind, StepKind::Acquire(_));
    let steps = file.findings.iter().flat_map(|finding| &finding.trace.steps);
    let expected = steps.filter(|step| acquisitions(step.kind)).count();
    let shown = page(std::slice::from_ref(&file));
    assert_eq!(shown.matches("class=\"bar ").count(), expected);
    let rows = |name: &str| {
        let bar = shown.split("class=\"bar ").find(|bar| bar.contains(&format!("<span>{name}<")));
        let place = bar.and_then(|bar| bar.split("grid-row:").nth(1)).expect("a bar");
        place[..place.find('"').expect("an end")].to_owned()
    };
    // T1 acquires `stack` in the fifth row and releases it in the eighth; `wrap1` stays until the
    // end: 28 steps and two switches.
    assert_eq!(rows("stack"), "5/9");
    assert_eq!(rows("wrap1"), "2/31");
}

#[test]
fn long_spans_are_cut_with_the_diagram() {
    let shown = page(&[html_cases::long(300)]);
    let parsed = Page::parse(&shown);
    // No part of the grid refers to rows beyond its piece.
    let mut rows = 0;
    for part in &parsed.parts {
        let Part::Tag { text, .. } = part else { continue };
        if let Some(at) = text.find("--rows:") {
            rows = text[at + 7..].trim_end_matches("\">").parse().expect("a number");
        }
        if let Some(at) = text.find("grid-row:") {
            let place = text[at + 9..].split('"').next().expect("a place");
            let last: usize =
                place.split('/').next_back().expect("a row").parse().expect("a number");
            let most = if place.contains('/') { rows + 1 } else { rows };
            assert!(last <= most, "{text} in a piece of {rows} rows");
        }
    }
}

#[test]
fn hostile_names_stay_text() {
    let shown = page(&[html_cases::hostile()]);
    let parsed = Page::parse(&shown);
    let harmless = Page::parse(&page(&[html_cases::stack()])).names();
    let names = parsed.names();
    assert!(names.is_subset(&harmless), "{:?}", names.difference(&harmless).collect::<Vec<_>>());
    for part in &parsed.parts {
        if let Part::Text(text) = part {
            assert!(!text.contains(['<', '>']), "{text}");
        }
    }
    let control = |c: char| c.is_control() && c != '\n' && c != '\t';
    assert!(!shown.contains(control), "a control character");
    assert!(!shown.contains(['\u{202e}', '\u{2028}']), "an invisible character");
    assert!(shown.contains("␛[31m"), "it is visible instead");
    // Two scripts and the data; nothing is kept for later.
    assert_eq!(shown.to_lowercase().matches("<script").count(), 3);
    assert_eq!(shown.to_lowercase().matches("</script").count(), 3);
    let data = parsed.data();
    let json: serde_json::Value = serde_json::from_str(data).expect("JSON");
    let name = json["files"][0]["threads"][0]["name"].as_str().expect("a name");
    assert!(name.starts_with("T1</script><script>"), "{name}");
}

#[test]
fn pages_are_well_formed() {
    for files in [
        vec![html_cases::stack(), html_cases::bank(), html_cases::safe(), html_cases::long(300)],
        vec![html_cases::hostile()],
        vec![html_cases::many(30)],
        vec![html_cases::philosophers(50)],
        Vec::new(),
    ] {
        let shown = page(&files);
        let parsed = Page::parse(&shown);
        let mut ids = BTreeSet::new();
        for id in parsed.attributes("id") {
            assert!(ids.insert(id), "{id} twice");
        }
        for reference in parsed.attributes("href").filter_map(|href| href.strip_prefix('#')) {
            assert!(ids.contains(reference), "#{reference} leads nowhere");
        }
        for label in parsed.attributes("aria-labelledby") {
            assert!(ids.contains(label), "{label} names nothing");
        }
        for address in parsed.attributes("src").chain(parsed.attributes("href")) {
            assert!(address.starts_with('#') || address.starts_with("data:"), "{address}");
        }
    }
}

#[test]
fn ids_of_findings_are_unique() {
    let file = html_cases::stack();
    let shown = page(&[file.clone(), file]);
    let json: serde_json::Value = serde_json::from_str(Page::parse(&shown).data()).expect("JSON");
    let findings = json["findings"].as_array().expect("a list");
    let ids: BTreeSet<_> = findings.iter().map(|one| one["id"].as_str().expect("an id")).collect();
    assert_eq!(ids.len(), 4);
}

#[test]
fn the_same_findings_give_the_same_bytes() {
    let files = [html_cases::stack(), html_cases::bank()];
    assert_eq!(page(&files), page(&files));
}

/// The rows of the short form that are seen before anything is unfolded, and the texts of the folds.
fn seen(shown: &str) -> (usize, Vec<&str>) {
    let rows = shown.split("<li class=\"row").skip(1).filter(|row| {
        let class = row.split('"').next().unwrap_or_default();
        !class.contains(" full") && !class.contains(" in-fold")
    });
    let folds = shown.split("<li class=\"fold brief\"").skip(1).map(|fold| {
        let text = fold.split("aria-expanded=\"false\">").nth(1).expect("a button");
        text.split('<').next().unwrap_or_default()
    });
    (rows.count(), folds.collect())
}

#[test]
fn what_the_finding_does_not_need_is_folded() {
    let shown = page(&[html_cases::calls(500)]);
    let (rows, folds) = seen(&shown);
    assert_eq!(
        folds,
        [
            "192 steps of Walker without an access of this finding",
            "the same 2 steps 126 times more"
        ]
    );
    assert_eq!(rows, 7, "the unit, four accesses, and the loop once");
    // A recursion of both threads by turns.
    let recursion = page(&[html_cases::long(500)]);
    let (rows, folds) = seen(&recursion);
    assert_eq!(folds, ["the same 12 steps 31 times more"]);
    assert!(rows < 40, "{rows} rows");
    // Everything is there, and what is matched is in sight.
    assert_eq!(shown.matches("data-p=\"").count(), 499);
    for row in shown.split("<li ").filter(|row| row.contains(" matched\"")) {
        assert!(!row.contains("in-fold"), "{row:.120}");
    }
    assert_eq!(seen(&page(&[html_cases::stack()])).1.len(), 0, "a short one stays as it is");
}

#[test]
fn many_findings_are_kept_packed() {
    let files: Vec<CheckedFile> =
        (0..100).map(|at| html_cases::many_in(&format!("m{at}.eml"), 12)).collect();
    let shown = page(&files);
    assert!(shown.len() < 2_000_000, "{} bytes", shown.len());
    assert_eq!(shown.matches("<article").count(), 24);
    assert_eq!(shown.matches("class=\"entry\"").count(), 1200);
    assert_eq!(shown.matches("class=\"source\"").count(), 2, "of the files of the first findings");
    let json: serde_json::Value = serde_json::from_str(Page::parse(&shown).data()).expect("JSON");
    assert!(json["findings"][0]["steps"].is_array());
    let last = &json["findings"][1199];
    assert!(last["steps"].is_null() && last["later"].is_u64() && last["reason"].is_string());
}

#[test]
fn shapes_of_patterns_are_drawn_and_explained() {
    let shown = page(&[html_cases::stack()]);
    assert_eq!(shown.matches("<figure class=\"shape\">").count(), 4);
    assert!(shown.contains("aria-label=\"R(x) W&#39;(y) W&#39;(x) R(y), from top to bottom\""));
    assert!(shown.contains(
        "The unit reads x before the other unit writes it, so the unit would have to come first; but \
         the other unit writes y before the unit reads it, so the other unit would have to come first."
    ));
    assert!(shown.contains("href=\"#f0-shape\">pattern-12</a>"));
}

#[test]
fn files_rules_and_findings_are_linked() {
    let shown = page(&[html_cases::stack(), html_cases::bank()]);
    // From a file to its first finding, from a number to the first of its kind.
    assert!(shown.contains("href=\"#f2\" data-file=\"1\">examples/bank.eml</a>"));
    assert!(shown.contains("href=\"#f4\" data-file=\"1\" data-of-kind=\"race\">1</a>"));
    // From a line to what lies there, and from a finding to its line and its rule.
    assert!(shown.contains("<a class=\"lies race\" href=\"#f4\""));
    assert!(shown.contains("<a class=\"where line\" href=\"#s1-20\">examples/bank.eml:20</a>"));
    assert!(shown.contains("href=\"#rule-race\"") && shown.contains("id=\"rule-race\""));
    assert!(shown.contains("selvedge explain data-race"));
}

#[test]
fn the_expression_of_a_step_is_known() {
    let shown = page(&[html_cases::stack()]);
    let json: serde_json::Value = serde_json::from_str(Page::parse(&shown).data()).expect("JSON");
    // `read count` in line 8, and the prefix of `popwrap` in line 16.
    assert_eq!(json["findings"][0]["spans"][6], serde_json::json!([16, 26]));
    assert_eq!(json["findings"][0]["spans"][1], serde_json::json!([5, 24]));
}

#[test]
fn values_have_lanes() {
    let shown = page(&[html_cases::visits()]);
    assert!(shown.contains("<div class=\"head data\" style=\"grid-column:12\">visits</div>"));
    let parts: Vec<&str> = shown
        .split("<i class=\"datum")
        .skip(1)
        .map(|part| part.split("<span>").nth(1).and_then(|text| text.split('<').next()))
        .map(|value| value.expect("a value"))
        .collect();
    assert_eq!(parts, ["0", "1"]);
    assert!(!page(&[html_cases::stack()]).contains("class=\"datum"), "there are no values");
}

#[test]
fn what_repeats_for_ever_has_a_frame() {
    let shown = page(&[html_cases::lasso()]);
    assert_eq!(shown.matches("class=\"loop begins ends\"").count(), 1);
    assert!(shown.contains("From here on these steps are repeated for ever:"));
    let first = html_cases::lasso().findings[0].trace.repeats.expect("a loop");
    assert!(shown.contains(&format!("… and again from step {} on, for ever", first + 1)));
    let json: serde_json::Value = serde_json::from_str(Page::parse(&shown).data()).expect("JSON");
    assert_eq!(json["findings"][0]["repeats"], first);
}

/// A file whose places lie outside its text, or that has no text, must not have dead links.
#[test]
fn missing_source_is_not_linked() {
    let mut file = html_cases::bank();
    file.source = String::new();
    let shown = page(&[file]);
    assert!(!shown.contains("href=\"#s0-"), "a link into a source that is not there");
    assert!(shown.contains("The source text is not part of this report."));
}

/// The cases are made by hand: their lines must be the ones that they speak of.
#[test]
fn the_lines_of_the_cases_are_right() {
    for file in [html_cases::stack(), html_cases::bank()] {
        let lines: Vec<&str> = file.source.lines().collect();
        for step in
            file.findings.iter().flat_map(|one| one.trace.steps.iter().chain(&one.trace.next))
        {
            let program = &file.program;
            let name = match step.kind {
                StepKind::Acquire(lock) => &program.locks[lock].name,
                StepKind::Read(location) | StepKind::Write(location) => {
                    &program.locations[location].name
                }
                StepKind::Call(procedure) => &program.procedures[procedure].name,
                _ => continue,
            };
            let number = step.place.line().expect("a line");
            let line = lines[number as usize - 1];
            assert!(line.contains(&**name), "{}:{} {line} without {name}", file.file, number);
        }
        assert!(file.findings.iter().any(|finding| finding.kind != FindingKind::Race));
    }
}

/// A page taken apart, by rules that are stricter than those of HTML: attributes are quoted, every
/// element that is not void is closed in order, and nothing is left open.
struct Page<'a> {
    parts: Vec<Part<'a>>,
}

enum Part<'a> {
    Tag {
        name: &'a str,
        attributes: Vec<(&'a str, &'a str)>,
        text: &'a str,
    },
    Text(&'a str),
    /// The content of a script or a style.
    Raw(&'a str),
}

impl<'a> Page<'a> {
    fn parse(page: &'a str) -> Self {
        let mut rest = page.strip_prefix("<!DOCTYPE html>").expect("a document type");
        let mut parts = Vec::new();
        let mut open: Vec<&str> = Vec::new();
        while !rest.is_empty() {
            let next = rest.find('<').unwrap_or(rest.len());
            if next > 0 {
                parts.push(Part::Text(&rest[..next]));
                rest = &rest[next..];
                continue;
            }
            let end = tag_end(rest);
            let text = &rest[..end];
            rest = &rest[end..];
            if let Some(name) = text.strip_prefix("</") {
                let name = name.trim_end_matches('>');
                assert_eq!(open.pop(), Some(name), "closed out of order before {rest:.80}");
                continue;
            }
            let inner = text[1..text.len() - 1].trim_end_matches('/');
            let (name, attributes) = inner.split_once(' ').unwrap_or((inner, ""));
            let attributes = parse_attributes(attributes);
            if !text.ends_with("/>") && !["meta", "link", "input"].contains(&name) {
                open.push(name);
            }
            parts.push(Part::Tag { name, attributes, text });
            if name == "script" || name == "style" {
                let close = if name == "script" { "</script>" } else { "</style>" };
                let end = rest.find(close).expect("an end");
                parts.push(Part::Raw(&rest[..end]));
                rest = &rest[end..];
            }
        }
        assert!(open.is_empty(), "left open: {open:?}");
        Self { parts }
    }

    /// The elements and attributes that occur.
    fn names(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for part in &self.parts {
            if let Part::Tag { name, attributes, .. } = part {
                names.extend(attributes.iter().map(|(attribute, _)| format!("{name} {attribute}")));
                names.insert((*name).to_owned());
            }
        }
        names
    }

    fn attributes(&self, wanted: &str) -> impl Iterator<Item = &'a str> {
        self.parts.iter().flat_map(move |part| match part {
            Part::Tag { attributes, .. } => attributes
                .iter()
                .filter(|(name, _)| *name == wanted)
                .map(|(_, value)| *value)
                .collect(),
            _ => Vec::new(),
        })
    }

    fn data(&self) -> &'a str {
        let mut raw = self.parts.iter().filter_map(|part| match part {
            Part::Raw(text) if text.starts_with('{') => Some(*text),
            _ => None,
        });
        raw.next_back().expect("the data")
    }
}

/// Where a tag ends: at the first `>` outside quotes.
fn tag_end(text: &str) -> usize {
    let mut quoted = false;
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '>' if !quoted => return at + 1,
            _ => {}
        }
    }
    panic!("a tag without an end: {text:.80}");
}

fn parse_attributes(text: &str) -> Vec<(&str, &str)> {
    let mut attributes = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let bare = rest.find(' ').unwrap_or(rest.len());
        let Some((name, value)) = rest.split_once("=\"").filter(|(name, _)| name.len() <= bare)
        else {
            attributes.push((&rest[..bare], ""));
            rest = rest[bare..].trim_start();
            continue;
        };
        let end = value.find('"').expect("a closing quote");
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "{name}");
        attributes.push((name, &value[..end]));
        rest = value[end + 1..].trim_start();
    }
    attributes
}
