//! The vector paths' bursts: each compiled once for each kind of lanes, in a function with its instructions.
//!
//! A wide operation isn't inlined into a function for the baseline CPU, so the whole loop is compiled for each: a call a
//! burst, none a packet.

use mpps_mbuf::{Burst, Caches};

use super::{Layout, PackedRx, PackedTx, SplitRx, SplitTx};
use crate::Moved;
#[cfg(target_arch = "x86_64")]
use crate::vector::{By256, By512};
use crate::vector::{Lanes, OneByOne, Vector};

type Rx = Layout<SplitRx, PackedRx>;
type Tx = Layout<SplitTx, PackedTx>;

/// A receive ring's burst with these lanes; they were chosen because the CPU has the instructions.
pub(super) fn receive(
    ring: &mut Rx,
    vector: Vector,
    caches: &mut Caches,
    out: &mut Burst,
) -> Moved {
    match vector {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Choice` names it only where there is a token for it.
        Vector::Avx2 => unsafe { receive_avx2(ring, caches, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Vector::Avx512 => unsafe { receive_avx512(ring, caches, out) },
        _ => rx::<OneByOne>(ring, caches, out),
    }
}

/// As [`receive`], of a transmit ring.
pub(super) fn transmit<const IN_ORDER: bool>(
    ring: &mut Tx,
    vector: Vector,
    caches: &mut Caches,
    packets: &mut Burst,
) -> Moved {
    match vector {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as in `receive`.
        Vector::Avx2 => unsafe { transmit_avx2::<IN_ORDER>(ring, caches, packets) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as in `receive`.
        Vector::Avx512 => unsafe { transmit_avx512::<IN_ORDER>(ring, caches, packets) },
        _ => tx::<IN_ORDER, OneByOne>(ring, caches, packets),
    }
}

#[inline(always)]
fn rx<L: Lanes>(ring: &mut Rx, caches: &mut Caches, out: &mut Burst) -> Moved {
    match ring {
        Layout::Split(ring) => ring.burst::<false, L>(caches, out),
        Layout::Packed(ring) => ring.burst::<false, L>(caches, out),
    }
}

#[inline(always)]
fn tx<const IN_ORDER: bool, L: Lanes>(
    ring: &mut Tx,
    caches: &mut Caches,
    packets: &mut Burst,
) -> Moved {
    match ring {
        Layout::Split(ring) => ring.burst::<IN_ORDER, L>(caches, packets),
        Layout::Packed(ring) => ring.burst::<IN_ORDER, L>(caches, packets),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn receive_avx2(ring: &mut Rx, caches: &mut Caches, out: &mut Burst) -> Moved {
    rx::<By256>(ring, caches, out)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2")]
unsafe fn receive_avx512(ring: &mut Rx, caches: &mut Caches, out: &mut Burst) -> Moved {
    rx::<By512>(ring, caches, out)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn transmit_avx2<const IN_ORDER: bool>(
    ring: &mut Tx,
    caches: &mut Caches,
    packets: &mut Burst,
) -> Moved {
    tx::<IN_ORDER, By256>(ring, caches, packets)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2")]
unsafe fn transmit_avx512<const IN_ORDER: bool>(
    ring: &mut Tx,
    caches: &mut Caches,
    packets: &mut Burst,
) -> Moved {
    tx::<IN_ORDER, By512>(ring, caches, packets)
}
