//! What became of compiled code when the first classes were exchanged, and what a reader must know of it.

use serde::{Deserialize, Serialize};

/// What became of code that was compiled before classes were woven.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CodeBefore {
    /// What does not depend on the classes was kept.
    Kept {
        /// Methods that it may have taken in without a trace.
        untraced: u64,
        /// Some of them, as `Class::method`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        named: Vec<String>,
        /// Compilations until then.
        compilations: Option<u64>,
    },
    /// All of it went, so that calls of such methods are seen.
    Gone {
        /// Methods that it may have taken in without a trace.
        untraced: u64,
        /// Some of them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        named: Vec<String>,
        /// Compilations until then.
        compilations: Option<u64>,
    },
    /// The JVM does as it likes: all of it goes at its first exchange of classes.
    Unknown {
        /// Compilations until then.
        compilations: Option<u64>,
    },
}

impl CodeBefore {
    /// Methods that are named.
    pub const NAMED: usize = 5;

    /// What a reader of counts must know.
    pub fn sentence(&self) -> Option<String> {
        match self {
            Self::Kept { untraced: 0, .. } => None,
            Self::Kept { untraced, named, compilations } => Some(format!(
                "Calls may be missing. Code that was compiled before the session was kept, and may have taken in {}without a trace. With --yes, all \
                 compiled code goes first{}, and their calls are seen.",
                methods(*untraced, named),
                compiled(*compilations)
            )),
            Self::Gone { untraced, named, compilations } => Some(format!(
                "All compiled code was thrown away before weaving{}, as it may have taken in {}without a trace. The program is slower until it is \
                 compiled again.",
                compiled(*compilations),
                methods(*untraced, named)
            )),
            Self::Unknown { compilations } => Some(format!(
                "The first weaving in this JVM throws away all compiled code{}. The program is slower until it is compiled again.",
                compiled(*compilations)
            )),
        }
    }
}

fn methods(untraced: u64, named: &[String]) -> String {
    let further = untraced.saturating_sub(named.len() as u64);
    let names = named.join(", ");
    match (named.is_empty(), further) {
        (true, _) => format!("{untraced} short methods "),
        (false, 0) => format!("short methods ({names}) "),
        (false, further) => format!("short methods ({names} and {further} more) "),
    }
}

fn compiled(compilations: Option<u64>) -> String {
    compilations.map_or_else(String::new, |count| format!(" ({count} compilations until then)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_missing_is_said_and_how_to_see_it() {
        let named = vec!["Cart::size".to_owned()];
        let kept = CodeBefore::Kept { untraced: 3, named: named.clone(), compilations: Some(40_000) };
        let said = kept.sentence().expect("calls can be missing");
        assert!(said.starts_with("Calls may be missing.") && said.contains("--yes"), "{said}");
        assert!(said.contains("(Cart::size and 2 more)") && said.contains("40000 compilations"), "{said}");
        let gone = CodeBefore::Gone { untraced: 1, named, compilations: None };
        assert!(gone.sentence().is_some_and(|said| said.contains("short methods (Cart::size) without")));
    }

    #[test]
    fn nothing_is_said_where_all_is_seen_and_nothing_was_lost() {
        assert_eq!(CodeBefore::Kept { untraced: 0, named: Vec::new(), compilations: None }.sentence(), None);
        assert!(CodeBefore::Unknown { compilations: None }.sentence().is_some());
    }
}
