//! Private folders: for what is compiled, and for programs to work in. Nobody else can look in or put anything there.

use std::{
    collections::hash_map::RandomState,
    fs,
    hash::{BuildHasher as _, Hasher as _},
    io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
};

use super::Error;

/// Where folders are made if the user's cache is nowhere.
const FALLBACK: &str = "/var/tmp";

/// A folder of mode 0700 with a random name, removed with all that is in it when this is dropped.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// One in `$XDG_CACHE_HOME`, or in `/var/tmp`.
    pub fn new() -> Result<Self, Error> {
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        Self::inside(cache.filter(|path| path.is_absolute() && path.is_dir()).as_deref().unwrap_or(Path::new(FALLBACK)))
    }

    /// One in a folder that the caller chooses. That folder may be shared only if it is sticky, as `/var/tmp` is: in any
    /// other, somebody else could put their own in place of the new one.
    pub fn inside(parent: &Path) -> Result<Self, Error> {
        let failed = || Error::system(format!("make a private folder in {}", parent.display()));
        let parent = fs::canonicalize(parent).map_err(failed())?;
        let metadata = fs::symlink_metadata(&parent).map_err(failed())?;
        let user = rustix::process::geteuid().as_raw();
        let shared = metadata.mode() & 0o022 != 0 && metadata.mode() & 0o1000 == 0;
        if shared || (metadata.uid() != user && metadata.uid() != 0) {
            let why = format!("user {} with mode {:o} owns it", metadata.uid(), metadata.mode() & 0o7777);
            return Err(failed()(io::Error::new(io::ErrorKind::PermissionDenied, why)));
        }
        // Whatever has this name already, also a link to nowhere, makes this fail instead of being used.
        let path = parent.join(format!("jtrace-{:016x}", RandomState::new().build_hasher().finish()));
        fs::DirBuilder::new().mode(0o700).create(&path).map_err(failed())?;
        Ok(Self { path })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where a file in it is.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Follows no link.
        if let Err(error) = fs::remove_dir_all(&self.path) {
            log::warn!("cannot remove {}: {error}", self.path.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_folder_is_private_and_goes_away_with_its_content_but_not_with_what_that_points_to() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("stays"), "").unwrap();
        let folder = Folder::inside(outside.path()).unwrap();
        let path = folder.path().to_owned();
        assert_eq!(fs::symlink_metadata(&path).unwrap().mode() & 0o7777, 0o700);
        std::os::unix::fs::symlink(outside.path(), path.join("link")).unwrap();
        fs::create_dir_all(path.join("a/b")).unwrap();
        drop(folder);
        assert!(!path.exists());
        assert!(outside.path().join("stays").exists());
    }

    #[test]
    fn a_folder_that_anybody_may_change_is_refused() {
        let outside = tempfile::tempdir().unwrap();
        fs::set_permissions(outside.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let error = Folder::inside(outside.path()).unwrap_err();
        assert!(matches!(&error, Error::System { source, .. } if source.to_string().contains("mode 777")), "{error}");
        fs::set_permissions(outside.path(), fs::Permissions::from_mode(0o1777)).unwrap();
        assert!(Folder::inside(outside.path()).is_ok());
    }
}
