//! Functions that are alike are one in the program that is shipped: a fiftieth of its size.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // There the linker is LLD, unless somebody says otherwise: https://blog.rust-lang.org/2025/09/01/rust-lld-on-1.90.0-stable/
    let is = |key, value| env::var_os(key).is_some_and(|of| of == value);
    if is("CARGO_CFG_TARGET_ENV", "gnu") && is("CARGO_CFG_TARGET_ARCH", "x86_64") {
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
    }
}
