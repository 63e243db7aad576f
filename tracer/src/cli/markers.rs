//! `jtrace markers`: markers on any code. `jtrace markers check` shows what would be matched, and weaves nothing.

mod check;

use std::{path::PathBuf, process::ExitCode};

use super::{Failure, attach, demand};
use crate::{
    lens::Lens,
    marker::{CLIENTS, Spec, spec::MAX_FILE_BYTES},
};

/// Options of `jtrace markers`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct MarkersOptions {
    #[command(subcommand)]
    command: Option<MarkersCommand>,

    #[command(flatten)]
    attach: attach::Options,
}

impl MarkersOptions {
    /// Whether a JVM is attached to.
    pub(super) fn attaches(&self) -> bool {
        self.command.is_none()
    }
}

#[derive(Debug, clap::Subcommand)]
enum MarkersCommand {
    /// Show what markers would match in class files, and weave nothing
    Check(check::CheckOptions),
}

pub(super) fn run(options: MarkersOptions) -> Result<ExitCode, Failure> {
    let MarkersOptions { command, mut attach } = options;
    if let Some(MarkersCommand::Check(options)) = command {
        return check::run(&options);
    }
    attach.watch.inside.inside = true;
    demand::run(attach, Lens::Markers)
}

/// Which markers are wanted.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct MarkerOptions {
    /// Read markers from a file (`docs/markers.md` says what it can hold)
    #[arg(long, value_name = "FILE")]
    pub(super) spec: Option<PathBuf>,

    /// A marker, as in `checkout=com.shop.*::checkout+time`, `com.shop.Cart::*@loop`; can be repeated
    ///
    /// `[NAME=]CLASS::METHOD[@PLACE][+WORD...][ where PREDICATE]`. Places are `method` (the usual one), `loop`, `block`, `line:42-57`,
    /// `call:CLASS::METHOD`, `field:CLASS.FIELD=w`; words are `time`, `receiver`, `arguments`, `subclasses`, `point` (one-way), `region`.
    #[arg(long, value_name = "MARKER")]
    pub(super) marker: Vec<String>,
}

impl MarkerOptions {
    /// Whether any marker is named.
    pub(super) const fn is_named(&self) -> bool {
        self.spec.is_some() || !self.marker.is_empty()
    }

    /// What was asked for.
    pub(super) fn read(&self) -> Result<Spec, Failure> {
        let Some(path) = &self.spec else { return Ok(Spec::read(None, &self.marker, CLIENTS)?) };
        let name = path.display().to_string();
        let text = read_text(path).map_err(|error| {
            let hint = "a file of markers is text (TOML); see docs/markers.md".to_owned();
            Failure::usage(format!("cannot read {name}: {error}"), hint)
        })?;
        Ok(Spec::read(Some((&name, &text)), &self.marker, CLIENTS)?)
    }
}

/// A text, no longer than one byte too long.
fn read_text(path: &std::path::Path) -> std::io::Result<String> {
    use std::io::Read as _;
    let mut text = String::new();
    let limit = u64::try_from(MAX_FILE_BYTES).unwrap_or(u64::MAX) + 1;
    std::fs::File::open(path)?.take(limit).read_to_string(&mut text)?;
    Ok(text)
}
