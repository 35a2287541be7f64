//! # Idea
//! The part of the SARIF format that is written here, as plain structs in the order of the fields.
//!
//! # Source
//! SARIF 2.1.0; the section of each object stands at its struct.

use crate::escape::visible;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// §3.13 sarifLog.
#[derive(Serialize)]
pub struct Log<'a> {
    #[serde(rename = "$schema")]
    pub schema: &'static str,
    pub version: &'static str,
    pub runs: [Run<'a>; 1],
}

/// §3.14 run.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Run<'a> {
    pub tool: Tool,
    pub invocations: [Invocation<'a>; 1],
    pub original_uri_base_ids: BTreeMap<&'static str, BaseId>,
    pub artifacts: Vec<Artifact>,
    pub column_kind: &'static str,
    pub results: Vec<Resulting<'a>>,
}

/// §3.4 artifactLocation of a base: what relative references are relative to is known to whoever has the
/// sources, and said in words.
#[derive(Serialize)]
pub struct BaseId {
    pub description: Message,
}

/// §3.18 tool.
#[derive(Serialize)]
pub struct Tool {
    pub driver: Driver,
}

/// §3.19 toolComponent.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Driver {
    pub name: &'static str,
    pub version: &'static str,
    pub semantic_version: &'static str,
    pub rules: Vec<Rule>,
}

/// §3.49 reportingDescriptor.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    pub id: &'static str,
    pub name: &'static str,
    pub short_description: Message,
    pub full_description: Message,
    pub help: Help,
    pub help_uri: String,
    pub default_configuration: Configuration,
    pub properties: RuleProperties,
}

/// §3.12 multiformatMessageString.
#[derive(Serialize)]
pub struct Help {
    pub text: String,
    pub markdown: String,
}

/// §3.50 reportingConfiguration.
#[derive(Serialize)]
pub struct Configuration {
    pub level: &'static str,
}

/// §3.8 property bag, with the names that code hosts look for.
#[derive(Serialize)]
pub struct RuleProperties {
    pub tags: [&'static str; 2],
    pub precision: &'static str,
    #[serde(rename = "problem.severity")]
    pub problem_severity: &'static str,
}

/// §3.20 invocation.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Invocation<'a> {
    pub execution_successful: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_execution_notifications: Vec<Notification<'a>>,
}

/// §3.58 notification.
#[derive(Serialize)]
pub struct Notification<'a> {
    pub descriptor: Descriptor,
    pub level: &'static str,
    pub message: Message,
    pub locations: Vec<Location<'a>>,
}

/// §3.52 reportingDescriptorReference.
#[derive(Serialize)]
pub struct Descriptor {
    pub id: &'static str,
}

/// §3.24 artifact.
#[derive(Serialize)]
pub struct Artifact {
    pub location: ArtifactLocation,
    pub roles: [&'static str; 1],
}

/// §3.4 artifactLocation.
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactLocation {
    pub uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri_base_id: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
}

/// §3.27 result.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resulting<'a> {
    pub rule_id: &'static str,
    pub rule_index: usize,
    pub kind: &'static str,
    pub level: &'static str,
    pub message: Message,
    pub locations: [Location<'a>; 1],
    pub related_locations: Vec<Location<'a>>,
    pub code_flows: Vec<CodeFlow<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fixes: Vec<FixObject>,
    pub partial_fingerprints: BTreeMap<&'static str, &'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppressions: Option<Vec<Suppression<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline_state: Option<&'static str>,
    pub properties: Properties<'a>,
}

/// §3.8 property bag of a result.
#[derive(Serialize)]
pub struct Properties<'a> {
    pub tags: &'a [String],
    pub threads: Vec<Cow<'a, str>>,
    pub locations: Vec<Cow<'a, str>>,
    pub locks: Vec<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<String>,
}

/// §3.55 fix.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FixObject {
    pub description: Message,
    pub artifact_changes: [ArtifactChange; 1],
}

/// §3.56 artifactChange.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactChange {
    pub artifact_location: ArtifactLocation,
    pub replacements: Vec<Replacement>,
}

/// §3.57 replacement.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Replacement {
    pub deleted_region: Region,
    pub inserted_content: Content,
}

/// §3.3 artifactContent. It is code, so nothing in it is escaped.
#[derive(Serialize)]
pub struct Content {
    pub text: String,
}

/// §3.35 suppression.
#[derive(Serialize)]
pub struct Suppression<'a> {
    pub kind: &'static str,
    pub status: &'static str,
    pub justification: &'a str,
}

/// §3.28 location.
#[derive(Clone, Serialize)]
#[expect(clippy::struct_field_names, reason = "the names of the format")]
#[serde(rename_all = "camelCase")]
pub struct Location<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<usize>,
    pub physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub logical_locations: Vec<LogicalLocation<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
}

impl Location<'_> {
    /// A location with nothing but its place.
    pub fn new(physical_location: PhysicalLocation) -> Self {
        Self { id: None, physical_location, logical_locations: Vec::new(), message: None }
    }
}

/// §3.29 physicalLocation.
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PhysicalLocation {
    pub artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<Region>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<PlaceProperties>,
}

/// §3.8 property bag of a place that has no lines.
#[derive(Clone, Serialize)]
pub struct PlaceProperties {
    /// The offset in what the artifact is named after.
    pub offset: u32,
}

/// §3.30 region.
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Region {
    pub start_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_column: Option<u32>,
    /// If it is another one than that of the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
    /// The column behind the last character.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_column: Option<u32>,
}

/// §3.33 logicalLocation.
#[derive(Clone, Serialize)]
pub struct LogicalLocation<'a> {
    pub name: Cow<'a, str>,
    pub kind: &'static str,
}

/// §3.36 codeFlow.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CodeFlow<'a> {
    pub message: Message,
    pub thread_flows: Vec<ThreadFlow<'a>>,
}

/// §3.37 threadFlow.
#[derive(Serialize)]
pub struct ThreadFlow<'a> {
    pub id: Cow<'a, str>,
    pub message: Message,
    pub locations: Vec<ThreadFlowLocation<'a>>,
}

/// §3.38 threadFlowLocation.
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ThreadFlowLocation<'a> {
    pub location: Location<'a>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub kinds: &'static [&'static str],
    pub nesting_level: usize,
    pub execution_order: usize,
    pub importance: &'static str,
    pub state: BTreeMap<Cow<'a, str>, Message>,
}

/// §3.11 message, plain text only.
#[derive(Clone, Serialize)]
pub struct Message {
    pub text: String,
}

impl Message {
    /// A message that says `text`, escaped for the screen as well.
    pub fn new(text: impl AsRef<str>) -> Self {
        let text = visible(text.as_ref());
        let link = text.contains("](");
        let mut escaped = String::with_capacity(text.len());
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            match c {
                '[' | ']' | '\\' if link => escaped.extend(['\\', c]),
                // Only `{` with a digit after it begins a placeholder.
                '{' if rest.peek().is_some_and(char::is_ascii_digit) => escaped.push_str("{{"),
                _ => escaped.push(c),
            }
        }
        Self { text: escaped }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_no_links_and_no_placeholders() {
        let text = |text: &str| Message::new(text).text;
        assert_eq!(text("T1 reads `int[] a` {x}"), "T1 reads `int[] a` {x}");
        assert_eq!(text("[a](http://b)"), r"\[a\](http://b)");
        assert_eq!(text("{0} {{1}"), "{{0} {{{1}");
    }
}
