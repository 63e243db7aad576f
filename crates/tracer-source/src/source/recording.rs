//! Recordings: a session's items in a file.
//!
//! ```text
//! file    = magic "JTRACE\x1a\n"  version u16  zero u16  zero u32  section*
//! section = tag u32  length u32  payload
//! ```
//! All numbers are little-endian. A reader skips sections whose tags it does not know, so new ones can be added without a
//! new version. Records are stored as the kernel delivered them (`length u16`, bytes), in the order in which the analyses
//! took them. A recording that is cut anywhere is readable up to the cut.

use std::{
    fs::File,
    io::{self, BufReader, Read, Write},
    path::{Path, PathBuf},
};

use serde::{Serialize, de::DeserializeOwned};

use crate::item::{End, Item};

const MAGIC: [u8; 8] = *b"JTRACE\x1a\n";
/// Version that this program writes, and the newest that it reads.
pub const VERSION: u16 = 2;
/// Oldest version that it reads: those before had shorter headers of records.
const OLDEST: u16 = 2;
const HEADER_BYTES: usize = 16;
/// What gzip's files begin with.
const GZIP: [u8; 2] = [0x1f, 0x8b];

const TAG_START: u32 = 1;
const TAG_RECORDS: u32 = 2;
const TAG_COUNTERS: u32 = 3;
const TAG_GUARD: u32 = 4;
const TAG_END: u32 = 5;
const TAG_THREAD: u32 = 6;
const TAG_FRAME: u32 = 7;
const TAG_STACK: u32 = 8;
const TAG_SUBJECT: u32 = 9;
const TAG_TALLIES: u32 = 10;
const TAG_COVERAGE: u32 = 11;
const TAG_INSIDE: u32 = 12;
const TAG_LOOK: u32 = 13;
const TAG_ENDED: u32 = 14;

/// Records are gathered into sections of about this size.
const RECORDS_BYTES: usize = 64 << 10;
/// No section is longer; a longer one means damage.
const MAX_SECTION_BYTES: u32 = 64 << 20;

/// Why a recording could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file could not be opened or read.
    #[error("cannot read {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Not a recording.
    #[error("{path} is not a jtrace recording, nor a flight recording, nor a report as JSON")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Nothing is in it.
    #[error("{path} is an empty file")]
    Nothing {
        /// The file.
        path: PathBuf,
    },
    /// Packed by gzip, whatever is in it.
    #[error("{path} is packed by gzip")]
    Packed {
        /// The file.
        path: PathBuf,
    },
    /// Written by a jtrace whose records had another form.
    #[error("{path} has recording version {version}, and this jtrace reads from {OLDEST} on")]
    Older {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u16,
    },
    /// Written by a newer jtrace.
    #[error("{path} has recording version {version}, and this jtrace reads up to {VERSION}")]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u16,
    },
    /// Cut before the session's first item was complete.
    #[error("{path} ends before its first section is complete")]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A section that is known does not hold what it must.
    #[error("{path} is damaged at byte {at}: {reason}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Offset of the section.
        at: u64,
        /// What is wrong.
        reason: String,
    },
}

impl Error {
    /// What may help.
    pub fn hint(&self) -> String {
        match self {
            Self::Io { .. } => "check the path and its permissions",
            Self::Foreign { .. } => "`jtrace record PID -o x.jtrace` makes recordings, and `-o x.json` reports; other forms cannot be read again",
            Self::Nothing { .. } => "make it again: the disk was full, or what was to write it has failed",
            Self::Packed { .. } => "unpack it: `zcat FILE | jtrace report -` reads recordings and reports of JSON",
            Self::Newer { .. } => "read it with the jtrace that wrote it, or a newer one",
            Self::Older { .. } => "read it with the jtrace that wrote it",
            Self::Empty { .. } | Self::Damaged { .. } => "record again: nothing of this file can be trusted",
        }
        .to_owned()
    }
}

/// Writes the items of a session.
pub struct Recorder<W: Write> {
    out: W,
    records: Vec<u8>,
}

impl<W: Write> Recorder<W> {
    /// Begins a recording.
    pub fn new(mut out: W) -> io::Result<Self> {
        let mut header = [0; HEADER_BYTES];
        header[..8].copy_from_slice(&MAGIC);
        header[8..10].copy_from_slice(&VERSION.to_le_bytes());
        out.write_all(&header)?;
        Ok(Self { out, records: Vec::with_capacity(2 * RECORDS_BYTES) })
    }

    /// Writes an item; records are gathered until [`Recorder::flush`] or until there are enough.
    pub fn write(&mut self, item: &Item<'_>) -> io::Result<()> {
        match item {
            Item::Record(bytes) => {
                let length = u16::try_from(bytes.len()).map_err(|_| io::Error::other("a record is too long"))?;
                self.records.extend_from_slice(&length.to_le_bytes());
                self.records.extend_from_slice(bytes);
                if self.records.len() >= RECORDS_BYTES { self.write_records() } else { Ok(()) }
            }
            Item::Start(start) => self.section(TAG_START, start),
            Item::Counters(counters) => self.section(TAG_COUNTERS, counters),
            Item::Guard(guard) => self.section(TAG_GUARD, guard),
            Item::Thread(thread) => self.section(TAG_THREAD, thread),
            Item::Ended(threads) => self.section(TAG_ENDED, threads),
            Item::Frame(frame) => self.section(TAG_FRAME, frame),
            Item::Stack(stack) => self.section(TAG_STACK, stack),
            Item::Subject(subject) => self.section(TAG_SUBJECT, subject),
            Item::Tallies(tallies) => self.section(TAG_TALLIES, tallies),
            Item::Coverage(coverage) => self.section(TAG_COVERAGE, coverage),
            Item::Inside(inside) => self.section(TAG_INSIDE, inside),
            Item::Look(look) => self.section(TAG_LOOK, look),
            Item::End(end) => self.section(TAG_END, end),
        }
    }

    /// Makes everything so far readable by others.
    pub fn flush(&mut self) -> io::Result<()> {
        self.write_records()?;
        self.out.flush()
    }

    fn section(&mut self, tag: u32, value: &impl Serialize) -> io::Result<()> {
        self.write_records()?;
        let payload = serde_json::to_vec(value)?;
        write_section(&mut self.out, tag, &payload)
    }

    fn write_records(&mut self) -> io::Result<()> {
        if !self.records.is_empty() {
            write_section(&mut self.out, TAG_RECORDS, &self.records)?;
            self.records.clear();
        }
        Ok(())
    }
}

fn write_section(out: &mut impl Write, tag: u32, payload: &[u8]) -> io::Result<()> {
    let length = u32::try_from(payload.len()).map_err(|_| io::Error::other("a section is too long"))?;
    out.write_all(&tag.to_le_bytes())?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(payload)
}

/// Reads the items of a session from a file.
pub struct Recording<R: Read> {
    input: R,
    path: PathBuf,
    at: u64,
}

impl Recording<BufReader<File>> {
    /// Opens a recording and checks its header.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
        Self::new(BufReader::with_capacity(1 << 20, file), path)
    }
}

impl<R: Read> Recording<R> {
    /// Reads a recording from any input; `path` is for messages.
    pub fn new(mut input: R, path: &Path) -> Result<Self, Error> {
        let path = path.to_owned();
        let mut header = [0; HEADER_BYTES];
        let length = fill(&mut input, &mut header).map_err(|source| Error::Io { path: path.clone(), source })?;
        if length == 0 {
            return Err(Error::Nothing { path });
        }
        if header.starts_with(&GZIP) {
            return Err(Error::Packed { path });
        }
        if length < MAGIC.len() || header[..8] != MAGIC {
            return Err(Error::Foreign { path });
        }
        if length < HEADER_BYTES {
            return Err(Error::Empty { path });
        }
        let version = u16::from_le_bytes([header[8], header[9]]);
        if version < OLDEST {
            return Err(Error::Older { path, version });
        }
        if version > VERSION {
            return Err(Error::Newer { path, version });
        }
        Ok(Self { input, path, at: HEADER_BYTES as u64 })
    }

    /// Passes every item on, in order. A cut recording ends with an [`Item::End`] that says so.
    pub fn replay(mut self, sink: &mut dyn FnMut(Item<'_>)) -> Result<(), Error> {
        let mut payload = Vec::new();
        let mut latest_ns = None;
        loop {
            let at = self.at;
            let Some((tag, whole)) = self.next_section(&mut payload)? else {
                let Some(time_ns) = latest_ns else { return Err(Error::Empty { path: self.path }) };
                sink(Item::End(End { time_ns, reason: format!("recording cut at byte {at}"), counters_final: false }));
                return Ok(());
            };
            if !whole && tag != TAG_RECORDS {
                payload.clear();
                continue;
            }
            match tag {
                TAG_START if latest_ns.is_none() => {
                    let start: Box<crate::item::Start> = self.parse(at, &payload)?;
                    latest_ns = Some(start.time_ns);
                    sink(Item::Start(start));
                }
                TAG_RECORDS if latest_ns.is_some() => replay_records(&payload, &mut latest_ns, sink),
                TAG_COUNTERS if latest_ns.is_some() => sink(Item::Counters(self.parse(at, &payload)?)),
                TAG_GUARD if latest_ns.is_some() => sink(Item::Guard(self.parse(at, &payload)?)),
                TAG_THREAD if latest_ns.is_some() => sink(Item::Thread(self.parse(at, &payload)?)),
                TAG_ENDED if latest_ns.is_some() => sink(Item::Ended(self.parse(at, &payload)?)),
                TAG_FRAME if latest_ns.is_some() => sink(Item::Frame(self.parse(at, &payload)?)),
                TAG_STACK if latest_ns.is_some() => sink(Item::Stack(self.parse(at, &payload)?)),
                TAG_SUBJECT if latest_ns.is_some() => sink(Item::Subject(self.parse(at, &payload)?)),
                TAG_TALLIES if latest_ns.is_some() => sink(Item::Tallies(self.parse(at, &payload)?)),
                TAG_COVERAGE if latest_ns.is_some() => sink(Item::Coverage(self.parse(at, &payload)?)),
                TAG_INSIDE if latest_ns.is_some() => sink(Item::Inside(self.parse(at, &payload)?)),
                TAG_LOOK if latest_ns.is_some() => sink(Item::Look(Box::new(self.parse(at, &payload)?))),
                TAG_END if latest_ns.is_some() => {
                    sink(Item::End(self.parse(at, &payload)?));
                    return Ok(());
                }
                TAG_START => return Err(self.damaged(at, "a second start")),
                TAG_RECORDS | TAG_COUNTERS | TAG_GUARD | TAG_END | TAG_THREAD | TAG_FRAME | TAG_STACK => {
                    return Err(self.damaged(at, "the first section is not the start"));
                }
                _ => {}
            }
        }
    }

    /// The next section's tag, and whether its payload is whole; `None` at the end.
    fn next_section(&mut self, payload: &mut Vec<u8>) -> Result<Option<(u32, bool)>, Error> {
        let mut head = [0; 8];
        if self.fill(&mut head)? < head.len() {
            return Ok(None);
        }
        let tag = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
        let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        if length > MAX_SECTION_BYTES {
            return Err(self.damaged(self.at - 8, &format!("a section of {length} bytes")));
        }
        payload.clear();
        // Grows with what is really there, not with what a damaged length claims.
        let got = (&mut self.input)
            .take(u64::from(length))
            .read_to_end(payload)
            .map_err(|source| Error::Io { path: self.path.clone(), source })?;
        self.at += got as u64;
        Ok(Some((tag, got == length as usize)))
    }

    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        let got = fill(&mut self.input, buffer).map_err(|source| Error::Io { path: self.path.clone(), source })?;
        self.at += got as u64;
        Ok(got)
    }

    fn parse<T: DeserializeOwned>(&self, at: u64, payload: &[u8]) -> Result<T, Error> {
        serde_json::from_slice(payload).map_err(|error| self.damaged(at, &error.to_string()))
    }

    fn damaged(&self, at: u64, reason: &str) -> Error {
        Error::Damaged { path: self.path.clone(), at, reason: reason.to_owned() }
    }
}

fn replay_records(mut payload: &[u8], latest_ns: &mut Option<u64>, sink: &mut dyn FnMut(Item<'_>)) {
    while let Some((length, rest)) = payload.split_first_chunk() {
        let Some((record, rest)) = rest.split_at_checked(usize::from(u16::from_le_bytes(*length))) else {
            return;
        };
        if let Ok(header) = crate::decode::Header::read(record) {
            *latest_ns = (*latest_ns).max(Some(header.time_ns));
        }
        sink(Item::Record(record));
        payload = rest;
    }
}

fn fill(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(bytes) => filled += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
