//! Reads made-up methods of every release.

use super::*;
use crate::jvm::world::{RELEASES, World};

fn layout(world: &World) -> MetadataLayout {
    let mut layout = MetadataLayout::from_tables(&world.copy, &world.tables).unwrap();
    if world.release == 8 {
        // Of those of 8 it is known where symbols lead to them.
        layout.opcodes = Opcodes::of_release(25);
    }
    layout
}

fn read(world: &World, method: u64) -> Result<Method, Reason> {
    Method::read(&world.copy, &layout(world), method)
}

#[test]
fn a_method_is_named_with_its_class_file_and_lines() {
    for release in RELEASES {
        let mut world = World::new(release);
        let mut class = world.class("com/shop/Cart$Item", Some("Cart.java"));
        let first = world.method(&mut class, "<init>", 5, &[(0, 3)]);
        let address = world.method(&mut class, "add", 700, &[(0, 10), (300, 2000), (650, 11)]);
        let method = read(&world, address).unwrap();
        assert_eq!((method.class.as_str(), method.name()), ("com.shop.Cart$Item", "add"));
        assert_eq!((method.signature.as_str(), method.file.as_deref()), ("(I)V", Some("Cart.java")));
        assert_eq!([0, 299, 300, 699].map(|bci| method.line(bci)), [Some(10), Some(10), Some(2000), Some(11)]);
        assert_eq!(method.check(), check(world.const_method(address)));
        assert_eq!(read(&world, first).unwrap().name(), "<init>");
    }
}

#[test]
fn a_method_has_its_exception_handlers() {
    for release in RELEASES {
        let mut world = World::new(release);
        let mut class = world.class("com/shop/Cart", Some("Cart.java"));
        let rows = [([0, 5, 12], Some("java/io/IOException")), ([2, 9, 14], None)];
        let address = world.method_with_handlers(&mut class, "add", 20, &[(0, 10), (12, 13), (14, 17)], &rows);
        let without = world.method(&mut class, "sum", 20, &[(0, 20)]);
        let of = |address| read(&world, address).unwrap().handlers;
        // The tables of 28 were written down without these flags.
        if release == 28 {
            assert_eq!((of(address), of(without)), (None, None));
            continue;
        }
        let handlers = of(address).unwrap();
        let told: Vec<_> =
            handlers.rows().iter().map(|row| (row.begin, row.end, row.class.as_deref(), row.line)).collect();
        assert_eq!(told, [(0, 5, Some("java.io.IOException"), Some(13)), (2, 9, None, Some(17))]);
        assert_eq!(of(without).map(|handlers| handlers.rows().len()), Some(0));
        let method = read(&world, address).unwrap();
        assert_eq!([1, 5, 9].map(|bci| method.handlers_at(bci).unwrap().rows().len()), [2, 2, 0]);
    }
}

/// Up to 8, looking a class up puts its address where its name's was.
#[test]
fn a_class_of_a_handler_that_was_looked_up_has_its_name_in_8() {
    let mut world = World::new(8);
    let refused = world.class("com/shop/Refused", None).address;
    let mut class = world.class("com/shop/Cart", None);
    let rows = [([0, 5, 12], Some("com/shop/Other"))];
    let address = world.method_with_handlers(&mut class, "add", 20, &[], &rows);
    let names = |world: &World| {
        let handlers = read(world, address).unwrap().handlers.unwrap();
        handlers.rows().iter().map(|row| row.class.as_deref().map(str::to_owned)).collect::<Vec<_>>()
    };
    assert_eq!(names(&world), [Some("com.shop.Other".to_owned())]);
    // The text, then the class.
    let pool = class_pool(&world, address);
    world.copy.write_u64(pool + world.tables.type_size("ConstantPool").unwrap() + 2 * 8, refused);
    assert_eq!(names(&world), [Some("com.shop.Refused".to_owned())]);
}

#[test]
fn an_exception_table_that_names_no_class_is_not_known() {
    let mut world = World::new(21);
    let mut class = world.class("com/shop/Cart", None);
    let rows = [([0, 5, 12], Some("java/io/IOException"))];
    let address = world.method_with_handlers(&mut class, "add", 20, &[], &rows);
    assert!(read(&world, address).unwrap().handlers.is_some());
    let tags = world.copy.u64(class_pool(&world, address) + world.offset("ConstantPool", "_tags")).unwrap();
    // The text, then the class.
    world.copy.write(tags + world.offset("Array<u1>", "_data") + 2, &[9]);
    assert_eq!(read(&world, address).unwrap().handlers, None);
}

fn class_pool(world: &World, method: u64) -> u64 {
    world.copy.u64(world.const_method(method) + world.offset("ConstMethod", "_constants")).unwrap()
}

#[test]
fn a_class_without_lines_or_source_has_none() {
    for release in RELEASES {
        let mut world = World::new(release);
        let mut class = world.class("com/shop/Main$$Lambda+0x00007f0011001000", None);
        let address = world.method(&mut class, "run", 9, &[]);
        let method = read(&world, address).unwrap();
        assert_eq!(
            (method.class.as_str(), method.file.as_deref(), method.line(0)),
            ("com.shop.Main$$Lambda", None, None)
        );
    }
}

#[test]
fn long_names_are_read_whole_up_to_a_limit() {
    let mut world = World::new(21);
    let mut class = world.class(&"x".repeat(300), None);
    let address = world.method(&mut class, &"y".repeat(60_000), 9, &[]);
    let method = read(&world, address).unwrap();
    assert_eq!((method.class.len(), method.name().len()), (300, MAX_TEXT_BYTES));
}

#[test]
fn what_is_no_method_is_not_named() {
    for release in RELEASES {
        let mut world = World::new(release);
        let mut class = world.class("com/shop/Cart", None);
        let address = world.method(&mut class, "add", 9, &[]);
        for wrong in [0, 8, address + 4, address + 8, class.address, world.const_method(address), 1 << 60, u64::MAX - 7]
        {
            assert!(read(&world, wrong).is_err(), "{release}: {wrong:#x}");
        }
    }
}

#[test]
fn a_class_that_does_not_own_the_pool_is_not_believed() {
    for release in RELEASES {
        let mut world = World::new(release);
        let (mut class, other) = (world.class("com/shop/Cart", None), world.class("com/shop/Other", None));
        let address = world.method(&mut class, "add", 9, &[]);
        world.copy.write_u64(class.address + world.offset("InstanceKlass", "_constants"), other.address);
        assert!(read(&world, address).is_err());
    }
}

#[test]
fn a_pool_of_its_own_is_believed_where_the_class_has_another() {
    for release in RELEASES {
        let mut world = World::new(release);
        let class = world.class("java/lang/invoke/MethodHandle", Some("MethodHandle.java"));
        let mut own = world.class("unused", None);
        let address = world.method(&mut own, "linkToStatic", 0, &[]);
        let pool = class_pool(&world, address);
        world.copy.write_u64(pool + world.offset("ConstantPool", "_pool_holder"), class.address);
        let method = read(&world, address).unwrap();
        assert_eq!(method.class, "java.lang.invoke.MethodHandle");
        assert_eq!(method.file.as_deref(), Some("MethodHandle.java"));
    }
}

#[test]
fn opcodes_are_those_of_the_class_file_or_not_known() {
    let mut world = World::new(25);
    let mut class = world.class("com/shop/Cart", None);
    let address = world.method(&mut class, "add", 9, &[]);
    let mut method = read(&world, address).unwrap();
    // As written, `_fast_invokevfinal`, `_invokehandle`, `_fast_aldc`, `_fast_igetfield`, a breakpoint.
    method.code = [0xb9, 0xe3, 0xe9, 0xe6, 0xd0, 0xca].into();
    let opcodes: Vec<_> = (0..7).map(|bci| method.opcode_at(bci)).collect();
    assert_eq!(opcodes, [Some(0xb9), Some(0xb6), Some(0xb6), Some(0x12), Some(0xb4), None, None]);
}

/// A release whose opcodes nobody has looked up, and which has no symbols.
#[test]
fn without_its_own_opcodes_a_method_tells_those_of_the_class_file_alone() {
    let mut world = World::new(28);
    let mut class = world.class("com/shop/Cart", None);
    let address = world.method(&mut class, "add", 9, &[]);
    let mut method = read(&world, address).unwrap();
    method.code = [0xb9, 0xe3].into();
    assert_eq!([0, 1].map(|bci| method.opcode_at(bci)), [Some(0xb9), None]);
}

#[test]
fn a_missing_field_is_named() {
    for (owner, name) in
        [("Method", "_constMethod"), ("ConstantPool", "_tags"), ("Symbol", "_length"), ("Klass", "_name")]
    {
        let mut world = World::new(25);
        world.tables.remove(owner, name);
        let error = MetadataLayout::from_tables(&world.copy, &world.tables).unwrap_err();
        assert_eq!(error.to_string(), format!("the JVM's tables have no `{owner}::{name}`"));
    }
}
