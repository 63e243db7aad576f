//! Reads the bytes of an ELF file of a target: all of them, or only what [`super::Elf`] looks into.

use std::{
    fs::File,
    io::{self, Read as _},
    os::unix::fs::FileExt as _,
    path::Path,
};

use object::{
    LittleEndian,
    elf::{self, FileHeader64},
    read::elf::{FileHeader as _, SectionHeader as _},
};

use super::{Error, MAX_FILE_BYTES, MAX_READ_BYTES};
use crate::jvm::memory::file_system::{Refused, open_regular};

/// Reads a file of the target into memory, bounded: headers, symbols, texts and notes at their places, and zeros between
/// them. Code and data, nine tenths of a libjvm.so, are not read; nothing here looks at them.
///
/// A pipe that stands in the file's place is refused rather than waited for. Links are followed, because
/// `/proc/PID/map_files` consists of them.
///
/// # Errors
/// [`Error::Io`], [`Error::NotRegular`], [`Error::TooLarge`].
pub fn read_tables(path: &Path) -> Result<Vec<u8>, Error> {
    let io = |source| Error::Io { path: path.to_owned(), source };
    let (file, bytes) = open(path)?;
    // The system gives zeroed pages as they are touched, so what is not read costs no memory.
    let mut data = vec![0; usize::try_from(bytes).unwrap_or(0)];
    let header = (0, size_of::<FileHeader64<LittleEndian>>() as u64);
    read_range(&file, &mut data, header).map_err(io)?;
    for range in header_tables(&data) {
        read_range(&file, &mut data, range).map_err(io)?;
    }
    for range in section_ranges(&data) {
        read_range(&file, &mut data, range).map_err(io)?;
    }
    Ok(data)
}

/// Reads as much of a range (offset, size) as the file has to its place; it may have shrunk meanwhile, which leaves zeros.
fn read_range(file: &File, data: &mut [u8], (offset, size): (u64, u64)) -> io::Result<()> {
    let start = usize::try_from(offset).unwrap_or(usize::MAX).min(data.len());
    let end = start.saturating_add(usize::try_from(size).unwrap_or(usize::MAX)).min(data.len());
    fill(file, &mut data[start..end], offset).map(|_| ())
}

/// Reads bytes from an offset on until there is no more room or the file ends; gives how many.
fn fill(file: &File, to: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < to.len() {
        match file.read_at(&mut to[done..], offset.saturating_add(done as u64)) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// Reads some bytes at an offset of a file of the target; fewer where the file has no more.
///
/// # Errors
/// As [`read_tables`].
pub fn read_at(path: &Path, offset: u64, bytes: usize) -> Result<Vec<u8>, Error> {
    let (file, length) = open(path)?;
    let left = usize::try_from(length.saturating_sub(offset)).unwrap_or(usize::MAX);
    let mut data = vec![0; bytes.min(left)];
    let done = fill(&file, &mut data, offset).map_err(|source| Error::Io { path: path.to_owned(), source })?;
    data.truncate(done);
    Ok(data)
}

/// Offset and size of the tables of segments and of sections, by the file's header.
fn header_tables(data: &[u8]) -> Vec<(u64, u64)> {
    let Ok(header) = FileHeader64::<LittleEndian>::parse(data) else { return Vec::new() };
    // The numbers are of 16 bits, and with them what is read here.
    let table = |offset: u64, count: u16, size: u16| (offset, u64::from(count) * u64::from(size));
    vec![
        table(header.e_phoff(LittleEndian), header.e_phnum(LittleEndian), header.e_phentsize(LittleEndian)),
        table(header.e_shoff(LittleEndian), header.e_shnum(LittleEndian), header.e_shentsize(LittleEndian)),
    ]
}

/// Offset and size of the sections that something here looks into.
pub(super) fn section_ranges(data: &[u8]) -> Vec<(u64, u64)> {
    let Ok(header) = FileHeader64::<LittleEndian>::parse(data) else { return Vec::new() };
    let sections = header.section_headers(LittleEndian, data).unwrap_or(&[]);
    let kept = sections.iter().filter(|section| {
        matches!(section.sh_type(LittleEndian), elf::SHT_SYMTAB | elf::SHT_DYNSYM | elf::SHT_STRTAB | elf::SHT_NOTE)
    });
    // Sections may overlap in a file that was made to: then all of it is read once, and no more. What is not on the disk of a
    // file with holes takes memory here, too.
    let mut left = MAX_READ_BYTES.min(data.len() as u64);
    kept.map_while(|section| {
        let size = section.sh_size(LittleEndian);
        left = left.checked_sub(size)?;
        Some((section.sh_offset(LittleEndian), size))
    })
    .collect()
}

/// Opens a regular file of bounded size, see [`open_regular`].
fn open(path: &Path) -> Result<(File, u64), Error> {
    let io = |source| Error::Io { path: path.to_owned(), source };
    let file = open_regular(path).map_err(|refused| match refused {
        Refused::Io(source) => io(source),
        Refused::NotRegular => Error::NotRegular { path: path.to_owned() },
        Refused::Untrusted => io(io::Error::new(io::ErrorKind::PermissionDenied, refused.to_string())),
    })?;
    let metadata = file.metadata().map_err(io)?;
    if metadata.len() > MAX_FILE_BYTES {
        return Err(Error::TooLarge { path: path.to_owned(), bytes: metadata.len() });
    }
    Ok((file, metadata.len()))
}

/// Reads a file of the target into memory, whole and bounded; for what looks into code and data as well.
///
/// # Errors
/// As [`read_tables`].
pub fn read_file(path: &Path) -> Result<Vec<u8>, Error> {
    let (file, length) = open(path)?;
    if length > MAX_READ_BYTES {
        return Err(Error::TooLarge { path: path.to_owned(), bytes: length });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0).saturating_add(1));
    // The file may grow between the two calls; the limit holds for what is read.
    let read = file.take(MAX_READ_BYTES + 1).read_to_end(&mut bytes);
    let read = read.map_err(|source| Error::Io { path: path.to_owned(), source })?;
    if read as u64 > MAX_READ_BYTES {
        return Err(Error::TooLarge { path: path.to_owned(), bytes: read as u64 });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::{super::Elf, *};

    #[test]
    fn the_tables_alone_say_the_same_as_the_whole_file() {
        let path = Path::new("/proc/self/exe");
        let (whole, tables) = (read_file(path).expect("own file"), read_tables(path).expect("own file"));
        assert_eq!(whole.len(), tables.len());
        let (whole, tables) = (Elf::parse(&whole).expect("parses"), Elf::parse(&tables).expect("parses"));
        assert!(whole.symbols().count() > 1000 && whole.symbols().eq(tables.symbols()));
        let notes = |elf: &Elf<'_>| elf.notes(".note.gnu.build-id").flatten().map(|note| note.desc.to_vec()).collect();
        let build_id: Vec<Vec<u8>> = notes(&whole);
        assert_eq!(build_id, notes(&tables));
        assert_eq!(whole.section_address(".text"), tables.section_address(".text"));
        let main = whole.find_symbols(&["main"])["main"];
        assert_eq!(whole.code_offset(main.address), tables.code_offset(main.address));
        assert!(tables.section_data(".text").expect("text").iter().all(|byte| *byte == 0), "code was read");
    }

    #[test]
    fn a_directory_or_a_pipe_is_not_waited_for() {
        assert!(matches!(read_file(Path::new("/proc")), Err(Error::NotRegular { .. })));
        assert!(matches!(read_file(Path::new("/nowhere/at/all")), Err(Error::Io { .. })));
        assert!(matches!(read_tables(Path::new("/dev/zero")), Err(Error::NotRegular { .. })));
    }
}
