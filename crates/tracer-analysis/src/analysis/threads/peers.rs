//! Peers for whose answers threads waited, and what the network did meanwhile, from looks at all threads.

use std::collections::BTreeMap;

use super::super::table::column;
use crate::{
    item::look::ThreadLook,
    report::{Shape, Table, Unit},
};

/// Most peers that are told apart.
const PEERS: usize = 256;

/// What is known of a peer.
#[derive(Debug, Default)]
struct Seen {
    looks: u64,
    rtt_ns: u64,
    resent: u64,
    unanswered: u64,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Peers(BTreeMap<String, Seen>);

impl Peers {
    pub(super) fn look(&mut self, look: &ThreadLook) {
        for peer in &look.peers {
            if self.0.len() < PEERS || self.0.contains_key(&peer.peer) {
                let seen = self.0.entry(peer.peer.clone()).or_default();
                seen.looks += 1;
                seen.rtt_ns = seen.rtt_ns.saturating_add(peer.rtt_ns);
                seen.resent = seen.resent.saturating_add(peer.resent);
                seen.unanswered += u64::from(peer.unanswered);
            }
        }
    }

    pub(super) fn table(&self) -> Shape {
        let mut peers: Vec<_> = self.0.iter().collect();
        peers.sort_by_key(|(peer, seen)| (std::cmp::Reverse((seen.resent, seen.looks)), *peer));
        let row = |(peer, seen): (&String, &Seen)| {
            let numbers = [seen.looks, seen.rtt_ns / seen.looks.max(1), seen.resent, seen.unanswered];
            [peer.clone().into()].into_iter().chain(numbers.map(Into::into)).collect()
        };
        Shape::Table(Table {
            id: "peers",
            title: "Peers that threads waited for, and the network".to_owned(),
            columns: vec![
                column("peer", "Peer", Unit::Text),
                column("looks", "Looks", Unit::Count),
                column("rtt_ns", "Round trip", Unit::Ns),
                column("resent", "Sent again", Unit::Count),
                column("looks_unanswered", "Not acknowledged", Unit::Count),
            ],
            rows: peers.into_iter().map(row).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{item::look::PeerLook, report::Cell};

    #[test]
    fn round_trips_are_averages_and_what_was_sent_again_is_a_sum() {
        let mut peers = Peers::default();
        let peer = |name: &str, rtt_ns: u64, resent: u64| PeerLook {
            peer: name.to_owned(),
            rtt_ns,
            resent,
            unanswered: resent > 0,
        };
        for look in [vec![peer("a", 100, 0)], vec![peer("a", 300, 0), peer("b", 50, 4)], vec![peer("b", 50, 3)]] {
            peers.look(&ThreadLook { peers: look, ..ThreadLook::default() });
        }
        let Shape::Table(table) = peers.table() else { panic!("a table") };
        assert_eq!(table.rows[0], [Cell::from("b"), 2_u64.into(), 50_u64.into(), 7_u64.into(), 2_u64.into()]);
        assert_eq!(table.rows[1], [Cell::from("a"), 2_u64.into(), 200_u64.into(), 0_u64.into(), 0_u64.into()]);
    }
}
