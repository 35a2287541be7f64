//! # Idea
//! What the rules of the findings mean, once for the page: the kind of each finding is a link to its rule.

use super::summary::Totals;
use super::words::{kind_class, kind_name};
use super::writer::Html;
use crate::sarif::rule_words;

/// Writes the rules of the kinds that were found.
pub fn rules(html: &mut Html, totals: &Totals) {
    let found = totals.kinds.iter().filter(|(_, number)| *number > 0);
    let kinds: Vec<_> = found.map(|(kind, _)| *kind).collect();
    if kinds.is_empty() {
        return;
    }
    html.leaf("h3", &[], "What the rules mean");
    html.element("div", &[("class", "rules")], |html| {
        for kind in kinds {
            let id = format!("rule-{}", kind_class(kind));
            let words = rule_words(kind);
            let attributes = [("id", &*id), ("class", "rule"), ("tabindex", "-1")];
            html.element("section", &attributes, |html| {
                html.element("h4", &[], |html| {
                    html.text(kind_name(kind));
                    html.text(" ");
                    html.leaf("code", &[("class", "quiet")], kind.rule());
                });
                html.leaf("p", &[], words.full);
                html.element("p", &[], |html| {
                    html.leaf("strong", &[], "How to fix it");
                    html.text(" ");
                    html.text(words.advice);
                });
                html.element("p", &[("class", "quiet")], |html| {
                    html.text("In the terminal: ");
                    html.leaf("code", &[], format!("selvedge explain {}", kind.rule()));
                });
            });
        }
    });
}
