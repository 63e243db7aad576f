//! The page by a checker of others: axe-core finds nothing to say about roles, contrast, names and focus, in light and dark, on the
//! report's page, that of a difference, and that of a measurement. `cargo xtask setup` puts it into `target/axe`; no page has it.

use std::{fs, path::Path};

use tracer_view::view::sample;

use crate::{
    bench,
    browser::{Browser, Figures, WIDTHS},
    pages, timed,
};

/// Runs every rule that is not about experiments in each state of the page: as it opens, with a range and a search, all unfolded.
/// The themes are those that the page lets choose.
const CHECK: &str = r#"
const wrong = [];
let passes = 0;
const check = async (state) => {
  const found = await axe.run(document, { rules: { "target-size": { enabled: true } }, resultTypes: ["violations", "passes"] });
  passes += found.passes.length;
  for (const { id, impact, nodes } of found.violations) {
    for (const node of nodes) wrong.push([state, id, impact, node.target.join(" "), node.failureSummary].join(": ").replace(/\s+/g, " "));
  }
};
const theme = document.getElementById("theme");
for (const name of theme ? ["light", "dark"] : [""]) {
  if (theme) {
    theme.value = name;
    theme.dispatchEvent(new Event("change"));
  }
  await check(name + " as opened");
  document.querySelectorAll("details").forEach((one) => { one.open = true; });
  if (theme) {
    page.choose(1e9, 2e9);
    page.search("shop");
  }
  await check(name + " with a range and a search");
  if (theme) {
    page.choose(null);
    page.search("");
  }
}
say("rules", axe.getRules().length);
say("passes", passes);
say("wrong", wrong.join("\n"));
"#;

/// The checker, as its authors publish it.
fn checker() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/axe/axe.min.js");
    fs::read_to_string(&file)
        .unwrap_or_else(|error| panic!("{}: {error}: `cargo xtask setup` fetches it", file.display()))
}

fn checked(page: &str, width: u32) -> Figures {
    // Its own script goes first: it defines `axe`.
    let end = format!("<script nonce=\"jtrace-report-1\">{}</script></body>", checker());
    let at = page.rfind("</body>").expect("a page with a body");
    let page = format!("{}{end}{}", &page[..at], &page[at + "</body>".len()..]);
    Browser::of_width(width).open_and_wait(&page, CHECK)
}

/// Nothing is wrong, and that was looked for.
#[track_caller]
fn flawless(page: &str) {
    for width in WIDTHS {
        let figures = checked(page, width);
        assert_eq!(figures.errors(), [""; 0], "{figures:?}");
        assert_eq!(figures.text("wrong"), "", "{width} pixels");
        assert!(figures.number("rules") > 90.0 && figures.number("passes") > 30.0, "{figures:?}");
    }
}

#[test]
fn the_page_of_a_report_has_no_violation() {
    flawless(&timed::with_times());
}

/// Every shape that a report can have.
#[test]
fn the_page_of_all_shapes_has_no_violation() {
    flawless(&pages::write(&sample::report()));
}

#[test]
fn the_page_of_a_difference_has_no_violation() {
    flawless(&timed::difference());
}

#[test]
fn a_graph_with_hostile_names_has_no_violation() {
    flawless(&pages::small());
}

#[test]
fn the_page_of_a_measurement_has_no_violation() {
    flawless(&bench::scriptable());
}

/// The check can fail: a control without a name, a wrong role and grey on white are found.
#[test]
fn what_is_wrong_is_found() {
    let broken = "<button></button><div role=\"nothing\">x</div><p class=\"pale\">pale</p></main>";
    let page = timed::page().replacen("</main>", broken, 1).replacen("</style>", ".pale { color: #aaa; }</style>", 1);
    let figures = checked(&page, WIDTHS[0]);
    for rule in ["button-name", "aria-roles", "color-contrast"] {
        assert!(figures.text("wrong").contains(rule), "{rule}: {figures:?}");
    }
}
