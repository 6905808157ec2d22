//! Transmit queues: into a file, or nowhere.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use mpps_dev::{Lcore, Mailbox, QueueStats, TxQueue};
use mpps_mbuf::{Burst, Mbuf, OffloadFlags};
use mpps_soft::Finisher;

use crate::say;
use crate::writer::{Writer, header};

/// A file to send into, open and locked as long as the device lives.
pub(crate) struct Target {
    device: String,
    pub(crate) path: PathBuf,
    pub(crate) file: File,
    /// Emptied and begun with a header.
    begun: bool,
    /// What the last queue could not write, for the next one or for the end. Its owner is the queue while there is one;
    /// nobody else looks then.
    rest: Arc<Mutex<Vec<u8>>>,
}

impl Target {
    /// Opens the file without changing it.
    pub(crate) fn open(device: &str, path: &Path) -> io::Result<Self> {
        if std::fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo()) {
            // Opening would wait for a reader, and so would writing.
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "is a pipe, and its reader could block the port; give a file",
            ));
        }
        let file = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        // Into a device such as /dev/null several may write.
        if file.metadata()?.is_file()
            && let Err(std::fs::TryLockError::WouldBlock) = file.try_lock()
        {
            return Err(io::Error::new(
                io::ErrorKind::ResourceBusy,
                "is in use by another port or program; give each a file of its own",
            ));
        }
        Ok(Self {
            device: device.to_owned(),
            path: path.to_owned(),
            file,
            begun: false,
            rest: Arc::default(),
        })
    }

    /// At the first start the file is emptied and gets its header; later ones append.
    pub(crate) fn begin(&mut self, snaplen: u32) -> io::Result<()> {
        if !self.begun {
            if self.file.metadata()?.is_file() {
                self.file.set_len(0)?;
            }
            (&self.file).write_all(&header(snaplen))?;
            self.begun = true;
        }
        Ok(())
    }

    /// The queue that writes it.
    pub(crate) fn queue(
        &self,
        snaplen: u32,
        stats: Arc<QueueStats>,
        mailbox: Arc<Mailbox>,
    ) -> io::Result<FileTx> {
        let rest = std::mem::take(&mut *self.rest.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(FileTx {
            writer: Writer::new(self.file.try_clone()?, snaplen, rest),
            finisher: Finisher::new(OffloadFlags::empty()),
            device: self.device.clone(),
            path: self.path.clone(),
            rest: self.rest.clone(),
            told: false,
            stats,
            mailbox,
        })
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let rest = std::mem::take(&mut *self.rest.lock().unwrap_or_else(PoisonError::into_inner));
        if let Err(error) = (&self.file).write_all(&rest) {
            say(
                &self.device,
                format_args!(
                    "{}: {error}; up to {} bytes at its end are missing",
                    self.path.display(),
                    rest.len()
                ),
            );
        }
    }
}

/// Sends into a file. On cache lines of its own.
#[repr(align(128))]
pub(crate) struct FileTx {
    writer: Writer<File>,
    /// A file holds frames as they are on a wire: checksums that senders left to others are computed, large packets cut.
    finisher: Finisher,
    device: String,
    path: PathBuf,
    rest: Arc<Mutex<Vec<u8>>>,
    /// A failure has been told.
    told: bool,
    stats: Arc<QueueStats>,
    mailbox: Arc<Mailbox>,
}

impl TxQueue for FileTx {
    fn tx_burst(&mut self, lcore: &mut Lcore, pkts: &mut Burst) -> usize {
        if self.mailbox.stopped() {
            return 0;
        }
        let n = pkts.len();
        // A burst that isn't full: whatever sends is not in a hurry, and may not come again.
        let flush = n < pkts.limit();
        if pkts.flags_union().intersects(OffloadFlags::UNFINISHED) {
            return self.unfinished(lcore, pkts, flush);
        }
        let failed = write(&mut self.writer, &self.stats, pkts.as_slice(), flush);
        lcore.free(pkts);
        if failed {
            self.tell();
        }
        n
    }
}

/// Writes packets and counts them; says whether some were lost.
#[inline]
fn write(writer: &mut Writer<File>, stats: &QueueStats, packets: &[Mbuf], flush: bool) -> bool {
    let sent = writer.burst(packets, now(), flush);
    stats.count(sent.packets, sent.bytes);
    stats.errors.add(sent.errors);
    sent.errors > 0
}

impl FileTx {
    /// A burst in which packets owe something. A file takes all, so that the finisher never holds any back.
    #[cold]
    fn unfinished(&mut self, lcore: &mut Lcore, pkts: &mut Burst, flush: bool) -> usize {
        let (writer, stats) = (&mut self.writer, &self.stats);
        let mut failed = false;
        let sent = self.finisher.send(lcore.caches(), pkts, |caches, staged| {
            failed |= write(writer, stats, staged.as_slice(), flush);
            caches.free(staged);
        });
        self.stats.errors.add(sent.dropped);
        if failed {
            self.tell();
        }
        sent.taken
    }

    #[cold]
    fn tell(&mut self) {
        if let Some(error) = self.writer.failure()
            && !self.told
        {
            say(
                &self.device,
                format_args!(
                    "{}: {error}; frames are dropped and counted as TX-errors until it can be written again",
                    self.path.display()
                ),
            );
            self.told = true;
        }
    }
}

impl Drop for FileTx {
    fn drop(&mut self) {
        *self.rest.lock().unwrap_or_else(PoisonError::into_inner) = self.writer.finish();
    }
}

/// Nanoseconds since 1970.
fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos() as u64)
}

/// Frees, and counts as sent, whatever the packets owe. On cache lines of its own.
#[repr(align(128))]
pub(crate) struct FreeTx {
    pub(crate) stats: Arc<QueueStats>,
    pub(crate) mailbox: Arc<Mailbox>,
}

impl TxQueue for FreeTx {
    fn tx_burst(&mut self, lcore: &mut Lcore, pkts: &mut Burst) -> usize {
        if self.mailbox.stopped() {
            return 0;
        }
        let n = pkts.len();
        let bytes = lcore.free(pkts);
        self.stats.count(n as u64, bytes);
        n
    }
}
