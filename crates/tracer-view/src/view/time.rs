//! What the process spends its wall time on, a line for each part with a bar: the same on the screen, in text and in the page.

use super::{escape, format, name, text::chart::bar};
use crate::report::Doing;

/// Fewest columns in which it can be said what they do.
const LEAST: usize = 12;

/// Columns of the bars.
const BAR: usize = 10;

/// A part: how many threads, on average, or how much of the time, and what it is.
pub(super) fn amount(doing: &Doing) -> String {
    match doing.state {
        "stopped" => format::percent(100.0 * doing.threads),
        _ => format!("{:.2}", doing.threads),
    }
}

/// What they do, where, and which threads they are.
pub(super) fn words(doing: &Doing) -> String {
    let Doing { state: _, what, threads: _, place, pool } = doing;
    let at = place.as_ref().map(|place| format!(", most at {place}")).unwrap_or_default();
    let of = pool.as_ref().map(|pool| format!(", threads {pool}")).unwrap_or_default();
    format!("{what}{at}{of}")
}

/// The most of these words that has room: packages give way first, those of places last, then the pool, then outer classes. Of what is
/// still too long the middle of what they do is cut, and the place stays.
fn fit(doing: &Doing, width: usize) -> String {
    let what = doing.what.split_once(": ");
    let what = what.map_or_else(|| doing.what.clone(), |(kind, what)| format!("{kind}: {}", name::short(what)));
    let short = Doing { what, ..doing.clone() };
    let shorter = Doing { place: short.place.as_deref().map(name::short), ..short.clone() };
    let shortest = Doing {
        place: shorter.place.as_deref().map(|place| inner_class(place.to_owned())),
        pool: None,
        ..shorter.clone()
    };
    let said = |doing: &Doing| escape::terminal(&words(doing)).into_owned();
    if let Some(whole) = [doing, &short, &shorter].map(said).into_iter().find(|words| escape::width(words) <= width) {
        return whole;
    }
    // Of which pool is said last, so it is cut first.
    if escape::width(&said(&Doing { pool: None, ..shorter.clone() })) < width {
        return escape::ellipsis(&said(&shorter), width).into_owned();
    }
    let place = said(&Doing { what: String::new(), ..shortest.clone() });
    match width.checked_sub(escape::width(&place)).filter(|room| *room >= LEAST) {
        Some(room) => escape::fit(&shortest.what, room) + &place,
        None => escape::fit(&words(&shortest), width),
    }
}

/// A place without the classes that its own lies in: `Shop$Cart.add:12` is `Cart.add:12`.
fn inner_class(place: String) -> String {
    let inner = |(class, method): (&str, &str)| {
        let (_, inner) = class.rsplit_once('$')?;
        // Anonymous classes and lambdas have numbers, which say nothing alone.
        (!inner.is_empty() && !inner.starts_with(|first: char| first.is_ascii_digit()))
            .then(|| format!("{inner}.{method}"))
    };
    place.split_once('.').and_then(inner).unwrap_or(place)
}

/// The largest parts, at most so many, in their order. What runs and what all stood still for are among them where there is room for
/// more than the largest, however many threads of pools wait for work.
pub(super) fn largest(time: &[Doing], most: usize) -> Vec<Doing> {
    let mut sizes: Vec<(usize, &Doing)> = time.iter().enumerate().collect();
    sizes.sort_by(|(_, a), (_, b)| b.threads.total_cmp(&a.threads));
    for state in ["stopped", "runs"] {
        if let Some(at) = sizes.iter().position(|(_, doing)| doing.state == state).filter(|at| *at > 1) {
            sizes[1..=at].rotate_right(1);
        }
    }
    sizes.truncate(most);
    sizes.sort_by_key(|(at, _)| *at);
    sizes.into_iter().map(|(_, doing)| doing.clone()).collect()
}

/// A line for each part, none wider than asked.
pub(super) fn lines(time: &[Doing], width: usize) -> Vec<String> {
    let thousandths = |doing: &Doing| crate::text::format::whole(1000.0 * doing.threads);
    let largest = time.iter().map(thousandths).max().unwrap_or(0).max(1);
    time.iter()
        .map(|doing| {
            let bar = bar(thousandths(doing), largest, BAR);
            let head = format!("  {:<7} {:>6} {bar:<BAR$} ", escape::fit(doing.state, 7), amount(doing));
            let room = width.saturating_sub(escape::width(&head));
            escape::ellipsis(&format!("{head}{}", fit(doing, room)), width).into_owned()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::sample;

    #[test]
    fn what_runs_is_shown_beside_pools_that_wait() {
        let doing = |state, threads| Doing { state, what: String::new(), threads, place: None, pool: None };
        let time =
            [doing("runs", 0.6), doing("runs", 0.2), doing("stopped", 0.1), doing("waits", 11.0), doing("waits", 2.0)];
        let shown = |most| largest(&time, most).iter().map(|doing| doing.threads).collect::<Vec<_>>();
        assert_eq!(shown(1), [11.0], "the largest is never left out");
        assert_eq!(shown(2), [0.6, 11.0]);
        assert_eq!(shown(3), [0.6, 0.1, 11.0]);
        assert_eq!(shown(4), [0.6, 0.1, 11.0, 2.0]);
        assert_eq!(largest(&time[3..], 1).len(), 1);
    }

    #[test]
    fn of_many_parts_the_largest_stay_in_their_order() {
        let largest = largest(&sample::report().time, 3);
        let said: Vec<_> = largest.iter().map(|doing| (doing.state, amount(doing))).collect();
        assert_eq!(
            said,
            [("runs", "1.35".to_owned()), ("stopped", "31.0 %".to_owned()), ("waits", "13.20".to_owned())]
        );
    }

    #[test]
    fn parts_have_bars_by_their_size_and_no_line_is_too_wide() {
        let time = sample::report().time;
        for width in [20, 40, 80, 200] {
            for line in lines(&time, width) {
                assert!(escape::width(&line) <= width, "{width}: {line}");
                assert_eq!(escape::terminal(&line), line);
            }
        }
        let at_80 = |doing: Doing| lines(&[doing], 80)[0].clone();
        let cart = Doing { what: "monitor: com.shop.checkout.basket.Cart".into(), ..time[3].clone() };
        assert_eq!(at_80(cart), "  waits    13.20 ██████████ monitor: Cart, most at Cart.add:12, threads http-wo…");
        let link = Some("sockets.SlowDownstream$StockLink.level:35".into());
        let socket = Doing { what: "socket: TCP 127.0.0.1:43191 (poll)".into(), place: link, ..time[3].clone() };
        assert_eq!(at_80(socket), "  waits    13.20 ██████████ socket:…0.1:43191 (poll), most at StockLink.level:35");
        let lines = lines(&time, 80);
        assert_eq!(lines[0], "  runs      1.35 █          Java, most at com.shop.Cart.price");
        assert!(lines[2].starts_with("  stopped 31.0 % ▎"), "{}", lines[2]);
        assert!(lines[3].ends_with(", most at Cart.add:12"), "{}", lines[3]);
    }
}
