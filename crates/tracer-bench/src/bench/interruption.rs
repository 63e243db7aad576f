//! Ctrl-C during a measurement: ends what runs, and says so afterwards.

use std::{
    io,
    os::fd::OwnedFd,
    sync::{Mutex, MutexGuard, PoisonError},
};

use rustix::process::{Signal, pidfd_send_signal};

use super::process::Process;

/// Whether somebody asked to end the session. Raised from another thread than that of the session.
#[derive(Debug, Default)]
pub struct Interruption(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Number of the signal.
    signal: Option<u8>,
    /// The JVM that is measured. All else ends when it does.
    running: Option<OwnedFd>,
}

impl Interruption {
    /// Ends the JVM that is measured, and lets nothing new begin.
    pub fn raise(&self, signal: u8) {
        let mut state = self.lock();
        state.signal.get_or_insert(signal);
        if let Some(running) = &state.running {
            // It may have ended just now.
            let _: Result<(), _> = pidfd_send_signal(running, Signal::KILL);
        }
    }

    /// Number of the signal that asked for the end, if one did.
    pub fn signal(&self) -> Option<u8> {
        self.lock().signal
    }

    /// From now on this process is ended by an interruption, at once if there was one already.
    pub fn covers(&self, process: &Process) -> io::Result<()> {
        let mut state = self.lock();
        if state.signal.is_some() {
            // It may have ended just now.
            let _: io::Result<()> = process.signal(Signal::KILL);
        }
        state.running = Some(process.handle()?);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::{process::Command, time::Duration};

    use super::*;

    #[test]
    fn what_runs_is_ended_and_so_is_what_begins_later() {
        let limit = Duration::from_secs(30);
        let sleeper = || Process::spawn(Command::new("/bin/sh").args(["-c", "read line"])).unwrap();
        let interruption = Interruption::default();
        let first = sleeper();
        interruption.covers(&first).unwrap();
        assert_eq!(interruption.signal(), None);
        assert!(!first.ends_within(Duration::ZERO));
        interruption.raise(2);
        interruption.raise(15);
        assert!(first.ends_within(limit));
        assert_eq!(interruption.signal(), Some(2), "the first one counts");
        let second = sleeper();
        interruption.covers(&second).unwrap();
        assert!(second.ends_within(limit));
    }
}
