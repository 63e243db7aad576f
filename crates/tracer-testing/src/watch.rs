//! Names the input at which a fuzzer stands still. It ends the process, because nothing else ends a loop without end.

use std::{
    io::{self, Write as _},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

/// How long one input may take. It is far more than any machine needs for all inputs of a plain run.
const PATIENCE: Duration = Duration::from_mins(10);

/// A fuzzer at work. Where it is dropped while a panic is under way, the input is named.
pub(crate) struct Watch {
    name: String,
    seed: Arc<AtomicU64>,
    /// The thread that watches ends with it.
    _end: mpsc::Sender<()>,
}

impl Watch {
    pub(crate) fn begin(name: &str) -> Self {
        let (end, ended) = mpsc::channel();
        let seed = Arc::new(AtomicU64::new(0));
        let (watched, name) = (Arc::clone(&seed), name.to_owned());
        let text = name.clone();
        thread::spawn(move || {
            let mut last = u64::MAX;
            while ended.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
                let now = watched.load(Ordering::Relaxed);
                if now == last {
                    say(&format!("{text} stands still at input {now}"));
                    std::process::abort();
                }
                last = now;
            }
        });
        Self { name, seed, _end: end }
    }

    pub(crate) fn next(&self, seed: u64) {
        self.seed.store(seed, Ordering::Relaxed);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if thread::panicking() {
            say(&format!("{} failed at input {}", self.name, self.seed.load(Ordering::Relaxed)));
        }
    }
}

fn say(text: &str) {
    // Who runs it may have closed that.
    let _: io::Result<()> = writeln!(io::stderr(), "{text}");
}
