//! # Idea
//! Which of the two dialects a program is written in, and why.
//!
//! # Source
//! The grammar notes: in Boppo's dialect `main` runs and statements start threads; in GETAFIX's
//! the first function, `init`, runs, and then every other `void` function is a thread. A statement
//! that ends a thread starts none, so it tells less than a first function `init`.

use crate::ast::File;
use std::fmt;

/// A dialect of Boolean programs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Dialect {
    /// `main` runs; threads are started by `start_thread` or at labels `ASYNC_n`.
    Boppo,
    /// `init` runs, then every other `void` function is a thread.
    Getafix,
}

impl Dialect {
    /// All dialects.
    pub const ALL: [Self; 2] = [Self::Boppo, Self::Getafix];

    /// The word on the command line and in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Boppo => "boppo",
            Self::Getafix => "getafix",
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The dialect of a text and the reason, as half a sentence.
pub fn detect(file: &File<'_>) -> (Dialect, String) {
    let seen = |(what, place)| format!("{what} stands at {place}");
    if let Some(starts) = file.traits.starts {
        return (Dialect::Boppo, seen(starts));
    }
    if file.functions.first().is_some_and(|function| function.name.text == "init") {
        return (Dialect::Getafix, "the first function is init".to_owned());
    }
    if file.functions.iter().any(|function| function.name.text == "main") {
        return (Dialect::Boppo, "there is a main and no init before it".to_owned());
    }
    if let Some(boppo) = file.traits.boppo {
        return (Dialect::Boppo, seen(boppo));
    }
    if let Some(getafix) = file.traits.getafix {
        return (Dialect::Getafix, seen(getafix));
    }
    (Dialect::Boppo, "nothing says otherwise".to_owned())
}
