//! Addresses of this machine for processes that talk to each other. They are below the range from which
//! the system takes ports by itself, so nobody else comes upon one between its choice and its use.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

/// The ports from which is chosen.
const PORTS: std::ops::Range<u32> = 10_240..32_768;

static CHOSEN: AtomicU32 = AtomicU32::new(0);

/// So many addresses that are free, each given once by this process.
///
/// # Panics
/// If there are none.
pub fn free_addresses(many: usize) -> Vec<String> {
    // Processes begin at different places.
    let first = std::process::id().wrapping_mul(97);
    let address = |chosen: u32| {
        let port = PORTS.start + first.wrapping_add(chosen) % (PORTS.end - PORTS.start);
        format!("127.0.0.1:{port}")
    };
    let next = || CHOSEN.fetch_add(1, Ordering::Relaxed);
    let tried = std::iter::from_fn(|| Some(address(next()))).take(PORTS.len());
    let free: Vec<String> = tried.filter(|one| TcpListener::bind(one).is_ok()).take(many).collect();
    assert_eq!(free.len(), many, "no port is free");
    free
}
