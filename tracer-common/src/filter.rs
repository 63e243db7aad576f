//! A predicate as the kernel evaluates it: a decision graph over a few numbers of an event.
//!
//! Names are not compared here. User space looks at each method, class and thread once and gives it a mask with a bit for
//! every condition on its name; the graph tests bits, and numbers that only the event has.

/// Most nodes of a graph.
pub const MAX_NODES: usize = 32;
/// Most conditions on the names of one thing: the bits of a mask.
pub const MAX_ATOMS: usize = 64;
/// Most counters of events that a graph can use.
pub const MAX_TALLIES: usize = 8;

/// Number of graphs that the programs have: [`WHOLE_GRAPH`] and [`ENTRY_GRAPH`].
pub const GRAPHS: usize = 2;
/// Index of the graph that decides.
pub const WHOLE_GRAPH: u32 = 0;
/// Index of the graph that is asked at entry where the other one is asked at return. What it rejects, that one would reject
/// as well, and count nowhere.
pub const ENTRY_GRAPH: u32 = 1;

/// [`Node::yes`] or [`Node::no`]: the event is wanted.
pub const ACCEPT: u8 = 0xff;
/// [`Node::yes`] or [`Node::no`]: it is not.
pub const REJECT: u8 = 0xfe;

/// A number that a node looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Input {
    /// Mask of the method, or of the class whose object is made.
    Subject = 0,
    /// Mask of the calling method.
    Caller = 1,
    /// Mask of the thread.
    Thread = 2,
    /// Thread id in the kernel's initial pid namespace.
    Tid = 3,
    /// CPU.
    Cpu = 4,
    /// Bytes of the object.
    Size = 5,
    /// Nanoseconds between entry and return.
    Duration = 6,
    /// Calls of chosen methods below which the event lies, itself included.
    Depth = 7,
    /// 32 random bits.
    Random = 8,
    /// How many events came to this node, this one included; [`Node::tally`] says which counter.
    Tally = 9,
}

/// Number of [`Input`]s that are given to a graph; tallies it counts itself.
pub const INPUTS: usize = Input::Tally as usize;

/// What a node asks of its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Test {
    /// Whether one of the value's bits is set.
    AnyBit = 0,
    /// Whether it is the value.
    Equal = 1,
    /// Whether it is below the value.
    Less = 2,
    /// Whether the value divides it; no number is divided by 0.
    Multiple = 3,
}

/// One question, and where to go for either answer: to a later node, [`ACCEPT`] or [`REJECT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Node {
    /// [`Input`] as a number.
    pub input: u8,
    /// [`Test`] as a number.
    pub test: u8,
    /// Where to go if so.
    pub yes: u8,
    /// Where to go if not.
    pub no: u8,
    /// Index of the counter of [`Input::Tally`].
    pub tally: u8,
    /// Explicit padding: the struct is copied as bytes.
    pub reserved: [u8; 3],
    /// What the input is compared with.
    pub value: u64,
}

impl Node {
    /// A node that rejects; fills the unused end of a graph.
    pub const REJECTING: Self =
        Self { input: 0, test: 0, yes: REJECT, no: REJECT, tally: 0, reserved: [0; 3], value: 0 };
}

/// A predicate's graph; evaluation begins at its first node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Filter {
    /// The nodes.
    pub nodes: [Node; MAX_NODES],
    /// Where evaluation begins: a node, [`ACCEPT`] where everything is wanted, or [`REJECT`].
    pub start: u8,
    /// Explicit padding: the struct is copied as bytes.
    pub reserved: [u8; 7],
}

impl Filter {
    /// Wants everything.
    pub const ALL: Self = Self { nodes: [Node::REJECTING; MAX_NODES], start: ACCEPT, reserved: [0; 7] };
}

/// Whether the event is wanted whose numbers these are; `tally` counts one event in the counter and says how many it has.
///
/// It ends after [`MAX_NODES`] steps and rejects what is no graph, so it can run in the kernel as it stands.
#[inline]
pub fn evaluate(filter: &Filter, inputs: &[u64; INPUTS], mut tally: impl FnMut(u8) -> u64) -> bool {
    let mut at = filter.start;
    for _ in 0..MAX_NODES {
        let Some(node) = filter.nodes.get(usize::from(at)) else { break };
        let number = match inputs.get(usize::from(node.input)) {
            Some(number) => *number,
            None if node.input == Input::Tally as u8 => tally(node.tally),
            None => return false,
        };
        let holds = match node.test {
            test if test == Test::AnyBit as u8 => number & node.value != 0,
            test if test == Test::Equal as u8 => number == node.value,
            test if test == Test::Less as u8 => number < node.value,
            test if test == Test::Multiple as u8 => matches!(number.checked_rem(node.value), Some(0)),
            _ => return false,
        };
        at = if holds { node.yes } else { node.no };
    }
    at == ACCEPT
}

/// What jtrace's own test asks the kernel's graph about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Asked {
    /// What the graph is given.
    pub inputs: [u64; INPUTS],
    /// How many events each counter has counted before.
    pub tallies: [u64; MAX_TALLIES],
}

/// What the kernel makes of an [`Asked`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Answer {
    /// Answers so far, this one included.
    pub number: u64,
    /// 1 if the event is wanted, else 0.
    pub wanted: u64,
    /// How many events each counter has counted now.
    pub tallies: [u64; MAX_TALLIES],
}

const _: () = assert!(size_of::<Node>() == 16 && size_of::<Filter>() == 16 * MAX_NODES + 8);
const _: () = assert!(size_of::<Asked>() == 8 * (INPUTS + MAX_TALLIES) && size_of::<Answer>() == 8 * (2 + MAX_TALLIES));
