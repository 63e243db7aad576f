//! Parses SystemTap probe notes (`.note.stapsdt`): which sites a library has, and where their arguments lie.
//!
//! Every location of every name is a site of its own, because the compiler leaves the arguments in different places. What
//! cannot be used is carried along with the reason, so that `jtrace probes` can show it and the rest still works. Which
//! sites are worth attaching is the business of `tracer_live::probe`.

pub mod arg;

use tracer_common::site::Operand;

use super::elf::{Elf, Note};

/// Section with the notes.
pub const SECTION: &str = ".note.stapsdt";
/// Section whose address tells how far a prelinker moved the file after the notes were written.
const BASE_SECTION: &str = ".stapsdt.base";
/// Owner of the notes.
const OWNER: &[u8] = b"stapsdt";
/// Type of the notes.
const NOTE_TYPE: u32 = 3;

/// Most sites that are taken from one file; libjvm.so has fewer than 600.
pub const MAX_SITES: usize = 16_384;
/// Most arguments of a site; SystemTap's own limit is 12.
pub const MAX_ARGUMENTS: usize = 12;
/// Longest provider or probe name.
pub const MAX_NAME_BYTES: usize = 128;
/// Longest text of all arguments of a site.
pub const MAX_ARGUMENTS_BYTES: usize = 1024;
/// Most errors that are kept one by one; the others are only counted.
pub const MAX_ERRORS: usize = 64;

/// Why a note gives no site.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The section is cut or its headers are wrong; nothing after this point can be found.
    #[error("after {read} notes the rest of `{SECTION}` is unreadable: {what}")]
    Section {
        /// Notes that were read before.
        read: usize,
        /// What is wrong.
        what: String,
    },
    /// A note of another owner or version.
    #[error("note {index} has owner `{owner}` and type {note_type}, not `stapsdt` and {NOTE_TYPE}")]
    Foreign {
        /// Number of the note, from 0.
        index: usize,
        /// Its owner.
        owner: String,
        /// Its type.
        note_type: u32,
    },
    /// The three addresses do not fit.
    #[error("note {index} has {bytes} bytes, too few for its addresses")]
    Short {
        /// Number of the note, from 0.
        index: usize,
        /// Its size.
        bytes: usize,
    },
    /// A text has no end, is too long or is not printable ASCII.
    #[error("note {index} has a bad {what}")]
    Text {
        /// Number of the note, from 0.
        index: usize,
        /// Which text.
        what: &'static str,
    },
    /// More arguments than any site has.
    #[error("note {index} has more than {MAX_ARGUMENTS} arguments")]
    Arguments {
        /// Number of the note, from 0.
        index: usize,
    },
    /// More notes than are taken.
    #[error("more than {MAX_SITES} notes, the rest is left out")]
    TooMany,
}

/// Why a site cannot be attached although its note is sound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The code skips the site until a counter in the target is raised, and jtrace does not write to it.
    #[error("it is guarded by a semaphore at {address:#x}")]
    Semaphore {
        /// Address of the counter, as the note gives it.
        address: u64,
    },
    /// The address is in no executable part of the file.
    #[error("its address {address:#x} is not code of the file")]
    NotCode {
        /// The address.
        address: u64,
    },
}

/// One location of a USDT probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Provider (`hotspot`).
    pub provider: String,
    /// Name (`gc__begin`).
    pub name: String,
    /// Address of the site as the note gives it.
    pub pc: u64,
    /// Address of `.stapsdt.base` when the note was written.
    pub base: u64,
    /// Address of the site's semaphore, 0 where it has none.
    pub semaphore: u64,
    /// Virtual address of the site, with the base adjustment.
    pub address: u64,
    /// Where the site lies in the file, or why it cannot be attached.
    pub file_offset: Result<u64, Refusal>,
    /// The arguments as the assembler wrote them.
    pub arguments: String,
    /// The same, parsed; an argument that no program can read keeps its reason.
    pub operands: Vec<Result<Operand, arg::Error>>,
}

/// What a file's notes say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sites {
    /// Sites in the order of the notes.
    pub sites: Vec<Site>,
    /// The first [`MAX_ERRORS`] notes that gave none.
    pub errors: Vec<Error>,
    /// How many notes gave none.
    pub error_count: usize,
}

impl Sites {
    /// All locations of one probe, in the order of the notes.
    pub fn locations<'a>(&'a self, provider: &'a str, name: &'a str) -> impl Iterator<Item = &'a Site> {
        self.sites.iter().filter(move |site| site.provider == provider && site.name == name)
    }

    /// Whether there is any site at all.
    pub fn is_empty(&self) -> bool {
        self.sites.is_empty()
    }

    /// Sites that cannot be attached, with the reason.
    pub fn refused(&self) -> impl Iterator<Item = (&Site, Refusal)> {
        self.sites.iter().filter_map(|site| site.file_offset.err().map(|refusal| (site, refusal)))
    }

    /// Operands that no program can read, with the reason.
    pub fn refused_operands(&self) -> impl Iterator<Item = (&Site, &arg::Error)> {
        self.sites.iter().flat_map(|site| site.operands.iter().filter_map(move |o| o.as_ref().err().map(|e| (site, e))))
    }

    fn count(&mut self, error: Error) {
        self.error_count += 1;
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(error);
        }
    }
}

/// Reads all notes of a file.
pub fn read(elf: &Elf<'_>) -> Sites {
    let moved_to = elf.section_address(BASE_SECTION);
    let notes = elf.notes(SECTION).map(|note| note.map_err(|error| error.to_string()));
    read_notes(notes, moved_to, |address| elf.code_offset(address))
}

/// Reads notes one by one; `moved_to` is the address of `.stapsdt.base`, `offset` finds code in the file.
pub fn read_notes<'data>(
    notes: impl Iterator<Item = Result<Note<'data>, String>>,
    moved_to: Option<u64>,
    offset: impl Fn(u64) -> Option<u64>,
) -> Sites {
    let mut sites = Sites::default();
    for (index, note) in notes.enumerate() {
        if index >= MAX_SITES {
            sites.count(Error::TooMany);
            break;
        }
        match note.map_err(|what| Error::Section { read: index, what }).and_then(|note| parse(index, &note, moved_to)) {
            Ok(mut site) => {
                if site.semaphore != 0 {
                    site.file_offset = Err(Refusal::Semaphore { address: site.semaphore });
                } else if let Some(offset) = offset(site.address) {
                    site.file_offset = Ok(offset);
                }
                sites.sites.push(site);
            }
            Err(error) => sites.count(error),
        }
    }
    sites
}

/// One note: three addresses, then three texts that end in NUL.
fn parse(index: usize, note: &Note<'_>, moved_to: Option<u64>) -> Result<Site, Error> {
    let Note { owner, note_type, desc } = *note;
    if owner != OWNER || note_type != NOTE_TYPE {
        let owner = &owner[..owner.len().min(32)];
        return Err(Error::Foreign { index, owner: owner.escape_ascii().to_string(), note_type });
    }
    let (addresses, texts) = desc.split_at_checked(24).ok_or(Error::Short { index, bytes: desc.len() })?;
    let &[pc, base, semaphore] = addresses.as_chunks::<8>().0 else {
        return Err(Error::Short { index, bytes: desc.len() });
    };
    let [pc, base, semaphore] = [pc, base, semaphore].map(u64::from_le_bytes);
    let (provider, texts) = text(texts, MAX_NAME_BYTES).ok_or(Error::Text { index, what: "provider" })?;
    let (name, texts) = text(texts, MAX_NAME_BYTES).ok_or(Error::Text { index, what: "name" })?;
    let (arguments, _padding) =
        text(texts, MAX_ARGUMENTS_BYTES).ok_or(Error::Text { index, what: "list of arguments" })?;
    if provider.is_empty() || name.is_empty() {
        return Err(Error::Text { index, what: if name.is_empty() { "name" } else { "provider" } });
    }
    let operands: Vec<_> = split(arguments).take(MAX_ARGUMENTS + 1).map(arg::parse).collect();
    if operands.len() > MAX_ARGUMENTS {
        return Err(Error::Arguments { index });
    }
    // Only where both bases are known is their difference a move.
    let moved_by = moved_to.filter(|_| base != 0).map_or(0, |moved_to| moved_to.wrapping_sub(base));
    let address = pc.wrapping_add(moved_by);
    Ok(Site {
        provider: provider.to_owned(),
        name: name.to_owned(),
        pc,
        base,
        semaphore,
        address,
        file_offset: Err(Refusal::NotCode { address }),
        arguments: arguments.to_owned(),
        operands,
    })
}

/// The text up to the next NUL, and what follows it. It will be shown on terminals, so it must be printable ASCII.
fn text(bytes: &[u8], limit: usize) -> Option<(&str, &[u8])> {
    let end = memchr::memchr(0, &bytes[..bytes.len().min(limit + 1)])?;
    let text = std::str::from_utf8(&bytes[..end]).ok()?;
    text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()).then_some((text, &bytes[end + 1..]))
}

/// Splits a list of arguments at spaces that are not within parentheses.
fn split(arguments: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    arguments
        .split(move |c| {
            depth = match c {
                '(' => depth + 1,
                ')' => depth.saturating_sub(1),
                _ => depth,
            };
            c == ' ' && depth == 0
        })
        .filter(|argument| !argument.is_empty())
}

#[cfg(test)]
mod tests;
