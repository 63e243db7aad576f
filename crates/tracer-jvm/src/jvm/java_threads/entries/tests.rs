//! Collections in a heap that is written by hand, and damaged.

use super::{
    super::{
        named_fields::of_objects,
        reader::Classes,
        virtual_threads::tests::{METADATA, PLACES},
    },
    *,
};
use crate::{
    fuzz::{self, Metered},
    jvm::peek::copy::Copy,
};

/// `Klass*`s.
const LIST: u64 = 0x5000;
const MAP: u64 = 0x5100;
const SET: u64 = 0x5200;
const CONCURRENT: u64 = 0x5300;
const ARRAY: u64 = 0x5400;
const CELL: u64 = 0x5500;
const RING: u64 = 0x5600;
const COPIED: u64 = 0x5700;
const SKIPS: u64 = 0x5800;
const SUM: u64 = 0x5900;
const PROGRAM: u64 = 0x5a00;
const WRAPPER: u64 = 0x5b00;
const CACHE: u64 = 0x5c00;
const SEGMENT: u64 = 0x5d00;
const NAMES: [(u64, &str); 14] = [
    (LIST, "java.util.ArrayList"),
    (MAP, "java.util.HashMap"),
    (SET, "java.util.HashSet"),
    (CONCURRENT, "java.util.concurrent.ConcurrentHashMap"),
    (ARRAY, "java.lang.Object[]"),
    (CELL, "java.util.concurrent.ConcurrentHashMap$CounterCell"),
    (RING, "java.util.ArrayDeque"),
    (COPIED, "java.util.concurrent.CopyOnWriteArrayList"),
    (SKIPS, "java.util.concurrent.ConcurrentSkipListMap"),
    (SUM, ADDER),
    (PROGRAM, "com.shop.Registry"),
    (WRAPPER, "java.util.Collections$SynchronizedMap"),
    (CACHE, "com.google.common.cache.LocalCache"),
    (SEGMENT, "com.google.common.cache.LocalCache$Segment"),
];
/// Where objects have fields, and objects.
const FIELD: u64 = 0x10;
const SECOND: u64 = 0x18;
const THIRD: u64 = 0x1c;
const OBJECTS: u64 = 0x10_0000;

fn at(number: u64) -> u64 {
    OBJECTS + number * 0x80
}

/// One of each, by its number.
fn memory() -> Copy {
    let mut copy = Copy::default();
    let objects =
        [LIST, MAP, SET, CONCURRENT, ARRAY, CELL, CELL, RING, ARRAY, COPIED, SKIPS, SUM, PROGRAM, WRAPPER, MAP, CACHE];
    let objects = objects.into_iter().chain([ARRAY, SEGMENT, SEGMENT]);
    for (number, klass) in (0..).zip(objects) {
        copy.write(at(number), &[0; 0x80]);
        copy.write_u32(at(number) + 8, u32::try_from(klass).unwrap());
    }
    let mut set = |object: u64, offset: u64, value: u64| {
        copy.write_u32(at(object) + offset, u32::try_from(value).unwrap());
    };
    set(0, FIELD, 7);
    set(1, FIELD, 9);
    set(2, FIELD, at(1));
    set(3, FIELD, 5);
    set(3, SECOND, at(4));
    // Four cells, two of which are there.
    set(4, 12, 4);
    set(4, 16, at(5));
    set(4, 24, at(6));
    set(5, FIELD, 10);
    set(7, FIELD, 6);
    set(7, SECOND, 2);
    set(7, THIRD, at(8));
    set(8, 12, 8);
    set(9, FIELD, at(8));
    set(10, FIELD, at(11));
    set(11, FIELD, 2);
    set(11, SECOND, at(4));
    set(13, FIELD, at(2));
    set(14, FIELD, u64::from(u32::MAX));
    set(15, FIELD, at(16));
    set(16, 12, 2);
    set(16, 16, at(17));
    set(16, 20, at(18));
    set(17, FIELD, 30);
    set(18, FIELD, 4);
    copy.write_u64(at(6) + FIELD, (-3_i64).cast_unsigned());
    copy
}

/// How many entries an object has.
fn found(memory: &impl Peek, object: u64) -> Option<u64> {
    let known = [
        of_objects(LIST, "size", false, FIELD),
        of_objects(MAP, "size", false, FIELD),
        of_objects(SET, "map", true, FIELD),
        of_objects(CONCURRENT, "baseCount", false, FIELD),
        of_objects(CONCURRENT, "counterCells", true, SECOND),
        of_objects(CELL, "value", false, FIELD),
        of_objects(RING, "head", false, FIELD),
        of_objects(RING, "tail", false, SECOND),
        of_objects(RING, "elements", true, THIRD),
        of_objects(COPIED, "array", true, FIELD),
        of_objects(SKIPS, "adder", true, FIELD),
        of_objects(SUM, "base", false, FIELD),
        of_objects(SUM, "cells", true, SECOND),
        of_objects(WRAPPER, "m", true, FIELD),
        of_objects(CACHE, "segments", true, FIELD),
        of_objects(SEGMENT, "count", false, FIELD),
    ];
    let (fields, classes) = (NamedFields::with(known.to_vec()), Classes::with(&NAMES));
    let reader = Reader { memory, metadata: &METADATA, places: &PLACES, classes: &classes };
    let mut kinds = Kinds::default();
    let Kind::Collection(says, declared) = kinds.of(&reader, reader.klass(object)?)? else { return None };
    kinds.entries(&fields, &reader, object, (says, declared))
}

#[test]
fn each_collection_says_how_many_entries_it_has() {
    let memory = memory();
    let told = [0, 1, 2, 3, 7, 9, 10, 13, 15].map(|number| found(&memory, at(number)));
    // Of ten and of minus three in cells.
    assert_eq!(told, [7, 9, 9, 5 + 7, 4, 8, 2 + 7, 9, 30 + 4].map(Some));
    assert_eq!(found(&memory, at(11)), None, "a number is no collection");
    assert_eq!(found(&memory, at(12)), None);
    assert_eq!(found(&memory, at(14)), None, "no collection has fewer entries than none");
}

#[test]
fn what_leads_back_to_itself_or_makes_no_sense_has_no_entries() {
    let mut circle = memory();
    circle.write_u32(at(13) + FIELD, u32::try_from(at(13)).unwrap());
    assert_eq!(found(&circle, at(13)), None);
    let mut ring = memory();
    ring.write_u32(at(7) + FIELD, 8);
    assert_eq!(found(&ring, at(7)), None, "its head is behind its end");
    let mut cells = memory();
    cells.write_u64(at(3) + FIELD, (-100_i64).cast_unsigned());
    assert_eq!(found(&cells, at(3)), None);
    cells.write_u32(at(4) + 12, u32::MAX);
    cells.write_u64(at(3) + FIELD, 1);
    assert_eq!(found(&Metered::new(cells, 1 << 20), at(3)), Some(8), "an array is not so long");
}

#[test]
fn fuzz_collection_entries() {
    let sound = memory();
    fuzz::each("collection_entries", 1 << 20, |dice| {
        let mut copy = sound.clone();
        fuzz::damage(dice, &mut copy);
        let _: Option<u64> = found(&Metered::new(copy, 1 << 20), at(dice.below(16) as u64));
    });
}
