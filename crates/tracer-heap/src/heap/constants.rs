//! Roots that are constants in compiled code, as JVMs before 14 tell of them among those of their own.
//!
//! With collectors that scan code for young objects, `VM_HeapWalkOperation::collect_simple_roots` of HotSpot reports each constant in compiled
//! code as a root of the kind "other" (`CodeCache::scavenge_root_nmethods_do`):
//! <https://github.com/openjdk/jdk11u/blob/jdk-11.0.13%2B8/src/hotspot/share/prims/jvmtiTagMap.cpp>. Code holds nothing: where an object
//! goes, code with it goes too. A constant is what a `static final` field holds, so whatever such fields hold would seem to be the JVM's.

use super::{
    dominators::led_to,
    graph::{Graph, Root, RootKind},
};

/// The first release that reports none.
const NONE_SINCE: u32 = 14;
/// Collectors that scan code for young objects.
const SCANNING: [&str; 3] = ["Parallel", "Serial", "CMS"];

/// Whether a JVM of a release, 0 where it is not known, reports them with a collector.
pub fn are_told(release: u32, collector: &str) -> bool {
    (1..NONE_SINCE).contains(&release) && SCANNING.contains(&collector)
}

/// Leaves out roots of the kind "other" of what other roots lead to. What nothing else leads to keeps its root.
pub fn leave_out(graph: &mut Graph) {
    let is_other = |root: &Root| root.kind == RootKind::Other;
    let is_held = led_to(graph, graph.roots.iter().filter(|root| !is_other(root)).map(|root| root.node));
    graph.roots.retain(|root| !is_other(root) || is_held.get(root.node as usize) != Some(&true));
}

#[cfg(test)]
mod tests {
    use super::{super::sample::Planter, *};

    #[test]
    fn a_constant_of_code_is_no_root_where_a_static_field_holds_it() {
        let mut plant = Planter::new();
        let classes = plant.class("java.lang.Class");
        let [map, error] = ["java.util.HashMap", "java.lang.OutOfMemoryError"].map(|name| plant.class(name));
        let (_, mirror) = plant.loaded("com.shop.Registry", classes);
        let (entries, within, made_by_jvm) = (plant.object(map, 48), plant.object(map, 48), plant.object(error, 40));
        plant.root(mirror, RootKind::SystemClass);
        plant.statics(mirror, "ENTRIES", entries);
        plant.field(entries, "first", within);
        for node in [entries, within, made_by_jvm] {
            plant.root(node, RootKind::Other);
        }
        let mut graph = plant.builder.finish();
        leave_out(&mut graph);
        let roots: Vec<_> = graph.roots.iter().map(|root| (root.node, root.kind)).collect();
        assert_eq!(roots, [(mirror, RootKind::SystemClass), (made_by_jvm, RootKind::Other)]);
    }
}
