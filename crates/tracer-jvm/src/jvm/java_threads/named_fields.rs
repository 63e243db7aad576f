//! Fields of objects and classes by their names, and what they hold. Where they lie is looked up once for all objects of a look at the
//! JVM.

use std::{cell::RefCell, collections::HashMap, sync::Arc};

use super::{own_queue::label, reader::Reader};
use crate::{
    jvm::{
        code_cache::Error,
        metadata::{Field, FieldsLayout},
        peek::Peek,
        vmstructs::VmStructs,
    },
    text::class_name::is_of_jdk,
};

/// Most classes that an object's class is looked through for a field.
pub(super) const MAX_DEPTH: usize = 16;

/// Most references of an object that are looked at.
const MAX_REFERENCES: usize = 32;
/// Most of a class: it has a static field for each of the constants that it names.
const MAX_STATICS: usize = 256;

/// References in objects of a class: names with that of the class that declares them, and where they lie.
pub(super) type References = Arc<[(String, u64)]>;

/// A field of objects of a class, by its name.
#[cfg(test)]
pub(super) fn of_objects(
    klass: u64,
    name: &'static str,
    is_reference: bool,
    offset: u64,
) -> (u64, &'static str, Field) {
    (klass, name, Field { name: name.to_owned(), is_reference, is_static: false, offset })
}

/// Reads fields.
#[derive(Debug)]
pub(super) struct NamedFields {
    layout: FieldsLayout,
    /// By class and name.
    known: RefCell<HashMap<(u64, &'static str), Option<Field>>>,
    /// By class.
    references: RefCell<HashMap<u64, References>>,
}

impl NamedFields {
    pub(super) fn new(tables: &VmStructs) -> Result<Self, Error> {
        Ok(Self {
            layout: FieldsLayout::from_tables(tables)?,
            known: RefCell::default(),
            references: RefCell::default(),
        })
    }

    /// With these, by class and name.
    #[cfg(test)]
    pub(super) fn with(known: Vec<(u64, &'static str, Field)>) -> Self {
        let known = known.into_iter().map(|(klass, name, field)| ((klass, name), Some(field))).collect();
        Self { known: RefCell::new(known), references: RefCell::default(), layout: FieldsLayout::ZERO }
    }

    /// And these references of classes.
    #[cfg(test)]
    pub(super) fn with_references(self, known: &[(u64, &str, u64)]) -> Self {
        for (klass, name, offset) in known {
            let mut references = self.references.borrow_mut();
            let before = references.get(klass).map(|known| known.to_vec()).unwrap_or_default();
            let all = before.into_iter().chain([((*name).to_owned(), *offset)]).collect();
            references.insert(*klass, all);
        }
        self
    }

    pub(super) fn forget(&self) {
        self.known.borrow_mut().clear();
        self.references.borrow_mut().clear();
    }

    /// The references in objects of a class that classes of the program declare.
    pub(super) fn references<P: Peek>(&self, reader: &Reader<'_, P>, klass: u64) -> References {
        if let Some(known) = self.references.borrow().get(&klass) {
            return Arc::clone(known);
        }
        let class = |klass: u64| Some((klass, reader.class(klass)?)).filter(|(_, (name, _))| !is_of_jdk(name));
        let classes = std::iter::successors(class(klass), |(_, (_, parent))| class(*parent)).take(MAX_DEPTH);
        let of_class = |(klass, (name, _)): (u64, (String, u64))| {
            let fields = self.layout.of(reader.memory, reader.metadata, klass).into_iter();
            let references = fields.filter(|field| field.is_reference && !field.is_static);
            references.map(move |field| (label(&name, &field.name), field.offset))
        };
        let found: References = classes.flat_map(of_class).take(MAX_REFERENCES).collect();
        self.references.borrow_mut().insert(klass, Arc::clone(&found));
        found
    }

    /// The references that a class itself has, in static fields that it declares.
    pub(super) fn statics<P: Peek>(&self, reader: &Reader<'_, P>, klass: u64) -> Vec<(String, u64)> {
        let Some((class, _)) = reader.class(klass) else { return Vec::new() };
        let fields = self.layout.of(reader.memory, reader.metadata, klass).into_iter();
        let statics = fields.filter(|field| field.is_reference && field.is_static);
        statics.map(|field| (label(&class, &field.name), field.offset)).take(MAX_STATICS).collect()
    }

    /// The object that a field of an object leads to.
    pub(super) fn reference<P: Peek>(&self, reader: &Reader<'_, P>, object: u64, name: &'static str) -> Option<u64> {
        let field = self.of_object(reader, object, name).filter(|field| field.is_reference)?;
        reader.reference(object.wrapping_add(field.offset))
    }

    /// A field of objects that holds 32 bits.
    pub(super) fn int<P: Peek>(&self, reader: &Reader<'_, P>, object: u64, name: &'static str) -> Option<u32> {
        let field = self.of_object(reader, object, name).filter(|field| !field.is_reference)?;
        reader.memory.u32(object.wrapping_add(field.offset)).ok()
    }

    /// A field of objects that holds 64 bits, which is no negative number.
    pub(super) fn long<P: Peek>(&self, reader: &Reader<'_, P>, object: u64, name: &'static str) -> Option<u64> {
        let field = self.of_object(reader, object, name).filter(|field| !field.is_reference)?;
        let value = reader.memory.u64(object.wrapping_add(field.offset)).ok()?;
        (value <= i64::MAX.cast_unsigned()).then_some(value)
    }

    /// A field of an object: of its class, or of one that this extends.
    pub(super) fn of_object<P: Peek>(&self, reader: &Reader<'_, P>, object: u64, name: &'static str) -> Option<Field> {
        self.of_class(reader, reader.klass(object)?, name).filter(|field| !field.is_static)
    }

    /// A field that a class or one that it extends declares.
    pub(super) fn of_class<P: Peek>(&self, reader: &Reader<'_, P>, klass: u64, name: &'static str) -> Option<Field> {
        if let Some(known) = self.known.borrow().get(&(klass, name)) {
            return known.clone();
        }
        let parent = |klass: &u64| Some(reader.class(*klass)?.1).filter(|parent| *parent != 0);
        let classes = std::iter::successors(Some(klass), parent).take(MAX_DEPTH);
        let mut all = classes.flat_map(|klass| self.layout.of(reader.memory, reader.metadata, klass));
        let found = all.find(|field| field.name == name);
        self.known.borrow_mut().insert((klass, name), found.clone());
        found
    }
}
