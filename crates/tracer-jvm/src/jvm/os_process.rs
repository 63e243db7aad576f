//! What the kernel says of a whole process at a moment, and of what surrounds it: memory, page faults, CPU time, the limit of its
//! control group, and what the rest of the machine does.

mod groups;
mod limits;

use super::{descriptor::open, find::process::read_bounded};
use crate::item::look::{MemoryLimit, OsProcess};

/// Reads what the kernel says of a process; none where it has gone.
pub fn read(pid: u32) -> Option<OsProcess> {
    let mut read = OsProcess::default();
    read_status(&mut read, &text(&format!("/proc/{pid}/status"))?);
    let tick_ns = tick_ns();
    read_stat(&mut read, &text(&format!("/proc/{pid}/stat"))?, tick_ns)?;
    read.machine_ns = machine_ns(&text("/proc/stat")?, tick_ns).unwrap_or(0);
    let groups = text(&format!("/proc/{pid}/cgroup")).unwrap_or_default();
    (read.descriptors, read.most_descriptors) = (open::count(pid), open::limit(pid));
    let statistics = groups::folders(&groups, &groups::CPU).into_iter().map(|group| group + "/cpu.stat");
    read.throttled_ns = statistics.filter_map(|path| throttled_ns(&text(&path)?)).max();
    read.memory_limit = limits::memory_limit(&groups, &text).map(|(_, limit)| limit);
    read.thread_limit = limits::thread_limit(&groups, &text);
    Some(read)
}

/// The limit of memory of a process's control groups that leaves the least room, with the group's folder; none where none has one.
pub fn memory_limit(pid: u32) -> Option<(String, MemoryLimit)> {
    limits::memory_limit(&text(&format!("/proc/{pid}/cgroup"))?, &text)
}

fn text(path: &str) -> Option<String> {
    Some(String::from_utf8_lossy(&read_bounded(path).ok()?).into_owned())
}

/// Most of a process's memory that was in RAM at a time.
pub fn resident_peak_bytes(pid: u32) -> Option<u64> {
    peak(&String::from_utf8_lossy(&read_bounded(&format!("/proc/{pid}/status")).ok()?))
}

fn peak(status: &str) -> Option<u64> {
    let value = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    value.split_ascii_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

fn read_status(of: &mut OsProcess, text: &str) {
    let kib = |key: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(key))?;
        value.split_ascii_whitespace().next()?.parse::<u64>().ok()
    };
    let bytes = |key| kib(key).unwrap_or(0).saturating_mul(1024);
    of.anonymous_bytes = bytes("RssAnon:");
    of.resident_bytes = bytes("VmRSS:");
    of.swapped_bytes = bytes("VmSwap:");
}

fn read_stat(of: &mut OsProcess, text: &str, tick_ns: u64) -> Option<()> {
    // The name in parentheses can hold anything, parentheses too. Behind it come the third field and all others.
    let (_, fields) = text.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    of.major_faults = fields.nth(9)?.parse().ok()?;
    let user: u64 = fields.nth(1)?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    of.cpu_ns = user.saturating_add(system).saturating_mul(tick_ns);
    Some(())
}

/// Length of a clock tick.
fn tick_ns() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

/// CPU time that was not idle: of `/proc/stat`'s first line all but the fourth and fifth number. Guests' time is in users' already.
fn machine_ns(text: &str, tick_ns: u64) -> Option<u64> {
    let numbers = text.lines().next()?.strip_prefix("cpu ")?.split_ascii_whitespace();
    let busy = numbers.take(8).enumerate().filter(|(place, _)| *place != 3 && *place != 4);
    let ticks = busy.filter_map(|(_, number)| number.parse::<u64>().ok()).fold(0, u64::saturating_add);
    Some(ticks.saturating_mul(tick_ns))
}

/// Version 2 has microseconds, version 1 nanoseconds.
fn throttled_ns(text: &str) -> Option<u64> {
    let value =
        |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse::<u64>().ok());
    value("throttled_time").or_else(|| value("throttled_usec").map(|us| us.saturating_mul(1000)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz;

    #[test]
    fn memory_faults_and_time_of_a_process() {
        let mut read = OsProcess::default();
        read_status(&mut read, "Name:\tjava\nVmRSS:\t  2048 kB\nRssAnon:\t  1024 kB\nVmSwap:\t     4 kB\n");
        read_stat(&mut read, "7 (a) b) S 1 7 7 0 -1 4194560 500 0 12 0 300 40 0 0 20 0 18 0 999", 10_000_000)
            .expect("a line");
        assert_eq!(
            read,
            OsProcess {
                anonymous_bytes: 1 << 20,
                resident_bytes: 2 << 20,
                swapped_bytes: 4096,
                major_faults: 12,
                cpu_ns: 3_400_000_000,
                ..OsProcess::default()
            }
        );
    }

    #[test]
    fn the_most_that_was_in_ram_is_read() {
        assert_eq!(peak("VmPeak:\t 9 kB\nVmHWM:\t  2048 kB\nVmRSS:\t 1024 kB\n"), Some(2 << 20));
        assert_eq!(peak("VmRSS:\t 1024 kB\n"), None);
        assert_eq!(peak("VmHWM:\t99999999999999999999 kB\n"), None);
    }

    #[test]
    fn time_of_the_machine_is_what_was_not_idle() {
        assert_eq!(machine_ns("cpu  100 1 10 5000 70 2 3 4 50 0\ncpu0 1 1", 10), Some(1200));
        assert_eq!(machine_ns("intr 5", 10), None);
    }

    #[test]
    fn both_versions_say_how_long_a_group_was_throttled() {
        assert_eq!(throttled_ns("nr_periods 9\nnr_throttled 3\nthrottled_usec 70\n"), Some(70_000));
        assert_eq!(throttled_ns("nr_throttled 3\nthrottled_time 70\n"), Some(70));
        assert_eq!(throttled_ns("usage_usec 70\n"), None);
    }

    #[test]
    fn fuzz_os_processes() {
        fuzz::texts("os_process", |text| {
            let _ = open::of_limits(text);
            let mut read = OsProcess::default();
            read_status(&mut read, text);
            let _ = read_stat(&mut read, text, 10_000_000);
            let _ = (machine_ns(text, 10_000_000), throttled_ns(text), peak(text));
            let folders = groups::folders(text, &groups::CPU);
            assert!(folders.iter().all(|path| path.starts_with("/sys/fs/cgroup/")));
        });
    }
}
