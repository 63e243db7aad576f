//! Other tools that watch a JVM, run beside jtrace on the same programs.
//!
//! Each is an [`Observer`] that runs the tool as its manual says, and writes down the very command. What a tool answers in
//! the words of the [`micro`](super::micro)-programs can be compared with what these know: so it shows whether it is right.
//! An answer is given only where the tool claims to count such events; a sampler does not.

mod async_profiler;
mod bcc;
mod bpftrace;
mod jfr;

mod question;
mod target;
mod tool;

use std::path::Path;

use super::{configuration::Configuration, observer::Observer};

/// What all names begin with.
pub const PREFIX: &str = "peer:";

/// All configurations with another tool. async-profiler is part of no distribution: its folder must be given.
pub fn all(async_profiler: Option<&Path>) -> Vec<Configuration> {
    let mut all = bpftrace::all();
    all.extend(bcc::all());
    all.extend(jfr::all());
    all.extend(async_profiler.into_iter().flat_map(async_profiler::all));
    all
}

/// A configuration that makes sense for all programs.
fn configuration(name: &str, what: String, flags: &[&str], observer: impl Observer + 'static) -> Configuration {
    Configuration {
        name: format!("{PREFIX}{name}"),
        what,
        flags: flags.iter().map(|&flag| flag.to_owned()).collect(),
        observer: Some(Box::new(observer)),
        only: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_configuration_has_a_name_of_its_own_and_an_observer() {
        let all = all(Some(Path::new("/opt/async-profiler")));
        let names: BTreeSet<_> = all.iter().map(|configuration| configuration.name.clone()).collect();
        assert_eq!(names.len(), all.len());
        for configuration in &all {
            assert!(configuration.name.starts_with(PREFIX) && !configuration.what.is_empty());
            assert!(configuration.observer.is_some());
        }
        for name in ["bpftrace-park", "bpftrace-gc", "bpftrace-method", "bpftrace-alloc", "bcc-park", "bcc-ucalls"] {
            assert!(names.contains(&format!("peer:{name}")), "{name}");
        }
        for name in ["jfr-default", "jfr-profile", "jfr-methodtiming", "async-cpu", "async-alloc", "async-wall"] {
            assert!(names.contains(&format!("peer:{name}")), "{name}");
        }
        assert!(super::all(None).iter().all(|configuration| !configuration.name.contains("async")));
    }

    #[test]
    fn a_probe_that_needs_a_flag_has_it() {
        for configuration in all(None) {
            let expected: &[&str] = match configuration.name.rsplit('-').next() {
                Some("method" | "ucalls") => &["-XX:+DTraceMethodProbes"],
                Some("alloc" | "uobjnew") => &["-XX:+DTraceAllocProbes"],
                Some("monitor") => &["-XX:+DTraceMonitorProbes"],
                _ => &[],
            };
            assert_eq!(configuration.flags, expected, "{}", configuration.name);
        }
    }
}
