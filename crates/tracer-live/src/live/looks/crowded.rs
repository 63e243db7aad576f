//! Sockets at which connections wait to be accepted, and what the threads do meanwhile that accept them.

use super::socket_threads::{SocketThreads, told};
use crate::{
    event::StackId,
    item::look::CrowdedLook,
    jvm::descriptor::listening::Crowded,
    thread_dump::{CrowdedSocket, Thread},
};

/// What names of threads have in them that accept connections: Tomcat's, Jetty's, XNIO's and others'.
const ACCEPTS: &str = "accept";

/// A socket at which connections wait, and the thread that accepts there.
#[derive(Debug)]
pub(super) struct CrowdedNow {
    socket: String,
    at: Crowded,
    acceptor: Option<u32>,
}

/// Sockets with the threads that accept there, as far as threads have shown until now who these are.
pub(super) fn crowded_now(crowded: Vec<CrowdedSocket>, seen: &SocketThreads, threads: &[Thread]) -> Vec<CrowdedNow> {
    let known = |CrowdedSocket { name: socket, at, held_by }| {
        let acceptor = seen.at(&socket, &held_by, threads).or_else(|| by_name(at, threads));
        CrowdedNow { socket, at, acceptor }
    };
    crowded.into_iter().map(known).collect()
}

/// The one thread whose name says that it accepts connections, or the one of these that names the port.
fn by_name(at: Crowded, threads: &[Thread]) -> Option<u32> {
    let accepts = |thread: &&Thread| thread.name.to_ascii_lowercase().contains(ACCEPTS);
    let port = at.address.port().to_string();
    let all: Vec<&Thread> = threads.iter().filter(accepts).collect();
    let of_port: Vec<&Thread> = all.iter().copied().filter(|thread| has_number(&thread.name, &port)).collect();
    match (&of_port[..], &all[..]) {
        ([thread], _) | ([], [thread]) => Some(thread.tid),
        _ => None,
    }
}

/// Whether a name has a number in it, and not as a part of a longer one.
fn has_number(name: &str, number: &str) -> bool {
    name.split(|letter: char| !letter.is_ascii_digit()).any(|part| part == number)
}

impl CrowdedNow {
    pub(super) fn told(&self, threads: &[Thread], stack: &mut dyn FnMut(&Thread) -> StackId) -> CrowdedLook {
        let acceptor = told(self.acceptor, &self.socket, threads, stack);
        let [waiting, most] = [self.at.waiting, self.at.most].map(u64::from);
        CrowdedLook { socket: self.socket.clone(), waiting, most, acceptor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::look::{SocketThread, Waits};

    fn thread(tid: u32, name: &str, on: Option<&str>) -> Thread {
        let waits =
            on.map(|on| Waits::SystemCall { call: "accept".to_owned(), on: Some(on.to_owned()), held_back: false });
        Thread { tid, name: name.to_owned(), waits, ..Thread::default() }
    }

    fn crowded(port: u16) -> CrowdedSocket {
        let address = std::net::SocketAddr::from(([0, 0, 0, 0], port));
        let at = Crowded { address, waiting: 3, most: 50 };
        CrowdedSocket { name: format!("TCP {address}, listening"), at, held_by: Vec::new() }
    }

    fn acceptor(seen: &mut SocketThreads, threads: &[Thread]) -> Option<SocketThread> {
        seen.look(threads);
        let now = crowded_now(vec![crowded(8080)], seen, threads);
        now.first()?.told(threads, &mut |_| StackId(1)).acceptor
    }

    #[test]
    fn who_was_seen_to_accept_is_known_while_it_does_something_else() {
        let socket = crowded(8080).name;
        let mut acceptors = SocketThreads::default();
        let seen = |on| [thread(1, "http-acceptor", None), thread(2, "main", on)];
        let named = |acceptor: Option<SocketThread>| acceptor.map(|acceptor| (acceptor.name, acceptor.idle));
        let by_name = Some(("http-acceptor".to_owned(), false));
        assert_eq!(named(acceptor(&mut acceptors, &seen(None))), by_name, "nobody was seen yet");
        assert_eq!(named(acceptor(&mut acceptors, &seen(Some(&socket)))), Some(("main".to_owned(), true)));
        assert_eq!(named(acceptor(&mut acceptors, &seen(None))), Some(("main".to_owned(), false)));
        let gone = &seen(None)[..1];
        assert_eq!(named(acceptor(&mut acceptors, gone)), by_name);
    }

    #[test]
    fn the_only_thread_that_has_the_socket_accepts_there() {
        let threads = [thread(1, "http-acceptor", None), thread(2, "main", None), thread(3, "clerk", None)];
        let of = |held_by: &[u32]| {
            let socket = CrowdedSocket { held_by: held_by.to_vec(), ..crowded(8080) };
            crowded_now(vec![socket], &SocketThreads::default(), &threads).first().and_then(|now| now.acceptor)
        };
        assert_eq!([of(&[3]), of(&[2, 3]), of(&[])], [Some(3), Some(1), Some(1)]);
    }

    #[test]
    fn a_name_tells_the_acceptor_where_it_is_the_only_one_or_has_the_port() {
        let of = |names: &[&str]| {
            let threads: Vec<Thread> = (1..).zip(names).map(|(tid, name)| thread(tid, name, None)).collect();
            acceptor(&mut SocketThreads::default(), &threads).map(|acceptor| acceptor.name)
        };
        assert_eq!(
            of(&["http-nio-8080-Acceptor", "http-nio-8081-Acceptor"]).as_deref(),
            Some("http-nio-8080-Acceptor")
        );
        assert_eq!(of(&["XNIO-1 Accept", "main"]).as_deref(), Some("XNIO-1 Accept"));
        assert_eq!(of(&["acceptor-1", "acceptor-2"]), None);
        assert_eq!(of(&["http-nio-18080-Acceptor", "http-nio-8081-Acceptor"]), None, "a part of another number");
        assert_eq!(of(&["main"]), None);
    }
}
