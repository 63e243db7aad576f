//! `jtrace completions` and `jtrace man`.

use std::{io, io::Write as _, process::ExitCode};

use clap_complete::Shell;

use super::Failure;

/// Options of `jtrace completions`.
#[derive(Debug, clap::Args)]
pub(super) struct CompletionsOptions {
    /// Shell to write completions for
    shell: Shell,
}

pub(super) fn completions(options: &CompletionsOptions) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut super::command(), "jtrace", &mut script);
    io::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn man() -> Result<ExitCode, Failure> {
    let mut page = Vec::new();
    let manual = clap_mangen::Man::new(super::command());
    manual.render(&mut page)?;
    for subcommand in super::command().get_subcommands() {
        let name = subcommand.get_name().to_owned();
        let manual = clap_mangen::Man::new(subcommand.clone().name(format!("jtrace {name}")));
        manual.render_synopsis_section(&mut page)?;
        manual.render_description_section(&mut page)?;
        manual.render_options_section(&mut page)?;
    }
    io::stdout().write_all(&page)?;
    Ok(ExitCode::SUCCESS)
}
