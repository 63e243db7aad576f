//! The HTML page in a real browser: the flame graph is drawn, searched, zoomed and turned over, hostile names do nothing, and
//! nothing is asked of any network. Needs Chromium (`cargo xtask setup` installs it), neither root nor a JVM.
#![expect(clippy::panic, reason = "what the tests share fails them as tests do")]

mod access;
mod axe;
mod axis;
mod bench;
mod browser;
mod contents;
mod pages;
mod questions;
mod search;
mod sizes;
mod timed;

use self::browser::{Browser, WIDTHS};

/// What is done to the page of the small profile. Each line that it reports is a check below.
const DRIVE: &str = r#"
const find = (name) => document.querySelector(".flame-" + name), canvas = document.querySelector(".flame-view canvas");
const about = () => find("about").textContent, hits = () => find("hits").textContent;
const picture = () => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const colours = new Set();
  let hash = 0;
  for (let at = 0; at < data.length; at += 4) {
    const colour = data[at] << 16 | data[at + 1] << 8 | data[at + 2];
    if (data[at + 3] === 255) colours.add(colour);
    hash = (Math.imul(hash, 31) + colour) | 0;
  }
  return { colours: colours.size, hash };
};
const seek = (text) => { find("find").value = text; find("find").dispatchEvent(new Event("input")); };
const key = (name) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
const pick = (name, value) => { find(name).value = value; find(name).dispatchEvent(new Event("change")); };

const plain = picture();
say("colours", plain.colours);
say("whole", about());
say("legend", find("legend").textContent);
seek("price");
say("found", hits());
say("marked", picture().hash !== plain.hash);
seek("/^java\\.lang\\.Thread\\.run:\\d+$/");
say("pattern", hits());
seek("/(/");
say("broken", hits());
seek("");
say("cleared", picture().hash === plain.hash);

key("ArrowDown"); key("ArrowDown"); key("ArrowDown");
say("chosen", about());
key("Enter");
say("zoomed", find("path").textContent);
say("zoom_drawn", picture().hash !== plain.hash);
key("Escape");
say("out", find("path").textContent);
find("reset").click();
const place = canvas.getBoundingClientRect();
canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: place.left + 5, clientY: place.top + 19 * 2 + 5 }));
say("tip", find("tip").hidden ? "hidden" : find("tip").textContent);
canvas.dispatchEvent(new MouseEvent("click", { clientX: place.left + 5, clientY: place.top + 19 * 2 + 5 }));
say("clicked", about());
find("path").querySelector("button").click();
say("crumb", about());

key("i");
key("ArrowDown");
say("callers", about());
find("invert").click();
say("upright", about());
say("threads", Array.from(find("thread").options).map((one) => one.textContent).join("|"));
pick("thread", "3");
say("one_thread", about());
pick("thread", "-1");
find("lines").click();
seek("price");
say("merged", hits());
seek("evil");
say("evil", hits());
say("text", document.querySelector(".flame details pre").textContent.includes("com.shop.Cart.price:42"));
"#;

#[test]
fn graph_is_drawn_searched_zoomed_and_turned_over() {
    WIDTHS.into_iter().for_each(is_drawn);
}

#[track_caller]
fn is_drawn(width: u32) {
    let figures = Browser::of_width(width).open(&pages::small(), DRIVE);
    assert!(figures.number("colours") > 20.0, "{figures:?}");
    assert_eq!(figures.text("whole"), "all — total 1.00 s = 100 %, self 0 ns = 0 %");
    assert!(figures.text("legend").starts_with("Java, interpretedJava, compiledJava, inlinednativekernela method"));
    assert_eq!(figures.text("found"), "60.0 % in 2 names");
    assert_eq!(figures.text("marked"), "true");
    assert_eq!(figures.text("pattern"), "90.0 % in 1 name");
    assert_eq!(figures.text("broken"), "no regular expression");
    assert_eq!(figures.text("cleared"), "true");
    assert!(
        figures.text("chosen").starts_with("com.shop.Main.serve:31 — total 900 ms = 90.0 %, self 0 ns"),
        "{figures:?}"
    );
    assert_eq!(figures.text("zoomed"), "allstart_threadjava.lang.Thread.run:840com.shop.Main.serve:31");
    assert_eq!(figures.text("zoom_drawn"), "true");
    assert_eq!(figures.text("out"), "allstart_threadjava.lang.Thread.run:840");
    assert!(figures.text("tip").starts_with("java.lang.Thread.run:840total 900 ms = 90.0 %"), "{figures:?}");
    assert!(figures.text("tip").ends_with("Java, compiled, Thread.java:840"), "{figures:?}");
    assert!(figures.text("clicked").starts_with("java.lang.Thread.run:840 — "), "{figures:?}");
    assert!(figures.text("crumb").starts_with("all — total 1.00 s"), "{figures:?}");
    assert!(figures.text("callers").starts_with("com.shop.Cart.price:42 — total 400 ms = 40.0 %"), "{figures:?}");
    assert!(figures.text("upright").starts_with("all — total 1.00 s"), "{figures:?}");
    assert!(
        figures.text("threads").starts_with("all threads (3)|70.0 %  http-worker-1 (21)|20.0 %  evil"),
        "{figures:?}"
    );
    assert!(figures.text("one_thread").starts_with("all — total 100 ms = 100 %"), "{figures:?}");
    assert_eq!(figures.text("merged"), "60.0 % in 1 name");
    assert_eq!(figures.text("evil"), "10.0 % in 1 name");
    assert_eq!(figures.text("text"), "true");
}

/// How often a page is opened that may not have been shown at all.
const TRIES: u32 = 20;

/// A page with many graphs opens as quickly as one with one.
#[test]
fn a_graph_out_of_sight_is_drawn_when_it_comes_into_sight() {
    let far = "say('drawn', document.querySelectorAll('.flame-about')[1].textContent !== '');";
    assert_eq!(Browser::start().open_and_wait(&pages::two(), far).text("drawn"), "false");
    // Scrolled to before the page comes to rest.
    let page = pages::two().replace("</body>", "<script nonce=\"jtrace-report-1\">scrollTo(0, 1e6);</script></body>");
    // On a busy machine the browser's own clock may run out before it makes a frame, which is when it looks what is in sight.
    assert!((0..TRIES).any(|_| Browser::start().open_and_wait(&page, far).text("drawn") == "true"));
}

#[test]
fn on_paper_all_is_drawn_unfolded_and_light() {
    let script = "document.getElementById('theme').value = 'dark'; page.setTheme('dark');
        const fits = () => {
            // Bars of findings and lanes stand upon one axis, and no graph ends before its last row.
            const lanes = Array.from(document.querySelectorAll('.lane-plot'), (one) => one.clientWidth);
            const charts = Array.from(document.querySelectorAll('.lane-plot canvas'), (one) => one.getBoundingClientRect().width);
            const graphs = Array.from(document.querySelectorAll('.flame-view'), (one) => one.clientHeight - one.querySelector('canvas').getBoundingClientRect().height);
            return new Set(lanes).size === 1 && charts.length > 0 && charts.every((width) => Math.abs(width - lanes[0]) < 1) && graphs.every((rest) => Math.abs(rest) < 1);
        };
        const state = () => [document.querySelectorAll('.flame-about')[1].textContent !== '', document.querySelectorAll('.finding:not([open])').length, page.isDark()].join();
        say('before', state());
        dispatchEvent(new Event('beforeprint')); say('paper', state());
        say('narrow', document.getElementById('page').clientWidth === 1040 && fits());
        dispatchEvent(new Event('afterprint')); say('after', state());
        say('wide_again', document.getElementById('page').clientWidth !== 1040 && fits());";
    let figures = Browser::start().open_and_wait(&timed::page(), script);
    for what in ["narrow", "wide_again"] {
        assert_eq!(figures.text(what), "true", "{what}: {figures:?}");
    }
    assert_eq!(figures.text("before"), "false,1,true", "{figures:?}");
    assert_eq!(figures.text("paper"), "true,0,false");
    assert_eq!(figures.text("after"), "true,0,true");
    assert_eq!(figures.errors(), [""; 0]);
}

#[test]
fn hostile_names_do_nothing_and_no_request_leaves_the_page() {
    let figures = Browser::start().open(&pages::small(), DRIVE);
    for (what, expected) in [("owned", "undefined"), ("strangers", "0"), ("resources", "0"), ("violations", "0")] {
        assert_eq!(figures.text(what), expected, "{what}");
    }
    assert_eq!(figures.errors(), [""; 0]);
    assert!(!figures.asked_for(pages::EVIL_HOST), "{figures:?}");
}

/// The check above can fail: a page without escaping and policy is seen asking, and its script is seen running.
#[test]
fn a_page_that_lets_names_in_is_caught() {
    // The name opens a comment, too.
    let page = format!("<!DOCTYPE html><html><body>{}--></body></html>", pages::EVIL);
    let figures = Browser::start().open(&page, "");
    assert!(figures.asked_for(pages::EVIL_HOST), "{figures:?}");
    assert_eq!(figures.text("owned"), "1");
    assert_ne!(figures.text("strangers"), "0");
}

/// How long that takes is `html_100000_stacks_open_ms` of `cargo xtask bench`.
#[test]
fn a_page_of_100_000_stacks_is_drawn() {
    let page = pages::large(100_000);
    let figures = Browser::start().open(&page, "say('about', document.querySelector('.flame-about').textContent);");
    assert!(figures.number("drawn_ms") > 0.0 && !figures.text("about").is_empty(), "{figures:?}");
}
