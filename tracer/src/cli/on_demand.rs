//! `jtrace methods`, `jtrace calls`, `jtrace alloc`: one question to a running JVM, answered exactly.

use std::process::ExitCode;

use super::{
    Failure,
    attach::{self, ShowOptions},
    options::{OutputOptions, WatchOptions},
};
use crate::analysis::Lens;

/// Options of these commands.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Process id of the JVM; see `jtrace list`
    pid: u32,

    #[command(flatten)]
    watch: WatchOptions,

    #[command(flatten)]
    output: OutputOptions,

    #[command(flatten)]
    show: ShowOptions,
}

/// Runs `attach` with this lens, and CPU samples beside it: they tell how much happens in code that does not report.
pub(super) fn run(options: Options, lens: Lens) -> Result<ExitCode, Failure> {
    let Options { pid, mut watch, output, show } = options;
    if watch.lens.is_empty() {
        watch.lens = if lens == Lens::Alloc { vec![lens, Lens::Gc, Lens::Cpu] } else { vec![lens, Lens::Cpu] };
    } else if !watch.lens.contains(&lens) {
        watch.lens.push(lens);
    }
    watch.exact |= lens == Lens::Alloc;
    attach::run_with(pid, &watch, &output, &show)
}
