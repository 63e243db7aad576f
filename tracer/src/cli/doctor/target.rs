//! What can be seen of one JVM.

use super::{super::list::duration, Check};
use crate::{
    jvm::find::{Jvm, threads},
    setup::{FEW_SITES, OTHER_JDK},
};

/// Flags that decide what can be seen, with what they are for.
const FLAGS: [(&str, &str); 6] = [
    ("DTraceMonitorProbes", "lock probes"),
    ("DTraceAllocProbes", "exact allocation probes"),
    ("DTraceMethodProbes", "method probes"),
    ("UsePerfData", "performance counters"),
    ("DisableAttachMechanism", "no attaching from inside"),
    ("PreserveFramePointer", "frame pointers in compiled code"),
];

/// All checks of a target.
pub(super) fn checks(pid: u32) -> Vec<Check> {
    let jvm = match Jvm::open(pid) {
        Ok(jvm) => jvm,
        Err(error) => {
            let hint = error.hint().unwrap_or_else(|| "nothing is known to help".to_owned());
            return vec![Check::missing("process", chain(&error), hint)];
        }
    };
    let mut checks = vec![process(&jvm), jdk(&jvm), library(&jvm)];
    checks.extend(sections(&jvm));
    checks.extend(flags(&jvm));
    checks.push(counters(&jvm));
    checks.push(container(&jvm));
    checks
}

fn process(jvm: &Jvm) -> Check {
    let target = &jvm.target;
    let threads = threads(target.pid).map(|threads| threads.len()).unwrap_or_default();
    let up = duration(target.uptime_s);
    let main = target.command.split(' ').next().unwrap_or_default();
    Check::ok("process", format!("{} of {}, up {up}, {threads} threads: {main}", target.pid, target.user))
}

fn jdk(jvm: &Jvm) -> Check {
    let target = &jvm.target;
    let found = format!("{} {}, {}", target.jvm_name, target.jvm_version, target.collector);
    match target.jdk_release {
        8 | 11.. => Check::ok("JDK", found),
        _ => Check::limited("JDK", found, "jtrace is tested with 8, 11, 17, 21 and 25"),
    }
}

fn library(jvm: &Jvm) -> Check {
    let path = jvm.library.path.display();
    if jvm.library.deleted {
        let found = format!("{path} was deleted or replaced; the mapped file is used");
        return Check::ok("libjvm.so", found);
    }
    Check::ok("libjvm.so", path.to_string())
}

fn sections(jvm: &Jvm) -> Vec<Check> {
    let names = match jvm.library.sections() {
        Ok(names) => names,
        Err(error) => return vec![Check::missing("sections", error.to_string(), "use an intact libjvm.so")],
    };
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    let (notes, symbols) = (has(".note.stapsdt"), has(".symtab"));
    let probes = match (notes, symbols) {
        (true, _) => Check::ok("probe sites", "libjvm.so was built with USDT"),
        (false, true) => {
            Check::limited("probe sites", "libjvm.so was built without USDT: only what its symbols give", OTHER_JDK)
        }
        (false, false) => Check::limited("probe sites", FEW_SITES, OTHER_JDK),
    };
    let table = if symbols {
        Check::ok("symbols", ".symtab is there")
    } else {
        Check::limited("symbols", "libjvm.so was stripped: no sampled allocation", "install the JDK's debug symbols")
    };
    vec![probes, table]
}

fn flags(jvm: &Jvm) -> Vec<Check> {
    let flags = match &jvm.flags {
        Ok(flags) => flags,
        Err(error) => {
            let change = "nothing: lock probes stay silent unless started with -XX:+DTraceMonitorProbes";
            return vec![Check::limited("flags", chain(error), change)];
        }
    };
    let known = |(name, purpose): (&str, &str)| {
        let value = flags.bool(&jvm.memory, name)?;
        Some(Check::ok(name, format!("{} ({purpose})", if value { "on" } else { "off" })))
    };
    let mut checks: Vec<Check> = FLAGS.into_iter().filter_map(known).collect();
    if flags.address(FLAGS[0].0).is_none() {
        checks.push(Check::limited(FLAGS[0].0, "this JVM has no such flag", "nothing: contended locks cannot be seen"));
    }
    checks
}

fn counters(jvm: &Jvm) -> Check {
    match &jvm.counters {
        Ok(counters) => Check::ok("counters", format!("{} (causes of collections)", counters.names().count())),
        Err(error) => Check::limited(
            "counters",
            chain(error),
            "start the JVM with -XX:+UsePerfData; causes of collections are missing",
        ),
    }
}

fn container(jvm: &Jvm) -> Check {
    let target = &jvm.target;
    let found = match (target.container, target.namespace_pid) {
        (false, _) => "no".to_owned(),
        (true, pid) => format!("yes, where it has pid {pid}"),
    };
    Check::ok("container", found)
}

/// An error with all its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
