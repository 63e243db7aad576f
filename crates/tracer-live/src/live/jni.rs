//! JNI calls of a live target: names callers when they are met first, tells the kernel what the predicate says of them, and
//! reads what the kernel has counted.

mod caller;
mod reading;

use std::collections::{BTreeSet, HashMap};

use tracer_common::{
    jni::{Caller as Told, Flags, JniDemand, MAX_CALLERS},
    record::{EventKind, HEADER_BYTES},
    tally::Subject as ToldSubject,
};

use self::caller::{Caller, Namer};
use super::{
    book::ThreadBook,
    ended::{EndedCounts, EndedThreads},
    holders::Namespace,
    judge::{Facts, Judge},
};
use crate::{
    decode::Header,
    ebpf::{Error, load::Kernel},
    event::NameId,
    item::Item,
    jni::{Family, Function},
    jvm::{
        find::Jvm,
        java_threads::{Layout, ThreadNames},
        jni_env::{self, JniEnv},
    },
    predicate::{Field, Predicate},
    source::encode::{encode_definition, name_id},
    subject::{MethodPart, Subject},
};

/// The JNI calls of a session.
pub struct JniCalls {
    pid: u32,
    judge: Judge,
    /// Whether calls are decided before they are over.
    lasts: bool,
    demand: JniDemand,
    functions: BTreeSet<Function>,
    namer: Option<Namer>,
    /// By address.
    known: HashMap<u64, Known>,
    known_bytes: usize,
    /// Name of each caller, by number; the first has no use.
    numbered: Vec<NameId>,
    /// Definitions that were not passed on yet.
    fresh: Vec<Vec<u8>>,
    /// What was decided last of a call that opened a critical section, by thread.
    openers: HashMap<u32, bool>,
    ended: EndedThreads,
    ended_calls: EndedCounts,
    ended_sections: EndedCounts,
}

/// A caller that was named.
struct Known {
    name: NameId,
    caller: Caller,
}

/// Most that names of callers take; each is kept twice.
const MAX_KNOWN_BYTES: usize = 32 << 20;

/// Most threads of which a decision is kept.
const MAX_OPENERS: usize = 65_536;

impl JniCalls {
    /// JNI calls of the process, of the functions that are attached. `each` where every call shall come as an event.
    pub fn new(predicate: &Predicate, pid: u32, functions: BTreeSet<Function>, each: bool) -> Self {
        let demand = JniDemand {
            each: u32::from(each),
            threads: u32::from(predicate.asks_for(&[Field::Thread, Field::Daemon])),
            ..JniDemand::default()
        };
        Self {
            pid,
            // Until the JVM's own names are known.
            judge: Judge::new(predicate.clone(), ThreadBook::new(pid, Namespace::Initial, None)),
            lasts: predicate.asks_for(&[Field::Duration]),
            demand,
            functions,
            namer: None,
            known: HashMap::new(),
            known_bytes: 0,
            numbered: vec![NameId(tracer_common::record::NAME_ABSENT)],
            fresh: Vec::new(),
            openers: HashMap::new(),
            ended: EndedThreads::default(),
            ended_calls: EndedCounts::default(),
            ended_sections: EndedCounts::default(),
        }
    }

    /// Finds out how callers are found and named in a JVM; what cannot be is said.
    pub fn look_into(&mut self, jvm: &Jvm, threads: Option<Layout>, starts: bool, missing: &mut Vec<String>) {
        if self.demand.threads != 0 {
            let names = threads.and_then(|layout| ThreadNames::open(jvm, layout).ok());
            *self.judge.threads() = ThreadBook::new(self.pid, Namespace::of(jvm), names);
        }
        let layout = threads.ok_or_else(|| "the list of threads cannot be read".to_owned());
        match layout.and_then(|layout| jni_env::read(jvm, layout, starts)) {
            Ok(JniEnv { demand: layout, unseen }) => {
                let JniDemand { each, threads, epochs, .. } = self.demand;
                self.demand = JniDemand { each, threads, epochs, ..layout };
                let unseen: Vec<_> =
                    unseen.iter().filter(|one| self.functions.contains(one)).map(|one| one.name()).collect();
                if !unseen.is_empty() {
                    missing.push(format!(
                        "jni: not seen are most calls of {}: the JVM answers them by code that it has made \
                         (-XX:-UseFastJNIAccessors)",
                        unseen.join(", ")
                    ));
                }
            }
            Err(error) => {
                missing.push(format!("jni: Java methods that call are not known, only native code: {error}"));
            }
        }
        match Namer::open(jvm) {
            Ok(namer) => self.namer = Some(namer),
            Err(error) => missing.push(format!("jni: callers have no names: {error}")),
        }
    }

    /// Tells the programs what is asked for.
    pub fn install(&mut self, kernel: &mut Kernel) -> Result<(), Error> {
        kernel.tallying().set_filter(self.judge.filter())?;
        for function in self.functions.clone() {
            let (mask, verdict) = self.judge.subject(&subject(function));
            let told = ToldSubject { mask, cell: 0, verdict: verdict.map_or(0, |verdict| verdict as u32) };
            kernel.jni().set_function(function, told)?;
        }
        kernel.jni().set_demand(self.demand)?;
        // What is not found is a caller, too.
        self.meet(0, kernel);
        Ok(())
    }

    /// A group of functions is about to be taken away, or was attached anew. The kernel takes sites one after another: told so,
    /// the program lets none of them count alone.
    pub fn switch(&mut self, group: &str, kernel: &mut Kernel) {
        let Some(family) = Family::of_group(group) else { return };
        if let Some(epoch) = self.demand.epochs.get_mut(family as usize) {
            *epoch = epoch.wrapping_add(1);
        }
        if let Err(error) = kernel.jni().set_demand(self.demand) {
            log::warn!("{error}");
        }
    }

    /// Looks at a record as it comes out of its ring buffer: where it is of a JNI call, writes its caller's name there, and what the
    /// predicate says of it, where the kernel could not tell.
    pub fn take(&mut self, record: &[u8], kernel: &mut Kernel) -> Option<Vec<u8>> {
        let header = Header::read(record).ok()?;
        let kind = EventKind::from_number(header.kind)?;
        if !matches!(kind, EventKind::JniEntry | EventKind::JniReturn | EventKind::JniSection) {
            return None;
        }
        let mut filled = record.to_vec();
        let (first, address) = (word(&filled, 0), word(&filled, 1));
        let name = self.meet(address, kernel);
        set_word(&mut filled, 1, name.0);
        if first & Flags::UNDECIDED != 0 {
            let tid = header.tid.0;
            let function = Function(u16::try_from(first & 0xffff).unwrap_or(u16::MAX));
            let wanted = if kind == EventKind::JniSection {
                self.openers.get(&tid).copied().unwrap_or(true)
            } else {
                let duration_ns = if kind == EventKind::JniReturn { word(&filled, 2) } else { 0 };
                let cpu = u16::from_le_bytes([filled[6], filled[7]]);
                let facts = Facts { tid, cpu, duration_ns, depth: first >> 32, ..Facts::default() };
                self.is_wanted(function, address, &facts, kernel)
            };
            if function.closed_by().is_some() && (self.openers.len() < MAX_OPENERS || self.openers.contains_key(&tid)) {
                self.openers.insert(tid, wanted);
            }
            let flags = first & !Flags::UNDECIDED;
            set_word(&mut filled, 0, if wanted { flags } else { flags | Flags::UNWANTED });
        }
        Some(filled)
    }

    fn is_wanted(&mut self, function: Function, address: u64, facts: &Facts, kernel: &mut Kernel) -> bool {
        if self.demand.threads != 0 {
            let mask = self.judge.thread(facts.tid);
            if let Err(error) = kernel.tallying().set_thread(facts.tid, mask) {
                log::warn!("{error}");
            }
        }
        let caller = self.known.get(&address).and_then(|known| known.caller.subject.clone());
        self.judge.is_wanted(&subject(function), caller.as_ref(), facts)
    }

    /// More is about to be taken out of the ring buffers.
    pub(super) fn look_again(&mut self) {
        if let Some(namer) = &mut self.namer {
            namer.look_again();
        }
    }

    /// The name of the caller at an address, which may be new.
    fn meet(&mut self, address: u64, kernel: &mut Kernel) -> NameId {
        if let Some(known) = self.known.get(&address) {
            return known.name;
        }
        let caller = match &mut self.namer {
            _ if address == 0 => Caller::unknown("<caller not known>"),
            Some(namer) => namer.name(address),
            None => return NameId(tracer_common::record::NAME_UNREADABLE),
        };
        let text = caller.text.as_bytes();
        let name = name_id(text);
        self.fresh.push(encode_definition(name, text));
        let bytes = self.known_bytes + caller.bytes();
        if self.known.len() >= MAX_CALLERS || bytes > MAX_KNOWN_BYTES {
            return name;
        }
        self.known_bytes = bytes;
        // One name has one number, whatever the address.
        let number = self.numbered.iter().skip(1).position(|known| *known == name).map_or_else(
            || {
                self.numbered.push(name);
                self.numbered.len() - 1
            },
            |at| at + 1,
        );
        let told = Told {
            mask: self.judge.caller(caller.subject.as_ref()),
            number: u32::try_from(number).unwrap_or(0),
            reserved: 0,
        };
        if let Err(error) = kernel.jni().set_caller(address, told) {
            // Its calls go on to come one by one.
            log::warn!("{error}");
        }
        self.known.insert(address, Known { name, caller });
        name
    }

    /// Passes on the names of callers that were met.
    pub fn define(&mut self, sink: &mut dyn FnMut(Item<'_>)) {
        for definition in self.fresh.drain(..) {
            sink(Item::Record(&definition));
        }
    }

    /// Where classes were unloaded, an address may have got another meaning: whatever means another caller now is forgotten.
    pub fn refresh(&mut self, kernel: &mut Kernel) {
        let Some(namer) = &mut self.namer else { return };
        if !namer.may_have_changed() {
            return;
        }
        let changed: Vec<u64> = self
            .known
            .iter()
            .filter(|(address, known)| **address != 0 && namer.name(**address).text != known.caller.text)
            .map(|(address, _)| *address)
            .collect();
        for address in changed {
            let known = self.known.remove(&address);
            self.known_bytes -= known.map_or(0, |known| known.caller.bytes());
            kernel.jni().forget_caller(address);
        }
    }
}

fn function_of(number: u32) -> Function {
    Function(u16::try_from(number).unwrap_or(u16::MAX))
}

/// A function as predicates see it.
fn subject(function: Function) -> Subject {
    let method = MethodPart { name: function.name().to_owned(), signature: String::new(), native: true };
    Subject { class: String::new(), method: Some(method) }
}

fn word(record: &[u8], index: usize) -> u64 {
    let at = HEADER_BYTES + 8 * index;
    record.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

fn set_word(record: &mut [u8], index: usize, value: u64) {
    let at = HEADER_BYTES + 8 * index;
    if let Some(to) = record.get_mut(at..at + 8) {
        to.copy_from_slice(&value.to_le_bytes());
    }
}
