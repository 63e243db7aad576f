//! Lines on standard error that jtrace never waits for: whoever reads it, or does not, holds up neither the loop of a session nor
//! its undo. What finds no room is left out and counted, and the number is said as soon as there is room.
//!
//! Not for a command's last words (`cli::failure`): these are said when everything is undone.

use std::{
    fmt,
    fs::File,
    io,
    os::fd::AsFd as _,
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{FileType, Mode, OFlags, fstat, open},
    io::Errno,
};

/// Longest line; a pipe takes as much at once, or nothing.
const MAX_BYTES: usize = 4096;

/// Lines that found no room and of which that has not been said.
static LEFT_OUT: AtomicU64 = AtomicU64::new(0);
/// Held while a line is written: two threads that find the same room would wait for each other's reader.
static WRITES: Mutex<()> = Mutex::new(());
/// Standard error, opened once more so that it does not wait. The descriptor itself is shared with who started jtrace.
static OWN: OnceLock<Option<File>> = OnceLock::new();

/// Writes a line, or leaves it out. It takes no memory.
pub fn line(text: fmt::Arguments<'_>) {
    // Formatted before the lock is taken: a panic in between must be able to say its own line.
    let mut line = Line::of(text);
    let _writes = WRITES.lock().unwrap_or_else(PoisonError::into_inner);
    let own = OWN.get_or_init(opened_once_more).as_ref();
    if say_left_out(own) && is_written(own, line.bytes()) {
        return;
    }
    LEFT_OUT.fetch_add(1, Ordering::Relaxed);
}

/// Says how many lines were left out, where that is possible by now.
pub fn end() {
    let _writes = WRITES.lock().unwrap_or_else(PoisonError::into_inner);
    say_left_out(OWN.get().and_then(Option::as_ref));
}

/// Writes bytes where there is room for them, without a lock: for who may hold it.
pub fn bytes(bytes: &[u8]) {
    is_written(OWN.get().and_then(Option::as_ref), bytes);
}

/// Whether nothing that was left out is still to be said.
fn say_left_out(own: Option<&File>) -> bool {
    let count = LEFT_OUT.load(Ordering::Relaxed);
    if count == 0 {
        return true;
    }
    let is_said = is_written(
        own,
        Line::of(format_args!("{count} lines were left out here: standard error took nothing more")).bytes(),
    );
    if is_said {
        LEFT_OUT.fetch_sub(count, Ordering::Relaxed);
    }
    is_said
}

/// Whether the bytes found room. A reader that has gone would have had some.
fn is_written(own: Option<&File>, bytes: &[u8]) -> bool {
    let written = match own {
        Some(own) => rustix::io::write(own, bytes),
        None if can_take() => rustix::io::write(io::stderr().as_fd(), bytes),
        None => Err(Errno::AGAIN),
    };
    written != Err(Errno::AGAIN)
}

/// Pipes and terminals can be opened by the name that `/proc` has for them. A file would be written from its beginning, and takes
/// everything at once anyway.
fn opened_once_more() -> Option<File> {
    let kind = FileType::from_raw_mode(fstat(io::stderr()).ok()?.st_mode);
    let waits = kind.is_fifo() || kind.is_char_device();
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    waits.then(|| open("/proc/self/fd/2", flags, Mode::empty()).ok()).flatten().map(File::from)
}

/// Whether standard error takes something at once.
fn can_take() -> bool {
    let stderr = io::stderr();
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut [PollFd::new(&stderr, PollFlags::OUT)], Some(&now)).is_ok_and(|ready| ready > 0)
}

/// A line with its end, cut where it is too long.
struct Line {
    bytes: [u8; MAX_BYTES],
    length: usize,
}

impl Line {
    fn of(text: fmt::Arguments<'_>) -> Self {
        let mut line = Self { bytes: [0; MAX_BYTES], length: 0 };
        // It fails where the line is full, and what is there is then the line.
        let _: fmt::Result = fmt::Write::write_fmt(&mut line, text);
        line
    }

    fn bytes(&mut self) -> &[u8] {
        self.bytes[self.length] = b'\n';
        &self.bytes[..=self.length]
    }
}

impl fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = MAX_BYTES - 1 - self.length;
        let taken = text.floor_char_boundary(room.min(text.len()));
        self.bytes[self.length..self.length + taken].copy_from_slice(&text.as_bytes()[..taken]);
        self.length += taken;
        if taken == text.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_between_characters_and_ends() {
        let text = "ä".repeat(MAX_BYTES);
        let mut line = Line::of(format_args!("x{text}"));
        let bytes = line.bytes();
        assert!(bytes.len() <= MAX_BYTES && bytes.ends_with("ä\n".as_bytes()));
        assert_eq!(Line::of(format_args!("{} of {}", 1, 2)).bytes(), b"1 of 2\n");
    }

    #[test]
    fn what_finds_no_room_is_not_waited_for() {
        let (reader, writer) = io::pipe().unwrap();
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&writer));
        let own = File::from(open(path, OFlags::WRONLY | OFlags::NONBLOCK, Mode::empty()).unwrap());
        while is_written(Some(&own), &[b'.'; MAX_BYTES]) {}
        assert!(!is_written(Some(&own), b"no room\n"));
        drop((reader, writer));
        assert!(is_written(Some(&own), b"nobody reads\n"));
    }
}
