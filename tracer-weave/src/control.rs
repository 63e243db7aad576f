//! What jtrace and its library in the JVM say to each other: messages as JSON, each behind its length.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{PlaceDefinition, Rule, Skipped};

/// Changes whenever the two sides would misunderstand each other.
pub const VERSION: u32 = 8;
/// Longest order.
pub const MAX_MESSAGE_BYTES: usize = 64 << 20;
/// Longest message of the library. Lists in them are cut so that they fit: whoever runs the JVM can write what he likes, and jtrace
/// makes room for it.
pub const MAX_TOLD_BYTES: usize = 4 << 20;
/// Most bytes of names in [`Told::Classes`]; JSON makes some of their letters longer.
pub const MAX_NAMES_BYTES: usize = MAX_TOLD_BYTES / 4;
/// Name of the variable of the library in which its end of the connection for jtrace stands, as the number of a file descriptor.
pub const PEER_SYMBOL: &str = "JTRACE_PEER";
/// Name of the variable that says whether a jtrace is there: 1, else 0.
pub const ACTIVE_SYMBOL: &str = "JTRACE_ACTIVE";

/// What jtrace asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// How many methods of loaded classes rules name; weaves nothing.
    Match(Vec<Rule>),
    /// Names of loaded classes.
    Classes,
    /// Weave these. The switches of all places are off.
    Weave {
        /// Markers and symbols.
        rules: Vec<Rule>,
        /// Automata of the properties.
        machines: Vec<MachineTable>,
        /// Property and symbol, by number of marker; markers are absent.
        symbols: Vec<(u32, u8, u8)>,
        /// What becomes of compiled code; where nothing is said, the JVM decides.
        compiled: Option<CompiledCode>,
    },
    /// Switches of markers and symbols: their number, and bits of `tracer_common::marks::switch`.
    Switch(Vec<(u32, u8)>),
    /// Halve the rate at which new objects of a property are tracked so often, from what it was at the beginning; 31: track none.
    Halve {
        /// Number of the property.
        property: u8,
        /// How often. Less than before changes nothing.
        level: u8,
    },
    /// Forget the objects of a property and switch its symbols off for good; nothing more is said of them.
    Forget {
        /// Number of the property.
        property: u8,
    },
    /// Switch markers or symbols off for good and take them out of the code: classes in which nothing else is woven get their original
    /// bytes back, others are woven anew with the rest. [`Told::Switched`] comes first, and [`Told::Unwoven`] when that is done.
    Unweave(Vec<u32>),
    /// Make a second connection for what is told of the heap; [`Told::Channel`] says where jtrace takes its end.
    Channel,
    /// Walk through the heap, and tell what is there through the second connection ([`crate::walk`]): [`Told::Walks`] is the answer, and
    /// [`Told::Walked`] comes when nothing of the walk is left in the JVM.
    Walk {
        /// Walk in the JVM itself, which stands still for it, and not in a copy.
        in_jvm: bool,
        /// Know objects by tags of JVMTI, and not by their addresses.
        by_tags: bool,
        /// Whether the JVM's numbers of methods are addresses of where the methods' addresses lie: up to JDK 24 they are.
        has_methods: bool,
        /// Tell what those arrays hold of which copies take most bytes.
        values: bool,
        /// How long it may take.
        limit_ms: u64,
        /// Most memory that the copy may ask for while it walks.
        limit_bytes: u64,
    },
    /// End the walk at once.
    EndWalk,
    /// Restore everything and go.
    Leave,
}

/// What becomes of compiled code when classes are exchanged.
///
/// The first exchange in a JVM throws all of it away, as HotSpot does not know what its compilers took in before anybody could exchange
/// classes ([`VM_RedefineClasses::flush_dependent_code`](https://github.com/openjdk/jdk17u/blob/jdk-17.0.9%2B9/src/hotspot/share/prims/jvmtiRedefineClasses.cpp)).
/// It leaves this out where one byte says that it knows. Up to JDK 21 it is 0 until the first exchange, and 1 from then on. What depends on
/// an exchanged class is found all the same, by the methods that code names (from JDK 13 on). Code that took in a short method without a trace
/// stays, and goes on without marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompiledCode {
    /// Address of `JvmtiExport::_all_dependencies_are_recorded` in this JVM.
    pub byte: u64,
    /// Keep what names no exchanged class; else all of it goes at the first exchange.
    pub keep: bool,
}

/// The state after an illegal symbol, as woven code numbers it.
pub const DEAD: u8 = 63;

/// The automaton of a property as woven code sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineTable {
    /// Number of the property, from 1 on.
    pub property: u8,
    /// Next states by symbol and state; [`DEAD`] is the state after an illegal symbol.
    pub next: Vec<Vec<u8>>,
    /// Whether an object may die in a state.
    pub may_end: Vec<bool>,
    /// Of how many objects one is tracked, from the beginning on.
    pub one_in: u32,
}

/// What the library says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    /// First: it is there.
    Ready {
        /// [`VERSION`] of its side.
        version: u32,
    },
    /// It cannot work, and is gone.
    Refused(String),
    /// Methods that rules name, in loaded classes.
    Matched {
        /// Of each rule.
        rules: Vec<Matched>,
        /// Of all together, each once.
        methods: u64,
        /// Methods of these classes in which threads go round that began with them, as in `main`: once exchanged, they go on in the
        /// interpreter until the thread ends.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        looping: Vec<Running>,
    },
    /// Names of loaded classes.
    Classes(Vec<String>),
    /// A place has been woven.
    Place(PlaceDefinition),
    /// A number stands for a class.
    Class {
        /// The number.
        number: u32,
        /// The class, as Java writes it.
        name: String,
    },
    /// An order to weave is done.
    Woven(Done),
    /// Objects of a class that were tracked for a property, and that were not: all so far.
    Sampled(Sampled),
    /// Switches are set, or what else changes what is told; what was told before has been handed over.
    Switched {
        /// When, by `CLOCK_MONOTONIC`.
        time_ns: u64,
    },
    /// Markers were taken out of the code of these classes.
    Unwoven(Done),
    /// The second connection is there: number of the descriptor that jtrace takes.
    Channel(i32),
    /// The JVM goes on, and a walk is under way or over.
    Walks(Walk),
    /// Nothing of a walk is left.
    Walked {
        /// Status of the copy as `wait` gives it; 0 also where there was no copy, or somebody else has waited for it.
        status: i32,
    },
    /// Everything is as it was; the last message.
    Left(Done),
    /// Something could not be told, as a sentence.
    Lacks(String),
}

/// A walk through the heap that has begun.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Walk {
    /// The copy, as the JVM sees its process id; 0: the walk was in the JVM.
    pub process: i32,
    /// Classes that were told.
    pub classes: u64,
    /// How long telling them took; the JVM went on meanwhile.
    pub classes_ns: u64,
    /// From asking the JVM until it was at a safepoint and had called back.
    pub reach_ns: u64,
    /// How long making the copy took.
    pub copy_ns: u64,
    /// From asking the JVM until it went on: no less than its threads stood still.
    pub pause_ns: u64,
}

/// Objects of a class of which not all are tracked for a property.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampled {
    /// Number of the property.
    pub property: u8,
    /// Number of the class.
    pub class: u32,
    /// Objects that were tracked.
    pub tracked: u64,
    /// Objects that were not, as far as that could be seen.
    pub not_tracked: u64,
    /// Of how many objects one is tracked now; 0: none.
    pub one_in: u64,
}

/// What a rule names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Matched {
    /// Classes with such methods.
    pub classes: u64,
    /// Methods.
    pub methods: u64,
    /// Some of the classes with such methods that cannot be exchanged.
    pub fixed: Vec<String>,
    /// Some of those that are never woven, because woven code needs them itself.
    pub needed: Vec<String>,
    /// Methods that compiled code may have taken in without a trace ([`crate::trace`]).
    pub untraced: u64,
    /// Some of them, as `Class::method`.
    pub untraced_named: Vec<String>,
}

/// Most classes of a kind that a [`Matched`] names.
pub const MAX_NAMED: usize = 8;

/// Why a class is never woven.
pub const NEEDED: &str = "woven code needs this class itself";

/// What came of weaving or restoring.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    /// Classes that were exchanged.
    pub classes: u64,
    /// Methods with places.
    pub methods: u64,
    /// How long it took.
    pub took_ns: u64,
    /// The longest step.
    pub longest_step_ns: u64,
    /// What was left as it was.
    pub skipped: Vec<Skipped>,
    /// How many were left as they were.
    pub skipped_count: u64,
    /// Methods of these classes that were running just before, those with most frames: at most [`MAX_RUNNING`].
    pub running: Vec<Running>,
    /// How many there were.
    pub running_count: u64,
    /// Other methods that were running: those of classes that nobody asked about, and old versions of those that somebody did.
    pub unnamed: Vec<Unnamed>,
}

/// From this release on the JVM numbers methods, and a number whose method is gone leads to nothing. Before, what stands for a method is
/// the address of where the method's address lies.
pub const NUMBERED_METHODS: u32 = 25;
/// Most methods that are named because they were running.
pub const MAX_RUNNING: usize = 20;
/// Most threads that are looked at whether they go round in their first method.
pub const MAX_LOOPING: usize = 64;
/// Most entries of [`Done::unnamed`], those with most frames.
pub const MAX_UNNAMED: usize = 8192;

/// A running method that the library does not name.
///
/// A JVM frees the old version of a method once no frame of it is left, and up to 11.0.22, 17.0.10 and 21.0.2 what stands for the
/// method leads to freed memory then ([JDK-8313816](https://bugs.openjdk.org/browse/JDK-8313816)): asked for its name, such a JVM
/// ends. So it is not asked. jtrace reads the name from outside, where a wrong address is an error and no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unnamed {
    /// Where it lay in the JVM's memory.
    pub address: u64,
    /// Frames of it, of all threads.
    pub times: u64,
}

/// A method that was running when its class was about to be exchanged. JVMs compile no old version of a class: it goes on in the
/// interpreter until it returns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Running {
    /// Class, as Java writes it.
    pub class: String,
    /// Name of the method.
    pub method: String,
    /// Its descriptor.
    pub descriptor: String,
    /// Frames of it, of all threads.
    pub times: u64,
}

/// Writes a message.
pub fn write(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_vec(message)?;
    let length = u32::try_from(text.len()).map_err(|_| io::Error::other("a message is too long"))?;
    to.write_all(&[&length.to_le_bytes()[..], &text].concat())
}

/// Reads a message; what is no message is an error.
pub fn read<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
    if length > MAX_MESSAGE_BYTES {
        return Err(io::Error::other(format!("a message of {length} bytes")));
    }
    let mut text = Vec::new();
    // Grows with what is really there, not with what a length claims.
    from.take(length as u64).read_to_end(&mut text)?;
    if text.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    serde_json::from_slice(&text).map_err(io::Error::other)
}
