//! `cargo xtask`: set-up, build, checks and tests of jtrace.

fn main() {}
