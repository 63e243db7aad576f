//! Which programs go to which sites: [`catalog`] knows every probe that a lens uses, [`plan`] matches it with a JVM.

pub mod catalog;
pub mod plan;
