//! What is woven into a JVM: its options, and what comes before it is.

use tracer_common::marks::switch;
use tracer_weave::{
    Rule,
    control::{Matched, Order},
};

use super::{Failure, attach::say, markers::MarkerOptions};
use crate::{
    analysis::Lens,
    inside::{library, visit::Visit},
    jvm::find::Jvm,
    mark::Asked,
    probe::plan::Plan,
    source::live::inside::InsideLane,
};

/// Most methods that are woven without being asked twice.
const MANY_METHODS: u64 = 10_000;

/// Options of what needs a library in the JVM.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct InsideOptions {
    /// Load jtrace's library into the JVM, for the lenses markers and typestate; it leaves when jtrace does
    #[arg(long)]
    pub(super) inside: bool,

    #[command(flatten)]
    pub(super) markers: MarkerOptions,
}

/// What is to be woven.
#[derive(Debug)]
pub(super) struct Wanted {
    asked: Asked,
    rules: Vec<Rule>,
    switches: Vec<(u32, u8)>,
    yes: bool,
}

impl InsideOptions {
    /// What is to be woven, where some of the lenses need that.
    pub(super) fn wanted(&self, lenses: &[Lens], each: bool, yes: bool) -> Result<Option<Wanted>, Failure> {
        if !lenses.iter().any(|lens| lens.is_inside()) {
            return Ok(None);
        }
        if !self.inside {
            return Err(Failure::usage(
                "markers and typestate need a library in the JVM",
                "add --inside if it may be loaded: it weaves what you name, and restores it when jtrace ends"
                    .to_owned(),
            ));
        }
        let spec = self.markers.read()?;
        let switches = (0..).zip(&spec.wishes).map(|(number, wish)| {
            let count = if !each && spec.is_countable(wish) { switch::COUNT } else { 0 };
            let time = if wish.marker.time { switch::TIME } else { 0 };
            (number, switch::ON | count | time)
        });
        Ok(Some(Wanted { asked: spec.asked(), rules: spec.rules(), switches: switches.collect(), yes }))
    }
}

/// Loads the library, weaves, and adds its sites to the plan.
pub(super) fn lane(
    wanted: Option<Wanted>,
    jvm: &Jvm,
    plan: &mut Plan,
    lenses: &[Lens],
) -> Result<Option<InsideLane>, Failure> {
    let Some(Wanted { asked, rules, switches, yes }) = wanted else { return Ok(None) };
    let sites =
        library::sites(lenses).map_err(|reason| Failure::new(format!("the library in jtrace: {reason}"), None))?;
    if jvm.target.jdk_release >= 21 {
        say("the JVM will print a warning that an agent was loaded into it: that is jtrace's library");
    }
    let mut visit = Visit::begin(jvm)?;
    let matched = visit.matched(&rules)?;
    check(&asked, &matched, yes)?;
    visit.weave(&Order::Weave { rules, machines: Vec::new(), symbols: Vec::new() })?;
    plan.sites.extend(sites);
    Ok(Some(InsideLane::new(visit, asked, switches)))
}

/// Refuses what matches nothing, or far too much; nothing was woven then.
fn check(asked: &Asked, matched: &[Matched], yes: bool) -> Result<(), Failure> {
    for (marker, matched) in asked.markers.iter().zip(matched) {
        if matched.methods == 0 {
            return Err(Failure::new(
                format!("the marker `{}` matches no method of a loaded class: {}", marker.name, marker.pattern),
                "look at its patterns; `jtrace markers check` shows what they match".to_owned(),
            ));
        }
    }
    let methods: u64 = matched.iter().map(|matched| matched.methods).sum();
    if methods > MANY_METHODS && !yes {
        return Err(Failure::new(
            format!("{methods} methods would be woven"),
            "narrow the patterns down, or add --yes".to_owned(),
        ));
    }
    Ok(())
}
