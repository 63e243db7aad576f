//! The static binary: it needs no library of the machine that it runs on, so one file serves every distribution and container.
//!
//! It is linked against glibc, whose static form Debian has. jtrace asks glibc neither for users nor for hosts, for which even
//! static programs load libraries.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::{Context as _, Result, ensure};
use flate2::{Compression, write::DeflateEncoder};

use super::folder;
use crate::{bench::statistics::median, build, dist, process, workspace};

/// The one target there is a standard library for.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Most bytes of the binary.
const MOST_BYTES: u64 = 20_000_000;

/// Flags of its code. That it can lie anywhere takes 16,000 addresses to change at its start; packed they take 12 KB and not 390,
/// which the static form of glibc can read from 2.36 on. A program that uses the machine's glibc cannot count on that.
const FLAGS: &str = "-Ctarget-feature=+crt-static -Clink-arg=-Wl,-z,pack-relative-relocs";

/// How often the start of each binary is timed.
const STARTS: usize = 21;

/// What the binary holds, by its place in the folder of the target: the eBPF programs, and the library that is loaded into JVMs.
const INSIDE: [&str; 2] = ["ebpf/bpfel-unknown-none/release/tracer-ebpf", "inside/release/libtracer_inside.so"];

/// Builds `target/package/jtrace`, and the dynamic binary that it is compared with.
pub(super) fn build() -> Result<PathBuf> {
    build::run(&build::Options::default())?;
    // With a target named, the flags are for jtrace alone and not for what runs while it is built.
    let mut cargo = process::cargo();
    cargo.args(["build", "--release", "--locked", "--package", "tracer", "--bin", "jtrace", "--target", TARGET]);
    // These would take the place of the flags for the target.
    cargo.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    cargo.env("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS", FLAGS);
    process::run(&mut cargo)?;
    let (whole, shipped) = (workspace::target().join(TARGET).join("release/jtrace"), folder().join("jtrace"));
    fs::create_dir_all(folder()).with_context(|| format!("cannot make {}", folder().display()))?;
    process::run(process::command("objcopy").arg("--strip-all").arg(&whole).arg(&shipped))?;
    check(&shipped)?;
    compare(&shipped, &dist::binary())?;
    Ok(shipped)
}

/// Whether it needs nothing, holds everything, and is small enough.
fn check(shipped: &Path) -> Result<()> {
    let readelf = |what: &[&str]| process::output(process::command("readelf").arg("--wide").args(what).arg(shipped));
    ensure!(is_static(&readelf(&["--program-headers", "--dynamic"])?), "{} is not static", shipped.display());
    ensure!(is_stripped(&readelf(&["--sections"])?), "{} has symbols", shipped.display());
    let bytes = fs::read(shipped).with_context(|| format!("cannot read {}", shipped.display()))?;
    for name in INSIDE {
        let path = workspace::target().join(TARGET).join(name);
        let part = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        ensure!(holds(&bytes, &packed(&part)?), "{} does not hold {}", shipped.display(), path.display());
    }
    let size = bytes.len() as u64;
    ensure!(size <= MOST_BYTES, "{} has {size} bytes, more than {MOST_BYTES}", shipped.display());
    println!(
        "package: {} has {size} bytes ({MOST_BYTES} at most), no symbols, no dynamic libraries, and {} inside",
        shipped.display(),
        INSIDE.map(|name| name.rsplit('/').next().unwrap_or(name)).join(" and ")
    );
    Ok(())
}

/// By the program headers and the dynamic section. A static program that can lie anywhere has such a section, without libraries.
fn is_static(headers: &str) -> bool {
    !headers.contains("INTERP") && !headers.contains("(NEEDED)")
}

/// By the table of sections.
fn is_stripped(sections: &str) -> bool {
    // `.debug_gdb_scripts` is a name of a script that is part of the program, and stays.
    ![".symtab", ".debug_info", ".debug_line"].iter().any(|name| sections.contains(name))
}

/// As `crates/tracer-live/build.rs` packs it.
fn packed(part: &[u8]) -> Result<Vec<u8>> {
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
    packed.write_all(part)?;
    packed.finish().context("cannot pack what the binary holds")
}

/// Whether `part` is in `whole` as it is.
fn holds(whole: &[u8], part: &[u8]) -> bool {
    let Some(first) = part.first() else { return false };
    // The first byte decides nearly everywhere, and is cheaper to compare than a slice.
    whole.windows(part.len()).any(|window| window[0] == *first && window == part)
}

/// Compares size and start with the binary that needs the machine's libraries.
fn compare(shipped: &Path, dynamic: &Path) -> Result<()> {
    let size = |path: &Path| -> Result<u64> {
        Ok(fs::metadata(path).with_context(|| format!("cannot look at {}", path.display()))?.len())
    };
    let (mut shipped_times, mut dynamic_times) = (Vec::new(), Vec::new());
    // In turns, so that what else the machine does meets both alike.
    for _ in 0..STARTS {
        shipped_times.push(start(shipped)?);
        dynamic_times.push(start(dynamic)?);
    }
    let (shipped_time, dynamic_time) = (median(&shipped_times), median(&dynamic_times));
    println!(
        "package: beside the dynamic {} the static one has {:.3} times the bytes ({} to {}), and `jtrace list` takes {:.2} \
         times as long (medians of {STARTS} runs of each, in turns: {shipped_time:.1} ms to {dynamic_time:.1} ms)",
        dynamic.display(),
        size(shipped)? as f64 / size(dynamic)? as f64,
        size(shipped)?,
        size(dynamic)?,
        shipped_time / dynamic_time,
    );
    Ok(())
}

/// Milliseconds from start to end of `jtrace list`.
fn start(jtrace: &Path) -> Result<f64> {
    let began = Instant::now();
    process::output(process::command(jtrace).arg("list"))?;
    Ok(began.elapsed().as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_a_loader_or_a_library_is_not_static() {
        assert!(is_static("  LOAD 0x0\n  DYNAMIC 0x1\n 0x01 (FLAGS_1) Flags: NOW PIE\n"));
        assert!(!is_static("  INTERP 0x2e0\n") && !is_static(" 0x01 (NEEDED) Shared library: [libc.so.6]\n"));
    }

    #[test]
    fn symbols_and_debug_information_are_seen() {
        assert!(is_stripped("[ 1] .text [ 2] .debug_gdb_scripts [ 3] .shstrtab"));
        assert!(!is_stripped("[ 9] .symtab SYMTAB") && !is_stripped("[ 9] .debug_line PROGBITS"));
    }

    #[test]
    fn a_part_is_found_only_where_all_of_it_is() {
        let whole: Vec<u8> = (0..=255).collect();
        assert!(holds(&whole, &whole[40..90]) && holds(&whole, &whole[250..]));
        let mut other = whole[40..90].to_vec();
        other[49] = 0;
        assert!(!holds(&whole, &other) && !holds(&whole, &[]) && !holds(&whole[..3], &whole));
    }
}
