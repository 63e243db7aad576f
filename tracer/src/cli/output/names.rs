//! What the name of a file says: its format, by the extension, and the parts that are filled in.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::{Path, PathBuf},
};

use super::Failure;
use crate::lens::Lens;

/// Format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Format {
    Text,
    Json,
    Ndjson,
    Html,
}

/// Format of the stacks of one section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StackFormat {
    Folded,
    Svg,
    Pprof,
    Speedscope,
    Dot,
    Callgrind,
}

impl StackFormat {
    /// Whose stacks are written where nobody says it: the first of these that has any. A graph is best of all calls.
    pub(super) const fn usual(self) -> &'static [Lens] {
        match self {
            Self::Folded | Self::Svg | Self::Pprof | Self::Speedscope => &[
                Lens::Cpu,
                Lens::Wall,
                Lens::Offcpu,
                Lens::Locks,
                Lens::Alloc,
                Lens::Exceptions,
                Lens::Calls,
                Lens::Methods,
                Lens::Jni,
            ],
            Self::Dot | Self::Callgrind => &[
                Lens::Calls,
                Lens::Cpu,
                Lens::Wall,
                Lens::Offcpu,
                Lens::Locks,
                Lens::Alloc,
                Lens::Exceptions,
                Lens::Methods,
                Lens::Jni,
            ],
        }
    }
}

/// What the name of a file says about what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Report(Format),
    Stacks(StackFormat),
    Distribution,
    Recording,
    Flight,
    Perfetto,
    Firefox,
}

/// Extensions and what they stand for. The first that a name ends in counts.
const EXTENSIONS: &[(&str, Content)] = &[
    (".firefox.json.gz", Content::Firefox),
    (".speedscope.json", Content::Stacks(StackFormat::Speedscope)),
    (".json", Content::Report(Format::Json)),
    (".ndjson", Content::Report(Format::Ndjson)),
    (".txt", Content::Report(Format::Text)),
    (".html", Content::Report(Format::Html)),
    (".folded", Content::Stacks(StackFormat::Folded)),
    (".svg", Content::Stacks(StackFormat::Svg)),
    (".dot", Content::Stacks(StackFormat::Dot)),
    (".callgrind", Content::Stacks(StackFormat::Callgrind)),
    (".callgrind.out", Content::Stacks(StackFormat::Callgrind)),
    (".hgrm", Content::Distribution),
    (".pb.gz", Content::Stacks(StackFormat::Pprof)),
    (".jfr", Content::Flight),
    (".perfetto-trace", Content::Perfetto),
    (".jtrace", Content::Recording),
];

/// What is to go into a file of this name.
pub(super) fn content(path: &Path) -> Result<Content, Failure> {
    let name = path.file_name().map_or(&[][..], OsStr::as_bytes);
    // A name that is nothing but an extension has none, nor one that would be taken for a report.
    let ends_in = |extension: &str| name.len() > extension.len() && name.ends_with(extension.as_bytes());
    let is_unpacked = ends_in(".firefox.json");
    let found =
        EXTENSIONS.iter().find(|(extension, _)| ends_in(extension) && !is_unpacked).map(|(_, content)| *content);
    found.ok_or_else(|| {
        let extensions: Vec<_> = EXTENSIONS.iter().map(|(extension, _)| *extension).collect();
        Failure::usage(
            format!("the extension of {} names no format", path.display()),
            format!("use one of {}", extensions.join(", ")),
        )
    })
}

/// Fills in `%p`, `%t` and `%h`.
pub(in crate::cli) fn expand(path: &Path, pid: u32) -> PathBuf {
    let mut out = Vec::new();
    let mut bytes = path.as_os_str().as_bytes().iter().copied();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'p') => out.extend_from_slice(pid.to_string().as_bytes()),
            Some(b't') => out.extend_from_slice(time_stamp().as_bytes()),
            Some(b'h') => out.extend_from_slice(rustix::system::uname().nodename().to_bytes()),
            Some(b'%') | None => out.push(b'%'),
            Some(other) => out.extend_from_slice(&[b'%', other]),
        }
    }
    PathBuf::from(OsString::from_vec(out))
}

/// `20261121T023456Z`.
fn time_stamp() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let wall = crate::text::column::wall_clock(u64::try_from(since.as_millis()).unwrap_or(u64::MAX));
    wall.chars().filter(char::is_ascii_alphanumeric).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_holders_are_filled_in() {
        assert_eq!(expand(Path::new("/x/%p-%%.json"), 42), PathBuf::from("/x/42-%.json"));
        let stamp = time_stamp();
        assert!(stamp.starts_with("20") && stamp.contains('T'), "{stamp}");
    }

    #[test]
    fn extensions_pick_formats() {
        let of = |name: &str| content(Path::new(name)).ok();
        assert_eq!(of("a/x.json"), Some(Content::Report(Format::Json)));
        assert_eq!(of("x.speedscope.json"), Some(Content::Stacks(StackFormat::Speedscope)));
        assert_eq!(of("x.y.pb.gz"), Some(Content::Stacks(StackFormat::Pprof)));
        assert_eq!(of("x.folded"), Some(Content::Stacks(StackFormat::Folded)));
        assert_eq!(of("x.dot"), Some(Content::Stacks(StackFormat::Dot)));
        assert_eq!(of("x.callgrind.out"), Some(Content::Stacks(StackFormat::Callgrind)));
        assert_eq!(of("x.hgrm"), Some(Content::Distribution));
        assert_eq!(of("x.svg"), Some(Content::Stacks(StackFormat::Svg)));
        assert_eq!(of("x.jtrace"), Some(Content::Recording));
        assert_eq!(of("x.jfr"), Some(Content::Flight));
        for wrong in [".json", "x.firefox.json", "x.gz", "x.pb", "json", "x", "..", ""] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }
}
