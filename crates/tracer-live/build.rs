//! Builds what runs elsewhere: the eBPF programs, which the crate gets as `$OUT_DIR/tracer-ebpf.o.deflate`, and the library that is
//! loaded into JVMs, as `$OUT_DIR/libtracer_inside.so.deflate`.
//!
//! The object is built by a second cargo with a toolchain of its own (see `ebpf_toolchain`) in a target folder of its own,
//! `target/ebpf`, which all profiles share: a repeated build is incremental, and the second cargo never waits for the lock
//! that the first one holds. `JTRACE_EBPF_OBJECT=/path/to/object` takes a prebuilt object instead, for machines that
//! cannot have the toolchain.

use std::{
    env,
    ffi::OsStr,
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

use ebpf_toolchain::{Origin, Toolchain};
use flate2::{Compression, write::DeflateEncoder};

#[path = "../../xtask/src/ebpf_toolchain.rs"]
mod ebpf_toolchain;

/// Names a prebuilt object that is taken as it is.
const PREBUILT: &str = "JTRACE_EBPF_OBJECT";
/// x86-64 and its siblings are little endian, and so must the programs be.
const TARGET: &str = "bpfel-unknown-none";

/// Why there is no object.
enum Failure {
    /// The sentence says it all.
    Plain(String),
    /// The second cargo has said why on standard error, which the first one shows only if this script fails.
    Compiler(String),
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::Plain(message)
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Plain(message)) => {
            println!("cargo::error={message}");
            ExitCode::SUCCESS
        }
        Err(Failure::Compiler(message)) => {
            println!("cargo::error={message}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Failure> {
    println!("cargo::rerun-if-env-changed={PREBUILT}");
    let manifest = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let workspace = manifest.ancestors().nth(2).ok_or_else(|| "the crate is not in a workspace".to_owned())?;
    for input in [
        "tracer-ebpf",
        "tracer-common",
        "tracer-weave",
        "tracer-inside",
        "Cargo.lock",
        "xtask/src/ebpf_toolchain.rs",
        "crates/tracer-live/build.rs",
    ] {
        println!("cargo::rerun-if-changed={}", workspace.join(input).display());
    }
    let out = PathBuf::from(variable("OUT_DIR")?);
    let object = match env::var_os(PREBUILT) {
        Some(path) => {
            println!("cargo::rerun-if-changed={}", path.display());
            PathBuf::from(path)
        }
        None => build(workspace, &target_folder(&out)?.join("ebpf"))?,
    };
    pack(&object, &out.join("tracer-ebpf.o.deflate"))?;
    let library = build_library(workspace, &target_folder(&out)?.join("inside"))?;
    pack(&library, &out.join("libtracer_inside.so.deflate"))?;
    Ok(())
}

/// Packs a file, which `packed.rs` unpacks.
fn pack(file: &Path, to: &Path) -> Result<(), String> {
    let pack = || -> io::Result<()> {
        let mut packed = DeflateEncoder::new(fs::File::create(to)?, Compression::best());
        io::copy(&mut fs::File::open(file)?, &mut packed)?;
        packed.finish().map(drop)
    };
    pack().map_err(|error| format!("cannot pack {}: {error}", file.display()))
}

/// Builds the library that is loaded into JVMs, always optimised, and without what only a debugger reads.
fn build_library(workspace: &Path, target: &Path) -> Result<PathBuf, Failure> {
    let mut command = Command::new(variable("CARGO")?);
    command.args(["build", "--release", "--locked", "--package", "tracer-inside"]).arg("--target-dir").arg(target);
    command.current_dir(workspace).stdin(Stdio::null()).stdout(Stdio::null());
    clean_environment(&mut command);
    // The compiler itself and not a proxy, which could choose another one, or fetch it.
    command.env("RUSTC", variable("RUSTC")?);
    command.env("CARGO_PROFILE_RELEASE_DEBUG", "false").env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
    let status = command.status().map_err(|error| format!("cannot start cargo: {error}"))?;
    if !status.success() {
        return Err(Failure::Compiler("the library for JVMs does not build".to_owned()));
    }
    Ok(target.join("release/libtracer_inside.so"))
}

/// Runs the second cargo and returns the object that it built.
fn build(workspace: &Path, target: &Path) -> Result<PathBuf, Failure> {
    let toolchain = ebpf_toolchain::find().map_err(|missing| missing.to_string())?;
    println!("cargo::rerun-if-changed={}", toolchain.linker.display());
    println!("cargo::rerun-if-changed={}", toolchain.rustc.display());
    let llvm = offer_llvm(&toolchain, target).map_err(|error| format!("cannot write {}: {error}", target.display()))?;

    let mut command = Command::new(&toolchain.cargo);
    command.args(["build", "--release", "--package", "tracer-ebpf", "--bin", "tracer-ebpf", "-Zbuild-std=core"]);
    command.args(["--target", TARGET]).arg("--target-dir").arg(target);
    // Whatever this printed on standard output, the first cargo would take for instructions.
    command.current_dir(workspace).stdin(Stdio::null()).stdout(Stdio::null());
    clean_environment(&mut command);
    // The flags are divided by 0x1f, cargo's own separator, because the linker's path may hold spaces.
    let flags = [
        format!("--cfg=bpf_target_arch=\"{}\"", variable("CARGO_CFG_TARGET_ARCH")?),
        "-Cdebuginfo=2".to_owned(),
        "-Clink-arg=--btf".to_owned(),
        format!("-Clinker={}", toolchain.linker.display()),
    ];
    command
        .env("RUSTC", &toolchain.rustc)
        .env("LD_LIBRARY_PATH", llvm)
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"))
        // bpf-linker itself optimises across crates, from bitcode; rustc doing it before would leave it with less to see.
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1");
    if toolchain.origin == Origin::Debian {
        command.env("RUSTC_BOOTSTRAP", "1");
    }
    let status = command.status().map_err(|error| format!("cannot start {}: {error}", toolchain.cargo.display()))?;
    if !status.success() {
        return Err(Failure::Compiler(format!("the eBPF programs do not build ({toolchain})")));
    }
    Ok(target.join(TARGET).join("release/tracer-ebpf"))
}

/// Makes a folder that holds the compiler's LLVM library and nothing else.
///
/// bpf-linker loads the first `libLLVM*` of its library path, and the compiler's own folder may hold several releases.
fn offer_llvm(toolchain: &Toolchain, target: &Path) -> io::Result<PathBuf> {
    let folder = target.join("llvm");
    let name = toolchain.llvm.file_name().unwrap_or(OsStr::new("libLLVM.so"));
    let link = folder.join(name);
    if fs::read_link(&link).is_ok_and(|to| to == toolchain.llvm) {
        return Ok(folder);
    }
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    symlink(&toolchain.llvm, link)?;
    Ok(folder)
}

/// Takes away what the first cargo (or clippy, or rustup's proxies) set for its own toolchain and profile.
fn clean_environment(command: &mut Command) {
    // What concerns the machine and the user rather than the first build.
    const KEPT: [&str; 8] = [
        "CARGO_HOME",
        "CARGO_HTTP_",
        "CARGO_MAKEFLAGS",
        "CARGO_NET_",
        "CARGO_REGISTR",
        "CARGO_TERM_",
        "RUSTUP_HOME",
        "RUST_BACKTRACE",
    ];
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        let toolchain = ["CARGO", "RUST", "CLIPPY", "LD_"].iter().any(|prefix| name.starts_with(prefix));
        if toolchain && !KEPT.iter().any(|kept| name.starts_with(kept)) {
            command.env_remove(&*name);
        }
    }
}

/// The target folder that `OUT_DIR` lies in: cargo tags it, wherever its inner layout puts a build script's output.
fn target_folder(out: &Path) -> Result<PathBuf, String> {
    out.ancestors()
        .find(|folder| folder.join("CACHEDIR.TAG").is_file())
        .or_else(|| out.ancestors().nth(4))
        .map(Path::to_path_buf)
        .ok_or_else(|| format!("no target folder above {}", out.display()))
}

fn variable(name: &str) -> Result<String, String> {
    env::var(name).map_err(|error| format!("{name}: {error}; this is a build script and is run by cargo"))
}
