//! The rule about file systems that are full.

use super::Evidence;
use crate::{
    lens::Lens::Threads,
    report::{Finding, Severity},
    text::format,
};

/// What is left where it is told, and where it is urgent: a share, and no more than so much.
const TOLD: (f64, u64) = (0.03, 4 << 30);
const URGENT: (f64, u64) = (0.005, 512 << 20);
/// The same of files.
const FEW_FILES: (f64, u64) = (0.01, 10_000);

/// A file system on which the program writes has hardly any room left.
pub(super) fn full(evidence: &Evidence<'_>) -> Option<Finding> {
    let row = evidence.rows(Threads, "volumes").next()?;
    let [size, free, files, free_files] = ["size_bytes", "free_bytes", "files", "free_files"].map(|key| row.whole(key));
    let is_below =
        |(share, most): (f64, u64), left: u64, all: u64| all > 0 && left <= most && left as f64 <= share * all as f64;
    let lacks_files = is_below(FEW_FILES, free_files, files);
    let severity = if is_below(URGENT, free, size) || (lacks_files && free_files == 0) {
        Severity::Critical
    } else if is_below(TOLD, free, size) || lacks_files {
        Severity::Warning
    } else {
        return None;
    };
    let left = if lacks_files {
        format!("may get {} more, of {}", format::plural(free_files, "file", "files"), format::count(files))
    } else {
        format!("has {} left of {}", format::bytes(free), format::bytes(size))
    };
    Some(Finding {
        id: "disk-full",
        severity,
        score: 100.0,
        title: format!("The file system of `{}` {left}", row.text("file")),
        shown_in: "threads.volumes",
        when: Vec::new(),
        evidence: vec!["the process has this file open and may write it".to_owned()],
        next_step: "Make room, or rotate the logs: a file that was deleted keeps its room until nobody has it open. Writes that fail are \
                    IOExceptions, which `jtrace attach PID --lens exceptions` tells with their places."
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Case, *};

    fn volume(numbers: [u64; 4]) -> Case {
        let [size, free, files, free_files] = numbers;
        let cells = [
            ("file", "/var/log/shop.log".into()),
            ("size_bytes", size.into()),
            ("free_bytes", free.into()),
            ("files", files.into()),
            ("free_files", free_files.into()),
        ];
        Case::seconds(10).row("threads", "volumes", &cells)
    }

    #[test]
    fn hardly_any_room_is_told_with_a_file_that_is_written_there() {
        let title = |left: &str| format!("The file system of `/var/log/shop.log` {left}");
        let some = volume([20 << 30, 400 << 20, 1 << 20, 1 << 19]);
        assert_eq!(some.said(full), (Severity::Warning, title("has 400 MiB left of 20 GiB")));
        assert_eq!(volume([20 << 30, 4 << 20, 1 << 20, 1 << 19]).said(full).0, Severity::Critical);
        assert_eq!(volume([20 << 30, 0, 0, 0]).said(full), (Severity::Critical, title("has 0 B left of 20 GiB")));
        let no_files = volume([20 << 30, 9 << 30, 1 << 20, 0]);
        assert_eq!(no_files.said(full), (Severity::Critical, title("may get 0 files more, of 1,048,576")));
    }

    #[test]
    fn a_large_disk_with_a_small_share_left_still_has_room() {
        assert_eq!(volume([4 << 40, 100 << 30, 0, 0]).ask(full), None);
        assert_eq!(volume([20 << 30, 1 << 30, 0, 0]).ask(full), None);
    }
}
