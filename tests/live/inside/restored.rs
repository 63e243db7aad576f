//! Classes that were woven are what they were when jtrace has gone, also where other agents change them before, meanwhile, or both.
//!
//! Two looks, because each alone would miss something. Agents see what the JVM would make of a class now, so a hook of jtrace that had
//! stayed would show. The instructions that the JVM runs show whether a class was exchanged back at all.

use anyhow::{Context as _, Result, ensure};
use tests::{
    jdk::{self, Jdk},
    jvm::{Counts, Jvm, Launch, classes},
};

use super::{attach, counts};

const CLASSES: [&str; 7] = [
    "Subjects$Loaded",
    "Subjects$Before",
    "Subjects$During",
    "Subjects$Colour",
    "Subjects$Weighs",
    "Subjects$Mixed",
    "java.util.ArrayList$Itr",
];

const MARKERS: [&str; 4] = ["--marker", "all=Subjects*::*", "--marker", "itr=java.util.ArrayList$Itr::*"];

/// A program that can look at its own classes.
pub(crate) struct Visited(Jvm);

impl Visited {
    pub(crate) fn start(jdk: &Jdk) -> Result<Self> {
        let built = classes("agents");
        let agent = |name: &str| format!("-javaagent:{}={name}", built.join("agents.jar").display());
        let library = built.join("libagentscode.so").display().to_string();
        let flags = ["loads", "first"].map(agent);
        Launch::new(jdk, "agents", "Visited").flags(&flags).arguments(&[library]).start().map(Self)
    }

    pub(crate) fn ask(&mut self, what: &str) -> Result<Counts> {
        self.0.process().send_line(what)?;
        self.0.done()
    }

    /// Checksums of each class, as one look has them.
    fn look(&mut self, what: &str) -> Result<Vec<u64>> {
        Ok(self.sums(what, CLASSES)?.to_vec())
    }

    /// The same of some classes.
    pub(super) fn sums<const N: usize>(&mut self, what: &str, classes: [&str; N]) -> Result<[u64; N]> {
        let sums = self.ask(what)?;
        let mut found = [0; N];
        for (sum, class) in found.iter_mut().zip(classes) {
            *sum = sums.get(class)?;
        }
        Ok(found)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.pid()
    }

    /// What it has printed so far.
    pub(super) fn stdout(&self) -> String {
        self.0.stdout().text()
    }

    pub(crate) fn finish(mut self) -> Result<()> {
        self.0.finish().map(drop)
    }

    /// Which texts agents have changed: of the class that was changed when it was loaded, before jtrace came, and meanwhile.
    fn texts(&mut self) -> Result<[u64; 3]> {
        let done = self.ask("GO")?;
        Ok([done.get("loaded")?, done.get("before")?, done.get("during")?])
    }
}

fn all_differ(one: &[u64], other: &[u64]) -> bool {
    one.iter().zip(other).all(|(one, other)| one != other)
}

#[test]
fn classes_are_what_they_were_and_other_agents_keep_what_they_changed() -> Result<()> {
    for jdk in jdk::all()? {
        visit(&jdk).with_context(|| format!("on JDK {}", jdk.release))?;
    }
    Ok(())
}

fn visit(jdk: &Jdk) -> Result<()> {
    let mut jvm = Visited::start(jdk)?;
    ensure!(jvm.texts()? == [1, 1, 0], "the agents of the test do nothing");
    // Of a class from an archive (CDS), the JVM puts other bytes together after the first time that somebody asks for them: JDK 11 does so
    // for `ArrayList$Itr`, whether jtrace is there or not.
    jvm.look("BYTES first")?;
    let bytes = jvm.look("BYTES first")?;
    let code = jvm.look("CODE")?;

    let session = attach(&jvm.0, "markers", &MARKERS)?;
    ensure!(jvm.texts()? == [1, 1, 0], "weaving has taken away what agents had changed");
    ensure!(all_differ(&jvm.look("CODE")?, &code), "some class runs the code that it had");
    ensure!(jvm.look("BYTES first")? == bytes, "an agent before jtrace sees what jtrace has woven");
    // It comes only now: the JVM asks it last.
    ensure!(all_differ(&jvm.look("BYTES behind")?, &bytes), "some class was not woven anew");
    jvm.ask("CHANGE first")?;
    ensure!(jvm.texts()? == [1, 1, 1], "an agent cannot change what is woven");
    let session_report = session.report()?;
    let expected = tests::expected::Expected::parse(&jvm.0.stdout().text())?;
    // Twice since jtrace came, and once before.
    counts::agree_with(&session_report, &expected, |of_all| of_all / 3 * 2)?;

    ensure!(jvm.texts()? == [1, 1, 1], "what an agent changed went with jtrace");
    ensure!(jvm.look("CODE")? == code, "a class runs other code than before");
    let mut after = jvm.look("BYTES behind")?;
    ensure!(jvm.look("BYTES first")? == after, "jtrace still weaves");
    // But for the class that an agent has changed meanwhile.
    let during = CLASSES.iter().position(|class| class.ends_with("During")).context("it is one of them")?;
    ensure!(after[during] != bytes[during], "the agent's change has gone");
    after[during] = bytes[during];
    ensure!(after == bytes, "a class has other bytes than before");
    jvm.0.finish().map(drop)
}
