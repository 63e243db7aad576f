//! Reads a target's hsperfdata file, which lies in a directory that others can write to.
//!
//! It is read as the target's user ([`target_files`](super::super::target_files)): only a regular file, of that user, in a
//! directory of that user, no link is followed, and the length is bounded.

use std::{io, path::PathBuf};

use super::{
    super::{
        find::process::Identity,
        target_files::{At, Kind, TargetFiles},
    },
    MAX_REGION_BYTES,
};

/// Why the file was not read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It could not be opened, or is a link.
    #[error("cannot read {path}")]
    Read {
        /// What was opened.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// It is not what the JVM of that user would have written.
    #[error("{path} is not of user {uid}")]
    Foreign {
        /// What was opened.
        path: PathBuf,
        /// The target's user.
        uid: u32,
    },
}

/// Reads `/tmp/hsperfdata_<user>/<pid>` as the target sees it. `user` is a name in the target's own list of users, `pid` a
/// number in its own pid namespace.
pub fn read(target: Identity, namespace_pid: u32, user: &str, uid: u32) -> Result<Vec<u8>, Error> {
    let failed = |source| Error::Read { path: PathBuf::from("/tmp"), source };
    read_by(&TargetFiles::open(target).map_err(failed)?, namespace_pid, user, uid)
}

fn read_by(files: &TargetFiles, namespace_pid: u32, user: &str, uid: u32) -> Result<Vec<u8>, Error> {
    let name = format!("hsperfdata_{user}");
    let directory = format!("/tmp/{name}");
    let path = PathBuf::from(&directory).join(namespace_pid.to_string());
    let foreign = || Error::Foreign { path: path.clone(), uid };
    let failed = |source| Error::Read { path: path.clone(), source };
    if user.contains('/') {
        return Err(foreign());
    }
    let found = files.examine(At { directory: "/tmp", name: &name }).map_err(failed)?;
    if found.is_none_or(|found| found.kind != Kind::Directory || found.uid != uid) {
        return Err(foreign());
    }
    let at = At { directory: &directory, name: &namespace_pid.to_string() };
    files.read(at, usize::try_from(MAX_REGION_BYTES).unwrap_or(usize::MAX)).map_err(failed)
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    fn read(directory: &tempfile::TempDir, user: &str, uid: u32) -> Result<Vec<u8>, Error> {
        read_by(&TargetFiles::within(directory.path()), 7, user, uid)
    }

    fn own_uid() -> u32 {
        rustix::process::geteuid().as_raw()
    }

    #[test]
    fn a_file_of_the_right_user_is_read() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("hsperfdata_shop")).unwrap();
        fs::write(directory.path().join("hsperfdata_shop/7"), "counters").unwrap();
        assert_eq!(read(&directory, "shop", own_uid()).unwrap(), b"counters");
        assert!(matches!(read(&directory, "shop", own_uid() + 1), Err(Error::Foreign { .. })));
    }

    #[test]
    fn links_are_followed_neither_for_the_directory_nor_for_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let (secret, own) = (directory.path().join("secret"), directory.path().join("hsperfdata_shop"));
        fs::create_dir(&secret).unwrap();
        fs::write(secret.join("7"), "secret").unwrap();
        symlink(&secret, &own).unwrap();
        assert!(matches!(read(&directory, "shop", own_uid()), Err(Error::Foreign { .. })));
        fs::remove_file(&own).unwrap();
        fs::create_dir(&own).unwrap();
        symlink(secret.join("7"), own.join("7")).unwrap();
        assert!(matches!(read(&directory, "shop", own_uid()), Err(Error::Read { .. })));
    }

    #[test]
    fn a_user_name_cannot_lead_elsewhere() {
        let directory = tempfile::tempdir().unwrap();
        assert!(matches!(read(&directory, "../../etc", 0), Err(Error::Foreign { .. })));
    }
}
