//! All chunks of a file: what was taken of their events, and how many there were of each type.

use std::collections::{BTreeMap, HashMap};

use super::{
    about::About,
    chunk::{Header, Torn, events},
    edges::Edges,
    input::{Damage, Input},
    order,
    settings::Settings,
    taken::{self, TAKEN},
    told,
    values::Chunk,
};
use crate::{
    event::SiteId,
    item::{Counters, End, Item},
};

/// Most types of events that are counted apart; the newest JDK has some 200.
const MAX_TYPES: usize = 4096;
/// Longest name of a type that is kept.
const MAX_NAME_CHARS: usize = 200;
/// Numbers below are the format's own events: types, and pools.
const OWN: i64 = 2;
/// What those are called that are beyond the limit.
const OTHERS: &str = "others";
const SETTING: &str = "jdk.ActiveSetting";

/// Events of one type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) all: u64,
    /// Those that do not say what they must.
    pub(super) unclear: u64,
}

/// What was read of a file.
#[derive(Debug, Default)]
pub(super) struct File {
    pub(super) edges: Edges,
    pub(super) settings: Settings,
    pub(super) about: About,
    pub(super) counts: BTreeMap<String, Counts>,
    /// Chunks that were read.
    chunks: u64,
    pub(super) start_ns: u64,
    end_ns: u64,
    /// Where it could not be read any further, and why.
    pub(super) torn: Option<(u64, Torn)>,
}

/// What is done with the events of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Taken(usize),
    Beside,
    Setting,
    About,
    Counted,
}

impl Use {
    fn of(name: &str) -> Self {
        match taken::site_of(name) {
            Some(site) => Self::Taken(site),
            None if name == SETTING => Self::Setting,
            None if name == taken::COLLECTION || name == taken::STOP => Self::Beside,
            None if About::is_told_by(name) => Self::About,
            None => Self::Counted,
        }
    }
}

impl File {
    /// Whether there is a chunk.
    pub(super) const fn has_begun(&self) -> bool {
        self.chunks > 0
    }

    /// Nothing from here on can be read.
    pub(super) const fn cut(&mut self, at: u64, torn: Torn) {
        self.torn = Some((at, torn));
    }

    /// Takes the events of a chunk.
    pub(super) fn take(&mut self, header: Header, bytes: &[u8]) -> Result<(), Damage> {
        let chunk = Chunk::read(header, bytes)?;
        self.edges.known.next_chunk();
        self.start_ns = if self.chunks == 0 { header.start_ns } else { self.start_ns.min(header.start_ns) };
        self.end_ns = self.end_ns.max(header.end_ns());
        self.chunks += 1;
        let mut of_chunk: HashMap<i64, (Use, Counts)> = HashMap::new();
        let read = events(chunk.input, |number, event| {
            if number >= OWN {
                let name = chunk.types.get(number).map_or("", |of| of.name.as_str());
                let (wanted, counts) = of_chunk.entry(number).or_insert_with(|| (Use::of(name), Counts::default()));
                counts.all += 1;
                counts.unclear += u64::from(self.event(*wanted, name, &chunk, number, event).is_none());
            }
            Ok(())
        });
        for (number, (_, counts)) in of_chunk {
            let name = chunk.types.get(number).map_or("<not described>", |of| of.name.as_str());
            self.count(name, counts);
        }
        read
    }

    fn count(&mut self, name: &str, Counts { all, unclear }: Counts) {
        let name: String = name.chars().take(MAX_NAME_CHARS).collect();
        let is_new = !self.counts.contains_key(&name);
        let name = if is_new && self.counts.len() >= MAX_TYPES { OTHERS.to_owned() } else { name };
        let counts = self.counts.entry(name).or_default();
        counts.all += all;
        counts.unclear += unclear;
    }

    /// Nothing where the event does not say what it must.
    fn event<'a>(&mut self, wanted: Use, name: &str, chunk: &Chunk<'a>, number: i64, event: Input<'a>) -> Option<()> {
        let object = match wanted {
            Use::Counted => return Some(()),
            Use::Taken(_) | Use::Beside | Use::Setting | Use::About => chunk.event(number, event).ok()?,
        };
        match wanted {
            Use::Taken(site) => (TAKEN.get(site)?.read)(&mut self.edges, &object, site_id(site)),
            Use::Beside => taken::beside(&mut self.edges, name, &object),
            Use::About => {
                self.about.take(name, &object);
                Some(())
            }
            Use::Setting => {
                let of = chunk.types.get(object.number("id")?)?;
                self.settings.take(&object, &of.name);
                Some(())
            }
            Use::Counted => Some(()),
        }
    }

    /// How many events of a type there are.
    pub(super) fn count_of(&self, name: &str) -> Counts {
        self.counts.get(name).copied().unwrap_or_default()
    }

    /// Whether events of a type could be in the file: because they are, or a setting says so.
    pub(super) fn has(&self, name: &str) -> bool {
        self.count_of(name).all > 0 || self.settings.of(name).enabled == Some(true)
    }

    /// Gives everything to a session.
    pub(super) fn give(mut self, sink: &mut dyn FnMut(Item<'_>)) {
        let told = told::tell(&mut self);
        let latest_ns = self.edges.all.iter().map(|edge| edge.time_ns).max().unwrap_or(self.start_ns);
        // A chunk that was never completed does not say when it ended.
        let time_ns = if self.end_ns > self.start_ns { self.end_ns } else { latest_ns.max(self.start_ns) };
        sink(Item::Start(Box::new(told.start)));
        self.edges.known.define(sink);
        order::sort(&mut self.edges.all);
        for edge in &self.edges.all {
            sink(Item::Record(&edge.record()));
        }
        sink(Item::Counters(Counters { time_ns, sites: told.counters, ..Counters::default() }));
        let reason =
            self.torn.map_or_else(|| "end of the file".to_owned(), |(at, _)| format!("recording cut at byte {at}"));
        sink(Item::End(End { time_ns, reason, counters_final: true }));
    }
}

/// Its number, which a list that is part of the program cannot exceed.
pub(super) fn site_id(site: usize) -> SiteId {
    SiteId(u16::try_from(site).unwrap_or(u16::MAX))
}
