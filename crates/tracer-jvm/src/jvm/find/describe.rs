//! Describes a JVM: who runs it, what it runs, which release and collector it is.
//!
//! The JVM's counters know most; where there are none, its tables, its flags and `/proc` say what they can.

use std::{fs, path::Path};

use super::{
    super::{flags::Flags, memory::Memory, metadata, perfdata::PerfData, vmstructs::VmStructs},
    process::{self, Identity, Stat, Status, read_bounded},
};
use crate::item::Target;

/// Longest text that is read from the JVM's tables.
const MAX_TEXT_BYTES: usize = 1024;
/// Most bytes of a command line.
const MAX_COMMAND_BYTES: usize = 64 << 10;

/// The highest level of tiered compilation.
const HIGHEST_LEVEL: u32 = 4;

/// What is known about a JVM beyond `/proc`; the parts that could not be read are absent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Known<'a> {
    pub(super) memory: Option<&'a Memory>,
    pub(super) tables: Option<&'a VmStructs>,
    pub(super) flags: Option<&'a Flags>,
    pub(super) counters: Option<&'a PerfData>,
}

/// Fills in the description.
pub(super) fn describe(identity: Identity, status: Status, libjvm: &Path, known: Known) -> Target {
    let Identity { pid, start_ticks } = identity;
    let jvm_version = known.text("java.property.java.vm.version").or_else(|| known.static_text("_s_vm_release"));
    let jvm_version = jvm_version.unwrap_or_default();
    let jdk_release = known
        .text("java.property.java.vm.specification.version")
        .and_then(|version| release(&version))
        .or_else(|| metadata::release(known.memory?, known.tables?).ok())
        .or_else(|| release(&jvm_version))
        .unwrap_or_default();
    // HotSpot's own version was 25 then, too.
    let jvm_version = known.text("java.property.java.version").filter(|_| jdk_release == 8).unwrap_or(jvm_version);
    Target {
        pid,
        namespace_pid: if status.namespace_pid == 0 { pid } else { status.namespace_pid },
        start_ticks,
        user: user_name(status.uid),
        command: known.text("sun.rt.javaCommand").unwrap_or_else(|| command_line(pid, known.memory)),
        jdk_release,
        jvm_name: known.jvm_name(),
        jvm_version,
        collector: known.collector(),
        libjvm: libjvm.to_string_lossy().into_owned(),
        container: process::in_container(pid).unwrap_or_default(),
        uptime_s: uptime_s(start_ticks).unwrap_or_default(),
        live_threads: known
            .counters
            .and_then(|counters| counters.get_long("java.threads.live"))
            .and_then(|threads| u64::try_from(threads).ok()),
        cpus: cpus(),
        max_heap_bytes: known.number("MaxHeapSize"),
        compiles_to_level: known.small_number("TieredStopAtLevel").filter(|level| *level <= HIGHEST_LEVEL),
        since_start: None,
        recorder: None,
    }
}

impl Known<'_> {
    fn text(&self, name: &str) -> Option<String> {
        self.counters?.get_string(name).filter(|text| !text.is_empty())
    }

    fn number(&self, flag: &str) -> Option<u64> {
        self.flags?.u64(self.memory?, flag)
    }

    /// A flag that is an `intx` in some releases and an `int` in others, and not negative.
    fn small_number(&self, flag: &str) -> Option<u32> {
        self.memory?.read_u32(self.flags?.address(flag)?).ok()
    }

    /// A text that a static pointer of `Abstract_VM_Version` leads to.
    fn static_text(&self, field: &str) -> Option<String> {
        let memory = self.memory?;
        let text = memory.read_u64(self.tables?.static_address("Abstract_VM_Version", field)?).ok()?;
        let text = memory.read_c_string(text, MAX_TEXT_BYTES).ok()?;
        Some(String::from_utf8_lossy(&text).into_owned())
    }

    fn jvm_name(&self) -> String {
        let (vendor, name) = (self.text("java.property.java.vm.vendor"), self.text("java.property.java.vm.name"));
        if let Some(name) = name {
            return vendor.map_or_else(|| name.clone(), |vendor| format!("{vendor} {name}"));
        }
        // "OpenJDK 64-Bit Server VM (17.0.15+6-Debian) for linux-amd64 ..."
        let info = self.static_text("_s_internal_vm_info_string").unwrap_or_default();
        info.split_once(" (").map(|(name, _)| name.to_owned()).unwrap_or_default()
    }

    fn collector(&self) -> String {
        if let (Some(flags), Some(memory)) = (self.flags, self.memory)
            && let Some(name) = flags.collector(memory)
        {
            return name.to_owned();
        }
        let name = self.text("sun.gc.collector.0.name").unwrap_or_default();
        let known = [
            ("G1", "G1"),
            ("PS", "Parallel"),
            ("Copy", "Serial"),
            ("Serial", "Serial"),
            ("Z", "ZGC"),
            ("Shenandoah", "Shenandoah"),
        ];
        known.iter().find(|(start, _)| name.starts_with(start)).map(|&(_, name)| name.to_owned()).unwrap_or_default()
    }
}

/// Feature release of a version (`17.0.15+6` is 17, `1.8` is 8).
fn release(version: &str) -> Option<u32> {
    let mut numbers = version.split(|letter: char| !letter.is_ascii_digit());
    match numbers.next()?.parse().ok()? {
        1 => numbers.next()?.parse().ok(),
        release => Some(release),
    }
}

/// Name of a user of this machine, or the number.
pub(super) fn user_name(uid: u32) -> String {
    let users = read_bounded("/etc/passwd").unwrap_or_default();
    let users = String::from_utf8_lossy(&users);
    let name = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then(|| name.to_owned())
    });
    name.unwrap_or_else(|| uid.to_string())
}

/// The command line; that of a `java` launcher from the main class or jar on. `/proc/PID/cmdline` would read it from memory
/// that nobody has checked, so it is read where the kernel says that it lies.
fn command_line(pid: u32, memory: Option<&Memory>) -> String {
    let read = memory.and_then(|memory| {
        let (start, end) = Stat::read(pid).ok()?.arguments;
        let bytes = usize::try_from(end.checked_sub(start)?).ok()?.min(MAX_COMMAND_BYTES);
        memory.read_bytes(start, bytes).ok()
    });
    let Some(line) = read.filter(|line| !line.is_empty()) else { return process::name(pid) };
    let words: Vec<_> = line.split(|&byte| byte == 0).map(String::from_utf8_lossy).collect();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).filter(|word| !word.is_empty()).collect();
    let is_launcher = words.first().is_some_and(|word| Path::new(word).file_name().is_some_and(|name| name == "java"));
    let start = if is_launcher { main_word(&words).unwrap_or(0) } else { 0 };
    words.get(start..).unwrap_or_default().join(" ")
}

/// Index of the main class, module or jar in the arguments of the `java` launcher.
fn main_word(words: &[&str]) -> Option<usize> {
    let mut at = 1;
    loop {
        match *words.get(at)? {
            "-jar" | "-m" | "--module" => return (at + 1 < words.len()).then_some(at + 1),
            "-cp"
            | "-classpath"
            | "--class-path"
            | "-p"
            | "--module-path"
            | "--add-modules"
            | "--add-opens"
            | "--add-exports"
            | "--add-reads"
            | "--upgrade-module-path"
            | "--limit-modules" => at += 2,
            word if word.starts_with(['-', '@']) => at += 1,
            _ => return Some(at),
        }
    }
}

fn uptime_s(start_ticks: u64) -> Option<u64> {
    let uptime = read_bounded("/proc/uptime").ok()?;
    let seconds = String::from_utf8_lossy(&uptime).split('.').next()?.parse::<u64>().ok()?;
    Some(seconds.saturating_sub(start_ticks / rustix::param::clock_ticks_per_second().max(1)))
}

/// CPUs that are online.
pub(super) fn cpus() -> u32 {
    let online = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    count_list(online.trim())
}

/// How many numbers a list of the kernel names (`0-3,8`).
fn count_list(list: &str) -> u32 {
    let count = |range: &str| -> Option<u32> {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        last.parse::<u32>().ok()?.checked_sub(first.parse().ok()?)?.checked_add(1)
    };
    list.split(',').filter_map(count).fold(0, u32::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_read_from_versions_of_all_ages() {
        let known = [("17.0.15+6-Debian-1deb12u1", 17), ("25", 25), ("1.8", 8), ("11.0.13+8", 11), ("21-ea+3", 21)];
        assert!(known.iter().all(|&(version, expected)| release(version) == Some(expected)));
        assert_eq!((release(""), release("x")), (None, None));
    }

    #[test]
    fn the_main_class_stands_behind_the_options() {
        let at = |line: &str| main_word(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(at("java -Xmx1g -cp a:b com.shop.Main -x"), Some(4));
        assert_eq!(at("java -Dx=y -jar shop.jar"), Some(3));
        assert_eq!(at("java -version"), None);
    }

    /// Its arguments can be as long as a quarter of its stack.
    #[test]
    fn of_a_command_line_without_end_the_first_64_kib_are_read() {
        use std::{io::Read as _, process::Stdio};
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "echo x; read line"]).args((0..4).map(|_| "y".repeat(40 << 10)));
        let mut other = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        other.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        let line = command_line(other.id(), Memory::open(other.id()).ok().as_ref());
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(line.starts_with("sh -c echo x; read line yyy") && line.len() <= 64 << 10, "{} bytes", line.len());
        assert!(line.len() > 60 << 10, "{} bytes", line.len());
    }

    #[test]
    fn lists_of_cpus_are_counted() {
        assert_eq!((count_list("0"), count_list("0-3,8,10-11"), count_list(""), count_list("3-1")), (1, 7, 0, 0));
    }

    #[test]
    fn users_have_names_and_strangers_numbers() {
        assert_eq!((user_name(0).as_str(), user_name(3_999_999_999).as_str()), ("root", "3999999999"));
    }
}
