//! How long HTML reports take in headless Chromium, by the browser's own clock: from the navigation to the drawn graph, to search
//! in them, and from frame to frame while a range is drawn. One has 100,000 stacks, one is of 10 minutes of 5,000 events a second.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    thread,
};

use anyhow::{Context as _, Result, ensure};

use super::{budget::Figure, measure_binary, statistics::median};
use crate::{process, workspace};

const STACKS: u64 = 100_000;
const SECONDS: u64 = 600;
const PER_SECOND: u64 = 5000;

/// The policy of jtrace's pages lets scripts run that carry this word.
const NONCE: &str = "jtrace-report-1";
/// How the policy begins; here the page may ask us.
const POLICY: &str = "default-src 'none';";
/// What we are told where the browser has ended.
const GONE: &[u8] = b"gone";
const DRIVEN: &str = include_str!("page/driven.js");

/// What one opening of a page took, in ms.
struct Opening {
    drawn: f64,
    /// The usual search and the longest.
    searches: [f64; 2],
    /// The usual frame and the longest.
    frames: [f64; 2],
}

/// A page, and what its openings are called.
struct Made {
    open: &'static str,
    search: &'static str,
    frame: &'static str,
    kind: &'static str,
    numbers: &'static [u64],
}

const PAGES: [Made; 2] = [
    Made {
        open: "html_100000_stacks_open_ms",
        search: "html_100000_stacks_search_ms",
        frame: "html_100000_stacks_frame_ms",
        kind: "stacks",
        numbers: &[STACKS],
    },
    Made {
        open: "html_3000000_events_open_ms",
        search: "html_3000000_events_search_ms",
        frame: "html_3000000_events_frame_ms",
        kind: "session",
        numbers: &[SECONDS, PER_SECOND],
    },
];

pub(crate) fn measure(times: usize) -> Result<Vec<Figure>> {
    let figures: Vec<_> = PAGES.iter().map(|made| page(made, times)).collect::<Result<_>>()?;
    Ok(figures.into_iter().flatten().collect())
}

fn page(made: &Made, times: usize) -> Result<Vec<Figure>> {
    let Made { open: opens, search, frame, kind, numbers } = *made;
    if !process::on_path("chromium") {
        return Ok(vec![Figure::absent(opens, "Chromium is not installed: `cargo xtask setup` installs it")]);
    }
    let folder = tempfile::tempdir_in(workspace::target())?;
    let recording = folder.path().join("made.jtrace");
    let mut make = process::command(measure_binary());
    process::run(make.arg(kind).arg(&recording).args(numbers.iter().map(u64::to_string)))?;
    let page = folder.path().join("made.html");
    let mut report = process::command(workspace::jtrace());
    process::output(report.arg("report").arg(&recording).arg("--text").arg("-o").arg(&page))?;
    let text = fs::read_to_string(&page)?;
    let openings: Vec<Opening> = (0..times).map(|_| open(&text, &page, folder.path())).collect::<Result<_>>()?;
    let figure = |name: &'static str, what: &str, usual: fn(&Opening) -> f64, longest: fn(&Opening) -> f64| {
        let all: Vec<f64> = openings.iter().map(usual).collect();
        let worst = openings.iter().map(longest).fold(0.0, f64::max);
        Figure::new(name, median(&all), format!("{what}, median of {times}, worst {worst:.0} ms"))
    };
    let size = format!("a page of {} KiB", text.len() / 1024);
    Ok(vec![
        figure(opens, &size, |opening| opening.drawn, |opening| opening.drawn),
        figure(search, "six texts", |opening| opening.searches[0], |opening| opening.searches[1]),
        figure(frame, "120 frames while a range is drawn", |opening| opening.frames[0], |opening| opening.frames[1]),
    ])
}

/// Opens the page. Its load is not over before it has told us, as an image of it is ours and waits: so it is shown in real time.
fn open(text: &str, page: &Path, folder: &Path) -> Result<Opening> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port().to_string();
    let end = text.rfind("</body>").context("a page without an end")?;
    ensure!(text.contains(POLICY), "the page has another policy");
    let script = DRIVEN.replace("PORT", &port);
    let asks =
        format!("<img alt=\"\" src=\"http://127.0.0.1:{port}/wait\"><script nonce=\"{NONCE}\">{script}</script>");
    let watched = format!("{}{asks}{}", &text[..end], &text[end..]);
    fs::write(page, watched.replacen(POLICY, &format!("{POLICY} img-src http://127.0.0.1:{port};"), 1))?;
    let mut chromium = process::command("timeout");
    chromium.args(["--kill-after=5", "120", "chromium", "--headless", "--no-sandbox", "--disable-gpu"]);
    chromium.args([
        "--no-first-run",
        "--disable-background-networking",
        "--disable-sync",
        "--disable-component-update",
    ]);
    chromium.args(["--disable-dev-shm-usage", "--window-size=1280,900", "--dump-dom"]);
    chromium.arg(format!("--user-data-dir={}", folder.join("profile").display()));
    chromium.arg(format!("file://{}", page.display()));
    chromium.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let (mut child, address) = (chromium.spawn().context("cannot start `timeout`")?, listener.local_addr()?);
    thread::scope(|scope| {
        // A browser that is gone tells nothing.
        scope.spawn(move || {
            _ = child.wait();
            _ = TcpStream::connect(address).and_then(|mut stream| stream.write_all(GONE));
        });
        told(&listener)
    })
}

/// Waits for the page's figures; everything else that it asks for waits until then.
fn told(listener: &TcpListener) -> Result<Opening> {
    let mut waiting = Vec::new();
    for stream in listener.incoming() {
        let mut stream = stream?;
        let mut request = [0; 1024];
        let length = stream.read(&mut request)?;
        let request = String::from_utf8_lossy(&request[..length]).into_owned();
        waiting.push(stream);
        ensure!(request.as_bytes() != GONE, "Chromium ended before the page had said anything");
        let Some((_, rest)) = request.split_once(" /told/") else { continue };
        for mut stream in waiting {
            // The browser need not be there any more.
            _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
        let figures = rest.split(' ').next().unwrap_or_default();
        let figures: Vec<f64> =
            figures.split('/').map(str::parse).collect::<Result<_, _>>().context(figures.to_owned())?;
        let &[drawn, search, longest_search, frame, longest_frame] = &figures[..] else {
            anyhow::bail!("the page says {figures:?}");
        };
        ensure!(drawn.is_finite(), "the graph was never drawn");
        return Ok(Opening { drawn, searches: [search, longest_search], frames: [frame, longest_frame] });
    }
    anyhow::bail!("the page said nothing")
}
