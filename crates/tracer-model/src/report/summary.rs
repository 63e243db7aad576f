//! Numbers by key, in a fixed order.

use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap as _};

use super::Word;

/// A number of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Number {
    /// A count or an amount.
    Int(u64),
    /// A rate or a share.
    Float(f64),
}

impl Number {
    /// The number as a float.
    pub const fn as_f64(&self) -> f64 {
        match *self {
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

/// How keys begin of what numbers that were seen in windows come to over the whole span, and of the ends of its interval.
pub const ESTIMATE: &str = "extrapolated_";

/// What a number comes to over the whole span, where it was seen in windows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The number.
    pub value: Number,
    /// The ends of its 95 % interval, where they are told.
    pub interval: Option<[f64; 2]>,
}

/// Keys and numbers in a fixed order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary(pub(super) Vec<(Word, Number)>);

impl Summary {
    /// An empty summary.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a count.
    #[must_use]
    pub fn int(mut self, key: &'static str, value: u64) -> Self {
        self.0.push((key, Number::Int(value)));
        self
    }

    /// Adds a rate or a share.
    #[must_use]
    pub fn float(mut self, key: &'static str, value: f64) -> Self {
        self.0.push((key, Number::Float(value)));
        self
    }

    /// Adds the keys of another summary.
    #[must_use]
    pub fn followed_by(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Without the numbers whose keys are not wanted.
    #[must_use]
    pub fn keeping(mut self, is_wanted: impl Fn(&str) -> bool) -> Self {
        self.0.retain(|(key, _)| is_wanted(key));
        self
    }

    /// The number behind a key.
    pub fn get(&self, key: &str) -> Option<&Number> {
        self.0.iter().find(|(name, _)| *name == key).map(|(_, number)| number)
    }

    /// What the number behind a key comes to over the whole span; nothing where that is not estimated.
    pub fn estimate(&self, key: &str) -> Option<Estimate> {
        let part = |which: &str| self.get(&format!("{ESTIMATE}{which}{key}")).copied();
        let ends = part("low_").zip(part("high_"));
        let interval = ends.map(|(low, high)| [low.as_f64(), high.as_f64()]);
        Some(Estimate { value: part("")?, interval })
    }

    /// Keys and numbers in order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Number)> + '_ {
        self.0.iter().copied()
    }
}

impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, number) in &self.0 {
            map.serialize_entry(key, number)?;
        }
        map.end()
    }
}
