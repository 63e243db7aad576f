//! Reads made-up compiled code of every release.

use super::*;
use crate::jvm::{
    code_cache::CodeCache,
    metadata::MetadataLayout,
    world::{RELEASES, World},
};

const NATIVE: Reason = Reason::Nonsense("nmethod");

fn layout(world: &World) -> NmethodLayout {
    let metadata = MetadataLayout::from_tables(&world.copy, &world.tables).unwrap();
    NmethodLayout::from_tables(&world.tables, &metadata).unwrap()
}

fn read(world: &World, blob: u64) -> Result<DebugInfo, Reason> {
    let cache = CodeCache::read(&world.copy, &world.tables).unwrap();
    DebugInfo::read(&world.copy, &layout(world), &cache.blob_at(&world.copy, blob).unwrap())
}

/// Code of `a`, into which `b` and `c` are inlined.
fn inlined(release: u32) -> (World, DebugInfo, [u64; 3]) {
    let mut world = World::new(release);
    let mut class = world.class("A", None);
    let [a, b, c] = ["a", "b", "c"].map(|name| world.method(&mut class, name, 400, &[]));
    let rows: [(i32, &[(u64, u32)]); 4] =
        [(0x10, &[(a, 1)]), (0x20, &[(c, 7), (b, 300), (a, 9)]), (0x21, &[(b, 4), (a, 9)]), (0x40, &[(a, 200)])];
    let blob = world.nmethod(5, a, &rows);
    let info = read(&world, blob).unwrap();
    (world, info, [a, b, c])
}

fn scope(method: u64, bci: u32) -> Scope {
    Scope { method, bci: Some(bci) }
}

#[test]
fn a_return_address_leads_to_its_own_row() {
    for release in RELEASES {
        let (_, info, [a, b, c]) = inlined(release);
        let at = |offset| info.scopes_at(info.code_begin + offset, true);
        assert_eq!(at(0x10), [scope(a, 1)], "{release}");
        assert_eq!(at(0x20), [scope(c, 7), scope(b, 300), scope(a, 9)]);
        assert_eq!(at(0x21), [scope(b, 4), scope(a, 9)]);
        assert_eq!(at(0x22), [scope(a, 200)], "the next one where there is none");
    }
}

#[test]
fn a_sampled_address_leads_to_the_row_behind_it() {
    for release in RELEASES {
        let (_, info, [a, b, c]) = inlined(release);
        let at = |offset| info.scopes_at(info.code_begin + offset, false);
        assert_eq!(at(0), [scope(a, 1)]);
        assert_eq!(at(0x0f), [scope(a, 1)]);
        assert_eq!(at(0x10), [scope(c, 7), scope(b, 300), scope(a, 9)]);
        assert_eq!(at(0x20), [scope(b, 4), scope(a, 9)]);
    }
}

#[test]
fn outside_of_all_rows_the_compiled_method_is_known() {
    for release in RELEASES {
        let (_, info, [a, ..]) = inlined(release);
        let outermost = [Scope { method: a, bci: None }];
        assert_eq!(info.scopes_at(info.code_begin + 0x41, true), outermost);
        assert_eq!(info.scopes_at(info.code_begin - 1, true), outermost);
        assert_eq!(info.scopes_at(u64::MAX, false), outermost);
    }
}

#[test]
fn all_methods_are_known_once() {
    for release in RELEASES {
        let (_, info, mut methods) = inlined(release);
        methods.sort_unstable();
        assert_eq!(info.methods(), methods);
    }
}

#[test]
fn tables_of_absurd_size_are_refused() {
    let (mut world, info, _) = inlined(25);
    let blob = info.code_begin - world.code_offset();
    world.copy.write_u32(blob + world.offset("nmethod", "_immutable_data_size"), u32::MAX);
    assert_eq!(read(&world, blob).unwrap_err(), Reason::Nonsense("nmethod::_scopes_data_offset"));
    world.copy.write_u32(blob + world.offset("nmethod", "_immutable_data_size"), 0);
    assert_eq!(read(&world, blob).unwrap_err(), NATIVE);
    let (mut world, info, _) = inlined(17);
    let blob = info.code_begin - world.code_offset();
    world.copy.write_u32(blob + world.offset("nmethod", "_dependencies_offset"), u32::MAX);
    assert_eq!(read(&world, blob).unwrap_err(), NATIVE);
}

#[test]
fn scopes_that_call_themselves_end() {
    let (_, mut info, [a, ..]) = inlined(21);
    // Caller 1, method 1, bytecode 0: the scope at 1 is its own caller.
    info.scopes = [9, 2, 2, 2, 2, 2].into();
    info.rows = [Row { pc_offset: 0x10, scope: 1 }, Row { pc_offset: i32::MAX, scope: 0 }].into();
    assert_eq!(info.scopes_at(info.code_begin + 0x10, true), [Scope { method: a, bci: None }]);
}

#[test]
fn a_missing_field_is_named() {
    for (release, name) in [(11, "_metadata_offset"), (17, "_dependencies_offset"), (25, "_immutable_data_size")] {
        let mut world = World::new(release);
        let metadata = MetadataLayout::from_tables(&world.copy, &world.tables).unwrap();
        world.tables.remove("nmethod", name);
        let error = NmethodLayout::from_tables(&world.tables, &metadata).unwrap_err();
        assert_eq!(error.to_string(), format!("the JVM's tables have no `nmethod::{name}`"));
    }
}
