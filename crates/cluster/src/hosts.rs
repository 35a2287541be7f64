//! # Idea
//! The file that lists the processes: one `host:port` on each line, in the order of their numbers. Empty
//! lines and what follows `#` do not count.

use std::fmt;

/// What is wrong with a list of hosts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HostsError {
    /// There is none.
    Empty,
    /// This line has no port, or something else that does not belong there.
    Line(usize, String),
    /// Two lines have this address.
    Twice(String),
    /// There are more than so many.
    TooMany(usize),
}

impl fmt::Display for HostsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it lists no process; one `host:port` stands on each line"),
            Self::Line(line, text) => {
                write!(f, "line {line} is no `host:port`: {text}")
            }
            Self::Twice(address) => write!(f, "{address} is listed twice"),
            Self::TooMany(most) => write!(f, "it lists more than {most} processes"),
        }
    }
}

impl std::error::Error for HostsError {}

/// How many processes there may be.
pub const MOST_PROCESSES: usize = 64;

/// The addresses that a text lists.
///
/// # Errors
/// If a line has none, or an address stands there twice.
pub fn parse_hosts(text: &str) -> Result<Vec<String>, HostsError> {
    let mut all: Vec<String> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let wrong = || HostsError::Line(number + 1, line.to_owned());
        let (host, port) = line.rsplit_once(':').ok_or_else(wrong)?;
        if host.is_empty() || line.contains(char::is_whitespace) || port.parse::<u16>().is_err() {
            return Err(wrong());
        }
        if all.iter().any(|known| known == line) {
            return Err(HostsError::Twice(line.to_owned()));
        }
        all.push(line.to_owned());
    }
    match all.len() {
        0 => Err(HostsError::Empty),
        many if many > MOST_PROCESSES => Err(HostsError::TooMany(MOST_PROCESSES)),
        _ => Ok(all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_addresses() {
        let text = "# the left one\nleft:2101\n\n  right:2101  # with a remark\n[::1]:7\n";
        assert_eq!(
            parse_hosts(text),
            Ok(vec!["left:2101".into(), "right:2101".into(), "[::1]:7".into()])
        );
    }

    #[test]
    fn what_is_none_is_refused_with_its_line() {
        assert_eq!(parse_hosts("# nobody\n"), Err(HostsError::Empty));
        for wrong in ["left", ":2101", "left:port", "left:70000", "left right:2101"] {
            let text = format!("one:1\n{wrong}\n");
            assert_eq!(parse_hosts(&text), Err(HostsError::Line(2, wrong.to_owned())), "{wrong}");
        }
        assert_eq!(parse_hosts("a:1\na:1\n"), Err(HostsError::Twice("a:1".into())));
        let many: Vec<String> = (0..65).map(|port| format!("a:{port}")).collect();
        assert_eq!(parse_hosts(&many.join("\n")), Err(HostsError::TooMany(64)));
    }
}
