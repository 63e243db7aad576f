//! Ties groups of sites to the program, and takes them away again.

use std::{
    io,
    num::NonZeroU32,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use aya::programs::{
    UProbe,
    perf_event::PerfEventLink,
    raw_trace_point::RawTracePointLink,
    uprobe::{UProbeAttachLocation, UProbeAttachPoint, UProbeLink, UProbeScope},
};

use super::{Error, load::Kernel, multi};

/// Sites that are attached and detached together.
#[derive(Clone, Debug)]
pub struct Group {
    /// Name of the group.
    pub name: String,
    /// Offset in the file and id of every site.
    pub sites: Vec<(u64, u16)>,
}

/// An attached group.
pub struct Attached {
    _link: Link,
}

/// Undone when it is dropped, which waits for running programs: some ms for a group's link, or for every single one.
pub(super) enum Link {
    Multi { _descriptor: OwnedFd },
    Single { _links: Vec<UProbeLink> },
    Timer { _links: Vec<PerfEventLink> },
    Scheduler { _switch: RawTracePointLink, _wakeup: RawTracePointLink },
}

/// The file that holds a target's sites, and the process to watch.
#[derive(Clone, Debug)]
pub struct Place {
    /// Path by which jtrace reaches the file (`/proc/PID/map_files/...`).
    pub path: PathBuf,
    /// The process.
    pub pid: NonZeroU32,
}

impl Kernel {
    /// Attaches a group of sites.
    pub fn attach(&mut self, group: Group, place: &Place) -> Result<Attached, Error> {
        let link = if let Some(program) = self.multi() {
            let sites: Vec<_> = group.sites.iter().map(|(offset, site)| (*offset, u64::from(*site))).collect();
            multi::link(program, &place.path, place.pid.get(), &sites).map(|link| Link::Multi { _descriptor: link })
        } else {
            attach_singly(self.single()?, &group, place).map(|links| Link::Single { _links: links })
        };
        match link {
            Ok(link) => Ok(Attached { _link: link }),
            Err(source) => {
                let Group { name, sites } = group;
                Err(Error::Attach { group: name, count: sites.len(), path: place.path.clone(), source })
            }
        }
    }
}

impl Attached {
    pub(super) const fn new(link: Link) -> Self {
        Self { _link: link }
    }

    /// Takes the sites away; they cost nothing any more when this returns.
    pub fn detach(self) {
        drop(self);
    }
}

/// Detaches all groups. Each waits until no program of it runs any more, so they wait side by side.
pub fn detach_all(groups: Vec<Attached>) {
    std::thread::scope(|scope| {
        for Attached { _link: link } in groups {
            match link {
                Link::Multi { .. } | Link::Timer { .. } | Link::Scheduler { .. } => _ = scope.spawn(move || drop(link)),
                Link::Single { _links: links } => {
                    for link in links {
                        scope.spawn(move || drop(link));
                    }
                }
            }
        }
    });
}

/// Attaches site by site; what was attached before a failure goes with the error.
fn attach_singly(program: &mut UProbe, group: &Group, place: &Place) -> io::Result<Vec<UProbeLink>> {
    let attach = |(offset, site): &(u64, u16)| {
        let point = UProbeAttachPoint {
            location: UProbeAttachLocation::AbsoluteOffset(*offset),
            cookie: Some(u64::from(*site)),
        };
        let path: &Path = &place.path;
        let link = program.attach(point, path, UProbeScope::OneProcess(place.pid)).map_err(io::Error::other)?;
        program.take_link(link).map_err(io::Error::other)
    };
    group.sites.iter().map(attach).collect()
}
