//! The manual page and the completions of an installed package, asked for as `man` and the shells do. A shell that is not on this
//! machine is named as not tried.

use anyhow::{Context as _, Result, ensure};

use crate::process;

/// A program, what it is asked, and what its answer holds if it has found jtrace's file.
struct Reader {
    program: &'static str,
    arguments: &'static [&'static str],
    answer: &'static str,
}

const READERS: [Reader; 4] = [
    Reader { program: "man", arguments: &["--where", "jtrace"], answer: "/usr/share/man/man1/jtrace.1.gz" },
    Reader {
        program: "bash",
        // The first use of a command loads its completions; without bash-completion nothing does.
        arguments: &[
            "--norc",
            "-c",
            "f=/usr/share/bash-completion/bash_completion; test -f $f || { echo missing; exit; }; \
             . $f; _completion_loader jtrace; complete -p jtrace",
        ],
        answer: "-F _jtrace jtrace",
    },
    Reader {
        program: "zsh",
        arguments: &["-fc", "autoload -Uz compinit; compinit -D; print $_comps[jtrace]"],
        answer: "_jtrace",
    },
    Reader { program: "fish", arguments: &["-c", "complete --do-complete 'jtrace atta'"], answer: "attach" },
];

/// Asks all that are here.
pub(super) fn find_all() -> Result<()> {
    // Some shells make folders at home.
    let home = tempfile::tempdir().context("cannot make a folder")?;
    for Reader { program, arguments, answer } in READERS {
        if !process::on_path(program) {
            println!("package: not tried with {program}, which is not on this machine");
            continue;
        }
        // bash-completion's loader ends with a status of its own.
        let output = process::command(program).args(arguments).env("HOME", home.path()).output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        if said.trim() == "missing" {
            println!("package: not tried with {program}: bash-completion is not on this machine");
            continue;
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(said.contains(answer), "{program} does not find jtrace's file: {said}{errors}");
        println!("package: {program} finds the file of the .deb ({})", said.trim().lines().next().unwrap_or_default());
    }
    Ok(())
}
