//! The handling of files needs no hugetlbfs: any folder shows it.

use super::{HugeDir, hugetlbfs_mounts};
use crate::config::{HugeUnlink, MemoryConfig};
use std::fs;
use std::path::{Path, PathBuf};

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("mpps_hugedir_{}_{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn dir(&self, huge_unlink: HugeUnlink) -> HugeDir {
        let config = MemoryConfig {
            huge_unlink,
            file_prefix: "t".to_owned(),
            ..MemoryConfig::default()
        };
        HugeDir::plain(&self.0, 4096, &config)
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(&self.0)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn names_count_up_and_go_with_their_file() {
    let folder = Folder::new("names");
    let dir = folder.dir(HugeUnlink::Existing);
    let first = dir.create(8192).unwrap();
    let second = dir.create(4096).unwrap();
    assert_eq!(folder.names(), ["tmap_0", "tmap_1"]);
    assert_eq!(fs::metadata(folder.0.join("tmap_0")).unwrap().len(), 8192);
    assert!(!first.is_dirty());
    drop(first);
    assert_eq!(folder.names(), ["tmap_1"]);
    drop(second);
    assert!(folder.names().is_empty());
}

#[test]
fn only_dead_files_of_the_prefix_are_removed() {
    let folder = Folder::new("stale");
    for name in [
        "tmap_7", "tmap_8", "tmap_x", "tmap_", "t2map_0", "xtmap_0", "other",
    ] {
        fs::write(folder.0.join(name), "left behind").unwrap();
    }
    let dir = folder.dir(HugeUnlink::Existing);
    let living = dir.create(4096).unwrap();
    // Two open files of one process hold their locks against each other, as two processes do.
    assert_eq!(dir.remove_stale(), 2);
    assert_eq!(
        folder.names(),
        ["other", "t2map_0", "tmap_", "tmap_0", "tmap_x", "xtmap_0"]
    );
    drop(living);
    assert_eq!(dir.remove_stale(), 0);
}

#[test]
fn always_leaves_no_name() {
    let folder = Folder::new("always");
    let file = folder.dir(HugeUnlink::Always).create(4096).unwrap();
    assert!(folder.names().is_empty());
    drop(file);
}

#[test]
fn never_keeps_files_and_takes_them_again() {
    let folder = Folder::new("never");
    let dir = folder.dir(HugeUnlink::Never);
    let first = dir.create(4096).unwrap();
    let second = dir.create(4096).unwrap();
    assert!(!first.is_dirty() && !second.is_dirty());
    drop(second);
    assert_eq!(folder.names(), ["tmap_0", "tmap_1"]);
    let again = dir.create(8192).unwrap();
    assert!(again.is_dirty());
    assert_eq!(fs::metadata(folder.0.join("tmap_1")).unwrap().len(), 8192);
    let third = dir.create(4096).unwrap();
    assert!(!third.is_dirty());
    assert_eq!(folder.names().len(), 3);
    drop(first);
}

#[test]
fn a_file_that_cannot_be_that_long_leaves_no_name() {
    let folder = Folder::new("long");
    let made = folder.dir(HugeUnlink::Existing).create(u64::MAX);
    assert!(made.is_err());
    assert!(folder.names().is_empty(), "{:?}", folder.names());
}

#[test]
fn a_link_is_not_followed() {
    let folder = Folder::new("link");
    fs::write(folder.0.join("victim"), "precious").unwrap();
    std::os::unix::fs::symlink("victim", folder.0.join("tmap_0")).unwrap();
    let file = folder.dir(HugeUnlink::Never).create(4096).unwrap();
    assert_eq!(
        fs::read_to_string(folder.0.join("victim")).unwrap(),
        "precious"
    );
    assert!(folder.0.join("tmap_1").exists());
    drop(file);
}

#[test]
fn a_folder_that_is_no_hugetlbfs_is_refused() {
    let folder = Folder::new("plain");
    let error = HugeDir::open(&folder.0, &MemoryConfig::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("--huge-dir '") && error.contains("not a hugetlbfs mount"),
        "{error}"
    );
    let error = HugeDir::open(Path::new("/no/such/folder"), &MemoryConfig::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("'/no/such/folder'"), "{error}");
}

#[test]
fn mounts_are_found_in_the_table() {
    let table = "proc /proc proc rw 0 0\nhugetlbfs /dev/hugepages hugetlbfs rw,pagesize=2M 0 0\n\
                 none /mnt/a\\040b hugetlbfs rw 0 0\nshort\n";
    let found: Vec<_> = hugetlbfs_mounts(table).collect();
    assert_eq!(
        found,
        [PathBuf::from("/dev/hugepages"), PathBuf::from("/mnt/a b")]
    );
}
