//! What the kernel knows of a connection: how long a round trip takes, and how much had to be sent again.

use std::{io, net::SocketAddr};

use super::{
    diagnosis::{Question, half, word},
    listening::{ANSWERED, Listening},
};

/// What is asked for beside the socket (`INET_DIAG_INFO`): as a bit, and as the kind of what comes.
const INFORMATION: u16 = 2;
const ASK_INFORMATION: u8 = 1 << (INFORMATION - 1);
/// Where numbers are in that (`struct tcp_info`), which has only grown at its end:
/// <https://github.com/torvalds/linux/blob/v6.12/include/uapi/linux/tcp.h#L229>.
const RETRANSMITS: usize = 2;
const RTT: usize = 68;
const ALL_RETRANSMITTED: usize = 100;

/// What is known of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Time of a round trip, smoothed.
    pub rtt_us: u32,
    /// Segments that were sent again, since it was made.
    pub resent: u32,
    /// How often the oldest segment that is not acknowledged was sent again: nobody answers.
    pub unanswered: u8,
}

impl Listening {
    /// The connection with these ends, its own one first; none where there is none any more.
    ///
    /// # Errors
    /// The kernel does not answer as it should. It is no use to ask again.
    pub fn connection(&mut self, ends: [SocketAddr; 2]) -> io::Result<Option<Connection>> {
        let mut found = None;
        self.kernel
            .ask(Question::One { ends, more: ASK_INFORMATION }, |socket| found = found.or(connection(socket)))?;
        Ok(found)
    }
}

/// What stands behind a socket: lengths, kinds and bodies, at multiples of four bytes (`struct rtattr`).
fn connection(socket: &[u8]) -> Option<Connection> {
    let mut rest = socket.get(ANSWERED..)?;
    loop {
        let length = usize::from(half(rest, 0)?);
        let body = rest.get(4..length)?;
        if half(rest, 2)? == INFORMATION {
            return Some(Connection {
                rtt_us: word(body, RTT)?,
                resent: word(body, ALL_RETRANSMITTED)?,
                unanswered: *body.get(RETRANSMITS)?,
            });
        }
        rest = rest.get(length.next_multiple_of(4)..)?;
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;
    use crate::fuzz;

    #[test]
    fn a_connection_within_this_machine_has_a_short_round_trip_and_loses_nothing() {
        for own in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(server) = TcpListener::bind(own) else {
                println!("skipped: this machine has no {own}");
                continue;
            };
            let client = TcpStream::connect(server.local_addr().expect("an address")).expect("it is heard");
            let ends = [client.local_addr().expect("an address"), client.peer_addr().expect("a peer")];
            let mut kernel = Listening::open(std::process::id()).expect("the kernel's diagnosis");
            let found = kernel.connection(ends).expect("an answer").expect("it is there");
            assert!(found.rtt_us > 0 && found.rtt_us < 10_000_000 && found.unanswered == 0, "{found:?}");
            let [own, peer] = ends;
            assert!(kernel.connection([peer, own]).expect("an answer").is_some(), "the other side");
            drop((client, server));
            let nowhere = [own, SocketAddr::new(peer.ip(), 1)];
            assert_eq!(kernel.connection(nowhere).expect("an answer"), None);
        }
    }

    fn attribute(kind: u16, body: &[u8]) -> Vec<u8> {
        let mut bytes = u16::try_from(4 + body.len()).expect("short").to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(body);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    #[test]
    fn what_is_known_stands_among_other_things() {
        let mut body = [0; 104];
        body[RETRANSMITS] = 3;
        body[RTT..RTT + 4].copy_from_slice(&1500_u32.to_ne_bytes());
        body[ALL_RETRANSMITTED..].copy_from_slice(&12_u32.to_ne_bytes());
        let socket = [vec![0; ANSWERED], attribute(8, &[1]), attribute(INFORMATION, &body)].concat();
        assert_eq!(connection(&socket), Some(Connection { rtt_us: 1500, resent: 12, unanswered: 3 }));
        assert_eq!(connection(&socket[..ANSWERED + 8]), None, "there is nothing more");
        let old = [vec![0; ANSWERED], attribute(INFORMATION, &body[..80])].concat();
        assert_eq!(connection(&old), None, "of an older kernel");
        assert_eq!(connection(&[vec![0; ANSWERED], attribute(8, &[])].concat()), None);
    }

    #[test]
    fn fuzz_connections() {
        let mut sample = vec![0; ANSWERED];
        sample.extend(attribute(8, &[1]));
        sample.extend(attribute(INFORMATION, &[7; 200]));
        fuzz::each("connections", 1 << 20, |dice| {
            let _ = connection(&fuzz::damaged(dice, &[sample.clone()]));
        });
    }
}
