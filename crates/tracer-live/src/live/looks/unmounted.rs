//! Virtual threads that no thread carries, in a look.

use super::{MAX_GROUPS, Seen};
use crate::{
    event::StackId,
    item::look::{Holding, LookGroup, Waits},
    thread_dump::{StackFrame, UnmountedOwner},
};

impl Seen {
    /// Virtual threads that are not mounted.
    pub(super) fn told_unmounted(
        &self,
        stack: &mut dyn FnMut(&[StackFrame], Option<&'static str>) -> StackId,
    ) -> Vec<LookGroup> {
        let owner = |owner: &UnmountedOwner| {
            let group = self.unmounted.iter().find(|group| group.java_ids.binary_search(&owner.java_id).is_ok());
            (format!("virtual thread #{} {}", owner.java_id, owner.name).trim_end().to_owned(), group)
        };
        let mounted = |waits: &Waits| {
            let thread = self.threads.iter().find(|thread| Some(thread.tid) == waits.owner())?;
            Some((thread.name.clone(), &thread.frames[..], thread.incomplete))
        };
        let whole = self.unmounted.iter().filter(|group| !group.frames.is_empty() && group.incomplete.is_none());
        let mut told = Vec::new();
        for group in whole.take(MAX_GROUPS) {
            let holder = match (&group.owner, group.waits.as_ref().and_then(mounted)) {
                (Some(known), _) => {
                    let (name, group) = owner(known);
                    Some(Holding {
                        name,
                        stack: group.map(|group| stack(&group.frames, group.incomplete)),
                        ended: false,
                    })
                }
                (None, Some((name, frames, incomplete))) => {
                    Some(Holding { name, stack: (!frames.is_empty()).then(|| stack(frames, incomplete)), ended: false })
                }
                (None, None) => None,
            };
            told.push(LookGroup {
                stack: stack(&group.frames, group.incomplete),
                threads: group.count(),
                ran: 0,
                seldom: 0,
                running: 0,
                held_back: 0,
                together: 0,
                is_virtual: true,
                names: group.names.clone(),
                waits: group.waits.clone(),
                holder,
            });
        }
        told
    }
}
