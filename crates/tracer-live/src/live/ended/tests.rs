//! Sums of what threads that ended have counted: no call is lost, whatever the order.

use super::*;

#[test]
fn a_thread_is_complete_once_it_had_ended_before_its_entries_were_read() {
    let mut threads = EndedThreads::default();
    let mut ask = |alive: &[u32], met: &[u32], is_last| {
        let complete =
            threads.complete_beside(&alive.iter().copied().collect(), met.iter().copied().collect(), is_last);
        let mut complete: Vec<_> = complete.into_iter().collect();
        complete.sort_unstable();
        complete
    };
    assert!(ask(&[1], &[1, 2, 3], false).is_empty());
    assert_eq!(ask(&[1, 3], &[1, 2, 3, 4], false), [2], "3 is another thread by now, 4 has ended just now");
    assert_eq!(ask(&[1], &[1, 3, 4], false), [4]);
    assert_eq!(ask(&[1], &[1, 3, 5], true), [3, 5]);
}
