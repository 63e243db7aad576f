//! JDKs of this machine, and compiling the sources that jtrace carries.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::{Error, folder::Folder};

/// The oldest JDK that the sources run on.
const RELEASE: &str = "11";
/// A compiler that runs for seconds is better off with the quick code generator: it takes little more than half the CPU time.
const QUICKLY: [&str; 3] = ["-J-XX:+IgnoreUnrecognizedVMOptions", "-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"];
/// Where distributions put JDKs.
const JVMS: &str = "/usr/lib/jvm";
/// How much of what a compiler says is shown.
const SHOWN: usize = 600;

/// A Java source: its file name and its text.
pub type Source = (&'static str, &'static str);

/// Folders of JDKs and Java runtimes: `$JAVA_HOME`, those of the search path, those in `/usr/lib/jvm`. Each once.
pub fn homes() -> Vec<PathBuf> {
    let named = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let searched = std::env::split_paths(&path).flat_map(|folder| ["javac", "java"].map(|tool| folder.join(tool)));
    let installed = fs::read_dir(JVMS).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut installed: Vec<PathBuf> = installed.collect();
    installed.sort();
    // `/usr/bin/java` is a link to the real one, two folders below its home.
    let linked = searched.filter_map(|tool| Some(fs::canonicalize(tool).ok()?.parent()?.parent()?.to_owned()));
    let mut homes = Vec::new();
    for home in named.into_iter().chain(linked).chain(installed) {
        let Ok(home) = fs::canonicalize(home) else { continue };
        if home.join("bin/java").is_file() && !homes.contains(&home) {
            homes.push(home);
        }
    }
    homes
}

/// The first `javac` of [`homes`].
pub fn compiler() -> Result<PathBuf, Error> {
    homes().into_iter().map(|home| home.join("bin/javac")).find(|javac| javac.is_file()).ok_or_else(|| Error::Missing {
        what: "javac".to_owned(),
        hint: "install a JDK of version 11 or newer (apt-get install default-jdk-headless), or set JAVA_HOME"
            .to_owned(),
    })
}

/// Compiled classes, in a folder of their own that goes away with this.
#[derive(Debug)]
pub struct Classes {
    folder: Folder,
}

impl Classes {
    /// Compiles sources for JDK 11 and newer, against some jars.
    pub fn compile(program: &str, sources: &[Source], class_path: &[PathBuf]) -> Result<Self, Error> {
        let javac = compiler()?;
        let folder = Folder::new()?;
        let classes = Self { folder };
        let from = classes.folder.path().join("sources");
        for new in [&from, &classes.path()] {
            fs::create_dir(new).map_err(Error::system(format!("make {}", new.display())))?;
        }
        let mut command = Command::new(&javac);
        command.args(QUICKLY);
        // Some of the jars carry annotation processors, which would run.
        command.args([
            "--release",
            RELEASE,
            "-proc:none",
            "-implicit:none",
            "-nowarn",
            "-Xlint:none",
            "-encoding",
            "UTF-8",
        ]);
        command.arg("-d").arg(classes.path()).arg("-cp").arg(joined(class_path)?);
        for (name, text) in sources {
            let file = from.join(name);
            fs::write(&file, text).map_err(Error::system(format!("write {}", file.display())))?;
            command.arg(file);
        }
        let output =
            command.stdin(Stdio::null()).output().map_err(Error::system(format!("run {}", javac.display())))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(Error::program(
                program,
                format!("does not compile with {}: {}", javac.display(), excerpt(&said)),
            ));
        }
        Ok(classes)
    }

    /// Where they are.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("classes")
    }

    /// A class path of these classes and some jars.
    pub fn with(&self, jars: &[PathBuf]) -> Result<std::ffi::OsString, Error> {
        let mut all = vec![self.path()];
        all.extend_from_slice(jars);
        joined(&all)
    }
}

fn joined(paths: &[PathBuf]) -> Result<std::ffi::OsString, Error> {
    std::env::join_paths(paths)
        .map_err(|error| Error::System { what: "make a class path".to_owned(), source: std::io::Error::other(error) })
}

/// The beginning of a text, on one line.
pub(super) fn excerpt(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{} ...", &line[..end]),
        None => line,
    }
}

/// Whether a JVM starts with these flags.
pub fn accepts(java: &Path, flags: &[&str]) -> bool {
    Command::new(java)
        .args(flags)
        .arg("-version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_one_line_and_bounded() {
        assert_eq!(excerpt(" one\n two\tthree "), "one two three");
        let long = excerpt(&"ä".repeat(SHOWN + 1));
        assert_eq!(long.chars().count(), SHOWN + " ...".len());
        assert_eq!(excerpt(&"ä".repeat(SHOWN)).chars().count(), SHOWN);
    }

    #[test]
    fn every_home_has_a_java_and_is_listed_once() {
        let homes = homes();
        assert!(homes.iter().all(|home| home.join("bin/java").is_file()));
        let mut unique = homes.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), homes.len());
    }

    #[test]
    fn a_source_that_does_not_compile_says_so_and_leaves_nothing() {
        if compiler().is_err() {
            eprintln!("skipped: no javac on this machine");
            return;
        }
        let error = Classes::compile("broken", &[("A.java", "class A { int x = nowhere; }")], &[]).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("broken does not compile with ") && text.contains("nowhere"), "{text}");
        let classes = Classes::compile("whole", &[("A.java", "class A { }")], &[]).unwrap();
        let path = classes.path();
        assert!(path.join("A.class").is_file());
        drop(classes);
        assert!(!path.exists());
    }
}
