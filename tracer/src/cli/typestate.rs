//! `jtrace typestate check|graph|list`: looks at properties, and at no JVM.

use std::{
    fs,
    io::{self, Read as _, Write as _},
    path::Path,
    process::ExitCode,
};

use clap::ValueEnum;
use serde::Serialize;
use tracer_weave::Rule;

use super::{
    Failure, attach, demand,
    outside::{LOCK_ORDER, LOCK_ORDER_MESSAGE},
};
use crate::{
    lens::Lens,
    predicate::error::nearest,
    text::escape,
    typestate::{
        MAX_BYTES, Property, drawing,
        library::{ENTRIES, Entry},
    },
    view::json,
};

/// Options of `jtrace typestate`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct Options {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    attach: attach::Options,
}

impl Options {
    /// Whether a JVM is attached to.
    pub(super) fn attaches(&self) -> bool {
        self.command.is_none()
    }
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Read properties, and show what becomes of them
    Check {
        /// Property files, or names of the library (`hasnext`); all of the library where there is none
        #[arg(value_name = "FILE|NAME")]
        properties: Vec<String>,

        /// Print JSON, with the rules by which methods are chosen
        #[arg(long)]
        json: bool,
    },
    /// Draw a property's automaton
    Graph {
        /// Property file, or a name of the library (`hasnext`)
        #[arg(value_name = "FILE|NAME")]
        property: String,

        /// How to draw it
        #[arg(long, default_value = "text")]
        format: Format,
    },
    /// List the properties of the library
    List,
}

/// A property and what would be woven for it.
#[derive(Debug, Serialize)]
struct Checked {
    #[serde(flatten)]
    property: Property,
    rules: Vec<Rule>,
}

/// How an automaton is drawn.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// A table of transitions
    Text,
    /// A graph for Graphviz
    Dot,
}

pub(super) fn run(options: Options) -> Result<ExitCode, Failure> {
    let Options { command, mut attach } = options;
    match command {
        Some(Command::Check { properties, json }) => check(&properties, json),
        Some(Command::Graph { property, format }) => graph(&property, format),
        Some(Command::List) => list(),
        None => {
            // Who asks for objects' protocols asks for the library; nothing is loaded where nothing is woven.
            attach.watch.inside.inside = true;
            demand::run(attach, Lens::Typestate)
        }
    }
}

/// Reads the property of a file, or of a name of the library.
pub(super) fn property(named: &str) -> Result<Property, Failure> {
    if let Some(entry) = Entry::find(named) {
        return Ok(Property::parse(entry.file, entry.text)?);
    }
    let is_file = named.contains('/') || Path::new(named).extension().is_some() || Path::new(named).is_file();
    if !is_file {
        let hint = nearest(named, ENTRIES.iter().map(Entry::name)).map_or_else(
            || "`jtrace typestate list` shows those that come with jtrace; a file has a / or an ending".to_owned(),
            |nearest| format!("did you mean {nearest}?"),
        );
        return Err(Failure::usage(format!("there is no property {named}"), hint));
    }
    Ok(Property::parse(named, &read(named)?)?)
}

/// One byte more than a property may have, so that too large a file is told as such, whatever it is.
fn read(path: &str) -> Result<String, Failure> {
    let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    let done = fs::File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes));
    let hint = "a property is a TOML file; `jtrace typestate list` shows those that come with jtrace";
    done.map_err(|error| Failure::usage(format!("cannot read {path}: {error}"), hint.to_owned()))?;
    String::from_utf8(bytes).map_err(|_| Failure::usage(format!("{path} is no text"), hint.to_owned()))
}

/// Every mistake is told, not only that of the first file.
fn check(properties: &[String], json: bool) -> Result<ExitCode, Failure> {
    let names: Vec<&str> = match properties {
        [] => ENTRIES.iter().map(Entry::name).collect(),
        some => some.iter().map(String::as_str).collect(),
    };
    let mut code = ExitCode::SUCCESS;
    let mut read = Vec::new();
    for name in names {
        match property(name) {
            Ok(property) => read.push(Checked { rules: property.rules(0), property }),
            Err(failure) => code = failure.report(),
        }
    }
    let mut out = Vec::new();
    if json {
        json::write_line(&read, &mut out)?;
    } else {
        let texts: Vec<String> = read.iter().map(|checked| drawing::describe(&checked.property)).collect();
        out.extend(texts.join("\n").into_bytes());
    }
    io::stdout().write_all(&out)?;
    Ok(code)
}

fn graph(named: &str, format: Format) -> Result<ExitCode, Failure> {
    let property = property(named)?;
    let drawn = match format {
        Format::Text => drawing::table(&property.machine),
        Format::Dot => drawing::dot(&property),
    };
    io::stdout().write_all(drawn.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn list() -> Result<ExitCode, Failure> {
    let width = ENTRIES.iter().map(|entry| entry.name().len()).max().unwrap_or(0);
    for entry in ENTRIES {
        let property = Property::parse(entry.file, entry.text)?;
        writeln!(io::stdout(), "{:width$}  {}", entry.name(), escape::terminal(&property.message))?;
    }
    writeln!(io::stdout(), "{LOCK_ORDER:width$}  {LOCK_ORDER_MESSAGE}")?;
    Ok(ExitCode::SUCCESS)
}
