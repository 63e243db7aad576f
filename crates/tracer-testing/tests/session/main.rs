//! Everything between a source and a view, without a kernel or a JVM: recordings, scenarios, and hostile input for both.

#![expect(clippy::panic, reason = "what the tests share fails them as tests do")]

mod shared;

mod fuzz_record;
mod fuzz_recording;
mod replay;
mod scenarios;
