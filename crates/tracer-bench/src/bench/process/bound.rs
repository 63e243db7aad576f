//! Commands whose processes do not outlive us, even where we are killed and can end nothing ourselves, and that heed an
//! interrupt, even where we were started to ignore it (as `nohup jtrace bench &` is).
//!
//! The kernel sends a process a signal when its parent dies, if the process asks for it between fork and exec; and what is
//! ignored is inherited. To change both there takes `unsafe` code; `setpriv` of util-linux and `env` of the GNU coreutils do
//! it in our place and then become the program, with the same pid. What they take, a few milliseconds, is spent before the
//! program begins. Where they are not, or know less (as those of busybox), a command is as it was.

use std::{
    ffi::OsStr,
    io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
};

/// What stands before a program. The search path is not asked, because this may run as root.
const PREFIX: [&str; 6] = ["/usr/bin/setpriv", "--pdeathsig", "KILL", "--", "/usr/bin/env", "--default-signal=INT"];

/// Starts a command so that its process is killed when the thread that calls this ends. `finish` sets what cannot be read from
/// a command: its streams and its process group.
pub(in crate::bench) fn spawn(command: &Command, finish: impl FnOnce(&mut Command)) -> io::Result<Child> {
    let mut bound = bind(command, can_bind());
    finish(&mut bound);
    bound.spawn()
}

/// Whether the tools that stand before a program are here and understand what they are told; found out once.
fn can_bind() -> bool {
    static CAN: OnceLock<bool> = OnceLock::new();
    *CAN.get_or_init(|| {
        let mut trial = Command::new(PREFIX[0]);
        trial.args(&PREFIX[1..]).arg("true").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        trial.status().is_ok_and(|status| status.success())
    })
}

/// The command behind the tools that bind it. One whose program is not there is left alone, so that its error is the
/// system's own.
fn bind(command: &Command, can: bool) -> Command {
    // `env` takes a word with an equals sign for a variable.
    let is_variable = command.get_program().as_encoded_bytes().contains(&b'=');
    let mut bound = if can && !is_variable && is_there(command.get_program()) {
        let mut bound = Command::new(PREFIX[0]);
        bound.args(&PREFIX[1..]).arg(command.get_program());
        bound
    } else {
        Command::new(command.get_program())
    };
    bound.args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => bound.env(name, value),
            None => bound.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        bound.current_dir(folder);
    }
    bound
}

/// Whether a program can be run: at its path, or on the search path where it is only a name.
fn is_there(program: &OsStr) -> bool {
    let can_run =
        |path: PathBuf| path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0);
    let path = Path::new(program);
    if path.components().count() > 1 {
        return can_run(path.to_owned());
    }
    std::env::var_os("PATH")
        .is_some_and(|folders| std::env::split_paths(&folders).any(|folder| can_run(folder.join(path))))
}

#[cfg(test)]
mod tests {
    use std::{io::Read as _, os::unix::process::ExitStatusExt as _, sync::mpsc, thread};

    use super::*;

    #[test]
    fn a_process_is_killed_when_who_started_it_ends() {
        if !can_bind() {
            eprintln!("skipped: no setpriv or env that can do it");
            return;
        }
        let (started, child) = mpsc::channel();
        // The kernel's parent is a thread, so a thread stands in for a process that is killed.
        thread::spawn(move || {
            let mut command = Command::new("sh");
            // It reads until its input ends, which it does not while the test holds it.
            command.args(["-c", "echo $$ $WORD; read line"]).env("WORD", "here");
            let mut child = spawn(&command, |command| {
                command.stdin(Stdio::piped()).stdout(Stdio::piped());
            })
            .unwrap();
            let mut said = [0; 64];
            let count = child.stdout.as_mut().unwrap().read(&mut said).unwrap();
            let said = String::from_utf8_lossy(&said[..count]).into_owned();
            started.send((child, said)).unwrap();
        });
        let (mut child, said) = child.recv().unwrap();
        assert_eq!(said, format!("{} here\n", child.id()), "the pid is the program's own");
        let input = child.stdin.take();
        assert_eq!(child.wait().unwrap().signal(), Some(9));
        drop(input);
    }

    #[test]
    fn a_command_keeps_its_words_variables_and_folder() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "true"]).env("WORD", "x").env_remove("OTHER").current_dir("/tmp");
        let bound = bind(&command, true);
        assert_eq!(bound.get_program(), PREFIX[0]);
        assert_eq!(bound.get_args().collect::<Vec<_>>(), [&PREFIX[1..], &["/bin/sh", "-c", "true"]].concat());
        assert_eq!(bound.get_current_dir(), Some(Path::new("/tmp")));
        assert!(bound.get_envs().eq(command.get_envs()));
        assert_eq!(bind(&command, false).get_program(), "/bin/sh");
    }

    #[test]
    fn a_program_whose_path_would_be_taken_for_a_variable_is_started_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("a=b");
        std::os::unix::fs::symlink("/bin/sh", &program).unwrap();
        assert_eq!(bind(&Command::new(&program), true).get_program(), program);
    }

    #[test]
    fn a_program_that_is_not_there_is_the_systems_own_error() {
        for program in ["/nonexistent/java", "no-such-program-anywhere", "/tmp"] {
            assert!(spawn(&Command::new(program), |_| {}).is_err(), "{program}");
        }
    }
}
