//! The time axis: what is chosen with the mouse, by keys or by numbers filters what has time in it, and the rest says that it
//! is about the whole session. Every sum is that of [`timed::page`] by hand.

use crate::{
    browser::{Browser, WIDTHS},
    pages, timed,
};

/// What the page shows of a range: sums of lanes, the graph, its methods, what stands still.
const SHOWN: &str = r#"
const lane = (id) => Array.from(document.querySelectorAll(`[data-lane="${id}"] b`), (one) => one.textContent).join("|");
const graph = (at) => document.querySelectorAll("figure.flame")[at];
const methods = (at) => Array.from(graph(at).querySelectorAll(".flame-methods tbody tr"), (row) => Array.from(row.cells, (cell) => cell.textContent).join(" ")).join("|");
const shown = (what) => {
  say(what + ".gc", lane("gc.pause"));
  say(what + ".heap", lane("gc.heap_after"));
  say(what + ".cpu", lane("cpu.states"));
  say(what + ".graph", graph(0).querySelector(".flame-about").textContent);
  say(what + ".threads", Array.from(graph(0).querySelector(".flame-thread").options, (one) => one.textContent).join("|"));
  say(what + ".range", graph(0).querySelector(".flame-range").textContent);
  say(what + ".still", Array.from(document.querySelectorAll("h2,h3")).filter((one) => one.querySelector(".still:not([hidden])")).length);
  say(what + ".about", document.getElementById("range-about").textContent);
};
"#;

const DRIVE: &str = r#"
shown("all");
const over = document.querySelectorAll(".u-over")[1], place = over.getBoundingClientRect();
const mouse = (name, part, target) => target.dispatchEvent(new MouseEvent(name, { button: 0, clientX: place.left + place.width * part, clientY: place.top + 9, movementX: 9, bubbles: true }));
const drag = (from, to) => { mouse("mousemove", from, over); mouse("mousedown", from, over); mouse("mousemove", to, over); mouse("mouseup", to, document); };
drag(0.30, 0.45);
graph(0).querySelector(".flame-methods").open = true;
document.getElementById("lanes").dispatchEvent(new MouseEvent("mouseleave"));
mouse("mouseleave", 0, over);
shown("dragged");

document.getElementById("range-whole").click();
shown("back");
mouse("mousemove", 0.625, over);
say("cursor.gc", lane("gc.pause"));
say("cursor.about", document.getElementById("axis-cursor").textContent);
mouse("mouseleave", 0, over);

const lanes = document.getElementById("lanes");
const key = (name, shiftKey) => lanes.dispatchEvent(new KeyboardEvent("keydown", { key: name, shiftKey, bubbles: true, cancelable: true }));
key("ArrowRight"); key("ArrowRight");
say("key.gc", lane("gc.pause"));
key("ArrowRight", true);
shown("keys");
key("Escape");
say("escaped", document.getElementById("range-about").textContent);
const number = (id, value) => { const box = document.getElementById(id); box.value = value; box.dispatchEvent(new Event("change")); };
number("range-from", "2.2");
say("typed.from", document.getElementById("range-from").value);
say("typed.about", document.getElementById("range-about").textContent);

document.getElementById("range-whole").click();
let ranges = 0;
page.listen("range", () => { ranges++; });
drag(0.10, 0.45);
say("wide.about", document.getElementById("range-about").textContent);
say("wide.ranges", ranges);
"#;

/// By mouse, keys and numbers, in narrow and wide windows.
#[test]
fn a_chosen_range_adds_up_to_what_happened_in_it() {
    WIDTHS.into_iter().for_each(adds_up);
}

#[track_caller]
fn adds_up(width: u32) {
    let figures = Browser::of_width(width).open_and_wait(&timed::page(), &format!("{SHOWN}{DRIVE}"));
    assert_eq!(figures.errors(), [""; 0], "{figures:?}");
    let check = |key: &str, expected: &str| assert_eq!(figures.text(key), expected, "{key}: {figures:?}");
    check("all.gc", "10.0 ms");
    check("all.heap", "512 B");
    check("all.cpu", "16|6");
    check("all.graph", "all — total 21 = 100 %, self 0 = 0 %");
    check("all.threads", "all threads (2)|71.4 %  worker-1 (21)|28.6 %  worker-2 (22)");
    check("all.still", "0");
    check("all.about", "whole session, 4.00 s");
    // From 1.2 to 1.8 s, so the step from 1 to 2 s.
    check("dragged.gc", "2.00 ms");
    check("dragged.heap", "2.00 KiB");
    check("dragged.cpu", "9|6");
    check("dragged.graph", "all — total 9 = 100 %, self 0 = 0 %");
    check("dragged.threads", "all threads (2)|66.7 %  worker-2 (22)|33.3 %  worker-1 (21)");
    check("dragged.range", "1 s to 2 s, without 3 whose time is not kept");
    // Two headings of lenses, a table, a graph without times, the findings.
    check("dragged.still", "5");
    check("dragged.about", "1.00 s chosen, in steps of 1.00 s");
    for (key, before) in
        [("back.gc", "10.0 ms"), ("back.graph", "all — total 21 = 100 %, self 0 = 0 %"), ("back.still", "0")]
    {
        check(key, before);
    }
    check("cursor.gc", "3.00 ms");
    assert!(figures.text("cursor.about").contains(" UTC. governor: evil"), "{figures:?}");
    // The second step, then it and the third.
    check("key.gc", "2.00 ms");
    check("keys.graph", "all — total 11 = 100 %, self 0 = 0 %");
    check("keys.about", "2.00 s chosen, in steps of 1.00 s");
    check("escaped", "whole session, 4.00 s");
    check("typed.from", "2");
    check("typed.about", "2.00 s chosen, in steps of 1.00 s");
    // From 0.4 to 1.8 s: every lane tells of the drag, and all but the first would tell of what is shown by then.
    check("wide.about", "2.00 s chosen, in steps of 1.00 s");
    check("wide.ranges", "1");
}

#[test]
fn methods_of_a_range_are_those_of_its_stacks() {
    let script = format!(
        "{SHOWN} page.choose(1.2e9, 1.8e9); const box = graph(0).querySelector('.flame-methods'); box.open = true; \
         box.dispatchEvent(new Event('toggle')); say('methods', methods(0));"
    );
    let figures = Browser::start().open_and_wait(&timed::page(), &script);
    assert_eq!(
        figures.text("methods"),
        "com.shop.Cart.add 6 66.7 % 6 66.7 %|com.shop.Cart.price 3 33.3 % 3 33.3 %|com.shop.Main.serve 0 0 % 9 100 %",
        "{figures:?}"
    );
}

/// Steps of half a second, so two rows. Of the graph alone: lanes have whole seconds.
#[test]
fn cells_of_the_heat_map_choose_less_than_a_second() {
    let script = r#"
    const heat = graph(0).querySelector(".flame-heat"), canvas = heat.querySelector("canvas");
    const key = (name, shiftKey) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key: name, shiftKey, bubbles: true, cancelable: true }));
    say("rows", canvas.style.height);
    say("none", graph(1).querySelector(".flame-heat").hidden);
    key("ArrowRight"); key("ArrowDown");
    say("cell", heat.querySelector(".heat-about").textContent);
    key("Enter");
    shown("cell");
    key("ArrowUp", true);
    shown("two");
    const box = canvas.getBoundingClientRect(), wide = box.width / 4;
    const mouse = (name, x, y) => canvas.dispatchEvent(new PointerEvent(name, { clientX: box.left + x, clientY: box.top + y, buttons: 1 }));
    mouse("pointerdown", wide * 1.5, 4); mouse("pointermove", wide * 2.5, 4); mouse("pointerup", wide * 2.5, 4);
    shown("mouse");
    page.choose(0, 1e9);
    shown("page");
    page.choose(null);
    key("Enter"); key("Escape");
    shown("left");
    "#;
    let figures = Browser::start().open_and_wait(&timed::page(), &format!("{SHOWN}{script}"));
    assert_eq!(figures.errors(), [""; 0], "{figures:?}");
    let check = |key: &str, expected: &str| assert_eq!(figures.text(key), expected, "{key}: {figures:?}");
    check("rows", "16px");
    check("none", "true");
    check("cell", "1.5 s to 2 s: 5");
    check("cell.graph", "all — total 5 = 100 %, self 0 = 0 %");
    check("cell.range", "1.5 s to 2 s, without 3 whose time is not kept");
    check("cell.gc", "10.0 ms");
    check("two.graph", "all — total 9 = 100 %, self 0 = 0 %");
    check("mouse.graph", "all — total 11 = 100 %, self 0 = 0 %");
    check("mouse.range", "1 s to 2.5 s, without 3 whose time is not kept");
    check("page.graph", "all — total 3 = 100 %, self 0 = 0 %");
    check("left.graph", "all — total 21 = 100 %, self 0 = 0 %");
}

#[test]
fn what_saw_nothing_has_no_section_and_no_lane() {
    let script = "say('lanes', document.querySelectorAll('[data-lane=\"jit.compilations\"]').length);
        say('lens', Array.from(document.querySelectorAll('.lens > h2'), (one) => one.textContent).join());
        say('nothing', document.getElementById('nothing').textContent);
        say('series', document.querySelector('[data-lane=\"cpu.states\"]').textContent.includes('Idle'));";
    let figures = Browser::start().open_and_wait(&timed::page(), script);
    assert_eq!((figures.text("lanes"), figures.text("series")), ("0", "false"));
    assert!(
        !figures.text("lens").contains("JIT") && figures.text("nothing").contains("JIT compilation"),
        "{figures:?}"
    );
}

#[test]
fn what_was_not_attached_is_grey() {
    let script = r#"
    const chart = document.querySelector("[data-lane=\"cpu.states\"] canvas"), over = document.querySelector("[data-lane=\"cpu.states\"] .u-over");
    const scale = chart.width / chart.clientWidth, box = over.getBoundingClientRect(), left = (box.left - chart.getBoundingClientRect().left) * scale;
    // Near the top, where steps 0 and 2 have no bar. Step 1 has the highest one, upon its grey.
    const alpha = (part) => chart.getContext("2d").getImageData(Math.round(left + box.width * scale * part), 8, 1, 1).data[3];
    say("alphas", [0.05, 0.55, 0.8].map((part) => alpha(part) > 0).join());
    say("lane", document.querySelector("[data-lane=\"cpu.states\"]").textContent.includes("grey: clock not attached"));
    say("other", document.querySelector("[data-lane=\"gc.pause\"]").textContent.includes("grey"));
    "#;
    let page = timed::page().replace("\"at\":2000000000", "\"at\":3000000000");
    let figures = Browser::start().open_and_wait(&page, script);
    assert_eq!(figures.text("alphas"), "false,true,false", "{figures:?}");
    assert_eq!((figures.text("lane"), figures.text("other")), ("true", "false"));
}

#[test]
fn lanes_are_drawn_and_names_in_them_are_harmless() {
    let script = r#"
    const charts = Array.from(document.querySelectorAll(".lane canvas"));
    say("charts", charts.length);
    say("ink", charts.slice(1).every((one) => one.getContext("2d").getImageData(0, 0, one.width, one.height).data.some((value) => value !== 0)));
    "#;
    let figures = Browser::start().open_and_wait(&timed::page(), script);
    assert_eq!((figures.text("charts"), figures.text("ink")), ("4", "true"), "{figures:?}");
    for (what, expected) in [("owned", "undefined"), ("strangers", "0"), ("resources", "0"), ("violations", "0")] {
        assert_eq!(figures.text(what), expected, "{what}");
    }
    assert!(!figures.asked_for(pages::EVIL_HOST) && figures.errors().is_empty(), "{figures:?}");
}

/// What the table of classes shows, row by row.
const ROWS: &str = r#"
const classes = document.querySelector(".timed"), rowsOf = () => Array.from(classes.querySelectorAll("tbody tr"))
  .filter((row) => getComputedStyle(row).display !== "none").map((row) => Array.from(row.cells, (cell) => cell.textContent).join(" ")).join("|");
const badge = () => { const one = classes.querySelector("h3 .still"); return one.hidden ? "" : one.textContent; };
"#;

#[test]
fn rows_of_a_table_follow_the_range_and_come_back() {
    let script = r#"
    say("all", rowsOf());
    page.choose(0, 2e9);
    say("first", rowsOf());
    say("badge", badge());
    say("sorted", (classes.querySelectorAll("th button")[0].click(), rowsOf()));
    page.choose(3e9, 4e9);
    say("none", rowsOf());
    say("nothing", badge());
    page.choose(null);
    say("back", rowsOf());
    say("quiet", badge());
    "#;
    let figures = Browser::start().open_and_wait(&timed::with_times(), &format!("{ROWS}{script}"));
    assert_eq!(figures.errors(), [""; 0], "{figures:?}");
    let evil = pages::EVIL;
    let all = figures.text("all").to_owned();
    assert!(all.starts_with("com.shop.Cart 3 12.5 % 5 ms 7 ns|com.shop.Order 2 "), "{all}");
    assert!(all.contains(&*tracer_event::text::escape::terminal(evil)), "{all}");
    // The row that is not on the page has six of nine; of the first two steps alone the longest is that of these.
    assert_eq!(figures.text("first"), "com.shop.Order 2 22.2 % 4.00 ms ·|com.shop.Cart 1 11.1 % 5.00 ms ·");
    assert_eq!(figures.text("badge"), "0 s to 2 s, without 1 rows that are not shown, of 3 amounts no time is kept");
    assert_eq!(figures.text("sorted").split('|').count(), 2);
    assert_eq!(figures.text("none"), "");
    assert!(figures.text("nothing").starts_with("3 s to 4 s, nothing"), "{figures:?}");
    assert_eq!((figures.text("back"), figures.text("quiet")), (&*all, ""));
}

#[test]
fn a_finding_has_bars_where_it_held_that_choose_and_lead_to_it() {
    let script = r#"
    const bars = Array.from(document.querySelectorAll(".lane-finding .bar"));
    say("bars", bars.map((bar) => bar.style.left + " " + bar.style.width).join("|"));
    say("rows", document.querySelectorAll(".lane-finding").length);
    bars[1].click();
    say("about", document.getElementById("range-about").textContent);
    say("zoomed", bars.map((bar) => bar.hidden + " " + bar.style.width).join("|"));
    page.choose(null);
    const first = document.getElementById("finding-0");
    first.open = false;
    document.querySelector(".finding-jump").click();
    say("open", first.open && document.activeElement === first.querySelector("summary"));
    document.querySelector(".when [data-from]").click();
    document.querySelector("[data-place]").click();
    say("place", document.activeElement.tagName + " " + document.activeElement.textContent);
    say("hidden", document.querySelectorAll("[data-place]")[1].hidden);
    say("from", document.getElementById("range-from").value + " " + document.getElementById("range-to").value);
    const type = (id, value) => { const box = document.getElementById(id); box.value = value; box.dispatchEvent(new Event("change")); };
    page.choose(null);
    type("range-from", "00:00:02");
    type("range-to", "0:00:03");
    say("clock", document.getElementById("range-from").value + " " + document.getElementById("range-to").value);
    type("range-from", "nonsense");
    say("nonsense", document.getElementById("range-from").value);
    "#;
    let figures = Browser::start().open_and_wait(&timed::with_times(), script);
    assert_eq!(figures.errors(), [""; 0], "{figures:?}");
    let check = |key: &str, expected: &str| assert_eq!(figures.text(key), expected, "{key}: {figures:?}");
    check("bars", "25% 25%|75% 25%|0% 100%");
    check("rows", "2");
    check("about", "1.00 s chosen, in steps of 1.00 s");
    check("zoomed", "true 0%|false 100%|false 100%");
    check("open", "true");
    assert!(figures.text("place").starts_with("H3 Classes"), "{figures:?}");
    // Of the other finding the page has no table.
    check("hidden", "true");
    check("from", "1 4");
    check("clock", "2 3");
    check("nonsense", "2");
}
