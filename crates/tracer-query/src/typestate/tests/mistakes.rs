//! A property that is wrong is refused at the place that is wrong.

use super::*;

const HEAD: &str = "name = \"P\"\nmessage = \"m\"\nclasses = [\"a.B\"]\n";

fn refused(text: &str) -> String {
    Property::parse("p.toml", text).unwrap_err().render()
}

fn of_regex(regex: &str) -> String {
    refused(&format!(
        "{HEAD}regex = '{regex}'\n[symbols]\nopen = 'open()'\nr = 'read(*)'\nw = 'write(*)'\nclose = 'close()'\n"
    ))
}

#[test]
fn an_unknown_symbol_is_shown_in_the_expression() {
    insta::assert_snapshot!(of_regex("(open (r|w)* clsoe)*"), @r"
    p.toml:4:23: `clsoe` is no symbol of this property
      regex = '(open (r|w)* clsoe)*'
                            ^~~~~
    hint: did you mean close?
    ");
    insta::assert_snapshot!(of_regex("open (rxw)* close"), @r"
    p.toml:4:17: `x` is no symbol of this property
      regex = 'open (rxw)* close'
                      ^
    hint: the symbols are open, r, w, close; declare others in [symbols]
    ");
    insta::assert_snapshot!(of_regex("open <reed>* close"), @r"
    p.toml:4:15: `reed` is no symbol of this property
      regex = 'open <reed>* close'
                    ^~~~~~
    hint: the symbols are open, r, w, close; declare others in [symbols]
    ");
}

#[test]
fn what_is_not_written_as_an_expression_is_shown() {
    insta::assert_snapshot!(of_regex("open (r|w* close"), @r"
    p.toml:4:15: this is never closed
      regex = 'open (r|w* close'
                    ^
    hint: close it with )
    ");
    insta::assert_snapshot!(of_regex("open | * r"), @r"
    p.toml:4:17: a symbol or ( is missing here
      regex = 'open | * r'
                      ^
    hint: it repeats what stands before it, and nothing does
    ");
    insta::assert_snapshot!(of_regex("open r{3,2} w close"), @r"
    p.toml:4:16: this is no number of times
      regex = 'open r{3,2} w close'
                     ^~~~~
    hint: write {2}, {2,} or {2,4}, with numbers up to 64
    ");
    insta::assert_snapshot!(of_regex("open [^open r w close]"), @r"
    p.toml:4:15: this stands for no symbol
      regex = 'open [^open r w close]'
                    ^~~~~~~~~~~~~~~~~
    hint: name at least one, or leave it out
    ");
    insta::assert_snapshot!(of_regex("open r w close)"), @r"
    p.toml:4:24: nothing was opened that this would close
      regex = 'open r w close)'
                             ^
    hint: leave it out, or open it with (
    ");
    insta::assert_snapshot!(of_regex(""), @r"
    p.toml:4:10: a symbol or ( is missing here
      regex = ''
               ^
    hint: for `nothing at all` put ? behind the rest
    ");
}

#[test]
fn a_run_of_letters_that_is_two_things_is_refused() {
    let of = |regex: &str| {
        let text = format!("{HEAD}regex = '{regex}'\n[symbols]\na = 'a()'\nb = 'b()'\nab = 'c()'\n");
        Property::parse("p.toml", &text)
    };
    insta::assert_snapshot!(of("(ab | b)*").unwrap_err().render(), @r"
    p.toml:4:11: `ab` is a symbol, and so is each of its letters
      regex = '(ab | b)*'
                ^~
    hint: write <ab> for the one, a b for the others
    ");
    let (one, letters) = (of("<ab> a? b?").unwrap(), of("a b | <ab>").unwrap());
    assert_ne!(one.machine, letters.machine);
}

#[test]
fn a_symbol_that_is_never_legal_must_be_said_to_be_so() {
    let of = |never: &str| format!("{HEAD}regex = 'a*'\n{never}\n[symbols]\na = 'a()'\nb = 'b()'\n");
    insta::assert_snapshot!(refused(&of("")), @r#"
    p.toml:8:1: the symbol `b` is never used
      b = 'b()'
      ^
    hint: use it in the regex; write never = ["b"] if it is always illegal; or leave it out
    "#);
    insta::assert_snapshot!(refused(&of("never = ['c']")), @r"
    p.toml:5:10: `c` is no `symbol`
      never = ['c']
               ^~~
    hint: possible: a, b
    ");
    let machine = Property::parse("p.toml", &of("never = 'b'")).unwrap().machine;
    assert_eq!(machine.next, [[0, 1], [1, 1]]);
}

#[test]
fn what_is_too_large_is_refused() {
    insta::assert_snapshot!(of_regex("(open r w){30} close"), @r"
    p.toml:4:9: the automaton has 93 states with the dead one; the limit is 64
      regex = '(open r w){30} close'
              ^~~~~~~~~~~~~~~~~~~~~~
    hint: shorten what is counted by {n} or mixed by &
    ");
    insta::assert_snapshot!(of_regex("(open r w close){64}{64}{64}"), @r"
    p.toml:4:9: the automaton has far more than 64 states
      regex = '(open r w close){64}{64}{64}'
              ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
    hint: shorten what is counted by {n} or mixed by &
    ");
    let symbols = (0..33).map(|n| format!("s{n} = 'm{n}()'")).collect::<Vec<_>>().join("\n");
    let text = format!("{HEAD}regex = '.*'\n[symbols]\n{symbols}");
    assert!(refused(&text).contains("p.toml:38:1: more than 32 symbols"), "{}", refused(&text));
    assert!(refused(&"x".repeat(70_000)).contains("more than 65536 bytes"));
    assert!(of_regex(&"(".repeat(60)).contains("more than 50 parentheses"));
}

#[test]
fn symbols_are_used_once_and_clear() {
    insta::assert_snapshot!(of_regex("open r w*"), @r#"
    p.toml:9:1: the symbol `close` is never used
      close = 'close()'
      ^~~~~
    hint: use it in the regex; write never = ["close"] if it is always illegal; or leave it out
    "#);
    let of = |symbols: &str| refused(&format!("{HEAD}regex = 'a b'\n[symbols]\n{symbols}"));
    insta::assert_snapshot!(of("a = 'read(*)'\nb = ['x()', 're*(int)']"), @r"
    p.toml:7:13: ambiguous: entry of one method can be `a` (read(*)) and `b`
      b = ['x()', 're*(int)']
                  ^~~~~~~~~~
    hint: write out parameters so that no method fits both, or tell them apart by `at`
    ");
    insta::assert_snapshot!(of("a = ['read(*)', 'read()']\nb = 'x()'"), @r"
    p.toml:6:17: `read(*)` stands for methods of `read()`, too
      a = ['read(*)', 'read()']
                      ^~~~~~~~
    hint: a call must be one symbol, once; leave out the narrower of them
    ");
    insta::assert_snapshot!(of("a = 'read(String)'\nb = 'x()'"), @r"
    p.toml:6:11: `String` lacks its package
      a = 'read(String)'
                ^~~~~~
    hint: write java.lang.String
    ");
    insta::assert_snapshot!(of("a = { methods = 'read()', at = 'exit' }\nb = 'x()'"), @r"
    p.toml:6:32: `exit` is no `at`
      a = { methods = 'read()', at = 'exit' }
                                     ^~~~~~
    hint: possible: entry, return, throw
    ");
    insta::assert_snapshot!(of("a = 'a()'\na = 'b()'"), @r"
    p.toml:7:1: duplicate key
      a = 'b()'
      ^
    hint: property files are TOML; `jtrace typestate check hasnext` shows one, docs/typestate.md explains them
    ");
    insta::assert_snapshot!(of("a = 'a()'\nb = 'b()'\nab = 'c()'"), @r#"
    p.toml:8:1: the symbol `ab` is never used
      ab = 'c()'
      ^~
    hint: use it in the regex; write never = ["ab"] if it is always illegal; or leave it out
    "#);
    // The same method, told apart by the moment.
    let apart = "a = 'read()'\nb = { methods = 'read()', at = 'return' }";
    assert!(Property::parse("p", &format!("{HEAD}regex = 'a b'\n[symbols]\n{apart}")).is_ok());
}

#[test]
fn keys_have_their_values() {
    let of = |more: &str| refused(&format!("{HEAD}{more}\nregex = 'a'\n[symbols]\na = 'a()'\n"));
    insta::assert_snapshot!(of("finale = 'any'"), @r"
    p.toml:4:1: `finale` means nothing here
      finale = 'any'
      ^~~~~~
    hint: did you mean final?
    ");
    insta::assert_snapshot!(of("final = 'all'"), @r"
    p.toml:4:9: `all` is no `final`
      final = 'all'
              ^~~~~
    hint: possible: accepting, any
    ");
    insta::assert_snapshot!(of("key = 'monitors'"), @r"
    p.toml:4:7: `monitors` is no `key`
      key = 'monitors'
            ^~~~~~~~~~
    hint: did you mean monitor?
    ");
    insta::assert_snapshot!(of("subclasses = 'no'"), @r"
    p.toml:4:14: `subclasses` is true or false
      subclasses = 'no'
                   ^~~~
    hint: write subclasses = false
    ");
    insta::assert_snapshot!(refused("name = "), @r"
    p.toml:1:8: string values must be quoted, expected literal string
      name =
             ^
    hint: property files are TOML; `jtrace typestate check hasnext` shows one, docs/typestate.md explains them
    ");
    insta::assert_snapshot!(refused("name = 'P'\nmessage = 'm'\nclasses = ['java/util/List']\n[symbols]\na = 'a()'"), @r"
    p.toml:3:12: `java/util/List` is no name of a class
      classes = ['java/util/List']
                 ^~~~~~~~~~~~~~~~
    hint: write java.util.List
    ");
    insta::assert_snapshot!(refused("name = '\u{1b}[2J'"), @r"
    p.toml:1:9: invalid literal string, expected non-single-quote visible characters
      name = '\x1b[2J'
              ^
    hint: property files are TOML; `jtrace typestate check hasnext` shows one, docs/typestate.md explains them
    ");
    for missing in ["name", "message", "classes"] {
        let whole = format!("{HEAD}regex = 'a'\n[symbols]\na = 'a()'\n");
        let text = whole.lines().filter(|line| !line.starts_with(missing)).collect::<Vec<_>>().join("\n");
        assert!(refused(&text).contains(&format!("`{missing}` is missing")), "{}", refused(&text));
    }
}

#[test]
fn states_lead_to_states() {
    let of = |states: &str| refused(&format!("{HEAD}[symbols]\na = 'a()'\n{states}"));
    insta::assert_snapshot!(of("[[state]]\nname = 'one'\naccepting = true\non = { a = 'tow' }\n[[state]]\nname = 'two'"), @r"
    p.toml:9:12: `tow` is no state of this property
      on = { a = 'tow' }
                 ^~~~~
    hint: did you mean two?
    ");
    insta::assert_snapshot!(of("[[state]]\nname = 'one'\non = { b = 'one' }"), @r"
    p.toml:8:8: `b` is no symbol of this property
      on = { b = 'one' }
             ^
    hint: there are a
    ");
    insta::assert_snapshot!(of("[[state]]\nname = 'one'\non = { a = 'one' }"), @r"
    p.toml:6:1: no sequence of calls is legal
      [[state]]
      ^~~~~~~~~
    hint: set accepting = true where an object may end, and see that such a state can be reached
    ");
    insta::assert_snapshot!(of("[[state]]\nname = 'one'\n[[state]]\nname = 'one'"), @r"
    p.toml:9:8: the state `one` is there twice
      name = 'one'
             ^~~~~
    hint: give one another name
    ");
    insta::assert_snapshot!(of("[[state]]\nname = 'one'\naccepting = true"), @r#"
    p.toml:5:1: the symbol `a` is never used
      a = 'a()'
      ^
    hint: use it in the states; write never = ["a"] if it is always illegal; or leave it out
    "#);
    insta::assert_snapshot!(of("regex = 'a'"), @r"
    p.toml:6:10: a method needs its parameters
      regex = 'a'
               ^
    hint: `regex` is a symbol here; what is meant for the property stands before [symbols]
    ");
    insta::assert_snapshot!(of(""), @r#"
    p.toml:1:1: nothing says what is legal
      name = "P"
      ^
    hint: write regex = "(hasNext+ next)*", or [[state]] with transitions
    "#);
}

#[test]
fn whatever_is_read_gives_an_answer() {
    let whole = library::Entry::find("hasnext").unwrap().text;
    let mut random = Random(3);
    for _ in 0..2000 {
        let mut bytes = whole.as_bytes().to_vec();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            match random.below(3) {
                0 => drop(bytes.remove(at)),
                1 => bytes.insert(at, b"\"'[]{}()*=<&|\n\\.0\xc3"[random.below(18)]),
                _ => bytes[at] = u8::try_from(random.below(256)).unwrap(),
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Err(error) = Property::parse("p", &text) {
            assert!(usize::try_from(error.line).unwrap() <= text.lines().count() + 1);
            assert!(error.render().starts_with("p:"), "{error}");
        }
    }
}
