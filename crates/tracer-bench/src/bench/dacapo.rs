//! `DaCapo` itself, where the user has its archive: 23.11-chopin and 9.12-bach.
//!
//! A callback that is compiled against the archive brackets the timed iteration, so that `DaCapo` keeps the same agreement as
//! every other program. `DaCapo` prepares and validates as it always does; only its loop of iterations and its timer are
//! replaced.
//!
//! So is its own notion of a program that is warm (`-C`: iterate until the last times hardly vary). Its end depends on the noise of the machine and on whoever watches, so that two configurations would be timed after different
//! numbers of iterations. Here as many iterations go before the timed one in every configuration as `--warm-up` says, or with `--settle`
//! as many as it takes until compilers are idle, and how far the times still scatter is part of the result.
//!
//! The archive is on no package registry: this was written after the sources of both versions and is tested with
//! a jar that has their classes and their order of calls, and has not been run with a real archive.

mod archive;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use archive::{Archive, Benchmark};

use super::{
    Error,
    folder::Folder,
    java::{Classes, Source},
    program::{Agreement, Launch, Program, Size},
    results,
};

const SOURCES: [Source; 6] = [
    ("Work.java", include_str!("../../bench/Work.java")),
    ("Memory.java", include_str!("../../bench/Memory.java")),
    ("Promotion.java", include_str!("../../bench/Promotion.java")),
    ("Suite.java", include_str!("../../bench/Suite.java")),
    ("Dacapo.java", include_str!("../../bench/Dacapo.java")),
    ("DacapoCallback.java", include_str!("../../bench/DacapoCallback.java")),
];
const MAIN: &str = "jtrace.bench.Dacapo";
const CALLBACK: &str = "jtrace.bench.DacapoCallback";
/// With more than one, `DaCapo` asks the callback whether to go on; the callback always says yes.
const ITERATIONS: &str = "2";

/// An archive that was asked for and cannot be used: its benchmarks are skipped, and other programs are measured.
pub struct Unusable {
    /// What was asked of it: `dacapo:fop`, or `dacapo` for whatever it has.
    pub name: String,
    /// The file.
    pub jar: PathBuf,
}

impl Program for Unusable {
    fn describe(&self) -> results::Program {
        results::Program {
            name: self.name.clone(),
            source: self.jar.display().to_string(),
            ..results::Program::default()
        }
    }

    fn prepare(&mut self) -> Result<(), Error> {
        Archive::read(&self.jar).map(drop)
    }

    fn launch(&self, _: Size) -> Result<Launch, Error> {
        Err(Error::program(&self.name, "has no archive"))
    }
}

/// A benchmark of `DaCapo`.
pub struct DacapoProgram {
    archive: Arc<Archive>,
    name: String,
    /// The callback is compiled once for all benchmarks of an archive.
    callback: Arc<Mutex<Option<Classes>>>,
}

/// All benchmarks of an archive, by name.
pub fn benchmarks(jar: &Path) -> Result<Vec<DacapoProgram>, Error> {
    let archive = Arc::new(Archive::read(jar)?);
    let callback = Arc::default();
    let program = |name: &String| DacapoProgram {
        archive: Arc::clone(&archive),
        name: name.clone(),
        callback: Arc::clone(&callback),
    };
    Ok(archive.benchmarks.keys().map(program).collect())
}

impl DacapoProgram {
    /// Its name, as `DaCapo` has it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The version of `DaCapo`: `23.11-chopin`, `9.12-bach`.
    pub fn version(&self) -> &str {
        &self.archive.version
    }

    /// The sizes of inputs that it has, by `DaCapo`'s names.
    pub fn sizes(&self) -> &[String] {
        self.benchmark().map(|benchmark| benchmark.sizes.as_slice()).unwrap_or_default()
    }

    fn benchmark(&self) -> Option<&Benchmark> {
        self.archive.benchmarks.get(&self.name)
    }
}

impl Program for DacapoProgram {
    fn describe(&self) -> results::Program {
        results::Program {
            name: format!("dacapo:{}", self.name),
            what: self.benchmark().map(|benchmark| benchmark.what.clone()).unwrap_or_default(),
            source: self.archive.source(),
            ..results::Program::default()
        }
    }

    fn prepare(&mut self) -> Result<(), Error> {
        let mut callback = self.callback.lock().unwrap_or_else(PoisonError::into_inner);
        if callback.is_none() {
            *callback =
                Some(Classes::compile("DaCapo's callback", &SOURCES, std::slice::from_ref(&self.archive.path))?);
        }
        Ok(())
    }

    fn launch(&self, size: Size) -> Result<Launch, Error> {
        let sizes = self.sizes();
        if !sizes.iter().any(|name| name == size.word()) {
            let what = format!("of DaCapo has no size {}, only {}", size.word(), sizes.join(", "));
            return Err(Error::program(&self.name, what));
        }
        let callback = self.callback.lock().unwrap_or_else(PoisonError::into_inner);
        let classes = callback.as_ref().ok_or_else(|| Error::program(&self.name, "is not prepared"))?;
        let mut words = self.archive.opened.iter().map(Into::into).collect::<Vec<_>>();
        words.extend(["-cp".into(), classes.with(std::slice::from_ref(&self.archive.path))?]);
        words.extend([MAIN, "-c", CALLBACK, "-n", ITERATIONS, "-s", size.word(), &self.name].map(Into::into));
        Ok(Launch { java: None, words, folder: Some(Folder::new()?), agreement: Agreement::Lines })
    }
}
