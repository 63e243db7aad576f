//! Names for the frames of stacks: what stands at an address of the target, asked while it still runs.

pub mod java;
