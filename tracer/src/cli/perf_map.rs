//! `jtrace perf-map`: names for `perf` of the code that a JVM has compiled, in the file where `perf` looks for them.
//!
//! The file lies in a directory that others can write to, perhaps in a container that nobody should trust, and jtrace runs
//! as root. So it is written as the target's user ([`target_files`](crate::jvm::target_files)), under a name that was not
//! there before, and moved to its place at once; there it replaces only a map that this user has written.

use std::{
    fs,
    io::{self, BufWriter, Write as _},
    os::unix::fs::MetadataExt as _,
    process::ExitCode,
};

use super::{Failure, apart, opening};
use crate::{
    jvm::{
        code_cache::{self, Blob},
        find::{
            Jvm,
            process::{Identity, Status},
        },
        peek::Pages,
        target_files::{At, Kind, TargetFiles},
    },
    symbol::java::JavaSymbols,
    text::escape,
};

/// Where `perf` looks for maps.
const DIRECTORY: &str = "/tmp";
/// How often another name is tried for the unfinished file.
const ATTEMPTS: u32 = 16;

/// Options of `jtrace perf-map`.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Process id of a JVM
    pid: u32,

    /// Print the map instead of writing /tmp/perf-PID.map as the JVM sees it
    #[arg(long)]
    stdout: bool,
}

pub(super) fn run(options: &Options) -> Result<ExitCode, Failure> {
    if options.stdout {
        let entries = entries(&opening::only_to_look(options.pid)?)?;
        let mut out = BufWriter::new(io::stdout().lock());
        write_entries(&entries, &mut out)?;
        out.flush()?;
        // Standard error may be closed, which is no reason to fail.
        let _: io::Result<()> = writeln!(io::stderr(), "{} entries", entries.len());
        return Ok(ExitCode::SUCCESS);
    }
    apart::look_at(options.pid)?;
    let identity = Identity::of(options.pid);
    let files = identity.map(TargetFiles::open);
    // The process that reaches her files has been started, which nothing after this may do.
    apart::only_look()?;
    let jvm = opening::jvm(options.pid)?;
    let entries = entries(&jvm)?;
    let files = files.filter(|_| identity == Some(jvm.identity()));
    let place = Place::of(&jvm, files)?;
    place.write(&entries).map_err(|error| place.unwritable(&error))?;
    let name = &place.name;
    writeln!(io::stdout(), "wrote {} entries to /tmp/{name} of process {}", entries.len(), options.pid)?;
    Ok(ExitCode::SUCCESS)
}

/// A line of the map.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    start: u64,
    size: u64,
    name: String,
}

/// The code that stands in the code cache now, in the order of addresses.
fn entries(jvm: &Jvm) -> Result<Vec<Entry>, Failure> {
    let failed = |error: code_cache::Error| {
        let hint = error.hint();
        Failure::new(error, hint)
    };
    // Everything is looked at once and within moments.
    let pages = Pages::new(&jvm.memory);
    let mut symbols = JavaSymbols::open(&pages, &jvm.tables).map_err(failed)?;
    let (blobs, _) = symbols.code_cache().snapshot(&pages).map_err(failed)?;
    // Code without a method waits for being thrown away and does not run any more.
    let runs = |blob: &&Blob| blob.code_end > blob.code_begin && blob.compiled.is_none_or(|code| code.method != 0);
    let named = blobs.iter().filter(runs).map(|blob| Entry {
        start: blob.code_begin,
        size: blob.code_end - blob.code_begin,
        name: symbols.blob_name(blob),
    });
    Ok(named.collect())
}

/// One line each, whatever a class is called.
fn write_entries(entries: &[Entry], out: &mut impl io::Write) -> io::Result<()> {
    entries
        .iter()
        .try_for_each(|Entry { start, size, name }| writeln!(out, "{start:x} {size:x} {}", escape::terminal(name)))
}

/// Where the map goes.
struct Place {
    files: TargetFiles,
    name: String,
    /// The user of the target, as whom it is written.
    uid: u32,
}

impl Place {
    fn of(jvm: &Jvm, files: Option<io::Result<TargetFiles>>) -> Result<Self, Failure> {
        let pid = jvm.target.pid;
        let gone = || Failure::new(format!("process {pid} has gone"), "`jtrace list` shows the JVMs".to_owned());
        let uid = Status::read(&pid.to_string()).map_err(|_| gone())?.uid;
        if !jvm.identity().is_alive() {
            return Err(gone());
        }
        let files = files.ok_or_else(gone)?.map_err(|error| {
            let hint = "run jtrace as root, or as the JVM's user; `--stdout` needs neither".to_owned();
            Failure::new(format!("cannot reach files of process {pid} as its user: {error}"), hint)
        })?;
        let place = Self { files, name: format!("perf-{}.map", jvm.target.namespace_pid), uid };
        if jvm.target.namespace_pid != pid && place.is_in_own_directory().map_err(|error| place.unwritable(&error))? {
            return Err(Failure::new(
                format!(
                    "/tmp/{} would be the map of another process: this one has its number in a pid namespace, and no /tmp of its own",
                    place.name
                ),
                format!("use `jtrace perf-map --stdout {pid} > /tmp/perf-{pid}.map`"),
            ));
        }
        Ok(place)
    }

    /// Whether the target's directory is jtrace's own, where names mean processes of jtrace's own pid namespace.
    fn is_in_own_directory(&self) -> io::Result<bool> {
        let Ok(own) = fs::metadata(DIRECTORY) else { return Ok(false) };
        let theirs = self.files.examine(At { directory: DIRECTORY, name: "." })?;
        Ok(theirs.is_some_and(|theirs| theirs.file == (own.dev(), own.ino())))
    }

    const fn at(name: &str) -> At<'_> {
        At { directory: DIRECTORY, name }
    }

    /// Writes the map, whole or not at all.
    fn write(&self, entries: &[Entry]) -> io::Result<()> {
        self.check_old()?;
        let mut text = Vec::new();
        write_entries(entries, &mut text)?;
        let unfinished = self.create(&text)?;
        let written = self.files.rename(Self::at(&unfinished), &self.name);
        if written.is_err() {
            // What failed is told; that its rest could not be removed either would add nothing.
            let _: io::Result<()> = self.files.remove(Self::at(&unfinished));
        }
        written
    }

    /// What stands in the map's place must be a file that the target's user wrote.
    fn check_old(&self) -> io::Result<()> {
        let Some(old) = self.files.examine(Self::at(&self.name))? else { return Ok(()) };
        let refused = |what: &str| Err(io::Error::new(io::ErrorKind::AlreadyExists, what.to_owned()));
        if old.kind != Kind::File {
            return refused("what is there is no file");
        }
        if old.uid != self.uid {
            return refused("what is there belongs to somebody else");
        }
        if old.links != 1 {
            return refused("what is there has a second name");
        }
        Ok(())
    }

    /// A file under a name that was not there.
    fn create(&self, text: &[u8]) -> io::Result<String> {
        for attempt in 0..ATTEMPTS {
            let name = format!(".{}.{}.{attempt}", self.name, std::process::id());
            match self.files.create(Self::at(&name), 0o644, false, text) {
                Ok(()) => return Ok(name),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    fn unwritable(&self, error: &io::Error) -> Failure {
        let name = &self.name;
        Failure::new(
            format!("cannot write /tmp/{name} of the target: {error}"),
            "remove what is in the way, or use `--stdout`".to_owned(),
        )
    }
}

#[cfg(test)]
mod tests {
    use std::{
        os::unix::fs::{PermissionsExt as _, symlink},
        path::Path,
    };

    use rustix::process::geteuid;

    use super::*;

    fn place(directory: &Path) -> Place {
        let files = TargetFiles::within(directory);
        Place { files, name: "perf-7.map".to_owned(), uid: geteuid().as_raw() }
    }

    fn entry(name: &str) -> Entry {
        Entry { start: 0x7f00_0000_1000, size: 0x40, name: name.to_owned() }
    }

    fn names(directory: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_fresh_map_replaces_the_old_one_and_leaves_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let map = directory.path().join("perf-7.map");
        fs::write(&map, "old").unwrap();
        place(directory.path()).write(&[entry("com.shop.Cart.add")]).unwrap();
        assert_eq!(fs::read_to_string(&map).unwrap(), "7f0000001000 40 com.shop.Cart.add\n");
        assert_eq!(fs::metadata(&map).unwrap().permissions().mode() & 0o777, 0o644);
        assert_eq!(names(directory.path()), ["perf-7.map"]);
    }

    #[test]
    fn a_name_stays_on_its_line() {
        let mut out = Vec::new();
        write_entries(&[entry("evil\n0 ffff everything\r\x1b[2J")], &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "7f0000001000 40 evil\\n0 ffff everything\\r\\x1b[2J\n");
    }

    #[test]
    fn a_link_or_a_directory_in_the_place_of_the_map_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let (map, victim) = (directory.path().join("perf-7.map"), directory.path().join("victim"));
        fs::write(&victim, "precious").unwrap();
        symlink(&victim, &map).unwrap();
        assert!(place(directory.path()).write(&[entry("a")]).is_err());
        fs::remove_file(&map).unwrap();
        fs::hard_link(&victim, &map).unwrap();
        assert!(place(directory.path()).write(&[entry("a")]).is_err());
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        fs::remove_file(&map).unwrap();
        fs::create_dir(&map).unwrap();
        assert!(place(directory.path()).write(&[entry("a")]).is_err());
        assert_eq!(names(directory.path()), ["perf-7.map", "victim"]);
    }

    #[test]
    fn an_unfinished_file_that_is_a_link_is_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let victim = directory.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        let trap = directory.path().join(format!(".perf-7.map.{}.0", std::process::id()));
        symlink(&victim, &trap).unwrap();
        place(directory.path()).write(&[entry("a")]).unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        assert!(fs::symlink_metadata(directory.path().join("perf-7.map")).unwrap().is_file());
    }

    #[test]
    fn a_map_of_another_user_is_not_replaced() {
        if !geteuid().is_root() {
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        let map = directory.path().join("perf-7.map");
        fs::write(&map, "theirs").unwrap();
        std::os::unix::fs::chown(&map, Some(12345), None).unwrap();
        assert!(place(directory.path()).write(&[entry("a")]).is_err());
        assert_eq!(fs::read_to_string(&map).unwrap(), "theirs");
    }
}
