//! Reads what a `DaCapo` archive says of itself: its version, its benchmarks, and what it wants opened.
//!
//! The file is whatever the user has: every length is bounded, and nothing is unpacked.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Read as _,
    path::{Path, PathBuf},
};

use flate2::read::DeflateDecoder;
use rawzip::{CompressionMethod, RECOMMENDED_BUFFER_SIZE, ReaderAt, ZipArchive, ZipArchiveEntryWayfinder};

use super::super::{Error, java::excerpt};

/// What is expected, and where it is.
const JAR: &str = "a jar of DaCapo (23.11-chopin or 9.12-bach, from https://www.dacapobench.org)";
/// What must be in it.
const HARNESS: &str = "Harness.class";
const CALLBACK: &str = "org/dacapo/harness/Callback.class";
const MANIFEST: &str = "META-INF/MANIFEST.MF";
/// Where the benchmarks are described: in 23.11, and in 9.12.
const CONFIGURATIONS: [&str; 2] = ["META-INF/cnf/", "cnf/"];

/// More files than any `DaCapo` has.
const MOST_ENTRIES: u64 = 1 << 20;
/// A manifest or a description is some kilobytes.
const MOST_BYTES: u64 = 1 << 20;
/// `DaCapo` has about twenty benchmarks.
const MOST_BENCHMARKS: usize = 200;

/// What is known of an archive.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Archive {
    /// Where it is, links resolved: 23.11 looks for its data beside the file.
    pub(super) path: PathBuf,
    /// `23.11-chopin`, `9.12-bach`.
    pub(super) version: String,
    /// Flags for what its manifest wants opened; `java -jar` would do that itself.
    pub(super) opened: Vec<String>,
    /// By name.
    pub(super) benchmarks: BTreeMap<String, Benchmark>,
}

/// What an archive says of one benchmark.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Benchmark {
    /// One line.
    pub(super) what: String,
    /// Names of the sizes that it has.
    pub(super) sizes: Vec<String>,
}

/// Places of the files that are read.
#[derive(Default)]
struct Places {
    has_harness: bool,
    has_callback: bool,
    manifest: Option<Place>,
    configurations: BTreeMap<String, Place>,
}

type Place = (ZipArchiveEntryWayfinder, CompressionMethod);

impl Archive {
    pub(super) fn read(jar: &Path) -> Result<Self, Error> {
        let path = fs::canonicalize(jar).map_err(|error| Error::Missing {
            what: format!("DaCapo's archive {}", jar.display()),
            hint: format!(
                "get 23.11-chopin or 9.12-bach from https://www.dacapobench.org, unpack it, and name its jar ({error})"
            ),
        })?;
        let unexpected = |found: String| Error::Unexpected { path: path.clone(), expected: JAR, found };
        let file = File::open(&path).map_err(Error::system(format!("read {}", path.display())))?;
        if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            return Err(unexpected("it is no file".to_owned()));
        }
        let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
        let zip = ZipArchive::from_file(file, &mut buffer).map_err(|error| unexpected(not_a_jar(&error)))?;
        Self::of(&zip, &mut buffer, path.clone()).map_err(unexpected)
    }

    /// What a jar says; where it is another one, what is wrong with it.
    fn of(zip: &ZipArchive<impl ReaderAt>, buffer: &mut [u8], path: PathBuf) -> Result<Self, String> {
        let places = Places::find(zip, buffer).map_err(|error| not_a_jar(&error))?;
        for (is_there, name) in [(places.has_harness, HARNESS), (places.has_callback, CALLBACK)] {
            if !is_there {
                return Err(format!("it has no {name}"));
            }
        }
        if places.configurations.is_empty() {
            return Err("it describes no benchmark".to_owned());
        }
        let text = |place: &Place| {
            text(zip, *place).map_err(|error| format!("it is damaged ({})", excerpt(&error.to_string())))
        };
        let manifest =
            places.manifest.as_ref().map(text).transpose()?.map(|text| Manifest::parse(&text)).unwrap_or_default();
        let mut benchmarks = BTreeMap::new();
        for (name, place) in &places.configurations {
            benchmarks.insert(name.clone(), Benchmark::parse(&text(place)?));
        }
        let version = manifest.version().unwrap_or_else(|| "of unknown version".to_owned());
        Ok(Self { version, opened: manifest.opened(), benchmarks, path })
    }

    /// Its version, where it is, and with which flags it opens parts of the JDK: they are the same in every configuration, and
    /// a result without them could not be repeated.
    pub(super) fn source(&self) -> String {
        let opened = if self.opened.is_empty() { String::new() } else { format!(", with {}", self.opened.join(" ")) };
        format!("DaCapo {}, {}{opened}", self.version, self.path.display())
    }
}

fn not_a_jar(error: &rawzip::Error) -> String {
    format!("it cannot be read as a jar ({})", excerpt(&error.to_string()))
}

impl Places {
    fn find(zip: &ZipArchive<impl ReaderAt>, buffer: &mut [u8]) -> Result<Self, rawzip::Error> {
        let mut places = Self::default();
        let mut entries = zip.entries(buffer);
        let mut seen = 0;
        while let Some(entry) = entries.next_entry()? {
            seen += 1;
            if seen > MOST_ENTRIES {
                break;
            }
            let path = entry.file_path();
            let Ok(name) = std::str::from_utf8(path.as_bytes()) else { continue };
            let place = (entry.wayfinder(), entry.compression_method());
            match name {
                HARNESS => places.has_harness = true,
                CALLBACK => places.has_callback = true,
                MANIFEST => places.manifest = Some(place),
                other => {
                    if let Some(benchmark) = benchmark(other)
                        && places.configurations.len() < MOST_BENCHMARKS
                    {
                        places.configurations.insert(benchmark.to_owned(), place);
                    }
                }
            }
        }
        Ok(places)
    }
}

/// The benchmark that a file describes. Its name becomes a word of a command line, so it is one.
fn benchmark(path: &str) -> Option<&str> {
    let file = CONFIGURATIONS.iter().find_map(|folder| path.strip_prefix(folder))?;
    let name = file.strip_suffix(".cnf")?;
    let is_word = name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.len() <= 64
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter));
    is_word.then_some(name)
}

fn text(zip: &ZipArchive<impl ReaderAt>, (place, method): Place) -> std::io::Result<String> {
    let entry = zip.get_entry(place).map_err(std::io::Error::other)?;
    let mut bytes = Vec::new();
    match method {
        CompressionMethod::STORE => entry.reader().take(MOST_BYTES).read_to_end(&mut bytes)?,
        CompressionMethod::DEFLATE => DeflateDecoder::new(entry.reader()).take(MOST_BYTES).read_to_end(&mut bytes)?,
        other => return Err(std::io::Error::other(format!("compressed by method {}", other.as_u16()))),
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The main section of a manifest.
#[derive(Debug, Default, PartialEq, Eq)]
struct Manifest(BTreeMap<String, String>);

impl Manifest {
    /// A line that begins with a blank goes on with the one before it; an empty line ends the section.
    fn parse(text: &str) -> Self {
        let mut lines: Vec<String> = Vec::new();
        for line in text.lines().take_while(|line| !line.is_empty()) {
            match (line.strip_prefix(' '), lines.last_mut()) {
                (Some(rest), Some(last)) => last.push_str(rest),
                _ => lines.push(line.to_owned()),
            }
        }
        let fields = lines.iter().filter_map(|line| line.split_once(": "));
        Self(fields.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect())
    }

    /// `DaCapo` puts the number in one field, and the nickname with or without the number in another.
    fn version(&self) -> Option<String> {
        let field = |name| self.0.get(name).map(|value| excerpt(value)).filter(|value| !value.is_empty());
        match (field("Implementation-Version"), field("Specification-Version")) {
            (Some(number), Some(nickname)) if number.contains(&nickname) => Some(number),
            (Some(number), Some(nickname)) if nickname.contains(&number) => Some(nickname),
            (Some(number), Some(nickname)) => Some(format!("{number}-{nickname}")),
            (one, other) => one.or(other),
        }
    }

    fn opened(&self) -> Vec<String> {
        let flags = [("Add-Exports", "--add-exports"), ("Add-Opens", "--add-opens")];
        let of = |(field, flag): (&str, &str)| {
            let packages = self.0.get(field).map(String::as_str).unwrap_or_default();
            let named = packages.split_whitespace().filter(|package| is_package(package));
            named.map(|package| format!("{flag}={package}=ALL-UNNAMED")).collect::<Vec<_>>()
        };
        flags.into_iter().flat_map(of).collect()
    }
}

/// Whether this is `module/package`.
fn is_package(word: &str) -> bool {
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "._$".contains(c));
    word.split_once('/').is_some_and(|(module, package)| is_name(module) && is_name(package))
}

impl Benchmark {
    /// Of the language of `DaCapo`'s descriptions only `size NAME args` and `short "TEXT"` are of interest; both begin a line.
    fn parse(text: &str) -> Self {
        let mut found = Self::default();
        for line in text.lines() {
            let mut words = line.split_whitespace();
            match (words.next(), words.next()) {
                (Some("size"), Some(size)) => found.sizes.push(excerpt(size)),
                (Some("short"), Some(_)) if found.what.is_empty() => {
                    found.what = excerpt(line.split('"').nth(1).unwrap_or_default());
                }
                _ => {}
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_is_unfolded_up_to_its_first_empty_line() {
        let manifest = Manifest::parse(
            "Manifest-Version: 1.0\r\nMain-Class: Harness\r\nSpecification-Version: chopin\r\nImplementation-Version: 23.11\r\n\
             Add-Opens: java.base/java.lang java.ba\r\n se/java.io -Xevil java.base/\r\n\r\nName: x\r\nAdd-Exports: a/b\r\n",
        );
        assert_eq!(manifest.version().as_deref(), Some("23.11-chopin"));
        let expected = ["--add-opens=java.base/java.lang=ALL-UNNAMED", "--add-opens=java.base/java.io=ALL-UNNAMED"];
        assert_eq!(manifest.opened(), expected);
    }

    #[test]
    fn the_version_is_put_together_from_what_there_is() {
        let version = |text: &str| Manifest::parse(text).version();
        assert_eq!(
            version("Specification-Version: bach\nImplementation-Version: 9.12-bach\n").as_deref(),
            Some("9.12-bach")
        );
        assert_eq!(
            version("Specification-Version: 9.12-bach\nImplementation-Version: 9.12\n").as_deref(),
            Some("9.12-bach")
        );
        assert_eq!(version("Implementation-Version: 9.12\n").as_deref(), Some("9.12"));
        assert_eq!(version("Specification-Version: \n"), None);
    }

    #[test]
    fn a_description_gives_sizes_and_one_line() {
        let text = "benchmark made\n  class org.dacapo.harness.Made\n/* size odd */\nsize small args \"-d\"\n  output x;\n\
                    size default args \"1\";\ndescription\n  short\t\t\"Made up, for a test\",\n  long \"short\";\n";
        let benchmark = Benchmark::parse(text);
        assert_eq!(benchmark.sizes, ["small", "default"]);
        assert_eq!(benchmark.what, "Made up, for a test");
        assert_eq!(Benchmark::parse("\u{0}short"), Benchmark::default());
    }

    #[test]
    fn only_a_word_is_the_name_of_a_benchmark() {
        assert_eq!(benchmark("META-INF/cnf/fop.cnf"), Some("fop"));
        assert_eq!(benchmark("cnf/trade-beans.cnf"), Some("trade-beans"));
        for other in ["cnf/-c.cnf", "cnf/.cnf", "cnf/a/b.cnf", "cnf/a b.cnf", "dat/fop.cnf", "cnf/fop.txt"] {
            assert_eq!(benchmark(other), None, "{other}");
        }
    }

    #[test]
    fn what_is_no_archive_is_said_to_be_none() {
        let folder = tempfile::tempdir().unwrap();
        let missing = Archive::read(&folder.path().join("none.jar")).unwrap_err();
        assert!(matches!(missing, Error::Missing { .. }), "{missing}");
        let is_no_jar = |path: &Path| {
            let error = Archive::read(path).unwrap_err();
            assert!(matches!(error, Error::Unexpected { .. }), "{error}");
            assert!(error.to_string().contains("9.12-bach, from https://www.dacapobench.org"), "{error}");
        };
        is_no_jar(folder.path());
        for content in [&b""[..], b"PK\x05\x06", b"#!/bin/sh\necho no jar\n"] {
            let file = folder.path().join("file.jar");
            fs::write(&file, content).unwrap();
            is_no_jar(&file);
        }
    }

    #[test]
    fn fuzz_dacapo_texts() {
        crate::fuzz::texts("dacapo", |text| {
            let manifest = Manifest::parse(text);
            assert!(manifest.opened().iter().all(|flag| flag.starts_with("--add-")));
            let _: (Option<String>, Benchmark) = (manifest.version(), Benchmark::parse(text));
        });
    }

    /// In memory: a file for each of ten million inputs takes hours.
    #[test]
    fn fuzz_dacapo_jar() {
        let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
        let mut of = |bytes: &[u8]| {
            let zip = rawzip::ZipLocator::new().locate_in_reader(bytes, &mut buffer, bytes.len() as u64).ok()?;
            Archive::of(&zip, &mut buffer, PathBuf::new()).ok()
        };
        assert!(crate::fuzz::corpus("jar").iter().any(|sample| of(sample).is_some()), "a sample is one");
        crate::fuzz::samples("jar", |bytes| drop(of(bytes)));
    }
}
