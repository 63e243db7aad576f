//! The one search box: it filters tables and findings, marks what it found, and searches every graph.

use crate::{
    browser::{Browser, NONCE},
    timed,
};

const DRIVE: &str = r#"
const box = document.getElementById("search"), about = () => document.getElementById("search-about").textContent;
const seek = (text) => { box.value = text; box.dispatchEvent(new Event("input")); };
const rows = () => Array.from(document.querySelectorAll(".lens .shape:not(.flamed) tbody tr:not([hidden])"), (row) => row.cells[0].textContent.slice(0, 14)).join("|");
const hits = () => document.querySelector(".flame-hits").textContent;
const marked = () => CSS.highlights.has("found") ? CSS.highlights.get("found").size : 0;
say("before", rows());
seek("ORDER");
say("order", [about(), rows(), hits(), marked()].join("; "));
say("findings", Array.from(document.querySelectorAll(".finding:not([hidden])"), (one) => one.textContent.includes("everywhere")).join());
seek("/shop\.Cart\.(add|price)/");
say("pattern", [about(), rows(), hits()].join("; "));
say("gone", document.querySelector(".shape:not(.flamed)").hidden);
seek("/(/");
say("broken", [about(), rows().split("|").length].join("; "));
seek("<script>");
say("evil", [about(), marked()].join("; "));
box.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
say("cleared", [box.value, about(), rows(), marked()].join("; "));
document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "/", bubbles: true, cancelable: true }));
say("focus", document.activeElement.id);
"#;

#[test]
fn one_box_searches_tables_findings_and_graphs() {
    let figures = Browser::start().open_and_wait(&timed::page(), DRIVE);
    assert_eq!(figures.errors(), [""; 0], "{figures:?}");
    let check = |key: &str, expected: &str| assert_eq!(figures.text(key), expected, "{key}: {figures:?}");
    check("before", "com.shop.Cart|com.shop.Order|evil</script><");
    check("order", "1 row, 1 finding, 0 graphs; com.shop.Order; 0 % in 0 names; 2");
    check("findings", "true");
    check("pattern", "0 rows, 0 findings, 2 graphs; ; 76.2 % in 2 names");
    check("gone", "true");
    check("broken", "no regular expression; 3");
    check("evil", "1 row, 2 findings, 2 graphs; 3");
    check("cleared", "; ; com.shop.Cart|com.shop.Order|evil</script><; 0");
    check("focus", "search");
    assert_eq!((figures.text("owned"), figures.text("violations")), ("undefined", "0"));
}

/// Somebody types while a browser still reads the data of all graphs but the first.
#[test]
fn what_is_typed_before_all_is_read_is_searched_for_in_all() {
    const LATER: &str = "<script type=\"application/json\" id=\"graph-0\">";
    const EARLY: &str = r#"
const early = document.getElementById("search"), about = () => document.getElementById("search-about").textContent;
early.value = "ORDER";
early.dispatchEvent(new Event("input"));
early.dataset.early = about();
"#;
    let page = timed::page();
    assert_eq!(page.matches(LATER).count(), 1, "a second graph whose data comes after the scripts");
    let page = page.replacen(LATER, &format!("<script nonce=\"{NONCE}\">{{{EARLY}}}</script>{LATER}"), 1);
    let script = r#"
const box = document.getElementById("search");
say("early", box.dataset.early);
say("then", document.getElementById("search-about").textContent);
"#;
    let figures = Browser::start().open_and_wait(&page, script);
    assert_eq!(figures.errors(), [""; 0], "{figures:?}");
    // Nobody knows yet what the second one has.
    assert_eq!(figures.text("early"), "1 row, 1 finding, 1 graph");
    assert_eq!(figures.text("then"), "1 row, 1 finding, 0 graphs");
}
