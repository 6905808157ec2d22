//! Numbers that are checked once, where they enter the program.

use std::borrow::Cow;
use std::fmt;

/// A number that isn't in its range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} {value} is out of range, must be {allowed}")]
pub struct OutOfRange {
    /// What the number stands for.
    pub what: &'static str,
    /// The number.
    pub value: u64,
    /// What is allowed, in words.
    pub allowed: Cow<'static, str>,
}

/// A port's number, below [`PortId::MAX_PORTS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PortId(u16);

impl PortId {
    /// The most ports of a process.
    pub const MAX_PORTS: u16 = 4096;

    /// Checks the number.
    pub const fn new(number: u16) -> Result<Self, OutOfRange> {
        if number < Self::MAX_PORTS {
            Ok(Self(number))
        } else {
            Err(OutOfRange {
                what: "port",
                value: number as u64,
                allowed: Cow::Borrowed("0 to 4095"),
            })
        }
    }

    /// The number.
    #[inline(always)]
    pub const fn get(self) -> u16 {
        self.0
    }

    /// The number as an index.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for PortId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A logical core's number, as in `--lcores`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LcoreId(pub u32);

impl fmt::Display for LcoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Packets a burst, 1 to 512.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BurstSize(u16);

impl BurstSize {
    /// What testpmd uses unless told otherwise.
    pub const DEFAULT: Self = Self(32);

    /// Checks the number.
    pub const fn new(packets: u64) -> Result<Self, OutOfRange> {
        if packets >= 1 && packets <= mpps_mbuf::BURST_MAX as u64 {
            Ok(Self(packets as u16))
        } else {
            Err(OutOfRange {
                what: "burst",
                value: packets,
                allowed: Cow::Borrowed("1 to 512"),
            })
        }
    }

    /// The number.
    #[inline(always)]
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

/// Descriptors of a queue, 1 to 65,535.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSize(u16);

impl QueueSize {
    /// What is used when neither the user nor the driver says anything.
    pub const DEFAULT: Self = Self(512);

    /// Checks the number.
    pub const fn new(descriptors: u64) -> Result<Self, OutOfRange> {
        if descriptors >= 1 && descriptors <= u16::MAX as u64 {
            Ok(Self(descriptors as u16))
        } else {
            Err(OutOfRange {
                what: "queue size",
                value: descriptors,
                allowed: Cow::Borrowed("1 to 65535"),
            })
        }
    }

    /// The number.
    pub const fn get(self) -> u16 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    //! The bounds, and what is said beyond them.

    use super::{BurstSize, PortId, QueueSize};

    #[test]
    fn bounds_are_inclusive_and_named() {
        assert_eq!(PortId::new(4095).map(PortId::index), Ok(4095));
        assert_eq!(
            PortId::new(4096).unwrap_err().to_string(),
            "port 4096 is out of range, must be 0 to 4095"
        );
        assert_eq!(BurstSize::new(1).map(BurstSize::get), Ok(1));
        assert_eq!(BurstSize::new(512).map(BurstSize::get), Ok(512));
        for wrong in [0, 513, u64::MAX] {
            let line = format!("burst {wrong} is out of range, must be 1 to 512");
            assert_eq!(BurstSize::new(wrong).unwrap_err().to_string(), line);
        }
        assert_eq!(QueueSize::new(65_535).map(QueueSize::get), Ok(65_535));
        for wrong in [0, 65_536] {
            let line = format!("queue size {wrong} is out of range, must be 1 to 65535");
            assert_eq!(QueueSize::new(wrong).unwrap_err().to_string(), line);
        }
    }
}
