//! Turns the bytes of a record into an event or a definition.
