//! # Idea
//! Several processes that search together. They join by saying to each other what they are about to do,
//! and go on only if all say the same. For every search they connect anew, with a number that only those
//! who have joined know, and give the connections to timely. A thread beside the search looks after
//! the others: if one is lost the search ends, since timely has no way to go on without it, and what was
//! kept of it can be gone on from.
//!
//! # Requires
//! A network that can be trusted: what is sent is neither encrypted nor signed.
//!
//! # Invariants
//! 1. A process listens at the address that the list gives it, and nowhere else.
//! 2. There is a verdict only if all processes have come to it in the same turn.
//! 3. Nothing is waited for without an end.

use crate::alive::{Company, Mishap};
use crate::{flow, hello};
use selvedge_base::Budget;
use selvedge_program::Unknown;
use selvedge_states::{Ensemble, PartitionPlace, SearchOutcome, SearchTask, ownership_probe};
use std::fmt;
use std::io;
use std::net::{TcpListener, TcpStream, ToSocketAddrs as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::{Duration, Instant};
use timely::WorkerConfig;
use timely::communication::allocator::ProcessBuilder;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::{AllocatorBuilder, Hooks};

/// How long to wait for others before they are lost.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// How often to look after the others.
const LOOK: Duration = Duration::from_millis(50);

/// How long to wait between two attempts to connect.
const AGAIN: Duration = Duration::from_millis(50);

/// How long to wait for workers to end when there is an answer.
const FAREWELL: Duration = Duration::from_secs(5);

/// What the names of the threads of timely begin with, and of the one that waits for them.
const THREADS: &str = "timely:";

/// How many workers there may be in all processes.
pub const MOST_WORKERS: usize = 64;

/// How a process joins others.
#[derive(Clone, Debug)]
pub struct JoinRequest {
    /// The addresses of all processes.
    pub addresses: Vec<String>,
    /// The number of this one.
    pub process: usize,
    /// How many workers each has.
    pub workers: usize,
    /// What all have to agree on: lines `name = value`.
    pub about: String,
    /// A number that tells runs apart; that of the first process counts.
    pub nonce: u64,
    /// What to do when a process is lost, for those who read it.
    pub advice: Option<String>,
    /// How long to wait for others before they are lost.
    pub patience: Duration,
}

/// Why processes do not come together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum JoinError {
    /// They do not agree, or the addresses are of no use: the text says why.
    Refused(String),
    /// Somebody does not come.
    Missing(String),
    /// A limit was met.
    Stopped(selvedge_base::StopReason),
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) | Self::Missing(why) => f.write_str(why),
            Self::Stopped(reason) => reason.fmt(f),
        }
    }
}

impl std::error::Error for JoinError {}

/// Several processes that have come together.
#[derive(Debug)]
pub struct Cluster {
    request: JoinRequest,
    listener: Mutex<TcpListener>,
    company: Company,
    /// The number that tells this run from others.
    nonce: u64,
}

/// A connection that was made, with what the other one has said.
type Greeted = (usize, TcpStream, String);

impl Cluster {
    /// Joins the other processes.
    ///
    /// # Errors
    /// If they do not agree, or one does not come.
    pub fn join(request: JoinRequest, budget: &Budget) -> Result<Self, JoinError> {
        Self::join_as(request, budget, ownership_probe)
    }

    /// The same, given what shows who owns a state.
    fn join_as(
        request: JoinRequest,
        budget: &Budget,
        ownership: impl Fn(usize) -> u64,
    ) -> Result<Self, JoinError> {
        silence();
        let JoinRequest { addresses, process, workers, .. } = &request;
        let processes = addresses.len();
        if *process >= processes {
            return Err(JoinError::Refused(format!(
                "there is no process {process}: {processes} are listed, and they are counted from 0"
            )));
        }
        if workers * processes > MOST_WORKERS {
            return Err(JoinError::Refused(format!(
                "{processes} processes with {workers} workers each are more than {MOST_WORKERS} workers"
            )));
        }
        let address = &addresses[*process];
        let refused =
            |error: io::Error| JoinError::Refused(format!("cannot listen at {address}: {error}"));
        let listener = TcpListener::bind(address).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let text = format!(
            "process = {process}\nprocesses = {processes}\nworkers = {workers}\nownership = {:016x}\n{}",
            ownership(workers * processes),
            request.about
        );
        let all = connect(&listener, &request, "join", &text, budget)?;
        let mut refusal = None;
        for (other, _, said) in &all {
            if let Some(difference) = hello::difference(&text, said) {
                refusal.get_or_insert(format!(
                    "process {other} is about something else: {difference}"
                ));
            }
        }
        let (company, nonce) = agree(&request, all, refusal)?;
        let lost = |error: io::Error| JoinError::Missing(format!("a connection is lost: {error}"));
        let company = Company::new(company, request.patience).map_err(lost)?;
        Ok(Self { listener: Mutex::new(listener), company, nonce, request })
    }

    /// The number that tells this run from others, which all processes have in common.
    pub fn nonce(&self) -> u64 {
        self.nonce
    }

    /// Says farewell: this process has what it needs, and is not missed from now on.
    pub fn part(&self) {
        self.company.part();
    }

    /// The connections for a search.
    fn sockets(&self, task: &SearchTask) -> Result<Vec<Option<TcpStream>>, Unknown> {
        let listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        let text = format!(
            "process = {}\nrun = {:016x}\nsearch = {:016x}\n",
            self.request.process,
            self.nonce,
            task.identity()
        );
        let outside = |error: JoinError| match error {
            JoinError::Stopped(reason) => Unknown::Stopped(reason),
            other => self.lost(&other.to_string()),
        };
        let all = connect(&listener, &self.request, "search", &text, &task.budget);
        let mut sockets: Vec<Option<TcpStream>> =
            self.request.addresses.iter().map(|_| None).collect();
        for (other, stream, said) in all.map_err(outside)? {
            if let Some(difference) = hello::difference(&text, &said) {
                let what = format!("process {other} searches something else: {difference}");
                return Err(Unknown::Outside(what));
            }
            sockets[other] = Some(stream);
        }
        Ok(sockets)
    }

    /// That something was lost, and what to do.
    fn lost(&self, what: &str) -> Unknown {
        Unknown::Outside(match &self.request.advice {
            Some(advice) => format!("{what}; {advice}"),
            None => what.to_owned(),
        })
    }

    fn mishap(&self) -> Option<Unknown> {
        let level = self.company.pulse().level.load(Ordering::Relaxed);
        Some(match self.company.mishap()? {
            Mishap::Lost(process) => {
                self.lost(&format!("process {process} was lost behind level {level}"))
            }
            Mishap::Stalled => self.lost(&format!(
                "no process has made progress for {} s behind level {level}",
                self.request.patience.as_secs()
            )),
        })
    }
}

impl Ensemble for Cluster {
    fn search(&self, task: &SearchTask) -> Result<SearchOutcome, Unknown> {
        let processes = self.request.addresses.len();
        let (workers, process) = (self.request.workers, self.request.process);
        let sockets = self.sockets(task)?;
        let hooks = Hooks::default();
        let locals =
            ProcessBuilder::new_typed_vector(workers, hooks.refill.clone(), hooks.spill.clone());
        let failed =
            |what: &str| Unknown::Outside(format!("the processes are not connected: {what}"));
        let (builders, guard) =
            initialize_networking_from_sockets(locals, sockets, process, workers, hooks)
                .map_err(|error| failed(&error.to_string()))?;
        let builders = builders.into_iter().map(AllocatorBuilder::Tcp).collect();
        let (sender, receiver) = channel();
        let sender = Mutex::new(sender);
        let stop = Arc::new(AtomicBool::new(false));
        let (task, pulse) = (task.clone(), Arc::clone(self.company.pulse()));
        let (nonce, told) = (self.nonce, Arc::clone(&stop));
        let work = move |worker: &mut timely::worker::Worker| {
            let (own, peers) = (worker.index(), worker.peers());
            let place = PartitionPlace { own, peers, tells: own % workers == 0, nonce };
            let outcome = flow::search(worker, &task, place, &pulse, &told);
            if let Some(outcome) = outcome.filter(|_| place.tells) {
                let sender = sender.lock().unwrap_or_else(PoisonError::into_inner);
                // Nobody waits any more if the search was given up.
                let _ = sender.send(outcome);
            }
        };
        let guards =
            timely::execute::execute_from(builders, Box::new(guard), WorkerConfig::default(), work);
        let guards = guards.map_err(|error| failed(&error))?;
        let outcome = loop {
            match receiver.recv_timeout(LOOK) {
                Ok(outcome) => break Ok(outcome),
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(why) = self.mishap() {
                        break Err(why);
                    }
                }
                // All workers have ended without an answer: their connections broke.
                Err(RecvTimeoutError::Disconnected) => {
                    std::thread::sleep(LOOK * 4);
                    break Err(self
                        .mishap()
                        .unwrap_or_else(|| self.lost("the workers have failed")));
                }
            }
        };
        // Where there is an answer, all workers get to it by themselves.
        stop.store(outcome.is_err(), Ordering::Relaxed);
        let (ended, end) = channel::<()>();
        // Workers end when those of all processes have, which may take a while, or never be.
        let wait = move || {
            let _ended = ended;
            drop(guards.join());
        };
        // Without a thread nobody waits, and the answer is the same.
        let _ = std::thread::Builder::new().name(format!("{THREADS}end")).spawn(wait);
        if outcome.is_ok() {
            let _ = end.recv_timeout(FAREWELL);
        }
        outcome.map(|mut outcome| {
            outcome.work.processes = processes as u64;
            outcome
        })
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.company.part();
    }
}

/// Tells all others whether this process agrees, and hears whether they do; the number of the run.
fn agree(
    request: &JoinRequest,
    all: Vec<Greeted>,
    refusal: Option<String>,
) -> Result<(Vec<(usize, TcpStream)>, u64), JoinError> {
    let verdict = match &refusal {
        None => format!("run = {:016x}\n", request.nonce),
        Some(why) => format!("refused = {why}\n"),
    };
    let mut company = Vec::new();
    let mut nonce = request.nonce;
    let mut heard = Vec::new();
    for (other, mut stream, _) in all {
        let said = hello::send(&mut stream, &verdict);
        heard.push((other, said.map(|()| stream)));
    }
    let mut refusal = refusal;
    let mut missing = None;
    for (other, stream) in heard {
        let heard = stream.and_then(|mut stream| {
            let text = hello::receive(&mut stream, request.patience)?;
            Ok((stream, text))
        });
        let Ok((stream, text)) = heard else {
            missing.get_or_insert(other);
            continue;
        };
        if let Some(why) = hello::value(&text, "refused") {
            refusal.get_or_insert(format!("process {other} refuses: {why}"));
        }
        let run = hello::value(&text, "run").and_then(|run| u64::from_str_radix(run, 16).ok());
        if let (0, Some(run)) = (other, run) {
            nonce = run;
        }
        company.push((other, stream));
    }
    if let Some(why) = refusal {
        return Err(JoinError::Refused(why));
    }
    match missing {
        Some(other) => {
            Err(JoinError::Missing(format!("process {other} was lost at the beginning")))
        }
        None => Ok((company, nonce)),
    }
}

/// Connects with every other process: this one calls those before it, and is called by those behind it.
/// `kind` tells calls for different things apart.
fn connect(
    listener: &TcpListener,
    request: &JoinRequest,
    kind: &str,
    text: &str,
    budget: &Budget,
) -> Result<Vec<Greeted>, JoinError> {
    let JoinRequest { addresses, process, patience, .. } = request;
    let end = Instant::now() + *patience;
    let text = format!("kind = {kind}\n{text}");
    let mut all: Vec<Option<(TcpStream, String)>> = addresses.iter().map(|_| None).collect();
    // Whoever calls is heard by a thread, so that a stray client who says nothing holds up nobody else.
    let (heard, callers) = channel::<(TcpStream, String)>();
    loop {
        let mut idle = true;
        for (other, address) in addresses.iter().enumerate().take(*process) {
            if all[other].is_none()
                && let Ok(greeted) = call(address, &text)
                && is_from(&greeted.1, kind, other)
            {
                all[other] = Some(greeted);
                idle = false;
            }
        }
        while let Ok((stream, _)) = listener.accept() {
            let (heard, kind, text) = (heard.clone(), kind.to_owned(), text.clone());
            let hear = move || {
                if let Ok(greeted) = answer(stream, &kind, &text) {
                    // Nobody waits any more if all others have come.
                    let _ = heard.send(greeted);
                }
            };
            // Who is not heard calls again.
            let _ = std::thread::Builder::new().name("caller".to_owned()).spawn(hear);
            idle = false;
        }
        while let Ok((stream, said)) = callers.try_recv() {
            let from = hello::value(&said, "process").and_then(|other| other.parse().ok());
            if let Some(other) =
                from.filter(|other| (*process + 1..addresses.len()).contains(other))
            {
                all[other] = Some((stream, said));
                idle = false;
            }
        }
        let missing = (0..addresses.len()).find(|&other| other != *process && all[other].is_none());
        let Some(missing) = missing else { break };
        if let Some(reason) = budget.peek() {
            return Err(JoinError::Stopped(reason));
        }
        if Instant::now() > end {
            return Err(JoinError::Missing(format!(
                "process {missing} at {} has not come within {} s",
                addresses[missing],
                patience.as_secs()
            )));
        }
        if idle {
            std::thread::sleep(AGAIN);
        }
    }
    let greeted = all.into_iter().enumerate();
    Ok(greeted.filter_map(|(other, one)| one.map(|(stream, said)| (other, stream, said))).collect())
}

/// Calls another process, and hears what it says.
fn call(address: &str, text: &str) -> io::Result<(TcpStream, String)> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, hello::PATIENCE) {
            Ok(mut stream) => {
                stream.set_nodelay(true)?;
                hello::send(&mut stream, text)?;
                let said = hello::receive(&mut stream, hello::PATIENCE)?;
                return Ok((stream, said));
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Hears what somebody who calls has to say, and answers if it is one of the processes.
fn answer(mut stream: TcpStream, kind: &str, text: &str) -> io::Result<(TcpStream, String)> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    let said = hello::receive(&mut stream, hello::PATIENCE)?;
    if hello::value(&said, "kind") != Some(kind) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    hello::send(&mut stream, text)?;
    Ok((stream, said))
}

fn is_from(said: &str, kind: &str, process: usize) -> bool {
    let from = hello::value(said, "process").and_then(|one| one.parse().ok());
    hello::value(said, "kind") == Some(kind) && from == Some(process)
}

/// The threads of timely panic when a connection breaks. That is noticed otherwise, and nothing to show.
fn silence() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let thread = std::thread::current();
            let here = thread.name().is_some_and(|name| name.starts_with(THREADS));
            let inside = info.location().is_some_and(|place| place.file().contains("timely"));
            if !(here && inside) {
                before(info);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_testkit::addresses::free_addresses;

    #[test]
    fn who_has_another_owner_for_a_state_is_refused_by_all() {
        let addresses = free_addresses(3);
        let join = |process: usize| {
            let request = JoinRequest {
                addresses: addresses.clone(),
                process,
                workers: 1,
                about: String::new(),
                nonce: 1,
                advice: None,
                patience: PATIENCE,
            };
            // One of them has another hash.
            let other = u64::from(process == 2);
            Cluster::join_as(request, &Budget::new(), |peers| ownership_probe(peers) ^ other)
        };
        std::thread::scope(|scope| {
            let join = &join;
            for one in [0, 1, 2].map(|process| scope.spawn(move || join(process))) {
                let end = one.join().expect("it ends");
                let Err(JoinError::Refused(why)) = end else { panic!("{end:?}") };
                assert!(why.contains("ownership is "), "{why}");
            }
        });
    }
}
