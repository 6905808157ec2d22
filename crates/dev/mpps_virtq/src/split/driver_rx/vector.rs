//! Used entries of a split ring, several at a time.

use super::{BATCH, RxRing, Used};
use crate::vector::{Lanes, Pass, halves};

impl RxRing {
    /// As [`RxRing::look`], without headers. Whether a buffer lies in the ring is for the caller to see, who takes it out.
    #[inline(always)]
    pub(super) fn look_by<L: Lanes>(&self, n: usize, batch: &mut [Used; BATCH]) -> usize {
        self.ring.prefetch_used(n);
        let pass = Pass {
            and: u64::MAX,
            xor: 0,
            minus: halves(0, self.header + 1),
            below: halves(u32::from(self.ring.size), self.whole - self.header),
        };
        let mut k = 0;
        while k < n {
            let group = L::GROUP.min(n - k);
            let next = &mut batch[k..k + group];
            let all = match self.ring.used_group(k, L::GROUP) {
                // SAFETY: that many entries are in the ring, and places in the batch; the caller was compiled for `L`.
                Some(from) if group == L::GROUP => unsafe {
                    L::words(from, next.as_mut_ptr().cast(), &pass)
                },
                _ => {
                    for (j, used) in next.iter_mut().enumerate() {
                        *used = Used(self.ring.used_word(k + j));
                    }
                    false
                }
            };
            if !all && let Some(odd) = next.iter().position(|used| !self.is_simple(*used)) {
                return k + odd;
            }
            k += group;
        }
        n
    }
}
