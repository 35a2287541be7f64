//! # Idea
//! The only way to put text into a page. Elements nest by closures, so what is opened is closed;
//! text and attributes are escaped here and nowhere else, so nothing can be forgotten.
//!
//! # Invariants
//! 1. Tags and names of attributes are literals of this crate; everything else is escaped, and
//!    control characters become visible ([`visible`]).
//! 2. [`Html::asset`] takes literals too.

use crate::escape::visible;
use std::fmt::{Display, Write as _};

/// A piece of HTML under construction.
#[derive(Default)]
pub struct Html {
    out: String,
}

/// Names of attributes with their values, not escaped.
pub type Attributes<'a> = [(&'static str, &'a str)];

impl Html {
    /// An element with content.
    pub fn element(
        &mut self,
        tag: &'static str,
        attributes: &Attributes<'_>,
        content: impl FnOnce(&mut Self),
    ) {
        self.open(tag, attributes);
        content(self);
        self.out.push_str("</");
        self.out.push_str(tag);
        self.out.push('>');
    }

    /// An element that contains only text.
    pub fn leaf(&mut self, tag: &'static str, attributes: &Attributes<'_>, text: impl Display) {
        self.element(tag, attributes, |html| html.text(text));
    }

    /// An element that has no content and no end tag, such as `input`.
    pub fn void(&mut self, tag: &'static str, attributes: &Attributes<'_>) {
        self.open(tag, attributes);
    }

    /// Text.
    pub fn text(&mut self, text: impl Display) {
        escape(&text.to_string(), &mut self.out);
    }

    /// Text in which what stands between backticks is code, as in the sentences of findings.
    pub fn sentence(&mut self, text: &str) {
        for (position, part) in text.split('`').enumerate() {
            if position % 2 == 1 {
                self.leaf("code", &[], part);
            } else {
                self.text(part);
            }
        }
    }

    /// A line break in the file, so that differences between reports are readable.
    pub fn line_break(&mut self) {
        self.out.push('\n');
    }

    /// The content of a script or style element, or markup, as it is.
    pub fn asset(&mut self, parts: &[&'static str]) {
        for part in parts {
            self.out.push_str(part);
        }
    }

    /// JSON as the content of a script element: valid JSON still, without the characters that end
    /// such an element, open a comment in it, or end a line of a script.
    pub fn json(&mut self, json: &str) {
        for c in json.chars() {
            match c {
                '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                    let _ = write!(self.out, "\\u{:04x}", c as u32);
                }
                _ => self.out.push(c),
            }
        }
    }

    /// The text so far.
    pub fn finish(self) -> String {
        self.out
    }

    fn open(&mut self, tag: &'static str, attributes: &Attributes<'_>) {
        self.out.push('<');
        self.out.push_str(tag);
        // An element that has no class says nothing about it.
        for (name, value) in attributes.iter().filter(|&&attribute| attribute != ("class", "")) {
            self.out.push(' ');
            self.out.push_str(name);
            self.out.push_str("=\"");
            escape(value, &mut self.out);
            self.out.push('"');
        }
        self.out.push('>');
    }
}

fn escape(text: &str, out: &mut String) {
    for c in visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_attributes_are_escaped() {
        let mut html = Html::default();
        html.element("p", &[("title", "a\"><script>\u{1b}")], |html| {
            html.text("<b>&'\u{202e}");
            html.sentence("x `<i>` y");
        });
        assert_eq!(
            html.finish(),
            "<p title=\"a&quot;&gt;&lt;script&gt;␛\">&lt;b&gt;&amp;&#39;\u{fffd}x <code>&lt;i&gt;</code> y</p>"
        );
    }

    #[test]
    fn json_stays_inside_its_element() {
        let hostile = "</script><!--<script>\u{2028}&";
        let json = serde_json::to_string(hostile).expect("a string");
        let mut html = Html::default();
        html.json(&json);
        let shown = html.finish();
        assert!(!shown.contains(['<', '>', '&', '\u{2028}']), "{shown}");
        assert_eq!(serde_json::from_str::<String>(&shown).expect("JSON"), hostile);
    }
}
