//! A receive queue that gives out the frames of a file over and over, from memory.
//!
//! The file is read once when the port starts. Frames are copied into mbufs as they are needed, so the number of mbufs says nothing
//! about how long the file may be.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use mpps_dev::{Lcore, Mailbox, QueueStats, RxQueue};
use mpps_mbuf::Burst;

use crate::reader::{Event, ReadError, Reader};
use crate::rx::{Filler, report};

/// A frame in memory.
#[derive(Clone, Copy)]
struct Entry {
    start: usize,
    len: u32,
    time: Option<u64>,
}

/// All frames of a file.
pub(crate) struct Frames {
    data: Vec<u8>,
    index: Vec<Entry>,
    longest: usize,
}

impl Frames {
    /// Reads them. What is wrong with the file is told, the frames before it are kept.
    ///
    /// # Errors
    /// What is wrong with the file when there are no frames before it.
    pub(crate) fn load(file: File, device: &str, path: &Path) -> Result<Self, ReadError> {
        let mut frames = Self {
            data: Vec::new(),
            index: Vec::new(),
            longest: 0,
        };
        let mut reader = Reader::new(file);
        loop {
            match reader.next() {
                Ok(Event::Frame(frame)) => {
                    frames.longest = frames.longest.max(frame.data.len());
                    frames.index.push(Entry {
                        start: frames.data.len(),
                        // A frame has at most MAX_FRAME bytes.
                        len: frame.data.len() as u32,
                        time: frame.time,
                    });
                    frames.data.extend_from_slice(frame.data);
                }
                Ok(Event::Pause) => {}
                Ok(Event::End) => return Ok(frames),
                Err(fault) if frames.index.is_empty() => return Err(fault),
                Err(fault) => {
                    report(device, path, &reader, 0, &Err(fault.to_string()));
                    return Ok(frames);
                }
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Length of the longest.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }
}

/// Gives out frames for ever. On cache lines of its own.
#[repr(align(128))]
pub(crate) struct LoopRx {
    frames: Frames,
    /// The next one.
    at: usize,
    filler: Filler,
    stats: Arc<QueueStats>,
    mailbox: Arc<Mailbox>,
}

impl RxQueue for LoopRx {
    fn rx_burst(&mut self, lcore: &mut Lcore, out: &mut Burst) -> usize {
        if self.mailbox.stopped() {
            return 0;
        }
        let (n, bytes) = if self.filler.fits(self.frames.longest) {
            self.receive(lcore, out)
        } else {
            self.receive_long(lcore, out)
        };
        self.stats.count(n as u64, bytes);
        n
    }
}

impl LoopRx {
    /// `frames` must not be empty, and its longest not need more mbufs than the pool has.
    pub(crate) fn new(
        frames: Frames,
        filler: Filler,
        (stats, mailbox): (Arc<QueueStats>, Arc<Mailbox>),
    ) -> Self {
        Self {
            frames,
            at: 0,
            filler,
            stats,
            mailbox,
        }
    }

    /// All frames fit an mbuf.
    #[inline]
    fn receive(&mut self, lcore: &mut Lcore, out: &mut Burst) -> (usize, u64) {
        let before = out.len();
        let n = lcore.alloc(self.filler.pool(), out.room(), 0, out);
        let (mut at, mut bytes) = (self.at, 0);
        for packet in &mut out.as_mut_slice()[before..] {
            let entry = self.frames.index[at];
            let data = &self.frames.data[entry.start..][..entry.len as usize];
            self.filler.fill(packet, data, entry.time);
            bytes += u64::from(entry.len);
            at += 1;
            if at == self.frames.index.len() {
                at = 0;
            }
        }
        self.at = at;
        (n, bytes)
    }

    /// Some need a chain.
    fn receive_long(&mut self, lcore: &mut Lcore, out: &mut Burst) -> (usize, u64) {
        let (mut n, mut bytes) = (0, 0);
        for _ in 0..out.room() {
            let entry = self.frames.index[self.at];
            let data = &self.frames.data[entry.start..][..entry.len as usize];
            let packet = if self.filler.fits(data.len()) {
                lcore.alloc_one(self.filler.pool()).map(|mut packet| {
                    self.filler.fill(&mut packet, data, entry.time);
                    packet
                })
            } else {
                self.filler.chain(lcore, data, entry.time)
            };
            // Without mbufs the frame comes with a later burst.
            let Some(packet) = packet else { break };
            if out.push(packet).is_err() {
                break;
            }
            n += 1;
            bytes += u64::from(entry.len);
            self.at = (self.at + 1) % self.frames.index.len();
        }
        (n, bytes)
    }
}
