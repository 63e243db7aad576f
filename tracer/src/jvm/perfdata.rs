//! Reads the JVM's own performance counters (hsperfdata).
