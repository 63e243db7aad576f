//! Which programs go to which sites: [`catalog`] knows every probe that a lens uses, [`clock`] those of the kernel,
//! [`plan`] matches them with a JVM.

pub mod catalog;
pub mod clock;
pub mod plan;
