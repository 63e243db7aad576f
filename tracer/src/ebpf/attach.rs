//! Ties groups of sites to the program, and takes them away again.

use std::{
    io,
    num::NonZeroU32,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use aya::programs::{
    UProbe,
    uprobe::{UProbeAttachLocation, UProbeAttachPoint, UProbeLinkId, UProbeScope},
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
    link: Link,
}

enum Link {
    /// Undone by closing the descriptor, which waits for running programs: it may take some ms.
    Multi(OwnedFd),
    Single(Vec<UProbeLinkId>),
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
            multi::link(program, &place.path, place.pid.get(), &sites).map(Link::Multi)
        } else {
            attach_singly(self.single()?, &group, place).map(Link::Single)
        };
        match link {
            Ok(link) => Ok(Attached { link }),
            Err(source) => {
                let Group { name, sites } = group;
                Err(Error::Attach { group: name, count: sites.len(), path: place.path.clone(), source })
            }
        }
    }

    /// Detaches a group; its sites cost nothing any more when this returns.
    pub fn detach(&mut self, attached: Attached) -> Result<(), Error> {
        let Attached { link } = attached;
        match link {
            Link::Multi(descriptor) => drop(descriptor),
            Link::Single(links) => {
                let program = self.single()?;
                for link in links {
                    if let Err(error) = program.detach(link) {
                        log::warn!("a site could not be detached: {error}");
                    }
                }
            }
        }
        Ok(())
    }
}

/// Detaches all groups. Closing a link waits until no program of it runs any more, so the groups wait side by side.
pub fn detach_all(kernel: &mut Kernel, groups: Vec<Attached>) -> Result<(), Error> {
    let (multi, single): (Vec<_>, Vec<_>) =
        groups.into_iter().partition(|attached| matches!(attached.link, Link::Multi(_)));
    std::thread::scope(|scope| {
        for attached in multi {
            scope.spawn(move || drop(attached));
        }
    });
    single.into_iter().try_for_each(|attached| kernel.detach(attached))
}

fn attach_singly(program: &mut UProbe, group: &Group, place: &Place) -> io::Result<Vec<UProbeLinkId>> {
    let mut links = Vec::with_capacity(group.sites.len());
    for (offset, site) in &group.sites {
        let point = UProbeAttachPoint {
            location: UProbeAttachLocation::AbsoluteOffset(*offset),
            cookie: Some(u64::from(*site)),
        };
        let path: &Path = &place.path;
        match program.attach(point, path, UProbeScope::OneProcess(place.pid)) {
            Ok(link) => links.push(link),
            Err(error) => {
                for link in links {
                    let _: Result<(), _> = program.detach(link);
                }
                return Err(io::Error::other(error));
            }
        }
    }
    Ok(links)
}
