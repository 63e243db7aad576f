//! Matches the catalogue with the sites that a JVM has.
