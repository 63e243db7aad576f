//! Which sites a session attaches: those of its lenses, without what nobody asks for, and with what markers ask of threads.

use std::path::Path;

use tracer_common::{record::EventKind, site::SiteSpec};

use super::{Error, SessionConfig};
use crate::{
    lens::Lens,
    live::jni::JniCalls,
    predicate::Field,
    probe::plan::{self, Facts, Libjvm, Plan, PlannedSite},
};

/// What is said of lenses that have no site at all in a JVM.
const NO_SITES: &str = "libjvm.so has neither USDT nor symbols";
/// What `doctor` says of such a JVM.
pub const FEW_SITES: &str =
    "libjvm.so has neither USDT nor symbols: only cpu, offcpu, wall, exceptions, markers, typestate, and sleeps";
/// And what helps.
pub const OTHER_JDK: &str = "use a JDK with USDT (Temurin, Debian, Fedora, RHEL); `-l cpu,offcpu` need none";

/// Reads the sites and functions of a libjvm.so.
pub(super) fn read_libjvm(path: &Path) -> Result<Libjvm, Error> {
    Libjvm::open(path).map_err(|error| {
        Error::refused(error, "run `jtrace doctor PID` to see what can be read of this JVM".to_owned())
    })
}

/// Plans the sites of a session, with what is known of its JVM.
pub(super) fn planned(libjvm: &Libjvm, facts: Facts, config: &SessionConfig) -> Plan {
    let mut plan = plan::plan(libjvm, &config.seen_from_outside(), facts, config.exact);
    choose_jni(&mut plan, config);
    plan
}

/// Refuses a JVM of which nothing that is asked for can be seen: an empty report would look like an idle program.
pub(super) fn something_to_see(plan: &Plan) -> Result<(), Error> {
    if plan.usdt || plan.symtab || !plan.sites.is_empty() || !plan.clocks.is_empty() {
        return Ok(());
    }
    Err(Error::refused(NO_SITES, OTHER_JDK.to_owned()))
}

/// Leaves JNI functions out that are not wanted, and stacks of their calls where these are counted in the kernel.
fn choose_jni(plan: &mut Plan, config: &SessionConfig) {
    plan::jni::choose(plan, &config.predicate);
    if !jni_one_by_one(config) {
        for site in plan.sites.iter_mut().filter(|site| site.kind == EventKind::JniReturn) {
            site.spec.stack = 0;
        }
    }
}

/// Whether JNI calls come as events: those that last are few, and where they come from is what is asked.
fn jni_one_by_one(config: &SessionConfig) -> bool {
    config.one_by_one || config.predicate.asks_for(&[Field::Duration])
}

/// What names and judges JNI calls, where they are wanted.
pub(super) fn jni_calls(plan: &Plan, config: &SessionConfig, pid: u32) -> Option<JniCalls> {
    let functions = plan::jni::functions(plan);
    (!functions.is_empty()).then(|| JniCalls::new(&config.predicate, pid, functions, jni_one_by_one(config)))
}

/// Adds the sites at which new threads tell their names, for a lens that judges by them, where these are missing.
pub(super) fn add_thread_starts(plan: &mut Plan, libjvm: &Libjvm, lens: Lens) {
    let starts = |site: &PlannedSite| site.kind == EventKind::ThreadStart;
    if plan.sites.iter().any(starts) {
        return;
    }
    let of_threads = plan::plan(libjvm, &[Lens::Threads], Facts::default(), false).sites;
    let wanted = of_threads.into_iter().filter(starts);
    plan.sites.extend(wanted.map(|site| PlannedSite { lens, spec: SiteSpec { stack: 0, ..site.spec }, ..site }));
}
