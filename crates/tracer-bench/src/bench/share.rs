//! A share of a program's methods, as a file of markers.
//!
//! Which methods belong to a share follows from a seed and from their names alone, and a smaller share is a part of every
//! larger one: so what differs between two shares is only what the larger one has more.

use std::collections::BTreeSet;

use crate::{random::Random, text::class_name::primitive};

/// A share of methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share(u8);

impl Share {
    /// All of them.
    pub const ALL: Self = Self(100);

    /// So many of a hundred.
    pub const fn percent(percent: u8) -> Self {
        Self(if percent > 100 { 100 } else { percent })
    }

    /// The methods of this share, out of all that can be woven: the number is rounded up. `methods` are written as the JVM notes
    /// them, `org/h2/Driver.connect:(Ljava/lang/String;)V`; what is given are patterns of markers.
    pub fn of(self, methods: &[String], seed: u64) -> Vec<String> {
        let mut ranked: Vec<(u64, String)> =
            methods.iter().filter_map(|method| Some((rank(method, seed), pattern(method)?))).collect();
        ranked.sort();
        ranked.dedup_by(|one, other| one.1 == other.1);
        let wanted = (ranked.len() * usize::from(self.0)).div_ceil(100);
        ranked.into_iter().take(wanted).map(|(_, pattern)| pattern).collect()
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(out)
    }
}

/// Patterns of all methods of the packages that these methods are of; of a class without one, of the class. Those within others are left
/// out, as a pattern has room for anything.
pub fn packages(methods: &[String]) -> Vec<String> {
    let patterns = methods.iter().filter_map(|method| pattern(method));
    let of = |pattern: String| {
        let (class, _) = pattern.split_once("::")?;
        Some(class.rsplit_once('.').map_or_else(|| format!("{class}::"), |(package, _)| format!("{package}.")))
    };
    let mut packages: Vec<String> = Vec::new();
    // What lies within a package comes right behind it.
    for package in patterns.filter_map(of).collect::<BTreeSet<_>>() {
        if packages.last().is_none_or(|outer| !package.starts_with(outer)) {
            packages.push(package);
        }
    }
    let pattern = |package: String| if package.ends_with('.') { package + "*::*" } else { package + "*" };
    packages.into_iter().map(pattern).collect()
}

/// A file with one marker on all these methods; absent where there are none.
pub fn spec(patterns: &[String]) -> Option<String> {
    let (first, others) = patterns.split_first()?;
    let (class, method) = first.split_once("::")?;
    // Escapes of JSON are escapes of TOML, too.
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let also: Vec<String> = others.iter().map(|pattern| quoted(pattern)).collect();
    Some(format!(
        "[[marker]]\nname = \"executed\"\nclass = {}\nmethod = {}\nalso = [\n{}\n]\n",
        quoted(class),
        quoted(method),
        also.join(",\n")
    ))
}

/// A place of its own for each method, which nothing but name and seed decides (FNV-1a, then mixed).
fn rank(method: &str, seed: u64) -> u64 {
    let hash = method
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    Random::new(hash ^ seed).bits()
}

/// The pattern of a marker for one method; absent for classes that no JVM lets anybody change, those of lambdas.
fn pattern(method: &str) -> Option<String> {
    let (name, descriptor) = method.split_once(":(")?;
    let (class, name) = name.rsplit_once('.')?;
    let is_hidden = class.contains("/0x") || class.contains("$$Lambda");
    let is_strange = |text: &str| text.chars().any(|c| c.is_control() || c.is_whitespace() || "?*()[;,:\"".contains(c));
    if is_hidden || is_strange(class) || is_strange(name) {
        return None;
    }
    let parameters = descriptor.split_once(')').and_then(|(types, _)| parameters(types));
    let parameters = parameters.map_or_else(String::new, |types| format!("({})", types.join(", ")));
    Some(format!("{}::{name}{parameters}", class.replace('/', ".")))
}

/// Types as Java's source names them. Absent where one has no package, as it could be taken for one of `java.lang`.
fn parameters(types: &str) -> Option<Vec<String>> {
    let mut named = Vec::new();
    let mut rest = types;
    while !rest.is_empty() {
        let element = rest.trim_start_matches('[');
        let dimensions = rest.len() - element.len();
        let (name, behind) = match element.strip_prefix('L') {
            Some(class) => {
                let (class, behind) = class.split_once(';')?;
                (class.contains('/').then(|| class.replace('/', "."))?, behind)
            }
            None => (primitive(element.get(..1)?)?.to_owned(), element.get(1..)?),
        };
        named.push(name + &"[]".repeat(dimensions));
        rest = behind;
    }
    Some(named)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::marker::{CLIENTS, Spec};

    fn methods(count: usize) -> Vec<String> {
        (0..count).map(|number| format!("org/h2/C{}.m{number}:(I[Ljava/lang/String;)V", number % 7)).collect()
    }

    fn set(percent: u8, methods: &[String], seed: u64) -> BTreeSet<String> {
        Share::percent(percent).of(methods, seed).into_iter().collect()
    }

    #[test]
    fn packages_stand_for_all_methods_of_what_lies_within() {
        let methods = ["a/b/C.m:()V", "a/b/c/E.m:(I)V", "a/bc/F.m:()V", "G.m:()V", "a/b/C$$Lambda$1.x:()V"];
        assert_eq!(packages(&methods.map(str::to_owned)), ["G::*", "a.b.*::*", "a.bc.*::*"]);
    }

    #[test]
    fn a_share_has_its_size_and_is_part_of_every_larger_one() {
        let methods = methods(997);
        for seed in [0, 1, 99] {
            let shares = [0, 10, 25, 50, 75, 100].map(|percent| set(percent, &methods, seed));
            assert_eq!(shares.each_ref().map(BTreeSet::len), [0, 100, 250, 499, 748, 997]);
            assert!(shares.windows(2).all(|pair| pair[0].is_subset(&pair[1])));
        }
    }

    #[test]
    fn a_share_follows_from_seed_and_names_and_not_from_their_order() {
        let mut methods = methods(200);
        let one = set(25, &methods, 5);
        methods.reverse();
        assert_eq!(set(25, &methods, 5), one);
        assert_ne!(set(25, &methods, 6), one);
        let fewer: Vec<String> = methods.iter().filter(|method| !method.contains("C3")).cloned().collect();
        assert!(
            set(10, &fewer, 5).intersection(&set(10, &methods, 5)).count() > 5,
            "what else there is changes little"
        );
    }

    #[test]
    fn what_is_written_is_read_as_exactly_these_methods() {
        let methods = [
            "org/h2/Driver.<init>:()V",
            "org/h2/Driver$A.lambda$f$0:(Ljava/lang/String;[[IJ)Ljava/lang/Object;",
            "Alone.m:(LThing;)V",
            "org/h2/Driver$$Lambda$14/0x0000000800c03000.apply:()V",
            "odd/Name.a\"b:()V",
            "nonsense",
        ];
        let patterns = Share::ALL.of(&methods.map(str::to_owned), 3);
        let spec = spec(&patterns).unwrap();
        let spec = Spec::read(Some(("x", &spec)), &[], CLIENTS).unwrap_or_else(|error| panic!("{}", error.render()));
        let rules: BTreeSet<_> = spec
            .rules()
            .into_iter()
            .map(|rule| {
                let descriptor = rule.descriptor.map(|pattern| pattern.as_str().to_owned());
                (rule.class.as_str().to_owned(), rule.method.as_str().to_owned(), descriptor)
            })
            .collect();
        let row = |class: &str, method: &str, descriptor: Option<&str>| {
            (class.to_owned(), method.to_owned(), descriptor.map(str::to_owned))
        };
        let expected = [
            row("Alone", "m", None),
            row("org.h2.Driver", "<init>", Some("()*")),
            row("org.h2.Driver$A", "lambda$f$0", Some("(Ljava/lang/String;[[IJ)*")),
        ];
        assert_eq!(rules, expected.into());
        assert_eq!(super::spec(&[]), None);
    }
}
