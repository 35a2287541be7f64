//! # Idea
//! Bytes of a pipe to messages: a header that says how long the body is, and the body. What is damaged is
//! said and skipped where the next message can be found, and ends the reading where it cannot.
//!
//! # Source
//! Language Server Protocol 3.17, "Base Protocol".
//!
//! # Invariants
//! 1. At most [`LONGEST_BODY`] bytes are kept of one message, and at most [`LONGEST_HEADER`] of a header.

use lsp_server::{Message, RequestId};
use serde_json::Value;
use std::io::{self, BufRead, Read as _};

/// The longest body that is read; a longer one is skipped.
pub const LONGEST_BODY: u64 = 64 << 20;

/// The longest line of a header.
pub const LONGEST_HEADER: u64 = 4096;

/// What came over the pipe.
#[derive(Clone, Debug)]
pub enum Incoming {
    /// A message.
    Message(Message),
    /// Something whose end is known and that is no message, with what is wrong, and whose answer is
    /// expected if that is known.
    Damaged {
        /// The request, if one can be told.
        id: Option<RequestId>,
        /// Whether it is JSON at all.
        is_json: bool,
        /// What is wrong.
        why: String,
    },
    /// Something whose end is not known; nothing can be read behind it.
    Lost(String),
}

impl Incoming {
    /// What a body says.
    pub fn of_body(body: &[u8]) -> Self {
        let value: Value = match serde_json::from_slice(body) {
            Ok(value) => value,
            Err(error) => {
                let why = format!("this is no JSON: {error}");
                return Self::Damaged { id: None, is_json: false, why };
            }
        };
        let id = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
        if !value.is_object() {
            let why = "a message is an object".to_owned();
            return Self::Damaged { id, is_json: true, why };
        }
        // A request whose id is neither a number nor a text would be taken for a notification.
        let odd_id = value.get("id").is_some_and(|id| !id.is_null()) && id.is_none();
        let named = value.get("method").is_some_and(Value::is_string);
        let answers = value.get("result").is_some() || value.get("error").is_some();
        if odd_id || !(named || answers) {
            let why = "this is neither a request nor a notification nor a response".to_owned();
            return Self::Damaged { id, is_json: true, why };
        }
        match serde_json::from_value(value) {
            Ok(message) => Self::Message(message),
            Err(error) => Self::Damaged { id, is_json: true, why: error.to_string() },
        }
    }

    /// The next message; `None` where the bytes end.
    ///
    /// # Errors
    /// Those of the pipe.
    pub fn read(from: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut length: Option<Result<u64, String>> = None;
        let mut any = false;
        loop {
            let mut line = Vec::new();
            from.by_ref().take(LONGEST_HEADER).read_until(b'\n', &mut line)?;
            if line.is_empty() {
                let why = "the bytes end within a header".to_owned();
                return Ok(any.then_some(Self::Lost(why)));
            }
            any = true;
            if line.last() != Some(&b'\n') {
                return Ok(Some(Self::Lost("a line of a header does not end".to_owned())));
            }
            let line = String::from_utf8_lossy(&line);
            let line = line.trim();
            if line.is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.trim().eq_ignore_ascii_case("content-length")
            {
                let value = value.trim();
                let number = value.parse();
                length = Some(number.map_err(|_| format!("`{}` is no length", shortened(value))));
            }
        }
        let length = match length {
            Some(Ok(length)) => length,
            Some(Err(why)) => return Ok(Some(Self::Lost(why))),
            None => {
                let why = "a header does not say how long its message is".to_owned();
                return Ok(Some(Self::Lost(why)));
            }
        };
        if length > LONGEST_BODY {
            let skipped = io::copy(&mut from.by_ref().take(length), &mut io::sink())?;
            if skipped < length {
                return Ok(Some(Self::Lost("the bytes end within a message".to_owned())));
            }
            let why = format!("a message of {length} bytes is too long");
            return Ok(Some(Self::Damaged { id: None, is_json: false, why }));
        }
        let mut body = Vec::new();
        from.by_ref().take(length).read_to_end(&mut body)?;
        if (body.len() as u64) < length {
            return Ok(Some(Self::Lost("the bytes end within a message".to_owned())));
        }
        Ok(Some(Self::of_body(&body)))
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(bytes: &[u8]) -> Vec<String> {
        let mut from = bytes;
        let mut found = Vec::new();
        while let Some(frame) = Incoming::read(&mut from).expect("bytes do not fail") {
            let lost = matches!(frame, Incoming::Lost(_));
            found.push(match frame {
                Incoming::Message(Message::Request(request)) => {
                    format!("{} {}", request.id, request.method)
                }
                Incoming::Message(Message::Notification(one)) => one.method,
                Incoming::Message(Message::Response(response)) => format!("answer {}", response.id),
                Incoming::Damaged { id, is_json, why } => {
                    let id = id.map_or("-".to_owned(), |id| id.to_string());
                    format!("{id} {is_json} {}", why.split(" at ").next().unwrap_or_default())
                }
                Incoming::Lost(why) => why,
            });
            if lost {
                break;
            }
        }
        found
    }

    fn framed(body: &str) -> Vec<u8> {
        format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
    }

    #[test]
    fn messages_follow_each_other_also_behind_damaged_ones() {
        let bodies = [
            r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#,
            r#"{"method":"b","params":{}}"#,
            "{\"method\":",
            "[]",
            r#"{"id":7}"#,
            r#"{"id":{},"method":"c"}"#,
            r#"{"id":2,"method":3}"#,
            r#"{"id":3,"result":null}"#,
            "\u{FEFF}{}",
            "",
            r#"{"id":"x","method":"d"}"#,
        ];
        let bytes: Vec<u8> = bodies.iter().flat_map(|body| framed(body)).collect();
        let neither = "this is neither a request nor a notification nor a response";
        assert_eq!(
            shown(&bytes),
            [
                "1 a".to_owned(),
                "b".to_owned(),
                "- false this is no JSON: EOF while parsing a value".to_owned(),
                "- true a message is an object".to_owned(),
                format!("7 true {neither}"),
                format!("- true {neither}"),
                format!("2 true {neither}"),
                "answer 3".to_owned(),
                "- false this is no JSON: expected value".to_owned(),
                "- false this is no JSON: EOF while parsing a value".to_owned(),
                "\"x\" d".to_owned(),
            ]
        );
    }

    #[test]
    fn what_has_no_end_is_the_end() {
        let lost = |bytes: &str| shown(bytes.as_bytes()).pop().unwrap_or_default();
        assert_eq!(lost("hello\r\n\r\n{}"), "a header does not say how long its message is");
        assert_eq!(lost("Content-Length: -1\r\n\r\n{}"), "`-1` is no length");
        assert_eq!(lost("Content-Length: 9\r\n\r\n{}"), "the bytes end within a message");
        assert_eq!(lost("Content-Length: 9"), "a line of a header does not end");
        assert_eq!(lost("Content-Length: 9\r\n"), "the bytes end within a header");
        assert_eq!(lost(&"x".repeat(9000)), "a line of a header does not end");
        let huge = "Content-Length: 18446744073709551615\r\n\r\n{}";
        assert_eq!(lost(huge), "the bytes end within a message");
        assert_eq!(
            lost("Content-Length: 99999999999999999999\r\n\r\n"),
            "`99999999999999999999` is no length"
        );
        assert!(shown(b"").is_empty());
    }

    #[test]
    fn a_message_that_is_too_long_is_skipped() {
        let length = LONGEST_BODY + 1;
        let mut bytes = format!("content-length:{length}\n\n").into_bytes();
        bytes.resize(bytes.len() + length as usize, b' ');
        bytes.extend(framed(r#"{"method":"b"}"#));
        assert_eq!(
            shown(&bytes),
            [format!("- false a message of {length} bytes is too long"), "b".to_owned()]
        );
    }
}
