//! # Idea
//! A text that is open in an editor, with what is known of this version of it: what was understood,
//! its names, who holds which lock. All of it is looked for when somebody asks, so that a version which is
//! out of date already costs nothing.

use crate::position::Utf16Lines;
use lsp_types::{TextDocumentContentChangeEvent, Uri};
use selvedge_base::{Budget, Diagnostic, Severity};
use selvedge_library::file::Loaded;
use selvedge_library::formulas::ProjectFormulas;
use selvedge_library::held::HeldLocks;
use selvedge_library::{CheckOptions, Language, Text, names};
use selvedge_syntax::symbols::NameIndex;
use std::cell::OnceCell;

/// Looking for held locks ends after so many steps; then nothing is said of them.
const WORK: u64 = 2_000_000;

/// A text that is open.
#[derive(Debug)]
pub struct OpenDocument {
    /// What the editor calls it.
    pub uri: Uri,
    /// The number that the editor gives this version.
    pub version: i32,
    /// The language, if it is one that is served.
    pub language: Option<Language>,
    /// Where the lines are.
    pub lines: Utf16Lines,
    text: Text,
    /// What is asked about it, which says what it lacks.
    options: CheckOptions,
    /// The formulas of its project, with its name as seen from the folder of the project.
    formulas: (ProjectFormulas, String),
    loaded: OnceCell<Loaded>,
    names: OnceCell<NameIndex>,
    held: OnceCell<Option<HeldLocks>>,
}

impl OpenDocument {
    /// A text that was opened. The language is that of the name, or the one that the editor says.
    pub fn new(uri: Uri, version: i32, language_id: &str, text: String) -> Self {
        let name = shown_name(&uri);
        let served = |language: &Language| *language != Language::Pushdown;
        let named = Language::ALL.into_iter().find(|language| {
            let extension = language.extension();
            name.rsplit_once('.').is_some_and(|(_, own)| own == extension)
        });
        let said = match language_id {
            "eml" => Some(Language::Eml),
            "boolean-program" | "bp" => Some(Language::Boolean),
            "selvedge-model" | "slv" => Some(Language::TextForm),
            _ => None,
        };
        let language = named.or(said).filter(served);
        let name = match (named, said) {
            (None, Some(said)) => format!("{name}.{}", said.extension()),
            _ => name,
        };
        Self::read(uri, version, language, Text::new(name, text))
    }

    fn read(uri: Uri, version: i32, language: Option<Language>, text: Text) -> Self {
        let lines = Utf16Lines::new(&text.text);
        let (loaded, names, held) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        let options = CheckOptions::default();
        let formulas = (ProjectFormulas::default(), String::new());
        Self { uri, version, language, lines, text, options, formulas, loaded, names, held }
    }

    /// Says what is asked about it; `name` is its name as seen from the folder of its project.
    pub fn ask(&mut self, options: &CheckOptions, formulas: &ProjectFormulas, name: &str) {
        let same = self.formulas.0 == *formulas && self.formulas.1 == name;
        if self.options != *options || !same {
            self.options = options.clone();
            self.formulas = (formulas.clone(), name.to_owned());
            (self.loaded, self.held) = (OnceCell::new(), OnceCell::new());
        }
    }

    /// The next version of it. Each change is made to what the changes before it have left.
    pub fn change(&mut self, version: i32, changes: Vec<TextDocumentContentChangeEvent>) {
        let Text { name, mut text } = self.text.clone();
        for change in changes {
            match change.range {
                None => text = change.text,
                Some(range) => {
                    let span = Utf16Lines::new(&text).span(&text, range);
                    text.replace_range(span.range(), &change.text);
                }
            }
        }
        let (options, formulas) = (self.options.clone(), self.formulas.clone());
        let next = Self::read(self.uri.clone(), version, self.language, Text { name, text });
        *self = Self { options, formulas, ..next };
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text.text
    }

    /// What was understood of it; nothing of a language that is not served.
    pub fn loaded(&self) -> &Loaded {
        self.loaded.get_or_init(|| {
            if self.language.is_none() {
                let unknown = Diagnostic::global("unknown-format", Severity::Warning, "not served");
                let refused = Loaded::refused(self.text.clone(), unknown);
                return Loaded { complaints: Vec::new(), ..refused };
            }
            let mut loaded = Loaded::new(self.text.clone(), true);
            loaded.ask_formulas(&self.formulas.0, &self.formulas.1);
            loaded.prepare(&self.options);
            loaded
        })
    }

    /// What its names mean.
    pub fn names(&self) -> &NameIndex {
        self.names.get_or_init(|| match self.language {
            Some(language) => names::index(self.text(), language),
            None => NameIndex::default(),
        })
    }

    /// Who holds which lock where, if it was understood and is not too large.
    pub fn held(&self) -> Option<&HeldLocks> {
        let found = self.held.get_or_init(|| {
            let program = self.loaded().program.as_ref()?;
            HeldLocks::new(program, &Budget::with_steps(WORK)).ok()
        });
        found.as_ref()
    }
}

/// The last part of what an editor calls a text.
fn shown_name(uri: &Uri) -> String {
    let path = uri.path().as_estr().decode().into_string_lossy();
    let last = path.rsplit('/').next().unwrap_or_default();
    if last.is_empty() { "untitled".to_owned() } else { last.to_owned() }
}
