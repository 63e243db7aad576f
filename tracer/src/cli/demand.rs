//! What is there on demand only, methods, calls, all objects, JNI: its options, and the commands `methods`, `calls`, `alloc`, `jni`; and `exceptions`.

use std::process::ExitCode;

use super::{
    Failure,
    attach::{self, trap_ns},
    predicate::PredicateOptions,
    values::words,
};
use crate::{
    ebpf::load::KernelOptions,
    jvm::arming::ArmMode,
    lens::Lens,
    predicate::{Field, Kind, Predicate, split::Armed},
    setup::Lane,
};

/// Runs `attach` with this lens, and CPU samples beside it: they tell how much happens in code that does not report.
pub(super) fn run(mut options: attach::Options, lens: Lens) -> Result<ExitCode, Failure> {
    let watch = &mut options.watch;
    if watch.lens.is_empty() {
        watch.lens = match lens {
            Lens::Alloc => vec![lens, Lens::Gc, Lens::Cpu],
            // Collections wait for critical sections, or must go round them.
            Lens::Jni => vec![lens, Lens::Gc],
            Lens::Markers | Lens::Typestate => vec![lens],
            _ => vec![lens, Lens::Cpu],
        };
    } else if !watch.lens.contains(&lens) {
        watch.lens.push(lens);
    }
    watch.demand.exact |= lens == Lens::Alloc;
    attach::run(options)
}

/// Which methods or objects to look at, and how.
#[derive(Clone, Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(super) struct DemandOptions {
    /// See every object that is made, and not only samples (lens alloc)
    #[arg(long)]
    pub(super) exact: bool,

    #[command(flatten)]
    pub(super) wanted: PredicateOptions,

    /// Where calls, objects and exceptions are counted (lenses methods, calls, alloc, exceptions): by traps of the kernel, or by code that a library weaves
    /// into the methods
    #[arg(long, value_parser = words::<Lane>(), default_value = "auto", value_name = "LANE", hide_possible_values = false)]
    pub(super) lane: Lane,

    /// How far the JVM may be changed so that methods or objects are seen that do not report by themselves
    #[arg(long, value_parser = words::<ArmMode>(), default_value = "auto", value_name = "HOW")]
    pub(super) arm: ArmMode,

    /// Take every call (of JNI, too) or object as an event of its own, with its thread and stack, instead of counting in the kernel
    #[arg(long)]
    pub(super) each: bool,

    /// Leave out durations and exceptions: calls are counted at their entry alone, for half the cost (lens methods)
    #[arg(long)]
    pub(super) no_times: bool,

    /// Count calls by thread as well, for a tenth more of the cost (lens methods; `--each` has threads anyway)
    #[arg(long)]
    pub(super) by_thread: bool,

    /// Look also at what nothing narrows down: every call, or every object. With --inside also: let all
    /// compiled code go where calls would be missed otherwise (`docs/inside.md`)
    #[arg(long)]
    pub(super) yes: bool,
}

impl DemandOptions {
    /// Whether something is asked for that may happen as often as the program does anything.
    pub(super) fn is_wanted(&self, lenses: &[Lens]) -> bool {
        self.exact || lenses.iter().any(|lens| lens.is_on_demand())
    }

    /// Which methods or objects are wanted: one predicate is about events of one kind.
    pub(super) fn predicate(&self, lenses: &[Lens], kernel: KernelOptions) -> Result<Predicate, Failure> {
        let methods = lenses.iter().any(|lens| lens.is_on_demand());
        // What is chosen is in the marker of allocations.
        if self.lane == Lane::Inside && !methods {
            return Ok(Predicate { kind: Kind::MethodEntry, expr: None });
        }
        if self.wanted.is_empty() {
            if self.is_wanted(lenses) {
                self.refuse_everything(kernel)?;
            }
            let jni = lenses.contains(&Lens::Jni) && !self.is_wanted(lenses);
            return Ok(Predicate { kind: if jni { Kind::Jni } else { Kind::MethodEntry }, expr: None });
        }
        let jni = lenses.contains(&Lens::Jni);
        if jni && (methods || self.exact) {
            return Err(Failure::usage(
                "a predicate is about methods, objects or JNI calls, and several are asked for",
                "leave out the lens jni, or --exact and the lenses methods and calls".to_owned(),
            ));
        }
        let kind = match (methods, self.exact) {
            (false, false) if jni => Kind::Jni,
            (true, true) => {
                return Err(Failure::usage(
                    "a predicate is about methods or about objects, and both are asked for",
                    "leave out --exact or the lenses methods and calls".to_owned(),
                ));
            }
            (false, false) => {
                return Err(Failure::usage(
                    "nothing is asked for that a predicate could choose from",
                    "add `-l methods`, `-l calls`, `-l jni`, `-l alloc --exact`, or `-l exceptions --lane inside`"
                        .to_owned(),
                ));
            }
            (true, false) if lenses.contains(&Lens::Calls) => Kind::MethodEntry,
            (true, false) => Kind::MethodReturn,
            (false, true) => Kind::Allocation,
        };
        let predicate = self.wanted.predicate(kind)?;
        if predicate.asks_for(&[Field::Line]) {
            return Err(Failure::usage(
                "`line` is not known of a running JVM's events yet",
                "choose by method, caller or thread instead".to_owned(),
            ));
        }
        let calls = lenses.contains(&Lens::Calls);
        let callers = [Field::Depth, Field::Caller, Field::CallerClass, Field::CallerMethod];
        if let Some(field) = callers.iter().find(|field| self.exact && predicate.asks_for(&[**field])) {
            return Err(Failure::usage(
                format!("`{}` is not known of a running JVM's allocations yet", field.name()),
                "choose by class, size or thread; the report tells where objects are made".to_owned(),
            ));
        }
        for field in callers {
            if methods && (self.no_times || calls) && predicate.asks_for(&[field]) {
                let what = if calls { "the lens calls" } else { "--no-times" };
                return Err(Failure::usage(
                    format!("with {what} the kernel does not follow calls, and `{}` is not known", field.name()),
                    "use `-l methods` without --no-times, or choose by method or thread".to_owned(),
                ));
            }
        }
        if predicate.armed() == Armed::All && !jni {
            self.refuse_everything(kernel)?;
        }
        Ok(predicate)
    }

    /// Everything is only looked at by those who know what it costs.
    fn refuse_everything(&self, kernel: KernelOptions) -> Result<(), Failure> {
        if self.yes || self.wanted.explain {
            return Ok(());
        }
        let cost = trap_ns(kernel).map_or_else(
            |_| String::new(),
            // A million a second is what a busy thread does easily.
            |ns| format!(": {ns:.0} ns each here, {:.0} % of a core for every million a second", ns / 10.0),
        );
        Err(Failure::usage(
            format!("no name narrows down what is looked at, so every call or object would trap{cost}"),
            "choose with -I, -X or --where (`-I 'com.shop.*::*'`), or say --yes; --max-overhead holds all the same"
                .to_owned(),
        ))
    }
}
