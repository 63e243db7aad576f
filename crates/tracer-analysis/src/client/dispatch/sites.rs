//! Which clients want the marks of which places: decided when a place is woven, as far as names alone decide it.

use tracer_weave::PlaceDefinition;

use super::Dispatch;
use crate::{
    client::{Client, gate::Gate},
    mark::Asked,
    predicate::{self, Outlook},
};

/// A client.
pub(super) struct Tap {
    pub(super) client: Box<dyn Client>,
    pub(super) gate: Option<Gate>,
    /// Markers to which it subscribed.
    pub(super) markers: Vec<bool>,
    /// Those of them that it wants to be on.
    pub(super) wants: Vec<bool>,
}

/// What happens to the marks of a place.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Site {
    pub(super) marker: u32,
    pub(super) passage: Passage,
    /// Clients that want them, as bits.
    pub(super) clients: u64,
    /// Of these, the ones that want all, whatever gates say.
    pub(super) sure: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Passage {
    /// There is no such place.
    #[default]
    None,
    /// All pass.
    Open,
    /// Gates decide; the index of the place's names.
    Gated(u32),
}

impl Dispatch {
    pub(super) fn ask(&mut self, asked: &Asked) {
        self.sites.clear();
        self.subjects.clear();
        self.gates.clear();
        for marker in &asked.markers {
            let (gate, note) = Gate::of_marker(marker, &asked.markers);
            self.books.sentences.extend(note);
            self.gates.push(gate);
        }
        self.taps.iter_mut().for_each(|tap| tap.subscribe(asked));
        self.known.ask(asked.clone());
    }

    /// Decides what happens to the marks of a place, and tells the clients from `first` on that it is there.
    pub(super) fn settle(&mut self, definition: &PlaceDefinition, first: usize) {
        let Some(place) = self.known.place(definition.id) else { return };
        let (number, marker) = (definition.id as usize, place.marker);
        let subject = predicate::Subject::method(&definition.class, &definition.method, &definition.descriptor);
        let gate = self.gates.get(marker);
        let outlook = gate.map_or(Outlook::Always, |gate| gate.outlook(&subject));
        let (mut clients, mut sure) = (0, 0);
        for (bit, tap) in self.taps.iter_mut().enumerate() {
            if !tap.markers.get(marker).copied().unwrap_or(false) {
                continue;
            }
            if let Some(marker) = self.known.markers().get(marker)
                && bit >= first
            {
                tap.client.method_loaded(place, marker);
            }
            match tap.gate.as_ref().map_or(Outlook::Always, |gate| gate.outlook(&subject)) {
                Outlook::Never => continue,
                Outlook::Always => sure |= 1 << bit,
                Outlook::Depends => {}
            }
            clients |= 1 << bit;
        }
        match outlook {
            Outlook::Never => (clients, sure) = (0, 0),
            Outlook::Always => {}
            Outlook::Depends => sure = 0,
        }
        if self.sites.len() <= number {
            self.sites.resize(number + 1, Site::default());
        }
        let passage = if outlook == Outlook::Depends || sure != clients {
            self.subjects.push(subject);
            Passage::Gated(u32::try_from(self.subjects.len() - 1).unwrap_or(u32::MAX))
        } else {
            Passage::Open
        };
        if let Some(site) = self.sites.get_mut(number) {
            *site = Site { marker: u32::try_from(marker).unwrap_or(u32::MAX), passage, clients, sure };
        }
    }

    /// Of each marker, whether any client wants it to be on; so it is where nobody subscribed to it, as others can ask for what lies in it.
    pub fn wanted(&mut self) -> Vec<bool> {
        let is_nobodys = |marker: usize| !self.taps.iter().any(|tap| tap.markers.get(marker) == Some(&true));
        let mut wanted: Vec<bool> = (0..self.known.markers().len()).map(is_nobodys).collect();
        for tap in &mut self.taps {
            for (marker, on) in tap.client.switch() {
                if let (Some(wants), Some(true)) = (tap.wants.get_mut(marker), tap.markers.get(marker)) {
                    *wants = on;
                }
            }
            wanted.iter_mut().zip(&tap.wants).for_each(|(wanted, wants)| *wanted |= wants);
        }
        wanted
    }
}

impl Tap {
    pub(super) fn new(client: Box<dyn Client>, gate: Option<Gate>) -> Self {
        Self { client, gate, markers: Vec::new(), wants: Vec::new() }
    }

    pub(super) fn subscribe(&mut self, asked: &Asked) {
        let client = &mut self.client;
        let wants = |marker: &crate::mark::Marker| {
            let is_asked = marker.is_told_to(client.name());
            is_asked && client.subscribe(marker)
        };
        self.markers = asked.markers.iter().map(wants).collect();
        self.wants.clone_from(&self.markers);
    }
}
