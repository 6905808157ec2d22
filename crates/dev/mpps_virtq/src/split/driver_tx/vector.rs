//! Simple packets into a split ring, several at a time.

use mpps_mbuf::{Mbuf, OffloadFlags, Tag};

use super::{BATCH, TxRing, write_zeros};
use crate::tally::Lengths;
use crate::vector::{Lanes, WRITTEN};

/// What a run has seen of its packets.
pub(super) struct Seen<'a> {
    pub(super) lens: &'a mut [u32; BATCH],
    pub(super) sum: &'a mut Lengths,
    /// The first bytes of all packets, where group addresses are counted.
    pub(super) group: &'a mut u8,
}

impl TxRing {
    /// Writes descriptors for packets off the front, [`WRITTEN`] at a time, as long as these are simple and the numbers that
    /// are free follow one another; says for how many. The handles are copied into the ring: the caller must forget the
    /// packets.
    #[inline(always)]
    pub(super) fn write_groups<L: Lanes>(
        &mut self,
        packets: &[Mbuf],
        tag: Tag,
        seen: Seen<'_>,
    ) -> u16 {
        let header = self.header;
        let mut done = 0;
        for (four, lens) in packets
            .as_chunks::<WRITTEN>()
            .0
            .iter()
            .zip(seen.lens.as_chunks_mut::<WRITTEN>().0)
        {
            let simple = four.iter().fold(true, |all, packet| {
                all & (packet.kind() == tag)
                    & (packet.headroom() >= header)
                    & (packet.flags().bits() & OffloadFlags::UNFINISHED.bits() == 0)
                    & (packet.data_len() > 0)
            });
            let Some(first) = self.free.peek_run(done).filter(|_| simple) else {
                break;
            };
            let mut descriptors = [[0; 2]; WRITTEN];
            for (k, (packet, len)) in four.iter().zip(lens).enumerate() {
                *len = u32::from(packet.data_len());
                seen.sum.add(*len);
                // SAFETY: this packet is simple, and `first + k` is one of the numbers that are free.
                let start = unsafe { self.place(packet, usize::from(first) + k, seen.group) };
                descriptors[k] = [start, u64::from(*len + u32::from(header))];
            }
            let view = self.ring.view();
            // SAFETY: the numbers from `first` on are of the ring; the caller was compiled for `L`.
            unsafe { L::write(view.descriptors(first), descriptors) };
            view.write_avail_run(done, first);
            done += WRITTEN as u16;
        }
        done
    }

    /// Copies a packet's handle into the ring and sees to its header; says where that is.
    ///
    /// # Safety
    /// The packet is plain, has data, and room before it for the header; `id` is a free number.
    #[inline(always)]
    unsafe fn place(&mut self, packet: &Mbuf, id: usize, group: &mut u8) -> u64 {
        // SAFETY: there is room before the data; nobody else sees a plain packet's headroom.
        let start = unsafe {
            if self.groups {
                *group |= *packet.data_ptr().as_ptr();
            }
            let start = packet.data_ptr().sub(usize::from(self.header));
            let mut packet = std::ptr::read(packet);
            if self.mark == 0 || packet.header_by() != self.mark {
                write_zeros(start.as_ptr(), self.header);
                packet.set_header_by(self.mark);
            }
            self.sent[id].write(packet);
            start
        };
        self.taken[id] = 1;
        start.addr().get() as u64
    }
}
