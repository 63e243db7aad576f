//! What goes before the iteration that is timed: a number of iterations, or as many as it takes until the JVM's compilers are idle.
//!
//! Compilers need time, not iterations: after its classes were exchanged, a program of large methods is compiled for half a minute, and
//! what is timed meanwhile is the interpreter. Whether times have stopped to vary says less, as that depends on the noise of the machine.

use std::{
    fs,
    time::{Duration, Instant},
};

use crate::{bench::Error, jvm::find::process::threads};

/// How long compilers are looked at.
const WINDOW: Duration = Duration::from_secs(4);
/// They are idle where they take less than one part in this of the time: what is left is compiled seldom, and so it is seldom run.
const IDLE: u32 = 20;
/// What the names of their threads begin with; the kernel cuts names.
const COMPILERS: [&str; 3] = ["C1 CompilerThre", "C2 CompilerThre", "JVMCI"];

/// How warm a JVM is to be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Warmth {
    /// At least so many iterations.
    pub(super) least: u32,
    /// And where this is not 0, as many as it takes until compilers are idle, for so long at most.
    pub(super) settle: Duration,
    /// Whether this is done twice, as one of the session's configurations changes code: those that do have it changed in between. All
    /// do it, so that the code of all is as warm.
    pub(super) twice: bool,
}

/// What it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Warmed {
    /// Iterations.
    pub(super) iterations: u32,
    /// Whether compilers were idle in the end; absent where nobody asked.
    pub(super) settled: Option<bool>,
}

impl Warmth {
    /// Iterates until a JVM is warm.
    pub(super) fn warm(self, pid: u32, iterate: impl FnMut() -> Result<(), Error>) -> Result<Warmed, Error> {
        self.until_idle(WINDOW, || compiling(pid), iterate)
    }

    fn until_idle(
        self,
        window: Duration,
        compiling: impl Fn() -> Duration,
        mut iterate: impl FnMut() -> Result<(), Error>,
    ) -> Result<Warmed, Error> {
        let mut iterations = 0;
        while iterations < self.least {
            iterate()?;
            iterations += 1;
        }
        if self.settle.is_zero() {
            return Ok(Warmed { iterations, settled: None });
        }
        let began = Instant::now();
        let (mut since, mut before) = (began, compiling());
        let mut settled = false;
        while !settled && began.elapsed() < self.settle {
            iterate()?;
            iterations += 1;
            let took = since.elapsed();
            if took >= window {
                let now = compiling();
                settled = now.saturating_sub(before) * IDLE < took;
                (since, before) = (Instant::now(), now);
            }
        }
        Ok(Warmed { iterations, settled: Some(settled) })
    }
}

/// CPU time of a JVM's compilers so far. Those that end are missing: that they have ended says that there is little to do.
fn compiling(pid: u32) -> Duration {
    let is_compiler = |name: &str| COMPILERS.iter().any(|of| name.starts_with(of));
    let of = threads(pid).unwrap_or_default().into_iter().filter(|(_, name)| is_compiler(name));
    of.filter_map(|(tid, _)| {
        // The first number is the time on a CPU in nanoseconds.
        let text = fs::read_to_string(format!("/proc/{pid}/task/{}/schedstat", tid.0)).ok()?;
        text.split_ascii_whitespace().next()?.parse().ok().map(Duration::from_nanos)
    })
    .sum()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn warmth(least: u32, settle: Duration) -> Warmth {
        Warmth { least, settle, twice: false }
    }

    #[test]
    fn iterations_are_as_many_as_asked_for_where_nobody_waits_for_compilers() {
        for least in [0, 3] {
            let warmed = warmth(least, Duration::ZERO).until_idle(WINDOW, Duration::default, || Ok(())).unwrap();
            assert_eq!(warmed, Warmed { iterations: least, settled: None });
        }
    }

    #[test]
    fn a_jvm_is_settled_when_its_compilers_were_idle_in_a_window() {
        // They are busy during five iterations; every window is one iteration long.
        let made = Cell::new(0_u32);
        let compiling = || Duration::from_secs(made.get().min(5).into());
        let iterate = || {
            made.set(made.get() + 1);
            Ok(())
        };
        let warmed = warmth(2, Duration::from_mins(1)).until_idle(Duration::ZERO, compiling, iterate).unwrap();
        assert_eq!(warmed, Warmed { iterations: 6, settled: Some(true) });
    }

    #[test]
    fn one_that_is_compiled_for_ever_is_given_up_and_said_to_be() {
        let began = Instant::now();
        let busy = || began.elapsed() * 2;
        let warmed = warmth(1, Duration::from_millis(20)).until_idle(Duration::ZERO, busy, || {
            std::thread::sleep(Duration::from_millis(1));
            Ok(())
        });
        let Warmed { iterations, settled } = warmed.unwrap();
        assert!(iterations > 1 && settled == Some(false), "{iterations} {settled:?}");
    }

    #[test]
    fn who_is_no_jvm_compiles_nothing() {
        assert_eq!(compiling(std::process::id()), Duration::ZERO);
    }
}
