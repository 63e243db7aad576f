//! Names of fields by their indices, as JVMTI counts them.

use std::collections::HashSet;

use super::Reader;
use crate::heap::graph::Via;

/// Most fields that a class has by all those above it, and of all classes together.
pub(super) const MAX_NUMBERED: usize = 1 << 16;
pub(super) const MAX_ALL_NUMBERED: usize = 16 << 20;

impl Reader {
    /// The field with an index, by JVMTI's rule: fields of all interfaces first, then those of each class from the top down.
    pub(super) fn field(&mut self, class: u32, index: u32) -> Via {
        if !self.fields.contains_key(&class) {
            let mut known = self.numbered(class);
            if self.numbered + known.len() > MAX_ALL_NUMBERED {
                // They are fields without a name.
                known = Vec::new();
            }
            self.numbered += known.len();
            self.fields.insert(class, known);
        }
        let known = self.fields.get(&class).and_then(|fields| fields.get(index as usize));
        known.copied().unwrap_or(Via::Other)
    }

    pub(super) fn numbered(&mut self, class: u32) -> Vec<Via> {
        let mut chain = Vec::new();
        let mut next = self.told_of.get(&class).copied();
        // A chain that closes is no chain.
        while let Some((id, told)) = next.and_then(|id| Some((id, self.classes.get(&id)?)))
            && !chain.contains(&id)
            && chain.len() < 1000
        {
            chain.push(id);
            next = Some(told.above);
        }
        let (mut interfaces, mut known) = (Vec::new(), HashSet::new());
        let mut to_do: Vec<u64> =
            chain.iter().filter_map(|id| self.classes.get(id)).flat_map(|told| told.interfaces.clone()).collect();
        while let Some(id) = to_do.pop() {
            if interfaces.len() < 10_000 && known.insert(id) {
                interfaces.push(id);
                to_do.extend(self.classes.get(&id).into_iter().flat_map(|told| told.interfaces.iter().copied()));
            }
        }
        let of_class = self.classes.get(chain.first().unwrap_or(&0));
        let is_weak = chain.iter().filter_map(|id| self.classes.get(id)).any(|told| told.is_weak);
        let is_interface = of_class.is_some_and(|told| told.is_interface);
        let mut fields = Vec::new();
        for id in &interfaces {
            let names = self.classes.get(id).map_or(&[][..], |told| &told.fields);
            fields.extend(names.iter().take(MAX_NUMBERED - fields.len()).map(|name| Via::Field(*name)));
        }
        let own = if is_interface { chain.get(..1).unwrap_or_default() } else { &chain[..] };
        let reference = chain.len().checked_sub(2);
        for (at, id) in own.iter().enumerate().rev() {
            let names = self.classes.get(id).map_or(&[][..], |told| &told.fields);
            for name in names.iter().take(MAX_NUMBERED - fields.len()) {
                // `java.lang.ref.Reference` is the class below `Object`.
                let is_referent = is_weak && Some(at) == reference && self.builder.is_name(*name, "referent");
                fields.push(if is_referent { Via::Referent(*name) } else { Via::Field(*name) });
            }
        }
        fields
    }
}
