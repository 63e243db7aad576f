//! Variables of the environment that begin with `JTRACE_`.

use std::collections::BTreeSet;

use super::{assert_same, documents, sources_and_tests};

/// The variables that a text names.
fn variables(text: &str) -> BTreeSet<String> {
    let name = |at: usize| {
        let name: String = text[at..].chars().take_while(|c| c.is_ascii_uppercase() || *c == '_').collect();
        name.trim_end_matches('_').to_owned()
    };
    text.match_indices("JTRACE_").map(|(at, _)| name(at)).filter(|name| name.len() > "JTRACE".len()).collect()
}

#[test]
fn every_variable_is_documented_and_every_documented_one_is_read() {
    let mut code = BTreeSet::new();
    let folders = ["crates", "tracer", "tracer-ebpf", "tracer-inside", "tracer-weave", "tests", "xtask"];
    for source in folders.into_iter().flat_map(sources_and_tests) {
        // What stands in quotes is read from the environment, but for two symbols of the library.
        let text: String = source.text.lines().filter(|line| !line.contains("_SYMBOL")).collect();
        let quoted = text.match_indices("\"JTRACE_").map(|(at, _)| &text[at + 1..]);
        code.extend(quoted.filter_map(|rest| rest.split_once('"')).flat_map(|(name, _)| variables(name)));
    }
    let documented = documents().iter().flat_map(|document| variables(&document.text)).collect();
    assert_same("variables of the environment", &code, &documented);
}
