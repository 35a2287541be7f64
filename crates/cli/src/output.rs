//! # Idea
//! The screen: what it can do, and writing to it. A reader that goes away (`| head`) ends the
//! output, not the program.

use crate::args::{Cli, Color};
use crate::exit::Exit;
use anstream::{AutoStream, ColorChoice};
use selvedge_base::Diagnostic;
use selvedge_report::{Source, Terminal, diagnostic, wrap_lines};
use std::io::{self, BufWriter, Write};

/// Where a command prints.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    color: ColorChoice,
    width: usize,
    /// Whether the width is that of something: a terminal, or what the user says.
    has_edge: bool,
}

/// The width of a line if nothing says otherwise.
const DEFAULT_WIDTH: usize = 100;
/// How many complaints are printed: more than the readers make, which stop after 50 errors and 50
/// warnings and say so.
const SHOWN_DIAGNOSTICS: usize = 110;

impl Output {
    /// As the options say, or as the terminal is.
    pub fn new(cli: &Cli) -> Self {
        let color = match cli.color {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        let terminal = || terminal_size::terminal_size().map(|(width, _)| width.0);
        let columns = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|&width| width > 0);
        let width = cli.width.or_else(columns).or_else(terminal);
        let has_edge = width.is_some();
        Self { color, width: width.map_or(DEFAULT_WIDTH, usize::from), has_edge }
    }

    /// What standard output can do.
    pub fn stdout(self) -> Terminal {
        Terminal { width: self.width, color: self.wants_color(&io::stdout()) }
    }

    fn wants_color(self, stream: &impl anstream::stream::RawStream) -> bool {
        match self.color {
            ColorChoice::Auto => AutoStream::choice(stream) != ColorChoice::Never,
            choice => choice != ColorChoice::Never,
        }
    }

    /// Prints a text to standard output.
    pub fn print(self, text: &str) -> Result<(), Exit> {
        self.write(|out| out.write_all(text.as_bytes()))
    }

    /// What a file can do, into which something is printed instead.
    pub fn file(self) -> Terminal {
        Terminal { width: self.width, color: self.color == ColorChoice::Always }
    }

    /// Prints whatever `write` writes to standard output.
    pub fn write(self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Exit> {
        self.write_while_read(write).map(|_| ())
    }

    /// Like [`Output::write`]; also says whether somebody still reads.
    pub fn write_while_read(
        self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<bool, Exit> {
        // The stream also translates colours for consoles that do not know the escape sequences.
        let mut out = BufWriter::new(AutoStream::new(io::stdout().lock(), self.color));
        match write(&mut out).and_then(|()| out.flush()) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            Err(error) => {
                self.complain(&format!("cannot write the output: {error}"));
                Err(Exit::BadInput)
            }
        }
    }

    /// Prints complaints about a source to standard error.
    pub fn diagnostics(self, diagnostics: &[Diagnostic], source: &Source<'_>) {
        if diagnostics.is_empty() {
            return;
        }
        let terminal = Terminal { width: self.width, color: self.wants_color(&io::stderr()) };
        let text = diagnostic::render(diagnostics, source, terminal, SHOWN_DIAGNOSTICS);
        self.to_stderr(&text);
    }

    /// Prints an error that is not about a place in a source.
    pub fn complain(self, message: &str) {
        let message = selvedge_report::escape::visible(message);
        let error =
            if self.wants_color(&io::stderr()) { "\u{1b}[1;31merror\u{1b}[0m" } else { "error" };
        self.remark(&format!("{error}: {message}\n"));
    }

    /// Prints a warning that is not about a place in a source.
    pub fn warn(self, message: &str) {
        let message = selvedge_report::escape::visible(message);
        let warning = if self.wants_color(&io::stderr()) {
            "\u{1b}[1;33mwarning\u{1b}[0m"
        } else {
            "warning"
        };
        self.remark(&format!("{warning}: {message}\n"));
    }

    /// Prints a text beside the output. Where nothing says how wide a line is, it stays whole, so that
    /// logs can be searched.
    pub fn remark(self, text: &str) {
        if self.has_edge {
            self.to_stderr(&wrap_lines(text, self.width));
        } else {
            self.to_stderr(text);
        }
    }

    fn to_stderr(self, text: &str) {
        // Nobody is left to tell if this fails.
        let _ = AutoStream::new(io::stderr().lock(), self.color).write_all(text.as_bytes());
    }
}
