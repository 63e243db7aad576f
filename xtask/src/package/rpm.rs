//! The package of Fedora, RHEL, SUSE and Amazon Linux.

use std::{fs, path::PathBuf};

use anyhow::{Context as _, Result};

use super::{DESCRIPTION, SUMMARY, VERSION, folder, tree::Tree};
use crate::process;

/// Folders that no other package of these systems has.
const FOLDERS: [&str; 2] = ["/usr/share/doc/jtrace", "/usr/share/zsh/vendor-completions"];

/// Builds `target/package/jtrace-VERSION-1.x86_64.rpm`.
pub(super) fn build(tree: &Tree) -> Result<PathBuf> {
    let stage = folder().join("rpm");
    fs::create_dir_all(&stage).with_context(|| format!("cannot make {}", stage.display()))?;
    let spec = stage.join("jtrace.spec");
    fs::write(&spec, text(&tree.root.display().to_string(), &tree.files()?))?;
    let mut build = process::command("rpmbuild");
    build.args(["-bb", "--quiet", "--target", "x86_64"]);
    for (name, value) in [("_topdir", &stage), ("_rpmdir", &folder())] {
        build.arg("--define").arg(format!("{name} {}", value.display()));
    }
    build.args(["--define", "_rpmfilename jtrace-%{VERSION}-%{RELEASE}.%{ARCH}.rpm"]).arg(&spec);
    process::run(&mut build)?;
    let package = folder().join(format!("jtrace-{VERSION}-1.x86_64.rpm"));
    println!("package: {} ({} KiB)", package.display(), fs::metadata(&package)?.len() / 1024);
    Ok(package)
}

/// How it is made: files are taken as they are, and what the binary needs is nothing.
fn text(root: &str, files: &[String]) -> String {
    let folders = FOLDERS.iter().map(|folder| format!("%dir {folder}"));
    let files = folders.chain(files.iter().cloned()).collect::<Vec<_>>().join("\n");
    format!(
        "Name: jtrace\nVersion: {VERSION}\nRelease: 1\nSummary: {SUMMARY}\nLicense: Apache-2.0 OR MIT\nAutoReqProv: no\n\
         %define debug_package %{{nil}}\n%define __os_install_post %{{nil}}\n%define _build_id_links none\n\n\
         %description\n{DESCRIPTION}\n\n%install\ncp --archive '{root}/.' %{{buildroot}}\n\n%files\n{files}\n"
    )
}
