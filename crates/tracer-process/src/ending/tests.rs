//! Waits end by what they wait for, or by their limit. That signals end them is tested with the whole program
//! (`tests/live/ending.rs`): a test of a library has its process in common with all others.

use std::{io::Write as _, os::unix::net::UnixStream};

use super::*;

#[test]
fn a_wait_ends_by_its_limit_and_by_what_it_waits_for() {
    let (one, mut other) = UnixStream::pair().expect("sockets");
    let soon = Until::within(Duration::from_millis(1), Patience::First);
    assert_eq!(wait(one.as_fd(), PollFlags::IN, soon), Err(Cut::Late));
    other.write_all(b"!").expect("written");
    let late = Until::within(Duration::from_mins(10), Patience::Second);
    assert_eq!(wait(one.as_fd(), PollFlags::IN, late), Ok(()));
    drop(other);
    assert_eq!(wait(one.as_fd(), PollFlags::IN, late), Ok(()), "who is gone is not waited for");
}

#[test]
fn a_pause_is_no_longer_than_its_limit() {
    let soon = Until::within(Duration::from_millis(1), Patience::First);
    assert_eq!(pause(Duration::from_mins(10), soon), Err(Cut::Late));
    let late = Until::within(Duration::from_mins(10), Patience::First);
    assert_eq!(pause(Duration::from_millis(1), late), Ok(()));
}

/// All signals of the C library are accounted for.
#[test]
fn every_signal_whose_default_ends_a_process_is_heard_or_named_as_one_that_is_not() {
    let spared = [
        // They cannot be caught.
        libc::SIGKILL,
        libc::SIGSTOP,
        // Faults of a program.
        libc::SIGSEGV,
        libc::SIGBUS,
        libc::SIGILL,
        libc::SIGFPE,
        libc::SIGSYS,
        // A write fails instead.
        libc::SIGPIPE,
        // They end nothing.
        libc::SIGCHLD,
        libc::SIGCONT,
        libc::SIGURG,
        libc::SIGWINCH,
        libc::SIGTSTP,
        libc::SIGTTIN,
        libc::SIGTTOU,
    ];
    for number in 1..=31 {
        assert!(SIGNALS.contains(&number) != spared.contains(&number), "signal {number}");
    }
}
