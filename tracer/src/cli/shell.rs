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

/// One page for all commands.
pub(super) fn man() -> Result<ExitCode, Failure> {
    let mut page = Vec::new();
    let manual = clap_mangen::Man::new(super::command());
    manual.render_title(&mut page)?;
    manual.render_name_section(&mut page)?;
    manual.render_synopsis_section(&mut page)?;
    manual.render_description_section(&mut page)?;
    for subcommand in super::command().get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        let name = format!("jtrace {}", subcommand.get_name());
        writeln!(page, ".SH {}", name.to_uppercase())?;
        let mut sections = Vec::new();
        let manual = clap_mangen::Man::new(subcommand.clone().bin_name(name));
        manual.render_synopsis_section(&mut sections)?;
        manual.render_description_section(&mut sections)?;
        manual.render_options_section(&mut sections)?;
        // They are parts of this command's section.
        page.extend_from_slice(String::from_utf8_lossy(&sections).replace(".SH ", ".SS ").as_bytes());
    }
    // Lines stay as they are, and a backslash or a dot at their beginning would be a command.
    let examples = super::EXAMPLES.lines().skip(1).map(|line| line.replace('\\', "\\e")).collect::<Vec<_>>();
    writeln!(page, ".SH EXAMPLES\n.nf\n{}\n.fi", examples.join("\n"))?;
    io::stdout().write_all(&page)?;
    Ok(ExitCode::SUCCESS)
}
