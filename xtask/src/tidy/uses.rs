//! What the modules of a crate use of each other and of other crates, read from their tokens. Not a compiler: it follows `mod` items
//! from `lib.rs`, leaves out what is for tests alone, and takes paths that begin with `crate::`, or with so many `super::` that
//! they reach the root.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// A place where code names another module of the root, or another crate.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Use {
    /// The module of the root that the code belongs to.
    pub(super) from: String,
    /// The module of the root that it names, or the crate.
    pub(super) to: String,
    /// The file, from the repository's root.
    pub(super) file: String,
    /// The line.
    pub(super) line: usize,
}

/// Crates as they were read.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// Modules of the roots, in the order of each `lib.rs`, without those for tests alone.
    pub(super) modules: Vec<String>,
    /// Where a module names another one.
    pub(super) uses: Vec<Use>,
    /// Where a module names one of the crates that were asked for.
    pub(super) crates: Vec<Use>,
}

/// Adds a crate from its `src` folder, which is named from the repository's root. Modules of other crates are named as its own: `lib.rs`
/// imports them.
pub(super) fn read(repository: &Path, source: &str, crates: &[&str], tree: &mut Tree) -> Result<()> {
    let src = &repository.join(source);
    let root = Module { path: Vec::new(), file: PathBuf::from("lib.rs"), folder: PathBuf::new() };
    let mut waiting = vec![root];
    while let Some(module) = waiting.pop() {
        let text = fs::read_to_string(src.join(&module.file))
            .with_context(|| format!("cannot read {}", src.join(&module.file).display()))?;
        let tokens: TokenStream =
            text.parse().map_err(|error| anyhow::anyhow!("{}: {error}", module.file.display()))?;
        let mut reader = Reader { module: &module, source, crates, tree: &mut *tree, declared: Vec::new() };
        reader.items(tokens, &module.path);
        for declared in reader.declared {
            if module.path.is_empty() {
                tree.modules.push(declared.clone());
            }
            waiting.push(module.child(src, declared));
        }
    }
    tree.uses.sort();
    tree.crates.sort();
    Ok(())
}

/// A module with a file.
struct Module {
    /// Its path from the root.
    path: Vec<String>,
    /// Its file, below `src`.
    file: PathBuf,
    /// Where files of its modules are.
    folder: PathBuf,
}

impl Module {
    fn child(&self, src: &Path, name: String) -> Self {
        let folder = self.folder.join(&name);
        let beside = folder.with_extension("rs");
        let file = if src.join(&beside).exists() { beside } else { folder.join("mod.rs") };
        let mut path = self.path.clone();
        path.push(name);
        Self { path, file, folder }
    }
}

/// Reads the tokens of one file.
struct Reader<'a> {
    module: &'a Module,
    source: &'a str,
    crates: &'a [&'a str],
    tree: &'a mut Tree,
    /// Modules with files of their own.
    declared: Vec<String>,
}

impl Reader<'_> {
    /// Reads a sequence of tokens within the module at a path.
    fn items(&mut self, tokens: TokenStream, path: &[String]) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            if is_for_tests(&tokens[at..]) {
                at += length_of_item(&tokens[at..]);
                continue;
            }
            match token {
                TokenTree::Group(group) => self.items(group.stream(), path),
                TokenTree::Ident(word) if *word == "mod" => {
                    if let (Some(TokenTree::Ident(name)), Some(next)) = (tokens.get(at + 1), tokens.get(at + 2)) {
                        match next {
                            TokenTree::Punct(punct) if punct.as_char() == ';' => self.declared.push(name.to_string()),
                            TokenTree::Group(body) => {
                                let mut inner = path.to_vec();
                                inner.push(name.to_string());
                                self.items(body.stream(), &inner);
                                at += 2;
                            }
                            _ => {}
                        }
                    }
                }
                TokenTree::Ident(word) if !follows_a_path(&tokens[..at]) => {
                    let word = word.to_string();
                    if let Some(root) = length_to_root(&tokens[at..], path.len()) {
                        self.names(&tokens[at + root..], path);
                    } else if self.crates.contains(&word.as_str()) && is_crate(&tokens[..at], &tokens[at + 1..]) {
                        self.note(token, word, path, true);
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Notes the modules that a path or a tree of `use` names directly below the root.
    fn names(&mut self, behind_root: &[TokenTree], path: &[String]) {
        match behind_root.first() {
            Some(token @ TokenTree::Ident(name)) => self.note(token, name.to_string(), path, false),
            Some(TokenTree::Group(tree)) if tree.delimiter() == Delimiter::Brace => {
                for name in firsts(tree) {
                    let text = name.to_string();
                    self.note(&name, text, path, false);
                }
            }
            _ => {}
        }
    }

    fn note(&mut self, token: &TokenTree, to: String, path: &[String], is_crate: bool) {
        let Some(from) = path.first() else { return };
        if *from == to {
            return;
        }
        let file = format!("{}/{}", self.source, self.module.file.display());
        let found = Use { from: from.clone(), to, file, line: token.span().start().line };
        if is_crate { &mut self.tree.crates } else { &mut self.tree.uses }.push(found);
    }
}

/// The first words of the branches of a tree of `use`.
fn firsts(tree: &Group) -> Vec<TokenTree> {
    let mut firsts = Vec::new();
    let mut is_first = true;
    for token in tree.stream() {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == ',' => is_first = true,
            TokenTree::Ident(_) if is_first => {
                firsts.push(token);
                is_first = false;
            }
            _ => is_first = false,
        }
    }
    firsts
}

/// Whether these tokens are two colons.
fn are_colons(tokens: &[TokenTree]) -> bool {
    tokens.len() >= 2 && tokens[..2].iter().all(|token| matches!(token, TokenTree::Punct(p) if p.as_char() == ':'))
}

/// Whether what follows these tokens is a further segment of a path.
fn follows_a_path(before: &[TokenTree]) -> bool {
    before.len() >= 2 && are_colons(&before[before.len() - 2..])
}

/// The number of tokens that lead to the crate's root from a module at a depth: `crate ::`, or a `super ::` for each of its steps.
fn length_to_root(tokens: &[TokenTree], depth: usize) -> Option<usize> {
    let is = |at: usize, word: &str| {
        matches!(tokens.get(at), Some(TokenTree::Ident(ident)) if *ident == word)
            && tokens.get(at + 1..).is_some_and(are_colons)
    };
    if is(0, "crate") {
        return Some(3);
    }
    let steps = (0..=depth).take_while(|step| is(step * 3, "super")).count();
    (depth > 0 && steps >= depth).then_some(steps * 3)
}

/// Whether a word is the name of a crate: a path goes on behind it, or it is all that a `use` names.
fn is_crate(before: &[TokenTree], behind: &[TokenTree]) -> bool {
    are_colons(behind) || matches!(before.last(), Some(TokenTree::Ident(word)) if *word == "use")
}

/// Whether an attribute begins here that leaves its item to tests.
fn is_for_tests(tokens: &[TokenTree]) -> bool {
    let [TokenTree::Punct(hash), TokenTree::Group(attribute), ..] = tokens else { return false };
    if hash.as_char() != '#' || attribute.delimiter() != Delimiter::Bracket {
        return false;
    }
    let words: Vec<TokenTree> = attribute.stream().into_iter().collect();
    let [TokenTree::Ident(cfg), TokenTree::Group(condition)] = words.as_slice() else { return false };
    let condition: Vec<TokenTree> = condition.stream().into_iter().collect();
    let is = |token: Option<&TokenTree>, text: &str| matches!(token, Some(TokenTree::Ident(word)) if *word == text);
    let needs_test = is(condition.first(), "test")
        || is(condition.first(), "all")
            && matches!(condition.get(1), Some(TokenTree::Group(all)) if is(all.stream().into_iter().next().as_ref(), "test"));
    *cfg == "cfg" && needs_test
}

/// The number of tokens of the item that an attribute begins: to its semicolon, its braces, or the comma behind a field.
fn length_of_item(tokens: &[TokenTree]) -> usize {
    let is_end = |token: &TokenTree| match token {
        TokenTree::Punct(punct) => matches!(punct.as_char(), ';' | ','),
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Ident(_) | TokenTree::Literal(_) => false,
    };
    tokens.iter().position(is_end).map_or(tokens.len(), |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a crate that was made up; each use as `from to line`.
    fn uses(files: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let mut tree = Tree::default();
        read(folder.path(), "", &["clap"], &mut tree).unwrap();
        let words = |uses: &[Use]| uses.iter().map(|of| format!("{} {} {}", of.from, of.to, of.line)).collect();
        (words(&tree.uses), words(&tree.crates))
    }

    #[test]
    fn paths_from_the_root_are_found_wherever_they_stand() {
        let (found, _) = uses(&[
            ("lib.rs", "mod a;\nmod b;\nmod c;\nmod d;\n"),
            (
                "a.rs",
                "use crate::{\n    b::{self, x::Y},\n    c::Z,\n};\nfn f() { crate::d::g(vec![crate::b::h()]) }\n",
            ),
            ("b.rs", "mod inner;\n"),
            ("b/inner.rs", "use super::super::{c, d::E};\nuse super::x;\n"),
            ("c.rs", "mod near { use super::super::d; use super::own; }\n"),
            ("d.rs", "pub(in crate::d) struct D;\n"),
        ]);
        assert_eq!(found, ["a b 2", "a b 5", "a c 3", "a d 5", "b c 1", "b d 1", "c d 1"]);
    }

    #[test]
    fn comments_texts_and_tests_are_no_uses() {
        let (found, _) = uses(&[
            ("lib.rs", "mod a;\nmod b;\n#[cfg(test)]\nmod only_tests;\n"),
            (
                "a.rs",
                "//! [`crate::b`]\n// crate::b\nconst T: &str = \"crate::b\";\n#[cfg(test)]\nuse crate::b;\n\
                 #[cfg(test)]\nmod tests {\n    use crate::b;\n    mod reader;\n}\n",
            ),
            ("b.rs", "struct S {\n    #[cfg(test)]\n    x: crate::a::X,\n    y: crate::a::Y,\n}\n"),
        ]);
        assert_eq!(found, ["b a 4"]);
    }

    #[test]
    fn a_crate_is_named_by_a_path_and_by_an_attribute() {
        let (_, crates) = uses(&[
            ("lib.rs", "mod a;\n"),
            ("a.rs", "use clap::Args;\n#[derive(clap::ValueEnum)]\nenum E {}\nfn clap() { x::clap::y() }\n"),
        ]);
        assert_eq!(crates, ["a clap 1", "a clap 2"]);
    }
}
