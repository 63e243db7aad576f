//! Arms and restores flags of a running JVM.
