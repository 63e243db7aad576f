//! Reads made-up code caches of every release.

use super::*;
use crate::jvm::{
    vmstructs::Field,
    world::{CALL_STUB_RETURN, CODE_BYTES, INTERPRETER, RELEASES, World},
};

/// A JVM with one method that was compiled, and the blob's address.
fn compiled(release: u32) -> (World, u64) {
    let mut world = World::new(release);
    let mut class = world.class("com/shop/Cart", None);
    let method = world.method(&mut class, "add", 10, &[]);
    let blob = world.nmethod(42, method, &[]);
    (world, blob)
}

fn read(world: &World) -> CodeCache {
    CodeCache::read(&world.copy, &world.tables).unwrap()
}

#[test]
fn blobs_are_found_from_any_address_in_them() {
    for release in RELEASES {
        let (world, address) = compiled(release);
        let cache = read(&world);
        let blob = cache.blob_at(&world.copy, address).unwrap();
        assert_eq!((blob.address, blob.kind, blob.frame_size), (address, BlobKind::Method, 4));
        assert_eq!((blob.code_begin - address, blob.code_end - blob.code_begin), (world.code_offset(), CODE_BYTES));
        let compiled = blob.compiled.unwrap();
        assert_eq!((compiled.compile_id, compiled.level, compiled.osr_bci), (42, 4, None));
        assert_eq!(compiled.verified_entry, blob.code_begin + 16);
        assert_eq!(compiled.deopt_handler, blob.code_begin + 0xf0);
        for pc in (blob.code_begin..address + blob.size).step_by(7) {
            assert_eq!(cache.blob_at(&world.copy, pc).unwrap(), blob, "{release}: {pc:#x}");
        }
        assert_eq!(cache.blob_at(&world.copy, address - 40).unwrap_err(), Reason::Free);
        assert_eq!(cache.blob_at(&world.copy, INTERPRETER[0] + 100).unwrap().name, "Interpreter");
    }
}

#[test]
fn where_no_code_is_a_reason_is() {
    for release in RELEASES {
        let (mut world, address) = compiled(release);
        let cache = read(&world);
        assert_eq!(cache.blob_at(&world.copy, 0x1000).unwrap_err(), Reason::NoHeap);
        assert_eq!(cache.blob_at(&world.copy, address + 0x4000).unwrap_err(), Reason::Free);
        // Reserved, but not even the segment map is there.
        assert_eq!(cache.blob_at(&world.copy, INTERPRETER[0] + 0xf_ffff).unwrap_err(), Reason::Free);
        world.free_last(address);
        assert_eq!(cache.blob_at(&world.copy, address).unwrap_err(), Reason::Free);
    }
}

#[test]
fn a_snapshot_has_every_blob_in_use() {
    for release in RELEASES {
        let (mut world, address) = compiled(release);
        let stub = world.block(world.code_offset() + 64, "StubRoutines (1)");
        let cache = read(&world);
        let found = |world: &World| {
            let (blobs, wrong) = cache.snapshot(&world.copy).unwrap();
            assert_eq!(wrong, 0);
            blobs.into_iter().map(|blob| blob.address).skip(1).collect::<Vec<_>>()
        };
        assert_eq!(found(&world), [address, stub]);
        world.free_last(stub);
        assert_eq!(found(&world), [address]);
    }
}

#[test]
fn the_kernel_side_gets_every_field() {
    for release in RELEASES {
        let (world, _) = compiled(release);
        let cache = read(&world);
        let layout = cache.layout();
        assert_eq!((layout.known, layout.regions, layout.interpreter), (1, 1, INTERPRETER));
        assert_eq!((layout.call_stub_return, layout.return_barrier), (CALL_STUB_RETURN, 0));
        let new = release >= 23;
        assert_eq!(layout.bytecode_pointer_words, if release == 8 { 7 } else { 8 }, "{release}");
        let widths = [
            layout.blob_frame_complete_bytes,
            layout.blob_code_begin_bytes,
            layout.blob_code_end_bytes,
            layout.nmethod_deopt_handler_bytes,
            layout.nmethod_verified_entry_bytes,
        ];
        let expected = match release {
            8 => [4, 4, 4, 4, 8],
            28.. => [4, 4, 4, 4, 2],
            23.. => [2, 4, 4, 4, 2],
            _ => [4, 8, 8, 8, 8],
        };
        assert_eq!(widths, expected, "{release}");
        assert_eq!(layout.heap_block_bytes, if new { 8 } else { 16 });
        let [region] = cache.regions()[..] else { panic!("one heap, one region") };
        assert_eq!((region.start, region.segment_shift, region.kind), (INTERPRETER[0], 7, RegionKind::CodeHeap as u32));
        assert!(region.end > region.start && region.bias == cache.heaps()[0].segment_map);
    }
}

#[test]
fn a_missing_field_is_named() {
    for (owner, name) in [
        ("nmethod", "_compile_id"),
        ("nmethod", "_orig_pc_offset"),
        ("CodeBlob", "_frame_size"),
        ("CodeHeap", "_segmap"),
        ("CodeCache", "_heaps"),
        ("StubQueue", "_buffer_limit"),
        ("HeapBlock::Header", "_used"),
        ("StubRoutines", "_call_stub_return_address"),
    ] {
        // 8 has one heap without an array.
        for release in RELEASES.into_iter().filter(|release| *release > 8 || name != "_heaps") {
            let (mut world, _) = compiled(release);
            world.tables.remove(owner, name);
            let error = CodeCache::read(&world.copy, &world.tables).unwrap_err();
            assert_eq!(error.to_string(), format!("the JVM's tables have no `{owner}::{name}`"));
            assert!(error.hint().unwrap().contains("without Java frames"));
        }
    }
}

#[test]
fn nonsense_in_the_tables_is_named() {
    let (mut world, _) = compiled(17);
    world.tables.set("nmethod", "_compile_id", Field::Offset(1 << 40));
    let error = CodeCache::read(&world.copy, &world.tables).unwrap_err();
    assert!(error.to_string().contains("`nmethod::_compile_id`"), "{error}");
}

#[test]
fn a_layout_that_makes_nonsense_of_the_code_is_not_believed() {
    for release in RELEASES {
        let (mut world, _) = compiled(release);
        let name = if release >= 23 { "_verified_entry_offset" } else { "_verified_entry_point" };
        let level = world.offset("nmethod", "_comp_level");
        world.tables.set("nmethod", name, Field::Offset(level - 1));
        let error = CodeCache::read(&world.copy, &world.tables).unwrap_err();
        assert!(matches!(&error, Error::Absurd { field, .. } if field == "nmethod::_verified_entry_point"), "{error}");
    }
}

#[test]
fn a_jvm_that_has_no_heaps_yet_is_not_ready() {
    for (release, name) in [(21, "_heaps"), (8, "_heap")] {
        let (mut world, _) = compiled(release);
        let heaps = world.tables.static_address("CodeCache", name).unwrap();
        world.copy.write_u64(heaps, 0);
        assert!(matches!(CodeCache::read(&world.copy, &world.tables), Err(Error::NotReady)));
    }
}

/// A JVM that starts was taken for one of an unknown layout when it was looked at between the two, and had no Java frames.
#[test]
fn a_heap_without_memory_is_not_ready_and_one_of_nonsense_is_named() {
    for release in RELEASES {
        let (mut world, _) = compiled(release);
        let memory = world.code_heap() + world.offset("CodeHeap", "_memory");
        let [low, end] = ["_low", "_high_boundary"].map(|name| memory + world.offset("VirtualSpace", name));
        world.copy.write_u64(end, 0);
        assert!(matches!(CodeCache::read(&world.copy, &world.tables), Err(Error::Absurd { .. })), "{release}");
        world.copy.write_u64(low, 0);
        assert!(matches!(CodeCache::read(&world.copy, &world.tables), Err(Error::NotReady)), "{release}");
    }
}

#[test]
fn code_of_unloaded_classes_is_no_sign_of_a_wrong_layout() {
    for release in RELEASES {
        let mut world = World::new(release);
        for compile_id in 1..30 {
            world.nmethod(compile_id, 0, &[]);
        }
        assert_eq!(read(&world).snapshot(&world.copy).unwrap().0.len(), 30, "with the interpreter");
    }
}
