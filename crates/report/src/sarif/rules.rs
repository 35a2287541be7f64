//! # Idea
//! The kinds of findings as SARIF rules, in the order of [`FindingKind::ALL`]. Their ids never change.

use super::log::{Configuration, Help, Message, Rule, RuleProperties};
use crate::explain::{Explanation, rule_text};
use selvedge_findings::FindingKind;

/// All rules.
pub fn rules() -> Vec<Rule> {
    FindingKind::ALL.into_iter().map(rule).collect()
}

fn rule(kind: FindingKind) -> Rule {
    let RuleWords { name, short, full, advice, markdown } = rule_words(kind);
    let id = kind.rule();
    Rule {
        id,
        name,
        short_description: Message::new(short),
        help: Help { text: format!("{full} {advice}"), markdown },
        full_description: Message::new(full),
        help_uri: help_uri(id),
        default_configuration: Configuration { level: "error" },
        properties: RuleProperties {
            tags: ["concurrency", "correctness"],
            precision: "very-high",
            problem_severity: "error",
        },
    }
}

/// Where the book can be read. Whoever publishes it says so when building; until then it is an address that
/// is reserved for examples, so that it leads to nobody else's page.
pub const BOOK: &str = match option_env!("SELVEDGE_BOOK_URL") {
    Some(address) if !address.is_empty() => address,
    _ => "https://selvedge.example/book",
};

/// The part of a page of the book's reference about something, in a book that can be read there. The sources
/// of the book can be read as they are, too.
pub fn book_page(book: &str, page: &str, anchor: &str) -> String {
    let book = book.trim_end_matches('/');
    let extension = if book.ends_with("/book/src") { "md" } else { "html" };
    format!("{book}/reference/{page}.{extension}#{anchor}")
}

/// The part of the book about a rule.
fn help_uri(rule: &str) -> String {
    book_page(BOOK, "rules", rule)
}

/// What is said of a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleWords {
    /// Its name in one word.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub short: String,
    /// What a finding of it means.
    pub full: String,
    /// What to do about it.
    pub advice: String,
    /// All of it, with examples, in Markdown.
    pub markdown: String,
}

/// The words for a kind of finding: those of [`crate::explain`].
pub fn rule_words(kind: FindingKind) -> RuleWords {
    let Explanation { summary, meaning, advice, markdown } = rule_text(kind);
    RuleWords { name: name(kind), short: summary, full: meaning, advice, markdown }
}

fn name(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Atomicity => "AtomicityViolation",
        FindingKind::Race => "DataRace",
        FindingKind::Assertion => "AssertionFailure",
        FindingKind::Label => "LabelReached",
        FindingKind::State => "StateReached",
        FindingKind::Stuck => "Stuck",
        FindingKind::Temporal => "TemporalProperty",
        FindingKind::Property => "PropertyViolation",
        FindingKind::Deadlock => "Deadlock",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_book_can_be_read_as_pages_or_as_its_sources() {
        for (book, expected) in [
            ("https://a.example/book/", "https://a.example/book/reference/rules.html#stuck"),
            (
                "https://forge.example/o/r/blob/v1/book/src",
                "https://forge.example/o/r/blob/v1/book/src/reference/rules.md#stuck",
            ),
        ] {
            assert_eq!(book_page(book, "rules", "stuck"), expected);
        }
    }
}
