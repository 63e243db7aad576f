//! What numbers in marks stand for: places, classes and objects. All of it comes from the target, and has limits.

use std::collections::HashMap;

use tracer_common::marks::MAX_PLACES;
use tracer_weave::PlaceDefinition;

use crate::mark::{Asked, Marker, Meaning};

/// Objects whose class is remembered; those with higher numbers have none.
const MAX_OBJECTS: usize = 1 << 24;
/// Classes that are told apart.
const MAX_CLASSES: usize = 1 << 16;

/// A place of a marker that has been woven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Index of its marker.
    pub marker: usize,
    /// Where it is.
    pub definition: PlaceDefinition,
}

/// Everything that has been defined so far.
#[derive(Clone, Debug, Default)]
pub struct Known {
    asked: Asked,
    /// Index into `places` and 1, by the number of a place.
    by_number: Vec<u32>,
    places: Vec<Place>,
    /// Index of a class by its number.
    class_of_number: HashMap<u32, u32>,
    /// Names of the classes; the first one stands for what is not known.
    classes: Vec<Option<String>>,
    /// Index of the class by the number of an object.
    objects: Vec<u32>,
    /// Bytes of an object by its class; nothing where classes of a name differ.
    sizes: HashMap<String, Option<u64>>,
}

impl Known {
    /// What the session asked for.
    pub const fn asked(&self) -> &Asked {
        &self.asked
    }

    /// The markers.
    pub fn markers(&self) -> &[Marker] {
        &self.asked.markers
    }

    /// The index of the marker with this name.
    pub fn marker(&self, name: &str) -> Option<usize> {
        self.asked.markers.iter().position(|marker| marker.name == name)
    }

    /// The place with this number.
    pub fn place(&self, number: u32) -> Option<&Place> {
        let index = self.by_number.get(usize::try_from(number).ok()?)?.checked_sub(1)?;
        self.places.get(usize::try_from(index).ok()?)
    }

    /// All places of markers, in the order in which they were woven.
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// How many classes there are, with the one that stands for what is not known.
    pub fn class_count(&self) -> usize {
        self.classes.len().max(1)
    }

    /// The name of the class with this index; nothing where it is not known.
    pub fn class_name(&self, index: usize) -> Option<&str> {
        self.classes.get(index)?.as_deref()
    }

    /// The index of an object's class; 0 where it is not known.
    #[inline]
    pub fn class_of(&self, object: u32) -> usize {
        self.objects.get(object as usize).map_or(0, |index| *index as usize)
    }

    /// The name of the class with this number.
    pub fn class_numbered(&self, number: u32) -> Option<&str> {
        let index = self.class_of_number.get(&number)?;
        self.class_name(usize::try_from(*index).ok()?)
    }

    /// Bytes of an object of a class, where they are known.
    pub fn size_of(&self, class: &str) -> Option<u64> {
        self.sizes.get(class).copied().flatten()
    }

    /// What is said later holds, but classes of a name that once differed do.
    pub(super) fn define_size(&mut self, class: &str, bytes: Option<u64>) {
        let known = self.sizes.entry(class.to_owned()).or_insert(bytes);
        *known = known.filter(|known| Some(*known) == bytes);
    }

    pub(super) fn ask(&mut self, asked: Asked) {
        *self = Self { asked, ..Self::default() };
    }

    /// Takes a place; the index of its marker, or nothing where it belongs to none. The first definition of a number stays.
    pub(super) fn define(&mut self, definition: &PlaceDefinition) -> Option<usize> {
        let marker = match self.asked.meaning(definition.marker)? {
            Meaning::Marker(marker) => marker,
            Meaning::Symbol { .. } => return None,
        };
        if definition.id >= MAX_PLACES || self.place(definition.id).is_some() {
            return None;
        }
        let number = usize::try_from(definition.id).ok()?;
        if self.by_number.len() <= number {
            self.by_number.resize(number + 1, 0);
        }
        self.places.push(Place { marker, definition: definition.clone() });
        *self.by_number.get_mut(number)? = u32::try_from(self.places.len()).ok()?;
        Some(marker)
    }

    /// The index of a class by its number.
    fn class_index(&mut self, number: u32) -> u32 {
        if self.classes.is_empty() {
            self.classes.push(None);
        }
        if let Some(index) = self.class_of_number.get(&number) {
            return *index;
        }
        if self.classes.len() >= MAX_CLASSES {
            return 0;
        }
        let index = u32::try_from(self.classes.len()).unwrap_or(0);
        self.classes.push(None);
        self.class_of_number.insert(number, index);
        index
    }

    pub(super) fn define_class(&mut self, number: u32, name: &str) {
        let index = self.class_index(number);
        if index > 0
            && let Some(known) = self.classes.get_mut(index as usize)
        {
            *known = Some(name.to_owned());
        }
    }

    pub(super) fn born(&mut self, object: u32, class: u32) {
        let index = self.class_index(class);
        let object = object as usize;
        if object >= MAX_OBJECTS {
            return;
        }
        if self.objects.len() <= object {
            // Numbers are given one after another, so this is rare.
            self.objects.resize((object + 1).next_power_of_two().min(MAX_OBJECTS), 0);
        }
        if let Some(known) = self.objects.get_mut(object) {
            *known = index;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_has_its_class_also_where_the_name_comes_later() {
        let mut known = Known::default();
        known.born(5, 4);
        known.born(u32::MAX, 4);
        let class = known.class_of(5);
        assert_eq!((class > 0, known.class_name(class)), (true, None));
        known.define_class(4, "com.shop.Cart");
        assert_eq!(known.class_name(class), Some("com.shop.Cart"));
        assert_eq!((known.class_of(6), known.class_of(u32::MAX), known.class_name(0)), (0, 0, None));
    }
}
