//! `jtrace threads`: a thread dump from outside.

use std::{
    io::{self, BufWriter, Write as _},
    process::ExitCode,
};

use super::{Failure, opening};
use crate::thread_dump;

/// Options of `jtrace threads`.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Process id of a JVM
    pid: u32,

    /// Show every thread, also those that do the same as another one
    #[arg(long)]
    each: bool,

    /// Put numbers in the place of the addresses of peers and the paths of files
    #[arg(long)]
    redact: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let jvm = opening::only_to_look(options.pid)?;
    let dump = thread_dump::read(&jvm, options.redact).map_err(|error| {
        Failure::new(error, "run `jtrace doctor PID` to see what can be read of this JVM".to_owned())
    })?;
    let mut out = BufWriter::new(io::stdout().lock());
    if options.json {
        serde_json::to_writer_pretty(&mut out, &dump).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        thread_dump::write_text(&dump, options.each, &mut out)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
