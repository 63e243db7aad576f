//! What events say that is one of few, or belongs together.

use super::NameId;

/// Beginning or end of something that has both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Edge {
    Begin,
    End,
}

/// A compiled or interpreted method, by the names of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MethodName {
    /// Binary name of the class with slashes (`java/util/Map`).
    pub class: NameId,
    /// Name of the method.
    pub method: NameId,
    /// Descriptor (`(I)V`).
    pub signature: NameId,
}

/// What a pause is of its collection, where a recorder says so that does not tell of VM operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum PauseStep {
    /// Nobody says so: the VM operation around it tells.
    #[default]
    Unsaid = 0,
    /// A collection of young objects.
    Young = 1,
    /// A collection of its own, of the whole heap or of a kind that is not known.
    Whole = 2,
    /// The first pause of a cycle beside the program.
    Cycle = 3,
    /// A later pause of a collection that was counted with its first.
    Continues = 4,
    /// A pause of G1's marking, which collects nothing by itself.
    Marking = 5,
}

impl PauseStep {
    /// The step with this number.
    pub const fn from_number(number: u8) -> Self {
        match number {
            1 => Self::Young,
            2 => Self::Whole,
            3 => Self::Cycle,
            4 => Self::Continues,
            5 => Self::Marking,
            _ => Self::Unsaid,
        }
    }
}

/// What a step in the initialisation of a class was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClassInit {
    /// Initialisation is required and begins.
    Required,
    /// Requested by the thread that is running it already.
    Recursive,
    /// The class is in error from an earlier attempt.
    Erroneous,
    /// Another thread ran it meanwhile.
    Concurrent,
    /// The superclass could not be initialised.
    SuperFailed,
    /// The initialiser is called.
    Clinit,
    /// The initialiser threw an exception.
    Error,
    /// Done.
    End,
}
