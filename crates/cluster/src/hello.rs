//! # Idea
//! What processes say to each other before anything else: who they are, and what they are about to
//! search, as lines of text in a frame of their own. Whoever says something else is a stray client: the
//! connection is closed, and nothing that came over it is read as anything else.
//!
//! # Invariants
//! 1. A frame begins with [`MAGIC`] and has at most [`LONGEST`] bytes; who sends more, or has not sent all of
//!    it after a while, however slowly it comes, is a stray client.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// What every frame begins with.
pub const MAGIC: [u8; 8] = *b"SELVHELO";

/// How many bytes a frame may have.
pub const LONGEST: u32 = 1 << 16;

/// How long to wait for a frame of somebody who has connected.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// Sends a text.
///
/// # Errors
/// If it cannot be sent.
pub fn send(stream: &mut TcpStream, text: &str) -> io::Result<()> {
    let length = u32::try_from(text.len()).ok().filter(|&length| length <= LONGEST);
    let length = length.ok_or(io::ErrorKind::InvalidInput)?;
    let mut frame = MAGIC.to_vec();
    frame.extend(length.to_le_bytes());
    frame.extend(text.as_bytes());
    stream.write_all(&frame)?;
    stream.flush()
}

/// Receives a text.
///
/// # Errors
/// If none comes in time, or something else.
pub fn receive(stream: &mut TcpStream, patience: Duration) -> io::Result<String> {
    let end = Instant::now() + patience;
    let mut head = [0; 12];
    read_until(stream, &mut head, end)?;
    let (magic, length) = head.split_at(8);
    let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]);
    if magic != MAGIC || length > LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut text = vec![0; length as usize];
    read_until(stream, &mut text, end)?;
    stream.set_read_timeout(None)?;
    String::from_utf8(text).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// Reads so many bytes before a point in time.
fn read_until(stream: &mut TcpStream, bytes: &mut [u8], end: Instant) -> io::Result<()> {
    let mut filled = 0;
    while filled < bytes.len() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut bytes[filled..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The value of a name in a text of lines `name = value`.
pub fn value<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|line| {
        let (own, value) = line.split_once(" = ")?;
        (own == name).then_some(value)
    })
}

/// How two texts of lines `name = value` differ; who says it and to what
/// end (`process`, `kind`) may.
pub fn difference(own: &str, other: &str) -> Option<String> {
    let lines = |text: &'_ str| -> Vec<(String, String)> {
        let lines = text.lines().filter_map(|line| line.split_once(" = "));
        let lines = lines.filter(|(name, _)| !["process", "kind"].contains(name));
        lines.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    };
    let (own, other) = (lines(own), lines(other));
    let mut differences = Vec::new();
    for (name, value) in &own {
        match other.iter().find(|(known, _)| known == name) {
            Some((_, there)) if there == value => {}
            Some((_, there)) => {
                differences.push(format!("{name} is {value} here and {there} there"));
            }
            None => differences.push(format!("{name} is {value} here and nothing there")),
        }
    }
    for (name, value) in &other {
        if own.iter().all(|(known, _)| known != name) {
            differences.push(format!("{name} is nothing here and {value} there"));
        }
    }
    (!differences.is_empty()).then(|| differences.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn differences_are_named() {
        let own = "process = 0\nversion = 1\nworkers = 2\n";
        assert_eq!(difference(own, "process = 1\nworkers = 2\nversion = 1\n"), None);
        assert_eq!(
            difference(own, "process = 1\nversion = 2\nmore = 1\n").as_deref(),
            Some(
                "version is 1 here and 2 there; workers is 2 here and nothing there; \
                 more is nothing here and 1 there"
            )
        );
        assert_eq!(value(own, "workers"), Some("2"));
    }

    #[test]
    fn who_says_something_else_is_not_read() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let long = [&MAGIC[..], &(LONGEST + 1).to_le_bytes()[..]].concat();
        let cases: [&[u8]; 4] = [b"GET / HTTP/1.1\r\n\r\n", &long, b"SELV", b""];
        for bytes in cases {
            let mut client = TcpStream::connect(address).expect("it connects");
            let (mut server, _) = listener.accept().expect("somebody");
            client.write_all(bytes).expect("it sends");
            let heard = receive(&mut server, Duration::from_millis(50));
            assert!(heard.is_err(), "{heard:?}");
        }
        // Nor who sends a byte every now and then.
        let mut client = TcpStream::connect(address).expect("it connects");
        let (mut server, _) = listener.accept().expect("somebody");
        let slow = std::thread::spawn(move || {
            for byte in MAGIC.iter().chain(&MAGIC) {
                std::thread::sleep(Duration::from_millis(20));
                if client.write_all(&[*byte]).is_err() {
                    return;
                }
            }
        });
        let begin = Instant::now();
        assert!(receive(&mut server, Duration::from_millis(60)).is_err());
        assert!(begin.elapsed() < Duration::from_millis(200));
        drop(server);
        slow.join().expect("it ends");
        let mut client = TcpStream::connect(address).expect("it connects");
        let (mut server, _) = listener.accept().expect("somebody");
        send(&mut client, "process = 1\n").expect("it sends");
        assert_eq!(receive(&mut server, PATIENCE).expect("it comes"), "process = 1\n");
    }
}
