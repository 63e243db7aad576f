//! Waits end by what they wait for, or by their limit. That signals end them is tested with the whole program
//! (`tests/live/ending.rs`): a test of a library has its process in common with all others. What a process does that was told to end
//! is tried in one of its own, which is this program with one test.

use std::{
    cell::Cell,
    env,
    future::ready,
    io::{Write as _, stdout},
    os::unix::net::UnixStream,
    process::{Command, Stdio},
};

use rustix::process::{PidfdFlags, kill_process, pidfd_open};

use super::*;

/// Set in that process, to what it does.
const TOLD: &str = "TOLD_TO_END";

fn told(how: &str) -> Command {
    let mut command = Command::new(env::current_exe().expect("a program"));
    command.args(["--exact", "ending::tests::the_one_that_is_told", "--nocapture", "--test-threads=1"]);
    command.env(TOLD, how);
    command
}

#[test]
fn the_one_that_is_told() {
    match env::var(TOLD).unwrap_or_default().as_str() {
        "by two" => is_given_a_second_after(&[libc::SIGTERM, libc::SIGINT]),
        "by one" => {
            undone();
            is_given_a_second_after(&[libc::SIGTERM]);
        }
        "while it waits" => {
            is_told_twice_while_nobody_reads();
            loop {
                thread::park();
            }
        }
        "past its last line" => {
            is_told_twice_while_nobody_reads();
            #[expect(clippy::exit, reason = "as at the end of every program")]
            std::process::exit(0);
        }
        _ => {}
    }
}

/// By a clock that only the sleeps move.
fn is_given_a_second_after(numbers: &[i32]) {
    let (slept, mut numbers) = (Cell::new(Duration::ZERO), numbers.iter().copied());
    let sleep = |limit| {
        slept.set(slept.get() + limit);
        ready(())
    };
    let last = numbers.clone().next_back();
    let next = async || numbers.next().expect("no other signal is waited for");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    assert_eq!(Some(runtime.block_on(last_of(next, sleep))), last);
    assert!(slept.get() + SCREEN_LIMIT <= Duration::from_secs(1), "{:?} and the screen", slept.get());
}

/// Its standard output is a pipe that takes nothing more, and something is still to be written there.
fn is_told_twice_while_nobody_reads() {
    heed().expect("signals are heard");
    let own = rustix::process::getpid();
    let out = stdout();
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    while poll(&mut [PollFd::new(&out, PollFlags::OUT)], Some(&now)).expect("a poll") > 0 {
        // There is room for a page.
        let _: usize = rustix::io::write(&out, &[b'.'; 4096]).expect("room");
    }
    print!("without an end of a line");
    for so_many in 1..=2 {
        kill_process(own, rustix::process::Signal::INT).expect("told");
        while count() < so_many {
            thread::yield_now();
        }
    }
}

#[test]
fn a_second_after_the_last_signal_that_matters_nothing_is_waited_for() {
    for how in ["by two", "by one"] {
        let output = told(how).output().expect("it starts");
        assert!(output.status.success(), "{how}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"), "{how}");
    }
}

/// An end in order would write what is buffered, and wait for who does.
#[test]
fn it_ends_also_where_nobody_reads_what_it_has_buffered() {
    for how in ["while it waits", "past its last line"] {
        let mut child = told(how).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let pid = rustix::process::Pid::from_child(&child);
        let process = pidfd_open(pid, PidfdFlags::empty()).expect("it is there");
        let ended = wait(process.as_fd(), PollFlags::IN, Until::within(Duration::from_mins(1), Patience::First));
        child.kill().expect("it ends at the latest now");
        assert_eq!((ended, child.wait().expect("it has ended").code()), (Ok(()), Some(128 + libc::SIGINT)), "{how}");
    }
}

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
