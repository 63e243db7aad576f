//! Command lines and options: every one that a document shows is one that clap takes, and every option is in a document.

use std::collections::{BTreeMap, BTreeSet};

use clap::error::ErrorKind;

use super::{assert_same, block_lines, code_spans, documents, read, sources};
use crate::cli;

/// Options of other programs that documents name: of cargo and its commands, of the tests, of kubectl, of the kernel's and the JDK's tools.
const OTHERS: [&str; 27] = [
    "--all",
    "--audit",
    "--bin",
    "--custom",
    "--example",
    "--for",
    "--ignored",
    "--image",
    "--include",
    "--lib",
    "--no-fail-fast",
    "--only",
    "--pictures",
    "--quick",
    "--readme",
    "--release",
    "--shrink",
    "--strip-all",
    "--test",
    "--test-threads",
    "--try",
    "--under-load",
    "--update",
    "--version",
    "--without-bench",
    "--force",
    "--help",
];

/// The words of a line, as a shell divides them; up to where another command or a file begins.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '#' | '|' | '&' | '>' | ';') if word.is_none() => break,
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The command lines of jtrace in a block: of `a && b` both.
fn command_lines(line: &str) -> Vec<Vec<String>> {
    let begin = |at: &usize| *at == 0 || line[..*at].ends_with([' ', '|', '&']);
    let starts = line.match_indices("jtrace ").map(|(at, _)| at).filter(begin);
    let comment = line.find(" # ").or_else(|| line.starts_with('#').then_some(0)).unwrap_or(line.len());
    let is_command = |at: &usize| {
        let before = line[..*at].trim_end();
        *at < comment
            && (before.is_empty() || before.ends_with(['|', '&']) || before.ends_with("sudo") || before.ends_with("-E"))
    };
    starts.filter(is_command).map(|at| words(&line[at..])).collect()
}

fn all_command_lines() -> Vec<(String, Vec<String>)> {
    let mut all = Vec::new();
    for document in documents() {
        for line in block_lines(&document.text) {
            all.extend(command_lines(line).into_iter().map(|words| (document.path.clone(), words)));
        }
    }
    all.extend(
        cli::EXAMPLES
            .lines()
            .flat_map(|line| command_lines(&help_line(line)))
            .map(|words| ("--help".to_owned(), words)),
    );
    all
}

/// A line of the help's examples: the sentence stands behind some blanks, without a mark of its own.
fn help_line(line: &str) -> String {
    line.trim().split("   ").next().unwrap_or_default().to_owned()
}

#[test]
fn every_command_line_in_a_document_is_one_that_jtrace_takes() {
    let all = all_command_lines();
    assert!(all.len() >= 45, "only {} command lines were found", all.len());
    for (path, words) in all {
        // What is left out in a document cannot be parsed.
        if words.iter().any(|word| word.contains("...")) {
            continue;
        }
        let words: Vec<String> =
            words.into_iter().map(|word| if word == "PID" { "4711".to_owned() } else { word }).collect();
        if let Err(error) = cli::parse(&words) {
            assert!(!error.use_stderr(), "{path}: {}: {error}", words.join(" "));
        }
    }
}

/// The words of each command of jtrace that a sentence of the code names, in backquotes.
fn commands_in_sentences() -> Vec<(String, Vec<String>)> {
    let mut all = Vec::new();
    for source in ["crates", "tracer/src"].into_iter().flat_map(sources) {
        let code: Vec<&str> = source.text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        // A literal goes on behind the white space of its next line.
        let text = code.join(" ").replace("\\ ", " ");
        for (at, _) in text.match_indices("`jtrace ") {
            let span = text[at + 1..].split('`').next().unwrap_or_default();
            all.push((source.path.clone(), words(span)));
        }
    }
    all
}

#[test]
fn every_command_that_a_sentence_names_exists() {
    let all = commands_in_sentences();
    assert!(all.len() >= 30, "only {} commands were found", all.len());
    for (path, words) in all {
        let Err(error) = cli::parse(&words) else { continue };
        // Sentences leave arguments out, and have words for them.
        let is_unknown = matches!(error.kind(), ErrorKind::InvalidSubcommand | ErrorKind::UnknownArgument);
        assert!(!is_unknown, "{path}: {}: {error}", words.join(" "));
    }
}

/// README's examples are the first thing that is tried, so each of them is parsed, whole.
#[test]
fn the_examples_of_the_readme_are_all_there_and_all_whole() {
    let text = read("README.md");
    let examples = text.split("## Examples").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap_or_default();
    let lines = block_lines(examples);
    let commands: Vec<_> = lines.iter().flat_map(|line| command_lines(line)).collect();
    assert!(commands.len() >= 16, "{commands:#?}");
    assert!(lines.iter().filter(|line| !line.is_empty()).all(|line| !command_lines(line).is_empty()), "{lines:#?}");
    assert!(commands.iter().flatten().all(|word| !word.contains("...")), "{commands:#?}");
}

/// An option: its letter, where it has one, and whether the help hides it.
struct Known {
    letter: Option<String>,
    is_hidden: bool,
}

/// All options of all commands, by their long names.
fn options() -> BTreeMap<String, Known> {
    fn add(command: &clap::Command, all: &mut BTreeMap<String, Known>) {
        for argument in command.get_arguments() {
            let letter = argument.get_short().map(|letter| format!("-{letter}"));
            let known = Known { letter, is_hidden: argument.is_hide_set() };
            all.extend(argument.get_long().map(|name| (format!("--{name}"), known)));
        }
        command.get_subcommands().filter(|command| !command.is_hide_set()).for_each(|command| add(command, all));
    }
    let mut all = BTreeMap::new();
    add(&cli::definition(), &mut all);
    all
}

/// The options in a text: `--name`, up to whatever cannot be a part of a name.
fn options_in(text: &str) -> impl Iterator<Item = String> + '_ {
    text.match_indices("--").filter_map(|(at, _)| {
        let is_start = !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '-');
        let name: String = text[at + 2..].chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
        let name = name.trim_end_matches('-');
        (is_start && name.len() > 1).then(|| format!("--{name}"))
    })
}

#[test]
fn every_option_is_in_a_document_and_every_option_of_a_document_exists() {
    let code = options();
    let mut documented = BTreeSet::new();
    for document in documents() {
        for text in code_spans(&document.text).into_iter().chain(block_lines(&document.text)) {
            documented.extend(options_in(text));
            let is_word = |letter: &String| text.split(' ').any(|word| word == letter);
            let named = code.iter().filter(|(_, known)| known.letter.as_ref().is_some_and(is_word));
            documented.extend(named.map(|(name, _)| name.clone()));
        }
    }
    // What the help hides can be documented, and need not be.
    let is_hidden = |option: &String| code.get(option).is_some_and(|known| known.is_hidden);
    let is_of_others = |option: &String| !code.contains_key(option) && OTHERS.contains(&option.as_str());
    documented.retain(|option| !is_hidden(option) && !is_of_others(option));
    let shown = code.iter().filter(|(_, known)| !known.is_hidden).map(|(name, _)| name.clone()).collect();
    assert_same("options", &shown, &documented);
}

#[test]
fn lines_are_divided_as_a_shell_does() {
    let line = "sudo jtrace record 4711 -o x.jtrace && jtrace report 'a b' --text | head   # now";
    let expected = [&["jtrace", "record", "4711", "-o", "x.jtrace"][..], &["jtrace", "report", "a b", "--text"]];
    assert_eq!(command_lines(line), expected);
    assert!(command_lines("git clone jtrace here").is_empty() && command_lines("# jtrace x").is_empty());
    assert_eq!(options_in("`--each`, x--y, a --no-times --").collect::<Vec<_>>(), ["--each", "--no-times"]);
}
