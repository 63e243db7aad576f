//! Finds the compiler, its standard library's source and the linker that build the eBPF programs.
//!
//! `core` is not shipped for `bpfel-unknown-none`, so it is compiled from source, which needs an unstable cargo flag.
//! Two compilers can do it and are tried in this order: a rustup nightly with the `rust-src` component, then Debian's
//! `rustc-web` with `rust-web-src`, which `RUSTC_BOOTSTRAP=1` lets use unstable flags. Nothing is installed here; that is
//! `cargo xtask setup`. This file has two users, `xtask` and `crates/tracer-live/build.rs` (by path), hence std alone.

use std::{
    env, fmt, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The LLVM release line that the pinned bpf-linker speaks; a compiler of another line writes bitcode that it cannot read.
const LLVM_MAJOR: &str = "22";

/// Where Debian puts its own compiler.
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";

/// Where the compiler comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A rustup nightly with `rust-src`.
    Rustup,
    /// Debian's packages, which are stable and must be told to accept unstable flags.
    Debian,
}

/// All that it takes to build the eBPF programs.
pub(crate) struct Toolchain {
    /// Where the compiler comes from.
    pub(crate) origin: Origin,
    /// The cargo that goes with the compiler.
    pub(crate) cargo: PathBuf,
    /// The compiler.
    pub(crate) rustc: PathBuf,
    /// The linker, found among cargo's installed programs or on `PATH`.
    pub(crate) linker: PathBuf,
    /// The LLVM library that the compiler itself uses, for the linker to load.
    pub(crate) llvm: PathBuf,
}

impl fmt::Display for Toolchain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { origin, cargo, rustc, linker, llvm } = self;
        let origin = match origin {
            Origin::Rustup => "rustup nightly",
            Origin::Debian => "Debian",
        };
        let (cargo, rustc, linker, llvm) = (cargo.display(), rustc.display(), linker.display(), llvm.display());
        write!(f, "{origin}: {cargo} with {rustc}, linked by {linker} with {llvm}")
    }
}

/// Why there is no toolchain. Its text is the one sentence that a failed build shows.
pub(crate) struct Missing(String);

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no toolchain for eBPF found: run `cargo xtask setup` ({})", self.0)
    }
}

/// Finds a toolchain, or says what each of the two ways lacks.
pub(crate) fn find() -> Result<Toolchain, Missing> {
    let linker = linker().ok_or_else(|| Missing("bpf-linker is not installed".to_owned()))?;
    let compiler = rustup_nightly().or_else(|nightly| debian().map_err(|debian| format!("{nightly}; {debian}")));
    let Compiler { origin, cargo, rustc, llvm } = compiler.map_err(Missing)?;
    Ok(Toolchain { origin, cargo, rustc, linker, llvm })
}

/// A compiler that can build `core` for eBPF.
struct Compiler {
    origin: Origin,
    cargo: PathBuf,
    rustc: PathBuf,
    llvm: PathBuf,
}

/// The rustup nightly that has `rust-src`. Looks at files only: asking `rustup` could make it download a toolchain.
fn rustup_nightly() -> Result<Compiler, String> {
    let home = env::var_os("RUSTUP_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(env::home_dir()?.join(".rustup")))
        .ok_or("rustup has no home directory")?;
    let mut nightlies: Vec<PathBuf> = list(&home.join("toolchains"))
        .into_iter()
        .filter(|path| file_name(path).starts_with("nightly-"))
        .filter(|path| path.join("lib/rustlib/src/rust/library/core").is_dir())
        .collect();
    // Undated ones (`nightly-x86_64-..`) sort after dated ones (`nightly-2026-..`) and are the newest.
    nightlies.sort();
    let root = nightlies.pop().ok_or("rustup has no nightly with rust-src")?;
    let rustc = root.join("bin/rustc");
    check_llvm(&rustc)?;
    let llvm = llvm_library(&[root.join("lib")]).ok_or("rustup's nightly has no LLVM library")?;
    Ok(Compiler { origin: Origin::Rustup, cargo: root.join("bin/cargo"), rustc, llvm })
}

/// Debian's compiler with its own cargo where that is installed, else with the cargo that runs this.
fn debian() -> Result<Compiler, String> {
    let rustc = PathBuf::from(DEBIAN_RUSTC);
    if !rustc.is_file() {
        return Err("rustc-web is not installed".to_owned());
    }
    check_llvm(&rustc)?;
    if !Path::new("/usr/lib/rustlib/src/rust/library/core").is_dir() {
        return Err("rust-web-src is not installed".to_owned());
    }
    let debian_cargo = PathBuf::from("/usr/bin/cargo");
    let cargo = if debian_cargo.is_file() {
        debian_cargo
    } else {
        PathBuf::from(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
    };
    let multiarch = format!("/usr/lib/{}-linux-gnu", env::consts::ARCH);
    let llvm = llvm_library(&[PathBuf::from(multiarch), PathBuf::from(format!("/usr/lib/llvm-{LLVM_MAJOR}/lib"))])
        .ok_or_else(|| format!("libllvm{LLVM_MAJOR} is not installed"))?;
    Ok(Compiler { origin: Origin::Debian, cargo, rustc, llvm })
}

/// Refuses a compiler whose bitcode the linker cannot read.
fn check_llvm(rustc: &Path) -> Result<(), String> {
    // The calling cargo's library path would put another toolchain's libraries before the compiler's own.
    let output = Command::new(rustc)
        .arg("-vV")
        .env_remove("LD_LIBRARY_PATH")
        .output()
        .map_err(|error| format!("{} does not run: {error}", rustc.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let version = text.lines().find_map(|line| line.strip_prefix("LLVM version: ")).unwrap_or("unknown");
    if version.split('.').next() == Some(LLVM_MAJOR) {
        return Ok(());
    }
    Err(format!("{} has LLVM {version}, bpf-linker wants {LLVM_MAJOR}", rustc.display()))
}

/// The shared LLVM library of the right release line in one of the folders.
fn llvm_library(folders: &[PathBuf]) -> Option<PathBuf> {
    let prefix = format!("libLLVM.so.{LLVM_MAJOR}");
    folders.iter().flat_map(|folder| list(folder)).find(|path| file_name(path).starts_with(&prefix))
}

/// bpf-linker, first from where `cargo install` puts the pinned release, even if that is not on `PATH`.
fn linker() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let cargo_home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo")));
    cargo_home
        .map(|home| home.join("bin"))
        .into_iter()
        .chain(env::split_paths(&path))
        .map(|folder| folder.join("bpf-linker"))
        .find(|file| file.is_file())
}

/// The entries of a folder; none if it cannot be read.
fn list(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
