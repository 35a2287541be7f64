//! # Idea
//! How processes know of each other while they search: over a connection of its own each says every now
//! and then that it is there, how many turns it has made, and whether it is busy. A connection that ends
//! without a farewell, or says nothing for a while, is a process that was lost. If nobody is busy and
//! nobody makes a turn for a while, something is lost, too.
//!
//! # Invariants
//! 1. Whoever is lost is noted once, and stays lost.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often a process says that it is there.
const BEAT: Duration = Duration::from_millis(500);

/// The words of a beat: what kind, how many turns, how many are busy.
const WORDS: usize = 3;

const HERE: u64 = 1;
const FAREWELL: u64 = 2;

/// What a process does, as it says to others.
#[derive(Debug, Default)]
pub struct Pulse {
    /// How many turns its partitions have made.
    pub turns: AtomicU64,
    /// How many of them are busy.
    pub busy: AtomicU64,
    /// How many levels are complete.
    pub level: AtomicU64,
}

/// What is known of another process.
#[derive(Clone, Copy, Debug)]
struct Known {
    heard: Instant,
    turns: u64,
    busy: bool,
    gone: bool,
}

/// What has happened to the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mishap {
    /// This one was lost.
    Lost(usize),
    /// Nobody has done anything for a while.
    Stalled,
}

/// The connections over which processes know of each other.
#[derive(Debug)]
pub struct Company {
    pulse: Arc<Pulse>,
    known: Arc<Mutex<Vec<Option<Known>>>>,
    streams: Vec<TcpStream>,
    lost: Arc<Mutex<Option<usize>>>,
    patience: Duration,
    /// Ends the thread that sends beats when it is dropped.
    beats: Option<Sender<()>>,
    progress: Mutex<(u64, Instant)>,
    parted: AtomicBool,
}

fn beat(kind: u64, pulse: &Pulse) -> [u8; 8 * WORDS] {
    let (turns, busy) = (pulse.turns.load(Ordering::Relaxed), pulse.busy.load(Ordering::Relaxed));
    let mut bytes = [0; 8 * WORDS];
    for (at, word) in [kind, turns, busy].into_iter().enumerate() {
        bytes[8 * at..8 * (at + 1)].copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

impl Company {
    /// Keeps company with others, each with its number. Who says nothing for `patience` is lost.
    ///
    /// # Errors
    /// If a connection is of no use.
    pub fn new(others: Vec<(usize, TcpStream)>, patience: Duration) -> io::Result<Self> {
        let pulse = Arc::<Pulse>::default();
        let many = others.iter().map(|one| one.0 + 1).max().unwrap_or(0);
        let now = Instant::now();
        let mut known = vec![None; many];
        for (process, _) in &others {
            known[*process] = Some(Known { heard: now, turns: 0, busy: false, gone: false });
        }
        let (known, lost) = (Arc::new(Mutex::new(known)), Arc::<Mutex<Option<usize>>>::default());
        let mut streams = Vec::new();
        let mut writers = Vec::new();
        for (process, stream) in others {
            stream.set_nodelay(true)?;
            writers.push(stream.try_clone()?);
            let reader = stream.try_clone()?;
            let (known, lost) = (Arc::clone(&known), Arc::clone(&lost));
            std::thread::Builder::new()
                .name(format!("company-{process}"))
                .spawn(move || listen(process, reader, &known, &lost))?;
            streams.push(stream);
        }
        let (beats, ended) = channel::<()>();
        let own = Arc::clone(&pulse);
        std::thread::Builder::new().name("company".to_owned()).spawn(move || {
            while ended.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
                for writer in &mut writers {
                    // Whoever does not take it is noticed by the one who listens.
                    let _ = writer.write_all(&beat(HERE, &own));
                }
            }
        })?;
        Ok(Self {
            pulse,
            known,
            streams,
            lost,
            patience,
            beats: Some(beats),
            progress: Mutex::new((0, now)),
            parted: AtomicBool::new(false),
        })
    }

    /// What this process does.
    pub fn pulse(&self) -> &Arc<Pulse> {
        &self.pulse
    }

    /// What has happened to the others, if anything has.
    pub fn mishap(&self) -> Option<Mishap> {
        let own = |mutex: &Mutex<Option<usize>>| *lock(mutex);
        if let Some(process) = own(&self.lost) {
            return Some(Mishap::Lost(process));
        }
        let known = lock(&self.known);
        let now = Instant::now();
        let mut turns = self.pulse.turns.load(Ordering::Relaxed);
        let mut busy = self.pulse.busy.load(Ordering::Relaxed) > 0;
        for (process, one) in known.iter().enumerate() {
            let Some(one) = one else { continue };
            turns += one.turns;
            busy |= one.busy;
            if !one.gone && now.duration_since(one.heard) > self.patience {
                *lock(&self.lost) = Some(process);
                return Some(Mishap::Lost(process));
            }
        }
        drop(known);
        let mut progress = lock(&self.progress);
        if turns != progress.0 || busy {
            *progress = (turns, now);
        }
        (now.duration_since(progress.1) > self.patience).then_some(Mishap::Stalled)
    }

    /// Says farewell: this process has what it needs.
    pub fn part(&self) {
        if self.parted.swap(true, Ordering::Relaxed) {
            return;
        }
        for stream in &self.streams {
            let mut stream = stream;
            // Whoever does not take it has gone already.
            let _ = stream.write_all(&beat(FAREWELL, &self.pulse));
        }
    }
}

impl Drop for Company {
    fn drop(&mut self) {
        self.beats = None;
        self.part();
        for stream in &self.streams {
            let _ = stream.shutdown(Shutdown::Write);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hears what another process says, until it says farewell or is lost.
fn listen(
    process: usize,
    mut stream: TcpStream,
    known: &Mutex<Vec<Option<Known>>>,
    lost: &Mutex<Option<usize>>,
) {
    let mut bytes = [0; 8 * WORDS];
    loop {
        let heard = stream.read_exact(&mut bytes);
        let word = |at: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[8 * at..8 * (at + 1)]);
            u64::from_le_bytes(word)
        };
        let kind = if heard.is_ok() { word(0) } else { 0 };
        if kind != HERE && kind != FAREWELL {
            lock(lost).get_or_insert(process);
            return;
        }
        let now = Instant::now();
        let (turns, busy, gone) = (word(1), word(2) > 0, kind == FAREWELL);
        if let Some(one) = lock(known).get_mut(process) {
            *one = Some(Known { heard: now, turns, busy, gone });
        }
        if gone {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let client = TcpStream::connect(address).expect("it connects");
        (client, listener.accept().expect("somebody").0)
    }

    fn until(company: &Company, wanted: Option<Mishap>) -> bool {
        (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(20));
            company.mishap() == wanted
        })
    }

    #[test]
    fn who_goes_without_a_word_is_lost_and_who_says_farewell_is_not() {
        let patience = Duration::from_secs(9);
        let (here, there) = pair();
        let company = Company::new(vec![(3, here)], patience).expect("company");
        assert_eq!(company.mishap(), None);
        drop(there);
        assert!(until(&company, Some(Mishap::Lost(3))));
        let (here, there) = pair();
        let company = Company::new(vec![(1, here)], patience).expect("company");
        let other = Company::new(vec![(0, there)], patience).expect("company");
        drop(other);
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(company.mishap(), None);
    }

    #[test]
    fn who_is_silent_is_lost() {
        let (here, _there) = pair();
        let company = Company::new(vec![(1, here)], Duration::from_millis(100)).expect("company");
        assert_eq!(company.mishap(), None);
        assert!(until(&company, Some(Mishap::Lost(1))));
    }

    #[test]
    fn where_nobody_does_anything_something_is_lost() {
        let (here, there) = pair();
        let one = Company::new(vec![(1, here)], Duration::from_secs(1)).expect("company");
        let other = Company::new(vec![(0, there)], Duration::from_secs(9)).expect("company");
        other.pulse().busy.store(1, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(1500));
        assert_eq!(one.mishap(), None, "the other one is busy");
        other.pulse().busy.store(0, Ordering::Relaxed);
        assert!(until(&one, Some(Mishap::Stalled)));
    }
}
