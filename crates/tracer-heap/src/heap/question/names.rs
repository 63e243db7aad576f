//! Names of classes as they are asked for, and the loaders of classes.

use std::collections::HashMap;

use crate::{
    heap::{
        build::UNKNOWN_CLASS,
        graph::{Class, Graph, Via},
        truth::Truth,
    },
    text::class_name,
};

/// The name of the loader that is no object.
const BOOTSTRAP: &str = "bootstrap";
/// A class without a name, in dumps.
const NAMELESS: &str = "?";

/// What a question about a class's name says; nobody knows of a class without one.
pub(super) fn class_answer(class: &Class, holds: impl Fn(&str) -> bool) -> Truth {
    if is_unknown(class) { Truth::Unknown } else { holds(&compared(&class.name)).into() }
}

/// Whether nobody knows which class this is.
pub(in crate::heap) fn is_unknown(class: &Class) -> bool {
    [UNKNOWN_CLASS, NAMELESS, ""].contains(&class.name.as_str())
}

/// The name of a class as it is compared: that of a hidden class without its number.
pub(in crate::heap) fn compared(name: &str) -> String {
    let element = name.trim_end_matches("[]");
    format!("{}{}", class_name::without_address(element), &name[element.len()..])
}

/// The class of each class's loader. Arrays have the loader of their elements.
pub(super) fn loaders(graph: &Graph, saw_all: bool) -> Vec<Option<String>> {
    let of_object = |class: &Class| {
        let object = Some(class.object).filter(|object| (*object as usize) < graph.len())?;
        let loader = graph.references(object).find(|(_, label)| label.via() == Via::Loader);
        match loader {
            Some((loader, _)) => {
                Some(graph.class_of(loader)).filter(|class| !is_unknown(class)).map(|class| compared(&class.name))
            }
            None => saw_all.then(|| BOOTSTRAP.to_owned()),
        }
    };
    let own: Vec<Option<String>> = graph.classes.iter().map(of_object).collect();
    // Several classes can have one name, and then it does not say which one an array is of.
    let mut by_name: HashMap<&str, Option<&String>> = HashMap::new();
    for (class, loader) in graph.classes.iter().zip(&own) {
        let known = by_name.entry(&class.name).or_insert(loader.as_ref());
        if *known != loader.as_ref() {
            *known = None;
        }
    }
    let of_class = |(class, own): (&Class, &Option<String>)| {
        let element = class.name.trim_end_matches("[]");
        if element.len() == class.name.len() {
            return own.clone();
        }
        if class_name::PRIMITIVES.iter().any(|(name, _)| *name == element) {
            return Some(BOOTSTRAP.to_owned());
        }
        by_name.get(element).copied().flatten().cloned()
    };
    graph.classes.iter().zip(&own).map(of_class).collect()
}
