//! Classes to weave, and JVMs to run them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tracer_weave::weave::weave;
use tracer_weave::{Kind, Pattern, Place, PlaceDefinition, Rule};

pub(crate) fn rule(marker: u32, method: &str, place: Place, kind: Kind) -> Rule {
    Rule {
        marker,
        class: Pattern::new("*"),
        subclasses: false,
        method: Pattern::new(method),
        descriptor: None,
        except: Vec::new(),
        place,
        kind,
        receiver: false,
        arguments: false,
        counted: false,
    }
}

/// The whole method.
pub(crate) const WHOLE: Place = Place::Method;

#[derive(Debug)]
pub(crate) struct Jvm {
    java: PathBuf,
}

/// All JVMs that the project installs; those that are named in `TRACER_JDKS` (directories) instead.
pub(crate) fn jvms() -> Vec<Jvm> {
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/jdks").display().to_string();
    let directory = std::env::var("TRACER_JDKS").unwrap_or(installed);
    let found: Vec<Jvm> = [11, 17, 21, 25]
        .into_iter()
        .map(|version| Jvm { java: Path::new(&directory).join(format!("{version}/bin/java")) })
        .filter(|jvm| jvm.java.exists())
        .collect();
    assert!(!found.is_empty(), "no JDK in {directory}");
    found
}

/// What the stand-in counted at a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) points: u32,
    pub(crate) enters: u32,
    pub(crate) exits: u32,
    pub(crate) thrown: u32,
    pub(crate) symbols: u32,
    pub(crate) arguments: u32,
    pub(crate) receivers: u32,
}

/// Runs a woven program under a strict verifier; what was counted, and the sum of the arguments. Regions must have been left
/// in the order in which they were entered, the last first.
pub(crate) fn run_woven(jvm: &Jvm, base: &Path, woven: &Path, main: &str) -> (BTreeMap<u32, Counts>, i64) {
    let mut command = jvm.strict(base);
    let text = run(command.arg("-cp").arg(woven).args(["RunWoven", main]));
    let (mut counts, mut sum, mut open) = (BTreeMap::new(), None, 0);
    for line in text.lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["open", number] => open = number.parse().unwrap(),
            ["nested", _] => {}
            ["first", ..] => panic!("{line}"),
            ["sum", number] => sum = Some(number.parse().unwrap()),
            ref numbers => {
                let parsed: Result<Vec<u32>, _> = numbers.iter().map(|number| number.parse()).collect();
                let numbers = parsed.unwrap_or_else(|error| panic!("{error}: {line}"));
                let [place, points, enters, exits, thrown, symbols, arguments, receivers] = numbers[..] else {
                    panic!("{line}")
                };
                counts.insert(place, Counts { points, enters, exits, thrown, symbols, arguments, receivers });
            }
        }
    }
    assert_eq!(open, 0, "regions are open");
    (counts, sum.unwrap())
}

impl Jvm {
    /// A JVM that verifies every class, also of the JDK, and knows the stand-in.
    pub(crate) fn strict(&self, base: &Path) -> Command {
        let mut command = Command::new(&self.java);
        command.args(["-Xshare:off", "-XX:+UnlockDiagnosticVMOptions"]);
        // What the JVM itself has to say, as of a file of another process that has its number in a container, is no count.
        command.args(["-XX:+DisplayVMOutputToStderr", "-Xlog:disable", "-Xlog:all=warning:stderr"]);
        command.args(["-XX:+BytecodeVerificationLocal", "-XX:+BytecodeVerificationRemote"]);
        command.arg(format!("--patch-module=java.base={}", base.join("stub").display()));
        command
    }

    /// Its packed modules.
    pub(crate) fn modules(&self) -> PathBuf {
        self.java.parent().and_then(Path::parent).unwrap().join("lib/modules")
    }

    /// Whether it takes agents.
    pub(crate) fn has_agents(&self) -> bool {
        run(Command::new(&self.java).arg("--list-modules")).contains("java.instrument")
    }
}

pub(crate) fn workloads() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java")
}

/// Runs a command; its output. It must succeed.
#[track_caller]
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{command:?}\n{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// Compiles the stand-in and the programs; where they are.
pub(crate) fn compile() -> PathBuf {
    static COMPILED: OnceLock<PathBuf> = OnceLock::new();
    COMPILED.get_or_init(compile_all).clone()
}

fn compile_all() -> PathBuf {
    let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("weave");
    for made in ["stub", "programs"] {
        fs::create_dir_all(out.join(made)).unwrap();
    }
    let base = workloads().join("java.base");
    let javac = |arguments: &mut dyn FnMut(&mut Command)| {
        let mut command = Command::new("javac");
        command.args(["-nowarn", "-g", "-Xlint:-options"]);
        arguments(&mut command);
        run(&mut command);
    };
    javac(&mut |command| {
        command.args(["-source", "11", "-target", "11", "-d"]).arg(out.join("stub"));
        command
            .arg(format!("--patch-module=java.base={}", base.display()))
            .arg(base.join("java/lang/JtraceMarks.java"));
    });
    javac(&mut |command| {
        command.args(["-source", "11", "-target", "11", "-d"]).arg(out.join("programs"));
        command.arg(format!("--patch-module=java.base={}", out.join("stub").display()));
        for file in fs::read_dir(workloads()).unwrap() {
            let file = file.unwrap().path();
            if file.extension().is_some_and(|extension| extension == "java") {
                command.arg(file);
            }
        }
    });
    out
}

#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) classes: usize,
    pub(crate) changed: usize,
    pub(crate) places: usize,
    pub(crate) names: Vec<String>,
    pub(crate) reasons: BTreeMap<String, usize>,
    pub(crate) definitions: Vec<PlaceDefinition>,
}

fn class_files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            class_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "class") {
            found.push(path);
        }
    }
}

/// Weaves every class file below a directory into another.
pub(crate) fn weave_tree(from: &Path, to: &Path, rules: &[Rule]) -> Tree {
    let _ = fs::remove_dir_all(to);
    let mut files = Vec::new();
    class_files(from, &mut files);
    files.sort();
    let rules: Vec<&Rule> = rules.iter().collect();
    let mut tree = Tree::default();
    let mut last = 0;
    for file in files {
        let bytes = fs::read(&file).unwrap();
        let name = file.strip_prefix(from).unwrap().to_string_lossy().into_owned();
        // What runs the others is no test program.
        let rules = if matches!(name.as_str(), "RunWoven.class" | "LoadAll.class") { &[] } else { rules.as_slice() };
        let woven = weave(&bytes, rules, &mut || {
            last += 1;
            Some(last)
        })
        .unwrap_or_else(|error| panic!("{name}: {error}"));
        tree.classes += 1;
        tree.changed += usize::from(woven.class_file.is_some());
        tree.places += woven.places.len();
        for skipped in woven.skipped {
            *tree.reasons.entry(skipped.reason).or_default() += 1;
        }
        tree.definitions.extend(woven.places);
        let file = to.join(&name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, woven.class_file.unwrap_or(bytes)).unwrap();
        let name = name.trim_end_matches(".class").replace('/', ".");
        if name != "module-info" && !name.ends_with(".package-info") {
            tree.names.push(name);
        }
    }
    tree
}
