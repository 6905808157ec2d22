//! Capture files made by hand for the tests: every field written out, in either byte order.

/// Writes numbers in one byte order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pen {
    pub(super) big: bool,
}

impl Pen {
    pub(super) const BOTH: [Self; 2] = [Self { big: false }, Self { big: true }];

    pub(super) fn u16(self, value: u16) -> [u8; 2] {
        if self.big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    }

    pub(super) fn u32(self, value: u32) -> [u8; 4] {
        if self.big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    }

    pub(super) fn words(self, values: &[u32]) -> Vec<u8> {
        values.iter().flat_map(|value| self.u32(*value)).collect()
    }

    /// Header of a classic file.
    pub(super) fn classic(
        self,
        magic: u32,
        version: (u16, u16),
        snaplen: u32,
        link: u32,
    ) -> Vec<u8> {
        let mut file = self.u32(magic).to_vec();
        file.extend(self.u16(version.0));
        file.extend(self.u16(version.1));
        file.extend(self.words(&[0, 0, snaplen, link]));
        file
    }

    /// A record of a classic file.
    pub(super) fn record(self, seconds: u32, fraction: u32, original: u32, data: &[u8]) -> Vec<u8> {
        let mut record = self.words(&[seconds, fraction, data.len() as u32, original]);
        record.extend(data);
        record
    }

    /// A block of a pcapng file around a body, which is padded.
    pub(super) fn block(self, kind: u32, body: &[u8]) -> Vec<u8> {
        let mut body = body.to_vec();
        body.resize(body.len().next_multiple_of(4), 0);
        let length = self.u32(body.len() as u32 + 12);
        let mut block = self.u32(kind).to_vec();
        block.extend(length);
        block.extend(body);
        block.extend(length);
        block
    }

    pub(super) fn section(self) -> Vec<u8> {
        let mut body = self.u32(0x1a2b_3c4d).to_vec();
        body.extend(self.u16(1));
        body.extend(self.u16(0));
        body.extend([0xff; 8]);
        self.block(0x0a0d_0d0a, &body)
    }

    pub(super) fn interface(self, link: u16, snaplen: u32, options: &[(u16, &[u8])]) -> Vec<u8> {
        let mut body = self.u16(link).to_vec();
        body.extend([0, 0]);
        body.extend(self.u32(snaplen));
        for (code, value) in options {
            body.extend(self.u16(*code));
            body.extend(self.u16(value.len() as u16));
            body.extend(*value);
            body.resize(body.len().next_multiple_of(4), 0);
        }
        self.block(1, &body)
    }

    pub(super) fn enhanced(
        self,
        interface: u32,
        ticks: u64,
        original: u32,
        data: &[u8],
    ) -> Vec<u8> {
        let (high, low) = ((ticks >> 32) as u32, ticks as u32);
        let mut body = self.words(&[interface, high, low, data.len() as u32, original]);
        body.extend(data);
        self.block(6, &body)
    }

    pub(super) fn obsolete(
        self,
        interface: u16,
        ticks: u64,
        original: u32,
        data: &[u8],
    ) -> Vec<u8> {
        let mut body = self.u16(interface).to_vec();
        body.extend([0xff, 0xff]);
        let (high, low) = ((ticks >> 32) as u32, ticks as u32);
        body.extend(self.words(&[high, low, data.len() as u32, original]));
        body.extend(data);
        self.block(2, &body)
    }

    pub(super) fn simple(self, original: u32, data: &[u8]) -> Vec<u8> {
        let mut body = self.u32(original).to_vec();
        body.extend(data);
        self.block(3, &body)
    }
}

/// A frame as the tests compare it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Got {
    pub(super) data: Vec<u8>,
    pub(super) original: u32,
    pub(super) time: Option<u64>,
}

pub(super) fn got(data: &[u8], original: u32, time: u64) -> Got {
    Got {
        data: data.to_vec(),
        original,
        time: Some(time),
    }
}

/// All frames, and how it ended: nothing, or the fault in words.
pub(super) fn read(file: &[u8]) -> (Vec<Got>, Result<u64, String>) {
    let mut all = Vec::new();
    let end = super::frames(file, |frame| {
        all.push(Got {
            data: frame.data.to_vec(),
            original: frame.original,
            time: frame.time,
        });
    });
    (all, end.map_err(|error| error.to_string()))
}
