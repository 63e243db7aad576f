//! Events, and what their ids stand for. Below them: words, numbers and times, which know of no JVM.

pub mod clock;
pub mod group;
pub mod jni;
pub mod lens;
pub mod random;
pub mod text;

pub mod coverage;
pub mod event;

pub mod decode;
pub mod names;
pub mod stack;
pub mod subject;
pub mod tally;
