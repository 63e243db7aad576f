//! JNI's functions, by their numbers and names.

use std::collections::BTreeSet;

use super::*;

#[test]
fn every_name_is_there_once() {
    let names: BTreeSet<_> = FUNCTIONS.iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), FUNCTIONS.len());
    for function in Function::all() {
        assert_eq!(Function::named(function.name()), Some(function));
    }
    assert_eq!(Function::named("GetArray"), None);
}

#[test]
fn sections_are_pairs_of_one_family() {
    let opens: Vec<_> = Function::all().filter_map(|opens| Some((opens, opens.closed_by()?))).collect();
    assert_eq!(opens.len(), SECTIONS.len());
    for (opens, closes) in opens {
        assert_eq!(closes.opened_by(), Some(opens));
        assert_eq!((opens.family(), closes.family()), (Family::Critical, Family::Critical));
    }
}

#[test]
fn groups_lead_back_to_their_families_and_every_family_has_functions() {
    for family in Family::ALL {
        assert_eq!(Family::of_group(family.group()), Some(family));
        assert!(Function::all().any(|function| function.family() == family), "{family:?}");
    }
    assert!(WITHOUT_ENV.iter().all(|name| Function::named(name).is_some_and(|function| !function.has_env())));
}
