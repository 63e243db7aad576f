//! Scenarios as reports: snapshots of text and JSON, and hostile names in every view.
//!
//! A snapshot that changed is looked at and accepted with `INSTA_UPDATE=always`.

use tracer_analysis::session::Session;
use tracer_export::export::events::EventStream;
use tracer_model::{item::Item, report::Report};
use tracer_source::source::scenario::Scenario;
use tracer_view::view::{self, text::TextOptions};

use crate::shared::{Fold, live_report, scenario, scenarios};

fn text(report: &Report) -> String {
    let mut out = Vec::new();
    view::text::write(report, &TextOptions { width: 100, ..TextOptions::default() }, &mut out).expect("memory");
    String::from_utf8(out).expect("text is UTF-8")
}

fn written(write: impl Fn(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("memory takes everything");
    String::from_utf8(out).expect("every view writes UTF-8")
}

#[test]
fn text_of_every_scenario_is_as_it_was() {
    for (name, scenario) in scenarios() {
        insta::assert_snapshot!(format!("{name}_text"), text(&live_report(&scenario)));
    }
}

/// Who looks for findings while a session lasts does without what no rule looks at.
#[test]
fn findings_alone_are_those_of_the_report() {
    let mut found = 0;
    for (name, scenario) in scenarios() {
        let mut fold = Fold::default();
        scenario.play(&mut |item| fold.take(item));
        let findings = fold.findings().expect("a scenario begins with a start");
        assert_eq!(findings, live_report(&scenario).findings, "{name}");
        found += findings.len();
    }
    assert!(found > 5, "scenarios have {found} findings");
}

#[test]
fn json_of_every_scenario_is_as_it_was() {
    for (name, scenario) in scenarios() {
        let report = live_report(&scenario);
        insta::assert_snapshot!(format!("{name}_json"), written(|out| view::json::write(&report, out)));
    }
}

/// What `--events` prints of a scenario.
fn events(scenario: &Scenario) -> String {
    written(|out| {
        let mut stream = EventStream::new(out);
        let mut session = None;
        let mut outcome = Ok(());
        scenario.play(&mut |item| match (item, &mut session) {
            (Item::Start(start), None) => session = Some(Session::new(*start)),
            (item, Some(session)) => {
                let taken = session.accept(&item);
                if outcome.is_ok() {
                    outcome = stream.write(session, &taken);
                }
            }
            (item, None) => panic!("{item:?} comes before the start"),
        });
        outcome.and_then(|()| stream.flush())
    })
}

/// What a terminal, or a reader of a page, would obey rather than show.
fn is_obeyed(letter: char) -> bool {
    letter.is_control() && letter != '\n'
        || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[test]
fn hostile_names_are_harmless_in_every_view() {
    let hostile = scenario("hostile");
    let report = live_report(&hostile);
    let views = [
        ("text", text(&report)),
        ("json", written(|out| view::json::write(&report, out))),
        ("ndjson", written(|out| view::ndjson::write(&report, out))),
        ("html", written(|out| view::html::write(&report, out))),
        ("events", events(&hostile)),
    ];
    for (name, output) in &views {
        assert_eq!(output.chars().find(|letter| is_obeyed(*letter)), None, "{name}: {output}");
        assert!(output.contains("evil"), "{name} shows the names: {output}");
    }
    let [_, (_, json), (_, ndjson), (_, html), (_, events)] = &views;
    serde_json::from_str::<serde_json::Value>(json).expect("the report is JSON");
    for line in ndjson.lines().chain(events.lines()) {
        serde_json::from_str::<serde_json::Value>(line).expect("every line is JSON");
    }
    assert!(html.contains("&lt;b&gt;&amp;amp;") && html.contains("&lt;script&gt;alert"), "{html}");
    assert!(!html.contains("<b>&") && !html.contains("<script>alert"), "{html}");
}

#[test]
fn json_keeps_every_hostile_letter() {
    let json = written(|out| view::json::write(&live_report(&scenario("hostile")), out));
    let value: serde_json::Value = serde_json::from_str(&json).expect("the report is JSON");
    assert_eq!(value["target"]["command"], "evil\u{1b}[2J\nMain", "escaping changes no value");
}

#[test]
fn colours_are_the_only_escapes_of_a_coloured_text() {
    let report = live_report(&scenario("hostile"));
    let options = TextOptions { style: view::text::Style::Colour, ..TextOptions::default() };
    let text = written(|out| view::text::write(&report, &options, out));
    for escape in text.split('\u{1b}').skip(1) {
        let sequence = escape.strip_prefix('[').and_then(|rest| rest.split_once('m'));
        let is_colour =
            sequence.is_some_and(|(codes, _)| codes.chars().all(|code| code.is_ascii_digit() || code == ';'));
        assert!(is_colour, "ESC{escape:?}");
    }
}
