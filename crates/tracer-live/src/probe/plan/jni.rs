//! Sites of JNI functions: every note of `hotspot_jni`, with the function's number in its specification.

use std::collections::BTreeSet;

use tracer_common::{
    jni::{FIELD_ENV, FIELD_FAMILY, FIELD_FUNCTION, FIELD_RESULT, FIELD_ROLE, Role},
    record::EventKind,
    site::{Field, MAX_FIELDS, Operand, SiteSpec},
};

use super::{Libjvm, Plan, PlannedSite};
use crate::{
    jni::Function,
    jvm::usdt::Site,
    lens::Lens,
    predicate::{Known, Outlook, Predicate, Subject},
    probe::catalog::{Rest, has_stack},
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
                rest: Rest::Nothing,
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
/// whose return has no site, and a critical section of which both ends are there. Sites of one function come next to each other: the
/// kernel takes a group away site by site, and whatever it takes last has no partner meanwhile.
pub fn choose(plan: &mut Plan, predicate: &Predicate) {
    plan.sites.retain(|site| {
        function_of(site).is_none_or(|function| {
            let subject = Subject::function(function.name());
            predicate.outlook(Known::Subject(&subject)) != Outlook::Never
        })
    });
    let is_jni = |site: &PlannedSite| function_of(site).is_some();
    if let (Some(first), Some(last)) = (plan.sites.iter().position(is_jni), plan.sites.iter().rposition(is_jni)) {
        // They are one stretch, as their probes are in the catalogue.
        plan.sites[first..=last].sort_by_key(|site| (function_of(site), site.kind, site.address));
    }
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
pub fn functions(plan: &Plan) -> BTreeSet<Function> {
    plan.sites.iter().filter_map(function_of).collect()
}

#[cfg(test)]
mod tests {
    use super::{
        super::tests::{libjvm, site},
        *,
    };
    use crate::predicate::Kind;

    const ENTRY: &str = "8@%r13 8@%r12 8@%r14";

    fn planned(notes: &[(&str, &str)], predicate: &str) -> Plan {
        let sites = (0..)
            .zip(notes)
            .map(|(n, (name, arguments))| site(&format!("hotspot_jni:{name}"), 0x4000 + 16 * n, arguments));
        let libjvm = libjvm(sites.collect(), &[]);
        let mut plan = super::super::plan(&libjvm, &[Lens::Jni], super::super::Facts::default(), false);
        let predicate = match predicate {
            "" => Predicate { kind: Kind::Jni, expr: None },
            text => Predicate::parse(text, Kind::Jni).unwrap(),
        };
        choose(&mut plan, &predicate);
        plan
    }

    fn roles(plan: &Plan) -> Vec<(&str, i64)> {
        let role = |site: &PlannedSite| site.spec.fields[FIELD_ROLE].a.displacement;
        plan.sites.iter().map(|site| (site.probe.trim_start_matches("hotspot_jni:"), role(site))).collect()
    }

    const CRITICAL: [(&str, &str); 4] = [
        ("GetStringCritical__entry", ENTRY),
        ("GetStringCritical__return", "8@%rax"),
        ("ReleaseStringCritical__entry", ENTRY),
        ("ReleaseStringCritical__return", ""),
    ];

    #[test]
    fn a_critical_section_needs_both_its_ends() {
        let both = planned(&CRITICAL, "");
        assert_eq!(
            roles(&both),
            [
                ("GetStringCritical__entry", Role::None as i64),
                ("GetStringCritical__return", Role::Opens as i64),
                ("ReleaseStringCritical__entry", Role::Closes as i64),
                ("ReleaseStringCritical__return", Role::None as i64)
            ]
        );
        assert_eq!(both.sites[1].spec.fields[FIELD_RESULT].a, parse("8@%rax"));
        let one = planned(&CRITICAL, "method ~ 'Get*'");
        assert_eq!(roles(&one), [("GetStringCritical__entry", 0), ("GetStringCritical__return", 0)]);
    }

    fn parse(text: &str) -> Operand {
        crate::jvm::usdt::arg::parse(text).unwrap()
    }

    #[test]
    fn functions_have_their_number_family_and_environment() {
        let plan = planned(&[("GetArrayLength__entry", "8@%r13 8@%rbx"), ("GetArrayLength__return", "-4@%ebx")], "");
        let number = Function::named("GetArrayLength").unwrap();
        assert_eq!(functions(&plan), BTreeSet::from([number]));
        let fields = plan.sites[0].spec.fields;
        assert_eq!(fields[FIELD_FUNCTION].a.displacement, i64::from(number.0));
        assert_eq!(fields[FIELD_ENV].a, parse("8@%r13"));
        assert!(plan.sites.iter().all(|site| site.group == "jni-arrays" && site.lens == Lens::Jni));
        assert_eq!(plan.sites[1].spec.fields[FIELD_ENV], Field::ZERO, "a return has no environment");
    }

    #[test]
    fn what_never_returns_is_told_at_its_entry_and_what_is_not_known_is_said() {
        let plan = planned(&[("FatalError__entry", "8@%rbx 8@%r13"), ("GetFuture__entry", "8@%rbx")], "");
        assert_eq!(roles(&plan), [("FatalError__entry", Role::NeverReturns as i64)]);
        let unknown = "jni: functions that this version of jtrace does not know: GetFuture";
        assert!(plan.missing.iter().any(|sentence| sentence == unknown), "{:?}", plan.missing);
    }

    #[test]
    fn functions_of_the_jvm_itself_have_no_environment() {
        let plan = planned(&[("GetEnv__entry", "8@%rdi 8@%rsi -4@%edx"), ("GetEnv__return", "-4@%eax")], "");
        assert_eq!(plan.sites[0].spec.fields[FIELD_ENV], Field::ZERO);
    }
}
