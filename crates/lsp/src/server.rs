//! # Idea
//! What becomes of each message. Messages that came together are looked at together, so that a request
//! whose cancellation is there already is not answered, and a text that has changed again is not read
//! twice.
//!
//! # Source
//! Language Server Protocol 3.17.
//!
//! # Invariants
//! 1. Every request has one response, also a damaged one whose id can be read.
//! 2. What is said of a text is about the version that the server has last seen.
//! 3. What is said of a `selvedge.toml` goes when no open text belongs to it.
//! 4. The findings of a text go when it changes; its check is stopped then, and when it is closed.

use crate::action::{fixes, repairs, workspace_edit};
use crate::document::OpenDocument;
use crate::frame::Incoming;
use crate::hover::hover;
use crate::job::{CheckJob, CheckOutcome, FindingInText};
use crate::outline::{definition, highlights, outline, references};
use crate::project::{FindProject, ProjectFile, ProjectSettings};
use crate::report::{findings, mistakes, project_mistakes};
use crate::settings::EditorSettings;
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionParams, CodeActionProviderCapability, Diagnostic,
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DocumentHighlightParams, DocumentSymbolParams, GotoDefinitionParams, HoverParams,
    HoverProviderCapability, InitializeParams, MessageType, OneOf, Position, PositionEncodingKind,
    PrepareRenameResponse, PublishDiagnosticsParams, ReferenceParams, RenameOptions, RenameParams,
    ServerCapabilities, TextDocumentPositionParams, TextDocumentSyncCapability,
    TextDocumentSyncKind, TextDocumentSyncOptions, Uri, WorkDoneProgressOptions,
};
use selvedge_base::StopReason;
use selvedge_library::{config, names};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// What is to be done.
#[derive(Clone, Debug)]
pub enum ServerEffect {
    /// Send this.
    Send(Value),
    /// Run this check after its pause, instead of any other of this text.
    Check(Box<CheckJob>),
    /// Run no check of this text any more.
    Drop(Uri),
    /// End, with this exit code.
    Exit(u8),
}

/// How far the editor is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// It has not said hello.
    Before,
    Running,
    /// It has asked to end.
    After,
}

/// What the editor can do.
#[derive(Clone, Copy, Debug, Default)]
struct Abilities {
    /// It shows a tree of symbols.
    tree: bool,
    /// It knows the versions of texts in edits.
    versioned: bool,
    /// It shows Markdown.
    markdown: bool,
}

/// A text with what was found in it.
#[derive(Debug)]
struct Entry {
    document: OpenDocument,
    /// The `selvedge.toml` that it belongs to.
    project: Option<String>,
    mistakes: Vec<Diagnostic>,
    found: Vec<Diagnostic>,
    /// The findings among them.
    findings: Vec<(Diagnostic, FindingInText)>,
}

/// The server.
#[derive(Debug)]
pub struct Server {
    phase: Phase,
    abilities: Abilities,
    /// The editor tells of changed files if it is asked to.
    watches: bool,
    settings: EditorSettings,
    /// Finds the project of a text.
    find: FindProject,
    /// The open texts, by what the editor calls them.
    entries: BTreeMap<String, Entry>,
    /// What was last said of each `selvedge.toml`.
    projects: BTreeMap<String, (Uri, Vec<Diagnostic>)>,
}

/// Why a request has no result.
struct Refusal {
    code: ErrorCode,
    message: String,
}

impl Refusal {
    fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

impl Default for Server {
    fn default() -> Self {
        Self::new()
    }
}

impl Server {
    /// A server to which nobody has spoken yet, of texts that belong to no project.
    pub fn new() -> Self {
        Self::with_projects(|_| None)
    }

    /// A server to which nobody has spoken yet; `find` is asked for the project of a text whenever the text
    /// is to be checked.
    pub fn with_projects(find: FindProject) -> Self {
        Self {
            find,
            projects: BTreeMap::new(),
            phase: Phase::Before,
            abilities: Abilities::default(),
            watches: false,
            settings: EditorSettings::default(),
            entries: BTreeMap::new(),
        }
    }

    /// What is to be done about messages that have come, in their order.
    pub fn receive(&mut self, frames: Vec<Incoming>) -> Vec<ServerEffect> {
        let cancelled: BTreeSet<RequestId> = frames.iter().filter_map(cancelled).collect();
        let mut last_change: BTreeMap<String, usize> = BTreeMap::new();
        for (at, frame) in frames.iter().enumerate() {
            if let Some(uri) = changed(frame) {
                last_change.insert(uri, at);
            }
        }
        let mut effects = Vec::new();
        for (at, frame) in frames.into_iter().enumerate() {
            match frame {
                Incoming::Message(Message::Request(request)) => {
                    let id = request.id.clone();
                    let answer = if cancelled.contains(&id) {
                        Err(Refusal::new(ErrorCode::RequestCanceled, "the request was cancelled"))
                    } else {
                        self.request(request, &mut effects)
                    };
                    effects.push(ServerEffect::Send(response(Some(&id), answer)));
                }
                Incoming::Message(Message::Notification(notification)) => {
                    // A later change of the same text says what is to be shown.
                    let uri = notification_uri(&notification);
                    let is_last =
                        uri.is_none_or(|uri| last_change.get(&uri).is_none_or(|&last| last <= at));
                    self.notification(notification, is_last, &mut effects);
                }
                // Whether it watches files changes nothing here.
                Incoming::Message(Message::Response(_)) => {}
                Incoming::Damaged { id, is_json, why } => {
                    let code =
                        if is_json { ErrorCode::InvalidRequest } else { ErrorCode::ParseError };
                    let refusal = Refusal::new(code, why);
                    effects.push(ServerEffect::Send(response(id.as_ref(), Err(refusal))));
                }
                Incoming::Lost(why) => {
                    let refusal = Refusal::new(ErrorCode::ParseError, why);
                    effects.push(ServerEffect::Send(response(None, Err(refusal))));
                    effects.push(ServerEffect::Exit(1));
                }
            }
            if matches!(effects.last(), Some(ServerEffect::Exit(_))) {
                break;
            }
        }
        effects
    }

    /// What is to be done when the pipe ends: the editor is gone.
    pub fn ended(&self) -> ServerEffect {
        ServerEffect::Exit(u8::from(self.phase != Phase::After))
    }

    /// What is to be done about what a check has found.
    pub fn finished(&mut self, outcome: CheckOutcome) -> Vec<ServerEffect> {
        let Some(entry) = self.entries.get_mut(outcome.uri.as_str()) else { return Vec::new() };
        let is_current = entry.document.version == outcome.version;
        if !is_current || outcome.stopped == Some(StopReason::Cancelled) {
            return Vec::new();
        }
        entry.found = findings(&entry.document, &outcome, &self.settings);
        let own = entry.found.iter().cloned().zip(outcome.findings);
        entry.findings = own.collect();
        vec![entry.publish()]
    }

    fn request(
        &mut self,
        request: Request,
        effects: &mut Vec<ServerEffect>,
    ) -> Result<Value, Refusal> {
        let Request { method, params, .. } = request;
        match (self.phase, method.as_str()) {
            (Phase::Before, "initialize") => return self.initialize(params, effects),
            (Phase::Before, _) => {
                let message = "`initialize` comes first";
                return Err(Refusal::new(ErrorCode::ServerNotInitialized, message));
            }
            (Phase::Running, "initialize") => {
                let message = "the server was initialized before";
                return Err(Refusal::new(ErrorCode::InvalidRequest, message));
            }
            (Phase::After, _) => {
                let message = "the server was asked to end";
                return Err(Refusal::new(ErrorCode::InvalidRequest, message));
            }
            (Phase::Running, _) => {}
        }
        match method.as_str() {
            "shutdown" => {
                self.phase = Phase::After;
                effects.extend(
                    self.entries.values().map(|one| ServerEffect::Drop(one.document.uri.clone())),
                );
                Ok(Value::Null)
            }
            "textDocument/hover" => {
                let params: HoverParams = read(params)?;
                let (entry, at) = self.at(&params.text_document_position_params)?;
                written(hover(&entry.document, at, self.abilities.markdown))
            }
            "textDocument/definition" => {
                let params: GotoDefinitionParams = read(params)?;
                let (entry, at) = self.at(&params.text_document_position_params)?;
                written(definition(&entry.document, at))
            }
            "textDocument/references" => {
                let params: ReferenceParams = read(params)?;
                let (entry, at) = self.at(&params.text_document_position)?;
                let declaration = params.context.include_declaration;
                written(references(&entry.document, at, declaration))
            }
            "textDocument/documentHighlight" => {
                let params: DocumentHighlightParams = read(params)?;
                let (entry, at) = self.at(&params.text_document_position_params)?;
                written(highlights(&entry.document, at))
            }
            "textDocument/documentSymbol" => {
                let params: DocumentSymbolParams = read(params)?;
                let entry = self.entry(&params.text_document.uri)?;
                written(outline(&entry.document, self.abilities.tree))
            }
            "textDocument/prepareRename" => {
                let params: TextDocumentPositionParams = read(params)?;
                self.prepare_rename(&params)
            }
            "textDocument/rename" => {
                let params: RenameParams = read(params)?;
                let (entry, at) = self.at(&params.text_document_position)?;
                let document = &entry.document;
                let changes = names::rename(&document.loaded().text, at, &params.new_name);
                let changes =
                    changes.map_err(|message| Refusal::new(ErrorCode::RequestFailed, message))?;
                written(workspace_edit(document, &changes, self.abilities.versioned))
            }
            "textDocument/codeAction" => {
                let params: CodeActionParams = read(params)?;
                let entry = self.entry(&params.text_document.uri)?;
                let wanted = params.context.only.is_none_or(|only| {
                    only.iter().any(|kind| {
                        *kind == CodeActionKind::QUICKFIX || *kind == CodeActionKind::EMPTY
                    })
                });
                let (found, versioned) = (&entry.findings, self.abilities.versioned);
                let mut actions = repairs(&entry.document, &self.settings, params.range, versioned);
                actions.extend(fixes(&entry.document, found, params.range, versioned));
                written(if wanted { actions } else { Vec::new() })
            }
            _ => {
                let message = format!("there is no method `{}`", shortened(&method));
                Err(Refusal::new(ErrorCode::MethodNotFound, message))
            }
        }
    }

    fn initialize(
        &mut self,
        params: Value,
        effects: &mut Vec<ServerEffect>,
    ) -> Result<Value, Refusal> {
        let params: InitializeParams = read(params)?;
        let options = params.initialization_options.unwrap_or(Value::Null);
        let (settings, wrong) = EditorSettings::new(&options);
        self.settings = settings;
        effects.extend(wrong.into_iter().map(|wrong| said(MessageType::WARNING, &wrong)));
        let text = params.capabilities.text_document.unwrap_or_default();
        let symbols = text.document_symbol.unwrap_or_default();
        let workspace = params.capabilities.workspace.unwrap_or_default();
        let (edits, watched) = (workspace.workspace_edit, workspace.did_change_watched_files);
        let shown = text.hover.unwrap_or_default().content_format.unwrap_or_default();
        self.abilities = Abilities {
            tree: symbols.hierarchical_document_symbol_support.unwrap_or(false),
            versioned: edits.unwrap_or_default().document_changes.unwrap_or(false),
            markdown: shown.contains(&lsp_types::MarkupKind::Markdown),
        };
        self.watches = watched.and_then(|files| files.dynamic_registration).unwrap_or(false);
        self.phase = Phase::Running;
        written(json!({
            "capabilities": capabilities(),
            "serverInfo": { "name": "selvedge", "version": env!("CARGO_PKG_VERSION") },
        }))
    }

    fn prepare_rename(&self, params: &TextDocumentPositionParams) -> Result<Value, Refusal> {
        let (entry, at) = self.at(params)?;
        let document = &entry.document;
        let Some(language) = document.language else { return Ok(Value::Null) };
        let found = names::renamed_at(document.names(), language, at)
            .map_err(|message| Refusal::new(ErrorCode::RequestFailed, message))?;
        written(PrepareRenameResponse::RangeWithPlaceholder {
            range: document.lines.range(document.text(), found.span),
            placeholder: document.names().symbols[found.symbol].name.clone(),
        })
    }

    fn notification(&mut self, one: Notification, is_last: bool, effects: &mut Vec<ServerEffect>) {
        let Notification { method, params } = one;
        if method == "exit" {
            effects.push(self.ended());
            return;
        }
        if self.phase != Phase::Running {
            return;
        }
        let done = match method.as_str() {
            "textDocument/didOpen" => {
                read(params).map(|params| self.open(params, is_last, effects))
            }
            "textDocument/didChange" => {
                read(params).and_then(|params| self.change(params, is_last, effects))
            }
            "textDocument/didClose" => read(params).map(|params| self.close(&params, effects)),
            "initialized" => {
                effects.extend(self.watches.then(watch));
                Ok(())
            }
            "workspace/didChangeWatchedFiles" => {
                self.show_all(effects);
                Ok(())
            }
            "workspace/didChangeConfiguration" => {
                self.configure(&params, effects);
                Ok(())
            }
            // Nothing depends on it.
            _ => Ok(()),
        };
        if let Err(Refusal { message, .. }) = done {
            effects.push(said(MessageType::ERROR, &format!("{}: {message}", shortened(&method))));
        }
    }

    fn open(
        &mut self,
        params: DidOpenTextDocumentParams,
        is_last: bool,
        effects: &mut Vec<ServerEffect>,
    ) {
        let item = params.text_document;
        let key = item.uri.as_str().to_owned();
        let document = OpenDocument::new(item.uri, item.version, &item.language_id, item.text);
        self.entries.insert(key.clone(), Entry::new(document));
        if is_last {
            self.show(&key, effects);
        }
    }

    fn change(
        &mut self,
        params: DidChangeTextDocumentParams,
        is_last: bool,
        effects: &mut Vec<ServerEffect>,
    ) -> Result<(), Refusal> {
        let key = params.text_document.uri.as_str().to_owned();
        let Some(entry) = self.entries.get_mut(&key) else {
            return Err(not_open(&params.text_document.uri));
        };
        entry.document.change(params.text_document.version, params.content_changes);
        entry.found = Vec::new();
        entry.findings = Vec::new();
        if is_last {
            self.show(&key, effects);
        }
        Ok(())
    }

    fn close(&mut self, params: &DidCloseTextDocumentParams, effects: &mut Vec<ServerEffect>) {
        let uri = &params.text_document.uri;
        if self.entries.remove(uri.as_str()).is_some() {
            effects.push(ServerEffect::Drop(uri.clone()));
            effects.push(published(uri, Vec::new(), None));
            self.forget_projects(effects);
        }
    }

    fn configure(&mut self, params: &Value, effects: &mut Vec<ServerEffect>) {
        let Some(settings) = params.get("settings").and_then(|all| all.get("selvedge")) else {
            return;
        };
        let (settings, wrong) = EditorSettings::new(settings);
        self.settings = settings;
        effects.extend(wrong.into_iter().map(|wrong| said(MessageType::WARNING, &wrong)));
        self.show_all(effects);
    }

    fn show_all(&mut self, effects: &mut Vec<ServerEffect>) {
        let keys: Vec<String> = self.entries.keys().cloned().collect();
        for key in keys {
            self.show(&key, effects);
        }
    }

    /// Says what is wrong with a text, and has it checked.
    fn show(&mut self, key: &str, effects: &mut Vec<ServerEffect>) {
        let Some(entry) = self.entries.get_mut(key) else { return };
        let file = (self.find)(&entry.document.uri);
        let (project, wrong) = ProjectSettings::new(file.as_ref(), &self.settings);
        entry.project = file.as_ref().map(|file| file.uri.as_str().to_owned());
        if let Some(file) = file {
            self.show_project(&file, &wrong, effects);
        }
        self.forget_projects(effects);
        let Some(entry) = self.entries.get_mut(key) else { return };
        entry.document.ask(&project.options, &project.formulas, &project.document);
        entry.mistakes = mistakes(&entry.document, &self.settings);
        effects.push(entry.publish());
        effects.push(match CheckJob::new(&entry.document, &self.settings, project) {
            Some(job) => ServerEffect::Check(Box::new(job)),
            None => ServerEffect::Drop(entry.document.uri.clone()),
        });
    }

    /// Says what is wrong with a project, if that is not what was said last.
    fn show_project(
        &mut self,
        file: &ProjectFile,
        wrong: &[selvedge_base::Diagnostic],
        effects: &mut Vec<ServerEffect>,
    ) {
        let said = project_mistakes(file, wrong, &self.settings);
        let key = file.uri.as_str().to_owned();
        let (_, last) = self.projects.entry(key).or_insert_with(|| (file.uri.clone(), Vec::new()));
        if *last != said {
            last.clone_from(&said);
            effects.push(published(&file.uri, said, None));
        }
    }

    /// Takes back what was said of projects to which no open text belongs.
    fn forget_projects(&mut self, effects: &mut Vec<ServerEffect>) {
        let used: BTreeSet<&str> =
            self.entries.values().filter_map(|entry| entry.project.as_deref()).collect();
        self.projects.retain(|key, (uri, said)| {
            let is_used = used.contains(key.as_str());
            if !is_used && !said.is_empty() {
                effects.push(published(uri, Vec::new(), None));
            }
            is_used
        });
    }

    fn entry(&self, uri: &Uri) -> Result<&Entry, Refusal> {
        self.entries.get(uri.as_str()).ok_or_else(|| not_open(uri))
    }

    fn at(&self, params: &TextDocumentPositionParams) -> Result<(&Entry, u32), Refusal> {
        let entry = self.entry(&params.text_document.uri)?;
        let position: Position = params.position;
        Ok((entry, entry.document.lines.offset(entry.document.text(), position)))
    }
}

impl Entry {
    fn new(document: OpenDocument) -> Self {
        let (mistakes, found, findings) = (Vec::new(), Vec::new(), Vec::new());
        Self { document, project: None, mistakes, found, findings }
    }

    fn publish(&self) -> ServerEffect {
        let all = self.mistakes.iter().chain(&self.found).cloned().collect();
        published(&self.document.uri, all, Some(self.document.version))
    }
}

fn capabilities() -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(PositionEncodingKind::UTF16),
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            ..TextDocumentSyncOptions::default()
        })),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        })),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
            ..CodeActionOptions::default()
        })),
        ..ServerCapabilities::default()
    }
}

/// The request that a message cancels.
fn cancelled(frame: &Incoming) -> Option<RequestId> {
    match frame {
        Incoming::Message(Message::Notification(one)) if one.method == "$/cancelRequest" => {
            serde_json::from_value(one.params.get("id")?.clone()).ok()
        }
        _ => None,
    }
}

/// The text that a message opens or changes.
fn changed(frame: &Incoming) -> Option<String> {
    match frame {
        Incoming::Message(Message::Notification(one)) => notification_uri(one),
        _ => None,
    }
}

fn notification_uri(one: &Notification) -> Option<String> {
    if !matches!(one.method.as_str(), "textDocument/didOpen" | "textDocument/didChange") {
        return None;
    }
    let uri = one.params.get("textDocument")?.get("uri")?.as_str()?;
    Some(uri.to_owned())
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, Refusal> {
    serde_json::from_value(params)
        .map_err(|error| Refusal::new(ErrorCode::InvalidParams, error.to_string()))
}

fn written(result: impl Serialize) -> Result<Value, Refusal> {
    serde_json::to_value(result)
        .map_err(|error| Refusal::new(ErrorCode::InternalError, error.to_string()))
}

fn response(id: Option<&RequestId>, answer: Result<Value, Refusal>) -> Value {
    match answer {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(Refusal { code, message }) => {
            let error = json!({ "code": code as i32, "message": message });
            json!({ "jsonrpc": "2.0", "id": id, "error": error })
        }
    }
}

/// Asks the editor to tell of changed projects.
fn watch() -> ServerEffect {
    let watchers = json!([{ "globPattern": format!("**/{}", config::NAME) }]);
    let registration = json!({
        "id": "projects",
        "method": "workspace/didChangeWatchedFiles",
        "registerOptions": { "watchers": watchers },
    });
    let params = json!({ "registrations": [registration] });
    let method = "client/registerCapability";
    ServerEffect::Send(
        json!({ "jsonrpc": "2.0", "id": "watch-projects", "method": method, "params": params }),
    )
}

fn said(kind: MessageType, message: &str) -> ServerEffect {
    let params = json!({ "type": kind, "message": format!("Selvedge: {message}") });
    ServerEffect::Send(json!({ "jsonrpc": "2.0", "method": "window/logMessage", "params": params }))
}

fn published(uri: &Uri, diagnostics: Vec<Diagnostic>, version: Option<i32>) -> ServerEffect {
    let params = PublishDiagnosticsParams { uri: uri.clone(), diagnostics, version };
    let method = "textDocument/publishDiagnostics";
    ServerEffect::Send(json!({ "jsonrpc": "2.0", "method": method, "params": params }))
}

fn not_open(uri: &Uri) -> Refusal {
    let message = format!("`{}` is not open", shortened(uri.as_str()));
    Refusal::new(ErrorCode::InvalidParams, message)
}

fn shortened(text: &str) -> String {
    text.chars().take(100).collect()
}
