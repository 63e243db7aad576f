//! What runs in the machine: an initial RAM disk with jtrace, the live tests, a JDK, and a script that runs some of them and says
//! what came of each in lines that begin with `@`.

use std::{
    fmt::Write as _,
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context as _, Result, ensure};

use super::{Check, JDK};
use crate::{builds::ATTACHMENTS, process, workspace};

/// Makes it, and says where it is.
pub(super) fn make(live: &Path, checks: &[&Check]) -> Result<PathBuf> {
    let folder = workspace::target().join("kernels");
    let root = folder.join("root");
    if root.exists() {
        fs::remove_dir_all(&root)?;
    }
    for name in ["bin", "dev", "etc", "lib64", "proc", "root", "run", "sys", "tmp", "jdks"] {
        fs::create_dir_all(root.join(name))?;
    }
    programs(&root, live)?;
    copy(&workspace::jdks().join(JDK), &root.join("jdks"))?;
    copy(&workspace::workloads(), &root)?;
    fs::write(root.join("etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n")?;
    write_script(&root.join("init"), INIT)?;
    write_script(&root.join("checks"), &script(checks))?;
    let initrd = folder.join("initrd");
    let mut cpio = process::command("sh");
    cpio.args(["-c", "find . | cpio --quiet -o -H newc"]).current_dir(&root).stdout(fs::File::create(&initrd)?);
    process::run(&mut cpio)?;
    fs::remove_dir_all(&root)?;
    Ok(initrd)
}

/// jtrace, the tests and a shell, with what they are linked with.
fn programs(root: &Path, live: &Path) -> Result<()> {
    let mut libraries = Vec::new();
    for (from, name) in [(workspace::jtrace(), "jtrace"), (live.to_owned(), "live")] {
        let mut strip = process::command("objcopy");
        process::run(strip.arg("--strip-debug").arg(&from).arg(root.join("bin").join(name)))?;
        libraries.extend(linked(&from)?);
    }
    let java = workspace::jdks().join(JDK);
    libraries.extend(linked(&java.join("bin/java"))?);
    libraries.extend(linked(&java.join("lib/server/libjvm.so"))?);
    for library in libraries.into_iter().filter(|library| !library.starts_with(&java)) {
        let to = root.join(library.strip_prefix("/").unwrap_or(&library));
        fs::create_dir_all(to.parent().context("a library lies nowhere")?)?;
        fs::copy(&library, to).with_context(|| format!("cannot copy {}", library.display()))?;
    }
    let busybox = Path::new("/bin/busybox");
    ensure!(busybox.is_file(), "there is no {}: run `cargo xtask setup`", busybox.display());
    fs::copy(busybox, root.join("bin/busybox"))?;
    for name in [
        "sh", "cat", "cp", "cut", "date", "grep", "head", "mkdir", "mount", "poweroff", "rm", "sed", "sleep", "tail",
        "timeout", "uname",
    ] {
        symlink("busybox", root.join("bin").join(name))?;
    }
    Ok(())
}

/// The files that a program is linked with.
fn linked(program: &Path) -> Result<Vec<PathBuf>> {
    let output = process::command("ldd").arg(program).stderr(Stdio::inherit()).output().context("cannot run ldd")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let words = text.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from);
    Ok(words.filter(|path| path.is_file()).collect())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    process::run(process::command("cp").arg("-aL").arg(from).arg(to))
}

fn write_script(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).context("cannot make a script executable")
}

const INIT: &str = "#!/bin/sh
export PATH=/bin HOME=/root
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
mount -t tmpfs run /run
mount -t tracefs tracing /sys/kernel/tracing
mount -t bpf bpf /sys/fs/bpf
mkdir /dev/shm
mount -t tmpfs shm /dev/shm
echo
echo \"@kernel $(uname -r)\"
/checks
echo @end
poweroff -f
";

/// Seconds after which a test is taken for one that hangs.
const LIMIT_S: u32 = 1500;

/// Runs `doctor`, and the tests where it says that jtrace works. Else `attach` must refuse with the same sentence.
fn script(checks: &[&Check]) -> String {
    let mut text = format!(
        "#!/bin/sh
export JTRACE_BIN=/bin/jtrace JTRACE_JDKS=/jdks JTRACE_WORKLOADS=/workloads RUST_BACKTRACE=0
# A trap costs 3 us and more here, and the tests compare exact counts.
export JTRACE_TEST_MAX_OVERHEAD=100000%
export JTRACE_ATTACHMENTS={ATTACHMENTS}
# Nobody else needs the CPUs of this machine.
export JTRACE_TEST_OWN_MACHINE=1
jtrace doctor > /tmp/doctor 2>&1
code=$?
cat /tmp/doctor
echo \"@doctor $code\"
if [ $code != 0 ]; then
    sentence=$(grep MISSING /tmp/doctor | head -1 | sed 's/.*MISSING  [^ ]* *//')
    echo \"@refused $sentence\"
    (sleep 300) | /jdks/{JDK}/bin/java -cp /workloads/idle Idle > /tmp/idle &
    for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        grep -q READY /tmp/idle && break
        sleep 1
    done
    pid=$(jtrace list | grep Idle | sed 's/^ *//' | cut -d' ' -f1)
    timeout 120 jtrace attach $pid --duration 1s > /tmp/attach 2>&1
    code=$?
    cat /tmp/attach
    said=disagrees
    grep -qF \"error: $sentence\" /tmp/attach && said=agrees
    echo \"@attach $code $said\"
    exit
fi
check() {{
    begin=$(date +%s)
    if timeout -s KILL {LIMIT_S} live \"$2\" --test-threads=1 > /tmp/said 2>&1 && grep -q '[1-9][0-9]* passed' /tmp/said; then
        result=ok
    else
        result=failed
        tail -n 30 /tmp/said
    fi
    echo \"@test $1 $result $(($(date +%s) - begin))\"
}}
"
    );
    for check in checks {
        _ = writeln!(text, "check '{}' '{}'", check.name, check.test);
    }
    text
}
