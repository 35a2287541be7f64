//! # Idea
//! Which language a text is in: by the extension of its name, or by its first word.

use std::path::Path;

/// The languages of models.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// EML.
    Eml,
    /// The model's own text form.
    TextForm,
    /// Concurrent Boolean programs.
    Boolean,
    /// Concurrent pushdown systems.
    Pushdown,
}

impl Language {
    /// The language of a text: by the extension of its name, or by its first word; EML if neither says.
    pub fn of(name: &str, text: &str) -> Self {
        Self::detect(name, text).unwrap_or(Self::Eml)
    }

    /// The language of a text, if the extension of its name or its first word says it.
    pub fn detect(name: &str, text: &str) -> Option<Self> {
        let named = extension(name).and_then(|extension| {
            Self::ALL.into_iter().find(|language| language.extension() == extension)
        });
        named.or_else(|| match first_word(text) {
            "program" => Some(Self::TextForm),
            "bool" if declares_variable(text) => Some(Self::Eml),
            "decl" | "void" | "bool" | "dfs" => Some(Self::Boolean),
            "lock" | "var" | "process" => Some(Self::Eml),
            _ if is_pushdown(text) => Some(Self::Pushdown),
            _ => None,
        })
    }

    /// All languages.
    pub const ALL: [Self; 4] = [Self::Eml, Self::TextForm, Self::Boolean, Self::Pushdown];

    /// The extension of files in it.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Eml => "eml",
            Self::TextForm => "slv",
            Self::Boolean => "bp",
            Self::Pushdown => "pds",
        }
    }
}

/// The extension of a file's name.
pub fn extension(name: &str) -> Option<&str> {
    Path::new(name).extension().and_then(|extension| extension.to_str())
}

/// Whether a text begins like a pushdown system: with a number of shared states.
fn is_pushdown(text: &str) -> bool {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    let first = lines.filter(|line| !line.is_empty()).find_map(|line| line.chars().next());
    first.is_some_and(|first| first.is_ascii_digit())
}

/// The first word after blanks and comments, or nothing if something else comes first.
pub fn first_word(text: &str) -> &str {
    let text = behind_comments(text);
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

/// Whether a variable of EML is declared first: `bool : x`, where Boolean programs have `bool f()`.
fn declares_variable(text: &str) -> bool {
    let text = behind_comments(text);
    text[first_word(text).len()..].trim_start().starts_with(':')
}

/// The text without the blanks and comments that it begins with.
fn behind_comments(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        if let Some(comment) = text.strip_prefix("//") {
            text = comment.split_once('\n').map_or("", |(_, rest)| rest);
        } else if let Some(comment) = text.strip_prefix("/*") {
            text = comment.split_once("*/").map_or("", |(_, rest)| rest);
        } else {
            return text;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_of_texts_without_a_name() {
        let of = |text| Language::of("<stdin>", text);
        assert_eq!(of("# shared states\n\n 2 # two\nPDA 0 1\n"), Language::Pushdown);
        assert_eq!(of("void main() begin skip; end"), Language::Boolean);
        assert_eq!(of("bool f() begin return T; end"), Language::Boolean);
        assert_eq!(of("// bool\nbool : f;"), Language::Eml);
        assert_eq!(of("// 2\nprogram"), Language::TextForm);
        for eml in ["", "#", "lock l;", "// 2\nprocess T { }"] {
            assert_eq!(of(eml), Language::Eml, "{eml}");
        }
    }

    #[test]
    fn first_words() {
        assert_eq!(first_word("program\n"), "program");
        assert_eq!(first_word("  // program\n/* x */ process T"), "process");
        assert_eq!(first_word("programs"), "programs");
        for none in ["", "   ", "// program", "/* program", "; program"] {
            assert_eq!(first_word(none), "", "{none}");
        }
    }
}
