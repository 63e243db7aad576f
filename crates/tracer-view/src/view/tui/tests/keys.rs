//! What keys and the mouse do: tabs, filters, sorting, rows, and the ends.

use super::*;

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
