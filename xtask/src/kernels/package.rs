//! Kernels as Debian's packages: resolved by their version's beginning, as packages come and go, and kept once they were fetched.
//! Nothing is installed.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, ensure};

use crate::{archive::Archive, workspace};

const BEGIN: &str = "linux-image-";
const END: &str = "-cloud-amd64";

/// A kernel that can be booted.
pub(super) struct Kernel {
    pub(super) release: String,
    pub(super) image: PathBuf,
}

/// The newest kernel whose version begins so.
pub(super) fn kernel(version: &str) -> Result<Kernel> {
    let names = known()?;
    let package = newest(&names, version).with_context(|| format!("no package has a kernel {version}"))?;
    let release = release(package).to_owned();
    let image = folder()?.join(package).join("vmlinuz");
    if !image.is_file() {
        let holder = holder(package)?;
        fetch(&holder, &release, &image).with_context(|| format!("{holder} cannot be fetched"))?;
    }
    Ok(Kernel { release, image })
}

/// Names of all packages with kernels that the registry has.
pub(super) fn known() -> Result<Vec<String>> {
    let mut names = Archive::open()?.names(BEGIN)?;
    names.retain(|name| name.ends_with(END));
    ensure!(!names.is_empty(), "the lists name no kernel");
    Ok(names)
}

/// The package with the file that is booted: of newer kernels it is one that the package with the kernel's name depends on.
fn holder(package: &str) -> Result<String> {
    let binary = package.replacen(BEGIN, "linux-binary-", 1);
    let names = Archive::open()?.names(&binary)?;
    Ok(if names.contains(&binary) { binary } else { package.to_owned() })
}

fn fetch(package: &str, release: &str, image: &Path) -> Result<()> {
    println!("kernels: fetching {package}");
    let folder = image.parent().context("no folder")?;
    let cache = folder.parent().context("no cache")?;
    fs::create_dir_all(cache).with_context(|| format!("cannot make {}", cache.display()))?;
    let unpacked = tempfile::tempdir_in(cache)?;
    Archive::open()?.unpack(package, unpacked.path())?;
    let places = [format!("boot/vmlinuz-{release}"), format!("usr/lib/modules/{release}/vmlinuz")];
    let found = places.iter().map(|place| unpacked.path().join(place)).find(|path| path.is_file());
    // The modules are not needed; what is cut short must not be found again.
    fs::create_dir_all(folder)?;
    fs::rename(found.context("the package has no vmlinuz")?, image).context("the kernel cannot be kept")
}

fn folder() -> Result<PathBuf> {
    Ok(workspace::cache()?.join("kernels"))
}

/// What `uname -r` says of a package's kernel.
fn release(package: &str) -> &str {
    package.strip_prefix(BEGIN).unwrap_or(package)
}

/// The newest of the packages whose version begins with these numbers. `6.1` is not the beginning of `6.12`.
fn newest<'a>(names: &'a [String], version: &str) -> Option<&'a str> {
    let of_version = |name: &&String| {
        let rest = release(name).strip_prefix(version);
        // `6.1-cloud-amd64` has no kernel in it, only the name of another package.
        rest.is_some_and(|rest| rest.starts_with('.') || rest.starts_with('+'))
    };
    names.iter().filter(of_version).max_by_key(|name| numbers(release(name))).map(String::as_str)
}

/// The numbers of a release, with those of Debian's own versions last.
fn numbers(release: &str) -> Vec<u64> {
    let words = release.split(|letter: char| !letter.is_ascii_digit()).filter(|word| !word.is_empty());
    // What was made for an older Debian has that in its name, and is as good.
    words.map(|word| word.parse().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_kernel_of_a_version_is_found_and_no_other_version() {
        let names = [
            "linux-image-6.1-cloud-amd64",
            "linux-image-6.1.0-9-cloud-amd64",
            "linux-image-6.1.0-56-cloud-amd64",
            "linux-image-6.12.90+deb13-cloud-amd64",
            "linux-image-6.12.117+deb13-cloud-amd64",
            "linux-image-cloud-amd64",
        ]
        .map(str::to_owned);
        assert_eq!(newest(&names, "6.1"), Some("linux-image-6.1.0-56-cloud-amd64"));
        assert_eq!(newest(&names, "6.12"), Some("linux-image-6.12.117+deb13-cloud-amd64"));
        assert_eq!(newest(&names, "6.12.90"), Some("linux-image-6.12.90+deb13-cloud-amd64"));
        assert_eq!(newest(&names, "5.15"), None);
    }
}
