//! Which sockets are the process's own, by inode.

use std::collections::{HashMap, HashSet};

use super::open;

/// Most sockets of which it is kept whether they are the process's.
const MAX_KEPT: usize = 4096;

/// What is known of one process's sockets.
#[derive(Debug)]
pub(super) struct Own {
    pid: u32,
    known: HashMap<u64, bool>,
}

impl Own {
    /// Nothing is known yet.
    pub(super) fn new(pid: u32) -> Self {
        Self { pid, known: HashMap::new() }
    }

    /// Whether a socket is one of the process.
    pub(super) fn has(&mut self, inode: u64) -> bool {
        self.learn([inode]);
        self.known.get(&inode).copied().unwrap_or(false)
    }

    /// Looks for sockets that are not known among those of the process, once for all of them: there may be many that are others'.
    pub(super) fn learn(&mut self, inodes: impl IntoIterator<Item = u64>) {
        let unknown = inodes.into_iter().filter(|inode| !self.known.contains_key(inode));
        let unknown: HashSet<u64> = unknown.take(MAX_KEPT).collect();
        if unknown.is_empty() {
            return;
        }
        if self.known.len() + unknown.len() > MAX_KEPT {
            self.known.clear();
        }
        let own: HashSet<u64> = open::sockets(self.pid).filter(|own| unknown.contains(own)).collect();
        self.known.extend(unknown.into_iter().map(|inode| (inode, own.contains(&inode))));
    }
}
