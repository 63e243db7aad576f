//! Whether a class can be exchanged now.
#![expect(unsafe_code, reason = "JVMTI is C")]

use jvmti_bindings::sys::{
    jni::{jclass, jint},
    jvmti::jvmtiInterface_1_,
};

use super::Jvmti;

impl Jvmti {
    /// Whether a class can be exchanged. JDK 8 says so of anonymous ones, which do not find themselves any more then.
    pub(crate) fn is_modifiable(self, class: jclass) -> bool {
        let mut is_modifiable = 0;
        // SAFETY: as above.
        let is_said =
            unsafe { ask!(self, IsModifiableClass, class, &raw mut is_modifiable).is_ok() && is_modifiable != 0 };
        is_said && !self.signature(class).is_some_and(|signature| is_anonymous(&signature))
    }

    /// Whether a class is linked, so that it has methods and may be exchanged.
    pub(crate) fn is_prepared(self, class: jclass) -> bool {
        const PREPARED: jint = 2;
        let mut status = 0;
        // SAFETY: as above.
        unsafe { ask!(self, GetClassStatus, class, &raw mut status).is_ok() && status & PREPARED != 0 }
    }
}

/// Whether JDK 8 made a class without a name of its own, as of lambdas (`Unsafe.defineAnonymousClass`): behind that of its file stands a
/// number.
fn is_anonymous(signature: &str) -> bool {
    let number = signature.strip_suffix(';').and_then(|name| name.rsplit_once('/'));
    number.is_some_and(|(_, number)| !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anonymous_classes_of_jdk_8_are_told_by_their_numbers() {
        assert!(is_anonymous("LFib$$Lambda$1/303563356;"));
        for named in ["LFib;", "Lcom/shop/Cart$1;", "Lcom/shop/7Up;", "[I", "LFib$$Lambda$1/;"] {
            assert!(!is_anonymous(named), "{named}");
        }
    }
}
