//! What the user is told when a command fails: one line of error, one of hint, and the exit code. Of a text that cannot be
//! understood, the place stands between them.

use std::{
    fmt,
    io::{self, Write as _},
    process::ExitCode,
};

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::{jvm::find::privileges::Privileges, marker, predicate, text::escape, typestate};

/// A command's failure.
#[derive(Debug)]
pub struct Failure {
    message: String,
    /// Lines that show a place; harmless already.
    excerpt: Vec<String>,
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
        Self { message: message.to_string(), excerpt: Vec::new(), hint: hint.into(), code: Code::Failed }
    }

    /// The command line asked for something that cannot be.
    pub fn usage(message: impl fmt::Display, hint: impl Into<Option<String>>) -> Self {
        Self { code: Code::Usage, ..Self::new(message, hint) }
    }

    /// Whether the reader of our output has gone.
    pub(super) fn is_closed_pipe(&self) -> bool {
        self.code == Code::ClosedPipe
    }

    /// What is printed; harmless on a terminal.
    pub(super) fn lines(&self) -> Vec<String> {
        let Self { message, excerpt, hint, code: _ } = self;
        let mut lines = vec![format!("error: {}", escape::terminal(message))];
        lines.extend(excerpt.iter().map(|line| format!("  {line}")));
        lines.extend(hint.iter().map(|hint| format!("hint: {}", escape::terminal(hint))));
        lines
    }

    /// Prints the failure and gives the exit code.
    pub(super) fn report(self) -> ExitCode {
        if self.code == Code::ClosedPipe {
            return ExitCode::SUCCESS;
        }
        let mut stderr = io::stderr().lock();
        for line in self.lines() {
            // Nothing is left to tell a failure of standard error to.
            let _: io::Result<()> = writeln!(stderr, "{line}");
        }
        match self.code {
            Code::Failed => ExitCode::from(1),
            Code::Usage => ExitCode::from(2),
            Code::ClosedPipe => ExitCode::SUCCESS,
        }
    }
}

impl From<predicate::Error> for Failure {
    fn from(error: predicate::Error) -> Self {
        let excerpt = error.excerpt().to_vec();
        Self { excerpt, ..Self::usage(&error, error.hint.clone()) }
    }
}

impl From<marker::Error> for Failure {
    fn from(error: marker::Error) -> Self {
        Self { excerpt: error.excerpt(), ..Self::usage(&error, error.hint.clone()) }
    }
}

impl From<typestate::Error> for Failure {
    fn from(error: typestate::Error) -> Self {
        let excerpt = error.excerpt().to_vec();
        Self { excerpt, ..Self::usage(&error, error.hint.clone()) }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let code = if error.kind() == io::ErrorKind::BrokenPipe { Code::ClosedPipe } else { Code::Failed };
        let hint = "check where standard output goes, and how much room is left there".to_owned();
        Self { code, ..Self::new(format!("cannot write: {error}"), hint) }
    }
}

impl From<crate::ending::Cut> for Failure {
    fn from(cut: crate::ending::Cut) -> Self {
        Self::new(format!("nothing was attached: {cut}"), "what was changed by then is undone".to_owned())
    }
}

impl From<crate::ebpf::Error> for Failure {
    fn from(error: crate::ebpf::Error) -> Self {
        let missing = Privileges::own().missing();
        let hint = match &error {
            // The kernel says no more than that it is not permitted.
            crate::ebpf::Error::Load(_) | crate::ebpf::Error::Refused(_) if !missing.is_empty() => {
                Some(format!("run with sudo, or grant {}", missing.join(", ")))
            }
            _ => error.hint(),
        };
        Self::new(error, hint)
    }
}

impl From<crate::jvm::arming::Error> for Failure {
    fn from(error: crate::jvm::arming::Error) -> Self {
        let hint = error.hint().map(str::to_owned);
        Self::new(error, hint)
    }
}

impl From<crate::inside::visit::Error> for Failure {
    fn from(error: crate::inside::visit::Error) -> Self {
        let hint = error.hint().map(str::to_owned);
        Self::new(error, hint)
    }
}

impl From<crate::setup::Error> for Failure {
    fn from(error: crate::setup::Error) -> Self {
        match error {
            crate::setup::Error::Refused { message, hint } => Self::new(message, hint),
            crate::setup::Error::Usage { message, hint } => Self::usage(message, hint),
            crate::setup::Error::Ebpf(error) => error.into(),
            crate::setup::Error::Arming(error) => error.into(),
            crate::setup::Error::Visit(error) => error.into(),
            crate::setup::Error::Cut(cut) => cut.into(),
            crate::setup::Error::Io(error) => error.into(),
        }
    }
}

impl From<crate::source::recording::Error> for Failure {
    fn from(error: crate::source::recording::Error) -> Self {
        let hint = error.hint();
        Self::new(error, hint)
    }
}

impl From<crate::source::recorded::Error> for Failure {
    fn from(error: crate::source::recorded::Error) -> Self {
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
        Some(ContextValue::Strings(values)) if !values.is_empty() => format!("possible values: {}", values.join(", ")),
        _ => "see `jtrace --help`".to_owned(),
    }
}
