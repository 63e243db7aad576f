//! A terminal of tmux, with a screen that can be read and keys that can be pressed.

use std::{
    path::Path,
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
};

use anyhow::{Context as _, Result, ensure};

use crate::patience::until;

/// A tmux server of its own with one terminal; ended when dropped.
#[derive(Debug)]
pub struct Terminal {
    socket: String,
}

impl Terminal {
    /// Runs a command of the shell in a terminal of this size.
    ///
    /// # Errors
    /// There is no tmux.
    pub fn start(command: &str, columns: u16, rows: u16) -> Result<Self> {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let terminal = Self { socket: format!("jtrace-test-{}-{number}", std::process::id()) };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        terminal.tmux(&["-f", "/dev/null", "new-session", "-d", "-x", &columns, "-y", &rows, command])?;
        Ok(terminal)
    }

    fn tmux(&self, arguments: &[&str]) -> Result<String> {
        let output = Command::new("tmux").args(["-L", &self.socket]).args(arguments).output()?;
        ensure!(output.status.success(), "tmux {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Presses a key, by tmux's name of it.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn press(&self, key: &str) -> Result<()> {
        self.tmux(&["send-keys", key]).map(drop)
    }

    /// Clicks with the mouse, as terminals that know the SGR protocol tell of it. The first column and row are 0.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn click(&self, column: usize, row: usize) -> Result<()> {
        for end in ['M', 'm'] {
            let told = format!("\x1b[<0;{};{}{end}", column + 1, row + 1);
            let bytes: Vec<String> = told.bytes().map(|byte| format!("{byte:02x}")).collect();
            let bytes: Vec<&str> = bytes.iter().map(String::as_str).collect();
            self.tmux(&[&["send-keys", "-H"][..], &bytes].concat())?;
        }
        Ok(())
    }

    /// What the screen shows.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn screen(&self) -> Result<String> {
        self.tmux(&["capture-pane", "-p"])
    }

    /// What the screen shows, with the sequences that make its colours.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn styled(&self) -> Result<String> {
        self.tmux(&["capture-pane", "-e", "-p"])
    }

    /// Reads the screen until something holds of it.
    ///
    /// # Errors
    /// It does not come to that.
    pub fn wait_until(&self, what: &str, holds: impl Fn(&str) -> bool) -> Result<String> {
        let mut screen = String::new();
        let found = until(what, || {
            screen = self.screen()?;
            Ok(holds(&screen).then(|| screen.clone()))
        });
        found.with_context(|| format!("the screen is\n{screen}"))
    }
}

/// A path as a shell reads it.
pub fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.tmux(&["kill-server"]);
    }
}
