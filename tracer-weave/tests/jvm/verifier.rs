//! All classes of libraries, woven, under the verifier.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::corpus::{Jvm, Tree, WHOLE, compile, jvms, rule, run, weave_tree};
use tracer_weave::{Access, Kind, Pattern, Place, Rule, Sides};

const POINT: Kind = Kind::Marker(Sides::Point);
const REGION: Kind = Kind::Marker(Sides::Region);

/// Rules of every kind, apart and together.
fn kinds() -> Vec<(&'static str, Vec<Rule>)> {
    let any = || Pattern::new("*");
    let call = Place::Call { class: any(), method: any() };
    let field = Place::Field { class: any(), field: any(), access: Access::Any };
    let lines = Place::Lines { first: 50, last: 150 };
    let with = |mut rule: Rule| {
        (rule.receiver, rule.arguments) = (true, true);
        rule
    };
    let methods =
        vec![with(rule(1, "*", WHOLE, REGION)), rule(2, "*", WHOLE, Kind::Return), rule(3, "*", WHOLE, Kind::Throw)];
    let loops = vec![with(rule(1, "*", Place::Loop, REGION)), with(rule(2, "*", Place::Loop, POINT))];
    let others = vec![
        with(rule(4, "*", call, REGION)),
        with(rule(5, "*", field, POINT)),
        with(rule(6, "*", Place::Block, POINT)),
        with(rule(7, "*", lines, REGION)),
    ];
    let counted = |mut rule: Rule| {
        rule.counted = true;
        rule
    };
    let kept = vec![counted(rule(8, "*", WHOLE, REGION)), counted(rule(9, "*", WHOLE, REGION))];
    let methods: Vec<Rule> = methods.into_iter().chain(kept.iter().cloned()).collect();
    let allocations = vec![rule(10, "*", Place::Allocation, POINT)];
    let exceptions = vec![rule(11, "*", Place::Exception, POINT)];
    let all = methods.iter().chain(&loops).chain(&others).chain(&allocations).chain(&exceptions).cloned().collect();
    vec![
        ("exceptions", exceptions),
        ("allocations", allocations),
        ("methods", methods),
        ("loops", loops),
        ("others", others),
        ("all", all),
        ("counted", kept),
    ]
}

/// Says what was woven. Nearly all methods must have been.
#[track_caller]
fn told(name: &str, tree: &Tree) {
    // Small JDKs come without tables of lines.
    let skipped: usize =
        tree.reasons.iter().filter(|(reason, _)| !reason.contains("lines")).map(|(_, count)| count).sum();
    println!(
        "{name}: {} classes, {} woven, {} places, skipped: {:?}",
        tree.classes, tree.changed, tree.places, tree.reasons
    );
    assert!(tree.changed > 100, "{name}: only {} classes were woven", tree.changed);
    assert!(skipped * 100 < tree.places, "{name}: {:?}", tree.reasons);
}

/// The last line of what a loader of classes says; it must have refused none.
#[track_caller]
fn refused_none(name: &str, text: &str) {
    let last = text.lines().last().unwrap_or_default();
    let refused: Vec<_> = text.lines().filter(|line| line.starts_with("refused")).take(5).collect();
    println!("{name}: {last}");
    assert!(last.contains(" refused 0 ") && !last.starts_with("verified 0 "), "{name}: {last}\n{}", refused.join("\n"));
}

#[test]
#[ignore = "needs JDKs and the jars of Debian"]
fn the_verifier_takes_every_class_of_woven_jars() {
    let base = compile();
    let unpacked = base.join("jars");
    let mut jars = 0;
    for jar in ["asm-9.4", "Saxon-HE-9.9.1.5", "batik-all-1.16", "antlr-2.7.7", "antlr4-runtime-4.7.2", "jython-2.7.3"]
    {
        let jar = format!("/usr/share/java/{jar}.jar");
        if Path::new(&jar).exists() {
            fs::create_dir_all(&unpacked).unwrap();
            run(Command::new("unzip")
                .args(["-qo", &jar, "*.class", "-x", "META-INF/versions/*"])
                .arg("-d")
                .arg(&unpacked));
            jars += 1;
        }
    }
    assert!(jars >= 5, "only {jars} of the jars are here: `cargo xtask setup` installs them");
    for (name, rules) in kinds() {
        let woven = base.join("jars-woven");
        let tree = weave_tree(&unpacked, &woven, &rules);
        told(name, &tree);
        let list = base.join("jars.txt");
        fs::write(&list, tree.names.join("\n")).unwrap();
        // Each kind in one JVM, all together in every.
        let jvms = jvms();
        let some = if name == "all" { &jvms[..] } else { &jvms[..1] };
        for jvm in some {
            let class_path = format!("{}:{}", base.join("programs").display(), woven.display());
            let text = run(jvm.strict(&base).args(["-cp", &class_path, "LoadAll"]).arg(&list));
            refused_none(&format!("{name} {jvm:?}"), &text);
        }
    }
}

/// The classes of `java.base` of a JVM, unpacked.
fn java_base(jvm: &Jvm, to: &Path) -> PathBuf {
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to).unwrap();
    let mut command = Command::new("jimage");
    command.args(["extract", "--include", "regex:/java.base/.*\\.class", "--dir"]).arg(to).arg(jvm.modules());
    run(&mut command);
    to.join("java.base")
}

#[test]
#[ignore = "needs JDKs"]
fn a_jvm_runs_on_in_its_own_woven_classes() {
    let base = compile();
    let agent = base.join("redefine.jar");
    let manifest = base.join("manifest.txt");
    fs::write(&manifest, "Premain-Class: RedefineAll\nCan-Redefine-Classes: true\n").unwrap();
    run(Command::new("jar")
        .arg("cfm")
        .arg(&agent)
        .arg(&manifest)
        .arg("-C")
        .arg(base.join("programs"))
        .arg("RedefineAll.class"));
    let with_agents: Vec<_> = jvms().into_iter().filter(Jvm::has_agents).collect();
    assert!(!with_agents.is_empty(), "no JVM takes agents");
    for jvm in &with_agents {
        let unpacked = java_base(jvm, &base.join("java.base"));
        for (name, rules) in kinds().into_iter().skip(3) {
            let woven = base.join("java.base-woven");
            let tree = weave_tree(&unpacked, &woven, &rules);
            told(name, &tree);
            let list = base.join("java.base.txt");
            fs::write(&list, tree.names.join("\n")).unwrap();
            let mut command = jvm.strict(&base);
            command.arg(format!("-javaagent:{}", agent.display())).arg("-cp").arg(&agent);
            let text = run(command.arg("RedefineAll").arg(&list).arg(&woven));
            refused_none(&format!("{name} {jvm:?}"), &text);
        }
    }
}

#[test]
#[ignore = "needs JDKs"]
fn the_verifier_refuses_what_is_wrong() {
    let base = compile();
    let broken = base.join("broken");
    fs::create_dir_all(&broken).unwrap();
    let mut bytes = fs::read(base.join("programs/Loops.class")).unwrap();
    // getstatic, iload, iadd, putstatic: adds what are no longs as such.
    let add = bytes
        .windows(6)
        .position(|code| code[0] == 0xB2 && (0x1A..=0x1D).contains(&code[3]) && code[4..] == [0x60, 0xB3]);
    bytes[add.unwrap() + 4] = 0x61;
    fs::write(broken.join("Loops.class"), bytes).unwrap();
    let list = base.join("broken.txt");
    fs::write(&list, "Loops").unwrap();
    for jvm in jvms() {
        let class_path = format!("{}:{}", broken.display(), base.join("programs").display());
        let text = run(jvm.strict(&base).args(["-cp", &class_path, "LoadAll"]).arg(&list));
        assert!(text.contains("verified 0 refused 1 unlinked 0"), "{text}");
    }
}
