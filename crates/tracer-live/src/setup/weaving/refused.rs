//! What is refused before anything is woven: what matches nothing, half of a program by mistake, what would make it slow for a while.

use std::collections::BTreeMap;

use tracer_weave::{
    Rule,
    control::{Matched, NEEDED},
};

use super::super::Error;
use crate::{
    inside::{compiled::FEW_COMPILATIONS, visit::Visit},
    mark::{Asked, CodeBefore, Meaning},
    marker::check::MANY_METHODS,
    predicate::error::nearest,
};

/// Refuses what matches nothing, or far too much; nothing was woven then.
pub(super) fn check(
    visit: &mut Visit,
    asked: &Asked,
    rules: &[Rule],
    matched: &[Matched],
    methods: u64,
    later: bool,
    yes: bool,
) -> Result<(), Error> {
    // A marker or symbol can have several rules: one that matches is enough.
    let mut methods_of: BTreeMap<u32, u64> = BTreeMap::new();
    for (rule, matched) in rules.iter().zip(matched) {
        *methods_of.entry(rule.marker).or_default() += matched.methods;
    }
    let classes = |marker: u32, of: fn(&Matched) -> &Vec<String>| {
        let all = rules.iter().zip(matched).filter(move |(rule, _)| rule.marker == marker);
        all.flat_map(move |(_, matched)| of(matched)).next()
    };
    for (marker, methods) in &methods_of {
        if *methods > 0 || later {
            continue;
        }
        let Some(rule) = rules.iter().find(|rule| rule.marker == *marker) else { continue };
        if let Some(class) = classes(*marker, |matched| &matched.fixed) {
            return Err(Error::refused(
                format!("the JVM does not let anybody change {class}"),
                "hidden classes and some of the JVM's own cannot be woven; name others".to_owned(),
            ));
        }
        if let Some(class) = classes(*marker, |matched| &matched.needed) {
            return Err(Error::refused(
                format!("{class} cannot be woven: {NEEDED}"),
                "mark the calls of its method in other classes: `CLASSES::*@call:CLASS::METHOD`".to_owned(),
            ));
        }
        match asked.meaning(*marker) {
            Some(Meaning::Marker(index)) => return Err(nothing(visit, asked, index, rule)),
            // A property's symbols need not all be there; that none is there is a mistake.
            Some(Meaning::Symbol { property, .. }) => {
                let of = asked.properties.get(property);
                let any = methods_of.iter().any(|(other, methods)| {
                    *methods > 0
                        && matches!(asked.meaning(*other), Some(Meaning::Symbol { property: of, .. }) if of == property)
                });
                if !any {
                    let name = of.map_or("", |of| of.name.as_str());
                    return Err(Error::refused(
                        format!("no loaded class has a method of the property `{name}`"),
                        "add --later if its classes are still to be loaded".to_owned(),
                    ));
                }
            }
            None => {}
        }
    }
    if yes { Ok(()) } else { not_too_many(methods) }
}

/// A marker that matches nothing, with the nearest names.
fn nothing(visit: &mut Visit, asked: &Asked, index: usize, rule: &Rule) -> Error {
    let pattern = asked.markers.get(index).map_or("", |marker| marker.pattern.as_str());
    let classes = visit.classes().unwrap_or_default();
    let near = nearest_class(rule.class.as_str(), &classes);
    let is_loaded = classes.iter().any(|class| rule.is_for(class));
    let hint = match near {
        _ if is_loaded => "its class is loaded and has no such method; `*` stands for any text".to_owned(),
        Some(near) => format!("did you mean {near}? Add --later if the class is still to be loaded"),
        None => "add --later if its class is still to be loaded".to_owned(),
    };
    Error::refused(format!("the marker `{pattern}` matches no method of a loaded class"), hint)
}

/// The loaded class whose name without its package is nearest to a pattern's.
fn nearest_class<'a>(pattern: &str, classes: &'a [String]) -> Option<&'a str> {
    let simple = |name: &str| name.rsplit('.').next().unwrap_or(name).replace('*', "").to_lowercase();
    let by_name: BTreeMap<String, &str> = classes.iter().map(|class| (simple(class), class.as_str())).collect();
    let near = nearest(&simple(pattern), by_name.keys().map(String::as_str))?;
    by_name.get(near).copied()
}

/// Refuses to weave half of a program by mistake.
pub(super) fn not_too_many(methods: u64) -> Result<(), Error> {
    if methods <= MANY_METHODS {
        return Ok(());
    }
    Err(Error::refused(
        format!("{methods} methods would be woven"),
        format!("narrow the patterns down, or add --yes to weave more than {MANY_METHODS}"),
    ))
}

/// Refuses what would make a large program slow for a while, as long as nobody has said that it may.
pub(super) fn not_slow(code: &CodeBefore) -> Result<(), Error> {
    match code {
        CodeBefore::Unknown { compilations } if !compilations.is_some_and(|count| count <= FEW_COMPILATIONS) => {
            let count = compilations.map_or_else(|| "an unknown number of".to_owned(), |count| count.to_string());
            Err(Error::refused(
                "this JVM throws away all compiled code when classes are first woven, and is slow until it is compiled again".to_owned(),
                format!("it has {count} compilations behind it, which take seconds; add --yes if that may be"),
            ))
        }
        _ => Ok(()),
    }
}

/// Refuses to follow protocols where symbols may be missing: verdicts would be wrong.
pub(super) fn not_without_symbols(code: &CodeBefore) -> Result<(), Error> {
    match code {
        CodeBefore::Kept { untraced, named, .. } if *untraced > 0 => Err(Error::refused(
            format!(
                "compiled code may have taken in methods without a trace ({}), and verdicts without their symbols are wrong",
                named.join(", ")
            ),
            "add --yes: then all compiled code goes first, and the program is slow for seconds until it is compiled again".to_owned(),
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_slow_a_large_program_down_is_asked_for_twice() {
        let unknown = |compilations| not_slow(&CodeBefore::Unknown { compilations });
        assert!(unknown(Some(FEW_COMPILATIONS)).is_ok());
        assert!(unknown(Some(FEW_COMPILATIONS + 1)).is_err() && unknown(None).is_err());
        let kept = |untraced| CodeBefore::Kept { untraced, named: Vec::new(), compilations: Some(9000) };
        assert!(not_slow(&kept(3)).is_ok(), "code that is kept costs nothing");
        assert!(not_without_symbols(&kept(0)).is_ok() && not_without_symbols(&kept(1)).is_err());
    }

    #[test]
    fn more_than_ten_thousand_methods_are_asked_for_twice() {
        assert!(not_too_many(10_000).is_ok());
        assert!(not_too_many(10_001).is_err());
    }

    #[test]
    fn the_nearest_class_is_found_by_its_simple_name() {
        let classes = ["java.util.ArrayList", "com.shop.Cart", "com.shop.Order"].map(str::to_owned);
        assert_eq!(nearest_class("com.shop.Crat", &classes), Some("com.shop.Cart"));
        assert_eq!(nearest_class("*.Arraylist", &classes), Some("java.util.ArrayList"));
        assert_eq!(nearest_class("a.Nothing", &classes), None);
    }
}
