//! A user who takes the connection of the library in her JVM, and speaks in its place.

use std::os::unix::fs::chown;

use anyhow::{Context as _, Result};
use tests::{
    jdk,
    jtrace::LIMIT,
    jvm::{Jvm, Launch},
    process::Signal,
    workspace,
};

use super::{UID, as_user, java_below};
use crate::deaths::left;

/// Such a JVM, see `in_its_place.py`.
pub(crate) struct SpokenFor {
    outer: Jvm,
    pid: u32,
    read: usize,
}

impl SpokenFor {
    /// A JVM whose user is to say this, or something without end.
    pub(crate) fn start(kind: &str) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        chown(directory.path(), Some(UID), Some(UID))?;
        let launch = Launch::new(&jdk::any()?, "methods", "Fib").log("redefine*=info");
        let mut command = as_user();
        command.arg("python3").arg(workspace().join("tests/fixtures/in_its_place.py")).arg(kind);
        let outer = launch.start_by(command.args(launch.command(directory.path())), directory)?;
        let pid = java_below(outer.pid())?;
        Ok(Self { outer, pid, read: 0 })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Has her take the connection; false where there is no library.
    pub(crate) fn take(&mut self) -> Result<bool> {
        Ok(self.tell(Signal::USR1, &["TAKEN", "NONE"])? == "TAKEN")
    }

    /// Has her let the library go on.
    pub(crate) fn give_back(&mut self) -> Result<()> {
        self.tell(Signal::USR2, &["GIVEN BACK"]).map(drop)
    }

    fn tell(&mut self, signal: Signal, answers: &[&str]) -> Result<String> {
        self.outer.process().signal(signal)?;
        tests::patience::until("she has done it", || {
            let text = self.outer.stdout().text();
            let lines = text.get(self.read..).unwrap_or_default();
            let Some(line) = lines.lines().find(|line| answers.contains(line)) else { return Ok(None) };
            Ok(Some(line.to_owned()))
        })
        .inspect(|_| self.read = self.outer.stdout().bytes().len())
        .with_context(|| format!("within {LIMIT:?}"))
    }

    /// The JVM is as it was, and ends well.
    pub(crate) fn finish(mut self) -> Result<()> {
        left::is_clean(self.pid)?;
        left::nothing_is_woven(&self.outer)?;
        self.outer.work()?;
        self.outer.finish().map(drop)
    }
}
