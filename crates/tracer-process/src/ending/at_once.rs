//! The end of the process that waits for nobody: neither for memory that handlers of an ordinary end want, nor for a thread that
//! waits for a reader.
#![expect(unsafe_code, reason = "the standard library has no such end")]

/// Ends the process as it is.
pub(crate) fn end(code: i32) -> ! {
    // SAFETY: the call has no precondition.
    unsafe { libc::_exit(code) }
}
