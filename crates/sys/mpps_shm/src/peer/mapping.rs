//! A peer's file, mapped.
//!
//! Made by a control thread from a descriptor that came over its socket (which may be closed right after), owned by the
//! memory tables it is put in. A handle: clones share the mapping, and the last one unmaps it.

use super::error::PeerMapError;
use super::sigbus::{self, Slot};
use crate::mapping::{HUGE_PAGE, SMALL_PAGE};
use crate::region::Region;
use crate::sys::{Span, page_size};
use rustix::fs::{FileType, fstat, fstatfs};
use rustix::io::Errno;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::Arc;

/// File systems on which another process answers page faults: reading one page could hold up the poll loop for ever.
/// Magic numbers of linux/magic.h and the file systems' own headers.
const SERVED: &[(u64, &str)] = &[
    (0x6573_5546, "on a FUSE file system"),
    (0x6969, "on NFS"),
    (0xff53_4d42, "on CIFS"),
    (0xfe53_4d42, "on SMB"),
    (0x517b, "on SMB"),
    (0x0102_1997, "on 9p"),
    (0x00c3_6400, "on Ceph"),
    (0x5346_414f, "on AFS"),
];

/// A range of a peer's file, mapped shared with read and write access. Registered with the SIGBUS handler.
#[derive(Debug, Clone)]
pub struct PeerMapping(Arc<Mapped>);

#[derive(Debug)]
struct Mapped {
    region: Region,
    /// Dropped before the span: an address is in the handler's table only while it is ours.
    slot: Slot,
    #[expect(dead_code, reason = "dropping it is its use: it unmaps the memory")]
    span: Span,
}

impl PeerMapping {
    /// Maps `len` bytes at `offset` of the file. Nothing becomes resident by it: a guest's memory is sparse. The place is
    /// chosen so that huge pages of the file are mapped as such.
    ///
    /// # Errors
    /// The length is 0 or too large, the file ends before the region does (one that
    /// shrinks later makes the mapping [lost](PeerMapping::is_lost)), isn't memory, isn't open for reading and
    /// writing, or the kernel has no address space.
    pub fn map(fd: BorrowedFd<'_>, offset: u64, len: u64) -> Result<PeerMapping, PeerMapError> {
        let failed = |call: &'static str| {
            move |errno: Errno| PeerMapError::System {
                offset,
                len,
                call,
                source: errno.into(),
            }
        };
        let page = check(fd, offset, len, &failed)?;
        let place = Place::of(offset, len, page).ok_or(PeerMapError::Overflow { offset, len })?;
        let span = Span::take(place.reserve, None).map_err(failed("mmap"))?;
        let skip = place.skip(span.start());
        // Pages of hugetlbfs are promised now, if the peer hasn't had them promised: a shortage is an error here, not a
        // loss at the first access.
        let lazy = page == page_size();
        let start = span
            .map(skip, place.len, Some((fd, place.file)), lazy)
            .map_err(failed("mmap"))?;
        // Hints; refused, they are missed only in speed or in the size of a core dump.
        let _ = span.advise_huge(skip, place.len);
        let _ = span.advise_dontdump(skip, place.len);
        // SAFETY: `head + len` bytes from `start` were just mapped, and stay so as long as the span does.
        let region = unsafe { Region::new(start.add(place.head), place.exact) };
        let slot = sigbus::register(start, place.len, page).map_err(|refused| match refused {
            sigbus::Refused::Full(most) => PeerMapError::TooMany { most },
            sigbus::Refused::Handler(errno) => failed("sigaction")(errno),
        })?;
        Ok(PeerMapping(Arc::new(Mapped { region, slot, span })))
    }

    /// The bytes asked for: the first is the one at `offset` of the file. Valid as long as a clone of this lives.
    pub fn region(&self) -> Region {
        self.0.region
    }

    /// Whether the peer took the memory away (or the hardware did): there are zero pages in its place.
    pub fn is_lost(&self) -> bool {
        self.0.slot.is_lost()
    }
}

/// Refuses what can't be mapped for good, before it is mapped; else the file's page size in bytes.
fn check<F: Fn(Errno) -> PeerMapError>(
    fd: BorrowedFd<'_>,
    offset: u64,
    len: u64,
    failed: &impl Fn(&'static str) -> F,
) -> Result<usize, PeerMapError> {
    if len == 0 {
        return Err(PeerMapError::Empty { offset });
    }
    let end = offset
        .checked_add(len)
        .ok_or(PeerMapError::Overflow { offset, len })?;
    let stat = fstat(fd).map_err(failed("fstat"))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        let what = "not a regular file";
        return Err(PeerMapError::NotMemory { what });
    }
    let system = fstatfs(fd).map_err(failed("fstatfs"))?;
    // The field's type differs between architectures; the magic number has 32 bits.
    let magic = u64::from(system.f_type as u32);
    if let Some((_, what)) = SERVED.iter().find(|(served, _)| *served == magic) {
        return Err(PeerMapError::NotMemory { what });
    }
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    if end > size {
        return Err(PeerMapError::TooShort { offset, len, size });
    }
    let block = usize::try_from(stat.st_blksize).unwrap_or(0);
    // On hugetlbfs, blocks are its pages; elsewhere they say nothing of pages.
    let huge = magic == HUGETLBFS && block.is_power_of_two() && block > SMALL_PAGE;
    Ok(if huge { block } else { page_size() })
}

/// `HUGETLBFS_MAGIC` of linux/magic.h.
const HUGETLBFS: u64 = 0x9584_58f6;

/// What to map where, in bytes.
struct Place {
    /// Start in the file, a multiple of its pages.
    file: u64,
    /// From there to the region.
    head: usize,
    /// The region's own length.
    exact: usize,
    /// Length of the mapping, whole pages.
    len: usize,
    /// Addresses to reserve, so that an aligned place is among them.
    reserve: usize,
    /// Address and file offset are the same modulo this.
    align: usize,
}

impl Place {
    fn of(offset: u64, len: u64, page: usize) -> Option<Place> {
        let file = offset - offset % page as u64;
        let head = usize::try_from(offset - file).ok()?;
        let exact = usize::try_from(len).ok()?;
        let len = head.checked_add(exact)?.checked_next_multiple_of(page)?;
        let align = if len >= HUGE_PAGE {
            page.max(HUGE_PAGE)
        } else {
            page
        };
        let reserve = len.checked_add(align)?;
        isize::try_from(reserve).ok()?;
        Some(Place {
            file,
            head,
            exact,
            len,
            reserve,
            align,
        })
    }

    /// Where in a span of `reserve` bytes the mapping starts.
    fn skip(&self, span: NonNull<u8>) -> usize {
        let phase = (self.file % self.align as u64) as usize;
        // Both are less than `align` after the remainder, so neither sum can overflow.
        (phase + self.align - span.addr().get() % self.align) % self.align
    }
}
