//! The package of Debian and what comes from it.

use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf};

use anyhow::{Context as _, Result};

use super::{
    DESCRIPTION, SUMMARY, folder,
    tree::{self, Tree},
};
use crate::process;

/// Builds `target/package/jtrace_VERSION_amd64.deb`.
pub(super) fn build(tree: &Tree) -> Result<PathBuf> {
    let stage = folder().join("deb");
    if stage.exists() {
        fs::remove_dir_all(&stage).with_context(|| format!("cannot clear {}", stage.display()))?;
    }
    process::run(process::command("cp").arg("--archive").arg(&tree.root).arg(&stage))?;
    fs::create_dir(stage.join("DEBIAN"))?;
    fs::set_permissions(stage.join("DEBIAN"), fs::Permissions::from_mode(0o755))?;
    fs::write(stage.join("DEBIAN/control"), control(&tree::revision(), tree.kilobytes()?))?;
    let package = folder().join(format!("jtrace_{}_amd64.deb", tree::revision()));
    let mut build = process::command("dpkg-deb");
    build.args(["--root-owner-group", "-Zxz", "--build"]).arg(&stage).arg(&package);
    process::output(&mut build)?;
    println!("package: {} ({} KiB)", package.display(), fs::metadata(&package)?.len() / 1024);
    Ok(package)
}

fn control(version: &str, kilobytes: u64) -> String {
    let description = DESCRIPTION.replace('\n', "\n ");
    format!(
        "Package: jtrace\nVersion: {version}\nArchitecture: amd64\nSection: devel\nPriority: optional\n\
         Installed-Size: {kilobytes}\nMaintainer: the jtrace authors <jtrace@localhost>\nDescription: {SUMMARY}\n {description}\n"
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_line_of_the_description_belongs_to_it() {
        let control = super::control("1.2-1", 7);
        let (fields, description) = control.split_once("Description: ").expect("it has one");
        assert!(fields.lines().all(|line| line.contains(": ")), "{fields}");
        assert!(description.lines().skip(1).all(|line| line.starts_with(' ')) && control.ends_with('\n'), "{control}");
    }
}
