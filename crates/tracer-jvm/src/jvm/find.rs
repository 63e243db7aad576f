//! Finds JVMs among the processes of the machine and describes them.
//!
//! What a JVM is made of is read by the other modules here; this one puts it together, and says in one line why a process
//! cannot be looked at and what to do about it.

pub mod process;

pub mod privileges;

pub mod refused_calls;
pub mod refused_files;

pub mod sharers;

mod describe;

mod error;

use std::{fs, path::Path};

use self::{
    describe::{Known, describe},
    process::{Identity, Status},
};
pub use self::{error::Error, process::threads};
use super::{
    flags::{self, Flags},
    memory::{
        Memory,
        library::Library,
        maps::{self, Mapping},
    },
    perfdata::{self, PerfData},
    vmstructs::VmStructs,
};
use crate::item::Target;

#[cfg(test)]
mod live;

/// A JVM with all that jtrace reads from it.
#[derive(Debug)]
pub struct Jvm {
    /// Its description.
    pub target: Target,
    /// Its libjvm.so.
    pub library: Library,
    /// Its memory, for reading.
    pub memory: Memory,
    /// Its description of its own structures.
    pub tables: VmStructs,
    /// Its flags.
    pub flags: Result<Flags, flags::Error>,
    /// Its counters at the time of opening.
    pub counters: Result<PerfData, perfdata::Error>,
}

/// A JVM as `jtrace list` shows it.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its description, as far as it could be read.
    pub target: Target,
    /// Path by which jtrace reaches its libjvm.so; absent where it does not.
    pub attach_path: Option<std::path::PathBuf>,
    /// Why it cannot be traced.
    pub problem: Option<String>,
}

impl Jvm {
    /// Looks into the JVM with this pid.
    pub fn open(pid: u32) -> Result<Self, Error> {
        let identity = living(pid)?;
        let status = Status::read(&pid.to_string()).map_err(|_| Error::NoProcess(pid))?;
        let mapping = libjvm_of(pid)?;
        let library = Library::open(pid, &mapping).map_err(|error| Error::library(pid, error))?;
        let memory = Memory::open(pid).map_err(|error| Error::memory(pid, error))?;
        let tables = VmStructs::read(&memory, &library).map_err(|source| Error::tables(pid, source))?;
        // The pid may have gone to another process meanwhile; the memory has not.
        if !identity.is_alive() {
            return Err(Error::NoProcess(pid));
        }
        let flags = Flags::read(&memory, &tables);
        let counters = PerfData::from_memory(&memory, &tables);
        let known = Known {
            memory: Some(&memory),
            tables: Some(&tables),
            flags: flags.as_ref().ok(),
            counters: counters.as_ref().ok(),
        };
        let target = describe(identity, status, &library.path, known);
        Ok(Self { target, library, memory, tables, flags, counters })
    }

    /// The process.
    pub fn identity(&self) -> Identity {
        Identity { pid: self.target.pid, start_ticks: self.target.start_ticks }
    }
}

/// A step of looking at all processes.
#[derive(Debug)]
pub enum Step {
    /// This one is looked at next.
    At(u32),
    /// It is a JVM.
    Jvm(Box<Listed>),
    /// Its mappings could not be read, so it may be one.
    Hidden,
    /// It was not looked at, for whose it is.
    LeftOut,
}

/// Looks at all processes of the machine from a pid on, and says of each what it is. Those of some users are left out.
pub fn scan(first: u32, without: &[u32], tell: &mut dyn FnMut(Step) -> std::io::Result<()>) -> std::io::Result<()> {
    for pid in pids()?.into_iter().filter(|pid| *pid >= first) {
        if !without.is_empty() && Status::read(&pid.to_string()).is_ok_and(|status| without.contains(&status.uid)) {
            tell(Step::LeftOut)?;
            continue;
        }
        tell(Step::At(pid))?;
        let listed = match libjvm_of(pid) {
            Ok(mapping) => list_one(pid, &mapping),
            Err(Error::OtherVm { pid, library }) => {
                list_plain(pid, Path::new(&library), &Error::OtherVm { pid, library: library.clone() })
            }
            Err(Error::NotPermitted { .. }) => {
                tell(Step::Hidden)?;
                None
            }
            // It is no JVM, or gone meanwhile.
            Err(_) => None,
        };
        if let Some(listed) = listed {
            tell(Step::Jvm(Box::new(listed)))?;
        }
    }
    Ok(())
}

/// All processes, in order.
fn pids() -> std::io::Result<Vec<u32>> {
    let entries = fs::read_dir("/proc")?.filter_map(Result::ok);
    let mut pids: Vec<u32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    pids.sort_unstable();
    Ok(pids)
}

/// Describes a JVM of which nothing is known but what the kernel says of its process.
pub fn list_unread(pid: u32, problem: String) -> Option<Listed> {
    let identity = Identity::of(pid)?;
    let status = Status::read(&pid.to_string()).ok()?;
    let target = describe(identity, status, Path::new(""), Known::default());
    Some(Listed { target, attach_path: None, problem: Some(problem) })
}

/// Describes one process; absent where it is gone meanwhile.
fn list_one(pid: u32, mapping: &Mapping) -> Option<Listed> {
    match Jvm::open(pid) {
        Ok(Jvm { target, library, .. }) => {
            Some(Listed { target, attach_path: Some(library.attach_path), problem: None })
        }
        Err(error) => list_plain(pid, &mapping.path, &error),
    }
}

/// Describes a process whose memory cannot be read: its file of counters may still tell something.
fn list_plain(pid: u32, library: &Path, error: &Error) -> Option<Listed> {
    let identity = Identity::of(pid)?;
    let status = Status::read(&pid.to_string()).ok()?;
    let user = describe::user_name(status.uid);
    let counters = perfdata::file::read(identity, status.namespace_pid, &user, status.uid).ok();
    let counters = counters.and_then(|bytes| PerfData::parse(bytes, None).ok());
    let target = describe(identity, status, library, Known { counters: counters.as_ref(), ..Known::default() });
    Some(Listed { target, attach_path: None, problem: Some(error.to_string()) })
}

fn living(pid: u32) -> Result<Identity, Error> {
    let stat = process::Stat::read(pid).map_err(|_| Error::NoProcess(pid))?;
    if stat.is_dead() {
        return Err(Error::Zombie(pid));
    }
    match process::thread_group(pid) {
        Some(leader) if leader != pid => Err(Error::Thread { tid: pid, pid: leader }),
        Some(_) | None => Ok(Identity { pid, start_ticks: stat.start_ticks }),
    }
}

/// The executable mapping of a process's libjvm.so.
pub(super) fn libjvm_of(pid: u32) -> Result<Mapping, Error> {
    let text = maps::read_text(pid).map_err(|source| Error::maps(pid, source))?;
    let looks_like = |name: &str| memchr::memmem::find(&text, name.as_bytes()).is_some();
    if !looks_like("libjvm.so") && !looks_like("libj9vm") {
        return Err(Error::NotJvm { pid, command: process::name(pid) });
    }
    let all = maps::parse(&text);
    let starts_with =
        |mapping: &Mapping, start: &str| mapping.file_name().as_encoded_bytes().starts_with(start.as_bytes());
    // OpenJ9 has a libjvm.so as well, which only leads to the real one.
    if let Some(other) = all.iter().find(|mapping| starts_with(mapping, "libj9vm")) {
        return Err(Error::OtherVm { pid, library: other.file_name().to_string_lossy().into_owned() });
    }
    let libjvm = all.into_iter().find(|mapping| mapping.executable && starts_with(mapping, "libjvm.so"));
    libjvm.ok_or_else(|| Error::NotJvm { pid, command: process::name(pid) })
}
