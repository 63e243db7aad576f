//! Which program runs at which site, and how it was loaded: a program must say at load time how it will be attached.

use std::{
    collections::{BTreeMap, HashMap},
    os::fd::{AsFd as _, OwnedFd, RawFd},
};

use aya::Ebpf;
use tracer_common::{
    names::{
        PROGRAM_CPU_SAMPLE, PROGRAM_FRAME_UNWOUND, PROGRAM_JNI, PROGRAM_MARKS, PROGRAM_METHOD_ENTRY,
        PROGRAM_METHOD_RETURN, PROGRAM_OBJECT_ALLOC, PROGRAM_SCHED_SWITCH, PROGRAM_SCHED_WAKEUP, PROGRAM_SITE,
    },
    record::EventKind,
    site::SiteSpec,
};

use super::{
    Error,
    bpf_object::uprobe,
    load::Links,
    multi, private_stack,
    verify::{Attaching, Code, Refusal},
};

/// Programs for methods and objects.
const TALLYING: [&str; 4] = [PROGRAM_METHOD_ENTRY, PROGRAM_METHOD_RETURN, PROGRAM_FRAME_UNWOUND, PROGRAM_OBJECT_ALLOC];

/// Every program that a session can need.
pub(super) const ALL: [&str; 10] = [
    PROGRAM_SITE,
    PROGRAM_METHOD_ENTRY,
    PROGRAM_METHOD_RETURN,
    PROGRAM_FRAME_UNWOUND,
    PROGRAM_OBJECT_ALLOC,
    PROGRAM_JNI,
    PROGRAM_MARKS,
    PROGRAM_CPU_SAMPLE,
    PROGRAM_SCHED_WAKEUP,
    PROGRAM_SCHED_SWITCH,
];

/// The program for sites of a kind: most are read as their specification says.
fn program_of(kind: u16) -> &'static str {
    match EventKind::from_number(kind) {
        Some(EventKind::MethodEntry) => PROGRAM_METHOD_ENTRY,
        Some(EventKind::MethodReturn) => PROGRAM_METHOD_RETURN,
        Some(EventKind::FrameUnwound) => PROGRAM_FRAME_UNWOUND,
        Some(EventKind::ObjectAlloc) => PROGRAM_OBJECT_ALLOC,
        Some(EventKind::JniEntry | EventKind::JniReturn) => PROGRAM_JNI,
        Some(EventKind::Marks) => PROGRAM_MARKS,
        _ => PROGRAM_SITE,
    }
}

/// The loaded programs of uprobes.
pub struct Programs {
    /// For multi-uprobe links, by name; empty where single uprobes are used.
    multi: BTreeMap<&'static str, OwnedFd>,
    /// Why single uprobes are used, where they are.
    why_single: Option<String>,
    /// Program of each site that has another one than most.
    of_site: HashMap<u16, &'static str>,
}

impl Programs {
    /// Loads them, for links of groups where the kernel has them. `tallying` where those for methods and objects are needed,
    /// `jni` where that for JNI functions is, `marks` where that for woven code is.
    pub(super) fn load(
        ebpf: &mut Ebpf,
        object: &[u8],
        maps: &HashMap<String, RawFd>,
        links: Links,
        tallying: bool,
        jni: bool,
        marks: bool,
    ) -> Result<Self, Error> {
        let names = || {
            let on_demand = TALLYING.into_iter().filter(|_| tallying).chain(jni.then_some(PROGRAM_JNI));
            let on_demand = on_demand.chain(marks.then_some(PROGRAM_MARKS));
            std::iter::once(PROGRAM_SITE).chain(on_demand)
        };
        let mut programs = Self { multi: BTreeMap::new(), why_single: None, of_site: HashMap::new() };
        let has_links = if links == Links::Single { Err("not asked for".to_owned()) } else { multi::load_nothing() };
        match has_links {
            Ok(_) => {
                for name in names() {
                    let code = Code::of(object, name, maps).map_err(Error::Load)?;
                    programs.multi.insert(name, code.load(Attaching::Multi)?);
                }
                return Ok(programs);
            }
            Err(reason) if links == Links::Multi => return Err(Error::Load(reason)),
            Err(reason) => {
                log::info!("no multi-uprobe link ({reason}): every site gets a perf event of its own");
                programs.why_single = Some(reason);
            }
        }
        for name in names() {
            let program = uprobe(ebpf, name)?;
            let refusal = |error| Refusal::of(name, &error);
            program.load().map_err(refusal)?;
            private_stack::refuse(name, program.fd().map_err(refusal)?.as_fd())?;
        }
        Ok(programs)
    }

    /// Takes note of the program that a site needs.
    pub(super) fn set_site(&mut self, site: u16, spec: &SiteSpec) {
        match program_of(spec.kind) {
            PROGRAM_SITE => self.of_site.remove(&site),
            program => self.of_site.insert(site, program),
        };
    }

    /// Name of the program of a site.
    pub(super) fn of_site(&self, site: u16) -> &'static str {
        self.of_site.get(&site).copied().unwrap_or(PROGRAM_SITE)
    }

    /// Why sites are attached one by one; nothing where groups are.
    pub(super) fn why_single(&self) -> Option<&str> {
        self.why_single.as_deref()
    }

    /// The program for multi-uprobe links, where the kernel has them.
    pub(super) fn multi(&self, name: &str) -> Option<&OwnedFd> {
        self.multi.get(name)
    }
}
