//! Whether code calls HotSpot's DTrace stubs, by reading the code. Knows x86-64 only, as the JIT compilers write it.
//!
//! Compilers call a stub in two ways: `call rel32` where it is near enough, else its address is moved into a register
//! (`mov r64, imm64`) and called there. No instruction is decoded: every offset is tried, and four or eight bytes that name
//! the very address of a stub are taken for a call. Chance makes one in 2^32 tries such a match.

use super::super::{
    code_cache::Blob,
    memory::library::{Error, Library},
};

/// `SharedRuntime::dtrace_method_entry(JavaThread*, Method*)`.
const ENTRY: &[&str] = &["_ZN13SharedRuntime19dtrace_method_entryEP10JavaThreadP6Method"];
/// `SharedRuntime::dtrace_method_exit(JavaThread*, Method*)`.
const EXIT: &[&str] = &["_ZN13SharedRuntime18dtrace_method_exitEP10JavaThreadP6Method"];
/// `SharedRuntime::dtrace_object_alloc`, with the parameters of 11 and 17, and of 21 and 25.
const ALLOCATION: &[&str] = &[
    "_ZN13SharedRuntime19dtrace_object_allocEP7oopDesci",
    "_ZN13SharedRuntime24dtrace_object_alloc_baseEP6ThreadP7oopDesci",
    "_ZN13SharedRuntime19dtrace_object_allocEP10JavaThreadP7oopDesc",
    "_ZN13SharedRuntime19dtrace_object_allocEP10JavaThreadP7oopDescm",
    "_ZN13SharedRuntime19dtrace_object_allocEP7oopDesc",
];
/// C1's code reaches the allocation stub through a blob of its own, whose name holds this.
const ALLOCATION_BLOB: &str = "dtrace_object_alloc";

/// `call rel32`.
const CALL: u8 = 0xe8;
/// `mov r64, imm64`: a REX prefix with or without the bit for the upper registers, then this and the register.
const MOVE: u8 = 0xb8;
const REX_W: u8 = 0x48;

/// Which stubs a piece of code calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// The one for the entry of a method.
    pub entry: bool,
    /// The one for its return.
    pub exit: bool,
    /// One of those for allocations.
    pub allocation: bool,
}

/// Addresses of the stubs in a target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stubs {
    entry: Vec<u64>,
    exit: Vec<u64>,
    allocation: Vec<u64>,
}

impl Stubs {
    /// Finds them by the library's symbols. Absent where it is stripped: then code tells nothing.
    pub fn find(library: &Library, blobs: &[Blob]) -> Result<Option<Self>, Error> {
        let names: Vec<&str> = [ENTRY, EXIT, ALLOCATION].concat();
        let found = library.symbols(&names)?;
        let of = |names: &[&str]| -> Vec<u64> { names.iter().filter_map(|name| found.get(*name).copied()).collect() };
        let (entry, exit, mut allocation) = (of(ENTRY), of(EXIT), of(ALLOCATION));
        if entry.is_empty() || exit.is_empty() || allocation.is_empty() {
            return Ok(None);
        }
        let of_c1 = blobs.iter().filter(|blob| blob.compiled.is_none() && blob.name.contains(ALLOCATION_BLOB));
        allocation.extend(of_c1.map(|blob| blob.code_begin));
        Ok(Some(Self { entry, exit, allocation }))
    }

    /// Which of them are called by code that stands at an address.
    pub fn called_by(&self, code: &[u8], address: u64) -> Calls {
        let mut calls = Calls::default();
        for at in memchr::memchr_iter(CALL, code) {
            let Some(distance) = code.get(at + 1..).and_then(<[u8]>::first_chunk) else { break };
            let behind = address.wrapping_add(at as u64 + 5);
            self.note(behind.wrapping_add_signed(i32::from_le_bytes(*distance).into()), &mut calls);
        }
        for stub in [&self.entry, &self.exit, &self.allocation].into_iter().flatten() {
            if memchr::memmem::find_iter(code, &stub.to_le_bytes()).any(|at| is_moved(code, at)) {
                self.note(*stub, &mut calls);
            }
        }
        calls
    }

    fn note(&self, target: u64, calls: &mut Calls) {
        let Self { entry, exit, allocation } = self;
        calls.entry |= entry.contains(&target);
        calls.exit |= exit.contains(&target);
        calls.allocation |= allocation.contains(&target);
    }
}

#[cfg(test)]
impl Stubs {
    /// Stubs at made-up addresses.
    pub(super) fn at(entry: u64, exit: u64, allocation: u64) -> Self {
        Self { entry: vec![entry], exit: vec![exit], allocation: vec![allocation] }
    }
}

/// Whether the eight bytes at an offset are the number of a move into a register.
fn is_moved(code: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(2).and_then(|start| code.get(start..at)) else { return false };
    before[0] & !1 == REX_W && before[1] & !7 == MOVE
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CODE: u64 = 0x7f00_0000_1000;

    fn stubs() -> Stubs {
        Stubs::at(0x7f00_1000_0000, 0x7f80_0000_0000, CODE - 0x100)
    }

    fn near_call(from: usize, target: u64) -> Vec<u8> {
        let behind = CODE + from as u64 + 5;
        let distance = i32::try_from(target.cast_signed() - behind.cast_signed()).unwrap();
        [&[CALL][..], &distance.to_le_bytes()].concat()
    }

    #[test]
    fn near_calls_forwards_and_backwards_and_addresses_in_registers_are_found() {
        let mut code = vec![0x90; 3];
        code.extend(near_call(3, 0x7f00_1000_0000));
        assert_eq!(stubs().called_by(&code, CODE), Calls { entry: true, ..Calls::default() });
        code.extend([0x49, 0xba]);
        code.extend(0x7f80_0000_0000_u64.to_le_bytes());
        assert_eq!(stubs().called_by(&code, CODE), Calls { entry: true, exit: true, allocation: false });
        code.extend(near_call(code.len(), CODE - 0x100));
        assert_eq!(stubs().called_by(&code, CODE), Calls { entry: true, exit: true, allocation: true });
    }

    #[test]
    fn other_calls_data_and_code_that_is_cut_are_no_calls_of_stubs() {
        let mut code = near_call(0, 0x7f00_1000_0001);
        // The number is there, but nothing moves it.
        code.extend(0x7f80_0000_0000_u64.to_le_bytes());
        code.extend(&near_call(code.len(), 0x7f00_1000_0000)[..4]);
        assert_eq!(stubs().called_by(&code, CODE), Calls::default());
        assert_eq!(stubs().called_by(&[], u64::MAX), Calls::default());
        assert_eq!(stubs().called_by(&0x7f80_0000_0000_u64.to_le_bytes(), CODE), Calls::default());
    }

    #[test]
    fn the_same_bytes_elsewhere_call_something_else() {
        let code = near_call(0, 0x7f00_1000_0000);
        assert!(stubs().called_by(&code, CODE).entry);
        assert!(!stubs().called_by(&code, CODE + 16).entry);
    }

    proptest! {
        /// A call is found wherever it stands among bytes that mean nothing, and none is where none was put.
        #[test]
        fn a_call_among_random_bytes_is_found(
            before in prop::collection::vec(any::<u8>(), 0..300),
            behind in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            let mut code = before.clone();
            prop_assert_eq!(stubs().called_by(&code, CODE), Calls::default());
            code.extend(near_call(before.len(), 0x7f00_1000_0000));
            code.extend(behind);
            prop_assert!(stubs().called_by(&code, CODE).entry);
        }

        #[test]
        fn any_bytes_at_any_address_are_read(code in prop::collection::vec(any::<u8>(), 0..300), address: u64) {
            stubs().called_by(&code, address);
        }
    }
}
