//! Bytes of packets of any number of segments: reading in order, and writing into new mbufs.

use mpps_mbuf::{Caches, Mbuf, PoolId, Segments};

use crate::fault::Fault;

/// Reads a packet front to back, in slices.
pub(crate) struct Reader<'a> {
    segments: Segments<'a>,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(packet: &'a Mbuf) -> Self {
        Self {
            segments: packet.segments_data(),
            rest: &[],
        }
    }

    /// The next bytes that lie together, at most `max`; none at the end of the packet.
    pub(crate) fn next(&mut self, max: usize) -> Option<&'a [u8]> {
        while self.rest.is_empty() {
            self.rest = self.segments.next()?;
        }
        let (part, rest) = self.rest.split_at(max.min(self.rest.len()));
        self.rest = rest;
        Some(part)
    }

    /// Hands the next `len` bytes on, or what there is of them.
    pub(crate) fn each(
        &mut self,
        len: usize,
        mut take: impl FnMut(&'a [u8]) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let mut left = len;
        while left != 0 {
            let Some(part) = self.next(left) else {
                break;
            };
            left -= part.len();
            take(part)?;
        }
        Ok(())
    }

    pub(crate) fn skip(&mut self, len: usize) {
        let mut left = len;
        while left != 0 {
            let Some(part) = self.next(left) else {
                break;
            };
            left -= part.len();
        }
    }
}

/// Where new mbufs come from and old ones go.
pub(crate) struct Stock<'a> {
    pub(crate) caches: &'a mut Caches,
    pub(crate) pool: PoolId,
}

impl Stock<'_> {
    fn alloc(&mut self) -> Result<Mbuf, Fault> {
        self.caches.alloc_one(self.pool).ok_or(Fault::NoMbuf)
    }
}

/// Fills new mbufs, chained where one isn't enough.
pub(crate) struct Writer<'a, 'b> {
    stock: &'a mut Stock<'b>,
    /// Segments that are full.
    head: Option<Mbuf>,
    /// The one at hand.
    last: Option<Mbuf>,
}

impl<'a, 'b> Writer<'a, 'b> {
    pub(crate) fn new(stock: &'a mut Stock<'b>) -> Self {
        Self {
            stock,
            head: None,
            last: None,
        }
    }

    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let mut segment = match self.last.take() {
                Some(last) if last.tailroom() != 0 => last,
                full => {
                    self.close(full)?;
                    self.stock.alloc()?
                }
            };
            let (part, behind) = rest.split_at(rest.len().min(usize::from(segment.tailroom())));
            // An mbuf without any room would never take a byte.
            let taken = !part.is_empty() && segment.append(part);
            self.last = Some(segment);
            if !taken {
                return Err(Fault::NoMbuf);
            }
            rest = behind;
        }
        Ok(())
    }

    /// Appends a segment that is full, if there is one.
    fn close(&mut self, full: Option<Mbuf>) -> Result<(), Fault> {
        match (&mut self.head, full) {
            (_, None) => {}
            (head @ None, full) => *head = full,
            (Some(head), Some(full)) => head.chain(full).map_err(|_| Fault::Size)?,
        }
        Ok(())
    }

    /// The packet.
    pub(crate) fn finish(mut self) -> Result<Mbuf, Fault> {
        let last = self.last.take();
        self.close(last)?;
        match self.head.take() {
            Some(head) => Ok(head),
            None => self.stock.alloc(),
        }
    }
}

impl Drop for Writer<'_, '_> {
    fn drop(&mut self) {
        for packet in [self.head.take(), self.last.take()].into_iter().flatten() {
            self.stock.caches.free_one(packet);
        }
    }
}

/// Writes `bytes` over those at `at`: in place where they lie in the first segment and the data is the packet's own, else
/// in a copy that takes the packet's place, metadata included.
pub(crate) fn overwrite(
    packet: &mut Mbuf,
    stock: &mut Stock<'_>,
    at: usize,
    bytes: &[u8],
) -> Result<(), Fault> {
    let end = at.saturating_add(bytes.len());
    if let Some(field) = packet.data_mut().and_then(|data| data.get_mut(at..end)) {
        field.copy_from_slice(bytes);
        return Ok(());
    }
    if end > packet.pkt_len() as usize {
        return Err(Fault::Checksum);
    }
    splice(packet, stock, at, bytes, bytes.len())
}

/// Replaces a packet by a copy, with its metadata, in which `bytes` stand in place of the `instead` bytes from `at` on.
pub(crate) fn splice(
    packet: &mut Mbuf,
    stock: &mut Stock<'_>,
    at: usize,
    bytes: &[u8],
    instead: usize,
) -> Result<(), Fault> {
    let mut reader = Reader::new(packet);
    let mut writer = Writer::new(stock);
    reader.each(at, |part| writer.put(part))?;
    writer.put(bytes)?;
    reader.skip(instead);
    reader.each(packet.pkt_len() as usize, |part| writer.put(part))?;
    let mut copy = writer.finish()?;
    copy.copy_metadata(packet);
    stock.caches.free_one(std::mem::replace(packet, copy));
    Ok(())
}
