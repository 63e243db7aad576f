//! What the user is told when a command fails: one line of error, one of hint, and the exit code.

use std::{
    fmt,
    io::{self, Write as _},
    process::ExitCode,
};

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::view::escape;

/// A command's failure.
#[derive(Debug)]
pub struct Failure {
    message: String,
    hint: Option<String>,
    code: Code,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Code {
    Failed,
    Usage,
    /// The reader of our output has gone, which is its right.
    ClosedPipe,
}

impl Failure {
    /// The tool failed.
    pub fn new(message: impl fmt::Display, hint: impl Into<Option<String>>) -> Self {
        Self { message: message.to_string(), hint: hint.into(), code: Code::Failed }
    }

    /// The command line asked for something that cannot be.
    pub fn usage(message: impl fmt::Display, hint: impl Into<Option<String>>) -> Self {
        Self { code: Code::Usage, ..Self::new(message, hint) }
    }

    /// Prints the failure and gives the exit code.
    pub(super) fn report(self) -> ExitCode {
        let Self { message, hint, code } = self;
        if code == Code::ClosedPipe {
            return ExitCode::SUCCESS;
        }
        let mut stderr = io::stderr().lock();
        // Nothing is left to tell a failure of standard error to.
        let _: io::Result<()> = writeln!(stderr, "error: {}", escape::terminal(&message));
        if let Some(hint) = hint {
            let _: io::Result<()> = writeln!(stderr, "hint: {}", escape::terminal(&hint));
        }
        match code {
            Code::Failed => ExitCode::from(1),
            Code::Usage => ExitCode::from(2),
            Code::ClosedPipe => ExitCode::SUCCESS,
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let code = if error.kind() == io::ErrorKind::BrokenPipe { Code::ClosedPipe } else { Code::Failed };
        let hint = "check where standard output goes, and how much room is left there".to_owned();
        Self { message: format!("cannot write: {error}"), hint: Some(hint), code }
    }
}

impl From<crate::ebpf::Error> for Failure {
    fn from(error: crate::ebpf::Error) -> Self {
        let hint = error.hint();
        Self::new(error, hint)
    }
}

impl From<crate::source::recording::Error> for Failure {
    fn from(error: crate::source::recording::Error) -> Self {
        let hint = error.hint();
        Self::new(error, hint)
    }
}

/// A mistake on the command line, on one line.
pub(super) fn usage(error: &clap::Error) -> Failure {
    let rendered = error.render().to_string();
    let first = rendered.lines().next().unwrap_or("the command line could not be understood");
    let message = first.trim_start_matches("error: ").trim_end_matches(':').to_owned();
    let message = match error.kind() {
        ErrorKind::MissingRequiredArgument => missing(error).unwrap_or(message),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            "missing COMMAND".to_owned()
        }
        _ => message,
    };
    Failure::usage(message, usage_hint(error))
}

fn missing(error: &clap::Error) -> Option<String> {
    match error.get(ContextKind::InvalidArg)? {
        ContextValue::Strings(names) => Some(format!("missing {}", names.join(", "))),
        ContextValue::String(name) => Some(format!("missing {name}")),
        _ => None,
    }
}

fn usage_hint(error: &clap::Error) -> String {
    let suggestion = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue]
        .into_iter()
        .find_map(|kind| match error.get(kind)? {
            ContextValue::String(value) => Some(value.clone()),
            ContextValue::Strings(values) => Some(values.join(", ")),
            _ => None,
        });
    if let Some(suggestion) = suggestion {
        return format!("did you mean {suggestion}?");
    }
    match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(values)) => format!("possible values: {}", values.join(", ")),
        _ => "see `jtrace --help`".to_owned(),
    }
}
