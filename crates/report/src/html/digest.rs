//! # Idea
//! The page allows its own scripts by their SHA-256 and no other ones, so that a mistake in the
//! escaping could show nonsense but not run it.
//!
//! # Source
//! Base64 after RFC 4648 §4.

use sha2::{Digest, Sha256};

/// The digest of `text` in base64, as a content security policy wants it.
pub fn sha256_base64(text: &str) -> String {
    base64(&Sha256::digest(text))
}

/// Bytes in base64.
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits =
            (0..3).fold(0, |bits, at| bits << 8 | usize::from(group.get(at).copied().unwrap_or(0)));
        for digit in 0..4 {
            let shown = digit <= group.len();
            out.push(if shown { char::from(DIGITS[bits >> (18 - 6 * digit) & 63]) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An example that NIST publishes with the standard, in base64.
    #[test]
    fn known_digest() {
        assert_eq!(sha256_base64("abc"), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
    }

    /// RFC 4648 §10.
    #[test]
    fn known_base64() {
        for (plain, coded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }
}
