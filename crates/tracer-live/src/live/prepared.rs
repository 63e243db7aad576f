//! What a session is to be, before anything is attached.

use std::time::Instant;

use tracer_common::site::TargetLayout;

use super::{
    completion::Reader, holders::Holders, inside::InsideLane, jni::JniCalls, subjects::Subjects, unwinding::Unwinding,
};
use crate::{
    ebpf::{attach::Place, load::KernelOptions},
    event::Tid,
    guard::Budget,
    item::Target,
    lens::Lens,
    mark::Asked,
    probe::plan::Plan,
};

/// Which sites to attach, and where.
pub struct Prepared {
    /// The file with the sites, and the process.
    pub place: Place,
    /// The sites.
    pub plan: Plan,
    /// Offsets in the JVM's structures; all 0 where they are not known yet.
    pub layout: TargetLayout,
    /// What the kernel side shall be like.
    pub kernel: KernelOptions,
    /// What the target may lose to traps.
    pub budget: Budget,
    /// What is known about the target's code; nothing where stacks are not wanted.
    pub unwinding: Option<Unwinding>,
    /// What finds the holders of monitors; nothing where they are not wanted.
    pub holders: Option<Holders>,
    /// What reads what functions point to; nothing where the JVM is not known yet.
    pub reader: Option<Reader>,
    /// What names methods and classes of objects; nothing where nobody asks for them.
    pub subjects: Option<Subjects>,
    /// What names callers of JNI functions; nothing where nobody asks for them.
    pub jni: Option<JniCalls>,
    /// The library in the JVM; nothing where it is not wanted.
    pub inside: Option<InsideLane>,
    /// Markers and properties, wherever they are followed.
    pub asked: Option<Asked>,
}

impl Prepared {
    /// With markers and properties, and the library in the JVM, where they need it.
    #[must_use]
    pub fn with_asked(mut self, asked: Option<Asked>, inside: Option<InsideLane>) -> Self {
        self.kernel.marks = inside.is_some();
        (self.asked, self.inside) = (asked, inside);
        self
    }

    /// With what reads names that functions do not tell.
    #[must_use]
    pub fn with_reader(self, reader: Option<Reader>) -> Self {
        Self { reader, ..self }
    }

    /// With JNI calls, where they are wanted.
    #[must_use]
    pub fn with_jni(mut self, jni: Option<JniCalls>) -> Self {
        self.kernel.jni = jni.is_some();
        self.jni = jni;
        self
    }
}

/// What a session's first item says besides what attaching found out.
pub struct Description {
    /// The JVM.
    pub target: Target,
    /// Lenses that are shown.
    pub lenses: Vec<Lens>,
    /// What is missing besides what the plan says.
    pub missing: Vec<String>,
    /// Threads that live already.
    pub threads: Vec<(Tid, String)>,
    /// Those of them whose names are whole.
    pub named: Vec<Tid>,
    /// When jtrace began.
    pub began: Instant,
}
