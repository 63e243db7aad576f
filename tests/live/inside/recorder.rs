//! The Java classes of the library by themselves, in a JVM without jtrace: what no program comes to whenever one wishes.

use std::{path::Path, process::Command};

use anyhow::{Result, ensure};
use tests::jdk;

/// Runs a class of the package `java.lang` from a folder of fixtures, beside those of the library; gives what it prints.
pub(super) fn run(fixtures: &str, main: &str, arguments: &[&str]) -> Result<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let out = tempfile::tempdir()?;
    // A class of the fixtures stands for the library's one of its name.
    let sources = [root.join("fixtures").join(fixtures), root.join("../tracer-inside/java")];
    let compiled = Command::new("javac")
        .args(["-nowarn", "-Xlint:-options", "-source", "11", "-target", "11"])
        .arg(format!("--patch-module=java.base={}:{}", sources[0].display(), sources[1].display()))
        .arg("-d")
        .arg(out.path())
        .arg(sources[0].join("java/lang").join(main).with_extension("java"))
        .output()?;
    ensure!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(jdk::any()?.java())
        .arg(format!("--patch-module=java.base={}", out.path().display()))
        .args(["-Xint", "-m", &format!("java.base/java.lang.{main}")])
        .args(arguments)
        .output()?;
    let [told, failed] = [&ran.stdout, &ran.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    ensure!(ran.status.success(), "{told}{failed}");
    Ok(told)
}

/// The end of a region that began before a pause was looked for beyond the outermost node, and the JVM ended.
#[test]
fn a_region_that_was_entered_before_a_pause_is_left_after_it() -> Result<()> {
    let told = run("contexts", "JtracePaused", &[])?;
    ensure!(told == "left\n", "{told}");
    Ok(())
}
