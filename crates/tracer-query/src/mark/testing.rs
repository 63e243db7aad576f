//! What tests of marks share: markers, places and words by hand.

use tracer_common::marks::{Context, Word, WordKind};
use tracer_weave::{PlaceDefinition, Sides};

use super::Marker;

/// A marker with this name; a point where the name begins with `.`.
pub fn marker(name: &str) -> Marker {
    Marker {
        name: name.to_owned(),
        token: name.to_owned(),
        sides: if name.starts_with('.') { Sides::Point } else { Sides::Region },
        pattern: String::new(),
        time: false,
        predicate: None,
        inside: Vec::new(),
        not_under: Vec::new(),
        subscribers: Vec::new(),
    }
}

/// Place `number` of a marker.
pub fn place(number: u32, marker: u32) -> PlaceDefinition {
    PlaceDefinition {
        id: number,
        marker,
        class: "com.shop.Cart".to_owned(),
        method: format!("m{number}"),
        descriptor: "()V".to_owned(),
        bci: 0,
        line: Some(7),
        made: None,
        raised: None,
    }
}

/// Words of a batch.
#[derive(Clone, Debug, Default)]
pub struct Words(pub Vec<u64>);

impl Words {
    pub fn push(&mut self, kind: WordKind, place: u32, object: u32) -> &mut Self {
        self.0.push(Word::new(kind, 0, place, object).0);
        self
    }

    pub fn at(&mut self, time_ns: u64) -> &mut Self {
        self.0.extend([Word::new(WordKind::Time, 0, 0, 0).0, time_ns]);
        self
    }

    pub fn thread(&mut self, id: u64) -> &mut Self {
        self.0.extend([Word::new(WordKind::Thread, 0, 0, 0).0, id]);
        self
    }

    pub fn counted(&mut self, kind: WordKind, place: u32, count: u64) -> &mut Self {
        self.0.extend([Word::new(WordKind::Count, kind as u8, place, 0).0, count]);
        self
    }

    /// What was counted in a context, with this number, around which is another one.
    pub fn context(
        &mut self,
        what: Context,
        place: u32,
        [number, around]: [u32; 2],
        calls: u64,
        errors: u64,
    ) -> &mut Self {
        let word = Word::new(WordKind::Context, what as u8, place, number).0;
        self.0.extend([word, around.into(), calls, errors]);
        self
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}
