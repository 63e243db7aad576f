//! What the JDK's own flight recorder shows of a program, with the settings that it has by default (thresholds of 20 ms, samples each
//! 20 ms, no exceptions but a count): events of the kind that a program's comment names, with the text that it names.

use std::{fs, path::Path, process::Command, time::Duration};

use ::tests::{jdk::Jdk, process::Finished};
use anyhow::{Context as _, Result, ensure};

use super::program::Program;

/// How long it records, which is how long jtrace watches.
const SECONDS: &str = "10s";
const PATIENCE: Duration = Duration::from_mins(2);

/// Whether the recorder shows the cause. A program that names no event shows nothing.
pub(crate) fn shows(jdk: &Jdk, program: &Program, pid: u32, folder: &Path) -> Result<bool> {
    let Some(recorded) = &program.recorded else { return Ok(false) };
    let file = folder.join("flight.jfr");
    let jcmd = |words: &[String]| -> Result<String> {
        let mut command = Command::new(jdk.home.join("bin/jcmd"));
        let finished = Finished::of(command.arg(pid.to_string()).args(words), PATIENCE)?;
        ensure!(finished.code == 0, "jcmd {words:?}: {}{}", finished.text(), finished.stderr);
        Ok(finished.text())
    };
    let name = |key: &str, value: &str| format!("{key}={value}");
    let path = file.to_string_lossy();
    jcmd(&[
        "JFR.start".into(),
        name("name", "watch"),
        name("settings", "default"),
        name("duration", SECONDS),
        name("filename", &path),
    ])?;
    // The recorder writes its file at the end of the recording, and says so when it is asked.
    let over = || Ok::<_, anyhow::Error>(!jcmd(&["JFR.check".into()])?.contains("watch duration"));
    let mut left = PATIENCE;
    while !over()? && !left.is_zero() {
        std::thread::sleep(Duration::from_secs(1));
        left = left.saturating_sub(Duration::from_secs(1));
    }
    ensure!(fs::metadata(&file).is_ok_and(|file| file.len() > 0), "no recording");
    let mut print = Command::new(jdk.home.join("bin/jfr"));
    print.args(["print", "--stack-depth", "64", "--events", &recorded.event]).arg(&file);
    let finished = Finished::of(&mut print, PATIENCE).context("jfr print")?;
    Ok(finished.text().contains(&recorded.text))
}
