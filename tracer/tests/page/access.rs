//! Whether everybody can use the page: names and roles of controls, headings, contrast in both themes, and the way of the
//! focus. The rules are those of WCAG 2.2 AA that a script can decide.

use tracer_view::view::sample;

use crate::{
    browser::{Browser, WIDTHS},
    pages, timed,
};

/// Reports what breaks a rule, one line for each rule and element.
const CHECK: &str = r##"
const wrong = [];
const tell = (rule, element) => wrong.push(rule + ": " + element.tagName + "." + element.className + "#" + element.id + " " + element.textContent.slice(0, 30));
const visible = (element) => element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;
const nameOf = (element) => (element.getAttribute("aria-label") || (element.getAttribute("aria-labelledby") || "").split(" ").map((id) => (document.getElementById(id) || {}).textContent || "").join("")
  || Array.from(element.labels || [], (label) => label.textContent).join("") || (/^(BUTTON|SUMMARY)$/.test(element.tagName) ? element.textContent : "")).trim();
const controls = Array.from(document.querySelectorAll("button,input,select,summary,[tabindex],[role=application],[role=toolbar],meter"));
for (const control of controls) if (!nameOf(control)) tell("name", control);
for (const control of controls) if (control.tabIndex > 0) tell("order", control);
const ids = Array.from(document.querySelectorAll("[id]"), (one) => one.id);
ids.forEach((id, at) => { if (ids.indexOf(id) !== at) wrong.push("id twice: " + id); });
for (const one of document.querySelectorAll("[aria-describedby],[aria-labelledby]")) {
  for (const id of [one.getAttribute("aria-describedby"), one.getAttribute("aria-labelledby")].filter(Boolean).join(" ").split(" ")) if (!document.getElementById(id)) tell("reference " + id, one);
}
let level = 0;
for (const heading of document.querySelectorAll("h1,h2,h3")) {
  const own = Number(heading.tagName[1]);
  if (own > level + 1) tell("heading", heading);
  level = own;
}
for (const th of document.querySelectorAll("th")) if (!th.scope) tell("scope", th);
if (!document.documentElement.lang || !document.title || document.querySelectorAll("main").length !== 1) wrong.push("language, title or main");

const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
const rgba = (text) => { pen.clearRect(0, 0, 1, 1); pen.fillStyle = text; pen.fillRect(0, 0, 1, 1); return Array.from(pen.getImageData(0, 0, 1, 1).data); };
const luminance = ([r, g, b]) => { const part = (value) => { const c = value / 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; }; return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b); };
function ground(element) {
  const layers = [];
  for (let at = element; at; at = at.parentElement) layers.unshift(rgba(getComputedStyle(at).backgroundColor));
  return layers.reduce((below, layer) => below.map((value, at) => at < 3 ? (layer[at] * layer[3] + value * (255 - layer[3])) / 255 : 255), rgba(getComputedStyle(document.documentElement).colorScheme === "dark" ? "#121212" : "#fff"));
}
function contrasts(theme) {
  const select = document.getElementById("theme");
  select.value = theme;
  select.dispatchEvent(new Event("change"));
  let least = 99;
  for (const element of document.querySelectorAll("#page *")) {
    const text = Array.from(element.childNodes).some((node) => node.nodeType === 3 && node.data.trim() !== "");
    if (!text || element.disabled || !visible(element) || /^(SCRIPT|OPTION|NOSCRIPT)$/.test(element.tagName)) continue;
    const a = luminance(rgba(getComputedStyle(element).color)), b = luminance(ground(element)), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    least = Math.min(least, ratio);
    if (ratio < 4.5) tell("contrast " + theme + " " + ratio.toFixed(2), element);
  }
  return least.toFixed(1);
}
page.choose(1e9, 2e9);
const dark = contrasts("dark"), ink = getComputedStyle(document.body).color, light = contrasts("light");
say("themes", getComputedStyle(document.body).color !== ink);
say("contrast", dark > 4.5 && light > 4.5);
say("order", controls.filter((one) => one.tabIndex === 0 && visible(one) && !one.disabled).slice(0, 11).map((one) => one.id || one.tagName).join());
say("wrong", wrong.slice(0, 12).join("; "));
"##;

/// Says whether the window holds the page, in both themes, and whether the charts use it.
const FITS: &str = r##"
const wide = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;
const cut = () => Array.from(document.querySelectorAll("#bar > *, #bar input, .lane, .flame-bar > *, figure.flame")).filter((one) => {
  const { left, right, width } = one.getBoundingClientRect();
  return width > 0 && (left < 0 || right > document.documentElement.clientWidth);
}).length;
const themes = ["dark", "light"].map((theme) => { page.setTheme(theme); return [wide(), cut()].join(" "); });
say("themes", themes.join());
say("inner", innerWidth);
const plots = Array.from(document.querySelectorAll(".lane-plot canvas, .flame-view canvas"), (one) => one.getBoundingClientRect().width / innerWidth);
say("plots", Math.min(...plots.filter((part) => part > 0)));
"##;

#[test]
fn windows_of_a_laptop_and_of_a_desk_hold_the_page() {
    for width in WIDTHS {
        let figures = Browser::of_width(width).open_and_wait(&timed::with_times(), FITS);
        assert_eq!((figures.errors(), figures.text("themes")), (vec![], "0 0,0 0"), "{figures:?}");
        assert_eq!(figures.text("inner"), width.to_string());
        assert!(figures.number("plots") > 0.6, "{figures:?}");
    }
}

#[test]
fn controls_have_names_texts_have_contrast_and_the_focus_goes_from_top_to_bottom() {
    let figures = Browser::start().open_and_wait(&timed::page(), CHECK);
    assert_eq!(figures.errors(), [""; 0], "{figures:?}");
    assert_eq!(figures.text("wrong"), "");
    assert_eq!(figures.text("themes"), "true");
    assert_eq!(figures.text("contrast"), "true");
    // The contents have the findings and two lenses.
    assert_eq!(
        figures.text("order"),
        "search,range-from,range-to,range-whole,theme,BUTTON,BUTTON,BUTTON,SUMMARY,SUMMARY,lanes"
    );
}

/// Every shape that a report can have.
#[test]
fn all_shapes_are_as_accessible() {
    let figures = Browser::start().open_and_wait(&pages::write(&sample::report()), CHECK);
    assert_eq!((figures.errors(), figures.text("wrong")), (vec![], ""), "{figures:?}");
}

/// With bars, buttons and a table that follows a range.
#[test]
fn findings_with_times_are_as_accessible() {
    let figures = Browser::start().open_and_wait(&timed::with_times(), CHECK);
    assert_eq!((figures.errors(), figures.text("wrong")), (vec![], ""), "{figures:?}");
}

/// The check can fail: controls without names, jumps of headings and grey on white are found.
#[test]
fn what_is_wrong_is_found() {
    let broken = "<h4>x</h4><button></button><input id=\"search\"><p class=\"pale\">pale</p></main>";
    let page = timed::page().replacen("</main>", broken, 1).replacen("</style>", ".pale { color: #aaa; }</style>", 1);
    let page = page.replace("<h2>Findings", "<h3>Findings").replace("Findings</h2>", "Findings</h3>");
    let figures = Browser::start().open_and_wait(&page, CHECK);
    for rule in ["name: BUTTON", "id twice: search", "heading: H3", "contrast light 2.32: P.pale"] {
        assert!(figures.text("wrong").contains(rule), "{rule}: {figures:?}");
    }
}
