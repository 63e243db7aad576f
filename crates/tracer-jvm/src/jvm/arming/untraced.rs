//! Methods that can be inlined in code that does not report, without a trace of that in the JVM's tables.
//!
//! The compiler describes inlined methods where the JVM can stop. A small method without such a place leaves nothing: no
//! scope, and no mention among the metadata. So where some chosen code does not report, methods of the chosen classes are taken
//! for possibly inlined if they have run and are small enough for C2 to inline, also where code of their own reports.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    super::{
        code_cache::{CodeCache, fields::Fields},
        find::Jvm,
        metadata::{MetadataLayout, Method},
        peek::{Pages, Peek},
        vmstructs::VmStructs,
    },
    coverage::{Coverage, Verdict},
    snapshot::{Error, Name},
};

/// `FreqInlineSize`: bytes of the largest method that C2 inlines.
const MOST_INLINED_BYTES: usize = 325;
/// Most methods of a class, and of all classes that are looked at.
const MAX_METHODS: u32 = 65_535;
const MAX_ALL_METHODS: usize = 4 * MAX_METHODS as usize;

/// Where a class has its methods, and a method its class and counters.
struct ClassLayout {
    const_method: u64,
    constants: u64,
    holder: u64,
    methods: u64,
    length: u64,
    data: u64,
    /// Null until a method runs in the interpreter for the first time.
    counters: u64,
}

impl ClassLayout {
    fn from_tables(fields: Fields<'_>) -> Result<Self, Error> {
        Ok(Self {
            const_method: fields.offset(&[("Method", "_constMethod")])?,
            constants: fields.offset(&[("ConstMethod", "_constants")])?,
            holder: fields.offset(&[("ConstantPool", "_pool_holder")])?,
            methods: fields.offset(&[("InstanceKlass", "_methods")])?,
            length: fields.offset(&[("Array<int>", "_length")])?,
            data: fields.offset(&[("Array<Method*>", "_data"), ("Array<Method*>", "_data[0]")])?,
            counters: fields.offset(&[("Method", "_method_counters")])?,
        })
    }

    /// The class of a method.
    fn class_of(&self, peek: &impl Peek, method: u64) -> Option<u64> {
        let pool =
            peek.u64(peek.u64(method.checked_add(self.const_method)?).ok()?.checked_add(self.constants)?).ok()?;
        peek.u64(pool.checked_add(self.holder)?).ok()
    }

    /// The methods of a class that have run.
    fn have_run(&self, peek: &impl Peek, class: u64) -> Option<Vec<u64>> {
        let array = peek.u64(class.checked_add(self.methods)?).ok()?;
        let length = peek.u32(array.checked_add(self.length)?).ok()?.min(MAX_METHODS);
        let first = array.checked_add(self.data)?;
        let methods = (0..u64::from(length)).map_while(|index| peek.u64(first.checked_add(8 * index)?).ok());
        let has_run = |method: &u64| {
            let counters = method.checked_add(self.counters).and_then(|at| peek.u64(at).ok());
            counters.is_some_and(|counters| counters != 0)
        };
        Some(methods.filter(has_run).collect())
    }
}

/// Methods of these classes that may be inlined in code that does not report, and that the coverage does not name.
pub fn untraced(jvm: &Jvm, coverage: &Coverage, classes: &BTreeSet<&str>) -> Result<BTreeSet<Name>, Error> {
    let layout = ClassLayout::from_tables(Fields(&jvm.tables))?;
    found(&Pages::new(&jvm.memory), &jvm.tables, &layout, &coverage.methods, classes)
}

fn found(
    pages: &impl Peek,
    tables: &VmStructs,
    layout: &ClassLayout,
    verdicts: &BTreeMap<Name, Verdict>,
    classes: &BTreeSet<&str>,
) -> Result<BTreeSet<Name>, Error> {
    let metadata = MetadataLayout::from_tables(pages, tables)?;
    let (blobs, _) = CodeCache::read(pages, tables)?.snapshot(pages)?;
    let compiled = blobs.iter().filter_map(|blob| blob.compiled);
    let mut of_class: BTreeMap<u64, bool> = BTreeMap::new();
    for compiled in compiled {
        let Some(class) = layout.class_of(pages, compiled.method) else { continue };
        of_class.entry(class).or_insert_with(|| {
            let method = Method::read(pages, &metadata, compiled.method);
            method.is_ok_and(|method| classes.contains(&*method.class))
        });
    }
    let wanted = of_class.into_iter().filter_map(|(class, wanted)| wanted.then_some(class));
    let methods = wanted.filter_map(|class| layout.have_run(pages, class)).flatten().take(MAX_ALL_METHODS);
    let name = |method| {
        let method = Method::read(pages, &metadata, method).ok()?;
        let name = Name::of(&method);
        let can_be_inlined = (1..=MOST_INLINED_BYTES).contains(&method.code.len());
        let is_named = matches!(verdicts.get(&name), Some(Verdict::NotCovered(_)));
        (can_be_inlined && !is_named).then_some(name)
    };
    Ok(methods.filter_map(name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fuzz::{self, Metered},
        jvm::world::{RELEASES, World},
    };

    /// Where the classes have their array of methods: the tables of the made-up JVM do not say it.
    const ARRAY: u64 = 0x6000_0000_1000;
    const POINTER: u64 = 0x6000_0000_0000;
    /// Work that a sound JVM of this size is far from.
    const MOST_READ: u64 = 64 << 20;

    /// A JVM with code of `add`, whose class has `price` as well.
    fn shop(release: u32) -> (World, ClassLayout) {
        let mut world = World::new(release);
        let mut class = world.class("com/shop/Cart", None);
        let [add, price] = ["add", "price"].map(|name| world.method(&mut class, name, 40, &[]));
        world.nmethod(7, add, &[(0x10, &[(add, 1)])]);
        world.copy.write_u64(POINTER, ARRAY);
        world.copy.write_u32(ARRAY, 2);
        world.copy.write_u64(ARRAY + 8, add);
        world.copy.write_u64(ARRAY + 16, price);
        let const_method = world.offset("Method", "_constMethod");
        let layout = ClassLayout {
            const_method,
            constants: world.offset("ConstMethod", "_constants"),
            holder: world.offset("ConstantPool", "_pool_holder"),
            methods: POINTER - class.address,
            length: 0,
            data: 8,
            // Never null, so both have run.
            counters: const_method,
        };
        (world, layout)
    }

    #[test]
    fn small_methods_of_a_chosen_class_that_have_run_may_be_inlined_anywhere() {
        for release in RELEASES {
            let (world, layout) = shop(release);
            let of = |class: &str| {
                let classes = BTreeSet::from([class]);
                let found = found(&world.copy, &world.tables, &layout, &BTreeMap::new(), &classes).unwrap();
                found.into_iter().map(|name| name.method).collect::<Vec<_>>()
            };
            assert_eq!(of("com.shop.Cart"), ["add", "price"], "JDK {release}");
            assert!(of("com.shop.Till").is_empty(), "JDK {release}");
        }
    }

    #[test]
    fn fuzz_untraced() {
        let shops = RELEASES.map(shop);
        fuzz::each("untraced", 32 << 20, |dice| {
            let (world, layout) = &shops[dice.below(shops.len())];
            let mut copy = world.copy.clone();
            fuzz::damage(dice, &mut copy);
            if dice.once_in(4) {
                copy.write_u32(ARRAY, dice.pick(&[0, 400, 65_535, u32::MAX]));
            }
            let memory = Metered::new(copy, MOST_READ);
            let classes = BTreeSet::from(["com.shop.Cart"]);
            if let Ok(names) = found(&memory, &world.tables, layout, &BTreeMap::new(), &classes) {
                assert!(names.len() <= MAX_ALL_METHODS);
            }
        });
    }
}
