//! A headless Chromium: opens a page from disk, runs a script in it, and listens where the page's requests would go.

use std::{
    cell::Cell,
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    process::Command,
    thread,
};

use tempfile::TempDir;

/// The policy of jtrace's pages lets scripts run that carry this word.
pub(crate) const NONCE: &str = "jtrace-report-1";

/// Begins the injected script: `say` reports a line, and what a page must not do is watched from the beginning.
const WATCH: &str = r#"
window.seen = { violations: 0, errors: [] };
addEventListener("securitypolicyviolation", () => { seen.violations++; });
addEventListener("error", (event) => { seen.errors.push(event.message); });
"#;

/// Runs the test's script, then says what happened to the page. A script that waits for nothing is over at once.
const DRIVEN: &str = r#"
(async () => {
try { SCRIPT } catch (error) { seen.errors.push(String(error)); }
say("owned", window.owned);
say("strangers", document.querySelectorAll("img,iframe,object,embed,link,a,base,form,svg script").length);
say("resources", performance.getEntriesByType("resource").length);
say("violations", seen.violations);
seen.errors.forEach((message) => say("error", message));
const drawn = performance.getEntriesByName("jtrace-drawn")[0];
if (drawn) say("drawn_ms", drawn.startTime);
const outcome = document.createElement("pre");
outcome.id = "outcome";
outcome.textContent = said.join("&");
document.body.append(outcome);
})();
"#;

/// Widths of windows, in pixels, of a laptop and of a desk.
pub(crate) const WIDTHS: [u32; 2] = [1280, 1920];

/// The browser and the place where its requests end.
pub(crate) struct Browser {
    width: u32,
    proxy: TcpListener,
    opened: Cell<u32>,
    folder: TempDir,
}

/// What a page said, and what it asked for.
#[derive(Debug)]
pub(crate) struct Figures {
    said: Vec<(String, String)>,
    requests: Vec<String>,
}

impl Browser {
    /// Makes a place for a browser with a window of the usual width.
    pub(crate) fn start() -> Self {
        Self::of_width(WIDTHS[0])
    }

    /// The same with a window of this width.
    pub(crate) fn of_width(width: u32) -> Self {
        let folder = tempfile::tempdir().expect("a directory");
        Self { width, proxy: TcpListener::bind("127.0.0.1:0").expect("a port"), opened: Cell::new(0), folder }
    }

    /// Opens a page and runs a script at its end.
    pub(crate) fn open(&self, page: &str, script: &str) -> Figures {
        self.show(page, &format!("{{ {DRIVEN} }}").replace("SCRIPT", script), &[])
    }

    /// Opens a page and runs a script when the page has come to rest: what it does in its own time is done by then.
    pub(crate) fn open_and_wait(&self, page: &str, script: &str) -> Figures {
        // The browser's clock runs ahead as fast as there is nothing to do.
        let script = format!("setTimeout(() => {{ {DRIVEN} }}, 1000);").replace("SCRIPT", script);
        self.show(page, &script, &["--virtual-time-budget=5000"])
    }

    fn show(&self, page: &str, script: &str, options: &[&str]) -> Figures {
        let number = self.opened.replace(self.opened.get() + 1);
        let file = self.folder.path().join(format!("page{number}.html"));
        let say = "const said = [], say = (key, value) => said.push(key + '=' + encodeURIComponent(String(value)));";
        let watched = page.replacen("<body>", &format!("<body><script nonce=\"{NONCE}\">{WATCH}</script>"), 1);
        let end = format!("<script nonce=\"{NONCE}\">{say}\n{script}</script></body>");
        let at = watched.rfind("</body>").expect("a page with a body");
        std::fs::write(&file, format!("{}{end}{}", &watched[..at], &watched[at + "</body>".len()..])).expect("a page");
        let address = self.proxy.local_addr().expect("an address");
        let (dom, requests) = thread::scope(|scope| {
            let proxy = scope.spawn({
                let proxy = &self.proxy;
                || requests(proxy)
            });
            let dom = self.dump(&file, address, options);
            TcpStream::connect(address).and_then(|mut stream| stream.write_all(STOP)).expect("the proxy listens");
            (dom, proxy.join().expect("the proxy ends"))
        });
        let outcome =
            dom.rsplit_once("<pre id=\"outcome\">").map(|(_, rest)| rest.split("</pre>").next().unwrap_or(""));
        let outcome = outcome.unwrap_or_else(|| panic!("the page said nothing: {}", &dom[..dom.len().min(2000)]));
        let said = outcome.split("&amp;").filter_map(|line| line.split_once('='));
        Figures { said: said.map(|(key, value)| (key.to_owned(), decoded(value))).collect(), requests }
    }

    /// The document after its scripts ran.
    fn dump(&self, file: &std::path::Path, proxy: SocketAddr, options: &[&str]) -> String {
        let mut chromium = Command::new("timeout");
        chromium.args(["--kill-after=5", "600", "chromium", "--headless", "--no-sandbox", "--disable-gpu"]);
        chromium.args(["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-sync"]);
        chromium.args(["--disable-component-update", "--disable-dev-shm-usage", "--dump-dom"]);
        chromium.arg(format!("--window-size={},900", self.width));
        chromium.arg(format!("--proxy-server=http://{proxy}")).arg("--proxy-bypass-list=<-loopback>");
        chromium.args(options).arg(format!("--user-data-dir={}", self.folder.path().join("profile").display()));
        chromium.arg(format!("file://{}", file.display()));
        let output = chromium.output().expect("the program `timeout`");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() != Some(127),
            "Chromium is not installed, so the page is not tested: `cargo xtask setup` installs it ({errors})"
        );
        assert!(output.status.success(), "Chromium: {}: {errors}", output.status);
        String::from_utf8(output.stdout).expect("a document in UTF-8")
    }
}

/// What the test says to the proxy when the browser is gone.
const STOP: &[u8] = b"STOP\n";

/// The first lines of all requests until the test says that there will be no more.
fn requests(proxy: &TcpListener) -> Vec<String> {
    let mut requests = Vec::new();
    for stream in proxy.incoming() {
        let (mut line, mut byte) = (Vec::new(), [0]);
        let Ok(mut stream) = stream else { continue };
        while line.len() < 4096 && matches!(stream.read(&mut byte), Ok(1)) && byte != *b"\n" {
            line.extend(byte);
        }
        if line == STOP[..STOP.len() - 1] {
            break;
        }
        requests.push(String::from_utf8_lossy(&line).into_owned());
        // The browser need not know that there is nobody; an answer ends its waiting.
        let _: std::io::Result<()> =
            stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    }
    requests
}

/// Undoes `encodeURIComponent`.
fn decoded(text: &str) -> String {
    let mut out = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let hex = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        out.push(match byte {
            b'%' => match (hex(bytes.next()), hex(bytes.next())) {
                (Some(high), Some(low)) => u8::try_from(high * 16 + low).expect("two digits"),
                _ => panic!("half a character in {text}"),
            },
            other => other,
        });
    }
    String::from_utf8(out).expect("what was encoded from a text")
}

impl Figures {
    /// What the page said under a word.
    pub(crate) fn text(&self, key: &str) -> &str {
        let found = self.said.iter().find(|(said, _)| said == key);
        found.map_or_else(|| panic!("the page did not say {key}: {self:?}"), |(_, value)| value.as_str())
    }

    /// The number that it said under a word.
    pub(crate) fn number(&self, key: &str) -> f64 {
        self.text(key).parse().expect("a number")
    }

    /// Errors of its scripts.
    pub(crate) fn errors(&self) -> Vec<&str> {
        self.said.iter().filter(|(key, _)| key == "error").map(|(_, value)| value.as_str()).collect()
    }

    /// Whether it asked for anything of a host. What Chromium asks for on its own account has other hosts.
    pub(crate) fn asked_for(&self, host: &str) -> bool {
        self.requests.iter().any(|request| request.contains(host))
    }
}
