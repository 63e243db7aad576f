//! Classes to weave, and JVMs to run them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tracer_weave::weave::weave;
use tracer_weave::{Kind, Pattern, Place, PlaceDefinition, Rule};

pub(crate) fn rule(marker: u32, method: &str, place: Place, kind: Kind) -> Rule {
    Rule {
        marker,
        class: Pattern::new("*"),
        subclasses: false,
        method: Pattern::new(method),
        descriptor: None,
        place,
        kind,
        receiver: false,
        arguments: false,
    }
}

pub(crate) struct Jvm {
    java: PathBuf,
}

impl Jvm {
    pub(crate) fn of(home: &str) -> Self {
        Self { java: Path::new(home).join("bin/java") }
    }
}

fn workloads() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/workloads/weave")
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
        let woven = weave(&bytes, &rules, &mut || {
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

/// Loads all classes under a strict verifier; what the JVM says at the end.
pub(crate) fn load_all(jvm: &Jvm, base: &Path, woven: &Path, names: &[String], in_java_base: bool) -> String {
    let list = base.join("names.txt");
    fs::write(&list, names.join("\n")).unwrap();
    let mut command = Command::new(&jvm.java);
    let mut patch = base.join("stub").display().to_string();
    let mut class_path = base.join("programs").display().to_string();
    let more = if in_java_base { &mut patch } else { &mut class_path };
    *more = format!("{more}:{}", woven.display());
    command.args([
        "-Xshare:off",
        "-XX:+UnlockDiagnosticVMOptions",
        "-XX:+BytecodeVerificationLocal",
        "-XX:+BytecodeVerificationRemote",
    ]);
    command.arg(format!("--patch-module=java.base={patch}")).args(["-cp", &class_path, "LoadAll"]).arg(&list);
    run(&mut command)
}
