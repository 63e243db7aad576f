//! Compiles the Java classes that woven code calls, with the JDK's own compiler.

use std::{
    env,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The classes, in the order in which they are defined: first the one that woven code calls, last the one that keeps objects.
const CLASSES: [&str; 7] =
    ["JtraceMarks", "JtraceContexts", "JtraceKnown", "JtraceYoung", "JtraceRates$Rate", "JtraceRates", "JtraceObjects"];

fn main() {
    println!("cargo::rerun-if-changed=link");
    // Of the library alone: its tests are a program of this machine.
    println!("cargo::rustc-link-arg-cdylib=-L{}/link", env!("CARGO_MANIFEST_DIR"));
    println!("cargo::rerun-if-changed=java");
    println!("cargo::rerun-if-env-changed=JAVA_HOME");
    if let Err(error) = compile() {
        println!("cargo::error={error}");
    }
}

fn compile() -> Result<(), String> {
    let variable = |name: &str| env::var(name).map_err(|error| format!("{name}: {error}"));
    let sources = PathBuf::from(variable("CARGO_MANIFEST_DIR")?).join("java");
    let out = PathBuf::from(variable("OUT_DIR")?).join("classes");
    fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    let package = sources.join("java/lang");
    let javac = javac();
    // They lie in `java.lang` and use what only that module sees, so they are compiled as a part of it.
    let output = Command::new(&javac)
        .args(["-source", "11", "-target", "11", "-Xlint:-options", "-g:none"])
        .arg(format!("--patch-module=java.base={}", sources.display()))
        .arg("-d")
        .arg(&out)
        .args([package.join("JtraceMarks.java"), package.join("JtraceObjects.java")])
        // Stands for what the compiler's JDK need not have.
        .arg(sources.join("jdk/internal/vm/Continuation.java"))
        .output()
        .map_err(|error| format!("cannot run {}: {error}; `cargo xtask setup` installs a JDK", javac.display()))?;
    if !output.status.success() {
        return Err(format!("javac: {}", String::from_utf8_lossy(&output.stderr).replace('\n', " ")));
    }
    let mut list = String::from("[");
    for class in CLASSES {
        let file = out.join("java/lang").join(format!("{class}.class"));
        if !file.is_file() {
            return Err(format!("javac made no {}", file.display()));
        }
        let _ = write!(list, "(c\"java/lang/{class}\", include_bytes!({:?})),", file.display().to_string());
    }
    list.push(']');
    let to = out.with_file_name("classes.rs");
    fs::write(&to, list).map_err(|error| format!("{}: {error}", to.display()))
}

/// The compiler: `$JAVA_HOME`, Debian's JDK, or whatever is on the path.
fn javac() -> PathBuf {
    let debian = ["/usr/lib/jvm/java-17-openjdk-amd64", "/usr/lib/jvm/default-java"].map(PathBuf::from);
    let homes = env::var_os("JAVA_HOME").map(PathBuf::from).into_iter().chain(debian);
    let found = homes.map(|home| home.join("bin/javac")).find(|javac| javac.is_file());
    found.unwrap_or_else(|| Path::new("javac").to_path_buf())
}
