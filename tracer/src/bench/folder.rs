//! Folders of a measurement: private, empty at first, and gone with all that is in them when they are dropped.

use std::{
    env,
    fs::{self, DirBuilder},
    io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering},
};

/// A folder that goes away with this value.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Makes one with a name of its own, where temporary files go.
    pub fn temporary() -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = env::temp_dir().join(format!("jtrace-bench-{}-{number}", process::id()));
            // One that is there already is somebody else's, or of a process that had our pid.
            match DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                Ok(()) => return Ok(Self(path)),
            }
        }
    }

    /// Takes over a folder, which is made where it is not there. Only one that is ours and empty is taken, because it is
    /// removed with all that is in it.
    pub fn take(path: &Path) -> io::Result<Self> {
        match DirBuilder::new().mode(0o700).create(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let metadata = fs::symlink_metadata(path)?;
        if !metadata.is_dir() || metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is not a folder of ours"));
        }
        if fs::read_dir(path)?.next().is_some() {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        Ok(Self(path.to_owned()))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            log::warn!("cannot remove {}: {error}", self.0.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn temporary_ones_are_private_differ_and_go_away() {
        let (one, two) = (Folder::temporary().unwrap(), Folder::temporary().unwrap());
        assert_ne!(one.path(), two.path());
        assert_eq!(fs::metadata(one.path()).unwrap().permissions().mode() & 0o777, 0o700);
        fs::write(one.path().join("file"), "x").unwrap();
        let path = one.path().to_owned();
        drop(one);
        assert!(!path.exists());
    }

    #[test]
    fn nothing_precious_is_taken_over() {
        let directory = tempfile::tempdir().unwrap();
        let full = directory.path().join("full");
        fs::create_dir(&full).unwrap();
        fs::write(full.join("precious"), "x").unwrap();
        let empty = directory.path().join("empty");
        fs::create_dir(&empty).unwrap();
        let link = directory.path().join("link");
        symlink(&empty, &link).unwrap();
        assert!(Folder::take(&full).is_err() && Folder::take(&link).is_err());
        assert!(Folder::take(&full.join("precious")).is_err());
        assert!(full.join("precious").exists() && empty.exists());
        drop(Folder::take(&empty).unwrap());
        assert!(!empty.exists());
    }
}
