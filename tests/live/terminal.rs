//! The TUI once for real: in tmux, with keys sent and the screen read.

use std::{
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};
use tests::{jdk, jtrace, jvm::Launch, report::Report};

use crate::inside::restored::Visited;

/// A tmux server of its own with one terminal; ended when dropped.
struct Terminal {
    socket: String,
}

impl Terminal {
    fn start(command: &str) -> Result<Self> {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let terminal = Self { socket: format!("jtrace-test-{}-{number}", std::process::id()) };
        terminal.tmux(&["-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "40", command])?;
        Ok(terminal)
    }

    fn tmux(&self, arguments: &[&str]) -> Result<String> {
        let output = Command::new("tmux").args(["-L", &self.socket]).args(arguments).output()?;
        ensure!(output.status.success(), "tmux {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn press(&self, key: &str) -> Result<()> {
        self.tmux(&["send-keys", key]).map(drop)
    }

    /// Reads the screen until it shows the text.
    fn wait_for(&self, text: &str) -> Result<String> {
        self.wait_until(text, true)
    }

    /// Reads the screen until the text is or is not on it.
    fn wait_until(&self, text: &str, shown: bool) -> Result<String> {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let screen = self.tmux(&["capture-pane", "-p"])?;
            if screen.contains(text) == shown {
                return Ok(screen);
            }
            if Instant::now() > deadline {
                bail!("`{text}` on the screen should be {shown}:\n{screen}");
            }
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.tmux(&["kill-server"]);
    }
}

#[test]
fn the_screen_shows_the_target_its_tabs_and_help_and_is_given_back() -> Result<()> {
    let mut jvm = Launch::new(&jdk::any()?, "locks", "Locks").arguments(&["contended", "100"]).start()?;
    let jtrace = jtrace::binary()?;
    // The shell stays after jtrace, so that one can see that the terminal was given back.
    let command = format!("'{}' attach {}; echo gave back: $?; cat", jtrace.display(), jvm.pid());
    let terminal = Terminal::start(&command)?;
    let screen = terminal.wait_for("Locks contended 100")?;
    assert!(screen.contains(&jvm.pid().to_string()), "no pid on the screen:\n{screen}");
    jvm.work()?;
    terminal.press("?")?;
    let help = "quit and print the report";
    terminal.wait_for(help)?;
    terminal.wait_for("freeze")?;
    terminal.press("Escape")?;
    // A key that came in the same read would make one key with Alt of the two.
    terminal.wait_until(help, false)?;
    for _ in 0..3 {
        terminal.press("Tab")?;
    }
    terminal.wait_for("Locks$Cart")?;
    terminal.press("q")?;
    terminal.wait_for("gave back: 0")?;
    assert_eq!(jvm.flag("DTraceMonitorProbes")?, "false");
    jvm.finish()?;
    Ok(())
}

/// What the program does between two looks at the screen, so that what is told grows if it is on.
const PIECE: &str = "SPIN 20";
const MOST_PIECES: usize = 200;
/// Longer than a screen may take to show what has happened.
const STILL: usize = 50;

/// Waits until the row of the marker has grown, or stays as it is for [`STILL`] pieces of work.
fn row(terminal: &Terminal, jvm: &mut Visited, grows: bool) -> Result<()> {
    let look = || -> Result<String> {
        let screen = terminal.wait_for("cool")?;
        // Sentences have its name between backquotes.
        let is_row = |line: &&str| line.contains("cool") && !line.contains('`');
        screen.lines().find(is_row).map(str::to_owned).context("no row of the marker")
    };
    let mut last = look()?;
    let mut same = 0;
    for _ in 0..MOST_PIECES {
        jvm.ask(PIECE)?;
        let now = look()?;
        same = if now == last { same + 1 } else { 0 };
        if grows && now != last || !grows && same > STILL {
            return Ok(());
        }
        last = now;
    }
    bail!("the row should grow: {grows}; it is {last}")
}

#[test]
fn a_key_switches_a_marker_off_and_on_again() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("r.json");
    let mut jvm = Visited::start(&jdk::any()?)?;
    jvm.ask(PIECE)?;
    let (jtrace, marker) = (jtrace::binary()?, "'cool=Spinning$*::cool'");
    let file = file.display();
    let command =
        format!("'{}' markers {} --tui --marker {marker} -o {file}; echo ended: $?; cat", jtrace.display(), jvm.pid());
    let terminal = Terminal::start(&command)?;
    terminal.wait_for("markers")?;
    terminal.press("2")?;
    row(&terminal, &mut jvm, true)?;
    terminal.press("o")?;
    row(&terminal, &mut jvm, false)?;
    terminal.press("o")?;
    row(&terminal, &mut jvm, true)?;
    terminal.press("q")?;
    terminal.wait_for("ended: 0")?;
    let report = Report::parse(&std::fs::read(file.to_string())?)?;
    let decisions = report.0["completeness"]["decisions"].as_array().context("no decisions")?;
    let actions: Vec<&str> = decisions.iter().filter_map(|decision| decision["action"].as_str()).collect();
    ensure!(actions == ["held", "released"], "{actions:?}");
    ensure!(report.missing().iter().any(|text| text.contains("because that was asked for")), "{:?}", report.missing());
    jvm.finish()
}
