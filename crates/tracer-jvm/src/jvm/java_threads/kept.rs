//! Collections that a program keeps: in its static fields, in fields of its threads and their tasks, in variables of its methods that are in
//! the interpreter, and in fields of the program's own objects that these lead to. Tasks that an executor or a timer keeps for later are those
//! of its threads.
//!
//! A look reads so many objects and no more. So what has not changed of late is looked at in some looks only, and the rest comes first.
//! Collections in other collections, and in variables of compiled methods, are not seen.

mod walk;

use std::{
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    sync::Arc,
};

use self::walk::{Take, Walk};
use super::{
    entries::{Kind, Kinds},
    executor::count,
    held::task,
    named_fields::NamedFields,
    own_queue::{LAMBDA, OwnQueue},
    reader::Reader,
};
use crate::{
    jvm::{
        metadata::LoadedLayout,
        peek::{Pages, Peek},
        vmstructs::VmStructs,
    },
    text::class_name::is_of_jdk,
};

/// Most static fields that are known.
const MAX_FIELDS: usize = 65_536;
/// Most classes that are looked through in a look, those of the JDK included, of which no more than the name is read.
const MAX_CLASSES: usize = 4_000;
/// Where classes are unloaded all the time, they are looked through in one of so many looks.
const LOOKS_BETWEEN: usize = 4;
/// Most objects that are looked at in the first look, and in another one.
const MAX_OBJECTS: [usize; 2] = [4_000, 1_000];
/// Most of these under one static field, or one thread. What is behind them is never looked at.
const MAX_EACH: usize = 400;
/// A field under which nothing has changed is looked at in one of so many looks.
const SELDOM: usize = 8;
/// Most threads of a look, and of those with tasks of one class whose fields are looked at.
const MAX_THREADS: usize = 512;
const MAX_ALIKE: usize = 4;
/// Most queues in static fields.
const MAX_QUEUES: usize = 256;
/// Fields that are read with the same pages of the heap.
const TOGETHER: usize = 32;
/// Since this release the mirror of a class is behind a handle.
/// <https://bugs.openjdk.org/browse/JDK-8186777>
const MIRROR_HANDLES_SINCE: u32 = 10;

/// Collections by the static field that leads to them and the field that has them: their class, and how many entries.
type Found = BTreeMap<(Option<Arc<str>>, String), (String, u64)>;

/// The same of one static field, or of one thread.
type Here = BTreeMap<String, (String, u64)>;

/// A collection at a moment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kept {
    /// The field that has it: `com.shop.Registry.CALLS`.
    pub field: String,
    /// The static field that leads to the object with that field, where that is another one.
    pub root: Option<String>,
    /// Its class.
    pub class: String,
    /// How many entries it has; of several in that field of several objects, all together.
    pub entries: u64,
}

/// What may be in the variables of a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnStack {
    /// `com.shop.Main.main`.
    pub method: String,
    /// Words that may be references.
    pub objects: Vec<u64>,
}

/// A static field.
#[derive(Debug)]
struct Root {
    klass: u64,
    offset: u64,
    field: Arc<str>,
    /// Entries under it, when it was looked at last, and whether they had become more or fewer.
    entries: Option<u64>,
    changed: bool,
    /// Whether it has a queue itself.
    is_queue: bool,
}

/// Where classes and their mirrors are.
#[derive(Clone, Copy, Debug)]
struct Classes {
    loaded: LoadedLayout,
    mirror: u64,
    is_handle: bool,
}

/// What is known of the program's fields.
#[derive(Debug)]
pub(super) struct Keeping {
    classes: Classes,
    known: HashSet<u64>,
    /// Classes that were not looked through yet.
    pending: VecDeque<u64>,
    /// The look from which on classes are looked through.
    from: usize,
    roots: Vec<Root>,
    kinds: Kinds,
    looks: usize,
    /// The static field that comes first.
    next: usize,
}

impl Keeping {
    /// Nothing is known yet; nothing where the tables do not say where classes are.
    pub(super) fn new(tables: &VmStructs, release: u32) -> Option<Self> {
        let loaded = LoadedLayout::from_tables(tables).ok()?;
        let mirror = tables.offset("Klass", "_java_mirror")?;
        Some(Self::of(Classes { loaded, mirror, is_handle: release >= MIRROR_HANDLES_SINCE }))
    }

    fn of(classes: Classes) -> Self {
        Self {
            classes,
            known: HashSet::new(),
            pending: VecDeque::new(),
            from: 0,
            roots: Vec::new(),
            kinds: Kinds::default(),
            looks: 0,
            next: 0,
        }
    }

    /// Classes have gone, and others may come to their addresses.
    pub(super) fn forget(&mut self) {
        let from = if self.roots.is_empty() { self.from } else { self.looks + LOOKS_BETWEEN };
        *self = Self { looks: self.looks, from, ..Self::of(self.classes) };
    }

    /// What was no class may have become one.
    pub(super) fn forget_kinds(&mut self) {
        self.kinds.forget();
    }

    /// What is kept now, as far as a look goes, with the threads of these thread objects, and what may be in variables.
    pub(super) fn look<P: Peek>(
        &mut self,
        memory: &P,
        fields: &NamedFields,
        reader: &Reader<'_, impl Peek>,
        threads: impl Iterator<Item = u64>,
        on_stack: &[OnStack],
    ) -> Vec<Kept> {
        if self.looks >= self.from {
            self.find_fields(&Pages::new(memory), fields, reader);
        }
        let mut found = Found::new();
        self.under_fields(memory, fields, reader, &mut found);
        self.under_threads(memory, fields, reader, threads, &mut found);
        self.under_variables(memory, fields, reader, on_stack, &mut found);
        self.looks += 1;
        let told = |((root, field), (class, entries)): <Found as IntoIterator>::Item| {
            let is_its = |root: &Arc<str>| field.strip_suffix("[]").unwrap_or(&field) == &**root;
            let root = root.filter(|root| !is_its(root)).map(|root| root.to_string());
            Kept { field, root, class, entries }
        };
        found.into_iter().map(told).collect()
    }

    /// Finds the queues in static fields, and nothing else.
    pub(super) fn find_queues<P: Peek>(&mut self, memory: &P, fields: &NamedFields, reader: &Reader<'_, impl Peek>) {
        self.find_fields(&Pages::new(memory), fields, reader);
        let Self { classes, roots, kinds, .. } = self;
        for roots in roots.chunks_mut(TOGETHER) {
            let pages = Pages::small(memory);
            let near = reader.near(&pages);
            for root in roots {
                let object = classes.static_reference(&near, root);
                root.is_queue = object.is_some_and(|object| kinds.is_queue(&near, object));
            }
        }
    }

    /// The static fields of classes that have been loaded since.
    fn find_fields(&mut self, near: &impl Peek, fields: &NamedFields, reader: &Reader<'_, impl Peek>) {
        let Self { classes, known, pending, roots, .. } = self;
        let near = reader.near(near);
        classes.loaded.younger_classes(near.memory, &mut |klass| {
            let is_new = known.insert(klass);
            pending.extend(is_new.then_some(klass));
            is_new
        });
        let is_of_program = |class: &str| !is_of_jdk(class) && !class.ends_with("[]") && !class.contains(LAMBDA);
        for klass in pending.drain(..pending.len().min(MAX_CLASSES)) {
            if !near.class(klass).is_some_and(|(class, _)| is_of_program(&class)) {
                continue;
            }
            let found = fields.statics(&near, klass).into_iter().map(|(field, offset)| Root {
                klass,
                offset,
                field: field.into(),
                entries: None,
                changed: true,
                is_queue: false,
            });
            roots.extend(found.take(MAX_FIELDS.saturating_sub(roots.len())));
        }
    }

    /// The static fields of this look: those under which something changes, and some of the others.
    fn due(&self) -> Vec<usize> {
        let turn = self.looks % SELDOM;
        let (before, after) = self.roots.split_at(self.next.min(self.roots.len()));
        let numbered = (before.len()..).zip(after).chain((0..).zip(before));
        let is_due = |(index, root): &(usize, &Root)| root.changed || index % SELDOM == turn;
        let (changing, others): (Vec<_>, Vec<_>) = numbered.filter(is_due).partition(|(_, root)| root.changed);
        changing.into_iter().chain(others).map(|(index, _)| index).collect()
    }

    /// What static fields lead to, as far as this look goes. The next one begins with what this one has not come to.
    fn under_fields<P: Peek>(
        &mut self,
        memory: &P,
        fields: &NamedFields,
        reader: &Reader<'_, impl Peek>,
        found: &mut Found,
    ) {
        let due = self.due();
        let Self { classes, roots, kinds, next, .. } = self;
        let mut left = MAX_OBJECTS[self.looks.min(1)];
        for chunk in due.chunks(TOGETHER) {
            let pages = Pages::small(memory);
            let near = reader.near(&pages);
            for index in chunk {
                let Some(root) = roots.get_mut(*index) else { continue };
                let object = classes.static_reference(&near, root);
                root.is_queue = object.is_some_and(|object| kinds.is_queue(&near, object));
                let here = object.map_or(Some(Here::new()), |object| {
                    gathered(kinds, fields, &near, &mut left, |walk, take| walk.under(object, &root.field, take))
                });
                let Some(here) = here else {
                    *next = *index;
                    return;
                };
                let all = here.values().map(|(_, entries)| *entries).sum();
                root.changed = root.entries.replace(all) != Some(all);
                add(found, Some(&root.field), here);
            }
        }
    }

    /// What threads and their tasks lead to.
    fn under_threads<P: Peek>(
        &mut self,
        memory: &P,
        fields: &NamedFields,
        reader: &Reader<'_, impl Peek>,
        threads: impl Iterator<Item = u64>,
        found: &mut Found,
    ) {
        let kinds = &mut self.kinds;
        let mut alike = HashMap::<[Option<u64>; 3], usize>::new();
        let mut left = MAX_OBJECTS[1];
        for thread in threads.take(MAX_THREADS) {
            let pages = Pages::small(memory);
            let near = reader.near(&pages);
            let task = task(fields, &near, thread);
            let [class, of_task] = [Some(thread), task].map(|object| near.klass(object?));
            // Threads of executors have tasks of the same class, and each executor has a queue of its own.
            let mut executor = || match kinds.of(&near, of_task?)? {
                Kind::Leads(_) => fields.reference(&near, task?, "this$0"),
                _ => None,
            };
            let same = alike.entry([class, of_task, executor()]).or_default();
            *same += 1;
            if *same > MAX_ALIKE {
                continue;
            }
            let here = gathered(kinds, fields, &near, &mut left, |walk, take| {
                for object in [Some(thread), task].into_iter().flatten() {
                    walk.fields_of(object, take);
                }
            });
            let Some(here) = here else { return };
            add(found, None, here);
        }
    }

    /// What variables lead to that nothing else does.
    fn under_variables<P: Peek>(
        &mut self,
        memory: &P,
        fields: &NamedFields,
        reader: &Reader<'_, impl Peek>,
        on_stack: &[OnStack],
        found: &mut Found,
    ) {
        let kinds = &mut self.kinds;
        let mut of_variables = Found::new();
        let mut left = MAX_OBJECTS[1];
        for OnStack { method, objects } in on_stack {
            let pages = Pages::small(memory);
            let near = reader.near(&pages);
            let here = gathered(kinds, fields, &near, &mut left, |walk, take| {
                for object in objects {
                    walk.variable(*object, method, take);
                }
            });
            let Some(here) = here else { break };
            add(&mut of_variables, None, here);
        }
        let known: HashSet<&str> = found.keys().map(|(_, field)| &**field).collect();
        of_variables.retain(|(_, field), _| !known.contains(&**field));
        found.append(&mut of_variables);
    }

    /// The queues in static fields, as they are now.
    pub(super) fn queues<P: Peek>(&self, fields: &NamedFields, reader: &Reader<'_, P>) -> Vec<OwnQueue> {
        let queue = |root: &Root| {
            let address = self.classes.static_reference(reader, root)?;
            Some(OwnQueue { address, field: root.field.to_string(), queued: count(fields, reader, address)? })
        };
        self.roots.iter().filter(|root| root.is_queue).take(MAX_QUEUES).filter_map(queue).collect()
    }
}

/// What is under one static field, or one thread; none where that is more than this look may still look at: of a part nobody knows
/// whether it grew.
fn gathered<P: Peek>(
    kinds: &mut Kinds,
    fields: &NamedFields,
    reader: &Reader<'_, P>,
    left: &mut usize,
    walk: impl FnOnce(&mut Walk<'_, '_, P>, &mut Take<'_>),
) -> Option<Here> {
    let most = MAX_EACH.min(*left);
    let (mut own, mut here) = (most, Here::new());
    walk(&mut Walk::new(fields, reader, kinds, &mut own), &mut |field, class, entries| {
        let (_, known) = here.entry(field.to_owned()).or_insert_with(|| (class.to_owned(), 0));
        *known += entries;
    });
    *left -= most - own;
    (own > 0 || most == MAX_EACH).then_some(here)
}

/// Adds what is under a static field or a thread. Where several have the same, that with the most entries is told.
fn add(found: &mut Found, root: Option<&Arc<str>>, here: Here) {
    for (field, (class, entries)) in here {
        let (_, known) = found.entry((root.cloned(), field)).or_insert((class, 0));
        *known = entries.max(*known);
    }
}

impl Classes {
    /// The object in a static field.
    fn static_reference<P: Peek>(&self, reader: &Reader<'_, P>, root: &Root) -> Option<u64> {
        let mirror = reader.memory.u64(root.klass.wrapping_add(self.mirror)).ok()?;
        let mirror = if self.is_handle { reader.wide(mirror)? } else { mirror };
        reader.reference(mirror.wrapping_add(root.offset))
    }
}

#[cfg(test)]
mod tests;
