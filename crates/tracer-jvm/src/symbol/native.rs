//! Names of machine code of files: which function of which library stood at an address of the target.
//!
//! The mapped files are opened at once, so that their names can be had when the target is gone; their symbols are read when the
//! first address in them is asked for. Separate files with debug information are not looked for.

mod name;
mod table;

use std::{collections::HashMap, fs::File, ops::Range, os::fd::AsRawFd as _, path::PathBuf, sync::Arc};

use self::table::Symbols;
use super::bounded::Bounded;
use crate::{
    jvm::memory::{
        Memory,
        library::{Error, Library, open_checked},
        maps::{self, Mapping},
    },
    stack::{Frame, Kind, shared_text::SharedText},
};

/// Most mappings of code that are known.
const MAX_MAPPINGS: usize = 1024;
/// Most files that are held open.
const MAX_FILES: usize = 256;
/// Most memory for the symbols of all files; a libjvm.so takes some 6 MiB.
const MAX_BYTES: usize = 128 << 20;
/// Most symbols that are looked at, of data as well: they cost time. The files of a JVM have a million together.
const MAX_LOOKED_AT: usize = 8 << 20;
/// What is said of symbols beyond either.
const TOO_MANY: &str = "<too many symbols>";
/// Most memory for frames that are remembered, by address.
const FRAME_BYTES: usize = 16 << 20;
/// Most of the kernel's library that is read; it has two pages or three.
const MAX_VDSO_BYTES: u64 = 64 << 10;
const VDSO: &str = "[vdso]";

/// The symbols of the files that a target has mapped.
#[derive(Debug)]
pub struct NativeSymbols {
    pid: u32,
    /// By rising addresses.
    mapped: Vec<Mapped>,
    files: Vec<Code>,
    /// By device and inode.
    by_inode: HashMap<(String, u64), Held>,
    frames: Bounded<u64, Arc<Frame>>,
    symbol_bytes: usize,
    looked_at: usize,
}

/// A mapping of code, and which file lies there.
#[derive(Clone, Debug)]
struct Mapped {
    range: Range<u64>,
    bias: u64,
    file: usize,
}

/// A file's place in [`NativeSymbols::files`], and the open file, if it could be opened: as long as it is held, its inode is
/// given to no other.
#[derive(Debug)]
struct Held {
    place: usize,
    file: Option<Arc<File>>,
}

/// A file with code.
#[derive(Debug)]
struct Code {
    /// Last part of its path.
    name: SharedText,
    state: State,
}

/// How far a file's symbols are known.
#[derive(Debug)]
enum State {
    /// Not read yet: the file, and where its code lies.
    Opened(Arc<File>, Vec<Range<u64>>),
    /// Read.
    Read(Symbols),
    /// Not to be had, and why.
    Failed(&'static str),
}

/// Of no process.
impl Default for NativeSymbols {
    fn default() -> Self {
        Self {
            pid: 0,
            mapped: Vec::new(),
            files: Vec::new(),
            by_inode: HashMap::new(),
            frames: Bounded::new(FRAME_BYTES),
            symbol_bytes: 0,
            looked_at: 0,
        }
    }
}

impl NativeSymbols {
    /// Opens the files that a process has mapped. What cannot be opened says so in the names of its frames.
    pub fn new(memory: &Memory) -> Self {
        let mut symbols = Self { pid: memory.pid(), ..Self::default() };
        // The first file is the kernel's own library, which is in memory only.
        let state = vdso(memory).map_or(State::Failed("<its memory cannot be read>"), State::Read);
        symbols.files.push(Code { name: VDSO.into(), state });
        symbols.refresh();
        symbols
    }

    /// Reads anew which files are mapped where; when that cannot be read, what was known stays.
    pub fn refresh(&mut self) {
        let Ok(mappings) = maps::read(self.pid) else { return };
        let code =
            mappings.into_iter().filter(|mapping| mapping.executable && (mapping.inode != 0 || is_vdso(mapping)));
        let mapped: Vec<Mapped> = code.take(MAX_MAPPINGS).map(|mapping| self.mapped(&mapping)).collect();
        // Of a process that is gone the list is empty.
        if !mapped.is_empty() {
            self.mapped = mapped;
            self.frames.clear();
        }
    }

    /// Reads the symbols of all files now, instead of each at its first frame.
    pub fn load_all(&mut self) {
        for file in 0..self.files.len() {
            self.load(file);
        }
    }

    /// The frame of an address. A return address follows a call, which may have been the last instruction of its function.
    pub fn frame(&mut self, pc: u64, return_address: bool) -> Arc<Frame> {
        let pc = pc.saturating_sub(u64::from(return_address));
        if let Some(frame) = self.frames.get(&pc) {
            return frame;
        }
        let frame = Arc::new(self.find(pc));
        self.frames.insert(pc, Arc::clone(&frame), frame.bytes());
        frame
    }

    fn find(&mut self, pc: u64) -> Frame {
        let behind = self.mapped.partition_point(|mapped| mapped.range.start <= pc);
        let mapped = behind.checked_sub(1).and_then(|place| self.mapped.get(place));
        let Some(Mapped { bias, file, .. }) = mapped.filter(|mapped| mapped.range.contains(&pc)).cloned() else {
            return Frame::named(Kind::Unknown, "<code of no file>");
        };
        let address = pc.wrapping_sub(bias);
        self.load(file);
        let Some(Code { name, state }) = self.files.get(file) else {
            return Frame::named(Kind::Unknown, "<code of a file that is not open>");
        };
        let function = match state {
            State::Read(symbols) => match symbols.name(address) {
                Some(mangled) => name::readable(mangled),
                None => format!("<no symbol>+{address:#x}"),
            },
            State::Opened(..) => format!("<no symbols read>+{address:#x}"),
            State::Failed(reason) => format!("{reason}+{address:#x}"),
        };
        let build_id = match state {
            State::Read(symbols) => symbols.build_id.clone(),
            State::Opened(..) | State::Failed(_) => None,
        };
        Frame { module: Some(name.clone()), build_id, ..Frame::named(Kind::Native, function) }
    }

    /// Reads a file's symbols, if that was not done.
    fn load(&mut self, file: usize) {
        let Some(code) = self.files.get_mut(file) else { return };
        let State::Opened(opened, ranges) = &code.state else { return };
        if self.symbol_bytes >= MAX_BYTES || self.looked_at >= MAX_LOOKED_AT {
            code.state = State::Failed(TOO_MANY);
            return;
        }
        // Through the open file, as the target's own path may be gone.
        let read = Symbols::read(&PathBuf::from(format!("/proc/self/fd/{}", opened.as_raw_fd())), ranges);
        code.state = match read {
            Ok(symbols) => {
                self.looked_at += symbols.looked_at;
                let bytes = self.symbol_bytes + symbols.bytes();
                // Where one does not fit, none is read after it: reading costs as well.
                self.symbol_bytes = bytes.min(MAX_BYTES);
                if bytes > MAX_BYTES { State::Failed(TOO_MANY) } else { State::Read(symbols) }
            }
            Err(error) => {
                log::debug!("no symbols of {}: {error}", code.name);
                State::Failed("<its symbols cannot be read>")
            }
        };
    }

    fn mapped(&mut self, mapping: &Mapping) -> Mapped {
        let range = mapping.start..mapping.end;
        if is_vdso(mapping) {
            return Mapped { range, bias: mapping.start, file: 0 };
        }
        let key = (mapping.device.clone(), mapping.inode);
        let known = self.by_inode.get(&key).map(|held| (held.place, held.file.is_some()));
        let library = Library::open(self.pid, mapping);
        let bias = library.as_ref().map_or(0, |library| library.bias);
        // One that could not be opened before may be another file now, and takes its place.
        let place = match known {
            Some((place, true)) if library.is_ok() => return Mapped { range, bias, file: place },
            Some((place, false)) => place,
            None if self.files.len() < MAX_FILES => self.files.len(),
            Some((_, true)) | None => return Mapped { range, bias, file: usize::MAX },
        };
        let (file, state) = match library.and_then(|library| opened(&library)) {
            Ok((held, code)) => (Some(Arc::clone(&held)), State::Opened(held, code)),
            Err(error) => (None, State::Failed(reason(&error))),
        };
        let code = Code { name: SharedText::from(&*mapping.file_name().to_string_lossy()), state };
        match self.files.get_mut(place) {
            Some(before) => *before = code,
            None => self.files.push(code),
        }
        self.by_inode.insert(key, Held { place, file });
        Mapped { range, bias, file: place }
    }
}

fn is_vdso(mapping: &Mapping) -> bool {
    mapping.path.as_os_str() == VDSO
}

/// Opens a file; and where its code lies.
fn opened(library: &Library) -> Result<(Arc<File>, Vec<Range<u64>>), Error> {
    let file = open_checked(&library.attach_path)?;
    let code = library.segments.iter().filter(|segment| segment.executable);
    let ranges = code.map(|segment| segment.address..segment.address.saturating_add(segment.size)).collect();
    Ok((Arc::new(file), ranges))
}

const fn reason(error: &Error) -> &'static str {
    match error {
        Error::Open { .. } => "<its file cannot be opened>",
        Error::Replaced { .. } => "<its file was replaced>",
        Error::Untrusted { .. } => "<its file is on a file system of its user>",
        Error::TooLarge { .. } => "<its file is too large>",
        Error::NotElf { .. } => "<its file is no ELF file>",
        Error::NotMapped { .. } => "<its file has no code there>",
    }
}

/// The symbols of the kernel's library, which is the same as long as the process lives.
fn vdso(memory: &Memory) -> Option<Symbols> {
    let mappings = maps::read(memory.pid()).ok()?;
    let mapping = mappings.iter().find(|mapping| is_vdso(mapping))?;
    let bytes = mapping.end.checked_sub(mapping.start)?.min(MAX_VDSO_BYTES);
    let data = memory.read_bytes(mapping.start, usize::try_from(bytes).ok()?).ok()?;
    Symbols::parse(&data, std::slice::from_ref(&(0..bytes))).ok()
}

#[cfg(test)]
mod tests;
