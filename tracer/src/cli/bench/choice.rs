//! What a command line asks for: programs and configurations by name, out of those that there are.

use std::{
    env,
    path::{Path, PathBuf},
};

use super::{super::values::Worded as _, Options, guard};
use crate::{
    bench::{
        Error,
        budget::Budget,
        configuration::{Configuration, PLAIN},
        dacapo, micro, peers,
        program::{Program, Size},
        results::{Method, Results},
        suite,
        user::UserProgram,
        watching,
    },
    cli::Failure,
};

/// What is measured where nobody says it.
const USUAL: [&str; 2] = [PLAIN, "attach"];

/// Programs that need no more than a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Suite {
    /// Real programs from packages of the system
    Packaged,
    /// Small programs that make a known number of events
    Micro,
}

/// What was asked for.
pub(super) struct Chosen {
    /// The programs.
    pub(super) programs: Vec<Box<dyn Program>>,
    /// The configurations.
    pub(super) configurations: Vec<Configuration>,
    /// The `java` of all.
    pub(super) java: PathBuf,
}

/// Finds what the options ask for; of a session that is resumed, what it had.
pub(super) fn choose(
    options: &mut Options,
    earlier: Option<&Results>,
    budget: Option<&Budget>,
) -> Result<Chosen, Failure> {
    if let Some((programs, configurations)) = budget.map(guard::names) {
        ask_for(options, programs, configurations);
    }
    let mut programs = offered(options)?;
    let java = if options.command.is_empty() {
        options.java.clone()
    } else {
        let user = UserProgram::new(std::mem::take(&mut options.command)).map_err(misspelt)?;
        let asks_to_warm_up = options.warm_up.is_some_and(|iterations| iterations > 0) || options.settle.is_some();
        let asks_for_several = options.iterations.is_some_and(|iterations| iterations > 1);
        if programs.is_empty() && asks_to_warm_up {
            let what =
                "a program behind `--` is measured from its start to its end, so nothing comes before to warm it up";
            return Err(Failure::usage(what, "leave out --warm-up and --settle".to_owned()));
        }
        if programs.is_empty() && asks_for_several {
            let what = "a program behind `--` is measured from its start to its end, which is one iteration";
            return Err(Failure::usage(what, "leave out --iterations, and ask for more --runs".to_owned()));
        }
        let java = user.java().to_owned();
        programs.push(Box::new(user));
        java
    };
    if programs.is_empty() {
        let hint = "give --suite, --dacapo, or a program behind `--`".to_owned();
        return Err(Failure::usage("there is no program to measure", hint));
    }
    let names =
        |asked: &[String], were: Option<Vec<String>>| if asked.is_empty() { were } else { Some(asked.to_vec()) };
    let were = earlier.map(|results| results.programs.iter().map(|program| program.name.clone()).collect());
    let programs = match names(&options.programs, were) {
        Some(names) => pick_programs(programs, &names)?,
        None => programs,
    };
    are_different(&programs)?;
    let words = names(&options.configurations, earlier.map(|results| results.configurations.clone()));
    let words = words.unwrap_or_else(|| USUAL.map(str::to_owned).to_vec());
    let jtrace = options.jtrace.clone().map_or_else(env::current_exe, Ok)?;
    let mut configurations = watching::configurations(&jtrace);
    configurations.extend(peers::all(options.async_profiler.as_deref()));
    Ok(Chosen { programs, configurations: pick_configurations(configurations, &words)?, java: absolute(java)? })
}

/// Asks for what a budget needs, where nothing else was asked for.
fn ask_for(options: &mut Options, programs: Vec<String>, configurations: Vec<String>) {
    let Options { suite, dacapo, command, .. } = options;
    if suite.is_empty() && dacapo.is_none() && command.is_empty() {
        *suite = vec![Suite::Packaged, Suite::Micro];
    }
    if options.programs.is_empty() {
        options.programs = programs;
    }
    if options.configurations.is_empty() {
        options.configurations = configurations;
    }
}

/// A command that does not begin with `java` is a matter of the command line.
fn misspelt(error: Error) -> Failure {
    match error {
        Error::Missing { what, hint } => Failure::usage(format!("{what} is not there"), hint),
        other => other.into(),
    }
}

/// Programs run in folders of their own, where a relative path leads elsewhere.
fn absolute(java: PathBuf) -> Result<PathBuf, Failure> {
    if java.components().count() > 1 { Ok(std::path::absolute(java)?) } else { Ok(java) }
}

/// The programs of all suites that were asked for.
fn offered(options: &Options) -> Result<Vec<Box<dyn Program>>, Failure> {
    let mut programs = Vec::new();
    for asked in &options.suite {
        programs.extend(match asked {
            Suite::Packaged => boxed(suite::packaged()),
            Suite::Micro => boxed(micro::all()),
        });
    }
    if let Some(jar) = &options.dacapo {
        let is_alone = programs.is_empty() && options.command.is_empty();
        match (dacapo::benchmarks(jar), unusable(jar, &options.programs)) {
            (Ok(benchmarks), _) => programs.extend(boxed(benchmarks)),
            (Err(_), unusable) if !is_alone && !unusable.is_empty() => programs.extend(boxed(unusable)),
            (Err(error), _) => return Err(error.into()),
        }
    }
    Ok(programs)
}

/// What was asked of an archive that cannot be used, beside other programs: to be skipped, with the reason.
fn unusable(jar: &Path, asked: &[String]) -> Vec<dacapo::Unusable> {
    let whole = ["dacapo".to_owned()];
    let names = if asked.is_empty() { whole.as_slice() } else { asked };
    let of_it = names.iter().filter(|name| *name == "dacapo" || name.starts_with("dacapo:"));
    of_it.map(|name| dacapo::Unusable { name: name.clone(), jar: jar.to_owned() }).collect()
}

fn boxed(programs: impl IntoIterator<Item = impl Program + 'static>) -> Vec<Box<dyn Program>> {
    programs.into_iter().map(|program| Box::new(program) as Box<dyn Program>).collect()
}

/// These of the programs, in the order of the request.
fn pick_programs(mut all: Vec<Box<dyn Program>>, names: &[String]) -> Result<Vec<Box<dyn Program>>, Failure> {
    let known: Vec<_> = all.iter().map(|program| program.describe().name).collect();
    let mut picked = Vec::new();
    for name in names {
        // What was picked already stands no longer there, and is asked for twice.
        match all.iter().position(|program| &program.describe().name == name) {
            Some(index) => picked.push(all.remove(index)),
            None if known.contains(name) => {}
            None => return Err(unknown("program", name, &known)),
        }
    }
    Ok(picked)
}

/// Numbers are told apart by the names of their programs.
fn are_different(programs: &[Box<dyn Program>]) -> Result<(), Failure> {
    let names: Vec<_> = programs.iter().map(|program| program.describe().name).collect();
    let twice = names.iter().enumerate().find(|(index, name)| names[..*index].contains(name));
    match twice {
        None => Ok(()),
        Some((_, name)) => {
            let hint = "measure the suites in sessions of their own".to_owned();
            Err(Failure::usage(format!("there are two programs {name}"), hint))
        }
    }
}

/// These of the configurations, in the order of the request; `lens` stands for all `lens:...`, where none has just this name.
fn pick_configurations(mut all: Vec<Configuration>, words: &[String]) -> Result<Vec<Configuration>, Failure> {
    let known: Vec<_> = all.iter().map(|configuration| configuration.name.clone()).collect();
    let fits = |name: &str, word: &str| {
        let is_kind = || !known.iter().any(|known| known == word);
        name == word || name.strip_prefix(word).is_some_and(|rest| rest.starts_with(':')) && is_kind()
    };
    let mut picked: Vec<Configuration> = Vec::new();
    for word in words {
        let (fitting, others) = all.into_iter().partition(|configuration| fits(&configuration.name, word));
        all = others;
        picked.extend::<Vec<_>>(fitting);
        if picked.iter().any(|configuration| fits(&configuration.name, word)) {
            continue;
        }
        return Err(unknown("configuration", word, &known));
    }
    Ok(picked)
}

fn unknown(what: &str, name: &str, known: &[String]) -> Failure {
    Failure::usage(format!("there is no {what} `{name}`"), format!("there are {}", known.join(", ")))
}

/// The size that a session had.
pub(super) fn size(method: &Method) -> Size {
    let found = Size::WORDS.iter().find(|(_, word, _)| *word == method.size);
    found.map_or_else(Size::default, |(size, ..)| *size)
}
