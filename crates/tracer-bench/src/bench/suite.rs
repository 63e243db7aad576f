//! The suite of packaged programs: those of `DaCapo` that Debian has packages of, and javac.
//!
//! The programs are the real ones; their inputs are made by the Java sources in `bench/`, which also check every result
//! against numbers that are known without running it. These sources are compiled when a program is prepared, each program in
//! a folder of its own, so that a missing package hinders no other program. What they are *not*: the workloads of `DaCapo`
//! itself, so no time here can be compared with one of `DaCapo`'s; see [`super::dacapo`] for that.

mod catalogue;
mod methods;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use catalogue::{COMMON, ENTRIES, Entry};

use super::{
    Error,
    folder::Folder,
    interruption::Interruption,
    java::{Classes, Source},
    program::{Agreement, Launch, Program, Size},
    results,
};

/// Where Debian's jars are.
const JARS: &str = "/usr/share/java";
/// The class that keeps the agreement.
const MAIN: &str = "jtrace.bench.Suite";

/// A program of the suite.
pub struct Packaged {
    entry: &'static Entry,
    jars: PathBuf,
    source: String,
    classes: Option<Classes>,
}

/// All programs, by name.
pub fn packaged() -> Vec<Packaged> {
    let versions = versions(&packages());
    ENTRIES.iter().map(|entry| Packaged::new(entry, Path::new(JARS), &versions)).collect()
}

/// The Debian packages that bring all programs, by name; each once.
pub fn packages() -> Vec<&'static str> {
    let mut packages: Vec<_> = ENTRIES.iter().filter_map(|entry| entry.package).collect();
    packages.sort_unstable();
    packages.dedup();
    packages
}

impl Packaged {
    fn new(entry: &'static Entry, jars: &Path, versions: &BTreeMap<String, String>) -> Self {
        let source = match entry.package {
            None => "the JDK".to_owned(),
            Some(package) => versions.get(package).map_or_else(|| package.to_owned(), |it| format!("{package} {it}")),
        };
        Self { entry, jars: jars.to_owned(), source, classes: None }
    }

    /// Its name.
    pub const fn name(&self) -> &'static str {
        self.entry.name
    }

    /// The Debian package that brings it; absent for what is in every JDK.
    pub const fn package(&self) -> Option<&'static str> {
        self.entry.package
    }

    /// Its jars, all of which are there.
    fn find_jars(&self) -> Result<Vec<PathBuf>, Error> {
        let paths: Vec<PathBuf> = self.entry.jars.iter().map(|jar| self.jars.join(format!("{jar}.jar"))).collect();
        let package = self.entry.package.unwrap_or_default();
        match paths.iter().position(|path| !path.is_file()) {
            None => Ok(paths),
            Some(0) => Err(Error::Missing {
                what: format!("{} (Debian package {package})", self.name()),
                hint: format!("apt-get install {package}"),
            }),
            // The package is there without one of those that it depends on.
            Some(at) => Err(Error::Missing {
                what: format!("{}, which {} needs (Debian package {package})", paths[at].display(), self.name()),
                hint: format!("apt-get install --reinstall {package}, and what it depends on"),
            }),
        }
    }

    /// The words that start it.
    fn words(&self, size: Size) -> Result<Vec<OsString>, Error> {
        let classes = self.classes.as_ref().ok_or_else(|| Error::program(self.name(), "is not prepared"))?;
        let scale = self.entry.scale(size).to_string();
        Ok(vec!["-cp".into(), classes.with(&self.find_jars()?)?, MAIN.into(), self.entry.class.into(), scale.into()])
    }
}

impl Program for Packaged {
    fn describe(&self) -> results::Program {
        results::Program {
            name: self.name().to_owned(),
            what: self.entry.what.to_owned(),
            source: self.source.clone(),
            ..results::Program::default()
        }
    }

    fn prepare(&mut self) -> Result<(), Error> {
        let jars = self.find_jars()?;
        let sources: Vec<Source> = COMMON.iter().chain(self.entry.sources).copied().collect();
        self.classes = Some(Classes::compile(self.name(), &sources, &jars)?);
        Ok(())
    }

    /// Asked of a JVM that notes executed methods, JDK 11 or 17: that of the session, or else another one of this machine.
    fn methods(&self, size: Size, java: &Path, interruption: &Interruption) -> Result<Option<Vec<String>>, Error> {
        let java = methods::java(java).ok_or_else(|| Error::Missing {
            what: "a JVM that notes executed methods".to_owned(),
            hint: "install JDK 11 or 17 (newer ones cannot any more) in /usr/lib/jvm, or set JAVA_HOME".to_owned(),
        })?;
        methods::executed(self.name(), &java, &self.words(size)?, self.entry.own, interruption).map(Some)
    }

    fn launch(&self, size: Size) -> Result<Launch, Error> {
        let words = self.words(size)?;
        Ok(Launch { java: None, words, folder: Some(Folder::new()?), agreement: Agreement::Lines })
    }
}

/// Versions of packages, as the package manager knows them; nothing of those that are not there, or where there is no such
/// manager.
fn versions(packages: &[&str]) -> BTreeMap<String, String> {
    // It ends with an error where one is unknown, and answers for the others all the same.
    let asked = Command::new("dpkg-query")
        .args(["--show", "--showformat=${Package} ${Version}\n"])
        .args(packages)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let answer = asked.map(|output| output.stdout).unwrap_or_default();
    let answer = String::from_utf8_lossy(&answer);
    let lines = answer.lines().filter_map(|line| line.split_once(' ')).filter(|(_, version)| !version.is_empty());
    lines.map(|(package, version)| (package.to_owned(), super::java::excerpt(version))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, jars: &Path) -> Packaged {
        let versions = BTreeMap::from([("libh2-java".to_owned(), "2.1.214-1".to_owned())]);
        Packaged::new(ENTRIES.iter().find(|entry| entry.name == name).unwrap(), jars, &versions)
    }

    #[test]
    fn there_are_eleven_programs_of_dacapo_and_javac_in_order() {
        let names: Vec<_> = packaged().iter().map(Packaged::name).collect();
        let expected = "batik checkstyle ecj fop h2 javac jython luindex lusearch sunflow tomcat xalan";
        assert_eq!(names.join(" "), expected);
        assert!(
            ENTRIES.iter().all(|entry| entry.scales.is_sorted() && entry.package.is_some() != entry.jars.is_empty())
        );
    }

    #[test]
    fn each_package_is_listed_once() {
        let packages = packages();
        assert_eq!(packages.iter().filter(|package| package.contains("lucene")).count(), 1);
        assert!(packages.is_sorted() && packages.contains(&"libh2-java"));
        let set_up = include_str!("../../bench/packages.txt").lines().filter(|line| !line.starts_with('#'));
        assert_eq!(set_up.collect::<Vec<_>>(), packages, "what set-up installs");
    }

    #[test]
    fn a_missing_package_is_named_with_what_installs_it() {
        let empty = tempfile::tempdir().unwrap();
        let error = named("h2", empty.path()).prepare().unwrap_err();
        let Error::Missing { what, hint } = error else { panic!("{error}") };
        assert_eq!((what.as_str(), hint.as_str()), ("h2 (Debian package libh2-java)", "apt-get install libh2-java"));
    }

    #[test]
    fn a_missing_dependency_is_named_itself() {
        let some = tempfile::tempdir().unwrap();
        std::fs::write(some.path().join("xalan2.jar"), "").unwrap();
        let text = named("xalan", some.path()).prepare().unwrap_err().to_string();
        assert!(text.contains("serializer.jar, which xalan needs (Debian package libxalan2-java)"), "{text}");
    }

    #[test]
    fn a_program_starts_only_after_it_was_prepared() {
        let error = named("javac", Path::new(JARS)).launch(Size::Small).unwrap_err();
        assert_eq!(error.to_string(), "javac is not prepared");
    }

    #[test]
    fn a_program_says_its_package_and_the_version_where_it_is_known() {
        let source = |name| named(name, Path::new(JARS)).describe().source;
        assert_eq!(source("h2"), "libh2-java 2.1.214-1");
        assert_eq!((source("fop"), source("javac")), ("libfop-java".to_owned(), "the JDK".to_owned()));
        let known = versions(&["no-such-package-of-jtrace", "dpkg"]);
        // Where there is a package manager, it knows itself, and an unknown package beside it changes nothing.
        let expected: &[&str] = if Path::new("/usr/bin/dpkg-query").is_file() { &["dpkg"] } else { &[] };
        assert_eq!(known.keys().collect::<Vec<_>>(), expected);
    }
}
