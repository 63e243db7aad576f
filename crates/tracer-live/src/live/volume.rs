//! The fullest of the file systems on which the target has files open that it writes.

use std::{collections::HashSet, path::Path};

use crate::{
    item::look::Volume,
    jvm::{
        descriptor::open,
        memory::room::{self, Room},
    },
};

/// Looks from one to the next that asks: file systems fill in minutes.
const LOOKS: u32 = 5;
/// Most folders whose file systems are asked.
const MAX_FOLDERS: usize = 32;
/// Most of a path that is told.
const MAX_PATH_CHARS: usize = 256;
/// What is told has less left than this share of it.
const TOLD: f64 = 0.1;

/// What was told last.
#[derive(Debug, Default)]
pub(super) struct Fullest {
    looks: u32,
    told: Option<Volume>,
}

impl Fullest {
    /// The fullest one; none where there is room on all of them.
    pub(super) fn of(&mut self, pid: u32) -> Option<Volume> {
        if self.looks.is_multiple_of(LOOKS) {
            self.told = fullest(pid);
        }
        self.looks += 1;
        self.told.clone()
    }
}

fn fullest(pid: u32) -> Option<Volume> {
    let mut folders = HashSet::new();
    let in_new_folder = |(_, path): &(u32, String)| {
        let folder = Path::new(path).parent().map(Path::to_owned);
        folders.len() < MAX_FOLDERS && folders.insert(folder)
    };
    let rooms = open::written(pid).filter(in_new_folder).filter_map(|(descriptor, path)| {
        let room = room::of_file(Path::new(&format!("/proc/{pid}/fd/{descriptor}")))?;
        Some((share(&room), path, room))
    });
    let (_, path, room) = rooms.filter(|(share, ..)| *share < TOLD).min_by(|a, b| a.0.total_cmp(&b.0))?;
    let Room { device: _, bytes, free_bytes, files, free_files } = room;
    Some(Volume { file: path.chars().take(MAX_PATH_CHARS).collect(), bytes, free_bytes, files, free_files })
}

/// What is left of it, of room or of files.
fn share(room: &Room) -> f64 {
    let left = |free: u64, all: u64| if all == 0 { 1.0 } else { free as f64 / all as f64 };
    left(room.free_bytes, room.bytes).min(left(room.free_files, room.files))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_the_smaller_share_of_room_and_files() {
        let room = |[bytes, free_bytes, files, free_files]: [u64; 4]| Room {
            device: (1, 2),
            bytes,
            free_bytes,
            files,
            free_files,
        };
        let told = |numbers| format!("{:.2}", share(&room(numbers)));
        assert_eq!(told([1000, 500, 100, 5]), "0.05");
        assert_eq!(told([1000, 20, 100, 50]), "0.02");
        assert_eq!(told([1000, 500, 0, 0]), "0.50", "it has no number of files");
        assert_eq!(told([0, 0, 0, 0]), "1.00", "it has no size either");
    }
}
