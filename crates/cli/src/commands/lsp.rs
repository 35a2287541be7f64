//! # Idea
//! `selvedge lsp`: the language server behind a pipe. One thread reads messages, one checks, and this one
//! decides: it waits for the next message, the next check that is due, or the end of a time limit.
//!
//! # Invariants
//! 1. At most one check runs at a time. One that is out of date is told to stop, and what it still finds is
//!    dropped.
//! 2. Nothing but messages of the protocol goes to standard output.

use crate::exit::Exit;
use selvedge_analysis::contain;
use selvedge_base::{Budget, StopReason};
use selvedge_library::config;
use selvedge_lsp::frame::Incoming;
use selvedge_lsp::{CheckJob, CheckOutcome, ProjectFile, Server, ServerEffect, TextUri, file_path};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// How long to wait where nothing is due.
const LONG: Duration = Duration::from_hours(1);

/// What happens beside this thread.
enum Event {
    Came(Incoming),
    /// Nothing will come any more.
    Ended,
    Finished(Box<CheckOutcome>),
}

/// Runs the command.
pub fn run() -> Exit {
    let (events, received) = mpsc::channel();
    let reader = events.clone();
    std::thread::spawn(move || read(&reader));
    let mut door = Door { events, waiting: BTreeMap::new(), running: None };
    let code = door.serve(&received);
    door.stop();
    match code {
        0 => Exit::Success,
        _ => Exit::Violation,
    }
}

/// Sends what comes over standard input.
fn read(events: &Sender<Event>) {
    let mut input = io::stdin().lock();
    loop {
        let event = match Incoming::read(&mut input) {
            Ok(Some(frame)) => Event::Came(frame),
            Ok(None) | Err(_) => Event::Ended,
        };
        let ends = matches!(event, Event::Ended | Event::Came(Incoming::Lost(_)));
        if events.send(event).is_err() || ends {
            return;
        }
    }
}

/// A check that runs.
struct Running {
    uri: String,
    budget: Budget,
    deadline: Instant,
}

struct Door {
    events: Sender<Event>,
    /// The checks that are to be run, by their texts, each with the time from which on.
    waiting: BTreeMap<String, (Instant, Box<CheckJob>)>,
    running: Option<Running>,
}

impl Door {
    /// Serves until the editor ends; the exit code that the protocol wants.
    fn serve(&mut self, received: &Receiver<Event>) -> u8 {
        let mut server = Server::with_projects(project);
        loop {
            let first = match received.recv_timeout(self.rest(Instant::now())) {
                Ok(event) => Some(event),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return 1,
            };
            // What has come together is looked at together.
            let all = first.into_iter().chain(received.try_iter());
            let (mut frames, mut effects, mut ended) = (Vec::new(), Vec::new(), false);
            for event in all {
                match event {
                    Event::Came(frame) => frames.push(frame),
                    Event::Ended => ended = true,
                    Event::Finished(outcome) => {
                        self.running = None;
                        effects.extend(server.finished(*outcome));
                    }
                }
            }
            effects.extend(server.receive(frames));
            if ended {
                effects.push(server.ended());
            }
            for effect in effects {
                match effect {
                    ServerEffect::Send(message) => {
                        if send(&message).is_err() {
                            return 1;
                        }
                    }
                    ServerEffect::Check(job) => self.schedule(job),
                    ServerEffect::Drop(uri) => self.drop_check(uri.as_str()),
                    ServerEffect::Exit(code) => return code,
                }
            }
            self.look(Instant::now());
        }
    }

    fn schedule(&mut self, job: Box<CheckJob>) {
        let uri = job.uri.as_str().to_owned();
        self.drop_check(&uri);
        let now = Instant::now();
        self.waiting.insert(uri, (now.checked_add(job.pause).unwrap_or(now), job));
    }

    fn drop_check(&mut self, uri: &str) {
        self.waiting.remove(uri);
        if let Some(running) = self.running.as_ref().filter(|running| running.uri == uri) {
            running.budget.raise(StopReason::Cancelled);
        }
    }

    /// How long until something is due.
    fn rest(&self, now: Instant) -> Duration {
        let due = match &self.running {
            Some(running) if running.budget.stopped().is_none() => Some(running.deadline),
            // Who was told to stop says so when it has.
            Some(_) => None,
            None => self.waiting.values().map(|(from, _)| *from).min(),
        };
        due.map_or(LONG, |due| due.saturating_duration_since(now))
    }

    /// Does what is due.
    fn look(&mut self, now: Instant) {
        if let Some(running) = &self.running {
            if running.deadline <= now {
                running.budget.raise(StopReason::Timeout);
            }
            return;
        }
        let due = self.waiting.iter().filter(|(_, (from, _))| *from <= now);
        let first = due.min_by_key(|(_, (from, _))| *from).map(|(uri, _)| uri.clone());
        let Some((uri, (_, job))) = first.and_then(|uri| self.waiting.remove_entry(&uri)) else {
            return;
        };
        let deadline = now.checked_add(job.time_limit).unwrap_or(now + LONG);
        let budget = Budget::watched(Some(deadline), None);
        let (own, events) = (budget.clone(), self.events.clone());
        std::thread::spawn(move || {
            // A broken invariant of ours is no end of the editor's work.
            let outcome =
                contain(|| job.run(&own)).unwrap_or_else(|bug| job.failed(bug.to_string()));
            // Nobody listens any more when the server ends.
            let _ = events.send(Event::Finished(Box::new(outcome)));
        });
        self.running = Some(Running { uri, budget, deadline });
    }

    fn stop(&self) {
        if let Some(running) = &self.running {
            running.budget.raise(StopReason::Cancelled);
        }
    }
}

/// No `selvedge.toml` has more bytes.
const LARGEST_PROJECT: u64 = 1 << 20;

/// The project of a text: the nearest `selvedge.toml` in its folder or above.
fn project(text: &TextUri) -> Option<ProjectFile> {
    let path = file_path(text)?;
    let path = Path::new(&path);
    let mut folders = path.ancestors().skip(1).enumerate();
    let (above, file) = folders.find_map(|(above, folder)| {
        let file = folder.join(config::NAME);
        file.is_file().then_some((above, file))
    })?;
    ProjectFile::new(text, above, read_project(&file))
}

fn read_project(file: &Path) -> Result<String, String> {
    let bytes = std::fs::metadata(file).and_then(|known| {
        if known.len() > LARGEST_PROJECT { Ok(None) } else { std::fs::read(file).map(Some) }
    });
    match bytes {
        Ok(None) => Err("the file is too large for a configuration".to_owned()),
        Ok(Some(bytes)) => {
            String::from_utf8(bytes).map_err(|_| "the file is not UTF-8 text".to_owned())
        }
        Err(error) => Err(format!("the file cannot be read: {error}")),
    }
}

fn send(message: &Value) -> io::Result<()> {
    let body = message.to_string();
    let mut out = io::stdout().lock();
    write!(out, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    out.flush()
}
