//! Files on a hugetlbfs mount (`--huge-dir`): named `<prefix>map_<n>`, locked while in use.
//!
//! Why the lock: a file whose program was killed stays, and keeps its pages from everyone. A shared `flock` marks a
//! file as in use, so the next start can tell the dead from the living (DPDK marks its files the same way). Made at
//! start by the page source; the files are owned by their [`Backing`].

use crate::backing::Backing;
use crate::config::{HugeUnlink, MemoryConfig};
use crate::error::MemoryError;
use rustix::fs::{
    Access, FlockOperation, Mode, OFlags, access, flock, fstatfs, ftruncate, open, unlink,
};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// `f_type` of hugetlbfs (statfs(2)).
const HUGETLBFS_MAGIC: u64 = 0x9584_58f6;

/// More files than this with one prefix means that something else is wrong.
const MOST_FILES: u32 = 1 << 16;

/// A hugetlbfs mount that may be used.
#[derive(Debug)]
pub(crate) struct HugeDir {
    path: PathBuf,
    page_size: usize,
    prefix: String,
    unlink: HugeUnlink,
}

impl HugeDir {
    /// Checks that `path` is a hugetlbfs mount that can be written, and removes what ended programs left there.
    pub(crate) fn open(path: &Path, config: &MemoryConfig) -> Result<HugeDir, MemoryError> {
        let refused = |why: String| MemoryError::HugeDir {
            path: path.to_owned(),
            why,
        };
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let fd = open(path, flags, Mode::empty()).map_err(|error| refused(error.to_string()))?;
        let facts = fstatfs(&fd).map_err(|error| refused(error.to_string()))?;
        if u64::try_from(facts.f_type).unwrap_or(0) & 0xffff_ffff != HUGETLBFS_MAGIC {
            return Err(refused("it is not a hugetlbfs mount".to_owned()));
        }
        let page_size =
            usize::try_from(facts.f_bsize).map_err(|_| refused("odd page size".to_owned()))?;
        if !config.in_memory && access(path, Access::WRITE_OK).is_err() {
            return Err(refused("you may not write there".to_owned()));
        }
        let dir = HugeDir::plain(path, page_size, config);
        if config.huge_unlink != HugeUnlink::Never && !config.in_memory {
            dir.remove_stale();
        }
        Ok(dir)
    }

    /// The first hugetlbfs mount that may be written; `None` when there is none.
    pub(crate) fn find(config: &MemoryConfig) -> Option<HugeDir> {
        let mounts = std::fs::read_to_string("/proc/self/mounts").ok()?;
        hugetlbfs_mounts(&mounts).find_map(|path| HugeDir::open(&path, config).ok())
    }

    /// Without the checks; any folder will do.
    pub(crate) fn plain(path: &Path, page_size: usize, config: &MemoryConfig) -> HugeDir {
        HugeDir {
            path: path.to_owned(),
            page_size,
            prefix: format!("{}map_", config.file_prefix),
            unlink: config.huge_unlink,
        }
    }

    /// Page size of the mount, in bytes.
    pub(crate) fn page_size(&self) -> usize {
        self.page_size
    }

    /// Removes the files of our prefix that no living program holds; gives how many.
    pub(crate) fn remove_stale(&self) -> usize {
        let Ok(entries) = std::fs::read_dir(&self.path) else {
            return 0;
        };
        let ours = entries.flatten().filter(|entry| {
            let name = entry.file_name();
            let number = name
                .to_str()
                .and_then(|name| name.strip_prefix(&self.prefix));
            number.is_some_and(|number| {
                !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
            })
        });
        ours.filter(|entry| {
            let path = entry.path();
            let Ok(fd) = open(
                &path,
                OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW,
                Mode::empty(),
            ) else {
                return false;
            };
            flock(&fd, FlockOperation::NonBlockingLockExclusive).is_ok() && unlink(&path).is_ok()
        })
        .count()
    }

    /// Makes a file of `len` bytes, locked as in use; with `--huge-unlink=never` one that was left is taken if there is.
    pub(crate) fn create(&self, len: u64) -> Result<Backing, Errno> {
        for number in 0..MOST_FILES {
            let path = self.path.join(format!("{}{number}", self.prefix));
            let Some((fd, reused)) = self.try_file(&path)? else {
                continue;
            };
            let path = match self.unlink {
                HugeUnlink::Existing => Some(path),
                HugeUnlink::Never => None,
                HugeUnlink::Always => {
                    unlink(&path)?;
                    None
                }
            };
            // Before the length is set: a file that can't have it takes its name along.
            let file = Backing::of_file(fd, path, reused, len);
            ftruncate(file.fd(), len)?;
            return Ok(file);
        }
        Err(Errno::EXIST)
    }

    /// `None`: the name is taken.
    fn try_file(&self, path: &Path) -> Result<Option<(OwnedFd, bool)>, Errno> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let mode = Mode::RUSR | Mode::WUSR;
        match open(path, flags | OFlags::CREATE | OFlags::EXCL, mode) {
            // Not had: somebody who tidies up was faster, and the name goes with their lock.
            Ok(fd) => return Ok(shared(&fd).then_some((fd, false))),
            Err(Errno::EXIST) if self.unlink == HugeUnlink::Never => {}
            Err(Errno::EXIST) => return Ok(None),
            Err(error) => return Err(error),
        }
        let Ok(fd) = open(path, flags, mode) else {
            return Ok(None);
        };
        if flock(&fd, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Ok(None);
        }
        // From exclusive to shared: the lock is given up in between (flock(2)), so that another start may get it.
        Ok(shared(&fd).then_some((fd, true)))
    }
}

/// Marks a file as in use; false when another program has it to itself.
fn shared(fd: &OwnedFd) -> bool {
    flock(fd, FlockOperation::NonBlockingLockShared).is_ok()
}

/// The hugetlbfs mounts in a text of the form of `/proc/mounts`.
fn hugetlbfs_mounts(mounts: &str) -> impl Iterator<Item = PathBuf> {
    mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let (path, kind) = (fields.next()?, fields.next()?);
        // A space in a path is written so.
        (kind == "hugetlbfs").then(|| PathBuf::from(path.replace("\\040", " ")))
    })
}

#[cfg(test)]
mod tests;
