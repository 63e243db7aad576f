//! A program that can be measured: how its JVM is started, and how it is asked for iterations.
//!
//! Most programs keep an agreement over their standard input and output, line by line. The program prints `READY` when it
//! is set up. On a line `GO` it makes one iteration, checks its own result, and prints
//! `DONE ns=N valid=true` and further words `name=number`; it prints `FAILED` and the reason where the result is wrong. It
//! exits at the end of its input. Words with a dot (`memory.collections`, `memory.collection_ns`,
//! `memory.peak_heap_bytes`, `memory.allocated_bytes`, `memory.promoted_bytes`) are what the JVM says of its memory during
//! the iteration; all other words are counts of work whose number is known in closed form.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use super::{Error, folder::Folder, interruption::Interruption, results};

/// Sizes of inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Size {
    /// An iteration of tenths of a second, to try things out.
    Small,
    /// An iteration of 2 to 20 seconds.
    #[default]
    Default,
    /// Four times that.
    Large,
}

impl Size {
    /// The word for it on a command line and in results.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Default => "default",
            Self::Large => "large",
        }
    }
}

/// How the end of an iteration is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// By the agreement above: one JVM makes as many iterations as are asked for.
    Lines,
    /// By its end: the JVM makes one iteration, its whole life.
    Exit,
}

/// How the JVM of a program is started: `java`, the flags of the session and of the configuration, then these words.
#[derive(Debug)]
pub struct Launch {
    /// The `java` to use, where the program brings its own.
    pub java: Option<PathBuf>,
    /// Words behind the flags: `-cp`, class path, main class, arguments.
    pub words: Vec<OsString>,
    /// Working folder: empty, private, and removed after the run.
    pub folder: Option<Folder>,
    /// How the end of an iteration is known.
    pub agreement: Agreement,
}

/// A program that can be measured.
pub trait Program {
    /// What is said of it in the results, without its command.
    fn describe(&self) -> results::Program;

    /// Whether all is there that it needs; the error names what is not, with a hint. Called once, before all runs.
    fn prepare(&mut self) -> Result<(), Error>;

    /// The different methods of its own, not of the JDK, that a run with one iteration executes, each as the JVM writes it
    /// (`org/h2/Driver.connect:(I)V`); absent where nobody can tell. Called after [`Program::prepare`], once a session, with the
    /// `java` of the session, and takes such a run.
    fn methods(&self, size: Size, java: &Path, interruption: &Interruption) -> Result<Option<Vec<String>>, Error> {
        let _: (Size, &Path, &Interruption) = (size, java, interruption);
        Ok(None)
    }

    /// How its JVM is started. Called after [`Program::prepare`], once a run.
    fn launch(&self, size: Size) -> Result<Launch, Error>;
}
