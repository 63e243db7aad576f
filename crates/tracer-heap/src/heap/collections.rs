//! How the JDK's collections hold their elements.

use std::collections::HashMap;

use super::{
    graph::{NOBODY, Node, Via},
    summary::Analysis,
};

/// By the class of a collection, the number of the field that holds its elements, and how.
pub(in crate::heap) type Collections = HashMap<u32, (u32, Form)>;

/// By what a collection holds its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::heap) enum Form {
    /// An array; none where there never was an element.
    Array,
    /// An array in which each key stands before its value.
    Pairs,
    /// An array of chains of entries.
    Table,
    /// The first of its nodes; none where there are none.
    Nodes,
    /// Another collection.
    Inner,
    /// The keys of another collection.
    Keys,
    /// One or two elements in fields of its own.
    Fields,
    /// The highest level of a skip list, which leads to the first of its nodes.
    Levels,
}

/// Collections, with the field that holds their elements. Those below these classes have it as well; the nearest one decides.
pub(in crate::heap) const COLLECTIONS: [(&str, &str, Form); 17] = [
    ("java.util.ArrayList", "elementData", Form::Array),
    ("java.util.Vector", "elementData", Form::Array),
    ("java.util.ArrayDeque", "elements", Form::Array),
    ("java.util.PriorityQueue", "queue", Form::Array),
    ("java.util.IdentityHashMap", "table", Form::Pairs),
    ("java.util.concurrent.CopyOnWriteArrayList", "array", Form::Array),
    ("java.util.concurrent.PriorityBlockingQueue", "queue", Form::Array),
    ("java.util.HashMap", "table", Form::Table),
    ("java.util.Hashtable", "table", Form::Table),
    ("java.util.WeakHashMap", "table", Form::Table),
    ("java.util.concurrent.ConcurrentHashMap", "table", Form::Table),
    ("java.util.LinkedList", "first", Form::Nodes),
    ("java.util.TreeMap", "root", Form::Nodes),
    ("java.util.HashSet", "map", Form::Keys),
    ("java.util.TreeSet", "m", Form::Keys),
    ("java.util.concurrent.CopyOnWriteArraySet", "al", Form::Inner),
    // It is a `Hashtable` that holds nothing itself.
    ("java.util.Properties", "map", Form::Inner),
];

/// Collections of which it is told what they hold, and nothing else. Nobody can add to some of them, so an empty one is no waste. Others keep a
/// node that holds nothing, so their fields do not say that they are empty.
pub(in crate::heap) const TOLD: [(&str, &str, Form); 17] = [
    ("java.util.ImmutableCollections$List12", "e0", Form::Fields),
    ("java.util.ImmutableCollections$ListN", "elements", Form::Array),
    ("java.util.ImmutableCollections$Set12", "e0", Form::Fields),
    ("java.util.ImmutableCollections$SetN", "elements", Form::Array),
    ("java.util.ImmutableCollections$Map1", "k0", Form::Fields),
    ("java.util.ImmutableCollections$MapN", "table", Form::Pairs),
    ("java.util.Arrays$ArrayList", "a", Form::Array),
    ("java.util.EnumMap", "vals", Form::Array),
    ("java.util.Collections$SetFromMap", "m", Form::Keys),
    ("java.util.concurrent.ArrayBlockingQueue", "items", Form::Array),
    ("java.util.concurrent.LinkedBlockingQueue", "head", Form::Nodes),
    ("java.util.concurrent.LinkedBlockingDeque", "first", Form::Nodes),
    ("java.util.concurrent.ConcurrentLinkedQueue", "head", Form::Nodes),
    ("java.util.concurrent.DelayQueue", "q", Form::Inner),
    ("java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue", "queue", Form::Array),
    ("java.util.concurrent.ConcurrentSkipListMap", "head", Form::Levels),
    ("java.util.concurrent.ConcurrentSkipListSet", "m", Form::Keys),
];

impl Analysis {
    /// Of each class whose objects are collections of these classes, the field that holds their elements.
    pub(in crate::heap) fn collections(&self, known: &[(&str, &str, Form)]) -> Collections {
        let classes = &self.graph.classes;
        let of = |class: u32| {
            let mut at = class;
            // A chain that closes is no chain.
            for _ in 0..classes.len().min(1000) {
                let row = classes.get(at as usize)?;
                if let Some((_, field, form)) = known.iter().rev().find(|(name, _, _)| *name == row.name) {
                    return Some((self.number_of(field), *form));
                }
                at = row.above;
            }
            None
        };
        (0..u32::try_from(classes.len()).unwrap_or(0)).filter_map(|class| Some((class, of(class)?))).collect()
    }

    /// The number of a field's name. Where no object has such a field, no reference has this number.
    pub(in crate::heap) fn number_of(&self, field: &str) -> u32 {
        let at = self.graph.names.iter().position(|name| name == field);
        at.and_then(|at| u32::try_from(at).ok()).unwrap_or(NOBODY)
    }

    pub(in crate::heap) fn field(&self, node: Node, name: u32) -> Option<Node> {
        self.graph.references(node).find(|(_, label)| label.via() == Via::Field(name)).map(|(to, _)| to)
    }
}
