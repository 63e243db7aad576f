//! Trees as indented lines.

use crate::{
    report::{Node, Tree},
    text::escape,
    view::{format, name},
};

/// The lines of a tree, largest parts first.
pub(in crate::view) fn lines(tree: &Tree, width: usize, limit: usize) -> Vec<String> {
    let mut lines = Vec::new();
    branch(&tree.root, tree, 0, &mut lines, width);
    let hidden = lines.len().saturating_sub(limit);
    lines.truncate(limit);
    if hidden > 0 {
        lines.push(format!("    … {} more nodes", format::count(hidden as u64)));
    }
    lines
}

/// The lines of a node and of what is below it, as far as an eye follows.
fn branch(node: &Node, tree: &Tree, depth: usize, lines: &mut Vec<String>, width: usize) {
    const DEEPEST: usize = 24;
    let share = if tree.root.value > 0.0 { node.value / tree.root.value * 100.0 } else { 0.0 };
    let lead =
        format!("{:>11} {:>8}  {}", format::float(node.value, tree.unit), format::percent(share), "  ".repeat(depth));
    let label = name::fit(&node.label, width.saturating_sub(escape::width(&lead)).max(8));
    lines.push(lead + &label);
    if depth == DEEPEST {
        return;
    }
    let mut children: Vec<_> = node.children.iter().collect();
    children.sort_by(|a, b| b.value.total_cmp(&a.value));
    for child in children {
        branch(child, tree, depth + 1, lines, width);
    }
}
