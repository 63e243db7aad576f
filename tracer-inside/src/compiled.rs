//! Keeps compiled code that does not depend on what is exchanged, or has all of it go: one byte of HotSpot decides.
//!
//! The library does this itself, and not jtrace from outside, so that the byte is put back also where jtrace was killed.
#![expect(unsafe_code, reason = "a variable of the JVM")]

use std::{
    ptr::with_exposed_provenance,
    sync::atomic::{AtomicU8, Ordering},
};

use tracer_weave::control::CompiledCode;

/// HotSpot's byte while a visit lasts. It is put back when this goes: HotSpot sets it at the first exchange, and a later agent whose
/// exchange changes what a program does must find it as it was.
pub(crate) struct Held {
    byte: &'static AtomicU8,
    before: u8,
}

impl Held {
    /// Sets the byte; `None` where there is no such byte, which then stays as it is.
    pub(crate) fn set(code: CompiledCode) -> Option<Self> {
        let address = usize::try_from(code.byte).ok().filter(|address| *address != 0)?;
        // SAFETY: jtrace has found it among the symbols of libjvm.so and has read it, in memory that the JVM writes to and never unmaps.
        let byte = unsafe { &*with_exposed_provenance::<AtomicU8>(address) };
        let before = byte.load(Ordering::Relaxed);
        // It is a `bool`.
        if before > 1 {
            return None;
        }
        byte.store(u8::from(code.keep), Ordering::Relaxed);
        Some(Self { byte, before })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.byte.store(self.before, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(byte: &'static AtomicU8, keep: bool) -> CompiledCode {
        CompiledCode { byte: std::ptr::from_ref(byte).expose_provenance() as u64, keep }
    }

    #[test]
    fn the_byte_is_put_back_whatever_the_jvm_made_of_it() {
        static BYTE: AtomicU8 = AtomicU8::new(0);
        let held = Held::set(code(&BYTE, true));
        assert_eq!(BYTE.load(Ordering::Relaxed), 1);
        drop(held);
        assert_eq!(BYTE.load(Ordering::Relaxed), 0);
        let held = Held::set(code(&BYTE, false));
        BYTE.store(1, Ordering::Relaxed);
        drop(held);
        assert_eq!(BYTE.load(Ordering::Relaxed), 0, "HotSpot has set it meanwhile");
    }

    #[test]
    fn what_is_no_bool_is_left_alone() {
        static BYTE: AtomicU8 = AtomicU8::new(7);
        assert!(Held::set(code(&BYTE, true)).is_none() && Held::set(CompiledCode { byte: 0, keep: true }).is_none());
        assert_eq!(BYTE.load(Ordering::Relaxed), 7);
    }
}
