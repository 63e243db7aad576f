//! Reports of made-up results: what they say, and that nothing in them comes alive.

use std::collections::BTreeMap;

use super::*;
use crate::{
    bench::{
        results::{Environment, Method, Observed, Run, VERSION},
        sample,
    },
    text::escape,
};

/// Results of a session in which nothing was run.
fn nothing() -> Results {
    Results {
        version: VERSION,
        started_s: 0,
        environment: Environment::default(),
        method: Method::default(),
        programs: Vec::new(),
        configurations: Vec::new(),
        configuration_flags: BTreeMap::new(),
        runs: Vec::new(),
        skipped: Vec::new(),
    }
}

/// Results whose every text is hostile.
fn hostile() -> Results {
    let word = || format!("=cmd\r\n\t\u{1b}[2J\u{2066}{}", sample::HOSTILE);
    let mut results = sample::results();
    let environment = &mut results.environment;
    for text in [&mut environment.jtrace, &mut environment.kernel, &mut environment.cpu, &mut environment.jvm] {
        *text = word();
    }
    for text in [&mut environment.vendor, &mut environment.collector, &mut results.method.size] {
        *text = word();
    }
    environment.flags = vec![word()];
    environment.tools = BTreeMap::from([(word(), word())]);
    for program in &mut results.programs {
        (program.what, program.source, program.command) = (word(), word(), vec![word(), word()]);
    }
    for run in &mut results.runs {
        run.configuration = if run.configuration == "plain" { "plain".to_owned() } else { word() + &run.configuration };
        run.counts.insert(word(), 7);
        if let Some(observed) = &mut run.observed {
            observed.command = vec![word(), word()];
            observed.partial = Some(word());
            observed.answers.insert(word(), 8);
        }
    }
    for skipped in &mut results.skipped {
        skipped.why = word();
        skipped.configuration = Some(word());
    }
    results
}

/// The results of all tests that hold for any.
fn all() -> [Results; 3] {
    [sample::results(), hostile(), nothing()]
}

#[test]
fn text_report() {
    insta::assert_snapshot!(text(&sample::results()));
}

#[test]
fn markdown_report() {
    insta::assert_snapshot!(markdown(&sample::results()));
}

#[test]
fn plots_of_two_programs() {
    let mut results = sample::results();
    results.runs.retain(|run| run.program != "h2" && run.round < 6 && !run.configuration.contains("alloc"));
    let page = html(&results);
    let figures: Vec<&str> = page.split("<figure>").skip(1).filter_map(|rest| rest.split("</figure>").next()).collect();
    insta::assert_snapshot!(figures.join("\n"));
}

#[test]
fn no_line_on_a_terminal_is_too_wide_or_drives_it() {
    for results in all() {
        for line in text(&results).lines() {
            assert!(escape::width(line) <= text::WIDTH, "{}: {line}", escape::width(line));
            assert_eq!(escape::terminal(line), line);
        }
    }
}

#[test]
fn no_report_has_a_raw_character_that_acts() {
    for results in all() {
        for (report, end) in [(markdown(&results), "\n"), (html(&results), "\n"), (csv(&results), "\r\n")] {
            for line in report.split(end) {
                assert_eq!(escape::terminal(line), line);
            }
        }
    }
}

#[test]
fn tables_of_markdown_have_as_many_cells_in_every_row() {
    for results in all() {
        let report = markdown(&results);
        let cells = |line: &str| line.replace(r"\\", "").replace(r"\|", "").matches('|').count();
        let (mut expected, mut is_code, mut tables) = (None, false, 0);
        for line in report.lines() {
            is_code ^= line.starts_with("```");
            if is_code || !line.starts_with('|') {
                assert!(is_code || !line.contains('<'), "markup: {line}");
                expected = None;
                continue;
            }
            tables += usize::from(expected.is_none());
            assert_eq!(*expected.get_or_insert(cells(line)), cells(line), "{line}");
            assert!(!line.contains('<'), "markup: {line}");
        }
        assert!(!is_code, "code is not ended");
        assert!(tables >= 1);
    }
}

#[test]
fn page_runs_nothing_and_refers_to_nothing() {
    for results in all() {
        let page = html(&results);
        for word in ["<script", "http://", "https://", "src=", "url(", "@import", "javascript:", " onload", "<img"] {
            assert!(!page.contains(word), "{word}");
        }
        assert!(page.matches("href=").count() == page.matches("href=\"#s").count());
    }
    assert!(html(&sample::results()).contains("&lt;script&gt;alert(1)&lt;/script&gt;\\u{202e}&quot;&#39;&amp;"));
}

#[test]
fn elements_of_the_page_are_closed_and_named() {
    for results in all() {
        let page = html(&results);
        let count = |what: &str| page.matches(what).count();
        for name in [
            "html",
            "head",
            "body",
            "main",
            "section",
            "nav",
            "ul",
            "li",
            "a",
            "h1",
            "h2",
            "h3",
            "p",
            "pre",
            "dl",
            "dt",
            "dd",
            "div",
            "table",
            "caption",
            "thead",
            "tbody",
            "tr",
            "th",
            "td",
            "figure",
            "figcaption",
            "svg",
            "text",
            "title",
            "style",
        ] {
            let opened = count(&format!("<{name}>")) + count(&format!("<{name} "));
            assert_eq!(opened, count(&format!("</{name}>")), "{name}");
        }
        assert_eq!(count("<table>"), count("<caption>"));
        assert_eq!(count("<th "), count("<th scope="), "a head that is of neither a row nor a column");
        assert_eq!(count("<svg "), count("role=\"img\" aria-label="));
    }
}

#[test]
fn every_run_and_every_interval_is_drawn() {
    let page = html(&sample::results());
    let plots = |what: &str| page.matches(&format!("<figcaption>{what}")).count();
    // The mean has no interval, nor has the third program; the fifth did not run at all. Three programs have runs so slow
    // that the others are drawn again on an axis of their own.
    assert_eq!((plots("Slowdown, geometric mean"), plots("Slowdown of "), plots("Time of each run of ")), (0, 6, 7));
    let near = |run: &&Run| {
        let slow = ["markers:100", "typestate:hasnext", "calls"].contains(&run.configuration.as_str());
        run.program != sample::HOSTILE && !slow
    };
    let results = sample::results();
    let points = results.runs.len() + results.runs.iter().filter(near).count();
    assert_eq!(page.matches("class=\"run\"").count(), points, "a point a run, and again where it is drawn again");
    let mut results = sample::results();
    results.runs.retain(|run| run.program == "fop");
    assert!(html(&results).contains("<figcaption>Slowdown, geometric mean"));
    assert!(!html(&nothing()).contains("<figure>"));
}

/// What the text and the ground of the page differ by, as WCAG 2 has it.
fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
    let linear = |part: f64| if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) };
    let light = |[red, green, blue]: [f64; 3]| 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
    let (one, other) = (light(one) + 0.05, light(other) + 0.05);
    one.max(other) / one.min(other)
}

#[test]
fn text_of_the_page_can_be_read_in_light_and_dark() {
    let colour = |block: &str, name: &str| -> [f64; 3] {
        let digits = block.split(&format!("--{name}: #")).nth(1).unwrap().split(';').next().unwrap();
        let twice = digits.len() == 3;
        let digits: String = digits.chars().flat_map(|digit| [digit].repeat(if twice { 2 } else { 1 })).collect();
        [0, 2, 4].map(|at| f64::from(u8::from_str_radix(&digits[at..at + 2], 16).unwrap()) / 255.0)
    };
    let blocks: Vec<&str> = include_str!("html.css").split(":root").skip(1).collect();
    assert_eq!(blocks.len(), 2, "light and dark");
    for block in blocks {
        for ink in ["ink", "dim", "mark", "alarm"] {
            for ground in ["ground", "band"] {
                let contrast = contrast(colour(block, ink), colour(block, ground));
                assert!(contrast >= 4.5, "{ink} on {ground}: {contrast:.2}");
            }
        }
    }
}

/// A file of RFC 4180 as records of fields.
fn records(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut fields, mut field, mut is_quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' if is_quoted && rest.peek() == Some(&'"') => field.extend(rest.next()),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(std::mem::take(&mut field)),
            '\n' if !is_quoted => {
                fields.push(field.strip_suffix('\r').unwrap().to_owned());
                field.clear();
                records.push(std::mem::take(&mut fields));
            }
            c => field.push(c),
        }
    }
    assert!(!is_quoted && field.is_empty() && fields.is_empty(), "the last line is not ended");
    records
}

#[test]
fn a_line_of_csv_has_all_that_is_known_of_a_run() {
    let results = sample::results();
    let records = records(&csv(&results));
    assert_eq!(records.len(), results.runs.len() + 1);
    let column = |name: &str| records[0].iter().position(|title| title == name).unwrap();
    for (run, record) in results.runs.iter().zip(&records[1..]) {
        assert_eq!(record.len(), records[0].len());
        let number = |name| record[column(name)].parse::<u64>().ok();
        assert_eq!(record[column("program")], escape::terminal(&run.program));
        assert_eq!((number("wall_ns"), number("cpu_ns")), (Some(run.wall_ns), run.cpu_ns));
        assert_eq!(number("promoted_bytes"), run.memory.promoted_bytes, "what was not measured is empty");
        let observed = run.observed.clone().unwrap_or_default();
        assert_eq!((number("events_seen"), number("events_lost")), (observed.events, observed.lost));
        assert_eq!(number("parks_counted"), run.counts.get("parks").copied());
        assert_eq!(number("parks_answered"), observed.answers.get("parks").copied());
        assert_eq!((number("seed"), number("max_heap_bytes")), (Some(42), Some(1 << 30)));
    }
}

#[test]
fn no_field_of_csv_is_a_formula() {
    for results in all() {
        for record in records(&csv(&results)) {
            assert!(record.iter().all(|field| !field.starts_with(['=', '+', '-', '@'])), "{record:?}");
        }
    }
}

#[test]
fn answers_are_told_with_both_numbers_and_in_the_words_of_the_observer() {
    let run = |configuration: &str, partial: Option<&str>, answer| Run {
        program: "p".to_owned(),
        configuration: configuration.to_owned(),
        wall_ns: 5,
        counts: [("parks".to_owned(), 400_000)].into(),
        observed: Some(Observed {
            partial: partial.map(str::to_owned),
            answers: [("parks".to_owned(), answer)].into(),
            ..Observed::default()
        }),
        ..Run::default()
    };
    let runs = vec![run("a", None, 399_999), run("b", Some("park detached"), 3), run("c", None, 400_000)];
    let report = markdown(&Results { runs, ..nothing() });
    assert!(report.contains("| **wrong: parks 400,000 expected, 399,999 answered** |"), "{report}");
    assert!(report.contains("| partial: park detached; parks 400,000 expected, 3 answered |"), "{report}");
    assert!(report.contains("| right |"), "{report}");
}

#[test]
fn what_does_not_exist_is_absent_and_not_0() {
    let report = markdown(&nothing());
    let row = report.lines().find(|line| line.starts_with("| avrora |")).unwrap();
    assert_eq!(row.matches("absent").count(), 4, "{row}");
    assert!(report.contains("master's thesis, King Danylo University, 2024"));
}
