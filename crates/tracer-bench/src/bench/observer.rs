//! Who watches a program while it is measured: jtrace itself, or another tool.

use super::{Error, results::Observed};

/// A tool that can watch a JVM. It is asked for each run anew.
pub trait Observer {
    /// Whether the tool is here, and its name and version for the results; the error says how to get it. Called once.
    fn prepare(&mut self) -> Result<(String, String), Error>;

    /// Whether it must know which methods a program executes before it can watch it.
    fn needs_methods(&self) -> bool {
        false
    }

    /// Says which methods of its own the next program executes, each as the JVM writes it (`org/h2/Driver.connect:(I)V`), and
    /// the seed of the session. Called before [`Observer::start`] where it [needs them](Observer::needs_methods).
    fn aim(&mut self, methods: &[String], seed: u64) {
        let _: (&[String], u64) = (methods, seed);
    }

    /// Whether it changes the program's code, so that the JVM compiles much of it anew. The timed iteration comes only after as
    /// many further ones as the warm-up has.
    fn settles(&self) -> bool {
        false
    }

    /// Begins to watch a JVM that is warmed up and waits. Returns when everything is in place, so that no part of it falls
    /// into the iteration.
    fn start(&mut self, pid: u32) -> Result<(), Error>;

    /// Ends it, after the iteration, while the JVM still lives; for a program that is measured by its end, after that.
    /// Leaves nothing behind, also where it fails.
    fn stop(&mut self) -> Result<Observed, Error>;
}
