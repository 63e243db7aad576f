//! Roots that are constants in compiled code, as JVMs before 14 tell of them among those of their own.
//!
//! With collectors that scan code for young objects, `VM_HeapWalkOperation::collect_simple_roots` of HotSpot reports each constant in compiled
//! code as a root of the kind "other" (`CodeCache::scavenge_root_nmethods_do`):
//! <https://github.com/openjdk/jdk11u/blob/jdk-11.0.13%2B8/src/hotspot/share/prims/jvmtiTagMap.cpp>. Code holds nothing: where an object
//! goes, code with it goes too. A constant is what a `static final` field holds, so whatever such fields hold would seem to be the JVM's.

use super::{
    dominators::{Next, successor},
    graph::{Graph, Node, RootKind},
};

/// The first release that reports none.
pub const NONE_SINCE: u32 = 14;

/// Leaves out roots of the kind "other" of what other roots lead to. What nothing else leads to keeps its root.
pub fn leave_out(graph: &mut Graph) {
    let is_other = |kind: RootKind| matches!(kind, RootKind::Other);
    let mut is_held = vec![false; graph.len()];
    let mut stack: Vec<(Node, usize)> = Vec::new();
    for root in graph.roots.iter().filter(|root| !is_other(root.kind)) {
        enter(root.node, &mut is_held, &mut stack);
        while let Some((node, at)) = stack.last_mut() {
            let next = successor(graph, *node, *at);
            *at += 1;
            match next {
                Next::End => drop(stack.pop()),
                Next::Nowhere => {}
                Next::To(to) => enter(to, &mut is_held, &mut stack),
            }
        }
    }
    let is_held = |node: Node| is_held.get(node as usize).copied().unwrap_or(false);
    graph.roots.retain(|root| !is_other(root.kind) || !is_held(root.node));
}

fn enter(node: Node, is_held: &mut [bool], stack: &mut Vec<(Node, usize)>) {
    if let Some(is_held @ false) = is_held.get_mut(node as usize) {
        *is_held = true;
        stack.push((node, 0));
    }
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
