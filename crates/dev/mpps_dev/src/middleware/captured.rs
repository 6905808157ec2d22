//! A queue whose frames are shown to somebody else.

use mpps_mbuf::Burst;

use crate::{Lcore, RxQueue, TxQueue};

/// A queue that hands the bytes of every frame that passes to a sink: received ones as they come, sent ones once the queue
/// has taken them, so that what is left over isn't shown twice.
///
/// The sink is called as `sink(bytes, length)` on the thread that polls: `length` is that of the whole frame, `bytes` its
/// beginning, at most the snap length. It should be quick.
#[repr(align(128))]
pub struct Captured<Q, S> {
    queue: Q,
    sink: S,
    snap: usize,
    /// The bytes of the frames at hand, one after the other.
    bytes: Vec<u8>,
    /// For each of them, where its bytes end, and how long the frame is.
    frames: Vec<(usize, u32)>,
}

impl<Q, S: FnMut(&[u8], u32) + Send> Captured<Q, S> {
    /// Wraps a queue; `snap` is the most bytes of a frame that are shown.
    pub fn new(queue: Q, snap: usize, sink: S) -> Self {
        Self {
            queue,
            sink,
            snap,
            bytes: Vec::new(),
            frames: Vec::new(),
        }
    }

    /// Copies the frames of packets aside.
    fn note(&mut self, packets: &[mpps_mbuf::Mbuf]) {
        self.bytes.clear();
        self.frames.clear();
        for packet in packets {
            let mut left = self.snap;
            for data in packet.segments_data() {
                let n = data.len().min(left);
                self.bytes.extend_from_slice(&data[..n]);
                left -= n;
            }
            self.frames.push((self.bytes.len(), packet.pkt_len()));
        }
    }

    /// Shows the first `n` of the frames set aside.
    fn show(&mut self, n: usize) {
        let mut start = 0;
        for &(end, len) in self.frames.iter().take(n) {
            (self.sink)(&self.bytes[start..end], len);
            start = end;
        }
    }
}

impl<Q: RxQueue, S: FnMut(&[u8], u32) + Send> RxQueue for Captured<Q, S> {
    fn rx_burst(&mut self, lcore: &mut Lcore, out: &mut Burst) -> usize {
        let before = out.len();
        let n = self.queue.rx_burst(lcore, out);
        if n > 0 {
            self.note(&out.as_slice()[before..]);
            self.show(n);
        }
        n
    }
}

impl<Q: TxQueue, S: FnMut(&[u8], u32) + Send> TxQueue for Captured<Q, S> {
    fn tx_burst(&mut self, lcore: &mut Lcore, pkts: &mut Burst) -> usize {
        // Beforehand, as a packet that was sent is no longer ours to read.
        self.note(pkts.as_slice());
        let n = self.queue.tx_burst(lcore, pkts);
        self.show(n);
        n
    }
}
