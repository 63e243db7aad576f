//! Who could hold up whoever puts sites into a file. For each site the kernel takes the lock of every address space that has the file
//! mapped, whoever's that is. No signal ends that wait, and until it is over nobody on the machine can start a process. A user
//! holds such a lock for as long as she likes at a page that comes from a file system of hers. So she is looked for before.

use std::{io, process};

use super::{super::memory::file_system, Mapping, maps, pids};

/// A step of looking for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The mappings of this process are looked at next.
    At(u32),
    /// This one has mapped one of the files, and one that its user may serve herself.
    HoldsUp(u32),
}

/// Looks at all processes for those that have mapped one of these inodes. Their devices say nothing: a layer over a file system (overlay)
/// has one of its own, and the number of the inode that lies below it.
pub fn look(inodes: &[u64], tell: &mut dyn FnMut(Step) -> io::Result<()>) -> io::Result<()> {
    let fields: Vec<String> = inodes.iter().map(|inode| format!(" {inode} ")).collect();
    for pid in pids()?.into_iter().filter(|pid| *pid != process::id()) {
        tell(Step::At(pid))?;
        // It is gone, or nobody may look at it.
        let Ok(text) = maps::read_text(pid) else { continue };
        let has = |field: &String| memchr::memmem::find(&text, field.as_bytes()).is_some();
        if !fields.iter().any(has) {
            continue;
        }
        let all = maps::parse(&text);
        if all.iter().any(|mapping| inodes.contains(&mapping.inode)) && may_hold_up(pid, &all)? {
            tell(Step::HoldsUp(pid))?;
        }
    }
    Ok(())
}

/// Whether a process with these mappings has one that its user may serve herself.
fn may_hold_up(pid: u32, all: &[Mapping]) -> io::Result<bool> {
    file_system::has_others(pid, all).or_else(|error| {
        // One that has ended meanwhile has no mappings any more, and holds up nobody.
        let has_ended = maps::read_text(pid).map_or(true, |text| text.is_empty());
        if has_ended { Ok(false) } else { Err(error) }
    })
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::MetadataExt as _, process::Command};

    use super::*;

    #[test]
    fn who_has_a_file_mapped_and_serves_nothing_holds_up_nobody() {
        let mut other = Command::new("cat").stdin(process::Stdio::piped()).spawn().unwrap();
        let inode = fs::metadata("/proc/self/exe").unwrap().ino();
        let its = fs::metadata(format!("/proc/{}/exe", other.id())).unwrap().ino();
        let mut steps = Vec::new();
        look(&[inode, its], &mut |step| {
            steps.push(step);
            Ok(())
        })
        .unwrap();
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(steps.contains(&Step::At(other.id())) && !steps.contains(&Step::At(process::id())));
        assert!(!steps.contains(&Step::HoldsUp(other.id())));
    }

    #[test]
    fn a_process_that_ends_while_it_is_looked_at_holds_up_nobody() {
        let mut other = Command::new("cat").stdin(process::Stdio::piped()).spawn().unwrap();
        let all = maps::read(other.id()).unwrap();
        other.kill().unwrap();
        // It stays a zombie until it is waited for, which the kernel answers otherwise than one that is gone.
        while maps::read_text(other.id()).is_ok_and(|text| !text.is_empty()) {
            std::thread::yield_now();
        }
        assert!(!may_hold_up(other.id(), &all).unwrap());
        other.wait().unwrap();
        assert!(!may_hold_up(other.id(), &all).unwrap());
    }
}
