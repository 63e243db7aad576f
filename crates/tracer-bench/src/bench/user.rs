//! The user's own program: any command that begins with `java`, measured by its end.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use super::{
    Error,
    program::{Agreement, Launch, Program, Size},
    results,
};

/// Options of the `java` launcher whose value is a word of its own.
const WITH_VALUE: [&str; 9] = [
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--add-modules",
    "--upgrade-module-path",
    "--add-exports",
    "--add-opens",
];
/// Options whose value is what is run.
const WHAT_IS_RUN: [&str; 3] = ["-jar", "-m", "--module"];

/// A command of the user's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserProgram {
    java: PathBuf,
    words: Vec<OsString>,
}

impl UserProgram {
    /// A command `java ...`.
    pub fn new(command: Vec<OsString>) -> Result<Self, Error> {
        let mut words = command.into_iter();
        let java = words.next().filter(|word| Path::new(word).file_name() == Some(OsStr::new("java")));
        let java = java.ok_or_else(|| Error::Missing {
            what: "`java` at the beginning of the command".to_owned(),
            hint: "flags are put behind it, so write `-- java ...` or `-- /path/to/java ...`".to_owned(),
        })?;
        Ok(Self { java: java.into(), words: words.collect() })
    }

    /// The `java` of the command.
    pub fn java(&self) -> &Path {
        &self.java
    }

    /// Its jar or main class, without folders.
    fn name(&self) -> String {
        let mut words = self.words.iter();
        while let Some(word) = words.next() {
            let text = word.to_string_lossy();
            let run = if WHAT_IS_RUN.contains(&text.as_ref()) {
                words.next()
            } else if WITH_VALUE.contains(&text.as_ref()) {
                words.next();
                continue;
            } else if word.as_bytes().starts_with(b"-") || word.as_bytes().starts_with(b"@") {
                continue;
            } else {
                Some(word)
            };
            let file = run.and_then(|run| Path::new(run).file_name());
            return file.map_or_else(|| "java".to_owned(), |file| file.to_string_lossy().into_owned());
        }
        "java".to_owned()
    }
}

impl Program for UserProgram {
    fn describe(&self) -> results::Program {
        results::Program {
            name: self.name(),
            what: "a command of the user's, from its start to its end".to_owned(),
            source: "the command line".to_owned(),
            ..results::Program::default()
        }
    }

    fn prepare(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn launch(&self, _: Size) -> Result<Launch, Error> {
        let Self { java, words } = self;
        let (java, words) = (Some(java.clone()), words.clone());
        Ok(Launch { java, words, folder: None, agreement: Agreement::Exit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(words: &[&str]) -> Result<UserProgram, Error> {
        UserProgram::new(words.iter().map(OsString::from).collect())
    }

    #[test]
    fn it_is_named_after_what_it_runs() {
        for (words, name) in [
            (&["java", "-Xmx1g", "-cp", "a:b", "com.shop.Main", "-jar", "x"][..], "com.shop.Main"),
            (&["/jdk/bin/java", "-jar", "/opt/app.jar", "x"], "app.jar"),
            (&["java", "-p", "mods", "-m", "shop/com.shop.Main"], "com.shop.Main"),
            (&["java", "-version"], "java"),
            (&["java", "-jar"], "java"),
        ] {
            assert_eq!(program(words).unwrap().describe().name, name);
        }
    }

    #[test]
    fn it_begins_with_java_and_is_measured_by_its_end() {
        assert!(program(&["./run.sh"]).unwrap_err().to_string().contains("-- java"));
        assert!(program(&[]).is_err());
        let launch = program(&["/jdk/bin/java", "Main", "1"]).unwrap().launch(Size::Small).unwrap();
        assert_eq!(launch.java, Some("/jdk/bin/java".into()));
        assert_eq!((launch.words, launch.agreement), (vec!["Main".into(), "1".into()], Agreement::Exit));
    }
}
