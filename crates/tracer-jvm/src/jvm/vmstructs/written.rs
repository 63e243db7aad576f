//! Tables as text, for tests: what real JVMs of several releases say of themselves, as far as jtrace asks.
//!
//! Offsets, sizes and constants are those of the JDKs that `cargo xtask jdks` installs, and of Zulu 8.46 and Debian's 28-ea+18; addresses are made up.

use super::{Field, VmStructs};

/// The releases that there are tables of.
pub const RELEASES: [u32; 6] = [8, 11, 17, 21, 25, 28];

const TABLES: [&str; 6] = [
    include_str!("written/jdk8.txt"),
    include_str!("written/jdk11.txt"),
    include_str!("written/jdk17.txt"),
    include_str!("written/jdk21.txt"),
    include_str!("written/jdk25.txt"),
    include_str!("written/jdk28.txt"),
];

impl VmStructs {
    /// The tables of a release.
    pub fn of_release(release: u32) -> Self {
        let index = RELEASES.iter().position(|&known| known == release).unwrap();
        Self::written(TABLES[index])
    }

    /// Lines of `field TYPE NAME OFFSET`, `static TYPE NAME ADDRESS`, `size TYPE BYTES` and `constant NAME VALUE`.
    fn written(text: &str) -> Self {
        let mut tables = Self::default();
        for line in text.lines() {
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["field", owner, name, value] => tables.set(owner, name, Field::Offset(value.parse().unwrap())),
                ["static", owner, name, value] => tables.set(owner, name, Field::Static(value.parse().unwrap())),
                ["size", name, value] => _ = tables.type_sizes.insert(name.to_owned(), value.parse().unwrap()),
                ["constant", name, value] => _ = tables.int_constants.insert(name.to_owned(), value.parse().unwrap()),
                _ => panic!("not a line of a table: {line}"),
            }
        }
        tables
    }

    pub fn set(&mut self, owner: &str, name: &str, field: Field) {
        self.fields.entry(owner.to_owned()).or_default().insert(name.to_owned(), field);
    }

    pub fn set_size(&mut self, name: &str, bytes: u64) {
        self.type_sizes.insert(name.to_owned(), bytes);
    }

    /// Takes a field away: every field that starts with this name.
    pub fn remove(&mut self, owner: &str, name: &str) {
        self.fields.get_mut(owner).unwrap().retain(|field, _| !field.starts_with(name));
    }
}
