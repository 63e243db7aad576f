//! `jtrace heap diff`: what differs between two snapshots. Needs no root, kernel or JVM.

use std::{
    io::{self, BufWriter, Write as _},
    path::PathBuf,
    process::ExitCode,
};

use super::{Failure, counted, open, rows};
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
    // One after the other: of the first one only names and amounts are left when the second one is read.
    let before = counted(open(&options.before)?);
    let after = counted(open(&options.after)?);
    let diff = HeapDiff::of(&before, &after, usize::try_from(options.rows).unwrap_or(usize::MAX));
    let mut out = BufWriter::new(io::stdout().lock());
    if options.json {
        json::write_document(&diff, &mut out)?;
    } else {
        view::heap_diff::write(&diff, &TextOptions::for_stdout(), &mut out)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
