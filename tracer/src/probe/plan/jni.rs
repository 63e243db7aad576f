//! Sites of JNI functions: every note of `hotspot_jni`, with the function's number in its specification.

use std::collections::BTreeSet;

use tracer_common::{
    jni::{FIELD_ENV, FIELD_FAMILY, FIELD_FUNCTION, FIELD_RESULT, FIELD_ROLE, Role},
    record::EventKind,
    site::{Field, MAX_FIELDS, Operand, SiteSpec},
};

use super::{Libjvm, Plan, PlannedSite};
use crate::{
    analysis::Lens,
    jni::Function,
    jvm::usdt::Site,
    predicate::{Known, Outlook, Predicate, Subject},
    probe::catalog::has_stack,
};

/// Who gives the notes.
pub(crate) const PROVIDER: &str = "hotspot_jni";

/// What the name of a note ends in.
const fn suffix(kind: EventKind) -> &'static str {
    match kind {
        EventKind::JniReturn => "__return",
        _ => "__entry",
    }
}

/// The sites of one kind, and what is missing of them.
pub(super) fn sites(kind: EventKind, lens: Lens, libjvm: &Libjvm) -> (Vec<PlannedSite>, Vec<String>) {
    let (mut sites, mut lacks, mut unknown) = (Vec::new(), Vec::new(), BTreeSet::new());
    let mut notes: Vec<(&Site, &str)> = libjvm
        .sites
        .sites
        .iter()
        .filter(|site| site.provider == PROVIDER)
        .filter_map(|site| Some((site, site.name.strip_suffix(suffix(kind))?)))
        .collect();
    notes.sort_by_key(|(site, _)| site.address);
    notes.dedup_by_key(|(site, _)| site.address);
    for (note, name) in notes {
        let Some(function) = Function::named(name) else {
            unknown.insert(name);
            continue;
        };
        match note
            .file_offset
            .map_err(|refusal| refusal.to_string())
            .and_then(|at| Ok((at, spec(kind, function, note)?)))
        {
            Ok((file_offset, spec)) => sites.push(PlannedSite {
                probe: format!("{PROVIDER}:{}", note.name),
                lens,
                kind,
                group: function.family().group(),
                flag: None,
                file_offset,
                address: note.address,
                spec,
            }),
            Err(why) => lacks.push(format!("jni: `{PROVIDER}:{}` is left out: {why}", note.name)),
        }
    }
    if !unknown.is_empty() && kind == EventKind::JniEntry {
        let names: Vec<_> = unknown.into_iter().collect();
        lacks.push(format!("jni: functions that this version of jtrace does not know: {}", names.join(", ")));
    }
    (sites, lacks)
}

fn spec(kind: EventKind, function: Function, note: &Site) -> Result<SiteSpec, String> {
    let constant = |value: u16| Field::word(Operand::constant(i64::from(value)));
    let argument = |what: &str| -> Result<Field, String> {
        let operand = note.operands.first().cloned().ok_or_else(|| format!("it does not give {what}"))?;
        Ok(Field::word(operand.map_err(|error| error.to_string())?))
    };
    let mut fields = [Field::ZERO; MAX_FIELDS];
    fields[FIELD_FUNCTION] = constant(function.0);
    fields[FIELD_FAMILY] = constant(u16::from(function.family() as u8));
    if kind == EventKind::JniEntry && function.has_env() {
        fields[FIELD_ENV] = argument("the thread's environment")?;
    }
    if kind == EventKind::JniReturn && function.closed_by().is_some() {
        fields[FIELD_RESULT] = argument("its result")?;
    }
    let field_count = u16::try_from(kind.words()).map_err(|error| error.to_string())?;
    Ok(SiteSpec { kind: kind as u16, field_count, stack: u32::from(has_stack(kind)), fields })
}

/// The function of a planned site.
fn function_of(site: &PlannedSite) -> Option<Function> {
    if !matches!(site.kind, EventKind::JniEntry | EventKind::JniReturn) {
        return None;
    }
    let number = site.spec.fields[FIELD_FUNCTION].a.displacement;
    u16::try_from(number).ok().map(Function)
}

/// Takes away the sites of functions whose names alone the predicate excludes, and tells the others what they mean: a call
/// whose return has no site, and a critical section of which both ends are there.
pub(crate) fn choose(plan: &mut Plan, predicate: &Predicate) {
    plan.sites.retain(|site| {
        function_of(site).is_none_or(|function| {
            let subject = Subject::function(function.name());
            predicate.outlook(Known::Subject(&subject)) != Outlook::Never
        })
    });
    let of_kind = |kind: EventKind| -> BTreeSet<Function> {
        plan.sites.iter().filter(|site| site.kind == kind).filter_map(function_of).collect()
    };
    let (entries, returns) = (of_kind(EventKind::JniEntry), of_kind(EventKind::JniReturn));
    for site in &mut plan.sites {
        let Some(function) = function_of(site) else { continue };
        let both = |opens: &Function, closes: &Function| returns.contains(opens) && entries.contains(closes);
        let role = match site.kind {
            EventKind::JniReturn if function.closed_by().is_some_and(|closes| both(&function, &closes)) => Role::Opens,
            EventKind::JniEntry if function.opened_by().is_some_and(|opens| both(&opens, &function)) => Role::Closes,
            EventKind::JniEntry if !returns.contains(&function) => Role::NeverReturns,
            _ => Role::None,
        };
        site.spec.fields[FIELD_ROLE] = Field::word(Operand::constant(i64::from(role as u8)));
    }
}

/// Functions that are attached.
pub(crate) fn functions(plan: &Plan) -> BTreeSet<Function> {
    plan.sites.iter().filter_map(function_of).collect()
}
