//! What woven code tells, as user space sees it: batches of marks, and what must be known to read them.

mod batch;
mod code_before;
#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub mod testing;

use serde::{Deserialize, Serialize};
use tracer_weave::{
    PlaceDefinition, Sides, Skipped,
    control::{Running, Sampled},
};

pub use self::{
    batch::{Argument, InContext, Mark, MarkBatch, Marks, Pass, Way, What},
    code_before::CodeBefore,
};
use crate::typestate::Property;

/// A marker, as the session names it. Its index in [`Asked::markers`] is its number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    /// Its name.
    pub name: String,
    /// What kind of marker it is, for clients to recognise.
    pub token: String,
    /// Whether it is a point or a region.
    pub sides: Sides,
    /// What it is for and where, as the user wrote it.
    pub pattern: String,
    /// Whether its marks have their times.
    #[serde(default)]
    pub time: bool,
    /// Which of its marks clients get: a predicate, in jtrace's language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicate: Option<String>,
    /// Markers that must be open on the thread.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<String>,
    /// Markers that must not be open on the thread.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_under: Vec<String>,
    /// Clients that get its marks; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subscribers: Vec<String>,
}

impl Marker {
    /// Whether its places are methods that were chosen for the lens `methods`.
    pub fn is_of_calls(&self) -> bool {
        self.is_of(CALLS)
    }

    /// Whether its places are allocations in code that was chosen for the lens `alloc`.
    pub fn is_of_objects(&self) -> bool {
        self.is_of(OBJECTS)
    }

    /// Whether its places are exceptions in code that was chosen for the lens `exceptions`.
    pub fn is_of_exceptions(&self) -> bool {
        self.is_of(EXCEPTIONS)
    }

    /// Whether its regions are what `explain-call` was asked for, or are told of within these.
    pub fn is_of_explained(&self) -> bool {
        [EXPLAINED, WITHIN].contains(&&*self.token) && self.is_for(EXPLAINED)
    }

    /// Whether a client that asks gets its marks.
    pub fn is_told_to(&self, client: &str) -> bool {
        self.subscribers.is_empty() || self.is_for(client)
    }

    fn is_of(&self, client: &str) -> bool {
        self.token == client && self.is_for(client)
    }

    fn is_for(&self, client: &str) -> bool {
        self.subscribers.iter().any(|subscriber| subscriber == client)
    }
}

/// The client of chosen methods, and the token of their marker. No user names it.
pub const CALLS: &str = "calls";

/// The client of calls whose costs are asked for, and the token of their marker. No user names it.
pub const EXPLAINED: &str = "explained";

/// The token of the marker of what is told of within these calls.
pub const WITHIN: &str = "within";

/// The client of allocations in chosen code, and the token of their marker. No user names it, either.
pub const OBJECTS: &str = "objects";

/// The client of exceptions in chosen code, and the token of their marker. No user names it, either.
pub const EXCEPTIONS: &str = "exceptions";

/// What is woven. Numbers of markers come first; symbols of the properties follow, property by property.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The markers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub markers: Vec<Marker>,
    /// The properties.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub properties: Vec<Property>,
}

/// What a number of a [`PlaceDefinition`] stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The marker with this index.
    Marker(usize),
    /// A symbol of a property, by their indices.
    Symbol {
        /// The property.
        property: usize,
        /// The symbol of its machine.
        symbol: u8,
    },
}

impl Asked {
    /// What a number of a marker or symbol stands for.
    pub fn meaning(&self, number: u32) -> Option<Meaning> {
        let mut rest = usize::try_from(number).ok()?;
        if rest < self.markers.len() {
            return Some(Meaning::Marker(rest));
        }
        rest -= self.markers.len();
        for (property, of) in self.properties.iter().enumerate() {
            let symbols = of.machine.symbols.len();
            if rest < symbols {
                return Some(Meaning::Symbol { property, symbol: u8::try_from(rest).ok()? });
            }
            rest -= symbols;
        }
        None
    }
}

/// Markers that are switched together, because one asks where marks lie relative to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switched {
    /// What the governor calls them.
    pub name: String,
    /// Their indices.
    pub markers: Vec<usize>,
}

impl Asked {
    /// All markers, in groups that are on and off together: what is inside of a region that is not told, or is not, would be
    /// decided wrongly.
    pub fn switched(&self) -> Vec<Switched> {
        let mut group: Vec<usize> = (0..self.markers.len()).collect();
        for (index, marker) in self.markers.iter().enumerate() {
            for name in marker.inside.iter().chain(&marker.not_under) {
                if let Some(asked) = self.markers.iter().position(|other| other.name == *name) {
                    let (from, to) = (group[asked].max(group[index]), group[asked].min(group[index]));
                    group.iter_mut().filter(|of| **of == from).for_each(|of| *of = to);
                }
            }
        }
        let members = |of: usize| (0..group.len()).filter(|index| group[*index] == of).collect::<Vec<_>>();
        let lists = (0..group.len()).map(members).filter(|markers| !markers.is_empty());
        lists
            .map(|markers| {
                let names: Vec<&str> = markers.iter().map(|index| self.markers[*index].name.as_str()).collect();
                let word = if names.len() == 1 { "marker" } else { "markers" };
                Switched { name: format!("{word} {}", names.join(", ")), markers }
            })
            .collect()
    }

    /// What the governor calls a property.
    pub fn property_name(&self, index: usize) -> String {
        format!("property {}", self.properties.get(index).map_or("", |property| property.name.as_str()))
    }
}

/// What came of weaving, or of restoring.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Woven {
    /// Classes that got new bytecode.
    pub classes: u64,
    /// Methods with at least one place.
    pub methods: u64,
    /// How long it took, in nanoseconds.
    pub took_ns: u64,
    /// The longest that one step of it took: classes are exchanged in steps, and the JVM stands still for a part of each.
    pub longest_step_ns: u64,
    /// What was left as it was, of the first [`crate::mark::MAX_SKIPPED`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
    /// How many were left as they were.
    pub skipped_count: u64,
    /// Methods that were running when their classes were about to be exchanged, those with most frames.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub running: Vec<Running>,
    /// How many there were.
    #[serde(default)]
    pub running_count: u64,
    /// What became of the code that was compiled before; nothing where that is not asked, as when classes are restored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_before: Option<CodeBefore>,
}

impl Woven {
    /// What a reader must know of methods that were running.
    pub fn still_running(&self, what: &str) -> Option<String> {
        let name = |of: &Running| match of.times {
            1 => format!("{}::{}", of.class, of.method),
            times => format!("{}::{} ({times} frames)", of.class, of.method),
        };
        let mut names: Vec<String> = self.running.iter().take(NAMED_RUNNING).map(name).collect();
        let further = self.running_count.saturating_sub(names.len() as u64);
        if further > 0 {
            names.push(format!("{further} further"));
        }
        (!names.is_empty()).then(|| {
            format!(
                "When {what} began, these methods of the exchanged classes were running: {}. Until they return they go on in the \
                 interpreter, as the JVM compiles no old version of a class: a loop in one of them is several times as slow.",
                names.join(", ")
            )
        })
    }
}

/// Methods that [`Woven::still_running`] names.
const NAMED_RUNNING: usize = 5;

/// Most entries of [`Woven::skipped`].
pub const MAX_SKIPPED: usize = 1000;

/// One element of the flow that is about the library in the JVM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Inside {
    /// First.
    Asked(Asked),
    /// A place that has been woven; before the first mark from there.
    Place(PlaceDefinition),
    /// An object's number stands for a class; before the first object of that class.
    Class {
        /// The number.
        number: u32,
        /// Class, as Java writes it.
        name: String,
    },
    /// Classes were woven.
    Woven(Woven),
    /// Markers were taken out of the code of these classes, while the session went on.
    Unwoven(Woven),
    /// Everything was restored.
    Restored(Woven),
    /// How large objects of a class are, where some are made at a place; nothing where loaded classes of this name differ.
    Size {
        /// Class, as Java writes it.
        class: String,
        /// Bytes of one.
        bytes: Option<u64>,
    },
    /// Not all objects of a class are tracked; replaces what was said of it before.
    Sampled(Sampled),
    /// What the library could not tell, as a sentence.
    Lacks(String),
}

impl Inside {
    /// About what it takes in memory.
    pub fn bytes(&self) -> usize {
        let texts = match self {
            Self::Place(place) => {
                let made = place.made.as_ref().map_or(0, |made| made.class.len());
                place.class.len() + place.method.len() + place.descriptor.len() + made
            }
            Self::Class { name, .. } | Self::Size { class: name, .. } => name.len(),
            Self::Lacks(what) => what.len(),
            Self::Unwoven(woven) | Self::Woven(woven) | Self::Restored(woven) => {
                let skipped = woven.skipped.iter().map(|skipped| skipped.class.len() + skipped.reason.len() + 100);
                let running = woven.running.iter().map(|running| running.class.len() + running.descriptor.len() + 100);
                skipped.chain(running).sum()
            }
            Self::Asked(_) | Self::Sampled(_) => 0,
        };
        size_of::<Self>() + texts
    }
}

#[cfg(test)]
mod tests;
