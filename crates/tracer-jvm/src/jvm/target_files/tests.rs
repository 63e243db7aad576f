//! The two ends against each other, in a directory of the test's own. What the child may do is tried by the live ring.

use std::{
    fs,
    io::{Read as _, Write as _},
    os::unix::{
        fs::{PermissionsExt as _, symlink},
        net::{UnixListener, UnixStream},
    },
};

use super::*;

fn at(name: &str) -> At<'_> {
    At { directory: "/tmp", name }
}

#[test]
fn files_are_made_moved_read_and_removed() {
    let directory = tempfile::tempdir().unwrap();
    let files = TargetFiles::within(directory.path());
    assert_eq!(files.examine(at("a")).unwrap(), None);
    files.create(at("a"), 0o644, false, b"content").unwrap();
    let found = files.examine(at("a")).unwrap().unwrap();
    assert_eq!((found.kind, found.uid, found.links), (Kind::File, rustix::process::geteuid().as_raw(), 1));
    assert_eq!(fs::metadata(directory.path().join("a")).unwrap().permissions().mode() & 0o777, 0o644);
    files.rename(at("a"), "b").unwrap();
    assert_eq!(files.read(at("b"), 4).unwrap(), b"cont");
    files.remove(at("b")).unwrap();
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn what_is_there_is_not_written_to_and_links_and_devices_are_not_read() {
    let directory = tempfile::tempdir().unwrap();
    let files = TargetFiles::within(directory.path());
    fs::write(directory.path().join("victim"), "precious").unwrap();
    symlink("victim", directory.path().join("link")).unwrap();
    symlink("/dev/zero", directory.path().join("zero")).unwrap();
    for name in ["victim", "link"] {
        let error = files.create(at(name), 0o644, false, b"x").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists, "{name}");
    }
    assert!(files.read(at("link"), 10).is_err() && files.read(at("zero"), 10).is_err());
    assert!(files.read(At { directory: "/dev", name: "zero" }, 10).is_err());
    assert_eq!(fs::read(directory.path().join("victim")).unwrap(), b"precious");
}

#[test]
fn what_is_temporary_goes_when_the_connection_does() {
    let directory = tempfile::tempdir().unwrap();
    let files = TargetFiles::within(directory.path());
    files.create(at("asks"), 0o600, true, &[]).unwrap();
    files.create(at("stays"), 0o600, false, &[]).unwrap();
    drop(files);
    let names = || fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name());
    while names().count() > 1 {
        std::thread::yield_now();
    }
    assert!(names().eq(["stays"]));
}

#[test]
fn a_socket_comes_back_connected_and_can_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let files = TargetFiles::within(directory.path());
    assert!(files.connect(at("socket")).is_err());
    let listener = UnixListener::bind(directory.path().join("socket")).unwrap();
    let mut stream = files.connect(at("socket")).unwrap();
    io::Write::write_all(&mut listener.accept().unwrap().0, b"hello").unwrap();
    stream.set_nonblocking(false).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert_eq!(text, "hello");
}

#[test]
fn lengths_beyond_the_bounds_and_answers_that_never_come_are_errors() {
    let soon = || Instant::now() + Duration::from_millis(20);
    let (own, theirs) = UnixStream::pair().unwrap();
    let error = message::receive::<Answer>(&own, soon()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    io::Write::write_all(&mut &theirs, &[0xff; 8]).unwrap();
    let error = message::receive::<Answer>(&own, soon()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
}

/// Requests and answers as they are sent, and then damaged, with nothing behind them.
#[test]
fn fuzz_target_files_messages() {
    use super::message::{self, Answer, Place, Refusal, Request};
    let sent = |send: &dyn Fn(&UnixStream, Instant) -> io::Result<()>| {
        let (near, mut far) = UnixStream::pair().unwrap();
        send(&near, Instant::now() + Duration::from_mins(1)).unwrap();
        drop(near);
        let mut bytes = Vec::new();
        far.read_to_end(&mut bytes).unwrap();
        bytes
    };
    let at = || Place { directory: "/tmp".to_owned(), name: "x".to_owned() };
    let refused: Result<Answer, Refusal> = Err(Refusal::from(&io::Error::from_raw_os_error(13)));
    let samples = [
        sent(&|stream, by| message::send(stream, &Request::Read { at: at(), most: 7 }, b"content", None, by)),
        sent(&|stream, by| message::send(stream, &Ok::<_, Refusal>(Answer::Done), b"content", None, by)),
        sent(&|stream, by| message::send(stream, &refused, b"", None, by)),
    ];
    // A length is not believed before its bytes have come.
    crate::fuzz::each("target_files_messages", 1 << 20, |dice| {
        let bytes = crate::fuzz::damaged(dice, &samples);
        let by = Instant::now() + Duration::from_mins(1);
        let (mut near, far) = UnixStream::pair().unwrap();
        near.write_all(&bytes).unwrap();
        drop(near);
        while message::receive::<Request>(&far, by).is_ok() {}
        let (mut near, far) = UnixStream::pair().unwrap();
        near.write_all(&bytes).unwrap();
        drop(near);
        while message::receive::<Result<Answer, Refusal>>(&far, by).is_ok() {}
    });
}
