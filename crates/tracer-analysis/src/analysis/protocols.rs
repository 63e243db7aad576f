//! Protocols that need no receiver, and so nothing in the JVM: in which order threads take monitors (`order`), and whether what
//! JNI gives is given back (`balance`). Folds over events that there are anyway; the lenses `locks` and `jni` show what they
//! find. Protocols of objects are [`crate::typestate`].

pub(super) mod balance;
pub(super) mod order;

#[cfg(test)]
mod tests;
