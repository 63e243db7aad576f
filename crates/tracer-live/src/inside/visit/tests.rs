//! Whoever has taken the library's place: what he says without end, and what he does not say.

use std::{
    io::{Read as _, Write as _},
    os::unix::net::UnixStream,
    thread::{self, JoinHandle},
};

use rustix::{
    net::{SocketFlags, socket_with},
    process::getpid,
};
use tracer_weave::control;

use super::{error::MAX_TEXT_BYTES, *};

fn visit() -> (Visit, UnixStream) {
    let (ours, theirs) = UnixStream::pair().expect("sockets");
    let connection = Connection::new(ours.into()).expect("a stream of this machine");
    let own = Identity::of(getpid().as_raw_nonzero().get().cast_unsigned()).expect("alive");
    (Visit::over(connection, own, PathBuf::new()), theirs)
}

/// Says the same without end, until nobody listens; gives how often.
fn repeat(to: UnixStream, told: &Told) -> JoinHandle<u64> {
    repeat_at_most(u64::MAX, to, told)
}

/// Says the same so often at most, and hangs up then.
fn repeat_at_most(most: u64, mut to: UnixStream, told: &Told) -> JoinHandle<u64> {
    let mut text = Vec::new();
    control::write(&mut text, told).expect("memory");
    let many = text.repeat(1000);
    thread::spawn(move || {
        let mut times = 0;
        while times < most && to.write_all(&many).is_ok() {
            times += 1000;
        }
        times
    })
}

fn soon() -> Until {
    Until::within(Duration::from_millis(20), Patience::First)
}

#[test]
fn what_is_told_without_end_instead_of_an_answer_is_bounded_and_ends_the_conversation() {
    let (mut visit, theirs) = visit();
    // Twice what is kept, and not without end: where there is no bound this fails, and does not fill the machine.
    let most = 2 * MAX_KEPT_BYTES.div_ceil(size_of::<Inside>());
    let talker = repeat_at_most(most as u64, theirs, &Told::Class { number: 1, name: String::new() });
    let error = visit.ask(&Order::Classes).expect_err("no answer came");
    assert!(error.to_string().contains("more than jtrace keeps"), "{error}");
    assert!(visit.told.len() * size_of::<Inside>() <= MAX_KEPT_BYTES, "{}", visit.told.len());
    assert!(talker.join().expect("no panic") > 0, "it noticed that nobody listens");
}

#[test]
fn a_look_takes_only_so_much_of_what_is_told_without_end() {
    let (mut visit, theirs) = visit();
    // Ten times what a look may take: then nothing more comes.
    let talker = repeat_at_most(400_000, theirs, &Told::Lacks("x".repeat(100)));
    let mut count = 0;
    while count == 0 {
        visit.pump(&mut |_| count += 1);
    }
    assert!(count <= (4 << 20) / 100, "{count}");
    drop(visit);
    talker.join().expect("no panic");
}

#[test]
fn a_length_that_no_message_has_ends_the_conversation_before_any_room_is_made() {
    let (mut visit, mut theirs) = visit();
    theirs.write_all(&u32::MAX.to_le_bytes()).expect("written");
    let error = visit.next(soon()).expect_err("there is no such message");
    assert!(error.to_string().contains("announces"), "{error}");
    assert_eq!(theirs.read(&mut [0]).expect("closed, and no error"), 0);
    // Whoever asks later is told why.
    let error = visit.leave().expect_err("it is closed");
    assert!(error.to_string().contains("announces"), "{error}");
}

/// Neither nothing, nor a message that never ends, nor messages that never answer is waited for without an end.
#[test]
fn every_wait_has_an_end() {
    let (mut silent, _theirs) = visit();
    assert!(silent.next(soon()).expect_err("nothing came").to_string().contains("too long"));
    let (mut slow, mut theirs) = visit();
    theirs.write_all(&1000_u32.to_le_bytes()).and_then(|()| theirs.write_all(b"{")).expect("written");
    assert!(slow.next(soon()).expect_err("the rest never came").to_string().contains("too long"));
    let (mut busy, theirs) = visit();
    let talker = repeat(theirs, &Told::Ready { version: VERSION });
    let until = soon();
    let error = loop {
        match busy.next(until) {
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    assert!(error.to_string().contains("too long"), "{error}");
    talker.join().expect("no panic");
}

#[test]
fn orders_that_nobody_takes_wait_for_nobody_and_are_bounded() {
    let (mut visit, _theirs) = visit();
    let order = Order::Switch(vec![(1, 1); 100_000]);
    // Each takes more than half a megabyte, and 65 MiB wait at most.
    let given = (0..200).take_while(|_| visit.order(&order).is_ok()).count();
    assert!((1..200).contains(&given), "{given}");
    assert!(visit.connection.is_err(), "it is closed");
}

#[test]
fn what_is_no_stream_of_this_machine_is_not_read_from() {
    let (pipe, _other) = rustix::pipe::pipe().expect("a pipe");
    assert!(Connection::new(pipe).is_err());
    let file = std::fs::File::open("/dev/zero").expect("a device");
    assert!(Connection::new(file.into()).is_err());
    let (family, kind) = (rustix::net::AddressFamily::UNIX, rustix::net::SocketType::DGRAM);
    let datagrams = socket_with(family, kind, SocketFlags::CLOEXEC, None).expect("a socket");
    assert!(Connection::new(datagrams).is_err());
}

#[test]
fn texts_of_the_library_are_shown_shortened() {
    let (mut visit, theirs) = visit();
    let talker = repeat(theirs, &Told::Refused("\u{e9}".repeat(10_000)));
    let error = visit.ask(&Order::Classes).expect_err("it refuses");
    assert!(matches!(&error, Error::Refused(text) if text.len() == MAX_TEXT_BYTES), "{error}");
    drop(visit);
    talker.join().expect("no panic");
}

/// A list that is longer than any library makes it.
#[test]
fn lists_are_cut() {
    let skipped = Skipped { class: String::new(), method: None, reason: String::new() };
    let done = Done { skipped: vec![skipped; 2 * MAX_SKIPPED], ..Done::default() };
    assert_eq!(woven(done, &Namer::default()).skipped.len(), MAX_SKIPPED);
}
