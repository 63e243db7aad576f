//! C libraries that a JDK brings along, where it does not start with those of this machine, or is to run with others: as JVMs in
//! containers do.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use anyhow::{Context as _, Result};

use crate::{archive::Archive, process};

/// Whose they are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Libraries {
    /// The newest ones that Debian has.
    Newest,
    /// Those of a suite of Debian.
    Suite(&'static str),
    /// musl, which Alpine has.
    Musl,
}

/// What the JVM's libraries need beside themselves.
const GLIBC: [&str; 4] = ["libc6", "libgcc-s1", "libstdc++6", "zlib1g"];
const MUSL: [&str; 2] = ["musl", "zlib1g"];
/// Where those lie in their packages.
const FOLDERS: [&str; 4] =
    ["usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu", "lib/x86_64-linux-musl", "usr/lib/x86_64-linux-musl"];

/// What Debian's zlib asks for that musl does not have.
const CHECKED: &str = "
#include <stdarg.h>
int vsnprintf(char *, unsigned long, const char *, va_list);
int __vsnprintf_chk(char *to, unsigned long size, int flag, unsigned long room, const char *form, va_list values) {
    return vsnprintf(to, size, form, values);
}
int __snprintf_chk(char *to, unsigned long size, int flag, unsigned long room, const char *form, ...) {
    va_list values;
    va_start(values, form);
    int length = vsnprintf(to, size, form, values);
    va_end(values);
    return length;
}
";

impl Libraries {
    /// Puts them beside a JDK, which starts with them from then on.
    pub(super) fn bring(self, jdk: &Path) -> Result<()> {
        let own = jdk.join("own");
        fs::create_dir(&own).with_context(|| format!("cannot make {}", own.display()))?;
        let (archive, unpacked) = (Archive::open()?, tempfile::tempdir_in(jdk)?);
        for package in if self == Self::Musl { &MUSL[..] } else { &GLIBC } {
            let of_suite = match self {
                Self::Suite(suite) => format!("{package}/{suite}"),
                _ => (*package).to_owned(),
            };
            archive.unpack(&of_suite, unpacked.path())?;
        }
        for folder in FOLDERS.map(|folder| unpacked.path().join(folder)).iter().filter(|folder| folder.is_dir()) {
            process::run(process::command("cp").args(["-a", "--"]).arg(folder.join(".")).arg(&own))?;
        }
        let (loader, preloaded) =
            if self == Self::Musl { ("libc.so", Some(checked(&own)?)) } else { ("ld-linux-x86-64.so.2", None) };
        start_with(jdk, loader, preloaded)
    }
}

/// Compiles [`CHECKED`] for any C library.
fn checked(own: &Path) -> Result<&'static str> {
    const NAME: &str = "libchecked.so";
    let source = own.join("checked.c");
    fs::write(&source, CHECKED)?;
    let mut compiler = process::command("cc");
    compiler.args(["-shared", "-fPIC", "-nostdlib", "-fno-stack-protector", "-O1", "-o"]);
    process::run(compiler.arg(own.join(NAME)).arg(&source))?;
    Ok(NAME)
}

/// The kernel starts a program with the loader that it names, and the loader finds libraries where the environment says.
fn start_with(jdk: &Path, loader: &str, preloaded: Option<&str>) -> Result<()> {
    let (java, program, own) = (jdk.join("bin/java"), jdk.join("bin/java.own"), jdk.join("own"));
    fs::rename(&java, &program)?;
    process::run(process::command("patchelf").arg("--set-interpreter").arg(own.join(loader)).arg(&program))?;
    let quoted = |path: &Path| path.display().to_string().replace('\'', "'\\''");
    let preload =
        preloaded.map(|name| format!("export LD_PRELOAD='{}'\n", quoted(&own.join(name)))).unwrap_or_default();
    let script =
        format!("#!/bin/sh\nexport LD_LIBRARY_PATH='{}'\n{preload}exec '{}' \"$@\"\n", quoted(&own), quoted(&program));
    fs::write(&java, script)?;
    fs::set_permissions(&java, fs::Permissions::from_mode(0o755)).context("cannot make the launcher executable")
}
