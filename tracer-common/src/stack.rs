//! Stacks as the kernel side writes them: frames by address, sent once as a definition, named by user space.
//!
//! A stack's id is a hash of its frames, so it never means two stacks; the same id may be defined twice.

/// [`crate::record::RecordHeader::kind`] of a stack's definition.
pub const KIND_STACK: u16 = 0xfffe;

/// Most frames of a stack; a deeper one is cut ([`StackEnd::TooDeep`]).
pub const MAX_FRAMES: usize = 1024;

/// Reserved stack id: nobody asked for a stack here.
pub const STACK_ABSENT: u64 = 0;
/// Reserved stack id: all of the CPU's room for unwinding was in use.
pub const STACK_BUSY: u64 = 1;
/// Reserved stack id: the thread has no registers of its own (a thread of the kernel).
pub const STACK_NO_REGISTERS: u64 = 2;
/// Ids below this one are reserved.
pub const STACK_FIRST: u64 = 16;

/// What follows the header of a stack's definition, before its frames (innermost first).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct StackHeader {
    /// The id.
    pub id: u64,
    /// Number of frames that follow.
    pub frames: u16,
    /// [`StackEnd`] as a number.
    pub end: u8,
    /// Always 0.
    pub reserved: [u8; 5],
    /// Where unwinding ended: the program counter of the frame that could not be passed, 0 at a root.
    pub end_pc: u64,
}

/// Bytes of a stack definition's two headers.
pub const STACK_HEADER_BYTES: usize = crate::record::HEADER_BYTES + size_of::<StackHeader>();

/// One frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct RawFrame {
    /// Bits 0 to 7: [`FrameKind`]; 8 to 15: [`FRAME_RETURN_ADDRESS`], [`FRAME_BYTECODE_POINTER`]; 16 to 31: bytecode index (interpreted; 0xffff:
    /// none); 32 to 63: `compile_id` (compiled), low bits of `ConstMethod* >> 3` (interpreted).
    pub tag: u64,
    /// Program counter, or `Method*` (interpreted).
    pub address: u64,
}

impl RawFrame {
    /// Whether a Java method runs there.
    pub const fn is_method(&self) -> bool {
        let kind = (self.tag & 0xff) as u8;
        kind == FrameKind::Interpreted as u8 || kind == FrameKind::Compiled as u8
    }
}

/// Flag in [`RawFrame::tag`]: the address follows a call, so the code that runs lies before it.
pub const FRAME_RETURN_ADDRESS: u64 = 1 << 8;
/// Flag in [`RawFrame::tag`] of an interpreted frame: bits 16 to 63 are the bytecode pointer itself (0: a native method). Its
/// method says which index that is, and a pointer outside of its bytecode that it is another method by now.
pub const FRAME_BYTECODE_POINTER: u64 = 1 << 9;
/// Bytecode index of an interpreted frame that has none.
pub const NO_BCI: u16 = 0xffff;

/// How a frame's code runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FrameKind {
    /// The kernel.
    Kernel = 1,
    /// Machine code of a file, or of the vdso.
    Native = 2,
    /// A method in the bytecode interpreter.
    Interpreted = 3,
    /// An `nmethod`: a compiled method with those inlined into it, or the wrapper of a native method.
    Compiled = 4,
    /// Any other code blob of the JVM: runtime stubs, adapters, the call stub, intrinsics.
    Stub = 5,
}

impl FrameKind {
    /// The kind with this number.
    pub const fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            1 => Self::Kernel,
            2 => Self::Native,
            3 => Self::Interpreted,
            4 => Self::Compiled,
            5 => Self::Stub,
            _ => return None,
        })
    }
}

macro_rules! stack_ends {
    ($($(#[$doc:meta])* $name:ident = $number:literal;)*) => {
        /// Why a stack ends where it ends. Numbers are part of the recording format.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum StackEnd { $($(#[$doc])* $name = $number,)* }

        impl StackEnd {
            /// Every reason, in the order of the numbers.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The reason with this number.
            pub const fn from_number(number: u8) -> Option<Self> {
                match number { $($number => Some(Self::$name),)* _ => None }
            }
        }
    };
}

stack_ends! {
    /// The thread's outermost frame was reached.
    Root = 1;
    /// There are more than [`MAX_FRAMES`] frames.
    TooDeep = 2;
    /// The code at the address belongs to no file and no code heap that is known.
    UnknownCode = 3;
    /// The address lies in a code heap, and no code blob is there.
    NoCodeBlob = 4;
    /// The file has no unwinding table for the address.
    NoTable = 5;
    /// The table's rule for the address is one that the kernel side does not follow.
    UnsupportedRule = 6;
    /// A word of the stack could not be read.
    UnreadableStack = 7;
    /// What should be an interpreter frame is none.
    BadInterpreterFrame = 8;
    /// The caller's frame would not lie above this one.
    NotRising = 9;
    /// The JVM's structures are not known, so Java frames cannot be passed.
    UnknownLayout = 10;
    /// Frames of a virtual thread that lie in the heap, which are not followed.
    InHeap = 11;
}

const _: () = assert!(size_of::<StackHeader>() == 24 && size_of::<RawFrame>() == 16);
