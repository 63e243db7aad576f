//! `jtrace markers check`: what markers would match in class files on disk. Attaches nothing, needs no JVM and no root.

use std::{
    io::{self, Write as _},
    path::PathBuf,
    process::ExitCode,
};

use super::{super::Failure, MarkerOptions};
use crate::{
    marker::{
        check::{Check, MANY_METHODS, MarkerCheck},
        class_path::{self, ClassPath},
    },
    text::{escape, format::plural},
    view::json,
};

/// Options of `jtrace markers check`.
#[derive(Debug, clap::Args)]
pub(super) struct CheckOptions {
    /// The file of markers
    #[arg(value_name = "FILE", conflicts_with = "spec")]
    file: Option<PathBuf>,

    #[command(flatten)]
    markers: MarkerOptions,

    /// A jar with classes to look at; can be repeated
    #[arg(long, value_name = "FILE")]
    jar: Vec<PathBuf>,

    /// A folder with class files, or a list of folders and jars with `:` between them; can be repeated
    #[arg(long, value_name = "PATH")]
    class_path: Vec<String>,

    /// Show all methods and places, and not only the first of each marker
    #[arg(long)]
    all: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Places of a marker that are shown without `--all`.
const FIRST_PLACES: usize = 10;

pub(super) fn run(options: &CheckOptions) -> Result<ExitCode, Failure> {
    let spec = options.file.clone().or_else(|| options.markers.spec.clone());
    let markers = MarkerOptions { spec, marker: options.markers.marker.clone() };
    if markers.spec.is_none() && markers.marker.is_empty() {
        let hint = "as in `jtrace markers check file.toml`, or --marker 'checkout=com.shop.*::checkout'".to_owned();
        return Err(Failure::usage("missing FILE or --marker", hint));
    }
    let spec = markers.read()?;
    let folders = options.class_path.iter().flat_map(|list| list.split(':')).filter(|path| !path.is_empty());
    let paths: Vec<PathBuf> = options.jar.iter().cloned().chain(folders.map(PathBuf::from)).collect();
    if paths.is_empty() {
        return described(&spec, options.json);
    }
    let classes = ClassPath::read(&paths).map_err(|error| {
        let hint = error.hint();
        Failure::new(error, hint)
    })?;
    let check = Check::of(&spec, &classes);
    let mut out = Vec::new();
    if options.json {
        json::write_line(&check, &mut out)?;
    } else {
        write(&check, &classes, options.all, &mut out)?;
    }
    io::stdout().write_all(&out)?;
    // As with `doctor`: scripts can ask.
    Ok(if check.is_sound() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Without classes only the markers themselves can be looked at.
fn described(spec: &crate::marker::Spec, as_json: bool) -> Result<ExitCode, Failure> {
    let mut out = Vec::new();
    if as_json {
        json::write_line(&spec.asked(), &mut out)?;
    } else {
        for wish in &spec.wishes {
            let (name, pattern) = (escape::terminal(&wish.marker.name), escape::terminal(&wish.marker.pattern));
            writeln!(out, "{name}: {pattern}")?;
        }
        writeln!(
            out,
            "{} without a mistake; --jar and --class-path show what they match",
            plural(spec.wishes.len() as u64, "marker", "markers")
        )?;
    }
    io::stdout().write_all(&out)?;
    Ok(ExitCode::SUCCESS)
}

fn write(check: &Check, classes: &ClassPath, all: bool, out: &mut impl io::Write) -> io::Result<()> {
    for marker in &check.markers {
        write_marker(marker, all, out)?;
    }
    let found = plural(classes.classes.len() as u64, "class", "classes");
    writeln!(
        out,
        "{} in {found} of {}",
        plural(check.methods, "method", "methods"),
        plural(classes.paths, "path", "paths")
    )?;
    for class_path::Left { what, reason } in classes.left.iter().take(FIRST_PLACES) {
        writeln!(out, "  not looked at: {} ({})", escape::terminal(what), escape::terminal(reason))?;
    }
    if check.methods > MANY_METHODS {
        writeln!(out, "more than {MANY_METHODS} methods: `jtrace markers` wants --yes for so many")?;
    }
    Ok(())
}

fn write_marker(marker: &MarkerCheck, all: bool, out: &mut impl io::Write) -> io::Result<()> {
    let MarkerCheck { name, pattern, classes, methods, places, place_count, skipped, skipped_count, nearest, token: _ } =
        marker;
    writeln!(out, "{}: {}", escape::terminal(name), escape::terminal(pattern))?;
    if *place_count == 0 && *skipped_count == 0 {
        let what = if *methods > 0 {
            format!("{} and no such place in them", plural(*methods, "method", "methods"))
        } else {
            "nothing".to_owned()
        };
        writeln!(out, "  matches {what}")?;
        if !nearest.is_empty() {
            let names: Vec<_> = nearest.iter().map(|name| escape::terminal(name)).collect();
            writeln!(out, "  nearest names: {}", names.join(", "))?;
        }
    } else {
        writeln!(
            out,
            "  {} in {} of {}",
            plural(*place_count, "place", "places"),
            plural(*methods, "method", "methods"),
            plural(*classes, "class", "classes")
        )?;
    }
    let shown = if all { usize::MAX } else { FIRST_PLACES };
    for place in places.iter().take(shown) {
        let line = place.line.map_or_else(|| format!("bytecode {}", place.bci), |line| format!("line {line}"));
        let method = format!("{}.{}{}", place.class, place.method, place.descriptor);
        writeln!(out, "    {}  {line}", escape::terminal(&method))?;
    }
    let more = place_count.saturating_sub(places.len().min(shown) as u64);
    if more > 0 {
        writeln!(out, "    {more} more{}", if all { "" } else { "; --all shows them" })?;
    }
    for skipped in skipped.iter().take(shown) {
        let method = skipped.method.as_ref().map_or(String::new(), |(name, descriptor)| format!(".{name}{descriptor}"));
        let what = format!("{}{method}", skipped.class);
        writeln!(out, "    left out: {} ({})", escape::terminal(&what), escape::terminal(&skipped.reason))?;
    }
    let more = skipped_count.saturating_sub(skipped.len().min(shown) as u64);
    if more > 0 {
        writeln!(out, "    {more} more are left out")?;
    }
    Ok(())
}
