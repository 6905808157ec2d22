//! A folder of this process alone for sockets and captures. Whoever makes it owns it; it goes, with all in it, when dropped.

use std::fs::{self, DirBuilder};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::bench::Failure;

/// Names tried when others of this process are taken.
const TRIES: u32 = 64;

/// A private temporary folder.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Makes one that only this user can enter.
    pub(crate) fn new() -> Result<Self, Failure> {
        let parent = std::env::temp_dir();
        for number in 0..TRIES {
            let path = parent.join(format!("mpps-{}-{number}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => {
                    let why = "set TMPDIR to a folder that can be written";
                    return Err(format!("{}: {error}; {why}", path.display()).into());
                }
            }
        }
        Err(format!("{}: full of left-over folders mpps-*", parent.display()).into())
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What can't be removed is a few files in the folder for temporary ones.
        let _ = fs::remove_dir_all(&self.0);
    }
}
