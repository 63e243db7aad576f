//! What is long is folded, and what is far is one click away.

use tracer_model::report::{
    Cell, Column, Doing, Gather, Report, RowSteps, Section, Shape, Span, StepColumn, Summary, Table, TableSteps, Unit,
};

use crate::{
    browser::{Browser, WIDTHS},
    pages,
};

const SECOND: u64 = 1_000_000_000;

/// A table of 40 rows below one of 12, in a lens of memory that the report has before one of time. Half of the rows came in the
/// first of two seconds, half of them in the other.
fn long() -> String {
    let column = |key, title, unit| Column { key, title, unit };
    let name = |at: u64| Cell::from(format!("com.shop.part.Number{at}").as_str());
    let table = |id, rows: u64| {
        let row = |at: u64| vec![name(at), at.into()];
        let columns = vec![column("class", "Class", Unit::Text), column("count", "Count", Unit::Count)];
        Shape::Table(Table { id, title: id.to_owned(), columns, rows: (0..rows).map(row).collect() })
    };
    let section = |id, title: &str, shapes| Section {
        id,
        title: title.to_owned(),
        summary: Summary::new().int("count", 1),
        notes: Vec::new(),
        shapes,
    };
    let of_row = |at: u64| RowSteps { labels: vec![name(at)], steps: vec![(u32::from(at % 2 == 1), vec![at])] };
    pages::write(&Report {
        time: vec![Doing { state: "runs", what: "Java".to_owned(), threads: 1.0, place: None, pool: None }],
        span: Span { duration_ns: 2 * SECOND, ..pages::empty().span },
        table_steps: vec![TableSteps {
            section: "alloc",
            table: "long",
            step_ns: SECOND,
            columns: vec![StepColumn { key: "count", gather: Gather::Sum }],
            rows: (0..40).map(of_row).collect(),
            left_out: 0,
            weights: Vec::new(),
        }],
        sections: vec![
            section("alloc", "Allocation", vec![table("short", 12), table("long", 40)]),
            section("cpu", "CPU", vec![table("threads", 3)]),
            section("own", "A lens of its own", vec![table("own", 3)]),
        ],
        ..pages::empty()
    })
}

const DRIVE: &str = r##"
const shape = (id) => document.querySelector(`[data-shape="${id}"]`);
const seen = (id) => Array.from(shape(id).querySelectorAll("tbody tr")).filter((row) => row.checkVisibility()).length;
const button = () => shape("alloc.long").querySelector(".fold");
say("short", seen("alloc.short") + " " + (shape("alloc.short").querySelector(".fold") === null));
say("long", seen("alloc.long") + " " + button().textContent);
shape("alloc.long").querySelectorAll("th button")[1].click();
say("sorted", seen("alloc.long") + " " + shape("alloc.long").querySelector("tbody tr").textContent);
button().click();
say("whole", seen("alloc.long") + " " + button().textContent + " " + button().getAttribute("aria-expanded"));
button().click();
say("again", seen("alloc.long"));
page.search("part.Number");
say("found", seen("alloc.long") + " " + button().hidden + " " + CSS.highlights.get("found").size);
say("marked", String(CSS.highlights.get("found").values().next().value));
page.search("");
say("back", seen("alloc.long"));
page.choose(0, 1e9);
say("range", seen("alloc.long") + " " + button().textContent + " " + shape("alloc.long").querySelector("tbody tr").textContent);
say("still", Array.from(document.querySelectorAll("#time .still"), (one) => one.checkVisibility() + one.textContent).join());
page.choose(null);
say("session", seen("alloc.long") + " " + button().textContent);
say("order", Array.from(document.querySelectorAll(".lens > h2"), (one) => one.firstChild.data).join());
say("contents", Array.from(document.querySelectorAll("nav span"), (one) => Array.from(one.children, (part) => part.textContent).join(" ")).join("; "));
document.querySelector("[data-go=lens-own]").click();
say("focus", document.activeElement.textContent);
say("below", document.activeElement.getBoundingClientRect().top >= document.getElementById("bar").getBoundingClientRect().bottom);
"##;

#[test]
fn long_tables_are_folded_and_each_section_is_one_click_away() {
    for width in WIDTHS {
        let figures = Browser::of_width(width).open_and_wait(&long(), DRIVE);
        assert_eq!(figures.errors(), [""; 0], "{figures:?}");
        let check = |key: &str, expected: &str| assert_eq!(figures.text(key), expected, "{key}: {figures:?}");
        check("short", "12 true");
        check("long", "10 10 of 40 rows, show all");
        check("sorted", "10 com.shop.part.Number3939");
        check("whole", "40 show the first 10 true");
        check("again", "10");
        // 12, 40, 3 and 3 rows; the mark goes over a joint at which the line may end.
        check("found", "40 true 58");
        check("marked", "part.Number");
        check("back", "10");
        check("range", "10 10 of 20 rows, show all com.shop.part.Number3838");
        check("still", "truewhole session");
        check("session", "10 10 of 40 rows, show all");
        check("order", "CPU,Allocation,A lens of its own");
        check("contents", "Findings Where its time goes; time CPU; memory Allocation; own A lens of its own");
        check("focus", "A lens of its own whole session");
        check("below", "true");
    }
}
