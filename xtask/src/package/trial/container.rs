//! The image run as a pod of `docs/kubernetes.md` would run it: with a root of its own that cannot be written, the host's processes, and the
//! capabilities that the document names, no more. No container runtime takes part: this is `unshare`, `mount`, `setpriv` and `chroot`.

use std::{fs, path::Path, process::Command};

use anyhow::{Context as _, Result, ensure};

use super::{super::image::read, attach, reported};
use crate::{process, workspace};

/// Makes the root of a container around the image, then becomes what is run in there. A runtime mounts the same: `/proc` of the pid
/// namespace, which is the host's here, `/sys` to be read only, and what the manifest names.
const SCRIPT: &str = "set -e; root=$1; entry=$2; bounds=$3; shift 3
mount --bind \"$root\" \"$root\"
mount -t proc proc \"$root/proc\"
mount -t sysfs -o ro sysfs \"$root/sys\"
mount -t tmpfs -o mode=755 tmpfs \"$root/run\"
mount -t tmpfs -o mode=1777 tmpfs \"$root/tmp\"
mount -o remount,bind,ro \"$root\"
exec setpriv --bounding-set=\"$bounds\" chroot \"$root\" \"$entry\" \"$@\"";

/// Unpacks the image, attaches from it, and weaves a marker, which takes a process in the target's namespaces and the library.
pub(super) fn run(image: &Path, pid: u32, folder: &Path) -> Result<()> {
    let image = read::unpack(image, &folder.join("image"))?;
    println!("package: the image {} is what its index, manifest and configuration say", image.digest);
    for name in ["proc", "sys"] {
        fs::create_dir_all(image.root.join(name))?;
    }
    let capabilities = capabilities()?;
    let inside = || {
        let mut command = process::as_root("unshare");
        command.args(["--mount", "--propagation", "private", "sh", "-c", SCRIPT, "sh"]);
        command.arg(&image.root).args([&image.entry, &bounds(&capabilities)]);
        command
    };
    attach(inside(), pid, "the image, in a root of its own,")?;
    weave(inside(), pid)?;
    println!(
        "package: the image ran with {} capabilities of docs/kubernetes.md: {}",
        capabilities.len(),
        capabilities.join(" ")
    );
    Ok(())
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

/// What the manifest of the document adds.
fn capabilities() -> Result<Vec<String>> {
    let path = workspace::root().join("docs/kubernetes.md");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let added = added(&text);
    ensure!(!added.is_empty(), "{} adds no capabilities", path.display());
    Ok(added)
}

/// The list after `add:`.
fn added(manifest: &str) -> Vec<String> {
    let lines = manifest.lines().map(str::trim).skip_while(|line| *line != "add:").skip(1);
    let names = lines.map_while(|line| line.strip_prefix("- "));
    names.map(|name| name.split('#').next().unwrap_or_default().trim().to_owned()).collect()
}

/// As `setpriv` wants it: none but these.
fn bounds(capabilities: &[String]) -> String {
    let added = capabilities.iter().map(|name| format!(",+{}", name.to_lowercase()));
    format!("-all{}", added.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_a_manifest_is_read() {
        let text = "capabilities:\n  drop: [\"ALL\"]\n  add:\n    - BPF         # loads\n    - SYS_PTRACE\nvolumeMounts:\n  - name: run\n";
        assert_eq!(added(text), ["BPF", "SYS_PTRACE"]);
        assert_eq!(bounds(&added(text)), "-all,+bpf,+sys_ptrace");
        assert!(added("add nothing").is_empty());
    }

    #[test]
    fn the_document_adds_what_the_one_on_security_explains() {
        let text = fs::read_to_string(workspace::root().join("docs/security.md")).unwrap();
        let added = capabilities().unwrap();
        let unknown: Vec<&String> = added.iter().filter(|name| !text.contains(&format!("`CAP_{name}`"))).collect();
        assert!(unknown.is_empty() && added.len() > 3, "{unknown:?} of {added:?}");
    }
}
