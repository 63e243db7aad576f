//! The files of a package, as they lie under the root of a machine.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};

use super::{VERSION, folder};
use crate::{process, workspace};

/// Where shells look for completions. Debian's zsh looks in the one folder, that of Fedora and SUSE in the other; both packages
/// hold the same files.
const COMPLETIONS: [(&str, &str); 4] = [
    ("bash", "usr/share/bash-completion/completions/jtrace"),
    ("zsh", "usr/share/zsh/vendor-completions/_jtrace"),
    ("zsh", "usr/share/zsh/site-functions/_jtrace"),
    ("fish", "usr/share/fish/vendor_completions.d/jtrace.fish"),
];

/// What is said of the licences, which both systems want to have in the package.
const LICENCES: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "LICENSE-GPL2"];

/// A folder with everything that is installed.
pub(super) struct Tree {
    pub(super) root: PathBuf,
}

impl Tree {
    /// Fills the folder anew.
    pub(super) fn fill(binary: &Path) -> Result<Self> {
        let tree = Self { root: folder().join("root") };
        if tree.root.exists() {
            fs::remove_dir_all(&tree.root).with_context(|| format!("cannot clear {}", tree.root.display()))?;
        }
        tree.write("usr/bin/jtrace", &fs::read(binary)?, 0o755)?;
        for (shell, path) in COMPLETIONS {
            let text = process::output(process::command(binary).args(["completions", shell]))?;
            tree.write(path, text.as_bytes(), 0o644)?;
        }
        let manual = process::output(process::command(binary).arg("man"))?;
        tree.write("usr/share/man/man1/jtrace.1", manual.as_bytes(), 0o644)?;
        // Without a name and a time the same text gives the same bytes.
        process::run(process::command("gzip").args(["-9n"]).arg(tree.root.join("usr/share/man/man1/jtrace.1")))?;
        for name in LICENCES {
            tree.write(&format!("usr/share/doc/jtrace/{name}"), &fs::read(workspace::root().join(name))?, 0o644)?;
        }
        tree.write("usr/share/doc/jtrace/copyright", COPYRIGHT.as_bytes(), 0o644)?;
        // Folders have the modes that the builder's umask leaves, which are not those of a package.
        process::run(process::command("chmod").args(["--recursive", "u=rwX,go=rX"]).arg(&tree.root))?;
        Ok(tree)
    }

    fn write(&self, path: &str, bytes: &[u8], mode: u32) -> Result<()> {
        let file = self.root.join(path);
        let parent = file.parent().context("a file without a folder")?;
        fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
        fs::write(&file, bytes).with_context(|| format!("cannot write {}", file.display()))?;
        fs::set_permissions(&file, fs::Permissions::from_mode(mode))
            .with_context(|| format!("cannot set the mode of {}", file.display()))
    }

    /// Paths of all files, from the root of a machine.
    pub(super) fn files(&self) -> Result<Vec<String>> {
        let mut find = process::command("find");
        let listed = process::output(find.arg(&self.root).args(["-type", "f", "-printf", "/%P\\n"]))?;
        let mut files: Vec<String> = listed.lines().map(str::to_owned).collect();
        files.sort_unstable();
        Ok(files)
    }

    /// Kilobytes of all files together.
    pub(super) fn kilobytes(&self) -> Result<u64> {
        let sizes = self.files()?.into_iter().map(|file| {
            let path = self.root.join(file.trim_start_matches('/'));
            Ok(fs::metadata(&path).with_context(|| format!("cannot look at {}", path.display()))?.len())
        });
        Ok(sizes.sum::<Result<u64>>()?.div_ceil(1024))
    }
}

/// The version of a package, with the revision that both systems want.
pub(super) fn revision() -> String {
    format!("{VERSION}-1")
}

const COPYRIGHT: &str = "\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: jtrace

Files: *
Copyright: the jtrace authors
License: Apache-2.0 or MIT
 The texts are in this folder: LICENSE-APACHE and LICENSE-MIT. The eBPF programs inside the binary are licensed
 under the GPL, version 2, too: LICENSE-GPL2.
Comment: The binary and the HTML pages that it writes contain uPlot (https://github.com/leeoniya/uPlot), copyright
 2022 Leon Sorokin, under the MIT license. Its text is in each page.
";
