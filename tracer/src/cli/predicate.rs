//! Options of commands whose events can be chosen.

use super::Failure;
use crate::predicate::{Kind, Predicate};

/// Which events are wanted; all that are given must agree.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct PredicateOptions {
    /// Only events for which this holds: `class ~ "com.shop.*" && duration > 10ms`
    #[arg(long = "where", value_name = "PREDICATE")]
    pub predicate: Option<String>,

    /// Only what is like this: `com.shop.*::checkout`, `com.shop.Cart::*`; of allocations a class, of JNI a function (`Get*Critical`); can be repeated
    #[arg(short = 'I', long, value_name = "PATTERN")]
    pub include: Vec<String>,

    /// Nothing that is like this; can be repeated
    #[arg(short = 'X', long, value_name = "PATTERN")]
    pub exclude: Vec<String>,

    /// Say what is decided where and what it costs, and attach nothing
    #[arg(long)]
    pub explain: bool,
}

impl PredicateOptions {
    /// Whether everything is wanted.
    pub const fn is_empty(&self) -> bool {
        self.predicate.is_none() && self.include.is_empty() && self.exclude.is_empty()
    }

    /// What was asked for, for events of a kind.
    pub fn predicate(&self, kind: Kind) -> Result<Predicate, Failure> {
        let Self { predicate, include, exclude, explain: _ } = self;
        Ok(Predicate::combine(include, exclude, predicate.as_deref(), kind)?)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Command {
        #[command(flatten)]
        options: PredicateOptions,
    }

    fn parsed(arguments: &[&str]) -> Result<Predicate, Failure> {
        Command::try_parse_from([&["jtrace"], arguments].concat()).unwrap().options.predicate(Kind::MethodReturn)
    }

    #[test]
    fn options_agree_with_each_other() {
        let arguments = ["-I", "a.*::b", "--include", "C::*", "-X", "a.D::*", "--where", "duration > 1ms", "--explain"];
        let predicate = parsed(&arguments).unwrap();
        let written = predicate.expr.map(|expr| expr.to_string());
        let expected = r#"(class ~ "a.*" && method == "b" || class == "C") && !(class == "a.D") && duration > 1ms"#;
        assert_eq!(written.as_deref(), Some(expected));
        assert_eq!(parsed(&[]).unwrap().expr, None);
    }

    #[test]
    fn a_wrong_predicate_is_a_failure_with_its_place() {
        let failure = parsed(&["--where", "duration > 5"]).unwrap_err();
        insta::assert_snapshot!(failure.lines().join("\n"), @r"
        error: --where: a duration needs a unit
          duration > 5
                     ^
        hint: write 5ms, or one of ns, us, s, m
        ");
    }
}
