//! What can be asked of an event, or of an object of a heap: the fields, their types, and which kind has them.

use std::fmt;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A method begins.
    MethodEntry,
    /// A method ends: what was so at its beginning is still known, and how long it took.
    MethodReturn,
    /// An object is made.
    Allocation,
    /// Native code calls a function of the JVM.
    Jni,
    /// Woven code passes a point.
    Point,
    /// Woven code enters and leaves a region: how long it takes is known at its end.
    Region,
    /// No event: an object that is in a snapshot of a heap.
    HeapObject,
}

impl Kind {
    /// All kinds on which the kernel can decide. Marks come many at a time, and are decided one by one in user space.
    pub const ALL: [Self; 4] = [Self::MethodEntry, Self::MethodReturn, Self::Allocation, Self::Jni];

    /// Whether such an event has the field.
    pub const fn has(self, field: Field) -> bool {
        match field {
            Field::Class | Field::Package => !matches!(self, Self::Jni),
            Field::Method => !matches!(self, Self::Allocation | Self::HeapObject),
            Field::Signature => !matches!(self, Self::Allocation | Self::Jni | Self::HeapObject),
            Field::Size => matches!(self, Self::Allocation | Self::HeapObject),
            Field::Duration => matches!(self, Self::MethodReturn | Self::Jni | Self::Region),
            Field::Daemon | Field::Caller | Field::CallerClass | Field::CallerMethod | Field::Cpu => {
                !self.is_mark() && !self.is_of_heap()
            }
            Field::Tid | Field::Line => !self.is_of_heap(),
            Field::Thread | Field::Depth => true,
            Field::Retained
            | Field::Length
            | Field::References
            | Field::Referrers
            | Field::Copies
            | Field::FieldName
            | Field::Holder
            | Field::Loader
            | Field::Root => self.is_of_heap(),
        }
    }

    /// Whether it is no event, but an object of a snapshot.
    pub const fn is_of_heap(self) -> bool {
        matches!(self, Self::HeapObject)
    }

    /// Whether it comes from woven code.
    pub const fn is_mark(self) -> bool {
        matches!(self, Self::Point | Self::Region)
    }

    /// What to ask instead of a field that it does not have.
    pub(super) const fn instead_of(self, field: Field) -> Option<&'static str> {
        match (self, field) {
            (Self::Allocation, Field::Method) => Some("caller.method is the method that allocates"),
            (Self::Allocation, Field::Signature) => Some("caller is the method that allocates"),
            (Self::Allocation, Field::Duration) => Some("size is what an allocation takes"),
            (Self::Jni, Field::Class | Field::Package) => Some("caller.class is the class that calls the function"),
            (Self::Jni, Field::Signature) => Some("method is the name of the JNI function"),
            (Self::Point, Field::Duration) => Some("only regions take time"),
            (Self::Point | Self::Region, Field::Caller | Field::CallerClass | Field::CallerMethod) => {
                Some("`inside` names the markers under which it must lie")
            }
            (Self::Point | Self::Region, Field::Daemon) => Some("thread is the name of its thread"),
            (Self::Point | Self::Region, Field::Cpu) => {
                Some("a batch of marks is from several moments; tid is known of all")
            }
            (Self::MethodEntry, Field::Duration) => Some("how long it takes is known when it returns"),
            (
                Self::HeapObject,
                Field::Method | Field::Caller | Field::CallerClass | Field::CallerMethod | Field::Line,
            ) => Some("a snapshot does not tell where objects were made: `jtrace alloc PID` does"),
            (Self::HeapObject, Field::Duration) => Some("`jtrace leaks PID` says what stays over a while"),
            (Self::HeapObject, Field::Tid | Field::Daemon) => Some("thread is the name of the thread that holds it"),
            (_, Field::Size) => Some("only allocations have a size"),
            (_, field) if Self::HeapObject.has(field) && !Self::Allocation.has(field) => {
                Some("objects of a snapshot have it: `jtrace heap PID --where PREDICATE`")
            }
            _ => None,
        }
    }

    /// What the things are called whose names can be asked for.
    pub const fn subjects(self) -> &'static str {
        match self {
            Self::MethodEntry | Self::MethodReturn | Self::Point | Self::Region => "methods",
            Self::Allocation | Self::HeapObject => "classes",
            Self::Jni => "JNI functions",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MethodEntry => "a method's entry",
            Self::MethodReturn => "a method's return",
            Self::Allocation => "an allocation",
            Self::Jni => "a JNI call",
            Self::Point => "a point",
            Self::Region => "a region",
            Self::HeapObject => "an object of a heap",
        })
    }
}

/// What a field holds, and so what it can be compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A name.
    Text,
    /// Yes or no.
    Flag,
    /// A number without a unit.
    Number,
    /// Bytes.
    Bytes,
    /// Nanoseconds.
    Time,
}

/// Whose names a field is about; for each thing they are looked at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Whose {
    /// The method, the class of the new object, or the JNI function.
    Subject,
    /// The calling method.
    Caller,
    /// The thread.
    Thread,
}

/// A field of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// The class that declares the method, or of the new object.
    Class,
    /// The method's name; of a JNI call the function's.
    Method,
    /// The method's descriptor: `(I)V`.
    Signature,
    /// What stands before the class's last dot.
    Package,
    /// The thread's name.
    Thread,
    /// The thread's number, as the kernel counts them outside of containers.
    Tid,
    /// Whether the JVM ends without waiting for the thread.
    Daemon,
    /// Bytes of the new object.
    Size,
    /// Time between entry and return.
    Duration,
    /// Calls of chosen methods below which the event lies, itself included.
    Depth,
    /// The calling method: class, dot, name.
    Caller,
    /// Its class.
    CallerClass,
    /// Its name.
    CallerMethod,
    /// The line of the call.
    Line,
    /// The CPU.
    Cpu,
    /// Bytes that would be freed with the object.
    Retained,
    /// Elements of an array.
    Length,
    /// References that it has.
    References,
    /// References that lead to it.
    Referrers,
    /// Arrays of numbers, or boxed numbers, that hold what it holds, itself included.
    Copies,
    /// The name of a field that leads to it: there can be several, or none.
    FieldName,
    /// The class of an object that is on every way to it: likewise.
    Holder,
    /// The class of its class's loader.
    Loader,
    /// The kind of the root at the beginning of the shortest way to it.
    Root,
}

impl Field {
    /// All fields, in the order in which they are listed.
    pub const ALL: [Self; 24] = [
        Self::Class,
        Self::Method,
        Self::Signature,
        Self::Package,
        Self::Thread,
        Self::Tid,
        Self::Daemon,
        Self::Size,
        Self::Duration,
        Self::Depth,
        Self::Caller,
        Self::CallerClass,
        Self::CallerMethod,
        Self::Line,
        Self::Cpu,
        Self::Retained,
        Self::Length,
        Self::References,
        Self::Referrers,
        Self::Copies,
        Self::FieldName,
        Self::Holder,
        Self::Loader,
        Self::Root,
    ];

    /// Its name in a predicate.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Class => "class",
            Self::Method => "method",
            Self::Signature => "signature",
            Self::Package => "package",
            Self::Thread => "thread",
            Self::Tid => "tid",
            Self::Daemon => "daemon",
            Self::Size => "size",
            Self::Duration => "duration",
            Self::Depth => "depth",
            Self::Caller => "caller",
            Self::CallerClass => "caller.class",
            Self::CallerMethod => "caller.method",
            Self::Line => "line",
            Self::Cpu => "cpu",
            Self::Retained => "retained",
            Self::Length => "length",
            Self::References => "references",
            Self::Referrers => "referrers",
            Self::Copies => "copies",
            Self::FieldName => "field",
            Self::Holder => "holder",
            Self::Loader => "loader",
            Self::Root => "root",
        }
    }

    /// The field of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|field| field.name() == name)
    }

    /// What it holds.
    pub const fn holds(self) -> Type {
        match self {
            Self::Class
            | Self::Method
            | Self::Signature
            | Self::Package
            | Self::Thread
            | Self::Caller
            | Self::CallerClass
            | Self::CallerMethod
            | Self::FieldName
            | Self::Holder
            | Self::Loader
            | Self::Root => Type::Text,
            Self::Daemon => Type::Flag,
            Self::Tid
            | Self::Depth
            | Self::Line
            | Self::Cpu
            | Self::Length
            | Self::References
            | Self::Referrers
            | Self::Copies => Type::Number,
            Self::Size | Self::Retained => Type::Bytes,
            Self::Duration => Type::Time,
        }
    }

    /// Whose names it is about, if it is known of a thing before any event.
    pub const fn whose(self) -> Option<Whose> {
        match self {
            Self::Class | Self::Method | Self::Signature | Self::Package => Some(Whose::Subject),
            Self::Caller | Self::CallerClass | Self::CallerMethod => Some(Whose::Caller),
            Self::Thread | Self::Daemon => Some(Whose::Thread),
            // Of objects that are there nothing is known before.
            Self::Tid
            | Self::Size
            | Self::Duration
            | Self::Depth
            | Self::Line
            | Self::Cpu
            | Self::Retained
            | Self::Length
            | Self::References
            | Self::Referrers
            | Self::Copies
            | Self::FieldName
            | Self::Holder
            | Self::Loader
            | Self::Root => None,
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
