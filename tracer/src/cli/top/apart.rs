//! The process apart that follows one JVM: it gives up all that looking does not take before it reads anything.

use std::{process::ExitCode, thread, time::Duration};

use super::super::{
    Failure,
    apart::{Said, limit_memory, only_look, tell},
    opening,
};
use crate::{jvm::descriptor::listening::Listening, top::Watch};

/// How often it says that it is there while it rests: less often would look as if something held it up.
const SIGN: Duration = Duration::from_millis(500);

/// Memory that it may need. It takes some megabytes, and there can be many of them.
const MAX_MEMORY_BYTES: u64 = 256 << 20;

/// Options of `jtrace watch-apart`.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(in crate::cli) struct WatchOptions {
    /// The JVM
    pid: u32,
}

/// Looks until the JVM has ended, or nobody listens any more.
pub(in crate::cli) fn watch(options: WatchOptions) -> Result<ExitCode, Failure> {
    let WatchOptions { pid } = options;
    // First, so that all is in force once calls are refused: limits only fall.
    limit_memory(MAX_MEMORY_BYTES)?;
    // In the target's namespace, which cannot be entered afterwards.
    let listening = Listening::opened(pid);
    only_look()?;
    tell(&Said::At(pid))?;
    let mut watch = Watch::begin(opening::jvm(pid)?, listening);
    while let Ok((reading, mut rest)) = watch.look() {
        tell(&Said::Reading(Box::new(reading)))?;
        while !rest.is_zero() {
            let step = rest.min(SIGN);
            thread::sleep(step);
            rest -= step;
            tell(&Said::At(pid))?;
        }
    }
    tell(&Said::End)?;
    Ok(ExitCode::SUCCESS)
}
