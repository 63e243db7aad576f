//! The types of the file: events, what they refer to, and the annotations that say what a number means.
//!
//! Names and fields of `jdk.*` are the JDK's own, so that its tools know them. What events refer to has just the JDK's fields, in its
//! order: some readers take them by their places. Of an event, a field that jtrace cannot know is not
//! there: a reader then sees no value, where a 0 would be one. Where the JDK's ready questions (`jfr view`) name such
//! a field, it is a text that is absent, or a duration of the smallest number, which they show as not known.

mod events;
mod shared;

pub(super) use self::events::EVENTS;

/// A type, by its number in the file. 0 and 1 are the format's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u16)]
pub(super) enum Type {
    // What numbers and texts are.
    Boolean = 2,
    Int,
    Long,
    Text,
    Byte,
    Char,
    Double,
    Float,
    Short,
    // Annotations.
    Label,
    Category,
    Description,
    Timestamp,
    Timespan,
    DataAmount,
    MemoryAddress,
    Content,
    // What events refer to.
    Class,
    ClassLoader,
    Thread,
    Symbol,
    Package,
    Method,
    StackTrace,
    StackFrame,
    FrameKind,
    ThreadState,
    GcName,
    GcCause,
    GcWhen,
    VmOperation,
    Compiler,
    // Events.
    ExecutionSample,
    JavaMonitorEnter,
    JavaMonitorWait,
    JavaMonitorNotify,
    ThreadPark,
    ThreadSleep,
    ThreadStart,
    ThreadEnd,
    GarbageCollection,
    GcPhasePause,
    YoungGarbageCollection,
    OldGarbageCollection,
    GcHeapSummary,
    SafepointBegin,
    SafepointStateSynchronization,
    SafepointEnd,
    ExecuteVmOperation,
    ObjectAllocationSample,
    ClassLoad,
    ClassUnload,
    Compilation,
    JavaExceptionThrow,
    Shutdown,
    JvmInformation,
    ActiveRecording,
    ActiveSetting,
    OffCpu,
    MemoryPool,
    VmOperationRequest,
    ObjectAllocation,
    MethodEntry,
    MethodReturn,
    MethodCall,
    JniCall,
    JniCriticalSection,
    Finding,
    Completeness,
    Site,
    Missing,
    // Without events: questions that readers ask name them beside others.
    GcPhasePauseLevel1,
    GcPhasePauseLevel2,
    GcPhasePauseLevel3,
    GcPhasePauseLevel4,
    JavaErrorThrow,
    SocketRead,
    SocketWrite,
    FileRead,
    FileWrite,
}

impl Type {
    /// Its number.
    pub(super) const fn id(self) -> u64 {
        self as u64
    }

    /// What it is, where it is an event.
    pub(super) fn event(self) -> &'static EventType {
        // In the order of their numbers, which a test checks.
        &EVENTS[usize::from(self as u16).saturating_sub(usize::from(Self::ExecutionSample as u16))]
    }
}

/// What a number means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// Nothing more than its type says.
    Plain,
    /// A moment, in ticks.
    Moment,
    /// A duration, in ticks.
    Ticks,
    /// A duration.
    Nanoseconds,
    /// A duration.
    Milliseconds,
    /// A moment, in milliseconds since the epoch.
    SinceEpoch,
    /// Memory.
    Bytes,
    /// A place in memory.
    Address,
}

/// A field of a type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) of: Type,
    pub(super) unit: Unit,
    /// Whether there are several.
    pub(super) is_array: bool,
}

impl Field {
    pub(super) const fn new(name: &'static str, label: &'static str, of: Type) -> Self {
        Self { name, label, of, unit: Unit::Plain, is_array: false }
    }

    const fn number(name: &'static str, label: &'static str, unit: Unit) -> Self {
        Self { name, label, of: Type::Long, unit, is_array: false }
    }

    const fn array(self) -> Self {
        Self { is_array: true, ..self }
    }

    /// Whether the value is a key of a pool.
    pub(super) fn is_pooled(&self) -> bool {
        POOLED.iter().any(|(of, ..)| *of == self.of)
    }
}

/// Which frames of a stack an event has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Part {
    /// All, those of the kernel and of machine code too.
    Whole,
    /// Those of Java methods, as the JDK's own events have them.
    Java,
    /// The same without what writes the stack trace into a new exception: the JDK's event comes before that.
    Thrown,
}

/// A type of events. Each begins with its time; after that come those fields that it says here, in this order.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventType {
    pub(super) of: Type,
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) category: &'static [&'static str],
    pub(super) lasts: bool,
    pub(super) thread: bool,
    pub(super) stack: Option<Part>,
    pub(super) fields: &'static [Field],
}

/// Of classes and methods; not known.
const MODIFIERS: Field = Field::new("modifiers", "Access Modifiers", Type::Int);
const HIDDEN: Field = Field::new("hidden", "Hidden", Type::Boolean);

/// Types whose values stand in a pool: number, name, label, whether a reader may take the value for its only field,
/// and fields.
pub(super) const POOLED: &[(Type, &str, &str, bool, &[Field])] = &[
    (
        Type::Class,
        "java.lang.Class",
        "Java Class",
        false,
        &[
            Field::new("classLoader", "Class Loader", Type::ClassLoader),
            Field::new("name", "Name", Type::Symbol),
            Field::new("package", "Package", Type::Package),
            MODIFIERS,
            HIDDEN,
        ],
    ),
    (
        Type::ClassLoader,
        "jdk.types.ClassLoader",
        "Java Class Loader",
        false,
        &[Field::new("type", "Type", Type::Class), Field::new("name", "Name", Type::Symbol)],
    ),
    (
        Type::Thread,
        "java.lang.Thread",
        "Thread",
        false,
        &[
            Field::new("osName", "OS Thread Name", Type::Text),
            Field::new("osThreadId", "OS Thread Id", Type::Long),
            Field::new("javaName", "Java Thread Name", Type::Text),
            Field::new("javaThreadId", "Java Thread Id", Type::Long),
        ],
    ),
    (Type::Symbol, "jdk.types.Symbol", "Symbol", true, &[Field::new("string", "String", Type::Text)]),
    (Type::Package, "jdk.types.Package", "Package", false, &[Field::new("name", "Name", Type::Symbol)]),
    (
        Type::Method,
        "jdk.types.Method",
        "Java Method",
        false,
        &[
            Field::new("type", "Type", Type::Class),
            Field::new("name", "Name", Type::Symbol),
            Field::new("descriptor", "Descriptor", Type::Symbol),
            MODIFIERS,
            HIDDEN,
        ],
    ),
    (
        Type::StackTrace,
        "jdk.types.StackTrace",
        "Stacktrace",
        false,
        &[
            Field::new("truncated", "Truncated", Type::Boolean),
            Field::new("frames", "Stack Frames", Type::StackFrame).array(),
        ],
    ),
    (
        Type::FrameKind,
        "jdk.types.FrameType",
        "Frame type",
        true,
        &[Field::new("description", "Description", Type::Text)],
    ),
    (Type::ThreadState, "jdk.types.ThreadState", "Java Thread State", true, &[Field::new("name", "Name", Type::Text)]),
    (Type::GcName, "jdk.types.GCName", "GC Name", true, &[Field::new("name", "Name", Type::Text)]),
    (Type::GcCause, "jdk.types.GCCause", "GC Cause", true, &[Field::new("cause", "Cause", Type::Text)]),
    (Type::GcWhen, "jdk.types.GCWhen", "GC When", true, &[Field::new("when", "When", Type::Text)]),
    (
        Type::VmOperation,
        "jdk.types.VMOperationType",
        "VM Operation Type",
        true,
        &[Field::new("type", "Type", Type::Text)],
    ),
    (
        Type::Compiler,
        "jdk.types.CompilerType",
        "Compiler Type",
        true,
        &[Field::new("compiler", "Compiler", Type::Text)],
    ),
];

/// A frame stands in its stack and in no pool.
pub(super) const STACK_FRAME: (Type, &str, &[Field]) = (
    Type::StackFrame,
    "jdk.types.StackFrame",
    &[
        Field::new("method", "Java Method", Type::Method),
        Field::new("lineNumber", "Line Number", Type::Int),
        Field::new("bytecodeIndex", "Bytecode Index", Type::Int),
        Field::new("type", "Frame Type", Type::FrameKind),
    ],
);

/// Numbers and texts: all that the JDK's files declare. Pyroscope's parser refuses files without some of those that no field has.
pub(super) const PLAIN: [(Type, &str); 9] = [
    (Type::Boolean, "boolean"),
    (Type::Byte, "byte"),
    (Type::Char, "char"),
    (Type::Double, "double"),
    (Type::Float, "float"),
    (Type::Int, "int"),
    (Type::Long, "long"),
    (Type::Short, "short"),
    (Type::Text, "java.lang.String"),
];

/// Annotations: number, name, whether they have a text, whether that is several, and whether they say what a number
/// means.
pub(super) const ANNOTATIONS: [(Type, &str, bool, bool, bool); 8] = [
    (Type::Label, "jdk.jfr.Label", true, false, false),
    (Type::Category, "jdk.jfr.Category", true, true, false),
    (Type::Description, "jdk.jfr.Description", true, false, false),
    (Type::Timestamp, "jdk.jfr.Timestamp", true, false, true),
    (Type::Timespan, "jdk.jfr.Timespan", true, false, true),
    (Type::DataAmount, "jdk.jfr.DataAmount", true, false, true),
    (Type::MemoryAddress, "jdk.jfr.MemoryAddress", false, false, true),
    (Type::Content, "jdk.jfr.ContentType", false, false, false),
];
