//! async-profiler by its documented command line: `asprof start`, `asprof stop`.
//!
//! Its real program could not be had where this was written: it is tested with a stand-in.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{configuration, tool};
use crate::bench::{Error, configuration::Configuration, folder::Folder, observer::Observer, results::Observed};

/// Its samplers.
const EVENTS: [(&str, &str); 3] = [("cpu", "CPU time"), ("alloc", "allocations"), ("wall", "time on and off the CPU")];

/// A configuration for each sampler, where it lies in a folder as it is unpacked.
pub(super) fn all(folder: &Path) -> Vec<Configuration> {
    let one = |(event, what): (&'static str, &str)| {
        let observer = AsyncProfiler { folder: folder.to_owned(), event, running: None };
        configuration(&format!("async-{event}"), format!("async-profiler samples {what}"), &[], observer)
    };
    EVENTS.into_iter().map(one).collect()
}

#[derive(Debug)]
struct AsyncProfiler {
    folder: PathBuf,
    event: &'static str,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    pid: u32,
    command: Vec<String>,
    folder: Folder,
}

impl AsyncProfiler {
    fn asprof(&self) -> PathBuf {
        self.folder.join("bin/asprof")
    }

    /// `asprof ACTION ... -o collapsed -f FILE PID`. The file is named at the start, too, for a JVM that ends by itself.
    fn command(&self, action: &[&str], pid: u32, folder: &Folder) -> Command {
        let mut command = Command::new(self.asprof());
        command.args(action).args(["-o", "collapsed", "-f"]).arg(folder.file("run.collapsed")).arg(pid.to_string());
        command
    }

    fn stop_in(&self, pid: u32, folder: &Folder) -> Result<(), Error> {
        let output = tool::run(&mut self.command(&["stop"], pid, folder)).map_err(Error::system("run asprof"))?;
        // A JVM that has ended is asked in vain; it wrote the file before.
        if output.status.success() || !Path::new(&format!("/proc/{pid}")).exists() {
            return Ok(());
        }
        Err(tool::refused("asprof stop", "fails", &output))
    }
}

impl Observer for AsyncProfiler {
    fn prepare(&mut self) -> Result<(String, String), Error> {
        let asprof = self.asprof();
        let version = tool::say(&asprof, &["--version"]).ok_or_else(|| Error::Missing {
            what: format!("async-profiler at {}", asprof.display()),
            hint: "give the folder of an unpacked release: the one with bin/asprof and lib/libasyncProfiler.so"
                .to_owned(),
        })?;
        Ok(("async-profiler".to_owned(), short(&version)))
    }

    fn start(&mut self, pid: u32) -> Result<(), Error> {
        let folder = Folder::new()?;
        let mut command = self.command(&["start", "-e", self.event], pid, &folder);
        let words = tool::words(&command);
        let output = tool::run(&mut command).map_err(Error::system("run asprof"))?;
        if !output.status.success() {
            return Err(tool::refused("asprof start", "fails", &output));
        }
        self.running = Some(Running { pid, command: words, folder });
        Ok(())
    }

    fn stop(&mut self) -> Result<Observed, Error> {
        let running = self.running.take().ok_or_else(|| Error::program("asprof", "was not started"))?;
        let Running { pid, command, folder } = running;
        self.stop_in(pid, &folder)?;
        let path = folder.file("run.collapsed");
        let text = fs::read_to_string(&path).map_err(Error::system(format!("read {}", path.display())))?;
        // It samples inside the JVM, and does not say what it lost.
        Ok(Observed { command, events: Some(samples(&text)), ..Observed::default() })
    }
}

impl Drop for AsyncProfiler {
    fn drop(&mut self) {
        if let Some(Running { pid, folder, .. }) = self.running.take()
            && let Err(error) = self.stop_in(pid, &folder)
        {
            log::warn!("cannot stop async-profiler in process {pid}: {error}");
        }
    }
}

/// `4.1` of `Async-profiler 4.1 built on Jul 21 2025`.
fn short(version: &str) -> String {
    let number = version.split_ascii_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    number.unwrap_or(version).to_owned()
}

/// Samples of collapsed stacks: each line ends in how many it stands for.
fn samples(collapsed: &str) -> u64 {
    let number = |line: &str| line.rsplit_once(' ')?.1.parse().ok();
    collapsed.lines().filter_map(number).fold(0, |sum: u64, samples: u64| sum.saturating_add(samples))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// Does as asprof's manual says: writes down how it was called, and at the end a file of collapsed stacks.
    const STAND_IN: &str = r#"#!/bin/sh
        case "$1" in
            --version) echo "Async-profiler 4.1 built on Jul 21 2025"; exit 0 ;;
            start) echo "$@" > "$(dirname "$0")/started"; [ "$3" = wall ] && { echo "No access" >&2; exit 1; }; exit 0 ;;
            stop) while [ "$1" != -f ]; do shift; done; printf 'main;a b;c 12\nmain;d 30\n' > "$2" ;;
        esac"#;

    fn stand_in() -> Folder {
        let folder = Folder::new().unwrap();
        fs::create_dir(folder.file("bin")).unwrap();
        let asprof = folder.file("bin/asprof");
        fs::write(&asprof, STAND_IN).unwrap();
        fs::set_permissions(&asprof, fs::Permissions::from_mode(0o700)).unwrap();
        folder
    }

    #[test]
    fn samples_are_taken_between_start_and_stop() {
        let folder = stand_in();
        let mut observer = all(folder.path()).remove(0).observer.unwrap();
        assert_eq!(observer.prepare().unwrap(), ("async-profiler".to_owned(), "4.1".to_owned()));
        observer.start(7).unwrap();
        let observed = observer.stop().unwrap();
        assert_eq!((observed.events, observed.lost, observed.cpu_ns), (Some(42), None, None));
        let file = observed.command[6].clone();
        assert_eq!(observed.command[1..6], ["start", "-e", "cpu", "-o", "collapsed"].map(str::to_owned)[..5]);
        let started = fs::read_to_string(folder.file("bin/started")).unwrap();
        assert_eq!(started.trim(), observed.command[1..].join(" "));
        assert!(!Path::new(&file).exists());
        assert!(observer.stop().is_err(), "was stopped");
    }

    #[test]
    fn one_that_is_not_there_or_refuses_says_why() {
        let folder = stand_in();
        let mut wall = all(folder.path()).remove(2).observer.unwrap();
        let error = wall.start(7).unwrap_err().to_string();
        assert_eq!(error, "asprof start fails: No access");
        let mut absent = all(Path::new("/nonexistent")).remove(0).observer.unwrap();
        let error = absent.prepare().unwrap_err().to_string();
        assert!(
            error.starts_with("async-profiler at /nonexistent/bin/asprof is not there; give the folder"),
            "{error}"
        );
    }
}
