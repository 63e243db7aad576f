//! Weaving: a class file with calls of [`RECORDER`] at the places that rules name.

use crate::{PlaceDefinition, Rule, Skipped};

/// The class whose static methods woven code calls; the library in the JVM defines it for the bootstrap loader. Its methods,
/// by name and descriptor; `int` is always the number of the place:
///
/// | method | called |
/// |---|---|
/// | `point(I)V`, `point(ILjava/lang/Object;)V` | at a point; with the receiver |
/// | `enter(I)V`, `enter(ILjava/lang/Object;)V` | where a region begins |
/// | `exit(I)V`, `exit(ILjava/lang/Object;)V` | where a region ends |
/// | `thrown(I)V`, `thrown(ILjava/lang/Object;)V` | where an exception leaves a region |
/// | `symbol(ILjava/lang/Object;)V` | at a symbol; `null` in static methods |
/// | `argument(IIJ)V`, `argument(IID)V`, `argument(IILjava/lang/Object;)V` | behind `enter` or `point`: index and value of an argument |
pub const RECORDER: &str = "java/lang/JtraceMarks";

/// What came of a class file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Woven {
    /// The new class file; `None` where no rule named a place in it.
    pub class_file: Option<Vec<u8>>,
    /// Its places.
    pub places: Vec<PlaceDefinition>,
    /// What was left as it was, and why.
    pub skipped: Vec<Skipped>,
}

/// Why a class file cannot be woven.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is none, or has something that its reader does not know.
    #[error("the class file cannot be read: {0}")]
    Unreadable(String),
}

/// Weaves a class file. All rules are for this class; `next_place` gives numbers to places and says `None` when there are no more.
pub fn weave(class_file: &[u8], rules: &[&Rule], next_place: &mut dyn FnMut() -> Option<u32>) -> Result<Woven, Error> {
    let _ = (class_file, rules, next_place);
    Ok(Woven::default())
}
