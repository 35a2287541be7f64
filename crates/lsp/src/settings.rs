//! # Idea
//! What an editor can say when it begins: how long a check may take, how long to wait for the next
//! change, what to look for. What is wrong with it is said, and the usual value taken.

use selvedge_findings::FindingKind;
use selvedge_report::sarif::BOOK;
use serde_json::Value;
use std::time::Duration;

/// How the server behaves.
#[derive(Clone, PartialEq, Debug)]
pub struct EditorSettings {
    /// Whether models are checked at all; mistakes of the language are shown in any case.
    pub findings: bool,
    /// How long one check may take.
    pub time_limit: Duration,
    /// How long to wait after the last change.
    pub pause: Duration,
    /// The kinds of findings that are looked for, if the editor says that.
    pub kinds: Option<Vec<FindingKind>>,
    /// Where the book can be read, without a slash at the end.
    pub book: String,
}

impl Default for EditorSettings {
    fn default() -> Self {
        Self {
            findings: true,
            time_limit: Duration::from_secs(10),
            pause: Duration::from_millis(400),
            kinds: None,
            book: BOOK.to_owned(),
        }
    }
}

/// No check takes longer than this, and nobody waits longer for the next change.
const LONGEST_SECONDS: f64 = 86_400.0;

impl EditorSettings {
    /// The settings that a value says, and what is wrong with it.
    pub fn new(value: &Value) -> (Self, Vec<String>) {
        let mut settings = Self::default();
        let mut wrong = Vec::new();
        let entries = match value {
            Value::Null => return (settings, wrong),
            Value::Object(entries) => entries,
            _ => return (settings, vec!["the options are no object".to_owned()]),
        };
        for (name, value) in entries {
            let read = match name.as_str() {
                "findings" => value.as_bool().map(|on| settings.findings = on),
                "timeLimitSeconds" => {
                    let seconds = value.as_f64().filter(|&it| it > 0.0 && it <= LONGEST_SECONDS);
                    seconds.map(|it| settings.time_limit = Duration::from_secs_f64(it))
                }
                "pauseMilliseconds" => {
                    let pause = value.as_f64().filter(|&it| (0.0..=LONGEST_SECONDS).contains(&it));
                    pause.map(|it| settings.pause = Duration::from_secs_f64(it / 1000.0))
                }
                "only" => kinds(value)
                    .map(|kinds| settings.kinds = Some(kinds).filter(|kinds| !kinds.is_empty())),
                "book" => {
                    let is_address =
                        |it: &&str| it.starts_with("https://") || it.starts_with("file://");
                    let book = value.as_str().filter(is_address);
                    book.map(|it| it.trim_end_matches('/').clone_into(&mut settings.book))
                }
                // An editor may say more than we know.
                _ => Some(()),
            };
            if read.is_none() {
                wrong.push(format!("the option `{name}` cannot be {value}"));
            }
        }
        (settings, wrong)
    }
}

/// The kinds of findings that some words mean.
fn kinds(value: &Value) -> Option<Vec<FindingKind>> {
    let mut kinds = Vec::new();
    for word in value.as_array()? {
        let word = word.as_str()?;
        let (_, own) = FindingKind::TOPICS.iter().find(|(topic, _)| *topic == word)?;
        kinds.extend_from_slice(own);
    }
    Some(kinds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn settings_are_read_or_refused() {
        let (settings, wrong) = EditorSettings::new(&json!({
            "findings": false, "timeLimitSeconds": 2.5, "pauseMilliseconds": 0, "only": ["race"],
            "book": "https://example.org/book/", "other": 1,
        }));
        assert_eq!(wrong, [""; 0]);
        assert_eq!((settings.findings, settings.pause), (false, Duration::ZERO));
        assert_eq!(settings.time_limit, Duration::from_millis(2500));
        assert_eq!(settings.kinds, Some(vec![FindingKind::Race]));
        assert_eq!(settings.book, "https://example.org/book");
        let (settings, wrong) = EditorSettings::new(&json!({
            "findings": 1, "timeLimitSeconds": 0, "pauseMilliseconds": -1, "only": ["x"], "book": "x",
        }));
        assert_eq!((settings, wrong.len()), (EditorSettings::default(), 5));
        assert_eq!(EditorSettings::new(&json!([])).1, ["the options are no object"]);
        assert_eq!(EditorSettings::new(&Value::Null), (EditorSettings::default(), vec![]));
        assert_eq!(EditorSettings::new(&json!({ "only": [] })).0, EditorSettings::default());
    }
}
