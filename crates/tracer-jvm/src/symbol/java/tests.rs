//! Names frames of made-up JVMs of every release, whole and damaged.

use super::*;
use crate::{
    fuzz::{self, Metered},
    jvm::{
        metadata::check,
        peek::copy::Copy,
        world::{RELEASES, World},
    },
    stack::handlers::Handlers,
};

/// A JVM in which `Cart.add` was compiled with `Cart.sum` inlined.
struct Shop {
    world: World,
    add: u64,
    sum: u64,
    blob: u64,
}

const COMPILE_ID: u32 = 77;

fn shop(release: u32) -> Shop {
    let mut world = World::new(release);
    let mut class = world.class("com/shop/Cart", Some("Cart.java"));
    let add = world.method(&mut class, "add", 40, &[(0, 10), (8, 12)]);
    let handlers = [([5, 9, 30], Some("java/io/IOException")), ([5, 30, 31], None)];
    let sum = world.method_with_handlers(&mut class, "sum", 40, &[(0, 20), (30, 25)], &handlers);
    let blob = world.nmethod(COMPILE_ID, add, &[(0x10, &[(add, 0)]), (0x20, &[(sum, 31), (add, 9)])]);
    Shop { world, add, sum, blob }
}

impl Shop {
    fn symbols(&self) -> JavaSymbols<Copy> {
        JavaSymbols::open(self.world.copy.clone(), &self.world.tables).unwrap()
    }

    fn check(&self, method: u64) -> u32 {
        check(self.world.const_method(method))
    }

    fn pc(&self, offset: u64) -> u64 {
        self.blob + self.world.code_offset() + offset
    }
}

fn texts(frames: &[Arc<Frame>]) -> Vec<(Kind, String)> {
    frames.iter().map(|frame| (frame.kind, frame.to_string())).collect()
}

fn cart(kind: Kind, text: &str) -> (Kind, String) {
    (kind, format!("com.shop.Cart.{text}"))
}

#[test]
fn an_interpreted_frame_has_all_that_is_known() {
    for release in RELEASES {
        let shop = shop(release);
        let frame = shop.symbols().interpreted(shop.sum, shop.check(shop.sum), 35);
        let expected = Frame {
            class: Some("com.shop.Cart".into()),
            signature: Some("(I)V".into()),
            file: Some("Cart.java".into()),
            line: Some(25),
            bci: Some(35),
            opcode: Some(0xb8),
            // They are read from 11 on; the tables of 28 were written down without what leads to them.
            handlers: (11..28).contains(&release).then(Handlers::default),
            ..Frame::named(Kind::Interpreted, "com.shop.Cart.sum")
        };
        assert_eq!(*frame, expected);
        let without = shop.symbols().interpreted(shop.sum, shop.check(shop.sum), NO_BCI);
        assert_eq!((without.bci, without.line), (None, None));
    }
}

#[test]
fn a_frame_is_known_by_its_bytecode_pointer_or_not_at_all() {
    let shop = shop(21);
    let (mut symbols, other) = (shop.symbols(), shop.symbols().interpreted(shop.sum, shop.check(shop.sum), 35));
    let start = (0..1 << 12).map(|step| shop.world.const_method(shop.sum) + step);
    let at = |symbols: &mut JavaSymbols<Copy>, pointer| symbols.interpreted_at(shop.sum, pointer);
    let first =
        start.clone().find(|pointer| at(&mut symbols, *pointer).bci == Some(0)).expect("bytecode begins somewhere");
    assert_eq!(at(&mut symbols, first + 35), other);
    assert_eq!(at(&mut symbols, first - 1).name, "<class unloaded>");
    assert_eq!(at(&mut symbols, 0).bci, None, "a native method has no pointer");
}

#[test]
fn a_method_that_has_become_another_is_not_named_after_it() {
    let shop = shop(21);
    let mut symbols = shop.symbols();
    let wrong = symbols.interpreted(shop.sum, shop.check(shop.add), 0);
    assert_eq!(*wrong, Frame::named(Kind::Unknown, "<class unloaded>"));
    symbols.interpreted(shop.sum, shop.check(shop.sum), 0);
    assert_eq!(symbols.interpreted(shop.sum, shop.check(shop.add), 0).name, "<class unloaded>");
    assert_eq!(symbols.interpreted(1 << 50, 0, 0).name, "<method unreadable>");
}

#[test]
fn compiled_code_gives_its_inlined_frames_innermost_first() {
    for release in RELEASES {
        let shop = shop(release);
        let mut symbols = shop.symbols();
        let inlined = [cart(Kind::Inlined, "sum:25"), cart(Kind::Compiled, "add:12")];
        for _ in 0..2 {
            assert_eq!(texts(&symbols.compiled(shop.pc(0x20), true, COMPILE_ID)), inlined, "{release}");
            assert_eq!(texts(&symbols.compiled(shop.pc(0x10), true, COMPILE_ID)), [cart(Kind::Compiled, "add:10")]);
            assert_eq!(texts(&symbols.compiled(shop.pc(0x60), true, COMPILE_ID)), [cart(Kind::Compiled, "add")]);
        }
    }
}

#[test]
fn code_that_has_gone_is_named_if_it_was_seen_and_has_a_reason_if_not() {
    for release in RELEASES {
        let mut shop = shop(release);
        let mut symbols = shop.symbols();
        symbols.code_loaded(shop.pc(0), 0x100);
        // Other code comes to stand at the same address.
        let (add, sum, blob) = (shop.add, shop.sum, shop.blob);
        shop.world.free_last(blob);
        assert_eq!(shop.world.nmethod(99, sum, &[(0x20, &[(sum, 0)])]), blob);
        symbols.peek = shop.world.copy.clone();
        let _ = add;
        let old = symbols.compiled(shop.pc(0x20), true, COMPILE_ID);
        assert_eq!(texts(&old), [cart(Kind::Inlined, "sum:25"), cart(Kind::Compiled, "add:12")]);
        assert_eq!(texts(&symbols.compiled(shop.pc(0x20), true, 99)), [cart(Kind::Compiled, "sum:20")]);
        let never = symbols.compiled(shop.pc(0x20), true, 98);
        assert_eq!(texts(&never), [(Kind::Unknown, "<code of compilation 98 has gone>".to_owned())]);
        symbols.code.clear();
        let forgotten = symbols.compiled(shop.pc(0x20), true, COMPILE_ID);
        assert_eq!(texts(&forgotten), [cart(Kind::Compiled, "add")]);
    }
}

#[test]
fn a_scope_that_cannot_call_is_of_another_method() {
    let mut shop = shop(21);
    shop.world.clear_bytecode(shop.add, 9);
    let mut symbols = shop.symbols();
    let frames = texts(&symbols.compiled(shop.pc(0x20), true, COMPILE_ID));
    assert_eq!(frames, [cart(Kind::Inlined, "sum:25"), (Kind::Unknown, "<class unloaded>".to_owned())]);
    let beyond = symbols.interpreted(shop.sum, shop.check(shop.sum), 40);
    assert_eq!(beyond.name, "<class unloaded>");
}

#[test]
fn after_classes_were_unloaded_nothing_old_is_told_of_new_methods() {
    let mut shop = shop(17);
    let mut symbols = shop.symbols();
    let check = shop.check(shop.sum);
    symbols.interpreted(shop.sum, check, 0);
    // The same addresses now hold another method.
    let mut other = shop.world.class("com/evil/Other", None);
    let method = shop.world.method(&mut other, "sum", 40, &[]);
    let (from, to) = (shop.world.const_method(method), shop.world.const_method(shop.sum));
    let bytes = shop.world.copy.bytes(from, 48).unwrap();
    shop.world.copy.write(to, &bytes);
    symbols.peek = shop.world.copy.clone();
    symbols.classes_unloaded();
    assert_eq!(symbols.interpreted(shop.sum, check, 0).name, "com.evil.Other.sum");
}

#[test]
fn stubs_have_the_names_that_the_jvm_gives_them() {
    for release in RELEASES {
        let mut shop = shop(release);
        let stub = shop.world.block(shop.world.code_offset() + 64, "StubRoutines (1)");
        let mut symbols = shop.symbols();
        assert_eq!(*symbols.stub(stub + 64), Frame::named(Kind::Stub, "StubRoutines (1)"));
        assert_eq!(symbols.stub(crate::jvm::world::INTERPRETER[0] + 9).name, "Interpreter");
        assert_eq!(*symbols.stub(0x10), Frame::named(Kind::Unknown, "<no code heap at the address>"));
    }
}

/// Everything that a session asks, of a JVM in any state.
fn ask_everything(symbols: &mut JavaSymbols<Metered>, shop: &Shop) {
    for method in [shop.add, shop.sum] {
        let frame = symbols.interpreted(method, shop.check(method), 9);
        assert!(!frame.name.is_empty());
        symbols.interpreted_at(method, shop.world.const_method(method) + 50);
    }
    symbols.code_loaded(shop.pc(0), 0x100);
    for offset in [0, 0x10, 0x20, 0x60] {
        let frames = symbols.compiled(shop.pc(offset), offset % 0x20 == 0, COMPILE_ID);
        assert!(!frames.is_empty() && frames.len() < 300);
        symbols.stub(shop.pc(offset));
    }
    let blobs = symbols.code_cache.snapshot(&symbols.peek);
    if let Ok((blobs, wrong)) = blobs {
        assert!(blobs.len() + wrong < 5000);
        for blob in &blobs {
            symbols.blob_name(blob);
        }
    }
}

/// Work that a sound JVM of this size is far from.
const MOST_READ: u64 = 64 << 20;

/// A JVM that was damaged before or after the layout was read.
#[test]
fn fuzz_java_symbols() {
    let shops = RELEASES.map(shop);
    fuzz::each("java_symbols", 32 << 20, |dice| {
        let shop = &shops[dice.below(shops.len())];
        let mut copy = shop.world.copy.clone();
        let early = dice.once_in(2);
        if early {
            fuzz::damage(dice, &mut copy);
        }
        let opened = JavaSymbols::open(Metered::new(copy, MOST_READ), &shop.world.tables);
        let Ok(mut symbols) = opened else { return };
        if !early {
            let mut copy = shop.world.copy.clone();
            fuzz::damage(dice, &mut copy);
            symbols.peek = Metered::new(copy, MOST_READ);
        }
        ask_everything(&mut symbols, shop);
    });
}
