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

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink, process};

    use super::*;

    /// A directory in the place where every process sees it, gone at the end.
    struct Place(PathBuf, String);

    impl Place {
        fn new(name: &str) -> Self {
            let user = format!("{name}{}", process::id());
            Self(PathBuf::from(format!("/tmp/hsperfdata_{user}")), user)
        }

        fn read(&self, uid: u32) -> Result<Vec<u8>, Error> {
            read(process::id(), 7, &self.1, uid)
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn own_uid() -> u32 {
        rustix::process::geteuid().as_raw()
    }

    #[test]
    fn a_file_of_the_right_user_is_read() {
        let place = Place::new("right");
        fs::create_dir(&place.0).unwrap();
        fs::write(place.0.join("7"), "counters").unwrap();
        assert_eq!(place.read(own_uid()).unwrap(), b"counters");
        assert!(matches!(place.read(own_uid() + 1), Err(Error::Foreign { .. })));
    }

    #[test]
    fn links_are_followed_neither_for_the_directory_nor_for_the_file() {
        let (secret, place) = (Place::new("secret"), Place::new("link"));
        fs::create_dir(&secret.0).unwrap();
        fs::write(secret.0.join("7"), "secret").unwrap();
        symlink(&secret.0, &place.0).unwrap();
        assert!(matches!(place.read(own_uid()), Err(Error::Open { .. })));
        fs::remove_file(&place.0).unwrap();
        fs::create_dir(&place.0).unwrap();
        symlink(secret.0.join("7"), place.0.join("7")).unwrap();
        assert!(matches!(place.read(own_uid()), Err(Error::Open { .. })));
    }

    #[test]
    fn a_user_name_cannot_lead_elsewhere() {
        assert!(matches!(read(process::id(), 7, "../../etc", 0), Err(Error::Foreign { .. })));
    }
}
