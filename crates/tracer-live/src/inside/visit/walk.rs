//! The part of the conversation that is about the heap: a second connection, and a walk.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use tracer_weave::control::{Order, Told, Walk};

use super::{Error, Visit, shortened, silent, unexpected};
use crate::{inside::connection::Connection, jvm::forked};

/// What the library says of a walk.
#[derive(Debug)]
pub enum Heard {
    /// The JVM goes on.
    Walks(Walk),
    /// Nothing of the walk is left in the JVM.
    Walked {
        /// Status of the copy, as `wait` gives it.
        status: i32,
    },
}

impl Visit {
    /// Our end of a second connection: a stream of two local ends, and nothing else.
    pub fn channel(&mut self) -> Result<OwnedFd, Error> {
        let descriptor = match self.ask(&Order::Channel)? {
            Told::Channel(descriptor) => descriptor,
            other => return Err(unexpected(&other)),
        };
        forked::socket_of(self.target.pid, descriptor).map_err(silent)
    }

    /// Gives an order of a walk, and waits for nothing.
    pub fn give(&mut self, order: &Order) -> Result<(), Error> {
        self.with(|connection| connection.give(order))
    }

    /// Where something can be heard, while the connection is there.
    pub fn ear(&self) -> Option<BorrowedFd<'_>> {
        self.connection.as_ref().ok().map(|connection| connection.socket.as_fd())
    }

    /// What has been said of a walk.
    pub fn hear(&mut self) -> Result<Option<Heard>, Error> {
        self.with(Connection::push)?;
        loop {
            match self.with(Connection::take)? {
                None => return Ok(None),
                Some((Told::Walks(walk), _)) => return Ok(Some(Heard::Walks(walk))),
                Some((Told::Walked { status }, _)) => return Ok(Some(Heard::Walked { status })),
                Some((Told::Refused(reason), _)) => return Err(Error::Refused(shortened(reason))),
                Some((other, _)) => self.keep(other)?,
            }
        }
    }
}
