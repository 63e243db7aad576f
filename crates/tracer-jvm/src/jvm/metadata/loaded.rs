//! The classes that are loaded and their methods, found by the JVM's own lists: loaders, their classes, the methods of each.
//!
//! The lists grow at their heads while they are walked, and lose entries only while all threads stand still. So a walk finds
//! what was there when it began, except after an unloading, which its caller must notice. Whatever an entry says, a walk ends:
//! loaders, classes and methods are counted.

use std::{collections::HashSet, ops::ControlFlow};

use super::super::{
    code_cache::{Error, fields::Fields},
    peek::{Peek, at},
    vmstructs::VmStructs,
};

/// Most classes that are looked at; a JVM of a large server has some 50,000.
const MAX_CLASSES: usize = 500_000;
/// Most methods of a class; class files have 16 bits for their number.
const MAX_METHODS: u32 = 65_536;
/// Most methods of all classes together: many classes can have the same ones, which would be read over and over.
const MAX_ALL_METHODS: u32 = 8 << 20;
const POINTER_BYTES: u64 = 8;

/// Offsets that lead from the JVM's list of loaders to methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadedLayout {
    /// Where the first loader is written.
    head: u64,
    next_loader: u64,
    classes: u64,
    next_class: u64,
    /// Above 0 in classes of instances; arrays have no methods of their own.
    layout_helper: u64,
    methods: u64,
    array_length: u64,
    array_data: u64,
}

impl LoadedLayout {
    /// For tests in which classes are known.
    #[cfg(test)]
    pub(in crate::jvm) const ZERO: Self = Self {
        head: 0,
        next_loader: 0,
        classes: 0,
        next_class: 0,
        layout_helper: 0,
        methods: 0,
        array_length: 0,
        array_data: 0,
    };

    /// Finds the offsets; the error names the field that is missing or absurd.
    pub fn from_tables(tables: &VmStructs) -> Result<Self, Error> {
        let fields = Fields(tables);
        let one = |owner, name| fields.offset(&[(owner, name)]);
        Ok(Self {
            head: fields.address("ClassLoaderDataGraph", "_head")?,
            next_loader: one("ClassLoaderData", "_next")?,
            classes: one("ClassLoaderData", "_klasses")?,
            next_class: one("Klass", "_next_link")?,
            layout_helper: one("Klass", "_layout_helper")?,
            methods: one("InstanceKlass", "_methods")?,
            array_length: one("Array<int>", "_length")?,
            array_data: one("Array<Method*>", "_data")?,
        })
    }

    /// Hands the address of each method of each loaded class to `take`, until that says that it has enough.
    pub fn methods(&self, peek: &impl Peek, take: &mut dyn FnMut(u64) -> bool) {
        let mut methods = MAX_ALL_METHODS;
        self.classes(peek, &mut |class| self.methods_of(peek, class, &mut methods, take));
    }

    /// Hands the address of each loaded class to `take`, until that says that it has enough.
    pub fn classes(&self, peek: &impl Peek, take: &mut dyn FnMut(u64) -> bool) {
        self.walk(peek, &mut |class| if take(class) { ControlFlow::Continue(true) } else { ControlFlow::Break(()) });
    }

    /// Hands the address of each class to `take` that was loaded since: of each loader the youngest first, until `take` knows one of them.
    pub fn younger_classes(&self, peek: &impl Peek, take: &mut dyn FnMut(u64) -> bool) {
        self.walk(peek, &mut |class| ControlFlow::Continue(take(class)));
    }

    /// Hands each class to `take`, which says whether it wants more of the same loader, or nothing more at all.
    fn walk(&self, peek: &impl Peek, take: &mut dyn FnMut(u64) -> ControlFlow<(), bool>) {
        let mut left = MAX_CLASSES;
        // A list that leads back to itself ends there.
        let mut known = HashSet::new();
        let mut loader = peek.u64(self.head).unwrap_or(0);
        while loader != 0 && left > 0 && known.insert(loader) {
            // A loader that has no class must end the walk some time, too.
            left -= 1;
            let mut class = peek.u64(loader.wrapping_add(self.classes)).unwrap_or(0);
            while class != 0 && left > 0 && known.insert(class) {
                left -= 1;
                match take(class) {
                    ControlFlow::Continue(true) => {}
                    ControlFlow::Continue(false) => break,
                    ControlFlow::Break(()) => return,
                }
                class = peek.u64(class.wrapping_add(self.next_class)).unwrap_or(0);
            }
            loader = peek.u64(loader.wrapping_add(self.next_loader)).unwrap_or(0);
        }
    }

    /// Bytes of an object of a class; nothing of arrays, interfaces, and what cannot be read.
    pub fn instance_bytes(&self, peek: &impl Peek, class: u64) -> Option<u64> {
        let helper = peek.u32(class.wrapping_add(self.layout_helper)).ok()?.cast_signed();
        // The lowest bit says that the JVM must make it itself.
        u64::try_from(helper & !1).ok().filter(|bytes| *bytes > 0)
    }

    /// The methods of one class; says whether more are wanted. Where something cannot be read, the class has none.
    fn methods_of(&self, peek: &impl Peek, class: u64, left: &mut u32, take: &mut dyn FnMut(u64) -> bool) -> bool {
        let is_of_instances =
            peek.u32(class.wrapping_add(self.layout_helper)).is_ok_and(|helper| helper.cast_signed() > 0);
        let array = peek.u64(class.wrapping_add(self.methods)).unwrap_or(0);
        if !is_of_instances || array == 0 {
            return true;
        }
        let length = peek.u32(array.wrapping_add(self.array_length)).unwrap_or(0).min(MAX_METHODS);
        // Also those that cannot be read are looked for.
        let Some(rest) = left.checked_sub(length) else { return false };
        *left = rest;
        let bytes = usize::try_from(u64::from(length) * POINTER_BYTES).unwrap_or(0);
        let Ok(pointers) = peek.bytes(array.wrapping_add(self.array_data), bytes) else { return true };
        (0..u64::from(length)).filter_map(|index| at::u64(&pointers, index * POINTER_BYTES)).all(take)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::super::peek::copy::Copy, *};
    use crate::fuzz::{self, Metered};

    const LAYOUT: LoadedLayout = LoadedLayout {
        head: 0x1000,
        next_loader: 8,
        classes: 16,
        next_class: 8,
        layout_helper: 24,
        methods: 32,
        array_length: 0,
        array_data: 8,
    };

    fn class(copy: &mut Copy, address: u64, next: u64, helper: u32, methods: &[u64]) {
        copy.write_u64(address + LAYOUT.next_class, next);
        copy.write_u32(address + LAYOUT.layout_helper, helper);
        copy.write_u64(address + LAYOUT.methods, address + 0x100);
        copy.write_u32(address + 0x100, u32::try_from(methods.len()).unwrap());
        for (index, method) in (0..).zip(methods) {
            copy.write_u64(address + 0x108 + index * 8, *method);
        }
    }

    /// Two loaders: one with a class of two methods, an array, and a class of one; and one with a class of one.
    fn graph() -> Copy {
        let mut copy = Copy::default();
        copy.write_u64(LAYOUT.head, 0x2000);
        copy.write_u64(0x2000 + LAYOUT.next_loader, 0x3000);
        copy.write_u64(0x2000 + LAYOUT.classes, 0x4000);
        copy.write_u64(0x3000 + LAYOUT.next_loader, 0);
        copy.write_u64(0x3000 + LAYOUT.classes, 0x7000);
        class(&mut copy, 0x4000, 0x5000, 16, &[1, 2]);
        class(&mut copy, 0x5000, 0x6000, 0x8000_0000, &[66]);
        class(&mut copy, 0x6000, 0, 24, &[3]);
        class(&mut copy, 0x7000, 0, 16, &[4]);
        copy
    }

    fn found(copy: &Copy, most: usize) -> Vec<u64> {
        let mut found = Vec::new();
        LAYOUT.methods(copy, &mut |method| {
            found.push(method);
            found.len() < most
        });
        found
    }

    #[test]
    fn methods_of_all_loaders_are_found_and_arrays_have_none() {
        assert_eq!(found(&graph(), usize::MAX), [1, 2, 3, 4]);
        assert_eq!(found(&graph(), 2), [1, 2], "it ends where enough were taken");
    }

    #[test]
    fn younger_classes_are_those_before_one_that_is_known() {
        let since = |known: &[u64]| {
            let mut found = Vec::new();
            LAYOUT.younger_classes(&graph(), &mut |class| {
                let is_new = !known.contains(&class);
                found.extend(is_new.then_some(class));
                is_new
            });
            found
        };
        assert_eq!(since(&[]), [0x4000, 0x5000, 0x6000, 0x7000]);
        assert_eq!(since(&[0x6000, 0x5000]), [0x4000, 0x7000], "the next loader has some of its own");
        assert!(since(&[0x4000, 0x7000]).is_empty());
    }

    #[test]
    fn objects_are_as_large_as_their_class_says_and_arrays_differ() {
        let mut copy = graph();
        copy.write_u32(0x6000 + LAYOUT.layout_helper, 25);
        let bytes = [0x4000, 0x5000, 0x6000, 0x9_0000].map(|class| LAYOUT.instance_bytes(&copy, class));
        assert_eq!(bytes, [Some(16), None, Some(24), None], "the lowest bit is none of the size");
    }

    #[test]
    fn a_walk_ends_whatever_the_target_has_written() {
        let mut circle = graph();
        circle.write_u64(0x6000 + LAYOUT.next_class, 0x4000);
        assert_eq!(found(&circle, usize::MAX), [1, 2, 3, 4]);
        let mut wide = graph();
        wide.write_u64(0x4000 + LAYOUT.next_class, 0x4000);
        wide.write_u64(0x4000 + LAYOUT.methods, 0x9_0000);
        wide.write_u32(0x9_0000, MAX_METHODS);
        // It is there only in part, and was looked for half a million times.
        wide.write(0x9_0008, &[1; 0x1000]);
        LAYOUT.methods(&Metered::new(wide, 1 << 20), &mut |_| true);
        let mut long = graph();
        long.write_u32(0x4100, u32::MAX);
        assert_eq!(found(&long, usize::MAX), [3, 4], "an array that reaches where nothing is has no methods");
        let mut wild = graph();
        wild.write_u64(0x4000 + LAYOUT.methods, u64::MAX - 3);
        wild.write_u64(0x6000 + LAYOUT.next_class, u64::MAX);
        assert_eq!(found(&wild, usize::MAX), [3, 4]);
        assert!(found(&Copy::default(), usize::MAX).is_empty());
    }

    #[test]
    fn fuzz_class_list() {
        let sound = graph();
        fuzz::each("class_list", 2 << 20, |dice| {
            let mut copy = sound.clone();
            fuzz::damage(dice, &mut copy);
            let (mut taken, wanted) = (0_u32, dice.pick(&[3, 1000, u32::MAX]));
            LAYOUT.methods(&Metered::new(copy, 16 << 20), &mut |_| {
                taken += 1;
                taken < wanted
            });
            assert!(taken <= MAX_ALL_METHODS.min(wanted));
        });
    }
}
