//! Where markers stand.

use serde::{Deserialize, Serialize};

use crate::{Pattern, handler::Use};

/// Which accesses of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// `getfield`, `getstatic`.
    Read,
    /// `putfield`, `putstatic`.
    Write,
    /// Both.
    Any,
}

/// A kind of place in a method.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// The method: entered when it is called (a constructor: after the constructor that it calls first), left when it
    /// returns or an exception leaves it.
    Method,
    /// Every loop: entered when control comes to it from outside, left when control leaves it. A point is at every
    /// iteration. That begins behind the test that the loop begins with, so `for (i = 0; i < 3; i++)` has three, and in a loop
    /// that begins with no test (`do`) at its beginning. Where one loop begins another at once (`for (;;) while (x) ..`), the
    /// two are one: bytecode does not tell them apart.
    Loop,
    /// A range of source lines, both included: entered when control comes to it from outside, left when control leaves it. A
    /// point is wherever control comes to it from outside.
    Lines {
        /// The first line.
        first: u32,
        /// The last line.
        last: u32,
    },
    /// Every basic block; a point at its start.
    Block,
    /// Every call of a method that is named by these patterns: entered before the call, left when it returns or an exception
    /// leaves it. A point is before the call.
    Call {
        /// Class that the call names.
        class: Pattern,
        /// Method that the call names.
        method: Pattern,
    },
    /// Every access of a field that is named by these patterns; a point before it.
    Field {
        /// Class that the access names.
        class: Pattern,
        /// The field.
        field: Pattern,
        /// Which accesses.
        access: Access,
    },
    /// Every instruction that makes an object, and every call that is seen to copy an array; a point behind it, once the object is there.
    /// It is told with what it has made, and of arrays how long they are.
    Allocation,
    /// Every instruction at which the method has an exception: one that it throws, that a call ends with, or that the JVM makes. A point
    /// where a handler takes the exception, or where it leaves the method. What one line does of one kind is one place.
    Exception,
}

/// Which ends of a place are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sides {
    /// One point.
    Point,
    /// Entry and exit; an exception that leaves the region is an exit, too.
    Region,
}

/// What is called at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A marker.
    Marker(Sides),
    /// A symbol of a property at the entry of a method.
    Entry,
    /// A symbol where the method returns.
    Return,
    /// A symbol where an exception leaves the method.
    Throw,
}

/// Methods by the patterns of their names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    /// Their classes, as Java writes them.
    pub class: Pattern,
    /// Their names.
    pub method: Pattern,
    /// Their descriptors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub descriptor: Option<Pattern>,
}

impl Named {
    /// Whether a method is among them.
    pub fn matches(&self, class: &str, name: &str, descriptor: &str) -> bool {
        self.class.matches(class)
            && self.method.matches(name)
            && self.descriptor.as_ref().is_none_or(|pattern| pattern.matches(descriptor))
    }
}

/// One wish: a marker or symbol, and where it is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "wishes that are independent of each other")]
pub struct Rule {
    /// Number of the marker or symbol.
    pub marker: u32,
    /// Class, as Java writes it (`java.util.ArrayList$Itr`).
    pub class: Pattern,
    /// Whether classes and interfaces below it are meant, too. Who asks for weaving decides that: see [`Rule::is_for`].
    #[serde(default)]
    pub subclasses: bool,
    /// Name of the method.
    pub method: Pattern,
    /// Its descriptor (`(Ljava/lang/String;)V`); a pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub descriptor: Option<Pattern>,
    /// Methods that are left out all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<Named>,
    /// Where in the method.
    pub place: Place,
    /// What is called there.
    pub kind: Kind,
    /// Whether the receiver is told. Static methods have none.
    #[serde(default)]
    pub receiver: bool,
    /// Whether the method's arguments are told, at entry: numbers, truth values, and the beginnings of `String`s.
    #[serde(default)]
    pub arguments: bool,
    /// Whether its marks are counted and never sent, so that nobody sees their order.
    #[serde(default)]
    pub counted: bool,
}

impl Rule {
    /// Whether it is for a class of this name, apart from its superclasses.
    pub fn is_for(&self, class: &str) -> bool {
        self.class.matches(class)
    }

    /// Whether it is for a method of a class that it is for.
    pub fn is_for_method(&self, class: &str, name: &str, descriptor: &str) -> bool {
        self.method.matches(name)
            && self.descriptor.as_ref().is_none_or(|pattern| pattern.matches(descriptor))
            && !self.except.iter().any(|named| named.matches(class, name, descriptor))
    }
}

/// A place that has been woven. Its number is what the woven code tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaceDefinition {
    /// Its number.
    pub id: u32,
    /// The marker or symbol.
    pub marker: u32,
    /// Class, as Java writes it.
    pub class: String,
    /// Name of the method.
    pub method: String,
    /// Its descriptor.
    pub descriptor: String,
    /// Index of the bytecode at which it begins, in the original method.
    pub bci: u16,
    /// Source line; `None` where the class has no table of lines.
    pub line: Option<u16>,
    /// What is made there, at a place of an allocation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<Made>,
    /// Which exceptions come there, at a place of exceptions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raised: Option<Raised>,
}

/// Exceptions of one origin, and where they go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Raised {
    /// What the method has them from.
    pub by: Raiser,
    /// What takes them; `None`: they leave the method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<ExceptionHandler>,
}

/// What a method has an exception from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Raiser {
    /// `athrow`.
    Throw,
    /// A call that it ended.
    Call,
    /// Another instruction, for which the JVM makes it.
    Instruction,
}

/// Code of a method that takes exceptions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExceptionHandler {
    /// Source line; `None` where the class has no table of lines.
    pub line: Option<u16>,
    /// What it does with them.
    pub does: Use,
}

/// What is made at a place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// Its class, as Java writes it (`int[][]`).
    pub class: String,
    /// By what.
    pub by: Maker,
}

/// What makes objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Maker {
    /// `new`.
    New,
    /// `newarray`, `anewarray`, and the array that `multianewarray` gives.
    Array,
    /// `multianewarray`: the arrays within that one.
    Inner,
    /// A call of `clone` of an array. Of arrays of references the class is the one that the code names; the object's may lie below it.
    Clone,
}

/// A method, or a whole class, that was left as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Class, as Java writes it.
    pub class: String,
    /// Name and descriptor of the method; `None`: the class.
    pub method: Option<(String, String)>,
    /// Why.
    pub reason: String,
}
