//! Reports of the last sessions, which `jtrace report` shows where nobody gave it a file: what was on the screen is a part only,
//! and the incident may be over.
//!
//! They lie in a directory that only jtrace's user can enter, beside the undo journal: in memory on most machines, so there are
//! few, and large ones are not kept.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::{Failure, place::Place};
use crate::{jvm::journal::Journal, report::Report, view::json};

/// Where they lie in the journal's directory.
const DIRECTORY: &str = "reports";
/// How many are kept.
const MOST: usize = 4;
/// Largest that is kept.
const MAX_BYTES: u64 = 8 << 20;
/// Entries of the directory that are looked at.
const MAX_ENTRIES: usize = 1000;

/// The name that a report is going to have.
pub(super) struct Kept(Place);

impl Kept {
    /// Makes room for the report of a session with this process. That it cannot be kept spoils nothing.
    pub(super) fn open(pid: u32) -> Option<Self> {
        Self::try_open(&journal().ok()?, pid).inspect_err(|error| log::debug!("the report is not kept: {error}")).ok()
    }

    fn try_open(journal: &Journal, pid: u32) -> io::Result<Self> {
        journal.open().map_err(io::Error::other)?;
        let reports = journal.beside(DIRECTORY);
        reports.open().map_err(io::Error::other)?;
        let path = reports.path().join(format!("{pid}.json"));
        let all = in_order(reports.path()).into_iter().filter(|(_, other)| *other != path);
        for (_, oldest) in all.rev().skip(MOST - 1) {
            fs::remove_file(oldest)?;
        }
        let place = Place::open(&path)?;
        place.check()?;
        Ok(Self(place))
    }

    /// Writes the report, in the place of an older one of the same process.
    pub(super) fn finish(self, report: &Report) {
        let kept = self.0.replace(|out| json::write(report, &mut Bounded { out, left: MAX_BYTES }));
        if let Err(error) = kept {
            log::debug!("the report is not kept: {error}");
        }
    }
}

fn journal() -> Result<Journal, crate::jvm::journal::Error> {
    Journal::for_this_user()
}

/// The report of the session that ended last.
pub(in crate::cli) fn latest() -> Result<PathBuf, Failure> {
    let directory = journal().map(|journal| journal.beside(DIRECTORY));
    let found = directory.ok().and_then(|reports| latest_in(reports.path()));
    found.ok_or_else(|| {
        Failure::usage(
            "there is no report of an earlier session of this user",
            "give a file: a recording, or a report that was written as JSON; sessions of root are shown by `sudo jtrace report`"
                .to_owned(),
        )
    })
}

fn latest_in(directory: &Path) -> Option<PathBuf> {
    in_order(directory).pop().map(|(_, path)| path)
}

/// The reports, the oldest first.
fn in_order(directory: &Path) -> Vec<(SystemTime, PathBuf)> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().take(MAX_ENTRIES);
    let dated = entries.filter_map(|entry| {
        let metadata = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        // One that is being written begins with a dot.
        let is_whole = entry.file_name().to_str().is_some_and(|name| !name.starts_with('.'));
        is_whole.then_some(())?;
        Some((metadata.modified().ok()?, entry.path()))
    });
    let mut dated: Vec<_> = dated.collect();
    dated.sort();
    dated
}

/// Refuses what comes after so many bytes.
struct Bounded<'a> {
    out: &'a mut dyn Write,
    left: u64,
}

impl Write for Bounded<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.left = self.left.checked_sub(bytes.len() as u64).ok_or(io::ErrorKind::FileTooLarge)?;
        self.out.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::view::sample;

    fn kept(journal: &Journal, pid: u32) {
        Kept::try_open(journal, pid).unwrap().finish(&sample::report());
        // The clock of files is coarse.
        let path = journal.beside(DIRECTORY).path().join(format!("{pid}.json"));
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(u64::from(pid))).unwrap();
    }

    #[test]
    fn the_last_reports_are_kept_and_the_latest_is_found() {
        let directory = tempfile::tempdir().unwrap();
        let journal = Journal::at(directory.path().join("journal"));
        for pid in 1..=7 {
            kept(&journal, pid);
        }
        let reports = journal.beside(DIRECTORY);
        let last = latest_in(reports.path()).unwrap();
        assert_eq!(last.file_name().unwrap(), "7.json");
        assert!(Report::read(&fs::read(last).unwrap()).is_ok());
        assert_eq!(fs::read_dir(reports.path()).unwrap().count(), MOST);
        // Another session with the same process takes no other's place.
        kept(&journal, 5);
        assert_eq!(fs::read_dir(reports.path()).unwrap().count(), MOST);
    }

    #[test]
    fn a_large_report_is_not_kept_and_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let journal = Journal::at(directory.path().join("journal"));
        let mut report = sample::report();
        report.headline = Some("x".repeat(usize::try_from(MAX_BYTES).unwrap()));
        Kept::try_open(&journal, 7).unwrap().finish(&report);
        assert_eq!(fs::read_dir(journal.beside(DIRECTORY).path()).unwrap().count(), 0);
    }

    #[test]
    fn nothing_is_kept_where_others_could_write() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(Kept::try_open(&Journal::at(path), 7).is_err());
    }
}
