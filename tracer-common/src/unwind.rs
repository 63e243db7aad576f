//! What the kernel side must know to unwind a target: where its code lies, rules for machine code of files, and offsets in
//! HotSpot's structures.

/// How to get from a frame of machine code to its caller, in 32 bits.
///
/// Bits 0 to 2: [`RuleBase`]. Bits 3 to 17: the canonical frame address (CFA) minus that base, in words of 8 bytes. Bits 18
/// to 31: where the caller's rbp is saved, as words below the CFA; 0 where rbp still is the caller's. The return address
/// always lies in the word below the CFA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Rule(pub u32);

/// What the canonical frame address is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RuleBase {
    /// There is no rule for this code.
    None = 0,
    /// rsp.
    Rsp = 1,
    /// rbp.
    Rbp = 2,
    /// The outermost frame: there is no caller.
    Root = 3,
    /// The CFA is in memory this many words *below* rbp, and the caller's rbp where rbp points: a realigned stack.
    BelowRbpDeref = 4,
    /// A procedure linkage table's usual expression: rsp + 8, and 8 more in the upper part of each 16 bytes of code.
    Plt = 5,
    /// The frame of a signal handler: the interrupted registers lie above rsp, as the kernel puts them.
    Signal = 6,
    /// A rule of another form, which is not followed.
    Unsupported = 7,
}

impl Rule {
    /// No rule.
    pub const NONE: Self = Self(RuleBase::None as u32);
    /// The outermost frame.
    pub const ROOT: Self = Self(RuleBase::Root as u32);
    /// A rule that is not followed.
    pub const UNSUPPORTED: Self = Self(RuleBase::Unsupported as u32);
    /// See [`RuleBase::Plt`].
    pub const PLT: Self = Self(RuleBase::Plt as u32);
    /// See [`RuleBase::Signal`].
    pub const SIGNAL: Self = Self(RuleBase::Signal as u32);

    /// CFA = `base` + `cfa_words` * 8; the caller's rbp is saved `rbp_words` * 8 below the CFA, or not at all where that is 0.
    /// `None` where a number does not fit.
    pub const fn new(base: RuleBase, cfa_words: u32, rbp_words: u32) -> Option<Self> {
        if cfa_words >= 1 << 15 || rbp_words >= 1 << 14 {
            return None;
        }
        Some(Self(base as u32 | cfa_words << 3 | rbp_words << 18))
    }

    /// Number of the [`RuleBase`].
    #[inline]
    pub const fn base(self) -> u8 {
        (self.0 & 7) as u8
    }

    /// CFA minus base, in words.
    #[inline]
    pub const fn cfa_words(self) -> u32 {
        self.0 >> 3 & 0x7fff
    }

    /// Where rbp is saved, in words below the CFA, or 0.
    #[inline]
    pub const fn rbp_words(self) -> u32 {
        self.0 >> 18
    }
}

/// From this address on (relative to the file's load bias) the rule holds, up to the next row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Row {
    /// Virtual address in the file.
    pub address: u32,
    /// The rule.
    pub rule: Rule,
}

/// Rows in one value of the map of rows: few system calls fill it.
pub const CHUNK_ROWS: usize = 512;
/// One value of the map of rows.
pub type RowChunk = [Row; CHUNK_ROWS];

/// What lies in an executable mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RegionKind {
    /// Code of a file, with a table of [`Row`]s.
    File = 1,
    /// A code heap of the JVM.
    CodeHeap = 2,
}

/// A stretch of executable addresses of the target. The map is sorted by `start`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Region {
    /// First address.
    pub start: u64,
    /// First address behind it.
    pub end: u64,
    /// File: what to subtract from an address before it is looked for in the table. Code heap: address of its segment map.
    pub bias: u64,
    /// File: index of the first row in the map of rows.
    pub first_row: u32,
    /// File: number of rows.
    pub rows: u32,
    /// [`RegionKind`] as a number.
    pub kind: u32,
    /// Code heap: log2 of the segment size.
    pub segment_shift: u32,
}

/// Most regions.
pub const MAX_REGIONS: usize = 1024;

/// Offsets in HotSpot's structures and addresses in its code, for one target; from its own tables, or counted from
/// fields there whose neighbours never change. All 0 where they are not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct CodeLayout {
    /// 1 where the rest is known.
    pub known: u32,
    /// Number of [`Region`]s.
    pub regions: u32,
    /// Program counters that a CPU remembers, a power of two.
    pub places: u32,
    /// Size of the header before the code blob in a block of a code heap (`sizeof(HeapBlock)`).
    pub heap_block_bytes: u32,
    /// `CodeBlob::_name`, a `const char*`.
    pub blob_name: u32,
    /// `CodeBlob::_frame_size`, in words, 32 bits.
    pub blob_frame_size: u32,
    /// `CodeBlob::_frame_complete_offset`: 32 bits, or 16 from 23 on.
    pub blob_frame_complete: u32,
    /// Width of `_frame_complete_offset` in bytes.
    pub blob_frame_complete_bytes: u32,
    /// `CodeBlob::_code_begin`: an address, or an offset from the blob (`blob_code_begin_bytes`).
    pub blob_code_begin: u32,
    /// 8 where code begin is an address; 4 or 2 where it is an offset of that width.
    pub blob_code_begin_bytes: u32,
    /// `CodeBlob::_size` or `_code_end`, to tell whether an address lies in the blob: `blob_code_end_bytes` as above.
    pub blob_code_end: u32,
    /// As for the beginning.
    pub blob_code_end_bytes: u32,
    /// `nmethod::_compile_id`, 32 bits.
    pub nmethod_compile_id: u32,
    /// `nmethod::_orig_pc_offset`, 32 bits.
    pub nmethod_orig_pc_offset: u32,
    /// `nmethod::_deopt_handler_begin` (8 bytes, an address) or `_deopt_handler_offset` (4 bytes, from the blob's start).
    pub nmethod_deopt_handler: u32,
    /// Width of that.
    pub nmethod_deopt_handler_bytes: u32,
    /// `nmethod::_verified_entry_point` (8) or `_verified_entry_offset` (2 or 4, from code begin).
    pub nmethod_verified_entry: u32,
    /// Width of that.
    pub nmethod_verified_entry_bytes: u32,
    /// `nmethod::_method`, a `Method*`.
    pub nmethod_method: u32,
    /// `Method::_constMethod`.
    pub method_const_method: u32,
    /// `sizeof(ConstMethod)`: the bytecode follows it.
    pub const_method_bytes: u32,
    /// `ConstMethod::_code_size`, 16 bits.
    pub const_method_code_size: u32,
    /// 1 where rules of code blobs may be remembered, because every unloading is seen (the map of the generation).
    pub remember: u32,
    /// From rbp of an interpreter frame down to its bytecode pointer, in words: 8, or 7 in JDK 8.
    pub bytecode_pointer_words: u32,
    /// The interpreter's code: first address and first behind it.
    pub interpreter: [u64; 2],
    /// `StubRoutines::_call_stub_return_address`.
    pub call_stub_return: u64,
    /// `StubRoutines::_cont_returnBarrier` (21 and later), else 0.
    pub return_barrier: u64,
    /// Address of `ContinuationEntry::_return_pc`, to which a virtual thread's outermost frame returns, or 0. The JVM fills it
    /// in when the first virtual thread starts.
    pub continuation_return: u64,
    /// The code that fetches frames of virtual threads from the heap: first address and first behind it.
    pub fetching: [u64; 2],
    /// Size of the frame that goes on there, at whose lower end lies a `ContinuationEntry`.
    pub entry_bytes: u32,
    /// `ContinuationEntry::_argsize`.
    pub entry_argument_words: u32,
    /// `ContinuationEntry::_cont`; 0 where frames in the heap cannot be followed, and what follows is 0 too.
    pub entry_continuation: u32,
    /// `jdk.internal.vm.Continuation::tail`.
    pub continuation_tail: u32,
    /// `jdk.internal.vm.StackChunk::parent`.
    pub chunk_parent: u32,
    /// `jdk.internal.vm.StackChunk::sp`: first word of the frames.
    pub chunk_sp: u32,
    /// `jdk.internal.vm.StackChunk::bottom`: first word behind them.
    pub chunk_bottom: u32,
    /// Where in a `StackChunk` its words begin.
    pub chunk_stack: u32,
    /// Size of a reference in an object: 4 or 8.
    pub object_bytes: u32,
    /// By how much a reference of 4 bytes is shifted.
    pub object_shift: u32,
    /// What is added to it then.
    pub object_base: u64,
}

/// What a CPU remembers of a program counter: where it lies, and how a frame there is passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Remembered {
    /// The program counter, doubled, and 1 where it is the next instruction; 0 while the entry is written.
    pub pc: u64,
    /// When it was found out: what code was replaced since counts no more.
    pub generation: u64,
    /// Kind of the frame.
    pub kind: u32,
    /// The [`Rule`].
    pub rule: u32,
    /// `compile_id` of a compiled method.
    pub compile_id: u32,
    /// Where deoptimised code keeps its address.
    pub original_pc: u32,
}

const _: () = assert!(size_of::<Row>() == 8 && size_of::<Region>() == 40);
const _: () = assert!(size_of::<CodeLayout>().is_multiple_of(8));
