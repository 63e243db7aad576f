//! Room for the descriptors of maps, programs, links and ring buffers.

use std::{error::Error as StdError, io};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What a session needs besides the ring buffers of the CPUs, with as much to spare.
const NEEDED: u64 = 256;

/// What helps where they are short.
pub(super) const HINT: &str = "allow jtrace more open files: `ulimit -n 512`, or `LimitNOFILE=512` of a service";

/// Raises the limit of this process where it is lower than what is needed, as far as it may be raised.
pub(super) fn allow(cpus: usize) {
    let needed = NEEDED + cpus as u64;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| current >= needed) {
        return;
    }
    let raised = maximum.map_or(needed, |maximum| needed.min(maximum));
    // What does not fit is said by what fails then.
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum }) {
        log::debug!("the limit of open files cannot be raised: {error}");
    }
}

/// Whether an error, or what caused it, is that no descriptor was left.
pub(super) fn are_short(error: &(dyn StdError + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        let number = error.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error);
        if number.is_some_and(|number| [libc::EMFILE, libc::ENFILE].contains(&number)) {
            return true;
        }
        cause = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_found_below_other_errors() {
        #[derive(Debug, thiserror::Error)]
        #[error("outer")]
        struct Outer(#[source] io::Error);
        assert!(are_short(&Outer(io::Error::from_raw_os_error(libc::EMFILE))));
        assert!(!are_short(&Outer(io::Error::from_raw_os_error(libc::EPERM))));
    }
}
