//! Where the control groups of a process are: its own one, and those above it, whose limits hold for it as well.

use std::fmt::Write as _;

/// Where control groups are mounted.
const GROUPS: &str = "/sys/fs/cgroup";
/// Where version 2 is: alone, or beside version 1.
const UNIFIED: [&str; 2] = ["", "/unified"];
/// Most control groups above each other that are looked into.
const MAX_DEPTH: usize = 16;

/// What limits groups.
pub(super) struct Controller {
    /// Its name, with version 1.
    name: &'static str,
    /// Where its groups may be then.
    roots: &'static [&'static str],
}

pub(super) const CPU: Controller = Controller { name: "cpu", roots: &["/cpu", "/cpu,cpuacct"] };
pub(super) const MEMORY: Controller = Controller { name: "memory", roots: &["/memory"] };
pub(super) const PIDS: Controller = Controller { name: "pids", roots: &["/pids"] };

/// Folders in which those of a controller may be, by the text of `/proc/PID/cgroup`.
pub(super) fn folders(groups: &str, controller: &Controller) -> Vec<String> {
    let mut folders = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else { continue };
        let roots: &[&str] = if controllers.is_empty() {
            &UNIFIED
        } else if controllers.split(',').any(|one| one == controller.name) {
            controller.roots
        } else {
            continue;
        };
        if path.split('/').any(|part| part == "..") {
            continue;
        }
        for root in roots {
            let mut group = String::new();
            for part in path.split('/').filter(|part| !part.is_empty()).take(MAX_DEPTH) {
                let _ = write!(group, "/{part}");
                folders.push(format!("{GROUPS}{root}{group}"));
            }
        }
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_a_group_above_counts() {
        let text = "4:memory:/a\n1:cpu,cpuacct:/shop/web\n0::/\n";
        let of_cpu = ["/cpu/shop", "/cpu/shop/web", "/cpu,cpuacct/shop", "/cpu,cpuacct/shop/web"];
        assert_eq!(folders(text, &CPU), of_cpu.map(|path| format!("/sys/fs/cgroup{path}")));
        assert_eq!(folders(text, &MEMORY), ["/sys/fs/cgroup/memory/a"]);
        assert_eq!(folders("0::/pod/java\n", &MEMORY).len(), 4, "version 2, alone or not");
        assert_eq!(folders("0::/../../etc\n", &CPU), [""; 0]);
    }
}
