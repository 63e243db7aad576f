//! `jtrace probes`: the probe sites of a JVM or of a libjvm.so, with their arguments, and those of the kernel.

use std::{
    io::{self, BufWriter, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use serde::Serialize;

use super::{Failure, apart, opening};
use crate::{
    jvm::{elf, usdt},
    probe::clock::{CLOCKS, Clock},
    text::escape,
    view::json,
};

/// Options of `jtrace probes`.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Process id of a JVM, or path of a libjvm.so
    #[arg(value_name = "PID|LIBJVM")]
    target: String,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// One location of a probe.
#[derive(Debug, Serialize)]
struct Row {
    provider: String,
    name: String,
    /// `None` for a site of the kernel.
    address: Option<u64>,
    file_offset: Option<u64>,
    arguments: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

pub(super) fn run(options: &Options) -> Result<ExitCode, Failure> {
    let path = if let Ok(pid) = options.target.parse::<u32>() {
        opening::only_to_look(pid)?.library.attach_path
    } else {
        apart::only_look()?;
        PathBuf::from(&options.target)
    };
    let sites = read(&path)?;
    let mut out = BufWriter::new(io::stdout().lock());
    let rows: Vec<Row> = sites.sites.into_iter().map(row).chain(CLOCKS.iter().map(clock_row)).collect();
    if options.json {
        json::write_line(&rows, &mut out)?;
    } else {
        write(&rows, &mut out)?;
    }
    out.flush()?;
    if sites.error_count > 0 {
        writeln!(io::stderr(), "warning: {} notes could not be read", sites.error_count)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> Result<usdt::Sites, Failure> {
    let unreadable = |error: elf::Error| {
        Failure::new(
            format!("{}: {error}", path.display()),
            "give the pid of a JVM, or the path of its lib/server/libjvm.so".to_owned(),
        )
    };
    let bytes = elf::read_tables(path).map_err(unreadable)?;
    let elf = elf::Elf::parse(&bytes).map_err(unreadable)?;
    let sites = usdt::read(&elf);
    if sites.is_empty() {
        return Err(Failure::new(
            format!("{} has no USDT probes", path.display()),
            "Debian's, Fedora's and Temurin's builds have them; see `jtrace doctor PID` for what works without"
                .to_owned(),
        ));
    }
    Ok(sites)
}

fn row(site: usdt::Site) -> Row {
    let usdt::Site { provider, name, address, file_offset, arguments, operands, .. } = site;
    let refused = match &file_offset {
        Err(refusal) => Some(refusal.to_string()),
        Ok(_) => operands.iter().find_map(|operand| operand.as_ref().err().map(ToString::to_string)),
    };
    Row { provider, name, address: Some(address), file_offset: file_offset.ok(), arguments, refused }
}

/// A site that is there whatever the JVM is.
fn clock_row(clock: &Clock) -> Row {
    let (provider, name) = clock.name.split_once(':').unwrap_or(("", clock.name));
    Row {
        provider: provider.to_owned(),
        name: name.to_owned(),
        address: None,
        file_offset: None,
        arguments: String::new(),
        refused: None,
    }
}

fn write(rows: &[Row], out: &mut impl io::Write) -> io::Result<()> {
    for Row { provider, name, address, file_offset: _, arguments, refused } in rows {
        let probe = format!("{provider}:{name}");
        let place = address.map_or_else(|| "in the kernel".to_owned(), |address| format!("{address:#012x}"));
        let line = format!("{:<50} {place}  {}", escape::terminal(&probe), escape::terminal(arguments));
        write!(out, "{}", line.trim_end())?;
        match refused {
            Some(reason) => writeln!(out, "  ({})", escape::terminal(reason))?,
            None => writeln!(out)?,
        }
    }
    Ok(())
}
