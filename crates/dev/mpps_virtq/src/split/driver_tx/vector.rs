//! Simple packets into a split ring, several at a time.

use mpps_mbuf::{Mbuf, Tag};

use super::{BATCH, TxRing, is_simple, write_zeros};
use crate::tally::Lengths;
use crate::vector::{Lanes, WRITTEN};

impl TxRing {
    /// Writes descriptors for packets off the front, [`WRITTEN`] at a time, as long as these are simple and the numbers that
    /// are free follow one another; says for how many. Into `group` go the first bytes of all, where groups are counted.
    /// The handles are copied into the ring: the caller must forget the packets.
    #[inline(always)]
    pub(super) fn write_groups<L: Lanes>(
        &mut self,
        packets: &[Mbuf],
        tag: Tag,
        lens: &mut [u32; BATCH],
        sum: &mut Lengths,
        group: &mut u8,
    ) -> u16 {
        let header = self.header;
        let mut done = 0;
        for (four, lens) in packets
            .as_chunks::<WRITTEN>()
            .0
            .iter()
            .zip(lens.as_chunks_mut::<WRITTEN>().0)
        {
            let all = |all, packet| all & is_simple(packet, tag, header);
            let simple = four.iter().fold(true, all);
            let Some(first) = self.free.peek_run(done).filter(|_| simple) else {
                break;
            };
            let mut descriptors = [[0; 2]; WRITTEN];
            for (k, (packet, len)) in four.iter().zip(lens).enumerate() {
                *len = u32::from(packet.data_len());
                sum.add(*len);
                // SAFETY: this packet is simple, and `first + k` is one of the numbers that are free.
                let start = unsafe { self.place(packet, usize::from(first) + k, group) };
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
