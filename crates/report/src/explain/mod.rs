//! # Idea
//! What a rule, an access pattern, a diagnostic or another word of a report means, with what to do about it. The
//! texts stand once, in the pages of the book that list them; they are compiled in, and the terminal,
//! SARIF and the page for the browser show the same ones.
//!
//! # Requires
//! In each of the pages every `## ` heading is the name of one topic. Its first paragraph is the
//! summary; what is said to do begins with `**How to fix it.**`, or stands as advice in the example of a
//! diagnostic.
//!
//! # Invariants
//! 1. Every rule and every pattern has a topic; tests see to it that every diagnostic, engine, limit, tag
//!    and assumption has one, too.

mod markdown;
mod screen;

use markdown::{Block, blocks, plain, unlinked};
use selvedge_findings::FindingKind;

pub use screen::{render, render_list};

const RULES: &str = include_str!("../../../../book/src/reference/rules.md");
const PATTERNS: &str = include_str!("../../../../book/src/reference/patterns.md");
const DIAGNOSTICS: &str = include_str!("../../../../book/src/reference/diagnostics.md");
const WORDS: &str = include_str!("../../../../book/src/reference/words.md");

/// What begins a paragraph that says what to do.
const ADVICE: &str = "**How to fix it.** ";

/// What a topic is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TopicKind {
    /// A kind of finding.
    Rule,
    /// An access pattern.
    Pattern,
    /// A complaint about an input.
    Diagnostic,
    /// A verdict, a limit, an engine, a tag, the rank or an assumption.
    Word,
}

impl TopicKind {
    /// All kinds, in the order in which they are listed.
    pub const ALL: [Self; 4] = [Self::Rule, Self::Pattern, Self::Diagnostic, Self::Word];

    fn page(self) -> &'static str {
        match self {
            Self::Rule => RULES,
            Self::Pattern => PATTERNS,
            Self::Diagnostic => DIAGNOSTICS,
            Self::Word => WORDS,
        }
    }

    fn file(self) -> &'static str {
        match self {
            Self::Rule => "reference/rules",
            Self::Pattern => "reference/patterns",
            Self::Diagnostic => "reference/diagnostics",
            Self::Word => "reference/words",
        }
    }
}

/// Something that can be explained.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Topic {
    /// Its name: a rule, `pattern-12`, the code of a diagnostic, or another word of a report.
    pub name: &'static str,
    /// What it is.
    pub kind: TopicKind,
    /// The heading above it in its page.
    pub group: &'static str,
    /// What stands below its heading, in Markdown.
    text: &'static str,
}

/// The parts of an explanation, without markup; names stand in backticks.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Explanation {
    /// One sentence.
    pub summary: String,
    /// What it means.
    pub meaning: String,
    /// What to do about it.
    pub advice: String,
    /// All of it, with examples, in Markdown without links.
    pub markdown: String,
}

impl Topic {
    /// Its page in the book and the heading there, for example `reference/rules.html#data-race`.
    pub fn address(&self) -> String {
        format!("{}.html#{}", self.kind.file(), self.name)
    }

    /// What is said about it.
    pub fn explanation(&self) -> Explanation {
        let mut explanation = Explanation::default();
        let mut before_examples = true;
        for block in blocks(self.text) {
            let Block::Paragraph(text) = block else {
                before_examples = false;
                continue;
            };
            if let Some(advice) = text.strip_prefix(ADVICE) {
                add(&mut explanation.advice, advice);
                before_examples = false;
            } else if explanation.summary.is_empty() {
                explanation.summary = plain(&text);
            } else if before_examples {
                add(&mut explanation.meaning, &text);
            }
        }
        explanation.markdown = unlinked(self.text);
        explanation
    }
}

fn add(part: &mut String, paragraph: &str) {
    if !part.is_empty() {
        part.push(' ');
    }
    part.push_str(&plain(paragraph));
}

/// Everything that can be explained: rules, patterns, diagnostics, words, each in the order of its page.
pub fn topics() -> Vec<Topic> {
    TopicKind::ALL.into_iter().flat_map(of_kind).collect()
}

fn of_kind(kind: TopicKind) -> Vec<Topic> {
    let sections = markdown::sections(kind.page());
    let topic = |(group, name, text)| Topic { name, kind, group, text };
    sections.into_iter().map(topic).collect()
}

/// The topic with this name.
pub fn topic(name: &str) -> Option<Topic> {
    topics().into_iter().find(|topic| topic.name == name)
}

/// What is said about a rule.
pub fn rule_text(rule: FindingKind) -> Explanation {
    let topic = of_kind(TopicKind::Rule).into_iter().find(|topic| topic.name == rule.rule());
    // Invariant 1: there is one.
    topic.map(|topic| topic.explanation()).unwrap_or_default()
}

/// What is said about an access pattern; nothing if there is none of this number.
pub fn pattern_text(number: u32) -> Explanation {
    let name = format!("pattern-{number}");
    let topic = of_kind(TopicKind::Pattern).into_iter().find(|topic| topic.name == name);
    topic.map(|topic| topic.explanation()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_program::PATTERNS as ALL_PATTERNS;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_addresses_lead_to_their_headings() {
        let topics = topics();
        let names: BTreeSet<&str> = topics.iter().map(|topic| topic.name).collect();
        assert_eq!(names.len(), topics.len());
        assert!(topics.len() > 200, "{}", topics.len());
        let race = topic("data-race").unwrap();
        assert_eq!(race.address(), "reference/rules.html#data-race");
        assert_eq!(topic("missing-colon").unwrap().group, "EML");
        assert_eq!(topic("pattern-33"), None);
    }

    #[test]
    fn every_rule_has_a_summary_a_meaning_and_advice() {
        assert_eq!(of_kind(TopicKind::Rule).len(), FindingKind::ALL.len());
        for kind in FindingKind::ALL {
            let Explanation { summary, meaning, advice, markdown } = rule_text(kind);
            for part in [&summary, &meaning, &advice] {
                assert!(part.ends_with('.') && !part.contains(['*', ']']), "{kind:?}: {part}");
            }
            assert!(markdown.contains("```console"), "{kind:?}");
            assert!(!markdown.contains("](") && !markdown.contains("file="), "{kind:?}");
        }
    }

    #[test]
    fn every_pattern_shows_its_own_accesses() {
        assert_eq!(of_kind(TopicKind::Pattern).len(), ALL_PATTERNS.len());
        for pattern in &ALL_PATTERNS {
            let text = pattern_text(pattern.number);
            let shape = crate::describe::pattern(pattern);
            assert!(text.summary.starts_with(&format!("`{shape}`: ")), "{}", text.summary);
            assert!(!text.meaning.is_empty() && !text.advice.is_empty(), "{}", pattern.number);
        }
        assert_eq!(pattern_text(0), Explanation::default());
    }

    /// What to do is said of everything but words: in a paragraph, or as advice in the example.
    #[test]
    fn every_topic_says_what_to_do() {
        let silent: Vec<&str> = topics()
            .iter()
            .filter(|topic| topic.kind != TopicKind::Word)
            .filter(|topic| {
                let advises = !topic.explanation().advice.is_empty();
                let helps = screen::example(topic).is_some_and(|lines| {
                    lines.iter().any(|line| line.trim_start().starts_with("= help: "))
                });
                !advises && !helps
            })
            .map(|topic| topic.name)
            .collect();
        assert!(silent.is_empty(), "{silent:?}");
    }

    #[test]
    fn every_topic_has_a_summary() {
        for topic in topics() {
            let summary = topic.explanation().summary;
            assert!(!summary.is_empty() && !summary.contains("]("), "{}: {summary}", topic.name);
        }
    }
}
