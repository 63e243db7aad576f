//! Which file the target maps more and more of, when more and more of files lies in its RAM: the list of mappings is read at the first
//! look, and again only then.

use std::{collections::HashMap, path::PathBuf};

use crate::{
    item::look::{MappedFile, OsProcess},
    jvm::memory::maps::{self, Mapping},
};

/// How much more of files must lie in RAM than at the first look.
const LEAST_BYTES: u64 = 16 << 20;
/// Most of a path that is told.
const MAX_PATH_CHARS: usize = 256;

/// What is mapped of a file: bytes, and in how many pieces.
type Extent = (u64, u64);

/// What was mapped at the first look.
#[derive(Debug, Default)]
pub(super) struct Mapped(Option<(u64, HashMap<PathBuf, Extent>)>);

impl Mapped {
    /// The file of which most was mapped since the first look; none as long as little more is in RAM.
    pub(super) fn since(&mut self, pid: u32, process: Option<OsProcess>) -> Option<MappedFile> {
        let process = process?;
        let in_ram = process.resident_bytes.saturating_sub(process.anonymous_bytes);
        let Some((before, known)) = &self.0 else {
            self.0 = Some((in_ram, extents(maps::read(pid).ok()?)));
            return None;
        };
        if in_ram < before.saturating_add(LEAST_BYTES) {
            return None;
        }
        most(known, extents(maps::read(pid).ok()?))
    }
}

fn extents(mappings: Vec<Mapping>) -> HashMap<PathBuf, Extent> {
    let mut files = HashMap::<PathBuf, Extent>::new();
    for Mapping { start, end, inode, path, .. } in mappings {
        if inode != 0 {
            let (bytes, pieces) = files.entry(path).or_default();
            *bytes = bytes.saturating_add(end.saturating_sub(start));
            *pieces += 1;
        }
    }
    files
}

/// The file that grew most; none where none did.
fn most(before: &HashMap<PathBuf, Extent>, now: HashMap<PathBuf, Extent>) -> Option<MappedFile> {
    let grown = now.into_iter().map(|(path, (bytes, pieces))| {
        let grown = bytes.saturating_sub(before.get(&path).map_or(0, |(bytes, _)| *bytes));
        (grown, pieces, path)
    });
    let (grown_bytes, mappings, path) = grown.filter(|(grown, ..)| *grown > 0).max()?;
    Some(MappedFile { path: path.to_string_lossy().chars().take(MAX_PATH_CHARS).collect(), grown_bytes, mappings })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_that_is_mapped_again_and_again_is_found() {
        let text = |segments: u64| {
            let line =
                |index: u64| format!("{:x}-{:x} rw-s 0 fe:00 77 /data/segments\n", index << 20, (index + 1) << 20);
            let library =
                "7f0000000000-7f0000400000 r-xp 0 fe:00 12 /lib/libc.so.6\n7f1000000000-7f2000000000 rw-p 0 00:00 0\n";
            extents(maps::parse((0..segments).map(line).chain([library.to_owned()]).collect::<String>().as_bytes()))
        };
        assert_eq!(
            most(&text(2), text(5)),
            Some(MappedFile { path: "/data/segments".to_owned(), grown_bytes: 3 << 20, mappings: 5 })
        );
        assert_eq!(most(&text(2), text(2)), None);
    }

    #[test]
    fn a_path_without_end_is_cut_in_front_of_the_256th_letter() {
        let long = format!("/{}", "\u{e9}".repeat(1000));
        let now = [(PathBuf::from(&long), (1, 1))].into_iter().collect();
        let found = most(&HashMap::new(), now).unwrap();
        assert_eq!(found.path, long.chars().take(256).collect::<String>());
    }

    #[test]
    fn the_list_is_read_again_only_where_more_lies_in_ram() {
        let mut mapped = Mapped::default();
        let process = |bytes: u64| Some(OsProcess { resident_bytes: bytes, ..OsProcess::default() });
        let pid = std::process::id();
        assert_eq!(mapped.since(pid, process(1 << 20)), None);
        assert!(mapped.0.as_ref().is_some_and(|(bytes, files)| *bytes == 1 << 20 && !files.is_empty()));
        assert_eq!(mapped.since(pid, process(8 << 20)), None);
        assert_eq!(mapped.since(0, process(64 << 20)), None, "it has gone");
    }
}
