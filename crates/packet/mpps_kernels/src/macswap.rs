//! Swapping the two MAC addresses of every packet of a burst.

use mpps_mbuf::{Mbuf, OffloadFlags, TxOffload};

use crate::{Unavailable, by_name};

/// What is written into the offload fields of each packet along the way.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    /// Flags of the transmit port.
    pub flags: OffloadFlags,
    /// Header lengths.
    pub lengths: TxOffload,
}

/// Which kernel swaps (`--macswap`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MacSwapKind {
    /// The fastest one measured that the CPU has.
    Auto,
    /// Two words of 64 and 32 bits, any CPU.
    Scalar,
    /// One 128-bit shuffle a packet.
    Sse,
    /// Four 128-bit shuffles at a time: four loads, four shuffles, four stores.
    X4,
}

impl MacSwapKind {
    /// Names as given by the option.
    pub const NAMES: &'static [(&'static str, Self)] = &[
        ("auto", Self::Auto),
        ("scalar", Self::Scalar),
        ("sse", Self::Sse),
        ("x4", Self::X4),
    ];

    /// The kernel of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        by_name(Self::NAMES, name)
    }
}

/// A chosen kernel.
#[derive(Clone, Copy)]
pub struct MacSwap {
    name: &'static str,
    run: fn(&mut [Mbuf], Marks) -> usize,
}

impl MacSwap {
    /// Shortest frame whose addresses are swapped; a shorter one passes unchanged.
    pub const MIN_FRAME: usize = 14;

    /// Chooses a kernel; an error when it is one that this CPU can't run.
    pub fn choose(kind: MacSwapKind) -> Result<Self, Unavailable> {
        match kind {
            // One shuffle a packet: four at a time came out even in nine interleaved runs over null ports (Zen 4, medians
            // 2.93 and 2.92 ns a packet; scalar 3.75), and what doesn't win isn't worth its batching.
            MacSwapKind::Auto => Ok(vector::sse().unwrap_or(SCALAR)),
            MacSwapKind::Scalar => Ok(SCALAR),
            MacSwapKind::Sse => vector::sse().ok_or(Unavailable {
                kernel: "sse",
                needs: "SSSE3",
            }),
            MacSwapKind::X4 => vector::x4().ok_or(Unavailable {
                kernel: "x4",
                needs: "SSSE3",
            }),
        }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Swaps the addresses of every packet and marks it. Returns how many were left alone because clones share their
    /// data; too short a packet is marked, not counted.
    #[inline(always)]
    pub fn swap(&self, packets: &mut [Mbuf], marks: Marks) -> usize {
        (self.run)(packets, marks)
    }
}

const SCALAR: MacSwap = MacSwap {
    name: "scalar",
    run: scalar,
};

/// Swaps with one load and one store of each word: the twelve bytes as 8 + 4.
#[inline(always)]
fn swap_words(front: &mut [u8; MacSwap::MIN_FRAME]) {
    let [a, b, c, d, e, f, g, h, i, j, k, l, _, _] = *front;
    let low = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
    let high = u64::from(u32::from_le_bytes([i, j, k, l]));
    let new_low = low >> 48 | high << 16 | low << 48;
    let new_high = (low >> 16) as u32;
    front[..8].copy_from_slice(&new_low.to_le_bytes());
    front[8..12].copy_from_slice(&new_high.to_le_bytes());
}

/// One packet by words; says whether its data was shared.
#[inline(always)]
fn one(packet: &mut Mbuf, marks: Marks) -> bool {
    packet.set_offload(marks.flags, marks.lengths);
    match packet.data_mut() {
        Some(data) => {
            if let Some(front) = data.first_chunk_mut() {
                swap_words(front);
            }
            false
        }
        None => true,
    }
}

#[inline(never)]
fn scalar(packets: &mut [Mbuf], marks: Marks) -> usize {
    packets
        .iter_mut()
        .map(|packet| usize::from(one(packet, marks)))
        .sum()
}

#[cfg(not(target_arch = "x86_64"))]
mod vector {
    //! No vector kernels for this CPU yet.

    use super::MacSwap;

    pub(super) fn sse() -> Option<MacSwap> {
        None
    }

    pub(super) fn x4() -> Option<MacSwap> {
        None
    }
}

#[cfg(target_arch = "x86_64")]
mod vector {
    //! Shuffles of 16 bytes: dst src type payload -> src dst type payload.

    use std::arch::x86_64::{
        __m128i, _mm_loadu_si128, _mm_setr_epi8, _mm_shuffle_epi8, _mm_storeu_si128,
    };

    use mpps_cpu::Ssse3;
    use mpps_mbuf::Mbuf;

    use super::{MacSwap, Marks, one};

    /// Bytes that a shuffle loads and stores; a shorter packet goes by words.
    const WIDTH: usize = 16;

    pub(super) fn sse() -> Option<MacSwap> {
        Ssse3::detect().map(|_| MacSwap {
            name: "sse",
            // SAFETY: the token proves SSSE3.
            run: |packets, marks| unsafe { sse_burst(packets, marks) },
        })
    }

    pub(super) fn x4() -> Option<MacSwap> {
        Ssse3::detect().map(|_| MacSwap {
            name: "x4",
            // SAFETY: the token proves SSSE3.
            run: |packets, marks| unsafe { x4_burst(packets, marks) },
        })
    }

    #[inline]
    #[target_feature(enable = "ssse3")]
    fn order() -> __m128i {
        _mm_setr_epi8(6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 12, 13, 14, 15)
    }

    #[inline]
    #[target_feature(enable = "ssse3")]
    fn load(front: &[u8; WIDTH]) -> __m128i {
        // SAFETY: sixteen readable bytes, no alignment needed.
        unsafe { _mm_loadu_si128(front.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "ssse3")]
    fn store(front: &mut [u8; WIDTH], value: __m128i) {
        // SAFETY: sixteen writable bytes, no alignment needed.
        unsafe { _mm_storeu_si128(front.as_mut_ptr().cast(), value) }
    }

    #[target_feature(enable = "ssse3")]
    fn sse_burst(packets: &mut [Mbuf], marks: Marks) -> usize {
        let mut shared = 0;
        for packet in packets {
            if let Some(front) = packet.front_mut() {
                let swapped = _mm_shuffle_epi8(load(front), order());
                store(front, swapped);
                packet.set_offload(marks.flags, marks.lengths);
            } else {
                shared += usize::from(one(packet, marks));
            }
        }
        shared
    }

    #[target_feature(enable = "ssse3")]
    fn x4_burst(packets: &mut [Mbuf], marks: Marks) -> usize {
        let mut shared = 0;
        let (fours, rest) = packets.as_chunks_mut::<4>();
        for [a, b, c, d] in fours {
            // One test after the other: as one pattern they are gathered into vectors and cost more than the swap.
            let whole = 'four: {
                let Some(fa) = a.front_mut() else {
                    break 'four false;
                };
                let Some(fb) = b.front_mut() else {
                    break 'four false;
                };
                let Some(fc) = c.front_mut() else {
                    break 'four false;
                };
                let Some(fd) = d.front_mut() else {
                    break 'four false;
                };
                let (va, vb, vc, vd) = (load(fa), load(fb), load(fc), load(fd));
                store(fa, _mm_shuffle_epi8(va, order()));
                store(fb, _mm_shuffle_epi8(vb, order()));
                store(fc, _mm_shuffle_epi8(vc, order()));
                store(fd, _mm_shuffle_epi8(vd, order()));
                true
            };
            if whole {
                a.set_offload(marks.flags, marks.lengths);
                b.set_offload(marks.flags, marks.lengths);
                c.set_offload(marks.flags, marks.lengths);
                d.set_offload(marks.flags, marks.lengths);
            } else {
                for packet in [a, b, c, d] {
                    shared += usize::from(one(packet, marks));
                }
            }
        }
        for packet in rest {
            shared += usize::from(one(packet, marks));
        }
        shared
    }
}

#[cfg(test)]
mod tests;
