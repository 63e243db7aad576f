//! What markers would match in class files: weaves them in memory, with the weaver that the library in the JVM has.

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;
use tracer_common::marks::{FIRST_PLACE, MAX_PLACES};
use tracer_weave::{PlaceDefinition, Rule, Skipped, weave::weave};

use super::{
    Spec,
    class_path::{Class, ClassPath},
};

/// Most methods that are woven without being asked twice.
pub const MANY_METHODS: u64 = 10_000;
/// Most places of a marker that are kept, and most methods that are left out.
const MAX_SHOWN: usize = 10_000;
/// Names that are shown where nothing matches.
const NEAREST: usize = 5;
/// Most class files of classes above a class.
const MAX_ABOVE: usize = 1000;

/// What all markers would match.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Check {
    /// Each marker.
    pub markers: Vec<MarkerCheck>,
    /// Methods with at least one place.
    pub methods: u64,
    /// Classes with at least one.
    pub classes: u64,
}

/// What a marker would match.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MarkerCheck {
    /// Its name.
    pub name: String,
    /// Its token.
    pub token: String,
    /// What it is for.
    pub pattern: String,
    /// Classes that have such methods.
    pub classes: u64,
    /// Methods that its patterns mean.
    pub methods: u64,
    /// Places, the first of them.
    pub places: Vec<PlaceDefinition>,
    /// How many there are.
    pub place_count: u64,
    /// What would be left as it is, the first of it.
    pub skipped: Vec<Skipped>,
    /// How much there is of it.
    pub skipped_count: u64,
    /// Where nothing matches: what resembles the names.
    pub nearest: Vec<String>,
}

impl Check {
    /// Looks at all classes.
    pub fn of(spec: &Spec, classes: &ClassPath) -> Self {
        let rules = spec.rules();
        let above = Above::of(classes);
        let mut check = Self {
            markers: spec
                .wishes
                .iter()
                .map(|wish| MarkerCheck {
                    name: wish.marker.name.clone(),
                    token: wish.marker.token.clone(),
                    pattern: wish.marker.pattern.clone(),
                    ..MarkerCheck::default()
                })
                .collect(),
            ..Self::default()
        };
        let mut next = FIRST_PLACE;
        for class in &classes.classes {
            check.look(class, &rules, &above, &mut next);
        }
        for (number, marker) in (0..).zip(&mut check.markers) {
            if marker.methods == 0
                && let Some(rule) = rules.iter().find(|rule| rule.marker == number)
            {
                marker.nearest = nearest(rule, classes, &above);
            }
        }
        check
    }

    /// Whether each marker matches something, and together not too much.
    pub fn is_sound(&self) -> bool {
        self.methods <= MANY_METHODS && self.markers.iter().all(|marker| marker.place_count > 0)
    }

    fn look(&mut self, class: &Class, rules: &[Rule], above: &Above<'_>, next: &mut u32) {
        let name = class.outline.name.as_str();
        let meant: Vec<&Rule> = rules.iter().filter(|rule| above.is_meant(rule, name)).collect();
        for rule in &meant {
            let methods = class
                .outline
                .methods
                .iter()
                .filter(|method| rule.is_for_method(name, &method.name, &method.descriptor));
            let methods = methods.count() as u64;
            if let Some(marker) = self.marker(rule.marker) {
                marker.methods += methods;
                marker.classes += u64::from(methods > 0);
            }
        }
        if meant.is_empty() {
            return;
        }
        let mut number = || {
            let given = *next;
            (given < MAX_PLACES).then(|| {
                *next += 1;
                given
            })
        };
        match weave(&class.bytes, &meant, &mut number) {
            Ok(woven) => self.take(&meant, &woven.places, &woven.skipped),
            Err(error) => {
                let skipped = Skipped { class: name.to_owned(), method: None, reason: error.to_string() };
                self.take(&meant, &[], &[skipped]);
            }
        }
    }

    fn take(&mut self, meant: &[&Rule], places: &[PlaceDefinition], skipped: &[Skipped]) {
        let methods: BTreeSet<_> = places.iter().map(|place| (&place.method, &place.descriptor)).collect();
        self.methods += methods.len() as u64;
        self.classes += u64::from(!places.is_empty());
        for place in places {
            let Some(marker) = self.marker(place.marker) else { continue };
            marker.place_count += 1;
            if marker.places.len() < MAX_SHOWN {
                marker.places.push(place.clone());
            }
        }
        for skipped in skipped {
            for rule in meant {
                let is_meant =
                    |(name, descriptor): &(String, String)| rule.is_for_method(&skipped.class, name, descriptor);
                let concerns = skipped.method.as_ref().is_none_or(is_meant);
                let Some(marker) = self.marker(rule.marker).filter(|_| concerns) else { continue };
                marker.skipped_count += 1;
                if marker.skipped.len() < MAX_SHOWN {
                    marker.skipped.push(skipped.clone());
                }
            }
        }
    }

    fn marker(&mut self, number: u32) -> Option<&mut MarkerCheck> {
        self.markers.get_mut(usize::try_from(number).ok()?)
    }
}

/// What each class names as its superclass and interfaces.
struct Above<'a>(HashMap<&'a str, &'a Class>);

impl<'a> Above<'a> {
    fn of(classes: &'a ClassPath) -> Self {
        Self(classes.classes.iter().map(|class| (class.outline.name.as_str(), class)).collect())
    }

    /// Whether a rule is for a class, by its name or by that of a class or interface above it. What is not on the path ends the way:
    /// the JVM knows more.
    fn is_meant(&self, rule: &Rule, name: &str) -> bool {
        if rule.is_for(name) {
            return true;
        }
        if !rule.subclasses {
            return false;
        }
        let mut open = vec![name];
        let mut seen = BTreeSet::new();
        while let Some(name) = open.pop() {
            if rule.is_for(name) {
                return true;
            }
            if let Some(class) = self.0.get(name)
                && seen.len() < MAX_ABOVE
                && seen.insert(name)
            {
                let outline = &class.outline;
                open.extend(outline.superclass.iter().chain(&outline.interfaces).map(String::as_str));
            }
        }
        false
    }
}

/// Names that resemble those of a rule: of methods where its classes are there, and else of classes.
fn nearest(rule: &Rule, classes: &ClassPath, above: &Above<'_>) -> Vec<String> {
    let meant: Vec<&Class> = classes.classes.iter().filter(|class| above.is_meant(rule, &class.outline.name)).collect();
    let mut found: Vec<(usize, String)> = Vec::new();
    for class in &meant {
        for method in &class.outline.methods {
            let name = format!("{}::{}", class.outline.name, method.name);
            if rule.method.matches(&method.name) {
                // Only the parameters are others.
                found.push((0, format!("{name}{}", method.descriptor)));
            } else {
                found.extend(resemblance(rule.method.as_str(), &method.name).map(|distance| (distance, name)));
            }
        }
    }
    if meant.is_empty() {
        // Half of the mistakes are in the package, half in the name behind it.
        let simple = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
        for class in &classes.classes {
            let (wanted, name) = (simple(rule.class.as_str()), class.outline.name.as_str());
            let distance = distance(&wanted, &simple(name)).min(distance(rule.class.as_str(), name));
            if distance <= wanted.chars().count() / 2 {
                found.push((distance, name.to_owned()));
            }
        }
    }
    found.sort();
    found.dedup();
    found.into_iter().take(NEAREST).map(|(_, name)| name).collect()
}

/// How much of a pattern's letters must be changed to make it a name, if that is not most of them.
fn resemblance(pattern: &str, name: &str) -> Option<usize> {
    let letters = pattern.replace('*', "");
    let distance = distance(&letters, name);
    (distance <= letters.chars().count() / 2).then_some(distance)
}

/// How many letters must be put in, left out or replaced to make one word the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().take(100).collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, letter) in one.chars().take(100).enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (j, candidate) in other.iter().enumerate() {
            let Some(above) = row.get(j + 1).copied() else { break };
            let best = (diagonal + usize::from(letter != *candidate)).min(above + 1).min(left + 1);
            if let Some(cell) = row.get_mut(j) {
                *cell = left;
            }
            (diagonal, left) = (above, best);
        }
        if let Some(cell) = row.last_mut() {
            *cell = left;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests;
