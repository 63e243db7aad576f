//! The one search box: it filters tables and findings, marks what it found, and searches every graph.

use crate::{browser::Browser, timed};

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
