//! # Idea
//! `selvedge show`: what was understood of a file.

use crate::args::{ShowArgs, ShowFormat};
use crate::exit::Exit;
use crate::input;
use crate::output::Output;
use crate::watchdog::{Limits, Watch, within};
use selvedge_analysis::{ProtectionRule, instance, movers};
use selvedge_base::{Budget, Severity, StopReason};
use selvedge_library::Text;
use selvedge_library::code::{EXTENSION, code};
use selvedge_library::java::{JavaClasses, JavaSettings};
use selvedge_report::{Source, dot, model, model_json};
use std::time::Instant;

/// How many copies a process has of which there may be any number.
const COPIES: u32 = 2;

/// Runs the command.
pub fn run(args: &ShowArgs, output: Output) -> Result<Exit, Exit> {
    let start = Instant::now();
    let watch = Watch::new(Limits::new(args.limits, start), start);
    if args.classes {
        return classes(args, output, watch.budget());
    }
    if args.code {
        return classes_as_code(args, output, watch.budget());
    }
    if args.file.extension().is_some_and(|extension| extension == EXTENSION) {
        return code_text(args, output, watch.budget());
    }
    if let Some(object) = &args.object {
        return model_of(args, object, output, watch.budget());
    }
    let input::Model { text, program, .. } = input::model(&args.file, output, watch.budget())?;
    if args.movers {
        let program = instance(program, &[], COPIES).program;
        let rule = args.protection.map_or(ProtectionRule::Paper, Into::into);
        let steps = movers(&program, rule, watch.budget()).map_err(|why| {
            output.complain(&format!("{} is not shown: {why}", text.name));
            Exit::Unknown
        })?;
        output.print(&selvedge_report::movers::render(
            &text.name,
            &program,
            &steps,
            output.stdout(),
        ))?;
        return Ok(Exit::Success);
    }
    let (name, format, dot) = (text.name.clone(), args.format, args.dot);
    // Half a model says nothing, so it is shown as a whole or not at all.
    let shown = within(watch.budget(), None, move || match format {
        _ if dot => dot::render(&program),
        ShowFormat::Text => model::render(&name, &program, output.stdout()),
        ShowFormat::Model => selvedge_program::text::print(&program),
        ShowFormat::Json => model_json::render(&name, &program),
    });
    let shown = shown.map_err(|reason| {
        output.complain(&format!("{} is not shown: {reason}", text.name));
        Exit::Unknown
    })?;
    output.print(&shown)?;
    Ok(Exit::Success)
}

/// Prints a text of code in its usual form.
fn code_text(args: &ShowArgs, output: Output, budget: &Budget) -> Result<Exit, Exit> {
    let name = args.file.display();
    if args.dot || args.movers || args.object.is_some() || args.format == ShowFormat::Json {
        output.complain(&format!(
            "{name} has no model yet: code is shown in its text form only, without --dot, --movers, \
             --object and --format json"
        ));
        return Err(Exit::BadInput);
    }
    let understand = |text: &Text| code(&text.text);
    let (text, (shown, complaints)) = input::read_within(&args.file, output, budget, understand)?;
    output.diagnostics(&complaints, &text.source());
    output.print(&shown.ok_or(Exit::BadInput)?)?;
    Ok(Exit::Success)
}

/// Prints classes as code.
fn classes_as_code(args: &ShowArgs, output: Output, budget: &Budget) -> Result<Exit, Exit> {
    let (mut complaints, (shown, more)) = with_classes(args, output, budget, |found, budget| {
        let made = found.code(budget)?;
        Ok((found.complaints, made))
    })?;
    let name = args.file.display().to_string();
    complaints.extend(more.into_iter().map(|one| (name.clone(), one)));
    let has_errors = complaints.iter().any(|(_, one)| one.severity == Severity::Error);
    for (file, complaint) in complaints {
        output.diagnostics(&[complaint], &Source { name: &file, text: "" });
    }
    output.print(&shown)?;
    if has_errors { Err(Exit::BadInput) } else { Ok(Exit::Success) }
}

/// The classes of a file or a folder, and what there is to do with them.
fn with_classes<T: Send + 'static>(
    args: &ShowArgs,
    output: Output,
    budget: &Budget,
    work: impl FnOnce(JavaClasses, &Budget) -> Result<T, StopReason> + Send + 'static,
) -> Result<T, Exit> {
    let (path, release, inner) = (args.file.clone(), args.release, budget.clone());
    let read = within(budget, None, move || {
        let mut found = JavaClasses::default();
        for (name, bytes) in input::class_files(&path, &inner)? {
            let bytes = bytes?;
            found.add(&name, &bytes, release, &inner).map_err(input::NoBytes::Stopped)?;
        }
        work(found, &inner).map_err(input::NoBytes::Stopped)
    });
    let name = args.file.display().to_string();
    match read {
        Ok(Ok(read)) => Ok(read),
        Ok(Err(input::NoBytes::Disk(error))) => {
            output.complain(&format!("cannot read {name}: {error}"));
            Err(Exit::BadInput)
        }
        Ok(Err(input::NoBytes::Stopped(reason))) | Err(reason) => {
            Err(input::not_read(&name, reason, output))
        }
    }
}

/// Prints the model about an object.
fn model_of(args: &ShowArgs, wanted: &str, output: Output, budget: &Budget) -> Result<Exit, Exit> {
    let (wanted, number) = match wanted.rsplit_once('#') {
        Some((name, number)) => match number.parse::<usize>() {
            Ok(number) if number > 0 => (name.to_owned(), number),
            _ => (wanted.to_owned(), 1),
        },
        None => (wanted.to_owned(), 1),
    };
    let object = wanted.clone();
    let settings = JavaSettings { main: args.main.clone(), ..JavaSettings::default() };
    let read = with_classes(args, output, budget, move |classes, budget| {
        match classes.program(&settings, budget) {
            Ok(program) => Ok(Ok(program.models_of(&object, budget)?)),
            Err(complaint) => Ok(Err(complaint)),
        }
    })?;
    let name = args.file.display().to_string();
    let (models, others) = match read {
        Ok(read) => read,
        Err(complaint) => {
            output.diagnostics(&[*complaint], &Source { name: &name, text: "" });
            return Err(Exit::BadInput);
        }
    };
    let Some(program) = models.get(number - 1) else {
        let others: Vec<String> = others.into_iter().take(10).collect();
        let known = match (models.len(), &others[..]) {
            (0, []) => "nothing is shared".to_owned(),
            (0, others) => format!("there are {}", others.join(", ")),
            (all, _) => format!("there are {all} models about it"),
        };
        output.complain(&format!("{name} has no model {number} about `{wanted}`: {known}"));
        return Err(Exit::BadInput);
    };
    if models.len() > 1 {
        output.remark(&format!("model {number} of {} about {wanted}\n", models.len()));
    }
    output.print(&selvedge_program::text::print(program))?;
    Ok(Exit::Success)
}

/// Lists the classes of a file or a folder.
fn classes(args: &ShowArgs, output: Output, budget: &Budget) -> Result<Exit, Exit> {
    let (complaints, list) = with_classes(args, output, budget, |found, _| {
        let list = found.list();
        Ok((found.complaints, list))
    })?;
    let has_errors = complaints.iter().any(|(_, one)| one.severity == Severity::Error);
    for (file, complaint) in complaints {
        output.diagnostics(&[complaint], &Source { name: &file, text: "" });
    }
    output.print(&list)?;
    Ok(if has_errors { Exit::BadInput } else { Exit::Success })
}
