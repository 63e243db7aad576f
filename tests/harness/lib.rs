//! Runs JVMs and jtrace for the tests, and reads what the JVM itself logs as ground truth.
//!
//! Everything is synchronised by events: a line that a process prints, the end of a process, a state in `/proc`. No test waits for
//! time to pass; limits are for tests that fail. Every process is ended, by its pid, when its value goes away.
//!
//! Environment: `JTRACE_BIN` (default `target/release/jtrace`), `JTRACE_JDKS` (`target/jdks/<release>`) and
//! `JTRACE_WORKLOADS` (`target/workloads/<feature>`).

pub mod process;

pub(crate) mod diagnostics;
pub mod jdk;
pub mod jvm;
pub mod log;

pub mod jtrace;
pub mod report;

pub mod budget;
pub mod demo;
pub mod expected;
pub mod patience;
pub mod terminal;

use std::{
    env,
    path::{Path, PathBuf},
};

/// A directory or file from the environment, or its default within the build directory.
pub(crate) fn location(variable: &str, default: &str) -> PathBuf {
    env::var_os(variable).map_or_else(|| target_dir().join(default), PathBuf::from)
}

/// The build directory: `CARGO_TARGET_DIR`, or `target` in the workspace.
pub fn target_dir() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace().join("target"), PathBuf::from)
}

/// The root of the workspace.
pub fn workspace() -> &'static Path {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap_or(tests)
}
