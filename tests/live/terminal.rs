//! The TUI once for real: in tmux, with keys sent and the screen read.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Result, bail, ensure};
use tests::{jdk, jtrace, jvm::Launch};

/// A tmux server of its own with one terminal; ended when dropped.
struct Terminal {
    socket: String,
}

impl Terminal {
    fn start(command: &str) -> Result<Self> {
        let terminal = Self { socket: format!("jtrace-test-{}", std::process::id()) };
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
