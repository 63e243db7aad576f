//! The screen on ratatui's `TestBackend`, and what keys do to it.

use std::{fmt::Write as _, sync::Arc};

use ratatui::{
    Terminal,
    backend::TestBackend,
    crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind},
    style::{Color, Modifier},
};

use super::{Flow, Tui};
use crate::{
    report::{Cell, Column, Section, Shape, Summary, Table, Unit},
    text::escape,
    view::{sample, text::Style},
};

fn tui() -> Tui {
    let mut tui = Tui::new();
    tui.update(Arc::new(sample::report()));
    tui
}

/// The screen's lines, without their trailing blanks.
pub(super) fn screen(tui: &Tui, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    tui.draw(&mut terminal).unwrap();
    let buffer = terminal.backend().buffer();
    let mut out = String::new();
    for y in 0..height {
        let line: String = (0..width).map(|x| buffer[(x, y)].symbol()).collect();
        writeln!(out, "{}", line.trim_end()).unwrap();
    }
    out
}

fn press(tui: &mut Tui, keys: &str) {
    for c in keys.chars() {
        let code = match c {
            '\n' => KeyCode::Enter,
            '\t' => KeyCode::Tab,
            '\x1b' => KeyCode::Esc,
            '↓' => KeyCode::Down,
            '←' => KeyCode::Left,
            '→' => KeyCode::Right,
            c => KeyCode::Char(c),
        };
        assert_eq!(tui.key(KeyEvent::new(code, KeyModifiers::NONE)), Flow::Continue, "{c:?}");
    }
}

#[test]
fn overview_at_80x24() {
    insta::assert_snapshot!(screen(&tui(), 80, 24));
}

#[test]
fn overview_at_120x40() {
    insta::assert_snapshot!(screen(&tui(), 120, 40));
}

#[test]
fn section_with_several_shapes_at_80x24() {
    let mut tui = tui();
    press(&mut tui, "4");
    insta::assert_snapshot!(screen(&tui, 80, 24));
}

#[test]
fn section_with_several_shapes_at_120x40() {
    let mut tui = tui();
    press(&mut tui, "4");
    insta::assert_snapshot!(screen(&tui, 120, 40));
}

#[test]
fn table_of_hostile_names_at_80x24() {
    let mut tui = tui();
    press(&mut tui, "3");
    insta::assert_snapshot!(screen(&tui, 80, 24));
}

#[test]
fn tree_and_timeline_at_120x40() {
    let mut tui = tui();
    press(&mut tui, "3n");
    insta::assert_snapshot!(screen(&tui, 120, 40));
}

#[test]
fn a_screen_without_colours_still_shows_what_is_chosen() {
    let styles = |tui: &Tui| {
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        tui.draw(&mut terminal).unwrap();
        let cells = terminal.backend().buffer().content.iter();
        let is_coloured = cells.clone().any(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset);
        (is_coloured, cells.filter(|cell| cell.modifier.contains(Modifier::REVERSED)).count())
    };
    let (plain, coloured) = (tui(), tui().in_style(Style::Colour));
    let chosen = " 1 overview ".len();
    assert_eq!((styles(&plain), styles(&coloured)), ((false, chosen), (true, chosen)));
}

#[test]
fn help_at_80x24() {
    let mut tui = tui();
    press(&mut tui, "?");
    insta::assert_snapshot!(screen(&tui, 80, 24));
    press(&mut tui, "?");
    assert!(!screen(&tui, 80, 24).contains("previous tab"));
}

#[test]
fn detail_shows_the_whole_name() {
    let mut tui = tui();
    press(&mut tui, "3\n");
    let shown = screen(&tui, 80, 24);
    assert!(shown.contains(&*escape::terminal(sample::HOSTILE)), "{shown}");
    press(&mut tui, "\x1b");
    assert!(!screen(&tui, 80, 24).contains(&*escape::terminal(sample::HOSTILE)));
}

#[test]
fn no_tab_at_any_size_draws_something_hostile() {
    for (width, height) in [(1, 1), (10, 5), (40, 10), (80, 24), (300, 80)] {
        let mut tui = tui();
        for _ in 0..6 {
            for keys in ["", "n", "\n", "\x1b?", "\x1b"] {
                press(&mut tui, keys);
                for line in screen(&tui, width, height).lines() {
                    assert_eq!(escape::terminal(line), line);
                }
            }
            press(&mut tui, "\t");
        }
    }
}

#[test]
fn tabs_go_round() {
    let mut tui = tui();
    press(&mut tui, "←");
    assert!(tui.state.is_log_tab());
    press(&mut tui, "\t\t");
    assert_eq!(tui.state.section().map(|section| section.id), Some("cpu"));
    press(&mut tui, "9");
    assert_eq!(tui.state.section().map(|section| section.id), Some("cpu"));
    press(&mut tui, "4");
    assert_eq!(tui.state.section().map(|section| section.id), Some("gc"));
    press(&mut tui, "3nn");
    assert_eq!(tui.state.section().map(|section| section.id), Some("threads"), "locks and threads answer one question");
}

#[test]
fn filter_keeps_matching_rows_until_it_is_cleared() {
    let mut tui = tui();
    press(&mut tui, "3/BASKET1q");
    assert!(tui.state.filter().is_typing());
    press(&mut tui, "\n");
    assert!(screen(&tui, 80, 24).contains("no row matches the filter"));
    press(&mut tui, "\x1b/basket1\n");
    let (section, table) = tui.state.table().unwrap();
    assert_eq!(tui.state.rows(section, table).len(), 10);
    let shown = screen(&tui, 80, 24);
    assert!(shown.contains("filter: basket1") && shown.contains("(10 of 33)"), "{shown}");
    press(&mut tui, "\x1b");
    let (section, table) = tui.state.table().unwrap();
    assert_eq!(tui.state.rows(section, table).len(), 33);
}

#[test]
fn the_filter_of_the_first_screen_is_one_of_findings() {
    let mut tui = tui();
    press(&mut tui, "/takes 31\n");
    let shown = screen(&tui, 120, 40);
    assert!(shown.contains("GC takes 31 %") && !shown.contains("14 threads blocked"), "{shown}");
    press(&mut tui, "\n");
    assert_eq!(tui.state.table().map(|(section, table)| (section, table.id)), Some(("gc", "causes")));
    press(&mut tui, "1\x1b/nowhere\n");
    assert!(screen(&tui, 120, 40).contains("no finding matches the filter"));
}

/// Columns that have no room are named, and a row in full has them.
#[test]
fn columns_without_room_are_named_on_the_border() {
    let mut tui = tui();
    press(&mut tui, "3");
    assert!(!screen(&tui, 120, 24).contains("no room for"));
    let narrow = screen(&tui, 40, 24);
    assert!(narrow.contains("no room for: object, owner"), "{narrow}");
}

#[test]
fn sort_goes_through_columns_and_directions() {
    let mut tui = tui();
    let first = |tui: &Tui| {
        let (section, table) = tui.state.table().unwrap();
        tui.state.rows(section, table)[0]
    };
    press(&mut tui, "3");
    assert_eq!(first(&tui), 0);
    press(&mut tui, "s");
    assert_eq!(first(&tui), 1, "by class, ascending");
    assert!(screen(&tui, 80, 24).contains("class▲"));
    press(&mut tui, "s");
    assert_eq!(first(&tui), 0, "by count, descending");
    press(&mut tui, "S");
    assert_eq!(first(&tui), 32, "by count, ascending");
    press(&mut tui, "ssss");
    let (section, table) = tui.state.table().unwrap();
    let rows = tui.state.rows(section, table);
    assert_eq!((rows[0], rows[32]), (1, 0), "by owner, ascending, the one without at the end");
    press(&mut tui, "S");
    let (section, table) = tui.state.table().unwrap();
    assert_eq!(tui.state.rows(section, table)[32], 0, "the one without stays at the end");
    press(&mut tui, "s");
    assert!(tui.state.sort(section_id(&tui), tui.state.table().unwrap().1).is_none());
}

fn section_id(tui: &Tui) -> &'static str {
    tui.state.table().unwrap().0
}

#[test]
fn selection_stays_in_the_table() {
    let mut tui = tui();
    press(&mut tui, "3↓↓");
    assert_eq!(tui.state.row(), 2);
    press(&mut tui, "G");
    assert_eq!(tui.state.row(), 32);
    assert!(screen(&tui, 80, 24).contains("Basket30"));
    press(&mut tui, "g");
    assert_eq!(tui.state.row(), 0);
}

#[test]
fn frozen_screen_ignores_newer_reports() {
    let mut tui = tui();
    press(&mut tui, "f");
    assert!(tui.is_frozen());
    let before = screen(&tui, 80, 24);
    assert!(before.contains("FROZEN"));
    let mut newer = sample::report();
    newer.span.duration_ns *= 2;
    newer.completeness.lost = 4242;
    tui.update(Arc::new(newer));
    assert_eq!(screen(&tui, 80, 24), before);
    press(&mut tui, " ");
    assert!(screen(&tui, 80, 24).contains("lost 4,242"));
}

#[test]
fn rates_are_those_between_the_last_two_reports() {
    let mut tui = tui();
    let mut newer = sample::report();
    newer.span.duration_ns += 2_000_000_000;
    newer.completeness.delivered += 5_000;
    newer.cost.traps += 7_000;
    tui.update(Arc::new(newer));
    let shown = screen(&tui, 80, 24);
    assert!(shown.contains("events 2,500/s") && shown.contains("traps 3,500/s"), "{shown}");
}

#[test]
fn trap_rate_stays_between_two_readings_of_the_counters_and_ends_with_the_traps() {
    let mut tui = tui();
    let mut report = sample::report();
    report.span.duration_ns += 1_000_000_000;
    report.cost.traps += 7_000;
    tui.update(Arc::new(report.clone()));
    report.span.duration_ns += 250_000_000;
    tui.update(Arc::new(report.clone()));
    assert!(screen(&tui, 80, 24).contains("traps 7,000/s"));
    report.span.duration_ns += 3_000_000_000;
    tui.update(Arc::new(report));
    assert!(screen(&tui, 80, 24).contains("traps 0/s"));
}

#[test]
fn quit_works_everywhere() {
    let quit = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE);
    let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    let mut tui = tui();
    assert_eq!(tui.key(quit), Flow::Quit);
    press(&mut tui, "/");
    assert_eq!(tui.key(quit), Flow::Continue, "it is a letter of the filter");
    assert_eq!(tui.key(interrupt), Flow::Quit);
    press(&mut tui, "\x1b?");
    assert_eq!(tui.key(quit), Flow::Quit);
    assert_eq!(Tui::new().key(quit), Flow::Quit);
}

/// Only in a table of markers, and of the row that is selected.
#[test]
fn a_key_switches_the_marker_of_the_row() {
    let mut report = sample::report();
    let columns = vec![
        Column { key: "marker", title: "Marker", unit: Unit::Text },
        Column { key: "entered", title: "Entered", unit: Unit::Count },
    ];
    let rows = [("a", 3_u64), ("b", 2)].map(|(name, count)| vec![Cell::from(name.to_owned()), count.into()]).to_vec();
    let table = Shape::Table(Table { id: "markers", title: "Markers".to_owned(), columns, rows });
    let (summary, notes) = (Summary::new(), Vec::new());
    let section = Section { id: "markers", title: "Markers".to_owned(), summary, notes, shapes: vec![table] };
    report.sections.insert(0, section);
    let mut tui = Tui::new();
    tui.update(Arc::new(report));
    let switch = KeyEvent::new(KeyCode::Char('o'), KeyModifiers::NONE);
    assert_eq!(tui.key(switch), Flow::Continue, "the overview has no markers");
    press(&mut tui, "5↓");
    assert_eq!(tui.key(switch), Flow::Switch("b".to_owned()));
    press(&mut tui, "3");
    assert_eq!(tui.key(switch), Flow::Continue);
}

#[test]
fn screen_without_a_report_waits() {
    let mut tui = Tui::new();
    press(&mut tui, "n↓s/x\n\x1bf");
    assert!(screen(&tui, 80, 24).contains("waiting for the first events"));
    assert!(!tui.is_frozen());
}

#[test]
fn log_pane_shows_messages_escaped() {
    tui_logger::set_default_level(log::LevelFilter::Info);
    let message = format!("kernel side says {}", sample::HOSTILE);
    tui_logger::Drain::new()
        .log(&log::Record::builder().args(format_args!("{message}")).level(log::Level::Warn).target("jtrace").build());
    let mut tui = tui();
    press(&mut tui, "5");
    let shown = screen(&tui, 120, 24);
    assert!(shown.contains("WARN  kernel side says evil.\\x1b[31mRed\\n"), "{shown}");
}

#[test]
fn tree_of_a_profile_at_100x24() {
    let mut tui = tui();
    press(&mut tui, "2→↓↓↓→");
    insta::assert_snapshot!(screen(&tui, 100, 24));
}

#[test]
fn callers_of_a_profile_at_100x24() {
    let mut tui = tui();
    press(&mut tui, "2i→");
    insta::assert_snapshot!(screen(&tui, 100, 24));
}

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

/// The key of the overview that leads to where a finding's numbers stand.
#[test]
fn enter_shows_where_a_finding_stands() {
    let mut tui = tui();
    press(&mut tui, "\n");
    assert_eq!(tui.state.table().map(|(section, table)| (section, table.id)), Some(("locks", "classes")));
    press(&mut tui, "1↓\n");
    assert_eq!(tui.state.table().map(|(section, table)| (section, table.id)), Some(("gc", "causes")));
}

#[test]
fn what_is_empty_has_no_box() {
    let mut report = sample::report();
    for shape in report.sections.iter_mut().flat_map(|section| &mut section.shapes) {
        if let Shape::Table(table) = shape {
            table.rows.clear();
        }
    }
    let mut tui = Tui::new();
    tui.update(Arc::new(report));
    press(&mut tui, "4");
    let shown = screen(&tui, 120, 40);
    assert!(!shown.contains("By cause") && shown.contains("Pauses over time"), "{shown}");
    press(&mut tui, "3");
    assert_eq!(tui.state.section().map(|section| section.id), Some("threads"));
}

#[test]
fn the_mouse_chooses_tabs_tables_and_rows() {
    let mut tui = tui();
    let click_beside = |tui: &mut Tui, text: &str, further: usize| {
        let shown = screen(tui, 120, 40);
        let (row, line) = shown.lines().enumerate().find(|(_, line)| line.contains(text)).expect(text);
        let column = line.split(text).next().map_or(0, escape::width) + further;
        let at = |at: usize| u16::try_from(at).unwrap();
        let kind = MouseEventKind::Down(MouseButton::Left);
        tui.mouse(MouseEvent { kind, column: at(column), row: at(row), modifiers: KeyModifiers::NONE });
    };
    let click = |tui: &mut Tui, text: &str| click_beside(tui, text, 0);
    click(&mut tui, " 4 memory");
    assert_eq!(tui.state.section().map(|section| section.id), Some("gc"));
    let first = |tui: &Tui| {
        let (section, table) = tui.state.table().unwrap();
        (tui.state.rows(section, table)[0], tui.state.sort(section, table).map(|sort| (sort.column, sort.descending)))
    };
    click(&mut tui, "│cause");
    assert_eq!(first(&tui), (0, None), "the frame is no heading");
    click_beside(&mut tui, "│cause", 1);
    assert_eq!(first(&tui).1, Some((0, false)));
    click_beside(&mut tui, "│cause▲", 1);
    assert_eq!(first(&tui).1, Some((0, true)));
    // Into the report's own order, which comes after the last column.
    let columns = tui.state.table().unwrap().1.columns.len();
    press(&mut tui, &"s".repeat(columns));
    click(&mut tui, "System.gc()");
    assert_eq!(tui.state.row(), 1);
    click(&mut tui, "System.gc()");
    assert!(screen(&tui, 120, 40).contains("cause  System.gc()"), "{}", screen(&tui, 120, 40));
    click(&mut tui, " 1 overview");
    assert_eq!(tui.state.tab(), 3, "a click closes the box first");
    click(&mut tui, " Pauses over time ");
    assert!(tui.state.table().is_none());
    click(&mut tui, " 1 overview");
    click(&mut tui, "GC takes 31 %");
    assert_eq!(tui.state.row(), 1);
    let wheel = MouseEvent { kind: MouseEventKind::ScrollUp, column: 5, row: 5, modifiers: KeyModifiers::NONE };
    tui.mouse(wheel);
    assert_eq!(tui.state.row(), 0);
}
