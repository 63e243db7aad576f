//! What the target opens and leaves open: descriptors are counted in each look, and read only where there are more of them.

use std::{collections::HashMap, path::Path};

use crate::{
    item::look::{Opened, OsProcess, peer},
    jvm::descriptor::open,
};

/// How many more must be open than at the first look, and than when they were read last.
const LEAST: u64 = 32;
/// Most that are read.
const MOST: usize = 512;
/// Most of a text that is told.
const MAX_CHARS: usize = 256;

/// What was open at the first look, and what was told last.
#[derive(Debug, Default)]
pub(super) struct Opening {
    first: Option<u64>,
    told: Option<(u64, Option<Opened>)>,
}

impl Opening {
    /// What most of the newest descriptors lead to, by what each does; none as long as few more are open than at the first look.
    pub(super) fn since(
        &mut self,
        pid: u32,
        process: Option<OsProcess>,
        leads_to: impl Fn(u32) -> Option<String>,
    ) -> Option<Opened> {
        let now = process?.descriptors?;
        let first = *self.first.get_or_insert(now);
        if now < first.saturating_add(LEAST) {
            return None;
        }
        let is_known = |(then, _): &&(u64, _)| now < then.saturating_add(LEAST);
        if let Some((_, opened)) = self.told.as_ref().filter(is_known) {
            return opened.clone();
        }
        let newest = usize::try_from(now - first).unwrap_or(MOST).min(MOST);
        let names: Vec<String> = open::highest(pid, newest).into_iter().filter_map(leads_to).collect();
        let opened = most(&names);
        self.told = Some((now, opened.clone()));
        opened
    }
}

/// What more than half of them lead to: one thing, or things of one kind.
fn most(names: &[String]) -> Option<Opened> {
    let of = |word: fn(&str) -> String| {
        let mut counts = HashMap::<String, u64>::new();
        for name in names {
            *counts.entry(word(name)).or_default() += 1;
        }
        let (what, descriptors) = counts.into_iter().max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)))?;
        let looked_at = names.len() as u64;
        let what = what.chars().take(MAX_CHARS).collect();
        (2 * descriptors > looked_at).then_some(Opened { what, descriptors, looked_at })
    };
    of(|name| peer(name).to_owned()).or_else(|| of(kind))
}

/// The directory of a file, or sockets of any peer.
fn kind(name: &str) -> String {
    let is_socket = ["TCP ", "UDP ", "Unix socket"].iter().any(|begin| name.starts_with(begin));
    match Path::new(name).parent() {
        Some(directory) if name.starts_with('/') => format!("files in {}", directory.display()),
        _ if is_socket => "sockets".to_owned(),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::Read as _,
        process::{Command, Stdio},
    };

    use super::*;
    use crate::jvm::descriptor::Descriptors;

    fn told(names: &[&str]) -> Option<(String, u64, u64)> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        most(&names).map(|opened| (opened.what, opened.descriptors, opened.looked_at))
    }

    #[test]
    fn what_most_lead_to_is_one_thing_or_things_of_one_kind() {
        let peer = |port: u32| format!("TCP 10.0.0.7:5432 (from 10.0.0.3:{port})");
        let (a, b) = (peer(1), peer(2));
        assert_eq!(told(&[&a, &b, "/data/a"]), Some(("TCP 10.0.0.7:5432".to_owned(), 2, 3)));
        assert_eq!(told(&["/data/a", "/data/b", "/etc/c"]), Some(("files in /data".to_owned(), 2, 3)));
        assert_eq!(told(&["a pipe", "a pipe"]), Some(("a pipe".to_owned(), 2, 2)));
        assert_eq!(told(&["TCP 10.0.0.7:1", "TCP 10.0.0.8:1"]), Some(("sockets".to_owned(), 2, 2)));
        assert_eq!(told(&["/data/a", "a pipe"]), None);
        assert_eq!(told(&[]), None);
    }

    #[test]
    fn what_is_opened_again_and_again_is_found_and_read_only_where_there_is_more() {
        // Above all that this process may hand on.
        let script = "for fd in $(seq 800 863); do eval \"exec $fd</dev/null\"; done; echo opened; exec cat";
        let shell = Command::new("bash").args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut shell = shell.expect("a shell");
        let mut said = [0; 7];
        shell.stdout.as_mut().expect("piped").read_exact(&mut said).expect("it has opened them");
        let (pid, mut opening) = (shell.id(), Opening::default());
        let mut look = |more: u64| {
            let process = OsProcess { descriptors: Some(100 + more), ..OsProcess::default() };
            opening.since(pid, Some(process), |descriptor| Descriptors::new(pid).named(descriptor))
        };
        assert_eq!(look(0), None);
        assert_eq!(look(LEAST - 1), None);
        let opened = Opened { what: "/dev/null".to_owned(), descriptors: LEAST, looked_at: LEAST };
        assert_eq!(look(LEAST), Some(opened.clone()));
        let ended = shell.kill().and_then(|()| shell.wait());
        assert_eq!(look(LEAST + 1), Some(opened), "few more are open");
        ended.expect("it ends");
    }
}
