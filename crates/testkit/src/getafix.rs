//! # Idea
//! Whether GETAFIX can read a text: a recogniser of its grammar that shares nothing with our reader,
//! which reads more than that grammar has.
//!
//! ```
//! use selvedge_testkit::getafix::recognise;
//! assert!(recognise("decl a; void main() begin a := schoose[F, F]; end").is_ok());
//! assert!(recognise("decl a; void main() begin a := *; end").is_err());
//! ```
//!
//! # Source
//! GETAFIX's `bp.y` and `bplex.l`.

/// Reads a text by the grammar.
///
/// # Errors
/// What was expected, and what was found.
pub fn recognise(text: &str) -> Result<(), String> {
    let mut reader = Reader { words: words(text)?, at: 0 };
    reader.declarations()?;
    while reader.at < reader.words.len() {
        reader.function()?;
    }
    Ok(())
}

const KEYWORDS: [&str; 25] = [
    "return",
    "goto",
    "skip",
    "do",
    "od",
    "else",
    "elsif",
    "if",
    "then",
    "fi",
    "decl",
    "while",
    "begin",
    "end",
    "bool",
    "void",
    "assert",
    "assume",
    "print",
    "enforce",
    "constrain",
    "schoose",
    "atomic_begin",
    "atomic_end",
    "_",
];

/// The tokens of a text.
fn words(text: &str) -> Result<Vec<&str>, String> {
    let mut words = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return Ok(words) };
        if rest.starts_with("//") {
            let Some((comment, behind)) = rest.split_once('\n') else { return Ok(words) };
            if comment.len() == 2 {
                return Err("an empty comment".to_owned());
            }
            rest = behind;
            continue;
        }
        let long = [":=", "!=", "=>", "&&", "||"].iter().any(|sign| rest.starts_with(sign));
        let length = if first.is_ascii_alphanumeric() || first == '_' {
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            rest.find(|c| !word(c)).unwrap_or(rest.len())
        } else if long {
            2
        } else if "=;',:()[]&!~^|<>*?".contains(first) {
            1
        } else {
            return Err(format!("the character {first:?}"));
        };
        words.push(&rest[..length]);
        rest = &rest[length..];
    }
}

struct Reader<'a> {
    words: Vec<&'a str>,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> &'a str {
        self.words.get(self.at).copied().unwrap_or("the end")
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.words.get(self.at) == Some(&word);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, word: &str) -> Result<(), String> {
        if self.take(word) { Ok(()) } else { self.wrong(word) }
    }

    fn wrong<T>(&self, expected: &str) -> Result<T, String> {
        let from = self.at.saturating_sub(8);
        let around = self.words[from..self.words.len().min(self.at + 4)].join(" ");
        Err(format!("expected {expected}, found {} in: {around}", self.peek()))
    }

    fn is_name(&self) -> bool {
        let word = self.peek();
        self.at < self.words.len()
            && word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && !KEYWORDS.contains(&word)
    }

    fn name(&mut self) -> Result<(), String> {
        if !self.is_name() {
            return self.wrong("a name");
        }
        self.at += 1;
        Ok(())
    }

    fn names(&mut self) -> Result<(), String> {
        self.name()?;
        while self.take(",") {
            self.name()?;
        }
        Ok(())
    }

    fn declarations(&mut self) -> Result<(), String> {
        while self.take("decl") {
            self.names()?;
            self.expect(";")?;
        }
        Ok(())
    }

    fn function(&mut self) -> Result<(), String> {
        if self.take("bool") {
            if self.take("<") {
                self.at += 1;
                self.expect(">")?;
            }
        } else {
            self.expect("void")?;
        }
        self.name()?;
        self.expect("(")?;
        if !self.take(")") {
            self.names()?;
            self.expect(")")?;
        }
        self.expect("begin")?;
        self.declarations()?;
        if self.take("enforce") {
            self.expression()?;
            self.expect(";")?;
        }
        self.statements(&["end"])?;
        self.expect("end")
    }

    /// At least one statement, up to one of these words.
    fn statements(&mut self, ends: &[&str]) -> Result<(), String> {
        loop {
            self.statement()?;
            if ends.contains(&self.peek()) {
                return Ok(());
            }
        }
    }

    fn statement(&mut self) -> Result<(), String> {
        if self.is_name() && self.words.get(self.at + 1) == Some(&":") {
            self.at += 2;
        }
        if self.take("if") {
            self.decider("then")?;
            self.statements(&["fi", "else", "elsif"])?;
            while self.take("elsif") {
                self.decider("then")?;
                self.statements(&["fi", "else", "elsif"])?;
            }
            if self.take("else") {
                self.statements(&["fi"])?;
            }
            return self.expect("fi");
        }
        if self.take("while") {
            self.decider("do")?;
            self.statements(&["od"])?;
            return self.expect("od");
        }
        if ["assert", "assume", "constrain"].iter().any(|word| self.take(word)) {
            return self.decider(";");
        }
        if self.take("skip") || self.take("atomic_begin") || self.take("atomic_end") {
            return self.expect(";");
        }
        if self.take("goto") {
            self.name()?;
            return self.expect(";");
        }
        if self.take("return") {
            if self.peek() != ";" {
                self.values()?;
            }
            return self.expect(";");
        }
        if self.is_name() && self.words.get(self.at + 1) == Some(&"(") {
            self.call()?;
            return self.expect(";");
        }
        self.names()?;
        self.expect(":=")?;
        if self.is_name() && self.words.get(self.at + 1) == Some(&"(") {
            self.call()?;
        } else {
            self.values()?;
        }
        self.expect(";")
    }

    fn call(&mut self) -> Result<(), String> {
        self.name()?;
        self.expect("(")?;
        if self.take(")") {
            return Ok(());
        }
        self.values()?;
        self.expect(")")
    }

    /// `( condition ) word`.
    fn decider(&mut self, word: &str) -> Result<(), String> {
        self.expect("(")?;
        if !self.take("*") && !self.take("?") {
            self.expression()?;
        }
        self.expect(")")?;
        self.expect(word)
    }

    fn values(&mut self) -> Result<(), String> {
        loop {
            if self.take("schoose") {
                self.expect("[")?;
                self.expression()?;
                self.expect(",")?;
                self.expression()?;
                self.expect("]")?;
            } else {
                self.expression()?;
            }
            if !self.take(",") {
                return Ok(());
            }
        }
    }

    /// An expression; how tight its operators bind does not matter for what can be read.
    fn expression(&mut self) -> Result<(), String> {
        loop {
            let _ = self.take("!") || self.take("~");
            if self.take("(") {
                self.expression()?;
                self.expect(")")?;
            } else if !(self.take("0") || self.take("1")) {
                self.name()?;
            }
            let operators = ["=", "!=", "&", "&&", "^", "|", "||", "=>"];
            if !operators.iter().any(|operator| self.take(operator)) {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::recognise;

    #[test]
    fn what_the_grammar_has_and_lacks() {
        let body = |statements: &str| {
            recognise(&format!("decl a, b; void main() begin decl x; {statements} end"))
        };
        for right in [
            "skip;",
            "L: a, b := schoose[F, a], !b = a;",
            "if (*) then goto L; fi L: x := f(a); f();",
            "while (a => b) do skip; od",
            "assume(!(!a)); assert(a); constrain(?);",
        ] {
            assert_eq!(body(right), Ok(()), "{right}");
        }
        for wrong in [
            "",
            "skip",
            "goto L, M;",
            "if * then skip; fi",
            "if (*) then skip; fi;",
            "if (*) then fi",
            "a := T constrain b;",
            "a := *;",
            "a := a & *;",
            "L: M: skip;",
            "assume(!!a);",
            "end_thread;",
            "start_thread f();",
            "_ := f();",
            "skip; decl y; skip;",
            "a.b := T;",
        ] {
            assert!(body(wrong).is_err(), "{wrong}");
        }
    }
}
