//! The questions of `docs/questions.md`, each asked on the page with as many clicks as stand there. Typing into a box is one.

use tracer_analysis::{finding, session::Session};
use tracer_model::item::Item;
use tracer_source::source::scenario::Scenario;
use tracer_view::view::sample;

use crate::{
    browser::{Browser, WIDTHS},
    pages,
};

/// What answers each question: a script that may click and type, and gives the text that is seen then.
const ASK: &str = r##"
let clicks = 0;
const all = (what) => Array.from(document.querySelectorAll(what));
const seen = (element) => element && element.checkVisibility({ visibilityProperty: true }) ? element.innerText : "";
const click = (element) => {
  if (!seen(element)) throw new Error("nobody can click on " + (element && element.outerHTML));
  clicks++;
  element.click();
};
const type = (id, text, event) => {
  const box = document.getElementById(id);
  if (box.disabled || !box.checkVisibility()) throw new Error("nobody can type into " + id);
  clicks++;
  box.value = text;
  box.dispatchEvent(new Event(event));
};
const finding = (text) => all(".finding").find((one) => one.textContent.includes(text));
const shape = (id) => document.querySelector(`[data-shape="${id}"]`);
const questions = {
  "What is wrong?": () => seen(document.querySelector("section")),
  "What does the process spend its time on?": () => seen(document.getElementById("time")),
  "Which line do threads wait at?": () => seen(document.getElementById("time")),
  "Which thread holds what they wait for?": () => {
    const one = finding("waited for most: ");
    // Only the worst one is unfolded at once.
    one.open = false;
    click(one.querySelector("summary"));
    return seen(one);
  },
  "Where do a finding's numbers stand?": () => {
    click(finding("blocked").querySelector("[data-place]:not([hidden])"));
    return seen(document.activeElement);
  },
  "What do threads wait for, and how many?": () => seen(document.getElementById("time")),
  "Which code uses the CPUs?": () => seen(document.getElementById("lens-cpu")),
  "What stopped all threads, and for how long?": () => seen(document.getElementById("lens-safepoint")),
  "Why does the collector run?": () => seen(document.getElementById("lens-gc")),
  "Who allocates this?": () => { type("search", "byte[]", "input"); return seen(document.getElementById("lens-alloc")); },
  "Which exceptions are thrown, and where?": () => seen(document.getElementById("lens-exceptions")),
  "When was that?": () => all(".lane-bars .bar").filter((bar) => bar.checkVisibility()).map((bar) => bar.getAttribute("aria-label")).join("; "),
  "What changed at 14:03?": () => { type("range-from", MOMENT, "change"); return seen(document.getElementById("range-about")); },
  "What did jtrace cost, and what did it miss?": () => all("#page > p, .complete").map(seen).join(" "),
};
// Tables that are far away are not laid out before somebody scrolls there.
all(".scroll").forEach((one) => { one.style.contentVisibility = "visible"; });
say("questions", Object.keys(questions).join("|"));
for (const [question, ask] of Object.entries(questions)) {
  clicks = 0;
  const answer = ask();
  say(question, clicks + " " + answer);
  page.choose(null);
  page.search("");
  all(".finding").forEach((one, at) => { one.open = at === 0; });
}
"##;

/// What must be seen, in the order of the document.
const ANSWERS: [&[&str]; 14] = [
    &["Findings", "warning: "],
    &["waits", "runs"],
    &["com.shop.Cart.add:12"],
    &["waited for most: "],
    &["Contended monitors"],
    &["monitor", "1.2"],
    &["com.shop.Cart.add"],
    &["G1CollectForAllocation", "210 ms"],
    &["Pauses by cause", "G1 Evacuation Pause"],
    &["Allocation by class and place", "com.shop.Cart.add:12"],
    &["com.shop.Empty", "com.shop.Cart.add:12"],
    &[" s to "],
    &[" chosen"],
    &["cost: ", "jtrace itself", "delivered"],
];

fn page() -> String {
    let scenario = Scenario::parse(sample::INCIDENT).expect("a scenario");
    let mut session: Option<Session> = None;
    scenario.play(&mut |item| {
        if let Item::Start(start) = &item {
            session = Some(Session::new((**start).clone()));
        }
        session.as_mut().expect("it begins with a start").accept(&item);
    });
    let mut report = session.expect("a start").report_with_steps();
    sample::looked(&mut report);
    report.time = finding::time(&report.span, &report.target, &report.sections);
    pages::write(&report)
}

#[test]
fn each_question_is_answered_by_its_clicks() {
    let document = include_str!("../../../docs/questions.md");
    let rows: Vec<(&str, &str)> = document
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| question"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>())
        .map(|cells| (cells[0], cells[3].split(':').next().expect("a number")))
        .collect();
    // The scenario begins at 22:13:20.
    let script = ASK.replace("MOMENT", "\"22:13:21\"");
    for width in WIDTHS {
        let figures = Browser::of_width(width).open_and_wait(&page(), &script);
        assert_eq!(figures.errors(), [""; 0], "{figures:?}");
        let asked: Vec<&str> = figures.text("questions").split('|').collect();
        assert_eq!(asked, rows.iter().map(|(question, _)| *question).collect::<Vec<_>>());
        for ((question, clicks), expected) in rows.iter().zip(ANSWERS) {
            let answer = figures.text(question);
            assert!(answer.starts_with(&format!("{clicks} ")), "{question}: {clicks} clicks, and not {answer}");
            for text in expected {
                assert!(answer.contains(text), "{question}: no {text:?} in {answer}");
            }
        }
    }
}
