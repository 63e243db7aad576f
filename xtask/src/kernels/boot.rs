//! Boots a kernel under QEMU and reads from its console what `initrd` says there. Every wait has an end.

use std::{
    collections::{BTreeMap, VecDeque},
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};

use super::Check;

/// For a machine that hangs; one that works takes a few minutes.
const LIMIT: Duration = Duration::from_mins(30);

/// Most of a console that is looked at.
const MOST_LINES: usize = 20_000;

/// Lines of a failure that are kept, and how much of each.
const KEPT_LINES: usize = 12;
const KEPT_CHARS: usize = 400;

/// What a kernel came to.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Whether the first program ran.
    reached: bool,
    doctor: Option<bool>,
    refusal: Option<String>,
    /// Whether `attach` refuses with the sentence of `doctor`, where that refuses.
    agrees: Option<bool>,
    tests: BTreeMap<String, bool>,
    /// The last lines that tests which failed printed.
    failures: BTreeMap<String, Vec<String>>,
    /// What was printed since the last line for us.
    recent: VecDeque<String>,
    ended: bool,
}

/// Times that a kernel is booted which does not get as far as its first program: emulated processors that change a kernel's
/// code while it runs sometimes stop it (6.16.12 did in `hrtimer_start_range_ns`).
const BOOTS: u32 = 3;

/// Boots, and reads to the end.
pub(super) fn boot(image: &Path, initrd: &Path, cpus: u32) -> Result<Outcome> {
    let mut outcome = boot_once(image, initrd, cpus)?;
    for _ in 1..BOOTS {
        if outcome.reached {
            break;
        }
        println!("kernels: it did not get to its first program; once more");
        outcome = boot_once(image, initrd, cpus)?;
    }
    Ok(outcome)
}

fn boot_once(image: &Path, initrd: &Path, cpus: u32) -> Result<Outcome> {
    let mut machine = Machine(command(image, initrd, cpus).spawn().context("cannot start qemu-system-x86_64")?);
    let console = machine.0.stdout.take().context("the machine has no console")?;
    let (said, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(console).split(b'\n').map_while(Result::ok).take(MOST_LINES) {
            if said.send(String::from_utf8_lossy(&line).trim_end().to_owned()).is_err() {
                break;
            }
        }
    });
    let (mut outcome, until) = (Outcome::default(), Instant::now() + LIMIT);
    while let Ok(line) = lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
        println!("{line}");
        outcome.take(&line);
        if outcome.ended {
            break;
        }
    }
    Ok(outcome)
}

fn command(image: &Path, initrd: &Path, cpus: u32) -> Command {
    let mut command = Command::new("nice");
    command.args(["-n", "5", "qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max"]);
    command.arg("-smp").arg(cpus.to_string()).args(["-m", "3072"]);
    command.arg("-kernel").arg(image).arg("-initrd").arg(initrd);
    command.args(["-append", "console=ttyS0 panic=-1 quiet", "-nographic", "-no-reboot", "-nodefaults"]);
    command.args(["-serial", "stdio", "-monitor", "none"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// A machine that runs until this is dropped.
struct Machine(Child);

impl Drop for Machine {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _: std::io::Result<()> = self.0.kill();
        let _: std::io::Result<std::process::ExitStatus> = self.0.wait();
    }
}

impl Outcome {
    fn take(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["@kernel", _] => self.reached = true,
            ["@doctor", code] => self.doctor = Some(code == "0"),
            ["@refused", ..] => self.refusal = line.strip_prefix("@refused ").map(|text| text.trim().to_owned()),
            ["@attach", code, said] => self.agrees = Some(code == "1" && said == "agrees"),
            ["@test", ref name @ .., result, _seconds] => {
                self.tests.insert(name.join(" "), result == "ok");
                if result != "ok" {
                    self.failures.insert(name.join(" "), self.recent.drain(..).collect());
                }
            }
            ["@end"] => self.ended = true,
            _ => {}
        }
        if line.starts_with('@') {
            self.recent.clear();
        } else if !line.trim().is_empty() {
            if self.recent.len() == KEPT_LINES {
                self.recent.pop_front();
            }
            self.recent.push_back(line.chars().take(KEPT_CHARS).collect());
        }
    }

    #[cfg(test)]
    pub(super) fn of_lines(text: &str) -> Self {
        let mut outcome = Self::default();
        text.lines().for_each(|line| outcome.take(line));
        outcome
    }

    /// Whether all was run and good.
    pub(super) fn holds(&self, checks: &[&Check]) -> bool {
        self.ended && self.doctor == Some(true) && checks.iter().all(|check| self.tests.get(check.name) == Some(&true))
    }

    /// Whether it refused as a whole, and said so everywhere.
    pub(super) fn refuses(&self) -> bool {
        self.ended && self.doctor == Some(false) && self.agrees == Some(true)
    }

    /// What failed, and the last lines of it.
    pub(super) fn failures(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.failures.iter().map(|(name, lines)| (name.as_str(), lines.as_slice()))
    }

    /// What `doctor` says; that it disagrees with `attach` comes first.
    pub(super) fn doctor(&self) -> &'static str {
        match (self.doctor, self.agrees) {
            (None, _) => "not reached",
            (Some(true), _) => "ok",
            (Some(false), Some(false)) => "no, and attach says something else",
            (Some(false), _) => "no",
        }
    }

    /// What came of a part.
    pub(super) fn of(&self, check: &Check) -> &'static str {
        match self.tests.get(check.name) {
            Some(true) => "ok",
            Some(false) => "FAILED",
            None => "-",
        }
    }

    /// The sentence of a refusal.
    pub(super) fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_parts_may_have_several_words_and_noise_is_left_out() {
        let outcome = Outcome::of_lines("[ 1.0] noise\n@test alloc --exact ok 12\n@test cpu failed 3\n@doctor 0\n");
        assert_eq!(outcome.tests, BTreeMap::from([("alloc --exact".to_owned(), true), ("cpu".to_owned(), false)]));
        assert_eq!(outcome.doctor(), "ok");
        assert!(!outcome.ended && !outcome.holds(&[]), "it did not come to its end");
    }

    #[test]
    fn a_doctor_that_disagrees_with_attach_is_named() {
        let outcome = Outcome::of_lines("@doctor 1\n@attach 0 disagrees\n");
        assert_eq!(outcome.doctor(), "no, and attach says something else");
    }
}
