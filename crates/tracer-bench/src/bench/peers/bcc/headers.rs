//! The headers of a kernel, against which bcc compiles.
//!
//! bcc looks for those of the running kernel: in its package `linux-headers-...`, or in the kernel itself
//! (`CONFIG_IKHEADERS`). Where there are none, those of another kernel will do here: the programs that are run read registers
//! of a process (`struct pt_regs`, which does not change) and call the kernel by numbers that are fixed, but look into no
//! structure of the kernel. That is not true of all programs of bcc, so the results say whose headers they were.

use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use crate::{
    bench::{Error, folder::Folder},
    text::escape,
};

/// The variable that tells bcc where they are.
pub(super) const VARIABLE: &str = "BCC_KERNEL_SOURCE";
/// Where the packages of all kernels leave a link to their headers.
const MODULES: &str = "/lib/modules";
/// The headers that a kernel carries in itself.
const CARRIED: &str = "/sys/kernel/kheaders.tar.xz";
/// Files of headers that say of which kernel they are: its name, and its version as a number.
const RELEASE: &str = "include/generated/utsrelease.h";
const VERSION: &str = "include/generated/uapi/linux/version.h";

/// Where they come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Headers {
    /// bcc finds those of this running kernel by itself.
    Running(String),
    /// The user says where; whose they are, where they say so.
    Given(Option<String>),
    /// Those of another kernel.
    Other {
        /// Whose they are.
        release: String,
        /// The running kernel.
        running: String,
        /// What was made when that kernel was configured, or everything.
        build: PathBuf,
        /// The rest, where it lies apart, as it does in Debian's packages.
        source: Option<PathBuf>,
    },
}

impl Headers {
    /// What bcc finds by itself, else those of the newest kernel that has any here.
    pub(super) fn find() -> Result<Self, Error> {
        let running = rustix::system::uname().release().to_string_lossy().into_owned();
        if let Some(given) = std::env::var_os(VARIABLE) {
            return Ok(Self::Given(release(Path::new(&given))));
        }
        let modules = Path::new(MODULES);
        if modules.join(&running).join("build").exists() || Path::new(CARRIED).exists() {
            return Ok(Self::Running(running));
        }
        Self::newest(modules, &running).ok_or_else(|| Error::Missing {
            what: format!("headers of kernel {running} or of any other, against which bcc compiles,"),
            hint: "apt-get install linux-headers-amd64 (linux-headers-generic on Ubuntu), or set BCC_KERNEL_SOURCE \
                   to a folder that has them"
                .to_owned(),
        })
    }

    fn newest(modules: &Path, running: &str) -> Option<Self> {
        let kernels = fs::read_dir(modules).into_iter().flatten().flatten().map(|entry| entry.path());
        let (_, found) = kernels
            .filter_map(|kernel| {
                let build = fs::canonicalize(kernel.join("build")).ok()?;
                let source = fs::canonicalize(kernel.join("source")).ok().filter(|source| *source != build);
                let version = defined(&build.join(VERSION), "LINUX_VERSION_CODE")?.parse::<u64>().ok()?;
                let release = release(&build)?;
                Some((version, Self::Other { release, running: running.to_owned(), build, source }))
            })
            .max_by_key(|(version, _)| *version)?;
        Some(found)
    }

    /// Whose they are, in words.
    pub(super) fn whose(&self) -> String {
        match self {
            Self::Running(release) => format!("the running Linux {release}"),
            Self::Given(release) => {
                format!(
                    "{} in {VARIABLE}",
                    release.as_ref().map_or("a kernel".to_owned(), |name| format!("Linux {name}"))
                )
            }
            Self::Other { release, running, .. } => {
                format!("Linux {release}, because there are none of the running {running}")
            }
        }
    }

    /// What [`VARIABLE`] must be set to. bcc wants one folder: what lies in two is put together by links.
    pub(super) fn source(&self, folder: &Folder) -> Result<Option<PathBuf>, Error> {
        match self {
            Self::Running(_) | Self::Given(_) => Ok(None),
            Self::Other { build, source: None, .. } => Ok(Some(build.clone())),
            Self::Other { build, source: Some(source), .. } => {
                let whole = folder.file("headers");
                together(build, source, &whole).map_err(Error::system("put the kernel's headers together"))?;
                Ok(Some(whole))
            }
        }
    }
}

/// Links to what is in two folders of headers. They share only the folders that are made here.
fn together(build: &Path, source: &Path, whole: &Path) -> io::Result<()> {
    let mut shared = vec![PathBuf::from("include")];
    for architecture in fs::read_dir(build.join("arch"))? {
        shared.push(Path::new("arch").join(architecture?.file_name()).join("include"));
    }
    for folder in shared {
        fs::create_dir_all(whole.join(&folder))?;
        for from in [build, source] {
            for entry in fs::read_dir(from.join(&folder))? {
                let entry = entry?;
                symlink(entry.path(), whole.join(&folder).join(entry.file_name()))?;
            }
        }
    }
    Ok(())
}

/// The name of the kernel whose headers are in a folder.
fn release(headers: &Path) -> Option<String> {
    let name = defined(&headers.join(RELEASE), "UTS_RELEASE")?;
    Some(escape::terminal(name.trim_matches('"')).into_owned())
}

/// What a header defines a word as.
fn defined(header: &Path, word: &str) -> Option<String> {
    let text = fs::read_to_string(header).ok()?;
    text.lines().find_map(|line| Some(line.strip_prefix("#define ")?.strip_prefix(word)?.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kernels as Debian's packages leave them: two folders, two links.
    fn kernel(modules: &Path, release: &str, version: u32) {
        fs::create_dir_all(modules.join(release)).unwrap();
        let [build, common] = ["build", "common"].map(|part| modules.join(format!("../src/{release}-{part}")));
        for (path, text) in [
            (build.join(RELEASE), format!("#define UTS_RELEASE \"{release}\"\n")),
            (build.join(VERSION), format!("#define LINUX_VERSION_CODE {version}\n#define LINUX_VERSION_MAJOR 6\n")),
            (build.join("arch/x86/include/generated/asm/x.h"), "generated".to_owned()),
            (common.join("arch/x86/include/asm/y.h"), "asm".to_owned()),
            (common.join("arch/arm/include/asm/y.h"), "other".to_owned()),
            (common.join("include/linux/kconfig.h"), "kconfig".to_owned()),
        ] {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        symlink(build, modules.join(release).join("build")).unwrap();
        symlink(common, modules.join(release).join("source")).unwrap();
    }

    #[test]
    fn the_newest_headers_are_taken_and_put_together() {
        let folder = Folder::new().unwrap();
        let modules = folder.file("modules");
        fs::create_dir(&modules).unwrap();
        assert_eq!(Headers::newest(&modules, "7.0"), None);
        kernel(&modules, "6.1.0-9", 393_000);
        kernel(&modules, "6.1.0-56", 393_664);
        fs::create_dir(modules.join("6.18-without")).unwrap();
        let headers = Headers::newest(&modules, "7.0").unwrap();
        assert_eq!(headers.whose(), "Linux 6.1.0-56, because there are none of the running 7.0");
        let whole = headers.source(&folder).unwrap().unwrap();
        for (file, text) in [
            ("include/linux/kconfig.h", "kconfig"),
            ("arch/x86/include/asm/y.h", "asm"),
            ("arch/x86/include/generated/asm/x.h", "generated"),
        ] {
            assert_eq!(fs::read_to_string(whole.join(file)).unwrap(), text);
        }
        assert_eq!(release(&whole).as_deref(), Some("6.1.0-56"));
        assert!(!whole.join("arch/arm").exists());
    }

    #[test]
    fn headers_in_one_folder_are_used_as_they_are() {
        let folder = Folder::new().unwrap();
        let modules = folder.file("modules");
        kernel(&modules, "6.8.0", 395_264);
        fs::remove_file(modules.join("6.8.0/source")).unwrap();
        let headers = Headers::newest(&modules, "7.0").unwrap();
        let build = fs::canonicalize(modules.join("6.8.0/build")).unwrap();
        assert_eq!(headers.source(&folder).unwrap(), Some(build));
        assert_eq!(Headers::Running("7.0".to_owned()).source(&folder).unwrap(), None);
    }
}
