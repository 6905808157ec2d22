//! Why a packet couldn't be finished, and how many couldn't.

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No mbuf to copy or cut into.
    NoMbuf,
    /// The checksum's field lies behind the end of the packet.
    Checksum,
    /// The headers aren't those of the packet that it is said to be, contradict each other, or are longer than
    /// [`crate::Finisher`] looks at.
    Headers,
    /// The pieces would be too many, too long, or of no size.
    Size,
    /// The program asked for what software doesn't do: segments of a tunnel, or lengths that don't fit the packet.
    Request,
}

/// Packets dropped, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops {
    /// [`Fault::NoMbuf`].
    pub no_mbuf: u64,
    /// [`Fault::Checksum`].
    pub checksum: u64,
    /// [`Fault::Headers`].
    pub headers: u64,
    /// [`Fault::Size`].
    pub size: u64,
    /// [`Fault::Request`].
    pub request: u64,
}

impl Drops {
    /// Counts one.
    pub(crate) fn count(&mut self, fault: Fault) {
        let counter = match fault {
            Fault::NoMbuf => &mut self.no_mbuf,
            Fault::Checksum => &mut self.checksum,
            Fault::Headers => &mut self.headers,
            Fault::Size => &mut self.size,
            Fault::Request => &mut self.request,
        };
        *counter = counter.wrapping_add(1);
    }

    /// All together.
    pub fn total(&self) -> u64 {
        self.no_mbuf + self.checksum + self.headers + self.size + self.request
    }
}
