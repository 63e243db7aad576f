//! Names for addresses of code: what stood there, in words that a person can use.

pub mod kernel;
pub mod native;
