//! Why a process cannot be looked at, in one line, and what to do about it, in another.

use std::{io, io::Read};

use super::{
    super::{
        memory::{self, file_system::open_regular, library},
        vmstructs,
    },
    privileges::Privileges,
};

/// Why a process cannot be looked at.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such process.
    #[error("there is no process {0}")]
    NoProcess(u32),
    /// It has ended, but its parent has not noticed.
    #[error("process {0} has ended: it is a zombie")]
    Zombie(u32),
    /// It is a thread of another process.
    #[error("{tid} is a thread of process {pid}")]
    Thread {
        /// What was asked for.
        tid: u32,
        /// Its process.
        pid: u32,
    },
    /// It runs no JVM.
    #[error("process {pid} is not a JVM: it has no libjvm.so mapped")]
    NotJvm {
        /// The process.
        pid: u32,
        /// What it runs.
        command: String,
    },
    /// It runs another JVM than HotSpot.
    #[error("process {pid} runs another JVM than HotSpot: it has {library} mapped")]
    OtherVm {
        /// The process.
        pid: u32,
        /// What gives it away.
        library: String,
    },
    /// Its JVM has 32 bits.
    #[error("process {0} runs a 32-bit JVM")]
    ThirtyTwoBit(u32),
    /// The kernel refuses.
    #[error("no permission to look into process {pid}")]
    NotPermitted {
        /// The process.
        pid: u32,
        /// Capabilities that jtrace lacks.
        missing: Vec<&'static str>,
    },
    /// The process could not be examined for another reason.
    #[error("cannot read the mappings of process {pid}")]
    Maps {
        /// The process.
        pid: u32,
        /// What the kernel said.
        source: io::Error,
    },
    /// Its libjvm.so could not be looked into.
    #[error("cannot look into the libjvm.so of process {pid}")]
    Library {
        /// The process.
        pid: u32,
        /// Why.
        source: library::Error,
    },
    /// Its memory could not be read.
    #[error("cannot read the memory of process {pid}")]
    Memory {
        /// The process.
        pid: u32,
        /// Why.
        source: memory::Error,
    },
    /// Its tables could not be read.
    #[error("cannot read the JVM's tables of process {pid}")]
    Tables {
        /// The process.
        pid: u32,
        /// Why.
        source: vmstructs::Error,
    },
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let list = "`jtrace list` shows the JVMs of this machine";
        match self {
            Self::NoProcess(_) => Some(format!("{list}; inside a container a process has another pid")),
            Self::Zombie(_) => Some(list.to_owned()),
            Self::Thread { pid, .. } => Some(format!("use {pid}")),
            Self::NotJvm { command, .. } if command.is_empty() => Some(list.to_owned()),
            Self::NotJvm { command, .. } => Some(format!("it runs `{}`; {list}", shortened(command))),
            Self::OtherVm { .. } => Some("jtrace needs HotSpot (OpenJDK): OpenJ9 has other probes".to_owned()),
            Self::ThirtyTwoBit(_) => Some("jtrace needs a 64-bit JVM".to_owned()),
            Self::NotPermitted { missing, .. } if missing.is_empty() => Some(
                "a security module or another user namespace forbids it; run jtrace as root on the host".to_owned(),
            ),
            Self::NotPermitted { missing, .. } => Some(format!("run with sudo, or grant {}", missing.join(", "))),
            Self::Library { source: library::Error::Replaced { .. }, .. } => {
                Some("its libjvm.so was replaced while it runs; reaching the old one needs CAP_SYS_ADMIN".to_owned())
            }
            Self::Tables { source: vmstructs::Error::NotExported(_), .. } => {
                Some("jtrace needs HotSpot (OpenJDK)".to_owned())
            }
            Self::Tables { .. } => Some("a JVM that starts just now can be asked again in a moment".to_owned()),
            Self::Maps { .. } | Self::Library { .. } | Self::Memory { .. } => None,
        }
    }

    fn not_permitted(pid: u32) -> Self {
        Self::NotPermitted { pid, missing: Privileges::own().missing() }
    }

    pub(super) fn maps(pid: u32, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::PermissionDenied => Self::not_permitted(pid),
            io::ErrorKind::NotFound => Self::NoProcess(pid),
            // The kernel's answer once the process has ended.
            _ if source.raw_os_error() == Some(libc::ESRCH) => Self::NoProcess(pid),
            _ => Self::Maps { pid, source },
        }
    }

    pub(super) fn library(pid: u32, source: library::Error) -> Self {
        match &source {
            library::Error::Open { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                Self::not_permitted(pid)
            }
            library::Error::NotElf { path, .. } if is_32_bit(path) => Self::ThirtyTwoBit(pid),
            _ => Self::Library { pid, source },
        }
    }

    pub(super) fn memory(pid: u32, source: memory::Error) -> Self {
        match &source {
            memory::Error::Open { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                Self::not_permitted(pid)
            }
            _ => Self::Memory { pid, source },
        }
    }

    pub(super) fn tables(pid: u32, source: vmstructs::Error) -> Self {
        Self::Tables { pid, source }
    }
}

/// Whether an ELF file says of itself that it has 32 bits.
fn is_32_bit(path: &std::path::Path) -> bool {
    let mut start = [0; 5];
    let read = open_regular(path).ok().and_then(|mut file| file.read_exact(&mut start).ok());
    read.is_some() && start == *b"\x7fELF\x01"
}

fn shortened(command: &str) -> String {
    let mut text: String = command.chars().filter(|letter| !letter.is_control()).take(60).collect();
    if text.len() < command.len() {
        text.push_str("...");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::{super::Jvm, *};

    #[test]
    fn a_process_that_is_not_there_is_said_to_be_none() {
        let error = Jvm::open(u32::MAX).unwrap_err();
        assert!(matches!(error, Error::NoProcess(u32::MAX)) && error.hint().unwrap().contains("jtrace list"));
    }

    #[test]
    fn a_process_without_libjvm_is_no_jvm() {
        let error = Jvm::open(std::process::id()).unwrap_err();
        assert!(matches!(&error, Error::NotJvm { .. }), "{error}");
    }

    #[test]
    fn a_zombie_is_told_from_a_living_process() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        drop(child.stdin.take());
        while !super::super::process::Stat::read(child.id()).unwrap().is_dead() {
            std::thread::yield_now();
        }
        let error = Jvm::open(child.id()).unwrap_err();
        child.wait().unwrap();
        assert!(matches!(error, Error::Zombie(_)));
    }

    #[test]
    fn missing_capabilities_are_in_the_hint() {
        let error = Error::NotPermitted { pid: 1, missing: vec!["CAP_SYS_PTRACE", "CAP_BPF"] };
        assert_eq!(error.hint().unwrap(), "run with sudo, or grant CAP_SYS_PTRACE, CAP_BPF");
    }

    #[test]
    fn control_characters_of_a_command_do_not_reach_the_hint() {
        let error = Error::NotJvm { pid: 1, command: "evil\x1b[2J\n".to_owned() };
        assert!(!error.hint().unwrap().contains(char::is_control));
    }
}
