//! Matches the catalogue with the sites that a JVM has: what to attach for some lenses, and what cannot be had and why.
//!
//! It reads a file and attaches nothing; [`crate::ebpf`] does. The same file gives the same plan, in the same order.

mod by_note;
mod exits;
pub mod jni;
mod libjvm;
mod outer;

use std::collections::BTreeSet;

use tracer_common::{
    record::{EventKind, NAME_ABSENT},
    site::{Field, MAX_FIELDS, MAX_SITES, Operand, SiteSpec, Treat},
};

use super::{
    catalog::{self, Flag, Function, Origin, PROBES, Probe, Rest, Word, has_stack},
    clock::{self, PlannedClock},
};
use crate::{
    group::CODE_GROUP,
    jvm::usdt::Site,
    lens::{self, Lens},
};

pub use libjvm::{Entry, Libjvm};

/// What only the running JVM can tell about the words of some sites, where it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Address of the text of the counter `sun.gc.cause`: of the collection that is under way.
    pub cause_address: Option<u64>,
    /// Address of the text of the counter `sun.gc.lastCause`.
    pub last_cause_address: Option<u64>,
    /// `ObjectMonitor::_owner`.
    pub monitor_owner: Option<u32>,
    /// `Thread::_osthread` and, behind that pointer, `OSThread::_thread_id`.
    pub os_thread_id: Option<(u32, u32)>,
    /// `ObjectMonitor::_object`, where that is the object itself, and where the object says its class.
    pub monitor_class: Option<(u32, u32)>,
    /// Where an object says its class.
    pub object_class: Option<u32>,
    /// `CompileTask::_method` and `CompileTask::_comp_level`.
    pub task: Option<(u32, u32)>,
    /// `nmethod::_method`.
    pub nmethod_method: Option<u32>,
}

/// A site that is to be attached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedSite {
    /// What users call it: `hotspot:gc__begin`, or the name of a function.
    pub probe: String,
    /// Lens that owns it.
    pub lens: Lens,
    /// What it reports.
    pub kind: EventKind,
    /// Sites of one group are detached together.
    pub group: &'static str,
    /// The flag without which it is silent.
    pub flag: Option<Flag>,
    /// Where it lies in the file: what a uprobe needs.
    pub file_offset: u64,
    /// Its virtual address in the file.
    pub address: u64,
    /// What the program must know about it.
    pub spec: SiteSpec,
    /// What user space adds to the words.
    pub rest: Rest,
}

/// What to attach, and what cannot be had.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The sites, in the order of the catalogue, then of the file.
    pub sites: Vec<PlannedSite>,
    /// Sites of the kernel; their ids follow those of `sites`.
    pub clocks: Vec<PlannedClock>,
    /// Sentences that say what is missing and why.
    pub missing: Vec<String>,
    /// Flags that some sites need, each once.
    pub flags: Vec<Flag>,
    /// Whether the file has USDT notes.
    pub usdt: bool,
    /// Whether the file has a `.symtab`.
    pub symtab: bool,
}

/// Plans the sites for some lenses.
///
/// Probes that are there on demand only are left out unless `exact`, but for lenses that consist of nothing else.
pub fn plan(libjvm: &Libjvm, lenses: &[Lens], facts: Facts, exact: bool) -> Plan {
    let mut plan = Plan { usdt: libjvm.usdt(), symtab: libjvm.symtab, ..Plan::default() };
    plan.missing.extend(general_lacks(libjvm));
    let mut absent = Vec::new();
    for probe in PROBES {
        let Some(lens) = probe.lenses.iter().copied().find(|lens| lenses.contains(lens)) else { continue };
        if probe.on_demand && !exact && !lens.is_on_demand() {
            continue;
        }
        let (sites, lacks) = match probe.origin {
            Origin::Jni => jni::sites(probe.kind, lens, libjvm),
            // They are in no libjvm.so; who loads the library adds them.
            Origin::Inside(_) => continue,
            _ => sites_of(probe, lens, libjvm, facts),
        };
        plan.missing.extend(lacks);
        // For other lenses this group only makes stacks cheaper.
        if lens != Lens::Jit && probe.group == CODE_GROUP && !sees_code(libjvm) {
            continue;
        }
        if sites.is_empty() && (probe.group != CODE_GROUP || lens == Lens::Jit) {
            if probe.dispensable.is_empty() || !group_has_functions(probe, libjvm) {
                absent.push((lens, probe));
            } else {
                let sentence = format!("{}: {}", lens.id(), probe.dispensable);
                if !plan.missing.contains(&sentence) {
                    plan.missing.push(sentence);
                }
            }
        }
        for flag in sites.iter().filter_map(|site| site.flag) {
            if !plan.flags.contains(&flag) {
                plan.flags.push(flag);
            }
        }
        plan.sites.extend(sites);
    }
    if !libjvm.symtab && absent.iter().any(|(_, probe)| !probe.functions().is_empty()) {
        plan.missing.push("libjvm.so has no `.symtab`: functions that are not exported cannot be found".to_owned());
    }
    plan.missing.extend(absences(&absent));
    plan.clocks = clock::planned(lenses);
    let most = MAX_SITES - plan.clocks.len();
    if plan.sites.len() > most {
        plan.missing.push(format!("{} sites are beyond the limit of {most}", plan.sites.len() - most));
        plan.sites.truncate(most);
    }
    plan
}

/// One sentence for each lens that lacks probes: groups that are gone as a whole by their titles, others probe by probe.
fn absences(absent: &[(Lens, &Probe)]) -> Vec<String> {
    let mut by_lens: Vec<(&str, Vec<String>)> = Vec::new();
    for (lens, probe) in absent {
        let lens = if probe.lenses.len() == Lens::ALL.len() { "all lenses" } else { lens.id() };
        let gone = absent.iter().filter(|(_, other)| other.group == probe.group).count();
        let whole = gone == PROBES.iter().filter(|other| other.group == probe.group).count();
        let what = if whole {
            catalog::group_title(probe.group).to_owned()
        } else {
            format!("the events of `{}`", probe.name())
        };
        match by_lens.iter_mut().find(|(known, _)| *known == lens) {
            Some((_, list)) if list.contains(&what) => {}
            Some((_, list)) => list.push(what),
            None => by_lens.push((lens, vec![what])),
        }
    }
    let sentence = |(lens, list): (&str, Vec<String>)| format!("{}{}", lens::unavailable(lens), list.join(", "));
    let instead = OTHERWISE.iter().filter(|(group, _)| absent.iter().any(|(_, probe)| probe.group == *group));
    by_lens.into_iter().map(sentence).chain(instead.map(|(_, sentence)| (*sentence).to_owned())).collect()
}

/// What sees something without the sites of a group.
const OTHERWISE: [(&str, &str); 3] = [
    ("contended", "locks: `jtrace attach PID -l offcpu` shows where threads block, and for how long"),
    (
        "notify",
        "locks: `jtrace markers PID --marker 'CLASS::*@call:java.lang.Object::notify'` counts notifies of a class, with the library in \
         the JVM",
    ),
    (
        "jni",
        "jni: `jtrace markers PID --marker 'CLASS::*@call:CLASS::METHOD'` counts calls of a native method, with the library in the JVM",
    ),
];

/// Whether removed code is told: only then do installed code and it make stacks cheaper.
fn sees_code(libjvm: &Libjvm) -> bool {
    let removed = PROBES.iter().filter(|probe| probe.kind == EventKind::CodeUnloaded).filter_map(Probe::usdt);
    removed.into_iter().any(|usdt| libjvm.sites.locations(usdt.provider, usdt.name).next().is_some())
}

fn general_lacks(libjvm: &Libjvm) -> Vec<String> {
    let mut lacks = Vec::new();
    if !libjvm.usdt() {
        lacks.push(
            "libjvm.so has no USDT notes: what follows the names of functions instead, and has no more than they give"
                .to_owned(),
        );
    }
    if libjvm.sites.error_count > 0 {
        let first = libjvm.sites.errors.first().map_or_else(String::new, |error| format!(", the first: {error}"));
        lacks.push(format!("{} USDT notes could not be used{first}", libjvm.sites.error_count));
    }
    lacks
}

/// All sites of one probe, and what is missing about it although it has some.
fn sites_of(probe: &Probe, lens: Lens, libjvm: &Libjvm, facts: Facts) -> (Vec<PlannedSite>, Vec<String>) {
    let mut sites = Vec::new();
    let mut lacks = Vec::new();
    let site = |name: String, flag, address, file_offset, spec, rest| PlannedSite {
        probe: name,
        lens,
        kind: probe.kind,
        group: probe.group,
        flag,
        file_offset,
        address,
        spec,
        rest,
    };
    if let Some(usdt) = probe.usdt() {
        let mut locations: Vec<&Site> = libjvm.sites.locations(usdt.provider, usdt.name).collect();
        locations.sort_by_key(|location| location.address);
        // Two notes for one instruction would count each hit twice.
        locations.dedup_by_key(|location| location.address);
        for location in locations {
            let arguments = Arguments::Site(location);
            match location
                .file_offset
                .map_err(|refusal| refusal.to_string())
                .and_then(|file_offset| Ok((file_offset, site_spec(probe.kind, usdt.words, arguments, facts)?)))
            {
                Ok((file_offset, spec)) => {
                    sites.push(site(probe.name(), probe.flag, location.address, file_offset, spec, Rest::Nothing));
                }
                Err(why) => lacks.push(format!(
                    "{}: the location of `{}` at {:#x} is left out: {why}",
                    lens.id(),
                    probe.name(),
                    location.address
                )),
            }
        }
    }
    if !sites.is_empty() {
        return (sites, lacks);
    }
    if !group_has_functions(probe, libjvm) {
        return (sites, lacks);
    }
    let mut seen = BTreeSet::new();
    for function in probe.functions() {
        let mut entries = libjvm.places(function);
        // Two names of one function would count each hit twice.
        entries.retain(|entry| seen.insert(entry.address));
        // What stands in for a note is not silenced with it.
        let flag = probe.flag.filter(|_| probe.usdt().is_none());
        for Entry { address, file_offset, bytes: _ } in &entries {
            match site_spec(probe.kind, function.words, Arguments::Entry(function.arguments), facts) {
                Ok(spec) => {
                    sites.push(site(function.name.to_owned(), flag, *address, *file_offset, spec, function.rest));
                }
                Err(why) => lacks.push(format!("{}: `{}` is left out: {why}", lens.id(), function.name)),
            }
        }
        if !entries.is_empty() && !function.lacks.is_empty() {
            lacks.push(format!("{}: {}", lens.id(), function.lacks));
        }
    }
    (sites, lacks)
}

/// Events that belong together come from functions only where every one of them has its function: a beginning without
/// its end would be taken for something that is still going on.
fn group_has_functions(probe: &Probe, libjvm: &Libjvm) -> bool {
    PROBES
        .iter()
        .filter(|other| other.group == probe.group && other.dispensable.is_empty())
        .all(|other| other.functions().iter().any(|function| !libjvm.places(function).is_empty()))
}

/// Where the arguments of a site are.
#[derive(Clone, Copy)]
enum Arguments<'a> {
    /// Where its note says.
    Site(&'a Site),
    /// Where the calling convention puts them.
    Entry(&'a [Operand]),
}

impl Arguments<'_> {
    /// The argument with this number, from 1.
    fn get(self, number: usize) -> Result<Operand, String> {
        let index = number.wrapping_sub(1);
        let (count, operand) = match self {
            Self::Site(site) => (site.operands.len(), site.operands.get(index).cloned()),
            Self::Entry(operands) => (operands.len(), operands.get(index).copied().map(Ok)),
        };
        operand
            .ok_or_else(|| format!("it has {count} arguments, and argument {number} is needed"))?
            .map_err(|error| error.to_string())
    }
}

/// What a program must know about a function of the library in the JVM.
pub(crate) fn inside_spec(kind: EventKind, function: &Function) -> Result<SiteSpec, String> {
    site_spec(kind, function.words, Arguments::Entry(function.arguments), Facts::default())
}

fn site_spec(kind: EventKind, words: &[Word], arguments: Arguments<'_>, facts: Facts) -> Result<SiteSpec, String> {
    let mut fields = [Field::ZERO; MAX_FIELDS];
    for (slot, word) in fields.iter_mut().zip(words) {
        *slot = field(*word, arguments, facts)?;
    }
    let field_count = u16::try_from(words.len()).map_err(|error| error.to_string())?;
    Ok(SiteSpec { kind: kind as u16, field_count, stack: u32::from(has_stack(kind)), fields })
}

fn field(word: Word, arguments: Arguments<'_>, facts: Facts) -> Result<Field, String> {
    let treated = |a, treat: Treat| Field { treat: treat as u8, ..Field::word(a) };
    let absent = Field::word(Operand::constant(NAME_ABSENT.cast_signed()));
    let text_at = |address: Option<u64>| {
        address.map_or(absent, |address| treated(Operand::constant(address.cast_signed()), Treat::CString))
    };
    let pointee = |number, offset: Option<u32>| match offset {
        Some(offset) => Ok::<_, String>(Field::pointee(arguments.get(number)?, offset, 0)),
        None => Ok(Field::ZERO),
    };
    Ok(match word {
        Word::Argument(number) => Field::word(arguments.get(number)?),
        Word::Name(pointer, length) => Field::name(arguments.get(pointer)?, arguments.get(length)?),
        Word::CString(number) => treated(arguments.get(number)?, Treat::CString),
        Word::Klass(number) => treated(arguments.get(number)?, Treat::Klass),
        Word::Constant(value) => Field::word(Operand::constant(value.cast_signed())),
        Word::AbsentName => absent,
        Word::GcCause => text_at(facts.cause_address),
        Word::LastGcCause => text_at(facts.last_cause_address),
        Word::MonitorOwner(number) => pointee(number, facts.monitor_owner)?,
        Word::MonitorClass(number) => match facts.monitor_class {
            Some((object, class)) => Field::pointee(arguments.get(number)?, object, class),
            None => absent,
        },
        Word::ObjectClass(number) => match facts.object_class {
            Some(class) => Field::pointee(arguments.get(number)?, class, 0),
            None => absent,
        },
        Word::Pointee(number) => Field::pointee(arguments.get(number)?, 0, 0),
        Word::TaskMethod(number) => pointee(number, facts.task.map(|(method, _)| method))?,
        Word::TaskLevel(number) => pointee(number, facts.task.map(|(_, level)| level))?,
        Word::NmethodMethod(number) => pointee(number, facts.nmethod_method)?,
        Word::OsThreadId(number) => match facts.os_thread_id {
            Some((thread, id)) => Field::pointee(arguments.get(number)?, thread, id),
            None => Field::ZERO,
        },
    })
}

#[cfg(test)]
mod tests;
