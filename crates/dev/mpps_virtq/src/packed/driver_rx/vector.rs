//! Used descriptors of a packed ring, several at a time.

use super::{BATCH, HEADER, RxRing, Used};
use crate::vector::Lanes;

impl RxRing {
    /// As [`RxRing::look`], without headers. Whether a buffer lies in the ring is for the caller to see, who takes it out.
    #[inline(always)]
    pub(super) fn look_by<L: Lanes>(&self, n: usize, batch: &mut [Used; BATCH]) -> usize {
        let (least, below) = (HEADER + 1, self.whole - HEADER);
        let pass = self.ring.used_pass(least, below);
        let mut k = 0;
        while k < n {
            let group = L::GROUP.min(n - k);
            let next = &mut batch[k..k + group];
            let all = if group == L::GROUP {
                // SAFETY: `n` is at most `straight_out`; `next` has as many places; the caller was compiled for `L`.
                unsafe { self.ring.used_group::<L>(k, next.as_mut_ptr(), &pass) }
            } else {
                for (j, used) in next.iter_mut().enumerate() {
                    // SAFETY: as above.
                    *used = unsafe { self.ring.read_ahead(k + j) };
                }
                false
            };
            let odd = |used: &Used| {
                !self.ring.is_used(*used)
                    || used.id >= self.ring.size
                    || used.len.wrapping_sub(least) >= below
            };
            if !all && let Some(odd) = next.iter().position(odd) {
                return k + odd;
            }
            k += group;
        }
        n
    }
}
