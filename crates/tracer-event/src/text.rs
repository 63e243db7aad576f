//! Texts: making those of a target harmless, writing numbers for people, and naming classes as Java does. All modules may use it.

pub mod class_name;
pub mod column;
pub mod escape;
pub mod format;
