//! # Idea
//! The kinds of findings as SARIF rules, in the order of [`FindingKind::ALL`]. Their ids never change.

use super::log::{Configuration, Help, Message, Rule, RuleProperties};
use selvedge_findings::FindingKind;

/// All rules.
pub fn rules() -> Vec<Rule> {
    FindingKind::ALL.into_iter().map(rule).collect()
}

fn rule(kind: FindingKind) -> Rule {
    let RuleWords { name, short, full, advice } = rule_words(kind);
    let id = kind.rule();
    Rule {
        id,
        name,
        short_description: Message::new(short),
        full_description: Message::new(full),
        help: Help {
            text: format!("{full} {advice}"),
            markdown: format!("**{short}**\n\n{full}\n\n{advice}\n"),
        },
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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RuleWords {
    /// Its name in one word.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub short: &'static str,
    /// What a finding of it means.
    pub full: &'static str,
    /// What to do about it.
    pub advice: &'static str,
}

/// The words for a kind of finding.
pub fn rule_words(kind: FindingKind) -> RuleWords {
    let (name, short, full, advice) = match kind {
        FindingKind::Atomicity => (
            "AtomicityViolation",
            "A unit of work is not atomic.",
            "Accesses of two units of work of two threads conflict in both directions: one conflict \
             orders the first unit before the second, another one the second before the first, so \
             no serial execution of the units has the same effect. The code flow is an execution \
             of the model that was replayed step by step.",
            "Hold one lock that both threads use around the whole unit, and not only around each \
             of its accesses.",
        ),
        FindingKind::Race => (
            "DataRace",
            "Two threads access a location at the same time, and one of them writes.",
            "An execution of the model reaches a moment in which two threads are both about to \
             access the same location, at least one of them writing. The code flow is such an \
             execution, replayed step by step.",
            "Hold one lock at all accesses of the location.",
        ),
        FindingKind::Assertion => (
            "AssertionFailure",
            "An assertion fails.",
            "An execution of the model reaches an assertion whose condition does not hold there. The \
             code flow is such an execution, replayed step by step, with the values that change.",
            "Follow the values that the condition depends on back to the last context switch.",
        ),
        FindingKind::Label => (
            "LabelReached",
            "A label is reached.",
            "An execution of the model brings a thread to the label that was asked about. The code \
             flow is such an execution, replayed step by step, with the values that change.",
            "Follow the values that lead there back to the last context switch.",
        ),
        FindingKind::State => (
            "StateReached",
            "A state is reached.",
            "An execution of the model reaches the state that was asked about. The code flow is such \
             an execution, replayed step by step, with the values that change.",
            "Follow the values that lead there back to the last context switch.",
        ),
        FindingKind::Stuck => (
            "Stuck",
            "No thread can move.",
            "An execution of the model ends in a state in which no thread can move although one that was \
             started has not ended. The code flow is such an execution, replayed step by step.",
            "Look at what each thread waits for at the end, and at who should have brought it about.",
        ),
        FindingKind::Temporal => (
            "TemporalProperty",
            "A temporal formula does not hold.",
            "A run of the model does not satisfy a formula that every run is to satisfy, or none satisfies \
             one that some run is to satisfy. The code flow is such a run, replayed step by step; its last \
             part is repeated for ever.",
            "Look at what the threads do in the part that repeats, and at who should have moved.",
        ),
        FindingKind::Property => (
            "PropertyViolation",
            "A property is violated.",
            "An execution of the model drives the automaton that was asked about to its last state. \
             The code flow is such an execution, replayed step by step.",
            "Keep the steps that the automaton follows from happening in this order.",
        ),
        FindingKind::Deadlock => (
            "Deadlock",
            "Threads wait for each other in a cycle.",
            "An execution of the model reaches a moment in which each thread of a cycle is about \
             to acquire a lock that the next one holds, or to join the next one. The code flow is \
             such an execution, replayed step by step.",
            "Take the locks in one order in all threads: also hold the lock that comes first around \
             the block that takes the other one. Only to swap two acquisitions can leave an access \
             without its lock. A thread that is joined must not wait for what the joining thread \
             holds.",
        ),
    };
    RuleWords { name, short, full, advice }
}
