//! What happens when a peer truncates a file that is mapped here: SIGBUS, which would end the program.
//!
//! What: a handler, installed for the process with the first mapping, and the table it looks in. A fault inside a
//! registered mapping marks the mapping lost and then puts zero pages over all of it, so that the access that faulted
//! goes on, on zeros. Any other SIGBUS goes to whoever handled it before, at last to the kernel, which ends the program:
//! real faults of ours aren't hidden.
//!
//! Why the whole mapping, and not from the fault on: the peer is dead to us in either case. Whole, it is one call, right
//! for every page size, and each later access is an ordinary one instead of a fault for each page.
//!
//! The handler takes no lock and allocates nothing. The mapping it is looking for can't go away or move meanwhile, as
//! the access that faulted keeps it alive; all other rows may change under its eyes. A version in each row (odd while
//! it changes) tells such rows, which are passed over. Rows are written under a lock by [`register`] and `Slot::drop`.
//! The handler needs SIGBUS not to be blocked in threads that access a peer's memory.

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use std::ffi::{c_int, c_void};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Mappings that can be registered at once.
const MOST: usize = 4096;

/// Row of the table. All 0 while free.
struct Row {
    /// Odd while the fields below are written.
    version: AtomicUsize,
    start: AtomicUsize,
    /// In bytes; 0 while free.
    len: AtomicUsize,
    /// Page size of the file in bytes.
    page: AtomicUsize,
    lost: AtomicBool,
}

static TABLE: [Row; MOST] = [const {
    Row {
        version: AtomicUsize::new(0),
        start: AtomicUsize::new(0),
        len: AtomicUsize::new(0),
        page: AtomicUsize::new(0),
        lost: AtomicBool::new(false),
    }
}; MOST];

/// Rows from here on were never used.
static USED: AtomicUsize = AtomicUsize::new(0);

/// Faults that were taken for losses, since the program started.
static LOSSES: AtomicUsize = AtomicUsize::new(0);

/// Held by who writes rows.
static WRITING: Mutex<()> = Mutex::new(());

/// Who handled SIGBUS before us.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// The number of faults so far; a change means that some mapping was lost.
#[inline(always)]
pub(super) fn losses() -> &'static AtomicUsize {
    &LOSSES
}

/// Why a mapping wasn't registered.
#[derive(Debug)]
pub(super) enum Refused {
    /// There are as many as this already.
    Full(usize),
    /// The handler can't be installed.
    Handler(Errno),
}

/// A mapping's row, until dropped.
#[derive(Debug)]
pub(super) struct Slot(&'static Row);

impl std::fmt::Debug for Row {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Row")
            .field("lost", &self.lost)
            .finish_non_exhaustive()
    }
}

/// Enters `len` bytes from `start`, which are mapped and whole pages of `page` bytes, into the table. The slot must be
/// dropped before they are unmapped.
pub(super) fn register(start: NonNull<u8>, len: usize, page: usize) -> Result<Slot, Refused> {
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    install().map_err(Refused::Handler)?;
    // Relaxed, also below: only written under the lock.
    let free = |row: &&Row| row.len.load(Ordering::Relaxed) == 0;
    let (index, row) = TABLE
        .iter()
        .enumerate()
        .find(|(_, row)| free(row))
        .ok_or(Refused::Full(MOST))?;
    // Relaxed: partner is the load in `is_lost`, by who got the mapping from this thread.
    row.lost.store(false, Ordering::Relaxed);
    row.write(start.addr().get(), len, page);
    // Relaxed: whoever accesses the mapping got it from this thread, and this with it.
    USED.fetch_max(index + 1, Ordering::Relaxed);
    Ok(Slot(row))
}

impl Slot {
    #[inline]
    pub(super) fn is_lost(&self) -> bool {
        // Relaxed: ordered by GuestMemory's look at the count, where that matters.
        self.0.lost.load(Ordering::Relaxed)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.write(0, 0, 0);
    }
}

impl Row {
    /// Under the lock.
    fn write(&self, start: usize, len: usize, page: usize) {
        // Relaxed: only written under the lock.
        let version = self.version.load(Ordering::Relaxed);
        self.version
            .store(version.wrapping_add(1), Ordering::Relaxed);
        // Release: partner is the acquire fence in `read`: who sees a field of these sees the odd version.
        fence(Ordering::Release);
        // Relaxed, all three: partner is `read`, which looks at the version before and after; the fence and the store
        // around them give the order.
        self.start.store(start, Ordering::Relaxed);
        self.len.store(len, Ordering::Relaxed);
        self.page.store(page, Ordering::Relaxed);
        // Release: partner is the acquire in `read`: who sees the even version sees the fields.
        self.version
            .store(version.wrapping_add(2), Ordering::Release);
    }

    /// Start, length and page size; `None` while it is written.
    fn read(&self) -> Option<(usize, usize, usize)> {
        // Acquire: partner is the last release in `write`.
        let version = self.version.load(Ordering::Acquire);
        let fields = (
            self.start.load(Ordering::Relaxed),
            self.len.load(Ordering::Relaxed),
            self.page.load(Ordering::Relaxed),
        );
        // Acquire: partner is the fence in `write`.
        fence(Ordering::Acquire);
        let stable = version.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == version;
        stable.then_some(fields)
    }
}

/// Installs the handler, once. Under the lock.
fn install() -> Result<(), Errno> {
    if BEFORE.get().is_some() {
        return Ok(());
    }
    // SAFETY: plain data of which all zeros is a value (default action, empty mask).
    let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: only asks; `before` is writable.
    if unsafe { libc::sigaction(libc::SIGBUS, ptr::null(), &raw mut before) } != 0 {
        return Err(crate::sys::last_errno());
    }
    // First, as the handler may run as soon as it is installed.
    let _ = BEFORE.set(before);
    // SAFETY: as above.
    let mut ours: libc::sigaction = unsafe { std::mem::zeroed() };
    ours.sa_sigaction = on_sigbus as *const () as usize;
    ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
    // SAFETY: the handler has the signature that SA_SIGINFO asks for, and does what a handler may do.
    if unsafe { libc::sigaction(libc::SIGBUS, &raw const ours, ptr::null_mut()) } != 0 {
        return Err(crate::sys::last_errno());
    }
    Ok(())
}

/// Runs on the thread that faulted.
extern "C" fn on_sigbus(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel gives a valid siginfo to a handler with SA_SIGINFO.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr().addr()) };
    if is_loss(code) && replace(address) {
        return;
    }
    chain(signal, code, info, context);
}

/// No page behind the address (the file ended), or one that the hardware lost; not a signal that somebody sent, nor an
/// alignment fault.
fn is_loss(code: c_int) -> bool {
    const BUS_ADRERR: c_int = 2;
    const BUS_MCEERR_AR: c_int = 4;
    code == BUS_ADRERR || code == BUS_MCEERR_AR
}

/// Marks the mapping of `address` lost and puts zero pages there; false when it isn't a peer's.
fn replace(address: usize) -> bool {
    // Relaxed: see `register`.
    let used = USED.load(Ordering::Relaxed);
    for row in TABLE.iter().take(used) {
        let Some((start, len, page)) = row.read() else {
            continue;
        };
        if address.wrapping_sub(start) >= len {
            continue;
        }
        // Before the zero pages are there: whoever reads zeros in the place of data can know.
        row.lost.store(true, Ordering::Relaxed);
        // Release: partner is the acquire in GuestMemory::look_for_losses, which looks at the mark then.
        LOSSES.fetch_add(1, Ordering::Release);
        // The kernel may refuse the promise of so much memory, but not of a page.
        return zero_pages(start, len) || zero_pages(address - address % page, page);
    }
    false
}

/// Puts zero pages in the place of what is mapped.
fn zero_pages(start: usize, len: usize) -> bool {
    let at = ptr::with_exposed_provenance_mut::<c_void>(start);
    let prot = ProtFlags::READ | ProtFlags::WRITE;
    let flags = MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE;
    // SAFETY: the range is (part of) a registered mapping, which the faulting access keeps alive. Its bytes may change at
    // any time anyway, so no one relies on them.
    unsafe { mmap_anonymous(at, len, prot, flags) }.is_ok()
}

/// Hands a signal that isn't about a peer to whoever was there before.
fn chain(signal: c_int, code: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let before = BEFORE
        .get()
        .map(|before| (before.sa_sigaction, before.sa_flags));
    match before {
        Some((libc::SIG_IGN, _)) if code <= 0 => {}
        None | Some((libc::SIG_DFL | libc::SIG_IGN, _)) => end(signal, code),
        Some((handler, flags)) if flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: the kernel took it for such a function.
            let handler = unsafe {
                std::mem::transmute::<usize, extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void)>(
                    handler,
                )
            };
            handler(signal, info, context);
        }
        Some((handler, _)) => {
            // SAFETY: the kernel took it for such a function.
            let handler = unsafe { std::mem::transmute::<usize, extern "C" fn(c_int)>(handler) };
            handler(signal);
        }
    }
}

/// Has the kernel end the program as if nobody handled the signal.
fn end(signal: c_int, code: c_int) {
    // SAFETY: plain data of which all zeros is a value: the default action.
    let default: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: both calls may be made in a handler. A fault happens again when we return; a signal that was sent (its code
    // isn't positive) has to be sent again, and comes when we return.
    unsafe {
        libc::sigaction(signal, &raw const default, ptr::null_mut());
        if code <= 0 {
            libc::raise(signal);
        }
    }
}
