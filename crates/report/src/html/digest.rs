//! # Idea
//! The page allows its own scripts by their SHA-256 and no other ones, so that a mistake in the
//! escaping could show nonsense but not run it. The scripts are known here, so this needs speed no
//! more than it needs a dependency.
//!
//! # Source
//! FIPS 180-4, *Secure Hash Standard* (2015), §4.1.2, §5.1.1 and §6.2. The constants are computed
//! from their definition: the first 32 bits of the fractional parts of the square and cube roots of
//! the first primes (§4.2.2, §5.3.3). Base64 after RFC 4648 §4.

/// The digest of `text` in base64, as a content security policy wants it.
pub fn sha256_base64(text: &str) -> String {
    base64(&sha256(text.as_bytes()))
}

fn sha256(message: &[u8]) -> [u8; 32] {
    let primes = first_primes();
    let constants = primes.map(|prime| root_fraction(prime, 3));
    let mut hash = [0; 8];
    for (word, prime) in hash.iter_mut().zip(primes) {
        *word = root_fraction(prime, 2);
    }
    for block in padded(message).chunks_exact(64) {
        compress(&mut hash, block, &constants);
    }
    let mut digest = [0; 32];
    for (bytes, word) in digest.chunks_exact_mut(4).zip(hash) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    digest
}

/// The message, a one bit, zeros, and the length in bits, to a multiple of 64 bytes (§5.1.1).
fn padded(message: &[u8]) -> Vec<u8> {
    let mut bytes = message.to_vec();
    bytes.push(0x80);
    while bytes.len() % 64 != 56 {
        bytes.push(0);
    }
    bytes.extend((message.len() as u64 * 8).to_be_bytes());
    bytes
}

/// One block (§6.2.2).
fn compress(hash: &mut [u32; 8], block: &[u8], constants: &[u32; 64]) {
    let mut schedule = [0u32; 64];
    for (word, bytes) in schedule.iter_mut().zip(block.chunks_exact(4)) {
        *word = bytes.iter().fold(0, |word, &byte| word << 8 | u32::from(byte));
    }
    for t in 16..64 {
        let (early, late) = (schedule[t - 15], schedule[t - 2]);
        let small0 = early.rotate_right(7) ^ early.rotate_right(18) ^ early >> 3;
        let small1 = late.rotate_right(17) ^ late.rotate_right(19) ^ late >> 10;
        schedule[t] = small1
            .wrapping_add(schedule[t - 7])
            .wrapping_add(small0)
            .wrapping_add(schedule[t - 16]);
    }
    let mut state = *hash;
    for (word, constant) in schedule.iter().zip(constants) {
        let [a, b, c, d, e, f, g, h] = state;
        let big1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = e & f ^ !e & g;
        let first =
            h.wrapping_add(big1).wrapping_add(choice).wrapping_add(*constant).wrapping_add(*word);
        let big0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let majority = a & b ^ a & c ^ b & c;
        state = [
            first.wrapping_add(big0.wrapping_add(majority)),
            a,
            b,
            c,
            d.wrapping_add(first),
            e,
            f,
            g,
        ];
    }
    for (word, value) in hash.iter_mut().zip(state) {
        *word = word.wrapping_add(value);
    }
}

fn first_primes() -> [u32; 64] {
    let mut primes = [0; 64];
    let mut found = 0;
    let mut candidate = 2;
    while found < primes.len() {
        if primes[..found].iter().all(|prime| candidate % prime != 0) {
            primes[found] = candidate;
            found += 1;
        }
        candidate += 1;
    }
    primes
}

/// The first 32 bits of the fractional part of the root of `number`: the low half of the largest
/// `r` with `r^degree ≤ number · 2^(32·degree)`.
fn root_fraction(number: u32, degree: u32) -> u32 {
    let target = u128::from(number) << (32 * degree);
    let mut root = 0u128;
    // The roots of the primes used are below 2^5, which leaves 37 bits to find.
    for bit in (0..37).rev() {
        let next = root | 1 << bit;
        if next.pow(degree) <= target {
            root = next;
        }
    }
    (root & u128::from(u32::MAX)) as u32
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
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
    use std::fmt::Write as _;

    fn hex(text: &str) -> String {
        let mut hex = String::new();
        for byte in sha256(text.as_bytes()) {
            let _ = write!(hex, "{byte:02x}");
        }
        hex
    }

    /// The examples that NIST publishes with the standard.
    #[test]
    fn known_digests() {
        assert_eq!(hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(
            hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        );
        assert_eq!(
            hex(&"a".repeat(1_000_000)),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        );
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
