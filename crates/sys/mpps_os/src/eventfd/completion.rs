//! Adding to an event counter without a write: the kernel does it when a request of asynchronous I/O completes.
//!
//! A request (`io_submit(2)`, `IOCB_FLAG_RESFD`) names a counter to which the kernel adds one at completion. That addition
//! never waits: a counter at its limit is left as it is. The request asks whether a file of ours can be read, which it always
//! can, so that it is complete when the call returns.
//!
//! One context for the process, made when something is signalled for the first time: a program that nobody asks to be told
//! has none, and a process that has one takes tens of milliseconds longer to end, because the kernel then waits for
//! a grace period. Nobody ends it but the kernel, with the process.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;

use libc::{c_long, c_ulong};
use rustix::event::PollFlags;
use rustix::fs::{MemfdFlags, memfd_create};

/// Requests that the context has room for until their results are fetched; the kernel makes it more.
const ROOM: c_long = 64;

/// Results fetched in one call.
const FETCHED: usize = 128;

/// How often to make room. Others may take it in between.
const TRIES: u32 = 16;

static CONTEXT: OnceLock<Result<Context, i32>> = OnceLock::new();

/// The context of the process; none where the kernel gives none.
#[inline]
pub(super) fn context() -> Option<&'static Context> {
    CONTEXT.get_or_init(Context::new).as_ref().ok()
}

/// Why event counters are written to, and a peer could make that block: the kernel refused asynchronous I/O. None where all
/// is well, and as long as nothing was signalled.
#[must_use]
pub fn signalling_trouble() -> Option<io::Error> {
    match CONTEXT.get() {
        Some(Err(errno)) => Some(io::Error::from_raw_os_error(*errno)),
        _ => None,
    }
}

/// A context for requests. Several threads may use it at a time.
pub(super) struct Context {
    id: c_ulong,
    /// What requests ask about: an empty file.
    file: OwnedFd,
}

/// A request (`struct iocb` of `linux/aio_abi.h`).
#[repr(C)]
#[derive(Default)]
struct Request {
    data: u64,
    /// The kernel writes to one of the two.
    key_and_flags: [u32; 2],
    opcode: u16,
    priority: i16,
    file: u32,
    /// For `IOCB_CMD_POLL`: the events asked for.
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event: u32,
}

const _: () = assert!(size_of::<Request>() == 64);

/// `IOCB_CMD_POLL`, since Linux 4.18.
const POLL: u16 = 5;

/// `IOCB_FLAG_RESFD`: the request names an event counter.
const WITH_EVENT: u32 = 1;

/// A result (`struct io_event`), which nobody reads.
type Outcome = [u64; 4];

impl Context {
    fn new() -> Result<Self, i32> {
        let file = memfd_create("signalling", MemfdFlags::CLOEXEC)
            .map_err(|error| error.raw_os_error())?;
        let mut id: c_ulong = 0;
        // SAFETY: the call writes the context's name to `id`.
        let made = unsafe { libc::syscall(libc::SYS_io_setup, ROOM, &raw mut id) };
        if made == 0 {
            Ok(Self { id, file })
        } else {
            Err(errno())
        }
    }

    /// Adds one to a counter, or leaves it at its limit.
    pub(super) fn add_one(&self, event: BorrowedFd<'_>) -> Result<(), i32> {
        let mut last = libc::EAGAIN;
        for _ in 0..TRIES {
            match self.submit(event) {
                Err(libc::EAGAIN) => self.make_room(),
                Err(libc::EINTR) => last = libc::EINTR,
                done => return done,
            }
        }
        Err(last)
    }

    fn submit(&self, event: BorrowedFd<'_>) -> Result<(), i32> {
        let mut request = Request {
            opcode: POLL,
            file: self.file.as_raw_fd().cast_unsigned(),
            buffer: u64::from(PollFlags::IN.bits()),
            flags: WITH_EVENT,
            event: event.as_raw_fd().cast_unsigned(),
            ..Request::default()
        };
        let mut list = [&raw mut request];
        // SAFETY: the kernel reads one pointer of `list`, and reads and writes the request behind it, before it returns.
        let taken =
            unsafe { libc::syscall(libc::SYS_io_submit, self.id, 1_i64, list.as_mut_ptr()) };
        if taken == 1 { Ok(()) } else { Err(errno()) }
    }

    /// Fetches results that nobody wants, all that there are or many; doesn't wait for any.
    #[cold]
    fn make_room(&self) {
        let mut outcomes = [Outcome::default(); FETCHED];
        let mut at_once = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the kernel writes at most `FETCHED` results of 32 bytes each, and reads the time.
        unsafe {
            libc::syscall(
                libc::SYS_io_getevents,
                self.id,
                0_i64,
                FETCHED as c_long,
                outcomes.as_mut_ptr(),
                &raw mut at_once,
            );
        }
    }
}

/// What the last system call of this thread failed with.
fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}
