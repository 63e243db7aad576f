//! Which sockets are the process's own, by inode.

use std::collections::HashMap;

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
        if let Some(known) = self.known.get(&inode) {
            return *known;
        }
        if self.known.len() >= MAX_KEPT {
            self.known.clear();
        }
        let has = open::sockets(self.pid).any(|own| own == inode);
        self.known.insert(inode, has);
        has
    }
}
