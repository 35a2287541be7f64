//! # Idea
//! What the names of a text mean, whatever its language, and how the text changes where one of them is to
//! be another. A new name is refused where it would change what any name means: that is seen by looking at
//! the changed text as at any other.
//!
//! # Invariants
//! 1. In a text that [`rename`] has changed, every name means what it meant, and there are the same
//!    mistakes as before.

use crate::language::{Language, first_word};
use crate::load::{Reading, Text, Texts, load};
use selvedge_base::{Diagnostic, Span};
use selvedge_syntax::symbols::{NameId, NameIndex, NameKind, NameUse};

/// What a text declares, and where the names stand. Nothing is known of pushdown systems, which have
/// numbers.
pub fn index(text: &str, language: Language) -> NameIndex {
    match written_in(text, language) {
        Language::Eml => selvedge_front_eml::symbols::symbols(text),
        Language::Boolean => selvedge_front_bool::symbols::symbols(text),
        Language::TextForm => selvedge_program::text::symbols(text),
        Language::Pushdown => NameIndex::default(),
    }
}

/// The name that can be changed at a byte of a text, if there is one, with why it cannot be if so.
///
/// # Errors
/// Why the name there cannot be changed.
pub fn renamed_at(index: &NameIndex, language: Language, offset: u32) -> Result<NameUse, String> {
    let Some(found) = index.at(offset) else {
        return Err("there is no name here that the text declares".to_owned());
    };
    let symbol = &index.symbols[found.symbol];
    if has_meaning(language, symbol.kind, &symbol.name) {
        return Err(format!(
            "the {} `{}` is what it is because of its name",
            symbol.kind.what(),
            symbol.name
        ));
    }
    Ok(found)
}

/// What replaces which bytes, in the order of the text, so that what is named at a byte has another name.
///
/// # Errors
/// Why it cannot have it.
pub fn rename(text: &Text, offset: u32, new: &str) -> Result<Vec<(Span, String)>, String> {
    let language = Language::of(&text.name, &text.text);
    let language = written_in(&text.text, language);
    let index = index(&text.text, language);
    let found = renamed_at(&index, language, offset)?;
    let symbol = &index.symbols[found.symbol];
    if !is_name(language, new) {
        return Err(format!("`{new}` is not a name, or it is a reserved word"));
    }
    if has_meaning(language, symbol.kind, new) {
        return Err(format!("a {} `{new}` means something by its name", symbol.kind.what()));
    }
    if new == symbol.name {
        return Ok(Vec::new());
    }
    let mut changes = Vec::new();
    for span in index.mentions(found.symbol) {
        let old = &text.text[span.range()];
        let Some(written) = rewritten(language, old, &symbol.name, new) else {
            return Err(format!("`{old}` is one name made of several"));
        };
        changes.push((span, written));
    }
    let changed = Text::new(text.name.clone(), replaced(&text.text, &changes));
    let kept =
        keeps_meaning(&index, found.symbol, new, &changes, &self::index(&changed.text, language));
    if !kept || mistakes(text) != mistakes(&changed) {
        let taken = index.symbols.iter().find(|other| other.name == new);
        return Err(match taken {
            Some(other) => format!("there is a {} `{new}` already", other.kind.what()),
            None => format!("with the name `{new}` the text would mean something else"),
        });
    }
    Ok(changes)
}

/// A text with some of its bytes replaced, which are given in order and do not overlap.
pub fn replaced(text: &str, changes: &[(Span, String)]) -> String {
    let mut changed = String::with_capacity(text.len());
    let mut copied = 0;
    for (span, new) in changes {
        changed.push_str(&text[copied..span.start as usize]);
        changed.push_str(new);
        copied = span.end as usize;
    }
    changed + &text[copied..]
}

/// What a text is read as: one that begins like a model in text form is one, whatever its name says.
fn written_in(text: &str, language: Language) -> Language {
    match language {
        Language::Eml if first_word(text) == "program" => Language::TextForm,
        other => other,
    }
}

fn is_name(language: Language, word: &str) -> bool {
    match language {
        Language::Eml => selvedge_front_eml::symbols::is_name(word),
        Language::Boolean => selvedge_front_bool::symbols::is_name(word),
        // Others are written in quotes.
        Language::TextForm => !word.is_empty() && !word.contains(char::is_control),
        Language::Pushdown => false,
    }
}

fn has_meaning(language: Language, kind: NameKind, name: &str) -> bool {
    match language {
        Language::Eml => selvedge_front_eml::symbols::has_meaning(kind, name),
        Language::Boolean => selvedge_front_bool::symbols::has_meaning(kind, name),
        Language::TextForm | Language::Pushdown => kind == NameKind::Label && name == "ERROR",
    }
}

/// How a name is written that was written as `old`.
fn rewritten(language: Language, old: &str, name: &str, new: &str) -> Option<String> {
    match language {
        Language::TextForm => selvedge_program::text::renamed(old, name, new),
        _ => (old == name).then(|| new.to_owned()),
    }
}

/// Whether the names of a changed text mean what they meant.
fn keeps_meaning(
    before: &NameIndex,
    renamed: NameId,
    new: &str,
    changes: &[(Span, String)],
    after: &NameIndex,
) -> bool {
    let same_symbols = before.symbols.len() == after.symbols.len()
        && before.symbols.iter_enumerated().zip(after.symbols.iter()).all(|((id, old), now)| {
            let name = if id == renamed { new } else { old.name.as_str() };
            (now.name.as_str(), now.kind, now.within) == (name, old.kind, old.within)
        });
    // How far a byte of the text has moved.
    let moved = |at: u32| {
        let before = changes.iter().take_while(|(span, _)| span.start < at);
        before.fold(i64::from(at), |at, (span, new)| {
            at + i64::from(new.len() as u32) - i64::from(span.end - span.start)
        })
    };
    same_symbols
        && before.occurrences.len() == after.occurrences.len()
        && before.occurrences.iter().zip(&after.occurrences).all(|(old, now)| {
            old.symbol == now.symbol && moved(old.span.start) == i64::from(now.span.start)
        })
}

/// The codes of the mistakes in a text.
fn mistakes(text: &Text) -> Vec<&'static str> {
    let reading = Reading { dialect: None, starts_per_site: Some(crate::file::STARTS) };
    let texts = Texts::from(text.clone());
    let (_, said) = load(&texts, reading);
    let errors = said.into_iter().flat_map(|(_, complaints)| complaints);
    errors.filter(Diagnostic::is_error).map(|error| error.code).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(name: &str, text: &str, at: &str, new: &str) -> Result<String, String> {
        let offset = text.find(at).expect("the text is there") as u32;
        let text = Text::new(name, text);
        rename(&text, offset, new).map(|changes| replaced(&text.text, &changes))
    }

    const EML: &str = "lock : l, m;\nbool : b, c;\nprocess P {\n    f(bool : a) { b = a; label e: skip; }\n    \
                       main { synchronized(l) { f(c); } acquire(m); release(m); }\n}\n";

    #[test]
    fn names_get_new_ones() {
        let renamed = to("a.eml", EML, "l,", "mutual").expect("a free name");
        assert_eq!(renamed, EML.replace("l,", "mutual,").replace("(l)", "(mutual)"));
        let renamed = to("a.eml", EML, "a; label", "b1").expect("a free name");
        assert_eq!(renamed, EML.replace(": a)", ": b1)").replace("= a;", "= b1;"));
        assert_eq!(to("a.eml", EML, "l,", "l").as_deref(), Ok(EML));
    }

    #[test]
    fn names_that_would_mean_something_else_are_refused() {
        let refused = |at: &str, new: &str| to("a.eml", EML, at, new).expect_err("refused");
        assert_eq!(refused("l,", "lock"), "`lock` is not a name, or it is a reserved word");
        assert_eq!(refused("l,", "1l"), "`1l` is not a name, or it is a reserved word");
        assert_eq!(refused("l,", "m"), "there is a lock `m` already");
        assert_eq!(refused("c;", "l"), "there is a lock `l` already");
        // The parameter would hide the variable that is assigned.
        assert_eq!(refused("a; label", "b"), "there is a shared variable `b` already");
        assert_eq!(refused("b, c", "a"), "there is a parameter `a` already");
        assert_eq!(refused("e:", "ERROR"), "a label `ERROR` means something by its name");
        assert_eq!(refused("main", "run"), "the function `main` is what it is because of its name");
        assert_eq!(refused("f(bool", "main"), "a function `main` means something by its name");
        assert_eq!(refused("skip", "x"), "there is no name here that the text declares");
    }

    #[test]
    fn boolean_programs_and_the_text_form_have_names_too() {
        let bp = "decl x;\nvoid main() begin x := T; L: goto L; end\n";
        let renamed = to("a.bp", bp, "L:", "{again}").expect("a free name");
        assert_eq!(renamed, bp.replace('L', "{again}"));
        assert!(to("a.bp", bp, "L:", "ERROR").is_err() && to("a.bp", bp, "x", "T").is_err());
        let slv = "program\nlock l\nthread A main m {\n  procedure m nodes 3 entry 0 exit 2 {\n    \
                   0 -> 1 acquire l\n    1 -> 2 release l\n  }\n}\n";
        let renamed = to("a.slv", slv, "l\nthread", "my lock").expect("a free name");
        let expected =
            slv.replace("lock l", "lock \"my lock\"").replace("acquire l", "acquire \"my lock\"");
        assert_eq!(renamed, expected.replace("release l", "release \"my lock\""));
        assert!(to("a.slv", slv, "m {", "").is_err());
    }
}
