//! Whether compiled code outlives the first exchange of classes in a JVM.
//!
//! HotSpot throws all of it away then, and a large program is slow for tens of seconds until it is compiled again. One byte prevents it
//! ([`CompiledCode`]). What is kept can have taken in a short method without a trace, and its calls are not seen there. So code is kept, unless that can
//! happen and there is so little of it that it comes back at once, or the user has said that it may go.

use tracer_weave::control::{CompiledCode, Matched};

use crate::{
    jvm::{find::Jvm, flags::located, perfdata::PerfData},
    mark::CodeBefore,
};

/// The byte, as the linker names it.
const BYTE: &str = "_ZN11JvmtiExport30_all_dependencies_are_recordedE";
/// From this release on code that depends on an exchanged class is found by the methods that it names; before, only by what compilers noted,
/// which they do only where classes can be exchanged.
const FINDS_BY_METHODS: u32 = 17;
/// Compilations of a JVM whose code is compiled again within a second or two.
pub const FEW_COMPILATIONS: u64 = 2000;

/// What is done with compiled code, and what is said of that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// For the library.
    pub order: Option<CompiledCode>,
    /// For the report.
    pub said: CodeBefore,
}

/// What a decision rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Facts {
    release: u32,
    /// The byte, where it can be told where it is.
    byte: Option<u64>,
    /// How much was compiled since the JVM started, where it counts that.
    compilations: Option<u64>,
    /// The user accepts that all code goes.
    may_go: bool,
}

/// Decides for a JVM, from what rules name there.
pub fn decide(jvm: &Jvm, matched: &[Matched], may_go: bool) -> Decision {
    // Without compilers there is no such counter.
    let compilations = |counters: &PerfData| counters.get_long("sun.ci.totalCompiles").unwrap_or(0);
    let facts = Facts {
        release: jvm.target.jdk_release,
        byte: byte(jvm),
        compilations: jvm.counters.as_ref().ok().and_then(|counters| u64::try_from(compilations(counters)).ok()),
        may_go,
    };
    facts.decide(matched)
}

/// Where the byte is; `None` in a build without symbols, or with another layout.
fn byte(jvm: &Jvm) -> Option<u64> {
    let address = located::variable(jvm, BYTE)?;
    let mut value = [0];
    jvm.memory.read_exact(address, &mut value).ok()?;
    // It is a `bool`.
    (value[0] <= 1).then_some(address)
}

impl Facts {
    fn decide(self, matched: &[Matched]) -> Decision {
        let untraced = matched.iter().fold(0, |sum: u64, of| sum.saturating_add(of.untraced));
        let named = matched.iter().flat_map(|of| &of.untraced_named).take(CodeBefore::NAMED).cloned().collect();
        let compilations = self.compilations;
        let Some(byte) = self.byte else {
            return Decision { order: None, said: CodeBefore::Unknown { compilations } };
        };
        let is_little = compilations.is_some_and(|compilations| compilations <= FEW_COMPILATIONS);
        let keep = self.release >= FINDS_BY_METHODS && (untraced == 0 || !(self.may_go || is_little));
        let said = match keep {
            true => CodeBefore::Kept { untraced, named, compilations },
            false if self.release < FINDS_BY_METHODS => CodeBefore::Unknown { compilations },
            false => CodeBefore::Gone { untraced, named, compilations },
        };
        Decision { order: Some(CompiledCode { byte, keep }), said }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: Facts = Facts { release: 17, byte: Some(0x1000), compilations: Some(50_000), may_go: false };

    fn keeps(facts: Facts, untraced: u64) -> Option<bool> {
        let matched = Matched { untraced, ..Matched::default() };
        facts.decide(&[Matched::default(), matched]).order.map(|order| order.keep)
    }

    #[test]
    fn code_is_kept_where_all_that_depends_on_classes_is_found() {
        assert_eq!(keeps(FACTS, 0), Some(true));
        assert_eq!(keeps(Facts { may_go: true, ..FACTS }, 0), Some(true), "nothing would be won");
        assert_eq!(keeps(Facts { compilations: Some(200), ..FACTS }, 0), Some(true));
    }

    #[test]
    fn code_goes_where_methods_leave_no_trace_and_it_is_little_or_may_go() {
        assert_eq!(keeps(FACTS, 1), Some(true), "much code, and nobody said that it may go");
        assert_eq!(keeps(Facts { compilations: None, ..FACTS }, 1), Some(true), "nobody knows how much");
        assert_eq!(keeps(Facts { may_go: true, ..FACTS }, 1), Some(false));
        assert_eq!(keeps(Facts { compilations: Some(FEW_COMPILATIONS), ..FACTS }, 1), Some(false));
    }

    #[test]
    fn code_goes_where_a_jvm_does_not_find_what_depends_on_a_class() {
        let facts = Facts { release: 11, ..FACTS };
        assert_eq!(keeps(facts, 0), Some(false));
        assert_eq!(facts.decide(&[]).said, CodeBefore::Unknown { compilations: Some(50_000) });
        assert_eq!(keeps(Facts { byte: None, ..FACTS }, 0), None);
    }
}
