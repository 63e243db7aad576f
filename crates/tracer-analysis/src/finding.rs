//! Rules that turn the numbers of a report's sections into ranked sentences about what is wrong.
//!
//! A rule is a pure function from [`Evidence`] to a finding. It names a section, a key and a threshold, and it stays silent
//! where the number that it needs is not there. Adding one: a function in a file of its topic, a line in `RULES`.

mod cause;
mod evidence;
mod time;
mod when;

mod explicit;
mod gc;
mod heap;
mod room;
mod room_in_group;
mod safepoint;
mod since_start;

mod collections;
mod crowded;
mod datagrams;
mod executors;
mod initialisers;
mod lent;
mod locks;
mod looks;
mod opened;
mod out_of_memory;
mod pools;
mod pressure;
mod sleeping;
mod slow;
mod threads;
mod typestate;
mod volume;
mod waiting;

mod classes;
mod jit;

mod alloc;
mod cpu;
mod exceptions;
mod work;

mod jni;
mod methods;
mod protocols;
mod queues;

use crate::{
    item::Target,
    report::{Doing, Finding, Section, Span},
};

pub use evidence::{Evidence, Known, Rate, Row};

/// A rule.
type Rule = fn(&Evidence<'_>) -> Option<Finding>;

const RULES: &[Rule] = &[
    gc::share,
    gc::long_pause,
    gc::repeated_full,
    explicit::asked_for,
    explicit::direct_memory,
    room::stalls,
    room::nearly_full,
    heap::growth,
    collections::only_grows,
    heap::humongous,
    safepoint::slow_stop,
    safepoint::long,
    safepoint::frequent,
    waiting::deadlock,
    waiting::chain,
    looks::deadlock,
    initialisers::deadlock,
    initialisers::slow,
    looks::lock_queue,
    looks::lost_notify,
    executors::starved,
    executors::backlog,
    crowded::not_accepted,
    datagrams::dropped,
    queues::grow,
    queues::backlog,
    pools::exhausted,
    pools::transaction,
    sleeping::sleeping,
    lent::exhausted,
    lent::crowd,
    slow::peer,
    slow::disk,
    slow::process,
    slow::queue,
    slow::task,
    slow::party,
    slow::pinned,
    slow::dispatcher,
    slow::shutdown,
    slow::references,
    pressure::cpu_limit,
    pressure::cpu_queue,
    pressure::swap,
    pressure::memory_growth,
    room_in_group::memory_limit,
    room_in_group::thread_limit,
    out_of_memory::errors,
    volume::full,
    opened::mapped_files,
    opened::descriptors,
    locks::contention,
    locks::parking,
    threads::leak,
    threads::churn,
    classes::storm,
    classes::leak,
    classes::initialization_errors,
    jit::not_compiled,
    jit::first_compiler_only,
    jit::recompilation,
    jit::failures,
    jit::code_unloading,
    alloc::rate,
    cpu::collector,
    cpu::compilers,
    work::busy_with,
    work::hot_line,
    exceptions::rate,
    cpu::hot_method,
    cpu::run_queue,
    cpu::page_faults,
    methods::errors,
    methods::megamorphic,
    jni::long_critical,
    jni::open_critical,
    protocols::lock_order,
    protocols::left,
    typestate::violations,
    since_start::before,
];

/// What the rules say about these sections, causes above what follows from them: the severest first, within a severity by score, then by the order of the rules.
pub fn findings(span: &Span, target: &Target, sections: &[Section]) -> Vec<Finding> {
    let evidence = Evidence { span, target, sections };
    let mut findings: Vec<Finding> = cause::fold(RULES.iter().filter_map(|rule| rule(&evidence)).collect());
    // A next step is a command to be typed as it stands.
    for finding in &mut findings {
        finding.next_step = finding.next_step.replace(" PID", &format!(" {}", target.pid));
    }
    findings.sort_by(|a, b| b.severity.cmp(&a.severity).then(b.score.total_cmp(&a.score)));
    findings
}

/// What these sections say the process spends its wall time on.
pub fn time(span: &Span, target: &Target, sections: &[Section]) -> Vec<Doing> {
    time::spent(&Evidence { span, target, sections })
}

#[cfg(test)]
mod testing;

#[cfg(test)]
mod tests {
    use super::{testing::Case, *};
    use crate::report::Severity;

    #[test]
    fn a_quiet_jvm_has_no_findings() {
        let case = Case::default();
        assert_eq!(findings(&case.span, &case.target, &case.sections), []);
    }

    #[test]
    fn the_severest_and_largest_come_first() {
        let case = Case::seconds(10)
            .number("gc", "pause_share_percent", 12.0)
            .number("gc", "pause_max_ns", 1.5e9)
            .number("alloc", "estimated_bytes_per_s", 2e9);
        let findings = findings(&case.span, &case.target, &case.sections);
        let ranks: Vec<(Severity, f64)> = findings.iter().map(|finding| (finding.severity, finding.score)).collect();
        assert!(findings.len() >= 3);
        assert!(
            ranks.windows(2).all(|pair| pair[0].0 > pair[1].0 || (pair[0].0 == pair[1].0 && pair[0].1 >= pair[1].1))
        );
        assert_eq!(findings[0].id, "gc-long-pause");
    }

    #[test]
    fn a_finding_names_a_lens_and_a_shape_of_it() {
        let text = |name: &str| {
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/finding/").to_owned() + name)
        };
        let mut named = 0;
        for file in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/finding")).expect("the rules") {
            let name = file.expect("a file").file_name().into_string().expect("a name");
            for line in
                text(&name).unwrap_or_default().lines().filter_map(|line| line.trim().strip_prefix("shown_in: \""))
            {
                let Some((lens, shape)) = line.trim_end_matches("\",").split_once('.') else { continue };
                assert!(crate::lens::Lens::ALL.iter().any(|known| known.id() == lens), "{name}: {line}");
                assert!(!shape.is_empty(), "{name}: {line}");
                named += 1;
            }
        }
        assert!(named >= 50, "{named}");
    }

    #[test]
    fn next_steps_are_commands_for_this_process() {
        let mut case = Case::seconds(10).number("gc", "full_collections", 5.0);
        case.target.pid = 4711;
        let cells = [("cause", "Ergonomics".into()), ("action", "full".into()), ("count", 5_u64.into())];
        let case = case.row("gc", "causes", &cells);
        let findings = findings(&case.span, &case.target, &case.sections);
        let full = findings.iter().find(|finding| finding.id == "gc-full").expect("full collections");
        assert!(full.next_step.contains("`jtrace heap 4711`"), "{}", full.next_step);
    }
}
