//! # Idea
//! A file name as a URI reference: relative names stay relative, absolute ones get the scheme
//! `file`, and every character that is not allowed is percent-encoded.
//!
//! # Source
//! RFC 3986, §2.3 (unreserved characters), §4.2 (a colon must not stand in the first segment of a
//! relative reference); RFC 8089 for `file`.

use std::fmt::Write as _;

/// The URI reference of a file name as it was given on the command line.
pub fn uri_reference(file: &str) -> String {
    let name = file.replace('\\', "/");
    let bytes = name.as_bytes();
    let drive = bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && &bytes[1..3] == b":/";
    if drive {
        return format!("file:///{}:{}", &name[..1], encoded(&name[2..]));
    }
    if let Some(rest) = name.strip_prefix("//") {
        return format!("file://{}", encoded(rest.trim_start_matches('/')));
    }
    if name.starts_with('/') {
        return format!("file://{}", encoded(&name));
    }
    let mut relative = name.as_str();
    while let Some(rest) = relative.strip_prefix("./") {
        relative = rest.trim_start_matches('/');
    }
    encoded(relative)
}

fn encoded(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_references() {
        assert_eq!(uri_reference("examples/stack.eml"), "examples/stack.eml");
        assert_eq!(uri_reference("././a b.eml"), "a%20b.eml");
        assert_eq!(uri_reference("../a.eml"), "../a.eml");
        assert_eq!(uri_reference("c:d?e#f%g.eml"), "c%3Ad%3Fe%23f%25g.eml");
        assert_eq!(uri_reference("größe.eml"), "gr%C3%B6%C3%9Fe.eml");
        assert_eq!(uri_reference("a\\b.eml"), "a/b.eml");
        assert_eq!(uri_reference("/tmp/a\n.eml"), "file:///tmp/a%0A.eml");
        assert_eq!(uri_reference("C:\\x\\y.eml"), "file:///C:/x/y.eml");
        assert_eq!(uri_reference("\\\\host\\share\\y.eml"), "file://host/share/y.eml");
    }
}
