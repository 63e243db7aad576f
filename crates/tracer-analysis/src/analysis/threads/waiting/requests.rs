//! Requests that the program serves and that it makes, from looks at all threads: how many at a time, by whom, for which handler, from
//! which line. How long they take is not seen here: executors tell it of their tasks.

use std::collections::BTreeMap;

use super::{
    super::{
        super::{library, site, table::column},
        reason::reason,
    },
    texts::Texts,
};
use crate::{
    event::StackId,
    item::look::{LookGroup, ThreadLook},
    report::{Cell, Shape, Table, Unit},
    stack::Stacks,
};

/// Most that are told apart, by server or client and place.
const REQUESTS: usize = 1024;
/// Most that are shown.
const ROWS: usize = 100;

/// Who waits for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    /// Others ask the program.
    Served,
    /// The program asks.
    Made,
}

impl Side {
    const fn key(self) -> &'static str {
        match self {
            Self::Served => "served",
            Self::Made => "made",
        }
    }
}

/// Side, server or client, and the number of the place.
type Request = (Side, &'static str, usize);

/// How many threads were seen at it.
#[derive(Debug, Default)]
struct Seen {
    looks: u64,
    threads: u64,
    waiting: u64,
    most: u64,
}

/// All requests.
#[derive(Debug, Default)]
pub(super) struct Requests(BTreeMap<Request, Seen>);

impl Requests {
    pub(super) fn look(&mut self, look: &ThreadLook, stacks: &Stacks, texts: &mut Texts) {
        // Threads at it, and those of them that wait.
        let mut now: BTreeMap<Request, [u64; 2]> = BTreeMap::new();
        for group in &look.groups {
            for (side, who, place) in requests(group.stack, stacks) {
                let threads = now.entry((side, who, texts.number(place))).or_default();
                threads[0] += group.threads;
                threads[1] += waiting(group, stacks);
            }
        }
        for (request, [threads, waiting]) in now {
            if self.0.len() < REQUESTS || self.0.contains_key(&request) {
                let seen = self.0.entry(request).or_default();
                seen.looks += 1;
                seen.threads += threads;
                seen.waiting += waiting;
                seen.most = seen.most.max(threads);
            }
        }
    }

    pub(super) fn table(&self, looks: u64, texts: &Texts) -> Shape {
        let mut all: Vec<_> = self.0.iter().collect();
        all.sort_by(|a, b| b.1.threads.cmp(&a.1.threads).then(a.0.cmp(b.0)));
        let row = |((side, who, place), seen): (&Request, &Seen)| {
            let average = |threads: u64| Cell::Float(threads as f64 / looks.max(1) as f64);
            vec![
                side.key().into(),
                (*who).into(),
                texts.of(*place).into(),
                average(seen.threads),
                average(seen.waiting),
                seen.most.into(),
                seen.looks.into(),
            ]
        };
        Shape::Table(Table {
            id: "requests",
            title: "Requests that the program serves and makes".to_owned(),
            columns: vec![
                column("side", "Side", Unit::Text),
                column("who", "By", Unit::Text),
                column("site", "Place", Unit::Text),
                column("average", "At a time, average", Unit::Count),
                column("waiting_average", "Of these waiting", Unit::Count),
                column("most", "Most", Unit::Count),
                column("looks", "Looks", Unit::Count),
            ],
            rows: all.into_iter().take(ROWS).map(row).collect(),
        })
    }
}

/// What a thread with this stack serves, and what it has asked for meanwhile.
fn requests(stack: StackId, stacks: &Stacks) -> impl Iterator<Item = (Side, &'static str, String)> {
    let served = library::served(stacks, stack);
    let served = served.map(|(who, handler)| (Side::Served, who, handler.unwrap_or_default()));
    let made = library::asked(stacks, stack).map(|whom| (Side::Made, whom, site::own_label(stacks, stack)));
    served.into_iter().chain(made)
}

/// How many of a group wait.
fn waiting(group: &LookGroup, stacks: &Stacks) -> u64 {
    let waits = reason(group.waits.as_ref(), stacks, group.stack).is_some();
    if waits { group.threads.saturating_sub(group.running) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::{
        super::super::super::testing::{Play, look_group},
        *,
    };
    use crate::item::look::Waits;

    #[test]
    fn requests_are_counted_on_both_sides() {
        let mut play = Play::default();
        let valve = "org.apache.catalina.core.StandardEngineValve.invoke:74";
        let receive = "org.postgresql.core.PGStream.receive:4";
        let asks =
            play.stack(&[valve, "a.Orders.get:3", "a.Orders.find:44", receive, "java.net.SocketInputStream.read:9"]);
        let runs = play.stack(&[valve, "a.Orders.get:3", "a.Orders.sum:50"]);
        let idle = play.stack(&["java.lang.Thread.run:840", "jdk.internal.misc.Unsafe.park"]);
        let on = Some("TCP 10.0.0.7:5432 (from 10.0.0.3:41456)".to_owned());
        let waits = Waits::SystemCall { call: "recvfrom".to_owned(), on, held_back: false };
        let group = |stack, threads, waits| LookGroup { waits, ..look_group(stack, threads) };
        let (mut requests, mut texts) = (Requests::default(), Texts::default());
        for (asking, running) in [(3, 1), (1, 0)] {
            let groups =
                vec![group(asks, asking, Some(waits.clone())), group(runs, running, None), group(idle, 9, None)];
            requests.look(&ThreadLook { groups, ..ThreadLook::default() }, &play.stacks, &mut texts);
        }
        let Shape::Table(table) = requests.table(2, &texts) else { panic!("a table") };
        let served =
            ["served".into(), "HTTP (Tomcat)".into(), "a.Orders.get".into(), 2.5.into(), 2.0.into(), 4_u64.into()];
        let made = [
            "made".into(),
            "PostgreSQL (JDBC)".into(),
            "a.Orders.find:44".into(),
            2.0.into(),
            2.0.into(),
            3_u64.into(),
        ];
        let rows: Vec<&[Cell]> = table.rows.iter().map(|row| &row[..6]).collect();
        assert_eq!(rows, [&served[..], &made[..]]);
    }
}
