//! What jtrace carries for others to run, unpacked: the eBPF programs, and the library for JVMs. As they are, they would be an eighth
//! of the program that is shipped; unpacking both takes some ten milliseconds.

use std::io::Read as _;

use flate2::read::DeflateDecoder;

/// What `build.rs` has packed.
pub(crate) fn unpacked(packed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    // It is as the build made it. Were it not, whoever reads an ELF file out of it says so.
    if let Err(error) = DeflateDecoder::new(packed).read_to_end(&mut bytes) {
        log::error!("this jtrace is damaged: {error}");
    }
    bytes
}
