//! Texts of the object program (`.code`): what is wrong with one, and its usual form.

use selvedge_base::Diagnostic;
use selvedge_code::text::{print, read};

/// The extension of such texts.
pub const EXTENSION: &str = "code";

/// A text in its usual form, if nothing is wrong with it, and what is wrong with it.
pub fn code(text: &str) -> (Option<String>, Vec<Diagnostic>) {
    let reading = read(text);
    (reading.module.as_ref().map(print), reading.diagnostics)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_form_of_the_usual_form_is_the_same() {
        let (shown, complaints) = code("type t { n: word 4 }  // a type\nglobal  g : t\n");
        assert_eq!(complaints, []);
        let shown = shown.expect("nothing is wrong");
        assert_eq!(shown, "type t { n: word 4 }\nglobal g: t\n");
        assert_eq!(code(&shown).0, Some(shown));
    }

    #[test]
    fn a_text_with_mistakes_has_no_form() {
        let (shown, complaints) = code("proc f()\nb0:\n  store x 1\n  return\n");
        assert_eq!(shown, None);
        assert_eq!(complaints.len(), 1, "{complaints:?}");
    }
}
