//! Limits of time of one input: of CPU time, so that no machine is too busy for them, and of time where an input waits.
//!
//! An input that ends is held to its limit when it does. At one that does not end the process does, because nothing else ends a
//! loop without end; the input is named before.

use std::{
    fs,
    io::{self, Write as _},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use rustix::{
    thread::gettid,
    time::{ClockId, clock_gettime},
};

/// CPU time that one input may take: it is a thousand times what most of them do in a build that is not optimised.
pub(crate) const MAX_CPU: Duration = Duration::from_secs(2);
/// How long an input may take that waits for something.
const PATIENCE: Duration = Duration::from_mins(10);
/// How often it is looked.
const PAUSE: Duration = Duration::from_millis(500);

/// CPU time of this thread.
pub(crate) fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// The input that is being read.
#[derive(Default)]
struct Input {
    number: AtomicU64,
    /// CPU time of the thread when it began, in nanoseconds.
    began_ns: AtomicU64,
}

impl Input {
    fn number(&self) -> u64 {
        self.number.load(Ordering::Acquire)
    }
}

/// A fuzzer at work. Where it is dropped while a panic is under way, the input is named.
pub(crate) struct Watch {
    name: String,
    input: Arc<Input>,
    /// The thread that watches ends with it.
    _end: mpsc::Sender<()>,
}

impl Watch {
    pub(crate) fn begin(name: &str) -> Self {
        let (end, ended) = mpsc::channel();
        let input = Arc::new(Input { number: AtomicU64::new(u64::MAX), began_ns: AtomicU64::new(0) });
        let (watched, text) = (Arc::clone(&input), name.to_owned());
        let accounts = format!("/proc/self/task/{}/schedstat", gettid().as_raw_nonzero());
        thread::spawn(move || {
            let (mut last, mut since) = (u64::MAX, Instant::now());
            while ended.recv_timeout(PAUSE) == Err(mpsc::RecvTimeoutError::Timeout) {
                let number = watched.number();
                let began = Duration::from_nanos(watched.began_ns.load(Ordering::Acquire));
                let used = cpu_of(&accounts).saturating_sub(began);
                if number != last || number != watched.number() {
                    (last, since) = (number, Instant::now());
                } else if number != u64::MAX && (used > MAX_CPU || since.elapsed() > PATIENCE) {
                    say(&format!("{text} stands still at input {number}, which has taken {used:?} of CPU time"));
                    std::process::abort();
                }
            }
        });
        Self { name: name.to_owned(), input, _end: end }
    }

    pub(crate) fn next(&self, number: u64) {
        self.input.began_ns.store(u64::try_from(cpu().as_nanos()).unwrap_or(u64::MAX), Ordering::Release);
        self.input.number.store(number, Ordering::Release);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if thread::panicking() {
            say(&format!("{} failed at input {}", self.name, self.input.number()));
        }
    }
}

/// CPU time of another thread, from the kernel's accounts.
fn cpu_of(accounts: &str) -> Duration {
    let text = fs::read_to_string(accounts).unwrap_or_default();
    Duration::from_nanos(text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0))
}

fn say(text: &str) {
    // Who runs it may have closed that.
    let _: io::Result<()> = writeln!(io::stderr(), "{text}");
}

#[cfg(test)]
mod tests {
    use std::{env, process::Command};

    /// Set in the process that never ends by itself.
    const LOOPS: &str = "LOOPS_WITHOUT_END";

    #[test]
    fn the_one_that_loops() {
        if env::var_os(LOOPS).is_some() {
            crate::each("fuzz_loop", 1 << 20, |dice| while std::hint::black_box(&dice).0 == 7 {});
        }
    }

    #[test]
    fn an_input_that_never_ends_is_named_and_ends_the_process() {
        let name = "watch::tests::the_one_that_loops";
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", name, "--nocapture", "--test-threads=1"]).env(LOOPS, "1");
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains("fuzz_loop stands still at input 7,"), "{said}");
    }
}
