//! The properties that come with jtrace: protocols of the JDK.

/// A property's file.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name of the file, which is the property's in small letters.
    pub file: &'static str,
    /// What stands in it.
    pub text: &'static str,
}

macro_rules! entries {
    ($($file:literal),* $(,)?) => {
        [$(Entry { file: $file, text: include_str!(concat!("../../properties/", $file)) }),*]
    };
}

/// All of them, in alphabetical order.
pub const ENTRIES: &[Entry] = &entries![
    "cipherinit.toml",
    "deflaterended.toml",
    "executorshutdown.toml",
    "file.toml",
    "fileleftopen.toml",
    "hasmoreelements.toml",
    "hasnext.toml",
    "hasnextonce.toml",
    "iteratorremove.toml",
    "jnicritical.toml",
    "jniframes.toml",
    "jnimonitor.toml",
    "listiteratorset.toml",
    "lockleftheld.toml",
    "matchergroup.toml",
    "readafterclose.toml",
    "scannerclosed.toml",
    "signatureorder.toml",
    "socketleftopen.toml",
    "timercancelled.toml",
    "waitunnotified.toml",
    "writeafterclose.toml",
    "zipfileclosed.toml",
];

impl Entry {
    /// What it is asked for by.
    pub fn name(&self) -> &'static str {
        self.file.trim_end_matches(".toml")
    }

    /// The one of a name, in whatever letters.
    pub fn find(name: &str) -> Option<&'static Self> {
        ENTRIES.iter().find(|entry| entry.name().eq_ignore_ascii_case(name))
    }
}
