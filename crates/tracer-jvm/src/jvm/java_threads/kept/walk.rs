//! From an object over the program's own objects to collections.

use std::{borrow::Cow, collections::HashSet};

use super::super::{
    entries::{Kind, Kinds},
    named_fields::NamedFields,
    own_queue::LAMBDA,
    reader::Reader,
};
use crate::jvm::peek::Peek;

/// Most objects under one field, or one thread.
const MAX_OBJECTS: usize = 64;
/// The same under one variable.
const MAX_OBJECTS_OF_VARIABLES: usize = 256;
/// Most elements of an array in a field: what is kept in parts has few.
const MAX_SHARDS: u32 = 16;
/// Most elements of an array at the end of a way.
const MAX_ELEMENTS: u32 = 64;
/// Before the name of a method whose variable has an object: no field has such a name.
const VARIABLE: &str = "variable ";
/// How many objects of the program may lie between a field and a collection.
const MAX_DEPTH: usize = 2;
/// The same between a variable and a collection: what `main` has made and waits for is what all else hangs from.
const MAX_DEPTH_OF_VARIABLES: usize = 5;

/// Takes a collection: the field that has it, its class, and how many entries it has.
pub(super) type Take<'a> = dyn FnMut(&str, &str, u64) + 'a;

pub(super) struct Walk<'a, 'b, P> {
    fields: &'a NamedFields,
    reader: &'a Reader<'b, P>,
    kinds: &'a mut Kinds,
    /// How many objects may still be looked at.
    left: &'a mut usize,
    /// How far it goes.
    reach: Reach,
}

/// How many objects of the program may lie between the beginning and a collection, and how many are looked through.
#[derive(Clone, Copy)]
struct Reach {
    depth: usize,
    objects: usize,
}

impl<'a, 'b, P: Peek> Walk<'a, 'b, P> {
    pub(super) const fn new(
        fields: &'a NamedFields,
        reader: &'a Reader<'b, P>,
        kinds: &'a mut Kinds,
        left: &'a mut usize,
    ) -> Self {
        Self { fields, reader, kinds, left, reach: Reach { depth: MAX_DEPTH, objects: MAX_OBJECTS } }
    }

    /// What an object is that is in a field, and what leads on from it.
    pub(super) fn under(&mut self, object: u64, field: &str, take: &mut Take<'_>) {
        for (object, field) in self.parts(object, field) {
            if self.leads_on(object, Some(&*field), take) {
                self.fields_of(object, take);
            }
        }
    }

    /// What an object is that may be in a variable of this method, and what leads on from it.
    pub(super) fn variable(&mut self, object: u64, method: &str, take: &mut Take<'_>) {
        self.reach = Reach { depth: MAX_DEPTH_OF_VARIABLES, objects: MAX_OBJECTS_OF_VARIABLES };
        self.under(object, &format!("{VARIABLE}{method}"), take);
    }

    /// What is in the fields of an object, and what leads on from these.
    pub(super) fn fields_of(&mut self, object: u64, take: &mut Take<'_>) {
        let mut seen = HashSet::from([object]);
        let mut objects = vec![(object, 0)];
        let mut at = 0;
        while let Some((holder, depth)) = objects.get(at).copied() {
            at += 1;
            let Some(klass) = self.reader.klass(holder) else { continue };
            if let Some(Kind::Leads(ways)) = self.kinds.of(self.reader, klass) {
                for object in ways.iter().flat_map(|way| self.along(holder, way)).collect::<Vec<_>>() {
                    let is_new = objects.len() < self.reach.objects && seen.insert(object);
                    if is_new && self.leads_on(object, None, take) {
                        objects.push((object, depth));
                    }
                }
            }
            for (field, offset) in self.fields.references(self.reader, klass).iter() {
                let Some(object) = self.reader.reference(holder.wrapping_add(*offset)) else { continue };
                for (object, field) in self.parts(object, field) {
                    let is_new = objects.len() < self.reach.objects && seen.insert(object);
                    if is_new && self.leads_on(object, Some(&*field), take) && depth + 1 < self.reach.depth {
                        objects.push((object, depth + 1));
                    }
                }
            }
        }
    }

    /// What a field has: an object, or the first elements of an array.
    fn parts<'f>(&mut self, object: u64, field: &'f str) -> Vec<(u64, Cow<'f, str>)> {
        let reader = self.reader;
        let kind = reader.klass(object).and_then(|klass| self.kinds.of(reader, klass));
        if kind != Some(Kind::Array) {
            return vec![(object, Cow::Borrowed(field))];
        }
        let length = reader.length(object).unwrap_or(0).min(MAX_SHARDS);
        let elements = (0..length).filter_map(|index| reader.element(object, index));
        elements.map(|element| (element, Cow::Owned(format!("{field}[]")))).collect()
    }

    /// What comes at the end of a way from an object.
    fn along(&self, object: u64, way: &'static str) -> Vec<u64> {
        let reader = self.reader;
        let end = way.split('.').try_fold(object, |object, field| self.fields.reference(reader, object, field));
        let class = |object: u64| Some(reader.class(reader.klass(object)?)?.0);
        match end {
            Some(array) if class(array).is_some_and(|class| class.ends_with("[]")) => {
                let length = reader.length(array).unwrap_or(0).min(MAX_ELEMENTS);
                (0..length).filter_map(|index| reader.element(array, index)).collect()
            }
            end => end.into_iter().collect(),
        }
    }

    /// Whether an object may lead on to others. A collection in a field is taken.
    fn leads_on(&mut self, object: u64, field: Option<&str>, take: &mut Take<'_>) -> bool {
        let Some(left) = self.left.checked_sub(1) else { return false };
        *self.left = left;
        let Some(klass) = self.reader.klass(object) else { return false };
        match self.kinds.of(self.reader, klass) {
            Some(Kind::Collection(says, declared)) => {
                let Some(field) = field else { return false };
                let entries = self.kinds.entries(self.fields, self.reader, object, (says, declared));
                if let (Some(entries), Some((class, _))) = (entries, self.reader.class(klass)) {
                    // What a lambda has caught, and a variable, have no name of their own.
                    let field = match (field.split_once(LAMBDA), field.strip_prefix(VARIABLE)) {
                        (_, Some(method)) => format!("{class} in a variable of {method}"),
                        (Some((host, _)), None) => format!("{class} in a lambda of {host}"),
                        (None, None) => field.to_owned(),
                    };
                    take(&field, &class, entries);
                }
                false
            }
            Some(Kind::Program | Kind::Leads(_)) => true,
            Some(Kind::Array | Kind::Other) | None => false,
        }
    }
}
