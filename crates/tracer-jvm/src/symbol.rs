//! Names for addresses of code: what stands there in the target, asked while it still runs, in words that a person can use.

mod bounded;

pub mod java;
pub mod kernel;
pub mod native;
