//! Runs JVMs and jtrace for the tests.
