//! Rules about limits of the JVM's control group, as containers have them: of memory, where the kernel kills who needs more, and of threads.

use super::{Evidence, pressure::of_bytes};
use crate::{
    lens::Lens::Threads,
    report::{Finding, Severity},
    text::format,
};

/// Of the limit: from here on it is told, and it is urgent.
const TOLD: f64 = 0.9;
const URGENT: f64 = 0.97;

/// What a control group may use, and does.
struct Group {
    limit: f64,
    used: f64,
    grown: f64,
    reached: u64,
    killed: u64,
    /// What the heap may grow to.
    heap: Option<u64>,
}

impl Group {
    fn of(evidence: &Evidence<'_>) -> Option<Self> {
        let number = |key| evidence.number(Threads, key);
        let limit = number("memory_limit_bytes").filter(|limit| *limit > 0.0)?;
        Some(Self {
            limit,
            used: number("memory_limit_used_bytes")?,
            grown: number("memory_limit_grown_bytes").unwrap_or(0.0),
            reached: evidence.whole(Threads, "memory_limit_reached").unwrap_or(0),
            killed: evidence.whole(Threads, "memory_limit_killed").unwrap_or(0),
            heap: evidence.target.max_heap_bytes,
        })
    }

    fn share(&self) -> f64 {
        self.used / self.limit
    }

    /// Whether the heap alone may grow beyond the limit.
    fn is_less_than_heap(&self) -> bool {
        self.heap.is_some_and(|heap| heap as f64 > self.limit)
    }

    fn title(&self) -> String {
        let (limit, used) = (of_bytes(self.limit), of_bytes(self.used));
        if self.killed > 0 {
            let killed = format::plural(self.killed, "process", "processes");
            return format!("The kernel killed {killed} of the JVM's control group, which may use {limit} of memory");
        }
        if self.share() < TOLD {
            let heap = format::bytes(self.heap.unwrap_or(0));
            return format!(
                "The heap may grow to {heap}, and the JVM's control group may use {limit} of memory in all"
            );
        }
        let share = format::percent(100.0 * self.share().min(1.0));
        format!(
            "The JVM's control group uses {used} of the {limit} of memory that it may ({share}): beyond that the kernel kills"
        )
    }
}

/// Hardly any memory is left to the JVM's control group, or less than the heap may need.
pub(super) fn memory_limit(evidence: &Evidence<'_>) -> Option<Finding> {
    let group = Group::of(evidence)?;
    let share = group.share();
    let severity = match share {
        _ if group.killed > 0 => Severity::Critical,
        URGENT.. => Severity::Critical,
        TOLD.. => Severity::Warning,
        _ if group.is_less_than_heap() => Severity::Info,
        _ => return None,
    };
    let resident = evidence.number(Threads, "resident_bytes").map(|bytes| {
        format!(
            "the JVM has {} in RAM, and all of its group {} without copies of files that can be dropped",
            of_bytes(bytes),
            of_bytes(group.used)
        )
    });
    let heap = group.heap.map(|heap| {
        let more = if group.is_less_than_heap() { ", which is more than the limit" } else { "" };
        format!("the heap may grow to {}{more}", format::bytes(heap))
    });
    let grown = (group.grown > 0.0).then(|| format!("{} more than at the first look", of_bytes(group.grown)));
    let reached = (group.reached > 0).then(|| {
        format!(
            "the limit was reached {} times meanwhile, and copies of files were dropped",
            format::count(group.reached)
        )
    });
    Some(Finding {
        id: "memory-limit",
        severity,
        score: 100.0 * share.min(1.0),
        title: group.title(),
        shown_in: "threads.waiting",
        when: Vec::new(),
        evidence: [resident, heap, grown, reached].into_iter().flatten().collect(),
        next_step: "Raise the limit (`memory.max`, Kubernetes `limits.memory`), or lower -Xmx or -XX:MaxRAMPercentage: threads, code, classes \
                    and buffers need room beside the heap. `jtrace heap PID` shows what fills it."
            .to_owned(),
    })
}

/// Hardly any more threads may be started in the JVM's control group.
pub(super) fn thread_limit(evidence: &Evidence<'_>) -> Option<Finding> {
    let [limit, used] = ["thread_limit", "thread_limit_used"].map(|key| evidence.whole(Threads, key));
    let (limit, used) = (limit.filter(|limit| *limit > 0)?, used?);
    let share = used as f64 / limit as f64;
    let severity = match share {
        URGENT.. => Severity::Critical,
        TOLD.. => Severity::Warning,
        _ => return None,
    };
    let alive = evidence
        .whole(Threads, "alive")
        .map(|alive| format!("{} of them are Java threads of this JVM", format::count(alive)));
    Some(Finding {
        id: "thread-limit",
        severity,
        score: 100.0 * share.min(1.0),
        title: format!(
            "The JVM's control group has {} of the {} threads and processes that it may: beyond that none can be started",
            format::count(used),
            format::count(limit)
        ),
        shown_in: "threads.patterns",
        when: Vec::new(),
        evidence: alive.into_iter().collect(),
        next_step: "Raise the limit (`pids.max`, the pod's limit of pids), or start fewer threads: `jtrace threads PID` shows what there is. Who \
                    starts one too many gets an OutOfMemoryError."
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};

    fn group(used: f64, reached: f64, killed: f64) -> Case {
        let mut case = Case::seconds(10)
            .number("threads", "memory_limit_bytes", 512.0 * 1024.0 * 1024.0)
            .number("threads", "memory_limit_used_bytes", used * 1024.0 * 1024.0)
            .number("threads", "memory_limit_grown_bytes", 0.0)
            .number("threads", "memory_limit_reached", reached)
            .number("threads", "memory_limit_killed", killed);
        case.target.max_heap_bytes = Some(256 << 20);
        case
    }

    #[test]
    fn little_room_in_the_group_is_told_before_the_kernel_kills() {
        assert_eq!(
            group(480.0, 0.0, 0.0).said(memory_limit),
            (
                Severity::Warning,
                "The JVM's control group uses 480 MiB of the 512 MiB of memory that it may (94 %): beyond that the kernel kills"
                    .to_owned()
            )
        );
        assert_eq!(group(505.0, 0.0, 0.0).said(memory_limit).0, Severity::Critical);
        assert_eq!(group(400.0, 9.0, 0.0).ask(memory_limit), None, "copies of files are dropped, which costs nothing");
        let evidence = group(480.0, 9.0, 0.0).ask(memory_limit).expect("a finding").evidence;
        assert!(evidence.iter().any(|line| line.starts_with("the limit was reached 9 times")), "{evidence:?}");
    }

    #[test]
    fn a_process_that_was_killed_is_told_though_there_is_room_again() {
        let (severity, title) = group(200.0, 5.0, 1.0).said(memory_limit);
        assert_eq!(severity, Severity::Critical);
        assert_eq!(title, "The kernel killed 1 process of the JVM's control group, which may use 512 MiB of memory");
    }

    #[test]
    fn a_group_in_which_hardly_any_thread_may_start_is_told() {
        let case = |used: f64| {
            Case::seconds(10).number("threads", "thread_limit", 200.0).number("threads", "thread_limit_used", used)
        };
        let title = "The JVM's control group has 190 of the 200 threads and processes that it may: beyond that none can be started";
        assert_eq!(case(190.0).said(thread_limit), (Severity::Warning, title.to_owned()));
        assert_eq!(case(200.0).said(thread_limit).0, Severity::Critical);
        assert_eq!(case(100.0).ask(thread_limit), None);
    }

    #[test]
    fn a_heap_that_does_not_fit_is_worth_knowing() {
        let mut case = group(200.0, 0.0, 0.0);
        case.target.max_heap_bytes = Some(1 << 30);
        assert_eq!(
            case.said(memory_limit),
            (
                Severity::Info,
                "The heap may grow to 1.0 GiB, and the JVM's control group may use 512 MiB of memory in all".to_owned()
            )
        );
    }
}
