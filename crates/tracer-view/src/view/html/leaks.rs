//! What goes on growing in a heap as a page: each suspect in words, with how much there was of it in each snapshot as bars.

use std::io;

use super::{bar_without_range, begin, end, escape, flame, list, paragraph};
use crate::{
    heap::leaks::{Leaks, Suspect},
    text::format::{bytes, plural},
    view::{heap_diff, leaks as words},
};

/// Writes the page.
pub fn write(leaks: &Leaks, out: &mut dyn io::Write) -> io::Result<()> {
    let Leaks { schema: _, snapshots, span_ms, cautions, so_far, suspects, further, others, only_weak_bytes: _ } =
        leaks;
    let origin = snapshots.last().map(|side| &side.origin);
    let title = origin.map_or_else(String::new, |origin| match origin.pid {
        0 => escape::html(&origin.file).into_owned(),
        pid => format!("{pid} {}", escape::html(&origin.command)),
    });
    begin(&format!("leaks of {title}"), "", out)?;
    writeln!(out, "<h1>What goes on growing in {title}</h1>")?;
    list(&snapshots.iter().map(heap_diff::sentence).collect::<Vec<_>>(), out)?;
    if !cautions.is_empty() || *so_far {
        writeln!(out, "<div class=\"complete gaps\">")?;
        let so_far = so_far.then(|| words::SO_FAR.to_owned());
        list(&cautions.iter().cloned().chain(so_far).collect::<Vec<_>>(), out)?;
        writeln!(out, "</div>")?;
    }
    writeln!(out, "{}</div>\n<section id=\"suspects\"><h2>Suspects</h2>", bar_without_range())?;
    if suspects.is_empty() {
        paragraph("none", out)?;
    }
    for (rank, one) in (1..).zip(suspects) {
        suspect(rank, one, (snapshots.len(), *span_ms), out)?;
    }
    if *further > 0 {
        paragraph(&plural(*further as u64, "further one", "further ones"), out)?;
    }
    writeln!(out, "</section>")?;
    if !others.is_empty() {
        writeln!(out, "<section id=\"others\"><h2>What has grown besides</h2>")?;
        list(&others.iter().map(words::besides).collect::<Vec<_>>(), out)?;
        writeln!(out, "</section>")?;
    }
    end(flame::Graphs::default(), out)
}

fn suspect(rank: usize, suspect: &Suspect, seen: (usize, Option<u64>), out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "<div class=\"finding warning\">")?;
    writeln!(out, "<h3>{rank}. {}</h3>", escape::html(&words::title(suspect, seen)))?;
    let sizes: Vec<u64> = suspect.amounts.iter().map(|amount| amount.bytes).collect();
    bars(&sizes, out)?;
    let texts = [words::holder(suspect), words::series(&suspect.amounts), words::parts(suspect)];
    list(&texts.into_iter().chain(words::places(suspect)).collect::<Vec<_>>(), out)?;
    writeln!(out, "</div>")
}

/// Bytes in each snapshot.
fn bars(sizes: &[u64], out: &mut dyn io::Write) -> io::Result<()> {
    let most = sizes.iter().copied().max().unwrap_or(0).max(1);
    writeln!(out, "<svg viewBox=\"0 0 {} 100\" preserveAspectRatio=\"none\" role=\"img\">", sizes.len().max(1))?;
    for (at, size) in sizes.iter().enumerate() {
        let height = 100.0 * *size as f64 / most as f64;
        let (top, label) = (100.0 - height, bytes(*size));
        writeln!(
            out,
            "<rect x=\"{at}.05\" y=\"{top:.1}\" width=\".9\" height=\"{height:.1}\"><title>snapshot {}: {label}</title></rect>",
            at + 1
        )?;
    }
    writeln!(out, "</svg>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{heap::sample, view::sample::HOSTILE};

    fn page(leaks: &Leaks) -> String {
        let mut out = Vec::new();
        write(leaks, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_page_has_each_suspect_with_its_bars_and_what_holds_it() {
        let leaks = sample::leaks();
        let page = page(&leaks);
        assert_eq!(page.matches("<h3>").count(), leaks.suspects.len());
        assert_eq!(page.matches("<rect ").count(), leaks.suspects.len() * leaks.snapshots.len());
        for part in
            ["What goes on growing in 4711 com.shop.Main", "holds it: ", "<title>snapshot 3: ", "height=\"100.0\""]
        {
            assert!(page.contains(part), "{part}");
        }
        let others: Vec<_> = leaks.others.iter().map(words::besides).collect();
        assert!(!others.is_empty() && others.iter().all(|other| page.contains(&*escape::html(other))), "{others:?}");
    }

    #[test]
    fn names_cannot_open_an_element() {
        let mut leaks = sample::leaks();
        let suspect = leaks.suspects.first_mut().expect("a suspect");
        HOSTILE.clone_into(&mut suspect.class);
        leaks.cautions.push(HOSTILE.to_owned());
        leaks.snapshots.last_mut().expect("a snapshot").origin.command = HOSTILE.to_owned();
        leaks.others.iter_mut().flat_map(|other| &mut other.way).for_each(|step| step.class = HOSTILE.to_owned());
        let page = page(&leaks);
        assert!(page.contains(&*escape::html(HOSTILE)) && !page.contains(HOSTILE));
    }
}
