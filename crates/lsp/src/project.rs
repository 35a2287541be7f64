//! # Idea
//! A text belongs to a project: the folder above it with the nearest `selvedge.toml`. What that file asks for
//! is asked here, too, and the findings that do not count there are not shown. Whoever has files finds it;
//! here it is read as `check` reads it.
//!
//! # Invariants
//! 1. What the editor says goes first, then what the project says. Of two time limits the shorter one counts:
//!    that of a project is for all of its files.
//! 2. A file with a mistake says nothing but its mistakes.

use crate::settings::EditorSettings;
use lsp_types::Uri;
use selvedge_base::{Diagnostic, Severity};
use selvedge_library::config::{self, Config};
use selvedge_library::formulas::ProjectFormulas;
use selvedge_library::suppress::Suppression;
use selvedge_library::{CheckOptions, Text};
use std::str::FromStr as _;
use std::time::Duration;

/// The `selvedge.toml` that a text belongs to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProjectFile {
    /// What an editor calls it.
    pub uri: Uri,
    /// What it says, or why it cannot be read.
    pub text: Result<String, String>,
    /// The name of the text as seen from its folder, with `/` between its parts.
    pub document: String,
}

impl ProjectFile {
    /// The project of a text that is so many folders above that of the text, with what it says.
    pub fn new(text: &Uri, above: usize, says: Result<String, String>) -> Option<Self> {
        let path = file_path(text)?;
        let mut parts: Vec<&str> = path.rsplit('/').take(above + 1).collect();
        parts.reverse();
        let mut folder = text.as_str();
        for _ in 0..=above {
            folder = folder.rsplit_once('/')?.0;
        }
        let uri = Uri::from_str(&format!("{folder}/{}", config::NAME)).ok()?;
        Some(Self { uri, text: says, document: parts.join("/") })
    }
}

/// The path of a file that an editor names, with `/` between its parts; `None` if it is no file.
pub fn file_path(uri: &Uri) -> Option<String> {
    let is_file = uri.scheme().is_some_and(|scheme| scheme.as_str() == "file");
    let is_plain = uri.query().is_none() && uri.fragment().is_none();
    let path = uri.path().as_estr().decode().into_string().ok()?;
    // A drive stands behind a slash.
    let drive = path.strip_prefix('/').filter(|rest| rest.get(1..2) == Some(":"));
    (is_file && is_plain).then(|| drive.unwrap_or(&path).to_owned())
}

/// Finds the project of a text.
pub type FindProject = fn(&Uri) -> Option<ProjectFile>;

/// What is asked about a text.
#[derive(Clone, PartialEq, Debug)]
pub struct ProjectSettings {
    /// What to ask.
    pub options: CheckOptions,
    /// How long it may take.
    pub time_limit: Duration,
    /// The findings that do not count.
    pub suppressions: Vec<Suppression>,
    /// What is asked of the runs of its models.
    pub formulas: ProjectFormulas,
    /// The name of the text for them.
    pub document: String,
}

impl ProjectSettings {
    /// What editor and project say together, and what is wrong with what the project says.
    pub fn new(file: Option<&ProjectFile>, settings: &EditorSettings) -> (Self, Vec<Diagnostic>) {
        let said = Config { only: settings.kinds.clone(), ..Config::default() };
        let (project, mut wrong) = match file.map(|file| &file.text) {
            None => (Config::default(), Vec::new()),
            Some(Ok(text)) => config::parse(text),
            Some(Err(why)) => (Config::default(), vec![global(why.clone())]),
        };
        let is_right = !wrong.iter().any(Diagnostic::is_error);
        let all = said.clone().or(if is_right { project } else { Config::default() });
        let (all, options) = match all.options() {
            Ok(options) => (all, options),
            Err(why) => {
                wrong.push(global(why));
                let options = said.options().unwrap_or_default();
                (said, options)
            }
        };
        let limit = settings.time_limit;
        let own = Self {
            options,
            time_limit: all.timeout.map_or(limit, |time| time.min(limit)),
            suppressions: all.suppressions,
            formulas: ProjectFormulas {
                config: Text::new(config::NAME, said_by(file)),
                all: all.formulas,
            },
            document: file.map(|file| file.document.clone()).unwrap_or_default(),
        };
        (own, wrong)
    }
}

/// The text of a project.
fn said_by(file: Option<&ProjectFile>) -> &str {
    file.and_then(|file| file.text.as_deref().ok()).unwrap_or_default()
}

fn global(message: String) -> Diagnostic {
    Diagnostic::global("bad-configuration", Severity::Error, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_findings::FindingKind;

    fn settings(text: &str, editor: &EditorSettings) -> (ProjectSettings, Vec<Diagnostic>) {
        let file = ProjectFile {
            uri: Uri::from_str("file:///m/selvedge.toml").expect("an address"),
            text: Ok(text.to_owned()),
            document: "a.eml".to_owned(),
        };
        ProjectSettings::new(Some(&file), editor)
    }

    #[test]
    fn the_editor_goes_first_and_the_shorter_time_counts() {
        let editor = EditorSettings::default();
        let text = "only = [\"race\"]\ntimeout = 600\nfixes = false\n";
        let (own, wrong) = settings(text, &editor);
        assert_eq!((own.options.kinds, wrong.len()), (vec![FindingKind::Race], 0));
        assert_eq!(own.time_limit, editor.time_limit);
        let (own, _) = settings("timeout = 0.5", &editor);
        assert_eq!(own.time_limit, Duration::from_millis(500));
        let editor = EditorSettings { kinds: Some(vec![FindingKind::Deadlock]), ..editor };
        assert_eq!(settings(text, &editor).0.options.kinds, [FindingKind::Deadlock]);
        let (own, _) = ProjectSettings::new(None, &editor);
        assert_eq!(own.options.kinds, [FindingKind::Deadlock]);
    }

    #[test]
    fn a_project_is_above_its_texts() {
        let address = |text: &str| Uri::from_str(text).expect("an address");
        let text = address("file:///my%20work/m/a%23b.eml");
        assert_eq!(file_path(&text).as_deref(), Some("/my work/m/a#b.eml"));
        let file = ProjectFile::new(&text, 1, Ok(String::new())).expect("a file");
        assert_eq!(file.uri.as_str(), "file:///my%20work/selvedge.toml");
        assert_eq!(file.document, "m/a#b.eml");
        assert_eq!(file_path(&address("file:///C:/a.eml")).as_deref(), Some("C:/a.eml"));
        assert_eq!(file_path(&address("untitled:Untitled-1")), None);
        assert_eq!(ProjectFile::new(&address("untitled:a"), 0, Ok(String::new())), None);
    }

    #[test]
    fn a_file_with_a_mistake_says_nothing_else() {
        let editor = EditorSettings::default();
        let usual = ProjectSettings::new(None, &editor).0;
        for (text, code) in [
            ("only = [\"race\"]\ntimeuot = 1\n", "unknown-key"),
            ("only = [\"race\"", "bad-configuration"),
            ("patterns = [32]\nunits = \"paper\"\n", "bad-configuration"),
        ] {
            let (own, wrong) = settings(text, &editor);
            assert_eq!(own.options, usual.options, "{text}");
            assert!(wrong.iter().any(|one| one.code == code), "{text}: {wrong:?}");
        }
    }
}
