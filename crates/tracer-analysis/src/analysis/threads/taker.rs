//! The thread that takes what comes to a socket, from looks: what it does when it does something else.

use super::{super::site, reason::doing};
use crate::{item::look::SocketThread, report::Cell, stack::Stacks};

/// What is known of it.
#[derive(Debug, Default)]
pub(super) struct Taker {
    name: Option<String>,
    /// What it did and waited for, when it was last seen to do something else.
    place: Option<(String, Option<String>)>,
    callers: Option<String>,
}

impl Taker {
    /// Takes a look; where the thread is not known it says nothing.
    pub(super) fn look(&mut self, thread: Option<&SocketThread>, stacks: &Stacks) {
        let Some(thread) = thread else { return };
        self.name = Some(thread.name.clone());
        if let Some(stack) = thread.stack.filter(|_| !thread.idle) {
            self.place = Some(doing(stacks, stack, thread.waits.as_ref()));
            self.callers = site::callers(stacks, stack);
        }
    }

    /// Its name, its place, what it waits for, and how it came there.
    pub(super) fn cells(&self) -> [Cell; 4] {
        let (place, what) = self.place.clone().unzip();
        let texts = [self.name.clone(), place, what.flatten(), self.callers.clone()];
        texts.map(|text| text.map_or(Cell::Missing, Into::into))
    }
}
