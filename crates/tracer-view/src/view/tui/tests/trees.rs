//! Trees of profiles: what unfolds, what a filter and a newer report keep, and when stacks are walked.

use super::*;

#[test]
fn a_tree_unfolds_along_what_does_not_branch_and_folds_again() {
    let mut tui = tui();
    press(&mut tui, "2");
    let before = screen(&tui, 100, 24);
    assert!(before.contains("▸ libc.so.6!start_thread") && !before.contains("java.lang.Thread.run"), "{before}");
    press(&mut tui, "\n");
    let unfolded = screen(&tui, 100, 24);
    assert!(unfolded.contains("▾ libjvm.so!thread_native_entry") && unfolded.contains("▸ java.lang.Thread.run:840"));
    press(&mut tui, "↓←←");
    assert_eq!(tui.state.row(), 0, "folded, then up to the parent");
    press(&mut tui, "\n");
    assert_eq!(screen(&tui, 100, 24), before);
    press(&mut tui, "→");
    assert_eq!(screen(&tui, 100, 24), unfolded, "all of it again");
}

#[test]
fn filter_unfolds_what_leads_to_a_match() {
    let mut tui = tui();
    press(&mut tui, "2/futex\n");
    let shown = screen(&tui, 100, 24);
    assert!(shown.contains("kernel!futex_wait") && !shown.contains("Cart.add"), "{shown}");
    press(&mut tui, "\x1b/nowhere\n");
    assert!(screen(&tui, 100, 24).contains("no frame matches the filter"));
    press(&mut tui, "\x1b");
    assert!(!screen(&tui, 100, 24).contains("futex_wait"));
}

#[test]
fn a_newer_report_keeps_the_tree_unfolded_and_the_row_selected() {
    let mut tui = tui();
    press(&mut tui, "2→→↓↓↓");
    let path = |tui: &Tui| {
        let Some(Shape::Profile(profile)) = tui.state.section().map(|section| &section.shapes[0]) else {
            unreachable!()
        };
        tui.state.tree("cpu", profile).and_then(|tree| tree.path(tui.state.row())).unwrap()
    };
    let before = path(&tui);
    let mut newer = sample::report();
    let Some(Shape::Profile(profile)) = newer.sections[3].shapes.get_mut(0) else { unreachable!() };
    // The smallest is now the largest, and comes first.
    profile.stacks[8].value = 5_000_000_000;
    tui.update(Arc::new(newer));
    assert_eq!(path(&tui), before);
    assert!(screen(&tui, 100, 24).contains("<no frames>"));
}

/// Also that of a section that takes no keys.
#[test]
fn each_profile_of_a_tab_has_its_tree() {
    let mut report = sample::report();
    let of_cpu = report.section("cpu").expect("the section").clone();
    report.sections.push(Section { id: "wall", title: "Wall".to_owned(), ..of_cpu });
    let mut tui = Tui::new();
    tui.update(Arc::new(report));
    press(&mut tui, "2");
    let shown = screen(&tui, 120, 50);
    assert_eq!(shown.matches("libc.so.6!start_thread").count(), 2, "{shown}");
}

#[test]
fn a_tree_with_one_root_is_unfolded_from_the_start() {
    let mut report = sample::report();
    let Some(Shape::Profile(profile)) = report.sections[3].shapes.get_mut(0) else { unreachable!() };
    profile.stacks.truncate(1);
    let mut tui = Tui::new();
    tui.update(Arc::new(report));
    press(&mut tui, "2");
    let shown = screen(&tui, 100, 24);
    assert!(shown.contains("▾ libc.so.6!start_thread") && shown.contains("java.lang.Thread.run"), "{shown}");
    press(&mut tui, "\n");
    tui.update(Arc::new(sample::report()));
    assert!(!screen(&tui, 100, 24).contains("java.lang.Thread.run"), "folded by a key, it stays so");
}

/// A deep way to what all stacks have in common would fill the screen before they part.
#[test]
fn a_tree_is_shown_from_where_its_stacks_part() {
    let mut report = sample::report();
    let Some(Shape::Profile(profile)) = report.sections[3].shapes.get_mut(0) else { unreachable!() };
    profile.stacks.retain(|stack| stack.frames.starts_with(&[0, 1]));
    for stack in &mut profile.stacks {
        stack.frames.splice(0..0, [0, 1].into_iter().cycle().take(40));
    }
    // One stack of hundreds is cut, and is a root of its own.
    profile.stacks.push(crate::report::ProfileStack { frames: vec![4], value: 1_000_000, ..profile.stacks[0].clone() });
    let tree = report.sections[3].shapes.remove(0);
    // A table takes keys first, and the tree stands beside it.
    report.sections[3].shapes.retain(|shape| matches!(shape, Shape::Table(_)));
    let table = report.sections.iter().flat_map(|of| &of.shapes).find(|shape| matches!(shape, Shape::Table(_)));
    let table = table.expect("a table").clone();
    report.sections[3].shapes = vec![table, tree];
    let mut tui = Tui::new();
    tui.update(Arc::new(report));
    press(&mut tui, "2");
    assert!(screen(&tui, 120, 40).contains("G1ParEvacuateFollowersClosure::do_void"), "beside the table");
    press(&mut tui, "n");
    let shown = screen(&tui, 80, 24);
    assert!(shown.contains(" ▸ java.lang.Thread.run:840"), "{shown}");
    assert!(shown.contains("   G1ParEvacuateFollowersClosure::do_void"), "{shown}");
}

#[test]
fn stacks_are_walked_only_when_they_changed() {
    let mut tui = tui();
    press(&mut tui, "2");
    let walked = tui.state.walks();
    press(&mut tui, "→↓→←/x\n\x1b");
    screen(&tui, 100, 24);
    assert_eq!(tui.state.walks(), walked, "neither drawing nor unfolding nor a filter");
    tui.update(Arc::new(sample::report()));
    assert_eq!(tui.state.walks(), walked, "a report with the same stacks");
    let mut newer = sample::report();
    let Shape::Profile(profile) = &mut newer.sections[3].shapes[0] else { unreachable!() };
    profile.stacks[0].value += 1;
    tui.update(Arc::new(newer));
    assert_eq!(tui.state.walks(), walked + 1);
    press(&mut tui, "i");
    assert_eq!(tui.state.walks(), walked + 2);
}
