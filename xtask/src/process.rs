//! Runs other programs: with root's rights where these are missing, again where the network may have failed, and with an
//! error that names the command line.

use std::{
    env,
    ffi::OsStr,
    fs,
    os::unix::fs::MetadataExt as _,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};

use crate::workspace;

/// How often a command that uses the network is tried.
const TRIES: u32 = 3;

/// A command that runs in the workspace's root.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    // `cargo run` puts the toolchain's libraries first, which is right for xtask alone.
    command.current_dir(workspace::root()).env_remove("LD_LIBRARY_PATH");
    command
}

/// The cargo that runs xtask.
pub(crate) fn cargo() -> Command {
    command(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// A command that runs as root: as it is if xtask does, else through `sudo` with the environment kept.
pub(crate) fn as_root(program: impl AsRef<OsStr>) -> Command {
    if is_root() {
        return command(program);
    }
    let mut sudo = command("sudo");
    sudo.arg("-E").arg(program);
    sudo
}

/// Whether this process has root's rights.
pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// Runs to the end and fails unless the command succeeds.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {}", shown(command)))?;
    if !status.success() {
        bail!("{} failed ({status})", shown(command));
    }
    Ok(())
}

/// As [`run`], tried again after a pause because the command uses the network.
pub(crate) fn run_with_retries(command: &mut Command) -> Result<()> {
    let mut attempt = 1;
    loop {
        match run(command) {
            Err(error) if attempt < TRIES => {
                eprintln!("{error:#}; trying again ({attempt} of {TRIES} tries used)");
                thread::sleep(Duration::from_secs(3 * u64::from(attempt)));
                attempt += 1;
            }
            result => return result,
        }
    }
}

/// Standard output of a command that succeeds.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output =
        command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot start {}", shown(command)))?;
    if !output.status.success() {
        bail!("{} failed ({})", shown(command), output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a command runs and succeeds; says nothing.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Whether a program of this name is on `PATH`.
pub(crate) fn on_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// The command line as one would type it.
fn shown(command: &Command) -> String {
    let words = [command.get_program()].into_iter().chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    format!("`{}`", words.join(" "))
}
