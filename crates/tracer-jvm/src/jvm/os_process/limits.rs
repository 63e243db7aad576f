//! How much memory a control group may use and how much it does, and the same of threads.

use super::groups::{MEMORY, PIDS, folders};
use crate::item::look::{MemoryLimit, ThreadLimit};

/// From here on a limit is none: version 1 says so with a number near the largest one.
const NO_LIMIT: u64 = 1 << 60;

/// The group with the least room left, by the text of `/proc/PID/cgroup`; none where none has a limit. Files are read by `text`.
pub(super) fn memory_limit(groups: &str, text: &dyn Fn(&str) -> Option<String>) -> Option<(String, MemoryLimit)> {
    let of_group = |group: String| Some((limit_of(&group, text)?, group));
    let all = folders(groups, &MEMORY).into_iter().filter_map(of_group);
    let least = all.min_by_key(|(limit, _)| limit.room_bytes());
    least.map(|(limit, group)| (group, limit))
}

/// The group in which the fewest threads may be started, which has the same files with either version.
pub(super) fn thread_limit(groups: &str, text: &dyn Fn(&str) -> Option<String>) -> Option<ThreadLimit> {
    let number = |file: String| text(&file)?.trim().parse::<u64>().ok();
    let of_group = |group: String| {
        let limit = number(format!("{group}/pids.max"))?;
        Some(ThreadLimit { limit, used: number(format!("{group}/pids.current"))? })
    };
    let all = folders(groups, &PIDS).into_iter().filter_map(of_group);
    all.min_by_key(|limit| limit.limit.saturating_sub(limit.used))
}

/// What one group says, with the names of either version.
fn limit_of(group: &str, text: &dyn Fn(&str) -> Option<String>) -> Option<MemoryLimit> {
    let file = |name: &str| text(&format!("{group}/{name}"));
    let number = |[new, old]: [&str; 2]| file(new).or_else(|| file(old))?.trim().parse::<u64>().ok();
    let limit_bytes = number(["memory.max", "memory.limit_in_bytes"]).filter(|limit| *limit < NO_LIMIT)?;
    let used_bytes = number(["memory.current", "memory.usage_in_bytes"])?;
    let statistics = file("memory.stat").unwrap_or_default();
    // With version 1 those without `total` are of this group alone.
    let files = value(&statistics, "total_inactive_file").or_else(|| value(&statistics, "inactive_file"));
    let events = file("memory.events").unwrap_or_default();
    let killed = value(&events, "oom_kill").or_else(|| value(&file("memory.oom_control")?, "oom_kill"));
    let reached = value(&events, "max").or_else(|| file("memory.failcnt")?.trim().parse().ok());
    Some(MemoryLimit {
        limit_bytes,
        used_bytes: used_bytes.saturating_sub(files.unwrap_or(0)),
        reached: reached.unwrap_or(0),
        killed: killed.unwrap_or(0),
    })
}

/// A number of a file with a name and a number a line.
fn value(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz;

    fn said(files: &[(&str, &str)], groups: &str) -> Option<(String, [u64; 4])> {
        let text = |path: &str| files.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned());
        let (group, limit) = memory_limit(groups, &text)?;
        Some((group, [limit.limit_bytes, limit.used_bytes, limit.reached, limit.killed]))
    }

    #[test]
    fn the_group_with_the_least_room_says_how_much_it_may_use() {
        let new = [
            ("/sys/fs/cgroup/pods/memory.max", "max\n"),
            ("/sys/fs/cgroup/pods/java/memory.max", "1000\n"),
            ("/sys/fs/cgroup/pods/java/memory.current", "900\n"),
            ("/sys/fs/cgroup/pods/java/memory.stat", "anon 1\ninactive_file 200\nactive_file 9\n"),
            ("/sys/fs/cgroup/pods/java/memory.events", "low 0\nhigh 0\nmax 7\noom 1\noom_kill 2\noom_group_kill 0\n"),
        ];
        let group = "/sys/fs/cgroup/pods/java".to_owned();
        assert_eq!(said(&new, "0::/pods/java\n"), Some((group, [1000, 700, 7, 2])));
        assert_eq!(said(&new, "0::/pods\n"), None, "it has no limit");
        let old = [
            ("/sys/fs/cgroup/memory/pods/memory.limit_in_bytes", "5000\n"),
            ("/sys/fs/cgroup/memory/pods/memory.usage_in_bytes", "4900\n"),
            ("/sys/fs/cgroup/memory/pods/memory.stat", "inactive_file 1\ntotal_inactive_file 40\n"),
            ("/sys/fs/cgroup/memory/pods/memory.failcnt", "3\n"),
            ("/sys/fs/cgroup/memory/pods/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n"),
            ("/sys/fs/cgroup/memory/pods/java/memory.limit_in_bytes", "9223372036854771712\n"),
            ("/sys/fs/cgroup/memory/pods/java/memory.usage_in_bytes", "4000\n"),
        ];
        let group = "/sys/fs/cgroup/memory/pods".to_owned();
        assert_eq!(said(&old, "4:memory:/pods/java\n0::/\n"), Some((group, [5000, 4860, 3, 1])));
    }

    #[test]
    fn the_group_in_which_the_fewest_threads_may_start_says_so() {
        let files = [
            ("/sys/fs/cgroup/pids/pods/pids.max", "max\n"),
            ("/sys/fs/cgroup/pids/pods/pids.current", "700\n"),
            ("/sys/fs/cgroup/pids/pods/java/pids.max", "100\n"),
            ("/sys/fs/cgroup/pids/pods/java/pids.current", "95\n"),
        ];
        let text = |path: &str| files.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned());
        let limit = |groups| thread_limit(groups, &text).map(|limit| [limit.limit, limit.used]);
        assert_eq!(limit("8:pids:/pods/java\n0::/\n"), Some([100, 95]));
        assert_eq!(limit("8:pids:/pods\n"), None, "it has none");
    }

    #[test]
    fn fuzz_group_limits() {
        fuzz::texts("group_limits", |text| {
            let _ = memory_limit("4:memory:/pods/java\n0::/pods/java\n", &|_| Some(text.to_owned()));
            let _ = memory_limit(text, &|_| Some("1".to_owned()));
            let _ = thread_limit("8:pids:/pods/java\n", &|_| Some(text.to_owned()));
        });
    }
}
