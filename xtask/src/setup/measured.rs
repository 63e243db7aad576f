//! What only measurements use: the real programs that `jtrace bench --suite packaged` runs, and the other tools beside which
//! it measures. Without one of these packages everything is built and tested, and `jtrace bench` skips what needs it and says
//! so: what cannot be installed is no failure here.

use anyhow::Result;

use super::{Package, Purpose, can_install, install_known, update};
use crate::process;

/// The packages of the suite, one a line. jtrace's own list cannot be asked: it is built after set-up.
const SUITE: &str = include_str!("../../../crates/tracer-bench/bench/packages.txt");

/// The other tools.
const PEERS: &[Package] = &[
    Package {
        name: "bpftrace",
        why: "jtrace bench measures it beside jtrace",
        purpose: Purpose::Bench,
        is_present: || process::on_path("bpftrace"),
    },
    Package {
        name: "bpfcc-tools",
        why: "jtrace bench measures it beside jtrace",
        purpose: Purpose::Bench,
        // Debian's module is one of Debian's Python, which need not be the first on the path.
        is_present: || process::succeeds(process::command("/usr/bin/python3").args(["-c", "import bcc"])),
    },
];

/// Installs what is not there, as far as this machine's package lists have it.
pub(super) fn run() {
    let suite: Vec<_> = SUITE.lines().filter(|line| !line.starts_with('#')).collect();
    let installed = installed(&suite);
    let programs = suite.into_iter().filter(|package| !installed.iter().any(|name| name == package));
    let peers = PEERS.iter().filter(|package| !(package.is_present)()).map(|package| package.name);
    let missing: Vec<_> = programs.chain(peers).collect();
    if missing.is_empty() {
        println!("setup: programs and tools that jtrace bench measures present");
        return;
    }
    println!("setup: installing {} (jtrace bench measures these)", missing.join(" "));
    if let Err(error) = add(&missing) {
        eprintln!("setup: {error:#}; jtrace bench will skip what needs it");
    }
}

/// The packages of these that Debian's package manager has installed; none where there is no such manager.
fn installed(packages: &[&str]) -> Vec<String> {
    let mut query = process::command("dpkg-query");
    query.args(["--show", "--showformat=${db:Status-Status} ${Package}\n"]).args(packages);
    // It complains of each package that it never heard of, and answers for the others.
    let answer = query.output().map(|output| output.stdout).unwrap_or_default();
    let lines = String::from_utf8_lossy(&answer).into_owned();
    lines.lines().filter_map(|line| line.strip_prefix("installed ")).map(str::to_owned).collect()
}

/// One that other releases of Debian do not have any more would keep all others from being installed.
fn add(packages: &[&str]) -> Result<()> {
    can_install(packages)?;
    update()?;
    let is_known = |package: &&str| process::succeeds(process::command("apt-cache").args(["show", package]));
    let (known, unknown): (Vec<_>, Vec<_>) = packages.iter().copied().partition(is_known);
    if !unknown.is_empty() {
        eprintln!("setup: this machine's package lists lack {}; jtrace bench will skip these", unknown.join(" "));
    }
    if known.is_empty() { Ok(()) } else { install_known(&known) }
}
