//! Receive-side scaling: settings, redirection table, and the software hash behind them.
//!
//! [`SoftRss`] keeps what a port without hashing hardware needs to answer the RSS commands and to spread packets itself.

use mpps_wire::toeplitz::toeplitz;

/// Why RSS settings are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RssError {
    /// A key of the wrong length.
    #[error("hash key has {have} bytes, must have {need}")]
    KeyLength {
        /// Bytes given.
        have: usize,
        /// Bytes needed.
        need: usize,
    },
    /// An entry beyond the table.
    #[error("redirection table entry {index} is out of range, the table has {size} entries")]
    Entry {
        /// The entry.
        index: usize,
        /// The table's size.
        size: usize,
    },
    /// A queue that isn't there.
    #[error("queue {queue} is out of range, the port has {queues} receive queues")]
    Queue {
        /// The queue.
        queue: u16,
        /// How many there are.
        queues: u16,
    },
    /// Types the port can't hash.
    #[error("hash types {types:#x} are not available here, the port has {have:#x}")]
    Types {
        /// The types that are missing.
        types: u64,
        /// What there is.
        have: u64,
    },
}

/// Receive-side scaling of a port that has it.
pub trait Rss {
    /// Types that are on, by DPDK's bit numbers.
    fn types(&self) -> u64;
    /// Turns types on; zero turns RSS off.
    fn set_types(&mut self, types: u64) -> Result<(), RssError>;
    /// The key.
    fn key(&self) -> &[u8];
    /// Changes the key.
    fn set_key(&mut self, key: &[u8]) -> Result<(), RssError>;
    /// The redirection table: hash modulo its size -> queue.
    fn reta(&self) -> &[u16];
    /// Changes entries of the table; all of them or none.
    fn set_reta(&mut self, entries: &[(usize, u16)]) -> Result<(), RssError>;
}

/// Software Toeplitz hashing and a redirection table.
#[derive(Clone, Debug)]
pub struct SoftRss {
    capable: u64,
    types: u64,
    key: Vec<u8>,
    reta: Vec<u16>,
    queues: u16,
}

impl SoftRss {
    /// Microsoft's published key, the one the verification vectors are made with.
    pub const DEFAULT_KEY: [u8; 40] = [
        0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f,
        0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
        0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
    ];

    /// RSS with these types possible and a table of `size` entries.
    pub fn new(capable: u64, size: u16) -> Self {
        Self {
            capable,
            types: 0,
            key: Self::DEFAULT_KEY.to_vec(),
            reta: vec![0; usize::from(size)],
            queues: 1,
        }
    }

    /// Takes over the settings of a configuration and spreads the table evenly over the queues when their number changes.
    pub fn configure(
        &mut self,
        types: u64,
        key: Option<&[u8]>,
        queues: u16,
    ) -> Result<(), RssError> {
        if let Some(key) = key {
            self.set_key(key)?;
        }
        self.set_types(types & self.capable)?;
        let queues = queues.max(1);
        if queues != self.queues {
            self.queues = queues;
            for (entry, queue) in self.reta.iter_mut().zip((0..queues).cycle()) {
                *entry = queue;
            }
        }
        Ok(())
    }

    /// The queue for a hash input (addresses, or addresses and ports, in network order).
    pub fn queue(&self, input: &[u8]) -> u16 {
        let hash = toeplitz(&self.key, input);
        match self.reta.len() {
            0 => 0,
            size => self.reta[hash as usize % size],
        }
    }
}

impl Rss for SoftRss {
    fn types(&self) -> u64 {
        self.types
    }

    fn set_types(&mut self, types: u64) -> Result<(), RssError> {
        if types & !self.capable != 0 {
            return Err(RssError::Types {
                types: types & !self.capable,
                have: self.capable,
            });
        }
        self.types = types;
        Ok(())
    }

    fn key(&self) -> &[u8] {
        &self.key
    }

    fn set_key(&mut self, key: &[u8]) -> Result<(), RssError> {
        if key.len() != self.key.len() {
            return Err(RssError::KeyLength {
                have: key.len(),
                need: self.key.len(),
            });
        }
        self.key.copy_from_slice(key);
        Ok(())
    }

    fn reta(&self) -> &[u16] {
        &self.reta
    }

    fn set_reta(&mut self, entries: &[(usize, u16)]) -> Result<(), RssError> {
        for &(index, queue) in entries {
            if index >= self.reta.len() {
                return Err(RssError::Entry {
                    index,
                    size: self.reta.len(),
                });
            }
            if queue >= self.queues {
                return Err(RssError::Queue {
                    queue,
                    queues: self.queues,
                });
            }
        }
        for &(index, queue) in entries {
            self.reta[index] = queue;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    //! The table and the hash as a port uses them.

    use super::{Rss, RssError, SoftRss};

    #[test]
    fn the_table_spreads_over_the_queues() {
        let mut rss = SoftRss::new(0x3c, 8);
        rss.configure(0x3c, None, 3).unwrap();
        assert_eq!(rss.reta(), [0, 1, 2, 0, 1, 2, 0, 1]);
        assert_eq!(
            rss.set_reta(&[(0, 2), (8, 0)]),
            Err(RssError::Entry { index: 8, size: 8 })
        );
        assert_eq!(
            rss.set_reta(&[(0, 3)]),
            Err(RssError::Queue {
                queue: 3,
                queues: 3
            })
        );
        assert_eq!(rss.reta()[0], 0, "all or nothing");
        rss.set_reta(&[(0, 2)]).unwrap();
        assert_eq!(rss.reta()[0], 2);
    }

    #[test]
    fn microsofts_vector_leads_to_its_queue() {
        // Source 66.9.149.187:2794, destination 161.142.100.80:1766 hashes to 0x51ccc178 with the published key.
        let mut rss = SoftRss::new(u64::MAX, 128);
        rss.configure(1, None, 16).unwrap();
        let input = [66, 9, 149, 187, 161, 142, 100, 80, 0x0a, 0xea, 0x06, 0xe6];
        assert_eq!(rss.queue(&input), (0x51cc_c178_u32 % 128 % 16) as u16);
    }

    #[test]
    fn a_wrong_key_or_type_is_refused() {
        let mut rss = SoftRss::new(0x4, 128);
        assert_eq!(
            rss.set_key(&[0; 39]),
            Err(RssError::KeyLength { have: 39, need: 40 })
        );
        assert_eq!(
            rss.set_types(0xc),
            Err(RssError::Types { types: 8, have: 4 })
        );
    }
}
