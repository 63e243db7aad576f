//! Compiles the Java classes that woven code calls, with the JDK's own compiler.

use std::{
    env,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

#[path = "jdk8.rs"]
mod jdk8;

/// The classes, in the order in which they are defined: first the one that woven code calls, last the one that keeps objects.
const CLASSES: [&str; 8] = [
    "JtraceMarks",
    "JtraceJdk",
    "JtraceContexts",
    "JtraceKnown",
    "JtraceYoung",
    "JtraceRates$Rate",
    "JtraceRates",
    "JtraceObjects",
];
/// The one of which JDK 8 has another.
const ANOTHER: &str = "JtraceJdk";

fn main() {
    println!("cargo::rerun-if-changed=link");
    // Of the library alone: its tests are a program of this machine.
    println!("cargo::rustc-link-arg-cdylib=-L{}/link", env!("CARGO_MANIFEST_DIR"));
    println!("cargo::rerun-if-changed=java");
    println!("cargo::rerun-if-changed=java8");
    println!("cargo::rerun-if-env-changed=JAVA_HOME");
    if let Err(error) = write() {
        println!("cargo::error={error}");
    }
}

/// Compiles them, and writes the lists that the library includes.
fn write() -> Result<(), String> {
    let variable = |name: &str| env::var(name).map_err(|error| format!("{name}: {error}"));
    let (sources, out) = (PathBuf::from(variable("CARGO_MANIFEST_DIR")?), PathBuf::from(variable("OUT_DIR")?));
    let (classes, older) = (out.join("classes"), out.join("classes8"));
    // `Continuation` stands for what the compiler's JDK need not have.
    let of_all = ["java/lang/JtraceMarks", "java/lang/JtraceObjects", "jdk/internal/vm/Continuation"];
    compile(&sources.join("java"), &of_all, &classes)?;
    compile(&sources.join("java8"), &["java/lang/JtraceJdk"], &older)?;
    let (mut list, mut list8) = (String::from("["), String::from("["));
    for class in CLASSES {
        let file = format!("java/lang/{class}.class");
        add(&mut list, class, &classes.join(&file));
        let from = if class == ANOTHER { &older } else { &classes };
        let renamed = jdk8::rename(&read(&from.join(&file))?).ok_or_else(|| format!("{file} is no class"))?;
        let to = older.join(format!("{class}.renamed"));
        put(&to, &renamed)?;
        add(&mut list8, class, &to);
    }
    put(&out.join("classes.rs"), (list + "]").as_bytes())?;
    put(&out.join("classes8.rs"), (list8 + "]").as_bytes())
}

/// Compiles some files of a folder, with what they use.
fn compile(sources: &Path, files: &[&str], out: &Path) -> Result<(), String> {
    fs::create_dir_all(out).map_err(|error| format!("{}: {error}", out.display()))?;
    let javac = javac();
    // They lie in `java.lang` and use what only that module sees, so they are compiled as a part of it.
    let output = Command::new(&javac)
        .args(["-source", "11", "-target", "11", "-Xlint:-options", "-g:none"])
        .arg(format!("--patch-module=java.base={}", sources.display()))
        .arg("-d")
        .arg(out)
        .args(files.iter().map(|file| sources.join(file).with_extension("java")))
        .output()
        .map_err(|error| format!("cannot run {}: {error}; `cargo xtask setup` installs a JDK", javac.display()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("javac: {}", String::from_utf8_lossy(&output.stderr).replace('\n', " ")))
}

fn add(list: &mut String, class: &str, file: &Path) {
    let _ = write!(list, "(c\"java/lang/{class}\", include_bytes!({:?})),", file.display().to_string());
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), String> {
    fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}

/// The compiler: `$JAVA_HOME`, Debian's JDK, or whatever is on the path.
fn javac() -> PathBuf {
    let debian = ["/usr/lib/jvm/java-17-openjdk-amd64", "/usr/lib/jvm/default-java"].map(PathBuf::from);
    let homes = env::var_os("JAVA_HOME").map(PathBuf::from).into_iter().chain(debian);
    let found = homes.map(|home| home.join("bin/javac")).find(|javac| javac.is_file());
    found.unwrap_or_else(|| Path::new("javac").to_path_buf())
}
