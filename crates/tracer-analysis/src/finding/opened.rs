//! Rules about files and sockets that are opened, or mapped, and stay so.

use super::{
    Evidence,
    pressure::{busiest, of_bytes, of_ns},
};
use crate::{
    lens::Lens::Threads,
    report::{Finding, Severity},
    text::format,
};

/// More and more of files is mapped and in RAM.
pub(super) fn mapped_files(evidence: &Evidence<'_>) -> Option<Finding> {
    const BYTES: f64 = 24e6;
    const LOOKS_IN_A_ROW: u64 = 6;
    let grown = evidence.number(Threads, "mapped_grown_bytes").filter(|grown| *grown >= BYTES)?;
    let looks = evidence.whole(Threads, "looks_mapped").filter(|looks| *looks >= LOOKS_IN_A_ROW)?;
    let file = evidence.rows(Threads, "mapped").next().map(|row| {
        format!(
            ": `{}` by {}, mapped {}",
            row.text("file"),
            format::bytes(row.whole("grown_bytes")),
            format::plural(row.whole("mappings"), "time", "times")
        )
    });
    Some(Finding {
        id: "mapped-files",
        severity: Severity::Info,
        score: grown / 1e6,
        title: format!(
            "Mapped files grew by {} of RAM in {}{}",
            of_bytes(grown),
            format::duration(evidence.span.duration_ns),
            file.unwrap_or_default()
        ),
        shown_in: "threads.mapped",
        when: Vec::new(),
        evidence: [format!("they grew in each of the last {}", format::plural(looks, "look", "looks"))]
            .into_iter()
            .chain(busiest(evidence))
            .collect(),
        next_step:
            "Look which files are mapped (`pmap -x PID`): a mapping lasts until its buffer is collected; a limit of \
                    a container counts what is written to it."
                .to_owned(),
    })
}

/// More and more is opened and stays open, or hardly anything may be opened any more.
pub(super) fn descriptors(evidence: &Evidence<'_>) -> Option<Finding> {
    const GROWN: f64 = 30.0;
    const LOOKS_IN_A_ROW: u64 = 5;
    const LASTS_NS: u64 = 5_000_000_000;
    const NEARLY_ALL: f64 = 0.9;
    const SOON_S: f64 = 24.0 * 3600.0;
    let (now, most) = (evidence.whole(Threads, "descriptors")?, evidence.whole(Threads, "most_descriptors"));
    let grown = evidence.number(Threads, "descriptors_grown")?;
    let looks = evidence.whole(Threads, "looks_descriptors")?;
    // Looks at sockets take long, so there are few.
    let in_each = looks >= 2 && evidence.whole(Threads, "looks") == Some(looks + 1);
    let lasts = looks >= LOOKS_IN_A_ROW || (in_each && evidence.span.duration_ns >= LASTS_NS);
    let grows = grown >= GROWN && lasts;
    let left = most.map(|most| most.saturating_sub(now) as f64);
    let is_short = most.is_some_and(|most| now as f64 >= NEARLY_ALL * most as f64);
    if !grows && !is_short {
        return None;
    }
    let per_s = grown * 1e9 / evidence.span.duration_ns.max(1) as f64;
    let full_s = left.filter(|_| grows).map(|left| left / per_s);
    let of = most.map(|most| format!(" of {}", format::count(most))).unwrap_or_default();
    let row = evidence.rows(Threads, "opened").next();
    let what = row.as_ref().map(|row| row.text("what"));
    let newest = row.as_ref().map(|row| {
        let (descriptors, looked_at) = (row.whole("descriptors"), row.whole("looked_at"));
        format!("{descriptors} of the {looked_at} newest lead to {}", named(&row.text("what")))
    });
    let pace = full_s.map(|full_s| format!("all that it may have in {} at this pace", of_ns(full_s * 1e9)));
    let title = if grows {
        format!(
            "Open descriptors grew by {} in {}, to {}{of}{}",
            format::count(format::whole(grown)),
            format::duration(evidence.span.duration_ns),
            format::count(now),
            what.as_ref().map(|what| format!("; most of the new ones lead to {}", named(what))).unwrap_or_default()
        )
    } else {
        format!("{}{of} descriptors are open: soon no file and no socket can be opened", format::count(now))
    };
    let severity = match full_s {
        _ if is_short => Severity::Critical,
        Some(full_s) if full_s < SOON_S => Severity::Warning,
        _ => Severity::Info,
    };
    Some(Finding {
        id: "open-descriptors",
        severity,
        score: per_s.max(if is_short { 1000.0 } else { 0.0 }),
        title,
        shown_in: "threads.opened",
        when: Vec::new(),
        evidence: [
            grows.then(|| format!("more in each of the last {}", format::plural(looks, "look", "looks"))),
            newest,
            pace,
        ]
        .into_iter()
        .flatten()
        .collect(),
        next_step: format!(
            "Close what is opened (`try` with resources). `ls -l /proc/{}/fd` shows all; {} shows who opens.",
            evidence.target.pid,
            opener(what.as_deref())
        ),
    })
}

/// A file or a peer by its name, and a kind as it is.
fn named(what: &str) -> String {
    if what.starts_with('/') || what.starts_with("TCP ") { format!("`{what}`") } else { what.to_owned() }
}

/// The command that counts who calls the methods of the JDK that open such a thing.
fn opener(what: Option<&str>) -> &'static str {
    match what {
        Some(what) if what.starts_with('/') || what.starts_with("files in ") => {
            "`jtrace calls PID -I 'java.io.File*Stream::<init>' -I 'java.io.RandomAccessFile::<init>'`"
        }
        _ => "`jtrace calls PID -I 'java.net.Socket::<init>' -I 'sun.nio.ch.SocketChannelImpl::<init>'`",
    }
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};

    #[test]
    fn descriptors_that_are_never_closed_are_told_with_what_they_lead_to() {
        let case = |grown: f64, looks: f64, now: f64, most: f64| {
            Case::seconds(10)
                .number("threads", "descriptors", now)
                .number("threads", "descriptors_grown", grown)
                .number("threads", "looks_descriptors", looks)
                .number("threads", "most_descriptors", most)
        };
        let row = [("what", "/etc/app.conf".into()), ("descriptors", 490_u64.into()), ("looked_at", 500_u64.into())];
        let leak = case(500.0, 9.0, 520.0, 4096.0).row("threads", "opened", &row).ask(descriptors).expect("a finding");
        assert_eq!(
            (leak.severity, leak.title.as_str()),
            (
                Severity::Warning,
                "Open descriptors grew by 500 in 10 s, to 520 of 4,096; most of the new ones lead to `/etc/app.conf`"
            )
        );
        assert_eq!(
            leak.evidence,
            [
                "more in each of the last 9 looks",
                "490 of the 500 newest lead to `/etc/app.conf`",
                "all that it may have in 72 s at this pace"
            ]
        );
        let slow = case(40.0, 9.0, 100.0, 1_048_576.0);
        assert_eq!(slow.said(descriptors).0, Severity::Info, "it takes days");
        let few = |all: f64| case(500.0, 3.0, 520.0, 4096.0).number("threads", "looks", all).ask(descriptors).is_some();
        assert_eq!((few(9.0), few(4.0)), (false, true), "it must not end, as connections of a pool do");
        assert_eq!(case(9.0, 9.0, 520.0, 4096.0).ask(descriptors), None);
        assert_eq!(
            case(0.0, 0.0, 4000.0, 4096.0).said(descriptors),
            (
                Severity::Critical,
                "4,000 of 4,096 descriptors are open: soon no file and no socket can be opened".to_owned()
            )
        );
    }

    #[test]
    fn mapped_files_that_grow_in_every_look_are_worth_knowing() {
        let case = |looks: f64| {
            let case = Case::seconds(10).number("threads", "mapped_grown_bytes", 100e6);
            case.number("threads", "looks_mapped", looks)
        };
        let said = case(9.0).said(mapped_files);
        assert_eq!(said, (Severity::Info, "Mapped files grew by 95 MiB of RAM in 10 s".to_owned()));
        assert!(case(2.0).ask(mapped_files).is_none(), "a file was read once");
        let file = [
            ("file", "/data/segments.dat".into()),
            ("grown_bytes", (96_u64 << 20).into()),
            ("mappings", 96_u64.into()),
        ];
        let title = case(9.0).row("threads", "mapped", &file).said(mapped_files).1;
        assert!(title.ends_with("95 MiB of RAM in 10 s: `/data/segments.dat` by 96 MiB, mapped 96 times"), "{title}");
    }
}
