//! Names the input at which a fuzzer stands still. It ends the process, because nothing else ends a loop without end.

use std::{
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

/// A fuzzer at work. Where it is dropped without its end, a panic is under way, and the input is named.
pub(super) struct Watch {
    name: String,
    seed: Arc<AtomicU64>,
    end: Option<mpsc::Sender<()>>,
}

impl Watch {
    pub(super) fn begin(name: &str) -> Self {
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
        Self { name, seed, end: Some(end) }
    }

    pub(super) fn next(&self, seed: u64) {
        self.seed.store(seed, Ordering::Relaxed);
    }

    pub(super) fn end(mut self) {
        self.end = None;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if self.end.is_some() {
            say(&format!("{} failed at input {}", self.name, self.seed.load(Ordering::Relaxed)));
        }
    }
}

fn say(text: &str) {
    eprintln!("{text}");
}
