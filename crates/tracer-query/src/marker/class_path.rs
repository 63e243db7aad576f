//! Class files in jars and folders. Whatever is in them is hostile: sizes and numbers are bounded, links are not followed, and what
//! cannot be read is said and left out.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use flate2::read::DeflateDecoder;
use rawzip::{CompressionMethod, RECOMMENDED_BUFFER_SIZE, ReaderAt, ZipArchive, ZipArchiveEntryWayfinder};
use tracer_weave::outline::{ClassOutline, outline};

/// Largest class file: its parts have 16-bit numbers, and no compiler makes one of a quarter of that.
const MAX_CLASS_BYTES: u64 = 16 << 20;
/// Most classes.
const MAX_CLASSES: usize = 1 << 18;
/// Most bytes of all class files.
const MAX_BYTES: u64 = 2 << 30;
/// Deepest folders.
const MAX_FOLDERS: usize = 64;
/// Most things that are said to be left out.
const MAX_LEFT: usize = 1000;

/// A class.
#[derive(Debug)]
pub struct Class {
    /// What it says of itself.
    pub outline: ClassOutline,
    /// The class file.
    pub bytes: Vec<u8>,
}

/// What was not looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The file or entry.
    pub what: String,
    /// Why.
    pub reason: String,
}

/// All classes of some paths.
#[derive(Debug, Default)]
pub struct ClassPath {
    /// The classes; the first of a name.
    pub classes: Vec<Class>,
    /// How many jars and folders there were.
    pub paths: u64,
    /// What was not looked at.
    pub left: Vec<Left>,
    bytes: u64,
    names: std::collections::HashSet<String>,
}

/// Why a path could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file or folder cannot be read.
    #[error("cannot read {path}: {source}")]
    Io {
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is no jar.
    #[error("{path} cannot be read as a jar: {reason}")]
    NoJar {
        /// The path.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// There is no class in any of them.
    #[error("there is no class file in {0}")]
    Empty(String),
}

impl Error {
    /// What may help.
    pub fn hint(&self) -> String {
        match self {
            Self::Io { .. } => "check the path and its permissions",
            Self::NoJar { .. } => "--jar takes jars, --class-path folders with class files, and jars",
            Self::Empty(_) => "a folder is the one above the package's: build/classes, and not build/classes/com/shop",
        }
        .to_owned()
    }
}

impl ClassPath {
    /// Reads all class files of these jars and folders.
    pub fn read(paths: &[PathBuf]) -> Result<Self, Error> {
        let mut all = Self::default();
        for path in paths {
            all.paths += 1;
            let io = |source| Error::Io { path: path.clone(), source };
            let metadata = fs::metadata(path).map_err(io)?;
            if metadata.is_dir() {
                all.folder(path, 0).map_err(io)?;
            } else if path.extension().is_some_and(|extension| extension == "class") {
                let bytes = bounded(File::open(path).map_err(io)?).map_err(io)?;
                all.take(&path.display().to_string(), bytes);
            } else {
                all.jar(path)?;
            }
        }
        if all.classes.is_empty() {
            let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            return Err(Error::Empty(paths.join(", ")));
        }
        Ok(all)
    }

    fn folder(&mut self, folder: &Path, depth: usize) -> io::Result<()> {
        let mut entries: Vec<fs::DirEntry> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let kind = entry.file_type()?;
            if kind.is_dir() && depth < MAX_FOLDERS {
                self.folder(&path, depth + 1)?;
            } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "class") {
                match File::open(&path).and_then(bounded) {
                    Ok(bytes) => self.take(&path.display().to_string(), bytes),
                    Err(error) => self.leave(&path.display().to_string(), &error),
                }
            }
        }
        Ok(())
    }

    fn jar(&mut self, path: &Path) -> Result<(), Error> {
        let file = File::open(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
        let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
        let read = ZipArchive::from_file(file, &mut buffer).and_then(|zip| self.archive(&zip, &mut buffer));
        read.map_err(|error| Error::NoJar { path: path.to_owned(), reason: error.to_string() })
    }

    fn archive(&mut self, zip: &ZipArchive<impl ReaderAt>, buffer: &mut [u8]) -> Result<(), rawzip::Error> {
        let mut places: Vec<(String, ZipArchiveEntryWayfinder, CompressionMethod)> = Vec::new();
        let mut entries = zip.entries(buffer);
        while let Some(entry) = entries.next_entry()? {
            let path = entry.file_path();
            let Ok(name) = std::str::from_utf8(path.as_bytes()) else { continue };
            // What is for newer releases stands beside the class that all releases have.
            if is_called(name, "class") && !name.starts_with("META-INF/") && places.len() < MAX_CLASSES {
                places.push((name.to_owned(), entry.wayfinder(), entry.compression_method()));
            } else if is_called(name, "jar") {
                self.leave(name, &"a jar in a jar: unpack it, and name it itself");
            }
        }
        for (name, place, method) in places {
            match entry(zip, place, method) {
                Ok(bytes) => self.take(&name, bytes),
                Err(error) => self.leave(&name, &error),
            }
        }
        Ok(())
    }

    fn take(&mut self, what: &str, bytes: Vec<u8>) {
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        if self.classes.len() >= MAX_CLASSES || self.bytes > MAX_BYTES {
            self.leave(what, &"there are too many classes: name fewer paths");
            return;
        }
        match outline(&bytes) {
            Ok(outline) if self.names.insert(outline.name.clone()) => self.classes.push(Class { outline, bytes }),
            Ok(_) => self.leave(what, &"a class of this name was there before"),
            Err(error) => self.leave(what, &error),
        }
    }

    fn leave(&mut self, what: &str, reason: &dyn std::fmt::Display) {
        if self.left.len() < MAX_LEFT {
            self.left.push(Left { what: what.to_owned(), reason: reason.to_string() });
        }
    }
}

/// Whether an entry has this extension.
fn is_called(name: &str, extension: &str) -> bool {
    Path::new(name).extension().is_some_and(|of| of.eq_ignore_ascii_case(extension))
}

/// A file that is no larger than class files are.
fn bounded(input: impl io::Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(MAX_CLASS_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_CLASS_BYTES {
        return Err(io::Error::other("larger than a class file can be"));
    }
    Ok(bytes)
}

fn entry(
    zip: &ZipArchive<impl ReaderAt>,
    place: ZipArchiveEntryWayfinder,
    method: CompressionMethod,
) -> io::Result<Vec<u8>> {
    let entry = zip.get_entry(place).map_err(io::Error::other)?;
    match method {
        CompressionMethod::STORE => bounded(entry.reader()),
        CompressionMethod::DEFLATE => bounded(DeflateDecoder::new(entry.reader())),
        other => Err(io::Error::other(format!("compressed by method {}", other.as_u16()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A short entry can become the largest class file, and memory doubles while it does.
    const ROOM: usize = 64 << 20;

    /// In memory: a file for each of ten million inputs takes hours.
    #[test]
    fn fuzz_jar() {
        let samples = crate::fuzz::corpus("jar");
        let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
        crate::fuzz::each("jar", ROOM, |dice| {
            let bytes = crate::fuzz::damaged(dice, &samples);
            let len = bytes.len() as u64;
            let Ok(zip) = rawzip::ZipLocator::new().locate_in_reader(bytes, &mut buffer, len) else { return };
            let _: Result<(), rawzip::Error> = ClassPath::default().archive(&zip, &mut buffer);
        });
    }

    #[test]
    fn a_jar_is_read_from_its_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.jar");
        let mut read = crate::fuzz::corpus("jar").into_iter().map(|sample| {
            fs::write(&path, sample).expect("written");
            ClassPath::read(std::slice::from_ref(&path))
        });
        assert!(
            read.any(|all| all.is_ok_and(|all| all.classes[0].outline.name == "Methods$Greeting")),
            "no class is read"
        );
        fs::write(&path, b"PK\x05\x06").expect("written");
        assert!(matches!(ClassPath::read(&[path]), Err(Error::NoJar { .. })));
    }
}
