//! Makes mangled names readable: `_ZN13ObjectMonitor5enterEP10JavaThread` becomes `ObjectMonitor::enter`.
//!
//! Names come from files of the target. A short one can stand for an endless one, so what is written is bounded.

use std::fmt::{self, Write};

use cpp_demangle::{BorrowedSymbol, DemangleOptions, ParseOptions};

/// Longest readable name; a longer one stays as it is in the file.
const MAX_BYTES: usize = 1024;
/// Depth of nesting that is followed. What a name that is no name takes doubles with each two levels, as parts of it are read again and
/// again. Of ten million damaged names the worst takes 2.3 MB here, and 70 ms (not optimised); one was seen that takes 150 ms at 64 and
/// 8 s at 96. Of 110,315 names of HotSpot's libraries and of libstdc++ the deepest needs 48, and 39 are not read at 96 either.
const MAX_DEPTH: u32 = 48;

/// A name as a person wrote it, without arguments; one that is not mangled, or wrongly, as it is.
pub(super) fn readable(mangled: &[u8]) -> String {
    let text = String::from_utf8_lossy(mangled);
    rust(&text).or_else(|| cpp(mangled)).unwrap_or_else(|| shortened(&text))
}

/// Rust's own forms. The older one looks like C++ but for the hash at its end.
fn rust(text: &str) -> Option<String> {
    let hashed = text.starts_with("_ZN") && text.contains("17h");
    if !hashed && !text.starts_with("_R") {
        return None;
    }
    let demangled = rustc_demangle::try_demangle(text).ok()?;
    let mut bounded = Bounded::default();
    // The alternate form leaves the hash out.
    write!(bounded, "{demangled:#}").ok()?;
    Some(bounded.0)
}

fn cpp(mangled: &[u8]) -> Option<String> {
    if !mangled.starts_with(b"_Z") {
        return None;
    }
    // What follows a dot is the compiler's note on a part that it split off (`.cold`, `.part.0`).
    let mangled = mangled.split(|byte| *byte == b'.').next()?;
    let parse = ParseOptions::default().recursion_limit(MAX_DEPTH);
    let symbol = BorrowedSymbol::with_tail_and_options(mangled, &parse).ok().filter(|(_, rest)| rest.is_empty())?.0;
    let options = DemangleOptions::new().no_params().no_return_type().recursion_limit(MAX_DEPTH);
    let mut bounded = Bounded::default();
    symbol.structured_demangle(&mut bounded, &options).ok()?;
    Some(bounded.0)
}

fn shortened(text: &str) -> String {
    if text.len() <= MAX_BYTES {
        return text.to_owned();
    }
    let cut = text.char_indices().map(|(at, _)| at).take_while(|at| *at <= MAX_BYTES).last().unwrap_or(0);
    format!("{}…", &text[..cut])
}

/// A text that refuses to grow beyond the limit, which ends the demangling.
#[derive(Default)]
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > MAX_BYTES {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_readable_and_without_arguments() {
        let cases = [
            ("_ZN13ObjectMonitor5enterEP10JavaThread", "ObjectMonitor::enter"),
            ("_ZN13ObjectMonitor5enterEP10JavaThread.cold", "ObjectMonitor::enter"),
            ("_ZN6Thread8call_runEv", "Thread::call_run"),
            ("_ZL19thread_native_entryP6Thread", "thread_native_entry"),
            ("_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back"),
            ("_ZN4core3ptr13drop_in_place17h0123456789abcdefE", "core::ptr::drop_in_place"),
            ("_RNvCs1234_7mycrate3foo", "mycrate::foo"),
            ("JVM_Sleep", "JVM_Sleep"),
            ("_Zoo", "operator||"),
            ("_Zero", "_Zero"),
            ("", ""),
        ];
        for (mangled, name) in cases {
            assert_eq!(readable(mangled.as_bytes()), name);
        }
    }

    #[test]
    fn a_name_that_would_explode_stays_as_it_is() {
        // Each `S_` form stands for all of what was said so far, twice.
        let mut mangled = "_Z1fI1aE".to_owned();
        mangled.insert_str(4, &"I1aS_S_".repeat(20));
        mangled.push_str(&"S0_S1_".repeat(200));
        assert!(readable(mangled.as_bytes()).len() <= MAX_BYTES + '…'.len_utf8());
        let pairs: String = (0..30).map(|_| "St4pairIS_S_E").collect();
        assert!(readable(format!("_Z1fIi{pairs}E").as_bytes()).len() <= MAX_BYTES + '…'.len_utf8());
        assert_eq!(readable(&[b'x'; 5000]).len(), MAX_BYTES + '…'.len_utf8());
    }

    proptest! {
        #[test]
        fn any_bytes_are_named_within_bounds(tail in proptest::collection::vec(any::<u8>(), 0..200), pick in 0..3_usize) {
            let name = [b"_ZN".to_vec(), b"_R".to_vec(), Vec::new()][pick].iter().copied().chain(tail).collect::<Vec<u8>>();
            prop_assert!(readable(&name).len() <= MAX_BYTES + '…'.len_utf8());
        }

        #[test]
        fn anything_that_looks_mangled_is_named_within_bounds(name in "_(Z|ZN|R)[0-9A-Za-z_]{0,120}") {
            prop_assert!(readable(name.as_bytes()).len() <= MAX_BYTES + '…'.len_utf8());
        }
    }

    #[test]
    fn fuzz_mangled_names() {
        // Arguments within arguments are read again and again.
        const ROOM: usize = 4 << 20;
        let samples = crate::fuzz::corpus("mangled");
        crate::fuzz::each("mangled", ROOM, |dice| {
            assert!(readable(&crate::fuzz::damaged(dice, &samples)).len() <= MAX_BYTES + 8);
        });
    }
}
