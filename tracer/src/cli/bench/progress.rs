//! How a session goes on: a bar on a terminal, a line for each run elsewhere.

use std::{
    io::{self, IsTerminal as _},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use crate::{
    bench::{
        Error,
        results::{Run, Skipped},
        session::News,
    },
    cli::attach::say,
    text::{escape, format},
};

/// How often the bar is drawn while a run lasts; often enough for a clock, and nothing that a run would feel.
const TICK: Duration = Duration::from_secs(1);

/// What stands on the terminal.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    /// When the session ends, as far as is known.
    end: Arc<Mutex<Option<Instant>>>,
    /// What runs now.
    now: String,
}

impl Progress {
    /// A bar where there is a terminal.
    pub(super) fn new() -> Self {
        let end = Arc::new(Mutex::new(None));
        let bar = io::stderr().is_terminal().then(|| bar(&end));
        Self { bar, end, now: String::new() }
    }

    /// Shows what happened.
    pub(super) fn hear(&mut self, news: News<'_>) {
        match news {
            News::Begins { program, configuration, round, done, of, left } => {
                let what = format!("{program} {configuration}, round {}", round + 1);
                let what = escape::terminal(&what).into_owned();
                *self.end.lock().unwrap_or_else(PoisonError::into_inner) = left.map(|left| Instant::now() + left);
                if let Some(bar) = &self.bar {
                    bar.set_length(of as u64);
                    bar.set_position(done as u64);
                    bar.set_message(what);
                } else {
                    let left = left.map_or_else(String::new, |left| format!(", {} left", clock(left)));
                    self.now = format!("{}/{of}{left}: {what}", done + 1);
                }
            }
            News::Counts { program } => {
                if let Some(bar) = &self.bar {
                    bar.set_message(escape::terminal(&format!("{program}, counting its methods")).into_owned());
                }
            }
            News::Counted { program, methods } => self.say(&counted(program, methods)),
            News::Made(run) => self.line(&self.now, run),
            News::Skipped(skipped) => self.say(&sentence(skipped)),
        }
    }

    fn line(&self, now: &str, run: &Run) {
        match &self.bar {
            Some(bar) => bar.inc(1),
            None => say(&format!("{now}: {}", format::duration(run.wall_ns))),
        }
    }

    fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| say(text)),
            None => say(text),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(end: &Arc<Mutex<Option<Instant>>>) -> ProgressBar {
    let end = Arc::clone(end);
    let left = move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
        let end = *end.lock().unwrap_or_else(PoisonError::into_inner);
        let text = end.map_or_else(
            || "time left unknown".to_owned(),
            |end| format!("{} left", clock(end.saturating_duration_since(Instant::now()))),
        );
        // Nothing is lost with it but a word on the screen.
        let _: std::fmt::Result = out.write_str(&text);
    };
    let style = ProgressStyle::with_template("{elapsed_precise} [{bar:24}] {pos}/{len}, {left}: {msg}");
    let bar = ProgressBar::new(0);
    if let Ok(style) = style {
        bar.set_style(style.with_key("left", left).progress_chars("=> "));
    }
    bar.enable_steady_tick(TICK);
    bar
}

/// `h:mm:ss`.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

fn counted(program: &str, methods: Result<u64, &Error>) -> String {
    let text = match methods {
        Ok(methods) => format!("{program} executes {methods} methods of its own"),
        Err(why) => format!("nobody knows how many methods {program} executes: {why}"),
    };
    escape::terminal(&text).into_owned()
}

fn sentence(skipped: &Skipped) -> String {
    let Skipped { program, configuration, why } = skipped;
    let what: Vec<_> = [program, configuration].into_iter().flatten().map(String::as_str).collect();
    escape::terminal(&format!("skipped {}: {why}", what.join(" "))).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_failed_says_why() {
        assert_eq!(counted("h2", Ok(3000)), "h2 executes 3000 methods of its own");
        let error = Error::program("h2", "failed: \u{1b}");
        let expected = "nobody knows how many methods h2 executes: h2 failed: \\x1b";
        assert_eq!(counted("h2", Err(&error)), expected);
    }

    #[test]
    fn times_are_clocks_and_what_is_skipped_is_harmless() {
        assert_eq!(clock(Duration::from_secs(3 * 3600 + 62)), "3:01:02");
        let skipped = Skipped { program: None, configuration: Some("lens:gc".to_owned()), why: "\u{1b}[2J".to_owned() };
        assert_eq!(sentence(&skipped), "skipped lens:gc: \\x1b[2J");
    }
}
