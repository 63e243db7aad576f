//! What is woven for a property, and the library as it comes.

use super::*;

#[test]
fn every_symbol_and_class_gets_its_rules() {
    let text = "name = \"P\"\nmessage = \"m\"\nclasses = [\"a.B\", \"a.C$D\"]\nsubclasses = false\nregex = \"open (read|done)*\"\n\
                [symbols]\nopen = \"<init>(java.io.File)\"\nread = [\"read()\", \"read(byte[], *)\"]\n\
                done = { methods = \"read()\", at = \"throw\" }\n";
    let property = Property::parse("p.toml", text).unwrap();
    let rules = property.rules(7);
    let shown: Vec<String> = rules
        .iter()
        .map(|rule| {
            assert!(rule.receiver && !rule.subclasses && !rule.arguments && rule.place == Place::Method);
            let descriptor = rule.descriptor.as_ref().map_or("", |descriptor| descriptor.as_str());
            format!("{} {:?} {}.{}{descriptor}", rule.marker, rule.kind, rule.class.as_str(), rule.method.as_str())
        })
        .collect();
    assert_eq!(
        shown,
        [
            "7 Entry a.B.<init>(Ljava/io/File;)*",
            "7 Entry a.C$D.<init>(Ljava/io/File;)*",
            "8 Entry a.B.read()*",
            "8 Entry a.B.read([B*)*",
            "8 Entry a.C$D.read()*",
            "8 Entry a.C$D.read([B*)*",
            "9 Throw a.B.read()*",
            "9 Throw a.C$D.read()*",
        ]
    );
    assert!(rules[3].is_for_method("a.B", "read", "([BII)I"));
    assert!(!rules[3].is_for_method("a.B", "read", "(I[B)I"));
}

#[test]
fn properties_outlive_their_files() {
    for entry in library::ENTRIES {
        let property = Property::parse(entry.file, entry.text).unwrap();
        let kept = serde_json::to_string(&property).unwrap();
        assert_eq!(serde_json::from_str::<Property>(&kept).unwrap(), property);
    }
}

#[test]
fn the_library_can_be_asked_for_by_the_names_of_its_properties() {
    let mut names: Vec<&str> = library::ENTRIES.iter().map(library::Entry::name).collect();
    for entry in library::ENTRIES {
        let property = Property::parse(entry.file, entry.text).unwrap_or_else(|error| panic!("{}", error.render()));
        assert_eq!(property.name.to_lowercase(), entry.name());
        assert!(library::Entry::find(&property.name).is_some());
        assert!(entry.text.starts_with("# "), "{} says nothing of what it sees", entry.file);
    }
    assert!(names.is_sorted());
    names.dedup();
    assert_eq!(names.len(), library::ENTRIES.len());
    // Each file of the folder is in the list.
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/properties");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), names.len());
}

#[test]
fn properties_of_other_lanes_are_read_and_weave_nothing() {
    let text = "name = \"Critical\"\nmessage = \"m\"\nkey = \"jni\"\nregex = \"(get release)*\"\n\
                [symbols]\nget = \"Get*Critical\"\nrelease = \"Release*Critical\"\n";
    let property = Property::parse("p.toml", text).unwrap();
    assert_eq!(property.key, Key::Jni);
    assert_eq!(property.rules(0), []);
}

#[test]
fn drawings_show_what_is_legal_and_what_is_off() {
    let entry = library::Entry::find("file").unwrap();
    let property = Property::parse(entry.file, entry.text).unwrap();
    insta::assert_snapshot!(drawing::describe(&property), @r"
    File: a file is used while it is not open, opened twice, or never closed
      classes       File, tests.file.File and below
      a state for   every object
      o             entry of open(java.lang.String)
      r             entry of read()
      w             entry of write(*)
      e             entry of eof()
      c             entry of close()
      legal         (o(r|e|w)*c)*
      may end       in states with a *
      states        2, and the dead one
        state          o    r    w    e    c  off while there
        0 ^*           1    -    -    -    -  nothing
        1 {o,r,w,e}    -    1    1    1    0  r, w, e
    ");
    insta::assert_snapshot!(drawing::dot(&property), @r#"
    digraph "File" {
      rankdir=LR;
      start [shape=point];
      0 [shape=doublecircle, label="0 ^"];
      1 [shape=circle, label="1 {o,r,w,e}"];
      start -> 0;
      0 -> 1 [label="o"];
      1 -> 0 [label="c"];
      1 -> 1 [label="r, w, e", style=dashed];
    }
    "#);
    let hostile = Property { name: "\"];\u{1b}[2J".to_owned(), ..property };
    assert!(drawing::dot(&hostile).starts_with("digraph \"\\\"];\\\\x1b[2J\" {"), "{}", drawing::dot(&hostile));
}
