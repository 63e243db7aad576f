//! Arming.
