//! What a fault in jtrace itself comes to: one line, and the end of a session in order. Not for errors, which are `failure`.

use crate::{ending, standard_error, terminal};

/// A panic says one line, takes no memory for it, and ends jtrace in order: in the main thread by unwinding, elsewhere by asking for
/// the end.
pub(super) fn say_on_one_line() {
    std::panic::set_hook(Box::new(|info| {
        terminal::restore();
        let what = info.payload_as_str().unwrap_or("no more is known").lines().next().unwrap_or_default();
        let place = info.location().map_or(("?", 0), |place| (place.file(), place.line()));
        standard_error::line(format_args!("error: a fault in jtrace, at {}:{}: {what}", place.0, place.1));
        if std::thread::current().name() != Some("main") {
            ending::ask(ending::FAULT);
        }
    }));
}

#[cfg(test)]
mod tests {
    use std::{
        env,
        process::{Command, Output},
        thread::Builder,
        time::Duration,
    };

    use super::*;
    use crate::ending::{Cut, Patience, Until};

    /// Set in the process that fails, to the name of the thread.
    const FAILS: &str = "FAILS_IN_A_THREAD";

    /// What stands for a target that was changed.
    struct Changed;

    impl Drop for Changed {
        fn drop(&mut self) {
            println!("\nundone");
        }
    }

    /// The hook and the wish to end are those of a whole process, so another one fails: this test itself, alone.
    fn failed_in(thread: &str) -> Output {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "cli::faults::tests::the_one_who_fails", "--nocapture", "--test-threads=1"]);
        command.env(FAILS, thread).env("RUST_BACKTRACE", "1").output().unwrap()
    }

    #[test]
    fn the_one_who_fails() {
        let Ok(name) = env::var(FAILS) else { return };
        say_on_one_line();
        ending::heed().unwrap();
        let is_main = name == "main";
        let (in_thread, _outside) = if is_main { (Some(Changed), None) } else { (None, Some(Changed)) };
        let thread = Builder::new().name(name).spawn(move || {
            let _changed = in_thread;
            panic!("first line\nsecond line");
        });
        assert!(thread.unwrap().join().is_err());
        if !is_main {
            // Every wait is over. Where nobody has asked for that, this one is so for another reason, and at once.
            assert_eq!(Until::within(Duration::ZERO, Patience::First).is_over(), Some(Cut::Asked));
            assert!(ending::is_failure());
        }
        assert_eq!(ending::asked().map(ending::reason), (!is_main).then_some("a fault in jtrace"));
    }

    #[test]
    fn a_panic_in_any_thread_says_one_line_and_ends_with_undo() {
        for thread in ["main", "looks"] {
            let Output { status, stdout, stderr } = failed_in(thread);
            let (stdout, stderr) = (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
            assert!(status.success(), "{thread}: {stdout}{stderr}");
            assert_eq!(stdout.lines().filter(|line| *line == "undone").count(), 1, "{thread}: {stdout}");
            let said: Vec<&str> = stderr.lines().filter(|line| line.contains("line")).collect();
            assert!(
                matches!(said[..], [line] if line.starts_with("error: a fault in jtrace, at ") && line.ends_with(": first line")),
                "{thread}: {stderr}"
            );
        }
    }
}
