//! # Idea
//! As much of Markdown as the explained pages use: headings, paragraphs, items of lists, blocks of
//! code, links, emphasis.
//!
//! # Requires
//! Headings stand outside of blocks of code, and blocks are closed.

/// A part of a section.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Block {
    /// Lines of prose, joined.
    Paragraph(String),
    /// An item of a list.
    Item(String),
    /// Code, with what stands behind its opening fence.
    Code { info: &'static str, lines: Vec<&'static str> },
}

/// The `# ` heading above each `## ` heading, the latter, and what stands below it.
pub(super) fn sections(page: &'static str) -> Vec<(&'static str, &'static str, &'static str)> {
    let mut sections = Vec::new();
    let mut group = "";
    let mut open: Option<(&'static str, usize)> = None;
    let mut in_code = false;
    let mut at = 0;
    for line in page.split_inclusive('\n') {
        let text = line.trim_end();
        if text.starts_with("```") {
            in_code = !in_code;
        } else if !in_code && (text.starts_with("# ") || text.starts_with("## ")) {
            if let Some((name, start)) = open.take() {
                sections.push((group, name, page[start..at].trim()));
            }
            match text.strip_prefix("# ") {
                Some(heading) => group = heading,
                None => open = Some((&text[3..], at + line.len())),
            }
        }
        at += line.len();
    }
    if let Some((name, start)) = open {
        sections.push((group, name, page[start..].trim()));
    }
    sections
}

/// A section as blocks.
pub(super) fn blocks(text: &'static str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    let mut open: Option<Block> = None;
    while let Some(line) = lines.next() {
        if let Some(info) = line.strip_prefix("```") {
            blocks.extend(open.take());
            let lines = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push(Block::Code { info, lines });
            continue;
        }
        let text = line.trim();
        match (&mut open, text.strip_prefix("- ")) {
            _ if text.is_empty() => blocks.extend(open.take()),
            (_, Some(item)) => blocks.extend(open.replace(Block::Item(item.to_owned()))),
            (Some(Block::Paragraph(known) | Block::Item(known)), None) => {
                known.push(' ');
                known.push_str(text);
            }
            (_, None) => open = Some(Block::Paragraph(text.to_owned())),
        }
    }
    blocks.extend(open);
    blocks
}

/// A paragraph without links and emphasis; code stays in its backticks.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::new();
    // What stands between backticks is at the odd places.
    for (at, part) in without_links(text).split('`').enumerate() {
        if at > 0 {
            out.push('`');
        }
        if at % 2 == 1 {
            out.push_str(part);
        } else {
            out.push_str(&part.replace('*', ""));
        }
    }
    out
}

/// A section in Markdown in which links are their texts, and code names its language alone.
pub(super) fn unlinked(text: &str) -> String {
    let mut out = String::new();
    let mut in_code = false;
    for line in text.lines() {
        if let Some(info) = line.strip_prefix("```") {
            in_code = !in_code;
            out.push_str("```");
            out.push_str(info.split(',').next().unwrap_or_default());
        } else if in_code {
            out.push_str(line);
        } else {
            out.push_str(&without_links(line));
        }
        out.push('\n');
    }
    out
}

/// `[text](target)` becomes `text`.
fn without_links(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        let Some((_, behind)) = after.split_once(')') else { break };
        match before.rfind('[') {
            Some(start) => {
                out.push_str(&before[..start]);
                out.push_str(&before[start + 1..]);
            }
            None => out.push_str(before),
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Title\n\nWords.\n\n# Group\n\n## one\n\nA [link](x.md#y) to\n*it*.\n\n\
        ```text,file=a\n## no heading\n```\n\n- an item\n- `a*b` **two**\n\n## two\n\nLast.\n";

    #[test]
    fn sections_are_below_their_headings() {
        let sections = sections(PAGE);
        assert_eq!(sections.len(), 2);
        assert_eq!((sections[0].0, sections[0].1), ("Group", "one"));
        assert_eq!(sections[1], ("Group", "two", "Last."));
    }

    #[test]
    fn blocks_of_a_section() {
        let blocks = blocks(sections(PAGE)[0].2);
        assert_eq!(
            blocks,
            [
                Block::Paragraph("A [link](x.md#y) to *it*.".to_owned()),
                Block::Code { info: "text,file=a", lines: vec!["## no heading"] },
                Block::Item("an item".to_owned()),
                Block::Item("`a*b` **two**".to_owned()),
            ]
        );
        assert_eq!(plain("A [link](x.md#y) to *it*, `a*b` **two**"), "A link to it, `a*b` two");
        assert!(unlinked(sections(PAGE)[0].2).starts_with("A link to\n*it*.\n\n```text\n## no"));
    }
}
