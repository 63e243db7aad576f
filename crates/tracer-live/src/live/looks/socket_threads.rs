//! The threads that take what comes to a socket, as looks see them: they wait there at one moment, and do something else at another.

use std::collections::HashMap;

use crate::{
    event::StackId,
    item::look::{SocketThread, Waits},
    thread_dump::Thread,
};

/// Most sockets whose threads are kept.
const MAX_SOCKETS: usize = 256;

/// The threads that looks have seen waiting for something to come, by the socket.
#[derive(Debug, Default)]
pub(super) struct SocketThreads(HashMap<String, u32>);

impl SocketThreads {
    /// Takes a look.
    pub(super) fn look(&mut self, threads: &[Thread]) {
        for (socket, tid) in threads.iter().filter_map(|thread| Some((waits_at(thread)?, thread.tid))) {
            if self.0.len() < MAX_SOCKETS || self.0.contains_key(socket) {
                self.0.insert(socket.to_owned(), tid);
            }
        }
    }

    /// The one that was seen waiting at a socket, as long as it lives; else the only one that has it.
    pub(super) fn at(&self, socket: &str, held_by: &[u32], threads: &[Thread]) -> Option<u32> {
        let seen = self.0.get(socket).copied().filter(|tid| threads.iter().any(|thread| thread.tid == *tid));
        seen.or(if let [tid] = held_by { Some(*tid) } else { None })
    }
}

/// The socket at which a thread waits for connections or datagrams.
fn waits_at(thread: &Thread) -> Option<&str> {
    match &thread.waits {
        Some(Waits::SystemCall { on: Some(on), .. }) if on.ends_with(", listening") || on.starts_with("UDP ") => {
            Some(on)
        }
        _ => None,
    }
}

/// What such a thread does now.
pub(super) fn told(
    tid: Option<u32>,
    socket: &str,
    threads: &[Thread],
    stack: &mut dyn FnMut(&Thread) -> StackId,
) -> Option<SocketThread> {
    let thread = threads.iter().find(|thread| Some(thread.tid) == tid)?;
    Some(SocketThread {
        name: thread.name.clone(),
        idle: waits_at(thread) == Some(socket),
        stack: (!thread.frames.is_empty()).then(|| stack(thread)),
        waits: thread.waits.clone(),
    })
}
