//! The limit of memory of a control group is told as the kernel has it, and so is a process that the kernel has killed for it.

use std::{fs, path::PathBuf, process::Command};

use anyhow::{Context as _, Result, ensure};
use tests::{
    jdk,
    jtrace::{self, Session},
    jvm::{Jvm, Launch},
    patience::until,
    report::Report,
};

const LIMIT: u64 = 400 << 20;
/// Where groups are with version 1 and with version 2, and their files for the limit and for what is used.
const GROUPS: [(&str, &str, &str); 2] = [
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ("/sys/fs/cgroup", "memory.max", "memory.current"),
];
/// Asks for memory until it is killed, before anybody else is.
const EATER: &str = "echo 1000 > /proc/self/oom_score_adj && echo $$ > \"$0\" && exec tail /dev/zero";
/// Becomes another program in a group.
const WITHIN: &str = "echo $$ > \"$0\" && exec \"$@\"";

/// A group with a limit, which goes with its last process.
struct Group {
    folder: PathBuf,
    used: PathBuf,
}

impl Group {
    fn new(name: &str) -> Result<Self> {
        for (groups, limit, used) in GROUPS {
            let folder = PathBuf::from(groups).join(format!("jtrace-test-{}-{name}", std::process::id()));
            if fs::create_dir(&folder).is_err() {
                continue;
            }
            let group = Self { used: folder.join(used), folder };
            if fs::write(group.folder.join(limit), LIMIT.to_string()).is_ok() {
                return Ok(group);
            }
        }
        anyhow::bail!("this machine has no control groups of memory")
    }

    fn processes(&self) -> PathBuf {
        self.folder.join("cgroup.procs")
    }

    fn used(&self) -> Result<u64> {
        Ok(fs::read_to_string(&self.used)?.trim().parse()?)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // What was in it has ended, and the kernel takes a moment.
        let _ = until("the group can go", || Ok(fs::remove_dir(&self.folder).is_ok().then_some(())));
    }
}

fn start(group: &Group) -> Result<Jvm> {
    let launch = Launch::new(&jdk::any()?, "idle", "Idle").flags(&["-Xmx64m"]);
    let directory = tempfile::tempdir()?;
    let mut command = Command::new("sh");
    command.args(["-c", WITHIN]).arg(group.processes()).args(launch.command(directory.path()));
    launch.start_by(&mut command, directory)
}

#[test]
fn the_limit_of_a_control_group_is_told_with_what_it_uses() -> Result<()> {
    let group = Group::new("told")?;
    let mut jvm = start(&group)?;
    let pid = jvm.pid().to_string();
    let report = until("threads are looked at", || {
        let report = Report::parse(&jtrace::succeed(&["attach", &pid, "-l", "threads", "-d", "2s", "--json"])?.stdout)?;
        Ok(Some(report).filter(|report| report.summary("threads", "looks").is_ok_and(|looks| looks > 1)))
    })?;
    ensure!(report.summary("threads", "memory_limit_bytes")? == LIMIT);
    let (told, all) = (report.summary("threads", "memory_limit_used_bytes")?, group.used()?);
    // Copies of files that can be dropped are a part of what is used.
    ensure!(told > 10 << 20 && told <= all + (8 << 20), "{told} of {all}");
    ensure!(report.summary("threads", "memory_limit_killed")? == 0);
    ensure!(!report.findings().contains(&"memory-limit"), "{:?}", report.titles());
    jvm.finish().map(drop)
}

#[test]
fn a_process_that_the_kernel_kills_for_the_limit_is_told() -> Result<()> {
    let group = Group::new("killed")?;
    let mut jvm = start(&group)?;
    let pid = jvm.pid().to_string();
    let report = until("a look after the kill", || {
        let session = Session::start(&["attach", &pid, "-l", "threads", "-d", "6s", "--json"])?;
        let eater = Command::new("sh").args(["-c", EATER]).arg(group.processes()).output().context("no sh")?;
        ensure!(!eater.status.success(), "it got all that it wanted");
        let report = session.final_report()?;
        Ok(Some(report)
            .filter(|report| report.summary("threads", "memory_limit_killed").is_ok_and(|killed| killed > 0)))
    })?;
    ensure!(report.summary("threads", "memory_limit_reached")? > 0);
    ensure!(report.findings().first() == Some(&"memory-limit"), "{:?}", report.titles());
    let title = "The kernel killed 1 process of the JVM's control group, which may use 400 MiB of memory";
    ensure!(report.titles().first() == Some(&title), "{:?}", report.titles());
    jvm.finish().map(drop)
}
