//! Receive queues that read a file once through, and those that never receive.
//!
//! When no mbuf is to be had the frame stays where it is and comes with a later burst: nothing is lost and nothing
//! counted. Only a frame that needs more mbufs than its pool has at all is passed over and counted, once.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mpps_dev::{Lcore, Mailbox, QueueStats, RxQueue};
use mpps_mbuf::{BURST_MAX, Burst, Mbuf, Pool, PoolId};

use crate::reader::{Event, Frame, Reader};
use crate::say;

/// A file to receive from. Only regular files: reading any other could block the thread that polls.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "is not a regular file",
        ));
    }
    let file = File::open(path)?;
    if let Err(std::fs::TryLockError::WouldBlock) = file.try_lock_shared() {
        return Err(io::Error::new(
            io::ErrorKind::ResourceBusy,
            "is being written by another port or program",
        ));
    }
    Ok(file)
}

/// How many receive files of a device have not ended yet. The queues count down, the control thread looks.
#[derive(Default)]
pub(crate) struct Open(AtomicUsize);

impl Open {
    pub(crate) fn set(&self, files: usize) {
        // Relaxed: no queue runs yet.
        self.0.store(files, Ordering::Relaxed);
    }

    pub(crate) fn none(&self) -> bool {
        // Relaxed: a lone number, seen sooner or later.
        self.0.load(Ordering::Relaxed) == 0
    }

    fn one_less(&self) {
        // Relaxed: see `none`. Once a file, so a read-modify-write costs nothing.
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Turns frames into packets.
#[derive(Clone, Copy)]
pub(crate) struct Filler {
    pool: PoolId,
    /// The most bytes of data of an mbuf.
    capacity: usize,
    /// Mbufs of the pool.
    size: usize,
    /// Whether packets get the time that the file says.
    stamp: bool,
}

impl Filler {
    /// For a pool whose mbufs hold data.
    pub(crate) fn new(pool: &Pool, stamp: bool) -> Self {
        Self {
            pool: pool.id(),
            capacity: usize::from(pool.data_capacity()),
            size: pool.config().size as usize,
            stamp,
        }
    }

    pub(crate) fn pool(&self) -> PoolId {
        self.pool
    }

    pub(crate) fn pool_size(&self) -> usize {
        self.size
    }

    /// Whether a frame fits one mbuf.
    #[inline(always)]
    pub(crate) fn fits(&self, len: usize) -> bool {
        len <= self.capacity
    }

    /// Mbufs that a frame needs.
    pub(crate) fn segments(&self, len: usize) -> usize {
        len.div_ceil(self.capacity.max(1)).max(1)
    }

    /// Fills a fresh, empty mbuf with a frame that fits it. By the C library's copy: frames differ in place and length, so
    /// that one of the kernels would be called for each, through a pointer, which measured a fifth slower.
    #[inline(always)]
    pub(crate) fn fill(&self, packet: &mut Mbuf, data: &[u8], time: Option<u64>) {
        let filled = packet.append(data);
        debug_assert!(filled, "the frame fits a fresh mbuf");
        if let (true, Some(time)) = (self.stamp, time) {
            packet.set_timestamp(time);
        }
    }

    /// A packet of as many mbufs as the frame needs; `None`, and all of them back, when there are too few.
    #[cold]
    pub(crate) fn chain(&self, lcore: &mut Lcore, data: &[u8], time: Option<u64>) -> Option<Mbuf> {
        // From the last segment to the first: joining walks the chain in front, which is then one segment.
        let mut packet: Option<Mbuf> = None;
        for part in data.chunks(self.capacity.max(1)).rev() {
            let Some(mut head) = lcore.alloc_one(self.pool) else {
                packet.into_iter().for_each(|tail| lcore.free_one(tail));
                return None;
            };
            self.fill(&mut head, part, time);
            if let Some(tail) = packet.take()
                && let Err(tail) = head.chain(tail)
            {
                lcore.free_one(tail);
                lcore.free_one(head);
                return None;
            }
            packet = Some(head);
        }
        packet
    }
}

/// Reads a file once through. On cache lines of its own.
#[repr(align(128))]
pub(crate) struct FileRx {
    /// `None` behind the end.
    reader: Option<Reader<File>>,
    device: String,
    path: PathBuf,
    filler: Filler,
    /// Mbufs for the burst at hand; empty between bursts.
    fresh: Box<Burst>,
    /// Frames that were passed over.
    passed: u64,
    open: Arc<Open>,
    stats: Arc<QueueStats>,
    mailbox: Arc<Mailbox>,
}

impl RxQueue for FileRx {
    fn rx_burst(&mut self, lcore: &mut Lcore, out: &mut Burst) -> usize {
        if self.mailbox.stopped() || self.reader.is_none() {
            return 0;
        }
        let room = out.room();
        lcore.alloc(self.filler.pool, room, 0, &mut self.fresh);
        let (mut n, mut bytes) = (0, 0);
        while n < room {
            let Some(packet) = self.receive(lcore) else {
                break;
            };
            bytes += u64::from(packet.pkt_len());
            if out.push(packet).is_err() {
                break;
            }
            n += 1;
        }
        if !self.fresh.is_empty() {
            lcore.free(&mut self.fresh);
        }
        self.stats.count(n as u64, bytes);
        n
    }
}

impl FileRx {
    pub(crate) fn new(
        file: File,
        device: &str,
        path: &Path,
        filler: Filler,
        open: Arc<Open>,
        (stats, mailbox): (Arc<QueueStats>, Arc<Mailbox>),
    ) -> Self {
        Self {
            reader: Some(Reader::new(file)),
            device: device.to_owned(),
            path: path.to_owned(),
            filler,
            fresh: Burst::new(BURST_MAX),
            passed: 0,
            open,
            stats,
            mailbox,
        }
    }

    /// The next packet; none when there is no frame or no mbuf now.
    #[inline]
    fn receive(&mut self, lcore: &mut Lcore) -> Option<Mbuf> {
        loop {
            let reader = self.reader.as_mut()?;
            let outcome = match reader.next() {
                Ok(Event::Frame(Frame { data, time, .. })) => {
                    if self.filler.fits(data.len()) {
                        let fresh = self.fresh.pop_front();
                        if let Some(mut packet) =
                            fresh.or_else(|| lcore.alloc_one(self.filler.pool))
                        {
                            self.filler.fill(&mut packet, data, time);
                            return Some(packet);
                        }
                    } else if self.filler.segments(data.len()) > self.filler.size {
                        let len = data.len();
                        self.pass_over(len);
                        continue;
                    } else {
                        let mut packet = self.filler.chain(lcore, data, time);
                        if packet.is_none() {
                            // What was set aside for the burst may be what the chain lacks.
                            lcore.free(&mut self.fresh);
                            packet = self.filler.chain(lcore, data, time);
                        }
                        if packet.is_some() {
                            return packet;
                        }
                    }
                    reader.unread();
                    return None;
                }
                Ok(Event::Pause) => return None,
                Ok(Event::End) => Ok(()),
                Err(error) => Err(error.to_string()),
            };
            self.end(outcome);
            return None;
        }
    }

    #[cold]
    fn pass_over(&mut self, len: usize) {
        self.stats.no_mbuf.add(1);
        self.passed += 1;
        if self.passed == 1 {
            say(
                &self.device,
                format_args!(
                    "{}: a frame of {len} bytes needs {} mbufs and its pool has {}; such frames are dropped and counted as RX-nombuf",
                    self.path.display(),
                    self.filler.segments(len),
                    self.filler.size
                ),
            );
        }
    }

    /// Closes the file and says so.
    #[cold]
    fn end(&mut self, outcome: Result<(), String>) {
        let Some(reader) = self.reader.take() else {
            return;
        };
        self.open.one_less();
        report(&self.device, &self.path, &reader, self.passed, &outcome);
    }
}

/// The line at the end of a file.
pub(crate) fn report<R: io::Read>(
    device: &str,
    path: &Path,
    reader: &Reader<R>,
    passed: u64,
    outcome: &Result<(), String>,
) {
    let path = path.display();
    let frames = reader.frames() - passed;
    match outcome {
        Ok(()) if reader.cut() > 0 => say(
            device,
            format_args!(
                "end of {path}, {frames} frames, {} of them cut when they were captured",
                reader.cut()
            ),
        ),
        Ok(()) => say(device, format_args!("end of {path}, {frames} frames")),
        Err(fault) => say(
            device,
            format_args!("{path}: {fault}; {frames} frames came before"),
        ),
    }
}

/// Never receives.
pub(crate) struct NoRx;

impl RxQueue for NoRx {
    fn rx_burst(&mut self, _: &mut Lcore, _: &mut Burst) -> usize {
        0
    }
}
