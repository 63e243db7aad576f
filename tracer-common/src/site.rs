//! How a program finds the arguments of the site it was hit at.
//!
//! A site's cookie is its id, an index into the `SITES` map. The entry there tells the program the kind of event, and
//! for each word of the event where it lies: in a register, in memory, or in the note itself.

/// Most sites that one session can attach; also the size of the `SITES` and `STATS` maps. JNI alone has 510 on JDK 25.
pub const MAX_SITES: usize = 1024;

/// Most words an event can have, and so the most [`Field`]s of a site.
pub const MAX_FIELDS: usize = 8;

/// A general-purpose register of x86-64, numbered as in the instruction encoding.
///
/// [`Register::None`] stands for "no register" in a memory operand, and reads as 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[expect(missing_docs, reason = "the variants are the registers' own names")]
pub enum Register {
    Rax = 0,
    Rcx = 1,
    Rdx = 2,
    Rbx = 3,
    Rsp = 4,
    Rbp = 5,
    Rsi = 6,
    Rdi = 7,
    R8 = 8,
    R9 = 9,
    R10 = 10,
    R11 = 11,
    R12 = 12,
    R13 = 13,
    R14 = 14,
    R15 = 15,
    Rip = 16,
    None = 17,
}

/// Number of slots in a register file that [`Register`] indexes.
pub const REGISTERS: usize = Register::None as usize + 1;

/// Where one operand lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Place {
    /// The value is [`Operand::displacement`].
    Constant = 0,
    /// The value is in [`Operand::base`].
    Register = 1,
    /// The value is in memory at `base + index * scale + displacement`.
    Memory = 2,
}

/// One operand of a probe site: `-4@-60(%rbp)` is `Memory`, base `Rbp`, displacement -60, 4 bytes, signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Operand {
    /// Constant, or displacement of a memory operand, or a right shift in bits for the high byte registers (`%ah`).
    pub displacement: i64,
    /// [`Place`] as a number, so that any bytes are a valid value.
    pub place: u8,
    /// [`Register`] that holds the value or the base address.
    pub base: u8,
    /// [`Register`] that is added to the base after scaling.
    pub index: u8,
    /// 1, 2, 4 or 8.
    pub scale: u8,
    /// Width of the value in bytes: 1, 2, 4 or 8.
    pub width: u8,
    /// 1 where the value is sign-extended to 64 bits, 0 where it is zero-extended.
    pub signed: u8,
    /// Explicit padding: the struct is copied as bytes.
    pub reserved: [u8; 2],
}

impl Operand {
    /// A constant operand.
    pub const fn constant(value: i64) -> Self {
        Self { displacement: value, place: Place::Constant as u8, ..Self::register(Register::None) }
    }

    /// The 64 bits of a register.
    pub const fn register(register: Register) -> Self {
        Self {
            displacement: 0,
            place: Place::Register as u8,
            base: register as u8,
            index: Register::None as u8,
            scale: 1,
            width: 8,
            signed: 0,
            reserved: [0; 2],
        }
    }

    /// The 64 bits in memory at `base + displacement`.
    pub const fn memory(base: Register, displacement: i64) -> Self {
        Self { displacement, place: Place::Memory as u8, ..Self::register(base) }
    }
}

/// What a program makes of a field's operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Treat {
    /// The word is the value of `a`.
    Word = 0,
    /// `a` points to `b` bytes of text; the word is the name id of that text.
    Name = 1,
    /// `a` points to NUL-terminated text; the word is its name id.
    CString = 2,
    /// `a` is a `Klass*`; the word is the name id of the class's name.
    Klass = 3,
    /// `a` is a pointer, `b` a constant: the word is the 8 bytes at `a + b`. Where [`Field::then`] is not 0, these are a
    /// pointer again, and the word is the 8 bytes at that many bytes behind it.
    Pointee = 4,
}

/// One word of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Field {
    /// First operand.
    pub a: Operand,
    /// Second operand; meaningful for [`Treat::Name`] and [`Treat::Pointee`] only.
    pub b: Operand,
    /// [`Treat`] as a number.
    pub treat: u8,
    /// Explicit padding: the struct is copied as bytes.
    pub reserved: [u8; 3],
    /// Second offset of [`Treat::Pointee`]; 0 where there is none.
    pub then: u32,
}

impl Field {
    /// A field that is always 0; fills the unused end of [`SiteSpec::fields`].
    pub const ZERO: Self = Self::word(Operand::constant(0));

    /// A field that is the operand's value.
    pub const fn word(a: Operand) -> Self {
        Self { a, b: Operand::constant(0), treat: Treat::Word as u8, reserved: [0; 3], then: 0 }
    }

    /// A field that is the name id of `length` bytes at `pointer`.
    pub const fn name(pointer: Operand, length: Operand) -> Self {
        Self { b: length, treat: Treat::Name as u8, ..Self::word(pointer) }
    }

    /// A field that is what a pointer leads to, at `offset`, and from there, where `then` is not 0, at `then`.
    pub const fn pointee(pointer: Operand, offset: u32, then: u32) -> Self {
        Self { b: Operand::constant(offset as i64), treat: Treat::Pointee as u8, then, ..Self::word(pointer) }
    }
}

/// Everything a program must know about one site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct SiteSpec {
    /// [`crate::record::EventKind`] as a number; 0 means that the slot is unused.
    pub kind: u16,
    /// How many of `fields` are in use.
    pub field_count: u16,
    /// 0 where the event gets no stack, 1 where it gets the thread's, and otherwise the number of innermost frames that it gets. The
    /// upper half says that only one event of so many gets it; 0 and 1: each does.
    pub stack: u32,
    /// The words of the event, in order.
    pub fields: [Field; MAX_FIELDS],
}

impl SiteSpec {
    /// The bits of `stack` below those that say which events get it.
    pub const STACK_BITS: u32 = 16;

    /// What `stack` is where only one event of so many gets it.
    pub const fn stack_of_one_in(self, one_in: u16) -> u32 {
        match self.stack {
            0 => 0,
            stack => stack | (one_in as u32) << Self::STACK_BITS,
        }
    }
}

/// Offsets in the target JVM's own structures that a program needs; all 0 where they are unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct TargetLayout {
    /// `Klass::_name`, a `Symbol*`.
    pub klass_name: u32,
    /// `Symbol::_length`, 16 bits.
    pub symbol_length: u32,
    /// `Symbol::_body`, modified UTF-8.
    pub symbol_body: u32,
    /// Thread group id of the target in the initial pid namespace, or 0 where it is not known and the link's own filter
    /// must do.
    pub tgid: u32,
    /// Bytes of unread data in a ring buffer from which on a program wakes the reader instead of leaving it to its timer.
    pub wakeup_bytes: u64,
    /// Time that a CPU sample stands for.
    pub sample_period_ns: u64,
    /// Shortest absence from a CPU that becomes an event.
    pub min_block_ns: u64,
    /// Which [`crate::clock::Away`]s count: not those of the time before the scheduler's programs were attached last.
    pub sched_epoch: u32,
    /// Site id of CPU samples, where there are any.
    pub cpu_site: u16,
    /// Site id of the scheduler's events, where there are any.
    pub sched_site: u16,
    /// Grows whenever user space has looked at the counters.
    pub look: u32,
    /// Hits of a site that a CPU takes until user space has looked; those beyond are refused.
    pub most_hits: u32,
}

const _: () = assert!(size_of::<Operand>() == 16 && size_of::<Field>() == 40);
const _: () = assert!(size_of::<SiteSpec>() == 8 + 40 * MAX_FIELDS && size_of::<TargetLayout>() == 56);
