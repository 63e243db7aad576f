//! Has a JVM throw away the code of chosen classes, so that it compiles them anew.
//!
//! JDK 25 can time methods ("jdk.MethodTiming" of its flight recorder), for which it transforms their classes again, and
//! that drops all code of those classes and all code that they are inlined into; when the recording stops, they are
//! transformed back, and the same happens once more. A recording that is started and stopped at once leaves the classes as
//! they were, and their code to be compiled again. No other release has anything like it (`docs/arming.md`).

use std::{collections::BTreeSet, time::Duration};

use super::super::attach_protocol::{self, Attachment, MAX_COMMAND_BYTES};

/// The first release that has it.
pub const SINCE: u32 = 25;
/// Most classes of one arming.
pub const MAX_CLASSES: usize = 64;
/// How long the JVM may take for one command. The first start of its recorder loads some 900 of its own classes.
const COMMAND_LIMIT: Duration = Duration::from_mins(2);
/// After so long the JVM ends the recording by itself, should jtrace die in between.
const RECORDING_LIMIT: &str = "60s";

/// A recording with an end wants a file to go to, in the target's directory if none is named.
const NOWHERE: &str = "/dev/null";

/// Why the code of classes was not thrown away.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The release has no way to.
    #[error("JDK {0} cannot be made to recompile chosen classes: that came with JDK {SINCE}")]
    Release(u32),
    /// No class is named.
    #[error("no class is named, and recompiling all of them is not what anybody wants")]
    NoClass,
    /// So many that the JVM would be busy with them.
    #[error("{0} classes are more than {MAX_CLASSES}")]
    TooMany(usize),
    /// What is given for a class cannot be one.
    #[error("`{0}` is no name of a class as Java writes it (com.shop.Cart$Item)")]
    Name(String),
    /// The JVM was not reached, or refused.
    #[error(transparent)]
    Attach(#[from] attach_protocol::Error),
    /// The recording did not start.
    #[error("the JVM's flight recorder did not start: {0}")]
    NotStarted(String),
}

/// Classes that can be named to the JVM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classes(BTreeSet<String>);

impl Classes {
    /// Checks names: they become part of a command.
    pub fn new<'a>(release: u32, names: impl IntoIterator<Item = &'a str>) -> Result<Self, Error> {
        if release < SINCE {
            return Err(Error::Release(release));
        }
        let names: BTreeSet<String> = names.into_iter().map(str::to_owned).collect();
        if names.is_empty() {
            return Err(Error::NoClass);
        }
        if names.len() > MAX_CLASSES {
            return Err(Error::TooMany(names.len()));
        }
        match names.iter().find(|name| !is_class(name)) {
            Some(name) => Err(Error::Name(name.clone())),
            None => Ok(Self(names)),
        }
    }

    /// Whether a class is one of them.
    pub fn contains(&self, class: &str) -> bool {
        self.0.contains(class)
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Commands that start one recording each, with as many classes as one command holds.
    fn commands(&self, prefix: &str) -> Result<Vec<(String, String)>, Error> {
        let mut commands: Vec<(String, String)> = Vec::new();
        for class in &self.0 {
            // Constructors and class initialisers only: they are the least that makes the JVM transform a class.
            let methods = format!("{class}::<init>;{class}::<clinit>");
            if let Some((_, last)) = commands.last_mut()
                && last.len() + 1 + methods.len() <= MAX_COMMAND_BYTES
            {
                *last = format!("{last};{methods}");
                continue;
            }
            let name = format!("{prefix}-{}", commands.len());
            let command = format!(
                "JFR.start name={name} settings=none disk=false duration={RECORDING_LIMIT} filename={NOWHERE} \
                 +jdk.MethodTiming#enabled=true +jdk.MethodTiming#filter={methods}"
            );
            if command.len() > MAX_COMMAND_BYTES {
                return Err(Error::Name(class.clone()));
            }
            commands.push((name, command));
        }
        Ok(commands)
    }
}

/// A name of a class in Java's own alphabet; other letters are allowed by Java and by nobody used.
pub(super) fn is_class(name: &str) -> bool {
    let plain = |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '$' | '_');
    !name.is_empty() && name.chars().all(plain) && !name.starts_with('.') && !name.ends_with('.')
}

/// The JVM with its classes transformed; their code goes a second time when they are transformed back.
#[derive(Debug)]
#[must_use = "dropping it transforms the classes back"]
pub struct Transformed<'a> {
    attachment: &'a Attachment,
    recordings: Vec<String>,
}

/// Transforms classes. Code that is dropped now is compiled anew as the flags are now.
pub fn transform<'a>(attachment: &'a Attachment, classes: &Classes) -> Result<Transformed<'a>, Error> {
    let mut transformed = Transformed { attachment, recordings: Vec::new() };
    for (name, command) in classes.commands(&format!("jtrace-{}", std::process::id()))? {
        let said = attachment.command(&command, COMMAND_LIMIT)?;
        // What it refuses for its content it says with code 0.
        if !said.contains("Started recording") {
            return Err(Error::NotStarted(said.lines().next().unwrap_or_default().to_owned()));
        }
        transformed.recordings.push(name);
    }
    Ok(transformed)
}

impl Transformed<'_> {
    /// Transforms the classes back, by which their code is dropped once more.
    pub fn back(mut self) -> Result<(), Error> {
        self.stop()
    }

    fn stop(&mut self) -> Result<(), Error> {
        let mut failed = None;
        for name in std::mem::take(&mut self.recordings) {
            let stopped = self.attachment.command(&format!("JFR.stop name={name}"), COMMAND_LIMIT);
            failed = failed.or(stopped.err());
        }
        failed.map_or(Ok(()), |error| Err(error.into()))
    }
}

impl Drop for Transformed<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.stop() {
            log::warn!("a recording goes on for {RECORDING_LIMIT} at most: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_be_more_than_a_name_are_refused() {
        for name in ["", "a b", "a;b", "a::b", "a=b", "a,b", "a\nb", "a\0b", "\"a\"", "<init>", ".a", "a.", "a*"] {
            assert!(matches!(Classes::new(25, [name]), Err(Error::Name(_))), "{name:?}");
        }
        assert!(Classes::new(25, ["com.shop.Cart$Item_1", "Main"]).is_ok());
    }

    #[test]
    fn releases_without_a_way_and_wishes_without_a_class_are_refused() {
        assert!(matches!(Classes::new(24, ["Main"]), Err(Error::Release(24))));
        assert!(matches!(Classes::new(25, []), Err(Error::NoClass)));
        let many: Vec<String> = (0..=MAX_CLASSES).map(|index| format!("C{index}")).collect();
        assert!(matches!(Classes::new(25, many.iter().map(String::as_str)), Err(Error::TooMany(65))));
    }

    #[test]
    fn every_class_is_in_exactly_one_command_and_none_is_too_long() {
        let names: Vec<String> = (0..40).map(|index| format!("com.shop.checkout.internal.Class{index:03}")).collect();
        let commands = Classes::new(25, names.iter().map(String::as_str)).unwrap().commands("jtrace-1").unwrap();
        assert!(commands.len() > 1);
        for name in &names {
            let wanted = format!("{name}::<clinit>");
            assert_eq!(commands.iter().filter(|(_, command)| command.contains(&wanted)).count(), 1);
        }
        for (index, (name, command)) in commands.iter().enumerate() {
            assert_eq!(*name, format!("jtrace-1-{index}"));
            assert!(command.len() <= MAX_COMMAND_BYTES && command.contains(&format!(" name={name} ")));
        }
        let endless = "x".repeat(2000);
        assert!(matches!(Classes::new(25, [&*endless]).unwrap().commands("p"), Err(Error::Name(_))));
    }
}
