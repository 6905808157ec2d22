//! A burst's function, compiled once for each copy kind with the instructions of that kind.
//!
//! An AVX2 kernel isn't inlined into a function for the baseline CPU, so the whole loop is compiled for each: a call a
//! burst, none a packet.

use mpps_kernels::CopyKind;
use mpps_kernels::movers::{self, Mover};
use mpps_mbuf::{Burst, Caches};

use crate::Moved;

/// A burst on some ring, generic over how bytes are moved.
pub(crate) trait Body {
    /// The ring.
    type Ring;

    /// The burst; `#[inline(always)]`, so that it takes over the instructions of the function around it.
    fn run<M: Mover>(ring: &mut Self::Ring, caches: &mut Caches, burst: &mut Burst) -> Moved;
}

/// A compiled burst.
pub(crate) struct Run<R>(unsafe fn(&mut R, &mut Caches, &mut Burst) -> Moved);

impl<R> Run<R> {
    /// The burst of `B` with this copy kind; where the CPU lacks its instructions, with plain moves, and the kind that is
    /// really used is returned beside it.
    pub(crate) fn of<B: Body<Ring = R>>(copy: CopyKind) -> (Self, CopyKind) {
        let run = match copy {
            CopyKind::Libc => plain::<B, movers::Libc>,
            CopyKind::Auto | CopyKind::Inline => return best::<B>(copy),
            #[cfg(target_arch = "x86_64")]
            CopyKind::Erms => plain::<B, movers::Erms>,
            #[cfg(target_arch = "x86_64")]
            CopyKind::Avx512 if mpps_cpu::Avx512::detect().is_some() => avx512::<B>,
            _ => return best::<B>(CopyKind::Auto),
        };
        (Self(run), copy)
    }

    /// Runs it.
    #[inline(always)]
    pub(crate) fn call(&self, ring: &mut R, caches: &mut Caches, burst: &mut Burst) -> Moved {
        // SAFETY: `of` chose a function whose instructions this CPU has.
        unsafe { (self.0)(ring, caches, burst) }
    }
}

fn best<B: Body>(copy: CopyKind) -> (Run<B::Ring>, CopyKind) {
    #[cfg(target_arch = "x86_64")]
    if copy == CopyKind::Auto && mpps_cpu::Avx2::detect().is_some() {
        return (Run(avx2::<B>), CopyKind::Avx2);
    }
    (Run(plain::<B, movers::Inline>), CopyKind::Inline)
}

unsafe fn plain<B: Body, M: Mover>(
    ring: &mut B::Ring,
    caches: &mut Caches,
    burst: &mut Burst,
) -> Moved {
    B::run::<M>(ring, caches, burst)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn avx2<B: Body>(ring: &mut B::Ring, caches: &mut Caches, burst: &mut Burst) -> Moved {
    B::run::<movers::Bytes32>(ring, caches, burst)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2")]
unsafe fn avx512<B: Body>(ring: &mut B::Ring, caches: &mut Caches, burst: &mut Burst) -> Moved {
    B::run::<movers::Bytes64>(ring, caches, burst)
}
