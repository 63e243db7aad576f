//! What was written comes back; what is cut, damaged or foreign is refused.

use super::{write::end, *};
use crate::heap::{
    build::Builder,
    contents::Value,
    graph::{Root, RootKind, Via},
};

fn sample() -> Graph {
    let mut builder = Builder::new();
    let class = builder.class("com.shop.Order".to_owned());
    let array = builder.class("byte[]".to_owned());
    let name = builder.name("next");
    builder.object(8, class, 3, None);
    builder.object(16, array, 4, Some(9));
    builder.object(24, class, 3, None);
    builder.class_object(class, 2);
    builder.content(1, 5, 64);
    builder.content(2, 5, 0);
    builder.value(5, Value { first: b"DE".to_vec(), bytes: 2 });
    builder.from(Some(0));
    builder.reference(1, Via::Field(name));
    builder.reference(2, Via::Element(70_000));
    builder.root(Root { node: 0, kind: RootKind::StackLocal, thread: 7, frame: 2, method: 99 });
    builder.graph().threads.insert(7, "main".to_owned());
    builder.graph().methods.insert(99, "Shop.main".to_owned());
    builder.finish()
}

fn written() -> Vec<u8> {
    let mut bytes = Vec::new();
    let origin = Origin { pid: 4, command: "Shop".to_owned(), ..Origin::default() };
    write(&sample(), &origin, Some(&Facts { pause_ns: 3, ..Facts::default() }), &mut bytes).expect("memory");
    bytes
}

#[test]
fn a_file_gives_back_what_was_written() {
    let bytes = written();
    let read = read(&bytes[..], bytes.len() as u64).expect("a snapshot");
    let graph = sample();
    assert_eq!(format!("{:?}", read.graph), format!("{graph:?}"));
    assert_eq!((read.origin.pid, read.cost.map(|cost| cost.pause_ns)), (4, Some(3)));
}

#[test]
fn cut_damaged_and_foreign_files_are_refused() {
    let bytes = written();
    for len in 0..bytes.len() {
        assert!(read(&bytes[..len], len as u64).is_err(), "cut at {len}");
    }
    for at in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[at] ^= 0x40;
        // Numbers and lengths of sections have no checksum of their own: a section of another number is passed over.
        if let Ok(stored) = read(&bytes[..], bytes.len() as u64) {
            assert!(stored.graph.len() == 3, "byte {at}");
        }
    }
    assert!(matches!(read(&b"JAVA PROFILE 1.0.2"[..], 18), Err(Error::NoSnapshot)));
}

/// The sections of the sample one after another, each behind its number and its length, not packed.
fn bare() -> Vec<u8> {
    let graph = sample();
    let mut bare = Vec::new();
    let mut push = |number: u32, bytes: &[u8]| {
        bare.extend(number.to_le_bytes());
        bare.extend(u32::try_from(bytes.len()).expect("short").to_le_bytes());
        bare.extend_from_slice(bytes);
    };
    push(CLASSES, b"\x01A\0\0\x01B\0\0\x01C\0\x02");
    push(NAMES, b"\x04next");
    push(OBJECTS, &[1, 3, 0, 2, 4, 10, 1, 3, 0]);
    push(REFERENCES, &[2, 2, 0, 4, 1, 0, 0]);
    push(ROOTS, &[0, 3, 7, 2, 99]);
    push(THREADS, b"\x07\x04main");
    push(CONTENTS, &[2, 1, 0, 1, 0, 1, 1, 64]);
    assert_eq!(graph.len(), 3);
    bare
}

/// Packs what [`bare`] makes, damaged or not, into a file.
fn repacked(mut bare: &[u8]) -> Vec<u8> {
    let mut file = [&MAGIC[..], &VERSION.to_le_bytes()].concat();
    while let Some((head, rest)) = bare.split_first_chunk::<8>() {
        let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let len = (word(4) as usize).min(rest.len());
        end(&stored(&rest[..len]), word(0), &mut file).expect("memory");
        bare = &rest[len..];
    }
    end(&stored(&[]), END, &mut file).expect("memory");
    file
}

/// As deflate passes bytes on that it does not pack: what packs them takes half a megabyte for each section, and most of a fuzzer's time.
fn stored(bytes: &[u8]) -> Vec<u8> {
    const LAST: u8 = 1;
    let len = u16::try_from(bytes.len()).expect("no input is as long as a block may be");
    [&[LAST], &len.to_le_bytes()[..], &(!len).to_le_bytes(), bytes].concat()
}

#[test]
fn sections_by_hand_are_read() {
    let file = repacked(&bare());
    let stored = read(&file[..], file.len() as u64).expect("a snapshot");
    assert_eq!((stored.graph.len(), stored.graph.to.len(), stored.graph.roots.len()), (3, 2, 1));
}

#[test]
fn fuzz_heap_file() {
    let samples = [written(), bare()];
    crate::fuzz::each("heap_file", 64 << 20, |dice| {
        let bytes = crate::fuzz::damaged(dice, &samples);
        // Damage to what is packed is seen by its checksum, so what is within is damaged as well.
        let bytes = if dice.once_in(2) { repacked(&bytes) } else { bytes };
        if let Ok(stored) = read(&bytes[..], bytes.len() as u64) {
            crate::heap::census::Census::of(&stored.graph);
            crate::heap::hprof::write::tests::write_anything(&stored.graph);
            let analysis = crate::heap::summary::Analysis::of(stored.graph);
            analysis.summary(Origin::default(), None, true, 5);
            crate::heap::assertion::tests::ask_anything(&analysis);
        }
    });
}
