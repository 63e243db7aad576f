//! `--redact`: peers of sockets and names of files are numbers, so that a report can be handed on. What two threads have in common stays
//! to be seen: one peer has one number.

use std::collections::HashMap;

use super::look::OF_THIS_JVM;

/// Most names that are told apart; those beyond have one number together.
const NAMES: usize = 16_384;
/// Files that are none of the user's.
const DEVICES: [&str; 3] = ["/dev/", "/proc/", "/sys/"];
/// How addresses begin that lead to the same machine.
const ON_THIS_MACHINE: [&str; 3] = ["127.", "[::1]", "[::ffff:127."];

/// Numbers for names that are left out.
#[derive(Debug, Default)]
pub struct Redaction {
    peers: HashMap<String, usize>,
    files: HashMap<String, usize>,
}

impl Redaction {
    /// What a call is about, in words that name nobody. They have the form of those that do.
    pub fn on(&mut self, on: &str) -> String {
        if let Some(protocol) = ["TCP", "UDP"].into_iter().find(|known| on.starts_with(known)) {
            return self.socket(protocol, on[protocol.len()..].trim_start());
        }
        match on.strip_prefix("Unix socket ") {
            Some(path) => format!("Unix socket {}", number(&mut self.peers, path)),
            None if on.starts_with('/') => self.file(on),
            None => on.to_owned(),
        }
    }

    /// The number of a file in the place of its path.
    pub fn file(&mut self, path: &str) -> String {
        if DEVICES.iter().any(|device| path.starts_with(device)) {
            return path.to_owned();
        }
        format!("/file {}", number(&mut self.files, path))
    }

    /// `10.0.0.7:5432 (from 10.0.0.3:41456)` without both addresses.
    fn socket(&mut self, protocol: &str, rest: &str) -> String {
        let near = |address: &str| ON_THIS_MACHINE.iter().any(|begin| address.starts_with(begin));
        let mut named = |address: &str| match address.strip_suffix(OF_THIS_JVM) {
            Some(own) => format!("peer {}{OF_THIS_JVM}", number(&mut self.peers, own)),
            None if near(address) => format!("peer {} on this machine", number(&mut self.peers, address)),
            None => format!("peer {}", number(&mut self.peers, address)),
        };
        if let Some(address) = rest.strip_suffix(", listening") {
            return format!("{protocol} port {}, listening", number(&mut self.files, address));
        }
        match (rest.split_once(" (from "), rest.split_once(" (to ")) {
            (Some((peer, _)), _) => format!("{protocol} {} (from here)", named(peer)),
            (None, Some((peer, _))) => format!("{protocol} {} (to here)", named(peer)),
            (None, None) => format!("{protocol} {}", named(rest)),
        }
    }
}

fn number(known: &mut HashMap<String, usize>, name: &str) -> usize {
    let next = known.len() + 1;
    if let Some(number) = known.get(name) {
        return *number;
    }
    if next <= NAMES {
        known.insert(name.to_owned(), next);
    }
    next
}

/// The command without its arguments: the main class, or the jar without its folder.
pub fn command(command: &str) -> String {
    let first = command.split_ascii_whitespace().next().unwrap_or_default();
    first.rsplit('/').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::look::peer;

    #[test]
    fn a_peer_is_a_number_and_the_same_one_each_time() {
        let mut redaction = Redaction::default();
        let mut on = |text: &str| redaction.on(text);
        assert_eq!(on("TCP 10.0.0.7:5432 (from 10.0.0.3:41456)"), "TCP peer 1 (from here)");
        assert_eq!(on("TCP 10.0.0.8:5432 (from 10.0.0.3:41457)"), "TCP peer 2 (from here)");
        assert_eq!(on("TCP 10.0.0.7:5432 (from 10.0.0.3:50000)"), "TCP peer 1 (from here)");
        assert_eq!(peer(&on("TCP 10.0.0.7:5432 (from 10.0.0.3:50000)")), "TCP peer 1");
        assert_eq!(on("TCP 10.0.0.9:40000 (to 10.0.0.3:80)"), "TCP peer 3 (to here)");
        assert_eq!(on("TCP 127.0.0.1:80 (from 127.0.0.1:4)"), "TCP peer 4 on this machine (from here)");
        assert_eq!(on("TCP 127.0.0.1:80 of this JVM (from 127.0.0.1:4)"), "TCP peer 4 of this JVM (from here)");
        assert_eq!(on("UDP 8.8.8.8:53"), "UDP peer 5");
        assert_eq!(on("Unix socket /run/db (1).sock"), "Unix socket 6");
        assert_eq!(on("TCP 0.0.0.0:80, listening"), "TCP port 1, listening");
    }

    #[test]
    fn files_are_numbers_and_what_names_nobody_stays() {
        let mut redaction = Redaction::default();
        assert_eq!(redaction.on("/home/anna/diary.txt"), "/file 1");
        assert_eq!(redaction.on("/home/anna/diary.txt"), "/file 1");
        for plain in ["a pipe", "standard input", "standard output", "eventpoll", "/dev/null", "a socket"] {
            assert_eq!(redaction.on(plain), plain);
        }
    }

    #[test]
    fn a_command_has_no_arguments() {
        assert_eq!(command("com.shop.Main --password secret"), "com.shop.Main");
        assert_eq!(command("/home/anna/shop.jar x"), "shop.jar");
        assert_eq!(command(""), "");
    }
}
