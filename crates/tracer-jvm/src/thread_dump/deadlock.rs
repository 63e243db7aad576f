//! Threads that wait for each other in a circle, over monitors and locks of `java.util.concurrent` alike.

use std::collections::{HashMap, HashSet};

use super::Thread;
use crate::item::look::Waits;

/// Circles, each from the thread with the lowest id on. Every thread waits for one other at most, so each is in one circle at most.
pub fn deadlocks(threads: &[Thread]) -> Vec<Vec<u32>> {
    let owner_of: HashMap<u32, u32> =
        threads.iter().filter_map(|thread| Some((thread.tid, thread.waits.as_ref().and_then(Waits::owner)?))).collect();
    let mut done = HashSet::new();
    let mut circles = Vec::new();
    let mut starts: Vec<u32> = owner_of.keys().copied().collect();
    starts.sort_unstable();
    for start in starts {
        let mut path = Vec::new();
        let mut at = Some(start);
        while let Some(tid) = at.filter(|tid| done.insert(*tid)) {
            path.push(tid);
            at = owner_of.get(&tid).copied();
        }
        // A circle that was found before ends the way without being on it.
        if let Some(begin) = at.and_then(|tid| path.iter().position(|known| *known == tid)) {
            let mut circle = path.split_off(begin);
            let lowest = (0..circle.len()).min_by_key(|index| circle[*index]).unwrap_or(0);
            circle.rotate_left(lowest);
            circles.push(circle);
        }
    }
    circles
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(tid: u32, owner: u32) -> Thread {
        let waits = Some(Waits::Monitor { class: None, address: 1, owner: Some(owner) });
        Thread { tid, waits, ..Thread::default() }
    }

    #[test]
    fn circles_are_found_once_and_ways_into_them_are_none() {
        let threads = [waiting(9, 4), waiting(5, 4), waiting(4, 7), waiting(7, 5), waiting(1, 2), Thread::default()];
        assert_eq!(deadlocks(&threads), [vec![4, 7, 5]]);
    }

    #[test]
    fn a_thread_that_waits_for_one_that_runs_is_in_none() {
        assert!(deadlocks(&[waiting(1, 2), waiting(2, 3), Thread { tid: 3, ..Thread::default() }]).is_empty());
    }

    #[test]
    fn parked_and_blocked_threads_can_be_in_one_circle() {
        let mut parked = waiting(2, 1);
        parked.waits = Some(Waits::Unpark { class: "L".to_owned(), address: 2, owner: Some(1), ended: None });
        assert_eq!(deadlocks(&[waiting(1, 2), parked]), [vec![1, 2]]);
    }
}
