//! Ties groups of sites to the program, and takes them away again.

use std::{
    collections::BTreeMap,
    io,
    num::NonZeroU32,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    thread::Builder,
};

use aya::programs::{
    perf_event::PerfEventLink,
    raw_trace_point::RawTracePointLink,
    uprobe::{UProbeAttachLocation, UProbeAttachPoint, UProbeLink, UProbeScope},
};

use tracer_common::site::MAX_SITES;

use super::{
    Error,
    load::{Kernel, KernelOptions},
    multi,
};
use crate::priority;

/// A thread group id that no process has. While it is the target's, sites count their hits and emit nothing: so a session
/// begins and ends for all sites at one moment, though they are attached and detached one group after another. Else a pause
/// could come without its safepoint.
pub const NOBODY: u32 = u32::MAX;

/// Sites that are attached and detached together.
#[derive(Clone, Debug)]
pub struct Group {
    /// Name of the group.
    pub name: String,
    /// Offset in the file and id of every site.
    pub sites: Vec<(u64, u16)>,
    /// The file, where it is not the one with most of the target's sites.
    pub path: Option<PathBuf>,
}

impl Group {
    fn path<'a>(&'a self, place: &'a Place) -> &'a Path {
        self.path.as_deref().unwrap_or(&place.path)
    }
}

/// An attached group.
pub struct Attached {
    _link: Link,
}

/// Undone when it is dropped, which waits for running programs: some ms for a group's link, or for every single one.
pub(super) enum Link {
    Multi { _descriptors: Vec<OwnedFd> },
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
        let link = match self.attach_as_group(&group, place) {
            Some(attached) => attached.map(|links| Link::Multi { _descriptors: links }),
            None => self.attach_singly(&group, place).map(|links| Link::Single { _links: links }),
        };
        match link {
            Ok(link) => Ok(Attached { _link: link }),
            Err(source) => {
                let path = group.path(place).to_owned();
                let Group { name, sites, path: _ } = group;
                Err(Error::Attach { group: name, count: sites.len(), path, source })
            }
        }
    }

    /// Attaches with a link for each program that the group needs, where the kernel has such links.
    fn attach_as_group(&self, group: &Group, place: &Place) -> Option<io::Result<Vec<OwnedFd>>> {
        let mut by_program: BTreeMap<&str, Vec<(u64, u64)>> = BTreeMap::new();
        for (offset, site) in &group.sites {
            by_program.entry(self.programs().of_site(*site)).or_default().push((*offset, u64::from(*site)));
        }
        let programs: Option<Vec<_>> =
            by_program.iter().map(|(name, sites)| Some((self.programs().multi(name)?, sites))).collect();
        let link =
            |(program, sites): (&OwnedFd, &Vec<_>)| multi::link(program, group.path(place), place.pid.get(), sites);
        Some(programs?.into_iter().map(link).collect())
    }

    /// Attaches site by site; what was attached before a failure goes with the error.
    fn attach_singly(&mut self, group: &Group, place: &Place) -> io::Result<Vec<UProbeLink>> {
        let mut links = Vec::with_capacity(group.sites.len());
        for (offset, site) in &group.sites {
            let name = self.programs().of_site(*site);
            let program = self.uprobe(name).map_err(io::Error::other)?;
            let point = UProbeAttachPoint {
                location: UProbeAttachLocation::AbsoluteOffset(*offset),
                cookie: Some(u64::from(*site)),
            };
            let path = group.path(place);
            let link = program.attach(point, path, UProbeScope::OneProcess(place.pid)).map_err(io::Error::other)?;
            links.push(program.take_link(link).map_err(io::Error::other)?);
        }
        Ok(links)
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

/// Detaches all groups. Each waits until no program of it runs any more, so they wait side by side; where there is no room for another
/// thread, one after another.
pub fn detach_all(groups: Vec<Attached>) {
    std::thread::scope(|scope| {
        // What could not be handed to a thread goes when it is dropped.
        let begin = |letting_go: Box<dyn FnOnce() + Send>| _ = Builder::new().spawn_scoped(scope, letting_go);
        for Attached { _link: link } in groups {
            match link {
                Link::Multi { .. } | Link::Timer { .. } | Link::Scheduler { .. } => begin(Box::new(|| let_go(link))),
                Link::Single { _links: links } => {
                    for link in links {
                        begin(Box::new(|| let_go(link)));
                    }
                }
            }
        }
    });
}

/// Takes away sites that no jtrace owns any more: by attaching to them and detaching, which the kernel then does to the end. What
/// others have attached there stays.
pub fn take_away(place: &Place, offsets: &[u64]) -> Result<(), Error> {
    let (mut kernel, _rings) = Kernel::load(KernelOptions::default())?;
    for some in offsets.chunks(MAX_SITES) {
        let sites = some.iter().copied().zip(0..).collect();
        kernel.attach(Group { name: "left behind".to_owned(), sites, path: None }, place)?.detach();
    }
    Ok(())
}

/// The target pays until this is done, so it must not wait for its turn.
fn let_go<L>(link: L) {
    priority::join();
    drop(link);
}
