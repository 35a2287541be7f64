//! # Idea
//! What a renderer has to know about the screen, given as an argument: how wide it is and whether
//! it understands colours. Whoever prints finds out; the renderers only obey.

use anstyle::{AnsiColor, Effects, Style};
use std::fmt::Display;

/// The screen that a text is made for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Terminal {
    /// How many characters fit into a line.
    pub width: usize,
    /// Whether to use colours.
    pub color: bool,
}

/// The meanings that have a colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tone {
    /// A violation.
    Bad,
    /// A proof.
    Good,
    /// An open question.
    Open,
    /// An access of the pattern.
    Marked,
    /// A heading.
    Heading,
    /// Something that matters less than the rest.
    Faint,
}

impl Terminal {
    /// A screen of this width without colours.
    pub const fn plain(width: usize) -> Self {
        Self { width, color: false }
    }

    /// `text` in the colour of `tone`, or as it is on a screen without colours.
    pub(crate) fn paint(self, tone: Tone, text: impl Display) -> String {
        if !self.color {
            return text.to_string();
        }
        let style = match tone {
            Tone::Bad => AnsiColor::Red.on_default().effects(Effects::BOLD),
            Tone::Good => AnsiColor::Green.on_default().effects(Effects::BOLD),
            Tone::Open => AnsiColor::Yellow.on_default().effects(Effects::BOLD),
            Tone::Marked => AnsiColor::Cyan.on_default().effects(Effects::BOLD),
            Tone::Heading => Style::new().effects(Effects::BOLD),
            Tone::Faint => Style::new().effects(Effects::DIMMED),
        };
        format!("{style}{text}{style:#}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_only_when_asked() {
        assert_eq!(Terminal::plain(80).paint(Tone::Bad, "x"), "x");
        let painted = Terminal { width: 80, color: true }.paint(Tone::Bad, "x");
        assert!(painted.starts_with('\u{1b}') && painted.ends_with('m'), "{painted:?}");
    }
}
