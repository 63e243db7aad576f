//! The least that a hit can cost: a site with a program that returns at once. Costs of programs are compared with it.

use std::os::fd::OwnedFd;

use super::{Error, attach::Place, multi};

/// An attached site that does nothing; dropping it takes it away.
pub struct Floor {
    _link: OwnedFd,
}

impl Floor {
    /// Attaches it at an offset of the file, for the process, by the kind of link that sessions use.
    ///
    /// Minimum kernel: 6.10.
    pub fn attach(offset: u64, place: &Place) -> Result<Self, Error> {
        let program = multi::load_nothing().map_err(Error::Load)?;
        let link = multi::link(&program, &place.path, place.pid.get(), &[(offset, 0)]).map_err(|source| {
            Error::Attach { group: "floor".to_owned(), count: 1, path: place.path.clone(), source }
        })?;
        // The link keeps the program.
        Ok(Self { _link: link })
    }
}
