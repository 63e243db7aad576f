//! `jtrace top`: all JVMs of the machine on one screen, with the worst finding of each. Each is followed by a process apart, so one that
//! holds up whoever looks into it holds up nobody else.

mod apart;
mod machine;
mod screen;

use std::{
    io::{self, BufWriter, IsTerminal as _, Write as _},
    process::ExitCode,
    time::{Duration, Instant},
};

pub(super) use self::apart::{WatchOptions, watch};
use self::machine::Machine;
use super::{Failure, options};
use crate::{
    ending,
    view::{text::TextOptions, top},
};

/// How long it is looked where nobody watches the screen: until rules that need several looks can say something.
const USUAL: Duration = Duration::from_secs(8);
/// How often it is seen whether something has come.
const STEP: Duration = Duration::from_millis(100);

/// Options of `jtrace top`.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Print one table after this time (`8s`), instead of the screen; the default where there is no terminal
    #[arg(short, long, value_name = "TIME", value_parser = options::duration)]
    duration: Option<Duration>,

    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &Options) -> Result<ExitCode, Failure> {
    ending::heed()?;
    let mut machine = Machine::new();
    let on_terminal = io::stdout().is_terminal() && io::stdin().is_terminal();
    if on_terminal && options.duration.is_none() && !options.json {
        screen::show(&mut machine)?;
        return Ok(ExitCode::SUCCESS);
    }
    // Its time begins when it is known which JVMs there are, however long others make that take.
    while !machine.has_listed() && ending::count() == 0 {
        machine.step(STEP)?;
    }
    let until = Instant::now() + options.duration.unwrap_or(USUAL);
    while Instant::now() < until && ending::count() == 0 {
        machine.step(STEP.min(until.saturating_duration_since(Instant::now())))?;
    }
    print(&machine, options.json)?;
    Ok(ExitCode::SUCCESS)
}

fn print(machine: &Machine, json: bool) -> Result<(), Failure> {
    let rows = machine.rows();
    let mut out = BufWriter::new(io::stdout().lock());
    if json {
        let document = serde_json::json!({ "jvms": rows, "missing": machine.missing() });
        serde_json::to_writer_pretty(&mut out, &document).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        for (_, line) in top::lines(&rows, TextOptions::for_stdout().width) {
            writeln!(out, "{}", line.trim_end())?;
        }
        for sentence in machine.missing() {
            writeln!(out, "{sentence}")?;
        }
    }
    Ok(out.flush()?)
}
