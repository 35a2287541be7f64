//! # Idea
//! An explanation for the terminal: prose is filled, code stands as it is behind two blanks. Of the
//! example of a diagnostic, whose file may have further mistakes, only the first complaint with its code
//! is shown.

use super::markdown::{Block, blocks, plain};
use super::{ADVICE, Topic, TopicKind, topics};
use crate::terminal::{Terminal, Tone};
use crate::width::columns;
use std::fmt::Write as _;

/// What stands before a line of code.
const INDENT: &str = "  ";

/// Everything about a topic.
pub fn render(topic: &Topic, terminal: Terminal) -> String {
    let what = match topic.kind {
        TopicKind::Rule => "a rule of `selvedge check`",
        TopicKind::Pattern => "a shape of atomicity violations",
        TopicKind::Diagnostic => "said about an input",
        TopicKind::Word => match topic.group {
            "Verdicts" => "a verdict",
            "Limits" => "a limit",
            "Engines" => "an engine",
            "Tags" => "a tag of findings",
            "Ranks" => "the order of findings in Java",
            _ => "an assumption about programs in Java",
        },
    };
    let mut out = format!("{}: {what}\n", terminal.paint(Tone::Heading, topic.name));
    let mut complaint = example(topic);
    let one_complaint = complaint.is_some();
    let mut is_list = false;
    for block in blocks(topic.text) {
        let list_goes_on = is_list && matches!(block, Block::Item(_));
        is_list = matches!(block, Block::Item(_));
        let text = match block {
            Block::Paragraph(text) => match text.strip_prefix(ADVICE) {
                Some(advice) => {
                    let heading = terminal.paint(Tone::Good, "How to fix it");
                    format!("{heading}\n{}", filled(&plain(advice), "", "", terminal))
                }
                None => filled(&plain(&text), "", "", terminal),
            },
            Block::Item(text) => filled(&plain(&text), "- ", "  ", terminal),
            Block::Code { info: "console", lines } if one_complaint => match complaint.take() {
                Some(shown) if lines.contains(&shown[0]) => code(&shown, terminal),
                // The block with the complaint comes later.
                other => {
                    complaint = other;
                    continue;
                }
            },
            Block::Code { lines, .. } => code(&lines, terminal),
        };
        if !list_goes_on {
            out.push('\n');
        }
        out.push_str(&text);
    }
    let _ = writeln!(out, "\nIn the book: {}", topic.address());
    out
}

/// Everything that can be explained.
pub fn render_list(terminal: Terminal) -> String {
    let mut out = String::new();
    let topics = topics();
    for (kind, heading) in [
        (TopicKind::Rule, "Rules: what `selvedge check` finds"),
        (TopicKind::Pattern, "Patterns: the shapes of atomicity violations"),
    ] {
        let _ = writeln!(out, "{}", terminal.paint(Tone::Heading, heading));
        let of_kind = || topics.iter().filter(move |topic| topic.kind == kind);
        let width = of_kind().map(|topic| columns(topic.name)).max().unwrap_or(0);
        for topic in of_kind() {
            let first = format!("{INDENT}{:width$}  ", topic.name);
            let rest = " ".repeat(columns(&first));
            out.push_str(&filled(&topic.explanation().summary, &first, &rest, terminal));
        }
        out.push('\n');
    }
    for (kind, heading) in [
        (TopicKind::Diagnostic, "Diagnostics: complaints about an input"),
        (TopicKind::Word, "Words of reports"),
    ] {
        if kind == TopicKind::Word {
            out.push('\n');
        }
        let _ = writeln!(out, "{}", terminal.paint(Tone::Heading, heading));
        let of_kind: Vec<&Topic> = topics.iter().filter(|topic| topic.kind == kind).collect();
        for group in of_kind.chunk_by(|one, other| one.group == other.group) {
            let _ = writeln!(out, "{INDENT}{}", group[0].group);
            let names: Vec<&str> = group.iter().map(|topic| topic.name).collect();
            out.push_str(&filled(&names.join(", "), "    ", "    ", terminal));
        }
    }
    out.push_str("\n`selvedge explain NAME` explains one of them.\n");
    out
}

/// The first complaint of a diagnostic's example that has its code, below the command.
pub(super) fn example(topic: &Topic) -> Option<Vec<&'static str>> {
    if topic.kind != TopicKind::Diagnostic {
        return None;
    }
    let heads = ["error", "warning"].map(|word| format!("{word}[{}]", topic.name));
    for block in blocks(topic.text) {
        let Block::Code { info: "console", lines } = block else { continue };
        let is_head = |line: &&str| heads.iter().any(|head| line.starts_with(head));
        let Some(start) = lines.iter().position(is_head) else { continue };
        let command = lines[..start].iter().rev().find(|line| line.starts_with("$ "));
        let complaint = lines[start..].iter().take_while(|line| !line.is_empty());
        let behind = complaint.take_while(|line| !line.starts_with("$ "));
        return Some(command.into_iter().chain(behind).copied().collect());
    }
    None
}

/// Lines of code; a command that is too wide goes on in the next line, as a shell would take it.
fn code(lines: &[&str], terminal: Terminal) -> String {
    let line = |line: &&str| {
        let is_long = line.starts_with("$ ") && columns(line) + INDENT.len() > terminal.width;
        if !is_long {
            return format!("{INDENT}{line}").trim_end().to_owned() + "\n";
        }
        let narrower = Terminal { width: terminal.width.saturating_sub(2), ..terminal };
        let parts = filled(line, INDENT, "      ", narrower);
        parts.trim_end().replace('\n', " \\\n") + "\n"
    };
    lines.iter().map(line).collect()
}

/// `text` as lines of at most the terminal's width, broken at blanks; `first` stands before the first
/// line and `rest` before the others.
fn filled(text: &str, first: &str, rest: &str, terminal: Terminal) -> String {
    let mut out = String::from(first);
    let mut column = columns(first);
    let mut is_first = true;
    for word in text.split(' ') {
        let length = columns(word);
        if !is_first && column + 1 + length > terminal.width {
            out.push('\n');
            out.push_str(rest);
            column = columns(rest);
        } else if !is_first {
            out.push(' ');
            column += 1;
        }
        is_first = false;
        out.push_str(word);
        column += length;
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::super::{topic, topics};
    use super::*;

    /// The commands of the pages were run for screens that are narrower by the indentation of code.
    #[test]
    fn everything_fits_into_eighty_columns() {
        let terminal = Terminal::plain(80);
        let texts = topics().into_iter().map(|topic| render(&topic, terminal));
        for text in texts.chain([render_list(terminal)]) {
            for line in text.lines() {
                assert!(columns(line) <= 80, "{}: {line}", columns(line));
            }
        }
    }

    #[test]
    fn one_complaint_is_shown_of_a_diagnostic() {
        let shown = render(&topic("missing-colon").unwrap(), Terminal::plain(80));
        assert_eq!(shown.matches("error[").count(), 1, "{shown}");
        assert!(shown.contains("  $ selvedge "), "{shown}");
    }

    #[test]
    fn long_commands_go_on_in_the_next_line() {
        let shown = code(&["$ selvedge check a.eml --only race"], Terminal::plain(26));
        assert_eq!(shown, "  $ selvedge check a.eml \\\n      --only race\n");
    }

    #[test]
    fn prose_is_filled_and_code_is_not() {
        let shown = render(&topic("data-race").unwrap(), Terminal::plain(40));
        assert!(shown.lines().any(|line| columns(line) > 40), "{shown}");
        assert!(shown.contains("\nHow to fix it\nHold one lock"), "{shown}");
        let prose = shown.lines().filter(|line| !line.starts_with(' ') && !line.starts_with("In "));
        assert!(prose.clone().all(|line| columns(line) <= 40), "{shown}");
    }
}
