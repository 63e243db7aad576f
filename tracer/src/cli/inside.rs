//! What is woven into a JVM: its options, and what comes before it is.

use std::path::PathBuf;

use tracer_common::marks::switch;
use tracer_weave::{
    Kind, Pattern, Place, Rule, Sides,
    control::{Matched, Order},
};

use super::{Failure, attach::say};
use crate::{
    analysis::Lens,
    inside::{library, visit::Visit},
    jvm::find::Jvm,
    mark::{Asked, Marker},
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

    /// A marker: `name=class::method`, with a place behind `@` (see docs/markers.md)
    #[arg(long, value_name = "MARKER")]
    pub(super) marker: Vec<String>,

    /// A file with markers
    #[arg(long, value_name = "FILE")]
    pub(super) spec: Option<PathBuf>,
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
                "add --inside if it may be loaded: it weaves what you name, and restores it when jtrace ends".to_owned(),
            ));
        }
        let mut wanted = Wanted { asked: Asked::default(), rules: Vec::new(), switches: Vec::new(), yes };
        for text in &self.marker {
            let (name, pattern) = text.split_once('=').unwrap_or((text, text));
            let Some((class, method)) = pattern.split_once("::") else {
                return Err(Failure::usage(format!("`{text}` is no marker"), "write name=class::method".to_owned()));
            };
            let number = u32::try_from(wanted.rules.len()).unwrap_or(u32::MAX);
            wanted.asked.markers.push(Marker {
                name: name.to_owned(),
                token: name.to_owned(),
                sides: Sides::Region,
                pattern: pattern.to_owned(),
                subscribers: Vec::new(),
            });
            wanted.rules.push(Rule {
                marker: number,
                class: Pattern::new(class),
                subclasses: false,
                method: Pattern::new(method),
                descriptor: None,
                place: Place::Method,
                kind: Kind::Marker(Sides::Region),
                receiver: false,
                arguments: false,
            });
            let mode = if each { switch::ON } else { switch::ON | switch::COUNT };
            wanted.switches.push((number, mode));
        }
        Ok(Some(wanted))
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
    let sites = library::sites(lenses).map_err(|reason| Failure::new(format!("the library in jtrace: {reason}"), None))?;
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
