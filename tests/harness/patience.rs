//! Limits that only a test that fails reaches, however busy the machine is; and how to wait for what no line and no end of a
//! process tells.

use std::{
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};

/// How long anything may take.
pub const PATIENCE: Duration = Duration::from_mins(10);

/// Between two attempts; how long decides nothing.
const PAUSE: Duration = Duration::from_millis(5);

/// Tries until there is an answer, and gives it.
///
/// # Errors
/// An attempt fails, or [`PATIENCE`] is over.
pub fn until<T>(what: &str, mut attempt: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = attempt()? {
            return Ok(answer);
        }
        ensure!(Instant::now() < deadline, "not within {PATIENCE:?}: {what}");
        thread::sleep(PAUSE);
    }
}

/// The same where the answer is yes or no.
///
/// # Errors
/// As above.
pub fn until_true(what: &str, mut is_so: impl FnMut() -> Result<bool>) -> Result<()> {
    until(what, || Ok(is_so()?.then_some(())))
}
