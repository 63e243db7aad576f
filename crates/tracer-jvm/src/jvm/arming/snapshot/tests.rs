//! Reads made-up compiled code of every release, whole and damaged.

use super::*;
use crate::{
    fuzz::{self, Metered},
    jvm::{
        peek::copy::Copy,
        world::{RELEASES, World},
    },
};

const ENTRY: u64 = 0x7f55_0000_0000;
const COMPILE_ID: u32 = 7;

/// A JVM with code of `add`, into which `price` is inlined.
struct Shop {
    world: World,
    blob: u64,
}

fn shop(release: u32) -> Shop {
    let mut world = World::new(release);
    let mut class = world.class("com/shop/Cart", None);
    let [add, price] = ["add", "price"].map(|name| world.method(&mut class, name, 40, &[]));
    let blob = world.nmethod(COMPILE_ID, add, &[(0x10, &[(add, 1)]), (0x20, &[(price, 3), (add, 9)])]);
    Shop { world, blob }
}

impl Shop {
    fn read_from(&self, copy: &Copy, stubs: Option<Stubs>) -> Result<Snapshot, Error> {
        Snapshot::read(copy, &self.world.tables, self.world.release, |_| Ok(stubs))
    }

    fn read(&self) -> Snapshot {
        self.read_from(&self.world.copy, Some(Stubs::at(ENTRY, 1, 2))).unwrap()
    }

    fn only(&self) -> Compilation {
        let snapshot = self.read();
        assert_eq!((snapshot.code.len(), snapshot.unread), (1, 0));
        snapshot.code.into_values().next().unwrap()
    }
}

fn name(method: &str) -> Name {
    Name { class: "com.shop.Cart".to_owned(), method: method.to_owned(), signature: "(I)V".to_owned() }
}

#[test]
fn code_is_told_with_its_method_those_inlined_and_what_it_calls() {
    for release in RELEASES {
        let mut shop = shop(release);
        let silent = shop.only();
        assert_eq!(silent.code, Code { compile_id: COMPILE_ID, address: shop.blob });
        assert_eq!((silent.level, silent.native, silent.usage), (4, false, Use::Entered), "JDK {release}");
        assert_eq!((&silent.name, &silent.inlined[..]), (&name("add"), &[name("price")][..]), "JDK {release}");
        assert_eq!(silent.calls, Some(Calls::default()));

        let code = shop.blob + shop.world.code_offset() + 32;
        shop.world.copy.write(code, &[&[0x49, 0xba][..], &ENTRY.to_le_bytes()].concat());
        assert_eq!(shop.only().calls, Some(Calls { entry: true, ..Calls::default() }), "JDK {release}");
    }
}

#[test]
fn code_that_was_thrown_away_says_so() {
    for release in RELEASES {
        let mut shop = shop(release);
        let state = shop.blob + shop.world.offset("nmethod", "_state");
        // Not entered any more, and not installed yet.
        for value in [1, 2, 0xff] {
            shop.world.copy.write(state, &[value]);
            assert_eq!(shop.only().usage, Use::Left, "JDK {release}");
        }
        assert_eq!(shop.read().in_use().count(), 0);
    }
}

#[test]
fn where_the_tables_have_no_state_the_method_tells_which_code_is_its_own() {
    for release in RELEASES {
        let mut shop = shop(release);
        shop.world.tables.remove("nmethod", "_state");
        assert_eq!(shop.only().usage, Use::Left, "JDK {release}");
        let cache = CodeCache::read(&shop.world.copy, &shop.world.tables).unwrap();
        let method = cache.blob_at(&shop.world.copy, shop.blob).unwrap().compiled.unwrap().method;
        let current = method + shop.world.offset("Method", "_code");
        shop.world.copy.write_u64(current, shop.blob);
        assert_eq!(shop.only().usage, Use::Entered, "JDK {release}");
    }
}

#[test]
fn without_symbols_nothing_is_said_of_calls() {
    let shop = shop(21);
    let snapshot = shop.read_from(&shop.world.copy, None).unwrap();
    assert!(snapshot.interpreter.is_none() && snapshot.code.values().all(|code| code.calls.is_none()));
}

/// Work that a sound JVM of this size is far from.
const MOST_READ: u64 = 64 << 20;

#[test]
fn fuzz_compiled_code() {
    let shops = RELEASES.map(shop);
    fuzz::each("compiled_code", 16 << 20, |dice| {
        let shop = &shops[dice.below(shops.len())];
        let mut copy = shop.world.copy.clone();
        fuzz::damage(dice, &mut copy);
        let stubs = dice.once_in(2).then(|| Stubs::at(ENTRY, 1, 2));
        let memory = Metered::new(copy, MOST_READ);
        if let Ok(snapshot) = Snapshot::read(&memory, &shop.world.tables, shop.world.release, |_| Ok(stubs)) {
            assert!(snapshot.code.len() + snapshot.unread < 5000);
        }
    });
}
