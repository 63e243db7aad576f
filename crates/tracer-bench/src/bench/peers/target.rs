//! What other tools must be told about a JVM.

use std::{
    fs::File,
    io::{BufRead as _, BufReader, Read as _},
};

use crate::bench::Error;

/// Most bytes of `/proc/PID/maps` that are read.
const MAX_MAPS: u64 = 64 << 20;

/// Path of its libjvm.so, as the JVM itself sees it.
pub(super) fn libjvm(pid: u32) -> Result<String, Error> {
    let maps = format!("/proc/{pid}/maps");
    let file = File::open(&maps).map_err(Error::system(format!("open {maps}")))?;
    let lines = BufReader::new(file.take(MAX_MAPS)).lines().map_while(Result::ok);
    let found = mapped(lines).ok_or_else(|| Error::program(format!("process {pid}"), "has no libjvm.so mapped"))?;
    if is_plain(&found) {
        return Ok(found);
    }
    Err(Error::Unexpected {
        path: found.into(),
        expected: "a path that can be written into a program of bpftrace",
        found: "it has characters other than letters, digits and /._+-".to_owned(),
    })
}

/// The sixth column of the first line whose file is named libjvm.so.
fn mapped(lines: impl Iterator<Item = String>) -> Option<String> {
    lines.into_iter().find_map(|line| {
        let path = &line[line.find('/')?..];
        path.ends_with("/libjvm.so").then(|| path.to_owned())
    })
}

/// Whether a path means nothing else in any place where it is written. It comes from the target, and tools read it as root.
fn is_plain(path: &str) -> bool {
    path.chars().all(|c| c.is_ascii_alphanumeric() || "/._+-".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_libjvm_is_found_among_what_is_mapped() {
        let maps = "55a0-55b0 r--p 00000000 08:01 1 /usr/lib/jvm/17/bin/java\n\
                    7f00-7f10 rw-p 00000000 00:00 0 \n\
                    7f10-7f20 r--p 00000000 08:01 2 /usr/lib/jvm/17/lib/libjvm.so.debug\n\
                    7f20-7f30 r-xp 00000000 08:01 2                          /usr/lib/jvm/17/lib/server/libjvm.so\n";
        let found = mapped(maps.lines().map(str::to_owned));
        assert_eq!(found.as_deref(), Some("/usr/lib/jvm/17/lib/server/libjvm.so"));
        assert_eq!(mapped(std::iter::once("7f00-7f10 rw-p 00000000 00:00 0 [heap]".to_owned())), None);
    }

    #[test]
    fn a_path_that_would_be_read_as_a_program_is_refused() {
        assert!(is_plain("/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so"));
        for path in
            ["/a:b/libjvm.so", "/a b/libjvm.so", "/a{system(\"x\")}/libjvm.so", "/a*/libjvm.so", "/\u{e9}/libjvm.so"]
        {
            assert!(!is_plain(path), "{path}");
        }
    }

    #[test]
    fn a_process_that_is_no_jvm_has_none() {
        assert!(libjvm(std::process::id()).unwrap_err().to_string().contains("no libjvm.so"));
    }
}
