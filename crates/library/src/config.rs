//! # Idea
//! `selvedge.toml`: what a project always wants, and the findings that it has decided to live with,
//! each with a reason. Every mistake in the file is found at once and shown with its place.
//!
//! # Invariants
//! 1. A key that is not known is an error, so that a misspelt one is not silently without effect.
//! 2. A suppression has a reason and at least one condition.

use crate::check::{CheckOptions, Fixes};
use crate::formulas::ProjectFormula;
use crate::glob::FilePattern;
use crate::java::{FieldSet, MethodPattern, UnitOptions};
use crate::select::{self, parse_patterns};
use crate::suppress::Suppression;
use selvedge_base::{Diagnostic, Span};
use selvedge_findings::FindingKind;
use selvedge_program::{AddedUnits, PATTERNS, Units};
use selvedge_report::Patterns;
use selvedge_syntax::nearest::nearest;
use std::ops::Range;
use std::time::Duration;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The name of the file.
pub const NAME: &str = "selvedge.toml";

/// What the file says; what it does not say is `None`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Config {
    /// Which patterns.
    pub patterns: Option<Patterns>,
    /// What counts as one unit of the other thread.
    pub units: Option<Units>,
    /// What becomes a unit of work beside what the programs say.
    pub add_units: Option<AddedUnits>,
    /// Which kinds of findings.
    pub only: Option<Vec<FindingKind>>,
    /// The time limit.
    pub timeout: Option<Duration>,
    /// The memory limit in mebibytes.
    pub memory: Option<u64>,
    /// Whether to look for fixes.
    pub fixes: Option<bool>,
    /// The findings that do not count.
    pub suppressions: Vec<Suppression>,
    /// What is asked of the runs of the models.
    pub formulas: Vec<ProjectFormula>,
    /// Units and sets of programs in Java.
    pub java: UnitOptions,
}

impl Config {
    /// What this says, and what the other one says where this says nothing.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            patterns: self.patterns.or(other.patterns),
            units: self.units.or(other.units),
            add_units: self.add_units.or(other.add_units),
            only: self.only.or(other.only),
            timeout: self.timeout.or(other.timeout),
            memory: self.memory.or(other.memory),
            fixes: self.fixes.or(other.fixes),
            suppressions: [self.suppressions, other.suppressions].concat(),
            formulas: [self.formulas, other.formulas].concat(),
            java: UnitOptions {
                units: [self.java.units, other.java.units].concat(),
                not_units: [self.java.not_units, other.java.not_units].concat(),
                sets: [self.java.sets, other.java.sets].concat(),
                ..UnitOptions::default()
            },
        }
    }

    /// What to ask of each file.
    ///
    /// # Errors
    /// If a pattern is not defined for these units.
    pub fn options(&self) -> Result<CheckOptions, String> {
        let units = self.units.unwrap_or(Units::Exact);
        let (_, patterns) = select::patterns(self.patterns.as_ref(), units)?;
        let asked = self.only.as_deref().unwrap_or(&FindingKind::CHECKED);
        // In one order, each once, whatever was said.
        let kinds = FindingKind::CHECKED.into_iter().filter(|kind| asked.contains(kind)).collect();
        let fixes = if self.fixes.unwrap_or(true) { Fixes::Look } else { Fixes::Skip };
        let add_units = self.add_units;
        let all = CheckOptions::default();
        let chosen = self.only.is_some();
        Ok(CheckOptions { kinds, chosen, patterns, units, add_units, fixes, ..all })
    }
}

/// Reads a configuration. It is complete if no complaint is an error.
pub fn parse(text: &str) -> (Config, Vec<Diagnostic>) {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader { complaints: Vec::new(), text };
    for error in errors {
        let place = error.span().unwrap_or(text.len()..text.len());
        let message = error.message().lines().next().unwrap_or("not TOML").to_owned();
        reader.complain("bad-configuration", message, place, "here");
    }
    // What was recovered from a broken text would only cause follow-up complaints.
    let config = match reader.complaints[..] {
        [] => reader.config(table.get_ref()),
        _ => Config::default(),
    };
    let mut complaints = reader.complaints;
    complaints.sort_by_key(|complaint| complaint.primary.as_ref().map(|label| label.span.start));
    (config, complaints)
}

/// A time limit of so many seconds.
///
/// # Errors
/// If it is no time.
pub fn seconds(seconds: f64) -> Result<Duration, String> {
    if seconds.is_nan() || seconds < 0.0 {
        return Err("a time limit is not negative".to_owned());
    }
    // Numbers beyond what a duration holds mean no limit, for all that anybody can tell.
    Ok(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

const KEYS: [&str; 10] = [
    "add-units",
    "fixes",
    "java",
    "memory",
    "only",
    "patterns",
    "suppress",
    "temporal",
    "timeout",
    "units",
];
const SUPPRESS_KEYS: [&str; 7] =
    ["file", "fingerprint", "line", "locations", "reason", "rule", "threads"];
const TEMPORAL_KEYS: [&str; 4] = ["fair", "file", "formula", "name"];
const JAVA_KEYS: [&str; 3] = ["no-units", "sets", "units"];

type Value<'i> = Spanned<DeValue<'i>>;

struct Reader<'t> {
    complaints: Vec<Diagnostic>,
    text: &'t str,
}

impl Reader<'_> {
    fn config(&mut self, table: &DeTable<'_>) -> Config {
        let mut config = Config::default();
        for (key, value) in table {
            match &**key.get_ref() {
                "patterns" => config.patterns = self.patterns(value),
                "units" => {
                    let all = [("exact", Units::Exact), ("paper", Units::Paper)];
                    config.units = self.word(value, "kind of units", &all);
                }
                "add-units" => {
                    let all = AddedUnits::ALL.map(|units| (units.word(), units));
                    config.add_units = self.word(value, "way to add units", &all);
                }
                "only" => config.only = self.kinds(value),
                "timeout" => config.timeout = self.timeout(value),
                "memory" => {
                    config.memory = self.integer(value, 1..1 << 40, "a number of mebibytes");
                }
                "fixes" => config.fixes = self.boolean(value),
                "suppress" => config.suppressions = self.suppressions(value),
                "temporal" => config.formulas = self.formulas(value),
                "java" => config.java = self.java(value),
                other => self.unknown_key(other, key.span(), &KEYS),
            }
        }
        config
    }

    fn suppressions(&mut self, value: &Value<'_>) -> Vec<Suppression> {
        let Some(entries) = value.get_ref().as_array() else {
            self.wrong_type(value, "tables that begin with [[suppress]]");
            return Vec::new();
        };
        entries.iter().filter_map(|entry| self.suppression(entry)).collect()
    }

    fn suppression(&mut self, value: &Value<'_>) -> Option<Suppression> {
        let Some(table) = value.get_ref().as_table() else {
            self.wrong_type(value, "a table");
            return None;
        };
        let before = self.complaints.len();
        let mut entry = Suppression { span: self.span(value.span()), ..Suppression::default() };
        let (mut reason, mut conditions) = (None, 0);
        for (key, value) in table {
            let name: &str = key.get_ref();
            match name {
                "reason" => reason = self.string(value).map(|text| (text, value.span())),
                "rule" => {
                    let all = FindingKind::CHECKED.map(|kind| (kind.rule(), kind));
                    entry.rule = self.word(value, "rule", &all);
                }
                "fingerprint" => entry.fingerprint = self.string(value),
                "file" => entry.file = self.file_pattern(value),
                "threads" => entry.threads = self.names(value),
                "locations" => entry.locations = self.names(value),
                "line" => {
                    let line = self.integer(value, 1..u64::from(u32::MAX), "a line, from 1");
                    entry.line = line.and_then(|line| u32::try_from(line).ok());
                }
                other => {
                    self.unknown_key(other, key.span(), &SUPPRESS_KEYS);
                    continue;
                }
            }
            conditions += usize::from(name != "reason");
        }
        match reason {
            Some((text, _)) if !text.trim().is_empty() => entry.reason = text,
            Some((_, place)) => {
                self.complain("missing-reason", "the reason is empty", place, "say why");
            }
            None if table.keys().any(|key| &**key.get_ref() == "reason") => {}
            None => self.complain(
                "missing-reason",
                "a suppression needs a reason",
                value.span(),
                "add `reason = \"…\"`",
            ),
        }
        if conditions == 0 {
            self.complain(
                "empty-suppression",
                "this would suppress every finding",
                value.span(),
                "add at least one of rule, fingerprint, file, threads, locations, line",
            );
        }
        (self.complaints.len() == before).then_some(entry)
    }

    fn java(&mut self, value: &Value<'_>) -> UnitOptions {
        let mut java = UnitOptions::default();
        let Some(table) = value.get_ref().as_table() else {
            self.wrong_type(value, "a table");
            return java;
        };
        for (key, value) in table {
            match &**key.get_ref() {
                "units" => java.units = self.read_each(value, MethodPattern::new),
                "no-units" => java.not_units = self.read_each(value, MethodPattern::new),
                "sets" => java.sets = self.read_each(value, FieldSet::new),
                other => self.unknown_key(other, key.span(), &JAVA_KEYS),
            }
        }
        java
    }

    /// What each of several texts means.
    fn read_each<T>(
        &mut self,
        value: &Value<'_>,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Vec<T> {
        let mut all = Vec::new();
        for text in self.names(value) {
            match read(&text) {
                Ok(one) => all.push(one),
                Err(help) => {
                    let message = format!("`{text}` is none");
                    self.complain("bad-value", message, value.span(), &help);
                }
            }
        }
        all
    }

    fn formulas(&mut self, value: &Value<'_>) -> Vec<ProjectFormula> {
        let Some(entries) = value.get_ref().as_array() else {
            self.wrong_type(value, "tables that begin with [[temporal]]");
            return Vec::new();
        };
        let mut all: Vec<ProjectFormula> = Vec::new();
        for entry in entries {
            let Some(formula) = self.formula(entry) else { continue };
            if all.iter().any(|other| other.name == formula.name) {
                let message = format!("two formulas are called `{}`", formula.name);
                self.complain("bad-value", message, entry.span(), "the second of them");
            } else {
                all.push(formula);
            }
        }
        all
    }

    fn formula(&mut self, value: &Value<'_>) -> Option<ProjectFormula> {
        let Some(table) = value.get_ref().as_table() else {
            self.wrong_type(value, "a table");
            return None;
        };
        let before = self.complaints.len();
        let (mut name, mut written, mut fair, mut file) = (None, None, Vec::new(), None);
        for (key, value) in table {
            match &**key.get_ref() {
                "name" => name = self.nonempty(value),
                "formula" => {
                    let text = self.nonempty(value);
                    written =
                        text.map(|text| (text, self.span(value.span()), self.first_letter(value)));
                }
                "fair" => fair = self.names(value),
                "file" => file = self.file_pattern(value),
                other => self.unknown_key(other, key.span(), &TEMPORAL_KEYS),
            }
        }
        for (what, example) in
            [("name", "name = \"…\""), ("formula", "formula = \"A G !deadlock\"")]
        {
            if !table.keys().any(|key| &**key.get_ref() == what) {
                let (message, remark) =
                    (format!("a formula needs the key `{what}`"), format!("add `{example}`"));
                self.complain("missing-key", message, value.span(), remark);
            }
        }
        let is_right = self.complaints.len() == before;
        let (name, (text, span, first)) = (name?, written?);
        is_right.then_some(ProjectFormula { name, text, fair, file, span, first })
    }

    fn nonempty(&mut self, value: &Value<'_>) -> Option<String> {
        let text = self.string(value)?;
        if text.trim().is_empty() {
            self.complain("bad-value", "the text is empty", value.span(), "say something");
            return None;
        }
        Some(text)
    }

    fn patterns(&mut self, value: &Value<'_>) -> Option<Patterns> {
        let text = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Array(numbers) => {
                let most = PATTERNS.len() as u64 + 1;
                let each = numbers.iter().map(|number| {
                    let number = self.integer(number, 1..most, "the number of a pattern")?;
                    Some(number.to_string())
                });
                // All of them are read before the first mistake ends it.
                let each: Vec<Option<String>> = each.collect();
                each.into_iter().collect::<Option<Vec<_>>>()?.join(",")
            }
            _ => {
                self.wrong_type(value, "a string or an array of numbers");
                return None;
            }
        };
        match parse_patterns(&text) {
            Ok(choice) => Some(choice),
            Err(message) => {
                self.complain("bad-value", message, value.span(), "not a choice of patterns");
                None
            }
        }
    }

    fn kinds(&mut self, value: &Value<'_>) -> Option<Vec<FindingKind>> {
        let Some(array) = value.get_ref().as_array() else {
            self.wrong_type(value, "an array of strings");
            return None;
        };
        if array.is_empty() {
            self.complain("bad-value", "nothing would be looked for", value.span(), "empty");
            return None;
        }
        let kinds: Vec<_> = array
            .iter()
            .map(|kind| self.word(kind, "kind of findings", &FindingKind::TOPICS))
            .collect();
        let kinds: Option<Vec<&[FindingKind]>> = kinds.into_iter().collect();
        kinds.map(|kinds| kinds.concat())
    }

    fn timeout(&mut self, value: &Value<'_>) -> Option<Duration> {
        let number = match value.get_ref() {
            DeValue::Integer(number) => number.as_str().parse::<f64>().ok(),
            DeValue::Float(number) => number.as_str().parse::<f64>().ok(),
            _ => {
                self.wrong_type(value, "a number of seconds");
                return None;
            }
        };
        match number.ok_or_else(|| "not a number of seconds".to_owned()).and_then(seconds) {
            Ok(time) => Some(time),
            Err(message) => {
                self.complain("bad-value", message, value.span(), "not a time limit");
                None
            }
        }
    }

    fn file_pattern(&mut self, value: &Value<'_>) -> Option<FilePattern> {
        match FilePattern::new(&self.string(value)?) {
            Ok(pattern) => Some(pattern),
            Err(message) => {
                self.complain("bad-value", message, value.span(), "not a pattern for files");
                None
            }
        }
    }

    fn names(&mut self, value: &Value<'_>) -> Vec<String> {
        match value.get_ref() {
            DeValue::Array(names) if !names.is_empty() => {
                names.iter().filter_map(|name| self.string(name)).collect()
            }
            DeValue::Array(_) => {
                self.complain("bad-value", "no name is given", value.span(), "empty");
                Vec::new()
            }
            _ => {
                self.wrong_type(value, "an array of names");
                Vec::new()
            }
        }
    }

    fn word<T: Copy>(&mut self, value: &Value<'_>, what: &str, all: &[(&str, T)]) -> Option<T> {
        let text = self.string(value)?;
        if let Some((_, meant)) = all.iter().find(|(name, _)| *name == text) {
            return Some(*meant);
        }
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        let message = format!("there is no {what} `{text}`");
        self.complain("bad-value", message, value.span(), "not known");
        self.advise(&text, &names);
        None
    }

    fn integer(&mut self, value: &Value<'_>, range: Range<u64>, what: &str) -> Option<u64> {
        let DeValue::Integer(number) = value.get_ref() else {
            self.wrong_type(value, what);
            return None;
        };
        let number = u64::from_str_radix(number.as_str(), number.radix()).ok();
        let inside = number.filter(|number| range.contains(number));
        if inside.is_none() {
            let message = format!("this is not {what}");
            let remark = format!("from {} to {}", range.start, range.end - 1);
            self.complain("bad-value", message, value.span(), remark);
        }
        inside
    }

    fn boolean(&mut self, value: &Value<'_>) -> Option<bool> {
        let boolean = value.get_ref().as_bool();
        if boolean.is_none() {
            self.wrong_type(value, "`true` or `false`");
        }
        boolean
    }

    fn string(&mut self, value: &Value<'_>) -> Option<String> {
        let text = value.get_ref().as_str().map(str::to_owned);
        if text.is_none() {
            self.wrong_type(value, "a string");
        }
        text
    }

    fn wrong_type(&mut self, value: &Value<'_>, expected: &str) {
        let found = value.get_ref().type_str();
        let message = format!("expected {expected}");
        self.complain("wrong-type", message, value.span(), format!("this is of type {found}"));
    }

    fn unknown_key(&mut self, key: &str, place: Range<usize>, known: &[&str]) {
        self.complain("unknown-key", format!("there is no key `{key}`"), place, "not known");
        self.advise(key, known);
    }

    /// Adds to the last complaint what was probably meant.
    fn advise(&mut self, word: &str, known: &[&str]) {
        let near = nearest(word, known.iter().copied());
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        let help = format!("{near}there are {}", known.join(", "));
        if let Some(complaint) = self.complaints.last_mut() {
            complaint.help = Some(help);
        }
    }

    fn complain(
        &mut self,
        code: &'static str,
        message: impl Into<String>,
        place: Range<usize>,
        remark: impl Into<String>,
    ) {
        let span = self.span(place);
        self.complaints.push(Diagnostic::error(code, message, span, remark));
    }

    fn span(&self, place: Range<usize>) -> Span {
        let length = self.text.len();
        Span::new(place.start.min(length) as u32, place.end.min(length) as u32)
    }

    /// Where the first letter of a text stands, if the text stands there as it is.
    fn first_letter(&self, value: &Value<'_>) -> Option<u32> {
        let (span, text) = (self.span(value.span()), value.get_ref().as_str()?);
        let written = self.text.get(span.range())?;
        for quote in ["'''", "\"\"\"", "'", "\""] {
            let inner = written.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
            let Some(inner) = inner else { continue };
            // The end of a line behind three quotes does not belong to the text.
            let line = usize::from(quote.len() == 3 && inner.starts_with('\n'));
            let as_it_is = inner.get(line..) == Some(text);
            return as_it_is.then_some(span.start + (quote.len() + line) as u32);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_can_be_said() {
        let (config, complaints) = parse(
            "patterns = [17, 12]\nunits = \"exact\"\nonly = [\"race\", \"deadlock\"]\n\
             timeout = 1.5\nmemory = 2_048\nfixes = false\n\
             [[suppress]]\nreason = \"known\"\nrule = \"data-race\"\nline = 0x10\n\
             threads = [\"T1\"]\nlocations = ['x', \"y\"]\nfile = '**/*.eml'\nfingerprint = 'f'\n",
        );
        assert_eq!(complaints, []);
        assert_eq!(config.patterns, Some(Patterns::Numbers(vec![12, 17])));
        assert_eq!(config.units, Some(Units::Exact));
        let only = vec![FindingKind::Race, FindingKind::Deadlock, FindingKind::Stuck];
        assert_eq!(config.only, Some(only));
        assert_eq!(config.timeout, Some(Duration::from_millis(1500)));
        assert_eq!((config.memory, config.fixes), (Some(2048), Some(false)));
        let [entry] = &config.suppressions[..] else { panic!("one suppression") };
        assert_eq!(entry.reason, "known");
        assert_eq!((entry.rule, entry.line), (Some(FindingKind::Race), Some(16)));
        assert_eq!(entry.locations, ["x", "y"]);
        assert_eq!(parse(""), (Config::default(), Vec::new()));
    }

    #[test]
    fn formulas_know_where_they_stand() {
        let text = "[[temporal]]\nname = 'both'\nformula = 'A G !deadlock'\nfair = ['T1']\nfile = '*.eml'\n\
                    [[temporal]]\nname = \"x\"\nformula = \"\"\"\nlet a = T@x;\nE F a\"\"\"\n\
                    [[temporal]]\nname = \"y\"\nformula = \"E F \\\"X\\\"@l\"\n";
        let (config, complaints) = parse(text);
        assert_eq!(complaints, []);
        let [both, definitions, quoted] = &config.formulas[..] else { panic!("three formulas") };
        assert_eq!((both.name.as_str(), both.text.as_str()), ("both", "A G !deadlock"));
        assert_eq!(both.fair, ["T1"]);
        assert!(both.file.as_ref().is_some_and(|file| file.matches("a/b.eml")));
        for formula in [both, definitions] {
            let first = formula.first.expect("as it is") as usize;
            assert!(text[first..].starts_with(&formula.text));
        }
        assert_eq!((quoted.text.as_str(), quoted.first), ("E F \"X\"@l", None));
        assert_eq!(&text[quoted.span.range()], "\"E F \\\"X\\\"@l\"");
    }

    #[test]
    fn mistakes_have_a_place() {
        for (text, code, at) in [
            ("pattern = 'all'", "unknown-key", "pattern"),
            ("patterns = 'al'", "bad-value", "'al'"),
            ("patterns = [0]", "bad-value", "0"),
            ("patterns = true", "wrong-type", "true"),
            ("units = 'exat'", "bad-value", "'exat'"),
            ("only = []", "bad-value", "[]"),
            ("only = 'race'", "wrong-type", "'race'"),
            ("only = ['races']", "bad-value", "'races'"),
            ("timeout = -1", "bad-value", "-1"),
            ("timeout = nan", "bad-value", "nan"),
            ("timeout = '1'", "wrong-type", "'1'"),
            ("memory = 0", "bad-value", "0"),
            ("memory = 99999999999999999999", "bad-value", "99999999999999999999"),
            ("fixes = 1", "wrong-type", "1"),
            ("suppress = 3", "wrong-type", "3"),
            ("suppress = [{ reason = ' ', line = 1 }]", "missing-reason", "' '"),
            ("suppress = [{ line = 1 }]", "missing-reason", "{ line = 1 }"),
            ("suppress = [{ reason = 'x' }]", "empty-suppression", "{ reason = 'x' }"),
            ("suppress = [{ reason = 'x', lines = 1, line = 2 }]", "unknown-key", "lines"),
            ("suppress = [{ reason = 'x', line = 0 }]", "bad-value", "0"),
            ("suppress = [{ reason = 'x', rule = 'race' }]", "bad-value", "'race'"),
            ("suppress = [{ reason = 'x', file = '[a' }]", "bad-value", "'[a'"),
            ("suppress = [{ reason = 'x', file = 1 }]", "wrong-type", "1"),
            ("suppress = [{ reason = 'x', threads = [] }]", "bad-value", "[]"),
            ("temporal = 1", "wrong-type", "1"),
            ("temporal = [{ name = 'a' }]", "missing-key", "{ name = 'a' }"),
            ("temporal = [{ formula = 'a' }]", "missing-key", "{ formula = 'a' }"),
            ("temporal = [{ name = 'a', formula = ' ' }]", "bad-value", "' '"),
            ("temporal = [{ name = 1, formula = 'E' }]", "wrong-type", "1"),
            ("temporal = [{ name = 'a', formula = 'E', files = 1 }]", "unknown-key", "files"),
            ("temporal = [{ name = 'a', formula = 'E', fair = 'T' }]", "wrong-type", "'T'"),
            (
                "temporal = [{ name = 'a', formula = 'E' }, { name = 'a', formula = 'A' }]",
                "bad-value",
                "{ name = 'a', formula = 'A' }",
            ),
        ] {
            let (_, complaints) = parse(text);
            let found: Vec<_> = complaints
                .iter()
                .map(|one| (one.code, &text[one.primary.as_ref().expect("a place").span.range()]))
                .collect();
            assert_eq!(found, [(code, at)], "{text}");
        }
        let help = &parse("patern = 1").1[0].help;
        assert!(help.as_ref().is_some_and(|help| help.starts_with("did you mean `patterns`?")));
    }

    #[test]
    fn what_is_no_toml_is_said_at_its_place() {
        for text in ["= 3", "patterns", "[[suppress", "a = \"", "fixes = true\nfixes = true"] {
            let (_, complaints) = parse(text);
            assert!(!complaints.is_empty(), "{text}");
            assert!(complaints.iter().all(|one| one.is_error() && one.primary.is_some()));
        }
        // Deep nesting neither hangs nor overflows the stack.
        let deep = format!("patterns = {}", "[".repeat(100_000));
        assert!(!parse(&deep).1.is_empty());
    }
}
