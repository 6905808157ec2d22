//! Random numbers for how many segments a packet gets and which cache line is touched: fast, and good for no more.

/// A xorshift generator. Owned by an engine, made from its queue so that streams differ and runs repeat.
#[derive(Clone, Copy, Debug)]
pub(crate) struct XorShift(u64);

impl XorShift {
    /// The sequence of a port's queue.
    pub(crate) fn of_queue(port: u16, queue: u16) -> Self {
        // Never zero, from which nothing but zeroes would follow.
        Self(0x9e37_79b9_7f4a_7c15 ^ u64::from(port) << 32 ^ u64::from(queue))
    }

    #[inline(always)]
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `bound`, scaled without a division; 0 for a bound of 0.
    #[inline(always)]
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        // Below `bound`, a usize.
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::XorShift;

    #[test]
    fn numbers_stay_below_their_bound_and_reach_all() {
        let mut random = XorShift::of_queue(3, 1);
        let mut seen = [0u32; 7];
        for _ in 0..7000 {
            seen[random.below(7)] += 1;
        }
        assert!(seen.iter().all(|n| (800..1200).contains(n)), "{seen:?}");
        assert_eq!(random.below(0), 0);
        assert_eq!(random.below(1), 0);
    }
}
