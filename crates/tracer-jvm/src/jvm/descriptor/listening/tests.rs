//! Connections that wait are counted where nobody accepts them, of this process alone, and in other namespaces.

use std::{
    fs,
    net::{TcpListener, TcpStream},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::{
    super::diagnosis::{BY_FAMILY, DONE, FAILED, HEADER, read},
    *,
};
use crate::fuzz;

/// Of those of this process, which may have others.
fn at(listening: &mut Listening, server: SocketAddr) -> Option<(u32, u32)> {
    let crowded = listening.crowded().expect("the kernel answers");
    let here = crowded.into_iter().find(|crowded| crowded.address == server)?;
    Some((here.waiting, here.most))
}

/// Who has connected need not be in the other side's queue at once.
#[track_caller]
fn comes_to(expected: Option<(u32, u32)>, listening: &mut Listening, server: SocketAddr) {
    let begun = Instant::now();
    while at(listening, server) != expected {
        assert!(begun.elapsed() < Duration::from_mins(1), "{:?}", at(listening, server));
        thread::yield_now();
    }
}

#[test]
fn connections_that_nobody_accepts_are_counted_until_somebody_does() {
    for own in ["127.0.0.1:0", "[::1]:0"] {
        let Ok(server) = TcpListener::bind(own) else {
            println!("skipped: this machine has no {own}");
            continue;
        };
        let address = server.local_addr().expect("an address");
        let mut listening = Listening::open(std::process::id()).expect("the kernel's diagnosis");
        assert_eq!(at(&mut listening, address), None);
        let clients = [(); 3].map(|()| TcpStream::connect(address).expect("it is heard"));
        // As the library asks for: the kernel's own bound may be lower.
        let most =
            fs::read_to_string("/proc/sys/net/core/somaxconn").expect("a bound").trim().parse().expect("a number");
        comes_to(Some((3, 128.min(most))), &mut listening, address);
        let accepted = [(); 3].map(|()| server.accept().expect("one waits"));
        comes_to(None, &mut listening, address);
        drop((clients, accepted));
    }
}

#[test]
fn what_waits_for_another_process_is_left_out() {
    let server = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = server.local_addr().expect("an address");
    let client = TcpStream::connect(address).expect("it is heard");
    let mut other = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().expect("it starts");
    let of_other = Listening::open(other.id()).map(|mut listening| at(&mut listening, address));
    other.kill().expect("it is there");
    other.wait().expect("it ends");
    assert_eq!(of_other.expect("the same namespace"), None, "the sockets of this process are not handed on");
    drop(client);
}

/// As in a container: the sockets of that namespace cannot be seen from here.
#[test]
fn the_sockets_of_another_network_namespace_are_seen_from_here() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root enters namespaces");
        return;
    }
    // The new namespace has an interface to itself, which is off.
    let script = "import fcntl, socket, struct, sys\n\
                  fcntl.ioctl(socket.socket(), 0x8914, struct.pack('16sh22x', b'lo', 1))\n\
                  server = socket.socket(); server.bind(('127.0.0.1', 8080)); server.listen(5)\n\
                  clients = [socket.create_connection(('127.0.0.1', 8080)) for _ in range(2)]\n\
                  print('waiting', flush=True); sys.stdin.read()";
    let mut python = Command::new("unshare");
    python.args(["--net", "python3", "-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut python = python.spawn().expect("it starts");
    let mut said = String::new();
    let output = python.stdout.take().expect("piped");
    io::BufRead::read_line(&mut io::BufReader::new(output), &mut said).expect("it says so");
    let listening = Listening::open(python.id());
    let address = SocketAddr::from(([127, 0, 0, 1], 8080));
    let seen = listening.map(|mut listening| comes_to(Some((2, 5)), &mut listening, address));
    let own = fs::read_link("/proc/self/ns/net").expect("a namespace");
    drop(python.stdin.take());
    python.wait().expect("it ends");
    assert_eq!(said, "waiting\n");
    seen.expect("it is entered");
    assert_eq!(fs::read_link("/proc/thread-self/ns/net").expect("a namespace"), own, "this thread stays where it was");
}

#[test]
fn a_process_that_has_ended_listens_nowhere() {
    assert!(Listening::open(u32::MAX).is_err());
}

fn message(kind: u16, number: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = u32::try_from(HEADER + body.len()).expect("short").to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend([0; 2]);
    bytes.extend(number.to_ne_bytes());
    bytes.extend([0; 4]);
    bytes.extend(body);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

#[test]
fn what_the_kernel_refuses_is_an_error_and_an_earlier_answer_is_none() {
    let refused = message(FAILED, 7, &(-2_i32).to_ne_bytes());
    let told = |answer: &[u8]| read(answer, 7, |_| ()).map_err(|error| error.raw_os_error());
    assert_eq!(told(&refused), Err(Some(2)));
    assert_eq!(told(&message(FAILED, 6, &(-2_i32).to_ne_bytes())), Ok(false));
    assert_eq!(told(&message(DONE, 7, &[])), Ok(true));
    assert_eq!(told(&[message(BY_FAMILY, 7, &[0; 70]), message(DONE, 7, &[])].concat()), Ok(true));
    assert_eq!(told(&[1, 0, 0, 0, 9]), Ok(false), "a length shorter than its own place");
}

#[test]
fn fuzz_socket_diagnosis() {
    fuzz::samples("socket_diagnosis", |answer| {
        let mut sockets = 0;
        let told = read(answer, 0, |socket| sockets += usize::from(listener(socket).is_some()));
        assert!(told.is_err() || sockets * ANSWERED <= answer.len());
    });
}
