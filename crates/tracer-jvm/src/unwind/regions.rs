//! Which files lie where in a target, with the rules for their code: what the kernel side looks a program counter up in.
//!
//! Only code of files. The JVM's own code heaps are found elsewhere and put between these regions by the caller.

use std::{
    collections::{HashMap, HashSet},
    io,
    os::unix::fs::MetadataExt as _,
};

use object::ReadCache;
use tracer_common::unwind::{MAX_REGIONS, Region, RegionKind, Row};

use super::table::{self, MAX_ROWS, Table};
use crate::jvm::memory::{
    Memory,
    library::{Library, open_checked},
    maps::{self, Mapping},
};

/// Most regions of files: some stay free for code heaps.
const MAX_FILE_REGIONS: usize = MAX_REGIONS - 64;
/// Most files whose tables are kept, also of those that are no longer mapped.
const MAX_FILES: usize = 4096;
/// Most bytes of tables that are read, of all files together: reading takes time, and a target can map as many files as it likes.
/// Those of a JVM have some MiB.
const MAX_TABLE_BYTES: u64 = 256 << 20;
/// Most of the kernel's library that is read; it has two pages or three.
const MAX_VDSO_BYTES: u64 = 64 << 10;
/// Most notes that are kept.
const MAX_NOTES: usize = 64;
const VDSO: &str = "[vdso]";

/// The unwinding tables of a target.
#[derive(Debug, Default)]
pub struct Tables {
    /// Where code of files lies, by rising addresses. A file without a table has a region without rows.
    pub regions: Vec<Region>,
    /// The tables of all files, one after another. Rows are only ever appended, so places of older ones stay valid.
    pub rows: Vec<Row>,
    /// What could not be used, and why; a file once.
    pub notes: Vec<String>,
    files: HashMap<FileId, Place>,
    known: HashMap<Key, Option<Region>>,
    noted: HashSet<Vec<u8>>,
    read_bytes: u64,
}

/// Tells files apart. The time of change is there because an inode is given again once its file is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum FileId {
    Vdso,
    OnDisk { device: u64, inode: u64, bytes: u64, changed: (i64, i64) },
}

/// Where a file's rows are.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    first_row: u32,
    rows: u32,
}

/// Tells mappings apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    start: u64,
    end: u64,
    offset: u64,
    inode: u64,
    device: String,
}

impl Key {
    fn new(mapping: &Mapping) -> Self {
        let Mapping { start, end, offset, inode, .. } = *mapping;
        Self { start, end, offset, inode, device: mapping.device.clone() }
    }
}

/// Reads the tables of all files whose code is mapped in a process.
///
/// # Errors
/// Where the kernel does not show the mappings; a file that cannot be used is a note.
pub fn tables(memory: &Memory) -> io::Result<Tables> {
    let mut tables = Tables::default();
    tables.update(memory)?;
    Ok(tables)
}

impl Tables {
    /// Looks for files that were mapped or unmapped since; says whether anything changed.
    ///
    /// # Errors
    /// As [`tables`]; then nothing changed.
    pub fn update(&mut self, memory: &Memory) -> io::Result<bool> {
        let mut mappings = maps::read(memory.pid())?;
        mappings.retain(|mapping| mapping.executable && (mapping.inode != 0 || is_vdso(mapping)));
        if let Some(surplus) = mappings.len().checked_sub(MAX_FILE_REGIONS).filter(|surplus| *surplus != 0) {
            mappings.sort_by_key(rank);
            mappings.truncate(MAX_FILE_REGIONS);
            self.note(b"", || {
                format!("{surplus} mappings of code are left out, more than {MAX_FILE_REGIONS} are there")
            });
        }
        let before = std::mem::take(&mut self.known);
        let mut regions = Vec::with_capacity(mappings.len());
        for mapping in &mappings {
            let key = Key::new(mapping);
            let region = before.get(&key).copied().unwrap_or_else(|| self.region(memory, mapping));
            regions.extend(region);
            self.known.insert(key, region);
        }
        regions.sort_by_key(|region| region.start);
        let regions = joined(regions);
        let changed = regions != self.regions;
        self.regions = regions;
        Ok(changed)
    }

    fn region(&mut self, memory: &Memory, mapping: &Mapping) -> Option<Region> {
        let (bias, place) = if is_vdso(mapping) {
            // It is linked at 0 and mapped from its beginning.
            (mapping.start, self.vdso(memory, mapping))
        } else {
            match self.file(memory.pid(), mapping) {
                Ok(found) => found,
                Err(error) => {
                    self.note_mapping(mapping, &error.to_string());
                    return None;
                }
            }
        };
        let Place { first_row, rows } = place;
        let kind = RegionKind::File as u32;
        Some(Region { start: mapping.start, end: mapping.end, bias, first_row, rows, kind, segment_shift: 0 })
    }

    fn file(&mut self, pid: u32, mapping: &Mapping) -> Result<(u64, Place), crate::jvm::memory::library::Error> {
        let library = Library::open(pid, mapping)?;
        let file = open_checked(&library.attach_path)?;
        let id = match file.metadata() {
            Ok(metadata) if metadata.ino() == mapping.inode => FileId::OnDisk {
                device: metadata.dev(),
                inode: metadata.ino(),
                bytes: metadata.len(),
                changed: (metadata.ctime(), metadata.ctime_nsec()),
            },
            Ok(_) | Err(_) => {
                return Err(crate::jvm::memory::library::Error::Replaced { path: library.attach_path });
            }
        };
        let place = match self.files.get(&id) {
            Some(place) => *place,
            None if self.read_bytes >= MAX_TABLE_BYTES => self.add(id, mapping, Err(table::Error::TooMuch)),
            None => self.add(id, mapping, table::read(&ReadCache::new(file))),
        };
        Ok((library.bias, place))
    }

    fn vdso(&mut self, memory: &Memory, mapping: &Mapping) -> Place {
        if let Some(place) = self.files.get(&FileId::Vdso) {
            return *place;
        }
        let bytes = (mapping.end - mapping.start).min(MAX_VDSO_BYTES);
        match memory.read_bytes(mapping.start, usize::try_from(bytes).unwrap_or(0)) {
            Ok(bytes) => self.add(FileId::Vdso, mapping, table::read(&*bytes)),
            Err(error) => {
                self.note_mapping(mapping, &error.to_string());
                Place::default()
            }
        }
    }

    /// Appends a file's rows.
    fn add(&mut self, id: FileId, mapping: &Mapping, table: Result<Table, table::Error>) -> Place {
        let place = match table {
            Ok(Table { rows, dropped, damaged, read_bytes }) => {
                self.read_bytes = self.read_bytes.saturating_add(read_bytes);
                if dropped + damaged != 0 {
                    let what = format!("{damaged} damaged and {dropped} unusable entries in its unwinding table");
                    self.note_mapping(mapping, &what);
                }
                self.append(&rows).unwrap_or_else(|| {
                    self.note_mapping(mapping, "its unwinding table has no room beside those of other files");
                    Place::default()
                })
            }
            Err(error) => {
                self.note_mapping(mapping, &error.to_string());
                Place::default()
            }
        };
        if self.files.len() < MAX_FILES {
            self.files.insert(id, place);
        }
        place
    }

    fn append(&mut self, rows: &[Row]) -> Option<Place> {
        let first_row = self.rows.len();
        if first_row + rows.len() > MAX_ROWS {
            return None;
        }
        self.rows.extend_from_slice(rows);
        Some(Place { first_row: u32::try_from(first_row).ok()?, rows: u32::try_from(rows.len()).ok()? })
    }

    fn note_mapping(&mut self, mapping: &Mapping, what: &str) {
        let path = mapping.path.as_os_str().as_encoded_bytes();
        self.note(path, || format!("no unwinding through {}: {what}", mapping.path.display()));
    }

    /// Keeps a note, the first about each thing.
    fn note(&mut self, about: &[u8], text: impl FnOnce() -> String) {
        if self.notes.len() < MAX_NOTES && self.noted.insert(about.to_vec()) {
            self.notes.push(text());
        }
    }
}

fn is_vdso(mapping: &Mapping) -> bool {
    mapping.path.as_os_str() == VDSO
}

/// What is kept first where there is no room for all: what nearly every stack goes through, then the JDK's own.
fn rank(mapping: &Mapping) -> u32 {
    let name = mapping.file_name().as_encoded_bytes();
    let common: [&[u8]; 5] = [b"libjvm.", b"libc.", b"libc-", b"libpthread", b"ld-"];
    if is_vdso(mapping) || common.iter().any(|start| name.starts_with(start)) {
        0
    } else if name.starts_with(b"lib") {
        1
    } else {
        2
    }
}

/// Puts regions together that go on where the one before ends: a change of protection splits mappings, not files.
fn joined(regions: Vec<Region>) -> Vec<Region> {
    let mut joined: Vec<Region> = Vec::with_capacity(regions.len());
    for region in regions {
        match joined.last_mut() {
            Some(last)
                if last.end == region.start
                    && Region { start: last.start, ..region } == Region { end: region.end, ..*last } =>
            {
                last.end = region.end;
            }
            _ => joined.push(region),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(start: u64, end: u64, bias: u64) -> Region {
        Region { start, end, bias, first_row: 3, rows: 5, kind: RegionKind::File as u32, segment_shift: 0 }
    }

    #[test]
    fn regions_that_go_on_are_joined() {
        let split = vec![region(0x1000, 0x2000, 0x1000), region(0x2000, 0x3000, 0x1000), region(0x3000, 0x4000, 0)];
        assert_eq!(joined(split), [region(0x1000, 0x3000, 0x1000), region(0x3000, 0x4000, 0)]);
        let apart = vec![region(0x1000, 0x2000, 0x1000), region(0x3000, 0x4000, 0x1000)];
        assert_eq!(joined(apart.clone()), apart);
    }

    #[test]
    fn what_most_stacks_go_through_is_kept_first() {
        let line = |path: &str| maps::parse(format!("1000-2000 r-xp 00000000 fe:00 42 {path}\n").as_bytes()).remove(0);
        let mut all = ["/x/plugin.so.1", "/x/libfoo.so", "/x/server/libjvm.so", "/x/libc.so.6", VDSO].map(line);
        all.sort_by_key(rank);
        let names: Vec<_> = all.iter().map(|mapping| mapping.file_name().to_string_lossy().into_owned()).collect();
        assert_eq!(names, ["libjvm.so", "libc.so.6", VDSO, "libfoo.so", "plugin.so.1"]);
    }

    #[test]
    fn a_file_is_noted_once_and_notes_are_bounded() {
        let mut tables = Tables::default();
        for number in 0..1000_u32 {
            tables.note(&(number / 2).to_le_bytes(), || number.to_string());
        }
        assert_eq!(tables.notes.len(), MAX_NOTES);
        assert_eq!(tables.notes[..3], ["0", "2", "4"]);
    }

    #[test]
    fn tables_of_more_rows_than_there_is_room_for_are_left_out() {
        let row = Row { address: 0, rule: tracer_common::unwind::Rule::NONE };
        let mut tables = Tables { rows: vec![row; MAX_ROWS - 1], ..Tables::default() };
        assert!(tables.append(&[row; 2]).is_none());
        assert_eq!(tables.append(&[row]).map(|place| place.rows), Some(1));
        assert_eq!(tables.rows.len(), MAX_ROWS);
    }

    /// A target can map as many files as it likes, each with a table that takes time.
    #[test]
    fn no_table_is_read_beyond_the_bytes_of_all_of_them() {
        let memory = Memory::open(std::process::id()).unwrap();
        let usual = tables(&memory).unwrap();
        assert!(!usual.rows.is_empty() && usual.read_bytes < MAX_TABLE_BYTES, "{}", usual.read_bytes);
        let mut tables = Tables { read_bytes: MAX_TABLE_BYTES, ..Tables::default() };
        tables.update(&memory).unwrap();
        let own = tables.notes.iter().filter(|note| note.ends_with("the files before it have too many bytes"));
        assert!(own.count() > 1, "{:?}", tables.notes);
        assert_eq!(tables.regions.len(), usual.regions.len(), "they are known all the same");
    }

    #[test]
    fn a_process_that_is_not_there_is_an_error() {
        // It lives until its input ends.
        let mut child = std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let memory = Memory::open(child.id()).unwrap();
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(tables(&memory).is_err());
    }
}
