//! UDP sockets at which datagrams were thrown away, from looks at all threads: how many, and what the thread does that reads there.

use std::collections::BTreeMap;

use super::{super::table::column, taker::Taker};
use crate::{
    item::look::{DatagramLook, ThreadLook},
    report::{Cell, Shape, Table, Unit},
    stack::Stacks,
};

/// Most sockets that are told apart.
const SOCKETS: usize = 256;

/// What is known of a socket.
#[derive(Debug, Default)]
struct Seen {
    /// Datagrams that had been thrown away when looks began, and at the last one.
    before: u64,
    last: u64,
    /// Looks in which there were more than in the one before.
    looks: u64,
    unread_bytes: u64,
    reader: Taker,
}

impl Seen {
    fn add(&mut self, look: &DatagramLook, stacks: &Stacks) {
        self.looks += u64::from(look.dropped > self.last);
        self.last = look.dropped;
        self.unread_bytes = self.unread_bytes.max(look.unread_bytes);
        self.reader.look(look.reader.as_ref(), stacks);
    }
}

/// All sockets at which datagrams were thrown away.
#[derive(Debug, Default)]
pub(super) struct Datagrams {
    sockets: BTreeMap<String, Seen>,
    /// Time between the first look and the last one.
    span_ns: u64,
    first_ns: Option<u64>,
}

impl Datagrams {
    pub(super) fn look(&mut self, look: &ThreadLook, stacks: &Stacks) {
        let is_first = self.first_ns.is_none();
        self.span_ns = look.time_ns.saturating_sub(*self.first_ns.get_or_insert(look.time_ns));
        for socket in &look.datagrams {
            if self.sockets.len() >= SOCKETS && !self.sockets.contains_key(&socket.socket) {
                continue;
            }
            // A socket that shows up later had thrown nothing away before.
            let before = if is_first { socket.dropped } else { 0 };
            let new = Seen { before, last: before, ..Seen::default() };
            self.sockets.entry(socket.socket.clone()).or_insert(new).add(socket, stacks);
        }
    }

    pub(super) fn table(&self) -> Shape {
        let mut sockets: Vec<_> = self.sockets.iter().collect();
        let dropped = |seen: &Seen| seen.last.saturating_sub(seen.before);
        sockets.sort_by(|a, b| dropped(b.1).cmp(&dropped(a.1)).then(a.0.cmp(b.0)));
        let row = |(socket, seen): (&String, &Seen)| {
            let per_s = (self.span_ns > 0).then(|| dropped(seen) as f64 * 1e9 / self.span_ns as f64);
            let mut cells: Vec<Cell> = vec![socket.clone().into(), dropped(seen).into(), per_s.into()];
            cells.extend([seen.before, seen.looks, seen.unread_bytes].map(Cell::from));
            cells.extend(seen.reader.cells());
            cells
        };
        Shape::Table(Table {
            id: "datagrams",
            title: "Sockets at which datagrams were thrown away".to_owned(),
            columns: vec![
                column("socket", "Socket", Unit::Text),
                column("dropped", "Thrown away", Unit::Count),
                column("per_s", "A second", Unit::PerSecond),
                column("before", "Before", Unit::Count),
                column("looks", "Looks with more", Unit::Count),
                column("unread_bytes", "Unread, most", Unit::Bytes),
                column("reader", "Read by", Unit::Text),
                column("site", "Its place", Unit::Text),
                column("what", "It waits for", Unit::Text),
                column("callers", "From", Unit::Text),
            ],
            rows: sockets.into_iter().map(row).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{super::super::testing::Play, *};
    use crate::item::look::SocketThread;

    #[test]
    fn what_was_thrown_away_before_does_not_count_and_the_reader_has_its_place() {
        let mut play = Play::default();
        let stack = play.stack(&["a.Metrics.handle:3", "java.lang.Thread.run:840"]);
        let mut datagrams = Datagrams::default();
        let socket = |name: &str, dropped: u64, idle: bool| DatagramLook {
            socket: name.to_owned(),
            dropped,
            unread_bytes: 10 * dropped,
            reader: Some(SocketThread { name: "metrics".to_owned(), idle, stack: Some(stack), waits: None }),
        };
        for (second, dropped, idle) in [(5, 100, true), (6, 100, false), (7, 160, true)] {
            let mut look = ThreadLook { time_ns: second * 1_000_000_000, ..ThreadLook::default() };
            look.datagrams.push(socket("UDP 0.0.0.0:8125", dropped, idle));
            if second == 7 {
                look.datagrams.push(socket("UDP 0.0.0.0:53", 7, true));
            }
            datagrams.look(&look, &play.stacks);
        }
        let Shape::Table(table) = datagrams.table() else { panic!("a table") };
        let [first, second] = &table.rows[..] else { panic!("two sockets") };
        assert_eq!(first[..2], ["UDP 0.0.0.0:8125".into(), 60_u64.into()]);
        assert_eq!(first[2..6], [30.0.into(), 100_u64.into(), 1_u64.into(), 1600_u64.into()]);
        assert_eq!(first[6..8], ["metrics".into(), "a.Metrics.handle:3".into()]);
        assert_eq!(second[1..4], [7_u64.into(), 3.5.into(), 0_u64.into()], "it had thrown nothing away before");
    }
}
