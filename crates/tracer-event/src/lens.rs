//! Lenses: what a user asks for. Which sites a lens needs is the catalogue's, what it makes of their events its analysis's.

/// When the sites of a lens are attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Where nobody says which lenses: it costs next to nothing on any target.
    Usual,
    /// Where it is named.
    Asked,
    /// Where it is named; all its sites are there on demand only.
    OnDemand,
    /// Where it is named, and a library is in the JVM.
    Inside,
}

/// A lens is a line: its name in the code, the word that the command line, JSON and the docs use, when it is there, and what help says of
/// it. They stand in the order of the report.
macro_rules! lenses {
    ($($variant:ident $id:literal $kind:ident $about:literal;)+) => {
        /// What a user asks for: a set of sites and an analysis.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum Lens {
            $(#[doc = $about] $variant,)+
        }

        impl Lens {
            /// Every lens, in the order of the report.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            const fn kind(self) -> Kind {
                match self { $(Self::$variant => Kind::$kind),+ }
            }

            /// The word that the command line, JSON and the docs use.
            pub const fn id(self) -> &'static str {
                match self { $(Self::$variant => $id),+ }
            }

            /// What help says of it.
            pub const fn about(self) -> &'static str {
                match self { $(Self::$variant => $about),+ }
            }
        }
    };
}

lenses! {
    Gc "gc" Usual "Collections by cause and kind, pauses, memory pools";
    Safepoint "safepoint" Usual "VM operations and safepoint time";
    Locks "locks" Usual "Contended monitors, waits, parking";
    Threads "threads" Usual "Threads that start, stop, sleep";
    Classes "classes" Usual "Class loading and initialisation";
    Jit "jit" Usual "Compilations and code";
    Alloc "alloc" Usual "Allocation, sampled at TLAB refills";
    Exceptions "exceptions" Usual "Exceptions that are made, by class and place";
    Cpu "cpu" Usual "Which code runs, sampled by a clock";
    Offcpu "offcpu" Asked "Where threads wait and for what, from the scheduler";
    Wall "wall" Asked "Where threads spend their time, running or not";
    Methods "methods" OnDemand "How often chosen methods are called, how long they take, and how they end";
    Calls "calls" OnDemand "Who calls whom, from where, among chosen methods";
    Explain "explain" Inside "What a call costs (`jtrace explain-call`)";
    Jni "jni" Asked "Which functions of JNI native code calls, and how long it holds critical sections open";
    Markers "markers" Inside "Marked points and regions of code";
    Typestate "typestate" Inside "Whether objects are used as their protocols say";
}

impl Lens {
    /// Those that are used where nobody says which. They come first.
    pub const USUAL: &'static [Self] = {
        let mut usual = 0;
        while matches!(Self::ALL[usual].kind(), Kind::Usual) {
            usual += 1;
        }
        Self::ALL.split_at(usual).0
    };

    /// Whether all its sites are there on demand only.
    pub const fn is_on_demand(self) -> bool {
        matches!(self.kind(), Kind::OnDemand)
    }

    /// Whether it needs a library in the JVM.
    pub const fn is_inside(self) -> bool {
        matches!(self.kind(), Kind::Inside)
    }
}

/// How the sentence begins that names what there is no site for.
pub fn unavailable(lens: &str) -> String {
    format!("{lens}: not available, because libjvm.so has no usable site for it: ")
}

/// Whether sentences on what is missing have one of those for a lens.
pub fn lacks_sites(missing: &[String], lens: &str) -> bool {
    let beginning = unavailable(lens);
    missing.iter().any(|sentence| sentence.starts_with(&beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lenses_that_are_used_by_themselves_come_first_and_have_other_words() {
        let usual = Lens::ALL.iter().filter(|lens| lens.kind() == Kind::Usual);
        assert!(usual.eq(Lens::USUAL) && Lens::USUAL.contains(&Lens::Cpu) && !Lens::USUAL.contains(&Lens::Offcpu));
        let words: std::collections::BTreeSet<&str> = Lens::ALL.iter().map(|lens| lens.id()).collect();
        assert_eq!(words.len(), Lens::ALL.len());
        for lens in Lens::ALL {
            assert_eq!(format!("{lens:?}").to_lowercase(), lens.id(), "recordings have this word");
        }
    }
}
