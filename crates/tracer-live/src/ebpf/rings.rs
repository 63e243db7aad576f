//! Reads records from the ring buffers, one per CPU.

use std::{
    collections::BTreeSet,
    os::fd::{AsFd as _, OwnedFd},
};

use aya::maps::{ArrayOfMaps, Map, MapData, RingBuf};
use aya_obj::generated::bpf_map_type;
use rustix::event::epoll;
use tracer_common::names::MAP_RINGS;

use super::{Error, bpf_object::map_error, online::Online};

/// The ring buffers of all CPUs behind one descriptor.
pub struct Rings {
    buffers: Vec<RingBuf<MapData>>,
    /// CPUs that have one.
    cpus: BTreeSet<u32>,
    online: Online,
    bytes: u32,
    epoll: OwnedFd,
    /// Holds the kernel's references to the ring buffers.
    outer: ArrayOfMaps<MapData, MapData>,
}

impl Rings {
    /// Those of the CPUs that are in use, each with as many `bytes` as go with their number.
    pub(super) fn new(outer: Map, bytes: impl Fn(usize) -> u32) -> Result<Self, Error> {
        let outer = ArrayOfMaps::try_from(outer).map_err(|error| map_error(MAP_RINGS, &error))?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(system("epoll_create"))?;
        let mut online = Online::open().map_err(online_error)?;
        let cpus = online.changed().map_err(online_error)?.unwrap_or_default();
        let bytes = bytes(cpus.len());
        let mut rings = Self { buffers: Vec::new(), cpus: BTreeSet::new(), online, bytes, epoll, outer };
        rings.give(&cpus)?;
        Ok(rings)
    }

    /// Bytes of each.
    pub const fn bytes(&self) -> u32 {
        self.bytes
    }

    /// CPUs that have one.
    pub fn cpus(&self) -> Vec<u32> {
        self.cpus.iter().copied().collect()
    }

    /// Gives CPUs that have come since a ring buffer. What happened on one before counts as lost.
    pub fn follow_cpus(&mut self) -> Result<(), Error> {
        match self.online.changed().map_err(online_error)? {
            Some(cpus) => self.give(&cpus),
            None => Ok(()),
        }
    }

    fn give(&mut self, cpus: &[u32]) -> Result<(), Error> {
        for cpu in cpus.iter().copied() {
            if cpu < self.outer.len() && !self.cpus.contains(&cpu) {
                self.add(cpu)?;
            }
        }
        Ok(())
    }

    fn add(&mut self, cpu: u32) -> Result<(), Error> {
        let failed = |error: &dyn std::error::Error| map_error(MAP_RINGS, error);
        let definition = aya_obj::Map::new_from_params(bpf_map_type::BPF_MAP_TYPE_RINGBUF as u32, 0, 0, self.bytes, 0);
        let ring = MapData::create(definition, "RING", None).map_err(|error| failed(&error))?;
        self.outer.set(cpu, &ring, 0).map_err(|error| failed(&error))?;
        let ring = RingBuf::try_from(Map::RingBuf(ring)).map_err(|error| failed(&error))?;
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&self.epoll, ring.as_fd(), epoll::EventData::new_u64(0), flags).map_err(system("epoll_ctl"))?;
        self.buffers.push(ring);
        self.cpus.insert(cpu);
        Ok(())
    }

    /// A descriptor that becomes readable when a ring buffer has filled up to a quarter; others wait for a timer.
    pub const fn descriptor(&self) -> &OwnedFd {
        &self.epoll
    }

    /// Takes what arrived since the last call.
    ///
    /// A ring buffer is read up to its oldest record that is still being written. `limit` bounds the records taken from
    /// each ring, so that a flood cannot keep the reader from its other duties; returns whether it was reached.
    pub fn drain(&mut self, limit: usize, mut take: impl FnMut(&[u8])) -> bool {
        let mut limited = false;
        for ring in &mut self.buffers {
            let mut taken = 0;
            while taken < limit
                && let Some(record) = ring.next()
            {
                take(&record);
                taken += 1;
            }
            limited |= taken == limit;
        }
        // Edges that were reported meanwhile are answered by this drain.
        let mut events = [const { std::mem::MaybeUninit::uninit() }; 16];
        let _: Result<_, _> = epoll::wait(&self.epoll, &mut events, Some(&rustix::event::Timespec::default()));
        limited
    }
}

fn online_error(source: std::io::Error) -> Error {
    Error::System { call: "reading the CPUs in use", source }
}

fn system(call: &'static str) -> impl Fn(rustix::io::Errno) -> Error {
    move |error| Error::System { call, source: error.into() }
}
