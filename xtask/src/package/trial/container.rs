//! The image run as a pod of `docs/kubernetes.md` would run it: with a root of its own that cannot be written, the host's processes, and the
//! capabilities that the document names, no more. No container runtime takes part: this is `unshare`, `mount` and `capsh`.

use std::{fs, path::Path, process::Command};

use ::tests::jvm::{Jvm, Launch, child_of};
use anyhow::{Context as _, Result, ensure};

use super::{super::image::read, attach, reported};
use crate::{process, workspace};

/// Makes the root of a container around the image, then becomes what is run in there. A runtime mounts the same: `/proc` of the pid
/// namespace, which is the host's here, `/sys` to be read only, a few devices, and what the manifest names.
const SCRIPT: &str = "set -e; root=$1; entry=$2; drop=$3; shift 3
mount --bind \"$root\" \"$root\"
mount -t proc proc \"$root/proc\"
mount -t sysfs -o ro sysfs \"$root/sys\"
for device in null zero full random urandom; do
  : > \"$root/dev/$device\"
  mount --bind \"/dev/$device\" \"$root/dev/$device\"
done
mount -t tmpfs -o mode=755 tmpfs \"$root/run\"
mount -t tmpfs -o mode=1777 tmpfs \"$root/tmp\"
mount -o remount,bind,ro \"$root\"
exec capsh --chroot=\"$root\" --no-new-privs --drop=\"$drop\" --shell=\"$entry\" -- \"$@\"";

/// Becomes the JVM of another pod: in a pid and a mount namespace of its own, with its own `/tmp`, as a user without rights.
const POD: &str = "set -e; mount -t proc proc /proc; mount -t tmpfs -o mode=1777 tmpfs /tmp; cd /tmp
exec setpriv --reuid=65534 --regid=65534 --clear-groups \"$@\"";

/// Unpacks the image, attaches with the capabilities of the manifest, and weaves a marker with those that the library takes as well.
pub(super) fn run(image: &Path, folder: &Path) -> Result<()> {
    let image = read::unpack(image, &folder.join("image"))?;
    println!("package: the image {} is what its index, manifest and configuration say", image.digest);
    for name in ["proc", "sys", "dev"] {
        fs::create_dir_all(image.root.join(name))?;
    }
    let [watching, library] = capabilities()?;
    let all = process::output(process::command("setpriv").arg("--list-caps"))?;
    let inside = |capabilities: &[String]| {
        let mut command = process::as_root("unshare");
        command.args(["--mount", "--propagation", "private", "sh", "-c", SCRIPT, "sh"]);
        command.arg(&image.root).args([&image.entry, &dropped(&all, capabilities)]);
        command
    };
    let place = tempfile::tempdir_in("/var/tmp").context("cannot make a folder for classes")?;
    let mut jvm = pod(place.path())?;
    // The innermost process of `sudo`, `unshare` and the JVM.
    let mut pid = jvm.pid();
    while let Ok(child) = child_of(pid) {
        pid = child;
    }
    attach(inside(&watching), pid, "the image, in a root of its own,")?;
    println!("package: that took the {} capabilities of docs/kubernetes.md: {}", watching.len(), watching.join(" "));
    weave(inside(&[&watching[..], &library[..]].concat()), pid)?;
    println!("package: that took {} more: {}", library.len(), library.join(" "));
    // Both visitors are gone, and the program is as well as before.
    jvm.finish().map(drop)
}

/// Starts the JVM that is looked into.
fn pod(place: &Path) -> Result<Jvm> {
    // The user may not be able to read the folder of this clone.
    let classes = place.join("classes");
    process::run(process::command("cp").arg("-r").arg(workspace::workloads().join("demo")).arg(&classes))?;
    process::run(process::command("chmod").args(["--recursive", "u=rwX,go=rX"]).arg(place))?;
    let jdk = super::jdk();
    let mut command = process::as_root("unshare");
    command.args(["--mount", "--pid", "--fork", "--kill-child", "--propagation", "private", "sh", "-c", POD, "sh"]);
    command.arg(jdk.java()).args(["-Xmx256m", "-XX:+UseG1GC", "-cp"]).arg(&classes).arg("com.shop.Demo");
    Launch::new(&jdk, "demo", "com.shop.Demo").start_by(&mut command, tempfile::tempdir()?)
}

/// Follows a method by a marker.
fn weave(mut jtrace: Command, pid: u32) -> Result<()> {
    let words = ["markers", &pid.to_string(), "--marker", "cart=com.shop.Cart::add+time", "-d", "3s", "--json"];
    let report = reported(jtrace.args(words).output(), "markers of the image")?;
    let events = report.completeness("delivered")?;
    ensure!(events > 0, "markers of the image saw nothing");
    println!("package: the image loaded its library into JVM {pid}: {events} events");
    Ok(())
}

/// What the document adds: for watching, and for the library.
fn capabilities() -> Result<[Vec<String>; 2]> {
    let path = workspace::root().join("docs/kubernetes.md");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let lists = added(&text);
    ensure!(lists.iter().all(|list| !list.is_empty()), "{} has an empty list", path.display());
    <[Vec<String>; 2]>::try_from(lists).ok().with_context(|| format!("{} has not two lists", path.display()))
}

/// The lists after `add:`.
fn added(text: &str) -> Vec<Vec<String>> {
    let name = |line: &str| {
        let name = line.trim().strip_prefix("- ")?.split('#').next()?;
        Some(name.trim().to_owned())
    };
    let lists = text.split("add:\n").skip(1);
    lists.map(|list| list.lines().map_while(name).collect()).collect()
}

/// All that the kernel knows but these, as `capsh` wants them.
fn dropped(all: &str, kept: &[String]) -> String {
    let is_kept = |name: &str| kept.iter().any(|kept| kept.eq_ignore_ascii_case(name));
    let dropped = all.lines().map(str::trim).filter(|name| !name.is_empty() && !is_kept(name));
    dropped.map(|name| format!("cap_{name}")).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_of_a_document_are_read() {
        let text = "capabilities:\n  drop: [\"ALL\"]\n  add:\n    - BPF   # loads\n    - SYS_PTRACE\n  other:\n  - x\nadd:\n- KILL\n";
        assert_eq!(added(text), [vec!["BPF", "SYS_PTRACE"], vec!["KILL"]]);
        assert_eq!(dropped("chown\nbpf\nsys_ptrace\nkill\n", &added(text)[0]), "cap_chown,cap_kill");
        assert!(added("add nothing").is_empty());
    }

    #[test]
    fn the_document_adds_what_the_one_on_security_explains() {
        let text = fs::read_to_string(workspace::root().join("docs/security.md")).unwrap();
        let added = capabilities().unwrap().concat();
        let once = format!("capabilities: {{add: [{}]}}", capabilities().unwrap()[0].join(", "));
        assert!(fs::read_to_string(workspace::root().join("docs/kubernetes.md")).unwrap().contains(&once), "{once}");
        let unknown: Vec<&String> = added.iter().filter(|name| !text.contains(&format!("`CAP_{name}`"))).collect();
        assert!(unknown.is_empty() && added.len() > 5, "{unknown:?} of {added:?}");
    }
}
