//! Reads records from the ring buffers, one per CPU.

use std::os::fd::{AsFd as _, OwnedFd};

use aya::maps::{ArrayOfMaps, Map, MapData, RingBuf};
use rustix::event::epoll;

use super::Error;

/// The ring buffers of all CPUs behind one descriptor.
pub struct Rings {
    buffers: Vec<RingBuf<MapData>>,
    epoll: OwnedFd,
    /// Holds the kernel's references to the ring buffers.
    _outer: ArrayOfMaps<MapData, MapData>,
}

impl Rings {
    pub(super) fn new(maps: Vec<Map>, outer: ArrayOfMaps<MapData, MapData>) -> Result<Self, Error> {
        let system = |call| move |error: rustix::io::Errno| Error::System { call, source: error.into() };
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(system("epoll_create"))?;
        let mut buffers = Vec::with_capacity(maps.len());
        for map in maps {
            let ring = RingBuf::try_from(map)
                .map_err(|error| Error::Map { name: "RING".to_owned(), reason: error.to_string() })?;
            let data = epoll::EventData::new_u64(0);
            epoll::add(&epoll, ring.as_fd(), data, epoll::EventFlags::IN | epoll::EventFlags::ET)
                .map_err(system("epoll_ctl"))?;
            buffers.push(ring);
        }
        Ok(Self { buffers, epoll, _outer: outer })
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
