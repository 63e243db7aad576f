//! `jtrace heap diff`: what differs between two snapshots. Needs no root, kernel or JVM.

use std::{path::PathBuf, process::ExitCode};

use super::{Failure, counted, open, output, replay, rows};
use crate::{
    heap::diff::HeapDiff,
    view::{self, json, text::TextOptions},
};

/// Options of `jtrace heap diff`.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// What to compare with: a snapshot (.heap), or a dump of the JVM's own (.hprof)
    before: PathBuf,

    /// What to compare: another one
    after: PathBuf,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Rows of each table
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = rows())]
    rows: u32,
}

pub(super) fn run(options: &Options) -> Result<ExitCode, Failure> {
    replay::give_up_but(&[], &[&options.before, &options.after])?;
    // One after the other: of the first one only names and amounts are left when the second one is read.
    let before = counted(open(&options.before)?);
    let after = counted(open(&options.after)?);
    let diff = HeapDiff::of(&before, &after, usize::try_from(options.rows).unwrap_or(usize::MAX));
    if options.json {
        output::print(|out| json::write_document(&diff, out))?;
    } else {
        output::print(|out| view::heap_diff::write(&diff, &TextOptions::for_stdout(), out))?;
    }
    Ok(ExitCode::SUCCESS)
}
