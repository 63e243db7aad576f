//! Opens a target's hsperfdata file, which lies in a directory that others can write to.
//!
//! Only a regular file is read, of the target's own user, under a directory of that user, no link is followed, and the
//! length is bounded.

use std::{
    fs::File,
    io::{self, Read},
    os::unix::fs::MetadataExt,
    path::PathBuf,
};

use rustix::fs::{Mode, OFlags, open, openat};

use super::MAX_REGION_BYTES;

/// Why the file was not read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It could not be opened, or is a link.
    #[error("cannot open {path}")]
    Open {
        /// What was opened.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// It is not what the JVM of that user would have written.
    #[error("{path} is not a regular file of user {uid}")]
    Foreign {
        /// What was opened.
        path: PathBuf,
        /// The target's user.
        uid: u32,
    },
}

/// Reads `/tmp/hsperfdata_<user>/<pid>` as the target sees it. `user` is a name in the target's own list of users, `pid` a
/// number in its own pid namespace.
pub fn read(pid: u32, namespace_pid: u32, user: &str, uid: u32) -> Result<Vec<u8>, Error> {
    let directory = PathBuf::from(format!("/proc/{pid}/root/tmp"));
    let name = format!("hsperfdata_{user}");
    let path = directory.join(&name).join(namespace_pid.to_string());
    let failed = |error: io::Error| Error::Open { path: path.clone(), source: error };
    let foreign = || Error::Foreign { path: path.clone(), uid };
    if user.contains('/') {
        return Err(foreign());
    }
    let tmp = open(&directory, OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
        .map_err(|error| failed(error.into()))?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let owned =
        openat(&tmp, name.as_str(), flags | OFlags::DIRECTORY, Mode::empty()).map_err(|error| failed(error.into()))?;
    let owned = File::from(owned);
    if owned.metadata().map_err(failed)?.uid() != uid {
        return Err(foreign());
    }
    let file = openat(&owned, namespace_pid.to_string(), flags, Mode::empty()).map_err(|error| failed(error.into()))?;
    let file = File::from(file);
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() || metadata.uid() != uid {
        return Err(foreign());
    }
    let mut bytes = Vec::new();
    file.take(MAX_REGION_BYTES).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}
