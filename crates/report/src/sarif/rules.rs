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

/// Where the book is published. Whoever publishes it elsewhere says so when building.
pub const BOOK: &str = match option_env!("SELVEDGE_BOOK_URL") {
    Some(address) => address,
    None => "https://selvedge.example/book",
};

/// The part of the book about a rule.
fn help_uri(rule: &str) -> String {
    format!("{BOOK}/reference/rules.html#{rule}")
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
