//! Sockets at which connections wait to be accepted, from looks at all threads: for how long, and what keeps the thread that accepts.

use std::collections::BTreeMap;

use super::{super::table::column, taker::Taker};
use crate::{
    item::look::{CrowdedLook, ThreadLook},
    report::{Cell, Shape, Table, Unit},
    stack::Stacks,
};

/// Most sockets that are told apart.
const SOCKETS: usize = 256;

/// What is known of a socket.
#[derive(Debug, Default)]
struct Seen {
    /// Looks in which connections waited there.
    looks: u64,
    waiting: u64,
    most: u64,
    last: u64,
    limit: u64,
    /// The last looks in a row in which connections waited and nobody was about to accept one, and the fewest that waited in these.
    in_a_row: u64,
    least: u64,
    /// Looks of these in which no more could wait.
    full: u64,
    acceptor: Taker,
}

impl Seen {
    fn add(&mut self, look: &CrowdedLook, stacks: &Stacks) {
        self.looks += 1;
        self.waiting = self.waiting.saturating_add(look.waiting);
        self.most = self.most.max(look.waiting);
        self.last = look.waiting;
        self.limit = look.most;
        if look.acceptor.as_ref().is_some_and(|acceptor| acceptor.idle) {
            return self.ends();
        }
        self.least = if self.in_a_row == 0 { look.waiting } else { self.least.min(look.waiting) };
        self.in_a_row += 1;
        self.full += u64::from(look.waiting > look.most);
        self.acceptor.look(look.acceptor.as_ref(), stacks);
    }

    /// A look has seen that somebody accepts, or that nothing waits.
    const fn ends(&mut self) {
        (self.in_a_row, self.least, self.full) = (0, 0, 0);
    }
}

/// All sockets at which connections have waited.
#[derive(Debug, Default)]
pub(super) struct Crowded(BTreeMap<String, Seen>);

impl Crowded {
    pub(super) fn look(&mut self, look: &ThreadLook, stacks: &Stacks) {
        for (socket, seen) in &mut self.0 {
            if !look.crowded.iter().any(|crowded| crowded.socket == *socket) {
                seen.ends();
            }
        }
        for crowded in &look.crowded {
            if self.0.len() < SOCKETS || self.0.contains_key(&crowded.socket) {
                self.0.entry(crowded.socket.clone()).or_default().add(crowded, stacks);
            }
        }
    }

    pub(super) fn table(&self) -> Shape {
        let mut sockets: Vec<_> = self.0.iter().collect();
        sockets.sort_by(|a, b| b.1.waiting.cmp(&a.1.waiting).then(a.0.cmp(b.0)));
        let row = |(socket, seen): (&String, &Seen)| {
            let average = seen.waiting as f64 / seen.looks.max(1) as f64;
            let numbers = [seen.most, seen.last, seen.limit, seen.looks, seen.in_a_row, seen.least, seen.full];
            let mut cells: Vec<Cell> = vec![socket.clone().into(), average.into()];
            cells.extend(numbers.map(Cell::from));
            cells.extend(seen.acceptor.cells());
            cells
        };
        Shape::Table(Table {
            id: "crowded",
            title: "Sockets at which connections waited to be accepted".to_owned(),
            columns: vec![
                column("socket", "Socket", Unit::Text),
                column("waiting", "Waiting, average", Unit::Count),
                column("waiting_most", "Most", Unit::Count),
                column("waiting_last", "Last", Unit::Count),
                column("limit", "May wait", Unit::Count),
                column("looks", "Looks", Unit::Count),
                column("in_a_row", "Last in a row", Unit::Count),
                column("least", "Least in these", Unit::Count),
                column("full", "Full in these", Unit::Count),
                column("acceptor", "Accepted by", Unit::Text),
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
    fn looks_in_a_row_end_where_somebody_accepts_or_nothing_waits() {
        let mut play = Play::default();
        let stack = play.stack(&["com.shop.Server.serve:30", "com.shop.Server.answer:9", "java.lang.Thread.sleep"]);
        let mut crowded = Crowded::default();
        let mut look = |waiting: u64, idle: bool| {
            let acceptor = SocketThread { name: "main".to_owned(), idle, stack: Some(stack), waits: None };
            let at = CrowdedLook {
                socket: "TCP 0.0.0.0:8080, listening".to_owned(),
                waiting,
                most: 5,
                acceptor: Some(acceptor),
            };
            let all = if waiting == 0 { Vec::new() } else { vec![at] };
            crowded.look(&ThreadLook { crowded: all, ..ThreadLook::default() }, &play.stacks);
            let Shape::Table(table) = crowded.table() else { panic!("a table") };
            table.rows[0][5..9].to_vec()
        };
        let told = |looks: u64, in_a_row: u64, least: u64, full: u64| [looks, in_a_row, least, full].map(Cell::from);
        assert_eq!(look(4, false), told(1, 1, 4, 0));
        assert_eq!(look(6, false), told(2, 2, 4, 1), "one more than the limit waits where no more may");
        assert_eq!(look(1, true), told(3, 0, 0, 0), "somebody accepts");
        assert_eq!(look(6, false), told(4, 1, 6, 1));
        assert_eq!(look(0, false), told(4, 0, 0, 0), "nothing waits");
        look(3, false);
        let Shape::Table(table) = crowded.table() else { panic!("a table") };
        assert_eq!(table.rows[0][..2], ["TCP 0.0.0.0:8080, listening".into(), 4.0.into()]);
        assert_eq!(table.rows[0][9..11], ["main".into(), "com.shop.Server.answer:9".into()]);
    }
}
