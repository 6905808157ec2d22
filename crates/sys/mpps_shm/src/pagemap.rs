//! Physical addresses, from `/proc/self/pagemap` (Documentation/admin-guide/mm/pagemap.rst of the kernel).
//!
//! For ports that need them (`--iova-mode=pa`); no port of software does. Made and owned by the page source.

use rustix::fs::{Mode, OFlags, open};
use rustix::io::pread;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;

const PAGE: u64 = 4096;
/// Bit 63 of an entry: the page is in memory.
const PRESENT: u64 = 1 << 63;
/// Bits 0 to 54: the frame's number; 0 for readers without `CAP_SYS_ADMIN`.
const FRAME: u64 = (1 << 55) - 1;

#[derive(Debug)]
pub(crate) struct Pagemap(Option<OwnedFd>);

impl Pagemap {
    pub(crate) fn open() -> Pagemap {
        Pagemap(
            open(
                "/proc/self/pagemap",
                OFlags::RDONLY | OFlags::CLOEXEC,
                Mode::empty(),
            )
            .ok(),
        )
    }

    /// `None`: not resident, or the kernel doesn't tell.
    pub(crate) fn translate(&self, ptr: NonNull<u8>) -> Option<u64> {
        let addr = u64::try_from(ptr.addr().get()).ok()?;
        let mut entry = [0; 8];
        let read = pread(self.0.as_ref()?, &mut entry, addr / PAGE * 8).ok()?;
        (read == entry.len()).then_some(())?;
        physical(u64::from_ne_bytes(entry), addr)
    }

    /// Whether the kernel tells physical addresses to this process.
    pub(crate) fn is_readable(&self) -> bool {
        let probe = Box::new(1_u8);
        self.translate(NonNull::from(&*probe)).is_some()
    }
}

fn physical(entry: u64, addr: u64) -> Option<u64> {
    let frame = entry & FRAME;
    if entry & PRESENT == 0 || frame == 0 {
        return None;
    }
    frame.checked_mul(PAGE).map(|start| start + addr % PAGE)
}

#[cfg(test)]
mod tests {
    use super::{FRAME, PRESENT, Pagemap, physical};
    use std::ptr::NonNull;

    #[test]
    fn entries() {
        assert_eq!(physical(PRESENT | 5, 0x7123), Some(0x5123));
        assert_eq!(physical(PRESENT | (1 << 51), 0), Some(1 << 63));
        assert_eq!(
            physical(PRESENT | FRAME, 0),
            None,
            "no machine has this address"
        );
        assert_eq!(physical(PRESENT, 0x7123), None);
        assert_eq!(physical(5, 0x7123), None);
    }

    #[test]
    fn unprivileged_readers_get_nothing() {
        let byte = Box::new(1_u8);
        let map = Pagemap::open();
        let got = map.translate(NonNull::from(&*byte));
        assert_eq!(got.is_some(), map.is_readable());
        assert!(Pagemap(None).translate(NonNull::from(&*byte)).is_none());
    }
}
