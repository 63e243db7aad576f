//! What the network does while threads wait for a peer: how long a round trip takes, and what is lost on the way.

use std::{collections::HashMap, net::SocketAddr};

use crate::{item::look::PeerLook, thread_dump::AskedConnection};

/// What had been sent again of each connection at the look before, by its ends.
#[derive(Debug, Default)]
pub(super) struct Peers(HashMap<[SocketAddr; 2], u32>);

impl Peers {
    /// Each peer, with what was sent again since. Of a connection that is seen for the first time nobody knows when that was.
    pub(super) fn since(&mut self, asked: Vec<AskedConnection>) -> Vec<PeerLook> {
        let before = std::mem::take(&mut self.0);
        let told = |AskedConnection { peer, ends, known }| {
            self.0.insert(ends, known.resent);
            let resent = known.resent.saturating_sub(before.get(&ends).copied().unwrap_or(known.resent));
            let rtt_ns = u64::from(known.rtt_us) * 1000;
            PeerLook { peer, rtt_ns, resent: resent.into(), unanswered: known.unanswered > 0 }
        };
        asked.into_iter().map(told).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jvm::descriptor::connection::Connection;

    #[test]
    fn what_was_sent_again_counts_from_look_to_look() {
        let mut peers = Peers::default();
        let asked = |port: u16, resent: u32, unanswered: u8| AskedConnection {
            peer: format!("TCP 10.0.0.7:{port}"),
            ends: [SocketAddr::from(([10, 0, 0, 3], 4000)), SocketAddr::from(([10, 0, 0, 7], port))],
            known: Connection { rtt_us: 250, resent, unanswered },
        };
        let mut look = |asked: Vec<AskedConnection>| -> Vec<(u64, bool)> {
            peers.since(asked).into_iter().map(|peer| (peer.resent, peer.unanswered)).collect()
        };
        assert_eq!(look(vec![asked(80, 5, 0)]), [(0, false)], "they were sent some time");
        assert_eq!(look(vec![asked(80, 9, 2), asked(81, 7, 0)]), [(4, true), (0, false)]);
        assert_eq!(look(vec![asked(81, 7, 0)]), [(0, false)]);
        assert_eq!(look(vec![asked(80, 12, 0)]), [(0, false)], "it was not asked about in between");
        assert_eq!(peers.since(vec![asked(80, 12, 0)])[0].rtt_ns, 250_000);
    }
}
