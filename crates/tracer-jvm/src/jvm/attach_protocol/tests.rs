//! The protocol against a stand-in of a JVM, and what is refused.

use std::{
    fs,
    io::{Read as _, Write as _},
    os::unix::{fs::symlink, net::UnixListener},
    thread,
};

use super::*;

fn own() -> Identity {
    Identity::of(std::process::id()).unwrap()
}

/// A directory in the place of a target's `/tmp`, whose JVM is said to be this very process.
fn attachment(directory: &Path) -> Attachment {
    Attachment { target: own(), place: place(directory, rustix::process::geteuid().as_raw()) }
}

fn place(directory: &Path, uid: u32) -> Place {
    Place::at(TargetFiles::within(directory), own().pid, 42, uid)
}

/// Answers one client, and gives what it had sent.
fn answer(listener: UnixListener, reply: Vec<u8>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = vec![0; 4096];
        let len = stream.read(&mut request).unwrap();
        request.truncate(len);
        // The client may have had enough of it.
        let _ = stream.write_all(&reply);
        request
    })
}

fn ask(reply: &[u8], command: &str) -> (Result<String, Error>, Vec<u8>) {
    let directory = tempfile::tempdir().unwrap();
    let server = answer(UnixListener::bind(directory.path().join(".java_pid42")).unwrap(), reply.to_vec());
    let answered = attachment(directory.path()).command(command, Duration::from_mins(10));
    (answered, server.join().unwrap())
}

#[test]
fn a_command_is_sent_with_three_arguments_and_its_text_comes_back() {
    let (answered, request) = ask(b"0\nfirst\nsecond\n", "JFR.check");
    assert_eq!(answered.unwrap(), "first\nsecond\n");
    assert_eq!(request, b"1\0jcmd\0JFR.check\0\0\0");
}

#[test]
fn what_the_jvm_refuses_is_said_with_its_first_line() {
    let (answered, _) = ask(b"1\njava.lang.IllegalArgumentException\nat x", "JFR.start");
    assert!(
        matches!(answered, Err(Error::Refused { code: 1, text, .. }) if text == "java.lang.IllegalArgumentException")
    );
}

#[test]
fn replies_without_a_code_empty_ones_and_endless_ones_are_errors() {
    for reply in [&b""[..], b"hello", b"x\ny"] {
        assert!(matches!(ask(reply, "x").0, Err(Error::Reply { .. })), "{reply:?}");
    }
    let endless = vec![b'0'; usize::try_from(MAX_REPLY_BYTES).unwrap() + 8192];
    assert!(matches!(ask(&endless, "x").0, Err(Error::Reply { problem, .. }) if problem.contains("too long")));
}

#[test]
fn a_silent_jvm_is_not_waited_for_longer_than_allowed() {
    let directory = tempfile::tempdir().unwrap();
    let _listener = UnixListener::bind(directory.path().join(".java_pid42")).unwrap();
    let answered = attachment(directory.path()).command("x", Duration::from_millis(50));
    assert!(matches!(answered, Err(Error::Reply { problem, .. }) if problem.contains("too late")));
}

/// What handles SIGQUIT and makes no socket. The file that asks is gone again.
#[test]
fn a_jvm_that_never_listens_is_not_waited_for_longer_than_allowed() {
    let directory = tempfile::tempdir().unwrap();
    // A shell cannot trap what whoever started these tests ignores, as shells do for what runs behind them.
    let mut command = std::process::Command::new("env");
    command.args(["--default-signal=QUIT", "sh", "-c", "trap : QUIT; echo x; while ! read line; do :; done"]);
    let mut jvm = command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    jvm.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    let asked = Attachment { target: Identity::of(jvm.id()).unwrap(), ..attachment(directory.path()) };
    let patience = Duration::from_millis(50);
    let answered = asked.ask(patience);
    assert!(matches!(answered, Err(Error::Silent { waited, .. }) if waited >= patience), "{answered:?}");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    assert!(jvm.try_wait().unwrap().is_none(), "SIGQUIT has ended it");
    jvm.kill().unwrap();
    jvm.wait().unwrap();
}

/// A reply that always goes on, a byte at a time, has the same limit as none.
#[test]
fn a_reply_byte_by_byte_is_not_waited_for_longer_than_allowed() {
    let directory = tempfile::tempdir().unwrap();
    let listener = UnixListener::bind(directory.path().join(".java_pid42")).unwrap();
    let drip = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        // Ends when the client hangs up, and the test with it.
        while stream.write_all(b"0").is_ok() {
            thread::sleep(Duration::from_millis(1));
        }
    });
    let answered = attachment(directory.path()).command("x", Duration::from_millis(50));
    assert!(matches!(answered, Err(Error::Reply { problem, .. }) if problem.contains("too late")));
    drip.join().unwrap();
}

#[test]
fn commands_that_would_be_cut_or_become_two_are_not_sent() {
    let directory = tempfile::tempdir().unwrap();
    let attachment = attachment(directory.path());
    for command in ["x".repeat(MAX_COMMAND_BYTES + 1), "a\0b".to_owned()] {
        assert!(matches!(attachment.command(&command, POLL), Err(Error::Command { .. })));
    }
}

#[test]
fn links_files_and_sockets_of_others_are_impostors() {
    let directory = tempfile::tempdir().unwrap();
    let name = directory.path().join(".java_pid42");
    let attachment = attachment(directory.path());
    assert_eq!(attachment.place.socket().unwrap(), Found::Nothing);
    fs::write(&name, "").unwrap();
    assert!(matches!(attachment.place.socket(), Err(Error::Impostor { .. })));
    fs::remove_file(&name).unwrap();
    let elsewhere = directory.path().join("elsewhere");
    let _listener = UnixListener::bind(&elsewhere).unwrap();
    symlink(&elsewhere, &name).unwrap();
    assert!(matches!(attachment.place.socket(), Err(Error::Impostor { problem, .. }) if problem == "is no socket"));
    fs::remove_file(&name).unwrap();
    fs::rename(&elsewhere, &name).unwrap();
    assert_eq!(attachment.place.socket().unwrap(), Found::Socket);
    let foreign = place(directory.path(), 12345);
    assert!(matches!(foreign.socket(), Err(Error::Impostor { problem, .. }) if problem.contains("user 12345")));
}

#[test]
fn a_socket_that_another_process_listens_to_is_not_spoken_to() {
    let directory = tempfile::tempdir().unwrap();
    let _listener = UnixListener::bind(directory.path().join(".java_pid42")).unwrap();
    let init = Identity::of(1).unwrap();
    let attachment = Attachment { target: init, ..attachment(directory.path()) };
    assert!(
        matches!(attachment.command("x", POLL), Err(Error::Impostor { problem, .. }) if problem.contains("listened to"))
    );
}

#[test]
fn the_file_that_asks_goes_with_its_value_and_a_link_in_its_place_stays() {
    let directory = tempfile::tempdir().unwrap();
    let attachment = attachment(directory.path());
    let name = directory.path().join(".attach_pid42");
    let request = attachment.place.request().unwrap();
    assert!(name.is_file());
    drop(request);
    assert!(!name.exists());
    let victim = directory.path().join("victim");
    fs::write(&victim, "untouched").unwrap();
    symlink(&victim, &name).unwrap();
    assert!(matches!(attachment.place.request(), Err(Error::Impostor { .. })));
    assert!(name.is_symlink());
    assert_eq!(fs::read_to_string(&victim).unwrap(), "untouched");
}

proptest::proptest! {
    #[test]
    fn any_reply_is_a_text_or_an_error(reply in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..64)) {
        if let Ok(text) = parse(1, &reply) {
            proptest::prop_assert!(reply.starts_with(b"0") || reply.trim_ascii_start().starts_with(b"0")
                || reply.trim_ascii_start().starts_with(b"+0") || reply.trim_ascii_start().starts_with(b"-0"));
            proptest::prop_assert!(text.len() <= 3 * reply.len());
        }
    }
}

#[test]
fn fuzz_attach_reply() {
    crate::fuzz::samples("attach", |reply| {
        let text = match parse(7, reply) {
            Ok(text) => text,
            Err(error) => error.to_string(),
        };
        assert!(text.len() < 3 * reply.len() + 200);
    });
}
